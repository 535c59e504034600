//! Helpers for loads and stores.

use halfbyte_ir::{Inst, Kernel, MergedAccess, Op, Span, Type, Value};

/// Returns the type of the value that an instruction loads or stores; `None` for other instructions.
pub(super) fn value_type(kernel: &Kernel, inst: Inst) -> Option<Type> {
    matches!(kernel.insts[inst].op, Op::Load | Op::Store).then_some(kernel.insts[inst].ty)
}

/// Returns the address operands of a load or store: the base and the index, if there is one.
pub(super) fn address(kernel: &Kernel, inst: Inst) -> &[Value] {
    match (kernel.insts[inst].op, kernel.args(inst)) {
        (Op::Store, [_, address @ ..]) => address,
        (_, args) => args,
    }
}

/// Records in `access` the consecutive accesses of `bytes` bytes that it combines, with their
/// source spans. If one of them already combines accesses, these are recorded in its place.
/// `access` itself may be one of the combined instructions.
pub(super) fn record_parts(kernel: &mut Kernel, access: Inst, bytes: u32, taken: &[(Inst, Span)]) {
    let mut parts = Vec::with_capacity(taken.len());
    for (offset, &(inst, span)) in (0..).step_by(bytes as usize).zip(taken) {
        let before = parts.len();
        parts.extend(kernel.parts(inst).map(|part| MergedAccess { offset: offset + part.offset, ..part }));
        if parts.len() == before {
            parts.push(MergedAccess { offset, bytes, span });
        }
    }
    kernel.set_parts(access, parts);
}
