//! Expansion of half extrema (minima and maxima) into f32 extrema, lane by lane.
//!
//! A word read as f32 is ordered like its upper half, and -0 is below +0. The lower half only decides between equal
//! upper halves. NaN is the exception: an f32 extremum handles only the canonical NaN of halves correctly, and a
//! product with 1.0 makes every NaN canonical. So `max.f32` of two words gives the maximum of the upper halves.
//! `max.f32` of the shifted words gives the maximum of the lower halves. The cost is two instructions per extremum, two
//! per input (one if the input is an arithmetic result), and one permutation per output.

use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Opcode, Operand, Reg};
use rustc_hash::FxHashMap;

use super::{Extrema, Extremum, Writer};

/// 1.0 in both halves.
const ONES: u64 = 0x3c00_3c00;

/// Registers that hold the single halves of words.
#[derive(Default)]
pub(super) struct Split {
    /// Results of split extrema. The upper half of the first register is the result's lower half;
    /// the upper half of the second register is the result's upper half.
    extrema: FxHashMap<Reg, [Reg; 2]>,
    /// Inputs that were split in the current block, in the same form as `extrema`.
    leaves: FxHashMap<Reg, [Reg; 2]>,
}

impl Split {
    pub(super) fn extremum(&mut self, writer: &mut Writer<'_>, extremum: Extremum, all: &Extrema) {
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

    pub(super) fn begin_block(&mut self) {
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
