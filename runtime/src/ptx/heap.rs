//! The heap of `malloc` and `free` in kernels.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use halfbyte_isa::buffers::{range, range_mut};
use halfbyte_isa::trap::{Near, TrapKind};

use super::Allocation;

/// Default limit of a heap in bytes.
const DEFAULT_LIMIT: u64 = 8 << 20;
/// Alignment in bytes of the blocks that `malloc` returns.
pub(super) const ALIGNMENT: u64 = 16;
/// Number of bytes after each block that belong to no block. An access past the end of a block therefore does not reach
/// the next block.
const GUARD: u64 = 64;
/// Content of fresh blocks. It is not zero, so that a kernel that relies on zeros fails.
const FILL: u8 = 0xcd;
/// Maximum number of bytes of freed blocks that are not reused yet, so that accesses after the free are detected.
const QUARANTINE: u64 = 16 << 20;

/// The addresses of blocks in memory of the engine. Sums and differences of a few buffer addresses are never in this
/// range.
const ENGINE_ADDRESSES: Range<u64> = 6 << 56..7 << 56;

/// A heap: its blocks, and the blocks that were freed last.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    placement: Placement,
    /// Maximum number of bytes that the allocated blocks take together.
    limit: u64,
    /// Number of bytes that the allocated blocks take together.
    used: u64,
    /// The blocks, by their addresses.
    blocks: BTreeMap<u64, Block>,
    /// The addresses of the freed blocks, from the oldest to the newest.
    freed: VecDeque<u64>,
    /// Number of bytes in memory of the freed blocks.
    quarantined: u64,
    /// `true` if a kernel has called `malloc` or `free`.
    is_used: bool,
}

/// The memory that holds the blocks of a heap.
#[derive(Clone, Copy, Debug)]
enum Placement {
    /// Memory of the engine. No two blocks get the same address.
    Engine {
        /// The end address of the last block's guard.
        next: u64,
    },
    /// Memory of the process. Blocks have their addresses in the process.
    Process {
        /// Number of running launches that may access the blocks.
        launches: u32,
    },
}

/// A block of a heap.
#[derive(Clone, Debug)]
struct Block {
    /// Size in bytes, as the kernel has requested it.
    bytes: u64,
    /// Number of bytes that the block takes of the limit.
    taken: u64,
    /// The memory of the block: in memory of the engine, its bytes; in memory of the process, with an unaligned start
    /// and a guard. It is never resized.
    contents: Vec<u8>,
    is_freed: bool,
}

impl Default for Heap {
    /// Creates a heap in memory of the engine, with the default limit.
    fn default() -> Heap {
        Heap::new(Placement::Engine { next: ENGINE_ADDRESSES.start })
    }
}

impl Heap {
    fn new(placement: Placement) -> Heap {
        Heap {
            placement,
            limit: DEFAULT_LIMIT,
            used: 0,
            blocks: BTreeMap::new(),
            freed: VecDeque::new(),
            quarantined: 0,
            is_used: false,
        }
    }

    /// Allocates a block, and returns its address. Returns `None` if the heap has too little memory, or if the
    /// alignment is not a power of two.
    fn allocate(&mut self, bytes: u64, align: u64) -> Option<u64> {
        self.is_used = true;
        let align = Some(align).filter(|align| align.is_power_of_two())?.max(ALIGNMENT);
        let taken = bytes.max(1).checked_next_multiple_of(align)?;
        let used = self.used.checked_add(taken).filter(|&used| used <= self.limit)?;
        let guarded = taken.checked_add(GUARD)?;
        let (start, contents) = match &mut self.placement {
            Placement::Engine { next } => {
                let start = next.checked_next_multiple_of(align)?;
                let end = start.checked_add(guarded).filter(|&end| end <= ENGINE_ADDRESSES.end)?;
                let contents = filled(bytes)?;
                *next = end;
                (start, contents)
            }
            Placement::Process { .. } => {
                let mut contents = filled(guarded.checked_add(align)?)?;
                let first = contents.as_mut_ptr().expose_provenance() as u64;
                (first.next_multiple_of(align), contents)
            }
        };
        self.used = used;
        self.blocks.insert(start, Block { bytes, taken, contents, is_freed: false });
        Some(start)
    }

    /// Frees the block at an address; a null address has no effect. A launch that detects races does not reuse memory
    /// of the process, because accesses to two blocks with the same address would seem to race.
    fn free(&mut self, address: u64, detects_races: bool) -> Result<(), TrapKind> {
        self.is_used = true;
        if address == 0 {
            return Ok(());
        }
        match self.blocks.get(&address) {
            Some(block) if !block.is_freed => self.quarantine(address),
            found => return Err(TrapKind::InvalidFree { address, is_freed: found.is_some() }),
        }
        let keeps_memory = match self.placement {
            Placement::Engine { .. } => false,
            Placement::Process { launches } => detects_races || launches > 1,
        };
        if !keeps_memory {
            self.release(QUARANTINE);
        }
        Ok(())
    }

