//! Prints a module as the text that it reads from.

use std::fmt;

use crate::object::Loc;
use crate::ptx::inst::Inst;
use crate::ptx::module::{Entry, Kernel, Linkage, Module, Param, TargetName, Variable, Variables};
use crate::ptx::operand::{Address, Base, Operand, Reg, Var};
use crate::ptx::row::{Lanes, Shape};
use crate::ptx::types::{Kind, Token, Type};

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Printer::of_head(self.version, self.target);
        text.variables(&self.variables);
        self.entries.iter().for_each(|entry| text.separate(entry, &[]));
        f.write_str(&text.out)
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Printer::of_head(self.version, self.target);
        text.variables(&self.entry.variables);
        text.separate(&self.entry, &[]);
        f.write_str(&text.out)
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Printer::default();
        text.entry(self, &[]);
        f.write_str(&text.out)
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Printer::default();
        text.param(self);
        f.write_str(&text.out)
    }
}

/// An instruction of a kernel as a line of text, with its `;`.
pub fn inst_text(inst: &Inst, entry: &Entry) -> String {
    let mut text = Printer::default();
    text.inst(inst, entry);
    text.out
}

/// A text as it is written. Formatters are kept out of it: a kernel is thousands of short words.
#[derive(Default)]
pub(super) struct Printer {
    out: String,
}

impl Printer {
    pub fn with_capacity(bytes: usize) -> Printer {
        Printer { out: String::with_capacity(bytes) }
    }

    pub fn of_head((major, minor): (u8, u8), target: TargetName) -> Printer {
        let out = format!(".version {major}.{minor}\n.target {target}\n.address_size 64\n");
        Printer { out }
    }

