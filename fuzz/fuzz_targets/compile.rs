//! Any well-formed kernel is compiled or refused, with passes and without; what is compiled gives the evaluator's bits, and
//! traps where it traps, on the interpreter and as native code.
#![no_main]

use halfbyte::Module;
use halfbyte_fuzz::kernels::agree;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(module) = Module::parse(text) {
        agree(&module);
    }
});
