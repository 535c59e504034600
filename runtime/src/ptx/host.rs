//! Launches of PTX kernels on the memory of the process.

use halfbyte_abi::cooperative::RaceCheck;
use halfbyte_abi::{DEFAULT_BUDGET, Engine, Shape, Stats, Watchdog};
use halfbyte_isa::ptx::module::Param;
use halfbyte_isa::ptx::special::GRID_WORKSPACE_BYTES;
use halfbyte_native::host::HostLoad;
use halfbyte_native::launch::LaunchOptions;

use super::heap::{DeviceHeap, LaunchHeap};
use super::load_findings::{InitialisationCheck, LoadFindings};
use super::memory::Memory;
use super::{
    Arg, EngineMemory, HostMemory, InitialisedBytes, Kernel, LoadFindingKind, Print, ReportLoad, Warn, detector,
    variables,
};
use crate::error::LaunchError;
use crate::launch::check_limits;

/// The options of a launch whose pointers are addresses in the process.
#[derive(Clone, Copy, Debug)]
pub struct HostLaunch<'a> {
    /// The number of thread blocks and the block size. Each thread is a work item.
    pub shape: Shape,
    /// The bytes of each parameter, in order. A pointer is an address of the process.
    pub args: &'a [&'a [u8]],
    /// The memory of the process that the kernel may access, besides its variables and the heap.
    pub memory: &'a HostMemory<'a>,
    /// The heap of `malloc`, or `None` for the heap of the [`Globals`](super::Globals) of the kernel.
    pub heap: Option<&'a DeviceHeap>,
    /// Maximum number of backward branches and calls that one work item may execute.
    pub budget: u64,
    /// The engine: native code or the interpreter. A GPU cannot access the memory of the process,
    /// so engine `cuda` falls back to the interpreter.
    pub engine: Engine,
    /// Watchdog that ends the launch when a limit is exceeded or the launch is cancelled.
    pub watchdog: Option<&'a Watchdog>,
    /// Detection of races, and of reads of uninitialised shared memory and registers, in the interpreter.
    pub races: RaceCheck,
    /// Receiver of the first same-value race of each instruction, after a successful launch.
    pub warn: Option<Warn<'a>>,
    /// Record of the written bytes of the memory. With this record, the launch runs in the interpreter, records its
    /// stores, and reports loads of unwritten bytes.
    pub initialised: Option<&'a dyn InitialisedBytes>,
    /// Receiver of loads that reach the padding of an allocation, or read uninitialised memory.
    pub report_load: Option<ReportLoad<'a>>,
    /// `true` for a cooperative launch: all blocks are resident together, so that blocks can wait
    /// for each other. A cooperative launch runs in the interpreter.
    pub cooperative: bool,
    /// Receiver of the text that the kernel prints with `vprintf`.
    pub print: Option<Print<'a>>,
}

impl<'a> HostLaunch<'a> {
    /// Creates launch options for the interpreter with the default budget.
    pub fn new(shape: impl Into<Shape>, args: &'a [&'a [u8]], memory: &'a HostMemory<'a>) -> HostLaunch<'a> {
        HostLaunch {
            shape: shape.into(),
            args,
            memory,
            heap: None,
            budget: DEFAULT_BUDGET,
            engine: Engine::Interp,
            watchdog: None,
            races: RaceCheck::Off,
            warn: None,
            initialised: None,
            report_load: None,
            cooperative: false,
            print: None,
        }
    }
}

impl Kernel {
    /// Launches the kernel on the memory of the process: the kernel receives raw pointers. Module-scope variables keep
    /// their contents between launches. [`Globals::on_host`](super::Globals::on_host) gives them addresses of the
    /// process; otherwise their addresses are outside the address space of processes.
    ///
    /// Generic addresses from 2^36 to 5 * 2^36 denote local, parameter and shared memory, so buffers must not lie in
    /// this range. No operating system tested so far places memory there by default.
    ///
    /// Native code runs many work items in parallel, as a GPU does. The result of an unsynchronised read of memory that
    /// another item writes is unspecified.
    ///
    /// # Errors
    /// Returns an error before any item runs if the arguments do not fit the parameters. After a trap the memory holds
    /// no valid result.
    ///
    /// # Safety
    /// Until the launch ends, all memory that `memory` permits must be valid for reads, and for writes if the kernel
    /// stores to it. No other code may write memory that the kernel accesses, or read memory that the kernel writes;
    /// this includes variables in memory of the process. If `memory` is [unbounded](HostMemory::unbounded), this
    /// applies to all memory that the kernel accesses.
    pub unsafe fn launch_on_host(&self, launch: HostLaunch<'_>) -> Result<Stats, LaunchError> {
        let HostLaunch { shape, args, memory, heap, budget, engine, watchdog, races, warn, .. } = launch;
        let HostLaunch { initialised, report_load, cooperative, print, .. } = launch;
        let items = self.items_of(&shape)?;
        if let Some(watchdog) = watchdog {
            let exceeded = |exceeded| LaunchError::Exceeded { kernel: self.entry().name.clone(), exceeded };
            check_limits(watchdog, items, std::iter::empty()).map_err(exceeded)?;
        }
        let places = variables::bind(self.entry(), |number| self.variables.address(number));
        let mut held = self.variables.lock_memory();
        let (contents, own_heap) = match held.as_deref_mut() {
            Some(EngineMemory { variables, heap }) => (Some(variables), LaunchHeap::Engine(heap)),
            None => (None, LaunchHeap::None),
        };
        let mut args: Vec<Arg<'_>> = args.iter().map(|bytes| Arg::Value(bytes)).collect();
        let (params, buffers) = (self.parameters(&args)?, self.buffers(&mut args, contents));
        let process_heap = heap.or_else(|| self.variables.host_heap());
        // The blocks that `find` returns stay valid until the launch ends.
        let _running = process_heap.map(DeviceHeap::begin);
        let find = |address| {
            let variable = self.variables.host().and_then(|held| held.find(address));
            let block = || process_heap.and_then(|heap| heap.find(address));
            variable.or_else(block).or_else(|| memory.around(address))
        };
        let findings = LoadFindings::default();
        let note = |load: HostLoad| findings.add(LoadFindingKind::Padding, None, load);
        let bounded = || HostMemory::bounded(&find).with_padding_note(&note);
        let host = if memory.is_bounded() { bounded() } else { *memory };
        let initialisation = initialised.map(|initialised| InitialisationCheck { initialised, findings: &findings });
        let memory = Memory::new(params, Param::offsets(&self.entry().params), buffers, places);
        let mut workspace = [0; GRID_WORKSPACE_BYTES];
        let heap = process_heap.map_or(own_heap, LaunchHeap::Process);
        let races = detector(races, &shape);
        let mut memory = Memory { host: Some(&host), heap, initialisation, races, print, ..memory };
        if cooperative {
            memory.make_cooperative(&mut workspace);
        }
        let order = LaunchOptions { items, shape, budget, engine, done: None, watchdog, pool: None };
        let ran = self.run(&order, &mut memory);
        if let Some(report) = report_load {
            findings.report(self, &shape, ran.is_err(), report);
        }
        let stats = ran?;
        self.warn_of_races(warn, &memory, &shape);
        Ok(stats)
    }
}
