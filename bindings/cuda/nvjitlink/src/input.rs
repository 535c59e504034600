//! Types of inputs, and the recognition of their contents.

use crate::error::Error;

/// First bytes of LTO-IR.
const LTO_IR: [u8; 4] = 0x7f4e_43ed_u32.to_le_bytes();
/// First bytes of a fatbin container.
const FATBIN: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
/// First bytes of an ELF file.
const ELF: [u8; 4] = *b"\x7fELF";
/// Bytes of an ELF file that contain the number of the machine.
const ELF_MACHINE: std::ops::Range<usize> = 18..20;
/// Number of the machine in a cubin.
const CUDA_MACHINE: [u8; 2] = 190_u16.to_le_bytes();
/// First bytes of a static library.
const LIBRARY: [u8; 8] = *b"!<arch>\n";
/// Byte order mark in UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// An input that a link step can use.
#[derive(PartialEq, Eq, Debug)]
pub enum Input<'a> {
    /// PTX text.
    Ptx(String),
    /// Intermediate code for link-time optimisation.
    LtoIr(&'a [u8]),
    /// A static library.
    Library,
}

impl<'a> Input<'a> {
    /// Recognises an input. `kind` is its declared type, an `nvJitLinkInputType`.
    pub fn new(kind: u32, bytes: &'a [u8], name: &str) -> Result<Input<'a>, Error> {
        let name = || name.to_owned();
        let mismatch = |expected| Error::Mismatch { name: name(), expected };
        let without_ptx = |what| Error::WithoutPtx { name: name(), what };
        if bytes.is_empty() {
            return Err(Error::Empty { name: name() });
        }
        match kind {
            1 => Err(without_ptx("a cubin")),
            2 => ptx(bytes).map(Input::Ptx).ok_or_else(|| mismatch("PTX text")),
            3 if bytes.starts_with(&LTO_IR) => Ok(Input::LtoIr(bytes)),
            3 => Err(mismatch("LTO-IR")),
            4 => Err(without_ptx("a fatbin")),
            5 => Err(without_ptx("an object file")),
            6 => Ok(Input::Library),
            7 => Err(without_ptx("an index file")),
            10 if bytes.starts_with(&LTO_IR) => Ok(Input::LtoIr(bytes)),
            10 if bytes.starts_with(&LIBRARY) => Ok(Input::Library),
            10 if bytes.starts_with(&FATBIN) => Err(without_ptx("a fatbin")),
            10 if bytes.starts_with(&ELF) => {
                let is_cubin = bytes.get(ELF_MACHINE) == Some(CUDA_MACHINE.as_slice());
                Err(without_ptx(if is_cubin { "a cubin" } else { "an object file" }))
            }
            10 => ptx(bytes).map(Input::Ptx).ok_or_else(|| Error::Unrecognised(name())),
            kind => Err(Error::Kind { name: name(), kind }),
        }
    }
}

/// Returns the text up to the first NUL. Bytes that are not UTF-8, for example in comments, are replaced.
pub fn text(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// Returns the PTX text in `bytes`, or `None` if the text does not begin with a directive or a comment.
fn ptx(bytes: &[u8]) -> Option<String> {
    let text = text(bytes);
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text);
    ["//", "/*", "."].iter().any(|first| text.trim_start().starts_with(first)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Type of an input that is recognised by its contents.
    const ANY: u32 = 10;

    #[test]
    fn ptx_begins_with_a_directive_or_a_comment() {
        for text in ["// a\n.version 8.0", "/* a */ .version 8.0", " \n.version 8.0"] {
            for kind in [2, ANY] {
                assert!(Input::new(kind, text.as_bytes(), "x").is_ok_and(|input| input == Input::Ptx(text.into())));
            }
        }
        assert!(Input::new(2, b"\xef\xbb\xbf.x \xff\0y", "x").is_ok_and(|it| it == Input::Ptx(".x \u{fffd}".into())));
        assert!(matches!(Input::new(2, b"hello", "x"), Err(Error::Mismatch { .. })));
        assert!(matches!(Input::new(ANY, b"hello", "x"), Err(Error::Unrecognised(_))));
        assert!(matches!(Input::new(2, b"", "x"), Err(Error::Empty { .. })));
    }

    #[test]
    fn contents_are_recognised() {
        let lto_ir = b"\xed\x43\x4e\x7f\x01";
        assert!(matches!(Input::new(3, lto_ir, "x"), Ok(Input::LtoIr(_))));
        assert!(matches!(Input::new(ANY, lto_ir, "x"), Ok(Input::LtoIr(_))));
        assert!(matches!(Input::new(2, lto_ir, "x"), Err(Error::Mismatch { .. })));
        assert!(matches!(Input::new(ANY, b"!<arch>\n", "x"), Ok(Input::Library)));
        let what = |kind, bytes: &[u8]| match Input::new(kind, bytes, "x") {
            Err(Error::WithoutPtx { what, .. }) => what,
            _ => "",
        };
        let mut elf = *b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xbe\0";
        assert_eq!(what(ANY, &elf), "a cubin");
        elf[18] = 62;
        assert_eq!(what(ANY, &elf), "an object file");
        assert_eq!(what(ANY, b"\x7fELF"), "an object file");
        assert_eq!(what(ANY, b"\x50\xed\x55\xba"), "a fatbin");
        assert_eq!(what(1, b"x"), "a cubin");
        for kind in [0, 8, 9, 11, u32::MAX] {
            assert!(matches!(Input::new(kind, b".version", "x"), Err(Error::Kind { .. })), "{kind}");
        }
    }
}
