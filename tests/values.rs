//! Tests of the values that the user sees: the output of `run`, the differences that `check`
//! reports, and sequences of launches.

use std::fs;
use std::path::{Path, PathBuf};

use halfbyte::Module;
use halfbyte::args::picture;
use halfbyte::ir::diag::Lines;
use halfbyte::launch::Engine;
use halfbyte_testkit::check::{Outcome, check};

use crate::common::{Called, halfbyte, halfbyte_on, root};

const AVERAGE: [&str; 6] = ["run", "examples/average.hb", "--target", "halu", "--items", "2"];

fn average(more: &[&str]) -> Called {
    let args: Vec<&str> =
        more.iter().flat_map(|arg| if arg.starts_with("--") { vec![*arg] } else { vec!["--arg", *arg] }).collect();
    halfbyte(&[&AVERAGE[..], &args].concat())
}

#[test]
fn lanes_are_printed_as_numbers_that_read_back() {
    let given = ["a=[[0, 255, 10, 128], 7]", "b=[[255, 255, 13, 127], 8]"];
    assert_eq!(average(&given).output(), "mean=[[128, 255, 12, 128], [8, 8, 8, 8]]\n");
    let bits = "mean=[0x800cff80, 0x08080808]\n";
    assert_eq!(average(&[&given[..], &["--print=bits"]].concat()).output(), bits);
    let both = format!("mean=[[128, 255, 12, 128], [8, 8, 8, 8]]\n{bits}");
    assert_eq!(average(&[&given[..], &["--print=both"]].concat()).output(), both);
    assert_eq!(average(&[&given[..], &["--signed"]].concat()).output(), "mean=[[-128, -1, 12, -128], [8, 8, 8, 8]]\n");
    // If an input contains a minus sign, the output is printed as signed numbers.
    let called = average(&["a=[-1, 7]", "b=[0xffffffff, 8]"]);
    assert_eq!(called.output(), "mean=[[-1, -1, -1, -1], [8, 8, 8, 8]]\n");
    let called = average(&["a=[-1, 7]", "b=[0xffffffff, 8]", "--unsigned"]);
    assert_eq!(called.output(), "mean=[[255, 255, 255, 255], [8, 8, 8, 8]]\n");
    // The output has the syntax of arguments, so it can be the input of another call.
    let printed = average(&["a=[-1, 7]", "b=[[0, -2, 3, 4], 8]"]).output().trim().replace("mean=", "a=");
    assert_eq!(average(&[&printed, &printed.replace("a=", "b=")]).output().trim(), printed.replace("a=", "mean="));
}

#[test]
fn numbers_of_other_types() {
    let text = "kernel @k(%x: in f32, %y: out f32, %m: out i1x4) {\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  \
                store %v, %y[%i]\n  %p = const.i8x4 3\n  %q = const.i8x4 [3, 2, 3, 1]\n  %c = icmp.eq.i8x4 %p, %q\n  store %c, %m[%i]\n  ret\n}\n";
    let args = ["run", "-", "--target", "ir", "--items", "6", "--arg", "x=[0.1, -0.0, inf, nan, 0x7fc00001, 1e-45]"];
    let called = halfbyte_on(&args, text.as_bytes());
    let masks = ["[1, 0, 1, 0]"; 6].join(", ");
    assert_eq!(called.output(), format!("y=[0.1, -0.0, inf, nan, 0x7fc00001, 1e-45]\nm=[{masks}]\n"));
    let bits = halfbyte_on(&[&args[..], &["--print", "bits"]].concat(), text.as_bytes());
    assert!(bits.output().starts_with("y=[0x3dcccccd, 0x80000000, 0x7f800000, 0x7fffffff, 0x7fc00001, 0x00000001]\n"));
}

