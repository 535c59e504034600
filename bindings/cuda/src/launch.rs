//! Launches of kernels.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use halfbyte::Shape;
use halfbyte::abi::{Limits, Watchdog};
use halfbyte::launch::Print;
use halfbyte::runtime::ptx::{Allocation, HostLaunch, HostMemory, LoadFinding, ReportLoad, Warn};
use halfbyte::runtime::{LaunchError, Trap};

use crate::attributes::{MAX_BLOCK, MAX_GRID, MAX_THREADS, resident_blocks};
use crate::check::checks;
use crate::context::{self, Context};
use crate::entry::enter;
use crate::function::{self, Function};
use crate::memory::{self, MemoryKind};
use crate::report;
use crate::settings::settings;
use crate::status::{Result, Status};
use crate::stream;

/// A launch of a kernel, with its parameters.
pub struct Launch {
    pub function: Arc<Function>,
    pub shape: Shape,
    /// The bytes of each parameter.
    pub args: Vec<Vec<u8>>,
    pub cooperative: bool,
}

/// Keys of the key-value list `extra`, as in `cuda.h`.
const PACKED_POINTER: usize = 1;
const PACKED_BYTES: usize = 2;

/// Maximum number of elements of `extra`.
const MAX_EXTRA: usize = 16;

/// Reads the parameters of a launch, either one by one or packed.
///
/// # Safety
/// `params` is null, or has a pointer to each parameter of the function. `extra` is null, or a list of names and values
/// that ends with a null name.
pub unsafe fn arguments(
    function: &Function,
    params: *const *const c_void,
    extra: *const *const c_void,
) -> Result<Vec<Vec<u8>>> {
    match (params.is_null(), extra.is_null()) {
        (true, true) if function.params.is_empty() => Ok(Vec::new()),
        (false, true) => {
            let read = |(number, &(_, bytes)): (usize, &(usize, usize))| {
                // SAFETY: the caller upholds this function's contract.
                let param = unsafe { params.wrapping_add(number).read() };
                if param.is_null() {
                    return Err(Status::INVALID_VALUE);
                }
                // SAFETY: as above.
                Ok(unsafe { std::slice::from_raw_parts(param.cast::<u8>(), bytes) }.to_vec())
            };
            function.params.iter().enumerate().map(read).collect()
        }
        (true, false) => {
            // SAFETY: the caller upholds this function's contract.
            let packed = unsafe { packed(extra) }?;
            unpacked(function, packed)
        }
        (true, true) | (false, false) => Err(Status::INVALID_VALUE),
    }
}

/// Returns the packed parameters of a list `extra`.
///
/// # Safety
/// As [`arguments`].
unsafe fn packed<'a>(extra: *const *const c_void) -> Result<&'a [u8]> {
    let (mut start, mut bytes) = (std::ptr::null::<u8>(), None);
    for number in 0..MAX_EXTRA {
        // SAFETY: the list has not ended.
        let at = |place: usize| unsafe { extra.wrapping_add(2 * number + place).read() };
        match at(0).addr() {
            0 => break,
            PACKED_POINTER => start = at(1).cast(),
            // SAFETY: the value is the address of a size.
            PACKED_BYTES => bytes = unsafe { at(1).cast::<usize>().as_ref() }.copied(),
            _ => return Err(Status::INVALID_VALUE),
        }
    }
    match bytes {
        Some(0) => Ok(&[]),
        // SAFETY: the caller upholds this function's contract.
        Some(bytes) if !start.is_null() && bytes <= 1 << 16 => Ok(unsafe { std::slice::from_raw_parts(start, bytes) }),
        _ => Err(Status::INVALID_VALUE),
    }
}

/// Splits packed parameters into the bytes of each parameter.
pub fn unpacked(function: &Function, packed: &[u8]) -> Result<Vec<Vec<u8>>> {
    let param = |&(start, bytes): &(usize, usize)| packed.get(start..start + bytes).map(<[u8]>::to_vec);
    function.params.iter().map(param).collect::<Option<_>>().ok_or(Status::INVALID_VALUE)
}

impl Launch {
    /// Checks the shape, which a GPU does before it queues a launch. Errors of these checks are not sticky.
    fn check(&self) -> Result<()> {
        let Shape { grid, block, shared } = self.shape;
        let threads = block.into_iter().map(u64::from).product::<u64>();
        let fits = |of: [u32; 3], most: [u32; 3]| of.into_iter().zip(most).all(|(of, most)| (1..=most).contains(&of));
        let resources = self.function.resources;
        let is_valid = fits(grid, MAX_GRID.into())
            && fits(block, MAX_BLOCK.into())
            && threads <= MAX_THREADS.into()
            && self.function.kernel.entry().blocks.admits(block)
            && shared <= self.function.state().max_dynamic;
        if !is_valid {
            return Err(Status::INVALID_VALUE);
        }
        let all = resources.shared as u32 + shared;
        let resident = resident_blocks(settings().sm, threads as u32, resources.registers, all);
        let blocks = grid.into_iter().map(u64::from).product::<u64>();
        if self.cooperative && blocks > u64::from(resident) * u64::from(settings().multiprocessors) {
            return Err(Status::COOPERATIVE_LAUNCH_TOO_LARGE);
        }
        Ok(())
    }

