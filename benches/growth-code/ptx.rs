//! Generators of PTX files of a given size, for the growth benchmark.

use std::fmt::Write;

use super::Kernel;

const ALL: &[&str] = &["check", "halu", "ptx", "run"];

/// Workloads of files that are only checked, because they contain errors or unsupported features,
/// or because they measure run lines.
const PARSED: &[&str] = &["check"];

#[rustfmt::skip]
pub const FILES: &[Kernel] = &[
    Kernel { name: "entries.ptx",    works: ALL,    write: entries },
    Kernel { name: "locals.ptx",     works: ALL,    write: locals },
    Kernel { name: "shared.ptx",     works: ALL,    write: shared },
    Kernel { name: "variables.ptx",  works: ALL,    write: variables },
    Kernel { name: "chain.ptx",      works: ALL,    write: chain },
    Kernel { name: "addresses.ptx",  works: ALL,    write: addresses },
    Kernel { name: "elements.ptx",   works: ALL,    write: elements },
    Kernel { name: "globals.ptx",    works: ALL,    write: globals },
    Kernel { name: "functions.ptx",  works: ALL,    write: functions },
    Kernel { name: "callers.ptx",    works: ALL,    write: callers },
    Kernel { name: "calls.ptx",      works: ALL,    write: calls },
    Kernel { name: "nested_calls.ptx", works: &["check", "run"], write: nested_calls },
    Kernel { name: "externs.ptx",    works: PARSED, write: externs },
    Kernel { name: "refused.ptx",    works: PARSED, write: refused },
    Kernel { name: "direct.ptx",     works: &["check", "run"], write: direct },
    Kernel { name: "indirect.ptx",   works: &["check", "run"], write: indirect },
    Kernel { name: "listed.ptx",     works: &["check", "run"], write: listed },
    Kernel { name: "virtual.ptx",    works: &["check", "run"], write: virtual_calls },
    Kernel { name: "textures.ptx",   works: ALL,    write: textures },
    Kernel { name: "errors.ptx",     works: PARSED, write: errors },
    Kernel { name: "duplicates.ptx", works: PARSED, write: duplicates },
    Kernel { name: "files.ptx",      works: ALL,    write: files },
    Kernel { name: "params.ptx",     works: &["check", "halu", "ptx"], write: params },
    Kernel { name: "signatures.ptx", works: &["check", "halu", "ptx"], write: signatures },
    Kernel { name: "insts.ptx",      works: ALL,    write: insts },
    Kernel { name: "labels.ptx",     works: ALL,    write: labels },
    Kernel { name: "exits.ptx",      works: ALL,    write: exits },
    Kernel { name: "loops.ptx",      works: ALL,    write: loops },
    Kernel { name: "tables.ptx",     works: ALL,    write: tables },
    Kernel { name: "targets.ptx",    works: ALL,    write: targets },
    Kernel { name: "registers.ptx",  works: ALL,    write: registers },
    Kernel { name: "frame.ptx",      works: ALL,    write: frame },
    Kernel { name: "arrays.ptx",     works: ALL,    write: arrays },
    Kernel { name: "addressed.ptx",  works: ALL,    write: addressed },
    Kernel { name: "tiles.ptx",      works: ALL,    write: tiles },
    Kernel { name: "scopes.ptx",     works: ALL,    write: scopes },
    Kernel { name: "nested.ptx",     works: ALL,    write: nested },
    Kernel { name: "immediates.ptx", works: ALL,    write: immediates },
    Kernel { name: "pragmas.ptx",    works: ALL,    write: pragmas },
    Kernel { name: "atomics.ptx",    works: ALL,    write: atomics },
    Kernel { name: "unwritten.ptx",  works: ALL,    write: unwritten },
    Kernel { name: "mixed.ptx",      works: &["check", "halu", "ptx"], write: mixed },
    Kernel { name: "runs.ptx",       works: PARSED, write: runs },
    Kernel { name: "run_lines.ptx",  works: PARSED, write: run_lines },
];

const REGISTERS: &str = "  .reg .b32 %r<8>;\n  .reg .b64 %d<8>;\n  .reg .pred %p<4>;\n";

