//! Legalisation: replaces ops that the target lacks by ops that it has.
//!
//! A `switch` becomes a chain of comparisons ([`switch`]). A block parameter too wide for a register is split into
//! several parameters ([`passed`]). All other ops are expanded by the rules of `expand.isle`, `divide.isle`,
//! `bits.isle`, `fp8.isle` and `soft.isle`. An expansion is valid only if the target has each of its ops, or a valid
//! expansion of the op.
//!
//! If an op has no valid expansion, the pass tries these methods in order:
//!
//! * split an access or a concatenation into parts shorter than 32 bits ([`pieces`]);
//! * compute wide lanes as pairs of half-words ([`pairs`]) or as byte planes ([`byte_planes`]);
//! * compute a vector of sixteen bytes as four 32-bit words ([`packed_words`]);
//! * compute single lanes ([`lanes`]).
//!
//! If no method works, the pass leaves the op unchanged, and selection reports why the target refuses the kernel.

mod byte_planes;
pub(crate) mod lanes;
pub(crate) mod packed_words;
mod pairs;
mod passed;
mod pieces;

use std::collections::{HashMap, HashSet};

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use halfbyte_ir::{Attr, Inst, Kernel, Legality, Narrowings, Op, Span, Type, Value};

use crate::pass::{BuiltIn, Context};
use crate::passes::{dce, switch};
use crate::rewrite::{Candidate, Rewriter, constant_lanes};
use crate::trace::{ChangeKind, Report};

/// The `legalise` pass.
pub(crate) const PASS: BuiltIn = BuiltIn {
    name: "legalise",
    description: "replaces ops that the target lacks, by the rules of `expand.isle`, `divide.isle`, `bits.isle`, `fp8.isle` and `soft.isle`, or lane by lane",
    order: &[],
    run,
};

/// Maximum nesting of expansions. No useful chain of expansions is longer than four.
const MAX_DEPTH: usize = 6;

