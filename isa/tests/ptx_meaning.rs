//! Tests of the semantics of PTX instructions, by examples and against independent exact arithmetic.

use std::collections::HashMap;

use crate::random::{FLOATS, INTEGERS, Random};
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::ptx::meaning::{Reader, Write, guard, meaning};
use halfbyte_isa::ptx::module::Registers;
use halfbyte_isa::ptx::text::read;
use halfbyte_isa::ptx::types::Special;
use halfbyte_isa::ptx::{FrameVar, Reg, Var};
use rustc_apfloat::ieee::{BFloat, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round, StatusAnd};

/// A reader that holds the values of the registers.
struct Machine<'a> {
    registers: &'a Registers,
    held: HashMap<Reg, u64>,
}

impl Reader<Concrete> for Machine<'_> {
    fn register(&mut self, _: &mut Concrete, reg: Reg) -> [u32; 2] {
        let held = self.held[&reg];
        [held as u32, (held >> 32) as u32]
    }

    fn predicate(&mut self, _: &mut Concrete, reg: Reg) -> bool {
        self.held[&reg] != 0
    }

    fn special(&mut self, _: &mut Concrete, special: Special) -> [u32; 2] {
        [7 + special.axis as u32, 0]
    }

    fn variable(&mut self, _: &mut Concrete, var: Var) -> [u32; 2] {
        [u32::MAX - var.number, 0x700]
    }

    fn is_constant(&mut self, _: &mut Concrete, address: [u32; 2]) -> bool {
        address[1] == 0x700
    }

    fn frame(&mut self, _: &mut Concrete, var: FrameVar) -> [u32; 2] {
        [0x1000 * (var.number + 1), 0]
    }

    fn parameter(&mut self, _: &mut Concrete, number: u32) -> [u32; 2] {
        [8 * number, 0]
    }
}

/// A short sequence of PTX instructions with its registers, prepared for execution.
pub struct Op {
    entry: halfbyte_isa::ptx::module::Entry,
}

impl Op {
    /// Parses an instruction sequence. `declared` declares its registers, as in `b32 %a; pred %p;`.
    pub fn new(declared: &str, inst: &str) -> Op {
        let regs: String =
            declared.split(';').filter(|d| !d.trim().is_empty()).map(|d| format!(".reg .{};", d.trim())).collect();
        let text = format!(".version 9.2\n.target sm_120f\n.address_size 64\n.entry k()\n{{\n{regs}\n{inst};\n}}\n");
        let read = read(&text).unwrap_or_else(|errors| panic!("{inst}: {errors:?}"));
        Op { entry: read.module.entries.into_iter().next().unwrap() }
    }

    fn reg(&self, name: &str) -> Reg {
        self.entry.body.registers.families().iter().find(|f| f.name == name).unwrap_or_else(|| panic!("{name}")).first
    }

    /// Executes the instructions and returns a function from register names to final values.
    /// `before` holds initial values; the registers without one are zero.
    fn run(&self, before: &[(&str, u64)]) -> impl Fn(&str) -> u64 + use<> {
        let registers = &self.entry.body.registers;
        let mut held: HashMap<Reg, u64> = (0..registers.count()).map(|n| (Reg(n), 0)).collect();
        for &(name, value) in before {
            let reg = self.reg(name);
            held.insert(reg, registers.ty(reg).unwrap().truncate(value));
        }
        let mut machine = Machine { registers, held };
        machine.held.insert(Reg::CARRY, 0);
        for inst in &self.entry.body.insts {
            if guard(inst, &mut Concrete, &mut machine) == Some(false) {
                continue;
            }
            for write in meaning(inst, &mut Concrete, &mut machine).writes {
                match write {
                    Write::Register(reg, [low, high]) => {
                        let ty = machine.registers.ty(reg).unwrap();
                        machine.held.insert(reg, ty.truncate(u64::from(high) << 32 | u64::from(low)));
                    }
                    Write::Predicate(reg, p) => {
                        machine.held.insert(reg, p.into());
                    }
                }
            }
        }
        let names: HashMap<String, u64> =
            registers.families().iter().map(|f| (f.name.clone(), machine.held[&f.first])).collect();
        move |name| names[name]
    }

    /// Executes the instructions with the initial values `before`, and returns the register `%d`.
    pub fn d(&self, before: &[(&str, u64)]) -> u64 {
        self.run(before)("%d")
    }
}

/// Parses an instruction on the registers `%d`, `%a`, `%b` and `%c`, all of the type `ty`.
pub fn same(ty: &str, inst: &str) -> Op {
    let declared: Vec<String> = ["%d", "%a", "%b", "%c"].map(|name| format!("{ty} {name}")).into();
    Op::new(&declared.join(";"), inst)
}

#[test]
fn packs_and_unpacks_128_bit_values() {
    let op = |inst: &str| Op::new("b128 %w; b64 %d; b64 %e; b64 %a; b64 %b; b32 %x; b32 %y; b32 %z; b32 %t", inst);
    let by_halves =
        op("mov.b128 %w, {%b, %a};\nmov.b128 {%d, %e}, %w").run(&[("%a", 1 << 40 | 2), ("%b", u64::MAX - 2)]);
    assert_eq!((by_halves("%d"), by_halves("%e")), (u64::MAX - 2, 1 << 40 | 2));
    let words = op("mov.b128 %w, {%x, %y, %z, %t};\nmov.b128 {_, %d}, %w");
    let words = words.run(&[("%x", 1), ("%y", 2), ("%z", 3), ("%t", 4)]);
    assert_eq!((words("%w"), words("%d")), (2 << 32 | 1, 4 << 32 | 3));
    let swapped = op("mov.b128 %w, {%a, %b};\nmov.b128 {%t, %z, %y, %x}, %w");
    let swapped = swapped.run(&[("%a", 2 << 32 | 1), ("%b", 4 << 32 | 3)]);
    assert_eq!(["%x", "%y", "%z", "%t"].map(swapped), [4, 3, 2, 1]);
    let copied =
        op(".reg .b128 %v; mov.b128 %v, {%a, %b}; mov.b128 %w, %v; mov.b128 {%d, %e}, %w").run(&[("%a", 5), ("%b", 6)]);
    assert_eq!((copied("%d"), copied("%e")), (5, 6));
}

