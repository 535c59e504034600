//! The engine: bundles, translated to native code.
//!
//! A function is a range of bundles. In it registers are variables; where it is left, they are in the machine again, and what runs
//! next is another function, or the interpreter for what the control flow that was found does not have.

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
use super::interp::{Bundles, Run};
use function::{Code, MAX_BUNDLES, Source};
use graph::Graph;
use halfbyte_abi::Work;
use halfbyte_isa::trap::Halt;
use halfbyte_native::clif::{Allocation, NativeBuilder, NativeCode, NativeError, Translation, once};
use host::HostFunctions;
use liveness::Liveness;
pub(super) use machine::Machine;

/// A program's native code, once it has been asked for.
#[derive(Clone, Default)]
pub(super) struct Jit(Arc<OnceLock<Result<Arc<Compiled>, NativeError>>>);

impl fmt::Debug for Jit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jit").field("compiled", &self.0.get().is_some()).finish()
    }
}

impl Jit {
    /// The code, made at the first call.
    pub fn get(
        &self,
        program: &Bundles,
        group_branch: Option<u32>,
        work: &mut Work<'_>,
    ) -> Result<&Arc<Compiled>, NativeError> {
        once(&self.0, || Compiled::new(program, group_branch, Purpose::Launch, work).map(Arc::new))
    }

    /// What it took to make it, if it is made.
    pub fn translation(&self) -> Option<Translation> {
        self.0.get()?.as_ref().ok().map(|compiled| compiled.translation)
    }
}

/// What is to be made code of, and so what is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    /// A run from the state after reset but for `$m` and the data store, which is what counts of the state in the end.
    Launch,
    /// A run from any state, all of which counts.
    #[cfg(test)]
    State,
    /// One bundle from any state, wherever control goes after it.
    Step,
}

/// A function: which of its entries control comes in by is its last argument.
type Function = unsafe extern "C" fn(*mut Machine, u32) -> u64;

/// Native code of a program.
pub(super) struct Compiled {
    /// By bundle the function that can be entered there, and the number of the entry.
    entries: Vec<Option<(Function, u32)>>,
    group_is_backward: bool,
    translation: Translation,
    _code: NativeCode,
}

/// Bundles that native code executes before it says how many, unless its loops are long: some milliseconds' worth.
const BUNDLES_OF_A_SLICE: u64 = if cfg!(test) { 1 << 8 } else { 1 << 22 };
/// Backward branches that are taken together at least, so that looking up costs little.
const LEAST_SLICE: u64 = if cfg!(test) { 1 } else { 1 << 8 };

/// How often a run may go from native code to the interpreter before it stays there: to go back is not free.
const MAX_SWITCHES: u32 = 100;

