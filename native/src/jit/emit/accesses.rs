//! Memory accesses, as calls of functions that execute the accesses for whole rows.

use super::*;
use crate::jit::strided;

impl BlockEmitter<'_, '_, '_> {
    /// Executes a load, or prepares a store.
    pub(super) fn begin_access(&mut self, number: u32) {
        let access = &self.dataflow.accesses[number as usize];
        let method = self.plan.methods[number as usize];
        let site = self.site(number);
        let context = self.e.context;
        let mask = self.mask(access.guard);
        let zero = self.e.b.ins().iconst(I64, 0);
        let mut found = Found { row: zero, step: zero, site, base: zero, offset: zero };
        match (&access.action, method) {
            (Action::Atomic { place, operands, .. }, _) => {
                for (k, &word) in operands.iter().enumerate() {
                    let row = self.row(word);
                    self.e.b.ins().store(here(), row, context, Field::Data as i32 + 8 * k as i32);
                }
                let [offset, low, high] = self.place_rows(place);
                let args = [context, site, offset, low, high, mask];
                self.e.call(access::atomic as *const () as usize, &args, None);
                found.row = self.access_row(number);
            }
            (Action::Fence, _) => {
                self.e.b.ins().fence();
            }
            (Action::Load { place, .. } | Action::Store { place, .. }, _) if method != Method::LoadEach => {
                (found.base, found.offset) = self.address(place);
                self.say_first(number);
                let args = [context, site, found.base, found.offset, mask];
                let strided = match method {
                    Method::LoadAffine if self.plan.strided[number as usize] => Some(strided::load as *const ()),
                    Method::StoreStrided => Some(strided::store as *const ()),
                    _ => None,
                };
                let row = match method {
                    _ if let Some(function) = strided => {
                        let row = self.e.call(function as usize, &args[..4], Some(I64));
                        found.step = self.e.field(I64, Field::Step);
                        row
                    }
                    Method::LoadGrid => {
                        self.e.call(access::load_grid as *const () as usize, &args, None);
                        Some(self.access_row(number))
                    }
                    Method::LoadSame => self.e.call(access::load_same as *const () as usize, &args[..4], Some(I64)),
                    Method::LoadAffine => Some(self.load_affine(number, found, &args)),
                    _ => self.e.call(access::store_affine as *const () as usize, &args[..4], Some(I64)),
                };
                found.row = row.unwrap_or(zero);
            }
            (Action::Load { place, .. }, _) => {
                let [offset, low, high] = self.place_rows(place);
                let args = [context, site, offset, low, high, mask];
                self.e.call(access::load_each as *const () as usize, &args, None);
                found.row = self.access_row(number);
            }
            (Action::Fault(_), _) => {
                self.e.call(access::fault as *const () as usize, &[context, site, mask], None);
            }
            (Action::Store { .. }, _) => {}
        }
        self.accesses[number as usize] = Some(found);
    }

    /// Emits an affine load and returns its row. The row is in shared memory itself if possible; otherwise a call loads
    /// the elements.
    fn load_affine(&mut self, number: u32, found: Found, args: &[Value]) -> Value {
        let place = self.in_shared(number, found);
        let done = self.e.b.create_block();
        let row = self.e.b.append_block_param(done, I64);
        if let Some((at, is_there)) = place {
            let call = self.e.b.create_block();
            self.e.b.ins().brif(is_there, done, &[at.into()], call, &[]);
            self.e.b.set_cold_block(call);
            self.e.b.switch_to_block(call);
        }
        let zero = found.base;
        let called = self.e.call(access::load_affine as *const () as usize, args, Some(I64)).unwrap_or(zero);
        self.e.b.ins().jump(done, &[called.into()]);
        self.e.b.switch_to_block(done);
        row
    }

    /// Returns the address in shared memory of a contiguous load of words, and a truth value. The truth value holds if
    /// the address is valid as a row of whole chunks.
    fn in_shared(&mut self, number: u32, found: Found) -> Option<(Value, Value)> {
        let access = &self.dataflow.accesses[number as usize];
        let Action::Load { place: Location::Own { space: Space::Shared, offset, imm }, width: Width::B32, .. } =
            access.action
        else {
            return None;
        };
        let is_row = self.dataflow.shape(offset) == Shape::Affine(4) && cfg!(target_endian = "little");
        if !is_row || !self.plan.in_place[number as usize] {
            return None;
        }
        let reads_first = self.plan.read_first.get(number as usize).is_some_and(|&first| first);
        let items = match access.guard.filter(|_| reads_first).and_then(|guard| Bound::of(self.dataflow, guard)) {
            Some(bound) => self.chunks_of_first(bound),
            None => {
                let items = self.e.field(I32, Field::Items);
                self.e.b.ins().uextend(I64, items)
            }
        };
        let (start, bytes) = (self.e.field(I64, Field::Shared), self.e.field(I64, Field::SharedBytes));
        let b = &mut self.e.b;
        let first = b.ins().uextend(I64, found.offset);
        let first = b.ins().iadd_imm_s(first, i64::from(imm));
        // A loop reads at least one chunk.
        let least = b.ins().iconst(I64, i64::from(CHUNK));
        let length = b.ins().umax(items, least);
        let length = b.ins().ishl_imm_s(length, 2);
        let end = b.ins().iadd(first, length);
        // Offsets below zero wrap to values beyond the end.
        let is_within = b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, bytes);
        let starts_within = b.ins().icmp(IntCC::UnsignedLessThan, first, bytes);
        // The check accepts only whole chunks of aligned words.
        let rest = b.ins().band_imm_s(items, i64::from(CHUNK) - 1);
        let odd = b.ins().band_imm_s(first, 3);
        let rest = b.ins().bor(rest, odd);
        let is_whole = b.ins().icmp_imm_s(IntCC::Equal, rest, 0);
        let is_there = b.ins().band(is_within, starts_within);
        let is_there = b.ins().band(is_there, is_whole);
        Some((b.ins().iadd(start, first), is_there))
    }

    /// Returns the number of items, rounded up to whole chunks, for which a truth value can hold; possibly zero.
    pub(super) fn chunks_of_first(&mut self, bound: Bound) -> Value {
        let [items, _] = self.bound(bound);
        let items = self.e.b.ins().iadd_imm_s(items, i64::from(CHUNK) - 1);
        self.e.b.ins().band_imm_s(items, -i64::from(CHUNK))
    }

    /// Sets the number of items that an access must look at, if its guard has a bound.
    fn say_first(&mut self, number: u32) {
        let guard = self.dataflow.accesses[number as usize].guard;
        if self.plan.is_of_first(self.dataflow, number)
            && let Some(bound) = guard.and_then(|guard| Bound::of(self.dataflow, guard))
        {
            let [first, all] = self.bound(bound);
            let first = self.e.b.ins().ireduce(I32, first);
            self.e.set_field(Field::First, first);
            let all = match guard.map(|guard| self.dataflow.op(guard)) {
                Some(Op::Less(_)) => self.e.b.ins().uextend(I32, all),
                // An equality, or a conjunction, can hold for fewer items than the bound.
                _ => self.e.b.ins().iconst(I32, 0),
            };
            self.e.set_field(Field::FirstAll, all);
        }
    }

    /// Returns an upper bound of the number of first items for which a truth value can hold. Also returns `true` if the
    /// comparison behind the bound holds for all of these items.
    pub(super) fn bound(&mut self, bound: Bound) -> [Value; 2] {
        let items = self.e.field(I32, Field::Items);
        let items = self.e.b.ins().uextend(I64, items);
        let [grows, word] = bound.words().map(|word| self.scalar(word));
        let b = &mut self.e.b;
        match bound {
            Bound::Less { signed, .. } => {
                let [first, limit] = [grows, word]
                    .map(|word| if signed { b.ins().sextend(I64, word) } else { b.ins().uextend(I64, word) });
                let end = b.ins().iadd(first, items);
                let most = if signed { i64::from(i32::MAX) } else { i64::from(u32::MAX) };
                let wraps = b.ins().icmp_imm_s(IntCC::SignedGreaterThan, end, most + 1);
                let count = b.ins().isub(limit, first);
                let none = b.ins().iconst(I64, 0);
                let is_none = b.ins().icmp_imm_s(IntCC::SignedLessThan, count, 0);
                let count = b.ins().select(is_none, none, count);
                let is_all = b.ins().icmp(IntCC::SignedGreaterThan, count, items);
                let is_all = b.ins().bor(is_all, wraps);
                let kept = b.ins().bxor_imm_s(wraps, 1);
                [b.ins().select(is_all, items, count), kept]
            }
            Bound::Equal { .. } => {
                let before = b.ins().isub(word, grows);
                let before = b.ins().uextend(I64, before);
                let is_there = b.ins().icmp(IntCC::UnsignedLessThan, before, items);
                let count = b.ins().iadd_imm_s(before, 1);
                let none = b.ins().iconst(I64, 0);
                let count = b.ins().select(is_there, count, none);
                [count, b.ins().iconst(I8, 0)]
            }
        }
    }

    /// Returns the base and the offset of the first item.
    pub(super) fn address(&mut self, place: &Location) -> (Value, Value) {
        match *place {
            Location::Global { offset, base: [low, high], .. } | Location::Flat { offset, base: [low, high], .. } => {
                let (low, high) = (self.scalar(low), self.scalar(high));
                let low = self.e.b.ins().uextend(I64, low);
                let high = self.e.b.ins().uextend(I64, high);
                let high = self.e.b.ins().ishl_imm_s(high, 32);
                (self.e.b.ins().bor(high, low), self.scalar(offset))
            }
            Location::Constant { offset, .. } | Location::Own { offset, .. } => {
                (self.e.b.ins().iconst(I64, 0), self.scalar(offset))
            }
        }
    }

    /// Returns the rows of the offset and the base.
    pub(super) fn place_rows(&mut self, place: &Location) -> [Value; 3] {
        match *place {
            Location::Global { offset, base: [low, high], .. } | Location::Flat { offset, base: [low, high], .. } => {
                [offset, low, high].map(|id| self.row(id))
            }
            Location::Constant { offset, .. } | Location::Own { offset, .. } => {
                let offset = self.row(offset);
                [offset; 3]
            }
        }
    }

    pub(super) fn mask(&mut self, guard: Option<Id>) -> Value {
        match guard {
            Some(guard) => self.row(guard),
            None => self.e.b.ins().iconst(I64, 0),
        }
    }

    /// Returns the first row that belongs to an access.
    pub(super) fn access_row(&mut self, number: u32) -> Value {
        match self.plan.access_rows.get(number as usize).copied().flatten() {
            Some(row) => self.home(Home::Temporary(row), 0),
            None => self.e.row_address(NO_ROW),
        }
    }

    pub(super) fn site(&mut self, number: u32) -> Value {
        let dataflow = self.dataflow;
        let access = &dataflow.accesses[number as usize];
        let each = |id: Id| dataflow.shape(id) != Shape::Uniform;
        let own = self.plan.access_rows.get(number as usize).copied().flatten();
        let row = match own {
            Some(row) => self.e.map.temporary(row),
            None => NO_ROW,
        };
        let mut site = Site {
            address: access.address,
            kind: Kind::Access(Access::Load),
            width: Width::B32,
            signed: false,
            space: Space::Global,
            flat: None,
            yields: access.yields,
            change: None,
            imm: 0,
            stride: 0,
            step: 0,
            scale: Scale::BYTES,
            grid: [0; 2],
            of_first: self.plan.is_of_first(dataflow, number),
            read_first: self.plan.read_first.get(number as usize).copied().unwrap_or(false),
            in_place: self.plan.in_place.get(number as usize).copied().unwrap_or(false),
            row: self.e.map.row(row) as usize,
            row_bytes: self.e.map.row_bytes() as usize,
            steps: Steps { mask: access.guard.is_some_and(each), ..Steps::default() },
        };
        let place = match &access.action {
            Action::Fault(kind) => {
                site.kind = Kind::Fault(kind.clone());
                None
            }
            Action::Fence => None,
            Action::Atomic { place, width, change, operands, returns } => {
                site.kind = Kind::Access(Access::Store);
                site.width = *width;
                site.change = Some((*change, *returns));
                site.steps.data.iter_mut().zip(operands).for_each(|(step, &word)| *step = each(word));
                Some(place)
            }
            Action::Load { place, width, signed } => {
                (site.width, site.signed) = (*width, *signed);
                Some(place)
            }
            Action::Store { place, width, data } => {
                site.kind = Kind::Access(Access::Store);
                site.width = *width;
                // Words that wait in the access's own row form a row.
                let direct = self.plan.methods[number as usize] == Method::StoreDirect;
                site.steps.data.iter_mut().zip(data).for_each(|(step, &word)| *step = direct || each(word));
                Some(place)
            }
        };
        match place {
            None => {}
            Some(&Location::Global { offset, base, imm, scale }) => {
                (site.imm, site.scale) = (imm, scale);
                site.steps.offset = each(offset);
                site.steps.base = base.map(each);
            }
            Some(&Location::Flat { offset, base, imm, reach }) => {
                (site.flat, site.imm) = (Some(reach), imm);
                site.steps.offset = each(offset);
                site.steps.base = base.map(each);
            }
            Some(&Location::Own { space, offset, imm }) => {
                site.space = space;
                site.imm = imm;
                site.steps.offset = each(offset);
            }
            Some(&Location::Constant { bank, offset, imm }) => {
                site.space = Space::Constant(bank);
                site.imm = imm as i32;
                site.steps.offset = each(offset);
            }
        }
        if let Some(offset) = place.and_then(|place| place.words().next()) {
            site.step = dataflow.shape(offset).stride();
            if let Shape::Grid(x, y) = dataflow.shape(offset) {
                site.grid = [x, y];
            }
        }
        site.stride = place.and_then(|place| place.stride_shape(dataflow)).map_or(0, Shape::stride);
        let site = Box::new(site);
        let address = std::ptr::from_ref(&*site) as usize;
        self.e.constants.sites.push(site);
        self.e.b.ins().iconst(I64, address as i64)
    }

    pub(super) fn end_store(&mut self, number: u32) {
        let access = &self.dataflow.accesses[number as usize];
        let Action::Store { place, data, .. } = &access.action else { return };
        let context = self.e.context;
        match self.plan.methods[number as usize] {
            method @ (Method::StoreDirect | Method::StoreStrided) => {
                let Some(found) = self.accesses[number as usize] else { return };
                let own = self.access_row(number);
                let elsewhere = self.e.b.ins().icmp(IntCC::Equal, found.row, own);
                let (copy, done) = (self.e.b.create_block(), self.e.b.create_block());
                self.e.b.set_cold_block(copy);
                self.e.b.ins().brif(elsewhere, copy, &[], done, &[]);
                self.e.b.switch_to_block(copy);
                let args = [context, found.site, found.base, found.offset];
                let function = match method {
                    Method::StoreDirect => access::store_row as *const (),
                    _ => strided::end_store as *const (),
                };
                self.e.call(function as usize, &args, None);
                self.e.b.ins().jump(done, &[]);
                self.e.b.switch_to_block(done);
            }
            method => {
                for (k, &word) in data.iter().enumerate() {
                    let row = self.row(word);
                    self.e.b.ins().store(here(), row, context, Field::Data as i32 + 8 * k as i32);
                }
                let site = self.site(number);
                let mask = self.mask(access.guard);
                if method == Method::StoreEach {
                    let [offset, low, high] = self.place_rows(place);
                    let args = [context, site, offset, low, high, mask];
                    self.e.call(access::store_each as *const () as usize, &args, None);
                } else {
                    let (base, offset) = self.address(place);
                    self.say_first(number);
                    let args = [context, site, base, offset, mask];
                    let function = match method {
                        Method::StoreGrid => access::store_grid as *const (),
                        _ => access::store_affine_rows as *const (),
                    };
                    self.e.call(function as usize, &args, None);
                }
            }
        }
    }
}
