//! Launches: what they are given, and what comes of them.

use std::fmt;
use std::num::NonZero;
use std::sync::atomic::{AtomicU32, Ordering};

use halfbyte_abi::{DEFAULT_BUDGET, Exceeded, Shape, ShapeError, Target, Type, Watchdog};
use halfbyte_isa::object::Loc;
use halfbyte_isa::vp1::data_store::DATA_STORE_BYTES;
use thiserror::Error;

use crate::arguments::Arg;
use crate::device::CudaError;
use crate::native::NativeError;
use crate::threads::ThreadPool;
use crate::trap::Trap;

/// What executes a kernel's words or lines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Engine {
    /// The interpreter: one item after another.
    #[default]
    Interp,
    /// Native code, made from the words at the first launch. It gives the same results, faster.
    Jit {
        /// Threads at most; as many as pay are used.
        threads: NonZero<u16>,
    },
    /// The first GPU of the CUDA driver, if there is one, for PTX. It counts neither instructions nor branches, so a launch
    /// has no [`Stats`] and no budget; what it does about a bad access is its own.
    Cuda,
}

impl Engine {
    /// Native code on one thread.
    pub const JIT: Engine = Engine::Jit { threads: NonZero::<u16>::MIN };
    /// Every engine of the host, on one thread.
    pub const ALL: [Engine; 2] = [Engine::Interp, Engine::JIT];

    /// `interp`, `jit` or `cuda`.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Interp => "interp",
            Engine::Jit { .. } => "jit",
            Engine::Cuda => "cuda",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a kernel is launched once.
#[derive(Debug)]
pub struct Launch<'a, 'b> {
    /// The work items, from item 0 up. None is allowed.
    pub shape: Shape,
    /// The arguments, in the order of the parameters; those with contents have none.
    pub args: &'a mut [Arg<'b>],
    /// Backward branches that an item may take.
    pub budget: u64,
    /// What runs it.
    pub engine: Engine,
    /// Counts the items that are done, for whoever watches a long launch.
    pub done: Option<&'a AtomicU32>,
    /// What ends the launch early: limits that are met, or someone who cancels it. Engine `cuda` does not look at it.
    pub watchdog: Option<&'a Watchdog>,
    /// Whose threads help where the engine may use several; none for rayon's global pool.
    pub pool: Option<&'a ThreadPool>,
}

/// A launch without its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The number of work items.
    pub items: u32,
    /// The groups that they are in.
    pub shape: Shape,
    /// Backward branches that an item may take.
    pub budget: u64,
    /// What runs it.
    pub engine: Engine,
    pub(crate) done: Option<&'a AtomicU32>,
    pub(crate) watchdog: Option<&'a Watchdog>,
    pub(crate) pool: Option<&'a ThreadPool>,
}

impl Order<'_> {
    /// So many more items are done.
    pub fn advance(&self, items: u32) {
        if let Some(done) = self.done {
            done.fetch_add(items, Ordering::Relaxed);
        }
    }
}

impl<'a> Order<'a> {
    /// What a thread counts the launch's work in.
    pub fn work(&self) -> Work<'a> {
        Work::new(self.watchdog)
    }
}

/// What one thread has done of a launch. Now and then it asks whether it may go on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work<'a> {
    watchdog: Option<&'a Watchdog>,
    /// Done since the watchdog was last asked.
    unpolled: u64,
}

impl<'a> Work<'a> {
    /// Nothing done yet.
    pub fn new(watchdog: Option<&'a Watchdog>) -> Work<'a> {
        Work { watchdog, unpolled: 0 }
    }

    /// Instructions and backward branches that an interpreter does in a millisecond at most.
    const BETWEEN_POLLS: u64 = 1 << 12;

    /// Counts instructions executed or backward branches taken.
    ///
    /// # Errors
    /// A limit that was met.
    pub fn add(&mut self, work: u64) -> Result<(), Exceeded> {
        self.unpolled += work;
        if self.unpolled < Work::BETWEEN_POLLS { Ok(()) } else { self.poll() }
    }

    /// Counts without asking, where that would be too late or too early.
    pub fn count(&mut self, work: u64) {
        self.unpolled += work;
    }

    /// Asks at once.
    ///
    /// # Errors
    /// A limit that was met.
    pub fn poll(&mut self) -> Result<(), Exceeded> {
        let work = std::mem::take(&mut self.unpolled);
        self.watchdog.map_or(Ok(()), |watchdog| watchdog.spend(work))
    }
}

impl<'a, 'b> Launch<'a, 'b> {
    /// A launch on the interpreter with the default budget.
    pub fn new(shape: impl Into<Shape>, args: &'a mut [Arg<'b>]) -> Launch<'a, 'b> {
        let (shape, budget) = (shape.into(), DEFAULT_BUDGET);
        Launch { shape, args, budget, engine: Engine::Interp, done: None, watchdog: None, pool: None }
    }
}

/// What a launch did, over all items.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Instructions executed, those with a false guard included; on VP1 bundles, of up to four instructions each.
    pub issued: u64,
    /// Backward branches taken.
    pub backward_branches: u64,
    /// Tiles run, on VP1.
    pub tiles: u64,
    /// Bytes copied from buffers to the data store, on VP1.
    pub bytes_in: u64,
    /// Bytes copied from the data store to buffers, on VP1.
    pub bytes_out: u64,
}

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
    /// A shape that launches do not have.
    #[error("kernel `{kernel}`: {error}")]
    Shape {
        /// The kernel.
        kernel: String,
        /// What is wrong with it.
        error: ShapeError,
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
        /// The target.
        target: Target,
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
    /// The name of the source text.
    pub source: String,
    /// The access in it.
    pub loc: Loc,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TooLarge { kernel, items, all_bytes, stream_bytes, buffer, source, loc } = self;
        write!(
            f,
            "kernel `{kernel}`: {items} work items take {all_bytes} bytes of the data store, which has {DATA_STORE_BYTES}; \
             {stream_bytes} of them "
        )?;
        match buffer {
            Some(buffer) => write!(f, "are what is accessed in `{buffer}`")?,
            None => f.write_str("say whether an access is made")?,
        }
        if loc.is_known() { write!(f, " ({source}:{}:{})", loc.line, loc.column) } else { Ok(()) }
    }
}

impl std::error::Error for TooLarge {}

/// Whether a launch of so many items, whose buffers have so many bytes each, may begin.
pub(crate) fn check_limits(watchdog: &Watchdog, items: u32, bytes: impl Iterator<Item = u64>) -> Result<(), Exceeded> {
    let limits = watchdog.limits();
    watchdog.check(items.into(), limits.items, |found, limit| Exceeded::Items { found, limit })?;
    let bytes = bytes.fold(0, u64::saturating_add);
    watchdog.check(bytes, limits.buffer_bytes, |found, limit| Exceeded::Buffers { found, limit })?;
    watchdog.poll()
}
