//! Every valid kernel is compiled or rejected, both with all passes and with few. On the interpreter and as native
//! code, compiled code gives the evaluator's results, and traps on the same inputs.
#![no_main]

use halfbyte::Module;
use halfbyte_fuzz::kernels::agree;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(module) = Module::parse(text) {
        agree(&module);
    }
});