/// Returns a PTX file: the header, followed by the text that `rest` appends.
fn file(rest: impl FnOnce(&mut String)) -> String {
    let mut text = ".version 8.8\n.target sm_90\n.address_size 64\n".to_owned();
    rest(&mut text);
    text
}

/// Appends a kernel named `k` and the number `k`. The closure `body` appends its instructions.
fn kernel(text: &mut String, k: usize, body: impl FnOnce(&mut String)) {
    let _ = write!(text, ".visible .entry k{k}()\n{{\n{REGISTERS}");
    body(text);
    text.push_str("  ret;\n}\n");
}

/// Returns a PTX file with one kernel. The closure `body` appends its instructions.
fn one(body: impl FnOnce(&mut String)) -> String {
    file(|text| kernel(text, 0, body))
}

/// Returns a PTX file with `size` kernels. The closure `body` appends the instructions of the
/// kernel with a given number.
fn each(size: usize, body: impl Fn(&mut String, usize)) -> String {
    file(|text| (0..size).for_each(|k| kernel(text, k, |text| body(text, k))))
}

/// Generates `size` empty kernels.
fn entries(size: usize) -> String {
    each(size, |_, _| {})
}

/// Generates `size` kernels with an array in local memory, and a branch.
fn locals(size: usize) -> String {
    each(size, |text, _| {
        text.push_str("  .local .align 8 .b8 depot[32];\n  mov.u32 %r1, %tid.x;\n  and.b32 %r2, %r1, 28;\n");
        text.push_str(
            "  setp.lt.u32 %p1, %r1, 4;\n  mov.u64 %d1, depot;\n  cvt.u64.u32 %d2, %r2;\n  add.s64 %d3, %d1, %d2;\n",
        );
        text.push_str("  @%p1 bra $skip;\n  st.local.u32 [%d3], %r1;\n$skip:\n  ld.local.u32 %r3, [%d1+4];\n");
    })
}

/// Generates `size` kernels with two arrays in shared memory. All kernels use the same two names.
fn shared(size: usize) -> String {
    each(size, |text, _| {
        text.push_str("  .shared .align 4 .b8 tile[128];\n  .shared .align 4 .b8 other[128];\n");
        text.push_str(
            "  mov.u32 %r1, %tid.x;\n  shl.b32 %r2, %r1, 2;\n  and.b32 %r2, %r2, 124;\n  mov.u32 %r3, tile;\n",
        );
        text.push_str("  add.s32 %r4, %r3, %r2;\n  st.shared.u32 [%r4], %r1;\n  st.shared.u32 [other], %r1;\n");
    })
}

/// Generates `size` variables of the module, and one kernel for each variable. Each kernel has a
/// local variable.
fn variables(size: usize) -> String {
    file(|text| {
        for k in 0..size {
            let _ = writeln!(text, ".const .align 4 .u32 v{k}[2] = {{{k}, 7}};");
        }
        for k in 0..size {
            kernel(text, k, |text| {
                let _ = writeln!(
                    text,
                    "  .local .b32 x;\n  {{ .reg .b32 %s; ld.const.u32 %s, [v{k}+4]; st.local.u32 [x], %s; }}"
                );
            });
        }
    })
}

/// Generates `size` variables that form a chain: each variable holds the address of the previous
/// variable.
fn chain(size: usize) -> String {
    file(|text| {
        text.push_str(".global .align 8 .u64 v0 = 0;\n");
        for k in 1..=size {
            let _ = writeln!(text, ".global .align 8 .u64 v{k} = v{};", k - 1);
        }
        kernel(text, 0, |text| {
            let _ = writeln!(text, "  ld.global.u64 %d1, [v{size}];");
        });
    })
}

/// Generates one array variable that holds `size` addresses.
fn addresses(size: usize) -> String {
    file(|text| {
        let all: Vec<String> = (0..size).map(|k| format!("x+{}", k % 2 * 4)).collect();
        let _ = writeln!(
            text,
            ".global .align 4 .u32 x[2] = {{1, 2}};\n.global .align 8 .u64 all[] = {{{}}};",
            all.join(", ")
        );
        kernel(text, 0, |text| text.push_str("  ld.global.u64 %d1, [all+8];\n"));
    })
}

