//! Memory pools, and allocations that are ordered by streams. A pool keeps no free memory.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::without_provenance_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::context;
use crate::device;
use crate::entry::{enter, write_out};
use crate::init::initialised;
use crate::memory::{self, Account};
use crate::registry::Registry;
use crate::settings::settings;
use crate::status::{Result, Status};
use crate::stream;

/// Types of allocations, a `CUmemAllocationType`.
mod allocation_type {
    use std::ffi::c_uint;

    /// Memory that does not migrate.
    pub(super) const PINNED: c_uint = 1;
    /// Memory that devices and the host share.
    pub(super) const MANAGED: c_uint = 2;
}

/// Rights of a device to access a pool, a `CUmemAccess_flags`.
mod access {
    use std::ffi::c_uint;

    pub(super) const NONE: c_uint = 0;
    pub(super) const READ: c_uint = 1;
    pub(super) const READ_WRITE: c_uint = 3;
}

/// Location of memory, a `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Location {
    kind: c_uint,
    number: c_int,
}

impl Location {
    /// Device memory.
    pub const DEVICE: c_uint = 1;
    /// Host memory.
    pub const HOST: c_uint = 2;
    /// Host memory of a NUMA node.
    pub const HOST_NUMA: c_uint = 3;
    /// Host memory of the NUMA node of the calling thread.
    pub const HOST_NUMA_CURRENT: c_uint = 4;

    /// Returns the number of the device, or an error if the location is not a device.
    fn device(self) -> Result<c_int> {
        if self.kind == Location::DEVICE { device::checked(self.number) } else { Err(Status::INVALID_VALUE) }
    }

    /// Checks that the location is a device or the host, which are the valid locations of managed memory.
    pub fn checked(self) -> Result<()> {
        match self.kind {
            Location::DEVICE => device::checked(self.number).map(|_| ()),
            Location::HOST | Location::HOST_NUMA | Location::HOST_NUMA_CURRENT => Ok(()),
            _ => Err(Status::INVALID_VALUE),
        }
    }
}

/// Properties of a new pool, a `CUmemPoolProps`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PoolProperties {
    allocation_type: c_uint,
    handle_types: c_uint,
    location: Location,
    security: *mut c_void,
    max_bytes: usize,
    usage: u16,
    is_rdma_capable: u8,
    reserved: [u8; 53],
}

/// Rights of a device, a `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AccessDescription {
    location: Location,
    flags: c_uint,
}

/// Values that a program can set.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Attributes {
    /// This attribute and the following two: 1 if this kind of reuse of free memory is permitted, 0 otherwise.
    follow_events: c_int,
    opportunistic: c_int,
    internal_dependencies: c_int,
    /// Number of bytes of free memory that the pool may keep.
    release_threshold: u64,
    /// Rights of other devices.
    access: BTreeMap<c_int, c_uint>,
}

impl Default for Attributes {
    fn default() -> Attributes {
        let (follow_events, opportunistic, internal_dependencies) = (1, 1, 1);
        Attributes {
            follow_events,
            opportunistic,
            internal_dependencies,
            release_threshold: 0,
            access: BTreeMap::new(),
        }
    }
}

/// Memory pool of a device.
struct Pool {
    device: c_int,
    /// Maximum number of allocated bytes.
    max_bytes: u64,
    attributes: Mutex<Attributes>,
}

/// The pools of all devices.
static POOLS: Registry<Pool> = Registry::new();

/// Handles of the pools of a device.
#[derive(Clone, Copy)]
struct DevicePools {
    /// Default pool, which exists as long as the device.
    default: usize,
    /// Pool from which a program allocates if it names none.
    current: usize,
}

/// Locks the map of device pools. It contains each device whose pools have been requested.
fn all_device_pools() -> MutexGuard<'static, BTreeMap<c_int, DevicePools>> {
    static POOLS_OF: Mutex<BTreeMap<c_int, DevicePools>> = Mutex::new(BTreeMap::new());
    POOLS_OF.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the pools of a device.
