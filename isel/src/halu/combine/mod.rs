//! Instructions that take in others, where a rule cannot see it: a rule has the pattern of one op, and what the ops before it
//! became is known only here.
//!
//! * Moves of bytes ([`bytes`]): shifts by whole bytes, masks of whole bytes and PRMT are one PRMT of the words that they
//!   began with. What is known to be zero already, as after LDG.U8, is not extended again.
//! * Bits ([`logic`]): LOP3 computes any function of three words, so a tree of them over three words is one.
//! * Sums ([`sums`]): IADD3 of a sum, IMAD of a product and LEA of a shift that have no other use.
//!
//! Only what stands in the same block is taken in, so that no value lives longer than its block for it. What is left without a
//! use goes.

mod bytes;
mod logic;
mod sums;
mod word;

use std::convert::Infallible;

use arrayvec::ArrayVec;
use halfbyte_abi::Poll;
use halfbyte_isa::halu::Inst as Word;
use rustc_hash::FxHashMap;

use self::word::{Kind, Meaning};
use super::builder::Builder;
use super::machine::{Halu, RegClass};
use super::operands::{Reg, Source, Src};
use crate::vcode::{Access, BlockIndex, Operand, Terminator, VCode, VInst, VReg};

/// No instruction, no block.
const NONE: u32 = u32::MAX;
/// So often is the code gone through: what the first round leaves with one use is taken in by the next.
const ROUNDS: u32 = 2;
/// So many others may one instruction take in one after another.
const STEPS: u32 = 8;

