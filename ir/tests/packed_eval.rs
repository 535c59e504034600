//! Tests that packed kernels behave like the kernels from which they are packed: the same bytes,
//! traps, races and writers.

use std::path::Path;

use halfbyte_abi::cooperative::RaceCheck;
use halfbyte_ir::eval::{Arg, ArgError, Evaluated, Fault, Launch, Prepared, Trap, TrapKind};
use halfbyte_ir::{Diagnostics, Inst, Kernel, Op, Span, text};

use Given::{Bytes, Number};

/// Address of argument 0. Argument n is at n + 1 times this address.
const BASE: u64 = 1 << 40;

fn kernel(source: &str) -> Kernel {
    match text::read(source) {
        Ok(mut module) => module.kernels.remove(0),
        Err(list) => panic!("{}", Diagnostics { file: "text", source, list: &list }),
    }
}

/// A kernel, and a packed kernel with the same meaning.
struct Pair {
    plain: Kernel,
    packed: Kernel,
}

impl Pair {
    /// Parses both kernels. Gives the streams of the packed kernel the spans of the plain kernel's
    /// loads and stores, in source order.
    fn new(plain: &str, packed: &str) -> Pair {
        let (plain, mut packed) = (kernel(plain), kernel(packed));
        let mut sites = plain.insts.values().filter(|data| matches!(data.op, Op::Load | Op::Store));
        let streams = &mut packed.packing.as_mut().unwrap().streams;
        for stream in streams.iter_mut().filter(|stream| stream.buffer.is_some()) {
            stream.site = sites.next().unwrap().span;
        }
        assert!(sites.next().is_none());
        Pair { plain, packed }
    }

    /// Runs both kernels, checks that the outcomes are equal, and returns the outcome.
    #[track_caller]
    fn run(&self, launch: &Launch<'_>, given: &[Given]) -> Outcome {
        let (plain, packed) = (outcome(&self.plain, launch, given), outcome(&self.packed, launch, given));
        assert_eq!(plain, packed, "{}, {given:?}", launch.shape);
        plain
    }
}

/// Argument of a launch.
#[derive(Clone, Copy, Debug)]
enum Given {
    Number(u32),
    /// Buffer: its size in bytes, and the distance in bytes of its address from the usual address.
    Bytes(usize, u64),
}

/// Outcome of a launch.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// Success: the contents of the buffers, and the item that wrote each byte.
    Done(Vec<Vec<u8>>, Vec<Option<u32>>),
    /// Fault, without instructions, because they differ between the kernels. The span of a budget
    /// trap is omitted, too, because a backward branch has no stream.
    Fault(Fault),
}

impl Outcome {
    /// Returns the item and the kind of the trap, or `None` if the launch succeeded.
    #[track_caller]
    fn trap(self) -> Option<(u32, TrapKind)> {
        match self {
            Outcome::Done(..) => None,
            Outcome::Fault(Fault::Trap(trap)) => Some((trap.item, trap.kind)),
            Outcome::Fault(fault) => panic!("{fault}"),
        }
    }
}

