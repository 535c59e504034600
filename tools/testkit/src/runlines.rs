//! Run lines and refuse lines: the launches and refusals that a kernel file specifies.
//!
//! ```text
//! ; run: halu, ptx: @axpy items=2 a=2.0 x=[0x3c003c00, 0x42004200] y=zeros(2) -> y=[0x40004000, 0x46004600]
//! ; then: @scale items=2 by=0.5 -> y=[1.0, 3.0]
//!   %r = swizzle.i8x16 %a, %b     ; refuse: halu: swizzle
//! ```
//! A run line launches a kernel, over `items=N` or over `grid=4,2 block=32,4`, with groups and their items along x, y
//! and z. The evaluator always runs the launch. The named targets (`all` for every target) must give the same bits.
//!
//! The expected buffer contents follow `->`. A result that was recorded on a GPU is written `NAME~=VALUE`; approximated
//! instructions may make it differ slightly.
//!
//! A `then` line adds another launch on the same targets. A parameter without a value keeps the last value of the
//! parameter with that name.
//!
//! A refuse line expects that a target refuses the op on the same line. The target's message must contain the text of
//! the refuse line.

use std::collections::HashSet;

use halfbyte::target::Platform;
use halfbyte::{Sm, TARGETS};
use halfbyte_abi::{Shape, Target};
use halfbyte_ir::diag::Diagnostic;
use halfbyte_ir::{ParamKind, Span};

use crate::tolerance::{Format, Margin};
pub use halfbyte::args::names::Name;
use halfbyte::args::names::one_of;
/// A name with its span in the text.
use halfbyte::args::{Cursor, Value, element_bits, list, shortened};

/// A run line with its `then` lines.
#[derive(Clone, PartialEq, Debug)]
pub struct RunLine {
    /// The targets on which the launches run, without the evaluator (`ir`).
    pub targets: Vec<Target>,
    /// `true` if the line names the evaluator, which always runs the launches of kernels in the IR.
    pub names_ir: bool,
    /// The first launch.
    pub first: LaunchLine,
    /// The launches of the `then` lines. Each continues with the memory of the launch before.
    pub then: Vec<LaunchLine>,
}

impl RunLine {
    /// Returns all launches, in order.
    pub fn launches(&self) -> impl Iterator<Item = &LaunchLine> {
        std::iter::once(&self.first).chain(&self.then)
    }
}

/// A launch in a run line or a `then` line.
#[derive(Clone, PartialEq, Debug)]
pub struct LaunchLine {
    /// The span of the line.
    pub span: Span,
    /// The kernel's name, without `@`.
    pub kernel: Name,
    /// The shape of the launch.
    pub shape: Shape,
    /// The values of the parameters, by name.
    pub args: Vec<(Name, Value)>,
    /// The expected contents of buffers after the launch, by name.
    pub results: Vec<(Name, Value)>,
    /// The expected results that are written with `~=`, from which numbers may differ within a tolerance.
    pub near: Vec<NearResult>,
}

/// An expected result from which numbers may differ within a tolerance.
#[derive(Clone, PartialEq, Debug)]
pub struct NearResult {
    /// The buffer's name.
    pub name: Name,
    /// The format of the numbers, if the run line specifies one.
    pub format: Option<Format>,
    /// The tolerance and its text in the run line; `None` for the bounds of the PTX manual.
    pub margin: Option<(Margin, String)>,
}

/// A refuse line: a comment that expects a target to refuse the op on the same line.
#[derive(Clone, PartialEq, Debug)]
pub struct RefuseLine {
    /// The span of the comment.
    pub span: Span,
    /// The span of the whole line, which contains the op and the comment.
    pub line: Span,
    /// The target that must refuse the op.
    pub target: Target,
    /// The text that the message must contain.
    pub text: String,
}

/// The run lines and refuse lines of a file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RunLines {
    /// The run lines, in order.
    pub runs: Vec<RunLine>,
    /// The refuse lines, in order.
    pub refusals: Vec<RefuseLine>,
}

