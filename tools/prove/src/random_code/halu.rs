//! Random HALU programs.

use halfbyte_abi::{Direction, Param, ParamKind, Type, buffer_base};
use halfbyte_isa::halu;
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isa::object::KernelInfo;
use halfbyte_isa::row::{InstClass, OperandKind, OperandRole, RegFile, RegSlot};
use halfbyte_isa::word::Field;

use super::{Argument, Case, Draws, info, param};

/// Number of general-purpose registers that random instructions write, from R0 on. Higher registers
/// hold values that the prologue computes.
const GPRS: usize = 10;
const ITEM: u64 = 20;
const OFFSET_4: u64 = 21;
const OFFSET_16: u64 = 22;
const GATHER: u64 = 23;
const UNIFORM: u64 = 24;
/// Register of the loop counter.
const COUNTER: u64 = 25;
/// First of the registers that hold the offset of an item's own bytes in a buffer. If each item has
/// 2^`log` bytes, register `ITEM_OFFSETS + log` holds the offset.
const ITEM_OFFSETS: u64 = 26;
/// First of four scratch registers for the computation of addresses.
const SCRATCH: u64 = 36;
/// First register for the results of loads that may overlap a store. The epilogue stores these
/// registers to the result buffer.
const KEPT_LOADS: u64 = 100;
const KEPT_COUNT: u64 = 6;
const RESULT: u64 = 6;
/// Log2 of the number of bytes per item in the result buffer.
const RESULT_LOG: u64 = 5;
/// First of the register pairs that hold 64-bit addresses.
const WIDE: u64 = 40;
/// Number of predicates that random instructions write, from P0 on.
const PREDS: usize = 4;
const LOOPS: u64 = 5;
/// Numbers of the uniform registers that random instructions write.
const URS: std::ops::Range<usize> = 0..6;
/// First of the uniform register pairs that hold the addresses of buffers.
const BASES: u64 = 8;
/// Encoding of `.NE` in the comparison field of `ISETP`.
const NOT_EQUAL: u64 = 5;
const LOCAL_BYTES: u32 = 0x40;
/// Upper bound in bytes of the offsets in the registers `GATHER` and `UNIFORM`. All items may load
/// from a shared buffer at these offsets.
const REACH: usize = 64;

/// The bytes of a buffer that an item may access.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// All items may load any bytes, and no item stores.
    Shared,
    /// Each item accesses only its own 2^n bytes, where n is the given number.
    Own(u32),
    /// The launch has a single item, which may access all bytes.
    Free,
}

/// A buffer that the program accesses.
#[derive(Clone, Copy)]
struct Buffer {
    /// The index of the buffer's parameter.
    param: usize,
    access: Access,
    written: bool,
    bytes: usize,
}

/// A base address for accesses: a pair of uniform registers that holds an address in a buffer.
#[derive(Clone, Copy)]
struct Base {
    ur: u64,
    buffer: Buffer,
    /// The byte offset of the base address from the start of the buffer.
    offset: i64,
    /// The register pair that holds the 64-bit address of the item's own bytes, if any.
    wide: Option<u64>,
}

struct Builder<'d, 'a> {
    draws: &'d mut Draws<'a>,
    code: Vec<Inst>,
    info: KernelInfo,
    buffers: Vec<Buffer>,
    /// A buffer that starts with a table of addresses, and for each entry the index of the
    /// parameter whose address it holds.
    table: Option<(Buffer, Vec<usize>)>,
    bases: Vec<Base>,
}

