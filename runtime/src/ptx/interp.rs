//! The interpreter: an item from its first instruction to its end.

use halfbyte_abi::{Place, Shape};
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::ptx::meaning::{Access, Next, Reader, Write, guard, meaning};
use halfbyte_isa::ptx::module::{self, Entry};
use halfbyte_isa::ptx::types::{Special, SpecialGroup, Type};
use halfbyte_isa::ptx::{Inst, Reg, Var};

use super::memory::{Bound, Memory};
use crate::launch::Work;
use crate::trap::{Fault, Halt, TrapKind};

/// Where an item is in its launch.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    pub shape: &'a Shape,
    pub place: Place,
}

/// What an item did.
#[derive(Clone, Copy, Default)]
pub(super) struct ItemStats {
    /// Instructions executed, those with a false guard included.
    pub instructions: u64,
    /// Backward branches taken.
    pub backward: u64,
}

/// The registers of an item.
pub(super) struct Registers {
    /// What each holds, a predicate 0 or 1.
    held: Vec<u64>,
    /// The bits that each has.
    types: Vec<Type>,
    /// The carry flag.
    carry: u64,
}

impl Registers {
    pub fn new(declared: &module::Registers) -> Registers {
        let families = declared.families().iter();
        let types: Vec<Type> = families.flat_map(|family| (0..family.count.unwrap_or(1)).map(|_| family.ty)).collect();
        Registers { held: vec![0; types.len()], types, carry: 0 }
    }

    /// Makes the state at the start of an item.
    pub fn clear(&mut self) {
        self.held.fill(0);
        self.carry = 0;
    }

    fn get(&self, reg: Reg) -> u64 {
        if reg == Reg::CARRY {
            return self.carry;
        }
        self.held.get(reg.0 as usize).copied().unwrap_or(0)
    }

    fn set(&mut self, reg: Reg, value: u64) {
        if reg == Reg::CARRY {
            self.carry = value;
            return;
        }
        let place = reg.0 as usize;
        if let (Some(held), Some(ty)) = (self.held.get_mut(place), self.types.get(place)) {
            *held = ty.truncate(value);
        }
    }
}

/// What an instruction reads.
struct View<'a> {
    registers: &'a Registers,
    item: Item<'a>,
    variables: &'a [Bound],
}

impl Reader<Concrete> for View<'_> {
    fn register(&mut self, _: &mut Concrete, reg: Reg) -> [u32; 2] {
        let held = self.registers.get(reg);
        [held as u32, (held >> 32) as u32]
    }

    fn predicate(&mut self, _: &mut Concrete, reg: Reg) -> bool {
        self.registers.get(reg) != 0
    }

    fn special(&mut self, _: &mut Concrete, special: Special) -> u32 {
        let Item { shape, place } = self.item;
        special.axis.of(match special.group {
            SpecialGroup::Thread => place.local,
            SpecialGroup::Block => place.group,
            SpecialGroup::BlockSize => shape.block,
            SpecialGroup::GridSize => shape.grid,
        })
    }

    fn variable(&mut self, _: &mut Concrete, var: Var) -> [u32; 2] {
        let address = self.variables.get(var.number as usize).map_or(0, |bound| bound.address);
        [address as u32, (address >> 32) as u32]
    }
}

/// Runs one item. A kernel that ends without saying so ends all the same.
pub(super) fn run_item(
    entry: &Entry,
    item: Item<'_>,
    registers: &mut Registers,
    memory: &mut Memory<'_>,
    budget: u64,
    work: &mut Work<'_>,
) -> Result<ItemStats, Halt> {
    let mut stats = ItemStats::default();
    let mut address = 0;
    while let Some(inst) = entry.insts.get(address) {
        let fault = |kind| Fault { address, kind };
        stats.instructions += 1;
        work.add(1)?;
        match step(inst, item, registers, memory).map_err(fault)? {
            Next::Fall => address += 1,
            Next::Exit => break,
            Next::Trap => return Err(fault(TrapKind::Asked).into()),
            Next::Branch(label) => {
                let end = entry.insts.len();
                let target = entry.labels.get(label.0 as usize).map_or(end, |label| label.at as usize);
                if target <= address {
                    if stats.backward == budget {
                        return Err(fault(TrapKind::Budget { limit: budget }).into());
                    }
                    stats.backward += 1;
                    work.add(1)?;
                }
                address = target;
            }
        }
    }
    Ok(stats)
}

/// Executes one instruction.
fn step(inst: &Inst, item: Item<'_>, registers: &mut Registers, memory: &mut Memory<'_>) -> Result<Next, TrapKind> {
    let mut view = View { registers, item, variables: &memory.variables };
    if guard(inst, &mut Concrete, &mut view) == Some(false) {
        return Ok(Next::Fall);
    }
    let effects = meaning(inst, &mut Concrete, &mut view);
    for write in effects.writes {
        match write {
            Write::Register(reg, [low, high]) => registers.set(reg, u64::from(high) << 32 | u64::from(low)),
            Write::Predicate(reg, p) => registers.set(reg, p.into()),
        }
    }
    match effects.access {
        Some(Access::Load { place, element, into }) => {
            let size = element.bits() as usize / 8;
            let bytes = memory.load(place, size * into.len())?;
            for (reg, bytes) in into.iter().zip(bytes.chunks_exact(size)) {
                let Some(reg) = reg else { continue };
                let value = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
                let unused = 64 - element.bits();
                let extended = if element.is_signed() { (value << unused) as i64 >> unused } else { value as i64 };
                registers.set(reg, extended as u64);
            }
        }
        Some(Access::Store { place, element, data }) => {
            let size = element.bits() as usize / 8;
            let bytes = memory.store(place, size * data.len())?;
            for (bytes, [low, high]) in bytes.chunks_exact_mut(size).zip(data) {
                let value = u64::from(high) << 32 | u64::from(low);
                bytes.copy_from_slice(value.to_le_bytes().split_at(size).0);
            }
        }
        None => {}
    }
    Ok(effects.next)
}
