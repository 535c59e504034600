//! Tests of matrix products: the test vectors, cases in which SMs give different bits, and the layout of fragments.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use halfbyte_isa::ptx::matrix::{ElementPosition, Family, LANES, Matrix, MatrixOperand, ProductShape, multiply};
use halfbyte_isa::ptx::types::{Token, Type};
use serde_json::Value;

fn form(op: &str) -> ProductShape {
    let words: Vec<Token> = op.split('.').skip(1).map(|word| Token::from_text(word).expect(word)).collect();
    ProductShape::of(&words).expect(op)
}

/// Parses the elements of a matrix from bytes in hexadecimal. Elements narrower than a byte are
/// packed from the low bits up.
fn elements(text: &str, bits: u32) -> Vec<u32> {
    let bytes: Vec<u8> =
        (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect();
    if bits < 8 {
        let mask = (1 << bits) - 1;
        let of_byte = |byte: u8| (0..8 / bits).map(move |k| u32::from(byte) >> (k * bits) & mask);
        return bytes.into_iter().flat_map(of_byte).collect();
    }
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
    bytes.chunks_exact(bits as usize / 8).map(word).collect()
}

fn matrix(form: &ProductShape, part: MatrixOperand, text: &str) -> Matrix {
    let ty = form.ty(part);
    let [rows, columns] = form.extent(part);
    let all = elements(text, ty.bits());
    if ty != Type::B1 {
        assert_eq!(all.len(), (rows * columns) as usize);
        return Matrix::of(columns, all);
    }
    // Single bits are packed in 32-bit words along the inner dimension.
    let mut words = Matrix::new([rows, columns]);
    let bit = |row: u32, column: u32, i: u32| match part {
        MatrixOperand::A => all[(row * 32 * columns + 32 * column + i) as usize],
        _ => all[((32 * row + i) * columns + column) as usize],
    };
    for row in 0..rows {
        for column in 0..columns {
            words.set(row, column, (0..32).fold(0, |word, i| word | bit(row, column, i) << i));
        }
    }
    words
}

#[test]
fn products_are_those_of_the_vectors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/mma.jsonl");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut lines = 0;
    for line in text.lines() {
        let vector: Value = serde_json::from_str(line).expect("a JSON object");
        let form = form(vector["op"].as_str().unwrap());
        let sm = vector["sm"].as_u64().unwrap() as u16;
        let [a, b, c, d] =
            [(MatrixOperand::A, "a"), (MatrixOperand::B, "b"), (MatrixOperand::C, "c"), (MatrixOperand::D, "d")]
                .map(|(part, name)| matrix(&form, part, vector[name].as_str().unwrap()));
        let found = multiply(&form, sm, &a, &b, &c);
        let wrong = found.elements().iter().zip(d.elements()).position(|(found, expected)| found != expected);
        if let Some(place) = wrong {
            let (found, expected) = (found.elements()[place], d.elements()[place]);
            panic!("element {place} is {found:#x}, not {expected:#x}: {} sm_{sm} {}", vector["op"], vector["cat"]);
        }
        lines += 1;
    }
    assert_eq!(lines, 1492);
}

/// Computes a matrix product of which only one element is not zero. Returns the bits of this
/// element: the sum of `c` and the dot product of the pairs.
fn dot(op: &str, sm: u16, pairs: &[(u32, u32)], c: u32) -> u32 {
    let form = form(op);
    let [mut a, mut b, mut of_c] =
        [MatrixOperand::A, MatrixOperand::B, MatrixOperand::C].map(|part| Matrix::new(form.extent(part)));
    for (k, &(left, right)) in (0..).zip(pairs) {
        a.set(0, k, left);
        b.set(k, 0, right);
    }
    of_c.set(0, 0, c);
    multiply(&form, sm, &a, &b, &of_c).at(0, 0)
}

