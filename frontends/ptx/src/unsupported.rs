//! Detection of instructions that the IR cannot express. A kernel with such an instruction can only
//! be executed as PTX directly.

use halfbyte_ir::Diagnostic;
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::module::Entry;
use halfbyte_isa::ptx::types::Token;
use halfbyte_isa::ptx::{Address, Base, Inst, Opcode, Operand};

use crate::options::LineMap;

/// Reports all instructions of a kernel that the IR cannot express.
pub(crate) fn unsupported(entry: &Entry, locs: &[Loc], places: &LineMap<'_>) -> impl Iterator<Item = Diagnostic> {
    entry.body.insts.iter().zip(locs).filter_map(|(inst, &at)| {
        let message = match called_without_code(entry, inst) {
            Some(name) => format!("the function `{name}` has no counterpart in the IR"),
            None => format!("{} has no counterpart in the IR", unsupported_description(inst)?),
        };
        Some(Diagnostic::new(places.span(at), message).expected("direct execution with `--target ptx`"))
    })
}

/// Returns the name of the function that an instruction calls, if the module does not define the function.
fn called_without_code<'e>(entry: &'e Entry, inst: &Inst) -> Option<&'e str> {
    let number = inst.operands.first().filter(|operand| matches!(operand, Operand::Call { .. }))?.function()?;
    let function = entry.functions.get(number as usize).filter(|function| function.code.is_none())?;
    Some(&function.name)
}

/// Returns `true` if the instruction reads no special registers other than thread and block numbers and their counts.
fn is_of_place(inst: &Inst) -> bool {
    inst.operands.iter().all(|operand| !matches!(operand, Operand::Special(special) if !special.depends_on_position()))
}

/// Describes an instruction that the IR cannot express. Returns `None` for other instructions.
fn unsupported_description(inst: &Inst) -> Option<&'static str> {
    let of_operand = inst.operands.iter().find_map(|operand| match operand {
        Operand::Parameter { .. } => Some("the address of a parameter"),
        Operand::Memory(Address { base: Base::Register(_), .. }) if inst.has(Token::Param) => {
            Some("an access to a parameter by its address")
        }
        _ => None,
    });
    if of_operand.is_some() {
        return of_operand;
    }
    Some(match inst.opcode {
        Opcode::CALL | Opcode::CALL_INDIRECT => "a call",
        // Indirect branches are expanded before this check, unless no register is left for the expansion.
        Opcode::BRX => "an indirect branch",
        Opcode::ALLOCA | Opcode::ALLOCA_ALIGNED | Opcode::STACKSAVE | Opcode::STACKRESTORE => {
            "an operation on the stack"
        }
        Opcode::CVTA | Opcode::CVTA_ADDRESS if inst.has(Token::Param) => "the address of a parameter",
        Opcode::TRAP | Opcode::BRKPT => "a trap",
        _ if inst.multiplies_matrices() => "a matrix product",
        _ if inst.is_warp_level() => "a matrix load, store or move",
        Opcode::REDUX_F32 => "a reduction of f32",
        Opcode::MOV_SPECIAL if !is_of_place(inst) => "this special register",
        _ => return None,
    })
}
