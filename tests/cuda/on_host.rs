//! A CUDA driver whose only device is the host. The driver implements the functions that the engine
//! `cuda` calls, as `cuda.h` specifies them, and interprets the kernels. With this driver, tests
//! verify that the engine calls a driver correctly. The tests do not show how a GPU executes the
//! kernels.
//!
//! The environment variable `CUDA_ON_HOST_CAPABILITY` is the compute capability of the device times
//! ten.
#![allow(non_snake_case, clippy::unwrap_used, clippy::missing_safety_doc, missing_docs)]

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Mutex;

use halfbyte::abi::Shape;
use halfbyte::isa::ptx::text::{ParsedFile, read};
use halfbyte::runtime::ptx::{Arg, Kernel, Launch};

const SUCCESS: c_int = 0;
const INVALID_VALUE: c_int = 1;
const OUT_OF_MEMORY: c_int = 2;
const INVALID_CONTEXT: c_int = 201;
const INVALID_PTX: c_int = 218;
const NOT_FOUND: c_int = 500;
const NOT_READY: c_int = 600;
const ILLEGAL_ADDRESS: c_int = 700;

const CONTEXT: usize = 7;
/// Size of the device's memory in bytes, which is more than any test needs.
const MEMORY: usize = 1 << 30;

struct Device {
    memory: BTreeMap<u64, Vec<u8>>,
    next: u64,
    modules: Vec<Option<ParsedFile>>,
    functions: Vec<(usize, String)>,
    /// Results of the next stream queries, in reverse order.
    answers: Vec<c_int>,
}

static DEVICE: Mutex<Device> = Mutex::new(Device {
    memory: BTreeMap::new(),
    next: 0x7F00_0000_0000,
    modules: Vec::new(),
    functions: Vec::new(),
    answers: Vec::new(),
});

thread_local! {
    static CURRENT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Error that every call in the CUDA context returns after a fault; `SUCCESS` before.
    static FAULT: std::cell::Cell<c_int> = const { std::cell::Cell::new(SUCCESS) };
}

/// Calls a closure with the device if the thread's current context is that of the device. Otherwise returns an error.
fn with(act: impl FnOnce(&mut Device) -> Result<(), c_int>) -> c_int {
    if CURRENT.get() != CONTEXT {
        return INVALID_CONTEXT;
    }
    if FAULT.get() != SUCCESS {
        return FAULT.get();
    }
    act(&mut DEVICE.lock().unwrap()).err().unwrap_or(SUCCESS)
}

