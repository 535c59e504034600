//! Tests that each byte of an `out` buffer that no item writes is zero after a launch, even if the
//! engine omits the initial zero fill because the kernel overwrites the buffer.

use std::num::NonZero;

use halfbyte_abi::{CancelToken, Limits, Watchdog};
use halfbyte_runtime::{Arg, Engine, Launch, LaunchError, Program, Stats};

use crate::common::{bytes, program, trap};

/// Kernel that writes all of `y`: `y[i] = x[i] + 1`.
const ALL: &str = "
    S2R R0, SR_ITEM ;
    SHF.L.U32 R1, R0, 0x2, RZ ;
    ULDC.64 UR0, c[0x0][0x160] ;
    ULDC.64 UR2, c[0x0][0x168] ;
    LDG R2, [R1.U32+UR0] ;
    IADD3 R2, R2, 0x1, RZ ;
    STG [R1.U32+UR2], R2 ;
    EXIT ;
";

/// Kernels that write only a part of `y`, or that read `y`.
const SOME: [(&str, &str); 9] = [
    ("every other word", "SHF.L.U32 R1, R0, 0x3, RZ ;\n STG [R1.U32+UR2], R0 ;"),
    ("from the second word on", "IADD3 R1, R1, 0x4, RZ ;\n STG [R1.U32+UR2], R0 ;"),
    ("from the second word on, by the instruction", "STG [R1.U32+UR2+0x4], R0 ;"),
    ("items that have a guard", "ISETP.NE.U32.AND P0, PT, R0, 0x3, PT ;\n @P0 STG [R1.U32+UR2], R0 ;"),
    ("where others say", "LDG R3, [R1.U32+UR0] ;\n SHF.L.U32 R3, R3, 0x2, RZ ;\n STG [R3.U32+UR2], R0 ;"),
    ("what it adds to", "LDG R3, [R1.U32+UR2] ;\n IADD3 R3, R3, R0, RZ ;\n STG [R1.U32+UR2], R3 ;"),
    ("what it reads afterwards", "STG [R1.U32+UR2], R0 ;\n LDG R3, [R1.U32+UR2+0x4] ;\n STG [R1.U32+UR2], R3 ;"),
    ("bytes of words", "STG.8 [R1.U32+UR2], R0 ;"),
    ("in one place", "ULDC.64 UR4, c[0x0][0x168] ;\n STG [RZ.U32+UR4], R1 ;"),
];

const STALE: u8 = 0xaa;

