//! Detection of traps that a cooperative launch is likely to avoid.

use halfbyte_abi::Shape;
use halfbyte_abi::cooperative::WaitState;
use halfbyte_isa::ptx::meaning::strength;
use halfbyte_isa::ptx::module::{Body, Entry, Targets};
use halfbyte_isa::ptx::types::Token;
use halfbyte_isa::ptx::{Inst, Operand, program, special};
use halfbyte_isa::trap::{Fault, Remedy, Space, TrapKind};

/// Size in bytes of the first page of the address space, in which no buffer lies.
const PAGE: u64 = 1 << 12;

/// Returns the remedy for a fault in a launch that is not cooperative, if the fault is likely to have one.
pub(super) fn remedy_for(fault: &Fault, entry: &Entry, shape: &Shape) -> Option<Remedy> {
    let has_blocks = shape.grid.into_iter().any(|blocks| blocks > 1);
    let polls = |address: usize| {
        let (body, place) = body_at(entry, address)?;
        body.insts.get(place).filter(|inst| may_poll(inst, entry))
    };
    match &fault.kind {
        TrapKind::Trap | TrapKind::OutOfBounds { space: Space::Global, address: ..PAGE, .. }
            if uses_workspace(entry) =>
        {
            Some(Remedy::GridWorkspace)
        }
        TrapKind::Deadlock(_) if polls(fault.address).is_some() && has_blocks => Some(Remedy::ResidentBlocks),
        kind => {
            let mut polling = kind.parties().iter().filter(|party| party.standing == WaitState::Memory);
            let is_waiting = polling.any(|party| polls(party.place as usize).is_some())
                || matches!(kind, TrapKind::Budget { .. }) && loop_polls(entry, fault.address);
            (is_waiting && has_blocks).then_some(Remedy::ResidentBlocks)
        }
    }
}

/// Returns `true` if the kernel reads the address of the grid workspace.
fn uses_workspace(entry: &Entry) -> bool {
    let reads = |operand: &Operand| matches!(*operand, Operand::Special(of) if special::holds_workspace(of));
    entry.reached_bodies().flat_map(|body| &body.insts).any(|inst| inst.operands.iter().any(reads))
}

/// Returns the body that contains the instruction at `address`, if any, and the index of the
/// instruction in this body.
fn body_at(entry: &Entry, address: usize) -> Option<(&Body, usize)> {
    let (function, place) = program::locate(entry, address);
    let body = function.map_or(Some(&entry.body), |number| entry.scope_of(number).map(|scope| scope.body))?;
    Some((body, place))
}

/// Returns `true` if an instruction may observe a write of another block: a strong access outside
/// of shared memory, or a call of the device runtime.
fn may_poll(inst: &Inst, entry: &Entry) -> bool {
    let is_provided = |number: u32| entry.functions.get(number as usize).is_some_and(|of| of.code.is_none());
    let is_shared = inst.has(Token::Shared) || inst.has(Token::SharedCta);
    strength(inst).is_some() && !is_shared || inst.operands.iter().filter_map(Operand::function).any(is_provided)
}

/// Returns `true` if a loop may wait for a write of another block. `address` is that of the loop's
/// backward branch.
fn loop_polls(entry: &Entry, address: usize) -> bool {
    let Some((body, place)) = body_at(entry, address) else { return false };
    let Some(inst) = body.insts.get(place) else { return false };
    let labels = inst.operands.iter().flat_map(|operand| match *operand {
        Operand::Label(ref label) => std::slice::from_ref(label),
        Operand::Table(table) => match body.tables.get(table as usize).map(|table| &table.of) {
            Some(Targets::Labels(labels)) => labels.as_slice(),
            _ => &[],
        },
        _ => &[],
    });
    let starts = labels.filter_map(|label| body.labels.get(label.0 as usize)).map(|label| label.at as usize);
    let start = starts.min().unwrap_or(place);
    may_poll(inst, entry) || body.insts.iter().take(place).skip(start).any(|inst| may_poll(inst, entry))
}
