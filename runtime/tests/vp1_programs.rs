//! Tests of VP1 assembly programs with known results.

use crate::common::MACHINES;
use crate::common::vp1::{
    BRIGHTEN, BRIGHTEN_SITES, add, brighten, code, constant, guard, object, param, program, reads, step, tiles, writes,
};
use crate::common::{bytes, run, words};
use halfbyte_isa::stream::{Affine, AffineVariable, Step, Stream, Tiles, TripCount};
use halfbyte_runtime::{Arg, LaunchError, Program, Stats};

/// Returns `count` bytes in a pattern with a long period.
fn some(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i * 37 + i / 251) as u8).collect()
}

fn brightened(x: &[u8]) -> Vec<u8> {
    x.iter().map(|byte| byte.saturating_add(0x20)).collect()
}

#[test]
fn tails_of_every_length() {
    let program = brighten();
    for items in [0, 1, 3, 4, 5, 15, 16, 17, 1023, 1024, 1025, 1_000_003] {
        let x = some(4 * items as usize);
        let mut y = vec![0xee; 4 * items as usize + 8];
        let stats = run(&program, items, &mut [Arg::In(&x), Arg::Buffer(&mut y)]).unwrap();
        // An `out` buffer is filled with zeros even if no item stores to it.
        let (written, rest) = y.split_at(x.len());
        assert!(written == brightened(&x) && *rest == [0; 8], "{items} items");
        let (tiles, groups) = (items.div_ceil(1024), items.div_ceil(4));
        let expected = Stats {
            issued: u64::from(4 * groups + 5 * tiles),
            backward_branches: u64::from(groups - tiles),
            tiles: tiles.into(),
            bytes_in: 4 * u64::from(items),
            bytes_out: 4 * u64::from(items),
        };
        assert_eq!(stats, expected, "{items} items");
    }
}

#[test]
fn bytes_go_sixteen_a_group() {
    let [branch, load, store] = BRIGHTEN_SITES;
    let tiles = tiles(16, branch, vec![reads(0, 1, load), writes(1, 1, store)]);
    let program = program("x: in i8, y: inout i8", tiles, BRIGHTEN);
    for items in [0, 1, 15, 16, 17, 4096, 4097, 1_000_003] {
        let x = some(items as usize);
        let mut y = vec![0xee; items as usize + 3];
        let stats = run(&program, items, &mut [Arg::In(&x), Arg::Buffer(&mut y)]).unwrap();
        let (written, rest) = y.split_at(x.len());
        assert!(written == brightened(&x) && *rest == [0xee; 3], "{items} items");
        assert_eq!(stats.tiles, u64::from(items.div_ceil(4096)));
    }
}

#[test]
fn words_go_one_by_one() {
    let program = add(|_| {});
    for items in [1, 2, 7, 1025, 100_003] {
        let x: Vec<u32> = (0..items).map(|i: u32| i.wrapping_mul(0x9e37_79b9)).collect();
        let mut y = bytes(&vec![0; items as usize]);
        run(&program, items, &mut [Arg::Scalar(5), Arg::In(&bytes(&x)), Arg::Buffer(&mut y)]).unwrap();
        assert_eq!(words(&y), x.iter().map(|word| word.wrapping_add(5)).collect::<Vec<_>>());
    }
}

/// Checks the contents of the `$m` registers, which the program stores to `y`.
#[test]
fn scalars_streams_and_counts_are_in_m() {
    let read = [0, 1, 2, 3, 4, 5, 6, 7, 8, 61, 62, 63, 9];
    let mut text = "    mov $r1 $m8\n    mov $a0 $r1\n".to_owned();
    for m in read {
        text += &format!("    mov $r0 $m{m}\n    stas $r0 $a0 0x4\n");
    }
    let step = step(0, TripCount::Const(13), 4);
    let written = Stream { scale: 52.into(), steps: vec![step], ..writes(4, 4, 8) };
    let tiles = Tiles { items: 1, group_branch: None, image: vec![1; 20], streams: vec![written] };
    let parameters = "a: i8, b: i64, c: i1x4, v: i8x16, y: out i32";
    let code = code(parameters, 40, tiles, &(text + "    exit 0x0\n"));
    let program = Program::load(&object(&[code]), &MACHINES).unwrap();
    let mut y = vec![0; 52];
    let v = 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100;
    let scalars = [Arg::Scalar(0xa5), Arg::Scalar(0x0123_4567_89ab_cdef), Arg::Scalar(0b101), Arg::Scalar(v)];
    let mut args = Vec::from(scalars);
    args.push(Arg::Buffer(&mut y));
    run(&program, 1, &mut args).unwrap();
    let stream = (48 + 52) << 16 | 48;
    let expected =
        [0xa5, 0x89ab_cdef, 0x0123_4567, 5, 0x0302_0100, 0x0706_0504, 0x0b0a_0908, 0x0f0e_0d0c, stream, 1, 1, 0, 0];
    assert_eq!(words(&y), expected);
}

