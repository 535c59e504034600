//! Generation of loads and stores.

use crate::{Attr, Direction, MemAttr, Op, Type, Value};

use super::arguments::{ALIAS, MOST, ROW, SMALL};
use super::palette::{GeneratedForm, OpForm, is_stored};
use super::{Generator, storable, uses};

/// Maximum trip count of a loop, and maximum value of its induction variable.
pub(super) const TRIPS: u32 = 4;

/// Maximum number of accesses before the final stores, if all addresses must be affine. Targets
/// with this requirement support about 30 accesses. A conditional access counts twice.
pub(super) const MOST_ACCESSES: usize = 20;

/// Maximum number of scalar parameters, if all addresses must be affine.
pub(super) const MOST_SCALARS: usize = 8;

/// Byte offsets outside every buffer of a launch. Some targets choose the encoding of an offset by its magnitude.
const FAR: [i32; 6] = [-(1 << 16), 1 << 16, (1 << 23) - 64, -(1 << 23), 1 << 24, i32::MIN];

/// An `in` buffer parameter.
#[derive(Clone, Copy)]
pub(super) struct Input {
    base: Value,
    elem: Type,
}

/// A buffer that is divided into rows of `stride` bytes. Each item accesses only its own row.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    base: Value,
    stride: u32,
    /// Number of bytes at the start of each row that earlier accesses use. Accesses that must not overlap use later
    /// bytes.
    used: u32,
    is_read: bool,
    is_written: bool,
    /// Distance in bytes from the start of the first row to the start of the buffer; 0 unless the buffer is an alias.
    shift: u32,
}

/// Location of a load or store: base, index and offset.
#[derive(Clone, Copy)]
pub(super) struct Location {
    ty: Type,
    mem: MemAttr,
    base: Value,
    index: Option<Value>,
}

impl Generator<'_, '_> {
    /// Returns `true` if `count` more accesses are possible at the current position. Affine
    /// addresses require that the trip counts of all enclosing loops are known at launch.
    fn may_access(&self, count: usize) -> bool {
        !self.is_affine() || self.cost(count) <= self.accesses && self.counters.iter().all(|counter| counter.known)
    }

    fn cost(&self, count: usize) -> usize {
        count * if self.branches + self.counters.len() > 0 { 2 } else { 1 }
    }

    fn spend(&mut self, count: usize) {
        self.accesses = self.accesses.saturating_sub(self.cost(count));
    }

    fn load_at(&mut self, place: Location) -> Value {
        self.spend(1);
        let Location { ty, mem, base, index } = place;
        let args = [base, index.unwrap_or(base)];
        let args = args.get(..1 + usize::from(index.is_some())).unwrap_or_default();
        self.builder.value(Op::Load, ty, Attr::Mem(mem), args)
    }

    fn store_at(&mut self, place: Location, value: Value) {
        self.spend(1);
        let Location { ty, mem, base, index } = place;
        let args = [value, base, index.unwrap_or(base)];
        let args = args.get(..2 + usize::from(index.is_some())).unwrap_or_default();
        self.builder.inst(Op::Store, ty, Attr::Mem(mem), args);
    }

    /// Generates a load from any location of an `in` buffer, or from the item's own row of another buffer.
    pub(super) fn load(&mut self, ty: Type) -> Option<Value> {
        if !is_stored(ty) || !self.may_access(1) {
            return None;
        }
        let own = !self.rows.is_empty() && self.one_in(4);
        let place = if own { self.own_place(ty, 1, true)? } else { self.input_place(ty) };
        if own && !self.rows.iter().any(|rows| rows.base == place.base && !rows.is_written) {
            self.visited.push(place);
        }
        Some(self.load_at(place))
    }

    /// Generates a store of a value of any type to the item's own row.
    pub(super) fn store(&mut self) {
        if !self.may_access(1) {
            return;
        }
        let stored: Vec<Value> = self.scope.iter().copied().filter(|&value| is_stored(self.ty(value))).collect();
        let Some(value) = self.pick(&stored) else { return };
        if let Some(place) = self.own_place(self.ty(value), 1, false) {
            self.visited.push(place);
            self.store_at(place, value);
        }
    }

