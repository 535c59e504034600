//! Tests of the commands `run`, `check`, `compile` and `launch` on PTX files.

use std::fs;

use halfbyte::Shape;
use halfbyte::isa::ptx::types::{Special, SpecialGroup};

use crate::common::{halfbyte, root};

const ARGS: [&str; 8] = [
    "--arg",
    "axpy_param_0=2.0",
    "--arg",
    "axpy_param_1=[1.0, 3.0, 5.0, 7.0]",
    "--arg",
    "axpy_param_2=[1.0, 0.0, 0.5, 9.0]",
    "--arg",
    "axpy_param_3=3",
];

fn run(more: &[&str]) -> crate::common::Called {
    halfbyte(&[&["run", "examples/ptx/axpy.ptx"], more, &ARGS].concat())
}

#[test]
fn a_launch_gives_the_same_on_everything() {
    for (target, engine) in [("ptx", "interp"), ("ptx", "jit"), ("ir", "interp"), ("halu", "interp"), ("halu", "jit")] {
        let called = run(&["--target", target, "--engine", engine, "--grid", "2", "--block", "2"]);
        assert_eq!(called.output(), "axpy_param_2=[[3.0, 3.0], [6.0, 6.0], [10.5, 10.5], [9.0, 9.0]]\n", "{target}");
    }
    let called = run(&["--target", "ptx", "--grid", "1", "--block", "3", "--stats"]);
    assert!(called.err.contains("instructions and 0 backward branches"), "{}", called.err);
    let called = run(&["--target", "ptx", "--engine", "jit", "--grid", "1", "--block", "3", "--stats"]);
    assert!(called.err.contains("to make native code"), "{}", called.err);
    let called = run(&["--target", "ptx", "--engine", "jit", "--races", "--grid", "1", "--block", "3", "--stats"]);
    assert!(called.err.contains("the interpreter ran it: race detection is on"), "{}", called.err);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("y.bin").display().to_string();
    let out = format!("axpy_param_2={path}");
    assert_eq!(run(&["--target", "ptx", "--grid", "4", "--block", "1", "--out", &out]).output(), "");
    assert_eq!(fs::read(path).unwrap()[..8], [0, 0x42, 0, 0x42, 0, 0x46, 0, 0x46]);
}

#[test]
fn a_trap_is_shown_in_the_text() {
    for target in ["ptx", "ir", "halu"] {
        let called = run(&["--target", target, "--grid", "1", "--block", "4", "--arg", "axpy_param_3=9"]);
        called.fails(2, "given twice");
        let args = ["run", "examples/ptx/axpy.ptx", "--target", target, "--grid", "5", "--block", "1"];
        let called = halfbyte(&[&args[..], &ARGS[..6], &["--arg", "axpy_param_3=9"]].concat());
        called.fails(1, "item 4: ");
        called.fails(1, "examples/ptx/axpy.ptx:39:2");
    }
}

#[test]
fn a_launch_is_over_blocks_of_threads() {
    let both = "a PTX kernel needs both --grid (blocks) and --block (threads)";
    run(&["--target", "ptx", "--items", "4"]).fails(2, both);
    run(&["--target", "halu", "--grid", "4"]).fails(2, both);
    run(&["--target", "halu", "--grid", "4", "--block", "1025"]).fails(2, "at most 1024");
    run(&["--target", "halu", "--grid", "65537", "--block", "1024"]).fails(2, "more than 67108864");
    run(&["--target", "ptx", "--grid", "1", "--block", "32,33"]).fails(2, "at most 1024");
    run(&["--target", "ptx", "--grid", "1", "--block", "1,1,65"]).fails(2, "exceeds the limits of a GPU");
    run(&["--target", "ptx", "--grid", "many", "--block", "4"]).fails(2, "invalid digit");
    run(&["--target", "ptx", "--kernel", "other", "--grid", "1", "--block", "1"]).fails(2, "it has axpy");
}

