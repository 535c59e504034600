//! What loads and stores have in common.

use halfbyte_ir::{Inst, Kernel, Op, Part, Span, Type, Value};

/// The type of what a load or store loads or stores.
pub(super) fn value_type(kernel: &Kernel, inst: Inst) -> Option<Type> {
    matches!(kernel.insts[inst].op, Op::Load | Op::Store).then_some(kernel.insts[inst].ty)
}

/// A load or store's base and, if any, index.
pub(super) fn address(kernel: &Kernel, inst: Inst) -> &[Value] {
    match (kernel.insts[inst].op, kernel.args(inst)) {
        (Op::Store, [_, address @ ..]) => address,
        (_, args) => args,
    }
}

/// Notes with an access which accesses of so many bytes it takes in, in order, each with its place in the text, or what those
/// had taken in themselves. One of them may be the access itself.
pub(super) fn note_parts(kernel: &mut Kernel, access: Inst, bytes: u32, taken: &[(Inst, Span)]) {
    let mut parts = Vec::with_capacity(taken.len());
    for (offset, &(inst, span)) in (0..).step_by(bytes as usize).zip(taken) {
        let before = parts.len();
        parts.extend(kernel.parts(inst).map(|part| Part { offset: offset + part.offset, ..part }));
        if parts.len() == before {
            parts.push(Part { offset, bytes, span });
        }
    }
    kernel.set_parts(access, parts);
}
