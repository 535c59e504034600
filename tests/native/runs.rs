//! Tests of kernels that native code executes by vector loops over runs of items, and native objects
//! by gangs. The results must be those of the interpreter.

use halfbyte::Shape;
use halfbyte::ir::witness::Random;
use halfbyte::native::{self, Machine, Options};

use super::alike::{Alike, Given, program};

/// A kernel's name and text, its scalars, and the bytes per item in each of its buffers.
type Case = (&'static str, &'static str, &'static [u32], &'static [usize]);

const KERNELS: [Case; 28] = [
    (
        "counted",
        "n: in i32, x: in i32, y: inout i32) {\nlet i = item_id()\nif i <_u n[1] & 63 {\ny[i] = x[i] + 1\n}\n}",
        &[],
        &[4, 4, 4],
    ),
    (
        "shifted",
        "k: in i32, x: in i32, y: inout i32) {\nlet i = item_id()\ny[i] = x[i + (k[2] & 7)]\n}",
        &[],
        &[4, 4, 4],
    ),
    (
        "guarded",
        "n: i32, a: f32, x: in f32, y: inout f32) {\nlet i = item_id()\nif i <_u n {\ny[i] = ffma(a, x[i], y[i])\n}\n}",
        &[77, 0x3FC0_0000],
        &[4, 4],
    ),
    (
        "signed",
        "n: i32, x: in i32, y: out i32) {\nlet i = item_id()\nif i <_s n {\ny[i] = x[i] * 3 + i\n}\n}",
        &[130],
        &[4, 4],
    ),
    ("bare", "x: in i32, y: out i32) {\nlet i = item_id()\ny[i] = x[i] ^ (i << 3)\n}", &[], &[4, 4]),
    ("bytes", "x: in i8, y: out i8) {\nlet i = item_id()\ny[i] = x[i] + x[i]\n}", &[], &[1, 1]),
    ("shorts", "x: in i16, y: inout i16) {\nlet i = item_id()\ny[i] = x[i] ^ y[i]\n}", &[], &[2, 2]),
    ("moved", "k: i32, x: in i32, y: out i32) {\nlet i = item_id()\ny[i] = x[i + k]\n}", &[5], &[4, 4]),
    (
        "wrapped",
        "k: i32, x: in i32, y: out i32) {\nlet i = item_id()\nif i >=_u 40 {\ny[i] = x[i + k]\n}\n}",
        &[0xFFFF_FFF0],
        &[4, 4],
    ),
    ("same", "w: in f32, x: in f32, y: out f32) {\nlet i = item_id()\ny[i] = w[2] * x[i]\n}", &[], &[4, 4, 4]),
    (
        "two",
        "n: i32, m: i32, x: in i32, y: inout i32, z: inout i32) {\nlet i = item_id()\nif i <_u n {\ny[i] = x[i] + 1\n}\nif i <_u m {\nz[i] = x[i] - 1\n}\n}",
        &[50, 90],
        &[4, 4, 4],
    ),
    (
        "aliases",
        "x: in may_alias i32, y: inout may_alias i32) {\nlet i = item_id()\ny[i] = x[i] + y[i]\n}",
        &[],
        &[4, 4],
    ),
    (
        "halves",
        "a: f16x2, x: in f16x2, y: inout f16x2) {\nlet i = item_id()\ny[i] = ffma(a, x[i], y[i])\n}",
        &[0x3E00_3C00],
        &[4, 4],
    ),
    (
        "one",
        "k: i32, x: in i32, y: out i32) {\nlet i = item_id()\nvar v = x[i]\nif i == k {\nv = v * 3\n}\ny[i] = v\n}",
        &[60],
        &[4, 4],
    ),
    (
        "after",
        "n: i32, x: in i32, y: inout i32) {\nlet i = item_id()\nif n <_s i {\ny[i] = x[i] + 1\n}\n}",
        &[35],
        &[4, 4],
    ),
    (
        "fourth",
        "n: i32, x: in i32, y: inout i32) {\nlet i = item_id()\nif 4 * i <_u n {\ny[i] = x[i] + 1\n}\n}",
        &[271],
        &[4, 4],
    ),
    (
        "negative",
        "n: i32, x: in i32, y: inout i32) {\nlet i = item_id() - 50\nif i <_s n {\ny[i + 50] = x[i + 50] + i\n}\n}",
        &[0xFFFF_FFF0],
        &[4, 4],
    ),
    (
        "passed",
        "n: i32, x: in i32, y: inout i32) {\nlet i = item_id() + 0xFFFFFF00\nif i <_u n {\ny[i + 256] = x[i + 256] + i\n}\n}",
        &[0xFFFF_FFB0],
        &[4, 4],
    ),
    (
        "inner",
        "n: i32, x: in i32, y: inout i32) {\nlet i = item_id()\nif i >_u 0 && i <_u n - 1 {\ny[i] = x[i - 1] - x[i + 1]\n} else {\ny[i] = x[i]\n}\n}",
        &[97],
        &[4, 4],
    ),
    (
        "neither",
        "n: i32, m: i32, x: in i32, y: out i32) {\nlet i = item_id()\nlet odd = (i <_u n) ^ (i <_u m)\ny[i] = select(odd, x[i], i)\n}",
        &[20, 60],
        &[4, 4],
    ),
    (
        "looped",
        "n: i32, m: i32, x: in i32, y: out i32) {\nlet i = item_id()\nlet at = i * 2 & 0x7FFFFFFE\nvar s = 0\nfor k in 0..m {\nif i <_u n {\ns = s + x[i] * k\n}\n}\ny[i] = s + at\n}",
        &[70, 3],
        &[4, 4],
    ),
    (
        "quads",
        "x: in i8x16, y: inout i8x16) {\nlet i = item_id()\ny[2 * i] = x[3 * i + 1] + y[2 * i]\n}",
        &[],
        &[48, 32],
    ),
    (
        "places",
        "n: i32, x: in i32, y: inout i32) {\nlet i = item_id()\nlet at = i * 3 + n\nif x[i] >_s 0 {\ny[i] = x[i] - at\n} else if i <_u n {\ny[i] = at\n}\n}",
        &[61],
        &[4, 4],
    ),
    (
        "channels",
        "x: in i8, y: out i8) {\nlet i = item_id()\ny[4 * i] = x[4 * i + 2]\ny[4 * i + 1] = x[4 * i + 1] + 1\ny[4 * i + 2] = x[4 * i]\ny[4 * i + 3] = x[4 * i + 3]\n}",
        &[],
        &[4, 4],
    ),
    (
        "stereo",
        "x: in i16, y: out i16, z: out i32) {\nlet i = item_id()\nlet (l, r) = (sext.i32(x[2 * i]), sext.i32(x[2 * i + 1]))\nz[i] = l * r\ny[2 * i] = trunc(r)\ny[2 * i + 1] = trunc(l - r)\n}",
        &[],
        &[4, 4, 4],
    ),
    (
        "chroma",
        "x: in i8, y: inout i8) {\nlet i = item_id()\nlet (u, v) = (sext.i32(x[2 * i]), zext.i32(x[2 * i + 1]))\ny[2 * i + 1] = trunc(u + v)\ny[2 * i] = trunc(u * v)\n}",
        &[],
        &[2, 2],
    ),
    (
        "mixed",
        "x: in i16, y: out i16) {\nlet i = item_id()\ny[4 * i + 1] = x[4 * i + 3]\ny[4 * i + 3] = x[4 * i + 1]\n}",
        &[],
        &[8, 8],
    ),
    ("gathered", "x: in i32, y: out i32) {\nlet i = item_id()\ny[i] = x[x[i] & 15]\n}", &[], &[4, 4]),
];

