//! Printer of PTX. The printed text of a module parses to the same module.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::object::Loc;
use crate::ptx::inst::Inst;
use crate::ptx::module::{
    AddressInitializer, BlockLimit, Body, Entry, Formal, FormalLocation, FrameVariable, Function, FunctionCode, Kernel,
    Linkage, Module, Param, Prototype, Scope, Symbol, TargetList, TargetName, Targets, Variable, Variables,
};
use crate::ptx::operand::{Address, Base, Callee, Operand, Reg, Var, Vector};
use crate::ptx::row::{Lanes, OperandKind};
use crate::ptx::types::{Token, Type, TypeKind};

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Printer::of_head(self.version, self.target);
        text.functions(&self.functions, &self.variables);
        self.entries.iter().for_each(|entry| text.separate(entry, &[]));
        f.write_str(&text.out)
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Printer::of_head(self.version, self.target);
        text.functions(&self.entry.functions, &self.entry.variables);
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

/// Formats an instruction of a kernel as a line of text, with its `;`.
pub fn inst_text(inst: &Inst, entry: &Entry) -> String {
    let mut text = Printer::default();
    text.inst(inst, entry.scope());
    text.out
}

/// Formats an instruction of a kernel or function as a line of text, with its `;`.
pub fn inst_text_in(inst: &Inst, scope: Scope<'_>) -> String {
    let mut text = Printer::default();
    text.inst(inst, scope);
    text.out
}

/// Output buffer of the printer. It avoids formatters, because a kernel consists of thousands of short strings.
#[derive(Default)]
pub(super) struct Printer {
    out: String,
}

impl Printer {
    pub(super) fn with_capacity(bytes: usize) -> Printer {
        Printer { out: String::with_capacity(bytes) }
    }

    pub(super) fn of_head((major, minor): (u8, u8), target: TargetName) -> Printer {
        let out = format!(".version {major}.{minor}\n.target {target}\n.address_size 64\n");
        Printer { out }
    }

    /// Returns the number of bytes written so far.
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    pub(super) fn into_text(self) -> String {
        self.out
    }

    pub(super) fn all(&mut self, parts: &[&str]) {
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

    /// Writes an empty line and the module variables, one variable per line.
    pub(super) fn variables(&mut self, variables: &Variables, functions: &[Function]) {
        if !variables.is_empty() {
            self.out.push('\n');
        }
        for variable in variables.iter() {
            self.variable(variable, (variables, functions));
            self.out.push('\n');
        }
    }

    /// Writes the declarations of functions, then the variables, then the definitions of functions.
    /// Variables may hold function addresses, and functions may use variables.
    fn functions(&mut self, functions: &[Function], variables: &Variables) {
        let all: Vec<u32> = (0..functions.len() as u32).collect();
        self.declare(functions, &all);
        self.variables(variables, functions);
        self.define(functions, &all, variables);
    }

    /// Writes an empty line and the declarations of the functions in `which`.
    pub(super) fn declare(&mut self, functions: &[Function], which: &[u32]) {
        self.out.push_str(if which.is_empty() { "" } else { "\n" });
        for function in which.iter().filter_map(|&number| functions.get(number as usize)) {
            self.head(function, None);
            self.out.push_str(";\n");
        }
    }

    /// Writes the definitions of the functions in `which`, each after an empty line.
    pub(super) fn define(&mut self, functions: &[Function], which: &[u32], variables: &[Variable]) {
        for function in which.iter().filter_map(|&number| functions.get(number as usize)) {
            let Some(code) = &function.code else { continue };
            self.out.push('\n');
            self.head(function, Some(code));
            self.out.push('\n');
            self.body(Scope { params: &[], body: &code.body, variables, functions }, Some(code), &[]);
        }
    }

    /// Writes the signature of a function.
    fn head(&mut self, function: &Function, code: Option<&FunctionCode>) {
        self.all(&[
            if code.is_none() && function.code.is_none() { ".extern " } else { linkage(function.linkage) },
            ".func ",
        ]);
        let Prototype { results, params } = &function.prototype;
        if !results.is_empty() {
            self.formals(results, "r", code.map(|code| (code, code.results.as_slice())));
            self.out.push(' ');
        }
        self.all(&[&function.name, " "]);
        self.formals(params, "a", code.map(|code| (code, code.params.as_slice())));
        self.out.push_str(if function.no_return { " .noreturn" } else { "" });
    }

    /// Writes a list of parameters or results: `(.param .b32 a, .reg .b32 %r)`. Without a body, the
    /// names are `prefix` with an index, or `_` if `prefix` is empty.
    fn formals(&mut self, formals: &[Formal], prefix: &str, names: Option<(&FunctionCode, &[FormalLocation])>) {
        self.out.push('(');
        for (i, formal) in formals.iter().enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            self.out.push_str(if formal.in_memory { ".param" } else { ".reg" });
            self.align(formal.align);
            self.all(&[" .", formal.ty.name(), " "]);
            match names.and_then(|(code, names)| Some((code, *names.get(i)?))) {
                Some((code, FormalLocation::Register(reg))) => self.register(reg, &code.body),
                Some((code, FormalLocation::Frame(number))) => {
                    self.out.push_str(code.body.frame.get(number as usize).map_or("_", |of| &of.name));
                }
                None if prefix.is_empty() => self.out.push('_'),
                None => {
                    self.out.push_str(prefix);
                    self.integer(i as u64);
                }
            }
            self.count(formal.count);
        }
        self.out.push(')');
    }

