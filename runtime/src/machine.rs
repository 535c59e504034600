//! What runs the kernels of an instruction set: the interface that each machine's folder implements.

use std::fmt::Debug;
use std::sync::Arc;

use halfbyte_abi::Target;
use halfbyte_isa::isa::{Isa, Words};
use halfbyte_isa::object::{KernelInfo, Loc};

use crate::launch::{Arg, Engine, LaunchError, Order, Stats};
use crate::load::Kernel;
use crate::native::Translation;

/// A machine: an instruction set, and what runs its kernels.
pub trait Machine: Debug + Sync {
    /// Its instruction set.
    fn isa(&self) -> &'static dyn Isa;

    /// Whether an engine runs its kernels.
    fn runs(&self, engine: Engine) -> bool;

    /// Makes a kernel ready to be run, once.
    ///
    /// # Errors
    /// Why its code does not fit what its object says of it.
    fn prepare(&self, info: &KernelInfo, words: &Words, locs: &[Loc]) -> Result<Arc<dyn Executable>, String>;
}

/// A kernel that is ready to be run. Clones of it share what is made at its first launch.
pub trait Executable: Debug + Send + Sync {
    /// Runs all work items of a launch, on an argument for each parameter that fits it.
    ///
    /// # Errors
    /// A trap: that of the lowest item that makes one. A limit that was met; what an engine cannot do.
    fn launch(&self, kernel: &Kernel, order: Order<'_>, args: &mut [Arg<'_>]) -> Result<Stats, LaunchError>;

    /// What it took to make native code, where there is some.
    fn translation(&self) -> Option<Translation> {
        None
    }
}

/// What is wrong with machine code of another instruction set.
pub(crate) const OTHER_CODE: &str = "its machine code is another instruction set's";

/// The machine of an instruction set that an object's target is one of.
pub(crate) fn of_code(machines: &[&'static dyn Machine], code: (u16, u16)) -> Option<(&'static dyn Machine, Target)> {
    machines.iter().find_map(|&machine| {
        let target = machine.isa().targets().iter().find(|target| target.code() == code)?;
        Some((machine, *target))
    })
}
