//! Selected code: machine instructions on virtual registers, in SSA form with block parameters.

use std::cmp::Reverse;
use std::convert::Infallible;
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;

use arrayvec::ArrayVec;
use cranelift_entity::EntityRef;
use halfbyte_abi::Signature;
use halfbyte_ir::flow::{Graph, Node, reverse_postorder};
use halfbyte_isa::object::{Loc, PartialAccess};
use halfbyte_isa::ptx;

/// Machine for which instructions are selected.
pub trait Machine: Copy + Eq + Debug + Default + 'static {
    /// An instruction, or a bundle of instructions that must stay together.
    type Inst: Clone + Debug;
    /// Position of a register number in an instruction, such as a bit field.
    type RegisterPosition: Copy + Eq + Debug;
    /// Register class of a virtual register.
    type Class: Copy + Eq + Hash + Debug;
    /// Data of a kernel, other than its instructions, that emission needs.
    type Extra: Clone + Debug;

    /// Returns an unconditional branch instruction.
    fn jump() -> Self::Inst;
    /// Returns the instruction that ends the program or the work item.
    fn exit() -> Self::Inst;
    /// Inverts the condition of a conditional branch.
    fn invert(branch: &mut Self::Inst);
    /// Writes a register number into an instruction, at a position.
    fn set(inst: &mut Self::Inst, place: Self::RegisterPosition, number: u64);

    /// Calls `each` for every register that an instruction with these operands accesses, with the kind of access.
    fn visit(inst: &Self::Inst, operands: &[Operand<Self>], mut each: impl FnMut(Access, VReg)) {
        let _ = inst;
        operands.iter().for_each(|operand| each(operand.access, operand.reg));
    }

    /// Replaces pseudo-instructions by sequences of instructions. Most machines have none.
    ///
    /// # Errors
    /// Returns a message if the table of sequences is malformed.
    fn expand(code: &mut VCode<Self>) -> Result<(), String> {
        let _ = code;
        Ok(())
    }

    /// Returns `true` if a block parameter of class `param` can receive an argument of class `arg`.
    fn holds(param: Self::Class, arg: Self::Class) -> bool {
        param == arg
    }
}

/// Index of a block of a machine function, in layout order.
pub type BlockIndex = u32;

/// Virtual register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct VReg(pub u32);

impl From<ptx::Reg> for VReg {
    fn from(reg: ptx::Reg) -> VReg {
        VReg(reg.0)
    }
}

impl From<VReg> for ptx::Reg {
    fn from(reg: VReg) -> ptx::Reg {
        ptx::Reg(reg.0)
    }
}

/// Kind of access to a register operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Reads the register.
    Use,
    /// Writes all or a part of the register. The other parts are undefined.
    Def,
    /// Writes a part of the register. The other parts keep the contents of the given old register.
    /// Both are allocated to the same hardware registers.
    UpdateInPlace(VReg),
}

/// Register operand of an instruction.
///
/// On VP1, consecutive operands with the same `place` form a tuple of registers, for which the
/// instruction encodes one number n. The parts of a tuple are numbered from 0:
///
/// - A pair `$v[n]d` is n and n | 1. Both are one register if both operands are the same.
/// - In `(slct $c bit $v[n]d)`, part 0 is read if the bit is 0, and part 1 if the bit is 1.
/// - In a quad of `$v`, part k is element k if bits 4 and 5 of the instruction's `$c`, which rotate
///   the quad, are zero. Parts that the instruction does not read may be left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand<M: Machine> {
    /// Position of the register number in the instruction.
    pub place: M::RegisterPosition,
    /// The register.
    pub reg: VReg,
    /// HALU: number of the 32-bit word of a wide register that is accessed. VP1: index of the part in a tuple.
    pub part: u8,
    /// Kind of access.
    pub access: Access,
}

/// Instruction on virtual registers. A register field without an operand already holds its final
/// number, such as that of RZ.
#[derive(Clone, Debug)]
pub struct VInst<M: Machine> {
    /// Machine instruction, in which the numbers of virtual registers are not set.
    pub inst: M::Inst,
    /// Range of the instruction's operands in [`VCode::operands`].
    pub operands: Range<u32>,
    /// Location in the source from which the instruction was compiled.
    pub loc: Loc,
}

