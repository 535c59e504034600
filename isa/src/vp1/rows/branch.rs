//! Rows of the branch unit. A branch has one delay slot: the next bundle executes before the branch takes effect.

use super::*;

const L_D: Operand = def("ld", RegFile::L, LDST);
const L_1: Operand = reg("l1", RegFile::L, LSRC);
const LOOP: Operand = word("loop");
/// The condition of a branch. The text omits the condition if its bit is the constant true. After
/// `not`, the omitted condition means that the branch is never taken.
const TAKEN: Operand = PREDICATE.optional();
const TARGET: Operand = Operand::new("target", OperandRole::Use, OperandKind::Group { field: BTARG, relative: true });
const SAME: Row = Row { overlaps: &[LC], ..CONTROL };
const COUNTED: Row = Row { overlaps: &[CDST, COND], ..CONTROL };

/// Generates the description of a branch: its target, its condition and its flags.
macro_rules! branch {
    ($what:literal, $when:literal) => {
        concat!(
            $what, " if the bit of `$c` was ", $when, " before the bundle. The next bundle executes first. The target is a multiple of 4 words.\n\nlzf of `cd`: 1."
        )
    };
    (counted $what:literal, $when:literal) => {
        concat!(
            $what, " if the bit of `$c` was ", $when, " before the bundle. The next bundle executes first. The target \
            is a multiple of 4 words.\n\n\
            `ld` receives the counter `l1` with its low byte decremented; a low byte of 0 is instead reloaded from the \
            high byte. lzf of `cd`: the new low byte is 0. The condition reads the `$c` with the number of `l1`."
        )
    };
}

rows! {
    CONTROL BRA = 0xe0; "bra" [C_D, TAKEN, TARGET] "bra $c0 $c1 b20 0xe9fc", branch!("Branches to the target", "1");
    COUNTED BRA_LOOP = 0xe1; "bra" [LOOP, L_D, C_D, L_1, TAKEN, TARGET] "bra loop $l3 $l2 $c2 b18 0x9eb8", branch!(counted "Branches to the target", "1");
    CONTROL BRA_NOT = 0xe2; "bra" [C_D, NOT, PREDICATE, TARGET] "bra not $c1 zf 0x2f0c", branch!("Branches to the target", "0");
    COUNTED BRA_LOOP_NOT = 0xe3; "bra" [LOOP, L_D, C_D, L_1, NOT, PREDICATE, TARGET] "bra loop $l2 $c2 $l0 not $c0 lzf 0xf42c", branch!(counted "Branches to the target", "0");
    CONTROL CALL = 0xe4; "call" [C_D, TAKEN, TARGET] "call $c3 aef 0x1a7c", branch!("Pushes the address after the next bundle and branches to the target", "1");
    COUNTED CALL_LOOP = 0xe5; "call" [LOOP, L_D, C_D, L_1, TAKEN, TARGET] "call loop $l3 $l2 $c2 azf 0xe280", branch!(counted "Pushes the address after the next bundle and branches to the target", "1");
    CONTROL CALL_NOT = 0xe6; "call" [C_D, NOT, PREDICATE, TARGET] "call $c2 not $c2 lzf 0x88a8", branch!("Pushes the address after the next bundle and branches to the target", "0");
    COUNTED CALL_LOOP_NOT = 0xe7; "call" [LOOP, L_D, C_D, L_1, NOT, PREDICATE, TARGET] "call loop $l3 $l1 not $c1 b20 0x60ec", branch!(counted "Pushes the address after the next bundle and branches to the target", "0");
    CONTROL RET = 0xe8; "ret" [C_D, ignored(IGNORED_RET)] "ret $c3", "Pops an address and branches to it after the next bundle.\n\nlzf of `cd`: 1.";
    CONTROL ABRA = 0xea; "abra" [Operand::new("target", OperandRole::Use, OperandKind::Group { field: ABTARG, relative: false }), ignored(DST)] "abra 0x9438",
        "Branches to the target, a multiple of 4 words, after the next bundle. Writes no flags.";
    SAME MOV_L_I = 0xf0; "mov" [def("ld", RegFile::L, LC), Operand::reg("cd", OperandRole::Def, RegFile::C, LC), unsigned("imm", IMM16)] "mov $l2 $c2 0x2b27",
        "Loads a counter: the low byte counts, and the high byte is the reload value.\n\n\
         lzf of the `$c` with the same number: the low byte is 0.";
    CONTROL EXIT = 0xff; "exit" [mark("intr", M_INTR), unsigned("code", IMM16), ignored(DST)] "exit intr 0xdead", "Stops the engine with an exit code; `intr` raises an interrupt.";
}

pub(crate) const BNOP: Row = Row { mnemonic: "bnop", fixed: &[(OP, 0xef)], examples: &["bnop"], ..NOP };

unnamed! {
    B_NONE = 0xe9 / 0xeb / 0xec / 0xed / 0xee / 0xf1 / 0xf2 / 0xf3 / 0xf4 / 0xf5 / 0xf6 / 0xf7 / 0xf8 / 0xf9 / 0xfa / 0xfb
        / 0xfc / 0xfd / 0xfe;
        [C_SILENT] "Does not branch. lzf of `cd`: 1.";
}
