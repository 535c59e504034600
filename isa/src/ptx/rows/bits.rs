//! Rows of bitwise, shift and byte instructions.

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
/// Target requirements of `bmsk` and `szext`.
const BY_WIDTH: Requirements = Requirements::new(7, 6, 75);
/// Target requirements of `lop3` with a predicate result.
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
        "Shifts left by an unsigned 32-bit count. A count of at least the width of the type gives 0; counts are not \
         taken modulo the width.",
        "shl.b32 %d, %a, 3;";
    SHR "shr" &[ty(types!(B16 B32 B64 U16 U32 U64 S16 S32 S64))], SHIFT,
        "Shifts right by an unsigned 32-bit count, arithmetically if the type is signed, else logically. A count of at \
         least the width of the type gives only sign bits or 0; counts are not taken modulo the width.",
        "shr.s32 %d, %a, 31;";
    SHF "shf" &[ModifierSlot::one_of("direction", words!(Left Right)), COUNTS, ONLY_B32], FUNNEL,
        "Shifts the 64-bit value with high word `b` and low word `a`. `.l` shifts left and returns the high word, `.r` \
         shifts right and returns the low word. Counts are clamped to 32 (`.clamp`) or taken modulo 32 (`.wrap`).",
        "shf.l.wrap.b32 %d, %a, %b, 8;";
    LOP3 "lop3" &[ONLY_B32], &[def("d", B32), value("a", B32), value("b", B32), value("c", B32), TABLE],
        "Computes any bitwise function of three words: bit i of the result is bit `4a + 2b + c` of the truth table \
         `lut`, where a, b and c are bit i of the sources.",
        "lop3.b32 %d, %a, %b, %c, 0xca;";
    PRMT "prmt" &[ONLY_B32], &[def("d", B32), value("a", B32), value("b", B32), value("c", B32)],
        "Builds a word from the bytes of two words: bytes 0 to 3 are those of `a`, bytes 4 to 7 those of `b`. Bits 0 \
         to 2 of nibble i of `c` choose byte i of the result. If bit 3 of the nibble is set, byte i is filled with the \
         sign bit of the chosen byte.",
        "prmt.b32 %d, %a, %b, 0x5410;";
    PRMT_MODE "prmt" &[ONLY_B32, MODES], &[def("d", B32), value("a", B32), value("b", B32), value("c", B32)],
        "Builds a word from the bytes of `a` (0 to 3) and `b` (4 to 7), by k, the low two bits of `c`. The bytes of \
         the result, lowest first, are: with `.f4e` k, k + 1, k + 2 and k + 3; with `.b4e` k, k - 1, k - 2 and k - 3, \
         modulo 8; with `.rc8` four times k; with `.ecl` the maximum of k and 0 to 3; with `.ecr` the minimum of k and \
         0 to 3; with `.rc16` 0, 1, 0, 1 for an even k and 2, 3, 2, 3 for an odd k.",
        "prmt.b32.f4e %d, %a, %b, %c;";
    CNOT "cnot" &[WORDS], D_A, "Logical negation: 1 if `a` is 0, else 0.", "cnot.b32 %d, %a;";
    BFIND "bfind" &[ModifierSlot::optional("result", words!(ShiftAmount)), FIELDS], COUNT,
        "Finds the highest set bit, or the highest clear bit if the type is signed and `a` is negative. The result is \
         the number of the bit, or with `.shiftamt` its distance from the highest bit; if there is no such bit, it is \
         0xffffffff.",
        "bfind.u32 %d, %a;" "bfind.shiftamt.s64 %d, %a;";
    FNS "fns" &[ONLY_B32], &[def("d", B32), value("mask", B32), value("base", B32), value("offset", Ty::Untyped(Type::S32))],
        "Finds the n-th set bit of `mask` from `base`: the `offset`th set bit at or above `base`, the `-offset`th at \
         or below `base` if `offset` is negative, or the bit at `base` itself if `offset` is 0. The result is the \
         number of the bit, or 0xffffffff if there is no such bit.",
        "fns.b32 %d, %a, 0, 1;";
    POPC "popc" &[WIDE_WORDS], COUNT, "Counts the set bits.", "popc.b32 %d, %a;";
    CLZ "clz" &[WIDE_WORDS], COUNT, "Counts the leading zeros; for 0, the count is the width of the type.", "clz.b32 %d, %a;";
    BREV "brev" &[WIDE_WORDS], D_A, "Reverses the bits.", "brev.b32 %d, %a;";
    BFE "bfe" &[FIELDS], &[def("d", T), value("a", T), OperandRow::used("b", OperandKind::BitPosition), OperandRow::used("c", OperandKind::BitPosition)],
        "Extracts a bit field of `a`: `c` bits from bit `b`, both modulo 256. The field is zero-extended, or \
         sign-extended if the type is signed. The sign of a field that reaches beyond `a` is the sign of `a`. An empty \
         field is 0.",
        "bfe.u32 %d, %a, 8, 8;";
    BFI "bfi" &[WIDE_WORDS], &[def("d", T), value("a", T), value("b", T), OperandRow::used("c", OperandKind::BitPosition), OperandRow::used("e", OperandKind::BitPosition)],
        "Inserts a bit field: replaces `e` bits of `b` from bit `c` by the low bits of `a`. `c` and `e` are taken \
         modulo 256.",
        "bfi.b32 %d, %a, %b, 16, 16;";
}

rows! {
    LOP3_BOOL "lop3" &[ModifierSlot::one_of("combination", words!(And Or)), ONLY_B32],
        &[OperandRow::def("d", OperandKind::WithPredicate { ty: B32, blank: true, silent: false }), value("a", B32), value("b", B32), value("c", B32), TABLE, reg("q", PRED)], TABLE_BOOL,
        "Computes any bitwise function of three words, as without a predicate. The predicate is true if the result is \
         not 0, combined with `q`.",
        "lop3.and.b32 %d|%p, %a, %b, %c, 0x80, %q;";
    BMSK "bmsk" &[COUNTS, ONLY_B32], &[def("d", U32), value("a", U32), value("b", U32)], BY_WIDTH,
        "Creates a bit mask: `b` ones from bit `a`, without the bits above bit 31. Both are clamped to 32 (`.clamp`) \
         or taken modulo 32 (`.wrap`).",
        "bmsk.clamp.b32 %d, %a, %b;";
    SZEXT "szext" &[COUNTS, ty(types!(U32 S32))], &[def("d", T), value("a", T), value("b", U32)], BY_WIDTH,
        "Zero-extends the low `b` bits of `a`, or sign-extends them if the type is signed. For `b` = 0 the result is \
         0. `b` is clamped to 32 (`.clamp`) or taken modulo 32 (`.wrap`).",
        "szext.clamp.s32 %d, %a, 8;";
}
