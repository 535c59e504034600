//! Builder of HALU instructions on virtual registers. The builder assigns source operands to the
//! operand fields of an instruction, and new registers to its results.

use cranelift_entity::packed_option::PackedOption;
use halfbyte_ir::Rounding;
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isa::object::Loc;
use halfbyte_isa::row::Modifier;
use halfbyte_isa::word::Field;

use super::machine::{Halu, RegClass};
use super::operands::{Half, Number, Pred, Reg, SourceLocation, Src};
use crate::driver::InstDraft;
use crate::vcode::{Access, Operand, VInst, VReg};

/// Returns the encoding of a modifier that is written as `text`. [`choice!`] calls this function at compile time.
pub(crate) const fn value_of(modifier: &Modifier, text: &str) -> u64 {
    match modifier.value(text) {
        Some(value) => value,
        None => {
            debug_assert!(false, "the modifier has no such choice");
            modifier.initial()
        }
    }
}

/// Encoding of a modifier by its assembly text, computed at compile time.
macro_rules! choice {
    ($modifier:expr, $text:literal) => {
        const { $crate::halu::builder::value_of(&$modifier, $text) }
    };
}
pub(crate) use choice;

/// Returns the encoding of a rounding mode in the rounding field of an instruction.
pub(crate) fn rounding(mode: Rounding) -> u64 {
    match mode {
        Rounding::Rn => choice!(M_RND, "RN"),
        Rounding::Rz => choice!(M_RND, "RZ"),
        Rounding::Rp => choice!(M_RND, "RP"),
        Rounding::Rm => choice!(M_RND, "RM"),
    }
}

/// Instruction fields of one source operand.
#[derive(Clone, Copy)]
struct SourceFields {
    reg: Field,
    neg: Field,
    abs: Field,
    half: Field,
}

const A: SourceFields = SourceFields { reg: RA, neg: RA_NEG, abs: RA_ABS, half: RA_HALF };
const SLOT_B: SourceFields = SourceFields { reg: R32, neg: SLOT_NEG, abs: SLOT_ABS, half: B_HALF };
const SLOT_C: SourceFields = SourceFields { half: C_HALF, ..SLOT_B };
const AFTER_B: SourceFields = SourceFields { reg: R64, neg: R64_NEG, abs: R64_ABS, half: B_HALF };
const AFTER_C: SourceFields = SourceFields { half: C_HALF, ..AFTER_B };

/// Opcodes of an instruction with two source operands. The opcode depends on the second one, which
/// is a register, an immediate or constant memory.
#[derive(Clone, Copy)]
pub(crate) struct TwoForms {
    pub rr: Opcode,
    pub ri: Opcode,
    pub rc: Opcode,
}

/// Opcodes of an instruction with three source operands. At most one source is not a register.
#[derive(Clone, Copy)]
pub(crate) struct ThreeForms {
    pub rrr: Opcode,
    pub rir: Opcode,
    pub rcr: Opcode,
    pub rri: Option<Opcode>,
    pub rrc: Option<Opcode>,
}

/// Builder of HALU instructions on virtual registers.
pub(crate) struct Builder {
    pub vregs: Vec<RegClass>,
    pub operands: Vec<Operand<Halu>>,
    pub insts: Vec<InstDraft<Halu>>,
    /// Load or store of the kernel that the next instruction performs, if it replaces several accesses of the source.
    pub access: PackedOption<halfbyte_ir::Inst>,
    pub loc: Loc,
    /// `true` if any 64-bit or 128-bit register was built from words.
    pub joins_words: bool,
    start: u32,
}

impl Builder {
    /// Creates an empty builder that reuses the memory of the given lists.
    pub(super) fn new(vregs: Vec<RegClass>, operands: Vec<Operand<Halu>>, insts: Vec<InstDraft<Halu>>) -> Builder {
        Builder { vregs, operands, insts, access: None.into(), loc: Loc::default(), joins_words: false, start: 0 }
    }

    pub(super) fn vreg(&mut self, class: RegClass) -> VReg {
        let vreg = VReg(self.vregs.len() as u32);
        self.vregs.push(class);
        vreg
    }

    /// Adds a register operand to the current instruction. RZ and PT are not operands, because
    /// their field is already set.
    fn operand(&mut self, field: Field, reg: Reg, access: Access) {
        if let Some(vreg) = reg.vreg {
            self.operands.push(Operand { place: field, reg: vreg, part: reg.part, access });
        }
    }

