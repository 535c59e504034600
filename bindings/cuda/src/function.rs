//! Functions: kernels of modules, with their attributes.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halfbyte::isa::ptx::module::Param;
use halfbyte::isa::ptx::resources::Resources;
use halfbyte::runtime::ptx::Kernel;

use crate::attributes::model_of;
use crate::context;
use crate::entry::{enter, write_out};
use crate::module::{self, Module};
use crate::registry::Registry;
use crate::settings::settings;
use crate::status::{Result, Status};

/// The kernels whose handles programs have requested. A `CUfunction` and a `CUkernel` are both handles of this
/// registry.
pub static FUNCTIONS: Registry<Function> = Registry::new();

/// A kernel of a module.
pub struct Function {
    pub module: Arc<Module>,
    pub kernel: Kernel,
    pub resources: Resources,
    name: CString,
    /// Offset of each parameter in the packed parameters, with its size.
    pub params: Vec<(usize, usize)>,
    state: Mutex<State>,
    /// `true` if the kernel has been launched.
    pub is_launched: AtomicBool,
}

/// The attributes that a program can set.
pub struct State {
    /// Maximum dynamic shared memory of a launch, in bytes.
    pub max_dynamic: u32,
    /// The preferred share of shared memory in percent, or -1.
    carveout: c_int,
    /// The block size, shared memory and packed parameters of a launch with `cuLaunch`.
    pub block: [u32; 3],
    pub shared: u32,
    pub packed: Vec<u8>,
}

/// Shared memory in bytes that a block may use without opting in.
const SHARED_BYTES: u32 = 48 << 10;

impl Function {
    pub fn new(module: Arc<Module>, kernel: Kernel) -> Function {
        let entry = kernel.entry();
        let resources = entry.resources();
        let sizes = entry.params.iter().map(|param| param.bytes() as usize);
        let params = Param::offsets(&entry.params).into_iter().map(|start| start as usize).zip(sizes).collect();
        let max_dynamic = SHARED_BYTES.saturating_sub(resources.shared as u32);
        let state = State { max_dynamic, carveout: -1, block: [1, 1, 1], shared: 0, packed: Vec::new() };
        let name = CString::new(entry.name.clone()).unwrap_or_default();
        let (state, is_launched) = (Mutex::new(state), AtomicBool::new(false));
        Function { module, kernel, resources, name, params, state, is_launched }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the name as it is in the PTX text.
    pub fn name(&self) -> &str {
        &self.kernel.entry().name
    }
}

/// Returns the function with the given handle.
pub fn checked(function: *mut c_void) -> Result<Arc<Function>> {
    FUNCTIONS.get(function).ok_or(Status::INVALID_HANDLE)
}

/// Attributes of a function, by number.
mod attribute {
    use std::ffi::c_uint;

    pub const MAX_THREADS: c_uint = 0;
    pub const SHARED: c_uint = 1;
    pub const CONSTANT: c_uint = 2;
    pub const LOCAL: c_uint = 3;
    pub const REGISTERS: c_uint = 4;
    pub const PTX_VERSION: c_uint = 5;
    pub const BINARY_VERSION: c_uint = 6;
    pub const MAX_DYNAMIC: c_uint = 8;
    pub const CARVEOUT: c_uint = 9;
    /// Exclusive upper bound of the numbers.
    pub const COUNT: c_uint = 16;
}

/// Returns an attribute of a function. Attributes without a meaning here are 0.
fn get(function: &Function, number: c_uint) -> Result<c_int> {
    let Resources { registers, shared, local, constant, threads } = function.resources;
    let size = |bytes: u64| c_int::try_from(bytes).unwrap_or(c_int::MAX);
    Ok(match number {
        attribute::MAX_THREADS => size(threads.into()),
        attribute::SHARED => size(shared),
        attribute::CONSTANT => size(constant),
        attribute::LOCAL => size(local),
        attribute::REGISTERS => size(registers.into()),
        attribute::PTX_VERSION => {
            let (major, minor) = function.module.read.module.version;
            c_int::from(major) * 10 + c_int::from(minor)
        }
        attribute::BINARY_VERSION => size(settings().sm.into()),
        attribute::MAX_DYNAMIC => size(function.state().max_dynamic.into()),
        attribute::CARVEOUT => function.state().carveout,
        number if number < attribute::COUNT => 0,
        _ => return Err(Status::INVALID_VALUE),
    })
}

/// Sets an attribute of a function. Attributes without a meaning here are ignored.
fn set(function: &Function, number: c_uint, value: c_int) -> Result<()> {
    match number {
        attribute::MAX_DYNAMIC => {
            let most = model_of(settings().sm).map_or(SHARED_BYTES, |model| model.shared_opt_in);
            let value = u32::try_from(value).map_err(|_| Status::INVALID_VALUE)?;
            if u64::from(value) + function.resources.shared > most.into() {
                return Err(Status::INVALID_VALUE);
            }
            function.state().max_dynamic = value;
        }
        attribute::CARVEOUT if (-1..=100).contains(&value) => function.state().carveout = value,
        number if number > attribute::CARVEOUT && number < attribute::COUNT => {}
        _ => return Err(Status::INVALID_VALUE),
    }
    Ok(())
}

/// Stores an attribute of a function.
///
/// # Safety
/// `value` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetAttribute(value: *mut c_int, attribute: c_uint, function: *mut c_void) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuFuncGetAttribute", || unsafe { write_out(value, get(&*checked(function)?, attribute)?) })
}