#[test]
fn examples() {
    // Each case is the type of all registers, the instruction, the values of a, b and c, and the expected value of d.
    let cases: &[(&str, &str, [u64; 3], u64)] = &[
        ("b16", "add.u16 %d, %a, %b", [0xFFFF, 2, 0], 1),
        // In a register wider than the result type, the result for NaN is sign-extended, too.
        ("b64", "cvt.rzi.s32.f64 %d, %a", [u64::MAX, 0, 0], 0xFFFF_FFFF_8000_0000),
        ("b64", "cvt.rni.s16.f64 %d, %a", [u64::MAX, 0, 0], 0xFFFF_FFFF_FFFF_8000),
        ("b64", "cvt.rzi.u32.f64 %d, %a", [u64::MAX, 0, 0], 0x8000_0000),
        ("b64", "add.s64 %d, %a, -1", [1 << 32, 0, 0], 0xFFFF_FFFF),
        ("b64", "sub.u64 %d, %a, %b", [1 << 32, 1, 0], 0xFFFF_FFFF),
        ("b32", "add.sat.s32 %d, %a, %b", [0x7FFF_FFFF, 1, 0], 0x7FFF_FFFF),
        ("b32", "sub.sat.s32 %d, %a, %b", [0x8000_0000, 1, 0], 0x8000_0000),
        ("b32", "sub.sat.s32 %d, %a, %b", [5, 7, 0], 0xFFFF_FFFE),
        ("b16", "mul.hi.s16 %d, %a, %b", [0xFFFF, 2, 0], 0xFFFF),
        ("b16", "mul.hi.u16 %d, %a, %b", [0xFFFF, 2, 0], 1),
        ("b32", "mul.lo.s32 %d, %a, -3", [5, 0, 0], 0xFFFF_FFF1),
        ("b32", "mad.hi.u32 %d, %a, %b, %c", [0x8000_0000, 6, 10], 13),
        ("b16", "mad.lo.s16 %d, %a, %b, %c", [0x100, 0x100, 3], 3),
        ("b16", "min.s16 %d, %a, %b", [0x8000, 1, 0], 0x8000),
        ("b16", "min.u16 %d, %a, %b", [0x8000, 1, 0], 1),
        ("b64", "max.s64 %d, %a, %b", [u64::MAX, 1, 0], 1),
        ("b16", "abs.s16 %d, %a", [0x8000, 0, 0], 0x8000),
        ("b32", "abs.s32 %d, %a", [0xFFFF_FFFF, 0, 0], 1),
        ("b64", "neg.s64 %d, %a", [1, 0, 0], u64::MAX),
        ("b32", "dp4a.u32.s32 %d, %a, %b, %c", [0x0201_00FF, 0x0102_7FFF, 10], -241i32 as u32 as u64),
        ("b32", "dp2a.lo.s32.u32 %d, %a, %b, %c", [0xFFFF_0002, 0x0000_FF03, 1], (1 + 6 - 255i64) as u32 as u64),
        ("b32", "dp2a.hi.u32.u32 %d, %a, %b, %c", [0x0001_0002, 0x0503_0000, 0], 11),
        ("b32", "add.u16x2 %d, %a, %b", [0xFFFF_0001, 0x0001_0002, 0], 3),
        ("b32", "min.relu.s16x2 %d, %a, %b", [0x8000_0005, 0x0001_0007, 0], 5),
        ("b32", "max.relu.s16x2 %d, %a, %b", [0x8000_0005, 0xFFFF_FFFF, 0], 5),
        ("b32", "sad.u32 %d, %a, %b, %c", [1, 0xFFFF_FFFF, 3], 1),
        ("b32", "sad.s32 %d, %a, %b, %c", [1, 0xFFFF_FFFF, 3], 5),
        ("b32", "sad.s32 %d, %a, %b, %c", [0x8000_0000, 0x7FFF_FFFF, 0], 0xFFFF_FFFF),
        ("b16", "sad.s16 %d, %a, %b, %c", [0x8000, 0x7FFF, 2], 1),
        ("b64", "sad.u64 %d, %a, %b, %c", [1, 1 << 40, 1], 1 << 40),
        ("b32", "cvt.pack.sat.u16.s32 %d, %a, %b", [0xFFFF_FFFF, 0x0001_2345, 0], 0xFFFF),
        ("b32", "cvt.pack.sat.s16.s32 %d, %a, %b", [0xFFFF_FFFE, 0xFFFF_0000, 0], 0xFFFE_8000),
        ("b32", "cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c", [300, 5, 0x1234_5678], 0x5678_FF05),
        ("b32", "cvt.pack.sat.s8.s32.b32 %d, %a, %b, %c", [0xFFFF_FF00, 0xFFFF_FFFF, 0x0000_0001], 0x0001_80FF),
        ("b32", "min.s16x2 %d, %a, %b", [0x8000_0001, 0x0001_8000, 0], 0x8000_8000),
        ("b32", "add.sat.u8x4 %d, %a, %b", [0xFF01_8001, 0x0101_8001, 0], 0xFF02_FF02),
        ("b32", "sub.sat.s8x4 %d, %a, %b", [0x807F_0001, 0x01FF_0002, 0], 0x807F_00FF),
        // A shift by the operand width or more gives 0, or the sign of an arithmetic shift.
        ("b32", "shl.b32 %d, %a, %b", [1, 31, 0], 0x8000_0000),
        ("b32", "shl.b32 %d, %a, %b", [1, 32, 0], 0),
        ("b32", "shl.b32 %d, %a, %b", [1, 0xFFFF_FFFF, 0], 0),
        ("b32", "shr.u32 %d, %a, %b", [0x8000_0000, 33, 0], 0),
        ("b32", "shr.s32 %d, %a, %b", [0x8000_0000, 33, 0], 0xFFFF_FFFF),
        ("b16", "shr.s16 %d, %a, 17", [0x8000, 0, 0], 0xFFFF),
        ("b16", "shl.b16 %d, %a, 16", [0xFFFF, 0, 0], 0),
        ("b64", "shl.b64 %d, %a, 33", [3, 0, 0], 6 << 32),
        ("b64", "shr.u64 %d, %a, 64", [u64::MAX, 0, 0], 0),
        ("b64", "shr.s64 %d, %a, 100", [1 << 63, 0, 0], u64::MAX),
        ("b64", "shr.s64 %d, %a, 31", [1 << 63, 0, 0], 0xFFFF_FFFF_0000_0000),
        ("b32", "shf.l.wrap.b32 %d, %a, %b, %c", [0x8000_0000, 1, 33], 3),
        ("b32", "shf.l.clamp.b32 %d, %a, %b, %c", [0x1234_5678, 1, 33], 0x1234_5678),
        ("b32", "shf.r.clamp.b32 %d, %a, %b, %c", [0xF0, 0x5, 4], 0x5000_000F),
        ("b32", "lop3.b32 %d, %a, %b, %c, 0xca", [0xFF00, 0x1234_5678, 0x9ABC_DEF0], 0x9ABC_56F0),
        ("b32", "prmt.b32 %d, %a, %b, 0x5410", [0x1111_2222, 0x3333_4444, 0], 0x4444_2222),
        ("b32", "bfe.u32 %d, %a, 4, 8", [0xABCD, 0, 0], 0xBC),
        ("b32", "bfe.s32 %d, %a, 4, 8", [0xABCD, 0, 0], 0xFFFF_FFBC),
        ("b32", "bfe.s32 %d, %a, 28, 8", [0x8000_0000, 0, 0], 0xFFFF_FFF8),
        ("b32", "bfe.s32 %d, %a, 40, 3", [0x8000_0000, 0, 0], 0xFFFF_FFFF),
        ("b32", "bfe.s32 %d, %a, 4, 0", [0xFFFF_FFFF, 0, 0], 0),
        ("b64", "bfe.u64 %d, %a, 30, 4", [0x3_C000_0000, 0, 0], 0xF),
        ("b32", "bfi.b32 %d, %a, %b, 8, 8", [0xAB, 0xFFFF_FFFF, 0], 0xFFFF_ABFF),
        ("b32", "bfi.b32 %d, %a, %b, 40, 8", [0xAB, 0x1234, 0], 0x1234),
        ("b32", "and.b32 %d, %a, 0xff", [0x1234, 0, 0], 0x34),
        ("b64", "not.b64 %d, %a", [0, 0, 0], u64::MAX),
        ("b32", "slct.b32.s32 %d, %a, %b, %c", [1, 2, 0x8000_0000], 2),
        ("b32", "slct.b32.f32 %d, %a, %b, %c", [1, 2, 0x8000_0000], 1),
        ("b32", "slct.b32.f32 %d, %a, %b, %c", [1, 2, 0x7FC0_0000], 2),
        ("b32", "mov.u32 %d, %ctaid.y", [0, 0, 0], 8),
        ("b32", "set.lt.u32.s32 %d, %a, %b", [0xFFFF_FFFF, 0, 0], 0xFFFF_FFFF),
        ("b32", "set.lo.u32.u32 %d, %a, %b", [0xFFFF_FFFF, 0, 0], 0),
        ("b32", "set.gt.u32.f16x2 %d, %a, %b", [0x3C00_BC00, 0, 0], 0xFFFF_0000),
        ("b32", "set.geu.f16x2.f16x2 %d, %a, %b", [0x7E00_BC00, 0, 0], 0x3C00_0000),
        ("b16", "set.gt.bf16.bf16 %d, %a, %b", [0x3F80, 0, 0], 0x3F80),
        ("f32", "set.gt.f32.f32 %d, %a, %b", [0x3F80_0000, 0, 0], 0x3F80_0000),
        ("b32", "set.eq.ftz.u32.f32 %d, %a, %b", [1, 0, 0], 0xFFFF_FFFF),
        // On halves, NaN is 0x7fff, -0 is less than +0, and `.sat` turns NaN into +0.
        ("b32", "add.rn.f16x2 %d, %a, %b", [0x7C00_3C00, 0xFC00_3C00, 0], 0x7FFF_4000),
        ("b32", "sub.rn.f16x2 %d, %a, %b", [0x3C00_0000, 0x3C00_8000, 0], 0),
        ("b16", "fma.rn.sat.f16 %d, %a, %b, %c", [0x7E00, 0x3C00, 0], 0),
        ("b16", "fma.rn.relu.f16 %d, %a, %b, %c", [0x3C00, 0xBC00, 0], 0),
        ("b16", "fma.rn.relu.bf16 %d, %a, %b, %c", [0x7FC0, 0x3F80, 0], 0x7FFF),
        ("b16", "mul.rn.ftz.f16 %d, %a, %b", [0x8001, 0x3C00, 0], 0x8000),
        // `.relu` turns -0 into +0, even if the -0 is the rounded result of a tiny number.
        ("b16", "fma.rn.relu.f16 %d, %a, %b, %c", [0x8000, 0x3C00, 0x8000], 0),
        ("b32", "fma.rn.relu.bf16x2 %d, %a, %b, %c", [0x8080_8000, 0x0080_3F80, 0x8000_8000], 0),
        ("b32", "fma.rn.relu.f16x2 %d, %a, %b, %c", [0x8800_3C00, 0x0800_3C00, 0x8000_0000], 0x3C00),
        // `.ftz` flushes a result that rounds up to the smallest normal number, but not an exact one.
        ("b32", "mul.rn.ftz.f16x2 %d, %a, %b", [0x87FF_0800, 0x3800_3800, 0], 0x8000_0400),
        ("b32", "mul.rn.f16x2 %d, %a, %b", [0x87FF_0800, 0x3800_3800, 0], 0x8400_0400),
        ("b32", "fma.rn.ftz.f16x2 %d, %a, %b, %c", [0x87FF_07FF, 0x3800_3800, 0], 0x8000_0000),
        ("b32", "fma.rn.ftz.sat.f16x2 %d, %a, %b, %c", [0x7C00_07FF, 0x3C00_3800, 0x7C00_0000], 0x3C00_0000),
        ("b16", "fma.rn.ftz.relu.f16 %d, %a, %b, %c", [0x7E00, 0x3800, 0], 0x7FFF),
        ("b32", "add.rn.ftz.f16x2 %d, %a, %b", [0x8400_0401, 0x0401_8400, 0], 0),
        ("b32", "min.f16x2 %d, %a, %b", [0x0000_7E00, 0x8000_3C00, 0], 0x8000_3C00),
        ("b32", "max.NaN.f16x2 %d, %a, %b", [0x0000_7E00, 0x8000_3C00, 0], 0x7FFF),
        ("b32", "max.bf16x2 %d, %a, %b", [0x3F80_0000, 0x4000_8000, 0], 0x4000_0000),
        ("b32", "neg.f16x2 %d, %a", [0x3C00_0001, 0, 0], 0xBC00_8001),
        ("b32", "neg.ftz.f16x2 %d, %a", [0x3C00_0001, 0, 0], 0xBC00_8000),
        ("b32", "abs.ftz.f16x2 %d, %a", [0x83FF_C000, 0, 0], 0x4000),
        ("b32", "abs.bf16x2 %d, %a", [0xBF80_8001, 0, 0], 0x3F80_0001),
        ("f32", "add.rn.f32 %d, %a, 0f3f800000", [0x3F80_0000, 0, 0], 0x4000_0000),
        ("f32", "sub.f32 %d, %a, %b", [0x7F80_0000, 0x7F80_0000, 0], 0x7FFF_FFFF),
        ("f32", "mul.rn.ftz.f32 %d, %a, %b", [0x8000_0001, 0x3F80_0000, 0], 0x8000_0000),
        ("f32", "fma.rn.sat.f32 %d, %a, %b, %c", [0x4000_0000, 0x4000_0000, 0], 0x3F80_0000),
        ("f32", "mul.rn.sat.f32 %d, %a, %b", [0x7FC0_0000, 0, 0], 0),
        ("f32", "div.rn.f32 %d, %a, %b", [0x3F80_0000, 0x4040_0000, 0], 0x3EAA_AAAB),
        ("f32", "sqrt.rn.f32 %d, %a", [0x4000_0000, 0, 0], 0x3FB5_04F3),
        ("f32", "min.f32 %d, %a, %b", [0, 0x8000_0000, 0], 0x8000_0000),
        ("f32", "max.f32 %d, %a, %b", [0, 0x8000_0000, 0], 0),
        ("f32", "max.f32 %d, %a, %b", [0x7FC0_0000, 0xBF80_0000, 0], 0xBF80_0000),
        ("f32", "min.NaN.f32 %d, %a, %b", [0x7FC0_0000, 0xBF80_0000, 0], 0x7FFF_FFFF),
        ("f32", "neg.f32 %d, %a", [0x7FC0_0000, 0, 0], 0xFFC0_0000),
        ("f32", "abs.ftz.f32 %d, %a", [0x8000_0001, 0, 0], 0),
        ("f32", "cvt.rni.f32.f32 %d, %a", [0x4020_0000, 0, 0], 0x4000_0000),
        ("f32", "cvt.rmi.f32.f32 %d, %a", [0xBE80_0000, 0, 0], 0xBF80_0000),
        ("f32", "cvt.rpi.f32.f32 %d, %a", [0xBE80_0000, 0, 0], 0x8000_0000),
        ("f32", "cvt.sat.f32.f32 %d, %a", [0xC000_0000, 0, 0], 0),
        ("b16", "cvt.rni.f16.f16 %d, %a", [0x3E00, 0, 0], 0x4000),
        ("b32", "cvt.rmi.ftz.s32.f32 %d, %a", [0x8000_0001, 0, 0], 0),
        ("b16", "div.s16 %d, %a, %b", [0x8000, 0xFFFF, 0], 0x8000),
        ("b16", "rem.s16 %d, %a, %b", [0x8000, 0xFFFF, 0], 0),
        ("b16", "div.u16 %d, %a, %b", [7, 0, 0], 0xFFFF),
        ("b32", "rem.s32 %d, %a, %b", [0xFFFF_FFF9, 2, 0], 0xFFFF_FFFF),
        ("b32", "rem.u32 %d, %a, %b", [7, 0, 0], 0xFFFF_FFFF),
        ("b32", "mad.hi.sat.s32 %d, %a, %b, %c", [0x4000_0000, 4, 0x7FFF_FFFF], 0x7FFF_FFFF),
        ("b32", "mul24.lo.s32 %d, %a, %b", [0xAA80_0000, 2, 0], 0xFF00_0000),
        ("b32", "mul24.hi.s32 %d, %a, %b", [0x0080_0000, 2, 0], 0xFFFF_FF00),
        ("b32", "mul24.hi.u32 %d, %a, %b", [0x00FF_FFFF, 0x11FF_FFFF, 0], 0xFFFF_FE00),
        ("b32", "mad24.lo.u32 %d, %a, %b, %c", [0xFF00_0003, 5, 1], 16),
        ("b32", "mad24.hi.sat.s32 %d, %a, %b, %c", [0x0040_0000, 0x0040_0000, 0x7FFF_FFFF], 0x7FFF_FFFF),
        ("b32", "min.relu.s32 %d, %a, %b", [0x8000_0000, 5, 0], 0),
        ("b32", "max.relu.s32 %d, %a, %b", [0x8000_0000, 5, 0], 5),
        ("b16", "cnot.b16 %d, %a", [0, 0, 0], 1),
        ("b64", "cnot.b64 %d, %a", [1 << 40, 0, 0], 0),
        ("b32", "bfind.u32 %d, %a", [0x00F0_0000, 0, 0], 23),
        ("b32", "bfind.shiftamt.u32 %d, %a", [0x00F0_0000, 0, 0], 8),
        ("b32", "bfind.s32 %d, %a", [0xFFFF_FF00, 0, 0], 7),
        ("b32", "bfind.s32 %d, %a", [0xFFFF_FFFF, 0, 0], 0xFFFF_FFFF),
        ("b32", "bfind.shiftamt.s32 %d, %a", [0, 0, 0], 0xFFFF_FFFF),
        ("b32", "fns.b32 %d, %a, %b, %c", [0b1011_0100, 2, 3], 5),
        ("b32", "fns.b32 %d, %a, %b, %c", [0b1011_0100, 6, 0xFFFF_FFFE], 4),
        ("b32", "fns.b32 %d, %a, %b, %c", [0b1011_0100, 2, 0], 2),
        ("b32", "fns.b32 %d, %a, %b, %c", [0b1011_0100, 3, 0], 0xFFFF_FFFF),
        ("b32", "fns.b32 %d, %a, %b, %c", [0b1011_0100, 2, 5], 0xFFFF_FFFF),
        ("b32", "fns.b32 %d, %a, %b, %c", [u32::MAX as u64, 0, 32], 31),
        ("b32", "bmsk.clamp.b32 %d, %a, %b", [4, 8, 0], 0xFF0),
        ("b32", "bmsk.clamp.b32 %d, %a, %b", [4, 32, 0], 0xFFFF_FFF0),
        ("b32", "bmsk.clamp.b32 %d, %a, %b", [32, 8, 0], 0),
        ("b32", "bmsk.wrap.b32 %d, %a, %b", [36, 32, 0], 0),
        ("b32", "szext.clamp.s32 %d, %a, %b", [0x80, 8, 0], 0xFFFF_FF80),
        ("b32", "szext.clamp.u32 %d, %a, %b", [0xFFFF_FFFF, 99, 0], 0xFFFF_FFFF),
        ("b32", "szext.wrap.s32 %d, %a, %b", [0xFFFF_FFFF, 32, 0], 0),
        ("b32", "prmt.b32.f4e %d, %a, %b, %c", [0x3322_1100, 0x7766_5544, 2], 0x5544_3322),
        ("b32", "prmt.b32.b4e %d, %a, %b, %c", [0x3322_1100, 0x7766_5544, 1], 0x6677_0011),
        ("b32", "prmt.b32.rc8 %d, %a, %b, %c", [0x3322_1100, 0, 7], 0x3333_3333),
        ("b32", "prmt.b32.ecl %d, %a, %b, %c", [0x3322_1100, 0, 2], 0x3322_2222),
        ("b32", "prmt.b32.ecr %d, %a, %b, %c", [0x3322_1100, 0, 1], 0x1111_1100),
        ("b32", "prmt.b32.rc16 %d, %a, %b, %c", [0x3322_1100, 0, 3], 0x3322_3322),
        ("b32", "add.cc.u32 %d, %a, %b; addc.u32 %d, %c, 0", [0xFFFF_FFFF, 1, 5], 6),
        ("b32", "add.cc.s32 %d, %a, %b; addc.cc.s32 %d, %c, 0; addc.s32 %d, 0, 0", [0xFFFF_FFFF, 1, 0xFFFF_FFFF], 1),
        ("b32", "sub.cc.u32 %d, %a, %b; subc.u32 %d, %c, 0", [0, 1, 5], 4),
        ("b64", "sub.cc.u64 %d, %a, %b; subc.cc.u64 %d, %c, 0; subc.u64 %d, 0, 0", [0, 1, 0], u64::MAX),
        ("b32", "mad.lo.cc.u32 %d, %a, %b, %c; madc.hi.u32 %d, %a, %b, 0", [0xFFFF_FFFF, 2, 2], 2),
        // `sub.cc` sets the flag to the carry of `a + !b + 1`, so the flag is clear if there is a
        // borrow.
        ("b32", "sub.cc.u32 %d, %a, %b; addc.u32 %d, 0, 0", [1, 2, 0], 0),
        ("b32", "sub.cc.u32 %d, %a, %b; addc.u32 %d, 0, 0", [2, 2, 0], 1),
        ("b32", "sub.cc.s32 %d, %a, %b; madc.lo.s32 %d, %c, %c, 0", [2, 1, 3], 10),
        ("b32", "add.cc.u32 %d, %a, %b; subc.u32 %d, 0, 0", [1, 2, 0], 0xFFFF_FFFF),
        ("b32", "add.cc.u32 %d, %a, %b; subc.u32 %d, 0, 0", [0xFFFF_FFFF, 2, 0], 0),
        ("b32", "mad.hi.cc.u32 %d, %a, %b, %c; subc.u32 %d, 7, 2", [1 << 31, 4, 0xFFFF_FFFE], 5),
        ("b64", "sub.cc.u64 %d, %a, %b; addc.cc.u64 %d, %c, 0; subc.u64 %d, 5, 5", [1, 0, u64::MAX], 0),
        ("b32", "subc.cc.u32 %d, %a, %b; addc.u32 %d, 0, 0", [3, 3, 0], 0),
        ("b32", "subc.u32 %d, %a, %b", [3, 3, 0], 0xFFFF_FFFF),
        // PTX video instructions have the semantics of those of HALU.
        ("b32", "vadd4.u32.u32.u32.sat %d, %a, %b, %c", [0xFF01_8001, 0x0101_8001, 0], 0xFF02_FF02),
        ("b32", "vabsdiff4.u32.u32.u32.add %d, %a, %b, %c", [0x0105_0300, 0x0301_0300, 100], 106),
        ("b32", "vsub2.s32.s32.s32.sat %d.h1, %a.h32, %b.h10, %c", [1, 0x7FFF_0003, 0x1234_5678], 0x7FFF_5678),
        ("b32", "vmax2.s32.s32.s32 %d, %a, %b, %c", [0xFFFF_0001, 0x0000_FFFF, 0], 1),
        ("b32", "vset4.u32.u32.lt %d, %a, %b, %c", [0x01FF_807F, 0x0201_7F80, 9], 0x0100_0001),
        ("b32", "vset4.s32.s32.lt.add %d, %a, %b, %c", [0x01FF_807F, 0x0201_7F80, 9], 12),
        (
            "b32",
            "vset4.u32.s32.ge %d.b31, %a.b7654, %b.b3210, %c",
            [0x8000_0000, 0x00FF_0000, 0x7766_5544],
            0x0166_0144,
        ),
        ("b32", "vset2.s32.u32.ne %d.h1, %a, %b, %c", [0xFFFF_0000, 0xFFFF_0000, 0x1234_5678], 0x0001_5678),
    ];
    for &(ty, inst, [a, b, c], d) in cases {
        let found = same(ty, inst).d(&[("%a", a), ("%b", b), ("%c", c)]);
        assert!(found == d, "{inst}: {found:#x}, not {d:#x}");
    }
}

