//! Pipelines: the list of passes of a compilation.

use std::fmt;
use std::sync::{Arc, LazyLock};

use halfbyte_ir::text::closest;
use halfbyte_ir::{Kernel, Rule};

use crate::pass::{BuiltIn, Pass};
use crate::passes::{ORDER, PASSES};
use crate::rewrite::{RULES, RuleBook, rule_of};

/// Error of an unknown pass name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown pass `{name}`{}; the passes are {}", suggestion(.name, .known), .known.join(", "))]
pub struct UnknownPass {
    /// The unknown name.
    pub name: String,
    /// All valid names.
    pub known: Vec<String>,
}

fn suggestion(name: &str, known: &[String]) -> String {
    let near = closest(name, known.iter().map(String::as_str));
    near.map_or(String::new(), |near| format!(", did you mean `{near}`?"))
}

/// Returns the built-in pass with a name.
///
/// # Errors
/// [`PASSES`] contains no such pass. The error suggests the closest name and lists all names.
pub fn find(name: &str) -> Result<&'static BuiltIn, UnknownPass> {
    let unknown = || UnknownPass { name: name.to_owned(), known: PASSES.iter().map(|p| p.name.to_owned()).collect() };
    PASSES.iter().find(|pass| pass.name == name).ok_or_else(unknown)
}

/// A pass of a pipeline.
#[derive(Clone)]
pub(crate) enum Step {
    BuiltIn(&'static BuiltIn),
    Own(Arc<dyn Pass>),
}

impl Step {
    pub(crate) fn pass(&self) -> &dyn Pass {
        match self {
            Step::BuiltIn(pass) => *pass,
            Step::Own(pass) => &**pass,
        }
    }
}

type Hook = dyn Fn(&str, &Kernel) + Send + Sync;

#[derive(Clone, Default)]
struct Inner {
    steps: Vec<Step>,
    books: Vec<&'static dyn RuleBook>,
    before: Vec<Arc<Hook>>,
    after: Vec<Arc<Hook>>,
}

/// The passes of a compilation in order, their rule books and their hooks. The default is [`ORDER`], the order of a
/// regular compilation. Clones share their data until one of them is edited.
///
/// A pass may occur more than once. An edit by name affects all occurrences: new passes are inserted before the first
/// one or after the last one, and a replacement replaces each of them.
///
/// ```
/// use halfbyte_lower::Pipeline;
///
/// let mut pipeline = Pipeline::default();
/// pipeline.remove("slp")?;
/// pipeline.after(|pass, kernel| println!("; @{} after {pass}\n{kernel}", kernel.name));
/// assert!(!pipeline.names().any(|name| name == "slp"));
///
/// let error = pipeline.remove("legalize").unwrap_err();
/// assert!(error.to_string().contains("did you mean `legalise`?"));
/// # Ok::<(), halfbyte_lower::UnknownPass>(())
/// ```
#[derive(Clone)]
pub struct Pipeline(Arc<Inner>);

/// The default pipeline, with the passes of [`ORDER`].
impl Default for Pipeline {
    fn default() -> Pipeline {
        static ALL: LazyLock<Pipeline> = LazyLock::new(|| {
            let steps = ORDER.iter().filter_map(|name| find(name).ok()).map(Step::BuiltIn);
            Pipeline(Arc::new(Inner { steps: steps.collect(), ..Inner::default() }))
        });
        ALL.clone()
    }
}

/// A pipeline with one pass.
impl From<&'static BuiltIn> for Pipeline {
    fn from(pass: &'static BuiltIn) -> Pipeline {
        Pipeline(Arc::new(Inner { steps: vec![Step::BuiltIn(pass)], ..Inner::default() }))
    }
}

/// Formats the names of the passes and of the rule books.
impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let books: Vec<&str> = self.books().iter().map(|book| book.name()).collect();
        let passes: Vec<&str> = self.names().collect();
        f.debug_struct("Pipeline").field("passes", &passes).field("books", &books).finish_non_exhaustive()
    }
}

impl Pipeline {
    /// Creates a pipeline of built-in passes, in the order of `names`.
    ///
    /// # Errors
    /// [`PASSES`] contains no pass with one of the names.
    pub fn named<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Pipeline, UnknownPass> {
        let steps = names.into_iter().map(|name| find(name).map(Step::BuiltIn)).collect::<Result<_, _>>()?;
        Ok(Pipeline(Arc::new(Inner { steps, ..Inner::default() })))
    }

    /// Returns the passes in order.
    pub fn passes(&self) -> impl DoubleEndedIterator<Item = &dyn Pass> + ExactSizeIterator {
        self.0.steps.iter().map(Step::pass)
    }

