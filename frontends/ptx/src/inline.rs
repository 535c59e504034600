//! Inlining of all calls, and promotion of call arguments and frame variables to registers.
//!
//! The result is a kernel without calls. A kernel with a recursive call, or a call of a function without code, is
//! returned unchanged.

mod indirect;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::module::{
    Body, Entry, FormalLocation, FrameVariable, FunctionCode, LabelName, TargetList, Targets,
};
use halfbyte_isa::ptx::row::OperandKind;
use halfbyte_isa::ptx::types::{Space, Token, Type, TypeKind};
use halfbyte_isa::ptx::{Address, Base, Callee, FrameVar, Guard, Inst, Label, Opcode, Operand, Reg};
use halfbyte_isa::row::OperandRole;
use smallvec::SmallVec;

use crate::constant_address;
use indirect::Addressed;

/// Maximum number of instructions of a kernel during inlining.
const MOST_INSTS: usize = 1 << 16;

/// Maximum total number of labels, tables and frame variables of a body into which another call is
/// inlined.
const MOST_DECLARATIONS: usize = 1 << 16;

/// Number of repetitions of the two passes that resolve constant addresses and promote variables to registers.
const PROMOTION_ROUNDS: usize = 4;

/// Maximum depth of nested calls.
const MOST_DEPTH: usize = 64;

/// Kernel after inlining, with the source location of each instruction.
pub(crate) struct Inlined<'e> {
    pub entry: Cow<'e, Entry>,
    pub locs: Cow<'e, [Loc]>,
}

/// Returns `true` if an instruction of the body reads the carry flag.
pub(crate) fn reads_carry(body: &Body) -> bool {
    body.insts.iter().any(Inst::reads_carry)
}

/// Inlines all calls. Returns the kernel unchanged if it has no calls, or if one of them cannot be inlined.
/// `reads_carry` tells whether an instruction of the kernel or of a reachable function reads the carry flag.
pub(crate) fn inline<'e>(
    entry: &'e Entry,
    given: &'e [Loc],
    function_locs: &[Vec<Loc>],
    reads_carry: bool,
) -> Inlined<'e> {
    let is_of_these =
        |operand: &Operand| matches!(operand, Operand::Call { .. } | Operand::Parameter { .. } | Operand::Frame { .. });
    let has_these = entry.body.insts.iter().flat_map(|inst| &inst.operands).any(is_of_these);
    if !has_these && entry.body.frame.is_empty() {
        return Inlined { entry: Cow::Borrowed(entry), locs: Cow::Borrowed(given) };
    }
    let (body, locs) = (Body::default(), Vec::new());
    let mut inliner = Inliner { entry, function_locs, reads_carry, body, locs, active: Vec::new(), addressed: None };
    if inliner.kernel(given).is_none() {
        return Inlined { entry: Cow::Borrowed(entry), locs: Cow::Borrowed(given) };
    }
    let Inliner { mut body, mut locs, .. } = inliner;
    // An address that is stored in memory becomes constant only after that memory has been promoted
    // to a register. The passes are therefore repeated.
    for _ in 0..PROMOTION_ROUNDS {
        constant_address::resolve(&mut body, &mut locs);
        into_registers(&mut body, &mut locs);
    }
    Inlined { entry: Cow::Owned(Entry { body, ..entry.clone() }), locs: Cow::Owned(locs) }
}

/// State of the inliner: the new body and the calls in progress.
struct Inliner<'e> {
    entry: &'e Entry,
    function_locs: &'e [Vec<Loc>],
    /// Set if an instruction reads the carry flag.
    reads_carry: bool,
    body: Body,
    locs: Vec<Loc>,
    /// Functions that are being inlined, outermost first.
    active: Vec<u32>,
    /// Functions that indirect calls may reach. `None` before the first indirect call.
    addressed: Option<Addressed>,
}

/// Numbers of the first register, the first label and the first table of an inlined body in the new
/// body, and of its frame variables.
struct Instance {
    registers: u32,
    labels: u32,
    tables: u32,
    frame: Vec<u32>,
    /// Label at the end of the inlined function, to which its returns branch. `None` for the body of the kernel.
    end: Option<Label>,
}

