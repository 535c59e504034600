//! Sums that need fewer instructions.

use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isa::row::{OperandRole, RegFile};

use super::super::listing::Listing;

const PRODUCTS: &[Opcode] = &[Opcode::IMAD_RRR, Opcode::IMAD_RIR, Opcode::IMAD_RCR];

/// Returns `true` if the only user of an IADD3 is an IADD3 that can absorb it.
pub(crate) fn sum(listing: &Listing, at: usize) -> bool {
    let user = listing.only_use(at).filter(|&user| listing.is_sum(at) && listing.is_sum(user));
    // A register that is added twice counts as two terms.
    let terms =
        |at: usize| listing.registers(at, OperandRole::Use).count() + usize::from(listing.sources(at).1.is_some());
    user.is_some_and(|user| listing.fits_one(at, user) && terms(at) + terms(user) <= 4)
}

/// Returns the addition that is the only user of a product, if the multiplication itself adds nothing.
fn bare_product(listing: &Listing, at: usize) -> Option<usize> {
    let is_bare = listing.is(at, PRODUCTS) && listing.field(at, R64) == u64::from(RZ);
    listing.only_use(at).filter(|&user| is_bare && listing.is_positive_sum(user))
}

/// Returns `true` if an IMAD adds nothing, and its only user is an IADD3 whose other terms the IMAD could add.
pub(crate) fn product(listing: &Listing, at: usize) -> bool {
    let Some(sum) = bare_product(listing, at) else { return false };
    let terms: Vec<u64> = listing.registers(sum, OperandRole::Use).collect();
    let (_, other) = listing.sources(sum);
    let earlier = |reg: &u64| {
        listing.definition(sum, *reg).is_some_and(|maker| maker < at && bare_product(listing, maker) == Some(sum))
    };
    match (terms.len(), other) {
        (2, None) => true,
        (3, None) => terms.iter().any(earlier),
        _ => false,
    }
}

/// Returns `true` if the only user of a left shift is an IADD3 of two registers.
pub(crate) fn scaled(listing: &Listing, at: usize) -> bool {
    let Some(sum) = listing.only_use(at).filter(|_| listing.left_shift(at).is_some()) else { return false };
    listing.is(sum, &[Opcode::IADD3_RRR])
        && listing.is_positive_sum(sum)
        && listing.registers(sum, OperandRole::Use).count() == 2
}

/// Returns `true` if the only user of a MOV of a constant-memory word is an IADD3 that adds another constant-memory
/// word.
pub(crate) fn second_term(listing: &Listing, at: usize) -> bool {
    let is_third =
        |user: usize| listing.is(user, &[Opcode::IADD3_RCR]) && listing.registers(user, OperandRole::Use).count() == 2;
    listing.is(at, &[Opcode::MOV_C]) && listing.only_use(at).is_some_and(is_third)
}

/// The operand of a term of a sum.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Addend {
    Register(u64),
    /// An immediate or a word of constant memory, identified by the number that [`Listing::sources`] returns.
    Constant(u64),
}

/// Returns the terms of an IADD3, each with its minus sign, in ascending order.
fn terms(listing: &Listing, at: usize) -> Vec<(Addend, bool)> {
    let register = |reg: u64, minus: u64| (reg != u64::from(RZ)).then_some((Addend::Register(reg), minus == 1));
    let first = register(listing.field(at, RA), listing.field(at, RA_NEG));
    let third = register(listing.field(at, R64), listing.field(at, R64_NEG));
    let minus = || listing.field(at, SLOT_NEG);
    let second = match listing.sources(at).1 {
        Some(number) => Some((Addend::Constant(number), !listing.is(at, &[Opcode::IADD3_RIR]) && minus() == 1)),
        None => register(listing.field(at, R32), minus()),
    };
    let mut terms: Vec<_> = [first, second, third].into_iter().flatten().collect();
    terms.sort_unstable();
    terms
}

/// Returns `true` if an IADD3 of two terms has a single user that adds two more terms, and another IADD3 computes the
/// sum of three of the four terms. The user could add the fourth term to that sum.
pub(crate) fn partial_sum(listing: &Listing, at: usize) -> bool {
    let is_plain = |at: usize| listing.is_sum(at) && listing.inst(at).is_some_and(Inst::is_unconditional);
    let Some(user) = listing.only_use(at).filter(|&user| is_plain(at) && is_plain(user)) else { return false };
    let Some(result) = listing.result(at) else { return false };
    let part = terms(listing, at);
    let rest: Vec<_> =
        terms(listing, user).into_iter().filter(|&term| term != (Addend::Register(result), false)).collect();
    let is_same = |(addend, _): (Addend, bool), one: usize, other: usize| match addend {
        Addend::Register(reg) => listing.is_kept(RegFile::Gpr, reg, one, other),
        Addend::Constant(_) => true,
    };
    let has_three = |other: usize, term: (Addend, bool)| {
        let mut three: Vec<_> = part.iter().copied().chain([term]).collect();
        three.sort_unstable();
        terms(listing, other) == three
            && is_same(term, user, other)
            && part.iter().all(|&shared| is_same(shared, at, other))
    };
    part.len() == 2
        && rest.len() == 2
        && listing
            .earlier(user)
            .filter(|&other| other != at && is_plain(other))
            .any(|other| rest.iter().any(|&term| has_three(other, term)))
}

#[cfg(test)]
pub(crate) const EXAMPLES: &[super::Example] = &[
    super::Example {
        name: "sum",
        found: &["IADD3 R3, R0, R1, RZ\nIADD3 R3, R3, 0x7, RZ"],
        not_found: &["IADD3 R3, R0, R1, RZ\nIADD3 R3, R3, R2, R4"],
    },
    super::Example {
        name: "product",
        found: &["IMAD R3, R0, R1, RZ\nIADD3 R3, R2, R3, RZ"],
        not_found: &["IMAD R3, R0, R1, R4\nIADD3 R3, R2, R3, RZ", "IMAD R3, R0, R1, RZ\nIADD3 R3, R2, -R3, RZ"],
    },
    super::Example {
        name: "scaled",
        found: &["SHF.L.U32 R3, R0, 0x3, RZ\nIADD3 R3, R2, R3, RZ"],
        not_found: &["SHF.L.U32 R3, R0, 0x3, RZ\nIADD3 R3, R2, R3, R4"],
    },
    super::Example {
        name: "second term",
        found: &["MOV R3, c[0x0][0x160]\nIADD3 R3, R2, c[0x0][0x164], R3"],
        not_found: &["MOV R3, c[0x0][0x160]\nIADD3 R3, R2, R4, R3"],
    },
    super::Example {
        name: "partial sum",
        found: &[
            "IADD3 R3, R0, R1, RZ\nIADD3 R4, R0, R1, R2\nIADD3 R5, R3, R2, R6",
            "IADD3 R3, R0, 0x9, RZ\nIADD3 R4, R0, 0x9, R2\nIADD3 R5, R2, R6, R3",
        ],
        not_found: &[
            "IADD3 R3, R0, R1, RZ\nIADD3 R4, R0, R1, R2\nIADD3 R5, R3, -R2, R6",
            // The first sum has a second use.
            "IADD3 R3, R0, R1, RZ\nIADD3 R4, R0, R1, R2\nIADD3 R5, R3, R2, R6\nSTG [R7.U32+UR4], R3",
            // R2 is redefined between the sums.
            "IADD3 R3, R0, R1, RZ\nIADD3 R4, R0, R1, R2\nMOV R2, R7\nIADD3 R5, R3, R2, R6",
        ],
    },
];
