//! Helpers for loads and stores.

use halfbyte_ir::{Inst, Kernel, MergedAccess, Op, Span, Type, Value};

/// Returns the type of the loaded or stored value.
pub(super) fn value_type(kernel: &Kernel, inst: Inst) -> Option<Type> {
    matches!(kernel.insts[inst].op, Op::Load | Op::Store).then_some(kernel.insts[inst].ty)
}

/// Returns the base and the optional index of a load or store.
pub(super) fn address(kernel: &Kernel, inst: Inst) -> &[Value] {
    match (kernel.insts[inst].op, kernel.args(inst)) {
        (Op::Store, [_, address @ ..]) => address,
        (_, args) => args,
    }
}

/// Records which accesses of `bytes` bytes each an access combines, in order, with their source
/// spans. If an access has recorded parts of its own, these are used. The access may be one of its
/// own parts.
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