impl Inliner<'_> {
    fn kernel(&mut self, locs: &[Loc]) -> Option<()> {
        let entry = self.entry;
        let frame = self.declare_frame(&entry.body, &[]);
        let instance = self.instance(&entry.body, frame, None)?;
        self.insts(&entry.body, locs, &instance)
    }

    /// Adds the registers, labels and tables of a body to the new body. Returns `None` if no
    /// registers are left.
    fn instance(&mut self, body: &Body, frame: Vec<u32>, end: Option<Label>) -> Option<Instance> {
        let registers = self.body.registers.count();
        for family in body.registers.families() {
            self.body.registers.declare(family.name.clone(), family.ty, family.count)?;
        }
        let (labels, tables) = (self.body.labels.len() as u32, self.body.tables.len() as u32);
        let number = self.active.len();
        let name = |name: &str| if number == 0 { name.to_owned() } else { format!("{name}_{labels}") };
        self.body.labels.extend(body.labels.iter().map(|label| LabelName { name: name(&label.name), at: u32::MAX }));
        let table = |table: &TargetList| {
            let of = match &table.of {
                Targets::Labels(all) => Targets::Labels(all.iter().map(|label| Label(label.0 + labels)).collect()),
                of => of.clone(),
            };
            TargetList { name: name(&table.name), of }
        };
        self.body.tables.extend(body.tables.iter().map(table));
        Some(Instance { registers, labels, tables, frame, end })
    }

    /// Adds the frame variables of a body to the new body and returns their new numbers. Each pair
    /// in `given` maps a variable of the body to a variable of the caller, which takes its place.
    fn declare_frame(&mut self, body: &Body, given: &[(u32, u32)]) -> Vec<u32> {
        let number = |(number, variable): (u32, &FrameVariable)| {
            if let Some((_, outer)) = given.iter().find(|(inner, _)| *inner == number) {
                return *outer;
            }
            self.body.frame.push(variable.clone());
            self.body.frame.len() as u32 - 1
        };
        (0..).zip(&body.frame).map(number).collect()
    }

    fn push(&mut self, inst: Inst, loc: Loc) {
        self.body.insts.push(inst);
        self.locs.push(loc);
    }

    fn label(&mut self, name: &str) -> Label {
        let number = self.body.labels.len() as u32;
        self.body.labels.push(LabelName { name: format!("{name}_{number}"), at: u32::MAX });
        Label(number)
    }

    fn place(&mut self, label: Label) {
        let at = self.body.insts.len() as u32;
        if let Some(label) = self.body.labels.get_mut(label.0 as usize) {
            label.at = at;
        }
    }

    fn insts(&mut self, body: &Body, locs: &[Loc], instance: &Instance) -> Option<()> {
        let mut labels: Vec<(u32, Label)> =
            (0..).zip(&body.labels).map(|(number, label)| (label.at, Label(number + instance.labels))).collect();
        labels.sort_by_key(|(at, _)| *at);
        let mut labels = labels.into_iter().peekable();
        for (number, inst) in (0u32..).zip(&body.insts) {
            while let Some((_, label)) = labels.next_if(|(at, _)| *at <= number) {
                self.place(label);
            }
            if self.body.insts.len() > MOST_INSTS {
                return None;
            }
            let loc = locs.get(number as usize).copied().unwrap_or_default();
            let inst = renumbered(inst, instance);
            match (inst.operands.first(), instance.end) {
                (Some(&Operand::Call { callee: Callee::Function(function), .. }), _) => {
                    self.call(&inst, function, loc)?;
                }
                (Some(&Operand::Call { callee: Callee::Register(address), .. }), _) => {
                    self.indirect_call(&inst, address, loc)?;
                }
                (_, Some(end)) if inst.opcode == Opcode::RET => {
                    self.push(branch(inst.guard, end), loc);
                }
                _ => self.push(inst, loc),
            }
        }
        labels.for_each(|(_, label)| self.place(label));
        Some(())
    }

    /// Inlines a call whose operands are already renumbered for the new body. Returns `None` if the
    /// call cannot be inlined.
    fn call(&mut self, inst: &Inst, function: u32, loc: Loc) -> Option<()> {
        // Functions without instructions add only declarations, which the limit on instructions
        // does not count.
        let declared = self.body.labels.len() + self.body.tables.len() + self.body.frame.len();
        if self.active.contains(&function) || self.active.len() == MOST_DEPTH || declared > MOST_DECLARATIONS {
            return None;
        }
        let entry = self.entry;
        let code = entry.functions.get(function as usize)?.code.as_ref()?;
        let locs = self.function_locs.get(function as usize).map_or(&[][..], Vec::as_slice);
        let end = self.label("return");
        if let Some(guard) = inst.guard {
            self.push(branch(Some(Guard { not: !guard.not, ..guard }), end), loc);
        }
        self.active.push(function);
        let of = |shape: OperandKind| {
            inst.operands_with_rows().filter(move |(o, _)| o.shape == shape).map(|(_, operand)| operand.clone())
        };
        let (arguments, results): (Vec<Operand>, Vec<Operand>) =
            (of(OperandKind::Arguments).collect(), of(OperandKind::Results).collect());
        // If an argument is in memory for both the caller and the callee, both share one variable, unless the callee
        // may change the variable.
        let in_memory = |(passed, operand): (&FormalLocation, &Operand)| match (passed, operand) {
            (FormalLocation::Frame(inner), Operand::Frame { var, .. }) => Some((*inner, var.number)),
            _ => None,
        };
        let kept = code.params.iter().zip(&arguments).filter_map(in_memory);
        let kept = kept.filter(|(inner, _)| !may_change(&code.body, *inner));
        let given: Vec<(u32, u32)> = kept.chain(code.results.iter().zip(&results).filter_map(in_memory)).collect();
        let frame = self.declare_frame(&code.body, &given);
        let instance = self.instance(&code.body, frame, Some(end))?;
        self.clear_carry(None, loc)?;
        self.begin(code, &instance, &given, loc);
        for (&to, from) in code.params.iter().zip(arguments) {
            if in_memory((&to, &from)).is_none_or(|shared| !given.contains(&shared)) {
                self.copy_argument(to, from, &instance, loc)?;
            }
        }
        self.insts(&code.body, locs, &instance)?;
        self.place(end);
        self.clear_carry(inst.guard, loc)?;
        for (&from, to) in code.results.iter().zip(results) {
            self.copy_result(from, to, &instance, inst.guard, loc);
        }
        self.active.pop();
        Some(())
    }

    /// Emits an instruction that clears the carry flag, if any instruction reads the flag. A call
    /// does not preserve the carry flag.
    fn clear_carry(&mut self, guard: Option<Guard>, loc: Loc) -> Option<()> {
        if self.reads_carry {
            let sum = self.body.registers.declare("%sum", Type::B32, None)?;
            let words = [Token::Cc, Token::Type(Type::U32)].into_iter().collect();
            let operands = [Operand::Register(sum), Operand::Number(0), Operand::Number(0)].into_iter().collect();
            self.push(Inst { opcode: Opcode::ADD_CC, modifiers: words, guard, operands }, loc);
        }
        Some(())
    }

    /// Emits instructions that set the registers and variables of a called function to zero.
    fn begin(&mut self, code: &FunctionCode, instance: &Instance, given: &[(u32, u32)], loc: Loc) {
        let written = written_first(code);
        for family in code.body.registers.families() {
            for reg in family.numbers() {
                if written.contains(&reg) {
                    continue;
                }
                let reg = Reg(reg.0 + instance.registers);
                let ty = if family.ty == Type::Pred { Type::Pred } else { bits(family.held().bits()) };
                if family.ty.bits() != 8 {
                    self.push(mov(reg, Operand::Number(0), ty, None), loc);
                }
            }
        }
        let stored = stored_first(&code.body);
        for (var, cells) in cells(&code.body) {
            if given.iter().any(|(inner, _)| *inner == var.number) {
                continue;
            }
            let Some(&number) = instance.frame.get(var.number as usize) else { continue };
            for (offset, size) in cells {
                if stored.contains(&(var.number, offset, size)) {
                    continue;
                }
                let var = FrameVar { number, space: var.space };
                self.push(access(true, var, offset, size, Operand::Number(0), None), loc);
            }
        }
    }

    /// Emits the copy of an argument to the callee's parameter.
    fn copy_argument(&mut self, to: FormalLocation, from: Operand, instance: &Instance, loc: Loc) -> Option<()> {
        match to {
            FormalLocation::Register(reg) => {
                let to = Reg(reg.0 + instance.registers);
                let ty = self.body.registers.held(to).map_or(Type::B32, untyped);
                match from {
                    Operand::Frame { var, .. } => {
                        self.push(access(false, var, 0, ty.bits() / 8, Operand::Register(to), None), loc)
                    }
                    from => self.push(mov(to, from, ty, None), loc),
                }
            }
            FormalLocation::Frame(number) => {
                let &number = instance.frame.get(number as usize)?;
                let variable = self.body.frame.get(number as usize)?;
                let to = FrameVar { number, space: Space::Param };
                let Operand::Frame { var, .. } = from else {
                    let size = variable.ty.bits() / 8;
                    self.push(access(true, to, 0, size, from, None), loc);
                    return Some(());
                };
                let given = self.body.frame.get(var.number as usize)?;
                let align = variable.alignment().min(given.alignment());
                let (bytes, mut offset) = (variable.bytes().min(given.bytes()), 0);
                for size in [8, 4, 2, 1] {
                    while size <= align && offset + size <= bytes {
                        let reg = self.body.registers.declare("%copied", bits(8 * size.max(2)), None)?;
                        self.push(access(false, var, offset, size, Operand::Register(reg), None), loc);
                        self.push(access(true, to, offset, size, Operand::Register(reg), None), loc);
                        offset += size;
                    }
                }
            }
        }
        Some(())
    }

    /// Emits the copy of a result to the caller's operand.
    fn copy_result(&mut self, from: FormalLocation, to: Operand, instance: &Instance, guard: Option<Guard>, loc: Loc) {
        let from = match from {
            FormalLocation::Register(reg) => Operand::Register(Reg(reg.0 + instance.registers)),
            FormalLocation::Frame(number) => {
                let Some(&number) = instance.frame.get(number as usize) else { return };
                Operand::Frame { var: FrameVar { number, space: Space::Param }, offset: 0 }
            }
        };
        match (&from, &to) {
            (Operand::Register(_), &Operand::Register(to)) => {
                let ty = self.body.registers.held(to).map_or(Type::B32, untyped);
                self.push(mov(to, from, ty, guard), loc);
            }
            (Operand::Register(_), &Operand::Frame { var, .. }) => {
                let size = self.body.frame.get(var.number as usize).map_or(4, |variable| variable.ty.bits() / 8);
                self.push(access(true, var, 0, size, from, guard), loc);
            }
            (&Operand::Frame { var, .. }, &Operand::Register(reg)) => {
                let size = self.body.registers.held(reg).map_or(4, |ty| ty.bits() / 8);
                self.push(access(false, var, 0, size, to, guard), loc);
            }
            _ => {}
        }
    }
}

