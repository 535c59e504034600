//! The run lines of every text are parsed, or rejected with errors at locations in the text. A
//! parsed value fits a type or is rejected. Its printed form parses to the same value.
#![no_main]

use halfbyte::args::{Loader, Value, ValueKind, list};
use halfbyte::ir::{Direction, ParamKind, Type};
use halfbyte_testkit::runlines::{RunLine, read, read_ptx};
use libfuzzer_sys::fuzz_target;

/// Maximum number of elements of a generated buffer. More elements would only take more time.
const MOST: u64 = 256;

fuzz_target!(|text: &str| {
    for lines in [read(text), read_ptx(text)] {
        match lines {
            Ok(lines) => {
                for run in lines.runs.iter().flat_map(RunLine::launches) {
                    assert!(text.get(run.span.start as usize..run.span.end as usize).is_some());
                    for ((name, span), value) in run.args.iter().chain(&run.results) {
                        assert_eq!(text.get(span.start as usize..span.end as usize), Some(name.as_str()));
                        values(value, name.len());
                    }
                }
            }
            Err(errors) => {
                assert!(!errors.is_empty());
                for error in errors {
                    assert!(text.get(error.span.start as usize..error.span.end as usize).is_some(), "{error}");
                }
            }
        }
    }
});

/// Checks that the bytes of a value can be printed and parsed to the same bytes, for several types.
/// `seed` determines the types.
fn values(value: &Value, seed: usize) {
    match value.kind {
        // The contents of files on this machine must not influence the result.
        ValueKind::File(_) => return,
        ValueKind::Zeros { count, .. } | ValueKind::Random { count, .. } if count > MOST => return,
        _ => {}
    }
    let loader = Loader::within(std::path::Path::new("."));
    for elem in Type::ALL.iter().copied().skip(seed % 3).step_by(3) {
        let kind = ParamKind::Buffer { direction: Direction::In, elem, align: 1, may_alias: false };
        if let Ok(bytes) = value.bytes(kind, &loader) {
            let printed = list(elem, &bytes);
            let again = Value::parse(&printed).and_then(|value| value.bytes(kind, &loader));
            assert_eq!(again.ok(), Some(bytes), "{elem}: {printed}");
        }
        let _ = value.bytes(ParamKind::Scalar(elem), &loader);
    }
}