fn outcome(kernel: &Kernel, launch: &Launch<'_>, given: &[Given]) -> Outcome {
    let mut buffers: Vec<Vec<u8>> = (given.iter().enumerate())
        .map(|(number, given)| match given {
            Number(_) => Vec::new(),
            Bytes(len, _) => (0..*len).map(|i| (i * 7 + i / 4 * 3 + number * 31) as u8).collect(),
        })
        .collect();
    let mut args: Vec<Arg<'_>> = (given.iter().zip(&mut buffers).enumerate())
        .map(|(number, (given, bytes))| match given {
            Number(number) => Arg::scalar((*number).into()),
            Bytes(_, beyond) => Arg::Buffer { base: BASE * (number as u64 + 1) + beyond, bytes },
        })
        .collect();
    let ran = Prepared::new(kernel).run_watched(launch, &mut args);
    let inst = Inst::from_u32(0);
    match ran {
        Ok(writers) => {
            let of = |(param, bytes): (usize, &Vec<u8>), writers: &Evaluated| -> Vec<_> {
                (0..bytes.len()).map(|byte| writers.item(param, byte)).collect()
            };
            let writers = buffers.iter().enumerate().flat_map(|buffer| of(buffer, &writers)).collect();
            Outcome::Done(buffers, writers)
        }
        Err(Fault::Trap(trap)) if matches!(trap.kind, TrapKind::Budget { .. }) => {
            Outcome::Fault(Fault::Trap(Trap { inst, span: Span::default(), ..trap }))
        }
        Err(Fault::Trap(trap)) => Outcome::Fault(Fault::Trap(Trap { inst, ..trap })),
        Err(Fault::Race(mut race)) => {
            (race.first.inst, race.second.inst) = (inst, inst);
            Outcome::Fault(Fault::Race(race))
        }
        Err(fault) => Outcome::Fault(fault),
    }
}

/// Number of launches with each outcome.
#[derive(Default, Debug)]
struct Tally {
    done: u32,
    traps: u32,
    races: u32,
}

impl Tally {
    fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Done(..) => self.done += 1,
            Outcome::Fault(Fault::Trap(_)) => self.traps += 1,
            Outcome::Fault(_) => self.races += 1,
        }
    }
}

fn next() -> Pair {
    Pair::new(
        "
kernel @next(%x: in i8x4, %w: i32, %y: out i8x4) {
^entry:
  %i = item_id
  %j = add.i32 %i, %w
  %a = load %x[%j + 1]
  %b = load %x[%i]
  %r = add.i8x4 %a, %b
  store %r, %y[%i]
  ret
}",
        "
kernel @next(%x: in i8x4, %w: i32, %y: out i8x4) groups 4 {
  stream %a_s: in i8x16 of %x, 4 bytes at 4 * item + 4 * %w offset 4
  stream %b_s: in i8x16 of %x, 4 bytes at 4 * item
  stream %y_s: out i8x16 of %y, 4 bytes at 4 * item
^entry:
  %g = item_id
  %a = load %a_s[%g]
  %b = load %b_s[%g]
  %r = add.i8x16 %a, %b
  store %r, %y_s[%g]
  ret
}",
    )
}

#[test]
fn neighbours_and_tails() {
    let pair = next();
    let mut tally = Tally::default();
    for items in 0..20 {
        for w in [0, 1, 2, 9, u32::MAX, u32::MAX - 1, 0x3fff_ffff, 0x4000_0000] {
            for (x, y) in [(80, 80), (40, 80), (80, 40), (40, 40), (44, 36), (4, 4), (0, 0)] {
                tally.count(&pair.run(&Launch::new(items), &[Bytes(x, 0), Number(w), Bytes(y, 0)]));
            }
        }
    }
    assert!(tally.done > 100 && tally.traps > 300, "{tally:?}");
}

#[test]
fn the_first_site_of_the_lowest_item_traps() {
    let pair = next();
    let at = |x: usize, w: u32, y: usize| {
        let outcome = pair.run(&Launch::new(9), &[Bytes(x, 0), Number(w), Bytes(y, 0)]);
        let Outcome::Fault(Fault::Trap(trap)) = outcome else { panic!("{outcome:?}") };
        let streams = &pair.packed.packing.as_ref().unwrap().streams;
        let stream = streams.iter().position(|stream| stream.site == trap.span).unwrap();
        (trap.item, stream)
    };
    // Items 5 and 6 are in the same group; items 3 and 4 are not.
    assert_eq!(at(28, 0, 36), (6, 0));
    assert_eq!(at(28, 0, 20), (5, 2));
    assert_eq!(at(20, 0, 12), (3, 2));
    assert_eq!(at(20, 0, 16), (4, 0));
    // The index of item 0 is unsigned, so its address is far beyond the buffer.
    assert_eq!(at(28, u32::MAX, 36), (0, 0));
}

