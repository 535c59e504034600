//! Constants that are materialised again, and instructions that compute with constants at run time.

use halfbyte_isa::halu::Opcode;
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::row::{OperandRole, RegFile};

use super::super::listing::Listing;

/// Returns `true` if all sources of a shift or a byte permutation are constants.
pub(crate) fn number(listing: &Listing, at: usize) -> bool {
    let is_made = |reg: u64| is_number(listing, at, reg);
    let reads = || listing.registers(at, OperandRole::Use);
    listing.is(at, &[Opcode::SHF_RIR, Opcode::PRMT_RIR]) && reads().next().is_some() && reads().all(is_made)
}

/// Returns `true` if a MOV of an immediate defines the register that the instruction at `at` reads.
fn is_number(listing: &Listing, at: usize, reg: u64) -> bool {
    listing.definition(at, reg).is_some_and(|maker| listing.is(maker, &[Opcode::MOV_I]))
}

/// Returns `true` if a register holds the constant of a MOV until the last use of the MOV's result.
pub(crate) fn repeated_constant(listing: &Listing, at: usize) -> bool {
    let is_constant = |at: usize| listing.is_always(at, &[Opcode::MOV_I, Opcode::MOV_C]);
    let Some(result) = listing.result(at).filter(|_| is_constant(at)) else { return false };
    let Some(users) = listing.uses(at) else { return false };
    let Some(&last) = users.last() else { return false };
    let has_constant =
        |before: usize| is_constant(before) && listing.word_without(before, &[RD]) == listing.word_without(at, &[RD]);
    let is_held =
        |before: usize| listing.result(before).is_some_and(|reg| listing.is_kept(RegFile::Gpr, reg, before + 1, last));
    users.iter().all(|&user| listing.reads_alone(user, result))
        && listing.earlier(at).any(|before| has_constant(before) && is_held(before))
}

/// Returns `true` if the divisor of a 32-bit division or remainder is a constant.
pub(crate) fn division(listing: &Listing, at: usize) -> bool {
    listing.is(at, &[Opcode::IDIV_RR, Opcode::IREM_RR]) && is_number(listing, at, listing.field(at, R32))
}

#[cfg(test)]
pub(crate) const EXAMPLES: &[super::Example] = &[
    super::Example {
        name: "number",
        found: &["MOV R3, 0x70000\nSHF.R.U32.HI R3, RZ, 0x4, R3"],
        not_found: &["MOV R3, c[0x0][0x160]\nSHF.R.U32.HI R3, RZ, 0x4, R3"],
    },
    super::Example {
        name: "repeated constant",
        found: &[
            "MOV R1, c[0x0][0x168]\nMOV R2, c[0x0][0x168]\nIMAD R3, R1, R2, R0",
            "MOV R1, 0x7\nIMAD R3, R1, R0, R1\nMOV R4, 0x7\nIMAD R3, R3, R4, R0",
        ],
        not_found: &[
            "MOV R1, c[0x0][0x168]\nMOV R2, c[0x0][0x16c]\nIMAD R3, R1, R2, R0",
            // R1 is redefined before the use of R4.
            "MOV R1, 0x7\nIMAD R1, R1, R0, R1\nMOV R4, 0x7\nIMAD R3, R1, R4, R0",
            // The store needs both registers of a pair.
            "MOV R2, 0x7\nMOV R3, 0x7\nSTG.64 [R0.U32+UR4], R2",
            // A loop changes R2.
            "MOV R1, 0x7\nMOV R2, 0x7\nL:\nIADD3 R2, R2, R1, RZ\nISETP.LT.U32.AND P0, PT, R2, R0\n@P0 BRA L",
        ],
    },
    super::Example {
        name: "division",
        found: &["MOV R1, 0xa\nIDIV.U32 R2, R0, R1", "MOV R1, 0xa\nIREM.S32 R2, R0, R1"],
        not_found: &["MOV R1, 0xa\nIDIV.U32 R2, R1, R0", "MOV R1, c[0x0][0x168]\nIDIV.U32 R2, R0, R1"],
    },
];
