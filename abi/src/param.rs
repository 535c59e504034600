//! What a parameter of a kernel is.

use std::fmt;

use crate::launch::POINTER_BYTES;
use crate::types::Type;

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
    Scalar(Type),
    /// A buffer of elements, passed by address.
    Buffer {
        /// Read, written or both.
        direction: Direction,
        /// The type of its elements.
        elem: Type,
        /// The start is a multiple of this power of two, in bytes.
        align: u32,
    },
}

impl ParamKind {
    /// The type of a scalar or of a buffer's elements.
    pub const fn ty(self) -> Type {
        match self {
            ParamKind::Scalar(ty) | ParamKind::Buffer { elem: ty, .. } => ty,
        }
    }

    /// Bytes in the constant bank, of a type that can stand there; also the alignment.
    pub const fn bytes(self) -> u16 {
        match self {
            ParamKind::Scalar(ty) => ty.bytes() as u16,
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
