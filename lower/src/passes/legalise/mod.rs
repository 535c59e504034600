//! Legalisation: what the target lacks is made out of what it has.
//!
//! A `switch` becomes a chain of comparisons ([`switch`]), and a parameter of a block that no register holds several that registers
//! hold ([`passed`]). An op is made of others by the rules of `expand.isle`, `bits.isle`, `fp8.isle` and `soft.isle`: an
//! expansion is taken only if the target has all that it makes, perhaps by expansions in turn. A vector of sixteen bytes
//! for which that fails is worked on as its four words ([`words`]), sums of wider lanes as pairs of half-words ([`pairs`]) or as vectors of their bytes ([`planes`]), and whatever is on
//! vectors yet as lanes ([`lanes`]). What can't be made stays as it is, and selection says why the target refuses it.

pub(crate) mod lanes;
mod pairs;
mod passed;
mod pieces;
mod planes;
pub(crate) mod words;

use std::collections::{HashMap, HashSet};

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use halfbyte_ir::{Attr, Inst, Kernel, Legality, Narrowings, Op, Span, Type, Value};

use crate::pass::{BuiltIn, Context};
use crate::passes::{dce, switch};
use crate::rewrite::{Candidate, Rewriter, constant_lanes};
use crate::trace::{How, Tell};

/// The pass.
pub const PASS: BuiltIn = BuiltIn {
    name: "legalise",
    description: "makes ops that the target lacks out of those it has, by the rules of `expand.isle`, `bits.isle`, `fp8.isle` and `soft.isle`, or lane by lane",
    order: &[],
    run,
};

/// Expansions may go so deep; the deepest useful chain of rules has four.
const MAX_DEPTH: usize = 6;

/// So many expansions may be tried for an instruction.
const FUEL: u32 = 500;

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let mut changed = switch::run(kernel, context.legality);
    if changed {
        context.drop_flow();
    }
    changed |= passed::run(kernel, context.legality);
    let has_wide = kernel.values.values().any(|value| value.ty.is_wide());
    let narrowings = context.legality.narrowings().filter(|_| has_wide).map(|of| of(kernel));
    // Most kernels are of ops that the target has.
    let mut insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
    if insts.all(|&inst| stays(kernel, context.legality, inst) && !goes_beyond(kernel, narrowings.as_ref(), inst)) {
        return changed;
    }
    let flow = context.flow(kernel);
    let mut legaliser = Legaliser {
        rewriter: Rewriter::new(kernel, &context.books),
        context,
        replaced: SecondaryMap::new(),
        words: HashMap::new(),
        words_here: HashMap::new(),
        lanes: HashMap::new(),
        lanes_here: HashMap::new(),
        laneless: HashSet::new(),
        pairs_here: HashMap::new(),
        planes_here: HashMap::new(),
        narrowings,
        numbers: HashMap::new(),
        out: Vec::new(),
        hopeless: HashSet::new(),
        candidates: Vec::new(),
        fuel: 0,
        changed: false,
    };
    let mut poll = legaliser.context.poll();
    for block in flow.reverse_postorder() {
        legaliser.words_here.clear();
        legaliser.lanes_here.clear();
        legaliser.pairs_here.clear();
        legaliser.planes_here.clear();
        let insts = std::mem::take(&mut legaliser.kernel_mut().blocks[block].insts);
        for inst in insts {
            if poll.is_stopped() {
                return true;
            }
            legaliser.fuel = FUEL;
            legaliser.resolve(inst);
            legaliser.legalise(inst);
        }
        legaliser.kernel_mut().blocks[block].insts = std::mem::take(&mut legaliser.out);
    }
    let Legaliser { replaced, changed: rewritten, .. } = legaliser;
    context.keep_flow(flow);
    if rewritten {
        kernel.replace_uses(&replaced);
        dce::run(kernel, context);
        changed = true;
    }
    changed
}

