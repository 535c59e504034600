//! Comparisons of VP1 kernels on data in the data store. A kernel processes one tile repeatedly, so
//! that the copies to and from the data store take no significant time.

use std::ffi::CStr;

use halfbyte::abi::Direction;
use halfbyte::runtime::{Engine, Program};

use crate::Bench;
use crate::assembly::{buffer, scalar, vp1_object};
use crate::data::{Aligned, Results, compare, first, launch};
use crate::measure::Sample;
use crate::native::Compiler::Clang;

/// Size of a vector in bytes; an item is one vector.
const VECTOR: usize = 16;
/// Number of vectors in a stream.
const VECTORS: usize = 128;
/// Number of passes over the data in a launch.
const PASSES: u32 = 1000;

/// Assembly of `y = x + w`. The loop has three bundles; each iteration stores one vector and adds
/// the next vector.
const VADD: &str = "
             |  mov $r9 $m0         |                      |
             |  mov $r0 $m1         |                      |
             |  mov $r1 $m2         |                      |
             |  mov $r2 $m3         |                      |
    pass:
             |  mov $a0 $r0         |                      |
             |  mov $a1 $r1         |                      |
             |  mov $a2 $r2         |                      |
    ldavh $v0 $a0 0x10     |        |                      |
    ldavh $v1 $a1 0x10     |        |                      |
                           |        | vadd u $v2 $v0 $v1   |
    vector:
    ldavh $v0 $c0 $a0 0x10 |        |                      |
    ldavh $v1 $a1 0x10     |        |                      | bra not $c0 aef vector
    stavh $v2 $a2 0x10     |        | vadd u $v2 $v0 $v1   |
    stavh $v2 $a2 0x10     | sub $r9 $c1 $r9 0x1 |         |
                           |        |                      | bra not $c1 zf pass
                           |        |                      |
                           |        |                      | exit 0x0
";
/// The number of the instruction word that is the branch of the loop over the vectors.
const VADD_BRANCH: u32 = 4 * 11 + 3;

/// Assembly of a kernel that accumulates the products of x and w. The highest bytes of the sums are
/// the first vector of y. The loop consists of two bundles.
const VMAC: &str = "
             |  mov $r9 $m0         |                      |
             |  mov $r0 $m1         |                      |
             |  mov $r1 $m2         |                      |
             |  mov $r2 $m3         |                      |
             |  mov $a2 $r2         |                      |
    pass:
             |  mov $a0 $r0         |                      |
             |  mov $a1 $r1         |                      |
    ldavh $v0 $c0 $a0 0x10 |        |                      |
    vector:
    ldavh $v1 $a1 0x10     |        |                      | bra not $c0 aef vector
    ldavh $v0 $c0 $a0 0x10 |        | vmac s rd int 0x0 hi # s $v0 s $v1 |
                           | sub $r9 $c1 $r9 0x1 |         |
                           |        |                      | bra not $c1 zf pass
                           |        |                      |
                           |        | vmac s rd int -0x4 hi $v2 s $v30 s $v30 |
    stavh $v2 $a2 0x10     |        |                      |
                           |        |                      | exit 0x0
";
/// The number of the instruction word that is the branch of the loop over the vectors.
const VMAC_BRANCH: u32 = 4 * 8 + 3;

/// Converts lines with one column for each unit to bundles of four instruction words each.
fn bundles(columns: &str) -> String {
    let mut text = String::new();
    for line in columns.lines().map(str::trim) {
        let words: Vec<&str> = line.split('|').map(str::trim).collect();
        match words.as_slice() {
            [label] => text += &format!("{label}\n"),
            words => {
                for (word, nop) in words.iter().zip(["anop", "snop", "vnop", "bnop"]) {
                    text += &format!("{}\n", if word.is_empty() { nop } else { word });
                }
            }
        }
    }
    text
}

fn program(columns: &str, group_branch: u32) -> Result<Program, String> {
    let ty = "i8x16";
    let params = vec![
        scalar("passes")?,
        buffer("x", Direction::In, ty)?,
        buffer("w", Direction::In, ty)?,
        buffer("y", Direction::Out, ty)?,
    ];
    let object = vp1_object(params, &bundles(columns), Some(group_branch))?;
    halfbyte::TARGETS.load(&object).map_err(|error| error.to_string())
}

fn against(bench: &Bench, columns: &str, group_branch: u32, peer: &CStr) -> Result<Sample, String> {
    let program = program(columns, group_branch)?;
    let kernel = first(&program)?;
    let peer = bench.peers.get(Clang, peer)?;
    let sources = Aligned::of_random(2 * VECTORS * VECTOR, 1, |bits| bits as u16);
    let (x, w) = sources.split_at(VECTORS * VECTOR);
    let start = [0; VECTORS * VECTOR];
    let mut ours = |y: &mut [u8]| launch(kernel, Engine::JIT, VECTORS as u32, PASSES, &[x, w], y);
    let mut peer = |y: &mut [u8]| {
        // SAFETY: the function writes half as many bytes as it reads, and y has half the size of
        // the source.
        unsafe { peer.run(PASSES, &sources, y) };
        Ok(())
    };
    let seconds = compare(bench, &start, Results::Equal, &mut ours, &mut peer)?;
    Ok(Sample::of_speeds(VECTORS as f64 * f64::from(PASSES) / 1e6, seconds))
}

/// Compares a kernel that stores the saturating sum of two streams with a C function.
pub fn vadd(bench: &Bench, peer: &CStr) -> Result<Sample, String> {
    against(bench, VADD, VADD_BRANCH, peer)
}

/// Compares a kernel that accumulates the products of two streams with a C function.
pub fn vmac(bench: &Bench, peer: &CStr) -> Result<Sample, String> {
    against(bench, VMAC, VMAC_BRANCH, peer)
}

/// Measures how fast tiles are copied to the data store and back. The kernel exits at once.
pub fn copies(bench: &Bench) -> Result<Sample, String> {
    const BYTES: usize = 256 << 10;
    let params = vec![buffer("x", Direction::In, "i8x16")?, buffer("y", Direction::InOut, "i8x16")?];
    let object = vp1_object(params, "exit 0x0\n", None)?;
    let program = halfbyte::TARGETS.load(&object).map_err(|error| error.to_string())?;
    let kernel = first(&program)?;
    let x = Aligned::of_random(BYTES, 1, |bits| bits as u16);
    let mut ours = |y: &mut [u8]| launch(kernel, Engine::JIT, (BYTES / VECTOR) as u32, 0, &[&x], y);
    let mut peer = |y: &mut [u8]| {
        y.copy_from_slice(std::hint::black_box(&x));
        Ok(())
    };
    let seconds = compare(bench, &x, Results::Differ, &mut ours, &mut peer)?;
    Ok(Sample::of_speeds(2.0 * BYTES as f64 / 1e9, seconds))
}
