//! Tests of the reduction of failing kernels. The tests introduce deliberate faults: a compiler
//! that replaces an op by a wrong one in kernels of two hundred ops, and passes that panic or leave
//! an ill-formed kernel.

use std::time::{Duration, Instant};

use halfbyte::ir::generate::{Addresses, Cooperation, Palette, Shape};
use halfbyte::ir::witness::Random;
use halfbyte::ir::{Attr, InstData, IntCC, Kernel, Op};
use halfbyte::launch::{Engine, evaluate_within, execute};
use halfbyte::pipeline::{Compiler, Options, compile};
use halfbyte::{Module, Target};
use halfbyte_lower::{Context, Pass, PassError};
use halfbyte_prove::campaign::{Mix, Targets, launches};
use halfbyte_prove::random_intrinsics;
use halfbyte_testkit::reduce::{Case, Effort, FailingLaunch, Progress, TrialLimits, reduce};
use halfbyte_testkit::trial::{FailureKind, Launch};

/// A deliberate fault, which replaces the op of an instruction by another one. Returns `true` if it
/// changed the instruction.
type Fault = fn(&mut InstData) -> bool;

const BUDGET: u32 = 10_000;

/// Returns `true` if the results of a kernel with the deliberate fault differ from those of the evaluator.
fn differs(case: &Case, options: &Options, fault: Fault) -> bool {
    let mut wrong = case.kernel().clone();
    if wrong.insts.values_mut().fold(0, |count, inst| count + usize::from(fault(inst))) == 0 {
        return false;
    }
    let Ok(binary) = compile(&case.module(), &[wrong], options, &mut |_| {}) else { return false };
    let program = halfbyte::TARGETS.load(&binary.object).unwrap();
    let (mut expected, mut found) = (case.launch().args.clone(), case.launch().args.clone());
    let items = case.launch().shape.items().unwrap();
    evaluate_within(case.kernel(), items, BUDGET, &mut expected).is_ok()
        && execute(program.kernel(&case.kernel().name).unwrap(), Engine::Interp, items, &mut found).is_ok()
        && expected != found
}

/// Reduces a kernel of at least two hundred ops whose results the fault changes, and asserts that
/// `wanted` is true for the reduced kernel.
#[track_caller]
fn is_found(target: Target, fault: Fault, wanted: impl Fn(&Kernel) -> bool) {
    let options = Options { verify: false, ..Options::new(target) };
    let empty = Module::parse("").unwrap();
    let mut compiler = Compiler::new(&empty, &options);
    let mut palette = Palette::new(move |kernel: &Kernel| compiler.compile(kernel, &mut |_| {}).is_ok())
        .with_intrinsics(&[random_intrinsics::halu_intrinsic]);
    if target == halfbyte::VP1 {
        palette = palette.with_addresses(Addresses::Affine);
    }
    let shape = Shape {
        ops: 160,
        depth: 2,
        live: if target == halfbyte::VP1 { 0 } else { 8 },
        traps: false,
        cooperation: Cooperation::Never,
    };
    let mut draw = |seed| {
        let random = &mut Random(seed);
        let kernel = palette.kernel("random", &shape, random);
        let launch = launches(&kernel, random).remove(0);
        Case::new(&kernel, launch).unwrap()
    };
    let case = (0..500).map(&mut draw).find(|case| case.ops() >= 200 && differs(case, &options, fault)).unwrap();
    let start = Instant::now();
    let least = reduce(case.clone(), Effort::default(), &mut |case| differs(case, &options, fault), &mut |_| {});
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    assert!(least.ops() <= 12 && least.launch().shape.items().unwrap() <= 4, "{}", least.file(target.name()));
    assert!(wanted(least.kernel()) && differs(&least, &options, fault));
    assert!(least.launch().args.iter().flatten().count() <= 256, "{}", least.file(target.name()));
}

fn has(kernel: &Kernel, op: Op) -> bool {
    kernel.insts.values().any(|inst| inst.op == op)
}

fn becomes(inst: &mut InstData, from: Op, to: Op) -> bool {
    let is_it = inst.op == from;
    inst.op = if is_it { to } else { inst.op };
    is_it
}

#[test]
fn a_sum_that_is_not_clamped() {
    is_found(halfbyte::HALU, |inst| becomes(inst, Op::AddSatU, Op::Add), |kernel| has(kernel, Op::AddSatU));
}

#[test]
fn a_comparison_that_takes_equals_for_less() {
    let fault: Fault = |inst| {
        let is_it = inst.attr == Attr::IntCC(IntCC::LtU);
        inst.attr = if is_it { Attr::IntCC(IntCC::LeU) } else { inst.attr };
        is_it
    };
    is_found(halfbyte::HALU, fault, |kernel| has(kernel, Op::Icmp));
}

#[test]
fn a_rounding_that_is_lost() {
    let fault: Fault = |inst| match &mut inst.attr {
        Attr::Float(flags) if inst.op == Op::Fadd && flags.rounding != Default::default() => {
            flags.rounding = Default::default();
            true
        }
        _ => false,
    };
    is_found(halfbyte::HALU, fault, |kernel| has(kernel, Op::Fadd));
}

