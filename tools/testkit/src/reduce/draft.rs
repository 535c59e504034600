//! Changes to a test case, before the verifier has checked the changed kernel.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use halfbyte_ir::{Attr, Block, Inst, Kernel, Op, Span, Type, Value};

use super::Case;
use crate::trial::Launch;

/// A changed copy of a test case, whose kernel may be malformed.
pub(super) struct Draft {
    pub kernel: Kernel,
    pub launch: Launch,
}

/// Map from a replaced value to its replacement.
pub(super) type Replaced = SecondaryMap<Value, PackedOption<Value>>;

impl Draft {
    pub(super) fn of(case: &Case) -> Draft {
        Draft { kernel: case.kernel().clone(), launch: case.launch().clone() }
    }

    /// Returns the changed test case, or `None` if its kernel is malformed.
    pub(super) fn case(self) -> Option<Case> {
        Case::new(&self.kernel, self.launch)
    }

    /// Removes instructions from their blocks.
    pub(super) fn remove(&mut self, is_gone: impl Fn(Inst) -> bool) {
        for &block in &self.kernel.layout {
            self.kernel.blocks[block].insts.retain(|&inst| !is_gone(inst));
        }
    }

    /// Returns a zero constant of the type, defined in the entry block. Returns `None` for the type of an address.
    pub(super) fn zero(&mut self, ty: Type) -> Option<Value> {
        if ty == Type::PTR {
            return None;
        }
        let is_zero = |kernel: &Kernel, inst: Inst| {
            let data = &kernel.insts[inst];
            data.op == Op::Const && data.ty == ty && kernel.const_bits(inst) == Some([0; 8])
        };
        self.first(is_zero, |kernel| {
            let attr = kernel.const_attr(ty, [0; 8]);
            kernel.make_inst(Op::Const, ty, attr, &[], Some(ty), Span::default())
        })
    }

    /// Returns the value of `item_id`, computed in the entry block.
    pub(super) fn item_id(&mut self) -> Option<Value> {
        let is_item = |kernel: &Kernel, inst: Inst| kernel.insts[inst].op == Op::ItemId;
        self.first(is_item, |kernel| {
            kernel.make_inst(Op::ItemId, Type::I32, Attr::None, &[], Some(Type::I32), Span::default())
        })
    }

    /// Returns the result of an instruction without operands. The instruction is moved to the start
    /// of the entry block, or created there, so that its result dominates all uses.
    fn first(
        &mut self,
        is_it: impl Fn(&Kernel, Inst) -> bool,
        make: impl FnOnce(&mut Kernel) -> Inst,
    ) -> Option<Value> {
        let kernel = &mut self.kernel;
        let entry = kernel.entry()?;
        let found = kernel.layout.iter().find_map(|&block| {
            let place = kernel.blocks[block].insts.iter().position(|&inst| is_it(kernel, inst))?;
            Some((block, place))
        });
        let inst = match found {
            Some((block, place)) => kernel.blocks[block].insts.remove(place),
            None => make(kernel),
        };
        kernel.blocks[entry].insts.insert(0, inst);
        kernel.result(inst)
    }
}

/// Returns all instructions except terminators, in the order of the kernel's text.
pub(super) fn straight(kernel: &Kernel) -> Vec<(Block, Inst)> {
    let of = |&block: &Block| kernel.blocks[block].insts.iter().map(move |&inst| (block, inst));
    kernel.layout.iter().flat_map(of).filter(|&(_, inst)| !kernel.insts[inst].op.is_terminator()).collect()
}
