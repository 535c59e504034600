//! Tests of `.relu` and `.ftz` on halves, which PTX and the IR define differently. On every route, PTX must give the
//! bits of an H100. PTX that is compiled from the IR must give the bits of the IR.

use serde_json::{Value, json};

use crate::common::{halfbyte, halfbyte_on};

/// Options for all routes of PTX: direct execution, execution of the import, and execution of
/// machine code or PTX that is compiled from the import.
const ROUTES: [&[&str]; 8] = [
    &["--via", "ptx"],
    &["--via", "ptx", "--engine", "jit"],
    &["--via", "ir"],
    &["--via", "halu"],
    &["--via", "halu", "--engine", "jit"],
    &["--via", "object"],
    &["--via", "recompiled"],
    &["--via", "recompiled", "--engine", "jit"],
];

/// Number of lanes in a complete test: each half is the first operand of one lane.
const LANES: u32 = 1 << 16;
const LEAST_NORMAL: i128 = 1 << 34;

/// An instruction, and the same instruction without modifiers. The expected results of the
/// instruction are computed from the results without modifiers.
struct Case {
    inst: &'static str,
    base: &'static str,
}

const CASES: [Case; 20] = [
    Case { inst: "add.rn.ftz.f16x2", base: "add.rn.f16x2" },
    Case { inst: "sub.rn.ftz.sat.f16x2", base: "sub.rn.f16x2" },
    Case { inst: "mul.rn.ftz.f16x2", base: "mul.rn.f16x2" },
    Case { inst: "mul.rn.ftz.sat.f16x2", base: "mul.rn.f16x2" },
    Case { inst: "mul.ftz.f16", base: "mul.rn.f16" },
    Case { inst: "fma.rn.ftz.f16x2", base: "fma.rn.f16x2" },
    Case { inst: "fma.rn.ftz.sat.f16x2", base: "fma.rn.f16x2" },
    Case { inst: "fma.rn.ftz.f16", base: "fma.rn.f16" },
    Case { inst: "fma.rn.ftz.relu.f16x2", base: "fma.rn.f16x2" },
    Case { inst: "fma.rn.ftz.relu.f16", base: "fma.rn.f16" },
    Case { inst: "fma.rn.relu.f16x2", base: "fma.rn.f16x2" },
    Case { inst: "fma.rn.relu.f16", base: "fma.rn.f16" },
    Case { inst: "fma.rn.relu.bf16x2", base: "fma.rn.bf16x2" },
    Case { inst: "fma.rn.relu.bf16", base: "fma.rn.bf16" },
    Case { inst: "cvt.rn.relu.f16x2.f32", base: "cvt.rn.f16x2.f32" },
    Case { inst: "cvt.rz.relu.bf16x2.f32", base: "cvt.rz.bf16x2.f32" },
    Case { inst: "cvt.rn.relu.satfinite.f16x2.f32", base: "cvt.rn.satfinite.f16x2.f32" },
    Case { inst: "cvt.rz.relu.f16.f32", base: "cvt.rz.f16.f32" },
    Case { inst: "cvt.rn.relu.bf16.f32", base: "cvt.rn.bf16.f32" },
    Case { inst: "cvt.rn.relu.satfinite.bf16.f32", base: "cvt.rn.satfinite.bf16.f32" },
];

impl Case {
    fn has(&self, modifier: &str) -> bool {
        self.inst.split('.').any(|word| word == modifier)
    }

    fn is_packed(&self) -> bool {
        self.inst.contains("x2")
    }

    fn converts(&self) -> bool {
        self.inst.starts_with("cvt")
    }

    /// Returns the sizes of an operand and of the result in bytes.
    fn widths(&self) -> [u32; 2] {
        let result = if self.is_packed() { 4 } else { 2 };
        [if self.converts() { 4 } else { result }, result]
    }

    /// Returns the number of work items of a test of every `step`-th lane.
    fn items(&self, step: u32) -> u32 {
        LANES / step / if self.is_packed() { 2 } else { 1 }
    }

