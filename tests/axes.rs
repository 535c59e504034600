//! Tests of launches along several axes: the indices of items, the item whose trap is reported, and invalid calls.

use std::fmt::Write as _;
use std::num::NonZero;

use halfbyte::launch::{Engine, evaluate, execute};
use halfbyte::pipeline::Options;
use halfbyte::runtime::LaunchError;
use halfbyte::{HALU, Module, Shape, Sm, Target, VP1, ptx};

use crate::common::{halfbyte, halfbyte_on};
use crate::support::{agree, program};

/// Launch shapes: numbers of groups and group sizes. The extent along x is shorter or longer than a
/// row of the native engine, and is no multiple of the row.
const SHAPES: [([u32; 3], [u32; 3]); 16] = [
    ([1, 1, 1], [1, 1, 1]),
    ([3, 1, 1], [100, 1, 1]),
    ([2, 3, 2], [256, 1, 1]),
    ([2, 2, 1], [16, 16, 1]),
    ([3, 2, 1], [32, 8, 1]),
    ([1, 2, 2], [33, 3, 2]),
    ([1, 1, 300], [1, 1, 1]),
    ([1, 1, 1], [1, 1, 64]),
    ([1, 500, 1], [1, 1, 1]),
    ([5, 1, 3], [1, 7, 1]),
    ([7, 5, 3], [2, 1, 1]),
    ([1, 4, 1], [63, 1, 2]),
    ([2, 1, 2], [17, 5, 3]),
    ([0, 1, 1], [4, 4, 1]),
    ([1, 0, 7], [4, 4, 1]),
    ([40, 2, 1], [64, 2, 1]),
];

const OPS: [&str; 21] = [
    "item_id",
    "item_id.x",
    "item_id.y",
    "item_id.z",
    "local_id",
    "local_id.x",
    "local_id.y",
    "local_id.z",
    "group_id",
    "group_id.x",
    "group_id.y",
    "group_id.z",
    "group_size",
    "group_size.x",
    "group_size.y",
    "group_size.z",
    "group_count",
    "group_count.x",
    "group_count.y",
    "group_count.z",
    "item_count",
];

/// Returns a kernel that stores the result of each op as a 32-bit word, at the item's linear index in the launch.
fn places(ops: &[&str]) -> Module {
    let mut text = "kernel @places(%y: out i32) {\n^entry:\n  %i = item_id\n".to_owned();
    let _ = writeln!(text, "  %n = const.i32 {}\n  %at = mul.i32 %i, %n", ops.len());
    for (number, op) in ops.iter().enumerate() {
        let _ = writeln!(text, "  %v{number} = {op}\n  store %v{number}, %y[%at + {number}]");
    }
    text += "  ret\n}\n";
    Module::parse(&text).unwrap()
}

fn options(target: Target) -> Options {
    Options { several_axes: true, ..Options::new(target) }
}

/// All engines agree with the evaluator. Other tests compare the evaluator with the definition of the indices.
#[test]
fn all_engines_agree_on_indices() {
    // Tests each special register alone and all of them together, because native code depends on
    // which special registers a kernel reads.
    let alone = OPS.map(|op| vec![op]);
    for target in [HALU, ptx(Sm::DEFAULT)] {
        for ops in
            alone.iter().map(Vec::as_slice).chain([&OPS[..], &["item_id.x", "group_id.y"], &["local_id", "item_id.y"]])
        {
            let module = places(ops);
            let program = program(&module, &options(target)).unwrap();
            for shape in SHAPES.map(Shape::from) {
                let args = [vec![0; 4 * ops.len() * shape.items().unwrap() as usize]];
                agree(&module, &program, shape, &args).unwrap_or_else(|error| panic!("{ops:?}, {shape}: {error}"));
            }
        }
    }
}

