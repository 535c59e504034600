//! Signature of a kernel: its name, its parameters and their layout.

use std::sync::Arc;

use thiserror::Error;

use crate::launch::{MAX_PARAM_BYTES, PARAMS_OFFSET};
use crate::param::{Direction, ParamKind};
use crate::types::Type;

/// Parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Name of the parameter, without `%`.
    pub name: String,
    /// Kind of the parameter: scalar or buffer.
    pub kind: ParamKind,
}

impl Param {
    /// Returns the type of a scalar or of a buffer's elements.
    pub const fn ty(&self) -> Type {
        self.kind.ty()
    }

    /// Returns `true` if the parameter is a buffer that holds results after a launch.
    pub const fn is_result(&self) -> bool {
        self.kind.is_written()
    }
}

/// Bytes of a buffer whose contents are constant, and so the same in every launch.
pub type Contents = Arc<[u8]>;

/// Name and parameters of a kernel, and the offset of each parameter in the constant bank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    name: String,
    params: Vec<Param>,
    offsets: Vec<u16>,
    /// Constant contents of the last parameters, in their order.
    contents: Vec<Contents>,
}

/// Reason why the signature of a kernel is invalid.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The kernel's name is empty or contains control characters, so an object's symbol table cannot hold it.
    #[error("invalid kernel name {0:?}: a name must not be empty or contain control characters")]
    Name(String),
    /// The parameters take more than [`MAX_PARAM_BYTES`] bytes.
    #[error(
        "the parameters of `{kernel}` take more than {MAX_PARAM_BYTES} bytes; `{param}` is the first that does not fit"
    )]
    TooLarge {
        /// Name of the kernel.
        kernel: String,
        /// Name of the first parameter that does not fit.
        param: String,
    },
    /// The type of a parameter has more than 128 bits.
    #[error("parameter `{param}` of `{kernel}` has a type of more than 128 bits")]
    Wide {
        /// Name of the kernel.
        kernel: String,
        /// Name of the parameter.
        param: String,
    },
    /// The alignment of a buffer is not a power of two.
    #[error("buffer `{param}` of `{kernel}` has alignment {align}, which is not a power of two")]
    Align {
        /// Name of the kernel.
        kernel: String,
        /// Name of the buffer parameter.
        param: String,
        /// The invalid alignment in bytes.
        align: u32,
    },
    /// A buffer has `may_alias` but cannot overlap other buffers: it is an `out` buffer, which
    /// starts as zeros, or a buffer with constant contents.
    #[error(
        "`may_alias` is not allowed on buffer `{param}` of `{kernel}`: the buffer must be `in` or `inout`, and must not have constant contents"
    )]
    Alias {
        /// Name of the kernel.
        kernel: String,
        /// Name of the buffer parameter.
        param: String,
    },
    /// A parameter has constant contents, but is not an `in` buffer.
    #[error(
        "`{param}` of `{kernel}` has constant contents; only an `in` buffer after all other parameters can have them"
    )]
    Contents {
        /// Name of the kernel.
        kernel: String,
        /// Name of the parameter.
        param: String,
    },
    /// The size of constant contents is not a positive multiple of the element size.
    #[error("`{param}` of `{kernel}` holds {found} bytes; expected a positive multiple of {elem}")]
    ContentsSize {
        /// Name of the kernel.
        kernel: String,
        /// Name of the buffer parameter.
        param: String,
        /// Size of the contents in bytes.
        found: usize,
        /// Size of an element in bytes.
        elem: usize,
    },
}

