//! PTX: a kernel's instructions as they are read from text, interpreted on the host, one work item after another, or assembled
//! and run by the CUDA driver.
//!
//! Items are independent, so their order shows only in which trap is met first: the lowest item's. There is neither shared
//! memory nor a barrier in the subset.

#[cfg_attr(not(feature = "cuda"), path = "no_cuda.rs")]
mod cuda;
mod interp;
mod memory;
mod watch;

use std::mem::take;
use std::sync::Arc;

use halfbyte_abi::{DEFAULT_BUDGET, Direction, ParamKind, Shape, Signature, Watchdog, buffer_base};
use halfbyte_isa::isa::{Isa, Words};
use halfbyte_isa::object::{KernelInfo, Loc};
use halfbyte_isa::ptx as isa;
use halfbyte_isa::ptx::module::{self, Entry, Module, Param, Variable};
use halfbyte_isa::ptx::text::{Text, inst_text};
use halfbyte_isa::ptx::{Base, Operand};
use thiserror::Error;

use crate::arguments::Arguments;
use crate::buffers::{Buffer, Buffers, Bytes};
pub use crate::device::{CudaError, Failed, Unavailable};
use crate::engine::Engine;
use crate::error::LaunchError;
use crate::kernel;
use crate::kernel::{Executable, Machine, OTHER_CODE};
use crate::launch::{Order, Stats, Work, check_limits};
use crate::trap::{Fault, Halt, Trap};
pub use cuda::device;
use interp::{Item, Registers};
use memory::{Bound, Memory};
use watch::Watch;

/// The machine.
#[derive(Clone, Copy, Debug)]
pub struct Ptx;

impl Machine for Ptx {
    fn isa(&self) -> &'static dyn Isa {
        &isa::Ptx
    }

    fn runs(&self, engine: Engine) -> bool {
        !matches!(engine, Engine::Jit { .. })
    }

    fn prepare(&self, info: &KernelInfo, words: &Words, locs: &[Loc]) -> Result<Arc<dyn Executable>, String> {
        let words = words.downcast_ref::<isa::Code>().ok_or(OTHER_CODE)?;
        check(&words.kernel.entry, locs, &info.signature).map_err(|error| error.to_string())?;
        Ok(Arc::new(words.clone()))
    }
}

/// An argument of a launch.
#[derive(Debug)]
pub enum Arg<'a> {
    /// A value, by its bytes, as many as the parameter has; low byte first.
    Value(&'a [u8]),
    /// The address of memory that is only read.
    In(&'a [u8]),
    /// The address of memory.
    Buffer(&'a mut [u8]),
}

/// Runs the items of a launch, in order. `done` is called after each. A fault comes with its item.
fn run_items(
    entry: &Entry,
    shape: &Shape,
    items: u32,
    memory: &mut Memory<'_>,
    budget: u64,
    work: &mut Work<'_>,
    done: &mut dyn FnMut(),
) -> Result<Stats, (u32, Halt)> {
    let mut registers = Registers::new(&entry.registers);
    let mut stats = Stats::default();
    for number in 0..items {
        registers.clear();
        if let Some(watch) = &mut memory.watch {
            watch.start(number);
        }
        let item = Item { shape, place: shape.place(number) };
        let of_item = interp::run_item(entry, item, &mut registers, memory, budget, work);
        let of_item = of_item.map_err(|halt| (number, halt))?;
        stats.issued += of_item.instructions;
        stats.backward_branches += of_item.backward;
        done();
    }
    work.poll().map_err(|exceeded| (0, exceeded.into()))?;
    Ok(stats)
}

/// How a kernel is launched.
#[derive(Debug)]
pub struct Launch<'a, 'b> {
    /// Blocks of threads, which are the work items.
    pub shape: Shape,
    /// The arguments, in the order of the parameters.
    pub args: &'a mut [Arg<'b>],
    /// Backward branches that an item may take.
    pub budget: u64,
    /// What runs it: the interpreter or a GPU.
    pub engine: Engine,
    /// What ends the launch early: limits that are met, or someone who cancels it. A GPU does not look at it.
    pub watchdog: Option<&'a Watchdog>,
    /// Whether the interpreter looks for races; it then takes eight more bytes of memory for each byte accessed.
    pub races: bool,
}

impl<'a, 'b> Launch<'a, 'b> {
    /// A launch on the interpreter with the default budget.
    pub fn new(shape: impl Into<Shape>, args: &'a mut [Arg<'b>]) -> Launch<'a, 'b> {
        let (shape, budget) = (shape.into(), DEFAULT_BUDGET);
        Launch { shape, args, budget, engine: Engine::Interp, watchdog: None, races: false }
    }
}

