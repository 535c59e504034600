//! Rows of loads, stores, stack operations and address conversions.

use super::*;

/// Target requirements of cache eviction priorities.
const LEVELS: Requirements = Requirements::new(7, 4, 75);
/// Target requirements of 256-byte prefetches and of cache policies.
const POLICIES: Requirements = Requirements::new(7, 4, 80);
/// Target requirements of generic addresses of parameters.
const PARAMETERS: Requirements = Requirements::new(7, 7, 75);
/// Target requirements of `alloca` and the other stack operations.
const STACK: Requirements = Requirements::new(7, 3, 75);
/// Target requirements of the scope `.cluster`.
const CLUSTERS: Requirements = Requirements::new(7, 8, 90);
/// Target requirements of `.mmio`.
const DEVICES: Requirements = Requirements::new(8, 2, 75);
/// Target requirements of 32-byte accesses.
const BYTES_32: Requirements = Requirements::new(8, 8, 100);

/// Target requirements of 128-bit accesses with the scope `.sys`.
const BYTES_16_OF_SYSTEM: Requirements = Requirements::new(8, 4, 75);

macro_rules! words_and_128_bits {
    ($since:expr) => {
        &[
            word(Token::Type(Type::B8)),
            word(Token::Type(Type::B16)),
            word(Token::Type(Type::B32)),
            word(Token::Type(Type::B64)),
            word(Token::Type(Type::U8)),
            word(Token::Type(Type::U16)),
            word(Token::Type(Type::U32)),
            word(Token::Type(Type::U64)),
            word(Token::Type(Type::S8)),
            word(Token::Type(Type::S16)),
            word(Token::Type(Type::S32)),
            word(Token::Type(Type::S64)),
            word(Token::Type(Type::F32)),
            word(Token::Type(Type::F64)),
            since($since, Token::Type(Type::B128)),
        ]
    };
}

/// The element types of a memory access, including `.b128`.
const ALL_WORDS: &[Choice] = words_and_128_bits!(BYTES_16);
const SYSTEM_WORDS: &[Choice] = words_and_128_bits!(BYTES_16_OF_SYSTEM);
const WORDS: &[Choice] = types!(B8 B16 B32 B64 U8 U16 U32 U64 S8 S16 S32 S64 F32 F64);
const WIDE_WORDS: &[Choice] = types!(B32 B64 U32 U64 S32 S64 F32 F64);
const LOAD_SPACE: ModifierSlot = ModifierSlot::optional(
    "space",
    &[
        word(Token::Global),
        word(Token::Const),
        word(Token::Local),
        word(Token::Shared),
        since(OF_BLOCK, Token::SharedCta),
    ],
);
const STORE_SPACE: ModifierSlot = ModifierSlot::optional(
    "space",
    &[word(Token::Global), word(Token::Local), word(Token::Shared), since(OF_BLOCK, Token::SharedCta)],
);
const GLOBAL: ModifierSlot = ModifierSlot::one_of("space", words!(Global));
const ORDERED_SPACE: ModifierSlot =
    ModifierSlot::optional("space", &[word(Token::Global), word(Token::Shared), since(OF_BLOCK, Token::SharedCta)]);
/// Modifier slot for the state space of a volatile access. Local memory is private to a thread, but
/// a volatile access may name `.local`, too.
const VOLATILE_SPACE: ModifierSlot = ModifierSlot::optional(
    "space",
    &[
        word(Token::Global),
        word(Token::Shared),
        since(OF_BLOCK, Token::SharedCta),
        since(VOLATILE_LOCALS, Token::Local),
    ],
);
const VOLATILE_LOCALS: Requirements = Requirements::new(9, 1, 75);
const GLOBAL_IF_ANY: ModifierSlot = ModifierSlot::optional("space", words!(Global));
const SPACE: ModifierSlot = ModifierSlot::one_of(
    "space",
    &[
        word(Token::Global),
        word(Token::Const),
        word(Token::Local),
        word(Token::Shared),
        since(OF_BLOCK, Token::SharedCta),
        since(PARAMETERS, Token::Param),
    ],
);
const ASKED_SPACE: ModifierSlot = ModifierSlot::one_of(
    "space",
    &[
        word(Token::Global),
        word(Token::Const),
        word(Token::Local),
        word(Token::Shared),
        since(OF_BLOCK, Token::SharedCta),
        since(PARAMETERS, Token::Param),
    ],
);
const PARAM: ModifierSlot = ModifierSlot::one_of("space", words!(Param));
const READ_ONLY: ModifierSlot = ModifierSlot::one_of("read only", words!(ReadOnly));
const ELEMENTS: ModifierSlot = ModifierSlot::optional("elements", words!(V2 V4));
const WIDE_ELEMENTS: ModifierSlot = ModifierSlot::one_of("elements", words!(V4 V8));

