//! Why launches give no result.

use std::fmt;

use halfbyte_abi::{Exceeded, ShapeError, Type};
use halfbyte_isa::object::Loc;
use halfbyte_isa::vp1::data_store::DATA_STORE_BYTES;
use thiserror::Error;

use crate::device::CudaError;
use halfbyte_abi::Engine;
use halfbyte_isa::trap::Trap;
use halfbyte_native::clif::NativeError;

/// Why a launch gave no result.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// Not as many arguments as parameters.
    #[error("kernel `{kernel}` takes {expected} arguments; found {found}")]
    Count {
        /// The kernel.
        kernel: String,
        /// Its parameters.
        expected: usize,
        /// The arguments.
        found: usize,
    },
    /// A scalar for a buffer, or a buffer for a scalar.
    #[error("argument `{param}` of kernel `{kernel}` must be {expected}; found {found}")]
    Kind {
        /// The kernel.
        kernel: String,
        /// The parameter.
        param: String,
        /// What the parameter is.
        expected: String,
        /// What the argument is.
        found: &'static str,
    },
    /// A scalar with bits beyond its type.
    #[error("argument `{param}` of kernel `{kernel}`: {bits:#x} does not fit {ty}")]
    Scalar {
        /// The kernel.
        kernel: String,
        /// The parameter.
        param: String,
        /// The parameter's type.
        ty: Type,
        /// The argument.
        bits: u128,
    },
    /// A buffer that is not a whole number of elements.
    #[error("argument `{param}` of kernel `{kernel}` has {found} bytes; expected a multiple of {} for {elem}", elem.bytes())]
    Size {
        /// The kernel.
        kernel: String,
        /// The parameter.
        param: String,
        /// The type of its elements.
        elem: Type,
        /// Bytes of the argument.
        found: usize,
    },
    /// An argument of PTX that has not as many bytes as its parameter; the address of memory has 8.
    #[error("argument `{param}` of kernel `{kernel}` has {found} bytes; expected {expected}")]
    Bytes {
        /// The kernel.
        kernel: String,
        /// The parameter.
        param: String,
        /// Bytes of the parameter.
        expected: u64,
        /// Bytes of the argument.
        found: u64,
    },
    /// Buffers that share bytes, of which one is written.
    #[error("arguments `{first}` and `{second}` of kernel `{kernel}` overlap, and one of them is written")]
    Overlap {
        /// The kernel.
        kernel: String,
        /// The parameter of one.
        first: String,
        /// That of the other.
        second: String,
    },
    /// Parameters with one memory, of which one is written and does not say `may_alias`.
    #[error(
        "arguments `{first}` and `{second}` of kernel `{kernel}` overlap; `{unique}` is written and does not say `may_alias`"
    )]
    Unique {
        /// The kernel.
        kernel: String,
        /// The parameter of one.
        first: String,
        /// That of the other.
        second: String,
        /// Which of them it is.
        unique: String,
    },
    /// An address in another argument's buffer that cannot be.
    #[error("argument `{param}` of kernel `{kernel}` is the address of {reason}")]
    Alias {
        /// The kernel.
        kernel: String,
        /// The parameter.
        param: String,
        /// Of what, and what is wrong with that.
        reason: String,
    },
    /// A shape that launches do not have.
    #[error("kernel `{kernel}`: {error}")]
    Shape {
        /// The kernel.
        kernel: String,
        /// What is wrong with it.
        error: ShapeError,
    },
    /// Blocks that the kernel says it is not launched with.
    #[error("kernel `{kernel}` is for blocks of `{expected}`; {} x {} x {} were given", found[0], found[1], found[2])]
    Blocks {
        /// The kernel.
        kernel: String,
        /// What it says of them.
        expected: String,
        /// The threads of a block along each axis.
        found: [u32; 3],
    },
    /// Not even the smallest tile fits the data store of VP1.
    #[error(transparent)]
    Tile(#[from] Box<TooLarge>),
    /// More work items than the kernel's addresses are computed for.
    #[error("kernel `{kernel}`: {items} work items are too many; it can be launched over {limit} at most")]
    Items {
        /// The kernel.
        kernel: String,
        /// The work items.
        items: u32,
        /// How many there can be.
        limit: u32,
    },
    /// An engine that does not run what is for the target.
    #[error("kernel `{kernel}` is for {target}, which engine `{engine}` does not run")]
    Engine {
        /// The kernel.
        kernel: String,
        /// What it is for.
        target: String,
        /// The engine.
        engine: Engine,
    },
    /// No native code could be made of the kernel.
    #[error("kernel `{kernel}`: {error}")]
    Native {
        /// The kernel.
        kernel: String,
        /// Why.
        error: NativeError,
    },
    /// Nothing came of it on the GPU.
    #[error("kernel `{kernel}`: {error}")]
    Cuda {
        /// The kernel.
        kernel: String,
        /// Why.
        error: CudaError,
    },
    /// A work item trapped.
    #[error(transparent)]
    Trap(#[from] Box<Trap>),
    /// It was ended early.
    #[error("kernel `{kernel}`: {exceeded}")]
    Exceeded {
        /// The kernel.
        kernel: String,
        /// The limit that was met.
        exceeded: Exceeded,
    },
}

/// A tile that does not fit, and the stream that takes most of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooLarge {
    /// The kernel.
    pub kernel: String,
    /// The smallest number of work items that a tile could have.
    pub items: u32,
    /// What they take with all that is in the data store, in bytes.
    pub all_bytes: u64,
    /// What the largest stream takes of that, in bytes.
    pub stream_bytes: u64,
    /// That stream's buffer; none where it holds conditions of accesses.
    pub buffer: Option<String>,
    /// Whether that is all of the buffer, as accesses go to addresses that the kernel computes.
    pub whole: bool,
    /// The name of the source text.
    pub source: String,
    /// The access in it.
    pub loc: Loc,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TooLarge { kernel, items, all_bytes, stream_bytes, buffer, whole, source, loc } = self;
        write!(
            f,
            "kernel `{kernel}`: {items} work items take {all_bytes} bytes of the data store, which has {DATA_STORE_BYTES}; \
             {stream_bytes} of them "
        )?;
        match buffer {
            Some(buffer) if *whole => write!(
                f,
                "are all of `{buffer}`, which is accessed at computed addresses: pass the part of it that these work items need"
            )?,
            Some(buffer) => write!(f, "are what is accessed in `{buffer}`")?,
            None => f.write_str("say whether an access is made")?,
        }
        if loc.is_known() { write!(f, " ({source}:{}:{})", loc.line, loc.column) } else { Ok(()) }
    }
}

impl std::error::Error for TooLarge {}
