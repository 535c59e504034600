//! Table of allocations: the memory that programs and kernels may access, and what belongs to it.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_int;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use halfbyte::runtime::ptx::InitialisedBytes;

use crate::byte_set::ByteSet;
use crate::check::checks;
use crate::context;
use crate::settings::settings;
use crate::status::{Result, Status};

/// Alignment of device memory in bytes.
const ALIGNMENT: u64 = 512;
/// Alignment of host memory in bytes.
const PAGE: u64 = 4096;
/// Device memory is padded to a multiple of this number of bytes, because kernels may load whole vectors.
const PADDING: u64 = 256;
/// Number of bytes after the padding that belong to no block. An access past the end of a block therefore does not
/// reach the next block.
const GUARD: u64 = 256;
/// Content of fresh memory. It is not zero, so that a program that relies on zeros fails.
const FILL: u8 = 0xCD;
/// Maximum number of freed bytes that are not reused yet, so that accesses after the free are detected.
const QUARANTINE: u64 = 64 << 20;

/// Kind of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryKind {
    /// Device memory.
    Device,
    /// Memory that devices and the host share.
    Managed,
    /// Host memory that the driver has allocated.
    Host,
    /// Host memory that the program has allocated and registered.
    Registered,
    /// Variable of a module.
    Variable,
}

impl MemoryKind {
    /// Returns `true` if the memory is that of a device.
    fn is_on_device(self) -> bool {
        matches!(self, MemoryKind::Device | MemoryKind::Managed)
    }
}

/// Contiguous memory that was allocated or registered as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// Address of the first byte.
    pub start: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Kind of the memory.
    pub kind: MemoryKind,
    /// Identifier of the context that the memory belongs to.
    pub context: u64,
    /// Number that no other block of the process has.
    pub id: u64,
}

impl Block {
    /// Returns the end address, without padding.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.bytes)
    }

    /// Returns the end address of the padding.
    fn padded_end(&self) -> u64 {
        if self.kind.is_on_device() {
            self.end().checked_next_multiple_of(PADDING).unwrap_or(u64::MAX)
        } else {
            self.end()
        }
    }
}

/// Context that a block belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Owner {
    /// Identifier of the context, or 0 for a block that belongs to no context.
    id: u64,
    /// Handle of the context, or 0 if it is unknown.
    pub handle: usize,
    /// Device on which the memory lies.
    pub device: c_int,
}

impl Owner {
    /// Creates the owner for a context identifier. If the current context has this identifier, also sets the handle and
    /// the device.
    fn with_id(id: u64) -> Owner {
        match context::current() {
            Ok(context) if context.id() == id => Owner { id, handle: context.handle().addr(), device: context.device },
            _ => Owner { id, ..Owner::default() },
        }
    }
}

/// Properties of a block that a program chooses.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Flags with which host memory was allocated or registered.
    pub flags: u32,
    /// `true` if all copies and fills of the memory are synchronous, which they always are.
    pub is_synchronous: bool,
}

/// Account that counts allocated bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Account {
    /// Host memory.
    Host,
    /// Memory of the device with the given number.
    Device(c_int),
    /// Memory of the pool with the given handle.
    Pool(usize),
}

/// State of an account.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Usage {
    /// Number of bytes that are allocated.
    pub current: u64,
    /// Maximum of `current` since the last reset.
    pub peak: u64,
}

/// An account that an allocation is charged to, with the account's limit in bytes.
#[derive(Clone, Copy)]
struct Budget {
    account: Account,
    limit: u64,
}

/// The bytes of an allocation, and the accounts that they are charged to.
#[derive(Default)]
struct Charge {
    bytes: u64,
    accounts: Vec<Account>,
}

/// Memory from the allocator, which is released when the value is dropped.
struct Owned {
    start: NonNull<u8>,
    layout: Layout,
    /// The bytes that have been written, if they are recorded.
    initialised: Option<ByteSet>,
}

// SAFETY: the memory does not belong to a thread.
unsafe impl Send for Owned {}