/// `run` and run lines determine the size of an `out` buffer by the same rule.
#[test]
fn out_buffers_are_sized_by_the_accesses_of_the_launch() {
    let middle = "kernel @k(%x: in i8x4, %y: out i8x4, %z: out i32) {\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  \
                  store %v, %y[%i + 70]\n  %zero = const.i32 0\n  %first = icmp.eq.i32 %i, %zero\n  br_if %first, ^one, ^end\n\
                  ^one:\n  store %i, %z[%i]\n  br ^end\n^end:\n  ret\n}\n";
    for target in ["ir", "halu", "ptx"] {
        let args = ["run", "-", "--target", target, "--items", "2", "--arg", "x=[1, 2]"];
        let called = halfbyte_on(&args, middle.as_bytes());
        let zeros = "[0, 0, 0, 0], ".repeat(70);
        assert_eq!(called.output(), format!("y=[{zeros}[1, 1, 1, 1], [2, 2, 2, 2]]\nz=[0]\n"), "{target}");
    }
    let outcome = checked(&format!("{middle}; run: halu, ptx: @k items=2 x=[1, 2] -> z=[0]\n"));
    assert!(outcome.failures.is_none(), "{:?}", outcome.failures);
    // VP1 copies whole streams, but the buffer has the same size.
    let outcome = checked_in("examples", &blur("; run: all: @blur_rows items=1000 pixels=random(1002, 61)\n"));
    assert!(outcome.failures.is_none(), "{:?}", outcome.failures);
    // All other traps are still reported, and the size of a buffer is limited.
    halfbyte_on(&["run", "-", "--target", "halu", "--items", "3", "--arg", "x=[1, 2]"], middle.as_bytes())
        .fails(1, "trap on halu (interp): @k, item 2");
    let far =
        middle.replace("%y[%i + 70]", "%y[%far]").replace("  %v = load", "  %far = const.i32 0x70000000\n  %v = load");
    halfbyte_on(&["run", "-", "--target", "ir", "--items", "2", "--arg", "x=[1, 2]"], far.as_bytes())
        .fails(1, "trap on ir: @k, item 0");
    // For an object, the size cannot be determined.
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("average.o").display().to_string();
    halfbyte(&["compile", "examples/average.hb", "--target", "halu", "--emit", "obj", "-o", &object]).output();
    let args = ["run", &object, "--target", "halu", "--items", "1", "--arg", "a=[1]", "--arg", "b=[3]"];
    halfbyte(&args).fails(2, "error: `mean` has no value");
    assert_eq!(halfbyte(&[&args[..], &["--arg", "mean=zeros(1)"]].concat()).output(), "mean=[[2, 2, 2, 2]]\n");
}

#[test]
fn arguments_that_do_not_fit_say_what_would() {
    let text = "kernel @k(%b: i8, %w: i8x4, %y: out i8x4) {\n^entry:\n  %i = item_id\n  %s = splat.i8x4 %b\n  \
                %r = add.i8x4 %s, %w\n  store %r, %y[%i]\n  ret\n}\n";
    let fails = |args: &[&str], message: &str| {
        let args: Vec<&str> = args.iter().flat_map(|arg| ["--arg", *arg]).collect();
        let called = [&["run", "-", "--target", "ir", "--items", "1"], &args[..]].concat();
        halfbyte_on(&called, text.as_bytes()).fails(2, message);
    };
    fails(&["b=1.5", "w=1"], "error: `1.5` is not a valid i8\n");
    fails(&["b=1.5", "w=1"], "^^^ expected an integer, -128 to 255");
    fails(
        &["b=1", "w=@examples/chelsea.npy"],
        "examples/chelsea.npy: the file is an array, but the parameter is a single i8x4",
    );
    fails(&["b=@examples/chelsea-f16.npy", "w=1"], "the file is an array, but the parameter is a single i8\n");
    fails(&["b=1", "w=2", "v=3"], "^ expected one of: b, w, y");
    average(&["a=@examples/chelsea-f16.npy"])
        .fails(2, "the array's dtype is float16; i8x4 takes uint8, int8 or uint32");
}

