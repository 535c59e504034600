//! Code that is being assembled, with labels and a pool of constants after the code.

use rustc_hash::FxHashMap;

use super::{Memory, Operand};

/// Position in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(usize);

/// Constant in the pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Constant(usize);

/// Reference from the code to a label or a constant: a 32-bit distance from the end of the instruction.
#[derive(Clone, Copy, Debug)]
struct Reference<T> {
    /// Position of the distance in the code.
    at: usize,
    /// Number of bytes that the instruction has after the distance.
    after: usize,
    to: T,
}

/// Assembler for x86-64.
#[derive(Default)]
pub struct Assembler {
    bytes: Vec<u8>,
    labels: Vec<Option<usize>>,
    jumps: Vec<Reference<Label>>,
    /// Words of all constants, and the first word of each constant.
    pool: Vec<u32>,
    constants: FxHashMap<Box<[u32]>, Constant>,
    loads: Vec<Reference<Constant>>,
}

impl Assembler {
    /// Appends bytes.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the number of bytes of code.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns a constant of the given words. Equal constants are stored once.
    pub fn constant(&mut self, words: &[u32]) -> Constant {
        if let Some(&constant) = self.constants.get(words) {
            return constant;
        }
        let constant = Constant(self.pool.len());
        self.pool.extend_from_slice(words);
        self.constants.insert(words.into(), constant);
        constant
    }

    /// Creates a label without a position.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Sets the position of a label to the end of the code.
    pub fn bind(&mut self, Label(number): Label) {
        let at = self.bytes.len();
        if let Some(label) = self.labels.get_mut(number) {
            *label = Some(at);
        }
    }

    /// Appends the distance to a label, at the end of an instruction.
    pub(super) fn distance_to(&mut self, to: Label) {
        self.jumps.push(Reference { at: self.bytes.len(), after: 0, to });
        self.put(&[0; 4]);
    }

    /// Appends the bytes ModRM, SIB and displacement of an operand. An 8-bit displacement counts
    /// units of `unit` bytes. The instruction has `after` bytes after the operand.
    pub(super) fn operand(&mut self, reg: u8, operand: Operand, unit: i32, after: usize) {
        let reg = (reg & 7) << 3;
        match operand {
            Operand::Register(register) => self.put(&[0b11 << 6 | reg | register & 7]),
            Operand::Memory(memory) => self.memory(reg, memory, unit),
            Operand::Constant(to) => {
                self.put(&[reg | 0b101]);
                self.loads.push(Reference { at: self.bytes.len(), after, to });
                self.put(&[0; 4]);
            }
        }
    }

    fn memory(&mut self, reg: u8, Memory { base, index, displacement }: Memory, unit: i32) {
        let short = i8::try_from(displacement / unit).ok().filter(|short| i32::from(*short) * unit == displacement);
        // The bases RBP and R13 always have a displacement.
        let (mode, short) = match short {
            Some(0) if base & 7 != 0b101 => (0b00, None),
            Some(short) => (0b01, Some(short)),
            None => (0b10, None),
        };
        match index {
            Some((index, scale)) => {
                self.put(&[mode << 6 | reg | 0b100, scale << 6 | (index & 7) << 3 | base & 7]);
            }
            // The bases RSP and R12 need a SIB byte, here without an index.
            None if base & 7 == 0b100 => self.put(&[mode << 6 | reg | 0b100, 0b100 << 3 | 0b100]),
            None => self.put(&[mode << 6 | reg | base & 7]),
        }
        match (mode, short) {
            (0b00, _) => {}
            (_, Some(short)) => self.put(&short.to_le_bytes()),
            (_, None) => self.put(&displacement.to_le_bytes()),
        }
    }

    /// Returns the code, followed by the pool of constants. Returns `None` if a label has no
    /// position, or if a distance has more than 32 bits.
    pub fn finish(mut self) -> Option<Vec<u8>> {
        for Reference { at, after, to: Label(number) } in std::mem::take(&mut self.jumps) {
            let to = self.labels.get(number).copied().flatten()?;
            self.write(at, to as i64 - (at + 4 + after) as i64)?;
        }
        let pool = self.bytes.len();
        for Reference { at, after, to: Constant(word) } in std::mem::take(&mut self.loads) {
            self.write(at, (pool + 4 * word) as i64 - (at + 4 + after) as i64)?;
        }
        self.bytes.extend(self.pool.iter().flat_map(|word| word.to_le_bytes()));
        Some(self.bytes)
    }

    fn write(&mut self, at: usize, distance: i64) -> Option<()> {
        let distance = i32::try_from(distance).ok()?;
        self.bytes.get_mut(at..at + 4)?.copy_from_slice(&distance.to_le_bytes());
        Some(())
    }
}
