//! halfbyte compiles kernels on packed half and byte vectors, from a small SSA text down to machine words, and runs those
//! words bit-exactly on any computer.
//!
//! ```
//! use halfbyte::{HALU, Module, Program, f16};
//!
//! let module = Module::parse(
//!     "kernel @scale(%a: f16x2, %x: inout f16x2) {
//!      ^entry:
//!        %i = item_id
//!        %v = load %x[%i]
//!        %r = fmul.f16x2 %a, %v
//!        store %r, %x[%i]
//!        ret
//!      }",
//! )?;
//! let program = Program::load(&module.compile(HALU)?.object)?;
//! let mut x = [1.0, 2.0, 3.0, 4.0].map(f16::from_f32);
//! program.launch("scale").arg([f16::from_f32(0.5); 2]).buffer(&mut x).run(2)?;
//! assert_eq!(x, [0.5, 1.0, 1.5, 2.0].map(f16::from_f32));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What programs mean is said by [`ir`], what words mean by [`isa`]. [`pipeline`] leads from the one to the other;
//! [`runtime`] executes words and knows nothing of the compiler.

mod error;
pub mod import_ptx;
pub mod intrinsics;
pub mod launch;
mod module;
pub mod pipeline;
mod program;
pub mod report;
pub mod target;
pub mod targets;

pub use error::{At, CompileError, Invalid, Limit, Refused, TooLarge};
pub use half::{bf16, f16};
pub use halfbyte_abi as abi;
pub use halfbyte_abi::{Sm, Target};
pub use halfbyte_emit as emit;
pub use halfbyte_ir as ir;
pub use halfbyte_isa as isa;
pub use halfbyte_isa::halu::TARGET as HALU;
pub use halfbyte_isa::ptx::target as ptx;
pub use halfbyte_isa::vp1::TARGET as VP1;
pub use halfbyte_lower as lower;
pub use halfbyte_runtime as runtime;
pub use module::{Module, Source, SourceMap, Verified};
pub use pipeline::Binary;
pub use program::{CallError, Data, Launch, Program};
pub use report::Report;
pub use targets::{TARGETS, TargetSet};