#[unsafe(no_mangle)]
pub extern "system" fn cuInit(flags: c_uint) -> c_int {
    if flags == 0 { SUCCESS } else { INVALID_VALUE }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuGetErrorString(code: c_int, text: *mut *const c_char) -> c_int {
    let known = match code {
        OUT_OF_MEMORY => c"out of memory",
        INVALID_CONTEXT => c"invalid device context",
        INVALID_PTX => c"a PTX JIT compilation failed",
        NOT_FOUND => c"named symbol not found",
        ILLEGAL_ADDRESS => c"an illegal memory access was encountered",
        _ => return INVALID_VALUE,
    };
    // SAFETY: as `cuda.h` requires, the pointers are valid for all bytes that the function reads or writes.
    unsafe { *text = known.as_ptr() };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuDeviceGetCount(count: *mut c_int) -> c_int {
    // SAFETY: as `cuda.h` requires, the pointers are valid for all bytes that the function reads or writes.
    unsafe { *count = 1 };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuDeviceGet(device: *mut c_int, number: c_int) -> c_int {
    // SAFETY: as `cuda.h` requires, the pointers are valid for all bytes that the function reads or writes.
    unsafe { *device = 0 };
    if number == 0 { SUCCESS } else { INVALID_VALUE }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuDeviceGetName(name: *mut c_char, bytes: c_int, _device: c_int) -> c_int {
    let held = c"The host".to_bytes_with_nul();
    assert!(held.len() <= bytes as usize);
    // SAFETY: as `cuda.h` requires, the pointers are valid for all bytes that the function reads or writes.
    unsafe { name.copy_from(held.as_ptr().cast(), held.len()) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, _device: c_int) -> c_int {
    let capability = std::env::var("CUDA_ON_HOST_CAPABILITY").map_or(90, |text| text.parse().unwrap());
    let found = match attribute {
        75 => capability / 10,
        76 => capability % 10,
        _ => return INVALID_VALUE,
    };
    // SAFETY: as `cuda.h` requires, the pointers are valid for all bytes that the function reads or writes.
    unsafe { *value = found };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuCtxCreate_v2(context: *mut usize, flags: c_uint, _device: c_int) -> c_int {
    if flags != 0 {
        return INVALID_VALUE;
    }
    // SAFETY: as `cuda.h` requires, the pointers are valid for all bytes that the function reads or writes.
    unsafe { *context = CONTEXT };
    FAULT.set(SUCCESS);
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "system" fn cuCtxDestroy_v2(context: usize) -> c_int {
    if context != CURRENT.replace(0) {
        return INVALID_CONTEXT;
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "system" fn cuCtxSetCurrent(context: usize) -> c_int {
    CURRENT.set(context);
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "system" fn cuFuncSetAttribute(function: usize, attribute: c_int, value: c_int) -> c_int {
    assert!(attribute == 8 && value > 0, "how much shared memory there may be");
    with(|device| device.functions.get(function.wrapping_sub(1)).map(|_| ()).ok_or(INVALID_VALUE))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuModuleLoadDataEx(
    module: *mut usize,
    text: *const c_char,
    count: c_uint,
    options: *const c_int,
    values: *mut *mut c_void,
) -> c_int {
    // SAFETY: as `cuda.h` requires, the pointers are valid for all bytes that the function reads or writes.
    let (options, values) = unsafe {
        (std::slice::from_raw_parts(options, count as usize), std::slice::from_raw_parts_mut(values, count as usize))
    };
    assert_eq!(options, [5, 6], "the buffer of the error log, and its size");
    // SAFETY: as `cuda.h` requires, the pointers are valid for all bytes that the function reads or writes.
    with(|device| match read(unsafe { CStr::from_ptr(text) }.to_str().unwrap()) {
        Ok(text) => {
            device.modules.push(Some(text));
            // SAFETY: as `cuda.h` requires, the pointers are valid for all bytes that the function reads or writes.
            unsafe { *module = device.modules.len() };
            Ok(())
        }
        Err(errors) => {
            let said = errors[0].to_string();
            assert!(said.len() < values[1].addr());
            // SAFETY: as `cuda.h` requires, the pointers are valid for all bytes that the function reads or writes.
            unsafe { values[0].cast::<u8>().copy_from(said.as_ptr(), said.len()) };
            values[1] = std::ptr::without_provenance_mut(said.len());
            Err(INVALID_PTX)
        }
    })
}

#[unsafe(no_mangle)]
pub extern "system" fn cuModuleUnload(module: usize) -> c_int {
    with(|device| device.modules.get_mut(module.wrapping_sub(1)).and_then(Option::take).map(drop).ok_or(NOT_FOUND))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuModuleGetFunction(function: *mut usize, module: usize, name: *const c_char) -> c_int {
    // SAFETY: as `cuda.h` requires, the pointers are valid for all bytes that the function reads or writes.
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap().to_owned();
    with(|device| {
        let text = device.modules.get(module.wrapping_sub(1)).and_then(Option::as_ref).ok_or(INVALID_VALUE)?;
        text.module.entries.iter().find(|entry| entry.name == name).ok_or(NOT_FOUND)?;
        device.functions.push((module - 1, name));
        // SAFETY: as `cuda.h` requires, the pointers are valid for all bytes that the function reads or writes.
        unsafe { *function = device.functions.len() };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuMemAlloc_v2(pointer: *mut u64, bytes: usize) -> c_int {
    with(|device| {
        if bytes == 0 {
            return Err(INVALID_VALUE);
        }
        if bytes > MEMORY {
            return Err(OUT_OF_MEMORY);
        }
        // Allocations are aligned to 256 bytes, as by NVIDIA's drivers.
        device.next += 0x1_0000_0100;
        device.memory.insert(device.next, vec![0xEE; bytes]);
        // SAFETY: as `cuda.h` requires, the pointers are valid for all bytes that the function reads or writes.
        unsafe { *pointer = device.next };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "system" fn cuMemFree_v2(pointer: u64) -> c_int {
    with(|device| device.memory.remove(&pointer).map(drop).ok_or(INVALID_VALUE))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuMemcpyHtoD_v2(to: u64, from: *const u8, bytes: usize) -> c_int {
    with(|device| {
        let held = device.memory.get_mut(&to).and_then(|held| held.get_mut(..bytes)).ok_or(INVALID_VALUE)?;
        // SAFETY: as `cuda.h` requires, the pointers are valid for all bytes that the function reads or writes.
        held.copy_from_slice(unsafe { std::slice::from_raw_parts(from, bytes) });
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuMemcpyDtoH_v2(to: *mut u8, from: u64, bytes: usize) -> c_int {
    with(|device| {
        let held = device.memory.get(&from).and_then(|held| held.get(..bytes)).ok_or(INVALID_VALUE)?;
        // SAFETY: as `cuda.h` requires, the pointers are valid for all bytes that the function reads or writes.
        unsafe { to.copy_from(held.as_ptr(), bytes) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuLaunchKernel(
    function: usize,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared_bytes: c_uint,
    stream: usize,
    params: *const *const u8,
    extra: *const c_void,
) -> c_int {
    assert!(stream == 0 && extra.is_null());
    let grid_and_block = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
    // SAFETY: the caller passes what `cuda.h` requires.
    unsafe { launch(function, grid_and_block, shared_bytes, params, false) }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuLaunchCooperativeKernel(
    function: usize,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared_bytes: c_uint,
    stream: usize,
    params: *const *const u8,
) -> c_int {
    assert_eq!(stream, 0);
    let grid_and_block = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
    // SAFETY: the caller passes what `cuda.h` requires.
    unsafe { launch(function, grid_and_block, shared_bytes, params, true) }
}

/// # Safety
/// `params` are pointers to the values of the function's parameters.
unsafe fn launch(
    function: usize,
    (grid, block): ([c_uint; 3], [c_uint; 3]),
    shared: c_uint,
    params: *const *const u8,
    cooperative: bool,
) -> c_int {
    let shape = Shape { shared, ..Shape::from((grid, block)) };
    with(|device| {
        let (module, name) = device.functions.get(function.wrapping_sub(1)).ok_or(INVALID_VALUE)?;
        let text = device.modules[*module].as_ref().ok_or(INVALID_VALUE)?;
        let threads = block.iter().fold(1_u64, |all, &count| all.saturating_mul(count.into()));
        if !(1..=1024).contains(&threads) || grid.contains(&0) {
            return Err(INVALID_VALUE);
        }
        let kernel = Kernel::load(text, name, "").unwrap();
        let declared = &kernel.entry().params;
        let values: Vec<&[u8]> = (declared.iter().enumerate())
            // SAFETY: as `cuda.h` requires, the pointers are valid for all bytes that the function reads or writes.
            .map(|(number, param)| unsafe { std::slice::from_raw_parts(*params.add(number), param.bytes() as usize) })
            .collect();
        // An address argument refers to the allocation that contains the address. The kernel gets
        // the allocation from this address on.
        let place = |value: &[u8]| {
            let address = u64::from_le_bytes(value.try_into().ok()?);
            let (&base, held) = device.memory.range(..=address).next_back()?;
            let offset = (address - base) as usize;
            (offset < held.len()).then_some((base, offset))
        };
        let places: Vec<Option<(u64, usize)>> = values.iter().map(|value| place(value)).collect();
        let mut held: Vec<Vec<u8>> = places
            .iter()
            .map(|place| place.map_or(Vec::new(), |(base, offset)| device.memory[&base][offset..].to_vec()))
            .collect();
        // If several arguments refer to one allocation, the argument with the lowest address passes
        // the memory. The other arguments are aliases.
        let owner = |number: usize| {
            let (base, offset) = places[number]?;
            let there =
                (0..).zip(&places).filter_map(|(other, place)| Some((place.filter(|(of, _)| *of == base)?.1, other)));
            there.min().map(|(start, of)| (of, (offset - start) as u64))
        };
        let owners: Vec<Option<(usize, u64)>> = (0..places.len()).map(owner).collect();
        let mut args: Vec<Arg<'_>> = (values.iter().zip(&owners).zip(&mut held).enumerate())
            .map(|(number, ((value, owner), held))| match *owner {
                Some((of, _)) if of == number => Arg::Buffer(held),
                Some((of, offset)) => Arg::Alias { of, offset },
                None => Arg::Value(value),
            })
            .collect();
        let ran = kernel.launch(Launch { cooperative, ..Launch::new(shape, &mut args) });
        // As on a GPU, the launch returns before the kernel ends: the first query of the stream
        // returns "not ready", the second one the result.
        device.answers = vec![ran.map_or(ILLEGAL_ADDRESS, |_| SUCCESS), NOT_READY];
        for (number, (place, held)) in places.iter().zip(held).enumerate() {
            if let Some((base, offset)) = place
                && owners[number].is_some_and(|(of, _)| of == number)
            {
                device.memory.get_mut(base).unwrap()[*offset..].copy_from_slice(&held);
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "system" fn cuStreamQuery(stream: usize) -> c_int {
    assert_eq!(stream, 0);
    with(|device| match device.answers.pop() {
        None | Some(SUCCESS) => Ok(()),
        Some(code) => {
            if code == ILLEGAL_ADDRESS {
                FAULT.set(code);
            }
            Err(code)
        }
    })
}
