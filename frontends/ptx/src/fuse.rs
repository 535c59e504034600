//! Detection of products and sums that PTX permits the assembler to fuse, because neither of them
//! has a rounding modifier.

use std::collections::HashSet;

use halfbyte_isa::ptx::types::Token;
use halfbyte_isa::ptx::{Inst, Opcode, Operand};

use crate::provenance::reached;
use crate::ssa::{Def, Function, Val};

/// Maximum number of moves between a product and the sum that uses it.
const DEPTH: u32 = 8;

/// Returns the instruction numbers of the sums and differences that may be fused, and of their products.
pub(crate) fn fusable(function: &Function<'_>) -> HashSet<usize> {
    let mut found = HashSet::new();
    for number in reached(function) {
        let Some(sum) = function.inst(number).filter(|inst| is_sum(inst) && is_free(inst)) else { continue };
        for operand in sum.operands.iter().skip(1) {
            let &Operand::Register(reg) = operand else { continue };
            let product = function.read(number, reg).and_then(|val| product(function, val, DEPTH));
            if let Some((at, product)) = product
                && product.ty(0) == sum.ty(0)
                && product.has(Token::Ftz) == sum.has(Token::Ftz)
            {
                found.extend([number, at]);
            }
        }
    }
    found
}

/// Returns the number of sums and differences that may be fused with a product.
pub(crate) fn count(function: &Function<'_>) -> usize {
    let found = fusable(function);
    found.into_iter().filter(|&number| function.inst(number).is_some_and(is_sum)).count()
}

fn is_sum(inst: &Inst) -> bool {
    use Opcode::*;
    matches!(inst.opcode, ADD_F16 | ADD_BF16 | ADD_F32 | ADD_F64 | SUB_F16 | SUB_BF16 | SUB_F32 | SUB_F64)
}

fn is_product(inst: &Inst) -> bool {
    use Opcode::*;
    matches!(inst.opcode, MUL_F16 | MUL_BF16 | MUL_F32 | MUL_F64)
}

/// Returns `true` if the instruction has no rounding modifier.
fn is_free(inst: &Inst) -> bool {
    ![Token::Rn, Token::Rz, Token::Rm, Token::Rp].into_iter().any(|token| inst.has(token))
}

/// Returns the product that computes a value, directly or through moves. The result is the number
/// of the instruction and the instruction. Returns `None` if the value is not a fusable product.
fn product<'e>(function: &Function<'e>, val: Val, depth: u32) -> Option<(usize, &'e Inst)> {
    let depth = depth.checked_sub(1)?;
    let &Def::Inst(number, None) = function.def(val) else { return None };
    let inst = function.inst(number)?;
    match (inst.opcode, inst.operands.get(1)) {
        (Opcode::MOV, Some(&Operand::Register(reg))) => product(function, function.read(number, reg)?, depth),
        _ => (is_product(inst) && is_free(inst) && !inst.has(Token::Sat)).then_some((number, inst)),
    }
}
