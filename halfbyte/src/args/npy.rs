//! Conversion between NumPy's `.npy` files, versions 1 to 3, and buffers.
//!
//! The numbers of an array fill the buffer in C order, regardless of the array's shape. Each number
//! is a lane. But if the dtype is an unsigned integer as wide as an element, each number holds the
//! bits of an element.

use halfbyte_ir::Type;
use thiserror::Error;

use super::array::{Array, Dtype};
use super::print::Sign;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The reason why an `.npy` file cannot be read as a buffer.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The file is damaged, or is not an `.npy` file.
    #[error("not an .npy file: {0}")]
    Format(&'static str),
    /// The dtype of the array does not fit the element type of the buffer.
    #[error("the array's dtype is {descr}; {ty} takes {expected}")]
    Type {
        /// NumPy's name of the array's dtype.
        descr: String,
        /// The buffer's element type.
        ty: Type,
        /// NumPy's names of the dtypes that fit.
        expected: String,
    },
    /// The array is in column-major order.
    #[error("the array is in Fortran order; save it with numpy.ascontiguousarray")]
    FortranOrder,
    /// The size of the data does not agree with the shape.
    #[error("the shape needs {expected} bytes of data, but the file has {found}")]
    Size {
        /// The size according to the shape, in bytes.
        expected: u128,
        /// The size of the data, in bytes.
        found: usize,
    },
    /// The numbers do not fill a whole number of elements.
    #[error("{numbers} numbers do not fill whole elements of {ty}")]
    Lanes {
        /// The number of numbers in the array, that is, the product of its axes.
        numbers: usize,
        /// The buffer's element type.
        ty: Type,
    },
}

/// Converts the contents of an `.npy` file to the bytes of a buffer with element type `ty`.
///
/// # Errors
/// Fails if the file is not an `.npy` file, or if the array does not fit the type.
pub fn read(file: &[u8], ty: Type) -> Result<Vec<u8>, NpyError> {
    load(file, ty).map(|(bytes, _)| bytes)
}

