//! Tests of the evaluation of kernels item by item: control flow, memory, traps, races, the budget and intrinsics.

use halfbyte_abi::cooperative::SharedLocation;
use halfbyte_abi::{ShapeError, buffer_base};
use halfbyte_ir::eval::{
    Access, Arg, ArgError, Fault, IntrinsicFn, Intrinsics, Launch, Operand, Prepared, Race, Trap, TrapKind,
};
use halfbyte_ir::{Inst, IntrinsicData, Kernel, Op, Span, Type, text};

/// Address of the buffer of parameter 0. The buffer of parameter n is at n + 1 times this address.
const BASE: u64 = 1 << 40;

fn kernel(source: &str) -> Kernel {
    match text::read(source) {
        Ok(mut module) => module.kernels.remove(0),
        Err(list) => panic!("{source}\n{list:?}"),
    }
}

/// Runs the only kernel of a text.
fn run(source: &str, launch: &Launch<'_>, args: &mut [Arg<'_>]) -> Result<(), Fault> {
    Prepared::new(&kernel(source)).run(launch, args)
}

/// Runs a kernel that traps. Returns the trap and the source text of its span.
fn trap<'s>(source: &'s str, launch: &Launch<'_>, args: &mut [Arg<'_>]) -> (Trap, &'s str) {
    match run(source, launch, args) {
        Err(Fault::Trap(trap)) => {
            let covered = &source[trap.span.start as usize..trap.span.end as usize];
            (trap, covered)
        }
        other => panic!("{other:?}"),
    }
}

/// Returns the first instruction with an op, and its span.
fn find(kernel: &Kernel, op: Op) -> (Inst, Span) {
    let mut all = kernel.insts.iter().filter(|(_, data)| data.op == op);
    let (inst, data) = all.next().unwrap();
    assert!(all.next().is_none());
    (inst, data.span)
}

fn buffer(param: u64, bytes: &mut [u8]) -> Arg<'_> {
    let base = BASE * (param + 1);
    Arg::Buffer { base, bytes }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn axpy() {
    let source = "
kernel @axpy(%a: f16x2, %x: in f16x2, %y: inout f16x2) {
^entry:
  %i  = item_id
  %xi = load %x[%i]
  %yi = load %y[%i]
  %r  = ffma.f16x2 %a, %xi, %yi
  store %r, %y[%i]
  ret
}";
    let mut x = words(&[0x3c00_3c00, 0x4200_4200]);
    let mut y = words(&[0x3c00_3c00, 0]);
    let mut args = [Arg::scalar(0x4000_4000), buffer(1, &mut x), buffer(2, &mut y)];
    run(source, &Launch::new(2), &mut args).unwrap();
    assert_eq!(y, words(&[0x4200_4200, 0x4600_4600]));
}

/// Computes Fibonacci numbers in a loop whose block parameters are assigned simultaneously. Item n
/// executes n iterations.
const FIBONACCI: &str = "
kernel @fibonacci(%out: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  br ^head(%i, %zero, %one)
^head(%n: i32, %x: i32, %y: i32):
  %more = icmp.ne.i32 %n, %zero
  br_if %more, ^body, ^done
^body:
  %sum = add.i32 %x, %y
  %less = sub.i32 %n, %one
  br ^head(%less, %y, %sum)
^done:
  store %x, %out[%i]
  ret
}";

#[test]
fn loops() {
    // A launch fills an `out` buffer with zeros before execution.
    let mut bytes = [0xff; 36];
    run(FIBONACCI, &Launch::new(8), &mut [buffer(0, &mut bytes)]).unwrap();
    assert_eq!(bytes.as_slice(), words(&[0, 1, 1, 2, 3, 5, 8, 13, 0]));
}

#[test]
fn budget_counts_backward_branches_of_an_item() {
    let mut bytes = [0; 36];
    let mut args = [buffer(0, &mut bytes)];
    let launch = |items| Launch { budget: 5, ..Launch::new(items) };
    run(FIBONACCI, &launch(6), &mut args).unwrap();
    let (trap, text) = trap(FIBONACCI, &launch(8), &mut args);
    assert_eq!((trap.item, trap.kind), (6, TrapKind::Budget { budget: 5 }));
    assert_eq!(text, "br ^head(%less, %y, %sum)");
}