    pub(super) fn read(&mut self, field: Field, reg: Reg) {
        self.operand(field, reg, Access::Use);
    }

    pub(super) fn read_pred(&mut self, inst: &mut Inst, field: Field, not: Field, pred: Pred) {
        inst.set(field, u64::from(PT));
        inst.set(not, pred.not.into());
        if let Some(vreg) = pred.vreg {
            self.read(field, Reg::new(vreg));
        }
    }

    /// Adds the definition of a new register as an operand. If the register is wider than 32 bits,
    /// the instruction writes the first word.
    pub(super) fn define(&mut self, field: Field, class: RegClass) -> VReg {
        let vreg = self.vreg(class);
        self.operand(field, Reg::new(vreg), Access::Def);
        vreg
    }

    /// Adds the definition of word `part` of a wide register as an operand. The other words keep the contents of `old`.
    pub(super) fn replace(&mut self, field: Field, old: VReg, part: u8) -> VReg {
        let class = self.vregs.get(old.0 as usize).copied().unwrap_or(RegClass::Word);
        let vreg = self.vreg(class);
        self.operand(field, Reg { vreg: Some(vreg), part }, Access::UpdateInPlace(old));
        vreg
    }

    /// Finishes an instruction and appends it to the code. Its operands are those added since the previous instruction.
    pub(super) fn push(&mut self, inst: Inst) {
        let end = self.operands.len() as u32;
        let inst = VInst { inst, operands: self.start..end, loc: self.loc };
        self.insts.push(InstDraft { inst, access: self.access.take().into() });
        self.start = end;
    }

    /// Finishes a branch instruction, which becomes part of a block's terminator.
    pub(super) fn branch(&mut self, inst: Inst) -> VInst<Halu> {
        let end = self.operands.len() as u32;
        let branch = VInst { inst, operands: self.start..end, loc: self.loc };
        self.start = end;
        branch
    }

    /// Finishes an instruction whose result is a new 32-bit register.
    pub(super) fn word(&mut self, inst: Inst) -> Reg {
        let vreg = self.define(RD, RegClass::Word);
        self.push(inst);
        Reg::new(vreg)
    }

    /// Finishes an instruction whose result is a new predicate register.
    pub(super) fn pred(&mut self, inst: Inst, field: Field) -> Pred {
        let vreg = self.define(field, RegClass::Pred);
        self.push(inst);
        Pred { vreg: Some(vreg), not: false }
    }

    fn place(&mut self, inst: &mut Inst, fields: SourceFields, src: Src) {
        if src.neg {
            inst.set(fields.neg, 1);
        }
        if src.abs {
            inst.set(fields.abs, 1);
        }
        if src.half != Half::Both {
            // The half selectors of all source operands have the same encoding.
            let low = src.half == Half::Low;
            let half = if low { choice!(half_select(A.half), "H0_H0") } else { choice!(half_select(A.half), "H1_H1") };
            inst.set(fields.half, half);
        }
        match src.place {
            SourceLocation::Reg(reg) => self.read(fields.reg, reg),
            SourceLocation::Imm(bits) => inst.set(IMM32, bits.into()),
            SourceLocation::Const(offset) => inst.set(CMEM_OFFSET, offset.into()),
        }
    }

    /// Returns the source operand as a register with the same modifiers. An immediate or constant
    /// memory is moved into a new register.
    pub(super) fn in_reg(&mut self, src: Src) -> Src {
        let reg = match src.place {
            SourceLocation::Reg(_) => return src,
            SourceLocation::Imm(bits) => self.word(Inst::new(Opcode::MOV_I).with(IMM32, bits.into())),
            SourceLocation::Const(offset) => self.word(Inst::new(Opcode::MOV_C).with(CMEM_OFFSET, offset.into())),
        };
        Src { place: SourceLocation::Reg(reg), ..src }
    }

    /// Returns the register of a source operand without modifiers. An immediate or constant memory
    /// is moved into a new register.
    pub(super) fn reg(&mut self, src: Src) -> Reg {
        match self.in_reg(src).place {
            SourceLocation::Reg(reg) => reg,
            _ => Reg::ZERO,
        }
    }

    /// Starts an instruction with one source operand, which is moved to a register if necessary.
    pub(super) fn one(&mut self, opcode: Opcode, number: Number, a: Src) -> Inst {
        let a = self.in_reg(a.folded(number));
        let mut inst = Inst::new(opcode);
        self.place(&mut inst, SLOT_B, a);
        inst
    }

