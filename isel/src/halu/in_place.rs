//! Removal of the moves that build a 64-bit or 128-bit register from words.
//!
//! A wide value that is built from words takes one move per word. If a word is defined in the same
//! block, its definition writes directly into the wide register, all uses of the word read the wide
//! register, and the move is removed. The wide register is then live from its first word on.

use halfbyte_isa::halu::fields::{GUARD, R32};
use halfbyte_isa::halu::{Inst as Word, Opcode};

use super::machine::{Halu, RegClass};
use crate::vcode::{Access, Operand, Terminator, VBlock, VCode, VInst, VReg};

/// Marker of an absent instruction or an absent chain of moves.
const NONE: u32 = u32::MAX;
/// Number of words of the widest register.
const MAX_WORDS: usize = 4;

/// Facts about a virtual register before the moves are removed.
#[derive(Clone, Copy)]
struct RegisterFacts {
    /// Instruction that writes the whole register unconditionally, or [`NONE`].
    def: u32,
    /// Number of the first instruction in the block of the definition, which identifies this block.
    block: u32,
    /// `true` if the register is used outside the block of its definition, by a terminator, or by an in-place update.
    is_held: bool,
    /// `true` if an instruction reads the register.
    is_read: bool,
    /// Position to which the register moves: the chain number, and the word of the wide register.
    home: (u32, u8),
}

/// Sequence of moves that builds a wide register from words. Each move updates the register in place.
struct Chain {
    /// Virtual register that each word write of the chain defines.
    versions: [VReg; MAX_WORDS],
    /// Last of the `versions`, which holds the complete wide value.
    whole: VReg,
    /// Number of word writes that were visited so far.
    written: usize,
}

/// Lets definitions of words write into wide registers where possible, and removes the moves.
pub(super) fn write_in_place(code: &mut VCode<Halu>) {
    let mut known = known(code);
    let mut chains = Vec::new();
    let mut dead = Vec::new();
    for block in &code.blocks {
        let mut at = block.insts.start;
        while at < block.insts.end {
            at += chain(code, block, at, &mut known, &mut chains, &mut dead).max(1);
        }
    }
    if dead.is_empty() {
        return;
    }
    let mut is_dead = dead.iter().copied().peekable();
    for (at, inst) in (0..).zip(&code.insts) {
        if is_dead.next_if_eq(&at).is_none() {
            let range = inst.operands.start as usize..inst.operands.end as usize;
            place(code.operands.get_mut(range).unwrap_or(&mut []), &known, &mut chains);
        }
    }
    remove(code, &dead);
}

fn known(code: &VCode<Halu>) -> Vec<RegisterFacts> {
    let nothing = RegisterFacts { def: NONE, block: NONE, is_held: false, is_read: false, home: (NONE, 0) };
    let mut known = vec![nothing; code.vregs.len()];
    let hold = |known: &mut [RegisterFacts], reg: VReg| {
        if let Some(known) = known.get_mut(reg.0 as usize) {
            known.is_held = true;
        }
    };
    for block in &code.blocks {
        for at in block.insts.clone() {
            let Some(inst) = code.insts.get(at as usize) else { continue };
            let is_guarded = code.operands(inst).iter().any(|operand| operand.place == GUARD);
            for operand in code.operands(inst) {
                if let Access::UpdateInPlace(old) = operand.access {
                    hold(&mut known, old);
                }
                let Some(reg) = known.get_mut(operand.reg.0 as usize) else { continue };
                match operand.access {
                    Access::Def if !is_guarded => (reg.def, reg.block) = (at, block.insts.start),
                    Access::Def | Access::UpdateInPlace(_) => reg.is_held = true,
                    Access::Use => {
                        reg.is_read = true;
                        reg.is_held |= reg.block != block.insts.start;
                    }
                }
            }
        }
        let (branch, edges) = match &block.terminator {
            Terminator::Exit => (None, [None, None]),
            Terminator::Jump(edge) => (None, [Some(edge), None]),
            Terminator::Branch { inst, then, otherwise } => (Some(inst), [Some(then), Some(otherwise)]),
        };
        branch.iter().flat_map(|inst| code.operands(inst)).for_each(|operand| hold(&mut known, operand.reg));
        for edge in edges.into_iter().flatten() {
            code.list(&edge.args).iter().for_each(|&reg| hold(&mut known, reg));
        }
    }
    known
}

