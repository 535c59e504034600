//! Tests of the known facts about values.
//!
//! The random kernels are the same in every run. `HALFBYTE_SEED=N` selects other kernels, and
//! `HALFBYTE_KERNELS=N` their number.

use std::ops::RangeInclusive;

use halfbyte_ir::eval::{Accessed, Arg, Launch, Observer, Operand, Prepared, fold, unpack};
use halfbyte_ir::generate::{Palette, Shape, aliases, arguments};
use halfbyte_ir::known::Lane;
use halfbyte_ir::witness::Random;
use halfbyte_ir::{AllKnown, Block, Flow, Kernel, Known, KnownValues, Op, ParamKind, Type, Value, ValueDef, text};

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |number| number.parse().unwrap())
}

fn kernel(source: &str) -> Kernel {
    text::read(source).unwrap_or_else(|errors| panic!("{errors:?}\n{source}")).kernels.remove(0)
}

/// Checks the lanes of every value that an evaluation computes against the facts about the value.
struct Checked<'k> {
    kernel: &'k Kernel,
    stored: KnownValues<'k>,
    together: AllKnown<'k>,
    /// Number of checked values about which something is known.
    informative: usize,
}

impl Observer for Checked<'_> {
    fn block(&mut self, _: u32, _: Block) {}

    fn value(&mut self, item: u32, value: Value, lanes: &[u64]) {
        let facts = [Known::of(self.kernel, value), self.stored.of(self.kernel, value), self.together.of(value)];
        for known in facts {
            assert!(
                known.contains(lanes),
                "item {item}: {} has the lanes {lanes:?}, which contradict {known:?}\n{}",
                self.kernel.value_name(value).unwrap_or("?"),
                self.kernel,
            );
        }
        self.informative += usize::from(facts[1] != Known::any(self.kernel.ty(value)));
    }

    fn access(&mut self, _: u32, _: &Accessed<'_>) {}
}

#[test]
fn facts_hold_for_random_kernels() {
    let mut random = Random(variable("HALFBYTE_SEED", 0));
    let mut palette = Palette::new(|_| true);
    let mut informative = 0;
    for _ in 0..variable("HALFBYTE_KERNELS", 200) {
        let shape = Shape { traps: random.below(6) == 0, ..Shape::random(&mut random) };
        let kernel = kernel(&palette.kernel("k", &shape, &mut random).to_string());
        let flow = Flow::new(&kernel);
        let launch = Launch { budget: 1 << 16, ..Launch::new(7) };
        let block = launch.shape.block;
        let mut checked = Checked {
            kernel: &kernel,
            stored: KnownValues::new(&flow, Some(block)),
            together: AllKnown::new(&kernel),
            informative: 0,
        };
        let prepared = Prepared::new(&kernel);
        for _ in 0..2 {
            let mut bytes = arguments(&kernel, 7, &mut random);
            let mut args: Vec<Arg<'_>> = (1..)
                .zip(&mut bytes)
                .zip(kernel.given_params())
                .map(|((number, bytes), param)| match param.kind {
                    ParamKind::Scalar(_) => {
                        let mut words = [0; 8];
                        for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
                            *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
                        }
                        Arg::Scalar(words)
                    }
                    ParamKind::Buffer { .. } => Arg::Buffer { base: number << 32, bytes },
                })
                .collect();
            for alias in aliases(&kernel) {
                args[alias.param] = Arg::Alias { of: alias.of, offset: alias.offset };
            }
            // Items of some kernels trap. Their values until then are checked, too.
            drop(prepared.run_observed(&launch, &mut args, &mut checked));
        }
        informative += checked.informative;
    }
    assert!(informative > 1000, "{informative}");
}

/// Ops that restrict the lanes of an operand, and the numbers of their constant operands.
const RESTRICTIONS: [Op; 9] =
    [Op::And, Op::Or, Op::MinU, Op::MaxU, Op::MinS, Op::MaxS, Op::ShrU, Op::ShrS, Op::AddSatU];

