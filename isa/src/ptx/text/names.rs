//! Symbol table of a kernel or function body.
//!
//! A scope in braces has its own registers, variables and labels. A label that a scope uses but
//! does not define belongs to an enclosing scope, which may define it later.

use std::collections::{HashMap, HashSet};

use super::error::{Error, ErrorKind};
use crate::object::Loc;
use crate::ptx::Opcode;
use crate::ptx::inst::Inst;
use crate::ptx::module::{Body, FrameVariable, LabelName, Pragma, Registers, TargetList, Targets, width};
use crate::ptx::operand::{Base, FrameVar, Label, Operand, Reg, Var};
use crate::ptx::types::{Special, Token, Type, TypeKind};

/// Maximum number of digits in the name of a register of a numbered range.
const MAX_DIGITS: usize = 7;

/// The variables of the module by name, with the shared variables of the current body.
#[derive(Default)]
pub(super) struct VariableNames<'a> {
    by_name: HashMap<&'a str, Var>,
    /// For each prefix, the number of variables whose names are the prefix followed by digits.
    stems: HashMap<&'a str, usize>,
}

impl<'a> VariableNames<'a> {
    pub(super) fn get(&self, name: &str) -> Option<Var> {
        self.by_name.get(name).copied()
    }

    /// Adds a variable. Returns the variable that had the name before, if any.
    pub(super) fn insert(&mut self, name: &'a str, var: Var) -> Option<Var> {
        let before = self.by_name.insert(name, var);
        if before.is_none() && stem(name) != name {
            *self.stems.entry(stem(name)).or_default() += 1;
        }
        before
    }

    pub(super) fn remove(&mut self, name: &str) {
        if self.by_name.remove(name).is_some()
            && let Some(count) = self.stems.get_mut(stem(name)).filter(|_| stem(name) != name)
        {
            *count -= 1;
        }
    }

    /// Returns `true` if the name of a variable is `stem` followed by digits.
    fn has_stem(&self, stem: &str) -> bool {
        self.stems.get(stem).is_some_and(|&count| count > 0)
    }
}

/// The symbol table of a body.
#[derive(Default)]
pub(super) struct Names<'a> {
    /// The registers declared so far.
    pub registers: Registers,
    single: HashMap<&'a str, Declared>,
    families: HashMap<&'a str, Declared>,
    params: HashMap<&'a str, u32>,
    /// The frame variables declared so far.
    frame: Vec<FrameVariable>,
    frame_names: HashMap<&'a str, FrameSymbol>,
    tables: HashMap<&'a str, u32>,
    /// The target lists, in the order of their first use. A list is identified by its index.
    lists: Vec<List<'a>>,
    labels: HashMap<&'a str, Label>,
    /// The labels, in the order of their first use. A label is identified by its index.
    mentioned: Vec<LabelUse<'a>>,
    /// The labels that have been defined, in the order of the text.
    placed: Vec<Label>,
    /// The labels that scopes use but do not define, in the order in which the scopes were closed.
    aliased: Vec<Label>,
    /// The names declared outside all scopes. Registers, variables, parameters and labels share one namespace.
    declared: HashSet<&'a str>,
    /// The open scopes, outermost first.
    scopes: Vec<Scope<'a>>,
    /// `true` if the body has at least one scope.
    has_blocks: bool,
    /// The indices of the register declarations inside scopes.
    nested: Vec<usize>,
    /// The registers that are initialised at the start of the body, with their types and values. These registers
    /// replace immediates in vectors, and special registers as operands of instructions other than `mov`.
    held: Vec<(Reg, Type, Operand)>,
    /// The instructions that compute operands of the current instruction.
    before: Vec<Inst>,
    /// The registers in `held` that are initialised with immediates.
    immediates: HashMap<(Type, u64), Reg>,
    /// The registers that replace the operand `_`. These registers are written but never read.
    unread: Vec<(Type, Reg)>,
    /// The indices of the frame variables that are declared inside scopes.
    nested_frame: Vec<usize>,
    pragmas: Vec<Pragma>,
}

