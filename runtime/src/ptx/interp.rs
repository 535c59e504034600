//! Interpreter of PTX, which runs a thread from its first instruction to its end.

use arrayvec::ArrayVec;
use halfbyte_abi::cooperative::{Branch, SyncOp};
use halfbyte_abi::{ItemPosition, Shape};
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::ptx::meaning::{
    Access, Called, Location, Next, Reader, Value, Write, arguments, atomically, collective, fence, function_at, guard,
    meaning, results, strength, yields,
};
use halfbyte_isa::ptx::module::{Body, Builtin, FormalLocation, FunctionCode, Targets};
use halfbyte_isa::ptx::row;
use halfbyte_isa::ptx::types::{Special, SpecialGroup, Token, Type};
use halfbyte_isa::ptx::{FrameVar, Inst, Operand, Reg, Var};
use smallvec::SmallVec;

use super::heap;
use super::memory::{AccessOrigin, Memory};
use super::print::{self, Print, Values};
use super::trace::{Executed, Outcome};
use super::uninitialised::{self, Undefined};
use halfbyte_abi::Work;
use halfbyte_isa::ptx::program::{Callable, FunctionBody, Program};
use halfbyte_isa::ptx::special;
use halfbyte_isa::row::OperandRole;
use halfbyte_isa::trap::{Fault, Halt, TrapKind};

/// The position of a work item in its launch.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    pub shape: &'a Shape,
    pub place: ItemPosition,
}

/// Execution counts of a work item.
#[derive(Clone, Copy, Default)]
pub(super) struct ItemStats {
    /// Number of executed instructions, including those with a false guard.
    pub instructions: u64,
    /// Number of backward branches taken, plus the number of calls.
    pub backward: u64,
}

/// The registers of the body of a kernel or function.
#[derive(Default)]
pub(super) struct Registers {
    /// The value of each register, indexed by register number. The value of a predicate is 0 or 1.
    held: Vec<u64>,
    /// The carry flag.
    carry: u64,
    /// The undefined bits of the registers, if the launch tracks them.
    pub undefined: Option<Undefined>,
}

impl Registers {
    /// Resets the registers for the start of a body. If `is_watched`, all registers become undefined.
    fn clear(&mut self, code: &FunctionBody<'_>, is_watched: bool) {
        self.held.clear();
        self.held.resize(code.types.len(), 0);
        self.carry = 0;
        self.undefined = is_watched.then(|| Undefined::new(&code.types));
    }

    fn get(&self, reg: Reg) -> u64 {
        if reg == Reg::CARRY {
            return self.carry;
        }
        self.held.get(reg.0 as usize).copied().unwrap_or(0)
    }

    fn set(&mut self, reg: Reg, value: u64, types: &[Type]) {
        if let Some(undefined) = &mut self.undefined {
            undefined.define(reg);
        }
        if reg == Reg::CARRY {
            self.carry = value;
            return;
        }
        let place = reg.0 as usize;
        if let (Some(held), Some(ty)) = (self.held.get_mut(place), types.get(place)) {
            *held = ty.truncate(value);
        }
    }
}

/// A stack frame: the state of a body that is running, or that waits for the return of a called
/// function.
struct Frame<'p> {
    code: &'p FunctionBody<'p>,
    /// Locations of the parameters and results of a function; `None` for a kernel.
    passed: Option<&'p FunctionCode>,
    registers: Registers,
    /// Index of the next instruction. While the body waits for a called function, the index of the call.
    next: usize,
    /// Address of the stack's top before this frame was allocated.
    before: u64,
    /// Base address of the frame's variables in local memory.
    base: u64,
}

impl Frame<'_> {
    /// Returns the local-memory address of a variable of the frame.
    fn variable(&self, number: u32) -> u64 {
        self.base + u64::from(self.code.places.get(number as usize).copied().unwrap_or(0))
    }

    /// Returns the size in bytes of a variable of the frame.
    fn bytes(&self, number: u32) -> usize {
        self.code.body.frame.get(number as usize).map_or(0, |variable| variable.bytes() as usize)
    }
}

