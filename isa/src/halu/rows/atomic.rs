//! Rows of the atomic operations and fences. The seeds have no such instructions; the encodings are
//! this project's own and the mnemonics follow SASS.

use super::memory::{MEMORY, UNIFORM, WIDE, at, span};
use super::*;
use crate::row::Address;

const SHARED: Address = Address::Shared { offset: RA, imm: IMM24 };
const FLAT: Address = Address::Flat { base: RA, imm: IMM24 };

/// Defines the atomic operations with one kind of address: integer operations, compare-and-swap,
/// exchange, and float additions.
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

/// Appends the part of the description that all atomic operations share.
macro_rules! does {
    ($first:literal) => {
        concat!(
            $first,
            "\n\n`.ADD .MIN .MAX .AND .OR .XOR .EXCH` of 32 bits, or 64 in an even pair; `.MIN` and `.MAX` of signed numbers under `.S32` and `.S64`. \
             `.INC` gives 0 where what was there is `rb` or more, else one more; `.DEC` gives `rb` where it was 0 or more than `rb`, else one less. \
             `.CAS` puts `rc` there where `rb` was. `.EXCH` and `.CAS` are of 128 bits, too, in quads. Sums of floats are rounded to nearest even, each half of a pair by itself; a sum of f32 in global \
             memory has zeros of the sign in the place of subnormals.\n\n\
             `rd` becomes what was there. `.ACQUIRE .RELEASE .ACQ_REL` order the item's other accesses, too. The operation is meant for items of the \
             launch, `.CTA` for those of the group, `.SYS` for all that there are. An address that is not a multiple of the size traps."
        )
    };
}

const ATOMG: Row = Row {
    mnemonic: "ATOMG",
    doc: does!("Puts something in the place of what is in global memory, in one step. The address is that of `LDG`."),
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
    doc: does!("Puts something in the place of what is in shared memory, in one step. The address is that of `LDS`."),
    examples: &["ATOMS.INC R0, [R1+0x10], R2 ;", "ATOMS.64.EXCH R0, [R1], R2 ;"],
    ..ATOMIC
};
atomics! { ATOMS, 0x8c, SHARED; ATOMS_32 ATOMS_64 ATOMS_CAS_16 ATOMS_CAS_32 ATOMS_CAS_64
ATOMS_F16 ATOMS_BF16 ATOMS_F16X2 ATOMS_BF16X2 ATOMS_F32 ATOMS_F64 ATOMS_128 ATOMS_CAS_128 }

const ATOM: Row = Row {
    mnemonic: "ATOM",
    doc: does!(
        "Puts something in the place of what is in global or shared memory, in one step. The address is that of `LD`; one of local memory traps."
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
    doc: "Orders the item's accesses before it and those after it, as items of the launch see them, under `.CTA` those of the group, under `.SYS` all that \
          there are. All items agree on the order of those with `.SC`.",
    examples: &["MEMBAR ;", "MEMBAR.SC.SYS ;"],
    ..HALU
};
pub(crate) const MEMBAR: Row = Row { fixed: &[(OPTYPE, 0x92), (STYPE, R)], ..MEMBAR_BASE };
