//! Native code generation for one function. A function covers a range of the program's bundles.

use arrayvec::ArrayVec;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8X16, I32, I32X4, I64};
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, InstBuilder, JumpTableData, Signature, StackSlotData, StackSlotKind, Type, Value,
};
use cranelift_frontend::{FunctionBuilder, Switch};
use halfbyte_isa::vp1::Bundle;
use halfbyte_isa::vp1::data_store::DATA_STORE_BYTES;
use halfbyte_isa::vp1::domain::{Effects, MAX_WRITES, Next, Write};
use halfbyte_isa::vp1::footprint::Locations;
use halfbyte_isa::vp1::meaning::meaning;

use super::dots::{self, Dots};
use super::emitter::Emitter;
use super::emitter::registers::{Registers, VariableHome, machine_mem_flags};
use super::emitter::wide::ProductAdded;
use super::graph::{Flow, Graph};
use super::host::HostFunctions;
use super::liveness::{self, Liveness};
use super::loops::{ExitCondition, Load, Loop, Rows};
use super::machine::at;
use crate::vp1::ROW;
use crate::vp1::interp::{Bundles, MAX_CALLS};

/// The return value of native code. The low half is the number of the next bundle, and the high
/// half is the number of the bundle after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ExitCode(pub u64);

/// Flag in the return value: execution may continue in native code.
const MAY_CONTINUE: u64 = 1 << 63;

impl ExitCode {
    /// The return value after the program has exited.
    pub(super) const EXIT: ExitCode = ExitCode(u64::MAX);

    fn go(at: u32) -> ExitCode {
        ExitCode(ExitCode::stop(at).0 | MAY_CONTINUE)
    }

    /// Returns the code for the next bundle `at`, at which the interpreter must continue.
    fn stop(at: u32) -> ExitCode {
        ExitCode((u64::from(at) + 1) << 32 | u64::from(at))
    }

    /// Returns the number of the next bundle.
    pub(super) fn at(self) -> usize {
        self.0 as u32 as usize
    }

    /// Returns `true` if execution may continue in native code.
    pub(super) fn may_go(self) -> bool {
        self.0 & MAY_CONTINUE != 0
    }
}

/// Data store address of the last row of 16 bytes.
const LAST_ROW: i64 = (DATA_STORE_BYTES - ROW) as i64;

/// Maximum number of bundles in a program, so that each bundle number fits in an [`ExitCode`].
pub(super) const MAX_BUNDLES: usize = 1 << 30;

/// Minimum number of iterations for which the dot product function of the host is faster than the loop.
const LEAST_PRODUCTS: i64 = if cfg!(test) { 3 } else { 24 };

/// Size in bytes of sixteen 32-bit sums.
const SUMS_BYTES: u32 = 64;

/// A loop that only accumulates products of rows, in a form that the dot product function can compute.
struct Products<'l> {
    function: Dots,
    /// The row loads of the first and the second factor.
    rows: [&'l Load; 2],
    /// All row loads of the loop.
    loads: &'l [Load],
    /// Number of bits by which the products are shifted left.
    scale: u32,
}

/// The input of native code generation.
#[derive(Clone, Copy)]
pub(super) struct CodegenInput<'a> {
    pub program: &'a Bundles,
    pub graph: &'a Graph,
    /// Registers that always hold 0.
    pub zero: Locations,
    pub liveness: &'a Liveness,
}

/// The value that a function returns at an exit.
#[derive(Clone, Copy)]
enum ExitValue {
    Code(ExitCode),
    /// Execution continues at a bundle whose number is computed at run time, as an `i32`.
    Go(Value),
}

/// A Cranelift block that returns from the function.
struct Exit {
    block: Block,
    answer: ExitValue,
    /// Number of executed bundles that the counter does not include yet.
    issued: u32,
}