/// The operands that an instruction may read.
#[derive(Clone)]
pub(super) struct View<'a> {
    frame: &'a Frame<'a>,
    item: Item<'a>,
    memory: &'a Memory<'a>,
    /// Number of instructions that the item has executed.
    executed: u64,
}

impl<'a> View<'a> {
    /// Creates the view of a thread before its next instruction.
    pub(super) fn new(thread: &'a Thread<'a>, item: Item<'a>, memory: &'a Memory<'a>) -> View<'a> {
        View { frame: &thread.frame, item, memory, executed: thread.stats.instructions }
    }

    /// Returns the registers of the running body.
    pub(super) fn registers(&self) -> &'a Registers {
        &self.frame.registers
    }

    /// Returns the running body.
    pub(super) fn body(&self) -> &'a Body {
        self.frame.code.body
    }
}

fn words(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

fn whole([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

impl Reader<Concrete> for View<'_> {
    fn register(&mut self, _: &mut Concrete, reg: Reg) -> [u32; 2] {
        words(self.frame.registers.get(reg))
    }

    fn predicate(&mut self, _: &mut Concrete, reg: Reg) -> bool {
        self.frame.registers.get(reg) != 0
    }

    fn special(&mut self, domain: &mut Concrete, special: Special) -> [u32; 2] {
        let Item { shape, place } = self.item;
        let axis = |of: [u32; 3]| [special.axis.of(of), 0];
        let time = self.executed;
        match special.group {
            SpecialGroup::Thread => axis(place.local),
            SpecialGroup::Block => axis(place.group),
            SpecialGroup::Clock | SpecialGroup::TimeLow => [time as u32, 0],
            SpecialGroup::ClockHigh | SpecialGroup::TimeHigh => [(time >> 32) as u32, 0],
            SpecialGroup::Clock64 | SpecialGroup::Time => words(time),
            SpecialGroup::Environment(number) => [special::of_environment(number, self.memory.workspace), 0],
            group => {
                let [[x, y, z], [nx, ny, _]] = [place.local, shape.block];
                match special::of_thread(domain, group, x + nx * (y + ny * z)) {
                    Some(word) => [word, 0],
                    None => words(special::of_launch(special, shape, self.memory.block_memory).unwrap_or(0)),
                }
            }
        }
    }

    fn variable(&mut self, _: &mut Concrete, var: Var) -> [u32; 2] {
        words(self.memory.variables.get(&var.number).map_or(0, |bound| bound.address))
    }

    fn is_constant(&mut self, _: &mut Concrete, address: [u32; 2]) -> bool {
        self.memory.is_constant(whole(address))
    }

    fn frame(&mut self, _: &mut Concrete, var: FrameVar) -> [u32; 2] {
        words(self.frame.variable(var.number))
    }

    fn parameter(&mut self, _: &mut Concrete, number: u32) -> [u32; 2] {
        words(self.memory.param_places.get(number as usize).copied().unwrap_or(0))
    }
}

/// The execution state of a thread.
pub(super) struct Thread<'p> {
    frame: Frame<'p>,
    /// The stack frames of the callers of the running body, outermost first.
    waiting: Vec<Frame<'p>>,
    pub stats: ItemStats,
    /// `true` if the collective operation at which the thread waited has completed, and the thread
    /// has not run since then.
    is_resumed: bool,
}

/// For each stack frame, the index of its next instruction and its register values.
pub(super) type Position = Vec<(usize, Vec<u64>)>;

/// Reason why a thread stopped running.
#[derive(Debug)]
pub(super) enum Stop {
    /// The thread has ended.
    End,
    /// The thread has executed a strong access, and continues after other threads have run.
    Yield,
    /// The thread waits at a collective operation.
    Collective {
        /// The collective operation at which the thread waits.
        sync_op: SyncOp<u32, bool>,
        /// Registers that receive the results of the collective operation.
        results: [Option<Reg>; 2],
    },
}

impl<'p> Thread<'p> {
    /// Creates a thread at the start of a kernel. The thread reuses the allocations of `registers`,
    /// and its local memory is the stack in `memory`.
    pub(super) fn start(
        program: &'p Program<'p>,
        mut registers: Registers,
        memory: &mut Memory<'_>,
    ) -> Result<Thread<'p>, Halt> {
        memory.stack.clear();
        registers.clear(&program.kernel, memory.races.is_some());
        let frame = enter(&program.kernel, None, registers, memory).map_err(|kind| Fault { address: 0, kind })?;
        Ok(Thread { frame, waiting: Vec::new(), stats: ItemStats::default(), is_resumed: false })
    }

    /// Returns the kernel's registers, so that the next item can reuse their allocation.
    pub(super) fn into_registers(self) -> Registers {
        self.waiting.into_iter().next().unwrap_or(self.frame).registers
    }

    /// Returns the address of the thread's next instruction in the program.
    pub(super) fn address(&self) -> usize {
        self.frame.code.first + self.frame.next
    }

    /// Returns the address of the call instruction, if the thread executes a function of the device
    /// runtime.
    pub(super) fn call_address(&self) -> Option<usize> {
        let caller = self.waiting.last().filter(|_| self.frame.code.is_provided)?;
        Some(caller.code.first + caller.next)
    }

    /// Sets a register of the running body.
    pub(super) fn set(&mut self, reg: Reg, value: u64) {
        self.frame.registers.set(reg, value, &self.frame.code.types);
    }

    /// Writes the results of a collective operation to registers, and advances the thread past the instruction.
    pub(super) fn resume(&mut self, results: &[(Reg, u64)]) {
        results.iter().for_each(|&(reg, value)| self.set(reg, value));
        self.frame.next += 1;
        self.is_resumed = true;
    }

    /// Reports an executed instruction to the tracer, if the item is traced. `next` is the index of
    /// the instruction in the running body.
    fn trace(&self, program: &Program<'p>, memory: &mut Memory<'_>, next: usize, outcome: Outcome) {
        let (Frame { code, registers, .. }, depth) = (&self.frame, self.waiting.len());
        let Some(inst) = code.body.insts.get(next).filter(|_| memory.is_traced()) else { return };
        let register = |reg: Reg| {
            let declared = if reg == Reg::CARRY { Some(&Type::Pred) } else { code.types.get(reg.0 as usize) };
            let name = code.body.registers.name(reg).unwrap_or_default();
            (name, declared.copied().unwrap_or(Type::B64), registers.get(reg))
        };
        let executed = Executed { inst, address: code.first + next, depth, outcome };
        memory.trace_step(program, executed, register);
    }

    /// Returns the outcome of an executed instruction for the trace. Returns `None` for a
    /// collective operation with results, which is reported after the operation has completed.
    fn outcome(&self, program: &Program<'p>, memory: &Memory<'_>, inst: &Inst, next: Next<u32>) -> Option<Outcome> {
        let loc = |frame: &Frame<'_>, next: usize| memory.loc(frame.code.first + next);
        let is_off = inst.guard.is_some_and(|guard| (self.frame.registers.get(guard.reg) == 0) != guard.not);
        Some(match next {
            Next::Fall if is_off => Outcome::Skipped,
            Next::Fall => Outcome::Next,
            Next::Branch(_) | Next::Indexed { .. } => match target(&self.frame, next) {
                Ok(target) => Outcome::Branch(loc(&self.frame, target)),
                Err(_) => Outcome::Trap,
            },
            Next::Call(called) => match callee(program, &self.frame, called) {
                Ok(number) => {
                    let function = program.entry.functions.get(number as usize);
                    Outcome::Call(function.map_or_else(String::new, |function| function.name.clone()))
                }
                Err(_) => Outcome::Trap,
            },
            Next::Return => match self.waiting.last() {
                Some(caller) => Outcome::Return(loc(caller, caller.next)),
                None => Outcome::End,
            },
            Next::Exit => Outcome::End,
            Next::Trap => Outcome::Trap,
            Next::Collective if has_results(inst) => return None,
            Next::Collective => Outcome::Wait,
        })
    }

    /// Returns the part of the thread's state, besides memory, that determines how the thread
    /// continues.
    pub(super) fn position(&self) -> Position {
        let of = |frame: &Frame<'_>| (frame.code.first + frame.next, frame.registers.held.clone());
        self.waiting.iter().map(of).chain([of(&self.frame)]).collect()
    }

    fn backward(&mut self, budget: u64, work: &mut Work<'_>, address: usize) -> Result<(), Halt> {
        if self.stats.backward == budget {
            return Err(Fault { address, kind: TrapKind::Budget { limit: budget } }.into());
        }
        self.stats.backward += 1;
        Ok(work.add(1)?)
    }

    /// Runs the thread until it ends, waits or yields. A fault in a function of the device runtime
    /// is reported at the address of the call instruction.
    pub(super) fn run(
        &mut self,
        program: &'p Program<'p>,
        item: Item<'_>,
        memory: &mut Memory<'_>,
        budget: u64,
        work: &mut Work<'_>,
    ) -> Result<Stop, Halt> {
        if std::mem::take(&mut self.is_resumed) && memory.is_traced() {
            let last = self.frame.next.wrapping_sub(1);
            if self.frame.code.body.insts.get(last).is_some_and(has_results) {
                self.trace(program, memory, last, Outcome::Next);
            }
        }
        self.run_body(program, item, memory, budget, work).map_err(|halt| match (halt, self.call_address()) {
            (Halt::Fault(Fault { kind, .. }), Some(address)) => Fault { address, kind }.into(),
            (halt, _) => halt,
        })
    }

    /// Runs the thread until it ends, waits or yields. The end of a body has the same effect as `ret`.
    fn run_body(
        &mut self,
        program: &'p Program<'p>,
        item: Item<'_>,
        memory: &mut Memory<'_>,
        budget: u64,
        work: &mut Work<'_>,
    ) -> Result<Stop, Halt> {
        loop {
            let inst = self.frame.code.body.insts.get(self.frame.next);
            let address = self.address();
            let fault = |kind| Fault { address, kind };
            let next = match inst {
                Some(inst) => {
                    self.stats.instructions += 1;
                    work.add(1)?;
                    let item_number = memory.item;
                    let depth = self.waiting.len() as u32;
                    if let Some(races) = &mut memory.races {
                        races.reach(item_number, address as u32, depth);
                    }
                    let stepped = step(inst, item, address, self.stats.instructions, &mut self.frame, memory);
                    if memory.is_traced() {
                        let outcome = match &stepped {
                            Ok(next) => self.outcome(program, memory, inst, *next),
                            Err(_) => Some(Outcome::Trap),
                        };
                        if let Some(outcome) = outcome {
                            self.trace(program, memory, self.frame.next, outcome);
                        }
                    }
                    let next = stepped.map_err(fault)?;
                    if let (Some(races), Some(join)) = (&mut memory.races, self.frame.code.join_of(self.frame.next)) {
                        let join = join.map(|join| (self.frame.code.first + join) as u32);
                        races.branch(
                            item_number,
                            Branch { inst: address as u32, taken: successor_id(next), join, depth },
                        );
                    }
                    next
                }
                None => Next::Return,
            };
            match (next, inst) {
                (Next::Fall, Some(inst)) if program.is_of_groups() && yields(inst) => {
                    self.frame.next += 1;
                    return Ok(Stop::Yield);
                }
                (Next::Fall, _) => self.frame.next += 1,
                (Next::Exit, _) => return Ok(Stop::End),
                (Next::Collective, Some(inst)) => {
                    if inst.is_barrier() {
                        self.frame.registers.lose_carry();
                    }
                    let mut view = View { frame: &self.frame, item, memory, executed: self.stats.instructions };
                    match collective(inst, &mut Concrete, &mut view) {
                        Some(sync_op) => return Ok(Stop::Collective { sync_op, results: results(inst) }),
                        None => self.frame.next += 1,
                    }
                }
                (Next::Trap, _) => return Err(fault(TrapKind::Trap).into()),
                (Next::Branch(_) | Next::Indexed { .. }, _) => {
                    let target = target(&self.frame, next).map_err(fault)?;
                    if target <= self.frame.next {
                        self.backward(budget, work, address)?;
                    }
                    self.frame.next = target;
                }
                (Next::Call(called), Some(inst)) => {
                    self.backward(budget, work, address)?;
                    self.call(program, item, memory, inst, called).map_err(fault)?;
                }
                (Next::Return | Next::Call(_) | Next::Collective, _) => {
                    let Some(outer) = self.waiting.pop() else { return Ok(Stop::End) };
                    let inner = std::mem::replace(&mut self.frame, outer);
                    give_results(&inner, &mut self.frame, memory);
                    if memory.is_traced() && self.frame.code.body.insts.get(self.frame.next).is_some_and(has_results) {
                        self.trace(program, memory, self.frame.next, Outcome::Next);
                    }
                    memory.stack.truncate(inner.before);
                    memory.stack.leave();
                    self.frame.registers.carry = 0;
                    self.frame.registers.lose_carry();
                    self.frame.next += 1;
                    let ends = self.frame.code.only_returns(self.frame.next);
                    if let Some(races) = &mut memory.races {
                        races.ret(memory.item, self.waiting.len() as u32, ends);
                    }
                }
            }
        }
    }

    fn call(
        &mut self,
        program: &'p Program<'p>,
        item: Item<'_>,
        memory: &mut Memory<'_>,
        inst: &Inst,
        called: Called<u32>,
    ) -> Result<(), TrapKind> {
        let number = callee(program, &self.frame, called)?;
        let mut view = View { frame: &self.frame, item, memory, executed: self.stats.instructions };
        let values = arguments(inst, &mut Concrete, &mut view);
        let function = program.function(number);
        let address = self.address();
        let undefined = match function {
            Callable::Code(_, passed) => uninitialised::passed(inst, address, &view, &passed.params),
            _ => Default::default(),
        };
        match function {
            Callable::None => return Err(TrapKind::NoFunction),
            Callable::Builtin(builtin) => {
                let result = do_builtin(*builtin, &values, &self.frame, memory)?;
                give_result(result, &mut self.frame, memory);
                memory.forget_accesses();
                if has_results(inst) {
                    self.trace(program, memory, self.frame.next, Outcome::Next);
                }
                self.frame.next += 1;
            }
            Callable::Code(code, passed) => {
                let mut new = Registers::default();
                new.clear(code, memory.races.is_some());
                memory.stack.enter();
                let mut inner = enter(code, Some(passed), new, memory)?;
                for (value, &to) in values.iter().zip(&passed.params) {
                    pass(*value, &self.frame, to, &mut inner, memory);
                }
                inner.registers.spread(undefined);
                self.waiting.push(std::mem::replace(&mut self.frame, inner));
            }
        }
        Ok(())
    }
}

