//! Matrix products of a warp: the distribution of the elements over the lanes' registers, and the results.
//!
//! Each lane holds a fragment of each matrix (`fragment.rs`). Floating-point results depend on the SM, which determines
//! how many products are added before rounding and how far the terms are truncated (`product.rs`, `block.rs`).

mod block;
mod descriptor;
mod fragment;
mod product;

use super::types::{Token, Type};
pub use descriptor::{Descriptor, PIECE};
pub use fragment::{ElementPosition, Fragment, MAX_REGISTERS, MatrixOperand, Words};
pub use product::multiply;

/// Number of lanes of a warp.
pub const LANES: u32 = 32;

/// The instruction family of a matrix product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// The `mma` instructions.
    Mma,
    /// The `wmma` instructions, whose fragments have an unspecified layout.
    Wmma,
    /// The `wgmma` instructions, of which each warp computes 16 rows. B is in shared memory; A is
    /// in shared memory or in registers.
    Wgmma,
}

/// Shape and types of a matrix product: `D = A * B + C`, with an `m` × `k` matrix A and a `k` × `n` matrix B.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProductShape {
    /// Number of rows of A, C and D.
    pub m: u32,
    /// Number of columns of B, C and D.
    pub n: u32,
    /// Number of columns of A, which is the number of rows of B. Single bits are counted in 32-bit words.
    pub k: u32,
    /// The types of D, A, B and C.
    pub types: [Type; 4],
    /// One flag for A and one flag for B: `true` if the matrix has the row-major layout (`.row`).
    /// Only `.m8n8k4` supports both layouts; the layout determines the elements of each lane.
    pub by_rows: [bool; 2],
    /// `true` if integer sums saturate at 32 bits.
    pub saturates: bool,
    /// `true` if single bits are combined by `and` instead of `xor`.
    pub and: bool,
    /// The instruction family.
    pub family: Family,
}

/// Returns the number of rows of A, the number of columns of B, and the inner dimension, if the modifier is a shape.
const fn size(word: Token) -> Option<[u32; 3]> {
    Some(match word {
        Token::M8n8k4 => [8, 8, 4],
        Token::M8n8k16 => [8, 8, 16],
        Token::M8n8k32 => [8, 8, 32],
        Token::M8n8k128 => [8, 8, 128],
        Token::M16n8k4 => [16, 8, 4],
        Token::M16n8k8 => [16, 8, 8],
        Token::M16n8k16 => [16, 8, 16],
        Token::M16n8k32 => [16, 8, 32],
        Token::M16n8k64 => [16, 8, 64],
        Token::M16n8k128 => [16, 8, 128],
        Token::M16n8k256 => [16, 8, 256],
        Token::M16n16k8 => [16, 16, 8],
        Token::M16n16k16 => [16, 16, 16],
        Token::M8n32k16 => [8, 32, 16],
        Token::M32n8k16 => [32, 8, 16],
        Token::Warpgroup(shape) => [16, shape.columns(), shape.inner()],
        _ => return None,
    })
}

impl ProductShape {
    /// Returns the shape and types of an instruction with the modifiers `words`, or `None` if no modifier is a shape.
    pub fn of(words: &[Token]) -> Option<ProductShape> {
        let [m, n, k] = words.iter().find_map(|&word| size(word))?;
        let mut named = words.iter().filter_map(|word| if let Token::Type(ty) = *word { Some(ty) } else { None });
        let types = match (named.next()?, named.next(), named.next(), named.next()) {
            // A matrix load or store names one type.
            (ty, None, ..) => [ty; 4],
            (d, Some(c), None, _) => [d, Type::F16, Type::F16, c],
            (d, Some(a), Some(b), c) => [d, a, b, c.unwrap_or(d)],
        };
        let mut layouts = words.iter().filter(|word| matches!(word, Token::Row | Token::Column));
        let mut by_row = || layouts.next().is_some_and(|word| *word == Token::Row);
        let k = if types[1] == Type::B1 { k / 32 } else { k };
        let by_rows = [by_row(), by_row()];
        let saturates = words.contains(&Token::Satfinite);
        let family = words.iter().find_map(|word| match word {
            Token::Load | Token::Store | Token::Mma => Some(Family::Wmma),
            Token::MmaAsync => Some(Family::Wgmma),
            _ => None,
        });
        let family = family.unwrap_or(Family::Mma);
        Some(ProductShape { m, n, k, types, by_rows, saturates, and: words.contains(&Token::And), family })
    }

