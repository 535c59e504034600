//! Tests of the reductions over groups in the standard library, in groups of several sizes.

use halfbyte_abi::Shape;
use halfbyte_ir::eval::{Arg, Launch, Prepared};
use halfbyte_lang::{StdOnly, read};

use super::{half_of, is_stated, of_half};

/// Runs a kernel body with `groups` groups of `items` items each. The evaluator also checks for races.
fn run(ty: &str, body: &str, (groups, items): (u32, u32), x: &[u32]) -> Vec<u32> {
    let text = format!(
        "include \"std/group\"\nkernel k(x: in {ty}, y: inout {ty}, n: i32) {{\n  shared parts: {}[32]\n  let i = item_id()\n  {body}\n}}\n",
        if ty == "f16x2" { "f32" } else { ty }
    );
    let module = read(&text, "k.hb", &StdOnly).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let mut from: Vec<u8> = x.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut to = vec![0; from.len()];
    let each = u64::from(x.len() as u32 / groups);
    let mut args = [
        Arg::Buffer { base: 1 << 40, bytes: &mut from },
        Arg::Buffer { base: 2 << 40, bytes: &mut to },
        Arg::scalar(each),
    ];
    let shape = Shape::from((groups, items));
    Prepared::new(&module.kernels[0]).run(&Launch::new(shape), &mut args).unwrap();
    to.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

const SHAPES: [(u32, u32); 4] = [(3, 32), (2, 64), (2, 128), (1, 1024)];

fn words(count: u32) -> Vec<u32> {
    (0..count).map(|k| k.wrapping_mul(0x9e37_79b9)).collect()
}

/// Returns pseudo-random `f32` values between -8 and 8, as bits.
fn numbers(count: u32) -> Vec<u32> {
    words(count).into_iter().map(|word| ((word >> 8) as f32 / (1 << 20) as f32 - 8.0).to_bits()).collect()
}

/// Replaces each element of `x` by `f` of the chunk of `items` elements that contains it.
fn of_each(x: &[u32], items: usize, f: impl Fn(&[u32]) -> u32) -> Vec<u32> {
    x.chunks(items).flat_map(|part| vec![f(part); part.len()]).collect()
}

#[test]
fn sums_and_maxima_reach_every_item() {
    let sum = |part: &[u32]| part.iter().fold(0u32, |sum, &word| sum.wrapping_add(word));
    let most = |part: &[u32]| part.iter().map(|&bits| f32::from_bits(bits)).fold(f32::MIN, f32::max).to_bits();
    for shape in SHAPES {
        let (x, f) = (words(shape.0 * shape.1), numbers(shape.0 * shape.1));
        let group = shape.1 as usize;
        assert_eq!(run("i32", "y[i] = subgroup_sum(x[i])", shape, &x), of_each(&x, 32, sum));
        assert_eq!(run("i32", "y[i] = group_sum(x[i], parts)", shape, &x), of_each(&x, group, sum));
        assert_eq!(run("f32", "y[i] = subgroup_max(x[i])", shape, &f), of_each(&f, 32, most));
        assert_eq!(run("f32", "y[i] = group_max(x[i], parts)", shape, &f), of_each(&f, group, most));
        // Two consecutive reductions use the same shared array.
        let twice = "let s = group_sum(x[i], parts)\n  y[i] = group_sum(x[i] + s, parts)";
        let again = of_each(&x, group, |part| sum(part).wrapping_add(sum(part).wrapping_mul(shape.1)));
        assert_eq!(run("i32", twice, shape, &x), again);
    }
}

/// Returns the largest absolute error of `y` against the softmax of each row of `x`, computed in `f64`.
fn distance(x: &[u32], y: &[u32], row: usize) -> f64 {
    let number = |&bits: &u32| f64::from(f32::from_bits(bits));
    let mut worst = 0f64;
    for (x, y) in x.chunks(row).zip(y.chunks(row)) {
        let most = x.iter().map(number).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = x.iter().map(|x| (number(x) - most).exp()).sum();
        for (x, y) in x.iter().zip(y) {
            worst = worst.max((number(y) - (number(x) - most).exp() / sum).abs());
        }
    }
    worst
}

#[test]
fn softmax_is_as_near_as_it_says() {
    let (mut subgroup, mut group, mut rows) = (0f64, 0f64, 0f64);
    for shape in SHAPES {
        let (count, items) = (shape.0 * shape.1, shape.1 as usize);
        // The rows include numbers whose exponentials overflow `f32`.
        for (scale, add) in [(1.0, 0.0), (0.125, 300.0), (8.0, -500.0)] {
            let scaled = |count| -> Vec<u32> {
                numbers(count).iter().map(|&bits| (f32::from_bits(bits) * scale + add).to_bits()).collect()
            };
            let x = scaled(count);
            subgroup = subgroup.max(distance(&x, &run("f32", "y[i] = softmax_subgroup(x[i])", shape, &x), 32));
            group = group.max(distance(&x, &run("f32", "y[i] = softmax_group(x[i], parts)", shape, &x), items));
            // Row lengths below and above the group size, some of them not a multiple of the group size.
            for n in [1, 31, 77, 300] {
                let x = scaled(shape.0 * n);
                let y = run("f32", "softmax_row(x, y, group_id() * n, n, parts)", shape, &x);
                rows = rows.max(distance(&x, &y, n as usize));
            }
        }
    }
    is_stated("group", "softmax_subgroup", subgroup);
    is_stated("group", "softmax_group", group);
    is_stated("group", "softmax_row", rows);
}

/// Tests the softmax of rows of halves, two in each 32-bit word.
#[test]
fn softmax_of_halves_is_rounded_once() {
    let mut worst = 0f64;
    for shape in SHAPES {
        for n in [1, 31, 77, 300] {
            let halves: Vec<u16> =
                numbers(shape.0 * n * 2).iter().map(|&bits| half_of(f64::from(f32::from_bits(bits)))).collect();
            let pair = |pair: &[u16]| u32::from(pair[0]) | u32::from(pair[1]) << 16;
            let x: Vec<u32> = halves.chunks(2).map(pair).collect();
            let y = run("f16x2", "softmax_row_h2(x, y, group_id() * n, n, parts)", shape, &x);
            let widened = |words: &[u32]| -> Vec<u32> {
                let halves = words.iter().flat_map(|&word| [word as u16, (word >> 16) as u16]);
                halves.map(|half| (of_half(half) as f32).to_bits()).collect()
            };
            worst = worst.max(distance(&widened(&x), &widened(&y), 2 * n as usize));
        }
    }
    is_stated("group", "softmax_row_h2", worst);
}

/// Tests rows in which all elements but one are minus infinity or far smaller than that one.
#[test]
fn softmax_leaves_out_what_is_minus_infinity() {
    let mut x = vec![f32::NEG_INFINITY.to_bits(); 64];
    x[37] = 88.0f32.to_bits();
    x[63] = (-90.0f32).to_bits();
    let y = run("f32", "y[i] = softmax_group(x[i], parts)", (1, 64), &x);
    let expected: Vec<u32> = (0..64).map(|k| if k == 37 { 1f32.to_bits() } else { 0 }).collect();
    assert_eq!(y, expected);
}
