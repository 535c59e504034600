//! Rows of the collective operations: barriers, shuffles, votes and reductions. A warp-level
//! operation synchronises the lanes of its member mask. The reference listings have no such
//! instructions; this project defines the encodings, and the mnemonics follow SASS.

use super::integer::forms;
use super::*;

const MEET: Row = Row { class: InstClass::Control, ..HALU };

const MASK_R: Operand = gpr("mask", R32);
const MASK_I: Operand = bits("mask", IMM32);
const BARRIER_R: Operand = gpr("id", R32);
const BARRIER_I: Operand = bits("id", IMM32);
const COUNT: Operand = gpr("count", R64);

/// STYPE of an encoding with a GPR as second source in bits 63:32, and the number of participating items at bit 64.
const RN: u64 = 0x3;
/// STYPE of an encoding with an immediate as second source in bits 63:32, and the number of
/// participating items at bit 64.
const IN: u64 = 0x9;

macro_rules! barrier {
    ($first:literal) => {
        concat!(
            $first,
            "\n\n\
             `id` is the number of a barrier, 0 to 15. `count` is the number of participating items, a multiple of 32; \
             without it all items of the group that have not ended participate. A warp arrives as a whole and counts \
             as 32 items. Without `.UNALIGNED` all participants must execute the same instruction. Every item that \
             waits sees the memory accesses that the participants made before they arrived."
        )
    };
}

const BAR_SYNC: Row = Row {
    mnemonic: "BAR",
    tags: &["SYNC"],
    modifiers: &[M_UNALIGNED],
    doc: barrier!("Waits until all participants have arrived at a barrier."),
    examples: &["BAR.SYNC 0x0 ;", "BAR.SYNC.UNALIGNED R0, R1 ;"],
    ..MEET
};
forms! { BAR_SYNC, 0x1d;
    BAR_SYNC_R R [BARRIER_R];
    BAR_SYNC_I I [BARRIER_I];
    BAR_SYNC_RN RN [BARRIER_R, COUNT];
    BAR_SYNC_IN IN [BARRIER_I, COUNT];
}

const BAR_ARV: Row = Row {
    mnemonic: "BAR",
    tags: &["ARV"],
    modifiers: &[M_UNALIGNED],
    doc: barrier!("Arrives at a barrier without waiting."),
    examples: &["BAR.ARV 0x1, R0 ;"],
    ..MEET
};
forms! { BAR_ARV, 0x1e;
    BAR_ARV_RN RN [BARRIER_R, COUNT];
    BAR_ARV_IN IN [BARRIER_I, COUNT];
}

const BAR_POPC: Row = Row {
    mnemonic: "BAR",
    tags: &["RED", "POPC"],
    modifiers: &[M_UNALIGNED],
    doc: barrier!(
        "Waits until all participants have arrived at a barrier: `rd` is the number of participants for \
                   which `pp` is true."
    ),
    examples: &["BAR.RED.POPC R0, 0x0, P0 ;", "BAR.RED.POPC R0, 0x0, R1, !P0 ;"],
    ..MEET
};
forms! { BAR_POPC, 0x1f;
    BAR_POPC_R R [D, BARRIER_R, P];
    BAR_POPC_I I [D, BARRIER_I, P];
    BAR_POPC_RN RN [D, BARRIER_R, COUNT, P];
    BAR_POPC_IN IN [D, BARRIER_I, COUNT, P];
}

const BAR_RED: Row = Row {
    mnemonic: "BAR",
    tags: &["RED"],
    modifiers: &[M_ASKED, M_UNALIGNED],
    doc: barrier!(
        "Waits until all participants have arrived at a barrier: `pu` is true if `pp` is true for all of them, with \
         `.OR` for any of them."
    ),
    examples: &["BAR.RED.AND P0, 0x0, P1 ;", "BAR.RED.OR P0, R0, R1, !P1 ;"],
    ..MEET
};
forms! { BAR_RED, 0x22;
    BAR_RED_R R [DU, BARRIER_R, P];
    BAR_RED_I I [DU, BARRIER_I, P];
    BAR_RED_RN RN [DU, BARRIER_R, COUNT, P];
    BAR_RED_IN IN [DU, BARRIER_I, COUNT, P];
}

const WARPSYNC: Row = Row {
    mnemonic: "WARPSYNC",
    doc: "Waits until the lanes of the mask have arrived at a WARPSYNC. Each of them then sees the earlier memory \
          accesses of all of them.",
    examples: &["WARPSYNC 0xffffffff ;", "WARPSYNC R0 ;"],
    ..MEET
};
forms! { WARPSYNC, 0x48; WARPSYNC_R R [MASK_R]; WARPSYNC_I I [MASK_I]; }

