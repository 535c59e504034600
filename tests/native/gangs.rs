//! Tests of kernels whose items run in gangs in native objects, and of similar kernels whose items
//! run one after another. The results must be those of the interpreter.

use halfbyte::Shape;
use halfbyte::ir::witness::Random;
use halfbyte::native::{self, Machine, Options, Vectorized};

use super::alike::{Alike, Given, program};

/// A kernel's name and text, its scalars, the bytes per item in each of its buffers, and `true` if
/// its items run in gangs.
type Case = (&'static str, &'static str, &'static [u32], &'static [usize], bool);

const KERNELS: [Case; 32] = [
    // The items stay converged.
    (
        "sum",
        "n: i32, x: in i32, y: out i32) {\nlet i = item_id()\nvar s = 0\nfor k in 0..n {\ns += x[i * n + k]\n}\ny[i] = s\n}",
        &[3],
        &[12, 4],
        true,
    ),
    (
        "common",
        "n: i32, w: in f32, x: in f32, y: out f32) {\nlet i = item_id()\nvar s = f32(0)\nfor k in 0..n {\ns = ffma(w[k], x[i + k], s)\n}\ny[i] = s\n}",
        &[5],
        &[4, 4, 4],
        true,
    ),
    ("gathered", "x: in i32, y: out i32) {\nlet i = item_id()\ny[i] = x[x[i] & 15]\n}", &[], &[4, 4], true),
    (
        "wide",
        "x: in i64, y: out i64) {\nlet i = item_id()\ny[i] = x[trunc.i32(x[i + 1]) & 7] + x[i]\n}",
        &[],
        &[8, 8],
        true,
    ),
    ("quads", "x: in i8x16, y: out i8x16) {\nlet i = item_id()\ny[i] = x[i] + x[i * 3 & 15]\n}", &[], &[16, 16], true),
    (
        "narrow",
        "w: in i16, x: in i8, y: out i8, z: out i16) {\nlet i = item_id()\ny[i * 2] = x[i * 3] + x[i]\nz[i * 2 + 1] = w[i * 2]\n}",
        &[],
        &[4, 3, 2, 4],
        true,
    ),
    ("signed", "x: in i8, y: out i32) {\nlet i = item_id()\ny[i] = sext.i32(x[i * 5]) * 3\n}", &[], &[5, 4], true),
    (
        "down",
        "n: i32, x: in i32, y: out i32) {\nlet i = item_id()\ny[i] = x[n - i] + x[n - i - i]\n}",
        &[80],
        &[4, 4],
        true,
    ),
    (
        "inside",
        "x: in i32, y: out i32) {\nlet i = item_id()\nfor k in 0..4 {\ny[i * 4 + k] = x[i] ^ k\n}\n}",
        &[],
        &[4, 16],
        true,
    ),
    // x86 has no vector instructions for division.
    (
        "each",
        "x: in i32, y: out i32) {\nlet i = item_id()\nlet a = x[x[i] & 7]\ny[i] = ((a << (a & 31)) /_u (i + 1)) ^ mul_hi_u(a, x[i])\n}",
        &[],
        &[4, 4],
        true,
    ),
    (
        "halves",
        "a: f16x2, x: in f16x2, y: out f16x2) {\nlet i = item_id()\ny[i] = ffma(a, x[i * 3 & 15], x[i])\n}",
        &[0x3E00_3C00],
        &[4, 4],
        true,
    ),
    // The items diverge.
    (
        "guards",
        "z: in i32, x: in i32, y: out i32) {\nlet i = item_id()\nif x[i] & 1 == 1 {\ny[i] = z[x[i] & 15] * 3\n}\n}",
        &[],
        &[4, 4, 4],
        true,
    ),
    (
        "both",
        "z: in i8, x: in i32, y: out i32, w: out i8) {\nlet i = item_id()\nif x[i] & 4 == 0 {\ny[i * 2] = zext.i32(z[i]) + 1\n} else {\nw[i] = z[x[i] & 15]\ny[i * 2 + 1] = 5\n}\n}",
        &[],
        &[1, 4, 8, 1],
        true,
    ),
    (
        "steps",
        "x: in i32, y: out i32) {\nlet i = item_id()\nvar v = (x[i] & 255) + 1\nvar c = 0\nwhile v >_u 1 {\nif v & 1 == 0 {\nv = v >>_u 1\n} else {\nv = v * 3 + 1\n}\nc += 1\n}\ny[i] = c\n}",
        &[],
        &[4, 4],
        true,
    ),
    (
        "escapes",
        "n: i32, x: in f32, y: out i32) {\nlet i = item_id()\nvar a = x[i]\nvar k = 0\nwhile k <_s n {\nif a * a >= 4 {\nbreak\n}\na = ffma(a, a, x[i] - a)\nk += 1\n}\ny[i] = k\n}",
        &[30],
        &[4, 4],
        true,
    ),
    (
        "nested",
        "z: in i32, x: in i32, y: out i32) {\nlet i = item_id()\nlet v = x[i]\nvar s = i\nfor a in 0..v & 3 {\nfor b in 0..(v >>_u 4) & 3 {\nif a + b == 4 {\nbreak\n}\ns += z[a * 4 + b] * (b + 1)\n}\ns = s ^ a\n}\ny[i] = s\n}",
        &[],
        &[4, 4, 4],
        true,
    ),
    (
        "kept",
        "n: i32, x: in i32, y: out i32) {\nlet i = item_id()\nlet small = x[i] <_s 5\nvar s = i\nfor k in 0..n {\nif x[i] & 3 == k {\ncontinue\n}\ns += k\n}\ny[i] = if small { s } else { -s }\n}",
        &[6],
        &[4, 4],
        true,
    ),
    (
        "early",
        "x: in i32, y: out i32) {\nlet i = item_id()\nif x[i] & 7 == 0 {\nreturn\n}\nvar k = 0\ndo {\ny[i] = k\nk += 1\nif k == (x[i] & 7) {\nreturn\n}\n} while k <_s 5\n}",
        &[],
        &[4, 4],
        true,
    ),
    (
        "cut",
        "n: i32, x: in i32, y: out i32) {\nlet i = item_id()\nif i >=_u n {\nreturn\n}\nvar s = 0\nfor k in 0..3 {\ns += x[i * 3 + k]\n}\ny[i] = s\n}",
        &[45],
        &[12, 4],
        true,
    ),
    // Numbers overflow in loops, and infinity minus infinity is NaN. Some of the NaNs that loops
    // carry reach a store, a conversion to bits, or a selection.
    (
        "nan_stored",
        "n: i32, x: in f32, y: out f32, z: out i32) {\nlet i = item_id()\nvar (a, b, s) = (x[i], x[i * 2], f32(0))\nfor k in 0..n {\na = a * a - b\nb = a + a\ns = s - b\n}\ny[i] = a\nz[i] = select(b < s, i, n)\n}",
        &[9],
        &[8, 4, 4],
        true,
    ),
    (
        "nan_bits",
        "x: in f32, y: out i32) {\nlet i = item_id()\nvar (a, b) = (x[i], x[i * 2])\nvar k = bitcast.i32(a) & 15\nvar s = 0\nwhile k >_s 0 {\na = a * a - b\nb = ffma(b, b, a)\ns += bitcast.i32(b) & 7\nk -= 1\n}\ny[i] = bitcast.i32(a) ^ s\n}",
        &[],
        &[8, 4],
        true,
    ),
    (
        "nan_apart",
        "x: in f32, y: out f32, z: out i32) {\nlet i = item_id()\nvar (a, b, c) = (x[i], x[i * 2], f32(1))\nvar k = bitcast.i32(a) & 15\nwhile k >_s 0 {\nif b < a {\na = -(a * b)\nc = a - a\n} else {\nb = b * b\na = fabs(a - b)\n}\nk -= 1\n}\ny[i] = c\nz[i] = select(a < b, 1, 2)\n}",
        &[],
        &[8, 4, 4],
        true,
    ),
    // The access is out of bounds for some items.
    ("far", "z: in i32, x: in i32, y: out i32) {\nlet i = item_id()\ny[i] = z[x[i] & 127]\n}", &[], &[4, 4, 4], true),
    // Each item changes only its own elements.
    (
        "added",
        "n: i32, x: in i32, y: inout i32) {\nlet i = item_id()\nvar s = 0\nfor k in 0..n {\ns += x[i * n + k]\n}\ny[i] = y[i] * 3 + s\n}",
        &[3],
        &[12, 4],
        true,
    ),
    (
        "added_apart",
        "x: in i32, y: inout i32) {\nlet i = item_id()\nvar s = 0\nvar v = x[i] & 15\nwhile v >_s 0 {\ns += v\nv -= 3\n}\ny[i] = y[i] ^ s\n}",
        &[],
        &[4, 4],
        true,
    ),
    // Accesses to the parts of a structure for each item.
    (
        "pairs",
        "x: in i32, y: out i32) {\nlet i = item_id()\ny[2 * i + 1] = x[2 * i] + 1\ny[2 * i] = x[2 * i + 1] * 3\n}",
        &[],
        &[8, 8],
        true,
    ),
    (
        "quads",
        "x: in i32, y: out i32) {\nlet i = item_id()\nlet (a, b, c, d) = (x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3])\n\
         y[4 * i] = d ^ 1\ny[4 * i + 2] = b + a\ny[4 * i + 1] = c * 5\ny[4 * i + 3] = a - c\n}",
        &[],
        &[16, 16],
        true,
    ),
    (
        "wide_pairs",
        "x: in i64, y: out i64) {\nlet i = item_id()\ny[2 * i] = x[2 * i + 1] + 1\ny[2 * i + 1] = x[2 * i] ^ 5\n}",
        &[],
        &[16, 16],
        true,
    ),
    (
        "read_back",
        "x: in i32, y: inout i32) {\nlet i = item_id()\nvar s = x[x[i] & 3]\ny[i] = s\ny[i] = y[i] + 1\n}",
        &[],
        &[4, 4],
        false,
    ),
    (
        "beside",
        "x: in i32, y: inout i32) {\nlet i = item_id()\nlet s = x[x[i] & 3]\ny[i + 1] = y[i] + s\n}",
        &[],
        &[4, 8],
        false,
    ),
    // The kernel loads from a buffer to which it stores.
    (
        "in_place",
        "n: i32, y: inout i32) {\nlet i = item_id()\nfor k in 0..n {\ny[i] = y[i] * 3 + k\n}\n}",
        &[3],
        &[4],
        false,
    ),
    (
        "aliases",
        "x: in may_alias i32, y: inout may_alias i32) {\nlet i = item_id()\ny[i] = x[x[i] & 3]\n}",
        &[],
        &[4, 4],
        true,
    ),
];

