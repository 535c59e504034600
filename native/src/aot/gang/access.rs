//! Accesses to memory of all items of a gang: what a block loads is loaded in order, and all of its stores come after, once it is known that
//! each access can be made.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32X4, I64, I64X2};
use cranelift_codegen::ir::{InstBuilder, StackSlotData, StackSlotKind, Value};
use halfbyte_isa::halu::domain::Width;
use smallvec::SmallVec;

use super::{Emitter, ITEMS, PARTS, Words};
use crate::aot::memory::{BufferValues, here, load, store};
use crate::aot::row::Run;
use crate::jit::elements::{Strided, gather, joined, scatter};
use crate::jit::{Access, Action, Id, Location, Op, Scale, Shape, Unit, cast, constant};

/// Where the items of a gang access memory.
#[derive(Clone, Copy)]
enum Places {
    /// From the first item's on, equally far apart.
    Even { first: Value, stride: i64 },
    /// Of each item.
    Each([Value; ITEMS as usize]),
}

/// Vectors of 64 bits of all items, two each.
const PAIRS: usize = 2 * PARTS;

/// Those of each part.
fn pairs(mut of: impl FnMut(usize) -> [Value; 2]) -> [Value; PAIRS] {
    let parts: [[Value; 2]; PARTS] = std::array::from_fn(&mut of);
    std::array::from_fn(|k| parts[k / 2][k % 2])
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

    /// No item may reach an instruction that traps: whether that may yet be.
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
        if dataflow.is_uniform_load(access) {
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
        let slot = *self
            .nowhere
            .get_or_insert_with(|| b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 16, 4)));
        let (at, none) = (b.ins().stack_addr(I64, slot, 0), constant(b, I32X4, 0));
        b.ins().store(here(), none, at, 0);
        at
    }

    /// The buffers that an access may go to.
    fn candidates(&self, access: &Access) -> Vec<BufferValues> {
        let known = self.item.param_of(access);
        let buffers = self.item.frame.buffers.iter().zip(self.stored).enumerate();
        let is_taken = |(param, is_stored): (usize, bool)| known.map_or(!is_stored, |known| known == param);
        buffers
            .filter(|&(param, (_, &is_stored))| is_taken((param, is_stored)))
            .filter_map(|(_, (buffer, _))| *buffer)
            .collect()
    }

    /// The start of the buffer that has what is at an address, the bytes of its whole elements of a width, and whether there is one.
    fn search(&mut self, address: Value, candidates: &[BufferValues], width: Width) -> Option<[Value; 3]> {
        let mut found: Option<[Value; 3]> = None;
        for buffer in candidates {
            let b = &mut *self.item.s.b;
            let whole = if width == Width::B8 {
                buffer.bytes
            } else {
                b.ins().band_imm_s(buffer.bytes, -i64::from(width.bytes()))
            };
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
        let known = self.item.param_of(access);
        if known.is_some() {
            let (first, holds) = self.item.first(access, Run::Same)?;
            self.or_give_up(holds);
            return Some(first);
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
        let (Action::Load { place, width, .. } | Action::Store { place, width, .. }) = access.action else {
            return None;
        };
        let Location::Global { offset, base, imm, scale } = place else { return None };
        let dataflow = self.item.dataflow();
        let is_even = base.iter().all(|&word| dataflow.shape(word) == Shape::Uniform) && access.guard.is_none();
        let known = self.item.param_of(access);
        if let (true, Some(_), Some(Shape::Affine(stride))) = (is_even, known, place.stride_shape(dataflow)) {
            let stride = i64::from(stride.cast_signed());
            if stride % i64::from(width.bytes()) == 0 {
                let (first, holds) = self.item.first(access, Run::Each(stride))?;
                self.or_give_up(holds);
                return Some((Places::Even { first, stride }, None));
            }
        }
        let is_same = |id: Id| dataflow.shape(id) == Shape::Uniform;
        let offsets = if is_same(offset) {
            let offset = self.item.offset(offset, imm, scale);
            [self.item.s.b.ins().splat(I64X2, offset); PAIRS]
        } else {
            let words = self.vector(offset);
            self.offsets(words, imm, scale)
        };
        let bases = if base.into_iter().all(is_same) {
            let none = self.item.s.constant(I64, 0);
            let base = self.item.sum(base, none);
            [self.item.s.b.ins().splat(I64X2, base); PAIRS]
        } else {
            let [low, high] = base.map(|word| self.vector(word));
            pairs(|part| joined(self.item.s.b, [low[part], high[part]]))
        };
        let addresses: [Value; PAIRS] = std::array::from_fn(|k| self.item.s.b.ins().iadd(bases[k], offsets[k]));
        let active = access.guard.map(|guard| {
            let holds = self.vector(guard);
            (self.each(holds), self.wide(holds, true))
        });
        // That of an item that makes it.
        let mut each = self.each_of(addresses);
        let mut one = each[0];
        for (active, &address) in active.iter().flat_map(|(active, _)| active).zip(&each) {
            one = self.item.s.b.ins().select(*active, address, one);
        }
        let [start, bytes, mut holds] = self.search(one, &self.candidates(access), width)?;
        let b = &mut *self.item.s.b;
        let last = b.ins().iadd_imm_s(bytes, -i64::from(width.bytes()));
        let (start, last) = (b.ins().splat(I64X2, start), b.ins().splat(I64X2, last));
        // Offsets are within where neither they nor what is left behind them are negative.
        let mut all: Option<[Value; 2]> = None;
        for (k, &address) in addresses.iter().enumerate() {
            let mut offset = b.ins().isub(address, start);
            if let Some((_, masks)) = active {
                offset = b.ins().band(offset, masks[k]);
            }
            let left = b.ins().isub(last, offset);
            all = Some(all.map_or([offset, left], |all| [b.ins().bor(all[0], offset), b.ins().bor(all[1], left)]));
        }
        let [bits, left] = all.unwrap_or([start; 2]).map(|words| {
            let [first, second] = [0, 1].map(|lane| b.ins().extractlane(words, lane));
            b.ins().bor(first, second)
        });
        let signs = b.ins().bor(bits, left);
        let is_within = b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, signs, 0);
        holds = b.ins().band(holds, is_within);
        if width != Width::B8 {
            let rest = b.ins().band_imm_s(bits, i64::from(width.bytes()) - 1);
            let is_aligned = b.ins().icmp_imm_s(IntCC::Equal, rest, 0);
            holds = b.ins().band(holds, is_aligned);
        }
        if let Some(guard) = access.guard {
            // Where no item makes it, nothing need be there.
            let guard = self.vector(guard);
            let any = self.any(guard);
            let is_none = self.item.s.b.ins().bxor_imm_s(any, 1);
            holds = self.item.s.b.ins().bor(holds, is_none);
        }
        if let Some((active, _)) = active {
            let nowhere = self.nowhere();
            each = std::array::from_fn(|item| self.item.s.b.ins().select(active[item], each[item], nowhere));
        }
        self.or_give_up(holds);
        Some((Places::Each(each), active.map(|(active, _)| active)))
    }

    /// Words in 64 bits, two items' each.
    fn wide(&mut self, words: Words, signed: bool) -> [Value; PAIRS] {
        let b = &mut *self.item.s.b;
        pairs(|part| match signed {
            true => [b.ins().swiden_low(words[part]), b.ins().swiden_high(words[part])],
            false => [b.ins().uwiden_low(words[part]), b.ins().uwiden_high(words[part])],
        })
    }

    /// The offsets that words are, in bytes.
    fn offsets(&mut self, words: Words, imm: i32, scale: Scale) -> [Value; PAIRS] {
        let words = words.map(|word| cast(self.item.s.b, I32X4, word));
        let wide = self.wide(words, scale.signed);
        let b = &mut *self.item.s.b;
        wide.map(|offset| {
            let bytes = match scale.by {
                1 => offset,
                by if by.is_power_of_two() => b.ins().ishl_imm_s(offset, i64::from(by.ilog2())),
                by => {
                    let by = b.ins().iconst(I64, i64::from(by));
                    let by = b.ins().splat(I64X2, by);
                    b.ins().imul(offset, by)
                }
            };
            if imm == 0 {
                return bytes;
            }
            let imm = b.ins().iconst(I64, i64::from(imm));
            let imm = b.ins().splat(I64X2, imm);
            b.ins().iadd(bytes, imm)
        })
    }

    /// Those of each item.
    fn each_of(&mut self, words: [Value; PAIRS]) -> [Value; ITEMS as usize] {
        let b = &mut *self.item.s.b;
        std::array::from_fn(|item| b.ins().extractlane(words[item / 2], (item % 2) as u8))
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