/// Each item stores the number of items in its tile, and the number of the tile's first item. A
/// tile has as many items as fit in the data store.
#[test]
fn every_tile_knows_its_items() {
    let text = "
    mov $r0 $m0
    mov $a0 $r0
    mov $r1 $m62
    mov $r2 $m63
    stas $r1 $a0 0x4
    stas $r2 $c0 $a0 0x4
    bra not $c0 aef 0x10
    snop
    exit 0x0
";
    let written = Stream { scale: 8.into(), steps: vec![step(0, TripCount::Const(2), 4)], ..writes(0, 4, 0) };
    let program = program("y: out i32", tiles(1, 27, vec![written]), text);
    let mut y = vec![0; 2500 * 8];
    run(&program, 2500, &mut [Arg::Buffer(&mut y)]).unwrap();
    let found = words(&y);
    for (item, found) in found.as_chunks::<2>().0.iter().enumerate() {
        let first = item / 1024 * 1024;
        assert_eq!(*found, [(2500 - first).min(1024) as u32, first as u32], "item {item}");
    }
}

/// The kernel computes `y[i] = table[j] + 2`, where all items read the same element. The first item
/// of each tile adds 0 instead of 2, because the registers have their reset values.
#[test]
fn a_uniform_stream_is_there_once() {
    let text = "
    mov $r0 $m1
    mov $r1 $m2
    mov $a0 $r0
    mov $a1 $r1
    ldas $r2 $a0 0x0
    add $r2 $r2 $r7
    mov $r7 0x1
    lds $r8 $a9 0x100
    add $r2 $r2 $r8
    sts $r7 $a9 0x100
    stas $r2 $c0 $a1 0x4
    bra not $c0 aef 0x10
    snop
    exit 0x0
";
    let table = Stream { uniform: true, scale: 0.into(), index: param(0, 4), ..reads(1, 4, 16) };
    let tiles = Tiles { image: vec![0; 0x100], ..tiles(1, 47, vec![table, writes(2, 4, 40)]) };
    let code = code("j: i32, t: in i32, y: out i32", 0x104, tiles, text);
    let program = Program::load(&object(&[code]), &MACHINES).unwrap();
    let mut y = vec![0; 4 * 4003];
    let table = bytes(&[10, 11, 12]);
    let stats = run(&program, 4003, &mut [Arg::Scalar(2), Arg::In(&table), Arg::Buffer(&mut y)]).unwrap();
    // 1976 items fit in a tile, in addition to the table and the 0x104 bytes before the streams.
    let expected = |i: usize| if i.is_multiple_of(1976) { 12 } else { 14 };
    assert_eq!(words(&y), (0..4003).map(expected).collect::<Vec<_>>());
    assert_eq!((stats.tiles, stats.bytes_in), (3, 12));
}

/// Returns a program that computes `y[i]` as the sum of `x[5 * i + k]` for all k below n.
fn sum(trips: TripCount) -> Program {
    let text = "
    mov $r9 $m0
    mov $r0 $m1
    mov $r1 $m2
    mov $a0 $r0
    mov $a1 $r1
    mov $r3 0x0
    add $r4 $r9 0x0
    ldas $r2 $a0 0x4
    add $r3 $r3 $r2
    sub $r4 $c1 $r4 0x1
    bra not $c1 zf 0x1c
    snop
    stas $r3 $c0 $a1 0x4
    bra not $c0 aef 0x14
    snop
    exit 0x0
";
    let read = Stream { scale: 20.into(), steps: vec![step(3, trips, 4)], ..reads(1, 4, 28) };
    program("n: i32, x: in i32, y: out i32", tiles(1, 55, vec![read, writes(2, 4, 48)]), text)
}

