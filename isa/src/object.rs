//! Object files: the names of the sections and the layout of the records. The emitter writes these
//! records and the loader reads them.
//!
//! An object is a relocatable 64-bit little-endian ELF file. [`HEADER_SECTION`] holds the target
//! and the name of the source file. Each kernel is a function symbol with three sections: its
//! machine code, its [`KernelInfo`] and its source locations. Numbers in records are little endian.
//! A string is its length in bytes as 32 bits, followed by UTF-8.

mod part;
mod tiles;

use thiserror::Error;

use crate::stream::{Tiles, TilesError};
use halfbyte_abi::{Contents, Direction, MAX_LOCAL_BYTES, Param, ParamKind, Signature, SignatureError, Type};
use halfbyte_abi::{KernelFormat, Target};

pub use halfbyte_abi::Loc;
pub use part::PartialAccess;

/// `e_machine` of an object: the letters `HB`. No registered machine has this number, so other
/// tools do not mistake an object for their own.
pub const E_MACHINE: u16 = u16::from_le_bytes(*b"HB");
/// `e_flags` of an object: the version of the record layouts. A reader rejects every other version.
pub const E_FLAGS: u32 = 6;
/// Name of the section that holds the object's [`Header`].
pub const HEADER_SECTION: &str = ".halfbyte";
/// Prefix of the names of the sections that hold machine code. The kernel's name follows the prefix.
pub const TEXT_PREFIX: &str = ".text.";
/// Prefix of the names of the sections that hold a [`KernelInfo`]. The kernel's name follows the prefix.
pub const INFO_PREFIX: &str = ".info.";
/// Prefix of the names of the sections that hold source locations. The kernel's name follows the
/// prefix. The section holds one [`Loc`] record per instruction word, followed by the
/// [`PartialAccess`] records in the order of their instruction words.
pub const LOC_PREFIX: &str = ".loc.";
/// Maximum size of a group's static shared memory in bytes. The limit excludes dynamic shared
/// memory, whose size each launch specifies.
pub const MAX_SHARED_BYTES: u32 = 49152;
/// Alignment in bytes of the sections of machine code: one HALU instruction word, or four VP1 instruction words.
pub const TEXT_ALIGN: u64 = 16;

/// The target and the source file of an object. Its record holds the target number and the SM
/// version, 16 bits each, and the name of the source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The target of the machine code.
    pub target: Target,
    /// The name of the source file, for messages.
    pub source: String,
}

/// The information about a kernel that the loader needs besides its machine code.
///
/// The record begins with 32-bit numbers: the bytes of local memory and the number of registers. On HALU, three fields
/// follow: an 8-bit flag that tells whether the kernel uses shared memory, the 32-bit size of shared memory, and the
/// 32-bit size of the local memory that the kernel declares. The kernel's name, the 32-bit number of parameters and the
/// parameters come next.
///
/// A parameter's record: its name; 8 bits of kind (0 scalar, 1 `in`, 2 `out`, 3 `inout`, 4 `in` with contents, 9 `in`
/// that may alias, 11 `inout` that may alias); the name of its type. For a buffer, the alignment follows as 32 bits.
/// For kind 4, the size of the contents in bytes follows as 32 bits, and then the contents.
///
/// On VP1 the record of the [`Tiles`] follows the parameters. On PTX the maximum number of work items, 32 bits, and the
/// flag [`along_x`](KernelInfo::along_x), 8 bits, follow. On PTX the section of machine code holds the kernel's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelInfo {
    /// The kernel's name and parameters.
    pub signature: Signature,
    /// Bytes of local memory per work item, at most [`MAX_LOCAL_BYTES`]. On VP1, the bytes of the
    /// data store in front of the streams, which hold [`Tiles::image`] and the spilled registers.
    pub local_bytes: u32,
    /// Number of general registers: the highest register number plus one.
    pub registers: u32,
    /// Bytes of static shared memory per group, at most [`MAX_SHARED_BYTES`]. `None` if the kernel
    /// uses no shared memory. Stored in the record on HALU only.
    pub shared_bytes: Option<u32>,
    /// Size in bytes of the part of local memory that the kernel declares, which begins at address
    /// 0. Stored in the record on HALU only.
    pub scratch_bytes: u32,
    /// The tiles in which a kernel is executed. `Some` on VP1 only.
    pub tiles: Option<Tiles>,
    /// Maximum number of work items of a launch. Stored in the record on PTX; unlimited on other targets.
    pub max_items: u32,
    /// `true` if all work items of a launch must lie along the x axis. Stored in the record on PTX;
    /// always `true` on VP1 and `false` on HALU.
    pub along_x: bool,
}