/// A branch to its own block is a backward branch, and a branch to a later block is not.
#[test]
fn allows_no_backward_branch_with_a_budget_of_zero() {
    let launch = Launch { budget: 0, ..Launch::new(3) };
    let forward = "kernel @k() {\n^a:\n  br ^b\n^b:\n  ret\n}";
    run(forward, &launch, &mut []).unwrap();
    let itself = "kernel @k() {\n^a:\n  br ^b\n^b:\n  br ^b\n}";
    let (trap, _) = trap(itself, &launch, &mut []);
    assert_eq!(trap.item, 0);
    assert_eq!(trap.to_string(), "item 0: takes more than 0 backward branches");
}

#[test]
fn block_parameters_swap() {
    let source = "
kernel @swap(%out: out i8x16) {
^entry:
  %zero = const.i32 0
  %one = const.i32 1
  %p = const.i8x16 [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
  %q = const.i8x16 7
  br ^head(%zero, %p, %q)
^head(%n: i32, %x: i8x16, %y: i8x16):
  %next = add.i32 %n, %one
  %last = icmp.eq.i32 %n, %one
  br_if %last, ^done, ^head(%next, %y, %x)
^done:
  store %x, %out
  store %y, %out[1]
  ret
}";
    let mut bytes = [0; 32];
    run(source, &Launch::new(1), &mut [buffer(0, &mut bytes)]).unwrap();
    assert_eq!(bytes[..16], [7; 16]);
    assert!(bytes[16..].iter().copied().eq(0..16));
}

#[test]
fn switch_and_where_the_item_is() {
    let source = "
kernel @where(%out: out i32) {
^entry:
  %i = item_id
  %count = item_count
  %local = local_id
  %group = group_id
  %size = group_size
  %groups = group_count
  switch %i, ^join(%count), [4: ^join(%local), 5: ^join(%group), 6: ^join(%size), 7: ^join(%groups)]
^join(%v: i32):
  store %v, %out[%i]
  ret
}";
    let mut bytes = [0; 36];
    run(source, &Launch::new((3, 3)), &mut [buffer(0, &mut bytes)]).unwrap();
    assert_eq!(bytes.as_slice(), words(&[9, 9, 9, 9, 1, 1, 3, 3, 9]));
}

/// Compares every op for positions with its definition, in a launch with items along all axes.
#[test]
fn returns_positions_along_each_axis() {
    let (grid, block) = ([2, 3, 2], [3, 2, 4]);
    let all: u32 = grid.iter().chain(&block).product();
    let boxes =
        |[x, y, z]: [u32; 3]| (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])));
    let linear = |[x, y, z]: [u32; 3], [nx, ny, _]: [u32; 3]| x + nx * (y + ny * z);
    let whole = [0, 1, 2].map(|axis| grid[axis] * block[axis]);
    let ops = ["item_id", "local_id", "group_id", "group_size", "group_count"];
    for op in ops {
        for (axis, suffix) in [".x", ".y", ".z", ""].into_iter().enumerate() {
            let source = format!(
                "kernel @k(%out: out i32) {{\n^entry:\n  %s = group_size\n  %g = group_id\n  %l = local_id\n  \
                 %b = mul.i32 %g, %s\n  %i = add.i32 %b, %l\n  %v = {op}{suffix}\n  store %v, %out[%i]\n  ret\n}}"
            );
            let mut bytes = vec![0; 4 * all as usize];
            run(&source, &Launch::new((grid, block)), &mut [buffer(0, &mut bytes)]).unwrap();
            let mut want = Vec::new();
            for group in boxes(grid) {
                for local in boxes(block) {
                    let item = [0, 1, 2].map(|axis| group[axis] * block[axis] + local[axis]);
                    let (of, within) = match op {
                        "item_id" => (item, whole),
                        "local_id" => (local, block),
                        "group_id" => (group, grid),
                        "group_size" => (block, [0; 3]),
                        _ => (grid, [0; 3]),
                    };
                    want.push(match of.get(axis) {
                        Some(&along) => along,
                        None if within == [0; 3] => of.iter().product(),
                        None => linear(of, within),
                    });
                }
            }
            assert_eq!(bytes, words(&want), "{op}{suffix}");
        }
    }
}

