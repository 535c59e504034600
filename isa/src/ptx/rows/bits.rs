//! Bitwise, shift and byte instructions.

use super::*;

const WORDS: ModifierSlot = ty(types!(B16 B32 B64));
const LOGIC: ModifierSlot = ty(types!(Pred B16 B32 B64));
const WIDE_WORDS: ModifierSlot = ty(types!(B32 B64));
const FIELDS: ModifierSlot = ty(types!(U32 U64 S32 S64));
const ONLY_B32: ModifierSlot = ty(types!(B32));

const SHIFT: &[OperandRow] = &[def("d", T), value("a", T), value("b", U32)];
const COUNT: &[OperandRow] = &[def("d", U32), value("a", T)];
const MODES: ModifierSlot = ModifierSlot::one_of("mode", words!(F4e B4e Rc8 Ecl Ecr Rc16));
const COUNTS: ModifierSlot = ModifierSlot::one_of("counts", words!(Clamp Wrap));
const TABLE: OperandRow = OperandRow::used("lut", OperandKind::Byte);
/// Requirements of `bmsk` and `szext`.
const BY_WIDTH: Requirements = Requirements::new(7, 6, 75);
/// Requirements of `lop3` with a predicate.
const TABLE_BOOL: Requirements = Requirements::new(8, 2, 75);
const FUNNEL: &[OperandRow] = &[def("d", B32), value("a", B32), value("b", B32), value("c", U32)];

macro_rules! bits {
    ($($name:ident $mnemonic:literal $slots:expr, $operands:expr, $doc:literal, $($example:literal)*;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: $slots,
            operands: $operands,
            doc: $doc,
            examples: &[$($example),*],
            ..PTX
        };
    )* };
}