/// Returns a random program with a launch.
pub(super) fn draw(draws: &mut Draws<'_>) -> Option<Case> {
    let is_free = draws.one_in(4);
    let items = match draws.below(30) {
        _ if is_free => 1,
        // With at least 2500 items, native code uses several threads even for a short program.
        29 => 2500 + draws.below(8000),
        number => [1, 7, 16, 33, 64, 100, 200, 517].get(number % 8).copied().unwrap_or(1),
    };
    let many = items > 1000;
    let (params, mut args, buffers, table) = arguments(items, is_free, draws);
    let info = info(params, LOCAL_BYTES, None)?;
    let mut b = Builder { draws, code: Vec::new(), info, buffers, table, bases: Vec::new() };
    b.begin();
    let mut start = b.code.len();
    // The program starts with straight-line code, because the engine knows most about the registers there.
    for _ in 0..b.draws.below(8) {
        let insts = b.overlap();
        b.code.extend(insts);
    }
    let segments = 1 + b.draws.below(3);
    for _ in 0..segments {
        let count = if many { 2 + b.draws.below(5) } else { 2 + b.draws.below(14) };
        if b.draws.one_in(3) { b.counted_loop(count) } else { b.straight(count) }
    }
    let end = b.code.len();
    b.end();
    let mut words: Vec<u128> = b.code.iter().map(Inst::word).collect();
    // Some instructions are replaced by random words. If there is only one item, they are often
    // replaced by random valid instructions.
    if b.draws.one_in(30) {
        start = if b.draws.one_in(4) { 0 } else { start };
        for _ in 0..1 + b.draws.below(3) {
            let at = start + b.draws.below(end - start);
            let low = b.draws.bits();
            let word = u128::from(b.draws.bits()) << 64 | u128::from(low);
            let word = if is_free && !b.draws.one_in(4) { any(b.draws) } else { word };
            words.iter_mut().skip(at).take(1).for_each(|place| *place = word);
        }
    }
    // A truncated buffer makes some items access memory out of bounds.
    if b.draws.one_in(10) {
        let number = b.draws.below(args.len());
        if let Some(Argument::Buffer(bytes)) = args.get_mut(number) {
            let words = bytes.len() / 4;
            bytes.truncate(4 * b.draws.below(words + 1));
        }
    }
    let budget = if b.draws.one_in(3) { b.draws.below(30) } else { 200 } as u64;
    let Builder { info, .. } = b;
    Some(Case { words: halu::HaluCode(words).into(), info, items: items as u32, args, budget })
}

/// Returns the instruction word of a random opcode with random operands.
fn any(draws: &mut Draws<'_>) -> u128 {
    let opcode = Opcode::ALL.get(draws.below(Opcode::ALL.len())).copied().unwrap_or(Opcode::NOP);
    Inst::random(opcode, &mut || draws.bits()).word()
}

/// Returns the parameters of a program, their arguments, the buffers that the program accesses, and
/// the table of addresses in one of the buffers.
#[expect(clippy::type_complexity, reason = "it is taken apart at once")]
fn arguments(
    items: usize,
    is_free: bool,
    draws: &mut Draws<'_>,
) -> (Vec<Param>, Vec<Argument>, Vec<Buffer>, Option<(Buffer, Vec<usize>)>) {
    // The addresses of two of the first 128 buffer parameters have equal bits 32 to 47 if the
    // parameters' indices differ by a multiple of 16.
    let count = if draws.one_in(2) { 258 + draws.below(48) } else { 4 + draws.below(5) };
    let first = draws.below(if count > 257 { count - 257 } else { count - 3 });
    let beyond = 64 + first;
    let mut used = vec![first, first + 1];
    used.extend([first + 2, beyond, beyond + 1].into_iter().filter(|&number| number + 1 < count));
    let (mut params, mut args, mut buffers) = (Vec::new(), Vec::new(), Vec::new());
    let mut table = None;
    for number in 0..count {
        let elem = Type::I32;
        let name = format!("p{number}");
        let place = used.iter().position(|&used| used == number);
        if number + 1 == count {
            params.push(param(name, ParamKind::Buffer { direction: Direction::Out, elem, align: 4, may_alias: false }));
            args.push(Argument::Buffer(vec![0; items << RESULT_LOG]));
            continue;
        }
        if place.is_none() && (count < 20 || draws.one_in(40)) {
            let ty = draws.pick([Type::I32, Type::I64, Type::F16X2, Type::I8, Type::I8X16]);
            let bits = u128::from(draws.bits()) << 64 | u128::from(draws.bits());
            let bits = if ty.bits() < 128 { bits & ((1 << ty.bits()) - 1) } else { bits };
            params.push(param(name, ParamKind::Scalar(ty)));
            args.push(Argument::Scalar(bits));
            continue;
        }
        let access = match place {
            None => Access::Shared,
            Some(_) if is_free => Access::Free,
            // The program has at least one buffer to which it stores (index 0) and one from which
            // all items load (index 1).
            Some(0) => Access::Own(2),
            Some(1) => Access::Shared,
            Some(_) if draws.one_in(3) => Access::Shared,
            Some(_) => Access::Own(draws.pick([2, 2, 2, 3, 4, 5])),
        };
        let written = access != Access::Shared;
        let direction = match (written, draws.below(4)) {
            (true, 0) => Direction::Out,
            (true, _) => Direction::InOut,
            (false, 0) => Direction::InOut,
            (false, _) => Direction::In,
        };
        let bytes = match (place, access) {
            (None, _) => 8,
            (_, Access::Shared) => 16 * items + REACH + 16,
            (_, Access::Own(log)) => items << log,
            (_, Access::Free) => 256,
        };
        params.push(param(name, ParamKind::Buffer { direction, elem, align: 4, may_alias: false }));
        let mut contents = draws.bytes(bytes);
        if place.is_some() {
            let buffer = Buffer { param: number, access, written, bytes };
            buffers.push(buffer);
            if table.is_none() && matches!(access, Access::Shared | Access::Free) && direction != Direction::Out {
                let entries: Vec<usize> =
                    (0..3).map(|_| used.get(draws.below(used.len())).copied().unwrap_or(first)).collect();
                let addresses = entries.iter().flat_map(|&number| buffer_base(number).to_le_bytes());
                contents.iter_mut().zip(addresses).for_each(|(place, byte)| *place = byte);
                table = Some((buffer, entries));
            }
        }
        args.push(Argument::Buffer(contents));
    }
    (params, args, buffers, table)
}