/// Returns the type of a move between registers of type `ty`: predicate, or untyped bits of the
/// same width.
fn untyped(ty: Type) -> Type {
    if ty == Type::Pred { ty } else { bits(ty.bits()) }
}

/// Returns `true` if a function may change the variable of its frame with this number other than by name.
fn may_change(body: &Body, number: u32) -> bool {
    let is_call = |inst: &Inst| matches!(inst.operands.first(), Some(Operand::Call { .. }));
    let names = |operand: &Operand| matches!(operand, Operand::Frame { var, .. } if var.number == number);
    let is_store = |inst: &Inst| {
        let by_register = inst
            .operands
            .iter()
            .any(|operand| matches!(operand, Operand::Memory(address) if address.register().is_some()));
        by_register && !matches!(inst.row().mnemonic, "ld" | "ldu") || is_call(inst)
    };
    let is_addressed = body.insts.iter().any(|inst| !is_call(inst) && inst.operands.iter().any(names));
    is_addressed && body.insts.iter().any(is_store)
}

/// Returns the registers of a function that are always written before they are read: the
/// parameters, and registers that are written before the first branch.
fn written_first(code: &FunctionCode) -> HashSet<Reg> {
    let mut written: HashSet<Reg> = HashSet::new();
    written.extend(code.params.iter().filter_map(|passed| match passed {
        FormalLocation::Register(reg) => Some(*reg),
        FormalLocation::Frame(_) => None,
    }));
    let mut read: HashSet<Reg> = HashSet::new();
    for inst in before_branches(&code.body) {
        let is_certain = inst.guard.is_none();
        // The reads come first, because an instruction reads its operands before it writes its results.
        read.extend(
            inst.registers()
                .filter(|(role, reg)| *role != OperandRole::Def && !written.contains(reg))
                .map(|(_, reg)| reg),
        );
        let defs =
            inst.registers().filter(|(role, reg)| *role == OperandRole::Def && is_certain && !read.contains(reg));
        written.extend(defs.map(|(_, reg)| reg).collect::<Vec<_>>());
    }
    written
}

