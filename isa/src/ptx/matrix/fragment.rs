//! Where the elements of a matrix lie among the registers of a warp.

use super::{Form, LANES, Matrix};

/// A matrix of `D = A * B + C`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // The names are the matrices' own.
pub enum Part {
    A,
    B,
    C,
    D,
}

/// An element of one of an instruction's products.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The product.
    pub product: u32,
    /// The row.
    pub row: u32,
    /// The column.
    pub column: u32,
}

impl Form {
    /// Which element of a matrix a lane has in a register of its fragment, as the `i`th of those in it, low bits first.
    #[inline]
    pub const fn place(&self, part: Part, lane: u32, register: u32, i: u32) -> Place {
        if self.is_of_quads() {
            return self.place_in_quads(part, lane, register * self.in_register(part) + i);
        }
        if self.m > 16 || self.n > 8 {
            return self.place_in_tiles(part, lane, register, i);
        }
        let (group, thread) = (lane >> 2, lane & 3);
        let each = self.in_register(part);
        let [row, column] = match part {
            Part::A if self.m == 8 => [group, thread * each + i],
            Part::A => [group + 8 * (register & 1), (thread + 4 * (register >> 1)) * each + i],
            Part::B => [(thread + 4 * register) * each + i, group],
            Part::C | Part::D => {
                let place = register * each + i;
                [group + 8 * (place >> 1), 2 * thread + (place & 1)]
            }
        };
        Place { product: 0, row, column }
    }

    /// The same of matrices that are larger than those of one product: of several, side by side or one below the other. Of 8 rows and 32 columns
    /// it is the transposed product that is made.
    const fn place_in_tiles(&self, part: Part, lane: u32, register: u32, i: u32) -> Place {
        if self.m == 8 {
            let [d, a, b, c] = self.types;
            let transposed = Form { m: self.n, n: self.m, types: [d, b, a, c], ..*self };
            let of = match part {
                Part::A => Part::B,
                Part::B => Part::A,
                part => part,
            };
            let Place { product, row, column } = transposed.place(of, lane, register, i);
            return Place { product, row: column, column: row };
        }
        let tile = if self.m > 16 { Form { m: 16, ..*self } } else { Form { n: 8, ..*self } };
        let each = tile.distinct(part) as u32;
        // Registers beyond the last tile are copies of the first ones.
        let tiles = self.m / tile.m * (self.n / tile.n);
        let (number, within) = (register / each % tiles, tile.place(part, lane, register % each, i));
        match part {
            Part::B if self.m > 16 => within,
            Part::A if self.m == 16 => within,
            _ if self.m > 16 => Place { row: within.row + 16 * number, ..within },
            _ => Place { column: within.column + 8 * number, ..within },
        }
    }

    /// The same of `.m8n8k4`, whose four products lie in four lanes each of the lower half of a warp and of the upper one.
    const fn place_in_quads(&self, part: Part, lane: u32, i: u32) -> Place {
        let (product, upper, within) = (lane >> 2 & 3, lane >> 4, lane & 3);
        let along = [within + 4 * upper, i];
        let across = [i + 4 * upper, within];
        let [of_a, of_b] = self.by_rows;
        let [row, column] = match part {
            Part::A if of_a => along,
            Part::A => across,
            Part::B if of_b => [within, i + 4 * upper],
            Part::B => [i, within + 4 * upper],
            Part::C | Part::D if self.in_register(part) == 1 => {
                [(lane & 1) + (i & 2) + 4 * upper, (i & 4) + (lane & 2) + (i & 1)]
            }
            Part::C | Part::D => along,
        };
        Place { product, row, column }
    }
}

/// Registers that a fragment has at most.
pub const MAX_REGISTERS: usize = 8;

/// A word of each lane.
pub type Words = [u32; LANES as usize];

/// Where a matrix's elements are in the registers of a warp.
#[derive(Clone, Debug)]
pub struct Fragment {
    extent: [u32; 2],
    bits: u32,
    registers: usize,
    /// By product, row and column.
    slots: Vec<Slot>,
}

/// The register of a lane that has an element, and from which bit on.
#[derive(Clone, Copy, Default, Debug)]
struct Slot {
    register: u8,
    lane: u8,
    shift: u8,
}

impl Fragment {
    /// That of a matrix of an instruction.
    pub fn new(form: &Form, part: Part) -> Fragment {
        let extent @ [rows, columns] = form.extent(part);
        let mut slots = vec![Slot::default(); (form.products() * rows * columns) as usize];
        let (each, bits) = (form.in_register(part), form.bits(part));
        for register in 0..form.distinct(part) as u32 {
            for lane in 0..LANES {
                for i in 0..each {
                    let Place { product, row, column } = form.place(part, lane, register, i);
                    if let Some(slot) = slots.get_mut(((product * rows + row) * columns + column) as usize) {
                        *slot = Slot { register: register as u8, lane: lane as u8, shift: (i * bits) as u8 };
                    }
                }
            }
        }
        Fragment { extent, bits, registers: form.registers(part), slots }
    }

    fn elements(&self) -> usize {
        self.extent.iter().product::<u32>().max(1) as usize
    }

    /// The matrices, one a product, of which registers hold the fragments.
    pub fn gather(&self, held: &[Words]) -> Vec<Matrix> {
        let mask = u32::MAX >> (32 - self.bits);
        let element = |slot: &Slot| {
            let words = held.get(usize::from(slot.register));
            words.map_or(0, |words| words[usize::from(slot.lane) % words.len()] >> slot.shift & mask)
        };
        let matrix = |slots: &[Slot]| Matrix::of(self.extent[1], slots.iter().map(element).collect());
        self.slots.chunks(self.elements()).map(matrix).collect()
    }

    /// The registers that hold the fragments of these matrices.
    pub fn scatter(&self, all: &[Matrix]) -> Vec<Words> {
        let mut held = vec![[0; LANES as usize]; self.registers];
        for (slots, matrix) in self.slots.chunks(self.elements()).zip(all) {
            for (slot, element) in slots.iter().zip(matrix.elements()) {
                if let Some(words) = held.get_mut(usize::from(slot.register)) {
                    words[usize::from(slot.lane) % LANES as usize] |= element << slot.shift;
                }
            }
        }
        held
    }
}
