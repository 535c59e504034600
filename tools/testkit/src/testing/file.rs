//! Parser of text tests: `; test:` lines, kernels, and the expectations of their output.

use std::ops::Range;

use halfbyte::report::Report;
use halfbyte::target::Platform;
use halfbyte::{Module, TARGETS, pipeline};
use halfbyte_abi::{Sm, Target, Watchdog};
use halfbyte_ir::diag::Diagnostic;
use halfbyte_ir::text::closest;
use halfbyte_ir::{Op, Span, Type};
use halfbyte_lower::Pipeline;

use super::checks::{Check, CheckKind, Reader};
use super::coverage::{RuleId, find};
use super::directive::{Misspelt, misspelt};
use crate::runlines::comment;
use halfbyte::include::ModuleReader;

/// Prefix of each line of an expected output in the file.
pub(super) const MARK: &str = ";=";

/// The compiler stage whose output a test checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    Lower,
    Isel,
    Expand,
    Regalloc,
    Asm,
    Refuse,
}

impl Stage {
    const ALL: [Stage; 6] = [Stage::Lower, Stage::Isel, Stage::Expand, Stage::Regalloc, Stage::Asm, Stage::Refuse];
    const NAMES: &str = "lower, isel, expand, regalloc, asm or refuse";

    const fn name(self) -> &'static str {
        match self {
            Stage::Lower => "lower",
            Stage::Isel => "isel",
            Stage::Expand => "expand",
            Stage::Regalloc => "regalloc",
            Stage::Asm => "asm",
            Stage::Refuse => "refuse",
        }
    }
}

/// The contents of a `; test:` line.
#[derive(Clone)]
pub(super) struct Header {
    pub stage: Stage,
    /// The target; optional for `lower` alone.
    pub target: Option<Target>,
    /// The passes, if the test does not use the default pipeline.
    pub passes: Option<Pipeline>,
    /// The ops that the passes must legalise, each on one type or on all types. Only a test without
    /// a target lists them.
    pub without: Vec<(Op, Option<Type>)>,
    /// The group size along x, y and z, if all launches have the same size.
    pub block: Option<[u32; 3]>,
}

/// A test: a kernel with the expectations of its output.
pub(super) struct Test {
    pub kernel: String,
    /// The span of the kernel's name.
    pub name: Span,
    /// The byte range in the file from this kernel to the next.
    pub text: Range<usize>,
    pub header: Header,
    pub checks: Vec<Check>,
    pub rules: Vec<RuleCheck>,
    pub whole: Option<ExpectedOutput>,
}

/// An expectation that a rule is applied (`rule:`), or that it is not (`no rule:`).
pub(super) struct RuleCheck {
    pub name: String,
    /// The span of the rule's name.
    pub span: Span,
    pub is_wanted: bool,
    /// The rules with this name.
    pub rules: Vec<RuleId>,
}

/// The expected output of a test: the lines with the prefix `;=`.
pub(super) struct ExpectedOutput {
    /// The byte range of these lines in the file.
    pub range: Range<usize>,
    /// The lines with their prefix, each with its span in the file.
    pub lines: Vec<(Span, String)>,
}

/// The text tests of a file.
pub struct TestFile {
    pub(super) file: String,
    pub(super) text: String,
    pub(super) tests: Vec<Test>,
}

impl TestFile {
    /// Parses the tests of a text. Messages use `file` as the name of the text.
    ///
    /// # Errors
    /// Fails if a kernel or a directive is invalid, if a kernel has no expectation, or if the file has no test.
    pub fn read(file: &str, text: &str) -> Result<TestFile, Report> {
        TestFile::read_within(file, text, None)
    }

