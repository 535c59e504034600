//! The interpreter's domain. A word is a `u32`, a vector is an array, and sixteen predicates are a
//! `u16` with component 0 in the lowest bit.

use std::ops::{BitAnd, BitOr, Not};

use super::domain::{Domain, Logic};

/// Evaluates operations on concrete values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Concrete;

fn logic<T>(table: Logic, a: T, b: T) -> T
where
    T: Copy + Default + Not<Output = T> + BitAnd<Output = T> + BitOr<Output = T>,
{
    [!a & !b, !a & b, a & !b, a & b]
        .into_iter()
        .enumerate()
        .filter(|&(i, _)| table.table() >> i & 1 != 0)
        .fold(T::default(), |sum, (_, product)| sum | product)
}

fn zip<T: Copy>(a: [T; 16], b: [T; 16], mut f: impl FnMut(T, T) -> T) -> [T; 16] {
    std::array::from_fn(|i| f(a[i], b[i]))
}

fn collect(f: impl Fn(usize) -> bool) -> u16 {
    (0..16).fold(0, |mask, i| mask | u16::from(f(i)) << i)
}

/// Returns predicate `i` of two masks: 0 to 15 from `a`, 16 to 31 from `b`.
fn pick(a: u16, b: u16, i: u8) -> bool {
    (u32::from(b) << 16 | u32::from(a)) >> (i & 31) & 1 != 0
}

#[rustfmt::skip]
impl Domain for Concrete {
    type Word = u32;
    type Bytes = [u8; 16];
    type Wide = [i32; 16];
    type Mask = u16;

    fn word(&mut self, value: u32) -> u32 { value }
    fn logic(&mut self, table: Logic, a: u32, b: u32) -> u32 { logic(table, a, b) }
    fn shl(&mut self, a: u32, count: u32) -> u32 { a.wrapping_shl(count) }
    fn shr(&mut self, a: u32, count: u32) -> u32 { a.wrapping_shr(count) }
    fn sar(&mut self, a: u32, count: u32) -> u32 { (a as i32).wrapping_shr(count) as u32 }
    fn add(&mut self, a: u32, b: u32) -> u32 { a.wrapping_add(b) }
    fn sub(&mut self, a: u32, b: u32) -> u32 { a.wrapping_sub(b) }
    fn mul(&mut self, a: u32, b: u32) -> u32 { a.wrapping_mul(b) }
    fn equal(&mut self, a: u32, b: u32) -> u32 { (a == b).into() }
    fn less(&mut self, signed: bool, a: u32, b: u32) -> u32 {
        if signed { (a as i32) < b as i32 } else { a < b }.into()
    }
    fn select(&mut self, p: u32, a: u32, b: u32) -> u32 { if p != 0 { a } else { b } }

    fn bytes(&mut self, value: [u8; 16]) -> [u8; 16] { value }
    fn bytes_of_words(&mut self, words: [u32; 4]) -> [u8; 16] {
        let wide = words.iter().rev().fold(0, |wide, &w| wide << 32 | u128::from(w));
        wide.to_le_bytes()
    }
    fn word_of(&mut self, a: [u8; 16], k: u8) -> u32 { (u128::from_le_bytes(a) >> (32 * (k & 3))) as u32 }
    fn with_word(&mut self, a: [u8; 16], k: u8, word: u32) -> [u8; 16] {
        let (wide, shift) = (u128::from_le_bytes(a), 32 * (k & 3));
        (wide & !(u128::from(u32::MAX) << shift) | u128::from(word) << shift).to_le_bytes()
    }
    fn bytes_logic(&mut self, table: Logic, a: [u8; 16], b: [u8; 16]) -> [u8; 16] {
        logic(table, u128::from_le_bytes(a), u128::from_le_bytes(b)).to_le_bytes()
    }
    fn swizzle(&mut self, a: [u8; 16], b: [u8; 16], index: [u8; 16]) -> [u8; 16] {
        index.map(|i| if i & 16 == 0 { a } else { b }[usize::from(i & 15)])
    }
    fn narrow(&mut self, a: [i32; 16]) -> [u8; 16] { a.map(|x| x as u8) }

    fn splat(&mut self, a: u32) -> [i32; 16] { [a as i32; 16] }
    fn widen(&mut self, signed: bool, a: [u8; 16]) -> [i32; 16] {
        if signed { a.map(|x| (x as i8).into()) } else { a.map(i32::from) }
    }
    fn wide_add(&mut self, a: [i32; 16], b: [i32; 16]) -> [i32; 16] { zip(a, b, i32::wrapping_add) }
    fn wide_sub(&mut self, a: [i32; 16], b: [i32; 16]) -> [i32; 16] { zip(a, b, i32::wrapping_sub) }
    fn wide_mul(&mut self, a: [i32; 16], b: [i32; 16]) -> [i32; 16] { zip(a, b, i32::wrapping_mul) }
    fn wide_shl(&mut self, a: [i32; 16], count: u32) -> [i32; 16] { a.map(|x| x.wrapping_shl(count)) }
    fn wide_sar(&mut self, a: [i32; 16], count: u32) -> [i32; 16] { a.map(|x| x.wrapping_shr(count)) }
    fn wide_sar_each(&mut self, a: [i32; 16], counts: [i32; 16]) -> [i32; 16] {
        zip(a, counts, |x, count| x.wrapping_shr(count as u32))
    }
    fn wide_min(&mut self, a: [i32; 16], b: [i32; 16]) -> [i32; 16] { zip(a, b, i32::min) }
    fn wide_max(&mut self, a: [i32; 16], b: [i32; 16]) -> [i32; 16] { zip(a, b, i32::max) }
    fn wide_select(&mut self, p: u16, a: [i32; 16], b: [i32; 16]) -> [i32; 16] {
        std::array::from_fn(|i| if p >> i & 1 != 0 { a[i] } else { b[i] })
    }

    fn wide_equal(&mut self, a: [i32; 16], b: [i32; 16]) -> u16 { collect(|i| a[i] == b[i]) }
    fn wide_less(&mut self, a: [i32; 16], b: [i32; 16]) -> u16 { collect(|i| a[i] < b[i]) }
    fn mask_logic(&mut self, table: Logic, a: u16, b: u16) -> u16 { logic(table, a, b) }
    fn mask_shuffle(&mut self, a: u16, b: u16, index: &[u8; 16]) -> u16 { collect(|i| pick(a, b, index[i])) }
    fn mask(&mut self, bits: u32) -> u16 { bits as u16 }
    fn mask_bits(&mut self, a: u16) -> u32 { a.into() }
}
