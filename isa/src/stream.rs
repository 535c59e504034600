//! Streams: how the runtime, which plays the copying engine of VP1, fills and empties the data store around a kernel's run.
//!
//! A launch is cut into tiles of work items, and the program runs once a tile. From address 0 on the data store holds the
//! [`Tiles::image`] and the spilled registers; after them each stream, dense and at a multiple of 16, at stride code 0. Element
//! `e` of group `g` at steps `k0, k1, ..` of the loops around a site lies at
//! `(((g * n0 + k0) * n1 + k1) .. * items + e) * bytes` of its stream, where n0, n1, .. are the loops' trips; a uniform stream has
//! no items in it: `((k0) * n1 + k1) .. * bytes`.
//!
//! Streams that are too many share regions ([`regions_of`]): of n streams in one the element is at `((.. * n + j) * items + e) * bytes` of the region,
//! where j is the stream's number among them.
//!
//! In `$m` the program finds its scalar parameters from `$m0` on, 32 bits a word, the lowest first; then a word a region in the
//! layout of `$a`, with the region's first address and as limit the first address after it; [`M_ITEM_COUNT`], [`M_TILE_ITEMS`]
//! and [`M_FIRST_ITEM`]. Region k is traversed by `$a` k, upward: where a program stops before its end, it has made the
//! accesses below, and, in a uniform stream without loops, all.
//!
//! A window ([`Holds::Buffer`]) is all of its buffer at once, with [`WINDOW_MARGIN`] bytes before it and after it that are nobody's:
//! the word of `$m` has the addresses of the buffer's own bytes. The program loads and stores there at addresses that it computes,
//! by any `$a`, that of the stream among them. Where it does is said by the streams of the accesses in it
//! ([`Holds::Offsets`]), whose elements the program stores. Of a window that is written, what accesses have stored is copied out.
//!
//! An element that cannot be read, and one of an item at or beyond the launch's number, is zero. Streams that are in a buffer are
//! numbered in the order in which an item makes the accesses: those of one loop stand next to each other, and are made trip by
//! trip, in each of them by number.

pub use halfbyte_abi::stream::{Affine, Factor, Holds, Step, Trips, regions};
use halfbyte_abi::{ParamKind, Signature};
use thiserror::Error;

/// The `$m` of the launch's number of work items.
pub const M_ITEM_COUNT: u8 = 61;
/// The `$m` of the tile's number of work items.
pub const M_TILE_ITEMS: u8 = 62;
/// The `$m` of the number of the tile's first work item.
pub const M_FIRST_ITEM: u8 = 63;
/// The most words of `$m` that scalar parameters and streams may take.
pub const MAX_M_WORDS: usize = 61;
/// The most regions that streams may have: each has an `$a` of its own, and two are left.
pub const MAX_REGIONS: usize = 30;
/// The most streams.
pub const MAX_STREAMS: usize = 1024;
/// The most loops around a site.
pub const MAX_STEPS: usize = 32;
/// The most bytes that the image and spilled registers may take: what an unsigned immediate reaches from address 0.
pub const MAX_FRAME_BYTES: u32 = 2048;

/// Bytes beside a window: an access that is kept near it, and does not belong there, touches nothing of others.
pub const WINDOW_MARGIN: u32 = 16;

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

/// A load or store that a stream is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// The word address of the instruction, for traps.
    pub word: u32,
    /// Whether the program writes the stream, which is copied out after it ran; else it is copied in before. One in no buffer, a
    /// guard, is written and starts as zeros. Of a stream of offsets, which always does, whether the accesses store.
    pub written: bool,
}

/// A stream of the data store.
pub type Stream = halfbyte_abi::stream::Stream<Site>;

/// Why a kernel cannot be run by tiles as it is described.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TilesError {
    /// A group of another size.
    #[error("a group has {0} items; expected 1, 4 or 16")]
    Items(u32),
    /// Too much before the streams.
    #[error("the image and the spilled registers take {0} bytes; at most {MAX_FRAME_BYTES} are possible")]
    Frame(u32),
    /// The image is larger than what it is a part of.
    #[error("the image has {image} bytes, of {frame} before the streams")]
    Image {
        /// Bytes of the image.
        image: usize,
        /// Bytes of the image and the spilled registers.
        frame: u32,
    },
    /// More streams than there can be.
    #[error("there are {0} streams; at most {MAX_STREAMS} are possible")]
    Streams(usize),
    /// More regions than address registers, or than words of `$m` that scalar parameters leave.
    #[error("streams take {regions} regions; at most {most} are possible")]
    Regions {
        /// The regions.
        regions: usize,
        /// How many there can be.
        most: usize,
    },
    /// Scalar parameters do not fit `$m`.
    #[error("scalar parameters take {0} words of $m; at most {MAX_M_WORDS} are possible")]
    MWords(usize),
    /// A stream that cannot be.
    #[error("stream {stream}: {error}")]
    Stream {
        /// Its number.
        stream: usize,
        /// What is wrong with it.
        error: StreamError,
    },
}

