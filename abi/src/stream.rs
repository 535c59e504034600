//! Where the accesses of one load or store lie, over all work items of a launch and all iterations of the loops around it.

/// What the accesses of one load or store of the text have to do with the launch's buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream<S> {
    /// The buffer parameter; none for a guard, which is in no buffer.
    pub buffer: Option<u32>,
    /// What its elements are.
    pub holds: Holds,
    /// Bytes of one access: 1, 2, 4, 8 or 16.
    pub bytes: u32,
    /// What the address is a multiple of; an access that is not traps.
    pub align: u32,
    /// All items access the same element, which is in the stream once.
    pub uniform: bool,
    /// Bytes from one item's access to the next one's, modulo 2^32.
    pub scale: Affine,
    /// The rest of what is scaled by the index, in bytes modulo 2^32.
    pub index: Affine,
    /// Bytes added in 64 bits, as `MemAttr::offset` of the IR is: the address is that of the buffer, plus
    /// `(item * scale + index + k0 * steps[0].stride + ..)` modulo 2^32, plus this.
    pub offset: i32,
    /// The loops around the site, the outermost first.
    pub steps: Vec<Step>,
    /// A stream of one element for each of this one's: where the element's first byte is zero, as it is unless the kernel
    /// stores something there, the item does not make the access. What it would have written is not, and a load gives what
    /// is there, or zero where nothing can be read.
    pub guard: Option<u32>,
    /// The load or store.
    pub site: S,
}

/// What the elements of a stream are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holds {
    /// What is accessed, in the order of the accesses.
    #[default]
    Elements,
    /// The whole buffer, once: a window, which accesses by addresses that the kernel computes go to. It is a stream without loops that
    /// is uniform, of single bytes.
    Buffer,
    /// Where in a window an access is made: bytes added to the address of the buffer, as 32 bits without sign that the kernel stores
    /// before the access. The stream's `offset` is added in 64 bits; scale, index and strides are zero.
    Offsets {
        /// The stream that is the window.
        window: u32,
        /// Whether the access is a store.
        stores: bool,
    },
}

/// Bytes of an access's place in a window.
const OFFSET_BYTES: u32 = 4;

impl<S> Stream<S> {
    /// Bytes of an element.
    pub fn element_bytes(&self) -> u32 {
        match self.holds {
            Holds::Elements => self.bytes,
            Holds::Buffer => 1,
            Holds::Offsets { .. } => OFFSET_BYTES,
        }
    }

    /// Whether it is of a load or store of the text: neither a guard nor a window.
    pub fn is_of_accesses(&self) -> bool {
        self.buffer.is_some() && self.holds != Holds::Buffer
    }

    /// The window that its accesses are in, where they are in one.
    pub fn window(&self) -> Option<u32> {
        match self.holds {
            Holds::Offsets { window, .. } => Some(window),
            Holds::Elements | Holds::Buffer => None,
        }
    }

    /// The same of a load or store that is named in another way.
    pub fn at<T>(self, site: T) -> Stream<T> {
        let Stream { buffer, holds, bytes, align, uniform, scale, index, offset, steps, guard, site: _ } = self;
        Stream { buffer, holds, bytes, align, uniform, scale, index, offset, steps, guard, site }
    }
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

impl From<u32> for Affine {
    /// A constant.
    fn from(constant: u32) -> Affine {
        Affine { constant, terms: Vec::new() }
    }
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

/// What streams of one region have in common.
#[derive(PartialEq, Eq)]
struct Alike {
    is_guard: bool,
    has_offsets: bool,
    written: bool,
    bytes: u32,
    loops: Vec<u32>,
}

/// In which region of the data store each stream is, by number. Of streams that are more than `most`, those share a region that are gone
/// through alike: they are in the same loops, have an element an item, of as many bytes, and are all read or all written. In each
/// iteration the elements of a group's items follow each other stream by stream.
pub fn regions<S>(streams: &[Stream<S>], most: usize, written: impl Fn(usize) -> bool) -> Vec<u32> {
    let alone = streams.len() <= most;
    let loops = |stream: &Stream<S>| stream.steps.iter().map(|step| step.loop_number).collect();
    let mut keys: Vec<Option<Alike>> = Vec::new();
    let region = |(number, stream): (usize, &Stream<S>)| {
        let shares = !alone && !stream.uniform && stream.holds != Holds::Buffer;
        let has_offsets = stream.window().is_some();
        let key = shares.then(|| Alike {
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
