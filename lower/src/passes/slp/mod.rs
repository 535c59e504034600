//! Superword-level parallelism: packs scalars into the lanes of a word.
//!
//! Loading, computing and storing two adjacent halves takes two instructions for each step. If the halves are the two
//! lanes of an `f16x2`, each step takes one instruction. The same applies to pairs of `i16` and to four `i8`.
//!
//! A search begins at stores to neighbouring elements, if no other access lies between them and the first address is a
//! multiple of the word's size. Another search begins at an instruction that assembles a word of bytes or half-words: a
//! `concat`, a `shuffle`, or an `or` of shifted parts. A third one begins at a sum whose terms are lanes ([`sum`]).
//!
//! The search follows the operands through ops that are the same in every lane, including selects by one comparison for
//! each lane. It looks through moves of bits ([`slice`]), and replaces wide ops by narrow ops that compute the same low
//! bits ([`lane_op`]).
//!
//! The search ends at loads of neighbouring elements, at whole registers, and at lanes of at most two registers, which
//! one `shuffle` selects. All other operands are assembled. A splat and constants need no instruction; other values
//! need one instruction for each lane. A word is packed only if this saves instructions ([`profit`]).

mod compare;
mod group;
mod lane_op;
mod narrow_idioms;
mod profit;
mod rewrite;
mod slice;
mod sum;

use cranelift_entity::{EntitySet, SecondaryMap};
use halfbyte_ir::{Attr, Block, Inst, Kernel, Legality, Op, Span, Type, Value};
use smallvec::SmallVec;

use self::group::{LaneGroup, WordSource};
use self::profit::Effect;
use self::slice::{Slice, source};
use self::sum::LaneSum;
use super::accesses::{address, value_type};
use super::zeros::LowZeros;
use crate::pass::{BuiltIn, Context, Order};

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
            let is_sum = (data.op, data.ty) == (Op::Add, Type::I32);
            data.op == Op::Store && word_of(data.ty).is_some() || is_sum || may_assemble(kernel, inst)
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

/// Returns `true` if an instruction may assemble words of bytes or half-words.
fn may_assemble(kernel: &Kernel, inst: Inst) -> bool {
    let data = &kernel.insts[inst];
    let args = kernel.args(inst);
    match data.op {
        Op::Concat => matches!(data.ty.bits(), 32 | 64 | 128) && args.iter().all(|&part| kernel.ty(part).bits() < 32),
        Op::Shuffle | Op::Insert => data.ty.bits() == 32,
        Op::Or => data.ty == Type::I32,
        Op::Xor | Op::Add => {
            // A shift moves a part of the word to its place, or a select or mask computes the part.
            let is_part = |&part: &Value| {
                let op = kernel.def_inst(part).map(|part| kernel.insts[part].op);
                matches!(op, Some(Op::Shl | Op::Select | Op::And | Op::Bitcast))
            };
            data.ty == Type::I32 && args.iter().any(is_part)
        }
        _ => false,
    }
}

/// A word that is worth packing, and its computation.
struct Word {
    begin: Root,
    ty: Type,
    /// Lane groups of the computation. Operands precede their users.
    groups: Vec<LaneGroup>,
    /// Indices of the groups whose words replace the root: one for each 32 bits.
    tops: SmallVec<[usize; 4]>,
    /// Instructions that are no longer needed.
    removed: Vec<Inst>,
}

/// Instructions at which the packing of a word begins.
enum Root {
    /// Stores to neighbouring elements, which become one store.
    Stores(Lanes<Inst>),
    /// An instruction that assembles the lanes, which the packed op replaces.
    Joined(Inst),
    /// A sum of lanes and of the terms `rest`.
    Sum { inst: Inst, sums: Vec<LaneSum>, rest: SmallVec<[Value; 8]> },
}

