//! Neighbouring scalars as the lanes of a word (superword-level parallelism).
//!
//! Two halves that are loaded, computed with alike and stored side by side take two instructions of each kind, and one where
//! they are the lanes of an `f16x2`. The same goes for pairs of `i16` and for four `i8`.
//!
//! It begins at stores to neighbouring elements with no other access among them, the first at a multiple of the word's size.
//! What they store is followed back through ops that do the same in every lane, to loads of neighbouring elements. At the
//! edges values are put together: one for all lanes, constants, the lanes of a vector, or at the price of an instruction a
//! lane anything. A load or op is taken in where nothing else needs its results. The word is taken where instructions are saved.

use cranelift_entity::{EntitySet, SecondaryMap};
use halfbyte_ir::op::{ArgType, ResultType};
use halfbyte_ir::{Attr, AttrKind, Block, Inst, Kernel, Legality, MemAttr, Op, Span, Type, Value, ValueList};
use smallvec::SmallVec;

use super::accesses::{address, note_parts, value_type};
use super::zeros::LowZeros;
use crate::pass::{BuiltIn, Context, Order};
use crate::trace::{How, Tell, Trace};

/// The pass.
pub const PASS: BuiltIn = BuiltIn {
    name: "slp",
    description: "makes what is done alike to neighbouring scalars an op on the lanes of a word",
    order: &[
        (Order::After("unroll"), "accesses of several iterations are neighbours then"),
        (Order::After("pack"), "a packed kernel has streams in place of the accesses that it looks for"),
        (Order::Before("legalise"), "the target may lack the op on lanes"),
    ],
    run,
};

/// So many groups of values are looked at for one word, then the rest is put together from lanes.
const MAX_GROUPS: usize = 64;
/// The most lanes of a word.
const MAX_LANES: usize = 4;

