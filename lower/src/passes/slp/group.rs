//! Lane groups: slices that become the lanes of one word, and the computation of the word.

use halfbyte_ir::{Attr, Inst, Kernel, Op, Type, Value};
use smallvec::SmallVec;

use super::compare::{Condition, LaneCompare};
use super::lane_op::{Kind, LaneOp, NarrowOpFinder, int_word};
use super::slice::{Slice, chain, source};
use super::{Lanes, MAX_GROUPS, Search};

/// Slices that become the lanes of one word.
#[derive(Clone, Debug)]
pub(super) struct LaneGroup {
    pub lanes: Lanes<Slice>,
    /// Type of the word, or of the mask with the same lanes.
    pub ty: Type,
    pub how: WordSource,
}

/// Computation of the word of a lane group.
#[derive(Clone, Debug)]
pub(super) enum WordSource {
    /// Packed op that replaces the scalar instructions `insts`. `args` are the indices of the lane groups of its
    /// operands, and `of` is its controlling type.
    Op { kind: Kind, of: Type, insts: Lanes<Inst>, args: SmallVec<[usize; 3]> },
    /// Packed load that replaces the scalar loads `insts`.
    Load { insts: Lanes<Inst> },
    /// Existing value that has the bits of the word.
    Whole(Value),
    /// 32-bit part of a wider value.
    Part(Register),
    /// Constant word.
    Const(u64),
    /// Shuffle of two registers, of one register and a constant word, or of one register.
    Shuffle { registers: SmallVec<[Register; 2]>, constant: Option<u64>, map: Lanes<u8> },
    /// Splat of one scalar value.
    Splat,
    /// `concat` of the scalar values.
    Concat,
}

/// The 32 bits of a value from bit `number * 32` on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Register {
    pub of: Value,
    pub number: u8,
}

/// Source of a slice: memory, a register or an op. Lanes of one word usually have equal origins.
#[derive(PartialEq)]
enum Origin {
    Memory(Value, Option<Value>),
    Register(Register),
    Op(Op),
    Constant,
}

