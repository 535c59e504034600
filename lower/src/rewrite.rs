//! The rewriter: the functions that the generated code of the rules calls to inspect and create instructions.
//!
//! A rule inspects an instruction and the instructions that define its operands. New instructions belong to no block
//! until the calling pass places them in one.

use std::fmt::Debug;

use halfbyte_ir::eval::{Operand, fold, pack, unpack};
use halfbyte_ir::rule::{Walk, walk};
use halfbyte_ir::{
    Attr, Axis, Elem, FloatCC, FloatFlags, Inst, IntCC, Kernel, KnownValues, LaneMap, MemAttr, Op, Rule, Span, Type,
    Value,
};
use smallvec::SmallVec;

use crate::range::{self, Range};
use crate::reciprocal::{Division, Reciprocal};
use crate::word_lanes::SwarOp;

#[doc(hidden)]
pub type Unit = ();
#[doc(hidden)]
pub type FloatCond = (FloatCC, bool);
#[doc(hidden)]
pub type AxisOf = Option<Axis>;

#[allow(
    dead_code,
    unused_variables,
    unused_imports,
    unused_mut,
    unused_assignments,
    unreachable_code,
    unreachable_patterns,
    irrefutable_let_patterns,
    non_snake_case,
    non_camel_case_types,
    missing_docs,
    unreachable_pub,
    clippy::all
)]
mod generated {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/lower.rs"));
    include!(concat!(env!("OUT_DIR"), "/lower_terms.rs"));
}

#[allow(unreachable_pub)]
mod table {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/lower_rules.rs"));
}

include!(concat!(env!("OUT_DIR"), "/ir_methods.rs"));

// The macro of the included file is only in scope after it.
mod context;

pub use table::RULES;

/// Maximum number of expansions that the rules may return for one instruction.
#[doc(hidden)]
pub const MAX_ISLE_RETURNS: usize = 32;

/// Maximum number of lanes that a type has.
const MAX_LANES: usize = 16;

/// A set of additional rules, which `canon` and `legalise` apply after the built-in rules
/// ([`Pipeline::with_rules`](crate::Pipeline::with_rules)). `halfbyte-rulebook` compiles a rule
/// book in a build script, and [`rule_book!`](crate::rule_book) includes the generated code.
pub trait RuleBook: Debug + Sync {
    /// Returns the name of the book, which precedes the names of its rules: `name::rule`.
    fn name(&self) -> &'static str;

    /// Returns the rules of the book. A rule reports its index in this list when it is applied.
    fn rules(&self) -> &'static [Rule];

    /// Returns a value that equals the result of an instruction bit for bit on all inputs, and may replace the result.
    fn simplify(&self, rewriter: &mut Rewriter<'_>, inst: Inst) -> Option<Value> {
        let _ = (rewriter, inst);
        None
    }

    /// Returns values that equal the result of an instruction but are computed by other ops: one
    /// value for each matching `expand` rule.
    fn expand(&self, rewriter: &mut Rewriter<'_>, inst: Inst) -> Vec<Value> {
        let _ = (rewriter, inst);
        Vec::new()
    }

    /// Matches a rule of the book against an instruction, and returns how far the rule matches.
    fn walk(&self, rewriter: &mut Rewriter<'_>, rule: &Rule, inst: Inst) -> Walk;
}

/// Returns the rule with a number. The built-in rules come first, then the rules of the books in order.
pub(crate) fn rule_of(books: &[&'static dyn RuleBook], number: u32) -> Option<&'static Rule> {
    let others = books.iter().flat_map(|book| book.rules());
    RULES.iter().chain(others).nth(number as usize)
}

/// Inspects and creates instructions for the rules. It is the `Context` of the code that ISLE generates.
pub struct Rewriter<'k> {
    kernel: &'k mut Kernel,
    known: KnownValues<'k>,
    span: Span,
    made: Vec<Inst>,
    fired: Vec<u32>,
    books: Vec<&'static dyn RuleBook>,
    /// Number of the first rule of the book that is being applied.
    first: u32,
}

/// A possible expansion of an instruction.
pub(crate) struct Candidate {
    /// Number of the rule that returned the expansion.
    pub rule: u32,
    /// Value that equals the instruction's result.
    pub value: Value,
}

impl<'k> Rewriter<'k> {
    /// Creates a rewriter for the built-in rules and the rules of `books`.
    pub(crate) fn new(kernel: &'k mut Kernel, books: &[&'static dyn RuleBook]) -> Rewriter<'k> {
        let (made, fired, books) = (Vec::new(), Vec::new(), books.to_vec());
        Rewriter { kernel, known: KnownValues::default(), span: Span::default(), made, fired, books, first: 0 }
    }

