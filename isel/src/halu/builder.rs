//! Instructions with virtual registers: how sources find their places, and how results get registers.

use cranelift_entity::packed_option::PackedOption;
use halfbyte_ir::Rounding;
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isa::object::Loc;
use halfbyte_isa::row::Modifier;
use halfbyte_isa::word::Field;

use super::machine::{Halu, RegClass};
use super::operands::{Half, Number, Pred, Reg, Source, Src};
use crate::driver::Drafted;
use crate::vcode::{Access, Operand, VInst, VReg};

/// The value of a modifier's spelling; see [`choice!`].
pub(crate) const fn value_of(modifier: &Modifier, text: &str) -> u64 {
    match modifier.value(text) {
        Some(value) => value,
        None => {
            debug_assert!(false, "the modifier has no such choice");
            modifier.initial()
        }
    }
}

/// The value of a modifier's spelling, looked up when this is compiled.
macro_rules! choice {
    ($modifier:expr, $text:literal) => {
        const { $crate::halu::builder::value_of(&$modifier, $text) }
    };
}
pub(crate) use choice;

/// The value of a rounding mode.
pub(crate) fn rounding(mode: Rounding) -> u64 {
    match mode {
        Rounding::Rn => choice!(M_RND, "RN"),
        Rounding::Rz => choice!(M_RND, "RZ"),
        Rounding::Rp => choice!(M_RND, "RP"),
        Rounding::Rm => choice!(M_RND, "RM"),
    }
}

/// The fields of a source.
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

/// The forms of an instruction of two sources: the second a register, an immediate, constant memory.
#[derive(Clone, Copy)]
pub(crate) struct TwoForms {
    pub rr: Opcode,
    pub ri: Opcode,
    pub rc: Opcode,
}

/// The forms of an instruction of three sources, of which one may be no register.
#[derive(Clone, Copy)]
pub(crate) struct ThreeForms {
    pub rrr: Opcode,
    pub rir: Opcode,
    pub rcr: Opcode,
    pub rri: Option<Opcode>,
    pub rrc: Option<Opcode>,
}

/// Collects instructions on virtual registers.
pub(crate) struct Builder {
    pub vregs: Vec<RegClass>,
    pub operands: Vec<Operand<Halu>>,
    pub insts: Vec<Drafted<Halu>>,
    /// What the next instruction makes, where that is an access that has taken in others.
    pub access: PackedOption<halfbyte_ir::Inst>,
    pub loc: Loc,
    /// Whether wide registers are put together of words.
    pub joins_words: bool,
    start: u32,
}

impl Builder {
    /// One that has nothing, in the memory of these lists.
    pub fn new(vregs: Vec<RegClass>, operands: Vec<Operand<Halu>>, insts: Vec<Drafted<Halu>>) -> Builder {
        Builder { vregs, operands, insts, access: None.into(), loc: Loc::default(), joins_words: false, start: 0 }
    }

    pub fn vreg(&mut self, class: RegClass) -> VReg {
        let vreg = VReg(self.vregs.len() as u32);
        self.vregs.push(class);
        vreg
    }

    /// Names a register operand of the instruction being built. RZ and PT are in the word already.
    fn operand(&mut self, field: Field, reg: Reg, access: Access) {
        if let Some(vreg) = reg.vreg {
            self.operands.push(Operand { place: field, reg: vreg, part: reg.part, access });
        }
    }

    pub fn read(&mut self, field: Field, reg: Reg) {
        self.operand(field, reg, Access::Use);
    }

    pub fn read_pred(&mut self, inst: &mut Inst, field: Field, not: Field, pred: Pred) {
        inst.set(field, u64::from(PT));
        inst.set(not, pred.not.into());
        if let Some(vreg) = pred.vreg {
            self.read(field, Reg::new(vreg));
        }
    }

    /// Writes the whole of a new register, or the first word of a wide one.
    pub fn define(&mut self, field: Field, class: RegClass) -> VReg {
        let vreg = self.vreg(class);
        self.operand(field, Reg::new(vreg), Access::Def);
        vreg
    }

    /// Writes word `part` of what is otherwise `old`.
    pub fn replace(&mut self, field: Field, old: VReg, part: u8) -> VReg {
        let class = self.vregs.get(old.0 as usize).copied().unwrap_or(RegClass::Word);
        let vreg = self.vreg(class);
        self.operand(field, Reg { vreg: Some(vreg), part }, Access::Replace(old));
        vreg
    }

    /// Ends the instruction: its operands are those named since the last one ended.
    pub fn push(&mut self, inst: Inst) {
        let end = self.operands.len() as u32;
        let inst = VInst { inst, operands: self.start..end, loc: self.loc };
        self.insts.push(Drafted { inst, access: self.access.take().into() });
        self.start = end;
    }

    /// Ends an instruction that a terminator holds, not a block.
    pub fn branch(&mut self, inst: Inst) -> VInst<Halu> {
        let end = self.operands.len() as u32;
        let branch = VInst { inst, operands: self.start..end, loc: self.loc };
        self.start = end;
        branch
    }

    /// The instruction with its result in a new word.
    pub fn word(&mut self, inst: Inst) -> Reg {
        let vreg = self.define(RD, RegClass::Word);
        self.push(inst);
        Reg::new(vreg)
    }

