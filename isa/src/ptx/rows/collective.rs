//! Rows of collective operations: barriers, and exchanges within a warp.

use super::*;

/// Target requirements of `redux` on integers.
const REDUCTIONS: Requirements = Requirements::new(7, 0, 80);
/// Target requirements of `redux` on f32.
const OF_FLOATS: Requirements =
    Requirements { suffix: Some(Suffix::Architecture), one_family: true, ..Requirements::new(8, 6, 100) };
/// Target requirements of lane exchanges without a member mask: at most PTX 6.3.
const UNSAID: Requirements = Requirements { until: Some((6, 3)), ..Requirements::ALWAYS };
/// Target requirements of `elect`.
const ELECTIONS: Requirements = Requirements::new(8, 0, 90);

const CTA: ModifierSlot = ModifierSlot::optional("scope", &[since(OF_BLOCK, Token::Cta)]);
const SYNC: ModifierSlot = ModifierSlot::one_of("operation", words!(Sync));
const ARRIVE: ModifierSlot = ModifierSlot::one_of("operation", words!(Arrive));
const RED: ModifierSlot = ModifierSlot::one_of("operation", words!(Red));
const POPC: ModifierSlot = ModifierSlot::one_of("reduction", words!(Popc));
const BOTH: ModifierSlot = ModifierSlot::one_of("reduction", words!(And Or));
const ALIGNED: ModifierSlot = ModifierSlot::optional("aligned", words!(Aligned));
const OF_PREDICATE: ModifierSlot = ty(types!(Pred));
const OF_U32: ModifierSlot = ty(types!(U32));
const OF_B32: ModifierSlot = ty(types!(B32));
const WARP: ModifierSlot = ModifierSlot::one_of("scope", words!(Warp));
const MODE: ModifierSlot = ModifierSlot::one_of("mode", words!(Up Down Bfly Indexed));
const VOTE: ModifierSlot = ModifierSlot::one_of("mode", words!(All Any Uni));
const BALLOT: ModifierSlot = ModifierSlot::one_of("mode", words!(Ballot));
const ANY: ModifierSlot = ModifierSlot::one_of("mode", words!(Any));
const ALL: ModifierSlot = ModifierSlot::one_of("mode", words!(All));
const OF_BITS: ModifierSlot = ty(types!(B32 B64));
const ARITHMETIC: ModifierSlot = ModifierSlot::one_of("reduction", words!(Add Min Max));
const EXTREMA: ModifierSlot = ModifierSlot::one_of("reduction", words!(Min Max));
const MAGNITUDES: ModifierSlot = ModifierSlot::optional("magnitudes", words!(Abs));
const WITH_NAN: ModifierSlot = ModifierSlot::optional("NaN", words!(Nan));
const SINGLES: ModifierSlot = ty(types!(F32));
const LOGIC: ModifierSlot = ModifierSlot::one_of("reduction", words!(And Or Xor));
const INTEGERS: ModifierSlot = ty(types!(U32 S32));

const ID: OperandRow = OperandRow::used("a", OperandKind::BarrierId);
const COUNT: OperandRow = OperandRow::used("b", OperandKind::ThreadCount { zero: true });
const ARRIVING: OperandRow = OperandRow::used("b", OperandKind::ThreadCount { zero: false });
const SAYS: OperandRow = OperandRow::used("c", OperandKind::Condition);
const MASK: OperandRow = value("mask", U32);
const WITH_B32: OperandKind = OperandKind::WithPredicate { ty: B32, blank: false, silent: true };
const WITH_U32: OperandKind = OperandKind::WithPredicate { ty: U32, blank: true, silent: true };
const ELECTED: OperandKind = OperandKind::WithPredicate { ty: U32, blank: true, silent: false };
const ANSWER: OperandRow = def("p", PRED);

const WAITS: &str = "Arrives at barrier `a` and waits until all threads of the block that have not exited have \
    arrived, or `b` threads, a multiple of 32. A warp arrives as a whole, once all of its threads that have not exited \
    are at the barrier. The threads that wait see all memory accesses that the participants made before they arrived.";
const COUNTS: &str = "Arrives at a barrier, waits, and returns the number of threads whose predicate `c` is true. \
                      Exited threads are not counted.";
const ANSWERS: &str = "Arrives at a barrier, waits, and returns whether `c` is true for all threads (`.and`) or for \
                       any (`.or`). Exited threads are ignored.";
const ARRIVES: &str = "Arrives at barrier `a` without waiting.";
const OF_WARP: &str = "Waits for the threads of the warp that `mask` names and that have not exited. Each of them then \
                       sees the earlier memory accesses of all of them.";
