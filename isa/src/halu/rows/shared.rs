//! Rows of accesses to shared memory, to the local memory that a kernel declares, and to generic addresses. The
//! reference listings have no such instructions; this project defines the encodings, and the mnemonics follow SASS.

use super::memory::{LOAD_ORDER, MEMORY, SCOPE_NEEDS_STRONG, STORE_ORDER, at, loads, orders, span, stores};
use super::*;
use crate::row::Address;

const SHARED: Address = Address::Shared { offset: RA, imm: IMM24 };
const SCRATCH: Address = Address::Scratch { offset: RA, imm: IMM24 };
const FLAT: Address = Address::Flat { base: RA, imm: IMM24 };

const LDS: Row = Row {
    mnemonic: "LDS",
    modifiers: LOAD_ORDER,
    forbids: SCOPE_NEEDS_STRONG,
    doc: concat!(
        "Loads from the shared memory of the group. Without a size it loads 32 bits. `.U8 .U16` zero-extend to 32 \
         bits. `.64` and `.128` load 2 and 4 registers, the lowest address into the lowest register; the first \
         register is a multiple of their number.\n\n\
         The address is the exact sum of a zero-extended register and a signed 24-bit displacement. An address that is \
         not a multiple of the size traps.",
        orders!("ACQUIRE")
    ),
    examples: &["LDS R0, [R1+0x10] ;", "LDS.128 R4, [RZ+0x20] ;", "LDS.ACQUIRE.CTA R0, [R1] ;"],
    ..MEMORY
};
loads! { LDS, 0x84, SHARED;
    LDS_U8 0x0 ["U8"] 1;
    LDS_U16 0x2 ["U16"] 2;
    LDS_32 0x4 [] 4;
    LDS_64 0x5 ["64"] 8;
    LDS_128 0x6 ["128"] 16;
}

const STS: Row = Row {
    mnemonic: "STS",
    modifiers: STORE_ORDER,
    forbids: SCOPE_NEEDS_STRONG,
    doc: concat!(
        "Stores to the shared memory of the group. Without a size it stores 32 bits. `.8` and `.16` store the low bits \
         of the register. `.64` and `.128` store 2 and 4 registers, the lowest register to the lowest address; the \
         first register is a multiple of their number. The address is that of `LDS`.",
        orders!("RELEASE")
    ),
    examples: &["STS [R1+0x10], R0 ;", "STS.RELEASE.CTA [R1], R0 ;"],
    ..MEMORY
};
stores! { STS, 0x88, SHARED;
    STS_8 0x0 ["8"] 1;
    STS_16 0x2 ["16"] 2;
    STS_32 0x4 [] 4;
    STS_64 0x5 ["64"] 8;
    STS_128 0x6 ["128"] 16;
}

const LD: Row = Row {
    mnemonic: "LD",
    modifiers: LOAD_ORDER,
    forbids: SCOPE_NEEDS_STRONG,
    doc: concat!(
        "Loads from a generic address, like `LDG`. The shared memory of the group begins at 2^38 and the local memory \
         that the kernel declares at 2^36; each window has 2^36 bytes. All other addresses are in global memory.",
        orders!("ACQUIRE")
    ),
    examples: &["LD R0, [R2.64] ;", "LD.U16 R0, [R2.64+0x10] ;"],
    ..MEMORY
};
loads! { LD, 0x90, FLAT;
    LD_U8 0x0 ["U8"] 1;
    LD_U16 0x2 ["U16"] 2;
    LD_32 0x4 [] 4;
    LD_64 0x5 ["64"] 8;
    LD_128 0x6 ["128"] 16;
}

const ST: Row = Row {
    mnemonic: "ST",
    modifiers: STORE_ORDER,
    forbids: SCOPE_NEEDS_STRONG,
    doc: concat!("Stores to a generic address, like `STG`. The address is that of `LD`.", orders!("RELEASE")),
    examples: &["ST [R2.64], R0 ;", "ST.128 [R2.64+0x10], R4 ;"],
    ..MEMORY
};
stores! { ST, 0x91, FLAT;
    ST_8 0x0 ["8"] 1;
    ST_16 0x2 ["16"] 2;
    ST_32 0x4 [] 4;
    ST_64 0x5 ["64"] 8;
    ST_128 0x6 ["128"] 16;
}

const LDL: Row = Row {
    mnemonic: "LDL",
    doc: "Loads from the local memory that the kernel declares. The spilled registers after it cannot be accessed. \
          Sizes and address are those of `LDS`.",
    examples: &["LDL R0, [R1+0x10] ;", "LDL.U8 R0, [RZ] ;"],
    ..MEMORY
};
loads! { LDL, 0x93, SCRATCH;
    LDL_X_U8 0x0 ["U8"] 1;
    LDL_X_U16 0x2 ["U16"] 2;
    LDL_X_32 0x4 [] 4;
    LDL_X_64 0x5 ["64"] 8;
    LDL_X_128 0x6 ["128"] 16;
}

const STL: Row = Row {
    mnemonic: "STL",
    doc: "Stores to the local memory that the kernel declares. The spilled registers after it cannot be accessed. \
          Sizes and address are those of `STS`.",
    examples: &["STL [R1+0x10], R0 ;", "STL.8 [RZ], R0 ;"],
    ..MEMORY
};
stores! { STL, 0x94, SCRATCH;
    STL_X_8 0x0 ["8"] 1;
    STL_X_16 0x2 ["16"] 2;
    STL_X_32 0x4 [] 4;
    STL_X_64 0x5 ["64"] 8;
    STL_X_128 0x6 ["128"] 16;
}
