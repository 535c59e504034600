//! What a kernel and its launcher agree on: parameters and where they lie, addresses of buffers, the launch's limits.
//!
//! Constant bank 0 holds the item count at [`ITEM_COUNT_OFFSET`] and the parameters from [`PARAMS_OFFSET`] on, in order,
//! each at its natural alignment. A buffer's parameter is its 64-bit address. Everything is little endian.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// Byte offset in constant bank 0 of the number of work items, 32 bits.
pub const ITEM_COUNT_OFFSET: u16 = 0x0;
/// Byte offset in constant bank 0 of the first parameter.
pub const PARAMS_OFFSET: u16 = 0x160;
/// Bytes that the parameters of a kernel may take, padding included.
pub const MAX_PARAM_BYTES: u16 = 4096;
/// Bytes of a buffer's parameter: its address.
pub const POINTER_BYTES: u16 = 8;
/// Bytes of local memory an item may have: what an unsigned 24-bit offset reaches.
pub const MAX_LOCAL_BYTES: u32 = 1 << 24;
/// Backward branches an item may take in one launch unless the launcher says otherwise.
pub const DEFAULT_BUDGET: u64 = 1 << 20;

/// The most work items of a group.
const MAX_GROUP: u32 = 256;

/// The work items of a group in a launch of so many: all groups of a launch have as many, and as many as can be.
pub fn group_size(items: u32) -> u32 {
    (1..=items.min(MAX_GROUP)).rev().find(|size| items.is_multiple_of(*size)).unwrap_or(1)
}

/// Addresses from one buffer's base to the next one's, as a power of two.
const BUFFER_SPACING_LOG2: u32 = 40;

/// The address of the buffer that is parameter `param`.
///
/// Bases are 2^40 apart and start at 2^40, so an address of one buffer plus a 32-bit offset and a signed 24-bit one never lies
/// within another, and the null pointer never lies within any.
pub const fn buffer_base(param: usize) -> u64 {
    (param as u64 + 1) << BUFFER_SPACING_LOG2
}

/// The parameter whose buffer's addresses include this one, and the offset from its base; the inverse of [`buffer_base`].
pub const fn buffer_of(address: u64) -> Option<(usize, u64)> {
    match (address >> BUFFER_SPACING_LOG2).checked_sub(1) {
        Some(param) => Some((param as usize, address & ((1 << BUFFER_SPACING_LOG2) - 1))),
        None => None,
    }
}

/// What one lane of an element holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lane {
    /// A truth value, one bit.
    I1,
    /// An 8-bit integer.
    I8,
    /// A 16-bit integer.
    I16,
    /// A 32-bit integer.
    I32,
    /// A 64-bit integer.
    I64,
    /// IEEE 754 binary16.
    F16,
    /// bfloat16.
    BF16,
    /// IEEE 754 binary32.
    F32,
    /// A 64-bit address.
    Ptr,
}

impl Lane {
    const ALL: [Lane; 9] =
        [Lane::I1, Lane::I8, Lane::I16, Lane::I32, Lane::I64, Lane::F16, Lane::BF16, Lane::F32, Lane::Ptr];

    /// The name in types.
    pub const fn name(self) -> &'static str {
        match self {
            Lane::I1 => "i1",
            Lane::I8 => "i8",
            Lane::I16 => "i16",
            Lane::I32 => "i32",
            Lane::I64 => "i64",
            Lane::F16 => "f16",
            Lane::BF16 => "bf16",
            Lane::F32 => "f32",
            Lane::Ptr => "ptr",
        }
    }

    /// Width in bits.
    pub const fn bits(self) -> u16 {
        match self {
            Lane::I1 => 1,
            Lane::I8 => 8,
            Lane::I16 | Lane::F16 | Lane::BF16 => 16,
            Lane::I32 | Lane::F32 => 32,
            Lane::I64 | Lane::Ptr => 64,
        }
    }
}