fn device_pools(device: c_int) -> Result<DevicePools> {
    let device = device::checked(device)?;
    let create = || {
        let default = POOLS.insert(Pool::new(device, settings().memory)).addr();
        DevicePools { default, current: default }
    };
    Ok(*all_device_pools().entry(device).or_insert_with(create))
}

/// Attributes of a pool, a `CUmemPool_attribute`.
mod attribute {
    use std::ffi::c_uint;

    pub(super) const REUSE_FOLLOW_EVENT_DEPENDENCIES: c_uint = 1;
    pub(super) const REUSE_ALLOW_OPPORTUNISTIC: c_uint = 2;
    pub(super) const REUSE_ALLOW_INTERNAL_DEPENDENCIES: c_uint = 3;
    pub(super) const RELEASE_THRESHOLD: c_uint = 4;
    pub(super) const RESERVED_CURRENT: c_uint = 5;
    pub(super) const RESERVED_HIGH: c_uint = 6;
    pub(super) const USED_CURRENT: c_uint = 7;
    pub(super) const USED_HIGH: c_uint = 8;
    pub(super) const ALLOCATION_TYPE: c_uint = 9;
    pub(super) const EXPORT_HANDLE_TYPES: c_uint = 10;
    pub(super) const LOCATION_ID: c_uint = 11;
    pub(super) const LOCATION_TYPE: c_uint = 12;
    pub(super) const MAX_SIZE: c_uint = 13;
    pub(super) const HW_DECOMPRESS_ENABLED: c_uint = 14;
}

/// Value of an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    Int(c_int),
    Bytes(u64),
}

impl Pool {
    fn new(device: c_int, max_bytes: u64) -> Pool {
        Pool { device, max_bytes, attributes: Mutex::default() }
    }

    /// Returns the pool with the given handle.
    fn checked(handle: *mut c_void) -> Result<Arc<Pool>> {
        POOLS.get(handle).ok_or(Status::INVALID_VALUE)
    }

    /// Locks the values that a program can set.
    fn attributes(&self) -> MutexGuard<'_, Attributes> {
        self.attributes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an attribute of the pool. `usage` counts the memory of the pool.
    fn attribute(&self, number: c_uint, usage: memory::Usage) -> Result<Value> {
        let attributes = self.attributes();
        Ok(match number {
            attribute::REUSE_FOLLOW_EVENT_DEPENDENCIES => Value::Int(attributes.follow_events),
            attribute::REUSE_ALLOW_OPPORTUNISTIC => Value::Int(attributes.opportunistic),
            attribute::REUSE_ALLOW_INTERNAL_DEPENDENCIES => Value::Int(attributes.internal_dependencies),
            attribute::RELEASE_THRESHOLD => Value::Bytes(attributes.release_threshold),
            // No free memory is reserved.
            attribute::RESERVED_CURRENT | attribute::USED_CURRENT => Value::Bytes(usage.current),
            attribute::RESERVED_HIGH | attribute::USED_HIGH => Value::Bytes(usage.peak),
            attribute::ALLOCATION_TYPE => Value::Int(allocation_type::PINNED as c_int),
            attribute::EXPORT_HANDLE_TYPES | attribute::HW_DECOMPRESS_ENABLED => Value::Int(0),
            attribute::LOCATION_ID => Value::Int(self.device),
            attribute::LOCATION_TYPE => Value::Int(Location::DEVICE as c_int),
            attribute::MAX_SIZE => Value::Bytes(self.max_bytes),
            _ => return Err(Status::INVALID_VALUE),
        })
    }