impl Search<'_> {
    /// Returns the index of the group whose lanes are `lanes`. Creates the group if there is none.
    pub(super) fn group(&mut self, kernel: &Kernel, ty: Type, lanes: &[Slice]) -> Option<usize> {
        let is_same = |group: &LaneGroup| group.lanes[..] == *lanes && group.ty.is_mask() == ty.is_mask();
        if let Some(known) = self.groups.iter().position(is_same) {
            return Some(known);
        }
        let (ty, how) = if ty.is_mask() { (ty, self.mask(kernel, lanes)?) } else { self.made(kernel, ty, lanes)? };
        self.groups.push(LaneGroup { lanes: SmallVec::from_slice(lanes), ty, how });
        Some(self.groups.len() - 1)
    }

    /// Returns the computation of the mask of a packed op. If all lanes have the same condition, the mask is that
    /// condition. Otherwise, the mask is the result of a packed comparison.
    fn mask(&mut self, kernel: &Kernel, lanes: &[Slice]) -> Option<WordSource> {
        let truths: Option<Lanes<Condition>> = lanes.iter().map(|&lane| Condition::of_lane(lane)).collect();
        let truths = truths?;
        if is_one(&truths) && truths.iter().all(|truth| !truth.is_complement) {
            return truths.first().map(|truth| WordSource::Whole(truth.of));
        }
        let (insts, compares) = self.compares(kernel, &truths)?;
        let one = compares.first()?;
        let (kind, of) = (Kind::Op(one.op, one.attr), one.ty);
        let mut args = SmallVec::new();
        for number in 0..2 {
            let lanes: Option<Lanes<Slice>> = compares.iter().map(|one| one.args.get(number).copied()).collect();
            args.push(self.group(kernel, of, &lanes?)?);
        }
        Some(WordSource::Op { kind, of, insts, args })
    }

    /// Returns the comparisons that define truth values, if one packed comparison can replace them.
    fn compares(&self, kernel: &Kernel, truths: &[Condition]) -> Option<(Lanes<Inst>, Lanes<LaneCompare>)> {
        let narrow = NarrowOpFinder::new(kernel, 32 / truths.len() as u32);
        let insts: Option<Lanes<Inst>> = truths.iter().map(|truth| kernel.def_inst(truth.of)).collect();
        let insts = insts.filter(|insts| self.are_here(insts))?;
        let compares: Option<Lanes<LaneCompare>> = truths.iter().map(|&truth| narrow.compare(truth)).collect();
        let mut compares = compares?;
        let (one, others) = compares.split_first_mut()?;
        others.iter_mut().filter(|other| other.attr != one.attr).for_each(LaneCompare::exchange);
        let is_same = |other: &LaneCompare| (other.op, other.attr, other.ty) == (one.op, one.attr, one.ty);
        let fits = others.iter().all(is_same) && self.legality.is_native(one.op, one.ty);
        fits.then_some((insts, compares))
    }

    /// Returns `true` if the instructions are distinct and belong to the block.
    fn are_here(&self, insts: &[Inst]) -> bool {
        insts
            .iter()
            .enumerate()
            .all(|(number, inst)| self.places[*inst].at > 0 && !insts.get(..number).unwrap_or(&[]).contains(inst))
    }

    /// Returns the computation of a word with the given lanes, and its type. Returns `None` if the target cannot
    /// assemble the word.
    fn made(&mut self, kernel: &Kernel, ty: Type, lanes: &[Slice]) -> Option<(Type, WordSource)> {
        let width = ty.elem().bits();
        let chains: Lanes<_> = lanes.iter().map(|&lane| chain(kernel, lane, width)).collect();
        let ends: Lanes<Slice> = chains.iter().filter_map(|chain| chain.last().copied()).collect();
        if let Some(bits) = constant(&ends, width) {
            return Some((ty, WordSource::Const(bits)));
        }
        if let Some(register) = self.whole(kernel, &chains, width) {
            if kernel.ty(register.of).bits() == 32 {
                return Some((ty, WordSource::Whole(register.of)));
            }
            if self.legality.is_native(Op::Split, ty) {
                return Some((ty, WordSource::Part(register)));
            }
        }
        let is_kept = self.groups.len() >= MAX_GROUPS || self.kept.iter().any(|kept| kept[..] == *lanes);
        if !is_kept {
            if let Some(insts) = self.loads(kernel, ty, &chains) {
                return Some((ty, WordSource::Load { insts }));
            }
            if let Some((insts, ops)) = self.ops(kernel, width, &ends) {
                return self.op(kernel, insts, &ops);
            }
        }
        let ty = if width == 16 { halves_of(kernel, &ends).unwrap_or(ty) } else { ty };
        self.assembled(kernel, ty, &ends)
    }

    /// Returns the register whose lanes are those of the chains, in order.
    fn whole(&self, kernel: &Kernel, chains: &[SmallVec<[Slice; 8]>], width: u32) -> Option<Register> {
        chains.first()?.iter().find_map(|slice| {
            let &Slice::Bits { of, low } = slice else { return None };
            let is_lane = |(number, chain): (u32, &SmallVec<[Slice; 8]>)| {
                chain.contains(&Slice::Bits { of, low: low + number * width })
            };
            let register = Register { of, number: (low / 32) as u8 };
            let is_register = low.is_multiple_of(32) && kernel.ty(of).bits() >= 32 && self.is_usable(kernel, register);
            (is_register && (0..).zip(chains).all(is_lane)).then_some(register)
        })
    }

    /// Returns the loads of neighbouring elements that give the lanes.
    fn loads(&mut self, kernel: &Kernel, ty: Type, chains: &[SmallVec<[Slice; 8]>]) -> Option<Lanes<Inst>> {
        let loaded = |chain: &SmallVec<[Slice; 8]>| {
            chain.iter().find_map(|slice| match *slice {
                Slice::Bits { of, low: 0 } if kernel.ty(of).bits() == ty.elem().bits() => {
                    kernel.def_inst(of).filter(|&inst| kernel.insts[inst].op == Op::Load)
                }
                _ => None,
            })
        };
        let insts: Option<Lanes<Inst>> = chains.iter().map(loaded).collect();
        let insts = insts?;
        let lane = kernel.insts[*insts.first()?].ty;
        let ty = super::word_of(lane).filter(|word| word.lanes() == ty.lanes())?;
        self.are_neighbours(kernel, ty, &insts).then_some(insts)
    }

    /// Returns the narrow ops that compute the lanes, and their instructions, if one packed op can replace them.
    fn ops(&self, kernel: &Kernel, width: u32, ends: &[Slice]) -> Option<(Lanes<Inst>, Lanes<LaneOp>)> {
        let narrow = NarrowOpFinder::new(kernel, width);
        let insts: Option<Lanes<Inst>> = ends
            .iter()
            .map(|end| match *end {
                Slice::Bits { of, .. } => kernel.def_inst(of),
                Slice::Known(_) => None,
            })
            .collect();
        let insts = insts.filter(|insts| self.are_here(insts))?;
        let ops: Option<Lanes<LaneOp>> = ends.iter().map(|&end| narrow.lane_op(end)).collect();
        let mut ops = ops?;
        let one = ops.first()?;
        let is_alike = |op: &LaneOp| {
            let has_condition = op.condition.is_some() == one.condition.is_some();
            (op.kind, op.ty, op.args.len()) == (one.kind, one.ty, one.args.len()) && has_condition
        };
        if !ops.iter().all(is_alike) || !self.has(one) {
            return None;
        }
        let conditions: Lanes<Condition> = ops.iter().filter_map(|op| op.condition).collect();
        if !conditions.is_empty() {
            // If all lanes have the same condition, the packed select uses it.
            let is_plain = is_one(&conditions) && conditions.iter().all(|truth| !truth.is_complement);
            if !is_plain && self.compares(kernel, &conditions).is_none() {
                return None;
            }
        }
        if let Kind::Op(Op::Shl | Op::ShrS | Op::ShrU | Op::Rotl | Op::Rotr, _) = one.kind {
            // The target may shift all lanes by one constant count only.
            let counts: Lanes<Slice> =
                ops.iter().filter_map(|op| op.args.get(1)).map(|&count| source(kernel, count, width)).collect();
            if !counts.iter().all(|count| Some(count) == counts.first() && matches!(count, Slice::Known(_))) {
                return None;
            }
        }
        self.align(kernel, width, &mut ops);
        Some((insts, ops))
    }

    /// Returns the packed op that replaces narrow ops, and the type of its word.
    fn op(&mut self, kernel: &Kernel, insts: Lanes<Inst>, ops: &[LaneOp]) -> Option<(Type, WordSource)> {
        let one = ops.first()?;
        let mut args = SmallVec::new();
        if one.condition.is_some() {
            let lanes: Lanes<Slice> = ops.iter().filter_map(|op| op.condition.map(Condition::lane)).collect();
            args.push(self.group(kernel, one.ty.mask_type()?, &lanes)?);
        }
        for number in 0..one.args.len() {
            let lanes: Option<Lanes<Slice>> = ops.iter().map(|op| op.args.get(number).copied()).collect();
            args.push(self.group(kernel, one.ty, &lanes?)?);
        }
        Some((one.ty, WordSource::Op { kind: one.kind, of: one.ty, insts, args }))
    }

    /// Returns `true` if the target has a packed op.
    fn has(&self, op: &LaneOp) -> bool {
        match op.kind {
            Kind::Op(Op::Not, _) => self.legality.is_native(Op::Xor, op.ty),
            Kind::Op(kind, _) => self.legality.is_native(kind, op.ty),
            Kind::FloorAverage => self.legality.is_native(Op::ShrU, Type::I32),
        }
    }

    /// Swaps operands of commutative ops, so that the operands at the same position have the same origin.
    fn align(&self, kernel: &Kernel, width: u32, ops: &mut [LaneOp]) {
        let Some((one, others)) = ops.split_first_mut() else { return };
        let is_commutative = match one.kind {
            Kind::Op(op, _) => op.row().commutative,
            Kind::FloorAverage => true,
        };
        let Some(&first) = one.args.first().filter(|_| is_commutative) else { return };
        let origin = |slice: Slice| origin(kernel, source(kernel, slice, width));
        let wanted = origin(first);
        for other in others {
            let [a, b] = [0, 1].map(|number| other.args.get(number).map(|&arg| origin(arg)));
            if a.as_ref() != Some(&wanted) && b.as_ref() == Some(&wanted) {
                other.args.swap(0, 1);
            }
        }
    }

    /// Returns a word that is assembled from its lanes.
    fn assembled(&self, kernel: &Kernel, ty: Type, ends: &[Slice]) -> Option<(Type, WordSource)> {
        let width = ty.elem().bits();
        let is_scalar_lane = |of: Value| kernel.ty(of).bits() < 32;
        let has_scalars = ends.iter().any(|end| matches!(*end, Slice::Bits { of, .. } if is_scalar_lane(of)));
        if !has_scalars && let Some(shuffle) = self.shuffled(kernel, ty, ends) {
            return Some((int_word(width), shuffle));
        }
        let is_left =
            |end: &Slice| matches!(*end, Slice::Bits { of, .. } if !self.is_usable(kernel, Register { of, number: 0 }));
        if ends.iter().any(is_left) {
            return None;
        }
        match ends.iter().all(|end| Some(end) == ends.first()) {
            true if self.legality.is_native(Op::Splat, ty) => Some((ty, WordSource::Splat)),
            _ => self.legality.is_native(Op::Concat, ty).then_some((ty, WordSource::Concat)),
        }
    }

    /// Returns the shuffle of at most two registers that gives the lanes.
    fn shuffled(&self, kernel: &Kernel, ty: Type, ends: &[Slice]) -> Option<WordSource> {
        let width = ty.elem().bits();
        let count = 32 / width;
        let mut registers: SmallVec<[Register; 2]> = SmallVec::new();
        let mut constant = None;
        let mut map: Lanes<u8> = SmallVec::new();
        for end in ends {
            let number = match *end {
                Slice::Bits { of, low } => {
                    let register = Register { of, number: (low / 32) as u8 };
                    if !self.is_usable(kernel, register) {
                        return None;
                    }
                    let known = registers.iter().position(|&known| known == register);
                    let place = known.unwrap_or(registers.len());
                    if known.is_none() {
                        registers.push(register);
                    }
                    place as u32 * count + low % 32 / width
                }
                Slice::Known(_) => u32::MAX,
            };
            map.push(number as u8);
        }
        // A constant lane comes from a constant word, which is the last operand.
        let known = registers.len() as u32;
        for (number, (end, place)) in (0..).zip(ends.iter().zip(&mut map)) {
            if let Slice::Known(bits) = *end {
                *constant.get_or_insert(0) |= bits << (number * width);
                *place = (known * count + number) as u8;
            }
        }
        let operands = registers.len() + usize::from(constant.is_some());
        let word = int_word(width);
        let fits = (1..=2).contains(&operands) && !registers.is_empty() && self.legality.is_native(Op::Shuffle, word);
        fits.then_some(WordSource::Shuffle { registers, constant, map })
    }

    /// Returns `true` if the word may use a register: the register is no mask, is not removed by another word, and is
    /// not the root of the search.
    fn is_usable(&self, kernel: &Kernel, register: Register) -> bool {
        let ty = kernel.ty(register.of);
        Some(register.of) != self.root && !ty.is_mask() && !self.gone.contains(register.of)
    }
}