/// Maximum number of expansions that are tried for one instruction.
const FUEL: u32 = 500;

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let mut changed = switch::run(kernel, context.legality);
    if changed {
        context.drop_flow();
    }
    changed |= passed::run(kernel, context.legality);
    let has_wide = kernel.values.values().any(|value| value.ty.is_wide());
    let narrowings = context.legality.narrowings().filter(|_| has_wide).map(|of| of(kernel));
    // Shortcut for the common case that the target has all ops of the kernel.
    let mut insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
    if insts.all(|&inst| is_legal(kernel, context.legality, inst) && !needs_planes(kernel, narrowings.as_ref(), inst)) {
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

/// Returns `true` if the target has the op on its type, and supports the types of its masks and its
/// shift counts. No target has conversions of FP8.
fn has(kernel: &Kernel, legality: &Legality, inst: Inst) -> bool {
    let data = &kernel.insts[inst];
    let mut operands = kernel.args(inst).iter().map(|&arg| kernel.ty(arg));
    legality.is_native(data.op, data.ty)
        && operands.all(|ty| has_mask(legality, ty))
        && has_count(kernel, legality, inst)
        && !(data.op == Op::Fcvt && kernel.args(inst).iter().any(|&arg| kernel.ty(arg).is_fp8()))
        && !is_part_of_wide(kernel, legality, inst)
        && !is_product(kernel, legality, inst)
}

fn is_division(op: Op) -> bool {
    matches!(op, Op::DivS | Op::DivU | Op::RemS | Op::RemU)
}

/// Returns `true` for a division by a constant that can be expanded to a high product of the target.
fn is_product(kernel: &Kernel, legality: &Legality, inst: Inst) -> bool {
    let data = &kernel.insts[inst];
    let product = if data.ty == Type::I64 { Type::I64 } else { Type::I32 };
    let by_constant = || kernel.args(inst).get(1).is_some_and(|&divisor| constant_lanes(kernel, divisor).is_some());
    is_division(data.op) && legality.is_native(Op::MulHiU, product) && by_constant()
}

/// Returns `true` if an instruction takes a part of a value that is too wide for a register, on a
/// target that holds such a value in several registers.
fn is_part_of_wide(kernel: &Kernel, legality: &Legality, inst: Inst) -> bool {
    let takes_wide = || kernel.args(inst).iter().any(|&arg| kernel.ty(arg).is_wide());
    let by_parts = legality.lanes().is_none() || legality.narrowings().is_some();
    kernel.insts[inst].op == Op::Split && by_parts && takes_wide()
}

/// Returns `true` unless an instruction shifts packed lanes by counts that the target does not support.
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

/// Returns `true` unless the type is a vector mask that no comparison of the target produces.
fn has_mask(legality: &Legality, ty: Type) -> bool {
    let gives = |op, of: Type| legality.is_native(op, of) && of.mask_type() == Some(ty);
    let mut compared = Type::ALL.iter();
    let is_given = |of: Type| of.lanes() == ty.lanes() && (gives(Op::Icmp, of) || gives(Op::Fcmp, of));
    !ty.is_mask() || ty.is_scalar() || compared.any(|&of| is_given(of))
}

/// Returns `true` if an instruction is not expanded: the target has the instruction, or the instruction has side
/// effects and cannot become an access to an `i32`.
fn is_legal(kernel: &Kernel, legality: &Legality, inst: Inst) -> bool {
    let by_pieces = pieces::are_needed(kernel, legality, inst);
    !by_pieces
        && (has(kernel, legality, inst) || !kernel.insts[inst].op.is_pure() && !is_word_access(kernel, legality, inst))
}

/// Returns `true` if a narrowing of wide lanes is computed by byte planes. Either the target has no
/// single instruction for it, or the lanes already exist as byte planes.
fn needs_planes(kernel: &Kernel, narrowings: Option<&Narrowings>, inst: Inst) -> bool {
    let Some(of) = narrowings else { return false };
    let data = &kernel.insts[inst];
    let narrows = matches!(data.op, Op::Trunc | Op::NarrowSatS | Op::NarrowSatU | Op::NarrowSatUU);
    let wide = kernel.args(inst).first().copied().filter(|&arg| kernel.ty(arg).is_wide());
    let Some(wide) = wide.filter(|_| narrows && !data.ty.is_wide()) else { return false };
    data.op == Op::Trunc && byte_planes::are_there(kernel, wide) || !of(kernel, inst)
}

/// Returns `true` for a load or store of a packed word, on a target that only loads and stores integers of 32 bits.
fn is_word_access(kernel: &Kernel, legality: &Legality, inst: Inst) -> bool {
    let data = &kernel.insts[inst];
    let is_packed = !data.ty.is_scalar() && !data.ty.is_mask() && data.ty.bits() == 32;
    let is_access = matches!(data.op, Op::Load | Op::Store);
    is_access && is_packed && !legality.is_native(data.op, data.ty) && legality.is_native(data.op, Type::I32)
}

/// An op and its types, which must not occur again in its own expansion.
type Step = (Op, Type, Option<Type>);

/// An expansion of an instruction to ops that the target has.
struct Expansion {
    value: Value,
    insts: Vec<Inst>,
    rules: Vec<u32>,
}

impl Expansion {
    /// Returns the numbers of instructions and rules. The expansion with the least cost is chosen.
    fn cost(&self) -> (usize, usize) {
        (self.insts.len(), self.rules.len())
    }
}

pub(super) struct Legaliser<'k, 'c, 'l> {
    rewriter: Rewriter<'k>,
    context: &'c mut Context<'l>,
    replaced: SecondaryMap<Value, PackedOption<Value>>,
    /// The four 32-bit words of a vector or a mask, available wherever the vector is available.
    pub words: HashMap<Value, [Value; 4]>,
    /// The four 32-bit words of a vector, extracted in the current block.
    pub words_here: HashMap<Value, [Value; 4]>,
    /// The lanes of a vector or a mask, available wherever the vector is available.
    pub lanes: HashMap<Value, Vec<Value>>,
    /// The lanes of a vector, extracted in the current block.
    pub lanes_here: HashMap<Value, Vec<Value>>,
    /// Vectors whose lanes the target cannot compute.
    pub laneless: HashSet<Value>,
    /// Pairs of half-words that represent a wide vector, computed in the current block; `None` if
    /// the vector cannot be represented by pairs.
    pub pairs_here: HashMap<Value, Option<pairs::Pairs>>,
    /// Byte planes that represent a wide vector, computed in the current block; `None` if the
    /// vector cannot be represented by byte planes.
    pub planes_here: HashMap<Value, Option<byte_planes::Planes>>,
    /// Predicate that returns `true` for a narrowing of wide lanes that the target computes with
    /// one instruction; `None` if the target does not use byte planes.
    narrowings: Option<Narrowings>,
    /// Value ranges of the lanes of wide vectors; `None` if the range is unknown.
    pub numbers: HashMap<Value, Option<pairs::Range>>,
    /// New instructions of the current block.
    out: Vec<Inst>,
    /// Ops with their types and attributes for which no valid expansion was found.
    hopeless: HashSet<(Op, Type, Attr, Option<Type>)>,
    /// Rules tried for the current instruction, each with the number of instructions of its expansion, for the trace.
    candidates: Vec<(u32, Option<usize>)>,
    fuel: u32,
    changed: bool,
}