/// Returns random bytes, in which many words are small.
fn bytes(random: &mut Random, size: usize) -> Given {
    Given::Bytes((0..size).map(|_| (random.bits() >> (random.bits() & 7)) as u8).collect())
}

#[test]
fn items_of_a_gang_leave_what_they_leave_one_after_another() {
    let mut random = Random(11);
    for (name, rest, scalars, items, _) in KERNELS {
        let alike = Alike::new(name, rest);
        let mut ended = 0;
        for count in (0..41).chain([64, 100, 129, 300]) {
            // The buffers are as large as the accesses need, smaller, or larger.
            for more in [64_i64, 0, -4, -40, 600] {
                let size = |each: usize| ((each as i64 * i64::from(count) + more).max(0) as usize).next_multiple_of(16);
                let words = scalars.iter().map(|&word| Given::Word(word));
                let buffers: Vec<Given> = items.iter().map(|&each| bytes(&mut random, size(each))).collect();
                let given: Vec<Given> = words.chain(buffers).collect();
                let left =
                    if name == "beside" { alike.check_function(count, &given) } else { alike.check(count, &given) };
                ended += u32::from(left.is_ok());
            }
        }
        assert!(ended > 40, "{name}: {ended} launches come to an end");
    }
}

/// A kernel on an image.
const LINES: &str = "w: i32, h: i32, x: in i32, y: out i32) {\nlet (i, j) = (item_id.x(), item_id.y())\n\
                if i <_s w && j <_u h {\nvar v = x[j * w + i] & 31\nvar s = 0\nwhile v >_s 0 {\ns += v * group_id.y()\n\
                v -= 3\n}\ny[j * w + i] = s + item_id()\n}\n}";

