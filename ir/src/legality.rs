//! What a target can do, as a value: the passes are handed one and never name a target.

use crate::op::Op;
use crate::types::Type;

/// Which ops a target has, and why it lacks the others.
#[derive(Clone, Debug)]
pub struct Legality {
    target: &'static str,
    native: Vec<u32>,
    reasons: fn(Op, Type) -> Option<&'static str>,
}

impl Legality {
    /// Of a target that has exactly these ops on these controlling types; `reasons` says in a few words why it can't do
    /// another, where more can be said than that.
    pub fn new(
        target: &'static str,
        native: impl IntoIterator<Item = (Op, Type)>,
        reasons: fn(Op, Type) -> Option<&'static str>,
    ) -> Legality {
        let mut sets = vec![0; Op::ALL.len()];
        for (op, ty) in native {
            sets[op as usize] |= 1 << ty.index();
        }
        Legality { target, native: sets, reasons }
    }

    /// The target's name, for messages only.
    pub const fn target(&self) -> &'static str {
        self.target
    }

    /// Whether the target has the op on that controlling type.
    pub fn is_native(&self, op: Op, ty: Type) -> bool {
        self.native.get(op as usize).is_some_and(|set| set >> ty.index() & 1 == 1)
    }

    /// Why the target can't do it.
    pub fn reason(&self, op: Op, ty: Type) -> Option<&'static str> {
        (self.reasons)(op, ty)
    }
}
