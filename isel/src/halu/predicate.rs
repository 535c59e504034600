//! If-conversion to predicates: a branch around a few instructions becomes a guard on those that must not be done for nothing.
//!
//! The IR's `if_convert` makes selects of branches whose sides only compute. What is left are sides that load, store or divide:
//! each such instruction gets the branch's condition as its guard, what else there is on the sides is done for all, and what
//! the sides give the block where they meet is selected. An item makes the accesses that it made before, in that order, so it
//! traps as it did. A guarded instruction is an ordinary definition: where its guard is false the register holds anything,
//! and what was computed from that is neither stored nor selected.
//!
//! It is done here and not in the IR because every word of HALU has a guard and VP1's accesses have none: a guarded op would
//! be one more form of access for all passes to know, which only this machine would ever select.
//!
//! A branch on the way of another is converted first; what is guarded already then has both conditions.

use std::ops::Range;

use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::meaning::yields;
use halfbyte_isa::halu::{Inst as Word, Opcode};
use halfbyte_isa::object::{Loc, Part};
use halfbyte_isa::row::Class;

use super::machine::{Halu, RegClass};
use crate::vcode::{Access, BlockIndex, Edge, Operand, Terminator, VBlock, VCode, VInst, VReg};

/// So many instructions may be executed more than on the longer way.
const EXTRA: u32 = 4;
/// So many instructions may the longer way have: items that all go the other way would have been spared it.
const LONGEST: u32 = 8;
/// So many instructions may a way have that makes strong accesses. A guard of PTX is imported as a branch around such a way: it parts no lanes of a
/// subgroup, and a branch would.
const LONGEST_STRONG: u32 = 64;
/// PLOP3's table of the first two operands both, and that of the second where the first holds and the third elsewhere.
const BOTH: u64 = 0xf0 & 0xcc;
const CHOSEN: u64 = 0xf0 & 0xcc | 0x0f & 0xaa;

/// What must hold.
#[derive(Clone, Copy)]
struct Guard {
    reg: VReg,
    not: bool,
}

/// Instructions that stay together.
struct Piece {
    insts: Range<u32>,
    /// What must hold for those of them that must not be done for nothing.
    guard: Option<Guard>,
}

/// The instructions of a block.
struct Body {
    pieces: Vec<Piece>,
    /// The block whose instructions follow, which is part of this one now.
    next: Option<BlockIndex>,
    /// The last block of those that follow one another so.
    last: BlockIndex,
    /// How many predecessors the block has.
    ways_in: u32,
    is_gone: bool,
}

/// A branch that can be converted.
struct Fork {
    guard: Guard,
    /// The blocks on its two sides, which nothing else goes to.
    ways: [BlockIndex; 2],
    /// Where each way goes; nowhere where both end the item.
    ends: Option<[Edge; 2]>,
}

/// Converts the branches that can be.
pub(super) fn predicate(code: &mut VCode<Halu>) {
    if !code.blocks.iter().any(|block| matches!(block.terminator, Terminator::Branch { .. })) {
        return;
    }
    let body = |(last, block): (BlockIndex, &VBlock<Halu>)| Body {
        pieces: vec![Piece { insts: block.insts.clone(), guard: None }],
        next: None,
        last,
        ways_in: 0,
        is_gone: false,
    };
    let mut bodies: Vec<Body> = (0..).zip(&code.blocks).map(body).collect();
    for edge in code.blocks.iter_mut().flat_map(|block| edges(&mut block.terminator)) {
        if let Some(body) = bodies.get_mut(edge.block as usize) {
            body.ways_in += 1;
        }
    }
    let stands_for = (0..code.vregs.len() as u32).map(VReg).collect();
    let mut converter = Converter { code, bodies, stands_for, changed: false };
    // What is on a branch's sides mostly comes after it.
    for block in (0..converter.bodies.len() as BlockIndex).rev() {
        while let Some(fork) = converter.fork(block) {
            converter.convert(block, fork);
        }
    }
    if converter.changed {
        converter.gather();
    }
}

/// The edges out of a block.
fn edges(terminator: &mut Terminator<Halu>) -> impl Iterator<Item = &mut Edge> {
    let [first, second] = match terminator {
        Terminator::Exit => [None, None],
        Terminator::Jump(edge) => [Some(edge), None],
        Terminator::Branch { then, otherwise, .. } => [Some(then), Some(otherwise)],
    };
    first.into_iter().chain(second)
}

/// Whether an instruction must not be done for nothing: it may trap, or is dear.
fn is_guarded(inst: &Word) -> bool {
    use Opcode::{FDIV_RR, FSQRT_R, IDIV_RR, IDIV_WIDE_RR, IREM_RR, IREM_WIDE_RR, MUFU_R};
    let is_dear = matches!(inst.opcode(), FDIV_RR | FSQRT_R | MUFU_R | IDIV_RR | IREM_RR | IDIV_WIDE_RR | IREM_WIDE_RR);
    inst.row().class == Class::Memory || is_dear
}

