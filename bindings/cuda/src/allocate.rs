//! Allocation of device memory, host memory and managed memory, and registration of host memory.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::with_exposed_provenance_mut;

use crate::context;
use crate::device;
use crate::entry::{enter, write_out};
use crate::memory::{self, Account, MemoryKind};
use crate::pool::Location;
use crate::settings::settings;
use crate::status::{Result, Status};
use crate::stream;

/// Alignment of the rows of pitched memory in bytes.
const PITCH_ALIGNMENT: usize = 512;
/// Maximum distance between rows in bytes: the device attribute `MAX_PITCH`.
const MAX_PITCH: usize = i32::MAX as usize;

/// Number that denotes the host in place of a device.
const HOST_DEVICE: c_int = -1;

/// Flags of host memory.
mod host_flags {
    use std::ffi::c_uint;

    /// All flags of an allocation: portable, mapped, and write-combined.
    pub(super) const ALLOCATION: c_uint = 7;
    /// All flags of a registration: portable, mapped, memory of an I/O device, and read-only.
    pub(super) const REGISTRATION: c_uint = 15;
}

/// Initial attachments of managed memory to streams.
mod attach {
    use std::ffi::c_uint;

    pub(super) const GLOBAL: c_uint = 1;
    pub(super) const HOST: c_uint = 2;
}

/// Advice about managed memory, a `CUmem_advise`.
mod advice {
    use std::ffi::c_uint;

    pub(super) const SET_READ_MOSTLY: c_uint = 1;
    pub(super) const SET_PREFERRED_LOCATION: c_uint = 3;
    pub(super) const SET_ACCESSED_BY: c_uint = 5;
    pub(super) const UNSET_ACCESSED_BY: c_uint = 6;
}

/// Allocates memory for the current context, and stores its address.
///
/// # Safety
/// `to` is null or valid for a write.
unsafe fn allocate(to: *mut u64, bytes: usize, kind: MemoryKind) -> Result<()> {
    let context = context::usable()?;
    if to.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let address = memory::allocate(bytes as u64, kind, context.id())?;
    // SAFETY: the pointer is not null, so it is valid for a write by contract.
    unsafe { write_out(to, address) }
}

/// Allocates host memory with flags, and stores its address.
///
/// # Safety
/// `to` is null or valid for a write.
unsafe fn allocate_host(to: *mut *mut c_void, bytes: usize, flags: c_uint) -> Result<()> {
    let context = context::usable()?;
    if to.is_null() || flags & !host_flags::ALLOCATION != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let address = memory::allocate(bytes as u64, MemoryKind::Host, context.id())?;
    memory::set_options(address, |options| options.flags = flags)?;
    // SAFETY: the pointer is not null, so it is valid for a write by contract.
    unsafe { write_out(to, with_exposed_provenance_mut(address as usize)) }
}

/// Allocates device memory, and stores its address. The content of the memory is unspecified.
///
/// # Safety
/// `to` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(to: *mut u64, bytes: usize) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemAlloc_v2", || unsafe { allocate(to, bytes, MemoryKind::Device) })
}

/// Returns the distance between rows, and the size of all rows.
fn pitched(width: usize, height: usize, element: c_uint) -> Result<(usize, usize)> {
    if width == 0 || height == 0 || !matches!(element, 4 | 8 | 16) {
        return Err(Status::INVALID_VALUE);
    }
    let pitch = width.checked_next_multiple_of(PITCH_ALIGNMENT).filter(|pitch| *pitch <= MAX_PITCH);
    let pitch = pitch.ok_or(Status::INVALID_VALUE)?;
    Ok((pitch, pitch.checked_mul(height).ok_or(Status::OUT_OF_MEMORY)?))
}

/// Allocates rows in device memory, and stores their address and the distance between them. `width` is in bytes;
/// `element` is the size of an access in bytes.
///
/// # Safety
/// `to` and `pitch` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocPitch_v2(
    to: *mut u64,
    pitch: *mut usize,
    width: usize,
    height: usize,
    element: c_uint,
) -> Status {
    enter("cuMemAllocPitch_v2", || {
        context::usable()?;
        let (distance, bytes) = pitched(width, height, element)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe {
            write_out(pitch, distance)?;
            allocate(to, bytes, MemoryKind::Device)
        }
    })
}