#[derive(Clone, Copy)]
struct Declared {
    first: Reg,
    count: u32,
    /// The number of register indices for each declared register: two for 128 bits, otherwise one.
    width: u32,
    at: Loc,
    /// The number of scopes that enclose the declaration.
    depth: usize,
}

#[derive(Clone, Copy)]
struct FrameSymbol {
    var: FrameVar,
    depth: usize,
}

/// A target list or prototype of indirect branches or calls.
struct List<'a> {
    name: &'a str,
    at: Loc,
    of: Option<Targets>,
}

struct LabelUse<'a> {
    name: &'a str,
    at: Loc,
    place: Option<u32>,
    /// The label of an enclosing scope to which the name refers, if this scope does not define it.
    alias: Option<Label>,
}

/// A scope in braces, with the declarations of enclosing scopes that it shadows.
#[derive(Default)]
struct Scope<'a> {
    declared: HashSet<&'a str>,
    /// The number of shared variables that the body declares before the scope.
    shared: usize,
    single: Vec<(&'a str, Option<Declared>)>,
    families: Vec<(&'a str, Option<Declared>)>,
    frame: Vec<(&'a str, Option<FrameSymbol>)>,
    labels: HashMap<&'a str, Label>,
}

impl<'a> Names<'a> {
    /// Returns the register with this name. If several scopes declare the name, the innermost scope takes precedence.
    pub(super) fn register(&self, name: &str) -> Option<Reg> {
        let (depth, reg) = self.innermost(name)?;
        let is_hidden = !self.scopes.is_empty() && self.frame_names.get(name).is_some_and(|of| of.depth > depth);
        (!is_hidden).then_some(reg)
    }

    /// Returns the frame variable with this name, if one is visible.
    pub(super) fn frame_variable(&self, name: &str) -> Option<FrameVar> {
        self.frame_names.get(name).map(|of| of.var)
    }

    /// Returns the register with this name, and the number of scopes that enclose its declaration.
    fn innermost(&self, name: &str) -> Option<(usize, Reg)> {
        let single = self.single.get(name).map(|declared| (declared.depth, declared.first));
        // Without scopes, a name has only one declaration. If scopes declare the name both as a
        // single register and in a range, the inner declaration takes precedence.
        match (single, self.scopes.is_empty()) {
            (Some(found), true) => Some(found),
            (single, _) => single.into_iter().chain(self.numbered(name)).max_by_key(|(depth, _)| *depth),
        }
    }

    /// Returns the register with a numbered name such as `%r12`, and the number of scopes that enclose its declaration.
    /// The prefix may end in digits, too, so every split into prefix and number is tried.
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

    /// Reserves a name in the innermost open scope.
    pub(super) fn take(&mut self, name: &'a str, at: Loc) -> Result<(), Error> {
        let declared = self.scopes.last_mut().map_or(&mut self.declared, |scope| &mut scope.declared);
        match declared.insert(name) {
            true => Ok(()),
            false => Err(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) }),
        }
    }

    /// Declares a register, or a numbered range of registers.
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

    /// Declares a frame variable and returns its index.
    pub(super) fn declare_frame(&mut self, name: &'a str, variable: FrameVariable, at: Loc) -> Result<u32, Error> {
        self.take(name, at)?;
        let depth = self.scopes.len();
        let number = self.frame.len() as u32;
        let var = FrameVar { number, space: variable.space };
        let hidden = self.frame_names.insert(name, FrameSymbol { var, depth });
        if let Some(scope) = self.scopes.last_mut() {
            scope.frame.push((name, hidden));
            self.nested_frame.push(self.frame.len());
        }
        self.frame.push(variable);
        Ok(number)
    }

    /// Declares a frame variable outside all scopes. No visible symbol may have the name.
    pub(super) fn declare_outermost(&mut self, name: &'a str, variable: FrameVariable) -> FrameVar {
        let var = FrameVar { number: self.frame.len() as u32, space: variable.space };
        self.declared.insert(name);
        self.frame_names.insert(name, FrameSymbol { var, depth: 0 });
        self.frame.push(variable);
        var
    }

    /// Returns the index of the target list with this name. The first use of a name creates the list.
    pub(super) fn table(&mut self, name: &'a str, at: Loc) -> u32 {
        let lists = &mut self.lists;
        *self.tables.entry(name).or_insert_with(|| {
            lists.push(List { name, at, of: None });
            lists.len() as u32 - 1
        })
    }

    /// Defines the targets of the target list with this name.
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

    /// Returns `true` if a target list with this name has been used or defined.
    pub(super) fn has_table(&self, name: &str) -> bool {
        self.tables.contains_key(name)
    }

    /// Returns the number of registers that are initialised at the start of the body.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// Returns a register that is initialised with an immediate at the start of the body.
    pub(super) fn register_for_immediate(&mut self, ty: Type, bits: u64) -> Result<Reg, ErrorKind> {
        if ty.bits() < 16 && ty != Type::Pred {
            return Err(ErrorKind::Unsupported("an immediate in a vector of bytes".to_owned()));
        }
        if let Some(reg) = self.immediates.get(&(ty, bits)) {
            return Ok(*reg);
        }
        let reg = self.hold(ty, Operand::Number(bits), "%number")?;
        self.immediates.insert((ty, bits), reg);
        Ok(reg)
    }

    /// Returns a register that is initialised with a 32-bit special register at the start of the
    /// body. The value of the special register must not change while a thread runs.
    pub(super) fn holding_special(&mut self, special: Special) -> Result<Reg, ErrorKind> {
        let is_it = |held: &&(Reg, Type, Operand)| held.2 == Operand::Special(special);
        match self.held.iter().find(is_it) {
            Some((reg, ..)) => Ok(*reg),
            None => self.hold(Type::U32, Operand::Special(special), "%special"),
        }
    }

    fn hold(&mut self, ty: Type, operand: Operand, name: &str) -> Result<Reg, ErrorKind> {
        let reg = self.registers.declare(name, ty, None).ok_or(ErrorKind::Registers)?;
        self.nested.push(self.registers.families().len() - 1);
        self.held.push((reg, ty, operand));
        Ok(reg)
    }

    /// Returns a register of `bits` bits that is never read. The register replaces the operand `_`.
    pub(super) fn discard_register(&mut self, bits: u32) -> Result<Reg, ErrorKind> {
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

    /// Returns the declaration of a frame variable, or `None` if the index is not declared.
    pub(super) fn frame(&self, var: FrameVar) -> Option<&FrameVariable> {
        self.frame.get(var.number as usize)
    }

    /// Returns a register with the sum of `reg` and a number. An instruction that is inserted
    /// before the current one computes the sum.
    pub(super) fn sum(&mut self, reg: Reg, number: i64) -> Result<Reg, ErrorKind> {
        let found = self.registers.ty(reg).unwrap_or(Type::Pred);
        let is_whole = matches!(found.kind(), TypeKind::Bits | TypeKind::Integer);
        let types = [(Type::S16, Type::B16), (Type::S32, Type::B32), (Type::S64, Type::B64)];
        let types = types.into_iter().find(|(ty, _)| is_whole && ty.bits() == found.bits());
        let (ty, held) =
            types.ok_or_else(|| ErrorKind::Unsupported(format!("the sum of a {found} register and a number")))?;
        let number = Operand::Number(ty.truncate(number.cast_unsigned()));
        self.compute(Opcode::ADD, (ty, held), [Operand::Register(reg), number])
    }

    /// Returns a predicate register with the negation of `reg`. An instruction that is inserted
    /// before the current one computes the negation.
    pub(super) fn negation(&mut self, reg: Reg) -> Result<Reg, ErrorKind> {
        match self.registers.ty(reg) {
            Some(Type::Pred) => self.compute(Opcode::NOT, (Type::Pred, Type::Pred), [Operand::Register(reg)]),
            _ => Err(ErrorKind::Expected { expected: "a predicate after `!`", found: "a register".to_owned() }),
        }
    }

    /// Returns a register of type `held` with the result of an instruction that is inserted before
    /// the current one.
    fn compute<const N: usize>(
        &mut self,
        opcode: Opcode,
        (ty, held): (Type, Type),
        sources: [Operand; N],
    ) -> Result<Reg, ErrorKind> {
        // An instruction may be matched against several rows, and each match converts its operands.
        // A register that an earlier match has created is used again.
        let is_it = |inst: &&Inst| inst.opcode == opcode && inst.operands.get(1..) == Some(&sources[..]);
        if let Some(Operand::Register(reg)) = self.before.iter().find(is_it).and_then(|inst| inst.operands.first()) {
            return Ok(*reg);
        }
        let reg = self.registers.declare("%source", held, None).ok_or(ErrorKind::Registers)?;
        self.nested.push(self.registers.families().len() - 1);
        let operands = [Operand::Register(reg)].into_iter().chain(sources).collect();
        self.before.push(Inst { opcode, modifiers: [Token::Type(ty)].into_iter().collect(), guard: None, operands });
        Ok(reg)
    }

    /// Takes the instructions that compute operands of the current instruction.
    pub(super) fn take_before(&mut self) -> Vec<Inst> {
        std::mem::take(&mut self.before)
    }

    /// Opens a scope. `shared` is the number of shared variables that the body has declared so far.
    pub(super) fn open(&mut self, shared: usize) {
        self.scopes.push(Scope { shared, ..Scope::default() });
        self.has_blocks = true;
    }

    /// Closes the innermost scope. Returns the number of shared variables that the body declares
    /// before the scope, or `None` if no scope is open.
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
        // Sort the labels by index, so that the result is deterministic.
        let mut labels: Vec<(&'a str, Label)> = scope.labels.into_iter().collect();
        labels.sort_by_key(|(_, label)| *label);
        for (name, label) in labels {
            let Some(mention) = self.mentioned.get_mut(label.0 as usize) else { continue };
            if mention.place.is_none() {
                let around = *outer.entry(name).or_insert(label);
                if around != label {
                    mention.alias = Some(around);
                    self.aliased.push(label);
                }
            }
        }
        Some(scope.shared)
    }

    /// Declares the parameter with index `number`.
    pub(super) fn param(&mut self, name: &'a str, number: u32, at: Loc) -> Result<(), Error> {
        self.take(name, at)?;
        self.params.insert(name, number);
        Ok(())
    }

    /// Adds a pragma before the instruction with index `at`.
    pub(super) fn pragma(&mut self, at: u32, text: String) {
        self.pragmas.push(Pragma { text, at });
    }

    /// Returns the frame variable or parameter with this name, as the base of an address.
    pub(super) fn base(&self, name: &str) -> Option<Base> {
        let of_frame = self.frame_variable(name).map(Base::Frame);
        of_frame.or_else(|| self.params.get(name).copied().map(Base::Parameter))
    }

    /// Returns the label with this name in the innermost scope. The first use of a name creates the label.
    pub(super) fn label(&mut self, name: &'a str, at: Loc) -> Label {
        let mentioned = &mut self.mentioned;
        let labels = self.scopes.last_mut().map_or(&mut self.labels, |scope| &mut scope.labels);
        *labels.entry(name).or_insert_with(|| {
            mentioned.push(LabelUse { name, at, place: None, alias: None });
            Label(mentioned.len() as u32 - 1)
        })
    }

    /// Defines a label before the instruction with index `place`.
    pub(super) fn place(&mut self, name: &'a str, place: u32, at: Loc) -> Result<(), Error> {
        self.take(name, at)?;
        let label = self.label(name, at);
        if let Some(mention) = self.mentioned.get_mut(label.0 as usize) {
            mention.place = Some(place);
            self.placed.push(label);
        }
        Ok(())
    }

    /// Builds the body from its instructions, and updates the label indices in the instructions.
    /// Labels are renumbered in the order of the text. Symbols of scopes are renamed if their names
    /// are not unique. `variables` are the variables of the module.
    pub(super) fn finish(
        mut self,
        mut insts: Vec<Inst>,
        errors: &mut Vec<Error>,
        variables: &VariableNames<'a>,
    ) -> Body {
        let undefined = self.lists.iter().filter(|list| list.of.is_none());
        errors.extend(undefined.map(|list| Error { at: list.at, kind: ErrorKind::Label(list.name.to_owned()) }));
        let undefined = self.mentioned.iter().filter(|mention| mention.place.is_none() && mention.alias.is_none());
        errors.extend(undefined.map(|m| Error { at: m.at, kind: ErrorKind::Label(m.name.to_owned()) }));
        // A single register and a numbered range must not declare the same name.
        let twice = self.single.iter().filter(|(name, _)| self.numbered(name).is_some());
        errors.extend(twice.map(|(name, d)| Error { at: d.at, kind: ErrorKind::Duplicate((*name).to_owned()) }));

        let before = self.held.len() as u32;
        let mut order = vec![Label(0); self.mentioned.len()];
        let mut labels = Vec::with_capacity(self.placed.len());
        // Names can collide only if there are scopes or implicit registers.
        let may_collide = self.has_blocks || !self.nested.is_empty();
        let mut taken = Taken { variables: may_collide.then_some(variables), ..Taken::default() };
        if may_collide {
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
        // An inner scope closes before an outer one. In reverse order, each alias is resolved after
        // the label of the outer scope to which it refers.
        for label in self.aliased.iter().rev() {
            let target = self.mentioned.get(label.0 as usize).and_then(|mention| mention.alias);
            if let Some(target) = target.and_then(|target| order.get(target.0 as usize)).copied()
                && let Some(slot) = order.get_mut(label.0 as usize)
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
            modifiers: [Token::Type(*ty)].into_iter().collect(),
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
            TargetList { name: taken.unused(list.name, Taken::is_free), of }
        };
        let tables = self.lists.into_iter().map(table).collect();
        let mut pragmas = self.pragmas;
        pragmas.iter_mut().for_each(|pragma| pragma.at += before);
        Body { registers: self.registers, frame: self.frame, insts, labels, tables, pragmas }
    }

    /// Renames the registers and frame variables that are declared inside scopes to unique names.
    fn rename_nested(&mut self, taken: &mut Taken<'_>) {
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

/// The names that are in use in a body.
#[derive(Default)]
struct Taken<'v> {
    /// The variables of the module, whose names are in use.
    variables: Option<&'v VariableNames<'v>>,
    names: HashSet<String>,
    /// The names in use that end in digits, without these digits: `a` for `a12`. A numbered range
    /// must not have such a prefix, because the names in the range could collide.
    stems: HashSet<String>,
    /// For each name, the number of variants with a suffix that have been created.
    made: HashMap<String, u32>,
}

impl Taken<'_> {
    fn insert(&mut self, name: String) {
        let stem = stem(&name);
        if stem.len() < name.len() {
            self.stems.insert(stem.to_owned());
        }
        self.names.insert(name);
    }

    fn is_free(&self, name: &str) -> bool {
        !self.names.contains(name) && self.variables.is_none_or(|variables| variables.get(name).is_none())
    }

    /// Returns `true` if the name is free both as a name and as the prefix of numbered registers.
    fn is_free_of_numbers(&self, name: &str) -> bool {
        let is_stem = self.stems.contains(name) || self.variables.is_some_and(|variables| variables.has_stem(name));
        self.is_free(name) && !is_stem && self.is_free(stem(name))
    }

    /// Reserves and returns the name. If the name is not free, reserves and returns a variant with a suffix.
    fn unused(&mut self, name: &str, is_free: impl Fn(&Self, &str) -> bool) -> String {
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

/// Returns the name without trailing digits.
fn stem(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}
