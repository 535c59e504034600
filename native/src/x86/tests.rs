//! Comparison of the encodings with iced-x86, which decodes them.
#![allow(clippy::unwrap_used)]

use iced_x86::{Decoder, DecoderOptions, Instruction, OpKind, RoundingControl};

use super::row::{Access, Class, Encodings, Rounding, Row, Shape, VectorWidth};
use super::vector::{ALL, VADDPS, VMOVDQU_LOAD, VPADDD, VPGATHERDD, VPGATHERQD, VectorInst};
use super::*;

const WIDTHS: [VectorWidth; 3] = [VectorWidth::B128, VectorWidth::B256, VectorWidth::B512];

/// Decodes one instruction, which must be all the code.
fn decoded(code: &[u8]) -> Instruction {
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let inst = decoder.decode();
    assert!(!inst.is_invalid() && inst.len() == code.len(), "{code:02x?}");
    inst
}

fn encoded(append: impl FnOnce(&mut Assembler)) -> Instruction {
    let mut assembler = Assembler::default();
    append(&mut assembler);
    decoded(&assembler.finish().unwrap())
}

fn mnemonic(inst: &Instruction) -> String {
    format!("{:?}", inst.mnemonic()).to_lowercase()
}

/// Returns the register numbers that a field of a row can hold.
fn numbers(class: Class, is_evex: bool) -> std::ops::Range<u8> {
    match class {
        Class::Vector => 0..if is_evex { 32 } else { 16 },
        Class::Mask => 0..8,
        Class::General => 0..16,
    }
}

/// Returns the indices of iced's operands in the fields `reg`, `vvvv` and `rm`.
fn positions(shape: Shape) -> (Option<u32>, Option<u32>, u32) {
    match shape {
        Shape::Binary => (Some(0), Some(1), 2),
        Shape::Gather => (Some(0), Some(2), 1),
        Shape::Unary => (Some(0), None, 1),
        Shape::Store => (Some(1), None, 0),
        Shape::ShiftByImmediate(_) => (None, Some(0), 1),
    }
}

/// Returns the rows at all their widths, in the VEX encoding and in the EVEX encoding, which `true` marks.
fn forms() -> impl Iterator<Item = (&'static Row, VectorWidth, bool)> {
    let widths = |row: &'static Row| {
        let range = row.widths[0] as u8..=row.widths[1] as u8;
        WIDTHS.into_iter().filter(move |width| range.contains(&(*width as u8)))
    };
    let all = ALL.iter().flat_map(move |row| widths(row).map(move |width| (row, width)));
    all.flat_map(|(row, width)| [false, true].map(|is_evex| (row, width, is_evex))).filter(|&(row, width, is_evex)| {
        match row.encodings {
            Encodings::Vex => !is_evex,
            Encodings::Evex => is_evex,
            Encodings::Both => is_evex || width != VectorWidth::B512,
        }
    })
}

/// Creates the instruction of a form. A mask forces the EVEX encoding of a row that has both.
fn inst(row: &'static Row, width: VectorWidth, is_evex: bool, [first, second]: [u8; 2], last: Operand) -> VectorInst {
    let inst = match row.shape {
        Shape::ShiftByImmediate(_) => VectorInst::shift(row, width, second, last, 0),
        _ => VectorInst::new(row, width, [first, second], last),
    };
    if is_evex && row.encodings == Encodings::Both && is_maskable(row) { inst.masked(3) } else { inst }
}

/// Returns `true` if a mask can predicate the instruction.
fn is_maskable(row: &Row) -> bool {
    row.reg != Class::General && row.rm != Class::General && row.rm != Class::Mask
}

fn check_row(row: &Row, is_evex: bool, decoded: &Instruction) {
    let name = if is_evex { row.evex_name.unwrap_or(row.name) } else { row.name };
    assert_eq!(mnemonic(decoded), name);
    // The names of the codes begin with the encoding.
    let code = format!("{:?}", decoded.code());
    assert_eq!(code.starts_with("EVEX"), is_evex, "{code}");
}