/// What is wrong with a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum StreamError {
    /// Its buffer is no buffer parameter.
    #[error("parameter {0} is no buffer")]
    Buffer(u32),
    /// It is in no buffer, and so a guard, but not as guards are.
    #[error("a guard is written, and has no guard itself")]
    Guard,
    /// Its guard is none, or not of one element for each of this one's.
    #[error("stream {0} is no guard for it")]
    Guarded(u32),
    /// A window that has what only accesses have.
    #[error("a window is uniform, of single bytes, in a buffer, and has neither loops, address nor guard")]
    Window,
    /// Accesses in what is no window of their buffer, or with an address beside their offsets.
    #[error("stream {0} is no window for it")]
    InWindow(u32),
    /// An access of another size.
    #[error("an access of {0} bytes; expected 1, 2, 4, 8 or 16")]
    Bytes(u32),
    /// An alignment that is no power of two.
    #[error("alignment {0} is not a power of two")]
    Align(u32),
    /// A uniform stream whose items access different elements.
    #[error("a uniform stream has a scale")]
    Uniform,
    /// Loops in loops beyond what is possible.
    #[error("{0} loops around the site; at most {MAX_STEPS} are possible")]
    Steps(usize),
    /// A sum over what is no 32-bit scalar parameter.
    #[error("parameter {0} is no 32-bit scalar")]
    Factor(u32),
    /// At least that many trips of a loop, which is neither 0 nor 1.
    #[error("a loop of at least {0} trips; expected 0 or 1")]
    AtLeast(u32),
    /// A loop that another stream describes in another way, or is in twice.
    #[error("loop {0} is not that of the streams before")]
    Loop(u32),
}

/// The words of `$m` that a parameter takes: those of a scalar's bits. A buffer takes none.
pub const fn m_words(kind: ParamKind) -> usize {
    match kind {
        ParamKind::Scalar(ty) => ty.bits().div_ceil(32) as usize,
        ParamKind::Buffer { .. } => 0,
    }
}

/// The number of the first stream's `$m`, which is that of the scalar parameters' words.
pub fn first_stream_m(signature: &Signature) -> usize {
    signature.params().iter().map(|param| m_words(param.kind)).sum()
}

/// The most regions of a kernel's streams.
pub fn most_regions(signature: &Signature) -> usize {
    MAX_REGIONS.min(MAX_M_WORDS.saturating_sub(first_stream_m(signature)))
}

/// In which region each of a kernel's streams is.
pub fn regions_of(streams: &[Stream], signature: &Signature) -> Vec<u32> {
    let written = |number: usize| streams.get(number).is_some_and(|stream| stream.site.written);
    regions(streams, most_regions(signature), written)
}

impl Tiles {
    /// Checks what a loader must know to be true, but for the addresses of words. `frame_bytes` are those before the streams.
    ///
    /// # Errors
    /// The first thing that cannot be.
    pub fn check(&self, signature: &Signature, frame_bytes: u32) -> Result<(), TilesError> {
        if !matches!(self.items, 1 | 4 | 16) {
            return Err(TilesError::Items(self.items));
        }
        if frame_bytes > MAX_FRAME_BYTES {
            return Err(TilesError::Frame(frame_bytes));
        }
        if self.image.len() > frame_bytes as usize {
            return Err(TilesError::Image { image: self.image.len(), frame: frame_bytes });
        }
        if self.streams.len() > MAX_STREAMS {
            return Err(TilesError::Streams(self.streams.len()));
        }
        let m_words = first_stream_m(signature);
        if m_words > MAX_M_WORDS {
            return Err(TilesError::MWords(m_words));
        }
        let regions = regions_of(&self.streams, signature).into_iter().max().map_or(0, |last| last as usize + 1);
        let most = most_regions(signature);
        if regions > most {
            return Err(TilesError::Regions { regions, most });
        }
        for number in 0..self.streams.len() {
            self.check_stream(signature, number).map_err(|error| TilesError::Stream { stream: number, error })?;
        }
        Ok(())
    }

