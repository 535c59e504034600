//! Instructions of memory accesses and checks.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I8X16, I16, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Type, Value};

use super::{Emitter, PARTS, Parts};
use crate::jit::{cast, shuffle};
use crate::vir::{self, ITEMS, Node, Row, RowCheck, Width};

/// Returns the flags of a checked access.
pub(super) fn here() -> MemFlagsData {
    let mut flags = MemFlagsData::new();
    flags.set_notrap();
    flags
}

/// Returns the type of the parts of an element: a byte, 16 bits, or a word.
fn element(bytes: u8) -> Type {
    match bytes {
        1 => I8,
        2 => I16,
        _ => I32,
    }
}

impl Emitter<'_, '_> {
    /// Returns the address of a row's first element.
    fn address(&mut self, row: Row) -> Option<Value> {
        let variable = self.row(row)?;
        let address = self.b.use_var(variable);
        let Some(hoisted) = self.function.hoisted.iter().find(|hoisted| hoisted.row == row) else {
            return Some(address);
        };
        let item = self.b.use_var(self.item);
        let before = self.b.ins().imul_imm_s(item, i64::from(hoisted.check.stride));
        Some(self.b.ins().iadd(address, before))
    }

    /// Returns the 32-bit word of an item.
    fn word_of(&mut self, of: Parts, item: usize) -> Value {
        self.b.ins().extractlane(of[item / 4], (item % 4) as u8)
    }

    /// Returns the word of the first item, extended to 64 bits.
    pub(super) fn first_word(&mut self, of: vir::Value, signed: bool) -> Option<Value> {
        let of = self.parts(of)?;
        let word = self.word_of(of, 0);
        Some(if signed { self.b.ins().sextend(I64, word) } else { self.b.ins().uextend(I64, word) })
    }

    /// Returns the address of an item.
    fn address_of(&mut self, addresses: [Parts; 2], item: usize) -> Value {
        let pair = cast(self.b, I64X2, addresses[item / 4][item % 4 / 2]);
        self.b.ins().extractlane(pair, (item % 2) as u8)
    }

    /// Returns the value with the words that `word` returns for each item.
    fn collect(&mut self, mut word: impl FnMut(&mut Self, usize) -> Value) -> Parts {
        [0, 1].map(|part| {
            let first = word(self, 4 * part);
            let mut all = self.b.ins().scalar_to_vector(I32X4, first);
            for lane in 1..4 {
                let next = word(self, 4 * part + lane);
                all = self.b.ins().insertlane(all, next, lane as u8);
            }
            all
        })
    }

