//! halfbyte compiles kernels on packed half and byte vectors, from a small SSA text down to machine code, and runs those
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
//! program.kernel("scale")?.bind(([f16::from_f32(0.5); 2], &mut x))?.run(2)?;
//! assert_eq!(x, [0.5, 1.0, 1.5, 2.0].map(f16::from_f32));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What programs mean is said by [`ir`], what words mean by [`isa`]. [`pipeline`] leads from the one to the other;
//! [`runtime`] executes words and knows nothing of the compiler.
//!
//! # Features
//!
//! On unless turned off is what is pure Rust and runs everywhere: a launch is interpreted on the caller's thread. What makes native
//! code, starts threads or loads a driver is asked for by name.
//!
//! | feature | brings | on |
//! |---|---|---|
//! | `halu`, `vp1`, `ptx` | the target, in [`TARGETS`] | yes |
//! | `typed` | [`Program`]: launches on slices of numbers, [`f16`](struct@f16) and [`bf16`] among them | yes |
//! | `snippets` | reports that show the lines they are about | yes |
//! | `import-ptx` | PTX in: `import_ptx` | |
//! | `jit` | [`Engine::Jit`]: native code, made by Cranelift | |
//! | `aot` | `native`: kernels as objects with a C interface, for this computer and others | |
//! | `cuda` | [`Engine::Cuda`]: PTX on a GPU | |
//! | `parallel` | launches on several threads | |
//! | `cache` | [`Cache`]: programs by what they were compiled from; `import_ptx::Cache`: kernels by their texts | |
//! | `args` | [`args`]: arguments as text and files, bound to parameters | |
//! | `codegen` | [`pipeline`], and launches on bytes for targets of one's own; every target brings it | with a target |
//!
//! Without any of them a text is read, verified and evaluated ([`ir`]). An engine that was not built refuses a launch and names its
//! feature.

#[cfg(feature = "args")]
pub mod args;
#[cfg(feature = "cache")]
mod cache;
#[cfg(feature = "typed")]
mod data;
#[cfg(feature = "codegen")]
mod error;
pub mod files;
#[cfg(feature = "import-ptx")]
pub mod import_ptx;
pub mod include;
#[cfg(feature = "codegen")]
pub mod intrinsics;
#[cfg(feature = "codegen")]
pub mod launch;
mod module;
#[cfg(feature = "aot")]
pub mod native;
#[cfg(feature = "codegen")]
pub mod pipeline;
#[cfg(feature = "typed")]
mod program;
#[cfg(feature = "codegen")]
mod refused;
pub mod report;
mod source;
#[cfg(feature = "codegen")]
pub mod target;
#[cfg(feature = "codegen")]
pub mod targets;
#[cfg(feature = "typed")]
mod typed_args;

#[cfg(feature = "cache")]
pub use cache::Cache;
#[cfg(feature = "typed")]
pub use data::Data;
#[cfg(feature = "codegen")]
pub use error::{At, CompileError, Invalid, Limit, Refused, TooLarge, WriteError};
#[cfg(feature = "typed")]
pub use half::{bf16, f16};
pub use halfbyte_abi as abi;
pub use halfbyte_abi::{Shape, Sm, Target};
#[cfg(feature = "codegen")]
pub use halfbyte_emit as emit;
pub use halfbyte_ir as ir;
#[cfg(feature = "codegen")]
pub use halfbyte_isa as isa;
#[cfg(feature = "halu")]
pub use halfbyte_isa::halu::TARGET as HALU;
#[cfg(feature = "ptx")]
pub use halfbyte_isa::ptx::target as ptx;
#[cfg(feature = "vp1")]
pub use halfbyte_isa::vp1::TARGET as VP1;
pub use halfbyte_lang as lang;
pub use halfbyte_lower as lower;
#[cfg(feature = "codegen")]
pub use halfbyte_runtime as runtime;
#[cfg(feature = "codegen")]
pub use halfbyte_runtime::{Engine, ThreadPool};
pub use module::{Module, RefusedKernel, Verified};
#[cfg(feature = "codegen")]
pub use pipeline::Binary;
#[cfg(feature = "typed")]
pub use program::{Bound, CallError, Kernel, Program};
pub use report::Report;
pub use source::{Source, SourceMap};
#[cfg(feature = "codegen")]
pub use targets::{TARGETS, TargetSet};
#[cfg(feature = "typed")]
pub use typed_args::{Arg, Args};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
