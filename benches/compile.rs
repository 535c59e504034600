//! Compile-time benchmark: ops per second on one thread from text to machine code, and the time of
//! each stage.
//!
//! The benchmark compiles 2,000 generated kernels of about 40 ops on `f16x2`, `i8x4` and `i32`,
//! with loads and stores, branches and loops. The output line `compile` gives the speed of the
//! whole pipeline from text to an object file. The other output lines give the times of the stages;
//! the time of `verify` is part of `read`. The time of a stage on a kernel is the minimum of
//! several rounds, to exclude the effects of other processes. The output line `language` gives the
//! speed of the front end on the kernels of `examples/known`, which are written in the kernel
//! language.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use halfbyte::ir::generate::{Cooperation, Palette, Shape};
use halfbyte::ir::witness::Random;
use halfbyte::ir::{Kernel, Type, verify};
use halfbyte::pipeline::{Compiler, Options};
use halfbyte::{Module, TARGETS, emit, isa};
use halfbyte_prove::random_intrinsics;

const KERNELS: usize = 2000;
const ROUNDS: usize = 9;
const SHAPE: Shape = Shape { ops: 10, depth: 2, live: 0, traps: false, cooperation: Cooperation::Never };
const TYPES: &[Type] = &[Type::F16X2, Type::I8X4, Type::I32];

/// The stages of a compilation, in order.
const PARTS: [&str; 6] = ["read", "lower", "isel", "regalloc", "layout", "object"];

fn main() {
    let text = text();
    let module = Module::parse(&text).unwrap();
    let ops: usize = module.ir().kernels.iter().map(ops).sum();
    println!("bytes ours={} B", text.len());
    println!("ops_a_kernel ours={:.1} ops", ops as f64 / KERNELS as f64);

    let mut best = vec![[Duration::MAX; PARTS.len()]; KERNELS];
    for _ in 0..ROUNDS {
        for (best, times) in best.iter_mut().zip(compile(&text)) {
            best.iter_mut().zip(times).for_each(|(best, time)| *best = time.min(*best));
        }
    }
    let part = |number: usize| best.iter().map(|times| times[number]).sum::<Duration>();
    let total: Duration = (0..PARTS.len()).map(part).sum();
    println!("compile ours={:.3} Mops/s", ops as f64 / total.as_secs_f64() / 1e6);
    for (number, name) in PARTS.iter().enumerate() {
        println!("{name} ours={:.0} ns/op", part(number).as_nanos() as f64 / ops as f64);
    }
    let start = Instant::now();
    module.ir().kernels.iter().for_each(|kernel| verify(kernel).unwrap());
    println!("verify ours={:.0} ns/op", start.elapsed().as_nanos() as f64 / ops as f64);
    println!("language ours={:.3} Mops/s", language() / 1e6);
}

/// Returns the number of IR ops per second that the front end generates from the kernels of `examples/known`.
fn language() -> f64 {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/known");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts = files.filter(|file| file.extension().is_some_and(|extension| extension == "hb"));
    let texts: Vec<String> = texts.map(|file| fs::read_to_string(file).unwrap()).collect();
    let read = |text: &String| {
        let start = Instant::now();
        let module = Module::parse(text).unwrap();
        (start.elapsed(), module.ir().kernels.iter().map(ops).sum::<usize>())
    };
    let best = |text: &String| (0..ROUNDS).map(|_| read(text)).min().unwrap();
    let (time, ops) =
        texts.iter().map(best).fold((Duration::ZERO, 0), |(time, all), (one, ops)| (time + one, all + ops));
    ops as f64 / time.as_secs_f64()
}

fn ops(kernel: &Kernel) -> usize {
    kernel.layout.iter().map(|&block| kernel.blocks[block].insts.len()).sum()
}

fn options() -> Options {
    Options { verify: false, ..Options::new(halfbyte::HALU) }
}

fn text() -> String {
    let takes = |kernel: &Kernel| {
        let module = Module::parse(&kernel.to_string()).unwrap();
        Compiler::new(&module, &options()).compile(kernel, &mut |_| {}).is_ok()
    };
    let mut palette = Palette::new(takes).with_types(TYPES).with_intrinsics(&[random_intrinsics::halu_intrinsic]);
    let mut random = Random(1);
    let kernel = |number| palette.kernel(&format!("k{number}"), &SHAPE, &mut random).to_string();
    (0..KERNELS).map(kernel).collect::<Vec<_>>().join("\n")
}

/// Compiles the text and returns the time of each stage for each kernel. Work that is done once for
/// the whole module is included in the times of the first kernel.
fn compile(text: &str) -> Vec<[Duration; PARTS.len()]> {
    let mut times = vec![[Duration::ZERO; PARTS.len()]; KERNELS];
    let mut last = Instant::now();
    let mut lap = |kernel: usize, part: usize| {
        let now = Instant::now();
        times[kernel][part] += now - std::mem::replace(&mut last, now);
    };
    let module = Module::parse(text).unwrap();
    lap(0, 0);
    let options = options();
    let mut compiler = Compiler::new(&module, &options);
    let mut code: Vec<emit::KernelCode> = Vec::with_capacity(KERNELS);
    for (number, kernel) in module.ir().kernels.iter().enumerate() {
        let lowered = compiler.lower(kernel, &mut |_| {}).unwrap();
        lap(number, 1);
        let allocated =
            compiler.machine(&lowered, &mut |step| lap(number, if step.name == "isel" { 2 } else { 3 })).unwrap();
        code.push(TARGETS.layout(halfbyte::HALU, allocated.func).unwrap());
        lap(number, 4);
    }
    let header = isa::object::Header { target: halfbyte::HALU, source: module.file().to_owned() };
    emit::write_object(&header, &code).unwrap();
    lap(0, 5);
    times
}