    /// Returns the names of the passes in order.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.passes().map(Pass::name)
    }

    /// Appends a pass to the pipeline.
    pub fn push(&mut self, pass: impl Pass + 'static) {
        Arc::make_mut(&mut self.0).steps.push(Step::Own(Arc::new(pass)));
    }

    /// Inserts `pass` before the first occurrence of the pass `name`.
    ///
    /// # Errors
    /// No pass of the pipeline has this name.
    pub fn insert_before(&mut self, name: &str, pass: impl Pass + 'static) -> Result<(), UnknownPass> {
        let at = self.names().position(|known| known == name).ok_or_else(|| self.unknown(name))?;
        Arc::make_mut(&mut self.0).steps.insert(at, Step::Own(Arc::new(pass)));
        Ok(())
    }

    /// Inserts `pass` after the last occurrence of the pass `name`.
    ///
    /// # Errors
    /// No pass of the pipeline has this name.
    pub fn insert_after(&mut self, name: &str, pass: impl Pass + 'static) -> Result<(), UnknownPass> {
        let at = self.names().rposition(|known| known == name).ok_or_else(|| self.unknown(name))?;
        Arc::make_mut(&mut self.0).steps.insert(at + 1, Step::Own(Arc::new(pass)));
        Ok(())
    }

    /// Replaces every occurrence of the pass `name` by `pass`.
    ///
    /// # Errors
    /// No pass of the pipeline has this name.
    pub fn replace(&mut self, name: &str, pass: impl Pass + 'static) -> Result<(), UnknownPass> {
        self.known(name)?;
        let own = Step::Own(Arc::new(pass));
        let steps = &mut Arc::make_mut(&mut self.0).steps;
        steps.iter_mut().filter(|step| step.pass().name() == name).for_each(|step| *step = own.clone());
        Ok(())
    }

    /// Removes every occurrence of the pass `name`.
    ///
    /// # Errors
    /// No pass of the pipeline has this name.
    pub fn remove(&mut self, name: &str) -> Result<(), UnknownPass> {
        self.known(name)?;
        self.retain(|pass| pass.name() != name);
        Ok(())
    }

    /// Removes the passes for which `keep` returns `false`.
    pub fn retain(&mut self, mut keep: impl FnMut(&dyn Pass) -> bool) {
        Arc::make_mut(&mut self.0).steps.retain(|step| keep(step.pass()));
    }

    /// Adds a rule book for the passes `canon` and `legalise`. Its rules apply after the built-in
    /// rules and the rules of the books that were added before.
    #[must_use]
    pub fn with_rules(mut self, book: &'static dyn RuleBook) -> Pipeline {
        Arc::make_mut(&mut self.0).books.push(book);
        self
    }

    /// Returns the additional rule books.
    pub fn books(&self) -> &[&'static dyn RuleBook] {
        &self.0.books
    }

    /// Returns the rule with a number, as used by [`Context::fired`](crate::Context::fired) and
    /// traces. The rules of [`RULES`] come first, then the rules of the books in order.
    pub fn rule(&self, number: u32) -> Option<&'static Rule> {
        rule_of(self.books(), number)
    }

    /// Returns the number of rules, including those of [`RULES`].
    pub fn rule_count(&self) -> usize {
        RULES.len() + self.books().iter().map(|book| book.rules().len()).sum::<usize>()
    }

    /// Registers a hook that runs before each pass, with the pass's input kernel. The hook runs on
    /// the thread that compiles the kernel.
    pub fn before(&mut self, hook: impl Fn(&str, &Kernel) + Send + Sync + 'static) {
        Arc::make_mut(&mut self.0).before.push(Arc::new(hook));
    }

    /// Registers a hook that runs after each pass, with the pass's output kernel. The hook runs on
    /// the thread that compiles the kernel.
    pub fn after(&mut self, hook: impl Fn(&str, &Kernel) + Send + Sync + 'static) {
        Arc::make_mut(&mut self.0).after.push(Arc::new(hook));
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.0.steps
    }

    pub(crate) fn tell_before(&self, pass: &str, kernel: &Kernel) {
        self.0.before.iter().for_each(|hook| hook(pass, kernel));
    }

    pub(crate) fn tell_after(&self, pass: &str, kernel: &Kernel) {
        self.0.after.iter().for_each(|hook| hook(pass, kernel));
    }

    fn known(&self, name: &str) -> Result<(), UnknownPass> {
        self.names().any(|known| known == name).then_some(()).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> UnknownPass {
        let mut known: Vec<String> = Vec::new();
        for pass in self.names() {
            if !known.iter().any(|known| known == pass) {
                known.push(pass.to_owned());
            }
        }
        UnknownPass { name: name.to_owned(), known }
    }
}
