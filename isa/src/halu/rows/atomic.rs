//! Rows of the atomic operations and fences. The reference listings have no such instructions; this
//! project defines the encodings, and the mnemonics follow SASS.

use super::memory::{MEMORY, UNIFORM, WIDE, at, span};
use super::*;
use crate::row::Address;

const SHARED: Address = Address::Shared { offset: RA, imm: IMM24 };
const FLAT: Address = Address::Flat { base: RA, imm: IMM24 };

/// Defines the rows of the atomic operations for one addressing mode: integer operations,
/// compare-and-swap, exchange, and float additions.
macro_rules! atomics {
    ($base:ident, $optype:literal, $address:ident; $int:ident $int64:ident $cas16:ident $cas32:ident $cas64:ident
     $f16:ident $bf16:ident $f16x2:ident $bf16x2:ident $f32:ident $f64:ident $exch128:ident $cas128:ident) => {
        pub(crate) const $int: Row = Row {
            modifiers: &[M_ATOM, M_ATOM_SIGN, M_ATOM_ORDER, M_SCOPE],
            fixed: &[(OPTYPE, $optype), (STYPE, 0x4)],
            operands: &[D, at($address, 4), gpr("rb", R64)],
            ..$base
        };
        pub(crate) const $int64: Row = Row {
            tags: &["64"],
            modifiers: &[M_ATOM_64, M_ATOM_SIGN_64, M_ATOM_ORDER, M_SCOPE],
            fixed: &[(OPTYPE, $optype), (STYPE, 0x5)],
            operands: &[D.span(2), at($address, 8), gpr("rb", R64).span(2)],
            ..$base
        };
        atomics!(@cas $base, $optype, $address; $cas16 0x2 ["CAS", "16"] 2);
        atomics!(@cas $base, $optype, $address; $cas32 0x6 ["CAS"] 4);
        atomics!(@cas $base, $optype, $address; $cas64 0x7 ["CAS", "64"] 8);
        atomics!(@sum $base, $optype, $address; $f16 0x8 ["ADD", "F16"] 2);
        atomics!(@sum $base, $optype, $address; $bf16 0x9 ["ADD", "BF16"] 2);
        atomics!(@sum $base, $optype, $address; $f16x2 0xa ["ADD", "F16_V2"] 4);
        atomics!(@sum $base, $optype, $address; $bf16x2 0xb ["ADD", "BF16_V2"] 4);
        atomics!(@sum $base, $optype, $address; $f32 0xc ["ADD", "F32"] 4);
        atomics!(@sum $base, $optype, $address; $f64 0xd ["ADD", "F64"] 8);
        atomics!(@sum $base, $optype, $address; $exch128 0xe ["128", "EXCH"] 16);
        atomics!(@cas $base, $optype, $address; $cas128 0xf ["CAS", "128"] 16);
    };
    (@cas $base:ident, $optype:literal, $address:ident; $name:ident $stype:literal [$($tag:literal),*] $size:literal) => {
        pub(crate) const $name: Row = Row {
            tags: &[$($tag),*],
            fixed: &[(OPTYPE, $optype), (STYPE, $stype)],
            operands: &[
                D.span(span($size)),
                at($address, $size),
                gpr("rb", R64).span(span($size)),
                gpr("rc", R72).span(span($size)),
            ],
            ..$base
        };
    };
    (@sum $base:ident, $optype:literal, $address:ident; $name:ident $stype:literal [$($tag:literal),*] $size:literal) => {
        pub(crate) const $name: Row = Row {
            tags: &[$($tag),*],
            fixed: &[(OPTYPE, $optype), (STYPE, $stype)],
            operands: &[D.span(span($size)), at($address, $size), gpr("rb", R64).span(span($size))],
            ..$base
        };
    };
}

const ATOMIC: Row = Row { modifiers: &[M_ATOM_ORDER, M_SCOPE], ..MEMORY };

