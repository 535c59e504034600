//! Tests of the message of every kind of trap on VP1, and of the choice of the reported trap.

use crate::common::vp1::{add, guard, param, program, reads, step, tiles, writes};
use crate::common::{bytes, run, trap};
use halfbyte_isa::stream::{Affine, AffineVariable, Stream, Tiles, TripCount};
use halfbyte_runtime::{Arg, Launch, Trap};

const LOAD: &str = "word 0x14 `ldas $r2 $c0 $a0 0x4` (test.s:6:5)";
const STORE: &str = "word 0x1c `stas $r2 $a1 0x4` (test.s:8:5)";

/// Returns the trap of a launch of 2,000 items that computes `y[i] = x[i] + 5`. The sizes of the
/// buffers are given in 32-bit words. `change` modifies the streams.
fn trap_of_add(x_words: usize, y_words: usize, change: impl FnOnce(&mut [Stream])) -> Trap {
    let program = add(|tiles| change(&mut tiles.streams));
    let (x, mut y) = (bytes(&vec![1; x_words]), bytes(&vec![2; y_words]));
    trap(run(&program, 2000, &mut [Arg::Scalar(5), Arg::In(&x), Arg::Buffer(&mut y)]))
}

fn message(x_words: usize, y_words: usize, change: impl FnOnce(&mut [Stream])) -> String {
    trap_of_add(x_words, y_words, change).to_string()
}

#[test]
fn out_of_bounds() {
    assert_eq!(
        message(1999, 2000, |_| {}),
        format!(
            "kernel `k`, item 1999, {LOAD}: load of 4 bytes at global address 0xd00100000041f3c is out of bounds: \
             byte 7996 of buffer `x`, which has 7996 bytes"
        )
    );
    assert_eq!(
        message(2000, 1234, |_| {}),
        format!(
            "kernel `k`, item 1234, {STORE}: store of 4 bytes at global address 0xd00200000101348 is out of bounds: \
             byte 4936 of buffer `y`, which has 4936 bytes"
        )
    );
    // An access that begins within a buffer and ends beyond it is out of bounds.
    assert_eq!(
        message(2000, 2000, |streams| (streams[0].offset, streams[0].align) = (2, 2)),
        format!(
            "kernel `k`, item 1999, {LOAD}: load of 4 bytes at global address 0xd00100000041f3e is out of bounds: \
             byte 7998 of buffer `x`, which has 8000 bytes"
        )
    );
    // An address just before a buffer counts as beyond the end of the preceding buffer.
    assert_eq!(
        message(2000, 2000, |streams| streams[1].offset = -4),
        format!(
            "kernel `k`, item 0, {STORE}: store of 4 bytes at global address 0xd002000000ffffc is out of bounds: \
             4 bytes before buffer `y`"
        )
    );
    // The offset, which is the item number times the scale, wraps at 2^32.
    assert_eq!(
        message(2000, 2000, |streams| streams[0].index.constant = 4u32.wrapping_neg()),
        format!(
            "kernel `k`, item 0, {LOAD}: load of 4 bytes at global address 0xd0010010003fffc is out of bounds: \
             byte 4294967292 of buffer `x`, which has 8000 bytes"
        )
    );
    let backward = |streams: &mut [Stream]| {
        let terms = vec![(AffineVariable::ItemCount, 4)];
        (streams[0].scale, streams[0].index) = (4u32.wrapping_neg().into(), Affine { constant: 0, terms });
    };
    assert_eq!(trap_of_add(2000, 2000, backward).item, 0);
    assert_eq!(trap_of_add(1500, 2000, backward).item, 0);
}

#[test]
fn misaligned() {
    assert_eq!(
        message(2000, 2000, |streams| streams[0].offset = 2),
        format!("kernel `k`, item 0, {LOAD}: load of 4 bytes at global address 0xd00100000040002 is misaligned")
    );
    // If an access is misaligned and out of bounds, the trap reports that it is misaligned.
    assert_eq!(
        message(0, 0, |streams| (streams[0].align, streams[0].index.constant) = (16, 8)),
        format!("kernel `k`, item 0, {LOAD}: load of 4 bytes at global address 0xd00100000040008 is misaligned")
    );
    let third = trap_of_add(2001, 2000, |streams| (streams[0].align, streams[0].offset) = (8, 0));
    assert_eq!((third.item, third.address), (1, 20));
}

