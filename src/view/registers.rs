//! Which instruction each register's contents come from, and how long they are needed.

use std::collections::HashMap;

use halfbyte_isa::row::RegFile;

use super::model::{Entry, Place, Places, Token};

/// A hardware register: its file and number.
pub(super) type Register = (RegFile, u8);

/// A part of a register that is written by itself: the register, and of flags the bit.
pub(super) type Cell = (Register, u8);

/// What runs at once: an instruction, or a bundle.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// What it reads.
    pub reads: Vec<Cell>,
    /// What it writes, and where the instruction comes from that does.
    pub writes: Vec<(Cell, Option<Place>)>,
    /// It may also leave what it writes as it was.
    pub may_skip: bool,
    /// What can follow, by number.
    pub successors: Vec<usize>,
}

/// A register being read.
#[derive(Clone, Debug)]
pub(super) struct Use {
    /// The register.
    pub register: Register,
    /// By which node.
    pub node: usize,
    /// Where the instructions come from whose results it may find.
    pub defs: Places,
    /// Where it is needed until then: 2n before node n, 2n + 1 after it. In no order, some more than once.
    pub held: Vec<usize>,
}

/// Every use of a register that some node writes before.
pub(super) fn uses(nodes: &[Node]) -> Vec<Use> {
    let mut predecessors = vec![Vec::new(); nodes.len()];
    for (number, node) in nodes.iter().enumerate() {
        for &to in &node.successors {
            if let Some(list) = predecessors.get_mut(to) {
                list.push(number);
            }
        }
    }
    // The last search that came by a node.
    let mut seen = vec![0usize; nodes.len()];
    let mut uses: Vec<Use> = Vec::new();
    let mut search = 0;
    for (number, node) in nodes.iter().enumerate() {
        for &cell in &node.reads {
            search += 1;
            let mut found = Use { register: cell.0, node: number, defs: Places::new(), held: vec![2 * number] };
            let mut is_written = false;
            let mut todo: Vec<usize> = predecessors.get(number).cloned().unwrap_or_default();
            while let Some(at) = todo.pop() {
                let Some(last) = seen.get_mut(at) else { continue };
                if std::mem::replace(last, search) == search {
                    continue;
                }
                found.held.push(2 * at + 1);
                let Some(before) = nodes.get(at) else { continue };
                let written = before.writes.iter().filter(|(to, _)| *to == cell);
                let places: Vec<Option<Place>> = written.map(|&(_, place)| place).collect();
                is_written |= !places.is_empty();
                let is_kept = places.is_empty() || before.may_skip;
                found.defs.extend(places.into_iter().flatten());
                if is_kept {
                    found.held.push(2 * at);
                    todo.extend(predecessors.get(at).into_iter().flatten());
                }
            }
            if is_written {
                uses.push(found);
            }
        }
    }
    uses
}

/// What an instruction does with registers.
#[derive(Default)]
pub(super) struct Touched {
    /// What it reads, and where that comes from.
    pub reads: HashMap<Register, Places>,
    /// What it writes.
    pub writes: Vec<Register>,
}

/// What each node does with registers.
pub(super) fn touched(nodes: &[Node], uses: &[Use]) -> Vec<Touched> {
    let mut all: Vec<Touched> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let writes = node.writes.iter().map(|(cell, _)| cell.0).collect();
        all.push(Touched { reads: HashMap::new(), writes });
    }
    for of in uses {
        if let Some(touched) = all.get_mut(of.node) {
            touched.reads.entry(of.register).or_default().extend(&of.defs);
        }
    }
    all
}

/// The name of a register in assembly.
pub(super) fn name((file, number): Register) -> String {
    match file {
        RegFile::Va | RegFile::Vx => file.prefix().to_owned(),
        _ => format!("{}{number}", file.prefix()),
    }
}

/// An instruction without the semicolon that HALU's end in.
pub(super) fn without_end(assembly: &str) -> &str {
    assembly.trim_end_matches([' ', ';'])
}