/// Tests that comparisons of video elements compare the exact integers, even if the elements have
/// different types. Hardware compares the exact integers, but the PTX manual describes another
/// result.
#[test]
fn video_comparisons_use_exact_integers() {
    let mut random = Random(7);
    for (lanes, name) in [(2u32, "vset2"), (4, "vset4")] {
        let bits = 32 / lanes;
        let letter = if lanes == 2 { 'h' } else { 'b' };
        for (types, compare) in ["u32.u32", "u32.s32", "s32.u32", "s32.s32"]
            .into_iter()
            .flat_map(|types| ["eq", "ne", "lt", "le", "gt", "ge"].map(|compare| (types, compare)))
        {
            let mask = 1 + random.next() as u32 % ((1 << lanes) - 1);
            let digits: String =
                (0..lanes).rev().filter(|lane| mask >> lane & 1 != 0).map(|lane| lane.to_string()).collect();
            let [of_a, of_b] =
                [(); 2].map(|()| (0..lanes).map(|_| random.next() as u32 % (2 * lanes)).collect::<Vec<u32>>());
            let selector = |of: &[u32]| of.iter().rev().map(u32::to_string).collect::<String>();
            if lanes == 4 && [&of_a, &of_b].iter().any(|of| selector(of) == "1024") {
                continue;
            }
            for add in ["", ".add"] {
                let text = format!(
                    "{name}.{types}.{compare}{add} %d.{letter}{digits}, %a.{letter}{}, %b.{letter}{}, %c",
                    selector(&of_a),
                    selector(&of_b),
                );
                let op = same("b32", &text);
                for _ in 0..50 {
                    let near = random.next();
                    let [a, mut b, c] = [(); 3].map(|()| random.next() & 0xFFFF_FFFF);
                    b = if near & 1 == 0 { a } else { b };
                    let element = |number: u32, signed: bool| {
                        let raw = (b << 32 | a) >> (number * bits) & ((1 << bits) - 1);
                        if signed { (raw << (64 - bits)) as i64 >> (64 - bits) } else { raw as i64 }
                    };
                    let (mut merged, mut count) = (c, 0);
                    for lane in (0..lanes).filter(|lane| mask >> lane & 1 != 0) {
                        let a = element(of_a[lane as usize], types.starts_with('s'));
                        let b = element(of_b[lane as usize], types.ends_with("s32"));
                        let holds = match compare {
                            "eq" => a == b,
                            "ne" => a != b,
                            "lt" => a < b,
                            "le" => a <= b,
                            "gt" => a > b,
                            _ => a >= b,
                        };
                        merged = merged & !(((1 << bits) - 1) << (lane * bits)) | u64::from(holds) << (lane * bits);
                        count += u64::from(holds);
                    }
                    let expected = if add.is_empty() { merged } else { (c + count) & 0xFFFF_FFFF };
                    assert_eq!(op.d(&[("%a", a), ("%b", b), ("%c", c)]), expected, "{text}: {a:#x} {b:#x} {c:#x}");
                }
            }
        }
    }
}

