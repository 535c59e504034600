//! What a target can do, as a value: the passes are handed one and never name a target.

use std::borrow::Cow;
use std::fmt;

use halfbyte_abi::Type;

use crate::kernel::{Inst, Kernel};
use crate::op::Op;
use crate::span::Span;

/// How a target has neighbouring work items share a vector, a lane or more each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lanes {
    /// The vector.
    pub vector: Type,
    /// The most streams a kernel may have.
    pub max_streams: usize,
    /// How many registers there are for scalars, and for vectors.
    pub registers: usize,
}

/// Which numbers of items a target has, of those that ops give: along each axis of the launch, and over all axes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Axes {
    /// All, in launches of any shape.
    #[default]
    All,
    /// Those along each axis. Those over all axes it has where all items are along x.
    Each {
        /// Whether launches may have items along several axes though the kernel names none but x.
        several: bool,
    },
    /// Those along x: all items are.
    X,
}

/// Why a target cannot do something, and what to write instead. It displays as why.
///
/// ```
/// use halfbyte_ir::Reason;
/// const NO_FLOATS: Reason = Reason::with_help("it has no floating-point arithmetic", "write it in integers");
/// assert_eq!(NO_FLOATS.to_string(), "it has no floating-point arithmetic");
/// assert_eq!(NO_FLOATS.help.as_deref(), Some("write it in integers"));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Reason {
    /// What the target lacks.
    pub why: Cow<'static, str>,
    /// What to write instead, or which target has it.
    pub help: Option<Cow<'static, str>>,
}

impl Reason {
    /// Without a way out.
    pub const fn new(why: &'static str) -> Reason {
        Reason { why: Cow::Borrowed(why), help: None }
    }

    /// With a way out.
    pub const fn with_help(why: &'static str, help: &'static str) -> Reason {
        Reason { why: Cow::Borrowed(why), help: Some(Cow::Borrowed(help)) }
    }

    /// The same, and what to write instead, which depends on the kernel.
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

/// Something that a target cannot do.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Refusal {
    /// The op and its controlling type; none where it is a parameter, or the kernel as a whole.
    pub op: Option<(Op, Type)>,
    /// Where in the text it stands.
    pub span: Span,
    /// The target's name.
    pub target: &'static str,
    /// What is missing, where more can be said than that the target has no such op.
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

/// Says of an instruction that narrows wide lanes to bytes whether a target computes at once, with all that they are made of, what it gives.
pub type Narrowings = Box<dyn Fn(&Kernel, Inst) -> bool>;

/// Which ops a target has, and why it lacks the others.
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
    /// Of a target that has exactly these ops on these controlling types; `reasons` says in a few words why it can't do
    /// another, where more can be said than that.
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

    /// The same, of a target whose work items share vectors.
    #[must_use]
    pub const fn with_lanes(mut self, lanes: Lanes) -> Legality {
        self.lanes = Some(lanes);
        self
    }

    /// How work items share vectors; none where each has registers of its own.
    pub const fn lanes(&self) -> Option<Lanes> {
        self.lanes
    }

    /// The same, of a target whose wide registers are made of registers of so many bytes.
    #[must_use]
    pub const fn with_free_parts(mut self, bytes: u32) -> Legality {
        self.free_part_bytes = Some(bytes);
        self
    }

    /// How wide the parts of wide values are that cost nothing to take and to put together; none where they cost something.
    pub const fn free_part_bytes(&self) -> Option<u32> {
        self.free_part_bytes
    }

    /// The same, of a target that shifts packed lanes by one constant for all of them only.
    #[must_use]
    pub const fn with_constant_counts(mut self) -> Legality {
        self.constant_counts = true;
        self
    }

    /// Whether packed lanes are shifted by one constant for all of them only.
    pub const fn has_constant_counts(&self) -> bool {
        self.constant_counts
    }

    /// The same, of a target whose accesses have the alignment of their size, or of so many bytes where they are larger.
    #[must_use]
    pub const fn with_access_alignment(mut self, bytes: u32) -> Legality {
        self.access_alignment = bytes;
        self
    }

