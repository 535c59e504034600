//! Interpreter of HALU code. It runs each work item from its first instruction to EXIT or to a collective operation of
//! its group ([`super::group`]).
//!
//! Items that do not synchronise are independent. Only the reported trap depends on their order: the trap of the lowest
//! item is reported. The interpreter gives each item its own uniform registers. On the machine, R2UR reads the register
//! of the lowest active item; the interpreter reads the register of the item itself. Both agree for every valid
//! program, because valid programs write only uniform values to uniform registers.

use arrayvec::ArrayVec;
use halfbyte_isa::atomic::{AtomicOp, apply_atomic_to_registers};
use halfbyte_isa::halu::Inst;
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{
    Access, Address, ControlFlow, LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES, Width, Write,
};
use halfbyte_isa::halu::fields::RZ;
use halfbyte_isa::halu::meaning::{collective, collective_result, guard, is_strong_access, meaning};

use super::memory::{Memory, MemorySpace};
use super::state::{Registers, View};
use crate::group::Stop;
use halfbyte_abi::Work;
use halfbyte_isa::halu::Word;
use halfbyte_isa::trap::{Fault, Halt, TrapKind};

/// Execution counts of a work item.
#[derive(Clone, Copy, Default)]
pub(super) struct ItemStats {
    /// Number of executed instructions, including those with a false guard.
    pub instructions: u64,
    /// Number of backward branches taken.
    pub backward: u64,
}

/// The progress of an item: the address of the next instruction, and the execution counts so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Progress {
    pub address: usize,
    pub stats: ItemStats,
}

/// Runs one item until it ends, waits for other items of its group, or yields after a strong
/// access. `IN_GROUP` is `false` for an item that does not run in a group; such an item never yields.
pub(super) fn run<const IN_GROUP: bool>(
    words: &[Word],
    progress: &mut Progress,
    registers: &mut Registers,
    memory: &mut Memory<'_>,
    budget: u64,
    work: &mut Work<'_>,
) -> Result<Stop, Halt> {
    let Progress { mut address, mut stats } = *progress;
    loop {
        let fault = |kind| Fault { address, kind };
        let inst = match words.get(address) {
            Some(Word::Inst(inst)) => inst,
            Some(&Word::Undefined(word)) => {
                return Err(fault(TrapKind::Undefined { word, bytes: size_of::<u128>() as u32 }).into());
            }
            // Unreachable: a loaded kernel has at least one instruction, and each step below checks the next address.
            None => return Err(fault(TrapKind::RanPastEnd).into()),
        };
        stats.instructions += 1;
        work.add(1)?;
        let next = step(inst, registers, memory).map_err(fault)?;
        match next {
            ControlFlow::Fall if address + 1 < words.len() => {
                address += 1;
                if IN_GROUP && is_strong_access(inst) {
                    *progress = Progress { address, stats };
                    return Ok(Stop::Yield);
                }
            }
            ControlFlow::Fall => return Err(fault(TrapKind::RanPastEnd).into()),
            ControlFlow::Exit => {
                *progress = Progress { address, stats };
                return Ok(Stop::End);
            }
            ControlFlow::Collective => {
                let mut view = View { registers, memory, fault: None };
                let sync_op = collective(inst, &mut Concrete, &mut view);
                *progress = Progress { address, stats };
                return Ok(sync_op.map_or(Stop::End, Stop::Collective));
            }
            ControlFlow::Branch(distance) => {
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

/// Writes the results of a collective operation to an item's registers, and advances the item past the instruction.
pub(super) fn resume(words: &[Word], progress: &mut Progress, registers: &mut Registers, values: [u64; 2]) {
    if let Some(Word::Inst(inst)) = words.get(progress.address)
        && let Some(write) = collective_result(inst, values)
    {
        put(registers, write);
    }
    progress.address += 1;
}

fn put(registers: &mut Registers, write: Write<u32, bool>) {
    match write {
        Write::Gpr(n, word) => registers.set_gpr(n, word),
        Write::Ur(n, word) => registers.set_ur(n, word),
        Write::Pred(n, truth) => registers.set_pred(n, truth),
    }
}

/// Executes one instruction.
fn step(inst: &Inst, registers: &mut Registers, memory: &mut Memory<'_>) -> Result<ControlFlow, TrapKind> {
    let mut view = View { registers, memory, fault: None };
    if guard(inst, &mut Concrete, &mut view) == Some(false) {
        return Ok(ControlFlow::Fall);
    }
    let effects = meaning(inst, &mut Concrete, &mut view);
    if let Some(kind) = view.fault {
        return Err(kind);
    }
    for write in effects.writes {
        put(registers, write);
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
        Some(Access::Atomic { address, width, change, operands, dst }) => {
            let old = atomic(memory, address, width, change, &operands)?;
            if dst != RZ {
                for (n, word) in (dst..RZ).zip(old).take(width.registers().into()) {
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

/// Performs an atomic operation on memory, and returns the old value.
fn atomic(
    memory: &mut Memory<'_>,
    address: Address<u32>,
    width: Width,
    change: AtomicOp,
    operands: &[u32],
) -> Result<ArrayVec<u32, 4>, TrapKind> {
    let (part, address) = locate(address);
    let bytes = memory.change(part, address, width.bytes() as usize)?;
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
    let old: ArrayVec<u32, 4> = bytes.chunks(4).map(word).collect();
    let new = apply_atomic_to_registers(&mut Concrete, change, width, &old, operands, part == MemorySpace::Global);
    let mut is_changed = false;
    for (bytes, new) in bytes.chunks_mut(4).zip(new) {
        let new = new.to_le_bytes();
        let (new, _) = new.split_at(bytes.len());
        is_changed |= bytes != new;
        bytes.copy_from_slice(new);
    }
    memory.is_changed |= is_changed;
    Ok(old)
}

/// Loads up to four 32-bit words from an address. Values of 8 and 16 bits are extended to 32 bits.
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

/// Returns the memory space of an address, and the byte offset in that space.
fn locate(address: Address<u32>) -> (MemorySpace, u64) {
    let wide = |[low, high]: [u32; 2]| u64::from(high) << 32 | u64::from(low);
    // A negative sum becomes a huge unsigned offset, which is out of bounds.
    let exact = |offset: u32, imm: i32| (i64::from(offset) + i64::from(imm)).cast_unsigned();
    match address {
        Address::Uniform { offset, base, imm } => {
            (MemorySpace::Global, wide(base).wrapping_add(offset.into()).wrapping_add_signed(imm.into()))
        }
        Address::Wide { base, imm } => (MemorySpace::Global, wide(base).wrapping_add_signed(imm.into())),
        Address::Flat { base, imm } => {
            let address = wide(base).wrapping_add_signed(imm.into());
            let within = |window: u64| Some(address.wrapping_sub(window)).filter(|&offset| offset < WINDOW_BYTES);
            match (within(LOCAL_WINDOW), within(SHARED_WINDOW)) {
                (Some(local), _) => (MemorySpace::Scratch, local),
                (_, Some(shared)) => (MemorySpace::Shared, shared),
                (None, None) => (MemorySpace::Global, address),
            }
        }
        Address::Shared { offset, imm } => (MemorySpace::Shared, exact(offset, imm)),
        Address::Scratch { offset, imm } => (MemorySpace::Scratch, exact(offset, imm)),
        Address::Local { imm } => (MemorySpace::Local, imm.into()),
        Address::Constant { bank, offset, imm } => (MemorySpace::Constant(bank), offset.wrapping_add(imm).into()),
    }
}
