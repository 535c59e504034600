//! Rows of asynchronous copies to shared memory, and of the instructions that wait for them.

use super::*;

/// Target requirements of `cp.async`.
const COPIES: Requirements = Requirements::new(7, 0, 80);
/// Target requirements of the predicate operand `ignore-src` of `cp.async`.
const PREDICATES: Requirements = Requirements::new(7, 5, 80);
/// Target requirements of cache hints and prefetch sizes of `cp.async`.
const LEVELS: Requirements = Requirements::new(7, 4, 80);

const ASYNC: ModifierSlot = ModifierSlot::one_of("operation", words!(Async));
const CACHE: ModifierSlot = ModifierSlot::one_of("cache", words!(CacheAll CacheGlobal));
const TO_SPACE: ModifierSlot =
    ModifierSlot::one_of("destination space", &[word(Token::Shared), since(OF_BLOCK, Token::SharedCta)]);
const FROM_SPACE: ModifierSlot = ModifierSlot::one_of("source space", words!(Global));
const HINT: ModifierSlot = ModifierSlot::optional("hint", &[since(LEVELS, Token::CacheHint)]);
const PREFETCH: ModifierSlot = ModifierSlot::optional(
    "prefetch",
    &[since(LEVELS, Token::Prefetch64), since(LEVELS, Token::Prefetch128), since(LEVELS, Token::Prefetch256)],
);
const COPY: &[ModifierSlot] = &[ASYNC, CACHE, TO_SPACE, FROM_SPACE, HINT, PREFETCH];
const COMMIT: ModifierSlot = ModifierSlot::one_of("operation", words!(CommitGroup));
const WAIT_GROUP: ModifierSlot = ModifierSlot::one_of("operation", words!(WaitGroup));
const WAIT_ALL: ModifierSlot = ModifierSlot::one_of("operation", words!(WaitAll));

const TO: OperandRow = OperandRow::used("d", OperandKind::MemoryIn(Space::Shared));
const FROM: OperandRow = OperandRow::used("a", OperandKind::MemoryIn(Space::Global));
const SIZE: OperandRow = OperandRow::used("size", OperandKind::CopySize);
const POLICY: OperandRow = OperandRow::with("hint", "policy", OperandKind::Value(Ty::Is(Type::U64)));

const COPIES_DOC: &str = "Copies `size` bytes asynchronously from global memory at `a` to shared memory at `d`, both \
    aligned to `size`. Until the thread has waited for the copy, no thread may access the destination or write the \
    source. Other threads see the copy after the wait and a subsequent barrier. halfbyte copies immediately, and \
    `--races` reports an access before the wait.";
const PART_DOC: &str = "Copies `taken` bytes asynchronously and fills the rest of the `size` bytes with zeros. A \
                        register value above `size` is clamped to `size`.";
const UNLESS_DOC: &str = "Copies asynchronously unless `p` is true. If it is, nothing is read and the destination is \
                          filled with zeros.";
const COMMIT_DOC: &str = "Commits the copies that the thread has started since the last commit to a group, which may \
                          be empty.";
const WAIT_DOC: &str = "Waits until at most the `n` most recent groups of the thread are pending. The thread then sees \
                        the completed copies.";
const WAIT_ALL_DOC: &str = "Waits until all copies of the thread are complete.";

macro_rules! copies {
    ($($name:ident $class:ident $slots:expr, $operands:expr, $since:expr, $doc:expr, $($example:literal)+;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: "cp",
            slots: $slots,
            operands: $operands,
            class: InstClass::$class,
            since: $since,
            doc: $doc,
            examples: &[$($example),+],
            ..PTX
        };
    )* };
}

copies! {
    CP_ASYNC Memory COPY, &[TO, FROM, SIZE, POLICY], COPIES, COPIES_DOC,
        "cp.async.ca.shared.global [%d], [%a+16], 8;" "cp.async.cg.shared.global.L2::128B [%d], [%a], 16;";
    CP_ASYNC_PART Memory COPY, &[TO, FROM, SIZE, OperandRow::used("taken", OperandKind::SourceSize), POLICY], COPIES, PART_DOC,
        "cp.async.cg.shared.global [%d], [%a], 16, %b;";
    CP_ASYNC_UNLESS Memory COPY, &[TO, FROM, SIZE, reg("p", PRED), POLICY], PREDICATES, UNLESS_DOC,
        "cp.async.ca.shared.global [%d], [%a], 4, %p;";
    CP_ASYNC_COMMIT Control &[ASYNC, COMMIT], &[], COPIES, COMMIT_DOC, "cp.async.commit_group;";
    CP_ASYNC_WAIT Control &[ASYNC, WAIT_GROUP], &[OperandRow::used("n", OperandKind::Count)], COPIES, WAIT_DOC, "cp.async.wait_group 1;";
    CP_ASYNC_WAIT_ALL Control &[ASYNC, WAIT_ALL], &[], COPIES, WAIT_ALL_DOC, "cp.async.wait_all;";
}
