//! Names by number.

use rustc_hash::FxHashMap;

/// A name, or another piece of text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Sym(u32);

/// The names of all texts.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    text: String,
    spans: Vec<(u32, u32)>,
    numbers: FxHashMap<Box<str>, Sym>,
}

impl Symbols {
    /// The number of a name.
    pub fn sym(&mut self, name: &str) -> Sym {
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

    /// The number of a name that was seen before.
    pub fn find(&self, name: &str) -> Option<Sym> {
        self.numbers.get(name).copied()
    }

    /// A name's text.
    pub fn text(&self, sym: Sym) -> &str {
        let span = self.spans.get(sym.0 as usize);
        span.and_then(|&(start, end)| self.text.get(start as usize..end as usize)).unwrap_or_default()
    }
}
