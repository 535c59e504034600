//! Kernels, and the interface that each machine's folder implements to run them.

use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use halfbyte_abi::{Exceeded, Shape, ShapeError, Signature, Target};
use halfbyte_isa::isa::{Isa, Words};
use halfbyte_isa::object::{KernelInfo, Loc, Part};

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
use halfbyte_native::launch::Order;

/// A kernel, ready to be launched.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(crate) info: KernelInfo,
    pub(crate) source: Arc<str>,
    pub(crate) words: Words,
    pub(crate) locs: Vec<Loc>,
    pub(crate) parts: Vec<Part>,
    pub(crate) code: Arc<dyn Executable>,
    pub(crate) machine: &'static dyn Machine,
}

/// A machine: an instruction set, and what runs its kernels.
pub trait Machine: Debug + Sync + RefUnwindSafe {
    /// Its instruction set.
    fn isa(&self) -> &'static dyn Isa;

    /// Whether an engine runs its kernels.
    fn runs(&self, engine: Engine) -> bool;

    /// Makes a kernel ready to be run, once.
    ///
    /// # Errors
    /// Why its code does not fit what its object says of it.
    fn prepare(&self, info: &KernelInfo, words: &Words, locs: &[Loc]) -> Result<Arc<dyn Executable>, String>;
}

/// A kernel that is ready to be run. Clones of it share what is made at its first launch.
pub trait Executable: Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Runs all work items of a launch, on arguments that fit. It starts with [`Arguments::start`].
    ///
    /// # Errors
    /// A trap: that of the lowest item that makes one. A limit that was met; what an engine cannot do.
    fn launch(&self, kernel: &Kernel, order: Order<'_>, args: &mut Arguments<'_>) -> Result<Stats, LaunchError>;

    /// Whether a launch may give its groups shared memory beside what it declares.
    fn takes_shared(&self) -> bool {
        false
    }

    /// Whether the interpreter runs it where native code is asked for.
    fn is_interpreted(&self) -> bool {
        false
    }

    /// Adds a function to a native object that runs the kernel's items.
    ///
    /// # Errors
    /// It does what no function of an object does.
    #[cfg(feature = "aot")]
    fn native(&self, _kernel: &Kernel, _into: &mut aot::Emit<'_, '_>) -> Result<(), aot::NotMade> {
        Err(aot::Refusal::Machine.into())
    }

    /// What it took to make native code, where there is some.
    fn translation(&self) -> Option<Translation> {
        None
    }
}

/// What is wrong with machine code of another instruction set.
pub(crate) const OTHER_CODE: &str = "its machine code is another instruction set's";

/// The machine of an instruction set that an object's target is one of.
pub(crate) fn of_code(machines: &[&'static dyn Machine], code: (u16, u16)) -> Option<(&'static dyn Machine, Target)> {
    machines.iter().find_map(|&machine| {
        let target = machine.isa().targets().iter().find(|target| target.code() == code)?;
        Some((machine, *target))
    })
}

impl Kernel {
    /// Its name and parameters.
    pub fn signature(&self) -> &Signature {
        &self.info.signature
    }

    /// What the object says of it besides its words.
    pub fn info(&self) -> &KernelInfo {
        &self.info
    }

    /// Whether an engine runs it.
    pub fn runs_on(&self, engine: Engine) -> bool {
        self.machine.runs(engine)
    }

    /// Its words, instructions or not.
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// Where each word comes from.
    pub fn locs(&self) -> &[Loc] {
        &self.locs
    }

    /// What words stand for that access more than one thing of the text, in the order of their addresses.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Runs the kernel's work items: [`Kernel::bind`] and [`Bound::run`](crate::Bound::run) at once.
    ///
    /// For the kernels that it launched last the thread keeps memory and native code, so that to launch them again costs little more than if
    /// their arguments were bound. That goes when it launches others, or ends.
    ///
    /// # Errors
    /// As these.
    pub fn launch(&self, launch: Launch<'_, '_>) -> Result<Stats, LaunchError> {
        let Launch { shape, args, budget, engine, done, watchdog, pool } = launch;
        let mut args = Arguments::new(self.signature(), args.iter_mut().map(Arg::reborrow))?;
        args.scratch.set_last();
        let items = self.items(&shape)?;
        self.run(&Order { items, shape, budget, engine, done, watchdog, pool }, &mut args)
    }

    /// The work items of a shape.
    pub(crate) fn items(&self, shape: &Shape) -> Result<u32, LaunchError> {
        shape.items().map_err(|error| self.shape_error(error))
    }

    fn shape_error(&self, error: ShapeError) -> LaunchError {
        LaunchError::Shape { kernel: self.signature().name().to_owned(), error }
    }

    /// Runs a launch of those items, if the kernel and the engine have such launches.
    pub(crate) fn run(&self, order: &Order<'_>, args: &mut Arguments<'_>) -> Result<Stats, LaunchError> {
        let &Order { items, ref shape, engine, watchdog, .. } = order;
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

    /// The error of a launch that native code cannot be made for, or not in time.
    pub(crate) fn native_error(&self, error: NativeError) -> LaunchError {
        match error {
            NativeError::Exceeded(exceeded) => self.exceeded(exceeded),
            error => LaunchError::Native { kernel: self.signature().name().to_owned(), error },
        }
    }

    /// The error of a launch that was ended early.
    pub fn exceeded(&self, exceeded: Exceeded) -> LaunchError {
        LaunchError::Exceeded { kernel: self.signature().name().to_owned(), exceeded }
    }

    /// Whether the interpreter runs it where native code is asked for: items may wait for others by asking again and again, or
    /// instructions reach an item's memory by constant addresses and by computed ones.
    pub fn is_interpreted(&self) -> bool {
        self.code.is_interpreted()
    }

    /// What it took to make native code of the kernel; none where none was made: before its first launch on
    /// [`Engine::Jit`], and where the kernel is so large that it is interpreted even then.
    pub fn translation(&self) -> Option<Translation> {
        self.code.translation()
    }

    /// The trap of a fault in a launch of that shape. What is reported of an access of several parts is the first that could not have been made.
    pub fn trap_of(&self, shape: &Shape, item: u32, fault: Fault, buffers: &Buffers<'_>) -> Trap {
        let parts = Part::of_word(&self.parts, fault.address as u32);
        let part = parts.iter().find_map(|part| Some((part.loc, buffers.fault_of(part, &fault.kind)?)));
        let trap = self.trap(shape, item, fault);
        match part {
            Some((loc, kind)) => Trap { loc, kind, ..trap },
            None => trap,
        }
    }

    /// The trap of a fault: with what is known of the word it happened at.
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