/// Returns the bits of a word whose lanes are constant.
fn constant(ends: &[Slice], width: u32) -> Option<u64> {
    (0..).zip(ends).try_fold(0, |word, (number, end)| match end {
        Slice::Known(bits) => Some(word | bits << (number * width)),
        Slice::Bits { .. } => None,
    })
}

/// Returns the origin of a slice that no move defines.
fn origin(kernel: &Kernel, slice: Slice) -> Origin {
    let Slice::Bits { of, low } = slice else { return Origin::Constant };
    let def = kernel.def_inst(of).map(|inst| (&kernel.insts[inst], kernel.args(inst)));
    match def {
        Some((data, &[base, ref index @ ..])) if data.op == Op::Load && data.ty.bits() < 32 => {
            Origin::Memory(base, index.first().copied())
        }
        Some((data, _)) if data.op != Op::Load && data.ty.is_scalar() && data.op.is_pure() => Origin::Op(data.op),
        _ => Origin::Register(Register { of, number: (low / 32) as u8 }),
    }
}

/// Returns `true` if all truth values are the same value.
fn is_one(truths: &[Condition]) -> bool {
    truths.iter().all(|truth| Some(truth) == truths.first())
}

/// The attribute of the lowest lane.
pub(super) const FIRST_LANE: Attr = Attr::Lane(0);

impl LaneGroup {
    /// Returns the slices from which moves have copied the lanes.
    pub(super) fn ends(&self, kernel: &Kernel) -> Lanes<Slice> {
        let width = if self.ty.is_mask() { 1 } else { self.ty.elem().bits() };
        self.lanes.iter().map(|&lane| source(kernel, lane, width)).collect()
    }
}

/// Returns the packed half-precision type for slices that are whole values of one half-precision type.
fn halves_of(kernel: &Kernel, ends: &[Slice]) -> Option<Type> {
    let half = |end: &Slice| match *end {
        Slice::Bits { of, low: 0 } => super::word_of(kernel.ty(of)).filter(|ty| ty.is_half()),
        _ => None,
    };
    let first = half(ends.first()?)?;
    ends.iter().all(|end| half(end) == Some(first)).then_some(first)
}