/// Returns `true` if an instruction writes registers, or if all lanes of a warp execute it together.
fn has_results(inst: &Inst) -> bool {
    inst.is_warp_level() || inst.registers().any(|(role, _)| role != OperandRole::Use)
}

/// Creates the stack frame for a body.
fn enter<'p>(
    code: &'p FunctionBody<'p>,
    passed: Option<&'p FunctionCode>,
    registers: Registers,
    memory: &mut Memory<'_>,
) -> Result<Frame<'p>, TrapKind> {
    let before = memory.stack.top();
    let base = memory.stack.take(code.frame_bytes.into(), code.frame_align)?;
    Ok(Frame { code, passed, registers, next: 0, before, base })
}

/// Returns a number that identifies the successor that a branch or call takes.
fn successor_id(next: Next<u32>) -> u32 {
    match next {
        Next::Fall => 0,
        Next::Indexed { index, .. } => index.saturating_add(1),
        Next::Call(Called::At { address: [low, _], .. }) => low,
        _ => 1,
    }
}

/// Returns the index of the instruction at which execution continues.
fn target(frame: &Frame<'_>, next: Next<u32>) -> Result<usize, TrapKind> {
    let body = frame.code.body;
    let label = match next {
        Next::Branch(label) => label,
        Next::Indexed { table, index } => {
            let labels = match body.tables.get(table as usize).map(|table| &table.of) {
                Some(Targets::Labels(labels)) => labels.as_slice(),
                _ => &[],
            };
            let outside = || TrapKind::NoTarget { index, targets: labels.len() as u32 };
            *labels.get(index as usize).ok_or_else(outside)?
        }
        _ => return Ok(frame.next + 1),
    };
    Ok(body.labels.get(label.0 as usize).map_or(body.insts.len(), |label| label.at as usize))
}

