//! The data store, which has 16 banks of 512 bytes, and its mapping of addresses to banks.

use super::domain::Shape;

/// Size of the data store in bytes.
pub const DATA_STORE_BYTES: usize = 8192;

/// Mask of the bits of an address that are the byte address.
const ADDRESS: u32 = DATA_STORE_BYTES as u32 - 1;

/// The data store's 8,192 bytes.
///
/// An address is a 32-bit word in the layout of `$a`. Bits 0 to 12 are the byte address. Bits 30
/// and 31 are the stride code, which determines how bytes map to banks. With different stride
/// codes, the same byte address refers to different cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataStore {
    /// The cell in row r of bank b has index `16 r + b`.
    cells: [u8; DATA_STORE_BYTES],
}

impl Default for DataStore {
    fn default() -> Self {
        Self { cells: [0; DATA_STORE_BYTES] }
    }
}

/// Splits an address into the byte address and the stride code.
const fn split(address: u32) -> (u32, u32) {
    (address & ADDRESS, address >> 30)
}

/// Returns the cell index of a byte address under a stride code.
///
/// The banks of a row are rotated by the row's position within a column. The components of a row
/// therefore lie in distinct banks, and so do the components of a column. Stride code 0 rotates by
/// half of that position, so two components of a column share a bank.
const fn cell(byte: u32, stride: u32) -> usize {
    let rotation = if stride == 0 { (byte >> 5) & 7 } else { byte >> (4 + stride) };
    ((byte & ADDRESS & !15) | ((byte + rotation) & 15)) as usize
}

/// Returns the cell index of component `i` of a vector of the given shape at an address.
const fn component(shape: Shape, address: u32, i: u32) -> usize {
    let (byte, stride) = split(address);
    match shape {
        Shape::Horizontal => cell(byte & !15 | i, stride),
        Shape::Vertical => cell(byte & !(15 << (4 + stride)) | i << (4 + stride), stride),
        Shape::Banks => (byte & !15 | i) as usize,
    }
}

impl DataStore {
    /// Returns the byte at an address.
    pub fn byte(&self, address: u32) -> u8 {
        let (byte, stride) = split(address);
        self.cells[cell(byte, stride)]
    }

    /// Sets the byte at an address.
    pub fn set_byte(&mut self, address: u32, value: u8) {
        let (byte, stride) = split(address);
        self.cells[cell(byte, stride)] = value;
    }

    /// Returns the byte in a row of a bank. The row and bank numbers wrap around.
    pub fn cell(&self, row: u16, bank: u8) -> u8 {
        self.cells[raw(row, bank)]
    }

    /// Sets the byte in a row of a bank. The row and bank numbers wrap around.
    pub fn set_cell(&mut self, row: u16, bank: u8, value: u8) {
        self.cells[raw(row, bank)] = value;
    }

    /// Loads a vector.
    pub fn load(&self, shape: Shape, address: u32) -> [u8; 16] {
        std::array::from_fn(|i| self.cells[component(shape, address, i as u32)])
    }

    /// Stores a vector.
    pub fn store(&mut self, shape: Shape, address: u32, value: [u8; 16]) {
        for (i, byte) in (0..).zip(value) {
            self.cells[component(shape, address, i)] = byte;
        }
    }

    /// Loads the aligned little-endian word that contains an address.
    pub fn load_word(&self, address: u32) -> u32 {
        u32::from_le_bytes([0, 1, 2, 3].map(|i| self.byte(address & !3 | i)))
    }

    /// Stores a 32-bit word to the aligned address of the word that contains `address`, in little-endian order.
    pub fn store_word(&mut self, address: u32, value: u32) {
        for (i, byte) in (0..).zip(value.to_le_bytes()) {
            self.set_byte(address & !3 | i, byte);
        }
    }

    /// Loads byte i from bank i. The row number is that of the address, ORed with `rows[i]`.
    pub fn gather(&self, address: u32, rows: [u8; 16]) -> [u8; 16] {
        let row = (split(address).0 >> 4) as u16;
        std::array::from_fn(|bank| self.cell(row | u16::from(rows[bank]), bank as u8))
    }

    /// Returns the row and bank of each component of a vector, component 0 first.
    pub fn cells_of(shape: Shape, address: u32) -> [(u16, u8); 16] {
        std::array::from_fn(|i| place(component(shape, address, i as u32)))
    }

    /// Returns the row and bank of each byte of the aligned word that contains an address.
    pub fn cells_of_word(address: u32) -> [(u16, u8); 4] {
        [0, 1, 2, 3].map(|i| place(component(Shape::Horizontal, address, address & 12 | i)))
    }
}

fn raw(row: u16, bank: u8) -> usize {
    usize::from(row & 511) << 4 | usize::from(bank & 15)
}

fn place(cell: usize) -> (u16, u8) {
    ((cell >> 4) as u16, (cell & 15) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn banks(shape: Shape, address: u32) -> usize {
        DataStore::cells_of(shape, address).iter().map(|&(_, bank)| bank).collect::<HashSet<_>>().len()
    }

    /// The components of a vector lie in distinct banks. The exception is a column under stride
    /// code 0, for which each used bank holds two components.
    #[test]
    fn components_lie_in_distinct_banks() {
        for stride in 0..4 {
            for byte in (0..DATA_STORE_BYTES as u32).step_by(7) {
                let address = stride << 30 | byte;
                assert_eq!(banks(Shape::Horizontal, address), 16);
                assert_eq!(banks(Shape::Vertical, address), if stride == 0 { 8 } else { 16 });
                assert_eq!(banks(Shape::Banks, address), 16);
            }
        }
    }

    /// With the same stride code, rows, columns and words access the same memory, and every byte
    /// address has a distinct cell.
    #[test]
    fn shapes_agree_under_one_stride() {
        for stride in 0..4 {
            let mut data = DataStore::default();
            let at = |byte: u32| stride << 30 | byte;
            let value = |byte: u32| (byte * 37 + (byte >> 8)) as u8;
            for byte in 0..DATA_STORE_BYTES as u32 {
                data.set_byte(at(byte), value(byte));
            }
            for byte in (0..DATA_STORE_BYTES as u32).step_by(5) {
                assert_eq!(data.byte(at(byte)), value(byte));
                let row: [u8; 16] = std::array::from_fn(|i| value(byte & !15 | i as u32));
                assert_eq!(data.load(Shape::Horizontal, at(byte)), row);
                let pitch = 4 + stride;
                let column: [u8; 16] = std::array::from_fn(|i| value(byte & !(15 << pitch) | (i as u32) << pitch));
                assert_eq!(data.load(Shape::Vertical, at(byte)), column);
                let word = u32::from_le_bytes([0, 1, 2, 3].map(|i| value(byte & !3 | i)));
                assert_eq!(data.load_word(at(byte)), word);
                let mut stored = DataStore::default();
                stored.store(Shape::Vertical, at(byte), column);
                assert_eq!(stored.load(Shape::Vertical, at(byte)), column);
            }
        }
    }
}
