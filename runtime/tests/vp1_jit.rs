//! Tests of VP1 launches in native code: several threads, rare control flow, and statistics of the
//! native code. The other VP1 tests also compare native code with the interpreter.

use std::num::NonZero;

use crate::common::vp1::{ADD, ADD_SITES, add, brighten, guard, program, reads, tiles, writes};
use crate::common::{bytes, run, trap, words};
use halfbyte_isa::stream::{Stream, Tiles};
use halfbyte_runtime::{Arg, Engine, Launch, LaunchError, Program, Stats};

fn run_on(threads: u16, program: &Program, items: u32, args: &mut [Arg<'_>]) -> Result<Stats, LaunchError> {
    let engine = Engine::Jit { threads: NonZero::new(threads).unwrap() };
    program.kernel("k").unwrap().launch(Launch { engine, ..Launch::new(items, args) })
}

#[test]
fn threads_come_to_the_same() {
    let program = brighten();
    for items in [0, 1, 1024, 1025, 64 * 1024, 200_003] {
        let x: Vec<u8> = (0..4 * items).map(|i| (i * 37 + i / 251) as u8).collect();
        let mut expected = vec![0; x.len()];
        let stats = run(&program, items, &mut [Arg::In(&x), Arg::Buffer(&mut expected)]).unwrap();
        for threads in [1, 2, 3, 16, u16::MAX] {
            let mut y = vec![0xee; x.len()];
            let found = run_on(threads, &program, items, &mut [Arg::In(&x), Arg::Buffer(&mut y)]).unwrap();
            assert_eq!(found, stats, "{items} items, {threads} threads");
            assert!(y == expected, "{items} items, {threads} threads");
        }
    }
}

#[test]
fn threads_tell_of_the_lowest_trap() {
    // The buffers are too short: the load of item 150,000 and the store of item 100,000 are out of bounds.
    let program = add(|_| {});
    let x = bytes(&vec![1; 150_000]);
    let launch = |threads: u16| {
        let mut y = bytes(&vec![2; 100_000]);
        trap(run_on(threads, &program, 200_000, &mut [Arg::Scalar(5), Arg::In(&x), Arg::Buffer(&mut y)]))
    };
    let expected = launch(1);
    assert_eq!(expected.item, 100_000);
    for threads in [2, 5, 16] {
        assert_eq!(launch(threads), expected, "{threads} threads");
    }
}

#[test]
fn guarded_stores_stay_out_of_buffers() {
    // The guard is false for all items, so `y` may be too short for every item.
    let [branch, load, store] = ADD_SITES;
    let streams = vec![reads(1, 4, load), Stream { guard: Some(2), ..writes(2, 4, store) }, guard(4)];
    let program = program("n: i32, x: in i32, y: inout i32", tiles(1, branch, streams), ADD);
    let x = bytes(&vec![7; 5000]);
    for threads in [1, 4] {
        let mut y = bytes(&[1, 2, 3]);
        run_on(threads, &program, 5000, &mut [Arg::Scalar(5), Arg::In(&x), Arg::Buffer(&mut y)]).unwrap();
        assert_eq!(words(&y), [1, 2, 3]);
    }
}

/// The program has a jump in the delay slot of another jump. At this jump, native code repeatedly
/// returns to the interpreter.
#[test]
fn jumps_in_delay_slots() {
    let text = "
    mov $r0 $m0
    mov $a0 $r0
    mov $r1 0x0
    mov $r2 0x12c
    add $r1 $r1 0x1
    sub $r2 $c1 $r2 0x1 | bra 0x24
    bra 0x20
    exit 0x1
    add $r1 $r1 0x2 | bra not $c1 zf 0x10
    add $r1 $r1 0x10
    stas $r1 $a0 0x4
    exit 0x0
";
    let written = writes(0, 4, 40);
    let tiles = Tiles { group_branch: None, ..tiles(1, 0, vec![written]) };
    let program = program("y: out i32", tiles, text);
    let mut y = vec![0; 4];
    let stats = run(&program, 1, &mut [Arg::Buffer(&mut y)]).unwrap();
    assert!(stats.backward_branches > 0 && words(&y) != [0]);
}

#[test]
fn code_is_made_once_and_by_request() {
    let program = brighten();
    let kernel = program.kernel("k").unwrap();
    let x = [1; 64];
    let mut y = [0; 64];
    run_on_interpreter(&program, &x, &mut y);
    assert_eq!(kernel.translation(), None);
    run_on(1, &program, 16, &mut [Arg::In(&x), Arg::Buffer(&mut y)]).unwrap();
    let translation = kernel.translation().unwrap();
    assert!(translation.functions > 0 && translation.bytes > 0);
    run_on(2, &program, 16, &mut [Arg::In(&x), Arg::Buffer(&mut y)]).unwrap();
    assert_eq!(kernel.translation(), Some(translation));
    // Clones of a program share the native code.
    assert_eq!(program.clone().kernel("k").unwrap().translation(), Some(translation));
}

fn run_on_interpreter(program: &Program, x: &[u8], y: &mut [u8]) {
    let kernel = program.kernel("k").unwrap();
    kernel.launch(Launch::new(16, &mut [Arg::In(x), Arg::Buffer(y)])).unwrap();
}

/// Accesses to 32-bit words advance the address register, so it is aligned only to 4 bytes. Vector
/// accesses through it must round the address down to a row.
#[test]
fn rows_by_an_address_that_words_move() {
    let text = "
    mov $r0 $m0
    mov $r1 $m1
    mov $a0 $r0
    mov $a1 $r1
    mov $r2 0x14
    ldas $r4 $a1 0x4 | sub $r2 $c0 $r2 0x1
    ldvh $v0 $a0 0x0
    stvh $v0 $a1 0x0 | bra not $c0 zf 0x14
    snop
    exit 0x0
";
    let streams = vec![reads(0, 16, 24), writes(1, 16, 28)];
    let tiles = Tiles { group_branch: None, ..tiles(16, 0, streams) };
    let program = program("x: in i8x16, y: out i8x16", tiles, text);
    let x = bytes(&(0..64).collect::<Vec<u32>>());
    let mut y = vec![0; 256];
    run(&program, 16, &mut [Arg::In(&x), Arg::Buffer(&mut y)]).unwrap();
    // In the last of 20 iterations, the store goes to the row that contains the word after the last
    // loaded word.
    let (stored, rest) = y.split_at(16 * 6);
    assert!(stored.chunks(16).all(|row| *row == x[..16]) && rest.iter().all(|&byte| byte == 0));
}
