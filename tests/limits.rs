//! Tests of limits and of cancellation, on the evaluator, on the interpreters, and on native code
//! with one thread and with several threads.

use std::num::NonZero;
use std::time::Duration;

use halfbyte::abi::{CancelToken, Exceeded, Limits, Watchdog};
use halfbyte::ir::eval::Fault;
use halfbyte::launch::{Engine, Evaluation, LaunchOptions, evaluate, execute};
use halfbyte::pipeline::{Options, compile};
use halfbyte::runtime::{LaunchError, Program, Stats};
use halfbyte::{Module, TARGETS, Target};

/// A kernel whose items execute a loop `n` times. If `m` is not zero, the trip count depends on the item.
const TEXT: &str = "
kernel @round(%n: i32, %m: i32, %y: out i32) {
^entry:
  %i = item_id
  %0 = const.i32 0
  %1 = const.i32 1
  %apart = and.i32 %i, %m
  %all = add.i32 %n, %apart
  br ^l(%0, %0)
^l(%k: i32, %s: i32):
  %s1 = add.i32 %s, %i
  %k1 = add.i32 %k, %1
  %more = icmp.lt_u.i32 %k1, %all
  br_if %more, ^l(%k1, %s1), ^done
^done:
  store %s1, %y[%i]
  ret
}
";

fn arguments(n: u32, m: u32, items: u32) -> Vec<Vec<u8>> {
    vec![n.to_le_bytes().to_vec(), m.to_le_bytes().to_vec(), vec![0; 4 * items as usize]]
}

fn module() -> Module {
    Module::parse(TEXT).unwrap()
}

fn program(target: Target) -> Program {
    let module = module();
    let binary = compile(&module, &module.ir().kernels, &Options::new(target), &mut |_| {}).unwrap();
    halfbyte::TARGETS.load(&binary.object).unwrap()
}

/// Returns all combinations of a target and an engine.
fn routes() -> Vec<(Target, Engine)> {
    let several = Engine::Jit { threads: NonZero::new(4).unwrap() };
    let engines = [Engine::Interp, Engine::JIT, several];
    let all = TARGETS.defaults().flat_map(|target| engines.map(|engine| (target, engine)));
    all.filter(|(target, engine)| TARGETS.runs(*engine, *target)).collect()
}

fn run(
    program: &Program,
    engine: Engine,
    watchdog: Option<&Watchdog>,
    items: u32,
    args: &mut [Vec<u8>],
) -> Result<Stats, LaunchError> {
    let how = LaunchOptions { budget: u64::MAX, watchdog, ..LaunchOptions::from(engine) };
    execute(program.kernel("round").unwrap(), how, items, args)
}

fn exceeded(result: Result<Stats, LaunchError>) -> Exceeded {
    match result {
        Err(LaunchError::Exceeded { kernel, exceeded }) if kernel == "round" => exceeded,
        other => panic!("expected a limit, found {other:?}"),
    }
}

/// Native code stops at intervals to count the work. The stops change neither the results nor the
/// statistics.
#[test]
fn long_launches_come_to_the_same_on_all_engines() {
    for (n, m, items) in [(20_000, 0, 40), (100, 7, 600), (300_000, 1, 2)] {
        for target in TARGETS.defaults() {
            let program = program(target);
            let mut expected = None;
            for (_, engine) in routes().into_iter().filter(|(of, _)| *of == target) {
                let mut args = arguments(n, m, items);
                let watchdog = Watchdog::new(Limits::NONE);
                let stats = run(&program, engine, Some(&watchdog), items, &mut args).unwrap();
                let (first, first_args) = expected.get_or_insert_with(|| (stats, args.clone()));
                assert_eq!(*first, stats, "{target} {engine} n={n} m={m}");
                assert!(*first_args == args, "{target} {engine} n={n} m={m}");
            }
            let sum = |item: u32| item.wrapping_mul(n + (item & m));
            let words: Vec<u8> = (0..items).flat_map(|item| sum(item).to_le_bytes()).collect();
            assert!(expected.unwrap().1[2] == words, "{target} n={n} m={m}");
        }
    }
}

