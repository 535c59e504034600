//! Execution of PTX kernels. The host interprets the parsed instructions or translates them to
//! native code (`jit`), or the CUDA driver assembles and runs the PTX text.
//!
//! The interpreter runs cooperative kernels block by block, and switches between the threads of a
//! block (`group.rs`). In a cooperative launch, it also switches between the blocks. Items of other
//! kernels are independent. Only the reported trap depends on their order: the trap of the lowest
//! item is reported.
//!
//! All memory has one address space. Buffers and variables lie at the addresses of [`buffer_base`].
//! The heap, local memory, parameters and functions lie at lower addresses.

#[cfg_attr(not(feature = "cuda"), path = "no_cuda.rs")]
mod cuda;
mod group;
mod heap;
mod host;
mod host_variables;
mod interp;
mod load_findings;
mod memory;
#[cfg_attr(not(feature = "jit"), path = "no_native.rs")]
mod native;
mod print;
mod remedy;
mod stack;
mod trace;
mod uninitialised;
mod variables;

use std::collections::BTreeMap;
use std::fmt;
use std::mem::take;
use std::sync::Arc;

use halfbyte_abi::{
    self as abi, Alias, DEFAULT_BUDGET, Direction, ParamKind, Shape, Signature, Watchdog, buffer_base, buffer_of,
};
use halfbyte_isa::isa::{Isa, SharedCode};
use halfbyte_isa::object::{KernelInfo, Loc};
use halfbyte_isa::ptx as isa;
use halfbyte_isa::ptx::meaning::strength;
use halfbyte_isa::ptx::module::{self, Entry, Module, Param, Scope};
use halfbyte_isa::ptx::program::{self, Program};
use halfbyte_isa::ptx::special::GRID_WORKSPACE_BYTES;
use halfbyte_isa::ptx::text::{KernelNumber, ParsedFile, inst_text_in};
use halfbyte_isa::ptx::types::Space as VariableSpace;
use halfbyte_isa::ptx::{Base, Operand};
#[cfg(feature = "aot")]
use halfbyte_native::aot::{self, Kernel as _};
use thiserror::Error;

use crate::arguments::{Arguments, overlapping};
pub use crate::device::{CudaError, DriverError, Unavailable};
use crate::error::LaunchError;
use crate::kernel;
use crate::kernel::{Executable, Machine, OTHER_CODE};
use crate::launch::check_limits;
pub use cuda::device;
use halfbyte_abi::Engine;
use halfbyte_abi::Stats;
use halfbyte_abi::cooperative::{RaceCheck, RaceDetector, Schedule};
use halfbyte_isa::buffers::{Buffer, Buffers, Bytes};
use halfbyte_isa::trap::{Fault, Halt, Trap, TrapKind};
use halfbyte_native::clif::{NativeError, Translation};
pub use halfbyte_native::host::{Allocation, Find, HostMemory};
use halfbyte_native::launch::LaunchOptions;
#[cfg(feature = "jit")]
use halfbyte_native::ptx::Jit;
pub use heap::DeviceHeap;
use heap::LaunchHeap;
pub use host::HostLaunch;
use interp::{Item, Registers, Thread};
pub use load_findings::{InitialisedBytes, LoadFinding, LoadFindingKind, ReportLoad};
use memory::Memory;
#[cfg(not(feature = "jit"))]
use native::Jit;
pub use print::Print;
use remedy::remedy_for;
use trace::Tracer;
pub use trace::{Accessed, Outcome, RegisterValue, Step, Trace};
pub use variables::Globals;
use variables::{EngineMemory, VariableContents, Variables};

/// The PTX machine.
#[derive(Clone, Copy, Debug)]
pub struct Ptx;

impl Machine for Ptx {
    fn isa(&self) -> &'static dyn Isa {
        &isa::Ptx
    }

    fn runs(&self, _: Engine) -> bool {
        true
    }

    fn prepare(&self, info: &KernelInfo, words: &SharedCode, locs: &[Loc]) -> Result<Arc<dyn Executable>, String> {
        let words = words.downcast_ref::<isa::PtxKernel>().ok_or(OTHER_CODE)?;
        check(&words.kernel.entry, locs, &info.signature).map_err(|error| error.to_string())?;
        Ok(Arc::new(PreparedKernel { code: words.clone(), jit: Jit::default() }))
    }
}

