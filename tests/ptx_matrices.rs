//! Tests of matrix instructions in direct execution of PTX: `wmma` products of every shape, type
//! and layout, and errors of warps that are not converged.

use serde_json::{Value, json};

use crate::common::{halfbyte, halfbyte_on};

pub const ENGINES: [&[&str]; 2] = [&["--engine", "interp"], &["--engine", "jit"]];
pub const WATCHED: &[&str] = &["--races"];

/// Asserts that all launches give the expected results, with each set of options in `engines`.
#[track_caller]
pub fn all_equal(lines: &[Value], engines: &[&[&str]]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let count = lines.len();
    for engine in engines {
        let called = halfbyte_on(&[&["corpus", "-", "--via", "ptx"], *engine].concat(), text.as_bytes());
        let expected = format!(" {count} read, {count} run, {count} equal");
        assert!(called.out.lines().next().is_some_and(|line| line.ends_with(&expected)), "{engine:?}: {}", called.out);
    }
}

/// An element type: its name, its size in bits, and a function that encodes a small number.
#[derive(Clone, Copy)]
pub struct Of {
    pub name: &'static str,
    pub bits: usize,
    pub of: fn(i32) -> u64,
}

fn half(number: i32) -> u64 {
    half::f16::from_f32(number as f32).to_bits().into()
}

fn bfloat(number: i32) -> u64 {
    half::bf16::from_f32(number as f32).to_bits().into()
}

fn single(number: i32) -> u64 {
    (number as f32).to_bits().into()
}

fn integer(number: i32) -> u64 {
    number as u32 as u64
}

pub const F16: Of = Of { name: "f16", bits: 16, of: half };
pub const BF16: Of = Of { name: "bf16", bits: 16, of: bfloat };
pub const TF32: Of = Of { name: "tf32", bits: 32, of: single };
pub const F32: Of = Of { name: "f32", bits: 32, of: single };
pub const S8: Of = Of { name: "s8", bits: 8, of: |number| integer(number) & 0xFF };
pub const U8: Of = Of { name: "u8", bits: 8, of: |number| integer(number) & 0xFF };
const S4: Of = Of { name: "s4", bits: 4, of: integer };
pub const S32: Of = Of { name: "s32", bits: 32, of: integer };

/// A matrix in memory: its numbers of rows and columns, its row or column order, and the stride in that order.
struct Held<'a> {
    of: &'a Of,
    extent: [usize; 2],
    by_row: bool,
    stride: usize,
}

impl Held<'_> {
    fn bytes(&self, at: impl Fn(usize, usize) -> i32) -> String {
        let [rows, columns] = self.extent;
        let lines = if self.by_row { rows } else { columns };
        let mut bytes = vec![0xA5u8; lines * self.stride * self.of.bits / 8];
        for row in 0..rows {
            for column in 0..columns {
                let place = if self.by_row { row * self.stride + column } else { column * self.stride + row };
                let element = (self.of.of)(at(row, column));
                for bit in 0..self.of.bits {
                    let at = place * self.of.bits + bit;
                    bytes[at / 8] = bytes[at / 8] & !(1 << (at % 8)) | ((element >> bit & 1) as u8) << (at % 8);
                }
            }
        }
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn layout(&self) -> &'static str {
        if self.by_row { "row" } else { "col" }
    }
}

fn registers(name: &str, count: usize) -> String {
    let all: Vec<String> = (0..count).map(|k| format!("%{name}{k}")).collect();
    format!("{{{}}}", all.join(", "))
}