impl<M: Machine> VInst<M> {
    /// Creates an instruction without operands.
    pub fn alone(inst: M::Inst, loc: Loc) -> VInst<M> {
        VInst { inst, operands: 0..0, loc }
    }
}

/// Control-flow edge to a block, with its block arguments.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Target block of the edge.
    pub block: BlockIndex,
    /// Range of the block arguments in [`VCode::pool`], one per parameter of the target block.
    pub args: Range<u32>,
}

/// Terminator of a block. No edge is critical: if a block has several successors, each successor
/// has a single predecessor.
#[derive(Clone, Debug)]
pub enum Terminator<M: Machine> {
    /// Ends the work item, or the program on VP1.
    Exit,
    /// Jumps to one block.
    Jump(Edge),
    /// Branches to one of two blocks.
    Branch {
        /// Branch instruction, which reads registers and writes none.
        inst: VInst<M>,
        /// Edge to the block that is executed next if the branch is taken.
        then: Edge,
        /// Edge to the block that is executed next if the branch is not taken.
        otherwise: Edge,
    },
}

impl<M: Machine> Terminator<M> {
    /// Returns the edges of the terminator. The edge of a taken branch comes first.
    pub fn edges(&self) -> impl DoubleEndedIterator<Item = &Edge> {
        let [first, second] = match self {
            Terminator::Exit => [None, None],
            Terminator::Jump(edge) => [Some(edge), None],
            Terminator::Branch { then, otherwise, .. } => [Some(then), Some(otherwise)],
        };
        first.into_iter().chain(second)
    }
}

/// Basic block of selected code.
#[derive(Clone, Debug)]
pub struct VBlock<M: Machine> {
    /// Range of the block's parameters in [`VCode::pool`].
    pub params: Range<u32>,
    /// Range of the block's instructions in [`VCode::insts`], without the terminator.
    pub insts: Range<u32>,
    /// Terminator of the block.
    pub terminator: Terminator<M>,
    /// Source location of the terminator.
    pub loc: Loc,
}

/// Kernel as machine instructions on virtual registers.
#[derive(Clone, Debug)]
pub struct VCode<M: Machine> {
    /// Name and parameters of the kernel.
    pub signature: Signature,
    /// Register class of each virtual register. Each register has one definition. A register that
    /// is defined by [`Access::UpdateInPlace`] continues another register.
    pub vregs: Vec<M::Class>,
    /// Blocks in layout order; the first one is the entry and has no parameters.
    pub blocks: Vec<VBlock<M>>,
    /// Instructions of all blocks, in block order.
    pub insts: Vec<VInst<M>>,
    /// Operands of all instructions, including branches.
    pub operands: Vec<Operand<M>>,
    /// Registers of all register lists: block parameters and block arguments.
    pub pool: Vec<VReg>,
    /// Source accesses of loads and stores that each replace several source accesses, in order. The
    /// field `word` of such an access is an index into [`VCode::insts`].
    pub parts: Vec<PartialAccess>,
    /// Target-specific data for emission.
    pub extra: M::Extra,
}

/// Control-flow graph of the code. If a block has two successors, the later one is returned first,
/// so that a reverse postorder is close to the layout order.
impl<M: Machine> Graph for VCode<M> {
    type Node = Node;

    fn count(&self) -> usize {
        self.blocks.len()
    }

    fn entry(&self) -> Option<Node> {
        self.nodes().next()
    }

    fn nodes(&self) -> impl Iterator<Item = Node> {
        (0..self.blocks.len()).map(Node::new)
    }

    fn successors(&self, node: Node) -> impl Iterator<Item = Node> {
        let edges = self.blocks.get(node.index()).into_iter().flat_map(|block| block.terminator.edges());
        let mut targets: ArrayVec<BlockIndex, 2> = edges.map(|edge| edge.block).collect();
        targets.retain(|&mut target| (target as usize) < self.blocks.len());
        targets.sort_unstable_by_key(|&target| Reverse(target));
        targets.into_iter().map(|target| Node::new(target as usize))
    }
}

