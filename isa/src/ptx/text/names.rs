//! What the names in a kernel stand for.
//!
//! A block in braces has names of its own, for registers and for labels. A label that is mentioned in a block and does not
//! stand there is one of a block around it, which may come later.

use std::collections::{HashMap, HashSet};

use super::error::{Error, ErrorKind};
use crate::object::Loc;
use crate::ptx::Opcode;
use crate::ptx::inst::Inst;
use crate::ptx::module::{Body, FrameVariable, LabelName, Pragma, Registers, Table, Targets, width};
use crate::ptx::operand::{Base, FrameVar, Label, Operand, Reg};
use crate::ptx::types::{Special, Token, Type};

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
    /// The variables of the frame declared up to here.
    frame: Vec<FrameVariable>,
    frame_names: HashMap<&'a str, Framed>,
    tables: HashMap<&'a str, u32>,
    /// By number: in the order in which they are first mentioned.
    lists: Vec<List<'a>>,
    labels: HashMap<&'a str, Label>,
    /// By number: in the order in which they are first mentioned.
    mentioned: Vec<Mention<'a>>,
    /// Labels in the order in which they stand.
    placed: Vec<Label>,
    /// What is declared outside of all blocks: registers, variables, parameters and labels have names of one kind.
    declared: HashSet<&'a str>,
    /// The blocks that are open, outermost first.
    scopes: Vec<Scope<'a>>,
    /// Whether there were any.
    has_blocks: bool,
    /// The registers that were declared in blocks, by the number of their declaration.
    nested: Vec<usize>,
    /// The registers that hold something from the start, their types and what: numbers that stand in braces, and special registers that
    /// other instructions than `mov` read.
    held: Vec<(Reg, Type, Operand)>,
    /// The registers that stand for `_`.
    unread: Vec<(Type, Reg)>,
    /// The variables of the frame that were, by number.
    nested_frame: Vec<usize>,
    pragmas: Vec<Pragma>,
}

#[derive(Clone, Copy)]
struct Declared {
    first: Reg,
    count: u32,
    /// How many numbers each has.
    width: u32,
    at: Loc,
    /// How many blocks are around it.
    depth: usize,
}

#[derive(Clone, Copy)]
struct Framed {
    var: FrameVar,
    depth: usize,
}

/// What an indirect branch or call may lead to.
struct List<'a> {
    name: &'a str,
    at: Loc,
    of: Option<Targets>,
}

struct Mention<'a> {
    name: &'a str,
    at: Loc,
    place: Option<u32>,
    /// The label of a block around this one that it has turned out to be.
    alias: Option<Label>,
}