    /// Returns the element type of a matrix.
    #[inline]
    pub const fn ty(&self, part: MatrixOperand) -> Type {
        let [d, a, b, c] = self.types;
        match part {
            MatrixOperand::A => a,
            MatrixOperand::B => b,
            MatrixOperand::C => c,
            MatrixOperand::D => d,
        }
    }

    /// Returns the number of bits that an element occupies in a register.
    #[inline]
    const fn bits(&self, part: MatrixOperand) -> u32 {
        match self.ty(part) {
            Type::B1 => 32,
            ty => ty.bits(),
        }
    }

    /// Returns the number of products that the instruction computes: four for `.m8n8k4`, each in
    /// eight lanes; otherwise one.
    #[inline]
    pub const fn products(&self) -> u32 {
        if self.is_of_quads() { 4 } else { 1 }
    }

    #[inline]
    const fn is_of_quads(&self) -> bool {
        self.m == 8 && self.k == 4 && matches!(self.types[1], Type::F16)
    }

    /// Returns the number of rows and columns of a matrix.
    #[inline]
    pub const fn extent(&self, part: MatrixOperand) -> [u32; 2] {
        match part {
            MatrixOperand::A => [self.m, self.k],
            MatrixOperand::B => [self.k, self.n],
            MatrixOperand::C | MatrixOperand::D => [self.m, self.n],
        }
    }

    /// Returns the number of elements in each register of a fragment.
    #[inline]
    pub const fn in_register(&self, part: MatrixOperand) -> u32 {
        32 / self.bits(part)
    }

    /// Returns the number of registers of a fragment.
    pub const fn registers(&self, part: MatrixOperand) -> usize {
        match (self.family, self.ty(part), part) {
            // The second half of these registers repeats the first half.
            (Family::Wmma, Type::F16, MatrixOperand::A | MatrixOperand::B) => 8,
            _ => self.distinct(part),
        }
    }

    /// Returns the number of registers at the start of a fragment that hold distinct elements. The
    /// registers after these are copies.
    #[inline]
    const fn distinct(&self, part: MatrixOperand) -> usize {
        let [rows, columns] = self.extent(part);
        (self.products() * rows * columns * self.bits(part) / (32 * LANES)) as usize
    }

    /// Returns the type of the registers that hold a fragment.
    pub const fn held(&self, part: MatrixOperand) -> Type {
        match self.ty(part) {
            Type::F16 => Type::F16x2,
            Type::Bf16 => Type::Bf16x2,
            Type::E4m3 => Type::E4m3x4,
            Type::E5m2 => Type::E5m2x4,
            Type::S8 | Type::S4 => Type::S32,
            Type::U8 | Type::U4 => Type::U32,
            Type::B1 if matches!(self.family, Family::Wmma) => Type::U32,
            Type::B1 => Type::B32,
            ty => ty,
        }
    }
}

/// A matrix, stored row by row, with each element in the low bits of a 32-bit word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matrix {
    columns: u32,
    elements: Vec<u32>,
}

impl Matrix {
    /// Creates a matrix of zeros.
    pub fn new([rows, columns]: [u32; 2]) -> Matrix {
        Matrix { columns, elements: vec![0; (rows * columns) as usize] }
    }

    /// Creates a matrix from its elements, row by row.
    pub fn of(columns: u32, elements: Vec<u32>) -> Matrix {
        Matrix { columns, elements }
    }

    /// Returns an element, or 0 if the position is out of range.
    pub fn at(&self, row: u32, column: u32) -> u32 {
        self.elements.get((row * self.columns + column) as usize).copied().unwrap_or(0)
    }

    /// Sets an element.
    pub fn set(&mut self, row: u32, column: u32, element: u32) {
        if let Some(place) = self.elements.get_mut((row * self.columns + column) as usize) {
            *place = element;
        }
    }

    /// Returns the transposed matrix.
    #[must_use]
    pub fn transposed(&self) -> Matrix {
        let rows = self.elements.len() as u32 / self.columns.max(1);
        let elements = (0..self.columns).flat_map(|column| (0..rows).map(move |row| self.at(row, column)));
        Matrix { columns: rows, elements: elements.collect() }
    }

    /// Negates each element, which is a floating-point number of type `ty`.
    pub fn negate(&mut self, ty: Type) {
        self.elements.iter_mut().for_each(|element| *element ^= 1 << (ty.bits() - 1));
    }

    /// Returns all elements, row by row.
    pub fn elements(&self) -> &[u32] {
        &self.elements
    }
}