const SHFL: Row = Row {
    mnemonic: "SHFL",
    modifiers: &[M_SHFL],
    doc: "Reads `ra` of another lane of the mask: lane `by`, with `.UP` the lane `by` lanes below, with `.DOWN` the \
          lane `by` lanes above, with `.BFLY` the lane whose number is that of this lane xor `by`.\n\n\
          Bits 8 to 12 of `segment` are the bits of a lane's number that all lanes of a segment share. Bits 0 to 4 \
          limit the source lane within the segment: its minimum with `.UP`, else its maximum. A lane whose source is \
          beyond the limit reads its own word. A source lane that does not participate traps.",
    examples: &["SHFL.BFLY R0, R1, R2, R3, R4 ;", "SHFL.DOWN R0, R1, 0x10, 0x1f, 0xffffffff ;"],
    ..MEET
};
forms! { SHFL, 0x89;
    SHFL_R R [D, A, gpr("by", R32), gpr("segment", R40), gpr("mask", R64)];
    SHFL_I I [D, A, bits("by", SHFL_BY), bits("segment", SHFL_SEGMENT), MASK_I];
}

const VOTE_BASE: Row = Row {
    mnemonic: "VOTE",
    modifiers: &[M_VOTE],
    doc: "Votes among the lanes of the mask: `pu` is true if `pp` is true for all of them, with `.ANY` for any, with \
          `.EQ` for all or none.",
    examples: &["VOTE.ALL P0, P1, 0xffffffff ;", "VOTE.EQ P0, !P1, R0 ;"],
    ..MEET
};
forms! { VOTE_BASE, 0x0e; VOTE_R R [DU, P, MASK_R]; VOTE_I I [DU, P, MASK_I]; }

const BALLOT: Row = Row {
    mnemonic: "VOTE",
    tags: &["BALLOT"],
    doc: "Collects a predicate of the lanes of the mask: bit i of `rd` is `pp` of lane i.",
    examples: &["VOTE.BALLOT R0, P0, 0xffffffff ;"],
    ..MEET
};
forms! { BALLOT, 0x0f; BALLOT_R R [D, P, MASK_R]; BALLOT_I I [D, P, MASK_I]; }

const ACTIVE_BASE: Row = Row {
    mnemonic: "VOTE",
    tags: &["ACTIVE"],
    doc: "Reads the mask of active lanes: bit i of `rd` is set if lane i executes the instruction, too. Only the bit \
          of the lane itself is guaranteed.",
    examples: &["VOTE.ACTIVE R0 ;"],
    ..MEET
};
forms! { ACTIVE_BASE, 0x13; ACTIVE R [D]; }

const MATCH: Row = Row {
    mnemonic: "MATCH",
    modifiers: &[M_MATCH],
    doc: "Compares a word of each lane of the mask, or with `.64` a pair. With `.ANY`, `rd` is the mask of the lanes \
          with the same value; with `.ALL`, it is the mask of all of them if their values are equal, else 0.",
    examples: &["MATCH.ANY R0, R1, 0xffffffff ;", "MATCH.64.ALL R0, R2, R4 ;"],
    ..MEET
};
forms! { MATCH, 0xa1; MATCH_R R [D, A, MASK_R]; MATCH_I I [D, A, MASK_I]; }
const MATCH_64: Row = Row { tags: &["64"], ..MATCH };
forms! { MATCH_64, 0xa2; MATCH_64_R R [D, A.span(2), MASK_R]; MATCH_64_I I [D, A.span(2), MASK_I]; }

const REDUX: Row = Row {
    mnemonic: "REDUX",
    modifiers: &[M_REDUX, M_REDUX_SIGN],
    doc: "Reduces a word over the lanes of the mask: `rd` is the sum modulo 2^32, the minimum or maximum (signed with \
          `.S32`), or the bitwise and, or, or exclusive or.",
    examples: &["REDUX.SUM R0, R1, 0xffffffff ;", "REDUX.MIN.S32 R0, R1, R2 ;"],
    ..MEET
};
forms! { REDUX, 0xc4; REDUX_R R [D, A, MASK_R]; REDUX_I I [D, A, MASK_I]; }

const ELECT: Row = Row {
    mnemonic: "ELECT",
    doc: "Elects one lane of the mask, the lowest: `pu` is true for this lane. The mask must not name a lane that has \
          ended.",
    examples: &["ELECT P0, 0xffffffff ;", "ELECT P0, R0 ;"],
    ..MEET
};
forms! { ELECT, 0xc5; ELECT_R R [DU, MASK_R]; ELECT_I I [DU, MASK_I]; }
