//! The pass manager: the passes of a pipeline run in its order, watched.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use halfbyte_abi::{Exceeded, Watchdog, clock};
use halfbyte_ir::{Diagnostic, Kernel, Refusal, verify};
use smallvec::SmallVec;

use crate::pass::{Context, Pass, PassError};
use crate::passes::{CONTRACT, DCE, GVN, needs_contraction};
use crate::pipeline::{Pipeline, Step};
use crate::trace::standing;

/// Watches the passes of one kernel. Who is to be told of every kernel that a pipeline compiles is a hook of it:
/// [`Pipeline::before`], [`Pipeline::after`].
pub trait Observer {
    /// Called after a pass, with the kernel as it left it and the time it took; none where [`Context::timed`] is not set.
    fn after(&mut self, pass: &dyn Pass, kernel: &Kernel, changed: bool, time: Duration);
}

/// Watches nothing.
impl Observer for () {
    fn after(&mut self, _: &dyn Pass, _: &Kernel, _: bool, _: Duration) {}
}

/// How lowering fails.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// The target cannot do what the kernel says; at least one thing.
    #[error("{}", .0.first().map_or(String::new(), Refusal::to_string))]
    Refused(Vec<Refusal>),
    /// A pass left a kernel that is not well formed.
    #[error("pass `{pass}` left @{kernel} broken: {}", .diagnostics.first().map_or("", |d| d.message.as_str()))]
    Broken {
        /// The pass.
        pass: String,
        /// The kernel.
        kernel: String,
        /// What the verifier found.
        diagnostics: Vec<Diagnostic>,
    },
    /// A pass ended the compilation for a reason of its own.
    #[error("pass `{pass}` on @{kernel}: {error}")]
    Failed {
        /// The pass.
        pass: String,
        /// The kernel.
        kernel: String,
        /// The reason.
        error: Arc<dyn Error + Send + Sync>,
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

impl Pipeline {
    /// Runs the passes in order. Where an op says `contract`, the pass of that name is the first, asked for or not. A pass of
    /// [`PASSES`](crate::PASSES) that has seen the kernel as it is would change nothing, and does not run again. Nor do `gvn` and
    /// `dce` where nothing but unused instructions has gone since: what is left is as equal, and as used, as it was.
    ///
    /// # Errors
    /// Where a pass finds what the target cannot do, and leaves the kernel as it was, or ends the work itself; where
    /// [`Context::verify`] is set and a pass leaves the kernel broken, which is a defect; where a watchdog ends it.
    pub fn run(
        &self,
        kernel: &mut Kernel,
        context: &mut Context<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), LowerError> {
        // A graph of another kernel, or of what this one was.
        context.drop_flow();
        context.set_books(self.books());
        if let Some(watchdog) = context.poll.watchdog() {
            check_size(kernel, watchdog)?;
        }
        let is_first = self.names().next().is_some_and(|name| name == CONTRACT.name);
        let contract = (!is_first && needs_contraction(kernel)).then_some(Step::BuiltIn(&CONTRACT));
        // The passes that have seen all of the kernel that matters to them.
        let mut done: SmallVec<[&'static str; 24]> = SmallVec::new();
        for step in contract.iter().chain(self.steps()) {
            let pass = step.pass();
            self.tell_before(pass.name(), kernel);
            let is_done = matches!(step, Step::BuiltIn(pass) if done.contains(&pass.name));
            let (changed, time) = if is_done { (false, Duration::ZERO) } else { run(pass, kernel, context)? };
            if changed {
                done.retain(|name| context.only_removes && sees_no_unused(name));
            }
            if let Step::BuiltIn(pass) = step
                && !is_done
            {
                done.push(pass.name);
            }
            self.tell_after(pass.name(), kernel);
            observer.after(pass, kernel, changed, time);
            if !context.refusals.is_empty() {
                return Err(LowerError::Refused(std::mem::take(&mut context.refusals)));
            }
            if context.verify && !is_done {
                verify(kernel).map_err(|diagnostics| LowerError::Broken {
                    pass: pass.name().to_owned(),
                    kernel: kernel.name.clone(),
                    diagnostics,
                })?;
            }
        }
        Ok(())
    }
}

/// Whether it makes no difference to a pass that instructions have gone which nothing used.
fn sees_no_unused(pass: &str) -> bool {
    pass == GVN.name || pass == DCE.name
}

/// Runs a pass: whether it changed the kernel, and how long it took.
fn run(pass: &dyn Pass, kernel: &mut Kernel, context: &mut Context<'_>) -> Result<(bool, Duration), LowerError> {
    let told = context.trace.as_mut().map(|trace| trace.begin(pass.name()));
    let before = standing(context.trace.as_ref(), kernel);
    (context.keeps_flow, context.only_removes) = (false, false);
    let start = context.timed.then(clock::now).flatten();
    let changed = pass.run(kernel, context).map_err(|error| match error {
        PassError::Refused(refusal) => LowerError::Refused(vec![refusal]),
        PassError::Exceeded(exceeded) => LowerError::Exceeded(exceeded),
        PassError::Failed(error) => {
            LowerError::Failed { pass: pass.name().to_owned(), kernel: kernel.name.clone(), error }
        }
    })?;
    if changed && !context.only_removes {
        // A message about an operation that a pass made needs a place.
        kernel.locate();
    }
    let time = start.map_or(Duration::ZERO, |start| start.elapsed());
    if let Some(watchdog) = context.poll.watchdog() {
        check_size(kernel, watchdog)?;
    }
    if changed && !context.keeps_flow {
        context.drop_flow();
    }
    if let (Some(trace), Some(told)) = (&mut context.trace, told) {
        trace.end(told, before, kernel);
    }
    Ok((changed, time))
}
