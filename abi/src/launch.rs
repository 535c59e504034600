//! Launch interface of a kernel: addresses of buffers, offsets of parameters, and group sizes.
//!
//! Constant bank 0 holds the item count at [`ITEM_COUNT_OFFSET`], the launch dimensions at [`GROUP_SIZE_OFFSET`] and
//! [`GROUP_COUNT_OFFSET`], and the parameters from [`PARAMS_OFFSET`] on. Parameters are in order, each at its natural
//! alignment. A buffer parameter is the 64-bit address of the buffer. All data is little endian.

/// Byte offset in constant bank 0 of the number of work items (32 bits).
pub const ITEM_COUNT_OFFSET: u16 = 0x0;
/// Byte offset in constant bank 0 of the number of work items per group: along x, y and z, then in total; 32 bits each.
pub const GROUP_SIZE_OFFSET: u16 = 0x10;
/// Byte offset in constant bank 0 of the number of groups: along x, y and z, then in total; 32 bits each.
pub const GROUP_COUNT_OFFSET: u16 = 0x20;
/// Byte offset in constant bank 0 of the first parameter.
pub const PARAMS_OFFSET: u16 = 0x160;
/// Maximum size in bytes of all parameters of a kernel, padding included.
pub const MAX_PARAM_BYTES: u16 = 4096;
/// Size in bytes of a buffer parameter, which is an address.
pub const POINTER_BYTES: u16 = 8;
/// Maximum size in bytes of an item's local memory: the range of an unsigned 24-bit offset.
pub const MAX_LOCAL_BYTES: u32 = 1 << 24;
/// Default limit of backward branches per item in a launch.
pub const DEFAULT_BUDGET: u64 = 1 << 20;

/// Maximum number of work items in a group that `group_size` returns.
const MAX_GROUP: u32 = 256;

/// Returns the number of work items per group in a launch of `items` work items: the largest
/// divisor of `items` that is at most `MAX_GROUP`.
pub fn group_size(items: u32) -> u32 {
    (1..=items.min(MAX_GROUP)).rev().find(|size| items.is_multiple_of(*size)).unwrap_or(1)
}

/// Maximum number of buffers of a launch, including the variables of the kernel's module.
pub const MAX_BUFFERS: usize = 1 << 18;

/// Lowest address of the slots. A slot is an address range that holds one buffer.
///
/// The base addresses in the first [`SPREAD`] slots lie in the range from 13 * 2^56 to 14 * 2^56. Consider a sum of up
/// to 16 base addresses, each added or subtracted. The sum lies in a slot only if there is exactly one more addition
/// than subtractions. The reason is that the multiples of 13 from -16 to 16 are far enough apart modulo 256.
const FIRST_SLOT: u64 = 0x0d << 56;
/// Log2 of the size in bytes of a slot, the address range of one buffer.
const SLOT_LOG2: u32 = 44;
/// Log2 of the granularity, in bytes, of the distance from the start of a slot to its buffer.
const UNIT_LOG2: u32 = 18;
/// Number of slots whose buffers start at distinct distances from the start of their slot.
const SPREAD: u64 = 1 << 12;

/// Returns the first address of the slot of a parameter's buffer.
const fn slot_start(param: usize) -> u64 {
    FIRST_SLOT.wrapping_add((param as u64) << SLOT_LOG2)
}

/// Returns the address of the buffer of parameter `param`, which must be less than [`MAX_BUFFERS`].
///
/// Base addresses are more than 2^43 apart. An address in one buffer, plus 64 times a 32-bit index, plus a signed
/// 32-bit offset therefore never lies in another buffer. The distance from the start of a slot to its buffer grows with
/// the square of the slot number. Two different pairs of buffers therefore never have the same difference of addresses.
/// For the same reason, the address `2 * p - q`, for buffers p and q, lies before the buffer of its slot.
pub const fn buffer_base(param: usize) -> u64 {
    let number = param as u64 & (SPREAD - 1);
    slot_start(param).wrapping_add((number * number) << UNIT_LOG2)
}

/// Returns the number of the parameter whose slot (the address range of one buffer) contains an
/// address. The address may lie outside the buffer itself.
pub const fn buffer_slot(address: u64) -> Option<usize> {
    let slot = address.wrapping_sub(FIRST_SLOT) >> SLOT_LOG2;
    if slot < MAX_BUFFERS as u64 { Some(slot as usize) } else { None }
}

/// Returns the start of the slot of parameter `param`, and the mask of the address bits that are constant within the
/// slot. Comparing the masked address with the start is equivalent to [`buffer_slot`].
pub const fn slot_of(param: usize) -> (u64, u64) {
    (slot_start(param), u64::MAX << SLOT_LOG2)
}

/// Returns the number of the parameter whose buffer contains an address, and the offset from the
/// buffer's start. This is the inverse of [`buffer_base`].
pub const fn buffer_of(address: u64) -> Option<(usize, u64)> {
    let Some(param) = buffer_slot(address) else { return None };
    match address.checked_sub(buffer_base(param)) {
        Some(offset) => Some((param, offset)),
        None => None,
    }
}

