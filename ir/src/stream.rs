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

use crate::kernel::Span;

/// How a kernel was packed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packing {
    /// Work items in a group: 1, 4 or 16.
    pub items: u32,
    /// The streams, in the order in which an item accesses them. Stream k is the kernel's buffer parameter number `first + k`,
    /// where the `first` parameters before are those that the kernel is launched with.
    pub streams: Vec<Stream>,
}

/// What the accesses of one load or store of the text have to do with the launch's buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// The buffer parameter; none for a guard, which is in no buffer.
    pub buffer: Option<u32>,
    /// Bytes of one access: 1, 2, 4, 8 or 16.
    pub bytes: u32,
    /// What the address is a multiple of; an access that is not traps.
    pub align: u32,
    /// All items access the same element, which is in the stream once.
    pub uniform: bool,
    /// Bytes from one item's access to the next one's, modulo 2^32.
    pub scale: u32,
    /// The rest of what is scaled by the index, in bytes modulo 2^32.
    pub index: Affine,
    /// Bytes added in 64 bits, as [`MemAttr::offset`](crate::MemAttr::offset) is: the address is that of the buffer, plus
    /// `(item * scale + index + k0 * steps[0].stride + ..)` modulo 2^32, plus this.
    pub offset: i32,
    /// The loops around the site, the outermost first.
    pub steps: Vec<Step>,
    /// A stream of one element for each of this one's: where the element's first byte is zero, as it is unless the kernel
    /// stores something there, the item does not make the access. What it would have written is not, and a load gives what
    /// is there, or zero where nothing can be read.
    pub guard: Option<u32>,
    /// The load or store in the text.
    pub span: Span,
}

/// A loop around a site, which every work item takes equally often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which loop of the kernel: streams of one loop take its steps together.
    pub loop_number: u32,
    /// How often it is taken.
    pub trips: Trips,
    /// Bytes from one trip's access to the next one's, modulo 2^32.
    pub stride: Affine,
}

/// How often a loop is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trips {
    /// So often.
    Const(u32),
    /// As often as this says, modulo 2^32 and, where `signed`, not at all where that is negative; `at_least` so often.
    Of {
        /// The number.
        count: Affine,
        /// As a signed number.
        signed: bool,
        /// 1 for a loop that is tested at its end, else 0.
        at_least: u32,
    },
}

/// A sum, modulo 2^32, known when the kernel is launched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affine {
    /// Its constant part.
    pub constant: u32,
    /// Factors and what they are multiplied by; each factor once, none by 0.
    pub terms: Vec<(Factor, u32)>,
}

/// What a sum depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Factor {
    /// An `i32` parameter, by number.
    Param(u32),
    /// The number of work items of the launch.
    ItemCount,
}

impl Affine {
    /// The sum, modulo 2^32, in a launch of so many items whose `i32` parameters are these.
    pub fn value(&self, param: impl Fn(u32) -> u32, item_count: u32) -> u32 {
        self.terms.iter().fold(self.constant, |sum, &(factor, by)| {
            let factor = match factor {
                Factor::Param(number) => param(number),
                Factor::ItemCount => item_count,
            };
            sum.wrapping_add(factor.wrapping_mul(by))
        })
    }

    /// Whether it is 0 in every launch.
    pub fn is_zero(&self) -> bool {
        self.constant == 0 && self.terms.is_empty()
    }
}

impl Trips {
    /// How often, in a launch of so many items whose `i32` parameters are these.
    pub fn value(&self, param: impl Fn(u32) -> u32, item_count: u32) -> u32 {
        match self {
            Trips::Const(trips) => *trips,
            Trips::Of { count, signed, at_least } => {
                let count = count.value(param, item_count);
                let trips = if *signed && (count as i32) < 0 { 0 } else { count };
                trips.max(*at_least)
            }
        }
    }
}
