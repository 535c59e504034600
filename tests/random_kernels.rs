//! Tests on random kernels. The text of a kernel can be parsed again without changes. Machine code, with and without
//! passes, agrees with the evaluator on every engine. The checker of regalloc2 verifies the register allocation.

use std::collections::HashSet;
use std::num::NonZero;
use std::ops::Range;

use halfbyte::abi::{CancelToken, Limits, Sm};
use halfbyte::ir::generate::{Addresses, Cooperation, Palette, Shape};
use halfbyte::ir::witness::Random;
use halfbyte::ir::{Kernel, Op};
use halfbyte::launch::Engine;
use halfbyte::pipeline::{Compiler, Options, Product, Stage, compile, count_rules};
use halfbyte::{CompileError, Module, Target};
use halfbyte_prove::campaign::{BUDGET, Plan, Summary, launches, reduce_failure, run};
use halfbyte_prove::prove::Shard;
use halfbyte_prove::random_intrinsics;
use halfbyte_testkit::reduce::TrialLimits;
use halfbyte_testkit::trial::{Launch, Trial};

use crate::support::{with_passes, without_passes};

/// Returns a generator of kernels that compile with the given options.
fn palette<'t>(empty: &'t Module, options: &'t Options) -> Palette<'t> {
    let mut compiler = Compiler::new(empty, options);
    let takes = move |kernel: &Kernel| {
        let error = compiler.compile(kernel, &mut |_| {}).err();
        let is_defect = matches!(error, Some(CompileError::Internal { .. } | CompileError::Invalid(_)));
        assert!(!is_defect, "{error:?}\n{kernel}");
        error.is_none()
    };
    match options.target == halfbyte::VP1 {
        true => Palette::new(takes).with_addresses(Addresses::Affine).with_intrinsics(&[random_intrinsics::vp1]),
        false => Palette::new(takes).with_intrinsics(&[random_intrinsics::halu_intrinsic]),
    }
}

/// Returns the parameters of a random kernel whose live values fit in the target's registers.
fn shape(target: Target, random: &mut Random) -> Shape {
    let shape = Shape::random(random);
    // VP1 has few vector registers, and the 32-bit words of four items take one vector register.
    if target == halfbyte::VP1 { Shape { live: shape.live / 4, ..shape } } else { shape }
}

/// Generates kernels that compile with the options `forms`, and tests each of them with all options
/// in `ways`. Returns, for each of `ways`, the number of kernels that compile.
fn check(seeds: Range<u64>, forms: &Options, ways: &[Options]) -> Vec<usize> {
    let empty = Module::parse("").unwrap();
    let mut palette = palette(&empty, forms);
    let trial = Trial { options: ways, engines: &Engine::ALL, native_objects: false, budget: BUDGET, watchdog: None };
    let mut accepted = vec![0; ways.len()];
    for seed in seeds {
        let mut random = Random(seed);
        let shape = shape(forms.target, &mut random);
        let text = palette.kernel("random", &shape, &mut random).to_string();
        match trial.run_printed(&text, |kernel| launches(kernel, &mut Random(seed))) {
            Ok(tally) => accepted.iter_mut().zip(tally.accepted).for_each(|(all, one)| *all += usize::from(one)),
            Err(failure) => panic!("seed {seed}: {}", reduce_failure(&trial, &TrialLimits::endless(), text, failure).1),
        }
    }
    accepted
}

const OF_NATIVE_OPS: Range<u64> = 0..100;
const OF_ALL_OPS: Range<u64> = 1000..1080;

/// Tests kernels with the ops that HALU supports without passes.
#[test]
fn of_native_ops_of_halu() {
    let ways = [without_passes(halfbyte::HALU), with_passes(halfbyte::HALU)];
    assert_eq!(check(OF_NATIVE_OPS, &without_passes(halfbyte::HALU), &ways), [100, 100]);
}

/// Tests kernels with all ops that HALU supports with passes.
#[test]
fn of_all_ops_of_halu() {
    assert_eq!(check(OF_ALL_OPS, &with_passes(halfbyte::HALU), &[with_passes(halfbyte::HALU)]), [80]);
}

