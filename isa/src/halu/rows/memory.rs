//! Rows of loads and stores. The reference listings have no such instructions; this project defines
//! the encodings, and the mnemonics follow SASS. Each row has one access size, so the number of
//! registers that a row loads or stores is fixed.

use super::*;
use crate::row::{Address, FieldTest, InvalidCombination};

pub(super) const MEMORY: Row = Row { class: InstClass::Memory, ..HALU };

pub(super) const UNIFORM: Address = Address::Uniform { offset: RA, base: UR32, imm: IMM24 };
pub(super) const WIDE: Address = Address::Wide { base: RA, imm: IMM24 };
const LOCAL: Address = Address::Local { imm: IMM24 };
const INDEXED: Address = Address::Constant { bank: CMEM_BANK, index: RA, imm: CMEM_OFFSET };

pub(super) const fn at(address: Address, size: u8) -> Operand {
    Operand::new("address", OperandRole::Use, OperandKind::Memory { address, size })
}

/// Returns the number of registers that hold `size` bytes.
pub(super) const fn span(size: u8) -> u8 {
    if size > 4 { size / 4 } else { 1 }
}

/// Modifiers of loads that select the memory order and the scope.
pub(super) const LOAD_ORDER: &[Modifier] = &[M_LOAD_ORDER, M_SCOPE];
pub(super) const STORE_ORDER: &[Modifier] = &[M_STORE_ORDER, M_SCOPE];
/// Forbids a scope on a weak access.
pub(super) const SCOPE_NEEDS_STRONG: &[InvalidCombination] = &[InvalidCombination {
    all: &[(SCOPE, FieldTest::Not(0)), (ORDER, FieldTest::Eq(0))],
    why: "a scope needs .STRONG, .ACQUIRE or .RELEASE",
}];
/// Appends to a description the text on the modifiers for memory order and scope.
macro_rules! orders {
    ($which:literal) => {
        concat!(
            "\n\nWith `.STRONG` other items may access the same bytes at the same time. `.",
            $which,
            "` also orders the item's other accesses. The scope is the launch, with `.CTA` the group, with `.SYS` the \
             whole system."
        )
    };
}
pub(super) use orders;

/// Defines rows of loads. Each row is given by its name, STYPE, tags and access size.
macro_rules! loads {
    ($base:ident, $optype:literal, $address:ident; $($name:ident $stype:literal [$($tag:literal)?] $size:literal;)*) => { $(
        pub(crate) const $name: Row = Row {
            tags: &[$($tag)?],
            fixed: &[(OPTYPE, $optype), (STYPE, $stype)],
            operands: &[D.span(span($size)), at($address, $size)],
            ..$base
        };
    )* };
}
pub(super) use loads;

/// Defines rows of stores. Each row is given by its name, STYPE, tags and access size. The data register is at bit 64.
macro_rules! stores {
    ($base:ident, $optype:literal, $address:ident; $($name:ident $stype:literal [$($tag:literal)?] $size:literal;)*) => { $(
        pub(crate) const $name: Row = Row {
            tags: &[$($tag)?],
            fixed: &[(OPTYPE, $optype), (STYPE, $stype)],
            operands: &[at($address, $size), gpr("data", R64).span(span($size))],
            ..$base
        };
    )* };
}
pub(super) use stores;

const LDG: Row = Row {
    mnemonic: "LDG",
    modifiers: LOAD_ORDER,
    forbids: SCOPE_NEEDS_STRONG,
    doc: concat!(
        "Loads from global memory. Without a size it loads 32 bits. `.U8 .U16` zero-extend and `.S8 .S16` sign-extend \
          to 32 bits. `.64` and `.128` load 2 and 4 registers, the lowest address into the lowest register; the first \
          register is a multiple of their number.\n\n\
          The address is the sum of its parts. `[Ra.U32+URb+imm]` has a zero-extended 32-bit offset, a 64-bit base in \
          an even UR pair and a signed 24-bit displacement; `[Ra.64+imm]` has a 64-bit base in an even GPR pair and \
          the displacement. An address that is not a multiple of the size traps.",
        orders!("ACQUIRE")
    ),
    examples: &[
        "LDG R0, [R1.U32+UR4] ;",
        "LDG.128 R4, [R2.64+0x10] ;",
        "LDG.S8 R0, [R1.U32+UR4-0x1] ;",
        "LDG.ACQUIRE.SYS R0, [R2.64] ;",
    ],
    ..MEMORY
};
loads! { LDG, 0x81, UNIFORM;
    LDG_U_U8 0x0 ["U8"] 1;
    LDG_U_S8 0x1 ["S8"] 1;
    LDG_U_U16 0x2 ["U16"] 2;
    LDG_U_S16 0x3 ["S16"] 2;
    LDG_U_32 0x4 [] 4;
    LDG_U_64 0x5 ["64"] 8;
    LDG_U_128 0x6 ["128"] 16;
}
loads! { LDG, 0x80, WIDE;
    LDG_W_U8 0x0 ["U8"] 1;
    LDG_W_S8 0x1 ["S8"] 1;
    LDG_W_U16 0x2 ["U16"] 2;
    LDG_W_S16 0x3 ["S16"] 2;
    LDG_W_32 0x4 [] 4;
    LDG_W_64 0x5 ["64"] 8;
    LDG_W_128 0x6 ["128"] 16;
}

