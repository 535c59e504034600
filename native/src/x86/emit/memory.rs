//! Instructions of accesses to memory.

use super::registers::Registers;
use super::{Emitter, ITEM, TABLE};
use crate::vir::{ITEMS, Node, Row, RowCheck, Value, Width};
use crate::x86::register::{R8, R9, R10, RAX, RCX, RDX, RSI};
use crate::x86::vector::*;
use crate::x86::{Alu, Condition, Label, Memory, Operand, Size, VectorWidth};

use VectorWidth::{B128, B256};

/// Returns the size of the parts in which an element is stored.
fn size_of(bytes: u8) -> Size {
    match bytes {
        1 => Size::Byte,
        2 => Size::Word,
        _ => Size::Dword,
    }
}

/// Returns the memory operands of the elements of two items. RAX has the address of the row.
fn quads(stride: i32, item: u8) -> Option<[Memory; 2]> {
    let [low, high] = [i32::from(item), i32::from(item) + 4].map(|item| stride.checked_mul(item));
    Some([Memory::at(RAX, low?), Memory::at(RAX, high?)])
}

impl Emitter<'_> {
    /// Returns the memory operand at a displacement from the address of a row. The operand may use RAX and RCX.
    fn in_row(&mut self, row: Row, displacement: i32) -> Option<Memory> {
        let Some(pointed) = self.pointed(row) else {
            let at = self.in_table(self.row(row));
            self.assembler.load(Size::Qword, RAX, at);
            return Some(Memory::at(RAX, displacement));
        };
        let index = match pointed.stride {
            0 => None,
            1 | 2 | 4 | 8 => Some((ITEM, pointed.stride.trailing_zeros() as u8)),
            stride => {
                self.assembler.load(Size::Qword, RCX, Operand::Register(ITEM));
                self.assembler.multiply(RCX, stride);
                Some((RCX, 0))
            }
        };
        let base = self.pointer(pointed.pointer);
        Some(Memory { base, index, displacement: pointed.displacement.checked_add(displacement)? })
    }

    /// Loads the address of a row into RAX.
    fn row_address(&mut self, row: Row) -> Option<()> {
        let memory = self.in_row(row, 0)?;
        if memory != Memory::at(RAX, 0) {
            self.assembler.address(RAX, memory);
        }
        Some(())
    }

    pub(super) fn access(&mut self, registers: &mut Registers<'_>, value: Value, node: &Node) -> Option<()> {
        let at = value.index();
        match *node {
            Node::LoadRow(row, displacement) => {
                let result = registers.result(self, value, &[])?;
                let from = self.in_row(row, displacement)?;
                self.unary(&VMOVDQU_LOAD, result, Operand::Memory(from));
            }
            Node::LoadNarrow { row, width, signed } => {
                let result = registers.result(self, value, &[])?;
                let from = self.in_row(row, 0)?;
                let load = match (width, signed) {
                    (Width::B8, false) => &VPMOVZXBD,
                    (Width::B8, true) => &VPMOVSXBD,
                    (_, false) => &VPMOVZXWD,
                    (_, true) => &VPMOVSXWD,
                };
                self.unary(load, result, Operand::Memory(from));
            }
            Node::LoadSame { row, displacement, width, signed } => {
                let result = registers.result(self, value, &[])?;
                let from = self.in_row(row, displacement)?;
                match width {
                    Width::B8 | Width::B16 => {
                        let size = if width == Width::B8 { Size::Byte } else { Size::Word };
                        self.assembler.load_extended(size, signed, RCX, from);
                        let word = Operand::Register(RCX);
                        self.assembler.vector(VectorInst::new(&VMOVD_FROM_GENERAL, B128, [result, 0], word));
                        self.unary(&VPBROADCASTD, result, Operand::Register(result));
                    }
                    _ => self.unary(&VPBROADCASTD, result, Operand::Memory(from)),
                }
            }
            Node::LoadStrided { row, displacement, stride } => {
                let result = registers.result(self, value, &[])?;
                let index = registers.take(self, at, &[value])?;
                let active = registers.take(self, at, &[value])?;
                self.row_address(row)?;
                let steps: [u32; 8] = std::array::from_fn(|item| (item as u32).wrapping_mul(stride.cast_unsigned()));
                let steps = Operand::Constant(self.assembler.constant(&steps));
                self.unary(&VMOVDQU_LOAD, index, steps);
                self.binary(&VPCMPEQD, active, active, Operand::Register(active));
                let from = Memory { base: RAX, index: Some((index, 0)), displacement };
                self.binary(&VPXOR, result, result, Operand::Register(result));
                self.binary(&VPGATHERDD, result, active, Operand::Memory(from));
                registers.give_back(index);
                registers.give_back(active);
            }
            Node::LoadQuads { row, stride, item } => {
                let result = registers.result(self, value, &[])?;
                self.row_address(row)?;
                let [low, high] = quads(stride, item)?;
                self.assembler.vector(VectorInst::new(&VMOVDQU_LOAD, B128, [result, 0], Operand::Memory(low)));
                self.immediate(&VINSERTI128, B256, [result, result], Operand::Memory(high), 1);
            }
            Node::StoreQuads { row, stride, item, of } => {
                let [from] = registers.fetch_all(self, [of], at)?;
                self.row_address(row)?;
                let [low, high] = quads(stride, item)?;
                self.assembler.vector(VectorInst::new(&VMOVDQU_STORE, B128, [from, 0], Operand::Memory(low)));
                self.immediate(&VEXTRACTI128, B256, [from, 0], Operand::Memory(high), 1);
                registers.release(&[of], at);
            }
            Node::Gather { addresses, displacement, active } => {
                let kept = [addresses[0], addresses[1], active.unwrap_or(addresses[0]), value];
                let [low, high] = registers.fetch_all(self, addresses, at)?;
                let mask = match active {
                    Some(active) => Some(registers.fetch(self, active, at, &kept)?),
                    None => None,
                };
                let result = registers.result(self, value, &kept)?;
                let upper = registers.take(self, at, &kept)?;
                let selects = registers.take(self, at, &kept)?;
                self.assembler.alu(Alu::Xor, Size::Dword, RAX, Operand::Register(RAX));
                for (index, to, half) in [(low, result, 0), (high, upper, 1)] {
                    match mask {
                        Some(mask) => {
                            self.immediate(&VEXTRACTI128, B256, [mask, 0], Operand::Register(selects), half);
                        }
                        None => self.binary(&VPCMPEQD, selects, selects, Operand::Register(selects)),
                    }
                    self.binary(&VPXOR, to, to, Operand::Register(to));
                    let from = Memory { base: RAX, index: Some((index, 0)), displacement };
                    self.binary(&VPGATHERQD, to, selects, Operand::Memory(from));
                }
                self.immediate(&VINSERTI128, B256, [result, result], Operand::Register(upper), 1);
                registers.give_back(upper);
                registers.give_back(selects);
                registers.release(&addresses, at);
                if let Some(active) = active {
                    registers.release(&[active], at);
                }
            }
            Node::Address(row) => {
                let result = registers.result(self, value, &[])?;
                self.row_address(row)?;
                let to = self.scratch(0);
                self.assembler.store(Size::Qword, RAX, Memory::at(TABLE, to));
                let address = self.in_table(to);
                self.unary(&VPBROADCASTQ, result, address);
            }
            Node::SetCell(cell, from) => {
                let register = registers.fetch(self, from, at, &[from])?;
                let to = self.in_table(self.cell(cell));
                self.unary(&VMOVDQU_STORE, register, to);
                registers.release(&[from], at);
            }
            Node::CheckRow { row, offset, base, ref check } => {
                self.check_row(registers, at, row, (offset, base), check)?
            }
            Node::SetWord(..) | Node::Limit(_) | Node::SkipUnless(_) => self.before(registers, at, node)?,
            Node::StoreStrided { row, stride, bytes, words } => {
                self.store_strided(registers, at, (row, stride), bytes, words)?;
            }
            Node::UnlessSigns(bits) => {
                let [from] = registers.fetch_all(self, [bits], at)?;
                self.unary(&VMOVMSKPD, RAX, Operand::Register(from));
                self.assembler.test(Size::Dword, RAX, RAX);
                self.give_up_if(Condition::NotEqual);
                registers.release(&[bits], at);
            }
            Node::UnlessBits(bits) => {
                let [from] = registers.fetch_all(self, [bits], at)?;
                self.unary(&VPTEST, from, Operand::Register(from));
                self.give_up_if(Condition::NotEqual);
                registers.release(&[bits], at);
            }
            Node::Count => self.count(),
            Node::StoreRow(row, displacement, from) => {
                let [register] = registers.fetch_all(self, [from], at)?;
                let to = self.in_row(row, displacement)?;
                self.unary(&VMOVDQU_STORE, register, Operand::Memory(to));
                registers.release(&[from], at);
            }
            Node::StoreNarrow(row, width, from) => self.store_narrow(registers, at, row, width, from)?,
            Node::StoreEach { addresses, bytes, words, active } => {
                self.store_each(registers, at, addresses, bytes, words, active)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Moves the first word of a vector to a general register.
    pub(super) fn word_of(&mut self, to: u8, vector: u8) {
        self.assembler.vector(VectorInst::new(&VMOVD_TO_GENERAL, B128, [vector, 0], Operand::Register(to)));
    }

    fn check_row(
        &mut self,
        registers: &mut Registers<'_>,
        at: usize,
        row: Row,
        (offset, base): (Value, Option<[Value; 2]>),
        check: &RowCheck,
    ) -> Option<()> {
        let mut kept = vec![offset];
        kept.extend(base.into_iter().flatten());
        let vector = registers.fetch(self, offset, at, &kept)?;
        let upper = registers.take(self, at, &kept)?;
        let base = match base {
            Some([low, high]) => {
                Some([registers.fetch(self, low, at, &kept)?, registers.fetch(self, high, at, &kept)?])
            }
            None => None,
        };
        let give_up = self.give_up;
        self.word_of(RAX, vector);
        if check.stride != 0 {
            self.immediate(&VEXTRACTI128, B256, [vector, 0], Operand::Register(upper), 1);
            self.immediate(&VPEXTRD, B128, [upper, 0], Operand::Register(RCX), 3);
            if check.signed {
                self.assembler.extend_sign(RCX);
            }
        }
        if check.signed {
            self.assembler.extend_sign(RAX);
        }
        self.offsets(check);
        if check.stride != 0 {
            // Offsets that wrap do not form a row.
            self.assembler.address(RDX, Memory::at(RAX, check.stride.checked_mul(7)?));
            self.assembler.alu(Alu::Compare, Size::Qword, RDX, Operand::Register(RCX));
            self.give_up_if(Condition::NotEqual);
        }
        if let Some(vectors) = base {
            for (register, vector) in [RDX, RSI].into_iter().zip(vectors) {
                self.word_of(register, vector);
            }
            self.join_base();
        }
        self.bounds(check, base.is_some(), give_up);
        let to = self.row(row);
        self.assembler.store(Size::Qword, RAX, Memory::at(TABLE, to));
        registers.give_back(upper);
        registers.release(&kept, at);
        Some(())
    }

    /// Converts the words in RAX and, unless the stride is 0, RCX to offsets in bytes.
    pub(super) fn offsets(&mut self, check: &RowCheck) {
        let ends: &[u8] = if check.stride == 0 { &[RAX] } else { &[RAX, RCX] };
        for &end in ends {
            if !check.scale.is_power_of_two() {
                self.assembler.multiply(end, check.scale.cast_signed());
            } else if check.scale != 1 {
                self.assembler.shift_left(end, check.scale.trailing_zeros() as u8);
            }
            if check.displacement != 0 {
                self.assembler.alu_immediate(Alu::Add, Size::Qword, Operand::Register(end), check.displacement);
            }
        }
    }

    /// Joins the low and the high word of an address, in RDX and RSI, in RDX.
    pub(super) fn join_base(&mut self) {
        self.assembler.shift_left(RSI, 32);
        self.assembler.alu(Alu::Or, Size::Qword, RDX, Operand::Register(RSI));
    }

    /// Checks that the elements at offsets in RAX and RCX are in the buffer. Offsets count from the address in RDX if
    /// `has_base`. Converts the offset in RAX to an address.
    pub(super) fn bounds(&mut self, check: &RowCheck, has_base: bool, fail: Label) {
        let ends: &[u8] = if check.stride == 0 { &[RAX] } else { &[RAX, RCX] };
        let [start, bytes] = check.buffer.map(|word| self.in_table(self.word(word)));
        if has_base {
            self.assembler.alu(Alu::Sub, Size::Qword, RDX, start);
            for &end in ends {
                self.assembler.alu(Alu::Add, Size::Qword, end, Operand::Register(RDX));
            }
        }
        self.assembler.load(Size::Qword, RDX, bytes);
        self.assembler.alu_immediate(Alu::Sub, Size::Qword, Operand::Register(RDX), check.bytes.into());
        self.assembler.jump_if(Condition::Below, fail);
        for &end in ends {
            self.assembler.alu(Alu::Compare, Size::Qword, end, Operand::Register(RDX));
            self.assembler.jump_if(Condition::Above, fail);
        }
        if check.align > 1 {
            self.assembler.test_bits(RAX, u32::from(check.align) - 1);
            self.assembler.jump_if(Condition::NotEqual, fail);
        }
        self.assembler.alu(Alu::Add, Size::Qword, RAX, start);
    }

    /// Stores the words of the items `stride` bytes apart, by way of scratch vectors in memory.
    fn store_strided(
        &mut self,
        registers: &mut Registers<'_>,
        at: usize,
        (row, stride): (Row, i32),
        bytes: u8,
        words: [Value; 4],
    ) -> Option<()> {
        let words = words.get(..usize::from(bytes).div_ceil(4))?;
        for (number, &value) in (0..).zip(words) {
            let register = registers.fetch(self, value, at, &[value])?;
            let to = self.in_table(self.scratch(number));
            self.unary(&VMOVDQU_STORE, register, to);
        }
        self.row_address(row)?;
        let size = size_of(bytes);
        for item in 0..ITEMS as i32 {
            for (number, register) in (0..words.len() as i32).zip([RCX, RDX, R8, R9]) {
                let from = self.in_table(self.scratch(number) + 4 * item);
                self.assembler.load(Size::Dword, register, from);
                self.assembler.store(size, register, Memory::at(RAX, stride.checked_mul(item)? + 4 * number));
            }
        }
        registers.release(words, at);
        Some(())
    }

    fn store_narrow(
        &mut self,
        registers: &mut Registers<'_>,
        at: usize,
        row: Row,
        width: Width,
        from: Value,
    ) -> Option<()> {
        let [register] = registers.fetch_all(self, [from], at)?;
        let packed = registers.take(self, at, &[from])?;
        self.row_address(row)?;
        let keeps = |first: u8| -> [u32; 8] {
            // The low bytes of four words, contiguous in each 128 bits.
            let count = if width == Width::B8 { 1 } else { 2 };
            let mut bytes = [0x80u8; 32];
            for half in 0..2 {
                for word in 0..4u8 {
                    for byte in 0..count {
                        let to = 16 * half + usize::from(count * word + byte);
                        if let Some(place) = bytes.get_mut(to) {
                            *place = first + 4 * word + byte;
                        }
                    }
                }
            }
            std::array::from_fn(|k| {
                bytes.chunks_exact(4).nth(k).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            })
        };
        let order = Operand::Constant(self.assembler.constant(&keeps(0)));
        self.binary(&VPSHUFB, packed, register, order);
        if width == Width::B8 {
            // The first word of each half.
            let words = Operand::Constant(self.assembler.constant(&[0, 4, 0, 0, 0, 0, 0, 0]));
            let index = registers.take(self, at, &[from])?;
            self.unary(&VMOVDQU_LOAD, index, words);
            self.binary(&VPERMD, packed, index, Operand::Register(packed));
            registers.give_back(index);
            self.assembler.vector(VectorInst::new(
                &VMOVQ_STORE,
                B128,
                [packed, 0],
                Operand::Memory(Memory::at(RAX, 0)),
            ));
        } else {
            self.immediate(&VPERMQ, B256, [packed, 0], Operand::Register(packed), 0b10_00);
            self.assembler.vector(VectorInst::new(
                &VMOVDQU_STORE,
                B128,
                [packed, 0],
                Operand::Memory(Memory::at(RAX, 0)),
            ));
        }
        registers.give_back(packed);
        registers.release(&[from], at);
        Some(())
    }

    /// Scatters the words of the items, by way of scratch vectors in memory.
    fn store_each(
        &mut self,
        registers: &mut Registers<'_>,
        at: usize,
        addresses: [Value; 2],
        bytes: u8,
        words: [Value; 4],
        active: Option<Value>,
    ) -> Option<()> {
        let count = usize::from(bytes).div_ceil(4);
        let vectors = addresses.into_iter().chain(words.into_iter().take(count));
        for (number, value) in (0..).zip(vectors) {
            let register = registers.fetch(self, value, at, &[value])?;
            let to = self.in_table(self.scratch(number));
            self.unary(&VMOVDQU_STORE, register, to);
        }
        let items = (0..8).map(|item| (item, None));
        match active {
            None => items.for_each(|(item, index)| self.store_item(bytes, count, item, index)),
            Some(active) => {
                let mask = registers.fetch(self, active, at, &[active])?;
                self.unary(&VMOVMSKPS, RAX, Operand::Register(mask));
                let (next, end) = (self.assembler.label(), self.assembler.label());
                self.assembler.bind(next);
                self.assembler.test(Size::Dword, RAX, RAX);
                self.assembler.jump_if(Condition::Equal, end);
                self.assembler.lowest_bit(RCX, RAX);
                self.assembler.address(RDX, Memory::at(RAX, -1));
                self.assembler.alu(Alu::And, Size::Dword, RAX, Operand::Register(RDX));
                self.store_item(bytes, count, 0, Some(RCX));
                self.assembler.jump(next);
                self.assembler.bind(end);
                registers.release(&[active], at);
            }
        }
        registers.release(&addresses, at);
        registers.release(words.get(..count)?, at);
        Some(())
    }

    /// Stores the words of an item. The number of the item is `item` plus the number in the register `index`, if any.
    fn store_item(&mut self, bytes: u8, count: usize, item: i32, index: Option<u8>) {
        let of = |at: i32, scale: u8| Memory {
            base: TABLE,
            index: index.map(|index| (index, scale)),
            displacement: at + (item << scale),
        };
        let address = of(self.scratch(0), 3);
        self.assembler.load(Size::Qword, RSI, Operand::Memory(address));
        for (word, register) in (0..count as i32).zip([RDX, R8, R9, R10]) {
            let from = of(self.scratch(2 + word), 2);
            self.assembler.load(Size::Dword, register, Operand::Memory(from));
            self.assembler.store(size_of(bytes), register, Memory::at(RSI, 4 * word));
        }
    }
}