/// The type of a scalar parameter or of a buffer's elements: at most 128 bits, named as in the IR's text (`f16x2`).
///
/// In memory lane 0 is at the lowest address. Truth values are packed, lane 0 lowest, into whole bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElemType {
    lane: Lane,
    lanes: u8,
}

impl ElemType {
    /// The type of `lanes` lanes (a power of two up to 16), where it fits 128 bits.
    pub const fn new(lane: Lane, lanes: u8) -> Option<ElemType> {
        if lanes.is_power_of_two() && lanes <= 16 && lane.bits() * lanes as u16 <= 128 {
            Some(ElemType { lane, lanes })
        } else {
            None
        }
    }

    /// The type of that name.
    pub fn from_name(name: &str) -> Option<ElemType> {
        // Lane names hold no `x`.
        let (lane, lanes) = match name.split_once('x') {
            None => (name, 1),
            Some((lane, "2")) => (lane, 2),
            Some((lane, "4")) => (lane, 4),
            Some((lane, "8")) => (lane, 8),
            Some((lane, "16")) => (lane, 16),
            Some(_) => return None,
        };
        let lane = Lane::ALL.into_iter().find(|l| l.name() == lane)?;
        ElemType::new(lane, lanes)
    }

    /// Its name in two parts: the lane's name, and how many there are where there are several.
    pub(crate) const fn name_parts(self) -> [&'static str; 2] {
        let lanes = match self.lanes {
            1 => "",
            2 => "x2",
            4 => "x4",
            8 => "x8",
            _ => "x16",
        };
        [self.lane.name(), lanes]
    }

    /// What a lane holds.
    pub const fn lane(self) -> Lane {
        self.lane
    }

    /// The number of lanes.
    pub const fn lanes(self) -> u8 {
        self.lanes
    }

    /// Width of all lanes in bits.
    pub const fn bits(self) -> u16 {
        self.lane.bits() * self.lanes as u16
    }

    /// Size in bytes, a power of two; also the natural alignment.
    pub const fn bytes(self) -> u16 {
        self.bits().div_ceil(8)
    }
}

impl fmt::Display for ElemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name_parts().into_iter().try_for_each(|part| f.write_str(part))
    }
}

impl fmt::Debug for ElemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Whether a kernel reads or writes a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// Read only; a store traps.
    In,
    /// Written; all zero before the launch.
    Out,
    /// Read and written.
    InOut,
}

impl Direction {
    /// The name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::In => "in",
            Direction::Out => "out",
            Direction::InOut => "inout",
        }
    }
}

/// What a parameter is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParamKind {
    /// A value, the same for all work items.
    Scalar(ElemType),
    /// A buffer of elements, passed by address.
    Buffer {
        /// Read, written or both.
        direction: Direction,
        /// The type of its elements.
        elem: ElemType,
        /// The start is a multiple of this power of two, in bytes.
        align: u32,
    },
}

impl ParamKind {
    /// Bytes in the constant bank; also the alignment there.
    pub const fn bytes(self) -> u16 {
        match self {
            ParamKind::Scalar(ty) => ty.bytes(),
            ParamKind::Buffer { .. } => POINTER_BYTES,
        }
    }
}

impl fmt::Display for ParamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamKind::Scalar(ty) => write!(f, "{ty}"),
            ParamKind::Buffer { direction, elem, .. } => write!(f, "{} {elem}", direction.name()),
        }
    }
}

/// A kernel's parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Its name, without `%`.
    pub name: String,
    /// Scalar or buffer.
    pub kind: ParamKind,
}

/// What a buffer holds in every launch.
pub type Contents = Arc<[u8]>;

/// A kernel's name and parameters, and where each of these lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    name: String,
    params: Vec<Param>,
    offsets: Vec<u16>,
    /// What the last parameters hold.
    contents: Vec<Contents>,
}

