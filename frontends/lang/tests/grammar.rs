//! Tests that the grammar of `docs/language.md` and the parser agree. The parser accepts random
//! sentences of the grammar, and the grammar accepts the project's valid texts.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use halfbyte_lang::format;

/// Node of a grammar rule.
#[derive(Clone, Debug)]
pub enum Node {
    /// Keyword or punctuation token.
    Literal(String),
    Rule(String),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Optional(Box<Node>),
    Repeated(Box<Node>),
}

fn page() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/language.md")).unwrap()
}

/// Returns the grammar's rules by name.
pub fn rules() -> BTreeMap<String, Node> {
    let page = page();
    let text = page.split("```ebnf\n").nth(1).unwrap().split("```").next().unwrap();
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '"' => rest[1..].find('"').unwrap() + 2,
            c if c.is_ascii_alphabetic() => rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len()),
            _ => 1,
        };
        tokens.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    let mut rules = BTreeMap::new();
    for rule in tokens.split(|token| *token == ";").filter(|rule| !rule.is_empty()) {
        assert_eq!(rule[1], "=", "{rule:?}");
        let mut at = 2;
        rules.insert(rule[0].to_owned(), choice(rule, &mut at));
        assert_eq!(at, rule.len(), "{rule:?}");
    }
    rules
}

fn choice(tokens: &[&str], at: &mut usize) -> Node {
    let mut ways = vec![sequence(tokens, at)];
    while tokens.get(*at) == Some(&"|") {
        *at += 1;
        ways.push(sequence(tokens, at));
    }
    if ways.len() == 1 { ways.remove(0) } else { Node::Choice(ways) }
}

fn sequence(tokens: &[&str], at: &mut usize) -> Node {
    let mut parts = Vec::new();
    while let Some(&token) = tokens.get(*at).filter(|token| !["|", ")", "]", "}"].contains(token)) {
        *at += 1;
        let part = match token {
            "(" | "[" | "{" => {
                let inside = choice(tokens, at);
                *at += 1;
                match token {
                    "(" => inside,
                    "[" => Node::Optional(inside.into()),
                    _ => Node::Repeated(inside.into()),
                }
            }
            text if text.starts_with('"') => Node::Literal(text.trim_matches('"').to_owned()),
            name => Node::Rule(name.to_owned()),
        };
        parts.push(part);
    }
    Node::Sequence(parts)
}

struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }
}

/// Appends a random sentence that matches a grammar node.
fn write(rules: &BTreeMap<String, Node>, node: &Node, random: &mut Random, depth: usize, out: &mut String) {
    match node {
        Node::Literal(text) => {
            // `.` and `(` follow the previous token without a space.
            if [".", "("].contains(&text.as_str()) {
                out.truncate(out.trim_end_matches(' ').len());
                out.push_str(text);
                return;
            }
            out.push_str(text);
            out.push(' ');
        }
        Node::Rule(name) => match name.as_str() {
            "name" => out.push_str(["a ", "b1 ", "%in ", "_x ", "i32 ", "step ", "n "][random.below(7)]),
            "number" => out.push_str(["1 ", "0xff ", "1.5f16 ", "2i8 ", "6e-8 ", "0xff_i8 "][random.below(6)]),
            "text" => out.push_str(["\"t\" ", "\"a \\\" b\" "][random.below(2)]),
            "line" => out.push_str(["\n", "\n\n", " ; c\n"][random.below(3)]),
            _ => {
                let node = rules.get(name).unwrap_or_else(|| panic!("{name} is no rule"));
                write(rules, node, random, depth + 1, out);
            }
        },
        Node::Sequence(parts) => parts.iter().for_each(|part| write(rules, part, random, depth, out)),
        Node::Choice(ways) => {
            let way = if depth > 24 { shallowest(ways) } else { random.below(ways.len()) };
            write(rules, &ways[way], random, depth, out);
        }
        Node::Optional(inside) => {
            if depth < 30 && random.below(3) == 0 {
                write(rules, inside, random, depth, out);
            }
        }
        Node::Repeated(inside) => {
            let most = if depth < 4 {
                4
            } else if depth < 26 {
                2
            } else {
                1
            };
            for _ in 0..random.below(most) {
                write(rules, inside, random, depth + 1, out);
            }
        }
    }
}