    /// Returns a PTX kernel that applies an instruction to the elements of its three buffers.
    fn kernel(&self, inst: &str) -> String {
        let [operand, result] = self.widths();
        let operands = match inst.split('.').next() {
            Some("cvt") if !self.is_packed() => "%a",
            Some("fma") => "%a, %b, %c",
            _ => "%a, %b",
        };
        let loads: String = ["a", "b", "c"]
            .map(|name| {
                format!(
                    "ld.param.u64 %q, [{name}]; mad.wide.u32 %q, %i, {operand}, %q; ld.global.b{0} %{name}, [%q];\n",
                    8 * operand
                )
            })
            .concat();
        format!(
            ".version 8.1\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{{\n\
             .reg .b{0} %a; .reg .b{0} %b; .reg .b{0} %c; .reg .b{1} %d; .reg .b32 %i; .reg .b32 %j; .reg .b64 %q;\n\
             mov.u32 %i, %ctaid.x; mov.u32 %j, %ntid.x; mul.lo.u32 %i, %i, %j; mov.u32 %j, %tid.x; add.u32 %i, %i, %j;\n\
             {loads}{inst} %d, {operands};\n\
             ld.param.u64 %q, [d]; mad.wide.u32 %q, %i, {result}, %q; st.global.b{1} [%q], %d;\nret;\n}}\n",
            8 * operand,
            8 * result
        )
    }

    fn line(&self, inst: &str, operands: &[Vec<u8>; 3], step: u32) -> String {
        let buffers = operands.iter().map(|bytes| json!({ "buffer": hex(bytes) }));
        let zeros = vec![0; (self.items(step) * self.widths()[1]) as usize];
        let args: Vec<Value> = buffers.chain([json!({ "buffer": hex(&zeros) })]).collect();
        let grid = [self.items(step) / 256, 1, 1];
        json!({ "name": inst, "ptx": self.kernel(inst), "entry": "k", "grid": grid, "block": [256, 1, 1], "shared": 0, "args": args })
            .to_string()
    }

    /// Returns three buffers with the operands of all lanes.
    fn operands(&self, step: u32) -> [Vec<u8>; 3] {
        let lanes = (0..LANES / step)
            .map(|n| n * step + mixed(n) % step)
            .map(|lane| if self.converts() { singles(lane) } else { halves(lane) });
        let width = if self.converts() { 4 } else { 2 };
        let mut all = [const { Vec::new() }; 3];
        for (lane, operands) in lanes.enumerate() {
            // A packed conversion reads its two lanes from two buffers, so it has half as many elements.
            if self.converts() && self.is_packed() && lane as u32 >= self.items(step) {
                break;
            }
            for (bytes, operand) in all.iter_mut().zip(operands) {
                bytes.extend(&operand.to_le_bytes()[..width]);
            }
        }
        all
    }

    /// Returns the expected result of a lane. `base` is the result of the instruction without
    /// modifiers, on operands that were flushed to zero if necessary.
    fn expected(&self, base: u16, operands: [u16; 3]) -> u16 {
        let (bf16, mut result) = (self.inst.contains("bf16"), base);
        let infinity = if bf16 { 0x7F80 } else { 0x7C00 };
        let is_nan = base & 0x7FFF > infinity;
        if self.has("ftz") && !is_nan {
            result = match self.exact(operands) {
                Some(exact) if exact.abs() >= LEAST_NORMAL => result,
                Some(0) => result & 0x8000,
                Some(exact) => u16::from(exact < 0) << 15,
                None => result,
            };
        }
        if self.has("sat") {
            result = if is_nan || result & 0x8000 != 0 { 0 } else { result.min(0x3C00) };
        }
        if self.has("relu") && !is_nan && result & 0x8000 != 0 { 0 } else { result }
    }

