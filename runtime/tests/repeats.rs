//! Tests of relaunches, of bound launches and of launches of the same kernels. Each launch must
//! give the interpreter's result, regardless of the previous launches.

use std::num::NonZero;
use std::sync::atomic::{AtomicU32, Ordering};

use halfbyte_abi::{Limits, Shape, Watchdog};
use halfbyte_runtime::{Arg, Engine, Launch, LaunchError, Program, Stats};

use crate::common::{bytes, program};

/// Kernels with one basic block: the name, the direction of `y`, and the assembly. R0 is the item's number. R1 is the
/// byte offset of the item's element in `x` (address in UR0) and in `y` (address in UR2).
const KERNELS: [(&str, &str, &str); 6] = [
    (
        "in place",
        "inout",
        "LDG R2, [R1.U32+UR0] ;\n LDG R3, [R1.U32+UR2] ;\n IADD3 R2, R2, R3, R0 ;\n STG [R1.U32+UR2], R2 ;",
    ),
    ("all of an `out` buffer", "out", "LDG R2, [R1.U32+UR0] ;\n IADD3 R2, R2, R0, RZ ;\n STG [R1.U32+UR2], R2 ;"),
    ("where data say", "inout", "LDG R2, [R1.U32+UR0] ;\n SHF.L.U32 R2, R2, 0x2, RZ ;\n STG [R2.U32+UR2], R0 ;"),
    (
        "all of an `out` buffer, until data say that nothing is there",
        "out",
        "LDG R2, [R1.U32+UR0] ;\n SHF.L.U32 R2, R2, 0x2, RZ ;\n LDG R3, [R2.U32+UR0] ;\n STG [R1.U32+UR2], R3 ;",
    ),
    (
        "items that have a guard",
        "inout",
        "LDG R2, [R1.U32+UR0] ;\n ISETP.NE.U32.AND P0, PT, R2, RZ, PT ;\n @P0 STG [R1.U32+UR2], R0 ;",
    ),
    ("what the launch has", "inout", "ULDC UR4, c[0x0][0x14] ;\n IADD3 R2, R0, UR4, RZ ;\n STG [R1.U32+UR2], R2 ;"),
];

fn kernel(direction: &str, body: &str) -> Program {
    let start =
        "S2R R0, SR_ITEM ;\n SHF.L.U32 R1, R0, 0x2, RZ ;\n ULDC.64 UR0, c[0x0][0x160] ;\n ULDC.64 UR2, c[0x0][0x168] ;";
    program(&format!("x: in i32, y: {direction} i32"), &format!("{start}\n{body}\n EXIT ;\n"))
}

fn alone(program: &Program, engine: Engine, shape: Shape, x: &[u8], y: &mut [u8]) -> Result<Stats, LaunchError> {
    let mut args = [Arg::In(x), Arg::Buffer(y)];
    program.kernel("k").unwrap().launch(Launch { engine, ..Launch::new(shape, &mut args) })
}

const ITEMS: u32 = 320;
/// A number of items that takes several rows of native code and does not fill the last one.
const MANY: u32 = 70_001;

/// Returns the elements of `x`, which are smaller than the number of items. From index `bad` on,
/// they are so large that an access with them is out of bounds.
fn elements(seed: u32, bad: Option<u32>) -> Vec<u8> {
    elements_of(ITEMS, seed, bad)
}

fn elements_of(items: u32, seed: u32, bad: Option<u32>) -> Vec<u8> {
    let element = |k: u32| match bad {
        Some(bad) if k >= bad => 1 << 28,
        _ => (k * 7 + seed) % items * u32::from(!k.is_multiple_of(5)),
    };
    bytes(&(0..items).map(element).collect::<Vec<u32>>())
}

#[test]
fn each_bound_run_matches_a_single_launch() {
    let several = Engine::Jit { threads: NonZero::new(3).unwrap() };
    let whole = Shape::from(ITEMS);
    let launches = [
        (Engine::JIT, whole, None),
        (Engine::JIT, whole, None),
        (Engine::JIT, whole, None),
        (Engine::JIT, whole, Some(200)),
        (Engine::JIT, whole, Some(0)),
        (Engine::JIT, whole, None),
        (Engine::JIT, Shape::from(ITEMS - 1), None),
        (Engine::JIT, Shape::from(ITEMS - 1), Some(17)),
        (Engine::JIT, Shape::from((5, ITEMS / 5)), None),
        (Engine::JIT, whole, None),
        (Engine::Interp, whole, None),
        (Engine::JIT, whole, None),
        (several, whole, None),
        (several, whole, Some(99)),
        (Engine::JIT, whole, None),
    ];
    for (name, direction, body) in KERNELS {
        let program = kernel(direction, body);
        let (mut x, mut y) = (elements(0, None), vec![0; 4 * ITEMS as usize]);
        let mut expected = y.clone();
        let mut bound = program.kernel("k").unwrap().bind([Arg::Buffer(&mut x), Arg::Buffer(&mut y)]).unwrap();
        for (number, (engine, shape, bad)) in (1..).zip(launches) {
            let x = elements(number, bad);
            bound.buffer_mut(0).unwrap().copy_from_slice(&x);
            let found = bound.engine(engine).run(shape);
            let outcome = alone(&program, Engine::Interp, shape, &x, &mut expected);
            assert_eq!(found, outcome, "{name}, launch {number}");
            match outcome {
                Ok(_) => assert_eq!(bound.buffer(1), Some(&expected[..]), "{name}, launch {number}"),
                // After a trap, the contents of the buffer are unspecified.
                Err(_) => bound.buffer_mut(1).unwrap().copy_from_slice(&expected),
            }
        }
    }
}