/// Converts the contents of an `.npy` file to the bytes of a buffer, and also returns the dtype and shape.
///
/// # Errors
/// Fails if the file is not an `.npy` file, or if the array does not fit the type.
pub fn load(file: &[u8], ty: Type) -> Result<(Vec<u8>, Array), NpyError> {
    let (header, data) = split(file)?;
    let Header { descr, fortran, shape } = Header::parse(header).ok_or(NpyError::Format("the header is malformed"))?;
    let fits = Dtype::fitting(ty);
    let misfit = |name: String| NpyError::Type { descr: name, ty, expected: Dtype::names(&fits) };
    let unknown = || misfit(format!("{descr:?}"));
    let mut chars = descr.chars();
    let big_endian = match chars.next() {
        Some('<' | '|' | '=') => false,
        Some('>') => true,
        _ => return Err(unknown()),
    };
    let dtype = Dtype::from_header(chars.as_str()).ok_or_else(unknown)?;
    if !fits.contains(&dtype) {
        return Err(misfit(dtype.name().to_owned()));
    }
    if fortran && shape.iter().filter(|&&n| n != 1).count() > 1 {
        return Err(NpyError::FortranOrder);
    }
    let array = Array { dtype, shape };
    let (size, expected) = (usize::from(dtype.size), array.bytes());
    if expected != data.len() as u128 {
        return Err(NpyError::Size { expected, found: data.len() });
    }
    if data.len() % ty.bytes() as usize != 0 {
        return Err(NpyError::Lanes { numbers: data.len() / size, ty });
    }
    let mut bytes = data.to_vec();
    if big_endian {
        bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    Ok((bytes, array))
}

/// Returns the contents of an `.npy` file with the elements of a buffer. The array has an axis of elements and, for
/// vectors, an axis of lanes. Integers are unsigned; `bf16` and masks are written as their bits.
pub fn write(bytes: &[u8], ty: Type) -> Vec<u8> {
    write_array(bytes, &Array::of(ty, bytes.len(), None, Sign::Unsigned))
}

/// Returns the contents of an `.npy` file with the given bytes, dtype and shape.
pub fn write_array(bytes: &[u8], array: &Array) -> Vec<u8> {
    let Array { dtype, shape } = array;
    let order = if dtype.size == 1 { '|' } else { '<' };
    let dims: Vec<String> = shape.iter().map(u64::to_string).collect();
    let comma = if dims.len() == 1 { "," } else { "" };
    let (dtype, dims) = (dtype.header(), dims.join(", "));
    let header = format!("{{'descr': '{order}{dtype}', 'fortran_order': False, 'shape': ({dims}{comma}), }}");
    // The data starts at a multiple of 64 bytes in the file. Ten bytes precede the header, and a
    // line break ends the padding of the header.
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    let mut file = [MAGIC, &[1, 0], &(length as u16).to_le_bytes()].concat();
    file.extend(format!("{header:<width$}\n", width = length - 1).bytes());
    file.extend(bytes);
    file
}

/// Splits the contents of an `.npy` file into the text of the header and the data.
fn split(file: &[u8]) -> Result<(&str, &[u8]), NpyError> {
    let rest = file.strip_prefix(MAGIC).ok_or(NpyError::Format("the magic number is missing"))?;
    let truncated = NpyError::Format("the header is cut off");
    let (length, rest) = match rest {
        [1, 0, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, 0, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        [0..=3, _, ..] | [] | [_] => return Err(truncated),
        _ => return Err(NpyError::Format("its version is unknown")),
    };
    let (header, data) = rest.split_at_checked(length).ok_or(truncated)?;
    let header = str::from_utf8(header).map_err(|_| NpyError::Format("the header is not text"))?;
    Ok((header, data))
}

/// The contents of a header. NumPy writes a header as `{'descr': '<f2', 'fortran_order': False, 'shape': (3, 2), }`.
struct Header<'a> {
    descr: &'a str,
    fortran: bool,
    shape: Vec<u64>,
}

impl<'a> Header<'a> {
    fn parse(text: &'a str) -> Option<Header<'a>> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = rest.strip_prefix('\'')?.split_once('\'')?;
            let value = after.trim_start().strip_prefix(':')?.trim_start();
            let after = match key {
                "descr" => {
                    let (text, after) = value.strip_prefix('\'')?.split_once('\'')?;
                    descr = Some(text);
                    after
                }
                "fortran_order" => {
                    let length = value.find(|c: char| !c.is_ascii_alphabetic())?;
                    let (word, after) = value.split_at_checked(length)?;
                    fortran = Some(match word {
                        "True" => true,
                        "False" => false,
                        _ => return None,
                    });
                    after
                }
                "shape" => {
                    let (dims, after) = value.strip_prefix('(')?.split_once(')')?;
                    let dims = dims.trim();
                    let dims = dims.strip_suffix(',').unwrap_or(dims);
                    let numbers = dims.split(',').filter(|_| !dims.is_empty());
                    shape = Some(numbers.map(|n| n.trim().parse().ok()).collect::<Option<Vec<u64>>>()?);
                    after
                }
                _ => return None,
            };
            let after = after.trim_start();
            rest = match after.strip_prefix(',') {
                Some(next) => next.trim_start(),
                None if after.is_empty() => after,
                None => return None,
            };
        }
        Some(Header { descr: descr?, fortran: fortran?, shape: shape? })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use halfbyte_ir::Elem;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut file = [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
        file.extend(data);
        file
    }

    fn array(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        file(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"), data)
    }

    #[test]
    fn what_is_written_reads_back() {
        for &ty in Type::ALL.iter().filter(|ty| ty.elem() != Elem::Ptr) {
            let bytes: Vec<u8> = (0..ty.bytes() * 3).map(|n| n as u8).collect();
            let file = write(&bytes, ty);
            assert_eq!(read(&file, ty), Ok(bytes), "{ty}");
            assert_eq!((file.len() - 3 * ty.bytes() as usize) % 64, 0, "{ty}");
        }
    }

    #[test]
    fn the_header_is_numpys() {
        let file = write(&[0; 12], Type::F16X2);
        assert_eq!(&file[..10], b"\x93NUMPY\x01\x00\x76\x00");
        let header = str::from_utf8(&file[10..128]).unwrap();
        assert_eq!(header.trim_end(), "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 2), }");
        assert!(header.ends_with(" \n"));
    }

    #[test]
    fn numbers_fill_lanes() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(read(&array("|u1", "(2, 4)", &bytes), Type::I8X4), Ok(bytes.to_vec()));
        assert_eq!(read(&array("|i1", "(8,)", &bytes), Type::I8X4), Ok(bytes.to_vec()));
        assert_eq!(read(&array(">u4", "(2,)", &bytes), Type::I8X4), Ok(vec![4, 3, 2, 1, 8, 7, 6, 5]));
        assert_eq!(read(&array(">f2", "(2, 2)", &bytes), Type::F16X2), Ok(vec![2, 1, 4, 3, 6, 5, 8, 7]));
        assert_eq!(read(&array("<f4", "()", &bytes[..4]), Type::F32), Ok(vec![1, 2, 3, 4]));
        assert_eq!(read(&array("<f8", "(1,)", &bytes[..8]), Type::F64), Ok(bytes[..8].to_vec()));
        assert!(read(&array("<f4", "(2,)", &bytes[..8]), Type::F64).is_err());
        assert_eq!(read(&array("<f4", "(0, 18446744073709551615)", &[]), Type::F32), Ok(vec![]));
    }

    #[test]
    fn each_misfit_has_its_error() {
        let error = |file: &[u8], ty| read(file, ty).unwrap_err().to_string();
        let halves = array("<f2", "(3,)", &[0; 6]);
        assert_eq!(error(&halves, Type::I8X4), "the array's dtype is float16; i8x4 takes uint8, int8 or uint32");
        assert_eq!(error(&halves, Type::F16X2), "3 numbers do not fill whole elements of f16x2");
        assert_eq!(
            error(&array("<f2", "(4294967295, 4294967295, 4294967295, 4294967295, 4294967295)", &[0; 6]), Type::F16),
            format!("the shape needs {} bytes of data, but the file has 6", u128::MAX)
        );
        let fortran = file("{'descr': '<f2', 'fortran_order': True, 'shape': (2, 3), }", &[0; 12]);
        assert_eq!(read(&fortran, Type::F16), Err(NpyError::FortranOrder));
        assert_eq!(error(b"\x93NUMPX", Type::F16), "not an .npy file: the magic number is missing");
        for header in [
            "",
            "{",
            "{}",
            "{'descr': 1}",
            "{'shape': (1,}",
            "{'descr': '<f2' 'fortran_order': False}",
            "((((((((((",
            "{'é",
        ] {
            assert_eq!(error(&file(header, &[]), Type::F16), "not an .npy file: the header is malformed", "{header}");
        }
    }

    #[test]
    fn every_truncation_is_refused() {
        let whole = write(&[0; 12], Type::F16X2);
        for length in 0..whole.len() {
            assert!(read(&whole[..length], Type::F16X2).is_err(), "{length}");
        }
    }
}