struct Function<'a, 'b, 'f> {
    e: Emitter<'b, 'f>,
    source: CodegenInput<'a>,
    registers: Registers,
    first: u32,
    end: u32,
    /// The Cranelift block of each bundle that begins a basic block, from bundle `first` on.
    labels: Vec<Option<Block>>,
    exits: Vec<Exit>,
    /// The block that dispatches returns from calls. Its block parameter is the bundle number of the return address.
    returns: Option<(Block, Value)>,
    /// Number of executed bundles that the counter does not include yet.
    issued: u32,
    /// The counted loop that is being emitted: its first bundle, and the block to which it branches back.
    current_loop: Option<(u32, Block)>,
}

/// Generates the native function for bundles `first` up to, but not including, `end`. Its arguments are the machine
/// state and the index of an entry point. Returns the bundle number of each entry point.
pub(super) fn build(
    b: &mut FunctionBuilder<'_>,
    host: &'static HostFunctions,
    source: CodegenInput<'_>,
    first: u32,
    end: u32,
) -> Vec<u32> {
    let start = b.create_block();
    b.append_block_params_for_function_params(start);
    b.switch_to_block(start);
    let (machine, number) = match b.block_params(start) {
        &[machine, number] => (machine, number),
        _ => return Vec::new(),
    };
    let prologue = b.create_block();
    b.ins().jump(prologue, &[]);
    let labels = vec![None; (end - first) as usize];
    let registers = Registers::new(source.zero);
    let e = Emitter::new(b, machine, host);
    let mut function = Function {
        e,
        source,
        registers,
        first,
        end,
        labels,
        exits: Vec::new(),
        returns: None,
        issued: 0,
        current_loop: None,
    };
    for at in first..end {
        if source.graph.is_leader(at) {
            function.block(at);
        }
    }
    function.return_dispatch();
    function.leave_all();
    function.enter(prologue, number)
}

