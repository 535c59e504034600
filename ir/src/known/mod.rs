//! Known facts about values: the range and the known bits of each lane, computed from definitions.
//!
//! The analysis follows the definitions of a value up to a maximum depth. A fact holds for every
//! input of the kernel, and for every execution of the definition. Therefore a fact stays valid
//! when a pass replaces instructions by equivalent ones.
//!
//! For a value of at most 64 bits, the known bits of each lane are exact to the bit, and the range
//! is common to all lanes. For a wider vector, all lanes have the same facts.

mod block_param;
mod lane;
mod transfer;
mod vector;

use std::cell::OnceCell;
use std::ops::RangeInclusive;

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

use crate::flow::Flow;
use crate::kernel::{Inst, Kernel, Value, ValueDef};
use crate::op::Op;
use crate::{Axis, Type};

pub use lane::Lane;
use transfer::compared;

/// Maximum number of nested definitions that the analysis follows.
const DEPTH: u32 = 8;
/// Maximum number of definitions that one call of [`Known::of`] follows. No facts are kept for the next call.
const MOST_DEFINITIONS: usize = 48;

/// Facts about the lanes of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known {
    ty: Type,
    /// Known bits of the whole value, or of each lane of a value of more than 64 bits.
    zeros: u64,
    ones: u64,
    /// Union of the facts about the lanes.
    all: Lane,
}

impl Known {
    /// Computes the facts about a value from its definition, without facts from other blocks.
    pub fn of(kernel: &Kernel, value: Value) -> Known {
        FactCache { kernel, stored: SmallVec::new() }.of(value, DEPTH)
    }

    /// Returns the facts about an unknown value.
    pub fn any(ty: Type) -> Known {
        Known { ty, zeros: 0, ones: 0, all: Lane::any(ty.elem().bits()) }
    }

    /// Returns `true` if nothing is known about the value.
    fn is_any(&self) -> bool {
        self.zeros | self.ones == 0 && self.all == Lane::any(self.all.width())
    }

    /// Returns `true` if the facts are the same for all lanes.
    fn is_uniform(&self) -> bool {
        let width = self.ty.elem().bits();
        // A bit at the start of each lane.
        let ones = |bits: u32| u64::MAX >> (64 - bits);
        let starts = (u64::MAX / ones(width)) & ones(self.ty.bits().min(64));
        let in_lanes = |bits: u64| bits.wrapping_mul(starts);
        self.ty.bits() > 64 || in_lanes(self.all.zeros()) == self.zeros && in_lanes(self.all.ones()) == self.ones
    }

    /// Returns the facts about one lane.
    pub fn lane(&self, number: usize) -> Lane {
        if self.ty.is_scalar() || self.is_uniform() {
            return self.all;
        }
        let width = self.ty.elem().bits();
        let start = if self.ty.bits() > 64 { 0 } else { number as u32 * width };
        let part = |bits: u64| bits.checked_shr(start).unwrap_or(0);
        self.all.and(Lane::of_bits(width, part(self.zeros), part(self.ones)))
    }

