//! Code for memory accesses: addresses, bounds and alignment checks, loads and stores.

use std::ops::Range;

use halfbyte_isa::halu::domain::Width;

use super::{Do, Emitter, MOST_WINDOWS, SCRATCH, at};
use crate::jit::sized::access::Where;
use crate::jit::sized::encode::*;
use crate::jit::sized::graph::{LANES, Memory, Node, Pattern, Place, Vector};
use crate::jit::sized::walk::Sink;

/// Accesses of a segment to one buffer whose addresses differ only by constants. One check of both ends covers all
/// accesses.
pub(super) struct Window {
    place: Place,
    args: Where,
    /// Distances of the first byte and of the byte after the last.
    bytes: Range<i64>,
    /// Slot of the checked base address, from which distances are measured.
    slot: i32,
    is_open: bool,
}

/// Returns the distances of the bytes of an access from the base of its window. Returns `None` if the access belongs to
/// no window.
fn in_window(place: &Place) -> Option<Range<i64>> {
    if place.pattern == Pattern::Each || place.memory == Memory::Shared {
        return None;
    }
    let bytes = i64::from(place.width.bytes());
    let start = i64::from(place.start.cast_signed()) * i64::from(place.scale) + i64::from(place.disp);
    let count = match place.pattern {
        Pattern::Contiguous => 16 - place.mask.leading_zeros() - place.mask.trailing_zeros(),
        _ => 1,
    };
    let end = start + bytes * i64::from(count);
    let is_near = |at: i64| i32::try_from(at).is_ok_and(|at| at.checked_abs().is_some_and(|at| at < 1 << 30));
    (start % i64::from(place.align) == 0 && is_near(start) && is_near(end)).then_some(start..end)
}

/// Returns the place that identifies the window of an access.
fn of_window(place: &Place) -> Place {
    Place { pattern: Pattern::Same, start: 0, disp: 0, width: Width::B8, mask: 0, ..*place }
}

