//! Every PTX text is parsed, or rejected with errors at locations in the text. The printed form of a parsed module
//! parses to the same module. Linked with an empty text, the text is parsed, too. The kernels of the module are imported to valid kernels, or rejected.
#![no_main]

use halfbyte::import_ptx::{Shape, import};
use halfbyte::ir::verify;
use halfbyte::isa::ptx::text::{link, read};
use libfuzzer_sys::fuzz_target;

/// A text without declarations.
const EMPTY: &str = ".version 1.4\n.target sm_10\n.address_size 64\n";

fuzz_target!(|source: &str| match read(source) {
    Ok(text) => {
        let printed = text.module.to_string();
        match read(&printed) {
            Ok(again) => assert!(again.module == text.module, "{printed}"),
            Err(errors) => panic!("{errors:?}\n{printed}"),
        }
        if let Ok(linked) = link(&[source, EMPTY]) {
            match read(&linked) {
                Ok(again) => assert!(again.module.entries.len() == text.module.entries.len(), "{linked}"),
                Err(errors) => panic!("{errors:?}\n{linked}"),
            }
        }
        for shape in [Shape::default(), Shape { grid: Some([3, 1, 1]), block: Some([24, 1, 1]) }] {
            match import("fuzzed.ptx", source, shape) {
                Ok(module) => module.ir().kernels.iter().for_each(|kernel| assert_eq!(verify(kernel), Ok(()))),
                Err(report) => {
                    let said = report.to_string();
                    assert!(!said.contains("a defect of the import"), "{said}");
                }
            }
        }
    }
    Err(errors) => {
        assert!(!errors.is_empty());
        for error in errors {
            let line = source.split('\n').nth(error.at.line as usize - 1);
            assert!(line.is_some_and(|line| error.at.column as usize <= line.len() + 1), "{error}");
        }
    }
});
