//! Kernels, and the interface that each machine's folder implements to run them.

use std::fmt::Debug;
use std::sync::Arc;

use halfbyte_abi::{Direction, Exceeded, Param, ParamKind, Signature, Target, Type};
use halfbyte_isa::isa::{Isa, Words};
use halfbyte_isa::object::{KernelInfo, Loc, Part};

use crate::buffers::{Buffer, Buffers, Bytes};
use crate::launch::{Arg, Engine, Launch, LaunchError, Order, Stats, check_limits};
use crate::native::{NativeError, Translation};
use crate::trap::{Fault, Trap};

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
pub trait Machine: Debug + Sync {
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
pub trait Executable: Debug + Send + Sync {
    /// Runs all work items of a launch, on an argument for each parameter that fits it.
    ///
    /// # Errors
    /// A trap: that of the lowest item that makes one. A limit that was met; what an engine cannot do.
    fn launch(&self, kernel: &Kernel, order: Order<'_>, args: &mut [Arg<'_>]) -> Result<Stats, LaunchError>;

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

    /// Runs the kernel's work items.
    ///
    /// Buffers lie at addresses of their own ([`buffer_base`](halfbyte_abi::buffer_base)), which meet every alignment that a
    /// parameter may ask for, wherever the slices are.
    ///
    /// # Errors
    /// Arguments that do not fit the signature, or what they make of the streams the data store: then nothing was run or written. A
    /// trap: then the buffers hold no result.
    pub fn launch(&self, launch: Launch<'_, '_>) -> Result<Stats, LaunchError> {
        let Launch { items, args, budget, engine, done, watchdog } = launch;
        self.check_args(args)?;
        let (target, kernel) = (self.words.target(), || self.signature().name().to_owned());
        if !self.machine.runs(engine) {
            return Err(LaunchError::Engine { kernel: kernel(), target, engine });
        }
        let limit = self.info.max_items;
        if items > limit {
            return Err(LaunchError::Items { kernel: kernel(), items, limit });
        }
        if let Some(watchdog) = watchdog {
            let bytes = args.iter().map(|arg| match arg {
                Arg::Scalar(_) => 0,
                Arg::In(bytes) => bytes.len() as u64,
                Arg::Buffer(bytes) => bytes.len() as u64,
            });
            check_limits(watchdog, items, bytes).map_err(|exceeded| self.exceeded(exceeded))?;
        }
        let order = Order { items, budget, engine, done, watchdog };
        match self.signature().contents() {
            [] => self.code.launch(self, order, args),
            contents => {
                let given = args.iter_mut().map(|arg| match arg {
                    Arg::Scalar(bits) => Arg::Scalar(*bits),
                    Arg::In(bytes) => Arg::In(bytes),
                    Arg::Buffer(bytes) => Arg::Buffer(bytes),
                });
                let mut all: Vec<Arg<'_>> = given.chain(contents.iter().map(|bytes| Arg::In(bytes))).collect();
                self.code.launch(self, order, &mut all)
            }
        }
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

    /// What it took to make native code of the kernel; none where none was made: before its first launch on
    /// [`Engine::Jit`], and where the kernel is so large that it is interpreted even then.
    pub fn translation(&self) -> Option<Translation> {
        self.code.translation()
    }

    fn check_args(&self, args: &[Arg<'_>]) -> Result<(), LaunchError> {
        let (params, found) = (self.signature().given(), args.len());
        if params.len() != found {
            let kernel = self.signature().name().to_owned();
            return Err(LaunchError::Count { kernel, expected: params.len(), found });
        }
        params.iter().zip(args).try_for_each(|(param, arg)| self.check(param, arg))
    }

    /// The buffers at the start of a launch, of arguments that fit.
    pub fn buffers<'a>(&'a self, args: &'a mut [Arg<'_>]) -> Buffers<'a> {
        let buffer = |(param, arg): (&'a Param, &'a mut Arg<'_>)| {
            let bytes = match (param.kind, arg) {
                (_, Arg::Scalar(_)) => return None,
                (_, Arg::In(bytes)) => Bytes::ReadOnly(bytes),
                (ParamKind::Buffer { direction: Direction::In, .. }, Arg::Buffer(bytes)) => Bytes::ReadOnly(bytes),
                (ParamKind::Buffer { direction: Direction::Out, .. }, Arg::Buffer(bytes)) => {
                    bytes.fill(0);
                    Bytes::Mutable(bytes)
                }
                (_, Arg::Buffer(bytes)) => Bytes::Mutable(bytes),
            };
            Some(Buffer { name: &param.name, bytes })
        };
        Buffers(self.signature().params().iter().zip(args).map(buffer).collect())
    }

    fn check(&self, param: &Param, arg: &Arg<'_>) -> Result<(), LaunchError> {
        let names = || (self.signature().name().to_owned(), param.name.clone());
        let size = |elem: Type, found: usize| {
            if found.is_multiple_of(elem.bytes() as usize) {
                return Ok(());
            }
            let (kernel, param) = names();
            Err(LaunchError::Size { kernel, param, elem, found })
        };
        match (param.kind, arg) {
            (ParamKind::Scalar(ty), &Arg::Scalar(bits)) if ty.bits() < 128 && bits >> ty.bits() != 0 => {
                let (kernel, param) = names();
                Err(LaunchError::Scalar { kernel, param, ty, bits })
            }
            (ParamKind::Scalar(_), Arg::Scalar(_)) => Ok(()),
            (ParamKind::Buffer { elem, .. }, Arg::Buffer(bytes)) => size(elem, bytes.len()),
            (ParamKind::Buffer { elem, direction: Direction::In, .. }, Arg::In(bytes)) => size(elem, bytes.len()),
            (kind, arg) => {
                let (kernel, param) = names();
                let expected = match kind {
                    ParamKind::Scalar(ty) => format!("a scalar {ty}"),
                    ParamKind::Buffer { elem, direction, .. } => {
                        format!("an `{}` buffer of {elem}", direction.name())
                    }
                };
                let found = match arg {
                    Arg::Scalar(_) => "a scalar",
                    Arg::In(_) => "a read-only buffer",
                    Arg::Buffer(_) => "a buffer",
                };
                Err(LaunchError::Kind { kernel, param, expected, found })
            }
        }
    }

    /// The trap of a fault. What is reported of an access of several parts is the first that could not have been made.
    pub fn trap_of(&self, item: u32, fault: Fault, buffers: &Buffers<'_>) -> Trap {
        let parts = Part::of_word(&self.parts, fault.address as u32);
        let part = parts.iter().find_map(|part| Some((part.loc, buffers.fault_of(part, &fault.kind)?)));
        let trap = self.trap(item, fault);
        match part {
            Some((loc, kind)) => Trap { loc, kind, ..trap },
            None => trap,
        }
    }

    /// The trap of a fault: with what is known of the word it happened at.
    pub(crate) fn trap(&self, item: u32, fault: Fault) -> Trap {
        let Fault { address, kind } = fault;
        Trap {
            kernel: self.signature().name().to_owned(),
            item,
            address: address as u32,
            instruction: self.words.text(address),
            source: self.source.to_string(),
            loc: self.locs.get(address).copied().unwrap_or_default(),
            kind,
        }
    }
}
