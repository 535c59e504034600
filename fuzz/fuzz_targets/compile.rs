//! Every valid kernel is compiled or rejected, with passes and without. Compiled code gives the
//! evaluator's results and traps on the same inputs, on the interpreter and as native code.
#![no_main]

use halfbyte::Module;
use halfbyte_fuzz::kernels::agree;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(module) = Module::parse(text) {
        agree(&module);
    }
});
