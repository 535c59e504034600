//! Module-scope variables in memory of the process.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::collections::BTreeMap;
use std::ptr::NonNull;

use halfbyte_abi::buffer_base;
use halfbyte_isa::ptx::module::Variable;
use halfbyte_isa::ptx::types::Space;

use super::Allocation;
use super::variables::contents;

/// The variables of a module in global and constant memory, keyed by the variable's number in the module.
#[derive(Debug)]
pub(super) struct HostVariables(pub BTreeMap<u32, HostVariable>);

/// A variable in an allocation of its own.
#[derive(Debug)]
pub(super) struct HostVariable {
    start: NonNull<u8>,
    bytes: usize,
    layout: Layout,
    pub space: Space,
}

// SAFETY: the allocation belongs to the variable. Only launches on the memory of the process access it, and their
// callers exclude conflicting accesses.
unsafe impl Send for HostVariable {}
// SAFETY: as for `Send`.
unsafe impl Sync for HostVariable {}

impl HostVariables {
    /// Allocates and initialises the variables. `first` is the buffer number of variable 0.
    pub(super) fn new(variables: &[Variable], first: usize) -> HostVariables {
        let is_held = |of: &Variable| matches!(of.space, Space::Global | Space::Const);
        let all = (0..).zip(variables).filter(|(_, of)| is_held(of));
        let held = HostVariables(all.map(|(number, of)| (number, HostVariable::new(of))).collect());
        for (&number, of) in &held.0 {
            of.initialise(&contents(variables, number, &held.addresses(first)));
        }
        held
    }

    /// Returns the addresses of the variables in kernels. `first` is the buffer number of variable 0.
    pub(super) fn addresses(&self, first: usize) -> impl Fn(u32) -> u64 {
        move |number| {
            let held = self.0.get(&number).filter(|held| held.space != Space::Const);
            held.map_or_else(|| buffer_base(first + number as usize), HostVariable::address)
        }
    }

    /// Returns the variables in constant memory, each with its number and its contents.
    pub(super) fn constants(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let constants = self.0.iter().filter(|(_, held)| held.space == Space::Const);
        // SAFETY: kernels only read constant memory, and the caller of a launch excludes other writes.
        constants.map(|(&number, held)| (number, unsafe { held.bytes() }))
    }

    /// Returns the variable that contains an address of the process.
    pub(super) fn find(&self, address: u64) -> Option<Allocation> {
        let mut all = self.0.values().map(HostVariable::allocation);
        all.find(|of| address.checked_sub(of.start).is_some_and(|offset| offset < of.bytes))
    }
}

impl HostVariable {
    fn new(of: &Variable) -> HostVariable {
        let bytes = of.bytes.len();
        // The alignment is a power of two and at most 4096, so only a size near `isize::MAX` has no layout.
        let layout = Layout::from_size_align(bytes.max(1), of.alignment() as usize).unwrap_or(Layout::new::<u64>());
        // SAFETY: the size of the layout is not zero.
        let start = unsafe { alloc(layout) };
        let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
        HostVariable { start, bytes: bytes.min(layout.size()), layout, space: of.space }
    }

    /// Writes the contents. No other code may access the variable meanwhile.
    fn initialise(&self, contents: &[u8]) {
        let count = contents.len().min(self.bytes);
        // SAFETY: both ranges are valid for `count` bytes, and `contents` is an allocation of its own.
        unsafe { self.start.as_ptr().copy_from_nonoverlapping(contents.as_ptr(), count) };
    }

    /// Returns the address in the process.
    pub(super) fn address(&self) -> u64 {
        self.start.as_ptr().expose_provenance() as u64
    }

    /// Returns the address and the size in the process.
    pub(super) fn allocation(&self) -> Allocation {
        Allocation::new(self.address(), self.bytes as u64)
    }

    /// Returns the contents.
    ///
    /// # Safety
    /// No code may write the variable while the slice is alive.
    pub(super) unsafe fn bytes(&self) -> &[u8] {
        // SAFETY: the allocation is valid and initialised; the caller excludes writes.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for HostVariable {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}
