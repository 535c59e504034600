//! Detection of reads of uninitialised registers and carry flags.
//!
//! The analysis propagates undefined bits forward through each body. The analysis uses the rules of the PTX interpreter
//! in a checked launch, but does not track values. A register that is written under a guard, or in one branch, stays
//! undefined only under the opposite guard. A read under the same guard is therefore not reported.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use cranelift_entity::EntityRef;
use halfbyte_ir::flow::{Flow, Lists, Node};
use halfbyte_ir::{Diagnostic, Span};
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::definedness::{Definedness, Truth, Word, propagate};
use halfbyte_isa::ptx::meaning::Reader;
use halfbyte_isa::ptx::module::{Body, FormalLocation, Targets};
use halfbyte_isa::ptx::text::ParsedFile;
use halfbyte_isa::ptx::types::{Special, Type};
use halfbyte_isa::ptx::{Guard, Inst, Opcode, Operand, Reg, Var};
use halfbyte_isa::row::OperandRole;

use crate::options::LineMap;

/// Returns a diagnostic for each read of an undefined value that may affect the results, in source order.
pub(crate) fn uninitialised(read: &ParsedFile, places: &LineMap<'_>) -> Vec<Diagnostic> {
    let entries = read.module.entries.iter().zip(&read.locs);
    let entries = entries.map(|(entry, locs)| (&entry.body, &[][..], locs));
    let functions = read.module.functions.iter().zip(&read.function_locs);
    let functions = functions.filter_map(|(function, locs)| {
        let code = function.code.as_ref()?;
        Some((&code.body, code.params.as_slice(), locs))
    });
    let mut found: Vec<Diagnostic> = Vec::new();
    for (body, params, locs) in entries.chain(functions) {
        let place = |inst: usize| locs.get(inst).map_or_else(Span::default, |&loc: &Loc| places.span(loc));
        found.extend(reads(body, params).into_iter().map(|read| read.diagnostic(body, &place)));
    }
    found.sort_by_key(|diagnostic| diagnostic.span.start);
    found
}

/// Read of a register or carry flag that may be uninitialised.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Read {
    inst: usize,
    reg: Reg,
    /// Set if no path to the read writes the register.
    is_certain: bool,
    /// Number of the call or barrier instruction that destroys the carry flag, if any.
    lost_at: Option<usize>,
}

impl Read {
    fn diagnostic(self, body: &Body, place: &impl Fn(usize) -> Span) -> Diagnostic {
        let may = if self.is_certain { "is" } else { "may be" };
        let span = place(self.inst);
        if self.reg == Reg::CARRY {
            let by = "set the flag by `add.cc`, `sub.cc` or `mad.cc` after the last call or barrier";
            return match self.lost_at {
                Some(at) => {
                    let separator = body.insts.get(at).map_or("call", |inst| inst.row().mnemonic);
                    let message =
                        format!("the carry flag {may} read, but a `{separator}` before the read does not preserve it");
                    Diagnostic::new(span, message)
                        .help(by)
                        .note(Some(place(at)), "this instruction does not preserve the carry flag")
                }
                None => Diagnostic::new(span, format!("the carry flag {may} read before it is set")).help(by),
            };
        }
        let name = body.registers.name(self.reg).unwrap_or_default();
        Diagnostic::new(span, format!("`{name}` {may} read before it is written"))
            .help("initialise the register first: halfbyte reads it as 0, but its value on a GPU is undefined")
    }
}

/// Undefined bits of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct UndefinedBits {
    bits: u64,
    /// Guard under which the bits are undefined; `None` if they are always undefined.
    when: Option<Guard>,
    /// The read from which the undefined bits originate. Its instruction number is `usize::MAX` if
    /// this register itself was never written.
    from: Read,
}

type Marks = BTreeMap<Reg, UndefinedBits>;

/// Facts that the data-flow analysis has derived before an instruction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct State {
    /// Undefined bits of each register before the instruction. Registers that no instruction writes
    /// are not included.
    marks: Marks,
    /// Guards that are true on every path to the instruction. Only guards that several instructions
    /// have are recorded.
    holds: Vec<Guard>,
}

