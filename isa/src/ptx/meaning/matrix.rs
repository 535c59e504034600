//! Semantics of warp-level matrix instructions: products, and moves of fragments.
//!
//! A [`Domain`](crate::halu::domain::Domain) describes a single work item. A matrix instruction is
//! instead executed on concrete values for all lanes of a warp at once, through the trait [`Warp`].

use super::{Context, Effects, Location, Next, Reader};
use crate::halu::concrete::Concrete;
use crate::ptx::Opcode;
use crate::ptx::inst::Inst;
use crate::ptx::matrix::{
    ElementPosition, Family, Fragment, LANES, MAX_REGISTERS, Matrix, MatrixOperand, ProductShape, Words, multiply,
};
use crate::ptx::operand::{Address, Base, Operand, Reg};
use crate::ptx::row::{matrices, named_space};
use crate::ptx::types::{Space, Token, Type};

/// Access to the lanes of a warp, all of which are at the same instruction.
pub trait Warp {
    /// The error of an invalid memory access.
    type Fault;

    /// Returns the index of the warp in its block.
    fn number(&self) -> u32;

    /// Returns a reader of the state of a lane.
    fn reader(&mut self, lane: u32) -> impl Reader<Concrete>;

    /// Writes a 32-bit register of a lane.
    fn set(&mut self, lane: u32, reg: Reg, word: u32);

    /// Loads bytes from memory for a lane. The address must be a multiple of the number of bytes.
    ///
    /// # Errors
    /// Returns an error if the access is invalid for the lane.
    fn load(&mut self, lane: u32, place: Location<u32>, into: &mut [u8]) -> Result<(), Self::Fault>;

    /// Stores bytes to memory for a lane. The address must be a multiple of the number of bytes.
    ///
    /// # Errors
    /// Returns an error if the access is invalid for the lane.
    fn store(&mut self, lane: u32, place: Location<u32>, bytes: &[u8]) -> Result<(), Self::Fault>;
}

/// Size in bytes of a matrix row of `ldmatrix` and `stmatrix`.
const ROW: usize = 16;

/// A warp-level instruction ([`Inst::is_warp_level`]), prepared for execution on an SM.
#[derive(Clone, Debug)]
pub struct WarpInst {
    inst: Inst,
    sm: u16,
    /// The product, if the instruction computes one, with the fragments of D, A, B and C.
    product: Option<(ProductShape, [Fragment; 4])>,
}

impl WarpInst {
    /// Prepares an instruction for an SM.
    pub fn new(inst: &Inst, sm: u16) -> WarpInst {
        let form = ProductShape::of(&inst.modifiers).filter(|_| inst.multiplies_matrices());
        let fragments = |form: ProductShape| {
            [MatrixOperand::D, MatrixOperand::A, MatrixOperand::B, MatrixOperand::C]
                .map(|part| Fragment::new(&form, part))
        };
        WarpInst { inst: inst.clone(), sm, product: form.map(|form| (form, fragments(form))) }
    }

    /// Returns the instruction.
    pub fn inst(&self) -> &Inst {
        &self.inst
    }

    /// Executes the instruction for all lanes. All inputs are read before a register is written.
    ///
    /// # Errors
    /// Returns an error if a memory access is invalid for a lane. No register has changed in this case.
    pub fn execute<W: Warp>(&self, warp: &mut W) -> Result<(), W::Fault> {
        use Opcode::*;
        let mut warp = WholeWarp { inst: &self.inst, warp };
        match self.inst.opcode {
            WMMA_LOAD_A | WMMA_LOAD_A_DENSE => warp.load_fragment(MatrixOperand::A)?,
            WMMA_LOAD_B | WMMA_LOAD_B_DENSE => warp.load_fragment(MatrixOperand::B)?,
            WMMA_LOAD_C | WMMA_LOAD_C_DENSE => warp.load_fragment(MatrixOperand::C)?,
            WMMA_STORE | WMMA_STORE_DENSE => warp.store_fragment()?,
            LDMATRIX => warp.load_matrices()?,
            STMATRIX => warp.store_matrices()?,
            MOVMATRIX => {
                let held = warp.words(1);
                let moved = move |lane, _| transposed(&held, lane);
                warp.write(moved);
            }
            _ => {
                if let Some((form, fragments @ [of_d, of_a, ..])) = &self.product {
                    match form.family {
                        Family::Wgmma => warp.multiply_rows(form, [of_d, of_a], self.sm)?,
                        Family::Mma | Family::Wmma => warp.multiply(form, fragments, self.sm),
                    }
                }
            }
        }
        Ok(())
    }
}

/// A register or an element of a lane's fragment, with its location in memory.
struct Held {
    register: usize,
    shift: u32,
    place: Location<u32>,
    bytes: usize,
}

/// A warp with the instruction that all its lanes execute.
pub(super) struct WholeWarp<'a, W> {
    pub inst: &'a Inst,
    pub warp: &'a mut W,
}

