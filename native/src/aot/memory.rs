//! Checked accesses to memory.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I16, I32, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, StackSlot, Value};
use halfbyte_isa::atomic::{AtomicOp, apply_atomic_to_registers};
use halfbyte_isa::halu::domain::{Domain, LOCAL_WINDOW, WINDOW_BYTES, Width};
use halfbyte_isa::object::PartialAccess;
use halfbyte_isa::ptx::meaning::{CONST_SPACE, PARAM_WINDOW};
use smallvec::SmallVec;

use super::item::Item;
use super::scalar::Scalar;
use super::status::{Status, address_of};
use crate::jit::{Access, Action, Id, Location, Reach, Scale};
use halfbyte_isa::trap::{self, Space};

/// Returns the flags of an access to valid memory, without an alignment requirement.
pub(super) fn here() -> MemFlagsData {
    let mut flags = MemFlagsData::new();
    flags.set_notrap();
    flags
}

/// Memory of a buffer.
#[derive(Clone, Copy)]
pub(super) struct BufferValues {
    pub start: Value,
    /// Size in bytes.
    pub bytes: Value,
    pub is_written: bool,
    /// `true` if the buffer may not share a byte with another buffer.
    pub is_unique: bool,
}

/// Address of a checked access.
#[derive(Clone, Copy)]
struct Place {
    at: Value,
    /// `true` if the address is in global memory.
    is_global: bool,
}

/// Description of an invalid access.
#[derive(Clone, Copy)]
struct Why {
    status: Value,
    address: Value,
    /// Source line of the failing part, if the access combines several accesses of the source.
    line: Option<Value>,
}

/// Properties of an access that the check needs.
#[derive(Clone, Copy)]
struct Checked {
    /// Number of the instruction.
    word: u32,
    access: trap::Access,
    width: Width,
    is_atomic: bool,
}

impl Item<'_, '_, '_, '_> {
    /// Emits an access, which is executed if its guard is true.
    pub fn access(&mut self, number: u32, access: &Access) {
        let words = match &access.action {
            Action::Load { width, .. } => width.registers(),
            Action::Atomic { width, returns: true, .. } => width.registers(),
            _ => 0,
        };
        let Some(guard) = access.guard else {
            let loaded = self.made(access);
            return self.keep(number, &loaded);
        };
        let guard = self.value(guard);
        let (made, after) = (self.s.b.create_block(), self.s.b.create_block());
        let loaded: SmallVec<[Value; 4]> = (0..words).map(|_| self.s.b.append_block_param(after, I32)).collect();
        let none = self.s.word(0);
        let nothing: SmallVec<[_; 4]> = (0..words).map(|_| none.into()).collect();
        self.s.b.ins().brif(guard, made, &[], after, &nothing);
        self.s.b.switch_to_block(made);
        let found = self.made(access);
        let found: SmallVec<[_; 4]> = found.iter().map(|&word| word.into()).collect();
        self.s.b.ins().jump(after, &found);
        self.s.b.switch_to_block(after);
        self.keep(number, &loaded);
    }

    /// Emits an access without its guard. Returns the loaded words.
    fn made(&mut self, access: &Access) -> SmallVec<[Value; 4]> {
        let word = access.address;
        let of = |access, width| Checked { word, access, width, is_atomic: false };
        match &access.action {
            &Action::Load { place, width, signed } => match self.place(place, of(trap::Access::Load, width)) {
                Some(place) => load(&mut self.s, place.at, width, signed),
                None => self.nothing(width),
            },
            &Action::Store { place, width, ref data } => {
                let data: SmallVec<[Value; 4]> = data.iter().map(|&word| self.value(word)).collect();
                if let Some(place) = self.place(place, of(trap::Access::Store, width)) {
                    store(&mut self.s, place.at, width, &data);
                }
                SmallVec::new()
            }
            &Action::Atomic { place, width, change, ref operands, returns } => {
                let operands: SmallVec<[Value; 8]> = operands.iter().map(|&word| self.value(word)).collect();
                let checked = Checked { is_atomic: true, ..of(trap::Access::Store, width) };
                let old = match self.place(place, checked) {
                    Some(place) => self.change(place, width, change, &operands),
                    None => self.nothing(width),
                };
                if returns { old } else { SmallVec::new() }
            }
            Action::Fence => SmallVec::new(),
            Action::Fault(kind) => {
                let address = self.s.constant(I64, address_of(kind));
                self.trap(Status::of(kind), word, address);
                SmallVec::new()
            }
        }
    }

