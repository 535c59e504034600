//! The processor state for native code, in memory. Native functions load registers from this memory
//! on entry, and store registers to it on exit.

use std::cell::Cell;
use std::mem::offset_of;
use std::sync::LazyLock;

use halfbyte_isa::vp1::data_store::{DATA_STORE_BYTES, DataStore};
use halfbyte_isa::vp1::domain::Shape;
use halfbyte_isa::vp1::state::State;

use crate::vp1::ROW;
use crate::vp1::interp::MAX_CALLS;

/// The processor state, and the counters of native code. Native code accesses the fields by address and offset only.
#[repr(C, align(64))]
#[derive(Clone)]
pub(in crate::vp1) struct Machine {
    /// The data store, in the order of addresses under stride code 0. Streams are stored in this order.
    pub store: [u8; DATA_STORE_BYTES],
    v: [[u8; 16]; 32],
    vx: [u8; 16],
    va: [i32; 16],
    /// Vector operand or result of an access that a host function performs.
    vector: [u8; 16],
    /// 32-bit result of an access that a host function performs.
    word: u32,
    /// The scalar registers; `$r31` always holds 0 and is never written.
    r: [u32; 32],
    a: [u32; 32],
    pub m: [u32; 64],
    x: [u32; 16],
    vc: [u32; 4],
    c: [u32; 4],
    l: [u32; 4],
    uccfg: u32,
    /// Number of active calls.
    pub depth: u32,
    pub calls: [u32; MAX_CALLS],
    /// Number of times that the branch to the next group may still reset the budget.
    pub rest: u32,
    /// Number of executed bundles.
    pub issued: u64,
    /// Maximum number of backward branches per group.
    pub budget: u64,
    /// Number of backward branches that the current group may still take.
    pub left: u64,
    /// Number of backward branches that all groups have taken.
    pub counted: u64,
    /// `true` if all registers except `$m` and `$x` have their reset values.
    is_reset: bool,
}

/// Byte offsets of the fields that native code accesses.
pub(super) mod at {
    use super::*;

    pub(crate) const STORE: usize = offset_of!(Machine, store);
    pub(crate) const V: usize = offset_of!(Machine, v);
    pub(crate) const VX: usize = offset_of!(Machine, vx);
    pub(crate) const VA: usize = offset_of!(Machine, va);
    pub(crate) const VECTOR: usize = offset_of!(Machine, vector);
    pub(crate) const WORD: usize = offset_of!(Machine, word);
    pub(crate) const R: usize = offset_of!(Machine, r);
    pub(crate) const A: usize = offset_of!(Machine, a);
    pub(crate) const M: usize = offset_of!(Machine, m);
    pub(crate) const X: usize = offset_of!(Machine, x);
    pub(crate) const VC: usize = offset_of!(Machine, vc);
    pub(crate) const C: usize = offset_of!(Machine, c);
    pub(crate) const L: usize = offset_of!(Machine, l);
    pub(crate) const UCCFG: usize = offset_of!(Machine, uccfg);
    pub(crate) const DEPTH: usize = offset_of!(Machine, depth);
    pub(crate) const CALLS: usize = offset_of!(Machine, calls);
    pub(crate) const REST: usize = offset_of!(Machine, rest);
    pub(crate) const ISSUED: usize = offset_of!(Machine, issued);
    pub(crate) const BUDGET: usize = offset_of!(Machine, budget);
    pub(crate) const LEFT: usize = offset_of!(Machine, left);
    pub(crate) const COUNTED: usize = offset_of!(Machine, counted);
}

impl Machine {
    /// Returns a machine in the reset state, without defined data store contents. Reuses the
    /// machine that the thread has cached, if any.
    pub(crate) fn take() -> Box<Machine> {
        SPARE.try_with(Cell::take).ok().flatten().unwrap_or_else(Machine::new)
    }

    /// Caches the machine for the thread's next launch. If the thread is exiting, the machine is dropped.
    pub(crate) fn recycle(self: Box<Machine>) {
        let _ = SPARE.try_with(|spare| spare.set(Some(self)));
    }

    /// Creates a machine in the reset state.
    pub(crate) fn new() -> Box<Machine> {
        let mut machine = Box::new(Machine {
            store: [0; DATA_STORE_BYTES],
            v: [[0; 16]; 32],
            vx: [0; 16],
            va: [0; 16],
            vector: [0; 16],
            word: 0,
            r: [0; 32],
            a: [0; 32],
            m: [0; 64],
            x: [0; 16],
            vc: [0; 4],
            c: [0; 4],
            l: [0; 4],
            uccfg: 0,
            depth: 0,
            calls: [0; MAX_CALLS],
            rest: 0,
            issued: 0,
            budget: 0,
            left: 0,
            counted: 0,
            is_reset: false,
        });
        machine.reset(|_| ());
        machine
    }

    /// Resets the registers, and calls `m` to set the `$m` registers.
    pub(crate) fn reset(&mut self, m: impl FnOnce(&mut [u32; 64])) {
        if !self.is_reset {
            self.set_registers(&RESET);
            self.is_reset = true;
        }
        self.x = RESET.x;
        m(&mut self.m);
    }

    /// Records that native code has stored registers, which therefore lose their reset values. The method is not called
    /// after an exit of the program: then no register is live, and only `$m` and `$x` have changed.
    pub(crate) fn mark_dirty(&mut self) {
        self.is_reset = false;
    }

    /// Returns the data store, in the order of addresses.
    pub(crate) fn data(&mut self) -> &mut [u8] {
        &mut self.store
    }