/// Several threads execute the items, and diverged items reconverge.
#[test]
fn items_diverge_by_their_indices() {
    let text = "kernel @k(%y: out i32) {
^entry:
  %i = item_id
  %x = item_id.x
  %l = local_id.y
  %zero = const.i32 0
  %one = const.i32 1
  %odd = and.i32 %x, %one
  %c = icmp.eq.i32 %odd, %zero
  br_if %c, ^loop(%zero, %l), ^done(%x)
^loop(%s: i32, %n: i32):
  %z = group_id.z
  %a = add.i32 %s, %n
  %b = add.i32 %a, %z
  %m = sub.i32 %n, %one
  %more = icmp.gt_s.i32 %m, %zero
  br_if %more, ^loop(%b, %m), ^done(%b)
^done(%v: i32):
  %w = local_id
  %r = add.i32 %v, %w
  store %r, %y[%i]
  ret
}
";
    let module = Module::parse(text).unwrap();
    let loaded = program(&module, &options(HALU)).unwrap();
    for shape in SHAPES.map(Shape::from) {
        let args = [vec![0; 4 * shape.items().unwrap() as usize]];
        agree(&module, &loaded, shape, &args).unwrap_or_else(|error| panic!("{shape}: {error}"));
        let mut expected = args.to_vec();
        evaluate(&module.ir().kernels[0], shape, &mut expected).unwrap();
        let mut found = args.to_vec();
        let engine = Engine::Jit { threads: NonZero::new(3).unwrap() };
        execute(loaded.kernel("k").unwrap(), engine, shape, &mut found).unwrap();
        assert_eq!(expected, found, "{shape}");
    }
}