#[test]
fn every_special_register_is_run() {
    let shape = Shape::from(([3, 2, 1], [2, 1, 2]));
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("k.ptx"), folder.path().join("x.bin"));
    let (path, out) = (path.display().to_string(), out.display().to_string());
    let mut run = 0;
    for special in Special::all().filter(|special| special.depends_on_position()) {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 x) {{\n.reg .b32 %r<5>; .reg .b64 %d<4>;
mov.u32 %r0, %ctaid.y; mov.u32 %r1, %nctaid.x; mov.u32 %r2, %ctaid.x; mad.lo.s32 %r3, %r0, %r1, %r2;
mov.u32 %r1, %tid.z; mad.lo.s32 %r3, %r3, 2, %r1; mov.u32 %r1, %tid.x; mad.lo.s32 %r3, %r3, 2, %r1;
ld.param.u64 %d0, [x]; mul.wide.u32 %d1, %r3, 4; add.s64 %d2, %d0, %d1;
  mov.u32 %r4, {special};
st.global.u32 [%d2], %r4; ret; }}\n"
        );
        fs::write(&path, text).unwrap();
        let expected: Vec<u8> = (0..shape.items().unwrap())
            .flat_map(|item| {
                let place = shape.place(item);
                let ([x, y, z], [nx, ny, _]) = (place.local, shape.block);
                let lane = x + nx * (y + ny * z);
                let value = match special.group {
                    SpecialGroup::Thread => special.axis.of(place.local),
                    SpecialGroup::BlockSize => special.axis.of(shape.block),
                    SpecialGroup::Block => special.axis.of(place.group),
                    SpecialGroup::GridSize => special.axis.of(shape.grid),
                    SpecialGroup::Lane => lane,
                    SpecialGroup::Warp => 0,
                    SpecialGroup::Warps => 1,
                    SpecialGroup::LanesEqual => 1 << lane,
                    SpecialGroup::LanesBelow => (1 << lane) - 1,
                    SpecialGroup::LanesUpTo => (2 << lane) - 1,
                    SpecialGroup::LanesAbove => !((2 << lane) - 1),
                    SpecialGroup::LanesFrom => !((1 << lane) - 1),
                    other => panic!("{other:?} is not of the place"),
                };
                value.to_le_bytes()
            })
            .collect();
        let x = format!("x={out}");
        for target in ["ptx", "ir", "halu"] {
            let shape = ["--grid", "3,2", "--block", "2,1,2", "--arg", "x=zeros(24)", "--out", &x];
            let called = halfbyte(&[&["run", &path, "--target", target], &shape[..]].concat());
            assert_eq!(called.output(), "");
            assert_eq!(fs::read(&out).unwrap(), expected, "{special} on {target}");
            run += 1;
        }
        // If the launch shape is not known at compile time, the output reads the special register.
        let again = halfbyte(&["compile", &path, "--target", "ptx"]);
        assert!(!special.is_along_axes() || again.output().contains(&special.to_string()), "{}", again.out);
    }
    assert_eq!(run, 3 * Special::all().filter(|special| special.depends_on_position()).count());
}

#[test]
fn a_text_is_compiled_and_checked() {
    let called = halfbyte(&["check", "examples/ptx/axpy.ptx"]);
    assert!(called.output().contains("2 launches on ir, halu, ptx"), "{}", called.out);
    let called = halfbyte(&["compile", "examples/ptx/axpy.ptx", "--target", "halu"]);
    assert!(called.output().contains("HFMA2"), "{}", called.out);
    let called = halfbyte(&["compile", "tests/ptx/baseline/k10_v4_brighten.ptx", "--target", "vp1"]);
    assert!(called.output().contains("mov"), "{}", called.out);
}

#[test]
fn what_is_wrong_is_shown_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.ptx").display().to_string();
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 x) {\n  .global .texref s;\n  setmaxnreg.inc.sync.aligned.u32 40;\n}\n";
    fs::write(&path, text).unwrap();
    for args in [
        &["check", &path][..],
        &["compile", &path, "--target", "halu"],
        &["run", &path, "--target", "ptx", "--grid", "1", "--block", "1"],
        &["run", &path, "--target", "ir", "--grid", "1", "--block", "1"],
    ] {
        let called = halfbyte(args);
        called.fails(1, "wrong.ptx:5:11");
        called.fails(1, "a hardware control operation (`setmaxnreg`) is not supported");
        called.fails(1, "wrong.ptx:6:3");
    }
    // The expected result in the run line is changed, so the check fails.
    let text = fs::read_to_string(root().join("examples/ptx/axpy.ptx"))
        .unwrap()
        .replace("-> axpy_param_2=[3.0", "-> axpy_param_2=[4.0");
    fs::write(&path, text).unwrap();
    halfbyte(&["check", &path]).fails(1, "the run line");
}