    /// Sets an attribute. A high-water mark can only be set to 0, and the caller performs the reset.
    ///
    /// # Safety
    /// `value` is valid for a read of the attribute's type.
    unsafe fn set_attribute(&self, number: c_uint, value: *const c_void) -> Result<()> {
        // SAFETY: the caller upholds this function's contract.
        let int = || unsafe { value.cast::<c_int>().read() };
        // SAFETY: as above.
        let bytes = || unsafe { value.cast::<u64>().read() };
        let mut attributes = self.attributes();
        match number {
            attribute::REUSE_FOLLOW_EVENT_DEPENDENCIES => attributes.follow_events = int(),
            attribute::REUSE_ALLOW_OPPORTUNISTIC => attributes.opportunistic = int(),
            attribute::REUSE_ALLOW_INTERNAL_DEPENDENCIES => attributes.internal_dependencies = int(),
            attribute::RELEASE_THRESHOLD => attributes.release_threshold = bytes(),
            attribute::RESERVED_HIGH | attribute::USED_HIGH if bytes() == 0 => {}
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    }

    /// Returns the rights of a device.
    fn access(&self, device: c_int) -> c_uint {
        if device == self.device {
            access::READ_WRITE
        } else {
            self.attributes().access.get(&device).copied().unwrap_or(access::NONE)
        }
    }

    /// Sets the rights of devices. If one description is invalid, changes no rights. The pool's own device keeps its
    /// rights.
    fn set_access(&self, descriptions: &[AccessDescription]) -> Result<()> {
        let mut changes = Vec::new();
        for AccessDescription { location, flags } in descriptions {
            let device = location.device()?;
            let is_known = [access::NONE, access::READ, access::READ_WRITE].contains(flags);
            if !is_known || (device == self.device && *flags != access::READ_WRITE) {
                return Err(Status::INVALID_VALUE);
            }
            changes.push((device, *flags));
        }
        self.attributes().access.extend(changes);
        Ok(())
    }
}

/// Returns the handle of the pool from which the block that contains an address was allocated, or 0.
pub fn handle_at(address: u64) -> usize {
    memory::pool_of(address).filter(|pool| POOLS.get(without_provenance_mut(*pool)).is_some()).unwrap_or(0)
}

/// Allocates from a pool for the current context, and stores the address.
///
/// # Safety
/// `to` is null or valid for a write.
unsafe fn allocate(to: *mut u64, bytes: usize, pool: *mut c_void, context: &context::Context) -> Result<()> {
    let found = Pool::checked(pool)?;
    if to.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let address = memory::allocate_from_pool(bytes as u64, pool.addr(), found.max_bytes, found.device, context.id())?;
    // SAFETY: the caller upholds this function's contract.
    unsafe { write_out(to, address) }
}

/// Allocates memory from the current pool of the device, on a stream.
///
/// # Safety
/// `to` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocAsync(to: *mut u64, bytes: usize, stream: *mut c_void) -> Status {
    enter("cuMemAllocAsync", || {
        let context = context::usable()?;
        stream::checked(stream)?;
        let pool = device_pools(context.device)?.current;
        // SAFETY: the caller upholds this function's contract.
        unsafe { allocate(to, bytes, without_provenance_mut(pool), &context) }
    })
}

/// Allocates memory from a pool, on a stream.
///
/// # Safety
/// `to` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocFromPoolAsync(
    to: *mut u64,
    bytes: usize,
    pool: *mut c_void,
    stream: *mut c_void,
) -> Status {
    enter("cuMemAllocFromPoolAsync", || {
        let context = context::usable()?;
        stream::checked(stream)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { allocate(to, bytes, pool, &context) }
    })
}

/// Frees memory on a stream. The memory need not be that of a pool.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemFreeAsync(address: u64, stream: *mut c_void) -> Status {
    enter("cuMemFreeAsync", || {
        context::usable()?;
        stream::checked(stream)?;
        memory::free(address)
    })
}

/// Creates a pool of device memory, and stores its handle.
///
/// # Safety
/// `pool` is null or valid for a write. `properties` is null or valid for a read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolCreate(pool: *mut *mut c_void, properties: *const PoolProperties) -> Status {
    enter("cuMemPoolCreate", || {
        initialised()?;
        // SAFETY: the caller upholds this function's contract.
        let properties = unsafe { properties.as_ref() }.ok_or(Status::INVALID_VALUE)?;
        let PoolProperties { allocation_type, handle_types, location, max_bytes, .. } = *properties;
        if pool.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        location.checked()?;
        match allocation_type {
            allocation_type::PINNED if handle_types == 0 && location.kind == Location::DEVICE => {}
            allocation_type::PINNED | allocation_type::MANAGED => return Err(Status::NOT_SUPPORTED),
            _ => return Err(Status::INVALID_VALUE),
        }
        let max_bytes = if max_bytes == 0 { settings().memory } else { max_bytes as u64 };
        let handle = POOLS.insert(Pool::new(location.device()?, max_bytes));
        // SAFETY: the pointer is not null, so it is valid for a write by contract.
        unsafe { write_out(pool, handle) }
    })
}

