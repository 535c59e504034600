//! Tests of tables in PTX modules: they are parsed, executed directly, imported, compiled, and written to PTX again.

use std::collections::BTreeSet;

use halfbyte::emit::{KernelCode, ptx_text};
use halfbyte::import_ptx::{Globals, Host, Shape, import};
use halfbyte::ir::diag::Lines;
use halfbyte::isa::ptx::module::TargetName;
use halfbyte::isa::ptx::text::read;
use halfbyte::launch::{Engine, evaluate, execute};
use halfbyte::pipeline::{Compiler, Options};
use halfbyte::runtime::Program;
use halfbyte::{Module, Sm, TARGETS};
use halfbyte_testkit::check::check_for_sm;

use crate::common::root;
use crate::ptx_support::arguments;

const GRID: u32 = 2;
const BLOCK: u32 = 32;
const SEEDS: u64 = 4;

/// PTX files with tables, each with the number of its kernels. The first one is handwritten, the
/// second one is from clang.
const FILES: [(&str, usize); 2] = [("tests/ptx/data/tables.ptx", 6), ("tests/ptx/clang/tables.ptx", 6)];

fn source(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap()
}

fn imported(file: &str, text: &str) -> Module {
    let shape = Shape { grid: Some([GRID, 1, 1]), block: Some([BLOCK, 1, 1]) };
    import(file, text, shape).unwrap_or_else(|report| panic!("{report}"))
}

/// Compiles the kernels of a module to PTX for an SM version.
fn compiled(module: &Module, sm: Sm) -> Vec<KernelCode> {
    let options = Options::new(halfbyte::ptx(sm));
    let mut compiler = Compiler::new(module, &options);
    let kernels = module.ir().kernels.iter();
    kernels
        .map(|kernel| compiler.compile(kernel, &mut |_| {}).unwrap_or_else(|e| panic!("{e:?}\n{kernel}")).0)
        .collect()
}

#[test]
fn run_lines_hold() {
    let (file, count) = FILES[0];
    let text = source(file);
    for sm in [Sm::SM_75, Sm::SM_90] {
        let outcome = check_for_sm(sm, file, &text, root(), &Engine::ALL);
        assert!(outcome.failures.is_none(), "{sm}: {}", outcome.failures.unwrap());
        assert_eq!(outcome.runs, count);
        assert_eq!(outcome.compared, BTreeSet::from(["halu", "ptx", "vp1"]));
    }
}

#[test]
fn all_routes_match_direct_execution() {
    for (file, count) in FILES {
        let text = source(file);
        let module = imported(file, &text);
        assert_eq!(module.ir().kernels.len(), count);
        // Compiles the handwritten file to PTX and imports the output again. The output for clang's file cannot be
        // imported, because it splits pointers into 32-bit halves, so only its object is executed.
        let again = if file == FILES[0].0 { &[Sm::SM_75, Sm::SM_90][..] } else { &[] };
        let out: Vec<String> = again.iter().map(|&sm| ptx_text(compiled(&module, sm), sm, Some(file))).collect();
        let mut objects: Vec<Vec<u8>> = out.iter().map(|text| imported(file, text)).map(halu).collect();
        objects.push(halu(imported(file, &text)));
        objects.extend(
            Sm::ALL.map(|sm| module.compile(halfbyte::ptx(sm)).unwrap_or_else(|report| panic!("{report}")).object),
        );
        let programs: Vec<Program> = objects.iter().map(|object| halfbyte::TARGETS.load(object).unwrap()).collect();
        for kernel in &module.ir().kernels {
            let name = &kernel.name;
            assert!(kernel.given_params().len() < kernel.params.len(), "{kernel}");
            let hosts = [&text].into_iter().chain(&out).map(|text| Host::load(file, text, name).unwrap());
            let hosts: Vec<Host> = hosts.collect();
            for seed in 0..SEEDS {
                let mut before = arguments(kernel, GRID * BLOCK, false, seed);
                // A scalar parameter is a number of items or elements, which must not exceed the buffers.
                for (param, bytes) in kernel.given_params().iter().zip(&mut before) {
                    if bytes.len() == 4 {
                        bytes[0] = if name == "filter" { (GRID * BLOCK - 5) as u8 } else { 1 + (seed % 3) as u8 };
                        assert!(matches!(param.kind, halfbyte::ir::ParamKind::Scalar(_)));
                    }
                }
                let mut expected = before.clone();
                evaluate(kernel, GRID * BLOCK, &mut expected).unwrap_or_else(|fault| panic!("{fault}\n{kernel}"));
                assert!(expected != before, "{kernel}");
                for host in &hosts {
                    let mut found = before.clone();
                    host.launch((GRID, BLOCK), &mut found).unwrap_or_else(|fault| panic!("{name}: {fault}"));
                    assert!(expected == found, "launch {seed}\n{kernel}");
                }
                for program in &programs {
                    for engine in
                        Engine::ALL.into_iter().filter(|engine| TARGETS.runs(*engine, program.header().target))
                    {
                        let mut found = before.clone();
                        execute(program.kernel(name).unwrap(), engine, GRID * BLOCK, &mut found)
                            .unwrap_or_else(|fault| panic!("{fault}\n{kernel}"));
                        assert!(expected == found, "launch {seed} on {engine}, {}\n{kernel}", program.header().target);
                    }
                }
            }
        }
    }
}

