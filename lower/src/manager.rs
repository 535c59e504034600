//! The pass manager, which runs the passes of a pipeline and notifies observers.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use halfbyte_abi::{Exceeded, Watchdog, clock};
use halfbyte_ir::{Diagnostic, Kernel, Refusal, verify};
use smallvec::SmallVec;

use crate::pass::{Context, Pass, PassError};
use crate::passes::{CONTRACT, DCE, GVN, needs_contraction};
use crate::pipeline::{Pipeline, Step};
use crate::trace::traced_insts;

/// Observer of the passes that run on one kernel. To observe all kernels of a pipeline, register
/// the hooks [`Pipeline::before`] and [`Pipeline::after`].
pub trait Observer {
    /// Called after each pass with its output kernel and its run time. The time is zero unless
    /// [`Context::timed`] is set.
    fn after(&mut self, pass: &dyn Pass, kernel: &Kernel, changed: bool, time: Duration);
}

/// An observer whose methods do nothing.
impl Observer for () {
    fn after(&mut self, _: &dyn Pass, _: &Kernel, _: bool, _: Duration) {}
}

/// Error of lowering.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// The target does not support the kernel. The list has at least one refusal, each with its reason.
    #[error("{}", .0.first().map_or(String::new(), Refusal::to_string))]
    Refused(Vec<Refusal>),
    /// A pass produced a kernel that the verifier rejects.
    #[error("internal error: pass `{pass}` produced an invalid kernel @{kernel}: {}", .diagnostics.first().map_or("", |d| d.message.as_str()))]
    Broken {
        /// Name of the pass.
        pass: String,
        /// Name of the kernel.
        kernel: String,
        /// Diagnostics of the verifier.
        diagnostics: Vec<Diagnostic>,
    },
    /// A pass ended the compilation with an error of its own.
    #[error("pass `{pass}` on @{kernel}: {error}")]
    Failed {
        /// Name of the pass.
        pass: String,
        /// Name of the kernel.
        kernel: String,
        /// Error of the pass.
        error: Arc<dyn Error + Send + Sync>,
    },
    /// A limit was exceeded, or the compilation was cancelled.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
}

/// Returns an error if the kernel exceeds the watchdog's limits on blocks, ops or time.
fn check_size(kernel: &Kernel, watchdog: &Watchdog) -> Result<(), Exceeded> {
    watchdog.poll()?;
    let limits = watchdog.limits();
    let blocks = kernel.layout.len() as u64;
    watchdog.check(blocks, limits.blocks, |found, limit| Exceeded::Blocks { found, limit })?;
    let ops = kernel.layout.iter().filter_map(|&block| kernel.blocks.get(block)).map(|block| block.insts.len() as u64);
    watchdog.check(ops.sum(), limits.ops, |found, limit| Exceeded::Ops { found, limit })
}

impl Pipeline {
    /// Runs the passes in order on a kernel.
    ///
    /// If an op has the modifier `contract`, the pass `contract` runs first, even if the pipeline lacks it. A pass of
    /// [`PASSES`](crate::PASSES) is skipped if the kernel has not changed since the pass ran last. `gvn` and `dce` are
    /// also skipped if passes only removed unused instructions in the meantime.
    ///
    /// # Errors
    /// A pass finds an unsupported operation or fails, or the watchdog stops the compilation. If [`Context::verify`] is
    /// set, a kernel that the verifier rejects is an error, too; it shows a bug in the pass.
    pub fn run(
        &self,
        kernel: &mut Kernel,
        context: &mut Context<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), LowerError> {
        // A cached control-flow graph would belong to another kernel or to an older version of this kernel.
        context.drop_flow();
        context.set_books(self.books());
        if let Some(watchdog) = context.poll.watchdog() {
            check_size(kernel, watchdog)?;
        }
        let is_first = self.names().next().is_some_and(|name| name == CONTRACT.name);
        let contract = (!is_first && needs_contraction(kernel)).then_some(Step::BuiltIn(&CONTRACT));
        // Names of passes that would find nothing to do in the current kernel.
        let mut done: SmallVec<[&'static str; 24]> = SmallVec::new();
        for step in contract.iter().chain(self.steps()) {
            let pass = step.pass();
            self.tell_before(pass.name(), kernel);
            let is_done = matches!(step, Step::BuiltIn(pass) if done.contains(&pass.name));
            let (changed, time) = if is_done { (false, Duration::ZERO) } else { run(pass, kernel, context)? };
            if changed {
                done.retain(|name| context.only_removes && ignores_unused_instructions(name));
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

/// Returns `true` if a pass needs no second run after unused instructions were removed.
fn ignores_unused_instructions(pass: &str) -> bool {
    pass == GVN.name || pass == DCE.name
}

/// Runs a pass. Returns `true` if the pass changed the kernel, and the run time.
fn run(pass: &dyn Pass, kernel: &mut Kernel, context: &mut Context<'_>) -> Result<(bool, Duration), LowerError> {
    let told = context.trace.as_mut().map(|trace| trace.begin(pass.name()));
    let before = traced_insts(context.trace.as_ref(), kernel);
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
        // Instructions made by the pass need a source location for diagnostics.
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
