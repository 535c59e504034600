//! Loads, stores and addresses.

use super::*;

const WORDS: &[Choice] = types!(B8 B16 B32 B64 U8 U16 U32 U64 S8 S16 S32 S64 F32 F64);
const UP_TO_32: &[Choice] = types!(B8 B16 B32 U8 U16 U32 S8 S16 S32 F32);
const LOAD_SPACE: Slot = Slot::optional("space", words!(Global Const));
const STORE_SPACE: Slot = Slot::optional("space", words!(Global));
const GLOBAL: Slot = Slot::one_of("space", words!(Global));
const SPACE: Slot = Slot::one_of("space", words!(Global Const));
const PARAM: Slot = Slot::one_of("space", words!(Param));
const READ_ONLY: Slot = Slot::one_of("cache", words!(ReadOnly));
const V2: Slot = Slot::one_of("elements", words!(V2));
const V4: Slot = Slot::one_of("elements", words!(V4));

const ELEMENT: Ty = Ty::Within(0);
const ADDRESS: OperandRow = OperandRow::used("a", Shape::Memory);
const SOURCE: OperandRow = OperandRow::used("a", Shape::Readable);
const LOADED: &[OperandRow] = &[def("d", ELEMENT), SOURCE];
const LOADED_2: &[OperandRow] = &[OperandRow::def("d", Shape::Vector(ELEMENT, 2)), SOURCE];
const LOADED_4: &[OperandRow] = &[OperandRow::def("d", Shape::Vector(ELEMENT, 4)), SOURCE];
const STORED: &[OperandRow] = &[ADDRESS, value("b", ELEMENT)];
const STORED_2: &[OperandRow] = &[ADDRESS, OperandRow::used("b", Shape::Vector(ELEMENT, 2))];
const STORED_4: &[OperandRow] = &[ADDRESS, OperandRow::used("b", Shape::Vector(ELEMENT, 4))];

const LOAD: &str = "Loads from memory at `a`, which must be a multiple of all that is loaded. An element narrower than its register is \
    extended by zeros, or by its sign where its type is signed. `.const` takes addresses in constant memory, which only variables have; without \
    a space the address is one that `cvta` makes.";
const CACHED: &str = "Loads from global memory that no work item of the launch writes. An element narrower than its register is extended by \
    zeros, or by its sign where its type is signed.";
const CONVERTED: &str = "Makes an address without a space of one in global or in constant memory, or with `.to` the other way round. Of global memory they are \
    the same.";
const STORE: &str = "Stores to memory at `a`, which must be a multiple of all that is stored. Of a register wider than an element the low bits are stored.";

macro_rules! memory {
    ($($name:ident $mnemonic:literal $class:ident $slots:expr, $operands:expr, $doc:expr, $($example:literal)*;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: $slots,
            operands: $operands,
            class: Class::$class,
            doc: $doc,
            examples: &[$($example),*],
            ..PTX
        };
    )* };
}

memory! {
    LD_PARAM "ld" Memory &[PARAM, ty(WORDS)], &[def("d", ELEMENT), OperandRow::used("a", Shape::Parameter)],
        "Loads from a parameter of the kernel.", "ld.param.u64 %d, [p0];";
    LD_PARAM_V2 "ld" Memory &[PARAM, V2, ty(WORDS)], &[OperandRow::def("d", Shape::Vector(ELEMENT, 2)), OperandRow::used("a", Shape::Parameter)],
        "Loads from a parameter of the kernel.", "ld.param.v2.b32 {%d, %e}, [p0];";
    LD_PARAM_V4 "ld" Memory &[PARAM, V4, ty(UP_TO_32)], &[OperandRow::def("d", Shape::Vector(ELEMENT, 4)), OperandRow::used("a", Shape::Parameter)],
        "Loads from a parameter of the kernel.", "ld.param.v4.u8 {%d, %e, %f, _}, [p0+4];";
    LD "ld" Memory &[LOAD_SPACE, ty(WORDS)], LOADED, LOAD, "ld.global.b32 %d, [%a+16];" "ld.const.u8 %d, [c0+3];";
    LD_V2 "ld" Memory &[LOAD_SPACE, V2, ty(WORDS)], LOADED_2, LOAD, "ld.global.v2.u8 {%d, %e}, [%a];";
    LD_V4 "ld" Memory &[LOAD_SPACE, V4, ty(UP_TO_32)], LOADED_4, LOAD, "ld.global.v4.b32 {%d, %e, %f, _}, [%a];";
    LD_NC "ld" Memory &[GLOBAL, READ_ONLY, ty(WORDS)], LOADED, CACHED, "ld.global.nc.b32 %d, [%a];";
    LD_NC_V2 "ld" Memory &[GLOBAL, READ_ONLY, V2, ty(WORDS)], LOADED_2, CACHED, "ld.global.nc.v2.b32 {%d, %e}, [%a];";
    LD_NC_V4 "ld" Memory &[GLOBAL, READ_ONLY, V4, ty(UP_TO_32)], LOADED_4, CACHED, "ld.global.nc.v4.b32 {%d, %e, %f, %g}, [%a];";
    ST "st" Memory &[STORE_SPACE, ty(WORDS)], STORED, STORE, "st.global.b32 [%a-4], %b;";
    ST_V2 "st" Memory &[STORE_SPACE, V2, ty(WORDS)], STORED_2, STORE, "st.global.v2.b32 [%a], {%b, %c};";
    ST_V4 "st" Memory &[STORE_SPACE, V4, ty(UP_TO_32)], STORED_4, STORE, "st.global.v4.b32 [%a], {%b, %c, %e, %f};";
    CVTA "cvta" Address &[Slot::optional("direction", words!(To)), SPACE, ty(types!(U64))], REGS_1, CONVERTED, "cvta.to.global.u64 %d, %a;";
    CVTA_ADDRESS "cvta" Address &[SPACE, ty(types!(U64))], &[def("d", T), OperandRow::used("a", Shape::Variable)], CONVERTED, "cvta.const.u64 %d, c0;";
}
