//! Arguments for launches of generated kernels.

use halfbyte_abi::Alias;

use crate::witness::Random;
use crate::{Direction, Kernel, Param, ParamKind, Type};

/// Number of bytes per item in each buffer argument. An item accesses at most this many bytes of a written buffer.
pub const ROW: u32 = 64;

/// Number of additional rows of each buffer, which items can read beyond their own elements.
const SPARE_ROWS: u32 = 6;

/// Name prefix of scalar parameters that are used in addresses, and so have small values.
pub(super) const SMALL: &str = "n";

/// Name prefix of alias parameters. The name also contains the name of the aliased buffer and the byte offset in it.
pub(super) const ALIAS: &str = "z";

/// Maximum value of a scalar parameter that is used in addresses.
pub(super) const MOST: u32 = 4;

/// Returns the arguments of a launch as little-endian bytes, one argument for each parameter
/// without contents. A buffer has [`ROW`] bytes per item and some additional rows. `out` buffers
/// are zero, and an `i32` whose name begins with `n` is at most 4.
pub fn arguments(kernel: &Kernel, items: u32, random: &mut Random) -> Vec<Vec<u8>> {
    let of = |param: &Param| match param.kind {
        ParamKind::Scalar(Type::I32) if param.name.starts_with(SMALL) => {
            (random.below(MOST as usize + 1) as u32).to_le_bytes().to_vec()
        }
        ParamKind::Scalar(ty) => elements(ty, 1, random),
        ParamKind::Buffer { elem, direction, .. } => {
            let bytes = (items + SPARE_ROWS) * ROW;
            match direction {
                Direction::Out => vec![0; bytes as usize],
                Direction::In | Direction::InOut => elements(elem, bytes / elem.bytes().max(1), random),
            }
        }
    };
    kernel.given_params().iter().map(of).collect()
}

/// Returns the arguments that are aliases of other arguments. The parameter names encode them:
/// `z5_y2_8` is at byte 8 of buffer `y2`.
pub fn aliases(kernel: &Kernel) -> Vec<Alias> {
    let params = kernel.given_params();
    let alias = |(param, declared): (usize, &Param)| {
        let [_, of, offset] = declared.name.strip_prefix(ALIAS)?.split('_').collect::<Vec<_>>().try_into().ok()?;
        let of = params.iter().position(|param| param.name == of)?;
        Some(Alias { param, of, offset: offset.parse().ok()? })
    };
    params.iter().enumerate().filter_map(alias).collect()
}

/// Generates values of a type in memory layout. Many lanes are edge values, such as zeros and infinities.
pub fn elements(ty: Type, count: u32, random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(count as usize * ty.bytes() as usize);
    for _ in 0..count {
        if ty.is_mask() {
            let bits = random.bits() & (u64::MAX >> (64 - ty.bits()));
            bytes.extend_from_slice(bits.to_le_bytes().get(..ty.bytes() as usize).unwrap_or_default());
            continue;
        }
        let other = random.bits();
        for _ in 0..ty.lanes() {
            let lane = random.lane(ty.elem(), other).to_le_bytes();
            bytes.extend_from_slice(lane.get(..ty.elem().bits() as usize / 8).unwrap_or_default());
        }
    }
    bytes
}
