//! What a pass is, and what passes are told.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use halfbyte_abi::{Exceeded, Poll, Watchdog};
use halfbyte_ir::{Flow, Kernel, Legality, Refusal};

use crate::rewrite::{RULES, RuleBook};
use crate::trace::Trace;

/// A pass: it changes a kernel and keeps what the kernel means.
///
/// One [`Pipeline`](crate::Pipeline) serves compilations on several threads at once, so a pass is shared. What it keeps from one
/// kernel to the next, such as a count, is an atomic or stands behind a lock.
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
    /// Its name: on the command line, in errors, and for [`Pipeline`](crate::Pipeline)'s edits.
    fn name(&self) -> &str;

    /// What it does, in a line.
    fn description(&self) -> &str {
        ""
    }

    /// Its place among the others, and why.
    fn order(&self) -> &[(Order, &'static str)] {
        &[]
    }

    /// Changes the kernel, and says whether it did.
    ///
    /// # Errors
    /// What the target cannot do, or whatever else ends the compilation of this kernel.
    fn run(&self, kernel: &mut Kernel, context: &mut Context<'_>) -> Result<bool, PassError>;
}

/// A pass that whoever adds it keeps too, to ask it what it found.
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

/// Why a pass ends the compilation of a kernel.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// The target cannot do what the kernel says.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A limit is met, or someone cancels.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
    /// Anything else.
    #[error(transparent)]
    Failed(Arc<dyn Error + Send + Sync>),
}

impl PassError {
    /// An error of the pass's own; a text will do.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> PassError {
        PassError::Failed(error.into().into())
    }
}

/// A pass of this crate, as its table has it.
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a line.
    pub description: &'static str,
    /// Its place among the others in [`ORDER`](crate::ORDER), and why.
    pub order: &'static [(Order, &'static str)],
    /// Changes the kernel, and says whether it did. What the target cannot do it notes by [`Context::refuse`].
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

/// Where a pass stands among others. A pass may run more than once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Before all others.
    First,
    /// After all others.
    Last,
    /// Never after the other.
    Before(&'static str),
    /// Never before the other.
    After(&'static str),
    /// Once more after the other.
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
    /// Whether the place of a pass in an order is this.
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

/// What passes are told, and what they leave behind: one serves all passes of a kernel, and one kernel after another.
pub struct Context<'l> {
    /// What the target can do.
    pub legality: &'l Legality,
    /// Whether the kernel is verified after each pass.
    pub verify: bool,
    /// Whether observers are told how long a pass takes; to ask for the time takes some itself.
    pub timed: bool,
    /// What is told of one op, where that is asked.
    pub trace: Option<Trace>,
    pub(crate) poll: Poll<'l>,
    /// The rules of others behind those of this crate.
    pub(crate) books: Vec<&'static dyn RuleBook>,
    only_expansion: Option<u32>,
    fired: Vec<usize>,
    pub(crate) refusals: Vec<Refusal>,
    /// The graph of the kernel as it is, where a pass has left one.
    flow: Option<Flow>,
    /// Whether the pass at hand has left it.
    pub(crate) keeps_flow: bool,
    /// Whether the pass at hand has done no more than take out what nothing uses, in blocks that are all still there.
    pub(crate) only_removes: bool,
}

impl<'l> Context<'l> {
    /// For a target that has these ops.
    pub fn new(legality: &'l Legality) -> Context<'l> {
        Context::counting(legality, vec![0; RULES.len()])
    }

    /// The same, where rules have been applied before: how often each, by its number in [`Pipeline::rule`](crate::Pipeline::rule).
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

    /// Lets `legalise` use one expansion only, by its number in [`Pipeline::rule`](crate::Pipeline::rule): so a rule is tried that others would precede.
    #[must_use]
    pub fn with_only_expansion(mut self, rule: usize) -> Context<'l> {
        self.only_expansion = u32::try_from(rule).ok();
        self
    }

    /// How often each rule has been applied, by its number in [`Pipeline::rule`](crate::Pipeline::rule).
    pub fn fired(&self) -> &[usize] {
        &self.fired
    }

    /// The same, for [`Context::counting`].
    pub fn into_fired(self) -> Vec<usize> {
        self.fired
    }

    /// The kernel's graph: the one that a pass has left, or a new one. A pass that leaves the graph as it is hands it on by
    /// [`Context::keep_flow`].
    pub fn flow(&mut self, kernel: &Kernel) -> Flow {
        let flow = self.flow.take().unwrap_or_else(|| Flow::new(kernel));
        debug_assert!(flow.is_of(kernel), "@{} has another graph by now", kernel.name);
        flow
    }

    /// Leaves the graph to the passes that follow: the kernel has it still.
    pub fn keep_flow(&mut self, flow: Flow) {
        self.flow = Some(flow);
        self.keeps_flow = true;
    }

    /// Leaves no graph to what follows.
    pub(crate) fn drop_flow(&mut self) {
        self.flow = None;
    }

    /// Has a watchdog end the work early, where limits are met or someone cancels it.
    #[must_use]
    pub fn with_watchdog(mut self, watchdog: Option<&'l Watchdog>) -> Context<'l> {
        self.poll = Poll::new(watchdog);
        self
    }

    /// What the inner loops of a pass ask, where they may take long.
    pub fn poll(&self) -> Poll<'l> {
        self.poll
    }

    /// Notes what the target cannot do. No pass runs after the one that does so.
    pub fn refuse(&mut self, refusals: impl IntoIterator<Item = Refusal>) {
        self.refusals.extend(refusals);
    }

    /// The rules that apply: the books of a pipeline, each rule counted from 0.
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