/// Returns a launch of one warp that multiplies two matrices by `wmma`.
fn product(
    [m, n, k]: [usize; 3],
    types: [&Of; 4],
    counts: [usize; 3],
    layouts: [bool; 3],
    extra: [usize; 3],
    space: &str,
) -> Value {
    let [d, a, b, c] = types;
    let held = |of, extent: [usize; 2], by_row: bool, extra: usize| Held {
        of,
        extent,
        by_row,
        stride: extent[usize::from(by_row)] + extra,
    };
    let a = held(a, [m, k], layouts[0], extra[0]);
    let b = held(b, [k, n], layouts[1], extra[1]);
    let c = held(c, [m, n], layouts[2], extra[2]);
    let d = held(d, [m, n], layouts[2], extra[2]);
    let shape = format!("m{m}n{n}k{k}");
    let of_a = |row: usize, at: usize| (row * 5 + at * 3) as i32 % 7 - if a.of.name == "u8" { 0 } else { 3 };
    let of_b = |at: usize, column: usize| (at * 2 + column * 3) as i32 % 5 - if b.of.name == "u8" { 0 } else { 2 };
    let of_c = |row: usize, column: usize| (row * 3 + column) as i32 % 9 - 4;
    let of_d =
        |row: usize, column: usize| (0..k).map(|at| of_a(row, at) * of_b(at, column)).sum::<i32>() + of_c(row, column);
    let named = if a.of.name == "f16" {
        format!("{}.{}", d.of.name, c.of.name)
    } else {
        format!("{}.{}.{}.{}", d.of.name, a.of.name, b.of.name, c.of.name)
    };
    let [ra, rb, rc, rd] =
        [registers("a", counts[0]), registers("b", counts[1]), registers("c", counts[2]), registers("d", counts[2])];
    let rd = if d.of.bits == 32 && c.of.bits == 16 { registers("d", 2 * counts[2]) } else { rd };
    let (to_space, space_of) = match space {
        "" => (String::new(), String::new()),
        space => (
            format!(
                "cvta.to.{space}.u64 %q0, %q0; cvta.to.{space}.u64 %q1, %q1; cvta.to.{space}.u64 %q2, %q2; cvta.to.{space}.u64 %q3, %q3;"
            ),
            format!(".{space}"),
        ),
    };
    let stride = |of: &Held<'_>, extra: usize| if extra == 0 { String::new() } else { format!(", {}", of.stride) };
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{{\n\
         .reg .b32 %a<8>, %b<8>, %c<8>, %d<8>;\n.reg .b64 %q<4>;\n\
         ld.param.u64 %q0, [a]; ld.param.u64 %q1, [b]; ld.param.u64 %q2, [c]; ld.param.u64 %q3, [d]; {to_space}\n\
         wmma.load.a.sync.aligned.{}.{shape}{space_of}.{} {ra}, [%q0]{};\n\
         wmma.load.b.sync.aligned.{}.{shape}{space_of}.{} {rb}, [%q1]{};\n\
         wmma.load.c.sync.aligned.{}.{shape}{space_of}.{} {rc}, [%q2]{};\n\
         wmma.mma.sync.aligned.{}.{}.{shape}.{named} {rd}, {ra}, {rb}, {rc};\n\
         wmma.store.d.sync.aligned.{}.{shape}{space_of}.{} [%q3], {rd}{};\nret;\n}}\n",
        a.layout(),
        a.of.name,
        stride(&a, extra[0]),
        b.layout(),
        b.of.name,
        stride(&b, extra[1]),
        c.layout(),
        c.of.name,
        stride(&c, extra[2]),
        a.layout(),
        b.layout(),
        d.layout(),
        d.of.name,
        stride(&d, extra[2]),
    );
    json!({
        "kernel": format!("{shape} {named} {space}"), "ptx": text, "entry": "k", "grid": [1, 1, 1], "block": [32, 1, 1],
        "args": [{ "buffer": a.bytes(of_a) }, { "buffer": b.bytes(of_b) }, { "buffer": c.bytes(of_c) }, { "buffer": d.bytes(|_, _| 0) }],
        "expect": [a.bytes(of_a), b.bytes(of_b), c.bytes(of_c), d.bytes(of_d)],
    })
}

#[test]
fn fragments_are_multiplied_as_matrices_are() {
    let mut lines = Vec::new();
    let shapes = [[16, 16, 16], [8, 32, 16], [32, 8, 16]];
    for (number, shape) in (0..).zip(shapes) {
        // Numbers of registers for the fragments of A and B.
        let of_bytes = [[2, 2], [1, 4], [4, 1]][number];
        let of_halves = of_bytes.map(|count| 2 * count);
        for layouts in 0..8 {
            let layouts = [layouts & 1 != 0, layouts & 2 != 0, layouts & 4 != 0];
            let extra = if layouts[0] { [8, 16, 4] } else { [0; 3] };
            let space = if layouts[1] { "global" } else { "" };
            let mut add = |types: [&Of; 4], counts: [usize; 3]| {
                lines.push(product(shape, types, counts, layouts, extra, space));
            };
            add([&F32, &F16, &F16, &F32], [8, 8, 8]);
            add([&F32, &F16, &F16, &F16], [8, 8, 4]);
            add([&F16, &F16, &F16, &F16], [8, 8, 4]);
            add([&F32, &BF16, &BF16, &F32], [of_halves[0], of_halves[1], 8]);
            add([&S32, &S8, &S8, &S32], [of_bytes[0], of_bytes[1], 8]);
            add([&S32, &U8, &U8, &S32], [of_bytes[0], of_bytes[1], 8]);
        }
    }
    for layouts in 0..8 {
        let layouts = [layouts & 1 != 0, layouts & 2 != 0, layouts & 4 != 0];
        lines.push(product([16, 16, 8], [&F32, &TF32, &TF32, &F32], [4, 4, 8], layouts, [0, 4, 8], "global"));
        let of_nibbles = [true, false, layouts[2]];
        lines.push(product([8, 8, 32], [&S32, &S4, &S4, &S32], [1, 1, 2], of_nibbles, [32, 0, 4], ""));
    }
    all_equal(&lines, &[ENGINES[0], ENGINES[1], WATCHED]);
}