impl Word {
    /// Returns the source span of the root.
    fn span(&self, kernel: &Kernel) -> Span {
        let first = match &self.begin {
            Root::Stores(stores) => stores.first().copied(),
            Root::Joined(inst) | Root::Sum { inst, .. } => Some(*inst),
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
    /// Lanes that are not packed, because their loads have other uses.
    kept: Vec<Lanes<Slice>>,
    /// Result of the instruction that the words replace. The words must not depend on this value.
    root: Option<Value>,
    /// Results of the instructions that packed words of the block have replaced.
    gone: EntitySet<Value>,
    /// Sums that are terms of other sums.
    partial: EntitySet<Value>,
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
            root: None,
            gone: EntitySet::new(),
            partial: EntitySet::new(),
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
        // An instruction that uses an incomplete word may assemble more lanes of this word, so later instructions are
        // tried first.
        let stored = words.len();
        for at in (0..self.insts.len()).rev() {
            let Some(&inst) = self.insts.get(at) else { break };
            let joined = if may_assemble(kernel, inst) { self.joined(kernel, inst) } else { None };
            let is_sum = kernel.insts[inst].op == Op::Add && kernel.insts[inst].ty == Type::I32;
            words.extend(joined.or_else(|| if is_sum { self.summed(kernel, inst) } else { None }));
        }
        // Restores the order of the block.
        words.get_mut(stored..).unwrap_or_default().reverse();
        words
    }

    /// Returns the word of one store that replaces `stores`, if `stores` access neighbouring elements.
    fn stored(&mut self, kernel: &Kernel, ty: Type, stores: Lanes<Inst>) -> Option<Word> {
        if !self.are_neighbours(kernel, ty, &stores) {
            return None;
        }
        let lane = |&store: &Inst| kernel.args(store).first().map(|&stored| Slice::lowest(stored));
        let lanes: Option<Lanes<Slice>> = stores.iter().map(lane).collect();
        self.root = None;
        let (word, effect) = self.word(kernel, Root::Stores(stores), ty, &[lanes?])?;
        self.commit(kernel, &word.removed, &effect);
        Some(word)
    }

    /// Returns the words that replace an instruction that assembles them.
    fn joined(&mut self, kernel: &Kernel, inst: Inst) -> Option<Word> {
        let root = kernel.result(inst).filter(|&root| self.uses[root] > 0 && !self.gone.contains(root))?;
        self.root = Some(root);
        let bits = kernel.ty(root).bits();
        let mut best: Option<(Word, Effect)> = None;
        for ty in [Type::I16X2, Type::I8X4] {
            let width = ty.elem().bits();
            let lane = |low: u32| Slice::Bits { of: root, low };
            let is_moved = |low: u32| source(kernel, lane(low), width) != lane(low);
            if !(0..bits).step_by(width as usize).all(is_moved) {
                continue;
            }
            let words: SmallVec<[Lanes<Slice>; 4]> = (0..bits)
                .step_by(32)
                .map(|word| (word..word + 32).step_by(width as usize).map(lane).collect())
                .collect();
            if let Some((word, effect)) = self.word(kernel, Root::Joined(inst), ty, &words)
                && best.as_ref().is_none_or(|(_, best)| effect.saved > best.saved)
            {
                best = Some((word, effect));
            }
        }
        let (word, effect) = best?;
        self.commit(kernel, &word.removed, &effect);
        Some(word)
    }

    /// Returns the words with the given lanes, which replace a root, if packing saves instructions.
    fn word(&mut self, kernel: &Kernel, begin: Root, ty: Type, words: &[Lanes<Slice>]) -> Option<(Word, Effect)> {
        self.kept.clear();
        let (tops, mut effect) = loop {
            self.groups.clear();
            let tops: Option<SmallVec<[usize; 4]>> = words.iter().map(|lanes| self.group(kernel, ty, lanes)).collect();
            let tops = tops?;
            match self.effect(kernel, &begin, &self.groups) {
                Ok(effect) => break (tops, effect),
                Err(needed) => self.kept.extend(self.groups.get(needed).map(|group| group.lanes.clone())),
            }
        };
        let groups = std::mem::take(&mut self.groups);
        let is_copy = |&top: &usize| groups.get(top).is_some_and(|top| is_copy(kernel, &begin, top));
        if effect.saved <= 0 || tops.len() == 1 && tops.iter().any(is_copy) {
            return None;
        }
        let removed = std::mem::take(&mut effect.removed);
        let word = Word { begin, ty, groups, tops, removed };
        Some((word, effect))
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
}

/// Returns `true` if the root would become a bitcast of the word to the type that the word already has. The word is
/// then an existing value, a load, or the same `concat` as the root.
fn is_copy(kernel: &Kernel, begin: &Root, top: &LaneGroup) -> bool {
    let Root::Joined(inst) = *begin else { return false };
    let ty = match &top.how {
        WordSource::Whole(of) => Some(kernel.ty(*of)),
        WordSource::Load { insts } => insts.first().and_then(|&load| word_of(kernel.insts[load].ty)),
        WordSource::Concat if kernel.insts[inst].op == Op::Concat => {
            let parts = kernel.args(inst).iter().map(|&part| Slice::lowest(part));
            parts.eq(top.ends(kernel)).then_some(top.ty)
        }
        _ => None,
    };
    ty.is_some() && ty == kernel.result(inst).map(|root| kernel.ty(root))
}
