//! Random numbers for the tests, the same in each run.

/// The state of a SplitMix64 generator.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns one of `edges` or a random 32-bit word, with equal probability.
    pub fn word(&mut self, edges: &[u32]) -> u32 {
        let bits = self.next();
        if bits & 1 == 0 { edges[(bits >> 1) as usize % edges.len()] } else { (bits >> 32) as u32 }
    }
}

/// Edge cases of integer operations.
pub const INTEGERS: [u32; 8] = [0, 1, 2, 31, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFE, 0xFFFF_FFFF];

/// Bits of f32 edge cases: zeros, subnormals, the ends of the normal range, halves, integers at the
/// ends of i32 and u32, infinities, NaNs.
pub const FLOATS: [u32; 22] = [
    0x0000_0000,
    0x8000_0000,
    0x0000_0001,
    0x8000_0001,
    0x007F_FFFF,
    0x0080_0000,
    0x3F00_0000,
    0x3F80_0000,
    0xBF80_0000,
    0x3F80_0001,
    0xBFC0_0000,
    0x4EFF_FFFF,
    0x4F00_0000,
    0xCF00_0000,
    0x4F7F_FFFF,
    0x4F80_0000,
    0x7F7F_FFFF,
    0xFF7F_FFFF,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0xFF80_0001,
];
