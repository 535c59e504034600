//! Module-scope variables: their addresses, and their contents, which persist between launches.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halfbyte_abi::{MAX_BUFFERS, buffer_base};
use halfbyte_isa::ptx::meaning::{CONST_SPACE, SHARED_WINDOW, function_address};
use halfbyte_isa::ptx::module::{AddressInitializer, Entry, Symbol, Variable};
use halfbyte_isa::ptx::program::{PlacedVariable, PlacedVariables};
use halfbyte_isa::ptx::text::ParsedFile;
use halfbyte_isa::ptx::types::Space;

use super::heap::{DeviceHeap, Heap};
use super::host_variables::{HostVariable, HostVariables};
use super::{Allocation, LoadError};

/// Buffer number of a file's first variable, unless a kernel has more parameters than this number.
/// The constant ensures that a variable has the same address in all kernels of a file.
const MIN_FIRST_BUFFER: usize = 64;

/// The variables of a module in global and constant memory, and the heap of `malloc`. Their contents persist between
/// launches. Kernels that are loaded with the same `Globals` share them.
///
/// The default `Globals` place the variables among the buffers of a launch. [`Globals::on_host`] places them and the
/// heap in memory of the process.
#[derive(Clone, Debug, Default)]
pub struct Globals {
    held: Arc<Placement>,
}

/// The memory that holds the variables of a module and the heap.
#[derive(Debug)]
enum Placement {
    /// Memory of the engine. A variable has the address of a buffer.
    Engine(Mutex<EngineMemory>),
    /// Memory of the process. A variable in global memory has its address in the process. A variable in constant
    /// memory has the address of a buffer in kernels, so that kernels can tell constant memory from global memory.
    Host(HostVariables, DeviceHeap),
}

/// The variables of a module and the heap in memory of the engine.
#[derive(Clone, Default, Debug)]
pub(super) struct EngineMemory {
    pub variables: VariableContents,
    pub heap: Heap,
}

impl Default for Placement {
    fn default() -> Placement {
        Placement::Engine(Mutex::default())
    }
}

impl Globals {
    /// Allocates and initialises all variables of a text in memory of the process, and creates a heap there. Kernels
    /// that are loaded with these variables can only be launched on memory of the process. The text must be the one
    /// that the kernels are loaded from.
    pub fn on_host(text: &ParsedFile) -> Globals {
        let variables = HostVariables::new(&text.module.variables, first_of(text));
        Globals { held: Arc::new(Placement::Host(variables, DeviceHeap::default())) }
    }

    /// Returns the memory of the variable with this name. Returns `None` if the text has no such variable in global or
    /// constant memory, or if the variables do not lie in memory of the process. The memory lives as long as one of
    /// these `Globals`, or a kernel that was loaded with them.
    pub fn allocation(&self, text: &ParsedFile, name: &str) -> Option<Allocation> {
        self.host()?.0.get(&number_of(text, name)?).map(HostVariable::allocation)
    }

    /// Returns a copy of the contents of the variable with this name. Returns `None` if the text has no such variable
    /// in global or constant memory, or if the variables lie in memory of the process.
    pub fn contents(&self, text: &ParsedFile, name: &str) -> Option<Vec<u8>> {
        let (number, held) = (number_of(text, name)?, self.engine()?);
        let initial = || contents(&text.module.variables, number, &engine_addresses(first_of(text)));
        Some(held.variables.get(&number).cloned().unwrap_or_else(initial))
    }

    /// Replaces the contents of the variable with this name, for later launches. Returns `false`, without an effect, if
    /// [`Globals::contents`] returns `None` or contents of another size.
    pub fn write(&self, text: &ParsedFile, name: &str, bytes: &[u8]) -> bool {
        let (Some(number), Some(mut held)) = (number_of(text, name), self.engine()) else { return false };
        let size = text.module.variables.get(number as usize).map(|of| of.bytes.len());
        let fits = size == Some(bytes.len());
        if fits {
            held.variables.insert(number, bytes.to_vec());
        }
        fits
    }

    /// Returns `true` if the contents of a variable differ from its initialiser in the text. Also returns `true` if
    /// memory that a kernel has allocated with `malloc` has not been freed.
    pub fn are_written(&self, text: &ParsedFile) -> bool {
        let variables = &text.module.variables;
        match &*self.held {
            Placement::Engine(held) => {
                let EngineMemory { variables: held, heap } = &*locked(held);
                let start = engine_addresses(first_of(text));
                heap.has_blocks() || held.iter().any(|(&number, bytes)| *bytes != contents(variables, number, &start))
            }
            Placement::Host(held, heap) => {
                let start = held.addresses(first_of(text));
                // SAFETY: the memory is initialised. The read takes no lock, like the reads of kernels.
                heap.has_blocks()
                    || held.0.iter().any(|(&number, of)| unsafe { of.bytes() } != contents(variables, number, &start))
            }
        }
    }

    /// Returns a copy of the current contents, which later launches with `self` do not change. Returns the same
    /// variables if they lie in memory of the process.
    #[must_use]
    pub fn snapshot(&self) -> Globals {
        match self.engine() {
            Some(held) => Globals { held: Arc::new(Placement::Engine(Mutex::new(held.clone()))) },
            None => self.clone(),
        }
    }

    fn host(&self) -> Option<&HostVariables> {
        match &*self.held {
            Placement::Engine(_) => None,
            Placement::Host(held, _) => Some(held),
        }
    }

    /// Locks and returns the memory of the engine, or returns `None` if the variables lie in memory of the process.
    fn engine(&self) -> Option<MutexGuard<'_, EngineMemory>> {
        match &*self.held {
            Placement::Engine(held) => Some(locked(held)),
            Placement::Host(..) => None,
        }
    }
}