    /// Returns the value of a node that loads.
    pub(super) fn load(&mut self, node: &Node) -> Option<Parts> {
        Some(match *node {
            Node::LoadRow(row, displacement) => {
                let at = self.address(row)?;
                [0, 16].map(|part| self.b.ins().load(I32X4, here(), at, displacement + part))
            }
            Node::LoadNarrow { row, width, signed } => {
                let at = self.address(row)?;
                match (width, signed) {
                    (Width::B8, true) => {
                        let halves = self.b.ins().sload8x8(here(), at, 0);
                        [self.b.ins().swiden_low(halves), self.b.ins().swiden_high(halves)]
                    }
                    (Width::B8, false) => {
                        let halves = self.b.ins().uload8x8(here(), at, 0);
                        [self.b.ins().uwiden_low(halves), self.b.ins().uwiden_high(halves)]
                    }
                    (_, true) => [0, 8].map(|part| self.b.ins().sload16x4(here(), at, part)),
                    (_, false) => [0, 8].map(|part| self.b.ins().uload16x4(here(), at, part)),
                }
            }
            Node::LoadSame { row, displacement, width, signed } => {
                let at = self.address(row)?;
                let word = match (width, signed) {
                    (Width::B8, true) => self.b.ins().sload8(I32, here(), at, displacement),
                    (Width::B8, false) => self.b.ins().uload8(I32, here(), at, displacement),
                    (Width::B16, true) => self.b.ins().sload16(I32, here(), at, displacement),
                    (Width::B16, false) => self.b.ins().uload16(I32, here(), at, displacement),
                    _ => self.b.ins().load(I32, here(), at, displacement),
                };
                [self.b.ins().splat(I32X4, word); PARTS]
            }
            Node::LoadStrided { row, displacement, stride } => {
                let at = self.address(row)?;
                self.collect(|e, item| {
                    let at = e.b.ins().iadd_imm_s(at, i64::from(stride) * item as i64);
                    e.b.ins().load(I32, here(), at, displacement)
                })
            }
            Node::LoadQuads { row, stride, item } => {
                let at = self.address(row)?;
                [0, 4].map(|half| {
                    let at = self.b.ins().iadd_imm_s(at, i64::from(stride) * i64::from(item + half));
                    self.b.ins().load(I32X4, here(), at, 0)
                })
            }
            Node::Gather { addresses, displacement, active } => {
                let addresses = [self.parts(addresses[0])?, self.parts(addresses[1])?];
                let active = match active {
                    Some(active) => Some((self.parts(active)?, self.nowhere(displacement))),
                    None => None,
                };
                self.collect(|e, item| {
                    let mut at = e.address_of(addresses, item);
                    if let Some((active, nowhere)) = active {
                        let is_active = e.word_of(active, item);
                        at = e.b.ins().select(is_active, at, nowhere);
                    }
                    e.b.ins().load(I32, here(), at, displacement)
                })
            }
            Node::Address(row) => {
                let at = self.address(row)?;
                self.splat64(at)
            }
            _ => return None,
        })
    }

