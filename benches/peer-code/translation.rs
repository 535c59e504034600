//! What it takes to load a kernel and to make native code of it.

use halfbyte::abi::{Direction, Param};
use halfbyte::ir::witness::Random;
use halfbyte::runtime::Engine;

use crate::Bench;
use crate::assembly::{buffer, halu_object, vp1_object};
use crate::data::{first, launch};
use crate::measure::Sample;

/// What a kernel of 100 instructions may take, in milliseconds.
const LIMIT: f64 = 5.0;
/// The kernel that larger ones are compared with.
const FEW: usize = 1000;
/// Bytes of an item.
const ITEM: usize = 16;

fn params() -> Result<Vec<Param>, String> {
    Ok(vec![buffer("x", Direction::In, "i8x16")?, buffer("y", Direction::InOut, "i8x16")?])
}

/// A HALU kernel of so many instructions: halves, bytes and integers, and a branch after every fifty.
fn halu(instructions: usize) -> Result<Vec<u8>, String> {
    let mut lines: Vec<String> = [
        "ULDC.64 UR2, c[0x0][0x160]",
        "ULDC.64 UR0, c[0x0][0x168]",
        "S2R R0, SR_ITEM",
        "LEA R0, R0, RZ, 0x4",
        "LDG R1, [R0.U32+UR2]",
    ]
    .map(str::to_owned)
    .into();
    let mut random = Random(1);
    let mut labels = 0;
    // The branch over the last ones leads to the store.
    while lines.len() < instructions + labels - 2 {
        let [d, a, b, c] = [0; 4].map(|_| 1 + random.below(12));
        lines.push(match lines.len() % 50 {
            48 => format!("ISETP.GE.U32.AND P0, PT, R{a}, R{b}"),
            49 => format!("@P0 BRA L{labels}"),
            k => match k % 5 {
                0 => format!("HFMA2 R{d}, R{a}, R{b}, R{c}"),
                1 => format!("vadd4.u32.u32.u32.sat R{d}, R{a}, R{b}, RZ"),
                2 => format!("LOP3 R{d}, R{a}, R{b}, R{c}, 0x96"),
                3 => format!("HADD2 R{d}, R{a}, R{b}"),
                _ => format!("IADD3 R{d}, R{a}, R{b}, R{c}"),
            },
        });
        if lines.len() % 50 == 10 && lines.len() > 50 {
            lines.push(format!("L{labels}:"));
            labels += 1;
        }
    }
    lines.push(format!("L{labels}: STG [R0.U32+UR0], R1"));
    lines.push("EXIT".into());
    halu_object(params()?, &lines.join("\n"))
}

/// A VP1 kernel of so many instructions, in bundles of up to three.
fn vp1(instructions: usize) -> Result<Vec<u8>, String> {
    let mut lines: Vec<String> = ["mov $r0 $m0", "mov $r1 $m1", "mov $a0 $r0", "mov $a1 $r1"].map(str::to_owned).into();
    let mut random = Random(1);
    while lines.len() < instructions - 2 {
        let [d, a, b] = [0; 3].map(|_| 2 + random.below(12));
        lines.push(match lines.len() % 6 {
            0 => format!("ldvh $v{d} $a0 0x10"),
            1 => format!("add $r{d} $c1 $r{a} $r{b}"),
            2 => format!("vadd u $v{d} $v{a} $v{b}"),
            3 => format!("xor $r{d} $r{a} 0x55"),
            4 => format!("vmac s rn fract 0x0 hi $v{d} s $v{a} u $v{b}"),
            _ => format!("vmax s $v{d} $v{a} $v{b}"),
        });
    }
    lines.push("stavh $v2 $a1 0x10".into());
    lines.push("exit 0x0".into());
    vp1_object(params()?, &lines.join("\n"), None)
}

/// Loads an object, and launches its kernel on one item, for which native code is made.
fn load_and_launch(object: &[u8]) -> Result<(), String> {
    let program = halfbyte::TARGETS.load(object).map_err(|error| error.to_string())?;
    launch(first(&program)?, Engine::JIT, 1, 0, &[&[1; ITEM]], &mut [2; ITEM])
}

fn time(bench: &Bench, object: &[u8]) -> Result<Sample, String> {
    let program = halfbyte::TARGETS.load(object).map_err(|error| error.to_string())?;
    let kernel = first(&program)?;
    launch(kernel, Engine::JIT, 1, 0, &[&[1; ITEM]], &mut [2; ITEM])?;
    kernel.translation().ok_or("it was not made native code")?;
    let seconds = bench.rounds.once(|| load_and_launch(object))?;
    Ok(Sample::of_times(seconds * 1e3, LIMIT))
}

/// Microseconds an instruction, of a large kernel and of one with [`FEW`].
fn growth(bench: &Bench, many: usize, object: &[u8], few: &[u8]) -> Result<Sample, String> {
    let [large, small] = bench.rounds.fewer().compare(&mut || load_and_launch(object), &mut || load_and_launch(few))?;
    Ok(Sample::of_times(large * 1e6 / many as f64, small * 1e6 / FEW as f64))
}

/// Milliseconds for a HALU kernel.
pub fn halu_time(bench: &Bench, instructions: usize) -> Result<Sample, String> {
    time(bench, &halu(instructions)?)
}

/// Milliseconds for a VP1 kernel.
pub fn vp1_time(bench: &Bench, instructions: usize) -> Result<Sample, String> {
    time(bench, &vp1(instructions)?)
}

/// Microseconds an instruction for HALU kernels.
pub fn halu_growth(bench: &Bench, instructions: usize) -> Result<Sample, String> {
    growth(bench, instructions, &halu(instructions)?, &halu(FEW)?)
}

/// Microseconds an instruction for VP1 kernels.
pub fn vp1_growth(bench: &Bench, instructions: usize) -> Result<Sample, String> {
    growth(bench, instructions, &vp1(instructions)?, &vp1(FEW)?)
}
