//! Native engine of VP1, which translates bundles to native code.
//!
//! A native function covers a range of bundles and holds registers in variables. On exit it stores
//! the registers in the machine state. Execution then continues in another function. For control
//! flow that the static graph does not contain, it continues in the interpreter.

mod dots;
mod emitter;
mod function;
mod graph;
mod host;
mod liveness;
mod loops;
mod machine;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, Signature};
use halfbyte_isa::stream::Tiles;
use halfbyte_isa::vp1::Bundle;
use halfbyte_isa::vp1::footprint::{Footprint, Locations};
use halfbyte_isa::vp1::state::State;

use super::StepError;
use super::interp::{Bundles, ProgramRun};
use function::{CodegenInput, ExitCode, MAX_BUNDLES};
use graph::Graph;
use halfbyte_abi::Work;
use halfbyte_isa::trap::Halt;
use halfbyte_native::clif::{Allocation, NativeBuilder, NativeCode, NativeError, Translation, once};
use host::HostFunctions;
use liveness::Liveness;
pub(super) use machine::Machine;

/// The native code of a program, generated on first use.
#[derive(Clone, Default)]
pub(super) struct Jit(Arc<OnceLock<Result<Arc<Compiled>, NativeError>>>);

impl fmt::Debug for Jit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jit").field("compiled", &self.0.get().is_some()).finish()
    }
}

impl Jit {
    /// Returns the native code, and generates it on the first call.
    pub(super) fn get(
        &self,
        program: &Bundles,
        group_branch: Option<u32>,
        work: &mut Work<'_>,
    ) -> Result<&Arc<Compiled>, NativeError> {
        once(&self.0, || Compiled::new(program, group_branch, CompileMode::Launch, work).map(Arc::new))
    }

    /// Returns the statistics of the translation, if it has taken place.
    pub(super) fn translation(&self) -> Option<Translation> {
        self.0.get()?.as_ref().ok().map(|compiled| compiled.translation)
    }
}

/// The purpose of native code, which determines the assumptions that code generation can make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CompileMode {
    /// The code runs from the reset state, except for `$m` and the data store. Only the data store is live at the exit.
    Launch,
    /// The code runs from an arbitrary state. All registers are live at the exit.
    #[cfg(test)]
    State,
    /// The code runs a single bundle from an arbitrary state, and ignores the bundle's control flow.
    Step,
}

/// A native function. Its arguments are the machine state and the index of the entry point.
type Function = unsafe extern "C" fn(*mut Machine, u32) -> u64;

/// Native code of a program.
pub(super) struct Compiled {
    /// For each bundle at which native code can be entered, the function and the index of its entry point.
    entries: Vec<Option<(Function, u32)>>,
    group_is_backward: bool,
    translation: Translation,
    _code: NativeCode,
}

/// Approximate number of bundles that native code executes before it returns to poll the watchdog.
/// The bundles take some milliseconds.
const BUNDLES_OF_A_SLICE: u64 = if cfg!(test) { 1 << 8 } else { 1 << 22 };
/// Minimum number of backward branches that native code executes before it returns to poll the
/// watchdog. The minimum keeps the cost of polling low.
const LEAST_SLICE: u64 = if cfg!(test) { 1 } else { 1 << 8 };

/// Maximum number of switches from native code to the interpreter. After this number the program
/// stays in the interpreter, because each switch is costly.
const MAX_SWITCHES: u32 = 100;

impl Compiled {
    pub(super) fn new(
        program: &Bundles,
        group_branch: Option<u32>,
        purpose: CompileMode,
        work: &mut Work<'_>,
    ) -> Result<Compiled, NativeError> {
        let start = Instant::now();
        if program.len() > MAX_BUNDLES {
            return Err(NativeError::TooLarge);
        }
        let graph = match purpose {
            CompileMode::Step => Graph::single_bundle(program),
            _ => Graph::new(program, group_branch),
        };
        let (zero, at_exit) = match purpose {
            CompileMode::Launch => (emitter::registers::zero_after_reset().minus(graph.written()), Locations::EMPTY),
            _ => (Locations::EMPTY, liveness::all()),
        };
        let liveness = Liveness::new(&graph, at_exit);
        let source = CodegenInput { program, graph: &graph, zero, liveness: &liveness };
        let host = HostFunctions::get()?;
        // Cranelift's optimiser is disabled. It moves computations to their uses, so that unrolled
        // loops run out of registers.
        let mut builder = NativeBuilder::new()?;
        let call_conv = builder.call_conv();
        let mut functions = Vec::new();
        for range in graph.functions.windows(2) {
            let &[first, end] = range else { continue };
            work.poll()?;
            let mut signature = Signature::new(call_conv);
            signature.params.extend([I64, I32].map(AbiParam::new));
            signature.returns.push(AbiParam::new(I64));
            let has_loop = graph.functions.len() <= 2 || graph.has_loop(first, end);
            let allocation = if has_loop { Allocation::Backtracking } else { Allocation::SinglePass };
            functions.push(builder.define(signature, allocation, |b| function::build(b, host, source, first, end))?);
        }
        let code = builder.finish()?;
        let mut entries = vec![None; program.len()];
        for (id, numbers) in functions {
            let Some(address) = code.address(id) else { continue };
            // SAFETY: the function was generated with this signature.
            let function = unsafe { std::mem::transmute::<*const u8, Function>(address) };
            for (number, at) in (0..).zip(numbers) {
                if let Some(entry) = entries.get_mut(at as usize) {
                    *entry = Some((function, number));
                }
            }
        }
        let translation = Translation { time: start.elapsed(), functions: code.functions(), bytes: code.bytes };
        Ok(Compiled { entries, group_is_backward: graph.group_is_backward, translation, _code: code })
    }

