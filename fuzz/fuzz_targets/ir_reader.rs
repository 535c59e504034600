//! Every text is parsed as IR or rejected. The printed form of a parsed module parses to the same module.
#![no_main]

use halfbyte::ir::diag::Diagnostics;
use halfbyte::ir::{text, verify};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| match text::read(source) {
    Ok(module) => {
        module.kernels.iter().for_each(|kernel| assert_eq!(verify(kernel), Ok(())));
        let printed = text::print(&module);
        match text::read(&printed) {
            Ok(again) => assert_eq!(text::print(&again), printed),
            Err(list) => panic!("{}", Diagnostics { file: "printed", source: &printed, list: &list }),
        }
    }
    Err(list) => {
        assert!(!list.is_empty());
        let _ = Diagnostics { file: "fuzzed", source, list: &list }.to_string();
    }
});
