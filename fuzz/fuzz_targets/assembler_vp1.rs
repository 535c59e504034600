//! Every text is assembled for VP1 or rejected. The disassembly of an assembled program assembles
//! to a program with the same disassembly.
#![no_main]

use halfbyte::isa::vp1::{assemble, disassemble};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match assemble(text) {
    Ok(program) => {
        let printed = disassemble(&program.words);
        let again = assemble(&printed).map(|program| disassemble(&program.words));
        assert_eq!(again.as_ref(), Ok(&printed));
    }
    Err(errors) => {
        for error in errors {
            let line = text.lines().nth(error.line - 1).unwrap_or_default();
            assert!(line.get(error.span.clone()).is_some(), "{error:?}");
            let _ = error.to_string();
        }
    }
});
