//! JUnit reports for CI systems. A report has a test suite for each file and a test case for each test.

use std::path::Path;
use std::time::Duration;

use xml::EmitterConfig;
use xml::writer::{EventWriter, XmlEvent};

use super::io::write;
use super::{Done, Failure};

/// The tests of a file.
pub(super) struct Suite {
    /// The file's name.
    pub name: String,
    /// The total time of the tests; `None` for the sum of the times of all tests.
    pub time: Option<Duration>,
    /// The tests of the file, in order.
    pub cases: Vec<Case>,
}

/// One test of a file.
pub(super) struct Case {
    /// The test's name.
    pub name: String,
    /// The line of the test in the file, if any.
    pub line: Option<usize>,
    /// The time that the test took, if measured.
    pub time: Option<Duration>,
    /// Result of the test.
    pub verdict: Verdict,
}

/// Result of a test.
pub(super) enum Verdict {
    /// The test passed.
    Passed,
    /// The test ran and failed. `message` is a short reason and `text` a long one.
    Failed { message: String, text: String },
    /// The test could not run. `message` is a short reason and `text` a long one.
    Error { message: String, text: String },
    /// The test was skipped, for this reason.
    Skipped { message: String },
}

/// Writes a JUnit report to a file, or to standard output for `-`.
pub(super) fn report(path: &Path, command: &str, suites: &[Suite]) -> Done {
    let mut bytes = Vec::new();
    document(&mut bytes, command, suites).map_err(Failure::input)?;
    bytes.push(b'\n');
    write(Some(path), &bytes)
}

fn document(bytes: &mut Vec<u8>, command: &str, suites: &[Suite]) -> xml::writer::Result<()> {
    let mut out = EmitterConfig::new().perform_indent(true).create_writer(bytes);
    let mut all = Counts::of(suites.iter().flat_map(|suite| &suite.cases));
    let time = |suite: &Suite| suite.time.unwrap_or_else(|| Counts::of(&suite.cases).time);
    all.time = suites.iter().map(time).sum();
    let name = format!("halfbyte {command}");
    out.write(all.element("testsuites", &name, &all.attributes()))?;
    for suite in suites {
        let counts = Counts { time: time(suite), ..Counts::of(&suite.cases) };
        let name = legal(&suite.name);
        out.write(counts.element("testsuite", &name, &counts.attributes()))?;
        for case in &suite.cases {
            one(&mut out, &name, case)?;
        }
        out.write(XmlEvent::end_element())?;
    }
    out.write(XmlEvent::end_element())
}

fn one(out: &mut EventWriter<&mut Vec<u8>>, file: &str, case: &Case) -> xml::writer::Result<()> {
    let (name, line) = (legal(&case.name), case.line.map(|line| line.to_string()));
    let time = case.time.map(seconds);
    let element = XmlEvent::start_element("testcase").attr("name", &name).attr("classname", file).attr("file", file);
    let known = [("line", &line), ("time", &time)];
    let known = known.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
    out.write(known.fold(element, |element, (name, value)| element.attr(name, value)))?;
    let (kind, message, text) = match &case.verdict {
        Verdict::Passed => return out.write(XmlEvent::end_element()),
        Verdict::Failed { message, text } => ("failure", message, text.as_str()),
        Verdict::Error { message, text } => ("error", message, text.as_str()),
        Verdict::Skipped { message } => ("skipped", message, ""),
    };
    out.write(XmlEvent::start_element(kind).attr("message", &legal(message)))?;
    if !text.is_empty() {
        out.write(XmlEvent::characters(&legal(text)))?;
    }
    out.write(XmlEvent::end_element())?;
    out.write(XmlEvent::end_element())
}

/// The number of tests with each result.
#[derive(Default)]
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    time: Duration,
}

impl Counts {
    fn of<'c>(cases: impl IntoIterator<Item = &'c Case>) -> Counts {
        let mut counts = Counts::default();
        for case in cases {
            counts.tests += 1;
            counts.time += case.time.unwrap_or_default();
            match case.verdict {
                Verdict::Passed => {}
                Verdict::Failed { .. } => counts.failures += 1,
                Verdict::Error { .. } => counts.errors += 1,
                Verdict::Skipped { .. } => counts.skipped += 1,
            }
        }
        counts
    }

    fn attributes(&self) -> [String; 5] {
        let [tests, failures, errors, skipped] =
            [self.tests, self.failures, self.errors, self.skipped].map(|count| count.to_string());
        [tests, failures, errors, skipped, seconds(self.time)]
    }

    fn element<'e>(&self, kind: &'static str, name: &'e str, attributes: &'e [String; 5]) -> XmlEvent<'e> {
        let names = ["tests", "failures", "errors", "skipped", "time"];
        let element = XmlEvent::start_element(kind).attr("name", name);
        names.into_iter().zip(attributes).fold(element, |element, (name, value)| element.attr(name, value)).into()
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

/// Replaces the characters of a text that XML cannot represent.
fn legal(text: &str) -> String {
    let shown = |c: char| match c {
        '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'.. => c,
        _ => '\u{fffd}',
    };
    text.chars().map(shown).collect()
}
