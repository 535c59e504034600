//! Conversions between `f32` and the half formats.

use halfbyte_isa::half::{Compare, Format, NAN, Rounding};

use super::lower::Lower;
use super::{Binary, Half, Node, Shift, Value};

impl Lower<'_> {
    /// Returns the floats of the halves in the low 16 bits of words. NaNs have any payload.
    pub(super) fn widen(&mut self, format: Format, word: Value) -> Value {
        match format {
            Format::Bf16 => self.b.shift_words(Shift::Left, word, 16),
            Format::F16 => {
                let of = Half::BOTH.map(|half| self.b.push(Node::WidenHalves(half, word)));
                self.b.push(Node::Every2nd { odd: false, split: false, of })
            }
        }
    }

    /// Returns the halves of floats, in the low 16 bits of words.
    pub(super) fn narrow(&mut self, format: Format, rounding: Rounding, float: Value) -> Option<Value> {
        let is_nan = self.b.compare(Compare::NAN, float, float);
        let rounded = match format {
            Format::Bf16 => {
                let rounded = self.round_bf16(rounding, float);
                self.b.shift_words(Shift::Right, rounded, 16)
            }
            Format::F16 => {
                let zero = self.b.constant(0);
                let halves = self.b.push(Node::NarrowHalves(rounding, [float, zero]));
                self.b.push(Node::Extend16(Half::Low, halves))
            }
        };
        let nan = self.b.constant(NAN.into());
        Some(self.b.select(is_nan, nan, rounded))
    }

    /// Rounds floats to bfloat16 numbers, in the high 16 bits of words. The low bits are arbitrary.
    pub(super) fn round_bf16(&mut self, rounding: Rounding, float: Value) -> Value {
        match rounding {
            Rounding::Nearest => {
                let odd = self.b.shift_words(Shift::Right, float, 16);
                let odd = self.b.and_constant(odd, 1);
                let half = self.b.constant(0x7FFF);
                let by = self.b.words(Binary::Add, odd, half);
                self.b.words(Binary::Add, float, by)
            }
            Rounding::Zero => float,
            Rounding::Up | Rounding::Down => {
                let negative = self.b.shift_words(Shift::Arithmetic, float, 31);
                let all = self.b.constant(0xFFFF);
                let by = match rounding {
                    Rounding::Up => self.b.and_not(all, negative),
                    _ => self.b.and(all, negative),
                };
                self.b.words(Binary::Add, float, by)
            }
        }
    }
}