#[test]
fn store_to_an_in_buffer() {
    assert_eq!(
        message(2000, 2000, |streams| streams[1].buffer = Some(1)),
        format!(
            "kernel `k`, item 0, {STORE}: store of 4 bytes at global address 0xd00100000040000 into `in` buffer `x`"
        )
    );
    // A store beyond the end of an `in` buffer is reported as out of bounds.
    let trap = message(0, 2000, |streams| (streams[0].buffer, streams[1].buffer) = (Some(2), Some(1)));
    assert!(trap.ends_with("is out of bounds: byte 0 of buffer `x`, which has 0 bytes"), "{trap}");
    // The store traps even if the caller has passed a writable slice for the `in` buffer.
    let program = program("x: in i32", Tiles { streams: vec![writes(0, 4, 0)], ..tiles(1, 0, vec![]) }, "    exit 0x0");
    let mut x = bytes(&[7]);
    let trap = crate::common::trap(run(&program, 1, &mut [Arg::Buffer(&mut x)]));
    assert!(trap.to_string().ends_with("into `in` buffer `x`"), "{trap}");
}

#[test]
fn the_lowest_item_traps_at_its_first_access() {
    let at = |trap: Trap| (trap.item, trap.address);
    assert_eq!(at(trap_of_add(1500, 1000, |_| {})), (1000, 28));
    assert_eq!(at(trap_of_add(1000, 1500, |_| {})), (1000, 20));
    assert_eq!(at(trap_of_add(1000, 1000, |_| {})), (1000, 20));
    assert_eq!(at(trap_of_add(1000, 1000, |streams| streams.reverse())), (1000, 28));
    // The trap of an invalid access to a uniform stream names the first item of the launch.
    assert_eq!(at(trap_of_add(3, 0, |streams| streams[0] = uniform(16))), (0, 20));
    assert_eq!(at(trap_of_add(4, 7, |streams| streams[0] = uniform(12))), (7, 28));
}

fn uniform(offset: i32) -> Stream {
    Stream { uniform: true, scale: 0.into(), offset, ..reads(1, 4, 20) }
}

/// All accesses of an iteration come before those of the next iteration, regardless of their streams.
#[test]
fn loops_are_taken_trip_by_trip() {
    let text = "    exit 0x0\n    snop\n    snop";
    let step = |stride| step(9, TripCount::Of { count: param(0, 1), signed: false, at_least: 0 }, stride);
    let streams = |first, second| {
        vec![
            Stream { scale: 0.into(), steps: vec![step(first)], ..reads(1, 4, 4) },
            Stream { scale: 0.into(), steps: vec![step(second)], ..reads(2, 4, 8) },
            Stream { scale: 0.into(), offset: 1 << 20, ..reads(2, 4, 0) },
        ]
    };
    let (x, y) = (bytes(&[0; 5]), bytes(&[0; 5]));
    let address = |first, second, trips| {
        let tiles = Tiles { group_branch: None, ..tiles(1, 0, streams(first, second)) };
        let program = program("n: i32, x: in i32, y: in i32", tiles, text);
        trap(run(&program, 3, &mut [Arg::Scalar(trips), Arg::In(&x), Arg::In(&y)])).address
    };
    // The fifth access to one stream comes before the sixth access to the other stream. Both come
    // before the access after the loop.
    assert_eq!(address(4, 5, 7), 8);
    assert_eq!(address(4, 4, 7), 4);
    assert_eq!(address(4, 20, 7), 8);
    assert_eq!(address(4, 4, 5), 0);
    assert_eq!(address(4, 4, 0), 0);
}

