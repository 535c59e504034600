//! The kinds of launch failures, each with the name that reports use.

use halfbyte_abi::cooperative::{SharedLocation, SyncError};
use halfbyte_ir::eval::{self, Fault};
use halfbyte_runtime::{Space, TrapKind, Unwritten};

/// The kind of a launch failure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FailureKind {
    /// The text is neither valid PTX nor valid IR.
    Parse,
    /// The text uses a feature that halfbyte does not support. The text may still be valid.
    Unsupported,
    /// The target cannot execute the kernel.
    Refused,
    /// The arguments or the launch shape do not fit the kernel.
    Arguments,
    /// An access outside of all buffers, or across the end of a buffer.
    OutOfBoundsGlobal,
    /// An access outside of an item's scratch memory, which PTX calls local memory.
    OutOfBoundsLocal,
    /// An access at an address that is not a multiple of the access size.
    Misaligned,
    /// A store to read-only memory.
    ReadOnly,
    /// A race of two items in a buffer.
    RaceGlobal,
    /// A race of two items in shared memory.
    RaceShared,
    /// A read of shared memory that no item of the group has written.
    Uninitialised,
    /// A read of a register that the item has not written, where the value affects a result.
    UninitialisedRegister,
    /// A read of the carry flag before any instruction has set it.
    UninitialisedCarry,
    /// A deadlock: the items wait for each other, or for a write that never happens.
    Deadlock,
    /// An item exceeded its budget of backward branches.
    Budget,
    /// A barrier number that does not exist, or a thread count that is not a multiple of the warp size.
    BarrierArgument,
    /// Items wait at different barriers, or some items never reach a barrier.
    BarrierDivergence,
    /// Some items of a warp never reach a warp-level operation that waits for them.
    WarpDivergence,
    /// An item executes a warp-level operation whose member mask does not contain the item.
    MemberMask,
    /// A shuffle reads the value of an inactive item.
    InactiveSource,
    /// An access outside of the shared memory of a group.
    OutOfBoundsShared,
    /// A trap instruction.
    Trap,
    /// A limit of halfbyte is exceeded.
    Limit,
}

impl FailureKind {
    /// Returns the name of the kind in reports and JSON output.
    pub const fn name(self) -> &'static str {
        match self {
            FailureKind::Parse => "parse",
            FailureKind::Unsupported => "unsupported",
            FailureKind::Refused => "refused",
            FailureKind::Arguments => "arguments",
            FailureKind::OutOfBoundsGlobal => "out-of-bounds-global",
            FailureKind::OutOfBoundsLocal => "out-of-bounds-local",
            FailureKind::Misaligned => "misaligned",
            FailureKind::ReadOnly => "read-only",
            FailureKind::RaceGlobal => "race-global",
            FailureKind::RaceShared => "race-shared",
            FailureKind::Uninitialised => "uninitialised-shared",
            FailureKind::UninitialisedRegister => "uninitialised-register",
            FailureKind::UninitialisedCarry => "uninitialised-carry",
            FailureKind::Deadlock => "deadlock",
            FailureKind::Budget => "budget",
            FailureKind::BarrierArgument => "barrier-argument",
            FailureKind::BarrierDivergence => "barrier-divergence",
            FailureKind::WarpDivergence => "warp-divergence",
            FailureKind::MemberMask => "membermask",
            FailureKind::InactiveSource => "inactive-source",
            FailureKind::OutOfBoundsShared => "out-of-bounds-shared",
            FailureKind::Trap => "trap",
            FailureKind::Limit => "limit",
        }
    }

    /// Returns the kind of a trap of machine code.
    pub fn of_trap(kind: &TrapKind) -> FailureKind {
        match kind {
            TrapKind::OutOfBounds { space: Space::Local, .. } => FailureKind::OutOfBoundsLocal,
            TrapKind::OutOfBounds { space: Space::Shared, .. } => FailureKind::OutOfBoundsShared,
            // A constant bank counts as a buffer.
            TrapKind::OutOfBounds { space: Space::Global | Space::Constant(_), .. } => FailureKind::OutOfBoundsGlobal,
            TrapKind::Misaligned { .. } => FailureKind::Misaligned,
            TrapKind::ReadOnly { .. } => FailureKind::ReadOnly,
            TrapKind::Race { space: Space::Shared, .. } => FailureKind::RaceShared,
            TrapKind::Race { .. } => FailureKind::RaceGlobal,
            TrapKind::Uninitialised { .. } => FailureKind::Uninitialised,
            TrapKind::Unwritten { of: Unwritten::Register(_), .. } => FailureKind::UninitialisedRegister,
            TrapKind::Unwritten { of: Unwritten::Carry, .. } => FailureKind::UninitialisedCarry,
            TrapKind::Deadlock(_) => FailureKind::Deadlock,
            TrapKind::Collective(why, _) => FailureKind::of_collective_error(*why),
            TrapKind::Budget { .. } => FailureKind::Budget,
            _ => FailureKind::Trap,
        }
    }

    /// Returns the kind for an error of a collective operation.
    const fn of_collective_error(why: SyncError) -> FailureKind {
        match why {
            SyncError::BarrierArgument { .. } => FailureKind::BarrierArgument,
            SyncError::BarrierDivergence => FailureKind::BarrierDivergence,
            SyncError::SubgroupDivergence => FailureKind::WarpDivergence,
            SyncError::NotInMask { .. } => FailureKind::MemberMask,
            SyncError::InactiveSource { .. } => FailureKind::InactiveSource,
        }
    }

    /// Returns the kind for a fault that the evaluator reports in the given kernel.
    pub fn of_fault(fault: &Fault, kernel: &halfbyte_ir::Kernel) -> FailureKind {
        let Fault::Trap(eval::Trap { kind, inst, .. }) = fault else {
            return match fault {
                Fault::Race(race) if race.place == SharedLocation::Shared => FailureKind::RaceShared,
                Fault::Race(_) => FailureKind::RaceGlobal,
                Fault::Exceeded(_) => FailureKind::Limit,
                _ => FailureKind::Arguments,
            };
        };
        match kind {
            eval::TrapKind::OutOfBounds { address, .. } => match eval::space_of(kernel, *inst, *address) {
                Some(halfbyte_ir::Space::Shared) => FailureKind::OutOfBoundsShared,
                Some(halfbyte_ir::Space::Scratch) => FailureKind::OutOfBoundsLocal,
                None => FailureKind::OutOfBoundsGlobal,
            },
            eval::TrapKind::Uninitialised { .. } => FailureKind::Uninitialised,
            eval::TrapKind::Collective(why, _) => FailureKind::of_collective_error(*why),
            eval::TrapKind::Deadlock(_) => FailureKind::Deadlock,
            eval::TrapKind::Misaligned { .. } => FailureKind::Misaligned,
            eval::TrapKind::ReadOnly { .. } => FailureKind::ReadOnly,
            eval::TrapKind::Budget { .. } => FailureKind::Budget,
            eval::TrapKind::NoIntrinsic { .. } => FailureKind::Unsupported,
            _ => FailureKind::Trap,
        }
    }
}
