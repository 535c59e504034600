//! If-conversion to guards: removes a branch around a few instructions. Instructions that must not be executed
//! speculatively get the branch condition as a guard.
//!
//! The pass `if_convert` of the IR turns a branch into selects if its arms only compute. The remaining arms load, store
//! or divide. Each such instruction gets the branch condition as its guard. All other instructions of both arms are
//! executed unconditionally, and selects choose the block arguments at the join. Each item makes the same accesses in
//! the same order, so traps are preserved. If the guard of an instruction is false, its result is undefined, and no
//! value that is computed from the result is stored or selected.
//!
//! The conversion is not a pass of the IR, because every HALU instruction has a guard but VP1's loads and stores have
//! none. All passes would have to handle guarded ops that only HALU can execute.
//!
//! Inner branches are converted first. An instruction that is already guarded then gets the conjunction of both
//! conditions as its guard.

use std::ops::Range;

use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::meaning::is_strong_access;
use halfbyte_isa::halu::{Inst as Word, Opcode};
use halfbyte_isa::object::{Loc, PartialAccess};
use halfbyte_isa::row::InstClass;

use super::machine::{Halu, RegClass};
use crate::vcode::{Access, BlockIndex, Edge, Operand, Terminator, VBlock, VCode, VInst, VReg};

/// Maximum number of instructions that converted code may execute in addition to its longer arm.
const MAX_EXTRA_INSTRUCTIONS: u32 = 4;
/// Maximum number of instructions of the longer arm. If no item takes this arm, the branch would
/// have skipped the instructions.
const MAX_ARM_LENGTH: u32 = 8;
/// Maximum number of instructions of an arm with strong accesses. The import of PTX turns a guard
/// into a branch around such an arm. Unlike a branch, a guard does not split a subgroup.
const MAX_STRONG_ARM_LENGTH: u32 = 64;
/// PLOP3 truth table of the AND of the first two operands.
const BOTH: u64 = 0xf0 & 0xcc;
/// PLOP3 truth table of a select of the second or third operand by the first one.
const CHOSEN: u64 = 0xf0 & 0xcc | 0x0f & 0xaa;

/// Predicate register, possibly inverted, that guards an instruction.
#[derive(Clone, Copy)]
struct Guard {
    reg: VReg,
    not: bool,
}

/// Consecutive instructions with one guard.
struct Piece {
    insts: Range<u32>,
    /// Guard of the instructions in the range that must not be executed speculatively.
    guard: Option<Guard>,
}

/// Instructions of a block during the conversion.
struct Body {
    pieces: Vec<Piece>,
    /// Block that was merged into this block, and whose instructions follow.
    next: Option<BlockIndex>,
    /// Last block in the list of merged blocks that `next` links.
    last: BlockIndex,
    /// Number of edges to the block.
    predecessors: u32,
    is_gone: bool,
}

/// Conditional branch that can be replaced by guards.
struct ConvertibleBranch {
    guard: Guard,
    /// Blocks of the two arms, whose only predecessor is the block with the branch.
    arms: [BlockIndex; 2],
    /// Edges from the arms to the join, or `None` if both arms end the item.
    ends: Option<[Edge; 2]>,
}

/// Replaces all suitable branches by guards.
pub(super) fn predicate(code: &mut VCode<Halu>) {
    if !code.blocks.iter().any(|block| matches!(block.terminator, Terminator::Branch { .. })) {
        return;
    }
    let body = |(last, block): (BlockIndex, &VBlock<Halu>)| Body {
        pieces: vec![Piece { insts: block.insts.clone(), guard: None }],
        next: None,
        last,
        predecessors: 0,
        is_gone: false,
    };
    let mut bodies: Vec<Body> = (0..).zip(&code.blocks).map(body).collect();
    for edge in code.blocks.iter_mut().flat_map(|block| edges(&mut block.terminator)) {
        if let Some(body) = bodies.get_mut(edge.block as usize) {
            body.predecessors += 1;
        }
    }
    let stands_for = (0..code.vregs.len() as u32).map(VReg).collect();
    let mut converter = Converter { code, bodies, stands_for, changed: false };
    // The arms of a branch mostly come after it, so visiting blocks backwards converts inner branches first.
    for block in (0..converter.bodies.len() as BlockIndex).rev() {
        while let Some(fork) = converter.fork(block) {
            converter.convert(block, fork);
        }
    }
    if converter.changed {
        converter.gather();
    }
}

/// Returns the outgoing edges of a block.
fn edges(terminator: &mut Terminator<Halu>) -> impl Iterator<Item = &mut Edge> {
    let [first, second] = match terminator {
        Terminator::Exit => [None, None],
        Terminator::Jump(edge) => [Some(edge), None],
        Terminator::Branch { then, otherwise, .. } => [Some(then), Some(otherwise)],
    };
    first.into_iter().chain(second)
}