const WEAK: ModifierSlot = ModifierSlot::optional("order", words!(Weak));
const VOLATILE: ModifierSlot = ModifierSlot::one_of("order", words!(Volatile));
const LOAD_ORDER: ModifierSlot = ModifierSlot::one_of("order", words!(Relaxed Acquire));
const STORE_ORDER: ModifierSlot = ModifierSlot::one_of("order", words!(Relaxed Release));
const SCOPE: ModifierSlot = ModifierSlot::one_of(
    "scope",
    &[word(Token::Cta), since(CLUSTERS, Token::Cluster), word(Token::Gpu), word(Token::Sys)],
);
/// Modifier slot for the scope of a strong 128-bit access.
const SCOPE_128: ModifierSlot = ModifierSlot::one_of(
    "scope",
    &[word(Token::Cta), since(CLUSTERS, Token::Cluster), word(Token::Gpu), since(BYTES_16_OF_SYSTEM, Token::Sys)],
);
const MMIO: ModifierSlot = ModifierSlot::one_of("device", &[since(DEVICES, Token::Mmio)]);
const DEVICE_LOAD_ORDER: ModifierSlot =
    ModifierSlot::one_of("order", &[word(Token::Relaxed), since(DEVICE_ORDERS, Token::Acquire)]);
const DEVICE_STORE_ORDER: ModifierSlot =
    ModifierSlot::one_of("order", &[word(Token::Relaxed), since(DEVICE_ORDERS, Token::Release)]);
const DEVICE_ORDERS: Requirements = Requirements::new(9, 3, 75);
const OF_SYSTEM: ModifierSlot = ModifierSlot::one_of("scope", words!(Sys));

const LOAD_CACHE: ModifierSlot = ModifierSlot::optional(
    "cache",
    &[
        word(Token::CacheAll),
        word(Token::CacheGlobal),
        word(Token::Streaming),
        word(Token::LastUse),
        word(Token::DontCache),
        since(LEVELS, Token::L1Normal),
        since(LEVELS, Token::L1Unchanged),
        since(LEVELS, Token::L1First),
        since(LEVELS, Token::L1Last),
        since(LEVELS, Token::L1NoAllocate),
    ],
);
const STORE_CACHE: ModifierSlot = ModifierSlot::optional(
    "cache",
    &[
        word(Token::WriteBack),
        word(Token::CacheGlobal),
        word(Token::Streaming),
        word(Token::WriteThrough),
        since(LEVELS, Token::L1Normal),
        since(LEVELS, Token::L1Unchanged),
        since(LEVELS, Token::L1First),
        since(LEVELS, Token::L1Last),
        since(LEVELS, Token::L1NoAllocate),
    ],
);
const EVICTION: ModifierSlot = ModifierSlot::optional(
    "L1 eviction",
    &[
        since(LEVELS, Token::L1Normal),
        since(LEVELS, Token::L1Unchanged),
        since(LEVELS, Token::L1First),
        since(LEVELS, Token::L1Last),
        since(LEVELS, Token::L1NoAllocate),
    ],
);
const READ_CACHE: ModifierSlot = ModifierSlot::one_of("cache", words!(CacheAll CacheGlobal Streaming));
const SECOND_EVICTION: ModifierSlot = ModifierSlot::optional("L2 eviction", words!(L2Normal L2First L2Last));
const HINT: ModifierSlot = ModifierSlot::optional("hint", &[since(POLICIES, Token::CacheHint)]);
const PREFETCH: ModifierSlot = ModifierSlot::optional(
    "prefetch",
    &[since(LEVELS, Token::Prefetch64), since(LEVELS, Token::Prefetch128), since(POLICIES, Token::Prefetch256)],
);

const ELEMENT: Ty = Ty::Within(0);
const POLICY: OperandRow = OperandRow::with("hint", "policy", OperandKind::Value(Ty::Is(Type::U64)));
const TO: OperandRow = OperandRow::def("d", OperandKind::Elements(ELEMENT));
const FROM: OperandRow = OperandRow::used("b", OperandKind::Elements(ELEMENT));
const ADDRESS: OperandRow = OperandRow::used("a", OperandKind::Memory);

const WIDE_TYPES: &[Token] =
    &[Token::Type(Type::B64), Token::Type(Type::U64), Token::Type(Type::S64), Token::Type(Type::F64)];

