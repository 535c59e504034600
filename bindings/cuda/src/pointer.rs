//! Attributes of addresses.

use std::ffi::{c_uint, c_void};

use crate::entry::{enter, write_out};
use crate::init::initialised;
use crate::memory::{self, Block, MemoryKind};
use crate::pool;
use crate::status::{Result, Status};

/// Attributes of an address, a `CUpointer_attribute`.
mod attribute {
    use std::ffi::c_uint;

    pub(super) const CONTEXT: c_uint = 1;
    pub(super) const MEMORY_TYPE: c_uint = 2;
    pub(super) const DEVICE_POINTER: c_uint = 3;
    pub(super) const HOST_POINTER: c_uint = 4;
    pub(super) const P2P_TOKENS: c_uint = 5;
    pub(super) const SYNC_MEMOPS: c_uint = 6;
    pub(super) const BUFFER_ID: c_uint = 7;
    pub(super) const IS_MANAGED: c_uint = 8;
    pub(super) const DEVICE_ORDINAL: c_uint = 9;
    pub(super) const IS_LEGACY_CUDA_IPC_CAPABLE: c_uint = 10;
    pub(super) const RANGE_START_ADDR: c_uint = 11;
    pub(super) const RANGE_SIZE: c_uint = 12;
    pub(super) const MAPPED: c_uint = 13;
    pub(super) const ALLOWED_HANDLE_TYPES: c_uint = 14;
    pub(super) const IS_GPU_DIRECT_RDMA_CAPABLE: c_uint = 15;
    pub(super) const ACCESS_FLAGS: c_uint = 16;
    pub(super) const MEMPOOL_HANDLE: c_uint = 17;
    pub(super) const MAPPING_SIZE: c_uint = 18;
    pub(super) const MAPPING_BASE_ADDR: c_uint = 19;
    pub(super) const MEMORY_BLOCK_ID: c_uint = 20;
    pub(super) const IS_HW_DECOMPRESS_CAPABLE: c_uint = 21;
    pub(super) const LOCALITY_DOMAIN_ORDINAL: c_uint = 22;
}

/// Types of memory, a `CUmemorytype`.
mod memory_type {
    pub(super) const HOST: u64 = 1;
    pub(super) const DEVICE: u64 = 2;
}

/// Rights to access memory, a `CUmemAccess_flags`.
const READ_WRITE: u64 = 3;

/// Type of an attribute's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ValueType {
    /// Number, truth value or enumeration of 4 bytes.
    Word,
    /// Number, address or handle of 8 bytes.
    Long,
}

/// Returns the type of an attribute's value, or an error if there is no such attribute.
fn type_of(number: c_uint) -> Result<ValueType> {
    match number {
        attribute::CONTEXT
        | attribute::DEVICE_POINTER
        | attribute::HOST_POINTER
        | attribute::BUFFER_ID
        | attribute::RANGE_START_ADDR
        | attribute::RANGE_SIZE
        | attribute::ALLOWED_HANDLE_TYPES
        | attribute::MEMPOOL_HANDLE
        | attribute::MAPPING_SIZE
        | attribute::MAPPING_BASE_ADDR
        | attribute::MEMORY_BLOCK_ID => Ok(ValueType::Long),
        attribute::P2P_TOKENS => Err(Status::NOT_SUPPORTED),
        attribute::MEMORY_TYPE
        | attribute::SYNC_MEMOPS
        | attribute::IS_MANAGED
        | attribute::DEVICE_ORDINAL
        | attribute::IS_LEGACY_CUDA_IPC_CAPABLE
        | attribute::MAPPED
        | attribute::IS_GPU_DIRECT_RDMA_CAPABLE
        | attribute::ACCESS_FLAGS
        | attribute::IS_HW_DECOMPRESS_CAPABLE
        | attribute::LOCALITY_DOMAIN_ORDINAL => Ok(ValueType::Word),
        _ => Err(Status::INVALID_VALUE),
    }
}

/// Returns an attribute of an address in a block.
fn value(number: c_uint, address: u64, block: &Block) -> Result<u64> {
    let is_host = matches!(block.kind, MemoryKind::Host | MemoryKind::Registered);
    let is_managed = block.kind == MemoryKind::Managed;
    let owner = memory::owner(address).unwrap_or_default();
    Ok(match number {
        attribute::CONTEXT => owner.handle as u64,
        attribute::MEMORY_TYPE if is_host => memory_type::HOST,
        attribute::MEMORY_TYPE => memory_type::DEVICE,
        attribute::DEVICE_POINTER => address,
        attribute::HOST_POINTER if is_host || is_managed => address,
        attribute::SYNC_MEMOPS => memory::options(address).is_some_and(|options| options.is_synchronous).into(),
        attribute::BUFFER_ID | attribute::MEMORY_BLOCK_ID => block.id,
        attribute::IS_MANAGED => is_managed.into(),
        attribute::DEVICE_ORDINAL => owner.device.unsigned_abs().into(),
        attribute::RANGE_START_ADDR | attribute::MAPPING_BASE_ADDR => block.start,
        attribute::RANGE_SIZE | attribute::MAPPING_SIZE => block.bytes,
        attribute::MAPPED => 1,
        attribute::ACCESS_FLAGS => READ_WRITE,
        attribute::MEMPOOL_HANDLE => pool::handle_at(address) as u64,
        attribute::IS_LEGACY_CUDA_IPC_CAPABLE
        | attribute::ALLOWED_HANDLE_TYPES
        | attribute::IS_GPU_DIRECT_RDMA_CAPABLE
        | attribute::IS_HW_DECOMPRESS_CAPABLE => 0,
        _ => return Err(Status::INVALID_VALUE),
    })
}