fn opposite(guard: Guard) -> Guard {
    Guard { not: !guard.not, ..guard }
}

impl State {
    /// Merges the state of another path into this state. Returns `true` if this state changes.
    fn join(&mut self, other: &State) -> bool {
        let before = self.clone();
        let told_apart =
            |of: &State, by: &State| of.holds.iter().copied().find(|&guard| by.holds.contains(&opposite(guard)));
        let (here, there) = (told_apart(&before, other), told_apart(other, &before));
        let uncertain = |mark: UndefinedBits, when: Option<Guard>| UndefinedBits {
            when: mark.when.or(when),
            from: Read { is_certain: false, ..mark.from },
            ..mark
        };
        for (&reg, &mark) in &other.marks {
            match self.marks.get_mut(&reg) {
                Some(own) => {
                    own.bits |= mark.bits;
                    own.when = own.when.filter(|_| own.when == mark.when);
                    own.from.is_certain &= mark.from.is_certain;
                }
                None => {
                    self.marks.insert(reg, uncertain(mark, there));
                }
            }
        }
        for (reg, own) in &mut self.marks {
            if before.marks.contains_key(reg) && !other.marks.contains_key(reg) {
                *own = uncertain(*own, here);
            }
        }
        self.holds.retain(|guard| other.holds.contains(guard));
        *self != before
    }

    /// Adds the fact that a branch condition is true.
    fn assume(&mut self, guard: Guard) {
        self.marks.retain(|_, mark| mark.when != Some(opposite(guard)));
        if !self.holds.contains(&guard) {
            self.holds.push(guard);
        }
    }

    /// Returns `true` if any fact in the state depends on the predicate register.
    fn depends_on(&self, reg: Reg) -> bool {
        let is_of = |guard: &Guard| guard.reg == reg;
        self.holds.iter().any(is_of) || self.marks.values().any(|mark| mark.when.as_ref().is_some_and(is_of))
    }

    /// Removes the facts that depend on a predicate register, because an instruction overwrites it.
    fn forget(&mut self, reg: Reg) {
        self.holds.retain(|guard| guard.reg != reg);
        for mark in self.marks.values_mut() {
            mark.when = mark.when.filter(|guard| guard.reg != reg);
        }
    }

    /// Returns the undefined bits of a register in a read under `guard`, if there are any.
    fn read(&self, unwritten: &Marks, reg: Reg, guard: Option<Guard>) -> Option<UndefinedBits> {
        let mark = self.marks.get(&reg).or_else(|| unwritten.get(&reg))?;
        let is_excluded = mark.when.is_some_and(|when| guard == Some(opposite(when)));
        (!is_excluded).then_some(*mark)
    }
}

/// Register reader for the evaluation of semantics. It returns undefined bits but no values.
struct Shadow<'s> {
    state: &'s State,
    unwritten: &'s Marks,
    guard: Option<Guard>,
}

impl Shadow<'_> {
    fn bits(&self, reg: Reg) -> u64 {
        self.state.read(self.unwritten, reg, self.guard).map_or(0, |mark| mark.bits)
    }
}

const UNKNOWN: Word = Word { value: None, undefined: 0 };

impl Reader<Definedness> for Shadow<'_> {
    fn register(&mut self, _: &mut Definedness, reg: Reg) -> [Word; 2] {
        let bits = self.bits(reg);
        [bits as u32, (bits >> 32) as u32].map(|undefined| Word { undefined, ..UNKNOWN })
    }

    fn predicate(&mut self, _: &mut Definedness, reg: Reg) -> Truth {
        Truth { value: None, undefined: self.bits(reg) != 0 }
    }

    fn special(&mut self, _: &mut Definedness, _: Special) -> [Word; 2] {
        [UNKNOWN; 2]
    }

    fn variable(&mut self, _: &mut Definedness, _: Var) -> [Word; 2] {
        [UNKNOWN; 2]
    }
}