/// An argument of a PTX launch.
#[derive(Debug)]
pub enum Arg<'a> {
    /// A value, as little-endian bytes. The number of bytes must equal the size of the parameter.
    Value(&'a [u8]),
    /// The address of read-only memory.
    In(&'a [u8]),
    /// The address of writable memory.
    Buffer(&'a mut [u8]),
    /// An address in the memory of another argument.
    Alias {
        /// Index of the argument that has the memory.
        of: usize,
        /// Offset in bytes from the start of that memory.
        offset: u64,
    },
}

/// A PTX kernel of an object, prepared for execution.
#[derive(Debug)]
struct PreparedKernel {
    code: isa::PtxKernel,
    jit: Jit,
}

/// Reason why a launch on the host failed.
enum HostLaunchError {
    /// An item trapped, or a limit was exceeded. The first field is the number of the item.
    Halt(u32, Halt),
    /// The native engine does not support this computer, or translation failed.
    Native(NativeError),
    /// The blocks of a cooperative launch, which are all resident together, take more memory than
    /// the limit permits.
    Resident {
        /// Number of blocks.
        blocks: u32,
        /// Memory in bytes that all blocks take together.
        bytes: u64,
        /// Maximum memory in bytes.
        limit: u64,
    },
}

/// Returns the race detector of a launch, or `None` if the launch does not detect races.
fn detector(races: RaceCheck, shape: &Shape) -> Option<RaceDetector> {
    races.is_on().then(|| RaceDetector::new(group::block_size(shape), races))
}

/// Runs a launch in native code or in the interpreter.
fn run(
    jit: &Jit,
    code: &module::Kernel,
    order: &LaunchOptions<'_>,
    memory: &mut Memory<'_>,
) -> Result<Stats, HostLaunchError> {
    if let Engine::Jit { threads } = order.engine
        && let Some(done) = native::launch(jit, code, order, memory, threads)
    {
        return done;
    }
    memory.buffers.zero_out_buffers();
    let program = Program::new(code);
    if memory.is_cooperative() && program.is_of_groups() {
        check_resident(&program, order, memory.races.is_some())?;
    }
    run_items(&program, order, memory).map_err(|(item, halt)| HostLaunchError::Halt(item, halt))
}

/// Maximum memory in bytes that the blocks of a cooperative launch may take together, if the launch
/// has no limit on the memory of the process.
const MAX_RESIDENT_BYTES: u64 = 1 << 30;

/// Checks that all blocks of a cooperative launch together do not exceed the memory limit.
fn check_resident(program: &Program<'_>, order: &LaunchOptions<'_>, is_watched: bool) -> Result<(), HostLaunchError> {
    let LaunchOptions { items, ref shape, watchdog, .. } = *order;
    let memory = watchdog.map(|watchdog| watchdog.limits().memory).filter(|&limit| limit != u64::MAX);
    let limit = memory.unwrap_or(MAX_RESIDENT_BYTES);
    let blocks = items / group::block_size(shape);
    let bytes = u64::from(blocks).saturating_mul(group::resident_bytes(program, shape, is_watched));
    if bytes <= limit { Ok(()) } else { Err(HostLaunchError::Resident { blocks, bytes, limit }) }
}

/// Runs the items of a launch in the interpreter. An error holds the number of the faulting item.
fn run_items(program: &Program<'_>, order: &LaunchOptions<'_>, memory: &mut Memory<'_>) -> Result<Stats, (u32, Halt)> {
    let LaunchOptions { items, ref shape, budget, .. } = *order;
    let work = &mut order.work();
    let mut registers = Registers::default();
    let mut stats = Stats::default();
    let size = group::block_size(shape);
    if program.is_of_groups() {
        let blocks = items / size;
        let resident = if memory.is_cooperative() { blocks.max(1) } else { 1 };
        let is_descending = memory.schedule.is_descending();
        for start in (0..blocks).step_by(resident as usize) {
            let start = if is_descending { blocks - resident - start } else { start };
            let ran = group::run_blocks(program, shape, start..start + resident, memory, budget, work)?;
            stats.issued += ran.instructions;
            stats.backward_branches += ran.backward;
            order.advance(resident * size);
        }
        work.poll().map_err(|exceeded| (0, exceeded.into()))?;
        return Ok(stats);
    }
    for number in 0..items {
        memory.item = number;
        if let Some(races) = memory.races.as_mut().filter(|_| number % size == 0) {
            races.begin(number / size);
        }
        let item = Item { shape, place: shape.place(number) };
        let thread = Thread::start(program, take(&mut registers), memory);
        let mut thread = thread.map_err(|halt| (number, halt))?;
        thread.run(program, item, memory, budget, work).map_err(|halt| (number, halt))?;
        stats.issued += thread.stats.instructions;
        stats.backward_branches += thread.stats.backward;
        registers = thread.into_registers();
        if let Some(race) = memory.races.as_ref().and_then(RaceDetector::found) {
            let (item, fault) = group::race_of(race, shape);
            return Err((item, Halt::Fault(fault)));
        }
        order.advance(1);
    }
    work.poll().map_err(|exceeded| (0, exceeded.into()))?;
    Ok(stats)
}

/// The kinds of strong accesses that a kernel contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StrongAccesses {
    /// `true` if the kernel contains atomic operations.
    pub atomic: bool,
    /// `true` if the kernel contains strong loads or stores.
    pub plain: bool,
}

/// Receiver of same-value races, in which two items store the same value by the same instruction.
/// Each race is passed as a trap of kind [`TrapKind::Race`].
#[derive(Clone, Copy)]
pub struct Warn<'a>(pub &'a (dyn Fn(&Trap) + Sync));