/// Stores the value of an attribute.
///
/// # Safety
/// `to` is null or valid for a write of the attribute's type.
unsafe fn store(to: *mut c_void, number: c_uint, value: u64) -> Result<()> {
    match type_of(number)? {
        // SAFETY: the caller upholds this function's contract.
        ValueType::Word => unsafe { write_out(to.cast(), value as u32) },
        // SAFETY: as above.
        ValueType::Long => unsafe { write_out(to.cast(), value) },
    }
}

/// Stores an attribute of an address.
///
/// # Safety
/// `to` is null or valid for a write of the attribute's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuPointerGetAttribute(to: *mut c_void, number: c_uint, address: u64) -> Status {
    enter("cuPointerGetAttribute", || {
        initialised()?;
        type_of(number)?;
        let block = memory::find(address).ok_or(Status::INVALID_VALUE)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { store(to, number, value(number, address, &block)?) }
    })
}

/// Stores attributes of an address. An attribute that the address does not have is 0, and so are all attributes of an
/// address that no block contains.
///
/// # Safety
/// `numbers` and `to` are null or valid for reads of `count` elements. Each element of `to` is null or valid for a
/// write of its attribute's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuPointerGetAttributes(
    count: c_uint,
    numbers: *const c_uint,
    to: *const *mut c_void,
    address: u64,
) -> Status {
    enter("cuPointerGetAttributes", || {
        initialised()?;
        if count == 0 || numbers.is_null() || to.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the pointers are not null, so they are valid for reads by contract.
        let (numbers, to) = unsafe {
            let count = count as usize;
            (std::slice::from_raw_parts(numbers, count), std::slice::from_raw_parts(to, count))
        };
        let block = memory::find(address);
        for (number, to) in numbers.iter().zip(to) {
            let value = block.as_ref().and_then(|block| value(*number, address, block).ok());
            // SAFETY: the caller upholds this function's contract.
            unsafe { store(*to, *number, value.unwrap_or(0)) }?;
        }
        Ok(())
    })
}

/// Sets an attribute of the block that contains an address. Only the attribute that makes all copies synchronous can be
/// set.
///
/// # Safety
/// `value` is null or valid for a read of the attribute's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuPointerSetAttribute(value: *const c_void, number: c_uint, address: u64) -> Status {
    enter("cuPointerSetAttribute", || {
        initialised()?;
        if value.is_null() || number != attribute::SYNC_MEMOPS {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the pointer is not null, so it is valid for a read by contract.
        let is_synchronous = unsafe { value.cast::<c_uint>().read() } != 0;
        memory::set_options(address, |options| options.is_synchronous = is_synchronous)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(kind: MemoryKind) -> Block {
        Block { start: 0x1000, bytes: 100, kind, context: 0, id: 5 }
    }

    #[test]
    fn attributes_depend_on_the_kind_of_memory() {
        let attribute = |number, kind| value(number, 0x1010, &block(kind));
        let host = Ok(memory_type::HOST);
        assert_eq!(attribute(attribute::MEMORY_TYPE, MemoryKind::Host), host);
        assert_eq!(attribute(attribute::MEMORY_TYPE, MemoryKind::Registered), host);
        let device = Ok(memory_type::DEVICE);
        for kind in [MemoryKind::Device, MemoryKind::Managed, MemoryKind::Variable] {
            assert_eq!(attribute(attribute::MEMORY_TYPE, kind), device);
        }
        assert_eq!(attribute(attribute::HOST_POINTER, MemoryKind::Managed), Ok(0x1010));
        assert_eq!(attribute(attribute::HOST_POINTER, MemoryKind::Device), Err(Status::INVALID_VALUE));
        assert_eq!(attribute(attribute::IS_MANAGED, MemoryKind::Managed), Ok(1));
        assert_eq!(attribute(attribute::IS_MANAGED, MemoryKind::Device), Ok(0));
    }

    #[test]
    fn an_address_has_the_range_of_its_block() {
        let attribute = |number| value(number, 0x1010, &block(MemoryKind::Device));
        assert_eq!(attribute(attribute::DEVICE_POINTER), Ok(0x1010));
        assert_eq!(attribute(attribute::RANGE_START_ADDR), Ok(0x1000));
        assert_eq!(attribute(attribute::RANGE_SIZE), Ok(100));
        assert_eq!(attribute(attribute::BUFFER_ID), Ok(5));
    }

    #[test]
    fn unknown_attributes_are_invalid() {
        for number in [0, 23, c_uint::MAX] {
            assert_eq!(type_of(number), Err(Status::INVALID_VALUE));
        }
        assert_eq!(type_of(attribute::P2P_TOKENS), Err(Status::NOT_SUPPORTED));
        assert_eq!(type_of(attribute::DEVICE_ORDINAL), Ok(ValueType::Word));
        assert_eq!(type_of(attribute::RANGE_SIZE), Ok(ValueType::Long));
    }
}