#[test]
fn counts_finished_items_of_each_run() {
    let (_, direction, body) = KERNELS[0];
    let program = kernel(direction, body);
    let (mut x, mut y) = (elements(0, None), vec![0; 4 * ITEMS as usize]);
    let done = AtomicU32::new(0);
    let watchdog = Watchdog::new(Limits { work: 1 << 40, ..Limits::default() });
    let mut bound = program.kernel("k").unwrap().bind([Arg::Buffer(&mut x), Arg::Buffer(&mut y)]).unwrap();
    bound.engine(Engine::JIT).done(&done).watchdog(&watchdog);
    for time in 1..=4 {
        bound.run(ITEMS).unwrap();
        assert_eq!(done.load(Ordering::Relaxed), time * ITEMS);
    }
}

#[test]
fn relaunches_with_other_arguments() {
    let of_scalar = program(
        "a: i32, x: in i32, y: out i32",
        "S2R R0, SR_ITEM ;
         SHF.L.U32 R1, R0, 0x2, RZ ;
         ULDC.64 UR0, c[0x0][0x168] ;
         ULDC.64 UR2, c[0x0][0x170] ;
         LDG R2, [R1.U32+UR0] ;
         ULDC UR4, c[0x0][0x160] ;
         IADD3 R2, R2, UR4, RZ ;
         STG [R1.U32+UR2], R2 ;
         EXIT ;
",
    );
    let mut programs: Vec<(&str, Program, bool)> =
        KERNELS.iter().map(|&(name, direction, body)| (name, kernel(direction, body), false)).collect();
    programs.push(("what a scalar says", of_scalar, true));
    let several = Engine::Jit { threads: NonZero::new(3).unwrap() };
    let whole = Shape::from(ITEMS);
    // Each entry holds the engine, the shape, the number of additional elements of y, and an index.
    // From this index on, the elements of x lead to accesses out of bounds.
    let launches = [
        (Engine::JIT, whole, 0, None),
        (Engine::JIT, whole, 0, None),
        (Engine::JIT, whole, 7, None),
        (Engine::JIT, whole, 0, Some(250)),
        (Engine::JIT, whole, 0, None),
        (Engine::JIT, Shape::from(ITEMS - 32), 0, None),
        (Engine::JIT, Shape::from(ITEMS - 32), 2, None),
        (Engine::JIT, Shape::from(ITEMS - 1), 1, None),
        (Engine::JIT, Shape::from(ITEMS - 1), 1, None),
        (Engine::JIT, Shape::from(ITEMS - 1), 0, Some(318)),
        (Engine::Interp, whole, 0, None),
        (several, whole, 0, None),
        (Engine::JIT, whole, 0, Some(3)),
        (Engine::JIT, whole, -1, None),
        (Engine::JIT, whole, 0, None),
    ];
    // Each kernel is launched several times in sequence. Afterwards the kernels are launched
    // alternately.
    let again = (0..programs.len()).flat_map(|kernel| launches.iter().map(move |launch| (kernel, launch)));
    let in_turn = launches.iter().flat_map(|launch| (0..programs.len()).map(move |kernel| (kernel, launch)));
    for (number, (kernel, &(engine, shape, beside, bad))) in (1..).zip(again.chain(in_turn)) {
        let (name, program, has_scalar) = &programs[kernel];
        let items = shape.items().unwrap();
        let x = elements(number, bad);
        let start = bytes(&vec![number; items.saturating_add_signed(beside) as usize]);
        let launch = |engine| {
            // The buffers are copied, so that their addresses differ from those of the previous launch.
            let (x, mut y) = (x.clone(), start.clone());
            let mut args = vec![Arg::In(&x), Arg::Buffer(&mut y)];
            if *has_scalar {
                args.insert(0, Arg::Scalar((number / 2).into()));
            }
            let done = program.kernel("k").unwrap().launch(Launch { engine, ..Launch::new(shape, &mut args) });
            done.map(|stats| (stats, y))
        };
        assert_eq!(launch(engine), launch(Engine::Interp), "{name}, launch {number}");
    }
}

#[test]
fn all_rows_are_run_again() {
    for (name, direction, body) in KERNELS {
        let program = kernel(direction, body);
        let kernel = program.kernel("k").unwrap();
        for (number, bad) in (1..).zip([None, None, Some(MANY - 1), None, Some(40_000), None]) {
            let x = elements_of(MANY, number, bad);
            let launch = |engine| {
                let mut y = bytes(&vec![number; MANY as usize]);
                let mut args = [Arg::In(&x), Arg::Buffer(&mut y)];
                let done = kernel.launch(Launch { engine, ..Launch::new(MANY, &mut args) });
                done.map(|stats| (stats, y))
            };
            assert_eq!(launch(Engine::JIT), launch(Engine::Interp), "{name}, launch {number}");
        }
    }
}
