//! Choice of hardware registers for the register tuples of VP1, before the main allocation.
//!
//! regalloc2 does not support register tuples. So this module fixes the hardware register of each
//! operand in a tuple, and regalloc2 inserts moves for values in other registers. Tuples that are
//! live at the same time get different registers as long as possible. A value gets the same
//! register in all its tuples if possible, so that no move is needed.

use std::cmp::Reverse;
use std::collections::HashMap;

use smallvec::SmallVec;

use super::super::AllocError;
use super::super::flow::Flow;
use super::super::liveness::Liveness;
use super::super::webs::Webs;
use super::check::by_place;
use super::shape::{TupleShape, slot_at};
use super::{R_COUNT, V_COUNT};
use crate::vcode::{Access, Operand, VCode, VReg};
use crate::vp1::Class;
use crate::vp1::machine::Vp1;

/// Marker of an operand or value without a register.
const NONE: u8 = u8::MAX;

/// Hardware register that each operand must have, or [`NONE`] if any register is allowed.
#[derive(Default)]
pub(super) struct Fixed(Vec<u8>);

impl Fixed {
    pub(super) fn get(&self, operand: u32) -> Option<u8> {
        self.0.get(operand as usize).copied().filter(|&register| register != NONE)
    }
}

/// Identity of a tuple: register class, shape, and the virtual register of each part.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    class: Class,
    shape: TupleShape,
    regs: [Option<VReg>; 4],
}

impl Key {
    fn parts(&self) -> impl Iterator<Item = (u8, VReg)> {
        (0..).zip(self.regs).filter_map(|(part, reg)| Some((part, reg?)))
    }

    fn is_one_register(&self) -> bool {
        self.regs[0] == self.regs[1]
    }
}

/// Tuple of virtual registers, with all instructions that use it.
struct Tuple {
    key: Key,
    /// Approximate number of executions of all its uses.
    weight: u64,
    uses: Vec<Use>,
    /// Indices of other tuples that are operands of the same instructions.
    tuples_in_same_instructions: SmallVec<[u32; 2]>,
    /// Number in the register field that was chosen for the tuple, if any.
    number: Option<u8>,
}

/// Use of a tuple by an instruction.
struct Use {
    time: u32,
    /// Index of the first operand that belongs to the tuple.
    operand: u32,
    operands: u32,
}

/// Half-open interval of program points. An instruction reads at an even point and writes at the next odd point.
#[derive(Clone, Copy)]
struct Span {
    from: u32,
    to: u32,
}

impl Span {
    const NEVER: Span = Span { from: u32::MAX, to: 0 };

    /// Returns the interval in which the instruction at point `time` reads its operands.
    const fn read(time: u32) -> Span {
        Span { from: time, to: time + 1 }
    }

    fn cover(&mut self, from: u32, to: u32) {
        *self = Span { from: self.from.min(from), to: self.to.max(to) };
    }

    const fn overlaps(self, other: Span) -> bool {
        self.from < other.to && other.from < self.to
    }
}

/// Virtual register that occupies a hardware register over an interval.
#[derive(Clone, Copy)]
struct Occupancy {
    reg: VReg,
    span: Span,
    weight: u64,
}

/// Fixes the hardware registers of all operands that are parts of tuples.
pub(super) fn fix(code: &VCode<Vp1>, flow: &Flow, liveness: &Liveness) -> Result<Fixed, AllocError> {
    let mut tuples = collect(code, flow);
    if tuples.is_empty() {
        return Ok(Fixed::default());
    }
    let mut order: Vec<usize> = (0..tuples.len()).collect();
    order.sort_by_key(|&i| {
        let tuple = &tuples[i];
        (Reverse(tuple.weight), Reverse(tuple.key.shape.parts()), tuple.uses.first().map(|first| first.time))
    });
    let mut chooser = Chooser {
        spans: spans(code, flow, liveness),
        webs: Webs::of(code, flow),
        homes: vec![NONE; code.vregs.len()],
        occupants: Default::default(),
    };
    let mut fixed = vec![NONE; code.operands.len()];
    for i in order {
        let number = chooser.choose(&tuples, i).ok_or(AllocError::TooLarge)?;
        chooser.occupy(code, &tuples[i], number);
        tuples[i].number = Some(number);
        let shape = tuples[i].key.shape;
        for place in &tuples[i].uses {
            let range = place.operand as usize..(place.operand + place.operands) as usize;
            for (operand, fixed) in code.operands[range.clone()].iter().zip(&mut fixed[range]) {
                *fixed = shape.register(number, operand.part);
            }
        }
    }
    Ok(Fixed(fixed))
}