#[test]
fn bytes_and_a_table() {
    let pair = Pair::new(
        "
kernel @bytes(%x: in i8, %t: in i8, %w: i32, %y: out i8) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %u = load %t[%w]
  %r = add.i8 %v, %u
  store %r, %y[%i]
  ret
}",
        "
kernel @bytes(%x: in i8, %t: in i8, %w: i32, %y: out i8) groups 16 {
  stream %v_s: in i8x16 of %x, 1 byte at 1 * item
  stream %u_s: uniform in i8 of %t, 1 byte at 1 * %w
  stream %y_s: out i8x16 of %y, 1 byte at 1 * item
^entry:
  %g = item_id
  %v = load %v_s[%g] step 16
  %u = load %u_s
  %all = splat.i8x16 %u
  %r = add.i8x16 %v, %all
  store %r, %y_s[%g] step 16
  ret
}",
    );
    let mut tally = Tally::default();
    for items in [0, 1, 2, 15, 16, 17, 33] {
        for (w, x, y) in [(0, 33, 33), (4, 33, 33), (5, 33, 33), (2, 16, 33), (2, 33, 15), (u32::MAX, 33, 0)] {
            tally.count(&pair.run(&Launch::new(items), &[Bytes(x, 0), Bytes(5, 0), Number(w), Bytes(y, 0)]));
        }
    }
    assert!(tally.done > 15 && tally.traps > 15, "{tally:?}");
}

/// A loop with a load and a store, whose trip count and stride are parameters.
fn columns() -> Pair {
    Pair::new(
        "
kernel @columns(%x: in i8x4, %h: i32, %w: i32, %z: out i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %none = const.i8x4 0
  %any = icmp.gt_s.i32 %h, %zero
  br_if %any, ^loop(%zero, %none), ^done(%none)
^loop(%k: i32, %s: i8x4):
  %down = mul.i32 %k, %w
  %at = add.i32 %i, %down
  %v = load %x[%at]
  %t = add.i8x4 %s, %v
  store %t, %z[%at]
  %k1 = add.i32 %k, %one
  %more = icmp.lt_s.i32 %k1, %h
  br_if %more, ^loop(%k1, %t), ^done(%t)
^done(%sum: i8x4):
  store %sum, %y[%i]
  ret
}",
        "
kernel @columns(%x: in i8x4, %h: i32, %w: i32, %z: out i8x4, %y: out i8x4) groups 4 {
  stream %v_s: in i8x16 of %x, 4 bytes at 4 * item, loop 7 trips signed 1 * %h by 4 * %w
  stream %z_s: out i8x16 of %z, 4 bytes at 4 * item, loop 7 trips signed 1 * %h by 4 * %w
  stream %y_s: out i8x16 of %y, 4 bytes at 4 * item
^entry:
  %g = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %none = const.i8x16 0
  %before = mul.i32 %g, %h
  %any = icmp.gt_s.i32 %h, %zero
  br_if %any, ^loop(%zero, %none), ^done(%none)
^loop(%k: i32, %s: i8x16):
  %at = add.i32 %before, %k
  %v = load %v_s[%at]
  %t = add.i8x16 %s, %v
  store %t, %z_s[%at]
  %k1 = add.i32 %k, %one
  %more = icmp.lt_s.i32 %k1, %h
  br_if %more, ^loop(%k1, %t), ^done(%t)
^done(%sum: i8x16):
  store %sum, %y_s[%g]
  ret
}",
    )
}