fn path(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

#[test]
fn arrays_keep_dtype_and_shape() {
    let folder = tempfile::tempdir().unwrap();
    let (raw, npy) = (path(&folder, "x.bin"), path(&folder, "y.npy"));
    fs::write(&raw, (0..24).collect::<Vec<u8>>()).unwrap();
    let out = format!("--out=mean={npy}");
    let written = |dtype: &str, shape: &str, more: &[&str]| {
        let (a, b) = (format!("a=@{raw}:{dtype}:{shape}"), format!("b=@{raw}"));
        let args =
            [&["run", "examples/average.hb", "--target", "halu", "--items", "6", "--arg", &a, "--arg", &b, &out], more];
        assert_eq!(halfbyte(&args.concat()).output(), "");
        let file = fs::read(&npy).unwrap();
        assert_eq!(file[128..], (0..24).collect::<Vec<u8>>());
        String::from_utf8_lossy(&file[10..128]).trim_end().to_owned()
    };
    assert_eq!(written("int8", "4x6", &[]), "{'descr': '|i1', 'fortran_order': False, 'shape': (4, 6), }");
    assert_eq!(written("u8", "2x3x4", &[]), "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 4), }");
    assert_eq!(written("u32", "6", &[]), "{'descr': '<u4', 'fortran_order': False, 'shape': (6,), }");
    assert_eq!(written("u8", "24", &["--signed"]), "{'descr': '|i1', 'fortran_order': False, 'shape': (24,), }");
    for (value, message) in [
        ("f16:12", "expected uint8, int8 or uint32"),
        ("f16:12", "x.bin:f16:12: the dtype float16 does not fit i8x4\n"),
        ("u8:25", "the file has 24 bytes; expected 25"),
        ("i8:24", "`i8` is not a dtype (the IR's integers have no sign)\n"),
    ] {
        average(&[&format!("a=@{raw}:{value}")]).fails(2, message);
    }
    average(&["a=@examples/chelsea.npy:u8:4"])
        .fails(2, "examples/chelsea.npy: files of this format contain their dtype and shape");
}

/// NumPy stores the type `bfloat16` of ml_dtypes as two raw bytes.
#[test]
fn bfloat16_keeps_its_dtype() {
    let folder = tempfile::tempdir().unwrap();
    let (raw, npy) = (path(&folder, "x.bin"), path(&folder, "y.npy"));
    fs::write(&raw, [0x80, 0x3f, 0, 0x40]).unwrap();
    let text = "kernel @k(%x: inout bf16) {\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  %r = fadd.bf16 %v, %v\n  store %r, %x[%i]\n  ret\n}\n";
    let run = |value: &str| {
        let (value, out) = (format!("x=@{value}"), format!("x={npy}"));
        let args = ["run", "-", "--target", "ir", "--items", "2", "--arg", &value];
        assert_eq!(halfbyte_on(&args, text.as_bytes()).output(), "x=[2.0, 4.0]\n");
        halfbyte_on(&[&args[..], &["--out", &out]].concat(), text.as_bytes()).output();
        String::from_utf8_lossy(&fs::read(&npy).unwrap()[10..128]).trim_end().to_owned()
    };
    assert_eq!(run(&raw), "{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }");
    assert_eq!(run(&format!("{raw}:bf16:1x2")), "{'descr': '<V2', 'fortran_order': False, 'shape': (1, 2), }");
    fs::rename(&npy, path(&folder, "x.npy")).unwrap();
    fs::write(&raw, []).unwrap();
    let again = ["run", "-", "--target", "ir", "--items", "2", "--arg", &format!("x=@{}", path(&folder, "x.npy"))]
        .map(str::to_owned);
    let again: Vec<&str> = again.iter().map(String::as_str).collect();
    assert_eq!(halfbyte_on(&again, text.as_bytes()).output(), "x=[4.0, 8.0]\n");
}

#[test]
fn pictures_come_in_and_go_out() {
    let folder = tempfile::tempdir().unwrap();
    let (rgba, out) = (path(&folder, "rgba.png"), path(&folder, "out.png"));
    // The picture has two rows of three pixels.
    let bytes: Vec<u8> = (0..24).collect();
    fs::write(&rgba, picture::write(&bytes, halfbyte::ir::Type::I8X4, (3, 2)).unwrap()).unwrap();
    let a = format!("a=@{rgba}");
    let called = average(&[&a, "b=zeros(6)", "--items=6"]);
    called.fails(2, "--items");
    let run = ["run", "examples/average.hb", "--target", "halu", "--items", "6", "--arg", &a, "--arg"];
    let called = halfbyte(&[&run[..], &["b=0x000000ff"]].concat());
    called.fails(2, "a single number is given for a buffer");
    let red = "b=[[1, 1, 2, 3], [5, 5, 6, 7], 8, 12, 16, 20]";
    let printed =
        "mean=[[1, 1, 2, 3], [5, 5, 6, 7], [8, 9, 9, 10], [12, 13, 13, 14], [16, 17, 17, 18], [20, 21, 21, 22]]\n";
    assert_eq!(halfbyte(&[&run[..], &[red]].concat()).output(), printed);
    let to = |file: &str| halfbyte(&[&run[..], &[red, "--out", &format!("mean={file}")]].concat());
    let size = |file: &str| {
        let (_, array) = picture::read(&fs::read(file).unwrap(), halfbyte::ir::Type::I8X4, 1 << 20).unwrap();
        array.shape
    };
    assert_eq!(to(&out).output(), "");
    assert_eq!(size(&out), [2, 3, 4]);
    assert_eq!(to(&format!("{out}:4x6")).output(), "");
    assert_eq!(size(&out), [6, 4]);
    assert_eq!(to(&format!("{out}:8x1")).output(), "");
    assert_eq!(size(&out), [1, 8, 3]);
    to(&format!("{out}:5x5"))
        .fails(2, "the buffer has 24 bytes, and 5 x 5 pixels have 25 in grey, 75 in RGB, 100 in RGBA");
    to(&format!("{out}:5by5")).fails(2, "`5by5` is not a size; expected WIDTHxHEIGHT");
    // A greyscale picture is an array of bytes. If the argument has no size, the output is not a picture.
    let chelsea = [
        "run",
        "examples/average.hb",
        "--target",
        "vp1",
        "--items",
        "4096",
        "--arg",
        "a=@examples/chelsea.npy",
        "--arg",
    ];
    let to = format!("mean={out}");
    halfbyte(&[&chelsea[..], &["b=@examples/chelsea-moved.npy", "--out", &to]].concat()).output();
    assert_eq!(size(&out), [128, 128]);
    let unsized_ = ["--arg", "b=[5, 6]", "--out", &to];
    average(&["a=[1, 2]"]).fails(2, "`b` has no value");
    halfbyte(&[&AVERAGE[..], &["--arg", "a=[1, 2]"], &unsized_].concat())
        .fails(2, "the width of the picture is not given; expected FILE.png:WIDTHxHEIGHT");
    // The output buffer has another size than the input picture.
    let grey = path(&folder, "grey.png");
    fs::write(&grey, picture::write(&[7; 24], halfbyte::ir::Type::I8, (6, 4)).unwrap()).unwrap();
    let grey = format!("a=@{grey}");
    let called = ["--arg", &grey, "--arg", "b=[1, 2, 3, 4, 5, 6]", "--out", &to];
    halfbyte(&[&AVERAGE[..], &called].concat()).fails(
        2,
        &format!("the input picture `a` of 6 x 4 pixels has 24 bytes, but `mean` has 8; use --out {to}:WIDTHxHEIGHT"),
    );
    let mut broken = fs::read(&rgba).unwrap();
    broken[40] ^= 0xff;
    fs::write(&rgba, broken).unwrap();
    halfbyte(&[&run[..], &[red]].concat()).fails(2, "rgba.png: invalid PNG file");
    halfbyte(&["run", "examples/axpy.hb", "--target", "ir", "--items", "1", "--arg", &format!("x=@{rgba}")])
        .fails(2, "a picture consists of bytes, but this is a buffer of f16x2");
}

/// A file in an unsupported format is an error, unless the argument gives a dtype and a shape for its raw bytes.
#[test]
fn formats_that_are_not_read_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (jpeg, text) = (path(&folder, "t.jpg"), path(&folder, "o.txt"));
    fs::write(&jpeg, [1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    let called = average(&[&format!("a=@{jpeg}"), "b=[0, 0]"]);
    called.fails(2, "JPEG is not supported");
    called.fails(2, "expected .npy, .png, or raw bytes as `@FILE.bin` or `@FILE:u8:COUNT`");
    let said = format!("a=@{jpeg}:u8:8");
    assert_eq!(average(&[&said, "b=[0, 0]"]).output(), "mean=[[1, 1, 2, 2], [3, 3, 4, 4]]\n");
    let to = |file: &str| average(&[&said, "b=[0, 0]", &format!("--out=mean={file}")]);
    to(&text).fails(2, "o.txt: text is not written; .npy, .png, or a buffer's bytes as FILE.bin");
    assert!(!Path::new(&text).exists());
    for name in ["o", "o.bin", "o.raw", "o.yuv"] {
        assert_eq!(to(&path(&folder, name)).output(), "");
        assert_eq!(fs::read(path(&folder, name)).unwrap(), [1, 1, 2, 2, 3, 3, 4, 4], "{name}");
    }
}

#[test]
fn a_forgotten_sign_before_a_file_is_asked_for() {
    for name in ["img.npy", "some/where/img.png", "x.bin:u8:4", "examples/average.hb"] {
        average(&[&format!("a={name}"), "b=[1, 2]"])
            .fails(2, &format!("`{name}` is not a value; did you mean `@{name}`?"));
    }
}

fn checked(text: &str) -> Outcome {
    checked_in(".", text)
}

fn checked_in(folder: &str, text: &str) -> Outcome {
    check("t.hb", text, &root().join(folder), &[Engine::Interp, Engine::JIT])
}

/// Returns the kernels of `examples/blur.hb` with other run lines.
fn blur(lines: &str) -> String {
    let text = fs::read_to_string(root().join("examples/blur.hb")).unwrap();
    let kept: Vec<&str> =
        text.lines().filter(|line| !line.starts_with("; run:") && !line.starts_with("; then:")).collect();
    format!("{}\n{lines}", kept.join("\n"))
}

/// Returns the line, the column and the message of each failure. The line is relative to the first run line.
fn failures(text: &str) -> Vec<(usize, usize, String)> {
    let outcome = checked_in("examples", text);
    let lines = Lines::new(text);
    let first = lines.position(text.find("; run:").unwrap() as u32).line;
    let report = outcome.failures.unwrap();
    let one = |diagnostic: &halfbyte::ir::Diagnostic| {
        let position = lines.position(diagnostic.span.start);
        ((position.line + 1).saturating_sub(first), position.column, diagnostic.to_string())
    };
    report.diagnostics().iter().map(one).collect()
}

#[test]
fn launches_follow_on_the_same_buffers() {
    let outcome = checked_in(
        "examples",
        &blur(
            "; run: all: @blur_rows items=1 pixels=[0, 8, 0] rows=zeros(3)\n\
             ; then: @blur_rows items=1 pixels=[0, 16, 0] -> rows=[0, [12, 16, 16, 12], 0]\n\
             ; and a comment\n; then: @blur_columns items=1 width=1 -> blurred=[0, [6, 8, 8, 6], 0]\n",
        ),
    );
    assert!(outcome.failures.is_none(), "{:?}", outcome.failures);
    assert_eq!(outcome.runs, 3);
    assert_eq!(outcome.compared.into_iter().collect::<Vec<_>>(), ["halu", "ptx", "vp1"]);
}

#[test]
fn a_wrong_launch_after_others_is_shown_at_its_line() {
    let rows = "; run: halu: @blur_rows items=1 pixels=[0, 8, 0] rows=zeros(3)\n";
    for (then, line, column, message) in [
        (
            "; then: @blur_columns items=1 width=1 -> blurred=[0, [3, 4, 4, 2], 0]",
            2,
            3,
            "@blur_columns on ir: blurred[1] lane 3, written by item 0, expected 2 (0x02) by the run line, found 3 (0x03); \
             1 of 3 elements differ",
        ),
        (
            "; then: @blur_column items=1 width=1",
            2,
            10,
            "there is no kernel `@blur_column`; expected @blur_rows, @blur_columns; did you mean `@blur_columns`?",
        ),
        ("; then: @blur_columns items=1", 2, 10, "`width` has no value; expected `width=VALUE`"),
        (
            "; then: @blur_columns items=1 widht=1",
            2,
            31,
            "`widht` is not a parameter; expected one of: width, rows, blurred; did you mean `width`?",
        ),
        ("; then: @blur_columns items=2 width=1 blurred=zeros(3)", 26, 3, ""),
    ] {
        let found = failures(&blur(&format!("{rows}{then}\n")));
        if message.is_empty() {
            assert!(found[0].2.starts_with("trap on ir: @blur_columns, item 1"), "{found:?}");
            continue;
        }
        assert!(found.iter().any(|found| *found == (line, column, message.to_owned())), "{then}: {found:#?}");
    }
    // After a failing launch, the other launches of the run line are not executed.
    let found =
        failures(&blur("; run: halu: @blur_rows items=1 pixels=[0, 8, 0] -> rows=[1, 1, 1]\n; then: @none items=1\n"));
    assert_eq!(found.len(), 1, "{found:?}");
    let found = failures(&blur("; run: halu: @blur_rows items=1 pixel=[0]\n; then: @blur_columns items=1 width=1\n"));
    assert!(found.iter().all(|(line, ..)| *line == 1), "{found:?}");
    // A later kernel has a parameter of the same name, but of another type or a scalar.
    let other = "kernel @wide(%rows: in i8x16, %o: out i8x16) {\n^entry:\n  %i = item_id\n  %v = load %rows[%i]\n  store %v, %o[%i]\n  ret\n}\n\
                 kernel @scalar(%rows: i32, %o: out i32) {\n^entry:\n  %i = item_id\n  store %rows, %o[%i]\n  ret\n}\n";
    let found = failures(&blur(&format!("{rows}; then: @wide items=1\n{other}")));
    assert_eq!(
        found[0].2,
        "`rows` has no value: the previous launch had a buffer of 12 bytes; expected `rows=[..]`, @file.npy, zeros(N) or random(N, SEED)"
    );
    let found = failures(&blur(&format!("{rows}; then: @scalar items=1\n{other}")));
    assert_eq!(found[0].2, "`rows` has no value: the previous launch had a buffer of 12 bytes; expected `rows=VALUE`");
}

#[test]
fn the_first_lanes_that_differ_are_listed() {
    let text =
        blur("; run: halu: @blur_rows items=2 pixels=[-1, -1, -1, 9] -> rows=[0, [-1, 1, 2, 3], [4, 5, 6, 7], 1]\n");
    let report = checked_in("examples", &text).failures.unwrap();
    let [failure] = report.diagnostics() else { panic!("{report}") };
    assert_eq!(
        failure.message,
        "@blur_rows on ir: rows[1] lane 1, written by item 0, expected 1 (0x01) by the run line, found -1 (0xff); 3 of 4 elements differ"
    );
    let notes: Vec<&str> = failure.notes.iter().map(|note| note.message.as_str()).collect();
    assert_eq!(notes.len(), 8, "{notes:?}");
    assert_eq!(notes[0], "rows[1] lane 2: expected 2 (0x02), found -1 (0xff)");
    assert_eq!(notes[7], "and 3 more");
    let rendered = report.render(false);
    assert!(rendered.contains("rows[1] lane 2: expected 2 (0x02), found -1 (0xff)"), "{rendered}");
}

#[test]
fn reduce_finds_a_launch_after_others() {
    use halfbyte::args::Loader;
    use halfbyte_testkit::reduce::{SearchOptions, TrialLimits, suspects};
    let text =
        blur("; run: halu: @blur_rows items=1 pixels=[0, 8, 0] rows=zeros(3)\n; then: @blur_columns items=1 width=1\n");
    let module = Module::parse(&text).unwrap();
    let loader = Loader::within(Path::new("."));
    let patience = TrialLimits::endless();
    let question =
        SearchOptions { kernel: Some("blur_columns"), target: None, engines: &[Engine::Interp], patience: &patience };
    let found = suspects(&module, &loader, question).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].case.launch().args[1], [0, 0, 0, 0, 6, 8, 8, 6, 0, 0, 0, 0]);
}

