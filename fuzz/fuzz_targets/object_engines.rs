//! The kernels of every object give the same results on the interpreter and as native code, on one
//! thread and on several.
#![no_main]

use halfbyte_fuzz::engines::agree;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(program) = halfbyte::TARGETS.load(data) else { return };
    if [halfbyte::HALU, halfbyte::VP1].contains(&program.header().target) {
        program.kernels().iter().take(2).for_each(|kernel| agree(&program, kernel, data.len() % 4));
    }
});