/// Basic blocks of a body.
struct Blocks {
    starts: Vec<usize>,
    insts: usize,
}

impl Blocks {
    fn new(body: &Body) -> Blocks {
        let insts = body.insts.len();
        let labels = body.labels.iter().map(|label| label.at as usize);
        let ends = (1..).zip(&body.insts).filter(|(_, inst)| ends_block(inst)).map(|(next, _)| next);
        let starts: BTreeSet<usize> = labels.chain(ends).chain([0]).filter(|&at| at < insts).collect();
        Blocks { starts: starts.into_iter().collect(), insts }
    }

    fn range(&self, block: usize) -> std::ops::Range<usize> {
        let start = self.starts.get(block).copied().unwrap_or(self.insts);
        start..self.starts.get(block + 1).copied().unwrap_or(self.insts)
    }

    /// Returns the successors of a block. Each has the guard under which the block branches to it.
    fn after(&self, body: &Body, block: usize) -> Vec<(usize, Option<Guard>)> {
        let range = self.range(block);
        let last = range.end.checked_sub(1).and_then(|last| body.insts.get(last));
        let next = (block + 1 < self.starts.len()).then_some(block + 1);
        let Some(inst) = last.filter(|inst| ends_block(inst)) else {
            return next.map(|next| (next, None)).into_iter().collect();
        };
        let labels = inst.operands.iter().flat_map(|operand| match *operand {
            Operand::Label(label) => vec![label],
            Operand::Table(table) => match body.tables.get(table as usize).map(|table| &table.of) {
                Some(Targets::Labels(labels)) => labels.clone(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        });
        let places = labels.filter_map(|label| body.labels.get(label.0 as usize));
        let blocks = places.filter_map(|label| self.starts.binary_search(&(label.at as usize)).ok());
        let mut after: Vec<_> = blocks.map(|to| (to, inst.guard)).collect();
        after.extend(next.zip(inst.guard).map(|(next, guard)| (next, Some(opposite(guard)))));
        after
    }
}

fn ends_block(inst: &Inst) -> bool {
    matches!(inst.opcode, Opcode::BRA | Opcode::BRX | Opcode::RET | Opcode::EXIT | Opcode::TRAP)
}

fn is_call(inst: &Inst) -> bool {
    matches!(inst.operands.first(), Some(Operand::Call { .. }))
}

/// Returns the reads of undefined values in a body.
fn reads(body: &Body, params: &[FormalLocation]) -> Vec<Read> {
    let blocks = Blocks::new(body);
    let given: HashSet<Reg> = params
        .iter()
        .filter_map(|passed| match passed {
            FormalLocation::Register(reg) => Some(*reg),
            FormalLocation::Frame(_) => None,
        })
        .collect();
    let mark = |reg: Reg| {
        let bits = body.registers.held(reg).unwrap_or(Type::Pred).truncate(u64::MAX);
        let from = Read { inst: usize::MAX, reg, is_certain: true, lost_at: None };
        (reg, UndefinedBits { bits, when: None, from })
    };
    let [unwritten, exposed] = exposed(body, &blocks)
        .map(|regs| regs.into_iter().filter(|reg| !given.contains(reg)).map(mark).collect::<Marks>());
    if exposed.is_empty() && unwritten.is_empty() && !body.insts.iter().any(Inst::reads_carry) {
        return Vec::new();
    }
    let start = State { marks: exposed, holds: Vec::new() };
    let mut guards: HashMap<Reg, usize> = HashMap::new();
    for guard in body.insts.iter().filter_map(|inst| inst.guard) {
        *guards.entry(guard.reg).or_default() += 1;
    }
    let mut states: Vec<Option<State>> = vec![None; blocks.starts.len()];
    let mut found = BTreeMap::new();
    let mut work = BTreeSet::from([0]);
    if let Some(first) = states.first_mut() {
        *first = Some(start);
    }
    while let Some(block) = work.pop_first() {
        let Some(mut state) = states.get(block).cloned().flatten() else { continue };
        for number in blocks.range(block) {
            let Some(inst) = body.insts.get(number) else { continue };
            step(body, inst, number, &unwritten, &mut state, &mut found);
        }
        for (to, guard) in blocks.after(body, block) {
            let mut state = state.clone();
            // A guard of a single instruction is not recorded, because it tells nothing about other
            // instructions.
            if let Some(guard) = guard.filter(|guard| guards.get(&guard.reg).is_some_and(|&count| count > 1)) {
                state.assume(guard);
            }
            let Some(known) = states.get_mut(to) else { continue };
            let is_changed = match known {
                Some(known) => known.join(&state),
                None => {
                    *known = Some(state);
                    true
                }
            };
            if is_changed {
                work.insert(to);
            }
        }
    }
    found.into_values().collect()
}

/// Records the undefined reads of an instruction, and applies its writes to the state.
fn step(
    body: &Body,
    inst: &Inst,
    number: usize,
    unwritten: &Marks,
    state: &mut State,
    found: &mut BTreeMap<(usize, Reg), Read>,
) {
    let concerns = |(role, reg): (OperandRole, Reg)| {
        let is_undefined = state.marks.contains_key(&reg) || unwritten.contains_key(&reg);
        is_undefined || role != OperandRole::Use && state.depends_on(reg)
    };
    if !inst.registers().any(concerns) && !is_call(inst) && !inst.is_barrier() {
        return;
    }
    let before = state.clone();
    let mut shadow = Shadow { state: &before, unwritten, guard: inst.guard };
    let from = |reg: Reg| {
        let mark = before.read(unwritten, reg, inst.guard)?;
        Some(if mark.from.inst == usize::MAX { Read { inst: number, ..mark.from } } else { mark.from })
    };
    let mut note = |reg: Reg| {
        if let Some(read) = from(reg) {
            let noted = found.entry((read.inst, read.reg)).or_insert(read);
            noted.is_certain &= read.is_certain;
        }
    };
    let spread = if is_call(inst) || inst.is_collective() {
        // Other threads or functions may observe the value, so the read is reported.
        inst.registers().filter(|(role, _)| *role != OperandRole::Def).for_each(|(_, reg)| note(reg));
        Default::default()
    } else {
        if inst.reads_carry() {
            note(Reg::CARRY);
        }
        let bits = |reg: Reg| before.read(unwritten, reg, inst.guard).map_or(0, |mark| mark.bits);
        propagate(inst, bits, &mut shadow).unwrap_or_else(|(reg, _)| {
            note(reg);
            Default::default()
        })
    };
    let mut write = |reg: Reg, new: Option<UndefinedBits>| {
        let old = before.marks.get(&reg).copied();
        let mark = match (inst.guard, old, new) {
            (None, _, new) => new,
            (Some(guard), Some(old), None) => match old.when {
                Some(when) if when == guard => None,
                when => Some(UndefinedBits {
                    when: when.or(Some(opposite(guard))),
                    from: Read { is_certain: false, ..old.from },
                    ..old
                }),
            },
            (Some(guard), None, new) => new.map(|new| UndefinedBits { when: Some(guard), ..new }),
            (Some(_), Some(old), Some(new)) => Some(UndefinedBits { bits: old.bits | new.bits, when: None, ..new }),
        };
        state.forget(reg);
        match mark {
            Some(mark) => {
                let when = mark.when.filter(|guard| guard.reg != reg);
                state.marks.insert(reg, UndefinedBits { when, ..mark })
            }
            None => state.marks.remove(&reg),
        };
    };
    for (_, reg) in inst.registers().filter(|(role, _)| *role != OperandRole::Use) {
        let undefined = spread.iter().find(|(written, ..)| *written == reg);
        let new = undefined.and_then(|&(_, bits, source)| {
            let bits = body.registers.held(reg).unwrap_or(Type::Pred).truncate(bits);
            // The read of the carry flag is itself reported, so its undefined bits are not
            // propagated to the result.
            let from = from(source).filter(|_| source != Reg::CARRY)?;
            (bits != 0).then_some(UndefinedBits { bits, when: None, from })
        });
        write(reg, new);
    }
    if is_call(inst) || inst.is_barrier() {
        let reg = Reg::CARRY;
        let from = Read { inst: usize::MAX, reg, is_certain: true, lost_at: Some(number) };
        write(reg, Some(UndefinedBits { bits: 1, when: None, from }));
    }
}

/// Returns the registers that are read but never written, and the registers that may be read before
/// they are written. The carry flag counts as a register.
fn exposed(body: &Body, blocks: &Blocks) -> [BTreeSet<Reg>; 2] {
    let count = blocks.starts.len();
    let after: Vec<Vec<usize>> =
        (0..count).map(|block| blocks.after(body, block).into_iter().map(|(to, _)| to).collect()).collect();
    let successors = after.iter().map(|to| to.iter().copied().map(Node::new).collect()).collect();
    let flow = Flow::new(&Lists { entry: Node::new(0), successors });
    let is_written = |(role, _): &(OperandRole, Reg)| *role != OperandRole::Use;
    let is_read = |(role, _): &(OperandRole, Reg)| *role != OperandRole::Def;
    // For each register that is written, the block and the instruction of its first write without a guard, if any.
    let mut first_write: HashMap<Reg, Option<(usize, usize)>> = HashMap::new();
    let insts = |block: usize| blocks.range(block).filter_map(|number| Some((number, body.insts.get(number)?)));
    for block in 0..count {
        for (number, inst) in insts(block) {
            for (_, reg) in inst.registers().filter(is_written) {
                let first = first_write.entry(reg).or_default();
                *first = first.or(inst.guard.is_none().then_some((block, number)));
            }
        }
    }
    let (mut unwritten, mut suspects) = (BTreeSet::new(), HashSet::new());
    for block in 0..count {
        for (number, inst) in insts(block) {
            for (_, reg) in inst.registers().filter(is_read) {
                match first_write.get(&reg) {
                    // The carry flag is always tracked in the states, because calls and barriers
                    // destroy it.
                    None if reg != Reg::CARRY => drop(unwritten.insert(reg)),
                    Some(&Some((of, first))) if of == block && first < number => {}
                    Some(&Some((of, _))) if of != block && flow.dominates(Node::new(of), Node::new(block)) => {}
                    _ => drop(suspects.insert(reg)),
                }
            }
        }
    }
    [unwritten, live_at_start(body, blocks, &after, &suspects)]
}

/// Returns the registers among `suspects` that are live at the start of the body. `after` holds the successors of
/// each block.
fn live_at_start(body: &Body, blocks: &Blocks, after: &[Vec<usize>], suspects: &HashSet<Reg>) -> BTreeSet<Reg> {
    let count = blocks.starts.len();
    let mut written: Vec<HashSet<Reg>> = vec![HashSet::new(); count];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut work: Vec<(usize, Reg)> = Vec::new();
    for (block, (written, after)) in written.iter_mut().zip(after).enumerate() {
        for inst in body.insts.get(blocks.range(block)).unwrap_or_default() {
            let registers = || inst.registers().filter(|(_, reg)| suspects.contains(reg));
            let reads = registers().filter(|(role, reg)| *role != OperandRole::Def && !written.contains(reg));
            work.extend(reads.map(|(_, reg)| (block, reg)));
            if inst.guard.is_none() {
                written.extend(registers().filter(|(role, _)| *role != OperandRole::Use).map(|(_, reg)| reg));
            }
        }
        for &to in after {
            before.get_mut(to).into_iter().for_each(|before| before.push(block));
        }
    }
    let mut live: HashSet<(usize, Reg)> = HashSet::new();
    let mut found = BTreeSet::new();
    while let Some((block, reg)) = work.pop() {
        if !live.insert((block, reg)) {
            continue;
        }
        if block == 0 {
            found.insert(reg);
        }
        let into = before.get(block).into_iter().flatten();
        let through = into.filter(|&&from| !written.get(from).is_some_and(|written| written.contains(&reg)));
        work.extend(through.map(|&from| (from, reg)));
    }
    found
}