/// The reported trap is that of the lowest group, and within the group that of the lowest local
/// number. The order by `item_id` is different.
#[test]
fn the_first_group_traps_first() {
    let source = "
kernel @k(%out: out i32) {
^entry:
  %i = item_id
  %bits = const.i32 0x14
  %zero = const.i32 0
  %some = and.i32 %i, %bits
  %traps = icmp.ne.i32 %some, %zero
  br_if %traps, ^trap, ^done
^trap:
  store %i, %out[%bits]
  ret
^done:
  ret
}";
    // In group 0, item (0, 0, 1) is the first to trap. Its launch number is 4, and its `item_id` is
    // 16. The first item of group 1 has `item_id` 4.
    let mut bytes = [0; 4];
    let fault = run(source, &Launch::new(([2, 2, 1], [4, 1, 2])), &mut [buffer(0, &mut bytes)]);
    assert!(matches!(fault, Err(Fault::Trap(Trap { item: 4, .. }))), "{fault:?}");
}

#[test]
fn masks_lie_in_whole_bytes() {
    let source = "
kernel @masks(%x: in i1x4, %v: in i1x16, %y: out i1x4, %w: out i1x16) {
^entry:
  %i = item_id
  %m = load %x[%i]
  %n = not.i1x4 %m
  store %n, %y[%i]
  %l = load %v[%i]
  store %l, %w[%i]
  ret
}";
    let (mut x, mut v) = ([0xa6, 0xff], [0x34, 0x12, 0x01, 0x80]);
    let (mut y, mut w) = ([0xff; 2], [0xff; 4]);
    let mut args = [buffer(0, &mut x), buffer(1, &mut v), buffer(2, &mut y), buffer(3, &mut w)];
    run(source, &Launch::new(2), &mut args).unwrap();
    assert_eq!((y, w), ([0x09, 0x00], v));
}

/// The index times the scale wraps at 2^32. The offset and `ptr_add` use 64-bit arithmetic.
#[test]
fn addresses() {
    let source = "
kernel @addresses(%x: in i32, %y: out i32) {
^entry:
  %i = const.i32 0x40000002
  %v = load %x[%i - 1]
  store %v, %y
  %eight = const.i64 8
  %q = ptr_add %y, %eight
  store.i32 %v, %q[-1]
  ret
}";
    let (mut x, mut y) = (words(&[1, 2, 3]), words(&[9; 3]));
    let mut args = [buffer(0, &mut x), buffer(1, &mut y)];
    run(source, &Launch::new(1), &mut args).unwrap();
    assert_eq!(y, words(&[2, 2, 0]));
}

#[test]
fn every_type_through_memory() {
    for &ty in Type::ALL.iter().filter(|ty| **ty != Type::PTR) {
        let source = format!(
            "kernel @copy(%x: in {ty}, %y: out {ty}) {{
^entry:
  %i = item_id
  %v = load %x[%i]
  store %v, %y[%i]
  ret
}}"
        );
        let used = if ty.bits() < 8 { (1 << ty.bits()) - 1 } else { 0xff };
        let bytes = (0..3 * ty.bytes()).map(|i| (0x5d + 37 * i) as u8 & used);
        let mut x: Vec<u8> = bytes.collect();
        let mut y = vec![0; x.len()];
        let mut args = [buffer(0, &mut x), buffer(1, &mut y)];
        run(&source, &Launch::new(3), &mut args).unwrap();
        assert_eq!(x, y, "{ty}");
    }
}

#[test]
fn the_first_instruction_of_the_lowest_item_traps() {
    let source = "
kernel @copy(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  store %v, %y[%i]
  ret
}";
    let sizes = |x: usize, y: usize| {
        let (mut x, mut y) = (vec![0; x], vec![0; y]);
        let mut args = [buffer(0, &mut x), buffer(1, &mut y)];
        trap(source, &Launch::new(8), &mut args)
    };
    let at = |address| TrapKind::OutOfBounds { address, bytes: 4 };
    let (load, store) = (find(&kernel(source), Op::Load), find(&kernel(source), Op::Store));
    for (x, y, item, (inst, span), address, text) in [
        (12, 32, 3, load, BASE + 12, "load %x[%i]"),
        (32, 8, 2, store, 2 * BASE + 8, "store %v, %y[%i]"),
        (8, 8, 2, load, BASE + 8, "load %x[%i]"),
        (0, 0, 0, load, BASE, "load %x[%i]"),
    ] {
        let kind = at(address);
        let want = Trap { item, inst, span, kind };
        let (trap, covered) = sizes(x, y);
        assert_eq!(trap, want);
        assert!(covered.ends_with(text), "{covered}");
    }
    let shown = "item 3: 4 bytes at 0x1000000000c are not within a buffer";
    assert_eq!(sizes(12, 32).0.to_string(), shown);
}