    /// Generates loads or stores of consecutive elements, which a target can merge.
    pub(super) fn neighbours(&mut self) {
        let count = 2 + self.random.below(3);
        let fitting: Vec<Type> =
            self.palette.types.iter().copied().filter(|&ty| is_stored(ty) && ty.bytes() <= 4).collect();
        let Some(ty) = self.pick(&fitting).filter(|_| self.may_access(count)) else { return };
        let stores = self.one_in(2);
        let place = match stores {
            true => self.own_place(ty, count as u32, false),
            false => Some(self.input_place(ty)),
        };
        let Some(mut place) = place else { return };
        for _ in 0..count {
            match stores {
                true => {
                    let Some(value) = self.operand(ty) else { return };
                    self.store_at(place, value);
                }
                false => {
                    let value = self.load_at(place);
                    self.scope.push(value);
                }
            }
            place.mem.offset += ty.bytes() as i32;
        }
    }

    /// Returns a location in an `in` buffer for a load of type `ty`. The buffer usually has this element type.
    fn input_place(&mut self, ty: Type) -> Location {
        let Input { base, elem } = self.input(ty);
        let bytes = ty.bytes();
        // An access of more than 4 bytes sometimes requires only the alignment of a 32-bit word.
        let align = if bytes > 4 && self.one_in(3) { 4 } else { bytes };
        let scale = if elem == ty { bytes } else { align };
        let offset = (scale * self.random.below(4) as u32) as i32;
        let index = self.input_index();
        let mem = MemAttr { scale, offset, align, wide: index.is_some_and(|index| self.is_wide(index)) };
        Location { ty, mem, base, index }
    }

    /// Returns `true` if an index is scaled in 64 bits. With affine addresses, this is only allowed
    /// for an index that provably does not wrap.
    fn is_wide(&mut self, index: Value) -> bool {
        let own = self.item == Some(index) && self.branches + self.counters.len() == 0;
        (own || !self.is_affine()) && self.one_in(6)
    }

    /// Returns an element index that is valid for the arguments of a launch, for every element type.
    fn input_index(&mut self) -> Option<Value> {
        let item = self.item?;
        let counter = self.counter();
        let add = |generator: &mut Self, a: Value, b: Value| generator.builder.op(Op::Add, Type::I32, &[a, b]);
        match (self.random.below(16), counter) {
            (0, _) => None,
            (1, _) => self.small_param(),
            (2, _) => {
                let (count, one) = (self.builder.here(Op::ItemCount), self.builder.int(Type::I32, 1));
                let last = self.builder.op(Op::Sub, Type::I32, &[count, one]);
                Some(self.builder.op(Op::Sub, Type::I32, &[last, item]))
            }
            (3, None) => Some(self.times(item, 4)),
            (3, Some(counter)) => {
                let four = self.times(item, 4);
                Some(add(self, four, counter))
            }
            (4..=7, Some(counter)) => Some(add(self, item, counter)),
            (8, Some(counter)) => Some(counter),
            (9, Some(counter)) => {
                let width = self.small_param()?;
                let far = self.builder.op(Op::Mul, Type::I32, &[counter, width]);
                Some(add(self, far, item))
            }
            (4..=9, None) if !self.is_affine() || self.one_in(4) => {
                let mask = self.builder.int(Type::I32, 15);
                let data = self.operand(Type::I32)?;
                let index = self.builder.op(Op::And, Type::I32, &[data, mask]);
                Some(if self.one_in(2) { index } else { add(self, index, item) })
            }
            _ => Some(item),
        }
    }

    /// Returns the induction variable of an enclosing loop, usually the innermost, for use in an address.
    fn counter(&mut self) -> Option<Value> {
        let number = self.counters.len().checked_sub(1)?;
        let number = if self.one_in(4) { self.random.below(number + 1) } else { number };
        let counter = self.counters.get(number)?;
        (counter.known || !self.is_affine()).then_some(counter.value)
    }

    fn times(&mut self, value: Value, factor: u32) -> Value {
        match factor {
            1 => value,
            _ if factor.is_power_of_two() && self.one_in(3) => {
                let by = self.builder.int(Type::I32, factor.trailing_zeros().into());
                self.builder.op(Op::Shl, Type::I32, &[value, by])
            }
            _ => {
                let by = self.builder.int(Type::I32, factor.into());
                self.builder.op(Op::Mul, Type::I32, &[value, by])
            }
        }
    }