/// Whether the target has the instruction: its op on its type, and the masks and counts among its operands. None converts FP8.
fn has(kernel: &Kernel, legality: &Legality, inst: Inst) -> bool {
    let data = &kernel.insts[inst];
    let mut operands = kernel.args(inst).iter().map(|&arg| kernel.ty(arg));
    legality.is_native(data.op, data.ty)
        && operands.all(|ty| has_mask(legality, ty))
        && has_count(kernel, legality, inst)
        && !(data.op == Op::Fcvt && kernel.args(inst).iter().any(|&arg| kernel.ty(arg).is_fp8()))
        && !is_part_of_wide(kernel, legality, inst)
}

/// Whether an instruction takes a part of what no register holds, on a target that works on such by parts.
fn is_part_of_wide(kernel: &Kernel, legality: &Legality, inst: Inst) -> bool {
    let takes_wide = || kernel.args(inst).iter().any(|&arg| kernel.ty(arg).is_wide());
    let by_parts = legality.lanes().is_none() || legality.narrowings().is_some();
    kernel.insts[inst].op == Op::Split && by_parts && takes_wide()
}

/// Whether an instruction is no shift of packed lanes, or one by a count that the target shifts them by.
fn has_count(kernel: &Kernel, legality: &Legality, inst: Inst) -> bool {
    let data = &kernel.insts[inst];
    let is_shift = matches!(data.op, Op::Shl | Op::ShrS | Op::ShrU) && !data.ty.is_scalar();
    let count = || kernel.args(inst).get(1).and_then(|&count| constant_lanes(kernel, count));
    !(is_shift && legality.has_constant_counts())
        || count().is_some_and(|(ty, lanes)| {
            let counts = lanes.get(..ty.lanes()).unwrap_or_default();
            counts.iter().all(|count| Some(count) == counts.first())
        })
}

/// Whether the type is no mask of several lanes, or one that a comparison of the target gives.
fn has_mask(legality: &Legality, ty: Type) -> bool {
    let gives = |op, of: Type| legality.is_native(op, of) && of.mask_type() == Some(ty);
    let mut compared = Type::ALL.iter();
    let is_given = |of: Type| of.lanes() == ty.lanes() && (gives(Op::Icmp, of) || gives(Op::Fcmp, of));
    !ty.is_mask() || ty.is_scalar() || compared.any(|&of| is_given(of))
}

/// Whether an instruction is not to be expanded: the target has it, or it does more than give a result and is no access that
/// can be one to a word.
fn stays(kernel: &Kernel, legality: &Legality, inst: Inst) -> bool {
    let by_pieces = pieces::are_needed(kernel, legality, inst);
    !by_pieces
        && (has(kernel, legality, inst) || !kernel.insts[inst].op.is_pure() && !is_word_access(kernel, legality, inst))
}

/// Whether an instruction narrows wide lanes of which the target does not compute at once what it gives, or which are there as bytes.
fn goes_beyond(kernel: &Kernel, narrowings: Option<&Narrowings>, inst: Inst) -> bool {
    let Some(of) = narrowings else { return false };
    let data = &kernel.insts[inst];
    let narrows = matches!(data.op, Op::Trunc | Op::NarrowSatS | Op::NarrowSatU | Op::NarrowSatUU);
    let wide = kernel.args(inst).first().copied().filter(|&arg| kernel.ty(arg).is_wide());
    let Some(wide) = wide.filter(|_| narrows && !data.ty.is_wide()) else { return false };
    data.op == Op::Trunc && planes::are_there(kernel, wide) || !of(kernel, inst)
}

/// Whether an instruction accesses a packed word, which the target does as one of integers only.
fn is_word_access(kernel: &Kernel, legality: &Legality, inst: Inst) -> bool {
    let data = &kernel.insts[inst];
    let is_packed = !data.ty.is_scalar() && !data.ty.is_mask() && data.ty.bits() == 32;
    let is_access = matches!(data.op, Op::Load | Op::Store);
    is_access && is_packed && !legality.is_native(data.op, data.ty) && legality.is_native(data.op, Type::I32)
}

/// An op on certain types that is being expanded.
type Step = (Op, Type, Option<Type>);

