//! Loaded kernels, and the traits that each target implements to run them.

use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use halfbyte_abi::{Exceeded, Shape, ShapeError, Signature, Target};
use halfbyte_isa::isa::{Isa, SharedCode};
use halfbyte_isa::object::{KernelInfo, Loc, PartialAccess};

#[cfg(feature = "aot")]
use halfbyte_native::aot;

use crate::arguments::{Arg, Arguments};
use crate::error::LaunchError;
use crate::launch::{Launch, check_limits};
use halfbyte_abi::Engine;
use halfbyte_abi::Stats;
use halfbyte_isa::buffers::Buffers;
use halfbyte_isa::trap::{Fault, Trap};
use halfbyte_native::clif::{NativeError, Translation};
use halfbyte_native::launch::LaunchOptions;

/// A loaded kernel that can be launched.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(crate) info: KernelInfo,
    pub(crate) source: Arc<str>,
    pub(crate) words: SharedCode,
    pub(crate) locs: Vec<Loc>,
    pub(crate) parts: Vec<PartialAccess>,
    pub(crate) code: Arc<dyn Executable>,
    pub(crate) machine: &'static dyn Machine,
}

/// A machine: an instruction set and the code that runs its kernels.
pub trait Machine: Debug + Sync + RefUnwindSafe {
    /// Returns the instruction set.
    fn isa(&self) -> &'static dyn Isa;

    /// Returns `true` if an engine supports the machine's kernels.
    fn runs(&self, engine: Engine) -> bool;

    /// Prepares a kernel for execution. This method is called once for each loaded kernel.
    ///
    /// # Errors
    /// Returns a message if the code contradicts the object's metadata.
    fn prepare(&self, info: &KernelInfo, words: &SharedCode, locs: &[Loc]) -> Result<Arc<dyn Executable>, String>;
}

/// A kernel that is prepared for execution. Clones of its `Arc` share the state that the first launch creates.
pub trait Executable: Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Runs all work items of a launch on checked arguments. The method calls [`Arguments::start`]
    /// before the first item runs.
    ///
    /// # Errors
    /// Returns the trap of the lowest item that traps, the limit that was exceeded, or an error if
    /// the engine does not support the kernel.
    fn launch(&self, kernel: &Kernel, order: LaunchOptions<'_>, args: &mut Arguments<'_>)
    -> Result<Stats, LaunchError>;

    /// Returns `true` if a launch may add shared memory to the amount that the kernel declares.
    fn takes_shared(&self) -> bool {
        false
    }

    /// Returns `true` if the native engine falls back to the interpreter for this kernel.
    fn is_interpreted(&self) -> bool {
        false
    }

    /// Appends a function that runs the kernel's work items to a native object.
    ///
    /// # Errors
    /// Returns an error if the kernel uses a feature that native objects do not support.
    #[cfg(feature = "aot")]
    fn native(&self, _kernel: &Kernel, _into: &mut aot::Emit<'_, '_>) -> Result<(), aot::NotMade> {
        Err(aot::Refusal::Machine.into())
    }

    /// Returns the statistics of the translation to native code, if it has taken place.
    fn translation(&self) -> Option<Translation> {
        None
    }
}

/// Error message for machine code that belongs to another instruction set.
pub(crate) const OTHER_CODE: &str = "its machine code is another instruction set's";

