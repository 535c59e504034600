//! The memory that a kernel declares, and what is watched in kernels whose items meet.

use halfbyte_abi::meet::{Place, Races, Strength, Touch};

use crate::array::{Placement, Space};
use crate::eval::launch::TrapKind;
use crate::eval::memory::{AccessSite, Refusal};
use crate::kernel::{Inst, Kernel, ValueDef};
use crate::op::Op;

/// Addresses that a space has to itself: less than any buffer's that [`buffer_base`](halfbyte_abi::buffer_base) gives.
const WINDOW: u64 = 1 << 36;

impl Space {
    /// The address of its first byte, where the evaluator has it.
    pub const fn base(self) -> u64 {
        match self {
            Space::Scratch => WINDOW,
            Space::Shared => 4 * WINDOW,
        }
    }

    /// Whether an address is nearer to this space than to anything else.
    const fn is_near(self, address: u64) -> bool {
        address.wrapping_sub(self.base()).wrapping_add(WINDOW / 2) < WINDOW + WINDOW / 2
    }
}

/// The space of the array by which an access is made, directly or at an offset that the kernel computes; none where the kernel does not
/// say.
pub fn array_space(kernel: &Kernel, inst: Inst) -> Option<Space> {
    match base_of(kernel, inst)? {
        ValueDef::Array(number) => kernel.arrays.get(number as usize).map(|array| array.space),
        _ => None,
    }
}

/// What an access starts from: the definition of its address, before what is added to it.
fn base_of(kernel: &Kernel, inst: Inst) -> Option<ValueDef> {
    let last = kernel.insts.get(inst)?.op.row().args.len().checked_sub(1)?;
    let mut def = kernel.values.get(*kernel.args(inst).get(last)?)?.def;
    // A chain of sums is no longer than the kernel.
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

/// The space that an access which traps at an address belongs to: that of the array by which it is made, or, made by a computed address,
/// the one in which that lies; none of buffers.
pub fn space_of(kernel: &Kernel, inst: Inst, address: u64) -> Option<Space> {
    match base_of(kernel, inst) {
        Some(ValueDef::Array(_)) => array_space(kernel, inst),
        Some(ValueDef::Param(_)) => None,
        _ => Space::ALL
            .into_iter()
            .find(|space| kernel.arrays.iter().any(|array| array.space == *space) && space.is_near(address)),
    }
}

/// What an access is to those that look for races.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub reads: bool,
    pub writes: bool,
    /// Of an atomic access.
    pub strong: Option<Strength>,
}

impl How {
    pub const READ: How = How { reads: true, writes: false, strong: None };
    pub const WRITE: How = How { reads: false, writes: true, strong: None };
}

/// Memory of the item that runs, and of its group.
pub(super) struct Own {
    pub scratch: Vec<u8>,
    pub shared: Vec<u8>,
    pub placements: [Placement; 2],
    /// Whether items meet.
    pub meets: bool,
    /// In a kernel whose items meet and are watched.
    pub races: Option<Races>,
    /// Whether memory has changed since somebody last asked.
    pub is_changed: bool,
}

impl Own {
    /// That of a kernel in groups of so many items, with so many bytes of shared memory beside what the kernel says; whether races are looked for.
    pub fn new(kernel: &Kernel, size: u32, shared: u32, watch: bool) -> Own {
        let meets = kernel_meets(kernel);
        let placements = Space::ALL.map(|space| kernel.placement(space));
        let [of_group, of_item] = [0, 1].map(|number: usize| placements.get(number).map_or(0, |of| of.bytes) as usize);
        Own {
            scratch: vec![0; of_item],
            shared: vec![0; of_group + shared as usize],
            placements,
            meets,
            races: (meets && watch).then(|| Races::new(size)),
            is_changed: false,
        }
    }

    /// The address of the array of that number.
    pub fn start(&self, space: Space, number: usize) -> u64 {
        let of = |(of, _): &(Space, &Placement)| *of == space;
        let placed = Space::ALL.into_iter().zip(&self.placements).find(of);
        space.base() + placed.and_then(|(_, placed)| placed.starts.get(number)).copied().unwrap_or(0)
    }

    /// Begins a group.
    pub fn begin(&mut self, group: u32) {
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

    /// The space that an access is in, where it is in one, and the place in it; what is wrong with it, where it is not all there.
    pub fn find(&self, at: AccessSite, bytes: u32) -> Option<Result<(Space, usize), TrapKind>> {
        let inside = |space: Space| {
            let held = if space == Space::Shared { &self.shared } else { &self.scratch };
            let start = at.address.wrapping_sub(space.base());
            let fits = start <= held.len() as u64 && held.len() as u64 - start >= u64::from(bytes);
            fits.then_some((space, start as usize))
        };
        match at.space {
            Some(space) => Some(inside(space).ok_or(TrapKind::OutOfBounds { address: at.address, bytes })),
            None => Space::ALL.into_iter().find_map(inside).map(Ok),
        }
    }

    /// The bytes there, of an access that may be made.
    pub fn reach(
        &mut self,
        (space, start): (Space, usize),
        at: AccessSite,
        bytes: u32,
        how: How,
    ) -> Result<&mut [u8], Refusal> {
        if let (Space::Shared, Some(races)) = (space, &mut self.races) {
            if how.reads && !races.are_written(start as u64, bytes as usize) {
                return Err(Refusal::Trap(TrapKind::Uninitialised { address: start as u64, bytes }));
            }
            races.access(Place::Shared, start as u64, bytes as usize, touch(at, how));
        }
        Ok(self.bytes(space).get_mut(start..start + bytes as usize).unwrap_or(&mut []))
    }
}

/// An access as those see it who look for races.
pub(super) fn touch(at: AccessSite, How { reads, writes, strong }: How) -> Touch {
    // What exchanges a value reads it as well, whatever it was.
    let reads = reads || strong.is_some() && at.changes;
    Touch { item: at.who.item(), inst: at.who.inst().as_u32(), writes, reads, strong }
}

/// Whether items of a kernel meet.
pub(super) fn kernel_meets(kernel: &Kernel) -> bool {
    let mut insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
    let shares = kernel.arrays.iter().any(|array| array.space == Space::Shared);
    shares || insts.any(|&inst| kernel.insts[inst].op.orders_memory())
}