/// Returns the number of the parameter whose buffer starts nearest to an address, and the signed
/// offset from that start.
pub const fn buffer_near(address: u64) -> Option<(usize, i64)> {
    let Some(behind) = buffer_slot(address.wrapping_add(1 << (SLOT_LOG2 - 1))) else { return None };
    let offset = address.wrapping_sub(buffer_base(behind)).cast_signed();
    let Some(before) = behind.checked_sub(1) else { return Some((behind, offset)) };
    let other = address.wrapping_sub(buffer_base(before)).cast_signed();
    if other.unsigned_abs() < offset.unsigned_abs() { Some((before, other)) } else { Some((behind, offset)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of buffers for which the tests check sums of base addresses.
    const BUFFERS: usize = 4096;
    /// Maximum size in bytes of a buffer for which the tests hold.
    const BYTES: u64 = 1 << 43;

    /// Returns the base addresses of the buffers, in ascending order.
    fn bases() -> Vec<u64> {
        let bases: Vec<u64> = (0..BUFFERS).map(buffer_base).collect();
        assert!(bases.is_sorted());
        bases
    }

    /// Returns `true` if an address lies in a buffer of [`BYTES`] bytes.
    fn is_in_a_buffer(bases: &[u64], address: u64) -> bool {
        let before = bases.partition_point(|base| *base <= address).checked_sub(1);
        before.is_some_and(|number| address - bases[number] < BYTES)
    }

    #[test]
    fn no_short_offset_leads_from_one_buffer_to_another() {
        for address in [0, 1 << 36, 6 << 36, 1 << 47, 1 << 56, FIRST_SLOT - 1, u64::MAX] {
            assert_eq!((buffer_of(address), buffer_slot(address)), (None, None), "{address:#x}");
        }
        for param in [0, 1, 511, BUFFERS - 1, BUFFERS, MAX_BUFFERS - 1] {
            let base = buffer_base(param);
            assert_eq!(buffer_of(base), Some((param, 0)));
            assert_eq!(base % (1 << UNIT_LOG2), 0);
            let reach = base + (u64::from(u32::MAX) << 6) + (1 << 31);
            assert_eq!(buffer_of(reach), Some((param, reach - base)));
            assert_ne!(buffer_of(base - (1 << 31)).map(|(param, _)| param), Some(param));
            assert_eq!(buffer_near(base - 4), Some((param, -4)));
            assert_eq!(buffer_near(base + 12), Some((param, 12)));
            let (start, mask) = slot_of(param);
            assert!([start, base, reach, start + !mask].iter().all(|address| address & mask == start));
        }
        assert_eq!(buffer_slot(buffer_base(MAX_BUFFERS - 1) + (1 << SLOT_LOG2)), None);
        assert_eq!(buffer_near(0), None);
    }

    #[test]
    fn slots_of_buffers_do_not_overlap() {
        assert!(bases().windows(2).all(|pair| pair[1] - pair[0] > BYTES));
        let all: Vec<u64> = (0..MAX_BUFFERS).map(buffer_base).collect();
        assert!(all.windows(2).all(|pair| pair[1] - pair[0] > BYTES / 2));
    }

    #[test]
    fn twice_a_base_minus_another_is_in_no_buffer() {
        let bases = bases();
        for &p in &bases {
            for &q in bases.iter().filter(|q| **q != p) {
                let sum = p.wrapping_mul(2).wrapping_sub(q);
                assert!(!is_in_a_buffer(&bases, sum), "2 * {p:#x} - {q:#x}");
                assert_eq!(buffer_of(sum).filter(|&(param, offset)| param < BUFFERS && offset < BYTES), None);
            }
        }
    }

    /// All base addresses lie between the first base and `spread` bytes above it. The sums of two bases with a given
    /// pair of factors therefore lie in one range. The test checks that no buffer overlaps the range.
    #[test]
    fn sums_of_bases_are_in_no_buffer() {
        let bases = bases();
        let (first, end) = (bases[0], bases[BUFFERS - 1] + BYTES);
        for a in -16i64..=16 {
            let left = 16 - a.abs();
            for b in (-left..=left).filter(|b| a + b != 1) {
                let (parts, sum) = ([a, b].map(i128::from), i128::from(a + b));
                let spread = i128::from(bases[BUFFERS - 1] - first);
                let least: i128 = parts.iter().filter(|k| **k < 0).map(|k| k * spread).sum();
                let most: i128 = parts.iter().filter(|k| **k > 0).map(|k| k * spread).sum();
                let start = (sum * i128::from(first)).rem_euclid(1 << 64);
                for p in bases.iter().step_by(97) {
                    for q in bases.iter().step_by(89) {
                        let sum = (p.wrapping_mul(a as u64)).wrapping_add(q.wrapping_mul(b as u64));
                        assert!(!is_in_a_buffer(&bases, sum), "{a} * {p:#x} + {b} * {q:#x}");
                    }
                }
                for turn in [-1, 0, 1].map(|turn: i128| turn << 64) {
                    let is_apart = start + most + turn < i128::from(first) || start + least + turn >= i128::from(end);
                    assert!(is_apart, "{a} * p + {b} * q");
                }
            }
        }
    }

    #[test]
    fn differences_of_bases_are_different() {
        let bases = bases();
        let mut differences: Vec<u64> =
            (1..BUFFERS).flat_map(|k| bases[k..].iter().zip(&bases).map(|(p, q)| p - q)).collect();
        differences.sort_unstable();
        assert!(differences.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