/// Frees device or managed memory. Address 0 is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemFree_v2(address: u64) -> Status {
    enter("cuMemFree_v2", || {
        context::usable()?;
        memory::free(address)
    })
}

/// Stores the number of free bytes of the current device, and the number of all bytes.
///
/// # Safety
/// `free` and `total` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> Status {
    enter("cuMemGetInfo_v2", || {
        let all = settings().memory;
        let used = memory::usage(Account::Device(context::usable()?.device)).current;
        // SAFETY: the caller upholds this function's contract.
        unsafe {
            write_out(free, all.saturating_sub(used) as usize)?;
            write_out(total, all as usize)
        }
    })
}

/// Stores the start and the size of the block that contains an address. Each of the two pointers may be null.
///
/// # Safety
/// `start` and `bytes` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetAddressRange_v2(start: *mut u64, bytes: *mut usize, address: u64) -> Status {
    enter("cuMemGetAddressRange_v2", || {
        context::usable()?;
        let block = memory::find(address).ok_or(Status::NOT_FOUND)?;
        if !start.is_null() {
            // SAFETY: the pointer is not null, so it is valid for a write by contract.
            unsafe { start.write(block.start) };
        }
        if !bytes.is_null() {
            // SAFETY: as above.
            unsafe { bytes.write(block.bytes as usize) };
        }
        Ok(())
    })
}

/// Allocates host memory that devices can access, and stores its address.
///
/// # Safety
/// `to` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocHost_v2(to: *mut *mut c_void, bytes: usize) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemAllocHost_v2", || unsafe { allocate_host(to, bytes, 0) })
}

/// Allocates host memory that devices can access, and stores its address. The flags have no effect.
///
/// # Safety
/// `to` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostAlloc(to: *mut *mut c_void, bytes: usize, flags: c_uint) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemHostAlloc", || unsafe { allocate_host(to, bytes, flags) })
}

/// Frees host memory that the driver has allocated. A null pointer is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemFreeHost(pointer: *mut c_void) -> Status {
    enter("cuMemFreeHost", || {
        context::usable()?;
        memory::free_host(pointer.addr() as u64)
    })
}

/// Registers memory of the program, so that devices can access it.
///
/// # Safety
/// The memory is valid for reads and writes until it is unregistered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, flags: c_uint) -> Status {
    enter("cuMemHostRegister_v2", || {
        let context = context::usable()?;
        if flags & !host_flags::REGISTRATION != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let start = pointer.expose_provenance() as u64;
        memory::add(start, bytes as u64, MemoryKind::Registered, context.id())?;
        memory::set_options(start, |options| options.flags = flags)
    })
}

/// Reverses the registration of memory. `pointer` is the start of the memory.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemHostUnregister(pointer: *mut c_void) -> Status {
    enter("cuMemHostUnregister", || {
        context::usable()?;
        if pointer.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let start = pointer.addr() as u64;
        memory::remove_registered(start).map(|_| ()).ok_or(Status::HOST_MEMORY_NOT_REGISTERED)
    })
}

/// Checks that a pointer points to host memory that devices can access, and returns its address.
fn checked_host(pointer: *mut c_void) -> Result<u64> {
    let address = pointer.addr() as u64;
    let block = memory::find(address).filter(|block| matches!(block.kind, MemoryKind::Host | MemoryKind::Registered));
    block.map(|_| address).ok_or(Status::INVALID_VALUE)
}

/// Stores the device address of host memory, which equals its host address.
///
/// # Safety
/// `address` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostGetDevicePointer_v2(
    address: *mut u64,
    pointer: *mut c_void,
    flags: c_uint,
) -> Status {
    enter("cuMemHostGetDevicePointer_v2", || {
        context::usable()?;
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(address, checked_host(pointer)?) }
    })
}