#[test]
fn loops_step_through_buffers() {
    let x: Vec<u32> = (0..5 * 900).map(|i| i * i).collect();
    for n in 1..=5 {
        let of = |count, signed| TripCount::Of { count, signed, at_least: 1 };
        let itself = param(0, 1);
        // The affine expression `3n - 2n`.
        let difference = Affine {
            constant: 0,
            terms: vec![(AffineVariable::Param(0), 3), (AffineVariable::Param(0), 2u32.wrapping_neg())],
        };
        for trips in [TripCount::Const(n), of(itself.clone(), false), of(itself.clone(), true), of(difference, true)] {
            let program = sum(trips);
            let mut y = vec![0; 4 * 900];
            let stats =
                run(&program, 900, &mut [Arg::Scalar(n.into()), Arg::In(&bytes(&x)), Arg::Buffer(&mut y)]).unwrap();
            let row = |i: usize| x[5 * i..5 * i + n as usize].iter().fold(0, |sum: u32, x| sum.wrapping_add(*x));
            assert_eq!(words(&y), (0..900).map(row).collect::<Vec<_>>());
            assert_eq!(stats.bytes_in, 4 * 900 * u64::from(n));
        }
    }
}

/// The trip counts are zero, at least one, and computed from a negative count.
#[test]
fn trips_are_as_the_loop_counts() {
    let copied = |n: u32, signed, at_least| {
        let trips = TripCount::Of { count: param(0, 1), signed, at_least };
        let read = Stream { scale: 0.into(), steps: vec![step(0, trips, 4)], ..reads(1, 4, 0) };
        let program = program("n: i32, x: in i32", tiles(1, 0, vec![read]), "    exit 0x0");
        let x = bytes(&[0; 4]);
        run(&program, 1, &mut [Arg::Scalar(n.into()), Arg::In(&x)]).map(|stats| stats.bytes_in / 4)
    };
    assert_eq!(copied(0, false, 0), Ok(0));
    assert_eq!(copied(0, false, 1), Ok(1));
    assert_eq!(copied(3, true, 1), Ok(3));
    assert_eq!(copied(u32::MAX, true, 0), Ok(0));
    assert_eq!(copied(u32::MAX, true, 1), Ok(1));
    assert_eq!(copied(0, true, 1), Ok(1));
    assert!(matches!(copied(u32::MAX, false, 0), Err(LaunchError::Tile(_))));
    // A loop with a signed bound of `i32::MAX` tests its exit 2^31 times.
    assert!(matches!(copied(1 << 31, true, 1), Err(LaunchError::Tile(_))));
    assert_eq!(copied(1 << 31, true, 0), Ok(0));
}

/// Two nested loops access one stream in the inner loop and one in the outer loop. `y[i][j]` is the
/// sum of `x[i][j][k]`, with j below 2 and k below 3.
#[test]
fn loops_in_loops() {
    let text = "
    mov $r0 $m0
    mov $r1 $m1
    mov $a0 $r0
    mov $a1 $r1
    ldas $r2 $a0 0x4
    ldas $r3 $a0 0x4
    ldas $r4 $a0 0x4
    add $r2 $r2 $r3
    add $r2 $r2 $r4
    stas $r2 $c0 $a1 0x4
    bra not $c0 aef 0x10
    snop
    exit 0x0
";
    let (outer, inner) = (step(0, TripCount::Const(2), 4), step(1, TripCount::Const(3), 4));
    let read_steps = vec![Step { stride: constant(12), ..outer.clone() }, inner];
    let read = Stream { scale: 24.into(), steps: read_steps, ..reads(0, 4, 16) };
    let written = Stream { scale: 8.into(), steps: vec![outer], ..writes(1, 4, 36) };
    let program = program("x: in i32, y: out i32", tiles(1, 43, vec![read, written]), text);
    let x: Vec<u32> = (0..6 * 7).map(|i| 1 << (i % 31)).collect();
    let mut y = vec![0; 4 * 2 * 7];
    run(&program, 7, &mut [Arg::In(&bytes(&x)), Arg::Buffer(&mut y)]).unwrap();
    let expected: Vec<u32> = x.chunks(3).map(|row| row.iter().fold(0, |sum: u32, x| sum.wrapping_add(*x))).collect();
    assert_eq!(words(&y), expected);
}