fn locked(held: &Mutex<EngineMemory>) -> MutexGuard<'_, EngineMemory> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The contents of variables, keyed by the variable's number in the module.
pub(super) type VariableContents = BTreeMap<u32, Vec<u8>>;

/// The module-scope variables that a kernel uses.
#[derive(Debug)]
pub(super) struct Variables {
    /// Numbers of the variables in the module, in ascending order.
    numbers: Vec<u32>,
    /// Buffer number of variable 0.
    first: usize,
    /// The variables of the module, which other kernels may share.
    globals: Globals,
}

impl Variables {
    /// Collects the variables that a kernel uses. Initialises each variable that `globals` does not contain yet.
    pub(super) fn new(text: &ParsedFile, entry: &Entry, globals: &Globals) -> Variables {
        let (numbers, first) = (entry.used_variables(), first_of(text));
        if let Some(mut held) = globals.engine() {
            for &number in &numbers {
                let initial = || contents(&entry.variables, number, &engine_addresses(first));
                held.variables.entry(number).or_insert_with(initial);
            }
        }
        Variables { numbers, first, globals: globals.clone() }
    }

    /// Returns the buffer number of a variable, or `None` if the kernel does not use the variable.
    pub(super) fn buffer(&self, number: u32) -> Option<usize> {
        self.numbers.binary_search(&number).ok().map(|_| self.first + number as usize)
    }

    /// Returns the address of a variable in kernels, or `None` if the kernel does not use the variable.
    pub(super) fn address(&self, number: u32) -> Option<u64> {
        let buffer = buffer_base(self.buffer(number)?);
        let held = self.host().and_then(|held| held.0.get(&number));
        Some(held.filter(|held| held.space != Space::Const).map_or(buffer, HostVariable::address))
    }

    /// Returns the variables in memory of the process, or `None` if they lie in memory of the engine.
    pub(super) fn host(&self) -> Option<&HostVariables> {
        self.globals.host()
    }

    /// Returns the heap in memory of the process, or `None` if the heap lies in memory of the engine.
    pub(super) fn host_heap(&self) -> Option<&DeviceHeap> {
        match &*self.globals.held {
            Placement::Engine(_) => None,
            Placement::Host(_, heap) => Some(heap),
        }
    }

    /// Locks and returns the variables and the heap in memory of the engine. A launch holds the lock until it ends.
    pub(super) fn lock_memory(&self) -> Option<MutexGuard<'_, EngineMemory>> {
        self.globals.engine()
    }
}

/// Returns the number of the variable in global or constant memory with this name.
fn number_of(text: &ParsedFile, name: &str) -> Option<u32> {
    let is_named = |of: &Variable| matches!(of.space, Space::Global | Space::Const) && of.name == name;
    text.module.variables.iter().position(is_named).map(|number| number as u32)
}

/// Returns the buffer number of variable 0.
fn first_of(text: &ParsedFile) -> usize {
    text.most_params().max(MIN_FIRST_BUFFER)
}

/// Rejects a kernel that uses a variable for which no address is left.
pub(super) fn check(text: &ParsedFile, entry: &Entry) -> Result<(), LoadError> {
    let most = MAX_BUFFERS.saturating_sub(first_of(text));
    match entry.used_variables().last() {
        Some(&number) if number as usize >= most => {
            let name = entry.variables.get(number as usize).map_or(String::new(), |variable| variable.name.clone());
            Err(LoadError::Variables { name, number: number + 1, most })
        }
        _ => Ok(()),
    }
}

/// Returns the addresses in kernels of the variables in memory of the engine. `first` is the buffer number of variable 0.
fn engine_addresses(first: usize) -> impl Fn(u32) -> u64 {
    move |number| buffer_base(first + number as usize)
}

/// Returns the initial contents of a variable. `start` returns the address in kernels of a variable.
pub(super) fn contents(variables: &[Variable], number: u32, start: &impl Fn(u32) -> u64) -> Vec<u8> {
    let Some(variable) = variables.get(number as usize) else { return Vec::new() };
    let mut bytes = variable.bytes.to_vec();
    for address in &variable.addresses {
        let at = address.at as usize;
        if let Some(place) = bytes.get_mut(at..at.saturating_add(8)) {
            place.copy_from_slice(&value_of(address, start).to_le_bytes());
        }
    }
    bytes
}

/// Returns the numeric value of an address that occurs in a variable's initialiser.
fn value_of(address: &AddressInitializer, start: &impl Fn(u32) -> u64) -> u64 {
    let start = match address.of {
        Symbol::Function(number) => function_address(number),
        Symbol::Variable(var) => {
            let base = start(var.number);
            if var.space == Space::Const && !address.is_generic { base ^ CONST_SPACE } else { base }
        }
    };
    start.wrapping_add_signed(address.offset)
}

/// Returns the variables that a kernel uses, with their addresses. `start` returns the address of a variable in
/// global or constant memory.
pub(super) fn bind(entry: &Entry, start: impl Fn(u32) -> Option<u64>) -> PlacedVariables {
    let places = entry.shared_layout().places;
    let address = |number: u32, of: &Variable| match of.space {
        Space::Shared => SHARED_WINDOW + places.get(&number).copied().unwrap_or(0),
        _ => start(number).unwrap_or(0),
    };
    let place = |number: u32| {
        let of = entry.variables.get(number as usize)?;
        Some((number, PlacedVariable { address: address(number, of), space: of.space }))
    };
    entry.used_variables().into_iter().filter_map(place).collect()
}
