//! What a kernel and its launcher agree on: addresses of buffers, where parameters lie, groups of work items.
//!
//! Constant bank 0 holds the item count at [`ITEM_COUNT_OFFSET`], the sizes of the launch at [`GROUP_SIZE_OFFSET`] and
//! [`GROUP_COUNT_OFFSET`], and the parameters from [`PARAMS_OFFSET`] on, in order, each at its natural alignment. A buffer's parameter is its 64-bit address. Everything is little endian.

/// Byte offset in constant bank 0 of the number of work items, 32 bits.
pub const ITEM_COUNT_OFFSET: u16 = 0x0;
/// Byte offset in constant bank 0 of the work items of a group: along x, y and z, and in all; 32 bits each.
pub const GROUP_SIZE_OFFSET: u16 = 0x10;
/// Byte offset in constant bank 0 of the groups, likewise.
pub const GROUP_COUNT_OFFSET: u16 = 0x20;
/// Byte offset in constant bank 0 of the first parameter.
pub const PARAMS_OFFSET: u16 = 0x160;
/// Bytes that the parameters of a kernel may take, padding included.
pub const MAX_PARAM_BYTES: u16 = 4096;
/// Bytes of a buffer's parameter: its address.
pub const POINTER_BYTES: u16 = 8;
/// Bytes of local memory an item may have: what an unsigned 24-bit offset reaches.
pub const MAX_LOCAL_BYTES: u32 = 1 << 24;
/// Backward branches an item may take in one launch unless the launcher says otherwise.
pub const DEFAULT_BUDGET: u64 = 1 << 20;

/// The most work items of a group.
const MAX_GROUP: u32 = 256;

/// The work items of a group in a launch of so many: all groups of a launch have as many, and as many as can be.
pub fn group_size(items: u32) -> u32 {
    (1..=items.min(MAX_GROUP)).rev().find(|size| items.is_multiple_of(*size)).unwrap_or(1)
}

/// Addresses from one buffer's base to the next one's, as a power of two.
const BUFFER_SPACING_LOG2: u32 = 40;

/// The address of the buffer that is parameter `param`.
///
/// Bases are 2^40 apart and start at 2^40, so an address of one buffer plus 64 times a 32-bit index and a signed 32-bit offset never lies
/// within another, and the null pointer never lies within any.
pub const fn buffer_base(param: usize) -> u64 {
    (param as u64 + 1) << BUFFER_SPACING_LOG2
}

/// The parameter whose buffer's addresses include this one, and the offset from its base; the inverse of [`buffer_base`].
pub const fn buffer_of(address: u64) -> Option<(usize, u64)> {
    match (address >> BUFFER_SPACING_LOG2).checked_sub(1) {
        Some(param) => Some((param as usize, address & ((1 << BUFFER_SPACING_LOG2) - 1))),
        None => None,
    }
}

/// The parameter whose buffer an address is nearest to, and the offset from its base, which is negative before it.
pub const fn buffer_near(address: u64) -> Option<(usize, i64)> {
    let rounded = address.wrapping_add(1 << (BUFFER_SPACING_LOG2 - 1));
    match buffer_of(rounded) {
        Some((param, _)) => Some((param, address.wrapping_sub(buffer_base(param)).cast_signed())),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_short_offset_leads_from_one_buffer_to_another() {
        assert_eq!(buffer_of(0), None);
        assert_eq!(buffer_of((1 << 40) - 1), None);
        for param in [0, 1, 511] {
            let base = buffer_base(param);
            assert_eq!(buffer_of(base), Some((param, 0)));
            let reach = base + u64::from(u32::MAX) + (1 << 23);
            assert_eq!(buffer_of(reach), Some((param, reach - base)));
        }
        assert_ne!(buffer_of(u64::MAX), None);
        assert_eq!(buffer_near(buffer_base(3) - 4), Some((3, -4)));
        assert_eq!(buffer_near(buffer_base(3) + 12), Some((3, 12)));
        assert_eq!(buffer_near(0), None);
    }
}
