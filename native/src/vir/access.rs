//! Memory accesses of a block. The loads run in order. The stores run after the checks of all
//! accesses.

use halfbyte_isa::halu::domain;

use super::lower::Lower;
use super::{Binary, Half, HoistedRow, Input, Node, Row, RowCheck, Shift, Value, Width, Word};
use crate::jit::{Access, Action, Id, Location, Op, Scale, Shape};

/// Addresses that the items of a gang access.
#[derive(Clone, Copy)]
enum Places {
    /// Row, and the bytes between the elements of consecutive items.
    Row(Row, i32),
    /// Address of each item, for a gather or a scatter.
    Each([Value; 2]),
}

/// Checked store.
struct Store {
    places: Places,
    /// Bytes of an element.
    bytes: u8,
    words: Vec<Value>,
    active: Option<Value>,
}

/// Returns the element width of an access to bytes or 16-bit elements.
fn narrow(width: domain::Width) -> Option<Width> {
    match width {
        domain::Width::B8 => Some(Width::B8),
        domain::Width::B16 => Some(Width::B16),
        domain::Width::B32 | domain::Width::B64 | domain::Width::B128 => None,
    }
}

impl Lower<'_> {
    /// Lowers the accesses of the block. Returns `false` if an access always gives the gang up.
    pub fn accesses(&mut self) -> Option<bool> {
        let dataflow = self.dataflow();
        let mut stores = Vec::new();
        self.groups = self.find_groups();
        let block = self.facts.blocks.get(self.block)?;
        let wanted = self.unit.wanted(|cell| self.facts.gang.is_live_after(block, cell));
        for (id, _) in (0..).map(Id).zip(wanted).filter(|(_, is_wanted)| *is_wanted) {
            // Lowering in the order of the operations keeps the recursion shallow.
            let Op::Access(number) = dataflow.op(id) else {
                self.lower(id)?;
                continue;
            };
            let access = dataflow.accesses.get(number as usize)?;
            match &access.action {
                Action::Load { .. } => self.load(number, access)?,
                Action::Store { .. } => stores.extend(self.find_store(number, access)?),
                Action::Fault(_) => {
                    let Some(guard) = access.guard else { return Some(false) };
                    let guard = self.value(guard)?;
                    self.b.push(Node::UnlessBits(guard));
                }
                Action::Fence => {}
                Action::Atomic { .. } => return None,
            }
        }
        for store in stores {
            self.store(store)?;
        }
        Some(true)
    }

    fn load(&mut self, number: u32, access: &Access) -> Option<()> {
        let Action::Load { place, width, signed } = access.action else { return None };
        if let Some(loaded) = self.load_of_group(number)? {
            *self.loaded.get_mut(number as usize)? = loaded;
            return Some(());
        }
        let is_uniform = |word| self.dataflow().shape(word) == Shape::Uniform;
        let is_same = self.is_of_all(access) && !place.is_of_item() && place.words().all(is_uniform);
        let loaded = if is_same && self.param_of(access).is_some() {
            self.load_same(access, place, width, signed)?
        } else {
            match self.places(access)? {
                (Places::Row(row, stride), _) => self.load_row(row, stride, width, signed),
                (Places::Each(addresses), active) => self.load_each(addresses, width, signed, active),
            }
        };
        *self.loaded.get_mut(number as usize)? = loaded;
        Some(())
    }

    fn load_same(
        &mut self,
        access: &Access,
        place: Location,
        width: domain::Width,
        signed: bool,
    ) -> Option<[Option<Value>; 4]> {
        let of = |part| match narrow(width) {
            Some(width) => (width, 0),
            None => (Width::B32, 4 * part),
        };
        let row = self.check(access, place, width, 0)?;
        let mut words = [None; 4];
        for (part, word) in (0..i32::from(width.registers())).zip(&mut words) {
            let (width, displacement) = of(part);
            *word = Some(self.b.push(Node::LoadSame { row, displacement, width, signed }));
        }
        Some(words)
    }

    fn load_row(&mut self, row: Row, stride: i32, width: domain::Width, signed: bool) -> [Option<Value>; 4] {
        let bytes = width.bytes() as i32;
        let mut words = [None; 4];
        match width {
            domain::Width::B8 | domain::Width::B16 => {
                let narrow = narrow(width).unwrap_or(Width::B32);
                words[0] = Some(if stride == bytes {
                    self.b.push(Node::LoadNarrow { row, width: narrow, signed })
                } else {
                    let addresses = self.addresses(row, stride);
                    self.gather_narrow(addresses, narrow, signed, None)
                });
            }
            domain::Width::B128 => words = self.b.load_quads(row, stride),
            domain::Width::B32 if stride == 4 => words[0] = Some(self.b.push(Node::LoadRow(row, 0))),
            _ => {
                for (part, word) in (0..i32::from(width.registers())).zip(&mut words) {
                    *word = Some(self.b.push(Node::LoadStrided { row, displacement: 4 * part, stride }));
                }
            }
        }
        words
    }

    /// Returns the addresses of the elements of a row.
    fn addresses(&mut self, row: Row, stride: i32) -> [Value; 2] {
        let first = self.b.push(Node::Address(row));
        Half::BOTH.map(|half| {
            let number = |k: usize| i64::from(stride) * (k / 2 + if half == Half::High { 4 } else { 0 }) as i64;
            let words = std::array::from_fn(|k| (number(k) >> (32 * (k % 2))) as u32);
            let steps = self.b.constants(words);
            self.b.binary(Binary::Add, Width::B64, first, steps)
        })
    }

    fn load_each(
        &mut self,
        addresses: [Value; 2],
        width: domain::Width,
        signed: bool,
        active: Option<Value>,
    ) -> [Option<Value>; 4] {
        let mut words = [None; 4];
        match narrow(width) {
            Some(width) => words[0] = Some(self.gather_narrow(addresses, width, signed, active)),
            None => {
                for (part, word) in (0..i32::from(width.registers())).zip(&mut words) {
                    *word = Some(self.b.push(Node::Gather { addresses, displacement: 4 * part, active }));
                }
            }
        }
        words
    }

    /// Gathers the aligned words that hold bytes or 16-bit elements, and extracts the elements.
    fn gather_narrow(&mut self, addresses: [Value; 2], width: Width, signed: bool, active: Option<Value>) -> Value {
        let low = self.low_words(addresses);
        let into = self.b.and_constant(low, 3);
        let bits = self.b.shift_words(Shift::Left, into, 3);
        let whole = self.b.constant_number(!3);
        let aligned = addresses.map(|address| self.b.and(address, whole));
        let words = self.b.push(Node::Gather { addresses: aligned, displacement: 0, active });
        let count = if width == Width::B8 { 24 } else { 16 };
        if signed {
            let most = self.b.constant(count.into());
            let left = self.b.words(Binary::Sub, most, bits);
            let high = self.b.push(Node::ShiftBy(Shift::Left, [words, left]));
            return self.b.shift_words(Shift::Arithmetic, high, count);
        }
        let low = self.b.push(Node::ShiftBy(Shift::Right, [words, bits]));
        self.b.and_constant(low, u32::MAX >> count)
    }

    /// Returns the words of the table with the address and the size of the buffer of a parameter.
    fn buffer(&mut self, param: usize) -> [Word; 2] {
        [self.input(Input::Start(param)), self.input(Input::Bytes(param))]
    }

    /// Returns the parameter whose buffer begins at an address.
    fn param_at(&self, base: [Id; 2]) -> Option<usize> {
        let offset = |id: Id| match self.dataflow().op(id) {
            Op::Bank { offset, width: domain::Width::B32, .. } => Some(offset),
            Op::Input(cell) => self.facts.known.get(self.block)?.get(&cell).copied(),
            _ => None,
        };
        let [low, high] = base.map(offset);
        let low = low.filter(|low| low.checked_add(4) == high)?;
        self.facts.pointers.iter().position(|&at| at == Some(low))
    }

    pub(super) fn param_of(&self, access: &Access) -> Option<usize> {
        (self.facts.param)(self.block, self.unit, access)
    }

    /// Checks a row of a known buffer with a uniform base.
    fn check(&mut self, access: &Access, place: Location, width: domain::Width, stride: i32) -> Option<Row> {
        let bytes = width.bytes() as u8;
        self.check_bytes(access, place, (bytes, bytes), stride)
    }

    /// Returns `true` if all items of a gang make the access or else the gang is given up. The guard of such an access
    /// depends on the item's place and the arguments only, so that the guard diverges within few gangs.
    pub(super) fn is_of_all(&self, access: &Access) -> bool {
        access.guard.is_none_or(|guard| self.is_of_place(guard))
    }

    /// Gives the gang up unless all items make an access.
    pub(super) fn assume(&mut self, access: &Access) -> Option<()> {
        if let Some(guard) = access.guard
            && !self.assumed.contains(&guard)
        {
            self.assumed.push(guard);
            if self.is_fixed(guard) {
                self.require(guard)?;
            } else {
                let holds = self.value(guard)?;
                let others = self.b.not(holds);
                self.b.push(Node::UnlessBits(others));
            }
            self.learn(guard, true);
        }
        Some(())
    }

    /// Checks a row of elements with the given size in bytes and alignment.
    pub(super) fn check_bytes(
        &mut self,
        access: &Access,
        place: Location,
        (bytes, align): (u8, u8),
        stride: i32,
    ) -> Option<Row> {
        let Location::Global { offset: id, base, imm, scale } = place else { return None };
        self.assume(access)?;
        let param = self.param_of(access)?;
        let base = if self.param_at(base) == Some(param) { None } else { Some(base) };
        let buffer = self.buffer(param);
        let Scale { by, signed } = scale;
        let check = RowCheck { buffer, scale: by, signed, displacement: imm, stride, bytes, align };
        if self.facts.hoists && self.is_of_place(id) && base.into_iter().flatten().all(|word| self.is_fixed(word)) {
            let step = self.dataflow().shape(id).stride().cast_signed();
            let offset = self.of_first(id)?;
            let base = match base {
                Some([low, high]) => Some([self.of_first(low)?, self.of_first(high)?]),
                None => None,
            };
            return Some(self.hoisted(HoistedRow { row: Row(self.function.rows), offset, step, base, check }));
        }
        let offset = self.value(id)?;
        let base = match base {
            Some([low, high]) => Some([self.value(low)?, self.value(high)?]),
            None => None,
        };
        let row = self.row();
        self.b.push(Node::CheckRow { row, offset, base, check });
        Some(row)
    }

    /// Returns a hoisted row. Adds the row unless an equal hoisted row exists.
    fn hoisted(&mut self, of: HoistedRow) -> Row {
        let is_same = |other: &&HoistedRow| HoistedRow { row: of.row, ..**other } == of;
        if let Some(same) = self.function.hoisted.iter().find(is_same) {
            return same.row;
        }
        self.function.hoisted.push(of);
        self.row()
    }

    /// Checks an access. Returns the addresses, and the mask of the items that make the access, if any.
    fn places(&mut self, access: &Access) -> Option<(Places, Option<Value>)> {
        let (Action::Load { place, width, .. } | Action::Store { place, width, .. }) = access.action else {
            return None;
        };
        let Location::Global { offset, base, imm, scale } = place else { return None };
        let dataflow = self.dataflow();
        let is_even = base.iter().all(|&word| dataflow.shape(word) == Shape::Uniform) && self.is_of_all(access);
        if let (true, Some(_), Some(Shape::Affine(stride))) =
            (is_even, self.param_of(access), place.stride_shape(dataflow))
        {
            let stride = stride.cast_signed();
            // Strided loads gather words by 32-bit offsets.
            let is_near = stride.unsigned_abs() < 1 << 27;
            if stride % width.bytes() as i32 == 0 && is_near {
                return Some((Places::Row(self.check(access, place, width, stride)?, stride), None));
            }
        }
        let offset = self.value(offset)?;
        let offsets = self.b.extend(scale.signed, offset);
        let base = self.pair(base)?;
        let displacement = self.b.constant_number(i64::from(imm).cast_unsigned());
        let addresses = [0, 1].map(|k| {
            let scaled = self.b.scale(scale.signed, offsets[k], scale.by);
            let at = self.b.binary(Binary::Add, Width::B64, base[k], scaled);
            if imm == 0 { at } else { self.b.binary(Binary::Add, Width::B64, at, displacement) }
        });
        let active = match access.guard {
            Some(guard) => Some(self.value(guard)?),
            None => None,
        };
        self.check_each(access, addresses, width, active)?;
        Some((Places::Each(addresses), active))
    }

    /// Gives the gang up if an element is not in a buffer that the access may reach, or is not aligned in the buffer.
    fn check_each(
        &mut self,
        access: &Access,
        addresses: [Value; 2],
        width: domain::Width,
        active: Option<Value>,
    ) -> Option<()> {
        let known = self.param_of(access);
        let is_store = matches!(access.action, Action::Store { .. });
        let is_reached = |param: usize| match known {
            Some(known) => known == param,
            None => !is_store && self.facts.stored.get(param) == Some(&false),
        };
        let params: Vec<usize> = (0..self.facts.pointers.len())
            .filter(|&param| self.facts.pointers.get(param).is_some_and(Option::is_some) && is_reached(param))
            .collect();
        let mut wrong: Option<[Value; 2]> = None;
        for param in params {
            let [start, bytes] = self.buffer(param).map(|word| self.b.number(word));
            let length = self.b.constant_number(width.bytes().into());
            let last = self.b.binary(Binary::Sub, Width::B64, bytes, length);
            let outside = addresses.map(|address| {
                let offset = self.b.binary(Binary::Sub, Width::B64, address, start);
                let left = self.b.binary(Binary::Sub, Width::B64, last, offset);
                let mut bits = self.b.or(offset, left);
                // The sign bit is also set if a low bit of an unaligned offset is set.
                for bit in 0..width.bytes().ilog2() {
                    let low = self.b.shift(Shift::Left, Width::B64, offset, 63 - bit as u8);
                    bits = self.b.or(bits, low);
                }
                bits
            });
            wrong = Some(match wrong {
                None => outside,
                Some(wrong) => [0, 1].map(|k| self.b.and(wrong[k], outside[k])),
            });
        }
        let mut wrong = wrong?;
        if let Some(active) = active {
            let masks = self.b.extend(true, active);
            wrong = [0, 1].map(|k| self.b.and(wrong[k], masks[k]));
        }
        let any = self.b.or(wrong[0], wrong[1]);
        self.b.push(Node::UnlessSigns(any));
        Some(())
    }

    /// Returns the store of an access. In a group, only the last access has a store, which writes the whole group.
    fn find_store(&mut self, number: u32, access: &Access) -> Option<Option<Store>> {
        let Action::Store { width, ref data, .. } = access.action else { return None };
        if let Some(group) = self.group_of(number) {
            if group.parts.last().map(|part| part.number) != Some(number) {
                return Some(None);
            }
            let words = self.words_of_group(&group)?;
            let row = self.check_group(&group)?;
            let places = Places::Row(row, group.bytes().into());
            return Some(Some(Store { places, bytes: group.bytes(), words, active: None }));
        }
        let words = data.iter().map(|&word| self.value(word)).collect::<Option<Vec<Value>>>()?;
        let (places, active) = self.places(access)?;
        Some(Some(Store { places, bytes: width.bytes() as u8, words, active }))
    }

    fn store(&mut self, Store { places, bytes, words, active }: Store) -> Option<()> {
        let &first = words.first()?;
        let four = std::array::from_fn(|k| words.get(k).copied().unwrap_or(first));
        match places {
            Places::Row(row, stride) if stride == i32::from(bytes) => match bytes {
                1 => drop(self.b.push(Node::StoreNarrow(row, Width::B8, first))),
                2 => drop(self.b.push(Node::StoreNarrow(row, Width::B16, first))),
                _ => {
                    let rows = self.b.interleaved(&words)?;
                    for (row_part, displacement) in rows.into_iter().zip((0..).step_by(32)) {
                        self.b.push(Node::StoreRow(row, displacement, row_part));
                    }
                }
            },
            Places::Row(row, stride) if bytes == 16 => {
                for (item, of) in (0..).zip(self.b.quads(four)) {
                    self.b.push(Node::StoreQuads { row, stride, item, of });
                }
            }
            Places::Row(row, stride) => drop(self.b.push(Node::StoreStrided { row, stride, bytes, words: four })),
            Places::Each(addresses) => drop(self.b.push(Node::StoreEach { addresses, bytes, words: four, active })),
        }
        Some(())
    }
}