#[test]
fn trips_from_parameters() {
    let pair = columns();
    let mut tally = Tally::default();
    for items in [0, 1, 3, 4, 5, 11] {
        for h in [u32::MAX, 0, 1, 2, 3, 7] {
            for w in [0, 1, 4, 11, 12, u32::MAX] {
                for (x, z, y) in [(400, 400, 44), (40, 400, 44), (400, 40, 44), (400, 400, 12), (48, 44, 40)] {
                    let given = [Bytes(x, 0), Number(h), Number(w), Bytes(z, 0), Bytes(y, 0)];
                    tally.count(&pair.run(&Launch::new(items), &given));
                }
            }
        }
    }
    assert!(tally.done > 300 && tally.traps > 150 && tally.races > 60, "{tally:?}");
}

/// In a loop, accesses are ordered by iteration first. Within an iteration, they are in program order.
#[test]
fn orders_accesses_in_a_loop_by_iteration() {
    let pair = columns();
    // Item 0 loads and stores at offsets 0, 16 and 32. The third load is out of bounds, but the
    // second store traps earlier.
    let given = [Bytes(32, 0), Number(3), Number(4), Bytes(16, 0), Bytes(4, 0)];
    let outside = |address| Some((0, TrapKind::OutOfBounds { address, bytes: 4 }));
    assert_eq!(pair.run(&Launch::new(1), &given).trap(), outside(4 * BASE + 16));
    let given = [Bytes(16, 0), Number(3), Number(4), Bytes(16, 0), Bytes(4, 0)];
    assert_eq!(pair.run(&Launch::new(1), &given).trap(), outside(BASE + 16));
}

#[test]
fn the_budget_is_one_for_a_group() {
    let pair = columns();
    let budget = 5;
    for h in [5, 6, 7, 100, 0x7fff_ffff] {
        for (x, y) in [(44, 44), (44, 12), (8, 44), (0, 44)] {
            let given = [Bytes(x, 0), Number(h), Number(0), Bytes(44, 0), Bytes(y, 0)];
            let trap = pair.run(&Launch { budget, ..Launch::new(11) }, &given).trap();
            let exceeds = matches!(trap, Some((0, TrapKind::Budget { budget: 5 })));
            assert_eq!(exceeds, h > 6 && x > 0, "{h} {x} {y}");
        }
    }
    // An access in the loop is out of bounds before the item exceeds its budget.
    let given = [Bytes(20, 0), Number(100), Number(4), Bytes(400, 0), Bytes(44, 0)];
    let trap = pair.run(&Launch { budget, ..Launch::new(2) }, &given).trap();
    assert_eq!(trap, Some((0, TrapKind::OutOfBounds { address: BASE + 32, bytes: 4 })));
}