#[test]
fn every_row_encodes_its_registers() {
    let mut count = 0;
    for (row, width, is_evex) in forms().filter(|(row, ..)| row.shape != Shape::Gather) {
        let (reg, vvvv, rm) = positions(row.shape);
        let is_forced = row.encodings == Encodings::Both && is_evex && !is_maskable(row) && width != VectorWidth::B512;
        for number in 0..32 {
            // Registers in different fields differ.
            let pick = |class, offset: u8| {
                let numbers = numbers(class, is_evex);
                (number + offset) % numbers.end
            };
            let (first, second, last) = (pick(row.reg, 0), pick(Class::Vector, 5), pick(row.rm, 11));
            // Only a register from 16 on makes the assembler choose EVEX.
            if is_forced && !(row.reg == Class::Vector && first >= 16 || row.rm == Class::Vector && last >= 16) {
                continue;
            }
            let second = if vvvv.is_some() { second } else { 0 };
            let of = encoded(|code| code.vector(inst(row, width, is_evex, [first, second], Operand::Register(last))));
            check_row(row, is_evex, &of);
            let register = |operand| of.op_register(operand).number() as u8;
            if let Some(reg) = reg {
                assert_eq!(register(reg), first, "{of:?}");
            }
            if let Some(vvvv) = vvvv {
                assert_eq!(register(vvvv), second, "{of:?}");
            }
            assert_eq!(register(rm), last, "{of:?}");
            let widest = (0..of.op_count()).filter(|&operand| of.op_kind(operand) == OpKind::Register);
            let widest = widest.map(|operand| of.op_register(operand).size() as i32).max();
            let has_vector = row.reg == Class::Vector || row.rm == Class::Vector;
            assert!(!has_vector || widest == Some(width.bytes()), "{of:?}");
            count += 1;
        }
    }
    assert!(count > 3000, "{count}");
}

#[test]
fn every_row_encodes_its_memory_operand() {
    for (row, width, is_evex) in forms() {
        let is_accessed = row.rm != Class::Mask
            && !matches!(row.name, "kmovw" | "vpmovd2m" | "vmovmskps" | "vmovmskpd")
            && row.shape != Shape::Gather;
        let is_general = row.rm == Class::General && !matches!(row.access, Access::Bytes(_));
        let has_register_only = matches!(row.shape, Shape::ShiftByImmediate(_)) && !is_evex;
        let is_forced = row.encodings == Encodings::Both && is_evex && !is_maskable(row) && width != VectorWidth::B512;
        if !is_accessed || is_general || has_register_only || is_forced {
            continue;
        }
        let bytes = row.access_bytes(width, false);
        let displacements =
            [0, 1, -1, bytes, -bytes, 127, 128, -128, -129, 127 * bytes, 128 * bytes, -128 * bytes, 1 << 20];
        for base in 0..16 {
            for index in [None, Some((0, 0)), Some((5, 1)), Some((9, 2)), Some((12, 3)), Some((15, 2))] {
                for displacement in displacements {
                    let memory = Memory { base, index, displacement };
                    let last = Operand::Memory(memory);
                    let of = encoded(|code| code.vector(inst(row, width, is_evex, [1, 0], last)));
                    check_row(row, is_evex, &of);
                    check_memory(&of, memory);
                    assert_eq!(of.memory_size().size() as i32, bytes, "{of:?}");
                    assert!(!of.is_broadcast());
                }
            }
        }
    }
}

#[test]
fn gathers_have_an_index_in_a_vector() {
    for row in [&VPGATHERDD, &VPGATHERQD] {
        for (first, second, index) in [(0, 1, 2), (15, 4, 12), (3, 12, 4)] {
            for base in [register::RAX, register::R12, register::R13, register::R15] {
                let memory = Memory { base, index: Some((index, 0)), displacement: 8 };
                let last = Operand::Memory(memory);
                let of = encoded(|code| code.vector(VectorInst::new(row, VectorWidth::B256, [first, second], last)));
                check_row(row, false, &of);
                check_memory(&of, memory);
                assert_eq!(of.op_register(0).number() as u8, first, "{of:?}");
                assert_eq!(of.op_register(2).number() as u8, second, "{of:?}");
            }
        }
    }
}

fn check_memory(of: &Instruction, Memory { base, index, displacement }: Memory) {
    assert_eq!(of.memory_base().number() as u8, base, "{of:?}");
    assert_eq!(of.memory_displacement64() as i64, i64::from(displacement), "{of:?}");
    match index {
        Some((index, scale)) => {
            assert_eq!((of.memory_index().number() as u8, of.memory_index_scale()), (index, 1 << scale), "{of:?}");
        }
        None => assert_eq!(of.memory_index(), iced_x86::Register::None, "{of:?}"),
    }
}

