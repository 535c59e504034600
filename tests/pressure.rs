//! Tests of kernels with high register pressure. If the values fit in the registers, there are no
//! spills. Otherwise, the results are still correct. The same text always gives the same bytes.

use std::fmt::Write;

use halfbyte::launch::{Engine, evaluate, execute};
use halfbyte::pipeline::{Binary, Options, compile};
use halfbyte::{Module, TARGETS};
use halfbyte_ir::witness::Random;

use crate::common::root;

/// Returns a kernel that loads `count` values of a type, which are all live at once, and combines
/// them from the last to the first.
fn folding(ty: &str, op: &str, count: usize) -> String {
    let mut text = format!("kernel @fold(%x: in {ty}, %y: out {ty}) {{\n^entry:\n  %i = item_id\n");
    for k in 0..count {
        let _ = writeln!(text, "  %v{k} = load %x[%i + {k}]");
    }
    let _ = writeln!(text, "  %s{} = {op}.{ty} %v{}, %v{}", count - 1, count - 1, count - 2);
    for k in (0..count - 1).rev() {
        let _ = writeln!(text, "  %s{k} = {op}.{ty} %v{k}, %s{}", k + 1);
    }
    let _ = writeln!(text, "  store %s0, %y[%i]\n  ret\n}}");
    text
}

fn compiled(text: &str) -> (Module, Binary) {
    let module = Module::parse(text).unwrap();
    let binary = compile(&module, &module.ir().kernels, &Options::new(halfbyte::HALU), &mut |_| {}).unwrap();
    (module, binary)
}

/// Compiles a kernel and compares its results with the evaluator on random values. Returns the number of spills.
fn spills_and_runs(text: &str, bytes: usize, count: usize) -> u32 {
    const ITEMS: u32 = 16;
    let (module, binary) = compiled(text);
    let kernel = module.ir().kernel("fold").unwrap();
    let mut random = Random(count as u64);
    let input: Vec<u8> = (0..bytes * (count + ITEMS as usize)).map(|_| random.bits() as u8).collect();
    let mut expected = vec![input, vec![0; bytes * ITEMS as usize]];
    let mut found = expected.clone();
    evaluate(kernel, ITEMS, &mut expected).unwrap();
    let program = halfbyte::TARGETS.load(&binary.object).unwrap();
    execute(program.kernel("fold").unwrap(), Engine::Interp, ITEMS, &mut found).unwrap();
    assert_eq!(expected, found);
    binary.stats[0].spills
}

#[test]
fn a_hundred_live_half_pairs_need_no_spill() {
    assert_eq!(spills_and_runs(&folding("f16x2", "fadd", 100), 4, 100), 0);
}

#[test]
fn more_than_there_are_registers_are_spilled_and_right() {
    assert!(spills_and_runs(&folding("f16x2", "fadd", 300), 4, 300) > 0);
    assert!(spills_and_runs(&folding("i64", "add", 150), 8, 150) > 0);
}

#[test]
fn wide_values_are_aligned_and_right() {
    // The encoding has no misaligned register pairs or quads, so these kernels test their alignment.
    assert_eq!(spills_and_runs(&folding("i64", "sub", 40), 8, 40), 0);
    spills_and_runs(&folding("i8x16", "avg_u", 60), 16, 60);
}

#[test]
fn more_buffers_than_uniform_registers_are_reached() {
    const BUFFERS: usize = 40;
    let buffers: Vec<String> = (0..BUFFERS).map(|k| format!("%x{k}: in i32")).collect();
    let mut text = format!("kernel @fold({}, %y: out i32) {{\n^entry:\n  %i = item_id\n", buffers.join(", "));
    let _ = writeln!(text, "  %s0 = const.i32 0");
    for k in 0..BUFFERS {
        let _ = writeln!(text, "  %v{k} = load %x{k}[%i + {}]\n  %s{} = add.i32 %s{k}, %v{k}", k % 3, k + 1);
    }
    let _ = writeln!(text, "  store %s{BUFFERS}, %y[%i]\n  ret\n}}");
    let (module, binary) = compiled(&text);
    let mut expected: Vec<Vec<u8>> = (0..BUFFERS).map(|k| vec![k as u8 + 1; 4 * 8]).collect();
    expected.push(vec![0; 4 * 4]);
    let mut found = expected.clone();
    evaluate(module.ir().kernel("fold").unwrap(), 4, &mut expected).unwrap();
    let program = halfbyte::TARGETS.load(&binary.object).unwrap();
    execute(program.kernel("fold").unwrap(), Engine::Interp, 4, &mut found).unwrap();
    assert_eq!(expected, found);
}

#[test]
fn the_same_text_gives_the_same_bytes() {
    let examples = root().join("examples");
    let mut compared = 0;
    for entry in std::fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "hb") {
            let text = std::fs::read_to_string(path).unwrap();
            let module = Module::parse(&text).unwrap();
            for target in TARGETS.defaults() {
                let object = || module.compile(target).map(|binary| binary.object).ok();
                let first = object();
                assert_eq!(first, object());
                compared += usize::from(first.is_some());
            }
        }
    }
    assert!(compared >= 20, "{compared}");
}
