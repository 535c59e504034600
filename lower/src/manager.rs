//! The pass manager: passes by name, run in a given order, watched.

use std::time::{Duration, Instant};

use halfbyte_abi::{Exceeded, Watchdog};
use halfbyte_ir::text::closest;
use halfbyte_ir::{Diagnostic, Kernel, Refusal, verify};
use smallvec::SmallVec;

use crate::pass::{Context, Pass};
use crate::passes::{CONTRACT, PASSES, needs_contraction};
use crate::trace::texts;

/// A pass name that is none.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no pass `{name}`{}; the passes are {}", suggestion(.name), names())]
pub struct UnknownPass {
    /// What was asked for.
    pub name: String,
}

fn suggestion(name: &str) -> String {
    closest(name, PASSES.iter().map(|pass| pass.name)).map_or(String::new(), |near| format!(", did you mean `{near}`?"))
}

fn names() -> String {
    PASSES.iter().map(|pass| pass.name).collect::<Vec<_>>().join(", ")
}

/// The pass of that name.
///
/// # Errors
/// Where there is none; the error names the closest and lists all.
pub fn find(name: &str) -> Result<&'static Pass, UnknownPass> {
    PASSES.iter().find(|pass| pass.name == name).ok_or_else(|| UnknownPass { name: name.to_string() })
}

/// Watches passes.
pub trait Observer {
    /// Called after a pass, with the kernel as it left it and the time it took; none where [`Context::timed`] is not set.
    fn after(&mut self, pass: &Pass, kernel: &Kernel, changed: bool, time: Duration);
}

/// Watches nothing.
impl Observer for () {
    fn after(&mut self, _: &Pass, _: &Kernel, _: bool, _: Duration) {}
}

/// How lowering fails.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LowerError {
    /// The target cannot do what the kernel says; at least one thing.
    #[error("{}", .0.first().map_or(String::new(), Refusal::to_string))]
    Refused(Vec<Refusal>),
    /// A pass left a kernel that is not well formed.
    #[error("pass `{pass}` left @{kernel} broken: {}", .diagnostics.first().map_or("", |d| d.message.as_str()))]
    Broken {
        /// The pass.
        pass: &'static str,
        /// The kernel.
        kernel: String,
        /// What the verifier found.
        diagnostics: Vec<Diagnostic>,
    },
    /// It was ended early.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
}

/// Whether a kernel is within its limits, and the time too.
fn check_size(kernel: &Kernel, watchdog: &Watchdog) -> Result<(), Exceeded> {
    watchdog.poll()?;
    let limits = watchdog.limits();
    let blocks = kernel.layout.len() as u64;
    watchdog.check(blocks, limits.blocks, |found, limit| Exceeded::Blocks { found, limit })?;
    let ops = kernel.layout.iter().filter_map(|&block| kernel.blocks.get(block)).map(|block| block.insts.len() as u64);
    watchdog.check(ops.sum(), limits.ops, |found, limit| Exceeded::Ops { found, limit })
}

/// Runs passes in order. Where an op says `contract`, the pass of that name is the first, asked for or not. A pass that has
/// seen the kernel as it is would change nothing, and does not run again.
///
/// # Errors
/// Where a pass finds what the target cannot do, and leaves the kernel as it was; where [`Context::verify`] is set and a pass
/// leaves the kernel broken, which is a defect; where a watchdog ends it.
pub fn run(
    kernel: &mut Kernel,
    passes: &[&'static Pass],
    context: &mut Context<'_>,
    observer: &mut dyn Observer,
) -> Result<(), LowerError> {
    // A graph of another kernel, or of what this one was.
    context.drop_flow();
    if let Some(watchdog) = context.poll.watchdog {
        check_size(kernel, watchdog)?;
    }
    let is_first = passes.first().is_some_and(|pass| pass.name == CONTRACT.name);
    let contract = (!is_first && needs_contraction(kernel)).then_some(&CONTRACT);
    // How many passes have changed the kernel, and how many had when each pass was done.
    let mut changes = 0;
    let mut done: SmallVec<[(&'static str, u32); 16]> = SmallVec::new();
    for pass in contract.into_iter().chain(passes.iter().copied()) {
        if done.contains(&(pass.name, changes)) {
            observer.after(pass, kernel, false, Duration::ZERO);
            continue;
        }
        let told = context.trace.as_mut().map(|trace| trace.begin(pass.name));
        let before = texts(context.trace.as_ref(), kernel);
        context.keeps_flow = false;
        let start = context.timed.then(Instant::now);
        let changed = (pass.run)(kernel, context);
        let time = start.map_or(Duration::ZERO, |start| start.elapsed());
        if let Some(watchdog) = context.poll.watchdog {
            check_size(kernel, watchdog)?;
        }
        if changed && !context.keeps_flow {
            context.drop_flow();
        }
        changes += u32::from(changed);
        done.push((pass.name, changes));
        if let (Some(trace), Some(told)) = (&mut context.trace, told) {
            trace.end(told, before, kernel);
        }
        observer.after(pass, kernel, changed, time);
        if !context.refusals.is_empty() {
            return Err(LowerError::Refused(std::mem::take(&mut context.refusals)));
        }
        if context.verify {
            verify(kernel).map_err(|diagnostics| LowerError::Broken {
                pass: pass.name,
                kernel: kernel.name.clone(),
                diagnostics,
            })?;
        }
    }
    Ok(())
}