/// Returns the virtual register that an operand reads. For an in-place update, this is the old one.
fn read(operand: &Operand<Vp1>) -> VReg {
    match operand.access {
        Access::UpdateInPlace(old) => old,
        Access::Use | Access::Def => operand.reg,
    }
}

/// Collects the tuples of the code, in the order of their first uses.
fn collect(code: &VCode<Vp1>, flow: &Flow) -> Vec<Tuple> {
    let depths = depths(flow);
    let (mut tuples, mut known) = (Vec::new(), HashMap::new());
    let mut here: SmallVec<[u32; 2]> = SmallVec::new();
    for (rank, block) in flow.blocks(code) {
        let weight = 8u64.pow(depths[rank].min(4));
        for (inst, at) in code.insts_of(block).iter().zip(flow.range(rank).iter()) {
            here.clear();
            let mut operand = inst.operands.start;
            for same in by_place(code.operands(inst)) {
                let (first, operands) = (operand, same.len() as u32);
                operand += operands;
                let slot = same.first().and_then(|one| {
                    let member = inst.inst.insts.get(usize::from(one.place.inst))?;
                    Some((slot_at(member, one.place.field)?.shape, code.vregs[one.reg.0 as usize]))
                });
                let is_tuple = |&(shape, class): &(TupleShape, Class)| {
                    shape != TupleShape::Single && matches!(class, Class::R | Class::V)
                };
                let Some((shape, class)) = slot.filter(is_tuple) else { continue };
                let mut key = Key { class, shape, regs: [None; 4] };
                same.iter().for_each(|operand| key.regs[usize::from(operand.part)] = Some(read(operand)));
                let i = *known.entry(key).or_insert_with(|| {
                    let beside = SmallVec::new();
                    tuples.push(Tuple {
                        key,
                        weight: 0,
                        uses: Vec::new(),
                        tuples_in_same_instructions: beside,
                        number: None,
                    });
                    tuples.len() as u32 - 1
                });
                let tuple = &mut tuples[i as usize];
                tuple.weight += weight;
                tuple.uses.push(Use { time: 2 * at.0, operand: first, operands });
                here.push(i);
            }
            for &i in &here {
                let others = here.iter().filter(|&&other| other != i);
                tuples[i as usize].tuples_in_same_instructions.extend(others.copied());
            }
        }
    }
    tuples
}

/// Returns the loop depth of each block, by rank. The blocks between the target and the source of a
/// back edge count as the body of a loop.
fn depths(flow: &Flow) -> Vec<u32> {
    let mut depths = vec![0; flow.len()];
    for rank in 0..flow.len() {
        for succ in flow.succs(rank).iter().filter(|succ| succ.index() <= rank) {
            depths[succ.index()..=rank].iter_mut().for_each(|depth| *depth += 1);
        }
    }
    depths
}

/// Returns, for each virtual register, the interval from its first to its last live program point.
fn spans(code: &VCode<Vp1>, flow: &Flow, liveness: &Liveness) -> Vec<Span> {
    let mut spans = vec![Span::NEVER; code.vregs.len()];
    let mut cover = |reg: u32, from: u32, to: u32| spans[reg as usize].cover(from, to);
    for (rank, block) in flow.blocks(code) {
        let range = flow.range(rank);
        let (begin, end) = (2 * range.first().0, 2 * range.last().0 + 2);
        liveness.live_in(rank).iter().for_each(|&reg| cover(reg, begin, begin + 1));
        code.list(&block.params).iter().for_each(|&reg| cover(reg.0, begin, begin + 1));
        for succ in flow.succs(rank) {
            liveness.live_in(succ.index()).iter().for_each(|&reg| cover(reg, end - 1, end));
        }
        for edge in block.terminator.edges() {
            code.list(&edge.args).iter().for_each(|&reg| cover(reg.0, end - 1, end));
        }
        for (inst, at) in code.insts_of(block).iter().zip(range.iter()) {
            let time = 2 * at.0;
            for operand in code.operands(inst) {
                if operand.access != Access::Def {
                    cover(read(operand).0, time, time + 1);
                }
                if operand.access != Access::Use {
                    cover(operand.reg.0, time + 1, time + 2);
                }
            }
        }
    }
    spans
}

