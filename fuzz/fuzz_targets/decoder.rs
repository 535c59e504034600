//! Every 128-bit word decodes to a HALU instruction or prints as `.word`. Its disassembly assembles
//! to the same word, alone and in a program.
#![no_main]

use halfbyte::isa::halu::{Inst, assemble, disassemble, read_word, word_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let words: Vec<u128> = data.as_chunks().0.iter().map(|bytes| u128::from_le_bytes(*bytes)).collect();
    for &word in &words {
        if let Some(inst) = Inst::decode(word) {
            assert_eq!(inst.word(), word);
        }
        let line = word_text(word);
        assert_eq!(read_word(&line), Ok(word), "{line}");
    }
    let text = disassemble(&words);
    assert_eq!(assemble(&text).map(|program| program.words), Ok(words), "{text}");
});