    /// Parses the tests of a text within the limits of a watchdog.
    ///
    /// # Errors
    /// Fails in the same cases as [`TestFile::read`], or if a limit is exceeded.
    pub fn read_within(file: &str, text: &str, watchdog: Option<&Watchdog>) -> Result<TestFile, Report> {
        let module = ModuleReader::of(file).watched(watchdog).read(text)?;
        let mut parser = Parser {
            text,
            tests: Vec::new(),
            headers: Vec::new(),
            is_expecting: false,
            last_inst: 0,
            errors: Vec::new(),
        };
        parser.parse(&module);
        let Parser { tests, mut errors, .. } = parser;
        if errors.is_empty() {
            return Ok(TestFile { file: file.to_owned(), text: text.to_owned(), tests });
        }
        errors.sort_by_key(|error| error.span.start);
        Err(Report::new(file, text, errors))
    }
}

struct Parser<'t> {
    text: &'t str,
    tests: Vec<Test>,
    /// The `; test:` lines with their spans; `None` for an invalid line. The flag is `true` if a
    /// kernel follows the line.
    headers: Vec<(Span, Option<Header>, bool)>,
    /// `true` if the last kernel has an expectation, even an invalid one.
    is_expecting: bool,
    /// The byte offset of the last instruction of the last kernel.
    last_inst: usize,
    errors: Vec<Diagnostic>,
}