/// Returns the number of the called function. Returns a trap if no function is at the address of an indirect call. Also
/// returns a trap if the call's prototype or list of targets does not permit the function.
fn callee(program: &Program<'_>, frame: &Frame<'_>, called: Called<u32>) -> Result<u32, TrapKind> {
    let (address, table) = match called {
        Called::Function(number) => return Ok(number),
        Called::At { address, table } => (whole(address), table),
    };
    let number = function_at(address).ok_or(TrapKind::NoFunction)?;
    let function = program.entry.functions.get(number as usize).ok_or(TrapKind::NoFunction)?;
    let is_admitted = match frame.code.body.tables.get(table as usize).map(|table| &table.of) {
        Some(Targets::Prototype(prototype)) => function.prototype.is_compatible(prototype),
        Some(Targets::Functions(all)) => all.contains(&number),
        _ => false,
    };
    if is_admitted { Ok(number) } else { Err(TrapKind::NoFunction) }
}

/// Copies an argument of the caller to a parameter of the called function.
fn pass(value: Value<u32>, from: &Frame<'_>, to: FormalLocation, inner: &mut Frame<'_>, memory: &mut Memory<'_>) {
    let bytes: SmallVec<[u8; 8]> = match value {
        Value::Bits(bits) => SmallVec::from_slice(&whole(bits).to_le_bytes()),
        Value::Frame(number) => {
            let held = memory.stack.get(from.variable(number), from.bytes(number));
            SmallVec::from_slice(held.unwrap_or_default())
        }
    };
    put(&bytes, to, inner, memory);
}

