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
use halfbyte_isa::object::{Loc, Part};
use halfbyte_isa::ptx;

/// A machine that code is selected for.
pub trait Machine: Copy + Eq + Debug + Default + 'static {
    /// An instruction, or several that must stay together.
    type Inst: Clone + Debug;
    /// Where in it the number of a register stands.
    type Place: Copy + Eq + Debug;
    /// What a virtual register holds.
    type Class: Copy + Eq + Hash + Debug;
    /// What emission must know of a function beside its instructions.
    type Extra: Clone + Debug;

    /// A branch that is always taken.
    fn jump() -> Self::Inst;
    /// The end of the program, or of the work item.
    fn exit() -> Self::Inst;
    /// Lets a conditional branch be taken where it was not, and the other way round.
    fn invert(branch: &mut Self::Inst);
    /// Writes a register's number to its place.
    fn set(inst: &mut Self::Inst, place: Self::Place, number: u64);

    /// Shows each register that an instruction with these operands touches, and how.
    fn visit(inst: &Self::Inst, operands: &[Operand<Self>], mut each: impl FnMut(Access, VReg)) {
        let _ = inst;
        operands.iter().for_each(|operand| each(operand.access, operand.reg));
    }

    /// Puts sequences in the place of instructions that stand for them, on machines that have such.
    ///
    /// # Errors
    /// What is wrong with the table of sequences.
    fn expand(code: &mut VCode<Self>) -> Result<(), String> {
        let _ = code;
        Ok(())
    }

    /// Whether a register of one class can hold what one of the other does, as an edge hands it on.
    fn holds(param: Self::Class, arg: Self::Class) -> bool {
        param == arg
    }
}

/// A block of a machine function, by its place in the layout.
pub type BlockIndex = u32;

/// A virtual register.
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

/// How an instruction touches an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Reads it.
    Use,
    /// Writes all of it, or a part of it; the other parts hold nothing yet.
    Def,
    /// Writes a part; the other parts are those of this register, which lies in the same place.
    Replace(VReg),
}

/// A register operand of an instruction.
///
/// On VP1 several operands in a row with one place are a tuple, of which the instruction has one number n; their parts count
/// from 0. A pair `$v[n]d` is n and n | 1, which are one where both operands are the same register. Of `(slct $c bit $v[n]d)`,
/// part 0 is read where the bit is 0 and part 1 where it is 1. Of a quad of `$v`, part k is element k where the instruction's
/// `$c` has zeros in bits 4 and 5, which rotate it; parts of a quad that are not read may be left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand<M: Machine> {
    /// Where in the instruction the register number goes.
    pub place: M::Place,
    /// The register.
    pub reg: VReg,
    /// Of a wide register of HALU, the 32-bit part that the number names; of a tuple of VP1, which of its registers this is.
    pub part: u8,
    /// Read or written.
    pub access: Access,
}

/// An instruction. Register fields that no operand names already hold what they should, such as RZ.
#[derive(Clone, Debug)]
pub struct VInst<M: Machine> {
    /// What it is without its virtual registers.
    pub inst: M::Inst,
    /// Its operands in [`VCode::operands`].
    pub operands: Range<u32>,
    /// The text it comes from.
    pub loc: Loc,
}

impl<M: Machine> VInst<M> {
    /// An instruction that has no operands beside it.
    pub fn alone(inst: M::Inst, loc: Loc) -> VInst<M> {
        VInst { inst, operands: 0..0, loc }
    }
}

/// An edge.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Where to.
    pub block: BlockIndex,
    /// The arguments in [`VCode::pool`], one a parameter.
    pub args: Range<u32>,
}

/// How a block ends. No edge is critical: a block with several successors has only successors with one predecessor.
#[derive(Clone, Debug)]
pub enum Terminator<M: Machine> {
    /// The work item, or on VP1 the program, ends.
    Exit,
    /// To one block.
    Jump(Edge),
    /// By a branch to one of two blocks.
    Branch {
        /// The branch, which reads registers and writes none.
        inst: VInst<M>,
        /// Where to if it is taken.
        then: Edge,
        /// Where to if it is not.
        otherwise: Edge,
    },
}

impl<M: Machine> Terminator<M> {
    /// The edges, in order.
    pub fn edges(&self) -> impl DoubleEndedIterator<Item = &Edge> {
        let [first, second] = match self {
            Terminator::Exit => [None, None],
            Terminator::Jump(edge) => [Some(edge), None],
            Terminator::Branch { then, otherwise, .. } => [Some(then), Some(otherwise)],
        };
        first.into_iter().chain(second)
    }
}

/// A block.
#[derive(Clone, Debug)]
pub struct VBlock<M: Machine> {
    /// Its parameters in [`VCode::pool`].
    pub params: Range<u32>,
    /// Its instructions in [`VCode::insts`], without the terminator.
    pub insts: Range<u32>,
    /// How it ends.
    pub terminator: Terminator<M>,
    /// The text that the terminator comes from.
    pub loc: Loc,
}

