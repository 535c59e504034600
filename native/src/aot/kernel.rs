//! Function of a kernel: the checked arguments, and the loop over the items.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F64, I8, I16, I32, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, StackSlot, StackSlotData, StackSlotKind, Type, Value};
use cranelift_frontend::Variable;
use halfbyte_abi::cooperative::SUBGROUP;
use halfbyte_abi::{Axis, Direction, Elem, ParamKind};
use halfbyte_isa::halu::domain::{Domain, IndexKind, SpecialReg};

use super::cover::covered;
use super::error::{NoCode, Refusal};
use super::gang;
use super::item::{Frame, Item, type_of};
use super::known::{Before, Flow, Known, Origins, flow};
use super::library::Library;
use super::machine::Features;
use super::memory::{BufferValues, here};
use super::runs::{Place, Runs};
use super::scalar::Scalar;
use super::soft::Soft;
use super::source::{Count, Source, is_of_groups};
use super::status::Status;
use super::{Described, Function, Options, Vectorized};
use crate::jit::{self, Action, Block, CellNumber, Cells, Gang, Location, Name, Next, Op, Reach, Unit};

/// Maximum number of bytes of local memory of an item, which is on the stack.
const MAX_PRIVATE: u32 = 1 << 16;
/// Maximum number of bytes of a buffer. Kernels cannot address more.
const MAX_BUFFER: u64 = 1 << 40;

/// Maximum instructions of a block. A gang checks all accesses of a block before its stores.
const MAX_BLOCK: u32 = 256;

/// Offsets of the fields of a trap record.
const TRAP_KIND: i32 = 0;
const TRAP_ITEM: i32 = 4;
const TRAP_LINE: i32 = 8;
const TRAP_WORD: i32 = 12;
const TRAP_ADDRESS: i32 = 16;

/// Returns the type in which a scalar is passed, or `None` if the scalar is passed by address.
fn passed(kind: ParamKind) -> Option<Type> {
    let ParamKind::Scalar(ty) = kind else { return None };
    Some(match (ty.elem(), ty.bytes()) {
        (Elem::F32, 4) => F32,
        (Elem::F64, 8) => F64,
        (_, 1) => I8,
        (_, 2) => I16,
        (_, 4) => I32,
        (_, 8) => I64,
        _ => return None,
    })
}

