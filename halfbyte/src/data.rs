//! Rust types that can be passed as launch arguments.

use half::{bf16, f16};
use halfbyte_abi::{Elem, Type};

// Kernels access slices directly, and treat them as little endian.
const _: () = assert!(cfg!(target_endian = "little"), "launches on typed slices need a little-endian computer");

/// A number type, or an array type whose entries are the lanes of one element, lane 0 first. The numbers are integers
/// of 8 to 128 bits, [`f16`](struct@f16), [`bf16`], `f32` and `f64`. A launch borrows slices of these types without a
/// copy.
///
/// A type fits a parameter if it has all lanes of an element; signedness is ignored. An integer type as wide as a whole
/// element also fits, and holds the bits of the element. A slice for a buffer may also consist of single lanes.
pub trait Data: sealed::Plain {}

impl<T: sealed::Plain> Data for T {}

pub(crate) mod sealed {
    use bytemuck::Pod;

    /// Properties of a [`Data`](super::Data) type. The trait is private, so other crates cannot implement `Data`.
    pub trait Plain: Pod {
        /// Name of the lane type in Rust.
        const NAME: &'static str;
        /// The number of lanes in a value.
        const LANES: usize;
    }
}

use sealed::Plain;

macro_rules! plain {
    ($($ty:ident)*) => {
        $(impl Plain for $ty {
            const NAME: &'static str = stringify!($ty);
            const LANES: usize = 1;
        })*
    };
}

plain! { u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 f16 bf16 f32 f64 }

impl<T: Plain, const N: usize> Plain for [T; N] {
    const NAME: &'static str = T::NAME;
    const LANES: usize = N * T::LANES;
}

/// Returns `true` if values of the Rust type `T` fit a parameter of type `ty`.
pub(crate) fn fits<T: Data>(ty: Type) -> bool {
    let lane = match ty.elem() {
        Elem::I8 => ["u8", "i8"].as_slice(),
        Elem::I16 => &["u16", "i16"],
        Elem::I32 => &["u32", "i32"],
        Elem::I64 => &["u64", "i64"],
        Elem::F16 => &["f16"],
        Elem::BF16 => &["bf16"],
        Elem::F32 => &["f32"],
        Elem::F64 => &["f64"],
        Elem::I1 | Elem::E4M3 | Elem::E5M2 | Elem::Ptr => &[],
    };
    let is_integer = T::NAME.starts_with(['u', 'i']);
    let whole = T::LANES == 1 && is_integer && size_of::<T>() == ty.bytes() as usize;
    whole || lane.contains(&T::NAME) && (T::LANES == 1 || T::LANES == ty.lanes())
}

/// Returns the bits of a value as an integer. Bits beyond 128 are dropped, because no scalar has more than 128 bits.
pub(crate) fn bits<T: Data>(value: &T) -> u128 {
    let mut bits = [0; 16];
    bits.iter_mut().zip(bytemuck::bytes_of(value)).for_each(|(to, from)| *to = *from);
    u128::from_le_bytes(bits)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_lowest_lane_first() {
        assert_eq!(bits(&[f16::ONE, f16::NEG_ONE]), 0xbc00_3c00);
        assert_eq!(bits(&-2_i8), 0xfe);
        assert_eq!(bits(&[1_u8; 17]), u128::from_le_bytes([1; 16]));
    }

    #[test]
    fn lanes_whole_elements_and_bits_fit() {
        let ty = |name| Type::from_name(name).unwrap();
        assert!(fits::<f16>(ty("f16x2")) && fits::<[f16; 2]>(ty("f16x2")) && fits::<u32>(ty("f16x2")));
        assert!(fits::<[i8; 16]>(ty("i8x16")) && fits::<u128>(ty("i8x16")) && fits::<u8>(ty("i1x4")));
        assert!(!fits::<bf16>(ty("f16x2")) && !fits::<u16>(ty("f16x2")) && !fits::<[f16; 4]>(ty("f16x2")));
        assert!(fits::<f64>(ty("f64")) && fits::<u64>(ty("f64")) && !fits::<f64>(ty("i64")));
        assert!(!fits::<f32>(ty("i32")) && !fits::<[u8; 4]>(ty("f16x2")) && !fits::<[u32; 0]>(ty("i32")));
    }
}
