//! Extrema of halves by f32 extrema, lane by lane.
//!
//! A word read as f32 is ordered like its upper half, including -0 below +0; the lower half only
//! decides between equal upper halves. NaN is the exception: an f32 extremum handles only the
//! canonical half NaN correctly, and a product with 1.0 makes every NaN canonical. So `max.f32` of
//! the words gives the maxima of the upper halves, and of the words shifted by a half those of the
//! lower halves. This costs two instructions per extremum, two per input (one if the input is an
//! arithmetic result), and a permutation per output.

use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Opcode, Operand, Reg};
use rustc_hash::FxHashMap;

use super::{Extrema, Extremum, Writer};

/// 1.0 in both halves.
const ONES: u64 = 0x3c00_3c00;

/// Values that were split into halves.
#[derive(Default)]
pub(super) struct Split {
    /// Split extrema: the registers whose upper halves hold the lower and the upper half of the
    /// value.
    extrema: FxHashMap<Reg, [Reg; 2]>,
    /// Other split values, in the current block.
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
