//! Tests of kernels as native objects, which are linked into programs in C and Rust. The results
//! must be those of the evaluator.

mod alike;
mod builds;
mod calls;
mod corpus;
mod driver;
mod gangs;
mod runs;

use std::path::PathBuf;

use halfbyte::native::Machine;
use halfbyte_prove::campaign::{Mix, Targets};

use crate::common::root;
use corpus::{Corpus, files};
use driver::{HOST, LEVELS, OTHERS, Tools, run};

/// The kernels of the regular tests: halves of both formats with fused and elementary operations,
/// bytes, loops, tables, local memory.
const DOZEN: [&str; 14] = [
    "axpy.hb",
    "brighten.hb",
    "cmul.hb",
    "relu_fma.hb",
    "gelu.hb",
    "median.hb",
    "sad16.hb",
    "q4_0.hb",
    "softmax.hb",
    "known/sobel.hb",
    "known/crc32.hb",
    "known/rope.hb",
    "known/fp8_e4m3.hb",
    "baseline/k08_bf2_axpy.hb",
];

/// The largest size of an object. An object contains only the arithmetic that its kernel needs;
/// random kernels may need most of it.
const MAX_BYTES: usize = 200 << 10;

/// Returns `true` if the tools are available, as they must be on CI.
fn has(tools: &Tools) -> bool {
    let missing = tools.missing();
    if let Some(missing) = missing {
        assert!(std::env::var_os("CI").is_none(), "there is no {missing}");
        println!("skipped: there is no {missing}");
    }
    missing.is_none()
}

/// Compares the kernels of files in a program for a machine with the evaluator. Returns the numbers
/// of kernels and launches, and the refusals.
fn agree(files: &[PathBuf], tools: &Tools, options: &[&str], under: &[&str]) -> (usize, usize, Vec<String>) {
    let machine = Machine::new(tools.triple, tools.cpu).unwrap();
    let mut corpus = Corpus::default();
    files.iter().for_each(|file| corpus.add(file, &machine));
    let largest = corpus.units.iter().map(|unit| unit.bytes.len()).max();
    assert!(largest <= Some(MAX_BYTES), "{largest:?} bytes");
    compared(corpus, tools, options, under)
}

/// Compares a corpus of compiled objects with the evaluator.
fn compared(corpus: Corpus, tools: &Tools, options: &[&str], under: &[&str]) -> (usize, usize, Vec<String>) {
    let Corpus { units, calls, expected, refused } = corpus;
    let folder = tempfile::tempdir().unwrap();
    let answers = run(folder.path(), tools, options, under, &units, &calls);
    let mut wrong = Vec::new();
    for (((name, expected), answer), call) in expected.iter().zip(answers).zip(&calls) {
        match expected {
            Ok(after) => {
                let function = &units[call.function.0].functions[call.function.1];
                let buffers = function.parameters.iter().zip(after.iter().zip(&answer.args));
                let differs =
                    buffers.filter(|(_, (expected, found))| expected != found).map(|(param, _)| &param.name).next();
                let is_alias = |name: &String| {
                    let number = function.parameters.iter().position(|param| param.name == *name);
                    call.aliases.iter().any(|alias| Some(alias.param) == number)
                };
                match differs.filter(|name| !is_alias(name)) {
                    _ if answer.status != 0 => {
                        wrong.push(format!("{name}: status {}, item {}", answer.status, answer.item))
                    }
                    Some(differs) => wrong.push(format!("{name}: `{differs}` differs")),
                    None => {}
                }
            }
            Err(at) if answer.status != 0 && (at.item, at.line) == (answer.item, answer.line) => {}
            Err(at) => wrong.push(format!(
                "{name}: expected {at:?}, found status {}, item {}, line {}",
                answer.status, answer.item, answer.line
            )),
        }
    }
    assert!(wrong.is_empty(), "{} of {} launches:\n{:.4000}", wrong.len(), calls.len(), wrong.join("\n"));
    (units.len(), calls.len(), refused)
}