/// Adds a kernel to an object.
pub(super) fn add(
    library: &mut Library<'_>,
    symbol: &str,
    kernel: Described<'_>,
    source: &Source<'_>,
    options: &Options,
) -> Result<Function, Stop> {
    let blocks = source.front.blocks(MAX_BLOCK);
    if blocks.iter().any(|block| matches!(block.next, Next::Meet { .. })) {
        let met = blocks.iter().find(|block| matches!(block.next, Next::Meet { .. }));
        return Err(Stop::Refused(met.map_or(0, |block| block.start), Refusal::Meets));
    }
    if source.has_shared {
        return Err(Stop::Refused(0, Refusal::Shared));
    }
    if source.scratch_bytes > MAX_PRIVATE {
        return Err(Stop::Refused(0, Refusal::Private { bytes: source.scratch_bytes, limit: MAX_PRIVATE }));
    }
    let mut cells = Cells::default();
    let pointers = pointers(kernel, source);
    let flow = flow(source.front, &blocks, &mut cells, &pointers);
    let of_runs = jit::Kernel {
        sizes: &[],
        front: source.front,
        pointers: source.pointers,
        specials: source.specials,
        groups: None,
        shared_bytes: 0,
        scratch_bytes: source.scratch_bytes as usize,
        scratch_start: source.scratch_start,
    };
    let Features { gangs, .. } = library.features;
    let gang = if gangs { Gang::new(&of_runs, &blocks, &mut cells) } else { None };
    let units = || flow.units.iter().flatten();
    let reads = |offset: u32| units().any(|unit| reads_bank(unit, offset));
    let reads_any = units().any(reads_bank_anywhere);
    let of_groups = source.bank.launch.iter().any(|&(at, count)| count.is_of_groups() && (reads_any || reads(at)));
    let takes_grid = of_groups || source.specials.iter().any(|&register| is_of_groups(register));
    let signature = kernel.signature();
    let mut function = Function {
        kernel: signature.name().to_owned(),
        symbol: symbol.to_owned(),
        parameters: signature.given().to_vec(),
        takes_grid,
        budget: options.budget,
        private_bytes: source.scratch_bytes,
        vectorized: Vectorized::No,
    };
    let mut data = Vec::new();
    for contents in signature.contents() {
        data.push((library.constant(contents, 16)?, contents.len()));
    }
    let mut made = library.module.make_signature();
    made.params.extend(if takes_grid { vec![I64, I64] } else { vec![I32] }.into_iter().map(AbiParam::new));
    for param in signature.given() {
        match passed(param.kind) {
            Some(ty) => made.params.push(AbiParam::new(ty)),
            None if matches!(param.kind, ParamKind::Buffer { .. }) => made.params.extend([AbiParam::new(I64); 2]),
            None => made.params.push(AbiParam::new(I64)),
        }
    }
    made.params.push(AbiParam::new(I64));
    made.returns.push(AbiParam::new(I32));
    let has_loop = blocks.iter().any(Block::goes_back);
    library.export(symbol, made, |s| {
        let scalar = Scalar::new(&mut *s.b, &mut *s.library);
        let launch = Launch { s: scalar, kernel, source, cells: &cells, takes_grid, bank_in_memory: reads_any };
        function.vectorized = launch.emit((&blocks, &flow, gang.as_ref()), &data, options.budget, has_loop);
    })?;
    Ok(function)
}

/// Returns the offset of each buffer's address in constant bank 0, by parameter.
fn pointers(kernel: Described<'_>, source: &Source<'_>) -> Vec<Option<u32>> {
    let params = kernel.signature().params().iter().zip(&source.bank.params);
    params.map(|(param, &at)| matches!(param.kind, ParamKind::Buffer { .. }).then_some(at)).collect()
}

/// Reason why a kernel is not compiled to a function.
pub(super) enum Stop {
    /// The instruction at an address is not supported.
    Refused(u32, Refusal),
    Code(NoCode),
}

impl From<NoCode> for Stop {
    fn from(error: NoCode) -> Stop {
        Stop::Code(error)
    }
}

fn reads_bank(unit: &Unit, at: u32) -> bool {
    unit.dataflow.nodes.iter().any(|node| matches!(node.op, Op::Bank { offset, .. } if offset & !3 == at))
}

/// Returns `true` if a unit reads constant bank 0 at a computed address.
fn reads_bank_anywhere(unit: &Unit) -> bool {
    let is_there = |place: &Location| match place {
        Location::Constant { bank: 0, .. } => true,
        Location::Flat { reach: Reach::Any { params }, .. } => *params,
        Location::Flat { reach: Reach::In(halfbyte_isa::trap::Space::Constant(0)), .. } => true,
        _ => false,
    };
    unit.dataflow.accesses.iter().any(|access| match &access.action {
        Action::Load { place, .. } | Action::Store { place, .. } | Action::Atomic { place, .. } => is_there(place),
        Action::Fence | Action::Fault(_) => false,
    })
}

/// Builder of the function of a kernel.
struct Launch<'a, 'b, 'f, 'm> {
    s: Scalar<'b, 'f, 'm>,
    kernel: Described<'a>,
    source: &'a Source<'a>,
    cells: &'a Cells,
    takes_grid: bool,
    /// `true` if an instruction reads constant bank 0 at a computed address.
    bank_in_memory: bool,
}

/// Number of items of the launch, and their groups.
struct Sizes {
    items: Value,
    /// Number of groups along each axis, and number of items of a group along each axis.
    groups: Option<[[Value; 3]; 2]>,
}

