//! Zero initialisation of scratch arrays. The local memory of a GPU starts with undefined contents,
//! but scratch memory of the IR starts as zeros.

use halfbyte_ir::flow::Flow;
use halfbyte_ir::{Block, Inst, Kernel, Op, Space, Value};
use halfbyte_isa::ptx::types::{Space as RegSpace, Token, Type};
use halfbyte_isa::ptx::{Address, Base, FrameVar, Opcode, Operand};

use super::Lowering;

impl Lowering<'_> {
    /// Emits stores of zeros to the scratch arrays from which an item may load bytes that it has not stored.
    pub(crate) fn clear_scratch(&mut self, flow: &Flow<Block>) {
        let kernel = self.kernel;
        let arrays = kernel.arrays.iter().filter(|array| array.space == Space::Scratch);
        for (number, array) in (0..).zip(arrays) {
            if is_stored_first(kernel, flow, array.value) {
                continue;
            }
            let base = Base::Frame(FrameVar { number, space: RegSpace::Local });
            let mut at = 0;
            for (bytes, ty) in [(8, Type::B64), (4, Type::B32), (2, Type::B16), (1, Type::B8)] {
                while bytes <= u64::from(array.align) && at + bytes <= array.bytes() {
                    let place = Operand::Memory(Address { base, offset: at as i32 });
                    self.out.push(Opcode::ST, &[Token::Local, Token::Type(ty)], &[place, Operand::Number(0)]);
                    at += bytes;
                }
            }
        }
    }
}

/// Load or store that accesses an array directly, at a constant offset.
struct NamedAccess {
    block: Block,
    /// Index of the instruction in its block.
    at: usize,
    start: i32,
    bytes: u32,
}

/// Returns `true` if each load of an array is dominated by a store that covers the loaded bytes.
fn is_stored_first(kernel: &Kernel, flow: &Flow<Block>, array: Value) -> bool {
    let (mut loads, mut stores) = (Vec::new(), Vec::new());
    for &block in &kernel.layout {
        for (at, &inst) in kernel.blocks[block].insts.iter().enumerate() {
            match access(kernel, inst, array) {
                Some(Use::None) => {}
                Some(Use::Load(start, bytes)) => loads.push(NamedAccess { block, at, start, bytes }),
                Some(Use::Store(start, bytes)) => stores.push(NamedAccess { block, at, start, bytes }),
                None => return false,
            }
        }
        let calls = kernel.terminator(block).into_iter().flat_map(|end| kernel.targets(end));
        if calls.flat_map(|call| kernel.call_args(call)).any(|&value| value == array) {
            return false;
        }
    }
    let is_before = |store: &NamedAccess, load: &NamedAccess| match store.block == load.block {
        true => store.at < load.at,
        false => flow.dominates(store.block, load.block),
    };
    let has = |store: &NamedAccess, load: &NamedAccess| {
        let end = |place: &NamedAccess| i64::from(place.start) + i64::from(place.bytes);
        store.start <= load.start && end(load) <= end(store)
    };
    loads.iter().all(|load| stores.iter().any(|store| is_before(store, load) && has(store, load)))
}

/// Use of an array by an instruction.
enum Use {
    None,
    /// Load: start and length in bytes.
    Load(i32, u32),
    Store(i32, u32),
}

/// Returns how an instruction uses an array, or `None` if the use is not a load or store at a constant offset.
fn access(kernel: &Kernel, inst: Inst, array: Value) -> Option<Use> {
    let (data, args) = (&kernel.insts[inst], kernel.args(inst));
    if !args.contains(&array) {
        return Some(Use::None);
    }
    let mem = data.attr.mem();
    match (data.op, args) {
        (Op::Load, &[_]) => Some(Use::Load(mem?.offset, data.ty.bytes())),
        (Op::Store, &[_, _]) => Some(Use::Store(mem?.offset, data.ty.bytes())),
        _ => None,
    }
}