#[test]
fn rounds_subnormals_to_halves_despite_ftz() {
    for ftz in ["", ".ftz"] {
        for (mark, a, d) in [("p", 1, 1), ("p", 0x8000_0001, 0x8000), ("m", 0x807F_FFFF, 0x8001), ("n", 0x007F_FFFF, 0)]
        {
            let op = Op::new("b16 %d; b32 %a", &format!("cvt.r{mark}{ftz}.f16.f32 %d, %a"));
            assert_eq!(op.d(&[("%a", a)]), d, "r{mark}{ftz} {a:#x}");
        }
    }
}

#[test]
fn predicates() {
    let declared = "pred %p; pred %q; pred %c; b32 %a; b32 %b; b16 %h; b16 %i";
    let one: (&str, u64) = ("%a", 0x3C00_BC00);
    for (inst, c, expected) in [
        ("setp.gt.f16x2 %p|%q, %a, %b", 0, (0, 1)),
        ("setp.gt.and.f16x2 %p|%q, %a, %b, !%c", 1, (0, 0)),
        ("setp.lt.s32 %p|%q, %a, %b", 0, (0, 1)),
        ("setp.lt.or.s32 %p|%q, %a, %b, %c", 1, (1, 1)),
        ("setp.ne.b32 %p, %a, %b", 0, (1, 0)),
        ("setp.ls.u32 %p|_, %b, %a", 0, (1, 0)),
        ("setp.hs.xor.u32 _|%q, %b, %a, %c", 1, (0, 0)),
        ("setp.nan.f32 %p|%q, %a, 0f7fc00000", 0, (1, 0)),
        ("setp.num.f32 %p|%q, %a, %b", 0, (1, 0)),
        ("setp.leu.bf16 %p, %h, %i", 0, (1, 0)),
        ("setp.gt.ftz.f16 %p, %h, %i", 0, (0, 0)),
        ("and.pred %p, %c, %c", 1, (1, 0)),
        ("not.pred %p, %c", 1, (0, 0)),
        ("mov.pred %p, 1", 0, (1, 0)),
        ("@!%c mov.pred %p, 1", 1, (0, 0)),
        ("@%c mov.pred %p, 1", 1, (1, 0)),
    ] {
        let after = Op::new(declared, inst).run(&[one, ("%c", c), ("%h", 0x8001), ("%i", 0)]);
        assert_eq!((after("%p"), after("%q")), expected, "{inst}");
    }
}