    /// Returns the exact result in units of 2^-48, or `None` if an operand is not finite.
    fn exact(&self, operands: [u16; 3]) -> Option<i128> {
        let units = |half: u16| {
            let (exponent, fraction) = (half >> 10 & 31, i128::from(half & 0x3FF));
            let magnitude = if exponent == 0 { fraction } else { (fraction | 0x400) << (exponent - 1) };
            (exponent < 31).then_some(if half & 0x8000 == 0 { magnitude } else { -magnitude })
        };
        let [a, b] = [units(operands[0])?, units(operands[1])?];
        Some(match self.inst.split('.').next() {
            Some("add") => (a + b) << 24,
            Some("sub") => (a - b) << 24,
            Some("mul") => a * b,
            _ => a * b + (units(operands[2])? << 24),
        })
    }
}

/// Returns a hash of a number.
fn mixed(n: u32) -> u32 {
    let n = (n ^ n >> 15).wrapping_mul(0x2C1B_3C6D);
    let n = (n ^ n >> 12).wrapping_mul(0x297A_2D39);
    n ^ n >> 15
}

/// Returns three halves for a lane. In many lanes, the product is close to the smallest normal
/// number, and the sum with the addend is, too.
fn halves(lane: u32) -> [u32; 3] {
    let (a, random) = (lane, mixed(lane));
    let (exponent, fraction) = (a >> 10 & 31, a & 0x3FF);
    let b = match random & 3 {
        0 => random >> 16,
        _ if exponent < 15 => {
            let near = ((15 - exponent) << 10) + (1 << 21) / (1024 + fraction) - 1024;
            near.wrapping_add(random >> 8 & 3).wrapping_sub(2) & 0x7FFF | random & 0x8000
        }
        _ => random & 0x8000 | random >> 16 & 0x0FFF,
    };
    let c = [0, 0x8000, 0x0400, 0x8400, mixed(random) & 0xFFFF, a ^ 0x8000, 0, 0x8000][(random >> 20 & 7) as usize];
    [a, b & 0xFFFF, c]
}

/// Returns three `f32` operands for a lane. The operands of all lanes contain every sign and every exponent.
fn singles(lane: u32) -> [u32; 3] {
    let tiny = 0x8000_0000 | lane;
    [
        if lane % 64 == 5 { tiny } else { lane << 16 | mixed(lane) >> 16 },
        mixed(lane ^ 0x5555) & 0xBFFF_FFFF | lane << 31,
        0,
    ]
}

