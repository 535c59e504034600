//! Comparisons of operations on packed halves.

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
/// Millions of lane operations if one operation is executed on each half of a buffer.
const MEGA_LANES: f64 = BUFFER_BYTES as f64 / 2.0 / 1e6;

/// The scalar of axpy: 1/3 and -1/4 as f16.
const A_F16: u32 = 0xb400_3555;
/// The scalar of axpy: 1/3 and -1/4 as bfloat16.
const A_BF16: u32 = 0xbe80_3eab;

/// Returns the bits of a random f16 with a magnitude from 2^-4 to 2.
pub fn f16(bits: u64) -> u16 {
    let exponent = 11 + (bits >> 32) % 5;
    (bits & 0x83ff | exponent << 10) as u16
}

/// Returns the bits of a random bfloat16 with a magnitude from 2^-4 to 2.
fn bf16(bits: u64) -> u16 {
    let exponent = 123 + (bits >> 32) % 5;
    (bits & 0x807f | exponent << 7) as u16
}

/// Returns the text of a kernel that computes `y = a * x + y`. `ty` is a type such as `f16x2`.
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

/// Returns the text of a kernel that evaluates a polynomial of degree 16 by Horner's rule. The file
/// half.c has the same coefficients.
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

/// Compares a kernel with a C function on random elements.
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
        // SAFETY: the function reads x and updates y, which have the same number of bytes.
        unsafe { peer.run(scalar, &x, y) };
        Ok(())
    };
    let seconds = compare(bench, &y, Results::Equal, &mut ours, &mut peer)?;
    Ok(Sample::of_speeds(operations * MEGA_LANES, seconds))
}

/// Compares axpy on f16, with rounding to nearest, with a C function.
pub fn axpy(bench: &Bench, peer: &CStr) -> Result<Sample, String> {
    against(bench, &axpy_text("f16x2", ""), A_F16, f16, 1.0, (Gcc, peer))
}

/// Compares axpy on f16 with a C function. The operands are uniformly random bits, which include
/// NaNs, infinities and subnormals.
pub fn axpy_any_bits(bench: &Bench, peer: &CStr) -> Result<Sample, String> {
    against(bench, &axpy_text("f16x2", ""), A_F16, |bits| bits as u16, 1.0, (Gcc, peer))
}

/// Compares axpy on bfloat16, with rounding to nearest, with a C function.
pub fn axpy_bf16(bench: &Bench, peer: &CStr) -> Result<Sample, String> {
    against(bench, &axpy_text("bf16x2", ""), A_BF16, bf16, 1.0, (Gcc, peer))
}

/// Compares the polynomial of degree 16 with a C function.
pub fn polynomial(bench: &Bench, peer: &CStr) -> Result<Sample, String> {
    against(bench, &polynomial_text(), 0, f16, 16.0, (Gcc, peer))
}

/// Compares axpy with a directed rounding with axpy with rounding to nearest.
pub fn axpy_directed(bench: &Bench, rounding: &str) -> Result<Sample, String> {
    let programs = [halu(&axpy_text("f16x2", &format!(".{rounding}")))?, halu(&axpy_text("f16x2", ""))?];
    let [directed, nearest] = [first(&programs[0])?, first(&programs[1])?];
    let [x, y] = [1, 2].map(|seed| Aligned::of_random(BUFFER_BYTES, seed, f16));
    let mut ours = |y: &mut [u8]| launch(directed, Engine::JIT, ITEMS, A_F16, &[&x], y);
    let mut peer = |y: &mut [u8]| launch(nearest, Engine::JIT, ITEMS, A_F16, &[&x], y);
    let seconds = compare(bench, &y, Results::Differ, &mut ours, &mut peer)?;
    Ok(Sample::of_speeds(MEGA_LANES, seconds))
}

/// Compares axpy on native code with a naive interpreter of the same instruction words.
pub fn axpy_naive(bench: &Bench) -> Result<Sample, String> {
    let program = halu(&axpy_text("f16x2", ""))?;
    let kernel = first(&program)?;
    let Some(halfbyte::isa::halu::HaluCode(words)) = kernel.words().downcast_ref() else {
        return Err("the kernel is not HALU code".into());
    };
    let [x, y] = [1, 2].map(|seed| Aligned::of_random(BUFFER_BYTES, seed, f16));
    let mut constants = vec![0; usize::from(PARAMS_OFFSET) + 32];
    let mut put = |offset: u16, bytes: &[u8]| constants[usize::from(offset)..][..bytes.len()].copy_from_slice(bytes);
    let &[a_offset, x_offset, y_offset] = kernel.signature().offsets() else {
        return Err("the kernel does not have three parameters".into());
    };
    put(ITEM_COUNT_OFFSET, &ITEMS.to_le_bytes());
    put(a_offset, &A_F16.to_le_bytes());
    put(x_offset, &(x.as_ptr() as u64).to_le_bytes());
    let mut ours = |y: &mut [u8]| launch(kernel, Engine::JIT, ITEMS, A_F16, &[&x], y);
    let mut peer = |y: &mut [u8]| {
        constants[usize::from(y_offset)..][..8].copy_from_slice(&(y.as_mut_ptr() as u64).to_le_bytes());
        // SAFETY: each item accesses one word of x and one of y, and both have a word for every item.
        unsafe { bench.peers.run_naive(words, &constants, ITEMS) }
    };
    let seconds = compare(bench, &y, Results::Equal, &mut ours, &mut peer)?;
    Ok(Sample::of_speeds(MEGA_LANES, seconds))
}