impl RunLines {
    /// Sets the SM version of all PTX targets.
    pub fn set_sm(&mut self, sm: Sm) {
        let runs = self.runs.iter_mut().flat_map(|run| &mut run.targets);
        for target in runs.chain(self.refusals.iter_mut().map(|refusal| &mut refusal.target)) {
            *target = TARGETS.for_sm(*target, sm).unwrap_or(*target);
        }
    }
}

/// Parses the run lines and refuse lines of a text.
///
/// # Errors
/// Fails with one diagnostic for each invalid line.
pub fn read(source: &str) -> Result<RunLines, Vec<Diagnostic>> {
    read_comments(source, comment)
}

/// Parses the run lines and refuse lines of a PTX text, in which comments begin with `//`.
///
/// # Errors
/// Fails with one diagnostic for each invalid line.
pub fn read_ptx(source: &str) -> Result<RunLines, Vec<Diagnostic>> {
    read_comments(source, |line| line.find("//").map(|at| at + 2))
}

fn read_comments(source: &str, comment: fn(&str) -> Option<usize>) -> Result<RunLines, Vec<Diagnostic>> {
    let mut lines = RunLines::default();
    let mut errors = Vec::new();
    // Spans are 32-bit offsets. The parser of the IR reports a text that is too long for them.
    let all = source.get(..u32::MAX as usize).unwrap_or(source);
    let mut start = 0;
    for text in all.split_inclusive('\n') {
        let line = Span { start, end: start + text.trim_end().len() as u32 };
        start += text.len() as u32;
        let Some(comment) = comment(text) else { continue };
        let blanks = text.get(comment..).map_or(0, |rest| rest.len() - rest.trim_start().len());
        let from = (line.start + (comment + blanks) as u32).min(line.end);
        let comment = Span { start: from, end: line.end };
        let mut cursor = Cursor::new(source, comment);
        if cursor.eat("run:") {
            match run_line(&mut cursor, comment) {
                Ok(run) => lines.runs.push(run),
                Err(error) => errors.push(error),
            }
        } else if cursor.eat("then:") {
            match (launch_line(&mut cursor, comment), lines.runs.last_mut()) {
                (Ok(launch), Some(run)) => run.then.push(launch),
                (Err(error), _) => errors.push(error),
                // A run line may precede this `then` line but be invalid; its error has been reported.
                (Ok(_), None) if !errors.is_empty() => {}
                (Ok(_), None) => {
                    let alone = Diagnostic::new(comment, "there is no run line before this launch");
                    errors.push(alone.expected("`; run: TARGETS: @KERNEL items=N ...` above"));
                }
            }
        } else if cursor.eat("refuse:") {
            match refuse_line(source, &mut cursor, comment, line) {
                Ok(refusal) => lines.refusals.push(refusal),
                Err(error) => errors.push(error),
            }
        } else if let Some(word) = almost(source.get(comment.start as usize..comment.end as usize).unwrap_or_default())
        {
            let wrong = Diagnostic::new(comment, format!("this is a misspelt {word} line, which would be ignored"));
            errors.push(wrong.expected(format!("`{word}:` in lower case at the start of the comment")));
        }
    }
    if errors.is_empty() { Ok(lines) } else { Err(errors) }
}

/// Returns the byte offset of the text of a line's comment, after the first `;` that is not in a string.
pub(crate) fn comment(line: &str) -> Option<usize> {
    let mut quoted = false;
    let semicolon = line.bytes().position(|byte| {
        quoted ^= byte == b'"';
        byte == b';' && !quoted
    });
    semicolon.map(|at| at + 1)
}

/// Returns the directive that a comment was probably meant to be, such as `RUN:`, `run :`, `;;
/// run:` or `run halu: @axpy items=2`.
fn almost(comment: &str) -> Option<&'static str> {
    let text = comment.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ';' | '/' | '#'));
    let word = text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let rest = text.get(word.len()..).unwrap_or_default();
    let meant = ["run", "then", "refuse"].into_iter().find(|name| name.eq_ignore_ascii_case(word))?;
    let is_meant = rest.trim_start().starts_with(':')
        || rest.contains('@') && ["items=", "grid="].iter().any(|size| rest.contains(size));
    is_meant.then_some(meant)
}

