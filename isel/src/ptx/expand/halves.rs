//! Expansion of byte minima and maxima (extrema) into half-word ones, where the SM has only those.
//!
//! The odd bytes of a word determine the order of its half-words, unless they are equal. So `min.u16x2` of two words
//! gives the minima of the odd bytes. `min.u16x2` of the words shifted by a byte gives the minima of the even bytes. An
//! extremum then takes two instructions instead of four. Each input takes a shift, and each output a permutation.

use std::convert::Infallible;

use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};
use rustc_hash::{FxHashMap, FxHashSet};

use super::form::VideoForm;
use super::registers::Registers;
use super::uses::read;
use crate::Ptx;
use crate::vcode::{VCode, VInst};

/// Minimum or maximum of the four bytes of two words.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Extremum {
    is_min: bool,
    signed: bool,
    sources: [Reg; 2],
}

impl Extremum {
    fn of(inst: &Inst) -> Option<(Reg, Extremum)> {
        let is_min = match inst.opcode {
            Opcode::VMIN4 => true,
            Opcode::VMAX4 => false,
            _ => return None,
        };
        let form = VideoForm::of(inst).filter(|_| inst.guard.is_none())?;
        let [d, a, b] = form.types;
        let exact = form.merge.is_none() || (form.merge == Some(Token::Sat) && d == a);
        match inst.operands.as_slice() {
            &[Operand::Register(d), Operand::Register(x), Operand::Register(y), Operand::Register(_)]
                if a == b && exact =>
            {
                Some((d, Extremum { is_min, signed: a.is_signed(), sources: [x.min(y), x.max(y)] }))
            }
            _ => None,
        }
    }
}

/// Set of extrema that read each other's results, with the facts that decide whether splitting pays.
#[derive(Default)]
struct Tree {
    extrema: u32,
    /// For each pair of operands, two flags: `true` if their minimum is computed, and `true` if
    /// their maximum is computed. The unsplit sequences of a minimum and a maximum of the same
    /// operands share half of their instructions.
    pairs: FxHashMap<[Reg; 2], [bool; 2]>,
    /// Inputs of the extrema. Constants do not count, because the assembler folds their shifts.
    leaves: FxHashSet<Reg>,
    roots: FxHashSet<Reg>,
}

impl Tree {
    fn is_worth_it(&self) -> bool {
        let pairs = self.pairs.values().filter(|both| **both == [true; 2]).count() as u32;
        let whole = 4 * self.extrema - 2 * pairs;
        2 * self.extrema + self.leaves.len() as u32 + (self.roots.len() as u32) < whole
    }
}

/// Splits sets of connected byte extrema into half-word extrema where this takes fewer instructions.
pub(super) fn split(code: &mut VCode<Ptx>) {
    let has = |opcode: Opcode| opcode.row().since.is_supported_by(code.extra.sm);
    if !has(Opcode::MIN_X2) || has(Opcode::MIN_X4) {
        return;
    }
    let mut extrema: FxHashMap<Reg, Extremum> = FxHashMap::default();
    let mut constants: FxHashSet<Reg> = FxHashSet::default();
    for VInst { inst, .. } in &code.insts {
        extrema.extend(Extremum::of(inst));
        if let (Opcode::MOV, [Operand::Register(d), Operand::Number(_)]) = (inst.opcode, inst.operands.as_slice()) {
            constants.insert(*d);
        }
    }
    if extrema.is_empty() {
        return;
    }
    let trees = trees(code, &extrema, &constants);
    // This order visits definitions before uses.
    let order = code.order();
    let mut halves = Halves::default();
    let mut at = None;
    let Ok(()) = code.rewrite(&order, |registers, block, inst, out| {
        // Every block shifts the inputs that it needs. Equal shifts are shared by a later step.
        if at.replace(block) != Some(block) {
            halves.shifted.clear();
        }
        let split = Extremum::of(&inst.inst).and_then(|(d, e)| Some((d, e, trees.of(d)?)));
        match split {
            Some((d, extremum, tree)) if tree.is_worth_it() => {
                let mut writer = Writer { registers: Registers(registers), halves: &mut halves, loc: inst.loc, out };
                writer.extremum(d, extremum, tree.roots.contains(&d));
            }
            _ => out.push(inst),
        }
        Ok::<(), Infallible>(())
    });
}

/// Sets of connected extrema, and the set that contains each extremum.
struct Trees {
    number: FxHashMap<Reg, usize>,
    trees: Vec<Tree>,
}

impl Trees {
    fn of(&self, extremum: Reg) -> Option<&Tree> {
        self.trees.get(*self.number.get(&extremum)?)
    }
}