#[test]
fn traps_on_invalid_accesses() {
    // Runs an access to a buffer of 16 bytes at a byte offset.
    let access = |direction: &str, op: &str| {
        let source = format!(
            "kernel @k(%x: {direction} i8 align 8) {{
^entry:
  %v = const.i32 1
  %w = const.i64 1
  {op}
  ret
}}"
        );
        let mut bytes = [0; 16];
        match run(&source, &Launch::new(1), &mut [buffer(0, &mut bytes)]) {
            Ok(()) => None,
            Err(Fault::Trap(trap)) => Some(trap.kind),
            Err(other) => panic!("{other}"),
        }
    };
    for [narrow, wide] in [["%l = load.i32 %x", "%l = load.i64 %x"], ["store.i32 %v, %x", "store.i64 %w, %x"]] {
        let access = |op: &str, place: &str| access("inout", &format!("{op}{place}"));
        assert_eq!(access(wide, "[8] align 8"), None);
        let outside = |address, bytes| Some(TrapKind::OutOfBounds { address, bytes });
        assert_eq!(access(wide, "[9] align 1"), outside(BASE + 9, 8));
        assert_eq!(access(narrow, "[-1] align 1"), outside(BASE - 1, 4));
        assert_eq!(access(narrow, "[13] align 1"), outside(BASE + 13, 4));
        // Alignment is checked before bounds.
        let (address, align) = (BASE + 18, 4);
        let kind = Some(TrapKind::Misaligned { address, align });
        assert_eq!(access(narrow, "[18] align 4"), kind);
        assert_eq!(access(narrow, "[6] align 2"), None);
    }
    // The verifier rejects stores to an `in` buffer, except through a computed address.
    let (address, param) = (BASE + 4, 0);
    let kind = Some(TrapKind::ReadOnly { address, param });
    let computed = "%four = const.i64 4\n  %q = ptr_add %x, %four\n  store.i32 %v, %q";
    assert_eq!(access("in", computed), kind);
    assert_eq!(access("out", computed), None);
    assert_eq!(access("in", "%l = load.i32 %x[4] align 4"), None);
}

/// Runs a kernel with four items and the given body. The items can access the same buffer.
fn share(body: &str) -> (Kernel, Result<(), Fault>) {
    let source = format!(
        "kernel @k(%y: inout i32) {{
^entry:
  %i = item_id
  {body}
  ret
}}"
    );
    let mut bytes = [0; 64];
    let result = run(&source, &Launch::new(4), &mut [buffer(0, &mut bytes)]);
    (kernel(&source), result)
}

#[test]
fn independent_items_do_not_race() {
    for body in [
        "store %i, %y[%i]",
        "%v = load %y[%i]\n  store %v, %y[%i]",
        "store %i, %y[%i]\n  %v = load %y[%i]\n  store %v, %y[%i]",
        "%v = load %y",
        "%v = load %y[%i + 4]\n  store %v, %y[%i]\n  %w = load %y[%i + 4]",
    ] {
        assert_eq!(share(body).1, Ok(()), "{body}");
    }
}

#[test]
fn races() {
    use Op::{Load, Store};
    for (body, offset, first, second) in [
        // Item 1 reads a 32-bit word that item 0 wrote.
        ("store %i, %y[%i + 1]\n  %v = load %y[%i]", 4, Store, Load),
        // Item 1 writes a 32-bit word that item 0 read.
        ("%v = load %y[%i + 1]\n  store %v, %y[%i]", 4, Load, Store),
        ("%v = load %y[4]\n  store %v, %y[%i + 3]", 16, Load, Store),
        // The 32-bit words that two items write overlap.
        ("store %i, %y[%i] step 2 align 2", 2, Store, Store),
        // All items write the same 32-bit word.
        ("store %i, %y[2]", 8, Store, Store),
    ] {
        let (kernel, result) = share(body);
        let access = |item, op| {
            let (inst, span) = find(&kernel, op);
            Access { item, inst, span, write: op == Store }
        };
        let (place, first, second) = (SharedLocation::Buffer(0), access(0, first), access(1, second));
        let race = Race { place, offset, first, second, is_same_value: false };
        assert_eq!(result, Err(Fault::Race(race)), "{body}");
    }
    let shown = "race: item 1 writes byte 8 of the buffer of parameter 0, which item 0 also writes";
    let (_, result) = share("store %i, %y[2]");
    assert_eq!(result.unwrap_err().to_string(), shown);
}

