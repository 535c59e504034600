//! Every file of text tests is parsed or rejected, and its tests run. If expected outputs differ,
//! they are updated. The updated file parses again, and no output differs.
#![no_main]

use halfbyte_testkit::testing::TestFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match TestFile::read("fuzzed.hb", text) {
    Ok(file) => {
        let outcome = file.run();
        let _ = file.report(&outcome).map(|report| report.to_string());
        let renewed = file.updated_text(&outcome);
        assert_eq!(renewed.as_deref().and_then(renew), None, "{text}");
    }
    Err(report) => drop(report.to_string()),
});

/// Returns the text of the tests with updated expected outputs, or `None` if no output differs.
fn renew(text: &str) -> Option<String> {
    let file = TestFile::read("fuzzed.hb", text).unwrap_or_else(|report| panic!("{report}\n{text}"));
    file.updated_text(&file.run())
}
