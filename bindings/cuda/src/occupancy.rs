//! Occupancy: the number of blocks that are resident on a multiprocessor.

use std::ffi::{c_int, c_uint, c_void};

use crate::attributes::{MAX_THREADS, WARP, model_of, resident_blocks};
use crate::entry::{enter, write_out};
use crate::function::{self, Function};
use crate::launch::LaunchConfig;
use crate::settings::settings;
use crate::status::{Result, Status};

/// Callback that returns the dynamic shared memory in bytes of a block of the given size.
type SharedOfBlock = Option<unsafe extern "C" fn(block: c_int) -> usize>;

/// Returns the number of resident blocks of a function.
fn resident(function: &Function, threads: u32, dynamic: usize) -> u32 {
    let shared = function.resources.shared.saturating_add(dynamic as u64);
    let threads = if threads > function.resources.threads { 0 } else { threads };
    resident_blocks(settings().sm, threads, function.resources.registers, u32::try_from(shared).unwrap_or(u32::MAX))
}

/// Stores the number of blocks of a function that are resident on a multiprocessor.
///
/// # Safety
/// `blocks` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: *mut c_int,
    function: *mut c_void,
    threads: c_int,
    dynamic: usize,
) -> Status {
    enter("cuOccupancyMaxActiveBlocksPerMultiprocessor", || {
        let function = function::checked(function)?;
        let threads = u32::try_from(threads).ok().filter(|&threads| threads != 0).ok_or(Status::INVALID_VALUE)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(blocks, resident(&function, threads, dynamic) as c_int) }
    })
}

/// Stores the number of resident blocks as [`cuOccupancyMaxActiveBlocksPerMultiprocessor`] does. The flags have no
/// effect.
///
/// # Safety
/// `blocks` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    blocks: *mut c_int,
    function: *mut c_void,
    threads: c_int,
    dynamic: usize,
    _flags: c_uint,
) -> Status {
    // SAFETY: the caller upholds this function's contract.
    unsafe { cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic) }
}

/// Returns the block size with the most resident threads, and the smallest grid that fills the device. If several sizes
/// are equally good, the largest one is returned.
fn best(function: &Function, limit: u32, dynamic: impl Fn(u32) -> usize) -> Result<(u32, u32)> {
    let most = function.resources.threads.min(MAX_THREADS);
    let most = if limit == 0 { most } else { most.min(limit) };
    let sizes = (1..=most.div_ceil(WARP)).map(|warps| (warps * WARP).min(most));
    let best = sizes.map(|size| (resident(function, size, dynamic(size)), size));
    let (blocks, size) = best.max_by_key(|(blocks, size)| (blocks * size, *size)).ok_or(Status::INVALID_VALUE)?;
    Ok((blocks * settings().multiprocessors, size))
}

/// Stores the block size with the most resident threads, and the smallest grid that fills the device.
///
/// # Safety
/// `grid` and `block` are null or valid for a write; `shared` is null or a function that may be called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxPotentialBlockSize(
    grid: *mut c_int,
    block: *mut c_int,
    function: *mut c_void,
    shared: SharedOfBlock,
    dynamic: usize,
    limit: c_int,
) -> Status {
    enter("cuOccupancyMaxPotentialBlockSize", || {
        let function = function::checked(function)?;
        let limit = u32::try_from(limit).map_err(|_| Status::INVALID_VALUE)?;
        // SAFETY: the caller upholds this function's contract.
        let dynamic = |size: u32| shared.map_or(dynamic, |shared| unsafe { shared(size as c_int) });
        let (blocks, size) = best(&function, limit, dynamic)?;
        // SAFETY: as above.
        unsafe {
            write_out(grid, blocks as c_int)?;
            write_out(block, size as c_int)
        }
    })
}

/// Stores a block size as [`cuOccupancyMaxPotentialBlockSize`] does. The flags have no effect.
///
/// # Safety
/// As [`cuOccupancyMaxPotentialBlockSize`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxPotentialBlockSizeWithFlags(
    grid: *mut c_int,
    block: *mut c_int,
    function: *mut c_void,
    shared: SharedOfBlock,
    dynamic: usize,
    limit: c_int,
    _flags: c_uint,
) -> Status {
    // SAFETY: the caller upholds this function's contract.
    unsafe { cuOccupancyMaxPotentialBlockSize(grid, block, function, shared, dynamic, limit) }
}

/// Stores the dynamic shared memory that each block may use if a number of blocks is resident.
///
/// # Safety
/// `bytes` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyAvailableDynamicSMemPerBlock(
    bytes: *mut usize,
    function: *mut c_void,
    blocks: c_int,
    threads: c_int,
) -> Status {
    enter("cuOccupancyAvailableDynamicSMemPerBlock", || {
        let function = function::checked(function)?;
        let (Ok(blocks), Ok(threads)) = (u32::try_from(blocks), u32::try_from(threads)) else {
            return Err(Status::INVALID_VALUE);
        };
        let model = model_of(settings().sm).ok_or(Status::INVALID_DEVICE)?;
        if blocks == 0 || threads == 0 || resident(&function, threads, 0) < blocks {
            return Err(Status::INVALID_VALUE);
        }
        let of_block = (model.shared / blocks).saturating_sub(model.shared_reserved).min(model.shared_opt_in);
        let dynamic = u64::from(of_block).saturating_sub(function.resources.shared);
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(bytes, dynamic as usize) }
    })
}

/// Stores the number of clusters that are resident on the device. Clusters are not supported.
///
/// # Safety
/// `clusters` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxActiveClusters(
    clusters: *mut c_int,
    function: *mut c_void,
    _config: *const LaunchConfig,
) -> Status {
    enter("cuOccupancyMaxActiveClusters", || {
        function::checked(function)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(clusters, 0) }
    })
}