fn dozen() -> Vec<PathBuf> {
    DOZEN.iter().map(|name| root().join("examples").join(name)).collect()
}

#[test]
fn kernels_called_from_c_leave_what_the_evaluator_leaves() {
    for tools in LEVELS.iter().filter(|tools| has(tools)) {
        let (kernels, launches, refused) = agree(&dozen(), tools, &[], &[]);
        assert!(kernels >= DOZEN.len() && launches >= kernels, "{kernels} kernels, {launches} launches; {refused:?}");
        assert_eq!(refused, Vec::<String>::new());
    }
}

#[test]
fn an_argument_within_another_reaches_what_is_before_it() {
    if has(&HOST) {
        agree(&[root().join("tests/native/before_its_argument.hb")], &HOST, &[], &[]);
    }
}

#[test]
fn kernels_for_other_computers_leave_the_same_bits() {
    for tools in OTHERS.iter().filter(|tools| has(tools)) {
        let (_, _, refused) = agree(&dozen(), tools, &[], &[]);
        assert_eq!(refused, Vec::<String>::new());
    }
}

/// `cargo test native::every -- --ignored --nocapture` prints the number of kernels and the reasons of refusals.
#[test]
#[ignore = "takes minutes"]
fn every_example_leaves_the_same_bits_on_every_computer() {
    for tools in LEVELS.iter().chain(&OTHERS).filter(|tools| has(tools)) {
        let (kernels, launches, refused) = agree(&files(&root().join("examples")), tools, &[], &[]);
        println!("{}: {kernels} kernels, {launches} launches; refused {}", tools.triple, refused.len());
        // The refusals are the same on all machines.
        refused.iter().filter(|_| tools.triple == HOST.triple).for_each(|refused| println!("    {refused}"));
        assert!(kernels >= 60, "{kernels}");
    }
}

#[test]
fn sanitizers_find_nothing() {
    if !has(&HOST) {
        return;
    }
    for tools in LEVELS.iter().filter(|tools| has(tools)) {
        agree(&dozen(), tools, &["-fsanitize=address,undefined", "-g"], &[]);
    }
    if has(&Tools { runner: &["valgrind"], ..HOST }) {
        let checked = ["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full"];
        agree(&dozen(), &HOST, &["-g"], &checked);
    }
}

/// Run with `HALFBYTE_KERNELS=2000 cargo test native::random -- --ignored --nocapture`;
/// `HALFBYTE_SEED` selects other kernels.
#[test]
#[ignore = "takes minutes"]
fn random_kernels_leave_the_same_bits_on_every_computer() {
    let number = |name: &str, otherwise: u64| std::env::var(name).map_or(otherwise, |text| text.parse().unwrap());
    let (count, seed) = (number("HALFBYTE_KERNELS", 200), number("HALFBYTE_SEED", 0));
    let targets = Targets::new();
    let mut mix = Mix::new(&targets);
    for tools in LEVELS.iter().chain(&OTHERS).filter(|tools| has(tools)) {
        let machine = Machine::new(tools.triple, tools.cpu).unwrap();
        let (mut kernels, mut launches, mut refused) = (0, 0, 0);
        // A program with a hundred kernels compiles in a second.
        for first in (0..count).step_by(100) {
            let mut corpus = Corpus::default();
            (first..count.min(first + 100)).for_each(|number| corpus.draw(&mut mix, seed, number, &machine));
            // The distance between buffers ensures that an out-of-bounds access does not reach another buffer.
            let (some_kernels, some_launches, some_refused) = compared(corpus, tools, &["-DAPART=65536"], &[]);
            kernels += some_kernels;
            launches += some_launches;
            refused += some_refused.len();
        }
        println!("{}: {kernels} random kernels, {launches} launches; refused {refused}", tools.triple);
    }
}