impl Launch<'_, '_, '_, '_> {
    fn emit(
        mut self,
        (blocks, flow, gang): (&[Block], &Flow, Option<&Gang>),
        data: &[(cranelift_module::DataId, usize)],
        budget: u64,
        has_loop: bool,
    ) -> Vectorized {
        let entry = self.s.b.current_block();
        let params: Vec<Value> = entry.map_or(Vec::new(), |entry| self.s.b.block_params(entry).to_vec());
        let (mut given, trap_out) = (params.iter().copied(), params.last().copied());
        let mut next = || given.next().or(trap_out).unwrap_or(Value::from_u32(0));
        let first = next();
        let second = if self.takes_grid { Some(next()) } else { None };
        let trap_out = trap_out.unwrap_or(first);
        // All traps and invalid arguments leave through this block, with status, item, line, word and address.
        let failed = self.s.b.create_block();
        let [status, item, line, word, address] =
            [I32, I32, I32, I32, I64].map(|ty| self.s.b.append_block_param(failed, ty));
        self.s.b.set_cold_block(failed);
        // Arguments.
        let mut words: Vec<Option<Value>> = vec![None; (self.source.bank.bytes as usize).div_ceil(4)];
        let mut buffers = Vec::new();
        let signature = self.kernel.signature();
        for (number, (param, &at)) in (0..).zip(signature.params().iter().zip(&self.source.bank.params)) {
            let held = data.get((number as usize).wrapping_sub(signature.given().len()));
            match (param.kind, held) {
                (ParamKind::Buffer { elem, align, .. }, held) => {
                    let (start, bytes) = match held {
                        Some(&(id, bytes)) if number as usize >= signature.given().len() => {
                            let global = self.s.library.module.declare_data_in_func(id, self.s.b.func);
                            (self.s.b.ins().symbol_value(I64, global), self.s.constant(I64, bytes as u64))
                        }
                        _ => {
                            let (start, len) = (next(), next());
                            let bytes = self.check_buffer(failed, number, [start, len], elem.bytes(), align);
                            (start, bytes)
                        }
                    };
                    put(&mut self.s, &mut words, at, 8, start);
                    // No argument overlaps a table of the kernel.
                    let is_unique = number as usize >= signature.given().len() || param.kind.is_unique();
                    let is_written = param.kind.is_written();
                    buffers.push(Some(BufferValues { start, bytes, is_written, is_unique }));
                }
                (ParamKind::Scalar(ty), _) => {
                    let value = next();
                    match passed(param.kind) {
                        Some(_) => {
                            let bits = self.bits(value);
                            put(&mut self.s, &mut words, at, ty.bytes(), bits);
                        }
                        None => {
                            let none = self.s.constant(I64, 0);
                            let holds = self.s.b.ins().icmp_imm_s(IntCC::NotEqual, value, 0);
                            self.or_fail(failed, holds, Status::NullBuffer, number, none);
                            for k in 0..ty.bytes() / 4 {
                                let word = self.s.b.ins().load(I32, here(), value, 4 * k as i32);
                                put(&mut self.s, &mut words, at + 4 * k, 4, word);
                            }
                        }
                    }
                    buffers.push(None);
                }
            }
        }
        self.check_overlap(failed, &buffers);
        let sizes = self.sizes(failed, first, second);
        for &(at, count) in &self.source.bank.launch {
            let value = self.count(&sizes, count);
            put(&mut self.s, &mut words, at, 4, value);
        }
        let zero = self.s.word(0);
        let most = self.kernel.info.max_items;
        if most != u32::MAX {
            let holds = self.s.b.ins().icmp_imm_s(IntCC::UnsignedLessThanOrEqual, sizes.items, i64::from(most));
            let nowhere = self.s.constant(I64, 0);
            self.or_fail(failed, holds, Status::Items, 0, nowhere);
        }
        let words: Vec<Value> = words.into_iter().map(|word| word.unwrap_or(zero)).collect();
        // The function writes nothing before this point.
        let covered = covered(blocks, flow, self.cells, &pointers(self.kernel, self.source));
        for ((param, buffer), stride) in signature.given().iter().zip(&buffers).zip(covered) {
            if let (ParamKind::Buffer { direction: Direction::Out, .. }, Some(buffer)) = (param.kind, buffer) {
                self.zero(buffer, stride.filter(|_| sizes.groups.is_none()), sizes.items);
            }
        }
        let bank = self.bank_in_memory.then(|| {
            let slot = self.slot(self.source.bank.bytes);
            for (k, &word) in (0..).zip(&words) {
                self.s.b.ins().stack_store(I64, word, slot, 4 * k);
            }
            slot
        });
        let scratch_bytes = self.source.scratch_bytes;
        let scratch = (scratch_bytes != 0).then(|| (self.slot(scratch_bytes), scratch_bytes));
        let pointers = pointers(self.kernel, self.source);
        let gang = gang.and_then(|gang| Some((gang, gang::stored(gang, blocks, flow, &pointers, &buffers)?)));
        let apart = gang.as_ref().map(|(_, stored)| self.are_apart(&buffers, stored));
        let gangs = gang.and_then(|(gang, stored)| {
            let kernel = (gang, self.cells, blocks);
            gang::code(self.s.library, kernel, flow, (&pointers, &stored), budget)
        });
        // The loop over items.
        let number = self.s.b.declare_var(I32);
        let place = sizes.groups.map(|_| [(); 6].map(|()| self.s.b.declare_var(I32)));
        for variable in place.iter().flatten().copied().chain([number]) {
            self.s.b.def_var(variable, zero);
        }
        let (head, body, after, done) =
            (self.s.b.create_block(), self.s.b.create_block(), self.s.b.create_block(), self.s.b.create_block());
        let runs = gangs.map(|gangs| {
            let place = place.zip(sizes.groups).map(|(at, [grid, block])| Place { at, grid, block });
            let apart = apart.unwrap_or_else(|| self.s.truth(true));
            (gangs, Runs::new(&mut self.s, apart, sizes.items, (number, place)))
        });
        self.s.b.ins().jump(head, &[]);
        self.s.b.switch_to_block(head);
        let at = self.s.b.use_var(number);
        let more = self.s.b.ins().icmp(IntCC::UnsignedLessThan, at, sizes.items);
        let first = runs.as_ref().map_or(body, |(_, runs)| runs.ask);
        self.s.b.ins().brif(more, first, &[], done, &[]);
        self.s.b.switch_to_block(done);
        let ok = self.s.word(0);
        self.s.b.ins().return_(&[ok]);
        // A trap of an item.
        let trap = self.s.b.create_block();
        let of_trap = [I32, I32, I32, I64].map(|ty| self.s.b.append_block_param(trap, ty));
        self.s.b.set_cold_block(trap);
        self.s.b.switch_to_block(trap);
        let at = self.s.b.use_var(number);
        let [kind, of_line, of_word, of_address] = of_trap;
        self.s.b.ins().jump(failed, &[kind.into(), at.into(), of_line.into(), of_word.into(), of_address.into()]);
        self.s.b.switch_to_block(failed);
        let (told, silent) = (self.s.b.create_block(), self.s.b.create_block());
        self.s.b.ins().brif(trap_out, told, &[], silent, &[]);
        self.s.b.switch_to_block(told);
        let fields =
            [(status, TRAP_KIND), (item, TRAP_ITEM), (line, TRAP_LINE), (word, TRAP_WORD), (address, TRAP_ADDRESS)];
        for (value, offset) in fields {
            self.s.b.ins().store(here(), value, trap_out, offset);
        }
        self.s.b.ins().jump(silent, &[]);
        self.s.b.switch_to_block(silent);
        self.s.b.ins().return_(&[status]);
        let cells = (0..self.cells.len() as u32).map(CellNumber);
        let cells = cells.map(|cell| self.s.b.declare_var(type_of(self.cells, cell))).collect();
        let mut frame = Frame {
            buffers,
            pointers,
            words,
            bank,
            parts: self.source.bank.parts.clone(),
            scratch,
            scratch_start: self.source.scratch_start,
            trap,
            next: after,
            headroom: None,
            cells,
        };
        let (known, origins) = (Known::new(), Origins::new());
        let (none, of_text) = (Before { known: &known, origins: &origins }, (self.kernel.locs, self.kernel.parts));
        // Items that run together, in gangs.
        let vectorized = if runs.is_some() { Vectorized::Gangs } else { Vectorized::No };
        if let Some((gangs, runs)) = runs {
            let ways = runs.begin(&mut self.s, body);
            let along = runs.along(&mut self.s);
            self.start(&frame.cells, number, (place, Some(along)), &sizes);
            let first = Item::new(self.s, &frame, of_text, flow, none);
            self.s = gang::call(first, &gangs, ways);
            runs.end(&mut self.s, ways, body);
            self.s.b.ins().jump(head, &[]);
        }
        // One item.
        self.s.b.switch_to_block(body);
        self.start(&frame.cells, number, (place, None), &sizes);
        if let Some((slot, bytes)) = scratch {
            let start = self.s.b.ins().stack_addr(I64, slot, 0);
            let bytes = self.s.constant(I64, bytes.into());
            self.s.call(Soft::Zero, &[start, bytes]);
        }
        frame.headroom = has_loop.then(|| {
            let headroom = self.s.b.declare_var(I64);
            let all = self.s.constant(I64, budget);
            self.s.b.def_var(headroom, all);
            headroom
        });
        let mut s = Item::new(self.s, &frame, of_text, flow, none).emit(blocks);
        // The next item.
        s.b.switch_to_block(after);
        let at = s.b.use_var(number);
        let next = s.b.ins().iadd_imm_s(at, 1);
        s.b.def_var(number, next);
        if let (Some(place), Some([grid, block])) = (place, sizes.groups) {
            let [x, y, z, u, v, w] = place;
            advance(&mut s, [(x, block[0]), (y, block[1]), (z, block[2]), (u, grid[0]), (v, grid[1]), (w, grid[2])]);
        }
        s.b.ins().jump(head, &[]);
        vectorized
    }