    /// Returns an `i32` parameter whose argument is a small number.
    pub(super) fn small_param(&mut self) -> Option<Value> {
        let kernel = self.builder.kernel();
        let is_small = |param: &&crate::Param| param.name.starts_with(SMALL);
        let known: Vec<Value> = kernel.params.iter().filter(is_small).map(|param| param.value).collect();
        if known.len() > 1 || !known.is_empty() && self.one_in(2) {
            return self.pick(&known);
        }
        self.palette.takes(GeneratedForm::Scalar(Type::I32)).then(|| {
            let name = format!("{SMALL}{}", self.builder.kernel().params.len());
            self.builder.scalar(&name, Type::I32)
        })
    }

    /// Returns an `in` buffer for a load of type `ty`. The buffer usually has this element type.
    fn input(&mut self, ty: Type) -> Input {
        let fitting: Vec<Input> = self.inputs.iter().copied().filter(|input| input.elem == ty).collect();
        match self.pick(&fitting) {
            Some(input) if !self.one_in(6) => input,
            _ => {
                let stored: Vec<Type> = self.palette.types.iter().copied().filter(|&ty| is_stored(ty)).collect();
                let elem = if self.one_in(4) { self.pick(&stored).unwrap_or(ty) } else { ty };
                let base = self.buffer("x", Direction::In, elem);
                let input = Input { base, elem };
                self.inputs.push(input);
                input
            }
        }
    }

    fn buffer(&mut self, name: &str, direction: Direction, elem: Type) -> Value {
        let name = format!("{name}{}", self.builder.kernel().params.len());
        self.builder.buffer_aligned(&name, direction, elem, elem.bytes().max(16))
    }

    /// Returns a location for `count` consecutive values in the item's own row of a written buffer. The location can be
    /// one of an earlier access. If addresses are affine, different locations do not overlap.
    fn own_place(&mut self, ty: Type, count: u32, loads: bool) -> Option<Location> {
        let bytes = ty.bytes();
        if count == 1 && self.one_in(4) {
            let before: Vec<Location> = self.visited.iter().copied().filter(|place| place.ty == ty).collect();
            if let Some(place) = self.pick(&before) {
                return Some(place);
            }
        }
        let pointers: Vec<Value> = self.scope.iter().copied().filter(|&value| self.ty(value) == Type::PTR).collect();
        if let Some(base) = self.pick(&pointers).filter(|_| self.one_in(3)) {
            return Some(self.by_pointer(ty, base, count));
        }
        // The row must have space for all values of an induction variable in the address.
        let counter = if self.one_in(2) { self.counter() } else { None };
        let counter = counter.filter(|_| bytes * (count + TRIPS) <= ROW);
        let elements = count + if counter.is_some() { TRIPS } else { 0 };
        let number = self.rows_with(ty, bytes * elements, loads);
        let affine = self.is_affine();
        let free = self.rows.get(number).map_or(0, |rows| (rows.stride - bytes * elements) / bytes);
        let any = self.random.below(free as usize + 1) as u32 * bytes;
        let rows = self.rows.get_mut(number)?;
        let first = if affine { rows.used.next_multiple_of(bytes) } else { any };
        rows.used = rows.used.max(first + bytes * elements);
        let Rows { base, stride, shift, .. } = *rows;
        let item = self.item?;
        let (scale, index) = match counter {
            None if first == 0 && shift == 0 && count == 1 && self.one_in(3) => (stride, item),
            None => (bytes, self.times(item, stride / bytes)),
            Some(counter) => {
                let own = self.times(item, stride / bytes);
                (bytes, self.builder.op(Op::Add, Type::I32, &[own, counter]))
            }
        };
        let offset = first as i32 - shift as i32;
        let mem = MemAttr { scale, offset, align: bytes, wide: !affine && self.is_wide(index) };
        Some(Location { ty, mem, base, index: Some(index) })
    }

    /// Returns a location in the item's own row, with a computed pointer as its base.
    fn by_pointer(&mut self, ty: Type, base: Value, count: u32) -> Location {
        let (bytes, slots) = (ty.bytes(), ROW / ty.bytes());
        let slot = self.random.below((slots - count + 1) as usize) as u32;
        let mem = MemAttr { scale: bytes, offset: (slot * bytes) as i32, align: bytes, wide: false };
        if count > 1 || !self.one_in(2) {
            return Location { ty, mem, base, index: None };
        }
        let index = self.operand(Type::I32).map(|data| {
            let mask = self.builder.int(Type::I32, i64::from(slots) - 1);
            self.builder.op(Op::And, Type::I32, &[data, mask])
        });
        Location { ty, mem: MemAttr { offset: if index.is_some() { 0 } else { mem.offset }, ..mem }, base, index }
    }

