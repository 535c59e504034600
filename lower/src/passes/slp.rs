//! Superword-level parallelism: packs neighbouring scalars into the lanes of a word.
//!
//! Loading, computing and storing two adjacent halves takes two instructions for each step. As the two lanes of an
//! `f16x2`, they take one instruction. The same applies to pairs of `i16` and to four `i8`.
//!
//! A search begins at stores to neighbouring elements, if no other access lies between them and the first address is a
//! multiple of the word's size. Another search begins at a `concat` that assembles halves to a word, as for a wide
//! store. The search follows the operands through ops that are the same in every lane, including selects by one
//! comparison for each lane. It ends at loads of neighbouring elements and at parts of wide loads.
//!
//! All other operands are assembled. A splat, constants, and the lanes of a vector need no instruction; other values
//! need one instruction for each lane. A load or op is packed only if nothing else uses its results, and the word is
//! packed only if this saves instructions.

use cranelift_entity::{EntitySet, SecondaryMap};
use halfbyte_ir::op::{ArgType, ResultType};
use halfbyte_ir::{Attr, AttrKind, Block, Inst, Kernel, Legality, MemAttr, Op, Span, Type, Value, ValueList};
use smallvec::SmallVec;

use super::accesses::{address, record_parts, value_type};
use super::zeros::LowZeros;
use crate::pass::{BuiltIn, Context, Order};
use crate::trace::{ChangeKind, Report, Trace};

/// The `slp` pass.
pub(super) const PASS: BuiltIn = BuiltIn {
    name: "slp",
    description: "packs equal operations on neighbouring scalars into operations on a word",
    order: &[
        (Order::After("unroll"), "unrolling makes accesses of several iterations adjacent"),
        (Order::After("pack"), "a vectorised kernel has streams instead of the accesses that the pass looks for"),
        (Order::Before("legalise"), "the target may lack the op on lanes"),
    ],
    run,
};

/// Maximum number of lane groups for one word. Further operands are assembled from their lanes.
const MAX_GROUPS: usize = 64;
/// Maximum number of lanes of a word.
const MAX_LANES: usize = 4;

type Lanes<T> = SmallVec<[T; MAX_LANES]>;

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    // On targets whose items share vectors, the lanes are the values of neighbouring items.
    if context.legality.lanes().is_some() {
        return false;
    }
    let mut search: Option<Search> = None;
    let mut changed = false;
    let mut poll = context.poll();
    for number in 0..kernel.layout.len() {
        let Some(&block) = kernel.layout.get(number) else { break };
        if poll.is_stopped() {
            return true;
        }
        let insts = &kernel.blocks[block].insts;
        let begins = |&inst: &Inst| {
            let data = &kernel.insts[inst];
            data.op == Op::Store && word_of(data.ty).is_some() || joined(kernel, inst).is_some()
        };
        if !insts.iter().any(begins) {
            continue;
        }
        let search = search.get_or_insert_with(|| Search::new(kernel, context.legality));
        search.enter(kernel, block);
        let words = search.words(kernel);
        if !words.is_empty() {
            search.rewrite(kernel, block, &words, &mut context.trace);
            changed = true;
        }
    }
    changed
}

/// Returns the 32-bit vector type whose lanes have a scalar type.
fn word_of(ty: Type) -> Option<Type> {
    match ty {
        Type::F16 => Some(Type::F16X2),
        Type::BF16 => Some(Type::BF16X2),
        Type::I16 => Some(Type::I16X2),
        Type::I8 => Some(Type::I8X4),
        _ => None,
    }
}

/// Returns the word type and the lanes of a `concat` of halves. Integers are only packed from
/// stores on, because targets have fewer ops on packed integers.
fn joined(kernel: &Kernel, inst: Inst) -> Option<(Type, Lanes<Value>)> {
    let (data, lanes) = (&kernel.insts[inst], kernel.args(inst));
    let is_joined = data.op == Op::Concat && data.ty.is_half() && lanes.iter().all(|&lane| kernel.ty(lane).is_scalar());
    is_joined.then(|| (data.ty, SmallVec::from_slice(lanes)))
}

