//! Parser and printer for array declarations: `shared %tile: i32[256]`, `scratch %tmp: i8x4[8]
//! align 16`, `shared %rest: i8[]`.

use std::fmt::{self, Formatter};

use super::lexer::Tok;
use super::print::Printer;
use super::read::{Reader, Reading};
use crate::array::{Array, Space};
use crate::kernel::ValueDef;

impl Reader<'_> {
    /// Returns the memory space if the next token begins an array declaration.
    pub(super) fn at_array(&self) -> Option<Space> {
        Space::ALL.into_iter().find(|space| self.at_word(space.name()))
    }

    /// Parses an array declaration.
    pub(super) fn array(&mut self, space: Space) -> Reading<()> {
        let start = self.bump();
        if self.body.block.is_some() {
            return Err(self.error(
                start,
                format!("`{space}` is not valid in a block"),
                "declarations before the first label",
            ));
        }
        let example = format!("declare an array as `{space} %name: i32[256]`");
        let name = self.name(Tok::Value, "the array's name: `%name`").inspect_err(|_| self.help(example.as_str()))?;
        let read = self.array_of(space, name, start.start);
        if read.is_err() {
            self.poison(name);
        }
        read
    }

    fn array_of(&mut self, space: Space, name: super::lexer::Name, start: u32) -> Reading<()> {
        self.mark(b':')?;
        let elem = self.type_name("the element type")?;
        if self.tok() != Tok::Punctuation(b'[') {
            let failed = self.unexpected("the number of elements in brackets");
            self.help(format!("as in `{space} {}: {elem}[256]`", self.source(name.span)));
            return Err(failed);
        }
        self.bump();
        let count = match self.tok() {
            Tok::Punctuation(b']') => None,
            _ => {
                let (count, span) = self.integer("a number of elements, or `]` for as many as the launch says")?;
                match u32::try_from(count) {
                    Ok(count) => Some(count),
                    Err(_) => return Err(self.error(span, format!("{count} elements"), "a number of elements")),
                }
            }
        };
        self.mark(b']')?;
        let align = if self.eat_word("align") { self.size("an alignment in bytes")?.0 } else { elem.bytes() };
        self.end_of_line()?;
        let number = self.body.kernel.arrays.len() as u32;
        let value = self.define_value(name, halfbyte_abi::Type::PTR, ValueDef::Array(number));
        let (span, name) = (self.since(start), self.name_text(name).to_owned());
        self.body.kernel.arrays.push(Array { name, value, space, elem, count, align, span });
        Ok(())
    }
}

impl Printer<'_> {
    /// Prints the array declarations, one per line.
    pub(super) fn arrays(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for array in &self.kernel.arrays {
            write!(f, "  {} ", array.space)?;
            self.value(f, array.value)?;
            write!(f, ": {}[", array.elem)?;
            if let Some(count) = array.count {
                write!(f, "{count}")?;
            }
            f.write_str("]")?;
            if array.align != array.elem.bytes() {
                write!(f, " align {}", array.align)?;
            }
            f.write_str("\n")?;
        }
        Ok(())
    }
}
