//! Packed kernels: one run of the body does several neighbouring work items, and memory is reached by streams.
//!
//! A kernel is packed by a pass, for a target whose memory is a small store that a copying engine fills and empties. Each load or
//! store of the text, a *site*, becomes a stream: a dense buffer of what its work items access, in the order of the items. The
//! packed kernel is a kernel like any other whose item is a *group* of work items and whose buffers are the streams; how a
//! stream's bytes lie in the launch's buffers is said here.
//!
//! Element `e` of group `g` at steps `k0, k1, ..` of the loops around the site lies at
//! `(((g * n0 + k0) * n1 + k1) .. * items + e) * bytes` of the stream, where n0, n1, .. are the loops' trips. A uniform stream
//! has no items in it: `((k0) * n1 + k1) .. * bytes`.
//!
//! A buffer that is accessed at addresses which are no sums known at the launch is a *window*: one stream that is all of it, which
//! the kernel loads from and stores to at an index in bytes. Each load and store of the text in it has a stream of its own besides,
//! into which the kernel first stores where the access is made.

use crate::span::Span;
use halfbyte_abi::stream;

/// How a kernel was packed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packing {
    /// Work items in a group: 1, 4 or 16.
    pub items: u32,
    /// The streams, in the order in which an item accesses them. Stream k is the kernel's buffer parameter number `first + k`,
    /// where the `first` parameters before are those that the kernel is launched with.
    pub streams: Vec<Stream>,
}

/// A stream; its site is the load or store in the text.
pub type Stream = stream::Stream<Span>;
