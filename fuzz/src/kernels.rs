//! Comparison of the evaluator with compiled kernels, with all passes and with few.

use halfbyte::ir::Kernel;
use halfbyte::ir::eval::{Fault, TrapKind};
use halfbyte::ir::generate::arguments;
use halfbyte::ir::witness::Random;
use halfbyte::launch::{Engine, LaunchOptions, evaluate_within, execute};
use halfbyte::pipeline::{Options, compile};
use halfbyte::runtime::LaunchError;
use halfbyte::{CompileError, Module, TARGETS, Target};

const ITEMS: u32 = 3;
const BUDGET: u32 = 64;

/// Compiles the kernels for every target and runs them. Panics unless each kernel gives the
/// evaluator's results, or the same trap as the evaluator.
pub fn agree(module: &Module) {
    let ways: Vec<Options> = TARGETS.defaults().flat_map(ways).collect();
    for kernel in &module.ir().kernels {
        let args = arguments(kernel, ITEMS, &mut Random(1));
        let mut expected = args.clone();
        let outcome = evaluate_within(kernel, ITEMS, BUDGET, &mut expected);
        for options in &ways {
            agree_on(module, kernel, options, &args, (&outcome, &expected));
        }
    }
}

fn agree_on<T>(
    module: &Module,
    kernel: &Kernel,
    options: &Options,
    args: &[Vec<u8>],
    (outcome, expected): (&Result<T, Fault>, &[Vec<u8>]),
) {
    let binary = match compile(module, std::slice::from_ref(kernel), options, &mut |_| {}) {
        Ok(binary) => binary,
        Err(error) => {
            assert!(!matches!(error, CompileError::Internal { .. }), "{error}\n{kernel}");
            return;
        }
    };
    let program = halfbyte::TARGETS.load(&binary.object).unwrap();
    let loaded = program.kernels().first().unwrap();
    for engine in
        Engine::ALL.into_iter().filter(|engine| TARGETS.runs(*engine, options.target) && *engine != Engine::Cuda)
    {
        let mut found = args.to_vec();
        let how = LaunchOptions { budget: BUDGET.into(), ..engine.into() };
        match (outcome, execute(loaded, how, ITEMS, &mut found)) {
            (Ok(_), Ok(_)) => assert_eq!(found, expected, "{engine}: {kernel}"),
            // The op that traps in the evaluator may have been optimised away in the compiled kernel.
            (Err(Fault::Trap(trap)), _) if matches!(trap.kind, TrapKind::NoIntrinsic { .. }) => {}
            // Machine code may take fewer backward branches than the evaluator. Items that share a
            // vector also share their budget.
            (Err(Fault::Trap(trap)), _) if matches!(trap.kind, TrapKind::Budget { .. }) => {}
            (Err(Fault::Trap(expected)), Err(LaunchError::Trap(found))) => {
                assert_eq!(expected.item, found.item, "{engine}: {expected}, {found}\n{kernel}");
            }
            (Err(Fault::Race(_)), _) => {}
            (expected, found) => panic!("{engine}: {:?}, {found:?}\n{kernel}", expected.as_ref().err()),
        }
    }
}

/// Returns two sets of options: only the pass that a target requires, and all passes.
fn ways(target: Target) -> [Options; 2] {
    let all = Options { verify: true, ..Options::new(target) };
    let mut least = all.clone();
    least.pipeline.retain(|pass| pass.name() == "pack");
    [least, all]
}