/// The reason why a record cannot be decoded.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The bytes end in the middle of the record. The number is the size of the record in bytes.
    #[error("the record ends after {0} bytes, within a field")]
    Truncated(usize),
    /// Bytes follow the record. The number counts these bytes.
    #[error("{0} bytes follow the record")]
    Trailing(usize),
    /// A string is not UTF-8. The number is the offset of the string in bytes.
    #[error("the string at byte {0} is not UTF-8")]
    Utf8(usize),
    /// No target has this target number and SM version.
    #[error("unknown target {0} with SM version {1}")]
    Target(u16, u16),
    /// A parameter has an undefined kind.
    #[error("parameter `{param}` is of unknown kind {kind}")]
    Kind {
        /// The parameter.
        param: String,
        /// The kind's number.
        kind: u8,
    },
    /// A parameter has an unknown type.
    #[error("parameter `{param}` is of unknown type {ty:?}")]
    Type {
        /// The parameter.
        param: String,
        /// The type's name.
        ty: String,
    },
    /// A parameter without contents follows one that has contents.
    #[error("parameter `{0}` takes an argument, but follows a parameter whose contents are in the object")]
    MissingContents(String),
    /// The local memory exceeds the addressable size.
    #[error("a work item uses {0} bytes of local memory; the maximum is {MAX_LOCAL_BYTES}")]
    LocalBytes(u32),
    /// The shared memory exceeds the maximum of a group.
    #[error("a group uses {0} bytes of shared memory; the maximum is {MAX_SHARED_BYTES}")]
    SharedBytes(u32),
    /// The kernel declares more local memory than a work item has.
    #[error("the kernel declares {declared} bytes of local memory; a work item has {held}")]
    ScratchBytes {
        /// Bytes that the kernel declares.
        declared: u32,
        /// Bytes that a work item has.
        held: u32,
    },
    /// The signature is invalid.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// A tag byte has an undefined value.
    #[error("byte {at} of the record is {found}; expected at most {most}")]
    Tag {
        /// Offset of the byte in the record.
        at: usize,
        /// Value of the byte.
        found: u8,
        /// The greatest valid value.
        most: u8,
    },
    /// The tiles are invalid.
    #[error(transparent)]
    Tiles(#[from] TilesError),
    /// A partial access has a size that is not a power of two, or its end exceeds [`PartialAccess::MAX_ACCESS_BYTES`].
    #[error("invalid partial access of word {word}: {bytes} bytes at offset {offset}")]
    Part {
        /// The address of the instruction word.
        word: u32,
        /// Offset of the partial access in bytes.
        offset: u16,
        /// Size of the partial access in bytes.
        bytes: u16,
    },
}

impl Header {
    /// Encodes the record.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (code, sm) = self.target.code();
        let mut out = Vec::new();
        out.extend(code.to_le_bytes());
        out.extend(sm.to_le_bytes());
        put_text(&mut out, &self.source);
        out
    }

    /// Decodes the target number and the SM version of a header. The SM version is 0 for a target without versions.
    ///
    /// # Errors
    /// The bytes end before the end of the SM version.
    pub fn code_of(bytes: &[u8]) -> Result<(u16, u16), RecordError> {
        let mut fields = Fields::new(bytes);
        Ok((fields.u16()?, fields.u16()?))
    }

    /// Decodes a header whose target is one of `targets`.
    ///
    /// # Errors
    /// The record is malformed, the target is not in `targets`, or bytes follow the record.
    pub fn from_bytes(bytes: &[u8], targets: &[Target]) -> Result<Header, RecordError> {
        let mut fields = Fields::new(bytes);
        let code = (fields.u16()?, fields.u16()?);
        let target = targets.iter().copied().find(|target| target.code() == code);
        let target = target.ok_or(RecordError::Target(code.0, code.1))?;
        let source = fields.text()?.to_owned();
        fields.finish()?;
        Ok(Header { target, source })
    }
}