/// Tests nested loops, a store that is executed repeatedly, and the item count in an address.
#[test]
fn loops_in_loops() {
    let body = |p: &str, q: &str, s: &str, t: &str, index: [&str; 4], head: &str| {
        format!(
            "{head}
^entry:
  %i = item_id
  %n = item_count
  %zero = const.i32 0
  %one = const.i32 1
  %two = const.i32 2
  %five = const.i32 5
  %least = max_u.i32 %m, %one
  br ^outer(%zero)
^outer(%a: i32):
  {}
  %u = load %{p}[%pi]
  br ^inner(%zero, %u)
^inner(%b: i32, %sum: i32):
  {}
  %v = load %{q}[%qi]
  %next = add.i32 %sum, %v
  {}
  store %next, %{s}[%si]
  %b1 = add.i32 %b, %one
  %again = icmp.lt_u.i32 %b1, %two
  br_if %again, ^inner(%b1, %next), ^latch
^latch:
  %a1 = add.i32 %a, %one
  %more = icmp.lt_u.i32 %a1, %m
  br_if %more, ^outer(%a1), ^end
^end:
  {}
  store %next, %{t}[%ti]
  ret
}}",
            index[0], index[1], index[2], index[3]
        )
    };
    let plain = body(
        "x",
        "x",
        "y",
        "y",
        [
            "%pi = add.i32 %i, %a",
            "%a2 = shl.i32 %a, %one\n  %b5 = mul.i32 %b, %five\n  %ab = add.i32 %a2, %b5\n  %qi = add.i32 %ab, %i",
            "%si = add.i32 %i, %zero",
            "%ti = add.i32 %i, %n",
        ],
        "kernel @nest(%x: in i32, %m: i32, %y: out i32) {",
    );
    let element =
        "%ga = mul.i32 %i, %least\n  %ea = add.i32 %ga, %a\n  %ga2 = shl.i32 %ea, %one\n  %qi = add.i32 %ga2, %b";
    let packed = body(
        "p",
        "q",
        "s",
        "t",
        [
            "%g = mul.i32 %i, %least\n  %pi = add.i32 %g, %a",
            element,
            "%si = add.i32 %qi, %zero",
            "%ti = add.i32 %i, %zero",
        ],
        "kernel @nest(%x: in i32, %m: i32, %y: out i32) groups 1 {
  stream %p: in i32 of %x, 4 bytes at 4 * item, loop 0 trips unsigned 1 * %m at_least 1 by 4
  stream %q: in i32 of %x, 4 bytes at 4 * item, loop 0 trips unsigned 1 * %m at_least 1 by 8, loop 1 trips 2 by 20
  stream %s: out i32 of %y, 4 bytes at 4 * item, loop 0 trips unsigned 1 * %m at_least 1, loop 1 trips 2
  stream %t: out i32 of %y, 4 bytes at 4 * item + 4 * item_count",
    );
    let pair = Pair::new(&plain, &packed);
    let mut tally = Tally::default();
    for items in 0..7 {
        for m in 0..6 {
            for (x, y) in [(100, 60), (20, 60), (60, 60), (100, 8), (100, 32)] {
                tally.count(&pair.run(&Launch::new(items), &[Bytes(x, 0), Number(m), Bytes(y, 0)]));
            }
        }
    }
    assert!(tally.done > 80 && tally.traps > 40, "{tally:?}");
}

/// Kernels with one value per item and accesses that only some items make.
fn guarded() -> Pair {
    let each: String = (0..4)
        .map(|j| {
            format!(
                "  %v{j} = load %v_s[%at + {j}]
  %b{j} = and.i32 %v{j}, %three
  %c{j} = icmp.ne.i32 %b{j}, %zero
  %m{j} = mask_expand.i32 %c{j}
  store %m{j}, %made[%at + {j}]
  %q{j} = load %q_s[%at + {j}]
  %r{j} = add.i32 %v{j}, %q{j}
  store %r{j}, %y_s[%at + {j}]
"
            )
        })
        .collect();
    let packed = format!(
        "
kernel @guarded(%x: in i32, %m: i32, %z: in i32, %y: inout i32) groups 4 {{
  stream %v_s: in i32 of %x, 4 bytes at 4 * item
  stream %made: out i32, 4 bytes
  stream %q_s: in i32 of %z, 4 bytes at 4 * item + 4 * %m, guard %made
  stream %y_s: out i32 of %y, 4 bytes at 4 * item, guard %made
^entry:
  %g = item_id
  %zero = const.i32 0
  %two = const.i32 2
  %three = const.i32 3
  %at = shl.i32 %g, %two
{}  ret
}}",
        each.replace(" + 0]", "]")
    );
    let plain = "
kernel @guarded(%x: in i32, %m: i32, %z: in i32, %y: inout i32) {
^entry:
  %i = item_id
  %three = const.i32 3
  %zero = const.i32 0
  %v = load %x[%i]
  %b = and.i32 %v, %three
  %c = icmp.ne.i32 %b, %zero
  br_if %c, ^made, ^end
^made:
  %j = add.i32 %i, %m
  %q = load %z[%j]
  %r = add.i32 %v, %q
  store %r, %y[%i]
  br ^end
^end:
  ret
}";
    Pair::new(plain, &packed)
}