/// Generates one array variable that holds `size` numbers.
fn elements(size: usize) -> String {
    file(|text| {
        let all: Vec<String> = (0..size).map(|k| format!("{k}")).collect();
        let _ = writeln!(text, ".const .align 4 .u32 all[] = {{{}}};", all.join(", "));
        kernel(text, 0, |text| text.push_str("  ld.const.u32 %r1, [all+8];\n"));
    })
}

/// Generates `size` variables, and one kernel that reads every variable.
fn globals(size: usize) -> String {
    file(|text| {
        for k in 0..size {
            let _ = writeln!(text, ".global .align 4 .u32 v{k} = {k};");
        }
        kernel(text, 0, |text| {
            for k in 0..size {
                let _ = writeln!(text, "  ld.global.u32 %r1, [v{k}];");
            }
        });
    })
}

/// Appends a function named `f` and the number `k`, which returns the sum of its argument and `k`.
fn function(text: &mut String, k: usize) {
    let _ = writeln!(text, ".func (.param .b32 r) f{k} (.param .b32 a)\n{{\n{REGISTERS}  ld.param.b32 %r1, [a];");
    let _ = writeln!(text, "  add.s32 %r2, %r1, {k};\n  st.param.b32 [r], %r2;\n  ret;\n}}");
}

/// Appends a call of function `f`, in the form that nvcc emits.
fn call(text: &mut String, f: usize) {
    text.push_str("  { .param .b32 param0; st.param.b32 [param0], %r1; .param .b32 retval0;\n");
    let _ = writeln!(text, "  call.uni (retval0), f{f}, (param0); ld.param.b32 %r1, [retval0]; }}");
}

/// Generates `size` functions, and one kernel that calls every function.
fn functions(size: usize) -> String {
    file(|text| {
        (0..size).for_each(|k| function(text, k));
        kernel(text, 0, |text| (0..size).for_each(|k| call(text, k)));
    })
}

/// Generates `size` functions, and `size` kernels. Each kernel calls one of the functions.
fn callers(size: usize) -> String {
    file(|text| {
        (0..size).for_each(|k| function(text, k));
        (0..size).for_each(|k| kernel(text, k, |text| call(text, k)));
    })
}

/// Generates a kernel with `size` calls of one function.
fn calls(size: usize) -> String {
    file(|text| {
        function(text, 0);
        kernel(text, 0, |text| (0..size).for_each(|_| call(text, 0)));
    })
}

/// Generates `size` functions and `size` kernels. Each function calls the previous function, and
/// each kernel calls one function.
fn nested_calls(size: usize) -> String {
    file(|text| {
        function(text, 0);
        for k in 1..size {
            let _ =
                writeln!(text, ".func (.param .b32 r) f{k} (.param .b32 a)\n{{\n{REGISTERS}  ld.param.b32 %r1, [a];");
            call(text, k - 1);
            text.push_str("  st.param.b32 [r], %r1;\n  ret;\n}\n");
        }
        (0..size).for_each(|k| kernel(text, k, |text| call(text, k)));
    })
}

/// Generates `size` external functions, and `size` kernels. Each kernel calls one of the functions.
fn externs(size: usize) -> String {
    file(|text| {
        for k in 0..size {
            let _ = writeln!(
                text,
                ".extern .func (.param .b32 r) f{k} (.param .b32 a);\n.extern .global .align 4 .b32 e{k};"
            );
        }
        (0..size).for_each(|k| kernel(text, k, |text| call(text, k)));
    })
}

/// Generates `size` kernels with an unsupported instruction.
fn refused(size: usize) -> String {
    each(size, |text, _| text.push_str("  tex.1d.v4.f32.s32 {%r1, %r2, %r3, %r4}, [tex, {%r5}];\n"))
}

/// Generates `size` kernels with a matrix instruction. A kernel with a matrix instruction can only
/// be executed directly.
fn direct(size: usize) -> String {
    each(size, |text, _| {
        text.push_str("  mov.b32 %r1, 0;\n  mov.b32 %r2, 0;\n  mov.b32 %r3, 0;\n  mov.b32 %r4, 0;\n");
        text.push_str(
            "  mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r1, %r2}, {%r3}, {%r1, %r2};\n",
        );
    })
}

