//! Lanes of a word that one packed instruction computes together.

use halfbyte_isa::halu::Opcode;
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::row::{OperandRole, RegFile};

use super::super::listing::Listing;

const SELECTIONS: &[Opcode] = &[Opcode::SEL_RR, Opcode::SEL_RI];
const COMPARES: &[Opcode] = &[Opcode::ISETP_RR, Opcode::ISETP_RI];

/// Maximum number of definitions on a path from a joined lane that the comparison of two computations follows.
const DEPTH: u32 = 4;

/// Returns `true` if a PRMT joins two sums of lanes.
pub(crate) fn lanes(listing: &Listing, at: usize) -> bool {
    joined_lanes(listing, at).is_some_and(|maker| listing.is_sum(maker))
}

/// Returns `true` if a PRMT joins two lanes that comparisons of lanes select.
pub(crate) fn lane_selection(listing: &Listing, at: usize) -> bool {
    joined_lanes(listing, at).is_some_and(|maker| listing.is(maker, SELECTIONS))
}

/// A register as an instruction reads it.
#[derive(Clone, Copy)]
struct Value {
    reader: usize,
    reg: u64,
}

/// A byte or a half of a word.
struct Lane {
    word: Value,
    /// The number of the lowest byte.
    byte: u64,
    /// The number of bytes.
    size: u64,
}

/// The relation of two values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Relation {
    /// The values are equal.
    Equal,
    /// The same instructions compute the values from different lanes of the same words.
    Lanes,
}

/// Returns the instruction that computes the low lane, if a PRMT joins two lanes that the same
/// instructions compute from lanes of the same words.
fn joined_lanes(listing: &Listing, at: usize) -> Option<usize> {
    let selector = listing.is_always(at, &[Opcode::PRMT_RIR]).then(|| listing.field(at, IMM16))?;
    // The selector must join the low bytes or the low halves of both sources.
    if selector & 0xff != 0x40 && selector != 0x5410 {
        return None;
    }
    let [low, high] = [RA, R64].map(|field| Value { reader: at, reg: listing.field(at, field) });
    let maker = |value: Value| listing.definition(at, value.reg).filter(|&maker| listing.only_use(maker) == Some(at));
    let (first, _) = (maker(low)?, maker(high)?);
    (relation(listing, low, high, DEPTH)? == Relation::Lanes).then_some(first)
}

/// Returns the relation of two values, if they have one. The comparison follows `depth` instructions.
fn relation(listing: &Listing, low: Value, high: Value, depth: u32) -> Option<Relation> {
    if low.reg == high.reg && listing.is_kept(RegFile::Gpr, low.reg, low.reader, high.reader) {
        return Some(Relation::Equal);
    }
    if are_lanes(listing, low, high) {
        return Some(Relation::Lanes);
    }
    let depth = depth.checked_sub(1)?;
    let first = listing.definition(low.reader, low.reg)?;
    let second = listing.definition(high.reader, high.reg)?;
    if listing.operation(first) != listing.operation(second) {
        return None;
    }
    if listing.is_sum(first) {
        return operands(listing, first, second, depth);
    }
    if !listing.is(first, SELECTIONS) {
        return None;
    }
    let test = comparison(listing, first)?;
    let other = comparison(listing, second)?;
    if listing.operation(test) != listing.operation(other) || compares_sums(listing, test) {
        return None;
    }
    let tests = operands(listing, test, other, depth)?;
    Some(tests.max(operands(listing, first, second, depth)?))
}

/// Returns the relation of the operands of two instructions.
fn operands(listing: &Listing, first: usize, second: usize, depth: u32) -> Option<Relation> {
    let low: Vec<u64> = listing.registers(first, OperandRole::Use).collect();
    let high: Vec<u64> = listing.registers(second, OperandRole::Use).collect();
    if low.len() != high.len() {
        return None;
    }
    low.into_iter().zip(high).try_fold(Relation::Equal, |all, (low, high)| {
        let low = Value { reader: first, reg: low };
        let high = Value { reader: second, reg: high };
        Some(all.max(relation(listing, low, high, depth)?))
    })
}