/// Why a kernel cannot be loaded.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LoadError {
    /// There is no kernel of that name.
    #[error("there is no kernel `{0}`")]
    Name(String),
    /// The parameters are not those of the signature.
    #[error("the kernel has not the parameters and variables of its signature")]
    Signature,
    /// An instruction reads beyond its parameter, or at an offset that is not a multiple of what it reads.
    #[error("{}:{}: `{instruction}` does not read within `{param}`, which has {bytes} bytes", loc.line, loc.column)]
    Parameter {
        /// The instruction.
        instruction: String,
        /// Its place in the text.
        loc: Loc,
        /// The parameter.
        param: String,
        /// Bytes that it has.
        bytes: u64,
    },
}

/// Where the variables of a kernel's file lie: those that are bound, by number, in buffers after the parameters.
fn bind(entry: &Entry, bound: &[u32]) -> Vec<Bound> {
    let address = |number: u32| match bound.binary_search(&number) {
        Ok(place) => buffer_base(entry.params.len() + place),
        Err(_) => 0,
    };
    (0..).zip(entry.variables.iter()).map(|(number, of)| Bound { address: address(number), space: of.space }).collect()
}

/// Whether an entry reads within its parameters.
fn check_reads(entry: &Entry, locs: &[Loc]) -> Result<(), LoadError> {
    for (place, inst) in entry.insts.iter().enumerate() {
        for operand in &inst.operands {
            let Operand::Memory(address) = operand else { continue };
            let Base::Parameter(number) = address.base else { continue };
            let param = entry.params.get(number as usize);
            let bytes = param.map_or(0, Param::bytes);
            let elements = inst.operands.first().map_or(1, |operand| match operand {
                Operand::Vector(regs) => regs.len() as i64,
                _ => 1,
            });
            let size = i64::from(inst.ty(0).bits() / 8) * elements;
            let offset = i64::from(address.offset);
            if offset < 0 || offset % size != 0 || (offset + size) as u64 > bytes {
                let instruction = inst_text(inst, entry);
                let param = param.map_or_else(String::new, |param| param.name.clone());
                let loc = locs.get(place).copied().unwrap_or_default();
                return Err(LoadError::Parameter { instruction, loc, param, bytes });
            }
        }
    }
    Ok(())
}

/// Whether the entry of an object's kernel is one of its signature.
pub(crate) fn check(entry: &Entry, locs: &[Loc], signature: &Signature) -> Result<(), LoadError> {
    let sizes = signature.given().iter().map(|param| u64::from(param.kind.bytes()));
    let contents = entry.variables.iter().map(|variable| &variable.bytes);
    if !entry.params.iter().map(Param::bytes).eq(sizes) || !contents.eq(signature.contents()) {
        return Err(LoadError::Signature);
    }
    check_reads(entry, locs)
}

impl Executable for isa::Code {
    fn launch(
        &self,
        kernel: &kernel::Kernel,
        order: Order<'_>,
        args: &mut Arguments<'_>,
    ) -> Result<Stats, LaunchError> {
        order
            .shape
            .check_gpu()
            .map_err(|error| LaunchError::Shape { kernel: kernel.signature().name().to_owned(), error })?;
        args.start();
        let params = parameters(kernel.signature(), &args.scalars).collect();
        let all: Vec<u32> = (0..).zip(self.kernel.entry.variables.iter()).map(|(number, _)| number).collect();
        let variables = bind(&self.kernel.entry, &all);
        let mut memory = Memory { params, buffers: take(&mut args.buffers), variables, watch: None };
        let done = launch(kernel, &self.kernel, order, &mut memory);
        args.buffers = memory.buffers;
        done
    }
}