/// Generates a kernel with `size` indirect calls. Each call has its own prototype.
fn indirect(size: usize) -> String {
    file(|text| {
        function(text, 0);
        kernel(text, 0, |text| {
            text.push_str("  mov.u64 %d1, f0;\n");
            for k in 0..size {
                text.push_str("  { .param .b32 a; st.param.b32 [a], %r1; .param .b32 r;\n");
                let _ = writeln!(text, "  proto{k}: .callprototype (.param .b32 _) _ (.param .b32 _);");
                let _ = writeln!(text, "  call (r), %d1, (a), proto{k}; ld.param.b32 %r1, [r]; }}");
            }
        });
    })
}

/// Generates a kernel with `size` indirect calls, which share one list of `size` targets.
fn listed(size: usize) -> String {
    file(|text| {
        (0..size).for_each(|k| function(text, k));
        kernel(text, 0, |text| {
            let all: Vec<String> = (0..size).map(|k| format!("f{k}")).collect();
            let _ = writeln!(text, "  all: .calltargets {};\n  mov.u64 %d1, f0;", all.join(", "));
            for _ in 0..size {
                text.push_str("  { .param .b32 a; st.param.b32 [a], %r1; .param .b32 r;\n");
                text.push_str("  call (r), %d1, (a), all; ld.param.b32 %r1, [r]; }\n");
            }
        });
    })
}

/// Generates `size` variables and `size` kernels. Each kernel makes an indirect call to a function
/// whose address is stored in a table.
fn virtual_calls(size: usize) -> String {
    file(|text| {
        function(text, 0);
        text.push_str(".global .align 8 .u64 table[2] = {f0, f0};\n");
        for k in 0..size {
            let _ = writeln!(text, ".global .align 4 .u32 v{k} = {k};");
        }
        for k in 0..size {
            kernel(text, k, |text| {
                text.push_str(
                    "  ld.global.u64 %d1, [table];\n  { .param .b32 a; st.param.b32 [a], %r1; .param .b32 r;\n",
                );
                text.push_str("  proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n");
                text.push_str("  call (r), %d1, (a), proto; ld.param.b32 %r1, [r]; }\n");
            });
        }
    })
}

/// Generates `size` unsupported declarations that no kernel uses.
fn textures(size: usize) -> String {
    file(|text| {
        (0..size).for_each(|k| {
            let _ = writeln!(text, ".global .texref t{k};");
        });
        kernel(text, 0, |_| {});
    })
}

/// Generates `size` kernels with an error.
fn errors(size: usize) -> String {
    each(size, |text, _| text.push_str("  add.s32 %r1, %r2;\n"))
}

/// Generates `size` kernels with the same name.
fn duplicates(size: usize) -> String {
    file(|text| (0..size).for_each(|_| kernel(text, 0, |_| {})))
}

/// Generates a kernel with instructions from `size` source files, one instruction per file.
fn files(size: usize) -> String {
    file(|text| {
        kernel(text, 0, |text| {
            for k in 0..size {
                let _ = writeln!(text, "  .loc {} {} 3\n  add.s32 %r1, %r1, %r2;", k + 1, k + 1);
            }
        });
        for k in 0..size {
            let _ = writeln!(text, ".file {} \"f{k}.cu\"", k + 1);
        }
    })
}

/// Generates a kernel with `size` parameters.
fn params(size: usize) -> String {
    file(|text| {
        let all: Vec<String> = (0..size.min(4000)).map(|k| format!(".param .u64 p{k}")).collect();
        let _ = write!(text, ".visible .entry k0({})\n{{\n{REGISTERS}", all.join(", "));
        for k in 0..size.min(4000) {
            let _ = writeln!(text, "  ld.param.u64 %d1, [p{k}];\n  st.global.u32 [%d1], %r1;");
        }
        text.push_str("  ret;\n}\n");
    })
}

/// Generates `size` kernels with four parameters.
fn signatures(size: usize) -> String {
    file(|text| {
        for k in 0..size {
            let params: Vec<String> = (0..4).map(|p| format!(".param .u64 k{k}_param_{p}")).collect();
            let _ = write!(text, ".visible .entry k{k}({})\n{{\n{REGISTERS}", params.join(", "));
            let _ = writeln!(text, "  ld.param.u64 %d1, [k{k}_param_2];\n  st.global.u32 [%d1], 7;\n  ret;\n}}");
        }
    })
}

