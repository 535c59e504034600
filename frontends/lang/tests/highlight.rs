//! TextMate grammar for the syntax highlighting of the kernel language. It is generated from the
//! grammar in the documentation, the types and the ops. `HALFBYTE_BLESS=1` regenerates the file.

use std::fmt::Write;
use std::path::Path;

use halfbyte_ir::{Op, Type};

use crate::grammar::{Node, rules};

/// Collects the keywords among the literals of a grammar rule.
fn words(node: &Node, found: &mut Vec<String>) {
    match node {
        Node::Literal(word) if word.starts_with(|c: char| c.is_ascii_alphabetic()) => found.push(word.clone()),
        Node::Literal(_) | Node::Rule(_) => {}
        Node::Sequence(parts) | Node::Choice(parts) => parts.iter().for_each(|part| words(part, found)),
        Node::Optional(part) | Node::Repeated(part) => words(part, found),
    }
}

/// Formats names as alternatives of a regular expression, the longest first.
fn ways(mut names: Vec<String>) -> String {
    names.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    names.dedup();
    names.join("|")
}

fn textmate() -> String {
    const CONSTANTS: [&str; 4] = ["true", "false", "inf", "nan"];
    let mut all = Vec::new();
    rules().values().for_each(|rule| words(rule, &mut all));
    let keywords = all.iter().filter(|word| !CONSTANTS.contains(&word.as_str())).cloned().collect();
    let types = ways(Type::ALL.iter().map(|ty| ty.name().to_owned()).collect());
    let ops = ways(Op::ALL.iter().map(|op| op.name().to_owned()).collect());
    let patterns = [
        ("comment.line.semicolon.halfbyte", ";.*$".to_owned()),
        ("string.quoted.double.halfbyte", "\"(\\\\.|[^\"\\\\])*\"".to_owned()),
        ("variable.other.halfbyte", "[%@^][A-Za-z0-9_]+".to_owned()),
        ("constant.language.halfbyte", format!("\\b({})\\b", CONSTANTS.join("|"))),
        (
            "constant.numeric.halfbyte",
            format!("\\b(0x[0-9A-Fa-f]+|[0-9]+(\\.[0-9]+)?(e[+-]?[0-9]+)?)(_?({types}))?\\b"),
        ),
        ("keyword.control.halfbyte", format!("\\b({})\\b", ways(keywords))),
        ("storage.type.halfbyte", format!("\\b({types})\\b")),
        ("support.function.halfbyte", format!("\\b({ops})\\b(?=[.(])")),
        ("entity.name.function.halfbyte", "\\b[A-Za-z_][A-Za-z0-9_]*(?=\\()".to_owned()),
    ];
    let mut text = "{\n  \"name\": \"halfbyte\",\n  \"scopeName\": \"source.halfbyte\",\n  \"fileTypes\": [\"hb\"],\n  \"patterns\": [\n".to_owned();
    for (at, (name, pattern)) in patterns.iter().enumerate() {
        let escaped = pattern.replace('\\', "\\\\").replace('"', "\\\"");
        let comma = if at + 1 < patterns.len() { "," } else { "" };
        let _ = writeln!(text, "    {{ \"name\": \"{name}\", \"match\": \"{escaped}\" }}{comma}");
    }
    text + "  ]\n}\n"
}

#[test]
fn the_highlighting_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vscode/syntaxes/halfbyte.tmLanguage.json");
    let made = textmate();
    if std::env::var_os("HALFBYTE_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == made, "{} is not what the language has: HALFBYTE_BLESS=1 writes it", path.display());
    // Sanity check: the pattern lists contain typical keywords and ops.
    for word in ["kernel", "unroll", "may_alias", "i8x16", "dot4_s"] {
        assert!(made.contains(&format!("{word}|")) || made.contains(&format!("|{word})")), "{word}");
    }
}
