//! What the names in a kernel stand for.

use std::collections::HashMap;

use super::error::{Error, ErrorKind};
use crate::object::Loc;
use crate::ptx::inst::{Inst, Label, Operand, Reg};
use crate::ptx::module::{LabelName, Registers};
use crate::ptx::types::Type;

/// Digits that the number of a register has at most.
const MAX_DIGITS: usize = 7;

/// The names of a kernel.
#[derive(Default)]
pub(super) struct Names<'a> {
    /// The registers declared up to here.
    pub registers: Registers,
    single: HashMap<&'a str, Declared>,
    families: HashMap<&'a str, Declared>,
    params: HashMap<&'a str, u32>,
    labels: HashMap<&'a str, Label>,
    /// By number: in the order in which they are first mentioned.
    mentioned: Vec<Mention<'a>>,
    /// Labels in the order in which they stand.
    placed: Vec<Label>,
}

#[derive(Clone, Copy)]
struct Declared {
    first: Reg,
    count: u32,
    at: Loc,
}

struct Mention<'a> {
    name: &'a str,
    at: Loc,
    place: Option<u32>,
}

impl<'a> Names<'a> {
    /// The register of a name.
    pub(super) fn register(&self, name: &str) -> Option<Reg> {
        self.single.get(name).map(|declared| declared.first).or_else(|| self.numbered(name))
    }

    /// The register of a name that is one of several, `%r12`. Where the name's digits start is not told.
    fn numbered(&self, name: &str) -> Option<Reg> {
        let digits = name.bytes().rev().take(MAX_DIGITS).take_while(u8::is_ascii_digit).count();
        (1..=digits).rev().find_map(|digits| {
            let (prefix, number) = name.split_at_checked(name.len() - digits)?;
            if digits > 1 && number.starts_with('0') {
                return None;
            }
            let number: u32 = number.parse().ok()?;
            let family = self.families.get(prefix).filter(|family| number < family.count)?;
            Some(Reg(family.first.0 + number))
        })
    }

    /// Declares a register, or a number of them.
    pub(super) fn declare(&mut self, name: &'a str, ty: Type, count: Option<u32>, at: Loc) -> Result<(), Error> {
        let table = if count.is_some() { &self.families } else { &self.single };
        if table.contains_key(name) {
            return Err(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) });
        }
        let first = self.registers.declare(name, ty, count).ok_or(Error { at, kind: ErrorKind::Registers })?;
        let declared = Declared { first, count: count.unwrap_or(1), at };
        let table = if count.is_some() { &mut self.families } else { &mut self.single };
        table.insert(name, declared);
        Ok(())
    }

    /// Names a parameter.
    pub(super) fn param(&mut self, name: &'a str, number: u32, at: Loc) -> Result<(), Error> {
        match self.params.insert(name, number) {
            None => Ok(()),
            Some(_) => Err(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) }),
        }
    }

    /// The parameter of a name.
    pub(super) fn parameter(&self, name: &str) -> Option<u32> {
        self.params.get(name).copied()
    }

    /// A label, by the order in which labels are mentioned.
    pub(super) fn label(&mut self, name: &'a str, at: Loc) -> Label {
        let mentioned = &mut self.mentioned;
        *self.labels.entry(name).or_insert_with(|| {
            mentioned.push(Mention { name, at, place: None });
            Label(mentioned.len() as u32 - 1)
        })
    }

    /// Puts a label before the instruction of that number.
    pub(super) fn place(&mut self, name: &'a str, place: u32, at: Loc) -> Result<(), Error> {
        let label = self.label(name, at);
        match self.mentioned.get_mut(label.0 as usize) {
            Some(mention) if mention.place.is_none() => {
                mention.place = Some(place);
                self.placed.push(label);
                Ok(())
            }
            _ => Err(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) }),
        }
    }

    /// The registers, and the labels as they stand, to which branches are turned.
    pub(super) fn finish(self, insts: &mut [Inst], errors: &mut Vec<Error>) -> (Registers, Vec<LabelName>) {
        let undefined = self.mentioned.iter().filter(|mention| mention.place.is_none());
        errors.extend(undefined.map(|m| Error { at: m.at, kind: ErrorKind::Label(m.name.to_owned()) }));
        // A register of its own and one of several may go by one name.
        let twice = self.single.iter().filter(|(name, _)| self.numbered(name).is_some());
        errors.extend(twice.map(|(name, d)| Error { at: d.at, kind: ErrorKind::Duplicate((*name).to_owned()) }));

        let mut order = vec![Label(0); self.mentioned.len()];
        let mut labels = Vec::with_capacity(self.placed.len());
        for (label, number) in self.placed.iter().zip(0..) {
            let (Some(slot), Some(mention)) = (order.get_mut(label.0 as usize), self.mentioned.get(label.0 as usize))
            else {
                continue;
            };
            *slot = Label(number);
            labels.push(LabelName { name: mention.name.to_owned(), at: mention.place.unwrap_or(0) });
        }
        for operand in insts.iter_mut().flat_map(|inst| &mut inst.operands) {
            if let Operand::Label(label) = operand
                && let Some(&standing) = order.get(label.0 as usize)
            {
                *label = standing;
            }
        }
        (self.registers, labels)
    }
}
