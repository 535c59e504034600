//! Expansion of minima and maxima (extrema) of halves on machines that only have them for f32.
//!
//! Extrema that read each other's results form a tree. Each tree is expanded by the cheaper of two
//! methods. [`split`] computes the two lanes separately, which is cheaper if inputs are compared
//! several times. [`chain`] compares one input after another, which is cheaper if trees share no
//! inputs.

mod chain;
mod split;

use std::convert::Infallible;

use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};
use rustc_hash::{FxHashMap, FxHashSet};

use super::registers::Registers;
use super::uses::{read, uses};
use crate::Ptx;
use crate::vcode::{BlockIndex, VCode, VInst};

/// Minimum or maximum of packed halves that ignores a NaN if the other operand is a number.
#[derive(Clone, Copy)]
struct Extremum {
    /// Opcode of the f32 instruction for the same minimum or maximum.
    opcode: Opcode,
    d: Reg,
    sources: [Reg; 2],
}

impl Extremum {
    fn of(inst: &Inst) -> Option<Extremum> {
        let opcode = match inst.opcode {
            Opcode::MIN_F16 => Opcode::MIN_F32,
            Opcode::MAX_F16 => Opcode::MAX_F32,
            _ => return None,
        };
        match (inst.modifiers.as_slice(), inst.operands.as_slice()) {
            (&[Token::Type(Type::F16x2)], &[Operand::Register(d), Operand::Register(a), Operand::Register(b)])
                if inst.guard.is_none() =>
            {
                Some(Extremum { opcode, d, sources: [a, b] })
            }
            _ => None,
        }
    }
}

/// Returns `true` for an extremum of halves, which is expanded for SM versions that lack the
/// instruction.
pub fn is_expanded(inst: &Inst) -> bool {
    Extremum::of(inst).is_some()
}

/// Returns the result register of half-precision arithmetic, whose only NaN is the canonical NaN.
fn arithmetic(inst: &Inst) -> Option<Reg> {
    let is_arithmetic = matches!(inst.opcode, Opcode::ADD_F16 | Opcode::SUB_F16 | Opcode::MUL_F16 | Opcode::FMA_F16);
    match inst.operands.first() {
        Some(&Operand::Register(d)) if is_arithmetic && inst.guard.is_none() => Some(d),
        _ => None,
    }
}

/// Expands all extrema of halves that the SM of the code lacks.
pub(super) fn expand(code: &mut VCode<Ptx>) {
    let sm = code.extra.sm;
    if !code.insts.iter().any(|inst| is_expanded(&inst.inst) && !inst.inst.since().is_supported_by(sm)) {
        return;
    }
    // This order visits definitions before uses.
    let order = code.order();
    let extrema = Extrema::of(code, &order);
    let mut split = split::Split::default();
    let mut at = None;
    let Ok(()) = code.rewrite(&order, |registers, block, inst, out| {
        // Every block splits the inputs that it needs. Equal computations are shared by a later step.
        if at.replace(block) != Some(block) {
            split.begin_block();
        }
        let Some(extremum) = Extremum::of(&inst.inst) else {
            out.push(inst);
            return Ok::<(), Infallible>(());
        };
        let mut writer = Writer { registers: Registers(registers), loc: inst.loc, out };
        match extrema.way(extremum.d) {
            Expansion::Split => split.extremum(&mut writer, extremum, &extrema),
            Expansion::Chain => chain::write(&mut writer, extremum, &extrema.leaves(extremum)),
            Expansion::Taken => {}
        }
        Ok(())
    });
}

/// Method by which an extremum is expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expansion {
    /// Lane by lane, by f32 extrema.
    Split,
    /// As a chain of compares over all inputs of its tree.
    Chain,
    /// Without instructions, because the chain of the tree's root covers it.
    Taken,
}

/// All extrema of a kernel, with the connections between them.
struct Extrema {
    all: FxHashMap<Reg, Node>,
    /// Instruction counts of both expansions, split and chain, for each set of connected extrema.
    /// The key is the representative of the set.
    costs: FxHashMap<Reg, [usize; 2]>,
    /// Results of half-precision arithmetic, whose only NaN is the canonical NaN.
    one_nan: FxHashSet<Reg>,
}

struct Node {
    extremum: Extremum,
    block: u32,
    /// Parent in the union-find forest of connected extrema. A representative is its own parent.
    parent: Reg,
    /// `true` if the only user of the result is an extremum of the same kind in the same block.
    is_taken: bool,
    /// Number of inputs of the tree whose root is this extremum.
    leaves: usize,
    /// `true` if an instruction other than an extremum uses the result.
    goes_out: bool,
}

