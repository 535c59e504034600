//! Conversion of PTX addresses to elements of buffers.
//!
//! An address in PTX has 64 bits. An index in the IR has 32 bits and wraps at 2^32. An address
//! becomes an index only if value ranges prove that the index neither wraps nor is negative. Any
//! other address is computed in 64 bits as in PTX, which is exact as well.

use halfbyte_ir::{Axis, MemAttr, Op, ParamKind, Type, Value};
use halfbyte_isa::ptx::types::{Special, SpecialGroup, Token, Type as PtxType};
use halfbyte_isa::ptx::{Inst, Opcode, Operand};

use halfbyte_isa::row::InstClass;

use crate::builder::{DEPTH, Import};
use crate::flow::loads_parameter;
use crate::options::{MAX_BLOCK, MAX_ITEMS};
use crate::provenance::{ParameterId, loaded};
use crate::ssa::{Def, Val};

/// Maximum number of terms in the sum of an offset.
const TERMS: usize = 8;

/// Byte offset from the start of a buffer: a sum of scaled values and a constant. The values have
/// at most 32 bits and are extended to 64 bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offset {
    terms: Vec<Term>,
    constant: i64,
}

#[derive(Clone, Copy, Debug)]
struct Term {
    val: Val,
    signed: bool,
    scale: u64,
}

/// Address of an access in the form of the IR: base, index, scale and offset.
pub(crate) struct Address {
    pub base: Value,
    pub index: Option<Value>,
    /// Number of bytes by which the index is multiplied.
    pub scale: u32,
    /// Set if the index is scaled in 64 bits. The address is the same, but PTX computes the product in one instruction.
    pub wide: bool,
    /// Constant byte offset.
    pub offset: i32,
    /// Greatest power of two that is proved to divide the address.
    pub known_align: u32,
}

impl Address {
    /// Returns the memory attribute of an access that begins `bytes` bytes after the address, or
    /// `None` if the offset overflows.
    pub(crate) fn mem(&self, bytes: u32, align: u32) -> Option<MemAttr> {
        let offset = self.offset.checked_add_unsigned(bytes)?;
        Some(MemAttr { scale: self.scale, offset, align, wide: self.wide })
    }
}

