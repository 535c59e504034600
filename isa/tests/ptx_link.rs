//! Tests of the linker of PTX texts.

use halfbyte_isa::ptx::module::Linkage;
use halfbyte_isa::ptx::text::{LinkError, ParsedFile, SourceLocation, link, read};

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// Links texts, each with a head in front of it, and parses the result. If `ptxas` is installed, it must accept the
/// result, too.
#[track_caller]
fn linked(texts: &[&str]) -> ParsedFile {
    let texts: Vec<String> = texts.iter().map(|text| format!("{HEAD}{text}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let made = link(&texts).unwrap();
    let file = read(&made).unwrap_or_else(|errors| panic!("{errors:?}\n{made}"));
    if let Some(ptxas) = crate::ptx::ptxas() {
        assert_eq!(crate::ptx::assemble(&ptxas, file.module.target, &made), Ok(()), "{made}");
    }
    file
}

fn names(file: &ParsedFile) -> [Vec<&str>; 3] {
    let entries = file.module.entries.iter().map(|entry| &*entry.name).collect();
    let functions = file.module.functions.iter().filter(|of| of.code.is_some()).map(|of| &*of.name).collect();
    [entries, functions, file.module.variables.iter().map(|of| &*of.name).collect()]
}

#[test]
fn extern_symbols_refer_to_definitions_in_other_texts() {
    let uses = ".extern .func (.param .b32 r) next(.param .b32 a);\n.extern .global .align 4 .u32 total;\n\
        .visible .global .align 8 .u64 where[2] = {generic(total), 0};\n\
        .visible .entry k() {\n.reg .b32 %r; .reg .b64 %d;\nld.global.u32 %r, [total];\n{ .param .b32 p; .param .b32 q; \
        st.param.b32 [p], %r; call (q), next, (p); ld.param.b32 %r, [q]; }\nst.global.u32 [total], %r;\nret;\n}\n";
    let defines = ".visible .global .align 4 .u32 total = 7;\n.visible .func (.param .b32 r) next(.param .b32 a)\n{\n\
        .reg .b32 %r;\nld.param.b32 %r, [a];\nadd.u32 %r, %r, 1;\nst.param.b32 [r], %r;\nret;\n}\n";
    for texts in [[uses, defines], [defines, uses]] {
        let file = linked(&texts);
        let [entries, functions, mut variables] = names(&file);
        variables.sort_unstable();
        assert_eq!((entries, functions, variables), (vec!["k"], vec!["next"], vec!["total", "where"]));
        assert!(file.refused.is_empty() && file.unsupported.is_empty());
    }
}

#[test]
fn local_symbols_stay_apart() {
    let text = |value: u32, name: &str| {
        format!(
            ".global .u32 held = {value};\n.func help()\n{{\n.reg .b32 %r;\nld.global.u32 %r, [held];\nret;\n}}\n\
             .visible .entry {name}() {{\ncall help, ();\nret;\n}}\n"
        )
    };
    let (first, second, third) = (text(1, "a"), text(2, "b"), ".visible .global .u32 held$2;\n");
    let file = linked(&[&first, &second, third]);
    let [entries, functions, variables] = names(&file);
    assert_eq!((entries, functions), (vec!["a", "b"], vec!["help", "help$2"]));
    assert_eq!(variables, ["held", "held$3", "held$2"]);
    let bytes: Vec<u8> = file.module.variables.iter().map(|of| of.bytes[0]).collect();
    assert_eq!(bytes, [1, 2, 0]);
}

#[test]
fn one_definition_of_a_weak_or_common_symbol_is_used() {
    let weak = ".weak .global .align 4 .u32 x = 1;\n.common .global .align 8 .u64 env;\n.weak .func f()\n{\nret;\n}\n";
    let other =
        ".weak .global .align 4 .u32 x = 2;\n.common .global .align 8 .u64 env;\n.weak .func f()\n{\ntrap;\nret;\n}\n";
    let strong = ".visible .global .align 4 .u32 x = 3;\n.visible .func f()\n{\ntrap;\ntrap;\nret;\n}\n";
    let summary = |texts: &[&str]| {
        let file = linked(texts);
        let x = file.module.variables.iter().find(|of| of.name == "x").map(|of| of.bytes[0]);
        let code = file.module.functions[0].code.as_ref().map(|code| code.body.insts.len());
        (file.module.variables.len(), x, code)
    };
    assert_eq!(summary(&[weak, other]), (2, Some(1), Some(1)));
    assert_eq!(summary(&[other, weak]), (2, Some(2), Some(2)));
    assert_eq!(summary(&[weak, strong, other]), (2, Some(3), Some(3)));
}

#[test]
fn two_strong_definitions_are_an_error() {
    let text = |body: &str| format!("{HEAD}{body}");
    let [x, f, k] =
        [".visible .global .u32 x;\n", ".visible .func f()\n{\nret;\n}\n", ".entry k() { ret; }\n"].map(text);
    for (symbol, of) in [("x", &x), ("f", &f), ("k", &k)] {
        let empty = text("");
        let duplicate = LinkError::Duplicate { symbol: symbol.to_owned(), first: 0, second: 2 };
        assert_eq!(link(&[of, &empty, of]), Err(duplicate));
    }
    let error = link(&[&x, &x]).unwrap_err();
    assert_eq!(error.to_string(), "`x` is defined in text 1 and in text 2");
    for (wrong, message) in [
        (format!("{HEAD}\"open\n"), "text 2: 4:1: "),
        (format!("{HEAD}ret;\n"), "text 2: 4:1: expected a directive; found `ret`"),
        (format!("{HEAD}/* open\n"), "text 2: 4:1: "),
    ] {
        let error = link(&[&x, &wrong]).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn source_locations_and_versions_are_those_of_the_texts() {
    let text = |name: &str, file: &str, line: u32| {
        format!(
            ".visible .entry {name}() {{\n.loc 1 {line} 3\nret;\n.loc 2 9 1, function_name $L, inlined_at 1 {line} 3\nret;\n}}\n\
             .file 1 \"{file}\"\n.file 2 \"shared.h\", 5, 6\n.section .debug_str {{ $L: .b8 65, 0 }}\n"
        )
    };
    let first = format!(".version 7.8\n.target sm_90\n.address_size 64\n{}", text("a", "a.cu", 4));
    let second = format!(".version 8.3 .target sm_75, debug .address_size 64\n{}", text("b", "b.cu", 5));
    let file = read(&link(&[&first, &second]).unwrap()).unwrap();
    assert_eq!((file.module.version, file.module.target.sm), ((8, 3), 90));
    let files = |of: &[SourceLocation]| of.iter().map(|of| file.file(of.file).unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(files(&file.sources[0]), ["a.cu", "shared.h"]);
    assert_eq!(files(&file.sources[1]), ["b.cu", "shared.h"]);
    let origin = |number: usize| file.source_of(file.locs[number][1]).unwrap().to_string();
    assert_eq!(
        (origin(0), origin(1)),
        ("shared.h:9, inlined at a.cu:4".into(), "shared.h:9, inlined at b.cu:5".into())
    );
}

#[test]
fn undefined_symbols_stay_external() {
    let uses = |name: &str| {
        format!(
            ".extern .func f();\n.extern .shared .align 16 .b8 rest[];\n.entry {name}() {{\n\
        .reg .b32 %r;\nmov.u32 %r, rest;\ncall f, ();\nret;\n}}\n"
        )
    };
    let texts = [uses("a"), uses("b")].map(|text| format!("{HEAD}{text}"));
    let made = link(&[&texts[0], &texts[1]]).unwrap();
    let file = halfbyte_isa::ptx::text::read_each(&made).unwrap();
    assert_eq!(file.refused.iter().map(|of| &*of.name).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(file.refused[0].errors[0].to_string(), "10:1: the external function `f` is not supported");
    assert_eq!(file.module.variables.iter().filter(|of| of.linkage == Linkage::Extern).count(), 1);
}

#[test]
fn an_old_declaration_may_lack_its_semicolon() {
    let text = ".visible .func (.param .s32 r) f (.param .s32 a)\n.visible .entry k()\n{\nret;\n}\n.visible .func \
        (.param .s32 r) f (.param .s32 a)\n{\nst.param.s32 [r], 1;\nret;\n}\n";
    let file = linked(&[text, ".visible .global .u32 x;\n"]);
    let [entries, functions, _] = names(&file);
    assert_eq!((entries, functions), (vec!["k"], vec!["f"]));
}

#[test]
fn resources_are_those_of_the_kernel_and_its_functions() {
    let text = format!(
        "{HEAD}.const .align 4 .b8 table[20];\n.const .u32 unused;\n.func f()\n{{\n.local .align 8 .b8 held[40];\n\
         .reg .b64 %d;\nmov.u64 %d, held;\nret;\n}}\n.entry k() .maxntid 64, 2, 1\n{{\n.shared .align 4 .b8 s[96];\n\
         .reg .b32 %r<9>; .reg .b64 %d; .reg .pred %p;\nld.const.u32 %r1, [table];\nmov.u32 %r2, s;\n\
         add.u32 %r3, %r1, %r2;\nsetp.eq.u32 %p, %r3, 0;\ncvt.u64.u32 %d, %r3;\n@%p call f, ();\n\
         st.shared.u64 [%r2], %d;\nret;\n}}\n.entry empty() {{\nret;\n}}\n"
    );
    let file = read(&text).unwrap();
    let [kernel, empty] = [0, 1].map(|number: usize| file.module.entries[number].resources());
    assert_eq!((kernel.shared, kernel.local, kernel.constant, kernel.threads), (96, 40, 20, 128));
    // The most at once are `%r2`, `%r3` and the two words of `%d`.
    assert_eq!((kernel.registers, empty.registers), (4, 1));
    assert_eq!((empty.shared, empty.local, empty.constant, empty.threads), (0, 0, 0, 1024));
}