/// State of the greedy choice of hardware registers for tuples.
struct Chooser {
    spans: Vec<Span>,
    webs: Webs,
    /// Preferred hardware register of each virtual register. The entry of a web's representative is
    /// the preference of the whole web.
    homes: Vec<u8>,
    /// Virtual registers that occupy each hardware register, by register class and number.
    occupants: [[Vec<Occupancy>; 32]; 2],
}

/// Returns the index of a register class (0 for `$r`, 1 for `$v`) and its number of registers.
const fn file(class: Class) -> (usize, u8) {
    match class {
        Class::R => (0, R_COUNT),
        _ => (1, V_COUNT),
    }
}

impl Chooser {
    /// Returns the number for tuple `i` that costs the fewest moves. If several numbers are equally
    /// good, returns the highest.
    fn choose(&mut self, tuples: &[Tuple], i: usize) -> Option<u8> {
        let tuple = &tuples[i];
        let Key { class, shape, .. } = tuple.key;
        let exists = |&number: &u8| {
            tuple.key.parts().all(|(part, _)| shape.register(number, part) < file(class).1)
                && shape.admits(number, tuple.key.is_one_register())
        };
        let apart = |&number: &u8| {
            tuple.tuples_in_same_instructions.iter().filter_map(|&other| tuples.get(other as usize)).all(|other| {
                let Some(taken) = other.number else { return true };
                let clashes = |(part, reg): (u8, VReg)| {
                    let register = shape.register(number, part);
                    let same = |(part, _): &(u8, VReg)| other.key.shape.register(taken, *part) == register;
                    other.key.class == class && other.key.parts().filter(same).any(|(_, there)| there != reg)
                };
                !tuple.key.parts().any(clashes)
            })
        };
        (0..32).rev().filter(exists).filter(apart).min_by_key(|&number| self.cost(tuple, number))
    }

    /// Returns the approximate cost of the moves that a tuple needs if it gets this number.
    fn cost(&mut self, tuple: &Tuple, number: u8) -> u64 {
        let Key { class, shape, .. } = tuple.key;
        tuple.key.parts().map(|(part, reg)| self.cost_of(tuple, class, reg, shape.register(number, part))).sum()
    }

    fn cost_of(&mut self, tuple: &Tuple, class: Class, reg: VReg, register: u8) -> u64 {
        let home = self.homes[reg.0 as usize];
        if home == register {
            return 0;
        }
        let stays = self.occupants[file(class).0][usize::from(register)].iter().filter(|stay| stay.reg != reg);
        if home != NONE {
            // The value is moved at each use of the tuple. Each other value in the register is moved away and back.
            let met = |stay: &&Occupancy| tuple.uses.iter().any(|place| stay.span.overlaps(Span::read(place.time)));
            return tuple.weight * (1 + 2 * stays.filter(met).count() as u64);
        }
        let span = self.spans[reg.0 as usize];
        let met = stays.filter(|stay| stay.span.overlaps(span)).map(|stay| 2 * stay.weight.min(tuple.weight));
        let met: u64 = met.sum();
        let web = self.homes[self.webs.find(reg.0) as usize];
        // If the registers of one web are in different hardware registers, edges need moves.
        met + if web != NONE && web != register { tuple.weight } else { 0 }
    }

    /// Records that the registers of a tuple occupy the hardware registers of its number.
    fn occupy(&mut self, code: &VCode<Vp1>, tuple: &Tuple, number: u8) {
        let Key { class, shape, .. } = tuple.key;
        let weight = tuple.weight;
        let replacing = tuple.uses.iter().flat_map(|place| {
            let range = place.operand as usize..(place.operand + place.operands) as usize;
            code.operands[range].iter().filter(|operand| operand.access != Access::Use)
        });
        let made = replacing.map(|operand| (operand.part, operand.reg));
        for (part, reg) in tuple.key.parts().chain(made) {
            let register = shape.register(number, part);
            let stays = &mut self.occupants[file(class).0][usize::from(register)];
            let home = &mut self.homes[reg.0 as usize];
            if *home == NONE {
                *home = register;
                stays.push(Occupancy { reg, span: self.spans[reg.0 as usize], weight });
                let web = &mut self.homes[self.webs.find(reg.0) as usize];
                if *web == NONE {
                    *web = register;
                }
            } else if *home != register {
                let visits = tuple.uses.iter().map(|place| Occupancy { reg, span: Span::read(place.time), weight });
                stays.extend(visits);
            }
        }
    }
}
