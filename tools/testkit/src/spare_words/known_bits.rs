//! Bits of a register that are known to be zero.

use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst, Opcode};

use super::listing::Listing;

/// Maximum number of definitions that the analysis follows from a use.
const DEPTH: u32 = 4;

/// Returns the bits of a register that can be set where the instruction at `at` reads it. Only
/// instructions of the same basic block are considered.
pub(crate) fn possible_ones(listing: &Listing, at: usize, reg: u64) -> u32 {
    ones(listing, at, reg, DEPTH)
}

/// Returns the number of low bits from which a register is sign-extended where the instruction at
/// `at` reads it. The result is 32 if nothing is known.
pub(crate) fn signed_width(listing: &Listing, at: usize, reg: u64) -> u32 {
    // The bit above the highest one that can be set is the sign, which is 0.
    let by_zeros = (33 - possible_ones(listing, at, reg).leading_zeros()).min(32);
    let Some(maker) = listing.definition(at, reg) else { return by_zeros };
    let by_sign = match listing.inst(maker).map(Inst::opcode) {
        Some(Opcode::LDG_U_S8 | Opcode::LDG_W_S8 | Opcode::LDC_S8) => 8,
        Some(Opcode::LDG_U_S16 | Opcode::LDG_W_S16 | Opcode::LDC_S16) => 16,
        Some(Opcode::PRMT_RIR) => match listing.field(maker, IMM16) {
            0x8880 | 0x9991 | 0xaaa2 | 0xbbb3 => 8,
            0x9910 | 0xbb32 => 16,
            _ => 32,
        },
        _ => match listing.right_shift(maker) {
            Some((_, count, true)) => 32 - count as u32,
            _ => 32,
        },
    };
    by_zeros.min(by_sign)
}

fn ones(listing: &Listing, at: usize, reg: u64, depth: u32) -> u32 {
    if reg == u64::from(RZ) {
        return 0;
    }
    let Some(depth) = depth.checked_sub(1) else { return u32::MAX };
    let Some(maker) = listing.definition(at, reg) else { return u32::MAX };
    let of = |field| ones(listing, maker, listing.field(maker, field), depth);
    let immediate = || listing.field(maker, IMM32) as u32;
    if let Some((operand, count)) = listing.left_shift(maker) {
        return ones(listing, maker, operand, depth) << count;
    }
    if let Some((operand, count, is_signed)) = listing.right_shift(maker) {
        let ones = ones(listing, maker, operand, depth);
        return if is_signed { (ones as i32 >> count) as u32 } else { ones >> count };
    }
    if listing.is_positive_sum(maker) && listing.is(maker, &[Opcode::IADD3_RRR, Opcode::IADD3_RIR]) {
        let second = if listing.is(maker, &[Opcode::IADD3_RIR]) { immediate() } else { of(R32) };
        return up_to([of(RA), second, of(R64)].map(u64::from).iter().sum());
    }
    match listing.inst(maker).map(Inst::opcode) {
        Some(
            Opcode::LDG_U_U8 | Opcode::LDG_W_U8 | Opcode::LDC_U8 | Opcode::LDS_U8 | Opcode::LD_U8 | Opcode::LDL_X_U8,
        ) => 0xff,
        Some(
            Opcode::LDG_U_U16
            | Opcode::LDG_W_U16
            | Opcode::LDC_U16
            | Opcode::LDS_U16
            | Opcode::LD_U16
            | Opcode::LDL_X_U16,
        ) => 0xffff,
        Some(Opcode::POPC_R) => 0x3f,
        Some(Opcode::MOV_I) => immediate(),
        Some(Opcode::SEL_RI) => of(RA) | immediate(),
        Some(Opcode::SEL_RR) => of(RA) | of(R32),
        Some(Opcode::LEA) => {
            let scaled = u64::from(of(RA)) << listing.field(maker, SHIFT);
            up_to(scaled + u64::from(of(R32)))
        }
        Some(Opcode::LOP3_RRR) => {
            let sources = [RA, R32, R64].map(|field| (of(field), u32::MAX));
            table_ones(listing.field(maker, LUT), sources)
        }
        Some(Opcode::LOP3_RIR) => {
            let sources = [(of(RA), u32::MAX), (immediate(), !immediate()), (of(R64), u32::MAX)];
            table_ones(listing.field(maker, LUT), sources)
        }
        Some(Opcode::PRMT_RIR) => permuted_ones(listing.field(maker, IMM16), of(RA), of(R64)),
        _ => u32::MAX,
    }
}

/// Returns the bits that can be set in a number from 0 to `most`, modulo 2^32.
fn up_to(most: u64) -> u32 {
    let Ok(most) = u32::try_from(most) else { return u32::MAX };
    u32::MAX.checked_shr(most.leading_zeros()).unwrap_or(0)
}

/// Returns the bits that can be set in the result of LOP3. For each source, `sources` holds the bits that can be 1, and
/// the bits that can be 0.
fn table_ones(table: u64, sources: [(u32, u32); 3]) -> u32 {
    let [a, b, c] = sources;
    let pick = |(one, zero): (u32, u32), is_one: bool| if is_one { one } else { zero };
    let rows = (0..8_u32).filter(|&row| table >> row & 1 == 1);
    rows.fold(0_u32, |ones, row| ones | pick(a, row & 4 != 0) & pick(b, row & 2 != 0) & pick(c, row & 1 != 0))
}

/// Returns the bits that can be set in the result of PRMT. `a` and `c` hold the bits that can be set in the sources.
pub(crate) fn permuted_ones(selector: u64, a: u32, c: u32) -> u32 {
    let bytes = u64::from(c) << 32 | u64::from(a);
    (0..4_u32).fold(0_u32, |ones, lane| {
        let choice = selector >> (4 * lane);
        let byte = (bytes >> (8 * (choice & 7))) as u8;
        let is_sign = choice & 8 != 0;
        let byte = match (is_sign, byte >= 0x80) {
            (false, _) => byte,
            (true, false) => 0,
            (true, true) => 0xff,
        };
        ones | u32::from(byte) << (8 * lane)
    })
}