#[test]
fn guards() {
    let pair = guarded();
    let mut tally = Tally::default();
    for items in 0..24 {
        for m in [0, 1, u32::MAX, u32::MAX - 1, 5] {
            for (z, y) in (0..12).map(|n| (n * 12, 96)).chain((0..12).map(|n| (128, n * 8))) {
                let given = [Bytes(96, 0), Number(m), Bytes(z, 0), Bytes(y, 0)];
                tally.count(&pair.run(&Launch::new(items), &given));
            }
        }
    }
    assert!(tally.done > 400 && tally.traps > 400, "{tally:?}");
    // Every fourth 32-bit word of `x` is a multiple of 4. The items of these words make no access,
    // so their addresses may be out of bounds.
    let given = |z| [Bytes(96, 0), Number(0), Bytes(z, 0), Bytes(96, 0)];
    let at = |z| pair.run(&Launch::new(24), &given(z)).trap().map(|(item, _)| item);
    assert_eq!([at(96), at(92), at(52), at(48), at(16), at(0)], [None, Some(23), Some(13), Some(13), Some(5), Some(1)]);
}

/// Tests the example kernels in `docs/ir.md`.
#[test]
fn the_example() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ir.md")).unwrap();
    let mut columns = page.split("```\n").filter(|block| block.contains("kernel @column("));
    let pair = Pair::new(columns.next().unwrap(), columns.next().unwrap());
    let mut tally = Tally::default();
    for items in 0..10 {
        for h in [u32::MAX, 0, 1, 2, 5] {
            for w in [0, 1, 10] {
                for (x, y) in [(400, 40), (60, 40), (400, 20)] {
                    tally.count(&pair.run(&Launch::new(items), &[Bytes(x, 0), Number(w), Number(h), Bytes(y, 0)]));
                }
            }
        }
    }
    assert!(tally.done > 200 && tally.traps > 50, "{tally:?}");
}

#[test]
fn in_place() {
    let pair = Pair::new(
        "
kernel @in_place(%y: inout i8x4, %w: i32) {
^entry:
  %i = item_id
  %j = add.i32 %i, %w
  %v = load %y[%i]
  %r = add.i8x4 %v, %v
  store %r, %y[%j]
  ret
}",
        "
kernel @in_place(%y: inout i8x4, %w: i32) groups 4 {
  stream %v_s: in i8x16 of %y, 4 bytes at 4 * item
  stream %r_s: out i8x16 of %y, 4 bytes at 4 * item + 4 * %w
^entry:
  %g = item_id
  %v = load %v_s[%g]
  %r = add.i8x16 %v, %v
  store %r, %r_s[%g]
  ret
}",
    );
    let mut tally = Tally::default();
    for items in 0..14 {
        for w in [0, 1, 2, 5, 14, u32::MAX, u32::MAX - 3] {
            for bytes in [56, 40, 120] {
                tally.count(&pair.run(&Launch::new(items), &[Bytes(bytes, 0), Number(w)]));
            }
        }
    }
    assert!(tally.done > 50 && tally.traps > 50 && tally.races > 50, "{tally:?}");
}

/// A uniform stream has one element for all items. A store to it by all items is a same-value race;
/// a store by one item is no race.
#[test]
fn a_uniform_store() {
    let pair = Pair::new(
        "
kernel @last(%w: i32, %y: out i32) {
^entry:
  %n = item_count
  store %n, %y[%w]
  ret
}",
        "
kernel @last(%w: i32, %y: out i32) groups 1 {
  stream %n_s: uniform out i32 of %y, 4 bytes at 4 * %w
^entry:
  %n = item_count
  store %n, %n_s
  ret
}",
    );
    for items in 0..4 {
        let run = |races| pair.run(&Launch { races, ..Launch::new(items) }, &[Number(1), Bytes(8, 0)]);
        assert!(matches!(run(RaceCheck::On), Outcome::Done(..)));
        let is_race = matches!(run(RaceCheck::Strict), Outcome::Fault(Fault::Race(race)) if race.is_same_value);
        assert_eq!(is_race, items > 1);
    }
}