/// Generates a kernel with `size` instructions.
fn insts(size: usize) -> String {
    one(|text| {
        text.push_str("  mov.u32 %r1, %tid.x;\n");
        (0..size).for_each(|k| {
            let _ = writeln!(text, "  mad.lo.s32 %r{}, %r{}, %r1, {k};", 2 + (k + 1) % 2, 2 + k % 2);
        });
    })
}

/// Generates a kernel with `size` branches, each to its own label.
fn labels(size: usize) -> String {
    one(|text| {
        text.push_str("  mov.u32 %r1, %tid.x;\n  mov.u32 %r2, 0;\n");
        for k in 0..size {
            let _ = writeln!(text, "  setp.lt.u32 %p1, %r1, {k};\n  @%p1 bra $L{k};\n  add.s32 %r2, %r2, %r1;\n$L{k}:");
        }
    })
}

/// Generates a kernel with `size` branches to one label.
fn exits(size: usize) -> String {
    one(|text| {
        text.push_str("  mov.u32 %r1, %tid.x;\n  mov.u32 %r2, 0;\n");
        for k in 0..size {
            let _ = writeln!(text, "  setp.gt.u32 %p1, %r1, {};\n  @%p1 bra $end;\n  add.s32 %r2, %r2, %r1;", k + 40);
        }
        text.push_str("$end:\n");
    })
}

/// Generates a kernel with `size` loops.
fn loops(size: usize) -> String {
    one(|text| {
        text.push_str("  mov.u32 %r2, 0;\n");
        for k in 0..size {
            let _ = writeln!(text, "  mov.u32 %r1, 0;\n$L{k}:\n  add.s32 %r2, %r2, %r1;\n  add.s32 %r1, %r1, 1;");
            let _ = writeln!(text, "  setp.lt.u32 %p1, %r1, 3;\n  @%p1 bra $L{k};");
        }
    })
}

/// Generates a kernel with `size` indexed branches, each with its own list of targets.
fn tables(size: usize) -> String {
    one(|text| {
        text.push_str("  mov.u32 %r1, %tid.x;\n  and.b32 %r1, %r1, 1;\n");
        for k in 0..size {
            let _ = writeln!(
                text,
                "  t{k}: .branchtargets $A{k}, $B{k};\n  brx.idx %r1, t{k};\n$A{k}:\n  add.s32 %r2, %r2, 1;\n$B{k}:"
            );
        }
    })
}

/// Generates a kernel with one indexed branch, whose list has `size` targets.
fn targets(size: usize) -> String {
    one(|text| {
        text.push_str("  mov.u32 %r1, %tid.x;\n  and.b32 %r1, %r1, 1;\n");
        let all: Vec<String> = (0..size).map(|k| format!("$L{k}")).collect();
        let _ = writeln!(text, "  t: .branchtargets {};\n  brx.idx %r1, t;", all.join(", "));
        (0..size).for_each(|k| {
            let _ = writeln!(text, "$L{k}:\n  add.s32 %r2, %r2, {k};");
        });
    })
}

/// Generates a kernel with `size` register declarations.
fn registers(size: usize) -> String {
    one(|text| {
        for k in 0..size {
            let _ = writeln!(text, "  .reg .b32 %s{k}_;\n  .reg .b64 %t{k}_<3>;\n  mov.u32 %s{k}_, {k};");
        }
    })
}

/// Generates a kernel with `size` scalar variables in local memory.
fn frame(size: usize) -> String {
    one(|text| {
        for k in 0..size {
            let _ = writeln!(text, "  .local .b32 x{k};\n  st.local.u32 [x{k}], %r1;\n  ld.local.u32 %r1, [x{k}];");
        }
    })
}

/// Generates a kernel with `size` arrays in local memory, which are accessed at computed indices.
fn arrays(size: usize) -> String {
    one(|text| {
        text.push_str("  mov.u32 %r1, %tid.x;\n  and.b32 %r2, %r1, 4;\n  cvt.u64.u32 %d1, %r2;\n");
        for k in 0..size {
            let _ = writeln!(
                text,
                "  .local .align 4 .b8 x{k}[8];\n  mov.u64 %d2, x{k};\n  add.s64 %d2, %d2, %d1;\n  st.local.u32 [%d2], %r1;"
            );
        }
    })
}