    /// Sets the facts about values that the rules use.
    #[must_use]
    pub(crate) fn with_known(mut self, known: KnownValues<'k>) -> Rewriter<'k> {
        self.known = known;
        self
    }

    /// Returns a range that contains the lanes of a value, as signed numbers.
    fn signed_range(&mut self, value: Value) -> Range {
        self.known.of(self.kernel, value).signed()
    }

    /// Returns a range that contains the lanes of a value, as unsigned numbers.
    fn unsigned_range(&mut self, value: Value) -> Range {
        self.known.of(self.kernel, value).unsigned()
    }

    /// Returns the unsigned division of a value by a constant.
    fn division_u(&mut self, x: Value, divisor: i64) -> Option<Division> {
        Division::unsigned(self.kernel.ty(x), &self.unsigned_range(x), divisor)
    }

    /// Returns the signed division of a value by a constant.
    fn division_s(&mut self, x: Value, divisor: i64) -> Option<Division> {
        Division::signed(self.kernel.ty(x), &self.signed_range(x), divisor)
    }

    /// Succeeds if a range that is computed from the ranges of two values lies within the range of
    /// the values' lanes.
    fn fits(&mut self, is_signed: bool, [a, b]: [Value; 2], exact: impl Fn(&Range, &Range) -> Range) -> Option<()> {
        let ty = self.kernel.ty(a);
        let (range, all) = if is_signed {
            (exact(&self.signed_range(a), &self.signed_range(b)), range::signed_lanes(ty))
        } else {
            (exact(&self.unsigned_range(a), &self.unsigned_range(b)), range::unsigned_lanes(ty))
        };
        holds(range::is_in(&range, &all))
    }

    /// Applies the `simplify` rules to an instruction. Returns a value that may replace its result,
    /// if a rule matches. [`Rewriter::take_made`] returns the new instructions.
    pub(crate) fn simplify(&mut self, inst: Inst) -> Option<Value> {
        self.start(inst);
        generated::constructor_simplify(self, inst).or_else(|| self.by_books(|book, own| book.simplify(own, inst)))
    }

    /// Calls `ask` for the additional books in order, and returns the first result.
    fn by_books<T>(&mut self, mut ask: impl FnMut(&dyn RuleBook, &mut Self) -> Option<T>) -> Option<T> {
        if self.books.is_empty() {
            return None;
        }
        let books = std::mem::take(&mut self.books);
        self.first = RULES.len() as u32;
        let mut given = None;
        for &book in &books {
            given = ask(book, self);
            if given.is_some() {
                break;
            }
            self.first += book.rules().len() as u32;
        }
        self.first = 0;
        self.books = books;
        given
    }

    /// Returns all `simplify` rules with their numbers, and how far each of them matches an instruction.
    pub(crate) fn walk_simplify(&mut self, inst: Inst) -> Vec<(u32, &'static Rule, Walk)> {
        let simplifies = |(_, rule): &(u32, &Rule)| rule.term == "simplify";
        let at = [generated::Datum::Inst(inst)];
        let own = (0..).zip(RULES).filter(simplifies);
        let mut walks: Vec<_> =
            own.map(|(number, rule)| (number, rule, walk(&mut generated::Terms(self), rule, &at))).collect();
        self.by_books(|book, own| {
            let rules = (own.first..).zip(book.rules()).filter(simplifies);
            walks.extend(rules.map(|(number, rule)| (number, rule, book.walk(own, rule, inst))));
            None::<()>
        });
        walks
    }

    /// Returns the results of all `expand` rules that match an instruction.
    pub(crate) fn expand(&mut self, inst: Inst) -> Vec<Candidate> {
        self.start(inst);
        let mut values = Vec::new();
        generated::constructor_expand(self, inst, &mut values);
        let mut candidates = self.candidates(RULES, 0, values);
        self.by_books(|book, own| {
            let fired = own.fired.len();
            let values = book.expand(own, inst);
            candidates.extend(own.candidates(book.rules(), fired, values));
            None::<()>
        });
        candidates
    }

    /// Pairs each value that a book's `expand` returned with the rule that returned it. The applied
    /// rules are in `fired` from index `from` on.
    fn candidates(&self, rules: &[Rule], from: usize, values: impl IntoIterator<Item = Value>) -> Vec<Candidate> {
        let is_expansion = |&rule: &u32| {
            let rule = rule.checked_sub(self.first).and_then(|number| rules.get(number as usize));
            rule.is_some_and(|rule| rule.term == "expand")
        };
        let fired = self.fired.iter().skip(from).copied().filter(is_expansion);
        fired.zip(values).map(|(rule, value)| Candidate { rule, value }).collect()
    }

    /// Returns the instructions that were created since the last call. Definitions precede their uses.
    pub(crate) fn take_made(&mut self) -> Vec<Inst> {
        std::mem::take(&mut self.made)
    }

    /// Returns the numbers of the rules that were applied for the last instruction.
    pub(crate) fn fired(&self) -> &[u32] {
        &self.fired
    }

    /// Returns the kernel that is being rewritten.
    pub fn kernel(&self) -> &Kernel {
        self.kernel
    }

    pub(crate) fn kernel_mut(&mut self) -> &mut Kernel {
        self.kernel
    }

    /// Sets the source span of new instructions to that of `inst`.
    pub(crate) fn stand_at(&mut self, inst: Inst) {
        self.span = self.kernel.insts[inst].span;
    }

    fn start(&mut self, inst: Inst) {
        self.stand_at(inst);
        self.made.clear();
        self.fired.clear();
    }

    /// Creates an instruction and returns its result. The calling pass places the instruction in a block.
    pub fn make(&mut self, op: Op, ty: Type, attr: Attr, args: &[Value]) -> Value {
        let result = op.row().result_type(ty);
        let inst = self.kernel.make_inst(op, ty, attr, args, Some(result.unwrap_or(ty)), self.span);
        self.made.push(inst);
        // `make_inst` always creates the result.
        self.kernel.result(inst).unwrap_or_else(|| Value::from_u32(0))
    }

    /// Creates a constant and returns it. Lane `i` consists of the low bits of `lane(i)`.
    fn constant_of(&mut self, ty: Type, lane: impl Fn(usize) -> u64) -> Value {
        let mut lanes = [0; MAX_LANES];
        let lanes = lanes.get_mut(..ty.lanes()).unwrap_or_default();
        for (i, slot) in lanes.iter_mut().enumerate() {
            *slot = lane(i) & ty.elem().mask();
        }
        let attr = self.kernel.const_attr(ty, pack(ty, lanes));
        self.make(Op::Const, ty, attr, &[])
    }

    /// Returns the lane type and the bits of a splat constant.
    fn lane_of(&self, value: Value) -> Option<(Elem, u64)> {
        let (ty, lanes) = constant_lanes(self.kernel, value)?;
        let lanes = lanes.get(..ty.lanes())?;
        let &first = lanes.first()?;
        lanes.iter().all(|&lane| lane == first).then_some((ty.elem(), first))
    }

    fn is_lane(&self, value: Value, lane: fn(Elem) -> Option<u64>) -> Option<()> {
        let (elem, found) = self.lane_of(value)?;
        (lane(elem) == Some(found)).then_some(())
    }

    fn float(&mut self, ty: Type, lane: fn(Elem) -> Option<u64>) -> Value {
        let bits = lane(ty.elem()).unwrap_or(0);
        self.constant_of(ty, |_| bits)
    }
}

/// Items that the generated code of additional rule books uses.
#[doc(hidden)]
pub mod terms {
    pub extern crate alloc;
    pub use halfbyte_ir as ir;
    pub use halfbyte_ir::rule::{Walk, walk};
    pub use halfbyte_ir::{Attr, FloatCC, FloatFlags, Inst, IntCC, LaneMap, MemAttr, Op, Rule, Type, Value};

