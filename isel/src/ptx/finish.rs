//! Leaves SSA form: block parameters get their values by moves, and registers that can be one are.
//!
//! An argument that dies where it is handed on becomes one register with its parameter, unless another value is in the way.
//! The other moves stand at the end of the block that jumps, or at the start of the one that is branched to: no edge is
//! critical, so one of the two has no other way in or out.

use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Guard, Inst, Label, Opcode, Operand, Reg};
use halfbyte_isa::row::Role;
use smallvec::{SmallVec, smallvec};
use thiserror::Error;

use super::code::{Block, Code, Edge, Func, Placed, Terminator};
use super::live::Liveness;
use super::moves::sequence;

/// What is wrong with code: a defect of what made it.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum CodeError {
    /// An instruction whose words, guard or operands are not those of its row.
    #[error("instruction {inst} of block {block}, {name}, is not what its row says")]
    Inst {
        /// The block.
        block: u32,
        /// The instruction, by number in it.
        inst: u32,
        /// Its opcode.
        name: &'static str,
    },
    /// A way to a block that is not there, with another number of arguments than parameters, or with one of another width.
    #[error("the way from block {block} to block {to} does not fit that block's parameters")]
    Edge {
        /// The block that it leaves.
        block: u32,
        /// Where it goes.
        to: u32,
    },
    /// A way from a block with several to a block with several.
    #[error("the way from block {block} to block {to} is critical")]
    Critical {
        /// The block that it leaves.
        block: u32,
        /// Where it goes.
        to: u32,
    },
    /// A block that branches on what is no predicate.
    #[error("block {0} branches on what is no predicate")]
    Guard(u32),
    /// A register that has two definitions.
    #[error("register {0} is defined more than once")]
    Redefined(u32),
    /// A register that is read and has no definition.
    #[error("register {0} is not defined")]
    Undefined(u32),
}

/// Members of two classes that are compared at most before these are left apart.
const MAX_COMPARED: usize = 1 << 12;

/// Makes block parameters registers like others.
///
/// # Errors
/// What is wrong with the code.
pub fn finish(code: Code) -> Result<Func, CodeError> {
    check(&code)?;
    // Without block parameters there is nothing to join, nor to move.
    let has_params = code.blocks.iter().any(|block| !block.params.is_empty());
    let live = if has_params { Liveness::new(&code) } else { Liveness::default() };
    let names = if has_params { Classes::new(&code, &live).joined() } else { Vec::new() };
    let Code { signature, sm, mut registers, blocks, max_items } = code;
    let params: Vec<Vec<Reg>> = blocks.iter().map(|block| block.params.clone()).collect();
    let name = |reg: Reg| names.get(reg.0 as usize).copied().unwrap_or(reg);
    // What no instruction reads needs no value.
    let moves = |edge: &Edge, registers: &mut Vec<Type>| {
        let params = params.get(edge.block as usize).into_iter().flatten();
        let moves = params.zip(&edge.args).filter(|&(&param, _)| live.is_read(param));
        let moves: Vec<(Reg, Reg)> = moves.map(|(&param, &arg)| (name(param), name(arg))).collect();
        let sequence = sequence(&moves, |reg| {
            registers.push(type_of(registers, reg));
            Reg(registers.len() as u32 - 1)
        });
        sequence.into_iter().map(|(to, from)| mov(type_of(registers, to), to, from)).collect::<Vec<Inst>>()
    };
    let mut starts: Vec<Vec<Placed>> = vec![Vec::new(); blocks.len()];
    let mut ends: Vec<Vec<Placed>> = Vec::with_capacity(blocks.len());
    for block in &blocks {
        let loc = block.loc;
        let placed = |inst| Placed::new(inst, loc);
        let mut end = Vec::new();
        match &block.terminator {
            Terminator::Exit => end.push(placed(bare(Opcode::RET))),
            Terminator::Jump(edge) => {
                end.extend(moves(edge, &mut registers).into_iter().map(placed));
                end.push(placed(branch(edge.block, None)));
            }
            Terminator::Branch { guard, then, otherwise } => {
                for edge in [then, otherwise] {
                    let moves = moves(edge, &mut registers).into_iter().map(placed);
                    starts.get_mut(edge.block as usize).into_iter().for_each(|start| start.extend(moves.clone()));
                }
                let guard = Guard { reg: name(guard.reg), ..*guard };
                end.push(placed(branch(then.block, Some(guard))));
                end.push(placed(branch(otherwise.block, None)));
            }
        }
        ends.push(end);
    }
    let blocks = blocks.into_iter().zip(starts).zip(ends).map(|((Block { mut insts, .. }, start), end)| {
        if has_params {
            insts.iter_mut().for_each(|placed| placed.inst.rename(|_, reg| name(reg)));
        }
        if !start.is_empty() {
            insts.splice(0..0, start);
        }
        insts.extend(end);
        insts
    });
    Ok(Func { signature, sm, blocks: blocks.collect(), registers, max_items })
}

fn type_of(registers: &[Type], reg: Reg) -> Type {
    registers.get(reg.0 as usize).copied().unwrap_or(Type::B32)
}

fn bare(opcode: Opcode) -> Inst {
    Inst { opcode, words: Default::default(), guard: None, operands: Default::default() }
}

fn branch(block: u32, guard: Option<Guard>) -> Inst {
    Inst { guard, operands: [Operand::Label(Label(block))].into_iter().collect(), ..bare(Opcode::BRA) }
}