    /// Returns the address registers `$a`.
    pub(crate) fn cursors(&self) -> &[u32; 32] {
        &self.a
    }

    /// Copies the registers and the data store of `state` into the machine.
    pub(crate) fn set(&mut self, state: &State) {
        self.set_registers(state);
        for (row, address) in self.store.as_chunks_mut::<ROW>().0.iter_mut().zip((0..).step_by(ROW)) {
            *row = state.data.load(Shape::Horizontal, address);
        }
    }

    /// Copies the registers of `state` into the machine.
    fn set_registers(&mut self, state: &State) {
        self.is_reset = false;
        let (r, _) = self.r.split_at_mut(state.r.len());
        r.copy_from_slice(&state.r);
        (self.v, self.vx, self.va) = (state.v, state.vx, state.va);
        (self.a, self.m, self.x) = (state.a, state.m, state.x);
        self.vc = state.vc;
        (self.c, self.l) = (state.c.map(u32::from), state.l.map(u32::from));
        self.uccfg = state.uccfg;
    }

    /// Copies the registers and the data store of the machine into `state`.
    pub(crate) fn get(&self, state: &mut State) {
        let (r, _) = self.r.split_at(state.r.len());
        state.r.copy_from_slice(r);
        (state.v, state.vx, state.va) = (self.v, self.vx, self.va);
        (state.a, state.m, state.x) = (self.a, self.m, self.x);
        state.vc = self.vc;
        (state.c, state.l) = (self.c.map(|word| word as u16), self.l.map(|word| word as u16));
        state.uccfg = self.uccfg;
        for (row, address) in self.store.as_chunks::<ROW>().0.iter().zip((0..).step_by(ROW)) {
            state.data.store(Shape::Horizontal, address, *row);
        }
    }
}

thread_local! {
    /// The thread's cached machine, which no launch uses. Creating a machine takes longer than many launches.
    static SPARE: Cell<Option<Box<Machine>>> = const { Cell::new(None) };
}

/// The processor state after reset.
static RESET: LazyLock<Box<State>> = LazyLock::new(Box::default);

/// Offset in [`Machine::store`] of each byte of the data store. The byte in row r of bank b has index `16 r + b`.
static PLACES: LazyLock<[u16; DATA_STORE_BYTES]> = LazyLock::new(|| {
    let mut places = [0; DATA_STORE_BYTES];
    for row in (0..DATA_STORE_BYTES as u16).step_by(ROW) {
        for (cell, place) in DataStore::cells_of(Shape::Horizontal, row.into()).into_iter().zip(row..) {
            if let Some(entry) = places.get_mut(number(cell)) {
                *entry = place;
            }
        }
    }
    places
});

fn number((row, bank): (u16, u8)) -> usize {
    usize::from(row) << 4 | usize::from(bank)
}

/// Host functions for all accesses except those to one row under stride code 0, which native code performs inline.
impl Machine {
    fn byte(&mut self, cell: (u16, u8)) -> Option<&mut u8> {
        self.store.get_mut(usize::from(*PLACES.get(number(cell))?))
    }

    fn load(&mut self, shape: Shape, address: u32) {
        let loaded = DataStore::cells_of(shape, address).map(|cell| self.byte(cell).map_or(0, |byte| *byte));
        self.vector = loaded;
    }

    fn store(&mut self, shape: Shape, address: u32) {
        for (cell, value) in DataStore::cells_of(shape, address).into_iter().zip(self.vector) {
            if let Some(byte) = self.byte(cell) {
                *byte = value;
            }
        }
    }

    pub(crate) extern "C" fn load_row(&mut self, address: u32, _: u32) {
        self.load(Shape::Horizontal, address);
    }

    pub(crate) extern "C" fn load_column(&mut self, address: u32, _: u32) {
        self.load(Shape::Vertical, address);
    }

    pub(crate) extern "C" fn load_banks(&mut self, address: u32, _: u32) {
        self.load(Shape::Banks, address);
    }

    pub(crate) extern "C" fn store_row(&mut self, address: u32, _: u32) {
        self.store(Shape::Horizontal, address);
    }

    pub(crate) extern "C" fn store_column(&mut self, address: u32, _: u32) {
        self.store(Shape::Vertical, address);
    }

    pub(crate) extern "C" fn store_banks(&mut self, address: u32, _: u32) {
        self.store(Shape::Banks, address);
    }

    /// Gathers one byte from each bank of the data store. The field `vector` holds the low bits of
    /// the row numbers on entry, and the gathered bytes on return.
    pub(crate) extern "C" fn gather(&mut self, address: u32, _: u32) {
        let banks = DataStore::cells_of(Shape::Banks, address).into_iter().zip(self.vector);
        let mut gathered = [0; 16];
        for (place, ((row, bank), more)) in gathered.iter_mut().zip(banks) {
            *place = self.byte((row | u16::from(more), bank)).map_or(0, |byte| *byte);
        }
        self.vector = gathered;
    }

    pub(crate) extern "C" fn load_word(&mut self, address: u32, _: u32) {
        let bytes = DataStore::cells_of_word(address).map(|cell| self.byte(cell).map_or(0, |byte| *byte));
        self.word = u32::from_le_bytes(bytes);
    }

    pub(crate) extern "C" fn store_word(&mut self, address: u32, word: u32) {
        for (cell, value) in DataStore::cells_of_word(address).into_iter().zip(word.to_le_bytes()) {
            if let Some(byte) = self.byte(cell) {
                *byte = value;
            }
        }
    }
}
