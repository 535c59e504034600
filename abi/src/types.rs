//! Value types: an element type and a number of lanes.
//!
//! Lane 0 of a vector has the lowest bits in a register and the lowest address in memory. All data is little endian.

use std::fmt;

/// Element type of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Elem {
    /// A truth value. A vector of this element type is a mask.
    I1,
    /// An 8-bit integer. The op determines signedness, as for all integer types.
    I8,
    /// A 16-bit integer.
    I16,
    /// A 32-bit integer.
    I32,
    /// A 64-bit integer.
    I64,
    /// IEEE 754 binary16.
    F16,
    /// bfloat16: the upper half of a binary32.
    BF16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// FP8 of 4 exponent and 3 mantissa bits, without infinities (OCP E4M3).
    E4M3,
    /// FP8 of 5 exponent and 2 mantissa bits: the upper half of a binary16 (OCP E5M2).
    E5M2,
    /// A 64-bit byte address.
    Ptr,
}

impl Elem {
    /// Returns the width of the element type in bits; 1 for a truth value.
    pub const fn bits(self) -> u32 {
        match self {
            Elem::I1 => 1,
            Elem::I8 | Elem::E4M3 | Elem::E5M2 => 8,
            Elem::I16 | Elem::F16 | Elem::BF16 => 16,
            Elem::I32 | Elem::F32 => 32,
            Elem::I64 | Elem::F64 | Elem::Ptr => 64,
        }
    }

    /// Returns a mask with all bits of one lane set.
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }
}

/// A type of the IR. Only the types in [`Type::ALL`] exist.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    elem: Elem,
    lanes: u8,
}

macro_rules! types {
    ($($konst:ident $name:literal $elem:ident $lanes:literal $doc:literal;)*) => {
        impl Type {
            $(#[doc = $doc] pub const $konst: Type = Type { elem: Elem::$elem, lanes: $lanes };)*

            /// All types of the IR.
            pub const ALL: &'static [Type] = &[$(Type::$konst),*];

            /// Returns the name of the type in the IR text.
            pub const fn name(self) -> &'static str {
                match (self.elem, self.lanes) {
                    $((Elem::$elem, $lanes) => $name,)*
                    _ => "?",
                }
            }

            /// Returns the type that has a name in the IR text.
            pub fn from_name(name: &str) -> Option<Type> {
                match name { $($name => Some(Type::$konst),)* _ => None }
            }

            /// Returns the name of the type's constant in Rust and in ISLE, such as `F16X2`.
            pub const fn ident(self) -> &'static str {
                match (self.elem, self.lanes) {
                    $((Elem::$elem, $lanes) => stringify!($konst),)*
                    _ => "?",
                }
            }
        }
    };
}

types! {
    I1 "i1" I1 1 "A truth value.";
    I8 "i8" I8 1 "An 8-bit integer.";
    I16 "i16" I16 1 "A 16-bit integer.";
    I32 "i32" I32 1 "A 32-bit integer.";
    I64 "i64" I64 1 "A 64-bit integer.";
    F16 "f16" F16 1 "An IEEE half.";
    BF16 "bf16" BF16 1 "A bfloat16.";
    F32 "f32" F32 1 "An IEEE single.";
    F64 "f64" F64 1 "An IEEE double.";
    E4M3 "e4m3" E4M3 1 "An FP8 of the format E4M3, which is only stored and converted.";
    E5M2 "e5m2" E5M2 1 "An FP8 of the format E5M2, which is only stored and converted.";
    PTR "ptr" Ptr 1 "A 64-bit byte address.";
    I8X4 "i8x4" I8 4 "Four bytes in a word.";
    I16X2 "i16x2" I16 2 "Two halfwords in a word.";
    F16X2 "f16x2" F16 2 "Two IEEE halves in a word.";
    BF16X2 "bf16x2" BF16 2 "Two bfloat16 in a word.";
    I8X16 "i8x16" I8 16 "Sixteen bytes: a VP1 vector.";
    I16X16 "i16x16" I16 16 "Sixteen halfwords: a wide intermediate of VP1.";
    I32X16 "i32x16" I32 16 "Sixteen words: a wide intermediate of VP1.";
    I1X2 "i1x2" I1 2 "A mask of two lanes.";
    I1X4 "i1x4" I1 4 "A mask of four lanes.";
    I1X16 "i1x16" I1 16 "A mask of sixteen lanes.";
}