/// Evaluates the instructions of a kernel's first block in order.
fn evaluate(kernel: &Kernel, inputs: [&[u64]; 2], mut check: impl FnMut(Value, &[u64])) {
    let mut lanes: Vec<Vec<u64>> = vec![Vec::new(); kernel.values.len()];
    for (value, data) in &kernel.values {
        if let ValueDef::Param(number) = data.def {
            lanes[value.as_u32() as usize] = inputs[number as usize].to_vec();
        }
    }
    for &inst in &kernel.blocks[kernel.layout[0]].insts {
        let Some(result) = kernel.result(inst) else { continue };
        let ty = kernel.ty(result);
        let mut out = vec![0; ty.lanes()];
        match kernel.const_bits(inst) {
            Some(bits) => unpack(ty, &bits, &mut out),
            None => {
                let data = &kernel.insts[inst];
                let args = kernel.args(inst).iter();
                let args: Vec<Operand<'_>> =
                    args.map(|&arg| Operand { ty: kernel.ty(arg), lanes: &lanes[arg.as_u32() as usize] }).collect();
                assert!(fold(data.op, data.attr, &args, ty, &mut out));
            }
        }
        check(result, &out);
        lanes[result.as_u32() as usize] = out;
    }
}

/// Returns the facts about all values of a kernel, in the order of their numbers.
fn facts(kernel: &Kernel) -> Vec<Known> {
    kernel.values.keys().map(|value| Known::of(kernel, value)).collect()
}

/// Draws a kernel that restricts its two parameters and applies an op to them.
fn restricted(op: Op, ty: Type, random: &mut Random) -> String {
    let mut lines = String::new();
    let mut operands = Vec::new();
    for name in ["a", "b"] {
        let mut current = name.to_owned();
        for step in 0..random.below(4) {
            let by = RESTRICTIONS[random.below(RESTRICTIONS.len())];
            if op == Op::Const || by == Op::AddSatU && ty.elem().bits() == 64 {
                continue;
            }
            let number = random.lane(ty.elem(), 3) as i128;
            let number = if matches!(by, Op::ShrU | Op::ShrS) { number % i128::from(ty.elem().bits()) } else { number };
            let number = match ty.elem().bits() {
                64 => i128::from(number as i64),
                _ => number,
            };
            lines += &format!("%k{name}{step} = const.{ty} {number}\n");
            lines += &format!("%{name}{step} = {}.{ty} %{current}, %k{name}{step}\n", by.name());
            current = format!("{name}{step}");
        }
        operands.push(current);
    }
    let [a, b] = [&operands[0], &operands[1]];
    let mnemonic = match op {
        Op::Icmp => {
            let conditions = ["eq", "ne", "lt_s", "le_s", "gt_s", "ge_s", "lt_u", "le_u", "gt_u", "ge_u"];
            format!("icmp.{}", conditions[random.below(10)])
        }
        _ => op.name().to_owned(),
    };
    let args = match op.row().args.len() {
        1 => format!("%{a}"),
        2 => format!("%{a}, %{b}"),
        _ => format!("%{a}, %{b}, %acc"),
    };
    let acc = if op.row().args.len() > 2 { "%acc = const.i32 -5\n" } else { "" };
    format!("kernel @k(%a: {ty}, %b: {ty}) {{\n^entry:\n{lines}{acc}%r = {mnemonic}.{ty} {args}\nret\n}}")
}

/// Returns `true` for the ops that the test draws: those on integers of one type.
fn is_drawn(op: Op) -> bool {
    let is_moved = matches!(op, Op::Select | Op::Splat | Op::Shuffle | Op::Insert | Op::Extract | Op::Swizzle);
    op.is_pure()
        && !is_moved
        && !matches!(op, Op::Const | Op::Any | Op::All | Op::PtrAdd)
        && !op.row().args.is_empty()
        && op.row().convert.is_none()
        && op.row().types.is_some_and(|set| Type::ALL.iter().any(|&ty| ty.is_int() && set.contains(ty)))
}