/// Returns those parts of the frame variables that are always stored to before they are read: the
/// number of the variable, the offset and the size in bytes.
fn stored_first(body: &Body) -> HashSet<(u32, u32, u32)> {
    let (mut stored, mut is_read) = (HashSet::new(), HashSet::new());
    for inst in before_branches(body) {
        for operand in &inst.operands {
            match *operand {
                Operand::Memory(Address { base: Base::Frame(var), offset })
                    if inst.row().mnemonic == "st" && inst.guard.is_none() =>
                {
                    let size = inst.element().bits() / 8;
                    let places = (0..inst.elements() as u32).map(|element| element * size);
                    let places = places.filter(|_| !is_read.contains(&var.number));
                    stored.extend(places.map(|at| (var.number, offset.cast_unsigned().wrapping_add(at), size)));
                }
                Operand::Memory(Address { base: Base::Frame(var), .. }) | Operand::Frame { var, .. } => {
                    is_read.insert(var.number);
                }
                _ => {}
            }
        }
    }
    stored
}

/// Returns the instructions up to the first branch or label.
fn before_branches(body: &Body) -> impl Iterator<Item = &Inst> {
    let end = body.labels.iter().map(|label| label.at as usize).min().unwrap_or(usize::MAX);
    let is_branch = |inst: &&Inst| matches!(inst.opcode, Opcode::BRA | Opcode::BRX | Opcode::RET | Opcode::EXIT);
    body.insts.iter().take(end).take_while(move |inst| !is_branch(inst))
}