/// Destroys a pool, except for the default pool of a device. Memory of the pool stays allocated.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemPoolDestroy(pool: *mut c_void) -> Status {
    enter("cuMemPoolDestroy", || {
        initialised()?;
        let mut devices = all_device_pools();
        if devices.values().any(|pools| pools.default == pool.addr()) {
            return Err(Status::INVALID_VALUE);
        }
        POOLS.remove(pool).ok_or(Status::INVALID_VALUE)?;
        for pools in devices.values_mut().filter(|pools| pools.current == pool.addr()) {
            pools.current = pools.default;
        }
        drop(devices);
        memory::close(Account::Pool(pool.addr()));
        Ok(())
    })
}

/// Stores an attribute of a pool.
///
/// # Safety
/// `value` is null or valid for a write of the attribute's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolGetAttribute(pool: *mut c_void, number: c_uint, value: *mut c_void) -> Status {
    enter("cuMemPoolGetAttribute", || {
        initialised()?;
        let usage = memory::usage(Account::Pool(pool.addr()));
        match Pool::checked(pool)?.attribute(number, usage)? {
            // SAFETY: the caller upholds this function's contract.
            Value::Int(int) => unsafe { write_out(value.cast(), int) },
            // SAFETY: as above.
            Value::Bytes(bytes) => unsafe { write_out(value.cast(), bytes) },
        }
    })
}

/// Sets an attribute of a pool. A high-water mark can only be set to 0, which makes it the current size.
///
/// # Safety
/// `value` is null or valid for a read of the attribute's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolSetAttribute(pool: *mut c_void, number: c_uint, value: *const c_void) -> Status {
    enter("cuMemPoolSetAttribute", || {
        initialised()?;
        let found = Pool::checked(pool)?;
        if value.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the pointer is not null, so it is valid for a read of the attribute's type by contract.
        unsafe { found.set_attribute(number, value) }?;
        if matches!(number, attribute::RESERVED_HIGH | attribute::USED_HIGH) {
            memory::reset_peak(Account::Pool(pool.addr()));
        }
        Ok(())
    })
}

/// Releases free memory of a pool to the system. Pools keep no free memory, so the call has no effect.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemPoolTrimTo(pool: *mut c_void, _bytes_to_keep: usize) -> Status {
    enter("cuMemPoolTrimTo", || {
        initialised()?;
        Pool::checked(pool).map(|_| ())
    })
}

/// Sets the rights of devices to access a pool.
///
/// # Safety
/// `descriptions` is null or valid for reads of `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolSetAccess(
    pool: *mut c_void,
    descriptions: *const AccessDescription,
    count: usize,
) -> Status {
    enter("cuMemPoolSetAccess", || {
        initialised()?;
        let found = Pool::checked(pool)?;
        if count == 0 {
            return Ok(());
        }
        if descriptions.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the pointer is not null, so it is valid for reads by contract.
        found.set_access(unsafe { std::slice::from_raw_parts(descriptions, count) })
    })
}

/// Stores the rights of a device to access a pool.
///
/// # Safety
/// `flags` is null or valid for a write. `location` is null or valid for a read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolGetAccess(
    flags: *mut c_uint,
    pool: *mut c_void,
    location: *const Location,
) -> Status {
    enter("cuMemPoolGetAccess", || {
        initialised()?;
        let found = Pool::checked(pool)?;
        // SAFETY: the caller upholds this function's contract.
        let location = unsafe { location.as_ref() }.ok_or(Status::INVALID_VALUE)?;
        // SAFETY: as above.
        unsafe { write_out(flags, found.access(location.device()?)) }
    })
}

