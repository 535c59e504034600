//! Tests of random mutants of PTX texts. The parser and the import must not panic, and an imported
//! kernel must give the results and traps of the text.
//!
//! `HALFBYTE_MUTATIONS=2000000 cargo test ptx_mutated:: -- --nocapture` sets the number of mutants.
//! `HALFBYTE_SHARD=1/4` tests only a quarter of them.

use std::fs::File;
use std::io::{BufRead, BufReader};

use flate2::read::GzDecoder;
use halfbyte::import_ptx::{Host, Shape, import, read};
use halfbyte::ir::ParamKind;
use halfbyte::ir::eval::{Fault, TrapKind};
use halfbyte::ir::witness::Random;
use halfbyte::launch::{Engine, LaunchOptions, evaluate_within};

use serde_json::Value;

use crate::common::root;
use crate::ptx_support::{arguments, baselines};

const GRID: u32 = 2;
const BLOCK: u32 = 3;
const BUDGET: u32 = 40;

/// Returns PTX texts that contain every instruction that can be imported, as well as functions,
/// local memory, pointers and variables.
fn vectors() -> impl Iterator<Item = String> {
    ["approx", "cvt", "cvt-small", "float", "int", "program", "select", "video"].into_iter().flat_map(|name| {
        let file = File::open(root().join(format!("tests/vectors/ptx-{name}.jsonl.gz"))).unwrap();
        let lines = BufReader::new(GzDecoder::new(file)).lines();
        lines.map(|line| {
            let launch: Value = serde_json::from_str(&line.unwrap()).unwrap();
            launch["ptx"].as_str().unwrap().to_owned()
        })
    })
}

/// Returns the lines of valid PTX texts, each with one kernel.
fn seeds() -> Vec<Vec<String>> {
    let clang = std::fs::read_to_string(root().join("tests/ptx/clang/kernels.ptx")).unwrap();
    let (head, kernels) = clang.split_once("\t// .globl").unwrap();
    let kernels = kernels.split("\t// .globl").map(|kernel| format!("{head}//{kernel}"));
    let tables = std::fs::read_to_string(root().join("tests/ptx/data/tables.ptx")).unwrap();
    let texts = baselines().into_iter().map(|baseline| baseline.source).chain(kernels).chain([tables]);
    texts.chain(vectors()).map(|text| text.lines().map(str::to_owned).collect()).collect()
}

/// Returns k and n of the shard `k/n` to test.
fn shard() -> (u64, u64) {
    let Ok(shard) = std::env::var("HALFBYTE_SHARD") else { return (1, 1) };
    let parts = shard.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    parts.filter(|&(k, n)| 1 <= k && k <= n).unwrap_or_else(|| panic!("`{shard}` is no shard such as 1/4"))
}

/// Splits a line into tokens. Blanks and punctuation are tokens, too.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in line.chars() {
        let is_part = c.is_ascii_alphanumeric() || matches!(c, '%' | '_' | '$');
        match words.last_mut() {
            Some(last)
                if is_part && !last.is_empty() && !last.starts_with(|c: char| " .,;[]{}@!|:+-()".contains(c)) =>
            {
                last.push(c)
            }
            _ => words.push(c.to_string()),
        }
    }
    words
}

fn changed(seeds: &[Vec<String>], random: &mut Random) -> String {
    let mut draw = |n: usize| random.bits() as usize % n.max(1);
    let mut lines = seeds[draw(seeds.len())].clone();
    for _ in 0..=draw(5) {
        let at = draw(lines.len());
        let other = &seeds[draw(seeds.len())];
        match draw(8) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, other[draw(other.len())].clone()),
            2 => {
                let to = draw(lines.len());
                lines.swap(at, to);
            }
            3 => {
                let line = lines[at].clone();
                lines.insert(draw(lines.len()), line);
            }
            4 => {
                let mut bytes = lines[at].clone().into_bytes();
                let byte = draw(bytes.len());
                if let Some(of) = bytes.get_mut(byte) {
                    *of ^= 1 << draw(7);
                }
                lines[at] = String::from_utf8_lossy(&bytes).into_owned();
            }
            // Replaces a token of this line by a token of another line.
            _ => {
                let from = lines[draw(lines.len())].clone();
                let (mut own, others) = (words(&lines[at]), words(&from));
                let place = draw(own.len());
                own[place] = others[draw(others.len())].clone();
                lines[at] = own.concat();
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}

#[test]
fn mutants_are_refused_or_match_direct_execution() {
    let count = std::env::var("HALFBYTE_MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(3000);
    let (seeds, (k, n)) = (seeds(), shard());
    let (mut was_read, mut was_imported, mut was_compared) = (0, 0, 0);
    for number in (k - 1..count).step_by(n as usize) {
        if number / n % 100_000 == 99_999 {
            let done = number / n + 1;
            eprintln!("{done} texts, {was_read} read, {was_imported} imported, {was_compared} launches compared");
        }
        let text = changed(&seeds, &mut Random(number));
        if read("k.ptx", &text).is_err() {
            continue;
        }
        was_read += 1;
        let shape = Shape { grid: Some([GRID, 1, 1]), block: Some([BLOCK, 1, 1]) };
        let module = match import("k.ptx", &text, shape) {
            Ok(module) => module,
            Err(report) => {
                let said = report.to_string();
                assert!(!said.contains("a defect of the import"), "{number}: {said}\n{text}");
                continue;
            }
        };
        was_imported += 1;
        for kernel in &module.ir().kernels {
            let Ok(host) = Host::load("k.ptx", &text, &kernel.name) else { continue };
            let mut before = arguments(kernel, GRID * BLOCK, false, number);
            // Makes some buffers short, so that some accesses are out of bounds.
            for (param, bytes) in kernel.params.iter().zip(&mut before) {
                if matches!(param.kind, ParamKind::Buffer { .. }) && number % 4 == 0 {
                    bytes.truncate(bytes.len() / 32 * 4);
                }
            }
            let (mut expected, mut found) = (before.clone(), before);
            let text_ran = host.launch_on(
                LaunchOptions { budget: BUDGET.into(), ..Engine::Interp.into() },
                (GRID, BLOCK),
                &mut expected,
            );
            let ir_ran = evaluate_within(kernel, (GRID, BLOCK), BUDGET, &mut found);
            match (text_ran, ir_ran) {
                // Ignores mutants whose items race or exceed the budget, because their results may differ.
                (_, Err(Fault::Race(_))) => continue,
                // Ignores stores to a read-only buffer by an address that was computed from another
                // buffer. The import does not notice that the address reaches the read-only buffer.
                (Ok(_), Err(Fault::Trap(trap))) if matches!(trap.kind, TrapKind::ReadOnly { .. }) => continue,
                (Err(text), _) if text.to_string().contains("backward") => continue,
                (_, Err(ir)) if ir.to_string().contains("backward") => continue,
                (Ok(_), Ok(_)) => assert!(expected == found, "{number}\n{text}\n{kernel}"),
                (Err(_), Err(_)) => {}
                (text_ran, ir_ran) => {
                    panic!("{number}: {:?}, but {:?}\n{text}\n{kernel}", text_ran.is_ok(), ir_ran.map(|_| ()));
                }
            }
            was_compared += 1;
        }
    }
    let count = count / n;
    println!("{count} texts, {was_read} read, {was_imported} imported, {was_compared} launches compared");
    assert!(was_compared > count / 20, "{was_compared} of {count}");
}
