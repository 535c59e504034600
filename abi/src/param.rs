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
        /// Its argument may overlap others though the kernel writes it. A buffer that is only read overlaps what it likes.
        may_alias: bool,
    },
}

impl ParamKind {
    /// The type of a scalar or of a buffer's elements.
    pub const fn ty(self) -> Type {
        match self {
            ParamKind::Scalar(ty) | ParamKind::Buffer { elem: ty, .. } => ty,
        }
    }

    /// Whether it is a buffer that the kernel writes.
    pub const fn is_written(self) -> bool {
        matches!(self, ParamKind::Buffer { direction: Direction::Out | Direction::InOut, .. })
    }

    /// Whether its argument may share no byte with another: a buffer that is written and does not say `may_alias`.
    pub const fn is_unique(self) -> bool {
        self.is_written() && !matches!(self, ParamKind::Buffer { may_alias: true, .. })
    }

    /// Whether bytes of one buffer that a launch gives may be bytes of another, which one of them writes.
    pub const fn may_overlap(self, other: ParamKind) -> bool {
        let are_buffers = matches!((self, other), (ParamKind::Buffer { .. }, ParamKind::Buffer { .. }));
        are_buffers && (self.is_written() || other.is_written()) && !self.is_unique() && !other.is_unique()
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
            ParamKind::Buffer { direction, elem, may_alias, .. } => {
                let may_alias = if *may_alias { " may_alias" } else { "" };
                write!(f, "{}{may_alias} {elem}", direction.name())
            }
        }
    }
}

/// An argument that is an address within the buffer of another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Alias {
    /// The parameter that is given it, by number.
    pub param: usize,
    /// The parameter whose buffer it points into.
    pub of: usize,
    /// Bytes from that buffer's start.
    pub offset: u64,
}
