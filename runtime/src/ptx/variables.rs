//! The variables of a kernel's file: where they lie, and what they hold from launch to launch.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halfbyte_abi::{MAX_BUFFERS, buffer_base};
use halfbyte_isa::ptx::meaning::{CONST_SPACE, SHARED_WINDOW, function_address};
use halfbyte_isa::ptx::module::{AddressIn, AddressOf, Entry, Module, Variable};
use halfbyte_isa::ptx::types::Space;

use super::LoadError;
use halfbyte_isa::ptx::program::Bound;

/// The buffers before those of variables: as many parameters as nearly all kernels have, so that a variable lies at one address
/// for all kernels of a file.
const BEFORE: usize = 64;

/// What the variables of one text hold, by number: for all kernels that are loaded with it, from launch to launch.
#[derive(Clone, Debug, Default)]
pub struct Globals {
    held: Arc<Mutex<Held>>,
}

impl Globals {
    /// Whether a kernel has written to one, or one has been changed otherwise: it does not hold what the text says.
    pub fn are_written(&self, module: &Module) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let first = first_of(module);
        held.iter().any(|(&number, bytes)| {
            let entry = module.entries.iter().find(|entry| entry.variables.len() > number as usize);
            entry.is_none_or(|entry| *bytes != contents(entry, number, first))
        })
    }
}

/// What variables hold, by number.
type Held = BTreeMap<u32, Vec<u8>>;

/// The variables that a kernel names.
#[derive(Debug)]
pub(super) struct Variables {
    /// Their numbers in the file, ascending.
    numbers: Vec<u32>,
    /// The buffer of the variable of number 0.
    first: usize,
    /// What they hold.
    globals: Globals,
}

impl Variables {
    /// Those of a kernel of a file, which hold what that says where nothing has written to them.
    pub fn new(module: &Module, entry: &Entry, globals: &Globals) -> Variables {
        let (numbers, first) = (entry.used_variables(), first_of(module));
        let variables = Variables { numbers, first, globals: globals.clone() };
        let mut held = variables.held();
        for &number in &variables.numbers {
            held.entry(number).or_insert_with(|| contents(entry, number, first));
        }
        drop(held);
        variables
    }

    /// The buffer that a variable is, where the kernel names it.
    pub fn buffer(&self, number: u32) -> Option<usize> {
        self.numbers.binary_search(&number).ok().map(|_| self.first + number as usize)
    }

    /// What they hold, they and others of the text, for one launch at a time.
    pub fn held(&self) -> MutexGuard<'_, Held> {
        self.globals.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The buffer of the variable of number 0.
fn first_of(module: &Module) -> usize {
    let most = module.entries.iter().map(|entry| entry.params.len()).max();
    most.unwrap_or(0).max(BEFORE)
}

/// Refuses variables that come after all buffers that have addresses.
pub(super) fn check(module: &Module, entry: &Entry) -> Result<(), LoadError> {
    let most = MAX_BUFFERS.saturating_sub(first_of(module));
    match entry.used_variables().last() {
        Some(&number) if number as usize >= most => Err(LoadError::Variables { number, most }),
        _ => Ok(()),
    }
}

/// What a variable holds where nothing has written to it.
fn contents(entry: &Entry, number: u32, first: usize) -> Vec<u8> {
    let Some(variable) = entry.variables.get(number as usize) else { return Vec::new() };
    let mut bytes = variable.bytes.to_vec();
    for address in &variable.addresses {
        let at = address.at as usize;
        if let Some(place) = bytes.get_mut(at..at.saturating_add(8)) {
            place.copy_from_slice(&value_of(address, first).to_le_bytes());
        }
    }
    bytes
}

/// An address in a variable.
fn value_of(address: &AddressIn, first: usize) -> u64 {
    let start = match address.of {
        AddressOf::Function(number) => function_address(number),
        AddressOf::Variable(var) => {
            let base = buffer_base(first + var.number as usize);
            if var.space == Space::Const && !address.is_generic { base ^ CONST_SPACE } else { base }
        }
    };
    start.wrapping_add_signed(address.offset)
}

/// Addresses of the variables of a kernel's file, by number; `buffer` gives the buffer of a variable.
pub(super) fn bind(entry: &Entry, buffer: impl Fn(u32) -> Option<usize>) -> Vec<Bound> {
    let places = entry.shared_layout().places;
    let address = |number: u32, of: &Variable| match of.space {
        Space::Shared => SHARED_WINDOW + places.get(number as usize).copied().unwrap_or(0),
        _ => buffer(number).map_or(0, buffer_base),
    };
    let variables = (0..).zip(entry.variables.iter());
    variables.map(|(number, of)| Bound { address: address(number, of), space: of.space }).collect()
}
