//! Any file of text tests is read or refused; its tests run, and with the outputs renewed that differ it is read again, and no
//! output differs.
#![no_main]

use halfbyte::testing::TestFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match TestFile::read("fuzzed.hb", text) {
    Ok(file) => {
        let outcome = file.run();
        let _ = file.report(&outcome).map(|report| report.to_string());
        if let Some(blessed) = file.blessed(&outcome) {
            let again = TestFile::read("fuzzed.hb", &blessed).unwrap_or_else(|report| panic!("{report}\n{blessed}"));
            let renewed = again.blessed(&again.run());
            assert_eq!(renewed, None, "{blessed}");
        }
    }
    Err(report) => drop(report.to_string()),
});