/// If two stores of an item write the same address, the later store in iteration order takes effect.
#[test]
fn stores_of_an_item_are_made_in_order() {
    let text = "
    mov $r0 $m0
    mov $r1 $m1
    mov $a0 $r0
    mov $a1 $r1
    mov $r2 0x1
    mov $r3 0x2
    stas $r2 $a0 0x4
    stas $r3 $a1 0x4
    stas $r2 $a0 0x4
    stas $r3 $a1 0x4
    exit 0x0
";
    // In its second iteration, stream `first` writes the address that the second stream writes in
    // its first iteration.
    let first =
        Stream { scale: 8.into(), steps: vec![step(0, TripCount::Const(2), 0u32.wrapping_sub(4))], ..writes(0, 4, 24) };
    let first = Stream { index: constant(4), ..first };
    let second = Stream { scale: 8.into(), steps: vec![step(0, TripCount::Const(2), 4)], ..writes(0, 4, 28) };
    let order = |streams| {
        let program = program("y: out i32", Tiles { group_branch: None, ..tiles(1, 0, streams) }, text);
        let mut y = vec![0; 8];
        run(&program, 1, &mut [Arg::Buffer(&mut y)]).unwrap();
        words(&y)
    };
    // The stores in order: y[1] = 1; y[0] = 2; y[0] = 1; y[1] = 2
    assert_eq!(order(vec![first.clone(), second.clone()]), [1, 2]);
    // The stores in order: y[0] = 1; y[1] = 2; y[1] = 1; y[0] = 2
    assert_eq!(order(vec![second, first]), [2, 1]);
}

/// Kernel that stores `y[i] = z[i]` if `x[i] & 1` is not zero.
const GUARDED: &str = "
    mov $r0 $m0
    mov $r1 $m1
    mov $r2 $m2
    mov $r3 $m3
    mov $a0 $r0
    mov $a1 $r1
    mov $a2 $r2
    mov $a3 $r3
    ldas $r4 $c0 $a0 0x4
    and $r4 $r4 0x1
    stas $r4 $a1 0x4
    ldas $r5 $a2 0x4
    stas $r5 $a3 0x4 | bra not $c0 aef 0x20
    snop
    exit 0x0
";

#[test]
fn guards_choose_what_is_written() {
    let guarded = |stream| Stream { guard: Some(1), ..stream };
    let streams = vec![reads(0, 4, 32), guard(4), guarded(reads(1, 4, 44)), guarded(writes(2, 4, 48))];
    let program = program("x: in i32, z: in i32, y: inout i32", tiles(1, 51, streams), GUARDED);
    let x: Vec<u32> = (0..3000).map(|i| i / 3).collect();
    // An access whose guard is false may be out of bounds.
    let z: Vec<u32> = (0..2998).collect();
    let mut y = bytes(&[u32::MAX; 3000]);
    let stats = run(&program, 3000, &mut [Arg::In(&bytes(&x)), Arg::In(&bytes(&z)), Arg::Buffer(&mut y)]);
    let trap = crate::common::trap(stats);
    assert_eq!((trap.item, trap.address), (2998, 44));
    let x = [&x[..2998], &[0, 0]].concat();
    let stats = run(&program, 3000, &mut [Arg::In(&bytes(&x)), Arg::In(&bytes(&z)), Arg::Buffer(&mut y)]).unwrap();
    let expected = (0..3000).map(|i| if x[i] & 1 == 1 { i as u32 } else { u32::MAX });
    assert_eq!(words(&y), expected.collect::<Vec<_>>());
    assert_eq!(stats.bytes_out, 4 * x.iter().filter(|x| *x & 1 == 1).count() as u64);
}

/// The items access the elements in another order, with gaps, or in reverse.
#[test]
fn scales_and_offsets() {
    let changed = |read: fn(&mut Stream), items: u32| {
        let program = add(|tiles| read(&mut tiles.streams[0]));
        let x: Vec<u32> = (100..200).collect();
        let mut y = vec![0; 4 * items as usize];
        run(&program, items, &mut [Arg::Scalar(7), Arg::In(&bytes(&x)), Arg::Buffer(&mut y)]).unwrap();
        words(&y).iter().map(|word| word - 107).collect::<Vec<_>>()
    };
    assert_eq!(changed(|s| s.scale = 12.into(), 5), [0, 3, 6, 9, 12]);
    assert_eq!(changed(|s| s.offset = 8, 3), [2, 3, 4]);
    assert_eq!(changed(|s| (s.index, s.offset) = (constant(40), -8), 3), [8, 9, 10]);
    assert_eq!(changed(|s| s.index = param(0, 8), 2), [14, 15]);
    let backward = |s: &mut Stream| {
        s.scale = 4u32.wrapping_neg().into();
        s.index = Affine { constant: 4u32.wrapping_neg(), terms: vec![(AffineVariable::ItemCount, 4)] };
    };
    assert_eq!(changed(backward, 4), [3, 2, 1, 0]);
    // Scalar `n` is 7. The sum of the index wraps at 2^32.
    assert_eq!(changed(|s| s.index = Affine { constant: 20u32.wrapping_neg(), ..param(0, 4) }, 3), [2, 3, 4]);
}