impl KernelInfo {
    /// Encodes the record for a target.
    pub fn to_bytes(&self, target: Target) -> Vec<u8> {
        // 256 bytes are enough for a kernel with a few parameters.
        let mut out = Vec::with_capacity(256);
        put_u32(&mut out, self.local_bytes);
        put_u32(&mut out, self.registers);
        if target.form() == KernelFormat::Threads {
            out.push(self.shared_bytes.is_some().into());
            put_u32(&mut out, self.shared_bytes.unwrap_or(0));
            put_u32(&mut out, self.scratch_bytes);
        }
        put_text(&mut out, self.signature.name());
        put_u32(&mut out, self.signature.params().len() as u32);
        let given = self.signature.given().len();
        for (number, param) in self.signature.params().iter().enumerate() {
            let contents = number.checked_sub(given).and_then(|number| self.signature.contents().get(number));
            put_text(&mut out, &param.name);
            match param.kind {
                ParamKind::Scalar(ty) => {
                    out.push(0);
                    put_text(&mut out, ty.name());
                }
                ParamKind::Buffer { direction, elem, align, may_alias } => {
                    out.push(match direction {
                        Direction::In if contents.is_some() => WITH_CONTENTS,
                        Direction::In if may_alias => IN_ALIAS,
                        Direction::In => IN,
                        Direction::Out => OUT,
                        Direction::InOut if may_alias => INOUT_ALIAS,
                        Direction::InOut => INOUT,
                    });
                    put_text(&mut out, elem.name());
                    put_u32(&mut out, align);
                }
            }
            if let Some(contents) = contents {
                put_u32(&mut out, contents.len() as u32);
                out.extend_from_slice(contents);
            }
        }
        if let Some(tiles) = &self.tiles {
            tiles::put(&mut out, tiles);
        }
        if target.form() == KernelFormat::Text {
            put_u32(&mut out, self.max_items);
            out.push(self.along_x.into());
        }
        out
    }

    /// Decodes the record of a kernel for a target.
    ///
    /// # Errors
    /// The record is malformed or bytes follow it; the signature or the tiles are invalid.
    pub fn from_bytes(target: Target, bytes: &[u8]) -> Result<KernelInfo, RecordError> {
        let mut fields = Fields::new(bytes);
        let local_bytes = fields.u32()?;
        if local_bytes > MAX_LOCAL_BYTES {
            return Err(RecordError::LocalBytes(local_bytes));
        }
        let registers = fields.u32()?;
        let (shared_bytes, scratch_bytes) = match target.form() {
            KernelFormat::Threads => {
                let has_some = fields.tag(1)? != 0;
                let (shared, scratch) = (fields.u32()?, fields.u32()?);
                (has_some.then_some(shared), scratch)
            }
            _ => (None, 0),
        };
        if let Some(shared) = shared_bytes.filter(|&shared| shared > MAX_SHARED_BYTES) {
            return Err(RecordError::SharedBytes(shared));
        }
        if scratch_bytes > local_bytes {
            return Err(RecordError::ScratchBytes { declared: scratch_bytes, held: local_bytes });
        }
        let name = fields.text()?.to_owned();
        let count = fields.u32()?;
        // The lists are not preallocated, because the count of a malformed record may be far
        // greater than the number of bytes that follow.
        let (mut params, mut all_contents) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let (param, contents) = fields.param()?;
            if contents.is_none() && !all_contents.is_empty() {
                return Err(RecordError::MissingContents(param.name));
            }
            params.push(param);
            all_contents.extend(contents);
        }
        let tiles = if target.form() == KernelFormat::Tiles { Some(fields.tiles()?) } else { None };
        let (max_items, along_x) = match target.form() {
            KernelFormat::Text => (fields.u32()?, fields.u8()? != 0),
            form => (u32::MAX, form == KernelFormat::Tiles),
        };
        fields.finish()?;
        let signature = Signature::new(name, params)?.with_contents(all_contents)?;
        if let Some(tiles) = &tiles {
            tiles.check(&signature, local_bytes)?;
        }
        Ok(KernelInfo { signature, local_bytes, registers, shared_bytes, scratch_bytes, tiles, max_items, along_x })
    }
}

