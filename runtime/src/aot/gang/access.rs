//! Accesses to memory of all items of a gang: what a block loads is loaded in order, and all of its stores come after, once it is known that
//! each access can be made.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, StackSlotData, StackSlotKind, Value};
use halfbyte_isa::halu::domain::Width;
use smallvec::SmallVec;

use super::{Emitter, ITEMS, PARTS, Words};
use crate::aot::memory::{BufferValues, here, load, store};
use crate::aot::stream::param_of;
use crate::halu::jit::elements::{Strided, gather, joined, scatter};
use crate::halu::jit::{Access, Action, Id, Location, Op, Run, Shape, Unit, constant};

/// Where the items of a gang access memory.
#[derive(Clone, Copy)]
enum Places {
    /// From the first item's on, equally far apart.
    Even { first: Value, stride: i64 },
    /// Of each item.
    Each([Value; ITEMS as usize]),
}

/// A store that can be made.
struct Store {
    places: Places,
    width: Width,
    data: SmallVec<[Words; 4]>,
    /// The items that make it, unless all do.
    active: Option<[Value; ITEMS as usize]>,
}

impl Emitter<'_, '_, '_, '_> {
    /// Makes the accesses of a block; `false` where it is known that one cannot be made.
    pub(super) fn make_accesses(&mut self, unit: &Unit) -> bool {
        let mut stores = Vec::new();
        for id in (0..unit.dataflow.nodes.len() as u32).map(Id) {
            let Op::Access(number) = unit.dataflow.op(id) else { continue };
            let Some(access) = unit.dataflow.accesses.get(number as usize) else { continue };
            let is_known = match &access.action {
                Action::Load { .. } => self.load(number, access).is_some(),
                Action::Store { .. } => self.find_store(access).map(|store| stores.push(store)).is_some(),
                Action::Fault(_) => self.fault(access.guard),
                Action::Fence => true,
                Action::Atomic { .. } => false,
            };
            if !is_known {
                return false;
            }
        }
        stores.into_iter().for_each(|store| self.store(store));
        true
    }

    /// Nobody may come by an instruction that traps.
    fn fault(&mut self, guard: Option<Id>) -> bool {
        let Some(guard) = guard else { return false };
        let holds = self.vector(guard);
        let any = self.any(holds);
        let none = self.item.s.b.ins().bxor_imm_s(any, 1);
        self.or_give_up(none);
        true
    }

    fn load(&mut self, number: u32, access: &Access) -> Option<()> {
        let Action::Load { place, width, signed } = access.action else { return None };
        let dataflow = self.item.dataflow();
        let is_same = access.guard.is_none() && place.words().all(|word| dataflow.shape(word) == Shape::Uniform);
        if is_same {
            let at = self.same_place(access, place, width)?;
            let words = load(&mut self.item.s, at, width, signed);
            self.item.keep(number, &words);
            return Some(());
        }
        let (places, _) = self.places(access)?;
        let parts: [[Option<Value>; 4]; PARTS] = std::array::from_fn(|part| {
            let b = &mut *self.item.s.b;
            match places {
                Places::Even { first, stride: 4 } if width == Width::B32 => {
                    [Some(b.ins().load(I32X4, here(), first, 16 * part as i32)), None, None, None]
                }
                Places::Even { first, stride } if width.bytes() < 4 && stride == i64::from(width.bytes()) => {
                    let step = b.ins().iconst(I64, stride);
                    Strided { number, width, signed, at: first, step }.load(b, 4 * part as u32)
                }
                _ => {
                    let places = self.four(places, part);
                    gather(self.item.s.b, width, signed, places)
                }
            }
        });
        let words: [Option<Words>; 4] = std::array::from_fn(|k| {
            let [first, second] = parts;
            Some([first[k]?, second[k]?])
        });
        *self.loaded.get_mut(number as usize)? = words;
        Some(())
    }

    /// Where a part's items access memory.
    fn four(&mut self, places: Places, part: usize) -> [Value; 4] {
        std::array::from_fn(|k| self.place_of(places, 4 * part + k))
    }

    /// Where an item does.
    fn place_of(&mut self, places: Places, item: usize) -> Value {
        match places {
            Places::Even { first, stride } => {
                let item = i64::try_from(item).unwrap_or(0);
                if item == 0 { first } else { self.item.s.b.ins().iadd_imm_s(first, stride * item) }
            }
            Places::Each(all) => all.get(item).copied().unwrap_or(all[0]),
        }
    }

