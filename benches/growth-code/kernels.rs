//! Generators of kernels of a given size, for the growth benchmark.

#[path = "ptx.rs"]
pub mod ptx;

use std::fmt::Write;

/// A generator of texts of a given size.
pub struct Kernel {
    /// The name of the generator, which is also the name of the kernel in the text, or the name of a PTX file.
    pub name: &'static str,
    /// The first parts of the names of the workloads that run on the kernel, such as `explain` for `explain-halu`.
    pub works: &'static [&'static str],
    /// Function that returns a text of the given size. A text in the IR defines a value `%r`.
    pub write: fn(usize) -> String,
}

const TARGETS: &[&str] = &["halu", "vp1", "ptx"];
const ALL: &[&str] = &["halu", "vp1", "ptx", "explain", "view"];

#[rustfmt::skip]
pub const KERNELS: &[Kernel] = &[
    Kernel { name: "switch",   works: TARGETS, write: switch },
    Kernel { name: "live",     works: TARGETS, write: live },
    Kernel { name: "bytes",    works: TARGETS, write: bytes },
    Kernel { name: "diamonds", works: ALL,     write: diamonds },
    Kernel { name: "skips",    works: ALL,     write: skips },
    Kernel { name: "branches", works: ALL,     write: branches },
];

fn text(name: &str, params: &str, body: impl FnOnce(&mut String)) -> String {
    let mut text = format!("kernel @{name}({params}) {{\n^entry:\n  %i = item_id\n");
    body(&mut text);
    text + "  ret\n}\n"
}

/// Generates a kernel with one `switch`, whose `size` cases branch to a common block.
fn switch(size: usize) -> String {
    text("switch", "%x: in i32, %y: out i32", |text| {
        let cases: Vec<String> = (0..size).map(|k| format!("{k}: ^c{k}")).collect();
        let _ = writeln!(text, "  %v = load %x[%i]\n  switch %v, ^none, [{}]", cases.join(", "));
        let _ = writeln!(text, "^none:\n  br ^join(%v)");
        for k in 0..size {
            let _ = writeln!(text, "^c{k}:\n  %m{k} = const.i32 {}\n  br ^join(%m{k})", 3 * k + 7);
        }
        let _ = writeln!(text, "^join(%r: i32):\n  store %r, %y[%i]");
    })
}

/// Generates a kernel with `size` values that are live at the same time.
fn live(size: usize) -> String {
    text("live", "%x: in i8x4, %y: out i8x4", |text| {
        let _ = writeln!(text, "  %v0 = load %x[%i]");
        for k in 1..=size {
            let _ = writeln!(text, "  %v{k} = mul.i8x4 %v{}, %v0", k - 1);
        }
        let _ = writeln!(text, "  %s0 = mul.i8x4 %v{size}, %v0");
        for k in 1..=size {
            let _ = writeln!(text, "  %s{k} = absdiff_u.i8x4 %s{}, %v{k}", k - 1);
        }
        let _ = writeln!(text, "  %r = not.i8x4 %s{size}\n  store %r, %y[%i]");
    })
}

/// Generates a kernel on `size` adjacent bytes. All bytes are loaded and processed before the first one is stored.
fn bytes(size: usize) -> String {
    text("bytes", "%x: in i8 align 4, %y: in i8 align 4, %z: out i8 align 4", |text| {
        let bytes = size.next_multiple_of(4);
        let _ = writeln!(text, "  %n = const.i32 {bytes}\n  %j = mul.i32 %i, %n");
        for k in 0..bytes {
            let _ = writeln!(text, "  %x{k} = load %x[%j + {k}]\n  %y{k} = load %y[%j + {k}]");
            let _ = writeln!(text, "  %z{k} = avg_u.i8 %x{k}, %y{k}");
        }
        for k in 0..bytes {
            let _ = writeln!(text, "  store %z{k}, %z[%j + {k}]");
        }
        let _ = writeln!(text, "  %r = load %x[%j + {bytes}]\n  store %r, %z[%j]");
    })
}

/// Generates a kernel with `size` if-then-else branches in sequence.
fn diamonds(size: usize) -> String {
    text("diamonds", "%x: in i32, %y: out i32", |text| {
        let _ = writeln!(text, "  %v0 = load %x[%i]");
        for k in 0..size {
            let _ = writeln!(text, "  %c{k} = icmp.lt_s.i32 %v{k}, %i\n  br_if %c{k}, ^t{k}, ^e{k}");
            let _ = writeln!(text, "^t{k}:\n  %t{k} = mul.i32 %v{k}, %i\n  br ^j{k}(%t{k})");
            let _ = writeln!(text, "^e{k}:\n  %e{k} = xor.i32 %v{k}, %i\n  br ^j{k}(%e{k})\n^j{k}(%v{}: i32):", k + 1);
        }
        let _ = writeln!(text, "  %r = not.i32 %v{size}\n  store %r, %y[%i]");
    })
}

/// Generates a kernel with `size` if-then branches in sequence. Each conditional block contains a
/// load, which prevents if-conversion.
fn skips(size: usize) -> String {
    text("skips", "%x: in i32, %y: out i32", |text| {
        let _ = writeln!(text, "  %v0 = load %x[%i]\n  %three = const.i32 3");
        for k in 0..size {
            let _ = writeln!(text, "  %c{k} = icmp.lt_s.i32 %v{k}, %i\n  br_if %c{k}, ^t{k}, ^j{k}(%v{k})");
            let _ = writeln!(text, "^t{k}:\n  %a{k} = and.i32 %v{k}, %three\n  %t{k} = load %x[%a{k}]");
            let _ = writeln!(text, "  br ^j{k}(%t{k})\n^j{k}(%v{}: i32):", k + 1);
        }
        let _ = writeln!(text, "  %r = not.i32 %v{size}\n  store %r, %y[%i]");
    })
}

/// Generates a kernel with `size` if-then-else branches in sequence. One side of each branch
/// contains a load.
fn branches(size: usize) -> String {
    text("branches", "%x: in i32, %y: out i32", |text| {
        let _ = writeln!(text, "  %v0 = load %x[%i]\n  %three = const.i32 3");
        for k in 0..size {
            let _ = writeln!(text, "  %c{k} = icmp.lt_s.i32 %v{k}, %i\n  br_if %c{k}, ^t{k}, ^e{k}");
            let _ =
                writeln!(text, "^t{k}:\n  %a{k} = and.i32 %v{k}, %three\n  %t{k} = load %x[%a{k}]\n  br ^j{k}(%t{k})");
            let _ = writeln!(text, "^e{k}:\n  %e{k} = xor.i32 %v{k}, %i\n  br ^j{k}(%e{k})\n^j{k}(%v{}: i32):", k + 1);
        }
        let _ = writeln!(text, "  %r = not.i32 %v{size}\n  store %r, %y[%i]");
    })
}
