//! Arrays in files, described by their NumPy dtype and their shape.

use std::fmt;

use halfbyte_ir::{Elem, Type};

use super::print::Sign;

/// A NumPy dtype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dtype {
    /// Kind in NumPy: `u`, `i`, `f`, `b` (boolean) or `V` (raw bytes, for formats that NumPy lacks).
    pub(super) letter: char,
    /// The size of one number in bytes.
    pub(super) size: u8,
}

/// The dtypes that buffers support, each with its NumPy name, short name, kind and size in bytes.
const DTYPES: [(&str, &str, char, u8); 13] = [
    ("uint8", "u8", 'u', 1),
    ("uint16", "u16", 'u', 2),
    ("uint32", "u32", 'u', 4),
    ("uint64", "u64", 'u', 8),
    ("int8", "s8", 'i', 1),
    ("int16", "s16", 'i', 2),
    ("int32", "s32", 'i', 4),
    ("int64", "s64", 'i', 8),
    ("float16", "f16", 'f', 2),
    ("bfloat16", "bf16", 'V', 2),
    ("float32", "f32", 'f', 4),
    ("float64", "f64", 'f', 8),
    ("bool", "bool", 'b', 1),
];

impl Dtype {
    pub(super) const BYTES: Dtype = Dtype { letter: 'u', size: 1 };

    /// Returns the dtype with a NumPy name such as `float16`, or with a short name such as `u8`,
    /// `s8` or `f16`, if any.
    pub fn from_name(name: &str) -> Option<Dtype> {
        let found = DTYPES.iter().find(|(long, short, ..)| name == *long || name == *short);
        found.map(|&(_, _, letter, size)| Dtype { letter, size })
    }

    /// Returns the dtype for a name in the header of an `.npy` file, if any. The name has no byte order, as in `u1` or
    /// `f2`.
    pub(super) fn from_header(text: &str) -> Option<Dtype> {
        DTYPES.iter().map(|&(_, _, letter, size)| Dtype { letter, size }).find(|dtype| dtype.header() == text)
    }

    /// Returns the dtype's name in the header of an `.npy` file, without the byte order.
    pub(super) fn header(self) -> String {
        format!("{}{}", self.letter, self.size)
    }

    /// Returns the dtype's name in NumPy.
    pub fn name(self) -> &'static str {
        let found = DTYPES.iter().find(|&&(_, _, letter, size)| (letter, size) == (self.letter, self.size));
        found.map_or("?", |(name, ..)| name)
    }

    /// Returns `true` if the numbers are signed integers.
    pub const fn is_signed(self) -> bool {
        self.letter == 'i'
    }

    /// Returns the dtype with which a buffer of type `ty` is written to a file, unless an input
    /// array determines the dtype.
    pub fn of(ty: Type, sign: Sign) -> Dtype {
        let lane = ty.lane_type().bytes() as u8;
        match ty.elem() {
            Elem::F16 | Elem::F32 | Elem::F64 => Dtype { letter: 'f', size: lane },
            Elem::BF16 | Elem::E4M3 | Elem::E5M2 | Elem::Ptr => Dtype { letter: 'u', size: lane },
            Elem::I1 => Dtype { letter: 'u', size: ty.bytes() as u8 },
            _ => Dtype { letter: if sign.is_signed() { 'i' } else { 'u' }, size: lane },
        }
    }

    /// Returns the dtypes that can be read as type `ty`. An array has one number for each lane, or
    /// one unsigned integer for each vector element.
    pub fn fitting(ty: Type) -> Vec<Dtype> {
        let letters = match ty.elem() {
            Elem::I1 => ['u', 'i', 'b'].as_slice(),
            Elem::F16 | Elem::F32 | Elem::F64 => &['f', 'u'],
            Elem::BF16 => &['V', 'u'],
            Elem::E4M3 | Elem::E5M2 | Elem::Ptr => &['u'],
            _ => &['u', 'i'],
        };
        let lane = if ty.is_mask() { ty.bytes() } else { ty.lane_type().bytes() };
        let whole = (!ty.is_scalar() && lane < ty.bytes() && ty.bytes() <= 8).then_some(('u', ty.bytes()));
        let booleans = |letter: &&char| **letter != 'b' || ty.is_scalar();
        let lanes = letters.iter().filter(booleans).map(|&letter| (letter, lane));
        lanes.chain(whole).map(|(letter, size)| Dtype { letter, size: size as u8 }).collect()
    }

    /// Lists the names of dtypes for a message.
    pub(super) fn names(fitting: &[Dtype]) -> String {
        let names: Vec<&str> = fitting.iter().map(|dtype| dtype.name()).collect();
        match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => names.join(""),
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Maximum number of axes of a NumPy array.
const MAX_AXES: usize = 64;

/// The dtype and shape of an array in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// The dtype of the numbers.
    pub dtype: Dtype,
    /// The sizes of the axes; the index of the last axis varies fastest. For a picture: height,
    /// width and, if there are several, the number of channels.
    pub shape: Vec<u64>,
}

impl Array {
    /// Returns the size of the array in bytes, saturated.
    pub fn bytes(&self) -> u128 {
        if self.shape.contains(&0) {
            return 0;
        }
        let dims = self.shape.iter().map(|&n| u128::from(n));
        dims.fold(self.dtype.size.into(), |product, n| product.saturating_mul(n))
    }

