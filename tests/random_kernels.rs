//! Random kernels: the text reads back to itself, and the words, compiled with passes and without, give the evaluator's
//! bits. The register allocation is checked by regalloc2's checker.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::collections::HashSet;
use std::ops::Range;

use halfbyte::generate::{Palette, Shape, arguments};
use halfbyte::ir::witness::Random;
use halfbyte::ir::{Kernel, Op};
use halfbyte::pipeline::{Options, compile};
use halfbyte::{Module, Target};
use support::{agree, program, shrink, with_passes, without_passes};

const ITEMS: u32 = 4;
const LAUNCHES: usize = 2;

/// Whether a way to compile takes a kernel. A refusal names an op; what is about the whole kernel is the compiler's own fault.
fn takes(kernel: &Kernel, options: &Options) -> bool {
    let module = Module::parse(&kernel.to_string()).unwrap();
    let refused = program(&module, options).err();
    assert!(!refused.as_ref().is_some_and(|error| error.contains("cannot compile")), "{refused:?}\n{kernel}");
    refused.is_none()
}

/// Draws kernels from the forms that a way to compile takes, and checks each on all `ways`.
fn check(seeds: Range<u64>, forms: &Options, ways: &[Options]) {
    let mut palette = Palette::new(|kernel| takes(kernel, forms));
    for seed in seeds {
        let mut random = Random(seed);
        let shape = Shape::random(&mut random);
        let text = palette.kernel("random", &shape, &mut random).to_string();
        let read = Module::parse(&text).map(|module| module.ir().to_string());
        assert_eq!(read.as_ref().ok(), Some(&text), "seed {seed}: it does not read back");
        if let Err(error) = outcome(&text, ways, seed) {
            let kind = std::mem::discriminant(&error);
            let least =
                shrink(&text, |text| outcome(text, ways, seed).is_err_and(|e| std::mem::discriminant(&e) == kind));
            let (Failure::Malformed(error) | Failure::Refused(error) | Failure::Differs(error)) =
                outcome(&least, ways, seed).err().unwrap_or(error);
            panic!("seed {seed}: {error}\n{least}");
        }
    }
}

/// How a kernel fails.
enum Failure {
    /// It is not well formed.
    Malformed(String),
    /// It cannot be compiled.
    Refused(String),
    /// The words do not do what the evaluator does.
    Differs(String),
}

/// Checks a kernel's text on all ways, on arguments from a seed.
fn outcome(text: &str, ways: &[Options], seed: u64) -> Result<(), Failure> {
    let module = Module::parse(text).map_err(|report| Failure::Malformed(report.to_string()))?;
    let kernel = module.ir().kernels.first().ok_or(Failure::Malformed("no kernel".into()))?;
    for options in ways {
        let program = program(&module, options).map_err(Failure::Refused)?;
        let mut random = Random(seed);
        for _ in 0..LAUNCHES {
            let args = arguments(kernel, ITEMS, &mut random);
            if let Err(error) = agree(&module, &program, ITEMS, &args) {
                let passes: Vec<&str> = options.passes.iter().map(|pass| pass.name).collect();
                return Err(Failure::Differs(format!("with passes {passes:?}: {error}")));
            }
        }
    }
    Ok(())
}

const OF_NATIVE_OPS: Range<u64> = 0..300;
const OF_ALL_OPS: Range<u64> = 1000..1200;

/// Of the ops that the target has as they are.
#[test]
fn of_native_ops() {
    check(OF_NATIVE_OPS, &without_passes(Target::Halu), &[without_passes(Target::Halu), with_passes(Target::Halu)]);
}

/// Of all ops that passes make out of those.
#[test]
fn of_all_ops() {
    check(OF_ALL_OPS, &with_passes(Target::Halu), &[with_passes(Target::Halu)]);
}

/// What the two tests above stand on: their kernels have every op that HALU can be made to do, most selection rules are
/// taken, many instructions stand in intrinsics, and some kernels spill.
#[test]
fn kernels_are_varied() {
    let (mut ops, mut rules, mut intrinsics) = (HashSet::new(), HashSet::new(), HashSet::new());
    let mut spilling = 0;
    for (seeds, options) in [(OF_NATIVE_OPS, without_passes(Target::Halu)), (OF_ALL_OPS, with_passes(Target::Halu))] {
        let mut palette = Palette::new(|kernel| takes(kernel, &options));
        for seed in seeds {
            let mut random = Random(seed);
            let shape = Shape::random(&mut random);
            let module = Module::parse(&palette.kernel("random", &shape, &mut random).to_string()).unwrap();
            let kernel = &module.ir().kernels[0];
            ops.extend(kernel.insts.values().map(|inst| inst.op));
            intrinsics.extend(
                kernel.intrinsics.values().filter_map(|data| data.text.split(['.', ' ']).next().map(str::to_string)),
            );
            let stats = compile(&module, &module.ir().kernels, &options, &mut |_| {}).unwrap().stats;
            rules.extend(stats[0].rules.iter().map(|&(name, _)| name));
            spilling += usize::from(stats[0].spills > 0);
        }
    }
    let refused = [Op::Swizzle, Op::LocalId, Op::GroupId, Op::GroupSize];
    let missing: Vec<&Op> = Op::ALL.iter().filter(|op| !refused.contains(op) && !ops.contains(op)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let all = halfbyte_isel::rules(Target::Halu);
    let idle: Vec<&str> = all.iter().map(|rule| rule.name).filter(|name| !rules.contains(name)).collect();
    assert!(idle.len() * 20 < all.len(), "{idle:?}");
    assert!(intrinsics.len() >= 20, "{intrinsics:?}");
    assert!(spilling >= 20, "{spilling} kernels");
}