#[test]
fn products_depend_on_the_sm() {
    let op = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
    let old = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32";
    // The factors of two products: `small` is 2^-12 and 2^-12, `smaller` is 2^-13 and 2^-12.
    let (small, smaller) = ((0x0C00, 0x0C00), (0x0800, 0x0C00));
    assert_eq!(dot(old, 75, &[small; 8], 0x3F80_0000), 0x3F80_0004);
    for sm in [80, 86, 87, 89, 90, 100, 120] {
        assert_eq!(dot(op, sm, &[small; 8], 0x3F80_0000), 0x3F80_0004, "sm_{sm}");
        let expected = if sm < 90 { 0x3F80_0000 } else { 0x3F80_0002 };
        assert_eq!(dot(op, sm, &[smaller; 8], 0x3F80_0000), expected, "sm_{sm}");
        // The exact sum is 1 - 1 + 2^-26, but the last term is truncated to zero.
        assert_eq!(dot(op, sm, &[(0x3C00, 0x3C00), (0x0800, 0x0800)], 0xBF80_0000), 0, "sm_{sm}");
    }
    let halves = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
    let mut pairs = [(0, 0); 16];
    (pairs[0], pairs[8]) = ((0x3C00, 0x3C00), (0x3C00, 0x3C00));
    assert_eq!(dot(halves, 80, &pairs, 0x6800), 0x6800);
    assert_eq!(dot(halves, 90, &pairs, 0x6800), 0x6801);
    let bytes = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32";
    // The factors are 1 and 1 in the first product, and 2^-7 and 2^-7 in all other products.
    let mut pairs = [(0x04, 0x04); 32];
    pairs[0] = (0x38, 0x38);
    assert_eq!(dot(bytes, 89, &pairs, 0), 0x3F80_0000);
    assert_eq!(dot(bytes, 90, &pairs, 0), 0x3F80_3E00);
    let quads = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32";
    assert_eq!(dot(quads, 70, &[small; 4], 0x3F80_0000), 0x3F80_0000);
    assert_eq!(dot(quads, 75, &[small; 4], 0x3F80_0000), 0x3F80_0002);
}

/// Each element of a fragment's registers must belong to one lane, and all matrix elements must
/// occur. In `wmma`, several registers may hold the same element.
#[test]
fn fragments_have_each_element_once() {
    let ops = [
        "m8n8k4.row.col.f32.f16.f16.f32",
        "m8n8k4.col.row.f16.f16.f16.f16",
        "m16n8k8.row.col.f32.f16.f16.f32",
        "m16n8k16.row.col.f16.f16.f16.f16",
        "m16n8k4.row.col.f32.tf32.tf32.f32",
        "m16n8k8.row.col.f32.tf32.tf32.f32",
        "m16n8k32.row.col.f32.e4m3.e5m2.f32",
        "m8n8k16.row.col.s32.s8.u8.s32",
        "m16n8k64.row.col.s32.s4.u4.s32",
        "m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
        "m16n8k256.row.col.s32.b1.b1.s32.and.popc",
        "mma.row.col.m16n16k16.f32.f32",
        "mma.row.col.m8n32k16.f16.f16",
        "mma.row.col.m32n8k16.f32.f32",
        "mma.row.col.m8n32k16.f32.bf16.bf16.f32",
        "mma.row.col.m32n8k16.s32.s8.s8.s32",
        "mma.row.col.m16n16k8.f32.tf32.tf32.f32",
        "mma.row.col.m8n8k32.s32.s4.s4.s32",
        "mma.xor.popc.row.col.m8n8k128.s32.b1.b1.s32",
    ];
    for op in ops {
        let form = form(&format!("mma.{op}"));
        for part in [MatrixOperand::A, MatrixOperand::B, MatrixOperand::C, MatrixOperand::D] {
            let [rows, columns] = form.extent(part);
            let mut met = HashSet::new();
            for lane in 0..LANES {
                for register in 0..form.registers(part) as u32 {
                    for i in 0..form.in_register(part) {
                        let ElementPosition { product, row, column } = form.place(part, lane, register, i);
                        assert!(product < form.products() && row < rows && column < columns, "{op} {part:?}");
                        let is_new = met.insert((product, row, column));
                        assert!(
                            is_new || form.family == Family::Wmma && form.ty(part) == Type::F16,
                            "{op} {part:?} {row} {column}"
                        );
                    }
                }
            }
            assert_eq!(met.len() as u32, form.products() * rows * columns, "{op} {part:?}");
        }
    }
}
