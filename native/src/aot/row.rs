//! Accesses to a row of elements: one that all items of a gang make, an equal distance apart.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use halfbyte_isa::halu::domain::Width;

use super::item::Item;
use super::known::Before;
use crate::jit::{Access, Action, Dataflow, Ends, Id, Location};

/// Offsets beyond this are in no buffer.
const MOST_BYTES: i64 = 1 << 48;

/// How all items of a gang make an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Run {
    /// All access the same element.
    Same,
    /// A number of bytes lies between the elements of an item and the next.
    Each(i64),
}

/// The parameter whose buffer an access is to go to: the one that its address comes from. That it goes there is checked.
pub(super) fn param_of(
    access: &Access,
    dataflow: &Dataflow,
    before: Before<'_>,
    pointers: &[Option<u32>],
) -> Option<usize> {
    let (Action::Load { place, .. } | Action::Store { place, .. }) = &access.action else { return None };
    let Location::Global { base: [low, _], .. } = place else { return None };
    before.origin(dataflow, *low, pointers)
}

impl<'f> Ends<'f> for Item<'_, '_, 'f, '_> {
    fn dataflow(&self) -> &Dataflow {
        Item::dataflow(self)
    }

    fn builder(&mut self) -> &mut FunctionBuilder<'f> {
        self.s.b
    }

    fn scalar(&mut self, id: Id) -> Value {
        self.value(id)
    }

    fn others(&mut self) -> Value {
        match self.others {
            Some(others) => others,
            None => self.s.constant(I64, 0),
        }
    }
}

impl Item<'_, '_, '_, '_> {
    /// The parameter whose buffer an access is to go to.
    pub fn param_of(&self, access: &Access) -> Option<usize> {
        param_of(access, Item::dataflow(self), self.before, &self.frame.pointers)
    }

    /// Returns the address that the first item accesses, and whether all items may access theirs; `None` if that is never
    /// known.
    pub fn first(&mut self, access: &Access, run: Run) -> Option<(Value, Value)> {
        let (Action::Load { place, width, .. } | Action::Store { place, width, .. }) = access.action else {
            return None;
        };
        let Location::Global { offset, base, imm, scale } = place else { return None };
        let param = self.param_of(access)?;
        let buffer = self.frame.buffers.get(param).copied().flatten()?;
        let (step, stride) = match run {
            Run::Same => (0, 0),
            Run::Each(stride) => (Item::dataflow(self).shape(offset).stride().cast_signed().into(), stride),
        };
        // How far into the buffer it is that offsets count from.
        let into = match self.param_at(base) {
            Some(of) if of == param => None,
            _ => {
                let [low, high] = base.map(|word| self.value(word));
                let [low, high] = [low, high].map(|word| self.s.b.ins().uextend(I64, word));
                let high = self.s.b.ins().ishl_imm_s(high, 32);
                let base = self.s.b.ins().bor(low, high);
                Some(self.s.b.ins().isub(base, buffer.start))
            }
        };
        let word = self.value(offset);
        let others = self.others();
        let b = &mut *self.s.b;
        let number = if scale.signed { b.ins().sextend(I64, word) } else { b.ins().uextend(I64, word) };
        // Words are offsets as far as they do not wrap.
        let grown = b.ins().imul_imm_s(others, step);
        let last = b.ins().iadd(number, grown);
        let [least, most] = if scale.signed { [i32::MIN.into(), i32::MAX.into()] } else { [0, i64::from(u32::MAX)] };
        let from = b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, last, least);
        let to = b.ins().icmp_imm_s(IntCC::SignedLessThanOrEqual, last, most);
        let mut holds = b.ins().band(from, to);
        let bytes = b.ins().imul_imm_s(number, i64::from(scale.by));
        let mut first = b.ins().iadd_imm_s(bytes, i64::from(imm));
        // Nothing overflows of what may be right.
        for offset in into.into_iter().chain([bytes]) {
            let raised = b.ins().iadd_imm_s(offset, MOST_BYTES);
            let is_near = b.ins().icmp_imm_s(IntCC::UnsignedLessThan, raised, 2 * MOST_BYTES);
            holds = b.ins().band(holds, is_near);
        }
        if let Some(into) = into {
            first = b.ins().iadd(first, into);
        }
        let reach = b.ins().imul_imm_s(others, stride);
        let furthest = b.ins().iadd(first, reach);
        let (low, high) = if stride < 0 { (furthest, first) } else { (first, furthest) };
        let end = b.ins().iadd_imm_s(high, i64::from(width.bytes()));
        let is_from = b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, low, 0);
        let is_to = b.ins().icmp(IntCC::SignedLessThanOrEqual, end, buffer.bytes);
        for is_in in [is_from, is_to] {
            holds = b.ins().band(holds, is_in);
        }
        if width != Width::B8 {
            let rest = b.ins().band_imm_s(first, i64::from(width.bytes()) - 1);
            let is_aligned = b.ins().icmp_imm_s(IntCC::Equal, rest, 0);
            holds = b.ins().band(holds, is_aligned);
        }
        Some((b.ins().iadd(buffer.start, first), holds))
    }
}
