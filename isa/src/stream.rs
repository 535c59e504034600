//! Streams: how the runtime, which plays the copying engine of VP1, fills and empties the data store around a kernel's run.
//!
//! A launch is cut into tiles of work items, and the program runs once a tile. From address 0 on the data store holds the
//! [`Tiles::image`] and the spilled registers; after them each stream, dense and at a multiple of 16, at stride code 0. Element
//! `e` of group `g` at steps `k0, k1, ..` of the loops around a site lies at
//! `(((g * n0 + k0) * n1 + k1) .. * items + e) * bytes` of its stream, where n0, n1, .. are the loops' trips; a uniform stream has
//! no items in it: `((k0) * n1 + k1) .. * bytes`.
//!
//! In `$m` the program finds its scalar parameters from `$m0` on, 32 bits a word, the lowest first; then a word a stream in the
//! layout of `$a`, with the stream's first address and as limit the first address after it; [`M_ITEM_COUNT`], [`M_TILE_ITEMS`]
//! and [`M_FIRST_ITEM`].

/// The `$m` of the launch's number of work items.
pub const M_ITEM_COUNT: u8 = 61;
/// The `$m` of the tile's number of work items.
pub const M_TILE_ITEMS: u8 = 62;
/// The `$m` of the number of the tile's first work item.
pub const M_FIRST_ITEM: u8 = 63;
/// The most words of `$m` that scalar parameters and streams may take.
pub const MAX_M_WORDS: usize = 61;
/// The most streams that a kernel may have: each has an `$a` of its own, and two are left.
pub const MAX_STREAMS: usize = 30;
/// The most bytes that the image and spilled registers may take: what an unsigned immediate reaches from address 0.
pub const MAX_FRAME_BYTES: u32 = 2048;

/// How a kernel is run a tile at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tiles {
    /// Work items in a group, which the program does together: 1, 4 or 16.
    pub items: u32,
    /// The word address of the branch that is taken once a group; none in a program that does one group at most. The budget of
    /// backward branches begins anew after it.
    pub group_branch: Option<u32>,
    /// What the data store holds from address 0 on before the program runs.
    pub image: Vec<u8>,
    /// The streams.
    pub streams: Vec<Stream>,
}

/// What the accesses of one load or store of the text have to do with the launch's buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The buffer parameter; none for a guard, which is in no buffer and starts as zeros.
    pub buffer: Option<u32>,
    /// Whether the program writes the stream, which is copied out after it ran; else it is copied in before.
    pub written: bool,
    /// Bytes of one access: 1, 2, 4, 8 or 16.
    pub bytes: u32,
    /// What the address must be a multiple of.
    pub align: u32,
    /// All items access the same element, which is in the stream once.
    pub uniform: bool,
    /// Bytes from one item's access to the next one's, modulo 2^32.
    pub scale: u32,
    /// The rest of what is scaled by the index, in bytes modulo 2^32.
    pub index: Affine,
    /// Bytes added in 64 bits: the offset in the buffer is `(item * scale + index + k0 * steps[0].stride + ..)` modulo 2^32,
    /// plus this.
    pub offset: i32,
    /// The loops around the site, the outermost first.
    pub steps: Vec<Step>,
    /// A written stream of one element for each of this one's: where the element's first byte is zero, the item does not make
    /// the access. What it would have read is zero, and what it would have written is not.
    pub guard: Option<u32>,
    /// The word address of the instruction, for traps.
    pub site: u32,
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
    /// Factors and what they are multiplied by.
    pub terms: Vec<(Factor, u32)>,
}

/// What a sum depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Factor {
    /// A 32-bit scalar parameter, by number.
    Param(u32),
    /// The number of work items of the launch.
    ItemCount,
}