/// Returns the index of the alternative whose sentences end soonest: a literal, number or name if there is one.
fn shallowest(ways: &[Node]) -> usize {
    let ends = |node: &Node| {
        matches!(node, Node::Sequence(parts) if parts.iter().all(|part| match part {
            Node::Literal(_) => true,
            Node::Rule(name) => ["name", "number", "text", "line", "type"].contains(&name.as_str()),
            _ => false,
        }))
    };
    ways.iter().position(ends).unwrap_or(ways.len() - 1)
}

#[test]
fn the_parser_accepts_sentences_of_the_grammar() {
    let rules = rules();
    let mut random = Random(7);
    let mut seen = 0;
    for number in 0..4000 {
        let mut text = String::new();
        write(&rules, &Node::Rule("module".into()), &mut random, 0, &mut text);
        if text.len() > 20_000 {
            continue;
        }
        seen += 1;
        let written = format(&text).unwrap_or_else(|errors| {
            let shown = halfbyte_ir::Diagnostics { file: "g", source: &text, list: &errors[..1] }.to_string();
            panic!("sentence {number}: {shown}\n{text}")
        });
        let again = format(&written).unwrap_or_else(|errors| panic!("{errors:?}\n{written}"));
        assert_eq!(again, written, "formatted twice:\n{text}");
    }
    assert!(seen > 2000, "{seen}");
}

/// Splits a text into the tokens of the grammar: each with its text and its kind.
fn tokens(text: &str) -> Vec<(String, &'static str)> {
    let mut tokens: Vec<(String, &'static str)> = Vec::new();
    let mut open: Vec<char> = Vec::new();
    let mut rest = text;
    let marks = [
        ">>_s=", ">>_u=", "/_s=", "/_u=", "<<=", ">>_s", ">>_u", "<=_s", "<=_u", ">=_s", ">=_u", "<_s", "<_u", ">_s",
        ">_u", "/_s", "/_u", "==", "!=", "<=", ">=", "<<", "&&", "||", "->", "..", "+=", "-=", "*=", "&=", "|=", "^=",
        "/=",
    ];
    let keywords = [
        "break", "const", "continue", "do", "else", "false", "fn", "for", "if", "in", "include", "inf", "inout",
        "kernel", "let", "nan", "out", "return", "scratch", "shared", "struct", "true", "unroll", "var", "while",
    ];
    while let Some(first) = rest.chars().next() {
        let word = |text: &str| text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
        let (len, kind) = match first {
            '\n' => {
                let goes_on = tokens.last().is_some_and(|(text, kind)| {
                    *kind == "mark"
                        && ![")", "]", "}"].contains(&text.as_str())
                        && (text != "{" || open.last() == Some(&'s'))
                });
                let inside = matches!(open.last(), Some('(' | '[' | 's'));
                let ends = !goes_on && !tokens.is_empty() || tokens.last().is_some_and(|(text, _)| text == "{");
                if ends && !inside && tokens.last().is_some_and(|(_, kind)| *kind != "line") {
                    tokens.push((String::new(), "line"));
                }
                rest = &rest[1..];
                continue;
            }
            c if c.is_whitespace() => {
                rest = &rest[c.len_utf8()..];
                continue;
            }
            ';' => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '"' => (rest[1..].find('"').unwrap() + 2, "text"),
            '%' => (1 + word(&rest[1..]), "name"),
            c if c.is_ascii_alphabetic() || c == '_' => {
                let len = word(rest);
                (len, if keywords.contains(&&rest[..len]) { "word" } else { "name" })
            }
            c if c.is_ascii_digit() => {
                let mut len = word(rest);
                if rest[len..].starts_with('.') && !rest[len..].starts_with("..") {
                    len += 1 + word(&rest[len + 1..]);
                }
                if rest[..len].ends_with('e') && rest[len..].starts_with('-') {
                    len += 1 + word(&rest[len + 1..]);
                }
                (len, "number")
            }
            _ => (marks.iter().find(|mark| rest.starts_with(**mark)).map_or(1, |mark| mark.len()), "mark"),
        };
        let token = rest[..len].to_owned();
        if token == "else" && tokens.last().is_some_and(|(_, kind)| *kind == "line") {
            tokens.pop();
        }
        match token.as_str() {
            "{" if tokens.len() >= 2 && tokens[tokens.len() - 2].0 == "struct" => open.push('s'),
            "(" | "[" | "{" => open.push(first),
            ")" | "]" | "}" => {
                open.pop();
            }
            _ => {}
        }
        tokens.push((token, kind));
        rest = &rest[len..];
    }
    if tokens.last().is_some_and(|(_, kind)| *kind != "line") {
        tokens.push((String::new(), "line"));
    }
    tokens
}

struct Recogniser<'r> {
    rules: &'r BTreeMap<String, Node>,
    tokens: Vec<(String, &'static str)>,
    memo: HashMap<(String, usize), BTreeSet<usize>>,
    furthest: usize,
}

impl Recogniser<'_> {
    /// Returns the positions at which a match of `node` that begins at `at` can end.
    fn ends(&mut self, node: &Node, at: usize) -> BTreeSet<usize> {
        match node {
            Node::Literal(text) => {
                let found = self.tokens.get(at).is_some_and(|(token, _)| token == text);
                self.furthest = self.furthest.max(at + usize::from(found));
                if found { [at + 1].into() } else { BTreeSet::new() }
            }
            Node::Rule(name) if ["name", "number", "text", "line"].contains(&name.as_str()) => {
                let found = self.tokens.get(at).is_some_and(|(_, kind)| kind == name);
                self.furthest = self.furthest.max(at + usize::from(found));
                if found { [at + 1].into() } else { BTreeSet::new() }
            }
            Node::Rule(name) => {
                if let Some(ends) = self.memo.get(&(name.clone(), at)) {
                    return ends.clone();
                }
                let rules = self.rules;
                let ends = self.ends(&rules[name], at);
                self.memo.insert((name.clone(), at), ends.clone());
                ends
            }
            Node::Sequence(parts) => {
                let mut ends = BTreeSet::from([at]);
                for part in parts {
                    ends = ends.into_iter().flat_map(|at| self.ends(part, at)).collect();
                }
                ends
            }
            Node::Choice(ways) => ways.iter().flat_map(|way| self.ends(way, at)).collect(),
            Node::Optional(inside) => {
                let mut ends = self.ends(inside, at);
                ends.insert(at);
                ends
            }
            Node::Repeated(inside) => {
                let mut all = BTreeSet::from([at]);
                let mut new = all.clone();
                while !new.is_empty() {
                    let next: BTreeSet<usize> = new.iter().flat_map(|&at| self.ends(inside, at)).collect();
                    new = next.difference(&all).copied().collect();
                    all.extend(&new);
                }
                all
            }
        }
    }
}

