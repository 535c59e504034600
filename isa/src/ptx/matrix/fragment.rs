//! Mapping of matrix elements to the registers of a warp's lanes.

use super::{LANES, Matrix, ProductShape};

/// A matrix of the product `D = A * B + C`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // The variant names are the matrix names.
pub enum MatrixOperand {
    A,
    B,
    C,
    D,
}

/// The position of an element: its product, if an instruction computes several, and its row and column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementPosition {
    /// The index of the product.
    pub product: u32,
    /// The row.
    pub row: u32,
    /// The column.
    pub column: u32,
}

impl ProductShape {
    /// Returns the matrix position of element `i` of a register in a lane's fragment. Elements of a
    /// register are counted from the low bits.
    #[inline]
    pub const fn place(&self, part: MatrixOperand, lane: u32, register: u32, i: u32) -> ElementPosition {
        if self.is_of_quads() {
            return self.place_in_quads(part, lane, register * self.in_register(part) + i);
        }
        if self.m > 16 || self.n > 8 {
            return self.place_in_tiles(part, lane, register, i);
        }
        let (group, thread) = (lane >> 2, lane & 3);
        let each = self.in_register(part);
        let [row, column] = match part {
            MatrixOperand::A if self.m == 8 => [group, thread * each + i],
            MatrixOperand::A => [group + 8 * (register & 1), (thread + 4 * (register >> 1)) * each + i],
            MatrixOperand::B => [(thread + 4 * register) * each + i, group],
            MatrixOperand::C | MatrixOperand::D => {
                let place = register * each + i;
                [group + 8 * (place >> 1), 2 * thread + (place & 1)]
            }
        };
        ElementPosition { product: 0, row, column }
    }

    /// Returns the position of an element of a product that is larger than 16 × 8. The product
    /// consists of several tiles, side by side or one below the other. A product of 8 rows and 32
    /// columns is computed as the transposed product.
    const fn place_in_tiles(&self, part: MatrixOperand, lane: u32, register: u32, i: u32) -> ElementPosition {
        if self.m == 8 {
            let [d, a, b, c] = self.types;
            let transposed = ProductShape { m: self.n, n: self.m, types: [d, b, a, c], ..*self };
            let of = match part {
                MatrixOperand::A => MatrixOperand::B,
                MatrixOperand::B => MatrixOperand::A,
                part => part,
            };
            let ElementPosition { product, row, column } = transposed.place(of, lane, register, i);
            return ElementPosition { product, row: column, column: row };
        }
        let tile = if self.m > 16 { ProductShape { m: 16, ..*self } } else { ProductShape { n: 8, ..*self } };
        let each = tile.distinct(part) as u32;
        // Registers after those of the last tile repeat the first registers.
        let tiles = self.m / tile.m * (self.n / tile.n);
        let (number, within) = (register / each % tiles, tile.place(part, lane, register % each, i));
        match part {
            MatrixOperand::B if self.m > 16 => within,
            MatrixOperand::A if self.m == 16 => within,
            _ if self.m > 16 => ElementPosition { row: within.row + 16 * number, ..within },
            _ => ElementPosition { column: within.column + 8 * number, ..within },
        }
    }

    /// Returns the position of an element for `.m8n8k4`. Each of the four products of the
    /// instruction uses four lanes in the lower half of the warp and four in the upper half.
    const fn place_in_quads(&self, part: MatrixOperand, lane: u32, i: u32) -> ElementPosition {
        let (product, upper, within) = (lane >> 2 & 3, lane >> 4, lane & 3);
        let along = [within + 4 * upper, i];
        let across = [i + 4 * upper, within];
        let [of_a, of_b] = self.by_rows;
        let [row, column] = match part {
            MatrixOperand::A if of_a => along,
            MatrixOperand::A => across,
            MatrixOperand::B if of_b => [within, i + 4 * upper],
            MatrixOperand::B => [i, within + 4 * upper],
            MatrixOperand::C | MatrixOperand::D if self.in_register(part) == 1 => {
                [(lane & 1) + (i & 2) + 4 * upper, (i & 4) + (lane & 2) + (i & 1)]
            }
            MatrixOperand::C | MatrixOperand::D => along,
        };
        ElementPosition { product, row, column }
    }
}

/// Maximum number of registers of a fragment of `wmma` or `mma`.
pub const MAX_REGISTERS: usize = 8;

/// The 32-bit words that one register holds in each lane of a warp.
pub type Words = [u32; LANES as usize];

/// The location of each matrix element in the registers of a warp.
#[derive(Clone, Debug)]
pub struct Fragment {
    extent: [u32; 2],
    bits: u32,
    registers: usize,
    /// The register positions of the elements, ordered by product, row and column.
    slots: Vec<RegisterPosition>,
}

/// The register, lane and bit position of an element.
#[derive(Clone, Copy, Default, Debug)]
struct RegisterPosition {
    register: u8,
    lane: u8,
    shift: u8,
}

impl Fragment {
    /// Returns the register positions of the elements of one matrix of a product.
    pub fn new(form: &ProductShape, part: MatrixOperand) -> Fragment {
        let extent @ [rows, columns] = form.extent(part);
        let mut slots = vec![RegisterPosition::default(); (form.products() * rows * columns) as usize];
        let (each, bits) = (form.in_register(part), form.bits(part));
        for register in 0..form.distinct(part) as u32 {
            for lane in 0..LANES {
                for i in 0..each {
                    let ElementPosition { product, row, column } = form.place(part, lane, register, i);
                    if let Some(slot) = slots.get_mut(((product * rows + row) * columns + column) as usize) {
                        *slot =
                            RegisterPosition { register: register as u8, lane: lane as u8, shift: (i * bits) as u8 };
                    }
                }
            }
        }
        Fragment { extent, bits, registers: form.registers(part), slots }
    }

    fn elements(&self) -> usize {
        self.extent.iter().product::<u32>().max(1) as usize
    }

    /// Returns the matrices, one for each product, whose fragments are in the registers `held`.
    pub fn gather(&self, held: &[Words]) -> Vec<Matrix> {
        let mask = u32::MAX >> (32 - self.bits);
        let element = |slot: &RegisterPosition| {
            let words = held.get(usize::from(slot.register));
            words.map_or(0, |words| words[usize::from(slot.lane) % words.len()] >> slot.shift & mask)
        };
        let matrix = |slots: &[RegisterPosition]| Matrix::of(self.extent[1], slots.iter().map(element).collect());
        self.slots.chunks(self.elements()).map(matrix).collect()
    }

    /// Returns the registers that hold the fragments of the matrices.
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
