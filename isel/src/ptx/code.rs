//! Selected PTX: instructions on virtual registers in SSA form with block parameters, and what is made of them.
//!
//! Registers are those of the instructions themselves, so nothing is left to allocate: what takes the place of allocation gives
//! block parameters their values by moves ([`Func`]).

use halfbyte_isa::abi::Signature;
use halfbyte_isa::object::{Loc, Part};
use halfbyte_isa::ptx::types::Type;
use halfbyte_isa::ptx::{Guard, Inst, Reg};

/// An instruction, and the text that it comes from.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The instruction.
    pub inst: Inst,
    /// The text it comes from.
    pub loc: Loc,
    /// Of an access that stands for several of the text: these, in the order in which the text makes them. They are of this
    /// instruction, whatever word they name.
    pub parts: Vec<Part>,
}

impl Placed {
    /// An instruction that comes from one place.
    pub fn new(inst: Inst, loc: Loc) -> Placed {
        Placed { inst, loc, parts: Vec::new() }
    }
}

/// A way out of a block.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Where to, by number in [`Code::blocks`].
    pub block: u32,
    /// The arguments, one a parameter.
    pub args: Vec<Reg>,
}

/// How a block ends. No edge is critical: a block with several ways out has only targets with one way in.
#[derive(Clone, Debug)]
pub enum Terminator {
    /// The work item ends.
    Exit,
    /// To one block.
    Jump(Edge),
    /// To one of two blocks.
    Branch {
        /// Where the branch is taken.
        guard: Guard,
        /// Where to if it is taken.
        then: Edge,
        /// Where to if it is not.
        otherwise: Edge,
    },
}

impl Terminator {
    /// The ways out.
    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        let (first, second) = match self {
            Terminator::Exit => (None, None),
            Terminator::Jump(edge) => (Some(edge), None),
            Terminator::Branch { then, otherwise, .. } => (Some(then), Some(otherwise)),
        };
        first.into_iter().chain(second)
    }

    /// Each register that it reads, to be changed.
    pub fn registers_mut(&mut self, mut each: impl FnMut(&mut Reg)) {
        match self {
            Terminator::Exit => {}
            Terminator::Jump(edge) => edge.args.iter_mut().for_each(each),
            Terminator::Branch { guard, then, otherwise } => {
                each(&mut guard.reg);
                then.args.iter_mut().chain(&mut otherwise.args).for_each(each);
            }
        }
    }

    /// Each register that it reads.
    pub fn registers(&self) -> impl Iterator<Item = Reg> {
        let guard = match self {
            Terminator::Branch { guard, .. } => Some(guard.reg),
            _ => None,
        };
        guard.into_iter().chain(self.edges().flat_map(|edge| edge.args.iter().copied()))
    }
}

/// A block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its parameters.
    pub params: Vec<Reg>,
    /// Its instructions, without the terminator.
    pub insts: Vec<Placed>,
    /// How it ends.
    pub terminator: Terminator,
    /// The text that the terminator comes from.
    pub loc: Loc,
}

/// A kernel in PTX instructions, each register defined once.
///
/// Until video instructions are expanded for the machine, they stand for what it has not itself.
#[derive(Clone, Debug)]
pub struct Code {
    /// The kernel's name and parameters.
    pub signature: Signature,
    /// The SM version.
    pub sm: u16,
    /// The types of the registers, by number.
    pub registers: Vec<Type>,
    /// The blocks in order; the first is the entry and has no parameters.
    pub blocks: Vec<Block>,
    /// The most work items of a launch: with more, an address would wrap that is computed without wrapping.
    pub max_items: u64,
}

/// A kernel in PTX instructions, with registers that may be defined anywhere.
#[derive(Clone, Debug)]
pub struct Func {
    /// The kernel's name and parameters.
    pub signature: Signature,
    /// The SM version.
    pub sm: u16,
    /// The types of the registers, by number.
    pub registers: Vec<Type>,
    /// The blocks in order; the first is the entry. Each ends with branches, of which the last is always taken, or with `ret`.
    /// A label is the number of a block.
    pub blocks: Vec<Vec<Placed>>,
    /// The most work items of a launch.
    pub max_items: u64,
}