impl Emitter<'_> {
    /// Finds the windows of a segment.
    pub(super) fn find_windows(&mut self, number: usize, order: &[Do]) {
        self.windows.clear();
        for what in order {
            let (place, args): (Place, Where) = match *what {
                Do::Vector(node) => match self.graph.step(node) {
                    step if let Vector::Load(place, _) = step.vector => (place, step.args().iter().copied().collect()),
                    _ => continue,
                },
                Do::Sink(at) => match &self.segments[number].sinks[at] {
                    Sink::Store { place, at, .. } => (*place, at.clone()),
                    _ => continue,
                },
                Do::End => continue,
            };
            let Some(bytes) = in_window(&place) else { continue };
            let place = of_window(&place);
            match self.windows.iter_mut().find(|window| window.place == place && window.args == args) {
                Some(Window { bytes: all, .. }) => *all = all.start.min(bytes.start)..all.end.max(bytes.end),
                None => {
                    let slot = self.windows.len() as i32;
                    if slot < MOST_WINDOWS {
                        self.windows.push(Window { place, args, bytes, slot, is_open: false });
                    }
                }
            }
        }
    }

    /// Loads the base address of the window of an access into AX. Returns the distance of the access from this base, or
    /// `None` if the access belongs to no window. The first call checks the bounds of the window.
    pub(super) fn window(&mut self, place: &Place, args: &[Node]) -> Option<i32> {
        let distance = in_window(place)?.start as i32;
        let of = of_window(place);
        let number = self.windows.iter().position(|window| window.place == of && window.args.as_slice() == args)?;
        let Window { bytes: Range { start, end }, slot, is_open, .. } = self.windows[number];
        let slot = self.layout.windows + 8 * slot;
        if is_open {
            self.assembler.load(Size::Qword, AX, memory(FRAME, slot));
            return Some(distance);
        }
        self.windows[number].is_open = true;
        let (offset, base) = of.operands(args);
        base.into_iter().for_each(|base| self.word(R9, base));
        self.offset(&of, offset);
        self.address(&Place { disp: start as i32, ..of }, (end - start) as i32);
        let a = &mut self.assembler;
        a.alu_immediate(Alu::Add, Size::Qword, general(AX), -(start as i32));
        a.store(Size::Qword, AX, Address::at(FRAME, slot));
        Some(distance)
    }

    /// Loads a uniform word into a general register.
    pub(super) fn word(&mut self, to: u8, node: Node) {
        if let Some(register) = self.register_of(node) {
            return self.assembler.first_lane(to, register);
        }
        match self.in_memory(node) {
            Operand::Word(base, at) | Operand::Memory(base, at) => {
                self.assembler.load(Size::Dword, to, memory(base, at))
            }
            Operand::PoolWord(word) => self.assembler.set(to, word),
            Operand::Register(_) | Operand::Pool(_) | Operand::PoolScalar(_) => {
                let register = self.register(node);
                self.assembler.first_lane(to, register);
            }
        }
    }

    /// Loads the offset of the first active item of an access into AX.
    fn offset(&mut self, place: &Place, offset: Option<Node>) {
        match offset {
            None => self.assembler.set(AX, place.start),
            Some(node) => {
                self.word(AX, node);
                if place.start != 0 {
                    self.assembler.alu_immediate(Alu::Add, Size::Dword, general(AX), place.start.cast_signed());
                }
            }
        }
    }

    /// Converts the offset in AX to an address in this process. Gives the group up if the `bytes` bytes at the address
    /// are out of bounds or misaligned.
    fn address(&mut self, place: &Place, bytes: i32) {
        let a = &mut self.assembler;
        if place.is_signed {
            a.extend_sign(AX);
        }
        if place.scale != 1 {
            a.multiply(AX, place.scale.cast_signed());
        }
        if place.disp != 0 {
            a.alu_immediate(Alu::Add, Size::Qword, general(AX), place.disp);
        }
        if place.has_base {
            a.alu(Alu::Add, Size::Qword, AX, general(R9));
        }
        if place.align > 1 {
            a.test_bits(AX, place.align - 1);
            a.jump_if(Condition::NotEqual, self.give_up);
        }
        match place.memory {
            Memory::Shared | Memory::Private => {
                match self.shared_bytes.cast_signed().checked_sub(bytes).filter(|&last| last >= 0) {
                    Some(last) => {
                        a.alu_immediate(Alu::Compare, Size::Qword, general(AX), last);
                        a.jump_if(Condition::Above, self.give_up);
                    }
                    None => a.jump(self.give_up),
                }
                a.alu(Alu::Add, Size::Qword, AX, general(SHARED));
            }
            Memory::Buffer(offset) => {
                let number = self.layout.buffers.iter().position(|&other| other == offset).unwrap_or(0);
                let at = at::BUFFERS + 16 * number as i32;
                a.load(Size::Qword, CX, memory(FRAME, at + 8));
                a.alu_immediate(Alu::Sub, Size::Qword, general(CX), bytes);
                a.jump_if(Condition::Below, self.give_up);
                a.alu(Alu::Compare, Size::Qword, AX, general(CX));
                a.jump_if(Condition::Above, self.give_up);
                a.alu(Alu::Add, Size::Qword, AX, memory(FRAME, at));
            }
        }
    }

    /// Returns the offset in shared memory of an access with constant offsets, which the walk has already checked.
    /// Returns `None` for other memory.
    fn fixed(&self, place: &Place, offset: u32) -> Option<i32> {
        (place.memory == Memory::Shared).then(|| offset.cast_signed().wrapping_add(place.disp))
    }

    /// Returns the operand of a contiguous access, as if lane 0 were active.
    fn side_by_side(&mut self, place: &Place, args: &[Node]) -> Operand {
        let bytes = place.width.bytes().cast_signed();
        let (first, last) = (place.mask.trailing_zeros().cast_signed(), 15 - place.mask.leading_zeros().cast_signed());
        let (offset, base) = place.operands(args);
        if let (None, Some(at)) = (offset, self.fixed(place, place.start)) {
            return Operand::Memory(SHARED, at - bytes * first);
        }
        if let Some(distance) = self.window(place, args) {
            return Operand::Memory(AX, distance - bytes * first);
        }
        base.into_iter().for_each(|base| self.word(R9, base));
        self.offset(place, offset);
        self.address(place, bytes * (last - first + 1));
        Operand::Memory(AX, -bytes * first)
    }

    /// Calls `done` for each active item with the lane and the address of its element: a base register and a
    /// displacement.
    fn each(&mut self, place: &Place, args: &[Node], mut done: impl FnMut(&mut Self, u8, (u8, i32))) {
        let offsets = self.layout.row(0);
        let (offset, base) = place.operands(args);
        let lanes = (0..LANES).filter(|lane| place.mask >> lane & 1 != 0);
        if let Some(Vector::Known(known)) = offset.map(|offset| self.graph.step(offset).vector)
            && place.memory == Memory::Shared
        {
            let words = self.graph.known(known);
            for lane in lanes {
                if let Some(at) = self.fixed(place, words[lane]) {
                    done(self, lane as u8, (SHARED, at));
                }
            }
            return;
        }
        base.into_iter().for_each(|base| self.word(R9, base));
        if let Some(node) = offset {
            let register = self.register(node);
            self.assembler.lanes(&VMOVDQU_STORE, register, 0, Operand::Memory(FRAME, offsets));
        }
        for lane in lanes {
            self.assembler.load(Size::Dword, AX, memory(FRAME, offsets + 4 * lane as i32));
            self.address(place, place.width.bytes().cast_signed());
            done(self, lane as u8, (AX, 0));
        }
    }

    pub(super) fn load(&mut self, at: u32, place: &Place, args: &[Node], signed: bool) -> u8 {
        let size = if place.width == Width::B16 { Size::Word } else { Size::Byte };
        match place.pattern {
            Pattern::Same => {
                let bytes = place.width.bytes().cast_signed();
                let (offset, base) = place.operands(args);
                let (from, by) = match (offset, self.fixed(place, place.start)) {
                    (None, Some(at)) => (SHARED, at),
                    _ if let Some(distance) = self.window(place, args) => (AX, distance),
                    _ => {
                        base.into_iter().for_each(|base| self.word(R9, base));
                        self.offset(place, offset);
                        self.address(place, bytes);
                        (AX, 0)
                    }
                };
                let result = self.result(at, args);
                if place.width == Width::B32 {
                    self.assembler.lanes(&VPBROADCASTD, result, 0, Operand::Memory(from, by));
                } else {
                    self.assembler.load_extended(size, signed, AX, Address::at(from, by));
                    self.assembler.lanes(&VPBROADCASTD_GENERAL, result, 0, Operand::Register(AX));
                }
                result
            }
            Pattern::Contiguous => {
                let from = self.side_by_side(place, args);
                let result = self.result(at, args);
                let row = match (place.width, signed) {
                    (Width::B8, false) => &VPMOVZXBD,
                    (Width::B8, true) => &VPMOVSXBD,
                    (Width::B16, false) => &VPMOVZXWD,
                    (Width::B16, true) => &VPMOVSXWD,
                    _ => &VMOVDQU_LOAD,
                };
                if place.mask == u16::MAX {
                    self.assembler.lanes(row, result, 0, from);
                } else {
                    self.assembler.set_mask(place.mask);
                    self.assembler.load_masked(row, result, from);
                }
                result
            }
            Pattern::Each => {
                // Load each word separately. A vector load after single stores would miss store forwarding and wait for
                // all stores.
                self.each(place, args, |emitter, lane, (from, by)| {
                    let a = &mut emitter.assembler;
                    let from = match place.width {
                        Width::B8 | Width::B16 => {
                            a.load_extended(size, signed, CX, Address::at(from, by));
                            Operand::Register(CX)
                        }
                        _ => Operand::Memory(from, by),
                    };
                    a.insert_lane(SCRATCH + lane / 4, lane % 4, from);
                });
                for four in 1..4 {
                    self.assembler.insert_quarter(SCRATCH, SCRATCH + four, four);
                }
                let result = self.result(at, args);
                self.assembler.lanes(&VMOVDQU_LOAD, result, 0, Operand::Register(SCRATCH));
                result
            }
        }
    }

    pub(super) fn store(&mut self, place: &Place, args: &[Node], data: Node) {
        let data = self.register(data);
        if place.pattern == Pattern::Each {
            let stored = self.layout.row(1);
            self.assembler.lanes(&VMOVDQU_STORE, data, 0, Operand::Memory(FRAME, stored));
            return self.each(place, args, |emitter, lane, (to, by)| {
                let a = &mut emitter.assembler;
                a.load(Size::Dword, CX, memory(FRAME, stored + 4 * i32::from(lane)));
                match place.width {
                    Width::B8 => a.store(Size::Byte, CX, Address::at(to, by)),
                    Width::B16 => a.store(Size::Word, CX, Address::at(to, by)),
                    _ => a.store(Size::Dword, CX, Address::at(to, by)),
                }
            });
        }
        let to = self.side_by_side(place, args);
        let row = match place.width {
            Width::B8 => &VPMOVDB,
            Width::B16 => &VPMOVDW,
            _ => &VMOVDQU_STORE,
        };
        if place.mask == u16::MAX {
            self.assembler.lanes(row, data, 0, to);
        } else {
            self.assembler.set_mask(place.mask);
            self.assembler.store_masked(row, data, to);
        }
    }
}
