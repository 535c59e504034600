//! The kernel language of halfbyte.
//!
//! Expressions, variables, loops, functions and structures are lowered to the [IR](halfbyte_ir). A
//! kernel without `@` before its name is written in the language. A kernel with `@` is plain IR and
//! is read unchanged. [docs/language.md](https://docs.rs/halfbyte) describes the language.
//!
//! ```
//! let text = "kernel axpy(a: f16x2, x: in f16x2, y: inout f16x2) {
//!     let i = item_id()
//!     y[i] = ffma(a, x[i], y[i])
//! }";
//! let module = halfbyte_lang::read(text, "axpy.hb", &halfbyte_lang::StdOnly).map_err(|errors| errors[0].to_string())?;
//! assert!(module.to_string().contains("ffma.f16x2 %a"));
//! # Ok::<(), String>(())
//! ```

mod ast;
mod detect;
mod files;
mod format;
mod lexer;
mod lower;
mod module;
mod outline;
mod parse;
mod std_lib;
mod symbols;

pub use detect::is_language;
pub use files::{Included, Includes, StdOnly};
pub use format::format;
pub use module::read;
pub use outline::{Item, Name, outline};
pub use std_lib::library;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