#[test]
fn facts_hold_for_restricted_operands() {
    let mut random = Random(variable("HALFBYTE_SEED", 0));
    let mut decided = 0;
    for &op in Op::ALL.iter().filter(|&&op| is_drawn(op)) {
        let types = Type::ALL.iter().filter(|ty| ty.is_int() && op.row().types.is_some_and(|set| set.contains(**ty)));
        for &ty in types {
            for _ in 0..variable("HALFBYTE_KERNELS", 30) {
                let source = restricted(op, ty, &mut random);
                let kernel = kernel(&source);
                let facts = facts(&kernel);
                decided += facts
                    .iter()
                    .zip(kernel.values.values())
                    .filter(|(known, data)| **known != Known::any(data.ty))
                    .count();
                for _ in 0..60 {
                    let mut draw = || (0..ty.lanes()).map(|_| random.lane(ty.elem(), 2)).collect::<Vec<u64>>();
                    let (a, b) = (draw(), draw());
                    evaluate(&kernel, [&a, &b], |value, lanes| {
                        let known = facts[value.as_u32() as usize];
                        assert!(known.contains(lanes), "{a:?} {b:?}: {lanes:?} contradicts {known:?}\n{source}");
                    });
                }
            }
        }
    }
    assert!(decided > 10_000, "{decided}");
}

/// All numbers of 8 bits are checked for some ops whose results are exact.
#[test]
fn facts_hold_for_all_bytes() {
    let mut random = Random(variable("HALFBYTE_SEED", 0) + 1);
    for &op in Op::ALL.iter().filter(|&&op| is_drawn(op) && op.row().types.unwrap().contains(Type::I8)) {
        for _ in 0..4 {
            let source = restricted(op, Type::I8, &mut random);
            let kernel = kernel(&source);
            let facts = facts(&kernel);
            for a in 0..=255 {
                for b in (0..=255).step_by(17) {
                    evaluate(&kernel, [&[a], &[b]], |value, lanes| {
                        let known = facts[value.as_u32() as usize];
                        assert!(known.contains(lanes), "{a} {b}: {lanes:?} contradicts {known:?}\n{source}");
                    });
                }
            }
        }
    }
}

/// Returns the facts about `%r` in a kernel with these lines.
fn known(lines: &str) -> Known {
    let kernel = kernel(&format!("kernel @k(%a: i8, %b: i16, %v: i8x4, %w: i32) {{\n^entry:\n{lines}\nret\n}}"));
    let value = kernel.values.keys().find(|&value| kernel.value_name(value) == Some("r")).unwrap();
    Known::of(&kernel, value)
}

/// Asserts the signed range of `%r` after the lines of each case.
fn have_ranges(cases: &[(&str, RangeInclusive<i128>)]) {
    for (lines, expected) in cases {
        assert_eq!(known(lines).signed(), *expected, "{lines}");
    }
}

#[test]
fn ranges_follow_from_definitions() {
    have_ranges(&[
        ("%r = zext.i32 %a", 0..=255),
        ("%r = sext.i32 %a", -128..=127),
        ("%r = const.i8x4 [1, -3, 7, 200]", -56..=7),
        ("%p = zext.i32 %a\n%q = sext.i32 %b\n%r = sub.i32 %p, %q", -32767..=33023),
        ("%p = zext.i32 %a\n%n = neg.i32 %p\n%r = mul.i32 %p, %n", -65025..=0),
        ("%r = mul_wide_s.i8 %a, %a", -16256..=16384),
        ("%p = sext.i32 %b\n%k = const.i32 9\n%m = min_s.i32 %p, %k\n%l = const.i32 -4\n%r = max_s.i32 %m, %l", -4..=9),
        ("%p = sext.i32 %a\n%k = const.i32 15\n%r = and.i32 %p, %k", 0..=15),
        ("%p = sext.i32 %a\n%k = const.i32 15\n%r = min_u.i32 %p, %k", 0..=15),
        ("%p = zext.i32 %a\n%q = sext.i32 %b\n%c = icmp.eq.i32 %p, %q\n%r = select.i32 %c, %p, %q", -32768..=32767),
        ("%r = reduce_add_u.i8x4 %v", 0..=1020),
        ("%z = const.i8x4 0\n%s = shuffle.i8x4 %v, %z, [0, 5, 1, 7]\n%r = bitcast.i16x2 %s", 0..=255),
        (
            "%k = const.i32 0xf0f0f0f\n%x = and.i32 %w, %k\n%y = bitcast.i8x4 %x\n%j = const.i8x4 48\n%r = add.i8x4 %y, %j",
            48..=63,
        ),
        ("%k = const.i32 10\n%q = rem_u.i32 %w, %k\n%r = add.i32 %q, %k", 10..=19),
        ("%k = const.i32 3\n%q = div_u.i32 %w, %k\n%r = add.i32 %q, %k", 3..=1_431_655_768),
        ("%k = const.i32 24\n%r = shr_s.i32 %w, %k", -128..=127),
        ("%r = popcount.i32 %w", 0..=32),
        ("%k = const.i32 200\n%x = zext.i32 %a\n%r = absdiff_u.i32 %x, %k", 0..=200),
    ]);
}