    pub use super::generated::Context as Prelude;
    pub use super::{AxisOf, FloatCond, MAX_ISLE_RETURNS, Rewriter, RuleBook, Unit};
}

/// Returns `true` if a value is a constant.
fn is_constant(kernel: &Kernel, value: Value) -> bool {
    kernel.def_inst(value).is_some_and(|inst| kernel.insts[inst].op == Op::Const)
}

/// Sign-extends the bits of a lane to 64 bits.
pub(crate) fn signed_lane(elem: Elem, lane: u64) -> i64 {
    let unused = 64 - elem.bits();
    (lane << unused).cast_signed() >> unused
}

/// Returns the type and the lanes of a constant.
pub(crate) fn constant_lanes(kernel: &Kernel, value: Value) -> Option<(Type, [u64; MAX_LANES])> {
    let inst = kernel.def_inst(value)?;
    let bits = kernel.const_bits(inst)?;
    let ty = kernel.ty(value);
    let mut lanes = [0; MAX_LANES];
    unpack(ty, &bits, lanes.get_mut(..ty.lanes())?);
    Some((ty, lanes))
}

/// Returns `true` if an instruction has operands and all of them are constants.
#[inline]
pub(crate) fn has_constants_alone(kernel: &Kernel, inst: Inst) -> bool {
    let args = kernel.args(inst);
    !args.is_empty() && args.iter().all(|&arg| is_constant(kernel, arg))
}

/// Evaluates a pure instruction with constant operands. Returns the type of the result and its 64-bit words.
pub(crate) fn constant_result(kernel: &Kernel, inst: Inst) -> Option<(Type, [u64; 8])> {
    let args = kernel.args(inst);
    let data = &kernel.insts[inst];
    let ty = kernel.ty(data.result.expand().filter(|_| data.op.is_pure())?);
    // A constant cannot have the type `ptr`.
    if ty == Type::PTR {
        return None;
    }
    let constants: SmallVec<[(Type, [u64; MAX_LANES]); 4]> =
        args.iter().map(|&arg| constant_lanes(kernel, arg)).collect::<Option<_>>()?;
    let operands: SmallVec<[Operand<'_>; 4]> = constants
        .iter()
        .map(|(ty, lanes)| Operand { ty: *ty, lanes: lanes.get(..ty.lanes()).unwrap_or_default() })
        .collect();
    let mut out = [0; MAX_LANES];
    let out = out.get_mut(..ty.lanes())?;
    fold(data.op, data.attr, &operands, ty, out).then(|| (ty, pack(ty, out)))
}

fn one(elem: Elem) -> Option<u64> {
    match elem {
        Elem::F16 => Some(0x3c00),
        Elem::BF16 => Some(0x3f80),
        Elem::F32 => Some(0x3f80_0000),
        Elem::F64 => Some(0x3ff0_0000_0000_0000),
        _ => None,
    }
}

fn negative_zero(elem: Elem) -> Option<u64> {
    one(elem).map(|_| 1 << (elem.bits() - 1))
}

fn holds(condition: bool) -> Option<()> {
    condition.then_some(())
}

/// Creates a lane map. `source` returns the number of the source lane for a lane of the result.
fn lane_map(lanes: usize, source: impl Fn(usize) -> usize) -> LaneMap {
    let map: [u8; MAX_LANES] = std::array::from_fn(|i| if i < lanes { source(i) as u8 } else { 0 });
    LaneMap::new(&map)
}
