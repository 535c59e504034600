//! Trace of selection: the rules that fire, and the rules that match partially.

use cranelift_entity::EntitySet;
use halfbyte_ir::rule::{Datum, Found, MatchExtent, Vocabulary, Walk, walk};
use halfbyte_ir::{Inst, Kernel, Rule, Value};

/// Term of the rules that select ops.
const LOWER: &str = "lower";

/// Trace of a kernel's selection.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    asked: EntitySet<Inst>,
    /// Selected instructions, users before definitions. An instruction that is absent was folded
    /// into others.
    pub selections: Vec<Selection>,
}

/// Selection of one instruction.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The instruction, or `None` before the first one.
    pub inst: Option<Inst>,
    /// Rules that fired, in order.
    pub taken: Vec<FiredRule>,
    /// Rules of the same terms that did not fire, with how far each matched.
    pub near: Vec<PartialMatch>,
}

/// Rule that fired.
#[derive(Clone, Debug)]
pub struct FiredRule {
    /// Index into [`Backend::rules`](crate::Backend::rules).
    pub rule: u32,
    /// Instruction or value that the rule's term was applied to, if it is one of these.
    pub at: Option<Found>,
    /// Values whose definitions the pattern inspected.
    pub through: Vec<Value>,
}

/// Rule that did not fire.
#[derive(Clone, Debug)]
pub struct PartialMatch {
    /// Index into [`Backend::rules`](crate::Backend::rules).
    pub rule: u32,
    /// Instruction or value that the rule's term was applied to.
    pub at: Found,
    /// How far the pattern matches. If nothing failed, a rule of higher priority fired instead.
    pub walk: Walk,
}

impl Trace {
    /// Creates a trace. Partial matches are recorded only for the `asked` instructions and their
    /// direct users.
    pub fn new(asked: impl IntoIterator<Item = Inst>) -> Trace {
        let mut set = EntitySet::new();
        set.extend(asked);
        Trace { asked: set, selections: Vec::new() }
    }

    fn is_asked(&self, kernel: &Kernel, value: Value) -> bool {
        kernel.def_inst(value).is_some_and(|inst| self.asked.contains(inst))
    }

    fn selection(&mut self) -> &mut Selection {
        if self.selections.is_empty() {
            self.selections.push(Selection { inst: None, taken: Vec::new(), near: Vec::new() });
        }
        let last = self.selections.len() - 1;
        &mut self.selections[last]
    }

    /// Attributes the rules that fire from now on to `inst`; `at` is the same instruction as a
    /// datum of the rules.
    pub(crate) fn begin<V: Vocabulary>(
        &mut self,
        vocabulary: &mut V,
        kernel: &Kernel,
        rules: &'static [Rule],
        inst: Inst,
        at: &V::Datum,
    ) {
        self.selections.push(Selection { inst: Some(inst), taken: Vec::new(), near: Vec::new() });
        if self.asked.contains(inst) || kernel.args(inst).iter().any(|&arg| self.is_asked(kernel, arg)) {
            self.near(vocabulary, rules, LOWER, at);
        }
    }

    /// Records that a rule fired; `at` is the instruction or value that the rule's term was applied
    /// to, if any.
    pub(crate) fn taken<V: Vocabulary>(
        &mut self,
        vocabulary: &mut V,
        kernel: &Kernel,
        rules: &'static [Rule],
        rule: u32,
        at: Option<&V::Datum>,
    ) {
        let row = rules.get(rule as usize);
        let mut through = Vec::new();
        if let (Some(at), Some(row)) = (at, row) {
            through = walk(vocabulary, row, std::slice::from_ref(at)).through;
            if matches!(at.found(), Found::Value(value) if self.is_asked(kernel, value)) {
                self.near(vocabulary, rules, row.term, at);
            }
        }
        self.selection().taken.push(FiredRule { rule, at: at.map(Datum::found), through });
    }