/// Returns the integer comparison whose result a selection reads, if the comparison has no source predicate.
fn comparison(listing: &Listing, selection: usize) -> Option<usize> {
    let predicate = listing.field(selection, PP);
    let test = listing.earlier(selection).find(|&before| listing.writes(before, RegFile::Pred, predicate))?;
    let is_plain = listing.is_always(test, COMPARES)
        && listing.field(test, PU) == predicate
        && listing.field(test, PP) == u64::from(PT)
        && listing.field(test, EX) == 0;
    is_plain.then_some(test)
}

/// Returns `true` if a comparison of registers reads a sum. A sum of lanes can have more bits than a lane, so no packed
/// instruction compares such sums.
fn compares_sums(listing: &Listing, test: usize) -> bool {
    let is_sum = |reg: u64| listing.definition(test, reg).is_some_and(|maker| listing.is_sum(maker));
    listing.is(test, &[Opcode::ISETP_RR]) && listing.registers(test, OperandRole::Use).any(is_sum)
}

/// Returns `true` if two values are different lanes of the same word.
fn are_lanes(listing: &Listing, low: Value, high: Value) -> bool {
    let Some(upper) = lane(listing, high) else { return false };
    // A word is also its lowest lane if its other bits have no effect.
    let lower = lane(listing, low).unwrap_or(Lane { word: low, byte: 0, size: upper.size });
    lower.word.reg == upper.word.reg
        && lower.byte != upper.byte
        && lower.size == upper.size
        && listing.is_kept(RegFile::Gpr, lower.word.reg, lower.word.reader, upper.word.reader)
}

/// Returns the lane that an instruction extracts to a register.
fn lane(listing: &Listing, value: Value) -> Option<Lane> {
    let at = listing.definition(value.reader, value.reg)?;
    let of = |reg: u64, byte: u64, size: u64| Some(Lane { word: Value { reader: at, reg }, byte, size });
    if let Some((reg, mask)) = listing.and_mask(at) {
        return match mask {
            0xff => of(reg, 0, 1),
            0xffff => of(reg, 0, 2),
            _ => None,
        };
    }
    if let Some((reg, count, _)) = listing.right_shift(at) {
        return match count {
            16 => of(reg, 2, 2),
            24 => of(reg, 3, 1),
            _ => None,
        };
    }
    let is_extension = listing.is(at, &[Opcode::PRMT_RIR]) && listing.field(at, R64) == u64::from(RZ);
    let selector = is_extension.then(|| listing.field(at, IMM16))?;
    let (reg, byte) = (listing.field(at, RA), selector & 3);
    match selector {
        0x4440..=0x4443 | 0x8880 | 0x9991 | 0xaaa2 | 0xbbb3 => of(reg, byte, 1),
        0x4410 | 0x9910 | 0x4432 | 0xbb32 => of(reg, byte, 2),
        _ => None,
    }
}

/// Returns `true` if a video instruction adds zero to all lanes of a word or subtracts zero from them.
pub(crate) fn zero_term(listing: &Listing, at: usize) -> bool {
    let is_whole = if listing.is(at, &[Opcode::VADD4, Opcode::VSUB4, Opcode::VABSDIFF4]) {
        listing.field(at, ASEL4) == 0o3210 && listing.field(at, BSEL4) == 0o7654 && listing.field(at, MASK4) == 0b1111
    } else if listing.is(at, &[Opcode::VADD2, Opcode::VSUB2, Opcode::VABSDIFF2]) {
        listing.field(at, ASEL2) == 0b01_00 && listing.field(at, BSEL2) == 0b11_10 && listing.field(at, MASK2) == 0b11
    } else {
        return false;
    };
    let is_absolute = listing.is(at, &[Opcode::VABSDIFF4, Opcode::VABSDIFF2]);
    let is_signed = listing.field(at, ATYPE) == 1;
    let is_exact = listing.field(at, VSAT) == 0 || listing.field(at, DTYPE) == listing.field(at, ATYPE);
    is_whole
        && is_exact
        && listing.field(at, R32) == u64::from(RZ)
        && listing.field(at, VADD) == 0
        && !(is_absolute && is_signed)
}

