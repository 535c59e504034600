//! Memory that a kernel declares, and race detection for kernels with barriers, collective operations or shared memory.

use halfbyte_abi::cooperative::{AccessInfo, RaceCheck, RaceDetector, SharedLocation, Strength};

use crate::array::{Placement, Space};
use crate::eval::launch::TrapKind;
use crate::eval::memory::{AccessError, AccessSite};
use crate::kernel::{Inst, Kernel, ValueDef};
use crate::op::Op;

/// Size in bytes of the address range of a memory space. The address ranges of all memory spaces
/// are below the buffer addresses of [`buffer_base`](halfbyte_abi::buffer_base).
const WINDOW: u64 = 1 << 36;

impl Space {
    /// Returns the address at which the memory space starts in the evaluator.
    pub const fn base(self) -> u64 {
        match self {
            Space::Scratch => WINDOW,
            Space::Shared => 4 * WINDOW,
        }
    }

    /// Returns `true` if an address is nearer to this memory space than to any other memory.
    const fn is_near(self, address: u64) -> bool {
        address.wrapping_sub(self.base()).wrapping_add(WINDOW / 2) < WINDOW + WINDOW / 2
    }
}

/// Returns the memory space of the array that is the base of an access, directly or with added
/// offsets. Returns `None` if the base is not an array.
pub fn array_space(kernel: &Kernel, inst: Inst) -> Option<Space> {
    match base_of(kernel, inst)? {
        ValueDef::Array(number) => kernel.arrays.get(number as usize).map(|array| array.space),
        _ => None,
    }
}

/// Returns the definition of the address from which an access's base is computed by `ptr_add` ops.
fn base_of(kernel: &Kernel, inst: Inst) -> Option<ValueDef> {
    let last = kernel.insts.get(inst)?.op.row().args.len().checked_sub(1)?;
    let mut def = kernel.values.get(*kernel.args(inst).get(last)?)?.def;
    // The iteration count is bounded, because a malformed kernel could contain a cycle.
    for _ in 0..kernel.insts.len() {
        match def {
            ValueDef::Result(sum) if kernel.insts.get(sum)?.op == Op::PtrAdd => {
                def = kernel.values.get(*kernel.args(sum).first()?)?.def;
            }
            _ => break,
        }
    }
    Some(def)
}

/// Returns the memory space of a trapping access: that of the array on which its address is based. If the base is
/// neither an array nor a parameter, returns the memory space near the address. Returns `None` for a buffer access.
pub fn space_of(kernel: &Kernel, inst: Inst, address: u64) -> Option<Space> {
    match base_of(kernel, inst) {
        Some(ValueDef::Array(_)) => array_space(kernel, inst),
        Some(ValueDef::Param(_)) => None,
        _ => Space::ALL
            .into_iter()
            .find(|space| kernel.arrays.iter().any(|array| array.space == *space) && space.is_near(address)),
    }
}

/// Properties of an access for race detection.
#[derive(Clone, Copy)]
pub(super) struct AccessProperties {
    pub reads: bool,
    pub writes: bool,
    /// Strength of an atomic access.
    pub strong: Option<Strength>,
}

impl AccessProperties {
    pub(super) const READ: AccessProperties = AccessProperties { reads: true, writes: false, strong: None };
    pub(super) const WRITE: AccessProperties = AccessProperties { reads: false, writes: true, strong: None };
}

/// Local memory of the running item and shared memory of its group.
pub(super) struct DeclaredMemory {
    pub scratch: Vec<u8>,
    pub shared: Vec<u8>,
    pub placements: [Placement; 2],
    /// `true` if the kernel has barriers, collective operations, atomic accesses, fences or shared memory.
    pub is_cooperative: bool,
    /// Race detector. Present if `is_cooperative` is set and race detection is enabled.
    pub races: Option<RaceDetector>,
    /// `true` if an item has changed memory since this flag was last cleared.
    pub is_changed: bool,
}

