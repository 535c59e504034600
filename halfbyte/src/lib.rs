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

pub mod import_ptx;
pub mod intrinsics;
pub mod launch;
pub mod pipeline;
mod program;
pub mod report;
pub mod target;
pub mod targets;

pub use half::{bf16, f16};
pub use halfbyte_abi as abi;
pub use halfbyte_abi::{Sm, Target};
pub use halfbyte_emit as emit;
pub use halfbyte_ir as ir;
pub use halfbyte_isa as isa;
pub use halfbyte_isa::halu::TARGET as HALU;
pub use halfbyte_isa::ptx::target as ptx;
pub use halfbyte_isa::vp1::TARGET as VP1;
pub use halfbyte_runtime as runtime;
pub use pipeline::Binary;
pub use program::{CallError, Data, Launch, Program};
pub use report::Report;
pub use targets::{TARGETS, TargetSet};

use ir::diag::Diagnostic;

/// Kernels with the text they come from.
#[derive(Clone, Debug)]
pub struct Module {
    file: String,
    text: String,
    ir: ir::Module,
}

impl Module {
    /// Reads a text and checks that its kernels are well formed.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(text: &str) -> Result<Module, Report> {
        Module::named("<text>", text)
    }

    /// Reads the text of a file, whose name messages and objects show.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn named(file: &str, text: impl Into<String>) -> Result<Module, Report> {
        let text = text.into();
        if u32::try_from(text.len()).is_err() {
            let message = format!("the text has {} bytes", text.len());
            let error = Diagnostic::new(ir::Span::default(), message).expected("less than 4 GiB");
            return Err(Report::new(file, "", vec![error]));
        }
        match ir::text::read(&text) {
            Ok(ir) => Ok(Module { file: file.to_owned(), text, ir }),
            Err(errors) => Err(Report::new(file, text, errors)),
        }
    }

    /// Reads the text of a file in the language that its name says: PTX where it ends in `.ptx`, else the IR.
    ///
    /// # Errors
    /// All that is wrong with it; kernels in PTX that the IR cannot say.
    pub fn open(file: &str, text: impl Into<String>, shape: import_ptx::Shape) -> Result<Module, Report> {
        if import_ptx::is_ptx(file) { import_ptx::import(file, &text.into(), shape) } else { Module::named(file, text) }
    }

    /// Kernels with the text of a file that they were made of, maybe in another language; places in them are places of that text.
    pub fn from_kernels(file: &str, text: &str, kernels: Vec<ir::Kernel>) -> Module {
        Module { file: file.to_owned(), text: text.to_owned(), ir: ir::Module { kernels } }
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The kernels.
    pub fn ir(&self) -> &ir::Module {
        &self.ir
    }

    /// Compiles all kernels by all passes.
    ///
    /// # Errors
    /// What the target cannot do.
    pub fn compile(&self, target: Target) -> Result<Binary, Report> {
        let options = pipeline::Options::new(target);
        let binary = pipeline::compile(self, &self.ir.kernels, &options, &mut |_| {});
        binary.map_err(|errors| Report::new(self.file.clone(), self.text.clone(), errors))
    }
}
