//! Kernels as native objects, made ahead of time for this computer or another: [`object()`]. [`load`] has the same functions in the memory of
//! this process.
//!
//! The native engine takes items in rows, and calls on Rust for what items of a row do apart. An object calls nothing. In it items run one
//! after another, each to its end, with its values in registers: control flow is that of the machine. What instructions mean is said by the
//! same dataflows (`jit::Front`), and what Cranelift has no instruction for is code of the object (`soft`). Where the computer has wide
//! vectors, kernels that stream have the engine's loops for runs of items, too (`stream`); where it has vectors at all, others run eight
//! items side by side (`gang`), if nothing that they load may be what they store.

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
mod row;
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

/// How objects are made.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Backward branches that an item may take.
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
    /// The name of the kernel that it runs.
    pub kernel: String,
    /// Its own.
    pub symbol: String,
    /// The kernel's parameters that it has. The number of items, or grid and block, come before them, the trap record after them.
    pub parameters: Vec<Param>,
    /// Whether it takes grid and block: the kernel asks how items are put into groups.
    pub takes_grid: bool,
    /// Backward branches that an item may take.
    pub budget: u64,
    /// Bytes of memory that an item has of its own, on the stack.
    pub private_bytes: u32,
    /// How its items run in vectors.
    pub vectorized: Vectorized,
}

/// How the items of a function run in vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Vectorized {
    /// They do not.
    No,
    /// Eight side by side, from the start of the kernel to its end.
    Gangs,
}

/// An object.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Object {
    /// Its bytes, of the machine's format.
    pub bytes: Vec<u8>,
    /// Its functions, in the order in which they were asked for.
    pub functions: Vec<Function>,
}

/// A kernel, as its object describes it.
#[derive(Clone, Copy, Debug)]
pub struct Described<'a> {
    /// Its signature and limits.
    pub info: &'a KernelInfo,
    /// The source location of each instruction.
    pub locs: &'a [Loc],
    /// The accesses of the source that instructions combine.
    pub parts: &'a [PartialAccess],
}

impl<'a> Described<'a> {
    /// Returns the name and the parameters.
    pub fn signature(&self) -> &'a Signature {
        &self.info.signature
    }
}

/// A kernel of which an object can have a function.
pub trait Kernel {
    /// Returns what the kernel's object says of it.
    fn described(&self) -> Described<'_>;

    /// Adds the kernel's function to an object by `native` of its instruction set.
    ///
    /// # Errors
    /// The kernel does what no function of an object does.
    fn emit(&self, into: &mut Emit<'_, '_>) -> Result<(), NotMade>;
}

/// Makes an object of kernels, each with the name of its function.
///
/// # Errors
/// A kernel that cannot be one, or two of one name.
pub fn object(kernels: &[(&str, &impl Kernel)], machine: &Machine, options: &Options) -> Result<Object, Error> {
    let builder = ObjectBuilder::new(machine.isa.clone(), "halfbyte", default_libcall_names())?;
    let mut module = ObjectModule::new(builder);
    let functions = add_all(&mut module, machine, kernels, options)?;
    let bytes = module.finish().emit().map_err(|error| Error::Code(error.to_string()))?;
    Ok(Object { bytes, functions })
}

/// Makes functions of kernels in a module.
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

/// An object on its way, to which code that is ready to be run adds a function of itself.
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

/// Why code has added no function.
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
