//! Streams: descriptions of the addresses that a load or store accesses, over all work items of a
//! launch and all iterations of the enclosing loops.

/// The accesses of one load or store instruction to a buffer of the launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream<S> {
    /// Number of the buffer parameter. `None` for a guard stream, which does not belong to a buffer.
    pub buffer: Option<u32>,
    /// Contents of the stream's elements.
    pub holds: StreamContents,
    /// Size of one access in bytes: 1, 2, 4, 8 or 16.
    pub bytes: u32,
    /// Required alignment of the address in bytes; a misaligned access traps.
    pub align: u32,
    /// `true` if all items access the same element. The stream then holds the element once.
    pub uniform: bool,
    /// Distance in bytes between the accesses of consecutive items, modulo 2^32.
    pub scale: Affine,
    /// Uniform part of the address, which does not depend on the item, in bytes, modulo 2^32.
    pub index: Affine,
    /// Offset in bytes, added in 64 bits like `MemAttr::offset` of the IR. The address is the buffer's address, plus
    /// `(item * scale + index + k0 * steps[0].stride + ..)` modulo 2^32, plus this offset.
    pub offset: i32,
    /// Loops that enclose the load or store, outermost first.
    pub steps: Vec<Step>,
    /// Number of the guard stream, which has one element for each element of this stream. If the first byte of a guard
    /// element is zero, the item skips the access. The byte is zero unless the kernel stores a nonzero value.
    ///
    /// A skipped store writes nothing. A skipped load returns the memory contents, or zero if the address is not
    /// readable.
    pub guard: Option<u32>,
    /// The load or store instruction.
    pub site: S,
}

/// Contents of the elements of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StreamContents {
    /// The accessed elements, in the order of the accesses.
    #[default]
    Elements,
    /// The whole buffer, once. Such a stream is a window: accesses at addresses that the kernel computes go to the
    /// window. A window is uniform, has single bytes as elements, and has no loops.
    Buffer,
    /// Offsets of accesses into a window, which holds a whole buffer. The offsets are unsigned
    /// 32-bit byte offsets from the address of the buffer. The kernel stores an offset before each
    /// access. The stream's `offset` is added in 64 bits; scale, index and strides are zero.
    Offsets {
        /// Number of the stream that holds the whole buffer.
        window: u32,
        /// `true` if the access is a store.
        stores: bool,
    },
}

/// Size in bytes of an element of a stream of offsets.
const OFFSET_BYTES: u32 = 4;

impl<S> Stream<S> {
    /// Returns the size in bytes of an element of the stream.
    pub fn element_bytes(&self) -> u32 {
        match self.holds {
            StreamContents::Elements => self.bytes,
            StreamContents::Buffer => 1,
            StreamContents::Offsets { .. } => OFFSET_BYTES,
        }
    }

    /// Returns `true` if the stream belongs to a load or store of the kernel. Returns `false` for a
    /// guard stream and for a window, which holds a whole buffer.
    pub fn is_of_accesses(&self) -> bool {
        self.buffer.is_some() && self.holds != StreamContents::Buffer
    }

    /// Returns the number of the window stream that the accesses go to, if any. A window holds a whole buffer.
    pub fn window(&self) -> Option<u32> {
        match self.holds {
            StreamContents::Offsets { window, .. } => Some(window),
            StreamContents::Elements | StreamContents::Buffer => None,
        }
    }

    /// Returns the stream with another load or store instruction as its site.
    pub fn at<T>(self, site: T) -> Stream<T> {
        let Stream { buffer, holds, bytes, align, uniform, scale, index, offset, steps, guard, site: _ } = self;
        Stream { buffer, holds, bytes, align, uniform, scale, index, offset, steps, guard, site }
    }
}

/// A loop that encloses a load or store. The trip count is uniform over all work items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Number of the loop in the kernel. All streams in a loop advance together.
    pub loop_number: u32,
    /// Trip count of the loop.
    pub trips: TripCount,
    /// Distance in bytes between the accesses of consecutive iterations, modulo 2^32.
    pub stride: Affine,
}

