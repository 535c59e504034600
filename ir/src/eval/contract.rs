//! Which sums are computed together with a product, in one rounding: what `contract` means.

use halfbyte_abi::Type;

use crate::attr::{Clamp, FloatFlags};
use crate::kernel::{Attr, Inst, Kernel, Value};
use crate::op::Op;

/// A product that a sum or difference is computed with.
#[derive(Clone, Copy)]
pub(super) struct Product {
    /// Which operand of the sum it is.
    pub number: usize,
    /// Its factors.
    pub factors: [Value; 2],
    /// The sum's other operand.
    pub other: Value,
}

/// The product that this instruction is computed with, if any: the first of its operands that is one, where both allow it.
pub(super) fn product(kernel: &Kernel, sum: Inst) -> Option<Product> {
    let (ty, flags) = contractible(kernel, sum, &[Op::Fadd, Op::Fsub])?;
    let &[a, b] = kernel.args(sum) else { return None };
    [(a, b), (b, a)].into_iter().enumerate().find_map(|(number, (value, other))| {
        let def = kernel.def_inst(value)?;
        let (of, its) = contractible(kernel, def, &[Op::Fmul])?;
        let &[x, y] = kernel.args(def) else { return None };
        let alike = of == ty && its.rounding == flags.rounding && its.ftz == flags.ftz && its.clamp == Clamp::None;
        alike.then_some(Product { number, factors: [x, y], other })
    })
}

/// The type and modifiers of an instruction that is one of these ops and says `contract`.
fn contractible(kernel: &Kernel, inst: Inst, ops: &[Op]) -> Option<(Type, FloatFlags)> {
    let data = kernel.insts.get(inst)?;
    match data.attr {
        Attr::Float(flags) if flags.contract && ops.contains(&data.op) => Some((data.ty, flags)),
        _ => None,
    }
}