fn flushed(half: u16) -> u16 {
    if half & 0x7C00 == 0 { half & 0x8000 } else { half }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn words(bytes: &[u8]) -> Vec<u16> {
    bytes.as_chunks().0.iter().map(|&word| u16::from_le_bytes(word)).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

/// Returns the halves in the last buffer after each launch.
fn launched(route: &[&str], lines: &[String]) -> Vec<Vec<u16>> {
    let called = halfbyte_on(&[&["launch", "--json"], route].concat(), (lines.join("\n") + "\n").as_bytes());
    let answer = |line: &str| {
        let answer: Value = serde_json::from_str(line).unwrap();
        let buffers = answer["buffers"].as_array().unwrap_or_else(|| panic!("{route:?}: {line}"));
        words(&unhex(buffers.last().unwrap().as_str().unwrap()))
    };
    called.out.lines().map(answer).collect()
}

#[test]
fn relu_and_ftz_are_those_of_machines_when_ptx_is_executed() {
    agree(&ROUTES[..2], 1);
}

#[test]
fn relu_and_ftz_are_those_of_machines_when_ptx_is_imported() {
    agree(&ROUTES[2..], 16);
}

/// Asserts that the results of several routes are those of a model of the modifiers, lane by lane.
fn agree(routes: &[&[&str]], step: u32) {
    let operands: Vec<[Vec<u8>; 3]> = CASES.iter().map(|case| case.operands(step)).collect();
    let bases: Vec<String> = CASES
        .iter()
        .zip(&operands)
        .map(|(case, operands)| {
            let flush =
                |bytes: &Vec<u8>| words(bytes).into_iter().flat_map(|half| flushed(half).to_le_bytes()).collect();
            let operands = if case.has("ftz") { operands.each_ref().map(flush) } else { operands.clone() };
            case.line(case.base, &operands, step)
        })
        .collect();
    let bases = launched(ROUTES[0], &bases);
    let mut expected = Vec::new();
    for ((case, operands), base) in CASES.iter().zip(&operands).zip(&bases) {
        let operands = operands.each_ref().map(|bytes| words(bytes));
        let results: Vec<u16> = base
            .iter()
            .enumerate()
            .map(|(lane, &base)| {
                let at = |operand: usize| if case.converts() { 0 } else { operands[operand][lane] };
                let lanes = [0, 1, 2].map(at);
                case.expected(base, if case.has("ftz") { lanes.map(flushed) } else { lanes })
            })
            .collect();
        // Asserts that the modifiers change the results of some lanes.
        let count = |is: &dyn Fn(u16, u16) -> bool| base.iter().zip(&results).filter(|&(&a, &b)| is(a, b)).count();
        if case.has("relu") {
            assert!(count(&|base, result| base == 0x8000 && result == 0) > 48 / step as usize, "{}: -0", case.inst);
        }
        if case.has("ftz") && !case.inst.starts_with("add") && !case.inst.starts_with("sub") {
            assert!(
                count(&|base, result| base & 0x7FFF == 0x0400 && result & 0x7FFF == 0) > 16 / step as usize,
                "{}: tiny",
                case.inst
            );
        }
        expected.push(results);
    }
    let lines: Vec<String> =
        CASES.iter().zip(&operands).map(|(case, operands)| case.line(case.inst, operands, step)).collect();
    for &route in routes {
        for ((case, expected), found) in CASES.iter().zip(&expected).zip(launched(route, &lines)) {
            let different = expected.iter().zip(&found).position(|(expected, found)| expected != found);
            let lane = different.map(|lane| (lane, expected[lane], found[lane]));
            assert_eq!((lane, expected.len()), (None, found.len()), "{} {route:?}: lane, expected, found", case.inst);
        }
    }
}

#[test]
fn modifiers_are_recognised_when_ptx_is_compiled_to_ptx() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    // A kernel without packed operations is compiled to PTX without changes.
    for case in CASES.iter().filter(|case| case.is_packed() && !case.has("satfinite")) {
        std::fs::write(&path, case.kernel(case.inst)).unwrap();
        let called = halfbyte(&["compile", &path.display().to_string(), "--target", "ptx", "--sm", "90"]);
        assert_eq!(called.code, 0, "{}: {}", case.inst, called.err);
        let others = ["set.", "max.", "lop3", "selp"].into_iter().find(|other| called.out.contains(other));
        assert!(called.out.contains(case.inst) && others.is_none(), "{} {others:?}: {}", case.inst, called.out);
    }
}

/// Returns a kernel of the IR that applies an op to `%a`, `%b` and `%c`.
fn of_ir(ty: &str, op: &str) -> String {
    let loads = ["a", "b", "c"].map(|name| format!("  %{name} = load %{name}_in[%i]\n")).concat();
    format!(
        "kernel @k(%a_in: in {ty}, %b_in: in {ty}, %c_in: in {ty}, %out: out {ty}) {{\n^entry:\n  %i = item_id\n{loads}  \
         {op}\n  store %r, %out[%i]\n  ret\n}}\n"
    )
}

#[test]
fn ptx_of_the_ir_has_the_bits_of_the_ir() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.hb");
    let rectified = ["fadd.relu", "fsub.relu", "fmul.relu", "ffma.relu"].map(|op| (op, "relu"));
    let flushed = ["fmul.ftz", "ffma.ftz", "fmul.ftz.sat", "ffma.ftz.relu", "ffma.rz.ftz"].map(|op| (op, ""));
    for (op, never) in rectified.into_iter().chain(flushed) {
        let types: &[&str] = if op.contains("ftz") { &["f16x2", "f16"] } else { &["f16x2", "f16", "bf16x2", "bf16"] };
        for (ty, sm) in types.iter().flat_map(|ty| ["75", "80", "90"].map(|sm| (ty, sm))) {
            let third = if op.starts_with("ffma") { ", %c" } else { "" };
            let kernel = of_ir(ty, &format!("%r = {op}.{ty} %a, %b{third}"));
            // Operands whose products round to -0 or, for `f16`, to the smallest normal number.
            let numbers = if ty.starts_with("bf") {
                [
                    ["-0.0", "0x8080", "0x8001", "1.0", "-1.0"],
                    ["1.0", "0x0080", "0x3e80", "-1.0", "0.5"],
                    ["-0.0", "-0.0", "-0.0", "0", "-0.0"],
                ]
            } else {
                [
                    ["-0.0", "0x8800", "0x8400", "0x07ff", "0x87ff"],
                    ["1.0", "0x0800", "0x1000", "0.5", "0.5"],
                    ["-0.0", "-0.0", "0", "0", "-0.0"],
                ]
            };
            let [a, b, c] = numbers.map(|numbers| {
                let is_packed = ty.ends_with("x2");
                numbers.map(|n| if is_packed { format!("[{n}, {n}]") } else { n.to_owned() }).join(", ")
            });
            let numbers = format!("a_in=[{a}] b_in=[{b}] c_in=[{c}]");
            let run = format!(
                "; run: ptx: @k items=5 {numbers} out=zeros(5)\n; run: ptx: @k items=4096 a_in=random(4096, 1) b_in=random(4096, 2) c_in=random(4096, 3) out=zeros(4096)\n"
            );
            std::fs::write(&path, kernel + &run).unwrap();
            let path = path.display().to_string();
            let called = halfbyte(&["check", &path, "--sm", sm]);
            assert_eq!(called.code, 0, "{op}.{ty} on sm_{sm}: {}{}", called.out, called.err);
            let called = halfbyte(&["compile", &path, "--target", "ptx", "--sm", sm]);
            assert!(
                called.code == 0 && (never.is_empty() || !called.out.contains(&format!(".{never}"))),
                "{op}: {}",
                called.out
            );
        }
    }
}