impl Parser<'_> {
    fn parse(&mut self, module: &Module) {
        let kernels = &module.ir().kernels;
        if kernels.is_empty() {
            let span = Span { start: 0, end: 0 };
            return self.errors.push(Diagnostic::new(span, "the file has no test").expected("a kernel"));
        }
        // The span of a kernel covers only its name. The test starts at the keyword `kernel` in front of the name.
        let word = |at: u32| self.text.get(..at as usize).and_then(|before| before.rfind("kernel")).unwrap_or(0);
        let starts: Vec<usize> = kernels.iter().map(|kernel| word(kernel.span.start)).collect();
        let mut next = 0;
        let mut reader = Reader::default();
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            while let (Some(&begin), Some(kernel)) = (starts.get(next), kernels.get(next))
                && begin < start + line.len()
            {
                self.finish();
                let end = starts.get(next + 1).copied().unwrap_or(self.text.len());
                self.begin(kernel.name.clone(), kernel.span, begin..end);
                self.last_inst = kernel.insts.values().map(|inst| inst.span.start as usize).max().unwrap_or(begin);
                reader = Reader::default();
                next += 1;
            }
            self.line(line, start, &mut reader);
            start += line.len();
        }
        self.finish();
        for (span, _, used) in &self.headers {
            if !used {
                self.errors.push(Diagnostic::new(*span, "there is no kernel after this line"));
            }
        }
    }

    /// Starts the test of the next kernel in the file.
    fn begin(&mut self, kernel: String, name: Span, text: Range<usize>) {
        let header = match self.headers.last_mut() {
            Some((_, header, used)) => {
                *used = true;
                header.clone()
            }
            None => {
                let wrong = Diagnostic::new(name, format!("there is no `; test:` line for @{kernel}"));
                self.errors.push(wrong.expected("a line `; test: STAGE TARGET` above it"));
                None
            }
        };
        self.is_expecting = false;
        // The error of an invalid `; test:` line has been reported. The expectations below it are still parsed.
        let header = header.unwrap_or(Header {
            stage: Stage::Lower,
            target: None,
            passes: None,
            without: Vec::new(),
            block: None,
        });
        self.tests.push(Test { kernel, name, text, header, checks: Vec::new(), rules: Vec::new(), whole: None });
    }

    /// Ends the test of the last kernel, which must have an expectation.
    fn finish(&mut self) {
        let Some(test) = self.tests.last() else { return };
        if !self.is_expecting {
            let wrong = Diagnostic::new(test.name, format!("@{} has no expectation", test.kernel));
            self.errors.push(wrong.expected("`; check: TEXT`, `; rule: NAME`, or `;=` for its whole output"));
        }
    }

    fn line(&mut self, line: &str, start: usize, reader: &mut Reader) {
        let shown = line.trim_end();
        let span = |from: usize| Span { start: (start + from) as u32, end: (start + shown.len()) as u32 };
        if shown.starts_with(MARK) {
            self.is_expecting = true;
            let range = start..start + line.len();
            return self.whole_line(shown, span(0), range);
        }
        let Some(at) = comment(shown) else { return };
        let words = shown.get(at..).unwrap_or_default();
        let is_alone = shown.trim_start().starts_with(';');
        if is_alone && words.starts_with('=') {
            self.is_expecting = true;
            let wrong = Diagnostic::new(span(at - 1), "a line of the expected output is indented");
            return self.errors.push(wrong.expected("`;=` at the start of the line"));
        }
        if let Some(Misspelt { word, message, expected }) = misspelt(words) {
            self.is_expecting = true;
            let place = Span { end: (start + at + word.end) as u32, ..span(at + word.start) };
            return self.errors.push(Diagnostic::new(place, message).expected(expected));
        }
        let Some((word, rest)) = words.trim_start().split_once(':') else { return };
        let pattern = rest.trim();
        let place = span(shown.len() - rest.trim_start().len());
        match (word, CheckKind::named(word)) {
            ("test", _) if !is_alone => {
                let wrong =
                    Diagnostic::new(place, "a `; test:` comment must be on a line of its own, above the kernels");
                self.errors.push(wrong);
            }
            ("test", _) => {
                let header = self.header(pattern, place);
                let header = header.map_err(|wrong| self.errors.push(wrong)).ok();
                self.headers.push((place, header, false));
            }
            (_, Some(kind)) => {
                self.is_expecting = true;
                match (reader.read(kind, pattern, place), self.tests.last_mut()) {
                    (_, None) => self.errors.push(no_kernel(place)),
                    (Ok(check), Some(test)) => test.checks.push(check),
                    (Err(wrong), Some(_)) => self.errors.push(wrong),
                }
            }
            ("rule", _) => self.rules(pattern, place, true),
            ("no rule", _) => self.rules(pattern, place, false),
            _ => {}
        }
    }

    fn whole_line(&mut self, shown: &str, span: Span, range: Range<usize>) {
        let Some(test) = self.tests.last_mut() else {
            return self.errors.push(no_kernel(span));
        };
        // An expected output inside the kernel would shift the line numbers in the output whenever it is rewritten.
        if range.start < self.last_inst {
            let wrong = Diagnostic::new(span, format!("the expected output is inside @{}", test.kernel));
            return self.errors.push(wrong.help("move the expected output below the kernel"));
        }
        let whole = test.whole.get_or_insert(ExpectedOutput { range: range.start..range.start, lines: Vec::new() });
        if whole.range.end != range.start {
            let wrong = Diagnostic::new(span, "the expected output is interrupted by other lines");
            return self.errors.push(wrong.help("put all `;=` lines of a kernel together"));
        }
        whole.range.end = range.end;
        whole.lines.push((span, shown.to_owned()));
    }

    fn rules(&mut self, names: &str, place: Span, is_wanted: bool) {
        self.is_expecting = true;
        let Some(test) = self.tests.last_mut() else {
            return self.errors.push(no_kernel(place));
        };
        if matches!(self.headers.last(), Some((_, None, _))) {
            return;
        }
        for (name, span) in words(names, place, ',') {
            match find(name, test.header.target) {
                Ok(rules) => test.rules.push(RuleCheck { name: name.to_owned(), span, is_wanted, rules }),
                Err(near) => {
                    let expected = near.map_or("a rule".to_owned(), |near| format!("a rule; did you mean `{near}`?"));
                    self.errors.push(Diagnostic::new(span, format!("there is no rule `{name}`")).expected(expected));
                }
            }
        }
    }

    /// Parses the text after `; test:`, which begins at `place`.
    fn header(&self, text: &str, place: Span) -> Result<Header, Diagnostic> {
        let mut words = words(text, place, ' ').into_iter().peekable();
        let Some((name, span)) = words.next() else {
            return Err(
                Diagnostic::new(place, "the line ends too early").expected(format!("a stage: {}", Stage::NAMES))
            );
        };
        let stage = Stage::ALL.into_iter().find(|stage| stage.name() == name);
        let unknown = || Diagnostic::new(span, format!("there is no stage `{name}`")).expected(Stage::NAMES);
        let stage = stage.ok_or_else(unknown)?;
        let target = match words.next_if(|(word, _)| !word.contains('=')) {
            Some((name, span)) => {
                let target = match Platform::from_name(name) {
                    Some(Platform::Target(target)) => target,
                    _ => {
                        return Err(
                            Diagnostic::new(span, format!("`{name}` is not a target")).expected(TARGETS.names())
                        );
                    }
                };
                Some(target)
            }
            None if stage == Stage::Lower => None,
            None => {
                let wrong = Diagnostic::new(span, format!("stage `{name}` needs a target"));
                return Err(wrong.expected(format!("{} after it", TARGETS.names())));
            }
        };
        if let (Stage::Expand, Some(target)) = (stage, target)
            && !pipeline::is_taken(name, target)
        {
            let wrong = Diagnostic::new(span, format!("stage `expand` does not exist for target `{target}`"));
            return Err(wrong.expected("`expand ptx`"));
        }
        let mut header = Header { stage, target, passes: None, without: Vec::new(), block: None };
        for (word, span) in words {
            match word.split_once('=') {
                Some(("passes", names)) => {
                    let names = names.split(',').filter(|name| !name.is_empty());
                    header.passes =
                        Some(Pipeline::named(names).map_err(|error| Diagnostic::new(span, error.to_string()))?);
                }
                Some(("sm", number)) if target.is_some_and(|target| target.sm().is_some()) => {
                    let sm = number.parse().ok().and_then(Sm::new);
                    let with_sm = sm.and_then(|sm| TARGETS.for_sm(target?, sm));
                    let unknown = || {
                        let wrong = Diagnostic::new(span, format!("PTX cannot be generated for SM `{number}`"));
                        wrong.expected(Sm::names())
                    };
                    header.target = Some(with_sm.ok_or_else(unknown)?);
                }
                Some(("block", counts)) if target.is_some() => {
                    let counts: Vec<u32> = counts.split(',').map_while(|count| count.parse().ok()).collect();
                    let block = <[u32; 3]>::try_from(counts).ok().filter(|block| !block.contains(&0));
                    let unknown =
                        || Diagnostic::new(span, format!("`{word}` is not a valid block")).expected("`block=X,Y,Z`");
                    header.block = Some(block.ok_or_else(unknown)?);
                }
                Some(("without", ops)) if target.is_none() => {
                    header.without = ops.split(',').map(|op| missing(op, span)).collect::<Result<_, _>>()?;
                }
                Some(("without", _)) => {
                    let wrong = Diagnostic::new(span, "`without=` cannot be combined with a target");
                    return Err(wrong.expected("`without=` after `lower` alone"));
                }
                _ => {
                    let wrong = Diagnostic::new(span, format!("`{word}` is invalid here"));
                    return Err(wrong.expected("`passes=PASS,..`, or after `lower` alone `without=OP.TYPE,..`"));
                }
            }
        }
        Ok(header)
    }
}