impl DeclaredMemory {
    /// Creates the memory of a kernel in groups of `size` items, with `shared` bytes of dynamic
    /// shared memory.
    pub(super) fn new(kernel: &Kernel, size: u32, shared: u32, races: RaceCheck) -> DeclaredMemory {
        let is_cooperative = is_cooperative(kernel);
        let placements = Space::ALL.map(|space| kernel.placement(space));
        let [of_group, of_item] = [0, 1].map(|number: usize| placements.get(number).map_or(0, |of| of.bytes) as usize);
        DeclaredMemory {
            scratch: vec![0; of_item],
            shared: vec![0; of_group + shared as usize],
            placements,
            is_cooperative,
            races: (is_cooperative && races.is_on()).then(|| RaceDetector::new(size, races)),
            is_changed: false,
        }
    }

    /// Returns the address of the array with number `number`.
    pub(super) fn start(&self, space: Space, number: usize) -> u64 {
        let of = |(of, _): &(Space, &Placement)| *of == space;
        let placed = Space::ALL.into_iter().zip(&self.placements).find(of);
        space.base() + placed.and_then(|(_, placed)| placed.starts.get(number)).copied().unwrap_or(0)
    }

    /// Starts a group: clears shared memory and resets the race detector for the group.
    pub(super) fn begin(&mut self, group: u32) {
        self.shared.fill(0);
        if let Some(races) = &mut self.races {
            races.begin(group);
        }
    }

    fn bytes(&mut self, space: Space) -> &mut Vec<u8> {
        match space {
            Space::Shared => &mut self.shared,
            Space::Scratch => &mut self.scratch,
        }
    }

    /// Returns the memory space of an access and the offset in it. Returns `None` if the access is
    /// in no memory space, or an error if it is partly outside the memory space of its array.
    pub(super) fn find(&self, at: AccessSite, bytes: u32) -> Option<Result<(Space, usize), TrapKind>> {
        let inside = |space: Space| {
            let held = if space == Space::Shared { &self.shared } else { &self.scratch };
            let start = at.address.wrapping_sub(space.base());
            let fits = start <= held.len() as u64 && held.len() as u64 - start >= u64::from(bytes);
            fits.then_some((space, start as usize))
        };
        match at.space {
            Some(space) => Some(inside(space).ok_or(TrapKind::OutOfBounds { address: at.address, bytes })),
            // An atomic read-modify-write cannot access the memory of one item.
            None => Space::ALL.into_iter().find_map(inside).map(|found| match found {
                (Space::Scratch, _) if at.changes => Err(TrapKind::OutOfBounds { address: at.address, bytes }),
                found => Ok(found),
            }),
        }
    }

    /// Returns the bytes of a valid access, and records it for race detection. `new` is the value of a weak store.
    pub(super) fn reach(
        &mut self,
        (space, start): (Space, usize),
        at: AccessSite,
        bytes: u32,
        how: AccessProperties,
        new: Option<&[u8]>,
    ) -> Result<&mut [u8], AccessError> {
        if let (Space::Shared, Some(races)) = (space, &mut self.races) {
            if how.reads && !races.are_written(start as u64, bytes as usize) {
                return Err(AccessError::Trap(TrapKind::Uninitialised { address: start as u64, bytes }));
            }
            let keeps_value = new.is_some() && new == self.shared.get(start..start + bytes as usize);
            races.access(SharedLocation::Shared, start as u64, bytes as usize, touch(at, how, keeps_value));
        }
        Ok(self.bytes(space).get_mut(start..start + bytes as usize).unwrap_or(&mut []))
    }
}

/// Converts an access to the form that the race detector takes. `keeps_value` is `true` for a weak
/// store of the value that memory has already.
pub(super) fn touch(
    at: AccessSite,
    AccessProperties { reads, writes, strong }: AccessProperties,
    keeps_value: bool,
) -> AccessInfo {
    // An atomic exchange also reads memory, although the old value does not affect the new one.
    let reads = reads || strong.is_some() && at.changes;
    AccessInfo { item: at.who.item(), inst: at.who.inst().as_u32(), writes, reads, strong, keeps_value }
}

/// Returns `true` if a kernel has shared memory, or ops that order memory: barriers, collective
/// operations, atomic accesses or fences.
pub(super) fn is_cooperative(kernel: &Kernel) -> bool {
    let mut insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
    let shares = kernel.arrays.iter().any(|array| array.space == Space::Shared);
    shares || insts.any(|&inst| kernel.insts[inst].op.orders_memory())
}
