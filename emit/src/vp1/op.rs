//! What is scheduled: instructions that must be in one bundle, and what they read and write.

use std::rc::Rc;

use arrayvec::ArrayVec;
use halfbyte_isa::object::Loc;
use halfbyte_isa::row::Kind;
use halfbyte_isa::vp1::domain::Next;
use halfbyte_isa::vp1::footprint::{Footprint, Profile};
use halfbyte_isa::vp1::{Bundle, Inst, Unit};
use halfbyte_isa::word::Field;
use halfbyte_isel::Vp1;
use halfbyte_isel::vcode::Machine;
use halfbyte_isel::vp1::Group;

use crate::error::OpError;

/// A place that branches go to: a block of the function, or one that the scheduler made.
pub(crate) type Label = u32;

/// Instructions that must be in one bundle.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    profiles: Rc<[Profile]>,
    /// What they read and write together.
    pub footprint: Footprint,
    /// The stream that they load or store.
    pub stream: Option<u32>,
    /// Where the branch among them goes.
    pub target: Option<Label>,
    /// The branch is the one that is taken once a group of work items.
    pub group: bool,
    /// The text that they come from.
    pub loc: Loc,
}

impl Op {
    /// The operation of instructions in the order of a bundle. `zero` is an `$a` that holds 0 all the time.
    pub fn new(
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
            // An address that is known matters to accesses only.
            [alone] if alone.footprint().access.is_none() => *alone.footprint(),
            _ => Footprint::of(&bundle, zero)?,
        };
        Ok(Op { profiles, footprint, stream, target, group: false, loc })
    }

    /// The same of other instructions, if they are an operation.
    pub fn with_insts(&self, insts: &[Inst], zero: Option<u8>) -> Option<Op> {
        let op = Op::new(insts, self.stream, self.target, self.loc, zero).ok()?;
        Some(op.with_group(self.group))
    }

    /// A branch that is always taken, from the same place in the text.
    pub fn jump_to(&self, target: Label) -> Option<Op> {
        Op::new(&Vp1::jump().insts, None, Some(target), self.loc, None).ok()
    }

    /// The same, and whether its branch is the one that is taken once a group of work items.
    pub fn with_group(self, group: bool) -> Op {
        Op { group, ..self }
    }

    /// Its instructions, in the order of a bundle.
    pub fn insts(&self) -> impl Iterator<Item = Inst> {
        self.profiles.iter().map(Profile::inst)
    }

    /// Its instruction for a unit.
    pub fn inst(&self, unit: Unit) -> Option<Inst> {
        self.insts().find(|inst| inst.unit() == unit)
    }

    /// Whether it is for sending control elsewhere.
    pub fn is_control(&self) -> bool {
        self.footprint.next != Next::Fall || self.takes_target()
    }

    /// Whether it branches to a block.
    pub fn takes_target(&self) -> bool {
        self.insts().any(|inst| target_field(&inst).is_some())
    }

    /// Whether control always leaves by it.
    pub fn is_final(&self) -> bool {
        matches!(self.footprint.next, Next::Jump { taken: None, .. } | Next::Exit { .. } | Next::Return)
    }

    /// Whether it does nothing but steer.
    pub fn has_no_effect(&self) -> bool {
        self.footprint.writes.is_empty() && self.footprint.access.is_none()
    }

    /// The branch under the opposite condition.
    pub fn with_opposite(&self) -> Option<Op> {
        let [branch] = self.profiles.as_ref() else { return None };
        let mut group = Group::from(branch.inst());
        Vp1::invert(&mut group);
        self.with_insts(&group.insts, None)
    }

    /// Whether one more bundle runs before control leaves by it.
    pub fn has_delay_slot(&self) -> bool {
        matches!(self.footprint.next, Next::Jump { .. } | Next::Return)
    }

    /// Whether the two want one unit or one port, or one hears what the other hands over.
    pub fn interacts(&self, other: &Op) -> bool {
        // That their effects are known has been found out when they were made.
        let interact = |a: &Profile, b: &Profile| a.interacts(b).unwrap_or(true);
        self.profiles.iter().any(|a| other.profiles.iter().any(|b| interact(a, b)))
    }

    /// Whether it writes the data store.
    pub fn stores(&self) -> bool {
        self.footprint.access.is_some_and(|access| access.store)
    }

    /// Whether it accesses the frame, at an address that is known.
    pub fn is_in_frame(&self) -> bool {
        self.stream.is_none() && self.footprint.access.is_some_and(|access| access.is_known())
    }

    /// Whether accesses to the data store must keep their order. Streams lie apart from each other and from the frame, whose
    /// accesses are those with known addresses.
    pub fn conflicts(&self, other: &Op) -> bool {
        let (Some(a), Some(b)) = (self.footprint.access, other.footprint.access) else { return false };
        match (self.stream, other.stream) {
            (Some(x), Some(y)) => x == y && (a.store || b.store),
            (Some(_), None) if other.is_in_frame() => false,
            (None, Some(_)) if self.is_in_frame() => false,
            _ => a.conflicts(b),
        }
    }
}

/// The field of a branch's distance: signed, in lines from the branch's own.
pub(crate) fn target_field(inst: &Inst) -> Option<Field> {
    inst.row().operands.iter().find_map(|operand| match operand.kind {
        Kind::Group { field, relative: true } => Some(field),
        _ => None,
    })
}