struct Doubling;

impl Intrinsics for Doubling {
    fn resolve<'a>(
        &'a self,
        intrinsic: &'a IntrinsicData,
        args: &[Type],
        result: Type,
    ) -> Result<IntrinsicFn<'a>, String> {
        assert_eq!((args, result), (&[Type::I8X4][..], Type::I8X4));
        match intrinsic.text.as_str() {
            "double $d, $0" => Ok(Box::new(|args: &[Operand<'_>], out: &mut [u64]| {
                for (out, lane) in out.iter_mut().zip(args[0].lanes) {
                    *out = lane * 2;
                }
            })),
            other => Err(format!("`{other}` is not a valid instruction")),
        }
    }
}

#[test]
fn intrinsics() {
    let source = |text: &str| {
        format!(
            "kernel @k(%a: i8x4, %y: out i8x4) {{
^entry:
  %r = intrinsic.i8x4 halu \"{text}\", %a
  store %r, %y
  ret
}}"
        )
    };
    let (double, treble) = (source("double $d, $0"), source("treble $d, $0"));
    let mut bytes = [0; 4];
    let mut args = [Arg::scalar(0x80_40_7f_01), buffer(1, &mut bytes)];
    let launch = Launch { intrinsics: Some(&Doubling), ..Launch::new(1) };
    let (unknown, _) = trap(&treble, &launch, &mut args);
    assert_eq!(unknown.inst, find(&kernel(&treble), Op::Intrinsic).0);
    assert_eq!(unknown.to_string(), "item 0: `treble $d, $0` is not a valid instruction");
    let (without, _) = trap(&double, &Launch::new(1), &mut args);
    let reason = "no implementation of halu instructions is available".into();
    assert_eq!(without.kind, TrapKind::NoIntrinsic { reason });
    run(&double, &launch, &mut args).unwrap();
    assert_eq!(bytes, [0x02, 0xfe, 0x80, 0x00]);
}

#[test]
fn arguments_must_fit() {
    let source = "kernel @k(%s: i32, %x: in i32, %y: out i32) {\n^entry:\n  ret\n}";
    let mut memory = [[0; 8], [0; 8]];
    let mut place = |bases: [u64; 2], lens: [usize; 2], shape: (u32, u32)| {
        let [x, y] = &mut memory;
        let buffer = |base, bytes| Arg::Buffer { base, bytes };
        let mut args = [Arg::scalar(0), buffer(bases[0], &mut x[..lens[0]]), buffer(bases[1], &mut y[..lens[1]])];
        let launch = Launch::new(shape);
        run(source, &launch, &mut args)
    };
    let refused = |error| Err(Fault::Args(error));
    assert_eq!(place([0, 8], [8, 8], (1, 1)), Ok(()));
    let many = (2, 1 << 31);
    assert_eq!(place([0, 8], [8, 8], many), refused(ShapeError::Items(many.into()).into()));
    let overlap = |first, second| refused(ArgError::Overlap { first, second });
    assert_eq!(place([0, 4], [8, 8], (1, 1)), overlap(1, 2));
    assert_eq!(place([4, 0], [8, 8], (1, 1)), overlap(1, 2));
    assert_eq!(place([16, u64::MAX - 3], [8, 8], (1, 1)), overlap(2, 2));
    let (param, base, align) = (1, 2, 4);
    let error = ArgError::Align { param, base, align };
    assert_eq!(place([2, 16], [8, 8], (1, 1)), refused(error));
    let (param, len, elem) = (2, 7, 4);
    let error = ArgError::Size { param, len, elem };
    assert_eq!(place([0, 16], [8, 7], (1, 1)), refused(error));
    let scalars = |count| {
        let mut args: Vec<_> = (0..count).map(|_| Arg::scalar(0)).collect();
        run(source, &Launch::new(1), &mut args)
    };
    let (expected, found) = (3, 1);
    assert_eq!(scalars(1), refused(ArgError::Count { expected, found }));
    let (param, expected) = (1, "buffer");
    assert_eq!(scalars(3), refused(ArgError::Kind { param, expected }));
}