/// If several items trap, the reported trap is that of the lowest group. In this group, it is that
/// of the lowest linear local index. `item_id` and the number of threads have no influence.
#[test]
fn the_trap_is_that_of_the_lowest_group() {
    let text = "kernel @k(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %t = load %x[%i]
  store %i, %y[%t]
  ret
}
";
    let module = Module::parse(text).unwrap();
    let (grid, block) = ([3, 4, 2], [24, 6, 3]);
    let shape = Shape::from((grid, block));
    let items = shape.items().unwrap();
    let linear = |number: u32| {
        let place = shape.place(number);
        let at = [0, 1, 2].map(|axis| place.group[axis] * block[axis] + place.local[axis]);
        at[0] + grid[0] * block[0] * (at[1] + grid[1] * block[1] * at[2])
    };
    for trapping in [[17, 40], [433, 432], [items - 1, 5000], [2600, 2591]] {
        // Each item stores to its own element. The items in `trapping` compute an index that is out of bounds.
        let mut x: Vec<u32> = (0..items).collect();
        trapping.iter().for_each(|&number| x[linear(number) as usize] = u32::MAX / 8);
        let x: Vec<u8> = x.into_iter().flat_map(u32::to_le_bytes).collect();
        let args = [x, vec![0; 4 * items as usize]];
        let first = *trapping.iter().min().unwrap();
        let fault = evaluate(&module.ir().kernels[0], shape, &mut args.to_vec()).unwrap_err();
        assert!(matches!(&fault, halfbyte::ir::eval::Fault::Trap(trap) if trap.item == first), "{fault} {trapping:?}");
        for target in [HALU, ptx(Sm::DEFAULT)] {
            let program = program(&module, &options(target)).unwrap();
            let threads = [1, 2, 5].map(|threads| Engine::Jit { threads: NonZero::new(threads).unwrap() });
            for engine in threads.into_iter().chain([Engine::Interp]) {
                let kernel = program.kernel("k").unwrap();
                if !kernel.runs_on(engine) {
                    continue;
                }
                match execute(kernel, engine, shape, &mut args.to_vec()) {
                    Err(LaunchError::Trap(trap)) => {
                        assert_eq!(trap.item, first, "{target} {engine}");
                        assert!(trap.to_string().contains(&shape.name(first).to_string()), "{trap}");
                    }
                    other => panic!("{target} {engine}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn code_for_one_axis_is_launched_along_x_only() {
    let along = "a grid of 2 x 2 x 1 blocks of 4 x 1 x 1 items has more than 1 along y or z; the kernel was compiled for launches along x";
    let shape = Shape::from(([2, 2, 1], [4, 1, 1]));
    let number = "kernel @k(%y: out i32) {\n^entry:\n  %i = item_id\n  store %i, %y[%i]\n  ret\n}\n";
    let module = Module::parse(number).unwrap();
    for target in [VP1, ptx(Sm::DEFAULT)] {
        let program = program(&module, &Options::new(target)).unwrap();
        let refused = execute(&program.kernels()[0], Engine::Interp, shape, &mut [vec![0; 64]]).unwrap_err();
        assert!(refused.to_string().contains(along), "{refused}");
    }
    // A kernel that reads an index along an axis is compiled for launches along several axes.
    let named = number.replace("%i = item_id", "%z = group_count.z\n  %i = item_id");
    let module = Module::parse(&named).unwrap();
    let program = program(&module, &Options::new(ptx(Sm::DEFAULT))).unwrap();
    agree(&module, &program, shape, &[vec![0; 64]]).unwrap();
}

const TILE: &str = "kernel @tile(%y: out i32) {
^entry:
  %i = item_id
  %x = item_id.x
  %r = item_id.y
  %k = const.i32 100
  %s = mul.i32 %r, %k
  %v = add.i32 %s, %x
  store %v, %y[%i]
  ret
}
";

#[test]
fn run_lines_and_calls_have_grids_and_blocks() {
    let lines = "; run: halu, ptx: @tile grid=2,2 block=2,1 y=zeros(8) -> y=[0, 1, 2, 3, 100, 101, 102, 103]
; run: halu, ptx: @tile grid=1 block=2,2,1 y=zeros(4) -> y=[0, 1, 100, 101]
; run: halu, ptx: @tile grid=1,2,2 block=1 -> y=[0, 100, 0, 100]
; run: halu, ptx: @tile items=3 -> y=[0, 1, 2]
; then: @tile grid=3,1 block=1,1,1 -> y=[0, 1, 2]
";
    let checked = halfbyte_on(&["check", "-"], format!("{TILE}{lines}").as_bytes());
    assert!(checked.output().contains("1 passed"), "{}", checked.out);
    for (line, message) in [
        ("grid=4,2,1,1 block=1", "expected `block`"),
        ("grid=4", "expected `block`"),
        ("grid=x block=1", "a number along an axis"),
        ("grid=1 block=4294967296", "is too large"),
        ("grid=65536,65536 block=1", "more work items than 32 bits can number"),
        ("grid=1 block=2 y=zeros(1)", "out of bounds"),
    ] {
        let text = format!("{TILE}; run: halu: @tile {line}\n");
        halfbyte_on(&["check", "-"], text.as_bytes()).fails(1, message);
    }
    let run = |target: &str, more: &[&str]| {
        halfbyte_on(&[&["run", "-", "--target", target, "--arg", "y=zeros(8)"], more].concat(), TILE.as_bytes())
    };
    for target in ["ir", "halu", "ptx"] {
        let called = run(target, &["--grid", "2,2", "--block", "2"]);
        assert_eq!(called.output(), "y=[0, 1, 2, 3, 100, 101, 102, 103]\n", "{target}");
        run(target, &["--grid", "2,2", "--block", "2,2,2"]).fails(1, "item (0, 0, 1) of group (0, 0, 0)");
    }
    for (shape, message) in [
        (["--grid", "4,2,1,1", "--block", "1"], "at most three numbers"),
        (["--grid", "4", "--block", "0"], "at least one item along each axis"),
        (["--grid", "4", "--block", "2,0"], "at least one item along each axis"),
        (["--grid", "x", "--block", "1"], "`x`: invalid digit"),
        (["--grid", "2x2", "--block", "1"], "`2x2`: invalid digit"),
        (["--grid", "1,", "--block", "1"], "cannot parse integer from empty string"),
        (["--grid", "65536,65536", "--block", "1"], "more work items than 32 bits can number"),
        (["--grid", "1", "--items", "1"], "--items cannot be combined with --grid and --block"),
    ] {
        run("halu", &shape).fails(2, message);
    }
    run("halu", &["--grid", "1"]).fails(2, "give both --grid and --block, or --items");
    // A launch of PTX must not exceed the limits that a GPU has.
    run("ptx", &["--grid", "1", "--block", "1025"]).fails(1, "exceeds the limits of a GPU");
    run("ptx", &["--grid", "1,65536", "--block", "1"]).fails(1, "exceeds the limits of a GPU");
    run("vp1", &["--items", "8"]).fails(1, "launches of this target are one-dimensional, so there is no `item_id.y`");
    halfbyte(&["run", "examples/axpy.hb", "--target", "halu", "--grid", "1"]).fails(2, "--block");
}
