//! Pipelines: the passes of a compilation, as a value.

use std::fmt;
use std::sync::{Arc, LazyLock};

use halfbyte_ir::text::closest;
use halfbyte_ir::{Kernel, Rule};

use crate::pass::{BuiltIn, Pass};
use crate::passes::{ORDER, PASSES};
use crate::rewrite::{RULES, RuleBook, rule_of};

/// A pass name that is none.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no pass `{name}`{}; the passes are {}", suggestion(.name, .known), .known.join(", "))]
pub struct UnknownPass {
    /// What was asked for.
    pub name: String,
    /// The names that there are.
    pub known: Vec<String>,
}

fn suggestion(name: &str, known: &[String]) -> String {
    let near = closest(name, known.iter().map(String::as_str));
    near.map_or(String::new(), |near| format!(", did you mean `{near}`?"))
}

/// The pass of that name in [`PASSES`].
///
/// # Errors
/// Where there is none; the error names the closest and lists all.
pub fn find(name: &str) -> Result<&'static BuiltIn, UnknownPass> {
    let unknown = || UnknownPass { name: name.to_owned(), known: PASSES.iter().map(|p| p.name.to_owned()).collect() };
    PASSES.iter().find(|pass| pass.name == name).ok_or_else(unknown)
}

/// A pass in a pipeline.
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

/// The passes of a compilation in order, the rule books that they apply, and who is told of them. The default is what a
/// compilation runs: [`ORDER`]. Clones share it until one is edited.
///
/// A pass may run more than once. An edit by name goes by every place: before the first, after the last, in place of each.
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

/// All passes, in the order of [`ORDER`].
impl Default for Pipeline {
    fn default() -> Pipeline {
        static ALL: LazyLock<Pipeline> = LazyLock::new(|| {
            let steps = ORDER.iter().filter_map(|name| find(name).ok()).map(Step::BuiltIn);
            Pipeline(Arc::new(Inner { steps: steps.collect(), ..Inner::default() }))
        });
        ALL.clone()
    }
}

/// One pass alone.
impl From<&'static BuiltIn> for Pipeline {
    fn from(pass: &'static BuiltIn) -> Pipeline {
        Pipeline(Arc::new(Inner { steps: vec![Step::BuiltIn(pass)], ..Inner::default() }))
    }
}

/// By the names of its passes and rule books.
impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let books: Vec<&str> = self.books().iter().map(|book| book.name()).collect();
        let passes: Vec<&str> = self.names().collect();
        f.debug_struct("Pipeline").field("passes", &passes).field("books", &books).finish_non_exhaustive()
    }
}

impl Pipeline {
    /// These of [`PASSES`], in this order.
    ///
    /// # Errors
    /// A name that is no pass's.
    pub fn named<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Pipeline, UnknownPass> {
        let steps = names.into_iter().map(|name| find(name).map(Step::BuiltIn)).collect::<Result<_, _>>()?;
        Ok(Pipeline(Arc::new(Inner { steps, ..Inner::default() })))
    }

    /// The passes in order.
    pub fn passes(&self) -> impl DoubleEndedIterator<Item = &dyn Pass> + ExactSizeIterator {
        self.0.steps.iter().map(Step::pass)
    }