/// A HALU instruction preserves -0 (seed 001, the HALU reference), and so does compiled code.
#[test]
fn halu_and_the_ir_keep_minus_zero() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.hb");
    let run = "; run: halu, ptx: @k items=3 a_in=[-0.0, -1.0, 0x8400] b_in=[1.0, 1.0, 0x0400] c_in=[-0.0, 0, -0.0] \
               out=zeros(3) -> out=[-0.0, 0.0, -0.0]\n";
    std::fs::write(&path, of_ir("f16", "%r = ffma.relu.f16 %a, %b, %c") + run).unwrap();
    let path = path.display().to_string();
    let called = halfbyte(&["check", &path]);
    assert_eq!(called.code, 0, "{}{}", called.out, called.err);
    let listing = halfbyte(&["compile", &path, "--target", "halu"]);
    assert!(listing.out.contains("HFMA2.RELU") && !listing.out.contains("HMNMX2"), "{}", listing.out);
}

/// If the addend excludes the result -0, one instruction is enough.
#[test]
fn relu_is_the_instruction_where_no_result_is_minus_zero() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.hb");
    for (op, is_one) in [
        ("%k = const.f16x2 -0.25; %r = ffma.relu.f16x2 %a, %b, %k", true),
        ("%k = const.f16x2 0.125; %r = ffma.relu.f16x2 %a, %b, %k", false),
        ("%k = const.f16x2 -1.0; %r = fadd.relu.f16x2 %a, %k", true),
        ("%k = const.f16x2 -0.0; %r = fadd.relu.f16x2 %a, %k", false),
        ("%k = const.f16x2 0; %r = fsub.relu.f16x2 %a, %k", false),
        ("%k = const.f16x2 0; %x = ffma.f16x2 %a, %b, %c; %r = fmax.nan.f16x2 %x, %k", true),
        ("%k = const.f16x2 0; %x = ffma.f16x2 %a, %b, %c; %r = fmax.f16x2 %x, %k", false),
    ] {
        std::fs::write(&path, of_ir("f16x2", &op.replace("; ", "\n  "))).unwrap();
        let called = halfbyte(&["compile", &path.display().to_string(), "--target", "ptx", "--sm", "90"]);
        assert_eq!((called.code, called.out.contains(".relu.")), (0, is_one), "{op}: {}{}", called.out, called.err);
    }
}