fn halu(module: Module) -> Vec<u8> {
    module.compile(halfbyte::HALU).unwrap_or_else(|report| panic!("{report}")).object
}

#[test]
fn a_table_comes_out_once_and_an_assembler_takes_it() {
    let ptxas = crate::ptx::ptxas();
    for (file, _) in FILES {
        let text = source(file);
        let module = imported(file, &text);
        let tables: BTreeSet<String> = read(&text).unwrap().module.variables.iter().map(|v| v.name.clone()).collect();
        for sm in Sm::ALL {
            let out = ptx_text(compiled(&module, sm), sm, Some(file));
            let again = read(&out).unwrap_or_else(|errors| panic!("{errors:?}\n{out}")).module;
            let names: Vec<String> = again.variables.iter().map(|variable| variable.name.clone()).collect();
            assert_eq!(names.len(), tables.len());
            assert_eq!(names.into_iter().collect::<BTreeSet<_>>(), tables);
            for (entry, kernel) in again.entries.iter().zip(&module.ir().kernels) {
                let params: Vec<&String> = entry.params.iter().map(|param| &param.name).collect();
                let given: Vec<&String> = kernel.given_params().iter().map(|param| &param.name).collect();
                assert_eq!(params, given);
            }
            match &ptxas {
                Some(ptxas) => crate::ptx::assemble(ptxas, TargetName { sm: sm.number(), suffix: None }, &out)
                    .unwrap_or_else(|said| panic!("{sm}: {said}\n{out}")),
                None => println!("skipped for {sm}: there is no ptxas"),
            }
        }
    }
}

#[test]
fn an_access_beyond_a_table_traps_everywhere() {
    let text = kernel(
        ".const .u32 t[2] = {1, 2}; .global .b32 u[2];",
        "mul.wide.u32 %d1, %r1, 4; mov.u64 %d2, t; add.s64 %d2, %d2, %d1; add.s64 %d0, %d0, %d1;\n ld.const.u32 %r2, [%d2]; \
         st.global.u32 [%d0], %r2;",
    );
    let module = import("k.ptx", &text, Shape { grid: Some([1, 1, 1]), block: Some([3, 1, 1]) }).unwrap();
    let args = || vec![vec![0; 12]];
    let fault = evaluate(&module.ir().kernels[0], 3, &mut args()).unwrap_err().to_string();
    assert!(fault.contains("4 bytes at 0xd00100000040008 are not within a buffer"), "{fault}");
    let host = Host::load("k.ptx", &text, "k").unwrap();
    let fault = host.launch((1, 3), &mut args()).unwrap_err().to_string();
    assert!(fault.contains("item 2") && fault.contains("`t`") && fault.contains("k.ptx:8:2"), "{fault}");
    for target in [halfbyte::HALU, halfbyte::ptx(Sm::SM_90)] {
        let object = module.compile(target).unwrap().object;
        let program = halfbyte::TARGETS.load(&object).unwrap();
        for engine in Engine::ALL.into_iter().filter(|engine| TARGETS.runs(*engine, target)) {
            let fault = execute(&program.kernels()[0], engine, 3, &mut args()).unwrap_err().to_string();
            assert!(fault.contains("item 2") && fault.contains("`t`") && fault.contains("k.ptx:8:2"), "{fault}");
        }
    }
}