    /// Returns placeholder words of an access that never executes.
    fn nothing(&mut self, width: Width) -> SmallVec<[Value; 4]> {
        let zero = self.s.word(0);
        (0..width.registers()).map(|_| zero).collect()
    }

    /// Applies an atomic operation to memory. A plain load and store suffice, because items run one after another.
    fn change(&mut self, place: Place, width: Width, change: AtomicOp, operands: &[Value]) -> SmallVec<[Value; 4]> {
        let found = load(&mut self.s, place.at, width, false);
        let new = apply_atomic_to_registers(&mut self.s, change, width, &found, operands, place.is_global);
        store(&mut self.s, place.at, width, &new);
        found
    }

    /// Returns the checked address of an access. Returns `None` if the access is always invalid; the item has then
    /// trapped.
    fn place(&mut self, place: Location, of: Checked) -> Option<Place> {
        match place {
            Location::Global { offset, base, imm, scale } => {
                let offset = self.offset(offset, imm, scale);
                self.global(base, offset, of)
            }
            Location::Constant { bank, offset, imm } => {
                let offset = self.value(offset);
                let address = self.s.b.ins().iadd_imm_s(offset, i64::from(imm));
                let address = self.s.b.ins().uextend(I64, address);
                self.constant_bank(bank, address, of)
            }
            Location::Own { space, offset, imm } => {
                let address = self.offset(offset, imm, Scale::BYTES);
                match space {
                    Space::Local => self.local(address, of),
                    _ => self.never(Status::OutOfBounds, of, address),
                }
            }
            Location::Flat { offset, base, imm, reach } => {
                let offset = self.offset(offset, imm, Scale::BYTES);
                match reach {
                    Reach::In(Space::Local) => {
                        let address = self.sum(base, offset);
                        self.local(address, of)
                    }
                    Reach::In(Space::Constant(bank)) => {
                        let address = self.sum(base, offset);
                        self.constant_bank(bank, address, of)
                    }
                    Reach::In(Space::Global) => self.global(base, offset, of),
                    Reach::Any { params } => self.anywhere(base, offset, params, of),
                    // The address of a constant buffer is that of global memory, except for one bit.
                    Reach::Constants => {
                        let address = self.sum(base, offset);
                        let address = self.s.b.ins().bxor_imm_s(address, CONST_SPACE.cast_signed());
                        self.found(address, of)
                    }
                    Reach::In(Space::Shared) => {
                        let address = self.sum(base, offset);
                        self.never(Status::OutOfBounds, of, address)
                    }
                }
            }
        }
    }

    /// Returns an offset in 64 bits.
    pub fn offset(&mut self, offset: Id, imm: i32, scale: Scale) -> Value {
        if let Some(word) = self.dataflow().constant(offset) {
            return self.s.constant(I64, scale.of(word).wrapping_add_signed(imm.into()));
        }
        let (word, imm) = (self.value(offset), i64::from(imm));
        let wide = if scale.signed { self.s.b.ins().sextend(I64, word) } else { self.s.b.ins().uextend(I64, word) };
        let scaled = match scale.by {
            1 => wide,
            by if by.is_power_of_two() => self.s.b.ins().ishl_imm_s(wide, i64::from(by.ilog2())),
            by => self.s.b.ins().imul_imm_s(wide, i64::from(by)),
        };
        if imm == 0 { scaled } else { self.s.b.ins().iadd_imm_s(scaled, imm) }
    }

    pub fn sum(&mut self, base: [Id; 2], offset: Value) -> Value {
        let words = base.map(|word| self.value(word));
        let base = self.s.join(words);
        self.s.b.ins().iadd(base, offset)
    }