#[test]
fn lop3_combines_its_result_with_a_predicate() {
    let declared = "b32 %d; b32 %a; b32 %b; b32 %c; pred %p; pred %q";
    for (inst, q, expected) in [
        ("lop3.and.b32 %d|%p, %a, %b, %c, 0x80, %q", 1, (8, 1)),
        ("lop3.and.b32 %d|%p, %a, %b, %c, 0x80, %q", 0, (8, 0)),
        ("lop3.or.b32 %d|%p, %a, %b, %c, 0x00, %q", 1, (0, 1)),
        ("lop3.or.b32 _|%p, %a, %b, %c, 0x80, %q", 0, (0, 1)),
        ("lop3.or.b32 _|%p, %a, %b, %c, 0x00, %q", 0, (0, 0)),
    ] {
        let after = Op::new(declared, inst).run(&[("%a", 12), ("%b", 10), ("%c", 9), ("%q", q)]);
        assert_eq!((after("%d"), after("%p")), expected, "{inst}, {q}");
    }
}

/// An instruction whose guard is false must not change the carry flag.
#[test]
fn false_guard_preserves_the_carry_flag() {
    let declared = "b32 %d; b32 %a; pred %p";
    for (p, expected) in [(0, 1), (1, 0)] {
        let insts = "add.cc.u32 %d, %a, %a; @%p add.cc.u32 %d, 0, 0; addc.u32 %d, 0, 0";
        assert_eq!(Op::new(declared, insts).d(&[("%a", 1 << 31), ("%p", p)]), expected);
    }
}

