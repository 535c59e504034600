//! Peephole combining of HALU instructions that were selected for different ops. A selection rule sees only ops; the
//! instructions that were selected for the operands are known only after selection.
//!
//! * Byte moves ([`bytes`]): shifts by whole bytes, masks of whole bytes and PRMT become one PRMT of the original
//!   words. Bytes known to be zero, as after LDG.U8, are not extended again.
//! * Bitwise logic ([`logic`]): LOP3 computes any function of three words, so a tree of LOP3 over three words becomes
//!   one LOP3. A function of equally permuted words, such as masks of signs, becomes one PRMT of the function.
//!   Words of a wide register that was built from words are read from the original words first (`wide`).
//! * Sums (`sums`): IADD3 absorbs another sum, a product (as IMAD) or a shift (as LEA), if the operand has no other
//!   use.
//!
//! Instructions are combined only within a block, so that no live range grows beyond its block. Instructions whose
//! results are no longer used are removed.

pub mod bytes;
pub mod logic;
mod sums;
mod wide;
mod word;

use std::convert::Infallible;

use arrayvec::ArrayVec;
use halfbyte_abi::Poll;
use halfbyte_isa::halu::Inst as Word;
use rustc_hash::{FxHashMap, FxHashSet};

use self::word::{Operation, ThreeSourceOp};
use super::builder::Builder;
use super::machine::{Halu, RegClass};
use super::operands::{Reg, SourceLocation, Src};
use crate::vcode::{Access, BlockIndex, Operand, Terminator, VCode, VInst, VReg};

/// Marker of an absent instruction or block.
const NONE: u32 = u32::MAX;
/// Number of passes over the code. A value that has a single use only after the first pass is
/// combined by the second one.
const PASSES: u32 = 2;
/// Maximum number of successive changes of one instruction.
const STEPS: u32 = 8;

/// Combines the instructions of selected code. Does nothing if selection is cancelled.
pub(super) fn combine(code: &mut VCode<Halu>, poll: Poll<'_>) {
    let mut combiner = Combiner::new(code, poll);
    combiner.read_original_words();
    for _ in 0..PASSES {
        let mut is_changed = false;
        for block in 0..combiner.code.blocks.len() {
            is_changed |= combiner.block(block);
        }
        if !is_changed {
            break;
        }
    }
    combiner.finish();
}

/// Facts about a virtual register.
#[derive(Clone, Copy)]
struct RegisterFacts {
    /// Index of the instruction that writes the whole register, or [`NONE`].
    def: u32,
    /// Block that contains the definition, or [`NONE`].
    block: u32,
    /// Number of uses: reads by instructions, block arguments, and in-place updates.
    uses: u32,
    /// `true` if an instruction updates the register in place. The live range of such a register must not grow.
    is_continued: bool,
}

struct Combiner<'c> {
    poll: Poll<'c>,
    code: &'c mut VCode<Halu>,
    /// Facts about each virtual register.
    known: Vec<RegisterFacts>,
    /// Register that replaces each virtual register, which may be the register itself.
    stands_for: Vec<VReg>,
    /// Symbolic bytes of each virtual register, if they are known.
    maps: Vec<Option<bytes::ByteMap>>,
    /// `true` for each instruction that is removed at the end.
    is_dead: Vec<bool>,
    /// Instructions to move at the end: the value is moved directly before the key.
    moved: FxHashMap<u32, u32>,
    /// Results of LOP3 in the current block that each of their users can inline.
    inlined_everywhere: FxHashSet<VReg>,
    /// Builder of replacement instructions, of which only the operands are used.
    builder: Builder,
    /// Number of the block whose instructions are being combined.
    block: u32,
}