    /// Emits a trap for an access that is always invalid.
    fn never(&mut self, status: Status, of: Checked, address: Value) -> Option<Place> {
        let status = self.of_alignment(address, of.width, status);
        self.trap_with(status, of.word, address);
        None
    }

    /// Returns `Misaligned` if an address is misaligned, and `status` otherwise.
    fn of_alignment(&mut self, address: Value, width: Width, status: Status) -> Value {
        let otherwise = self.s.constant(I32, status.code().cast_unsigned().into());
        if width == Width::B8 {
            return otherwise;
        }
        let rest = self.s.b.ins().band_imm_s(address, i64::from(width.bytes() - 1));
        let misaligned = self.s.constant(I32, Status::Misaligned.code().cast_unsigned().into());
        self.s.b.ins().select(rest, misaligned, otherwise)
    }

    /// Returns `true` if an access at an offset is aligned and lies within memory of `bytes` bytes.
    fn is_within(&mut self, offset: Value, bytes: Value, width: Width) -> Value {
        let b = &mut self.s.b;
        let is_in = if width == Width::B8 {
            b.ins().icmp(IntCC::UnsignedLessThan, offset, bytes)
        } else {
            // An aligned access fits if its first byte lies in the whole units of the memory.
            let whole = b.ins().band_imm_s(bytes, -i64::from(width.bytes()));
            b.ins().icmp(IntCC::UnsignedLessThan, offset, whole)
        };
        if width == Width::B8 {
            return is_in;
        }
        let rest = self.s.b.ins().band_imm_s(offset, i64::from(width.bytes() - 1));
        let is_aligned = self.s.b.ins().icmp_imm_s(IntCC::Equal, rest, 0);
        self.s.b.ins().band(is_in, is_aligned)
    }

    /// Continues if `holds` is true. Otherwise, the item traps in a cold block.
    fn or_trap(&mut self, holds: Value, of: Checked, trap: impl FnOnce(&mut Self) -> Why) {
        let (on, cold) = (self.s.b.create_block(), self.s.b.create_block());
        self.s.b.set_cold_block(cold);
        self.s.b.ins().brif(holds, on, &[], cold, &[]);
        self.s.b.switch_to_block(cold);
        let Why { status, address, line } = trap(self);
        self.jump_to_trap(status, (of.word, line), address);
        self.s.b.switch_to_block(on);
    }

    /// Returns the address of an access to local memory.
    fn local(&mut self, address: Value, of: Checked) -> Option<Place> {
        let Some((slot, bytes)) = self.frame.scratch.filter(|_| !of.is_atomic) else {
            return self.never(Status::OutOfBounds, of, address);
        };
        let start = i64::try_from(self.frame.scratch_start).unwrap_or(0);
        let offset = if start == 0 { address } else { self.s.b.ins().iadd_imm_s(address, -start) };
        let held = self.s.constant(I64, bytes.into());
        let holds = self.is_within(offset, held, of.width);
        self.or_trap(holds, of, |item| item.outside(address, of));
        Some(self.in_slot(slot, offset))
    }

    fn outside(&mut self, address: Value, of: Checked) -> Why {
        Why { status: self.of_alignment(address, of.width, Status::OutOfBounds), address, line: None }
    }

    fn in_slot(&mut self, slot: StackSlot, offset: Value) -> Place {
        let start = self.s.b.ins().stack_addr(I64, slot, 0);
        Place { at: self.s.b.ins().iadd(start, offset), is_global: false }
    }

    /// Returns the address of an access to constant bank 0, which must lie within one part.
    fn constant_bank(&mut self, bank: u8, address: Value, of: Checked) -> Option<Place> {
        let Some(slot) = self.frame.bank.filter(|_| bank == 0 && of.access == trap::Access::Load) else {
            return self.never(Status::OutOfBounds, of, address);
        };
        let holds = self.in_parts(address, of.width);
        self.or_trap(holds, of, |item| item.outside(address, of));
        Some(self.in_slot(slot, address))
    }