/// Appends to a description the text that all atomic operations share.
macro_rules! does {
    ($first:literal) => {
        concat!(
            $first,
            "\n\n\
             `.ADD .MIN .MAX .AND .OR .XOR .EXCH` operate on 32 bits, or with `.64` on 64 bits in an even register \
             pair. `.S32` and `.S64` make `.MIN` and `.MAX` signed. `.INC` stores 0 if the old value is at least `rb`, \
             else the old value plus 1. `.DEC` stores `rb` if the old value is 0 or greater than `rb`, else the old \
             value minus 1. `.CAS` stores `rc` if the old value equals `rb`. `.EXCH` and `.CAS` also operate on 128 \
             bits, in quads of registers. Float sums are rounded to nearest even, each half of a packed pair on its \
             own. An f32 sum in global memory flushes subnormals to zeros of their sign.\n\n\
             `rd` receives the old value. `.ACQUIRE .RELEASE .ACQ_REL` also order the item's other accesses. The scope \
             is the launch, with `.CTA` the group, with `.SYS` the whole system. An address that is not a multiple of \
             the size traps."
        )
    };
}

const ATOMG: Row = Row {
    mnemonic: "ATOMG",
    doc: does!("Atomic operation on global memory. The address is that of `LDG`."),
    examples: &[
        "ATOMG.ADD R0, [R1.U32+UR4], R2 ;",
        "ATOMG.MAX.S32 RZ, [R2.64], R4 ;",
        "ATOMG.CAS.64.ACQ_REL.SYS R0, [R2.64], R4, R6 ;",
        "ATOMG.ADD.F16_V2 R0, [R2.64+0x10], R4 ;",
        "ATOMG.128.EXCH R4, [R2.64], R8 ;",
    ],
    ..ATOMIC
};
atomics! { ATOMG, 0xa8, UNIFORM; ATOMG_U_32 ATOMG_U_64 ATOMG_U_CAS_16 ATOMG_U_CAS_32 ATOMG_U_CAS_64
ATOMG_U_F16 ATOMG_U_BF16 ATOMG_U_F16X2 ATOMG_U_BF16X2 ATOMG_U_F32 ATOMG_U_F64 ATOMG_U_128 ATOMG_U_CAS_128 }
atomics! { ATOMG, 0xa9, WIDE; ATOMG_W_32 ATOMG_W_64 ATOMG_W_CAS_16 ATOMG_W_CAS_32 ATOMG_W_CAS_64
ATOMG_W_F16 ATOMG_W_BF16 ATOMG_W_F16X2 ATOMG_W_BF16X2 ATOMG_W_F32 ATOMG_W_F64 ATOMG_W_128 ATOMG_W_CAS_128 }

const ATOMS: Row = Row {
    mnemonic: "ATOMS",
    doc: does!("Atomic operation on shared memory. The address is that of `LDS`."),
    examples: &["ATOMS.INC R0, [R1+0x10], R2 ;", "ATOMS.64.EXCH R0, [R1], R2 ;"],
    ..ATOMIC
};
atomics! { ATOMS, 0x8c, SHARED; ATOMS_32 ATOMS_64 ATOMS_CAS_16 ATOMS_CAS_32 ATOMS_CAS_64
ATOMS_F16 ATOMS_BF16 ATOMS_F16X2 ATOMS_BF16X2 ATOMS_F32 ATOMS_F64 ATOMS_128 ATOMS_CAS_128 }

const ATOM: Row = Row {
    mnemonic: "ATOM",
    doc: does!(
        "Atomic operation on global or shared memory. The address is that of `LD`; an address in local memory traps."
    ),
    examples: &["ATOM.XOR R0, [R2.64], R4 ;"],
    ..ATOMIC
};
atomics! { ATOM, 0x8a, FLAT; ATOM_32 ATOM_64 ATOM_CAS_16 ATOM_CAS_32 ATOM_CAS_64
ATOM_F16 ATOM_BF16 ATOM_F16X2 ATOM_BF16X2 ATOM_F32 ATOM_F64 ATOM_128 ATOM_CAS_128 }

const MEMBAR_BASE: Row = Row {
    mnemonic: "MEMBAR",
    class: InstClass::Control,
    modifiers: &[M_SC, M_SCOPE],
    doc: "Memory fence. The item's accesses before the fence are ordered before those after it, for the items of the \
          launch, with `.CTA` for those of the group, with `.SYS` for the whole system. With `.SC` all items agree on \
          one order of the fences.",
    examples: &["MEMBAR ;", "MEMBAR.SC.SYS ;"],
    ..HALU
};
pub(crate) const MEMBAR: Row = Row { fixed: &[(OPTYPE, 0x92), (STYPE, R)], ..MEMBAR_BASE };