    /// The alignment that an access of so many bytes must have.
    pub const fn access_alignment(&self, bytes: u32) -> u32 {
        if bytes < self.access_alignment { bytes } else { self.access_alignment }
    }

    /// The same, of a target that adds and subtracts three words at once, and has no difference of half-words.
    #[must_use]
    pub const fn with_word_sums(mut self) -> Legality {
        self.word_sums = true;
        self
    }

    /// Whether sums of words are worth more than differences of their half-words.
    pub const fn has_word_sums(&self) -> bool {
        self.word_sums
    }

    /// The same, of a target whose ops on two half-words take no more than those on one: wide vectors of half-words are worked on by
    /// pairs.
    #[must_use]
    pub const fn with_half_word_pairs(mut self) -> Legality {
        self.half_word_pairs = true;
        self
    }

    /// Whether ops on two half-words take no more than those on one.
    pub const fn has_half_word_pairs(&self) -> bool {
        self.half_word_pairs
    }

    /// The same, of a target that scales an index in 64 bits at least as well as in 32.
    #[must_use]
    pub const fn with_wide_indices(mut self) -> Legality {
        self.wide_indices = true;
        self
    }

    /// Whether indices are scaled in 64 bits at least as well as in 32.
    pub const fn has_wide_indices(&self) -> bool {
        self.wide_indices
    }

    /// The same, of a target whose vectors are of bytes, and which has wide lanes only on the way to those that they are narrowed to: of a
    /// kernel it says which narrowings it computes at once. Of the others, and of wide lanes that blocks pass on, the passes make vectors of bytes.
    #[must_use]
    pub const fn with_narrowings(mut self, of: fn(&Kernel) -> Narrowings) -> Legality {
        self.narrowings = Some(of);
        self
    }

    /// What says which narrowings of wide lanes the target computes at once; none where it has other ways.
    pub const fn narrowings(&self) -> Option<fn(&Kernel) -> Narrowings> {
        self.narrowings
    }

    /// The same, of a target for which a loop of few iterations may become so many instructions.
    #[must_use]
    pub const fn with_unrolled(mut self, instructions: u32) -> Legality {
        self.unrolled = instructions;
        self
    }

    /// How many instructions a loop of few iterations may become.
    pub const fn unrolled(&self) -> u32 {
        self.unrolled
    }

    /// The same, of a target that has only some numbers of items.
    #[must_use]
    pub const fn with_axes(mut self, axes: Axes) -> Legality {
        self.axes = axes;
        self
    }

    /// The same, for launches that may have items along several axes though a kernel names none but x.
    #[must_use]
    pub const fn with_several_axes(mut self) -> Legality {
        if let Axes::Each { .. } = self.axes {
            self.axes = Axes::Each { several: true };
        }
        self
    }

    /// The same, for launches whose groups all have so many items along x, y and z. Only code for a target that says so of a kernel may take it
    /// for granted; others do not.
    #[must_use]
    pub const fn with_block(mut self, block: [u32; 3]) -> Legality {
        if let Axes::Each { .. } = self.axes {
            self.block = Some(block);
        }
        self
    }

    /// The items of a group along x, y and z, where launches have no other groups.
    pub const fn block(&self) -> Option<[u32; 3]> {
        self.block
    }

    /// Which numbers of items it has.
    pub const fn axes(&self) -> Axes {
        self.axes
    }

    /// The target's name, for messages only.
    pub const fn target(&self) -> &'static str {
        self.target
    }

    /// Whether the target has the op on that controlling type.
    #[inline]
    pub fn is_native(&self, op: Op, ty: Type) -> bool {
        self.native.get(op as usize).is_some_and(|set| set >> ty.index() & 1 == 1)
    }

    /// Why the target can't do it.
    pub fn reason(&self, op: Op, ty: Type) -> Option<Reason> {
        (self.reasons)(op, ty)
    }
}