/// The table of dtypes in `docs/values.md` equals the table in the help text.
#[test]
fn the_dtype_table_is_in_the_help() {
    let help = halfbyte(&["run", "--help"]).output().to_owned();
    assert!(help.contains("  i8x4    uint8, int8 a lane; uint32 an element\n"), "{help}");
    assert!(help.contains("  bf16    bfloat16, uint16\n"), "{help}");
    let page: PathBuf = root().join("docs/values.md");
    assert!(!page.exists() || fs::read_to_string(page).unwrap().contains(&halfbyte::args::array::dtype_table()));
}

#[test]
fn check_answers_with_each_launch_and_its_mismatches() {
    let on = |text: &str| crate::json::object("check", &halfbyte_on(&["check", "-", "--json"], text.as_bytes()));
    let right =
        blur("; run: all: @blur_rows items=1 pixels=[0, 8, 0] rows=zeros(3)\n; then: @blur_columns items=1 width=1\n");
    let found = on(&right);
    assert_eq!((&found["passed"], &found["files"][0]["launches"]), (&1.into(), &2.into()), "{found:#}");
    let results = found["files"][0]["results"].as_array().unwrap();
    let of = |result: &serde_json::Value| {
        format!("{} {} {}", result["kernel"], result["target"], result["engine"]).replace('"', "")
    };
    let all: Vec<String> = results.iter().map(of).collect();
    for place in ["ir null", "halu interp", "halu jit", "vp1 interp", "vp1 jit", "ptx interp"] {
        for kernel in ["blur_rows", "blur_columns"] {
            assert!(all.contains(&format!("{kernel} {place}")), "{all:?}");
        }
    }
    assert!(results.iter().all(|result| result["verdict"] == "passed"));
    let found = on(&right.replace("width=1", "width=1 -> blurred=[0, [3, 4, 4, 2], 0]"));
    let result =
        found["files"][0]["results"].as_array().unwrap().iter().find(|result| result["verdict"] == "failed").unwrap();
    assert_eq!((&result["kernel"], &result["target"]), (&"blur_columns".into(), &"ir".into()));
    let lane = &result["mismatches"][0]["lanes"][0];
    assert_eq!(
        *lane,
        serde_json::json!({
            "element": 1, "lane": 3, "item": 0, "expected": { "value": 2, "bits": "0x02" }, "found": { "value": 3, "bits": "0x03" }
        })
    );
    assert_eq!(result["failures"][0]["line"], result["line"]);
    // An expected refusal, a missing refusal, and a file that contains no kernel.
    let refused = "kernel @r(%a: f32, %y: out f32) {\n^entry:\n  %i = item_id\n  %r = fsqrt.f32 %a ; refuse: vp1: fsqrt\n  store %r, %y[%i]\n  ret\n}\n";
    let found = on(refused);
    assert_eq!(found["files"][0]["results"][0]["verdict"], "refused as expected", "{found:#}");
    let found = on(&refused.replace("vp1: fsqrt", "vp1: fsin"));
    assert_eq!(found["files"][0]["results"][0]["verdict"], "failed", "{found:#}");
    assert_eq!(on("kernel")["files"][0]["verdict"], "failed");
    let half = "kernel @h(%x: in f16, %y: out f16) {\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  store %v, %y[%i]\n  ret\n}\n\
                ; run: halu: @h items=2 x=[inf, 1] -> y=[nan, 1.002]\n";
    let found = on(half);
    let lanes = &found["files"][0]["results"][0]["mismatches"][0]["lanes"];
    assert_eq!(
        (&lanes[0]["expected"]["value"], &lanes[0]["found"]["value"]),
        (&"nan".into(), &"inf".into()),
        "{found:#}"
    );
    assert_eq!((&lanes[0]["ulps"], &lanes[1]["ulps"]), (&serde_json::Value::Null, &2.into()), "{found:#}");
}

