//! Generator of functions on packed halves and bytes, as our IR and as LLVM IR with the same operations.
//!
//! A function loads two words of halves and two of bytes, computes with them, and stores one word of each type. Every
//! op contributes to a stored value. One function in four has a loop, one in four has a branch, and two are
//! straight-line code.

use std::fmt::Write;

use halfbyte::ir::witness::Random;

/// Number of ops between the loads and the stores.
const OPS: usize = 28;

/// An op in our IR, and the LLVM instruction or intrinsic with the same effect.
struct Op {
    ours: &'static str,
    llvm: &'static str,
    operands: usize,
}

const fn op(ours: &'static str, llvm: &'static str, operands: usize) -> Op {
    Op { ours, llvm, operands }
}

/// A packed type, with the ops of the benchmark on this type.
struct Packed {
    ours: &'static str,
    llvm: &'static str,
    /// The suffix for this type in the names of LLVM intrinsics.
    suffix: &'static str,
    ops: &'static [Op],
}

const HALVES: Packed = Packed {
    ours: "f16x2",
    llvm: "<2 x half>",
    suffix: "v2f16",
    ops: &[
        op("fadd", "fadd", 2),
        op("fsub", "fsub", 2),
        op("fmul", "fmul", 2),
        op("ffma", "llvm.fma", 3),
        op("ffma", "llvm.fma", 3),
        op("fmin", "llvm.minnum", 2),
        op("fmax", "llvm.maxnum", 2),
    ],
};

const BYTES: Packed = Packed {
    ours: "i8x4",
    llvm: "<4 x i8>",
    suffix: "v4i8",
    ops: &[
        op("add", "add", 2),
        op("sub", "sub", 2),
        op("xor", "xor", 2),
        op("min_u", "llvm.umin", 2),
        op("max_s", "llvm.smax", 2),
        op("add_sat_u", "llvm.uadd.sat", 2),
        op("sub_sat_s", "llvm.ssub.sat", 2),
    ],
};

/// The text of the same functions in our IR and in LLVM IR.
pub struct Texts {
    pub ours: String,
    pub llvm: String,
}

/// Generates `count` functions, named `@k0`, `@k1` and so on. The functions are the same in each run.
pub fn functions(count: usize) -> Texts {
    let mut writer = Writer { ours: String::new(), llvm: declarations(), random: Random(1), values: 0 };
    (0..count).for_each(|number| writer.function(number));
    Texts { ours: writer.ours, llvm: writer.llvm }
}

fn declarations() -> String {
    let mut text = "target triple = \"nvptx64-nvidia-cuda\"\ndeclare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n".to_owned();
    for packed in [HALVES, BYTES] {
        let mut known = Vec::new();
        for op in packed.ops.iter().filter(|op| op.llvm.starts_with("llvm.")) {
            if !known.contains(&op.llvm) {
                known.push(op.llvm);
                let types = vec![packed.llvm; op.operands].join(", ");
                line(&mut text, &format!("declare {} @{}.{}({types})", packed.llvm, op.llvm, packed.suffix));
            }
        }
    }
    text
}

