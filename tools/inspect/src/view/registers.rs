//! Analysis of registers: the instructions that define the contents of each register, and the live
//! ranges of the contents.

use std::collections::HashMap;
use std::rc::Rc;

use halfbyte_isa::row::RegFile;

use super::model::{Entry, Origin, Origins, Token};

/// A hardware register: its register file and its number.
pub type Register = (RegFile, u8);

/// A part of a register that instructions write independently: the register and, in a flags
/// register, the number of the bit.
pub type Cell = (Register, u8);

/// A node of the control-flow graph: a HALU instruction or a VP1 bundle.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The parts of registers that the node reads.
    pub reads: Vec<Cell>,
    /// The parts of registers that the node writes, each with the source position of the writing instruction.
    pub writes: Vec<(Cell, Option<Origin>)>,
    /// `true` if the node writes its registers only under a condition.
    pub may_skip: bool,
    /// The indices of the successor nodes.
    pub successors: Vec<usize>,
}

/// A use of a register by a node.
#[derive(Clone, Debug)]
pub struct Use {
    /// The register that is read.
    pub register: Register,
    /// The index of the node that reads the register.
    pub node: usize,
    /// The source positions of the definitions that reach the use.
    pub defs: Rc<Origins>,
}

/// A live range of a register.
#[derive(Clone, Debug)]
pub struct Held {
    /// The register.
    pub register: Register,
    /// The start: 2n is before node n, and 2n + 1 is after it.
    pub start: usize,
    /// The exclusive end, in the unit of `start`.
    pub end: usize,
    /// The source positions of the definitions that reach the live range.
    pub defs: Rc<Origins>,
}

/// The uses and the live ranges of all registers.
#[derive(Debug, Default)]
pub struct Contents {
    /// The uses of registers that an earlier node has written.
    pub uses: Vec<Use>,
    /// The live ranges. The live ranges of each part of a register are in order.
    pub held: Vec<Held>,
}

/// Computes the uses and the live ranges of all registers. Each part of a register is analysed
/// separately, only at the nodes where it is live.
pub fn contents(nodes: &[Node]) -> Contents {
    let mut predecessors = vec![Vec::new(); nodes.len()];
    for (number, node) in nodes.iter().enumerate() {
        for &to in &node.successors {
            if let Some(list) = predecessors.get_mut(to) {
                list.push(number);
            }
        }
    }
    let mut numbers: HashMap<Cell, usize> = HashMap::new();
    let mut readers: Vec<(Cell, Vec<usize>)> = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        for &cell in &node.reads {
            let at = *numbers.entry(cell).or_insert(readers.len());
            match readers.get_mut(at) {
                Some((_, all)) => all.push(number),
                None => readers.push((cell, vec![number])),
            }
        }
    }
    let mut search = Search { nodes, predecessors, points: vec![None; 2 * nodes.len()] };
    let mut found = Contents::default();
    for (cell, readers) in &readers {
        search.cell(*cell, readers, &mut found);
    }
    found.uses.sort_by_key(|of| of.node);
    found
}

/// The definitions that reach a point at which a part of a register is live.
#[derive(Clone, Default)]
struct ReachingDefs {
    defs: Rc<Origins>,
    /// `true` if an earlier node writes the part of the register.
    is_written: bool,
}

impl ReachingDefs {
    fn is(&self, other: &ReachingDefs) -> bool {
        self.is_written == other.is_written && (Rc::ptr_eq(&self.defs, &other.defs) || self.defs == other.defs)
    }
}

struct Search<'n> {
    nodes: &'n [Node],
    predecessors: Vec<Vec<usize>>,
    /// The reaching definitions before and after each node; `None` where the analysed part of a register is not live.
    points: Vec<Option<ReachingDefs>>,
}