/// The bytes of each parameter of an object's kernel.
fn parameters(signature: &Signature, scalars: &[u128]) -> impl Iterator<Item = Vec<u8>> {
    let params = signature.params().iter().zip(scalars).enumerate();
    params.map(|(number, (param, scalar))| {
        let bits = match param.kind {
            ParamKind::Scalar(_) => *scalar,
            ParamKind::Buffer { .. } => buffer_base(number).into(),
        };
        bits.to_le_bytes().split_at(param.kind.bytes().into()).0.to_vec()
    })
}

/// Launches an object's kernel.
fn launch(
    kernel: &kernel::Kernel,
    code: &module::Kernel,
    order: Order<'_>,
    memory: &mut Memory<'_>,
) -> Result<Stats, LaunchError> {
    if order.engine == Engine::Cuda {
        let failed = |error| LaunchError::Cuda { kernel: kernel.signature().name().to_owned(), error };
        cuda::run(code, &order.shape, memory).map_err(failed)?;
        order.advance(order.items);
        return Ok(Stats::default());
    }
    let done = &mut || order.advance(1);
    let ran = run_items(&code.entry, &order.shape, order.items, memory, order.budget, &mut order.work(), done);
    ran.map_err(|(item, halt)| match halt {
        Halt::Fault(fault) => Box::new(kernel.trap_of(&order.shape, item, fault, &memory.buffers)).into(),
        Halt::Exceeded(exceeded) => kernel.exceeded(exceeded),
    })
}

/// A kernel that can be launched.
#[derive(Clone, Debug)]
pub struct Kernel {
    code: module::Kernel,
    locs: Vec<Loc>,
    source: String,
    /// The variables that the kernel names, which lie after the parameters.
    variables: Vec<u32>,
}

impl Kernel {
    /// Takes a kernel from what was read of a text; `source` is the text's name, for traps.
    ///
    /// # Errors
    /// There is no such kernel, or it reads beyond a parameter.
    pub fn load(text: &Text, name: &str, source: impl Into<String>) -> Result<Kernel, LoadError> {
        let entries = text.module.entries.iter().zip(&text.locs);
        let found = entries.into_iter().find(|(entry, _)| entry.name == name);
        let (entry, locs) = found.ok_or_else(|| LoadError::Name(name.to_owned()))?;
        check_reads(entry, locs)?;
        let Module { version, target, .. } = text.module;
        let code = module::Kernel { version, target, entry: entry.clone() };
        let (variables, source) = (entry.used_variables(), source.into());
        Ok(Kernel { code, locs: locs.clone(), source, variables })
    }

    /// The kernel as it is in the text.
    pub fn entry(&self) -> &Entry {
        &self.code.entry
    }

    fn loc(&self, place: usize) -> Loc {
        self.locs.get(place).copied().unwrap_or_default()
    }

