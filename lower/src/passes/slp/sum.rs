//! Sums of lanes: sums of products, of absolute differences and of plain lanes, whose terms are the lanes of words.

use halfbyte_ir::{Inst, Kernel, Op, Type, Value};
use smallvec::SmallVec;

use super::group::Register;
use super::lane_op::{Extension, Kind, NarrowOpFinder, int_word};
use super::profit::Effect;
use super::slice::{Slice, fits_u, source};
use super::{Lanes, Root, Search, Word};

/// Maximum number of terms of a sum.
const MAX_TERMS: usize = 32;
/// Maximum number of ops between a term and the register that determines its lane.
const DEPTH: u32 = 4;

/// A sum of the lanes of words: `op` on the words of two lane groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneSum {
    pub op: Op,
    pub ty: Type,
    /// Indices of the lane groups of the operands. Both are equal if the op has one operand.
    pub args: [usize; 2],
}

impl LaneSum {
    /// Returns `true` if the op has an accumulator operand.
    pub(super) fn accumulates(self) -> bool {
        !matches!(self.op, Op::ReduceAddU | Op::ReduceAddS)
    }
}

/// Kind of a term: a function of corresponding lanes of two words, or one lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum TermKind {
    Product,
    DistanceU,
    DistanceS,
    Lane,
}

/// Word and lane from which a term comes. Terms from the same word differ only in `lane`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct LaneOrigin {
    of: Value,
    index: Option<Value>,
    word: i32,
    lane: u32,
}

#[derive(Clone, Copy)]
struct Term {
    value: Value,
    kind: TermKind,
    /// Slices of the operands. Both are equal if the term has one operand.
    args: [Slice; 2],
    /// Factors of a product. For any other term, both are the value of the term.
    values: [Value; 2],
    home: LaneOrigin,
}

impl Search<'_> {
    /// Returns the words that replace a sum of lanes.
    pub(super) fn summed(&mut self, kernel: &Kernel, inst: Inst) -> Option<Word> {
        let is_whole = |&root: &Value| self.uses[root] > 0 && !self.gone.contains(root) && !self.partial.contains(root);
        let root = kernel.result(inst).filter(is_whole)?;
        let terms = self.terms(kernel, inst);
        if terms.len() < 2 {
            return None;
        }
        self.root = Some(root);
        for width in [8, 16] {
            if let Some((word, effect)) = self.sum_of(kernel, inst, &terms, width) {
                self.commit(kernel, &word.removed, &effect);
                return Some(word);
            }
        }
        None
    }

    /// Returns the terms of a sum.
    fn terms(&mut self, kernel: &Kernel, inst: Inst) -> SmallVec<[Value; 8]> {
        let mut terms = SmallVec::new();
        let mut left: SmallVec<[Value; 8]> = kernel.args(inst).iter().rev().copied().collect();
        while let Some(value) = left.pop() {
            match kernel.def_inst(value) {
                Some(def)
                    if kernel.insts[def].op == Op::Add
                        && self.uses[value] == 1
                        && self.places[def].at > 0
                        && left.len() + terms.len() < MAX_TERMS =>
                {
                    self.partial.insert(value);
                    left.extend(kernel.args(def).iter().rev().copied());
                }
                _ => terms.push(value),
            }
        }
        terms
    }

    fn sum_of(&mut self, kernel: &Kernel, inst: Inst, values: &[Value], width: u32) -> Option<(Word, Effect)> {
        let count = 32 / width as usize;
        if values.len() < count {
            return None;
        }
        let mut terms: Vec<Term> = values.iter().filter_map(|&value| term(kernel, value, width)).collect();
        terms.sort_by_key(|term| (term.kind, term.home));
        self.kept.clear();
        loop {
            self.groups.clear();
            let mut rest: SmallVec<[Value; 8]> = SmallVec::from_slice(values);
            let mut sums: Vec<LaneSum> = Vec::new();
            let mut next = 0;
            while let Some(taken) = terms.get(next..next + count) {
                match self.lane_sum(kernel, taken, width) {
                    Some(sum) => {
                        sums.push(sum);
                        for term in taken {
                            if let Some(at) = rest.iter().position(|&value| value == term.value) {
                                rest.remove(at);
                            }
                        }
                        next += count;
                    }
                    None => next += 1,
                }
            }
            if sums.is_empty() {
                return None;
            }
            let begin = Root::Sum { inst, sums, rest };
            match self.effect(kernel, &begin, &self.groups) {
                Err(needed) => self.kept.extend(self.groups.get(needed).map(|group| group.lanes.clone())),
                Ok(mut effect) => {
                    if effect.saved <= 0 {
                        return None;
                    }
                    let removed = std::mem::take(&mut effect.removed);
                    let groups = std::mem::take(&mut self.groups);
                    let word = Word { begin, ty: int_word(width), groups, tops: SmallVec::new(), removed };
                    return Some((word, effect));
                }
            }
        }
    }

    /// Returns the op that adds up the terms, if the terms are the lanes of one word in order.
    fn lane_sum(&mut self, kernel: &Kernel, terms: &[Term], width: u32) -> Option<LaneSum> {
        let &first = terms.first()?;
        let is_next =
            |(lane, term): (u32, &Term)| term.kind == first.kind && term.home == LaneOrigin { lane, ..first.home };
        if !(0..).zip(terms).all(is_next) {
            return None;
        }
        let narrow = NarrowOpFinder::new(kernel, width);
        let extension = |number: usize| {
            [Extension::Zero, Extension::Sign].into_iter().find(|&extension| {
                terms
                    .iter()
                    .all(|term| term.values.get(number).is_some_and(|&value| narrow.is_extension(value, extension)))
            })
        };
        let ty = int_word(width);
        let (op, swap) = match first.kind {
            TermKind::DistanceU => (Op::SadU, false),
            TermKind::DistanceS => (Op::SadS, false),
            TermKind::Lane => match extension(0)? {
                Extension::Zero => (Op::ReduceAddU, false),
                Extension::Sign => (Op::ReduceAddS, false),
            },
            TermKind::Product => match (extension(0)?, extension(1)?) {
                (Extension::Zero, Extension::Zero) => (Op::Dot4U, false),
                (Extension::Sign, Extension::Sign) => (Op::Dot4S, false),
                (Extension::Sign, Extension::Zero) => (Op::Dot4SU, false),
                (Extension::Zero, Extension::Sign) => (Op::Dot4SU, true),
            },
        };
        if !self.legality.is_native(op, ty) {
            return None;
        }
        let lanes =
            |number: usize| terms.iter().filter_map(|term| term.args.get(number).copied()).collect::<Lanes<Slice>>();
        let marked = self.groups.len();
        let a = self.group(kernel, ty, &lanes(0));
        let b = if first.kind == TermKind::Lane { a } else { self.group(kernel, ty, &lanes(1)) };
        let Some((a, b)) = a.zip(b) else {
            self.groups.truncate(marked);
            return None;
        };
        Some(LaneSum { op, ty, args: if swap { [b, a] } else { [a, b] } })
    }
}