    /// Returns `true` if an access is aligned and lies within a part of the bank.
    fn in_parts(&mut self, address: Value, width: Width) -> Value {
        let mut holds = None;
        for [start, end] in self.frame.parts.clone() {
            let offset = self.s.b.ins().iadd_imm_s(address, -i64::from(start));
            let bytes = self.s.constant(I64, u64::from(end - start).saturating_sub(u64::from(width.bytes() - 1)));
            let is_in = self.s.b.ins().icmp(IntCC::UnsignedLessThan, offset, bytes);
            holds = Some(holds.map_or(is_in, |holds| self.s.b.ins().bor(holds, is_in)));
        }
        let Some(holds) = holds else { return self.s.truth(false) };
        let rest = self.s.b.ins().band_imm_s(address, i64::from(width.bytes() - 1));
        let is_aligned = self.s.b.ins().icmp_imm_s(IntCC::Equal, rest, 0);
        self.s.b.ins().band(holds, is_aligned)
    }

    /// Returns the address of an access to global memory: in the buffer whose address is `base`, or in any buffer.
    fn global(&mut self, base: [Id; 2], offset: Value, of: Checked) -> Option<Place> {
        if let Some(buffer) = self.buffer_at(base) {
            return self.in_buffer(buffer, offset, of);
        }
        let address = self.sum(base, offset);
        self.found(address, of)
    }

    /// Returns the address of an access to any buffer.
    fn found(&mut self, address: Value, of: Checked) -> Option<Place> {
        let found = self.search(address, of);
        self.or_trap(found, of, |item| item.why_not(address, of));
        Some(Place { at: address, is_global: true })
    }

    fn in_buffer(&mut self, buffer: BufferValues, offset: Value, of: Checked) -> Option<Place> {
        let BufferValues { start, bytes, is_written, is_unique } = buffer;
        let at = self.s.b.ins().iadd(start, offset);
        if of.access == trap::Access::Store && !is_written {
            let why = self.why_not_of(buffer, offset, of);
            self.jump_to_trap(why.status, (of.word, why.line), why.address);
            self.start_unreached();
            return None;
        }
        let holds = self.is_within(offset, bytes, of.width);
        if is_unique || self.frame.buffers.iter().flatten().filter(|other| !other.is_unique).count() < 2 {
            self.or_trap(holds, of, |item| item.why_not_of(buffer, offset, of));
            return Some(Place { at, is_global: true });
        }
        // An address before or after the buffer may lie in a buffer that contains its start.
        let (on, elsewhere) = (self.s.b.create_block(), self.s.b.create_block());
        self.s.b.set_cold_block(elsewhere);
        self.s.b.ins().brif(holds, on, &[], elsewhere, &[]);
        self.s.b.switch_to_block(elsewhere);
        let found = self.search_around(buffer, at, of);
        self.or_trap(found, of, |item| item.why_not_of(buffer, offset, of));
        self.s.b.ins().jump(on, &[]);
        self.s.b.switch_to_block(on);
        Some(Place { at, is_global: true })
    }

    /// Returns the error of an access at an offset in a buffer.
    fn why_not_of(&mut self, buffer: BufferValues, offset: Value, of: Checked) -> Why {
        let status = self.why_not_in(buffer, offset, of);
        let address = self.s.b.ins().iadd(buffer.start, offset);
        let whole = Why { status, address, line: None };
        self.first_part(whole, of, |item, by, part| {
            let offset = item.s.b.ins().iadd_imm_s(offset, by);
            let is_kept = item.is_within(offset, buffer.bytes, part.width);
            let is_allowed = buffer.is_written || part.access == trap::Access::Load;
            let kept = if is_allowed { is_kept } else { item.s.truth(false) };
            (kept, item.why_not_in(buffer, offset, part))
        })
    }