    /// Returns the facts about each lane, separately if the value has at most 64 bits.
    pub fn lanes(&self) -> impl Iterator<Item = Lane> + '_ {
        (0..stored_lanes(self.ty)).map(|number| self.lane(number))
    }

    /// Returns the facts that hold for every lane.
    pub const fn all(&self) -> Lane {
        self.all
    }

    /// Returns a range that contains every lane as a signed number.
    pub fn signed(&self) -> RangeInclusive<i128> {
        let (low, high) = self.all.signed();
        low.into()..=high.into()
    }

    /// Returns a range that contains every lane as an unsigned number.
    pub fn unsigned(&self) -> RangeInclusive<i128> {
        let (low, high) = self.all.unsigned();
        low.into()..=high.into()
    }

    /// Returns `true` if the value can have these lanes.
    pub fn contains(&self, lanes: &[u64]) -> bool {
        (0..).zip(lanes).all(|(number, &lane)| self.lane(number).contains(lane))
    }

    /// Returns the facts about a value from the facts about its lanes. If the value has more than 64 bits, `lane(0)`
    /// must return facts that hold for every lane.
    fn of_lanes(ty: Type, mut lane: impl FnMut(usize) -> Option<Lane>) -> Option<Known> {
        let mut known = Known { ty, zeros: 0, ones: 0, all: lane(0)? };
        (known.zeros, known.ones) = (known.all.zeros(), known.all.ones());
        for number in 1..stored_lanes(ty) {
            let lane = lane(number)?;
            let start = number as u32 * ty.elem().bits();
            known.zeros |= lane.zeros() << start;
            known.ones |= lane.ones() << start;
            known.all = known.all.or(lane);
        }
        Some(known)
    }

    /// Returns the facts about a value whose lanes all have the same facts.
    fn uniform(ty: Type, lane: Lane) -> Known {
        let known = Known { ty, zeros: lane.zeros(), ones: lane.ones(), all: lane };
        (1..stored_lanes(ty)).map(|number| number as u32 * ty.elem().bits()).fold(known, |known, start| Known {
            zeros: known.zeros | lane.zeros() << start,
            ones: known.ones | lane.ones() << start,
            ..known
        })
    }

    /// Returns the facts about a value of at most 64 bits with these known bits.
    fn of_bits(ty: Type, zeros: u64, ones: u64) -> Option<Known> {
        let width = ty.elem().bits();
        Known::of_lanes(ty, |number| {
            let start = number as u32 * width;
            Some(Lane::of_bits(width, zeros >> start, ones >> start))
        })
    }

    /// Returns the facts about a value that has the facts `self` or the facts `other` (the join).
    fn or(&self, other: &Known) -> Known {
        Known {
            ty: self.ty,
            zeros: self.zeros & other.zeros,
            ones: self.ones & other.ones,
            all: self.all.or(other.all),
        }
    }
}

/// Returns the number of lanes whose facts are stored separately.
const fn stored_lanes(ty: Type) -> usize {
    if ty.bits() > 64 { 1 } else { ty.lanes() }
}

/// Cache of the facts that one call of [`Known::of`] computes.
struct FactCache<'k> {
    kernel: &'k Kernel,
    stored: SmallVec<[(Value, Known); 8]>,
}

impl FactCache<'_> {
    fn of(&mut self, value: Value, depth: u32) -> Known {
        if let Some((_, known)) = self.stored.iter().find(|(of, _)| *of == value) {
            return *known;
        }
        let any = Known::any(self.kernel.ty(value));
        let Some(depth) = depth.checked_sub(1).filter(|_| self.stored.len() < MOST_DEFINITIONS) else { return any };
        let Some(inst) = self.kernel.def_inst(value) else { return any };
        let known = of_inst(self.kernel, inst, &mut |arg| self.of(arg, depth)).unwrap_or(any);
        self.stored.push((value, known));
        known
    }
}

/// Computes the facts about an instruction's result from the facts about its operands.
fn of_inst(kernel: &Kernel, inst: Inst, of: &mut dyn FnMut(Value) -> Known) -> Option<Known> {
    let data = &kernel.insts[inst];
    let ty = kernel.ty(data.result.expand()?);
    vector::transfer(kernel, inst, ty, of)
}

/// Facts about the values of a kernel, computed on first use.
#[derive(Default)]
pub struct KnownValues<'f> {
    stored: SecondaryMap<Value, Option<Known>>,
    /// Control-flow graph of the kernel, for facts about block parameters.
    flow: Option<&'f Flow>,
    /// Group size along each axis, if it is fixed for all launches.
    block: Option<[u32; 3]>,
}