fn launch(program: &Program, engine: Engine, items: u32, args: &mut [Arg<'_>]) -> Result<Stats, LaunchError> {
    program.kernel("k").unwrap().launch(Launch { engine, ..Launch::new(items, args) })
}

fn engines() -> impl Iterator<Item = Engine> {
    [1, 2, 7].into_iter().map(|threads| Engine::Jit { threads: NonZero::new(threads).unwrap() })
}

fn numbers(items: u32) -> Vec<u8> {
    bytes(&(0..items).map(|item| item.wrapping_mul(0x0103_0709)).collect::<Vec<u32>>())
}

#[test]
fn fully_written_buffers_match_the_interpreter() {
    let program = program("x: in i32, y: out i32", ALL);
    for items in [0_u32, 1, 15, 16, 17, 1000, 16_384, 16_385, 40_003] {
        let x = numbers(items);
        for (start, more) in [(0, 0), (1, 0), (3, 4), (0, 400)] {
            let mut expected = vec![STALE; start + x.len() + more];
            launch(&program, Engine::Interp, items, &mut [Arg::In(&x), Arg::Buffer(&mut expected[start..])]).unwrap();
            assert!(expected[start + x.len()..].iter().all(|&byte| byte == 0));
            for engine in engines() {
                let mut y = vec![STALE; start + x.len() + more];
                launch(&program, engine, items, &mut [Arg::In(&x), Arg::Buffer(&mut y[start..])]).unwrap();
                assert!(y == expected, "{items} items from byte {start} on, {more} bytes more, {engine}");
            }
        }
    }
}

#[test]
fn what_is_not_written_is_zero() {
    for (name, ops) in SOME {
        let text = format!(
            "S2R R0, SR_ITEM ;\nSHF.L.U32 R1, R0, 0x2, RZ ;\nULDC.64 UR0, c[0x0][0x160] ;\nULDC.64 UR2, c[0x0][0x168] ;\n{ops}\nEXIT ;\n"
        );
        let program = program("x: in i32, y: out i32", &text);
        for items in [1_u32, 16, 100, 16_384] {
            let x = bytes(&(0..items).map(|item| item / 3).collect::<Vec<u32>>());
            for bytes in [x.len(), x.len() + 4, 2 * x.len()] {
                let [mut expected, mut y] = [vec![STALE; bytes], vec![STALE; bytes]];
                let args = &mut [Arg::In(&x), Arg::Buffer(&mut expected)];
                let interpreted = launch(&program, Engine::Interp, items, args);
                // Native code may change the order of the accesses of different items. Only results
                // that do not depend on this order are compared.
                let is_own = !name.ends_with("afterwards");
                for engine in engines() {
                    y.fill(STALE);
                    let found = launch(&program, engine, items, &mut [Arg::In(&x), Arg::Buffer(&mut y)]);
                    match (&interpreted, is_own) {
                        (Ok(_), true) => assert!(found == interpreted && y == expected, "{name}, {items}, {engine}"),
                        _ => assert_eq!(found.is_ok(), interpreted.is_ok(), "{name}, {items}, {engine}"),
                    }
                    let stale = y.windows(4).position(|word| word == [STALE; 4]);
                    assert_eq!(stale, None, "{name}, {items} items on {engine}");
                }
            }
        }
    }
}

#[test]
fn a_trap_leaves_what_items_before_it_wrote_and_zeros() {
    let program = program("x: in i32, y: out i32", ALL);
    for items in [1_u32, 16, 100, 40_003] {
        for short in [1, 10, 20_001].into_iter().filter(|&short| short <= items) {
            let x = numbers(items - short);
            let mut expected = vec![STALE; 4 * items as usize];
            let args = &mut [Arg::In(&x), Arg::Buffer(&mut expected)];
            let interpreted = trap(launch(&program, Engine::Interp, items, args));
            for engine in engines() {
                let mut y = vec![STALE; 4 * items as usize];
                let found = trap(launch(&program, engine, items, &mut [Arg::In(&x), Arg::Buffer(&mut y)]));
                assert_eq!((found.item, found.address), (interpreted.item, interpreted.address));
                assert!(y == expected, "{items} items of which {short} trap, {engine}");
            }
        }
    }
    // The output buffer is too short for the number of items.
    let x = numbers(1000);
    for engine in [Engine::Interp].into_iter().chain(engines()) {
        let mut y = vec![STALE; 4 * 999];
        let found = trap(launch(&program, engine, 1000, &mut [Arg::In(&x), Arg::Buffer(&mut y)]));
        assert_eq!((found.item, found.address), (999, 6));
        assert!(!y.windows(4).any(|word| word == [STALE; 4]), "{engine}");
    }
}

#[test]
fn a_launch_that_is_ended_leaves_nothing_of_before() {
    let program = program("x: in i32, y: out i32", ALL);
    let kernel = program.kernel("k").unwrap();
    let x = numbers(100_000);
    for engine in engines() {
        for work in [0, 1, 300_000] {
            let mut y = vec![STALE; x.len()];
            let watchdog = Watchdog::new(Limits { work, ..Limits::NONE });
            let mut args = [Arg::In(&x), Arg::Buffer(&mut y)];
            let ended = kernel.launch(Launch { engine, watchdog: Some(&watchdog), ..Launch::new(100_000, &mut args) });
            assert!(matches!(ended, Err(LaunchError::Exceeded { .. })), "{ended:?}");
            assert!(!y.windows(4).any(|word| word == [STALE; 4]), "{work} instructions on {engine}");
        }
        let token = CancelToken::default();
        let watchdog = Watchdog::with_token(Limits::NONE, token.clone());
        let mut y = vec![STALE; x.len()];
        let mut bound = kernel.bind([Arg::In(&x), Arg::Buffer(&mut y)]).unwrap();
        bound.engine(engine).watchdog(&watchdog);
        bound.run(100_000).unwrap();
        token.cancel();
        assert!(matches!(bound.run(100_000), Err(LaunchError::Exceeded { .. })));
    }
}

/// A parameter must not alias an `out` buffer.
#[test]
fn a_buffer_that_another_parameter_would_read_is_refused() {
    let program = program("x: in i32, y: out i32", ALL);
    for engine in [Engine::Interp].into_iter().chain(engines()) {
        let mut y = vec![STALE; 400];
        let args = &mut [Arg::Alias { of: 1, offset: 0 }, Arg::Buffer(&mut y)];
        assert!(matches!(launch(&program, engine, 100, args), Err(LaunchError::Unique { .. })));
    }
}

/// Each run of a bound launch begins with `out` buffers of zeros.
#[test]
fn relaunches_begin_with_zeroed_out_buffers() {
    let program = program("x: in i32, y: out i32", ALL);
    let x = numbers(5000);
    let mut y = vec![STALE; x.len()];
    let mut bound = program.kernel("k").unwrap().bind([Arg::In(&x), Arg::Buffer(&mut y)]).unwrap();
    bound.engine(Engine::JIT);
    let mut all = Vec::new();
    for items in [5000, 100, 0, 4999, 5000_u32] {
        bound.run(items).unwrap();
        let mut expected: Vec<u8> = x.clone();
        expected
            .as_chunks_mut::<4>()
            .0
            .iter_mut()
            .for_each(|word| *word = (u32::from_le_bytes(*word) + 1).to_le_bytes());
        expected[4 * items as usize..].fill(0);
        all.push(bound.buffer(1) == Some(&expected));
    }
    assert_eq!(all, [true; 5]);
}