type Lanes<T> = SmallVec<[T; MAX_LANES]>;

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    // Where work items share vectors, their neighbours are the lanes.
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
        if !insts.iter().any(|&inst| kernel.insts[inst].op == Op::Store && word_of(kernel.insts[inst].ty).is_some()) {
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

/// The vector of one word whose lanes a scalar can be.
fn word_of(ty: Type) -> Option<Type> {
    match ty {
        Type::F16 => Some(Type::F16X2),
        Type::BF16 => Some(Type::BF16X2),
        Type::I16 => Some(Type::I16X2),
        Type::I8 => Some(Type::I8X4),
        _ => None,
    }
}

/// Values that are the lanes of a word.
#[derive(Clone, Debug)]
struct Group {
    values: Lanes<Value>,
    how: Made,
    /// How often it is an operand of what the word takes in.
    uses: u32,
}

/// How a group's word is made.
#[derive(Clone, Debug)]
enum Made {
    /// By the op that makes each lane, of these groups.
    Op { insts: Lanes<Inst>, args: SmallVec<[usize; 3]> },
    /// By one load.
    Load { insts: Lanes<Inst> },
    /// It is there.
    Whole(Value),
    /// It is constant.
    Const([u64; 8]),
    /// One value is all lanes.
    Splat,
    /// Out of its lanes.
    Concat,
}

impl Made {
    /// What it takes in.
    fn insts(&self) -> &[Inst] {
        match self {
            Made::Op { insts, .. } | Made::Load { insts } => insts,
            _ => &[],
        }
    }
}

/// Neighbouring stores that become one.
struct Word {
    stores: Lanes<Inst>,
    ty: Type,
    /// What it is computed by, operands first; the last is what is stored.
    groups: Vec<Group>,
}

/// Where an instruction of the block stands.
#[derive(Clone, Copy, Default)]
struct Position {
    /// One more than its number in the block; zero elsewhere.
    at: u32,
    /// Its number among the accesses.
    access: u32,
}

struct Search<'l> {
    legality: &'l Legality,
    zeros: LowZeros,
    uses: SecondaryMap<Value, u32>,
    /// The block that is looked at, in order.
    insts: Vec<Inst>,
    accesses: Vec<Inst>,
    places: SecondaryMap<Inst, Position>,
    groups: Vec<Group>,
    /// What is needed elsewhere too and stays as it is.
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

    /// Looks at another block.
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

    /// What can be stored as words.
    fn words(&mut self, kernel: &Kernel) -> Vec<Word> {
        let mut words = Vec::new();
        let mut next = 0;
        while let Some(&first) = self.accesses.get(next) {
            let ty = word_of(kernel.insts[first].ty).filter(|_| kernel.insts[first].op == Op::Store);
            let stores = ty.and_then(|ty| self.accesses.get(next..next + ty.lanes()));
            let stores: Option<Lanes<Inst>> = stores.map(SmallVec::from_slice);
            let word = ty.zip(stores).and_then(|(ty, stores)| self.word(kernel, ty, stores));
            next += word.as_ref().map_or(1, |word| word.stores.len());
            words.extend(word);
        }
        words
    }

    fn word(&mut self, kernel: &Kernel, ty: Type, stores: Lanes<Inst>) -> Option<Word> {
        if !self.are_neighbours(kernel, ty, &stores) {
            return None;
        }
        let stored: Option<Lanes<Value>> = stores.iter().map(|&store| kernel.args(store).first().copied()).collect();
        let stored = stored?;
        self.kept.clear();
        loop {
            self.groups.clear();
            self.group(kernel, ty, &stored)?;
            let is_needed = |group: &&Group| {
                !group.how.insts().is_empty() && group.values.iter().any(|&value| self.uses[value] != group.uses)
            };
            match self.groups.iter().find(is_needed) {
                Some(needed) => self.kept.push(needed.values.clone()),
                None => break,
            }
        }
        let saved: i32 = self.groups.iter().map(|group| saved(group, ty)).sum();
        (saved + ty.lanes() as i32 > 1).then(|| Word { stores, ty, groups: std::mem::take(&mut self.groups) })
    }

    /// Whether accesses are one after another, to neighbouring elements, the first at a multiple of the word's size.
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

    /// The number of the group that these values are.
    fn group(&mut self, kernel: &Kernel, ty: Type, values: &[Value]) -> Option<usize> {
        if let Some(known) = self.groups.iter().position(|group| group.values[..] == *values) {
            self.groups.get_mut(known)?.uses += 1;
            return Some(known);
        }
        let how = self.made(kernel, ty, values)?;
        self.groups.push(Group { values: SmallVec::from_slice(values), how, uses: 1 });
        Some(self.groups.len() - 1)
    }

    /// How a word of these lanes can be made; none where it cannot.
    fn made(&mut self, kernel: &Kernel, ty: Type, values: &[Value]) -> Option<Made> {
        let defs: Option<Lanes<Inst>> = values.iter().map(|&value| kernel.def_inst(value)).collect();
        if let Some(defs) = defs {
            if let Some(bits) = constant(kernel, ty, &defs) {
                return Some(Made::Const(bits));
            }
            if let Some(whole) = whole(kernel, ty, &defs) {
                return Some(Made::Whole(whole));
            }
            let is_kept = self.groups.len() >= MAX_GROUPS || self.kept.iter().any(|kept| kept[..] == *values);
            if !is_kept && defs.first().is_some_and(|&first| kernel.insts[first].op == Op::Load) {
                if self.are_neighbours(kernel, ty, &defs) {
                    return Some(Made::Load { insts: defs });
                }
            } else if !is_kept && self.are_alike(kernel, ty, &defs) {
                let count = defs.first().map_or(0, |&first| kernel.args(first).len());
                let mut args = SmallVec::new();
                for number in 0..count {
                    let lanes = defs.iter().map(|&inst| kernel.args(inst).get(number).copied());
                    let lanes: Option<Lanes<Value>> = lanes.collect();
                    args.push(self.group(kernel, ty, &lanes?)?);
                }
                return Some(Made::Op { insts: defs, args });
            }
        }
        let is_one = values.iter().all(|value| Some(value) == values.first());
        match is_one {
            true if self.legality.is_native(Op::Splat, ty) => Some(Made::Splat),
            _ => self.legality.is_native(Op::Concat, ty).then_some(Made::Concat),
        }
    }

    /// Whether these different instructions of the block do the same, and an op of the word does so in its lanes.
    fn are_alike(&self, kernel: &Kernel, ty: Type, insts: &[Inst]) -> bool {
        let Some(data) = insts.first().map(|&first| kernel.insts[first]) else { return false };
        let row = data.op.row();
        let is_in_lanes = row.lanewise
            && row.result == ResultType::Same
            && row.args.iter().all(|&arg| arg == ArgType::Same)
            && matches!(row.attr, AttrKind::None | AttrKind::Float(_));
        let is_alike = |(number, &inst): (usize, &Inst)| {
            let other = kernel.insts[inst];
            let is_new = !insts.get(..number).unwrap_or(&[]).contains(&inst);
            is_new
                && self.places[inst].at > 0
                && (other.op, other.ty, other.attr) == (data.op, ty.lane_type(), data.attr)
        };
        is_in_lanes && self.legality.is_native(data.op, ty) && insts.iter().enumerate().all(is_alike)
    }

    /// Makes the words' instructions and takes out those that they stand for.
    fn rewrite(&self, kernel: &mut Kernel, block: Block, words: &[Word], trace: &mut Option<Trace>) {
        let mut removed = EntitySet::new();
        // New instructions, each with the number of the one that it stands before.
        let mut made: Vec<(u32, Inst)> = Vec::new();
        for word in words {
            self.make(kernel, word, &mut made, &mut removed, trace);
        }
        // Those of one place stay in their order.
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
        for group in &word.groups {
            let taken = group.how.insts();
            let span = taken.first().map_or(word_span(kernel, word), |&first| kernel.insts[first].span);
            let before: Vec<_> = taken.iter().map(|&inst| trace.before(kernel, inst)).collect();
            let (place, inst) = match &group.how {
                Made::Whole(whole) => {
                    values.push(*whole);
                    continue;
                }
                Made::Op { insts, args } => {
                    let Some(data) = insts.first().map(|&first| kernel.insts[first]) else { continue };
                    let args: SmallVec<[Value; 3]> = args.iter().filter_map(|&arg| values.get(arg).copied()).collect();
                    let inst = kernel.make_inst(data.op, word.ty, data.attr, &args, Some(word.ty), span);
                    (insts.iter().map(|&inst| at(inst)).max(), inst)
                }
                Made::Load { insts } => {
                    let Some(&first) = insts.first() else { continue };
                    (Some(at(first)), load(kernel, word.ty, insts, span))
                }
                Made::Const(bits) => {
                    let attr = kernel.const_attr(word.ty, *bits);
                    (Some(0), kernel.make_inst(Op::Const, word.ty, attr, &[], Some(word.ty), span))
                }
                how => {
                    let (op, lanes) = match how {
                        Made::Splat => (Op::Splat, group.values.get(..1).unwrap_or(&[])),
                        _ => (Op::Concat, &group.values[..]),
                    };
                    // After the last of its lanes.
                    let defs = group.values.iter().filter_map(|&value| kernel.def_inst(value));
                    let place = defs.map(|def| self.places[def].at).max();
                    (place, kernel.make_inst(op, word.ty, Attr::None, lanes, Some(word.ty), span))
                }
            };
            made.push((place.unwrap_or(0), inst));
            values.extend(kernel.result(inst));
            removed.extend(taken.iter().copied());
            for before in before {
                trace.joined(before, How::Told("done with its neighbours in the lanes of a word"), kernel, &[inst]);
            }
        }
        let Some((&stored, (&last, others))) = values.last().zip(word.stores.split_last()) else { return };
        removed.extend(others.iter().copied());
        store(kernel, word, stored, last, trace);
    }
}

