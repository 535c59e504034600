//! Rows of instructions that change no values: cache hints, sleeping, and fences.

use super::*;

/// Target requirements of L2 cache policies.
const POLICIES: Requirements = Requirements::new(7, 4, 80);
/// Target requirements of `griddepcontrol`.
const GRIDS: Requirements = Requirements::new(7, 8, 90);

/// Target requirements of the scope `.cluster`.
const CLUSTERS: Requirements = Requirements::new(7, 8, 90);
/// Target requirements of proxy fences.
const PROXIES: Requirements = Requirements::new(7, 5, 75);
/// Target requirements of fences for the asynchronous proxy.
const ASYNC_PROXIES: Requirements = Requirements::new(8, 0, 90);
/// Target requirements of one-directional fences: `.acquire` and `.release`.
const HALF_FENCES: Requirements = Requirements::new(8, 6, 90);

const LEVEL: ModifierSlot = ModifierSlot::one_of("level", words!(L1 L2));
const FIRST_LEVEL: ModifierSlot = ModifierSlot::one_of("level", words!(L1));
const KEPT: ModifierSlot =
    ModifierSlot::one_of("level", &[since(POLICIES, Token::L2Last), since(POLICIES, Token::L2Normal)]);
const NORMAL: ModifierSlot = ModifierSlot::one_of("level", words!(L2Normal));
const SECOND_LEVEL: ModifierSlot = ModifierSlot::one_of("level", words!(L2));
const MAYBE_GLOBAL: ModifierSlot = ModifierSlot::optional("space", words!(Global));
const FRACTIONAL: ModifierSlot = ModifierSlot::one_of("kind", words!(Fractional));
const CHOSEN: ModifierSlot = ModifierSlot::one_of("primary priority", words!(L2Last L2Normal L2First L2Unchanged));
const OTHERS: ModifierSlot = ModifierSlot::optional("secondary priority", words!(L2First L2Unchanged));
const B64: ModifierSlot = ty(types!(B64));
const SLEEP: ModifierSlot = ty(types!(U32));
const GRID: ModifierSlot = ModifierSlot::one_of("operation", words!(LaunchDependents Wait));
const SCOPE: ModifierSlot = ModifierSlot::one_of(
    "scope",
    &[word(Token::Cta), since(CLUSTERS, Token::Cluster), word(Token::Gpu), word(Token::Sys)],
);
const LEVELS: ModifierSlot = ModifierSlot::one_of("scope", words!(Cta GlobalLevel Sys));
const FENCE: ModifierSlot = ModifierSlot::optional(
    "order",
    &[
        word(Token::SequentiallyConsistent),
        word(Token::AcquireRelease),
        since(HALF_FENCES, Token::Acquire),
        since(HALF_FENCES, Token::Release),
    ],
);

const POLICY: OperandRow = def("d", Ty::Is(Type::U64));
const AT: &[OperandRow] = &[OperandRow::used("a", OperandKind::Memory)];
const LINE: &[OperandRow] =
    &[OperandRow::used("a", OperandKind::Memory), OperandRow::used("size", OperandKind::LineSize)];
const FETCH: &str = "Hints that memory at `a` will be accessed. It has no other effect: `a` may be any address.";
const PROXY_DOC: &str = "Orders accesses of one kind after those of another, such as texture accesses or asynchronous \
                         copies. It has no effect on the accesses of threads.";
const ORDER: &str = "Orders the memory accesses of a thread before the fence and those after it, as observed by other \
                     threads. It has no effect on a work item that shares no memory.";

controls! {
    PREFETCH "prefetch" &[MAYBE_GLOBAL, LEVEL], AT, Requirements::ALWAYS, FETCH, "prefetch.global.L1 [%a];";
    PREFETCH_KEPT "prefetch" &[MAYBE_GLOBAL, KEPT], AT, POLICIES, FETCH, "prefetch.global.L2::evict_last [%a];";
    PREFETCHU "prefetchu" &[FIRST_LEVEL], AT, Requirements::ALWAYS, FETCH, "prefetchu.L1 [%a];";
    APPLYPRIORITY "applypriority" &[MAYBE_GLOBAL, NORMAL], LINE, POLICIES,
        "Resets the eviction priority of an L2 cache line to normal. It changes no value: `a` may be any address.", "applypriority.global.L2::evict_normal [%a], 128;";
    DISCARD "discard" &[MAYBE_GLOBAL, SECOND_LEVEL], LINE, POLICIES,
        "Declares that 128 bytes at `a` will not be read before they are written. On hardware their contents become \
         undefined; halfbyte keeps the contents.", "discard.global.L2 [%a], 128;";
    NANOSLEEP "nanosleep" &[SLEEP], &[value("a", Ty::Integer(0))], Requirements::ALWAYS,
        "Suspends the thread for at most twice the given number of nanoseconds.", "nanosleep.u32 20;";
    PMEVENT "pmevent" &[], &[OperandRow::used("a", OperandKind::Event)], Requirements::ALWAYS,
        "Triggers a performance monitor event.", "pmevent 1;";
    PMEVENT_MASK "pmevent" &[ModifierSlot::one_of("kind", words!(Mask))], &[OperandRow::used("a", OperandKind::EventMask)], Requirements::ALWAYS,
        "Triggers the performance monitor events whose bits are set.", "pmevent.mask 3;";
    GRIDDEPCONTROL "griddepcontrol" &[GRID], &[], GRIDS,
        "Lets the grids that depend on this one start, or waits for the grids that this one depends on. halfbyte \
         launches each grid alone, so this does nothing.", "griddepcontrol.wait;";
    MEMBAR "membar" &[LEVELS], &[], Requirements::ALWAYS, ORDER, "membar.gl;";
    FENCE_OF_ORDER "fence" &[FENCE, SCOPE], &[], Requirements::ALWAYS, ORDER, "fence.acq_rel.gpu;";
    FENCE_PROXY "fence" &[ModifierSlot::one_of("proxy", words!(Proxy)), ModifierSlot::one_of("kind", words!(Alias)) ], &[], PROXIES, PROXY_DOC, "fence.proxy.alias;";
    FENCE_PROXY_ASYNC "fence" &[ModifierSlot::one_of("proxy", words!(Proxy)), ModifierSlot::one_of("kind", words!(Async)), ModifierSlot::optional("space", words!(Global SharedCta))], &[], ASYNC_PROXIES, PROXY_DOC, "fence.proxy.async.global;";
    MEMBAR_PROXY "membar" &[ModifierSlot::one_of("proxy", words!(Proxy)), ModifierSlot::one_of("kind", &[since(PROXIES, Token::Alias), since(ASYNC_PROXIES, Token::Async)])], &[], Requirements::ALWAYS, PROXY_DOC, "membar.proxy.alias;";
    CREATEPOLICY "createpolicy" &[FRACTIONAL, CHOSEN, OTHERS, B64], &[POLICY], POLICIES,
        "Creates an L2 cache policy. In halfbyte its value is zero, because a policy changes no result.", "createpolicy.fractional.L2::evict_last.b64 %d;";
    CREATEPOLICY_OF "createpolicy" &[FRACTIONAL, CHOSEN, OTHERS, B64], &[POLICY, OperandRow::used("f", OperandKind::Fraction)], POLICIES,
        "Creates an L2 cache policy for a fraction of the accesses.", "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %d, 0f3f000000;";
}