/// Returns a launch of a kernel with 1,024 bytes of shared memory. `%t` is the thread's number, and
/// `%s` the address of the thread's row in shared memory.
fn kernel(name: &str, threads: u32, body: &str, then: Value) -> Value {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 tile[1024];\n.visible .entry k(.param .u64 y)\n{{\n\
         .reg .b32 %r<16>, %s, %t;\n.reg .f32 %f<8>;\n.reg .pred %p<4>;\n.reg .b64 %q<4>;\n\
         ld.param.u64 %q0, [y]; mov.u32 %t, %tid.x; mov.u32 %s, tile; and.b32 %r0, %t, 31; shl.b32 %r0, %r0, 4; add.u32 %s, %s, %r0;\n\
         shl.b32 %r8, %t, 4; add.u32 %r9, %t, 7; mov.b32 %f0, 0f3F800000; mov.b32 %f1, %f0; mov.b32 %f2, %f0; mov.b32 %f3, %f0; st.shared.v4.b32 [%s], {{%r8, %r9, %t, %r8}};\n\
         {body}\nret;\n}}\n"
    );
    let mut line = json!({
        "kernel": name, "ptx": text, "entry": "k", "grid": [1, 1, 1], "block": [threads, 1, 1], "args": [{ "zeros": 1024 }],
    });
    for (name, value) in then.as_object().unwrap() {
        line[name] = value.clone();
    }
    line
}

const MMA: &str = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};";

#[test]
fn a_warp_that_does_not_come_together_is_an_error() {
    let error = |kind: &str| json!({ "error": kind });
    let divergent = || error("warp-divergence");
    let apart = format!("setp.lt.u32 %p0, %t, 16;\n@%p0 {MMA}");
    let ended = format!("setp.eq.u32 %p0, %t, 31;\n@%p0 exit;\n{MMA}");
    let two = format!("setp.lt.u32 %p0, %t, 16;\n@%p0 bra A;\n{MMA}\nbra B;\nA:\n{MMA}\nB:");
    let fine = json!({ "expect": [null] });
    let lines = [
        kernel("less than a warp", 16, MMA, divergent()),
        kernel("a warp and a part", 40, MMA, divergent()),
        kernel("half of a warp", 32, &apart, divergent()),
        kernel("a lane has ended", 32, &ended, divergent()),
        kernel("two instructions alike", 64, &two, divergent()),
        kernel("whole warps apart", 96, &format!("setp.lt.u32 %p0, %t, 32;\n@%p0 {MMA}"), fine.clone()),
        kernel(
            "lanes by turns",
            64,
            &format!("setp.lt.u32 %p0, %t, 9;\n@%p0 bra A;\nadd.u32 %r1, %r1, 1;\nA:\n{MMA}"),
            fine.clone(),
        ),
        kernel(
            "misaligned",
            32,
            "add.u32 %s, %s, 8;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%s];",
            error("misaligned"),
        ),
        kernel(
            "misaligned where nobody looks",
            32,
            "setp.gt.u32 %p0, %t, 7;\n@%p0 add.u32 %s, %s, 8;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%s];",
            fine.clone(),
        ),
        kernel(
            "out of bounds",
            32,
            "add.u32 %s, %s, 768;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%s];",
            error("out-of-bounds-shared"),
        ),
        kernel(
            "stored out of bounds",
            64,
            "add.u32 %s, %s, 2048;\nstmatrix.sync.aligned.m8n8.x1.shared.b16 [%s], {%r1};",
            error("out-of-bounds-shared"),
        ),
        kernel(
            "loaded out of bounds",
            32,
            "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%q0], 64;",
            error("out-of-bounds-global"),
        ),
    ];
    all_equal(&lines, &ENGINES);
}