#[test]
fn parts() {
    let op = Op::new("b16 %l; b16 %h; b32 %d", "mov.b32 %d, {%l, %h}");
    assert_eq!(op.d(&[("%l", 0x1234), ("%h", 0x5678)]), 0x5678_1234);
    let after = Op::new("b16 %l; b16 %h; b32 %a", "mov.b32 {%l, %h}, %a").run(&[("%a", 0x5678_1234)]);
    assert_eq!((after("%l"), after("%h")), (0x1234, 0x5678));
    let after = Op::new("b16 %x; b16 %y; b64 %a", "mov.b64 {%x, _, _, %y}, %a").run(&[("%a", 0x1111_2222_3333_4444)]);
    assert_eq!((after("%x"), after("%y")), (0x4444, 0x1111));
    let op = Op::new("b32 %l; b32 %h; b64 %d", "mov.b64 %d, {%l, %h}");
    assert_eq!(op.d(&[("%l", 1), ("%h", 2)]), 2 << 32 | 1);
}

const EDGES: [u64; 12] =
    [0, 1, 2, 31, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 32, i64::MAX as u64, 1 << 63, u64::MAX - 1, u64::MAX];

fn any(random: &mut Random) -> u64 {
    let bits = random.next();
    if bits & 1 == 0 { EDGES[(bits >> 1) as usize % EDGES.len()] } else { random.next() >> (bits >> 1 & 63) }
}

