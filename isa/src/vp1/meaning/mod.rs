//! What every VP1 bundle does, once, over any [`Domain`].
//!
//! A file a unit, and one for each of its larger subjects; this one puts the units of a bundle together. They all read the state
//! before any of them changes it. Only the scalar unit hands something to another one, the vector unit. Where two write to the same
//! register, or want to read different ones by the same port, one wins; a program that means something has no such bundle.

mod address;
mod branch;
pub(super) mod bytes;
mod leftover;
mod multiply;
mod s2v;
mod scalar;
mod transfer;
mod vector;

use arrayvec::ArrayVec;

use super::domain::{ByteKind, Domain, Effects, Index, Jump, Logic, Next, Reader, Shape, Unknown, Write};
use super::fields as f;
use super::{Bundle, Inst, Opcode, Unit};
use crate::row::{Kind, ROTATE, RegFile};
use crate::word::Field;
use address::Then;
use branch::When;
pub use bytes::components;
use multiply::{Inputs, Results};
use s2v::Handed;

/// What a bundle does. A unit without a word in it does nothing.
pub fn meaning<D: Domain>(bundle: &Bundle, domain: &mut D, read: &mut impl Reader<D>) -> Effects<D> {
    effects(bundle, domain, read)
        .unwrap_or_else(|unknown| Effects { writes: ArrayVec::new(), next: Next::Trap(unknown) })
}

fn effects<D: Domain>(bundle: &Bundle, d: &mut D, read: &mut impl Reader<D>) -> Result<Effects<D>, Unknown> {
    if let Some(word) = bundle.undefined() {
        return Err(Unknown::Instruction(word));
    }
    let mut run = |inst: Option<&Inst>, handed: Option<Handed<D::Word>>| match inst {
        Some(inst) => Context { bundle, inst, handed, d: &mut *d, read: &mut *read }.execute(),
        None => Ok(Outcome::default()),
    };
    let scalar = run(bundle.inst(Unit::Scalar), None)?;
    let vector = run(bundle.inst(Unit::Vector), scalar.handed)?;
    let address = run(bundle.inst(Unit::Address), None)?;
    let branch = run(bundle.inst(Unit::Branch), None)?;

    // The order settles who wins a register.
    let mut writes = ArrayVec::new();
    writes.extend(scalar.yielding);
    writes.extend(address.writes);
    writes.extend(scalar.writes);
    writes.extend(vector.writes);
    writes.extend(branch.writes);
    let flags = [scalar.flags, address.flags, branch.flags].into_iter().flatten();
    writes.extend(flags.map(|Flags { c: n, group, bits }| Write::C { n, group, bits }));
    Ok(Effects { writes, next: branch.next.unwrap_or(Next::Fall) })
}

/// What one unit does.
struct Outcome<D: Domain> {
    /// A write of the scalar unit that gives way to those of the address and vector units.
    yielding: Option<Write<D>>,
    /// The other writes. Those of the scalar unit prevail over those of the address unit.
    writes: ArrayVec<Write<D>, 3>,
    /// What becomes of a `$c`.
    flags: Option<Flags<D::Word>>,
    /// What the scalar unit hands to the vector unit.
    handed: Option<Handed<D::Word>>,
    /// Where the branch unit goes.
    next: Option<Next<D::Word>>,
}

impl<D: Domain> Default for Outcome<D> {
    fn default() -> Self {
        Self { yielding: None, writes: ArrayVec::new(), flags: None, handed: None, next: None }
    }
}

impl<D: Domain> Outcome<D> {
    fn writes(writes: impl IntoIterator<Item = Write<D>>) -> Self {
        Self { writes: writes.into_iter().collect(), ..Self::default() }
    }

    fn with_flags(self, flags: Option<Flags<D::Word>>) -> Self {
        Self { flags, ..self }
    }
}

/// A group of bits of a `$c` and what they become. The units have each their own.
#[derive(Clone, Copy)]
struct Flags<W> {
    /// The number of the `$c`.
    c: u8,
    /// The group.
    group: u32,
    /// Its bits, the others 0.
    bits: W,
}

/// A unit at work on its word.
struct Context<'a, D: Domain, R: Reader<D>> {
    bundle: &'a Bundle,
    inst: &'a Inst,
    /// What the scalar unit handed over, if this is the vector unit.
    handed: Option<Handed<D::Word>>,
    d: &'a mut D,
    read: &'a mut R,
}