impl<M: Machine> VCode<M> {
    /// Creates code without blocks.
    pub fn new(signature: Signature, extra: M::Extra) -> VCode<M> {
        VCode {
            signature,
            vregs: Vec::new(),
            blocks: Vec::new(),
            insts: Vec::new(),
            operands: Vec::new(),
            pool: Vec::new(),
            parts: Vec::new(),
            extra,
        }
    }

    /// Adds a virtual register of a class, and returns it.
    pub fn add_register(&mut self, class: M::Class) -> VReg {
        self.vregs.push(class);
        VReg(self.vregs.len() as u32 - 1)
    }

    /// Appends the operands of an instruction and returns their range for [`VInst::operands`].
    pub fn add_operands(&mut self, operands: impl IntoIterator<Item = Operand<M>>) -> Range<u32> {
        let start = self.operands.len() as u32;
        self.operands.extend(operands);
        start..self.operands.len() as u32
    }

    /// Appends a register list to [`VCode::pool`], and returns its range.
    pub fn add_list(&mut self, list: impl IntoIterator<Item = VReg>) -> Range<u32> {
        let start = self.pool.len() as u32;
        self.pool.extend(list);
        start..self.pool.len() as u32
    }

    /// Appends a block with the given parameters, instructions and terminator.
    pub fn add_block(
        &mut self,
        params: impl IntoIterator<Item = VReg>,
        insts: impl IntoIterator<Item = VInst<M>>,
        terminator: Terminator<M>,
        loc: Loc,
    ) -> BlockIndex {
        let params = self.add_list(params);
        let start = self.insts.len() as u32;
        self.insts.extend(insts);
        let insts = start..self.insts.len() as u32;
        self.blocks.push(VBlock { params, insts, terminator, loc });
        self.blocks.len() as BlockIndex - 1
    }

    /// Returns the instructions of a block, without its terminator.
    pub fn insts_of(&self, block: &VBlock<M>) -> &[VInst<M>] {
        self.insts.get(block.insts.start as usize..block.insts.end as usize).unwrap_or(&[])
    }

    /// Calls `each` for every register that an instruction accesses, with the kind of access.
    pub fn visit(&self, inst: &VInst<M>, each: impl FnMut(Access, VReg)) {
        M::visit(&inst.inst, self.operands(inst), each);
    }

    /// Calls `each` for every register that a terminator reads, including block arguments.
    pub fn visit_end(&self, terminator: &Terminator<M>, mut each: impl FnMut(VReg)) {
        if let Terminator::Branch { inst, .. } = terminator {
            self.visit(inst, |_, reg| each(reg));
        }
        terminator.edges().flat_map(|edge| self.list(&edge.args)).for_each(|&reg| each(reg));
    }

    /// Returns all blocks in an order that visits definitions before uses: reachable blocks in
    /// reverse postorder, then unreachable blocks.
    pub fn order(&self) -> Vec<BlockIndex> {
        let reached = reverse_postorder(self);
        let mut is_reached = vec![false; self.blocks.len()];
        reached.iter().for_each(|node| is_reached[node.index()] = true);
        let others = self.nodes().filter(|node| !is_reached[node.index()]);
        reached.iter().copied().chain(others).map(|node| node.index() as BlockIndex).collect()
    }