impl fmt::Debug for Warn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Warn(..)")
    }
}

/// The options of a PTX launch on buffers.
#[derive(Debug)]
pub struct Launch<'a, 'b> {
    /// The number of thread blocks and the block size. Each thread is a work item.
    pub shape: Shape,
    /// The arguments, in the order of the parameters.
    pub args: &'a mut [Arg<'b>],
    /// Maximum number of backward branches and calls that one work item may execute.
    pub budget: u64,
    /// The engine that runs the launch.
    pub engine: Engine,
    /// Watchdog that ends the launch when a limit is exceeded or the launch is cancelled. Engine `cuda` ignores it.
    pub watchdog: Option<&'a Watchdog>,
    /// Detection of races, and of reads of uninitialised shared memory and registers, in the interpreter.
    /// Detection takes 32 bytes of memory for each accessed byte and 40 bytes for each register of an item.
    pub races: RaceCheck,
    /// Receiver of the first same-value race of each instruction, after a successful launch.
    pub warn: Option<Warn<'a>>,
    /// The order in which the interpreter runs the threads of a block, and the blocks. With any
    /// other order than the default, the launch runs in the interpreter.
    pub schedule: Schedule,
    /// `true` for a cooperative launch: all blocks are resident together, so that blocks can wait for each other. On
    /// the host, a cooperative launch runs in the interpreter.
    pub cooperative: bool,
    /// Receiver of the text that the kernel prints with `vprintf`.
    pub print: Option<Print<'a>>,
    /// Request for the trace of one item. A traced launch runs in the interpreter.
    pub trace: Option<Trace<'a>>,
}

impl<'a, 'b> Launch<'a, 'b> {
    /// Creates launch options for the interpreter with the default budget.
    pub fn new(shape: impl Into<Shape>, args: &'a mut [Arg<'b>]) -> Launch<'a, 'b> {
        Launch {
            shape: shape.into(),
            args,
            budget: DEFAULT_BUDGET,
            engine: Engine::Interp,
            watchdog: None,
            races: RaceCheck::Off,
            warn: None,
            schedule: Schedule::default(),
            cooperative: false,
            print: None,
            trace: None,
        }
    }
}

