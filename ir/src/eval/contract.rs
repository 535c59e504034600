//! Contraction: a sum or difference and the product that is its operand are computed with one
//! rounding if both ops have the modifier `contract`.

use halfbyte_abi::Type;

use crate::attr::{Clamp, FloatFlags};
use crate::kernel::{Attr, Inst, Kernel, Value};
use crate::op::Op;

/// A product that is contracted with a sum or difference.
#[derive(Clone, Copy)]
pub(super) struct Product {
    /// Operand number of the product in the sum.
    pub number: usize,
    /// Factors of the product.
    pub factors: [Value; 2],
    /// The operand of the sum that is not the product.
    pub other: Value,
}

/// Returns the product with which a sum or difference is contracted, if any: the first operand that
/// is a product with `contract`.
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

/// Returns the type and modifiers of an instruction if its op is one of `ops` and it has `contract`.
fn contractible(kernel: &Kernel, inst: Inst, ops: &[Op]) -> Option<(Type, FloatFlags)> {
    let data = kernel.insts.get(inst)?;
    match data.attr {
        Attr::Float(flags) if flags.contract && ops.contains(&data.op) => Some((data.ty, flags)),
        _ => None,
    }
}