/// Returns `true` if an instruction must not be executed speculatively, because it may trap or is slow.
fn is_guarded(inst: &Word) -> bool {
    use Opcode::{FDIV_RR, FSQRT_R, IDIV_RR, IDIV_WIDE_RR, IREM_RR, IREM_WIDE_RR, MUFU_R};
    let is_dear = matches!(inst.opcode(), FDIV_RR | FSQRT_R | MUFU_R | IDIV_RR | IREM_RR | IDIV_WIDE_RR | IREM_WIDE_RR);
    inst.row().class == InstClass::Memory || is_dear
}

struct Converter<'c> {
    code: &'c mut VCode<Halu>,
    /// Instructions of each block.
    bodies: Vec<Body>,
    /// Replacement of each register. A parameter of a merged block is replaced by its argument.
    stands_for: Vec<VReg>,
    changed: bool,
}

impl Converter<'_> {
    fn body(&self, block: BlockIndex) -> Option<&Body> {
        self.bodies.get(block as usize)
    }

    /// Returns the instructions of a block and of all blocks that were merged into it.
    fn chain(&self, block: BlockIndex) -> impl Iterator<Item = &Body> {
        std::iter::successors(self.body(block), |body| self.body(body.next?))
    }

    fn insts(&self, range: &Range<u32>) -> &[VInst<Halu>] {
        self.code.insts.get(range.start as usize..range.end as usize).unwrap_or(&[])
    }

    fn class(&self, reg: VReg) -> RegClass {
        self.code.vregs.get(reg.0 as usize).copied().unwrap_or(RegClass::Word)
    }

    fn vreg(&mut self, class: RegClass) -> VReg {
        let reg = self.code.add_register(class);
        self.stands_for.push(reg);
        reg
    }

    fn resolve(&self, mut reg: VReg) -> VReg {
        while let Some(&at) = self.stands_for.get(reg.0 as usize).filter(|&&at| at != reg) {
            reg = at;
        }
        reg
    }

    /// Returns the conditional branch at the end of a block, if its conversion pays.
    fn fork(&self, block: BlockIndex) -> Option<ConvertibleBranch> {
        self.body(block).filter(|body| !body.is_gone)?;
        let Terminator::Branch { inst, then, otherwise } = &self.code.blocks.get(block as usize)?.terminator else {
            return None;
        };
        let reg = self.code.operands(inst).iter().find(|operand| operand.place == GUARD)?.reg;
        let guard = Guard { reg, not: inst.inst.get(GUARD_NOT) != 0 };
        let ways = [then.block, otherwise.block];
        let (first, second) =
            (self.code.blocks.get(then.block as usize)?, self.code.blocks.get(otherwise.block as usize)?);
        let ends = match (&first.terminator, &second.terminator) {
            (Terminator::Exit, Terminator::Exit) => None,
            (Terminator::Jump(a), Terminator::Jump(b)) if a.block == b.block => Some([a.clone(), b.clone()]),
            _ => return None,
        };
        let has_params = !first.params.is_empty() || !second.params.is_empty();
        let fork = ConvertibleBranch { guard, arms: ways, ends };
        let costs = [self.cost(ways[0])?, self.cost(ways[1])?];
        let [shorter, longer] = [costs[0].min(costs[1]), costs[0].max(costs[1])];
        let pays = shorter + self.selects(&fork) <= MAX_EXTRA_INSTRUCTIONS && longer <= MAX_ARM_LENGTH;
        let is_guard = shorter == 0 && ways.into_iter().any(|way| self.is_strong(way));
        ((pays || is_guard) && !has_params).then_some(fork)
    }

    /// Returns `true` if an arm contains strong accesses.
    fn is_strong(&self, way: BlockIndex) -> bool {
        let pieces = self.chain(way).flat_map(|body| &body.pieces);
        pieces.flat_map(|piece| self.insts(&piece.insts)).any(|inst| is_strong_access(&inst.inst))
    }

    /// Returns the number of instructions of an arm, or `None` if the arm is too long or contains a branch.
    fn cost(&self, way: BlockIndex) -> Option<u32> {
        let mut cost = 0;
        for piece in self.chain(way).flat_map(|body| &body.pieces) {
            // One more instruction combines an existing guard with the condition of the branch.
            cost += piece.insts.len() as u32 + u32::from(piece.guard.is_some());
            if cost > MAX_STRONG_ARM_LENGTH {
                return None;
            }
            if self.insts(&piece.insts).iter().any(|inst| inst.inst.row().class == InstClass::Control) {
                return None;
            }
        }
        Some(cost)
    }

    /// Returns the number of selects that the block arguments of the join need.
    fn selects(&self, fork: &ConvertibleBranch) -> u32 {
        let Some([a, b]) = &fork.ends else { return 0 };
        let given = self.code.list(&a.args).iter().zip(self.code.list(&b.args)).filter(|(a, b)| a != b);
        given.map(|(&a, _)| self.class(a).words().max(1)).sum()
    }

    fn convert(&mut self, block: BlockIndex, fork: ConvertibleBranch) {
        let Some(last) = self.body(block).map(|body| body.last) else { return };
        let loc =
            |code: &VCode<Halu>, block: BlockIndex| code.blocks.get(block as usize).map_or(Loc::default(), |b| b.loc);
        let (branch, end) = (loc(self.code, block), loc(self.code, fork.arms[0]));
        let mut pieces = Vec::new();
        for (way, not) in fork.arms.into_iter().zip([false, true]) {
            let guard = Guard { not: fork.guard.not != not, ..fork.guard };
            self.take(way, guard, branch, &mut pieces);
        }
        let terminator = match &fork.ends {
            None => Terminator::Exit,
            Some([a, b]) => {
                let start = self.code.insts.len() as u32;
                let args = self.select(fork.guard, a, b, branch);
                pieces.push(Piece { insts: start..self.code.insts.len() as u32, guard: None });
                if let Some(body) = self.bodies.get_mut(a.block as usize) {
                    body.predecessors -= 1;
                }
                Terminator::Jump(Edge { block: a.block, args })
            }
        };
        if let Some(body) = self.bodies.get_mut(last as usize) {
            body.pieces.append(&mut pieces);
        }
        if let Some(block) = self.code.blocks.get_mut(block as usize) {
            (block.terminator, block.loc) = (terminator, end);
        }
        self.changed = true;
        self.join(block);
    }

    /// Appends an instruction to the code. The piece that contains it determines its position.
    fn push(&mut self, inst: Word, operands: &[Operand<Halu>], loc: Loc) {
        let operands = self.code.add_operands(operands.iter().copied());
        self.code.insts.push(VInst { inst, operands, loc });
    }

    /// Moves the instructions of an arm to `pieces`, under a guard.
    fn take(&mut self, way: BlockIndex, guard: Guard, loc: Loc, pieces: &mut Vec<Piece>) {
        let mut next = Some(way);
        while let Some(body) = next.and_then(|block| self.bodies.get_mut(block as usize)) {
            (next, body.is_gone) = (body.next, true);
            for Piece { insts, guard: known } in std::mem::take(&mut body.pieces) {
                let guard = match known {
                    None => Some(guard).filter(|_| self.insts(&insts).iter().any(|inst| is_guarded(&inst.inst))),
                    Some(known) => {
                        let at = self.code.insts.len() as u32;
                        let both = self.both(guard, known, loc);
                        pieces.push(Piece { insts: at..at + 1, guard: None });
                        Some(both)
                    }
                };
                pieces.push(Piece { insts, guard });
            }
        }
    }

    /// Emits the AND of two guards, and returns it as a guard.
    fn both(&mut self, a: Guard, b: Guard, loc: Loc) -> Guard {
        let reg = self.vreg(RegClass::Pred);
        let operand = |place, reg, access| Operand { place, reg, part: 0, access };
        let operands =
            [operand(PP, a.reg, Access::Use), operand(PX, b.reg, Access::Use), operand(PU, reg, Access::Def)];
        let inst = Word::new(Opcode::PLOP3).with(LUT, BOTH);
        self.push(inst.with(PP_NOT, a.not.into()).with(PX_NOT, b.not.into()), &operands, loc);
        Guard { reg, not: false }
    }

    /// Emits selects between the block arguments of two edges to the join, and returns the selected arguments.
    fn select(&mut self, guard: Guard, a: &Edge, b: &Edge, loc: Loc) -> Range<u32> {
        let start = self.code.pool.len() as u32;
        for (a, b) in a.args.clone().zip(b.args.clone()) {
            let given = |at: u32| self.code.pool.get(at as usize).copied();
            let (Some(a), Some(b)) = (given(a), given(b)) else { break };
            let chosen = if a == b { a } else { self.choose(guard, a, b, loc) };
            self.code.pool.push(chosen);
        }
        start..self.code.pool.len() as u32
    }

    /// Emits a select, and returns the register that holds `a` if the guard holds, and `b` otherwise.
    fn choose(&mut self, guard: Guard, a: VReg, b: VReg, loc: Loc) -> VReg {
        let class = self.class(a);
        let operand = |place, reg, part, access| Operand { place, reg, part, access };
        let condition = operand(PP, guard.reg, 0, Access::Use);
        let (inst, first, second, result) = match class {
            RegClass::Pred => (Word::new(Opcode::PLOP3).with(LUT, CHOSEN), PX, PY, PU),
            _ => (Word::new(Opcode::SEL_RR), RA, R32, RD),
        };
        let mut chosen = None;
        for part in 0..class.words().max(1) as u8 {
            let reg = self.vreg(class);
            let operands = [
                condition,
                operand(first, a, part, Access::Use),
                operand(second, b, part, Access::Use),
                operand(result, reg, part, chosen.map_or(Access::Def, Access::UpdateInPlace)),
            ];
            self.push(inst.with(PP_NOT, guard.not.into()), &operands, loc);
            chosen = Some(reg);
        }
        chosen.unwrap_or(a)
    }

    /// Merges a block with its only successor, if the successor has no other predecessor.
    fn join(&mut self, block: BlockIndex) {
        let Some(Terminator::Jump(edge)) = self.code.blocks.get(block as usize).map(|block| &block.terminator) else {
            return;
        };
        let to = edge.block;
        if to == block || to == 0 || self.body(to).is_none_or(|body| body.predecessors != 1) {
            return;
        }
        let Some(joined) = self.code.blocks.get(to as usize) else { return };
        for (&param, &arg) in self.code.list(&joined.params).iter().zip(self.code.list(&edge.args)) {
            if let Some(stands_for) = self.stands_for.get_mut(param.0 as usize) {
                *stands_for = arg;
            }
        }
        let (terminator, loc) = (joined.terminator.clone(), joined.loc);
        if let Some(block) = self.code.blocks.get_mut(block as usize) {
            (block.terminator, block.loc) = (terminator, loc);
        }
        let Some(last) = self.bodies.get_mut(to as usize).map(|body| {
            body.is_gone = true;
            body.last
        }) else {
            return;
        };
        let Some(body) = self.bodies.get_mut(block as usize) else { return };
        let before = std::mem::replace(&mut body.last, last);
        if let Some(body) = self.bodies.get_mut(before as usize) {
            body.next = Some(to);
        }
    }

    /// Rebuilds the code from the converted blocks.
    fn gather(self) {
        let old = &*self.code;
        let pool = old.pool.iter().map(|&reg| self.resolve(reg)).collect();
        let mut new = VCode {
            signature: old.signature.clone(),
            vregs: old.vregs.clone(),
            blocks: Vec::with_capacity(old.blocks.len()),
            insts: Vec::with_capacity(old.insts.len()),
            operands: Vec::with_capacity(old.operands.len()),
            pool,
            parts: Vec::with_capacity(old.parts.len()),
            extra: self.code.extra,
        };
        let stays = self.bodies.iter().map(|body| u32::from(!body.is_gone));
        let places: Vec<BlockIndex> =
            stays.scan(0, |place, stays| Some(std::mem::replace(place, *place + stays))).collect();
        for ((number, block), body) in (0..).zip(&old.blocks).zip(&self.bodies) {
            if body.is_gone {
                continue;
            }
            let start = new.insts.len() as u32;
            for piece in self.chain(number).flat_map(|body| &body.pieces) {
                let (from, to) = (piece.insts.start, new.insts.len() as u32);
                new.parts.extend(
                    old.parts(&piece.insts).iter().map(|part| PartialAccess { word: part.word - from + to, ..*part }),
                );
                for inst in self.insts(&piece.insts) {
                    let guard = piece.guard.filter(|_| is_guarded(&inst.inst));
                    let inst = self.copy(inst, guard, &mut new.operands);
                    new.insts.push(inst);
                }
            }
            let mut terminator = block.terminator.clone();
            if let Terminator::Branch { inst, .. } = &mut terminator {
                *inst = self.copy(inst, None, &mut new.operands);
            }
            for edge in edges(&mut terminator) {
                edge.block = places.get(edge.block as usize).copied().unwrap_or(0);
            }
            let insts = start..new.insts.len() as u32;
            new.blocks.push(VBlock { params: block.params.clone(), insts, terminator, loc: block.loc });
        }
        *self.code = new;
    }

    /// Copies an instruction and its operands to the new code, with an optional guard.
    fn copy(&self, inst: &VInst<Halu>, guard: Option<Guard>, operands: &mut Vec<Operand<Halu>>) -> VInst<Halu> {
        let start = operands.len() as u32;
        for operand in self.code.operands(inst) {
            let access = match operand.access {
                Access::UpdateInPlace(old) => Access::UpdateInPlace(self.resolve(old)),
                access => access,
            };
            operands.push(Operand { reg: self.resolve(operand.reg), access, ..*operand });
        }
        let mut word = inst.inst;
        if let Some(Guard { reg, not }) = guard {
            word.set(GUARD_NOT, not.into());
            operands.push(Operand { place: GUARD, reg: self.resolve(reg), part: 0, access: Access::Use });
        }
        VInst { inst: word, operands: start..operands.len() as u32, loc: inst.loc }
    }
}