/// Tests kernels with the ops that VP1 supports without passes. VP1 refuses some combinations of
/// accesses, loops and branches, because it cannot access their buffers by streams.
#[test]
fn of_native_ops_of_vp1() {
    let ways = [without_passes(halfbyte::VP1), with_passes(halfbyte::VP1)];
    let accepted = check(0..60, &without_passes(halfbyte::VP1), &ways);
    assert!(accepted.iter().all(|&accepted| accepted >= 40), "{accepted:?}");
}

/// Tests kernels with all ops that VP1 supports with passes.
#[test]
fn of_all_ops_of_vp1() {
    let accepted = check(1000..1060, &with_passes(halfbyte::VP1), &[with_passes(halfbyte::VP1)]);
    assert!(accepted.iter().all(|&accepted| accepted >= 40), "{accepted:?}");
}

/// Compares random kernels on all routes, as `halfbyte random` does, and asserts that no results differ.
fn campaign(kernels: Range<u64>, targets: Vec<Target>, meets: Option<Cooperation>) -> Summary {
    let plan = Plan {
        seed: 0,
        kernels,
        shard: Shard::WHOLE,
        targets,
        engines: Engine::ALL.to_vec(),
        ahead: false,
        threads: NonZero::<usize>::MIN,
        enough: 1,
        cooperation: meets,
        limits: Limits::NONE,
        cancel: CancelToken::default(),
    };
    let summary = run(&plan, &mut |_| {});
    if let Some(difference) = summary.differences.first() {
        panic!("{}", difference.file);
    }
    summary
}

/// Tests cooperative kernels, and kernels with races.
#[test]
fn cooperative_kernels_agree() {
    let summary = campaign(0..150, vec![halfbyte::HALU, halfbyte::ptx(Sm::DEFAULT)], Some(Cooperation::Ordered));
    assert!(summary.accepted[0] >= 100 && summary.accepted[1] >= 100, "{summary:?}");
    let summary = campaign(0..150, Vec::new(), Some(Cooperation::Racing));
    assert_eq!(summary.kernels, 150);
}

/// Tests kernels with traps, each on every target that accepts it.
#[test]
fn of_a_campaign() {
    let summary = campaign(0..500, vec![halfbyte::HALU, halfbyte::VP1], None);
    assert!(summary.accepted[0] >= 450 && summary.accepted[1] >= 200, "{summary:?}");
    assert!((25..200).contains(&summary.trapping), "{summary:?}");
}

/// Ops, rules and intrinsics in a sample of a target's random kernels. The tests rely on their variety: the kernels
/// must contain every supported op and many intrinsics, and apply most selection rules. Some kernels must spill, and
/// some must contract a product and a sum. The sample has other kernels than the tests above.
struct Variety {
    ops: HashSet<Op>,
    idle: Vec<&'static str>,
    rules: usize,
    intrinsics: HashSet<String>,
    spilling: usize,
    contracting: usize,
}

fn fused(kernel: &Kernel) -> usize {
    kernel.insts.values().filter(|inst| inst.op == Op::Ffma).count()
}

fn variety(of: [(Range<u64>, Options); 2]) -> Variety {
    let (mut ops, mut rules, mut intrinsics) = (HashSet::new(), HashSet::new(), HashSet::new());
    let (mut spilling, mut contracting) = (0, 0);
    let target = of[0].1.target;
    for (seeds, options) in of {
        let empty = Module::parse("").unwrap();
        let mut palette = palette(&empty, &options);
        for seed in seeds {
            let mut random = Random(seed);
            let mut shape = shape(target, &mut random);
            // Some kernels are cooperative, if the target supports cooperation.
            if target == halfbyte::HALU && seed % 3 == 0 {
                shape = Shape { cooperation: Cooperation::Ordered, traps: false, ..shape };
            }
            let module = Module::parse(&palette.kernel("random", &shape, &mut random).to_string()).unwrap();
            let kernel = &module.ir().kernels[0];
            let mut watch = |step: &Stage<'_>| {
                if let ("contract", Product::Lowered(after)) = (step.name, step.result) {
                    contracting += usize::from(fused(after) > fused(kernel));
                }
            };
            let Ok(binary) = compile(&module, &module.ir().kernels, &options, &mut watch) else { continue };
            ops.extend(kernel.insts.values().map(|inst| inst.op));
            intrinsics.extend(
                kernel.intrinsics.values().filter_map(|data| data.text.split(['.', ' ']).next().map(str::to_string)),
            );
            rules.extend(count_rules(target, &binary.stats[0].rules).into_iter().map(|(name, _)| name));
            spilling += usize::from(binary.stats[0].spills > 0);
        }
    }
    let all = halfbyte::TARGETS.rules(target);
    let idle = all.iter().map(|rule| rule.name).filter(|name| !rules.contains(name)).collect();
    Variety { ops, idle, rules: all.len(), intrinsics, spilling, contracting }
}