impl<'k> Legaliser<'k, '_, '_> {
    pub(super) fn kernel(&self) -> &Kernel {
        self.rewriter.kernel()
    }

    fn kernel_mut(&mut self) -> &mut Kernel {
        self.rewriter.kernel_mut()
    }

    fn has(&self, inst: Inst) -> bool {
        has(self.kernel(), self.context.legality, inst)
    }

    /// Returns the value that replaces a value, or the value itself.
    pub(super) fn current(&self, mut value: Value) -> Value {
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

    /// Places an instruction in the current block, or the instructions that replace it.
    fn legalise(&mut self, inst: Inst) {
        if is_legal(self.kernel(), self.context.legality, inst)
            && !needs_planes(self.kernel(), self.narrowings.as_ref(), inst)
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
            ChangeKind::Expanded { rules, candidates }
        } else if pieces::by_pieces(self, inst) {
            self.changed = true;
            ChangeKind::Told("the target requires aligned accesses; split into aligned parts")
        } else if pieces::concat(self, inst) {
            self.changed = true;
            ChangeKind::Told("the target lacks the op; assembled from words")
        } else if pairs::by_pairs(self, inst) {
            self.changed = true;
            ChangeKind::Told("the target lacks the op; computed on pairs of half-words")
        } else if byte_planes::by_planes(self, inst) {
            self.changed = true;
            ChangeKind::Told("the target lacks the op; computed by byte planes")
        } else if packed_words::by_words(self, inst) {
            self.changed = true;
            ChangeKind::Told("the target lacks the op; computed on words of four bytes")
        } else if lanes::by_lanes(self, inst) {
            self.changed = true;
            ChangeKind::Told("the target lacks the op; computed lane by lane")
        } else {
            self.out.push(inst);
            ChangeKind::Expanded { rules: Vec::new(), candidates }
        };
        if before.is_some() {
            let (made, kernel) = (self.out.get(placed..).unwrap_or(&[]), self.rewriter.kernel());
            let value = kernel.result(inst).map(|result| self.current(result));
            self.context.trace.replaced(before, how, kernel, made, value);
        }
    }

    /// Returns the type of an instruction's first operand. With the type of the instruction itself,
    /// it determines the types of all operands.
    fn operand_type(&self, inst: Inst) -> Option<Type> {
        self.kernel().args(inst).first().map(|&arg| self.kernel().ty(arg))
    }