/// Writes bytes to a register or to a variable of a stack frame.
fn put(bytes: &[u8], to: FormalLocation, frame: &mut Frame<'_>, memory: &mut Memory<'_>) {
    match to {
        FormalLocation::Register(reg) => {
            let value = bytes.iter().take(8).rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
            frame.registers.set(reg, value, &frame.code.types);
        }
        FormalLocation::Frame(number) => {
            let (address, count) = (frame.variable(number), frame.bytes(number));
            if let Some(held) = memory.stack.get_mut(address, count) {
                held.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            }
        }
    }
}

/// Copies the results of a returning function to the result operands of its call.
fn give_results(inner: &Frame<'_>, outer: &mut Frame<'_>, memory: &mut Memory<'_>) {
    let (Some(passed), Some(call)) = (inner.passed, outer.code.body.insts.get(outer.next)) else { return };
    let results =
        call.operands_with_rows().filter(|(o, _)| o.shape == row::OperandKind::Results).map(|(_, operand)| operand);
    for (operand, &from) in results.zip(&passed.results) {
        let bytes: SmallVec<[u8; 8]> = match from {
            FormalLocation::Register(reg) => SmallVec::from_slice(&inner.registers.get(reg).to_le_bytes()),
            FormalLocation::Frame(number) => {
                let held = memory.stack.get(inner.variable(number), inner.bytes(number));
                SmallVec::from_slice(held.unwrap_or_default())
            }
        };
        match *operand {
            Operand::Register(reg) => put(&bytes, FormalLocation::Register(reg), outer, memory),
            Operand::Frame { var, .. } => put(&bytes, FormalLocation::Frame(var.number), outer, memory),
            _ => {}
        }
        if let (&Operand::Register(reg), FormalLocation::Register(from)) = (operand, from) {
            outer.registers.inherit(reg, &inner.registers, from);
        }
    }
}

