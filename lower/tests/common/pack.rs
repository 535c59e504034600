//! Test target for packing, and comparison of packed kernels with the kernels before packing.

use halfbyte_ir::eval::{Arg, Fault, Launch, Prepared, TrapKind};
use halfbyte_ir::witness::Random;
use halfbyte_ir::{Kernel, Lanes, Legality, ParamKind, Refusal, Type};
use halfbyte_lower::trial::target;
use halfbyte_lower::{Context, LowerError, Pipeline};

/// Numbers of items in a launch: none, less than a group, one group, and several groups with an incomplete last one.
pub const COUNTS: [u32; 8] = [0, 1, 2, 3, 5, 16, 17, 1000];

/// Returns a target that has all ops and whose items share vectors.
pub fn vectors(max_streams: usize) -> Legality {
    target(|_, _| false).with_lanes(Lanes { vector: Type::I8X16, max_streams, registers: 28 })
}

/// Runs the passes with these names on a kernel, and verifies the kernel after each pass.
pub fn try_lower(kernel: &mut Kernel, passes: &str, legality: &Legality) -> Result<(), Vec<Refusal>> {
    let pipeline = Pipeline::named(passes.split(' ')).unwrap();
    let mut context = Context::new(legality);
    context.verify = true;
    match pipeline.run(kernel, &mut context, &mut ()) {
        Ok(()) => Ok(()),
        Err(LowerError::Refused(refusals)) => Err(refusals),
        Err(error) => panic!("{error}\n{kernel}"),
    }
}

/// Returns random arguments for a launch: a small number for each `i32` scalar, and `an_item`
/// elements per item for each buffer.
pub fn arguments(kernel: &Kernel, items: u32, an_item: u32, random: &mut Random) -> Vec<Vec<u8>> {
    let mut fill = |bytes: u32| -> Vec<u8> {
        let byte = |random: &mut Random| match random.below(4) {
            0 => [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            _ => random.bits() as u8,
        };
        (0..bytes).map(|_| byte(random)).collect()
    };
    let of = |param: &halfbyte_ir::Param| match param.kind {
        ParamKind::Scalar(Type::I32) => vec![fill(1)[0] % 8, 0, 0, 0],
        ParamKind::Scalar(ty) => fill(ty.bytes()),
        ParamKind::Buffer { elem, .. } => fill((items * an_item + 64) * elem.bytes()),
    };
    kernel.params.iter().map(of).collect()
}

/// Launches a kernel on the evaluator. Returns the contents of the buffers, or the text of the
/// fault without its location.
pub fn outcome(kernel: &Kernel, items: u32, arguments: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String> {
    let mut buffers = arguments.to_vec();
    let mut args: Vec<Arg<'_>> = Vec::new();
    for (number, (bytes, param)) in buffers.iter_mut().zip(kernel.launch_params()).enumerate() {
        args.push(match param.kind {
            ParamKind::Scalar(_) => {
                let mut words = [0; 8];
                for (i, &byte) in bytes.iter().enumerate() {
                    words[i / 8] |= u64::from(byte) << (8 * (i % 8));
                }
                Arg::Scalar(words)
            }
            ParamKind::Buffer { .. } => Arg::Buffer { base: 0x1_0000_0000 * (number as u64 + 1), bytes },
        });
    }
    // The budget is below the default, so that endless loops stop sooner.
    match Prepared::new(kernel).run(&Launch { budget: 1 << 16, ..Launch::new(items) }, &mut args) {
        Ok(()) => Ok(buffers),
        // The items of a packed kernel share a budget, so any of them may exceed it.
        Err(Fault::Trap(trap)) if matches!(trap.kind, TrapKind::Budget { .. }) => Err(trap.kind.to_string()),
        Err(Fault::Trap(trap)) => Err(format!("item {} at {:?}: {}", trap.item, trap.span, trap.kind)),
        Err(fault) => Err(fault.to_string()),
    }
}

/// Asserts that two kernels compute the same results on random data. Returns the number of launches without a fault.
pub fn same(before: &Kernel, after: &Kernel, an_item: u32, seed: u64) -> usize {
    let mut random = Random(seed);
    let is_good = |items: &u32| same_on(before, after, *items, &arguments(before, *items, an_item, &mut random));
    COUNTS.iter().copied().filter(is_good).count()
}

/// Asserts that two kernels compute the same results for these arguments. Returns `true` if there is no fault.
pub fn same_on(before: &Kernel, after: &Kernel, items: u32, arguments: &[Vec<u8>]) -> bool {
    let (expected, found) = (outcome(before, items, arguments), outcome(after, items, arguments));
    if expected == found {
        return expected.is_ok();
    }
    let scalars: Vec<_> = before.params.iter().zip(arguments).filter(|(_, bytes)| bytes.len() < 64).collect();
    let scalars: Vec<String> = scalars.iter().map(|(p, bytes)| format!("{}={bytes:?}", p.name)).collect();
    let what = match (&expected, &found) {
        (Ok(expected), Ok(found)) => {
            let mut text = String::new();
            for ((param, a), b) in before.params.iter().zip(expected).zip(found) {
                if let Some(at) = a.iter().zip(b).position(|(a, b)| a != b) {
                    text += &format!("%{} byte {at}: {} and {}; ", param.name, a[at], b[at]);
                }
            }
            text
        }
        _ => format!("{:?} and {:?}", expected.as_ref().err(), found.as_ref().err()),
    };
    panic!("{items} items, {}: {what}\n{before}\nbecomes\n{after}", scalars.join(" "));
}
