//! Tests of the loads and stores with conversion in the standard library.

use halfbyte_ir::eval::{Arg, Launch, Prepared};
use halfbyte_lang::{StdOnly, read};

use super::{half_of, of_half};

/// Runs a statement with 64 items on the elements `x`, and returns the output buffer.
fn run(from: &str, to: &str, line: &str, x: &mut [u8], size: usize) -> Vec<u8> {
    let text =
        format!("include \"std/load\"\nkernel k(x: in {from}, y: out {to}) {{\n  let i = item_id()\n  {line}\n}}\n");
    let module = read(&text, "k.hb", &StdOnly).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let mut y = vec![0; 64 * size];
    let mut args = [Arg::Buffer { base: 1 << 40, bytes: x }, Arg::Buffer { base: 2 << 40, bytes: &mut y }];
    Prepared::new(&module.kernels[0]).run(&Launch::new(64), &mut args).unwrap();
    y
}

fn bytes() -> Vec<u8> {
    (0..68u32).map(|k| (k * 37 + 3) as u8).collect()
}

#[test]
fn elements_are_widened() {
    let x = bytes();
    let words =
        |y: Vec<u8>| -> Vec<i32> { y.chunks(4).map(|word| i32::from_le_bytes(word.try_into().unwrap())).collect() };
    let each = |f: &dyn Fn(usize) -> i32| -> Vec<i32> { (0..64).map(f).collect() };
    assert_eq!(words(run("i8", "i32", "y[i] = load_u8(x, i)", &mut x.clone(), 4)), each(&|k| i32::from(x[k])));
    assert_eq!(words(run("i8", "i32", "y[i] = load_s8(x, i)", &mut x.clone(), 4)), each(&|k| i32::from(x[k] as i8)));
    let wide: Vec<u8> = x.iter().flat_map(|&byte| [byte, byte.wrapping_mul(91)]).collect();
    let at = |k: usize| u16::from_le_bytes([wide[2 * k], wide[2 * k + 1]]);
    let line = |name: &str| format!("y[i] = load_{name}(x, i)");
    assert_eq!(words(run("i16", "i32", &line("u16"), &mut wide.clone(), 4)), each(&|k| i32::from(at(k))));
    assert_eq!(words(run("i16", "i32", &line("s16"), &mut wide.clone(), 4)), each(&|k| i32::from(at(k) as i16)));
    let nan = |number: f32| if number.is_nan() { 0x7fff_ffff } else { number.to_bits() as i32 };
    assert_eq!(words(run("f16", "f32", &line("f16"), &mut wide.clone(), 4)), each(&|k| nan(of_half(at(k)) as f32)));
    let upper = |k: usize| f32::from_bits(u32::from(at(k)) << 16);
    assert_eq!(words(run("bf16", "f32", &line("bf16"), &mut wide.clone(), 4)), each(&|k| nan(upper(k))));
}

#[test]
fn four_bytes_are_widened_from_any_place() {
    for (name, extend) in
        [("u8", &(|byte: u8| u16::from(byte)) as &dyn Fn(u8) -> u16), ("s8", &|byte| byte as i8 as u16)]
    {
        for (first, part) in [(0, "p"), (2, "q")] {
            let mut x = bytes();
            let y = run("i8", "i16x2", &format!("let (p, q) = load4_{name}(x, i)\n  y[i] = {part}"), &mut x, 4);
            let expected: Vec<u8> = (0..64)
                .flat_map(|k| [x[k + first], x[k + first + 1]])
                .flat_map(|byte| extend(byte).to_le_bytes())
                .collect();
            assert_eq!(y, expected, "{name} {part}");
        }
    }
}

#[test]
fn results_are_narrowed() {
    let x: Vec<u8> = (0..68i32).flat_map(|k| (k * 11 - 200).to_le_bytes()).collect();
    let y = run("i32", "i8", "store_u8(x[i], y, i)", &mut x.clone(), 1);
    assert_eq!(y, (0..64).map(|k| (k * 11 - 200).clamp(0, 255) as u8).collect::<Vec<u8>>());
    let number = |k: i32| (k as f32 - 30.0) * 1.2345;
    let x: Vec<u8> = (0..68).flat_map(|k| number(k).to_le_bytes()).collect();
    let y = run("f32", "f16", "store_f16(x[i], y, i)", &mut x.clone(), 2);
    assert_eq!(y, (0..64).flat_map(|k| half_of(f64::from(number(k))).to_le_bytes()).collect::<Vec<u8>>());
}