    /// Marks the block at an address as freed.
    fn quarantine(&mut self, address: u64) {
        if let Some(block) = self.blocks.get_mut(&address) {
            block.is_freed = true;
            self.used -= block.taken;
            self.quarantined += block.contents.len() as u64;
            self.freed.push_back(address);
        }
    }

    /// Releases the oldest freed blocks until the others have at most `kept` bytes.
    fn release(&mut self, kept: u64) {
        while self.quarantined > kept {
            let Some(oldest) = self.freed.pop_front().and_then(|address| self.blocks.remove(&address)) else { break };
            self.quarantined -= oldest.contents.len() as u64;
        }
    }

    /// Frees all blocks, and restores the initial state.
    fn reset(&mut self) {
        let is_allocated = |(&address, block): (&u64, &Block)| (!block.is_freed).then_some(address);
        let allocated: Vec<u64> = self.blocks.iter().filter_map(is_allocated).collect();
        allocated.into_iter().for_each(|address| self.quarantine(address));
        (self.limit, self.is_used) = (DEFAULT_LIMIT, false);
        if !matches!(self.placement, Placement::Process { launches: 1.. }) {
            self.release(0);
        }
    }

    /// Returns `true` if the heap has allocated blocks.
    pub(super) fn has_blocks(&self) -> bool {
        self.used != 0
    }

    /// Returns the last block that starts at or before an address, with the start address of the block.
    fn before(&self, address: u64) -> Option<(u64, &Block)> {
        self.blocks.range(..=address).next_back().map(|(&start, block)| (start, block))
    }

    /// Returns the allocated block that contains an address.
    fn find(&self, address: u64) -> Option<Allocation> {
        let (start, block) = self.before(address).filter(|(_, block)| !block.is_freed)?;
        (address - start < block.bytes).then_some(Allocation::new(start, block.bytes))
    }

    /// Returns `count` bytes at an address in memory of the engine, if an allocated block contains them.
    pub(super) fn get(&self, address: u64, count: usize) -> Option<&[u8]> {
        let (start, block) = self.before(address).filter(|(_, block)| !block.is_freed)?;
        range(&block.contents, address - start, count)
    }

    /// Returns `count` bytes at an address in memory of the engine for writing, if an allocated block contains them.
    pub(super) fn get_mut(&mut self, address: u64, count: usize) -> Option<&mut [u8]> {
        let (&start, block) = self.blocks.range_mut(..=address).next_back().filter(|(_, block)| !block.is_freed)?;
        range_mut(&mut block.contents, address - start, count)
    }

    /// Returns the position of an address in the block that it belongs to, which may be freed. An address in the guard
    /// belongs to the block before it.
    fn near(&self, address: u64) -> Option<Near> {
        let (start, block) = self.before(address)?;
        let offset = Some(address - start).filter(|&offset| offset < block.taken + GUARD)?;
        let buffer = format!("{start:#x}");
        Some(Near { buffer, offset: offset as i64, size: block.bytes, is_freed: block.is_freed })
    }
}

/// Returns fresh memory, or `None` if the system has too little memory.
fn filled(bytes: u64) -> Option<Vec<u8>> {
    let (bytes, mut contents) = (usize::try_from(bytes).ok()?, Vec::new());
    contents.try_reserve_exact(bytes).ok()?;
    contents.resize(bytes, FILL);
    Some(contents)
}

/// A heap in memory of the process. Launches on the memory of the process allocate blocks of it with `malloc`, and
/// later launches with the heap can use these blocks.
#[derive(Debug)]
pub struct DeviceHeap(Mutex<Heap>);

impl Default for DeviceHeap {
    /// Creates a heap with a limit of 8 MiB.
    fn default() -> DeviceHeap {
        DeviceHeap(Mutex::new(Heap::new(Placement::Process { launches: 0 })))
    }
}

impl DeviceHeap {
    fn lock(&self) -> MutexGuard<'_, Heap> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the maximum number of bytes that the allocated blocks may take together.
    pub fn limit(&self) -> u64 {
        self.lock().limit
    }

    /// Sets the maximum number of bytes that the allocated blocks may take together. Returns `false`, without an
    /// effect, if a kernel has called `malloc` or `free`.
    #[must_use]
    pub fn set_limit(&self, bytes: u64) -> bool {
        let mut heap = self.lock();
        if !heap.is_used {
            heap.limit = bytes;
        }
        !heap.is_used
    }

    /// Frees all blocks, and restores the default limit.
    pub fn reset(&self) {
        self.lock().reset();
    }

    /// Returns `true` if the heap has allocated blocks.
    pub(super) fn has_blocks(&self) -> bool {
        self.lock().has_blocks()
    }

    /// Returns the allocated block that contains an address.
    pub(super) fn find(&self, address: u64) -> Option<Allocation> {
        self.lock().find(address)
    }

