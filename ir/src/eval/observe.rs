//! What an evaluation tells of its steps to who asks.

use halfbyte_abi::Type;

use crate::kernel::{Block, Inst, Value};

/// Observes what the items of a launch do, in the order in which they do it. Constants are not reported: they have their values
/// before anything runs.
pub trait Observer {
    /// Whether it observes anything. Where it does not, nothing is done for it.
    const ASKS: bool = true;

    /// An item begins a block.
    fn block(&mut self, item: u32, block: Block);

    /// A value has these lanes now, the result of an instruction or a parameter of the block that has begun.
    fn value(&mut self, item: u32, value: Value, lanes: &[u64]);

    /// An item has reached memory. What a load gives is reported next, as a value.
    fn access(&mut self, item: u32, access: &Accessed<'_>);
}

/// A load or store that has been made.
#[derive(Clone, Copy, Debug)]
pub struct Accessed<'a> {
    /// The instruction.
    pub inst: Inst,
    /// Whether it is a store.
    pub write: bool,
    /// Where.
    pub address: u64,
    /// The parameter whose buffer that is in, by number, and the byte of it; none in a stream of a packed kernel.
    pub place: Option<(usize, u64)>,
    /// The type of what is read or written.
    pub ty: Type,
    /// Its lanes.
    pub lanes: &'a [u64],
}

/// Nobody.
impl Observer for () {
    const ASKS: bool = false;

    fn block(&mut self, _: u32, _: Block) {}

    fn value(&mut self, _: u32, _: Value, _: &[u64]) {}

    fn access(&mut self, _: u32, _: &Accessed<'_>) {}
}