#[test]
fn signs_that_are_passed_over_on_vp1() {
    is_found(halfbyte::VP1, |inst| becomes(inst, Op::AvgS, Op::AvgU), |kernel| has(kernel, Op::AvgS));
}

fn case(ops: usize) -> Case {
    let values: String = (1..ops).map(|n| format!("  %v{n} = add.i32 %v{}, %v{}\n", n - 1, n / 2)).collect();
    let text = format!(
        "kernel @k(%x: in i32, %y: out i32) {{\n^entry:\n  %i = item_id\n  %v0 = load %x[%i]\n{values}  \
         store %v{}, %y[%i]\n  ret\n}}\n",
        ops - 1
    );
    let args = vec![(0..64).map(|n| n as u8).collect(), vec![0; 64]];
    Case::read(text, halfbyte_testkit::trial::Launch { shape: 16.into(), args, aliases: Vec::new() }).unwrap()
}

/// If every smaller case fails, the reduced kernel is empty. If none fails, the case is not changed.
#[test]
fn the_reduced_kernel_still_fails() {
    let least = reduce(case(50), Effort::default(), &mut |_| true, &mut |_| {});
    assert_eq!(least.text(), "kernel @k() {\n^entry:\n  ret\n}\n");
    assert_eq!((least.launch().shape.items().unwrap(), least.launch().args.len()), (0, 0));
    let mut last = Progress { trials: 0, ops: 0, items: 0 };
    let same = reduce(case(50), Effort::default(), &mut |_| false, &mut |progress| last = progress);
    assert_eq!(same.text(), case(50).text());
    assert!(last.trials > 50 && (last.ops, last.items) == (53, 16), "{last:?}");
}

/// Whatever the closure returns, each case that it gets is well-formed, and the evaluator executes
/// it or reports a fault.
#[test]
fn every_candidate_is_well_formed() {
    let targets = Targets::new();
    let mut mix = Mix::new(&targets);
    for number in 0..40 {
        let (text, mut random) = mix.draw(3, number, None);
        let kernel = &Module::parse(&text).unwrap().ir().kernels[0].clone();
        let launch = launches(kernel, &mut random).remove(0);
        let case = Case::new(kernel, launch).unwrap();
        let often = 2 + random.below(8);
        let mut asked = 0;
        let mut answer = |case: &Case| {
            asked += 1;
            let mut args = case.launch().args.clone();
            let _ = evaluate_within(case.kernel(), case.launch().shape.items().unwrap(), 100, &mut args);
            assert!(Module::parse(&case.file("halu, vp1")).is_ok());
            random.below(often) == 0
        };
        let limits = Effort { trials: 400, ..Effort::default() };
        let least = reduce(case.clone(), limits, &mut answer, &mut |_| {});
        assert!(least.ops() <= case.ops() && (1..=400).contains(&asked), "{asked}");
    }
}

#[test]
fn limits_are_kept() {
    let mut asked = 0;
    let mut count = |_: &Case| {
        asked += 1;
        false
    };
    reduce(case(50), Effort { trials: 7, ..Effort::default() }, &mut count, &mut |_| {});
    assert_eq!(asked, 7);
    let limits = Effort { time: Duration::ZERO, ..Effort::default() };
    assert_eq!(reduce(case(50), limits, &mut |_| true, &mut |_| {}).text(), case(50).text());
}

/// Returns the instructions of a kernel that have a given op.
fn ops(kernel: &mut Kernel, op: Op) -> impl Iterator<Item = &mut InstData> {
    kernel.insts.values_mut().filter(move |inst| inst.op == op)
}

fn panics(kernel: &mut Kernel, _: &mut Context<'_>) -> bool {
    assert_eq!(ops(kernel, Op::MulHiS).count(), 0, "a product of {} values", kernel.values.len());
    assert_eq!(ops(kernel, Op::MulHiU).count(), 0, "another product");
    false
}

fn breaks(kernel: &mut Kernel, _: &mut Context<'_>) -> bool {
    ops(kernel, Op::AbsDiffU).for_each(|inst| inst.args = Default::default());
    true
}

fn computes_otherwise(kernel: &mut Kernel, _: &mut Context<'_>) -> bool {
    ops(kernel, Op::SubSatU).fold(false, |_, inst| becomes(inst, Op::SubSatU, Op::Sub))
}