const SHUFFLES: &str = "Returns the value of another thread of the warp: the one whose lane is `b` lower (`.up`), `b` \
    higher (`.down`), this lane xor `b` (`.bfly`), or `b` (`.idx`). Bits 8 to 12 of `c` are the bits of a lane's \
    number that all lanes of a segment share. Bits 0 to 4 limit the source lane within the segment: its minimum with \
    `.up`, else its maximum. If the source lane is beyond the limit, the result is the thread's own value, and `p` is \
    false.";
const VOTES: &str = "Returns whether the predicate is true for all threads of the warp that `mask` names (`.all`), for \
     any (`.any`), or the same for all (`.uni`).";
const BALLOTS: &str = "Returns a bit for each lane: 1 if `mask` names the lane and its predicate is true.";
const SHUFFLES_HERE: &str = "Shuffles among the threads of the warp that execute the instruction together. Current \
                             hardware does not guarantee which threads these are: use `.sync` and a mask.";
const VOTES_HERE: &str = "Votes among the threads of the warp that execute the instruction together.";
const MATCHES: &str =
    "Returns a bit for each lane: 1 if `mask` names the lane and its value equals that of this thread.";
const MATCHES_ALL: &str = "Returns `mask` without exited lanes if all its threads have the same value, else 0. `p` is \
     true if the values are the same.";
const REDUCES: &str = "Computes the sum, minimum, maximum or bitwise combination of the values of all threads of the \
     warp that `mask` names.";
const REDUCES_FLOATS: &str = "Computes the minimum or maximum over all threads of the warp that `mask` names, with \
    `.abs` of the magnitudes; -0 is less than +0. With `.NaN` the result is NaN if any value is NaN. Otherwise NaN \
    values are ignored; if all values are NaN, the result is NaN.";