#[test]
fn text_is_the_same_whether_its_kernels_are_kept() {
    let tables = fs::read_to_string(root().join("docs/ir.md")).unwrap();
    let tables = tables.split("```").find(|text| text.contains("kernel @squares")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tables.hb").display().to_string();
    // Another kernel already has the default name of the table, and a later kernel has no table.
    let twice = tables.replace("@squares", "@table");
    fs::write(&path, format!("{tables}{twice}kernel @table_1() {{\n^entry:\n  ret\n}}\n")).unwrap();
    for file in [&path, "examples/brighten.hb"] {
        for more in [&[][..], &["-g"]] {
            let args = [&["compile", file, "--target", "ptx", "-o", "-"], more].concat();
            let alone = halfbyte(&args);
            // With `--stats`, the program keeps all kernels in memory until the end, but the output is the same.
            let kept = halfbyte(&[&args[..], &["--stats"]].concat());
            assert_eq!(alone.output(), kept.out, "{args:?}");
            assert_eq!(alone.out.contains(".loc"), !more.is_empty());
            assert_eq!(alone.out.matches("table_2[4] = {0, 1, 4, 9};").count(), usize::from(file == path));
        }
    }
}

/// `shfl` and `vote` without `.sync`, which PTX had up to version 6.3, are executed with a warning.
#[test]
fn exchanges_that_name_no_lanes_run_with_a_warning() {
    let text = |version: &str, exchange: &str| {
        format!(
            ".version {version} .target sm_75 .address_size 64\n.visible .entry k(.param .u64 y) {{
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<4>;
mov.u32 %r0, %laneid; mul.lo.u32 %r1, %r0, 10; setp.ne.u32 %p0, %r0, 2; @!%p0 bra done;
{exchange}
done: ld.param.u64 %d0, [y]; mul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d0, %d1; st.global.u32 [%d2], %r2; ret;\n}}\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx").display().to_string();
    let run = |version: &str, exchange: &str, target: &str| {
        fs::write(&path, text(version, exchange)).unwrap();
        halfbyte(&["run", &path, "--target", target, "--grid", "1", "--block", "5", "--arg", "y=zeros:i32:5"])
    };
    let warning = "warning: @k uses `shfl` or `vote` without `.sync`";
    for (exchange, expected) in [
        // Lane 2 has left the kernel.
        ("vote.ballot.b32 %r2, %p0;", "y=[27, 27, 0, 27, 27]\n"),
        ("vote.all.pred %p1, %p0; selp.b32 %r2, 1, 7, %p1;", "y=[1, 1, 0, 1, 1]\n"),
        ("shfl.idx.b32 %r2|%p1, %r1, 3, 31;", "y=[30, 30, 0, 30, 30]\n"),
        ("shfl.bfly.b32 %r2, %r1, 0, 31;", "y=[0, 10, 0, 30, 40]\n"),
    ] {
        for target in ["ptx", "ir", "halu"] {
            let called = run("6.3", exchange, target);
            assert_eq!(called.output(), expected, "{exchange} {target}");
            assert!(called.err.contains(warning), "{}", called.err);
            run("6.4", exchange, target).fails(1, "needs PTX 6.3 at most, but the file is for PTX 6.4 and sm_75");
        }
    }
    run("6.3", "shfl.idx.b32 %r2, %r1, 2, 31;", "ptx").fails(1, "lane 2");
    run("6.3", "shfl.sync.idx.b32 %r2, %r1, 3, 31, 27;", "ptx").output();
}

/// A kernel that stores a pointer in its stack frame and loads it again in a loop, so that the
/// pointer's provenance is unknown.
const LOST: &str = ".version 9.1
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{
    .local .align 8 .b8 frame[16];
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %d<8>;
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [y];
    cvta.to.global.u64 %d1, %d1;
    cvta.to.global.u64 %d2, %d2;
    mov.u64 %d3, frame;
    cvta.local.u64 %d4, %d3;
    st.u64 [%d4], %d1;
    st.volatile.local.u64 [%d3+8], %d2;
    mov.u32 %r1, 0;
again:
    ld.u64 %d5, [%d4];
    ld.volatile.local.u64 %d6, [%d3+8];
    mul.wide.u32 %d7, %r1, 4;
    add.u64 %d5, %d5, %d7;
    add.u64 %d6, %d6, %d7;
    ld.u32 %r2, [%d5];
    shl.b32 %r2, %r2, 1;
    st.u32 [%d6], %r2;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 3;
    @%p1 bra again;
    ret;
}
";

/// Runs a PTX text with one work item.
fn run_text(text: &str, more: &[&str]) -> crate::common::Called {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    halfbyte(&[&["run", &path, "--grid", "1", "--block", "1"], more].concat())
}

#[test]
fn a_pointer_that_is_lost_sight_of_is_a_buffer_that_may_be_written() {
    for engine in ["interp", "jit"] {
        let more = ["--target", "ptx", "--engine", engine, "--arg", "x=[3, 4, -5]", "--arg", "y=[0, 0, 0]"];
        assert_eq!(run_text(LOST, &more).output(), "x=[3, 4, -5]\ny=[6, 8, -10]\n", "{engine}");
    }
}

#[test]
fn a_text_for_an_older_machine_runs() {
    let older = LOST.replace("9.1", "4.2").replace("sm_90", "sm_52").replace(".volatile", "");
    let args = ["--target", "ptx", "--arg", "x=[3, 4, -5]", "--arg", "y=[0, 0, 0]"];
    assert_eq!(run_text(&older, &args).output(), "x=[3, 4, -5]\ny=[6, 8, -10]\n");
}

#[test]
fn an_atomic_operation_on_local_memory_is_not_imported() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n\
                .local .align 4 .b8 L[4];\nld.param.u64 %rd1, [x];\nmov.u64 %rd2, L;\ncvta.local.u64 %rd2, %rd2;\natom.add.u32 %r2, [%rd2], 1;\n\
                st.global.u32 [%rd1], %r2;\nret;\n}\n";
    for target in ["ir", "halu"] {
        let called = run_text(text, &["--target", target, "--arg", "x=[0]"]);
        assert!(called.err.contains("because no other thread accesses local memory"), "{}", called.err);
    }
}