#[test]
fn alignment_bounds_and_direction() {
    let pair = |align: &str| {
        let plain = format!(
            "
kernel @store(%x: in i8, %w: i32, %y: out i8) {{
^entry:
  %i = item_id
  %j = add.i32 %i, %w
  %v = load.i32 %x[%i]{align}
  %one = const.i64 1
  %q = ptr_add %x, %one
  store.i32 %v, %q[%j] step 1 offset
  ret
}}"
        );
        let plain = plain.replace(" offset", if align.is_empty() { " align 1" } else { " align 4" });
        let other = if align.is_empty() { " align 1" } else { "" };
        let load = if align.is_empty() { " align 1" } else { align };
        let packed = format!(
            "
kernel @store(%x: in i8, %w: i32, %y: out i8) groups 1 {{
  stream %v_s: in i32 of %x, 4 bytes{load} at 1 * item
  stream %q_s: out i32 of %x, 4 bytes{other} at 1 * item + 1 * %w offset 1
^entry:
  %g = item_id
  %v = load %v_s[%g]
  store %v, %q_s[%g]
  ret
}}"
        );
        Pair::new(&plain, &packed)
    };
    let given = |beyond, w| [Bytes(16, beyond), Number(w), Bytes(4, 0)];
    let (loose, strict) = (pair(""), pair(" align 4"));
    let run = |pair: &Pair, beyond, w| pair.run(&Launch::new(3), &given(beyond, w)).trap().unwrap();
    assert_eq!(run(&loose, 0, 2), (0, TrapKind::ReadOnly { address: BASE + 3, param: 0 }));
    assert_eq!(run(&loose, 0, 12), (0, TrapKind::OutOfBounds { address: BASE + 13, bytes: 4 }));
    assert_eq!(run(&strict, 1, 12), (0, TrapKind::Misaligned { address: BASE + 1, align: 4 }));
    assert_eq!(run(&strict, 0, 12), (0, TrapKind::Misaligned { address: BASE + 13, align: 4 }));
    assert_eq!(run(&strict, 0, 15), (0, TrapKind::OutOfBounds { address: BASE + 16, bytes: 4 }));
    assert_eq!(run(&strict, 0, 3), (0, TrapKind::ReadOnly { address: BASE + 4, param: 0 }));
}

#[test]
fn arguments_are_those_of_the_plain_kernel() {
    let pair = next();
    let refused = |given: &[Given]| pair.run(&Launch::new(4), given);
    let count = |found| Outcome::Fault(Fault::Args(ArgError::Count { expected: 3, found }));
    assert_eq!(refused(&[]), count(0));
    assert_eq!(refused(&[Bytes(4, 0), Number(1), Bytes(4, 0), Bytes(64, 0), Bytes(64, 0), Bytes(64, 0)]), count(6));
    let kind = Outcome::Fault(Fault::Args(ArgError::Kind { param: 1, expected: "scalar" }));
    assert_eq!(refused(&[Bytes(4, 0), Bytes(4, 0), Bytes(4, 0)]), kind);
}

/// Returns the trap of a packed kernel with two streams and the given body.
fn wrong(body: &str) -> Option<(u32, TrapKind)> {
    let source = format!(
        "
kernel @k(%x: in i8x4, %y: out i8x4) groups 4 {{
  stream %v_s: in i8x4 of %x, 4 bytes at 4 * item
  stream %y_s: out i8x16 of %y, 4 bytes at 4 * item
^entry:
  %g = item_id
  %two = const.i32 2
  %at = shl.i32 %g, %two
{body}
  ret
}}"
    );
    outcome(&kernel(&source), &Launch::new(9), &[Bytes(36, 0), Bytes(36, 0)]).trap()
}