/// Why a signature cannot be.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SignatureError {
    /// The kernel's name is empty or cannot stand in an object's symbol table.
    #[error("{0:?} is no name for a kernel: it must not be empty nor hold control characters")]
    Name(String),
    /// The parameters take more than [`MAX_PARAM_BYTES`].
    #[error("the parameters of `{kernel}` take more than {MAX_PARAM_BYTES} bytes from `{param}` on")]
    TooLarge {
        /// The kernel.
        kernel: String,
        /// The first parameter that does not fit.
        param: String,
    },
    /// A buffer's alignment is no power of two.
    #[error("buffer `{param}` of `{kernel}` has alignment {align}, which is not a power of two")]
    Align {
        /// The kernel.
        kernel: String,
        /// The buffer.
        param: String,
        /// Its alignment.
        align: u32,
    },
    /// Contents of what is no `in` buffer.
    #[error("`{param}` of `{kernel}` has contents; only an `in` buffer behind all other parameters can")]
    Contents {
        /// The kernel.
        kernel: String,
        /// The parameter.
        param: String,
    },
    /// Contents that are no whole number of elements, one or more.
    #[error("`{param}` of `{kernel}` holds {found} bytes; expected a positive multiple of {elem}")]
    ContentsSize {
        /// The kernel.
        kernel: String,
        /// The buffer.
        param: String,
        /// Bytes of the contents.
        found: usize,
        /// Bytes of an element.
        elem: u16,
    },
}

impl Signature {
    /// Lays the parameters out.
    ///
    /// # Errors
    /// A name that no object can hold, parameters that do not fit, an alignment that is no power of two.
    pub fn new(name: impl Into<String>, params: Vec<Param>) -> Result<Signature, SignatureError> {
        let name = name.into();
        if name.is_empty() || name.contains(char::is_control) {
            return Err(SignatureError::Name(name));
        }
        let mut offsets = Vec::with_capacity(params.len());
        let mut end = PARAMS_OFFSET;
        for param in &params {
            if let ParamKind::Buffer { align, .. } = param.kind
                && !align.is_power_of_two()
            {
                let (kernel, param) = (name, param.name.clone());
                return Err(SignatureError::Align { kernel, param, align });
            }
            let bytes = param.kind.bytes();
            let offset = end.next_multiple_of(bytes);
            end = offset + bytes;
            if end > PARAMS_OFFSET + MAX_PARAM_BYTES {
                let (kernel, param) = (name, param.name.clone());
                return Err(SignatureError::TooLarge { kernel, param });
            }
            offsets.push(offset);
        }
        Ok(Signature { name, params, offsets, contents: Vec::new() })
    }

    /// Says what the last parameters hold: a launch gives no arguments for these.
    ///
    /// # Errors
    /// Contents of parameters that are not `in` buffers, or of no whole number of elements.
    pub fn with_contents(mut self, contents: Vec<Contents>) -> Result<Signature, SignatureError> {
        let kernel = || self.name.clone();
        let Some(given) = self.params.len().checked_sub(contents.len()) else {
            let param = self.params.first().map_or(String::new(), |param| param.name.clone());
            return Err(SignatureError::Contents { kernel: kernel(), param });
        };
        for (Param { name, kind }, bytes) in self.params.iter().skip(given).zip(&contents) {
            let ParamKind::Buffer { direction: Direction::In, elem, .. } = kind else {
                return Err(SignatureError::Contents { kernel: kernel(), param: name.clone() });
            };
            let (found, elem) = (bytes.len(), elem.bytes());
            if found == 0 || !found.is_multiple_of(elem.max(1).into()) {
                return Err(SignatureError::ContentsSize { kernel: kernel(), param: name.clone(), found, elem });
            }
        }
        self.contents = contents;
        Ok(self)
    }

    /// The kernel's name, without `@`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The parameters in order.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// The parameters that a launch gives arguments for: all but the last ones, which have contents.
    pub fn given(&self) -> &[Param] {
        self.params.get(..self.params.len() - self.contents.len()).unwrap_or(&[])
    }