impl Extrema {
    /// Collects the extrema of some code. `order` visits definitions before uses.
    fn of(code: &VCode<Ptx>, order: &[BlockIndex]) -> Extrema {
        let uses = uses(code);
        let mut extrema =
            Extrema { all: FxHashMap::default(), costs: FxHashMap::default(), one_nan: FxHashSet::default() };
        let mut results = Vec::new();
        for &number in order {
            for inst in code.blocks.get(number as usize).into_iter().flat_map(|block| code.insts_of(block)) {
                extrema.one_nan.extend(arithmetic(&inst.inst));
                let Some(extremum) = Extremum::of(&inst.inst) else {
                    read(&inst.inst).for_each(|reg| extrema.mark_out(reg));
                    continue;
                };
                results.push(extremum.d);
                extrema.add(extremum, number, &uses);
            }
        }
        for block in &code.blocks {
            code.visit_end(&block.terminator, |reg| extrema.mark_out(reg.into()));
        }
        let mut leaves: FxHashSet<(Reg, Reg)> = FxHashSet::default();
        for d in results {
            let root = extrema.root(d);
            let Some(node) = extrema.all.get(&d) else { continue };
            let [mut split, mut chain] = [2 + usize::from(node.goes_out), 0];
            if !node.is_taken {
                chain += chain::cost(node.leaves);
            }
            for source in node.extremum.sources {
                if !extrema.all.contains_key(&source) && leaves.insert((root, source)) {
                    split += if extrema.one_nan.contains(&source) { 1 } else { 2 };
                }
            }
            let costs = extrema.costs.entry(root).or_default();
            *costs = [costs[0] + split, costs[1] + chain];
        }
        extrema
    }

    /// If the register is the result of an extremum, records that another instruction uses it.
    fn mark_out(&mut self, reg: Reg) {
        if let Some(node) = self.all.get_mut(&reg) {
            node.goes_out = true;
        }
    }

    fn add(&mut self, extremum: Extremum, block: u32, uses: &[u32]) {
        let mut leaves = 0;
        for source in extremum.sources {
            let Some(node) = self.all.get_mut(&source) else {
                leaves += 1;
                continue;
            };
            let is_only = uses.get(source.0 as usize) == Some(&1);
            node.is_taken = is_only && node.block == block && node.extremum.opcode == extremum.opcode;
            leaves += if node.is_taken { node.leaves } else { 1 };
        }
        let d = extremum.d;
        self.all.insert(d, Node { extremum, block, parent: d, is_taken: false, leaves, goes_out: false });
        for source in extremum.sources.into_iter().filter(|source| *source != d) {
            let root = self.root(source);
            if let Some(node) = self.all.get_mut(&root) {
                node.parent = d;
            }
        }
    }

    /// Returns the representative of the set of connected extrema that contains the register.
    fn root(&mut self, reg: Reg) -> Reg {
        let mut root = reg;
        while let Some(node) = self.all.get(&root).filter(|node| node.parent != root) {
            root = node.parent;
        }
        // Path compression of the union-find forest.
        let mut at = reg;
        while let Some(node) = self.all.get_mut(&at).filter(|node| node.parent != root) {
            at = std::mem::replace(&mut node.parent, root);
        }
        root
    }

    fn way(&self, d: Reg) -> Expansion {
        let mut root = d;
        while let Some(node) = self.all.get(&root).filter(|node| node.parent != root) {
            root = node.parent;
        }
        let is_taken = self.all.get(&d).is_some_and(|node| node.is_taken);
        match self.costs.get(&root) {
            Some([split, chain]) if split <= chain => Expansion::Split,
            _ if is_taken => Expansion::Taken,
            _ => Expansion::Chain,
        }
    }

    fn goes_out(&self, d: Reg) -> bool {
        self.all.get(&d).is_none_or(|node| node.goes_out)
    }

    /// Returns the inputs of the tree of extrema whose root is `root`.
    fn leaves(&self, root: Extremum) -> Vec<Reg> {
        let mut leaves = Vec::new();
        let mut left = root.sources.to_vec();
        left.reverse();
        while let Some(reg) = left.pop() {
            match self.all.get(&reg).filter(|node| node.is_taken) {
                Some(node) => left.extend(node.extremum.sources.into_iter().rev()),
                None => leaves.push(reg),
            }
        }
        leaves
    }
}

/// Appends the instructions that replace one instruction.
struct Writer<'a> {
    registers: Registers<'a>,
    loc: Loc,
    out: &'a mut Vec<VInst<Ptx>>,
}

impl Writer<'_> {
    /// Appends an instruction. Its result is `d`, or a new register if `d` is `None`.
    fn push(&mut self, opcode: Opcode, words: &[Token], d: Option<Reg>, sources: &[Operand]) -> Reg {
        let d = d.unwrap_or_else(|| self.registers.fresh(Type::B32));
        let operands = std::iter::once(Operand::Register(d)).chain(sources.iter().cloned()).collect();
        let words = words.iter().copied().collect();
        self.out.push(VInst::alone(Inst { opcode, modifiers: words, guard: None, operands }, self.loc));
        d
    }
}