    /// Starts an instruction with one source operand that reads one half of a register.
    pub(super) fn one_half(&mut self, opcode: Opcode, a: Src) -> Inst {
        let mut inst = Inst::new(opcode);
        if a.half == Half::High {
            inst.set(LANE, choice!(M_LANE, "H1"));
        }
        let a = self.in_reg(Src { half: Half::Both, ..a });
        self.place(&mut inst, SLOT_B, a);
        inst
    }

    /// Starts an instruction with two source operands. The first one is moved to a register if necessary.
    pub(super) fn two(&mut self, forms: TwoForms, number: Number, a: Src, b: Src) -> Inst {
        let a = self.in_reg(a.folded(number));
        let b = b.folded(number);
        let mut inst = Inst::new(match b.place {
            SourceLocation::Reg(_) => forms.rr,
            SourceLocation::Imm(_) => forms.ri,
            SourceLocation::Const(_) => forms.rc,
        });
        self.place(&mut inst, A, a);
        self.place(&mut inst, SLOT_B, b);
        inst
    }

    /// Starts a commutative instruction with two source operands. The operands are swapped if only
    /// the second one is a register.
    pub(super) fn two_commuting(&mut self, forms: TwoForms, number: Number, a: Src, b: Src) -> Inst {
        if b.is_reg() && !a.is_reg() { self.two(forms, number, b, a) } else { self.two(forms, number, a, b) }
    }

    /// Starts an instruction with three source operands, of which the first two commute.
    pub(super) fn three(&mut self, forms: ThreeForms, number: Number, a: Src, b: Src, c: Src) -> Inst {
        let (a, b) = if b.is_reg() && !a.is_reg() { (b, a) } else { (a, b) };
        self.three_in_order(forms, number, a, b, c)
    }

    /// Starts an instruction with three source operands in the given order.
    pub(super) fn three_in_order(&mut self, forms: ThreeForms, number: Number, a: Src, b: Src, c: Src) -> Inst {
        let a = self.in_reg(a.folded(number));
        let b = b.folded(number);
        let mut c = c.folded(number);
        let third = match c.place {
            SourceLocation::Reg(_) => None,
            _ if !b.is_reg() => None,
            SourceLocation::Imm(_) => forms.rri,
            SourceLocation::Const(_) => forms.rrc,
        };
        let mut inst;
        match third {
            Some(opcode) => {
                inst = Inst::new(opcode);
                self.place(&mut inst, A, a);
                self.place(&mut inst, AFTER_B, b);
                self.place(&mut inst, SLOT_C, c);
            }
            None => {
                c = self.in_reg(c);
                inst = Inst::new(match b.place {
                    SourceLocation::Reg(_) => forms.rrr,
                    SourceLocation::Imm(_) => forms.rir,
                    SourceLocation::Const(_) => forms.rcr,
                });
                self.place(&mut inst, A, a);
                self.place(&mut inst, SLOT_B, b);
                self.place(&mut inst, AFTER_C, c);
            }
        }
        inst
    }

    /// Moves a source operand into word `part` of a wide register of the class. The other words
    /// keep the contents of `so_far`.
    pub(super) fn move_into(&mut self, class: RegClass, so_far: Option<VReg>, part: u8, src: Src) -> VReg {
        let src = src.folded(Number::Int);
        let mut inst = Inst::new(match src.place {
            SourceLocation::Reg(_) => Opcode::MOV_R,
            SourceLocation::Imm(_) => Opcode::MOV_I,
            SourceLocation::Const(_) => Opcode::MOV_C,
        });
        self.place(&mut inst, SLOT_B, src);
        self.put(inst, class, so_far, part)
    }

    /// Finishes an instruction whose result is word `part` of a wide register of the class. The
    /// other words keep the contents of `so_far`.
    pub(super) fn put(&mut self, inst: Inst, class: RegClass, so_far: Option<VReg>, part: u8) -> VReg {
        let vreg = match so_far {
            None => self.define(RD, class),
            Some(old) => self.replace(RD, old, part),
        };
        self.push(inst);
        vreg
    }

    /// Builds a 64-bit or 128-bit register from words.
    pub(super) fn wide(&mut self, class: RegClass, words: &[Src]) -> Reg {
        self.joins_words = true;
        let mut so_far = None;
        for (part, &word) in words.iter().enumerate() {
            so_far = Some(self.move_into(class, so_far, part as u8, word));
        }
        so_far.map_or(Reg::ZERO, Reg::new)
    }
}
