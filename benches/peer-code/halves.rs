//! Operations on packed halves.

use std::ffi::CStr;

use halfbyte::abi::{ITEM_COUNT_OFFSET, PARAMS_OFFSET};
use halfbyte::runtime::Engine;

use crate::Bench;
use crate::data::{Aligned, Results, compare, first, halu, launch};
use crate::measure::Sample;
use crate::native::Compiler::{self, Gcc};

/// Size of a buffer in bytes; two buffers fit in the second-level cache.
const BUFFER_BYTES: usize = 128 << 10;
const ITEMS: u32 = BUFFER_BYTES as u32 / 4;
/// Millions of lane operations for one operation on a buffer.
const MEGA_LANES: f64 = BUFFER_BYTES as f64 / 2.0 / 1e6;

/// 1/3 and -1/4 as binary16.
const A_F16: u32 = 0xb400_3555;
/// 1/3 and -1/4 as bfloat16.
const A_BF16: u32 = 0xbe80_3eab;

/// Returns a random binary16 with a magnitude from 2^-4 to 2.
pub fn f16(bits: u64) -> u16 {
    let exponent = 11 + (bits >> 32) % 5;
    (bits & 0x83ff | exponent << 10) as u16
}

/// Returns a random bfloat16 with a magnitude from 2^-4 to 2.
fn bf16(bits: u64) -> u16 {
    let exponent = 123 + (bits >> 32) % 5;
    (bits & 0x807f | exponent << 7) as u16
}

/// Returns a kernel that computes `y = a * x + y` with the given modifiers and a type such as
/// `f16x2`.
fn axpy_text(ty: &str, modifiers: &str) -> String {
    format!(
        "kernel @axpy(%a: {ty}, %x: in {ty}, %y: inout {ty}) {{
         ^entry:
           %i = item_id
           %xi = load %x[%i]
           %yi = load %y[%i]
           %r = ffma{modifiers}.{ty} %a, %xi, %yi
           store %r, %y[%i]
           ret
         }}"
    )
}

/// Returns a kernel that evaluates a polynomial of degree 16 by Horner's rule, with the
/// coefficients of half.c.
pub fn polynomial_text() -> String {
    let mut text = String::from(
        "kernel @polynomial(%x: in f16x2, %y: inout f16x2) {
         ^entry:
           %i = item_id
           %xi = load %x[%i]\n",
    );
    for k in (0..=16).rev() {
        let sign = if k % 2 == 0 { "" } else { "-" };
        text += &format!("%c{k} = const.f16x2 {sign}{:.2}\n", f64::from(k + 3) / 20.0);
    }
    let mut sum = String::from("%c16");
    for k in (0..16).rev() {
        text += &format!("%p{k} = ffma.f16x2 {sum}, %xi, %c{k}\n");
        sum = format!("%p{k}");
    }
    text + "store %p0, %y[%i]\nret\n}"
}

/// Compares a kernel with a peer on random elements.
fn against(
    bench: &Bench,
    text: &str,
    scalar: u32,
    element: fn(u64) -> u16,
    operations: f64,
    (compiler, peer): (Compiler, &CStr),
) -> Result<Sample, String> {
    let program = halu(text)?;
    let kernel = first(&program)?;
    let peer = bench.peers.get(compiler, peer)?;
    let [x, y] = [1, 2].map(|seed| Aligned::of_random(BUFFER_BYTES, seed, element));
    let mut ours = |y: &mut [u8]| launch(kernel, Engine::JIT, ITEMS, scalar, &[&x], y);
    let mut peer = |y: &mut [u8]| {
        // SAFETY: it updates the bytes of y, which are as many as those of x.
        unsafe { peer.run(scalar, &x, y) };
        Ok(())
    };
    let seconds = compare(bench, &y, Results::Equal, &mut ours, &mut peer)?;
    Ok(Sample::of_speeds(operations * MEGA_LANES, seconds))
}

/// Measures axpy with rounding to nearest.
pub fn axpy(bench: &Bench, peer: &CStr) -> Result<Sample, String> {
    against(bench, &axpy_text("f16x2", ""), A_F16, f16, 1.0, (Gcc, peer))
}

/// Measures axpy on arbitrary bits, including NaNs, infinities and subnormals.
pub fn axpy_any_bits(bench: &Bench, peer: &CStr) -> Result<Sample, String> {
    against(bench, &axpy_text("f16x2", ""), A_F16, |bits| bits as u16, 1.0, (Gcc, peer))
}

/// Measures axpy on bfloat16 with rounding to nearest.
pub fn axpy_bf16(bench: &Bench, peer: &CStr) -> Result<Sample, String> {
    against(bench, &axpy_text("bf16x2", ""), A_BF16, bf16, 1.0, (Gcc, peer))
}

/// Measures the polynomial.
pub fn polynomial(bench: &Bench, peer: &CStr) -> Result<Sample, String> {
    against(bench, &polynomial_text(), 0, f16, 16.0, (Gcc, peer))
}

/// Compares axpy in a directed rounding with axpy in rounding to nearest.
pub fn axpy_directed(bench: &Bench, rounding: &str) -> Result<Sample, String> {
    let programs = [halu(&axpy_text("f16x2", &format!(".{rounding}")))?, halu(&axpy_text("f16x2", ""))?];
    let [directed, nearest] = [first(&programs[0])?, first(&programs[1])?];
    let [x, y] = [1, 2].map(|seed| Aligned::of_random(BUFFER_BYTES, seed, f16));
    let mut ours = |y: &mut [u8]| launch(directed, Engine::JIT, ITEMS, A_F16, &[&x], y);
    let mut peer = |y: &mut [u8]| launch(nearest, Engine::JIT, ITEMS, A_F16, &[&x], y);
    let seconds = compare(bench, &y, Results::Differ, &mut ours, &mut peer)?;
    Ok(Sample::of_speeds(MEGA_LANES, seconds))
}

/// Compares axpy with a naive interpreter loop on the same instruction words.
pub fn axpy_naive(bench: &Bench) -> Result<Sample, String> {
    let program = halu(&axpy_text("f16x2", ""))?;
    let kernel = first(&program)?;
    let Some(halfbyte::isa::halu::HaluCode(words)) = kernel.words().downcast_ref() else {
        return Err("not words of HALU".into());
    };
    let [x, y] = [1, 2].map(|seed| Aligned::of_random(BUFFER_BYTES, seed, f16));
    let mut constants = vec![0; usize::from(PARAMS_OFFSET) + 32];
    let mut put = |offset: u16, bytes: &[u8]| constants[usize::from(offset)..][..bytes.len()].copy_from_slice(bytes);
    let &[a_offset, x_offset, y_offset] = kernel.signature().offsets() else {
        return Err("not three parameters".into());
    };
    put(ITEM_COUNT_OFFSET, &ITEMS.to_le_bytes());
    put(a_offset, &A_F16.to_le_bytes());
    put(x_offset, &(x.as_ptr() as u64).to_le_bytes());
    let mut ours = |y: &mut [u8]| launch(kernel, Engine::JIT, ITEMS, A_F16, &[&x], y);
    let mut peer = |y: &mut [u8]| {
        constants[usize::from(y_offset)..][..8].copy_from_slice(&(y.as_mut_ptr() as u64).to_le_bytes());
        // SAFETY: the items access a word each of x and y, which have one for every item.
        unsafe { bench.peers.run_naive(words, &constants, ITEMS) }
    };
    let seconds = compare(bench, &y, Results::Equal, &mut ours, &mut peer)?;
    Ok(Sample::of_speeds(MEGA_LANES, seconds))
}