controls! {
    BAR_SYNC "bar" &[CTA, SYNC], &[ID], Requirements::ALWAYS, WAITS, "bar.sync 0;";
    BAR_SYNC_OF "bar" &[CTA, SYNC], &[ID, COUNT], Requirements::ALWAYS, WAITS, "bar.sync 1, 64;";
    BAR_ARRIVE "bar" &[CTA, ARRIVE], &[ID, ARRIVING], Requirements::ALWAYS, ARRIVES, "bar.arrive 1, 64;";
    BAR_POPC "bar" &[CTA, RED, POPC, OF_U32], &[def("d", T), ID, SAYS], Requirements::ALWAYS, COUNTS, "bar.red.popc.u32 %d, 0, %p;";
    BAR_POPC_OF "bar" &[CTA, RED, POPC, OF_U32], &[def("d", T), ID, COUNT, SAYS], Requirements::ALWAYS, COUNTS, "bar.red.popc.u32 %d, 1, 64, !%p;";
    BAR_RED "bar" &[CTA, RED, BOTH, OF_PREDICATE], &[ANSWER, ID, SAYS], Requirements::ALWAYS, ANSWERS, "bar.red.and.pred %q, 0, %p;";
    BAR_RED_OF "bar" &[CTA, RED, BOTH, OF_PREDICATE], &[ANSWER, ID, COUNT, SAYS], Requirements::ALWAYS, ANSWERS, "bar.red.or.pred %q, 1, 64, %p;";
    BAR_WARP "bar" &[WARP, SYNC], &[MASK], Requirements::ALWAYS, OF_WARP, "bar.warp.sync 0xffffffff;";
    BARRIER_SYNC "barrier" &[CTA, SYNC, ALIGNED], &[ID], Requirements::ALWAYS, WAITS, "barrier.sync 0;";
    BARRIER_SYNC_OF "barrier" &[CTA, SYNC, ALIGNED], &[ID, COUNT], Requirements::ALWAYS, WAITS, "barrier.sync 1, 64;";
    BARRIER_ARRIVE "barrier" &[CTA, ARRIVE, ALIGNED], &[ID, ARRIVING], Requirements::ALWAYS, ARRIVES, "barrier.arrive 1, 64;";
    BARRIER_POPC "barrier" &[CTA, RED, POPC, ALIGNED, OF_U32], &[def("d", T), ID, SAYS], Requirements::ALWAYS, COUNTS, "barrier.red.popc.u32 %d, 0, %p;";
    BARRIER_POPC_OF "barrier" &[CTA, RED, POPC, ALIGNED, OF_U32], &[def("d", T), ID, COUNT, SAYS], Requirements::ALWAYS, COUNTS, "barrier.red.popc.u32 %d, 1, 64, %p;";
    BARRIER_RED "barrier" &[CTA, RED, BOTH, ALIGNED, OF_PREDICATE], &[ANSWER, ID, SAYS], Requirements::ALWAYS, ANSWERS, "barrier.red.and.pred %q, 0, %p;";
    BARRIER_RED_OF "barrier" &[CTA, RED, BOTH, ALIGNED, OF_PREDICATE], &[ANSWER, ID, COUNT, SAYS], Requirements::ALWAYS, ANSWERS, "barrier.red.or.pred %q, 1, 64, %p;";
    SHFL "shfl" &[SYNC, MODE, OF_B32], &[OperandRow::def("d", WITH_B32), value("a", B32), value("b", WORD), value("c", WORD), MASK], Requirements::ALWAYS, SHUFFLES, "shfl.sync.bfly.b32 %d|%p, %a, 16, 31, 0xffffffff;";
    SHFL_ALONE "shfl" &[SYNC, MODE, OF_B32], &[def("d", B32), value("a", B32), value("b", WORD), value("c", WORD), MASK], Requirements::ALWAYS, SHUFFLES, "shfl.sync.down.b32 %d, %a, 1, 31, 0xffffffff;";
    VOTE_SYNC "vote" &[SYNC, VOTE, OF_PREDICATE], &[ANSWER, SAYS, MASK], Requirements::ALWAYS, VOTES, "vote.sync.any.pred %q, %p, 0xffffffff;";
    VOTE_BALLOT "vote" &[SYNC, BALLOT, OF_B32], &[def("d", B32), SAYS, MASK], Requirements::ALWAYS, BALLOTS, "vote.sync.ballot.b32 %d, !%p, 0xffffffff;";
    SHFL_UNSAID "shfl" &[MODE, OF_B32], &[OperandRow::def("d", WITH_B32), value("a", B32), value("b", WORD), value("c", WORD)], UNSAID, SHUFFLES_HERE, "shfl.bfly.b32 %d|%p, %a, 16, 31;";
    SHFL_UNSAID_ALONE "shfl" &[MODE, OF_B32], &[def("d", B32), value("a", B32), value("b", WORD), value("c", WORD)], UNSAID, SHUFFLES_HERE, "shfl.down.b32 %d, %a, 1, 31;";
    VOTE_UNSAID "vote" &[VOTE, OF_PREDICATE], &[ANSWER, SAYS], UNSAID, VOTES_HERE, "vote.any.pred %q, %p;";
    VOTE_UNSAID_BALLOT "vote" &[BALLOT, OF_B32], &[def("d", B32), SAYS], UNSAID, VOTES_HERE, "vote.ballot.b32 %d, !%p;";
    MATCH_ANY "match" &[ANY, SYNC, OF_BITS], &[def("d", U32), value("a", T), MASK], Requirements::ALWAYS, MATCHES, "match.any.sync.b32 %d, %a, 0xffffffff;";
    MATCH_ALL "match" &[ALL, SYNC, OF_BITS], &[OperandRow::def("d", WITH_U32), value("a", T), MASK], Requirements::ALWAYS, MATCHES_ALL, "match.all.sync.b32 %d|%p, %a, 0xffffffff;";
    MATCH_ALL_ALONE "match" &[ALL, SYNC, OF_BITS], &[def("d", U32), value("a", T), MASK], Requirements::ALWAYS, MATCHES_ALL, "match.all.sync.b32 %d, %a, 0xffffffff;";
    REDUX "redux" &[SYNC, ARITHMETIC, INTEGERS], &[def("d", Ty::Integer(0)), value("a", Ty::Integer(0)), MASK], REDUCTIONS, REDUCES, "redux.sync.add.u32 %d, %a, 0xffffffff;";
    REDUX_BITS "redux" &[SYNC, LOGIC, OF_B32], &[def("d", U32), value("a", U32), MASK], REDUCTIONS, REDUCES, "redux.sync.xor.b32 %d, %a, 0xffffffff;";
    REDUX_F32 "redux" &[SYNC, EXTREMA, MAGNITUDES, WITH_NAN, SINGLES], &[def("d", T), reg("a", T), MASK], OF_FLOATS, REDUCES_FLOATS, "redux.sync.min.abs.NaN.f32 %d, %a, 0xffffffff;";
    ACTIVEMASK "activemask" &[OF_B32], &[def("d", B32)], Requirements::ALWAYS, "Returns the mask of the lanes of the warp that execute the instruction together.", "activemask.b32 %d;";
    ELECT "elect" &[SYNC], &[OperandRow::def("d", ELECTED), MASK], ELECTIONS, "Elects one of the threads of the warp that `mask` names, the lowest: returns its lane, and whether it is this thread.", "elect.sync %d|%p, 0xffffffff;";
}
