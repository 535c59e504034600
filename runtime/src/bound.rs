//! Launches that are prepared: a kernel with its arguments, to be run again and again.

use std::sync::atomic::AtomicU32;

use halfbyte_abi::{DEFAULT_BUDGET, ParamKind, Shape, Watchdog, buffer_of};

use crate::arguments::{Arg, Arguments};
use crate::error::LaunchError;
use crate::kernel::Kernel;
use halfbyte_abi::Engine;
use halfbyte_abi::Stats;
use halfbyte_isa::buffers::Bytes;
use halfbyte_native::launch::Order;
use halfbyte_native::threads::ThreadPool;

/// A kernel with its arguments, which have been checked. Until it is dropped it borrows their slices; nothing of them is copied.
///
/// A run reuses what the one before it has allocated, so that from the second one in the same shape on none allocates anything. That memory is
/// given back when this is dropped.
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
    /// A launch on these arguments, in the order of the parameters; those with contents have none. It is run by the interpreter
    /// unless [`Bound::engine`] says otherwise.
    ///
    /// # Errors
    /// Arguments that do not fit the signature; slices that overlap one that is written, which callers of safe code cannot have.
    pub fn bind<'a>(&'a self, args: impl IntoIterator<Item = Arg<'a>>) -> Result<Bound<'a>, LaunchError> {
        let args = Arguments::new(self.signature(), args)?;
        let (budget, engine) = (DEFAULT_BUDGET, Engine::default());
        Ok(Bound { kernel: self, args, budget, engine, done: None, watchdog: None, pool: None })
    }
}

impl<'a> Bound<'a> {
    /// The kernel.
    pub fn kernel(&self) -> &'a Kernel {
        self.kernel
    }

    /// What executes it from now on.
    pub fn engine(&mut self, engine: Engine) -> &mut Bound<'a> {
        self.engine = engine;
        self
    }

    /// Backward branches that an item may take in a run, in place of [`DEFAULT_BUDGET`].
    pub fn budget(&mut self, branches: u64) -> &mut Bound<'a> {
        self.budget = branches;
        self
    }

    /// Counts the items that are done, for whoever watches a long run.
    pub fn done(&mut self, done: impl Into<Option<&'a AtomicU32>>) -> &mut Bound<'a> {
        self.done = done.into();
        self
    }

    /// What ends runs early: limits that are met, or someone who cancels them. One that has is of no more use. Engine `cuda` does
    /// not look at it.
    pub fn watchdog(&mut self, watchdog: impl Into<Option<&'a Watchdog>>) -> &mut Bound<'a> {
        self.watchdog = watchdog.into();
        self
    }

    /// Whose threads help where [`Engine::Jit`] may use several, in place of those of rayon's global pool.
    pub fn pool(&mut self, pool: impl Into<Option<&'a ThreadPool>>) -> &mut Bound<'a> {
        self.pool = pool.into();
        self
    }

    /// What the buffer of a parameter holds; none for a scalar.
    pub fn buffer(&self, param: usize) -> Option<&[u8]> {
        let (of, offset) = self.place(param)?;
        self.args.buffers.0.get(of)?.as_ref()?.bytes().get(offset..)
    }

    /// The same, to be changed between runs, where the slice was lent to be written: as [`Arg::Buffer`], for a parameter of any
    /// direction.
    pub fn buffer_mut(&mut self, param: usize) -> Option<&mut [u8]> {
        let (of, offset) = self.place(param)?;
        match &mut self.args.buffers.0.get_mut(of)?.as_mut()?.bytes {
            Bytes::Mutable(bytes) => bytes.get_mut(offset..),
            Bytes::Shared(_) => None,
        }
    }

    /// The parameter whose argument has the memory of a parameter's buffer, and where in it that begins.
    fn place(&self, param: usize) -> Option<(usize, usize)> {
        if matches!(self.kernel.signature().params().get(param)?.kind, ParamKind::Scalar(_)) {
            return None;
        }
        let (of, offset) = buffer_of(*self.args.scalars.get(param)? as u64)?;
        Some((of, offset as usize))
    }

    /// Runs the kernel: over so many work items, or over a [`Shape`]. It starts by making `out` buffers all zero; others stay as the
    /// run before has left them.
    ///
    /// Buffers lie at addresses of their own ([`buffer_base`](halfbyte_abi::buffer_base)), which meet every alignment that a
    /// parameter may ask for, wherever the slices are.
    ///
    /// # Errors
    /// A shape that launches do not have, an engine that does not run the kernel, scalars that make the streams of VP1 exceed the
    /// data store: then nothing was run or written. A trap, or a limit that was met: then the buffers hold no result.
    pub fn run(&mut self, shape: impl Into<Shape>) -> Result<Stats, LaunchError> {
        self.run_shape(shape.into())
    }

    fn run_shape(&mut self, shape: Shape) -> Result<Stats, LaunchError> {
        let &mut Bound { kernel, ref mut args, budget, engine, done, watchdog, pool } = self;
        let items = kernel.items(&shape)?;
        kernel.run(&Order { items, shape, budget, engine, done, watchdog, pool }, args)
    }
}
