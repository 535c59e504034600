//! Tests of the colour conversions in the standard library. The error of the integer arithmetic
//! against the real matrices is measured over all bytes.

use super::{check, is_stated};

/// Colour matrix: its weights of red and blue, and its integer coefficients for luma, chroma, and the inverse.
struct Matrix {
    name: &'static str,
    weights: (f64, f64),
    luma: [i32; 3],
    chroma: [[i32; 3]; 2],
    /// Inverse coefficients: V to red, U to green, V to green, U to blue.
    back: [i32; 4],
}

const MATRICES: [Matrix; 2] = [
    Matrix {
        name: "601",
        weights: (0.299, 0.114),
        luma: [66, 129, 25],
        chroma: [[-38, -74, 112], [112, -94, -18]],
        back: [409, -100, -208, 516],
    },
    Matrix {
        name: "709",
        weights: (0.2126, 0.0722),
        luma: [47, 157, 16],
        chroma: [[-26, -86, 112], [112, -102, -10]],
        back: [459, -55, -136, 541],
    },
];

impl Matrix {
    fn forth(&self, rgb: [i32; 3]) -> [i32; 3] {
        let row = |row: [i32; 3], add| ((row.iter().zip(rgb).map(|(a, b)| a * b).sum::<i32>() + 128) >> 8) + add;
        [row(self.luma, 16), row(self.chroma[0], 128), row(self.chroma[1], 128)]
    }

    fn back(&self, [y, u, v]: [i32; 3]) -> [i32; 3] {
        let (c, d, e) = (298 * (y - 16) + 128, u - 128, v - 128);
        [c + self.back[0] * e, c + self.back[1] * d + self.back[2] * e, c + self.back[3] * d].map(|sum| sum >> 8)
    }

    /// Returns the rows of the real matrix and of its inverse.
    fn rows(&self) -> ([[f64; 3]; 3], [[f64; 3]; 3]) {
        let (r, b) = self.weights;
        let g = 1.0 - r - b;
        let (luma, chroma) = (219.0 / 255.0, 224.0 / 255.0);
        let u = [-r, -g, 1.0 - b].map(|part| part / (2.0 * (1.0 - b)) * chroma);
        let v = [1.0 - r, -g, -b].map(|part| part / (2.0 * (1.0 - r)) * chroma);
        let (of_u, of_v) = (2.0 * (1.0 - b) / chroma, 2.0 * (1.0 - r) / chroma);
        let back = [[1.0 / luma, 0.0, of_v], [1.0 / luma, -of_u * b / g, -of_v * r / g], [1.0 / luma, of_u, 0.0]];
        ([[r, g, b].map(|part| part * luma), u, v], back)
    }
}

/// Returns the largest error of each of the three results of `form` over all triples of bytes.
/// `rows` is the exact matrix.
fn worst(form: impl Fn([i32; 3]) -> [i32; 3], rows: &[[f64; 3]; 3], before: [i32; 3], after: [f64; 3]) -> [f64; 3] {
    let mut worst = [0f64; 3];
    for bits in 0..1 << 24 {
        let bytes = [bits & 255, bits >> 8 & 255, bits >> 16];
        let found = form(bytes);
        for (k, row) in rows.iter().enumerate() {
            let exact: f64 = row.iter().zip(bytes).zip(before).map(|((a, b), less)| a * f64::from(b - less)).sum();
            worst[k] = worst[k].max((f64::from(found[k]) - exact - after[k]).abs());
        }
    }
    worst
}

#[test]
fn integer_formulas_meet_their_error_bounds() {
    for matrix in MATRICES {
        let (forth, back) = matrix.rows();
        let [luma, u, v] = worst(|rgb| matrix.forth(rgb), &forth, [0; 3], [16.0, 128.0, 128.0]);
        is_stated("colour", &format!("luma_{}", matrix.name), luma);
        is_stated("colour", &format!("chroma_{}", matrix.name), u.max(v));
        let errors = worst(|yuv| matrix.back(yuv), &back, [16, 128, 128], [0.0; 3]);
        is_stated("colour", &format!("rgb_{}", matrix.name), errors.into_iter().fold(0.0, f64::max));
    }
}

/// Each library function equals the integer formula of its matrix on all triples of 17 levels, including 0 and 255.
#[test]
fn functions_are_their_integer_forms() {
    let level = |k: u32| (k * 16).min(255);
    let values: Vec<(u32, u32)> =
        (0..17 * 17 * 17).map(|k| (level(k % 17) | level(k / 17 % 17) << 8 | level(k / 289) << 16, 0)).collect();
    let parts = |a: u32| [a & 255, a >> 8 & 255, a >> 16].map(|part| part as i32);
    for matrix in MATRICES {
        let name = matrix.name;
        let call = |body: &str| {
            let head = "let (p, q, r) = (a & 255, a >>_u 8 & 255, a >>_u 16)";
            format!("pick(a)\n}}\nfn pick(a: i32) -> i32 {{\n  {head}\n  {body}")
        };
        let words = ("i32", "i32");
        check("colour", words, &call(&format!("luma_{name}(p, q, r)")), &values, |a, _| {
            matrix.forth(parts(a))[0] as u32
        });
        for (k, part) in ["u", "v"].into_iter().enumerate() {
            let body = call(&format!("let (u, v) = chroma_{name}(p, q, r)\n  {part}"));
            check("colour", words, &body, &values, |a, _| matrix.forth(parts(a))[k + 1] as u32);
        }
        for (k, part) in ["red", "green", "blue"].into_iter().enumerate() {
            let body = call(&format!("let (red, green, blue) = rgb_{name}(p, q, r)\n  {part}"));
            check("colour", words, &body, &values, |a, _| matrix.back(parts(a))[k] as u32);
        }
        check("colour", words, &call(&format!("bitcast(pixel_{name}(p, q, r))")), &values, |a, _| {
            let [red, green, blue] = matrix.back(parts(a)).map(|part| part.clamp(0, 255) as u8);
            u32::from_le_bytes([red, green, blue, 255])
        });
    }
}