    /// Memory that is there, and holds zeros.
    fn nowhere(&mut self) -> Value {
        let b = &mut *self.item.s.b;
        let slot = *self.nowhere.get_or_insert_with(|| {
            b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 16, 4))
        });
        let (at, none) = (b.ins().stack_addr(I64, slot, 0), constant(b, I32X4, 0));
        b.ins().store(here(), none, at, 0);
        at
    }

    /// The buffers that an access may go to.
    fn candidates(&self, access: &Access) -> Vec<BufferValues> {
        let known = param_of(access, self.item.dataflow(), self.item.known, &self.item.frame.pointers);
        let buffers = self.item.frame.buffers.iter().zip(self.stored).enumerate();
        let is_taken = |(param, is_stored): (usize, bool)| known.map_or(!is_stored, |known| known == param);
        buffers.filter(|&(param, (_, &is_stored))| is_taken((param, is_stored))).filter_map(|(_, (buffer, _))| *buffer).collect()
    }

    /// The start of the buffer that has what is at an address, the bytes of its whole elements of a width, and whether there is one.
    fn search(&mut self, address: Value, candidates: &[BufferValues], width: Width) -> Option<[Value; 3]> {
        let mut found: Option<[Value; 3]> = None;
        for buffer in candidates {
            let b = &mut *self.item.s.b;
            let whole = if width == Width::B8 { buffer.bytes } else { b.ins().band_imm_s(buffer.bytes, -i64::from(width.bytes())) };
            let offset = b.ins().isub(address, buffer.start);
            let is_in = b.ins().icmp(IntCC::UnsignedLessThan, offset, whole);
            found = Some(match found {
                None => [buffer.start, whole, is_in],
                Some([start, bytes, is_found]) => [
                    b.ins().select(is_in, buffer.start, start),
                    b.ins().select(is_in, whole, bytes),
                    b.ins().bor(is_in, is_found),
                ],
            });
        }
        found
    }

    /// Where all items load the same.
    fn same_place(&mut self, access: &Access, place: Location, width: Width) -> Option<Value> {
        let known = param_of(access, self.item.dataflow(), self.item.known, &self.item.frame.pointers);
        if known.is_some() {
            let (span, holds) = self.item.span(access, Run::Same)?;
            self.or_give_up(holds);
            return Some(span.first);
        }
        let Location::Global { offset, base, imm, scale } = place else { return None };
        let offset = self.item.offset(offset, imm, scale);
        let address = self.item.sum(base, offset);
        let [start, _, mut holds] = self.search(address, &self.candidates(access), width)?;
        if width != Width::B8 {
            let b = &mut *self.item.s.b;
            let offset = b.ins().isub(address, start);
            let rest = b.ins().band_imm_s(offset, i64::from(width.bytes()) - 1);
            let is_aligned = b.ins().icmp_imm_s(IntCC::Equal, rest, 0);
            holds = b.ins().band(holds, is_aligned);
        }
        self.or_give_up(holds);
        Some(address)
    }

    /// Where the items make an access, and which do, unless all do; what others are given is a place that is there.
    fn places(&mut self, access: &Access) -> Option<(Places, Option<[Value; ITEMS as usize]>)> {
        let (Action::Load { place, width, .. } | Action::Store { place, width, .. }) = access.action else { return None };
        let Location::Global { offset, base, imm, scale } = place else { return None };
        let dataflow = self.item.dataflow();
        let is_even = base.iter().all(|&word| dataflow.shape(word) == Shape::Uniform) && access.guard.is_none();
        let known = param_of(access, dataflow, self.item.known, &self.item.frame.pointers);
        if let (true, Some(_), Some(Shape::Affine(stride))) = (is_even, known, place.stride_shape(dataflow)) {
            let stride = i64::from(stride.cast_signed());
            if stride % i64::from(width.bytes()) == 0 {
                let (span, holds) = self.item.span(access, Run::Each(stride))?;
                self.or_give_up(holds);
                return Some((Places::Even { first: span.first, stride }, None));
            }
        }
        let is_same = |id: Id| dataflow.shape(id) == Shape::Uniform;
        let offsets: [Value; ITEMS as usize] = if is_same(offset) {
            [self.item.offset(offset, imm, scale); ITEMS as usize]
        } else {
            let words = self.vector(offset);
            self.each(words).map(|word| self.item.scaled(word, imm, scale))
        };
        let bases: [Value; ITEMS as usize] = if base.into_iter().all(is_same) {
            let none = self.item.s.constant(I64, 0);
            [self.item.sum(base, none); ITEMS as usize]
        } else {
            let [low, high] = base.map(|word| self.vector(word));
            let parts: [[Value; 4]; PARTS] = std::array::from_fn(|part| joined(self.item.s.b, [low[part], high[part]]));
            std::array::from_fn(|item| parts[item / 4][item % 4])
        };
        let b = &mut *self.item.s.b;
        let addresses: [Value; ITEMS as usize] = std::array::from_fn(|item| b.ins().iadd(bases[item], offsets[item]));
        let active = access.guard.map(|guard| {
            let holds = self.vector(guard);
            self.each(holds)
        });
        let b = &mut *self.item.s.b;
        // That of an item that makes it.
        let mut one = addresses[0];
        for (active, &address) in active.iter().flatten().zip(&addresses) {
            one = b.ins().select(*active, address, one);
        }
        let [start, bytes, mut holds] = self.search(one, &self.candidates(access), width)?;
        let b = &mut *self.item.s.b;
        let none = b.ins().iconst(I64, 0);
        let offsets: [Value; ITEMS as usize] = std::array::from_fn(|item| {
            let offset = b.ins().isub(addresses[item], start);
            match active {
                Some(active) => b.ins().select(active[item], offset, none),
                None => offset,
            }
        });
        let (mut furthest, mut bits) = (offsets[0], offsets[0]);
        for &offset in &offsets[1..] {
            furthest = b.ins().umax(furthest, offset);
            bits = b.ins().bor(bits, offset);
        }
        let is_within = b.ins().icmp(IntCC::UnsignedLessThan, furthest, bytes);
        holds = b.ins().band(holds, is_within);
        if width != Width::B8 {
            let rest = b.ins().band_imm_s(bits, i64::from(width.bytes()) - 1);
            let is_aligned = b.ins().icmp_imm_s(IntCC::Equal, rest, 0);
            holds = b.ins().band(holds, is_aligned);
        }
        let places = match active {
            Some(active) => {
                // Where no item makes it, nothing need be there.
                let mut any = active[0];
                for &active in &active[1..] {
                    any = b.ins().bor(any, active);
                }
                let is_none = b.ins().icmp_imm_s(IntCC::Equal, any, 0);
                holds = b.ins().bor(holds, is_none);
                let nowhere = self.nowhere();
                let b = &mut *self.item.s.b;
                std::array::from_fn(|item| b.ins().select(active[item], addresses[item], nowhere))
            }
            None => addresses,
        };
        self.or_give_up(holds);
        Some((Places::Each(places), active))
    }

    /// The word of each item.
    fn each(&mut self, words: Words) -> [Value; ITEMS as usize] {
        let b = &mut *self.item.s.b;
        std::array::from_fn(|item| b.ins().extractlane(words[item / 4], (item % 4) as u8))
    }

    fn find_store(&mut self, access: &Access) -> Option<Store> {
        let Action::Store { width, ref data, .. } = access.action else { return None };
        let data = data.iter().map(|&word| self.vector(word)).collect();
        let (places, active) = self.places(access)?;
        Some(Store { places, width, data, active })
    }

    fn store(&mut self, Store { places, width, data, active }: Store) {
        if let Some(active) = active {
            for (item, active) in active.into_iter().enumerate() {
                let (made, on) = (self.item.s.b.create_block(), self.item.s.b.create_block());
                self.item.s.b.ins().brif(active, made, &[], on, &[]);
                self.item.s.b.switch_to_block(made);
                let at = self.place_of(places, item);
                let words: SmallVec<[Value; 4]> = data
                    .iter()
                    .map(|words| self.item.s.b.ins().extractlane(words[item / 4], (item % 4) as u8))
                    .collect();
                store(&mut self.item.s, at, width, &words);
                self.item.s.b.ins().jump(on, &[]);
                self.item.s.b.switch_to_block(on);
            }
            return;
        }
        for part in 0..PARTS {
            let words: SmallVec<[Value; 4]> = data.iter().map(|words| words[part]).collect();
            let b = &mut *self.item.s.b;
            match (places, words.first()) {
                (Places::Even { first, stride: 4 }, Some(&word)) if width == Width::B32 => {
                    b.ins().store(here(), word, first, 16 * part as i32);
                }
                (Places::Even { first, stride }, _) if width.bytes() < 4 && stride == i64::from(width.bytes()) => {
                    let step = b.ins().iconst(I64, stride);
                    let of = Strided { number: 0, width, signed: false, at: first, step };
                    of.store(b, &words, 4 * part as u32);
                }
                _ => {
                    let places = self.four(places, part);
                    scatter(self.item.s.b, width, &words, places);
                }
            }
        }
    }
}