impl<'f> KnownValues<'f> {
    /// Creates an empty store that also has facts about block parameters and positions.
    pub fn new(flow: &'f Flow, block: Option<[u32; 3]>) -> KnownValues<'f> {
        KnownValues { stored: SecondaryMap::new(), flow: Some(flow), block }
    }

    /// Returns the facts about a value.
    pub fn of(&mut self, kernel: &Kernel, value: Value) -> Known {
        self.within(kernel, value, DEPTH)
    }

    /// Returns the result of a comparison of two values, if it is the same for all inputs and all lanes.
    pub fn compared(&mut self, kernel: &Kernel, cc: crate::IntCC, a: Value, b: Value) -> Option<bool> {
        let (a, b) = (self.of(kernel, a), self.of(kernel, b));
        let mut lanes = a.lanes().zip(b.lanes()).map(|(a, b)| compared(cc, a, b));
        let first = lanes.next()??;
        lanes.all(|lane| lane == Some(first)).then_some(first)
    }

    fn within(&mut self, kernel: &Kernel, value: Value, depth: u32) -> Known {
        let ty = kernel.ty(value);
        // The analysis computes no facts about floating-point values.
        if ty.is_float() {
            return Known::any(ty);
        }
        match self.stored.get(value) {
            Some(Some(known)) => return *known,
            Some(None) => {}
            None => self.stored.resize(kernel.values.len()),
        }
        let Some(depth) = depth.checked_sub(1) else { return Known::any(ty) };
        let known = match kernel.values[value].def {
            ValueDef::Result(inst) => self
                .of_position(kernel, inst)
                .or_else(|| of_inst(kernel, inst, &mut |arg| self.within(kernel, arg, depth))),
            ValueDef::BlockParam(block, number) if self.flow.is_some() => {
                // An argument can depend on the parameter itself. This entry ends the recursion.
                self.stored[value] = Some(Known::any(ty));
                self.of_block_param(kernel, (block, number as usize), value, depth)
            }
            _ => None,
        };
        let known = known.unwrap_or(Known::any(ty));
        self.stored[value] = Some(known);
        known
    }

    /// Returns the facts about the position of an item, if the group size is fixed.
    fn of_position(&self, kernel: &Kernel, inst: Inst) -> Option<Known> {
        let block = self.block?;
        let axis: Option<Axis> = kernel.insts[inst].attr.axis();
        let size = axis.map_or_else(|| block.into_iter().map(u64::from).product(), |axis| u64::from(axis.of(block)));
        let last = u32::try_from(size.checked_sub(1)?).ok()?;
        let lane = match kernel.insts[inst].op {
            Op::LocalId => Lane::of_unsigned(32, 0, last.into()),
            Op::GroupSize => Lane::constant(32, size),
            _ => return None,
        };
        Some(Known::uniform(Type::I32, lane))
    }
}

/// Facts about all values of a kernel that does not change. The first query computes the facts of all values in layout
/// order. The operands of a value are then usually known, so the depth limit has little effect.
pub struct AllKnown<'k> {
    kernel: &'k Kernel,
    stored: OnceCell<SecondaryMap<Value, Option<Known>>>,
}

impl<'k> AllKnown<'k> {
    /// Creates the facts about the values of a kernel.
    pub fn new(kernel: &'k Kernel) -> AllKnown<'k> {
        AllKnown { kernel, stored: OnceCell::new() }
    }

    /// Returns the kernel.
    pub fn kernel(&self) -> &'k Kernel {
        self.kernel
    }

    /// Returns the facts about a value.
    pub fn of(&self, value: Value) -> Known {
        let stored = self.stored.get_or_init(|| {
            let mut known = KnownValues::default();
            let insts = self.kernel.layout.iter().flat_map(|&block| &self.kernel.blocks[block].insts);
            for result in insts.filter_map(|&inst| self.kernel.result(inst)) {
                known.of(self.kernel, result);
            }
            known.stored
        });
        stored[value].unwrap_or(Known::any(self.kernel.ty(value)))
    }
}