/// Returns a copy of an instruction with the register, label, table and variable numbers of the new body.
fn renumbered(inst: &Inst, instance: &Instance) -> Inst {
    let mut inst = inst.clone();
    inst.rename(|_, reg| if reg == Reg::CARRY { reg } else { Reg(reg.0 + instance.registers) });
    let frame = |number: u32| instance.frame.get(number as usize).copied().unwrap_or(number);
    for operand in &mut inst.operands {
        match operand {
            Operand::Label(label) => label.0 += instance.labels,
            Operand::Table(table) => *table += instance.tables,
            Operand::Frame { var, .. } | Operand::Memory(Address { base: Base::Frame(var), .. }) => {
                var.number = frame(var.number);
            }
            _ => {}
        }
    }
    inst
}

fn branch(guard: Option<Guard>, to: Label) -> Inst {
    let operands = SmallVec::from_iter([Operand::Label(to)]);
    Inst { opcode: Opcode::BRA, modifiers: [].into_iter().collect(), guard, operands }
}

fn mov(to: Reg, from: Operand, ty: Type, guard: Option<Guard>) -> Inst {
    let from = match from {
        Operand::Number(bits) => Operand::Number(ty.truncate(bits)),
        from => from,
    };
    let operands = SmallVec::from_iter([Operand::Register(to), from]);
    Inst { opcode: Opcode::MOV, modifiers: [Token::Type(ty)].into_iter().collect(), guard, operands }
}

