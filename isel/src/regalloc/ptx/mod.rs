//! Register allocation for PTX. PTX code may name any number of registers, and the assembler
//! allocates the hardware registers. So this module only takes the code out of SSA form.
//!
//! Moves pass the block arguments to block parameters. An argument that dies at the edge is
//! coalesced with its parameter, unless the two registers interfere ([`coalesce`]). If the source
//! of an edge has one successor, the moves are at its end; otherwise they are at the start of the
//! target. No edge is critical, so these moves are not executed on any other edge.

mod coalesce;
mod moves;

use std::collections::VecDeque;

use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};
use regalloc2::ProgPoint;

use super::allocate::Allocate;
use super::flow::Flow;
use super::rewrite::{Rewriter, rewrite};
use super::{AllocError, Allocator, Options};
use crate::Ptx;
use crate::mach::MachFunc;
use crate::ptx::machine::PtxExtra;
use crate::vcode::{BlockIndex, Edge, Terminator, VBlock, VCode, VInst};
use coalesce::{Ranges, coalesce};
use moves::sequence;

impl Allocate for Ptx {
    fn check(code: &VCode<Ptx>, block: &VBlock<Ptx>) -> Result<(), AllocError> {
        let mut insts = code.insts_of(block).iter().zip(block.insts.clone());
        let wrong = insts.find(|(inst, _)| !inst.inst.is_valid(|reg| code.vregs.get(reg.0 as usize).copied()));
        wrong.map_or(Ok(()), |(inst, i)| Err(AllocError::Inst { inst: i, name: inst.inst.opcode.name() }))
    }

    fn check_branch(code: &VCode<Ptx>, block: BlockIndex, branch: &VInst<Ptx>) -> Result<(), AllocError> {
        let guard = branch.inst.guard.and_then(|guard| code.vregs.get(guard.reg.0 as usize));
        let is_branch = branch.inst.opcode == Opcode::BRA && guard == Some(&Type::Pred);
        if is_branch { Ok(()) } else { Err(AllocError::Branch(block)) }
    }

    fn allocate(allocator: &mut Allocator, code: VCode<Ptx>, _: &Options) -> Result<MachFunc<Ptx>, AllocError> {
        let Allocator { flow, liveness, .. } = allocator;
        // Code without block parameters has nothing to coalesce or to move.
        let has_params = code.blocks.iter().any(|block| !block.params.is_empty());
        let mut writer = Writer { names: Vec::new(), types: code.vregs.clone(), moves: VecDeque::new() };
        if has_params {
            let ranges = Ranges::new(&code, flow, liveness);
            writer.names = coalesce(&code, &ranges);
            writer.edges(&code, flow, &ranges);
        }
        let blocks = rewrite(&code, flow, &mut writer)?;
        let Writer { types, .. } = writer;
        let registers = types.len() as u32;
        let extra = PtxExtra { types, ..code.extra };
        Ok(MachFunc { signature: code.signature, blocks, local_bytes: 0, registers, spills: 0, extra })
    }
}

struct Writer {
    /// PTX register of each virtual register after coalescing.
    names: Vec<Reg>,
    /// Type of each PTX register, by number.
    types: Vec<Type>,
    /// Moves of block arguments that were not written yet, in code order.
    moves: VecDeque<(ProgPoint, Inst)>,
}

impl Writer {
    fn name(&self, reg: Reg) -> Reg {
        self.names.get(reg.0 as usize).copied().unwrap_or(reg)
    }

    fn edges(&mut self, code: &VCode<Ptx>, flow: &Flow, ranges: &Ranges<'_>) {
        let mut moves = Vec::new();
        for (rank, block) in flow.blocks(code) {
            let is_branch = matches!(block.terminator, Terminator::Branch { .. });
            for (edge, target) in block.terminator.edges().zip(flow.succs(rank)) {
                let at = if is_branch { flow.range(target.index()).first() } else { flow.range(rank).last() };
                let moved = self.edge(code, ranges, edge);
                // In a block without instructions, its start and its end are the same program
                // point. Moves at the start must come before moves at the end.
                moves.extend(moved.into_iter().map(|inst| ((ProgPoint::before(at), !is_branch), inst)));
            }
        }
        moves.sort_by_key(|&(at, _)| at);
        self.moves = moves.into_iter().map(|((at, _), inst)| (at, inst)).collect();
    }

    /// Returns the moves of the block arguments on an edge, in an order that is valid if they are
    /// executed one after another. A parameter without uses needs no move.
    fn edge(&mut self, code: &VCode<Ptx>, ranges: &Ranges<'_>, edge: &Edge) -> Vec<Inst> {
        let params = code.blocks.get(edge.block as usize).map_or(&[][..], |target| code.list(&target.params));
        let moves = params.iter().zip(code.list(&edge.args)).filter(|&(&param, _)| ranges.is_read(param));
        let moves: Vec<(Reg, Reg)> =
            moves.map(|(&param, &arg)| (self.name(param.into()), self.name(arg.into()))).collect();
        let sequence = sequence(&moves, |reg| {
            self.types.push(type_of(&self.types, reg));
            Reg(self.types.len() as u32 - 1)
        });
        sequence.into_iter().map(|(to, from)| mov(type_of(&self.types, to), to, from)).collect()
    }
}

impl Rewriter<Ptx> for Writer {
    fn inst(&mut self, _: &VCode<Ptx>, inst: &VInst<Ptx>) -> Result<Inst, AllocError> {
        let mut inst = inst.inst.clone();
        if !self.names.is_empty() {
            inst.rename(|_, reg| self.name(reg));
        }
        Ok(inst)
    }

    fn moves(&mut self, point: ProgPoint, push: &mut dyn FnMut(Inst)) -> Result<(), AllocError> {
        while self.moves.front().is_some_and(|&(at, _)| at <= point) {
            self.moves.pop_front().into_iter().for_each(|(_, inst)| push(inst));
        }
        Ok(())
    }
}

fn type_of(types: &[Type], reg: Reg) -> Type {
    types.get(reg.0 as usize).copied().unwrap_or(Type::B32)
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
        opcode: Opcode::MOV,
        modifiers: [Token::Type(word)].into_iter().collect(),
        guard: None,
        operands: operands.into_iter().collect(),
    }
}
