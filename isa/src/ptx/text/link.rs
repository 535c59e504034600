//! Linker: merges several PTX texts into one text.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::ops::Range;

use thiserror::Error;

use super::error::Error;
use super::lexer::Token;
use super::split::{Declaration, DeclarationKind, Lexeme, Linkage, SplitText, split};

/// Reason why texts cannot be linked. `text` is the index of a text.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LinkError {
    /// A text is invalid.
    #[error("text {}: {error}", text + 1)]
    Invalid {
        /// Index of the text.
        text: usize,
        /// The first error of the text.
        error: Error,
    },
    /// Two texts define the same symbol.
    #[error("`{symbol}` is defined in text {} and in text {}", first + 1, second + 1)]
    Duplicate {
        /// Name of the symbol.
        symbol: String,
        /// Index of the text with the first definition.
        first: usize,
        /// Index of the text with the second definition.
        second: usize,
    },
}

/// Merges PTX texts into one text, as a linker does.
///
/// An `.extern` declaration of one text refers to the definition in another text. A symbol without linkage belongs to
/// its text; it is renamed if another text has a symbol of the same name. Of several weak or common definitions, the
/// first is used, unless one text has a strong definition. The result has the highest version and target of the texts,
/// and no debug sections; `.loc` and `.file` directives are kept. Symbols that no text defines stay `.extern`.
///
/// # Errors
/// Returns the first lexical error, or the first symbol that two texts define.
///
/// ```
/// let head = ".version 8.8\n.target sm_90\n.address_size 64\n";
/// let uses = format!("{head}.extern .func f();\n.visible .entry k() {{ call f, (); ret; }}\n");
/// let defines = format!("{head}.visible .func f() {{ ret; }}\n");
/// let linked = halfbyte_isa::ptx::text::link(&[&uses, &defines])?;
/// assert!(halfbyte_isa::ptx::text::read(&linked).is_ok_and(|file| file.module.entries.len() == 1));
/// # Ok::<(), halfbyte_isa::ptx::text::LinkError>(())
/// ```
pub fn link(texts: &[&str]) -> Result<String, LinkError> {
    let invalid = |text: usize| move |error| LinkError::Invalid { text, error };
    let texts = texts.iter().enumerate().map(|(number, text)| split(text).map_err(invalid(number)));
    let texts = texts.collect::<Result<Vec<SplitText<'_>>, LinkError>>()?;
    let chosen = choose(&texts)?;
    Ok(Output { texts: &texts, renamed: renamed(&texts), files: Files::of(&texts), chosen }.write())
}

/// The position of a declaration: the index of its text, and its index in the text.
type Position = (usize, usize);

/// Chooses, for each external symbol, the declaration that the linked text contains: a strong definition, else the
/// first weak or common definition, else the first `.extern` declaration.
fn choose<'a>(texts: &[SplitText<'a>]) -> Result<HashMap<&'a str, Position>, LinkError> {
    let mut chosen: HashMap<&'a str, (Position, Linkage)> = HashMap::new();
    for (position, declaration) in positions(texts) {
        for &name in declaration.names.iter().filter(|_| declaration.is_external()) {
            let linkage = declaration.linkage_of_definition();
            let Some((before, other)) = chosen.get_mut(name) else {
                chosen.insert(name, (position, linkage));
                continue;
            };
            if linkage == Linkage::Strong && *other == Linkage::Strong && before.0 != position.0 {
                return Err(LinkError::Duplicate { symbol: name.to_owned(), first: before.0, second: position.0 });
            }
            if linkage > *other {
                (*before, *other) = (position, linkage);
            }
        }
    }
    Ok(chosen.into_iter().map(|(name, (position, _))| (name, position)).collect())
}

/// Returns all declarations in the order of the texts.
fn positions<'t, 'a>(texts: &'t [SplitText<'a>]) -> impl Iterator<Item = (Position, &'t Declaration<'a>)> {
    let all = texts.iter().enumerate();
    all.flat_map(|(text, of)| of.declarations.iter().enumerate().map(move |(number, of)| ((text, number), of)))
}

/// Returns, for each text, the new names of those symbols without linkage whose names are already taken by an external
/// symbol or an earlier text.
fn renamed<'a>(texts: &[SplitText<'a>]) -> Vec<HashMap<&'a str, String>> {
    let mut used: HashSet<String> = HashSet::new();
    for text in texts {
        used.extend(text.lexemes().filter_map(Lexeme::name).map(str::to_owned));
    }
    let mut taken: HashSet<&str> = HashSet::new();
    for (_, declaration) in positions(texts).filter(|(_, of)| of.is_external()) {
        taken.extend(&declaration.names);
    }
    let rename = |text: &SplitText<'a>| {
        let mut renamed = HashMap::new();
        let local: HashSet<&'a str> =
            text.declarations.iter().filter(|of| !of.is_external()).flat_map(|of| of.names.iter().copied()).collect();
        let mut local: Vec<&'a str> = local.into_iter().collect();
        local.sort_unstable();
        for name in local {
            if taken.insert(name) {
                continue;
            }
            let free = (2..).map(|number: u32| format!("{name}${number}")).find(|new| !used.contains(new));
            let new = free.unwrap_or_default();
            used.insert(new.clone());
            renamed.insert(name, new);
        }
        renamed
    };
    texts.iter().map(rename).collect()
}

/// The source files of `.file` directives.
struct Files<'a> {
    /// The names, in the order of their new numbers, which begin at 1.
    names: Vec<&'a str>,
    /// For each text, the new number of each file, by its old number.
    numbers: Vec<BTreeMap<u32, usize>>,
}

