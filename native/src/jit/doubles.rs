//! Arithmetic on f64 for whole rows, called by compiled code.

use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{Domain, FloatOp};

use super::dataflow::MOST;

/// A word of the result of an operation on f64s.
#[derive(Clone, Copy, Debug)]
pub(super) struct DoubleWord {
    pub op: FloatOp,
    /// The low one or the high one.
    pub part: u8,
}

impl DoubleWord {
    /// Of operands whose words are in order, the low one of each first; those that the operation does not have do not count.
    fn of(self, [a, b, c, d, e, f]: [u32; MOST]) -> u32 {
        Concrete.double(&self.op, [[a, b], [c, d], [e, f]])[usize::from(self.part & 1)]
    }

    fn words(self) -> usize {
        2 * self.op.kind.operands()
    }
}

/// Writes a row. The span is its length in bytes, a multiple of 64; its bits 0 to 5 say of each operand whether it is a row, or the
/// same word for all items.
///
/// # Safety
/// The result and the rows are as long as the span says, and there are as many operands as the operation has words.
pub(super) unsafe extern "C" fn row(result: *mut u32, operands: *const *const u32, span: usize, op: *const DoubleWord) {
    // SAFETY: the caller's promise.
    unsafe {
        let op = *op;
        for item in 0..span / 64 * 16 {
            let mut words = [0; MOST];
            for (k, word) in words.iter_mut().enumerate().take(op.words()) {
                let step = span >> k & 1;
                *word = (*operands.add(k)).add(item * step).read_unaligned();
            }
            result.add(item).write_unaligned(op.of(words));
        }
    }
}

/// The word of operands that are the same for all items.
///
/// # Safety
/// There are as many operands as the operation has words.
pub(super) unsafe extern "C" fn word(operands: *const u32, op: *const DoubleWord) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        let op = *op;
        let mut words = [0; MOST];
        for (k, word) in words.iter_mut().enumerate().take(op.words()) {
            *word = operands.add(k).read();
        }
        op.of(words)
    }
}