fn trees(code: &VCode<Ptx>, extrema: &FxHashMap<Reg, Extremum>, constants: &FxHashSet<Reg>) -> Trees {
    // Union-find forest of connected extrema. The smaller register becomes the root.
    let mut parent: FxHashMap<Reg, Reg> = extrema.keys().map(|&reg| (reg, reg)).collect();
    fn root(parent: &FxHashMap<Reg, Reg>, mut reg: Reg) -> Reg {
        while let Some(&up) = parent.get(&reg).filter(|&&up| up != reg) {
            reg = up;
        }
        reg
    }
    let joins = |outer: &Extremum, source: Reg| extrema.get(&source).is_some_and(|inner| inner.signed == outer.signed);
    for (&d, extremum) in extrema {
        for source in extremum.sources {
            if joins(extremum, source) {
                let (a, b) = (root(&parent, d), root(&parent, source));
                parent.insert(a.max(b), a.min(b));
            }
        }
    }
    let mut trees = Trees { number: FxHashMap::default(), trees: Vec::new() };
    let mut of_root: FxHashMap<Reg, usize> = FxHashMap::default();
    for (&d, extremum) in extrema {
        let number = *of_root.entry(root(&parent, d)).or_insert_with(|| {
            trees.trees.push(Tree::default());
            trees.trees.len() - 1
        });
        trees.number.insert(d, number);
        let Some(tree) = trees.trees.get_mut(number) else { continue };
        tree.extrema += 1;
        let [min, max] = tree.pairs.entry(extremum.sources).or_default();
        *(if extremum.is_min { min } else { max }) = true;
        let leaves = extremum.sources.into_iter().filter(|&s| !joins(extremum, s) && !constants.contains(&s));
        tree.leaves.extend(leaves);
    }
    let mut goes_out = |reg: Reg| {
        if let Some(tree) = trees.number.get(&reg).and_then(|&n| trees.trees.get_mut(n)) {
            tree.roots.insert(reg);
        }
    };
    for VInst { inst, .. } in &code.insts {
        let user = Extremum::of(inst).map(|(_, extremum)| extremum);
        for reg in read(inst) {
            let stays = user.is_some_and(|user| user.sources.contains(&reg) && joins(&user, reg));
            if !stays {
                goes_out(reg);
            }
        }
    }
    code.blocks.iter().for_each(|block| code.visit_end(&block.terminator, |reg| goes_out(reg.into())));
    trees
}

/// Registers that hold the bytes of a value as the high bytes of half-words.
#[derive(Default)]
struct Halves {
    /// Results of split extrema: the register with the even bytes and the register with the odd
    /// bytes, each as the high bytes of half-words.
    split: FxHashMap<Reg, [Reg; 2]>,
    /// Shifted inputs of the current block: the register that holds the even bytes of the input as
    /// the high bytes of half-words.
    shifted: FxHashMap<Reg, Reg>,
}

/// Appends the half-word instructions that replace a byte extremum.
struct Writer<'a> {
    registers: Registers<'a>,
    halves: &'a mut Halves,
    loc: Loc,
    out: &'a mut Vec<VInst<Ptx>>,
}

impl Writer<'_> {
    fn extremum(&mut self, d: Reg, extremum: Extremum, goes_out: bool) {
        let [a, b] = extremum.sources.map(|source| self.halves(source));
        let opcode = if extremum.is_min { Opcode::MIN_X2 } else { Opcode::MAX_X2 };
        let ty = if extremum.signed { Type::S16x2 } else { Type::U16x2 };
        let both = [0, 1].map(|half: usize| {
            let sources = [a, b].map(|halves| if half == 0 { halves[0] } else { halves[1] });
            self.push(opcode, ty, None, &sources.map(Operand::Register))
        });
        self.halves.split.insert(d, both);
        if goes_out {
            let [even, odd] = both.map(Operand::Register);
            self.push(Opcode::PRMT, Type::B32, Some(d), &[even, odd, Operand::Number(0x7351)]);
        }
    }

    fn halves(&mut self, value: Reg) -> [Reg; 2] {
        if let Some(&halves) = self.halves.split.get(&value) {
            return halves;
        }
        if let Some(&even) = self.halves.shifted.get(&value) {
            return [even, value];
        }
        let even = self.push(Opcode::SHL, Type::B32, None, &[Operand::Register(value), Operand::Number(8)]);
        self.halves.shifted.insert(value, even);
        [even, value]
    }

    fn push(&mut self, opcode: Opcode, ty: Type, d: Option<Reg>, sources: &[Operand]) -> Reg {
        let d = d.unwrap_or_else(|| self.registers.fresh(Type::B32));
        let operands = std::iter::once(Operand::Register(d)).chain(sources.iter().cloned()).collect();
        let words = [Token::Type(ty)].into_iter().collect();
        self.out.push(VInst::alone(Inst { opcode, modifiers: words, guard: None, operands }, self.loc));
        d
    }
}