/// A kernel in machine instructions on virtual registers.
#[derive(Clone, Debug)]
pub struct VCode<M: Machine> {
    /// The kernel's name and parameters.
    pub signature: Signature,
    /// What each virtual register holds. Each is defined once, except that [`Access::Replace`] continues another.
    pub vregs: Vec<M::Class>,
    /// The blocks in order; the first is the entry and has no parameters.
    pub blocks: Vec<VBlock<M>>,
    /// All instructions, block after block.
    pub insts: Vec<VInst<M>>,
    /// All operands, those of branches too.
    pub operands: Vec<Operand<M>>,
    /// Lists of registers.
    pub pool: Vec<VReg>,
    /// What instructions stand for that access more than one thing of the text, in their order; a part's word is the
    /// instruction's index in [`VCode::insts`].
    pub parts: Vec<Part>,
    /// What else emission must know.
    pub extra: M::Extra,
}

/// A search visits the later of two targets first, so that a reverse postorder is as near to the order of the blocks as can be.
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
    /// Code without blocks.
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

    /// A new register.
    pub fn add_register(&mut self, class: M::Class) -> VReg {
        self.vregs.push(class);
        VReg(self.vregs.len() as u32 - 1)
    }

    /// Appends the operands of an instruction, for [`VInst::operands`].
    pub fn add_operands(&mut self, operands: impl IntoIterator<Item = Operand<M>>) -> Range<u32> {
        let start = self.operands.len() as u32;
        self.operands.extend(operands);
        start..self.operands.len() as u32
    }

    /// Appends a list of registers.
    pub fn add_list(&mut self, list: impl IntoIterator<Item = VReg>) -> Range<u32> {
        let start = self.pool.len() as u32;
        self.pool.extend(list);
        start..self.pool.len() as u32
    }

    /// Appends a block of these instructions, with parameters.
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

    /// The instructions of a block, without its terminator.
    pub fn insts_of(&self, block: &VBlock<M>) -> &[VInst<M>] {
        self.insts.get(block.insts.start as usize..block.insts.end as usize).unwrap_or(&[])
    }

    /// Shows each register that an instruction touches, and how.
    pub fn visit(&self, inst: &VInst<M>, each: impl FnMut(Access, VReg)) {
        M::visit(&inst.inst, self.operands(inst), each);
    }

    /// Shows each register that a block's terminator reads.
    pub fn visit_end(&self, terminator: &Terminator<M>, mut each: impl FnMut(VReg)) {
        if let Terminator::Branch { inst, .. } = terminator {
            self.visit(inst, |_, reg| each(reg));
        }
        terminator.edges().flat_map(|edge| self.list(&edge.args)).for_each(|&reg| each(reg));
    }

    /// All blocks, definitions before uses: those that are reached in reverse postorder, then the others.
    pub fn order(&self) -> Vec<BlockIndex> {
        let reached = reverse_postorder(self);
        let mut is_reached = vec![false; self.blocks.len()];
        reached.iter().for_each(|node| is_reached[node.index()] = true);
        let others = self.nodes().filter(|node| !is_reached[node.index()]);
        reached.iter().copied().chain(others).map(|node| node.index() as BlockIndex).collect()
    }

    /// Has every instruction, taken in this order of the blocks, appended again or replaced by others. `each` gets the classes of
    /// the registers, to which it may add; an instruction that stands for several accesses must stay one.
    ///
    /// # Errors
    /// The first of `each`; then the code holds nothing of use.
    pub fn rewrite<E>(
        &mut self,
        order: &[BlockIndex],
        mut each: impl FnMut(&mut Vec<M::Class>, BlockIndex, VInst<M>, &mut Vec<VInst<M>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut old: Vec<Option<VInst<M>>> = std::mem::take(&mut self.insts).into_iter().map(Some).collect();
        let mut made: Vec<Vec<VInst<M>>> =
            self.blocks.iter().map(|block| Vec::with_capacity(block.insts.len())).collect();
        // By old instruction, where in its block that begins which has taken its place.
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

    /// Keeps the instructions for which this holds, of their number and themselves.
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

    /// Puts instructions before all others.
    pub fn prepend(&mut self, insts: Vec<VInst<M>>) {
        let count = insts.len() as u32;
        self.insts.splice(0..0, insts);
        self.parts.iter_mut().for_each(|part| part.word += count);
        for (number, block) in self.blocks.iter_mut().enumerate() {
            block.insts.start += if number == 0 { 0 } else { count };
            block.insts.end += count;
        }
    }

    /// Puts instructions after the others of their blocks, those of one block in this order.
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

    /// An instruction's operands.
    pub fn operands(&self, inst: &VInst<M>) -> &[Operand<M>] {
        self.operands.get(inst.operands.start as usize..inst.operands.end as usize).unwrap_or(&[])
    }

    /// The parts of a run of instructions.
    pub fn parts(&self, insts: &Range<u32>) -> &[Part] {
        let place = |at: u32| self.parts.partition_point(|part| part.word < at);
        self.parts.get(place(insts.start)..place(insts.end)).unwrap_or(&[])
    }

    /// A list of registers.
    pub fn list(&self, range: &Range<u32>) -> &[VReg] {
        self.pool.get(range.start as usize..range.end as usize).unwrap_or(&[])
    }
}
