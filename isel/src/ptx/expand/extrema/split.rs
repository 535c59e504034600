//! Extrema of halves by extrema of f32, lane by lane.
//!
//! A word read as f32 is ordered as its upper half is, -0 below +0 too, for what is below only decides between equal ones. NaN
//! alone is not: of the NaN of halves f32 has the one that arithmetic makes, and a product with 1.0 makes that of all. So
//! `max.f32` of such words gives the upper halves of the maxima, and of words shifted by a half the lower ones. Two
//! instructions an extremum; two for what comes in, or one where arithmetic has made it; a permutation for what goes out.

use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Opcode, Operand, Reg};
use rustc_hash::FxHashMap;

use super::{Extrema, Extremum, Writer};

/// 1.0 in both halves.
const ONES: u64 = 0x3c00_3c00;

/// What has been taken apart.
#[derive(Default)]
pub(super) struct Split {
    /// By extremum: the registers whose upper halves are its lower half and its upper one.
    extrema: FxHashMap<Reg, [Reg; 2]>,
    /// By other value the same, in the block at hand.
    leaves: FxHashMap<Reg, [Reg; 2]>,
}

impl Split {
    pub fn extremum(&mut self, writer: &mut Writer<'_>, extremum: Extremum, all: &Extrema) {
        let [a, b] = extremum.sources.map(|source| self.halves(writer, source, all));
        let both = [0, 1].map(|half: usize| {
            let sources = [a, b].map(|halves| Operand::Register(if half == 0 { halves[0] } else { halves[1] }));
            writer.push(extremum.opcode, &[Token::Type(Type::F32)], None, &sources)
        });
        self.extrema.insert(extremum.d, both);
        if all.goes_out(extremum.d) {
            let [lower, upper] = both.map(Operand::Register);
            let sources = [lower, upper, Operand::Number(0x7632)];
            writer.push(Opcode::PRMT, &[Token::Type(Type::B32)], Some(extremum.d), &sources);
        }
    }

    pub fn begin_block(&mut self) {
        self.leaves.clear();
    }

    fn halves(&mut self, writer: &mut Writer<'_>, value: Reg, all: &Extrema) -> [Reg; 2] {
        if let Some(&halves) = self.extrema.get(&value).or_else(|| self.leaves.get(&value)) {
            return halves;
        }
        let upper = match all.one_nan.contains(&value) {
            true => value,
            false => {
                let bits = &[Token::Type(Type::B32)];
                let ones = writer.push(Opcode::MOV, bits, None, &[Operand::Number(ONES)]);
                let sources = [value, ones].map(Operand::Register);
                writer.push(Opcode::MUL_F16, &[Token::Rn, Token::Type(Type::F16x2)], None, &sources)
            }
        };
        let sources = [Operand::Register(upper), Operand::Number(16)];
        let lower = writer.push(Opcode::SHL, &[Token::Type(Type::B32)], None, &sources);
        self.leaves.insert(value, [lower, upper]);
        [lower, upper]
    }
}