/// Returns the opcode of a load or store of `size` bytes. If `wide` is set, the address is a
/// register pair; otherwise it is a base address plus an offset.
fn opcode(store: bool, wide: bool, size: usize, signed: bool) -> Opcode {
    use Opcode::*;
    match (store, wide, size) {
        (false, false, 1) => [LDG_U_U8, LDG_U_S8][usize::from(signed)],
        (false, false, 2) => [LDG_U_U16, LDG_U_S16][usize::from(signed)],
        (false, false, 4) => LDG_U_32,
        (false, false, 8) => LDG_U_64,
        (false, false, _) => LDG_U_128,
        (false, true, 1) => [LDG_W_U8, LDG_W_S8][usize::from(signed)],
        (false, true, 2) => [LDG_W_U16, LDG_W_S16][usize::from(signed)],
        (false, true, 4) => LDG_W_32,
        (false, true, 8) => LDG_W_64,
        (false, true, _) => LDG_W_128,
        (true, false, 1) => STG_U_8,
        (true, false, 2) => STG_U_16,
        (true, false, 4) => STG_U_32,
        (true, false, 8) => STG_U_64,
        (true, false, _) => STG_U_128,
        (true, true, 1) => STG_W_8,
        (true, true, 2) => STG_W_16,
        (true, true, 4) => STG_W_32,
        (true, true, 8) => STG_W_64,
        (true, true, _) => STG_W_128,
    }
}

fn mov(to: u64, value: u32) -> Inst {
    Inst::new(Opcode::MOV_I).with(RD, to).with(IMM32, value.into())
}

fn add(to: u64, from: u64, value: u32) -> Inst {
    Inst::new(Opcode::IADD3_RIR).with(RD, to).with(RA, from).with(IMM32, value.into()).with(R64, RZ.into())
}

fn shift_left(to: u64, from: u64, by: u64) -> Inst {
    Inst::new(Opcode::LEA).with(RD, to).with(RA, from).with(R32, RZ.into()).with(SHIFT, by)
}

/// Returns an instruction that adds a register and a uniform register.
fn add_uniform(to: u64, from: u64, ur: u64) -> Inst {
    Inst::new(Opcode::IADD3_RUR).with(RD, to).with(RA, from).with(UR32, ur).with(R64, RZ.into())
}

fn to_uniform(ur: u64, from: u64) -> Inst {
    Inst::new(Opcode::R2UR).with(URD, ur).with(R32, from)
}

fn constant(opcode: Opcode, to: u64, offset: u64) -> Inst {
    Inst::new(opcode).with(RA, RZ.into()).with(CMEM_OFFSET, offset).with(RD, to)
}

fn uniform_constant(opcode: Opcode, to: u64, offset: u64) -> Inst {
    Inst::new(opcode).with(URD, to).with(CMEM_OFFSET, offset)
}

