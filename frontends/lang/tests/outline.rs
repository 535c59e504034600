//! Tests of the outline of a text.

use halfbyte_ir::Span;
use halfbyte_lang::outline;

const TEXT: &str = "fn f(a: i32) -> i32 {\n  var s = a\n  for k in 0..4 {\n    s += k\n    s = s *\n      2\n  }\n  s\n}\n\
                    kernel k(y: out i32) {\n  let (p, q) = g(1)\n  y[0] = f(p)\n}\n";

#[test]
fn lists_statements_without_nested_statements() {
    let items = outline(TEXT);
    let text = |span: &Span| &TEXT[span.start as usize..span.end as usize];
    let statements: Vec<&str> = items[0].statements.iter().map(text).collect();
    assert_eq!(statements, ["var s = a", "s += k", "s = s *\n      2", "s"]);
    assert!(!items[0].is_kernel && items[1].is_kernel);
    assert_eq!((items[0].calls.len(), items[1].calls.as_slice()), (0, [0].as_slice()));
    assert_eq!(text(&items[0].at), "f");
    assert!(text(&items[0].span).ends_with("s\n}"));
}

#[test]
fn names_link_to_their_assignments() {
    let items = outline(TEXT);
    let text = |span: Span| &TEXT[span.start as usize..span.end as usize];
    let names: Vec<(&str, bool, &str)> =
        items[0].names.iter().map(|name| (text(name.span), name.is_declared, name.set_by.map_or("", text))).collect();
    assert_eq!(names[0], ("a", true, "a: i32"));
    assert_eq!(names[1], ("s", true, "var s = a"));
    assert!(names.contains(&("k", true, "for k in 0..4 ")));
    assert!(names.contains(&("s", false, "s += k")));
    assert_eq!(names.iter().filter(|name| name.2.is_empty()).count(), 4, "{names:?}");
}

/// The outline of plain IR and of text that cannot be parsed is empty.
#[test]
fn any_text_has_an_outline() {
    assert!(outline("kernel @k() {\n^entry:\n  ret\n}\n").is_empty());
    assert!(outline("}}}").is_empty());
}