    /// Returns the first failing part of an access that combines several accesses of the source.
    fn first_part(
        &mut self,
        whole: Why,
        of: Checked,
        mut each: impl FnMut(&mut Self, i64, Checked) -> (Value, Value),
    ) -> Why {
        let mut why = whole;
        for part in PartialAccess::of_word(self.parts, of.word).iter().rev() {
            let width = [Width::B8, Width::B16, Width::B32, Width::B64, Width::B128];
            let width = width.into_iter().find(|width| width.bytes() == part.bytes.into()).unwrap_or(of.width);
            let by = i64::from(part.offset);
            let (holds, status) = each(self, by, Checked { width, ..of });
            let address = self.s.b.ins().iadd_imm_s(whole.address, by);
            let line = self.s.word(part.loc.line);
            let of_whole = self.locs.get(of.word as usize).map_or(0, |loc| loc.line);
            let otherwise = why.line.unwrap_or_else(|| self.s.word(of_whole));
            why = Why {
                status: self.s.b.ins().select(holds, why.status, status),
                address: self.s.b.ins().select(holds, why.address, address),
                line: Some(self.s.b.ins().select(holds, otherwise, line)),
            };
        }
        why
    }

    /// Returns the status of an invalid access at an offset in a buffer.
    fn why_not_in(&mut self, buffer: BufferValues, offset: Value, of: Checked) -> Value {
        let status = if of.access == trap::Access::Store && !buffer.is_written {
            let holds = self.is_within(offset, buffer.bytes, of.width);
            let [read_only, outside] = [Status::ReadOnly, Status::OutOfBounds]
                .map(|status| self.s.constant(I32, status.code().cast_unsigned().into()));
            self.s.b.ins().select(holds, read_only, outside)
        } else {
            self.s.constant(I32, Status::OutOfBounds.code().cast_unsigned().into())
        };
        if of.width == Width::B8 {
            return status;
        }
        let rest = self.s.b.ins().band_imm_s(offset, i64::from(of.width.bytes() - 1));
        let misaligned = self.s.constant(I32, Status::Misaligned.code().cast_unsigned().into());
        self.s.b.ins().select(rest, misaligned, status)
    }

    /// Returns `true` if a buffer contains the accessed bytes. Alignment is relative to the start of the buffer.
    /// Returns `None` if the buffer never permits the access.
    fn has(&mut self, buffer: BufferValues, address: Value, of: Checked) -> Option<Value> {
        if of.access == trap::Access::Store && !buffer.is_written {
            return None;
        }
        let offset = self.s.b.ins().isub(address, buffer.start);
        Some(self.is_within(offset, buffer.bytes, of.width))
    }

    /// Returns `true` if any buffer contains the accessed bytes.
    fn search(&mut self, address: Value, of: Checked) -> Value {
        let mut found = None;
        for buffer in self.frame.buffers.clone().into_iter().flatten() {
            let Some(is_in) = self.has(buffer, address, of) else { continue };
            found = Some(found.map_or(is_in, |found| self.s.b.ins().bor(found, is_in)));
        }
        found.unwrap_or_else(|| self.s.truth(false))
    }