fn mov(ty: Type, to: Reg, from: Reg) -> Inst {
    let word = match ty.bits() {
        1 => Type::Pred,
        16 => Type::B16,
        64 => Type::B64,
        _ => Type::B32,
    };
    let operands = [Operand::Register(to), Operand::Register(from)];
    Inst {
        words: [Token::Type(word)].into_iter().collect(),
        operands: operands.into_iter().collect(),
        ..bare(Opcode::MOV)
    }
}

fn check(code: &Code) -> Result<(), CodeError> {
    let types = |reg: Reg| code.registers.get(reg.0 as usize).copied();
    let mut ways_in = vec![0u32; code.blocks.len()];
    for edge in code.blocks.iter().flat_map(|block| block.terminator.edges()) {
        ways_in.get_mut(edge.block as usize).into_iter().for_each(|count| *count += 1);
    }
    let mut is_defined = vec![false; code.registers.len()];
    let mut read: Vec<Reg> = Vec::with_capacity(2 * code.registers.len());
    let mut define = |reg: Reg| match is_defined.get_mut(reg.0 as usize) {
        Some(defined) if !*defined => {
            *defined = true;
            Ok(())
        }
        _ => Err(CodeError::Redefined(reg.0)),
    };
    for (number, block) in (0..).zip(&code.blocks) {
        block.params.iter().try_for_each(|&param| define(param))?;
        for (place, Placed { inst, .. }) in (0..).zip(&block.insts) {
            if !inst.is_valid(types) {
                return Err(CodeError::Inst { block: number, inst: place, name: inst.opcode.name() });
            }
            let mut defined = Ok(());
            inst.visit_registers(|role, reg| match role {
                Role::Def if defined.is_ok() => defined = define(reg),
                Role::Def => {}
                Role::Use | Role::Update => read.push(reg),
            });
            defined?;
        }
        if let Terminator::Branch { guard, .. } = &block.terminator {
            read.push(guard.reg);
            if types(guard.reg) != Some(Type::Pred) {
                return Err(CodeError::Guard(number));
            }
        }
        let several = block.terminator.edges().count() > 1;
        for edge in block.terminator.edges() {
            let to = edge.block;
            read.extend(&edge.args);
            let fits = code.blocks.get(to as usize).is_some_and(|target| {
                let width = |reg: &Reg| types(*reg).map(Type::bits);
                target.params.len() == edge.args.len()
                    && target.params.iter().zip(&edge.args).all(|(param, arg)| width(param) == width(arg))
            });
            if !fits {
                return Err(CodeError::Edge { block: number, to });
            }
            if several && ways_in.get(to as usize).is_some_and(|&count| count > 1) {
                return Err(CodeError::Critical { block: number, to });
            }
        }
    }
    let undefined = read.into_iter().find(|reg| is_defined.get(reg.0 as usize) != Some(&true));
    undefined.map_or(Ok(()), |reg| Err(CodeError::Undefined(reg.0)))
}

/// Registers that are one.
struct Classes<'a> {
    code: &'a Code,
    live: &'a Liveness,
    /// By register, one of its class.
    parents: Vec<u32>,
    /// By that one, all of them.
    members: Vec<SmallVec<[Reg; 1]>>,
}

impl<'a> Classes<'a> {
    fn new(code: &'a Code, live: &'a Liveness) -> Classes<'a> {
        let all = 0..code.registers.len() as u32;
        Classes { code, live, parents: all.clone().collect(), members: all.map(|reg| smallvec![Reg(reg)]).collect() }
    }

    fn class(&self, reg: Reg) -> Option<u32> {
        self.parents.get(reg.0 as usize).copied()
    }

    /// Joins arguments and parameters, those of ways back first: these are taken most often.
    fn join_edges(&mut self) {
        for back in [true, false] {
            for (number, block) in (0..).zip(&self.code.blocks) {
                for edge in block.terminator.edges().filter(|edge| (edge.block <= number) == back) {
                    let target = self.code.blocks.get(edge.block as usize);
                    for (&param, &arg) in target.iter().flat_map(|target| &target.params).zip(&edge.args) {
                        self.join(param, arg);
                    }
                }
            }
        }
    }

    fn join(&mut self, a: Reg, b: Reg) {
        let (Some(into), Some(from)) = (self.class(a), self.class(b)) else { return };
        let types = [a, b].map(|reg| self.code.registers.get(reg.0 as usize));
        let [Some(of_a), Some(of_b)] = [into, from].map(|class| self.members.get(class as usize)) else { return };
        let is_too_much = of_a.len() * of_b.len() > MAX_COMPARED;
        if into == from || types[0] != types[1] || is_too_much {
            return;
        }
        if of_a.iter().any(|&a| of_b.iter().any(|&b| self.live.interfere(a, b))) {
            return;
        }
        let moved = self.members.get_mut(from as usize).map(std::mem::take).unwrap_or_default();
        for reg in &moved {
            self.parents.get_mut(reg.0 as usize).into_iter().for_each(|parent| *parent = into);
        }
        if let Some(members) = self.members.get_mut(into as usize) {
            members.extend(moved);
        }
    }

    /// What each register is to be called.
    fn joined(mut self) -> Vec<Reg> {
        self.join_edges();
        self.parents.into_iter().map(Reg).collect()
    }
}
