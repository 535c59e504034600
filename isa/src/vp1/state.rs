//! The state of the VP1 processor in the interpreter.

use super::Bundle;
use super::concrete::Concrete;
use super::data_store::DataStore;
use super::domain::{Index, Next, Reader, Shape, Write};
use super::meaning::meaning;

/// All registers and the data store. [`Default`] is the state after reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// `$r0` to `$r30`; `$r31` is always 0.
    pub r: [u32; 31],
    /// The vector registers `$v`.
    pub v: [[u8; 16]; 32],
    /// The extra vector `$vx`.
    pub vx: [u8; 16],
    /// The accumulator `$va`: signed 28-bit components.
    pub va: [i32; 16],
    /// `$vc`: the sign flags in bits 0 to 15, component 0 lowest, and the zero flags in bits 16 to 31.
    pub vc: [u32; 4],
    /// `$a`: the address in bits 0 to 15, the limit in bits 16 to 29, the stride code in bits 30 and 31.
    pub a: [u32; 32],
    /// The scalar flags `$c`.
    pub c: [u16; 4],
    /// `$l`: the count in bits 0 to 7 and the reload value in bits 8 to 15.
    pub l: [u16; 4],
    /// The method registers `$m`.
    pub m: [u32; 64],
    /// The extra registers `$x`.
    pub x: [u32; 16],
    /// `$uccfg`. Bit 0 makes rounding break ties downwards.
    pub uccfg: u32,
    /// The data store.
    pub data: DataStore,
}

impl Default for State {
    fn default() -> Self {
        Self {
            r: [0; 31],
            v: [[0; 16]; 32],
            vx: [0; 16],
            va: [0; 16],
            vc: [0; 4],
            a: [0; 32],
            c: [0x8000; 4],
            l: [0; 4],
            m: [0; 64],
            x: [0; 16],
            uccfg: 0,
            data: DataStore::default(),
        }
    }
}

/// A part of the state that a bundle can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Location {
    /// An `$r` register.
    R(u8),
    /// A `$v` register.
    V(u8),
    /// The extra vector `$vx`.
    Vx,
    /// The accumulator `$va`.
    Va,
    /// A `$vc` register.
    Vc(u8),
    /// An `$a` register.
    A(u8),
    /// A `$c` register.
    C(u8),
    /// An `$l` register.
    L(u8),
    /// An `$m` register.
    M(u8),
    /// An `$x` register.
    X(u8),
    /// The register `$uccfg`.
    Uccfg,
    /// A byte of the data store.
    Cell {
        /// Row, 0 to 511.
        row: u16,
        /// Bank, 0 to 15.
        bank: u8,
    },
}

/// Wraps a component of `$va` to 28 bits.
const fn wrap(value: i32) -> i32 {
    value << 4 >> 4
}

fn number(index: Index<u32>) -> usize {
    match index {
        Index::Fixed(n) => usize::from(n & 31),
        Index::InQuad { first, element } => usize::from(first & 28) | (element & 3) as usize,
    }
}

impl State {
    /// Executes one bundle and returns the control flow after it. Calls `written` for every location that the bundle
    /// writes, even if the location's value does not change. A location may be reported twice.
    pub fn step(&mut self, bundle: &Bundle, mut written: impl FnMut(Location)) -> Next<u32> {
        let effects = meaning(bundle, &mut Concrete, self);
        for write in &effects.writes {
            self.commit(write, &mut written);
        }
        effects.next
    }

    /// Performs one write and calls `written` for each location that the write changes.
    pub fn commit(&mut self, write: &Write<Concrete>, written: &mut impl FnMut(Location)) {
        let location = match *write {
            Write::R(n, value) => {
                if let Some(r) = self.r.get_mut(usize::from(n)) {
                    *r = value;
                }
                Location::R(n)
            }
            Write::V(n, value) => {
                self.v[usize::from(n & 31)] = value;
                Location::V(n)
            }
            Write::ConditionalV { when: 0, .. } => return,
            Write::ConditionalV { index, value, .. } => {
                self.v[number(index)] = value;
                Location::V(number(index) as u8)
            }
            Write::Vx(value) => {
                self.vx = value;
                Location::Vx
            }
            Write::Va(value) => {
                self.va = value.map(wrap);
                Location::Va
            }
            Write::Vc(n, [sign, zero]) => {
                self.vc[usize::from(n & 3)] = u32::from(zero) << 16 | u32::from(sign);
                Location::Vc(n)
            }
            Write::A(n, value) => {
                self.a[usize::from(n & 31)] = value;
                Location::A(n)
            }
            Write::C { n, group, bits } => {
                let c = &mut self.c[usize::from(n & 3)];
                *c = *c & !(group as u16) | bits as u16;
                Location::C(n)
            }
            Write::L(n, value) => {
                self.l[usize::from(n & 3)] = value as u16;
                Location::L(n)
            }
            Write::M(n, value) => {
                self.m[usize::from(n & 63)] = value;
                Location::M(n)
            }
            Write::X(n, value) => {
                self.x[usize::from(n & 15)] = value;
                Location::X(n)
            }
            Write::Uccfg(value) => {
                self.uccfg = value;
                Location::Uccfg
            }
            Write::Store(shape, address, value) => {
                self.data.store(shape, address, value);
                let cells = DataStore::cells_of(shape, address);
                return cells.into_iter().for_each(|(row, bank)| written(Location::Cell { row, bank }));
            }
            Write::StoreWord(address, value) => {
                self.data.store_word(address, value);
                let cells = DataStore::cells_of_word(address);
                return cells.into_iter().for_each(|(row, bank)| written(Location::Cell { row, bank }));
            }
        };
        written(location);
    }
}

#[rustfmt::skip]
impl Reader<Concrete> for State {
    fn r(&mut self, _: &mut Concrete, n: Index<u32>) -> u32 { self.r.get(number(n)).copied().unwrap_or(0) }
    fn v(&mut self, _: &mut Concrete, n: Index<u32>) -> [u8; 16] { self.v[number(n)] }
    fn vx(&mut self, _: &mut Concrete) -> [u8; 16] { self.vx }
    fn va(&mut self, _: &mut Concrete) -> [i32; 16] { self.va }
    fn vc(&mut self, _: &mut Concrete, n: u8) -> [u16; 2] {
        let flags = self.vc[usize::from(n & 3)];
        [flags as u16, (flags >> 16) as u16]
    }
    fn a(&mut self, _: &mut Concrete, n: Index<u32>) -> u32 { self.a[number(n)] }
    fn c(&mut self, _: &mut Concrete, n: u8) -> u32 { self.c[usize::from(n & 3)].into() }
    fn l(&mut self, _: &mut Concrete, n: u8) -> u32 { self.l[usize::from(n & 3)].into() }
    fn m(&mut self, _: &mut Concrete, n: u8) -> u32 { self.m[usize::from(n & 63)] }
    fn x(&mut self, _: &mut Concrete, n: u8) -> u32 { self.x[usize::from(n & 15)] }
    fn uccfg(&mut self, _: &mut Concrete) -> u32 { self.uccfg }
    fn load(&mut self, _: &mut Concrete, shape: Shape, address: u32) -> [u8; 16] { self.data.load(shape, address) }
    fn load_word(&mut self, _: &mut Concrete, address: u32) -> u32 { self.data.load_word(address) }
    fn gather(&mut self, _: &mut Concrete, address: u32, rows: [u8; 16]) -> [u8; 16] { self.data.gather(address, rows) }
}