/// Reason why a PTX kernel cannot be loaded.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LoadError {
    /// The text has no kernel with this name.
    #[error("there is no kernel `{0}`")]
    Name(String),
    /// The parameters differ from those of the signature.
    #[error("the kernel's parameters or variables differ from its signature")]
    Signature,
    /// The kernel uses a module-scope variable for which no address is left.
    #[error(
        "module-scope variable `{name}` is number {number} of its module; a kernel can use only the first {most} variables"
    )]
    Variables {
        /// Name of the variable.
        name: String,
        /// Number of the variable, in the order of declaration in the PTX text. The first variable has number 1.
        number: u32,
        /// Number of variables for which addresses are available.
        most: usize,
    },
    /// An instruction accesses a parameter or variable at an offset that is not a multiple of the access size.
    #[error("{}:{}: `{instruction}` is misaligned: the offset must be a multiple of {bytes}", loc.line, loc.column)]
    Misaligned {
        /// The instruction text.
        instruction: String,
        /// Source location of the instruction.
        loc: Loc,
        /// Access size in bytes.
        bytes: u64,
    },
    /// An instruction accesses memory beyond the end of a parameter or variable.
    #[error("{}:{}: `{instruction}` is out of bounds: `{param}` has {bytes} bytes", loc.line, loc.column)]
    Parameter {
        /// The instruction text.
        instruction: String,
        /// Source location of the instruction.
        loc: Loc,
        /// Name of the parameter or variable.
        param: String,
        /// Size of the parameter or variable in bytes.
        bytes: u64,
    },
}

/// Checks that a body accesses its parameters and frame variables in bounds and at aligned offsets.
fn check_accesses(scope: Scope<'_>, locs: &[Loc]) -> Result<(), LoadError> {
    for (place, inst) in scope.body.insts.iter().enumerate() {
        for operand in &inst.operands {
            let Operand::Memory(address) = operand else { continue };
            let (param, bytes) = match address.base {
                Base::Parameter(number) => {
                    let param = scope.params.get(number as usize);
                    (param.map(|param| &param.name), param.map_or(0, Param::bytes))
                }
                Base::Frame(var) => {
                    let variable = scope.body.frame.get(var.number as usize);
                    (variable.map(|of| &of.name), variable.map_or(0, |of| of.bytes().into()))
                }
                _ => continue,
            };
            let size = i64::from(inst.element().bits() / 8) * inst.elements() as i64;
            let offset = i64::from(address.offset);
            let instruction = || inst_text_in(inst, scope);
            let loc = locs.get(place).copied().unwrap_or_default();
            if offset < 0 || (offset + size) as u64 > bytes {
                let param = param.cloned().unwrap_or_default();
                return Err(LoadError::Parameter { instruction: instruction(), loc, param, bytes });
            }
            if offset % size != 0 {
                return Err(LoadError::Misaligned { instruction: instruction(), loc, bytes: size as u64 });
            }
        }
    }
    Ok(())
}

/// Checks that a kernel parsed from an object's PTX text agrees with the signature in the object.
pub(crate) fn check(entry: &Entry, locs: &[Loc], signature: &Signature) -> Result<(), LoadError> {
    let sizes = signature.given().iter().map(|param| u64::from(param.kind.bytes()));
    let (held, shared) = entry.variables.split_at(signature.contents().len().min(entry.variables.len()));
    let contents = held.iter().map(|variable| &variable.bytes);
    let are_shared = shared.iter().all(|variable| variable.space == VariableSpace::Shared);
    if !entry.params.iter().map(Param::bytes).eq(sizes) || !contents.eq(signature.contents()) || !are_shared {
        return Err(LoadError::Signature);
    }
    check_accesses(entry.scope(), locs)
}

impl Executable for PreparedKernel {
    fn takes_shared(&self) -> bool {
        self.code.kernel.entry.variables.iter().any(|variable| variable.space == VariableSpace::Shared)
    }

    fn is_interpreted(&self) -> bool {
        self.jit.is_interpreted(&self.code.kernel)
    }

    fn translation(&self) -> Option<Translation> {
        self.jit.translation()
    }

