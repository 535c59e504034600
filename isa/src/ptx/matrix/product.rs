//! Matrix products with results that are bit-exact for each SM.

use super::block::{Adder, COLUMNS, Columns, Float, Row, in_half, sum};
use super::{Family, Matrix, MatrixOperand, ProductShape};
use crate::half::Format;
use crate::ptx::types::Type;

/// Parameters of an SM's matrix unit.
#[derive(Clone, Copy)]
struct Unit {
    /// Number of products that are added in one step.
    at_once: u32,
    /// Number of bits below the largest exponent to which each term is truncated.
    kept: u32,
    /// Number of fraction bits to which an f32 result is rounded.
    rounded: u32,
    /// `true` if `ptxas` emulates products of 8-bit floats by products of halves. The elements in the low halves of the
    /// registers are multiplied first, then those in the high halves. An ordinary addition adds C.
    as_halves: bool,
}

impl Unit {
    const fn new(at_once: u32, kept: u32) -> Unit {
        Unit { at_once, kept, rounded: Float::F32.fraction, as_halves: false }
    }

    /// Returns the parameters with which an SM computes a product.
    const fn of(form: &ProductShape, sm: u16) -> Unit {
        let k = form.k;
        match (form.ty(MatrixOperand::A), sm) {
            // For `wmma`, `ptxas` splits this product into two products with `k` = 4.
            (Type::Tf32, 90..) if matches!(form.family, Family::Wmma) => Unit::new(4, 25),
            (Type::E4m3 | Type::E5m2, _) if matches!(form.family, Family::Wgmma) => {
                Unit { rounded: 13, ..Unit::new(k, 13) }
            }
            (Type::E4m3 | Type::E5m2, ..=89) => Unit { rounded: 13, ..Unit::new(16, 13) },
            (Type::E4m3 | Type::E5m2, 90..=119) => Unit { as_halves: true, ..Unit::new(k / 2, 25) },
            (_, 90..) => Unit::new(k, 25),
            (_, ..=74) => Unit::new(4, 23),
            (Type::Tf32, _) => Unit::new(4, 24),
            _ => Unit::new(8, 24),
        }
    }
}

/// Computes `D = A * B + C` with the bit-exact result of an SM.
pub fn multiply(form: &ProductShape, sm: u16, a: &Matrix, b: &Matrix, c: &Matrix) -> Matrix {
    match (
        Float::of(form.ty(MatrixOperand::A)),
        Float::of(form.ty(MatrixOperand::B)),
        Float::of(form.ty(MatrixOperand::D)),
    ) {
        (Some(of_a), Some(of_b), Some(to)) => floats(form, sm, [of_a, of_b], to, [a, b, c]),
        _ => integers(form, [a, b, c]),
    }
}

fn floats(form: &ProductShape, sm: u16, of: [Float; 2], to: Float, [a, b, c]: [&Matrix; 3]) -> Matrix {
    let unit = Unit::of(form, sm);
    let read = |of: Float, bits: u32| match unit.as_halves {
        true => Float::F16.read(in_half(of, bits)),
        false => of.read(bits),
    };
    // If `ptxas` emulates 8-bit floats, the elements in the low halves of the registers come first.
    let order: Vec<u32> = match unit.as_halves {
        true => (0..form.k).filter(|k| k & 2 == 0).chain((0..form.k).filter(|k| k & 2 != 0)).collect(),
        false => (0..form.k).collect(),
    };
    let of_a = |row| order.iter().map(move |&k| (row, k)).map(|(row, k)| read(of[0], a.at(row, k))).collect::<Row>();
    let rows: Vec<Row> = (0..form.m).map(of_a).collect();
    let of_b = |first: u32, k: u32| std::array::from_fn(|column| read(of[1], b.at(k, first + column as u32)));
    let of = if unit.as_halves { [Float::F16; 2] } else { of };
    let rounded = if to == Float::F32 { unit.rounded } else { to.fraction };
    let adder = Adder { of, to, at_once: unit.at_once as usize, kept: unit.kept, rounded };
    let is_widened = form.ty(MatrixOperand::C) != form.ty(MatrixOperand::D);
    let mut d = Matrix::new(form.extent(MatrixOperand::D));
    // The number of columns is a multiple of eight in every product shape.
    for first in (0..form.n).step_by(COLUMNS) {
        let columns: Columns = order.iter().map(|&k| of_b(first, k)).collect();
        for (row, of_a) in (0..).zip(&rows) {
            let c: [u32; COLUMNS] = std::array::from_fn(|column| c.at(row, first + column as u32));
            let c = if is_widened { c.map(|c| Format::F16.widen(c as u16)) } else { c };
            let added = adder.add(of_a, &columns, if unit.as_halves { [0; COLUMNS] } else { c });
            for (column, (c, added)) in (first..).zip(c.into_iter().zip(added)) {
                d.set(row, column, if unit.as_halves { sum(to, c, added) } else { added });
            }
        }
    }
    d
}

fn integers(form: &ProductShape, [a, b, c]: [&Matrix; 3]) -> Matrix {
    let read = |ty: Type, bits: u32| match ty.is_signed() {
        true => i64::from((bits << (32 - ty.bits())) as i32 >> (32 - ty.bits())),
        false => i64::from(bits),
    };
    let [_, of_a, of_b, _] = form.types;
    let product = |a: u32, b: u32| match of_a {
        Type::B1 if form.and => i64::from((a & b).count_ones()),
        Type::B1 => i64::from((a ^ b).count_ones()),
        _ => read(of_a, a) * read(of_b, b),
    };
    let mut d = Matrix::new(form.extent(MatrixOperand::D));
    for row in 0..form.m {
        for column in 0..form.n {
            let products = (0..form.k).map(|k| product(a.at(row, k), b.at(k, column)));
            let sum = i64::from(c.at(row, column) as i32) + products.sum::<i64>();
            let limited = if form.saturates { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
            d.set(row, column, limited as u32);
        }
    }
    d
}