const STG: Row = Row {
    mnemonic: "STG",
    modifiers: STORE_ORDER,
    forbids: SCOPE_NEEDS_STRONG,
    doc: concat!(
        "Stores to global memory. Without a size it stores 32 bits. `.8` and `.16` store the low bits of the register. \
          `.64` and `.128` store 2 and 4 registers, the lowest register to the lowest address; the first register is a \
          multiple of their number.\n\n\
          The address is the sum of its parts. `[Ra.U32+URb+imm]` has a zero-extended 32-bit offset, a 64-bit base in \
          an even UR pair and a signed 24-bit displacement; `[Ra.64+imm]` has a 64-bit base in an even GPR pair and \
          the displacement. An address that is not a multiple of the size traps.",
        orders!("RELEASE")
    ),
    examples: &["STG [R1.U32+UR4], R0 ;", "STG.128 [R2.64+0x10], R4 ;", "STG.RELEASE.CTA [R2.64], R4 ;"],
    ..MEMORY
};
stores! { STG, 0x86, UNIFORM;
    STG_U_8 0x0 ["8"] 1;
    STG_U_16 0x2 ["16"] 2;
    STG_U_32 0x4 [] 4;
    STG_U_64 0x5 ["64"] 8;
    STG_U_128 0x6 ["128"] 16;
}
stores! { STG, 0x85, WIDE;
    STG_W_8 0x0 ["8"] 1;
    STG_W_16 0x2 ["16"] 2;
    STG_W_32 0x4 [] 4;
    STG_W_64 0x5 ["64"] 8;
    STG_W_128 0x6 ["128"] 16;
}

const LDL: Row = Row {
    mnemonic: "LDL",
    doc: "Loads spilled registers from the item's local memory: 32 bits, or with `.64` and `.128` 2 and 4 registers, \
          the first a multiple of their number. An address that is not a multiple of the size traps.",
    examples: &["LDL R0, [0x10] ;", "LDL.64 R2, [0x8] ;"],
    ..MEMORY
};
loads! { LDL, 0x83, LOCAL;
    LDL_32 0x4 [] 4;
    LDL_64 0x5 ["64"] 8;
    LDL_128 0x6 ["128"] 16;
}

const STL: Row = Row {
    mnemonic: "STL",
    doc: "Stores spilled registers to the item's local memory: 32 bits, or with `.64` and `.128` 2 and 4 registers, \
          the first a multiple of their number. An address that is not a multiple of the size traps.",
    examples: &["STL [0x10], R0 ;", "STL.64 [0x8], R2 ;"],
    ..MEMORY
};
stores! { STL, 0x87, LOCAL;
    STL_32 0x4 [] 4;
    STL_64 0x5 ["64"] 8;
    STL_128 0x6 ["128"] 16;
}

const LDC: Row = Row {
    mnemonic: "LDC",
    doc: "Loads from a constant bank at the byte offset `Ra + imm`, modulo 2^32. Without a size it loads 32 bits; \
          `.64` loads an even register pair. `.U8 .U16` zero-extend and `.S8 .S16` sign-extend to 32 bits. An offset \
          that is not a multiple of the size traps.",
    examples: &["LDC R0, c[0x3][R1+0x10] ;", "LDC.U8 R0, c[0x3][R1] ;"],
    ..MEMORY
};
loads! { LDC, 0x82, INDEXED;
    LDC_U8 0x0 ["U8"] 1;
    LDC_S8 0x1 ["S8"] 1;
    LDC_U16 0x2 ["U16"] 2;
    LDC_S16 0x3 ["S16"] 2;
    LDC_32 0x4 [] 4;
    LDC_64 0x5 ["64"] 8;
}

const ULDC: Row = Row {
    mnemonic: "ULDC",
    doc: "Loads a uniform register from a constant bank: 32 bits, or with `.64` an even register pair.",
    examples: &["ULDC UR4, c[0x0][0x160] ;", "ULDC.64 UR4, c[0x0][0x168] ;"],
    ..MEMORY
};
const UD: Operand = Operand::reg("urd", OperandRole::Def, RegFile::Ur, URD);
pub(crate) const ULDC_32: Row = Row { fixed: &[(OPTYPE, 0xb9), (STYPE, 0x4)], operands: &[UD, constant("cb")], ..ULDC };
pub(crate) const ULDC_64: Row = Row {
    tags: &["64"],
    fixed: &[(OPTYPE, 0xb9), (STYPE, 0x5)],
    operands: &[
        UD.span(2),
        Operand::new("cb", OperandRole::Use, OperandKind::Const { bank: CMEM_BANK, offset: CMEM_OFFSET, align: 8 }),
    ],
    ..ULDC
};