    /// What the parameters behind those hold.
    pub fn contents(&self) -> &[Contents] {
        &self.contents
    }

    /// The byte offset of each parameter in constant bank 0, in order.
    pub fn offsets(&self) -> &[u16] {
        &self.offsets
    }

    /// Bytes of constant bank 0 up to the end of the last parameter.
    pub fn constant_bytes(&self) -> u16 {
        match (self.params.last(), self.offsets.last()) {
            (Some(param), Some(offset)) => offset + param.kind.bytes(),
            _ => PARAMS_OFFSET,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn scalar(name: &str, ty: &str) -> Param {
        Param { name: name.into(), kind: ParamKind::Scalar(ElemType::from_name(ty).unwrap()) }
    }

    fn buffer(name: &str, align: u32) -> Param {
        Param {
            name: name.into(),
            kind: ParamKind::Buffer { direction: Direction::In, elem: ElemType::from_name("f16x2").unwrap(), align },
        }
    }

    #[test]
    fn parameters_are_naturally_aligned_in_order() {
        let params = vec![
            scalar("a", "i8"),
            scalar("b", "f16"),
            scalar("m", "i1x4"),
            buffer("x", 4),
            scalar("c", "f16x2"),
            scalar("v", "i8x16"),
            scalar("w", "i16"),
        ];
        let signature = Signature::new("k", params).unwrap();
        let expected = [0x160, 0x162, 0x164, 0x168, 0x170, 0x180, 0x190];
        assert_eq!(signature.offsets(), expected);
        assert_eq!(signature.constant_bytes(), 0x192);
        let none = Signature::new("k", vec![]).unwrap();
        assert_eq!(none.constant_bytes(), PARAMS_OFFSET);
    }

    #[test]
    fn parameters_must_fit() {
        let fits = (0..512).map(|_| buffer("x", 4)).collect();
        assert!(Signature::new("k", fits).is_ok());
        let mut over: Vec<_> = (0..512).map(|_| buffer("x", 4)).collect();
        over.push(scalar("last", "i8"));
        let error = Signature::new("k", over).unwrap_err();
        assert_eq!(error.to_string(), "the parameters of `k` take more than 4096 bytes from `last` on");
    }

    #[test]
    fn bad_names_and_alignments_are_refused() {
        for name in ["", "a\0b", "a\nb"] {
            let error = Signature::new(name, vec![]).unwrap_err();
            assert_eq!(error, SignatureError::Name(name.into()));
        }
        for align in [0, 3] {
            let error = Signature::new("k", vec![buffer("x", align)]).unwrap_err();
            assert!(matches!(error, SignatureError::Align { align: a, .. } if a == align));
        }
    }

    #[test]
    fn type_names_come_back() {
        let mut count = 0;
        for lane in Lane::ALL {
            for lanes in 0..=u8::MAX {
                if let Some(ty) = ElemType::new(lane, lanes) {
                    assert_eq!(ElemType::from_name(&ty.to_string()), Some(ty));
                    assert!(ty.bytes().is_power_of_two());
                    count += 1;
                }
            }
        }
        assert_eq!(count, 5 + 5 + 3 * 4 + 2 * 3 + 2 * 2);
        for name in ["", "x", "f16x", "f16x1", "f16x3", "i32x16", "xf16", "f16x2x2"] {
            assert_eq!(ElemType::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn no_short_offset_leads_from_one_buffer_to_another() {
        assert_eq!(buffer_of(0), None);
        assert_eq!(buffer_of((1 << 40) - 1), None);
        for param in [0, 1, 511] {
            let base = buffer_base(param);
            assert_eq!(buffer_of(base), Some((param, 0)));
            let reach = base + u64::from(u32::MAX) + (1 << 23);
            assert_eq!(buffer_of(reach), Some((param, reach - base)));
        }
        assert_ne!(buffer_of(u64::MAX), None);
    }
}