impl<'b, 'f> Function<'_, 'b, 'f> {
    /// Returns the Cranelift block of a bundle. For a bundle outside the function, returns a block that exits.
    fn label(&mut self, at: u32) -> Block {
        let graph = self.source.graph;
        let label = at.checked_sub(self.first).and_then(|k| self.labels.get_mut(k as usize));
        match label {
            Some(label) if graph.is_leader(at) => *label.get_or_insert_with(|| self.e.b.create_block()),
            _ => {
                let code = if at < graph.len() { ExitCode::go(at) } else { ExitCode::stop(at) };
                self.exit(ExitValue::Code(code), 0)
            }
        }
    }

    /// Creates a block that returns `answer` from the function. `issued` is the number of executed
    /// bundles that the counter does not include yet.
    fn exit(&mut self, answer: ExitValue, issued: u32) -> Block {
        let block = self.e.b.create_block();
        self.e.b.set_cold_block(block);
        self.exits.push(Exit { block, answer, issued });
        block
    }

    fn jump_to(&mut self, block: Block) {
        self.e.b.ins().jump(block, &[]);
    }

    /// Emits an exit to the interpreter that is taken if `condition` is true. The interpreter then
    /// continues at bundle `at`, which has had no effect yet.
    fn leave_if(&mut self, condition: Value, at: u32) {
        let leave = self.exit(ExitValue::Code(ExitCode::stop(at)), self.issued);
        let stay = self.e.b.create_block();
        self.e.b.ins().brif(condition, leave, &[], stay, &[]);
        self.e.b.seal_block(leave);
        self.e.b.seal_block(stay);
        self.e.b.switch_to_block(stay);
    }

    fn count(&mut self, place: VariableHome, by: i64) {
        let old = self.registers.get(&mut self.e, place);
        let new = self.e.b.ins().iadd_imm_s(old, by);
        self.registers.set(&mut self.e, place, new);
    }

    /// Emits the addition of the executed bundles to their counter.
    fn count_issued(&mut self) {
        let issued = std::mem::take(&mut self.issued);
        if issued > 0 {
            self.count(VariableHome::Issued, issued.into());
        }
    }

    /// Emits the computation of a bundle's writes without performing them. Returns the writes, and
    /// the condition of the bundle's jump, if any.
    fn effects(&mut self, at: u32) -> (Writes<'b, 'f>, Option<Value>) {
        match self.source.program.get(at as usize) {
            Some((_, bundle)) => self.effects_of(bundle),
            None => (Writes::new(), None),
        }
    }

    fn effects_of(&mut self, bundle: &Bundle) -> (Writes<'b, 'f>, Option<Value>) {
        self.e.start_bundle();
        let Effects { writes, next } = meaning(bundle, &mut self.e, &mut self.registers);
        let taken = match next {
            Next::Jump { taken: Some(taken), .. } => Some(self.e.condition(taken)),
            _ => None,
        };
        (writes, taken)
    }

    /// Performs the register writes of a bundle.
    fn commit(&mut self, writes: &Writes<'b, 'f>) {
        for write in writes {
            self.registers.commit(&mut self.e, write);
        }
        self.issued += 1;
    }

    /// Emits bundle `at`, which is in the delay slot of a jump.
    fn delay_slot(&mut self, at: u32) {
        let (writes, _) = self.effects(at);
        self.commit(&writes);
        self.count_issued();
    }

    fn block(&mut self, first: u32) {
        let graph = self.source.graph;
        let label = self.label(first);
        self.e.b.switch_to_block(label);
        self.current_loop = None;
        if let Some(found) = Loop::at(self.source.program, graph, first)
            && found.jump + 1 < self.end
        {
            self.emit_counted_loop(first, &found);
        }
        for at in first.. {
            if at >= self.end || at > first && graph.is_leader(at) {
                self.count_issued();
                let label = self.label(at);
                return self.jump_to(label);
            }
            let flow = graph.flow(at);
            if flow == Flow::Stop {
                let exit = self.exit(ExitValue::Code(ExitCode::stop(at)), self.issued);
                self.issued = 0;
                return self.jump_to(exit);
            }
            let (writes, taken) = self.effects(at);
            match flow {
                Flow::Fall | Flow::Stop => self.commit(&writes),
                Flow::Leave => {
                    if let Some(taken) = taken {
                        self.leave_if(taken, at);
                    }
                    self.commit(&writes);
                }
                Flow::Exit => {
                    self.commit(&writes);
                    let exit = self.exit(ExitValue::Code(ExitCode::EXIT), self.issued);
                    self.issued = 0;
                    return self.jump_to(exit);
                }
                Flow::Return => return self.return_from(at, &writes),
                Flow::Jump { to, call, group, .. } => return self.jump(at, to, call, group, taken, &writes),
            }
        }
    }

    /// Emits those iterations of a counted loop that are guaranteed not to be the last. They have no exit test.
    fn emit_counted_loop(&mut self, first: u32, found: &Loop) {
        let [before, again] = [(); 2].map(|()| self.e.b.create_block());
        let times = self.guaranteed_trip_count(found);
        self.e.b.ins().brif(times, before, &[], again, &[]);
        self.e.b.seal_block(before);

        self.e.b.switch_to_block(before);
        for pointer in &found.pointers {
            self.registers.start_pointer(&mut self.e, pointer.register, pointer.align);
        }
        let mut left = times;
        if let Some(products) = self.products(found) {
            left = self.add_products(left, first, found, &products);
        }
        if found.unrolled > 1 {
            left = self.repeat_most(left, first, found, found.unrolled);
            // A second unrolled loop adds the products in pairs, because adding two products takes
            // little longer than adding one.
            if found.accumulates && found.unrolled > 2 {
                left = self.repeat_most(left, first, found, 2);
            }
        }
        self.repeat(left, first, found, 1);
        self.registers.drop_pointers(&mut self.e);
        self.registers.clear_flag(&mut self.e, found.c, found.end.bit());
        let bundles = i64::from(found.jump + 2 - first);
        let issued = self.e.b.ins().imul_imm_u(times, bundles);
        self.add(VariableHome::Issued, issued);
        self.count_backward_branches(found, times);
        self.jump_to(again);
        self.e.b.switch_to_block(again);
        self.current_loop = Some((first, again));
    }

    /// Emits an unrolled loop, each of whose iterations executes `copies` iterations of the
    /// original loop. Returns the number of iterations that are left.
    fn repeat_most(&mut self, times: Value, first: u32, found: &Loop, copies: u32) -> Value {
        let rounds = self.divided(times, copies);
        self.repeat(rounds, first, found, copies);
        let done = self.e.b.ins().imul_imm_u(rounds, i64::from(copies));
        self.e.b.ins().isub(times, done)
    }

    /// Emits a loop of `rounds` iterations. Each iteration executes `copies` iterations of the original loop.
    fn repeat(&mut self, rounds: Value, first: u32, found: &Loop, copies: u32) {
        let [body, after] = [(); 2].map(|()| self.e.b.create_block());
        let counter = self.e.b.declare_var(I64);
        self.e.b.def_var(counter, rounds);
        self.e.b.ins().brif(rounds, body, &[], after, &[]);
        self.e.b.switch_to_block(body);
        self.copies(first, found, copies);
        let left = self.e.b.use_var(counter);
        let left = self.e.b.ins().iadd_imm_s(left, -1);
        self.e.b.def_var(counter, left);
        self.e.b.ins().brif(left, body, &[], after, &[]);
        self.e.b.seal_block(body);
        self.e.b.seal_block(after);
        self.e.b.switch_to_block(after);
    }

    /// Emits `copies` iterations of a loop one after another.
    fn copies(&mut self, first: u32, found: &Loop, copies: u32) {
        if found.accumulates {
            self.registers.start_unrolled_body(&mut self.e);
        }
        for _ in 0..copies {
            for at in first..=found.jump + 1 {
                let (writes, _) = match &found.rest_of_jump {
                    _ if at != found.jump => self.effects(at),
                    Some(rest) => self.effects_of(rest),
                    None => continue,
                };
                self.commit(&writes);
                if at == found.writer {
                    // The loop continues, so the exit flag is known to be clear. The computation of
                    // the flag becomes dead code.
                    self.registers.clear_flag(&mut self.e, found.c, found.end.bit());
                }
            }
        }
        self.issued = 0;
        self.registers.end_unrolled_body(&mut self.e);
    }

    /// Returns the products that a loop accumulates. Returns `None` if the loop also uses the
    /// loaded rows otherwise, or if the host has no function for these products.
    fn products<'l>(&mut self, found: &'l Loop) -> Option<Products<'l>> {
        let Rows { loads, vector } = found.rows.as_ref()?;
        let (writes, _) = self.effects_of(vector);
        let [Write::Va(sum)] = writes.as_slice() else { return None };
        let ProductAdded { base, bytes, signed, scale } = sum.as_product_added()?;
        let before = [0, 1, 2, 3].map(|k| self.registers.get(&mut self.e, VariableHome::Va(k)));
        let load = |bytes: Value| {
            let mut loads = loads.iter().filter(|load| load.pointer.step == ROW as u32);
            loads.find(|load| self.registers.get(&mut self.e, VariableHome::V(load.v)) == bytes)
        };
        let [Some(x), Some(y)] = bytes.map(load) else { return None };
        let function = dots::function(signed)?;
        (base == before).then_some(Products { function, rows: [x, y], loads, scale })
    }

    /// Emits a call of the dot product function, which replaces iterations of a loop. At run time, the call is skipped
    /// if there are too few iterations. Returns the number of iterations that are left.
    fn add_products(&mut self, times: Value, first: u32, found: &Loop, products: &Products<'_>) -> Value {
        let [many, after] = [(); 2].map(|()| self.e.b.create_block());
        let left = self.e.b.append_block_param(after, I64);
        let enough = self.e.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, times, LEAST_PRODUCTS);
        self.e.b.ins().brif(enough, many, &[], after, &[times.into()]);
        self.e.b.seal_block(many);
        self.e.b.switch_to_block(many);
        // The first iteration runs without the function, because it may use rows that were loaded before the loop.
        self.copies(first, found, 1);
        let count = self.e.b.ins().iadd_imm_s(times, -1);

        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, SUMS_BYTES, 4);
        let slot = self.e.b.create_sized_stack_slot(slot);
        let sums = self.e.b.ins().stack_addr(I64, slot, 0);
        let rows = products.rows.map(|load| self.registers.row(&mut self.e, load.pointer.register, load.read()));
        if let [Some(x), Some(y)] = rows {
            let mut signature = Signature::new(self.e.b.func.signature.call_conv);
            signature.params.extend([AbiParam::new(I64); 4]);
            let signature = self.e.b.import_signature(signature);
            let function = self.e.b.ins().iconst(I64, products.function as usize as i64);
            self.e.b.ins().call_indirect(signature, function, &[x, y, count, sums]);
        }
        for k in 0..4 {
            let sum = self.e.b.ins().load(I32X4, machine_mem_flags(), sums, 16 * i32::from(k));
            let sum = self.e.b.ins().ishl_imm_u(sum, i64::from(products.scale));
            self.add(VariableHome::Va(k), sum);
        }
        for pointer in &found.pointers {
            let by = self.e.b.ins().imul_imm_u(count, i64::from(pointer.step));
            self.registers.advance(&mut self.e, pointer.register, by);
        }
        for load in products.loads {
            let last = load.offset - load.pointer.step as i32;
            if let Some(row) = self.registers.row(&mut self.e, load.pointer.register, last) {
                let row = self.e.b.ins().load(I8X16, machine_mem_flags(), row, 0);
                self.registers.set(&mut self.e, VariableHome::V(load.v), row);
            }
        }
        if let ExitCondition::Zero(r) = found.end {
            let count = self.e.b.ins().ireduce(I32, count);
            let less = self.e.b.ins().ineg(count);
            self.add(VariableHome::R(r), less);
        }
        let none = self.e.b.ins().iconst(I64, 0);
        self.e.b.ins().jump(after, &[none.into()]);
        self.e.b.seal_block(after);
        self.e.b.switch_to_block(after);
        left
    }

    fn add(&mut self, place: VariableHome, value: Value) {
        let old = self.registers.get(&mut self.e, place);
        let new = self.e.b.ins().iadd(old, value);
        self.registers.set(&mut self.e, place, new);
    }

    /// Emits the computation of a lower bound of the loop's remaining trip count. The loop cannot
    /// exit within this number of iterations.
    fn guaranteed_trip_count(&mut self, found: &Loop) -> Value {
        let mut most = self.registers.get(&mut self.e, VariableHome::Left);
        if found.group {
            let rest = self.registers.get(&mut self.e, VariableHome::Rest);
            let wide = self.e.b.ins().uextend(I64, rest);
            most = self.e.b.ins().select(rest, wide, most);
        }
        let mut rules_out: Option<Value> = None;
        let or = |function: &mut Self, rules_out: Option<Value>, other: Value| {
            Some(rules_out.map_or(other, |one| function.e.b.ins().bor(one, other)))
        };
        if found.writer >= found.jump
            && let Some(flag) = self.registers.flag(&mut self.e, found.c, found.end.bit())
        {
            rules_out = or(self, rules_out, flag);
        }
        for (number, pointer) in found.pointers.iter().enumerate() {
            let low = self.registers.get(&mut self.e, VariableHome::ALow(pointer.register));
            let high = self.registers.get(&mut self.e, VariableHome::AHigh(pointer.register));
            let odd = self.e.b.ins().band_imm_u(low, i64::from(pointer.align - 1));
            let stride = self.e.b.ins().band_imm_u(high, 3 << 30);
            let wrong = self.e.b.ins().bor(odd, stride);
            let wrong = self.e.b.ins().icmp_imm_u(IntCC::NotEqual, wrong, 0);
            rules_out = or(self, rules_out, wrong);
            let last = self.e.b.ins().iconst(I32, LAST_ROW);
            most = self.max_steps(most, low, last, pointer.step);
            let outside = self.e.b.ins().icmp(IntCC::UnsignedGreaterThan, low, last);
            rules_out = or(self, rules_out, outside);
            if let ExitCondition::Limit(place) = found.end
                && place == number
            {
                let limit = self.e.b.ins().ushr_imm_u(high, 16);
                let limit = self.e.b.ins().band_imm_u(limit, 0x3fff);
                let reached = self.e.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, low, limit);
                rules_out = or(self, rules_out, reached);
                let last = self.e.b.ins().iadd_imm_s(limit, -1);
                most = self.max_steps(most, low, last, pointer.step);
            }
        }
        if let ExitCondition::Zero(r) = found.end {
            let r = self.registers.get(&mut self.e, VariableHome::R(r));
            let before = self.e.b.ins().iadd_imm_s(r, -1);
            let before = self.e.b.ins().uextend(I64, before);
            most = self.e.b.ins().umin(most, before);
        }
        match rules_out {
            Some(wrong) => {
                let none = self.e.b.ins().iconst(I64, 0);
                self.e.b.ins().select(wrong, none, most)
            }
            None => most,
        }
    }

    /// Emits the computation of a number of steps: the minimum of `most` and the number of steps of
    /// size `step` from address `low` that do not exceed `last`. `last` must be at least `low`.
    fn max_steps(&mut self, most: Value, low: Value, last: Value, step: u32) -> Value {
        if step == 0 {
            return most;
        }
        let room = self.e.b.ins().isub(last, low);
        let times = self.divided(room, step);
        let times = self.e.b.ins().uextend(I64, times);
        self.e.b.ins().umin(most, times)
    }

    /// Emits the division of a number by a nonzero constant. The constant is usually a power of two.
    fn divided(&mut self, number: Value, by: u32) -> Value {
        match by.is_power_of_two() {
            true => self.e.b.ins().ushr_imm_u(number, i64::from(by.trailing_zeros())),
            false => self.e.b.ins().udiv_imm_u(number, i64::from(by)),
        }
    }

    /// Emits the counting of `times` backward branches, all of which the budget allows.
    fn count_backward_branches(&mut self, found: &Loop, times: Value) {
        let negative = self.e.b.ins().ineg(times);
        if !found.group {
            self.add(VariableHome::Left, negative);
            return self.add(VariableHome::Counted, times);
        }
        let (rest, left) =
            (self.registers.get(&mut self.e, VariableHome::Rest), self.registers.get(&mut self.e, VariableHome::Left));
        let counted = self.registers.get(&mut self.e, VariableHome::Counted);
        let narrow = self.e.b.ins().ireduce(I32, times);
        let (less_rest, less_left) = (self.e.b.ins().isub(rest, narrow), self.e.b.ins().isub(left, times));
        let more_counted = self.e.b.ins().iadd(counted, times);
        let budget = self.load(I64, at::BUDGET);
        let none = self.e.b.ins().iconst(I32, 0);
        let new = [
            (VariableHome::Rest, less_rest, none),
            (VariableHome::Left, budget, less_left),
            (VariableHome::Counted, counted, more_counted),
        ];
        for (place, yes, no) in new {
            let value = self.e.b.ins().select(rest, yes, no);
            self.registers.set(&mut self.e, place, value);
        }
    }

    fn jump(&mut self, at: u32, to: u32, call: bool, group: bool, taken: Option<Value>, writes: &Writes<'b, 'f>) {
        let backward = to <= at;
        if call {
            let full = self.depth_is(MAX_CALLS as i64);
            self.leave_if(full, at);
        }
        if backward {
            self.leave_without_budget(at);
        }
        self.commit(writes);
        self.delay_slot(at + 1);
        if let Some(taken) = taken {
            let (yes, no) = (self.e.b.create_block(), self.label(at + 2));
            self.e.b.ins().brif(taken, yes, &[], no, &[]);
            self.e.b.seal_block(yes);
            self.e.b.switch_to_block(yes);
        }
        if call {
            let depth = self.load(I32, at::DEPTH);
            let place = self.call_place(depth);
            let back = self.e.b.ins().iconst(I32, i64::from(at + 2));
            self.e.b.ins().store(machine_mem_flags(), back, place, at::CALLS as i32);
            let depth = self.e.b.ins().iadd_imm_s(depth, 1);
            self.e.b.ins().store(machine_mem_flags(), depth, self.e.machine, at::DEPTH as i32);
        }
        let label = match self.current_loop {
            Some((first, again)) if first == to => again,
            _ => self.label(to),
        };
        if group {
            let rest = self.registers.get(&mut self.e, VariableHome::Rest);
            let [more, none] = [(); 2].map(|()| self.e.b.create_block());
            self.e.b.ins().brif(rest, more, &[], none, &[]);
            self.e.b.seal_block(more);
            self.e.b.seal_block(none);
            self.e.b.switch_to_block(more);
            self.count(VariableHome::Rest, -1);
            let budget = self.load(I64, at::BUDGET);
            self.registers.set(&mut self.e, VariableHome::Left, budget);
            self.jump_to(label);
            self.e.b.switch_to_block(none);
        }
        if backward {
            self.count(VariableHome::Left, -1);
            self.count(VariableHome::Counted, 1);
        }
        self.jump_to(label);
    }

    fn return_from(&mut self, at: u32, writes: &Writes<'b, 'f>) {
        let none = self.depth_is(0);
        self.leave_if(none, at);
        let depth = self.load(I32, at::DEPTH);
        let depth = self.e.b.ins().iadd_imm_s(depth, -1);
        let place = self.call_place(depth);
        let to = self.e.b.ins().load(I32, machine_mem_flags(), place, at::CALLS as i32);
        let len = i64::from(self.source.graph.len());
        let outside = self.e.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, to, len);
        self.leave_if(outside, at);
        self.leave_without_budget(at);
        self.commit(writes);
        self.delay_slot(at + 1);
        self.e.b.ins().store(machine_mem_flags(), depth, self.e.machine, at::DEPTH as i32);
        let backward = self.e.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, to, i64::from(at));
        let backward = self.e.b.ins().uextend(I64, backward);
        let left = self.registers.get(&mut self.e, VariableHome::Left);
        let left = self.e.b.ins().isub(left, backward);
        self.registers.set(&mut self.e, VariableHome::Left, left);
        let counted = self.registers.get(&mut self.e, VariableHome::Counted);
        let counted = self.e.b.ins().iadd(counted, backward);
        self.registers.set(&mut self.e, VariableHome::Counted, counted);
        let (dispatch, _) = *self.returns.get_or_insert_with(|| {
            let block = self.e.b.create_block();
            (block, self.e.b.append_block_param(block, I32))
        });
        self.e.b.ins().jump(dispatch, &[to.into()]);
    }

    fn load(&mut self, ty: Type, offset: usize) -> Value {
        self.e.b.ins().load(ty, machine_mem_flags(), self.e.machine, offset as i32)
    }

    fn depth_is(&mut self, depth: i64) -> Value {
        let now = self.load(I32, at::DEPTH);
        self.e.b.ins().icmp_imm_u(IntCC::Equal, now, depth)
    }

    /// Returns the base address for an access to the return address at a call depth. The access adds the field offset
    /// [`at::CALLS`]. The depth is masked, so that no depth leads to an access outside the machine state.
    fn call_place(&mut self, depth: Value) -> Value {
        let depth = self.e.b.ins().band_imm_u(depth, MAX_CALLS as i64 - 1);
        let depth = self.e.b.ins().uextend(I64, depth);
        let offset = self.e.b.ins().ishl_imm_u(depth, 2);
        self.e.b.ins().iadd(self.e.machine, offset)
    }

    fn leave_without_budget(&mut self, at: u32) {
        let left = self.registers.get(&mut self.e, VariableHome::Left);
        let none = self.e.b.ins().icmp_imm_u(IntCC::Equal, left, 0);
        self.leave_if(none, at);
    }

    /// Emits the block that jumps to the return address of a call.
    fn return_dispatch(&mut self) {
        let Some((block, to)) = self.returns else { return };
        let elsewhere = self.exit(ExitValue::Go(to), 0);
        let graph = self.source.graph;
        let mut switch = Switch::new();
        for call in self.first..self.end {
            if matches!(graph.flow(call), Flow::Jump { call: true, .. }) && graph.is_entry(call + 2) {
                let label = self.label(call + 2);
                switch.set_entry(u128::from(call + 2), label);
            }
        }
        self.e.b.switch_to_block(block);
        switch.emit(self.e.b, to, elsewhere);
    }

    fn leave_all(&mut self) {
        for Exit { block, answer, issued } in std::mem::take(&mut self.exits) {
            self.e.b.switch_to_block(block);
            self.issued = issued;
            self.count_issued();
            let code = match answer {
                ExitValue::Code(ExitCode(code)) => self.e.b.ins().iconst(I64, code as i64),
                ExitValue::Go(to) => {
                    let to = self.e.b.ins().uextend(I64, to);
                    let next = self.e.b.ins().iadd_imm_s(to, 1);
                    let next = self.e.b.ins().ishl_imm_u(next, 32);
                    let both = self.e.b.ins().bor(to, next);
                    self.e.b.ins().bor_imm_s(both, MAY_CONTINUE as i64)
                }
            };
            let liveness = self.source.liveness;
            let wanted = match answer {
                ExitValue::Code(ExitCode::EXIT) => liveness.at_exit,
                ExitValue::Code(code) => liveness.before(code.at() as u32),
                ExitValue::Go(_) => liveness::all(),
            };
            self.registers.store(&mut self.e, wanted);
            self.e.b.ins().return_(&[code]);
        }
    }

    /// Emits the prologue, which loads the registers and jumps to an entry point. Returns the
    /// bundle number of each entry point.
    fn enter(mut self, prologue: Block, number: Value) -> Vec<u32> {
        self.e.b.switch_to_block(prologue);
        let graph = self.source.graph;
        let entries: Vec<u32> =
            (self.first..self.end).filter(|&at| graph.is_entry(at) && graph.is_leader(at)).collect();
        let wanted = entries.iter().map(|&at| self.source.liveness.before(at));
        self.registers.load(&mut self.e, wanted.fold(Locations::EMPTY, Locations::union));
        let labels: Vec<Block> = entries.iter().map(|&at| self.label(at)).collect();
        match *labels.as_slice() {
            [] => {
                let code = self.e.b.ins().iconst(I64, ExitCode::stop(self.first).0 as i64);
                self.e.b.ins().return_(&[code]);
            }
            [only] => self.jump_to(only),
            [first, ..] => {
                let none: &[BlockArg] = &[];
                let default = self.e.b.func.dfg.block_call(first, none);
                let table: Vec<_> = labels.iter().map(|&label| self.e.b.func.dfg.block_call(label, none)).collect();
                let table = self.e.b.create_jump_table(JumpTableData::new(default, &table));
                self.e.b.ins().br_table(number, table);
            }
        }
        entries
    }
}

/// The register writes of a bundle.
type Writes<'b, 'f> = ArrayVec<Write<Emitter<'b, 'f>>, MAX_WRITES>;
