//! Conversion between the lanes of a value and its bytes in memory, registers and constants.

use halfbyte_abi::Type;

/// Size in bytes of the widest type.
pub(super) const MAX_BYTES: usize = 64;

/// Reads the lanes of a value from bytes. Missing bytes are zero.
pub(super) fn read(ty: Type, bytes: &[u8], lanes: &mut [u64]) {
    if ty.is_mask() {
        for (i, lane) in lanes.iter_mut().enumerate() {
            let byte = bytes.get(i / 8).copied().unwrap_or(0);
            *lane = u64::from(byte >> (i % 8) & 1);
        }
        return;
    }
    let size = ty.elem().bits() as usize / 8;
    let mut chunks = bytes.chunks_exact(size);
    for lane in lanes {
        *lane = chunks.next().unwrap_or(&[]).iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
    }
}

/// Writes the lanes of a value to bytes. Unused upper bits of a mask's last byte are zero.
pub(super) fn write(ty: Type, lanes: &[u64], bytes: &mut [u8]) {
    if ty.is_mask() {
        for (byte, bits) in bytes.iter_mut().zip(lanes.chunks(8)) {
            *byte = (bits.iter().rev()).fold(0, |byte, &bit| byte << 1 | (bit & 1) as u8);
        }
        return;
    }
    let size = ty.elem().bits() as usize / 8;
    for (chunk, lane) in bytes.chunks_exact_mut(size).zip(lanes) {
        chunk.copy_from_slice(lane.to_le_bytes().get(..size).unwrap_or(&[]));
    }
}

/// Reads the lanes of a value from 64-bit words; lane 0 has the lowest bits. Constants have this
/// layout ([`Kernel::const_bits`](crate::Kernel::const_bits)).
pub fn unpack(ty: Type, words: &[u64; 8], lanes: &mut [u64]) {
    let mut bytes = [0; MAX_BYTES];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    read(ty, &bytes, lanes);
}

/// Returns the lanes of a value as 64-bit words; lane 0 has the lowest bits. This is the inverse of [`unpack`].
pub fn pack(ty: Type, lanes: &[u64]) -> [u64; 8] {
    let mut bytes = [0; MAX_BYTES];
    write(ty, lanes, &mut bytes);
    let mut words = [0; 8];
    read(Type::I64, &bytes, &mut words);
    words
}