impl<'a> Files<'a> {
    fn of(texts: &[SplitText<'a>]) -> Files<'a> {
        let mut names: Vec<&'a str> = Vec::new();
        let mut by_name: HashMap<&'a str, usize> = HashMap::new();
        let mut number = |name: &'a str| {
            *by_name.entry(name).or_insert_with(|| {
                names.push(name);
                names.len()
            })
        };
        let numbers = texts.iter().map(|text| text.files.iter().map(|(&old, &name)| (old, number(name))).collect());
        let numbers = numbers.collect();
        Files { names, numbers }
    }
}

/// Writer of the linked text.
struct Output<'t, 'a> {
    texts: &'t [SplitText<'a>],
    renamed: Vec<HashMap<&'a str, String>>,
    files: Files<'a>,
    chosen: HashMap<&'a str, Position>,
}

impl<'a> Output<'_, 'a> {
    fn write(&self) -> String {
        let highest = |of: fn(&SplitText<'a>) -> (u32, u32)| self.texts.iter().max_by_key(|text| of(text));
        let version = highest(|text| text.version).map_or((0, 0), |text| text.version);
        let target =
            highest(|text| (text.target_number(), u32::from(text.has_suffix()))).map_or("", |text| text.target);
        let mut out = format!(
            "// Linked from {} texts.\n.version {}.{}\n.target {target}\n.address_size 64\n",
            self.texts.len(),
            version.0,
            version.1
        );
        for (name, number) in self.files.names.iter().zip(1..) {
            // A String accepts every write.
            _ = writeln!(out, ".file {number} \"{name}\"");
        }
        let kept: Vec<(Position, &Declaration<'a>)> = positions(self.texts).filter(|of| self.is_kept(of)).collect();
        let of_kind = |kind| kept.iter().filter(move |(_, of)| of.kind == kind).copied();
        for (position, function) in of_kind(DeclarationKind::Function) {
            self.piece(&mut out, position, function.head.clone());
            out.push_str(";\n");
        }
        for (position, variable) in self.ordered(of_kind(DeclarationKind::Variable).collect()) {
            self.piece(&mut out, position, variable.range.clone());
            out.push('\n');
        }
        let is_defined = |of: &Declaration<'a>| of.kind != DeclarationKind::Variable && of.has_body;
        for (position, code) in kept.iter().filter(|(_, of)| is_defined(of) || of.kind == DeclarationKind::Other) {
            self.piece(&mut out, *position, code.range.clone());
            out.push('\n');
        }
        out
    }

    /// Returns `true` if the linked text contains a declaration.
    fn is_kept(&self, (position, of): &(Position, &Declaration<'a>)) -> bool {
        !of.is_external() || of.names.iter().any(|name| self.chosen.get(name) == Some(position))
    }

    /// Sorts variables so that each follows the variables whose addresses its initialiser contains.
    fn ordered<'t>(&self, all: Vec<(Position, &'t Declaration<'a>)>) -> Vec<(Position, &'t Declaration<'a>)> {
        let by_name: HashMap<(Option<usize>, &str), usize> = (all.iter().enumerate())
            .flat_map(|(number, ((text, _), of))| {
                let text = (!of.is_external()).then_some(*text);
                of.names.iter().map(move |&name| ((text, name), number))
            })
            .collect();
        let mut ordered = Vec::with_capacity(all.len());
        let mut is_begun = vec![false; all.len()];
        // Worklist of variable numbers. An entry with `true` is popped after the entries of the variables to which it
        // refers.
        let mut work: Vec<(usize, bool)> = (0..all.len()).rev().map(|number| (number, false)).collect();
        while let Some((number, is_ready)) = work.pop() {
            let (Some(&((text, at), of)), Some(is_begun)) = (all.get(number), is_begun.get_mut(number)) else {
                continue;
            };
            if is_ready {
                ordered.push(((text, at), of));
            } else if !std::mem::replace(is_begun, true) {
                work.push((number, true));
                let names = self.texts.get(text).into_iter().flat_map(|text| text.in_range(of.range.clone()));
                for name in names.filter_map(Lexeme::name) {
                    let found = by_name.get(&(Some(text), name)).or_else(|| by_name.get(&(None, name)));
                    work.extend(found.filter(|&&found| found != number).map(|&found| (found, false)));
                }
            }
        }
        ordered
    }

    /// Appends a range of a text, with the new names of symbols and the new numbers of files.
    fn piece(&self, out: &mut String, (text, _): Position, range: Range<usize>) {
        let Some(source) = self.texts.get(text) else { return };
        let mut written = range.start;
        let mut before = Token::End;
        for Lexeme { token, range, .. } in source.in_range(range.clone()) {
            let new = match *token {
                Token::Name(name) => self.renamed.get(text).and_then(|renamed| renamed.get(name)).cloned(),
                Token::Number(number) if matches!(before, Token::Dotted("loc") | Token::Name("inlined_at")) => {
                    let numbers = self.files.numbers.get(text);
                    numbers.and_then(|numbers| numbers.get(&number.parse().ok()?)).map(usize::to_string)
                }
                _ => None,
            };
            if let Some(new) = new {
                out.push_str(source.text.get(written..range.start).unwrap_or_default());
                out.push_str(&new);
                written = range.end;
            }
            before = *token;
        }
        out.push_str(source.text.get(written..range.end).unwrap_or_default());
    }
}
