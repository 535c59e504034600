//! Selection of PTX instructions for addresses, loads, stores and kernel parameters.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use arrayvec::ArrayVec;
use cranelift_entity::SecondaryMap;
use halfbyte_ir::{Direction, Inst, Kernel, MemAttr, Op, ParamKind, Type, Value, ValueDef};
use halfbyte_isa::ptx::types::Space;
use halfbyte_isa::ptx::types::{Token, Type as RegType};
use halfbyte_isa::ptx::{self, Address, Base, FrameVar, Opcode, Operand, Var};

use super::super::operands::{Index, Reg, Src};
use super::Lowering;

const U64: Token = Token::Type(RegType::U64);
const U32: Token = Token::Type(RegType::U32);
const B32: Token = Token::Type(RegType::B32);
const B64: Token = Token::Type(RegType::B64);

/// Number of items that every launch may have. If an address could wrap in a launch of fewer items,
/// the address is computed modulo 2^32.
const MIN_LAUNCH_ITEMS: u64 = 1 << 20;

/// Addresses that the selector computes, and the launch size up to which they are right.
pub(in crate::ptx) struct Addresses {
    /// Maximum number of items of a launch. In a larger launch, an address that is computed in 64
    /// bits could differ from the address modulo 2^32 that the IR defines.
    pub max_items: u64,
    /// Registers of buffer addresses, by the number of the buffer's parameter.
    bases: BTreeMap<u32, ptx::Reg>,
    /// Requested addresses of elements, by index value. Each address is computed once, where the index is defined.
    known: SecondaryMap<Value, Vec<(Key, ptx::Reg)>>,
    /// `true` if arrays are accessed only directly, so that no other address points into an array.
    named: OnceCell<bool>,
}

/// Address `buffer + (index * step + plus)` of an element, without the index.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    buffer: u32,
    step: u32,
    /// Constant that is added to the product of index and step.
    plus: u32,
    /// `true` if the byte offset is computed modulo 2^32.
    wraps: bool,
}

impl Default for Addresses {
    fn default() -> Addresses {
        Addresses { max_items: 1 << 32, bases: BTreeMap::new(), known: SecondaryMap::new(), named: OnceCell::new() }
    }
}