    /// Returns the best expansion of an instruction of the kernel. Failures are cached, because a
    /// kernel often repeats an op.
    fn whole_expansion(&mut self, inst: Inst) -> Option<Expansion> {
        let data = self.kernel().insts[inst];
        let form = (data.op, data.ty, data.attr, self.operand_type(inst));
        if self.hopeless.contains(&form) {
            return None;
        }
        let expansion = self.expansion(inst, &mut Vec::new());
        // The expansion of a division depends on the divisor.
        if expansion.is_none() && !is_division(data.op) {
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

    /// Creates an instruction, and places it or its expansion in the current block. Returns `None`
    /// if the target supports neither.
    pub(super) fn place(&mut self, op: Op, ty: Type, attr: Attr, args: &[Value]) -> Option<Value> {
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

    /// Calls `make`. If it returns `None`, removes the instructions that it placed, and clears the
    /// caches of the block, which may refer to these instructions.
    pub(super) fn attempt<T>(&mut self, make: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
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

    /// Places a store of the `i32` value `word` in place of the store of a packed word.
    pub(super) fn store_instead(&mut self, inst: Inst, word: Value) {
        let kernel = self.kernel_mut();
        let data = &mut kernel.insts[inst];
        data.ty = Type::I32;
        if let [value, ..] = data.args.as_mut_slice(&mut kernel.pool) {
            *value = word;
        }
        self.out.push(inst);
    }

    /// Returns the attribute of a constant.
    pub(super) fn constant_attr(&mut self, ty: Type, bits: [u64; 8]) -> Attr {
        self.kernel_mut().const_attr(ty, bits)
    }

    /// Places a store.
    pub(super) fn place_store(&mut self, ty: Type, attr: Attr, args: &[Value], span: Span) {
        let inst = self.kernel_mut().make_inst(Op::Store, ty, attr, args, None, span);
        self.out.push(inst);
    }

    /// Returns `true` if the target has an op on a type.
    pub(super) fn is_native(&self, op: Op, ty: Type) -> bool {
        self.context.legality.is_native(op, ty)
    }

    /// Returns `true` if the target's ops on pairs of half-words cost no more than its ops on single half-words.
    pub(super) fn has_half_word_pairs(&self) -> bool {
        self.context.legality.has_half_word_pairs()
    }

    /// Returns `true` if the target processes wide lanes as byte planes.
    pub(super) fn has_planes(&self) -> bool {
        self.narrowings.is_some()
    }

    /// Returns `true` if the target computes the result of a narrowing with one instruction.
    pub(super) fn narrows(&self, inst: Inst) -> bool {
        self.narrowings.as_ref().is_some_and(|of| of(self.kernel(), inst))
    }

    /// Creates an instruction on wide lanes without placing it in a block. The target executes the
    /// instruction together with a later narrowing.
    pub(super) fn draft(&mut self, draft: &mut Vec<Inst>, op: Op, ty: Type, attr: Attr, args: &[Value]) -> Value {
        let value = self.rewriter.make(op, ty, attr, args);
        draft.extend(self.rewriter.take_made());
        value
    }

    /// Places instructions that `draft` has created.
    pub(super) fn place_drafted(&mut self, draft: &[Inst]) {
        self.out.extend(draft);
    }

    /// Returns `true` if the alignment of an access is too low for the target, so that the access must be split.
    pub(super) fn needs_pieces(&self, inst: Inst) -> bool {
        pieces::are_needed(self.kernel(), self.context.legality, inst)
    }

    /// Places the original instruction in addition to its words or lanes.
    pub(super) fn keep(&mut self, inst: Inst) {
        self.out.push(inst);
    }

    /// Records that another value replaces a value.
    pub(super) fn replace(&mut self, value: Value, with: Value) {
        self.replaced[value] = with.into();
        self.kernel_mut().inherit_value_name(with, value);
    }

    /// Returns the best valid expansion of an instruction. It has the fewest instructions; on a
    /// tie, the fewest rules, then the lowest rule number. `path` holds the ops that are being
    /// expanded, which must not occur in their own expansion.
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

    /// Completes the expansion by one rule: expands each op of its result that the target lacks.
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

    /// Returns those instructions of `made` on which a value depends, in order.
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