    fn align(&mut self, align: Option<u32>) {
        if let Some(align) = align {
            self.out.push_str(" .align ");
            self.integer(align);
        }
    }

    /// Writes an address in an initialiser: `tab+8`, `generic(tab)`, or the name of a function.
    fn address_in(&mut self, address: &AddressInitializer, (variables, functions): (&[Variable], &[Function])) {
        let name = match address.of {
            Symbol::Variable(var) => variables.get(var.number as usize).map_or("_", |variable| &variable.name),
            Symbol::Function(number) => functions.get(number as usize).map_or("_", |function| &function.name),
        };
        if address.is_generic {
            self.all(&["generic(", name, ")"]);
        } else {
            self.out.push_str(name);
        }
        if address.offset != 0 {
            self.out.push('+');
            self.signed(address.offset);
        }
    }

    fn variable(&mut self, variable: &Variable, names: (&[Variable], &[Function])) {
        self.all(&[linkage(variable.linkage), ".", variable.space.name()]);
        self.align(variable.align);
        self.all(&[" .", variable.ty.name(), " ", &variable.name]);
        if variable.linkage == Linkage::Extern {
            self.out.push_str("[]");
        }
        self.count(variable.count);
        // Trailing zeros of an initialiser can be omitted.
        let size = (variable.ty.bits() / 8) as usize;
        let values = variable.bytes.chunks(size);
        let values = values.map(|bytes| bytes.iter().rev().fold(0, |all: u64, &b| all << 8 | u64::from(b)));
        let addresses: HashMap<usize, &AddressInitializer> =
            variable.addresses.iter().map(|address| (address.at as usize, address)).collect();
        let address = |place: usize| addresses.get(&(place * size)).copied();
        let said = values.clone().enumerate().filter(|(place, value)| *value != 0 || address(*place).is_some());
        let said = said.max_by_key(|(place, _)| *place).map_or(0, |(place, _)| place + 1);
        for (i, value) in values.take(said).enumerate() {
            self.out.push_str(match (i, variable.count) {
                (0, None) => " = ",
                (0, Some(_)) => " = {",
                _ => ", ",
            });
            if let Some(address) = address(i) {
                self.address_in(address, names);
                continue;
            }
            match variable.ty {
                Type::F64 => self.out.push_str(&format!("0d{value:016x}")),
                // A byte is shortest as a decimal number.
                Type::B8 => self.integer(value),
                ty => self.number(value, ty),
            }
        }
        self.out.push_str(if said != 0 && variable.count.is_some() { "};" } else { ";" });
    }