/// Returns a store to a frame variable if `stores` is set, else a load from the variable.
pub(crate) fn access(
    stores: bool,
    var: FrameVar,
    offset: u32,
    size: u32,
    value: Operand,
    guard: Option<Guard>,
) -> Inst {
    let ty = bits(8 * size);
    let value = match value {
        Operand::Number(bits) => Operand::Number(ty.truncate(bits)),
        value => value,
    };
    let place = Operand::Memory(Address { base: Base::Frame(var), offset: offset as i32 });
    let (opcode, space) = match (stores, var.space) {
        (true, Space::Param) => (Opcode::ST_PARAM, Token::Param),
        (true, _) => (Opcode::ST, Token::Local),
        (false, Space::Param) => (Opcode::LD_PARAM, Token::Param),
        (false, _) => (Opcode::LD, Token::Local),
    };
    let operands = SmallVec::from_iter(if stores { [place, value] } else { [value, place] });
    Inst { opcode, modifiers: [space, Token::Type(ty)].into_iter().collect(), guard, operands }
}

pub(crate) fn bits(width: u32) -> Type {
    match width {
        8 => Type::B8,
        16 => Type::B16,
        64 => Type::B64,
        _ => Type::B32,
    }
}

/// Summary of the accesses at one offset of a frame variable.
#[derive(Clone, Copy)]
struct Cell {
    /// Size in bytes of the largest access at the offset.
    size: u32,
    /// Size in bytes of the smallest store at the offset, or `u32::MAX` without a store.
    stored: u32,
}

/// Returns the frame variables that are accessed only at constant offsets, without partial
/// overlaps. Each is returned with the offset and the size in bytes of its accessed parts. A load
/// may access only the low bytes of a part, as compilers load a narrow parameter of a function.
fn cells(body: &Body) -> Vec<(FrameVar, Vec<(u32, u32)>)> {
    let mut found: Vec<Option<BTreeMap<u32, Cell>>> = body.frame.iter().map(|_| Some(BTreeMap::new())).collect();
    for inst in &body.insts {
        for operand in &inst.operands {
            match operand {
                Operand::Memory(Address { base: Base::Frame(var), offset }) => {
                    let Some(of) = found.get_mut(var.number as usize) else { continue };
                    let size = inst.element().bits() / 8;
                    // A misaligned access must trap, so its variable stays in memory.
                    if !offset.cast_unsigned().is_multiple_of(size * inst.elements() as u32) {
                        *of = None;
                    }
                    for element in 0..inst.elements() as u32 {
                        let at = offset.cast_unsigned().wrapping_add(element * size);
                        let Some(cells) = of.as_mut() else { continue };
                        let cell = cells.entry(at).or_insert(Cell { size, stored: u32::MAX });
                        cell.size = cell.size.max(size);
                        if inst.row().mnemonic == "st" {
                            cell.stored = cell.stored.min(size);
                        }
                    }
                }
                // The address of the variable escapes, so the variable stays in memory.
                Operand::Frame { var, .. } if !matches!(inst.operands.first(), Some(Operand::Call { .. })) => {
                    if let Some(of) = found.get_mut(var.number as usize) {
                        *of = None;
                    }
                }
                _ => {}
            }
        }
    }
    let apart = |cells: &BTreeMap<u32, Cell>| {
        cells.values().all(|cell| cell.stored >= cell.size)
            && cells.iter().zip(cells.keys().skip(1)).all(|((at, cell), next)| at.saturating_add(cell.size) <= *next)
    };
    let all = (0..).zip(&body.frame).zip(found);
    let all = all.filter_map(|((number, variable), cells)| {
        let cells = cells.filter(apart)?;
        let within = |(at, cell): (&u32, &Cell)| at.saturating_add(cell.size) <= variable.bytes();
        let var = FrameVar { number, space: variable.space };
        cells.iter().all(within).then(|| (var, cells.into_iter().map(|(at, cell)| (at, cell.size)).collect()))
    });
    all.collect()
}