    /// Runs the kernel's work items.
    ///
    /// Memory lies at addresses of its own ([`buffer_base`]), wherever the slices are, and the variables that the kernel names after
    /// it, as they are in the text. An access is made where it is aligned
    /// to its size and within one argument's memory, and traps otherwise.
    ///
    /// # Errors
    /// Arguments that do not fit the parameters: then nothing was run. A trap: then the memory holds no result.
    pub fn launch(&self, launch: Launch<'_, '_>) -> Result<Stats, LaunchError> {
        let Launch { shape, args, budget, engine, watchdog, races } = launch;
        let kernel = || self.entry().name.clone();
        let items = shape.items().and_then(|items| shape.check_gpu().map(|()| items));
        let items = items.map_err(|error| LaunchError::Shape { kernel: kernel(), error })?;
        let exceeded = |exceeded| LaunchError::Exceeded { kernel: self.entry().name.clone(), exceeded };
        if let Some(watchdog) = watchdog {
            let bytes = args.iter().map(|arg| match arg {
                Arg::Value(_) => 0,
                Arg::In(bytes) => bytes.len() as u64,
                Arg::Buffer(bytes) => bytes.len() as u64,
            });
            check_limits(watchdog, items, bytes).map_err(exceeded)?;
        }
        let variables = bind(self.entry(), &self.variables);
        let watch = races.then(|| Watch::new(shape));
        let (params, buffers) = (self.parameters(args)?, self.buffers(args));
        if let Some([first, second]) = buffers.overlap() {
            let [first, second] = [first, second].map(str::to_owned);
            return Err(LaunchError::Overlap { kernel: kernel(), first, second });
        }
        let mut memory = Memory { params, buffers, variables, watch };
        match engine {
            Engine::Interp => {}
            Engine::Jit { .. } => {
                return Err(LaunchError::Engine { kernel: kernel(), target: "PTX".to_owned(), engine });
            }
            Engine::Cuda => {
                let ran = cuda::run(&self.code, &shape, &mut memory);
                return ran.map(|()| Stats::default()).map_err(|error| LaunchError::Cuda { kernel: kernel(), error });
            }
        }
        let mut work = Work::new(watchdog);
        let ran = run_items(self.entry(), &shape, items, &mut memory, budget, &mut work, &mut || {});
        ran.map_err(|(item, halt)| match halt {
            Halt::Fault(fault) => Box::new(self.trap(&shape, item, fault)).into(),
            Halt::Exceeded(limit) => exceeded(limit),
        })
    }

    /// The bytes of each parameter.
    fn parameters(&self, args: &[Arg<'_>]) -> Result<Vec<Vec<u8>>, LaunchError> {
        let params = &self.code.entry.params;
        if params.len() != args.len() {
            let kernel = self.code.entry.name.clone();
            return Err(LaunchError::Count { kernel, expected: params.len(), found: args.len() });
        }
        let bytes = |(number, (param, arg)): (usize, (&Param, &Arg<'_>))| {
            let bytes = match arg {
                Arg::Value(bytes) => bytes.to_vec(),
                Arg::In(_) | Arg::Buffer(_) => buffer_base(number).to_le_bytes().to_vec(),
            };
            let (expected, found) = (param.bytes(), bytes.len() as u64);
            if expected == found {
                return Ok(bytes);
            }
            Err(LaunchError::Bytes { kernel: self.code.entry.name.clone(), param: param.name.clone(), expected, found })
        };
        params.iter().zip(args).enumerate().map(bytes).collect()
    }

    fn buffers<'a>(&'a self, args: &'a mut [Arg<'_>]) -> Buffers<'a> {
        let buffer = |(param, arg): (&'a Param, &'a mut Arg<'_>)| {
            let (direction, bytes) = match arg {
                Arg::Value(_) => return None,
                Arg::In(bytes) => (Direction::In, Bytes::Shared(bytes)),
                Arg::Buffer(bytes) => (Direction::InOut, Bytes::Mutable(bytes)),
            };
            Some(Buffer { name: &param.name, direction, bytes })
        };
        let variable = |number: &u32| {
            let Variable { name, bytes, .. } = self.entry().variables.get(*number as usize)?;
            Some(Buffer { name, direction: Direction::In, bytes: Bytes::Shared(bytes) })
        };
        let params = self.entry().params.iter().zip(args).map(buffer);
        Buffers(params.chain(self.variables.iter().map(variable)).collect())
    }

    fn trap(&self, shape: &Shape, item: u32, fault: Fault) -> Trap {
        let Fault { address, kind } = fault;
        let inst = self.code.entry.insts.get(address);
        Trap {
            kernel: self.code.entry.name.clone(),
            item,
            shape: *shape,
            address: address as u32,
            instruction: inst.map_or_else(String::new, |inst| inst_text(inst, self.entry())),
            source: self.source.clone(),
            loc: self.loc(address),
            kind,
        }
    }
}
