//! Minima and maxima of halves on machines that have them of f32 only.
//!
//! A word read as f32 is ordered as its upper half is, -0 below +0 too, for what is below only decides between equal ones. NaN
//! alone is not: of the NaN of halves f32 has the one that arithmetic makes, and a product with 1.0 makes that of all. So
//! `max.f32` of such words gives the upper halves of the maxima, and of words shifted by a half the lower ones. A tree of
//! them pays for products and shifts where values come in, and for a permutation where one goes out.

use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};
use rustc_hash::{FxHashMap, FxHashSet};

use super::flow::{Dominators, read};
use super::registers::Registers;
use crate::ptx::{Code, Placed};

/// From this SM on there are minima and maxima of halves.
const HALVES: u16 = 80;
/// 1.0 in both halves.
const ONES: u64 = 0x3c00_3c00;

/// A minimum or maximum of pairs of halves that takes numbers over NaN.
#[derive(Clone, Copy)]
struct Extremum {
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
        match (inst.words.as_slice(), inst.operands.as_slice()) {
            (&[Token::Type(Type::F16x2)], &[Operand::Register(d), Operand::Register(a), Operand::Register(b)])
                if inst.guard.is_none() =>
            {
                Some(Extremum { opcode, d, sources: [a, b] })
            }
            _ => None,
        }
    }
}

/// Whether an instruction is expanded on machines that lack it.
pub fn is_expanded(inst: &Inst) -> bool {
    Extremum::of(inst).is_some()
}

/// The result of arithmetic on halves, whose NaN is the one NaN.
fn arithmetic(inst: &Inst) -> Option<Reg> {
    let is_arithmetic = matches!(inst.opcode, Opcode::ADD_F16 | Opcode::SUB_F16 | Opcode::MUL_F16 | Opcode::FMA_F16);
    match inst.operands.first() {
        Some(&Operand::Register(d)) if is_arithmetic && inst.guard.is_none() => Some(d),
        _ => None,
    }
}

/// Takes extrema of halves apart on machines that lack them.
pub fn split(code: &mut Code) {
    if code.sm >= HALVES {
        return;
    }
    let (mut extrema, mut leaves) = (FxHashSet::default(), FxHashSet::default());
    let (mut one_nan, mut goes_out) = (FxHashSet::default(), FxHashSet::default());
    for block in &code.blocks {
        for placed in &block.insts {
            match Extremum::of(&placed.inst) {
                Some(extremum) => {
                    extrema.insert(extremum.d);
                    leaves.extend(extremum.sources);
                }
                None => goes_out.extend(read(&placed.inst)),
            }
            one_nan.extend(arithmetic(&placed.inst));
        }
        goes_out.extend(block.terminator.registers());
    }
    if extrema.is_empty() {
        return;
    }
    one_nan.retain(|reg| leaves.contains(reg));
    // What is split is met before its users.
    let mut order = Dominators::of(code).order;
    let reached: FxHashSet<u32> = order.iter().copied().collect();
    order.extend((0..code.blocks.len() as u32).filter(|block| !reached.contains(block)));
    let mut writer = Writer {
        registers: Registers(&mut code.registers),
        one_nan,
        split: FxHashMap::default(),
        leaves: FxHashMap::default(),
        out: Vec::new(),
    };
    for number in order {
        let Some(block) = code.blocks.get_mut(number as usize) else { continue };
        for placed in block.insts.drain(..) {
            match Extremum::of(&placed.inst) {
                Some(extremum) => writer.extremum(&placed, extremum, goes_out.contains(&extremum.d)),
                None => writer.out.push(placed),
            }
        }
        block.insts = std::mem::take(&mut writer.out);
        // What comes in is made ready in every block that needs it; sharing follows.
        writer.leaves.clear();
    }
}

/// Writes extrema of f32.
struct Writer<'a> {
    registers: Registers<'a>,
    one_nan: FxHashSet<Reg>,
    /// By extremum: the registers whose upper halves are its lower half and its upper one.
    split: FxHashMap<Reg, [Reg; 2]>,
    /// By other value the same, in the block at hand.
    leaves: FxHashMap<Reg, [Reg; 2]>,
    out: Vec<Placed>,
}

impl Writer<'_> {
    fn extremum(&mut self, placed: &Placed, extremum: Extremum, goes_out: bool) {
        let [a, b] = extremum.sources.map(|source| self.halves(placed, source));
        let both = [0, 1].map(|half: usize| {
            let sources = [a, b].map(|halves| Operand::Register(if half == 0 { halves[0] } else { halves[1] }));
            self.push(placed, extremum.opcode, &[Token::Type(Type::F32)], None, &sources)
        });
        self.split.insert(extremum.d, both);
        if goes_out {
            let [lower, upper] = both.map(Operand::Register);
            let sources = [lower, upper, Operand::Number(0x7632)];
            self.push(placed, Opcode::PRMT, &[Token::Type(Type::B32)], Some(extremum.d), &sources);
        }
    }

    fn halves(&mut self, placed: &Placed, value: Reg) -> [Reg; 2] {
        if let Some(&halves) = self.split.get(&value).or_else(|| self.leaves.get(&value)) {
            return halves;
        }
        let upper = match self.one_nan.contains(&value) {
            true => value,
            false => {
                let bits = &[Token::Type(Type::B32)];
                let ones = self.push(placed, Opcode::MOV, bits, None, &[Operand::Number(ONES)]);
                let sources = [value, ones].map(Operand::Register);
                self.push(placed, Opcode::MUL_F16, &[Token::Rn, Token::Type(Type::F16x2)], None, &sources)
            }
        };
        let sources = [Operand::Register(upper), Operand::Number(16)];
        let lower = self.push(placed, Opcode::SHL, &[Token::Type(Type::B32)], None, &sources);
        self.leaves.insert(value, [lower, upper]);
        [lower, upper]
    }

    fn push(&mut self, placed: &Placed, opcode: Opcode, words: &[Token], d: Option<Reg>, sources: &[Operand]) -> Reg {
        let d = d.unwrap_or_else(|| self.registers.fresh(Type::B32));
        let operands = std::iter::once(Operand::Register(d)).chain(sources.iter().cloned()).collect();
        let words = words.iter().copied().collect();
        self.out.push(Placed::new(Inst { opcode, words, guard: None, operands }, placed.loc));
        d
    }
}