/// Writes the result of a built-in function to the result operand of its call, if any.
fn give_result(result: u64, outer: &mut Frame<'_>, memory: &mut Memory<'_>) {
    let Some(call) = outer.code.body.insts.get(outer.next) else { return };
    let operand =
        call.operands_with_rows().find(|(o, _)| o.shape == row::OperandKind::Results).map(|(_, operand)| operand);
    match operand {
        Some(&Operand::Register(reg)) => put(&result.to_le_bytes(), FormalLocation::Register(reg), outer, memory),
        Some(&Operand::Frame { var, .. }) => {
            put(&result.to_le_bytes(), FormalLocation::Frame(var.number), outer, memory)
        }
        _ => {}
    }
}

/// The variadic arguments of `vprintf`, which lie one after another in memory.
struct VariadicArgs<'m, 'a> {
    memory: &'m mut Memory<'a>,
    address: u64,
}

impl Values for VariadicArgs<'_, '_> {
    fn next(&mut self, bytes: u32) -> u64 {
        let base = self.address.next_multiple_of(bytes.into());
        self.address = base.wrapping_add(bytes.into());
        let place = Location::Flat { base: words(base), offset: 0 };
        let held = self.memory.load(place, bytes as usize, AccessOrigin::default());
        held.unwrap_or_default().iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
    }

