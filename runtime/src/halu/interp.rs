//! The interpreter: one work item after another, in order, each from its first word to its EXIT.
//!
//! Items are independent, so their order shows only in which trap is met first: the lowest item's. For the same reason an
//! item may have uniform registers of its own: in an R2UR, which reads the lowest active item, it sees itself. That agrees
//! with the machine for every program in which what goes into a uniform register is uniform, as it must be.

use halfbyte_isa::halu::Inst;
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{Access, Address, Next, Width, Write};
use halfbyte_isa::halu::fields::RZ;
use halfbyte_isa::halu::meaning::{guard, meaning};

use super::Word;
use super::memory::Memory;
use super::state::{Registers, View};
use crate::launch::Work;
use crate::trap::{Fault, Halt, Space, TrapKind};

/// What an item did.
#[derive(Clone, Copy, Default)]
pub(super) struct ItemStats {
    /// Instructions executed, those with a false guard included.
    pub instructions: u64,
    /// Backward branches taken.
    pub backward: u64,
}

/// Runs one item from its initial state.
pub(super) fn run_item(
    words: &[Word],
    registers: &mut Registers,
    memory: &mut Memory<'_>,
    budget: u64,
    work: &mut Work<'_>,
) -> Result<ItemStats, Halt> {
    let mut stats = ItemStats::default();
    let mut address = 0;
    loop {
        let fault = |kind| Fault { address, kind };
        let inst = match words.get(address) {
            Some(Word::Inst(inst)) => inst,
            Some(&Word::Undefined(word)) => {
                return Err(fault(TrapKind::Undefined { word, bytes: size_of::<u128>() as u32 }).into());
            }
            // A loaded kernel has a first word, and every step below stays among the words.
            None => return Err(fault(TrapKind::RanPastEnd).into()),
        };
        stats.instructions += 1;
        work.add(1)?;
        match step(inst, registers, memory).map_err(fault)? {
            Next::Fall if address + 1 < words.len() => address += 1,
            Next::Fall => return Err(fault(TrapKind::RanPastEnd).into()),
            Next::Exit => return Ok(stats),
            Next::Branch(distance) => {
                let target = address as i64 + i64::from(distance);
                let inside = usize::try_from(target).ok().filter(|&target| target < words.len());
                let Some(inside) = inside else {
                    return Err(fault(TrapKind::BranchOutside { target, words: words.len() as u32 }).into());
                };
                if inside <= address {
                    if stats.backward == budget {
                        return Err(fault(TrapKind::Budget { limit: budget }).into());
                    }
                    stats.backward += 1;
                    work.add(1)?;
                }
                address = inside;
            }
        }
    }
}

/// Executes one instruction.
fn step(inst: &Inst, registers: &mut Registers, memory: &mut Memory<'_>) -> Result<Next, TrapKind> {
    let mut view = View { registers, memory, fault: None };
    if guard(inst, &mut Concrete, &mut view) == Some(false) {
        return Ok(Next::Fall);
    }
    let effects = meaning(inst, &mut Concrete, &mut view);
    if let Some(kind) = view.fault {
        return Err(kind);
    }
    for write in effects.writes {
        match write {
            Write::Gpr(n, word) => registers.set_gpr(n, word),
            Write::Ur(n, word) => registers.set_ur(n, word),
            Write::Pred(n, truth) => registers.set_pred(n, truth),
        }
    }
    match effects.access {
        Some(Access::Load { address, width, signed, dst }) => {
            let words = load(memory, address, width, signed)?;
            if dst != RZ {
                for (n, word) in (dst..RZ).zip(words).take(width.registers().into()) {
                    registers.set_gpr(n, word);
                }
            }
        }
        Some(Access::Store { address, width, data }) => {
            let (space, address) = locate(address);
            let mut bytes = [0; 16];
            for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(data) {
                *bytes = word.to_le_bytes();
            }
            let (stored, _) = bytes.split_at(width.bytes() as usize);
            memory.store(space, address, stored)?;
        }
        None => {}
    }
    Ok(effects.next)
}

/// The words at an address; 8 and 16 bits are extended to one.
fn load(memory: &Memory<'_>, address: Address<u32>, width: Width, signed: bool) -> Result<[u32; 4], TrapKind> {
    let (space, address) = locate(address);
    let mut bytes = [0; 16];
    let (loaded, _) = bytes.split_at_mut(width.bytes() as usize);
    memory.load(space, address, loaded)?;
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    if signed {
        let [low, ..] = &mut words;
        *low = match width {
            Width::B8 => *low as i8 as u32,
            Width::B16 => *low as i16 as u32,
            Width::B32 | Width::B64 | Width::B128 => *low,
        };
    }
    Ok(words)
}

/// The space an address is in, and the address there.
fn locate(address: Address<u32>) -> (Space, u64) {
    let wide = |[low, high]: [u32; 2]| u64::from(high) << 32 | u64::from(low);
    match address {
        Address::Uniform { offset, base, imm } => {
            (Space::Global, wide(base).wrapping_add(offset.into()).wrapping_add_signed(imm.into()))
        }
        Address::Wide { base, imm } => (Space::Global, wide(base).wrapping_add_signed(imm.into())),
        Address::Local { imm } => (Space::Local, imm.into()),
        Address::Constant { bank, offset, imm } => (Space::Constant(bank), offset.wrapping_add(imm).into()),
    }
}
