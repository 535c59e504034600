//! Every text is assembled as HALU code or rejected. The disassembly of an assembled program
//! assembles to the same instruction words.
#![no_main]

use halfbyte::isa::halu::{Inst, assemble, disassemble};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match assemble(text) {
    Ok(program) => {
        let printed = disassemble(&program.words);
        assert_eq!(assemble(&printed).map(|program| program.words).as_ref(), Ok(&program.words), "{printed}");
        let decoded = program.words.iter().filter_map(|&word| Inst::decode(word));
        decoded.for_each(|inst| assert_eq!(inst.to_string().parse(), Ok(inst)));
    }
    Err(errors) => {
        for error in errors {
            let line = text.lines().nth(error.line - 1).unwrap_or_default();
            assert!(line.get(error.span.clone()).is_some(), "{error:?}");
            let _ = error.to_string();
        }
    }
});
