//! Every 32-bit word decodes to a VP1 instruction or prints as `.word`. Its disassembly assembles
//! to a word with the same disassembly, alone and in a program.
#![no_main]

use halfbyte::isa::vp1::{Inst, assemble, disassemble, read_word, word_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let words: Vec<u32> = data.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    for (at, &word) in (0..).zip(&words) {
        if let Some(inst) = Inst::decode(word) {
            assert_eq!(inst.word(), word);
        }
        let line = word_text(word, at);
        let read = read_word(&line, at).map(|word| word_text(word, at));
        assert_eq!(read.as_ref(), Ok(&line), "{word:#010x}");
    }
    let text = disassemble(&words);
    let again = assemble(&text).map(|program| disassemble(&program.words));
    assert_eq!(again.as_ref(), Ok(&text));
});