#[test]
fn no_items_do_nothing() {
    let source = "kernel @k(%y: inout i32) {\n^entry:\n  %i = item_id\n  store %i, %y[%i]\n  ret\n}";
    let mut bytes = [7; 4];
    run(source, &Launch::new(0), &mut [buffer(0, &mut bytes)]).unwrap();
    assert_eq!(bytes, [7; 4]);
}

const TABLE: &str = "
kernel @table(%x: in i32, %y: inout i32, %t: in i16 = [10, -20, 30], %u: in f32 = [1.0]) {
^entry:
  %i = item_id
  %at = load %x[%i]
  %v = load %t[%at]
  %w = sext.i32 %v
  store %w, %y[%i]
  ret
}";

#[test]
fn contents_take_no_argument() {
    let (mut x, mut y) = (words(&[2, 0, 1]), words(&[0; 3]));
    run(TABLE, &Launch::new(3), &mut [buffer(0, &mut x), buffer(1, &mut y)]).unwrap();
    assert_eq!(y, words(&[30, 10, -20i32 as u32]));
    let (mut z, mut u) = (vec![0; 6], vec![0; 4]);
    let mut all = [buffer(0, &mut x), buffer(1, &mut y), buffer(2, &mut z), buffer(3, &mut u)];
    let error = run(TABLE, &Launch::new(3), &mut all).unwrap_err();
    assert_eq!(error, Fault::Args(ArgError::Count { expected: 2, found: 4 }));
    // Buffers with constant contents occupy addresses that no argument may overlap.
    let mut beyond = words(&[3]);
    let (found, covered) = trap(TABLE, &Launch::new(1), &mut [buffer(0, &mut beyond), buffer(1, &mut y)]);
    assert_eq!(
        (found.kind, covered),
        (TrapKind::OutOfBounds { address: buffer_base(2) + 6, bytes: 2 }, "%v = load %t[%at]")
    );
    let error =
        run(TABLE, &Launch::new(1), &mut [buffer(0, &mut x), Arg::Buffer { base: buffer_base(2), bytes: &mut y }])
            .unwrap_err();
    assert_eq!(error, Fault::Args(ArgError::Overlap { first: 1, second: 2 }));
}

#[test]
fn contents_are_not_written() {
    let source = TABLE.replace("load %x[%i]", "bitcast.i64 %t").replace("%v = load %t[%at]", "%p = bitcast.ptr %at");
    let source = source.replace("  %w = sext.i32 %v\n  store %w, %y[%i]", "  store.i32 %i, %p");
    let (mut x, mut y) = (words(&[0]), words(&[0]));
    let (found, covered) = trap(&source, &Launch::new(1), &mut [buffer(0, &mut x), buffer(1, &mut y)]);
    assert_eq!((found.kind, covered), (TrapKind::ReadOnly { address: buffer_base(2), param: 2 }, "store.i32 %i, %p"));
}

/// A kernel that writes `y` between two loads through `x`.
const BETWEEN: &str = "
kernel @k(%x: in i32, %y: inout may_alias i32, %z: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = not.i32 %a
  store %b, %y[%i]
  %c = load %x[%i]
  store %c, %z[%i]
  ret
}";

