//! Addresses of a `wgmma` matrix in shared memory, from its matrix descriptor.
//!
//! The matrix is stored in pieces of 16 bytes. Rows of A and columns of B are called lines in this file. If the matrix
//! is not transposed, a piece holds consecutive elements of one line. If the matrix is transposed, a piece holds
//! elements of consecutive lines at one index of the inner dimension. The source is the PTX manual's section on shared
//! memory layouts of `wgmma.mma_async`, with its canonical layouts.

/// Decoded matrix descriptor of a matrix in shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptor {
    start: u32,
    /// The leading dimension byte offset of the PTX manual.
    leading: u32,
    /// The stride dimension byte offset of the PTX manual.
    stride: u32,
    /// The base offset of the PTX manual: start of the swizzle pattern, in units of 128 bytes.
    base: u32,
    /// Size of a row of the swizzle pattern in bytes: 32, 64 or 128; 16 without swizzling.
    width: u32,
}

/// Size in bytes of a piece, the unit in which a matrix is stored and swizzled.
pub const PIECE: u32 = 16;

impl Descriptor {
    /// Decodes a 64-bit matrix descriptor.
    pub const fn new(bits: u64) -> Descriptor {
        const fn bytes(field: u64) -> u32 {
            (field as u32 & 0x3FFF) << 4
        }
        let width = match bits >> 62 {
            0 => 16,
            1 => 128,
            2 => 64,
            _ => 32,
        };
        Descriptor {
            start: bytes(bits),
            leading: bytes(bits >> 16),
            stride: bytes(bits >> 32),
            base: (bits >> 49) as u32 & 7,
            width,
        }
    }

    /// Returns the shared-memory address of piece `piece` of row or column `line`, in a matrix that is not transposed.
    pub const fn along(self, line: u32, piece: u32) -> u32 {
        let next = if self.width == PIECE { self.leading } else { PIECE };
        self.swizzle(line % 8 * self.width + line / 8 * self.stride + piece * next)
    }

    /// Returns the shared-memory address of a piece in a transposed matrix. The piece holds the elements at index `k`
    /// of the inner dimension, for the group `group` of consecutive rows or columns.
    pub const fn across(self, group: u32, k: u32) -> u32 {
        let each = self.width / PIECE;
        let [of_groups, of_k] =
            if self.width == PIECE { [self.stride, self.leading] } else { [self.leading, self.stride] };
        self.swizzle(group % each * PIECE + group / each * of_groups + k % 8 * self.width + k / 8 * of_k)
    }

    /// Returns the address of the piece at a byte offset, permuted within its row of the swizzle pattern.
    const fn swizzle(self, offset: u32) -> u32 {
        let address = self.start.wrapping_add(offset);
        let line = (address / 128).wrapping_sub(self.base);
        address ^ (line % (self.width / PIECE) * PIECE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(start: u64, leading: u64, stride: u64, swizzle: u64) -> Descriptor {
        Descriptor::new(start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | swizzle << 62)
    }

    #[test]
    fn nothing_is_swizzled_in_core_matrices() {
        // A core matrix of the PTX manual: eight lines of 16 bytes, one after the other.
        let of = descriptor(0x400, 128, 256, 0);
        assert_eq!([0, 1, 7, 8, 15].map(|line| of.along(line, 0)), [0x400, 0x410, 0x470, 0x500, 0x570]);
        assert_eq!([0, 1, 8].map(|line| of.along(line, 1)), [0x480, 0x490, 0x580]);
        assert_eq!([0, 1, 8, 9].map(|k| of.across(0, k)), [0x400, 0x410, 0x480, 0x490]);
        assert_eq!([0, 1, 2].map(|group| of.across(group, 1)), [0x410, 0x510, 0x610]);
    }

    #[test]
    fn lines_are_swizzled_by_their_number() {
        let of = descriptor(0x400, 16, 1024, 1);
        assert_eq!([0, 1, 2, 7, 8].map(|line| of.along(line, 0)), [0x400, 0x490, 0x520, 0x7F0, 0x800]);
        assert_eq!([0, 1, 2, 7].map(|line| of.along(line, 1)), [0x410, 0x480, 0x530, 0x7E0]);
        // A matrix that starts at byte 32 of each line of a larger matrix.
        let of = descriptor(0x420, 16, 1024, 1);
        assert_eq!([0, 1, 2].map(|line| of.along(line, 0)), [0x420, 0x4B0, 0x500]);
        // Two lines of 64 bytes, or four lines of 32 bytes, share one swizzle index.
        let of = descriptor(0, 16, 512, 2);
        assert_eq!([0, 1, 2, 3, 4, 6, 8].map(|line| of.along(line, 0)), [0, 0x40, 0x90, 0xD0, 0x120, 0x1B0, 0x200]);
        let of = descriptor(0, 16, 256, 3);
        assert_eq!([0, 3, 4, 7, 8].map(|line| of.along(line, 0)), [0, 0x60, 0x90, 0xF0, 0x100]);
    }

    #[test]
    fn transposed_groups_lie_side_by_side_in_lines() {
        let of = descriptor(0, 4096, 1024, 1);
        assert_eq!([0, 1, 7, 8, 9].map(|group| of.across(group, 0)), [0, 16, 112, 4096, 4112]);
        assert_eq!([0, 1, 2, 8, 9].map(|k| of.across(0, k)), [0, 0x90, 0x120, 1024, 1024 + 0x90]);
        assert_eq!([0, 1, 2].map(|k| of.across(1, k)), [16, 0x80, 0x130]);
    }

    #[test]
    fn a_pattern_may_start_anywhere() {
        let of = Descriptor::new(0x480 >> 4 | 1 << 16 | 64 << 32 | 1 << 49 | 1 << 62);
        assert_eq!([0, 1].map(|line| of.along(line, 0)), [0x480, 0x510]);
    }
}
