//! The interface of passes, and the context that passes share.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use halfbyte_abi::{Exceeded, Poll, Watchdog};
use halfbyte_ir::{Flow, Kernel, Legality, Refusal};

use crate::rewrite::{RULES, RuleBook};
use crate::trace::Trace;

/// A pass: a transformation of a kernel that preserves its semantics.
///
/// One [`Pipeline`](crate::Pipeline) serves compilations on several threads at once, so threads share its passes. State
/// that a pass keeps between kernels, such as a counter, must be atomic or behind a lock.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use halfbyte_ir::{Kernel, Op};
/// use halfbyte_lower::{Context, Pass, PassError, Pipeline};
///
/// /// Counts the products that are left for selection.
/// #[derive(Default)]
/// struct Products(AtomicUsize);
///
/// impl Pass for Products {
///     fn name(&self) -> &str {
///         "products"
///     }
///
///     fn run(&self, kernel: &mut Kernel, context: &mut Context<'_>) -> Result<bool, PassError> {
///         let flow = context.flow(kernel);
///         for block in flow.reverse_postorder() {
///             let of_product = |&&inst: &&_| kernel.insts[inst].op == Op::Mul;
///             self.0.fetch_add(kernel.blocks[block].insts.iter().filter(of_product).count(), Ordering::Relaxed);
///         }
///         context.keep_flow(flow);
///         Ok(false)
///     }
/// }
///
/// let mut pipeline = Pipeline::default();
/// pipeline.insert_after("legalise", Products::default())?;
/// # Ok::<(), halfbyte_lower::UnknownPass>(())
/// ```
pub trait Pass: Send + Sync {
    /// Returns the name of the pass, as used on the command line, in errors and in edits of a
    /// [`Pipeline`](crate::Pipeline).
    fn name(&self) -> &str;

    /// Returns a one-line description of the pass.
    fn description(&self) -> &str {
        ""
    }

    /// Returns the ordering constraints of the pass, each with its reason.
    fn order(&self) -> &[(Order, &'static str)] {
        &[]
    }

    /// Transforms the kernel. Returns `true` if the kernel changed.
    ///
    /// # Errors
    /// The target does not support the kernel, or another error ends the compilation.
    fn run(&self, kernel: &mut Kernel, context: &mut Context<'_>) -> Result<bool, PassError>;
}

/// A shared pass, whose state the caller can query after compilations.
impl<P: Pass + ?Sized> Pass for Arc<P> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn description(&self) -> &str {
        (**self).description()
    }

    fn order(&self) -> &[(Order, &'static str)] {
        (**self).order()
    }

    fn run(&self, kernel: &mut Kernel, context: &mut Context<'_>) -> Result<bool, PassError> {
        (**self).run(kernel, context)
    }
}

/// Error that ends the compilation of a kernel in a pass.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// The target does not support the kernel.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A limit is exceeded, or the compilation was cancelled.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
    /// Another error.
    #[error(transparent)]
    Failed(Arc<dyn Error + Send + Sync>),
}

impl PassError {
    /// Creates an error that is specific to a pass, for example from a string.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> PassError {
        PassError::Failed(error.into().into())
    }
}

/// A built-in pass.
pub struct BuiltIn {
    /// Name of the pass.
    pub name: &'static str,
    /// One-line description of the pass.
    pub description: &'static str,
    /// Ordering constraints of the pass in [`ORDER`](crate::ORDER), each with its reason.
    pub order: &'static [(Order, &'static str)],
    /// Transforms the kernel and returns `true` if it changed. Unsupported operations are reported
    /// by [`Context::refuse`].
    pub(crate) run: fn(&mut Kernel, &mut Context<'_>) -> bool,
}

impl Pass for BuiltIn {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        self.description
    }

    fn order(&self) -> &[(Order, &'static str)] {
        self.order
    }

    fn run(&self, kernel: &mut Kernel, context: &mut Context<'_>) -> Result<bool, PassError> {
        Ok((self.run)(kernel, context))
    }
}

/// Ordering constraint of a pass. A pass may occur more than once in a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The pass runs before all other passes.
    First,
    /// The pass runs after all other passes.
    Last,
    /// No run of the pass is after a run of the named pass.
    Before(&'static str),
    /// No run of the pass is before a run of the named pass.
    After(&'static str),
    /// At least one run of the pass is after the named pass.
    Again(&'static str),
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::First => f.write_str("first"),
            Order::Last => f.write_str("last"),
            Order::Before(other) => write!(f, "before `{other}`"),
            Order::After(other) => write!(f, "after `{other}`"),
            Order::Again(other) => write!(f, "again after `{other}`"),
        }
    }
}

impl Order {
    /// Returns `true` if an order of passes satisfies this constraint of `pass`.
    pub fn is_kept(self, pass: &str, order: &[&str]) -> bool {
        let first = |name: &str| order.iter().position(|&other| other == name);
        let last = |name: &str| order.iter().rposition(|&other| other == name);
        match self {
            Order::First => last(pass) == Some(0),
            Order::Last => last(pass).is_some_and(|at| at + 1 == order.len()),
            Order::Before(other) => last(pass).zip(first(other)).is_some_and(|(own, other)| own < other),
            Order::After(other) => first(pass).zip(last(other)).is_some_and(|(own, other)| own > other),
            Order::Again(other) => last(pass).zip(last(other)).is_some_and(|(own, other)| own > other),
        }
    }
}

