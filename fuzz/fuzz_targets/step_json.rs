//! Every line of JSON is executed as a test vector on HALU and on VP1, or rejected. Native code
//! gives the same results as the interpreter.
#![no_main]

use halfbyte::launch::Engine;
use halfbyte_prove::json::{LineError, Members};
use halfbyte_prove::step;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(members) = serde_json::from_slice::<Members>(data) else { return };
    let machines: [fn(&Members, Engine) -> Result<Members, LineError>; 2] = [step::halu, step::vp1];
    for step in machines {
        match step(&members, Engine::Interp) {
            Ok(post) => assert_eq!(step(&members, Engine::JIT), Ok(post)),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
});
