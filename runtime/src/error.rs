//! Errors of launches.

use std::fmt;

use halfbyte_abi::{Exceeded, ShapeError, Type};
use halfbyte_isa::object::Loc;
use halfbyte_isa::vp1::data_store::DATA_STORE_BYTES;
use thiserror::Error;

use crate::device::CudaError;
use halfbyte_abi::Engine;
use halfbyte_isa::trap::Trap;
use halfbyte_native::clif::NativeError;

/// Reason why a launch failed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The number of arguments differs from the number of parameters.
    #[error("kernel `{kernel}` takes {expected} arguments; found {found}")]
    Count {
        /// Name of the kernel.
        kernel: String,
        /// Number of parameters.
        expected: usize,
        /// Number of arguments.
        found: usize,
    },
    /// A scalar was passed for a buffer, or a buffer for a scalar.
    #[error("argument `{param}` of kernel `{kernel}` must be {expected}; found {found}")]
    Kind {
        /// Name of the kernel.
        kernel: String,
        /// Name of the parameter.
        param: String,
        /// Description of the kind that the parameter requires, such as a scalar of type `i32`.
        expected: String,
        /// Name of the kind of argument that was passed.
        found: &'static str,
    },
    /// A scalar argument does not fit in the bits of the parameter's type.
    #[error("argument `{param}` of kernel `{kernel}`: {bits:#x} does not fit {ty}")]
    Scalar {
        /// Name of the kernel.
        kernel: String,
        /// Name of the parameter.
        param: String,
        /// The parameter's type.
        ty: Type,
        /// The bits of the argument.
        bits: u128,
    },
    /// The size of a buffer argument is not a multiple of the element size.
    #[error("argument `{param}` of kernel `{kernel}` has {found} bytes; expected a multiple of {} for {elem}", elem.bytes())]
    Size {
        /// Name of the kernel.
        kernel: String,
        /// Name of the parameter.
        param: String,
        /// Element type of the buffer.
        elem: Type,
        /// Size of the argument in bytes.
        found: usize,
    },
    /// The size of an argument of a PTX kernel differs from the size of its parameter. The size of
    /// a pointer parameter is 8 bytes.
    #[error("argument `{param}` of kernel `{kernel}` has {found} bytes; expected {expected}")]
    Bytes {
        /// Name of the kernel.
        kernel: String,
        /// Name of the parameter.
        param: String,
        /// Size of the parameter in bytes.
        expected: u64,
        /// Size of the argument in bytes.
        found: u64,
    },
    /// Two buffers overlap, and at least one of them is written.
    #[error("arguments `{first}` and `{second}` of kernel `{kernel}` overlap, and one of them is written")]
    Overlap {
        /// Name of the kernel.
        kernel: String,
        /// Name of the first parameter of the overlapping pair.
        first: String,
        /// Name of the second parameter of the overlapping pair.
        second: String,
    },
    /// Two parameters share memory, and one of them is written without `may_alias`.
    #[error(
        "arguments `{first}` and `{second}` of kernel `{kernel}` overlap, but `{unique}` is written without `may_alias`"
    )]
    Unique {
        /// Name of the kernel.
        kernel: String,
        /// Name of the first parameter that shares the memory.
        first: String,
        /// Name of the second parameter that shares the memory.
        second: String,
        /// Name of the parameter that is written without `may_alias`.
        unique: String,
    },
    /// An alias argument gives an invalid address in the buffer of another argument.
    #[error("argument `{param}` of kernel `{kernel}` is the address of {reason}")]
    Alias {
        /// Name of the kernel.
        kernel: String,
        /// Name of the parameter.
        param: String,
        /// Description of the address, and the reason why it is invalid.
        reason: String,
    },
    /// The launch shape is invalid.
    #[error("kernel `{kernel}`: {error}")]
    Shape {
        /// Name of the kernel.
        kernel: String,
        /// Reason why the shape is invalid.
        error: ShapeError,
    },
    /// The block size of the launch contradicts a directive of the PTX kernel.
    #[error("kernel `{kernel}` requires blocks of `{expected}`; found {} x {} x {}", found[0], found[1], found[2])]
    Blocks {
        /// Name of the kernel.
        kernel: String,
        /// The directive of the kernel that gives the block size.
        expected: String,
        /// Number of threads per block of the launch, along the axes x, y and z.
        found: [u32; 3],
    },
    /// Even the smallest tile does not fit VP1's data store.
    #[error(transparent)]
    Tile(#[from] Box<TooLarge>),
    /// The launch has more work items than the kernel's address computations support.
    #[error("kernel `{kernel}`: too many work items: {items}; at most {limit} are supported")]
    Items {
        /// Name of the kernel.
        kernel: String,
        /// Number of work items.
        items: u32,
        /// Maximum number of work items.
        limit: u32,
    },
    /// The blocks of a cooperative launch, which are all resident together, take more memory than
    /// the limit permits.
    #[error(
        "kernel `{kernel}`: the {blocks} blocks of a cooperative launch take {bytes} bytes of memory together; \
         the limit is {limit}; launch fewer blocks"
    )]
    Resident {
        /// Name of the kernel.
        kernel: String,
        /// Number of blocks.
        blocks: u32,
        /// Memory in bytes that all blocks take together.
        bytes: u64,
        /// Maximum memory in bytes.
        limit: u64,
    },
    /// The variables of the kernel lie in memory of the process, but the launch passes buffers.
    #[error("the variables of kernel `{kernel}` lie in memory of the process; launch it on memory of the process")]
    HostVariables {
        /// Name of the kernel.
        kernel: String,
    },
    /// The engine does not support the kernel's target.
    #[error("engine `{engine}` does not support {target}, the target of kernel `{kernel}`")]
    Engine {
        /// Name of the kernel.
        kernel: String,
        /// The kernel's target.
        target: String,
        /// The engine that was requested.
        engine: Engine,
    },
    /// The kernel could not be translated to native code.
    #[error("kernel `{kernel}`: {error}")]
    Native {
        /// Name of the kernel.
        kernel: String,
        /// Reason why the translation failed.
        error: NativeError,
    },
    /// The launch failed on the GPU.
    #[error("kernel `{kernel}`: {error}")]
    Cuda {
        /// Name of the kernel.
        kernel: String,
        /// Reason why the launch failed on the GPU.
        error: CudaError,
    },
    /// A work item trapped.
    #[error(transparent)]
    Trap(#[from] Box<Trap>),
    /// The launch exceeded a limit or was cancelled.
    #[error("kernel `{kernel}`: {exceeded}")]
    Exceeded {
        /// Name of the kernel.
        kernel: String,
        /// The limit that was exceeded.
        exceeded: Exceeded,
    },
}

/// Reason why no tile fits VP1's data store: even the smallest possible tile is too large. The
/// error describes the largest stream of the tile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooLarge {
    /// Name of the kernel.
    pub kernel: String,
    /// The smallest possible number of work items in a tile.
    pub items: u32,
    /// Number of data store bytes that the tile needs, including data that belongs to no stream.
    pub all_bytes: u64,
    /// Size in bytes of the largest stream.
    pub stream_bytes: u64,
    /// Name of the buffer that the largest stream accesses, or `None` if that stream holds guards.
    pub buffer: Option<String>,
    /// `true` if the largest stream holds the whole buffer, because the kernel computes the
    /// addresses of its accesses.
    pub whole: bool,
    /// Name of the source file.
    pub source: String,
    /// Source location of the access that the largest stream serves.
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
                "hold the whole buffer `{buffer}`, because it is accessed at computed addresses: pass only the part that these work items need"
            )?,
            Some(buffer) => write!(f, "hold the accessed elements of `{buffer}`")?,
            None => f.write_str("hold the conditions of guarded accesses")?,
        }
        if loc.is_known() { write!(f, " ({source}:{}:{})", loc.line, loc.column) } else { Ok(()) }
    }
}

impl std::error::Error for TooLarge {}