    /// Returns the dtype and shape with which a buffer of `bytes` bytes is written to a file. The dtype of `like` is
    /// used if it fits the type, with the given signedness. The shape of `like` is used if the sizes agree. Otherwise
    /// the array has an axis of elements and, for vectors, an axis of lanes.
    pub fn of(ty: Type, bytes: usize, like: Option<&Array>, sign: Sign) -> Array {
        let plain = Dtype::of(ty, sign);
        let fits = |dtype: &Dtype| Dtype::fitting(ty).contains(dtype);
        let dtype = match like.map(|like| like.dtype).filter(fits) {
            Some(like) if like.size == plain.size && matches!(like.letter, 'u' | 'i') && ty.is_int() => plain,
            Some(like) => like,
            None => plain,
        };
        if let Some(like) = like.filter(|like| like.shape.len() <= MAX_AXES) {
            let array = Array { dtype, shape: like.shape.clone() };
            if array.bytes() == bytes as u128 {
                return array;
            }
        }
        let elements = (bytes / ty.bytes() as usize) as u64;
        let lanes = u64::from(ty.bytes()) / u64::from(dtype.size);
        Array { dtype, shape: if lanes == 1 { vec![elements] } else { vec![elements, lanes] } }
    }
}

/// Returns the row of a type in the table of dtypes: the type, the dtypes that it can be read from,
/// and the dtype that it is written with.
fn dtype_row(ty: Type, quote: &str) -> [String; 3] {
    let lane = if ty.is_mask() { ty.bytes() } else { ty.lane_type().bytes() };
    let (lanes, whole): (Vec<Dtype>, Vec<Dtype>) =
        Dtype::fitting(ty).into_iter().partition(|dtype| u32::from(dtype.size) == lane);
    let names = |dtypes: &[Dtype]| {
        let names: Vec<String> = dtypes.iter().map(|dtype| format!("{quote}{dtype}{quote}")).collect();
        names.join(", ")
    };
    let a_lane = if ty.is_scalar() || ty.is_mask() { "" } else { " a lane" };
    let whole = if whole.is_empty() { String::new() } else { format!("; {} an element", names(&whole)) };
    [ty.name().to_owned(), format!("{}{a_lane}{whole}", names(&lanes)), names(&[Dtype::of(ty, Sign::Unsigned)])]
}

/// Returns the table of dtypes in Markdown, with one row for each type of the IR.
pub fn dtype_table() -> String {
    let rows = Type::ALL.iter().map(|&ty| {
        let [name, read, written] = dtype_row(ty, "`");
        format!("| `{name}` | {read} | {written} |\n")
    });
    "| elements | dtypes read | written as |\n|---|---|---|\n".to_owned() + &rows.collect::<String>()
}

/// Returns the table of dtypes as lines of text with aligned columns.
pub fn dtype_lines() -> String {
    let rows = Type::ALL.iter().map(|&ty| {
        let [name, read, _] = dtype_row(ty, "");
        format!("  {name:<8}{read}\n")
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for (long, short, ..) in DTYPES {
            let dtype = Dtype::from_name(long);
            assert_eq!(dtype, Dtype::from_name(short));
            assert_eq!(dtype.map(Dtype::name), Some(long));
            assert_eq!(dtype.and_then(|dtype| Dtype::from_header(&dtype.header())), dtype);
        }
        for &ty in Type::ALL {
            let fitting = Dtype::fitting(ty);
            assert!(fitting.iter().all(|dtype| dtype.name() != "?"), "{ty}: {fitting:?}");
            assert!(fitting.contains(&Dtype::of(ty, Sign::Unsigned)), "{ty}");
        }
        assert_eq!(Dtype::from_name("i8"), None, "int8 or uint8?");
    }

    #[test]
    fn keeps_dtype_and_shape_of_the_input() {
        let array = |name: &str, shape: &[u64]| Array {
            dtype: Dtype::from_name(name).unwrap_or(Dtype::BYTES),
            shape: shape.to_vec(),
        };
        let of = |ty, bytes, like: Option<&Array>, sign| {
            let Array { dtype, shape } = Array::of(ty, bytes, like, sign);
            (dtype.name(), shape)
        };
        let signed = array("int8", &[2, 6]);
        assert_eq!(of(Type::I8X4, 12, Some(&signed), Sign::Signed), ("int8", vec![2, 6]));
        assert_eq!(of(Type::I8X4, 12, Some(&signed), Sign::Unsigned), ("uint8", vec![2, 6]));
        assert_eq!(of(Type::I8X4, 16, Some(&signed), Sign::Signed), ("int8", vec![4, 4]));
        assert_eq!(of(Type::I8X4, 12, Some(&array("uint32", &[3])), Sign::Signed), ("uint32", vec![3]));
        assert_eq!(of(Type::BF16X2, 8, Some(&array("bfloat16", &[4])), Sign::Unsigned), ("bfloat16", vec![4]));
        assert_eq!(of(Type::BF16X2, 8, Some(&signed), Sign::Unsigned), ("uint16", vec![2, 2]));
        assert_eq!(of(Type::F16, 4, None, Sign::Signed), ("float16", vec![2]));
        assert_eq!(of(Type::I16, 4, None, Sign::Signed), ("int16", vec![2]));
        assert_eq!(of(Type::I1X16, 4, None, Sign::Signed), ("uint16", vec![2]));
    }
}