#[test]
fn integers_of_64_bits_agree_with_the_hosts() {
    type Reference = fn(u64, u64) -> u64;
    let cases: &[(&str, Reference)] = &[
        ("add.u64", |a, b| a.wrapping_add(b)),
        ("sub.u64", |a, b| a.wrapping_sub(b)),
        ("mul.lo.s64", |a, b| a.wrapping_mul(b)),
        ("mul.hi.u64", |a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64),
        ("mul.hi.s64", |a, b| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64),
        ("div.u64", |a, b| a.checked_div(b).unwrap_or(u64::MAX)),
        ("rem.u64", |a, b| a.checked_rem(b).unwrap_or(u64::MAX)),
        ("div.s64", |a, b| if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 }),
        ("rem.s64", |a, b| if b == 0 { u64::MAX } else { (a as i64).wrapping_rem(b as i64) as u64 }),
        ("min.s64", |a, b| (a as i64).min(b as i64) as u64),
        ("max.u64", |a, b| a.max(b)),
        ("xor.b64", |a, b| a ^ b),
    ];
    let mut random = Random(1);
    for (mnemonic, reference) in cases {
        let op = same("b64", &format!("{mnemonic} %d, %a, %b"));
        for _ in 0..3000 {
            let (a, b) = (any(&mut random), any(&mut random));
            assert_eq!(op.d(&[("%a", a), ("%b", b)]), reference(a, b), "{mnemonic} {a:#x} {b:#x}");
        }
    }
}

#[test]
fn shifts_of_every_count() {
    let mut random = Random(2);
    for bits in [16, 32, 64u32] {
        for (mnemonic, signed, left) in [("shl.b", false, true), ("shr.u", false, false), ("shr.s", true, false)] {
            let declared = format!("b{bits} %d; b{bits} %a; b32 %n");
            let op = Op::new(&declared, &format!("{mnemonic}{bits} %d, %a, %n"));
            for count in (0..70).chain([255, 1 << 31, u32::MAX]) {
                let a = any(&mut random) & (u64::MAX >> (64 - bits));
                let extended = if signed { ((a << (64 - bits)) as i64 >> (64 - bits)).into() } else { i128::from(a) };
                let shifted =
                    if left { extended.checked_shl(count.min(127)).unwrap() } else { extended >> count.min(127) };
                let expected = if left && count >= bits { 0 } else { shifted as u64 & (u64::MAX >> (64 - bits)) };
                assert_eq!(op.d(&[("%a", a), ("%n", count.into())]), expected, "{mnemonic}{bits} {a:#x} {count}");
            }
        }
    }
}

fn single(bits: u32) -> Single {
    Single::from_bits(bits.into())
}

pub const ROUNDINGS: [(&str, Round); 4] = [
    ("n", Round::NearestTiesToEven),
    ("z", Round::TowardZero),
    ("m", Round::TowardNegative),
    ("p", Round::TowardPositive),
];