/// Returns a value as the term of a sum of lanes of `width` bits.
fn term(kernel: &Kernel, value: Value, width: u32) -> Option<Term> {
    let narrow = NarrowOpFinder::new(kernel, width);
    let inst = kernel.def_inst(value)?;
    let whole = source(kernel, Slice::lowest(value), width);
    // Products of half-words are excluded, because targets multiply pairs of half-words one by one.
    if let (Op::Mul, &[a, b], 8) = (kernel.insts[inst].op, kernel.args(inst), width) {
        let home_of = |value: Value| lane_origin(kernel, Slice::lowest(value), width, DEPTH);
        // The operands have the same order in all terms.
        let (x, y) = match (home_of(a), home_of(b)) {
            (Some(x), Some(y)) if y < x => (b, a),
            (None, Some(_)) => (b, a),
            _ => (a, b),
        };
        let fits = [x, y]
            .iter()
            .all(|&value| narrow.is_extension(value, Extension::Zero) || narrow.is_extension(value, Extension::Sign));
        let home = home_of(x).filter(|_| fits)?;
        let args = [x, y].map(Slice::lowest);
        return Some(Term { value, kind: TermKind::Product, args, values: [x, y], home });
    }
    let is_unsigned = fits_u(kernel, value, width);
    if is_unsigned && let Some(op) = narrow.lane_op(whole) {
        let kind = match op.kind {
            Kind::Op(Op::AbsDiffU, _) => Some(TermKind::DistanceU),
            Kind::Op(Op::AbsDiffS, _) => Some(TermKind::DistanceS),
            _ => None,
        };
        if let (Some(kind), &[a, b]) = (kind, &op.args[..]) {
            // The operands have the same order in all terms.
            let home_of = |slice: Slice| lane_origin(kernel, slice, width, DEPTH);
            let (args, home) = match (home_of(a), home_of(b)) {
                (Some(x), Some(y)) if y < x => ([b, a], y),
                (None, Some(y)) => ([b, a], y),
                (x, _) => ([a, b], x?),
            };
            return Some(Term { value, kind, args, values: [value; 2], home });
        }
    }
    let is_lane = is_unsigned || narrow.is_extension(value, Extension::Sign);
    let home = lane_origin(kernel, whole, width, DEPTH).filter(|_| is_lane)?;
    Some(Term { value, kind: TermKind::Lane, args: [whole; 2], values: [value; 2], home })
}

/// Returns the word and the lane of the first register or load from which a slice is computed.
fn lane_origin(kernel: &Kernel, slice: Slice, width: u32, depth: u32) -> Option<LaneOrigin> {
    let depth = depth.checked_sub(1)?;
    let end = source(kernel, slice, width);
    let Slice::Bits { of, low } = end else { return None };
    let def = kernel.def_inst(of);
    if let Some(inst) = def
        && kernel.insts[inst].op == Op::Load
        && kernel.ty(of).bits() == width
        && let halfbyte_ir::Attr::Mem(mem) = kernel.insts[inst].attr
        && let &[base, ref index @ ..] = kernel.args(inst)
    {
        let lane = mem.offset.rem_euclid(4) as u32 / (width / 8);
        return Some(LaneOrigin { of: base, index: index.first().copied(), word: mem.offset.div_euclid(4), lane });
    }
    if let Some(op) = NarrowOpFinder::new(kernel, width).lane_op(end) {
        return op.args.iter().find_map(|&arg| lane_origin(kernel, arg, width, depth));
    }
    let Register { of, number } = Register { of, number: (low / 32) as u8 };
    Some(LaneOrigin { of, index: None, word: number.into(), lane: low % 32 / width })
}