    fn near<V: Vocabulary>(&mut self, vocabulary: &mut V, rules: &'static [Rule], term: &str, at: &V::Datum) {
        for (number, rule) in (0..).zip(rules).filter(|(_, rule)| rule.term == term) {
            let walk = walk(vocabulary, rule, std::slice::from_ref(at));
            let at = at.found();
            // Most rules are for other ops, and their mismatches are uninteresting.
            let is_other = walk.miss.as_ref().is_some_and(|miss| miss.depth == MatchExtent::Nothing);
            if !(is_other && matches!(at, Found::Inst(_))) {
                self.selection().near.push(PartialMatch { rule: number, at, walk });
            }
        }
    }
}

/// Methods of the rules' `Context` that report fired rules, and record more if a trace is kept. The
/// module of the compiled rules is `rules`, and their table is `$rules`.
macro_rules! trace_methods {
    () => {
        fn fired(&mut self, rule: u32) -> Unit {
            self.fired.push(rule);
            if self.trace.is_some() {
                self.tell(rule, None);
            }
        }

        fn fired_inst(&mut self, rule: u32, inst: Inst) -> Unit {
            self.fired.push(rule);
            if self.trace.is_some() {
                self.tell(rule, Some(rules::Datum::Inst(inst)));
            }
        }

        fn fired_value(&mut self, rule: u32, value: Value) -> Unit {
            self.fired.push(rule);
            if self.trace.is_some() {
                self.tell(rule, Some(rules::Datum::Value(value)));
            }
        }
    };
    ($rules:expr) => {
        impl Lowering<'_> {
            #[cold]
            fn tell(&mut self, rule: u32, at: Option<rules::Datum>) {
                let Some(trace) = self.trace.take() else { return };
                let kernel = self.kernel;
                trace.taken(&mut rules::Terms(self), kernel, $rules, rule, at.as_ref());
                self.trace = Some(trace);
            }

            /// Tells the trace, if one is kept, that selection of `inst` begins.
            pub(super) fn begin(&mut self, inst: Inst) {
                let Some(trace) = self.trace.take() else { return };
                let (kernel, table) = (self.kernel, $rules);
                trace.begin(&mut rules::Terms(self), kernel, table, inst, &rules::Datum::Inst(inst));
                self.trace = Some(trace);
            }
        }
    };
}

/// Includes the compiled rules of a target as module `rules`, with the methods that they need of
/// `Lowering` and the methods that report fired rules. `Lowering` must have fields `kernel` and
/// `depth`.
macro_rules! compiled_rules {
    ($target:literal, $rules:expr) => {
        /// Compiled rules.
        #[allow(
            dead_code,
            unused_variables,
            unused_imports,
            unused_mut,
            unreachable_patterns,
            non_snake_case,
            irrefutable_let_patterns,
            missing_docs,
            unreachable_pub,
            clippy::all
        )]
        pub(crate) mod rules {
            extern crate alloc;
            use super::*;
            include!(concat!(env!("OUT_DIR"), "/", $target, ".rs"));
            include!(concat!(env!("OUT_DIR"), "/", $target, "_terms.rs"));
        }

        include!(concat!(env!("OUT_DIR"), "/ir_methods.rs"));

        trace_methods!($rules);

        /// Maximum depth of nested folds of an operand.
        const MAX_DEPTH: u32 = 16;

        impl Lowering<'_> {
            fn kernel(&self) -> &Kernel {
                self.kernel
            }

            /// Folds an operand of an operand. At the maximum depth uses `plain` instead, to bound
            /// stack usage.
            fn deeper<T>(
                &mut self,
                value: Value,
                fold: fn(&mut Self, Value) -> T,
                plain: fn(&mut Self, Value) -> T,
            ) -> T {
                if self.depth == MAX_DEPTH {
                    return plain(self, value);
                }
                self.depth += 1;
                let result = fold(self, value);
                self.depth -= 1;
                result
            }
        }
    };
}

pub(crate) use compiled_rules;
pub(crate) use trace_methods;
