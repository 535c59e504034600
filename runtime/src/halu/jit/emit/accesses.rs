//! Accesses to memory, as calls of the functions that make them for whole rows.

use super::*;

impl BlockEmitter<'_, '_, '_> {
    /// Makes a load, or prepares a store.
    pub(super) fn begin_access(&mut self, number: u32) {
        let access = &self.dataflow.accesses[number as usize];
        let method = self.plan.methods[number as usize];
        let site = self.site(number);
        let context = self.e.context;
        let mask = self.mask(access.guard);
        let zero = self.e.b.ins().iconst(I64, 0);
        let mut found = Found { row: zero, site, base: zero, offset: zero };
        match (&access.action, method) {
            (Action::Atomic { place, operands, .. }, _) => {
                for (k, &word) in operands.as_flattened().iter().enumerate() {
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
                let args = [context, site, found.base, found.offset, mask];
                let row = match method {
                    Method::LoadSame => self.e.call(access::load_same as *const () as usize, &args[..4], Some(I64)),
                    Method::LoadAffine => self.e.call(access::load_affine as *const () as usize, &args, Some(I64)),
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

    /// Base and offset of the first item.
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

    /// The rows of offset and base.
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

    /// The first row of an access's own.
    pub(super) fn access_row(&mut self, number: u32) -> Value {
        match self.plan.access_rows.get(number as usize).copied().flatten() {
            Some(row) => self.home(Home::Temporary(row), 0),
            None => self.e.row_address(SCRATCH[3]),
        }
    }

    pub(super) fn site(&mut self, number: u32) -> Value {
        let dataflow = self.dataflow;
        let access = &dataflow.accesses[number as usize];
        let each = |id: Id| dataflow.shape(id) != Shape::Uniform;
        let own = self.plan.access_rows.get(number as usize).copied().flatten();
        let row = match own {
            Some(row) => self.e.map.temporary(row),
            None => SCRATCH[3],
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
                site.steps.data.iter_mut().zip(operands.as_flattened()).for_each(|(step, &word)| *step = each(word));
                Some(place)
            }
            Action::Load { place, width, signed } => {
                (site.width, site.signed) = (*width, *signed);
                Some(place)
            }
            Action::Store { place, width, data } => {
                site.kind = Kind::Access(Access::Store);
                site.width = *width;
                // What waits in the site's own row is a row.
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
            site.step = stride(dataflow.shape(offset));
        }
        site.stride = place.and_then(|place| place.stride_shape(dataflow)).map_or(0, stride);
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
            Method::StoreDirect => {
                let Some(found) = self.accesses[number as usize] else { return };
                let own = self.access_row(number);
                let elsewhere = self.e.b.ins().icmp(IntCC::Equal, found.row, own);
                let (copy, done) = (self.e.b.create_block(), self.e.b.create_block());
                self.e.b.set_cold_block(copy);
                self.e.b.ins().brif(elsewhere, copy, &[], done, &[]);
                self.e.b.switch_to_block(copy);
                let args = [context, found.site, found.base, found.offset];
                self.e.call(access::store_row as *const () as usize, &args, None);
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
                    let args = [context, site, base, offset, mask];
                    self.e.call(access::store_affine_rows as *const () as usize, &args, None);
                }
            }
        }
    }
}