#[test]
fn elements_are_accessed_in_order_and_all() {
    let four =
        "  %a = load %v_s[%at]\n  %b = load %v_s[%at + 1]\n  %c = load %v_s[%at + 2]\n  %d = load %v_s[%at + 3]\n";
    let store = "  %r = concat.i8x16 %a, %b, %c, %d\n  store %r, %y_s[%g]\n";
    assert_eq!(wrong(&format!("{four}{store}")), None);
    let order = |stream, at, next| Some((0, TrapKind::OutOfOrder { stream, at, next }));
    assert_eq!(wrong(&format!("{four}{store}").replace("+ 2", "+ 1")), order(0, 4, 8));
    assert_eq!(wrong(&format!("{four}{store}").replace("+ 1", "+ 2")), order(0, 8, 4));
    assert_eq!(wrong(&format!("{four}{store}{}", store.replace("%r", "%s"))), order(1, 0, 16));
    let three = four.replace("  %d = load %v_s[%at + 3]\n", "");
    assert_eq!(wrong(&format!("{three}{}", store.replace("%d", "%c"))), order(0, 16, 12));
    // The store of group 0 goes to the part of the stream that belongs to group 2, which is out of bounds for group 0.
    let (first, kind) =
        wrong(&format!("{four}{store}").replace("%at]", "%g] step 16").replace("%g]\n", "%two]\n")).unwrap();
    assert_eq!(first, 0);
    assert!(matches!(kind, TrapKind::OutOfBounds { bytes: 16, .. }), "{kind}");
    let (item, kind) = wrong(&format!("{four}{store}").replace("%at", "%g")).unwrap();
    assert_eq!(item, 4);
    assert!(matches!(kind, TrapKind::OutOfBounds { bytes: 4, .. }), "{kind}");
    assert_eq!(
        TrapKind::OutOfOrder { stream: 1, at: 16, next: 0 }.to_string(),
        "stream 1 is not accessed in order: reached byte 16 of the group, but byte 0 is next"
    );
}

/// A fault of a lower item takes precedence over a trap of a group. A trap of a group is attributed
/// to the group's first item.
#[test]
fn traps_of_a_group() {
    let source = "
kernel @k(%x: in i8x4, %y: out i8x4) groups 4 {
  stream %v_s: in i8x16 of %x, 4 bytes at 4 * item
  stream %y_s: out i8x16 of %y, 4 bytes at 4 * item
^entry:
  %g = item_id
  %v = load %v_s[%g]
  store %v, %y_s[%g]
  %zero = const.i32 0
  %first = icmp.eq.i32 %g, %zero
  br_if %first, ^end, ^loop
^loop:
  br ^loop
^end:
  ret
}";
    let kernel = kernel(source);
    let run = |x| outcome(&kernel, &Launch::new(12), &[Bytes(x, 0), Bytes(48, 0)]).trap().unwrap();
    let budget = TrapKind::Budget { budget: 1 << 20 };
    assert_eq!(run(48), (4, budget.clone()));
    assert_eq!(run(20), (4, budget));
    assert_eq!(run(16), (4, TrapKind::OutOfBounds { address: BASE + 16, bytes: 4 }));
    assert_eq!(run(8), (2, TrapKind::OutOfBounds { address: BASE + 8, bytes: 4 }));
    // The stores come after the loop, so they do not trap for the group that never leaves the loop.
    let store = "  store %v, %y_s[%g]\n";
    let kernel = self::kernel(&source.replace(store, "").replace("^end:\n", &format!("^end:\n{store}")));
    let run = |y| outcome(&kernel, &Launch::new(12), &[Bytes(48, 0), Bytes(y, 0)]).trap().unwrap();
    assert_eq!(run(16), (4, TrapKind::Budget { budget: 1 << 20 }));
    assert_eq!(run(12), (3, TrapKind::OutOfBounds { address: 2 * BASE + 12, bytes: 4 }));
}