    /// Returns the index of a buffer whose rows have space for `bytes` more bytes.
    fn rows_with(&mut self, ty: Type, bytes: u32, loads: bool) -> usize {
        let affine = self.is_affine();
        let fits = |rows: &Rows| match affine {
            true => rows.used.next_multiple_of(ty.bytes()) + bytes <= rows.stride && (rows.is_read || !loads),
            false => bytes <= rows.stride && rows.shift.is_multiple_of(ty.bytes()) && (loads || rows.is_written),
        };
        let fitting: Vec<usize> = (0..).zip(&self.rows).filter(|(_, rows)| fits(rows)).map(|(n, _)| n).collect();
        match self.pick(&fitting) {
            Some(rows) if !self.one_in(8) => rows,
            _ => {
                let strides = [bytes.next_power_of_two(), 16, ROW, ROW];
                let stride = self.pick(&strides).unwrap_or(ROW).max(bytes.next_power_of_two());
                let elem = if self.one_in(2) { ty } else { Type::I32 };
                self.new_rows(elem, stride, loads)
            }
        }
    }

    fn new_rows(&mut self, elem: Type, stride: u32, loads: bool) -> usize {
        let is_read = loads || self.one_in(2);
        let base = self.buffer("y", if is_read { Direction::InOut } else { Direction::Out }, elem);
        let rows = Rows { base, stride, used: 0, is_read, is_written: true, shift: 0 };
        self.rows.push(rows);
        let number = self.rows.len() - 1;
        if is_read && !self.is_affine() && self.one_in(3) {
            self.builder.may_alias();
            self.overlap(rows);
        }
        number
    }

    /// Adds a parameter that is an alias of the buffer of `rows`. Each item accesses the same bytes
    /// through both parameters.
    fn overlap(&mut self, rows: Rows) {
        let shift = self.pick(&[0_u32, 0, 4, 8, 16]).unwrap_or(0);
        let stored: Vec<Type> = self.palette.types.iter().copied().filter(|&ty| is_stored(ty)).collect();
        let Some(elem) = self.pick(&stored) else { return };
        let kernel = self.builder.kernel();
        let Some(of) = kernel.value_name(rows.base) else { return };
        let name = format!("{ALIAS}{}_{of}_{shift}", kernel.params.len());
        let is_written = !self.one_in(3);
        let direction = if is_written { Direction::InOut } else { Direction::In };
        let align = if shift == 0 { elem.bytes().max(16) } else { 1 << shift.trailing_zeros() };
        let base = self.builder.buffer_aligned(&name, direction, elem, align);
        if is_written || self.one_in(2) {
            self.builder.may_alias();
        }
        self.rows.push(Rows { base, is_written, shift, ..rows });
    }

    /// Returns the address of the item's own row in a written buffer.
    pub(super) fn own_row(&mut self) -> Option<Value> {
        let whole: Vec<usize> = (0..)
            .zip(&self.rows)
            .filter(|(_, rows)| rows.stride == ROW && rows.is_written && rows.shift == 0)
            .map(|(n, _)| n)
            .collect();
        let number = match self.pick(&whole) {
            Some(number) => number,
            None => self.new_rows(Type::I32, ROW, false),
        };
        let base = self.rows.get(number)?.base;
        let step = self.builder.int(Type::I32, ROW.into());
        let offset = self.builder.op(Op::MulWideU, Type::I32, &[self.item?, step]);
        Some(self.builder.op(Op::PtrAdd, Type::PTR, &[base, offset]))
    }

