//! f64 arithmetic on whole rows, called by compiled code.

use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{Domain, FloatOp};

use super::dataflow::MOST;

/// Word of the result of an f64 operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct DoubleWord {
    pub op: FloatOp,
    /// 0 for the low word, 1 for the high word.
    pub part: u8,
}

impl DoubleWord {
    /// Computes the word. The operands' words are in order, the low word first. Words of missing operands are ignored.
    fn of(self, [a, b, c, d, e, f]: [u32; MOST]) -> u32 {
        Concrete.double(&self.op, [[a, b], [c, d], [e, f]])[usize::from(self.part & 1)]
    }

    fn words(self) -> usize {
        2 * self.op.kind.operands()
    }
}

/// Computes a row. `span` is the length of the row in bytes, a multiple of 64. Bits 0 to 5 of `span` are set if the
/// corresponding operand is a row instead of a uniform word.
///
/// # Safety
/// The result and the operand rows have the length in `span`, and there is an operand for each word of the operation.
pub(super) unsafe extern "C" fn row(result: *mut u32, operands: *const *const u32, span: usize, op: *const DoubleWord) {
    // SAFETY: the caller guarantees that the rows and the operands are valid.
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

/// Computes the word for uniform operands.
///
/// # Safety
/// There is an operand for each word of the operation.
pub(super) unsafe extern "C" fn word(operands: *const u32, op: *const DoubleWord) -> u32 {
    // SAFETY: the caller guarantees that the operands are valid.
    unsafe {
        let op = *op;
        let mut words = [0; MOST];
        for (k, word) in words.iter_mut().enumerate().take(op.words()) {
            *word = operands.add(k).read();
        }
        op.of(words)
    }
}
