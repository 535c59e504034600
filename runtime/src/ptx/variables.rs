//! Module-scope variables: their addresses, and their contents, which persist between launches.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halfbyte_abi::{MAX_BUFFERS, buffer_base};
use halfbyte_isa::ptx::meaning::{CONST_SPACE, SHARED_WINDOW, function_address};
use halfbyte_isa::ptx::module::{AddressInitializer, Entry, Symbol, Variable};
use halfbyte_isa::ptx::program::{PlacedVariable, PlacedVariables};
use halfbyte_isa::ptx::text::ParsedFile;
use halfbyte_isa::ptx::types::Space;

use super::LoadError;

/// Buffer number of a file's first variable, unless a kernel has more parameters than this number.
/// The constant ensures that a variable has the same address in all kernels of a file.
const MIN_FIRST_BUFFER: usize = 64;

/// The contents of a module's variables, which persist between launches. Kernels that are loaded
/// with the same `Globals` share the variables.
#[derive(Clone, Debug, Default)]
pub struct Globals {
    held: Arc<Mutex<VariableContents>>,
}

impl Globals {
    /// Returns `true` if at least one variable has other contents than its initialiser in the text.
    pub fn are_written(&self, text: &ParsedFile) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let first = first_of(text);
        held.iter().any(|(&number, bytes)| *bytes != contents(&text.module.variables, number, first))
    }

    /// Returns a copy of the current contents, which later launches with `self` do not change.
    #[must_use]
    pub fn snapshot(&self) -> Globals {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Globals { held: Arc::new(Mutex::new(held)) }
    }
}

/// The contents of variables, keyed by the variable's number in the module.
type VariableContents = BTreeMap<u32, Vec<u8>>;

/// The module-scope variables that a kernel uses.
#[derive(Debug)]
pub(super) struct Variables {
    /// Numbers of the variables in the module, in ascending order.
    numbers: Vec<u32>,
    /// Buffer number of variable 0.
    first: usize,
    /// The contents of the variables, which other kernels may share.
    globals: Globals,
}

impl Variables {
    /// Collects the variables that a kernel uses. Initialises each variable that `globals` does not contain yet.
    pub(super) fn new(text: &ParsedFile, entry: &Entry, globals: &Globals) -> Variables {
        let (numbers, first) = (entry.used_variables(), first_of(text));
        let variables = Variables { numbers, first, globals: globals.clone() };
        let mut held = variables.lock_contents();
        for &number in &variables.numbers {
            held.entry(number).or_insert_with(|| contents(&entry.variables, number, first));
        }
        drop(held);
        variables
    }

    /// Returns the buffer number of a variable, or `None` if the kernel does not use the variable.
    pub(super) fn buffer(&self, number: u32) -> Option<usize> {
        self.numbers.binary_search(&number).ok().map(|_| self.first + number as usize)
    }

    /// Locks and returns the contents of all variables in `globals`. A launch holds the lock until it ends.
    pub(super) fn lock_contents(&self) -> MutexGuard<'_, VariableContents> {
        self.globals.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the buffer number of variable 0.
fn first_of(text: &ParsedFile) -> usize {
    text.most_params().max(MIN_FIRST_BUFFER)
}

/// Rejects a kernel that uses a variable for which no address is left.
pub(super) fn check(text: &ParsedFile, entry: &Entry) -> Result<(), LoadError> {
    let most = MAX_BUFFERS.saturating_sub(first_of(text));
    match entry.used_variables().last() {
        Some(&number) if number as usize >= most => Err(LoadError::Variables { number, most }),
        _ => Ok(()),
    }
}

/// Returns the initial contents of a variable. `first` is the buffer number of variable 0.
fn contents(variables: &[Variable], number: u32, first: usize) -> Vec<u8> {
    let Some(variable) = variables.get(number as usize) else { return Vec::new() };
    let mut bytes = variable.bytes.to_vec();
    for address in &variable.addresses {
        let at = address.at as usize;
        if let Some(place) = bytes.get_mut(at..at.saturating_add(8)) {
            place.copy_from_slice(&value_of(address, first).to_le_bytes());
        }
    }
    bytes
}

/// Returns the numeric value of an address that occurs in a variable's initialiser.
fn value_of(address: &AddressInitializer, first: usize) -> u64 {
    let start = match address.of {
        Symbol::Function(number) => function_address(number),
        Symbol::Variable(var) => {
            let base = buffer_base(first + var.number as usize);
            if var.space == Space::Const && !address.is_generic { base ^ CONST_SPACE } else { base }
        }
    };
    start.wrapping_add_signed(address.offset)
}

/// Returns the addresses of the variables that a kernel uses. `buffer` returns the buffer number of a variable.
pub(super) fn bind(entry: &Entry, buffer: impl Fn(u32) -> Option<usize>) -> PlacedVariables {
    let places = entry.shared_layout().places;
    let address = |number: u32, of: &Variable| match of.space {
        Space::Shared => SHARED_WINDOW + places.get(&number).copied().unwrap_or(0),
        _ => buffer(number).map_or(0, buffer_base),
    };
    let place = |number: u32| {
        let of = entry.variables.get(number as usize)?;
        Some((number, PlacedVariable { address: address(number, of), space: of.space }))
    };
    entry.used_variables().into_iter().filter_map(place).collect()
}