impl Builder<'_, '_> {
    fn pick<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        all.get(self.draws.below(all.len())).copied()
    }

    fn offset(&self, param: usize) -> u64 {
        self.info.signature.offsets().get(param).copied().unwrap_or(0).into()
    }

    /// Emits the prologue, which initialises the registers that random instructions use.
    fn begin(&mut self) {
        let gather_in = self.buffers.iter().copied().find(|buffer| buffer.access == Access::Shared);
        self.code.extend([
            Inst::new(Opcode::S2R).with(RD, ITEM),
            shift_left(OFFSET_4, ITEM, 2),
            shift_left(OFFSET_16, ITEM, 4),
        ]);
        let uniform = 4 * self.draws.below(8) as u32;
        self.code.push(mov(UNIFORM, uniform));
        for log in 2..6 {
            self.code.push(shift_left(ITEM_OFFSETS + log, ITEM, log));
        }
        for k in 0..self.buffers.len() {
            let Some(buffer) = self.buffers.get(k).copied() else { continue };
            for _ in 0..2 + self.draws.below(3) {
                self.base(buffer);
            }
        }
        let gather =
            gather_in.and_then(|buffer| self.bases.iter().find(|base| base.buffer.param == buffer.param).copied());
        match gather {
            Some(base) => {
                let at = Inst::new(Opcode::LDG_U_32).with(RA, OFFSET_4).with(UR32, base.ur).with(RD, GATHER);
                self.code.push(at.with(IMM24, base.offset.wrapping_neg() as u64 & 0xff_ffff));
            }
            None => self.code.push(mov(GATHER, 0x1234_5678)),
        }
        let masked = Inst::new(Opcode::LOP3_RIR).with(RD, GATHER).with(RA, GATHER).with(IMM32, 0x3c);
        self.code.push(masked.with(R64, RZ.into()).with(LUT, 0xc0));
        for k in 0..GPRS as u64 {
            let first = match self.draws.below(6) {
                0 => mov(k, self.draws.word()),
                1 => shift_left(k, ITEM, self.draws.below(8) as u64),
                _ => match self.access(false, 4) {
                    Some(load) => load.with(RD, k),
                    None => mov(k, self.draws.word()),
                },
            };
            self.code.push(first);
        }
    }

    /// Adds a base address for a buffer, and emits instructions that compute the address. The
    /// instructions are one of many random sequences that compute the same address.
    fn base(&mut self, buffer: Buffer) {
        let (ur, [low, high, other, more]) = (BASES + 2 * self.bases.len() as u64, [0, 1, 2, 3].map(|k| SCRATCH + k));
        if ur >= u64::from(URZ) - 1 {
            return;
        }
        let (param, at) = (buffer.param, self.offset(buffer.param));
        let words = |param: usize| [buffer_base(param) as u32, (buffer_base(param) >> 32) as u32];
        let [own_low, own_high] = words(param);
        // Buffer parameters whose addresses have the same bits 32 to 47 as this buffer's address.
        let alike: Vec<usize> = (self.info.signature.params().iter().enumerate())
            .filter(|(other, param)| {
                matches!(param.kind, ParamKind::Buffer { .. }) && words(*other)[1] as u16 == own_high as u16
            })
            .map(|(other, _)| other)
            .collect();
        let another = self.buffers.get(self.draws.below(self.buffers.len())).copied().unwrap_or(buffer);
        // The first base address of a buffer is mostly loaded as a whole. Further base addresses
        // are mostly derived from parts of other parameters' addresses.
        let first = self.bases.iter().all(|base| base.buffer.param != param);
        let way = match first {
            true if !self.draws.one_in(8) => self.draws.below(7),
            false if alike.len() > 1 && !self.draws.one_in(4) => self.draws.pick([7, 7, 8, 8, 9]),
            _ => self.draws.below(16),
        };
        let others: Vec<usize> = alike.iter().copied().filter(|&other| other != param).collect();
        let narrow = if self.draws.one_in(4) { self.pick(&alike) } else { self.pick(&others).or(self.pick(&alike)) };
        // Both halves of the address are mostly derived from the same other parameter.
        let low_of = narrow.filter(|_| !self.draws.one_in(8)).unwrap_or(another.param);
        let low_from = self.offset(low_of);
        let in_table = self.table.as_ref().and_then(|(table, entries)| {
            let entry = entries.iter().position(|&entry| entry == param)?;
            let base = self.bases.iter().find(|base| base.buffer.param == table.param)?;
            Some((*base, entry as i64))
        });
        let narrow = narrow.map(|other| self.offset(other));
        let lows = [constant(Opcode::LDC_32, low, low_from), add(low, low, own_low.wrapping_sub(words(low_of)[0]))];
        let upper = add(high, high, own_high & 0xffff_0000);
        let from_pair = |b: &mut Self| b.code.extend([to_uniform(ur, low), to_uniform(ur + 1, high)]);
        match (way, narrow, in_table) {
            (0..=3, ..) => self.code.push(uniform_constant(Opcode::ULDC_64, ur, at)),
            (4, ..) => {
                let halves = [(ur, at), (ur + 1, at + 4)];
                self.code.extend(halves.map(|(to, at)| uniform_constant(Opcode::ULDC_32, to, at)));
            }
            (5, ..) => {
                self.code.extend([constant(Opcode::LDC_32, low, at), constant(Opcode::LDC_32, high, at + 4)]);
                from_pair(self);
            }
            (6, ..) => {
                self.code.push(constant(Opcode::LDC_64, low, at));
                from_pair(self);
            }
            // The high half of the address is derived from a 16-bit load of another parameter.
            (7 | 8, Some(from), _) => {
                let is_positive = own_high & 0x8000 == 0;
                let opcode = if is_positive && way == 8 { Opcode::LDC_S16 } else { Opcode::LDC_U16 };
                self.code.extend(lows);
                self.code.extend([constant(opcode, high, from + 4), upper]);
                from_pair(self);
            }
            (9, Some(from), _) => {
                let is_positive = own_high & 0x8000 == 0;
                let opcode = if is_positive && self.draws.one_in(2) { Opcode::LDC_S8 } else { Opcode::LDC_U8 };
                let rest = add(high, high, own_high & 0xffff_00ff);
                self.code.extend(lows);
                self.code.extend([constant(opcode, other, from + 5), shift_left(high, other, 8), rest]);
                from_pair(self);
            }
            // The address is loaded from the table of addresses in a buffer.
            (10 | 11, _, Some((base, entry))) => {
                let imm = (8 * entry - base.offset) as u64 & 0xff_ffff;
                let load = Inst::new(Opcode::LDG_U_64).with(RA, RZ.into()).with(UR32, base.ur).with(IMM24, imm);
                self.code.push(load.with(RD, low));
                from_pair(self);
            }
            // Each 32-bit half of the address is computed from the same half of another parameter's address.
            (12 | 13, ..) => {
                let [from_low, from_high] = words(another.param);
                let apart = [own_low.wrapping_sub(from_low), own_high.wrapping_sub(from_high)];
                let from = self.offset(another.param);
                self.code.push(constant(Opcode::LDC_64, other, from));
                self.code.extend([add(low, other, apart[0]), add(high, more, apart[1])]);
                from_pair(self);
            }
            // The low half of the address is computed from another parameter, and the high half is loaded.
            (14, ..) => {
                let from = self.offset(another.param);
                let apart = own_low.wrapping_sub(words(another.param)[0]);
                self.code.extend([constant(Opcode::LDC_32, low, from), add(low, low, apart)]);
                self.code.extend([to_uniform(ur, low), uniform_constant(Opcode::ULDC_32, ur + 1, at + 4)]);
            }
            // The address is a constant in the program text.
            _ => {
                self.code.extend([mov(low, own_low), mov(high, own_high)]);
                from_pair(self);
            }
        }
        let ahead = if self.draws.one_in(8) { 4 * self.draws.below(64) as i64 } else { 0 };
        if ahead != 0 {
            self.code.extend([add_uniform(low, RZ.into(), ur), add(low, low, ahead as u32), to_uniform(ur, low)]);
        }
        let wide = WIDE + 2 * self.bases.len() as u64;
        let wide = if self.draws.one_in(2) {
            let own = if let Access::Own(log) = buffer.access { ITEM_OFFSETS + u64::from(log) } else { RZ.into() };
            self.code.extend([add_uniform(wide, own, ur), add_uniform(wide + 1, RZ.into(), ur + 1)]);
            Some(wide)
        } else {
            None
        };
        self.bases.push(Base { ur, buffer, offset: ahead, wide });
    }

    /// Returns a random register for an operand of a random instruction.
    fn register(&mut self, slot: &RegSlot) -> u64 {
        let aligned = |n: usize| (n / usize::from(slot.span) * usize::from(slot.span)) as u64;
        match (slot.file, slot.role) {
            (RegFile::Gpr, OperandRole::Use) if self.draws.one_in(8) => RZ.into(),
            (RegFile::Gpr, OperandRole::Use) if slot.span == 1 && self.draws.one_in(8) => {
                self.draws.pick([ITEM, OFFSET_4, UNIFORM, GATHER])
            }
            (RegFile::Gpr, _) => aligned(self.draws.below(GPRS - usize::from(slot.span) + 1)),
            (RegFile::Ur, OperandRole::Use) if self.draws.one_in(8) => URZ.into(),
            (RegFile::Ur, _) => aligned(URS.start + self.draws.below(URS.len())),
            (RegFile::Pred, _) if self.draws.one_in(3) => PT.into(),
            (RegFile::Pred, _) => self.draws.below(PREDS) as u64,
            _ => 0,
        }
    }

    /// Returns a random instruction that does not access memory.
    fn compute(&mut self) -> Inst {
        /// Maximum number of attempts to draw an instruction. An attempt fails if the opcode
        /// accesses memory or branches, or if the instruction is invalid.
        const TRIES: usize = 40;
        for _ in 0..TRIES {
            let opcode = Opcode::ALL.get(self.draws.below(Opcode::ALL.len())).copied().unwrap_or(Opcode::NOP);
            // `R2P` writes predicates that are not among its operands, such as the predicate of a
            // loop. Therefore it is drawn less often.
            let other = opcode == Opcode::R2P && !self.draws.one_in(4);
            if other || !matches!(opcode.row().class, InstClass::Compute | InstClass::Move | InstClass::Address) {
                continue;
            }
            let mut inst = Inst::random(opcode, &mut || self.draws.bits());
            for slot in opcode.registers().iter().skip(1) {
                let number = self.register(slot);
                inst.set(slot.field, number);
            }
            for operand in opcode.row().operands {
                if let OperandKind::Const { bank, offset, .. } = operand.kind {
                    let wrong = self.draws.one_in(300);
                    inst.set(bank, if wrong { self.draws.below(4) as u64 } else { 0 });
                    let params = usize::from(self.info.signature.constant_bytes()).saturating_sub(0x160).max(8);
                    inst.set(
                        offset,
                        if wrong { 8 * self.draws.below(100) } else { 0x160 + self.draws.below(params) / 8 * 8 } as u64,
                    );
                }
            }
            if inst.is_valid() {
                return inst;
            }
        }
        Inst::new(Opcode::NOP)
    }

    /// Returns an access of at most `most` bytes relative to a base address. The caller sets the data register.
    fn access(&mut self, store: bool, most: usize) -> Option<Inst> {
        let bases: Vec<Base> = self.bases.iter().copied().filter(|base| base.buffer.written || !store).collect();
        let base = self.pick(&bases)?;
        let Base { ur, buffer, offset: ahead, wide } = base;
        let size = self.draws.pick([1, 2, 4, 4, 4, 8, 16]);
        let signed = self.draws.one_in(2);
        let (size, offset, span, wide) = match buffer.access {
            Access::Own(log) => (size.min(1 << log).min(most), ITEM_OFFSETS + u64::from(log), 1 << log, wide),
            Access::Free => (size.min(most), RZ.into(), buffer.bytes, wide),
            Access::Shared => {
                let size = size.min(most);
                let offset = match size {
                    1 => self.draws.pick([ITEM, OFFSET_4, OFFSET_16, GATHER, UNIFORM]),
                    2 | 4 => self.draws.pick([OFFSET_4, OFFSET_4, OFFSET_16, GATHER, UNIFORM]),
                    _ => self.draws.pick([OFFSET_16, u64::from(RZ)]),
                };
                (size, offset, 16, wide)
            }
        };
        let wide = wide.filter(|_| self.draws.one_in(2));
        // Offset 0 is frequent, so that accesses of different sizes often overlap.
        let place = if self.draws.one_in(2) { 0 } else { self.draws.below(span / size) * size };
        let wrong = self.draws.below(400);
        let place = match wrong {
            // One access in 200 is out of bounds or misaligned.
            398 => place as i64 + buffer.bytes as i64,
            399 => place as i64 + 1,
            _ => place as i64,
        };
        let imm = (place - ahead) as u64 & 0xff_ffff;
        let opcode = opcode(store, wide.is_some(), size, signed);
        Some(match wide {
            Some(pair) => Inst::new(opcode).with(RA, pair).with(IMM24, imm),
            None => Inst::new(opcode).with(RA, offset).with(UR32, ur).with(IMM24, imm),
        })
    }

    /// Returns a random register for the data of a load or store, aligned to the number of
    /// registers that the instruction accesses.
    fn data(&mut self, inst: &Inst, field: Field) -> u64 {
        let span = inst.registers().iter().find(|slot| slot.field == field).map_or(1, |slot| slot.span);
        let span = usize::from(span);
        (self.draws.below(GPRS - span + 1) / span * span) as u64
    }

    fn memory(&mut self) -> Inst {
        match self.draws.below(10) {
            0..=3 => match self.access(false, 16) {
                Some(load) => {
                    let to = self.data(&load, RD);
                    load.with(RD, to)
                }
                None => self.compute(),
            },
            4..=7 => match self.access(true, 16) {
                Some(store) => {
                    let from = self.data(&store, R64);
                    store.with(R64, from)
                }
                None => self.compute(),
            },
            8 => {
                let (load, store, size) = self.draws.pick([
                    (Opcode::LDL_32, Opcode::STL_32, 4),
                    (Opcode::LDL_64, Opcode::STL_64, 8),
                    (Opcode::LDL_128, Opcode::STL_128, 16),
                ]);
                let imm = if self.draws.one_in(100) {
                    self.draws.below(0x80)
                } else {
                    self.draws.below(LOCAL_BYTES as usize / size) * size
                };
                let (opcode, field) = if self.draws.one_in(2) { (load, RD) } else { (store, R64) };
                let inst = Inst::new(opcode).with(IMM24, imm as u64);
                let register = self.data(&inst, field);
                inst.with(field, register)
            }
            _ => {
                use Opcode::*;
                let (opcode, size) =
                    self.draws.pick([(LDC_U8, 1), (LDC_S8, 1), (LDC_U16, 2), (LDC_S16, 2), (LDC_32, 4), (LDC_64, 8)]);
                let index = if self.draws.one_in(4) {
                    self.draws.pick([GATHER, OFFSET_4])
                } else {
                    self.draws.pick([RZ.into(), UNIFORM])
                };
                let index = if size > 4 { RZ.into() } else { index };
                let params = usize::from(self.info.signature.constant_bytes()).saturating_sub(0x160).max(8);
                let offset = (0x160 + self.draws.below(params)) / size * size;
                let inst = Inst::new(opcode).with(CMEM_BANK, u64::from(self.draws.one_in(100)));
                let inst = inst.with(RA, index).with(CMEM_OFFSET, offset as u64);
                let to = self.data(&inst, RD);
                inst.with(RD, to)
            }
        }
    }

    fn guarded(&mut self, inst: Inst) -> Inst {
        if inst.is_unconditional() && self.draws.one_in(5) {
            inst.guarded(self.draws.below(PREDS) as u8, self.draws.one_in(2))
        } else {
            inst
        }
    }

    /// Returns a load and a store of the same bytes, through two different base addresses of a buffer.
    fn overlap(&mut self) -> Vec<Inst> {
        let place = |base: Base, store: bool, register: u64| {
            let Access::Own(log) = base.buffer.access else { return None };
            let inst =
                Inst::new(opcode(store, false, 4, false)).with(RA, ITEM_OFFSETS + u64::from(log)).with(UR32, base.ur);
            let inst = inst.with(IMM24, base.offset.wrapping_neg() as u64 & 0xff_ffff);
            Some(inst.with(if store { R64 } else { RD }, register))
        };
        let own: Vec<Base> =
            self.bases.iter().copied().filter(|base| matches!(base.buffer.access, Access::Own(_))).collect();
        let has_another =
            |base: &&Base| own.iter().any(|other| other.buffer.param == base.buffer.param && other.ur != base.ur);
        let doubled: Vec<Base> = own.iter().filter(has_another).copied().collect();
        let Some(first) = self.pick(&doubled) else { return Vec::new() };
        let is_other = |base: &&Base| base.buffer.param == first.buffer.param && base.ur != first.ur;
        let others: Vec<Base> = own.iter().filter(is_other).copied().collect();
        let second = self.pick(&others).unwrap_or(first);
        let a = self.draws.below(GPRS) as u64;
        let kept = KEPT_LOADS + self.draws.below(KEPT_COUNT as usize) as u64;
        // In one case of three, the load precedes the store.
        let insts = match self.draws.below(3) {
            0 => [place(first, false, kept), place(second, true, a)],
            _ => [place(first, true, a), place(second, false, kept)],
        };
        insts.into_iter().flatten().collect()
    }

    /// Emits `count` random instructions, including branches within them.
    fn straight(&mut self, count: usize) {
        let start = self.code.len();
        let branches = self.draws.below(4);
        let mut next: Vec<Inst> = Vec::new();
        for k in 0..count {
            if next.is_empty() && self.draws.one_in(6) {
                next = self.overlap();
                next.reverse();
            }
            if let Some(inst) = next.pop() {
                self.code.push(inst);
                continue;
            }
            let inst = match self.draws.below(12) {
                0..=4 => self.compute(),
                5..=9 => self.memory(),
                10 if self.draws.below(4) < branches => {
                    let to = match self.draws.below(60) {
                        59 => count + 100,
                        0..=9 => self.draws.below(count),
                        _ => k + 1 + self.draws.below(count - k),
                    };
                    let bra = Inst::new(Opcode::BRA).with(IMM32, (to as i64 - k as i64) as u32 as u64);
                    bra.guarded(self.draws.below(PREDS + 1) as u8, self.draws.one_in(2))
                }
                11 if self.draws.one_in(6) => {
                    Inst::new(Opcode::EXIT).guarded(self.draws.below(PREDS) as u8, self.draws.one_in(2))
                }
                _ => self.compute(),
            };
            let inst = self.guarded(inst);
            self.code.push(inst);
        }
        debug_assert_eq!(self.code.len(), start + count);
    }

    /// Emits a loop whose trip count is uniform or depends on the item.
    fn counted_loop(&mut self, count: usize) {
        let rounds = 1 + self.draws.below(6) as u32;
        self.code.push(mov(COUNTER, rounds));
        if self.draws.one_in(3) {
            let own = Inst::new(Opcode::LOP3_RIR).with(RD, COUNTER).with(RA, ITEM).with(IMM32, 3);
            self.code.extend([own.with(R64, RZ.into()).with(LUT, 0xc0), add(COUNTER, COUNTER, 1)]);
        }
        let start = self.code.len();
        self.straight(count);
        self.code.push(add(COUNTER, COUNTER, u32::MAX));
        let test = Inst::new(Opcode::ISETP_RI).with(RA, COUNTER).with(IMM32, 0).with(PU, LOOPS);
        self.code.push(test.with(ICMP, NOT_EQUAL));
        let back = start as i64 - self.code.len() as i64;
        self.code.push(Inst::new(Opcode::BRA).with(IMM32, back as u32 as u64).guarded(LOOPS as u8, false));
    }

    /// Emits the epilogue: stores of some registers, and the exit.
    fn end(&mut self) {
        for _ in 0..2 + self.draws.below(6) {
            if let Some(store) = self.access(true, 16) {
                let from = self.data(&store, R64);
                self.code.push(store.with(R64, from));
            }
        }
        let result = self.info.signature.params().len().saturating_sub(1);
        let result = self.offset(result);
        self.code.push(uniform_constant(Opcode::ULDC_64, RESULT, result));
        let first_gprs = (1 << RESULT_LOG) / 4 - KEPT_COUNT;
        for (k, from) in (KEPT_LOADS..KEPT_LOADS + KEPT_COUNT).chain(0..first_gprs).enumerate() {
            let store = Inst::new(Opcode::STG_U_32).with(RA, ITEM_OFFSETS + RESULT_LOG).with(UR32, RESULT);
            self.code.push(store.with(IMM24, 4 * k as u64).with(R64, from));
        }
        self.code.push(Inst::new(Opcode::EXIT));
    }
}