#[test]
fn a_launch_ends_at_its_work_and_time_and_when_it_is_cancelled() {
    let module = module();
    let kernel = &module.ir().kernels[0];
    let items = 1000;
    let work = Limits { work: 100_000, ..Limits::NONE };
    let time = Limits { time: Some(Duration::from_millis(30)), ..Limits::NONE };
    let token = CancelToken::default();
    token.cancel();
    let watchdogs = || {
        [
            (Watchdog::new(work.clone()), Exceeded::Work { limit: 100_000 }),
            (Watchdog::new(time.clone()), Exceeded::Time { limit: Duration::from_millis(30) }),
            (Watchdog::with_token(Limits::NONE, token.clone()), Exceeded::Cancelled),
        ]
    };
    for m in [0, 7] {
        for (watchdog, expected) in watchdogs() {
            let mut args = arguments(u32::MAX, m, items);
            let how = Evaluation { budget: u32::MAX, watchdog: Some(&watchdog), ..Evaluation::from(items) };
            let ended = evaluate(kernel, how, &mut args);
            assert_eq!(ended.err(), Some(Fault::Exceeded(expected)));
        }
        for (target, engine) in routes() {
            let program = program(target);
            for (watchdog, expected) in watchdogs() {
                let mut args = arguments(u32::MAX, m, items);
                let ended = run(&program, engine, Some(&watchdog), items, &mut args);
                assert_eq!(exceeded(ended), expected, "{target} {engine}");
                assert_eq!(watchdog.exceeded(), Some(expected));
            }
            // The next launch generates the native code again after its generation was interrupted.
            assert!(run(&program, engine, None, 3, &mut arguments(5, m, 3)).is_ok(), "{target} {engine}");
        }
    }
}

/// Another thread cancels the launch while it is running.
#[test]
fn a_launch_can_be_cancelled_from_another_thread() {
    for (target, engine) in routes() {
        let program = program(target);
        let token = CancelToken::default();
        let watchdog = Watchdog::with_token(Limits::NONE, token.clone());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                token.cancel();
            });
            let ended = run(&program, engine, Some(&watchdog), 64, &mut arguments(u32::MAX, 0, 64));
            assert_eq!(exceeded(ended), Exceeded::Cancelled, "{target} {engine}");
        });
    }
}

#[test]
fn launches_that_are_too_large_do_not_begin() {
    let module = module();
    for (limits, expected) in [
        (Limits { items: 9, ..Limits::NONE }, Exceeded::Items { found: 10, limit: 9 }),
        (Limits { buffer_bytes: 39, ..Limits::NONE }, Exceeded::Buffers { found: 40, limit: 39 }),
    ] {
        for (target, engine) in routes() {
            let watchdog = Watchdog::new(limits.clone());
            let ended = run(&program(target), engine, Some(&watchdog), 10, &mut arguments(1, 0, 10));
            assert_eq!(exceeded(ended), expected, "{target} {engine}");
        }
        let watchdog = Watchdog::new(limits);
        let how = Evaluation { budget: 10, watchdog: Some(&watchdog), ..Evaluation::from(10) };
        let ended = evaluate(&module.ir().kernels[0], how, &mut arguments(1, 0, 10));
        assert!(matches!(ended.err(), Some(Fault::Exceeded(found)) if found == expected));
    }
}

#[test]
fn kernels_that_are_too_large_are_not_compiled() {
    let module = module();
    let compiled = |limits: Limits, token: &CancelToken| {
        let watchdog = Watchdog::with_token(limits, token.clone());
        TARGETS
            .defaults()
            .map(|target| {
                let options = Options { watchdog: Some(watchdog.clone()), ..Options::new(target) };
                let error = compile(&module, &module.ir().kernels, &options, &mut |_| {}).err();
                error.map_or(String::new(), |error| error.to_string())
            })
            .collect::<Vec<_>>()
    };
    let token = CancelToken::default();
    for (limits, message) in [
        (Limits { ops: 5, ..Limits::NONE }, "<text>:2:8: @round: the kernel has 12 ops; the limit is 5"),
        (Limits { blocks: 2, ..Limits::NONE }, "<text>:2:8: @round: the kernel has 3 blocks; the limit is 2"),
        (Limits { time: Some(Duration::ZERO), ..Limits::NONE }, "<text>:2:8: @round: not done after 0 s"),
    ] {
        assert_eq!(compiled(limits, &token), [message; 3]);
    }
    assert_eq!(compiled(Limits::strict(), &token), [""; 3]);
    token.cancel();
    assert_eq!(compiled(Limits::NONE, &token), ["<text>:2:8: @round: cancelled"; 3]);
}