/// Replaces frame variables by registers if every access to the variable permits this.
fn into_registers(body: &mut Body, locs: &mut Vec<Loc>) {
    let mut of_cell: BTreeMap<(u32, u32), Reg> = BTreeMap::new();
    for (var, cells) in cells(body) {
        for (offset, size) in cells {
            if let Some(reg) = body.registers.declare("%cell", bits(8 * size.max(2)), None) {
                of_cell.insert((var.number, offset), reg);
            }
        }
    }
    // If a single access must stay in memory, the whole variable stays in memory.
    let stays = |inst: &Inst| {
        let accessed = inst.operands.iter().find_map(|operand| match operand {
            Operand::Memory(Address { base: Base::Frame(var), .. }) => Some(var.number),
            _ => None,
        });
        accessed.filter(|_| moves(inst, &of_cell, body).is_none())
    };
    let staying: BTreeSet<u32> = body.insts.iter().filter_map(stays).collect();
    of_cell.retain(|(number, _), _| !staying.contains(number));
    let mut starts = Vec::with_capacity(body.insts.len() + 1);
    let (mut insts, mut places) = (Vec::with_capacity(body.insts.len()), Vec::with_capacity(locs.len()));
    for (inst, loc) in std::mem::take(&mut body.insts).into_iter().zip(locs.drain(..)) {
        starts.push(insts.len() as u32);
        let before = insts.len();
        match moves(&inst, &of_cell, body) {
            Some(moves) => insts.extend(moves),
            None => insts.push(inst),
        }
        places.extend(std::iter::repeat_n(loc, insts.len() - before));
    }
    starts.push(insts.len() as u32);
    for label in &mut body.labels {
        label.at = starts.get(label.at as usize).copied().unwrap_or(insts.len() as u32);
    }
    (body.insts, *locs) = (insts, places);
}

/// Returns the moves that replace an access to a variable that was promoted to registers. Returns
/// `None` if the access must stay in memory.
fn moves(inst: &Inst, of_cell: &BTreeMap<(u32, u32), Reg>, body: &Body) -> Option<Vec<Inst>> {
    let address = inst.operands.iter().find_map(|operand| match operand {
        Operand::Memory(Address { base: Base::Frame(var), offset }) => Some((var.number, offset.cast_unsigned())),
        _ => None,
    })?;
    let element = inst.element();
    let size = element.bits() / 8;
    let stores = inst.row().mnemonic == "st";
    let values: Vec<Option<Operand>> = match inst.operands.get(usize::from(stores))? {
        Operand::Vector(regs) => regs.iter().map(|reg| reg.map(Operand::Register)).collect(),
        value => vec![Some(value.clone())],
    };
    let one = |(value, number): (Option<Operand>, u32)| {
        let &cell = of_cell.get(&(address.0, address.1.wrapping_add(number * size)))?;
        let Some(value) = value else { return Some(None) };
        let cell_bits = body.registers.held(cell)?.bits();
        let register = match value {
            Operand::Register(reg) => Some(body.registers.held(reg)?),
            _ => None,
        };
        let width = register.map_or(cell_bits, Type::bits);
        let is_whole = width == cell_bits && 8 * size == cell_bits;
        if is_whole || register.is_none() {
            let (to, from) = match (stores, value) {
                (true, value) => (cell, value),
                (false, Operand::Register(to)) => (to, Operand::Register(cell)),
                _ => return None,
            };
            return Some(Some(mov(to, from, bits(cell_bits), inst.guard)));
        }
        // Only a register that holds an integer may be truncated or extended.
        if register.is_some_and(|ty| ty.kind() == TypeKind::Float) {
            return None;
        }
        let integer = |width: u32, signed: bool| match (width, signed) {
            (8, true) => Type::S8,
            (8, false) => Type::U8,
            (16, true) => Type::S16,
            (16, false) => Type::U16,
            (64, true) => Type::S64,
            (64, false) => Type::U64,
            (_, true) => Type::S32,
            (_, false) => Type::U32,
        };
        let (to, from, types) = match (stores, value) {
            (true, Operand::Register(from)) => (cell, from, [integer(cell_bits, false), integer(width, false)]),
            (false, Operand::Register(to)) => {
                let signed = element.is_signed();
                (to, cell, [integer(width, signed), integer(element.bits(), signed)])
            }
            _ => return None,
        };
        if types[0] == types[1] && width == cell_bits {
            return Some(Some(mov(to, Operand::Register(from), bits(width), inst.guard)));
        }
        let words = types.map(Token::Type).into_iter().collect();
        let operands = SmallVec::from_iter([Operand::Register(to), Operand::Register(from)]);
        Some(Some(Inst { opcode: Opcode::CVT_INT, modifiers: words, guard: inst.guard, operands }))
    };
    let all: Option<Vec<Option<Inst>>> = values.into_iter().zip(0..).map(one).collect();
    Some(all?.into_iter().flatten().collect())
}