impl Lowering<'_> {
    /// If a value is the address of a buffer or an array, returns its number and direction. Arrays
    /// are numbered after the parameters.
    fn buffer(&self, base: Value) -> Option<(u32, Direction)> {
        let number = match self.kernel.values[base].def {
            ValueDef::Param(number) => number,
            ValueDef::Array(number) => return Some((self.kernel.params.len() as u32 + number, Direction::InOut)),
            _ => return None,
        };
        match self.kernel.params.get(number as usize)?.kind {
            ParamKind::Buffer { direction, .. } => Some((number, direction)),
            ParamKind::Scalar(_) => None,
        }
    }

    /// Returns the register of a buffer's address. The entry block loads the address.
    fn base(&mut self, number: u32) -> ptx::Reg {
        if let Some(&reg) = self.addresses.bases.get(&number) {
            return reg;
        }
        let reg = self.out.reg(RegType::B64);
        self.addresses.bases.insert(number, reg);
        reg
    }

    /// Loads the addresses of the buffers into their registers.
    pub(crate) fn bases(&mut self) {
        for (number, wanted) in std::mem::take(&mut self.addresses.bases) {
            let reg = self.read_address(number);
            self.define(wanted, reg);
        }
    }

    /// Returns the state space of an access through a base address. The generic space is used if
    /// the base is computed and may point into an array.
    pub(crate) fn space(&self, base: Value) -> &'static [Token] {
        match self.kernel.values[base].def {
            ValueDef::Array(_) => match self.kernel.array(base).map(|array| array.space) {
                Some(halfbyte_ir::Space::Scratch) => &[Token::Local],
                _ => &[Token::Shared],
            },
            ValueDef::Param(_) => &[Token::Global],
            _ if *self.addresses.named.get_or_init(|| are_named(self.kernel)) => &[Token::Global],
            _ => &[],
        }
    }

    /// Returns the generic address of an array as a register pair.
    pub(crate) fn generic(&mut self, number: usize) -> Reg {
        let kernel = self.kernel;
        let space = match kernel.arrays.get(number).map(|array| array.space) {
            Some(halfbyte_ir::Space::Scratch) => Token::Local,
            _ => Token::Shared,
        };
        let address = self.read_address((kernel.params.len() + number) as u32);
        let generic = self.out.define(RegType::B64, Opcode::CVTA, &[space, U64], &[Operand::Register(address)]);
        Reg::of_words(&self.out.unpack(RegType::B64, [true; 2], generic))
    }

    /// Returns the register with the address of an array in its state space.
    fn array_address(&mut self, number: usize) -> ptx::Reg {
        let kernel = self.kernel;
        let before = kernel.arrays.get(..number).unwrap_or_default();
        let of = kernel.arrays.get(number).map(|array| array.space);
        let in_space = before.iter().filter(|array| Some(array.space) == of).count() as u32;
        let array = match of {
            Some(halfbyte_ir::Space::Scratch) => {
                Operand::Frame { var: FrameVar { number: in_space, space: Space::Local }, offset: 0 }
            }
            _ => {
                let contents = (kernel.params.len() - kernel.given_params().len()) as u32;
                Operand::Variable { var: Var { number: contents + in_space, space: Space::Shared }, offset: 0 }
            }
        };
        self.out.define(RegType::B64, Opcode::MOV_ADDRESS, &[U64], &[array])
    }

    fn read_address(&mut self, number: u32) -> ptx::Reg {
        if let Some(array) = (number as usize).checked_sub(self.kernel.params.len()) {
            return self.array_address(array);
        }
        if let Some(number) = number.checked_sub(self.kernel.given_params().len() as u32) {
            let variable = Operand::Variable { var: Var { number, space: Space::Global }, offset: 0 };
            return self.out.define(RegType::B64, Opcode::MOV_ADDRESS, &[U64], &[variable]);
        }
        let param = Operand::Memory(Address { base: Base::Parameter(number), offset: 0 });
        // Buffer parameters are declared as addresses in global memory.
        self.out.define(RegType::B64, Opcode::LD_PARAM, &[Token::Param, U64], &[param])
    }

    /// Loads a kernel parameter into 32-bit registers.
    pub(crate) fn parameter(&mut self, number: u32, ty: Type) -> Result<Reg, &'static str> {
        let mut load = |width: RegType, offset: i32| {
            let param = Operand::Memory(Address { base: Base::Parameter(number), offset });
            self.out.word(Opcode::LD_PARAM, &[Token::Param, Token::Type(width)], &[param])
        };
        let reg = match (ty, ty.bits()) {
            (Type::I1, _) => {
                let byte = load(RegType::U8, 0);
                let bit = self.out.word(Opcode::AND, &[B32], &[Operand::Register(byte), Operand::Number(1)]);
                let truth = [Operand::Register(bit), Operand::Number(0)];
                return Ok(Reg::new(self.out.define(RegType::Pred, Opcode::SETP_BITS, &[Token::Ne, B32], &truth)));
            }
            (Type::PTR, _) => {
                let address = self.read_address(number);
                return Ok(Reg::of_words(&self.out.unpack(RegType::B64, [true; 2], address)));
            }
            _ if ty.is_mask() => return Err("a mask cannot be a parameter"),
            (_, 8) => Reg::new(load(RegType::U8, 0)),
            (_, 16) => Reg::new(load(RegType::U16, 0)),
            (_, 32) => Reg::new(load(RegType::B32, 0)),
            (_, 64) => Reg::of_words(&[0, 4].map(|offset| load(RegType::B32, offset))),
            (_, 128) => Reg::of_words(&[0, 4, 8, 12].map(|offset| load(RegType::B32, offset))),
            _ => return Err("no register can hold its type"),
        };
        Ok(reg)
    }

    /// Packs a pair of 32-bit registers into one 64-bit register.
    pub(crate) fn whole(&mut self, pair: Reg) -> ptx::Reg {
        self.out.pair(pair.word(0), pair.word(1))
    }

    /// Returns `true` if the value is an item index and `value * step + plus` stays below 2^32 in
    /// every launch of up to `max_items` items. Lowers `max_items` if necessary, but not below
    /// [`MIN_LAUNCH_ITEMS`].
    fn stays_below(&mut self, value: Value, step: u32, plus: u32) -> bool {
        let is_item = self.kernel.def_inst(value).is_some_and(|inst| self.kernel.insts[inst].op == Op::ItemId);
        if !is_item || step == 0 {
            return false;
        }
        let items = u64::from(u32::MAX - plus) / u64::from(step) + 1;
        if items < MIN_LAUNCH_ITEMS {
            return false;
        }
        self.addresses.max_items = self.addresses.max_items.min(items);
        true
    }

    /// Returns `true` if the index of an access is an item index times a constant, and the product does not wrap. Then
    /// the address is the same if the constant becomes a part of the step, in 64 bits.
    pub(crate) fn folds_wide_index(&mut self, mem: MemAttr, index: Value) -> bool {
        let kernel = self.kernel;
        let Some(product) = kernel.def_inst(index) else { return false };
        let &[item, factor] = kernel.args(product) else { return false };
        let Some([factor, ..]) = kernel.def_inst(factor).and_then(|inst| kernel.const_bits(inst)) else { return false };
        let factor = match kernel.insts[product].op {
            Op::Mul => factor as u32,
            Op::Shl => 1u32.checked_shl(factor as u32).unwrap_or(0),
            _ => return false,
        };
        factor.checked_mul(mem.scale).is_some() && self.stays_below(item, factor, 0)
    }

    /// Returns the address of a load or store: a register and a byte displacement.
    pub(crate) fn address(&mut self, mem: MemAttr, base: Value, index: Option<Index>) -> (ptx::Reg, i64) {
        let displacement = i64::from(mem.offset);
        let buffer = self.buffer(base);
        let Some(Index { value, factor, plus }) = index else {
            let base = match buffer {
                Some((number, _)) => self.base(number),
                None => {
                    let pair = self.value_reg(base);
                    self.whole(pair)
                }
            };
            return (base, displacement);
        };
        let (step, plus) = (factor.wrapping_mul(mem.scale), plus.wrapping_mul(mem.scale));
        let wraps = !mem.wide && !self.stays_below(value, step, plus);
        let (plus, displacement) = if wraps { (plus, displacement) } else { (0, displacement + i64::from(plus)) };
        let Some((buffer, _)) = buffer else {
            let pair = self.value_reg(base);
            let base = self.whole(pair);
            let index = self.value_reg(value).word(0);
            return (self.sum(base, index, Key { buffer: 0, step, plus, wraps }), displacement);
        };
        let key = Key { buffer, step, plus, wraps };
        if let Some(&(_, reg)) = self.addresses.known[value].iter().find(|known| known.0 == key) {
            return (reg, displacement);
        }
        let reg = self.out.reg(RegType::B64);
        self.addresses.known[value].push((key, reg));
        (reg, displacement)
    }

    /// Emits the requested addresses that use an index value, directly after its definition. Uses
    /// are visited backwards, so the addresses are emitted in reverse order of their requests.
    pub(crate) fn addresses_of(&mut self, value: Value) {
        let known = self.addresses.known.get_mut(value).map(std::mem::take).unwrap_or_default();
        for (key, wanted) in known.into_iter().rev() {
            let base = self.base(key.buffer);
            let index = self.value_reg(value).word(0);
            let reg = self.sum(base, index, key);
            self.define(wanted, reg);
        }
    }

    /// Emits the sum of a base address and a scaled index as a 64-bit register.
    fn sum(&mut self, base: ptx::Reg, index: ptx::Reg, key: Key) -> ptx::Reg {
        let wide = if key.wraps {
            let bytes = self.bytes(index, key.step, key.plus);
            let high = self.out.constant_reg(0);
            self.out.pair(bytes, high)
        } else {
            let operands = [Operand::Register(index), Operand::Number(key.step.into())];
            self.out.define(RegType::B64, Opcode::MUL_WIDE, &[Token::Wide, U32], &operands)
        };
        self.out.define(RegType::B64, Opcode::ADD, &[U64], &[base, wide].map(Operand::Register))
    }

    /// Returns `index * step + plus` modulo 2^32.
    fn bytes(&mut self, index: ptx::Reg, step: u32, plus: u32) -> ptx::Reg {
        let number = |bits: u32| Operand::Number(bits.into());
        let scaled = match step {
            1 => index,
            _ if step.is_power_of_two() => {
                self.out.word(Opcode::SHL, &[B32], &[Operand::Register(index), number(step.trailing_zeros())])
            }
            _ => self.out.word(Opcode::MUL, &[Token::Lo, U32], &[Operand::Register(index), number(step)]),
        };
        match plus {
            0 => scaled,
            _ => self.out.word(Opcode::ADD, &[U32], &[Operand::Register(scaled), number(plus)]),
        }
    }

    /// Returns the memory operand for `plus` bytes after an address.
    pub(crate) fn operand(&mut self, (base, displacement): (ptx::Reg, i64), plus: i64) -> Operand {
        let (reg, offset) = match i32::try_from(displacement + plus) {
            Ok(offset) => (base, offset),
            Err(_) => {
                let far = Operand::Number((displacement + plus).cast_unsigned());
                (self.out.define(RegType::B64, Opcode::ADD, &[U64], &[Operand::Register(base), far]), 0)
            }
        };
        Operand::Memory(Address { base: Base::Register(reg), offset })
    }

    pub(crate) fn load_from(&mut self, ty: Type, mem: MemAttr, base: Value, index: Option<Index>) -> Reg {
        let is_constant = matches!(self.buffer(base), Some((_, Direction::In)))
            && self.kernel.param(base).is_some_and(|param| !self.kernel.may_overlap(param));
        let address = self.address(mem, base, index);
        let opcode = if is_constant { Opcode::LD_NC } else { Opcode::LD };
        let space: &[Token] = if is_constant { &[Token::Global, Token::ReadOnly] } else { self.space(base) };
        if ty.bytes() <= 4 {
            let at = self.operand(address, 0);
            let words = [space, &[access_type(ty)]].concat();
            return Reg::new(self.out.word(opcode, &words, &[at]));
        }
        if is_pair(ty, mem) {
            let at = self.operand(address, 0);
            let whole = self.out.define(RegType::B64, opcode, &[space, &[B64]].concat(), &[at]);
            return Reg::of_words(&self.out.unpack(RegType::B64, [true; 2], whole));
        }
        let mut loaded: ArrayVec<ptx::Reg, { Reg::MOST }> = ArrayVec::new();
        let pieces = pieces(ty, mem);
        for plus in (0..i64::from(ty.bytes())).step_by(4 * pieces) {
            let at = self.operand(address, plus);
            let regs: ArrayVec<ptx::Reg, 4> = (0..pieces).map(|_| self.out.reg(RegType::B32)).collect();
            let words = [space, elements(pieces), &[B32]].concat();
            self.out.push(opcode, &words, &[registers(&regs), at]);
            loaded.extend(regs);
        }
        Reg::of_words(&loaded)
    }

    pub(crate) fn store_to(&mut self, ty: Type, mem: MemAttr, value: Value, base: Value, index: Option<Index>) -> Reg {
        let address = self.address(mem, base, index);
        let space = self.space(base);
        if ty.bytes() <= 4 {
            let at = self.operand(address, 0);
            let data = super::context::src(self, value);
            let data = match data {
                Src::Number(bits) => Operand::Number((bits & (u32::MAX >> (32 - ty.bits()))).into()),
                Src::Reg(_) => data.into(),
            };
            self.out.push(Opcode::ST, &[space, &[access_type(ty)]].concat(), &[at, data]);
            return Reg::NONE;
        }
        let data = self.value_reg(value);
        // A value that is concatenated from words is stored as several words. To store one 64-bit
        // number, the assembler would move the words into adjacent registers.
        let is_joined = self.kernel.def_inst(value).is_some_and(|def| self.kernel.insts[def].op == Op::Concat);
        if is_pair(ty, mem) && !is_joined {
            let whole = self.out.pair(data.word(0), data.word(1));
            let at = self.operand(address, 0);
            self.out.push(Opcode::ST, &[space, &[B64]].concat(), &[at, Operand::Register(whole)]);
            return Reg::NONE;
        }
        let pieces = pieces(ty, mem);
        for plus in (0..ty.bytes()).step_by(4 * pieces) {
            let at = self.operand(address, plus.into());
            let regs: ArrayVec<ptx::Reg, 4> = (0..pieces as u32).map(|k| data.word((plus / 4 + k) as u8)).collect();
            let words = [space, elements(pieces), &[B32]].concat();
            self.out.push(Opcode::ST, &words, &[at, registers(&regs)]);
        }
        Reg::NONE
    }
}

