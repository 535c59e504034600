//! Tests of source locations: `.loc` and `.file` directives, and debug sections.

use halfbyte_abi::Sm;
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::module::{Kernel, Module};
use halfbyte_isa::ptx::text::{Writer, read, read_each};

#[test]
fn finds_the_source_location_of_instructions() {
    let text = ".version 8.8\n.target sm_90\n.address_size 64\n.file 1 \"a.hb\"\n.file 2 \"b c.cu\", 1700000000, 12\n\
                .visible .entry k()\n{\n    .reg .b32 %r<2>;\n    mov.b32 %r0, 1;\n    .loc 1 5 3\n    mov.b32 %r1, 2;\n\
                L: // within the same line\n    add.u32 %r0, %r0, %r1;\n    .loc 2 9 11, function_name L, inlined_at 1 2 3\n    \
                ret;\n}\n.visible .entry l()\n{\n    ret;\n}\n";
    let read_back = read(text).unwrap();
    assert_eq!((read_back.file(1), read_back.file(2), read_back.file(3)), (Some("a.hb"), Some("b c.cu"), None));
    let places = |entry: usize| {
        let sources = read_back.sources[entry].iter();
        sources.map(|source| (source.file, source.loc.line, source.loc.column)).collect::<Vec<_>>()
    };
    assert_eq!(places(0), [(0, 0, 0), (1, 5, 3), (1, 5, 3), (2, 9, 11)]);
    assert_eq!(places(1), [(0, 0, 0)]);

    let loc = |line| Loc { line, column: 2 };
    let locs = [loc(4), loc(4), loc(6), loc(4)];
    let mut writer = Writer::new(Sm::SM_90, Some("x\"\n.hb"), 0);
    let Module { version, target, entries, .. } = read_back.module.clone();
    for (entry, locs) in entries.into_iter().zip([&locs[..], &[]]) {
        writer.add(Kernel { version, target, entry }, locs);
    }
    let printed = writer.finish();
    assert_eq!(printed.matches(".loc").count(), 3);
    let again = read(&printed).unwrap();
    assert_eq!((&again.module, again.file(1)), (&read_back.module, Some("x__.hb")));
    assert_eq!(again.sources[0].iter().map(|source| source.loc).collect::<Vec<_>>(), locs);
}

/// Tests that a `.loc` may name the call site at which its function is inlined. An instruction may
/// follow the `.loc` in the same line.
#[test]
fn finds_the_calls_that_instructions_are_inlined_into() {
    let text = ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n    .reg .b32 %r<2>;
.loc 1 30 3\nmov.b32 %r0, 1;
.loc 2 20 5, function_name $L1, inlined_at 1 30 3\nmov.b32 %r0, 2;
.loc 2 12 7, function_name $L2+6,
    inlined_at 2 20 5 mov.b32 %r0, 3;
.loc 2 12 7, function_name $L2, inlined_at 1 99 1 mov.b32 %r0, 4; // a call without a `.loc` of its own
.loc 2 12 7, function_name $L2, inlined_at 3 1 1\nmov.b32 %r0, 5; // a call in an unknown file
.loc 1 31 3 ret;
}
.visible .entry l()\n{
.loc 1 40 1, function_name $L1, inlined_at 2 20 5\nret; // `.loc` directives of another kernel have no effect
}
.file 1 \"a.py\"\n.file 2 \"lib.py\"\n";
    let read_back = read(text).unwrap();
    let origins = |entry: usize| -> Vec<String> {
        let locs = read_back.locs[entry].iter();
        locs.map(|&loc| read_back.source_of(loc).unwrap().to_string()).collect()
    };
    assert_eq!(
        origins(0),
        [
            "a.py:30",
            "lib.py:20, inlined at a.py:30",
            "lib.py:12, inlined at lib.py:20, inlined at a.py:30",
            "lib.py:12, inlined at a.py:99",
            "lib.py:12",
            "a.py:31"
        ]
    );
    assert_eq!(origins(1), ["a.py:40, inlined at lib.py:20"]);
    // The parser must accept a chain of inlined calls of any length. Only the first eight locations
    // are returned.
    let calls: String =
        (2..50_000).map(|line| format!(".loc 1 {line} 1, function_name f, inlined_at 1 {} 1\n", line - 1)).collect();
    let text = text.replace(".loc 1 31 3 ret;", &format!(".loc 1 1 1\n{calls}ret;"));
    let read_back = read(&text).unwrap();
    let last = *read_back.locs[0].last().unwrap();
    assert_eq!(read_back.source_of(last).unwrap().0.len(), 8);
}

#[test]
fn checks_debug_directives() {
    let head = ".version 8.8\n.target sm_90\n.address_size 64\n";
    for (line, message) in [
        (".file a", "4:7: expected a number; found `a`"),
        (".file 1 a", "4:9: expected the name of a file; found `a`"),
        (".loc 1 2", "5:1: expected a number; found the end of the text"),
        (".loc 1 b", "4:8: expected a number; found `b`"),
        (".loc 1 2 3, inlined_at 1 2 3", "4:13: expected `function_name`; found `inlined_at`"),
        (".loc 1 2 3, function_name 1", "4:27: expected the label of a function name; found `1`"),
        (".loc 1 2 3, function_name f+g", "4:29: expected a number; found `g`"),
        (".loc 1 2 3, function_name f", "5:1: expected `,`; found the end of the text"),
        (".loc 1 2 3, function_name f, 1", "4:30: expected `inlined_at`; found `1`"),
        (".loc 1 2 3, function_name f, inlined_at 1 2", "5:1: expected a number; found the end of the text"),
    ] {
        let errors = read(&format!("{head}{line}\n")).unwrap_err();
        assert_eq!(errors[0].to_string(), message, "{line}");
    }
}

/// Tests that the approximate instructions of a kernel include those of the functions that the kernel can call.
#[test]
fn finds_approximate_instructions() {
    let text = ".version 8.8\n.target sm_90\n.address_size 64
.func f() { .reg .f32 %f; ex2.approx.ftz.f32 %f, 0f3F800000; ret; }
.func g() { .reg .f32 %f; sin.approx.f32 %f, 0f3F800000; ret; }
.visible .entry k() { .reg .f32 %f;
rcp.rn.f32 %f, 0f3F800000;
tanh.approx.f32 %f, 0f3F800000;
call f, ();
ret; }
.visible .entry l() { ret; }
.visible .entry refused() { multimem.ld_reduce.global.add.u32 %r, [0]; }
";
    let file = read_each(text).unwrap();
    let found = |kernel: &str| -> Vec<(String, u32)> {
        file.approximations(kernel).into_iter().map(|of| (of.instruction, of.at.line)).collect()
    };
    assert_eq!(found("k"), [("tanh.approx.f32".to_owned(), 8), ("ex2.approx.ftz.f32".to_owned(), 4)]);
    assert!(["l", "refused", "none"].iter().all(|kernel| found(kernel).is_empty()));
}
