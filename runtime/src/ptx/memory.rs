//! The memory spaces of a PTX thread, and the checks of each access.

use std::collections::BTreeMap;

use arrayvec::ArrayVec;
use halfbyte_abi::cooperative::{self, AccessInfo, RaceDetector, Schedule, SharedLocation, Strength};
use halfbyte_abi::{Alias, Direction, buffer_base, buffer_of, buffer_slot};
use halfbyte_isa::ptx::meaning::{CONST_SPACE, LOCAL_WINDOW, Location, PARAM_WINDOW, SHARED_WINDOW, WINDOW_BYTES};
use halfbyte_isa::ptx::program::PlacedVariables;
use halfbyte_isa::ptx::special::SharedMemory;
use halfbyte_isa::ptx::types::Space as VariableSpace;

use super::heap::LaunchHeap;
use super::load_findings::InitialisationCheck;
use super::print::Print;
use super::stack::Stack;
use super::trace::Tracer;
use halfbyte_isa::buffers::{Buffer, Buffers, Bytes, range, range_mut};
use halfbyte_isa::trap::{Access, Near, Space, TrapKind};
use halfbyte_native::host::{Found, HostMemory};

/// The memory of a PTX launch.
pub(super) struct Memory<'a> {
    /// The bytes of each parameter, indexed by parameter.
    pub params: Vec<Vec<u8>>,
    /// The alias parameters, which hold addresses in the buffers of other parameters.
    #[cfg_attr(
        not(any(feature = "cuda", feature = "jit")),
        expect(dead_code, reason = "a GPU has addresses of its own")
    )]
    pub aliases: Vec<Alias>,
    /// Address of each parameter in parameter memory.
    pub param_places: Vec<u64>,
    /// Global memory: the buffers of the launch.
    pub buffers: Buffers<'a>,
    /// The memory of the process, if the kernel accesses it by raw pointers. It replaces all global
    /// memory except module-scope variables, the grid workspace and a heap in memory of the engine.
    pub host: Option<&'a HostMemory<'a>>,
    /// Cache of the host allocations that the interpreter has looked up.
    pub found: Found,
    /// The heap of `malloc`.
    pub heap: LaunchHeap<'a>,
    /// The check for loads of uninitialised memory of the process, if the launch has one.
    pub initialisation: Option<InitialisationCheck<'a>>,
    /// The module-scope variables that the kernel uses.
    pub variables: PlacedVariables,
    /// The memory space of each variable in global or constant memory, keyed by buffer number. The
    /// grid workspace counts as a variable in global memory.
    pub variable_buffers: BTreeMap<usize, VariableSpace>,
    /// Address of the grid workspace of a cooperative launch; 0 for other launches.
    pub workspace: u64,
    /// Local memory of the running item.
    pub stack: Stack,
    /// Layout of the shared memory of a block.
    pub block_memory: SharedMemory,
    /// Shared memory of the running block.
    pub shared: Vec<u8>,
    /// The race detector, or `None` if the launch does not detect races.
    pub races: Option<RaceDetector>,
    /// The order in which the threads of a block and the blocks of the launch run.
    pub schedule: Schedule,
    /// Number, in the launch, of the running item.
    pub item: u32,
    /// `true` if a store has changed memory since this flag was last set to `false`.
    pub is_changed: bool,
    /// Receiver of the kernels' `vprintf` output.
    pub print: Option<Print<'a>>,
    /// Recorder of the trace of one item, if any.
    pub tracer: Option<Tracer<'a>>,
}

/// The memory space in the trap of an invalid parameter access: constant bank 0.
const PARAM: Space = Space::Constant(0);

/// The instruction that makes an access, with the memory order of the access.
#[derive(Clone, Copy, Default)]
pub(super) struct AccessOrigin {
    /// Address of the instruction in the program. `None` for an access of the engine itself, which may not reach the
    /// padding of an allocation.
    pub address: Option<usize>,
    /// Memory order and scope of a strong access; `None` for a weak access.
    pub strong: Option<Strength>,
}

