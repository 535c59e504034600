//! Legality of ops on a target. A pass receives a [`Legality`] and never depends on the name of a target.

use std::borrow::Cow;
use std::fmt;

use halfbyte_abi::Type;

use crate::kernel::{Inst, Kernel};
use crate::op::Op;
use crate::span::Span;

/// Vectorisation across work items: neighbouring work items share a vector register, with one or more lanes each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lanes {
    /// Vector type.
    pub vector: Type,
    /// Maximum number of streams of a kernel.
    pub max_streams: usize,
    /// Number of scalar registers of the target, which is also the number of its vector registers.
    pub registers: usize,
}

/// Ops that return a position or size and that a target supports, such as `item_id`. An op applies
/// to one axis of the launch or to all axes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Axes {
    /// The ops for each axis and those for all axes, in launches of any shape.
    #[default]
    All,
    /// The ops for each axis. The ops for all axes are supported only if all items are along x.
    Each {
        /// `true` if launches may have items along several axes although the kernel uses no axis except x.
        several: bool,
    },
    /// The ops for axis x. All items of a launch are along x.
    X,
}

/// Reason why a target does not support something, with an optional alternative. `Display` shows only the reason.
///
/// ```
/// use halfbyte_ir::Reason;
/// const NO_FLOATS: Reason = Reason::with_help("VP1 has no floating-point arithmetic", "write it in integers");
/// assert_eq!(NO_FLOATS.to_string(), "VP1 has no floating-point arithmetic");
/// assert_eq!(NO_FLOATS.help.as_deref(), Some("write it in integers"));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Reason {
    /// Description of the feature that the target lacks.
    pub why: Cow<'static, str>,
    /// Code to write instead, or a target that has the feature.
    pub help: Option<Cow<'static, str>>,
}

impl Reason {
    /// Creates a reason without a suggestion.
    pub const fn new(why: &'static str) -> Reason {
        Reason { why: Cow::Borrowed(why), help: None }
    }

    /// Creates a reason with a suggestion what to write instead.
    pub const fn with_help(why: &'static str, help: &'static str) -> Reason {
        Reason { why: Cow::Borrowed(why), help: Some(Cow::Borrowed(help)) }
    }

    /// Adds a suggestion that depends on the kernel.
    #[must_use]
    pub fn help(self, help: impl Into<Cow<'static, str>>) -> Reason {
        Reason { help: Some(help.into()), ..self }
    }
}

impl From<&'static str> for Reason {
    fn from(why: &'static str) -> Reason {
        Reason::new(why)
    }
}

