//! Tests of the lines of a kernel's source and IR.

use halfbyte_inspect::view::model::{Origin, Shape, Token};
use halfbyte_inspect::view::source::{Defs, of_kernel, of_text, tokens};
use halfbyte_ir::diag::Lines;

fn shown(tokens: &[Token]) -> String {
    let token = |token: &Token| match token {
        Token::Plain(text) => text.clone(),
        Token::Comment(text) => format!("<{text}>"),
        Token::Op(text, _) => format!("*{text}*"),
        Token::Name { text, is_def, .. } => format!("[{text}{}]", if *is_def { "=" } else { "" }),
    };
    tokens.iter().map(token).collect()
}

#[test]
fn splits_lines_into_tokens() {
    let inst = |line| shown(&tokens(line, Shape::Inst, &Defs::new()));
    assert_eq!(inst("  %a1 = add.i32 %b, 3 ; %c"), "[%a1=] = *add.i32* [%b], 3 <; %c>");
    assert_eq!(inst("store %a, %x[%i + 1]"), "*store* [%a], [%x][[%i] + 1]");
    assert_eq!(inst(r#"intrinsic halu "a ; \" %b", %c"#), r#"*intrinsic* halu "a ; \" %b", [%c]"#);
    assert_eq!(inst("%é \"open"), "[%=]é \"open");
    assert_eq!(shown(&tokens("^b(%a: i32):", Shape::Label, &Defs::new())), "^b([%a=]: i32):");
    assert_eq!(shown(&tokens("; a \"b", Shape::Other, &Defs::new())), "<; a \"b>");
}

const TEXT: &str = "; first\nkernel @a() {\n^entry:\n  ret\n}\n\n; not this\n\n; above\nkernel @b(%x: out i32) {\n^entry:\n  \
                    %i = item_id\n  store %i, %x[%i] ; }\n  ret\n} ; end\n; below\n";

#[test]
fn kernel_lines_include_the_comment_above() {
    let module = halfbyte_ir::text::read(TEXT).unwrap();
    let lines = Lines::new(TEXT);
    let numbers = |name: &str| {
        let shown = of_text(module.kernel(name).unwrap(), &lines);
        (shown.first().unwrap().margin.clone(), shown.last().unwrap().margin.clone())
    };
    assert_eq!(numbers("a"), ("1".into(), "5".into()));
    assert_eq!(numbers("b"), ("9".into(), "15".into()));
}

/// The parameter of a loop header has the source positions of the two values that branches pass for
/// it: the initial value, and the value from the loop body.
#[test]
fn block_parameters_are_their_arguments() {
    let text = "kernel @k(%x: out i32) {\n^entry:\n  %i = item_id\n  br ^a(%i)\n^a(%n: i32):\n  %m = add.i32 %n, %i\n  \
                %c = icmp.eq.i32 %m, %i\n  br_if %c, ^b, ^a(%m)\n^b:\n  store %n, %x[%i]\n  ret\n}\n";
    let module = halfbyte_ir::text::read(text).unwrap();
    let kernel = module.kernel("k").unwrap();
    let lines = Lines::new(text);
    for shown in [of_text(kernel, &lines), of_kernel(kernel, &lines)] {
        let names = shown.iter().flat_map(|line| &line.tokens).filter_map(|token| match token {
            Token::Name { text, defs, .. } if text == "%n" => Some(defs.iter().map(|place| place.line).collect()),
            _ => None,
        });
        assert_eq!(names.collect::<Vec<Vec<u32>>>(), [[3, 6], [3, 6], [3, 6]]);
    }
}

#[test]
fn values_have_the_source_positions_of_their_definitions() {
    let module = halfbyte_ir::text::read(TEXT).unwrap();
    let kernel = module.kernel("b").unwrap();
    let lines = Lines::new(TEXT);
    for shown in [of_text(kernel, &lines), of_kernel(kernel, &lines)] {
        let store = shown.iter().find(|line| line.place == Some(Origin { line: 13, column: 3 })).unwrap();
        let defs: Vec<String> = (store.tokens.iter())
            .filter_map(|token| match token {
                Token::Name { defs, .. } => Some(defs.iter().map(Origin::to_string).collect()),
                _ => None,
            })
            .collect();
        assert_eq!(defs, ["12:3", "10:11", "12:3"]);
    }
}
