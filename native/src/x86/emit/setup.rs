//! Code before the first gang: invariant values, limits, and checks of rows.

use super::registers::{Registers, resident_register};
use super::{BUDGET, COUNT, Emitter, ITEM, POINTERS, SAVED, TABLE};
use crate::vir::{Block, End, HoistedRow, ITEMS, Limit, Node, Row, RowCheck, Target, Value};
use crate::x86::register::{RAX, RCX, RDX, RSI};
use crate::x86::{Alu, Condition, Label, Memory, Operand, Size};

/// Location of a hoisted row.
#[derive(Clone, Copy)]
pub(super) struct Pointed {
    /// The address of the first item's element, less the displacement.
    pub pointer: Pointer,
    pub displacement: i32,
    /// Bytes between the elements of consecutive items.
    pub stride: i32,
}

/// Location of an address.
#[derive(Clone, Copy)]
pub(super) enum Pointer {
    Register(u8),
    InTable(Row),
}

/// Returns a key that is equal for all rows whose addresses differ in the displacement only.
fn address_of(hoisted: &HoistedRow) -> HoistedRow {
    let check = RowCheck { displacement: 0, bytes: 0, align: 0, ..hoisted.check };
    HoistedRow { row: Row(0), check, ..*hoisted }
}

impl Emitter<'_> {
    pub(super) fn prologue(&mut self, start: Label) -> Option<()> {
        let a = &mut self.assembler;
        for register in SAVED {
            a.push(register);
        }
        a.load(Size::Qword, COUNT, Operand::Register(RSI));
        a.alu(Alu::Xor, Size::Dword, ITEM, Operand::Register(ITEM));
        let setup = Block { nodes: self.function.setup.clone(), end: End::Jump(Target::Done) };
        let mut registers = Registers::new(&setup, &[]);
        for (at, node) in setup.nodes.iter().enumerate() {
            self.node(&mut registers, Value(at as u32), node)?;
        }
        self.spills = registers.spills();
        self.assembler.alu_immediate(Alu::And, Size::Qword, Operand::Register(COUNT), -(ITEMS as i32));
        self.assembler.jump_if(Condition::Equal, self.give_up);
        self.hoist_rows()?;
        let resident = self.resident;
        for (number, leaf) in resident.iter().enumerate() {
            self.load_leaf(resident_register(number), leaf)?;
        }
        self.assembler.bind(start);
        if let Some(budget) = self.function.budget {
            self.assembler.set_address(BUDGET, budget);
        }
        Some(())
    }

    /// Checks the hoisted rows, and keeps their addresses.
    fn hoist_rows(&mut self) -> Option<()> {
        let rows = &self.function.hoisted;
        self.hoisted = vec![None; self.function.rows as usize];
        let mut pointers: Vec<(HoistedRow, Pointer)> = Vec::new();
        for hoisted in rows {
            let key = address_of(hoisted);
            let known = pointers.iter().find(|(other, _)| *other == key).map(|&(_, pointer)| pointer);
            let pointer = known.unwrap_or_else(|| match POINTERS.get(pointers.len()) {
                Some(&register) => Pointer::Register(register),
                None => Pointer::InTable(hoisted.row),
            });
            self.hoist_row(hoisted)?;
            if known.is_none() {
                pointers.push((key, pointer));
                let address = Memory::at(RAX, hoisted.check.displacement.checked_neg()?);
                match pointer {
                    Pointer::Register(register) => self.assembler.address(register, address),
                    Pointer::InTable(row) => {
                        let to = self.row(row);
                        self.assembler.address(RAX, address);
                        self.assembler.store(Size::Qword, RAX, Memory::at(TABLE, to));
                    }
                }
            }
            let HoistedRow { row: Row(row), check: RowCheck { displacement, stride, .. }, .. } = *hoisted;
            *self.hoisted.get_mut(row as usize)? = Some(Pointed { pointer, displacement, stride });
        }
        Some(())
    }

    /// Checks a hoisted row. Loads the address of the first item's element into RAX.
    fn hoist_row(&mut self, HoistedRow { offset, step, base, check, .. }: &HoistedRow) -> Option<()> {
        let fail = self.unbegun;
        let first = self.in_table(self.word(*offset));
        self.assembler.load(Size::Dword, RAX, first);
        if check.signed {
            self.assembler.extend_sign(RAX);
        }
        if check.stride != 0 {
            self.assembler.address(RCX, Memory::at(COUNT, -1));
            self.assembler.multiply(RCX, *step);
            self.assembler.alu(Alu::Add, Size::Qword, RCX, Operand::Register(RAX));
            // The last offset must fit in a word.
            self.assembler.load(Size::Qword, RDX, Operand::Register(RCX));
            if check.signed {
                self.assembler.extend_sign(RDX);
                self.assembler.alu(Alu::Compare, Size::Qword, RDX, Operand::Register(RCX));
            } else {
                self.assembler.shift_right(RDX, 32);
                self.assembler.test(Size::Qword, RDX, RDX);
            }
            self.assembler.jump_if(Condition::NotEqual, fail);
        }
        self.offsets(check);
        if let Some([low, high]) = base {
            for (register, word) in [(RDX, low), (RSI, high)] {
                let word = self.in_table(self.word(*word));
                self.assembler.load(Size::Dword, register, word);
            }
            self.join_base();
        }
        self.bounds(check, base.is_some(), fail);
        Some(())
    }

    /// Returns the location of a row if the row is hoisted.
    pub(super) fn pointed(&self, Row(row): Row) -> Option<Pointed> {
        self.hoisted.get(row as usize).copied().flatten()
    }

    /// Returns the register that holds an address. Loads an address of the table into RAX.
    pub(super) fn pointer(&mut self, pointer: Pointer) -> u8 {
        match pointer {
            Pointer::Register(register) => register,
            Pointer::InTable(row) => {
                let from = self.in_table(self.row(row));
                self.assembler.load(Size::Qword, RAX, from);
                RAX
            }
        }
    }

    /// Emits a node of the setup.
    pub(super) fn before(&mut self, registers: &mut Registers<'_>, at: usize, node: &Node) -> Option<()> {
        match *node {
            Node::SetWord(word, from) => {
                let register = registers.fetch(self, from, at, &[from])?;
                self.word_of(RAX, register);
                let to = self.word(word);
                self.assembler.store(Size::Dword, RAX, Memory::at(TABLE, to));
                registers.release(&[from], at);
            }
            Node::SkipUnless(holds) => {
                let register = registers.fetch(self, holds, at, &[holds])?;
                self.word_of(RCX, register);
                self.assembler.load(Size::Qword, RAX, Operand::Register(COUNT));
                self.assembler.test(Size::Dword, RCX, RCX);
                self.assembler.jump_if(Condition::Equal, self.end);
                registers.release(&[holds], at);
            }
            Node::Limit(Limit { from, step, bound, is_inclusive, signed }) => {
                let [first, end] = registers.fetch_all(self, [from, bound], at)?;
                self.word_of(RAX, first);
                self.word_of(RCX, end);
                if signed {
                    self.assembler.extend_sign(RAX);
                    self.assembler.extend_sign(RCX);
                }
                // The number of the last item that does not wrap.
                let most = if signed { i32::MAX.cast_unsigned() } else { u32::MAX };
                self.assembler.set(RDX, most);
                self.assembler.alu(Alu::Sub, Size::Qword, RDX, Operand::Register(RAX));
                self.limit(RDX, step);
                // The number of the last item before the bound. The number is large if item 0 is past the bound.
                self.assembler.alu(Alu::Sub, Size::Qword, RCX, Operand::Register(RAX));
                if !is_inclusive {
                    self.assembler.alu_immediate(Alu::Sub, Size::Qword, Operand::Register(RCX), 1);
                }
                self.limit(RCX, step);
                registers.release(&[from, bound], at);
            }
            _ => return None,
        }
        Some(())
    }

    /// Limits the number of items to `register / step + 1`. `step` is a power of two.
    fn limit(&mut self, register: u8, step: u32) {
        if step > 1 {
            self.assembler.shift_right(register, step.trailing_zeros() as u8);
        }
        let over = self.assembler.label();
        self.assembler.alu(Alu::Compare, Size::Qword, register, Operand::Register(COUNT));
        self.assembler.jump_if(Condition::NotBelow, over);
        self.assembler.address(COUNT, Memory::at(register, 1));
        self.assembler.bind(over);
    }
}
