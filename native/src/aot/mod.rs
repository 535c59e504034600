//! Ahead-of-time compilation of kernels to native objects, for this computer or another:
//! [`object()`]. [`load`] compiles the same functions to the memory of this process.
//!
//! The native engine runs items in rows, and calls Rust functions for divergent items. An object
//! calls nothing. Its items run one after another, each to its end, with values in registers and
//! with the control flow of the machine. The same dataflows (`jit::Front`) define the semantics of
//! instructions. Operations without a Cranelift instruction are code of the object (`soft`). On
//! machines with vectors, eight items run together (`gang`), if no buffer that they load from can
//! be a buffer that they store to.

mod cover;
mod error;
mod gang;
mod item;
mod kernel;
mod known;
mod library;
mod loaded;
mod machine;
mod memory;
mod runs;
mod scalar;
mod soft;
mod source;
mod status;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use cranelift_module::{Module, default_libcall_names};
use cranelift_object::{ObjectBuilder, ObjectModule};
use halfbyte_abi::{DEFAULT_BUDGET, Param, Signature};
use halfbyte_isa::object::{KernelInfo, Loc, PartialAccess};

pub use error::{Error, Refusal};
use kernel::Stop;
use library::Library;
pub use loaded::{Loaded, Trapped, load};
pub use machine::{Machine, MachineError};
pub(crate) use source::{Bank, Count, Source};
pub use status::Status;

/// Options of ahead-of-time compilation.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Maximum number of backward branches of an item.
    pub budget: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { budget: DEFAULT_BUDGET }
    }
}

/// A function of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Function {
    /// Name of the kernel.
    pub kernel: String,
    /// Name of the function.
    pub symbol: String,
    /// Parameters of the kernel that the function takes. The number of items, or grid and block, precede them. The trap
    /// record follows them.
    pub parameters: Vec<Param>,
    /// `true` if the function takes grid and block, because the kernel reads the grouping of the items.
    pub takes_grid: bool,
    /// Maximum number of backward branches of an item.
    pub budget: u64,
    /// Number of bytes of local memory of an item, on the stack.
    pub private_bytes: u32,
    /// Vectorisation of the items.
    pub vectorized: Vectorized,
}

/// Vectorisation of the items of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Vectorized {
    /// Items run one after another.
    No,
    /// Eight items run together, from the start of the kernel to its end.
    Gangs,
}

/// A native object.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Object {
    /// Bytes of the object file, in the format of the machine.
    pub bytes: Vec<u8>,
    /// Functions of the object, in the requested order.
    pub functions: Vec<Function>,
}

/// Description of a kernel by its object.
#[derive(Clone, Copy, Debug)]
pub struct Described<'a> {
    /// Signature and limits.
    pub info: &'a KernelInfo,
    /// Source location of each instruction.
    pub locs: &'a [Loc],
    /// Accesses of the source that instructions combine.
    pub parts: &'a [PartialAccess],
}

impl<'a> Described<'a> {
    /// Returns the name and the parameters.
    pub fn signature(&self) -> &'a Signature {
        &self.info.signature
    }
}

/// A kernel that can be compiled to a function of an object.
pub trait Kernel {
    /// Returns the description of the kernel.
    fn described(&self) -> Described<'_>;

    /// Adds the kernel's function to an object, by the function `native` of its instruction set.
    ///
    /// # Errors
    /// The kernel does something that no function of an object supports.
    fn emit(&self, into: &mut Emit<'_, '_>) -> Result<(), NotMade>;
}

/// Compiles kernels to an object, each with the name of its function.
///
/// # Errors
/// A kernel is not supported, or two functions have the same name.
pub fn object(kernels: &[(&str, &impl Kernel)], machine: &Machine, options: &Options) -> Result<Object, Error> {
    let builder = ObjectBuilder::new(machine.isa.clone(), "halfbyte", default_libcall_names())?;
    let mut module = ObjectModule::new(builder);
    let functions = add_all(&mut module, machine, kernels, options)?;
    let bytes = module.finish().emit().map_err(|error| Error::Code(error.to_string()))?;
    Ok(Object { bytes, functions })
}

/// Compiles kernels to functions of a module.
fn add_all(
    module: &mut dyn Module,
    machine: &Machine,
    kernels: &[(&str, &impl Kernel)],
    options: &Options,
) -> Result<Vec<Function>, Error> {
    let (mut names, mut functions) = (BTreeSet::new(), Vec::new());
    let library = Library::new(module, machine);
    let mut emit = Emit { library, options, symbol: "", function: None };
    for &(symbol, kernel) in kernels {
        if !names.insert(symbol) {
            return Err(Error::Symbol(symbol.to_owned()));
        }
        emit.symbol = symbol;
        let made = kernel.emit(&mut emit);
        let kernel = kernel.described();
        let refused = |word: u32, reason| {
            let line = kernel.locs.get(word as usize).map_or(0, |loc| loc.line);
            Error::Refused { kernel: kernel.signature().name().to_owned(), line, reason }
        };
        match made {
            Ok(()) => functions.extend(emit.function.take()),
            Err(NotMade(Stop::Refused(word, reason))) => return Err(refused(word, reason)),
            Err(NotMade(Stop::Code(error))) => return Err(error.into()),
        }
    }
    emit.library.finish()?;
    Ok(functions)
}

/// Builder of an object, to which kernels add their functions.
pub struct Emit<'a, 'm> {
    library: Library<'m>,
    options: &'a Options,
    symbol: &'a str,
    function: Option<Function>,
}

impl std::fmt::Debug for Emit<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emit").field("symbol", &self.symbol).finish_non_exhaustive()
    }
}

/// Reason why a kernel has added no function.
pub struct NotMade(Stop);

impl std::fmt::Debug for NotMade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NotMade")
    }
}

impl From<Refusal> for NotMade {
    fn from(reason: Refusal) -> NotMade {
        NotMade(Stop::Refused(0, reason))
    }
}

impl Emit<'_, '_> {
    /// Adds a kernel's function.
    pub(crate) fn add(&mut self, kernel: Described<'_>, source: &Source<'_>) -> Result<(), NotMade> {
        let made = kernel::add(&mut self.library, self.symbol, kernel, source, self.options).map_err(NotMade)?;
        self.function = Some(made);
        Ok(())
    }
}