/// Returns `true` if array addresses are used only directly as the bases of accesses. Then every
/// computed address points into a buffer.
fn are_named(kernel: &Kernel) -> bool {
    let is_array = |&value: &Value| matches!(kernel.values[value].def, ValueDef::Array(_));
    let is_named = |&inst: &Inst| {
        let args = kernel.args(inst);
        let base = match kernel.insts[inst].op {
            Op::Load => Some(0),
            Op::Store => Some(1),
            _ => None,
        };
        let passed = kernel.targets(inst).iter().flat_map(|call| kernel.call_args(call));
        (0..).zip(args).all(|(number, value)| Some(number) == base || !is_array(value))
            && !passed.into_iter().any(is_array)
    };
    kernel.arrays.is_empty() || kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts).all(is_named)
}

/// Returns `true` if an access moves a 64-bit number, which the assembler keeps in adjacent registers.
fn is_pair(ty: Type, mem: MemAttr) -> bool {
    matches!(ty, Type::I64 | Type::F64) && mem.align >= 8
}

/// Returns the number of words per piece of an access wider than a word. Pieces are as wide as the
/// alignment, so that exactly the misaligned accesses of the IR trap.
fn pieces(ty: Type, mem: MemAttr) -> usize {
    (ty.bytes().min(mem.align).max(4) / 4) as usize
}

/// Returns the modifier (`.v2`, `.v4` or none) of an access with this number of registers.
fn elements(registers: usize) -> &'static [Token] {
    match registers {
        1 => &[],
        2 => &[Token::V2],
        _ => &[Token::V4],
    }
}

fn registers(regs: &[ptx::Reg]) -> Operand {
    match regs {
        [only] => Operand::Register(*only),
        _ => Operand::Vector(regs.iter().copied().map(Some).collect()),
    }
}

/// Returns the type of a load or store of at most 32 bits.
fn access_type(ty: Type) -> Token {
    match ty.bytes() {
        1 => Token::Type(RegType::U8),
        2 => Token::Type(RegType::U16),
        _ => B32,
    }
}
