//! Every text in the kernel language is compiled to IR or rejected, and every reported location
//! lies in the text. The printed IR parses to the same IR. The formatter does not change the
//! meaning of a text, and formatting twice has no further effect.
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