/// Trip count of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TripCount {
    /// Constant trip count.
    Const(u32),
    /// Trip count that is computed at launch, modulo 2^32 ([`TripCount::at_launch`]).
    Of {
        /// Expression for the trip count.
        count: Affine,
        /// `true` if the sign of `count - at_least` decides whether `count` is below the minimum.
        signed: bool,
        /// Minimum trip count: 1 for a loop with the exit test at its end, else 0.
        at_least: u32,
    },
}

impl TripCount {
    /// Returns the trip count of a launch in which the expression has the value `count`. The result
    /// is `at_least` if `count` is below `at_least`; if `signed`, the sign of `count - at_least`
    /// decides. With `signed`, 2^31 is below an `at_least` of 0, but not below an `at_least` of 1.
    pub const fn at_launch(count: u32, signed: bool, at_least: u32) -> u32 {
        let is_below = if signed { count.wrapping_sub(at_least).cast_signed() < 0 } else { count < at_least };
        if is_below { at_least } else { count }
    }
}

/// An affine expression modulo 2^32, whose value is known when the kernel is launched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affine {
    /// Constant term.
    pub constant: u32,
    /// Variables and their coefficients. Each variable occurs at most once, and no coefficient is zero.
    pub terms: Vec<(AffineVariable, u32)>,
}

/// Variable of an affine expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AffineVariable {
    /// An `i32` parameter, by its number.
    Param(u32),
    /// The number of work items of the launch.
    ItemCount,
}

impl From<u32> for Affine {
    /// Creates a constant expression.
    fn from(constant: u32) -> Affine {
        Affine { constant, terms: Vec::new() }
    }
}

impl Affine {
    /// Evaluates the expression modulo 2^32. `param` returns the value of an `i32` parameter, and
    /// `item_count` is the number of items of the launch.
    pub fn value(&self, param: impl Fn(u32) -> u32, item_count: u32) -> u32 {
        self.terms.iter().fold(self.constant, |sum, &(factor, by)| {
            let factor = match factor {
                AffineVariable::Param(number) => param(number),
                AffineVariable::ItemCount => item_count,
            };
            sum.wrapping_add(factor.wrapping_mul(by))
        })
    }

    /// Returns `true` if the expression is 0 in every launch.
    pub fn is_zero(&self) -> bool {
        self.constant == 0 && self.terms.is_empty()
    }
}

impl TripCount {
    /// Computes the trip count. `param` returns the value of an `i32` parameter, and `item_count`
    /// is the number of items of the launch.
    pub fn value(&self, param: impl Fn(u32) -> u32, item_count: u32) -> u32 {
        match self {
            TripCount::Const(trips) => *trips,
            TripCount::Of { count, signed, at_least } => {
                let count = count.value(param, item_count);
                let trips = if *signed && (count as i32) < 0 { 0 } else { count };
                trips.max(*at_least)
            }
        }
    }
}

/// Properties that are equal for all streams of a region of the data store.
#[derive(PartialEq, Eq)]
struct RegionKey {
    is_guard: bool,
    has_offsets: bool,
    written: bool,
    bytes: u32,
    loops: Vec<u32>,
}

/// Returns, for each stream, the number of its region of the data store. With at most `most` streams, every stream has
/// its own region.
///
/// Otherwise, streams with one element per item share a region if their loops, element size and access direction are
/// equal. Guard streams and streams of offsets only share regions with their own kind. In each iteration, a shared
/// region holds the elements of a group of items for its first stream, then for the next stream, and so on.
pub fn regions<S>(streams: &[Stream<S>], most: usize, written: impl Fn(usize) -> bool) -> Vec<u32> {
    let alone = streams.len() <= most;
    let loops = |stream: &Stream<S>| stream.steps.iter().map(|step| step.loop_number).collect();
    let mut keys: Vec<Option<RegionKey>> = Vec::new();
    let region = |(number, stream): (usize, &Stream<S>)| {
        let shares = !alone && !stream.uniform && stream.holds != StreamContents::Buffer;
        let has_offsets = stream.window().is_some();
        let key = shares.then(|| RegionKey {
            is_guard: stream.buffer.is_none(),
            has_offsets,
            written: written(number) || has_offsets,
            bytes: stream.element_bytes(),
            loops: loops(stream),
        });
        let known = keys.iter().position(|known| key.is_some() && *known == key);
        known.unwrap_or_else(|| {
            keys.push(key);
            keys.len() - 1
        }) as u32
    };
    streams.iter().enumerate().map(region).collect()
}
