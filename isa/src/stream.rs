//! Streams: the parts of VP1's data store that the runtime fills before each execution of a
//! program, and copies out after it. The runtime replaces VP1's DMA engine.
//!
//! A launch is split into tiles of work items, and the program is executed once per tile. From
//! address 0, the data store holds the [`Tiles::image`] and the spilled registers. The streams
//! follow one after another, each aligned to 16 bytes and addressed with stride code 0. Let `n0`,
//! `n1`, .. be the trip counts of the loops around an access. Element `e` of group `g` at the
//! iterations `k0`, `k1`, .. has this byte offset in its stream:
//!
//! `(((g * n0 + k0) * n1 + k1) .. * items + e) * bytes`
//!
//! A uniform stream has one element for all items, at this byte offset:
//!
//! `((k0) * n1 + k1) .. * bytes`
//!
//! If there are too many streams, several of them share a region of the data store
//! ([`regions_of`]). With n streams in a region, the offset is `((.. * n + j) * items + e) *
//! bytes`, where j is the index of the stream in the region.
//!
//! The `$m` registers hold the scalar parameters from `$m0` upwards, 32 bits per register, lowest bits first. Each of
//! the next `$m` registers describes one region in the layout of `$a`: the address field holds the start of the region,
//! and the limit field holds its end. The last three `$m` registers are [`M_ITEM_COUNT`], [`M_TILE_ITEMS`] and
//! [`M_FIRST_ITEM`]. The address in register `$a` k moves upwards through region k. A program that ends early has made
//! exactly the accesses below this address. In a uniform stream without loops, the program has then made all accesses.
//!
//! A window ([`StreamContents::Buffer`]) is a copy of a whole buffer, with [`WINDOW_MARGIN`] unused
//! bytes before and after it. The `$m` register of a window holds the start and the end of the copy
//! without these bytes. The program loads and stores at computed addresses in the window, through
//! any `$a` register. The program records the offsets of these accesses in separate streams
//! ([`StreamContents::Offsets`]). If a window is written, the runtime copies out the bytes that the
//! accesses have stored.
//!
//! An element that cannot be read is zero. An element of an item past the end of the launch is also
//! zero. Streams with a buffer are numbered in the order in which an item makes the accesses. The
//! streams of a loop are adjacent. Their accesses are made iteration by iteration, and within an
//! iteration in the order of the streams.

pub use halfbyte_abi::stream::{Affine, AffineVariable, Step, StreamContents, TripCount, regions};
use halfbyte_abi::{ParamKind, Signature};
use thiserror::Error;

/// The `$m` register with the number of work items in the launch.
pub const M_ITEM_COUNT: u8 = 61;
/// The `$m` register with the number of work items in the tile.
pub const M_TILE_ITEMS: u8 = 62;
/// The `$m` register with the number of the tile's first work item.
pub const M_FIRST_ITEM: u8 = 63;
/// Maximum number of `$m` registers for scalar parameters and regions.
pub const MAX_M_WORDS: usize = 61;
/// Maximum number of regions of the data store. Each region needs one `$a` register, and two `$a` registers stay free.
pub const MAX_REGIONS: usize = 30;
/// Maximum number of streams.
pub const MAX_STREAMS: usize = 1024;
/// Maximum number of nested loops around an access.
pub const MAX_STEPS: usize = 32;
/// Maximum size in bytes of the image and the spilled registers. An unsigned immediate address can reach all of them.
pub const MAX_FRAME_BYTES: u32 = 2048;

/// Number of unused bytes on each side of a window. The address of an invalid access is clamped to
/// these bytes, so the access changes no other data.
pub const WINDOW_MARGIN: u32 = 16;

/// The division of a kernel's launch into tiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tiles {
    /// Number of work items in a group, which the program processes together: 1, 4 or 16.
    pub items: u32,
    /// The address of the branch that is taken once per group, in instruction words. `None` if the program executes at
    /// most one group. The limit of backward branches restarts after each of these branches.
    pub group_branch: Option<u32>,
    /// The initial contents of the data store from address 0.
    pub image: Vec<u8>,
    /// The streams.
    pub streams: Vec<Stream>,
}

/// The load or store whose elements are in a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessSite {
    /// The address of the instruction in instruction words, for traps.
    pub word: u32,
    /// `true` if the program writes the stream: the runtime then copies the stream out after the
    /// program, and otherwise copies it in before the program. A guard, which has no buffer, is
    /// written and starts as zeros. A stream of offsets is always written; its flag is `true` if
    /// the accesses are stores.
    pub written: bool,
}

/// A stream in the data store.
pub type Stream = halfbyte_abi::stream::Stream<AccessSite>;

