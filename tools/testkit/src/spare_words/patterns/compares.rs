//! Comparisons that need fewer instructions.

use halfbyte_isa::halu::Opcode;
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::row::{OperandRole, RegFile};

use super::super::listing::Listing;

const COMPARES: &[Opcode] = &[Opcode::ISETP_RR, Opcode::ISETP_RI, Opcode::ISETP_RU, Opcode::ISETP_RC];
const FLOAT_COMPARES: &[Opcode] = &[
    Opcode::FSETP_RR,
    Opcode::FSETP_RI,
    Opcode::FSETP_RU,
    Opcode::FSETP_RC,
    Opcode::HSETP2_RR,
    Opcode::HSETP2_RU,
    Opcode::HSETP2_RI,
    Opcode::HSETP2_RC,
    Opcode::DSETP_RR,
];

/// Encodings of `EQ` and `NE` in the `ICMP` field of `ISETP`.
const EQUALITIES: &[u64] = &[2, 5];
/// The sum of the encodings of an integer comparison and its inverse.
const INVERSES: u64 = 7;
/// Encoding of `AND` in the `LOP` field of a comparison.
const LOP_AND: u64 = 0;

/// Returns `true` if the only user of a shift is a mask, which a comparison tests for equality. The
/// comparison of a shifted mask needs no shift.
pub(crate) fn bit_test(listing: &Listing, at: usize) -> bool {
    let (is_shift, is_signed) = match (listing.left_shift(at), listing.right_shift(at)) {
        (Some(_), _) => (true, false),
        (_, Some((.., is_signed))) => (true, is_signed),
        _ => (false, false),
    };
    let mask = listing.only_use(at).filter(|&mask| is_shift && listing.and_mask(mask).is_some());
    let test = mask.and_then(|mask| listing.only_use(mask));
    test.is_some_and(|test| is_zero_test(listing, test) || !is_signed && is_number_test(listing, test))
}

/// Returns `true` if the instruction tests a register for equality with zero.
fn is_zero_test(listing: &Listing, at: usize) -> bool {
    let has_zero = || listing.field(at, RA) == u64::from(RZ) || listing.field(at, R32) == u64::from(RZ);
    let is_zero = listing.is(at, &[Opcode::ISETP_RR]) && has_zero()
        || listing.is(at, &[Opcode::ISETP_RI]) && listing.field(at, IMM32) == 0;
    is_zero && is_equality(listing, at)
}

/// Returns `true` if the instruction tests a register for equality with an immediate.
fn is_number_test(listing: &Listing, at: usize) -> bool {
    listing.is(at, &[Opcode::ISETP_RI]) && is_equality(listing, at)
}

/// Returns `true` if an integer comparison tests 32-bit numbers for equality.
fn is_equality(listing: &Listing, at: usize) -> bool {
    EQUALITIES.contains(&listing.field(at, ICMP)) && listing.field(at, EX) == 0
}

/// Returns `true` if an earlier comparison in the basic block has the same result or its inverse,
/// and its predicate still holds that result.
pub(crate) fn repeated_comparison(listing: &Listing, at: usize) -> bool {
    let is_compare = |at: usize| listing.is_always(at, COMPARES) || listing.is_always(at, FLOAT_COMPARES);
    let files = [RegFile::Gpr, RegFile::Ur, RegFile::Pred];
    let has_same_operands = |before: usize| {
        files.into_iter().all(|file| {
            let mut sources = listing.operands(at, file, OperandRole::Use);
            sources.all(|reg| listing.is_kept(file, reg, before, at))
        })
    };
    let has_result = |before: usize| {
        let predicate = listing.field(before, PU);
        predicate != u64::from(PT) && listing.is_kept(RegFile::Pred, predicate, before + 1, at)
    };
    is_compare(at)
        && listing.earlier(at).any(|before| {
            is_compare(before)
                && has_result(before)
                && (is_same(listing, before, at) || is_inverse(listing, before, at))
                && has_same_operands(before)
        })
}

/// Returns `true` if two comparisons differ at most in their destinations.
fn is_same(listing: &Listing, one: usize, other: usize) -> bool {
    listing.word_without(one, &[PU, PV]) == listing.word_without(other, &[PU, PV])
}

/// Returns `true` if two integer comparisons of the same operands have inverse results.
fn is_inverse(listing: &Listing, one: usize, other: usize) -> bool {
    let is_plain = |at: usize| {
        listing.is(at, COMPARES)
            && listing.field(at, PP) == u64::from(PT)
            && listing.field(at, PP_NOT) == 0
            && listing.field(at, LOP) == LOP_AND
            && listing.field(at, EX) == 0
    };
    is_plain(one)
        && is_plain(other)
        && listing.field(one, ICMP) + listing.field(other, ICMP) == INVERSES
        && listing.word_without(one, &[PU, PV, ICMP]) == listing.word_without(other, &[PU, PV, ICMP])
}

#[cfg(test)]
pub(crate) const EXAMPLES: &[super::Example] = &[
    super::Example {
        name: "bit test",
        found: &[
            "SHF.R.U32.HI R1, RZ, 0x5, R0\nLOP3 R1, R1, 0x1, RZ, 0xc0\nISETP.NE.U32.AND P0, PT, R1, RZ",
            "SHF.R.U32.HI R1, RZ, 0x5, R0\nLOP3 R1, R1, 0x3, RZ, 0xc0\nISETP.EQ.U32.AND P0, PT, R1, 0x2",
        ],
        not_found: &[
            "SHF.R.U32.HI R1, RZ, 0x5, R0\nLOP3 R1, R1, 0x3, RZ, 0xc0\nISETP.LT.S32.AND P0, PT, R1, R2",
            "SHF.R.U32.HI R1, RZ, R2, R0\nLOP3 R1, R1, 0x1, RZ, 0xc0\nISETP.NE.U32.AND P0, PT, R1, RZ",
            // The shifted value has a second use.
            "SHF.R.U32.HI R1, RZ, 0x5, R0\nLOP3 R2, R1, 0x1, RZ, 0xc0\nISETP.NE.U32.AND P0, PT, R2, RZ\n\
             STG [R3.U32+UR4], R1",
        ],
    },
    super::Example {
        name: "repeated comparison",
        found: &[
            "ISETP.LT.U32.AND P0, PT, R2, R3\nISETP.LT.U32.AND P1, PT, R2, R3",
            "ISETP.EQ.U32.AND P0, PT, R2, 0x3\nISETP.NE.U32.AND P1, PT, R2, 0x3",
        ],
        not_found: &[
            "ISETP.LT.U32.AND P0, PT, R2, R3\nISETP.LT.S32.AND P1, PT, R2, R3",
            "ISETP.LT.U32.AND P0, PT, R2, R3\nMOV R3, R4\nISETP.LT.U32.AND P1, PT, R2, R3",
            // The first predicate is redefined before the second comparison.
            "ISETP.LT.U32.AND P0, PT, R2, R3\nISETP.LT.U32.AND P0, PT, R4, R5\nISETP.LT.U32.AND P1, PT, R2, R3",
            // The source predicate is the result of the first comparison.
            "ISETP.LT.U32.AND P0, PT, R2, R3, P0\nISETP.LT.U32.AND P1, PT, R2, R3, P0",
        ],
    },
];
