//! Expansion of each asynchronous copy into loads and stores at the position of the copy. The
//! instructions that wait for copies become no-ops.
//!
//! The import therefore does not detect an access to the copied memory before the wait. Direct
//! execution of the PTX detects such an access.

use halfbyte_isa::ptx::module::{Body, Registers};
use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Address, Guard, Inst, Opcode, Operand, Reg};
use halfbyte_isa::row::OperandRole;
use smallvec::SmallVec;

use crate::expand::Expansion;

/// Number of bytes that an asynchronous copy reads. It fills the remaining bytes of the destination with zeros.
enum CopiedBytes {
    All,
    None,
    /// A number that is computed at run time. If `is_whole` is set, it is 0 or the full size.
    Value {
        value: Operand,
        is_whole: bool,
    },
}

/// State of the expansion of `cp.async` into loads and stores.
pub(crate) struct Copies {
    registers: Registers,
    insts: Vec<Inst>,
    /// Temporary registers: `words` for copied 32-bit words, `byte` for a copied byte, and `taken`
    /// for the number of bytes to read.
    words: Reg,
    byte: Reg,
    taken: Reg,
    /// Predicate registers: `all` if all bytes are read, `part` if some bytes are not read, and
    /// `one` if the current byte is read.
    all: Reg,
    part: Reg,
    one: Reg,
}

impl Expansion for Copies {
    fn is_replaced(inst: &Inst) -> bool {
        inst.row().mnemonic == "cp"
    }

    fn new(body: &Body) -> Option<Copies> {
        let mut registers = body.registers.clone();
        let words = registers.declare("%copied", Type::B32, Some(4))?;
        let byte = registers.declare("%copied_byte", Type::B16, None)?;
        let taken = registers.declare("%copied_bytes", Type::B32, None)?;
        let all = registers.declare("%copies_all", Type::Pred, None)?;
        let part = registers.declare("%copies_part", Type::Pred, None)?;
        let one = registers.declare("%copies_byte", Type::Pred, None)?;
        Some(Copies { registers, insts: Vec::new(), words, byte, taken, all, part, one })
    }

    fn insts(&mut self) -> &mut Vec<Inst> {
        &mut self.insts
    }

    fn replace(&mut self, inst: &Inst, body: &Body) {
        self.copy(inst, body);
    }

    fn finish(self, body: Body) -> Body {
        Body { registers: self.registers, insts: self.insts, ..body }
    }
}

impl Copies {
    fn copy(&mut self, inst: &Inst, body: &Body) {
        let (Some(&Operand::Memory(to)), Some(&Operand::Memory(from)), Some(&Operand::Number(bytes))) =
            (inst.operands.first(), inst.operands.get(1), inst.operands.get(2))
        else {
            return;
        };
        let (bytes, guard) = (bytes as u32, inst.guard);
        let taken = match (inst.opcode, inst.operands.get(3)) {
            (Opcode::CP_ASYNC_PART, Some(&Operand::Number(0))) => CopiedBytes::None,
            (Opcode::CP_ASYNC_PART, Some(&Operand::Number(taken))) if taken >= bytes.into() => CopiedBytes::All,
            (Opcode::CP_ASYNC_PART, Some(value)) => {
                CopiedBytes::Value { value: value.clone(), is_whole: is_whole(body, value, bytes) }
            }
            (Opcode::CP_ASYNC_UNLESS, Some(unless)) => {
                let none =
                    [Operand::Register(self.taken), Operand::Number(0), Operand::Number(bytes.into()), unless.clone()];
                self.push(Opcode::SELP, &[Token::Type(Type::B32)], None, &none);
                CopiedBytes::Value { value: Operand::Register(self.taken), is_whole: true }
            }
            _ => CopiedBytes::All,
        };
        let words: Vec<Reg> = (0..bytes / 4).map(|word| Reg(self.words.0 + word)).collect();
        if !matches!(taken, CopiedBytes::All) {
            for &word in &words {
                let zero = [Operand::Register(word), Operand::Number(0)];
                self.push(Opcode::MOV, &[Token::Type(Type::B32)], None, &zero);
            }
        }
        let load = match &taken {
            CopiedBytes::All => Some(guard),
            CopiedBytes::None => None,
            CopiedBytes::Value { value, .. } => {
                self.compare(self.all, Token::Ge, value, bytes, guard);
                Some(Some(Guard { reg: self.all, not: false }))
            }
        };
        let (elements, value) = match words.as_slice() {
            &[word] => (None, Operand::Register(word)),
            all => {
                let elements = if all.len() == 2 { Token::V2 } else { Token::V4 };
                (Some(elements), Operand::Vector(all.iter().copied().map(Some).collect()))
            }
        };
        let of = |space: Token| -> SmallVec<[Token; 3]> {
            [Some(space), elements, Some(Token::Type(Type::B32))].into_iter().flatten().collect()
        };
        if let Some(guard) = load {
            self.push(Opcode::LD, &of(Token::Global), guard, &[value.clone(), Operand::Memory(from)]);
        }
        self.push(Opcode::ST, &of(Token::Shared), guard, &[Operand::Memory(to), value]);
        if let CopiedBytes::Value { value, is_whole: false } = taken {
            self.bytes(&value, bytes, [from, to], guard);
        }
    }

