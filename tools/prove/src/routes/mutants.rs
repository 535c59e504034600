//! Mutation of PTX texts: random changes of operands, types, modifiers, constants and statements.

use halfbyte_ir::witness::Random;
use halfbyte_isa::ptx::module::{BlockLimit, Entry};
use halfbyte_isa::ptx::text;

use halfbyte_testkit::harness::{Arg, Language, Request, Size};

/// Maximum number of attempts to draw a valid mutant.
const DRAWS: usize = 40;

/// Groups of PTX tokens. A mutation replaces a token by another token of its group.
const GROUPS: [&[&str]; 22] = [
    &[
        "u8", "s8", "b8", "u16", "s16", "b16", "u32", "s32", "b32", "u64", "s64", "b64", "f32", "f64", "f16", "f16x2",
        "bf16x2",
    ],
    &["u32", "s32", "b32", "f32"],
    &["u16", "s16", "b16", "f16", "bf16"],
    &["u64", "s64", "b64", "f64"],
    &["f16x2", "bf16x2", "b32"],
    &["lo", "hi", "wide"],
    &["rn", "rz", "rm", "rp"],
    &["rni", "rzi", "rmi", "rpi"],
    &["eq", "ne", "lt", "le", "gt", "ge"],
    &["lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"],
    &["v2", "v4"],
    &["x1", "x2", "x4"],
    &["global", "shared", "local", "const"],
    &["ca", "cg", "cs", "cv"],
    &["add", "sub", "min", "max", "mul", "and", "or", "xor"],
    &["min", "max", "add", "inc", "dec", "and", "or", "xor", "exch"],
    &["shl", "shr", "add", "sub"],
    &["and", "or", "xor"],
    &["all", "any", "uni", "ballot"],
    &["up", "down", "bfly", "idx"],
    &["mad", "fma"],
    &["div", "rem", "mul"],
];

/// Modifiers that a mutation removes or adds.
const OPTIONAL: [&str; 8] = ["sat", "ftz", "volatile", "nc", "trans", "relu", "noftz", "wide"];

/// The tokens of a statement, including blanks and punctuation.
type Words = Vec<String>;

/// Returns a copy of a request with a random mutant of its text, or `None` if no valid mutant was drawn.
pub fn mutant(request: &Request, random: &mut Random) -> Option<Request> {
    let (head, body) = split(&request.text, request.entry.as_deref())?;
    let statements: Vec<Words> = body.0.split_inclusive(';').map(words).collect();
    for _ in 0..DRAWS {
        let mut changed = statements.clone();
        // Most mutants have a single change, because several changes together are seldom valid.
        let changes = 1 + [0, 0, 0, 1, 2][random.below(5)];
        let is_changed = (0..changes).fold(false, |is_changed, _| change(&mut changed, random) || is_changed);
        let text = format!("{head}{}{}", changed.iter().flatten().map(String::as_str).collect::<String>(), body.1);
        if !is_changed || text == request.text {
            continue;
        }
        let mutant = Request { text, ..request.clone() };
        if mutant.is_read() {
            return Some(mutant);
        }
    }
    None
}

/// Splits a text into three parts: the text before the body of a kernel, the body, and the text
/// after it. `entry` is the kernel's name.
fn split<'t>(text: &'t str, entry: Option<&str>) -> Option<(&'t str, (&'t str, &'t str))> {
    let named = entry.and_then(|entry| {
        let is_name = |at: &usize| {
            let before = text[..*at].trim_end();
            let after = text[*at + entry.len()..].chars().next();
            before.ends_with(".entry") && !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
        };
        text.match_indices(entry).map(|(at, _)| at).find(is_name)
    });
    let start = named.or_else(|| text.find(".entry"))?;
    let open = start + text[start..].find('{')?;
    let mut depth = 0;
    let close = text[open..].char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        (depth == 0).then_some(open + at)
    })?;
    Some((&text[..=open], (&text[open + 1..close], &text[close..])))
}

