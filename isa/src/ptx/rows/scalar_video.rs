//! Rows of scalar video instructions: arithmetic on bytes, half-words or words that selectors choose,
//! with a second operation or a merge into a byte or half-word.

use super::*;

const SIGNS: &[Choice] = types!(U32 S32);
const TYPE_OF_D: ModifierSlot = ModifierSlot::one_of("type of d", SIGNS);
const TYPE_OF_A: ModifierSlot = ModifierSlot::one_of("type of a", SIGNS);
const TYPE_OF_B: ModifierSlot = ModifierSlot::one_of("type of b", SIGNS);
const TYPE_OF_COUNT: ModifierSlot = ModifierSlot::one_of("type of b", types!(U32));
const COUNT: ModifierSlot = ModifierSlot::one_of("shift count", words!(Clamp Wrap));
const COMPARISON: ModifierSlot = ModifierSlot::one_of("compare", words!(Eq Ne Lt Le Gt Ge));
const SECOND: &str = "second operation";
const SECONDARY: ModifierSlot = ModifierSlot::optional(SECOND, words!(Add Min Max));

const fn part(ty: Ty, takes_sign: bool) -> OperandKind {
    OperandKind::Part { ty, takes_selector: true, takes_sign }
}

/// Operands of the form with an optional second operation, from the types of the operands.
const fn plain(d: Ty, a: Ty, b: Ty) -> [OperandRow; 4] {
    [
        def("d", d),
        OperandRow::used("a", part(a, false)),
        OperandRow::used("b", part(b, false)),
        OperandRow::with(SECOND, "c", OperandKind::Value(d)),
    ]
}

/// Operands of the form with a merge into `c`, from the types of the operands.
const fn merged(d: Ty, a: Ty, b: Ty) -> [OperandRow; 4] {
    [
        OperandRow::def("d", part(d, false)),
        OperandRow::used("a", part(a, false)),
        OperandRow::used("b", part(b, false)),
        value("c", d),
    ]
}

const A: Ty = Ty::Named(1);
const B: Ty = Ty::Named(2);
const PLAIN: &[OperandRow] = &plain(T, A, B);
const MERGED: &[OperandRow] = &merged(T, A, B);

/// Returns the slots without the last one, which holds the second operation.
const fn without_second(slots: &'static [ModifierSlot]) -> &'static [ModifierSlot] {
    match slots {
        [rest @ .., _] => rest,
        [] => slots,
    }
}

const ARITHMETIC: &[ModifierSlot] = &[TYPE_OF_D, TYPE_OF_A, TYPE_OF_B, SAT, SECONDARY];
const SHIFT: &[ModifierSlot] = &[TYPE_OF_D, TYPE_OF_A, TYPE_OF_COUNT, SAT, COUNT, SECONDARY];
const SET: &[ModifierSlot] = &[TYPE_OF_A, TYPE_OF_B, COMPARISON, SECONDARY];

macro_rules! scalar_video {
    ($slots:ident $plain:ident $merged:ident; $($name:ident $merge:ident $mnemonic:literal $doc:expr, $example:literal $merge_example:literal;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: $slots,
            operands: $plain,
            doc: $doc,
            examples: &[$example],
            ..PTX
        };
        pub(crate) const $merge: Row =
            Row { slots: without_second($slots), operands: $merged, examples: &[$merge_example], ..$name };
    )* };
}

macro_rules! doc {
    ($verb:literal, $t:literal, $c:literal) => {
        concat!(
            $verb, ": `t = ", $t, "`. Combines t with `c`, merges it into `c`, or writes its low 32 bits to `d`.\n\n",
            "A selector chooses the byte `.b0` to `.b3` or the half-word `.h0` or `.h1` of a source. The type of a source \
             selects the extension of the part. t is an exact integer.",
            $c, "\n\n",
            "`.add`, `.min` and `.max` combine t exactly with `c` of the type of d, and write the low 32 bits. A selector \
             of `d` merges the low bits of t into this part of `c`. Without a selector of `d`, `c` is ignored unless there is \
             a second operation.",
        )
    };
}

macro_rules! arithmetic {
    ($verb:literal $t:literal) => {
        doc!($verb, $t, " `.sat` clamps t to the range of d: its type, and the width of its selector.")
    };
}

