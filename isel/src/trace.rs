//! Trace of instruction selection: the rules that fire, and the rules that match only in part.

use cranelift_entity::EntitySet;
use halfbyte_ir::rule::{Datum, Found, MatchExtent, Vocabulary, Walk, walk};
use halfbyte_ir::{Inst, Kernel, Rule, Value};

/// Name of the term whose rules select instructions for ops.
const LOWER: &str = "lower";

/// Trace of the instruction selection of one kernel.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    asked: EntitySet<Inst>,
    /// Selected instructions of the kernel, users before definitions. An instruction that was
    /// folded into all its users is absent.
    pub selections: Vec<Selection>,
}

/// Selection of one instruction.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Instruction of the kernel. `None` stands for the rules that fired before the first instruction.
    pub inst: Option<Inst>,
    /// Rules that fired for the instruction, in order.
    pub taken: Vec<FiredRule>,
    /// Rules of the same terms that did not fire, with the extent to which each of them matched.
    pub near: Vec<PartialMatch>,
}

/// Selection rule that fired.
#[derive(Clone, Debug)]
pub struct FiredRule {
    /// Index into [`Backend::rules`](crate::Backend::rules).
    pub rule: u32,
    /// Instruction or value to which the rule's term was applied, if the argument is one of these.
    pub at: Option<Found>,
    /// Values whose definitions the pattern of the rule inspected.
    pub through: Vec<Value>,
}

/// Selection rule that did not fire.
#[derive(Clone, Debug)]
pub struct PartialMatch {
    /// Index into [`Backend::rules`](crate::Backend::rules).
    pub rule: u32,
    /// Instruction or value to which the rule's term was applied.
    pub at: Found,
    /// Extent to which the pattern matched. If all of it matched, a rule of higher priority fired instead.
    pub walk: Walk,
}

impl Trace {
    /// Creates an empty trace. Partial matches are recorded only for the instructions `asked` and
    /// for instructions that use their results directly.
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

    /// Attributes the rules that fire from now on to `inst`. `at` is the same instruction, as a value that rules match.
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

    /// Records that a rule fired. `at` is the argument to which the rule's term was applied, if it
    /// is an instruction or a value.
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
            // A rule whose pattern names another op is not recorded, because its mismatch tells nothing.
            let is_other = walk.miss.as_ref().is_some_and(|miss| miss.depth == MatchExtent::Nothing);
            if !(is_other && matches!(at, Found::Inst(_))) {
                self.selection().near.push(PartialMatch { rule: number, at, walk });
            }
        }
    }
}

/// Methods of the rules' `Context` that report fired rules, and record a trace if one is requested.
/// `$rules` is the table of the compiled rules.
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

            /// If a trace is requested, records that selection of `inst` begins.
            pub(super) fn begin(&mut self, inst: Inst) {
                let Some(trace) = self.trace.take() else { return };
                let (kernel, table) = (self.kernel, $rules);
                trace.begin(&mut rules::Terms(self), kernel, table, inst, &rules::Datum::Inst(inst));
                self.trace = Some(trace);
            }
        }
    };
}

/// Includes the compiled rules of a target as module `rules`. Also defines the methods of `Lowering` that the rules
/// need, and those that report fired rules. `Lowering` must have the fields `kernel` and `depth`.
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

        /// Maximum number of operand folds that are nested in each other.
        const MAX_DEPTH: u32 = 16;

        impl Lowering<'_> {
            fn kernel(&self) -> &Kernel {
                self.kernel
            }

            /// Calls `fold` for an operand of a folded operand. At the maximum depth, calls `plain`
            /// instead, which does not fold. This limits stack usage.
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