    fn text(&mut self, address: u64) -> String {
        self.memory.string(address)
    }
}

/// Executes a built-in function, one that the CUDA driver provides on a GPU. Returns the function's result.
fn do_builtin(
    builtin: Builtin,
    values: &[Value<u32>],
    frame: &Frame<'_>,
    memory: &mut Memory<'_>,
) -> Result<u64, TrapKind> {
    let number = |place: usize| -> u64 {
        match values.get(place) {
            Some(&Value::Bits(bits)) => whole(bits),
            Some(&Value::Frame(number)) => {
                let held = memory.stack.get(frame.variable(number), frame.bytes(number)).unwrap_or_default();
                held.iter().take(8).rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
            }
            None => 0,
        }
    };
    match builtin {
        Builtin::Print => {
            let [template, address] = [number(0), number(1)];
            let template = memory.string(template);
            let (text, shown) = print::format(&template, &mut VariadicArgs { memory, address });
            if let Some(Print(print)) = memory.print {
                print(&text);
            }
            Ok(shown.into())
        }
        Builtin::AssertFail => {
            let [what, file, line, function] = [number(0), number(1), number(2), number(3)];
            let [what, file, function] = [what, file, function].map(|address| memory.string(address));
            Err(TrapKind::AssertFailed { what, file, line: line as u32, function })
        }
        Builtin::Allocate => Ok(memory.heap.allocate(number(0), heap::ALIGNMENT)),
        Builtin::AllocateAligned => Ok(memory.heap.allocate(number(0), number(1))),
        Builtin::Free => memory.free(number(0)).map(|()| 0),
    }
}

/// The element values of a vector access.
type Elements = ArrayVec<[u32; 2], { row::MAX_ELEMENTS }>;