/// A block, and what it hides of the names around it.
#[derive(Default)]
struct Scope<'a> {
    declared: HashSet<&'a str>,
    /// So many shared variables the body had before it.
    shared: usize,
    single: Vec<(&'a str, Option<Declared>)>,
    families: Vec<(&'a str, Option<Declared>)>,
    frame: Vec<(&'a str, Option<Framed>)>,
    labels: HashMap<&'a str, Label>,
}

impl<'a> Names<'a> {
    /// The register of a name: that of the innermost block that has one.
    pub(super) fn register(&self, name: &str) -> Option<Reg> {
        let (depth, reg) = self.innermost(name)?;
        let is_hidden = !self.scopes.is_empty() && self.frame_names.get(name).is_some_and(|of| of.depth > depth);
        (!is_hidden).then_some(reg)
    }

    /// The variable of the frame of a name.
    pub(super) fn frame_variable(&self, name: &str) -> Option<FrameVar> {
        self.frame_names.get(name).map(|of| of.var)
    }

    /// The register of a name, and how many blocks are around it.
    fn innermost(&self, name: &str) -> Option<(usize, Reg)> {
        let single = self.single.get(name).map(|declared| (declared.depth, declared.first));
        // Outside of blocks a name has one meaning; where it has two in blocks, the inner one counts.
        match (single, self.scopes.is_empty()) {
            (Some(found), true) => Some(found),
            (single, _) => single.into_iter().chain(self.numbered(name)).max_by_key(|(depth, _)| *depth),
        }
    }

    /// The register of a name that is one of several, `%r12`. Where the name's digits start is not told.
    fn numbered(&self, name: &str) -> Option<(usize, Reg)> {
        let digits = name.bytes().rev().take(MAX_DIGITS).take_while(u8::is_ascii_digit).count();
        (1..=digits).rev().find_map(|digits| {
            let (prefix, number) = name.split_at_checked(name.len() - digits)?;
            if digits > 1 && number.starts_with('0') {
                return None;
            }
            let number: u32 = number.parse().ok()?;
            let family = self.families.get(prefix).filter(|family| number < family.count)?;
            Some((family.depth, Reg(family.first.0 + family.width * number)))
        })
    }

    /// Takes a name for what is declared in the block at hand.
    pub(super) fn take(&mut self, name: &'a str, at: Loc) -> Result<(), Error> {
        let declared = self.scopes.last_mut().map_or(&mut self.declared, |scope| &mut scope.declared);
        match declared.insert(name) {
            true => Ok(()),
            false => Err(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) }),
        }
    }

    /// Declares a register, or a number of them.
    pub(super) fn declare(&mut self, name: &'a str, ty: Type, count: Option<u32>, at: Loc) -> Result<(), Error> {
        let depth = self.scopes.len();
        if count.is_none() {
            self.take(name, at)?;
        } else if self.families.get(name).is_some_and(|declared| declared.depth == depth) {
            return Err(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) });
        }
        let first = self.registers.declare(name, ty, count).ok_or(Error { at, kind: ErrorKind::Registers })?;
        let declared = Declared { first, count: count.unwrap_or(1), width: width(ty), at, depth };
        let table = if count.is_some() { &mut self.families } else { &mut self.single };
        let hidden = table.insert(name, declared);
        if let Some(scope) = self.scopes.last_mut() {
            let list = if count.is_some() { &mut scope.families } else { &mut scope.single };
            list.push((name, hidden));
            self.nested.push(self.registers.families().len() - 1);
        }
        Ok(())
    }

    /// Declares a variable of the frame.
    pub(super) fn declare_frame(&mut self, name: &'a str, variable: FrameVariable, at: Loc) -> Result<u32, Error> {
        self.take(name, at)?;
        let depth = self.scopes.len();
        let number = self.frame.len() as u32;
        let var = FrameVar { number, space: variable.space };
        let hidden = self.frame_names.insert(name, Framed { var, depth });
        if let Some(scope) = self.scopes.last_mut() {
            scope.frame.push((name, hidden));
            self.nested_frame.push(self.frame.len());
        }
        self.frame.push(variable);
        Ok(number)
    }

    /// A list of targets, by the order in which lists are mentioned.
    pub(super) fn table(&mut self, name: &'a str, at: Loc) -> u32 {
        let lists = &mut self.lists;
        *self.tables.entry(name).or_insert_with(|| {
            lists.push(List { name, at, of: None });
            lists.len() as u32 - 1
        })
    }

    /// Says what a list is of.
    pub(super) fn define_table(&mut self, name: &'a str, of: Targets, at: Loc) -> Result<(), Error> {
        let number = self.table(name, at);
        match self.lists.get_mut(number as usize) {
            Some(list) if list.of.is_none() => {
                list.of = Some(of);
                Ok(())
            }
            _ => Err(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) }),
        }
    }

    /// Whether a list of that name was mentioned or defined.
    pub(super) fn has_table(&self, name: &str) -> bool {
        self.tables.contains_key(name)
    }

    /// How many registers hold something from the start.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// A register that holds a number from the start.
    pub(super) fn holding(&mut self, ty: Type, bits: u64) -> Result<Reg, ErrorKind> {
        if ty.bits() < 16 && ty != Type::Pred {
            return Err(ErrorKind::Unsupported("a number among bytes in braces".to_owned()));
        }
        self.hold(ty, Operand::Number(bits), "%number")
    }

    /// A register that holds a special register of 32 bits from the start, which is always the same to a thread.
    pub(super) fn holding_special(&mut self, special: Special) -> Result<Reg, ErrorKind> {
        self.hold(Type::U32, Operand::Special(special), "%special")
    }

    fn hold(&mut self, ty: Type, operand: Operand, name: &str) -> Result<Reg, ErrorKind> {
        if let Some((reg, ..)) = self.held.iter().find(|(_, of, held)| *of == ty && *held == operand) {
            return Ok(*reg);
        }
        let reg = self.registers.declare(name, ty, None).ok_or(ErrorKind::Registers)?;
        self.nested.push(self.registers.families().len() - 1);
        self.held.push((reg, ty, operand));
        Ok(reg)
    }

    /// A register of so many bits that nobody reads: what stands for `_`.
    pub(super) fn unread(&mut self, bits: u32) -> Result<Reg, ErrorKind> {
        let ty = match bits {
            16 => Type::B16,
            64 => Type::B64,
            128 => Type::B128,
            _ => Type::B32,
        };
        if let Some((_, reg)) = self.unread.iter().find(|(of, _)| *of == ty) {
            return Ok(*reg);
        }
        let reg = self.registers.declare("%unread", ty, None).ok_or(ErrorKind::Registers)?;
        self.nested.push(self.registers.families().len() - 1);
        self.unread.push((ty, reg));
        Ok(reg)
    }

    /// Opens a block, where the body has so many shared variables.
    pub(super) fn open(&mut self, shared: usize) {
        self.scopes.push(Scope { shared, ..Scope::default() });
        self.has_blocks = true;
    }

    /// Closes a block, if one is open, and says how many shared variables there were before it.
    pub(super) fn close(&mut self) -> Option<usize> {
        let scope = self.scopes.pop()?;
        let restore = |table: &mut HashMap<&'a str, Declared>, hidden: Vec<(&'a str, Option<Declared>)>| {
            for (name, before) in hidden.into_iter().rev() {
                match before {
                    Some(before) => drop(table.insert(name, before)),
                    None => drop(table.remove(name)),
                }
            }
        };
        restore(&mut self.single, scope.single);
        restore(&mut self.families, scope.families);
        for (name, before) in scope.frame.into_iter().rev() {
            match before {
                Some(before) => drop(self.frame_names.insert(name, before)),
                None => drop(self.frame_names.remove(name)),
            }
        }
        let outer = self.scopes.last_mut().map_or(&mut self.labels, |scope| &mut scope.labels);
        // In the order in which they were mentioned, so that what follows from it is always the same.
        let mut labels: Vec<(&'a str, Label)> = scope.labels.into_iter().collect();
        labels.sort_by_key(|(_, label)| *label);
        for (name, label) in labels {
            let Some(mention) = self.mentioned.get_mut(label.0 as usize) else { continue };
            if mention.place.is_none() {
                let around = *outer.entry(name).or_insert(label);
                mention.alias = (around != label).then_some(around);
            }
        }
        Some(scope.shared)
    }

    /// Names a parameter.
    pub(super) fn param(&mut self, name: &'a str, number: u32, at: Loc) -> Result<(), Error> {
        self.take(name, at)?;
        self.params.insert(name, number);
        Ok(())
    }

    /// What stands before the instruction of that number, for the assembler.
    pub(super) fn pragma(&mut self, at: u32, text: String) {
        self.pragmas.push(Pragma { text, at });
    }

    /// What of the kernel or the function at hand has a name and an address: a variable of its frame, or a parameter.
    pub(super) fn base(&self, name: &str) -> Option<Base> {
        let of_frame = self.frame_variable(name).map(Base::Frame);
        of_frame.or_else(|| self.params.get(name).copied().map(Base::Parameter))
    }

    /// A label, by the order in which labels are mentioned.
    pub(super) fn label(&mut self, name: &'a str, at: Loc) -> Label {
        let mentioned = &mut self.mentioned;
        let labels = self.scopes.last_mut().map_or(&mut self.labels, |scope| &mut scope.labels);
        *labels.entry(name).or_insert_with(|| {
            mentioned.push(Mention { name, at, place: None, alias: None });
            Label(mentioned.len() as u32 - 1)
        })
    }

    /// Puts a label before the instruction of that number.
    pub(super) fn place(&mut self, name: &'a str, place: u32, at: Loc) -> Result<(), Error> {
        self.take(name, at)?;
        let label = self.label(name, at);
        if let Some(mention) = self.mentioned.get_mut(label.0 as usize) {
            mention.place = Some(place);
            self.placed.push(label);
        }
        Ok(())
    }

    /// The body of these instructions, with the labels as they stand, to which branches are turned. Names of blocks that others have
    /// too are made different; `around` are those of the file.
    pub(super) fn finish(
        mut self,
        mut insts: Vec<Inst>,
        errors: &mut Vec<Error>,
        around: impl Iterator<Item = &'a str>,
    ) -> Body {
        let undefined = self.lists.iter().filter(|list| list.of.is_none());
        errors.extend(undefined.map(|list| Error { at: list.at, kind: ErrorKind::Label(list.name.to_owned()) }));
        let undefined = self.mentioned.iter().filter(|mention| mention.place.is_none() && mention.alias.is_none());
        errors.extend(undefined.map(|m| Error { at: m.at, kind: ErrorKind::Label(m.name.to_owned()) }));
        // A register of its own and one of several may go by one name.
        let twice = self.single.iter().filter(|(name, _)| self.numbered(name).is_some());
        errors.extend(twice.map(|(name, d)| Error { at: d.at, kind: ErrorKind::Duplicate((*name).to_owned()) }));

        let before = self.held.len() as u32;
        let mut order = vec![Label(0); self.mentioned.len()];
        let mut labels = Vec::with_capacity(self.placed.len());
        let mut taken = Taken::default();
        // Elsewhere no name hides another.
        if self.has_blocks || !self.nested.is_empty() {
            around.for_each(|name| taken.insert(name.to_owned()));
            self.params.keys().for_each(|&name| taken.insert(name.to_owned()));
            let families = self.registers.families().iter().map(|family| &family.name);
            let of_body = |of: &[usize], number: usize| of.binary_search(&number).is_err();
            let registers = families.enumerate().filter(|&(number, _)| of_body(&self.nested, number));
            let frame = self.frame.iter().map(|variable| &variable.name).enumerate();
            let frame = frame.filter(|&(number, _)| of_body(&self.nested_frame, number));
            registers.chain(frame).for_each(|(_, name)| taken.insert(name.clone()));
        }
        for (label, number) in self.placed.iter().zip(0..) {
            let (Some(slot), Some(mention)) = (order.get_mut(label.0 as usize), self.mentioned.get(label.0 as usize))
            else {
                continue;
            };
            *slot = Label(number);
            labels.push(LabelName {
                name: taken.unused(mention.name, Taken::is_free),
                at: before + mention.place.unwrap_or(0),
            });
        }
        // A block around another is closed after it, so that what a label is an alias of is no further on.
        for (number, mention) in self.mentioned.iter().enumerate() {
            let mut label = mention.alias;
            while let Some(next) = label.and_then(|l| self.mentioned.get(l.0 as usize)).and_then(|m| m.alias) {
                label = Some(next);
            }
            if let Some(target) = label.and_then(|l| order.get(l.0 as usize)).copied()
                && let Some(slot) = order.get_mut(number)
            {
                *slot = target;
            }
        }
        for operand in insts.iter_mut().flat_map(|inst| &mut inst.operands) {
            if let Operand::Label(label) = operand
                && let Some(&standing) = order.get(label.0 as usize)
            {
                *label = standing;
            }
        }
        let held = self.held.iter().map(|(reg, ty, operand)| Inst {
            opcode: if matches!(operand, Operand::Special(_)) { Opcode::MOV_SPECIAL } else { Opcode::MOV },
            words: [Token::Type(*ty)].into_iter().collect(),
            guard: None,
            operands: [Operand::Register(*reg), operand.clone()].into_iter().collect(),
        });
        insts.splice(0..0, held);
        self.rename_nested(&mut taken);
        let stands = |label: Label| order.get(label.0 as usize).copied().unwrap_or(label);
        let table = |list: List<'a>| {
            let of = match list.of.unwrap_or(Targets::Labels(Vec::new())) {
                Targets::Labels(labels) => Targets::Labels(labels.into_iter().map(stands).collect()),
                of => of,
            };
            Table { name: taken.unused(list.name, Taken::is_free), of }
        };
        let tables = self.lists.into_iter().map(table).collect();
        let mut pragmas = self.pragmas;
        pragmas.iter_mut().for_each(|pragma| pragma.at += before);
        Body { registers: self.registers, frame: self.frame, insts, labels, tables, pragmas }
    }

    /// Gives the registers and variables of blocks names that no others have.
    fn rename_nested(&mut self, taken: &mut Taken) {
        for &number in &self.nested {
            if let Some(family) = self.registers.families().get(number) {
                let name = taken.unused(&family.name, Taken::is_free_of_numbers);
                self.registers.rename(number, name);
            }
        }
        for &number in &self.nested_frame {
            if let Some(variable) = self.frame.get_mut(number) {
                variable.name = taken.unused(&variable.name, Taken::is_free);
            }
        }
    }
}

