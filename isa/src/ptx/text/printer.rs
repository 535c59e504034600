//! Prints a module as the text that it reads from, with the source of its instructions or without.

use std::fmt::{self, Write};

use crate::object::Loc;
use crate::ptx::inst::{Base, Inst, Operand, Reg, Var};
use crate::ptx::module::{Entry, Kernel, Linkage, Module, Param, TargetName, Variable, Variables};
use crate::ptx::row::{Lanes, Shape};
use crate::ptx::types::{Kind, Type};

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        head(f, self.version, self.target)?;
        variables(f, &self.variables)?;
        self.entries.iter().try_for_each(|entry| write!(f, "\n{entry}"))
    }
}

/// A module as text that tells assembler and debugger what each instruction comes from.
pub struct Sourced<'a> {
    /// The module.
    pub module: &'a Module,
    /// The name of the source text.
    pub file: &'a str,
    /// The place of each instruction of each entry there.
    pub locs: &'a [&'a [Loc]],
}

impl fmt::Display for Sourced<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        head(f, self.module.version, self.module.target)?;
        // A string ends at its line's end, and nothing stands for a quote in it.
        let file = self.file.replace(|c: char| c == '"' || c.is_control(), "_");
        writeln!(f, ".file 1 \"{file}\"")?;
        variables(f, &self.module.variables)?;
        let mut locs = self.locs.iter();
        self.module.entries.iter().try_for_each(|entry| {
            f.write_char('\n')?;
            entry.print(f, locs.next().copied().unwrap_or_default())
        })
    }
}

fn head(f: &mut fmt::Formatter<'_>, (major, minor): (u8, u8), target: TargetName) -> fmt::Result {
    writeln!(f, ".version {major}.{minor}\n.target {target}\n.address_size 64")
}

fn linkage(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Plain => "",
        Linkage::Visible => ".visible ",
        Linkage::Weak => ".weak ",
    }
}

/// Variables, a line each, behind an empty line.
fn variables(f: &mut fmt::Formatter<'_>, variables: &Variables) -> fmt::Result {
    if !variables.is_empty() {
        f.write_char('\n')?;
    }
    variables.iter().try_for_each(|variable| writeln!(f, "{variable}"))
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", linkage(self.linkage), self.space.name())?;
        self.align.map_or(Ok(()), |align| write!(f, " .align {align}"))?;
        write!(f, " {} {}", self.ty, self.name)?;
        self.count.map_or(Ok(()), |count| write!(f, "[{count}]"))?;
        // What follows the last that is not zero is zero unsaid.
        let size = (self.ty.bits() / 8) as usize;
        let values = self.bytes.chunks(size).map(|bytes| bytes.iter().rev().fold(0, |all, &b| all << 8 | u64::from(b)));
        let said = values.clone().zip(1..).filter(|(value, _)| *value != 0).last().map_or(0, |(_, count)| count);
        for (i, value) in values.take(said).enumerate() {
            f.write_str(match (i, self.count) {
                (0, None) => " = ",
                (0, Some(_)) => " = {",
                _ => ", ",
            })?;
            match self.ty {
                // A byte is a byte: the shortest form.
                Type::F64 => write!(f, "0d{value:016x}")?,
                Type::B8 => write!(f, "{value}")?,
                ty => number(f, value, ty)?,
            }
        }
        f.write_str(if said != 0 && self.count.is_some() { "};" } else { ";" })
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        head(f, self.version, self.target)?;
        variables(f, &self.entry.variables)?;
        write!(f, "\n{}", self.entry)
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(f, &[])
    }
}

impl Entry {
    /// With `.loc` before each instruction whose place is another one than before.
    fn print(&self, f: &mut fmt::Formatter<'_>, locs: &[Loc]) -> fmt::Result {
        f.write_str(linkage(self.linkage))?;
        write!(f, ".entry {}(", self.name)?;
        for (i, param) in self.params.iter().enumerate() {
            write!(f, "{}{param}", if i == 0 { "" } else { ", " })?;
        }
        f.write_str(")\n{\n")?;
        for family in self.registers.families() {
            write!(f, "    .reg {} {}", family.ty, family.name)?;
            family.count.map_or(Ok(()), |count| write!(f, "<{count}>"))?;
            f.write_str(";\n")?;
        }
        let mut labels = self.labels.iter().peekable();
        let mut told = Loc::default();
        for (place, inst) in self.insts.iter().enumerate() {
            while let Some(label) = labels.next_if(|label| label.at as usize <= place) {
                writeln!(f, "{}:", label.name)?;
            }
            let loc = locs.get(place).copied().unwrap_or_default();
            if loc.is_known() && loc != told {
                writeln!(f, "    .loc 1 {} {}", loc.line, loc.column)?;
                told = loc;
            }
            f.write_str("    ")?;
            print(f, inst, self)?;
            f.write_char('\n')?;
        }
        labels.try_for_each(|label| writeln!(f, "{}:", label.name))?;
        f.write_str("}\n")
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(".param")?;
        if let Some(align) = self.align {
            write!(f, " .align {align}")?;
        }
        write!(f, " {}", self.ty)?;
        if let Some(align) = self.pointer {
            f.write_str(" .ptr .global")?;
            align.map_or(Ok(()), |align| write!(f, " .align {align}"))?;
        }
        write!(f, " {}", self.name)?;
        self.count.map_or(Ok(()), |count| write!(f, "[{count}]"))
    }
}