impl Compiled {
    pub fn new(
        program: &Bundles,
        group_branch: Option<u32>,
        purpose: Purpose,
        work: &mut Work<'_>,
    ) -> Result<Compiled, NativeError> {
        let start = Instant::now();
        if program.len() > MAX_BUNDLES {
            return Err(NativeError::TooLarge);
        }
        let graph = match purpose {
            Purpose::Step => Graph::of_step(program),
            _ => Graph::new(program, group_branch),
        };
        let (zero, at_exit) = match purpose {
            Purpose::Launch => (emitter::registers::zero_after_reset().minus(graph.written()), Locations::EMPTY),
            _ => (Locations::EMPTY, liveness::all()),
        };
        let liveness = Liveness::new(&graph, at_exit);
        let source = Source { program, graph: &graph, zero, liveness: &liveness };
        let host = HostFunctions::get()?;
        // Cranelift's optimiser moves computations to their uses, and loops that are unrolled then run out of registers.
        let mut builder = NativeBuilder::new()?;
        let call_conv = builder.call_conv();
        let mut functions = Vec::new();
        for range in graph.functions.windows(2) {
            let &[first, end] = range else { continue };
            work.poll()?;
            let mut signature = Signature::new(call_conv);
            signature.params.extend([I64, I32].map(AbiParam::new));
            signature.returns.push(AbiParam::new(I64));
            let goes_round = graph.functions.len() <= 2 || graph.has_loop(first, end);
            let allocation = if goes_round { Allocation::Backtracking } else { Allocation::SinglePass };
            functions.push(builder.define(signature, allocation, |b| function::build(b, host, source, first, end))?);
        }
        let code = builder.finish()?;
        let mut entries = vec![None; program.len()];
        for (id, numbers) in functions {
            let Some(address) = code.address(id) else { continue };
            // SAFETY: the function was made with this signature.
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

    /// What the code runs on.
    pub fn machine(&self) -> Box<Machine> {
        Machine::take()
    }

    /// Keeps it for the next launch of this thread.
    pub fn spare(&self, machine: Box<Machine>) {
        machine.spare();
    }

    fn entry(&self, at: usize) -> Option<(Function, u32)> {
        self.entries.get(at).copied().flatten()
    }

    /// Runs to an exit, whatever its code.
    pub fn finish(&self, machine: &mut Machine, run: &mut Run<'_>) -> Result<(), Halt> {
        let mut switches = 0;
        loop {
            let mut is_slice = false;
            let entry = if run.next == run.at + 1 { self.entry(run.at) } else { None };
            if let Some(entry) = entry {
                let code = self.call(entry, machine, run);
                run.work.poll()?;
                // A slice that is over is a reason to look up, not one to stay in the interpreter.
                is_slice = machine.left == 0 && run.taken < run.budget;
                if code == Code::EXIT {
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

    /// Runs on to where native code can, or to the end, which it says. The state is large, and most tiles need none.
    #[cold]
    #[inline(never)]
    fn interpret(&self, machine: &mut Machine, run: &mut Run<'_>, to_the_end: bool) -> Result<bool, Halt> {
        let mut state = State::default();
        machine.get(&mut state);
        let done = self.steps(&mut state, run, to_the_end);
        machine.set(&state);
        done
    }

    fn steps(&self, state: &mut State, run: &mut Run<'_>, to_the_end: bool) -> Result<bool, Halt> {
        loop {
            if run.step(state)?.is_break() {
                return Ok(true);
            }
            if !to_the_end && run.next == run.at + 1 && self.entry(run.at).is_some() {
                return Ok(false);
            }
        }
    }

    /// Runs native code.
    fn call(&self, (function, number): (Function, u32), machine: &mut Machine, run: &mut Run<'_>) -> Code {
        let rest = run.groups.saturating_sub(run.done);
        (machine.issued, machine.counted, machine.rest) = (0, 0, rest);
        // Between two backward branches no bundle is executed twice, and no group takes more of them at a time than a slice has.
        let bundles = run.program.len() as u64 * u64::from(rest.max(1));
        // A division takes as long as all else that a short tile does here.
        let slice = (BUNDLES_OF_A_SLICE >> bundles.max(1).ilog2()).max(LEAST_SLICE).min(run.budget);
        let left = slice.min(run.budget - run.taken);
        (machine.budget, machine.left) = (slice, left);
        machine.depth = run.calls.len() as u32;
        for (place, call) in machine.calls.iter_mut().zip(&run.calls) {
            *place = *call as u32;
        }
        // SAFETY: the code was made for this machine's layout, keeps its accesses within it, and lives as long as this.
        let code = unsafe { function(machine, number) };
        if Code(code) != Code::EXIT {
            machine.left();
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
        Code(code)
    }
}

/// Runs one bundle on native code, which is made for it: what it does to the state but where control goes.
///
/// # Errors
/// A bundle whose effect is not known, which leaves the state as it is; a computer that there is no native code for.
pub fn step_bundle(bundle: &Bundle, state: &mut State) -> Result<(), StepError> {
    Footprint::of(bundle, None)?;
    let program = Bundles::once(bundle);
    let compiled = Compiled::new(&program, None, Purpose::Step, &mut Work::default())?;
    let mut machine = Machine::new();
    machine.set(state);
    let mut run = Run::new(&program, &Tiles::default(), 0, 0, Work::default());
    if let Some(entry) = compiled.entry(0) {
        compiled.call(entry, &mut machine, &mut run);
    }
    machine.get(state);
    Ok(())
}