impl Search<'_> {
    /// Analyses the part `cell` of a register, which the nodes `readers` read. Appends the result to `found`.
    fn cell(&mut self, cell: Cell, readers: &[usize], found: &mut Contents) {
        let mut live: Vec<usize> = Vec::new();
        let mut left: Vec<usize> = readers.to_vec();
        let mut goes_back = false;
        while let Some(number) = left.pop() {
            if !self.mark(2 * number) {
                continue;
            }
            live.push(2 * number);
            for at in 0..self.predecessors.get(number).map_or(0, Vec::len) {
                let Some(&before) = self.predecessors.get(number).and_then(|all| all.get(at)) else { continue };
                goes_back |= before >= number;
                if self.mark(2 * before + 1) {
                    live.push(2 * before + 1);
                    let node = self.nodes.get(before);
                    if node.is_some_and(|node| node.may_skip || node.writes.iter().all(|(to, _)| *to != cell)) {
                        left.push(before);
                    }
                }
            }
        }
        live.sort_unstable();
        while self.spread(cell, &live) && goes_back {}
        for &number in readers {
            if let Some(Some(ReachingDefs { defs, is_written: true })) = self.points.get(2 * number) {
                found.uses.push(Use { register: cell.0, node: number, defs: defs.clone() });
            }
        }
        let mut last: Option<Held> = None;
        for point in live {
            let Some(ReachingDefs { defs, is_written: true }) = self.points.get_mut(point).and_then(Option::take)
            else {
                continue;
            };
            match &mut last {
                Some(last) if last.end == point && Rc::ptr_eq(&last.defs, &defs) => last.end = point + 1,
                last => {
                    let held = Held { register: cell.0, start: point, end: point + 1, defs };
                    found.held.extend(last.replace(held));
                }
            }
        }
        found.held.extend(last);
    }

    /// Marks a point as live. Returns `true` if the point was not live before.
    fn mark(&mut self, point: usize) -> bool {
        self.points.get_mut(point).is_some_and(|point| point.replace(ReachingDefs::default()).is_none())
    }

    /// Propagates the reaching definitions once to all live points, in order. Returns `true` if anything changed.
    fn spread(&mut self, cell: Cell, live: &[usize]) -> bool {
        let mut changed = false;
        for &point in live {
            let number = point / 2;
            let holds = match point % 2 {
                0 => self.entering(number),
                _ => self.leaving(cell, number),
            };
            if let Some(known) = self.points.get_mut(point).and_then(Option::as_mut)
                && !known.is(&holds)
            {
                *known = holds;
                changed = true;
            }
        }
        changed
    }

    /// Returns the definitions that reach the point before a node.
    fn entering(&self, number: usize) -> ReachingDefs {
        let before = self.predecessors.get(number).into_iter().flatten();
        let mut all = before.filter_map(|&before| self.points.get(2 * before + 1)?.as_ref());
        let Some(first) = all.next() else { return ReachingDefs::default() };
        let mut holds = first.clone();
        for other in all {
            holds.is_written |= other.is_written;
            if !Rc::ptr_eq(&holds.defs, &other.defs) && holds.defs != other.defs {
                Rc::make_mut(&mut holds.defs).add(&*other.defs);
            }
        }
        holds
    }

    /// Returns the definitions that reach the point after a node.
    fn leaving(&self, cell: Cell, number: usize) -> ReachingDefs {
        let Some(node) = self.nodes.get(number) else { return ReachingDefs::default() };
        let before = || self.points.get(2 * number).cloned().flatten().unwrap_or_default();
        let mut written = node.writes.iter().filter(|(to, _)| *to == cell).map(|(_, place)| place).peekable();
        if written.peek().is_none() {
            return before();
        }
        let mut holds = if node.may_skip { before() } else { ReachingDefs::default() };
        holds.is_written = true;
        Rc::make_mut(&mut holds.defs).add(written.flatten());
        holds
    }
}

/// The registers that an instruction reads and writes.
#[derive(Default)]
pub struct Touched {
    /// The registers that are read, each with the source positions of its definitions.
    pub reads: HashMap<Register, Origins>,
    /// The registers that are written.
    pub writes: Vec<Register>,
}

/// Returns the registers that each node reads and writes.
pub(super) fn touched(nodes: &[Node], uses: &[Use]) -> Vec<Touched> {
    let mut all: Vec<Touched> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let writes = node.writes.iter().map(|(cell, _)| cell.0).collect();
        all.push(Touched { reads: HashMap::new(), writes });
    }
    for of in uses {
        if let Some(touched) = all.get_mut(of.node) {
            touched.reads.entry(of.register).or_default().add(&*of.defs);
        }
    }
    all
}

/// Returns the name of a register in assembly text.
pub(super) fn name((file, number): Register) -> String {
    match file {
        RegFile::Va | RegFile::Vx => file.prefix().to_owned(),
        _ => format!("{}{number}", file.prefix()),
    }
}

/// Returns the assembly text of an instruction without the semicolon at its end.
pub(super) fn without_end(assembly: &str) -> &str {
    assembly.trim_end_matches([' ', ';'])
}

/// Splits a line of assembly text into tokens. `place` is the source position of the line.
pub fn tokens(assembly: &str, entry: Option<Entry>, touched: &Touched, place: Option<Origin>) -> Vec<Token> {
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
        // If the same register is a destination and a source, its first occurrence in the text is the destination.
        let meant = |registers: &mut dyn Iterator<Item = Register>| -> Vec<Register> {
            registers.filter(|&register| name_includes(part, register)).collect()
        };
        let mut new = touched.writes.iter().copied().filter(|register| !written.contains(register));
        let defined = if guarded { Vec::new() } else { meant(&mut new) };
        let read = meant(&mut touched.reads.keys().copied());
        guarded = false;
        let defs: Origins = match defined.is_empty() {
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

/// Returns `true` if a name in assembly text refers to a register, alone or in a tuple: `$v4q`
/// contains `$v4` to `$v7`, and `$v4d` contains `$v4` and `$v5`.
fn name_includes(word: &str, register: Register) -> bool {
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

/// Splits a line of assembly text into names and the single characters between them.
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