/// The kernel stores `y[i] = x[i]` if `a[i] & 1` is not zero.
#[test]
fn only_accesses_that_are_made_trap() {
    let text = "
    mov $r0 $m0
    mov $r1 $m1
    mov $a0 $r0
    mov $a1 $r1
    ldas $r2 $c0 $a0 0x4
    stas $r2 $a1 0x4 | bra not $c0 aef 0x10
    snop
    exit 0x0
";
    let guarded = |stream| Stream { guard: Some(1), ..stream };
    let made = |a: &[u32], change: fn(&mut [Stream])| {
        let mut streams = vec![reads(0, 4, 16), guard(4), guarded(reads(1, 4, 8)), guarded(writes(2, 4, 12))];
        change(&mut streams);
        let program = program("a: in i32, x: in i32, y: out i32", tiles(1, 23, streams), text);
        let (a, x, mut y) = (bytes(a), bytes(&[1; 4]), bytes(&[0; 6]));
        let done = run(&program, a.len() as u32 / 4, &mut [Arg::In(&a), Arg::In(&x), Arg::Buffer(&mut y)]);
        done.map_err(|error| match error {
            halfbyte_runtime::LaunchError::Trap(trap) => (trap.item, trap.address),
            other => panic!("{other}"),
        })
        .map(|_| ())
    };
    assert_eq!(made(&[1, 0, 1, 1], |_| {}), Ok(()));
    assert_eq!(made(&[1, 0, 1, 1, 0, 0, 0], |_| {}), Ok(()));
    assert_eq!(made(&[1, 0, 1, 1, 0, 1, 0], |_| {}), Err((5, 8)));
    // Without the guard, item 4 traps.
    assert_eq!(made(&[0; 7], |streams| streams[2].guard = None), Err((4, 8)));
    assert_eq!(made(&[0, 0, 0, 0, 0, 0, 1], |streams| streams[2].buffer = Some(2)), Err((6, 8)));
    // With an alignment of 8 bytes, every second access is misaligned.
    let odd = |streams: &mut [Stream]| streams[3].align = 8;
    assert_eq!(made(&[1, 0, 1, 0], odd), Ok(()));
    assert_eq!(made(&[1, 0, 1, 1], odd), Err((3, 12)));
    // Only the first byte of an element in a guard stream is tested.
    assert_eq!(made(&[0x100; 8], |_| {}), Ok(()));
}

/// Launches one item of a program without streams. Returns the message of the trap.
fn fault(bundles: &str) -> String {
    fault_of(Tiles { group_branch: None, ..tiles(4, 0, vec![]) }, 1, bundles).to_string()
}

fn fault_of(tiles: Tiles, items: u32, bundles: &str) -> Trap {
    let program = program("", tiles, bundles);
    trap(program.kernel("k").unwrap().launch(Launch { budget: 10, ..Launch::new(items, &mut []) }))
}

#[test]
fn words_that_do_nothing_known() {
    assert_eq!(
        fault(".word 0xdb000123 | vnop"),
        "kernel `k`, item 0, word 0x0 `.word 0xdb000123` (test.s:1:5): 0xdb000123 is not a valid instruction"
    );
    assert_eq!(
        fault("snop\n    xdwait st 0x2 0x2 | snop | exit 0x0"),
        "kernel `k`, item 0, word 0x4 `xdwait st 0x2 0x2` (test.s:2:5): the effect of DMA instructions is unknown"
    );
    assert_eq!(
        fault("mov $sr8 $r3"),
        "kernel `k`, item 0, word 0x1 `mov $sr8 $r3` (test.s:1:5): \
         the effect of a move from or to this register of register file 8 is unknown"
    );
}