/// Returns the word of a lane after the transposition of an 8 × 8 matrix of halves. `held` holds
/// one word of the matrix for each lane.
fn transposed(held: &Words, lane: u32) -> u32 {
    let (column, row) = (lane >> 2, 2 * (lane & 3));
    let half =
        |row: u32| held.get((4 * row + column / 2) as usize).map_or(0, |word| word >> (16 * (column & 1)) & 0xFFFF);
    half(row) | half(row + 1) << 16
}

impl<W: Warp> WholeWarp<'_, W> {
    /// Returns the registers of an operand, each with its index in the operand; skips `_`.
    fn registers(&self, operand: usize) -> impl Iterator<Item = (usize, Reg)> + use<W> {
        let regs: smallvec::SmallVec<[(usize, Reg); 8]> = match self.inst.operands.get(operand) {
            Some(&Operand::Register(reg)) => [(0, reg)].into_iter().collect(),
            Some(Operand::Vector(regs)) => regs.iter().enumerate().filter_map(|(k, reg)| Some((k, reg?))).collect(),
            _ => smallvec::SmallVec::new(),
        };
        regs.into_iter()
    }

    fn held(&mut self, reg: Reg) -> Words {
        let warp = &mut *self.warp;
        std::array::from_fn(|lane| warp.reader(lane as u32).register(&mut Concrete, reg)[0])
    }

    /// Returns the values of an operand's registers, one 32-bit word for each lane and register.
    pub(super) fn operand(&mut self, operand: usize) -> Vec<Words> {
        self.registers(operand).map(|(_, reg)| self.held(reg)).collect()
    }

    fn words(&mut self, operand: usize) -> Words {
        self.operand(operand).first().copied().unwrap_or([0; LANES as usize])
    }

    /// Writes the registers of the first operand. `word` returns the value for a lane and the index
    /// of a register in the operand.
    pub(super) fn write(&mut self, word: impl Fn(u32, usize) -> u32) {
        for (place, reg) in self.registers(0) {
            for lane in 0..LANES {
                self.warp.set(lane, reg, word(lane, place));
            }
        }
    }

    fn multiply(&mut self, form: &ProductShape, [of_d, of_a, of_b, of_c]: &[Fragment; 4], sm: u16) {
        let (a, b, c) = (of_a.gather(&self.operand(1)), of_b.gather(&self.operand(2)), of_c.gather(&self.operand(3)));
        let products: Vec<Matrix> = a.iter().zip(&b).zip(&c).map(|((a, b), c)| multiply(form, sm, a, b, c)).collect();
        let given = of_d.scatter(&products);
        self.write(|lane, place| given.get(place).and_then(|words| words.get(lane as usize)).copied().unwrap_or(0));
    }

    /// Returns the location of a lane's address operand. The location is a generic address if the modifiers name no
    /// state space and the address has more than 32 bits; otherwise it is in shared memory.
    fn place(&mut self, lane: u32, operand: usize) -> Option<Location<u32>> {
        let inst = self.inst;
        let effects = Effects { writes: Default::default(), access: None, next: Next::Fall };
        let mut reader = self.warp.reader(lane);
        let mut cx = Context { inst, d: &mut Concrete, read: &mut reader, effects };
        let is_flat = match inst.operands.get(operand) {
            Some(Operand::Memory(Address { base: Base::Register(reg), .. })) => {
                let [_, high] = cx.read.register(cx.d, *reg);
                named_space(&inst.modifiers).is_none() && high != 0
            }
            _ => false,
        };
        cx.place_in(operand, Some(Space::Shared).filter(|_| !is_flat))
    }

    /// Executes `ldmatrix`. Lane `8 * q + r` supplies the address of row `r` of matrix `q`.
    fn load_matrices(&mut self) -> Result<(), W::Fault> {
        let mut rows = [[0; ROW]; LANES as usize];
        let count = 8 * matrices(&self.inst.modifiers);
        for (lane, row) in (0..).zip(rows.iter_mut().take(count)) {
            if let Some(place) = self.place(lane, 1) {
                self.warp.load(lane, place, row)?;
            }
        }
        let word = |lane: u32, matrix: usize| {
            let of_lane = |(lane, place): (u32, u32)| {
                let row = rows.get(8 * matrix + lane as usize).copied().unwrap_or_default();
                row.get(4 * place as usize..)
                    .and_then(|bytes| bytes.first_chunk())
                    .map_or(0, |bytes| u32::from_le_bytes(*bytes))
            };
            of_lane((lane >> 2, lane & 3))
        };
        let is_transposed = self.inst.has(Token::Transposed);
        let held: Vec<Words> =
            (0..count / 8).map(|matrix| std::array::from_fn(|lane| word(lane as u32, matrix))).collect();
        self.write(|lane, matrix| match held.get(matrix) {
            Some(held) if is_transposed => transposed(held, lane),
            Some(held) => held.get(lane as usize).copied().unwrap_or(0),
            None => 0,
        });
        Ok(())
    }

    fn store_matrices(&mut self) -> Result<(), W::Fault> {
        let is_transposed = self.inst.has(Token::Transposed);
        for (matrix, held) in (0..).zip(self.operand(1)) {
            let word = |lane| {
                if is_transposed { transposed(&held, lane) } else { held.get(lane as usize).copied().unwrap_or(0) }
            };
            for row in 0..8 {
                let mut bytes = [0; ROW];
                for (place, bytes) in (0..).zip(bytes.chunks_exact_mut(4)) {
                    bytes.copy_from_slice(&word(4 * row + place).to_le_bytes());
                }
                let lane = 8 * matrix + row;
                if let Some(place) = self.place(lane, 0) {
                    self.warp.store(lane, place, &bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the registers or elements of a lane's fragment, with their locations in memory.
    fn places(&mut self, form: &ProductShape, part: MatrixOperand, lane: u32, operand: usize) -> Option<Vec<Held>> {
        let is_by_row = self.inst.has(Token::Row);
        let [rows, columns] = form.extent(part);
        // A matrix of single bits stores 32 bits in each element.
        let per = if form.ty(part) == Type::B1 { 32 } else { 1 };
        let inst = self.inst;
        let mut reader = self.warp.reader(lane);
        let effects = Effects { writes: Default::default(), access: None, next: Next::Fall };
        let mut cx = Context { inst, d: &mut Concrete, read: &mut reader, effects };
        let stride = match inst.operands.get(2) {
            Some(_) => cx.word(2),
            None => per * if is_by_row { columns } else { rows },
        };
        let start = cx.place(operand)?;
        let each = form.in_register(part);
        let bits = 32 / each;
        // Elements narrower than a byte have the same layout in a register as in memory, so a whole
        // register is moved at once.
        let at_once = if bits < 8 { each } else { 1 };
        let mut all = Vec::with_capacity(form.registers(part) * (each / at_once) as usize);
        for register in 0..form.registers(part) {
            for i in (0..each).step_by(at_once as usize) {
                let ElementPosition { row, column, .. } = form.place(part, lane, register as u32, i);
                let [line, within] = if is_by_row { [row, column] } else { [column, row] };
                let element = u64::from(line) * u64::from(stride) + u64::from(per * within);
                let width = u64::from(form.ty(part).bits());
                let (place, bytes) = (after(start, element * width / 8), (bits * at_once / 8) as usize);
                all.push(Held { register, shift: i * bits, place, bytes });
            }
        }
        Some(all)
    }

    fn load_fragment(&mut self, part: MatrixOperand) -> Result<(), W::Fault> {
        let Some(form) = ProductShape::of(&self.inst.modifiers) else { return Ok(()) };
        let mut held = vec![[0; MAX_REGISTERS]; LANES as usize];
        for (lane, held) in (0..).zip(&mut held) {
            for Held { register, shift, place, bytes } in self.places(&form, part, lane, 1).unwrap_or_default() {
                let mut word = [0; 4];
                if let Some(bytes) = word.get_mut(..bytes) {
                    self.warp.load(lane, place, bytes)?;
                }
                if let Some(held) = held.get_mut(register) {
                    *held |= u32::from_le_bytes(word) << shift;
                }
            }
        }
        self.write(|lane, place| held.get(lane as usize).and_then(|held| held.get(place)).copied().unwrap_or(0));
        Ok(())
    }

    fn store_fragment(&mut self) -> Result<(), W::Fault> {
        let Some(form) = ProductShape::of(&self.inst.modifiers) else { return Ok(()) };
        let held = self.operand(1);
        for lane in 0..LANES {
            for Held { register, shift, place, bytes } in
                self.places(&form, MatrixOperand::D, lane, 0).unwrap_or_default()
            {
                let word =
                    held.get(register).and_then(|words| words.get(lane as usize)).map_or(0, |word| word >> shift);
                self.warp.store(lane, place, word.to_le_bytes().get(..bytes).unwrap_or_default())?;
            }
        }
        Ok(())
    }
}

/// Returns the location that is `bytes` bytes after `place`, modulo 2^64.
fn after(place: Location<u32>, bytes: u64) -> Location<u32> {
    let plus = |[low, high]: [u32; 2]| {
        let address = (u64::from(high) << 32 | u64::from(low)).wrapping_add(bytes);
        [address as u32, (address >> 32) as u32]
    };
    match place {
        Location::Flat { base, offset } => Location::Flat { base: plus(base), offset },
        Location::Global { base, offset } => Location::Global { base: plus(base), offset },
        Location::Shared { base, offset } => Location::Shared { base: plus(base), offset },
        // Matrix instructions access no other state space.
        place => place,
    }
}
