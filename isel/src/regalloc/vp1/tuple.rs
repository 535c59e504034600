//! Registers for tuples, chosen before the allocation.
//!
//! regalloc2 knows nothing of registers that belong together. Each register of a tuple that an instruction reads is fixed
//! beforehand, and regalloc2 moves values there that lie elsewhere. Tuples that are live at once get numbers apart from each
//! other as long as there are any, and a value stays the same register in all of its tuples where that is possible: then there
//! is nothing to move.

use std::cmp::Reverse;
use std::collections::HashMap;

use smallvec::SmallVec;

use super::super::AllocError;
use super::super::flow::Flow;
use super::super::liveness::Liveness;
use super::super::webs::Webs;
use super::check::by_place;
use super::shape::{Shape, slot_at};
use super::{R_COUNT, V_COUNT};
use crate::vcode::{Access, Operand, VCode, VReg};
use crate::vp1::Class;
use crate::vp1::machine::Vp1;

/// No register.
const NONE: u8 = u8::MAX;

/// The registers that operands are fixed to, by operand.
#[derive(Default)]
pub(super) struct Fixed(Vec<u8>);

impl Fixed {
    pub(super) fn get(&self, operand: u32) -> Option<u8> {
        self.0.get(operand as usize).copied().filter(|&register| register != NONE)
    }
}

/// What makes two tuples the same: the file, the shape, and the virtual registers by part.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    class: Class,
    shape: Shape,
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

/// A tuple, wherever it is read.
struct Tuple {
    key: Key,
    /// How often it is read, about.
    weight: u64,
    uses: Vec<Use>,
    /// Other tuples in the same instructions.
    beside: SmallVec<[u32; 2]>,
    /// The number, once there is one.
    number: Option<u8>,
}

/// A place where a tuple is read.
struct Use {
    time: u32,
    /// The first operand.
    operand: u32,
    operands: u32,
}

/// A stretch of time. An instruction reads at an even time and writes at the odd one after.
#[derive(Clone, Copy)]
struct Span {
    from: u32,
    to: u32,
}

impl Span {
    const NEVER: Span = Span { from: u32::MAX, to: 0 };

    /// Within which an instruction reads.
    const fn read(time: u32) -> Span {
        Span { from: time, to: time + 1 }
    }

    fn cover(&mut self, from: u32, to: u32) {
        *self = Span { from: self.from.min(from), to: self.to.max(to) };
    }

    const fn meets(self, other: Span) -> bool {
        self.from < other.to && other.from < self.to
    }
}

/// A virtual register in a hardware one.
#[derive(Clone, Copy)]
struct Stay {
    reg: VReg,
    span: Span,
    weight: u64,
}

/// Fixes the operands of all tuples.
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
        stays: Default::default(),
    };
    let mut fixed = vec![NONE; code.operands.len()];
    for i in order {
        let number = chooser.choose(&tuples, i).ok_or(AllocError::TooLarge)?;
        chooser.settle(code, &tuples[i], number);
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

/// The register that an operand has before its instruction.
fn read(operand: &Operand<Vp1>) -> VReg {
    match operand.access {
        Access::Replace(old) => old,
        Access::Use | Access::Def => operand.reg,
    }
}

/// All tuples, in the order of the code.
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
                let is_tuple =
                    |&(shape, class): &(Shape, Class)| shape != Shape::Single && matches!(class, Class::R | Class::V);
                let Some((shape, class)) = slot.filter(is_tuple) else { continue };
                let mut key = Key { class, shape, regs: [None; 4] };
                same.iter().for_each(|operand| key.regs[usize::from(operand.part)] = Some(read(operand)));
                let i = *known.entry(key).or_insert_with(|| {
                    let beside = SmallVec::new();
                    tuples.push(Tuple { key, weight: 0, uses: Vec::new(), beside, number: None });
                    tuples.len() as u32 - 1
                });
                let tuple = &mut tuples[i as usize];
                tuple.weight += weight;
                tuple.uses.push(Use { time: 2 * at.0, operand: first, operands });
                here.push(i);
            }
            for &i in &here {
                let others = here.iter().filter(|&&other| other != i);
                tuples[i as usize].beside.extend(others.copied());
            }
        }
    }
    tuples
}