    /// Checks and runs the launch. An error of the kernel becomes the sticky error of the context.
    pub fn run(&self, context: &Context) -> Result<()> {
        self.check()?;
        report::launched(&self.function);
        let padding = if checks().is_strict { 0 } else { 256 };
        let find = move |address: u64| {
            let block = memory::find(address)?;
            let is_padded = matches!(block.kind, MemoryKind::Device | MemoryKind::Managed);
            let bytes = block.bytes.next_multiple_of(256) - block.bytes;
            Some(Allocation {
                padding: if is_padded { bytes.min(padding) } else { 0 },
                ..Allocation::new(block.start, block.bytes)
            })
        };
        let memory = HostMemory::bounded(&find);
        let args: Vec<&[u8]> = self.args.iter().map(Vec::as_slice).collect();
        let watchdog = Watchdog::new(Limits::NONE);
        let print = |text: &str| report::print(text);
        let warn = |race: &Trap| report::race_warning(&self.function, race);
        let report_load = |load: &LoadFinding| report::load(&self.function, load);
        let launch = HostLaunch {
            heap: Some(&context.heap),
            engine: checks().engine,
            budget: checks().budget,
            watchdog: Some(&watchdog),
            races: checks().races,
            warn: Some(Warn(&warn)),
            initialised: memory::initialised(),
            report_load: Some(ReportLoad(&report_load)),
            cooperative: self.cooperative,
            print: Some(Print(&print)),
            ..HostLaunch::new(self.shape, &args, &memory)
        };
        // SAFETY: the table of allocations holds only valid memory, and a program may not free memory of a launch or
        // access it meanwhile.
        let ran = unsafe { self.function.kernel.launch_on_host(launch) };
        report::flush();
        let Err(error) = ran else { return Ok(()) };
        let status = report::failed(&self.function, &error);
        match error {
            LaunchError::Trap(_) | LaunchError::Exceeded { .. } => {
                if !checks().keeps_going {
                    context.fail(status);
                }
                if checks().is_blocking && !checks().keeps_going { Err(status) } else { Ok(()) }
            }
            _ => Err(status),
        }
    }
}

/// Attributes of a launch, by number.
mod attribute {
    use std::ffi::c_uint;

    pub const COOPERATIVE: c_uint = 2;
    pub const CLUSTER_DIMENSION: c_uint = 4;
    /// Attributes that affect only the speed of a launch.
    pub const IGNORED: [c_uint; 11] = [0, 1, 3, 5, 6, 8, 9, 10, 11, 14, 15];
}

/// The configuration of a launch, a `CUlaunchConfig`.
#[repr(C)]
pub struct LaunchConfig {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    stream: *mut c_void,
    attributes: *const LaunchAttribute,
    attribute_count: c_uint,
}

/// An attribute of a launch, a `CUlaunchAttribute`.
#[repr(C)]
struct LaunchAttribute {
    number: c_uint,
    padding: [u8; 4],
    value: [c_uint; 16],
}

/// Runs a launch on a stream.
///
/// # Safety
/// As [`arguments`].
unsafe fn launch(
    function: *mut c_void,
    shape: Shape,
    stream: *mut c_void,
    cooperative: bool,
    params: *const *const c_void,
    extra: *const *const c_void,
) -> Result<()> {
    let context = context::usable()?;
    stream::checked(stream)?;
    let function = function::checked(function)?;
    // SAFETY: the caller upholds this function's contract.
    let args = unsafe { arguments(&function, params, extra) }?;
    Launch { function, shape, args, cooperative }.run(&context)
}

/// Launches a kernel. `params` has a pointer to each parameter, or `extra` has the packed parameters.
///
/// # Safety
/// As [`arguments`]. Until the launch ends, no other code writes memory that the kernel accesses, or accesses memory
/// that the kernel writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    function: *mut c_void,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    stream: *mut c_void,
    params: *const *const c_void,
    extra: *const *const c_void,
) -> Status {
    let shape = Shape { grid: [grid_x, grid_y, grid_z], block: [block_x, block_y, block_z], shared };
    // SAFETY: the caller upholds this function's contract.
    enter("cuLaunchKernel", || unsafe { launch(function, shape, stream, false, params, extra) })
}

/// Launches a kernel whose blocks can wait for each other.
///
/// # Safety
/// As [`cuLaunchKernel`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchCooperativeKernel(
    function: *mut c_void,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    stream: *mut c_void,
    params: *const *const c_void,
) -> Status {
    let shape = Shape { grid: [grid_x, grid_y, grid_z], block: [block_x, block_y, block_z], shared };
    // SAFETY: the caller upholds this function's contract.
    enter("cuLaunchCooperativeKernel", || unsafe { launch(function, shape, stream, true, params, std::ptr::null()) })
}

/// Launches a kernel with attributes. Clusters of more than one block are not supported.
///
/// # Safety
/// As [`cuLaunchKernel`]. `config` is null, or has as many attributes as its count states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernelEx(
    config: *const LaunchConfig,
    function: *mut c_void,
    params: *const *const c_void,
    extra: *const *const c_void,
) -> Status {
    enter("cuLaunchKernelEx", || {
        // SAFETY: the caller upholds this function's contract.
        let config = unsafe { config.as_ref() }.ok_or(Status::INVALID_VALUE)?;
        let mut cooperative = false;
        for number in 0..config.attribute_count as usize {
            // SAFETY: as above.
            let of = unsafe { config.attributes.wrapping_add(number).as_ref() }.ok_or(Status::INVALID_VALUE)?;
            match of.number {
                attribute::COOPERATIVE => cooperative = of.value.first() != Some(&0),
                attribute::CLUSTER_DIMENSION if of.value.iter().take(3).all(|&dimension| dimension == 1) => {}
                number if attribute::IGNORED.contains(&number) => {}
                _ => return Err(Status::NOT_SUPPORTED),
            }
        }
        let shape = Shape { grid: config.grid, block: config.block, shared: config.shared };
        // SAFETY: as above.
        unsafe { launch(function, shape, config.stream, cooperative, params, extra) }
    })
}
