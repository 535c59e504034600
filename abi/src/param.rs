//! Kinds of kernel parameters.

use std::fmt;

use crate::launch::POINTER_BYTES;
use crate::types::Type;

/// Access direction of a buffer parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// The kernel only reads the buffer. A store traps.
    In,
    /// The kernel writes the buffer. A launch fills the buffer with zeros before execution.
    Out,
    /// The kernel reads and writes the buffer.
    InOut,
}

impl Direction {
    /// Returns the keyword of the direction in the IR text.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::In => "in",
            Direction::Out => "out",
            Direction::InOut => "inout",
        }
    }
}

/// Kind of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParamKind {
    /// A scalar, which is uniform over all work items.
    Scalar(Type),
    /// A buffer of elements, passed by address.
    Buffer {
        /// Direction in which the kernel accesses the buffer.
        direction: Direction,
        /// Type of the elements.
        elem: Type,
        /// Alignment of the buffer's start in bytes, a power of two.
        align: u32,
        /// `true` if the argument may overlap other buffers although the kernel writes it. Buffers
        /// that are only read may always overlap each other.
        may_alias: bool,
    },
}

impl ParamKind {
    /// Returns the type of a scalar or of a buffer's elements.
    pub const fn ty(self) -> Type {
        match self {
            ParamKind::Scalar(ty) | ParamKind::Buffer { elem: ty, .. } => ty,
        }
    }

    /// Returns `true` for a buffer that the kernel writes.
    pub const fn is_written(self) -> bool {
        matches!(self, ParamKind::Buffer { direction: Direction::Out | Direction::InOut, .. })
    }

    /// Returns `true` if the argument must not overlap any other buffer. This holds for a written
    /// buffer without `may_alias`.
    pub const fn is_unique(self) -> bool {
        self.is_written() && !matches!(self, ParamKind::Buffer { may_alias: true, .. })
    }

    /// Returns `true` if the arguments of two buffer parameters may overlap, even if the kernel
    /// writes one of the buffers.
    pub const fn may_overlap(self, other: ParamKind) -> bool {
        let are_buffers = matches!((self, other), (ParamKind::Buffer { .. }, ParamKind::Buffer { .. }));
        are_buffers && (self.is_written() || other.is_written()) && !self.is_unique() && !other.is_unique()
    }

    /// Returns the size in bytes of the parameter in the constant bank, which is also its
    /// alignment. The type must be a valid parameter type.
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
            ParamKind::Buffer { direction, elem, may_alias, .. } => {
                let may_alias = if *may_alias { " may_alias" } else { "" };
                write!(f, "{}{may_alias} {elem}", direction.name())
            }
        }
    }
}

/// An argument that is an address in the buffer of another argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Alias {
    /// Number of the parameter that receives the address.
    pub param: usize,
    /// Number of the parameter whose buffer contains the address.
    pub of: usize,
    /// Offset of the address in bytes from the start of the buffer.
    pub offset: u64,
}