impl Header {
    /// Returns the passes over the IR that the test runs.
    pub(super) fn pipeline(&self) -> Pipeline {
        self.passes.clone().unwrap_or_default()
    }
}

fn no_kernel(span: Span) -> Diagnostic {
    Diagnostic::new(span, "there is no kernel before this line")
}

/// Parses an op with an optional type, such as `mul` or `mul.i8x4`.
fn missing(text: &str, span: Span) -> Result<(Op, Option<Type>), Diagnostic> {
    let (name, ty) = text.split_once('.').map_or((text, None), |(name, ty)| (name, Some(ty)));
    let unknown = |what: &str, name: &str, near: Option<&str>, expected: &str| {
        let expected = near.map_or(expected.to_owned(), |near| format!("{expected}; did you mean `{near}`?"));
        Diagnostic::new(span, format!("there is no {what} `{name}`")).expected(expected)
    };
    let op = Op::from_name(name).ok_or_else(|| {
        let near = closest(name, Op::ALL.iter().map(|op| op.name()));
        unknown("op", name, near, "`OP` or `OP.TYPE`")
    })?;
    let ty = match ty {
        None => None,
        Some(name) => Some(Type::from_name(name).ok_or_else(|| {
            let near = closest(name, Type::ALL.iter().map(|ty| ty.name()));
            unknown("type", name, near, "a type after the op")
        })?),
    };
    Ok((op, ty))
}

