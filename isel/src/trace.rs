//! What selection tells of itself when it is asked: the rules that it takes, and those that match in part.

use cranelift_entity::EntitySet;
use halfbyte_ir::rule::{Datum, Depth, Found, Vocabulary, Walk, walk};
use halfbyte_ir::{Inst, Kernel, Rule, Value};

/// The term of the rules that select ops.
const LOWER: &str = "lower";

/// What is told of the selection of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    asked: EntitySet<Inst>,
    /// What was selected, users before what they use. What is not here was emitted by no rule of its own.
    pub selections: Vec<Selection>,
}

/// The selection of an instruction.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The instruction; none for what stands before the first.
    pub inst: Option<Inst>,
    /// The rules that were taken, by number, in the order in which they were.
    pub taken: Vec<Taken>,
    /// The other rules of the terms that were asked, as far as they match.
    pub near: Vec<Near>,
}

/// A rule that was taken.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Its number in [`Backend::rules`](crate::Backend::rules).
    pub rule: u32,
    /// What it was taken for, where that is an instruction or a value.
    pub at: Option<Found>,
    /// The values whose definitions its pattern looked at.
    pub through: Vec<Value>,
}

/// A rule that was not taken.
#[derive(Clone, Debug)]
pub struct Near {
    /// Its number in [`Backend::rules`](crate::Backend::rules).
    pub rule: u32,
    /// What it was asked of.
    pub at: Found,
    /// How far it matches; where nothing failed, a rule of a higher priority was taken.
    pub walk: Walk,
}

impl Trace {
    /// Which rules match in part is told of these instructions, and of what uses them.
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

    /// What is taken from now on is taken for this instruction; `at` is the same for the rules.
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

    /// A rule is taken, for an instruction or value where its term is asked of one.
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
        self.selection().taken.push(Taken { rule, at: at.map(Datum::found), through });
    }

    fn near<V: Vocabulary>(&mut self, vocabulary: &mut V, rules: &'static [Rule], term: &str, at: &V::Datum) {
        for (number, rule) in (0..).zip(rules).filter(|(_, rule)| rule.term == term) {
            let walk = walk(vocabulary, rule, std::slice::from_ref(at));
            let at = at.found();
            // Rules for other ops are most of them, and say nothing.
            let is_other = walk.miss.as_ref().is_some_and(|miss| miss.depth == Depth::Nothing);
            if !(is_other && matches!(at, Found::Inst(_))) {
                self.selection().near.push(Near { rule: number, at, walk });
            }
        }
    }
}

/// The methods of the rules' `Context` by which rules tell that they are taken, and those that tell more where a trace is
/// kept. The rules' module is `rules`, and their table is `$rules`.
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

            /// Where a trace is kept, tells it that an instruction is selected now.
            pub(super) fn begin(&mut self, inst: Inst) {
                let Some(trace) = self.trace.take() else { return };
                let (kernel, table) = (self.kernel, $rules);
                trace.begin(&mut rules::Terms(self), kernel, table, inst, &rules::Datum::Inst(inst));
                self.trace = Some(trace);
            }
        }
    };
}

/// The compiled rules of a target as module `rules`, what they need of `Lowering`, which has a `kernel` and a `depth`, and what tells that one is
/// taken.
macro_rules! compiled_rules {
    ($target:literal, $rules:expr) => {
        /// The compiled rules.
        #[allow(
            dead_code,
            unused_variables,
            unused_imports,
            unused_mut,
            unreachable_patterns,
            non_snake_case,
            irrefutable_let_patterns,
            missing_docs,
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

        /// How many ops an operand may fold.
        const MAX_DEPTH: u32 = 16;

        impl Lowering<'_> {
            fn kernel(&self) -> &Kernel {
                self.kernel
            }

            /// Folds an operand's operand, as long as that is not too deep for the stack.
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
