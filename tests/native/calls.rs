//! The command `compile --target TRIPLE`: accepted and refused inputs, its headers, and native
//! functions with invalid arguments.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::driver::HOST;
use super::has;
use crate::common::{Called, halfbyte};

/// Kernels with parameters of each kind.
const KERNELS: &str = "\
kernel @scale(%a: f32, %x: in f32, %y: out f32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %r = fmul.f32 %a, %v
  store %r, %y[%i]
  ret
}

kernel @int(%class: f16x2, %items: inout may_alias f16x2, %fn: in may_alias f16x2) {
^entry:
  %i = item_id
  %v = load %fn[%i]
  %w = load %items[%i]
  %r = ffma.f16x2 %class, %v, %w
  store %r, %items[%i]
  ret
}

kernel @wide(%d: f64, %l: i64, %b: i1, %s: i8, %y: out f64) {
^entry:
  %i = item_id
  store %d, %y[%i]
  ret
}

kernel @axes(%y: out i32) {
^entry:
  %i = item_id
  %x = local_id.x
  %z = group_id.z
  %s = add.i32 %x, %z
  store %s, %y[%i]
  ret
}
";

/// Compiles a text to an object and a header in a folder.
fn compile(folder: &Path, text: &str, header: &str, more: &[&str]) -> Called {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    fs::write(path("k.hb"), text).unwrap();
    let (input, object, header) = (path("k.hb"), path("k.o"), path(header));
    let call = ["compile", &input, "--target", HOST.triple, "--emit", "obj", "-o", &object, "--header", &header];
    halfbyte(&[&call, more].concat())
}