    /// Writes `[n]` after the name of an array.
    fn count(&mut self, count: Option<u32>) {
        if let Some(count) = count {
            self.out.push('[');
            self.integer(count);
            self.out.push(']');
        }
    }

    /// Writes a kernel after an empty line.
    pub(super) fn separate(&mut self, entry: &Entry, locs: &[Loc]) {
        self.out.push('\n');
        self.entry(entry, locs);
    }

    fn entry(&mut self, entry: &Entry, locs: &[Loc]) {
        self.all(&[linkage(entry.linkage), ".entry ", &entry.name, "("]);
        for (i, param) in entry.params.iter().enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            self.param(param);
        }
        self.out.push_str(")\n");
        if entry.blocks != BlockLimit::Any {
            self.out.push_str(&format!("{}\n", entry.blocks));
        }
        entry.hints.iter().for_each(|hint| self.all(&[hint, "\n"]));
        self.body(entry.scope(), None, locs);
    }

    /// Writes the declarations and instructions of a body in braces. A `.loc` precedes each
    /// instruction whose source location differs from that of the previous one. The signature of a
    /// function already declares its parameters and results.
    fn body(&mut self, scope: Scope<'_>, function: Option<&FunctionCode>, locs: &[Loc]) {
        let Body { registers, frame, insts, labels, tables, pragmas } = scope.body;
        let passed: HashSet<FormalLocation> =
            function.into_iter().flat_map(|code| code.results.iter().chain(&code.params)).copied().collect();
        self.out.push_str("{\n");
        for family in
            registers.families().iter().filter(|family| !passed.contains(&FormalLocation::Register(family.first)))
        {
            self.all(&["    .reg .", family.ty.name(), " ", &family.name]);
            if let Some(count) = family.count {
                self.out.push('<');
                self.integer(count);
                self.out.push('>');
            }
            self.out.push_str(";\n");
        }
        for (_, variable) in (0..).zip(frame).filter(|(number, _)| !passed.contains(&FormalLocation::Frame(*number))) {
            self.frame_variable(variable);
        }
        tables.iter().for_each(|table| self.table(table, scope));
        let mut labels = labels.iter().peekable();
        let mut pragmas = pragmas.iter().peekable();
        let mut told = Loc::default();
        for (place, inst) in insts.iter().enumerate() {
            while let Some(label) = labels.next_if(|label| label.at as usize <= place) {
                self.all(&[&label.name, ":\n"]);
            }
            while let Some(pragma) = pragmas.next_if(|pragma| pragma.at as usize <= place) {
                self.all(&["    .pragma ", &pragma.text, ";\n"]);
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
            self.inst(inst, scope);
            self.out.push('\n');
        }
        labels.for_each(|label| self.all(&[&label.name, ":\n"]));
        self.out.push_str("}\n");
    }

    fn frame_variable(&mut self, variable: &FrameVariable) {
        self.all(&["    .", variable.space.name()]);
        self.align(variable.align);
        self.all(&[" .", variable.ty.name(), " ", &variable.name]);
        self.count(variable.count);
        self.out.push_str(";\n");
    }

    fn table(&mut self, table: &TargetList, scope: Scope<'_>) {
        self.all(&["    ", &table.name, ": "]);
        let names = |text: &mut Printer, directive: &str, names: Vec<&str>| {
            text.all(&[directive, " ", &names.join(", ")]);
        };
        match &table.of {
            Targets::Labels(labels) => {
                let name = |label: &crate::ptx::Label| scope.body.labels.get(label.0 as usize);
                let all = labels.iter().map(|label| name(label).map_or("_", |label| &label.name)).collect();
                names(self, ".branchtargets", all);
            }
            Targets::Functions(functions) => {
                let name = |number: &u32| scope.functions.get(*number as usize).map_or("_", |of| &of.name);
                names(self, ".calltargets", functions.iter().map(name).collect());
            }
            Targets::Prototype(Prototype { results, params }) => {
                self.out.push_str(".callprototype ");
                if !results.is_empty() {
                    self.formals(results, "", None);
                    self.out.push(' ');
                }
                self.out.push_str("_ ");
                self.formals(params, "", None);
            }
        }
        self.out.push_str(";\n");
    }

    fn param(&mut self, param: &Param) {
        self.out.push_str(".param");
        self.align(param.align);
        self.all(&[" .", param.ty.name()]);
        if let Some(target) = param.pointer {
            self.out.push_str(" .ptr");
            if let Some(space) = target.space {
                self.all(&[" .", space.name()]);
            }
            self.align(target.align);
        }
        self.all(&[" ", &param.name]);
        self.count(param.count);
    }

    fn inst(&mut self, inst: &Inst, scope: Scope<'_>) {
        if let Some(guard) = inst.guard {
            self.out.push_str(if guard.not { "@!" } else { "@" });
            self.register(guard.reg, scope.body);
            self.out.push(' ');
        }
        self.out.push_str(inst.row().mnemonic);
        for word in &inst.modifiers {
            self.all(&[".", word.text()]);
        }
        if let Some(&Operand::Call { callee, results }) = inst.operands.first() {
            self.call(inst, (callee, results.into()), scope);
        } else {
            for (i, (o, operand)) in inst.operands_with_rows().enumerate() {
                self.out.push_str(if i == 0 { " " } else { ", " });
                self.operand(operand, o.shape, &inst.modifiers, scope);
            }
        }
        self.out.push(';');
    }

    /// Writes the operands of a call: ` (results), callee, (arguments), targets`.
    fn call(&mut self, inst: &Inst, (callee, results): (Callee, usize), scope: Scope<'_>) {
        let mut rest = inst.operands.iter().skip(1).peekable();
        let table = rest.next_if(|operand| matches!(operand, Operand::Table(_)));
        let passed: Vec<&Operand> = rest.collect();
        let (results, arguments) = passed.split_at_checked(results).unwrap_or((&passed, &[]));
        let list = |text: &mut Printer, all: &[&Operand]| {
            text.out.push('(');
            for (i, operand) in all.iter().enumerate() {
                text.out.push_str(if i == 0 { "" } else { ", " });
                text.operand(operand, OperandKind::Arguments, &inst.modifiers, scope);
            }
            text.out.push(')');
        };
        self.out.push(' ');
        if !results.is_empty() {
            list(self, results);
            self.out.push_str(", ");
        }
        match callee {
            Callee::Function(number) => self.function(number, scope),
            Callee::Register(reg) => self.register(reg, scope.body),
        }
        if !arguments.is_empty() {
            self.out.push_str(", ");
            list(self, arguments);
        }
        if let Some(table) = table {
            self.out.push_str(", ");
            self.operand(table, OperandKind::Table, &inst.modifiers, scope);
        }
    }

    fn function(&mut self, number: u32, scope: Scope<'_>) {
        self.out.push_str(scope.functions.get(number as usize).map_or("_", |function| &function.name));
    }

    fn operand(&mut self, operand: &Operand, shape: OperandKind, words: &[Token], scope: Scope<'_>) {
        match operand {
            &Operand::Register(reg) => self.register(reg, scope.body),
            &Operand::Not(reg) => {
                self.out.push('!');
                self.register(reg, scope.body);
            }
            &Operand::Pair([p, q]) => {
                self.element(p, scope);
                self.out.push('|');
                self.element(q, scope);
            }
            &Operand::Number(bits) => self.number(
                bits,
                match shape {
                    OperandKind::Value(ty) | OperandKind::Elements(ty) | OperandKind::Part { ty, .. } => {
                        ty.resolve(words).0
                    }
                    OperandKind::Sign => Type::S8,
                    OperandKind::Fraction => Type::F32,
                    OperandKind::BarrierId | OperandKind::ThreadCount { .. } => Type::U32,
                    _ => Type::B8,
                },
            ),
            Operand::Special(special) => self.out.push_str(&special.to_string()),
            Operand::Vector(regs) if self.is_of_128_bits(regs, scope.body) => {
                regs.iter().take(1).for_each(|reg| self.element(reg, scope));
            }
            Operand::Vector(regs) => {
                for (i, reg) in regs.iter().enumerate() {
                    self.out.push_str(if i == 0 { "{" } else { ", " });
                    self.element(reg, scope);
                }
                self.out.push('}');
            }
            &Operand::Lanes { reg, digits } => {
                self.register(reg, scope.body);
                match shape {
                    OperandKind::Masked(lanes) => self.mask(digits, lanes),
                    OperandKind::Selected(lanes, _) => self.selector(digits, lanes),
                    _ => {}
                }
            }
            &Operand::Part { reg, part, negated } => {
                self.out.push_str(if negated { "-" } else { "" });
                self.register(reg, scope.body);
                self.out.push_str(part.selector());
            }
            Operand::Memory(address) => self.address(address, scope),
            &Operand::Variable { var, offset } => {
                self.name_of(var, scope);
                self.offset(offset);
            }
            Operand::Label(label) => {
                self.out.push_str(scope.body.labels.get(label.0 as usize).map_or("_", |label| &label.name));
            }
            &Operand::Frame { var, offset } => {
                self.frame(var.number, scope);
                self.offset(offset);
            }
            &Operand::Parameter { number, offset } => {
                self.parameter(number, scope);
                self.offset(offset);
            }
            &Operand::Function(number) => self.function(number, scope),
            // The callee is written by [`Printer::call`].
            Operand::Call { .. } => {}
            &Operand::Table(number) => {
                self.out.push_str(scope.body.tables.get(number as usize).map_or("_", |table| &table.name));
            }
        }
    }

    fn address(&mut self, address: &Address, scope: Scope<'_>) {
        self.out.push('[');
        match address.base {
            Base::Register(reg) => self.register(reg, scope.body),
            Base::Variable(var) => self.name_of(var, scope),
            Base::Frame(var) => self.frame(var.number, scope),
            Base::Parameter(number) => self.parameter(number, scope),
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

    fn frame(&mut self, number: u32, scope: Scope<'_>) {
        self.out.push_str(scope.body.frame.get(number as usize).map_or("_", |variable| &variable.name));
    }

    fn parameter(&mut self, number: u32, scope: Scope<'_>) {
        self.out.push_str(scope.params.get(number as usize).map_or("_", |param| &param.name));
    }

    fn name_of(&mut self, var: Var, scope: Scope<'_>) {
        self.out.push_str(scope.variables.get(var.number as usize).map_or("_", |variable| &variable.name));
    }

    fn element(&mut self, reg: Option<Reg>, scope: Scope<'_>) {
        match reg {
            Some(reg) => self.register(reg, scope.body),
            None => self.out.push('_'),
        }
    }

    fn is_of_128_bits(&self, regs: &Vector, body: &Body) -> bool {
        regs.pair().is_some_and(|[low, _]| body.registers.ty(low) == Some(Type::B128))
    }

    fn register(&mut self, reg: Reg, body: &Body) {
        let Some(family) = body.registers.family(reg) else { return self.out.push('_') };
        self.out.push_str(&family.name);
        if family.count.is_some() {
            self.integer((reg.0 - family.first.0) / family.width());
        }
    }

    fn number(&mut self, bits: u64, ty: Type) {
        match ty.kind() {
            _ if ty == Type::F32 => self.out.push_str(&format!("0f{bits:08x}")),
            _ if ty == Type::F64 => self.out.push_str(&format!("0d{bits:016x}")),
            TypeKind::Integer if ty.is_signed() => {
                let unused = 64 - ty.bits();
                self.signed((bits << unused) as i64 >> unused);
            }
            TypeKind::Bits if bits > 9 => self.out.push_str(&format!("{bits:#x}")),
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
        Linkage::Extern => ".extern ",
    }
}