/// A line of assembly in its parts. `place` is where it comes from.
pub(super) fn tokens(assembly: &str, entry: Option<Entry>, touched: &Touched, place: Option<Place>) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut guarded = false;
    let mut has_op = false;
    let mut written: Vec<Register> = Vec::new();
    for part in parts(without_end(assembly)) {
        let is_word = part.starts_with(is_in_word);
        if part == "@" {
            guarded = true;
        }
        if !is_word {
            match tokens.last_mut() {
                Some(Token::Plain(text)) => text.push_str(part),
                _ => tokens.push(Token::Plain(part.to_owned())),
            }
            continue;
        }
        if !has_op && !guarded {
            has_op = true;
            tokens.push(Token::Op(part.to_owned(), entry));
            continue;
        }
        // A destination stands before the sources that are the same register.
        let meant = |registers: &mut dyn Iterator<Item = Register>| -> Vec<Register> {
            registers.filter(|&register| means(part, register)).collect()
        };
        let mut new = touched.writes.iter().copied().filter(|register| !written.contains(register));
        let defined = if guarded { Vec::new() } else { meant(&mut new) };
        let read = meant(&mut touched.reads.keys().copied());
        guarded = false;
        let defs: Places = match defined.is_empty() {
            false => place.into_iter().collect(),
            true => read.iter().filter_map(|register| touched.reads.get(register)).flatten().copied().collect(),
        };
        if defined.is_empty() && defs.is_empty() {
            match tokens.last_mut() {
                Some(Token::Plain(text)) => text.push_str(part),
                _ => tokens.push(Token::Plain(part.to_owned())),
            }
        } else {
            tokens.push(Token::Name { text: part.to_owned(), defs, is_def: !defined.is_empty() });
        }
        written.extend(defined);
    }
    tokens
}

/// Whether a word of assembly names a register, alone or in a tuple: `$v4q` has `$v4` to `$v7` in it, `$v4d` has `$v4` and `$v5`.
fn means(word: &str, register: Register) -> bool {
    let (file, number) = register;
    if word == name(register) {
        return true;
    }
    let Some(rest) = word.strip_prefix(file.prefix()) else { return false };
    let tuple = |letter: char, count: u8| {
        let first = rest.strip_suffix(letter)?.parse::<u8>().ok()?;
        Some(first / count == number / count)
    };
    tuple('d', 2).or_else(|| tuple('q', 4)).unwrap_or(false)
}

fn is_in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$')
}

/// The words of a line of assembly, and each character between them.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = match is_in_word(first) {
            true => rest.find(|c| !is_in_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (part, after) = rest.split_at_checked(length)?;
        rest = after;
        Some(part)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const R0: Cell = ((RegFile::Gpr, 0), 0);

    fn place(line: u32) -> Option<Place> {
        Some(Place { line, column: 1 })
    }

    fn lines(found: &Use) -> Vec<u32> {
        found.defs.iter().map(|place| place.line).collect()
    }

    #[test]
    fn a_use_finds_every_definition_that_reaches_it() {
        // 0 writes; 1 branches to 3; 2 writes; 3 reads; 3 goes back to 1.
        let node = |writes: bool, line, successors: &[usize]| Node {
            writes: if writes { vec![(R0, place(line))] } else { Vec::new() },
            successors: successors.to_vec(),
            ..Node::default()
        };
        let mut nodes = vec![node(true, 1, &[1]), node(false, 2, &[2, 3]), node(true, 3, &[3]), node(false, 4, &[1])];
        nodes[3].reads = vec![R0];
        let found = uses(&nodes);
        assert_eq!(lines(&found[0]), [1, 3]);
        let mut held = found[0].held.clone();
        held.sort_unstable();
        held.dedup();
        assert_eq!(held, [1, 2, 3, 5, 6, 7], "after 0, around 1, after 2, around 3");
        nodes[2].may_skip = true;
        nodes[1].successors = vec![2];
        assert_eq!(lines(&uses(&nodes)[0]), [1, 3], "what may be skipped keeps what was there");
        nodes[2].may_skip = false;
        assert_eq!(lines(&uses(&nodes)[0]), [3]);
    }

    #[test]
    fn what_nothing_writes_is_no_use() {
        let node = Node { reads: vec![R0], ..Node::default() };
        assert!(uses(&[node]).is_empty());
    }

    #[test]
    fn registers_in_assembly_are_found() {
        let v = |number| (RegFile::V, number);
        let mut touched = Touched::default();
        touched.reads.insert(v(7), Places::from([place(1).unwrap()]));
        touched.reads.insert(v(9), Places::from([place(2).unwrap()]));
        touched.writes.push(v(7));
        let shown = |assembly: &str| -> Vec<String> {
            let name = |token: Token| match token {
                Token::Name { text, is_def, defs } => {
                    Some(format!("{text} {is_def} {}", defs.first().map_or(0, |p| p.line)))
                }
                _ => None,
            };
            tokens(assembly, None, &touched, place(3)).into_iter().filter_map(name).collect()
        };
        assert_eq!(shown("vmin u $v7 $v7 $v9"), ["$v7 true 3", "$v7 false 1", "$v9 false 2"]);
        assert_eq!(shown("x $v8d $v1d"), ["$v8d false 2"]);
        assert_eq!(shown("x $v4q"), ["$v4q true 3"]);
        assert_eq!(shown(""), Vec::<String>::new());
    }
}