    /// Begins a launch. The memory of blocks stays valid until the launch ends, even if another launch frees them.
    pub(super) fn begin(&self) -> RunningLaunch<'_> {
        if let Placement::Process { launches } = &mut self.lock().placement {
            *launches += 1;
        }
        RunningLaunch(self)
    }
}

/// A launch that may access the blocks of a heap. The launch ends when the value is dropped.
pub(super) struct RunningLaunch<'a>(&'a DeviceHeap);

impl Drop for RunningLaunch<'_> {
    fn drop(&mut self) {
        let mut heap = self.0.lock();
        if let Placement::Process { launches } = &mut heap.placement {
            *launches -= 1;
            if *launches == 0 {
                heap.release(QUARANTINE);
            }
        }
    }
}

/// The heap that a launch uses.
pub(super) enum LaunchHeap<'a> {
    /// No heap: every allocation fails. Kernels of objects do not call `malloc`.
    None,
    /// A heap in memory of the engine.
    Engine(&'a mut Heap),
    /// A heap in memory of the process.
    Process(&'a DeviceHeap),
}

impl LaunchHeap<'_> {
    /// Allocates a block, and returns its address. Returns the null address if the heap has too little memory, or if
    /// the alignment is not a power of two.
    pub(super) fn allocate(&mut self, bytes: u64, align: u64) -> u64 {
        let block = match self {
            LaunchHeap::None => None,
            LaunchHeap::Engine(heap) => heap.allocate(bytes, align),
            LaunchHeap::Process(heap) => heap.lock().allocate(bytes, align),
        };
        block.unwrap_or(0)
    }

    /// Frees the block at an address; a null address has no effect. `detects_races` is `true` if the launch detects
    /// races.
    pub(super) fn free(&mut self, address: u64, detects_races: bool) -> Result<(), TrapKind> {
        match self {
            LaunchHeap::None if address == 0 => Ok(()),
            LaunchHeap::None => Err(TrapKind::InvalidFree { address, is_freed: false }),
            LaunchHeap::Engine(heap) => heap.free(address, detects_races),
            LaunchHeap::Process(heap) => heap.lock().free(address, detects_races),
        }
    }

    /// Returns the heap in memory of the engine, if the address can be that of a block in it.
    pub(super) fn engine_heap(&self, address: u64) -> Option<&Heap> {
        match self {
            LaunchHeap::Engine(heap) if ENGINE_ADDRESSES.contains(&address) => Some(heap),
            _ => None,
        }
    }

    /// Returns the heap in memory of the engine for writing, if the address can be that of a block in it.
    pub(super) fn engine_heap_mut(&mut self, address: u64) -> Option<&mut Heap> {
        match self {
            LaunchHeap::Engine(heap) if ENGINE_ADDRESSES.contains(&address) => Some(heap),
            _ => None,
        }
    }

    /// Returns `true` if allocated blocks lie in memory of the engine, which only the interpreter accesses.
    #[cfg(feature = "jit")]
    pub(super) fn is_interpreted(&self) -> bool {
        matches!(self, LaunchHeap::Engine(heap) if heap.has_blocks())
    }

    /// Returns the position of an address in the block that it belongs to, which may be freed.
    pub(super) fn near(&self, address: u64) -> Option<Near> {
        match self {
            LaunchHeap::None => None,
            LaunchHeap::Engine(heap) => heap.near(address),
            LaunchHeap::Process(heap) => heap.lock().near(address),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Allocates and frees eight blocks of 4 MiB. Returns the number of blocks that the heap keeps.
    fn blocks_after_use(heap: &DeviceHeap, detects_races: bool) -> usize {
        for _ in 0..8 {
            let block = heap.lock().allocate(4 << 20, ALIGNMENT).unwrap_or(0);
            assert_eq!(heap.lock().free(block, detects_races), Ok(()));
        }
        heap.lock().blocks.len()
    }

    #[test]
    fn freed_memory_stays_valid_while_another_launch_runs() {
        let heap = DeviceHeap::default();
        let running = heap.begin();
        assert_eq!(blocks_after_use(&heap, false), 3);
        let other = heap.begin();
        assert_eq!(blocks_after_use(&heap, false), 11);
        heap.reset();
        assert_eq!(heap.lock().blocks.len(), 11);
        drop(other);
        assert_eq!(blocks_after_use(&heap, true), 19);
        drop(running);
        assert_eq!(heap.lock().blocks.len(), 3);
        heap.reset();
        assert_eq!(heap.lock().blocks.len(), 0);
    }

    #[test]
    fn a_heap_of_the_engine_keeps_little_freed_memory() {
        let mut heap = Heap::default();
        for _ in 0..8 {
            let block = heap.allocate(4 << 20, ALIGNMENT).unwrap_or(0);
            assert_eq!(heap.free(block, true), Ok(()));
        }
        assert_eq!(heap.blocks.len(), 4);
    }
}