/// The program calls a function twice. The return address is that of the bundle after the delay slot.
#[test]
fn calls_and_delay_slots() {
    let text = "
    mov $r0 $m0
    mov $a0 $r0
    mov $r1 0x1
    call 0x20
    add $r1 $r1 0x2
    add $r1 $r1 0x4
    call 0x20
    bra 0x30
    add $r1 $r1 0x100
    ret
    add $r1 $r1 0x80
    exit 0x1
    stas $r1 $a0 0x4
    exit 0x0
";
    // The branch to bundle 12 is in the delay slot of the second call. One bundle at the target of
    // the call is executed before the branch takes effect.
    let program = program("y: out i32", Tiles { group_branch: None, ..tiles(1, 0, vec![writes(0, 4, 48)]) }, text);
    let mut y = vec![0; 4];
    run(&program, 1, &mut [Arg::Buffer(&mut y)]).unwrap();
    assert_eq!(words(&y), [1 + 2 + 0x100 + 0x80 + 4 + 0x100]);
}

#[test]
fn an_absolute_branch_and_an_exit_have_their_places() {
    let text = "
    mov $r0 $m0
    mov $a0 $r0
    abra 0x14
    mov $r1 0x5
    mov $r1 0x6
    stas $r1 $a0 0x4 | exit 0x7
    stas $r0 $a0 0x4
";
    let program = program("y: out i32", Tiles { group_branch: None, ..tiles(1, 0, vec![writes(0, 4, 20)]) }, text);
    let mut y = vec![0; 4];
    let stats = run(&program, 1, &mut [Arg::Buffer(&mut y)]).unwrap();
    assert_eq!((words(&y), stats.issued), (vec![5], 5));
}

#[test]
fn the_budget_begins_anew_with_each_group() {
    let program = sum(TripCount::Const(5));
    let x = bytes(&[1; 5 * 40]);
    let mut y = vec![0; 4 * 40];
    let mut args = [Arg::Scalar(5), Arg::In(&x), Arg::Buffer(&mut y)];
    let kernel = program.kernel("k").unwrap();
    // The inner loop takes four backward branches for each item. The budget applies to each item separately.
    let stats =
        kernel.launch(halfbyte_runtime::Launch { budget: 4, ..halfbyte_runtime::Launch::new(40, &mut args) }).unwrap();
    assert_eq!(stats.backward_branches, 40 * 4 + 39);
    let refused = kernel.launch(halfbyte_runtime::Launch { budget: 3, ..halfbyte_runtime::Launch::new(40, &mut args) });
    let trap = crate::common::trap(refused);
    assert_eq!(
        (trap.item, trap.to_string().as_str()),
        (0, "kernel `k`, item 0, word 0x2b `bra not $c1 zf 0x1c` (test.s:11:5): more than 3 backward branches taken")
    );
}

#[test]
fn what_no_tile_can_hold_is_told() {
    let program = sum(TripCount::Const(600));
    let x = bytes(&[1; 600 * 8]);
    let mut y = vec![7; 4 * 8];
    let error = run(&program, 8, &mut [Arg::Scalar(600), Arg::In(&x), Arg::Buffer(&mut y)]).unwrap_err();
    let message = "kernel `k`: 4 work items take 9616 bytes of the data store, which has 8192; \
                   9600 of them hold the accessed elements of `x` (test.s:8:5)";
    assert_eq!(error.to_string(), message);
    assert!(y.iter().all(|&byte| byte == 7), "nothing was written");
    // A tile of three items needs less memory than one of a whole group of four.
    run(&program, 3, &mut [Arg::Scalar(600), Arg::In(&x), Arg::Buffer(&mut y)]).unwrap();
    assert_eq!(words(&y)[..3], [600; 3]);
    // An empty launch needs no tile.
    assert_eq!(run(&program, 0, &mut [Arg::Scalar(600), Arg::In(&x), Arg::Buffer(&mut y)]), Ok(Stats::default()));
}

#[test]
fn streams_are_not_needed() {
    let program = program("n: i32", Tiles { items: 16, ..Tiles::default() }, "    exit 0x0");
    let stats = run(&program, u32::MAX, &mut [Arg::Scalar(1)]).unwrap();
    assert_eq!(stats, Stats { issued: 1, tiles: 1, ..Stats::default() });
}
