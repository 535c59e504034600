//! Programs on typed slices.

use halfbyte_abi::{ParamKind, Shape, Signature, Type, Watchdog};
use halfbyte_runtime::{self as runtime, Engine, LaunchError, LoadError, Stats, ThreadPool};
use thiserror::Error;

use crate::data::{Data, fits};
use crate::targets::{TARGETS, TargetSet};
use crate::typed_args::{Arg, Args};

/// Loaded kernels. Clones share what native code is made.
///
/// Threads may share it, as they may a [`Kernel`] and a [`Bound`], also where one of them panics: all three are `Send`, `Sync` and
/// `RefUnwindSafe`, and all but a `Bound`, which borrows what it writes, `UnwindSafe`.
#[derive(Clone, Debug)]
pub struct Program(runtime::Program);

/// Why arguments are not bound, or a launch gave no result.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum CallError {
    /// The program has no kernel of that name.
    #[error("there is no kernel `@{name}`; there are {}", known.join(", "))]
    NoKernel {
        /// What was asked for.
        name: String,
        /// The kernels that there are.
        known: Vec<String>,
    },
    /// An argument's type does not fit the parameter.
    #[error("parameter `{param}` is {expected}; an argument of {found} does not fit")]
    Type {
        /// The parameter.
        param: String,
        /// Its type.
        expected: Type,
        /// The argument's lanes.
        found: &'static str,
    },
    /// Arguments of another number or kind, or that overlap; a launch that failed.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

impl Program {
    /// Reads an object.
    ///
    /// # Errors
    /// Bytes that are no object for a target that runs here.
    pub fn load(object: &[u8]) -> Result<Program, LoadError> {
        Program::load_with(&TARGETS, object)
    }

    /// Reads an object for one of these targets.
    ///
    /// # Errors
    /// Bytes that are no object for one of them.
    pub fn load_with(targets: &TargetSet, object: &[u8]) -> Result<Program, LoadError> {
        targets.load(object).map(Program)
    }

    /// The kernels, in the object's order.
    pub fn kernels(&self) -> impl ExactSizeIterator<Item = Kernel<'_>> {
        self.0.kernels().iter().map(Kernel)
    }

    /// A kernel by its name, without `@`.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn kernel(&self, name: &str) -> Result<Kernel<'_>, CallError> {
        self.0.kernel(name).map(Kernel).ok_or_else(|| {
            let known = self.kernels().map(|kernel| format!("@{}", kernel.name()));
            CallError::NoKernel { name: name.to_owned(), known: known.collect() }
        })
    }
}

/// A kernel of a program, whose native code is made at its first launch on [`Engine::Jit`] and shared by all of them.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<'p>(&'p runtime::Kernel);

impl<'p> Kernel<'p> {
    /// Its name, without `@`.
    pub fn name(self) -> &'p str {
        self.0.signature().name()
    }

    /// Its name and parameters.
    pub fn signature(self) -> &'p Signature {
        self.0.signature()
    }

    /// The kernel as the runtime has it: its words, where they come from, what native code took to make.
    pub fn raw(self) -> &'p runtime::Kernel {
        self.0
    }

    /// A launch on these arguments, in the order of the parameters; those with contents take none. Slices are borrowed as they
    /// are, at any address, until the launch is dropped; how long they are is up to the caller, in whole elements.
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
    /// Where the signature is known only at run time, arguments are a `Vec` of [`Arg`]. Bytes do for a slice of any type, as
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
    /// Arguments of another number, kind, type or size than the parameters.
    pub fn bind<'a>(self, args: impl Args<'a>) -> Result<Bound<'a>, CallError>
    where
        'p: 'a,
    {
        let mut unfit = None;
        let mut params = self.signature().given().iter();
        let raw = args.args().map(|Arg { raw, lanes }| {
            if let (Some(param), Some(lanes)) = (params.next(), lanes) {
                let ty = param.kind.ty();
                // A lane of a scalar leaves the others open.
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

/// A kernel with its arguments, which have been checked, to be run again and again. Until it is dropped it borrows their slices.
///
/// Runs on the same number of items allocate nothing after the first one.
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
    /// What executes the words from now on, in place of the interpreter.
    pub fn engine(&mut self, engine: Engine) -> &mut Bound<'a> {
        self.0.engine(engine);
        self
    }

    /// Backward branches that an item may take in a run, in place of 2^20.
    pub fn budget(&mut self, branches: u64) -> &mut Bound<'a> {
        self.0.budget(branches);
        self
    }

    /// What ends runs early, within 20 ms: limits that are met, or someone who cancels them. A watchdog whose limit was met is of
    /// no more use.
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

    /// Whose threads help where [`Engine::Jit`] may use several, in place of those of rayon's global pool.
    pub fn pool(&mut self, pool: impl Into<Option<&'a ThreadPool>>) -> &mut Bound<'a> {
        self.0.pool(pool);
        self
    }

    /// What the buffer of a parameter, by its number, holds; none for a scalar, for another type than fits the parameter, and for
    /// bytes that do not lie as this type must.
    pub fn buffer<T: Data>(&self, param: usize) -> Option<&[T]> {
        self.is_of::<T>(param).then_some(())?;
        bytemuck::try_cast_slice(self.0.buffer(param)?).ok()
    }

    /// The same, to be changed between runs, where the slice was lent to be written: as `&mut`, for a parameter of any direction.
    pub fn buffer_mut<T: Data>(&mut self, param: usize) -> Option<&mut [T]> {
        self.is_of::<T>(param).then_some(())?;
        bytemuck::try_cast_slice_mut(self.0.buffer_mut(param)?).ok()
    }

    fn is_of<T: Data>(&self, param: usize) -> bool {
        let kind = self.0.kernel().signature().params().get(param).map(|param| param.kind);
        kind.is_some_and(|kind| fits::<T>(kind.ty()))
    }

    /// Runs the kernel: over so many work items, or over a [`Shape`]. It starts by making `out` buffers all zero; others hold
    /// what they held.
    ///
    /// # Errors
    /// A shape that launches do not have, an engine that does not run the kernel, scalars that make the streams of VP1 exceed the
    /// data store: then nothing was run or written. A trap, or a limit that was met: then the buffers hold no result.
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
