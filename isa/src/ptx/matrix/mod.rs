//! Products of matrices by a warp: which thread has which elements in its registers, and what the results are.
//!
//! A thread has a fragment of each matrix (`fragment.rs`). Results of floating point depend on the SM: how many products are added before
//! rounding, and how many of their bits are kept (`product.rs`, `block.rs`).

mod block;
mod descriptor;
mod fragment;
mod product;

use super::types::{Token, Type};
pub use descriptor::{Descriptor, PIECE};
pub use fragment::{Fragment, MAX_REGISTERS, Part, Place, Words};
pub use product::multiply;

/// The threads that make a product together.
pub const LANES: u32 = 32;

/// The instructions that a product is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// `mma`
    Mma,
    /// `wmma`, whose fragments have a layout that programs do not know.
    Wmma,
    /// `wgmma`, of which a warp makes 16 rows; A may be in memory, B is.
    Wgmma,
}

/// What a warp multiplies by an instruction: `D = A * B + C`, of `m` by `k` and `k` by `n` elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// Rows of A, C and D.
    pub m: u32,
    /// Columns of B, C and D.
    pub n: u32,
    /// Columns of A and rows of B; of single bits, words of 32.
    pub k: u32,
    /// The types of D, A, B and C.
    pub types: [Type; 4],
    /// Whether the layout of A is `.row`, and that of B. Only `.m8n8k4` has a choice: it says which elements a thread has.
    pub by_rows: [bool; 2],
    /// Whether sums of integers are limited to what 32 bits hold.
    pub saturates: bool,
    /// Whether bits are combined by `and`, not by `xor`.
    pub and: bool,
    /// Of which instructions it is.
    pub family: Family,
}

/// Rows of A, columns of B, and the inner dimension.
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

impl Form {
    /// What an instruction of these words multiplies.
    pub fn of(words: &[Token]) -> Option<Form> {
        let [m, n, k] = words.iter().find_map(|&word| size(word))?;
        let mut named = words.iter().filter_map(|word| if let Token::Type(ty) = *word { Some(ty) } else { None });
        let types = match (named.next()?, named.next(), named.next(), named.next()) {
            // A matrix that is loaded or stored.
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
        Some(Form { m, n, k, types, by_rows, saturates, and: words.contains(&Token::And), family })
    }

    /// The type of a matrix's elements.
    #[inline]
    pub const fn ty(&self, part: Part) -> Type {
        let [d, a, b, c] = self.types;
        match part {
            Part::A => a,
            Part::B => b,
            Part::C => c,
            Part::D => d,
        }
    }

    /// Bits of an element as it lies in a register.
    #[inline]
    const fn bits(&self, part: Part) -> u32 {
        match self.ty(part) {
            Type::B1 => 32,
            ty => ty.bits(),
        }
    }

    /// How many products of such matrices an instruction makes: `.m8n8k4` four, each in lanes of its own.
    #[inline]
    pub const fn products(&self) -> u32 {
        if self.is_of_quads() { 4 } else { 1 }
    }

    #[inline]
    const fn is_of_quads(&self) -> bool {
        self.m == 8 && self.k == 4 && matches!(self.types[1], Type::F16)
    }

    /// Rows and columns of a matrix.
    #[inline]
    pub const fn extent(&self, part: Part) -> [u32; 2] {
        match part {
            Part::A => [self.m, self.k],
            Part::B => [self.k, self.n],
            Part::C | Part::D => [self.m, self.n],
        }
    }

    /// Elements in a register of a fragment.
    #[inline]
    pub const fn in_register(&self, part: Part) -> u32 {
        32 / self.bits(part)
    }

    /// Registers of a fragment.
    pub const fn registers(&self, part: Part) -> usize {
        match (self.family, self.ty(part), part) {
            // Some of them hold the same as others.
            (Family::Wmma, Type::F16, Part::A | Part::B) => 8,
            _ => self.distinct(part),
        }
    }

    /// How many of them are no copies of others: the first ones.
    #[inline]
    const fn distinct(&self, part: Part) -> usize {
        let [rows, columns] = self.extent(part);
        (self.products() * rows * columns * self.bits(part) / (32 * LANES)) as usize
    }

    /// The type of a fragment's registers.
    pub const fn held(&self, part: Part) -> Type {
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

/// The elements of a matrix, row by row, each in the low bits of a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matrix {
    columns: u32,
    elements: Vec<u32>,
}

impl Matrix {
    /// One of zeros.
    pub fn new([rows, columns]: [u32; 2]) -> Matrix {
        Matrix { columns, elements: vec![0; (rows * columns) as usize] }
    }

    /// One of these elements, row by row.
    pub fn of(columns: u32, elements: Vec<u32>) -> Matrix {
        Matrix { columns, elements }
    }

    /// An element.
    pub fn at(&self, row: u32, column: u32) -> u32 {
        self.elements.get((row * self.columns + column) as usize).copied().unwrap_or(0)
    }

    /// Changes an element.
    pub fn set(&mut self, row: u32, column: u32, element: u32) {
        if let Some(place) = self.elements.get_mut((row * self.columns + column) as usize) {
            *place = element;
        }
    }

    /// The matrix whose rows are the columns of this one.
    #[must_use]
    pub fn transposed(&self) -> Matrix {
        let rows = self.elements.len() as u32 / self.columns.max(1);
        let elements = (0..self.columns).flat_map(|column| (0..rows).map(move |row| self.at(row, column)));
        Matrix { columns: rows, elements: elements.collect() }
    }

    /// Makes each element, a floating-point number of that type, its negative.
    pub fn negate(&mut self, ty: Type) {
        self.elements.iter_mut().for_each(|element| *element ^= 1 << (ty.bits() - 1));
    }

    /// All of them, row by row.
    pub fn elements(&self) -> &[u32] {
        &self.elements
    }
}