    /// Generates an access that traps for at least some of the items that execute it.
    pub(super) fn trapping_access(&mut self) {
        let stored: Vec<Type> = self.palette.types.iter().copied().filter(|&ty| is_stored(ty)).collect();
        let Some(ty) = self.pick(&stored).filter(|_| self.may_access(1)) else { return };
        let stores = self.one_in(3);
        if stores && !self.is_affine() && self.one_in(4) {
            return self.store_read_only(ty);
        }
        // The access can write the bytes of other items, so it goes to a new buffer.
        let mut place = match stores {
            false => self.input_place(ty),
            true => {
                let base = self.buffer("y", Direction::Out, ty);
                let mem = MemAttr { scale: ty.bytes(), offset: 0, align: ty.bytes(), wide: false };
                Location { ty, mem, base, index: self.item }
            }
        };
        let Some(item) = self.item else { return };
        match self.random.below(5) {
            0 => place.mem.offset = self.pick(&FAR).unwrap_or(0),
            1 if ty.bytes() > 1 => {
                let offset = 1 + self.random.below(ty.bytes() as usize - 1) as i32;
                place.mem = MemAttr { scale: 1, offset, wide: place.mem.wide && !self.is_affine(), ..place.mem };
                place.index = Some(self.times(item, ty.bytes()));
            }
            2 if ty.bytes() > 1 && !stores => (place.mem.scale, place.index) = (1, Some(item)),
            3 if !stores && !self.is_affine() => place.index = self.operand(Type::I32),
            _ => {
                place.mem.wide &= !self.is_affine();
                let factor = 5 + self.random.below(200) as u32;
                place.index = Some(self.times(item, factor));
            }
        }
        if !stores {
            let value = self.load_at(place);
            self.scope.push(value);
        } else if let Some(value) = self.operand(ty) {
            self.store_at(place, value);
        }
    }

    /// Generates a store to an `in` buffer through a computed pointer, which the verifier cannot detect.
    fn store_read_only(&mut self, ty: Type) {
        let Some(value) = self.operand(ty) else { return };
        let base = self.input(ty).base;
        let distance = self.builder.int(Type::I64, i64::from(ty.bytes() * self.random.below(4) as u32));
        let base = self.builder.op(Op::PtrAdd, Type::PTR, &[base, distance]);
        let mem = MemAttr { scale: ty.bytes(), offset: 0, align: ty.bytes(), wide: false };
        self.store_at(Location { ty, mem, base, index: self.item }, value);
    }

    /// Generates stores of all unused values, or of all values if `all`, each to a separate location. If addresses are
    /// affine, combines values first, because the number of accesses is limited.
    pub(super) fn observe(&mut self, all: bool) {
        let used = uses(self.builder.kernel());
        let wanted: Vec<Value> = self.scope.iter().copied().filter(|value| all || !used.contains(value)).collect();
        let mut values = Vec::with_capacity(wanted.len());
        for value in wanted {
            values.extend(storable(&mut self.builder, value));
        }
        if self.is_affine() {
            values = self.joined(&values);
        }
        let mut rows: Vec<(Type, Rows)> = Vec::new();
        for value in values {
            let ty = self.ty(value);
            let number = match rows.iter().position(|(of, rows)| *of == ty && rows.used + ty.bytes() <= rows.stride) {
                Some(number) => number,
                None => {
                    let stride = if self.one_in(2) { ty.bytes() } else { ROW };
                    let base = self.buffer("r", Direction::Out, ty);
                    rows.push((ty, Rows { base, stride, used: 0, is_read: false, is_written: true, shift: 0 }));
                    rows.len() - 1
                }
            };
            let Some((_, rows)) = rows.get_mut(number) else { return };
            let Rows { base, stride, used, .. } = *rows;
            rows.used += ty.bytes();
            let Some(item) = self.item else { return };
            let index = self.times(item, stride / ty.bytes());
            self.builder.store(ty, value, base, (index, (used / ty.bytes()) as i32));
        }
    }

    /// Combines all values of the same size by XOR. Returns one value per size.
    fn joined(&mut self, values: &[Value]) -> Vec<Value> {
        let mut joined: Vec<(Type, Value)> = Vec::new();
        for &value in values {
            let ty = self.ty(value);
            let as_integer = match ty.bits() {
                _ if ty.is_int() && ty != Type::I16X2 => ty,
                16 => Type::I16,
                32 => Type::I32,
                _ => ty,
            };
            let cast = OpForm { from: Some(ty), ..OpForm::plain(Op::Bitcast, as_integer) };
            let value = match ty == as_integer {
                false if self.palette.takes(GeneratedForm::Op(cast)) => {
                    self.builder.op(Op::Bitcast, as_integer, &[value])
                }
                _ => value,
            };
            let ty = self.ty(value);
            match joined.iter_mut().find(|(of, _)| *of == ty && ty.is_int()) {
                Some((_, all)) => *all = self.builder.op(Op::Xor, ty, &[*all, value]),
                None => joined.push((ty, value)),
            }
        }
        joined.into_iter().map(|(_, value)| value).collect()
    }
}

// The trip count of a loop can be a parameter with a small value, which is at most `MOST`.
const _: () = assert!(MOST <= TRIPS);