    /// The instruction with its result in a new predicate.
    pub fn pred(&mut self, inst: Inst, field: Field) -> Pred {
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
            // The spellings have the same values wherever they stand.
            let low = src.half == Half::Low;
            let half = if low { choice!(half_select(A.half), "H0_H0") } else { choice!(half_select(A.half), "H1_H1") };
            inst.set(fields.half, half);
        }
        match src.place {
            Source::Reg(reg) => self.read(fields.reg, reg),
            Source::Imm(bits) => inst.set(IMM32, bits.into()),
            Source::Const(offset) => inst.set(CMEM_OFFSET, offset.into()),
        }
    }

    /// The source in a register, its modifiers kept.
    pub fn in_reg(&mut self, src: Src) -> Src {
        let reg = match src.place {
            Source::Reg(_) => return src,
            Source::Imm(bits) => self.word(Inst::new(Opcode::MOV_I).with(IMM32, bits.into())),
            Source::Const(offset) => self.word(Inst::new(Opcode::MOV_C).with(CMEM_OFFSET, offset.into())),
        };
        Src { place: Source::Reg(reg), ..src }
    }

    /// A plain source as a register.
    pub fn reg(&mut self, src: Src) -> Reg {
        match self.in_reg(src).place {
            Source::Reg(reg) => reg,
            _ => Reg::ZERO,
        }
    }

    /// An instruction of one source, in the slot; it must be a register.
    pub fn one(&mut self, opcode: Opcode, number: Number, a: Src) -> Inst {
        let a = self.in_reg(a.folded(number));
        let mut inst = Inst::new(opcode);
        self.place(&mut inst, SLOT_B, a);
        inst
    }

    /// The same of one half of a register.
    pub fn one_half(&mut self, opcode: Opcode, a: Src) -> Inst {
        let mut inst = Inst::new(opcode);
        if a.half == Half::High {
            inst.set(LANE, choice!(M_LANE, "H1"));
        }
        let a = self.in_reg(Src { half: Half::Both, ..a });
        self.place(&mut inst, SLOT_B, a);
        inst
    }

    /// An instruction of two sources; the first must be a register.
    pub fn two(&mut self, forms: TwoForms, number: Number, a: Src, b: Src) -> Inst {
        let a = self.in_reg(a.folded(number));
        let b = b.folded(number);
        let mut inst = Inst::new(match b.place {
            Source::Reg(_) => forms.rr,
            Source::Imm(_) => forms.ri,
            Source::Const(_) => forms.rc,
        });
        self.place(&mut inst, A, a);
        self.place(&mut inst, SLOT_B, b);
        inst
    }

    /// The same where the sources may change places, so that the register comes first.
    pub fn two_commuting(&mut self, forms: TwoForms, number: Number, a: Src, b: Src) -> Inst {
        if b.is_reg() && !a.is_reg() { self.two(forms, number, b, a) } else { self.two(forms, number, a, b) }
    }

    /// An instruction of three sources, of which the first two may change places.
    pub fn three(&mut self, forms: ThreeForms, number: Number, a: Src, b: Src, c: Src) -> Inst {
        let (a, b) = if b.is_reg() && !a.is_reg() { (b, a) } else { (a, b) };
        self.three_in_order(forms, number, a, b, c)
    }

    /// An instruction of three sources.
    pub fn three_in_order(&mut self, forms: ThreeForms, number: Number, a: Src, b: Src, c: Src) -> Inst {
        let a = self.in_reg(a.folded(number));
        let b = b.folded(number);
        let mut c = c.folded(number);
        let third = match c.place {
            Source::Reg(_) => None,
            _ if !b.is_reg() => None,
            Source::Imm(_) => forms.rri,
            Source::Const(_) => forms.rrc,
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
                    Source::Reg(_) => forms.rrr,
                    Source::Imm(_) => forms.rir,
                    Source::Const(_) => forms.rcr,
                });
                self.place(&mut inst, A, a);
                self.place(&mut inst, SLOT_B, b);
                self.place(&mut inst, AFTER_C, c);
            }
        }
        inst
    }

    /// A source moved into word `part` of a register of the class, on top of what its words hold so far.
    pub fn move_into(&mut self, class: RegClass, so_far: Option<VReg>, part: u8, src: Src) -> VReg {
        let src = src.folded(Number::Int);
        let mut inst = Inst::new(match src.place {
            Source::Reg(_) => Opcode::MOV_R,
            Source::Imm(_) => Opcode::MOV_I,
            Source::Const(_) => Opcode::MOV_C,
        });
        self.place(&mut inst, SLOT_B, src);
        self.put(inst, class, so_far, part)
    }

    /// The instruction with its result in word `part` of a register of the class.
    pub fn put(&mut self, inst: Inst, class: RegClass, so_far: Option<VReg>, part: u8) -> VReg {
        let vreg = match so_far {
            None => self.define(RD, class),
            Some(old) => self.replace(RD, old, part),
        };
        self.push(inst);
        vreg
    }

    /// A wide register made of words.
    pub fn wide(&mut self, class: RegClass, words: &[Src]) -> Reg {
        self.joins_words = true;
        let mut so_far = None;
        for (part, &word) in words.iter().enumerate() {
            so_far = Some(self.move_into(class, so_far, part as u8, word));
        }
        so_far.map_or(Reg::ZERO, Reg::new)
    }
}
