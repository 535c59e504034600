//! Tests of the functions of the standard library and of their page, which lists the number of
//! instructions of each. `HALFBYTE_BLESS=1 cargo test std_page::` updates `docs/std.md`.

use std::fmt::Write;
use std::fs;

use halfbyte::{HALU, Module, Sm, Target, VP1, lang, ptx};
use halfbyte_testkit::matrix::of_line;

use crate::common::{halfbyte, halfbyte_on, root};

/// A function of the standard library, parsed from its source.
struct Function<'a> {
    name: &'a str,
    generic: bool,
    /// Name and type of each parameter.
    params: Vec<(&'a str, &'a str)>,
    results: Vec<&'a str>,
    signature: &'a str,
    meaning: String,
    error: Option<String>,
}

/// Parses a file of the standard library. Returns its description, and its functions with the comments above them.
fn read(text: &str) -> (String, Vec<Function<'_>>) {
    let (head, rest) = text.split_once("\n\n").unwrap();
    let joined = |lines: &[&str]| lines.iter().map(|line| line.trim_start_matches("; ")).collect::<Vec<_>>().join(" ");
    let head = joined(&head.lines().collect::<Vec<_>>());
    let (mut functions, mut comment) = (Vec::new(), Vec::new());
    for line in rest.lines() {
        if let Some(rest) = line.strip_prefix("fn ") {
            let signature = rest.split(" {").next().unwrap();
            let (name, after) = signature.split_once('(').unwrap();
            let (params, results) = after.split_once(')').unwrap();
            let pairs = |list: &'_ str| list.split(", ").filter(|part| !part.is_empty()).count();
            assert_eq!(pairs(params), params.matches(": ").count(), "{signature}");
            let comment = joined(&std::mem::take(&mut comment));
            let (meaning, error) = match comment.split_once(" Error: ") {
                Some((meaning, error)) => (meaning.to_owned(), Some(error.trim_end_matches('.').to_owned())),
                None => (comment, None),
            };
            assert!(!meaning.is_empty(), "`{signature}` has no comment");
            functions.push(Function {
                name: name.split('<').next().unwrap(),
                generic: name.contains('<'),
                params: params.split(", ").map(|param| param.split_once(": ").unwrap()).collect(),
                results: results
                    .trim_start_matches(" -> ")
                    .trim_matches(['(', ')'])
                    .split(", ")
                    .filter(|result| !result.is_empty())
                    .collect(),
                signature,
                meaning,
                error,
            });
        } else if line.starts_with("; ") {
            comment.push(line);
        } else {
            comment.clear();
        }
    }
    (head, functions)
}