/// The range is that of the type if a result may wrap, for unsupported ops, and for definitions
/// beyond the maximum depth.
#[test]
fn results_that_may_wrap_have_the_range_of_their_type() {
    have_ranges(&[
        ("%p = zext.i16 %a\n%r = mul.i16 %p, %p", -32768..=32767),
        ("%r = mul_wide_u.i8 %a, %a", -32768..=32767),
        ("%r = add.i8 %a, %a", -128..=127),
        ("%r = min_u.i8 %a, %a", -128..=127),
        ("%r = neg.i8 %a", -128..=127),
        ("%r = abs.i8 %a", -128..=127),
        ("%k = const.i8 -1\n%r = div_s.i8 %a, %k", -128..=127),
        ("%r = div_u.i8 %a, %a", -128..=127),
        (
            "%p = zext.i32 %a\n%q = neg.i32 %p\n%s = neg.i32 %q\n%t = neg.i32 %s\n%u = neg.i32 %t\n\
             %x = neg.i32 %u\n%y = neg.i32 %x\n%z = neg.i32 %y\n%r = neg.i32 %z",
            -(1 << 31)..=(1 << 31) - 1,
        ),
    ]);
}

#[test]
fn bits_follow_from_definitions() {
    let bits = |lines: &str| {
        let all = known(lines).all();
        (all.zeros(), all.ones())
    };
    let masked = "%k = const.i32 0xf0\n%x = and.i32 %w, %k\n";
    assert_eq!(bits(&format!("{masked}%j = const.i32 5\n%r = or.i32 %x, %j")), (!0xf5 & 0xffff_ffff, 5));
    assert_eq!(bits(&format!("{masked}%j = const.i32 5\n%r = add.i32 %x, %j")), (!0xf5 & 0xffff_ffff, 5));
    assert_eq!(bits(&format!("{masked}%j = const.i32 4\n%r = shl.i32 %x, %j")), (!0xf00 & 0xffff_ffff, 0));
    assert_eq!(bits(&format!("{masked}%j = const.i32 4\n%r = rotr.i32 %x, %j")), (!0xf & 0xffff_ffff, 0));
    assert_eq!(bits(&format!("{masked}%r = not.i32 %x")), (0, !0xf0 & 0xffff_ffff));
    assert_eq!(bits("%k = const.i32 12\n%r = mul.i32 %w, %k"), (3, 0));
    assert_eq!(bits("%k = const.i16 256\n%t = trunc.i16 %w\n%r = mul_wide_u.i16 %t, %k"), (0xff0000ff, 0));
}

#[test]
fn induction_variables_have_ranges() {
    let source = "kernel @k(%n: i32, %y: out i32) {
^entry:
  %zero = const.i32 0
  %step = const.i32 2
  %most = const.i32 100
  br ^loop(%zero)
^loop(%i: i32):
  store %i, %y
  %next = add.i32 %i, %step
  %c = icmp.lt_s.i32 %next, %most
  br_if %c, ^loop(%next), ^done
^done:
  ret
}";
    let range = |source: &str, name: &str| {
        let kernel = kernel(source);
        let flow = Flow::new(&kernel);
        let value = kernel.values.keys().find(|&value| kernel.value_name(value) == Some(name)).unwrap();
        KnownValues::new(&flow, None).of(&kernel, value).signed()
    };
    assert_eq!(range(source, "i"), 0..=99);
    assert_eq!(range(source, "next"), 2..=101);
    // Without a bound below the greatest number, the sum may wrap.
    assert_eq!(range(&source.replace("%next, %most", "%next, %n"), "i"), -(1 << 31)..=(1 << 31) - 1);
    assert_eq!(range(&source.replace("lt_s", "ne"), "i"), -(1 << 31)..=(1 << 31) - 1);
}

#[test]
fn contradictions_are_dropped() {
    let lane = Lane::constant(8, 3).and(Lane::constant(8, 4));
    assert_eq!(lane, Lane::any(8));
}