/// A kernel on an image.
const LINES: &str = "w: i32, h: i32, x: in i32, y: inout i32) {\nlet (i, j) = (item_id.x(), item_id.y())\nlet at = j * w + i\n\
                if i >_u 0 && i <_s w - 1 && j <_u h {\ny[at] = x[at - 1] + x[at + 1] * group_id.y()\n}\n}";

#[test]
fn items_of_a_run_leave_what_they_leave_one_after_another() {
    let mut random = Random(7);
    for (name, rest, scalars, items) in KERNELS {
        let alike = Alike::new(name, rest);
        for count in [0, 1, 15, 16, 17, 31, 32, 48, 63, 64, 65, 100, 127, 160, 300, 1000, 9000, 70_000] {
            // The buffers are as large as the accesses need, smaller, or larger.
            for bytes in [0_i64, -4, -40, 64] {
                let size = |each: &usize| (*each as i64 * i64::from(count) + bytes).max(0) as usize / each * each;
                let words = scalars.iter().map(|&word| Given::Word(word));
                let buffers =
                    items.iter().map(|each| Given::Bytes((0..size(each)).map(|_| random.bits() as u8).collect()));
                let _ = alike.check(count, &words.chain(buffers).collect::<Vec<Given>>());
            }
        }
    }
}

#[test]
fn runs_end_where_lines_do() {
    let alike = Alike::new("lines", LINES);
    let [width, height] = [300_u32, 7];
    let x: Vec<u8> = (0..4 * width * height).map(|k| ((k * 13) >> 3) as u8).collect();
    let y = vec![7; x.len()];
    let given = [Given::Word(width), Given::Word(height), Given::Bytes(x), Given::Bytes(y)];
    for (grid, block) in [
        ([3, 7, 1], [100, 1, 1]),
        ([10, 8, 1], [32, 1, 1]),
        ([1, 7, 1], [300, 1, 1]),
        ([19, 3, 2], [16, 1, 1]),
        ([4, 4, 1], [100, 2, 1]),
        ([300, 7, 1], [1, 1, 1]),
    ] {
        assert_eq!(alike.check(Shape { grid, block, shared: 0 }, &given), Ok(()));
    }
}

#[test]
fn buffers_of_a_run_may_be_one_memory() {
    let &(name, rest, ..) = KERNELS.iter().find(|(name, ..)| *name == "aliases").unwrap();
    let alike = Alike::new(name, rest);
    for offset in [0, 4, 8, 60, 64, 400, 600] {
        let bytes = (0..1200).map(|k| (k * 7) as u8).collect();
        assert_eq!(alike.check_function(150, &[Given::Bytes(bytes), Given::Alias(0, offset)]), Ok(()));
    }
}

#[test]
fn objects_have_functions_of_gangs_where_computers_have_vectors() {
    let has = |bytes: &[u8], name: &[u8]| bytes.windows(name.len()).any(|bytes| bytes == name);
    let has_gang = |name: &str, rest: &str, cpu: Option<&str>| {
        let program = program(name, rest);
        let kernel = program.kernels().next().unwrap();
        let machine = Machine::new("x86_64-unknown-linux-gnu", cpu).unwrap();
        let object = native::object(&[(name, kernel)], &machine, &Options::default()).unwrap();
        assert!(!has(&object.bytes, b"fma"), "{name}: it calls the C library");
        has(&object.bytes, b"gang.0")
    };
    for (name, rest, ..) in KERNELS.into_iter().chain([("lines", LINES, &[][..], &[][..])]) {
        assert!(has_gang(name, rest, Some("x86-64-v3")), "{name}");
        assert!(has_gang(name, rest, Some("x86-64-v4")), "{name}");
        assert!(!has_gang(name, rest, None), "{name}");
    }
}
