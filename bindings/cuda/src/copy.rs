//! Copies of contiguous memory.

use std::ffi::c_void;
use std::ptr::{self, with_exposed_provenance, with_exposed_provenance_mut};

use crate::context;
use crate::entry::enter;
use crate::memory;
use crate::status::{Result, Status};
use crate::stream;

/// Source or destination address of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Address in host memory, which the driver cannot check.
    Host(u64),
    /// Address in a block of the table of allocations.
    Device(u64),
    /// Address in host memory or in a block of the table of allocations.
    Unified(u64),
}

impl Side {
    /// Converts a pointer to host memory.
    fn host(pointer: *const c_void) -> Side {
        Side::Host(pointer.expose_provenance() as u64)
    }

    /// Returns the address.
    pub fn address(self) -> u64 {
        match self {
            Side::Host(address) | Side::Device(address) | Side::Unified(address) => address,
        }
    }

    /// Adds an offset in bytes. Returns [`Status::INVALID_VALUE`] if the address overflows.
    pub fn offset(self, bytes: u64) -> Result<Side> {
        let offset = |address: u64| address.checked_add(bytes).ok_or(Status::INVALID_VALUE);
        Ok(match self {
            Side::Host(address) => Side::Host(offset(address)?),
            Side::Device(address) => Side::Device(offset(address)?),
            Side::Unified(address) => Side::Unified(offset(address)?),
        })
    }

    /// Checks that `bytes` bytes at the address lie in a live block. Unified addresses may also lie outside of the
    /// table of allocations. For host addresses, only a null pointer is an error.
    pub fn checked(self, bytes: u64) -> Result<()> {
        match self {
            Side::Host(0) if bytes != 0 => Err(Status::INVALID_VALUE),
            Side::Host(_) => Ok(()),
            Side::Device(address) => memory::checked(address, bytes),
            Side::Unified(address) => memory::checked_or_host(address, bytes),
        }
    }
}

/// Copies bytes between two addresses, whose memory may overlap.
///
/// # Safety
/// The source is valid for reads of `bytes` bytes, and the destination for writes.
pub unsafe fn copy_unchecked(to: u64, from: u64, bytes: usize) {
    let (to, from) = (with_exposed_provenance_mut::<u8>(to as usize), with_exposed_provenance::<u8>(from as usize));
    // SAFETY: the caller upholds this function's contract.
    unsafe { ptr::copy(from, to, bytes) };
    memory::copy_initialised(to.addr() as u64, from.addr() as u64, bytes as u64);
}

/// Checks the source and the destination, and copies. The memory of the sides may overlap.
///
/// # Safety
/// Host memory is valid for the access. No other code accesses the memory meanwhile.
pub unsafe fn copy(to: Side, from: Side, bytes: usize) -> Result<()> {
    to.checked(bytes as u64)?;
    from.checked(bytes as u64)?;
    if bytes != 0 {
        // SAFETY: the blocks of the table are valid, and the caller ensures that host memory is.
        unsafe { copy_unchecked(to.address(), from.address(), bytes) };
    }
    Ok(())
}

/// Copies memory in the current context.
///
/// # Safety
/// As [`copy`].
unsafe fn copy_now(to: Side, from: Side, bytes: usize) -> Result<()> {
    context::usable()?;
    // SAFETY: the caller upholds this function's contract.
    unsafe { copy(to, from, bytes) }
}

/// Copies memory on a stream of the current context.
///
/// # Safety
/// As [`copy`].
unsafe fn copy_on(stream: *mut c_void, to: Side, from: Side, bytes: usize) -> Result<()> {
    context::usable()?;
    stream::checked(stream)?;
    // SAFETY: the caller upholds this function's contract.
    unsafe { copy(to, from, bytes) }
}

/// Copies host or device memory.
///
/// # Safety
/// Memory that the driver has not allocated is valid for the access. No other code accesses the memory meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy(to: u64, from: u64, bytes: usize) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemcpy", || unsafe { copy_now(Side::Unified(to), Side::Unified(from), bytes) })
}

/// Copies host or device memory, on a stream.
///
/// # Safety
/// As [`cuMemcpy`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAsync(to: u64, from: u64, bytes: usize, stream: *mut c_void) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemcpyAsync", || unsafe { copy_on(stream, Side::Unified(to), Side::Unified(from), bytes) })
}

/// Copies host memory to a device.
///
/// # Safety
/// `from` is null or valid for reads of `bytes` bytes. No other code accesses the memory meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemcpyHtoD_v2", || unsafe { copy_now(Side::Device(to), Side::host(from), bytes) })
}

/// Copies host memory to a device, on a stream.
///
/// # Safety
/// As [`cuMemcpyHtoD_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    to: u64,
    from: *const c_void,
    bytes: usize,
    stream: *mut c_void,
) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemcpyHtoDAsync_v2", || unsafe { copy_on(stream, Side::Device(to), Side::host(from), bytes) })
}

/// Copies device memory to the host.
///
/// # Safety
/// `to` is null or valid for writes of `bytes` bytes. No other code accesses the memory meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemcpyDtoH_v2", || unsafe { copy_now(Side::host(to), Side::Device(from), bytes) })
}

/// Copies device memory to the host, on a stream.
///
/// # Safety
/// As [`cuMemcpyDtoH_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, stream: *mut c_void) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemcpyDtoHAsync_v2", || unsafe { copy_on(stream, Side::host(to), Side::Device(from), bytes) })
}

/// Copies device memory.
///
/// # Safety
/// No other code accesses the memory meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemcpyDtoD_v2", || unsafe { copy_now(Side::Device(to), Side::Device(from), bytes) })
}

/// Copies device memory, on a stream.
///
/// # Safety
/// As [`cuMemcpyDtoD_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: *mut c_void) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemcpyDtoDAsync_v2", || unsafe { copy_on(stream, Side::Device(to), Side::Device(from), bytes) })
}

/// Copies device memory to another device. Both devices share the memory of the process, so the contexts are checked
/// but not used.
///
/// # Safety
/// No other code accesses the memory meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyPeer(
    to: u64,
    to_context: *mut c_void,
    from: u64,
    from_context: *mut c_void,
    bytes: usize,
) -> Status {
    enter("cuMemcpyPeer", || {
        context::usable()?;
        context::bindable(to_context)?;
        context::bindable(from_context)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { copy(Side::Device(to), Side::Device(from), bytes) }
    })
}

/// Copies device memory to another device, on a stream.
///
/// # Safety
/// As [`cuMemcpyPeer`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyPeerAsync(
    to: u64,
    to_context: *mut c_void,
    from: u64,
    from_context: *mut c_void,
    bytes: usize,
    stream: *mut c_void,
) -> Status {
    enter("cuMemcpyPeerAsync", || {
        context::usable()?;
        stream::checked(stream)?;
        context::bindable(to_context)?;
        context::bindable(from_context)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { copy(Side::Device(to), Side::Device(from), bytes) }
    })
}