#[test]
fn gangs_are_of_lines() {
    let alike = Alike::new("lines", LINES);
    assert_eq!(alike.function.functions[0].vectorized, Vectorized::Gangs);
    let [width, height] = [60_u32, 7];
    let mut random = Random(12);
    let size = 4 * (width * height) as usize;
    let given = [Given::Word(width), Given::Word(height), bytes(&mut random, size), bytes(&mut random, size)];
    for (grid, block) in [
        ([3, 7, 1], [20, 1, 1]),
        ([10, 8, 1], [7, 1, 1]),
        ([1, 7, 1], [61, 1, 1]),
        ([4, 3, 2], [16, 1, 1]),
        ([4, 4, 1], [16, 2, 1]),
        ([60, 7, 1], [1, 1, 1]),
    ] {
        assert_eq!(alike.check(Shape { grid, block, shared: 0 }, &given), Ok(()));
    }
}

#[test]
fn budgets_are_those_of_items() {
    let text = "x: in i32, y: out i32) {\nlet i = item_id()\nvar k = x[i]\nwhile k >_s 0 {\nk -= 1\n}\ny[i] = k\n}";
    let alike = Alike::with_budget("budgets", text, 20);
    assert_eq!(alike.function.functions[0].vectorized, Vectorized::Gangs);
    let (mut random, mut over) = (Random(13), 0);
    for most in 15..27 {
        let words = (0..40).flat_map(|_| ((random.bits() % most) as u32).to_le_bytes());
        over += u32::from(alike.check(40, &[Given::Bytes(words.collect()), Given::Bytes(vec![0; 160])]).is_err());
    }
    assert!(over > 2, "{over} launches take too many branches");
}

#[test]
fn objects_have_gangs_where_computers_have_vectors() {
    for (triple, cpu, is_vector) in [
        ("x86_64-unknown-linux-gnu", None, false),
        ("x86_64-unknown-linux-gnu", Some("x86-64-v2"), true),
        ("x86_64-unknown-linux-gnu", Some("x86-64-v3"), true),
        ("aarch64-unknown-linux-gnu", None, true),
        ("riscv64gc-unknown-linux-gnu", None, false),
    ] {
        let machine = Machine::new(triple, cpu).unwrap();
        for (name, rest, _, _, gangs) in KERNELS {
            let program = program(name, rest);
            let kernel = program.kernels().next().unwrap();
            let object = native::object(&[(name, kernel)], &machine, &Options::default()).unwrap();
            let expected = if gangs && is_vector { Vectorized::Gangs } else { Vectorized::No };
            assert_eq!(object.functions[0].vectorized, expected, "{name}, {triple} {cpu:?}");
            let calls = |name: &[u8]| object.bytes.windows(name.len()).any(|bytes| bytes == name);
            assert!(!calls(b"fma") && !calls(b"__cranelift"), "{name}, {triple} {cpu:?}: it calls what is not there");
        }
    }
}