/// The effect of an access, for race detection.
#[derive(Clone, Copy)]
struct AccessKind {
    reads: bool,
    writes: bool,
    /// `true` for a store that does not change the contents of memory.
    keeps_value: bool,
}

impl AccessKind {
    const LOAD: AccessKind = AccessKind { reads: true, writes: false, keeps_value: false };
}

/// An address in a known memory space.
#[derive(Clone, Copy)]
pub(super) enum ResolvedAddress {
    Global(u64),
    Local(u64),
    Shared(u64),
    Param(u64),
    /// The number of a parameter, and the byte offset from its start.
    Parameter(u32, u64),
}

impl<'a> Memory<'a> {
    /// Creates the memory of a launch before its first item. Race detection is off.
    pub(super) fn new(
        params: Vec<Vec<u8>>,
        param_places: Vec<u64>,
        buffers: Buffers<'a>,
        variables: PlacedVariables,
    ) -> Memory<'a> {
        let bound = variables.values().filter(|bound| bound.space != VariableSpace::Shared);
        let variable_buffers = bound.filter_map(|bound| Some((buffer_slot(bound.address)?, bound.space))).collect();
        Memory {
            params,
            aliases: Vec::new(),
            param_places,
            buffers,
            host: None,
            found: Found::default(),
            heap: LaunchHeap::None,
            initialisation: None,
            variables,
            variable_buffers,
            workspace: 0,
            stack: Stack::default(),
            block_memory: SharedMemory::default(),
            shared: Vec::new(),
            races: None,
            schedule: Schedule::default(),
            item: 0,
            is_changed: false,
            print: None,
            tracer: None,
        }
    }

    /// Makes the launch cooperative: adds a buffer for the grid workspace, at the first unused
    /// buffer number after those of the parameters.
    pub(super) fn make_cooperative(&mut self, workspace: &'a mut [u8]) {
        let all = &mut self.buffers.0;
        let first = self.params.len();
        let slot = (first..all.len()).find(|&slot| all.get(slot).is_some_and(Option::is_none));
        let slot = slot.unwrap_or(all.len().max(first));
        if all.len() <= slot {
            all.resize_with(slot + 1, || None);
        }
        if let Some(buffer) = all.get_mut(slot) {
            *buffer =
                Some(Buffer { name: "grid workspace", direction: Direction::InOut, bytes: Bytes::Mutable(workspace) });
        }
        self.workspace = buffer_base(slot);
        // With this entry, an access to the workspace uses the buffer instead of the memory of the
        // process.
        self.variable_buffers.insert(slot, VariableSpace::Global);
    }

    /// Returns `true` if the launch is cooperative.
    pub(super) fn is_cooperative(&self) -> bool {
        self.workspace != 0
    }

    /// Returns `true` if a generic address points to a variable in constant memory.
    pub(super) fn is_constant(&self, address: u64) -> bool {
        buffer_slot(address).is_some_and(|buffer| self.is_constant_buffer(buffer))
    }

    /// Returns `true` if a buffer is a variable in constant memory.
    pub(super) fn is_constant_buffer(&self, buffer: usize) -> bool {
        self.variable_buffers.get(&buffer) == Some(&VariableSpace::Const)
    }

    /// Loads `count` bytes from a location.
    pub(super) fn load(&mut self, place: Location<u32>, count: usize, by: AccessOrigin) -> Result<&[u8], TrapKind> {
        let at = self.at(Access::Load, place, count)?;
        self.trace_access(at, count, [true, false]);
        let out_of_bounds = |space, address| outside(Access::Load, space, address, count);
        match at {
            // The loader has checked the offsets of parameter accesses.
            ResolvedAddress::Parameter(number, offset) => {
                let held = self.params.get(number as usize).map_or(&[][..], Vec::as_slice);
                range(held, offset, count).ok_or(out_of_bounds(PARAM, offset))
            }
            ResolvedAddress::Param(address) => self.at_param(address, count).ok_or(out_of_bounds(PARAM, address)),
            ResolvedAddress::Local(address) => {
                self.stack.get(address, count).ok_or(out_of_bounds(Space::Local, address))
            }
            ResolvedAddress::Shared(address) => {
                self.in_shared(Access::Load, address, count)?;
                self.are_initialised(address, count)?;
                self.note(at, count, by, AccessKind::LOAD);
                Ok(range(&self.shared, address, count).unwrap_or_default())
            }
            ResolvedAddress::Global(address) => {
                self.in_global(Access::Load, address, count, by)?;
                self.check_initialised(address, count, by);
                self.note(at, count, by, AccessKind::LOAD);
                match self.host_of(address) {
                    // SAFETY: `in_global` has checked that these bytes may be accessed.
                    Some(host) => Ok(unsafe { host.get(address, count) }),
                    None => Ok(self.engine_bytes(address, count).unwrap_or_default()),
                }
            }
        }
    }

    /// Stores bytes at a location.
    pub(super) fn store(&mut self, place: Location<u32>, bytes: &[u8], by: AccessOrigin) -> Result<(), TrapKind> {
        let at = self.check_store(place, bytes.len())?;
        self.trace_access(at, bytes.len(), [false, true]);
        let keeps_value = self.bytes_mut(at, bytes.len()) == bytes;
        self.note(at, bytes.len(), by, AccessKind { reads: false, writes: true, keeps_value });
        if !keeps_value {
            self.bytes_mut(at, bytes.len()).copy_from_slice(bytes);
            self.is_changed = true;
        }
        self.initialise(at, bytes.len());
        Ok(())
    }

    /// Checks that a store of `count` bytes to a location is valid, and returns the resolved
    /// address.
    pub(super) fn check_store(&self, place: Location<u32>, count: usize) -> Result<ResolvedAddress, TrapKind> {
        let at = self.at(Access::Store, place, count)?;
        match at {
            ResolvedAddress::Shared(address) => self.in_shared(Access::Store, address, count)?,
            ResolvedAddress::Global(address) => {
                self.in_global(Access::Store, address, count, AccessOrigin::default())?;
            }
            ResolvedAddress::Local(address) if self.stack.get(address, count).is_some() => {}
            ResolvedAddress::Local(address) => return Err(outside(Access::Store, Space::Local, address, count)),
            ResolvedAddress::Parameter(_, address) | ResolvedAddress::Param(address) => {
                return Err(outside(Access::Store, PARAM, address, count));
            }
        }
        Ok(at)
    }

    /// Returns the bytes at a location for an atomic operation. `reads` is `false` if the operation
    /// ignores the old value. Atomic operations on local memory are not supported.
    pub(super) fn change(
        &mut self,
        place: Location<u32>,
        count: usize,
        by: AccessOrigin,
        reads: bool,
    ) -> Result<&mut [u8], TrapKind> {
        let at = self.check_store(place, count)?;
        match at {
            ResolvedAddress::Shared(address) if reads => self.are_initialised(address, count)?,
            ResolvedAddress::Global(address) if reads => self.check_initialised(address, count, by),
            ResolvedAddress::Local(address) => return Err(outside(Access::Store, Space::Local, address, count)),
            _ => {}
        }
        self.trace_access(at, count, [reads, true]);
        self.note(at, count, by, AccessKind { reads: true, writes: true, keeps_value: false });
        self.initialise(at, count);
        Ok(self.bytes_mut(at, count))
    }

    /// Returns `count` bytes at an address for writing. The caller must have checked the access.
    fn bytes_mut(&mut self, at: ResolvedAddress, count: usize) -> &mut [u8] {
        match at {
            ResolvedAddress::Shared(address) => range_mut(&mut self.shared, address, count).unwrap_or_default(),
            ResolvedAddress::Global(address) => match self.host_of(address) {
                // SAFETY: `in_global` has checked that these bytes may be accessed.
                Some(host) => unsafe { host.get_mut(address, count) },
                None => match self.heap.engine_heap_mut(address) {
                    Some(heap) => heap.get_mut(address, count).unwrap_or_default(),
                    None => self.buffers.get_mut(address, count).unwrap_or_default(),
                },
            },
            ResolvedAddress::Local(address) => self.stack.get_mut(address, count).unwrap_or_default(),
            ResolvedAddress::Parameter(..) | ResolvedAddress::Param(_) => &mut [],
        }
    }

    /// Copies `bytes` bytes from global to shared memory, as `cp.async` does. Only the first
    /// `taken` bytes are read; the remaining bytes are filled with zeros. `inst` is the address of
    /// the `cp.async` instruction.
    pub(super) fn copy(
        &mut self,
        from: Location<u32>,
        to: Location<u32>,
        bytes: usize,
        taken: usize,
        inst: usize,
    ) -> Result<(), TrapKind> {
        // The race detector is removed during the copy, so that it does not record single accesses.
        // Afterwards it records one asynchronous copy, which lasts until the thread waits for its
        // completion.
        let races = self.races.take();
        let copied = self.copy_bytes(from, to, bytes, taken, AccessOrigin { address: Some(inst), strong: None });
        self.races = races;
        copied?;
        let item = self.item;
        let places = (self.at(Access::Load, from, 1)?, self.at(Access::Store, to, 1)?);
        let read = self.shared_location(places.0);
        if let (Some(races), (ResolvedAddress::Global(_), ResolvedAddress::Shared(to))) = (&mut self.races, places) {
            let read = read.filter(|_| taken != 0);
            let from = read.map_or((SharedLocation::Shared, 0, 0), |(place, offset)| (place, offset, taken));
            races.copy(cooperative::AsyncCopy {
                item,
                inst: inst as u32,
                from,
                to: (SharedLocation::Shared, to, bytes),
            });
        }
        Ok(())
    }

    fn copy_bytes(
        &mut self,
        from: Location<u32>,
        to: Location<u32>,
        bytes: usize,
        taken: usize,
        by: AccessOrigin,
    ) -> Result<(), TrapKind> {
        let mut copied: ArrayVec<u8, 16> = std::iter::repeat_n(0, bytes.min(16)).collect();
        if taken >= bytes {
            copied.copy_from_slice(self.load(from, bytes, by)?);
        }
        self.store(to, &copied, by)?;
        if taken < bytes {
            for number in 0..taken as i32 {
                let byte = *self.load(from.plus(number), 1, by)?.first().unwrap_or(&0);
                self.store(to.plus(number), &[byte], by)?;
            }
        }
        Ok(())
    }

    /// Returns the memory of the process, if the launch accesses it. Returns `None` for an address of a module-scope
    /// variable, of the grid workspace, or of a heap in memory of the engine.
    fn host_of(&self, address: u64) -> Option<&'a HostMemory<'a>> {
        let is_variable = || buffer_slot(address).is_some_and(|buffer| self.variable_buffers.contains_key(&buffer));
        self.host.filter(|_| !is_variable() && self.heap.engine_heap(address).is_none())
    }

    /// Returns `count` bytes of global memory in memory of the engine.
    pub(super) fn engine_bytes(&self, address: u64, count: usize) -> Option<&[u8]> {
        match self.heap.engine_heap(address) {
            Some(heap) => heap.get(address, count),
            None => self.buffers.get(address, count),
        }
    }

    /// Frees a block of the heap.
    pub(super) fn free(&mut self, address: u64) -> Result<(), TrapKind> {
        // The cache may contain the block.
        self.found = Found::default();
        self.heap.free(address, self.races.is_some())
    }

    /// Checks that an access to shared memory is in bounds.
    fn in_shared(&self, access: Access, address: u64, count: usize) -> Result<(), TrapKind> {
        let has = range(&self.shared, address, count).is_some();
        if has { Ok(()) } else { Err(outside(access, Space::Shared, address, count)) }
    }

    /// Returns `true` if an address is in reserved shared memory, which is zero at the start of a block.
    fn is_reserved(&self, address: u64) -> bool {
        self.block_memory.has_reserved && address >= self.block_memory.reserved_start()
    }

    /// Checks that bytes of shared memory have been written before. The check applies only to
    /// launches that detect races.
    fn are_initialised(&self, address: u64, count: usize) -> Result<(), TrapKind> {
        match &self.races {
            Some(races) if !self.is_reserved(address) && !races.are_written(address, count) => {
                Err(TrapKind::Uninitialised { address, bytes: count as u32 })
            }
            _ => Ok(()),
        }
    }

    /// Checks that a load of memory of the process reads no uninitialised bytes, if the launch checks for such loads.
    fn check_initialised(&self, address: u64, count: usize, by: AccessOrigin) {
        if let (Some(check), Some(host)) = (&self.initialisation, self.host_of(address)) {
            check.load(host, self.item, address, count, by);
        }
    }

    /// Records that bytes of memory of the process have been written, if the launch checks for uninitialised bytes.
    fn initialise(&self, at: ResolvedAddress, count: usize) {
        if let (Some(check), ResolvedAddress::Global(address)) = (&self.initialisation, at)
            && self.host_of(address).is_some()
        {
            check.initialised.initialise(address, count as u64);
        }
    }

    /// Checks that an access of `count` bytes to global memory is valid.
    fn in_global(&self, access: Access, address: u64, count: usize, by: AccessOrigin) -> Result<(), TrapKind> {
        let inst = by.address.map(|address| address as u32);
        let is_permitted = match (self.host_of(address), self.heap.engine_heap(address)) {
            (Some(host), _) => host.allows(&self.found, access, address, count, inst),
            (None, Some(heap)) => heap.get(address, count).is_some(),
            (None, None) => self.buffers.permits(access, address, count),
        };
        if is_permitted { Ok(()) } else { Err(self.not_in_global(access, address, count)) }
    }

    /// Returns the trap for an access to global memory that is not permitted.
    #[cold]
    fn not_in_global(&self, access: Access, address: u64, count: usize) -> TrapKind {
        let near = match (self.heap.near(address), self.host_of(address)) {
            (None, None) => return self.buffers.trap_of_access(access, address, count),
            (None, Some(host)) => host.around(address).map(|allocation| Near {
                buffer: format!("{:#x}", allocation.start),
                offset: address.wrapping_sub(allocation.start) as i64,
                size: allocation.bytes,
                is_freed: false,
            }),
            (block, _) => block,
        };
        TrapKind::OutOfBounds { access, space: Space::Global, address, bytes: count as u32, near }
    }

    /// Reports an access to the race detector, if any.
    fn note(&mut self, at: ResolvedAddress, count: usize, by: AccessOrigin, how: AccessKind) {
        let shared = self.races.as_ref().and_then(|_| self.shared_location(at));
        let (Some(races), Some((place, offset))) = (&mut self.races, shared) else { return };
        let (AccessOrigin { address, strong }, AccessKind { reads, writes, keeps_value }) = (by, how);
        let keeps_value = keeps_value && strong.is_none();
        let touch =
            AccessInfo { item: self.item, inst: address.unwrap_or(0) as u32, writes, reads, strong, keeps_value };
        races.access(place, offset, count, touch);
    }

    /// Returns the memory that contains an address, and the offset of the address in the memory, or `None` if only
    /// one item can access the memory.
    fn shared_location(&self, at: ResolvedAddress) -> Option<(SharedLocation, u64)> {
        match at {
            ResolvedAddress::Shared(offset) => Some((SharedLocation::Shared, offset)),
            ResolvedAddress::Global(address)
                if self.host_of(address).is_some() || self.heap.engine_heap(address).is_some() =>
            {
                Some((SharedLocation::Process, address))
            }
            ResolvedAddress::Global(address) => {
                buffer_of(address).map(|(buffer, offset)| (SharedLocation::Buffer(buffer as u32), offset))
            }
            ResolvedAddress::Local(_) | ResolvedAddress::Param(_) | ResolvedAddress::Parameter(..) => None,
        }
    }

    /// Reads the NUL-terminated string at a generic address. The string also ends at the end of the
    /// memory that contains it. Invalid UTF-8 is replaced.
    pub(super) fn string(&mut self, address: u64) -> String {
        /// Maximum length of the string in bytes.
        const MOST: u64 = 1 << 12;
        let mut byte = |offset: u64| {
            let address = address.checked_add(offset)?;
            let base = [address as u32, (address >> 32) as u32];
            self.load(Location::Flat { base, offset: 0 }, 1, AccessOrigin::default())
                .ok()?
                .first()
                .copied()
                .filter(|byte| *byte != 0)
        };
        let bytes: Vec<u8> = (0..MOST).map_while(&mut byte).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns the `count` bytes at an address in parameter memory, or `None` if they are not
    /// within one parameter.
    pub(super) fn at_param(&self, address: u64, count: usize) -> Option<&[u8]> {
        let after = self.param_places.partition_point(|&place| place <= address);
        let number = after.checked_sub(1)?;
        range(self.params.get(number)?, address - self.param_places.get(number)?, count)
    }

    /// Returns `true` if a location is in global memory.
    pub(super) fn is_global(&self, place: Location<u32>) -> bool {
        matches!(self.at(Access::Load, place, 1), Ok(ResolvedAddress::Global(_)))
    }

    /// Resolves a location to an address in its memory space. Checks that the address is a multiple
    /// of the access size. Constant memory consists only of the declared constant variables.
    fn at(&self, access: Access, place: Location<u32>, count: usize) -> Result<ResolvedAddress, TrapKind> {
        let plus = |[low, high]: [u32; 2], offset: i32| {
            (u64::from(high) << 32 | u64::from(low)).wrapping_add_signed(offset.into())
        };
        let bytes = count as u32;
        let (space, address, at) = match place {
            Location::Flat { base, offset } => {
                let address = plus(base, offset);
                let within = |window: u64| Some(address.wrapping_sub(window)).filter(|offset| *offset < WINDOW_BYTES);
                match (within(LOCAL_WINDOW), within(PARAM_WINDOW), within(SHARED_WINDOW)) {
                    (Some(local), ..) => (Space::Local, local, ResolvedAddress::Local(local)),
                    (_, Some(param), _) => (PARAM, param, ResolvedAddress::Param(param)),
                    (.., Some(shared)) => (Space::Shared, shared, ResolvedAddress::Shared(shared)),
                    (None, None, None) => (Space::Global, address, ResolvedAddress::Global(address)),
                }
            }
            Location::Global { base, offset } => {
                let address = plus(base, offset);
                (Space::Global, address, ResolvedAddress::Global(address))
            }
            Location::Local { base, offset } => {
                let address = plus(base, offset);
                (Space::Local, address, ResolvedAddress::Local(address))
            }
            Location::Shared { base: [low, _], offset } => {
                let address = u64::from(low.wrapping_add_signed(offset));
                (Space::Shared, address, ResolvedAddress::Shared(address))
            }
            Location::Param { base, offset } => {
                let address = plus(base, offset);
                (PARAM, address, ResolvedAddress::Param(address))
            }
            Location::Constant { base, offset } => {
                let address = plus(base, offset);
                (Space::Constant(0), address, ResolvedAddress::Global(address ^ CONST_SPACE))
            }
            Location::Parameter { number, offset } => {
                (PARAM, offset as u64, ResolvedAddress::Parameter(number, offset as u64))
            }
            // The interpreter resolves frame locations before it calls this method.
            Location::Frame { offset, .. } => (Space::Local, offset as u64, ResolvedAddress::Local(0)),
        };
        if !address.is_multiple_of(count as u64) {
            return Err(TrapKind::Misaligned { access, space, address, bytes });
        }
        match at {
            ResolvedAddress::Global(of) if space == Space::Constant(0) && !self.is_constant(of) => {
                Err(outside(access, space, address, count))
            }
            at => Ok(at),
        }
    }
}

fn outside(access: Access, space: Space, address: u64, count: usize) -> TrapKind {
    TrapKind::OutOfBounds { access, space, address, bytes: count as u32, near: None }
}