impl Function<'_> {
    /// Returns a kernel that calls the function, and the line of the call. `ty` replaces the type `T`. If the function
    /// takes buffers, its parameter `i` is the item index, and its other integers are scalar parameters of the kernel.
    fn kernel(&self, file: &str, ty: &str) -> (String, u32) {
        let concrete =
            |of: &str| of.split(' ').map(|word| if word == "T" { ty } else { word }).collect::<Vec<_>>().join(" ");
        let has_buffers = self.params.iter().any(|(_, of)| of.contains(' '));
        let (mut params, mut args, mut lines) = (Vec::new(), Vec::new(), vec!["let i = item_id()".to_owned()]);
        for (name, of) in &self.params {
            let of = concrete(of);
            if *name == "parts" {
                lines.push(format!("shared parts: {}[32]", of.trim_start_matches("inout ")));
                args.push("parts".to_owned());
            } else if of == "const" {
                args.push("0".into());
            } else if of.contains(' ') || has_buffers && *name != "a" && *name != "i" {
                params.push(format!("{name}: {of}"));
                args.push((*name).to_owned());
            } else if has_buffers && *name == "i" {
                args.push("i".into());
            } else {
                params.push(format!("{name}_in: in {of}"));
                lines.push(format!("let {name} = {name}_in[i]"));
                args.push((*name).to_owned());
            }
        }
        let names: Vec<String> = (0..self.results.len()).map(|number| format!("r{number}")).collect();
        let kept = match &names[..] {
            [] => String::new(),
            [one] => format!("let {one} = "),
            all => format!("let ({}) = ", all.join(", ")),
        };
        lines.push(format!("{kept}{}({})", self.name, args.join(", ")));
        let line = lines.len() as u32 + 2;
        for (name, result) in names.iter().zip(&self.results) {
            params.push(format!("{name}_out: out {}", concrete(result)));
            lines.push(format!("{name}_out[i] = {name}"));
        }
        let (params, lines) = (params.join(", "), lines.join("\n  "));
        (format!("include \"{file}\"\nkernel k({params}) {{\n  {lines}\n}}\n"), line)
    }

    /// Returns each type for which the function is measured, with a kernel that calls the function
    /// and the line of the call. The type is empty for a function that is not generic.
    fn instances(&self, file: &str) -> Vec<(&'static str, String, Module, u32)> {
        let mut instances = Vec::new();
        for ty in if self.generic { &["i32", "f32", "i16x2", "f16x2", "i8x4"][..] } else { &[""] } {
            let (text, line) = self.kernel(file, ty);
            match Module::parse(&text) {
                Ok(module) => instances.push((*ty, text, module, line)),
                Err(_) if self.generic => {}
                Err(error) => panic!("{}: {error}\n{text}", self.name),
            }
        }
        instances
    }

    /// Returns the number of instructions of a call on a target. If the number depends on the type,
    /// the result lists each number with its types.
    fn counts(&self, file: &str, target: Target) -> String {
        let mut counts: Vec<(String, Vec<&str>)> = Vec::new();
        for (ty, _, module, line) in self.instances(file) {
            let Some((instructions, items)) = of_line(&module, line, target) else { continue };
            let count =
                instructions.len().to_string() + &if items > 1 { format!(" for {items}") } else { String::new() };
            match counts.iter_mut().find(|(other, _)| *other == count) {
                Some((_, types)) => types.push(ty),
                None => counts.push((count, vec![ty])),
            }
        }
        match &counts[..] {
            [] => "-".into(),
            [(count, _)] if !self.generic => count.clone(),
            all => {
                all.iter().map(|(count, types)| format!("{}: {count}", types.join(" "))).collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// Returns a run line for the kernel of the function, with edge values and random bits as
    /// arguments. A cooperative function is launched with one group.
    fn launch(&self, file: &str, targets: &str) -> String {
        let meets = file == "std/group";
        let shape = if meets { "grid=1 block=64" } else { "items=64" };
        let has_buffers = self.params.iter().any(|(_, of)| of.contains(' '));
        let args = self.params.iter().enumerate().filter_map(|(seed, (name, of))| match *of {
            "const" => None,
            _ if *name == "parts" || has_buffers && *name == "i" => None,
            of if of.starts_with("out ") => None,
            of if of.starts_with("inout ") => Some(format!("{name}=zeros(64)")),
            of if of.contains(' ') => Some(format!("{name}=random(67, {seed})")),
            _ if has_buffers && *name != "a" => Some(format!("{name}={}", if *name == "n" { "64" } else { "0" })),
            _ => Some(format!("{name}_in=random(64, {seed})")),
        });
        format!("; run: {targets}: @k {shape} {}\n", args.collect::<Vec<_>>().join(" "))
    }
}

const HEAD: &str = "# The standard library

The standard library of the kernel language has functions that kernels often need: activations,
colour conversion, reductions, pixel arithmetic and rounding divisions. This page lists the
functions with their errors and costs. To use a library function, include its file:

```
include \"std/pixel\"

; run: halu, vp1, ptx: @fade items=100 x=random(100, 1) by=77
kernel fade(x: in i8x4, by: i16x2, y: out i8x4) {
  let i = item_id()
  let v = x[i]
  y[i] = bytes(div255_pair(low(v) * by), div255_pair(high(v) * by))
}
```

The compiler inlines all library functions. The line `include \"std/pixel\"` includes
[`frontends/lang/std/pixel.hb`](../frontends/lang/std/pixel.hb). Lane 0 of a vector type is the
lowest lane.

The column **error** gives the largest distance from the exact value, in units in the last place
(ulp) if the table says so. Tests measure the error of each function, over all values if there are
few enough. A function without an error is exact. All targets and engines give the same bits. On a
GPU, [approximate](ir.md#approximate) ops may differ in the last places; the table names the
functions with approximate ops.

The columns **HALU, VP1 and PTX** give the number of instructions of a call with operands in
registers. The number includes instructions for constants, and for accesses to the buffers that a
function takes. Constant operands reduce the number of instructions. The numbers in the column PTX
are those of sm_90. In the column VP1, `6 for 4` means six instructions for four items, and `-`
means that VP1 refuses the kernel.
";

fn page() -> String {
    let mut page = HEAD.to_owned();
    for (file, text) in lang::library() {
        let (head, functions) = read(text);
        let _ = write!(
            page,
            "\n## [`{file}`](../frontends/lang/{file}.hb)\n\n{head}\n\n| function | result | error | HALU | VP1 | PTX |\n|---|---|---|---|---|---|\n"
        );
        for function in functions {
            let counts = [HALU, VP1, ptx(Sm::SM_90)].map(|target| function.counts(file, target));
            let error = function.error.as_deref().unwrap_or("");
            let (signature, meaning) = (function.signature, &function.meaning);
            let _ = writeln!(page, "| `{signature}` | {meaning} | {error} | {} |", counts.join(" | "));
        }
    }
    page
}

#[test]
fn the_page_says_what_the_library_has() {
    let (page, path) = (page(), root().join("docs/std.md"));
    if std::env::var_os("HALFBYTE_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
        return;
    }
    let tracked = fs::read_to_string(&path).unwrap_or_default();
    let different = tracked.lines().zip(page.lines()).find(|(tracked, now)| tracked != now);
    assert!(
        tracked == page,
        "docs/std.md is not of today's code: HALFBYTE_BLESS=1; the first line that differs: {different:?}"
    );
}

/// The kernel at the top of the page passes `check`.
#[test]
fn the_page_shows_a_kernel_that_runs() {
    let shown = HEAD.split("```\n").nth(1).unwrap();
    assert!(halfbyte_on(&["check", "-"], shown.as_bytes()).output().contains("1 launch on ir, halu, ptx, vp1"));
}

/// Every target that accepts a function gives the results of the evaluator, for each type.
#[test]
fn every_target_gives_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for (file, text) in lang::library() {
        for function in read(text).1 {
            for (ty, text, module, line) in function.instances(file) {
                let takes = |target| of_line(&module, line, target).is_some();
                let targets = if takes(VP1) { "halu, ptx, vp1" } else { "halu, ptx" };
                let path = folder.path().join(format!("{}_{ty}.hb", function.name));
                fs::write(path, text + &function.launch(file, targets)).unwrap();
                count += 1;
            }
        }
    }
    let checked = halfbyte(&["check", &folder.path().display().to_string()]);
    assert!(checked.output().ends_with(&format!("{count} passed, 0 failed\n")), "{}", checked.out);
}

/// HALU and PTX accept every function of the standard library, for each type of a generic function.
#[test]
fn gpus_take_every_function() {
    for (file, text) in lang::library() {
        for function in read(text).1 {
            for target in [HALU, ptx(Sm::SM_90)] {
                assert_ne!(function.counts(file, target), "-", "{}", function.signature);
            }
        }
    }
}