    fn check_window(&self, stream: &Stream) -> Result<(), StreamError> {
        let unmoved = stream.scale.is_zero() && stream.index.is_zero() && stream.offset == 0;
        match stream.holds {
            Holds::Elements => Ok(()),
            Holds::Buffer => {
                let alone = stream.uniform && stream.steps.is_empty() && stream.guard.is_none() && unmoved;
                let is_window = alone && stream.bytes == 1 && stream.align == 1 && stream.buffer.is_some();
                if is_window { Ok(()) } else { Err(StreamError::Window) }
            }
            Holds::Offsets { window, .. } => {
                let is_window = |of: &&Stream| of.holds == Holds::Buffer && of.buffer == stream.buffer;
                let of = self.streams.get(window as usize).filter(is_window);
                let still = stream.steps.iter().all(|step| step.stride.is_zero());
                let unmoved = stream.scale.is_zero() && stream.index.is_zero() && still;
                let may = |of: &Stream| unmoved && (of.site.written || !stream.site.written);
                of.filter(|of| may(of)).map(drop).ok_or(StreamError::InWindow(window))
            }
        }
    }

    fn check_stream(&self, signature: &Signature, number: usize) -> Result<(), StreamError> {
        let (before, Some(stream)) = (self.streams.iter().take(number), self.streams.get(number)) else {
            return Ok(());
        };
        let kind = |param: u32| signature.params().get(param as usize).map(|param| param.kind);
        match stream.buffer {
            Some(param) if !matches!(kind(param), Some(ParamKind::Buffer { .. })) => {
                return Err(StreamError::Buffer(param));
            }
            None if !stream.site.written || stream.guard.is_some() => return Err(StreamError::Guard),
            _ => {}
        }
        if let Some(guard) = stream.guard {
            let loops = |stream: &Stream| stream.steps.iter().map(|step| step.loop_number).collect::<Vec<_>>();
            let guards = |guard: &&Stream| {
                guard.buffer.is_none() && guard.uniform == stream.uniform && loops(guard) == loops(stream)
            };
            self.streams.get(guard as usize).filter(guards).ok_or(StreamError::Guarded(guard))?;
        }
        if !matches!(stream.bytes, 1 | 2 | 4 | 8 | 16) {
            return Err(StreamError::Bytes(stream.bytes));
        }
        self.check_window(stream)?;
        if !stream.align.is_power_of_two() {
            return Err(StreamError::Align(stream.align));
        }
        if stream.uniform && !stream.scale.is_zero() {
            return Err(StreamError::Uniform);
        }

        if stream.steps.len() > MAX_STEPS {
            return Err(StreamError::Steps(stream.steps.len()));
        }

        let is_word = |param| matches!(kind(param), Some(ParamKind::Scalar(ty)) if ty.bits() == 32);
        let affine = |sum: &Affine| {
            let mut params = sum.terms.iter().filter_map(|(factor, _)| match factor {
                Factor::Param(param) => Some(*param),
                Factor::ItemCount => None,
            });
            params.find(|&param| !is_word(param)).map_or(Ok(()), |param| Err(StreamError::Factor(param)))
        };
        affine(&stream.scale)?;
        affine(&stream.index)?;
        for (depth, step) in stream.steps.iter().enumerate() {
            affine(&step.stride)?;
            if let Trips::Of { count, at_least, .. } = &step.trips {
                affine(count)?;
                if *at_least > 1 {
                    return Err(StreamError::AtLeast(*at_least));
                }
            }
            let outer = |stream: &Stream, depth: usize| {
                depth.checked_sub(1).and_then(|at| Some(stream.steps.get(at)?.loop_number))
            };
            let same = |(other, at): (&Stream, usize)| {
                let trips = other.steps.get(at).map(|step| &step.trips);
                (at, outer(other, at), trips) == (depth, outer(stream, depth), Some(&step.trips))
            };
            let mut places = before.clone().chain([stream]).flat_map(|other| {
                let here = other.steps.iter().enumerate().filter(|(_, other)| other.loop_number == step.loop_number);
                here.map(move |(at, _)| (other, at))
            });
            if !places.all(same) {
                return Err(StreamError::Loop(step.loop_number));
            }
        }
        Ok(())
    }
}
