//! Builder that creates a kernel block by block.

use halfbyte_ir::{Attr, Block, BlockCall, IntCC, Kernel, Op, Span, Type, Value, ValueList};

/// A kernel under construction. New instructions are appended to the current block.
pub(super) struct KernelBuilder {
    pub kernel: Kernel,
    pub block: Block,
    /// Source span of new instructions.
    pub span: Span,
}

impl KernelBuilder {
    /// Appends an instruction to the current block and returns its result.
    pub(super) fn value(&mut self, op: Op, ty: Type, attr: Attr, args: &[Value]) -> Value {
        let result = op.row().result_type(ty).unwrap_or(ty);
        let inst = self.kernel.push_inst(self.block, op, ty, attr, args, Some(result), self.span);
        // `push_inst` always creates the result.
        self.kernel.result(inst).unwrap_or_else(|| Value::from_u32(0))
    }

    /// Appends an instruction without attributes and returns its result.
    pub(super) fn op(&mut self, op: Op, ty: Type, args: &[Value]) -> Value {
        self.value(op, ty, Attr::None, args)
    }

    /// Appends a constant and returns it. `bits` are its 64-bit words, with lane 0 in the lowest bits.
    pub(super) fn constant(&mut self, ty: Type, bits: [u64; 8]) -> Value {
        let attr = self.kernel.const_attr(ty, bits);
        self.value(Op::Const, ty, attr, &[])
    }

    pub(super) fn zero(&mut self, ty: Type) -> Value {
        self.constant(ty, [0; 8])
    }

    pub(super) fn word(&mut self, number: u32) -> Value {
        self.constant(Type::I32, [u64::from(number), 0, 0, 0, 0, 0, 0, 0])
    }

    pub(super) fn icmp(&mut self, cc: IntCC, ty: Type, a: Value, b: Value) -> Value {
        self.value(Op::Icmp, ty, Attr::IntCC(cc), &[a, b])
    }

    /// Ends the current block with a branch.
    pub(super) fn branch(&mut self, op: Op, args: &[Value], targets: &[(Block, &[Value])]) {
        let pool = &mut self.kernel.pool;
        let call =
            |&(block, args): &(Block, &[Value])| BlockCall { block, args: ValueList::from_slice(args, pool), case: 0 };
        let calls: Vec<BlockCall> = targets.iter().map(call).collect();
        let attr = Attr::Targets(self.kernel.add_calls(&calls));
        self.kernel.push_inst(self.block, op, Type::I32, attr, args, None, self.span);
    }

    pub(super) fn ret(&mut self) {
        self.kernel.push_inst(self.block, Op::Ret, Type::I32, Attr::None, &[], None, self.span);
    }
}
