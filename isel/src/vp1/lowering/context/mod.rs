//! Functions that the VP1 rules call: extractors, which match values, and constructors, which emit instructions.

pub(in crate::vp1) mod wide;

use halfbyte_ir::{
    AtomicAttr, Attr, Axis, FenceAttr, FloatCC, FloatFlags, Inst, IntCC, Kernel, LaneMap, MemAttr, Op, Type, Value,
};
use halfbyte_isa::stream::M_ITEM_COUNT;
use halfbyte_isa::vp1::fields::*;
use halfbyte_isa::vp1::{Inst as Word, Opcode};

use super::Lowering;
use crate::classes::type_class;
use crate::trace::{compiled_rules, trace_methods};
use crate::vcode::VReg;
use crate::vp1::demand::window;
use crate::vp1::identity;
use crate::vp1::operands::{Alu, Bytes, Factor, Flag, Half, Readout, Reg, Round, Sign, Src, VFlag};
use crate::vp1::range::range;
use wide::{Addend, Chain, Operand, Pair, Plan, bytes, wide_methods};

type Unit = ();
type FloatCond = (FloatCC, bool);
type AxisOf = Option<Axis>;
type Aligned = bool;
type Flags = VReg;
type VFlags = VReg;
/// Type that the rules use for the contents of `$va`. There is only one `$va`, so no register is
/// named and only the order of the instructions matters.
type Sum = ();

compiled_rules!("vp1", crate::rules::VP1_RULES);

impl Lowering<'_> {
    #[inline(always)]
    fn of_class(&mut self, class: &str, ty: Type) -> Option<Type> {
        (type_class(class, ty) == Some(true)).then_some(ty)
    }

    /// Returns a constant as the operand that a register with the constant would be.
    fn constant_src(&self, inst: Inst) -> Option<Src> {
        let kernel = self.kernel;
        let bits = kernel.const_bits(inst)?;
        let ty = kernel.insts[inst].ty;
        let mask_byte = |i: usize| if bits[0] >> i & 1 == 1 { 0xff } else { 0 };
        Some(match ty {
            Type::I8X16 => {
                let [low, high] = [bits[0].to_le_bytes(), bits[1].to_le_bytes()];
                Src::Bytes(std::array::from_fn(|i| if i < 8 { low[i] } else { high[i % 8] }))
            }
            Type::I1X16 => Src::Bytes(std::array::from_fn(mask_byte)),
            Type::I1X4 => Src::Word(u32::from_le_bytes(std::array::from_fn(mask_byte))),
            Type::I1 => Src::Word(if bits[0] & 1 == 1 { u32::MAX } else { 0 }),
            _ if ty.bits() <= 32 => Src::Word(bits[0] as u32),
            _ => return None,
        })
    }

    fn const_inst(&self, value: Value) -> Option<Inst> {
        let inst = self.kernel.def_inst(value)?;
        (self.kernel.insts[inst].op == Op::Const).then_some(inst)
    }

    /// Emits code that replaces `bytes` bytes of the word `old`, from bit number `place` on, by the
    /// low bytes of `data`.
    fn merged(&mut self, bytes: u32, old: Reg, place: Src, data: Reg) -> Reg {
        let down = rules::Context::alu(self, &Alu::Shr, Src::Reg(old), place);
        let other = rules::Context::bits(self, 0x6, Src::Reg(down), Src::Reg(data));
        let ones = Src::Word((1 << (8 * bytes)) - 1);
        let other = rules::Context::bits(self, 0x8, Src::Reg(other), ones);
        let up = rules::Context::neg(self, place);
        let other = rules::Context::alu(self, &Alu::Shr, Src::Reg(other), Src::Reg(up));
        rules::Context::bits(self, 0x6, Src::Reg(old), Src::Reg(other))
    }

    /// Returns a constant vector whose byte i is `index(i)`.
    fn indices(index: impl Fn(u8) -> u8) -> Src {
        Src::Bytes(std::array::from_fn(|i| index(i as u8)))
    }
}

macro_rules! classes {
    ($($class:ident)*) => {
        $(fn $class(&mut self, ty: Type) -> Option<Type> {
            self.of_class(stringify!($class), ty)
        })*
    };
}