/// Splits a text at a character into non-empty parts. Each part has no blanks at its ends and has its span in the file.
fn words(text: &str, place: Span, between: char) -> Vec<(&str, Span)> {
    let mut words = Vec::new();
    let mut start = place.start;
    for part in text.split(between) {
        let word = part.trim();
        let at = start + (part.len() - part.trim_start().len()) as u32;
        if !word.is_empty() {
            words.push((word, Span { start: at, end: at + word.len() as u32 }));
        }
        start += (part.len() + between.len_utf8()) as u32;
    }
    words
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const KERNEL: &str = "kernel @k(%y: out i32) {\n^entry:\n  %i = item_id\n  store %i, %y[%i]\n  ret\n}\n";

    /// Returns the errors in a text: for each error its line number, the text of its span, and the message.
    fn errors(text: &str) -> Vec<(usize, String, String)> {
        let report = TestFile::read("t.hb", text).err().unwrap();
        let lines = halfbyte_ir::diag::Lines::new(text);
        let error = |error: &Diagnostic| {
            let Span { start, end } = error.span;
            let at = text.get(start as usize..end as usize).unwrap();
            (lines.position(start).line, at.to_owned(), error.to_string())
        };
        report.diagnostics().iter().map(error).collect()
    }

    #[test]
    fn headers_hold_for_the_kernels_below_them() {
        let other = KERNEL.replace("@k", "@l");
        let third = KERNEL.replace("@k", "@m");
        let text = format!(
            "; test: isel halu\n{KERNEL}; check: STG\n{other};=\n; test: lower without=add.i32,mul passes=canon,legalise\n{third}; rule: add_zero, lower::add_neg\n"
        );
        let file = TestFile::read("t.hb", &text).unwrap();
        let [first, second, third] = file.tests.as_slice() else { unreachable!() };
        assert_eq!((first.header.stage, first.header.target), (Stage::Isel, Some(halfbyte::HALU)));
        assert_eq!((first.checks.len(), first.whole.is_none()), (1, true));
        assert_eq!((second.header.stage, second.whole.as_ref().unwrap().lines.len()), (Stage::Isel, 1));
        assert_eq!((third.header.stage, third.header.target), (Stage::Lower, None));
        assert_eq!(third.header.without, [(Op::Add, Some(Type::I32)), (Op::Mul, None)]);
        assert_eq!(third.header.pipeline().names().collect::<Vec<_>>(), ["canon", "legalise"]);
        assert_eq!(
            third.rules.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>(),
            ["add_zero", "lower::add_neg"]
        );
    }

    /// Each kernel is parsed as a separate text, even if several kernels are on one line.
    #[test]
    fn kernels_may_stand_anywhere() {
        let other = KERNEL.replace("@k", "@l").replace("kernel @l", "kernel\n  @l");
        let text = format!("; test: lower\n{}{other}; check: store %i\n", KERNEL.trim_end());
        let found = errors(&text);
        assert_eq!((found.len(), found[0].1.as_str()), (1, "@k"), "{found:?}");
        let text = text.replace("ret\n}kernel", "ret ; check: store\n}kernel");
        let outcome = TestFile::read("t.hb", &text).unwrap().run();
        assert!(outcome.verdicts.iter().all(|verdict| verdict.failures.is_empty()), "{outcome:?}");
    }

    #[test]
    fn wrong_headers_are_shown_at_their_words() {
        for (header, at, message) in [
            ("", "", "the line ends too early; expected a stage: lower, isel, expand, regalloc, asm or refuse"),
            (
                "select halu",
                "select",
                "there is no stage `select`; expected lower, isel, expand, regalloc, asm or refuse",
            ),
            ("isel", "isel", "stage `isel` needs a target; expected halu, vp1 or ptx after it"),
            ("isel passes=canon", "isel", "stage `isel` needs a target; expected halu, vp1 or ptx after it"),
            ("isel hal", "hal", "`hal` is not a target; expected halu, vp1 or ptx"),
            ("expand vp1", "expand", "stage `expand` does not exist for target `vp1`; expected `expand ptx`"),
            (
                "asm ptx sm=85",
                "sm=85",
                "PTX cannot be generated for SM `85`; expected 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121",
            ),
            (
                "asm halu sm=75",
                "sm=75",
                "`sm=75` is invalid here; expected `passes=PASS,..`, or after `lower` alone `without=OP.TYPE,..`",
            ),
            ("asm ir", "ir", "`ir` is not a target; expected halu, vp1 or ptx"),
            (
                "asm halu fast",
                "fast",
                "`fast` is invalid here; expected `passes=PASS,..`, or after `lower` alone `without=OP.TYPE,..`",
            ),
            (
                "asm halu without=add",
                "without=add",
                "`without=` cannot be combined with a target; expected `without=` after `lower` alone",
            ),
            (
                "lower without=ad.i32",
                "without=ad.i32",
                "there is no op `ad`; expected `OP` or `OP.TYPE`; did you mean `add`?",
            ),
            (
                "lower without=add.i33",
                "without=add.i33",
                "there is no type `i33`; expected a type after the op; did you mean `i32`?",
            ),
        ] {
            let text = format!("\n; test: {header}\n{KERNEL}; rule: no_such_rule\n; check: x\n");
            assert_eq!(errors(&text), [(2, at.to_owned(), message.to_owned())], "{header}");
        }
        let unknown = errors(&format!("; test: lower passes=cannon\n{KERNEL};=\n"));
        assert!(unknown[0].2.contains("did you mean `canon`?"), "{unknown:?}");
    }

    #[test]
    fn a_file_must_test_something() {
        let one = |text: &str| errors(text).remove(0);
        assert_eq!(one("; nothing\n").2, "the file has no test; expected a kernel");
        let headless = one(&format!("{KERNEL};=\n"));
        assert_eq!((headless.0, headless.1.as_str()), (1, "@k"));
        assert_eq!(headless.2, "there is no `; test:` line for @k; expected a line `; test: STAGE TARGET` above it");
        let unexpecting = one(&format!("; test: asm halu\n{KERNEL}"));
        assert_eq!((unexpecting.0, unexpecting.1.as_str()), (2, "@k"));
        assert!(unexpecting.2.starts_with("@k has no expectation; expected `; check: TEXT`"), "{}", unexpecting.2);
        let below = one(&format!("; test: asm halu\n{KERNEL};=\n; test: asm vp1\n"));
        assert_eq!((below.0, below.2.as_str()), (9, "there is no kernel after this line"));
        for line in ["; check: x", "; rule: int_add", ";= x"] {
            let above = one(&format!("; test: asm halu\n{line}\n{KERNEL};=\n"));
            assert_eq!((above.0, above.2.as_str()), (2, "there is no kernel before this line"), "{line}");
        }
        assert!(one("; test: asm halu\nkernel @k() {\n").2.contains("unexpected end"));
    }

    /// If a misspelt directive were not an error, it would be ignored and the test would pass.
    #[test]
    fn misspelt_directives_are_errors() {
        for (comment, at, meant) in [
            ("; CHECK-NOT: STG", "CHECK-NOT", "not"),
            ("; check-not: STG", "check-not", "not"),
            ("; Never: STG", "Never", "never"),
            ("; CHECK_DAG: LDG", "CHECK_DAG", "check-dag"),
            ("; check-count-0: LDG", "check-count-0", "check-count-N"),
            (";  no_rule: int_add", "no_rule", "no rule"),
            (";; check: LDG", "check", "check"),
            ("; check LDG", "check", "check"),
            ("; Test: isel vp1", "Test", "test"),
        ] {
            let below = format!("; test: isel halu\n{KERNEL}; check: STG\n{comment}\n");
            let beside =
                format!("; test: isel halu\n{}; check: STG\n", KERNEL.replace("ret\n", &format!("ret {comment}\n")));
            let above = format!("; test: isel halu\n{comment}\n{KERNEL}; check: STG\n");
            for (text, line) in [(below, 9), (beside, 6), (above, 2)] {
                let found = errors(&text);
                assert_eq!((found.len(), found[0].0, found[0].1.as_str()), (1, line, at), "{comment}: {found:?}");
                assert!(found[0].2.contains(&format!("; expected `; {meant}: ")), "{comment}: {found:?}");
            }
        }
        // The misspelt directive is the only error. The kernel then has no expectation, but that is
        // not reported as well.
        let alone = errors(&format!("; test: isel halu\n{KERNEL}; CHECK: STG\n"));
        assert_eq!(alone.len(), 1, "{alone:?}");
    }

    #[test]
    fn ordinary_comments_and_run_lines_are_no_errors() {
        let comments = "; Note: a store.\n; Checks: one.\n; Not a load.\n; run: halu: @k items=1 -> y=[0]\n; refuse: vp1: x\n;\n; = 3\n";
        let text = format!(
            "; test: isel halu\n{comments}{}; check: STG\n",
            KERNEL.replace("ret\n", "ret ; Test of the tail\n")
        );
        assert_eq!(TestFile::read("t.hb", &text).unwrap().tests[0].checks.len(), 1);
    }

    #[test]
    fn directives_stand_where_they_count() {
        let one = |text: &str| errors(text).remove(0);
        let beside =
            one(&format!("; test: isel halu\n{}; check: STG\n", KERNEL.replace("ret\n", "ret ; test: isel vp1\n")));
        assert_eq!((beside.0, beside.1.as_str()), (6, "isel vp1"));
        assert!(
            beside.2.starts_with("a `; test:` comment must be on a line of its own, above the kernels"),
            "{beside:?}"
        );
        let indented = one(&format!("; test: lower\n{KERNEL}  ;= kernel\n"));
        assert_eq!((indented.0, indented.1.as_str()), (8, ";= kernel"));
        assert!(indented.2.contains("expected `;=` at the start of the line"), "{indented:?}");
        let text = format!("  ; test: isel halu\n{KERNEL}; check: STG\n");
        assert_eq!(TestFile::read("t.hb", &text).unwrap().tests[0].header.stage, Stage::Isel);
    }

    #[test]
    fn unordered_and_counted_checks_are_read() {
        let text = format!("; test: isel halu\n{KERNEL}; check-dag: exit\n; check-dag: STG\n; check-count-1: exit\n");
        let file = TestFile::read("t.hb", &text).unwrap();
        assert_eq!(file.tests[0].checks.len(), 3);
        let failures = &file.run().verdicts[0].failures;
        assert!(failures.len() == 1 && failures[0].message.starts_with("`exit` is not in the output"), "{failures:?}");
    }

    #[test]
    fn wrong_expectations_are_shown_at_their_lines() {
        let one = |lines: &str| errors(&format!("; test: isel halu\n{KERNEL}{lines}")).remove(0);
        assert_eq!(one("; check: a{{b\n"), (8, "a{{b".to_owned(), "`{{` without `}}`".to_owned()));
        assert_eq!(one("; check:\n").2, "`check:` has no pattern; expected a text, or `{{regex}}`");
        let rule = one("; rule: int_add, int_addd\n");
        assert_eq!((rule.0, rule.1.as_str()), (8, "int_addd"));
        assert!(
            rule.2.starts_with("there is no rule `int_addd`; expected a rule; did you mean `int_add"),
            "{}",
            rule.2
        );
        // A rule of another target can never be applied, so naming it is an error.
        assert!(one("; no rule: vp1::word_add\n").2.starts_with("there is no rule `vp1::word_add`"));
        assert_eq!(one(";= a\n\n;= b\n").2, "the expected output is interrupted by other lines");
        let within = KERNEL.replace("^entry:\n", "^entry:\n;= a\n");
        assert_eq!(errors(&format!("; test: lower\n{within};= b\n"))[0].2, "the expected output is inside @k");
    }
}
