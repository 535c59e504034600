//! Comparisons that show the cost of control flow and the speedup by threads.

use std::ffi::CStr;
use std::num::NonZero;

use halfbyte::runtime::Engine;

use crate::Bench;
use crate::data::{Aligned, Results, compare, first, halu, launch};
use crate::halves;
use crate::measure::Sample;
use crate::native::Compiler::Gcc;

/// Returns the text of a kernel that branches on the last bit of a word. The word is `%p`, which
/// differs between items, or `%t`, which is uniform.
fn branch(word: &str) -> String {
    format!(
        "kernel @branch(%t: i8x4, %x: in i8x4, %y: inout i8x4) {{
         ^entry:
           %i = item_id
           %p = load %x[%i]
           %q = load %y[%i]
           %w = bitcast.i32 {word}
           %0 = const.i32 0
           %1 = const.i32 1
           %b = and.i32 %w, %1
           %c = icmp.eq.i32 %b, %0
           br_if %c, ^even, ^odd
         ^even:
           %e0 = avg_u.i8x4 %p, %q
           %e1 = absdiff_u.i8x4 %e0, %p
           %e2 = add_sat_u.i8x4 %e1, %q
           %e3 = max_u.i8x4 %e2, %p
           br ^done(%e3)
         ^odd:
           %o0 = sub_sat_u.i8x4 %p, %q
           %o1 = max_u.i8x4 %o0, %q
           %o2 = avg_u.i8x4 %o1, %p
           %o3 = absdiff_u.i8x4 %o2, %q
           br ^done(%o3)
         ^done(%r: i8x4):
           store %r, %y[%i]
           ret
         }}"
    )
}

/// Compares a kernel in which a random half of the items takes a branch with a kernel in which the
/// branch is uniform.
pub fn divergent(bench: &Bench) -> Result<Sample, String> {
    const BYTES: usize = 64 << 10;
    let items = BYTES as u32 / 4;
    let programs = [halu(&branch("%p"))?, halu(&branch("%t"))?];
    let [divergent, uniform] = [first(&programs[0])?, first(&programs[1])?];
    let [x, y] = [1, 2].map(|seed| Aligned::of_random(BYTES, seed, |bits| bits as u16));
    let mut ours = |y: &mut [u8]| launch(divergent, Engine::JIT, items, 0, &[&x], y);
    let mut peer = |y: &mut [u8]| launch(uniform, Engine::JIT, items, 0, &[&x], y);
    let seconds = compare(bench, &y, Results::Differ, &mut ours, &mut peer)?;
    Ok(Sample::of_speeds(f64::from(items) / 1e6, seconds))
}

/// Size in bytes of a buffer that is large enough for two threads.
const SHARED: usize = 4 << 20;
/// Millions of lane operations if the polynomial is evaluated on a buffer of [`SHARED`] bytes.
const SHARED_WORK: f64 = 16.0 * SHARED as f64 / 2.0 / 1e6;

/// Compares the polynomial on two threads with the polynomial on one thread.
pub fn threads(bench: &Bench) -> Result<Sample, String> {
    let program = halu(&halves::polynomial_text())?;
    let kernel = first(&program)?;
    let two = Engine::Jit { threads: NonZero::<u16>::MIN.saturating_add(1) };
    let x = Aligned::of_random(SHARED, 1, halves::f16);
    let items = SHARED as u32 / 4;
    let mut ours = |y: &mut [u8]| launch(kernel, two, items, 0, &[&x], y);
    let mut peer = |y: &mut [u8]| launch(kernel, Engine::JIT, items, 0, &[&x], y);
    let seconds = compare(bench, &x, Results::Equal, &mut ours, &mut peer)?;
    Ok(Sample::of_speeds(SHARED_WORK, seconds))
}

/// Compares C code on two threads with the same code on one thread. The ratio is the speedup that this computer allows.
pub fn native_threads(bench: &Bench, peer: &CStr) -> Result<Sample, String> {
    let peer = bench.peers.get(Gcc, peer)?;
    let x = Aligned::of_random(SHARED, 1, halves::f16);
    // SAFETY: the function reads x and updates y, which have the same number of bytes.
    let run = |x: &[u8], y: &mut [u8]| unsafe { peer.run(0, x, y) };
    let mut two = |y: &mut [u8]| {
        let (x_parts, y_parts) = (x.split_at(SHARED / 2), y.split_at_mut(SHARED / 2));
        std::thread::scope(|scope| {
            scope.spawn(|| run(x_parts.0, y_parts.0));
            run(x_parts.1, y_parts.1);
        });
        Ok(())
    };
    let mut one = |y: &mut [u8]| {
        run(&x, y);
        Ok(())
    };
    let seconds = compare(bench, &x, Results::Equal, &mut two, &mut one)?;
    Ok(Sample::of_speeds(SHARED_WORK, seconds))
}