impl Owned {
    /// Allocates a number of bytes with their padding and guard, or returns `None` if the system has too little memory.
    fn new(bytes: u64, kind: MemoryKind) -> Option<Owned> {
        let alignment = if kind.is_on_device() { ALIGNMENT } else { PAGE };
        let size = usize::try_from(bytes.checked_next_multiple_of(PADDING)?.checked_add(GUARD)?).ok()?;
        let layout = Layout::from_size_align(size, usize::try_from(alignment).ok()?).ok()?;
        // SAFETY: the size is not 0, because the guard is not empty.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        let mut owned = Owned { start, layout, initialised: None };
        // SAFETY: the memory has this size.
        unsafe { start.write_bytes(FILL, size) };
        // The host may write memory of other kinds, which is not recorded.
        if kind == MemoryKind::Device && checks_initialisation() {
            owned.initialised = Some(ByteSet::new(bytes)?);
        }
        Some(owned)
    }

    /// Returns the address, which can be converted to a pointer.
    fn address(&self) -> u64 {
        self.start.as_ptr().expose_provenance() as u64
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated with this layout and is released once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// Row of the table.
struct Entry {
    block: Block,
    owner: Owner,
    options: Options,
    /// The memory, if the driver has allocated it.
    memory: Option<Owned>,
    charge: Charge,
}

impl Entry {
    /// Returns the end address of the guard.
    fn guarded_end(&self) -> u64 {
        let size = self.memory.as_ref().map_or(self.block.bytes, |memory| memory.layout.size() as u64);
        self.block.start.saturating_add(size)
    }
}

/// Returns the row whose memory, with the guard, overlaps a range. No two rows may overlap.
fn overlapping(rows: &BTreeMap<u64, Entry>, start: u64, end: u64) -> Option<&Entry> {
    let (_, last) = rows.range(..end).next_back()?;
    (last.guarded_end() > start).then_some(last)
}

/// Returns the row whose memory, with the padding, contains an address.
fn containing(rows: &BTreeMap<u64, Entry>, address: u64) -> Option<&Entry> {
    let (_, last) = rows.range(..=address).next_back()?;
    (address < last.block.padded_end()).then_some(last)
}

/// Table of allocations. The keys are the addresses of the blocks.
struct Table {
    live: BTreeMap<u64, Entry>,
    freed: BTreeMap<u64, Entry>,
    /// The addresses of the freed blocks, from the oldest to the newest.
    order: VecDeque<u64>,
    /// Number of bytes of the freed blocks with their guards.
    quarantined: u64,
    usage: BTreeMap<Account, Usage>,
    last_id: u64,
}

impl Table {
    const fn new() -> Table {
        Table {
            live: BTreeMap::new(),
            freed: BTreeMap::new(),
            order: VecDeque::new(),
            quarantined: 0,
            usage: BTreeMap::new(),
            last_id: 0,
        }
    }

    /// Charges bytes to all accounts of the budgets. If an account would exceed its limit, charges none and returns an
    /// error.
    fn charge(&mut self, budgets: &[Budget], bytes: u64) -> Result<Charge> {
        for Budget { account, limit } in budgets {
            let current = self.usage.get(account).map_or(0, |usage| usage.current);
            if current.checked_add(bytes).is_none_or(|sum| sum > *limit) {
                return Err(Status::OUT_OF_MEMORY);
            }
        }
        for Budget { account, .. } in budgets {
            let usage = self.usage.entry(*account).or_default();
            usage.current += bytes;
            usage.peak = usage.peak.max(usage.current);
        }
        Ok(Charge { bytes, accounts: budgets.iter().map(|budget| budget.account).collect() })
    }

    /// Subtracts bytes from those accounts that still exist.
    fn discharge(&mut self, charge: &Charge) {
        for account in &charge.accounts {
            if let Some(usage) = self.usage.get_mut(account) {
                usage.current = usage.current.saturating_sub(charge.bytes);
            }
        }
    }

    /// Adds a live block.
    fn insert(&mut self, start: u64, bytes: u64, kind: MemoryKind, owner: Owner) -> &mut Entry {
        self.last_id += 1;
        let block = Block { start, bytes, kind, context: owner.id, id: self.last_id };
        let entry = Entry { block, owner, options: Options::default(), memory: None, charge: Charge::default() };
        self.live.entry(start).insert_entry(entry).into_mut()
    }

    /// Adds a block of memory that the driver has allocated, and returns its address.
    fn insert_owned(&mut self, memory: Owned, charge: Charge, bytes: u64, kind: MemoryKind, owner: Owner) -> u64 {
        let start = memory.address();
        self.forget(start, start.saturating_add(memory.layout.size() as u64));
        let entry = self.insert(start, bytes, kind, owner);
        (entry.memory, entry.charge) = (Some(memory), charge);
        start
    }

    /// Removes stale blocks in a range that the allocator has just returned. A stale block is registered memory that
    /// the program has freed without unregistering it.
    fn forget(&mut self, start: u64, end: u64) {
        while let Some(stale) = overlapping(&self.live, start, end).filter(|entry| entry.memory.is_none()) {
            let stale = stale.block.start;
            self.live.remove(&stale);
        }
    }

    /// Adds a block of memory that the driver has not allocated.
    fn add(&mut self, start: u64, bytes: u64, kind: MemoryKind, owner: Owner) -> Result<()> {
        let end = start.checked_add(bytes).filter(|_| start != 0 && bytes != 0).ok_or(Status::INVALID_VALUE)?;
        if kind == MemoryKind::Variable {
            self.forget(start, end);
        }
        match overlapping(&self.live, start, end).map(|entry| entry.block.kind) {
            None => {
                self.insert(start, bytes, kind, owner);
                Ok(())
            }
            Some(MemoryKind::Host | MemoryKind::Registered) => Err(Status::HOST_MEMORY_ALREADY_REGISTERED),
            Some(_) => Err(Status::INVALID_VALUE),
        }
    }

    /// Removes a block. Memory that the driver has allocated goes to the quarantine.
    fn remove(&mut self, start: u64) -> Option<Block> {
        let entry = self.live.remove(&start)?;
        self.discharge(&entry.charge);
        let (block, size) = (entry.block, entry.guarded_end() - start);
        // A block that is larger than the quarantine would only displace the others.
        if entry.memory.is_some() && size <= QUARANTINE {
            self.freed.insert(start, entry);
            self.order.push_back(start);
            self.quarantined += size;
        }
        while self.quarantined > QUARANTINE {
            let Some(oldest) = self.order.pop_front().and_then(|start| self.freed.remove(&start)) else { break };
            self.quarantined -= oldest.guarded_end() - oldest.block.start;
        }
        Some(block)
    }

    /// Removes the block that starts at an address, if it is of a suitable kind.
    fn remove_if(&mut self, start: u64, suits: impl FnOnce(MemoryKind) -> bool) -> Option<Block> {
        let suitable = self.live.get(&start).is_some_and(|entry| suits(entry.block.kind));
        if suitable { self.remove(start) } else { None }
    }

    /// Removes all blocks of a context.
    fn remove_all(&mut self, context: u64) {
        let blocks = self.live.values().map(|entry| entry.block);
        let starts: Vec<u64> = blocks.filter(|block| block.context == context).map(|block| block.start).collect();
        for start in starts {
            self.remove(start);
        }
    }

    /// Returns the record of the written bytes of the block that contains an address, if there is one. Also returns the
    /// offsets of `count` bytes at the address that lie in the block; the padding does not belong to it.
    fn initialised(&mut self, address: u64, count: u64) -> Option<(&mut ByteSet, Range<u64>)> {
        let (_, entry) = self.live.range_mut(..=address).next_back()?;
        let Entry { block, memory, .. } = entry;
        let (start, end) = (address - block.start, address.saturating_add(count).min(block.end()));
        let range = start..end.checked_sub(block.start).filter(|end| start < *end)?;
        Some((memory.as_mut()?.initialised.as_mut()?, range))
    }

    /// Records that bytes have been written.
    fn initialise(&mut self, address: u64, count: u64) {
        if let Some((initialised, range)) = self.initialised(address, count) {
            initialised.insert(range);
        }
    }

    /// Records a copy. Bytes that are unwritten in the source become unwritten in the destination.
    fn copy_initialised(&mut self, to: u64, from: u64, count: u64) {
        let parts = self.initialised(from, count).map(|(initialised, range)| initialised.parts(range));
        if let Some((initialised, range)) = self.initialised(to, count) {
            match parts {
                Some(parts) => initialised.replace(range, &parts),
                None => initialised.insert(range),
            }
        }
    }

    /// Checks that bytes lie in one live block.
    fn checked(&self, address: u64, bytes: u64) -> Result<()> {
        let block = containing(&self.live, address).map(|entry| entry.block);
        let fits = |block: Block| address.checked_add(bytes).is_some_and(|end| end <= block.end());
        if bytes == 0 || block.is_some_and(fits) { Ok(()) } else { Err(Status::INVALID_VALUE) }
    }

    /// Checks that bytes lie in one live block, or in host memory that is not in the table.
    fn checked_or_host(&self, address: u64, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let end = address.checked_add(bytes).filter(|_| address != 0).ok_or(Status::INVALID_VALUE)?;
        let known = overlapping(&self.live, address, end).or_else(|| overlapping(&self.freed, address, end));
        if known.is_some() { self.checked(address, bytes) } else { Ok(()) }
    }
}

/// Returns `true` if launches check for loads of uninitialised device memory.
fn checks_initialisation() -> bool {
    checks().races.is_on()
}

/// Locks the table of the process.
fn table() -> MutexGuard<'static, Table> {
    static TABLE: Mutex<Table> = Mutex::new(Table::new());
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allocates memory within budgets, and returns its address.
fn allocate_within(budgets: &[Budget], bytes: u64, kind: MemoryKind, owner: Owner) -> Result<u64> {
    if bytes == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let counted = bytes.checked_next_multiple_of(ALIGNMENT).ok_or(Status::OUT_OF_MEMORY)?;
    let charge = table().charge(budgets, counted)?;
    // The table is not locked meanwhile, because it takes long to fill a large block.
    let Some(memory) = Owned::new(bytes, kind) else {
        table().discharge(&charge);
        return Err(Status::OUT_OF_MEMORY);
    };
    Ok(table().insert_owned(memory, charge, bytes, kind, owner))
}

/// Allocates memory for the current context, whose identifier is `context`, and returns its address. Device and managed
/// memory is limited by the size of the device's memory, and host memory by the same size again.
pub fn allocate(bytes: u64, kind: MemoryKind, context: u64) -> Result<u64> {
    let owner = Owner::with_id(context);
    let account = if kind.is_on_device() { Account::Device(owner.device) } else { Account::Host };
    allocate_within(&[Budget { account, limit: settings().memory }], bytes, kind, owner)
}

/// Allocates device memory for the current context, whose identifier is `context`, from a pool of at most `limit`
/// bytes, and returns its address.
pub fn allocate_from_pool(bytes: u64, pool: usize, limit: u64, device: c_int, context: u64) -> Result<u64> {
    let budgets = [
        Budget { account: Account::Device(device), limit: settings().memory },
        Budget { account: Account::Pool(pool), limit },
    ];
    allocate_within(&budgets, bytes, MemoryKind::Device, Owner { device, ..Owner::with_id(context) })
}

/// Frees device or managed memory. `address` is the start of a block, or 0.
pub fn free(address: u64) -> Result<()> {
    if address == 0 {
        return Ok(());
    }
    table().remove_if(address, MemoryKind::is_on_device).map(|_| ()).ok_or(Status::INVALID_VALUE)
}

/// Frees host memory that the driver has allocated. `address` is the start of a block, or 0.
pub fn free_host(address: u64) -> Result<()> {
    if address == 0 {
        return Ok(());
    }
    table().remove_if(address, |kind| kind == MemoryKind::Host).map(|_| ()).ok_or(Status::INVALID_VALUE)
}

/// Frees all memory of a context, and removes its registered memory and its variables from the table.
pub fn free_all(context: u64) {
    table().remove_all(context);
}

/// Adds memory that the driver has not allocated: registered memory or a variable. `context` is the identifier of the
/// current context, or 0 for memory that belongs to no context.
pub fn add(start: u64, bytes: u64, kind: MemoryKind, context: u64) -> Result<()> {
    let owner = Owner::with_id(context);
    table().add(start, bytes, kind, owner)
}

/// Removes registered memory or a variable. Returns `None` if there is none at the address.
pub fn remove(start: u64) -> Option<Block> {
    table().remove_if(start, |kind| matches!(kind, MemoryKind::Registered | MemoryKind::Variable))
}

/// Removes registered memory. Returns `None` if there is none at the address.
pub fn remove_registered(start: u64) -> Option<Block> {
    table().remove_if(start, |kind| kind == MemoryKind::Registered)
}

/// Returns the live block that contains an address. The padding of device and managed memory belongs to the block.
pub fn find(address: u64) -> Option<Block> {
    containing(&table().live, address).map(|entry| entry.block)
}

/// Returns the block that contained an address and was freed recently.
pub fn freed(address: u64) -> Option<Block> {
    containing(&table().freed, address).map(|entry| entry.block)
}

/// Checks that bytes lie in one live block. Otherwise, returns [`Status::INVALID_VALUE`]. Here, the padding does not
/// belong to the block.
pub fn checked(address: u64, bytes: u64) -> Result<()> {
    table().checked(address, bytes)
}

/// Checks that bytes lie in one live block, or in host memory that is not in the table.
pub fn checked_or_host(address: u64, bytes: u64) -> Result<()> {
    table().checked_or_host(address, bytes)
}

/// Records that the driver has written bytes.
pub fn initialise(address: u64, count: u64) {
    if checks_initialisation() {
        table().initialise(address, count);
    }
}

/// Records that the driver has copied bytes.
pub fn copy_initialised(to: u64, from: u64, count: u64) {
    if checks_initialisation() {
        table().copy_initialised(to, from, count);
    }
}

/// The record of the written bytes of device memory, for launches.
#[derive(Debug)]
struct DeviceMemory;

impl InitialisedBytes for DeviceMemory {
    fn are_initialised(&self, address: u64, count: u64) -> bool {
        table().initialised(address, count).is_none_or(|(initialised, range)| initialised.contains(range))
    }

    fn initialise(&self, address: u64, count: u64) {
        table().initialise(address, count);
    }
}

/// Returns the record of the written bytes of device memory, if launches check for loads of uninitialised memory.
pub fn initialised() -> Option<&'static dyn InitialisedBytes> {
    if checks_initialisation() { Some(&DeviceMemory) } else { None }
}

/// Returns the options of the block that contains an address.
pub fn options(address: u64) -> Option<Options> {
    containing(&table().live, address).map(|entry| entry.options)
}

/// Changes the options of the block that contains an address.
pub fn set_options(address: u64, change: impl FnOnce(&mut Options)) -> Result<()> {
    let mut table = table();
    let last = table.live.range_mut(..=address).next_back().map(|(_, entry)| entry);
    let entry = last.filter(|entry| address < entry.block.padded_end()).ok_or(Status::INVALID_VALUE)?;
    change(&mut entry.options);
    Ok(())
}

/// Returns the pool from which the block that contains an address was allocated.
pub fn pool_of(address: u64) -> Option<usize> {
    let table = table();
    containing(&table.live, address)?.charge.accounts.iter().find_map(|account| match account {
        Account::Pool(pool) => Some(*pool),
        Account::Host | Account::Device(_) => None,
    })
}

/// Returns the context of the block that contains an address.
pub fn owner(address: u64) -> Option<Owner> {
    containing(&table().live, address).map(|entry| entry.owner)
}

/// Returns the state of an account.
pub fn usage(account: Account) -> Usage {
    table().usage.get(&account).copied().unwrap_or_default()
}

/// Resets the peak of an account to the current number of bytes.
pub fn reset_peak(account: Account) {
    if let Some(usage) = table().usage.get_mut(&account) {
        usage.peak = usage.current;
    }
}

/// Removes an account. Memory that it counts stays allocated.
pub fn close(account: Account) {
    table().usage.remove(&account);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const DEVICE: Account = Account::Device(0);
    const OWNER: Owner = Owner { id: 7, handle: 0, device: 0 };

    /// Allocates memory of context 7 in a table whose device has `limit` bytes.
    fn allocate(table: &mut Table, bytes: u64, kind: MemoryKind, limit: u64) -> Result<u64> {
        let charge = table.charge(&[Budget { account: DEVICE, limit }], bytes.next_multiple_of(ALIGNMENT))?;
        let memory = Owned::new(bytes, kind).ok_or(Status::OUT_OF_MEMORY)?;
        Ok(table.insert_owned(memory, charge, bytes, kind, OWNER))
    }

    /// Allocates device memory.
    fn device(table: &mut Table, bytes: u64) -> u64 {
        allocate(table, bytes, MemoryKind::Device, u64::MAX).unwrap()
    }

    /// Returns the start of the live block that contains an address.
    fn found(table: &Table, address: u64) -> Option<u64> {
        containing(&table.live, address).map(|entry| entry.block.start)
    }

    #[test]
    fn blocks_are_aligned_and_filled() {
        let mut table = Table::new();
        for bytes in [1, 44, 256, 257, 100_000] {
            let start = device(&mut table, bytes);
            assert_eq!(start % ALIGNMENT, 0);
            let size = usize::try_from(bytes.next_multiple_of(PADDING) + GUARD).unwrap();
            let data = std::ptr::with_exposed_provenance::<u8>(usize::try_from(start).unwrap());
            // SAFETY: the block is live, and nothing writes to it.
            let data = unsafe { std::slice::from_raw_parts(data, size) };
            assert!(data.iter().all(|byte| *byte == FILL));
        }
        let host = allocate(&mut table, 10, MemoryKind::Host, u64::MAX).unwrap();
        assert_eq!(host % PAGE, 0);
    }

    #[test]
    fn device_blocks_contain_their_padding_and_host_blocks_do_not() {
        let mut table = Table::new();
        let start = device(&mut table, 44);
        assert_eq!(found(&table, start), Some(start));
        assert_eq!(found(&table, start + 255), Some(start));
        assert_eq!(found(&table, start + 256), None);
        assert_eq!(found(&table, start - 1), None);
        let full = device(&mut table, 512);
        assert_eq!(found(&table, full + 511), Some(full));
        assert_eq!(found(&table, full + 512), None);
        let host = allocate(&mut table, 44, MemoryKind::Host, u64::MAX).unwrap();
        assert_eq!(found(&table, host + 43), Some(host));
        assert_eq!(found(&table, host + 44), None);
    }

    #[test]
    fn checked_bytes_lie_in_one_block_without_its_padding() {
        let mut table = Table::new();
        let start = device(&mut table, 100);
        for (address, bytes) in [(start, 100), (start + 99, 1), (start, 0), (start + 200, 0), (0, 0)] {
            assert_eq!(table.checked(address, bytes), Ok(()), "{bytes} bytes");
        }
        for (address, bytes) in
            [(start, 101), (start + 99, 2), (start + 100, 1), (start - 1, 1), (start, u64::MAX), (0, 1)]
        {
            assert_eq!(table.checked(address, bytes), Err(Status::INVALID_VALUE), "{bytes} bytes");
        }
    }

    #[test]
    fn unknown_memory_is_the_hosts() {
        let mut table = Table::new();
        let start = device(&mut table, 512);
        let local = [0_u8; 16];
        assert_eq!(table.checked_or_host(local.as_ptr().addr() as u64, 16), Ok(()));
        assert_eq!(table.checked_or_host(start, 512), Ok(()));
        assert_eq!(table.checked_or_host(start, 513), Err(Status::INVALID_VALUE));
        assert_eq!(table.checked_or_host(start + 512, 1), Err(Status::INVALID_VALUE));
        assert_eq!(table.checked_or_host(start - 1, 2), Err(Status::INVALID_VALUE));
        assert_eq!(table.checked_or_host(0, 1), Err(Status::INVALID_VALUE));
        table.remove(start);
        assert_eq!(table.checked_or_host(start, 512), Err(Status::INVALID_VALUE));
    }

    #[test]
    fn only_the_start_of_a_suitable_block_is_freed() {
        let mut table = Table::new();
        let start = device(&mut table, 100);
        assert_eq!(table.remove_if(start + 1, |_| true), None);
        assert_eq!(table.remove_if(start, |kind| kind == MemoryKind::Host), None);
        let block = table.remove_if(start, MemoryKind::is_on_device).unwrap();
        assert_eq!((block.start, block.bytes, block.context), (start, 100, 7));
        assert_eq!(table.remove_if(start, |_| true), None);
    }

    #[test]
    fn freed_blocks_are_quarantined_up_to_a_limit() {
        let mut table = Table::new();
        let first = device(&mut table, 1000);
        table.remove(first);
        assert_eq!(found(&table, first), None);
        assert_eq!(containing(&table.freed, first + 999).map(|entry| entry.block.start), Some(first));
        assert!(containing(&table.freed, first + 1024).is_none());
        // A block beyond the limit does not displace the others.
        let large = device(&mut table, QUARANTINE);
        table.remove(large);
        assert!(containing(&table.freed, large).is_none());
        assert!(containing(&table.freed, first).is_some());
        for _ in 0..3 {
            let half = device(&mut table, QUARANTINE / 2 - GUARD);
            table.remove(half);
        }
        assert!(containing(&table.freed, first).is_none());
        assert_eq!((table.freed.len(), table.order.len()), (2, 2));
        assert_eq!(table.quarantined, QUARANTINE);
    }

    #[test]
    fn memory_is_limited() {
        let mut table = Table::new();
        let first = allocate(&mut table, 1000, MemoryKind::Device, 2048).unwrap();
        assert!(allocate(&mut table, 1024, MemoryKind::Managed, 2048).is_ok());
        assert_eq!(allocate(&mut table, 1, MemoryKind::Device, 2048), Err(Status::OUT_OF_MEMORY));
        table.remove(first);
        assert_eq!(table.usage.get(&DEVICE), Some(&Usage { current: 1024, peak: 2048 }));
        assert!(allocate(&mut table, 1, MemoryKind::Device, 2048).is_ok());
    }

    #[test]
    fn a_charge_that_exceeds_one_limit_changes_no_account() {
        let mut table = Table::new();
        let pool = Account::Pool(1);
        let budgets = [Budget { account: DEVICE, limit: 4096 }, Budget { account: pool, limit: 1024 }];
        let charge = table.charge(&budgets, 1024).unwrap();
        assert_eq!(table.charge(&budgets, 512).err(), Some(Status::OUT_OF_MEMORY));
        assert_eq!(table.charge(&budgets, u64::MAX).err(), Some(Status::OUT_OF_MEMORY));
        for account in [DEVICE, pool] {
            assert_eq!(table.usage.get(&account), Some(&Usage { current: 1024, peak: 1024 }));
        }
        table.usage.remove(&pool);
        table.discharge(&charge);
        assert_eq!(table.usage.get(&DEVICE), Some(&Usage { current: 0, peak: 1024 }));
        assert_eq!(table.usage.get(&pool), None);
    }

    #[test]
    fn registered_memory_overlaps_no_other_block() {
        let mut table = Table::new();
        let registered = MemoryKind::Registered;
        assert_eq!(table.add(0x1000, 0x100, registered, OWNER), Ok(()));
        for (start, bytes) in [(0x1000, 0x100), (0x10ff, 1), (0xfff, 2), (0x800, 0x1000)] {
            assert_eq!(table.add(start, bytes, registered, OWNER), Err(Status::HOST_MEMORY_ALREADY_REGISTERED));
        }
        assert_eq!(table.add(0xfff, 1, registered, OWNER), Ok(()));
        assert_eq!(table.add(0x1100, 1, registered, OWNER), Ok(()));
        for (start, bytes) in [(0, 1), (0x4000, 0), (u64::MAX, 2)] {
            assert_eq!(table.add(start, bytes, registered, OWNER), Err(Status::INVALID_VALUE));
        }
        let start = device(&mut table, 100);
        assert_eq!(table.add(start + 90, 1, registered, OWNER), Err(Status::INVALID_VALUE));
        assert_eq!(table.remove(0x1000).map(|block| block.bytes), Some(0x100));
        assert!(table.freed.is_empty());
        assert_eq!(table.add(0x1000, 0x100, registered, OWNER), Ok(()));
    }

    #[test]
    fn fresh_memory_replaces_registered_memory_that_the_program_has_freed() {
        let mut table = Table::new();
        let memory = Owned::new(1000, MemoryKind::Device).unwrap();
        let start = memory.address();
        assert_eq!(table.add(start + 8, 8, MemoryKind::Registered, OWNER), Ok(()));
        assert_eq!(table.add(start + 800, 400, MemoryKind::Registered, OWNER), Ok(()));
        assert_eq!(table.insert_owned(memory, Charge::default(), 1000, MemoryKind::Device, OWNER), start);
        assert_eq!(table.live.len(), 1);
        assert_eq!(table.checked(start, 1000), Ok(()));
    }

    #[test]
    fn the_memory_of_a_context_is_freed_with_it() {
        let mut table = Table::new();
        let (first, second) = (device(&mut table, 10), device(&mut table, 10));
        assert_eq!(table.add(0x1000, 8, MemoryKind::Variable, OWNER), Ok(()));
        assert_eq!(table.add(0x2000, 8, MemoryKind::Registered, Owner { id: 8, ..OWNER }), Ok(()));
        table.remove_all(7);
        assert_eq!(table.live.keys().copied().collect::<Vec<_>>(), [0x2000]);
        assert!(containing(&table.freed, first).is_some());
        assert!(containing(&table.freed, second).is_some());
        assert_eq!(table.usage.get(&DEVICE).map(|usage| usage.current), Some(0));
    }

    /// Adds a record of the written bytes to a block.
    fn record(table: &mut Table, start: u64) {
        let entry = table.live.get_mut(&start).unwrap();
        entry.memory.as_mut().unwrap().initialised = ByteSet::new(entry.block.bytes);
    }

    /// Returns the offsets of the written bytes of a block, or `None` if they are not recorded.
    fn written(table: &mut Table, start: u64) -> Option<Vec<Range<u64>>> {
        let bytes = table.live.get(&start).unwrap().block.bytes;
        table.initialised(start, bytes).map(|(initialised, range)| initialised.parts(range))
    }

    #[test]
    fn writes_and_copies_initialise_recorded_blocks() {
        let mut table = Table::new();
        let [first, second, other] = [(); 3].map(|()| device(&mut table, 100));
        record(&mut table, first);
        record(&mut table, second);
        table.initialise(first + 10, 4);
        // The padding is in no record.
        table.initialise(first + 90, 50);
        table.initialise(first + 200, 4);
        table.initialise(other, 100);
        assert_eq!(written(&mut table, first), Some(vec![10..14, 90..100]));
        assert_eq!((written(&mut table, second), written(&mut table, other)), (Some(vec![]), None));
        // Unwritten bytes stay unwritten in a copy.
        table.initialise(second, 30);
        table.copy_initialised(second + 8, first + 8, 10);
        assert_eq!(written(&mut table, second), Some(vec![0..8, 10..14, 18..30]));
        // The ranges of a copy may overlap.
        table.copy_initialised(second + 4, second, 12);
        assert_eq!(written(&mut table, second), Some(vec![0..12, 14..16, 18..30]));
        // Memory without a record counts as written.
        table.copy_initialised(first + 50, other, 20);
        table.copy_initialised(first, 0x1000, 2);
        table.copy_initialised(other, first, 100);
        assert_eq!(written(&mut table, first), Some(vec![0..2, 10..14, 50..70, 90..100]));
        // A new block is unwritten, although its memory may be that of an old one.
        table.remove(first);
        assert!(table.initialised(first, 1).is_none());
    }

    #[test]
    fn blocks_have_different_ids() {
        let mut table = Table::new();
        let first = device(&mut table, 10);
        table.remove(first);
        let second = device(&mut table, 10);
        assert_ne!(first, second);
        let ids: Vec<u64> = table.freed.values().chain(table.live.values()).map(|entry| entry.block.id).collect();
        assert_eq!(ids, [1, 2]);
    }
}