/// Executes one instruction. `address` is the instruction's address in the program.
fn step(
    inst: &Inst,
    item: Item<'_>,
    address: usize,
    executed: u64,
    frame: &mut Frame<'_>,
    memory: &mut Memory<'_>,
) -> Result<Next<u32>, TrapKind> {
    let mut view = View { frame, item, memory, executed };
    let undefined = uninitialised::propagate(inst, address, &view)?;
    if guard(inst, &mut Concrete, &mut view) == Some(false) {
        frame.registers.spread(undefined);
        return Ok(Next::Fall);
    }
    let effects = meaning(inst, &mut Concrete, &mut view);
    let types = &frame.code.types;
    let by = || AccessOrigin { address: Some(address), strong: strength(inst) };
    for write in effects.writes {
        match write {
            Write::Register(reg, value) => frame.registers.set(reg, whole(value), types),
            Write::Predicate(reg, p) => frame.registers.set(reg, p.into(), types),
        }
    }
    match effects.access {
        Some(Access::Load { place, element, into }) => {
            let size = element.bits() as usize / 8;
            let bytes = memory.load(in_frame(place, frame), size * into.len(), by())?;
            for (reg, bytes) in into.iter().zip(bytes.chunks_exact(size)) {
                let Some(reg) = reg else { continue };
                let value = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
                let unused = 64 - element.bits();
                let extended = if element.is_signed() { (value << unused) as i64 >> unused } else { value as i64 };
                frame.registers.set(reg, extended as u64, types);
            }
        }
        Some(Access::Store { place, element, data }) => {
            let size = element.bits() as usize / 8;
            let mut bytes: SmallVec<[u8; 32]> = SmallVec::new();
            for value in data {
                bytes.extend_from_slice(whole(value).to_le_bytes().split_at(size).0);
            }
            memory.store(in_frame(place, frame), &bytes, by())?;
        }
        Some(Access::Atomic { place, element, operands, into }) => {
            let size = element.bits() as usize / 8;
            let place = in_frame(place, frame);
            let flushes = memory.is_global(place);
            let bytes = memory.change(place, size * operands.len(), by(), !inst.has(Token::Exch))?;
            let value = |bytes: &[u8]| bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
            let old: Elements = bytes.chunks_exact(size).map(|bytes| words(value(bytes))).collect();
            let new = atomically(inst, &mut Concrete, &old, &operands, flushes);
            for (bytes, &new) in bytes.chunks_exact_mut(size).zip(&new) {
                bytes.copy_from_slice(whole(new).to_le_bytes().split_at(size).0);
            }
            memory.is_changed |= new != old;
            for (reg, old) in into.iter().zip(old) {
                if let Some(reg) = reg {
                    frame.registers.set(reg, whole(old), types);
                }
            }
        }
        Some(Access::Copy { from, to, bytes, taken }) => {
            memory.copy(in_frame(from, frame), in_frame(to, frame), bytes as usize, taken as usize, address)?;
        }
        Some(Access::CommitCopies) => {
            if let Some(races) = &mut memory.races {
                races.commit_copies(memory.item);
            }
        }
        Some(Access::AwaitCopies { but }) => {
            if let Some(races) = &mut memory.races {
                races.await_copies(memory.item, but);
            }
        }
        Some(Access::Allocate { into, bytes, align }) => {
            let address = memory.stack.take(whole(bytes), align)?;
            frame.registers.set(into, address, types);
        }
        Some(Access::SaveStack { into }) => frame.registers.set(into, memory.stack.top(), types),
        Some(Access::RestoreStack { to }) => {
            let (to, least) = (whole(to), frame.base + u64::from(frame.code.frame_bytes));
            if to < least || !memory.stack.truncate(to) {
                return Err(TrapKind::StackRestored { to });
            }
        }
        None => {
            if let (Some(scope), Some(races)) = (fence(inst), &mut memory.races) {
                races.fence(memory.item, scope);
            }
        }
    }
    frame.registers.spread(undefined);
    Ok(effects.next)
}

/// Converts the location of a frame variable to a location in local memory.
fn in_frame(place: Location<u32>, frame: &Frame<'_>) -> Location<u32> {
    match place {
        Location::Frame { number, offset } => Location::Local { base: words(frame.variable(number)), offset },
        place => place,
    }
}
