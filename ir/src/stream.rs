//! Packed kernels. One execution of a packed kernel processes several neighbouring work items and accesses memory
//! through streams.
//!
//! A pass packs a kernel for a target that has a small data store, which a DMA engine fills and empties. Each load or
//! store of the source text is a *site* and becomes a stream: a dense buffer of the elements that the work items
//! access, in item order. One item of the packed kernel is a *group* of work items, and the streams are its buffers.
//! Otherwise a packed kernel is an ordinary kernel. This module describes the layout of streams in the buffers of a
//! launch.
//!
//! Element `e` of group `g`, in iterations `k0, k1, ..` of the loops around the site, is at byte `(((g * n0 + k0) * n1
//! + k1) .. * items + e) * bytes` of the stream, where n0, n1, .. are the trip counts. The offset in a uniform stream
//! does not depend on the item: `((k0) * n1 + k1) .. * bytes`.
//!
//! If the addresses of some accesses to a buffer are not affine at launch, the buffer is a *window*: one stream that
//! holds the whole buffer, and that the kernel accesses at a byte index. Each load and store in a window also has its
//! own stream, in which the kernel first stores the offset of the access.

use crate::span::Span;
use halfbyte_abi::stream;

/// Group size and streams of a packed kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packing {
    /// Number of work items in a group: 1, 4 or 16.
    pub items: u32,
    /// Streams, in the order in which an item accesses them. Stream k is buffer parameter `first +
    /// k` of the kernel. The `first` parameters before the streams are those of the launch.
    pub streams: Vec<Stream>,
}

/// A stream. Its site is the span of the load or store in the source text.
pub type Stream = stream::Stream<Span>;