impl rules::Context for Lowering<'_> {
    ir_methods!();
    wide_methods!();
    classes!(vector bytes_in_r four_in_r narrow int_scalar bits_in_r data_in_r word_data half_data held in_stream);

    trace_methods!();

    fn type_of(&mut self, value: Value) -> Type {
        self.kernel.ty(value)
    }

    fn reg(&mut self, value: Value) -> Reg {
        self.value_reg(value)
    }

    fn flag_inner(&mut self, value: Value) -> Flag {
        self.deeper(value, rules::constructor_flag, |lowering, value| {
            let reg = lowering.value_reg(value);
            let c = rules::Context::alu_flags(lowering, &Alu::Add, Src::Reg(reg), Src::Word(0));
            Lowering::sign_flag(c)
        })
    }

    fn vflag_inner(&mut self, value: Value) -> VFlag {
        self.deeper(value, rules::constructor_vflag, |lowering, value| {
            let reg = lowering.value_reg(value);
            let vc = rules::Context::vbits_flags(lowering, 0x8, Src::Reg(reg), Src::Bytes([0xff; 16]));
            VFlag { vc, zero: true, not: true }
        })
    }

    fn byte_sum_fits(&mut self, sign: &Sign, a: Value, b: Value) -> Option<Unit> {
        let [a, b] = [a, b].map(|value| bytes::range(self.kernel, value, *sign));
        bytes::fits(&(a.start() + b.start()..=a.end() + b.end()), *sign).then_some(())
    }

    fn byte_difference_fits(&mut self, sign: &Sign, a: Value, b: Value) -> Option<Unit> {
        let [a, b] = [a, b].map(|value| bytes::range(self.kernel, value, *sign));
        bytes::fits(&(a.start() - b.end()..=a.end() - b.start()), *sign).then_some(())
    }

    fn no_reg(&mut self) -> Reg {
        Reg::ZERO
    }

    fn from_reg(&mut self, reg: Reg) -> Src {
        Src::Reg(reg)
    }

    fn for_here(&mut self, value: Value) -> Option<Unit> {
        self.is_for_here(value).then_some(())
    }

    fn word_for_here(&mut self, value: Value, vector: Value, word: u8) -> Reg {
        self.word_here(value, vector, word)
    }

    fn in_register(&mut self, src: Src) -> Reg {
        self.reg_of(src)
    }

    fn word(&mut self, word: u32) -> Src {
        Src::Word(word)
    }

    fn splat(&mut self, byte: u8) -> Src {
        Src::Bytes([byte; 16])
    }

    fn lane_numbers(&mut self, map: LaneMap) -> Src {
        Self::indices(|i| map.get(i.into()) as u8)
    }

    fn const_src(&mut self, value: Value) -> Option<Src> {
        self.constant_src(self.const_inst(value)?)
    }

    fn const_truth(&mut self, value: Value) -> Option<bool> {
        let src = self.constant_src(self.const_inst(value)?)?;
        (self.kernel.ty(value) == Type::I1).then_some(src != Src::Word(0))
    }

    fn const_zero(&mut self, value: Value) -> Option<Unit> {
        let src = self.constant_src(self.const_inst(value)?)?;
        matches!(src, Src::Word(0) | Src::Bytes([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])).then_some(())
    }

    fn const_count(&mut self, value: Value) -> Option<u8> {
        let src = self.constant_src(self.const_inst(value)?)?;
        let count = match (self.kernel.ty(value).elem().bits(), src) {
            (8, _) => src.splat_byte().or(match src {
                // A scalar byte is the lowest byte of its word; the other bytes are unspecified.
                Src::Word(word) if self.kernel.ty(value).is_scalar() => Some(word as u8),
                _ => None,
            })?,
            (_, Src::Word(word)) => word as u8,
            _ => return None,
        };
        Some(count % self.kernel.ty(value).elem().bits() as u8)
    }

    fn const_shift(&mut self, value: Value) -> Option<u8> {
        rules::Context::const_count(self, value).filter(|&count| count > 0)
    }

    fn constant(&mut self, inst: Inst) -> Reg {
        match self.constant_src(inst) {
            Some(src) => self.reg_of(src),
            None => Reg::ZERO,
        }
    }

    // Constructors of vector instructions.

    fn vec(&mut self, op: &Bytes, sign: &Sign, a: Src, b: Src) -> Reg {
        if let Some(same) = identity::of_bytes(*op, *sign, a, b) {
            return self.reg_of(same);
        }
        let inst = self.vector_bytes(*op, *sign, a, b);
        self.out.vector(inst)
    }

    fn vec_flags(&mut self, op: &Bytes, sign: &Sign, a: Src, b: Src) -> VFlags {
        let inst = self.vector_bytes(*op, *sign, a, b);
        self.out.vector_flags(inst)
    }

    fn vbits(&mut self, table: u8, a: Src, b: Src) -> Reg {
        if let Some(same) = identity::of_table(table, a, b) {
            return self.reg_of(same);
        }
        let inst = self.vector_table(table, a, b);
        self.out.vector(inst)
    }

    fn vbits_flags(&mut self, table: u8, a: Src, b: Src) -> VFlags {
        let inst = self.vector_table(table, a, b);
        self.out.vector_flags(inst)
    }

    fn vneg(&mut self, a: Src) -> Reg {
        let inst = self.scalar_unary(Opcode::VNEG_S, SRC1, a);
        self.out.vector(inst)
    }

    fn sign_set(&mut self, flags: VFlags) -> VFlag {
        VFlag { vc: flags, zero: false, not: false }
    }

    fn zero_set(&mut self, flags: VFlags) -> VFlag {
        VFlag { vc: flags, zero: true, not: false }
    }

    fn vinvert(&mut self, flag: VFlag) -> VFlag {
        flag.inverted()
    }

    fn vselect(&mut self, flag: VFlag, a: Src, b: Src) -> Reg {
        self.chosen_bytes(flag, a, b)
    }

    fn flag_word(&mut self, flag: VFlag) -> Reg {
        let all = self.out.vector(Word::new(Opcode::MOV_VC));
        self.out.read(SRC1, all);
        self.out.read(VWORD, Reg::new(flag.vc));
        self.out.word(Word::new(Opcode::MOV_R_V))
    }

    fn flag_bits(&mut self, flag: VFlag) -> Src {
        Src::Word(if flag.zero { 0xffff_0000 } else { 0xffff })
    }

    fn is_inverted(&mut self, flag: VFlag) -> Option<Unit> {
        flag.not.then_some(())
    }

    fn vswz(&mut self, a: Src, b: Src, index: Src) -> Reg {
        self.three_vectors(Opcode::VSWZ, a, b, index)
    }

    fn vlrp(&mut self, a: Src, b: Src, weight: Src) -> Reg {
        let (pair, weight) = ([self.reg_of(a), self.reg_of(b)], self.reg_of(weight));
        self.out.read_tuple(SRC1, &pair);
        self.out.read(SRC2, weight);
        self.out.vector(Word::new(Opcode::VLRP).with(RND, 1))
    }

    fn signed(&mut self, src: Src) -> Factor {
        Factor { src, sign: Sign::S }
    }

    fn unsigned(&mut self, src: Src) -> Factor {
        Factor { src, sign: Sign::U }
    }

    fn readout(&mut self, sign: &Sign, half: &Half, round: &Round, shift: i8) -> Readout {
        Readout { sign: *sign, half: *half, round: *round, shift }
    }

    fn multiply(&mut self, a: Factor, b: Factor) -> Sum {
        self.product(false, a, b);
    }

    fn multiply_read(&mut self, readout: Readout, a: Factor, b: Factor) -> Reg {
        self.product_read(false, readout, a, b)
    }

    fn accumulate_read(&mut self, (): Sum, readout: Readout, a: Factor, b: Factor) -> Reg {
        self.product_read(true, readout, a, b)
    }

    fn read_again(&mut self, readout: Readout, reg: Reg) -> Reg {
        let any = Factor { src: Src::Reg(reg), sign: Sign::U };
        self.product_read(true, readout, any, Factor { src: Src::Bytes([0; 16]), sign: Sign::U })
    }

    fn low_shift(&mut self, count: u8) -> Option<i8> {
        matches!(count, 1 | 2).then(|| -2 - count as i8)
    }

    fn high_shift(&mut self, count: u8) -> i8 {
        6 - count as i8
    }

    // Constructors of scalar instructions.

    fn alu(&mut self, op: &Alu, a: Src, b: Src) -> Reg {
        if let Some(same) = identity::of_alu(*op, a, b) {
            return self.reg_of(same);
        }
        let inst = self.scalar_alu(*op, a, b);
        self.out.word(inst)
    }

    fn alu_flags(&mut self, op: &Alu, a: Src, b: Src) -> Flags {
        let inst = self.scalar_alu(*op, a, b);
        self.out.flags(inst)
    }

    fn neg(&mut self, a: Src) -> Reg {
        let inst = self.scalar_unary(Opcode::NEG, SRC1, a);
        self.out.word(inst)
    }

    fn abs(&mut self, a: Src) -> Reg {
        let inst = self.scalar_unary(Opcode::ABS, SRC1, a);
        self.out.word(inst)
    }

    fn bytes(&mut self, op: &Bytes, sign: &Sign, a: Src, b: Src) -> Reg {
        if let Some(same) = identity::of_bytes(*op, *sign, a, b) {
            return self.reg_of(same);
        }
        let inst = self.scalar_bytes(*op, *sign, a, b);
        self.out.word(inst)
    }

    fn bneg(&mut self, a: Src) -> Reg {
        let inst = self.scalar_unary(Opcode::BNEG_S, SRC1, a);
        self.out.word(inst)
    }

    fn bmul_high(&mut self, a: Src, b: Src) -> Reg {
        let (a, b) = (self.reg_of(a), self.reg_of(b));
        self.out.read(SRC1, a);
        self.out.read(SRC2, b);
        self.out.word(Word::new(Opcode::BMUL_U_RR))
    }

    fn bits(&mut self, table: u8, a: Src, b: Src) -> Reg {
        if let Some(same) = identity::of_table(table, a, b) {
            return self.reg_of(same);
        }
        let inst = self.scalar_table_value(table, a, b);
        self.out.word(inst)
    }

    fn bits_flags(&mut self, table: u8, a: Src, b: Src) -> Flags {
        let inst = self.scalar_table(table, a, b);
        self.out.flags(inst)
    }

    fn negative(&mut self, flags: Flags) -> Flag {
        Lowering::sign_flag(flags)
    }

    fn zero(&mut self, flags: Flags) -> Flag {
        Lowering::zero_flag(flags)
    }

    fn known(&mut self, value: bool) -> Flag {
        Flag::Known(value)
    }

    fn invert(&mut self, flag: Flag) -> Flag {
        flag.inverted()
    }

    fn choose(&mut self, flag: Flag, a: Src, b: Src) -> Reg {
        self.chosen(flag, a, b)
    }

    fn extend(&mut self, sign: &Sign, ty: Type, src: Src) -> Src {
        let unused = 32u32.saturating_sub(ty.bits());
        match (src, unused, sign) {
            (_, 0, _) => src,
            (Src::Word(word), _, Sign::U) => Src::Word(word << unused >> unused),
            (Src::Word(word), _, Sign::S) => Src::Word(((word << unused) as i32 >> unused) as u32),
            (_, _, Sign::U) => Src::Reg(rules::Context::bits(self, 0x8, src, Src::Word(u32::MAX >> unused))),
            // A multiplication by 1 sign-extends the low 16 bits.
            (_, 16, Sign::S) => Src::Reg(rules::Context::alu(self, &Alu::Mul, src, Src::Word(1))),
            (_, _, Sign::S) => {
                let up = rules::Context::alu(self, &Alu::Shr, src, Src::Word(unused.wrapping_neg()));
                Src::Reg(rules::Context::alu(self, &Alu::Sar, Src::Reg(up), Src::Word(unused)))
            }
        }
    }

    fn sign_of(&mut self, cc: &IntCC) -> Sign {
        if rules::Context::unsigned_order(self, cc).is_some() { Sign::U } else { Sign::S }
    }

    fn less(&mut self, cc: &IntCC) -> Option<Unit> {
        matches!(cc, IntCC::LtS | IntCC::LtU).then_some(())
    }

    fn not_less(&mut self, cc: &IntCC) -> Option<Unit> {
        matches!(cc, IntCC::GeS | IntCC::GeU).then_some(())
    }

    fn greater(&mut self, cc: &IntCC) -> Option<Unit> {
        matches!(cc, IntCC::GtS | IntCC::GtU).then_some(())
    }

    fn unsigned_order(&mut self, cc: &IntCC) -> Option<Unit> {
        matches!(cc, IntCC::LtU | IntCC::LeU | IntCC::GtU | IntCC::GeU).then_some(())
    }

    fn condition(&mut self, value: Value) -> Option<Unit> {
        let mut inst = self.kernel.def_inst(value).filter(|_| self.kernel.ty(value) == Type::I1)?;
        for _ in 0..MAX_DEPTH {
            match (self.kernel.insts[inst].op, self.kernel.args(inst)) {
                (Op::Not, &[inverted]) => inst = self.kernel.def_inst(inverted)?,
                (op, _) => return matches!(op, Op::Icmp | Op::Any | Op::All | Op::Const).then_some(()),
            }
        }
        None
    }

    fn fits_16(&mut self, value: Value) -> Option<Unit> {
        let values = range(self.kernel, value);
        (*values.start() >= i64::from(i16::MIN) && *values.end() <= i64::from(i16::MAX)).then_some(())
    }

    fn difference_fits(&mut self, cc: &IntCC, a: Value, b: Value) -> Option<Unit> {
        let (a, b) = (range(self.kernel, a), range(self.kernel, b));
        // A range with negative numbers is unknown as a range of unsigned numbers.
        let unsigned = rules::Context::unsigned_order(self, cc).is_some();
        if unsigned && (*a.start() < 0 || *b.start() < 0) {
            return None;
        }
        let [least, most] = [a.start() - b.end(), a.end() - b.start()];
        let [reverse_least, reverse_most] = [-most, -least];
        let fits = |n: i64| i32::try_from(n).is_ok();
        [least, most, reverse_least, reverse_most].into_iter().all(fits).then_some(())
    }

    fn left_count(&mut self, count: u8) -> u8 {
        count.wrapping_neg() & 15
    }

    fn left(&mut self, count: u8) -> Src {
        Src::Word(u32::from(count).wrapping_neg())
    }

    fn right(&mut self, count: u8) -> Src {
        Src::Word(count.into())
    }

    fn byte_of(&mut self, ty: Type, byte: u8) -> Src {
        if ty == Type::I8X16 { Src::Bytes([byte; 16]) } else { Src::Word(u32::from_le_bytes([byte; 4])) }
    }

    fn count_mask(&mut self, ty: Type) -> Src {
        let mask = ty.elem().bits() as u8 - 1;
        if ty.is_scalar() { Src::Word(mask.into()) } else { rules::Context::byte_of(self, ty, mask) }
    }

    fn lane_bits(&mut self, ty: Type) -> u8 {
        ty.elem().bits() as u8
    }

    fn unused_bits(&mut self, ty: Type) -> u8 {
        32u8.saturating_sub(ty.bits() as u8)
    }

    // Constructors of byte and word moves.

    fn word_of(&mut self, vector: Reg, word: u8) -> Reg {
        self.word_from(vector, word)
    }

    fn of_words(&mut self, a: Src, b: Src, c: Src, d: Src) -> Reg {
        self.words_into(None, &[(0, a), (1, b), (2, c), (3, d)])
    }

    fn of_word(&mut self, a: Src) -> Reg {
        self.words_into(None, &[(0, a)])
    }

    fn of_two_words(&mut self, a: Src, b: Src) -> Reg {
        self.words_into(None, &[(0, a), (1, b)])
    }

    fn with_word(&mut self, vector: Reg, word: u8, value: Reg) -> Reg {
        self.words_into(vector.vreg, &[(word, Src::Reg(value))])
    }

    fn lane_word(&mut self, bits: u8, lane: u8) -> u8 {
        (u32::from(bits) * u32::from(lane) / 32) as u8
    }

    fn lane_down(&mut self, bits: u8, lane: u8) -> Src {
        Src::Word(u32::from(bits) * u32::from(lane) % 32)
    }

    fn lane_up(&mut self, bits: u8, lane: u8) -> Src {
        Src::Word((u32::from(bits) * u32::from(lane) % 32).wrapping_neg())
    }

    fn lane_ones(&mut self, bits: u8, lane: u8) -> Src {
        Src::Word((((1u64 << bits) - 1) << (u32::from(bits) * u32::from(lane) % 32)) as u32)
    }

    fn mask_up(&mut self, lane: u8) -> Src {
        Src::Word((24 - 8 * u32::from(lane % 4)).wrapping_neg())
    }

    fn rotation(&mut self, by: u8) -> Src {
        Self::indices(|i| (i + by) & 15)
    }

    fn halves_from(&mut self, first: u8) -> Src {
        Self::indices(|i| if i < 8 { first + i } else { 16 + first + i - 8 })
    }

    fn every_fourth(&mut self) -> Src {
        Self::indices(|i| 4 * (i & 3))
    }

    // Extractors and constructors of stream accesses.

    fn stream(&mut self, base: Value) -> Option<u32> {
        self.kernel.stream(base).map(|number| number as u32)
    }

    fn load(&mut self, ty: Type, stream: u32) -> Reg {
        let bytes = ty.bytes();
        let step = if self.streams.has_fixed_cursor(stream) { 0 } else { bytes };
        match bytes {
            16 => self.load_vector(stream, step),
            4 => self.load_word(stream, step),
            // The element of a uniform stream begins at bit 0 of its word. The upper bits of a
            // scalar's register are unspecified, so the whole word is loaded.
            _ if step == 0 => self.load_word(stream, 0),
            _ => {
                let place = self.place_in_word(stream);
                let word = self.load_word(stream, step);
                rules::Context::alu(self, &Alu::Shr, Src::Reg(word), place)
            }
        }
    }

    fn store(&mut self, ty: Type, stream: u32, value: Value) -> Reg {
        let data = rules::constructor_src(self, value);
        let data = self.reg_of(data);
        let bytes = ty.bytes();
        let step = if self.streams.has_fixed_cursor(stream) { 0 } else { bytes };
        match bytes {
            16 => self.store_at(Opcode::STAVH_I, data, stream, step),
            4 => self.store_at(Opcode::STAS_I, data, stream, step),
            _ => {
                let place = self.place_in_word(stream);
                let old = self.load_word(stream, 0);
                let merged = self.merged(bytes, old, place, data);
                self.store_at(Opcode::STAS_I, merged, stream, step);
            }
        }
        Reg::ZERO
    }

    fn window(&mut self, base: Value) -> Option<u32> {
        window(self.kernel, base)
    }

    fn shifted(&mut self, mem: MemAttr) -> Option<MemAttr> {
        (mem.scale.is_power_of_two() && !mem.wide).then_some(mem)
    }

    fn load_there(&mut self, ty: Type, window: u32, mem: MemAttr, index: Src) -> Reg {
        let address = self.go_to_window(window, mem, index, false);
        match ty.bytes() {
            16 => Lowering::load_there(self, Opcode::LDVH, window),
            4 => Lowering::load_there(self, Opcode::LDS, window),
            _ => {
                let place = self.bits_in_word(address);
                let word = Lowering::load_there(self, Opcode::LDS, window);
                rules::Context::alu(self, &Alu::Shr, Src::Reg(word), place)
            }
        }
    }

    fn store_there(&mut self, ty: Type, window: u32, mem: MemAttr, index: Src, value: Value) -> Reg {
        let data = rules::constructor_src(self, value);
        let data = self.reg_of(data);
        let address = self.go_to_window(window, mem, index, true);
        match ty.bytes() {
            16 => Lowering::store_there(self, Opcode::STVH, data, window),
            4 => Lowering::store_there(self, Opcode::STS, data, window),
            bytes => {
                let place = self.bits_in_word(address);
                let old = Lowering::load_there(self, Opcode::LDS, window);
                let merged = self.merged(bytes, old, place, data);
                Lowering::store_there(self, Opcode::STS, merged, window);
            }
        }
        Reg::ZERO
    }

    fn along_x(&mut self, axis: AxisOf) -> Option<Unit> {
        matches!(axis, None | Some(Axis::X)).then_some(())
    }

    fn item_number(&mut self) -> Reg {
        Reg::new(self.group_number())
    }

    fn item_count(&mut self) -> Reg {
        self.out.method_register(M_ITEM_COUNT)
    }
}

/// Selects an instruction by the rules; returns `None` if no rule matches.
pub(super) fn lower(lowering: &mut Lowering<'_>, inst: Inst) -> Option<Reg> {
    rules::constructor_lower(lowering, inst)
}

/// Returns an `i1` value as a condition.
pub(super) fn flag(lowering: &mut Lowering<'_>, value: Value) -> Flag {
    rules::constructor_flag(lowering, value)
}