struct Converter<'c> {
    code: &'c mut VCode<Halu>,
    /// By block.
    bodies: Vec<Body>,
    /// By register, the one that it is now: of a parameter, what its block is given.
    stands_for: Vec<VReg>,
    changed: bool,
}

impl Converter<'_> {
    fn body(&self, block: BlockIndex) -> Option<&Body> {
        self.bodies.get(block as usize)
    }

    /// A block and those that follow it as its parts.
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

    /// The branch at the end of a block, if it is to be converted.
    fn fork(&self, block: BlockIndex) -> Option<Fork> {
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
        let fork = Fork { guard, ways, ends };
        let costs = [self.cost(ways[0])?, self.cost(ways[1])?];
        let [shorter, longer] = [costs[0].min(costs[1]), costs[0].max(costs[1])];
        let pays = shorter + self.selects(&fork) <= EXTRA && longer <= LONGEST;
        let is_guard = shorter == 0 && ways.into_iter().any(|way| self.is_strong(way));
        ((pays || is_guard) && !has_params).then_some(fork)
    }

    /// Returns `true` if a way makes strong accesses.
    fn is_strong(&self, way: BlockIndex) -> bool {
        let pieces = self.chain(way).flat_map(|body| &body.pieces);
        pieces.flat_map(|piece| self.insts(&piece.insts)).any(|inst| yields(&inst.inst))
    }

    /// The instructions that a way takes; none where there are many, or it goes elsewhere.
    fn cost(&self, way: BlockIndex) -> Option<u32> {
        let mut cost = 0;
        for piece in self.chain(way).flat_map(|body| &body.pieces) {
            // Where there is a condition already, another instruction makes both one.
            cost += piece.insts.len() as u32 + u32::from(piece.guard.is_some());
            if cost > LONGEST_STRONG {
                return None;
            }
            if self.insts(&piece.insts).iter().any(|inst| inst.inst.row().class == Class::Control) {
                return None;
            }
        }
        Some(cost)
    }

    /// The instructions that select what the sides give.
    fn selects(&self, fork: &Fork) -> u32 {
        let Some([a, b]) = &fork.ends else { return 0 };
        let given = self.code.list(&a.args).iter().zip(self.code.list(&b.args)).filter(|(a, b)| a != b);
        given.map(|(&a, _)| self.class(a).words().max(1)).sum()
    }

    fn convert(&mut self, block: BlockIndex, fork: Fork) {
        let Some(last) = self.body(block).map(|body| body.last) else { return };
        let loc =
            |code: &VCode<Halu>, block: BlockIndex| code.blocks.get(block as usize).map_or(Loc::default(), |b| b.loc);
        let (branch, end) = (loc(self.code, block), loc(self.code, fork.ways[0]));
        let mut pieces = Vec::new();
        for (way, not) in fork.ways.into_iter().zip([false, true]) {
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
                    body.ways_in -= 1;
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

    /// Adds an instruction, which stands where its piece does.
    fn push(&mut self, inst: Word, operands: &[Operand<Halu>], loc: Loc) {
        let operands = self.code.add_operands(operands.iter().copied());
        self.code.insts.push(VInst { inst, operands, loc });
    }

    /// Takes the instructions of a way, under a guard.
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

    /// What holds where two conditions do.
    fn both(&mut self, a: Guard, b: Guard, loc: Loc) -> Guard {
        let reg = self.vreg(RegClass::Pred);
        let operand = |place, reg, access| Operand { place, reg, part: 0, access };
        let operands =
            [operand(PP, a.reg, Access::Use), operand(PX, b.reg, Access::Use), operand(PU, reg, Access::Def)];
        let inst = Word::new(Opcode::PLOP3).with(LUT, BOTH);
        self.push(inst.with(PP_NOT, a.not.into()).with(PX_NOT, b.not.into()), &operands, loc);
        Guard { reg, not: false }
    }

    /// Selects what the two sides give.
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

    /// The one where the guard holds, and the other elsewhere.
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
                operand(result, reg, part, chosen.map_or(Access::Def, Access::Replace)),
            ];
            self.push(inst.with(PP_NOT, guard.not.into()), &operands, loc);
            chosen = Some(reg);
        }
        chosen.unwrap_or(a)
    }

    /// Where a block goes on in one that nothing else goes to, they become one.
    fn join(&mut self, block: BlockIndex) {
        let Some(Terminator::Jump(edge)) = self.code.blocks.get(block as usize).map(|block| &block.terminator) else {
            return;
        };
        let to = edge.block;
        if to == block || to == 0 || self.body(to).is_none_or(|body| body.ways_in != 1) {
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

    /// Writes the code down anew.
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
                new.parts
                    .extend(old.parts(&piece.insts).iter().map(|part| Part { word: part.word - from + to, ..*part }));
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

    /// An instruction for the new code, its operands there.
    fn copy(&self, inst: &VInst<Halu>, guard: Option<Guard>, operands: &mut Vec<Operand<Halu>>) -> VInst<Halu> {
        let start = operands.len() as u32;
        for operand in self.code.operands(inst) {
            let access = match operand.access {
                Access::Replace(old) => Access::Replace(self.resolve(old)),
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