/// Runs a command in a folder. Returns its output.
fn command(folder: &Path, words: &[&str]) -> String {
    let output = Command::new(words[0]).args(&words[1..]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{words:?}: {:.3000}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-pedantic", "-Werror"];

#[test]
fn a_header_is_one_of_c_and_of_cpp() {
    if !has(&HOST) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    compile(folder, KERNELS, "k.h", &[]).output();
    let program = "\
#include \"k.h\"
#include \"k.h\"
#include <stdio.h>
int main(void) {
    const float x[3] = {1, 2, 3};
    float y[3] = {9, 9, 9};
    struct halfbyte_trap trap;
    int32_t status = scale(2, 0.5f, x, 3, y, 3, &trap);
    printf(\"%d %g %g %g\\n\", status, y[0], y[1], y[2]);
    status = scale(4, 0.5f, x, 3, y, 3, &trap);
    printf(\"%s: item %u, line %u\\n\", halfbyte_native_message(status), trap.item, trap.line);
    uint32_t h[2] = {0x3c003c00u, 0x40004000u};
    status = int_kernel(2, 0x3c003c00u, h, 2, h, 2, NULL);
    printf(\"%d %x %x\\n\", status, h[0], h[1]);
    double d[2];
    status = wide(2, 0.25, 1, 1, 255, d, 2, NULL);
    printf(\"%d %g %g\\n\", status, d[0], d[1]);
    return 0;
}
";
    for (compiler, standard, file) in [("gcc", "-std=c11", "main.c"), ("g++", "-std=c++17", "main.cpp")] {
        fs::write(folder.join(file), program).unwrap();
        command(folder, &[&[compiler, standard], &STRICT[..], &[file, "k.o", "-o", "main"]].concat());
        let said = command(folder, &["./main"]);
        let outside = "an access outside all buffers and outside the item's local memory: item 3, line 4";
        assert_eq!(said, format!("0 0.5 1 0\n{outside}\n0 40004000 44004400\n0 0.25 0.25\n"), "{compiler}");
    }
}

#[test]
fn bindings_for_rust_are_safe_functions() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    compile(folder, KERNELS, "k.rs", &[]).output();
    let program = "\
mod k {
    include!(\"k.rs\");
}
fn main() {
    let (x, mut y) = ([1.0, 2.0, 3.0], [9.0; 3]);
    println!(\"{:?} {y:?}\", k::scale(2, 0.5, &x, &mut y));
    let error = k::scale(4, 0.5, &x, &mut y).unwrap_err();
    println!(\"{error}: {:?}\", error.status);
    assert_eq!(k::axes([1, 1, 2], [2, 1, 1], &mut [0; 4]), Ok(()));
}
";
    fs::write(folder.join("main.rs"), program).unwrap();
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    command(
        folder,
        &[&rustc, "--edition=2021", "-Dwarnings", "-Adead_code", "main.rs", "-Clink-arg=k.o", "-o", "main"],
    );
    let said = command(folder, &["./main"]);
    let (first, second) = said.split_once('\n').unwrap();
    assert_eq!(first, "Ok(()) [9.0, 9.0, 9.0]".replace("[9.0, 9.0, 9.0]", "[0.5, 1.0, 0.0]"));
    assert!(second.contains("item 3, line 4") && second.ends_with(": OutOfBounds\n"), "{second}");
}

#[test]
fn arguments_that_do_not_fit_give_a_status_and_write_nothing() {
    if !has(&HOST) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    compile(folder, KERNELS, "k.h", &[]).output();
    let program = "\
#include \"k.h\"
#include <stdio.h>
#include <string.h>
static float memory[64];
static int changed(void) {
    for (size_t i = 0; i < 64; i++) if (memory[i] != 7) return 1;
    return 0;
}
#define REFUSED(expected, call) do { \\
        struct halfbyte_trap trap; \\
        memset(&trap, 0xee, sizeof trap); \\
        const int32_t status = (call); \\
        if (status != (expected) || (int32_t)trap.kind != status || changed()) { printf(\"%s: %d\\n\", #call, status); return 1; } \\
    } while (0)
int main(void) {
    float *const m = memory;
    char *const bytes = (char *)memory;
    for (size_t i = 0; i < 64; i++) m[i] = 7;
    REFUSED(HALFBYTE_NATIVE_NULL_BUFFER, scale(2, 1, NULL, 2, m, 2, &trap));
    REFUSED(HALFBYTE_NATIVE_NULL_BUFFER, scale(2, 1, m, 2, NULL, 2, &trap));
    REFUSED(HALFBYTE_NATIVE_NULL_BUFFER, scale(0, 1, NULL, 2, m, 2, &trap));
    REFUSED(HALFBYTE_NATIVE_MISALIGNED_BUFFER, scale(2, 1, (void *)(bytes + 2), 2, m + 8, 2, &trap));
    REFUSED(HALFBYTE_NATIVE_MISALIGNED_BUFFER, scale(2, 1, m + 8, 2, (void *)(bytes + 1), 2, &trap));
    REFUSED(HALFBYTE_NATIVE_OVERLAP, scale(2, 1, m, 4, m + 3, 4, &trap));
    REFUSED(HALFBYTE_NATIVE_OVERLAP, scale(2, 1, m, 4, m, 4, &trap));
    REFUSED(HALFBYTE_NATIVE_LARGE_BUFFER, scale(2, 1, m, SIZE_MAX, m + 8, 4, &trap));
    REFUSED(HALFBYTE_NATIVE_LARGE_BUFFER, scale(2, 1, m, SIZE_MAX / 4, m + 8, 4, &trap));
    if (scale(2, 1, NULL, 2, m, 2, NULL) != HALFBYTE_NATIVE_NULL_BUFFER) return 1;
    /* Nothing is no memory, wherever it is; and no item does nothing. */
    if (scale(0, 1, NULL, 0, NULL, 0, NULL) != HALFBYTE_NATIVE_OK) return 1;
    if (scale(0, 1, m, 4, m + 4, 0, NULL) != HALFBYTE_NATIVE_OK || changed()) return 1;
    struct halfbyte_trap trap;
    if (scale(3, 1, m, 4, m + 4, 2, &trap) != HALFBYTE_NATIVE_OUT_OF_BOUNDS || trap.item != 2 || trap.line != 6) return 1;
    if (m[3] != 7 || m[6] != 7) return 1;
    const uint32_t grid[3] = {65536, 65536, 2}, block[3] = {1, 1, 1}, none[3] = {0, 1, 1};
    uint32_t words[2] = {7, 7};
    if (axes(grid, block, words, 2, &trap) != HALFBYTE_NATIVE_ITEMS) return 1;
    if (axes(none, block, words, 2, NULL) != HALFBYTE_NATIVE_OK) return 1;
    puts(\"all\");
    return 0;
}
";
    fs::write(folder.join("main.c"), program).unwrap();
    let sanitize: &[&str] = &["-g", "-fsanitize=address"];
    command(folder, &[&["gcc", "-std=c11"], &STRICT[..], sanitize, &["main.c", "k.o", "-o", "main"]].concat());
    assert_eq!(command(folder, &["./main"]), "all\n");
}

#[test]
fn triples_are_said_to_be_wrong() {
    let compile = |target: &str, more: &[&str]| {
        halfbyte(&[&["compile", "examples/axpy.hb", "--target", target, "-o", "/dev/null"], more].concat())
    };
    let object = ["--emit", "obj"];
    for (target, said) in [
        ("x86-64-linux", "did you mean `x86_64-unknown-linux-gnu`?"),
        ("armv8_64-linux", "did you mean `aarch64-unknown-linux-gnu`?"),
        ("x86_64-unknown-linux-gnux", "did you mean `x86_64-unknown-linux-gnu`?"),
        ("i686-unknown-linux-gnu", "kernels need a little-endian machine with 64-bit addresses"),
        ("powerpc64le-unknown-linux-gnu", "Cranelift does not support `powerpc64le-unknown-linux-gnu`"),
        ("sparc-sun", "`sparc-sun` is not supported: kernels need a little-endian machine"),
        ("foo-bar", "`foo-bar` is not a target triple: Unrecognized architecture: foo\n"),
        ("amd64", "did you mean `x86_64-unknown-linux-gnu`?"),
        ("nvptx64-nvidia-cuda", "invalid value 'nvptx64-nvidia-cuda'"),
        ("halo", "a similar value exists: 'halu'"),
    ] {
        compile(target, &object).fails(2, said);
    }
    compile("native", &[]).fails(2, "--target native: native code is an object; write `--emit obj`");
    compile("native", &["--emit", "asm"]).fails(2, "write `--emit obj`");
    compile("native", &["--emit", "obj", "--stats"]).fails(2, "--stats is not supported for native code");
    compile("native", &["--emit", "obj", "--sm", "80"]).fails(2, "has no SM versions");
    compile("native", &["--emit", "obj", "--header", "k.txt"]).fails(2, "a header is FILE.h or FILE.rs");
    compile("native", &["--emit", "obj", "--header", "/nowhere/k.h"]).fails(2, "/nowhere/k.h");
    compile("x86_64-unknown-linux-gnu", &["--emit", "obj", "--cpu", "x86-64-v9"])
        .fails(2, "no processor or feature `x86-64-v9`");
    compile("halu", &["--emit", "obj", "--header", "k.h"]).fails(2, "--header is only valid for native code");
    compile("halu", &["--emit", "obj", "--freestanding"]).fails(2, "--freestanding is only valid for native code");
    for more in [&["--cpu", "x86-64-v3"][..], &["--cpu", "has_fma,has_avx2"], &["--freestanding"], &["--budget", "10"]]
    {
        compile("x86_64-unknown-linux-gnu", &[&object, more].concat()).output();
    }
    compile("native", &object).output();
}
