//! Measurements of the time in which a kernel is loaded and translated to native code.

use halfbyte::abi::{Direction, Param};
use halfbyte::import_ptx::{self, Globals};
use halfbyte::ir::witness::Random;
use halfbyte::runtime::ptx::{Arg, Launch};
use halfbyte::runtime::{Engine, Translation};

use crate::Bench;
use crate::assembly::{buffer, halu_object, vp1_object};
use crate::data::{first, launch};
use crate::measure::Sample;

/// Maximum time in milliseconds from the object or text of a kernel of 100 instructions to the end
/// of its launch, on HALU and for PTX.
const LIMIT: f64 = 1.0;
/// Maximum time in milliseconds from the object of a VP1 kernel of 100 instructions to the end of its launch.
const LIMIT_VP1: f64 = 5.0;
/// Maximum translation time per instruction in microseconds.
const LIMIT_OF_ONE: f64 = 4.0;
/// Number of instructions of the small kernel with which a large kernel is compared.
const FEW: usize = 1000;
/// Size in bytes of the data of one item.
const ITEM: usize = 16;

fn params() -> Result<Vec<Param>, String> {
    Ok(vec![buffer("x", Direction::In, "i8x16")?, buffer("y", Direction::InOut, "i8x16")?])
}

/// Returns the object of a HALU kernel with this number of instructions: operations on halves,
/// bytes and integers, and a branch after every fifty instructions.
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
    // The last branch leads to the store at the end of the kernel.
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

/// Returns the text of a PTX kernel with this number of instructions: operations on floats, halves,
/// bytes and integers, and a branch after every fifty instructions.
fn ptx(instructions: usize) -> String {
    let mut lines: Vec<String> = [
        "ld.param.u64 %rd1, [k_param_0];",
        "ld.param.u64 %rd2, [k_param_1];",
        "mov.u32 %r20, %ctaid.x;",
        "mov.u32 %r21, %ntid.x;",
        "mov.u32 %r22, %tid.x;",
        "mad.lo.s32 %r0, %r20, %r21, %r22;",
        "mul.wide.s32 %rd3, %r0, 4;",
        "add.s64 %rd4, %rd1, %rd3;",
        "ld.global.u32 %r1, [%rd4];",
        "mov.b32 %r24, 0;",
    ]
    .map(str::to_owned)
    .into();
    let mut random = Random(1);
    let mut labels = 0;
    while lines.len() < instructions + labels - 3 {
        let [d, a, b, c] = [0; 4].map(|_| 1 + random.below(12));
        lines.push(match lines.len() % 50 {
            48 => format!("setp.ge.u32 %p0, %r{a}, %r{b};"),
            49 => format!("@%p0 bra L{labels};"),
            k => match k % 6 {
                0 => format!("fma.rn.f32 %r{d}, %r{a}, %r{b}, %r{c};"),
                1 => format!("vadd4.u32.u32.u32.sat %r{d}, %r{a}, %r{b}, %r24;"),
                2 => format!("lop3.b32 %r{d}, %r{a}, %r{b}, %r{c}, 0x96;"),
                3 => format!("fma.rn.f16x2 %r{d}, %r{a}, %r{b}, %r{c};"),
                4 => format!("add.f32 %r{d}, %r{a}, %r{b};"),
                _ => format!("mad.lo.s32 %r{d}, %r{a}, %r{b}, %r{c};"),
            },
        });
        if lines.len() % 50 == 10 && lines.len() > 50 {
            lines.push(format!("L{labels}:"));
            labels += 1;
        }
    }
    lines.push(format!("L{labels}: add.s64 %rd5, %rd2, %rd3;"));
    lines.push("st.global.u32 [%rd5], %r1;".to_owned());
    lines.push("ret;".to_owned());
    format!(
        ".version 7.1\n.target sm_80\n.address_size 64\n\n.visible .entry k(\n\t.param .u64 k_param_0,\n\t.param .u64 k_param_1\n)\n\
         {{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<25>;\n\t.reg .b64 %rd<6>;\n\n\t{}\n}}\n",
        lines.join("\n\t")
    )
}

