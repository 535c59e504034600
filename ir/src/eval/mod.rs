//! Evaluator: the exact reference semantics of the IR, used as the test oracle.
//!
//! [`fold`] evaluates every pure op on lanes. [`Prepared`] runs a kernel item by item, with the traps, the race
//! detection and the branch budget of the IR. `rustc_apfloat` computes floating-point arithmetic. The evaluator shares
//! no code with the compiler that it checks.
//!
//! A packed kernel is launched like the kernel from which it was packed: with the same arguments and the same number of
//! work items. Its results and faults are the same, too.
//!
//! A value is a slice of lanes, lane 0 first. Each lane is a `u64` that holds the lane's bits, zero-extended.

mod atomic;
mod collective;
mod contract;
mod declared_memory;
mod elementary;
mod float;
mod lanes;
mod launch;
mod memory;
mod observe;
mod ops;
mod place;
mod prepared;
mod streams;

pub use declared_memory::{array_space, space_of};
pub use lanes::{pack, unpack};
pub use launch::{Access, Arg, ArgError, DEFAULT_BUDGET, Fault, IntrinsicFn, Intrinsics, Launch, Race, Trap, TrapKind};
pub use memory::Evaluated;
pub use observe::{Accessed, Observer};
pub use ops::{Operand, fold};
pub use prepared::Prepared;