// Kinds of buffer parameters in a record. A buffer that may alias other arguments has a separate kind.
const IN: u8 = 1;
const OUT: u8 = 2;
const INOUT: u8 = 3;
const WITH_CONTENTS: u8 = 4;
const IN_ALIAS: u8 = 9;
const INOUT_ALIAS: u8 = 11;

fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend(value.to_le_bytes());
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_u32(out, text.len() as u32);
    out.extend(text.as_bytes());
}

/// A cursor that decodes the fields of a record in order.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    fn new(bytes: &'a [u8]) -> Fields<'a> {
        Fields { bytes, at: 0 }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], RecordError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.get(..count).ok_or(RecordError::Truncated(self.bytes.len()))?;
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], RecordError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// Decodes a byte and checks that it is at most `most`.
    fn tag(&mut self, most: u8) -> Result<u8, RecordError> {
        let at = self.at;
        match self.array()? {
            [found] if found > most => Err(RecordError::Tag { at, found, most }),
            [found] => Ok(found),
        }
    }

    fn u16(&mut self) -> Result<u16, RecordError> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, RecordError> {
        self.array().map(u32::from_le_bytes)
    }

    fn u8(&mut self) -> Result<u8, RecordError> {
        self.array().map(|[byte]| byte)
    }

    fn text(&mut self) -> Result<&'a str, RecordError> {
        let length = self.u32()? as usize;
        let start = self.at;
        str::from_utf8(self.take(length)?).map_err(|_| RecordError::Utf8(start))
    }

    /// Decodes a parameter and its contents. Returns `None` in place of the contents if the parameter has none.
    fn param(&mut self) -> Result<(Param, Option<Contents>), RecordError> {
        let name = self.text()?.to_owned();
        let [kind] = self.array()?;
        let ty = self.text()?;
        let Some(elem) = Type::from_name(ty) else {
            let ty = ty.to_owned();
            return Err(RecordError::Type { param: name, ty });
        };
        let may_alias = matches!(kind, IN_ALIAS | INOUT_ALIAS);
        let direction = match kind {
            0 => {
                let kind = ParamKind::Scalar(elem);
                return Ok((Param { name, kind }, None));
            }
            IN | IN_ALIAS | WITH_CONTENTS => Direction::In,
            OUT => Direction::Out,
            INOUT | INOUT_ALIAS => Direction::InOut,
            _ => return Err(RecordError::Kind { param: name, kind }),
        };
        let has_contents = kind == WITH_CONTENTS;
        let kind = ParamKind::Buffer { direction, elem, align: self.u32()?, may_alias };
        let mut contents = None;
        if has_contents {
            let length = self.u32()? as usize;
            contents = Some(self.take(length)?.into());
        }
        Ok((Param { name, kind }, contents))
    }

    fn finish(self) -> Result<(), RecordError> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            rest => Err(RecordError::Trailing(rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::{halu, ptx};
    use halfbyte_abi::Sm;

    fn info() -> KernelInfo {
        let elem = |name| Type::from_name(name).unwrap();
        let param = |name: &str, kind| Param { name: name.into(), kind };
        let buffer = |direction, ty, align| ParamKind::Buffer { direction, elem: elem(ty), align, may_alias: false };
        let alias = |direction| ParamKind::Buffer { direction, elem: elem("i8"), align: 2, may_alias: true };
        let params = vec![
            param("a", ParamKind::Scalar(elem("f16x2"))),
            param("x", buffer(Direction::In, "i8x16", 16)),
            param("größe", buffer(Direction::Out, "i8", 1)),
            param("z", buffer(Direction::InOut, "bf16x2", 4)),
            param("v", alias(Direction::In)),
            param("w", alias(Direction::InOut)),
            param("t", buffer(Direction::In, "i16", 8)),
            param("u", buffer(Direction::In, "i8", 1)),
        ];
        let contents = vec![[1, 2, 3, 4].into(), [5].into()];
        KernelInfo {
            signature: Signature::new("axpy", params).unwrap().with_contents(contents).unwrap(),
            local_bytes: 64,
            registers: 7,
            shared_bytes: Some(20),
            scratch_bytes: 16,
            tiles: None,
            max_items: u32::MAX,
            along_x: false,
        }
    }

    #[test]
    fn decodes_encoded_records() {
        let info = info();
        assert_eq!(KernelInfo::from_bytes(halu::TARGET, &info.to_bytes(halu::TARGET)), Ok(info.clone()));
        let none = KernelInfo { shared_bytes: None, scratch_bytes: 0, ..info };
        assert_eq!(KernelInfo::from_bytes(halu::TARGET, &none.to_bytes(halu::TARGET)), Ok(none.clone()));
        let (ptx, info) = (ptx::target(Sm::SM_90), KernelInfo { max_items: 5, ..none });
        assert_eq!(KernelInfo::from_bytes(ptx, &info.to_bytes(ptx)), Ok(info));
        let header = Header { target: ptx::target(Sm::SM_90), source: "kernels/axpy.hb".into() };
        assert_eq!(Header::from_bytes(&header.to_bytes(), &[header.target]), Ok(header));
        let loc = Loc { line: 3, column: u32::MAX };
        assert_eq!(Loc::from_bytes(loc.to_bytes()), loc);
        assert_eq!(loc.to_bytes(), [3, 0, 0, 0, 255, 255, 255, 255]);
    }

    #[test]
    fn every_truncation_and_any_trailing_byte_is_refused() {
        let mut bytes = info().to_bytes(halu::TARGET);
        for length in 0..bytes.len() {
            let error = KernelInfo::from_bytes(halu::TARGET, &bytes[..length]).unwrap_err();
            assert_eq!(error, RecordError::Truncated(length));
        }
        bytes.push(0);
        let error = KernelInfo::from_bytes(halu::TARGET, &bytes).unwrap_err();
        assert_eq!(error, RecordError::Trailing(1));
    }

    #[test]
    fn each_bad_field_has_its_error() {
        let bytes = info().to_bytes(halu::TARGET);
        let with = |at: usize, value: &[u8]| {
            let mut bytes = bytes.clone();
            bytes[at..at + value.len()].copy_from_slice(value);
            KernelInfo::from_bytes(halu::TARGET, &bytes).unwrap_err().to_string()
        };
        assert_eq!(with(0, &[1, 0, 0, 1]), "a work item uses 16777217 bytes of local memory; the maximum is 16777216");
        // Byte 8 is the flag that tells whether the kernel uses shared memory.
        assert_eq!(with(8, &[2]), "byte 8 of the record is 2; expected at most 1");
        assert_eq!(with(9, &[1, 192]), "a group uses 49153 bytes of shared memory; the maximum is 49152");
        assert_eq!(with(13, &[65]), "the kernel declares 65 bytes of local memory; a work item has 64");
        // Bytes 21..25 are the kernel's name, byte 34 is the kind of parameter `a`, and bytes 39..44 are its type.
        assert_eq!(with(21, &[0xff]), "the string at byte 21 is not UTF-8");
        assert_eq!(
            with(21, &[0]),
            "invalid kernel name \"\\0xpy\": a name must not be empty or contain control characters"
        );
        for kind in [5, 8, 10, 12, 255] {
            assert_eq!(with(34, &[kind]), format!("parameter `a` is of unknown kind {kind}"));
        }
        assert_eq!(with(39, b"f99x2"), "parameter `a` is of unknown type \"f99x2\"");
        // The last 16 bytes hold the kind, type, alignment, contents size and contents byte of `u`.
        let end = bytes.len();
        assert_eq!(with(end - 16, &[5]), "parameter `u` is of unknown kind 5");
        assert_eq!(with(end - 5, &[0]), "1 bytes follow the record");
        assert_eq!(with(end - 5, &[2]), format!("the record ends after {end} bytes, within a field"));
        assert_eq!(with(end - 5, &[255; 4]), format!("the record ends after {end} bytes, within a field"));
        let mut empty = bytes[..end - 1].to_vec();
        empty[end - 5] = 0;
        let error = KernelInfo::from_bytes(halu::TARGET, &empty).unwrap_err().to_string();
        assert_eq!(error, "`u` of `axpy` holds 0 bytes; expected a positive multiple of 1");
        let error = Header::from_bytes(&[9, 0, 1, 0, 0, 0, 0, 0], &[halu::TARGET]).unwrap_err();
        assert_eq!(error.to_string(), "unknown target 9 with SM version 1");
    }
}