#[test]
fn words_are_broadcast_from_memory_and_constants() {
    for (row, width, is_evex) in forms() {
        let is_broadcast = row.access == Access::FullOrBroadcast && is_evex;
        if !is_broadcast {
            continue;
        }
        for displacement in [0, 4, 127 * 4, 128 * 4, 2] {
            let memory = Memory::at(13, displacement);
            let last = Operand::Memory(memory);
            let of = encoded(|code| code.vector(inst(row, width, is_evex, [1, 0], last).broadcast()));
            check_row(row, is_evex, &of);
            check_memory(&of, memory);
            assert!(of.is_broadcast() && of.memory_size().size() == 4, "{of:?}");
        }
    }
    let mut assembler = Assembler::default();
    let constant = Operand::Constant(assembler.constant(&[7]));
    assembler.vector(VectorInst::new(&VPADDD, VectorWidth::B512, [1, 2], constant).broadcast());
    let start = assembler.len();
    assembler.ret();
    let code = assembler.finish().unwrap();
    let of = decoded(&code[..start]);
    assert_eq!(of.memory_displacement64(), start as u64 + 1);
    assert_eq!(code[start + 1..], [7, 0, 0, 0]);
}

#[test]
fn masks_rounding_and_immediates_are_encoded() {
    let registers = |inst: VectorInst| encoded(|code| code.vector(inst));
    let sum = VectorInst::new(&VADDPS, VectorWidth::B512, [1, 2], Operand::Register(3));
    for (rounding, expected) in [
        (Rounding::Nearest, RoundingControl::RoundToNearest),
        (Rounding::Down, RoundingControl::RoundDown),
        (Rounding::Up, RoundingControl::RoundUp),
        (Rounding::Zero, RoundingControl::RoundTowardZero),
    ] {
        assert_eq!(registers(sum.rounded(rounding)).rounding_control(), expected);
    }
    for mask in 1..8 {
        let of = registers(sum.masked(mask));
        assert_eq!((of.op_mask().number() as u8, of.zeroing_masking()), (mask, false));
        let of = registers(sum.zero_masked(mask));
        assert_eq!((of.op_mask().number() as u8, of.zeroing_masking()), (mask, true));
    }
    for (row, width, is_evex) in forms().filter(|(row, ..)| row.has_immediate) {
        let of = registers(inst(row, width, is_evex, [1, 0], Operand::Register(2)).with_immediate(0x50));
        match row.name {
            "vpblendvb" => assert_eq!(of.op_register(3).number(), 5),
            _ => assert_eq!(of.immediate8(), 0x50, "{of:?}"),
        }
    }
}

#[test]
fn short_prefixes_are_used() {
    let length = |registers: [u8; 2], last| {
        encoded(|code| code.vector(VectorInst::new(&VPADDD, VectorWidth::B256, registers, last))).len()
    };
    assert_eq!(length([1, 2], Operand::Register(3)), 4);
    assert_eq!(length([9, 10], Operand::Register(3)), 4);
    assert_eq!(length([1, 2], Operand::Register(9)), 5);
    assert_eq!(length([17, 2], Operand::Register(3)), 6);
    let load = |displacement| {
        let from = Operand::Memory(Memory::at(register::RCX, displacement));
        encoded(|code| code.vector(VectorInst::new(&VMOVDQU_LOAD, VectorWidth::B512, [1, 0], from))).len()
    };
    assert_eq!([load(0), load(64 * 127), load(64 * 128), load(65)], [6, 7, 10, 10]);
}

/// Returns the text that iced has for an instruction: its mnemonic, its operands and its immediate.
fn text(append: impl FnOnce(&mut Assembler)) -> String {
    let of = encoded(append);
    let mut text = mnemonic(&of);
    for operand in 0..of.op_count() {
        text += &match of.op_kind(operand) {
            OpKind::Register => format!(" {:?}", of.op_register(operand)).to_lowercase(),
            OpKind::Memory => {
                let (base, size) = (of.memory_base(), of.memory_size().size());
                format!(" {size}[{base:?}{:+}]", of.memory_displacement64() as i64).to_lowercase()
            }
            OpKind::NearBranch64 => format!(" {:#x}", of.near_branch64()),
            _ => format!(" {}", of.immediate(operand) as i64),
        };
    }
    text
}

