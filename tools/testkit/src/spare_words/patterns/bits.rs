//! Bitwise operations that another instruction absorbs, or that change nothing.

use halfbyte_isa::halu::Opcode;
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::word::Field;

use super::super::known_bits::{permuted_ones, possible_ones, signed_width};
use super::super::listing::{LOGIC, Listing};

/// Returns `true` if the only user of a LOP3 is a LOP3 that can absorb it.
pub(crate) fn bits(listing: &Listing, at: usize) -> bool {
    let user = listing.only_use(at).filter(|&user| listing.is(at, LOGIC) && listing.is(user, LOGIC));
    user.is_some_and(|user| listing.fits_one(at, user))
}

/// Returns `true` if a LOP3 has several users, all of which are LOP3s that can absorb it.
pub(crate) fn shared_bits(listing: &Listing, at: usize) -> bool {
    let can_absorb = |&user: &usize| listing.is_always(user, LOGIC) && listing.fits_one(at, user);
    listing.is_always(at, LOGIC)
        && listing.uses(at).is_some_and(|users| users.len() > 1 && users.iter().all(can_absorb))
}

/// Returns `true` if a mask or a permutation of bytes writes the value of its source.
pub(crate) fn no_change(listing: &Listing, at: usize) -> bool {
    if let Some((operand, mask)) = listing.and_mask(at) {
        return u64::from(possible_ones(listing, at, operand)) & !mask == 0;
    }
    listing.is(at, &[Opcode::PRMT_RIR]) && (keeps_source(listing, at, RA, 0) || keeps_source(listing, at, R64, 4))
}

/// Returns `true` if the result of a PRMT is the source in the given field. The bytes of the source
/// have the numbers from `first` upwards.
fn keeps_source(listing: &Listing, at: usize, source: Field, first: u64) -> bool {
    let reg = listing.field(at, source);
    if reg == u64::from(RZ) {
        return false;
    }
    let of = |field| possible_ones(listing, at, listing.field(at, field));
    let selector = listing.field(at, IMM16);
    let possible = permuted_ones(selector, of(RA), of(R64)) | of(source);
    let width = signed_width(listing, at, reg);
    (0..4_u64).all(|lane| {
        let choice = selector >> (4 * lane) & 0xf;
        let is_zero = possible >> (8 * lane) & 0xff == 0;
        // A filled byte equals the source's byte if the source is sign-extended from the chosen byte.
        let chosen = (choice & 7).checked_sub(first).filter(|&byte| byte < lane);
        let is_sign = choice & 8 != 0 && chosen.is_some_and(|byte| u64::from(width) <= 8 * (byte + 1));
        is_zero || choice == first + lane || is_sign
    })
}

#[cfg(test)]
pub(crate) const EXAMPLES: &[super::Example] = &[
    super::Example {
        name: "bits",
        found: &["LOP3 R3, R0, R1, RZ, 0x3c\nLOP3 R3, R3, R2, RZ, 0x3c"],
        not_found: &[
            // The result of the first instruction has a second use.
            "LOP3 R3, R0, R1, RZ, 0x3c\nLOP3 R4, R3, R2, RZ, 0x3c\nSTG [R9.U32+UR4], R3",
            // R1 and R2 are redefined between the two instructions.
            "LOP3 R3, R0, R1, R2, 0x96\nMOV R1, R4\nMOV R2, R5\nLOP3 R3, R3, R1, R2, 0x96",
        ],
    },
    super::Example {
        name: "shared bits",
        found: &["LOP3 R3, R0, R1, RZ, 0x3c\nLOP3 R4, R3, R2, RZ, 0x3c\nLOP3 R5, R3, R6, RZ, 0xc0"],
        not_found: &[
            // The second user has two more sources.
            "LOP3 R3, R0, R1, RZ, 0x3c\nLOP3 R4, R3, R2, RZ, 0x3c\nLOP3 R5, R3, R6, R7, 0x96",
            "LOP3 R3, R0, R1, RZ, 0x3c\nLOP3 R4, R3, R2, RZ, 0x3c\nIADD3 R5, R3, R6, RZ",
        ],
    },
    super::Example {
        name: "no change",
        found: &[
            "LDG.U8 R1, [R0.U32+UR2]\nLOP3 R1, R1, 0xff, RZ, 0xc0",
            "SHF.R.U32.HI R1, RZ, 0x14, R0\nLOP3 R1, R1, 0xfff, RZ, 0xc0",
            "LDG.S8 R1, [R0.U32+UR2]\nPRMT R1, R1, 0x8880, RZ",
            "LDG.U8 R1, [R0.U32+UR2]\nIADD3 R1, R1, 0x1, RZ\nPRMT R1, R1, 0x9910, RZ",
        ],
        not_found: &[
            "LDG.U8 R1, [R0.U32+UR2]\nLOP3 R1, R1, 0x7f, RZ, 0xc0",
            "SHF.R.S32.HI R1, RZ, 0x14, R0\nLOP3 R1, R1, 0xfff, RZ, 0xc0",
            "LDG.U8 R1, [R0.U32+UR2]\nPRMT R1, R1, 0x8880, RZ",
            "LDG.U8 R1, [R0.U32+UR2]\nIADD3 R1, R1, 0x1, RZ\nPRMT R1, R1, 0x4440, RZ",
            // The load has a guard, so it may not execute.
            "@P0 LDG.U8 R1, [R0.U32+UR2]\nLOP3 R1, R1, 0xff, RZ, 0xc0",
        ],
    },
];