/// If a chain of moves that fills a wide register starts at instruction `at`, places the source
/// words directly in the parts of that register, and adds the moves that become redundant to
/// `dead`. Returns the number of moves in the chain, or 0.
fn chain(
    code: &VCode<Halu>,
    block: &VBlock<Halu>,
    at: u32,
    known: &mut [RegisterFacts],
    chains: &mut Vec<Chain>,
    dead: &mut Vec<u32>,
) -> u32 {
    let write = |at: u32| {
        let inst = code.insts.get(at as usize).filter(|_| at < block.insts.end)?;
        let mut writes = code.operands(inst).iter().filter(|operand| operand.access != Access::Use);
        writes.next().filter(|_| writes.next().is_none())
    };
    let Some(&Operand { reg, access: Access::Def, part: 0, .. }) = write(at) else { return 0 };
    let words = code.vregs.get(reg.0 as usize).map_or(0, |class| class.words());
    if words < 2 {
        return 0;
    }
    let (mut versions, mut whole) = ([reg; MAX_WORDS], reg);
    for (number, version) in (0..words).zip(&mut versions).skip(1) {
        let is_read = known.get(whole.0 as usize).is_none_or(|known| known.is_read);
        let next = write(at + number).filter(|next| next.access == Access::UpdateInPlace(whole) && !is_read);
        let Some(next) = next.filter(|next| u32::from(next.part) == number) else { return 0 };
        (*version, whole) = (next.reg, next.reg);
    }
    let number = chains.len() as u32;
    let moves = dead.len();
    for part in 0..words {
        let Some(word) = code.insts.get((at + part) as usize).and_then(|inst| moved(code, inst)) else { continue };
        let Some(word) = known.get_mut(word.0 as usize) else { continue };
        if !word.is_held && word.block == block.insts.start && word.def < at && word.home.0 == NONE {
            word.home = (number, part as u8);
            dead.push(at + part);
        }
    }
    if dead.len() == moves {
        return words;
    }
    for version in versions.iter().take(words as usize) {
        if let Some(known) = known.get_mut(version.0 as usize) {
            known.home.0 = number;
        }
    }
    chains.push(Chain { versions, whole, written: 0 });
    words
}

/// Returns the source register of an unconditional move of a 32-bit register.
fn moved(code: &VCode<Halu>, inst: &VInst<Halu>) -> Option<VReg> {
    let is_move = inst.inst.word() == Word::new(Opcode::MOV_R).word();
    let read = code.operands(inst).iter().find(|operand| operand.place == R32 && operand.part == 0)?;
    let class = code.vregs.get(read.reg.0 as usize)?;
    (is_move && *class == RegClass::Word).then_some(read.reg)
}

/// Replaces the operands of an instruction that are parts of wide registers by these wide
/// registers. The caller must pass the instructions in order.
fn place(operands: &mut [Operand<Halu>], known: &[RegisterFacts], chains: &mut [Chain]) {
    let home = |operand: &Operand<Halu>| known.get(operand.reg.0 as usize).map_or((NONE, 0), |known| known.home);
    for operand in operands.iter_mut().filter(|operand| operand.access == Access::Use) {
        let (number, part) = home(operand);
        if let Some(chain) = chains.get(number as usize)
            && operand.reg != chain.whole
            && let Some(now) = chain.now()
        {
            (operand.reg, operand.part) = (now, part);
        }
    }
    for operand in operands.iter_mut().filter(|operand| operand.access != Access::Use) {
        let (number, part) = home(operand);
        if let Some(chain) = chains.get_mut(number as usize)
            && let Some(&next) = chain.versions.get(chain.written)
        {
            operand.access = chain.now().map_or(Access::Def, Access::UpdateInPlace);
            operand.reg = next;
            operand.part += part;
            chain.written += 1;
        }
    }
}

impl Chain {
    /// Returns the virtual register that holds the words written so far, or `None` before the first write.
    fn now(&self) -> Option<VReg> {
        self.versions.get(self.written.checked_sub(1)?).copied()
    }
}

/// Removes the instructions whose numbers `dead` lists in ascending order.
fn remove(code: &mut VCode<Halu>, dead: &[u32]) {
    let place = |at: u32| at - dead.partition_point(|&dead| dead < at) as u32;
    let mut is_dead = dead.iter().copied().peekable();
    let mut at = 0..;
    code.insts.retain(|_| at.next().is_some_and(|at| is_dead.next_if_eq(&at).is_none()));
    for block in &mut code.blocks {
        block.insts = place(block.insts.start)..place(block.insts.end);
    }
    code.parts.iter_mut().for_each(|part| part.word = place(part.word));
}