/// Names that are taken.
#[derive(Default)]
struct Taken {
    names: HashSet<String>,
    /// What is left of those that end in digits: several registers may not be called so.
    stems: HashSet<String>,
    /// By name, how many others have been made of it.
    made: HashMap<String, u32>,
}

impl Taken {
    fn insert(&mut self, name: String) {
        let stem = stem(&name);
        if stem.len() < name.len() {
            self.stems.insert(stem.to_owned());
        }
        self.names.insert(name);
    }

    fn is_free(&self, name: &str) -> bool {
        !self.names.contains(name)
    }

    /// Whether it is free, and nothing is called so with or without digits behind it: registers may be several, which have numbers.
    fn is_free_of_numbers(&self, name: &str) -> bool {
        self.is_free(name) && !self.stems.contains(name) && self.is_free(stem(name))
    }

    /// Takes the name, or where it is not free the name with a suffix.
    fn unused(&mut self, name: &str, is_free: impl Fn(&Taken, &str) -> bool) -> String {
        let mut chosen = name.to_owned();
        while !is_free(self, &chosen) {
            let made = self.made.entry(name.to_owned()).or_default();
            *made += 1;
            chosen = format!("{name}_{made}_");
        }
        self.insert(chosen.clone());
        chosen
    }
}

/// A name without the digits at its end.
fn stem(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}