    /// Returns `true` if the accessed bytes lie in another buffer that contains the start of `inner`, or ends there.
    fn search_around(&mut self, inner: BufferValues, address: Value, of: Checked) -> Value {
        let mut found = self.s.truth(false);
        for outer in self.frame.buffers.clone().into_iter().flatten() {
            if outer.is_unique || outer.start == inner.start {
                continue;
            }
            let Some(is_in) = self.has(outer, address, of) else { continue };
            let begins = self.s.b.ins().isub(inner.start, outer.start);
            let is_around = self.s.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, begins, outer.bytes);
            let is_in = self.s.b.ins().band(is_in, is_around);
            found = self.s.b.ins().bor(found, is_in);
        }
        found
    }

    /// Returns the error of an access that no buffer permits. The buffer that contains the address determines the
    /// status.
    fn why_not(&mut self, address: Value, of: Checked) -> Why {
        let status = self.status_at(address, of);
        let whole = Why { status, address, line: None };
        self.first_part(whole, of, |item, by, part| {
            let address = item.s.b.ins().iadd_imm_s(address, by);
            (item.search(address, part), item.status_at(address, part))
        })
    }

    fn status_at(&mut self, address: Value, of: Checked) -> Value {
        let mut status = self.of_alignment(address, of.width, Status::OutOfBounds);
        for buffer in self.frame.buffers.clone().into_iter().flatten() {
            let offset = self.s.b.ins().isub(address, buffer.start);
            let is_in = self.s.b.ins().icmp(IntCC::UnsignedLessThan, offset, buffer.bytes);
            let why = self.why_not_in(buffer, offset, of);
            status = self.s.b.ins().select(is_in, why, status);
        }
        status
    }

    /// Returns the address of an access to generic memory: a buffer, or the window of another memory.
    fn anywhere(&mut self, base: [Id; 2], offset: Value, params: bool, of: Checked) -> Option<Place> {
        if let Some(buffer) = self.buffer_at(base) {
            return self.in_buffer(buffer, offset, of);
        }
        let address = self.sum(base, offset);
        let done = self.s.b.create_block();
        let at = self.s.b.append_block_param(done, I64);
        let found = self.search(address, of);
        let mut other = self.s.b.create_block();
        self.s.b.ins().brif(found, done, &[address.into()], other, &[]);
        let scratch = self.frame.scratch.filter(|_| !of.is_atomic);
        if let Some((slot, bytes)) = scratch {
            self.s.b.switch_to_block(other);
            let offset = self.s.b.ins().iadd_imm_s(address, -(LOCAL_WINDOW as i64));
            let start = i64::try_from(self.frame.scratch_start).unwrap_or(0);
            let offset = if start == 0 { offset } else { self.s.b.ins().iadd_imm_s(offset, -start) };
            let held = self.s.constant(I64, bytes.into());
            let holds = self.is_within(offset, held, of.width);
            let place = self.in_slot(slot, offset);
            other = self.s.b.create_block();
            self.s.b.ins().brif(holds, done, &[place.at.into()], other, &[]);
        }
        let bank = self.frame.bank.filter(|_| params && of.access == trap::Access::Load);
        if let Some(slot) = bank {
            self.s.b.switch_to_block(other);
            let offset = self.s.b.ins().iadd_imm_s(address, -(PARAM_WINDOW as i64));
            let holds = self.in_parts(offset, of.width);
            let place = self.in_slot(slot, offset);
            other = self.s.b.create_block();
            self.s.b.ins().brif(holds, done, &[place.at.into()], other, &[]);
        }
        self.s.b.switch_to_block(other);
        self.s.b.set_cold_block(other);
        let Why { status, address, line } = self.why_not(address, of);
        // The address in a window is reported relative to the start of the window.
        let local = self.s.b.ins().iadd_imm_s(address, -(LOCAL_WINDOW as i64));
        let is_local = self.s.b.ins().icmp_imm_s(IntCC::UnsignedLessThan, local, WINDOW_BYTES as i64);
        let named = self.s.b.ins().select(is_local, local, address);
        self.jump_to_trap(status, (of.word, line), named);
        self.s.b.switch_to_block(done);
        Some(Place { at, is_global: true })
    }
}

/// Emits a load. Returns its words.
pub(super) fn load(s: &mut Scalar<'_, '_, '_>, at: Value, width: Width, signed: bool) -> SmallVec<[Value; 4]> {
    let narrow = match width {
        Width::B8 => I8,
        Width::B16 => I16,
        Width::B32 | Width::B64 | Width::B128 => {
            return (0..i32::from(width.registers())).map(|k| s.b.ins().load(I32, here(), at, 4 * k)).collect();
        }
    };
    let value = s.b.ins().load(narrow, here(), at, 0);
    let word = if signed { s.b.ins().sextend(I32, value) } else { s.b.ins().uextend(I32, value) };
    std::iter::once(word).collect()
}

/// Emits a store of words.
pub(super) fn store(s: &mut Scalar<'_, '_, '_>, at: Value, width: Width, data: &[Value]) {
    let narrow = match width {
        Width::B8 => Some(I8),
        Width::B16 => Some(I16),
        Width::B32 | Width::B64 | Width::B128 => None,
    };
    for (k, &word) in (0..).zip(data).take(width.registers().into()) {
        let value = narrow.map_or(word, |ty| s.b.ins().ireduce(ty, word));
        s.b.ins().store(here(), value, at, 4 * k);
    }
}
