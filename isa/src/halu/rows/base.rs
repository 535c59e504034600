//! Rows of moves, predicate logic and control flow. The reference listings have no such
//! instructions; this project defines the encodings, and the mnemonics follow SASS.

use super::integer::forms;
use super::*;
use crate::row::{FieldTest, InvalidCombination};

const B_R: Operand = gpr("rb", R32);
const B_U: Operand = ur("urb", UR32);
const B_I: Operand = bits("ib", IMM32);
const B_C: Operand = constant("cb");

const MOV: Row = Row {
    mnemonic: "MOV",
    class: InstClass::Move,
    doc: "Copies a word: `rd = b`.",
    examples: &["MOV R0, R1 ;", "MOV R0, 0x3c003c00 ;", "MOV R0, c[0x0][0x160] ;"],
    ..HALU
};
const MOV_IMM: Row = Row { class: InstClass::Compute, ..MOV };
forms! { MOV, 0x02;
    MOV_R R [D, B_R];
    MOV_U U [D, B_U];
    MOV_C C [D, B_C];
}
forms! { MOV_IMM, 0x02; MOV_I I [D, B_I]; }

const SEL: Row = Row {
    mnemonic: "SEL",
    doc: "Selects by a predicate: `rd = pp ? ra : b`.",
    examples: &["SEL R0, R1, R2, P0 ;", "SEL R0, RZ, 0x1, !P0 ;"],
    ..HALU
};
forms! { SEL, 0x07;
    SEL_RR R [D, A, B_R, P];
    SEL_RI I [D, A, B_I, P];
    SEL_RU U [D, A, B_U, P];
    SEL_RC C [D, A, B_C, P];
}

const S2R_BASE: Row = Row {
    mnemonic: "S2R",
    class: InstClass::Address,
    doc: "Reads a special register: the index of the work item in the launch (SR_ITEM) or in its group (SR_TID), or \
          the index of its group (SR_CTAID). A suffix selects an axis. Without an axis the index is `x + nx * (y + ny \
          * z)`, where nx and ny are the extents along x and y. The number of the register is in field `sr` with \
          `axis` below it: SR_TID.X is 0x21.",
    examples: &["S2R R0, SR_ITEM ;", "S2R R0, SR_CTAID.Y ;"],
    ..HALU
};
const SPECIAL: Operand =
    Operand { suffix: Suffix::Choice(M_AXIS), ..Operand::new("sr", OperandRole::Use, OperandKind::Name(M_SREG)) };
forms! { S2R_BASE, 0x1a; S2R R [D, SPECIAL]; }

const R2UR_BASE: Row = Row {
    mnemonic: "R2UR",
    class: InstClass::Move,
    doc: "Copies `rb` of the lowest active item to a uniform register.",
    examples: &["R2UR UR4, R0 ;"],
    ..HALU
};
forms! { R2UR_BASE, 0xc2; R2UR R [Operand::reg("urd", OperandRole::Def, RegFile::Ur, URD), B_R]; }

const PLOP3_BASE: Row = Row {
    mnemonic: "PLOP3",
    forbids: &[InvalidCombination {
        all: &[(PV, FieldTest::Same(PU)), (PV, FieldTest::Not(PT as u64))],
        why: "the two destination predicates must differ unless both are PT",
    }],
    doc: "Computes any function of three predicates: `pu` is bit `4*pp + 2*px + py` of the truth table, and `pv` is \
          its inverse. The table of a function is the value of the function for pp = 0xf0, px = 0xcc, py = 0xaa.",
    examples: &["PLOP3 P0, PT, P1, P2, PT, 0xc0 ;", "PLOP3 P0, P1, P1, !P2, P3, 0x96 ;"],
    ..HALU
};
forms! { PLOP3_BASE, 0x1c;
    PLOP3 R [DU, DV, P, pred("px", PX).not(PX_NOT), pred("py", PY).not(PY_NOT), bits("lut", LUT)];
}

const P2R_BASE: Row = Row {
    mnemonic: "P2R",
    class: InstClass::Move,
    doc: "Packs predicates: bit i of `rd` is Pi if bit i of the mask is set, else bit i of `ra`. The mask selects \
          predicates 0 to 6.",
    examples: &["P2R R0, PR, RZ, 0x7f ;"],
    ..HALU
};
forms! { P2R_BASE, 0x03; P2R R [D, Operand::new("pr", OperandRole::Use, OperandKind::AllPreds), A, bits("mask", PMASK)]; }

const R2P_BASE: Row = Row {
    mnemonic: "R2P",
    class: InstClass::Move,
    doc: "Unpacks bits to predicates: Pi is bit i of `ra` if bit i of the mask is set; other predicates keep their \
          value.",
    examples: &["R2P PR, R0, 0x7f ;"],
    ..HALU
};
forms! { R2P_BASE, 0x04; R2P R [Operand::new("pr", OperandRole::Def, OperandKind::AllPreds), A, bits("mask", PMASK)]; }

const CONTROL: Row = Row { class: InstClass::Control, ..HALU };

const BRA_BASE: Row = Row {
    mnemonic: "BRA",
    doc: "Branches if the guard is true. The distance is signed, in words of 16 bytes, from this word: `.+0` is the \
          branch itself, `.+1` the next word.",
    examples: &["BRA .+2 ;", "@!P0 BRA .-3 ;"],
    ..CONTROL
};
forms! { BRA_BASE, 0x47; BRA R [Operand::new("target", OperandRole::Use, OperandKind::Target(IMM32))]; }

const EXIT_BASE: Row = Row {
    mnemonic: "EXIT",
    doc: "Ends the work item if the guard is true.",
    examples: &["EXIT ;", "@P0 EXIT ;"],
    ..CONTROL
};
forms! { EXIT_BASE, 0x4d; EXIT R []; }

const NOP_BASE: Row = Row { mnemonic: "NOP", doc: "Does nothing.", examples: &["NOP ;"], ..CONTROL };
forms! { NOP_BASE, 0x18; NOP R []; }