/// Splits a PTX statement into tokens: identifiers, registers and numbers, and the single characters between them.
fn words(statement: &str) -> Words {
    let mut words: Words = Vec::new();
    let mut is_open = false;
    for c in statement.chars() {
        let is_part = c.is_ascii_alphanumeric() || matches!(c, '%' | '_' | '$');
        match words.last_mut() {
            Some(last) if is_open && is_part => last.push(c),
            _ => words.push(c.to_string()),
        }
        is_open = is_part;
    }
    words
}

/// Returns `true` if a statement is an instruction.
fn is_instruction(words: &[String]) -> bool {
    let first = words.iter().find(|word| !word.trim().is_empty());
    first.is_some_and(|first| first != "." && first != ";" && first != "/")
}

/// Applies a random change to one of the statements. Returns `true` if the statement has changed.
fn change(statements: &mut Vec<Words>, random: &mut Random) -> bool {
    let places: Vec<usize> = (0..statements.len()).filter(|&at| is_instruction(&statements[at])).collect();
    if places.is_empty() {
        return false;
    }
    let at = places[random.below(places.len())];
    match random.below(16) {
        0 => {
            statements.remove(at);
            true
        }
        1 => {
            let copy = statements[at].clone();
            statements.insert(places[random.below(places.len())], copy);
            true
        }
        2 => {
            let other = places[random.below(places.len())];
            statements.swap(at, other);
            at != other
        }
        3 => guard(statements, at, random),
        4..=7 => register(statements, at, random),
        8..=10 => number(&mut statements[at], random),
        11 => optional(&mut statements[at], random),
        _ => modifier(statements, (at, &places), random),
    }
}

/// Returns the letters of a register's name, such as `rd` for `%rd4`. Returns `None` if the token is not a register.
fn class(word: &str) -> Option<&str> {
    let letters = word.strip_prefix('%')?.trim_end_matches(|c: char| c.is_ascii_digit());
    (letters.len() + 1 < word.len()).then_some(letters)
}

/// Replaces a register of the statement at index `at` by another register with the same letters.
fn register(statements: &mut [Words], at: usize, random: &mut Random) -> bool {
    let places: Vec<usize> = (0..statements[at].len()).filter(|&k| class(&statements[at][k]).is_some()).collect();
    let Some(&place) = places.get(random.below(places.len())) else { return false };
    let own = class(&statements[at][place]).unwrap_or_default().to_owned();
    let others: Vec<&String> =
        statements.iter().flatten().filter(|word| class(word).is_some_and(|class| class == own)).collect();
    let Some(&other) = others.get(random.below(others.len())) else { return false };
    let other = other.clone();
    let is_new = statements[at][place] != other;
    statements[at][place] = other;
    is_new
}

/// Replaces an integer of a statement by another one.
fn number(words: &mut [String], random: &mut Random) -> bool {
    let value = |word: &String| word.parse::<u64>().ok();
    let places: Vec<usize> = (0..words.len()).filter(|&k| value(&words[k]).is_some()).collect();
    let Some(&place) = places.get(random.below(places.len())) else { return false };
    let Some(old) = value(&words[place]) else { return false };
    let new = match random.below(9) {
        0 => old.wrapping_add(1),
        1 => old.wrapping_sub(1),
        2 => 0,
        3 => old.wrapping_mul(2),
        4 => old / 2,
        5 => old ^ 1 << random.below(16),
        6 => [1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64][random.below(13)],
        7 => old.wrapping_add(4),
        _ => old.wrapping_add(16),
    };
    words[place] = new.to_string();
    new != old
}