/// Returns texts in the kernel language from the documentation, the examples and the standard library.
fn texts() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut texts: Vec<(String, String)> = Vec::new();
    for folder in
        ["examples", "examples/known", "examples/groups", "frontends/lang/std", "tests/files/lang", "docs/first-kernel"]
    {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        for entry in
            entries.filter_map(Result::ok).filter(|entry| entry.path().extension().is_some_and(|is| is == "hb"))
        {
            texts.push((entry.path().display().to_string(), std::fs::read_to_string(entry.path()).unwrap()));
        }
    }
    for page in ["language.md", "cuda.md", "std.md"] {
        let Ok(page) = std::fs::read_to_string(root.join("docs").join(page)) else { continue };
        for text in page.split("```").skip(1).step_by(2) {
            let text = text.split_once('\n').map_or("", |(_, text)| text);
            texts.push(("a page".into(), text.to_owned()));
        }
    }
    texts.retain(|(_, text)| halfbyte_lang::is_language(text) && !text.contains("kernel @") && !text.starts_with('$'));
    texts.sort();
    texts
}

#[test]
fn the_grammar_accepts_valid_texts() {
    let rules = rules();
    let mut count = 0;
    for (name, text) in texts() {
        if format(&text).is_err() {
            continue;
        }
        let mut recogniser = Recogniser { rules: &rules, tokens: tokens(&text), memo: HashMap::new(), furthest: 0 };
        let ends = recogniser.ends(&Node::Rule("module".into()), 0);
        let all = recogniser.tokens.len();
        let at = recogniser.furthest;
        let around = &recogniser.tokens[at.saturating_sub(8)..(at + 3).min(all)];
        assert!(ends.contains(&all), "{name}: the grammar has no {around:?}\n{text}");
        count += 1;
    }
    assert!(count >= 2, "{count} texts");
}

#[test]
fn our_own_texts_are_formatted() {
    let wrong: Vec<String> = texts()
        .into_iter()
        .filter(|(name, _)| name != "a page")
        .filter(|(_, text)| format(text).as_ref().is_ok_and(|written| written != text))
        .map(|(name, _)| name)
        .collect();
    assert!(wrong.is_empty(), "`halfbyte fmt` changes {wrong:?}");
}