impl From<String> for Reason {
    fn from(why: String) -> Reason {
        Reason { why: Cow::Owned(why), help: None }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

/// An error about an op or kernel that a target does not support.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Refusal {
    /// Op and its controlling type; `None` if the error is about a parameter or the whole kernel.
    pub op: Option<(Op, Type)>,
    /// Source span of the op or parameter.
    pub span: Span,
    /// Name of the target that does not support the op or kernel.
    pub target: &'static str,
    /// Further reason, unless the target simply lacks the op.
    pub reason: Option<Reason>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.op {
            Some((op, ty)) if op.row().types.is_some() => write!(f, "{} cannot do `{}.{ty}`", self.target, op.name())?,
            Some((op, _)) => write!(f, "{} cannot do `{}`", self.target, op.name())?,
            None => write!(f, "{} cannot do this", self.target)?,
        }
        match &self.reason {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refusal {}

/// Predicate on instructions that narrow wide lanes to bytes. It returns `true` if the target
/// computes the narrowing together with the wide operands as one operation.
pub type Narrowings = Box<dyn Fn(&Kernel, Inst) -> bool>;

/// Set of ops that a target supports, with the reasons why it lacks other ops, and properties that guide the passes.
#[derive(Clone, Debug)]
pub struct Legality {
    target: &'static str,
    native: Vec<u32>,
    reasons: fn(Op, Type) -> Option<Reason>,
    lanes: Option<Lanes>,
    free_part_bytes: Option<u32>,
    constant_counts: bool,
    access_alignment: u32,
    word_sums: bool,
    half_word_pairs: bool,
    wide_indices: bool,
    narrowings: Option<fn(&Kernel) -> Narrowings>,
    axes: Axes,
    block: Option<[u32; 3]>,
    unrolled: u32,
}

impl Legality {
    /// Creates the legality of a target that supports exactly the given ops on the given
    /// controlling types. `reasons` returns the reason why an op is missing, if more can be said.
    pub fn new(
        target: &'static str,
        native: impl IntoIterator<Item = (Op, Type)>,
        reasons: fn(Op, Type) -> Option<Reason>,
    ) -> Legality {
        let mut sets = vec![0; Op::ALL.len()];
        for (op, ty) in native {
            sets[op as usize] |= 1 << ty.index();
        }
        Legality {
            target,
            native: sets,
            reasons,
            lanes: None,
            free_part_bytes: None,
            constant_counts: false,
            access_alignment: 1,
            word_sums: false,
            half_word_pairs: false,
            wide_indices: false,
            narrowings: None,
            axes: Axes::All,
            block: None,
            unrolled: 64,
        }
    }

    /// Declares that the target vectorises across work items.
    #[must_use]
    pub const fn with_lanes(mut self, lanes: Lanes) -> Legality {
        self.lanes = Some(lanes);
        self
    }

    /// Returns the vectorisation across work items; `None` if each work item has its own registers.
    pub const fn lanes(&self) -> Option<Lanes> {
        self.lanes
    }

    /// Declares that a vector of more than `bytes` bytes consists of registers of `bytes` bytes.
    #[must_use]
    pub const fn with_free_parts(mut self, bytes: u32) -> Legality {
        self.free_part_bytes = Some(bytes);
        self
    }

    /// Returns the size in bytes of register parts for which `split` and `concat` are free. Returns
    /// `None` if neither op is free.
    pub const fn free_part_bytes(&self) -> Option<u32> {
        self.free_part_bytes
    }

    /// Declares that a shift of packed lanes needs a constant shift count that is uniform over the lanes.
    #[must_use]
    pub const fn with_constant_counts(mut self) -> Legality {
        self.constant_counts = true;
        self
    }

    /// Returns `true` if a shift of packed lanes needs a constant shift count that is uniform over the lanes.
    pub const fn has_constant_counts(&self) -> bool {
        self.constant_counts
    }

    /// Sets the maximum alignment in bytes that a memory access requires. An access must be aligned
    /// to its size, or to `bytes` if its size is larger.
    #[must_use]
    pub const fn with_access_alignment(mut self, bytes: u32) -> Legality {
        self.access_alignment = bytes;
        self
    }

    /// Returns the alignment in bytes that a memory access of `bytes` bytes requires.
    pub const fn access_alignment(&self, bytes: u32) -> u32 {
        if bytes < self.access_alignment { bytes } else { self.access_alignment }
    }

    /// Declares that the target adds or subtracts three 32-bit words in one instruction, and has no
    /// half-word subtraction.
    #[must_use]
    pub const fn with_word_sums(mut self) -> Legality {
        self.word_sums = true;
        self
    }

    /// Returns `true` if sums of 32-bit words are cheaper than differences of half-words.
    pub const fn has_word_sums(&self) -> bool {
        self.word_sums
    }

    /// Declares that an op on a pair of half-words costs no more than an op on one half-word. Wide
    /// vectors of half-words are then processed in pairs.
    #[must_use]
    pub const fn with_half_word_pairs(mut self) -> Legality {
        self.half_word_pairs = true;
        self
    }

    /// Returns `true` if an op on a pair of half-words costs no more than an op on one half-word.
    pub const fn has_half_word_pairs(&self) -> bool {
        self.half_word_pairs
    }

    /// Declares that scaling an index in 64 bits costs no more than in 32 bits.
    #[must_use]
    pub const fn with_wide_indices(mut self) -> Legality {
        self.wide_indices = true;
        self
    }

    /// Returns `true` if scaling an index in 64 bits costs no more than in 32 bits.
    pub const fn has_wide_indices(&self) -> bool {
        self.wide_indices
    }

    /// Declares that the target has byte vectors, and has wide lanes only as intermediate values of
    /// narrowing instructions. `of` returns the predicate that is `true` for each narrowing
    /// instruction that the target computes as one operation. The passes rewrite all other
    /// narrowing instructions, and wide lanes that are block parameters, as byte vectors.
    #[must_use]
    pub const fn with_narrowings(mut self, of: fn(&Kernel) -> Narrowings) -> Legality {
        self.narrowings = Some(of);
        self
    }

    /// Returns the function set by [`Legality::with_narrowings`], if any.
    pub const fn narrowings(&self) -> Option<fn(&Kernel) -> Narrowings> {
        self.narrowings
    }

    /// Sets the maximum size in instructions of a fully unrolled loop.
    #[must_use]
    pub const fn with_unrolled(mut self, instructions: u32) -> Legality {
        self.unrolled = instructions;
        self
    }

    /// Returns the maximum size in instructions of a fully unrolled loop.
    pub const fn unrolled(&self) -> u32 {
        self.unrolled
    }

    /// Sets the ops for positions and sizes that the target supports, such as `item_id`.
    #[must_use]
    pub const fn with_axes(mut self, axes: Axes) -> Legality {
        self.axes = axes;
        self
    }

    /// Declares that launches may have items along several axes although the kernel uses no axis except x.
    #[must_use]
    pub const fn with_several_axes(mut self) -> Legality {
        if let Axes::Each { .. } = self.axes {
            self.axes = Axes::Each { several: true };
        }
        self
    }

    /// Fixes the number of items of a group along x, y and z for all launches. Only targets that record the group size
    /// with the kernel may assume it; for other targets, the call has no effect.
    #[must_use]
    pub const fn with_block(mut self, block: [u32; 3]) -> Legality {
        if let Axes::Each { .. } = self.axes {
            self.block = Some(block);
        }
        self
    }

    /// Returns the number of items of a group along x, y and z, if it is the same in all launches.
    pub const fn block(&self) -> Option<[u32; 3]> {
        self.block
    }

    /// Returns the ops for positions and sizes that the target supports, such as `item_id`.
    pub const fn axes(&self) -> Axes {
        self.axes
    }

    /// Returns the target's name, for messages only.
    pub const fn target(&self) -> &'static str {
        self.target
    }

    /// Returns `true` if the target supports the op on the controlling type.
    #[inline]
    pub fn is_native(&self, op: Op, ty: Type) -> bool {
        self.native.get(op as usize).is_some_and(|set| set >> ty.index() & 1 == 1)
    }

    /// Returns the reason why the target does not support the op on the controlling type.
    pub fn reason(&self, op: Op, ty: Type) -> Option<Reason> {
        (self.reasons)(op, ty)
    }
}