/// A way to make a value of ops that the target has.
struct Expansion {
    value: Value,
    insts: Vec<Inst>,
    rules: Vec<u32>,
}

impl Expansion {
    /// What is least of the best.
    fn cost(&self) -> (usize, usize) {
        (self.insts.len(), self.rules.len())
    }
}

pub(super) struct Legaliser<'k, 'c, 'l> {
    rewriter: Rewriter<'k>,
    context: &'c mut Context<'l>,
    replaced: SecondaryMap<Value, PackedOption<Value>>,
    /// The words of vectors, and of their masks, that were made where the vector is.
    pub words: HashMap<Value, [Value; 4]>,
    /// The words that were taken from vectors in this block.
    pub words_here: HashMap<Value, [Value; 4]>,
    /// The lanes of vectors, and of masks, that were made where the vector is.
    pub lanes: HashMap<Value, Vec<Value>>,
    /// The lanes that were taken from vectors in this block.
    pub lanes_here: HashMap<Value, Vec<Value>>,
    /// Vectors that the target has no lanes of.
    pub laneless: HashSet<Value>,
    /// The pairs that wide vectors were taken for in this block; none of those that have none.
    pub pairs_here: HashMap<Value, Option<pairs::Pairs>>,
    /// The planes of wide vectors that were made in this block; none of those that have none.
    pub planes_here: HashMap<Value, Option<planes::Planes>>,
    /// Which narrowings of wide lanes the target computes at once, where it has no others.
    narrowings: Option<Narrowings>,
    /// Which numbers the lanes of wide vectors can be, where that is known.
    pub numbers: HashMap<Value, Option<pairs::Range>>,
    /// The block's instructions as they become.
    out: Vec<Inst>,
    /// Forms of instructions without an expansion.
    hopeless: HashSet<(Op, Type, Attr, Option<Type>)>,
    /// The expansions of the instruction at hand that were tried, and how many instructions come of each; for the trace.
    candidates: Vec<(u32, Option<usize>)>,
    fuel: u32,
    changed: bool,
}

impl<'k> Legaliser<'k, '_, '_> {
    pub fn kernel(&self) -> &Kernel {
        self.rewriter.kernel()
    }

    fn kernel_mut(&mut self) -> &mut Kernel {
        self.rewriter.kernel_mut()
    }

    fn has(&self, inst: Inst) -> bool {
        has(self.kernel(), self.context.legality, inst)
    }

    /// The value that stands for this one now.
    pub fn current(&self, mut value: Value) -> Value {
        while let Some(next) = self.replaced[value].expand() {
            value = next;
        }
        value
    }

    fn resolve(&mut self, inst: Inst) {
        let args: smallvec::SmallVec<[Value; 4]> =
            self.kernel().args(inst).iter().map(|&arg| self.current(arg)).collect();
        let kernel = self.kernel_mut();
        let mut list = kernel.insts[inst].args;
        list.as_mut_slice(&mut kernel.pool).copy_from_slice(&args);
    }

    /// Places an instruction, or what it has to become.
    fn legalise(&mut self, inst: Inst) {
        if stays(self.kernel(), self.context.legality, inst)
            && !goes_beyond(self.kernel(), self.narrowings.as_ref(), inst)
        {
            self.out.push(inst);
            return;
        }
        self.rewriter.stand_at(inst);
        let before = self.context.trace.before(self.kernel(), inst);
        let placed = self.out.len();
        self.candidates.clear();
        let expansion = self.kernel().result(inst).and_then(|result| Some((result, self.whole_expansion(inst)?)));
        let candidates = std::mem::take(&mut self.candidates);
        let how = if let Some((result, expansion)) = expansion {
            let rules = if before.is_some() { expansion.rules.clone() } else { Vec::new() };
            self.take(result, expansion);
            How::Expanded { rules, candidates }
        } else if pieces::by_pieces(self, inst) {
            self.changed = true;
            How::Told("the target accesses no more at once than is aligned; done by parts")
        } else if pieces::concat(self, inst) {
            self.changed = true;
            How::Told("the target lacks it; put together from words")
        } else if pairs::by_pairs(self, inst) {
            self.changed = true;
            How::Told("the target lacks it; done by pairs of half-words")
        } else if planes::by_planes(self, inst) {
            self.changed = true;
            How::Told("the target lacks it; done by the bytes of all lanes")
        } else if words::by_words(self, inst) {
            self.changed = true;
            How::Told("the target lacks it; done by words of four bytes")
        } else if lanes::by_lanes(self, inst) {
            self.changed = true;
            How::Told("the target lacks it; done lane by lane")
        } else {
            self.out.push(inst);
            How::Expanded { rules: Vec::new(), candidates }
        };
        if before.is_some() {
            let (made, kernel) = (self.out.get(placed..).unwrap_or(&[]), self.rewriter.kernel());
            let value = kernel.result(inst).map(|result| self.current(result));
            self.context.trace.replaced(before, how, kernel, made, value);
        }
    }

