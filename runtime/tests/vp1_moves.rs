//! Tests of VP1 launches whose streams are contiguous in their buffers, and are copied without a
//! check of each access. Other launches are tested for comparison.

use std::num::NonZero;

use halfbyte_abi::{Limits, Watchdog};
use halfbyte_runtime::{Arg, Engine, Launch, LaunchError, Program, Stats};

use crate::common::trap;
use crate::common::vp1::{program, reads, tiles, writes};

/// Kernel that copies vectors: `y[i] = x[i]`.
const MOVE: &str = "
    mov $r0 $m0
    mov $r1 $m1
    mov $a0 $r0
    mov $a1 $r1
    ldavh $v0 $c0 $a0 0x10
    bra not $c0 aef 0x10
    stavh $v0 $a1 0x10
    exit 0x0
";

const VECTOR: usize = 16;

fn launch(program: &Program, engine: Engine, items: u32, args: &mut [Arg<'_>]) -> Result<Stats, LaunchError> {
    program.kernel("k").unwrap().launch(Launch { engine, ..Launch::new(items, args) })
}

fn engines() -> impl Iterator<Item = Engine> {
    let native = [1, 2, 7].into_iter().map(|threads| Engine::Jit { threads: NonZero::new(threads).unwrap() });
    [Engine::Interp].into_iter().chain(native)
}

fn moves(params: &str) -> Program {
    program(params, tiles(1, 23, vec![reads(0, 16, 16), writes(1, 16, 24)]), MOVE)
}

fn numbers(count: usize) -> Vec<u8> {
    (0..count).map(|k| (k * 7 + k / 251) as u8).collect()
}

#[test]
fn any_number_of_vectors_at_any_address() {
    let program = moves("x: in i8x16, y: out i8x16");
    for items in [0_usize, 1, 3, 255, 256, 257, 1000] {
        for (start, more) in [(0, 0), (1, 0), (5, 2 * VECTOR)] {
            let x = numbers(start + VECTOR * items + more);
            for engine in engines() {
                let mut y = vec![0xaa; start + VECTOR * items + more];
                let args = &mut [Arg::In(&x[start..]), Arg::Buffer(&mut y[start..])];
                let stats = launch(&program, engine, items as u32, args).unwrap();
                let mut expected = x.clone();
                expected[..start].fill(0xaa);
                expected[start + VECTOR * items..].fill(0);
                assert!(y == expected, "{items} vectors from byte {start} on, {engine}");
                let bytes = (VECTOR * items) as u64;
                assert_eq!((stats.bytes_in, stats.bytes_out), (bytes, bytes));
            }
        }
    }
}

#[test]
fn the_first_item_beyond_a_buffer_traps() {
    let program = moves("x: in i8x16, y: inout i8x16");
    let x = numbers(VECTOR * 1000);
    for engine in engines() {
        for (of_x, of_y, address) in [(999, 1000, 16), (1000, 300, 24), (500, 499, 24), (0, 1000, 16)] {
            let mut y = vec![0xaa; VECTOR * of_y];
            let args = &mut [Arg::In(&x[..VECTOR * of_x]), Arg::Buffer(&mut y)];
            let found = trap(launch(&program, engine, 1000, args));
            assert_eq!((found.item as usize, found.address), (of_x.min(of_y), address), "{engine}");
            let whole_tiles = of_x.min(of_y) / 256 * 256 * VECTOR;
            assert!(y[..whole_tiles] == x[..whole_tiles], "what tiles before it wrote");
        }
    }
}

/// If the buffers overlap, a tile reads the results of previous tiles, but not its own results.
#[test]
fn buffers_that_overlap() {
    let program = moves("x: in i8x16, y: inout may_alias i8x16");
    for (offset, items) in [(0_usize, 1000_usize), (16, 999), (16 * 300, 700), (16 * 256, 600)] {
        let start = numbers(VECTOR * 1000);
        let mut results = Vec::new();
        for threads in [1, 1] {
            let engine = Engine::Jit { threads: NonZero::new(threads).unwrap() };
            for engine in [Engine::Interp, engine] {
                let mut y = start.clone();
                let args = &mut [Arg::Alias { of: 1, offset: offset as u64 }, Arg::Buffer(&mut y)];
                launch(&program, engine, items as u32, args).unwrap();
                results.push(y);
            }
        }
        let mut expected = start.clone();
        expected.copy_within(offset..offset + VECTOR * items, 0);
        assert!(results.iter().all(|y| *y == expected), "from byte {offset} on");
    }
}

#[test]
fn a_launch_that_is_ended() {
    let program = moves("x: in i8x16, y: out i8x16");
    let x = numbers(VECTOR * 100_000);
    for engine in engines() {
        let mut y = vec![0xaa; x.len()];
        let watchdog = Watchdog::new(Limits { work: 1000, ..Limits::NONE });
        let mut args = [Arg::In(&x), Arg::Buffer(&mut y)];
        let launch = Launch { engine, watchdog: Some(&watchdog), ..Launch::new(100_000, &mut args) };
        let ended = program.kernel("k").unwrap().launch(launch);
        assert!(matches!(ended, Err(LaunchError::Exceeded { .. })), "{ended:?}");
        let (ours, rest) = y.split_at(y.iter().zip(&x).take_while(|(y, x)| y == x).count());
        assert!(ours.len() < x.len() && rest.iter().all(|&byte| byte == 0), "{engine}");
    }
}