/// Sets an attribute of a function.
#[unsafe(no_mangle)]
pub extern "C" fn cuFuncSetAttribute(function: *mut c_void, attribute: c_uint, value: c_int) -> Status {
    enter("cuFuncSetAttribute", || set(&*checked(function)?, attribute, value))
}

/// Stores an attribute of a kernel of a library. All devices are equal.
///
/// # Safety
/// `value` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelGetAttribute(
    value: *mut c_int,
    attribute: c_uint,
    kernel: *mut c_void,
    device: c_int,
) -> Status {
    enter("cuKernelGetAttribute", || {
        crate::device::checked(device)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(value, get(&*checked(kernel)?, attribute)?) }
    })
}

/// Sets an attribute of a kernel of a library, for all devices.
#[unsafe(no_mangle)]
pub extern "C" fn cuKernelSetAttribute(attribute: c_uint, value: c_int, kernel: *mut c_void, device: c_int) -> Status {
    enter("cuKernelSetAttribute", || {
        crate::device::checked(device)?;
        set(&*checked(kernel)?, attribute, value)
    })
}

/// Accepts a preference for the cache, which has no effect.
#[unsafe(no_mangle)]
pub extern "C" fn cuFuncSetCacheConfig(function: *mut c_void, _config: c_uint) -> Status {
    enter("cuFuncSetCacheConfig", || checked(function).map(drop))
}

/// Accepts a preference for the cache, which has no effect.
#[unsafe(no_mangle)]
pub extern "C" fn cuKernelSetCacheConfig(kernel: *mut c_void, _config: c_uint, device: c_int) -> Status {
    enter("cuKernelSetCacheConfig", || {
        crate::device::checked(device)?;
        checked(kernel).map(drop)
    })
}

/// Accepts a preference for the banks of shared memory, which has no effect.
#[unsafe(no_mangle)]
pub extern "C" fn cuFuncSetSharedMemConfig(function: *mut c_void, _config: c_uint) -> Status {
    enter("cuFuncSetSharedMemConfig", || checked(function).map(drop))
}

/// Stores the module of a function. The handle is valid until the module is unloaded.
///
/// # Safety
/// `to` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetModule(to: *mut *mut c_void, function: *mut c_void) -> Status {
    enter("cuFuncGetModule", || {
        let function = checked(function)?;
        let handle = module::handle_of(&function.module).ok_or(Status::INVALID_HANDLE)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(to, handle) }
    })
}

/// Stores the name of a function, which lives as long as its module.
///
/// # Safety
/// `name` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetName(name: *mut *const c_char, function: *mut c_void) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuFuncGetName", || unsafe { write_out(name, checked(function)?.name.as_ptr()) })
}

/// Stores the offset of a parameter in the packed parameters, and its size. Each of the two pointers may be null.
///
/// # Safety
/// `offset` and `bytes` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetParamInfo(
    function: *mut c_void,
    number: usize,
    offset: *mut usize,
    bytes: *mut usize,
) -> Status {
    enter("cuFuncGetParamInfo", || {
        let &(start, size) = checked(function)?.params.get(number).ok_or(Status::INVALID_VALUE)?;
        for (to, value) in [(offset, start), (bytes, size)] {
            if !to.is_null() {
                // SAFETY: the caller upholds this function's contract.
                unsafe { to.write(value) };
            }
        }
        Ok(())
    })
}

/// Stores the number of parameters of a function.
///
/// # Safety
/// `count` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetParamCount(function: *mut c_void, count: *mut usize) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuFuncGetParamCount", || unsafe { write_out(count, checked(function)?.params.len()) })
}

/// Stores that a function is loaded: modules are loaded eagerly.
///
/// # Safety
/// `state` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncIsLoaded(state: *mut c_uint, function: *mut c_void) -> Status {
    const LOADED: c_uint = 1;
    enter("cuFuncIsLoaded", || {
        checked(function)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(state, LOADED) }
    })
}

/// Loads a function, which is loaded already.
#[unsafe(no_mangle)]
pub extern "C" fn cuFuncLoad(function: *mut c_void) -> Status {
    enter("cuFuncLoad", || {
        context::current()?;
        checked(function).map(drop)
    })
}