    /// The type of the first operand, which with the controlling type gives those of all.
    fn operand_type(&self, inst: Inst) -> Option<Type> {
        self.kernel().args(inst).first().map(|&arg| self.kernel().ty(arg))
    }

    /// The expansion of an instruction of the kernel. What has none is remembered: a kernel often says the same again.
    fn whole_expansion(&mut self, inst: Inst) -> Option<Expansion> {
        let data = self.kernel().insts[inst];
        let form = (data.op, data.ty, data.attr, self.operand_type(inst));
        if self.hopeless.contains(&form) {
            return None;
        }
        let expansion = self.expansion(inst, &mut Vec::new());
        if expansion.is_none() {
            self.hopeless.insert(form);
        }
        expansion
    }

    fn take(&mut self, result: Value, expansion: Expansion) {
        self.context.record(&expansion.rules);
        self.out.extend(expansion.insts);
        self.replace(result, expansion.value);
        self.changed = true;
    }

    /// Makes an instruction and places it, or what it has to become; none where the target can't do it at all.
    pub fn place(&mut self, op: Op, ty: Type, attr: Attr, args: &[Value]) -> Option<Value> {
        let value = self.rewriter.make(op, ty, attr, args);
        for inst in self.rewriter.take_made() {
            if self.has(inst) {
                self.out.push(inst);
            } else {
                let expansion = self.expansion(inst, &mut Vec::new())?;
                self.take(value, expansion);
            }
        }
        Some(self.current(value))
    }

    /// What an attempt makes. What it has placed is taken back if it fails; values of other forms may be among that, so they are
    /// forgotten.
    pub fn attempt<T>(&mut self, make: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (placed, fuel) = (self.out.len(), self.fuel);
        let made = make(self);
        if made.is_none() {
            self.fuel = fuel;
            self.out.truncate(placed);
            self.words_here.clear();
            self.lanes_here.clear();
            self.pairs_here.clear();
            self.planes_here.clear();
        }
        made
    }

    /// Has a store of a packed word store these bits.
    pub fn store_instead(&mut self, inst: Inst, word: Value) {
        let kernel = self.kernel_mut();
        let data = &mut kernel.insts[inst];
        data.ty = Type::I32;
        if let [value, ..] = data.args.as_mut_slice(&mut kernel.pool) {
            *value = word;
        }
        self.out.push(inst);
    }

    /// What a constant of these bits carries.
    pub fn constant_attr(&mut self, ty: Type, bits: [u64; 8]) -> Attr {
        self.kernel_mut().const_attr(ty, bits)
    }

    /// Places an access that stores.
    pub fn place_store(&mut self, ty: Type, attr: Attr, args: &[Value], span: Span) {
        let inst = self.kernel_mut().make_inst(Op::Store, ty, attr, args, None, span);
        self.out.push(inst);
    }

    /// Whether the target has an op on a type.
    pub fn is_native(&self, op: Op, ty: Type) -> bool {
        self.context.legality.is_native(op, ty)
    }

    /// Whether its ops on two half-words take no more than those on one.
    pub fn has_half_word_pairs(&self) -> bool {
        self.context.legality.has_half_word_pairs()
    }