/// Generates a kernel with `size` labels, and `size` addresses of local memory that are live to the
/// end.
fn addressed(size: usize) -> String {
    one(|text| {
        text.push_str("  .local .align 8 .b8 depot[8];\n  mov.u32 %r1, %tid.x;\n  mov.u64 %d1, depot;\n");
        for k in 0..size {
            let _ = writeln!(text, "  .reg .b64 %a{k}_;\n  add.s64 %a{k}_, %d1, {};", k % 2 * 4);
        }
        for k in 0..size {
            let _ = writeln!(text, "  setp.lt.u32 %p1, %r1, {k};\n  @%p1 bra $L{k};\n  add.s32 %r2, %r1, 1;\n$L{k}:");
        }
        (0..size).for_each(|k| {
            let _ = writeln!(text, "  st.local.u32 [%a{k}_], %r1;");
        });
    })
}

/// Generates a kernel with `size` arrays in shared memory.
fn tiles(size: usize) -> String {
    one(|text| {
        text.push_str("  mov.u32 %r1, %tid.x;\n");
        for k in 0..size {
            let _ = writeln!(text, "  .shared .align 4 .b8 x{k}[4];\n  st.shared.u32 [x{k}], %r1;");
        }
    })
}

/// Generates a kernel with `size` scopes. All scopes declare the same names.
fn scopes(size: usize) -> String {
    one(|text| {
        text.push_str("  mov.u32 %r1, %tid.x;\n");
        for k in 0..size {
            let _ = writeln!(
                text,
                "  {{ .reg .b32 %s; .reg .b32 %t<2>; .reg .pred q; .local .b32 x; setp.lt.u32 q, %r1, {k}; @q bra done;"
            );
            text.push_str(
                "  add.s32 %s, %r1, 1; mov.b32 %t1, %s; st.local.u32 [x], %t1; ld.local.u32 %r1, [x]; done: }\n",
            );
        }
    })
}

/// Generates a kernel with `size` nested scopes. All scopes branch to one label.
fn nested(size: usize) -> String {
    one(|text| {
        text.push_str("  mov.u32 %r1, %tid.x;\n  setp.lt.u32 %p1, %r1, 7;\n");
        for _ in 0..size {
            text.push_str("  { .reg .b32 %s; mov.u32 %s, %r1; @%p1 bra done;\n");
        }
        (0..size).for_each(|_| text.push_str("  }\n"));
        text.push_str("done:\n");
    })
}

/// Generates a kernel with `size` stores of a vector that contains an immediate.
fn immediates(size: usize) -> String {
    one(|text| {
        text.push_str("  .shared .align 8 .b8 x[8];\n");
        for k in 0..size {
            let _ = writeln!(text, "  st.shared.v2.b32 [x], {{%r1, {}}};", k + 1);
        }
    })
}

/// Generates a kernel with `size` pragmas and comments.
fn pragmas(size: usize) -> String {
    one(|text| {
        (0..size)
            .for_each(|_| text.push_str("  .pragma \"nounroll\"; // no\n  add.s32 %r1, %r1, 1; /* one\n more */\n"))
    })
}

/// Generates a kernel with `size` atomic operations. The import translates each of these operations
/// to a loop.
fn atomics(size: usize) -> String {
    one(|text| {
        text.push_str("  .shared .align 4 .b8 x[4];\n  mov.u32 %r1, %tid.x;\n");
        (0..size).for_each(|_| text.push_str("  red.shared.add.noftz.bf16x2 [x], %r1;\n"));
    })
}

/// Generates a kernel that reads `size` unwritten registers, each in its own block.
fn unwritten(size: usize) -> String {
    one(|text| {
        text.push_str("  .shared .align 4 .b8 x[4];\n  mov.u32 %r1, %tid.x;\n");
        for k in 0..size {
            let _ = writeln!(text, "  .reg .b32 %u{k}_;\n  setp.lt.u32 %p1, %r1, {k};\n  @%p1 bra $L{k};");
            let _ = writeln!(text, "  st.shared.u32 [x], %u{k}_;\n$L{k}:");
        }
    })
}