/// Scalar values that become the lanes of one word.
#[derive(Clone, Debug)]
struct LaneGroup {
    values: Lanes<Value>,
    /// Type of the word, or of the mask with the same lanes.
    ty: Type,
    how: WordSource,
    /// Number of uses of the group as an operand of packed ops.
    uses: u32,
}

/// Computation of the word of a lane group.
#[derive(Clone, Debug)]
enum WordSource {
    /// Packed op that replaces the scalar ops `insts`. `args` are the indices of the lane groups of
    /// its operands.
    Op { insts: Lanes<Inst>, args: SmallVec<[usize; 3]> },
    /// Packed load that replaces the scalar loads `insts`.
    Load { insts: Lanes<Inst> },
    /// Existing value that equals the word.
    Whole(Value),
    /// Part `number` of a wider value.
    Part { of: Value, number: u8 },
    /// Constant word.
    Const([u64; 8]),
    /// Splat of one scalar value.
    Splat,
    /// `concat` of the scalar values.
    Concat,
}

impl WordSource {
    /// Returns the scalar instructions that the packed instruction replaces.
    fn insts(&self) -> &[Inst] {
        match self {
            WordSource::Op { insts, .. } | WordSource::Load { insts } => insts,
            _ => &[],
        }
    }
}

/// A word that is worth packing, and its computation.
struct Word {
    begin: Root,
    ty: Type,
    /// Lane groups of the computation. Operands precede their users, so the last group is the word itself.
    groups: Vec<LaneGroup>,
}

/// Instructions at which the packing of a word begins.
enum Root {
    /// Stores to neighbouring elements, which become one store.
    Stores(Lanes<Inst>),
    /// A `concat` of the lanes, which the packed op replaces.
    Joined(Inst),
}

impl Word {
    /// Returns the source span of the root.
    fn span(&self, kernel: &Kernel) -> Span {
        let first = match &self.begin {
            Root::Stores(stores) => stores.first().copied(),
            Root::Joined(inst) => Some(*inst),
        };
        first.map_or(Span::default(), |first| kernel.insts[first].span)
    }
}

/// Position of an instruction in the block that is searched.
#[derive(Clone, Copy, Default)]
struct Position {
    /// Index of the instruction in the block plus one; 0 for instructions of other blocks.
    at: u32,
    /// Index of the instruction among the loads and stores of the block.
    access: u32,
}

struct Search<'l> {
    legality: &'l Legality,
    zeros: LowZeros,
    uses: SecondaryMap<Value, u32>,
    /// Instructions of the block that is searched, in order.
    insts: Vec<Inst>,
    accesses: Vec<Inst>,
    places: SecondaryMap<Inst, Position>,
    groups: Vec<LaneGroup>,
    /// Lane groups that are not packed, because their values have other uses.
    kept: Vec<Lanes<Value>>,
}