    /// How many bytes were written so far.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    pub fn into_text(self) -> String {
        self.out
    }

    pub fn all(&mut self, parts: &[&str]) {
        parts.iter().for_each(|part| self.out.push_str(part));
    }

    fn integer(&mut self, number: impl Into<u64>) {
        let number = number.into();
        if number > 9 {
            self.integer(number / 10);
        }
        self.out.push(char::from(b'0' + (number % 10) as u8));
    }

    fn signed(&mut self, number: i64) {
        if number < 0 {
            self.out.push('-');
        }
        self.integer(number.unsigned_abs());
    }

    /// Variables, a line each, after an empty line.
    pub fn variables(&mut self, variables: &Variables) {
        if !variables.is_empty() {
            self.out.push('\n');
        }
        for variable in variables.iter() {
            self.variable(variable);
            self.out.push('\n');
        }
    }

    fn variable(&mut self, variable: &Variable) {
        self.all(&[linkage(variable.linkage), ".", variable.space.name()]);
        if let Some(align) = variable.align {
            self.out.push_str(" .align ");
            self.integer(align);
        }
        self.all(&[" .", variable.ty.name(), " ", &variable.name]);
        self.count(variable.count);
        // What follows the last that is not zero is zero unsaid.
        let size = (variable.ty.bits() / 8) as usize;
        let values = variable.bytes.chunks(size);
        let values = values.map(|bytes| bytes.iter().rev().fold(0, |all: u64, &b| all << 8 | u64::from(b)));
        let said = values.clone().zip(1..).filter(|(value, _)| *value != 0).last().map_or(0, |(_, count)| count);
        for (i, value) in values.take(said).enumerate() {
            self.out.push_str(match (i, variable.count) {
                (0, None) => " = ",
                (0, Some(_)) => " = {",
                _ => ", ",
            });
            match variable.ty {
                Type::F64 => self.out.push_str(&format!("0d{value:016x}")),
                // A byte is a byte: the shortest form.
                Type::B8 => self.integer(value),
                ty => self.number(value, ty),
            }
        }
        self.out.push_str(if said != 0 && variable.count.is_some() { "};" } else { ";" });
    }

    /// `[n]` of an array.
    fn count(&mut self, count: Option<u32>) {
        if let Some(count) = count {
            self.out.push('[');
            self.integer(count);
            self.out.push(']');
        }
    }

    /// A kernel after an empty line.
    pub fn separate(&mut self, entry: &Entry, locs: &[Loc]) {
        self.out.push('\n');
        self.entry(entry, locs);
    }

    /// A kernel, with `.loc` before each instruction whose place is another one than before.
    fn entry(&mut self, entry: &Entry, locs: &[Loc]) {
        self.all(&[linkage(entry.linkage), ".entry ", &entry.name, "("]);
        for (i, param) in entry.params.iter().enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            self.param(param);
        }
        self.out.push_str(")\n{\n");
        for family in entry.registers.families() {
            self.all(&["    .reg .", family.ty.name(), " ", &family.name]);
            if let Some(count) = family.count {
                self.out.push('<');
                self.integer(count);
                self.out.push('>');
            }
            self.out.push_str(";\n");
        }
        let mut labels = entry.labels.iter().peekable();
        let mut told = Loc::default();
        for (place, inst) in entry.insts.iter().enumerate() {
            while let Some(label) = labels.next_if(|label| label.at as usize <= place) {
                self.all(&[&label.name, ":\n"]);
            }
            let loc = locs.get(place).copied().unwrap_or_default();
            if loc.is_known() && loc != told {
                self.out.push_str("    .loc 1 ");
                self.integer(loc.line);
                self.out.push(' ');
                self.integer(loc.column);
                self.out.push('\n');
                told = loc;
            }
            self.out.push_str("    ");
            self.inst(inst, entry);
            self.out.push('\n');
        }
        labels.for_each(|label| self.all(&[&label.name, ":\n"]));
        self.out.push_str("}\n");
    }

    fn param(&mut self, param: &Param) {
        self.out.push_str(".param");
        let align = |text: &mut Printer, align: Option<u32>| {
            if let Some(align) = align {
                text.out.push_str(" .align ");
                text.integer(align);
            }
        };
        align(self, param.align);
        self.all(&[" .", param.ty.name()]);
        if let Some(of_target) = param.pointer {
            self.out.push_str(" .ptr .global");
            align(self, of_target);
        }
        self.all(&[" ", &param.name]);
        self.count(param.count);
    }

    fn inst(&mut self, inst: &Inst, entry: &Entry) {
        if let Some(guard) = inst.guard {
            self.out.push_str(if guard.not { "@!" } else { "@" });
            self.register(guard.reg, entry);
            self.out.push(' ');
        }
        self.out.push_str(inst.row().mnemonic);
        for word in &inst.words {
            self.all(&[".", word.text()]);
        }
        for (i, (operand, o)) in inst.operands.iter().zip(inst.row().operands_with(&inst.words)).enumerate() {
            self.out.push_str(if i == 0 { " " } else { ", " });
            self.operand(operand, o.shape, &inst.words, entry);
        }
        self.out.push(';');
    }

    fn operand(&mut self, operand: &Operand, shape: Shape, words: &[Token], entry: &Entry) {
        match operand {
            &Operand::Register(reg) => self.register(reg, entry),
            &Operand::Not(reg) => {
                self.out.push('!');
                self.register(reg, entry);
            }
            &Operand::Pair([p, q]) => {
                self.element(p, entry);
                self.out.push('|');
                self.element(q, entry);
            }
            &Operand::Number(bits) => self.number(
                bits,
                match shape {
                    Shape::Value(ty) | Shape::Elements(ty) => ty.resolve(words).0,
                    _ => Type::B8,
                },
            ),
            Operand::Special(special) => self.out.push_str(&special.to_string()),
            Operand::Vector(regs) => {
                for (i, reg) in regs.iter().enumerate() {
                    self.out.push_str(if i == 0 { "{" } else { ", " });
                    self.element(reg, entry);
                }
                self.out.push('}');
            }
            &Operand::Lanes { reg, digits } => {
                self.register(reg, entry);
                match shape {
                    Shape::Masked(lanes) => self.mask(digits, lanes),
                    Shape::Selected(lanes, _) => self.selector(digits, lanes),
                    _ => {}
                }
            }
            Operand::Memory(address) => self.address(address, entry),
            &Operand::Variable { var, offset } => {
                self.name_of(var, entry);
                self.offset(offset);
            }
            Operand::Label(label) => {
                self.out.push_str(entry.labels.get(label.0 as usize).map_or("_", |label| &label.name));
            }
        }
    }

    fn address(&mut self, address: &Address, entry: &Entry) {
        self.out.push('[');
        match address.base {
            Base::Register(reg) => self.register(reg, entry),
            Base::Variable(var) => self.name_of(var, entry),
            Base::Parameter(param) => {
                self.out.push_str(entry.params.get(param as usize).map_or("_", |param| &param.name));
            }
        }
        self.offset(address.offset);
        self.out.push(']');
    }

    fn offset(&mut self, offset: i32) {
        if offset != 0 {
            self.out.push('+');
            self.signed(offset.into());
        }
    }

    fn name_of(&mut self, var: Var, entry: &Entry) {
        self.out.push_str(entry.variables.get(var.number as usize).map_or("_", |variable| &variable.name));
    }

    fn element(&mut self, reg: Option<Reg>, entry: &Entry) {
        match reg {
            Some(reg) => self.register(reg, entry),
            None => self.out.push('_'),
        }
    }

    fn register(&mut self, reg: Reg, entry: &Entry) {
        let Some(family) = entry.registers.family(reg) else { return self.out.push('_') };
        self.out.push_str(&family.name);
        if family.count.is_some() {
            self.integer(reg.0 - family.first.0);
        }
    }

    fn number(&mut self, bits: u64, ty: Type) {
        match ty.kind() {
            _ if ty == Type::F32 => self.out.push_str(&format!("0f{bits:08x}")),
            _ if ty == Type::F64 => self.out.push_str(&format!("0d{bits:016x}")),
            Kind::Integer if ty.is_signed() => {
                let unused = 64 - ty.bits();
                self.signed((bits << unused) as i64 >> unused);
            }
            Kind::Bits if bits > 9 => self.out.push_str(&format!("{bits:#x}")),
            _ => self.integer(bits),
        }
    }

    fn mask(&mut self, mask: u16, lanes: Lanes) {
        self.out.push('.');
        self.out.push(lanes.letter());
        (0..lanes.count()).rev().filter(|lane| mask >> lane & 1 != 0).for_each(|lane| self.integer(lane));
    }

    fn selector(&mut self, selector: u16, lanes: Lanes) {
        self.out.push('.');
        self.out.push(lanes.letter());
        let element = |lane: u32| selector >> (lane * lanes.index_bits()) & ((1 << lanes.index_bits()) - 1);
        (0..lanes.count()).rev().for_each(|lane| self.integer(element(lane)));
    }
}

const fn linkage(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Plain => "",
        Linkage::Visible => ".visible ",
        Linkage::Weak => ".weak ",
        Linkage::Common => ".common ",
    }
}