/// Generates `size / 50` kernels of 22 KB each, in the form that compilers emit: with parameters,
/// local and shared memory, calls, labels and line numbers.
fn mixed(size: usize) -> String {
    file(|text| {
        function(text, 0);
        for k in 0..size.div_ceil(50) {
            let params: Vec<String> = (0..4).map(|p| format!("  .param .u64 kernel_{k}_param_{p}")).collect();
            let _ = write!(text, ".visible .entry kernel_{k}(\n{}\n)\n.maxntid 256, 1, 1\n{{\n", params.join(",\n"));
            text.push_str("  .local .align 16 .b8 __local_depot[64];\n  .reg .b64 %SP;\n  .reg .b64 %SPL;\n");
            text.push_str("  .reg .pred %p<200>;\n  .reg .b32 %r<900>;\n  .reg .f32 %f<400>;\n  .reg .b64 %rd<400>;\n");
            for tile in ["first", "second", "third"] {
                let _ = writeln!(text, "  .shared .align 4 .b8 kernel_{k}_{tile}[1024];");
            }
            let _ = writeln!(
                text,
                "  .loc 1 {} 0\n  mov.u64 %SPL, __local_depot;\n  cvta.local.u64 %SP, %SPL;",
                10 * k + 1
            );
            let _ = writeln!(
                text,
                "  ld.param.u64 %rd1, [kernel_{k}_param_0];\n  ld.param.u64 %rd2, [kernel_{k}_param_1];"
            );
            text.push_str(
                "  cvta.to.global.u64 %rd3, %rd1;\n  cvta.to.global.u64 %rd4, %rd2;\n  mov.u32 %r1, %tid.x;\n",
            );
            text.push_str(
                "  mov.u32 %r2, 0;\n  and.b32 %r3, %r1, 255;\n  shl.b32 %r4, %r3, 2;\n  mov.f32 %f1, 0f00000000;\n",
            );
            for block in 0..54 {
                let tile = ["first", "second", "third"][block % 3];
                let _ = writeln!(text, "  .loc 1 {} 7\n  mul.wide.s32 %rd{}, %r3, 4;", 10 * k + block, 10 + block);
                let _ = writeln!(text, "  add.s64 %rd{}, %rd3, %rd{};", 100 + block, 10 + block);
                let _ = writeln!(text, "  ld.global.f32 %f{}, [%rd{}+{}];", 10 + block, 100 + block, 4 * block);
                let _ = writeln!(
                    text,
                    "  fma.rn.f32 %f1, %f{}, %f{}, %f1;\n  .loc 1 {} 3",
                    10 + block,
                    10 + block,
                    10 * k + block
                );
                let _ = writeln!(
                    text,
                    "  setp.lt.s32 %p{}, %r3, {block};\n  @%p{} bra $L__BB{k}_{block};",
                    block + 1,
                    block + 1
                );
                let _ = writeln!(
                    text,
                    "  mov.u32 %r{}, kernel_{k}_{tile};\n  add.s32 %r{}, %r{}, %r4;",
                    10 + block,
                    100 + block,
                    10 + block
                );
                let _ = writeln!(
                    text,
                    "  st.shared.f32 [%r{}], %f1;\n  add.u64 %rd{}, %SP, {};",
                    100 + block,
                    200 + block,
                    block % 16 * 4
                );
                let _ = writeln!(text, "  st.local.f32 [%SPL+{}], %f1;\n$L__BB{k}_{block}:", block % 16 * 4);
            }
            call(text, 0);
            let _ = writeln!(text, "  add.s64 %rd9, %rd4, 0;\n  st.global.f32 [%rd9], %f1;\n  ret;\n}}");
        }
        text.push_str(".file 1 \"kernels.cu\"\n");
    })
}

/// Generates `size` run lines for one kernel.
fn run_lines(size: usize) -> String {
    file(|text| {
        (0..size).for_each(|_| text.push_str("// run: ptx: @k0 grid=1 block=32\n"));
        kernel(text, 0, |_| {});
    })
}

/// Generates `size` kernels, each with a run line.
fn runs(size: usize) -> String {
    file(|text| {
        for k in 0..size {
            let _ = writeln!(text, "// run: ptx: @k{k} grid=1 block=32");
            kernel(text, k, |_| {});
        }
    })
}
