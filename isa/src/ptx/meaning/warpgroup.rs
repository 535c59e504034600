//! Semantics of `wgmma`: the rows of a warpgroup's product that one warp computes.

use super::matrix::{Warp, WholeWarp};
use super::{Location, Reader};
use crate::halu::concrete::Concrete;
use crate::ptx::matrix::{Descriptor, Fragment, Matrix, MatrixOperand, PIECE, ProductShape, multiply};
use crate::ptx::operand::Operand;

/// Number of warps in a warpgroup.
const WARPS: u32 = 4;

/// Number of 16-byte pieces in which the inner dimension of a matrix is stored.
const PIECES: u32 = 2;

/// Index of the operand A of `wgmma`. Operand 0 is D.
const A: usize = 1;
const B: usize = 2;
const SCALE_D: usize = 3;
const SCALE_A: usize = 4;
const SCALE_B: usize = 5;
/// The index of `trans_a` if A is in shared memory; otherwise the index of `trans_b`.
const TRANS_A: usize = 6;

impl<W: Warp> WholeWarp<'_, W> {
    /// Computes the rows of the product that belong to this warp.
    pub(super) fn multiply_rows(
        &mut self,
        form: &ProductShape,
        [of_d, of_a]: [&Fragment; 2],
        sm: u16,
    ) -> Result<(), W::Fault> {
        let empty = |part| Matrix::new(form.extent(part));
        let is_held = matches!(self.inst.operands.get(A), Some(Operand::Vector(_)));
        let [trans_a, trans_b] = if is_held { [None, Some(TRANS_A)] } else { [Some(TRANS_A), Some(TRANS_A + 1)] };
        let mut a = match is_held {
            true => of_a.gather(&self.operand(A)).into_iter().next().unwrap_or_else(|| empty(MatrixOperand::A)),
            false => self.lines(form, MatrixOperand::A, self.warp.number() % WARPS * form.m, trans_a)?,
        };
        // `lines` returns the columns of B as rows.
        let mut b = self.lines(form, MatrixOperand::B, 0, trans_b)?.transposed();
        if self.number(SCALE_A).is_some_and(|scale| scale != 1) {
            a.negate(form.ty(MatrixOperand::A));
        }
        if self.number(SCALE_B).is_some_and(|scale| scale != 1) {
            b.negate(form.ty(MatrixOperand::B));
        }
        let c = if self.holds(SCALE_D) { of_d.gather(&self.operand(0)) } else { Vec::new() };
        let c = c.into_iter().next().unwrap_or_else(|| empty(MatrixOperand::C));
        let given = of_d.scatter(&[multiply(form, sm, &a, &b, &c)]);
        self.write(|lane, place| given.get(place).and_then(|words| words.get(lane as usize)).copied().unwrap_or(0));
        Ok(())
    }

    /// Loads rows of A or columns of B from shared memory, beginning with row or column `first`.
    /// Each row of the returned matrix is one row of A or one column of B.
    fn lines(
        &mut self,
        form: &ProductShape,
        part: MatrixOperand,
        first: u32,
        transposed: Option<usize>,
    ) -> Result<Matrix, W::Fault> {
        let operand = if part == MatrixOperand::A { A } else { B };
        let descriptor = Descriptor::new(self.value(operand));
        let is_transposed = transposed.and_then(|operand| self.number(operand)) == Some(1);
        let [count, k] = if part == MatrixOperand::A { [form.m, form.k] } else { [form.n, form.k] };
        let (each, bits) = (k / PIECES, PIECE * 8 * PIECES / k);
        let mut lines = Matrix::new([count, k]);
        let mut put = |address, place: &dyn Fn(u32) -> [u32; 2]| {
            let piece = self.piece(address)?;
            for i in 0..each {
                let [line, k] = place(i);
                lines.set(line, k, (piece >> (i * bits)) as u32 & (u32::MAX >> (32 - bits)));
            }
            Ok(())
        };
        if is_transposed {
            for (group, k) in (0..count / each).flat_map(|group| (0..k).map(move |k| (group, k))) {
                put(descriptor.across(first / each + group, k), &|i| [each * group + i, k])?;
            }
        } else {
            for (line, piece) in (0..count).flat_map(|line| (0..PIECES).map(move |piece| (line, piece))) {
                put(descriptor.along(first + line, piece), &|i| [line, each * piece + i])?;
            }
        }
        Ok(lines)
    }

    /// Loads the 16-byte piece at an address of shared memory.
    fn piece(&mut self, address: u32) -> Result<u128, W::Fault> {
        let mut bytes = [0; PIECE as usize];
        // All lanes access the same address, so only lane 0 loads.
        self.warp.load(0, Location::Shared { base: [address, 0], offset: 0 }, &mut bytes)?;
        Ok(u128::from_le_bytes(bytes))
    }

    /// Returns the value of a register or immediate operand, which all lanes share.
    fn value(&mut self, operand: usize) -> u64 {
        match self.inst.operands.get(operand) {
            Some(&Operand::Register(reg)) => {
                let [low, high] = self.warp.reader(0).register(&mut Concrete, reg);
                u64::from(high) << 32 | u64::from(low)
            }
            Some(&Operand::Number(bits)) => bits,
            _ => 0,
        }
    }

    fn number(&self, operand: usize) -> Option<u64> {
        match self.inst.operands.get(operand) {
            Some(&Operand::Number(bits)) => Some(bits),
            _ => None,
        }
    }

    /// Returns the value of a predicate operand, which all lanes share.
    fn holds(&mut self, operand: usize) -> bool {
        match self.inst.operands.get(operand) {
            Some(&Operand::Register(reg)) => self.warp.reader(0).predicate(&mut Concrete, reg),
            Some(&Operand::Not(reg)) => !self.warp.reader(0).predicate(&mut Concrete, reg),
            _ => false,
        }
    }
}
