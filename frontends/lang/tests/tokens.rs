//! Tests of the lexer, and of the detection of the kernel language.

use halfbyte_ir::witness::Random;
use halfbyte_lang::is_language;

use lexer::{Tok, tokens};

/// The lexer is private to the crate and depends on no other module, so this test includes its source.
#[allow(dead_code)]
#[path = "../src/lexer.rs"]
mod lexer;

fn shown(source: &str) -> Vec<&str> {
    let spans = tokens(source).into_iter().map(|token| token.span);
    spans.map(|span| &source[span.start as usize..span.end as usize]).collect()
}

#[test]
fn separates_signedness_suffixes_from_names() {
    assert_eq!(shown("a <_u b"), ["a", "<_u", "b", ""]);
    assert_eq!(shown("a <_sum"), ["a", "<", "_sum", ""]);
    assert_eq!(shown("a>>_u=2"), ["a", ">>_u=", "2", ""]);
    assert_eq!(shown("%in + 1.5f16"), ["%in", "+", "1.5f16", ""]);
    assert_eq!(shown("0..n 1e5..2"), ["0", "..", "n", "1e5", "..", "2", ""]);
    assert_eq!(shown("0xff_i8 1_e4m3 2e"), ["0xff_i8", "1_e4m3", "2e", ""]);
}

#[test]
fn a_comment_that_cuts_a_line_is_noticed() {
    let cut = |source: &str| tokens(source).iter().any(|token| token.cut);
    assert!(cut("let a = 1; let b = 2"));
    assert!(!cut("let a = 1 ; one"));
    assert!(!cut("let a = 1;\nlet b = 2;"));
    assert!(!cut("; let a = 1; let b"));
}

/// Token-based reference implementation of [`is_language`].
fn by_tokens(text: &str) -> bool {
    let tokens = tokens(text);
    let mut braces = 0u32;
    for (at, token) in tokens.iter().enumerate() {
        match token.tok {
            Tok::Punct("{") => braces += 1,
            Tok::Punct("}") => braces = braces.saturating_sub(1),
            Tok::Word if braces == 0 && token.fresh => {
                let word = &text[token.span.start as usize..token.span.end as usize];
                let next = tokens.get(at + 1).filter(|next| !next.fresh).map(|next| next.tok);
                match (word, next) {
                    ("kernel" | "fn" | "struct" | "const", Some(Tok::Word | Tok::Name)) => return true,
                    ("include", Some(Tok::Text)) => return true,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    false
}

#[test]
fn detection_agrees_with_the_tokens() {
    #[rustfmt::skip]
    let parts = [
        "kernel", "fn", "struct", "const", "include", "kernels", "9fn", "a", "_b", "%c", "%", "@k", "\"s\"", "\"", "\\", "\"\\\"{\"",
        "{", "}", "{", "}", ";", "; {", "; }", "\n", "\n", "\n", " ", " ", "\t", "\r", "\u{feff}", "\u{e9}", "(", "1.5e+3", "/_s",
        "kernel @k(%x: in f16x2, %n: i32) {\n^entry:\n  %i = item_id ; }\n  ret\n}\n", "\nfn f", "\ninclude \"std/x\"",
    ];
    let mut random = Random(1);
    let mut in_language = 0;
    for _ in 0..100_000 {
        let text: String = (0..random.below(24)).map(|_| parts[random.below(parts.len())]).collect();
        assert_eq!(is_language(&text), by_tokens(&text), "{text:?}");
        in_language += usize::from(is_language(&text));
    }
    assert!((10_000..90_000).contains(&in_language), "{in_language}");
}