impl Import<'_> {
    /// Returns the address `val + offset` of an access to an element of `bytes` bytes.
    pub(crate) fn address(&mut self, val: Val, offset: i32, bytes: u32) -> Address {
        self.element(val, offset, bytes).unwrap_or_else(|| {
            let value = self.value(val);
            let base = self.code.cast(value, Type::PTR);
            let scale = step(bytes, [offset.unsigned_abs().into(), bytes.into()]);
            Address { base, index: None, scale, wide: false, offset, known_align: 1 }
        })
    }

    /// Returns the address as an element of a buffer, or `None` if the index is not proved to be valid.
    fn element(&mut self, val: Val, offset: i32, size: u32) -> Option<Address> {
        let (source, bytes) = self.base(val, DEPTH)?;
        self.indexed(source, &bytes, Some(val), offset, size)
    }

    /// Returns the address at a constant offset in a buffer, or `None` if the IR cannot express the
    /// offset.
    pub(crate) fn in_buffer(&mut self, source: ParameterId, offset: i32, size: u32) -> Option<Address> {
        self.indexed(source, &Offset::default(), None, offset, size)
    }

    fn indexed(
        &mut self,
        source: ParameterId,
        bytes: &Offset,
        val: Option<Val>,
        offset: i32,
        size: u32,
    ) -> Option<Address> {
        let constant = i32::try_from(bytes.constant.checked_add(offset.into())?).ok()?;
        let mut most: u64 = 0;
        for term in &bytes.terms {
            let (_, high) = self.range(term.val, DEPTH);
            let bits = self.types.get(term.val).bits();
            if term.signed && high >> (bits - 1) != 0 {
                return None;
            }
            most = most.checked_add(high.checked_mul(term.scale)?)?;
        }
        if most > u32::MAX.into() {
            return None;
        }
        let base = *self.params.get(source as usize)?;
        let kernel = self.code.builder.kernel();
        let element = kernel.default_mem(base, Type::I8).scale;
        let promised = match kernel.param(base).map(|param| param.kind) {
            Some(ParamKind::Buffer { align, .. }) => align,
            _ => 1,
        };
        let numbers = || bytes.terms.iter().map(|term| term.scale).chain([constant.unsigned_abs().into()]);
        let scale = step(element, numbers().chain([size.into()]));
        let known_align = promised.min(1 << numbers().fold(1 << 31, |all, number| all | number).trailing_zeros());
        let key = val.map(|val| (val, scale));
        let index = match key.and_then(|key| self.indices.get(&key)) {
            Some(&index) => Some(index),
            None => self.sum(&bytes.terms, scale),
        };
        if let (Some(key), Some(index)) = (key, index) {
            self.indices.insert(key, index);
        }
        let wide = self.keeps_intrinsics && index.is_some();
        Some(Address { base, index, scale, wide, offset: constant, known_align })
    }

    /// Emits the sum of the terms in units of `scale` bytes. Returns `None` if there are no terms.
    fn sum(&mut self, terms: &[Term], scale: u32) -> Option<Value> {
        let mut index = None;
        for term in terms {
            let value = self.value(term.val);
            let value = self.convert(value, Type::I32);
            let steps = term.scale / u64::from(scale);
            let value = match steps {
                1 => value,
                _ => {
                    let steps = self.code.constant(Type::I32, steps);
                    self.code.op(Op::Mul, Type::I32, &[value, steps])
                }
            };
            index = Some(match index {
                None => value,
                Some(sum) => self.code.op(Op::Add, Type::I32, &[sum, value]),
            });
        }
        index
    }

    /// Returns the buffer that contains an address, and the address's offset from the buffer's
    /// start. Returns `None` if they cannot be determined within `depth` definitions.
    fn base(&self, val: Val, depth: u32) -> Option<(ParameterId, Offset)> {
        let depth = depth.checked_sub(1)?;
        let &Def::Inst(number, None) = self.function.def(val) else { return None };
        let inst = self.function.inst(number)?;
        let read = |i: usize| self.read_of(number, inst, i);
        match inst.opcode {
            _ if loads_parameter(inst) => {
                let reg = Some(self.function.reg(val));
                let (_, param, offset) = loaded(inst).into_iter().find(|(loaded, ..)| *loaded == reg)?;
                let (source, place) = self.parameters.place(param, offset)?;
                place.is_buffer.then(|| (source, Offset::default()))
            }
            Opcode::MOV_ADDRESS | Opcode::CVTA_ADDRESS => {
                let Some(&Operand::Variable { var, offset }) = inst.operands.get(1) else { return None };
                let offset = Offset { terms: Vec::new(), constant: offset.into() };
                Some((self.parameters.variable(var)?, offset))
            }
            Opcode::MOV | Opcode::CVTA => self.base(read(1)?, depth),
            Opcode::ADD if inst.ty(0).bits() == 64 => {
                let (base, other) = match (read(1), read(2)) {
                    (Some(a), _) if self.parameters.is_address(a) => (a, 2),
                    (_, Some(b)) if self.parameters.is_address(b) => (b, 1),
                    _ => return None,
                };
                if read(other).is_some_and(|val| self.parameters.is_address(val)) {
                    return None;
                }
                let (source, offset) = self.base(base, depth)?;
                Some((source, offset.plus(self.offset_of(number, inst, other, depth)?)?))
            }
            Opcode::SUB if inst.ty(0).bits() == 64 => {
                let Some(&Operand::Number(bits)) = inst.operands.get(2) else { return None };
                let (source, offset) = self.base(read(1)?, depth)?;
                let constant = (bits as i64).checked_neg()?;
                Some((source, offset.plus(Offset { terms: Vec::new(), constant })?))
            }
            Opcode::MAD_WIDE if matches!(inst.ty(0).bits(), 32) => {
                let (source, offset) = self.base(read(3)?, depth)?;
                Some((source, offset.plus(self.scaled(number, inst)?)?))
            }
            _ => None,
        }
    }

    /// Decomposes a 64-bit operand into the terms and the constant of a byte offset. Returns `None`
    /// if this is not possible within `depth` definitions.
    fn offset_of(&self, number: usize, inst: &Inst, i: usize, depth: u32) -> Option<Offset> {
        if let Some(&Operand::Number(bits)) = inst.operands.get(i) {
            return Some(Offset { terms: Vec::new(), constant: bits as i64 });
        }
        self.offset(self.read_of(number, inst, i)?, depth)
    }

    fn offset(&self, val: Val, depth: u32) -> Option<Offset> {
        let depth = depth.checked_sub(1)?;
        let &Def::Inst(number, None) = self.function.def(val) else { return None };
        let inst = self.function.inst(number)?;
        let of = |i: usize| self.offset_of(number, inst, i, depth);
        match inst.opcode {
            Opcode::MOV => of(1),
            Opcode::MUL_WIDE if inst.ty(0).bits() == 32 => self.scaled(number, inst),
            Opcode::ADD if inst.ty(0).bits() == 64 => of(1)?.plus(of(2)?),
            Opcode::SHL if inst.ty(0).bits() == 64 => {
                let count = self.number_at(number, inst, 2).filter(|&count| count < 32)?;
                of(1)?.times(1 << count)
            }
            Opcode::MUL if inst.ty(0).bits() == 64 && inst.has(Token::Lo) => {
                let factor = self.number_at(number, inst, 2).filter(|&factor| factor >> 32 == 0)?;
                of(1)?.times(factor)
            }
            Opcode::CVT_INT if inst.ty(0).bits() == 64 && inst.ty(1).bits() <= 32 => {
                let val = self.read_of(number, inst, 1)?;
                // The conversion truncates a register that is wider than the source type. The
                // decomposition would then be wrong.
                let bits = self.function.entry.body.registers.held(self.function.reg(val)).map_or(0, PtxType::bits);
                (bits == inst.ty(1).bits()).then(|| Offset {
                    terms: vec![Term { val, signed: inst.ty(1).is_signed(), scale: 1 }],
                    constant: 0,
                })
            }
            _ if self.range(val, depth).1 <= u32::MAX.into() => {
                Some(Offset { terms: vec![Term { val, signed: false, scale: 1 }], constant: 0 })
            }
            _ => None,
        }
    }

    /// Returns the product of `mul.wide` or `mad.wide` as a byte offset, if one factor is a constant.
    fn scaled(&self, number: usize, inst: &Inst) -> Option<Offset> {
        let signed = inst.ty(0).is_signed();
        let (val, factor) = match (self.number_at(number, inst, 1), self.number_at(number, inst, 2)) {
            (_, Some(factor)) => (self.read_of(number, inst, 1)?, factor),
            (Some(factor), _) => (self.read_of(number, inst, 2)?, factor),
            _ => return None,
        };
        if signed && factor >> 31 != 0 {
            return None;
        }
        Some(Offset { terms: vec![Term { val, signed, scale: factor }], constant: 0 })
    }

    /// Returns the special register of which a value is a copy, if any.
    pub(crate) fn special_of(&self, val: Val) -> Option<Special> {
        let mut val = val;
        for _ in 0..DEPTH {
            let &Def::Inst(number, None) = self.function.def(val) else { return None };
            let inst = self.function.inst(number)?;
            match (inst.opcode, inst.operands.get(1)) {
                (Opcode::MOV_SPECIAL, Some(&Operand::Special(special))) if inst.ty(0).bits() == 32 => {
                    return Some(special);
                }
                (Opcode::MOV, _) => val = self.read_of(number, inst, 1)?,
                _ => return None,
            }
        }
        None
    }

    /// Returns the axis along which an instruction computes the work item's number, if any. The
    /// work item's number is the block number times the block size plus the thread number.
    pub(crate) fn makes_item(&self, number: usize, inst: &Inst) -> Option<Axis> {
        Axis::ALL.into_iter().find(|&axis| self.makes_item_along(axis, number, inst))
    }

    fn makes_item_along(&self, axis: Axis, number: usize, inst: &Inst) -> bool {
        let read = |i: usize| self.read_of(number, inst, i);
        let thread = Some(Special { group: SpecialGroup::Thread, axis });
        let is_thread = |i: usize| read(i).is_some_and(|val| self.special_of(val) == thread);
        match inst.opcode {
            Opcode::MAD if inst.has(Token::Lo) && inst.ty(0).bits() == 32 => {
                is_thread(3) && self.is_start(axis, number, inst)
            }
            Opcode::ADD if inst.ty(0).bits() == 32 => [(1, 2), (2, 1)].into_iter().any(|(start, thread)| {
                let start = read(start).map(|val| self.function.def(val));
                let Some(&Def::Inst(product, None)) = start else { return false };
                let of = self.function.inst(product);
                let is_product = |of: &Inst| {
                    matches!(of.opcode, Opcode::MUL if of.has(Token::Lo) && of.ty(0).bits() == 32)
                        || matches!(of.opcode, Opcode::SHL if of.ty(0).bits() == 32)
                };
                is_thread(thread) && of.is_some_and(|of| is_product(of) && self.is_start(axis, product, of))
            }),
            _ => false,
        }
    }

    /// Returns `true` if the first two operands of an instruction are the block number and the block size.
    fn is_start(&self, axis: Axis, number: usize, inst: &Inst) -> bool {
        let is = |i: usize, group| {
            let special = self.read_of(number, inst, i).and_then(|val| self.special_of(val));
            special == Some(Special { group, axis })
        };
        let is_size = |i: usize| {
            let known = self.number_at(number, inst, i);
            let known = if inst.opcode == Opcode::SHL { known.filter(|&n| n < 32).map(|n| 1 << n) } else { known };
            let block = self.shape.block.map(|block| u64::from(axis.of(block)));
            inst.opcode != Opcode::SHL && is(i, SpecialGroup::BlockSize) || known.is_some() && known == block
        };
        let commutes = inst.opcode != Opcode::SHL;
        [(1, 2), (2, 1)]
            .into_iter()
            .take(if commutes { 2 } else { 1 })
            .any(|(block, size)| is(block, SpecialGroup::Block) && is_size(size))
    }

    /// Returns the unsigned minimum and maximum of a value, if the value is known to fit in 32 bits.
    pub(crate) fn bounds(&self, val: Val) -> Option<(u64, u64)> {
        let bits = self.function.entry.body.registers.held(self.function.reg(val)).map_or(64, PtxType::bits);
        Some(self.range(val, DEPTH)).filter(|&(_, high)| bits <= 32 || high <= u32::MAX.into())
    }

    /// Returns the unsigned minimum and maximum of a value. The result is cached.
    fn range(&self, val: Val, depth: u32) -> (u64, u64) {
        if let Some(&found) = self.ranges.borrow().get(&val) {
            return found;
        }
        let found = self.find_range(val, depth);
        self.ranges.borrow_mut().insert(val, found);
        found
    }

    fn find_range(&self, val: Val, depth: u32) -> (u64, u64) {
        let bits = self.function.entry.body.registers.held(self.function.reg(val)).map_or(32, PtxType::bits);
        let of_bits = |bits: u32| (0, u64::MAX >> (64 - bits.clamp(1, 64)));
        let all = of_bits(bits);
        let Some(depth) = depth.checked_sub(1) else { return all };
        let &Def::Inst(number, None) = self.function.def(val) else { return all };
        let Some(inst) = self.function.inst(number) else { return all };
        if self.makes_item(number, inst).is_some() {
            return (0, (MAX_ITEMS - 1).into());
        }
        let operand = |i: usize| match self.number_at(number, inst, i) {
            Some(known) => (known, known),
            None => self.read_of(number, inst, i).map_or(all, |val| self.range(val, depth)),
        };
        // The bounds saturate at `u64::MAX`, so this maximum means that the value may have wrapped.
        let within = |(low, high): (u64, u64)| if high <= all.1 && high < u64::MAX { (low, high) } else { all };
        let product = |(a, b): (u64, u64), (c, d): (u64, u64)| (a.saturating_mul(c), b.saturating_mul(d));
        let sum = |(a, b): (u64, u64), (c, d): (u64, u64)| (a.saturating_add(c), b.saturating_add(d));
        if let Some(known) = self.constant_of(val) {
            return within((known, known));
        }
        match inst.opcode {
            Opcode::MOV => operand(1),
            Opcode::MOV_SPECIAL => {
                let Some(&Operand::Special(special)) = inst.operands.get(1) else { return all };
                let most = match special.group {
                    SpecialGroup::Thread => MAX_BLOCK - 1,
                    SpecialGroup::BlockSize => MAX_BLOCK,
                    SpecialGroup::Block => MAX_ITEMS - 1,
                    SpecialGroup::GridSize => MAX_ITEMS,
                    SpecialGroup::Lane => 31,
                    SpecialGroup::Warp => MAX_BLOCK / 32 - 1,
                    SpecialGroup::Warps => MAX_BLOCK / 32,
                    _ => return all,
                };
                within((0, most.into()))
            }
            Opcode::ADD => within(sum(operand(1), operand(2))),
            Opcode::MUL if inst.has(Token::Lo) => within(product(operand(1), operand(2))),
            Opcode::MAD if inst.has(Token::Lo) => within(sum(product(operand(1), operand(2)), operand(3))),
            Opcode::SHL => match operand(2) {
                (count, same) if count == same && count < 32 => within(product(operand(1), (1 << count, 1 << count))),
                _ => all,
            },
            Opcode::SHR if !inst.ty(0).is_signed() => match operand(2) {
                (count, same) if count == same && count < 32 => {
                    let (low, high) = operand(1);
                    (low >> count, high >> count)
                }
                _ => all,
            },
            Opcode::REM if !inst.ty(0).is_signed() => match operand(2) {
                (least, most) if least > 0 => (0, (most - 1).min(operand(1).1)),
                _ => all,
            },
            Opcode::AND => (0, operand(1).1.min(operand(2).1)),
            Opcode::MIN if !inst.ty(0).is_signed() => (0, operand(1).1.min(operand(2).1)),
            Opcode::CVT_INT if !inst.ty(1).is_signed() && inst.ty(0).bits() >= inst.ty(1).bits() => {
                let (low, high) = operand(1);
                let (_, most) = of_bits(inst.ty(1).bits());
                if high <= most { (low, high) } else { (0, most) }
            }
            _ if inst.row().class == InstClass::Memory && !inst.ty(0).is_signed() => within(of_bits(inst.ty(0).bits())),
            _ => all,
        }
    }
}

impl Offset {
    fn plus(mut self, other: Offset) -> Option<Offset> {
        self.terms.extend(other.terms);
        if self.terms.len() > TERMS {
            return None;
        }
        self.constant = self.constant.checked_add(other.constant)?;
        Some(self)
    }

    fn times(mut self, factor: u64) -> Option<Offset> {
        for term in &mut self.terms {
            term.scale = term.scale.checked_mul(factor)?;
        }
        self.constant = self.constant.checked_mul(i64::try_from(factor).ok()?)?;
        Some(self)
    }
}

/// Returns `element` if it divides all numbers. Otherwise returns the greatest power of two up to
/// 64 that divides all numbers.
fn step(element: u32, numbers: impl IntoIterator<Item = u64>) -> u32 {
    let all = numbers.into_iter().fold(0, |all, number| all | number);
    if all % u64::from(element) == 0 { element } else { 1 << all.trailing_zeros().min(6) }
}