    /// Returns a machine on which the code can run.
    pub(super) fn machine(&self) -> Box<Machine> {
        Machine::take()
    }

    /// Caches a machine for the thread's next launch.
    pub(super) fn spare(&self, machine: Box<Machine>) {
        machine.recycle();
    }

    fn entry(&self, at: usize) -> Option<(Function, u32)> {
        self.entries.get(at).copied().flatten()
    }

    /// Runs the program until an exit instruction, regardless of its exit code.
    pub(super) fn finish(&self, machine: &mut Machine, run: &mut ProgramRun<'_>) -> Result<(), Halt> {
        let mut switches = 0;
        loop {
            let mut is_slice = false;
            let entry = if run.next == run.at + 1 { self.entry(run.at) } else { None };
            if let Some(entry) = entry {
                let code = self.call(entry, machine, run);
                run.work.poll()?;
                // The end of a time slice does not count as a switch to the interpreter.
                is_slice = machine.left == 0 && run.taken < run.budget;
                if code == ExitCode::EXIT {
                    return Ok(());
                }
                (run.last, run.at, run.next) = (code.at().saturating_sub(1), code.at(), code.at() + 1);
                if code.may_go() && self.entry(run.at).is_some() {
                    continue;
                }
            }
            switches += u32::from(!is_slice);
            if self.interpret(machine, run, switches > MAX_SWITCHES)? {
                return Ok(());
            }
        }
    }

    /// Interprets bundles until native code can continue, or until the program exits. Returns `true` if the program has
    /// exited. The function is separate because the interpreter's state is large, and most tiles do not need it.
    #[cold]
    #[inline(never)]
    fn interpret(&self, machine: &mut Machine, run: &mut ProgramRun<'_>, to_the_end: bool) -> Result<bool, Halt> {
        let mut state = State::default();
        machine.get(&mut state);
        let done = self.steps(&mut state, run, to_the_end);
        machine.set(&state);
        done
    }

    fn steps(&self, state: &mut State, run: &mut ProgramRun<'_>, to_the_end: bool) -> Result<bool, Halt> {
        loop {
            if run.step(state)?.is_break() {
                return Ok(true);
            }
            if !to_the_end && run.next == run.at + 1 && self.entry(run.at).is_some() {
                return Ok(false);
            }
        }
    }

    /// Runs native code until it returns.
    fn call(&self, (function, number): (Function, u32), machine: &mut Machine, run: &mut ProgramRun<'_>) -> ExitCode {
        let rest = run.groups.saturating_sub(run.done);
        (machine.issued, machine.counted, machine.rest) = (0, 0, rest);
        // Maximum number of bundles that the remaining groups execute for each backward branch of
        // the budget. Between two backward branches, no bundle is executed twice.
        let bundles = run.program.len() as u64 * u64::from(rest.max(1));
        // A shift replaces a division, which would dominate the time of a short tile.
        let slice = (BUNDLES_OF_A_SLICE >> bundles.max(1).ilog2()).max(LEAST_SLICE).min(run.budget);
        let left = slice.min(run.budget - run.taken);
        (machine.budget, machine.left) = (slice, left);
        machine.depth = run.calls.len() as u32;
        for (place, call) in machine.calls.iter_mut().zip(&run.calls) {
            *place = *call as u32;
        }
        // SAFETY: the code was generated for this machine layout, stays within it, and lives as long as `self`.
        let code = unsafe { function(machine, number) };
        if ExitCode(code) != ExitCode::EXIT {
            machine.mark_dirty();
        }
        let groups = rest - machine.rest;
        let backward = machine.counted + if self.group_is_backward { groups.into() } else { 0 };
        run.issued += machine.issued;
        run.backward += backward;
        run.work.count(machine.issued + backward);
        run.done += groups;
        run.taken = if groups > 0 { slice - machine.left } else { run.taken + left - machine.left };
        run.calls.clear();
        run.calls.extend(machine.calls.iter().take(machine.depth as usize).map(|call| *call as usize));
        ExitCode(code)
    }
}

/// Generates native code for one bundle and runs it. The state changes as in the interpreter,
/// except that control flow is ignored.
///
/// # Errors
/// Returns an error if the bundle's effect is undocumented, or if the computer is not supported. In
/// both cases the state is unchanged.
pub fn step_bundle(bundle: &Bundle, state: &mut State) -> Result<(), StepError> {
    Footprint::of(bundle, None)?;
    let program = Bundles::once(bundle);
    let compiled = Compiled::new(&program, None, CompileMode::Step, &mut Work::default())?;
    let mut machine = Machine::new();
    machine.set(state);
    let mut run = ProgramRun::new(&program, &Tiles::default(), 0, 0, Work::default());
    if let Some(entry) = compiled.entry(0) {
        compiled.call(entry, &mut machine, &mut run);
    }
    machine.get(state);
    Ok(())
}