#[cfg(test)]
pub(crate) const EXAMPLES: &[super::Example] = &[
    super::Example {
        name: "lanes",
        found: &[
            "LOP3 R2, R0, 0xffff, RZ, 0xc0\nPRMT R3, R0, 0x4432, RZ\nLOP3 R4, R1, 0xffff, RZ, 0xc0\n\
             PRMT R5, R1, 0x4432, RZ\nIADD3 R2, R2, R4, RZ\nIADD3 R3, R3, R5, RZ\nPRMT R2, R2, 0x5410, R3",
            "PRMT R2, R0, 0x4441, RZ\nPRMT R3, R1, 0x4441, RZ\nIADD3 R4, R0, R1, RZ\nIADD3 R5, R2, R3, RZ\n\
             PRMT R2, R4, 0x40, R5",
        ],
        not_found: &[
            // The lanes are of different words.
            "LOP3 R2, R0, 0xffff, RZ, 0xc0\nPRMT R3, R6, 0x4432, RZ\nIADD3 R2, R2, R1, RZ\nIADD3 R3, R3, R1, RZ\n\
             PRMT R2, R2, 0x5410, R3",
            // No packed instruction multiplies lanes.
            "LOP3 R2, R0, 0xffff, RZ, 0xc0\nPRMT R3, R0, 0x4432, RZ\nIMAD R2, R2, R1, RZ\nIMAD R3, R3, R1, RZ\n\
             PRMT R2, R2, 0x5410, R3",
            // One lane is a difference.
            "LOP3 R2, R0, 0xffff, RZ, 0xc0\nPRMT R3, R0, 0x4432, RZ\nIADD3 R2, R2, R1, RZ\nIADD3 R3, R3, -R1, RZ\n\
             PRMT R2, R2, 0x5410, R3",
        ],
    },
    super::Example {
        name: "lane selection",
        found: &[
            "PRMT R2, R0, 0x9910, RZ\nPRMT R3, R0, 0xbb32, RZ\nPRMT R4, R1, 0x9910, RZ\nPRMT R5, R1, 0xbb32, RZ\n\
             ISETP.LT.S32.AND P0, PT, R2, R4\nISETP.LT.S32.AND P1, PT, R3, R5\nSEL R2, R2, R4, P0\n\
             SEL R3, R3, R5, P1\nPRMT R2, R2, 0x5410, R3",
        ],
        not_found: &[
            // The comparisons differ.
            "PRMT R2, R0, 0x9910, RZ\nPRMT R3, R0, 0xbb32, RZ\nPRMT R4, R1, 0x9910, RZ\nPRMT R5, R1, 0xbb32, RZ\n\
             ISETP.LT.S32.AND P0, PT, R2, R4\nISETP.GT.S32.AND P1, PT, R3, R5\nSEL R2, R2, R4, P0\n\
             SEL R3, R3, R5, P1\nPRMT R2, R2, 0x5410, R3",
        ],
    },
    super::Example {
        name: "zero term",
        found: &[
            "vsub4.s32.s32.s32.sat R1, R0, RZ, RZ\nPRMT R1, R1, 0xba98, RZ",
            "vabsdiff2.u32.u32.u32 R1, R0, RZ, RZ",
        ],
        not_found: &[
            "vsub4.s32.u32.u32.sat R1, RZ, R0, RZ",
            // The saturation changes large bytes.
            "vsub4.s32.u32.u32.sat R1, R0, RZ, RZ",
            "vadd4.s32.s32.s32.add R1, R0, RZ, R2",
            "vabsdiff4.s32.s32.s32 R1, R0, RZ, RZ",
        ],
    },
];