#[test]
fn check_writes_a_junit_report() {
    let text = blur("; run: halu: @blur_rows items=1 pixels=[0, 8, 0] -> rows=[0, 1, 0]\n");
    let called = halfbyte_on(&["check", "-", "--engine", "interp", "--junit", "-"], text.as_bytes());
    assert_eq!(called.code, 1, "{}", called.err);
    assert!(called.out.contains("@blur_rows on halu (interp), line "), "{}", called.out);
    assert!(called.out.contains("tests=\"2\"") && called.out.contains("failures=\"1\""), "{}", called.out);
    crate::junit::read(&called.out);
    let folder = tempfile::tempdir().unwrap();
    let report = path(&folder, "report.xml");
    let called = halfbyte(&["check", "examples/average.hb", "--junit", &report]);
    assert!(called.output().ends_with("1 passed, 0 failed\n"));
    assert!(fs::read_to_string(&report).unwrap().contains("failures=\"0\""));
    halfbyte(&["check", "examples/average.hb", "--json", "--junit", "-"]).fails(2, "name a file with --junit FILE");
}

#[test]
fn run_answers_with_buffers_stats_and_traps() {
    let run = |target: &str, more: &[&str]| {
        let args = [
            "run",
            "examples/axpy.hb",
            "--json",
            "--items",
            "2",
            "--arg",
            "a=2.0",
            "--arg",
            "x=[1.0, 3.0]",
            "--target",
            target,
        ];
        halfbyte(&[&args[..], more].concat())
    };
    for target in ["ir", "halu", "ptx"] {
        let found = crate::json::object("run", &run(target, &["--arg", "y=[1.0, inf]"]));
        assert_eq!(
            found["buffers"],
            serde_json::json!([{
                "name": "y", "type": "f16x2", "elements": 2, "values": [[3.0, 3.0], ["inf", "inf"]], "bits": ["0x42004200", "0x7c007c00"]
            }]),
            "{target}"
        );
        assert_eq!(found.get("stats").is_some(), target != "ir");
    }
    for target in ["ir", "halu"] {
        let found = crate::json::object("run", &run(target, &["--arg", "y=[1.0]"]));
        assert_eq!(
            found["trap"],
            serde_json::json!({ "kind": "out-of-bounds-global", "item": 1, "line": 7 }),
            "{target}"
        );
        assert_eq!(found["diagnostics"][0]["line"], 7);
    }
    run("halu", &["--arg", "y=[1.0"]).fails(2, "expected `,` or `]`");
    run("halu", &["--arg", "y=[1, 2]", "--out", "y=-"]).fails(2, "both write to standard output");
}