#[test]
fn compares_write_halves_of_any_type() {
    let text = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 y)\n{\n.reg .b16 %h<3>;\n.reg .f32 %f<2>;\n\
                .reg .b32 %r<2>;\n.reg .b64 %d<2>;\nld.param.u64 %d1, [y];\nmov.u32 %r1, %ctaid.x;\nset.lt.f16.s32 %h1, %r1, 2;\n\
                mov.b32 %f1, 0x80000001;\nset.equ.ftz.f16.f32 %h2, %f1, 0f00000000;\nadd.f16 %h1, %h1, %h2;\nset.gt.bf16.f16 %h2, %h1, %h2;\n\
                st.global.v2.b16 [%d1], {%h1, %h2};\nret;\n}\n";
    for (target, engine) in [("ptx", "interp"), ("ptx", "jit"), ("ir", "interp"), ("halu", "interp"), ("halu", "jit")] {
        let called = run_text(text, &["--target", target, "--engine", engine, "--arg", "y=[0, 0]", "--print", "bits"]);
        assert_eq!(called.output(), "y=[0x4000, 0x3f80]\n", "{target} {engine}");
    }
}

#[test]
fn a_number_may_stand_for_a_truth_value() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 y)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<5>;\n\
                .reg .b64 %d<2>;\nld.param.u64 %d1, [y];\nvote.sync.ballot.b32 %r1, 1, 1;\nselp.b32 %r2, 7, 8, 0;\nbar.red.popc.u32 %r3, 0, 1;\n\
                setp.lt.and.u32 %p1, %r1, 4, 1;\nselp.b32 %r4, 5, 6, %p1;\nst.global.v4.b32 [%d1], {%r1, %r2, %r3, %r4};\nret;\n}\n";
    for (target, engine) in [("ptx", "interp"), ("ptx", "jit"), ("ir", "interp"), ("halu", "interp"), ("halu", "jit")] {
        let called = run_text(text, &["--target", target, "--engine", engine, "--arg", "y=[0, 0, 0, 0]"]);
        assert_eq!(called.output(), "y=[1, 8, 1, 5]\n", "{target} {engine}");
    }
}
