//! Copies of kernel parameters in local memory.
//!
//! The parameters of the IR have no addresses. If the kernel computes the address of a parameter at
//! run time, the kernel begins with a copy of the parameter to a local variable, and each use of the
//! parameter becomes a use of the copy. The copy is the only local variable, so that an access
//! outside of the parameter traps.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use halfbyte_isa::ptx::module::{Body, Entry, FrameVariable};
use halfbyte_isa::ptx::types::{Space, Token, Type};
use halfbyte_isa::ptx::{Address, Base, FrameVar, Inst, Opcode, Operand, Reg};
use halfbyte_isa::row::OperandRole;

use crate::inline::{Inlined, access, bits};
use crate::provenance::moves_address;

/// Maximum number of loads that copy a parameter.
const MOST_LOADS: u64 = 128;

/// Replaces the parameter whose address a kernel computes by a copy in local memory. Returns the
/// kernel unchanged if there is no such parameter, or if the copy may change the effects of the
/// kernel.
pub(crate) fn copy_parameter(inlined: Inlined<'_>) -> Inlined<'_> {
    let Some((parameter, variable)) = copied(&inlined.entry) else { return inlined };
    let Inlined { entry, locs } = inlined;
    let (mut entry, mut locs) = (entry.into_owned(), locs.into_owned());
    let copy = FrameVar { number: entry.body.frame.len() as u32, space: Space::Local };
    let Some(start) = copying(&mut entry.body, parameter, copy, &variable) else {
        return Inlined { entry: Cow::Owned(entry), locs: Cow::Owned(locs) };
    };
    let Body { insts, labels, frame, .. } = &mut entry.body;
    frame.push(variable);
    insts.iter_mut().for_each(|inst| use_copy(inst, parameter, copy));
    labels.iter_mut().for_each(|label| label.at += start.len() as u32);
    let loc = locs.first().copied().unwrap_or_default();
    locs.splice(0..0, start.iter().map(|_| loc));
    insts.splice(0..0, start);
    Inlined { entry: Cow::Owned(entry), locs: Cow::Owned(locs) }
}

/// Returns the number of the parameter whose address the kernel computes, and a local variable for the copy.
fn copied(entry: &Entry) -> Option<(u32, FrameVariable)> {
    let operands = || entry.body.insts.iter().flat_map(|inst| &inst.operands);
    let addressed = operands().filter_map(|operand| match operand {
        Operand::Parameter { number, .. } => Some(*number),
        _ => None,
    });
    let addressed: BTreeSet<u32> = addressed.collect();
    let &number = addressed.first().filter(|_| addressed.len() == 1)?;
    let has_frame = operands().any(|operand| {
        matches!(operand, Operand::Frame { .. } | Operand::Memory(Address { base: Base::Frame(_), .. }))
    });
    if has_frame || depends_on_place(&entry.body) {
        return None;
    }
    let param = entry.params.get(number as usize)?;
    let align = u32::try_from(param.alignment()).ok()?;
    let loads = param.bytes().div_ceil(u64::from(align.min(8)));
    let count = u32::try_from(param.bytes()).ok().filter(|_| loads <= MOST_LOADS)?;
    let (space, ty) = (Space::Local, Type::B8);
    Some((number, FrameVariable { name: param.name.clone(), space, ty, count: Some(count), align: Some(align) }))
}

/// Returns `true` if the effects of a kernel may depend on the address of the parameter that is copied: if the kernel
/// uses this address for anything but the base of loads.
fn depends_on_place(body: &Body) -> bool {
    let mut addresses: HashSet<Reg> = HashSet::new();
    loop {
        let before = addresses.len();
        for inst in &body.insts {
            let is_address = |operand: &Operand| {
                matches!(operand, Operand::Parameter { .. }) || operand.registers().any(|reg| addresses.contains(&reg))
            };
            let uses = inst.operands_with_rows().enumerate();
            let uses = uses.filter(|(_, (o, operand))| o.role != OperandRole::Def && is_address(operand));
            let mut is_moved = false;
            for (i, (_, operand)) in uses {
                let converts = matches!(inst.opcode, Opcode::MOV_ADDRESS | Opcode::CVTA | Opcode::CVTA_ADDRESS);
                match operand {
                    Operand::Memory(_) if matches!(inst.row().mnemonic, "ld" | "ldu") => {}
                    Operand::Memory(_) => return true,
                    _ if converts || moves_address(inst, i) => is_moved = true,
                    _ => return true,
                }
            }
            addresses.extend(inst.operands.first().and_then(Operand::register).filter(|_| is_moved));
        }
        if addresses.len() == before {
            return false;
        }
    }
}

/// Returns the instructions that copy a parameter. Returns `None` if no registers are left.
fn copying(body: &mut Body, parameter: u32, copy: FrameVar, variable: &FrameVariable) -> Option<Vec<Inst>> {
    let (mut insts, mut offset) = (Vec::new(), 0);
    for size in [8, 4, 2, 1] {
        while size <= variable.alignment() && offset + size <= variable.bytes() {
            let reg = body.registers.declare("%copied", bits(8 * size.max(2)), None)?;
            let place = Address { base: Base::Parameter(parameter), offset: offset as i32 };
            let operands = [Operand::Register(reg), Operand::Memory(place)].into_iter().collect();
            let modifiers = [Token::Param, Token::Type(bits(8 * size))].into_iter().collect();
            insts.push(Inst { opcode: Opcode::LD_PARAM, modifiers, guard: None, operands });
            insts.push(access(true, copy, offset, size, Operand::Register(reg), None));
            offset += size;
        }
    }
    Some(insts)
}

/// Replaces a parameter in an instruction by its copy.
fn use_copy(inst: &mut Inst, parameter: u32, copy: FrameVar) {
    let mut is_of_copy = inst.has(Token::Param);
    for operand in &mut inst.operands {
        match operand {
            Operand::Parameter { offset, .. } => *operand = Operand::Frame { var: copy, offset: *offset },
            Operand::Memory(Address { base: Base::Parameter(number), .. }) if *number != parameter => {
                is_of_copy = false
            }
            Operand::Memory(Address { base: base @ Base::Parameter(_), .. }) => *base = Base::Frame(copy),
            _ => {}
        }
    }
    if is_of_copy {
        inst.modifiers.iter_mut().filter(|word| **word == Token::Param).for_each(|word| *word = Token::Local);
        inst.opcode = if inst.opcode == Opcode::LD_PARAM { Opcode::LD } else { inst.opcode };
    }
}
