//! Observers of an evaluation, which record the values and accesses of items.

use halfbyte_abi::Type;

use crate::kernel::{Block, Inst, Value};

/// Observer of the steps of a launch's items, in execution order. Constants are not reported,
/// because their values are set before execution.
pub trait Observer {
    /// `true` if the observer is active. The evaluator skips all reporting for an inactive observer.
    const IS_ACTIVE: bool = true;

    /// Reports that an item enters a block.
    fn block(&mut self, item: u32, block: Block);

    /// Reports the new lanes of a value: the result of an instruction, or a parameter of the block
    /// that the item has entered.
    fn value(&mut self, item: u32, value: Value, lanes: &[u64]);

    /// Reports a memory access. The value of a load is reported next.
    fn access(&mut self, item: u32, access: &Accessed<'_>);
}

/// A completed load or store.
#[derive(Clone, Copy, Debug)]
pub struct Accessed<'a> {
    /// The load or store instruction.
    pub inst: Inst,
    /// `true` for a store.
    pub write: bool,
    /// Byte address of the access.
    pub address: u64,
    /// Number of the parameter whose buffer is accessed, and the byte offset in the buffer; `None`
    /// for a stream of a packed kernel.
    pub place: Option<(usize, u64)>,
    /// Type of the accessed value.
    pub ty: Type,
    /// Lanes of the accessed value.
    pub lanes: &'a [u64],
}

/// Inactive observer.
impl Observer for () {
    const IS_ACTIVE: bool = false;

    fn block(&mut self, _: u32, _: Block) {}

    fn value(&mut self, _: u32, _: Value, _: &[u64]) {}

    fn access(&mut self, _: u32, _: &Accessed<'_>) {}
}