#[test]
fn integers_to_floats_agree_with_apfloat() {
    let mut random = Random(3);
    for (mark, round) in ROUNDINGS {
        for (ty, bits, signed) in [
            ("s64", 64, true),
            ("u64", 64, false),
            ("s32", 32, true),
            ("u32", 32, false),
            ("s8", 8, true),
            ("u16", 16, false),
        ] {
            let single = Op::new("f32 %d; b64 %a", &format!("cvt.r{mark}.f32.{ty} %d, %a"));
            let half = Op::new("b16 %d; b64 %a", &format!("cvt.r{mark}.f16.{ty} %d, %a"));
            for _ in 0..2000 {
                let a = any(&mut random);
                let value = if signed {
                    i128::from((a << (64 - bits)) as i64 >> (64 - bits))
                } else {
                    (a & (u64::MAX >> (64 - bits))).into()
                };
                assert_eq!(
                    single.d(&[("%a", a)]) as u128,
                    Single::from_i128_r(value, round).value.to_bits(),
                    "r{mark} {ty} {a:#x}"
                );
                assert_eq!(
                    half.d(&[("%a", a)]) as u128,
                    Half::from_i128_r(value, round).value.to_bits(),
                    "r{mark} {ty} {a:#x}"
                );
            }
        }
        let bfloat = Op::new("b16 %d; b64 %a", &format!("cvt.r{mark}.bf16.s64 %d, %a"));
        for _ in 0..2000 {
            let a = any(&mut random);
            let expected = BFloat::from_i128_r((a as i64).into(), round).value.to_bits();
            assert_eq!(u128::from(bfloat.d(&[("%a", a)])), expected, "r{mark} {a:#x}");
        }
    }
}

#[test]
fn floats_to_integers_agree_with_apfloat() {
    let mut random = Random(4);
    for (mark, round) in ROUNDINGS {
        for (ty, bits, signed) in [
            ("s64", 64, true),
            ("u64", 64, false),
            ("s32", 32, true),
            ("u32", 32, false),
            ("s16", 16, true),
            ("u8", 8, false),
            ("s8", 8, true),
        ] {
            let op = Op::new("b64 %d; f32 %a", &format!("cvt.r{mark}i.{ty}.f32 %d, %a"));
            for _ in 0..3000 {
                // Many of the operands have exponents near those of the limits of integer types.
                let bits_of = random.word(&FLOATS);
                let a = if random.next() & 1 == 0 {
                    bits_of
                } else {
                    (bits_of & 0x807F_FFFF) | (115 + (random.next() % 84) as u32) << 23
                };
                let expected = if single(a).is_nan() {
                    if bits == 64 { 1 << 63 } else { 0 }
                } else if signed {
                    let mut exact = false;
                    single(a).to_i128_r(bits, round, &mut exact).value as u64
                } else {
                    let mut exact = false;
                    single(a).to_u128_r(bits, round, &mut exact).value as u64
                };
                assert_eq!(op.d(&[("%a", a.into())]), expected, "r{mark}i {ty} {a:#x}");
            }
        }
        let op = Op::new("f32 %d; f32 %a", &format!("cvt.r{mark}i.f32.f32 %d, %a"));
        for _ in 0..3000 {
            let a = random.word(&FLOATS);
            let expected =
                if single(a).is_nan() { 0x7FFF_FFFF } else { single(a).round_to_integral(round).value.to_bits() };
            assert_eq!(u128::from(op.d(&[("%a", a.into())])), expected, "r{mark}i {a:#x}");
        }
    }
}

#[test]
fn floats_to_halves_agree_with_apfloat() {
    let mut random = Random(5);
    for (mark, round) in ROUNDINGS {
        let op = Op::new("b16 %d; f32 %a", &format!("cvt.r{mark}.f16.f32 %d, %a"));
        for _ in 0..5000 {
            let a = random.word(&FLOATS);
            let half: StatusAnd<Half> = single(a).convert_r(round, &mut false);
            let expected = if half.value.is_nan() { 0x7FFF } else { half.value.to_bits() };
            assert_eq!(u128::from(op.d(&[("%a", a.into())])), expected, "r{mark} {a:#x}");
        }
    }
    let pair = Op::new("b32 %d; f32 %a; f32 %b", "cvt.rn.relu.bf16x2.f32 %d, %a, %b");
    assert_eq!(pair.d(&[("%a", 0x3F80_0000), ("%b", 0xBF80_0000)]), 0x3F80_0000);
    assert_eq!(pair.d(&[("%a", 0x7FC0_0000), ("%b", 0x4000_0000)]), 0x7FFF_4000);
    assert_eq!(pair.d(&[("%a", 0x8000_0000), ("%b", 0x8000_0001)]), 0);
}

#[test]
fn integers_in_wider_registers() {
    for (inst, a, d) in [
        ("cvt.u8.u32 %d, %a", 0x1FF, 0xFF),
        ("cvt.s8.u32 %d, %a", 0x1FF, u64::MAX),
        ("cvt.s64.s32 %d, %a", 0x8000_0000, 0xFFFF_FFFF_8000_0000),
        ("cvt.u64.u32 %d, %a", 0xFFFF_FFFF_8000_0000, 0x8000_0000),
        ("cvt.sat.u8.s32 %d, %a", 0xFFFF_FFFF, 0),
        ("cvt.sat.u8.s32 %d, %a", 300, 255),
        ("cvt.sat.s8.s16 %d, %a", 0x8000, (-128i64) as u64),
        ("cvt.sat.s32.u64 %d, %a", u64::MAX, 0x7FFF_FFFF),
        ("cvt.sat.u64.s64 %d, %a", u64::MAX, 0),
    ] {
        assert_eq!(same("b64", inst).d(&[("%a", a)]), d, "{inst} {a:#x}");
    }
    let wide = Op::new("b64 %d; b32 %a; b64 %c", "mad.wide.s32 %d, %a, -2, %c");
    for a in INTEGERS {
        let expected = (i64::from(a as i32) * -2).wrapping_add(5) as u64;
        assert_eq!(wide.d(&[("%a", a.into()), ("%c", 5)]), expected);
    }
}