/// Stores the flags with which host memory was allocated or registered.
///
/// # Safety
/// `flags` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostGetFlags(flags: *mut c_uint, pointer: *mut c_void) -> Status {
    enter("cuMemHostGetFlags", || {
        context::usable()?;
        let options = memory::options(checked_host(pointer)?).ok_or(Status::INVALID_VALUE)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(flags, options.flags) }
    })
}

/// Allocates memory that devices and the host share, and stores its address.
///
/// # Safety
/// `to` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocManaged(to: *mut u64, bytes: usize, flags: c_uint) -> Status {
    enter("cuMemAllocManaged", || {
        context::usable()?;
        if !matches!(flags, attach::GLOBAL | attach::HOST) {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller upholds this function's contract.
        unsafe { allocate(to, bytes, MemoryKind::Managed) }
    })
}

/// Checks that bytes lie in one block of managed memory.
fn checked_managed(address: u64, bytes: usize) -> Result<()> {
    let block = memory::find(address).filter(|block| block.kind == MemoryKind::Managed);
    if bytes == 0 || block.is_none() {
        return Err(Status::INVALID_VALUE);
    }
    memory::checked(address, bytes as u64)
}

/// Checks the number of a device, or the number that denotes the host.
fn checked_device_or_host(device: c_int) -> Result<()> {
    if device == HOST_DEVICE { Ok(()) } else { device::checked(device).map(|_| ()) }
}

/// Moves managed memory to a device or to the host, on a stream. Both share the memory of the process.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemPrefetchAsync(address: u64, bytes: usize, device: c_int, stream: *mut c_void) -> Status {
    enter("cuMemPrefetchAsync", || {
        context::usable()?;
        stream::checked(stream)?;
        checked_device_or_host(device)?;
        checked_managed(address, bytes)
    })
}

/// Moves managed memory to a location, on a stream. All locations share the memory of the process.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemPrefetchAsync_v2(
    address: u64,
    bytes: usize,
    location: Location,
    flags: c_uint,
    stream: *mut c_void,
) -> Status {
    enter("cuMemPrefetchAsync_v2", || {
        context::usable()?;
        stream::checked(stream)?;
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        location.checked()?;
        checked_managed(address, bytes)
    })
}

/// Checks advice about managed memory. `checked_location` checks the location. It is called only for advice that has a
/// location.
fn advise(address: u64, bytes: usize, advice: c_uint, checked_location: impl FnOnce() -> Result<()>) -> Result<()> {
    context::usable()?;
    match advice {
        advice::SET_PREFERRED_LOCATION | advice::SET_ACCESSED_BY | advice::UNSET_ACCESSED_BY => checked_location()?,
        advice::SET_READ_MOSTLY..=advice::UNSET_ACCESSED_BY => {}
        _ => return Err(Status::INVALID_VALUE),
    }
    checked_managed(address, bytes)
}

/// Gives advice about the use of managed memory, which has no effect.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemAdvise(address: u64, bytes: usize, advice: c_uint, device: c_int) -> Status {
    enter("cuMemAdvise", || advise(address, bytes, advice, || checked_device_or_host(device)))
}

/// Gives advice about the use of managed memory, which has no effect.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemAdvise_v2(address: u64, bytes: usize, advice: c_uint, location: Location) -> Status {
    enter("cuMemAdvise_v2", || advise(address, bytes, advice, || location.checked()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_aligned() {
        assert_eq!(pitched(1, 3, 4), Ok((512, 1536)));
        assert_eq!(pitched(512, 3, 8), Ok((512, 1536)));
        assert_eq!(pitched(513, 1, 16), Ok((1024, 1024)));
    }

    #[test]
    fn sizes_of_rows_are_checked() {
        for (width, height, element) in
            [(0, 1, 4), (1, 0, 4), (1, 1, 0), (1, 1, 5), (MAX_PITCH, 1, 4), (usize::MAX, 1, 4)]
        {
            assert_eq!(pitched(width, height, element), Err(Status::INVALID_VALUE));
        }
        assert_eq!(pitched(1, usize::MAX, 4), Err(Status::OUT_OF_MEMORY));
    }
}