/// A pass with a deliberate defect.
struct Planted(fn(&mut Kernel, &mut Context<'_>) -> bool);

impl Pass for Planted {
    fn name(&self) -> &str {
        "planted"
    }

    fn run(&self, kernel: &mut Kernel, context: &mut Context<'_>) -> Result<bool, PassError> {
        Ok(self.0(kernel, context))
    }
}

/// Reduces a chain of ops for which a pass fails. Returns the kind of the failure, and the remaining ops.
#[track_caller]
fn left_over(run: fn(&mut Kernel, &mut Context<'_>) -> bool, chain: &[&str]) -> (FailureKind, Vec<Op>) {
    let mut options = Options { verify: true, ..Options::new(halfbyte::HALU) };
    options.pipeline.insert_before("contract", Planted(run)).unwrap();
    let body: String =
        chain.iter().enumerate().map(|(n, op)| format!("  %v{} = {op}.i32 %v{n}, %a\n", n + 1)).collect();
    let text = format!(
        "kernel @k(%a: i32, %x: in i32, %y: out i32) {{\n^entry:\n  %i = item_id\n  %v0 = load %x[%i]\n{body}  \
         store %v{}, %y[%i]\n  ret\n}}\n",
        chain.len()
    );
    let args = vec![vec![7, 0, 0, 0], vec![1, 0, 0, 0, 9, 1, 0, 2], vec![0; 8]];
    let case =
        Case::read(text, halfbyte_testkit::trial::Launch { shape: 2.into(), args, aliases: Vec::new() }).unwrap();
    let found = FailingLaunch::of(case.clone(), options, &Engine::ALL, &TrialLimits::endless()).unwrap();
    let least = reduce(case, Effort::default(), &mut |case| found.fails(case).is_some(), &mut |_| {});
    let failure = found.fails(&least).unwrap();
    assert!(failure.is_like(&found.failure), "{failure}");
    let wanted = [Op::MulHiS, Op::MulHiU, Op::AbsDiffU, Op::SubSatU];
    (failure.kind, least.kernel().insts.values().map(|inst| inst.op).filter(|op| wanted.contains(op)).collect())
}

/// A reduction preserves the kind of the failure: a panic, an ill-formed kernel, or different results.
#[test]
fn reduction_preserves_the_kind_of_failure() {
    let all = ["mul_hi_s", "mul_hi_u", "sub_sat_u", "add", "absdiff_u", "xor"];
    assert_eq!(left_over(panics, &all), (FailureKind::Panic, vec![Op::MulHiS]));
    assert_eq!(left_over(panics, &all[1..]), (FailureKind::Panic, vec![Op::MulHiU]));
    assert_eq!(left_over(breaks, &all), (FailureKind::Defect, vec![Op::AbsDiffU]));
    assert_eq!(left_over(computes_otherwise, &all), (FailureKind::Memory, vec![Op::SubSatU]));
    let both = |kernel: &mut Kernel, context: &mut Context<'_>| {
        let is_small = kernel.insts.len() < 8;
        if is_small { panics(kernel, context) } else { computes_otherwise(kernel, context) }
    };
    // The reduction would remove more ops if it treated a panic as different results.
    let (kind, left) = left_over(both, &["sub_sat_u", "mul_hi_s", "mul_hi_s", "mul_hi_s"]);
    assert!(kind == FailureKind::Memory && left.contains(&Op::SubSatU), "{kind:?} {left:?}");
}

#[test]
fn races_are_not_reduced() {
    let options = || Options::new(halfbyte::HALU);
    assert!(FailingLaunch::of(case(20), options(), &Engine::ALL, &TrialLimits::endless()).is_none());
    // A race is an error of the kernel itself, not a failure of the compiler.
    let text = "kernel @k(%y: out i32) {\n^entry:\n  %i = item_id\n  store %i, %y\n  ret\n}\n";
    let race = Case::read(
        text.to_owned(),
        halfbyte_testkit::trial::Launch { shape: 2.into(), args: vec![vec![0; 4]], aliases: Vec::new() },
    )
    .unwrap();
    assert!(FailingLaunch::of(race, options(), &Engine::ALL, &TrialLimits::endless()).is_none());
}

#[test]
fn contents_become_fewer() {
    let text = "
kernel @k(%x: in i32, %y: out i32, %t: in i32 = [10, 20, 30, 40, 50], %u: in i8 = [1, 2]) {
^entry:
  %i = item_id
  %at = load %x[%i]
  %v = load %t[%at]
  %one = const.i32 1
  %w = mul.i32 %v, %one
  store %w, %y[%i]
  ret
}
";
    let launch = Launch {
        shape: 3.into(),
        args: vec![[[4, 0, 0, 0], [2, 0, 0, 0], [0; 4]].concat(), vec![0; 12]],
        aliases: Vec::new(),
    };
    let is_thirty = &mut |case: &Case| {
        let mut args = case.launch().args.clone();
        let ran = evaluate_within(case.kernel(), case.launch().shape.items().unwrap(), BUDGET, &mut args).is_ok();
        ran && has(case.kernel(), Op::Mul) && args.iter().any(|arg| arg.as_chunks().0.contains(&[30, 0, 0, 0]))
    };
    let case = Case::read(text.trim_start().to_owned(), launch).unwrap();
    assert!(is_thirty(&case));
    let least = reduce(case, Effort::default(), is_thirty, &mut |_| {});
    assert!(is_thirty(&least));
    assert!(!least.text().contains("%u") && !least.text().contains("50"), "{}", least.file("halu"));
    assert!(least.launch().args.len() == least.kernel().given_params().len(), "{}", least.file("halu"));
}
