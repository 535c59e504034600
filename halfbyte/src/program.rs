//! Programs whose launches take typed slices.

use halfbyte_abi::{ParamKind, Shape, Signature, Type, Watchdog};
use halfbyte_runtime::{self as runtime, Engine, LaunchError, LoadError, Stats, ThreadPool};
use thiserror::Error;

use crate::data::{Data, fits};
use crate::targets::{TARGETS, TargetSet};
use crate::typed_args::{Arg, Args};

/// A loaded object, whose kernels take slices of Rust numbers. Clones share generated native code.
///
/// Threads may share a program, a [`Kernel`] and a [`Bound`], even if a thread panics: all three
/// are `Send`, `Sync` and `RefUnwindSafe`. `Program` and `Kernel` are also `UnwindSafe`. `Bound` is
/// not, because it borrows memory that it writes.
#[derive(Clone, Debug)]
pub struct Program(runtime::Program);

/// Reason why binding or launching a kernel failed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum CallError {
    /// The program has no kernel with this name.
    #[error("no kernel `@{name}`; the program has {}", known.join(", "))]
    NoKernel {
        /// The requested kernel name.
        name: String,
        /// The names of the program's kernels.
        known: Vec<String>,
    },
    /// An argument's type does not fit the parameter.
    #[error("parameter `{param}` is {expected}; an argument of {found} does not fit")]
    Type {
        /// Name of the parameter.
        param: String,
        /// Declared type of the parameter.
        expected: Type,
        /// Name of the lane type of the argument.
        found: &'static str,
    },
    /// The number or kind of arguments does not fit the parameters, arguments overlap, or the launch failed.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

impl Program {
    /// Loads an object.
    ///
    /// # Errors
    /// Returns an error if the bytes are not an object for a built-in target.
    pub fn load(object: &[u8]) -> Result<Program, LoadError> {
        Program::load_with(&TARGETS, object)
    }

    /// Loads an object for one of the given targets.
    ///
    /// # Errors
    /// Returns an error if the bytes are not an object for one of these targets.
    pub fn load_with(targets: &TargetSet, object: &[u8]) -> Result<Program, LoadError> {
        targets.load(object).map(Program)
    }

    /// Returns the kernels, in the order of the object.
    pub fn kernels(&self) -> impl ExactSizeIterator<Item = Kernel<'_>> {
        self.0.kernels().iter().map(Kernel)
    }

    /// Returns the kernel with the given name, without `@`.
    ///
    /// # Errors
    /// Returns an error if there is no such kernel.
    pub fn kernel(&self, name: &str) -> Result<Kernel<'_>, CallError> {
        self.0.kernel(name).map(Kernel).ok_or_else(|| {
            let known = self.kernels().map(|kernel| format!("@{}", kernel.name()));
            CallError::NoKernel { name: name.to_owned(), known: known.collect() }
        })
    }
}

/// A kernel of a program. Its native code is generated at the first launch on [`Engine::Jit`]. All
/// later launches share this code.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<'p>(&'p runtime::Kernel);