fn line(text: &mut String, line: &str) {
    // The result can be ignored, because writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

/// The values of one type that the next op can use. The last value depends on all values before it.
#[derive(Clone)]
struct Pool {
    names: Vec<String>,
}

impl Pool {
    fn last(&self) -> String {
        self.names.last().cloned().unwrap_or_default()
    }
}

/// The values of both types that the next op can use.
#[derive(Clone)]
struct Values {
    halves: Pool,
    bytes: Pool,
}

struct Writer {
    ours: String,
    llvm: String,
    random: Random,
    values: usize,
}

impl Writer {
    fn both(&mut self, ours: &str, llvm: &str) {
        line(&mut self.ours, ours);
        line(&mut self.llvm, llvm);
    }

    fn function(&mut self, number: usize) {
        self.values = 0;
        self.both(
            &format!(
                "kernel @k{number}(%x: in f16x2, %y: out f16x2, %p: in i8x4, %q: out i8x4, %a: f16x2, %b: i8x4, %n: i32) {{\n^entry:"
            ),
            &format!(
                "define ptx_kernel void @k{number}(ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %p, \
                 ptr addrspace(1) %q, <2 x half> %a, <4 x i8> %b, i32 %n) {{\nentry:"
            ),
        );
        self.both("  %i = item_id", "  %i32 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %i = zext i32 %i32 to i64");
        let halves = [self.load("x", &HALVES, 0), self.load("x", &HALVES, 1)];
        let bytes = [self.load("p", &BYTES, 0), self.load("p", &BYTES, 1)];
        let pool = |parameter: &str, loaded: [String; 2]| Pool {
            names: std::iter::once(parameter.to_owned()).chain(loaded).collect(),
        };
        let mut values = Values { halves: pool("%a", halves), bytes: pool("%b", bytes) };
        match number % 4 {
            0 => self.branch(&mut values),
            1 => self.repeat(&mut values),
            _ => self.ops(&mut values, OPS),
        }
        self.store("y", &HALVES, &values.halves.last());
        self.store("q", &BYTES, &values.bytes.last());
        self.both("  ret\n}\n", "  ret void\n}\n");
    }

    fn value(&mut self) -> String {
        self.values += 1;
        format!("%v{}", self.values)
    }

    fn address(&mut self, base: &str, packed: &Packed, offset: usize) -> String {
        let at = format!("%at{}", self.values);
        self.values += 1;
        line(&mut self.llvm, &format!("  {at}.0 = getelementptr {}, ptr addrspace(1) %{base}, i64 %i", packed.llvm));
        line(&mut self.llvm, &format!("  {at} = getelementptr {}, ptr addrspace(1) {at}.0, i64 {offset}", packed.llvm));
        at
    }

    fn load(&mut self, base: &str, packed: &Packed, offset: usize) -> String {
        let at = self.address(base, packed, offset);
        let value = self.value();
        let index = if offset == 0 { "%i".to_owned() } else { format!("%i + {offset}") };
        self.both(
            &format!("  {value} = load %{base}[{index}]"),
            &format!("  {value} = load {}, ptr addrspace(1) {at}", packed.llvm),
        );
        value
    }

    fn store(&mut self, base: &str, packed: &Packed, value: &str) {
        let at = self.address(base, packed, 0);
        self.both(
            &format!("  store {value}, %{base}[%i]"),
            &format!("  store {} {value}, ptr addrspace(1) {at}", packed.llvm),
        );
    }

    /// Generates `count` ops, alternately of both types. Each op uses the last value of its type.
    fn ops(&mut self, values: &mut Values, count: usize) {
        for number in 0..count {
            match number % 2 {
                0 => self.op(&HALVES, &mut values.halves),
                _ => self.op(&BYTES, &mut values.bytes),
            }
        }
    }

    fn op(&mut self, packed: &Packed, pool: &mut Pool) {
        let Op { ours, llvm, operands } = &packed.ops[self.random.below(packed.ops.len())];
        let mut args = vec![pool.last()];
        while args.len() < *operands {
            args.push(pool.names[self.random.below(pool.names.len())].clone());
        }
        let value = self.value();
        let (ty, suffix) = (packed.llvm, packed.suffix);
        let theirs = if llvm.starts_with("llvm.") {
            let args: Vec<String> = args.iter().map(|arg| format!("{ty} {arg}")).collect();
            format!("  {value} = call {ty} @{llvm}.{suffix}({})", args.join(", "))
        } else {
            format!("  {value} = {llvm} {ty} {}", args.join(", "))
        };
        self.both(&format!("  {value} = {ours}.{} {}", packed.ours, args.join(", ")), &theirs);
        pool.names.push(value);
    }

    /// Generates a branch that depends on the item index.
    fn branch(&mut self, values: &mut Values) {
        self.both(
            "  %c = icmp.lt_u.i32 %i, %n\n  br_if %c, ^then, ^else\n^then:",
            "  %c = icmp ult i32 %i32, %n\n  br i1 %c, label %then, label %else\nthen:",
        );
        let mut then = values.clone();
        self.ops(&mut then, OPS / 2);
        let (then_half, then_byte) = (then.halves.last(), then.bytes.last());
        self.both(&format!("  br ^join({then_half}, {then_byte})\n^else:"), "  br label %join\nelse:");
        let mut otherwise = values.clone();
        self.ops(&mut otherwise, OPS / 2);
        let (else_half, else_byte) = (otherwise.halves.last(), otherwise.bytes.last());
        self.both(
            &format!("  br ^join({else_half}, {else_byte})\n^join(%h: f16x2, %w: i8x4):"),
            &format!(
                "  br label %join\njoin:\n  %h = phi <2 x half> [ {then_half}, %then ], [ {else_half}, %else ]\n  \
                 %w = phi <4 x i8> [ {then_byte}, %then ], [ {else_byte}, %else ]"
            ),
        );
        values.halves.names.push("%h".to_owned());
        values.bytes.names.push("%w".to_owned());
    }

    /// Generates a loop of `n` iterations, where `n` is at least 1.
    fn repeat(&mut self, values: &mut Values) {
        let (half, byte) = (values.halves.last(), values.bytes.last());
        line(&mut self.ours, "  %zero = const.i32 0\n  %one = const.i32 1");
        line(&mut self.ours, &format!("  br ^loop(%zero, {half}, {byte})\n^loop(%k: i32, %h: f16x2, %w: i8x4):"));
        let before = std::mem::take(&mut self.llvm);
        values.halves.names.push("%h".to_owned());
        values.bytes.names.push("%w".to_owned());
        self.ops(values, OPS - 2);
        let body = std::mem::replace(&mut self.llvm, before);
        let (next_half, next_byte) = (values.halves.last(), values.bytes.last());
        line(
            &mut self.llvm,
            &format!(
                "  br label %loop\nloop:\n  %k = phi i32 [ 0, %entry ], [ %next, %loop ]\n  \
                 %h = phi <2 x half> [ {half}, %entry ], [ {next_half}, %loop ]\n  \
                 %w = phi <4 x i8> [ {byte}, %entry ], [ {next_byte}, %loop ]"
            ),
        );
        self.llvm.push_str(&body);
        self.both(
            &format!(
                "  %next = add.i32 %k, %one\n  %c = icmp.lt_u.i32 %next, %n\n  \
                 br_if %c, ^loop(%next, {next_half}, {next_byte}), ^done\n^done:"
            ),
            "  %next = add i32 %k, 1\n  %c = icmp ult i32 %next, %n\n  br i1 %c, label %loop, label %done\ndone:",
        );
    }
}