fn missing(ops: &HashSet<Op>, refused: &[Op]) -> Vec<&'static Op> {
    // The kernels of this sample are not cooperative.
    let meets = |op: &Op| op.orders_memory() || matches!(op, Op::SubgroupId | Op::LaneId);
    Op::ALL.iter().filter(|op| !refused.contains(op) && !ops.contains(op) && !meets(op)).collect()
}

#[test]
fn kernels_of_halu_are_varied() {
    let of = [(100..900, without_passes(halfbyte::HALU)), (1080..1280, with_passes(halfbyte::HALU))];
    let Variety { ops, mut idle, rules, intrinsics, spilling, contracting } = variety(of);
    // The only atomic operations in random kernels are commutative ones on shared memory. Proofs
    // cover the rules of all atomic operations.
    idle.retain(|rule| !rule.starts_with("atomic_"));
    let missing = missing(&ops, &[Op::Swizzle, Op::LocalId, Op::GroupId, Op::GroupSize]);
    assert!(missing.is_empty(), "{missing:?}");
    assert!(idle.len() * 20 < rules, "{} of {rules}: {idle:?}", idle.len());
    assert!(intrinsics.len() >= 20, "{intrinsics:?}");
    assert!(spilling >= 8, "{spilling} kernels");
    assert!(contracting >= 10, "{contracting} kernels");
}

#[test]
fn kernels_of_vp1_are_varied() {
    let of = [(60..260, without_passes(halfbyte::VP1)), (1060..1660, with_passes(halfbyte::VP1))];
    let Variety { ops, idle, rules, intrinsics, spilling, .. } = variety(of);
    let groups = [Op::LocalId, Op::GroupId, Op::GroupSize, Op::GroupCount];
    let mut missing = missing(&ops, &[&groups[..], &[Op::PtrAdd, Op::DivS, Op::DivU, Op::RemS, Op::RemU]].concat());
    // VP1 has no floating-point arithmetic. VP1 accepts few kernels with `dot2_su`, and the sample
    // contains none of them.
    missing.retain(|op| !op.name().starts_with('f') && **op != Op::Dot2SU);
    assert!(missing.is_empty(), "{missing:?}");
    assert!(idle.len() * 4 < rules, "{} of {rules}: {idle:?}", idle.len());
    assert!(intrinsics.len() >= 10, "{intrinsics:?}");
    assert!(spilling >= 2, "{spilling} kernels");
}

#[test]
fn accesses_after_an_endless_loop_do_not_trap() {
    let ways = [with_passes(halfbyte::HALU), with_passes(halfbyte::VP1)];
    let trial = Trial { options: &ways, engines: &Engine::ALL, native_objects: false, budget: BUDGET, watchdog: None };
    for elem in ["i8", "i8x4", "i32"] {
        let text = format!(
            "kernel @k(%x: in {elem}, %y: in {elem}, %n: i32, %z: out {elem}) {{
^entry:
  %i = item_id
  %zero = const.i32 0
  %b = load %y[%i]
  %c = icmp.eq.i32 %n, %zero
  br ^spin
^spin:
  br_if %c, ^spin, ^behind
^behind:
  %a = load %x[%i]
  %r = add.{elem} %a, %b
  store %r, %z[%i]
  ret
}}"
        );
        let module = Module::parse(&text).unwrap();
        for n in 0..2 {
            for (x, y) in [(0, 20), (4, 20), (20, 20), (20, 0), (20, 4), (0, 0)] {
                let bytes = |elements: usize| vec![1; elements * if elem == "i8" { 1 } else { 4 }];
                let args = vec![bytes(x), bytes(y), vec![n, 0, 0, 0], bytes(20)];
                let tally = trial.run(&module, &[Launch { shape: 20.into(), args, aliases: Vec::new() }]).unwrap();
                assert_eq!(tally.accepted, [true, true]);
                assert_eq!(tally.traps, n == 0 || x < 20 || y < 20);
            }
        }
    }
}
