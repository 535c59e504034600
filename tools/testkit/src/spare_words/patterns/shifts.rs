//! Shifts that a rotation, LEA or shorter code replaces.

use halfbyte_isa::halu::Opcode;
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::row::{OperandRole, RegFile};

use super::super::known_bits::possible_ones;
use super::super::listing::{LOGIC, Listing};
use super::bits::bits;

/// Returns `true` if a left shift and a right shift of the same register make a rotation.
pub(crate) fn rotation(listing: &Listing, at: usize) -> bool {
    let Some(user) = listing.only_use(at).filter(|&user| listing.is(user, LOGIC)) else { return false };
    let Some((operand, count)) = listing.left_shift(at) else { return false };
    let right = |other: usize| listing.shift_right(other, &[32 - count]) && listing.field(other, R64) == operand;
    listing.registers(user, OperandRole::Use).filter_map(|reg| listing.definition(user, reg)).any(right)
}

/// Returns `true` if a LOP3 is the OR of terms without common bits, and LEAs in place of left shifts would save an
/// instruction.
pub(crate) fn insertion(listing: &Listing, at: usize) -> bool {
    if !listing.is_always(at, &[Opcode::LOP3_RRR]) {
        return false;
    }
    let table = listing.field(at, LUT);
    // Each source is paired with the weight of its bit in the index of the truth table.
    let sources = [(RA, 4_u32), (R32, 2), (R64, 1)].map(|(field, number)| (listing.field(at, field), number));
    let terms = || sources.iter().filter(|(reg, _)| *reg != u64::from(RZ));
    // At most one source has a set bit at each position, so only four rows of the table have an effect.
    let is_union = table & 1 == 0 && terms().all(|(_, number)| table >> number & 1 == 1);
    let masks = || terms().map(|&(reg, _)| possible_ones(listing, at, reg));
    let are_disjoint = || masks().try_fold(0_u32, |all, mask| (all & mask == 0).then_some(all | mask)).is_some();
    if !is_union || !are_disjoint() {
        return false;
    }
    let makers: Vec<usize> = terms().filter_map(|&(reg, _)| listing.definition(at, reg)).collect();
    let is_shift = |&&maker: &&usize| listing.left_shift(maker).is_some() && listing.only_use(maker) == Some(at);
    let shifts = makers.iter().filter(is_shift).count();
    // A LEA combines two terms, and a LOP3 combines three.
    let is_less = if terms().count() == 2 { shifts >= 1 } else { shifts >= 2 };
    is_less && !makers.iter().any(|&maker| rotation(listing, maker) || bits(listing, maker))
}

/// Returns `true` if an addition rounds a right shift: it adds the last bit that is shifted out to the shifted value.
pub(crate) fn rounding_shift(listing: &Listing, at: usize) -> bool {
    if !listing.is_positive_sum(at) || listing.sources(at).1.is_some() {
        return false;
    }
    let is_single = |&term: &usize| listing.only_use(term) == Some(at);
    let terms = listing.registers(at, OperandRole::Use).map(|reg| listing.definition(at, reg).filter(is_single));
    let terms: Vec<Option<usize>> = terms.collect();
    let [Some(one), Some(other)] = terms[..] else { return false };
    rounds(listing, one, other) || rounds(listing, other, one)
}

/// Returns `true` if the instruction at `bit` computes the last bit that the right shift at `shift` shifts out.
fn rounds(listing: &Listing, shift: usize, bit: usize) -> bool {
    let Some((operand, count, _)) = listing.right_shift(shift) else { return false };
    let Some((source, reader, number)) = single_bit(listing, bit) else { return false };
    source == operand && number + 1 == count && listing.is_kept(RegFile::Gpr, source, shift, reader)
}