/// A source that is a register in some forms of an instruction and a constant in others.
enum Source<W> {
    Register(RegFile, Index<W>),
    Constant(u32),
}

/// A truth value that may be known from the instruction.
enum Bit<W> {
    Known(bool),
    Word(W),
}

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Dispatches. Forms of one mnemonic differ only in what their last source is.
    #[rustfmt::skip]
    fn execute(&mut self) -> Result<Outcome<D>, Unknown> {
        use Opcode::*;
        Ok(match self.inst.opcode() {
            MUL_RR | MUL_RI => self.multiply_low(),
            MIN_RR | MIN_RI => self.arithmetic(scalar::min),
            MAX_RR | MAX_RI => self.arithmetic(scalar::max),
            ABS => self.arithmetic(scalar::abs),
            NEG => self.negate(),
            ADD_RR | ADD_RI => self.arithmetic(D::add),
            SUB_RR | SUB_RI => self.arithmetic(D::sub),
            SAR_RR | SAR_RI => self.arithmetic(|d, a, n| scalar::shift_right(d, D::sar, a, n)),
            SHR_RR | SHR_RI => self.arithmetic(|d, a, n| scalar::shift_right(d, D::shr, a, n)),
            BITOP_RR => self.bitwise(Logic::of_table(self.reg(f::BITOP))),
            AND_RI => self.bitwise(Logic::AND),
            XOR_RI => self.bitwise(Logic::XOR),
            OR_RI => self.bitwise(Logic::OR),
            MOV_I => self.load_constant(),
            SETHI => self.set_high(),
            BMIN_S_RR | BMIN_S_RI => self.bytewise(ByteKind::Min, true),
            BMIN_U_RR | BMIN_U_RI => self.bytewise(ByteKind::Min, false),
            BMAX_S_RR | BMAX_S_RI => self.bytewise(ByteKind::Max, true),
            BMAX_U_RR | BMAX_U_RI => self.bytewise(ByteKind::Max, false),
            BABS_S => self.bytewise(ByteKind::Abs, true),
            BABS_U => self.bytewise(ByteKind::Abs, false),
            BNEG_S => self.bytewise(ByteKind::Neg, true),
            BNEG_U => self.bytewise(ByteKind::Neg, false),
            BADD_S_RR | BADD_S_RI => self.bytewise(ByteKind::Add, true),
            BADD_U_RR | BADD_U_RI => self.bytewise(ByteKind::Add, false),
            BSUB_S_RR | BSUB_S_RI => self.bytewise(ByteKind::Sub, true),
            BSUB_U_RR | BSUB_U_RI => self.bytewise(ByteKind::Sub, false),
            BSHR_S_RR | BSHR_S_RI => self.bytewise(ByteKind::ShiftRight, true),
            BSHR_U_RR | BSHR_U_RI => self.bytewise(ByteKind::ShiftRight, false),
            BAND_RI => self.bytewise_logic(Logic::AND),
            BOR_RI => self.bytewise_logic(Logic::OR),
            BXOR_RI => self.bytewise_logic(Logic::XOR),
            BMUL_S_RR | BMUL_S_RI | BMULA_S_RR | BMULA_S_RI => self.byte_multiply(true),
            BMUL_U_RR | BMUL_U_RI | BMULA_U_RR | BMULA_U_RI => self.byte_multiply(false),
            VEC => self.hand_constants(),
            BVEC => self.hand_bytes(),
            BVECMAD => self.hand_positioned(),
            BVECMADSEL => self.hand_selected(),
            VECMS => self.hand_bits(),
            SNOP | S_NONE => Outcome::default(),
            S_CLEAR => self.clear_flags(),

            MOV_V_R | MOV_V2_R => self.move_out(RegFile::V)?,
            MOV_SR_R => self.move_out(RegFile::Sr)?,
            MOV_MI_R => self.move_out(RegFile::Mi)?,
            MOV_UC_R => self.move_out(RegFile::Uc)?,
            MOV_L_R => self.move_out(RegFile::L)?,
            MOV_A_R => self.move_out(RegFile::A)?,
            MOV_M_R => self.move_out(RegFile::M)?,
            MOV_D_R => self.move_out(RegFile::D)?,
            MOV_F_R => self.move_out(RegFile::F)?,
            MOV_X_R => self.move_out(RegFile::X)?,
            MOV_R_V => self.move_in(RegFile::V)?,
            MOV_R_SR => self.move_in(RegFile::Sr)?,
            MOV_R_MI => self.move_in(RegFile::Mi)?,
            MOV_R_UC => self.move_in(RegFile::Uc)?,
            MOV_R_L => self.move_in(RegFile::L)?,
            MOV_R_A => self.move_in(RegFile::A)?,
            MOV_R_C => self.move_in(RegFile::C)?,
            MOV_R_M => self.move_in(RegFile::M)?,
            MOV_R_D => self.move_in(RegFile::D)?,
            MOV_R_F => self.move_in(RegFile::F)?,
            MOV_R_X => self.move_in(RegFile::X)?,
            MOV_NONE_R | MOV_R_NONE => self.clear_flags(),

            VMIN_S_RR | VMIN_S_RI => self.components(ByteKind::Min, true),
            VMIN_U_RR | VMIN_U_RI => self.components(ByteKind::Min, false),
            VMAX_S_RR | VMAX_S_RI => self.components(ByteKind::Max, true),
            VMAX_U_RR | VMAX_U_RI => self.components(ByteKind::Max, false),
            VABS_S => self.components(ByteKind::Abs, true),
            VABS_U => self.components(ByteKind::Abs, false),
            VNEG_S => self.components(ByteKind::Neg, true),
            VADD_S_RR | VADD_S_RI => self.components(ByteKind::Add, true),
            VADD_U_RR | VADD_U_RI => self.components(ByteKind::Add, false),
            VSUB_S_RR => self.components(ByteKind::Sub, true),
            VSUB_U_RR | VSUB_U_RI => self.components(ByteKind::Sub, false),
            VSHR_S_RR | VSHR_S_RI => self.components(ByteKind::ShiftRight, true),
            VSHR_U_RR | VSHR_U_RI => self.components(ByteKind::ShiftRight, false),
            VADD9 => self.add_nine_bits(),
            VCLIP => self.clip(),
            VMINABS => self.min_abs(),
            VBITOP_RR => self.components_logic(Logic::of_table(self.reg(f::BITOP))),
            VAND_RI => self.components_logic(Logic::AND),
            VXOR_RI => self.components_logic(Logic::XOR),
            VOR_RI => self.components_logic(Logic::OR),
            VMOV_I => self.vector_constant(),
            MOV_V => self.vector_copy(),
            MOV_VC => self.vector_of_flags(),
            VSWZ => self.swizzle(),
            VCMPAD => self.compare_difference(),
            VMUL_S_RR | VMUL_S_RI => self.multiply(true, false, Results::Both),
            VMUL_U_RR | VMUL_U_RI => self.multiply(false, false, Results::Both),
            VMUL_S_RR_VA | VMUL_S_RI_VA => self.multiply(true, false, Results::Sum),
            VMUL_U_RI_VA => self.multiply(false, false, Results::Sum),
            VMAC_S_RR | VMAC_S_RI => self.multiply(true, true, Results::Both),
            VMAC_U_RR | VMAC_U_RI => self.multiply(false, true, Results::Both),
            VMAC_S_RR_VA | VMAC_S_RI_VA => self.multiply(true, true, Results::Sum),
            VMAC_U_RR_VA => self.multiply(false, true, Results::Sum),
            VMAD2_S => self.multiply_two(true, Inputs::PairAndBase, Results::Both),
            VMAD2_U => self.multiply_two(false, Inputs::PairAndBase, Results::Both),
            VMAD2_S_VA => self.multiply_two(true, Inputs::PairAndBase, Results::Sum),
            VMAC2_S => self.multiply_two(true, Inputs::Pair, Results::Both),
            VMAC2_U => self.multiply_two(false, Inputs::Pair, Results::Both),
            VMAC2_S_VA => self.multiply_two(true, Inputs::Pair, Results::Sum),
            VMAC2_S_RR => self.multiply_two(true, Inputs::Two, Results::Both),
            VMAC2_S_RR_VA => self.multiply_two(true, Inputs::Two, Results::Sum),
            VMAC2_U_RR_VA => self.multiply_two(false, Inputs::Two, Results::Sum),
            VLRP => self.interpolate(),
            VLRP2 => self.interpolate_two(),
            VLRP4A => self.interpolate_first(),
            VLRPF => self.interpolate_factors(),
            VLRP4B_U => self.interpolate_last(false),
            VLRP4B_S => self.interpolate_last(true),
            VNOP => Outcome::default(),

            LDAVH_R | LDAVH_I => self.load(Shape::Horizontal, Then::Step),
            LDAVV_R | LDAVV_I => self.load(Shape::Vertical, Then::Step),
            LDAS_R | LDAS_I => self.load_word(Then::Step),
            STAVH_R | STAVH_I => self.store(Shape::Horizontal, Then::Step),
            STAVV_R | STAVV_I => self.store(Shape::Vertical, Then::Step),
            STAS_R | STAS_I => self.store_word(Then::Step),
            LDVH => self.load(Shape::Horizontal, Then::Stay),
            LDVV => self.load(Shape::Vertical, Then::Stay),
            LDS => self.load_word(Then::Stay),
            STVH => self.store(Shape::Horizontal, Then::Stay),
            STVV => self.store(Shape::Vertical, Then::Stay),
            STS => self.store_word(Then::Stay),
            LDAXH => self.load_extra(Shape::Horizontal),
            LDAXV => self.load_extra(Shape::Vertical),
            LDR => self.gather(),
            STAR => self.store_banks(),
            AADD => self.step(),
            ADD_A => self.add_addresses(),
            BITOP_A => self.combine_addresses(),
            SETLO_A => self.set_half(0xffff),
            SETHI_A => self.set_half(0xffff_0000),
            XDLD | XDLD_I | XDST | XDST_I | XDBAR_R | XDBAR_I | XDWAIT_R | XDWAIT_I => return Err(Unknown::Dma),
            ANOP => Outcome::default(),

            BRA => self.jump(Jump::Branch, When::Set),
            BRA_NOT => self.jump(Jump::Branch, When::Clear),
            BRA_LOOP => self.counted_jump(Jump::Branch, When::Set),
            BRA_LOOP_NOT => self.counted_jump(Jump::Branch, When::Clear),
            CALL => self.jump(Jump::Call, When::Set),
            CALL_NOT => self.jump(Jump::Call, When::Clear),
            CALL_LOOP => self.counted_jump(Jump::Call, When::Set),
            CALL_LOOP_NOT => self.counted_jump(Jump::Call, When::Clear),
            RET => self.go(Next::Return),
            ABRA => self.absolute_jump(),
            MOV_L_I => self.load_counter(),
            EXIT => self.exit(),
            BNOP => Outcome::default(),
            B_NONE => self.go(Next::Fall),
        })
    }

    /// Another unit of the bundle.
    fn beside<'b>(&'b mut self, inst: &'b Inst) -> Context<'b, D, R> {
        Context { bundle: self.bundle, inst, handed: None, d: &mut *self.d, read: &mut *self.read }
    }

    /// The bits of a field. Fields that lie over each other all act, whichever of them the text names.
    fn get(&self, field: Field) -> u64 {
        self.inst.get(field)
    }

    fn signed(&self, field: Field) -> i32 {
        self.inst.get_signed(field) as i32
    }

    /// The bits of two fields as one number.
    fn split(&self, low: Field, high: Field) -> u64 {
        self.get(high) << low.width | self.get(low)
    }

    fn flag(&self, field: Field) -> bool {
        self.get(field) != 0
    }

    fn reg(&self, field: Field) -> u8 {
        self.get(field) as u8
    }

    fn r(&mut self, field: Field) -> D::Word {
        self.read.r(self.d, Index::Fixed(self.reg(field)))
    }

    fn v(&mut self, field: Field) -> D::Bytes {
        self.read.v(self.d, Index::Fixed(self.reg(field)))
    }

    /// A `$v`, its bytes widened.
    fn wide(&mut self, n: Index<D::Word>, signed: bool) -> D::Wide {
        let v = self.read.v(self.d, n);
        self.d.widen(signed, v)
    }

    fn a(&mut self, field: Field) -> D::Word {
        self.read.a(self.d, Index::Fixed(self.reg(field)))
    }

    /// The `$c` of the condition.
    fn c(&mut self) -> D::Word {
        self.read.c(self.d, self.reg(f::COND))
    }

    /// The `$c` bit of the condition. Bits 11, 12 and 14 are always 0, and 15 is always 1.
    fn condition(&mut self) -> Bit<D::Word> {
        match self.get(f::SLCT) as u32 {
            11 | 12 | 14 => Bit::Known(false),
            15 => Bit::Known(true),
            bit => {
                let c = self.c();
                Bit::Word(self.bits(c, bit, 1))
            }
        }
    }

    /// A truth value as a word.
    fn word_of_bit(&mut self, bit: Bit<D::Word>) -> D::Word {
        match bit {
            Bit::Known(bit) => self.d.word(bit.into()),
            Bit::Word(word) => word,
        }
    }

    /// `mask` within `word >> low`.
    fn bits(&mut self, word: D::Word, low: u32, mask: u32) -> D::Word {
        let (low, mask) = (self.d.word(low), self.d.word(mask));
        let word = self.d.shr(word, low);
        self.d.logic(Logic::AND, word, mask)
    }

    fn and(&mut self, a: D::Word, mask: u32) -> D::Word {
        let mask = self.d.word(mask);
        self.d.logic(Logic::AND, a, mask)
    }

    fn or(&mut self, a: D::Word, b: D::Word) -> D::Word {
        self.d.logic(Logic::OR, a, b)
    }

    /// Register `k` of the quad of the one in `field`, rotated by bits 4 and 5 of the condition's `$c`.
    fn quad(&mut self, field: Field, k: u8) -> Index<D::Word> {
        let n = self.reg(field);
        let (c, start) = (self.c(), self.d.word(((n + k) & 3).into()));
        let rotation = self.bits(c, 4, 3);
        let element = self.d.add(start, rotation);
        Index::InQuad { first: n & !3, element: self.and(element, 3) }
    }

    /// The register in `field`, its number xor the condition.
    fn toggled(&mut self, field: Field) -> Index<D::Word> {
        let n = self.reg(field);
        match self.condition() {
            Bit::Known(bit) => Index::Fixed(n ^ u8::from(bit)),
            Bit::Word(bit) => {
                let start = self.d.word((n & 3).into());
                Index::InQuad { first: n & !3, element: self.d.logic(Logic::XOR, start, bit) }
            }
        }
    }

    /// The register in `field` as the condition chooses it: bit b20 rotates the quad, any other is for the xor.
    fn selected(&mut self, field: Field) -> Index<D::Word> {
        if self.get(f::SLCT) == ROTATE { self.quad(field, 0) } else { self.toggled(field) }
    }

    /// The last source in the text.
    fn source(&mut self) -> Source<D::Word> {
        match self.inst.row().operands.iter().rev().find(|operand| !operand.silent).map(|operand| operand.kind) {
            Some(Kind::Reg { file, field, .. }) => Source::Register(file, Index::Fixed(self.reg(field))),
            Some(Kind::Selected { file, field, .. }) => Source::Register(file, self.selected(field)),
            Some(Kind::Number { field, signed: true, .. }) => Source::Constant(self.signed(field) as u32),
            Some(Kind::Number { field, shift, .. }) => Source::Constant((self.get(field) << shift) as u32),
            Some(Kind::SplitNumber { low, high, shift }) => Source::Constant((self.split(low, high) << shift) as u32),
            _ => Source::Constant(0),
        }
    }

    /// The last source as a word.
    fn source_word(&mut self) -> D::Word {
        match self.source() {
            Source::Register(RegFile::A, n) => self.read.a(self.d, n),
            Source::Register(_, n) => self.read.r(self.d, n),
            Source::Constant(value) => self.d.word(value),
        }
    }

    /// The last source as bytes: those of a vector, of a word in the lowest four, or a constant in all of them.
    fn source_bytes(&mut self) -> D::Bytes {
        match self.source() {
            Source::Register(RegFile::V, n) => self.read.v(self.d, n),
            Source::Register(_, n) => {
                let word = self.read.r(self.d, n);
                self.low_bytes(word)
            }
            Source::Constant(value) => self.d.bytes([value as u8; 16]),
        }
    }

    /// The number of the `$c` or `$vc` that flags go to, if any.
    fn flag_register(&self) -> Option<u8> {
        let n = self.reg(f::CDST);
        (n < 4).then_some(n)
    }

    /// Flags for `$c[CDST]`, if that names one.
    fn flags(&self, group: u32, bits: D::Word) -> Option<Flags<D::Word>> {
        self.flag_register().map(|c| Flags { c, group, bits })
    }

    /// The write of a `$r`, unless `$r31`.
    fn define(&self, field: Field, value: D::Word) -> Option<Write<D>> {
        let n = self.reg(field);
        (n != f::R_ZERO).then_some(Write::R(n, value))
    }
}