    /// Rebuilds the code. `each` is called for each instruction and appends this instruction or its replacements to a
    /// list. Blocks are visited in `order`. `each` may add virtual registers to the list of their classes. It must not
    /// split an instruction that performs several source accesses.
    ///
    /// # Errors
    /// Returns the first error of `each`. The code is unusable afterwards.
    pub fn rewrite<E>(
        &mut self,
        order: &[BlockIndex],
        mut each: impl FnMut(&mut Vec<M::Class>, BlockIndex, VInst<M>, &mut Vec<VInst<M>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut old: Vec<Option<VInst<M>>> = std::mem::take(&mut self.insts).into_iter().map(Some).collect();
        let mut made: Vec<Vec<VInst<M>>> =
            self.blocks.iter().map(|block| Vec::with_capacity(block.insts.len())).collect();
        // `places` holds, for each old instruction, the position in its block of the first
        // instruction that replaces it.
        let mut places = vec![0u32; old.len()];
        for &index in order {
            let (Some(block), Some(out)) = (self.blocks.get(index as usize), made.get_mut(index as usize)) else {
                continue;
            };
            for at in block.insts.clone() {
                let taken = old.get_mut(at as usize).and_then(Option::take);
                let (Some(inst), Some(place)) = (taken, places.get_mut(at as usize)) else { continue };
                *place = out.len() as u32;
                each(&mut self.vregs, index, inst, out)?;
            }
        }
        let mut parts = self.parts.iter_mut().peekable();
        for (block, made) in self.blocks.iter_mut().zip(made) {
            let start = self.insts.len() as u32;
            while let Some(part) = parts.next_if(|part| part.word < block.insts.end) {
                part.word = start + places.get(part.word as usize).copied().unwrap_or(0);
            }
            self.insts.extend(made);
            block.insts = start..self.insts.len() as u32;
        }
        Ok(())
    }

    /// Removes the instructions for which `keep` returns `false`. The arguments of `keep` are the
    /// index of an instruction and the instruction.
    pub fn retain(&mut self, mut keep: impl FnMut(u32, &VInst<M>) -> bool) {
        let in_order: Vec<BlockIndex> = (0..self.blocks.len() as BlockIndex).collect();
        let mut number = 0;
        let Ok(()) = self.rewrite(&in_order, |_, _, inst, out| {
            if keep(number, &inst) {
                out.push(inst);
            }
            number += 1;
            Ok::<(), Infallible>(())
        });
    }

    /// Inserts instructions at the start of the entry block.
    pub fn prepend(&mut self, insts: Vec<VInst<M>>) {
        let count = insts.len() as u32;
        self.insts.splice(0..0, insts);
        self.parts.iter_mut().for_each(|part| part.word += count);
        for (number, block) in self.blocks.iter_mut().enumerate() {
            block.insts.start += if number == 0 { 0 } else { count };
            block.insts.end += count;
        }
    }

    /// Appends instructions to the ends of blocks. Instructions for the same block keep their order.
    pub fn append(&mut self, mut more: Vec<(BlockIndex, VInst<M>)>) {
        more.sort_by_key(|&(block, _)| block);
        let mut more = more.into_iter().peekable();
        let mut old = std::mem::take(&mut self.insts).into_iter();
        let mut parts = self.parts.iter_mut().peekable();
        for (number, block) in (0..).zip(&mut self.blocks) {
            let start = self.insts.len() as u32;
            let moved = start - block.insts.start;
            while let Some(part) = parts.next_if(|part| part.word < block.insts.end) {
                part.word += moved;
            }
            self.insts.extend(old.by_ref().take(block.insts.len()));
            while let Some((_, inst)) = more.next_if(|&(of, _)| of == number) {
                self.insts.push(inst);
            }
            block.insts = start..self.insts.len() as u32;
        }
    }

    /// Returns the operands of an instruction.
    pub fn operands(&self, inst: &VInst<M>) -> &[Operand<M>] {
        self.operands.get(inst.operands.start as usize..inst.operands.end as usize).unwrap_or(&[])
    }

    /// Returns the source accesses that a range of instructions performs, if these replace several source accesses.
    pub fn parts(&self, insts: &Range<u32>) -> &[PartialAccess] {
        let place = |at: u32| self.parts.partition_point(|part| part.word < at);
        self.parts.get(place(insts.start)..place(insts.end)).unwrap_or(&[])
    }

    /// Returns the registers of a list, which is a range of [`VCode::pool`].
    pub fn list(&self, range: &Range<u32>) -> &[VReg] {
        self.pool.get(range.start as usize..range.end as usize).unwrap_or(&[])
    }
}
