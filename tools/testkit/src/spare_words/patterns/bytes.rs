//! Byte extractions and permutations, and words that replicate signs.

use halfbyte_isa::halu::Opcode;
use halfbyte_isa::halu::fields::*;

use super::super::listing::Listing;

/// Returns `true` if a shift or a mask extracts bytes, its only user is a mask or a PRMT, and one PRMT can replace
/// both.
pub(crate) fn bytes(listing: &Listing, at: usize) -> bool {
    let is_mask = |at: usize, masks: &[u64]| {
        listing.is(at, &[Opcode::LOP3_RIR])
            && masks.contains(&listing.field(at, IMM32))
            && listing.field(at, LUT) == 0xc0
    };
    let moved = listing.shift_right(at, &[8, 16, 24]) || is_mask(at, &[0xff, 0xff00, 0xffff, 0xff_00ff, 0xff00_ff00]);
    let Some(user) = listing.only_use(at).filter(|_| moved) else { return false };
    let one = |selector: u64| [0x4440, 0x8880, 0x4410, 0x9910, 0x6420, 0x7531, 0x5410].contains(&selector);
    is_mask(user, &[0xff, 0xffff]) || listing.is(user, &[Opcode::PRMT_RIR]) && one(listing.field(user, IMM16))
}

/// Returns `true` if the only user of a load is a PRMT that extends the loaded value.
pub(crate) fn extension(listing: &Listing, at: usize) -> bool {
    let bytes = [Opcode::LDG_U_U8, Opcode::LDG_W_U8, Opcode::LDC_U8];
    let halves = [Opcode::LDG_U_U16, Opcode::LDG_W_U16, Opcode::LDC_U16];
    let selectors: &[u64] = match () {
        () if listing.is(at, &bytes) => &[0x4440, 0x8880],
        () if listing.is(at, &halves) => &[0x4410, 0x9910],
        () => return false,
    };
    let is_extension =
        |user: usize| listing.is(user, &[Opcode::PRMT_RIR]) && selectors.contains(&listing.field(user, IMM16));
    listing.only_use(at).is_some_and(is_extension)
}

/// Returns `true` if all sources of a LOP3 are PRMTs that replicate signs in the same way. The LOP3 could be applied
/// before a single PRMT, because each bit of the replicated words is a sign bit of an operand.
pub(crate) fn joined_signs(listing: &Listing, at: usize) -> bool {
    if !listing.is_always(at, &[Opcode::LOP3_RRR]) {
        return false;
    }
    let selector = |reg: u64| {
        let signs = listing.definition(at, reg).filter(|&signs| listing.only_use(signs) == Some(at))?;
        replicated_signs(listing, signs)
    };
    let selectors: Vec<Option<u64>> = listing.sources(at).0.into_iter().map(selector).collect();
    let [first @ Some(_), others @ ..] = &selectors[..] else { return false };
    !others.is_empty() && others.iter().all(|other| other == first)
}

/// Returns the selector of a PRMT that fills all bytes with signs of its first source.
fn replicated_signs(listing: &Listing, at: usize) -> Option<u64> {
    let selector = listing.is(at, &[Opcode::PRMT_RIR]).then(|| listing.field(at, IMM16))?;
    // Bit 3 of each nibble fills the byte with a sign. Bit 2 chooses the second source.
    (selector & 0xcccc == 0x8888).then_some(selector)
}

#[cfg(test)]
pub(crate) const EXAMPLES: &[super::Example] = &[
    super::Example {
        name: "bytes",
        found: &["SHF.R.U32.HI R1, RZ, 0x8, R0\nPRMT R1, R1, 0x8880, RZ"],
        not_found: &["SHF.R.U32.HI R1, RZ, 0x7, R0\nPRMT R1, R1, 0x8880, RZ"],
    },
    super::Example {
        name: "extension",
        found: &["LDG.U16 R1, [R0.U32+UR2]\nPRMT R1, R1, 0x9910, RZ"],
        not_found: &["LDG.U16 R1, [R0.U32+UR2]\nPRMT R1, R1, 0x8880, RZ"],
    },
    super::Example {
        name: "joined signs",
        found: &[
            "PRMT R2, R0, 0xba98, RZ\nPRMT R3, R1, 0xba98, RZ\nLOP3 R2, R2, R3, RZ, 0xc0",
            "PRMT R2, R0, 0xbb99, RZ\nPRMT R3, R1, 0xbb99, RZ\nPRMT R4, R5, 0xbb99, RZ\nLOP3 R2, R2, R3, R4, 0xca",
        ],
        not_found: &[
            "PRMT R2, R0, 0xba98, RZ\nPRMT R3, R1, 0xbb99, RZ\nLOP3 R2, R2, R3, RZ, 0xc0",
            // The first result has a second use, so its PRMT cannot be removed.
            "PRMT R2, R0, 0xba98, RZ\nPRMT R3, R1, 0xba98, RZ\nLOP3 R3, R2, R3, RZ, 0xc0\nSTG [R4.U32+UR4], R2",
            // The third source does not consist of replicated signs.
            "PRMT R2, R0, 0xba98, RZ\nPRMT R3, R1, 0xba98, RZ\nLOP3 R2, R2, R3, R4, 0xca",
        ],
    },
];