    /// Computes at run time if no buffer that the kernel stores to overlaps another buffer.
    fn are_apart(&mut self, buffers: &[Option<BufferValues>], stored: &[bool]) -> Value {
        let mut apart = self.s.truth(true);
        for (number, (a, &is_stored)) in buffers.iter().zip(stored).enumerate() {
            let Some(a) = a.filter(|a| is_stored && !a.is_unique) else { continue };
            for (_, b) in buffers.iter().enumerate().filter(|&(other, _)| other != number) {
                let Some(b) = b.filter(|b| !b.is_unique) else { continue };
                let [a_end, b_end] = [a, b].map(|buffer| self.s.b.ins().iadd(buffer.start, buffer.bytes));
                let before = self.s.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, a_end, b.start);
                let after = self.s.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, b_end, a.start);
                let is_apart = self.s.b.ins().bor(before, after);
                apart = self.s.b.ins().band(apart, is_apart);
            }
        }
        apart
    }

    /// Zeroes a buffer, unless the items overwrite it completely with `stride` bytes each.
    fn zero(&mut self, buffer: &BufferValues, stride: Option<u64>, items: Value) {
        let (cleared, done) = (self.s.b.create_block(), self.s.b.create_block());
        match stride {
            Some(stride) => {
                let items = self.s.b.ins().uextend(I64, items);
                let written = self.s.b.ins().imul_imm_s(items, stride.cast_signed());
                let is_all = self.s.b.ins().icmp(IntCC::Equal, written, buffer.bytes);
                // The offsets of the items do not wrap.
                let is_small = self.s.b.ins().icmp_imm_s(IntCC::UnsignedLessThan, written, 1 << 31);
                let is_whole = self.s.b.ins().band(is_all, is_small);
                self.s.b.ins().brif(is_whole, done, &[], cleared, &[]);
            }
            None => {
                self.s.b.ins().jump(cleared, &[]);
            }
        }
        self.s.b.switch_to_block(cleared);
        self.s.call(Soft::Zero, &[buffer.start, buffer.bytes]);
        self.s.b.ins().jump(done, &[]);
        self.s.b.switch_to_block(done);
    }

    fn slot(&mut self, bytes: u32) -> StackSlot {
        self.s.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes.next_multiple_of(16), 4))
    }

    /// Returns the bits of a scalar as an integer.
    fn bits(&mut self, value: Value) -> Value {
        match self.s.b.func.dfg.value_type(value) {
            F32 => self.s.cast(I32, value),
            F64 => self.s.cast(I64, value),
            _ => value,
        }
    }

    /// Continues if `holds` is true. Otherwise, the function returns the status of an invalid argument.
    fn or_fail(
        &mut self,
        failed: cranelift_codegen::ir::Block,
        holds: Value,
        status: Status,
        param: u32,
        address: Value,
    ) {
        let (on, cold) = (self.s.b.create_block(), self.s.b.create_block());
        self.s.b.set_cold_block(cold);
        self.s.b.ins().brif(holds, on, &[], cold, &[]);
        self.s.b.switch_to_block(cold);
        let zero = self.s.word(0);
        let [status, param] = [status.code().cast_unsigned(), param].map(|word| self.s.word(word));
        self.s.b.ins().jump(failed, &[status.into(), param.into(), zero.into(), zero.into(), address.into()]);
        self.s.b.switch_to_block(on);
    }

    /// Checks the argument of a buffer, and returns the size of the buffer in bytes.
    fn check_buffer(
        &mut self,
        failed: cranelift_codegen::ir::Block,
        param: u32,
        [start, len]: [Value; 2],
        elem: u32,
        align: u32,
    ) -> Value {
        let is_there = self.s.b.ins().icmp_imm_s(IntCC::NotEqual, start, 0);
        let is_empty = self.s.b.ins().icmp_imm_s(IntCC::Equal, len, 0);
        let holds = self.s.b.ins().bor(is_there, is_empty);
        self.or_fail(failed, holds, Status::NullBuffer, param, start);
        if align > 1 {
            let rest = self.s.b.ins().band_imm_s(start, i64::from(align) - 1);
            let holds = self.s.b.ins().icmp_imm_s(IntCC::Equal, rest, 0);
            let holds = self.s.b.ins().bor(holds, is_empty);
            self.or_fail(failed, holds, Status::MisalignedBuffer, param, start);
        }
        let most = MAX_BUFFER / u64::from(elem.max(1));
        let holds = self.s.b.ins().icmp_imm_s(IntCC::UnsignedLessThanOrEqual, len, most as i64);
        self.or_fail(failed, holds, Status::LargeBuffer, param, start);
        self.s.b.ins().imul_imm_s(len, i64::from(elem))
    }

    /// Checks that no written buffer overlaps another buffer, unless both parameters permit the overlap.
    fn check_overlap(&mut self, failed: cranelift_codegen::ir::Block, buffers: &[Option<BufferValues>]) {
        let given = self.kernel.signature().given();
        for (second, (b, b_values)) in (0..).zip(given.iter().zip(buffers)) {
            for (a, a_values) in given.iter().zip(buffers).take(second as usize) {
                let (Some(x), Some(y)) = (a_values, b_values) else { continue };
                if !(x.is_written || y.is_written) || a.kind.may_overlap(b.kind) {
                    continue;
                }
                let ends = [x, y].map(|of| self.s.b.ins().iadd(of.start, of.bytes));
                let before = self.s.b.ins().icmp(IntCC::UnsignedLessThan, x.start, ends[1]);
                let after = self.s.b.ins().icmp(IntCC::UnsignedLessThan, y.start, ends[0]);
                let overlap = self.s.b.ins().band(before, after);
                let some = [x, y].map(|of| self.s.b.ins().icmp_imm_s(IntCC::NotEqual, of.bytes, 0));
                let some = self.s.b.ins().band(some[0], some[1]);
                let overlap = self.s.b.ins().band(overlap, some);
                let holds = self.s.b.ins().bxor_imm_s(overlap, 1);
                self.or_fail(failed, holds, Status::Overlap, second, y.start);
            }
        }
    }

    /// Returns the sizes of the launch, after checks.
    fn sizes(&mut self, failed: cranelift_codegen::ir::Block, first: Value, second: Option<Value>) -> Sizes {
        let Some(second) = second else { return Sizes { items: first, groups: None } };
        let groups = [first, second].map(|counts| {
            let none = self.s.constant(I64, 0);
            let holds = self.s.b.ins().icmp_imm_s(IntCC::NotEqual, counts, 0);
            self.or_fail(failed, holds, Status::Items, 0, none);
            [0, 4, 8].map(|at| self.s.b.ins().load(I32, here(), counts, at))
        });
        // If one count is zero, there are no items, whatever the other counts are.
        let mut some = self.s.truth(true);
        let mut all = self.s.constant(I64, 1);
        let mut fits = self.s.truth(true);
        for count in groups.into_iter().flatten() {
            let is_some = self.s.b.ins().icmp_imm_s(IntCC::NotEqual, count, 0);
            some = self.s.b.ins().band(some, is_some);
            let wide = self.s.b.ins().uextend(I64, count);
            all = self.s.b.ins().imul(all, wide);
            let is_kept = self.s.b.ins().icmp_imm_s(IntCC::UnsignedLessThanOrEqual, all, i64::from(u32::MAX));
            fits = self.s.b.ins().band(fits, is_kept);
            all = self.s.b.ins().band_imm_s(all, i64::from(u32::MAX));
        }
        let none = self.s.b.ins().bxor_imm_s(some, 1);
        let holds = self.s.b.ins().bor(fits, none);
        let nowhere = self.s.constant(I64, 0);
        self.or_fail(failed, holds, Status::Items, 0, nowhere);
        if self.kernel.info.along_x {
            // The code of the kernel ignores the other axes.
            let [[_, grid @ ..], [_, block @ ..]] = groups;
            for count in grid.into_iter().chain(block) {
                let holds = self.s.b.ins().icmp_imm_s(IntCC::UnsignedLessThanOrEqual, count, 1);
                self.or_fail(failed, holds, Status::Items, 0, nowhere);
            }
        }
        let (items, zero) = (self.s.b.ins().ireduce(I32, all), self.s.word(0));
        Sizes { items: self.s.b.ins().select(some, items, zero), groups: Some(groups) }
    }

    /// Returns the value of a launch size.
    fn count(&mut self, sizes: &Sizes, count: Count) -> Value {
        let product = |s: &mut Scalar<'_, '_, '_>, [x, y, z]: [Value; 3]| {
            let area = s.b.ins().imul(x, y);
            s.b.ins().imul(area, z)
        };
        match (count, sizes.groups) {
            (Count::Always(word), _) => self.s.word(word),
            (Count::Items, _) => sizes.items,
            (Count::Block(Some(axis)), Some([_, block])) => axis.of(block),
            (Count::Grid(Some(axis)), Some([grid, _])) => axis.of(grid),
            (Count::Block(None), Some([_, block])) => product(&mut self.s, block),
            (Count::Grid(None), Some([grid, _])) => product(&mut self.s, grid),
            (Count::Warps, Some([_, block])) => {
                let all = product(&mut self.s, block);
                let more = self.s.b.ins().iadd_imm_s(all, i64::from(SUBGROUP) - 1);
                self.s.b.ins().ushr_imm_s(more, i64::from(SUBGROUP.ilog2()))
            }
            // No instruction reads this value.
            (_, None) => self.s.word(0),
        }
    }

    /// Initialises the cells of an item: special registers with their values, and other cells with zero. For a run,
    /// `place` contains the position of its first item along the line.
    fn start(
        &mut self,
        cells: &[Variable],
        number: Variable,
        place: (Option<[Variable; 6]>, Option<Value>),
        sizes: &Sizes,
    ) {
        for (cell, &variable) in (0..).map(CellNumber).zip(cells) {
            let zero = self.s.b.ins().iconst(type_of(self.cells, cell), 0);
            self.s.b.def_var(variable, zero);
        }
        for &register in self.source.specials {
            let Some(cell) = self.cells.find(Name::Special(register)) else { continue };
            let value = self.special(register, number, place, sizes);
            if let Some(&variable) = cells.get(cell.index()) {
                self.s.b.def_var(variable, value);
            }
        }
    }

    /// Returns the value of a special register: a sum over the axes, as in [`crate::halu`].
    fn special(
        &mut self,
        register: SpecialReg,
        number: Variable,
        (place, along): (Option<[Variable; 6]>, Option<Value>),
        sizes: &Sizes,
    ) -> Value {
        let (Some(place), Some([grid, block])) = (place, sizes.groups) else { return self.s.b.use_var(number) };
        let [x, y, z, u, v, w] = place.map(|variable| self.s.b.use_var(variable));
        let (local, group) = ([x, y, z], [u, v, w]);
        // Along x first, then y, then z.
        let all = |s: &mut Scalar<'_, '_, '_>, at: [Value; 3], of: [Value; 3]| {
            let depth = s.b.ins().imul(at[2], of[1]);
            let lines = s.b.ins().iadd(at[1], depth);
            let before = s.b.ins().imul(lines, of[0]);
            s.b.ins().iadd(at[0], before)
        };
        let in_launch = |s: &mut Scalar<'_, '_, '_>, axis: Axis| {
            if let (Axis::X, Some(along)) = (axis, along) {
                return along;
            }
            let before = s.b.ins().imul(axis.of(group), axis.of(block));
            s.b.ins().iadd(before, axis.of(local))
        };
        match (register.of, register.axis) {
            (IndexKind::Thread, Some(axis)) => axis.of(local),
            (IndexKind::Block, Some(axis)) => axis.of(group),
            (IndexKind::Thread, None) => all(&mut self.s, local, block),
            (IndexKind::Block, None) => all(&mut self.s, group, grid),
            (IndexKind::Item, Some(axis)) => in_launch(&mut self.s, axis),
            (IndexKind::Item, None) => {
                let at = Axis::ALL.map(|axis| in_launch(&mut self.s, axis));
                let of = [0, 1, 2].map(|k: usize| {
                    let (a, b) = (grid.get(k).copied(), block.get(k).copied());
                    self.s.b.ins().imul(a.unwrap_or(grid[0]), b.unwrap_or(block[0]))
                });
                all(&mut self.s, at, of)
            }
        }
    }
}

/// Increments a chain of counters: the first counter, and each counter whose predecessor has reached its end.
fn advance(s: &mut Scalar<'_, '_, '_>, counters: [(Variable, Value); 6]) {
    let mut carry = s.word(1);
    let zero = s.word(0);
    for (variable, end) in counters {
        let at = s.b.use_var(variable);
        let next = s.b.ins().iadd(at, carry);
        let is_end = s.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, next, end);
        let value = s.b.ins().select(is_end, zero, next);
        s.b.def_var(variable, value);
        carry = s.b.ins().uextend(I32, is_end);
    }
}

/// Writes a scalar to the words of constant bank 0.
fn put(s: &mut Scalar<'_, '_, '_>, words: &mut [Option<Value>], at: u32, bytes: u32, bits: Value) {
    let parts = match bytes {
        8 => s.split(bits).to_vec(),
        4 => vec![bits],
        _ => {
            let word = s.b.ins().uextend(I32, bits);
            vec![s.b.ins().ishl_imm_s(word, i64::from(8 * (at % 4)))]
        }
    };
    for (place, part) in words.iter_mut().skip(at as usize / 4).zip(parts) {
        *place = Some(place.map_or(part, |before| s.b.ins().bor(before, part)));
    }
}