/// Combines what can be, unless selection is to end early.
pub(super) fn combine(code: &mut VCode<Halu>, poll: Poll<'_>) {
    let mut combiner = Combiner::new(code, poll);
    for _ in 0..ROUNDS {
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

/// What is known of a virtual register.
#[derive(Clone, Copy)]
struct Known {
    /// The instruction that writes all of it.
    def: u32,
    /// The block where that stands.
    block: u32,
    /// How often it is read, handed on, or written on.
    uses: u32,
    /// Whether an instruction writes on in its place, so that it had better not live longer.
    is_continued: bool,
}

struct Combiner<'c> {
    poll: Poll<'c>,
    code: &'c mut VCode<Halu>,
    /// By virtual register.
    known: Vec<Known>,
    /// By virtual register, the one that it is now.
    stands_for: Vec<VReg>,
    /// By virtual register, what its bytes are, where more is known than that they are its own.
    maps: Vec<Option<bytes::Map>>,
    /// By instruction.
    is_dead: Vec<bool>,
    /// By instruction, another one that is to stand right before it.
    moved: FxHashMap<u32, u32>,
    /// Where instructions are made, their operands alone being taken.
    builder: Builder,
    /// The block at hand.
    block: u32,
}

impl<'c> Combiner<'c> {
    fn new(code: &'c mut VCode<Halu>, poll: Poll<'c>) -> Combiner<'c> {
        let nothing = Known { def: NONE, block: NONE, uses: 0, is_continued: false };
        let mut known = vec![nothing; code.vregs.len()];
        for (number, block) in (0..).zip(&code.blocks) {
            for at in block.insts.clone() {
                for operand in code.insts.get(at as usize).map_or(&[][..], |inst| code.operands(inst)) {
                    let reg = &mut known[operand.reg.0 as usize];
                    match operand.access {
                        Access::Use => reg.uses += 1,
                        Access::Def => (reg.def, reg.block) = (at, number),
                        Access::Replace(old) => {
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
            builder: Builder::new(Vec::new(), Vec::new(), Vec::new()),
            block: NONE,
            code,
        }
    }

    /// Whether anything was combined.
    fn block(&mut self, number: usize) -> bool {
        let Some(block) = self.code.blocks.get(number) else { return false };
        self.block = number as u32;
        let mut is_changed = false;
        'insts: for at in block.insts.clone() {
            if self.poll.is_stopped() {
                return false;
            }
            // Most instructions mean nothing here, so that is asked before anything else.
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

    /// Whether an instruction took in another one, or became another one.
    fn step(&mut self, at: u32, result: VReg, meaning: Meaning) -> bool {
        match meaning {
            Meaning::Three(Kind::Logic(table), sources) => {
                self.bytes(at, result, meaning) || self.logic(at, table, sources)
            }
            Meaning::Three(Kind::Sum, sources) => self.sum(at, sources),
            Meaning::Three(Kind::Product, sources) => self.product_by_number(at, sources),
            Meaning::Shift(..) | Meaning::Permutation(..) => {
                self.bytes(at, result, meaning) || self.made_of_numbers(at, meaning)
            }
            Meaning::Number(_) | Meaning::Load { .. } => false,
        }
    }

    /// Takes out what is dead, and gives each operand the register that it is now.
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

    // What is there -----------------------------------------------------------------------------------------------------

    fn inst(&self, at: u32) -> Option<&VInst<Halu>> {
        self.code.insts.get(at as usize).filter(|_| !self.is_dead[at as usize])
    }

    fn now(&self, mut reg: VReg) -> VReg {
        while let Some(&next) = self.stands_for.get(reg.0 as usize).filter(|&&next| next != reg) {
            reg = next;
        }
        reg
    }

    /// The word register that an instruction writes, where it writes nothing else.
    fn result(&self, at: u32) -> Option<VReg> {
        let mut writes = self.code.operands(self.inst(at)?).iter().filter(|operand| operand.access != Access::Use);
        let &Operand { reg, access: Access::Def, .. } = writes.next()? else { return None };
        (writes.next().is_none() && self.is_word(reg)).then_some(reg)
    }

    fn is_word(&self, reg: VReg) -> bool {
        self.code.vregs.get(reg.0 as usize) == Some(&RegClass::Word)
    }

    /// The instruction that makes a word, wherever it stands.
    fn maker(&self, reg: Reg) -> Option<u32> {
        let reg = reg.vreg.filter(|&reg| self.is_word(reg))?;
        Some(self.known[reg.0 as usize].def).filter(|&def| def != NONE)
    }

    /// The same, where it stands in the block at hand.
    fn maker_here(&self, reg: Reg) -> Option<u32> {
        self.maker(reg).filter(|_| reg.vreg.is_some_and(|reg| self.known[reg.0 as usize].block == self.block))
    }

    fn uses(&self, reg: Reg) -> u32 {
        reg.vreg.map_or(0, |reg| self.known[reg.0 as usize].uses)
    }

    /// The number that a source is, where it is one.
    fn number(&self, src: Src) -> Option<u32> {
        match src.place {
            Source::Imm(bits) => Some(bits),
            Source::Const(_) => None,
            Source::Reg(Reg { vreg: None, .. }) => Some(0),
            Source::Reg(reg) => self.constant(self.maker(reg)?),
        }
    }

    // What becomes of it ------------------------------------------------------------------------------------------------

    /// Puts a word, which reads what the builder was told, in the place of an instruction with the same result.
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

    /// Takes an instruction out, whose result another register has.
    fn forward(&mut self, at: u32, to: VReg) {
        let Some(result) = self.result(at) else { return };
        let Some(operands) = self.inst(at).map(|inst| inst.operands.clone()) else { return };
        self.known[to.0 as usize].uses += self.known[result.0 as usize].uses;
        self.stands_for[result.0 as usize] = to;
        self.is_dead[at as usize] = true;
        self.release(operands);
    }

    /// An instruction no longer reads these: what has no other use goes.
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

    /// The registers of sources, each once.
    fn registers(sources: &[Src]) -> ArrayVec<Reg, 4> {
        let mut registers = ArrayVec::new();
        for source in sources {
            if let Source::Reg(reg) = source.place
                && reg.vreg.is_some()
                && !registers.contains(&reg)
            {
                let _ = registers.try_push(reg);
            }
        }
        registers
    }
}
