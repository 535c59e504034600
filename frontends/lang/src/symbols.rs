//! Interned names: each distinct name is stored once and has an index.

use rustc_hash::FxHashMap;

/// Index of an interned string.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Sym(u32);

/// Table of interned strings.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    text: String,
    spans: Vec<(u32, u32)>,
    numbers: FxHashMap<Box<str>, Sym>,
}

impl Symbols {
    /// Returns the index of a name, and adds the name to the table if it is new.
    pub(crate) fn sym(&mut self, name: &str) -> Sym {
        if let Some(&sym) = self.numbers.get(name) {
            return sym;
        }
        let sym = Sym(self.spans.len() as u32);
        let start = self.text.len() as u32;
        self.text.push_str(name);
        self.spans.push((start, self.text.len() as u32));
        self.numbers.insert(name.into(), sym);
        sym
    }

    /// Returns the index of a name, if the name is in the table.
    pub(crate) fn find(&self, name: &str) -> Option<Sym> {
        self.numbers.get(name).copied()
    }

    /// Returns the text of an interned name.
    pub(crate) fn text(&self, sym: Sym) -> &str {
        let span = self.spans.get(sym.0 as usize);
        span.and_then(|&(start, end)| self.text.get(start as usize..end as usize)).unwrap_or_default()
    }
}