#[test]
fn moves_of_matrices_are_watched() {
    let error = |kind: &str| json!({ "error": kind });
    let load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%s];";
    let store = "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%s], {%r1, %r2, %r3, %r4};";
    let numbers = "mov.b32 %r1, 1;\nmov.b32 %r2, 2;\nmov.b32 %r3, 3;\nmov.b32 %r4, 4;";
    // Each lane stores to the row of another lane.
    let turned = "xor.b32 %s, %s, 16;";
    let fine = json!({ "expect": [null] });
    let lines = [
        kernel("own rows", 32, &format!("{load}\n{store}"), fine.clone()),
        kernel("rows of others", 32, &format!("{turned}\n{load}"), error("race-shared")),
        kernel("stored to others", 32, &format!("{numbers}\n{turned}\n{store}"), error("race-shared")),
        kernel(
            "after a barrier",
            32,
            &format!("bar.warp.sync -1;\n{turned}\n{load}\nbar.warp.sync -1;\n{store}"),
            fine,
        ),
        kernel("never written", 32, &format!("add.u32 %s, %s, 512;\n{load}"), error("uninitialised-shared")),
    ];
    all_equal(&lines, &[WATCHED]);
}

/// The rows of a matrix are unchanged after a round trip through registers, both without transposition and with two
/// transpositions. Each lane receives the elements that the PTX manual specifies.
#[test]
fn matrices_move_between_memory_and_registers() {
    let body = "bar.warp.sync -1;
ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1, %r2, %r3, %r4}, [%s];
movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r1;
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%s];
bar.warp.sync -1;
add.u32 %s, %s, 512;
stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%s], {%r1, %r2, %r3, %r4};
bar.warp.sync -1;
ld.shared.b32 %r10, [%s]; ld.shared.b32 %r11, [%s+12];
mul.wide.u32 %q1, %t, 32; add.u64 %q0, %q0, %q1;
st.global.v4.b32 [%q0], {%r1, %r5, %r6, %r10}; st.global.v4.b32 [%q0+16], {%r11, %r11, %r11, %r11};";
    // The row of thread t holds the words 16 t, t + 7, t and 16 t.
    let row = |thread: u32| [16 * thread, thread + 7, thread, 16 * thread];
    let half = |row_: u32, column: u32| row(row_)[column as usize / 2] >> (16 * (column % 2)) & 0xFFFF;
    let words = (0..32u32).flat_map(|lane| {
        let (group, place) = (lane / 4, lane % 4);
        let transposed = half(2 * place, group) | half(2 * place + 1, group) << 16;
        let straight = row(group)[place as usize];
        let last = row(lane)[3];
        [transposed, straight, straight, row(lane)[0], last, last, last, last]
    });
    let expect: String = words.flat_map(u32::to_le_bytes).map(|byte| format!("{byte:02x}")).collect();
    let lines = [kernel("moved", 32, body, json!({ "expect": [expect] }))];
    all_equal(&lines, &[ENGINES[0], ENGINES[1], WATCHED]);
}

/// A parameter from which a matrix is loaded, or to which one is stored, is a buffer. `run` prints
/// the buffers to which the kernel stores.
#[test]
fn parameters_that_matrices_are_loaded_from_are_buffers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    let registers = registers("f", 8);
    std::fs::write(
        &path,
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 c, .param .u64 d)\n{{\n\
             .reg .f32 %f<8>;\n.reg .b64 %q<2>;\nld.param.u64 %q0, [c]; ld.param.u64 %q1, [d];\n\
             wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {registers}, [%q0];\n\
             wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%q1], {registers};\nret;\n}}\n"
        ),
    )
    .unwrap();
    let path = path.display().to_string();
    let list = (0..256).map(|k| k.to_string()).collect::<Vec<_>>().join(", ");
    let given = format!("c=[{list}]");
    let args = ["run", &path, "--target", "ptx", "--grid", "1", "--block", "32", "--arg", &given];
    let called = halfbyte(&[&args[..], &["--arg", "d=zeros(256)"]].concat());
    let transposed = (0..256).map(|k| format!("{}.0", k / 16 + k % 16 * 16)).collect::<Vec<_>>();
    assert_eq!(called.out, format!("d=[{}]\n", transposed.join(", ")), "{}", called.err);
    let called = halfbyte(&["compile", &path, "--target", "halu"]);
    assert!(called.err.contains("a matrix load, store or move has no counterpart in the IR"), "{}", called.err);
}
