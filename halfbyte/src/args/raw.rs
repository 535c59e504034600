//! Raw files, which have no header. Their dtype and shape follow the file name, as in
//! `file.bin:f16:1024` or `file.raw:uint8:480x640`.

use std::path::Path;

use halfbyte_ir::Type;

use super::array::{Array, Dtype};
use super::shortened;

/// Splits a value into path, dtype and shape. Returns `None` for a path alone.
pub(super) fn split(name: &str) -> Option<(&str, &str, &str)> {
    let (rest, shape) = name.rsplit_once(':')?;
    let (path, dtype) = rest.rsplit_once(':')?;
    let is_shape = shape.split('x').all(|dim| !dim.is_empty() && dim.bytes().all(|byte| byte.is_ascii_digit()));
    let is_name = !dtype.is_empty() && dtype.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_shape && is_name && !path.is_empty()).then_some((path, dtype, shape))
}

/// File name extensions of known formats that are not supported, with the formats' names. The raw
/// bytes of such a file are hardly ever the intended contents of a buffer.
const UNSUPPORTED_FORMATS: [(&str, &str); 13] = [
    ("jpg", "JPEG"),
    ("jpeg", "JPEG"),
    ("gif", "GIF"),
    ("bmp", "BMP"),
    ("webp", "WebP"),
    ("tif", "TIFF"),
    ("tiff", "TIFF"),
    ("npz", "an archive of arrays (.npz)"),
    ("csv", "CSV"),
    ("txt", "text"),
    ("json", "JSON"),
    ("hb", "a kernel's text"),
    ("ptx", "PTX"),
];

fn extension(name: &str) -> Option<String> {
    Some(Path::new(name).extension()?.to_str()?.to_ascii_lowercase())
}

/// Returns the name of the format of a file, if its extension is that of a known but unsupported format.
pub fn unread_format(name: &str) -> Option<&'static str> {
    let extension = extension(name)?;
    UNSUPPORTED_FORMATS.iter().find(|(end, _)| *end == extension).map(|&(_, format)| format)
}

/// Returns `true` if a value without `@` was probably meant as a file name: its extension is
/// supported, or a file of this name exists.
pub fn is_like_file(text: &str) -> bool {
    let name = split(text).map_or(text, |(path, ..)| path);
    if name.starts_with(['@', '[']) {
        return false;
    }
    let is_named = extension(name).is_some_and(|end| matches!(end.as_str(), "npy" | "png" | "bin" | "raw"));
    // The text of a number never counts as a file name.
    let is_number =
        name.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.')) || matches!(name, "inf" | "nan");
    is_named || !is_number && Path::new(name).is_file()
}

/// Parses the dtype and the shape of a raw file for elements of type `ty`. The error consists of
/// the reason and the expected text.
pub(super) fn array(dtype: &str, shape: &str, ty: Type) -> Result<Array, (String, String)> {
    let fitting = Dtype::fitting(ty);
    let expected = || Dtype::names(&fitting);
    let Some(dtype) = Dtype::from_name(dtype) else {
        let hint = match dtype {
            "i1" => " (i1 is the IR's boolean; NumPy's is bool)",
            "i8" | "i16" | "i32" | "i64" => " (the IR's integers have no sign)",
            _ => "",
        };
        return Err((format!("`{}` is not a dtype{hint}", shortened(dtype)), expected()));
    };
    if !fitting.contains(&dtype) {
        return Err((format!("the dtype {dtype} does not fit {ty}"), expected()));
    }
    let large = |_| (format!("`{}` is too large a shape", shortened(shape)), "dimensions such as 480x640".to_owned());
    let shape = shape.split('x').map(str::parse).collect::<Result<Vec<u64>, _>>().map_err(large)?;
    Ok(Array { dtype, shape })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_dtype_and_a_shape_are_split_off() {
        assert_eq!(split("a.bin:f16:1024"), Some(("a.bin", "f16", "1024")));
        assert_eq!(split("c:/a.raw:uint8:480x640x3"), Some(("c:/a.raw", "uint8", "480x640x3")));
        for name in ["a.bin", "a:b", "a.bin:1024", "a:b:c", "a:f16:4x", "a::4", ":f16:4", "a:f 16:4"] {
            assert_eq!(split(name), None, "{name}");
        }
    }

    #[test]
    fn names_tell_formats_and_files() {
        assert_eq!(unread_format("a/t.JPG"), Some("JPEG"));
        assert_eq!(unread_format("t.csv"), Some("CSV"));
        for name in ["t", "t.bin", "t.raw", "t.npy", "t.png", "t.dat", "jpg", "t.jpg:u8:4"] {
            assert_eq!(unread_format(name), None, "{name}");
        }
        for text in ["img.npy", "a/b.png", "x.bin:u8:4", "X.RAW", "src/args/raw.rs"] {
            assert!(is_like_file(text), "{text}");
        }
        for text in
            ["5", "1.5", "-1", "0x3c00", "inf", "nan", "@x.npy", "[1, 2]", "zeros(4)", "random(4, 1)", "zeros:i8:4"]
        {
            assert!(!is_like_file(text), "{text}");
        }
    }

    #[test]
    fn each_misfit_has_its_error() {
        let error = |dtype, shape, ty| match array(dtype, shape, ty) {
            Ok(array) => format!("{array:?}"),
            Err((reason, expected)) => format!("{reason}; {expected}"),
        };
        assert_eq!(
            error("i1", "4", Type::I8),
            "`i1` is not a dtype (i1 is the IR's boolean; NumPy's is bool); uint8 or int8"
        );
        assert_eq!(error("i8", "4", Type::I8), "`i8` is not a dtype (the IR's integers have no sign); uint8 or int8");
        assert_eq!(error("half", "4", Type::F16), "`half` is not a dtype; float16 or uint16");
        assert_eq!(error("u8", "4", Type::F16X2), "the dtype uint8 does not fit f16x2; float16, uint16 or uint32");
        assert_eq!(
            error("u8", "4x99999999999999999999", Type::I8),
            "`4x99999999999999999999` is too large a shape; dimensions such as 480x640"
        );
    }
}
