//! Bound launches: a kernel with checked arguments that can be launched repeatedly.

use std::sync::atomic::AtomicU32;

use halfbyte_abi::{DEFAULT_BUDGET, ParamKind, Shape, Watchdog, buffer_of};

use crate::arguments::{Arg, Arguments};
use crate::error::LaunchError;
use crate::kernel::Kernel;
use halfbyte_abi::Engine;
use halfbyte_abi::Stats;
use halfbyte_isa::buffers::Bytes;
use halfbyte_native::launch::LaunchOptions;
use halfbyte_native::threads::ThreadPool;

/// A kernel bound to checked arguments. The `Bound` borrows the argument slices until it is
/// dropped, and copies none of them.
///
/// A run reuses the allocations of the previous run. From the second run in the same shape on, no
/// run allocates. Dropping the `Bound` frees this memory.
///
/// ```no_run
/// use halfbyte_abi::Shape;
/// use halfbyte_runtime::{Arg, Engine, Halu, Program};
///
/// let program = Program::load(&std::fs::read("axpy.o")?, &[&Halu])?;
/// let kernel = program.kernel("axpy").ok_or("no such kernel")?;
/// let (x, mut y) = ([0; 256], [0; 256]);
/// let mut bound = kernel.bind([Arg::Scalar(0x3c003c00), Arg::In(&x), Arg::Buffer(&mut y)])?;
/// bound.engine(Engine::JIT).budget(1 << 10);
/// for _ in 0..1000 {
///     bound.run(64)?;
/// }
/// bound.run(Shape::from((2, 32)))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Bound<'a> {
    kernel: &'a Kernel,
    args: Arguments<'a>,
    budget: u64,
    engine: Engine,
    done: Option<&'a AtomicU32>,
    watchdog: Option<&'a Watchdog>,
    pool: Option<&'a ThreadPool>,
}

impl Kernel {
    /// Binds arguments to the kernel, in the order of the parameters. Parameters with constant contents take no
    /// argument. The interpreter runs the launch unless [`Bound::engine`] selects another engine.
    ///
    /// # Errors
    /// Returns an error if the arguments do not fit the signature, or if a written slice overlaps another slice. Safe
    /// callers cannot cause the overlap.
    pub fn bind<'a>(&'a self, args: impl IntoIterator<Item = Arg<'a>>) -> Result<Bound<'a>, LaunchError> {
        let args = Arguments::new(self.signature(), args)?;
        let (budget, engine) = (DEFAULT_BUDGET, Engine::default());
        Ok(Bound { kernel: self, args, budget, engine, done: None, watchdog: None, pool: None })
    }
}

impl<'a> Bound<'a> {
    /// Returns the kernel.
    pub fn kernel(&self) -> &'a Kernel {
        self.kernel
    }

    /// Sets the engine of all further runs.
    pub fn engine(&mut self, engine: Engine) -> &mut Bound<'a> {
        self.engine = engine;
        self
    }

    /// Sets the number of backward branches that an item may take in a run. The default is [`DEFAULT_BUDGET`].
    pub fn budget(&mut self, branches: u64) -> &mut Bound<'a> {
        self.budget = branches;
        self
    }

    /// Sets a counter that each run increases by the number of its finished work items. Other
    /// threads can read the counter to observe a long run.
    pub fn done(&mut self, done: impl Into<Option<&'a AtomicU32>>) -> &mut Bound<'a> {
        self.done = done.into();
        self
    }

    /// Sets a watchdog that ends runs early, when a limit is exceeded or the run is cancelled. A
    /// watchdog that has fired cannot be reused. Engine `cuda` ignores watchdogs.
    pub fn watchdog(&mut self, watchdog: impl Into<Option<&'a Watchdog>>) -> &mut Bound<'a> {
        self.watchdog = watchdog.into();
        self
    }

    /// Sets the pool whose threads help when [`Engine::Jit`] may use several threads. The default
    /// is rayon's global pool.
    pub fn pool(&mut self, pool: impl Into<Option<&'a ThreadPool>>) -> &mut Bound<'a> {
        self.pool = pool.into();
        self
    }

    /// Returns the contents of a parameter's buffer, or `None` for a scalar.
    pub fn buffer(&self, param: usize) -> Option<&[u8]> {
        let (of, offset) = self.place(param)?;
        self.args.buffers.0.get(of)?.as_ref()?.bytes().get(offset..)
    }

    /// Returns the contents of a parameter's buffer, to be changed between runs. Returns `None`
    /// unless the slice was passed as [`Arg::Buffer`]. The parameter's direction does not matter.
    pub fn buffer_mut(&mut self, param: usize) -> Option<&mut [u8]> {
        let (of, offset) = self.place(param)?;
        match &mut self.args.buffers.0.get_mut(of)?.as_mut()?.bytes {
            Bytes::Mutable(bytes) => bytes.get_mut(offset..),
            Bytes::Shared(_) => None,
        }
    }

    /// Resolves a parameter that may be an alias. Returns the index of the parameter that owns the
    /// memory, and the byte offset in that memory. Returns `None` for a scalar.
    fn place(&self, param: usize) -> Option<(usize, usize)> {
        if matches!(self.kernel.signature().params().get(param)?.kind, ParamKind::Scalar(_)) {
            return None;
        }
        let (of, offset) = buffer_of(*self.args.scalars.get(param)? as u64)?;
        Some((of, offset as usize))
    }

    /// Runs the kernel over a number of work items or over a [`Shape`]. The run starts by filling `out` buffers with
    /// zeros; other buffers keep the contents that the previous run left.
    ///
    /// Kernels see each buffer at its own virtual address ([`buffer_base`](halfbyte_abi::buffer_base)). This address
    /// satisfies every alignment that a parameter may require, independently of the slice's address.
    ///
    /// # Errors
    /// Returns an error if the shape is invalid, if the engine does not support the kernel, or if the scalars make
    /// VP1's streams exceed the data store. In these cases no work item runs and no buffer changes. After a trap or an
    /// exceeded limit the buffers hold no valid result.
    pub fn run(&mut self, shape: impl Into<Shape>) -> Result<Stats, LaunchError> {
        self.run_shape(shape.into())
    }

    fn run_shape(&mut self, shape: Shape) -> Result<Stats, LaunchError> {
        let &mut Bound { kernel, ref mut args, budget, engine, done, watchdog, pool } = self;
        let items = kernel.items(&shape)?;
        kernel.run(&LaunchOptions { items, shape, budget, engine, done, watchdog, pool }, args)
    }
}