/// Invalid combinations: an access must have at most 16 bytes.
const UP_TO_16: &[[&[Token]; 2]] = &[[&[Token::V4], WIDE_TYPES], ONE_128];
/// Invalid combination: a 128-bit access has a single element.
const ONE_128: [&[Token]; 2] = [&[Token::V2, Token::V4], &[Token::Type(Type::B128)]];
/// Invalid combinations: an access must have at most 16 bytes, and cache modifiers require global memory.
const UP_TO_16_LEVELS: &[[&[Token]; 2]] = &[[&[Token::V4], WIDE_TYPES], ONE_128, [ELSEWHERE, OF_LEVELS]];
/// Invalid combination: cache modifiers require global memory.
const LEVELS_OF_GLOBAL: &[[&[Token]; 2]] = &[[ELSEWHERE, OF_LEVELS]];
const ELSEWHERE: &[Token] = &[Token::Local, Token::Const, Token::Shared, Token::SharedCta];
const OF_LEVELS: &[Token] = &[
    Token::CacheHint,
    Token::Prefetch64,
    Token::Prefetch128,
    Token::Prefetch256,
    Token::L1Normal,
    Token::L1Unchanged,
    Token::L1First,
    Token::L1Last,
    Token::L1NoAllocate,
];
/// Invalid combinations: an access must have exactly 32 bytes.
const ALL_32: &[[&[Token]; 2]] = &[
    [&[Token::V8], WIDE_TYPES],
    [&[Token::V4], &[Token::Type(Type::B32), Token::Type(Type::U32), Token::Type(Type::S32), Token::Type(Type::F32)]],
];

const PARAMETER: &str = "Loads from a kernel parameter, a function parameter or the result of a call.";
const LOAD: &str = "Loads from memory at `a`, which must be a multiple of the total size. An element narrower than its \
    register is zero-extended, or sign-extended if its type is signed. `.const` takes addresses of variables in \
    constant memory. Without a state space the address is generic, as computed by `cvta`. Cache modifiers do not \
    affect the loaded value.";
const ORDERED: &str = "Loads memory that other threads may store to concurrently. `.volatile` and `.relaxed` load the \
    value of some moment. `.acquire` also makes all stores visible that precede the release of that value. For a work \
    item that shares no memory it is an ordinary load.";
const READ: &str = "Loads from global memory that no work item of the launch writes. An element narrower than its \
    register is zero-extended, or sign-extended if its type is signed.";
const SHARED_BY_ALL: &str = "Loads from global memory at an address that is uniform in a warp.";
const ALLOCATED: &str = "Allocates `a` bytes of the stack, aligned to `align` or to 8, and returns their address in \
    local memory. They are freed when the function returns.";
const CONVERTED: &str = "Converts an address in the named state space to a generic address, or with `.to` a generic \
    address to that state space. In global memory both are equal.";
const STORE: &str = "Stores to memory at `a`, which must be a multiple of the total size. A register wider than an \
    element is truncated. Cache modifiers do not affect the stored value.";
const STORED_ORDERED: &str = "Stores to memory that other threads may load concurrently. `.release` makes all earlier \
    stores visible first. For a work item that shares no memory it is an ordinary store.";

macro_rules! memory {
    ($($name:ident $mnemonic:literal $class:ident $slots:expr, $exclusions:expr, $operands:expr, $since:expr, $doc:expr, $($example:literal)*;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: $slots,
            exclusions: $exclusions,
            operands: $operands,
            class: InstClass::$class,
            since: $since,
            doc: $doc,
            examples: &[$($example),*],
            ..PTX
        };
    )* };
}

const ANY: Requirements = Requirements::ALWAYS;

