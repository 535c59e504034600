//! Comparisons of operations on bytes, four bytes in each 32-bit word.

use std::ffi::CStr;

use halfbyte::runtime::Engine;

use crate::Bench;
use crate::data::{Aligned, Results, compare, compare_bound, first, halu, launch};
use crate::measure::Sample;
use crate::native::Compiler::Gcc;

/// Size of a buffer in bytes. Two buffers of this size fit in the first-level cache.
pub const SMALL: usize = 8 << 10;
/// Size of a buffer in bytes. Two buffers of this size fit in the second-level cache.
pub const CACHED: usize = 128 << 10;
/// Size in bytes of a buffer that fits in no cache.
pub const LARGE: usize = 64 << 20;

/// Number of memory accesses per element: two loads, from both buffers, and one store.
const ACCESSES: f64 = 3.0;

const ADD_SAT: &str = "
    kernel @add_sat(%x: in i8x4, %y: inout i8x4) {
    ^entry:
      %i = item_id
      %p = load %x[%i]
      %q = load %y[%i]
      %r = add_sat_u.i8x4 %p, %q
      store %r, %y[%i]
      ret
    }";

const VIDEO: &str = "
    kernel @video(%x: in i8x4, %y: inout i8x4) {
    ^entry:
      %i = item_id
      %p = load %x[%i]
      %q = load %y[%i]
      %a = avg_u.i8x4 %p, %q
      %d = absdiff_u.i8x4 %a, %p
      %r = max_u.i8x4 %d, %q
      store %r, %y[%i]
      ret
    }";

fn brighten(direction: &str) -> String {
    format!(
        "kernel @brighten(%by: i8x4, %x: in i8x4, %y: {direction} i8x4) {{
         ^entry:
           %i = item_id
           %p = load %x[%i]
           %r = add_sat_u.i8x4 %p, %by
           store %r, %y[%i]
           ret
         }}"
    )
}

fn against(bench: &Bench, text: &str, bytes: usize, peer: &CStr) -> Result<Sample, String> {
    let program = halu(text)?;
    let kernel = first(&program)?;
    let peer = bench.peers.get(Gcc, peer)?;
    let [x, y] = [1, 2].map(|seed| Aligned::of_random(bytes, seed, |bits| bits as u16));
    let items = bytes as u32 / 4;
    let mut ours = |y: &mut [u8]| launch(kernel, Engine::JIT, items, 0, &[&x], y);
    let mut peer = |y: &mut [u8]| {
        // SAFETY: the function reads x and updates y, which have the same number of bytes.
        unsafe { peer.run(0, &x, y) };
        Ok(())
    };
    let seconds = compare(bench, &y, Results::Equal, &mut ours, &mut peer)?;
    Ok(Sample::of_speeds(ACCESSES * bytes as f64 / 1e9, seconds))
}

/// Compares a bound kernel that computes a saturating sum with a peer. The kernel is bound to its
/// buffers once and launched repeatedly.
pub fn add_sat_bound(bench: &Bench, bytes: usize, peer: &CStr) -> Result<Sample, String> {
    let program = halu(ADD_SAT)?;
    let kernel = first(&program)?;
    let peer = bench.peers.get(Gcc, peer)?;
    let [x, y] = [1, 2].map(|seed| Aligned::of_random(bytes, seed, |bits| bits as u16));
    let mut peer = |y: &mut [u8]| {
        // SAFETY: the function reads x and updates y, which have the same number of bytes.
        unsafe { peer.run(0, &x, y) };
        Ok(())
    };
    let seconds = compare_bound(bench, kernel, &[&x], &y, bytes as u32 / 4, &mut peer)?;
    Ok(Sample::of_speeds(ACCESSES * bytes as f64 / 1e9, seconds))
}

/// Compares a kernel that computes a saturating sum with a peer.
pub fn add_sat(bench: &Bench, bytes: usize, peer: &CStr) -> Result<Sample, String> {
    against(bench, ADD_SAT, bytes, peer)
}

/// Compares a kernel with the video instructions `vavrg4`, `vabsdiff4` and `vmax4` with a peer.
pub fn video(bench: &Bench, peer: &CStr) -> Result<Sample, String> {
    against(bench, VIDEO, CACHED, peer)
}

/// Compares the speed of a kernel with an `out` buffer, which the launch fills with zeros, with
/// that of the same kernel with an `inout` buffer.
pub fn out(bench: &Bench) -> Result<Sample, String> {
    let programs = [halu(&brighten("out"))?, halu(&brighten("inout"))?];
    let [out, inout] = [first(&programs[0])?, first(&programs[1])?];
    let x = Aligned::of_random(CACHED, 1, |bits| bits as u16);
    let items = CACHED as u32 / 4;
    let mut ours = |y: &mut [u8]| launch(out, Engine::JIT, items, 0x0102_0304, &[&x], y);
    let mut peer = |y: &mut [u8]| launch(inout, Engine::JIT, items, 0x0102_0304, &[&x], y);
    let seconds = compare(bench, &x, Results::Equal, &mut ours, &mut peer)?;
    Ok(Sample::of_speeds(2.0 * CACHED as f64 / 1e9, seconds))
}