impl<'p> Kernel<'p> {
    /// Returns the name, without `@`.
    pub fn name(self) -> &'p str {
        self.0.signature().name()
    }

    /// Returns the kernel's name and parameters.
    pub fn signature(self) -> &'p Signature {
        self.0.signature()
    }

    /// Returns the runtime's handle of the kernel, which gives the instruction words, their source
    /// locations and the translation statistics.
    pub fn raw(self) -> &'p runtime::Kernel {
        self.0
    }

    /// Binds arguments to the kernel, in the order of the parameters. Parameters with constant contents take no
    /// argument. Slices are borrowed without a copy until the result is dropped. They may have any address, and any
    /// length in whole elements.
    ///
    /// ```
    /// use halfbyte::{HALU, Module, Program};
    ///
    /// let text = "kernel @brighten(%by: i8x4, %x: in i8x4, %y: out i8x4) {
    ///             ^entry:
    ///               %i = item_id
    ///               %v = load %x[%i]
    ///               %w = add_sat_u.i8x4 %v, %by
    ///               store %w, %y[%i]
    ///               ret
    ///             }";
    /// let program = Program::load(&Module::parse(text)?.compile(HALU)?.object)?;
    /// let (x, mut y) = (vec![[0_u8, 100, 215, 216]], [[0_u8; 4]]);
    /// program.kernel("brighten")?.bind(([40_u8; 4], &x, &mut y))?.run(1)?;
    /// assert_eq!(y, [[40, 140, 255, 255]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// If the signature is known only at run time, pass a `Vec` of [`Arg`]. Untyped bytes fit a buffer of any type, as
    /// `halfbyte::runtime::Arg::In(bytes).into()`.
    ///
    /// ```
    /// # use halfbyte::{HALU, Module, Program};
    /// use halfbyte::Arg;
    ///
    /// # let text = "kernel @copy(%x: in i32, %y: out i32) {
    /// #             ^entry:
    /// #               %i = item_id
    /// #               %v = load %x[%i]
    /// #               store %v, %y[%i]
    /// #               ret
    /// #             }";
    /// # let program = Program::load(&Module::parse(text)?.compile(HALU)?.object)?;
    /// let (x, mut y) = ([1, 2, 3], [0; 3]);
    /// let args = vec![Arg::input(&x), Arg::buffer(&mut y)];
    /// program.kernel("copy")?.bind(args)?.run(2)?;
    /// assert_eq!(y, [1, 2, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the number, kind, type or size of an argument does not fit the parameters.
    pub fn bind<'a>(self, args: impl Args<'a>) -> Result<Bound<'a>, CallError>
    where
        'p: 'a,
    {
        let mut unfit = None;
        let mut params = self.signature().given().iter();
        let raw = args.args().map(|Arg { raw, lanes }| {
            if let (Some(param), Some(lanes)) = (params.next(), lanes) {
                let ty = param.kind.ty();
                // A single lane is not enough for a packed scalar, because the other lanes would be undefined.
                let is_part = matches!(param.kind, ParamKind::Scalar(_)) && lanes.bytes != ty.bytes() as usize;
                if unfit.is_none() && (is_part || !(lanes.fits)(ty)) {
                    unfit = Some(CallError::Type { param: param.name.clone(), expected: ty, found: lanes.name });
                }
            }
            raw
        });
        let bound = self.0.bind(raw);
        match unfit {
            Some(error) => Err(error),
            None => Ok(Bound(bound?)),
        }
    }
}

/// A kernel bound to checked arguments, for repeated launches. It borrows the argument slices until it is dropped.
///
/// After the first run, runs on the same number of items allocate nothing.
///
/// ```
/// use halfbyte::runtime::Engine;
/// use halfbyte::{HALU, Module, Program};
///
/// let text = "kernel @add(%x: in i32, %y: inout i32) {
///             ^entry:
///               %i = item_id
///               %v = load %x[%i]
///               %w = load %y[%i]
///               %s = add.i32 %v, %w
///               store %s, %y[%i]
///               ret
///             }";
/// let program = Program::load(&Module::parse(text)?.compile(HALU)?.object)?;
/// let (mut x, mut y) = ([1, 2], [0, 0]);
/// let mut bound = program.kernel("add")?.bind((&mut x, &mut y))?;
/// bound.engine(Engine::Interp).budget(1 << 10);
/// for _ in 0..3 {
///     bound.run(2)?;
/// }
/// assert_eq!(bound.buffer(1), Some([3, 6].as_slice()));
/// bound.buffer_mut(0).ok_or("x was not lent to be written")?.fill(10);
/// bound.run(2)?;
/// drop(bound);
/// assert_eq!(y, [13, 16]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Bound<'a>(runtime::Bound<'a>);