memory! {
    LD_PARAM "ld" Memory &[WEAK, PARAM, ELEMENTS, ty(ALL_WORDS)], UP_TO_16, &[TO, ADDRESS], ANY,
        PARAMETER, "ld.param.u64 %d, [p0];" "ld.param.v4.u8 {%d, %e, %f, _}, [p0+4];";
    LD "ld" Memory &[WEAK, LOAD_SPACE, LOAD_CACHE, HINT, PREFETCH, ELEMENTS, ty(ALL_WORDS)], UP_TO_16_LEVELS, &[TO, ADDRESS, POLICY], ANY,
        LOAD, "ld.global.b32 %d, [%a+16];" "ld.const.u8 %d, [c0+3];" "ld.global.v2.u8 {%d, %e}, [%a];" "ld.global.cg.b32 %d, [%a];" "ld.global.b128 %d, [%a];";
    LD_VOLATILE "ld" Memory &[VOLATILE, VOLATILE_SPACE, PREFETCH, ELEMENTS, ty(ALL_WORDS)], UP_TO_16_LEVELS, &[TO, ADDRESS], ANY,
        ORDERED, "ld.volatile.global.u32 %d, [%a];";
    LD_ORDERED "ld" Memory &[LOAD_ORDER, SCOPE, ORDERED_SPACE, EVICTION, HINT, PREFETCH, ELEMENTS, ty(WORDS)], UP_TO_16_LEVELS, &[TO, ADDRESS, POLICY], ANY,
        ORDERED, "ld.acquire.gpu.global.u32 %d, [%a];";
    LD_ORDERED_B128 "ld" Memory &[LOAD_ORDER, SCOPE_128, ORDERED_SPACE, EVICTION, HINT, PREFETCH, ty(BITS_128)], LEVELS_OF_GLOBAL, &[TO, ADDRESS, POLICY], ANY,
        ORDERED, "ld.relaxed.gpu.global.b128 %d, [%a];";
    LD_MMIO "ld" Memory &[MMIO, DEVICE_LOAD_ORDER, OF_SYSTEM, GLOBAL_IF_ANY, ty(SYSTEM_WORDS)], &[], &[TO, ADDRESS], ANY,
        ORDERED, "ld.mmio.relaxed.sys.global.u32 %d, [%a];";
    LD_WIDE "ld" Memory &[WEAK, GLOBAL_IF_ANY, EVICTION, SECOND_EVICTION, HINT, PREFETCH, WIDE_ELEMENTS, ty(WIDE_WORDS)], ALL_32, &[TO, ADDRESS, POLICY], BYTES_32,
        LOAD, "ld.global.v4.b64 {%d, %e, %f, _}, [%a];";
    LD_ORDERED_WIDE "ld" Memory &[LOAD_ORDER, SCOPE, GLOBAL_IF_ANY, EVICTION, SECOND_EVICTION, HINT, PREFETCH, WIDE_ELEMENTS, ty(WIDE_WORDS)], ALL_32, &[TO, ADDRESS, POLICY], BYTES_32,
        ORDERED, "ld.acquire.gpu.global.v4.b64 {%d, %e, %f, _}, [%a];";
    LD_VOLATILE_WIDE "ld" Memory &[VOLATILE, GLOBAL_IF_ANY, PREFETCH, WIDE_ELEMENTS, ty(WIDE_WORDS)], ALL_32, &[TO, ADDRESS], BYTES_32,
        ORDERED, "ld.volatile.global.v4.b64 {%d, %e, %f, _}, [%a];";
    LD_NC_CACHED "ld" Memory &[GLOBAL, READ_CACHE, READ_ONLY, HINT, PREFETCH, ELEMENTS, ty(ALL_WORDS)], UP_TO_16, &[TO, ADDRESS, POLICY], ANY,
        READ, "ld.global.ca.nc.b32 %d, [%a];";
    LD_NC "ld" Memory &[GLOBAL, READ_ONLY, EVICTION, HINT, PREFETCH, ELEMENTS, ty(ALL_WORDS)], UP_TO_16, &[TO, ADDRESS, POLICY], ANY,
        READ, "ld.global.nc.b32 %d, [%a];" "ld.global.nc.v4.b32 {%d, %e, %f, %g}, [%a];";
    LD_NC_WIDE "ld" Memory &[GLOBAL, READ_ONLY, EVICTION, SECOND_EVICTION, HINT, PREFETCH, WIDE_ELEMENTS, ty(WIDE_WORDS)], ALL_32, &[TO, ADDRESS, POLICY], BYTES_32,
        READ, "ld.global.nc.v4.b64 {%d, %e, %f, _}, [%a];";
    LDU "ldu" Memory &[GLOBAL_IF_ANY, ELEMENTS, ty(ALL_WORDS)], UP_TO_16, &[TO, ADDRESS], ANY,
        SHARED_BY_ALL, "ldu.global.u32 %d, [%a];";
    ST "st" Memory &[WEAK, STORE_SPACE, STORE_CACHE, HINT, ELEMENTS, ty(ALL_WORDS)], UP_TO_16_LEVELS, &[ADDRESS, FROM, POLICY], ANY,
        STORE, "st.global.b32 [%a+-4], %b;" "st.global.v2.b32 [%a], {%b, %c};" "st.global.wt.b32 [%a], %b;" "st.global.b128 [%a], %b;";
    ST_VOLATILE "st" Memory &[VOLATILE, VOLATILE_SPACE, ELEMENTS, ty(ALL_WORDS)], UP_TO_16_LEVELS, &[ADDRESS, FROM], ANY,
        STORED_ORDERED, "st.volatile.global.u32 [%a], %b;";
    ST_ORDERED "st" Memory &[STORE_ORDER, SCOPE, ORDERED_SPACE, EVICTION, HINT, ELEMENTS, ty(WORDS)], UP_TO_16_LEVELS, &[ADDRESS, FROM, POLICY], ANY,
        STORED_ORDERED, "st.release.gpu.global.u32 [%a], %b;";
    ST_ORDERED_B128 "st" Memory &[STORE_ORDER, SCOPE_128, ORDERED_SPACE, EVICTION, HINT, ty(BITS_128)], LEVELS_OF_GLOBAL, &[ADDRESS, FROM, POLICY], ANY,
        STORED_ORDERED, "st.relaxed.gpu.global.b128 [%a], %b;";
    ST_MMIO "st" Memory &[MMIO, DEVICE_STORE_ORDER, OF_SYSTEM, GLOBAL_IF_ANY, ty(SYSTEM_WORDS)], &[], &[ADDRESS, FROM], ANY,
        STORED_ORDERED, "st.mmio.relaxed.sys.global.u32 [%a], %b;";
    ST_WIDE "st" Memory &[WEAK, GLOBAL_IF_ANY, EVICTION, SECOND_EVICTION, HINT, WIDE_ELEMENTS, ty(WIDE_WORDS)], ALL_32, &[ADDRESS, FROM, POLICY], BYTES_32,
        STORE, "st.global.v4.b64 [%a], {%b, %c, %e, %f};";
    ST_ORDERED_WIDE "st" Memory &[STORE_ORDER, SCOPE, GLOBAL_IF_ANY, EVICTION, SECOND_EVICTION, HINT, WIDE_ELEMENTS, ty(WIDE_WORDS)], ALL_32, &[ADDRESS, FROM, POLICY], BYTES_32,
        STORED_ORDERED, "st.release.gpu.global.v4.b64 [%a], {%b, %c, %e, %f};";
    ST_VOLATILE_WIDE "st" Memory &[VOLATILE, GLOBAL_IF_ANY, WIDE_ELEMENTS, ty(WIDE_WORDS)], ALL_32, &[ADDRESS, FROM], BYTES_32,
        STORED_ORDERED, "st.volatile.global.v4.b64 [%a], {%b, %c, %e, %f};";
    ST_PARAM "st" Memory &[WEAK, PARAM, ELEMENTS, ty(ALL_WORDS)], UP_TO_16, &[OperandRow::used("a", OperandKind::CallMemory), FROM], ANY,
        "Stores an argument of a call or a result of a function.", "st.param.b32 [v0+4], %b;";
    ALLOCA "alloca" Memory &[ty(types!(U32 U64))], &[], &[def("d", T), value("a", T)], STACK,
        ALLOCATED, "alloca.u64 %d, %a;";
    ALLOCA_ALIGNED "alloca" Memory &[ty(types!(U32 U64))], &[], &[def("d", T), value("a", T), OperandRow::used("align", OperandKind::Alignment)], STACK,
        ALLOCATED, "alloca.u64 %d, %a, 16;";
    STACKSAVE "stacksave" Memory &[ty(types!(U32 U64))], &[], &[def("d", T)], STACK,
        "Saves the stack pointer.", "stacksave.u64 %d;";
    STACKRESTORE "stackrestore" Memory &[ty(types!(U32 U64))], &[], &[reg("a", T)], STACK,
        "Restores a saved stack pointer, which frees the memory allocated since.", "stackrestore.u64 %a;";
    ISSPACEP "isspacep" Address &[ASKED_SPACE], &[], &[def("p", PRED), value("a", Ty::Is(Type::U64))], ANY,
        "Tests whether a generic address is in the named state space.", "isspacep.global %p, %a;";
    ISSPACEP_WORD "isspacep" Address &[ASKED_SPACE], &[], &[def("p", PRED), reg("a", Ty::Is(Type::U32))], ANY,
        "Tests whether a generic address is in the named state space. The upper half of the address is 0.", "isspacep.shared %p, %a;";
    CVTA "cvta" Address &[ModifierSlot::optional("direction", words!(To)), SPACE, ty(types!(U64))], &[], &[def("d", T), value("a", T)], ANY,
        CONVERTED, "cvta.to.global.u64 %d, %a;";
    CVTA_ADDRESS "cvta" Address &[SPACE, ty(types!(U64))], &[], &[def("d", T), OperandRow::used("a", OperandKind::Variable)], ANY,
        CONVERTED, "cvta.const.u64 %d, c0;";
}