scalar_video! { ARITHMETIC PLAIN MERGED;
    VADD VADD_MERGE "vadd" arithmetic!("Adds two parts of registers" "a + b"),
        "vadd.s32.u32.s32.sat %d, %a.b0, %b.h0;" "vadd.u32.u32.u32 %d.b1, %a.b0, %b.b0, %c;";
    VSUB VSUB_MERGE "vsub" arithmetic!("Subtracts two parts of registers" "a - b"),
        "vsub.s32.s32.u32.sat %d, %a.h1, %b.h1;" "vsub.s32.u32.u32.sat %d.h0, %a, %b, %c;";
    VABSDIFF VABSDIFF_MERGE "vabsdiff" arithmetic!("Computes the absolute difference of two parts of registers" "|a - b|"),
        "vabsdiff.u32.u32.u32.add %d, %a.b2, %b.b2, %c;" "vabsdiff.s32.s32.s32.sat %d.h0, %a.b0, %b.b2, %c;";
    VMIN VMIN_MERGE "vmin" arithmetic!("Computes the minimum of two parts of registers" "min(a, b)"),
        "vmin.s32.s32.s32.sat.add %d, %a, %b, %c;" "vmin.u32.s32.u32 %d.b3, %a.h0, 100, %c;";
    VMAX VMAX_MERGE "vmax" arithmetic!("Computes the maximum of two parts of registers" "max(a, b)"),
        "vmax.s32.s32.s32.max %d, %a.h0, %b.h1, 0;" "vmax.u32.u32.u32 %d.h1, %a.b0, %b, %c;";
}

scalar_video! { SHIFT PLAIN MERGED;
    VSHL VSHL_MERGE "vshl" doc!("Shifts a part of a register to the left", "a << b",
        " `.clamp` replaces a count above 32 by 32, and `.wrap` takes the count modulo 32. `.sat` clamps t to the range of \
         d: its type, and the width of its selector."),
        "vshl.s32.u32.u32.clamp %d, %a, %b;" "vshl.u32.u32.u32.sat.wrap %d.h0, %a.b0, 4, %c;";
    VSHR VSHR_MERGE "vshr" doc!("Shifts a part of a register to the right", "a >> b",
        " The shift copies the sign of t. `.clamp` replaces a count above 32 by 32, and `.wrap` takes the count modulo 32. \
         `.sat` clamps t to the range of d: its type, and the width of its selector."),
        "vshr.u32.u32.u32.wrap.add %d, %a, %b.h1, %c;" "vshr.s32.s32.u32.clamp %d.b2, %a.h1, 3, %c;";
}

const SET_PLAIN: &[OperandRow] = &plain(U32, T, A);
const SET_MERGED: &[OperandRow] = &merged(U32, T, A);

scalar_video! { SET SET_PLAIN SET_MERGED;
    VSET VSET_MERGE "vset" doc!("Compares two parts of registers", "1 if the comparison is true, else 0",
        " The parts are compared as exact integers; d and `c` are unsigned."),
        "vset.u32.s32.lt.add %d, %a.b3, %b.b3, %c;" "vset.u32.u32.ne %d.b0, %a, %b.h1, %c;";
}

pub(crate) const VMAD: Row = Row {
    mnemonic: "vmad",
    slots: &[
        TYPE_OF_D,
        TYPE_OF_A,
        TYPE_OF_B,
        ModifierSlot::optional("plus one", words!(PlusOne)),
        SAT,
        ModifierSlot::optional("scale", words!(ShiftRight7 ShiftRight15)),
    ],
    operands: &[
        def("d", T),
        OperandRow::used("a", part(A, true)),
        OperandRow::used("b", part(B, true)),
        OperandRow::used("c", OperandKind::Part { ty: T, takes_selector: false, takes_sign: true }),
    ],
    doc: "Multiplies two parts of registers and adds `c`: `t = a * b + c`, with `.po` `a * b + c + 1`. Writes the low 32 bits \
          of t to `d`.\n\n\
          A selector chooses the byte `.b0` to `.b3` or the half-word `.h0` or `.h1` of a source. The type of a source \
          selects the extension of the part. The product is negated if one of `a` and `b` is negated. Either the product or \
          `c` can be negated, and neither of them with `.po`. t is an exact integer. `c` and t are unsigned if the types of a \
          and b are unsigned and nothing is negated, and otherwise signed; the type of d has no effect.\n\n\
          `.shr7` and `.shr15` shift t to the right by 7 or 15, with copies of its sign. `.sat` then clamps t to the range of \
          a u32 or, if t is signed, an s32.",
    examples: &["vmad.s32.s32.u32.sat %d, %a, %b, -%c;", "vmad.u32.u32.u32.po.shr15 %d, %a.h0, %b.h0, %c;"],
    ..PTX
};