    /// Their names.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.passes().map(Pass::name)
    }

    /// Appends a pass.
    pub fn push(&mut self, pass: impl Pass + 'static) {
        Arc::make_mut(&mut self.0).steps.push(Step::Own(Arc::new(pass)));
    }

    /// Inserts a pass before the first of a name.
    ///
    /// # Errors
    /// A name that no pass here has.
    pub fn insert_before(&mut self, name: &str, pass: impl Pass + 'static) -> Result<(), UnknownPass> {
        let at = self.names().position(|known| known == name).ok_or_else(|| self.unknown(name))?;
        Arc::make_mut(&mut self.0).steps.insert(at, Step::Own(Arc::new(pass)));
        Ok(())
    }

    /// Inserts a pass after the last of a name.
    ///
    /// # Errors
    /// A name that no pass here has.
    pub fn insert_after(&mut self, name: &str, pass: impl Pass + 'static) -> Result<(), UnknownPass> {
        let at = self.names().rposition(|known| known == name).ok_or_else(|| self.unknown(name))?;
        Arc::make_mut(&mut self.0).steps.insert(at + 1, Step::Own(Arc::new(pass)));
        Ok(())
    }

    /// Puts a pass in the place of every one of a name.
    ///
    /// # Errors
    /// A name that no pass here has.
    pub fn replace(&mut self, name: &str, pass: impl Pass + 'static) -> Result<(), UnknownPass> {
        self.known(name)?;
        let own = Step::Own(Arc::new(pass));
        let steps = &mut Arc::make_mut(&mut self.0).steps;
        steps.iter_mut().filter(|step| step.pass().name() == name).for_each(|step| *step = own.clone());
        Ok(())
    }

    /// Removes every pass of a name.
    ///
    /// # Errors
    /// A name that no pass here has.
    pub fn remove(&mut self, name: &str) -> Result<(), UnknownPass> {
        self.known(name)?;
        self.retain(|pass| pass.name() != name);
        Ok(())
    }

    /// Keeps the passes for which this holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&dyn Pass) -> bool) {
        Arc::make_mut(&mut self.0).steps.retain(|step| keep(step.pass()));
    }

    /// Has `canon` and `legalise` apply the rules of a book behind their own, and those of books that were added before.
    #[must_use]
    pub fn with_rules(mut self, book: &'static dyn RuleBook) -> Pipeline {
        Arc::make_mut(&mut self.0).books.push(book);
        self
    }

    /// The rule books, without that of this crate.
    pub fn books(&self) -> &[&'static dyn RuleBook] {
        &self.0.books
    }

    /// The rule of a number, as [`Context::fired`](crate::Context::fired) and traces count them: first those of [`RULES`],
    /// then those of the books, in order.
    pub fn rule(&self, number: u32) -> Option<&'static Rule> {
        rule_of(self.books(), number)
    }

    /// How many rules there are, those of [`RULES`] among them.
    pub fn rule_count(&self) -> usize {
        RULES.len() + self.books().iter().map(|book| book.rules().len()).sum::<usize>()
    }

    /// Calls this with each pass and the kernel that it is given, on whatever thread compiles it.
    pub fn before(&mut self, hook: impl Fn(&str, &Kernel) + Send + Sync + 'static) {
        Arc::make_mut(&mut self.0).before.push(Arc::new(hook));
    }

    /// Calls this with each pass and the kernel that it leaves, on whatever thread compiles it.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::pass::{Context, PassError};

    struct Own(&'static str);

    impl Pass for Own {
        fn name(&self) -> &str {
            self.0
        }

        fn run(&self, _: &mut Kernel, _: &mut Context<'_>) -> Result<bool, PassError> {
            Ok(false)
        }
    }

    #[test]
    fn edits_go_by_every_place_of_a_name() {
        let mut pipeline = Pipeline::named(["canon", "gvn", "canon", "dce"]).unwrap();
        let unedited = pipeline.clone();
        pipeline.insert_before("canon", Own("a")).unwrap();
        pipeline.insert_after("canon", Own("b")).unwrap();
        assert_eq!(pipeline.names().collect::<Vec<_>>(), ["a", "canon", "gvn", "canon", "b", "dce"]);
        pipeline.replace("canon", Own("c")).unwrap();
        pipeline.remove("gvn").unwrap();
        pipeline.push(Own("d"));
        assert_eq!(pipeline.names().collect::<Vec<_>>(), ["a", "c", "c", "b", "dce", "d"]);
        assert_eq!(unedited.names().collect::<Vec<_>>(), ["canon", "gvn", "canon", "dce"]);
        let error = pipeline.insert_after("dces", Own("e")).unwrap_err();
        assert_eq!(error.to_string(), "there is no pass `dces`, did you mean `dce`?; the passes are a, c, b, dce, d");
    }

    #[test]
    fn the_default_is_the_order() {
        assert_eq!(Pipeline::default().names().collect::<Vec<_>>(), ORDER);
    }
}
