//! Arguments of launches of drawn kernels.

use halfbyte_abi::Alias;

use crate::witness::Random;
use crate::{Direction, Kernel, Param, ParamKind, Type};

/// Bytes of a buffer of arguments for each item: the most of a written one that an item owns.
pub const ROW: u32 = 64;

/// Rows that buffers have beyond those of the items, for reads at a distance from an item's own elements.
const SPARE_ROWS: u32 = 6;

/// How the names of scalar parameters begin that addresses are computed from.
pub(super) const SMALL: &str = "n";

/// How the names of parameters begin whose arguments lie in the buffer of another: its name and the bytes from its start follow.
pub(super) const ALIAS: &str = "z";

/// The greatest value of such a parameter.
pub(super) const MOST: u32 = 4;

/// The arguments of a launch, by parameter that has no contents, as little-endian bytes: a scalar's, or a buffer's with [`ROW`] bytes an item and
/// some more. What is `out` is zero, and an `i32` whose name begins with `n` is at most 4.
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

/// The arguments that are to lie in the buffers of others, by the names of their parameters: `z5_y2_8` lies 8 bytes into that of `y2`.
pub fn aliases(kernel: &Kernel) -> Vec<Alias> {
    let params = kernel.given_params();
    let alias = |(param, declared): (usize, &Param)| {
        let [_, of, offset] = declared.name.strip_prefix(ALIAS)?.split('_').collect::<Vec<_>>().try_into().ok()?;
        let of = params.iter().position(|param| param.name == of)?;
        Some(Alias { param, of, offset: offset.parse().ok()? })
    };
    params.iter().enumerate().filter_map(alias).collect()
}

/// Values of a type as they lie in memory, edge values among their lanes.
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
