//! HALU instructions give the same results on the interpreter and as native code, on one thread and on several.
#![no_main]

use halfbyte::abi::{Direction, Param, ParamKind, Signature, Type};
use halfbyte::emit::KernelCode;
use halfbyte::isa::halu::{Inst, Opcode, assemble};
use halfbyte::isa::object::{Header, KernelInfo, Loc};
use halfbyte_fuzz::engines::{agree, load};
use libfuzzer_sys::fuzz_target;

/// Maximum number of generated instructions in a program.
const MOST: usize = 48;

/// The first instructions of every program, which load the addresses of the buffers, and three
/// words at the item's position as operands.
const HEAD: &str = "\
    ULDC.64 UR0, c[0x0][0x160] ;
    ULDC.64 UR2, c[0x0][0x168] ;
    S2R R0, SR_ITEM ;
    SHF.L.U32 R1, R0, 0x2, RZ ;
    LDG R2, [R1.U32+UR0] ;
    LDG R3, [R1.U32+UR0+0x4] ;
    LDG R4, [R1.U32+UR0+0x8] ;
";
const TAIL: &str = "\
    STG [R1.U32+UR2], R2 ;
    EXIT ;
";

fuzz_target!(|data: &[u8]| {
    let words = |text| assemble(text).expect("it is assembly").words;
    let mut all = words(HEAD);
    all.extend(data.as_chunks::<16>().0.iter().take(MOST).map(instruction));
    all.extend(words(TAIL));
    let elem = Type::from_name("i32").expect("it is a type");
    let buffer = |name: &str, direction| Param {
        name: name.to_owned(),
        kind: ParamKind::Buffer { direction, elem, align: 4, may_alias: false },
    };
    let mut params = vec![buffer("x", Direction::In), buffer("y", Direction::InOut), buffer("z", Direction::InOut)];
    params.extend(["a", "b"].map(|name| Param { name: name.to_owned(), kind: ParamKind::Scalar(elem) }));
    let code = KernelCode {
        info: KernelInfo {
            signature: Signature::new("k", params).expect("names differ"),
            local_bytes: 0x20,
            registers: 255,
            tiles: None,
            max_items: u32::MAX,
            shared_bytes: None,
            scratch_bytes: 0,
            along_x: false,
        },
        locs: vec![Loc::default(); all.len()],
        words: halfbyte::isa::halu::HaluCode(all).into(),
        parts: Vec::new(),
        stats: Vec::new(),
    };
    let Some(program) = load(&Header { target: halfbyte::HALU, source: "fuzzed".into() }, code) else { return };
    program.kernels().iter().for_each(|kernel| agree(&program, kernel, data.len() % 4));
});

/// Returns the instruction word in the bytes if it is valid. Otherwise, returns an instruction word
/// whose opcode and fields the bytes determine.
fn instruction(bytes: &[u8; 16]) -> u128 {
    let word = u128::from_le_bytes(*bytes);
    if Inst::decode(word).is_some() {
        return word;
    }
    let opcode = Opcode::ALL[usize::from(bytes[0]) % Opcode::ALL.len()];
    let mut state = word >> 8;
    let mut next = || {
        state = state.rotate_right(23).wrapping_mul(0x2545_F491_4F6C_DD1D_9E37_79B9_7F4A_7C15) | 1;
        (state >> 64) as u64
    };
    let inst = Inst::random(opcode, &mut next);
    // With few different register numbers, instructions depend on each other more often.
    let near = opcode.registers().iter().fold(inst, |mut inst, slot| {
        inst.set(slot.field, next() % 8 / u64::from(slot.span) * u64::from(slot.span));
        inst
    });
    if near.is_valid() { near.word() } else { inst.word() }
}
