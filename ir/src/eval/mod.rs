//! The oracle: what a kernel computes, exactly.
//!
//! [`fold`] gives the meaning of every pure op on lanes; [`Prepared`] runs a kernel item by item on it, with the traps,
//! the race watch and the branch budget that the IR promises. Floating point is computed by `rustc_apfloat`, and nothing
//! here is shared with the code that the oracle judges.
//!
//! A packed kernel is launched as the kernel that it was made of: with the same arguments, for as many work items, and with
//! the same results and faults.
//!
//! A value is a slice of lanes, lane 0 first, each lane its bits zero-extended to 64.

mod atomic;
mod contract;
mod elementary;
mod float;
mod lanes;
mod launch;
mod meet;
mod memory;
mod observe;
mod ops;
mod own;
mod place;
mod prepared;
mod streams;

pub use lanes::{pack, unpack};
pub use launch::{Access, Arg, ArgError, DEFAULT_BUDGET, Fault, IntrinsicFn, Intrinsics, Launch, Race, Trap, TrapKind};
pub use memory::Writers;
pub use observe::{Accessed, Observer};
pub use ops::{Operand, fold};
pub use own::{array_space, space_of};
pub use prepared::Prepared;