bits! {
    AND "and" &[LOGIC], D_A_B, "Bitwise and.", "and.b32 %d, %a, 0x7fff7fff;";
    OR "or" &[LOGIC], D_A_B, "Bitwise or.", "or.b32 %d, %a, %b;";
    XOR "xor" &[LOGIC], D_A_B, "Bitwise exclusive or.", "xor.b32 %d, %a, %b;";
    NOT "not" &[LOGIC], D_A, "Bitwise not.", "not.b32 %d, %a;";
    SHL "shl" &[WORDS], SHIFT,
        "Shifts to the left by a count of 32 bits, unsigned. Nothing is left from the width of the type on: counts are not taken modulo the width.",
        "shl.b32 %d, %a, 3;";
    SHR "shr" &[ty(types!(B16 B32 B64 U16 U32 U64 S16 S32 S64))], SHIFT,
        "Shifts to the right by a count of 32 bits, unsigned, and brings in zeros, or copies of the sign where the type is signed. From the width of the type on zeros, or the sign, are all that is left: counts are not taken modulo the width.",
        "shr.s32 %d, %a, 31;";
    SHF "shf" &[ModifierSlot::one_of("direction", words!(Left Right)), COUNTS, ONLY_B32], FUNNEL,
        "Shifts the 64 bits of `b` (high) and `a` (low): `.l` to the left, of which `d` is the high word, `.r` to the right, of which it is the low word. Counts above 32 are 32 (`.clamp`), or all counts are modulo 32 (`.wrap`).",
        "shf.l.wrap.b32 %d, %a, %b, 8;";
    LOP3 "lop3" &[ONLY_B32], &[def("d", B32), value("a", B32), value("b", B32), value("c", B32), TABLE],
        "Any bitwise function of three words: bit i of the result is bit `4a + 2b + c` of `lut`, of bits i of the sources.",
        "lop3.b32 %d, %a, %b, %c, 0xca;";
    PRMT "prmt" &[ONLY_B32], &[def("d", B32), value("a", B32), value("b", B32), value("c", B32)],
        "Builds a word from the bytes of two. Byte i is picked from the bytes of `a` (0 to 3) and `b` (4 to 7) by bits 0 to 2 of nibble i of `c`; bit 3 asks for eight copies of that byte's sign instead.",
        "prmt.b32 %d, %a, %b, 0x5410;";
    PRMT_MODE "prmt" &[ONLY_B32, MODES], &[def("d", B32), value("a", B32), value("b", B32), value("c", B32)],
        "Builds a word from the bytes of `a` (0 to 3) and `b` (4 to 7), by k, the low two bits of `c`. Its bytes, lowest first, are k, k + 1, k + 2 and k + 3 (`.f4e`); k, k - 1, k - 2 and k - 3 modulo 8 (`.b4e`); k four times (`.rc8`); 0 to 3, but k where that is more (`.ecl`) or less (`.ecr`); or 0, 1, 0, 1 for an even k and 2, 3, 2, 3 for an odd one (`.rc16`).",
        "prmt.b32.f4e %d, %a, %b, %c;";
    CNOT "cnot" &[WORDS], D_A, "1 where `a` is 0, else 0.", "cnot.b32 %d, %a;";
    BFIND "bfind" &[ModifierSlot::optional("result", words!(ShiftAmount)), FIELDS], COUNT,
        "Finds the highest bit that is set, or where the type is signed and `a` is negative the highest that is not: its number, or with `.shiftamt` how far it is from the top. Where there is none it is 0xffffffff.",
        "bfind.u32 %d, %a;" "bfind.shiftamt.s64 %d, %a;";
    FNS "fns" &[ONLY_B32], &[def("d", B32), value("mask", B32), value("base", B32), value("offset", Ty::Is(Type::S32))],
        "Finds the bit of `mask` that is set and so many on from `base`: the `offset`th at `base` or above it, the `-offset`th at `base` or below it, or where `offset` is 0 that at `base` itself. Its number, or 0xffffffff where there is none.",
        "fns.b32 %d, %a, 0, 1;";
    POPC "popc" &[WIDE_WORDS], COUNT, "Counts the bits that are set.", "popc.b32 %d, %a;";
    CLZ "clz" &[WIDE_WORDS], COUNT, "Counts the zeros above the highest bit that is set; of 0 there are as many as the type has bits.", "clz.b32 %d, %a;";
    BREV "brev" &[WIDE_WORDS], D_A, "Reverses the bits.", "brev.b32 %d, %a;";
    BFE "bfe" &[FIELDS], &[def("d", T), value("a", T), OperandRow::used("b", OperandKind::BitPosition), OperandRow::used("c", OperandKind::BitPosition)],
        "Takes a field out of `a`: `c` bits from bit `b` on, both modulo 256. It is extended by zeros, or where the type is signed by its sign, which for a field that reaches beyond `a` is the sign of `a`. No bits are 0.",
        "bfe.u32 %d, %a, 8, 8;";
    BFI "bfi" &[WIDE_WORDS], &[def("d", T), value("a", T), value("b", T), OperandRow::used("c", OperandKind::BitPosition), OperandRow::used("e", OperandKind::BitPosition)],
        "Puts the low bits of `a` into `b`: `e` bits from bit `c` on, both modulo 256.",
        "bfi.b32 %d, %a, %b, 16, 16;";
}

rows! {
    LOP3_BOOL "lop3" &[ModifierSlot::one_of("combination", words!(And Or)), ONLY_B32],
        &[OperandRow::def("d", OperandKind::WithPredicate { ty: B32, blank: true, silent: false }), value("a", B32), value("b", B32), value("c", B32), TABLE, reg("q", PRED)], TABLE_BOOL,
        "Any bitwise function of three words, and whether it is not 0: that, combined with `q`, is the predicate.",
        "lop3.and.b32 %d|%p, %a, %b, %c, 0x80, %q;";
    BMSK "bmsk" &[COUNTS, ONLY_B32], &[def("d", U32), value("a", U32), value("b", U32)], BY_WIDTH,
        "Ones from bit `a` on, as many as `b`, those above bit 31 left out. Both count up to 32 (`.clamp`) or modulo 32 (`.wrap`).",
        "bmsk.clamp.b32 %d, %a, %b;";
    SZEXT "szext" &[COUNTS, ty(types!(U32 S32))], &[def("d", T), value("a", T), value("b", U32)], BY_WIDTH,
        "Extends the low `b` bits of `a` by zeros, or where the type is signed by their sign; no bits are 0. The number of bits counts up to 32 (`.clamp`) or modulo 32 (`.wrap`).",
        "szext.clamp.s32 %d, %a, 8;";
}