/// The reason why the description of a kernel's tiles is invalid.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TilesError {
    /// The group size is not 1, 4 or 16.
    #[error("a group has {0} items; expected 1, 4 or 16")]
    Items(u32),
    /// The data before the streams is too large.
    #[error("the image and the spilled registers take {0} bytes; at most {MAX_FRAME_BYTES} are possible")]
    Frame(u32),
    /// The image is larger than the space before the streams.
    #[error("the image has {image} bytes but only {frame} bytes precede the streams")]
    Image {
        /// Size of the image in bytes.
        image: usize,
        /// Size of the image and the spilled registers in bytes.
        frame: u32,
    },
    /// Too many streams.
    #[error("there are {0} streams; at most {MAX_STREAMS} are possible")]
    Streams(usize),
    /// More regions than the `$a` registers, or the `$m` registers without the scalar parameters, can address.
    #[error("the streams need {regions} regions of the data store; at most {most} are possible")]
    Regions {
        /// The number of regions.
        regions: usize,
        /// The maximum number of regions.
        most: usize,
    },
    /// The scalar parameters need more `$m` registers than there are.
    #[error("the scalar parameters need {0} `$m` registers; at most {MAX_M_WORDS} are possible")]
    MWords(usize),
    /// An invalid stream.
    #[error("stream {stream}: {error}")]
    Stream {
        /// The stream's number.
        stream: usize,
        /// The error.
        error: StreamError,
    },
}

/// The reason why a stream is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The stream's buffer is not a buffer parameter.
    #[error("parameter {0} is not a buffer")]
    Buffer(u32),
    /// An invalid guard, which is a stream without a buffer: the program does not write the guard, or the guard itself
    /// has a guard.
    #[error("a guard stream must be an output of the program, and must not have a guard itself")]
    Guard,
    /// The stream that is named as guard is not a guard, or it does not have one element for each element of this
    /// stream.
    #[error("its guard, stream {0}, is not a guard with the same loops")]
    Guarded(u32),
    /// A window has a property that a window must not have, such as loops or a guard.
    #[error("a window must be a uniform stream of single bytes in a buffer, without loops, address or guard")]
    Window,
    /// The window of a stream of offsets is not a window of the same buffer, or the stream has a
    /// scale, an index or strides.
    #[error("stream {0} is not a matching window")]
    WindowMismatch(u32),
    /// The access size is invalid.
    #[error("the access has {0} bytes; expected 1, 2, 4, 8 or 16")]
    Bytes(u32),
    /// The alignment is not a power of two.
    #[error("alignment {0} is not a power of two")]
    Align(u32),
    /// A uniform stream has a scale, so its items would access different elements.
    #[error("a uniform stream must not have a scale")]
    Uniform,
    /// The access is in too many nested loops.
    #[error("{0} nested loops; the maximum is {MAX_STEPS}")]
    Steps(usize),
    /// An affine sum uses a parameter that is not a 32-bit scalar.
    #[error("parameter {0} is not a 32-bit scalar")]
    Factor(u32),
    /// The lower bound of a trip count is neither 0 nor 1.
    #[error("the lower bound of a trip count is {0}; expected 0 or 1")]
    AtLeast(u32),
    /// Two streams describe a loop differently, or a stream contains a loop twice.
    #[error("loop {0} differs from its description in an earlier stream")]
    Loop(u32),
}

/// Returns the number of `$m` registers that a parameter occupies: one for each 32 bits of a
/// scalar, and none for a buffer.
pub const fn m_words(kind: ParamKind) -> usize {
    match kind {
        ParamKind::Scalar(ty) => ty.bits().div_ceil(32) as usize,
        ParamKind::Buffer { .. } => 0,
    }
}

/// Returns the number of the first region's `$m` register, which equals the number of `$m`
/// registers for scalar parameters.
pub fn first_stream_m(signature: &Signature) -> usize {
    signature.params().iter().map(|param| m_words(param.kind)).sum()
}

/// Returns the maximum number of regions of the data store for a kernel's streams.
pub fn most_regions(signature: &Signature) -> usize {
    MAX_REGIONS.min(MAX_M_WORDS.saturating_sub(first_stream_m(signature)))
}

/// Returns the number of each stream's region of the data store.
pub fn regions_of(streams: &[Stream], signature: &Signature) -> Vec<u32> {
    let written = |number: usize| streams.get(number).is_some_and(|stream| stream.site.written);
    regions(streams, most_regions(signature), written)
}

impl Tiles {
    /// Checks every property on which a loader relies, except the addresses of instructions.
    /// `frame_bytes` is the size in bytes of the data in front of the streams.
    ///
    /// # Errors
    /// Returns the first violation.
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
            StreamContents::Elements => Ok(()),
            StreamContents::Buffer => {
                let alone = stream.uniform && stream.steps.is_empty() && stream.guard.is_none() && unmoved;
                let is_window = alone && stream.bytes == 1 && stream.align == 1 && stream.buffer.is_some();
                if is_window { Ok(()) } else { Err(StreamError::Window) }
            }
            StreamContents::Offsets { window, .. } => {
                let is_window = |of: &&Stream| of.holds == StreamContents::Buffer && of.buffer == stream.buffer;
                let of = self.streams.get(window as usize).filter(is_window);
                let still = stream.steps.iter().all(|step| step.stride.is_zero());
                let unmoved = stream.scale.is_zero() && stream.index.is_zero() && still;
                let may = |of: &Stream| unmoved && (of.site.written || !stream.site.written);
                of.filter(|of| may(of)).map(drop).ok_or(StreamError::WindowMismatch(window))
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
                AffineVariable::Param(param) => Some(*param),
                AffineVariable::ItemCount => None,
            });
            params.find(|&param| !is_word(param)).map_or(Ok(()), |param| Err(StreamError::Factor(param)))
        };
        affine(&stream.scale)?;
        affine(&stream.index)?;
        for (depth, step) in stream.steps.iter().enumerate() {
            affine(&step.stride)?;
            if let TripCount::Of { count, at_least, .. } = &step.trips {
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