/// Name that represents every target in a run line.
const ALL: &str = "all";

fn run_line(cursor: &mut Cursor<'_>, span: Span) -> Result<RunLine, Diagnostic> {
    let names = format!("{}, {ALL}", Platform::names());
    let mut targets: Vec<Target> = Vec::new();
    let mut names_ir = false;
    loop {
        let (name, place) = cursor.name(&format!("a target: {names}"))?;
        let named: Vec<Target> = match Platform::from_name(name) {
            Some(Platform::Target(target)) => vec![target],
            Some(Platform::Ir) => {
                names_ir = true;
                Vec::new()
            }
            None if name == ALL => TARGETS.defaults().collect(),
            None => {
                let unknown = Diagnostic::new(place, format!("`{}` is not a target", shortened(name)));
                return Err(unknown.expected(one_of(&names, name)));
            }
        };
        for target in named {
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        if !cursor.eat(",") {
            break;
        }
    }
    cursor.expect(":")?;
    Ok(RunLine { targets, names_ir, first: launch_line(cursor, span)?, then: Vec::new() })
}

fn launch_line(cursor: &mut Cursor<'_>, span: Span) -> Result<LaunchLine, Diagnostic> {
    cursor.expect("@")?;
    let (kernel, place) = cursor.name("a kernel's name")?;
    let shape = shape(cursor)?;
    let args = bindings(cursor, "`NAME=VALUE` or `->`", None)?;
    let mut near = Vec::new();
    let results = if cursor.eat("->") { bindings(cursor, "`NAME=VALUE`", Some(&mut near))? } else { Vec::new() };
    if !cursor.at_end() {
        return Err(cursor.unexpected("the end of the line"));
    }
    Ok(LaunchLine { span, kernel: (kernel.to_owned(), place), shape, args, results, near })
}

/// Parses the shape of a launch: `items=N`, or `grid=X,Y,Z block=X,Y,Z`. Omitted numbers at the end are 1.
fn shape(cursor: &mut Cursor<'_>) -> Result<Shape, Diagnostic> {
    let start = cursor.here();
    if !cursor.eat("grid") {
        cursor.expect("items")?;
        cursor.expect("=")?;
        return count(cursor, ITEMS).map(Shape::from);
    }
    let grid = counts(cursor)?;
    cursor.expect("block")?;
    let block = counts(cursor)?;
    let mut shared = *cursor;
    let mut shape = Shape::from((grid, block));
    if shared.eat("shared") && shared.eat("=") {
        *cursor = shared;
        shape.shared = count(cursor, "bytes of shared memory")?;
    }
    match shape.items() {
        Ok(_) => Ok(shape),
        Err(error) => Err(Diagnostic::new(Span { start, end: cursor.here() }, error.to_string())),
    }
}

/// Parses `=` and up to three numbers, along x, y and z.
fn counts(cursor: &mut Cursor<'_>) -> Result<[u32; 3], Diagnostic> {
    cursor.expect("=")?;
    let mut counts = [count(cursor, COUNT)?, 1, 1];
    for place in counts.iter_mut().skip(1) {
        if !cursor.eat(",") {
            break;
        }
        *place = count(cursor, COUNT)?;
    }
    Ok(counts)
}

fn count(cursor: &mut Cursor<'_>, expected: &str) -> Result<u32, Diagnostic> {
    let (number, place) = cursor.integer(expected)?;
    let too_many = |_| Diagnostic::new(place, format!("{number} is too large")).expected(expected);
    u32::try_from(number).map_err(too_many)
}

/// Formats the shape of a launch in the syntax of run lines.
pub fn size(shape: &Shape) -> String {
    match shape.items() {
        Ok(items) if Shape::from(items) == *shape => format!("items={items}"),
        _ => {
            let [grid, block] = [shape.grid, shape.block].map(|counts| {
                let named = 1 + counts.iter().rposition(|&count| count != 1).unwrap_or(0);
                counts.iter().take(named).map(u32::to_string).collect::<Vec<_>>().join(",")
            });
            let shared = if shape.shared == 0 { String::new() } else { format!(" shared={}", shape.shared) };
            format!("grid={grid} block={block}{shared}")
        }
    }
}

const COUNT: &str = "a number along an axis, at most 4294967295";

const ITEMS: &str = "a number of work items, at most 4294967295";

/// Parses a list of `NAME=VALUE`. An expected result may also be `NAME~=VALUE` and is then appended to `near`.
fn bindings(
    cursor: &mut Cursor<'_>,
    expected: &str,
    mut near: Option<&mut Vec<NearResult>>,
) -> Result<Vec<(Name, Value)>, Diagnostic> {
    let mut bindings = Vec::new();
    let mut seen = HashSet::new();
    loop {
        let mut arrow = *cursor;
        if cursor.at_end() || arrow.eat("->") {
            return Ok(bindings);
        }
        let (name, span) = cursor.name(expected)?;
        if !seen.insert(name) {
            return Err(Diagnostic::new(span, format!("`{}` is given twice", shortened(name))));
        }
        let name = (name.to_owned(), span);
        match &mut near {
            Some(near) if cursor.eat("~=") => {
                bindings.push((name.clone(), cursor.value()?));
                let (format, margin) = within(cursor)?;
                near.push(NearResult { name, format, margin });
            }
            near => {
                cursor.expect("=")?;
                bindings.push((name, cursor.value()?));
                let mut rest = *cursor;
                if near.is_some() && rest.eat(WITHIN) {
                    let alone =
                        Diagnostic::new(cursor.since(rest.here() - WITHIN.len() as u32), "a margin requires `~=`");
                    return Err(alone.expected("`NAME~=VALUE within(...)`"));
                }
            }
        }
    }
}

const WITHIN: &str = "within(";

/// The contents of `within(...)`: the format of the numbers, and the tolerance with its text.
type Within = (Option<Format>, Option<(Margin, String)>);

fn within(cursor: &mut Cursor<'_>) -> Result<Within, Diagnostic> {
    if !cursor.eat(WITHIN) {
        return Ok((None, None));
    }
    let (mut format, mut said) = (None, Vec::new());
    let [mut relative, mut absolute, mut ulps] = [None; 3];
    loop {
        let (word, span) = cursor.name(PARTS)?;
        let part = match word {
            "rel" => &mut relative,
            "abs" => &mut absolute,
            "ulps" => &mut ulps,
            _ => {
                let named = Format::from_name(word).filter(|_| format.is_none() && said.is_empty());
                let unknown =
                    || Diagnostic::new(span, format!("`{}` is invalid here", shortened(word))).expected(PARTS);
                format = Some(named.ok_or_else(unknown)?);
                if cursor.eat(",") {
                    continue;
                }
                break;
            }
        };
        if part.is_some() {
            return Err(Diagnostic::new(span, format!("`{word}` is given twice")));
        }
        cursor.expect("=")?;
        let (text, span) = cursor.take(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'));
        if text.is_empty() {
            return Err(cursor.unexpected(DISTANCE));
        }
        let distance = text.parse().ok().filter(|distance: &f64| distance.is_finite() && *distance >= 0.0);
        let wrong = || Diagnostic::new(span, format!("`{}` is invalid here", shortened(text))).expected(DISTANCE);
        *part = Some(distance.ok_or_else(wrong)?);
        said.push(format!("{word}={text}"));
        if !cursor.eat(",") {
            break;
        }
    }
    cursor.expect(")")?;
    let [relative, absolute, ulps] = [relative, absolute, ulps].map(Option::unwrap_or_default);
    let margin = (!said.is_empty()).then(|| (Margin::Distance { absolute, relative, ulps }, said.join(", ")));
    Ok((format, margin))
}

const PARTS: &str = "`rel=N`, `abs=N` or `ulps=N`, optionally after a floating-point type such as f32";

const DISTANCE: &str = "a number that is not negative, such as 1e-5";

/// Formats the value of a parameter in the syntax of run lines: `NAME=VALUE`.
pub fn binding(name: &str, kind: ParamKind, bytes: &[u8]) -> String {
    match kind {
        ParamKind::Scalar(ty) => format!("{name}={}", element_bits(ty, bytes)),
        ParamKind::Buffer { elem, .. } if bytes.iter().all(|&byte| byte == 0) => {
            format!("{name}=zeros({})", bytes.len() / elem.bytes() as usize)
        }
        ParamKind::Buffer { elem, .. } => format!("{name}={}", list(elem, bytes)),
    }
}

fn refuse_line(source: &str, cursor: &mut Cursor<'_>, span: Span, line: Span) -> Result<RefuseLine, Diagnostic> {
    let names: Vec<&str> = TARGETS.defaults().map(Target::name).collect();
    let names = names.join(", ");
    let (name, place) = cursor.name(&format!("a target: {names}"))?;
    let target = match Platform::from_name(name) {
        Some(Platform::Target(target)) => target,
        Some(Platform::Ir) => return Err(Diagnostic::new(place, "`ir` never refuses a kernel").expected(names)),
        None => {
            let unknown = Diagnostic::new(place, format!("`{}` is not a target", shortened(name)));
            return Err(unknown.expected(one_of(&names, name)));
        }
    };
    cursor.expect(":")?;
    if cursor.at_end() {
        return Err(cursor.unexpected("a part of the refusal's message"));
    }
    let text = source.get(cursor.here() as usize..span.end as usize).unwrap_or_default();
    Ok(RefuseLine { span, line, target, text: text.trim().to_owned() })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;
    use halfbyte::args::ValueKind;

    #[test]
    fn a_run_line_in_all_its_parts() {
        let source = "; run: ir, halu: @axpy items=2 a=2.0 x=[0x3c003c00, 1.0] y=zeros(2) -> y=[0x40004000, 2.0]\r\n";
        let lines = read(source).unwrap();
        let [run] = &lines.runs[..] else { panic!("one run") };
        assert_eq!(run.targets, [halfbyte::HALU]);
        let run = &run.first;
        assert_eq!((run.kernel.0.as_str(), run.shape), ("axpy", Shape::from(2)));
        let names = |list: &[(Name, Value)]| list.iter().map(|((name, _), _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&run.args), ["a", "x", "y"]);
        assert_eq!(names(&run.results), ["y"]);
        assert_eq!(run.args[2].1.kind, ValueKind::Zeros { ty: None, count: 2 });
        let (_, name) = run.args[1].0;
        assert_eq!(source.get(name.start as usize..name.end as usize), Some("x"));
    }

    #[test]
    fn results_that_a_gpu_has_left() {
        let lines =
            read("; run: ptx: @k items=1 -> a~=[1.0] b=[2] c ~= @g.npy within(f16x2, rel=1e-3,abs=2) within=3\n")
                .unwrap();
        let first = &lines.runs[0].first;
        let names: Vec<&str> = first.results.iter().map(|((name, _), _)| name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "within"]);
        let [a, c] = &first.near[..] else { panic!("two") };
        assert_eq!((a.name.0.as_str(), a.format, &a.margin), ("a", None, &None));
        assert_eq!((c.name.0.as_str(), c.format), ("c", Format::from_name("f16")));
        let margin = Margin::Distance { absolute: 2.0, relative: 1e-3, ulps: 0.0 };
        assert_eq!(c.margin, Some((margin, "rel=1e-3, abs=2".to_owned())));
    }

    #[test]
    fn refusals_stand_behind_ops_and_strings_hide_semicolons() {
        let source = "  %r = swizzle %a, %b ; refuse: vp1: no such op \n intrinsic \"; refuse: halu: x\" ;run: halu: @k items=1\n; a run: b";
        let lines = read(source).unwrap();
        let [refusal] = &lines.refusals[..] else { panic!("one refusal") };
        assert_eq!((refusal.target, refusal.text.as_str()), (halfbyte::VP1, "no such op"));
        assert_eq!(refusal.line.start, 0);
        assert_eq!(lines.runs.len(), 1);
    }

    #[test]
    fn a_run_line_goes_on() {
        let source = "; run: all, halu: @a items=2 x=[1, 2] -> t=[3, 4]\n; then: @b items=1 -> y=[7]\n; then: @a items=3\n\
                      ; run: ir: @b items=1\n";
        let lines = read(source).unwrap();
        let names = |run: &RunLine| run.launches().map(|launch| launch.kernel.0.clone()).collect::<Vec<_>>();
        assert_eq!(lines.runs.iter().map(names).collect::<Vec<_>>(), [vec!["a", "b", "a"], vec!["b"]]);
        assert_eq!(lines.runs[0].targets, TARGETS.defaults().collect::<Vec<_>>());
        assert!(lines.runs[1].targets.is_empty());
        let second = &lines.runs[0].then[0];
        assert!(source.get(second.span.start as usize..).unwrap().starts_with("then: @b"));
        assert_eq!(second.results.len(), 1);
    }

    #[test]
    fn reports_misspelt_run_lines() {
        for (line, word) in [
            ("; RUN: halu: @k items=1", "run"),
            (";Run: halu: @k items=1", "run"),
            ("; run : halu: @k items=1", "run"),
            (";; run: halu: @k items=1", "run"),
            ("; run halu: @k items=1", "run"),
            ("; # run: halu: @k items=1", "run"),
            ("; Then: @k items=1", "then"),
            ("  ret ; Refuse: halu: x", "refuse"),
        ] {
            let errors = read(&format!("\n{line}\n")).unwrap_err();
            assert_eq!(errors.len(), 1, "{line}");
            let expected = format!("expected `{word}:` in lower case at the start of the comment");
            assert!(errors[0].to_string().ends_with(&expected), "{line}: {}", errors[0]);
            assert_eq!(errors[0].span.end as usize, 1 + line.len(), "{line}");
        }
        assert!(read_ptx("/// run: ptx: @k items=1\n").is_err());
        for line in
            ["; running: fast", "; run this by hand", "; Then it is stored.", "; prune: x", "; run", "; a run: b"]
        {
            assert_eq!(read(line), Ok(RunLines::default()), "{line}");
        }
    }

    #[test]
    fn every_mistake_is_reported_at_its_place() {
        // In each row, the `^` of the second string mark the span of the error in the first string.
        let table = [
            ("; run:", "      ^", "the line ends too early; expected a target: ir, halu, vp1, ptx, all"),
            (
                "; run: halo: @k items=1",
                "       ^^^^",
                "`halo` is not a target; expected ir, halu, vp1, ptx, all; did you mean `halu`?",
            ),
            ("; run: halu @k items=1", "            ^", "unexpected `@`; expected `:`"),
            ("; run: halu,: @k items=1", "            ^", "unexpected `:`; expected a target: ir, halu, vp1, ptx, all"),
            ("; run: halu: k items=1", "             ^", "unexpected `k`; expected `@`"),
            ("; run: halu: @ items=1", "                    ^", "unexpected `=`; expected `items`"),
            ("; run: halu: @k", "               ^", "the line ends too early; expected `items`"),
            ("; run: halu: @k a=1", "                ^", "unexpected `a`; expected `items`"),
            ("; run: halu: @k items 1", "                      ^", "unexpected `1`; expected `=`"),
            (
                "; run: halu: @k items=",
                "                      ^",
                "the line ends too early; expected a number of work items, at most 4294967295",
            ),
            (
                "; run: halu: @k items=x",
                "                      ^",
                "`x` is invalid here; expected a number of work items, at most 4294967295",
            ),
            (
                "; run: halu: @k items=-1",
                "                      ^^",
                "`-1` is invalid here; expected a number of work items, at most 4294967295",
            ),
            (
                "; run: halu: @k items=4294967296",
                "                      ^^^^^^^^^^",
                "4294967296 is too large; expected a number of work items, at most 4294967295",
            ),
            ("; run: halu: @k items=1 x", "                         ^", "the line ends too early; expected `=`"),
            (
                "; run: halu: @k items=1 x=",
                "                          ^",
                "the line ends too early; expected a value: a number, a [list], @file.npy, zeros(N), random(N, SEED) or &BUFFER+BYTES",
            ),
            ("; run: halu: @k items=1 x=1 x=2", "                            ^", "`x` is given twice"),
            (
                "; run: halu: @k items=1 x=(1)",
                "                          ^",
                "unexpected `(`; expected a value: a number, a [list], @file.npy, zeros(N), random(N, SEED) or &BUFFER+BYTES",
            ),
            ("; run: halu: @k items=1 x=[1,,2]", "                             ^", "unexpected `,`; expected a number"),
            (
                "; run: halu: @k items=1 x=zeros(2",
                "                                 ^",
                "the line ends too early; expected `)`",
            ),
            (
                "; run: halu: @k items=1 -> y=1 -> z=1",
                "                               ^",
                "unexpected `-`; expected the end of the line",
            ),
            (
                "; run: halu: @k items=1 , x=1",
                "                        ^",
                "unexpected `,`; expected `NAME=VALUE` or `->`",
            ),
            ("; run: halu: @k items=1 -> é=1", "                           ^", "unexpected `é`; expected `NAME=VALUE`"),
            (
                "; run: halu: @k items=1 -> y~=[1] within(",
                "                                         ^",
                "the line ends too early; expected `rel=N`, `abs=N` or `ulps=N`, optionally after a floating-point type such as f32",
            ),
            (
                "; run: halu: @k items=1 -> y~=[1] within(i32)",
                "                                         ^^^",
                "`i32` is invalid here; expected `rel=N`, `abs=N` or `ulps=N`, optionally after a floating-point type such as f32",
            ),
            (
                "; run: halu: @k items=1 -> y~=[1] within(rel=1, f32)",
                "                                                ^^^",
                "`f32` is invalid here; expected `rel=N`, `abs=N` or `ulps=N`, optionally after a floating-point type such as f32",
            ),
            (
                "; run: halu: @k items=1 -> y~=[1] within(rel=inf)",
                "                                             ^^^",
                "`inf` is invalid here; expected a number that is not negative, such as 1e-5",
            ),
            (
                "; run: halu: @k items=1 -> y~=[1] within(abs=1",
                "                                              ^",
                "the line ends too early; expected `)`",
            ),
            ("; run: halu: @k items=1 y~=[1]", "                         ^", "unexpected `~`; expected `=`"),
            ("; then: halu: @k items=1", "        ^^^^", "unexpected `halu`; expected `@`"),
            (
                "; then: @k items=x",
                "                 ^",
                "`x` is invalid here; expected a number of work items, at most 4294967295",
            ),
            ("; refuse: halu", "              ^", "the line ends too early; expected `:`"),
            (
                "; refuse: halu:",
                "               ^",
                "the line ends too early; expected a part of the refusal's message",
            ),
            ("; refuse: gpu: x", "          ^^^", "`gpu` is not a target; expected halu, vp1, ptx"),
            ("; refuse: ir: x", "          ^^", "`ir` never refuses a kernel; expected halu, vp1, ptx"),
        ];
        let source: String = table.iter().map(|(line, ..)| format!("{line}\n")).collect();
        let errors = read(&source).unwrap_err();
        let lines = halfbyte_ir::diag::Lines::new(&source);
        assert_eq!(errors.len(), table.len());
        for ((number, (line, mark, message)), error) in table.iter().enumerate().zip(errors) {
            let position = lines.position(error.span.start);
            let column = mark.find('^').unwrap() + 1;
            assert_eq!((position.line, position.column), (number + 1, column), "{line}");
            assert_eq!(error.to_string(), *message, "{line}");
            let width = source.get(error.span.start as usize..error.span.end as usize).unwrap().chars().count();
            assert_eq!(width.max(1), mark.trim().len(), "{line}");
        }
    }
}