    /// Whether wide lanes are worked on as vectors of their bytes.
    pub fn has_planes(&self) -> bool {
        self.narrowings.is_some()
    }

    /// Whether the target computes at once what an instruction narrows wide lanes to.
    pub fn narrows(&self, inst: Inst) -> bool {
        self.narrowings.as_ref().is_some_and(|of| of(self.kernel(), inst))
    }

    /// Makes an instruction that is placed later, or not at all: on wide lanes, or one that narrows them, which the target takes together.
    pub fn draft(&mut self, draft: &mut Vec<Inst>, op: Op, ty: Type, attr: Attr, args: &[Value]) -> Value {
        let value = self.rewriter.make(op, ty, attr, args);
        draft.extend(self.rewriter.take_made());
        value
    }

    /// Places instructions that were made before.
    pub fn place_drafted(&mut self, draft: &[Inst]) {
        self.out.extend(draft);
    }

    /// Whether an access is done by parts.
    pub fn needs_pieces(&self, inst: Inst) -> bool {
        pieces::are_needed(self.kernel(), self.context.legality, inst)
    }

    /// Keeps the instruction itself beside its words.
    pub fn keep(&mut self, inst: Inst) {
        self.out.push(inst);
    }

    /// Lets a value stand for another.
    pub fn replace(&mut self, value: Value, with: Value) {
        self.replaced[value] = with.into();
        self.kernel_mut().inherit_value_name(with, value);
    }

    /// The expansion that makes the fewest instructions; of several the one by the fewest rules, and the first in the book. `path`
    /// holds what is being expanded: an op is not made of itself.
    fn expansion(&mut self, inst: Inst, path: &mut Vec<Step>) -> Option<Expansion> {
        let data = self.kernel().insts[inst];
        let step = (data.op, data.ty, self.operand_type(inst));
        if path.contains(&step) || path.len() >= MAX_DEPTH || self.fuel == 0 {
            return None;
        }
        self.fuel -= 1;
        let mut candidates = self.rewriter.expand(inst);
        candidates.sort_unstable_by_key(|candidate| candidate.rule);
        let made = self.rewriter.take_made();
        path.push(step);
        let mut best: Option<Expansion> = None;
        for candidate in candidates {
            if path.len() == 1 && !self.context.may_expand_by(candidate.rule) {
                continue;
            }
            let found = self.complete(&candidate, &made, path);
            if path.len() == 1 && self.context.trace.is_some() {
                self.candidates.push((candidate.rule, found.as_ref().map(|found| found.insts.len())));
            }
            if let Some(found) = found
                && best.as_ref().is_none_or(|best| found.cost() < best.cost())
            {
                best = Some(found);
            }
        }
        path.pop();
        best
    }

    /// A candidate with all that the target lacks expanded in turn.
    fn complete(&mut self, candidate: &Candidate, made: &[Inst], path: &mut Vec<Step>) -> Option<Expansion> {
        let mut expansion = Expansion { value: candidate.value, insts: Vec::new(), rules: vec![candidate.rule] };
        for inst in self.needed(candidate.value, made) {
            self.resolve(inst);
            if self.has(inst) {
                expansion.insts.push(inst);
                continue;
            }
            let result = self.kernel().result(inst)?;
            let inner = self.expansion(inst, path)?;
            expansion.insts.extend(inner.insts);
            expansion.rules.extend(inner.rules);
            self.replaced[result] = inner.value.into();
        }
        expansion.value = self.current(expansion.value);
        Some(expansion)
    }

    /// Those of the instructions that a value depends on, in order.
    fn needed(&self, value: Value, made: &[Inst]) -> Vec<Inst> {
        let mut wanted = EntitySet::new();
        wanted.insert(value);
        let mut needed = Vec::new();
        for &inst in made.iter().rev() {
            if self.kernel().result(inst).is_some_and(|result| wanted.contains(result)) {
                needed.push(inst);
                for &arg in self.kernel().args(inst) {
                    wanted.insert(arg);
                }
            }
        }
        needed.reverse();
        needed
    }
}
