//! Video instructions without their registers, as keys of the table of sequences.

use std::fmt;

use halfbyte_isa::ptx::row::{Lanes, OperandKind};
use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};

/// Video instruction without its registers: the key of the table of sequences.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VideoForm {
    /// Operation.
    pub opcode: Opcode,
    /// Types of the result and of both operands, each `u32` or `s32`.
    pub types: [Type; 3],
    /// Modifier `.sat` or `.add`, or `None`.
    pub merge: Option<Token>,
}

impl VideoForm {
    /// Returns the form of a video instruction, or `None` for any other instruction.
    pub fn of(inst: &Inst) -> Option<VideoForm> {
        lanes(inst.opcode)?;
        let merge = [Token::Sat, Token::Add].into_iter().find(|&token| inst.has(token));
        Some(VideoForm { opcode: inst.opcode, types: [0, 1, 2].map(|n| inst.ty(n)), merge })
    }

    /// Returns all 288 forms: each opcode with all types and modifiers.
    pub fn all() -> impl Iterator<Item = VideoForm> {
        let signs = [Type::U32, Type::S32];
        let triples = signs
            .into_iter()
            .flat_map(move |d| signs.into_iter().flat_map(move |a| signs.into_iter().map(move |b| [d, a, b])));
        let operations = Opcode::ALL.iter().copied().filter(|&opcode| lanes(opcode).is_some());
        operations.flat_map(move |opcode| {
            triples.clone().flat_map(move |types| {
                [None, Some(Token::Sat), Some(Token::Add)].map(|merge| VideoForm { opcode, types, merge })
            })
        })
    }

    /// Returns the video instruction on the given registers, with all lanes in their order.
    pub fn inst(self, d: Reg, operands: [Reg; 3]) -> Inst {
        let words = self.types.map(Token::Type).into_iter().chain(self.merge).collect();
        let operands = std::iter::once(d).chain(operands).map(Operand::Register).collect();
        Inst { opcode: self.opcode, modifiers: words, guard: None, operands }
    }

    /// Returns the number of lanes of the instruction.
    pub fn lanes(self) -> Lanes {
        lanes(self.opcode).unwrap_or(Lanes::Four)
    }
}

/// Returns the number of lanes of a video instruction, or `None` for any other instruction.
/// Selection never emits video comparisons, so they count as other instructions.
fn lanes(opcode: Opcode) -> Option<Lanes> {
    match opcode.row().operands.first().map(|o| o.shape) {
        _ if matches!(opcode, Opcode::VSET2 | Opcode::VSET4) => None,
        Some(OperandKind::Masked(lanes)) => Some(lanes),
        _ => None,
    }
}

impl fmt::Display for VideoForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [d, a, b] = self.types;
        write!(f, "{}{d}{a}{b}", self.opcode.row().mnemonic)?;
        self.merge.map_or(Ok(()), |merge| write!(f, "{merge}"))
    }
}