impl<'l> Search<'l> {
    fn new(kernel: &Kernel, legality: &'l Legality) -> Search<'l> {
        let mut uses: SecondaryMap<Value, u32> = SecondaryMap::with_capacity(kernel.values.len());
        for &inst in kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts) {
            let passed = kernel.targets(inst).iter().flat_map(|call| kernel.call_args(call));
            kernel.args(inst).iter().chain(passed).for_each(|&value| uses[value] += 1);
        }
        Search {
            legality,
            zeros: LowZeros::default(),
            uses,
            insts: Vec::new(),
            accesses: Vec::new(),
            places: SecondaryMap::new(),
            groups: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Begins the search in another block.
    fn enter(&mut self, kernel: &Kernel, block: Block) {
        for inst in self.insts.drain(..) {
            self.places[inst] = Position::default();
        }
        self.accesses.clear();
        self.insts.extend_from_slice(&kernel.blocks[block].insts);
        for (at, &inst) in (1..).zip(&self.insts) {
            self.places[inst] = Position { at, access: self.accesses.len() as u32 };
            if !kernel.insts[inst].op.is_pure() {
                self.accesses.push(inst);
            }
        }
    }

    /// Returns the words of the current block that are worth packing.
    fn words(&mut self, kernel: &Kernel) -> Vec<Word> {
        let mut words = Vec::new();
        let mut next = 0;
        while let Some(&first) = self.accesses.get(next) {
            let ty = word_of(kernel.insts[first].ty).filter(|_| kernel.insts[first].op == Op::Store);
            let stores = ty.and_then(|ty| self.accesses.get(next..next + ty.lanes()));
            let stores: Option<Lanes<Inst>> = stores.map(SmallVec::from_slice);
            let word = ty.zip(stores).and_then(|(ty, stores)| self.stored(kernel, ty, stores));
            next += word.as_ref().map_or(1, |_| ty.map_or(1, Type::lanes));
            words.extend(word);
        }
        for at in 0..self.insts.len() {
            let Some(&inst) = self.insts.get(at) else { break };
            let groups = joined(kernel, inst).and_then(|(ty, lanes)| Some((ty, self.word(kernel, ty, &lanes)?)));
            words.extend(groups.filter(|(_, groups)| is_op(groups)).map(|(ty, groups)| Word {
                begin: Root::Joined(inst),
                ty,
                groups,
            }));
        }
        words
    }

    /// Returns the word that one store can store in place of `stores`, if they access neighbouring elements.
    fn stored(&mut self, kernel: &Kernel, ty: Type, stores: Lanes<Inst>) -> Option<Word> {
        if !self.are_neighbours(kernel, ty, &stores) {
            return None;
        }
        let stored: Option<Lanes<Value>> = stores.iter().map(|&store| kernel.args(store).first().copied()).collect();
        let groups = self.word(kernel, ty, &stored?)?;
        Some(Word { begin: Root::Stores(stores), ty, groups })
    }

    /// Returns the lane groups that compute a word with the given lanes, if packing saves
    /// instructions. Operands precede their users.
    fn word(&mut self, kernel: &Kernel, ty: Type, lanes: &[Value]) -> Option<Vec<LaneGroup>> {
        self.kept.clear();
        loop {
            self.groups.clear();
            self.group(kernel, ty, lanes)?;
            let is_needed = |group: &&LaneGroup| {
                !group.how.insts().is_empty() && group.values.iter().any(|&value| self.uses[value] != group.uses)
            };
            match self.groups.iter().find(is_needed) {
                Some(needed) => self.kept.push(needed.values.clone()),
                None => break,
            }
        }
        let saved: i32 = self.groups.iter().map(saved).sum();
        // The root saves `lanes - 1` instructions, in addition to those of the groups.
        (saved + ty.lanes() as i32 > 1).then(|| std::mem::take(&mut self.groups))
    }

    /// Returns `true` if consecutive accesses of the block access neighbouring elements, and the
    /// first address is a multiple of the word's size.
    fn are_neighbours(&mut self, kernel: &Kernel, ty: Type, accesses: &[Inst]) -> bool {
        let Some(&first) = accesses.first() else { return false };
        let Attr::Mem(start) = kernel.insts[first].attr else { return false };
        let (op, lane) = (kernel.insts[first].op, ty.lane_type());
        let start_place = self.places[first];
        let is_next = |(number, &inst): (u32, &Inst)| {
            let place = self.places[inst];
            let offset = start.offset.checked_add_unsigned(number * lane.bytes());
            kernel.insts[inst].op == op
                && value_type(kernel, inst) == Some(lane)
                && matches!(kernel.insts[inst].attr, Attr::Mem(mem)
                    if Some(mem.offset) == offset && mem.scale == start.scale && mem.wide == start.wide && mem.align == lane.bytes())
                && address(kernel, inst) == address(kernel, first)
                && place.at > 0
                && place.access == start_place.access + number
        };
        if !self.legality.is_native(op, ty) || !(0..).zip(accesses).all(is_next) {
            return false;
        }
        let &[base, ref index @ ..] = address(kernel, first) else { return false };
        let zeros = self.zeros.of_address(kernel, base, index.first().copied(), start.scale);
        ty.bytes().trailing_zeros() <= zeros.min(start.offset.trailing_zeros())
    }

    /// Returns the index of the group whose lanes are `values`. Creates the group if there is none.
    fn group(&mut self, kernel: &Kernel, ty: Type, values: &[Value]) -> Option<usize> {
        if let Some(known) = self.groups.iter().position(|group| group.values[..] == *values) {
            self.groups.get_mut(known)?.uses += 1;
            return Some(known);
        }
        let how = if ty.is_mask() { self.mask(kernel, values)? } else { self.made(kernel, ty, values)? };
        self.groups.push(LaneGroup { values: SmallVec::from_slice(values), ty, how, uses: 1 });
        Some(self.groups.len() - 1)
    }

    /// Returns how the mask of a packed select is computed. If all lanes have the same condition,
    /// the mask is that condition, otherwise a packed comparison.
    fn mask(&mut self, kernel: &Kernel, values: &[Value]) -> Option<WordSource> {
        if let Some(&one) = values.first().filter(|_| is_one(values)) {
            return Some(WordSource::Whole(one));
        }
        let (ty, insts) = self.compares(kernel, values)?;
        let args = self.operands(kernel, &insts, |_| ty)?;
        Some(WordSource::Op { insts, args })
    }

    /// Returns the comparisons that define the conditions `values`, if one packed comparison can
    /// replace them, and the packed type of its operands.
    fn compares(&self, kernel: &Kernel, values: &[Value]) -> Option<(Type, Lanes<Inst>)> {
        let insts: Option<Lanes<Inst>> = values.iter().map(|&value| kernel.def_inst(value)).collect();
        let insts = insts?;
        let data = kernel.insts[*insts.first()?];
        let ty = word_of(data.ty).filter(|ty| data.op == Op::Fcmp && ty.lanes() == values.len())?;
        (!self.is_kept(values) && self.legality.is_native(Op::Fcmp, ty) && self.are_same(kernel, &insts))
            .then_some((ty, insts))
    }

    /// Returns `true` if `values` must not be packed, because there are too many groups or the
    /// values have other uses.
    fn is_kept(&self, values: &[Value]) -> bool {
        self.groups.len() >= MAX_GROUPS || self.kept.iter().any(|kept| kept[..] == *values)
    }

    /// Creates the groups of the operands of several instructions. `ty` returns the packed type of
    /// an operand.
    fn operands(
        &mut self,
        kernel: &Kernel,
        insts: &[Inst],
        ty: impl Fn(usize) -> Type,
    ) -> Option<SmallVec<[usize; 3]>> {
        let count = insts.first().map_or(0, |&first| kernel.args(first).len());
        let mut args = SmallVec::new();
        for number in 0..count {
            let lanes: Option<Lanes<Value>> =
                insts.iter().map(|&inst| kernel.args(inst).get(number).copied()).collect();
            args.push(self.group(kernel, ty(number), &lanes?)?);
        }
        Some(args)
    }

    /// Returns the computation of a word whose lanes are `values`; `None` if the target cannot
    /// assemble the word.
    fn made(&mut self, kernel: &Kernel, ty: Type, values: &[Value]) -> Option<WordSource> {
        let defs: Option<Lanes<Inst>> = values.iter().map(|&value| kernel.def_inst(value)).collect();
        if let Some(defs) = defs {
            if let Some(bits) = constant(kernel, ty, &defs) {
                return Some(WordSource::Const(bits));
            }
            if let Some(whole) = whole(kernel, ty, &defs) {
                return Some(WordSource::Whole(whole));
            }
            if let Some(part) = self.part(kernel, ty, &defs) {
                return Some(part);
            }
            let is_kept = self.is_kept(values);
            if !is_kept && defs.first().is_some_and(|&first| kernel.insts[first].op == Op::Load) {
                if self.are_neighbours(kernel, ty, &defs) {
                    return Some(WordSource::Load { insts: defs });
                }
            } else if !is_kept && self.are_alike(kernel, ty, &defs) {
                let args = self.operands(kernel, &defs, |_| ty)?;
                return Some(WordSource::Op { insts: defs, args });
            } else if let Some(mask) = ty.mask_type().filter(|_| !is_kept && self.are_selected(kernel, ty, &defs)) {
                let args = self.operands(kernel, &defs, |number| if number == 0 { mask } else { ty })?;
                return Some(WordSource::Op { insts: defs, args });
            }
        }
        match is_one(values) {
            true if self.legality.is_native(Op::Splat, ty) => Some(WordSource::Splat),
            _ => self.legality.is_native(Op::Concat, ty).then_some(WordSource::Concat),
        }
    }

    /// Returns `true` if the instructions are distinct, belong to the block, and can become one
    /// packed op.
    fn are_alike(&self, kernel: &Kernel, ty: Type, insts: &[Inst]) -> bool {
        let Some(data) = insts.first().map(|&first| kernel.insts[first]) else { return false };
        let row = data.op.row();
        let is_in_lanes = row.lanewise
            && row.result == ResultType::Same
            && row.args.iter().all(|&arg| arg == ArgType::Same)
            && matches!(row.attr, AttrKind::None | AttrKind::Float(_));
        is_in_lanes && data.ty == ty.lane_type() && self.legality.is_native(data.op, ty) && self.are_same(kernel, insts)
    }

    /// Returns `true` if the instructions are distinct selects of the block with the same
    /// condition, or with conditions that one packed comparison can compute.
    fn are_selected(&self, kernel: &Kernel, ty: Type, insts: &[Inst]) -> bool {
        let Some(data) = insts.first().map(|&first| kernel.insts[first]) else { return false };
        let is_selection = (data.op, data.ty) == (Op::Select, ty.lane_type());
        let truths: Lanes<Value> = insts.iter().filter_map(|&inst| kernel.args(inst).first().copied()).collect();
        is_selection
            && self.legality.is_native(Op::Select, ty)
            && self.are_same(kernel, insts)
            && (is_one(&truths) || self.compares(kernel, &truths).is_some())
    }

    /// Returns `true` if the instructions are distinct, belong to the block, and have the same op,
    /// type and attribute.
    fn are_same(&self, kernel: &Kernel, insts: &[Inst]) -> bool {
        let Some(data) = insts.first().map(|&first| kernel.insts[first]) else { return false };
        insts.iter().enumerate().all(|(number, &inst)| {
            let other = kernel.insts[inst];
            let is_new = !insts.get(..number).unwrap_or(&[]).contains(&inst);
            is_new && self.places[inst].at > 0 && (other.op, other.ty, other.attr) == (data.op, data.ty, data.attr)
        })
    }

    /// Returns the part of a wider value that consists of the lanes that `defs` extract, in order.
    fn part(&self, kernel: &Kernel, ty: Type, defs: &[Inst]) -> Option<WordSource> {
        let &first = defs.first()?;
        let (&of, Attr::Lane(lane)) = (kernel.args(first).first()?, kernel.insts[first].attr) else { return None };
        let is_part = |(lane, &def): (u8, &Inst)| {
            let data = &kernel.insts[def];
            data.op == Op::Split && data.attr == Attr::Lane(lane) && kernel.args(def).first() == Some(&of)
        };
        let lanes = ty.lanes() as u8;
        let is_whole = lane.is_multiple_of(lanes) && (lane..).zip(defs).all(is_part);
        let op = if kernel.ty(of).bits() == ty.bits() { Op::Bitcast } else { Op::Split };
        (is_whole && self.legality.is_native(op, ty)).then_some(WordSource::Part { of, number: lane / lanes })
    }

    /// Creates the packed instructions and removes the scalar ones.
    fn rewrite(&self, kernel: &mut Kernel, block: Block, words: &[Word], trace: &mut Option<Trace>) {
        let mut removed = EntitySet::new();
        // New instructions, each with the index of the instruction before which it is inserted.
        let mut made: Vec<(u32, Inst)> = Vec::new();
        for word in words {
            self.make(kernel, word, &mut made, &mut removed, trace);
        }
        // The sort is stable, so instructions with the same index keep their order.
        made.sort_by_key(|&(at, _)| at);
        let mut made = made.into_iter().peekable();
        let mut insts = Vec::with_capacity(self.insts.len());
        for (at, &inst) in (0..).zip(&self.insts) {
            while let Some((_, new)) = made.next_if(|&(before, _)| before <= at) {
                insts.push(new);
            }
            if !removed.contains(inst) {
                insts.push(inst);
            }
        }
        kernel.blocks[block].insts = insts;
    }

    fn make(
        &self,
        kernel: &mut Kernel,
        word: &Word,
        made: &mut Vec<(u32, Inst)>,
        removed: &mut EntitySet<Inst>,
        trace: &mut Option<Trace>,
    ) {
        let at = |inst: Inst| self.places[inst].at.saturating_sub(1);
        let mut values: Vec<Value> = Vec::with_capacity(word.groups.len());
        for (number, group) in (1..).zip(&word.groups) {
            let taken = group.how.insts();
            let span = taken.first().map_or(word.span(kernel), |&first| kernel.insts[first].span);
            let mut before: Lanes<_> = taken.iter().map(|&inst| trace.before(kernel, inst)).collect();
            let (place, inst) = match &group.how {
                WordSource::Whole(whole) => {
                    values.push(*whole);
                    continue;
                }
                WordSource::Op { insts, args } => {
                    let Some(data) = insts.first().map(|&first| kernel.insts[first]) else { continue };
                    let args: SmallVec<[Value; 3]> = args.iter().filter_map(|&arg| values.get(arg).copied()).collect();
                    match word.begin {
                        Root::Joined(inst) if number == word.groups.len() => {
                            before.push(trace.before(kernel, inst));
                            let args = ValueList::from_slice(&args, &mut kernel.pool);
                            let joined = &mut kernel.insts[inst];
                            (joined.op, joined.attr, joined.args, joined.span) = (data.op, data.attr, args, span);
                            (None, inst)
                        }
                        _ => {
                            // The type of a comparison instruction is the type of its operands.
                            let ty = word_of(data.ty).filter(|_| group.ty.is_mask()).unwrap_or(word.ty);
                            let inst = kernel.make_inst(data.op, ty, data.attr, &args, Some(group.ty), span);
                            (insts.iter().map(|&inst| at(inst)).max(), inst)
                        }
                    }
                }
                WordSource::Load { insts } => {
                    let Some(&first) = insts.first() else { continue };
                    (Some(at(first)), load(kernel, word.ty, insts, span))
                }
                WordSource::Part { of, number } => {
                    let is_whole = kernel.ty(*of).bits() == word.ty.bits();
                    let (op, attr) =
                        if is_whole { (Op::Bitcast, Attr::None) } else { (Op::Split, Attr::Lane(*number)) };
                    (Some(self.after(kernel, &[*of])), kernel.make_inst(op, word.ty, attr, &[*of], Some(word.ty), span))
                }
                WordSource::Const(bits) => {
                    let attr = kernel.const_attr(word.ty, *bits);
                    (Some(0), kernel.make_inst(Op::Const, word.ty, attr, &[], Some(word.ty), span))
                }
                how => {
                    let (op, lanes) = match how {
                        WordSource::Splat => (Op::Splat, group.values.get(..1).unwrap_or(&[])),
                        _ => (Op::Concat, &group.values[..]),
                    };
                    let place = self.after(kernel, &group.values);
                    (Some(place), kernel.make_inst(op, word.ty, Attr::None, lanes, Some(word.ty), span))
                }
            };
            made.extend(place.map(|place| (place, inst)));
            values.extend(kernel.result(inst));
            removed.extend(taken.iter().copied());
            for before in before {
                trace.joined(before, ChangeKind::Told("packed with neighbouring scalars into a word"), kernel, &[inst]);
            }
        }
        if let (Root::Stores(stores), Some(&stored)) = (&word.begin, values.last()) {
            removed.extend(stores.iter().rev().skip(1).copied());
            store(kernel, word.ty, stores, stored, trace);
        }
    }

    /// Returns the first position in the block at which all of `values` are available.
    fn after(&self, kernel: &Kernel, values: &[Value]) -> u32 {
        let defs = values.iter().filter_map(|&value| kernel.def_inst(value));
        defs.map(|def| self.places[def].at).max().unwrap_or(0)
    }
}

/// Returns `true` if a packed op computes the last group.
fn is_op(groups: &[LaneGroup]) -> bool {
    matches!(groups.last(), Some(LaneGroup { how: WordSource::Op { .. }, .. }))
}

/// Returns `true` if all lanes are the same value.
fn is_one(values: &[Value]) -> bool {
    values.iter().all(|value| Some(value) == values.first())
}

/// Returns the number of instructions that the packing of a group saves.
fn saved(group: &LaneGroup) -> i32 {
    let others = group.ty.lanes() as i32 - 1;
    match group.how {
        WordSource::Op { .. } | WordSource::Load { .. } => others,
        WordSource::Concat => -others,
        WordSource::Whole(_) | WordSource::Part { .. } | WordSource::Const(_) | WordSource::Splat => 0,
    }
}

/// Returns the bits of a word whose lanes are the constants that `defs` define.
fn constant(kernel: &Kernel, ty: Type, defs: &[Inst]) -> Option<[u64; 8]> {
    let bits = ty.lane_type().bits();
    let mut word = [0; 8];
    for (number, &def) in (0..).zip(defs) {
        let [lane, ..] = kernel.const_bits(def).filter(|_| kernel.insts[def].op == Op::Const)?;
        word[0] |= lane << (number * bits);
    }
    Some(word)
}

/// Returns the vector whose lanes `defs` extract in order.
fn whole(kernel: &Kernel, ty: Type, defs: &[Inst]) -> Option<Value> {
    let &first = kernel.args(*defs.first()?).first()?;
    let is_lane = |(number, &def): (u8, &Inst)| {
        let data = &kernel.insts[def];
        data.op == Op::Extract && data.attr == Attr::Lane(number) && kernel.args(def).first() == Some(&first)
    };
    ((0..).zip(defs).all(is_lane) && kernel.ty(first) == ty).then_some(first)
}

/// Creates a packed load in place of scalar loads.
fn load(kernel: &mut Kernel, ty: Type, insts: &[Inst], span: Span) -> Inst {
    let first = insts.first().copied();
    let from = first.map_or(Vec::new(), |first| address(kernel, first).to_vec());
    let attr = first.map_or(Attr::None, |first| aligned(kernel.insts[first].attr, ty));
    let load = kernel.make_inst(Op::Load, ty, attr, &from, Some(ty), span);
    let taken: Lanes<(Inst, Span)> = insts.iter().map(|&inst| (inst, kernel.insts[inst].span)).collect();
    record_parts(kernel, load, ty.lane_type().bytes(), &taken);
    load
}

/// Turns the last scalar store into the packed store.
fn store(kernel: &mut Kernel, ty: Type, stores: &[Inst], stored: Value, trace: &mut Option<Trace>) {
    let before: Vec<_> = stores.iter().map(|&inst| trace.before(kernel, inst)).collect();
    let taken: Lanes<(Inst, Span)> = stores.iter().map(|&inst| (inst, kernel.insts[inst].span)).collect();
    let (Some(&(first, span)), Some(&last)) = (taken.first(), stores.last()) else { return };
    let args: Vec<Value> = std::iter::once(stored).chain(address(kernel, first).iter().copied()).collect();
    let args = ValueList::from_slice(&args, &mut kernel.pool);
    let attr = aligned(kernel.insts[first].attr, ty);
    let data = &mut kernel.insts[last];
    (data.ty, data.attr, data.args, data.span) = (ty, attr, args, span);
    record_parts(kernel, last, ty.lane_type().bytes(), &taken);
    for before in before {
        trace.joined(before, ChangeKind::Told("packed with neighbouring scalars into a word"), kernel, &[last]);
    }
}

/// Returns an access attribute with the alignment of a type.
fn aligned(attr: Attr, ty: Type) -> Attr {
    match attr {
        Attr::Mem(mem) => Attr::Mem(MemAttr { align: ty.bytes(), ..mem }),
        other => other,
    }
}