/// The place in the text of a word's first store.
fn word_span(kernel: &Kernel, word: &Word) -> Span {
    word.stores.first().map_or(Span::default(), |&first| kernel.insts[first].span)
}

/// The instructions that a group saves.
fn saved(group: &Group, ty: Type) -> i32 {
    let others = ty.lanes() as i32 - 1;
    match group.how {
        Made::Op { .. } | Made::Load { .. } => others,
        Made::Concat => -others,
        Made::Whole(_) | Made::Const(_) | Made::Splat => 0,
    }
}

/// The word of constant lanes.
fn constant(kernel: &Kernel, ty: Type, defs: &[Inst]) -> Option<[u64; 8]> {
    let bits = ty.lane_type().bits();
    let mut word = [0; 8];
    for (number, &def) in (0..).zip(defs) {
        let [lane, ..] = kernel.const_bits(def).filter(|_| kernel.insts[def].op == Op::Const)?;
        word[0] |= lane << (number * bits);
    }
    Some(word)
}

/// The vector of which these are the lanes in order.
fn whole(kernel: &Kernel, ty: Type, defs: &[Inst]) -> Option<Value> {
    let &first = kernel.args(*defs.first()?).first()?;
    let is_lane = |(number, &def): (u8, &Inst)| {
        let data = &kernel.insts[def];
        data.op == Op::Extract && data.attr == Attr::Lane(number) && kernel.args(def).first() == Some(&first)
    };
    ((0..).zip(defs).all(is_lane) && kernel.ty(first) == ty).then_some(first)
}

/// One load of what these load.
fn load(kernel: &mut Kernel, ty: Type, insts: &[Inst], span: Span) -> Inst {
    let first = insts.first().copied();
    let from = first.map_or(Vec::new(), |first| address(kernel, first).to_vec());
    let attr = first.map_or(Attr::None, |first| aligned(kernel.insts[first].attr, ty));
    let load = kernel.make_inst(Op::Load, ty, attr, &from, Some(ty), span);
    let taken: Lanes<(Inst, Span)> = insts.iter().map(|&inst| (inst, kernel.insts[inst].span)).collect();
    note_parts(kernel, load, ty.lane_type().bytes(), &taken);
    load
}

/// Makes the last store that of the word.
fn store(kernel: &mut Kernel, word: &Word, stored: Value, last: Inst, trace: &mut Option<Trace>) {
    let before: Vec<_> = word.stores.iter().map(|&inst| trace.before(kernel, inst)).collect();
    let taken: Lanes<(Inst, Span)> = word.stores.iter().map(|&inst| (inst, kernel.insts[inst].span)).collect();
    let Some(&(first, span)) = taken.first() else { return };
    let args: Vec<Value> = std::iter::once(stored).chain(address(kernel, first).iter().copied()).collect();
    let args = ValueList::from_slice(&args, &mut kernel.pool);
    let attr = aligned(kernel.insts[first].attr, word.ty);
    let data = &mut kernel.insts[last];
    (data.ty, data.attr, data.args, data.span) = (word.ty, attr, args, span);
    note_parts(kernel, last, word.ty.lane_type().bytes(), &taken);
    for before in before {
        trace.joined(before, How::Told("done with its neighbours in the lanes of a word"), kernel, &[last]);
    }
}

/// The address with the alignment of a type.
fn aligned(attr: Attr, ty: Type) -> Attr {
    match attr {
        Attr::Mem(mem) => Attr::Mem(MemAttr { align: ty.bytes(), ..mem }),
        other => other,
    }
}
