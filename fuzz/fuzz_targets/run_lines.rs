//! Any text has run lines that are read, or refused at places in it; the values of what is read fit a type or are refused, and
//! print as they read.
#![no_main]

use halfbyte::ir::{Direction, ParamKind, Type};
use halfbyte_testkit::runlines::{RunLine, read, read_ptx};
use halfbyte_testkit::values::{Loader, Value, ValueKind, list};
use libfuzzer_sys::fuzz_target;

/// Elements of a buffer that is made: more only take time.
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

/// The bytes of a value for some types, `seed` choosing which.
fn values(value: &Value, seed: usize) {
    match value.kind {
        // What is on this machine is no input.
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