/// Negates, removes or adds the guard of the statement at index `at`.
fn guard(statements: &mut [Words], at: usize, random: &mut Random) -> bool {
    let Some(mark) = statements[at].iter().position(|word| word == "@") else {
        let predicates: Vec<String> =
            statements.iter().flat_map(|words| words.iter().skip_while(|word| *word != "@").nth(1)).cloned().collect();
        let Some(predicate) = predicates.get(random.below(predicates.len())).filter(|p| p.starts_with('%')) else {
            return false;
        };
        let first = statements[at].iter().position(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
        let Some(first) = first.filter(|first| statements[at].get(first + 1).is_none_or(|next| next != ":")) else {
            return false;
        };
        statements[at].insert(first, format!("@{predicate} "));
        return true;
    };
    let words = &mut statements[at];
    match words.get(mark + 1).map(String::as_str) {
        Some("!") => drop(words.remove(mark + 1)),
        Some(_) if random.below(3) == 0 => drop(words.drain(mark..mark + 2)),
        Some(_) => words.insert(mark + 1, "!".to_owned()),
        None => return false,
    }
    true
}

/// Removes a modifier from a statement or adds one.
fn optional(words: &mut Words, random: &mut Random) -> bool {
    let there = words.windows(2).position(|pair| pair[0] == "." && OPTIONAL.contains(&pair[1].as_str()));
    if let Some(there) = there {
        words.drain(there..there + 2);
        return true;
    }
    let Some(mark) = words.iter().position(|word| word == ".") else { return false };
    let marks: Vec<usize> = (mark..words.len()).filter(|&k| words[k] == ".").collect();
    let place = marks[random.below(marks.len())];
    words.insert(place, format!(".{}", OPTIONAL[random.below(OPTIONAL.len())]));
    true
}

/// Replaces a mnemonic, type or modifier by another token of its group, or by a token of another instruction.
fn modifier(statements: &mut [Words], (at, places): (usize, &[usize]), random: &mut Random) -> bool {
    let is_group = |word: &String| GROUPS.iter().any(|group| group.contains(&word.as_str()));
    let own: Vec<usize> = (0..statements[at].len()).filter(|&k| is_group(&statements[at][k])).collect();
    let Some(&place) = own.get(random.below(own.len())) else { return false };
    let old = statements[at][place].clone();
    let new = if random.below(8) == 0 {
        let other = &statements[places[random.below(places.len())]];
        let words: Vec<&String> = other.iter().filter(|word| is_group(word)).collect();
        words.get(random.below(words.len())).map(|word| (*word).clone())
    } else {
        let groups: Vec<_> = GROUPS.iter().filter(|group| group.contains(&old.as_str())).collect();
        let group = groups[random.below(groups.len())];
        Some(group[random.below(group.len())].to_owned())
    };
    let Some(new) = new.filter(|new| *new != old) else { return false };
    statements[at][place] = new;
    true
}

/// Returns a launch for each kernel of a text, with random arguments. 64-bit parameters get
/// buffers, all other parameters small numbers.
pub fn launches_of(file: &str, text: &str, random: &mut Random) -> Vec<Request> {
    let Ok(read) = text::read_each(text) else { return Vec::new() };
    let mut launch = |entry: &Entry| {
        let args = entry.params.iter().map(|param| match param.bytes() {
            8 => {
                let bytes = (0..BUFFER / 8).flat_map(|_| random.bits().to_le_bytes()).collect();
                Arg::Buffer { bytes, pointers: Vec::new() }
            }
            bytes => {
                let mut value = vec![0; bytes as usize];
                if let Some(low) = value.first_mut() {
                    *low = 1 + random.below(64) as u8;
                }
                Arg::Value(value)
            }
        });
        let block = match entry.blocks {
            BlockLimit::Exactly(block) => block,
            _ => [32, 1, 1],
        };
        let size = Size::Blocks { grid: [2, 1, 1], block };
        let (entry, args) = (Some(entry.name.clone()), args.collect());
        Request { entry, args, ..Request::new(Language::Ptx, file, text, size) }
    };
    read.module.entries.iter().map(&mut launch).collect()
}

/// Size in bytes of the buffers in the launches of `launches_of`.
const BUFFER: usize = 1 << 13;