/// Table entry for a combination of element type and lane count that is not a type.
const NO_TYPE: u8 = u8::MAX;

/// Index in [`Type::ALL`] of each type, by element type and log2 of the lane count.
const TYPE_INDICES: [[u8; 5]; Elem::Ptr as usize + 1] = {
    let mut places = [[NO_TYPE; 5]; Elem::Ptr as usize + 1];
    let mut place = 0;
    while place < Type::ALL.len() {
        let Type { elem, lanes } = Type::ALL[place];
        assert!(lanes.is_power_of_two());
        places[elem as usize][lanes.trailing_zeros() as usize] = place as u8;
        place += 1;
    }
    places
};

impl Type {
    /// Returns the index of the type in [`Type::ALL`].
    #[inline]
    pub const fn index(self) -> usize {
        TYPE_INDICES[self.elem as usize][self.lanes.trailing_zeros() as usize] as usize
    }

    /// Returns the type of one element.
    pub const fn elem(self) -> Elem {
        self.elem
    }

    /// Returns the number of lanes; 1 for a scalar.
    pub const fn lanes(self) -> usize {
        self.lanes as usize
    }

    /// Returns the type with the given element type and number of lanes, if it exists.
    #[inline]
    pub const fn new(elem: Elem, lanes: usize) -> Option<Type> {
        let places = &TYPE_INDICES[elem as usize];
        let log = lanes.trailing_zeros() as usize;
        let exists = lanes.is_power_of_two() && log < places.len() && places[log] != NO_TYPE;
        if exists { Some(Type { elem, lanes: lanes as u8 }) } else { None }
    }

    /// Returns the scalar type of one lane.
    pub const fn lane_type(self) -> Type {
        Type { elem: self.elem, lanes: 1 }
    }

    /// Returns the result type of a lane-wise comparison of this type: `i1` for a scalar, a mask for a vector.
    pub const fn mask_type(self) -> Option<Type> {
        Type::new(Elem::I1, self.lanes())
    }

    /// Returns the integer type with the same number of lanes and twice the lane width, if it exists.
    pub const fn widened(self) -> Option<Type> {
        let elem = match self.elem {
            Elem::I8 => Elem::I16,
            Elem::I16 => Elem::I32,
            Elem::I32 => Elem::I64,
            _ => return None,
        };
        Type::new(elem, self.lanes())
    }

    /// Returns the total width of all lanes in bits.
    pub const fn bits(self) -> u32 {
        self.elem.bits() * self.lanes as u32
    }

    /// Returns the size of the type in memory in bytes. A mask is stored as one bit per lane, lane
    /// 0 lowest, padded to whole bytes.
    pub const fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Returns `true` if the type has one lane.
    pub const fn is_scalar(self) -> bool {
        self.lanes == 1
    }

    /// Returns `true` for a vector of more than 16 bytes. Values of this size are only intermediate
    /// results: they are never in memory or in a register.
    pub const fn is_wide(self) -> bool {
        self.bits() > 128
    }

    /// Returns `true` for `i1` and its vectors.
    pub const fn is_mask(self) -> bool {
        matches!(self.elem, Elem::I1)
    }

    /// Returns `true` for integers of 8 to 64 bits and their vectors. Returns `false` for masks and addresses.
    pub const fn is_int(self) -> bool {
        matches!(self.elem, Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64)
    }

    /// Returns `true` for `f16`, `bf16` and their vectors.
    pub const fn is_half(self) -> bool {
        matches!(self.elem, Elem::F16 | Elem::BF16)
    }

    /// Returns `true` for `e4m3`, `e5m2` and their vectors, which can be moved and converted but have no arithmetic.
    pub const fn is_fp8(self) -> bool {
        matches!(self.elem, Elem::E4M3 | Elem::E5M2)
    }

    /// Returns `true` for floating-point element types with arithmetic.
    pub const fn is_float(self) -> bool {
        self.is_half() || matches!(self.elem, Elem::F32 | Elem::F64)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