#[test]
fn general_instructions() {
    use register::{R8, R9, R12, R13, RAX, RBX, RDI, RSI};
    let memory = Memory::at(R13, 8);
    let general = Operand::Register;
    assert_eq!(text(|a| a.load(Size::Dword, RAX, Operand::Memory(memory))), "mov eax 4[r13+8]");
    assert_eq!(text(|a| a.load(Size::Qword, R12, general(RDI))), "mov r12 rdi");
    assert_eq!(text(|a| a.load_extended(Size::Byte, true, R9, memory)), "movsx r9d 1[r13+8]");
    assert_eq!(text(|a| a.load_extended(Size::Word, false, RBX, Memory::at(R12, 0))), "movzx ebx 2[r12+0]");
    assert_eq!(text(|a| a.store(Size::Byte, RSI, memory)), "mov 1[r13+8] sil");
    assert_eq!(text(|a| a.store(Size::Word, R8, memory)), "mov 2[r13+8] r8w");
    assert_eq!(text(|a| a.store(Size::Dword, RAX, Memory::at(RBX, 1000))), "mov 4[rbx+1000] eax");
    assert_eq!(text(|a| a.store(Size::Qword, R9, Memory::at(RBX, -4))), "mov 8[rbx-4] r9");
    assert_eq!(text(|a| a.set(R9, 7)), "mov r9d 7");
    assert_eq!(text(|a| a.set_address(RAX, 1 << 40)), "mov rax 1099511627776");
    for (op, name) in [
        (Alu::Add, "add"),
        (Alu::Or, "or"),
        (Alu::And, "and"),
        (Alu::Sub, "sub"),
        (Alu::Xor, "xor"),
        (Alu::Compare, "cmp"),
    ] {
        assert_eq!(text(|a| a.alu(op, Size::Qword, RAX, general(R9))), format!("{name} rax r9"));
        assert_eq!(text(|a| a.alu(op, Size::Dword, R8, Operand::Memory(memory))), format!("{name} r8d 4[r13+8]"));
        assert_eq!(text(|a| a.alu_immediate(op, Size::Qword, general(R9), -2)), format!("{name} r9 -2"));
        let wide = text(|a| a.alu_immediate(op, Size::Dword, Operand::Memory(memory), 1 << 20));
        assert_eq!(wide, format!("{name} 4[r13+8] 1048576"));
    }
    assert_eq!(text(|a| a.test_bits(R9, 3)), "test r9d 3");
    assert_eq!(text(|a| a.test(Size::Qword, RAX, R8)), "test r8 rax");
    assert_eq!(text(|a| a.multiply(R9, -3)), "imul r9 r9 -3");
    assert_eq!(text(|a| a.extend_sign(R9)), "movsxd r9 r9d");
    assert_eq!(text(|a| a.count_ones(RAX, R9)), "popcnt eax r9d");
    assert_eq!(text(|a| a.lowest_bit(RAX, R9)), "bsf eax r9d");
    assert_eq!(text(|a| a.shift_left(R8, 16)), "shl r8 16");
    assert_eq!(text(|a| a.shift_right(RAX, 2)), "shr rax 2");
    assert_eq!(text(|a| a.address(RDI, memory)), "lea rdi 0[r13+8]");
    assert_eq!(text(|a| a.push(R12)), "push r12");
    assert_eq!(text(|a| a.pop(RBX)), "pop rbx");
    assert_eq!(text(|a| a.call(R9)), "call r9");
    assert_eq!(text(|a| a.jump_to_address(RAX)), "jmp rax");
    assert_eq!(text(Assembler::zero_upper), "vzeroupper");
    assert_eq!(text(Assembler::ret), "ret");
}

#[test]
fn labels_are_reached() {
    let label = |append: fn(&mut Assembler, Label)| {
        text(|a| {
            let start = a.label();
            a.bind(start);
            append(a, start);
        })
    };
    assert_eq!(label(Assembler::jump), "jmp 0x0");
    for (condition, name) in
        [(Condition::Below, "jb"), (Condition::Equal, "je"), (Condition::NotEqual, "jne"), (Condition::Above, "ja")]
    {
        let text = text(|a| {
            let start = a.label();
            a.bind(start);
            a.jump_if(condition, start);
        });
        assert_eq!(text, format!("{name} 0x0"));
    }
    let mut assembler = Assembler::default();
    let unbound = assembler.label();
    assembler.jump(unbound);
    assert_eq!(assembler.finish(), None);
}