/// How many loops each block is in, by rank: what lies between a backward branch and its target is one.
fn depths(flow: &Flow) -> Vec<u32> {
    let mut depths = vec![0; flow.len()];
    for rank in 0..flow.len() {
        for succ in flow.succs(rank).iter().filter(|succ| succ.index() <= rank) {
            depths[succ.index()..=rank].iter_mut().for_each(|depth| *depth += 1);
        }
    }
    depths
}

/// When each register is live, holes left out of account.
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

/// Chooses numbers, tuple after tuple.
struct Chooser {
    spans: Vec<Span>,
    webs: Webs,
    /// By virtual register, and of a web by the one that stands for it: the register that it should be in.
    homes: Vec<u8>,
    /// By class and register, who has been given it.
    stays: [[Vec<Stay>; 32]; 2],
}

/// What registers a class has, and its place among those that are allocated.
const fn file(class: Class) -> (usize, u8) {
    match class {
        Class::R => (0, R_COUNT),
        _ => (1, V_COUNT),
    }
}

impl Chooser {
    /// The number that costs the fewest moves, the highest of several.
    fn choose(&mut self, tuples: &[Tuple], i: usize) -> Option<u8> {
        let tuple = &tuples[i];
        let Key { class, shape, .. } = tuple.key;
        let exists = |&number: &u8| {
            tuple.key.parts().all(|(part, _)| shape.register(number, part) < file(class).1)
                && shape.admits(number, tuple.key.is_one_register())
        };
        let apart = |&number: &u8| {
            tuple.beside.iter().filter_map(|&other| tuples.get(other as usize)).all(|other| {
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

    /// What moves a tuple's number would cost, about.
    fn cost(&mut self, tuple: &Tuple, number: u8) -> u64 {
        let Key { class, shape, .. } = tuple.key;
        tuple.key.parts().map(|(part, reg)| self.cost_of(tuple, class, reg, shape.register(number, part))).sum()
    }

    fn cost_of(&mut self, tuple: &Tuple, class: Class, reg: VReg, register: u8) -> u64 {
        let home = self.homes[reg.0 as usize];
        if home == register {
            return 0;
        }
        let stays = self.stays[file(class).0][usize::from(register)].iter().filter(|stay| stay.reg != reg);
        if home != NONE {
            // It comes for each use, and whoever is there has to go and come back.
            let met = |stay: &&Stay| tuple.uses.iter().any(|place| stay.span.meets(Span::read(place.time)));
            return tuple.weight * (1 + 2 * stays.filter(met).count() as u64);
        }
        let span = self.spans[reg.0 as usize];
        let met = stays.filter(|stay| stay.span.meets(span)).map(|stay| 2 * stay.weight.min(tuple.weight));
        let met: u64 = met.sum();
        let web = self.homes[self.webs.find(reg.0) as usize];
        // Where control goes from one of the web to another it would be moved.
        met + if web != NONE && web != register { tuple.weight } else { 0 }
    }

    /// Takes the registers of a tuple.
    fn settle(&mut self, code: &VCode<Vp1>, tuple: &Tuple, number: u8) {
        let Key { class, shape, .. } = tuple.key;
        let weight = tuple.weight;
        let replacing = tuple.uses.iter().flat_map(|place| {
            let range = place.operand as usize..(place.operand + place.operands) as usize;
            code.operands[range].iter().filter(|operand| operand.access != Access::Use)
        });
        let made = replacing.map(|operand| (operand.part, operand.reg));
        for (part, reg) in tuple.key.parts().chain(made) {
            let register = shape.register(number, part);
            let stays = &mut self.stays[file(class).0][usize::from(register)];
            let home = &mut self.homes[reg.0 as usize];
            if *home == NONE {
                *home = register;
                stays.push(Stay { reg, span: self.spans[reg.0 as usize], weight });
                let web = &mut self.homes[self.webs.find(reg.0) as usize];
                if *web == NONE {
                    *web = register;
                }
            } else if *home != register {
                let visits = tuple.uses.iter().map(|place| Stay { reg, span: Span::read(place.time), weight });
                stays.extend(visits);
            }
        }
    }
}