impl<'a> Bound<'a> {
    /// Sets the engine of all further runs. The default is the interpreter.
    pub fn engine(&mut self, engine: Engine) -> &mut Bound<'a> {
        self.0.engine(engine);
        self
    }

    /// Sets the number of backward branches that an item may take in a run. The default is 2^20.
    pub fn budget(&mut self, branches: u64) -> &mut Bound<'a> {
        self.0.budget(branches);
        self
    }

    /// Sets a watchdog that ends runs within 20 ms when a limit is exceeded or the run is
    /// cancelled. A watchdog whose limit was exceeded cannot be reused.
    ///
    /// ```
    /// use halfbyte::abi::{Exceeded, Limits, Watchdog};
    /// use halfbyte::runtime::LaunchError;
    /// # use halfbyte::{CallError, HALU, Module, Program};
    /// # let program = Program::load(&Module::parse("kernel @k() {\n^entry:\n  ret\n}")?.compile(HALU)?.object)?;
    ///
    /// let watchdog = Watchdog::new(Limits::NONE);
    /// let mut bound = program.kernel("k")?.bind(())?;
    /// bound.watchdog(&watchdog).run(1)?;
    /// // From any thread:
    /// watchdog.token().cancel();
    /// let cancelled = bound.run(1).unwrap_err();
    /// assert_eq!(cancelled, LaunchError::Exceeded { kernel: "k".into(), exceeded: Exceeded::Cancelled });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn watchdog(&mut self, watchdog: impl Into<Option<&'a Watchdog>>) -> &mut Bound<'a> {
        self.0.watchdog(watchdog);
        self
    }

    /// Sets the pool whose threads help when [`Engine::Jit`] may use several threads. The default
    /// is rayon's global pool.
    pub fn pool(&mut self, pool: impl Into<Option<&'a ThreadPool>>) -> &mut Bound<'a> {
        self.0.pool(pool);
        self
    }

    /// Returns the contents of the buffer of parameter `param`. Returns `None` for a scalar, for a
    /// type that does not fit the parameter, and for bytes that are misaligned for the type.
    pub fn buffer<T: Data>(&self, param: usize) -> Option<&[T]> {
        self.is_of::<T>(param).then_some(())?;
        bytemuck::try_cast_slice(self.0.buffer(param)?).ok()
    }

    /// Returns the contents of a parameter's buffer, to be changed between runs. Returns `None`
    /// unless the slice was passed as `&mut` and `T` fits the parameter. The parameter's direction
    /// does not matter.
    pub fn buffer_mut<T: Data>(&mut self, param: usize) -> Option<&mut [T]> {
        self.is_of::<T>(param).then_some(())?;
        bytemuck::try_cast_slice_mut(self.0.buffer_mut(param)?).ok()
    }

    fn is_of<T: Data>(&self, param: usize) -> bool {
        let kind = self.0.kernel().signature().params().get(param).map(|param| param.kind);
        kind.is_some_and(|kind| fits::<T>(kind.ty()))
    }

    /// Runs the kernel over a number of work items or over a [`Shape`]. The run starts by filling
    /// `out` buffers with zeros; other buffers keep their contents.
    ///
    /// # Errors
    /// Returns an error if the shape is invalid, if the engine does not support the kernel, or if
    /// the scalars make VP1's streams exceed the data store. In these cases no work item runs and
    /// no buffer changes. After a trap or an exceeded limit the buffers hold no valid result.
    pub fn run(&mut self, shape: impl Into<Shape>) -> Result<Stats, LaunchError> {
        self.0.run(shape)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{RefUnwindSafe, UnwindSafe};

    use super::*;

    #[test]
    fn threads_may_share_and_move_what_runs() {
        fn shared<T: Send + Sync + RefUnwindSafe>() {}
        fn unwound<T: UnwindSafe>() {}
        shared::<Program>();
        shared::<Kernel<'static>>();
        shared::<Bound<'static>>();
        shared::<ThreadPool>();
        shared::<CallError>();
        unwound::<Program>();
        unwound::<Kernel<'static>>();
        unwound::<ThreadPool>();
    }
}