/// An instruction of a kernel as a line of text, with its `;`.
pub fn inst_text(inst: &Inst, entry: &Entry) -> String {
    let mut text = String::new();
    // Writing to a string succeeds.
    let _ = print(&mut text, inst, entry);
    text
}

fn print(f: &mut dyn Write, inst: &Inst, entry: &Entry) -> fmt::Result {
    if let Some(guard) = inst.guard {
        f.write_str(if guard.not { "@!" } else { "@" })?;
        register(f, guard.reg, entry)?;
        f.write_char(' ')?;
    }
    f.write_str(inst.row().mnemonic)?;
    inst.words.iter().try_for_each(|word| write!(f, "{word}"))?;
    for (i, (operand, o)) in inst.operands.iter().zip(inst.row().operands_with(&inst.words)).enumerate() {
        f.write_str(if i == 0 { " " } else { ", " })?;
        print_operand(f, operand, o.shape, inst, entry)?;
    }
    f.write_char(';')
}

fn print_operand(f: &mut dyn Write, operand: &Operand, shape: Shape, inst: &Inst, entry: &Entry) -> fmt::Result {
    match operand {
        &Operand::Register(reg) => register(f, reg, entry),
        &Operand::Not(reg) => {
            f.write_char('!')?;
            register(f, reg, entry)
        }
        &Operand::Pair([p, q]) => {
            element(f, p, entry)?;
            f.write_char('|')?;
            element(f, q, entry)
        }
        &Operand::Number(bits) => {
            let ty = match shape {
                Shape::Value(ty) => ty.resolve(&inst.words).0,
                _ => Type::B8,
            };
            number(f, bits, ty)
        }
        Operand::Special(special) => write!(f, "{special}"),
        Operand::Vector(regs) => {
            for (i, &reg) in regs.iter().enumerate() {
                f.write_str(if i == 0 { "{" } else { ", " })?;
                element(f, reg, entry)?;
            }
            f.write_char('}')
        }
        &Operand::Lanes { reg, digits } => {
            register(f, reg, entry)?;
            match shape {
                Shape::Masked(lanes) => mask(f, digits, lanes),
                Shape::Selected(lanes, _) => selector(f, digits, lanes),
                _ => Ok(()),
            }
        }
        Operand::Memory(address) => {
            f.write_char('[')?;
            match address.base {
                Base::Register(reg) => register(f, reg, entry)?,
                Base::Variable(var) => variable(f, var, entry)?,
                Base::Parameter(param) => {
                    f.write_str(entry.params.get(param as usize).map_or("_", |param| &param.name))?;
                }
            }
            match address.offset {
                0 => f.write_char(']'),
                offset => write!(f, "+{offset}]"),
            }
        }
        &Operand::Variable { var, offset } => {
            variable(f, var, entry)?;
            if offset == 0 { Ok(()) } else { write!(f, "+{offset}") }
        }
        Operand::Label(label) => f.write_str(entry.labels.get(label.0 as usize).map_or("_", |label| &label.name)),
    }
}

fn variable(f: &mut dyn Write, var: Var, entry: &Entry) -> fmt::Result {
    f.write_str(entry.variables.get(var.number as usize).map_or("_", |variable| &variable.name))
}

fn element(f: &mut dyn Write, reg: Option<Reg>, entry: &Entry) -> fmt::Result {
    match reg {
        Some(reg) => register(f, reg, entry),
        None => f.write_char('_'),
    }
}

fn register(f: &mut dyn Write, reg: Reg, entry: &Entry) -> fmt::Result {
    match entry.registers.family(reg) {
        Some(family) if family.count.is_some() => write!(f, "{}{}", family.name, reg.0 - family.first.0),
        Some(family) => f.write_str(&family.name),
        None => f.write_char('_'),
    }
}

fn number(f: &mut dyn Write, bits: u64, ty: Type) -> fmt::Result {
    match ty.kind() {
        _ if ty == Type::F32 => write!(f, "0f{bits:08x}"),
        Kind::Integer if ty.is_signed() => {
            let unused = 64 - ty.bits();
            write!(f, "{}", (bits << unused) as i64 >> unused)
        }
        Kind::Bits if bits > 9 => write!(f, "{bits:#x}"),
        _ => write!(f, "{bits}"),
    }
}

fn mask(f: &mut dyn Write, mask: u16, lanes: Lanes) -> fmt::Result {
    write!(f, ".{}", lanes.letter())?;
    (0..lanes.count()).rev().filter(|lane| mask >> lane & 1 != 0).try_for_each(|lane| write!(f, "{lane}"))
}

fn selector(f: &mut dyn Write, selector: u16, lanes: Lanes) -> fmt::Result {
    write!(f, ".{}", lanes.letter())?;
    let element = |lane: u32| selector >> (lane * lanes.index_bits()) & ((1 << lanes.index_bits()) - 1);
    (0..lanes.count()).rev().try_for_each(|lane| write!(f, "{}", element(lane)))
}
