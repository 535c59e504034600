//! External interface of a kernel, shared by the compiler and the runtime: types, parameters and
//! their layout, launch shapes, streams, targets and source locations.
//!
//! The crate also holds collective operations of a group, resource limits and cancellation.

#[macro_use]
mod words;

mod arg;
pub mod clock;
pub mod cooperative;
mod engine;
mod launch;
mod limits;
mod loc;
pub mod mangled_name;
mod param;
mod shape;
mod signature;
mod sm;
pub mod stream;
mod target;
mod types;
mod watchdog;
mod work;

pub use arg::Arg;
pub use engine::Engine;
pub use launch::{
    DEFAULT_BUDGET, GROUP_COUNT_OFFSET, GROUP_SIZE_OFFSET, ITEM_COUNT_OFFSET, MAX_BUFFERS, MAX_LOCAL_BYTES,
    MAX_PARAM_BYTES, PARAMS_OFFSET, POINTER_BYTES, buffer_base, buffer_near, buffer_of, buffer_slot, group_size,
    slot_of,
};
pub use limits::{Exceeded, Limits};
pub use loc::Loc;
pub use param::{Alias, Direction, ParamKind};
pub use shape::{Axis, ItemName, ItemPosition, Shape, ShapeError};
pub use signature::{Contents, Param, Signature, SignatureError};
pub use sm::Sm;
pub use target::{Descriptor, KernelFormat, Target};
pub use types::{Elem, Type};
pub use watchdog::{CancelToken, Poll, Watchdog};
pub use work::{Stats, Work};