/// Matches an instruction at `at` that, together with an earlier shift, extracts one bit of a register. Returns the
/// register, the index of the shift, and the number of the bit.
fn single_bit(listing: &Listing, at: usize) -> Option<(u64, usize, u64)> {
    let maker = |reg| listing.definition(at, reg).filter(|&shift| listing.only_use(shift) == Some(at));
    if let Some((reg, 1)) = listing.and_mask(at) {
        let shift = maker(reg)?;
        let (operand, count, _) = listing.right_shift(shift)?;
        return Some((operand, shift, count));
    }
    let (reg, 31, false) = listing.right_shift(at)? else { return None };
    let shift = maker(reg)?;
    let (operand, count) = listing.left_shift(shift)?;
    Some((operand, shift, 31 - count))
}

#[cfg(test)]
pub(crate) const EXAMPLES: &[super::Example] = &[
    super::Example {
        name: "rotation",
        found: &["SHF.L.U32 R1, R0, 0x5, RZ\nSHF.R.U32.HI R2, RZ, 0x1b, R0\nLOP3 R1, R1, R2, RZ, 0xfc"],
        not_found: &["SHF.L.U32 R1, R0, 0x5, RZ\nSHF.R.U32.HI R2, RZ, 0x1a, R0\nLOP3 R1, R1, R2, RZ, 0xfc"],
    },
    super::Example {
        name: "insertion",
        found: &[
            "LDG.U8 R1, [R3.U32+UR2]\nSHF.L.U32 R2, R0, 0xa, RZ\nLOP3 R2, R2, R1, RZ, 0xfc",
            "SHF.R.U32.HI R1, RZ, 0x1c, R1\nSHF.L.U32 R2, R0, 0x4, RZ\nLOP3 R2, R1, R2, RZ, 0x3c",
        ],
        not_found: &[
            // The byte overlaps the shifted value.
            "LDG.U8 R1, [R3.U32+UR2]\nSHF.L.U32 R2, R0, 0x7, RZ\nLOP3 R2, R2, R1, RZ, 0xfc",
            // One LOP3 masks and joins.
            "LOP3 R1, R1, 0xf, RZ, 0xc0\nSHF.L.U32 R2, R0, 0x4, RZ\nLOP3 R2, R2, R1, RZ, 0xfc",
            // Two LEAs save no instruction.
            "LDG.U8 R1, [R3.U32+UR2]\nLDG.U8 R4, [R3.U32+UR2+0x1]\nLOP3 R4, R4, 0xf, RZ, 0xc0\n\
             LOP3 R5, R1, 0xf0, RZ, 0xc0\nSHF.L.U32 R2, R0, 0xa, RZ\nLOP3 R2, R2, R5, R4, 0xfe",
            "LDG.U8 R1, [R3.U32+UR2]\nSHF.L.U32 R2, R0, 0xa, RZ\nLOP3 R4, R2, R1, RZ, 0xfc\nSTG [R3.U32+UR2], R2",
        ],
    },
    super::Example {
        name: "rounding shift",
        found: &[
            "SHF.R.S32.HI R1, RZ, 0x4, R0\nSHF.R.U32.HI R2, RZ, 0x3, R0\nLOP3 R2, R2, 0x1, RZ, 0xc0\n\
             IADD3 R1, R1, R2, RZ",
            "SHF.R.S32.HI R1, RZ, 0x4, R0\nSHF.L.U32 R2, R0, 0x1c, RZ\nSHF.R.U32.HI R2, RZ, 0x1f, R2\n\
             IADD3 R1, R2, R1, RZ",
        ],
        not_found: &[
            "SHF.R.S32.HI R1, RZ, 0x4, R0\nSHF.R.U32.HI R2, RZ, 0x2, R0\nLOP3 R2, R2, 0x1, RZ, 0xc0\n\
             IADD3 R1, R1, R2, RZ",
            "SHF.R.S32.HI R1, RZ, 0x4, R0\nSHF.R.U32.HI R2, RZ, 0x3, R3\nLOP3 R2, R2, 0x1, RZ, 0xc0\n\
             IADD3 R1, R1, R2, RZ",
            "SHF.R.S32.HI R1, RZ, 0x3, R0\nIADD3 R1, R1, 0x1, RZ\nSHF.R.S32.HI R1, RZ, 0x1, R1",
        ],
    },
];