    /// Returns the address that is `displacement` bytes before a zero in memory.
    fn nowhere(&mut self, displacement: i32) -> Value {
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, 4, 2);
        let slot = *self.nowhere.get_or_insert_with(|| self.b.create_sized_stack_slot(slot));
        let zero = self.b.ins().iconst(I32, 0);
        let at = self.b.ins().stack_addr(I64, slot, 0);
        self.b.ins().store(here(), zero, at, 0);
        self.b.ins().iadd_imm_s(at, -i64::from(displacement))
    }

    /// Emits a node with an effect.
    pub(super) fn effect(&mut self, node: &Node) -> Option<()> {
        match *node {
            Node::SetCell(cell, from) => {
                for (variable, part) in self.cell(cell)?.into_iter().zip(self.parts(from)?) {
                    self.b.def_var(variable, part);
                }
            }
            Node::CheckRow { row, offset, base, ref check } => self.check_row(row, offset, base, check)?,
            Node::SetWord(..) | Node::Limit(_) | Node::SkipUnless(_) => self.before(node)?,
            Node::UnlessSigns(bits) => {
                let [low, high] = self.parts(bits)?;
                let both = self.b.ins().bor(low, high);
                let both = cast(self.b, I64X2, both);
                let [low, high] = [0, 1].map(|lane| self.b.ins().extractlane(both, lane));
                let all = self.b.ins().bor(low, high);
                let is_wrong = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, all, 0);
                self.leave_if(is_wrong, self.labels.give_up);
            }
            Node::UnlessBits(bits) => {
                let [low, high] = self.parts(bits)?;
                let both = self.b.ins().bor(low, high);
                let any = self.b.ins().vany_true(both);
                self.leave_if(any, self.labels.give_up);
            }
            Node::Count => {
                let left = self.b.use_var(self.budget);
                let is_spent = self.b.ins().icmp_imm_s(IntCC::Equal, left, 0);
                self.leave_if(is_spent, self.labels.give_up);
                let left = self.b.ins().iadd_imm_s(left, -1);
                self.b.def_var(self.budget, left);
            }
            Node::StoreRow(row, displacement, from) => {
                let at = self.address(row)?;
                for (part, words) in (0..).step_by(16).zip(self.parts(from)?) {
                    self.b.ins().store(here(), words, at, displacement + part);
                }
            }
            Node::StoreNarrow(row, width, from) => {
                let at = self.address(row)?;
                let parts = self.parts(from)?;
                let bytes: [u8; 16] = std::array::from_fn(|byte| match width {
                    Width::B8 => 4 * (byte % 8) as u8,
                    _ => 4 * (byte / 2) as u8 + (byte % 2) as u8,
                });
                let packed = shuffle(self.b, parts, bytes);
                match width {
                    Width::B8 => {
                        let packed = cast(self.b, I64X2, packed);
                        let eight = self.b.ins().extractlane(packed, 0);
                        self.b.ins().store(here(), eight, at, 0);
                    }
                    _ => {
                        self.b.ins().store(here(), packed, at, 0);
                    }
                }
            }
            Node::StoreQuads { row, stride, item, of } => {
                let at = self.address(row)?;
                for (item, quad) in [item, item + 4].into_iter().zip(self.parts(of)?) {
                    let at = self.b.ins().iadd_imm_s(at, i64::from(stride) * i64::from(item));
                    self.b.ins().store(here(), quad, at, 0);
                }
            }
            Node::StoreStrided { row, stride, bytes, words } => {
                let at = self.address(row)?;
                for item in 0..ITEMS as usize {
                    let at = self.b.ins().iadd_imm_s(at, i64::from(stride) * item as i64);
                    self.store_item(at, bytes, &words, item)?;
                }
            }
            Node::StoreEach { addresses, bytes, ref words, active } => {
                let addresses = [self.parts(addresses[0])?, self.parts(addresses[1])?];
                for item in 0..ITEMS as usize {
                    let at = self.address_of(addresses, item);
                    let Some(active) = active else {
                        self.store_item(at, bytes, words, item)?;
                        continue;
                    };
                    let active = self.parts(active)?;
                    let is_active = self.word_of(active, item);
                    let (made, on) = (self.b.create_block(), self.b.create_block());
                    self.b.ins().brif(is_active, made, &[], on, &[]);
                    self.b.switch_to_block(made);
                    self.store_item(at, bytes, words, item)?;
                    self.b.ins().jump(on, &[]);
                    self.b.switch_to_block(on);
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Stores the words of an item, or the low bytes of its word.
    fn store_item(&mut self, at: Value, bytes: u8, words: &[vir::Value], item: usize) -> Option<()> {
        for (place, &word) in (0..).step_by(4).zip(words).take(usize::from(bytes).div_ceil(4)) {
            let parts = self.parts(word)?;
            let ty = element(bytes);
            let word = match ty {
                I32 => self.word_of(parts, item),
                _ => {
                    let elements = cast(self.b, if ty == I8 { I8X16 } else { ty.by(8)? }, parts[item / 4]);
                    self.b.ins().extractlane(elements, (item % 4 * 4 / ty.bytes() as usize) as u8)
                }
            };
            self.b.ins().store(here(), word, at, place);
        }
        Some(())
    }

    fn check_row(
        &mut self,
        row: Row,
        offset: vir::Value,
        base: Option<[vir::Value; 2]>,
        check: &RowCheck,
    ) -> Option<()> {
        let offsets = self.parts(offset)?;
        let [first, last] = [0, ITEMS as usize - 1].map(|item| {
            let word = self.word_of(offsets, item);
            let number = if check.signed { self.b.ins().sextend(I64, word) } else { self.b.ins().uextend(I64, word) };
            self.offset(number, check)
        });
        let ends = if check.stride == 0 { [first; 2] } else { [first, last] };
        if check.stride != 0 {
            // Offsets that wrap do not form a row.
            let end = self.b.ins().iadd_imm_s(first, i64::from(check.stride) * i64::from(ITEMS - 1));
            let is_other = self.b.ins().icmp(IntCC::NotEqual, end, last);
            self.leave_if(is_other, self.labels.give_up);
        }
        let base = match base {
            Some([low, high]) => {
                let (low, high) = (self.first_word(low, false)?, self.first_word(high, false)?);
                let high = self.b.ins().ishl_imm_s(high, 32);
                Some(self.b.ins().bor(low, high))
            }
            None => None,
        };
        let address = self.bounds(ends, check, base, self.labels.give_up)?;
        let row = self.row(row)?;
        self.b.def_var(row, address);
        Some(())
    }
}
