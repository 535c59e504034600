//! Any well-formed kernel is compiled or refused, with passes and without; what is compiled gives the evaluator's bits, and
//! traps where it traps.
#![no_main]

use halfbyte::Module;
use halfbyte::generate::arguments;
use halfbyte::intrinsics::Meanings;
use halfbyte::ir::eval::{Arg, Fault, Launch, Prepared, TrapKind};
use halfbyte::ir::witness::Random;
use halfbyte::ir::{Kernel, ParamKind};
use halfbyte::isa::{abi, target::Target};
use halfbyte::pipeline::{Options, TARGETS, compile};
use halfbyte::runtime::{self, LaunchError, Program};
use libfuzzer_sys::fuzz_target;

const ITEMS: u32 = 3;
const BUDGET: u32 = 64;

fuzz_target!(|text: &str| {
    let Ok(module) = Module::parse(text) else { return };
    let ways: Vec<Options> = TARGETS.iter().flat_map(|&target| ways(target)).collect();
    for kernel in &module.ir().kernels {
        let args = arguments(kernel, ITEMS, &mut Random(1));
        let mut expected = args.clone();
        let outcome = evaluate(kernel, &mut expected);
        for options in &ways {
            let binary = match compile(&module, std::slice::from_ref(kernel), options, &mut |_| {}) {
                Ok(binary) => binary,
                // A refusal names an op; what is about the whole kernel is the compiler's own fault.
                Err(errors) => {
                    let defect = errors.iter().find(|error| error.message.starts_with("cannot compile"));
                    assert_eq!(defect, None, "{kernel}");
                    continue;
                }
            };
            let program = Program::load(&binary.object).unwrap();
            let mut found = args.clone();
            match (&outcome, run(program.kernels().first().unwrap(), &mut found)) {
                (Ok(()), Ok(_)) => assert_eq!(found, expected, "{kernel}"),
                // What is compiled away does not trap.
                (Err(Fault::Trap(trap)), _) if matches!(trap.kind, TrapKind::NoIntrinsic { .. }) => {}
                // Words may take fewer backward branches, and items that share a vector share their budget.
                (Err(Fault::Trap(trap)), _) if matches!(trap.kind, TrapKind::Budget { .. }) => {}
                (Err(Fault::Trap(expected)), Err(LaunchError::Trap(found))) => {
                    assert_eq!(expected.item, found.item, "{expected}, {found}\n{kernel}");
                }
                (Err(Fault::Race(_)), _) => {}
                (expected, found) => panic!("{expected:?}, {found:?}\n{kernel}"),
            }
        }
    }
});

/// With all passes, and with those alone without which the target cannot do any kernel.
fn ways(target: Target) -> [Options; 2] {
    let all = Options { verify: true, ..Options::new(target) };
    let mut least = all.clone();
    least.passes.retain(|pass| pass.name == "pack");
    [least, all]
}

fn evaluate(kernel: &Kernel, args: &mut [Vec<u8>]) -> Result<(), Fault> {
    let params = kernel.given_params().iter().zip(args).enumerate();
    let mut args: Vec<Arg<'_>> = params
        .map(|(number, (param, bytes))| match param.kind {
            ParamKind::Scalar(_) => Arg::Scalar(words(bytes)),
            ParamKind::Buffer { .. } => Arg::Buffer { base: abi::buffer_base(number), bytes },
        })
        .collect();
    let launch = Launch { intrinsics: Some(&Meanings), budget: BUDGET, ..Launch::new(ITEMS) };
    Prepared::new(kernel).run(&launch, &mut args)
}

fn run(kernel: &runtime::Kernel, args: &mut [Vec<u8>]) -> Result<runtime::Stats, LaunchError> {
    let params = kernel.signature().given().iter().zip(args);
    let mut args: Vec<runtime::Arg<'_>> = params
        .map(|(param, bytes)| match param.kind {
            abi::ParamKind::Scalar(_) => {
                let [low, high, ..] = words(bytes);
                runtime::Arg::Scalar(u128::from(high) << 64 | u128::from(low))
            }
            abi::ParamKind::Buffer { .. } => runtime::Arg::Buffer(bytes),
        })
        .collect();
    kernel.launch(runtime::Launch { items: ITEMS, args: &mut args, budget: BUDGET.into() })
}

fn words(bytes: &[u8]) -> [u64; 8] {
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
        *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
    words
}