/// Returns the machine and the target for a target code of an object file, if any machine supports it.
pub(crate) fn of_code(machines: &[&'static dyn Machine], code: (u16, u16)) -> Option<(&'static dyn Machine, Target)> {
    machines.iter().find_map(|&machine| {
        let target = machine.isa().targets().iter().find(|target| target.code() == code)?;
        Some((machine, *target))
    })
}

impl Kernel {
    /// Returns the kernel's name and parameters.
    pub fn signature(&self) -> &Signature {
        &self.info.signature
    }

    /// Returns the kernel's metadata from the object.
    pub fn info(&self) -> &KernelInfo {
        &self.info
    }

    /// Returns `true` if an engine supports the kernel.
    pub fn runs_on(&self, engine: Engine) -> bool {
        self.machine.runs(engine)
    }

    /// Returns the kernel's instruction words, including words that are not valid instructions.
    pub fn words(&self) -> &SharedCode {
        &self.words
    }

    /// Returns the source locations of the kernel, one for each instruction word.
    pub fn locs(&self) -> &[Loc] {
        &self.locs
    }

    /// Returns the source accesses that the compiler merged into single instructions. They are
    /// sorted by the address of the instruction word.
    pub fn parts(&self) -> &[PartialAccess] {
        &self.parts
    }

    /// Launches the kernel. Equivalent to [`Kernel::bind`] followed by [`Bound::run`](crate::Bound::run).
    ///
    /// Each thread caches memory and native code of the kernels that it launched last. A relaunch therefore costs
    /// little more than a bound launch. Launches of other kernels evict cache entries.
    ///
    /// # Errors
    /// Returns the errors of [`Kernel::bind`] and [`Bound::run`](crate::Bound::run).
    pub fn launch(&self, launch: Launch<'_, '_>) -> Result<Stats, LaunchError> {
        let Launch { shape, args, budget, engine, done, watchdog, pool } = launch;
        let mut args = Arguments::new(self.signature(), args.iter_mut().map(Arg::reborrow))?;
        args.scratch.set_last();
        let items = self.items(&shape)?;
        self.run(&LaunchOptions { items, shape, budget, engine, done, watchdog, pool }, &mut args)
    }

    /// Returns the number of work items in a shape, or an error if the shape is invalid.
    pub(crate) fn items(&self, shape: &Shape) -> Result<u32, LaunchError> {
        shape.items().map_err(|error| self.shape_error(error))
    }

    fn shape_error(&self, error: ShapeError) -> LaunchError {
        LaunchError::Shape { kernel: self.signature().name().to_owned(), error }
    }

    /// Checks that the engine supports the kernel, and runs the launch.
    pub(crate) fn run(&self, order: &LaunchOptions<'_>, args: &mut Arguments<'_>) -> Result<Stats, LaunchError> {
        let &LaunchOptions { items, ref shape, engine, watchdog, .. } = order;
        let name = || self.signature().name().to_owned();
        if !self.runs_on(engine) {
            return Err(LaunchError::Engine { kernel: name(), target: self.words.target().to_string(), engine });
        }
        if shape.shared != 0 && !self.code.takes_shared() {
            return Err(self.shape_error(ShapeError::Shared(shape.shared)));
        }
        if self.info.along_x && !shape.is_along_x() {
            return Err(self.shape_error(ShapeError::Axes(*shape)));
        }
        let limit = self.info.max_items;
        if items > limit {
            return Err(LaunchError::Items { kernel: name(), items, limit });
        }
        if let Some(watchdog) = watchdog {
            let given = args.buffers.0.iter().take(self.signature().given().len()).flatten();
            let bytes = given.map(|buffer| buffer.bytes().len() as u64);
            check_limits(watchdog, items, bytes).map_err(|exceeded| self.exceeded(exceeded))?;
        }
        self.code.launch(self, *order, args)
    }

    /// Converts an error of native code generation to a launch error.
    pub(crate) fn native_error(&self, error: NativeError) -> LaunchError {
        match error {
            NativeError::Exceeded(exceeded) => self.exceeded(exceeded),
            error => LaunchError::Native { kernel: self.signature().name().to_owned(), error },
        }
    }

    /// Returns the launch error for an exceeded limit.
    pub fn exceeded(&self, exceeded: Exceeded) -> LaunchError {
        LaunchError::Exceeded { kernel: self.signature().name().to_owned(), exceeded }
    }

    /// Returns `true` if the native engine falls back to the interpreter for this kernel. This
    /// happens if items may poll memory that other items write, or if instructions access an item's
    /// local memory both by constant and by computed addresses.
    pub fn is_interpreted(&self) -> bool {
        self.code.is_interpreted()
    }

    /// Returns the statistics of the translation to native code. Returns `None` before the first
    /// launch on [`Engine::Jit`], and for kernels that are too large to be translated.
    pub fn translation(&self) -> Option<Translation> {
        self.code.translation()
    }

    /// Converts a fault of a launch to a trap. If the instruction merges several accesses of the
    /// source, the trap describes the first invalid one.
    pub fn trap_of(&self, shape: &Shape, item: u32, fault: Fault, buffers: &Buffers<'_>) -> Trap {
        let parts = PartialAccess::of_word(&self.parts, fault.address as u32);
        let part = parts.iter().find_map(|part| Some((part.loc, buffers.trap_of_part(part, &fault.kind)?)));
        let trap = self.trap(shape, item, fault);
        match part {
            Some((loc, kind)) => Trap { loc, kind, ..trap },
            None => trap,
        }
    }

    /// Converts a fault of a launch to a trap with the text and the source location of the instruction.
    pub(crate) fn trap(&self, shape: &Shape, item: u32, fault: Fault) -> Trap {
        let Fault { address, mut kind } = fault;
        kind.locate_parties(|address| self.locs.get(address).copied().unwrap_or_default());
        Trap {
            kernel: self.signature().name().to_owned(),
            item,
            shape: *shape,
            address: address as u32,
            instruction: self.words.text(address),
            source: self.source.to_string(),
            loc: self.locs.get(address).copied().unwrap_or_default(),
            kind,
            remedy: None,
        }
    }
}

#[cfg(feature = "aot")]
impl aot::Kernel for Kernel {
    fn described(&self) -> aot::Described<'_> {
        aot::Described { info: &self.info, locs: &self.locs, parts: &self.parts }
    }

    fn emit(&self, into: &mut aot::Emit<'_, '_>) -> Result<(), aot::NotMade> {
        self.code.native(self, into)
    }
}