/// Stores the default pool of a device.
///
/// # Safety
/// `pool` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetDefaultMemPool(pool: *mut *mut c_void, device: c_int) -> Status {
    enter("cuDeviceGetDefaultMemPool", || {
        initialised()?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(pool, without_provenance_mut(device_pools(device)?.default)) }
    })
}

/// Stores the current pool of a device.
///
/// # Safety
/// `pool` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetMemPool(pool: *mut *mut c_void, device: c_int) -> Status {
    enter("cuDeviceGetMemPool", || {
        initialised()?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(pool, without_provenance_mut(device_pools(device)?.current)) }
    })
}

/// Sets the current pool of a device, which must be one of the device's own.
#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceSetMemPool(device: c_int, pool: *mut c_void) -> Status {
    enter("cuDeviceSetMemPool", || {
        initialised()?;
        device_pools(device)?;
        let mut devices = all_device_pools();
        // A pool is removed while the devices are locked, so that it stays valid here.
        if Pool::checked(pool)?.device != device {
            return Err(Status::INVALID_VALUE);
        }
        if let Some(pools) = devices.get_mut(&device) {
            pools.current = pool.addr();
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device_access(device: c_int, flags: c_uint) -> AccessDescription {
        AccessDescription { location: Location { kind: Location::DEVICE, number: device }, flags }
    }

    #[test]
    fn attributes_keep_their_values() {
        let pool = Pool::new(0, 4096);
        let usage = memory::Usage { current: 512, peak: 1024 };
        let value = |number| pool.attribute(number, usage);
        assert_eq!(value(attribute::REUSE_ALLOW_OPPORTUNISTIC), Ok(Value::Int(1)));
        let int: c_int = 0;
        let bytes: u64 = 7;
        // SAFETY: the pointers are those of values of the attributes' types.
        unsafe {
            let (int, bytes) = ((&raw const int).cast(), (&raw const bytes).cast());
            assert_eq!(pool.set_attribute(attribute::REUSE_ALLOW_OPPORTUNISTIC, int), Ok(()));
            assert_eq!(pool.set_attribute(attribute::RELEASE_THRESHOLD, bytes), Ok(()));
            assert_eq!(pool.set_attribute(attribute::USED_HIGH, bytes), Err(Status::INVALID_VALUE));
            assert_eq!(pool.set_attribute(attribute::USED_CURRENT, bytes), Err(Status::INVALID_VALUE));
        }
        assert_eq!(value(attribute::REUSE_ALLOW_OPPORTUNISTIC), Ok(Value::Int(0)));
        assert_eq!(value(attribute::REUSE_FOLLOW_EVENT_DEPENDENCIES), Ok(Value::Int(1)));
        assert_eq!(value(attribute::RELEASE_THRESHOLD), Ok(Value::Bytes(7)));
        assert_eq!(value(attribute::USED_CURRENT), Ok(Value::Bytes(512)));
        assert_eq!(value(attribute::USED_HIGH), Ok(Value::Bytes(1024)));
        assert_eq!(value(attribute::MAX_SIZE), Ok(Value::Bytes(4096)));
        assert_eq!(value(99), Err(Status::INVALID_VALUE));
    }

    #[test]
    fn a_device_keeps_the_access_to_its_own_pool() {
        assert_eq!(crate::init::cuInit(0), Status::SUCCESS);
        let pool = Pool::new(0, 4096);
        assert_eq!((pool.access(0), pool.access(1)), (access::READ_WRITE, access::NONE));
        assert_eq!(pool.set_access(&[device_access(0, access::READ_WRITE)]), Ok(()));
        for flags in [access::NONE, access::READ, 2] {
            assert_eq!(pool.set_access(&[device_access(0, flags)]), Err(Status::INVALID_VALUE));
        }
        assert_eq!(pool.set_access(&[device_access(-1, access::READ)]), Err(Status::INVALID_DEVICE));
        assert_eq!(pool.access(0), access::READ_WRITE);
    }

    #[test]
    fn structures_have_the_sizes_of_the_interface() {
        assert_eq!((size_of::<Location>(), size_of::<AccessDescription>()), (8, 12));
        assert_eq!(size_of::<PoolProperties>(), 88);
    }
}