    #[cfg(feature = "aot")]
    fn native(&self, kernel: &kernel::Kernel, into: &mut aot::Emit<'_, '_>) -> Result<(), aot::NotMade> {
        halfbyte_native::ptx::native(&self.code.kernel, kernel.described(), into)
    }

    fn launch(
        &self,
        kernel: &kernel::Kernel,
        order: LaunchOptions<'_>,
        args: &mut Arguments<'_>,
    ) -> Result<Stats, LaunchError> {
        order
            .shape
            .check_gpu()
            .map_err(|error| LaunchError::Shape { kernel: kernel.signature().name().to_owned(), error })?;
        let params = parameters(kernel.signature(), &args.scalars).collect();
        let entry = &self.code.kernel.entry;
        let first = entry.params.len();
        let variables = variables::bind(entry, |number| Some(buffer_base(first + number as usize)));
        let param_places = Param::offsets(&entry.params);
        let aliases = aliases(kernel.signature(), args);
        let buffers = take(&mut args.buffers);
        let mut memory = Memory { aliases, ..Memory::new(params, param_places, buffers, variables) };
        let done = self.run(kernel, order, &mut memory);
        args.buffers = memory.buffers;
        done
    }
}

/// Returns the alias parameters, which hold addresses in the buffers of other parameters.
fn aliases(signature: &Signature, args: &Arguments<'_>) -> Vec<Alias> {
    let params = signature.params().iter().zip(&args.scalars).zip(&args.buffers.0).enumerate();
    let alias = |(param, ((declared, &address), buffer)): (usize, ((&abi::Param, &u128), &Option<Buffer<'_>>))| {
        let is_alias = matches!(declared.kind, ParamKind::Buffer { .. }) && buffer.is_none();
        let (of, offset) = buffer_of(address as u64).filter(|_| is_alias)?;
        Some(Alias { param, of, offset })
    };
    params.filter_map(alias).collect()
}

/// Returns the bytes of each parameter, given the parameters' values in `scalars`.
fn parameters(signature: &Signature, scalars: &[u128]) -> impl Iterator<Item = Vec<u8>> {
    let params = signature.params().iter().zip(scalars);
    params.map(|(param, scalar)| scalar.to_le_bytes().split_at(param.kind.bytes().into()).0.to_vec())
}

impl PreparedKernel {
    fn run(
        &self,
        kernel: &kernel::Kernel,
        order: LaunchOptions<'_>,
        memory: &mut Memory<'_>,
    ) -> Result<Stats, LaunchError> {
        let code = &self.code.kernel;
        if order.engine == Engine::Cuda {
            memory.buffers.zero_out_buffers();
            let failed = |error| LaunchError::Cuda { kernel: kernel.signature().name().to_owned(), error };
            cuda::run(code, &order.shape, memory).map_err(failed)?;
            order.advance(order.items);
            return Ok(Stats::default());
        }
        run(&self.jit, code, &order, memory).map_err(|ended| match ended {
            HostLaunchError::Halt(item, Halt::Fault(fault)) => {
                Box::new(kernel.trap_of(&order.shape, item, fault, &memory.buffers)).into()
            }
            HostLaunchError::Halt(_, Halt::Exceeded(exceeded)) => kernel.exceeded(exceeded),
            HostLaunchError::Native(error) => kernel.native_error(error),
            HostLaunchError::Resident { blocks, bytes, limit } => {
                LaunchError::Resident { kernel: kernel.signature().name().to_owned(), blocks, bytes, limit }
            }
        })
    }
}

/// A kernel loaded from PTX text, which can be launched.
#[derive(Clone, Debug)]
pub struct Kernel {
    code: module::Kernel,
    locs: Vec<Loc>,
    /// Source locations of the instructions of each function that the kernel may call, keyed by
    /// function number.
    function_locs: BTreeMap<u32, Vec<Loc>>,
    source: String,
    variables: Arc<Variables>,
    jit: Jit,
}

impl Kernel {
    /// Loads a kernel from parsed PTX text. `source` is the file name that traps report. The kernel's module-scope
    /// variables keep their contents between launches.
    ///
    /// # Errors
    /// Returns an error if the text has no kernel `name`, or if the kernel accesses memory beyond a parameter.
    pub fn load(text: &ParsedFile, name: &str, source: impl Into<String>) -> Result<Kernel, LoadError> {
        Kernel::load_with(text, name, source, &Globals::default())
    }

    /// Loads a kernel whose module-scope variables are shared with other kernels through `globals`.
    ///
    /// # Errors
    /// Returns an error if the text has no kernel of this name, or if the kernel accesses memory beyond a parameter.
    pub fn load_with(
        text: &ParsedFile,
        name: &str,
        source: impl Into<String>,
        globals: &Globals,
    ) -> Result<Kernel, LoadError> {
        let number = text.kernel(name).and_then(|number| match number {
            KernelNumber::Entry(number) => Some(number),
            KernelNumber::Refused(_) => None,
        });
        let found = number.and_then(|number| text.module.entries.get(number).zip(text.locs.get(number)));
        let (entry, locs) = found.ok_or_else(|| LoadError::Name(name.to_owned()))?;
        check_accesses(entry.scope(), locs)?;
        let mut function_locs = BTreeMap::new();
        for number in entry.reached_functions() {
            let locs = text.function_locs.get(number as usize).map_or(&[][..], Vec::as_slice);
            entry.scope_of(number).map_or(Ok(()), |scope| check_accesses(scope, locs))?;
            function_locs.insert(number, locs.to_vec());
        }
        variables::check(text, entry)?;
        let Module { version, target, .. } = text.module;
        let code = module::Kernel { version, target, entry: entry.clone() };
        let (variables, source) = (Arc::new(Variables::new(text, entry, globals)), source.into());
        Ok(Kernel { code, locs: locs.clone(), function_locs, source, variables, jit: Jit::default() })
    }

    /// Returns the kernel as parsed from the text.
    pub fn entry(&self) -> &Entry {
        &self.code.entry
    }

    fn loc(&self, address: usize) -> Loc {
        let (function, place) = program::locate(self.entry(), address);
        let locs = match function {
            None => Some(&self.locs),
            Some(number) => self.function_locs.get(&number),
        };
        locs.and_then(|locs| locs.get(place)).copied().unwrap_or_default()
    }

    /// Launches the kernel on the buffers in `launch`.
    ///
    /// Buffers lie at virtual addresses ([`buffer_base`]), independently of the slices' addresses.
    /// The variables that the kernel uses follow, in the order of the text. An access traps if it
    /// is misaligned, or if it is not within the memory of one argument.
    ///
    /// # Errors
    /// Returns an error before any item runs if the arguments do not fit the parameters. After a
    /// trap the memory holds no valid result.
    pub fn launch(&self, launch: Launch<'_, '_>) -> Result<Stats, LaunchError> {
        let Launch { shape, args, budget, engine, watchdog, races, warn, schedule, cooperative, print, trace } = launch;
        let kernel = || self.entry().name.clone();
        let items = self.items_of(&shape)?;
        let exceeded = |exceeded| LaunchError::Exceeded { kernel: self.entry().name.clone(), exceeded };
        if let Some(watchdog) = watchdog {
            let bytes = args.iter().map(|arg| match arg {
                Arg::Value(_) | Arg::Alias { .. } => 0,
                Arg::In(bytes) => bytes.len() as u64,
                Arg::Buffer(bytes) => bytes.len() as u64,
            });
            check_limits(watchdog, items, bytes).map_err(exceeded)?;
        }
        let mut held = self.variables.lock_memory().ok_or_else(|| LaunchError::HostVariables { kernel: kernel() })?;
        let EngineMemory { variables: contents, heap } = &mut *held;
        let variables = variables::bind(self.entry(), |number| self.variables.address(number));
        let races = detector(races, &shape);
        let alias = |(param, arg): (usize, &Arg<'_>)| match *arg {
            Arg::Alias { of, offset } => Some(Alias { param, of, offset }),
            _ => None,
        };
        let aliases = args.iter().enumerate().filter_map(alias).collect();
        let (params, buffers) = (self.parameters(args)?, self.buffers(args, Some(contents)));
        if let Some([first, second]) = overlapping(&buffers) {
            let [first, second] = [first, second].map(str::to_owned);
            return Err(LaunchError::Overlap { kernel: kernel(), first, second });
        }
        let param_places = Param::offsets(&self.entry().params);
        let mut workspace = [0; GRID_WORKSPACE_BYTES];
        let memory = Memory::new(params, param_places, buffers, variables);
        let locate = |address| self.loc(address);
        let tracer = trace.map(|trace| Tracer { trace, locate: &locate, accesses: Vec::new() });
        let heap = LaunchHeap::Engine(heap);
        let mut memory = Memory { aliases, heap, races, schedule, print, tracer, ..memory };
        if cooperative {
            memory.make_cooperative(&mut workspace);
        }
        if engine == Engine::Cuda {
            let ran = cuda::run(&self.code, &shape, &mut memory);
            return ran.map(|()| Stats::default()).map_err(|error| LaunchError::Cuda { kernel: kernel(), error });
        }
        let order = LaunchOptions { items, shape, budget, engine, done: None, watchdog, pool: None };
        let stats = self.run(&order, &mut memory)?;
        self.warn_of_races(warn, &memory, &shape);
        Ok(stats)
    }

    /// Passes the same-value races of a launch to `warn`.
    fn warn_of_races(&self, warn: Option<Warn<'_>>, memory: &Memory<'_>, shape: &Shape) {
        let (Some(Warn(warn)), Some(races)) = (warn, &memory.races) else { return };
        for race in races.same_value() {
            let (item, fault) = group::race_of(race, shape);
            warn(&self.trap(shape, item, fault, memory.is_cooperative()));
        }
    }

    /// Checks the launch shape, and returns its number of work items.
    fn items_of(&self, shape: &Shape) -> Result<u32, LaunchError> {
        let kernel = || self.entry().name.clone();
        let counts = Shape { shared: 0, ..*shape };
        let items = counts.items().and_then(|items| counts.check_gpu().map(|()| items));
        let items = items.map_err(|error| LaunchError::Shape { kernel: kernel(), error })?;
        let (blocks, found) = (self.entry().blocks, shape.block);
        if !blocks.admits(found) {
            return Err(LaunchError::Blocks { kernel: kernel(), expected: blocks.to_string(), found });
        }
        Ok(items)
    }

    fn run(&self, order: &LaunchOptions<'_>, memory: &mut Memory<'_>) -> Result<Stats, LaunchError> {
        let kernel = || self.entry().name.clone();
        run(&self.jit, &self.code, order, memory).map_err(|ended| match ended {
            HostLaunchError::Halt(item, Halt::Fault(fault)) => {
                Box::new(self.trap(&order.shape, item, fault, memory.is_cooperative())).into()
            }
            HostLaunchError::Halt(_, Halt::Exceeded(exceeded))
            | HostLaunchError::Native(NativeError::Exceeded(exceeded)) => {
                LaunchError::Exceeded { kernel: kernel(), exceeded }
            }
            HostLaunchError::Native(error) => LaunchError::Native { kernel: kernel(), error },
            HostLaunchError::Resident { blocks, bytes, limit } => {
                LaunchError::Resident { kernel: kernel(), blocks, bytes, limit }
            }
        })
    }

    /// Returns the kinds of strong accesses in the kernel and in the functions that it can call.
    pub fn strong_accesses(&self) -> StrongAccesses {
        let entry = self.entry();
        let bodies = entry.reached_functions().into_iter().filter_map(|number| entry.scope_of(number));
        let mut all = StrongAccesses::default();
        for inst in bodies.chain([entry.scope()]).flat_map(|scope| &scope.body.insts) {
            let is_strong = strength(inst).is_some();
            let is_atomic = matches!(inst.row().mnemonic, "atom" | "red");
            all.atomic |= is_strong && is_atomic;
            all.plain |= is_strong && !is_atomic;
        }
        all
    }

    /// Returns `true` if the native engine falls back to the interpreter for this kernel, because
    /// it uses calls or another unsupported feature.
    pub fn is_interpreted(&self) -> bool {
        self.jit.is_interpreted(&self.code)
    }

    /// Returns the statistics of the translation to native code, if it has taken place.
    pub fn translation(&self) -> Option<Translation> {
        self.jit.translation()
    }

    /// Returns the bytes of each parameter for the arguments of a launch.
    fn parameters(&self, args: &[Arg<'_>]) -> Result<Vec<Vec<u8>>, LaunchError> {
        let params = &self.code.entry.params;
        if params.len() != args.len() {
            let kernel = self.code.entry.name.clone();
            return Err(LaunchError::Count { kernel, expected: params.len(), found: args.len() });
        }
        let bytes = |(number, (param, arg)): (usize, (&Param, &Arg<'_>))| {
            let bytes = match arg {
                &Arg::Alias { of, offset } => {
                    let size = match args.get(of) {
                        Some(Arg::In(bytes)) => bytes.len(),
                        Some(Arg::Buffer(bytes)) => bytes.len(),
                        Some(Arg::Value(_) | Arg::Alias { .. }) | None => 0,
                    };
                    if offset > size as u64 {
                        let (kernel, param) = (self.code.entry.name.clone(), param.name.clone());
                        let reason = format!("byte {offset} of argument {of}, which has {size} bytes");
                        return Err(LaunchError::Alias { kernel, param, reason });
                    }
                    (buffer_base(of) + offset).to_le_bytes().to_vec()
                }
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

    /// Returns the buffers of a launch: the arguments, and the variables that have the addresses of buffers. `held`
    /// holds the variables in memory of the engine, if they lie there.
    fn buffers<'a>(&'a self, args: &'a mut [Arg<'_>], held: Option<&'a mut VariableContents>) -> Buffers<'a> {
        let buffer = |(param, arg): (&'a Param, &'a mut Arg<'_>)| {
            let (direction, bytes) = match arg {
                Arg::Value(_) | Arg::Alias { .. } => return None,
                Arg::In(bytes) => (Direction::In, Bytes::Shared(bytes)),
                Arg::Buffer(bytes) => (Direction::InOut, Bytes::Mutable(bytes)),
            };
            Some(Buffer { name: &param.name, direction, bytes })
        };
        let mut buffers: Vec<Option<Buffer<'a>>> = self.entry().params.iter().zip(args).map(buffer).collect();
        let mut add = |number: u32, bytes: Bytes<'a>| {
            let (Some(of), Some(place)) = (self.entry().variables.get(number as usize), self.variables.buffer(number))
            else {
                return;
            };
            let direction = if of.space == VariableSpace::Const { Direction::In } else { Direction::InOut };
            if buffers.len() <= place {
                buffers.resize_with(place + 1, || None);
            }
            if let Some(buffer) = buffers.get_mut(place) {
                *buffer = Some(Buffer { name: &of.name, direction, bytes });
            }
        };
        match (held, self.variables.host()) {
            (Some(held), _) => held.iter_mut().for_each(|(&number, bytes)| add(number, Bytes::Mutable(bytes))),
            (None, Some(held)) => held.constants().for_each(|(number, bytes)| add(number, Bytes::Shared(bytes))),
            (None, None) => {}
        }
        Buffers(buffers)
    }

    fn trap(&self, shape: &Shape, item: u32, fault: Fault, is_cooperative: bool) -> Trap {
        let remedy = if is_cooperative { None } else { remedy_for(&fault, self.entry(), shape) };
        let Fault { mut address, mut kind } = fault;
        match &mut kind {
            TrapKind::Race { other, .. } => other.loc = Some(self.loc(other.address)),
            // The trap reports the instruction that reads the uninitialised register, not the later
            // instruction that depends on the value.
            TrapKind::Unwritten { read, loc, .. } => {
                *loc = Some(self.loc(address));
                address = *read;
            }
            _ => {}
        }
        kind.locate_parties(|address| self.loc(address));
        Trap {
            kernel: self.code.entry.name.clone(),
            item,
            shape: *shape,
            address: address as u32,
            instruction: program::text_of(self.entry(), address),
            source: self.source.clone(),
            loc: self.loc(address),
            kind,
            remedy,
        }
    }
}
