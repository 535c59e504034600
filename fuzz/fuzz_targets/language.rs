//! Any text in the language is read or refused, each place that is named is one of the text, and what is read is IR that reads back to the same. What
//! is formatted is the same text to the reader, and formatting it again changes nothing.
#![no_main]

use halfbyte::ir::diag::Diagnostics;
use halfbyte::ir::{text, verify};
use halfbyte::lang::{StdOnly, format, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    let made = read(source, "fuzzed", &StdOnly);
    if let Ok(written) = format(source) {
        assert_eq!(format(&written).as_ref(), Ok(&written));
        let again = read(&written, "fuzzed", &StdOnly);
        assert_eq!(made.as_ref().map(text::print).ok(), again.as_ref().map(text::print).ok());
    }
    match made {
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
            assert!(list.iter().all(|error| source.get(error.span.start as usize..error.span.end as usize).is_some()));
            let _ = Diagnostics { file: "fuzzed", source, list: &list }.to_string();
        }
    }
});
