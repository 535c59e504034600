//! Operations, the units of scheduling. An operation consists of one or more instructions that must
//! share a bundle, and has their combined footprint.

use std::rc::Rc;

use arrayvec::ArrayVec;
use halfbyte_isa::object::Loc;
use halfbyte_isa::row::OperandKind;
use halfbyte_isa::vp1::domain::Next;
use halfbyte_isa::vp1::footprint::{Footprint, Profile};
use halfbyte_isa::vp1::{Bundle, Inst, Unit};
use halfbyte_isa::word::Field;
use halfbyte_isel::Vp1;
use halfbyte_isel::vcode::Machine;
use halfbyte_isel::vp1::Group;

use crate::error::OpError;

/// Branch target: a block of the function, or code that the scheduler has created.
pub(crate) type Label = u32;

/// Instructions that must share a bundle.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    profiles: Rc<[Profile]>,
    /// Combined footprint of the instructions.
    pub footprint: Footprint,
    /// Stream that the operation loads or stores.
    pub stream: Option<u32>,
    /// Target of the operation's branch.
    pub target: Option<Label>,
    /// `true` for the back branch of the loop over groups of work items, which executes once for each group.
    pub group: bool,
    /// Source location.
    pub loc: Loc,
}

impl Op {
    /// Creates an operation from instructions in bundle order. `zero` is an `$a` register that always holds 0.
    pub(super) fn new(
        insts: &[Inst],
        stream: Option<u32>,
        target: Option<Label>,
        loc: Loc,
        zero: Option<u8>,
    ) -> Result<Op, OpError> {
        let words: ArrayVec<u32, 5> = insts.iter().map(Inst::word).take(5).collect();
        let bundle = Bundle::new(&words)?;
        let profiles = insts.iter().take(4).map(|&inst| Profile::of(inst)).collect::<Result<Rc<[Profile]>, _>>()?;
        let footprint = match profiles.as_ref() {
            // `zero` only affects the footprints of memory accesses.
            [alone] if alone.footprint().access.is_none() => *alone.footprint(),
            _ => Footprint::of(&bundle, zero)?,
        };
        Ok(Op { profiles, footprint, stream, target, group: false, loc })
    }

    /// Returns the operation with other instructions; `None` if the instructions cannot be combined
    /// to one operation.
    pub(super) fn with_insts(&self, insts: &[Inst], zero: Option<u8>) -> Option<Op> {
        let op = Op::new(insts, self.stream, self.target, self.loc, zero).ok()?;
        Some(op.with_group(self.group))
    }

    /// Returns an unconditional branch to `target` with the source location of this operation.
    pub(super) fn jump_to(&self, target: Label) -> Option<Op> {
        Op::new(&Vp1::jump().insts, None, Some(target), self.loc, None).ok()
    }

    /// Returns the operation with its `group` flag set to `group`.
    pub(super) fn with_group(self, group: bool) -> Op {
        Op { group, ..self }
    }

    /// Returns the instructions in bundle order.
    pub(super) fn insts(&self) -> impl Iterator<Item = Inst> {
        self.profiles.iter().map(Profile::inst)
    }

    /// Returns the instruction that executes on a unit, if any.
    pub(super) fn inst(&self, unit: Unit) -> Option<Inst> {
        self.insts().find(|inst| inst.unit() == unit)
    }

    /// Returns `true` for a branch, a call, a return or an exit.
    pub(super) fn is_control(&self) -> bool {
        self.footprint.next != Next::Fall || self.takes_target()
    }

    /// Returns `true` if the operation needs a target block.
    pub(super) fn takes_target(&self) -> bool {
        self.insts().any(|inst| target_field(&inst).is_some())
    }

    /// Returns `true` if control never falls through the operation.
    pub(super) fn is_final(&self) -> bool {
        matches!(self.footprint.next, Next::Jump { taken: None, .. } | Next::Exit { .. } | Next::Return)
    }

    /// Returns `true` if the operation has no effect other than control flow.
    pub(super) fn has_no_effect(&self) -> bool {
        self.footprint.writes.is_empty() && self.footprint.access.is_none()
    }

    /// Returns the branch with the opposite condition, if there is one.
    pub(super) fn with_opposite(&self) -> Option<Op> {
        let [branch] = self.profiles.as_ref() else { return None };
        let mut group = Group::from(branch.inst());
        Vp1::invert(&mut group);
        self.with_insts(&group.insts, None)
    }

    /// Returns `true` if one more bundle executes before control leaves.
    pub(super) fn has_delay_slot(&self) -> bool {
        matches!(self.footprint.next, Next::Jump { .. } | Next::Return)
    }

    /// Returns `true` if two operations share a unit or a port, or if one forwards a value to the other.
    pub(super) fn interacts(&self, other: &Op) -> bool {
        // `Op::new` has rejected instructions whose effects are unknown.
        let interact = |a: &Profile, b: &Profile| a.interacts(b).unwrap_or(true);
        self.profiles.iter().any(|a| other.profiles.iter().any(|b| interact(a, b)))
    }

    /// Returns `true` if the operation writes the data store.
    pub(super) fn stores(&self) -> bool {
        self.footprint.access.is_some_and(|access| access.store)
    }

    /// Returns `true` if the operation accesses the stack frame, which is the case for an access at a known address.
    pub(super) fn is_in_frame(&self) -> bool {
        self.stream.is_none() && self.footprint.access.is_some_and(|access| access.is_known())
    }

    /// Returns `true` if two accesses to the data store must keep their order. Accesses of different streams never
    /// overlap, nor do accesses of a stream and of the stack frame. An access at a known address is to the stack frame.
    pub(super) fn conflicts(&self, other: &Op) -> bool {
        let (Some(a), Some(b)) = (self.footprint.access, other.footprint.access) else { return false };
        match (self.stream, other.stream) {
            (Some(x), Some(y)) => x == y && (a.store || b.store),
            (Some(_), None) if other.is_in_frame() => false,
            (None, Some(_)) if self.is_in_frame() => false,
            _ => a.conflicts(b),
        }
    }
}

/// Returns the field that holds the distance of a branch. The distance is signed and counts lines
/// of four instruction words, from the line of the branch.
pub(crate) fn target_field(inst: &Inst) -> Option<Field> {
    inst.row().operands.iter().find_map(|operand| match operand.kind {
        OperandKind::Group { field, relative: true } => Some(field),
        _ => None,
    })
}