/// Parses a PTX text and launches its kernel with one item, which translates the kernel to native code.
fn read_and_launch(text: &str) -> Result<Translation, String> {
    let kernel = import_ptx::load("k.ptx", text, None, &Globals::default()).map_err(|report| report.to_string())?;
    let mut y = [2; 4];
    let mut args = [Arg::In(&[1; 4]), Arg::Buffer(&mut y)];
    let launch = Launch { engine: Engine::JIT, ..Launch::new(1, &mut args) };
    kernel.launch(launch).map_err(|error| error.to_string())?;
    kernel.translation().ok_or_else(|| "the kernel was not translated to native code".into())
}

/// Returns the object of a VP1 kernel with this number of instructions, in bundles of up to three.
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

/// Loads an object and launches its kernel with one item, which translates the kernel to native code.
fn load_and_launch(object: &[u8]) -> Result<Translation, String> {
    let program = halfbyte::TARGETS.load(object).map_err(|error| error.to_string())?;
    let kernel = first(&program)?;
    launch(kernel, Engine::JIT, 1, 0, &[&[1; ITEM]], &mut [2; ITEM])?;
    kernel.translation().ok_or_else(|| "the kernel was not translated to native code".into())
}

fn time(bench: &Bench, limit: f64, load: impl Fn() -> Result<Translation, String>) -> Result<Sample, String> {
    let seconds = bench.rounds.once(|| load().map(drop))?;
    Ok(Sample::of_times(seconds * 1e3, limit))
}

/// Compares the translation time per instruction, in microseconds, with its limit. `count` is the
/// number of instructions.
fn time_per_instruction(
    bench: &Bench,
    count: usize,
    load: impl Fn() -> Result<Translation, String>,
) -> Result<Sample, String> {
    let times = bench.rounds.each(|| Ok(load()?.time.as_secs_f64()))?;
    Ok(Sample::of_times(times * 1e6 / count as f64, LIMIT_OF_ONE))
}

/// Compares the time per instruction, in microseconds, of a large kernel with that of a kernel with
/// [`FEW`] instructions. `many` is the number of instructions of the large kernel.
fn growth(bench: &Bench, many: usize, object: &[u8], few: &[u8]) -> Result<Sample, String> {
    let [large, small] = bench
        .rounds
        .fewer()
        .compare(&mut || load_and_launch(object).map(drop), &mut || load_and_launch(few).map(drop))?;
    Ok(Sample::of_times(large * 1e6 / many as f64, small * 1e6 / FEW as f64))
}

/// Compares the time to load and launch a HALU kernel, in milliseconds, with its limit.
pub fn halu_time(bench: &Bench, instructions: usize) -> Result<Sample, String> {
    let object = halu(instructions)?;
    time(bench, LIMIT, || load_and_launch(&object))
}

/// Compares the time to parse and launch a PTX kernel, in milliseconds, with its limit.
pub fn ptx_time(bench: &Bench, instructions: usize) -> Result<Sample, String> {
    let text = ptx(instructions);
    time(bench, LIMIT, || read_and_launch(&text))
}

/// Compares the translation time per instruction of a HALU kernel, in microseconds, with its limit.
pub fn halu_each(bench: &Bench, instructions: usize) -> Result<Sample, String> {
    let object = halu(instructions)?;
    time_per_instruction(bench, instructions, || load_and_launch(&object))
}

/// Compares the translation time per instruction of a PTX kernel, in microseconds, with its limit.
pub fn ptx_each(bench: &Bench, instructions: usize) -> Result<Sample, String> {
    let text = ptx(instructions);
    time_per_instruction(bench, instructions, || read_and_launch(&text))
}

/// Compares the time to load and launch a VP1 kernel, in milliseconds, with its limit.
pub fn vp1_time(bench: &Bench, instructions: usize) -> Result<Sample, String> {
    let object = vp1(instructions)?;
    time(bench, LIMIT_VP1, || load_and_launch(&object))
}

/// Compares the time per instruction, in microseconds, of a large and a small HALU kernel.
pub fn halu_growth(bench: &Bench, instructions: usize) -> Result<Sample, String> {
    growth(bench, instructions, &halu(instructions)?, &halu(FEW)?)
}

/// Compares the time per instruction, in microseconds, of a large and a small VP1 kernel.
pub fn vp1_growth(bench: &Bench, instructions: usize) -> Result<Sample, String> {
    growth(bench, instructions, &vp1(instructions)?, &vp1(FEW)?)
}