    /// If `value` is less than `bytes`, copies the first `value` bytes one by one.
    fn bytes(&mut self, value: &Operand, bytes: u32, [from, to]: [Address; 2], guard: Option<Guard>) {
        self.compare(self.part, Token::Lt, value, bytes, guard);
        let part = Some(Guard { reg: self.part, not: false });
        let one = Some(Guard { reg: self.one, not: false });
        let of_byte = |space| [space, Token::Type(Type::U8)];
        let held = Operand::Register(self.byte);
        for number in 0..bytes - 1 {
            let at = |of: Address| Operand::Memory(Address { offset: of.offset.wrapping_add(number as i32), ..of });
            self.compare(self.one, Token::Gt, value, number, part);
            self.push(Opcode::LD, &of_byte(Token::Global), one, &[held.clone(), at(from)]);
            self.push(Opcode::ST, &of_byte(Token::Shared), one, &[at(to), held.clone()]);
        }
    }

    /// Emits a comparison of `value` with a constant. The result is false if the guard is false.
    fn compare(&mut self, to: Reg, how: Token, value: &Operand, number: u32, guard: Option<Guard>) {
        let compared = [Operand::Register(to), value.clone(), Operand::Number(number.into())];
        let ty = Token::Type(Type::U32);
        match guard {
            None => self.push(Opcode::SETP_INT, &[how, ty], None, &compared),
            Some(Guard { reg, not }) => {
                let guard = if not { Operand::Not(reg) } else { Operand::Register(reg) };
                let [to, value, number] = compared;
                self.push(Opcode::SETP_INT, &[how, Token::And, ty], None, &[to, value, number, guard]);
            }
        }
    }

    fn push(&mut self, opcode: Opcode, words: &[Token], guard: Option<Guard>, operands: &[Operand]) {
        let (words, operands) = (words.iter().copied().collect(), operands.iter().cloned().collect());
        self.insts.push(Inst { opcode, modifiers: words, guard, operands });
    }
}

/// Returns `true` if every write to the value's register stores either 0 or `bytes`.
fn is_whole(body: &Body, value: &Operand, bytes: u32) -> bool {
    let &Operand::Register(reg) = value else { return false };
    let is_either = |operand: Option<&Operand>| matches!(operand, Some(&Operand::Number(number)) if number == 0 || number == u64::from(bytes));
    let mut writers =
        body.insts.iter().filter(|inst| inst.registers().any(|(role, of)| role != OperandRole::Use && of == reg));
    writers.all(|inst| match inst.opcode {
        Opcode::MOV => is_either(inst.operands.get(1)),
        Opcode::SELP => is_either(inst.operands.get(1)) && is_either(inst.operands.get(2)),
        _ => false,
    })
}