impl<'c> Combiner<'c> {
    fn new(code: &'c mut VCode<Halu>, poll: Poll<'c>) -> Combiner<'c> {
        let nothing = RegisterFacts { def: NONE, block: NONE, uses: 0, is_continued: false };
        let mut known = vec![nothing; code.vregs.len()];
        for (number, block) in (0..).zip(&code.blocks) {
            for at in block.insts.clone() {
                for operand in code.insts.get(at as usize).map_or(&[][..], |inst| code.operands(inst)) {
                    let reg = &mut known[operand.reg.0 as usize];
                    match operand.access {
                        Access::Use => reg.uses += 1,
                        Access::Def => (reg.def, reg.block) = (at, number),
                        Access::UpdateInPlace(old) => {
                            (reg.def, reg.block) = (at, number);
                            let old = &mut known[old.0 as usize];
                            (old.uses, old.is_continued) = (old.uses + 1, true);
                        }
                    }
                }
            }
            if let Terminator::Branch { inst, .. } = &block.terminator {
                code.operands(inst).iter().for_each(|operand| known[operand.reg.0 as usize].uses += 1);
            }
            for edge in block.terminator.edges() {
                code.list(&edge.args).iter().for_each(|arg| known[arg.0 as usize].uses += 1);
            }
        }
        let registers = code.vregs.len();
        Combiner {
            poll,
            known,
            stands_for: (0..registers as u32).map(VReg).collect(),
            maps: vec![None; registers],
            is_dead: vec![false; code.insts.len()],
            moved: FxHashMap::default(),
            inlined_everywhere: FxHashSet::default(),
            builder: Builder::new(Vec::new(), Vec::new(), Vec::new()),
            block: NONE,
            code,
        }
    }

    /// Combines the instructions of a block. Returns `true` if any instruction changed.
    fn block(&mut self, number: usize) -> bool {
        let Some(block) = self.code.blocks.get(number) else { return false };
        let insts = block.insts.clone();
        self.block = number as u32;
        self.find_inlined_everywhere(insts.clone());
        let mut is_changed = false;
        'insts: for at in insts {
            if self.poll.is_stopped() {
                return false;
            }
            // Most instructions have no operation that can be combined, so this is tested first.
            let Some(mut meaning) = self.meaning(at) else { continue };
            let Some(result) = self.result(at) else { continue };
            self.maps[result.0 as usize] = None;
            for _ in 0..STEPS {
                if !self.step(at, result, meaning) {
                    break;
                }
                is_changed = true;
                let Some(now) = self.meaning(at) else { continue 'insts };
                meaning = now;
            }
            self.note_bytes(result, meaning);
        }
        is_changed
    }

    /// Tries to combine an instruction once. Returns `true` if the instruction changed.
    fn step(&mut self, at: u32, result: VReg, meaning: Operation) -> bool {
        match meaning {
            Operation::Three(ThreeSourceOp::Logic(table), sources) => {
                self.bytes(at, result, meaning)
                    || self.logic(at, table, sources)
                    || self.permuted_function(at, table, sources)
            }
            Operation::Three(ThreeSourceOp::Sum, sources) => self.sum(at, sources),
            Operation::Three(ThreeSourceOp::Product, sources) => self.product_by_number(at, sources),
            Operation::Shift(..) | Operation::Permutation(..) => {
                self.bytes(at, result, meaning) || self.fold_constants(at, meaning)
            }
            Operation::Number(_) | Operation::Load { .. } => false,
        }
    }

    /// Removes dead instructions, moves instructions, and replaces registers by their replacements.
    fn finish(self) {
        let Combiner { code, stands_for, is_dead, moved, .. } = self;
        if !is_dead.contains(&true) && moved.is_empty() {
            return;
        }
        let now = |mut reg: VReg| {
            while let Some(&next) = stands_for.get(reg.0 as usize).filter(|&&next| next != reg) {
                reg = next;
            }
            reg
        };
        code.operands.iter_mut().for_each(|operand| operand.reg = now(operand.reg));
        code.pool.iter_mut().for_each(|reg| *reg = now(*reg));
        let mut elsewhere: FxHashMap<u32, VInst<Halu>> = FxHashMap::default();
        let mut goes = is_dead;
        for (&at, &inst) in moved.iter().filter(|&(&at, _)| !goes[at as usize]).collect::<Vec<_>>() {
            elsewhere.extend(code.insts.get(inst as usize).map(|inst| (at, inst.clone())));
            goes[inst as usize] = true;
        }
        let in_order: Vec<BlockIndex> = (0..code.blocks.len() as BlockIndex).collect();
        let mut number = 0;
        let Ok(()) = code.rewrite(&in_order, |_, _, inst, out| {
            if !goes[number as usize] {
                out.extend(elsewhere.remove(&number));
                out.push(inst);
            }
            number += 1;
            Ok::<(), Infallible>(())
        });
    }

    // Queries
    // -----------------------------------------------------------------------------------------------------------

    fn inst(&self, at: u32) -> Option<&VInst<Halu>> {
        self.code.insts.get(at as usize).filter(|_| !self.is_dead[at as usize])
    }

    fn now(&self, mut reg: VReg) -> VReg {
        while let Some(&next) = self.stands_for.get(reg.0 as usize).filter(|&&next| next != reg) {
            reg = next;
        }
        reg
    }

    /// Returns the 32-bit register that an instruction writes, if it writes no other register.
    fn result(&self, at: u32) -> Option<VReg> {
        let mut writes = self.code.operands(self.inst(at)?).iter().filter(|operand| operand.access != Access::Use);
        let &Operand { reg, access: Access::Def, .. } = writes.next()? else { return None };
        (writes.next().is_none() && self.is_word(reg)).then_some(reg)
    }

    fn is_word(&self, reg: VReg) -> bool {
        self.code.vregs.get(reg.0 as usize) == Some(&RegClass::Word)
    }

    /// Returns the index of the instruction that defines a 32-bit register, in any block.
    fn maker(&self, reg: Reg) -> Option<u32> {
        let reg = reg.vreg.filter(|&reg| self.is_word(reg))?;
        Some(self.known[reg.0 as usize].def).filter(|&def| def != NONE)
    }

    /// Returns the index of the instruction that defines a 32-bit register, if it is in the current block.
    fn def_in_block(&self, reg: Reg) -> Option<u32> {
        self.maker(reg).filter(|_| reg.vreg.is_some_and(|reg| self.known[reg.0 as usize].block == self.block))
    }

    fn uses(&self, reg: Reg) -> u32 {
        reg.vreg.map_or(0, |reg| self.known[reg.0 as usize].uses)
    }

    /// Returns the value of a source operand that is an immediate or a register with a constant.
    fn number(&self, src: Src) -> Option<u32> {
        match src.place {
            SourceLocation::Imm(bits) => Some(bits),
            SourceLocation::Const(_) => None,
            SourceLocation::Reg(Reg { vreg: None, .. }) => Some(0),
            SourceLocation::Reg(reg) => self.constant(self.maker(reg)?),
        }
    }

    // Edits
    // -------------------------------------------------------------------------------------------------------------

    /// Replaces an instruction by another one that has the same result. The operands of the new
    /// instruction are those in the builder.
    fn replace(&mut self, at: u32, word: Word) {
        let Some(result) = self.result(at) else { return };
        self.maps[result.0 as usize] = None;
        let Some(old) = self.code.insts.get(at as usize).map(|inst| inst.operands.clone()) else { return };
        let start = self.code.operands.len() as u32;
        for operand in self.builder.operands.drain(..) {
            self.known[operand.reg.0 as usize].uses += 1;
            self.code.operands.push(operand);
        }
        let place = halfbyte_isa::halu::fields::RD;
        self.code.operands.push(Operand { place, reg: result, part: 0, access: Access::Def });
        let end = self.code.operands.len() as u32;
        if let Some(inst) = self.code.insts.get_mut(at as usize) {
            (inst.inst, inst.operands) = (word, start..end);
        }
        self.release(old);
    }

    /// Removes an instruction, and replaces its result by the register `to`.
    fn forward(&mut self, at: u32, to: VReg) {
        let Some(result) = self.result(at) else { return };
        let Some(operands) = self.inst(at).map(|inst| inst.operands.clone()) else { return };
        self.known[to.0 as usize].uses += self.known[result.0 as usize].uses;
        self.stands_for[result.0 as usize] = to;
        self.is_dead[at as usize] = true;
        self.release(operands);
    }

    /// Decrements the use counts of the operands of a removed instruction, and removes definitions
    /// whose use count becomes 0.
    fn release(&mut self, operands: std::ops::Range<u32>) {
        let mut unused = vec![operands];
        while let Some(operands) = unused.pop() {
            for at in operands {
                let Some(&Operand { reg, access: Access::Use, .. }) = self.code.operands.get(at as usize) else {
                    continue;
                };
                let reg = self.now(reg);
                let known = &mut self.known[reg.0 as usize];
                known.uses = known.uses.saturating_sub(1);
                let def = known.def;
                if known.uses == 0 && def != NONE && self.result(def) == Some(reg) && self.is_removable(def) {
                    self.is_dead[def as usize] = true;
                    unused.extend(self.code.insts.get(def as usize).map(|inst| inst.operands.clone()));
                }
            }
        }
    }

    /// Returns the distinct registers of the source operands.
    fn registers(sources: &[Src]) -> ArrayVec<Reg, 4> {
        let mut registers = ArrayVec::new();
        for source in sources {
            if let SourceLocation::Reg(reg) = source.place
                && reg.vreg.is_some()
                && !registers.contains(&reg)
            {
                let _ = registers.try_push(reg);
            }
        }
        registers
    }
}
