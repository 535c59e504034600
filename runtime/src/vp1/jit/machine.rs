//! The processor's state as native code has it: an image in memory that functions load registers from and leave them in.

use std::cell::Cell;
use std::mem::offset_of;
use std::sync::LazyLock;

use halfbyte_isa::vp1::data_store::{DATA_STORE_BYTES, DataStore};
use halfbyte_isa::vp1::domain::Shape;
use halfbyte_isa::vp1::state::State;

use crate::vp1::ROW;
use crate::vp1::interp::MAX_CALLS;

/// The state, and what native code counts. Its address and the offsets of its fields are all that native code knows of it.
#[repr(C, align(64))]
#[derive(Clone)]
pub(in crate::vp1) struct Machine {
    /// The data store in the order of addresses under stride code 0, under which streams lie in it.
    pub store: [u8; DATA_STORE_BYTES],
    v: [[u8; 16]; 32],
    vx: [u8; 16],
    va: [i32; 16],
    /// A vector on its way to or from an access that native code leaves to the host.
    vector: [u8; 16],
    /// Likewise a word from it.
    word: u32,
    /// `$r31` is never written.
    r: [u32; 32],
    a: [u32; 32],
    pub m: [u32; 64],
    x: [u32; 16],
    vc: [u32; 4],
    c: [u32; 4],
    l: [u32; 4],
    uccfg: u32,
    /// Calls within each other, and how many of them there are.
    pub depth: u32,
    pub calls: [u32; MAX_CALLS],
    /// How often the branch to the next group may still be taken with the budget begun anew.
    pub rest: u32,
    /// Bundles executed.
    pub issued: u64,
    /// Backward branches that a group may take.
    pub budget: u64,
    /// Those that this group may still take.
    pub left: u64,
    /// Those that were taken, of all groups.
    pub counted: u64,
    /// All registers but `$m` and `$x` are what they are after reset.
    is_reset: bool,
}

/// Offsets of the fields that native code uses.
pub(super) mod at {
    use super::*;

    pub const STORE: usize = offset_of!(Machine, store);
    pub const V: usize = offset_of!(Machine, v);
    pub const VX: usize = offset_of!(Machine, vx);
    pub const VA: usize = offset_of!(Machine, va);
    pub const VECTOR: usize = offset_of!(Machine, vector);
    pub const WORD: usize = offset_of!(Machine, word);
    pub const R: usize = offset_of!(Machine, r);
    pub const A: usize = offset_of!(Machine, a);
    pub const M: usize = offset_of!(Machine, m);
    pub const X: usize = offset_of!(Machine, x);
    pub const VC: usize = offset_of!(Machine, vc);
    pub const C: usize = offset_of!(Machine, c);
    pub const L: usize = offset_of!(Machine, l);
    pub const UCCFG: usize = offset_of!(Machine, uccfg);
    pub const DEPTH: usize = offset_of!(Machine, depth);
    pub const CALLS: usize = offset_of!(Machine, calls);
    pub const REST: usize = offset_of!(Machine, rest);
    pub const ISSUED: usize = offset_of!(Machine, issued);
    pub const BUDGET: usize = offset_of!(Machine, budget);
    pub const LEFT: usize = offset_of!(Machine, left);
    pub const COUNTED: usize = offset_of!(Machine, counted);
}

impl Machine {
    /// One that runs a program from the state after reset, once its data store is filled.
    pub fn take() -> Box<Machine> {
        SPARE.try_with(Cell::take).ok().flatten().unwrap_or_else(Machine::new)
    }

    /// Keeps it for the next launch of this thread, unless that ends.
    pub fn spare(self: Box<Machine>) {
        let _ = SPARE.try_with(|spare| spare.set(Some(self)));
    }

    /// The state after reset.
    pub fn new() -> Box<Machine> {
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

    /// The registers become what they are after reset, but for `$m`, which is set.
    pub fn reset(&mut self, m: impl FnOnce(&mut [u32; 64])) {
        if !self.is_reset {
            self.set_registers(&RESET);
            self.is_reset = true;
        }
        self.x = RESET.x;
        m(&mut self.m);
    }

    /// Native code was left otherwise than by an exit, at which no register counts, and so none but `$m` and `$x` has been written.
    pub fn left(&mut self) {
        self.is_reset = false;
    }

    /// The data store, in the order of addresses.
    pub fn data(&mut self) -> &mut [u8] {
        &mut self.store
    }

    /// `$a`.
    pub fn cursors(&self) -> &[u32; 32] {
        &self.a
    }

    /// Becomes a state.
    pub fn set(&mut self, state: &State) {
        self.set_registers(state);
        for (row, address) in self.store.as_chunks_mut::<ROW>().0.iter_mut().zip((0..).step_by(ROW)) {
            *row = state.data.load(Shape::Horizontal, address);
        }
    }

    /// The registers become those of a state.
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

    /// Gives a state everything that it consists of.
    pub fn get(&self, state: &mut State) {
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
    /// A machine that no launch has. To make one takes longer than many launches do.
    static SPARE: Cell<Option<Box<Machine>>> = const { Cell::new(None) };
}

/// The state after reset.
static RESET: LazyLock<Box<State>> = LazyLock::new(Box::default);

/// Where each cell of the data store is in [`Machine::store`], row r of bank b at `16 r + b`.
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

/// Accesses that native code leaves to the host: those that are not to one row under stride code 0.
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

    pub extern "C" fn load_row(&mut self, address: u32, _: u32) {
        self.load(Shape::Horizontal, address);
    }

    pub extern "C" fn load_column(&mut self, address: u32, _: u32) {
        self.load(Shape::Vertical, address);
    }

    pub extern "C" fn load_banks(&mut self, address: u32, _: u32) {
        self.load(Shape::Banks, address);
    }

    pub extern "C" fn store_row(&mut self, address: u32, _: u32) {
        self.store(Shape::Horizontal, address);
    }

    pub extern "C" fn store_column(&mut self, address: u32, _: u32) {
        self.store(Shape::Vertical, address);
    }

    pub extern "C" fn store_banks(&mut self, address: u32, _: u32) {
        self.store(Shape::Banks, address);
    }

    /// The rows come in the vector.
    pub extern "C" fn gather(&mut self, address: u32, _: u32) {
        let banks = DataStore::cells_of(Shape::Banks, address).into_iter().zip(self.vector);
        let mut gathered = [0; 16];
        for (place, ((row, bank), more)) in gathered.iter_mut().zip(banks) {
            *place = self.byte((row | u16::from(more), bank)).map_or(0, |byte| *byte);
        }
        self.vector = gathered;
    }

    pub extern "C" fn load_word(&mut self, address: u32, _: u32) {
        let bytes = DataStore::cells_of_word(address).map(|cell| self.byte(cell).map_or(0, |byte| *byte));
        self.word = u32::from_le_bytes(bytes);
    }

    pub extern "C" fn store_word(&mut self, address: u32, word: u32) {
        for (cell, value) in DataStore::cells_of_word(address).into_iter().zip(word.to_le_bytes()) {
            if let Some(byte) = self.byte(cell) {
                *byte = value;
            }
        }
    }
}
