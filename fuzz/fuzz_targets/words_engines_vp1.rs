//! VP1 instructions give the same results on the interpreter and as native code, on one thread and on several.
#![no_main]

use halfbyte::emit::KernelCode;
use halfbyte::isa::object::Loc;
use halfbyte::isa::vp1::{Inst, Opcode};
use halfbyte_fuzz::engines::{agree, load};
use libfuzzer_sys::fuzz_target;

/// Maximum number of generated instruction words in a program. The words of the seed object follow.
const MOST: usize = 64;

const STREAMS: &[u8] = include_bytes!("../seeds/objects/vp1_streams.o");
const BRIGHTEN: &[u8] = include_bytes!("../seeds/objects/vp1_brighten.o");

fuzz_target!(|data: &[u8]| {
    let Some((&which, rest)) = data.split_first() else { return };
    let seed = halfbyte::TARGETS.load(if which % 2 == 0 { STREAMS } else { BRIGHTEN }).expect("it is an object");
    let Some(kernel) = seed.kernels().first() else { return };
    let Some(halfbyte::isa::vp1::Vp1Code(own)) = kernel.words().downcast_ref() else { return };
    let mut words: Vec<u32> =
        rest.as_chunks().0.iter().take(MOST).map(|&bytes| word(u32::from_le_bytes(bytes))).collect();
    // A branch target must be at a multiple of four instruction words.
    words.truncate(words.len() / 4 * 4);
    words.extend_from_slice(own);
    let code = KernelCode {
        info: kernel.info().clone(),
        locs: vec![Loc::default(); words.len()],
        words: halfbyte::isa::vp1::Vp1Code(words).into(),
        parts: Vec::new(),
        stats: Vec::new(),
    };
    let Some(program) = load(seed.header(), code) else { return };
    program.kernels().iter().for_each(|kernel| agree(&program, kernel, data.len() % 4));
});

/// Returns the instruction word, with another opcode if the word would trap. An undefined
/// instruction, a DMA instruction, and a move from or to a register outside the processor trap.
fn word(word: u32) -> u32 {
    use Opcode::*;
    let traps = |op: Opcode| {
        matches!(op, XDLD_I | XDLD | XDST_I | XDST | XDBAR_R | XDBAR_I | XDWAIT_R | XDWAIT_I)
            || op.name().starts_with("MOV_") && (op.name().contains("SR") || op.name().contains("MI"))
    };
    match Inst::decode(word) {
        Some(inst) if !traps(inst.opcode()) => word,
        _ => 0x8c00_0000 | word & 0xff_ffff,
    }
}