#[test]
fn arguments_in_one_buffer() {
    let alias = |of, offset| Arg::Alias { of, offset };
    let (mut y, mut z) = (words(&[5, 6, 7, 8]), words(&[9; 2]));
    run(BETWEEN, &Launch::new(2), &mut [alias(1, 0), buffer(1, &mut y), buffer(2, &mut z)]).unwrap();
    assert_eq!((y, z), (words(&[!5, !6, 7, 8]), words(&[!5, !6])));
    // `x` is the alias of the bytes after the written elements, up to the end of the buffer.
    let (mut y, mut z) = (words(&[5, 6, 7, 8]), words(&[9; 2]));
    run(BETWEEN, &Launch::new(2), &mut [alias(1, 8), buffer(1, &mut y), buffer(2, &mut z)]).unwrap();
    assert_eq!((y, z), (words(&[!7, !8, 7, 8]), words(&[7, 8])));
    // A written parameter can be an alias of a read-only parameter. A launch then writes the memory
    // of the read-only parameter.
    let (mut x, mut z) = (words(&[5, 6]), words(&[9; 2]));
    run(BETWEEN, &Launch::new(2), &mut [buffer(0, &mut x), alias(0, 0), buffer(2, &mut z)]).unwrap();
    assert_eq!((x, z), (words(&[!5, !6]), words(&[!5, !6])));
    // An access through an alias can reach every byte of the buffer, also those before the alias.
    let before = "kernel @k(%x: in i32, %z: out i32) {\n^entry:\n  %v = load %x[-1]\n  store %v, %z\n  ret\n}";
    let before = before.replace("%z: out", "%w: in i32, %z: out");
    let (mut w, mut z) = (words(&[5, 6]), words(&[0]));
    run(&before, &Launch::new(1), &mut [alias(1, 4), buffer(1, &mut w), buffer(2, &mut z)]).unwrap();
    assert_eq!(z, words(&[5]));
}

#[test]
fn items_race_on_what_overlaps() {
    let (mut y, mut z) = (words(&[5, 6, 7]), words(&[9; 2]));
    let mut args = [Arg::Alias { of: 1, offset: 4 }, buffer(1, &mut y), buffer(2, &mut z)];
    // Item 1 writes a 32-bit word that item 0 has read.
    let Err(Fault::Race(race)) = run(BETWEEN, &Launch::new(2), &mut args) else { panic!("there is no race") };
    assert_eq!((race.place, race.offset, race.first.item, race.second.item), (SharedLocation::Buffer(1), 4, 0, 1));
    assert!(!race.first.write && race.second.write);
    // With a single item there is no race.
    let (mut y, mut z) = (words(&[5, 6, 7]), words(&[9; 2]));
    run(BETWEEN, &Launch::new(1), &mut [Arg::Alias { of: 1, offset: 4 }, buffer(1, &mut y), buffer(2, &mut z)])
        .unwrap();
}

#[test]
fn arguments_that_may_not_overlap() {
    let alias = |of, offset| Arg::Alias { of, offset };
    let refused = |args: &mut [Arg<'_>]| match run(BETWEEN, &Launch::new(1), args) {
        Err(Fault::Args(error)) => error,
        other => panic!("{other:?}"),
    };
    let (mut x, mut y) = (words(&[1, 2]), words(&[3, 4]));
    let (first, second, unique) = (1, 2, 2);
    let error = refused(&mut [buffer(0, &mut x), buffer(1, &mut y), alias(1, 4)]);
    assert_eq!(error, ArgError::MayNotAlias { first, second, unique });
    assert_eq!(error.to_string(), "buffers 1 and 2 overlap, but 2 is written without `may_alias`");
    // Two aliases of the same buffer overlap.
    let (first, second, unique) = (0, 2, 2);
    let error = refused(&mut [buffer(0, &mut x), alias(0, 0), alias(0, 4)]);
    assert_eq!(error, ArgError::MayNotAlias { first, second, unique });
    let (mut x, mut y, mut z) = (words(&[1, 2]), words(&[3, 4]), words(&[0]));
    for (of, offset) in [(0, 0), (3, 0), (1, 9)] {
        let error = refused(&mut [alias(of, offset), buffer(1, &mut y), buffer(2, &mut z)]);
        assert_eq!(error, ArgError::Alias { param: 0, of, offset });
    }
    // An alias of a parameter that is itself an alias is invalid.
    let error = refused(&mut [buffer(0, &mut x), alias(0, 0), alias(1, 0)]);
    assert_eq!(error, ArgError::Alias { param: 2, of: 1, offset: 0 });
    let error = refused(&mut [alias(1, 2), buffer(1, &mut y), buffer(2, &mut z)]);
    assert_eq!(error, ArgError::Align { param: 0, base: 2 * BASE + 2, align: 4 });
    let scalar = "kernel @k(%n: i32, %x: in i32) {\n^entry:\n  ret\n}";
    let error = run(scalar, &Launch::new(1), &mut [alias(1, 0), buffer(1, &mut y)]).unwrap_err();
    assert_eq!(error, Fault::Args(ArgError::Kind { param: 0, expected: "scalar" }));
}
