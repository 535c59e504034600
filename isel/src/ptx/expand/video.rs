//! Expansion of a video instruction into its sequence.

use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::row::{Lanes, OperandKind};
use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};

use super::form::VideoForm;
use super::registers::Registers;
use super::table::{D, OPERANDS, Sequence, TableError, sequence};
use crate::Ptx;
use crate::vcode::VInst;

/// Operands of a video instruction with its lane mask and element selectors.
struct Operands {
    /// Result register.
    d: Reg,
    /// Mask of the lanes that the instruction writes or adds up.
    mask: u16,
    /// Registers of the two sources.
    sources: [Reg; 2],
    /// Element selector of each source register, with one hexadecimal digit per lane.
    selectors: [u16; 2],
    /// Third source register: its lanes fill the unwritten lanes, or the sum of the lanes is added to it.
    c: Reg,
}

impl Operands {
    fn of(inst: &Inst, lanes: Lanes) -> Option<Operands> {
        let [d, a, b, c] = inst.operands.as_slice() else { return None };
        let with = |operand: &Operand, plain: u16| match *operand {
            Operand::Register(reg) => Some((reg, plain)),
            Operand::Lanes { reg, digits } => Some((reg, digits)),
            _ => None,
        };
        let default = |n: usize| match inst.row().operands.get(n).map(|o| o.shape) {
            Some(OperandKind::Selected(_, default)) => default,
            _ => 0,
        };
        let (d, mask) = with(d, lanes.all())?;
        let (a, of_a) = with(a, default(1))?;
        let (b, of_b) = with(b, default(2))?;
        let (c, _) = with(c, 0)?;
        Some(Operands { d, mask, sources: [a, b], selectors: [of_a, of_b], c })
    }
}

/// Appends the sequence that implements a video instruction on an SM version. Any other instruction
/// is appended unchanged, and so is a guarded video instruction, because a sequence would write its
/// result even if the guard is false.
///
/// # Errors
/// Fails if the table of sequences is malformed.
pub(super) fn append(
    inst: VInst<Ptx>,
    sm: u16,
    registers: &mut Registers<'_>,
    out: &mut Vec<VInst<Ptx>>,
) -> Result<(), TableError> {
    let form = VideoForm::of(&inst.inst).filter(|_| inst.inst.guard.is_none());
    let parts = form.and_then(|form| Some((form, Operands::of(&inst.inst, form.lanes())?)));
    let Some((form, operands)) = parts else {
        out.push(inst);
        return Ok(());
    };
    let mut writer = Writer { registers, loc: inst.loc, out };
    let all = operands.mask == form.lanes().all();
    let sums = form.merge == Some(Token::Add);
    let mut sources = [0, 1].map(|n| writer.selected(&operands, n, form.lanes()));
    if sums && !all {
        // A lane of zeros adds 0 to the sum, for every operation.
        let mask = bits_of(operands.mask, form.lanes());
        sources = sources.map(|reg| writer.binary(Opcode::AND, reg, mask));
    }
    // Operands that commute are sorted, so that the minimum and the maximum of the same values can share instructions.
    let [_, of_a, of_b] = form.types;
    if of_a == of_b && !matches!(form.opcode, Opcode::VSUB2 | Opcode::VSUB4) {
        sources.sort_unstable();
    }
    let merges = !sums && !all;
    let d = if merges { writer.registers.fresh(Type::B32) } else { operands.d };
    writer.sequence(&*sequence(form, sm)?, d, [sources[0], sources[1], operands.c]);
    if merges {
        // Lanes in the mask come from the result `d`, the other lanes from `c`.
        let mask = Operand::Number(bits_of(operands.mask, form.lanes()).into());
        let [t, c] = [d, operands.c].map(Operand::Register);
        writer.push(Opcode::LOP3, operands.d, &[t, c, mask, Operand::Number(0xE4)]);
    }
    Ok(())
}

/// Returns a 32-bit mask with all bits of the lanes in `mask` set.
fn bits_of(mask: u16, lanes: Lanes) -> u32 {
    let lane = 32 / lanes.count();
    (0..lanes.count()).filter(|i| mask >> i & 1 != 0).map(|i| (u32::MAX >> (32 - lane)) << (i * lane)).sum()
}

/// Appends the instructions that replace one video instruction.
struct Writer<'a, 'r> {
    registers: &'a mut Registers<'r>,
    loc: Loc,
    out: &'a mut Vec<VInst<Ptx>>,
}

impl Writer<'_, '_> {
    fn push(&mut self, opcode: Opcode, d: Reg, sources: &[Operand]) {
        let operands = std::iter::once(Operand::Register(d)).chain(sources.iter().cloned()).collect();
        let words = [Token::Type(Type::B32)].into_iter().collect();
        self.out.push(VInst::alone(Inst { opcode, modifiers: words, guard: None, operands }, self.loc));
    }

    fn binary(&mut self, opcode: Opcode, a: Reg, b: u32) -> Reg {
        let d = self.registers.fresh(Type::B32);
        self.push(opcode, d, &[Operand::Register(a), Operand::Number(b.into())]);
        d
    }

    /// Returns a register with the elements that the selector of source `n` selects.
    fn selected(&mut self, operands: &Operands, n: usize, lanes: Lanes) -> Reg {
        let selector = operands.selectors.get(n).copied().unwrap_or(0);
        let (count, bits) = (lanes.count(), lanes.index_bits());
        let width = 4 / count;
        // The PRMT selector names the source byte of each result byte.
        let bytes = (0..4).map(|i| {
            let element = u32::from(selector) >> (i / width * bits) & ((1 << bits) - 1);
            (element * width + i % width) << (4 * i)
        });
        let selector: u32 = bytes.sum();
        let [a, b] = operands.sources;
        match selector {
            0x3210 => a,
            0x7654 => b,
            _ => {
                let d = self.registers.fresh(Type::B32);
                let [a, b] = [a, b].map(Operand::Register);
                self.push(Opcode::PRMT, d, &[a, b, Operand::Number(selector.into())]);
                d
            }
        }
    }

    /// Appends a sequence whose result is `d` and whose operands are `operands`.
    fn sequence(&mut self, sequence: &Sequence, d: Reg, operands: [Reg; 3]) {
        let mut names: Vec<(Reg, Reg)> = OPERANDS.into_iter().zip(operands).chain([(D, d)]).collect();
        for inst in &sequence.insts {
            let mut inst = inst.clone();
            inst.rename(|_, reg| match names.iter().find(|(of, _)| *of == reg) {
                Some(&(_, name)) => name,
                None => {
                    names.push((reg, self.registers.fresh(Type::B32)));
                    names.last().map_or(reg, |&(_, name)| name)
                }
            });
            self.out.push(VInst::alone(inst, self.loc));
        }
    }
}