#[test]
fn past_the_end() {
    assert_eq!(
        fault("snop\n    vnop"),
        "kernel `k`, item 0, word 0x7 `bnop` (test.s:2:5): execution continues past the end of the kernel"
    );
    // A branch in the last instruction word of a program has no delay slot.
    assert_eq!(
        fault("snop\n    bra 0x0"),
        "kernel `k`, item 0, word 0x7 `bra 0x0` (test.s:2:5): execution continues past the end of the kernel"
    );
    assert_eq!(
        fault("bra 0xc\n    snop\n    snop"),
        "kernel `k`, item 0, word 0x3 `bra 0xc` (test.s:1:5): branch to word 12, outside of the kernel, which has 12 words"
    );
    assert_eq!(
        fault("abra 0x9438"),
        "kernel `k`, item 0, word 0x3 `abra 0x9438` (test.s:1:5): branch to word 37944, outside of the kernel, which has 4 words"
    );
    let back = halfbyte_isa::vp1::Inst::new(halfbyte_isa::vp1::Opcode::BRA)
        .with(halfbyte_isa::vp1::fields::BTARG, -2i64 as u64)
        .with(halfbyte_isa::vp1::fields::SLCT, halfbyte_isa::vp1::fields::ALWAYS);
    let message = fault(&format!(".word {:#010x}\n    snop", back.word()));
    assert!(message.ends_with(": branch to word -8, outside of the kernel, which has 8 words"), "{message}");
}

#[test]
fn calls_and_returns() {
    assert_eq!(
        fault("snop\n    ret\n    snop"),
        "kernel `k`, item 0, word 0x7 `ret` (test.s:2:5): return without a call"
    );
    // All 17 calls go forward, so no backward branch is taken. The call depth exceeds its limit by one.
    let mut calls: String = (1..=17).map(|k| format!("    call {:#x}\n    snop\n", 8 * k)).collect();
    calls += "    snop";
    let message = fault(&calls);
    assert_eq!(message, "kernel `k`, item 0, word 0x83 `call 0x88` (test.s:33:5): call depth exceeds 16");
    // Returns also count as backward branches. Each of eight functions calls the next function
    // twice.
    let mut doubling = String::new();
    for function in 0..8 {
        let next = 4 * 6 * (function + 1);
        doubling += &format!("    call {next:#x}\n    snop\n    call {next:#x}\n    snop\n    ret\n    snop\n");
    }
    doubling += "    ret\n    snop";
    let message = fault(&doubling);
    assert!(message.ends_with("`ret` (test.s:49:5): more than 10 backward branches taken"), "{message}");
}

#[test]
fn an_endless_loop_belongs_to_its_group() {
    let message = fault("snop\n    bra 0x0\n    snop");
    assert_eq!(message, "kernel `k`, item 0, word 0x7 `bra 0x0` (test.s:2:5): more than 10 backward branches taken");
    // The branch to the next group resets the budget at most once for each group. After that it
    // counts as a backward branch.
    let endless = |items| fault_of(tiles(4, 7, vec![]), items, "snop\n    bra 0x0\n    snop").item;
    assert_eq!([1, 4, 5, 9, 12].map(endless), [0, 0, 4, 8, 8]);
}

/// If the program traps in a group, invalid accesses of items up to that group take precedence over
/// the program's trap. In that group, only accesses that the program has executed count.
#[test]
fn prefers_access_faults_of_lower_items_to_program_faults() {
    let item = |access: &str, words: usize| {
        let text = format!(
            "
    mov $r0 0x2
    mov $r1 $m0
    mov $a0 $r1
    sub $r0 $c1 $r0 0x1
    {access}
    bra not $c1 zf 0xc
    snop
    ret
    snop
"
        );
        let program = program("x: in i32", tiles(4, 23, vec![reads(0, 4, 16)]), &text);
        let x = bytes(&vec![0; words]);
        let trap = trap(run(&program, 12, &mut [Arg::In(&x)]));
        (trap.item, trap.address)
    };
    // The return without a call is executed for the second group, after the loads of that group.
    let loads = |words| item("ldas $r2 $c0 $a0 0x10", words);
    assert_eq!(loads(12), (4, 31));
    assert_eq!(loads(5), (4, 31));
    assert_eq!(loads(4), (4, 16));
    assert_eq!(loads(2), (2, 16));
    // The return without a call is executed before any load.
    let stops = |words| item("snop", words);
    assert_eq!(stops(4), (4, 31));
    assert_eq!(stops(2), (2, 16));
}
