//! Patterns of branches and loads in loops.

use std::ops::Range;

use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isa::row::{InstClass, OperandRole, RegFile};

use super::super::listing::Listing;

/// Returns `true` if a conditional branch out of a loop precedes the unconditional branch back.
pub(crate) fn latch(listing: &Listing, at: usize) -> bool {
    let is_branch =
        |at: usize| listing.is(at, &[Opcode::BRA]).then(|| listing.inst(at).is_some_and(Inst::is_unconditional));
    let next = at + 1;
    let goes_back = |at: usize| listing.branch_target(at).is_some_and(|target| target <= at);
    is_branch(at) == Some(false)
        && is_branch(next) == Some(true)
        && !listing.is_branch_target(next)
        && !goes_back(at)
        && goes_back(next)
}

/// Mnemonics of the loads that [`invariant_load`] considers. LDL is excluded, because the reload of a spilled register
/// is not a hint for a missed optimisation.
const LOADS: &[&str] = &["LDG", "LDS", "LDC"];
/// Mnemonics of all instructions that only read memory.
const READS: &[&str] = &["LDG", "LDS", "LDC", "LDL", "LD", "ULDC"];

/// Returns `true` if a load has the same address in each iteration of a loop of one basic block, and the loop writes no
/// memory. In addition, no load with a varying address may precede this load in the loop, because it could trap first.
pub(crate) fn invariant_load(listing: &Listing, at: usize) -> bool {
    let is_load = |at: usize| {
        listing.inst(at).is_some_and(|inst| LOADS.contains(&inst.row().mnemonic) && inst.is_unconditional())
    };
    if !is_load(at) {
        return false;
    }
    let Some(body) = single_block_loop(listing, at) else { return false };
    let is_changed = |at: usize, file: RegFile| {
        listing.operands(at, file, OperandRole::Use).any(|reg| listing.is_written(file, reg, body.clone()))
    };
    let is_invariant = |at: usize| !is_changed(at, RegFile::Gpr) && !is_changed(at, RegFile::Ur);
    body.clone().all(|inst| keeps_memory(listing, inst))
        && (body.start..=at).all(|inst| is_invariant(inst) || !is_load(inst))
}

/// Returns the loop of one basic block that contains the instruction at `at`. Each iteration executes this instruction.
/// Branches out of the loop may follow the instruction.
fn single_block_loop(listing: &Listing, at: usize) -> Option<Range<usize>> {
    let goes_back = |&next: &usize| listing.branch_target(next).is_some_and(|target| target <= at);
    let latch = (at + 1..listing.len()).take_while(|&next| !listing.is_branch_target(next)).find(goes_back)?;
    let begin = listing.branch_target(latch)?;
    let is_straight =
        (begin..at).all(|before| listing.branch_target(before).is_none() && !listing.is_branch_target(before + 1));
    is_straight.then_some(begin..latch + 1)
}

/// Returns `true` if the instruction writes no memory and orders no accesses.
fn keeps_memory(listing: &Listing, at: usize) -> bool {
    listing.inst(at).is_some_and(|inst| match inst.row().class {
        // The memory order of a weak access is 0. Instructions without an order have zeros there.
        InstClass::Memory => READS.contains(&inst.row().mnemonic) && ORDER.get(inst.word()) == 0,
        InstClass::Control => matches!(inst.opcode(), Opcode::BRA | Opcode::EXIT | Opcode::NOP),
        InstClass::Compute | InstClass::Address | InstClass::Move => true,
    })
}

#[cfg(test)]
pub(crate) const EXAMPLES: &[super::Example] = &[
    super::Example {
        name: "latch",
        found: &["L:\n@P0 BRA OUT\nBRA L\nEXIT\nOUT:\nMOV R0, RZ"],
        not_found: &["L:\n@P0 BRA OUT\nIADD3 R1, R1, 0x1, RZ\nBRA L\nEXIT\nOUT:\nMOV R0, RZ"],
    },
    super::Example {
        name: "invariant load",
        found: &[
            "L:\nLDG R1, [R0.U32+UR2]\nIADD3 R2, R2, R1, R3\nISETP.LT.U32.AND P0, PT, R2, R4\n@P0 BRA L",
            "L:\nLDG R1, [R6.64]\nIADD3 R2, R2, R1, R3\nISETP.LT.U32.AND P0, PT, R2, R4\n@P0 BRA OUT\nMOV R5, R2\n\
             BRA L\nOUT:\nMOV R0, R5",
        ],
        not_found: &[
            "L:\nLDG R1, [R0.U32+UR2]\nIADD3 R0, R0, R1, R3\nISETP.LT.U32.AND P0, PT, R0, R4\n@P0 BRA L",
            "L:\nLDG R1, [R0.U32+UR2]\nSTG [R2.U32+UR4], R1\nIADD3 R2, R2, R1, R3\nISETP.LT.U32.AND P0, PT, R2, R4\n\
             @P0 BRA L",
            "L:\nLDG.ACQUIRE R1, [R0.U32+UR2]\nISETP.LT.U32.AND P0, PT, R1, R4\n@P0 BRA L",
            // The first load can trap, and stays in the loop.
            "L:\nLDG R1, [R2.U32+UR2]\nLDG R3, [R0.U32+UR2]\nIADD3 R2, R2, R1, R3\nISETP.LT.U32.AND P0, PT, R2, R4\n@P0 BRA L",
            // The first branch skips the load.
            "L:\n@P1 BRA OUT\nLDG R1, [R0.U32+UR2]\nIADD3 R2, R2, R1, R3\nISETP.LT.U32.AND P1, PT, R2, R4\nBRA L\n\
             OUT:\nMOV R0, R2",
        ],
    },
];