/// Input and shared state of the passes. One context serves all passes of a compilation, kernel after kernel.
pub struct Context<'l> {
    /// Ops that the target supports.
    pub legality: &'l Legality,
    /// Verify the kernel after each pass.
    pub verify: bool,
    /// Measure the time of each pass for observers. The measurement itself takes some time.
    pub timed: bool,
    /// Trace of the changes to one op or to all ops, if requested.
    pub trace: Option<Trace>,
    pub(crate) poll: Poll<'l>,
    /// Additional rule books, applied after the rules of this crate.
    pub(crate) books: Vec<&'static dyn RuleBook>,
    only_expansion: Option<u32>,
    fired: Vec<usize>,
    pub(crate) refusals: Vec<Refusal>,
    /// Cached control-flow graph of the current kernel, if the last pass left a valid one.
    flow: Option<Flow>,
    /// `true` if the current pass has put the control-flow graph back into `flow`.
    pub(crate) keeps_flow: bool,
    /// `true` if the current pass only removed unused instructions and no blocks.
    pub(crate) only_removes: bool,
}

impl<'l> Context<'l> {
    /// Creates a context for a target.
    pub fn new(legality: &'l Legality) -> Context<'l> {
        Context::counting(legality, vec![0; RULES.len()])
    }

    /// Creates a context whose rule counts start at `fired`, indexed by the number of a rule in
    /// [`Pipeline::rule`](crate::Pipeline::rule).
    pub fn counting(legality: &'l Legality, fired: Vec<usize>) -> Context<'l> {
        Context {
            legality,
            verify: false,
            timed: false,
            trace: None,
            poll: Poll::default(),
            books: Vec::new(),
            only_expansion: None,
            fired,
            refusals: Vec::new(),
            flow: None,
            keeps_flow: false,
            only_removes: false,
        }
    }

    /// Restricts `legalise` to one expansion, the rule with this number in [`Pipeline::rule`](crate::Pipeline::rule).
    /// Tests of a rule need this if `legalise` would prefer another rule.
    #[must_use]
    pub fn with_only_expansion(mut self, rule: usize) -> Context<'l> {
        self.only_expansion = u32::try_from(rule).ok();
        self
    }

    /// Returns how many times each rule was applied, indexed by the number of the rule in
    /// [`Pipeline::rule`](crate::Pipeline::rule).
    pub fn fired(&self) -> &[usize] {
        &self.fired
    }

    /// Returns how many times each rule was applied, for use in [`Context::counting`].
    pub fn into_fired(self) -> Vec<usize> {
        self.fired
    }

    /// Takes the cached control-flow graph of the kernel, or computes a new one. A pass that leaves
    /// the control flow unchanged returns the graph with [`Context::keep_flow`].
    pub fn flow(&mut self, kernel: &Kernel) -> Flow {
        let flow = self.flow.take().unwrap_or_else(|| Flow::new(kernel));
        debug_assert!(flow.is_of(kernel), "@{} has another graph by now", kernel.name);
        flow
    }

    /// Caches the control-flow graph for the following passes. The graph must describe the current kernel.
    pub fn keep_flow(&mut self, flow: Flow) {
        self.flow = Some(flow);
        self.keeps_flow = true;
    }

    /// Discards the cached control-flow graph.
    pub(crate) fn drop_flow(&mut self) {
        self.flow = None;
    }

    /// Sets a watchdog that stops the compilation at its limits or on cancellation.
    #[must_use]
    pub fn with_watchdog(mut self, watchdog: Option<&'l Watchdog>) -> Context<'l> {
        self.poll = Poll::new(watchdog);
        self
    }

    /// Returns a handle by which a pass polls the watchdog in its inner loops.
    pub fn poll(&self) -> Poll<'l> {
        self.poll
    }

    /// Reports operations that the target does not support. The compilation ends after the current pass.
    pub fn refuse(&mut self, refusals: impl IntoIterator<Item = Refusal>) {
        self.refusals.extend(refusals);
    }

    /// Sets the additional rule books of a pipeline, and extends the rule counts to their rules.
    pub(crate) fn set_books(&mut self, books: &[&'static dyn RuleBook]) {
        self.books.clear();
        self.books.extend_from_slice(books);
        self.fired.resize(RULES.len() + books.iter().map(|book| book.rules().len()).sum::<usize>(), 0);
    }

    pub(crate) fn record(&mut self, rules: &[u32]) {
        for &rule in rules {
            if let Some(count) = self.fired.get_mut(rule as usize) {
                *count += 1;
            }
        }
    }

    pub(crate) fn may_expand_by(&self, rule: u32) -> bool {
        self.only_expansion.is_none_or(|only| only == rule)
    }
}