impl Signature {
    /// Creates a signature and assigns an offset in the constant bank to each parameter.
    ///
    /// # Errors
    /// An invalid kernel name, too large parameters, a type of more than 128 bits, an alignment
    /// that is not a power of two, or an `out` buffer with `may_alias`.
    pub fn new(name: impl Into<String>, params: Vec<Param>) -> Result<Signature, SignatureError> {
        let name = name.into();
        if name.is_empty() || name.contains(char::is_control) {
            return Err(SignatureError::Name(name));
        }
        let mut offsets = Vec::with_capacity(params.len());
        let mut end = PARAMS_OFFSET;
        for param in &params {
            if param.kind.ty().bits() > 128 {
                return Err(SignatureError::Wide { kernel: name, param: param.name.clone() });
            }
            if let ParamKind::Buffer { align, .. } = param.kind
                && !align.is_power_of_two()
            {
                let (kernel, param) = (name, param.name.clone());
                return Err(SignatureError::Align { kernel, param, align });
            }
            if let ParamKind::Buffer { direction: Direction::Out, may_alias: true, .. } = param.kind {
                return Err(SignatureError::Alias { kernel: name, param: param.name.clone() });
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

    /// Sets the constant contents of the last parameters. A launch takes no arguments for these parameters.
    ///
    /// # Errors
    /// A parameter with contents is not an `in` buffer or has `may_alias`, or the size of the contents is not a
    /// positive multiple of the element size.
    pub fn with_contents(mut self, contents: Vec<Contents>) -> Result<Signature, SignatureError> {
        let kernel = || self.name.clone();
        let Some(given) = self.params.len().checked_sub(contents.len()) else {
            let param = self.params.first().map_or(String::new(), |param| param.name.clone());
            return Err(SignatureError::Contents { kernel: kernel(), param });
        };
        for (Param { name, kind }, bytes) in self.params.iter().skip(given).zip(&contents) {
            let ParamKind::Buffer { direction: Direction::In, elem, may_alias, .. } = kind else {
                return Err(SignatureError::Contents { kernel: kernel(), param: name.clone() });
            };
            if *may_alias {
                return Err(SignatureError::Alias { kernel: kernel(), param: name.clone() });
            }
            let (found, elem) = (bytes.len(), elem.bytes() as usize);
            if found == 0 || !found.is_multiple_of(elem.max(1)) {
                return Err(SignatureError::ContentsSize { kernel: kernel(), param: name.clone(), found, elem });
            }
        }
        self.contents = contents;
        Ok(self)
    }

    /// Returns the kernel's name, without `@`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the parameters in the order of their declaration.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Returns the parameters that take an argument at launch. The last parameters are excluded if
    /// their contents are constant.
    pub fn given(&self) -> &[Param] {
        self.params.get(..self.params.len() - self.contents.len()).unwrap_or(&[])
    }

    /// Returns the constant contents of the parameters that take no argument at launch.
    pub fn contents(&self) -> &[Contents] {
        &self.contents
    }

    /// Returns the byte offset of each parameter in constant bank 0, in order.
    pub fn offsets(&self) -> &[u16] {
        &self.offsets
    }

    /// Returns the size in bytes of the used part of constant bank 0, which ends with the last parameter.
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
        Param { name: name.into(), kind: ParamKind::Scalar(Type::from_name(ty).unwrap()) }
    }

    fn buffer(name: &str, align: u32) -> Param {
        Param {
            name: name.into(),
            kind: ParamKind::Buffer {
                direction: Direction::In,
                elem: Type::from_name("f16x2").unwrap(),
                align,
                may_alias: false,
            },
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
        assert_eq!(
            error.to_string(),
            "the parameters of `k` take more than 4096 bytes; `last` is the first that does not fit"
        );
    }

    #[test]
    fn only_in_and_inout_buffers_may_alias() {
        let elem = Type::from_name("i32").unwrap();
        let param = |direction| Param {
            name: "x".into(),
            kind: ParamKind::Buffer { direction, elem, align: 4, may_alias: true },
        };
        let error = SignatureError::Alias { kernel: "k".into(), param: "x".into() };
        assert_eq!(Signature::new("k", vec![param(Direction::Out)]), Err(error.clone()));
        for direction in [Direction::In, Direction::InOut] {
            assert!(Signature::new("k", vec![param(direction)]).is_ok());
        }
        let signature = Signature::new("k", vec![param(Direction::In)]).unwrap();
        assert_eq!(signature.with_contents(vec![[0; 4].into()]), Err(error));
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
}