/// Returns a PTX kernel with tables, whose body starts on line 7.
fn kernel(tables: &str, body: &str) -> String {
    format!(
        ".version 8.0 .target sm_90 .address_size 64\n{tables}\n.entry k(.param .u64 p) {{\n.reg .b32 %r<9>; .reg .b64 %d<9>; \
         .reg .pred %p;\nld.param.u64 %d0, [p];\nmov.u32 %r1, %tid.x;\n{body}\nret; }}\n"
    )
}

#[test]
fn what_no_kernel_can_do_with_a_table_is_an_error_where_it_does() {
    let tables = ".const .align 8 .b32 c[4] = {1, 2}; .global .align 8 .b32 g[4]; .const .b32 d = 3;";
    let cases = [
        ("mov.u64 %d1, g; st.global.u32 [%d1], %r1;", "7:17: a store to the module variable `g` is not supported"),
        (
            "cvta.const.u64 %d1, c; add.s64 %d1, %d1, 4; st.u32 [%d1], %r1;",
            "7:45: a store to the module variable `c` is not supported",
        ),
        (
            "mov.u64 %d1, g; setp.eq.u32 %p, %r1, 0; selp.b64 %d2, %d1, %d0, %p; st.global.u32 [%d2], %r1;",
            "7:69: a store to the module variable `g` is not supported",
        ),
        ("@%p mov.u64 %d0, g; st.global.u32 [%d0], %r1;", "7:21: a store to the module variable `g` is not supported"),
        ("mov.u64 %d1, c; ld.global.u32 %r2, [%d1];", "7:17: this may be the address of a `.const` variable"),
        (
            "mov.u64 %d1, c; ld.u32 %r2, [%d1];",
            "7:17: an address in constant memory can only be added to, selected, converted and loaded from",
        ),
        ("mov.u64 %d1, g; ld.const.u32 %r2, [%d1];", "7:17: this address is not known to be in constant memory"),
        ("ld.const.u32 %r2, [%d0];", "7:1: this address is not known to be in constant memory"),
        ("cvta.const.u64 %d1, c; ld.const.u32 %r2, [%d1];", "7:24: this address is not known to be in constant memory"),
        ("cvta.const.u64 %d1, c; cvta.to.global.u64 %d1, %d1;", "7:24: this may be the address of a `.const` variable"),
        ("cvta.const.u64 %d1, c; ld.global.u32 %r2, [%d1];", "7:24: this may be the address of a `.const` variable"),
        ("cvta.const.u64 %d1, %d0; ld.u32 %r2, [%d1];", "7:1: this address is not known to be in constant memory"),
        (
            "cvta.to.const.u64 %d1, %d0; ld.const.u32 %r2, [%d1];",
            "7:1: this is not known to be the address of a `.const` variable",
        ),
        (
            "mov.u64 %d1, c; st.global.u64 [%d0], %d1;",
            "7:17: an address in constant memory can only be added to, selected, converted and loaded from",
        ),
        (
            "mov.u64 %d1, c; st.global.v2.b64 [%d0], {%d0, %d1};",
            "7:17: an address in constant memory can only be added to, selected, converted and loaded from",
        ),
        (
            "mov.u64 %d1, c; shr.u64 %d2, %d1, 1;",
            "7:17: an address in constant memory can only be added to, selected, converted and loaded from",
        ),
        (
            "mov.u64 %d1, c; mov.u64 %d2, d; setp.lt.u64 %p, %d1, %d2;",
            "7:33: an address in constant memory can only be added to, selected, converted and loaded from",
        ),
    ];
    let mut wrong = Vec::new();
    for (body, expected) in cases {
        let text = kernel(tables, body);
        let lines = Lines::new(&text);
        let found = match import("k.ptx", &text, Shape::default()) {
            Ok(module) => vec![module.ir().kernels[0].to_string()],
            Err(report) => (report.diagnostics().iter())
                .map(|error| {
                    let at = lines.position(error.span.start);
                    format!("{}:{}: {}", at.line, at.column, error.message)
                })
                .collect(),
        };
        if found != [expected] {
            wrong.push(format!("{body}\n    {}\n    {expected}", found.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "found, expected:\n{}", wrong.join("\n"));
}

#[test]
fn a_number_among_the_parameters_is_no_address() {
    let text = kernel(
        ".const .b32 c[4] = {1, 2, 3, 4};",
        "mov.u64 %d1, c; add.s64 %d2, %d3, %d1; ld.const.u32 %r2, [%d2]; st.global.u32 [%d0], %r2;",
    );
    let text = text.replace(".u64 p)", ".u64 p, .param .u64 n)").replace("ld.param", "ld.param.u64 %d3, [n]; ld.param");
    let module = import("k.ptx", &text, Shape::default()).unwrap_or_else(|report| panic!("{report}"));
    let mut args = vec![vec![0; 4], vec![8, 0, 0, 0, 0, 0, 0, 0]];
    evaluate(&module.ir().kernels[0], 1, &mut args).unwrap();
    assert_eq!(args[0], [3, 0, 0, 0]);
}

#[test]
fn kernels_of_a_file_share_what_they_write() {
    let writer = ".entry w() { .reg .b64 %d; mov.u64 %d, g; st.global.u32 [%d], 41; ret; }";
    let text = kernel(".global .b32 g = 7;", "ld.global.u32 %r2, [g]; st.global.u32 [%d0], %r2;") + writer;
    let read = |globals: &Globals| {
        let mut args = [vec![0; 4]];
        Host::load_with("k.ptx", &text, "k", globals).unwrap().launch((1, 1), &mut args).unwrap();
        args[0][0]
    };
    let globals = Globals::default();
    assert_eq!(read(&globals), 7);
    Host::load_with("k.ptx", &text, "w", &globals).unwrap().launch((1, 1), &mut []).unwrap();
    assert_eq!((read(&globals), read(&Globals::default())), (41, 7));
    // Import refuses variables that a kernel writes.
    let error = import("k.ptx", &text, Shape::default()).unwrap_err().to_string();
    assert!(error.contains("a store to the module variable `g` is not supported"), "{error}");
}

#[test]
fn names_that_collide_are_told_apart() {
    let text = "
kernel @t(%n: i32, %out: out i32, %t: in i32 = [5], %out2: in i32 = [6, 7], %p: in i8 align 4096 = [1, 2, 3, 4]) {
^entry:
  %i = item_id
  %a = load %t
  %b = load %out2[1]
  %c = load.i32 %p
  %s = add.i32 %a, %b
  %r = add.i32 %s, %c
  store %r, %out[%i]
  ret
}

kernel @p(%t_1: in i32 align 4096, %out: out i32, %t: in i32 = [9]) {
^entry:
  %i = item_id
  %a = load %t
  %b = load %t_1[%i]
  %s = add.i32 %a, %b
  store %s, %out[%i]
  ret
}
";
    let module = Module::named("k.hb", text).unwrap();
    for (name, args, expected) in
        [("t", vec![vec![1, 0, 0, 0], vec![0; 8]], 12 + 0x0403_0201u32), ("p", vec![vec![1, 0, 0, 0], vec![0; 4]], 10)]
    {
        for target in [halfbyte::HALU, halfbyte::VP1, halfbyte::ptx(Sm::SM_75)] {
            let object = module.compile(target).unwrap_or_else(|report| panic!("{report}")).object;
            let program = halfbyte::TARGETS.load(&object).unwrap();
            for engine in Engine::ALL.into_iter().filter(|engine| TARGETS.runs(*engine, target)) {
                let mut found = args.clone();
                execute(program.kernel(name).unwrap(), engine, 1, &mut found)
                    .unwrap_or_else(|e| panic!("{target}: {e}"));
                assert_eq!(found[1][..4], expected.to_le_bytes(), "{name} on {target}, {engine}");
            }
        }
        let text = ptx_text(compiled(&module, Sm::SM_75), Sm::SM_75, None);
        let again = import("k.ptx", &text, Shape::default()).unwrap_or_else(|report| panic!("{report}\n{text}"));
        let kernel = again.ir().kernels.iter().find(|kernel| kernel.name == name).unwrap();
        let mut found = args.clone();
        evaluate(kernel, 1, &mut found).unwrap();
        assert_eq!(found[1][..4], expected.to_le_bytes());
        if let Some(ptxas) = crate::ptx::ptxas() {
            crate::ptx::assemble(&ptxas, TargetName { sm: 75, suffix: None }, &text)
                .unwrap_or_else(|said| panic!("{said}\n{text}"));
        }
    }
}
