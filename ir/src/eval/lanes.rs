//! Lanes and bytes: how a value lies in memory, in a register and in a constant.

use halfbyte_abi::Type;

/// Room for the widest type.
pub(super) const MAX_BYTES: usize = 64;

/// The lanes of a value that lies in these bytes. Bytes that are missing count as zero.
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

/// Lays a value's lanes into its bytes. The upper bits of a mask's last byte become zero.
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

/// The lanes of a value given as 64-bit words, lane 0 lowest: the form constants have
/// ([`Kernel::const_bits`](crate::Kernel::const_bits)).
pub fn unpack(ty: Type, words: &[u64; 8], lanes: &mut [u64]) {
    let mut bytes = [0; MAX_BYTES];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    read(ty, &bytes, lanes);
}

/// A value's lanes as 64-bit words, lane 0 lowest; the inverse of [`unpack`].
pub fn pack(ty: Type, lanes: &[u64]) -> [u64; 8] {
    let mut bytes = [0; MAX_BYTES];
    write(ty, lanes, &mut bytes);
    let mut words = [0; 8];
    read(Type::I64, &bytes, &mut words);
    words
}
