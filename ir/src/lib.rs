//! Intermediate representation (IR) of halfbyte.
//!
//! Kernels are in SSA form, with block parameters instead of phis, on scalars and packed half and byte vectors. One
//! work item runs a kernel once. Items are independent, except for barriers, collective operations and shared memory.
//! There is no poison and no undefined behaviour: every op is total.

pub mod array;
pub mod attr;
pub mod builder;
pub mod diag;
pub mod eval;
pub mod flow;
pub mod generate;
pub mod kernel;
pub mod known;
pub mod legality;
pub mod op;
pub mod order;
pub mod rule;
mod span;
pub mod stream;
pub mod text;
pub mod verify;
mod wellformed;
pub mod witness;

/// Entity maps and lists of `cranelift-entity`, which store the parts of a kernel. Other crates use
/// this re-export, so that only this crate selects the version.
pub mod entity {
    pub use cranelift_entity::packed_option::{PackedOption, ReservedValue};
    pub use cranelift_entity::{EntityList, EntityRef, EntitySet, ListPool, PrimaryMap, SecondaryMap, entity_impl};
}

pub use array::{Array, Space};
pub use attr::{Clamp, FlagKind, FloatCC, FloatFlags, IntCC, LaneMap, MemAttr, Rounding};
pub use diag::{Diagnostic, Diagnostics};
pub use flow::Flow;
pub use halfbyte_abi::stream::{Affine, AffineVariable, Step, StreamContents, TripCount};
pub use halfbyte_abi::{Axis, Direction, Elem, ParamKind, Type};
pub use kernel::{
    Attr, Block, BlockCall, BlockData, CallRange, Inst, InstData, IntrinsicData, IntrinsicRef, Kernel, MergedAccess,
    Module, Param, Value, ValueData, ValueDef, ValueList, WideConst,
};
pub use known::{AllKnown, Known, KnownValues};
pub use legality::{Axes, Lanes, Legality, Narrowings, Reason, Refusal};
pub use op::{AttrKind, ConvergenceScope, Effect, Op, OpRow};
pub use order::{AtomicAttr, FenceAttr, MemOrder, Scope};
pub use rule::Rule;
pub use span::Span;
pub use stream::{Packing, Stream};
pub use verify::verify;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
