//! Bindings to the CUDA driver library. The library is loaded on first use, and only the first
//! device is used. Names, numbers and types are those of `cuda.h`.

use std::cell::RefCell;
use std::error::Error as _;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::mem::forget;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use halfbyte_abi::Shape;
use halfbyte_isa::ptx::module::TargetName;
use halfbyte_isa::ptx::types::Suffix;
use libloading::Library;

use crate::device::{DriverError, Unavailable};

/// Environment variable that overrides the path of the driver's library.
const LIBRARY_VARIABLE: &str = "HALFBYTE_CUDA_LIBRARY";

const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// A driver handle of a context, module, function or stream.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
struct Handle(usize);

/// The stream that all operations use.
const DEFAULT_STREAM: Handle = Handle(0);

type DevicePointer = u64;
type Status = c_int;

const SUCCESS: Status = 0;
const NO_DEVICE: Status = 100;
const NOT_READY: Status = 600;
const CAPABILITY_MAJOR: c_int = 75;
const CAPABILITY_MINOR: c_int = 76;
/// Function attribute: maximum size of dynamic shared memory in bytes.
const DYNAMIC_SHARED_BYTES: c_int = 8;
const JIT_ERROR_LOG_BUFFER: c_int = 5;
const JIT_ERROR_LOG_BUFFER_BYTES: c_int = 6;

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($ty:ty),*);)*) => {
        /// The functions of the driver library. The library is never unloaded.
        #[derive(Debug)]
        struct Functions { $($name: unsafe extern "system" fn($($ty),*) -> Status,)* }

        impl Functions {
            fn load(library: &Library) -> Result<Functions, Unavailable> {
                Ok(Functions { $(
                    // SAFETY: the type is that of the function in `cuda.h`.
                    $name: *unsafe { library.get($symbol) }.map_err(|_| Unavailable::Function($symbol))?,
                )* })
            }
        }
    };
}

functions! {
    init = "cuInit" (c_uint);
    error_string = "cuGetErrorString" (Status, *mut *const c_char);
    device_count = "cuDeviceGetCount" (*mut c_int);
    device = "cuDeviceGet" (*mut c_int, c_int);
    device_name = "cuDeviceGetName" (*mut c_char, c_int, c_int);
    attribute = "cuDeviceGetAttribute" (*mut c_int, c_int, c_int);
    create_context = "cuCtxCreate_v2" (*mut Handle, c_uint, c_int);
    destroy_context = "cuCtxDestroy_v2" (Handle);
    set_context = "cuCtxSetCurrent" (Handle);
    load_module = "cuModuleLoadDataEx" (*mut Handle, *const c_char, c_uint, *const c_int, *mut *mut c_void);
    function = "cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
    set_attribute = "cuFuncSetAttribute" (Handle, c_int, c_int);
    unload_module = "cuModuleUnload" (Handle);
    allocate = "cuMemAlloc_v2" (*mut DevicePointer, usize);
    free = "cuMemFree_v2" (DevicePointer);
    upload = "cuMemcpyHtoD_v2" (DevicePointer, *const c_void, usize);
    download = "cuMemcpyDtoH_v2" (*mut c_void, DevicePointer, usize);
    launch = "cuLaunchKernel" (
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *const *const c_void, *const *const c_void
    );
    launch_cooperative = "cuLaunchCooperativeKernel" (
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *const *const c_void
    );
    query_stream = "cuStreamQuery" (Handle);
}

impl Functions {
    fn check(&self, call: &'static str, code: Status) -> Result<(), DriverError> {
        if code == SUCCESS {
            return Ok(());
        }
        let mut text = std::ptr::null();
        // SAFETY: the driver writes the string's address to `text`.
        let known = unsafe { (self.error_string)(code, &raw mut text) } == SUCCESS && !text.is_null();
        // SAFETY: the driver returns a NUL-terminated static string.
        let text =
            if known { unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned() } else { "unknown".into() };
        Err(DriverError { call, text, code })
    }
}

/// The first device of the driver.
#[derive(Debug)]
pub(super) struct Device {
    functions: Functions,
    number: c_int,
    name: String,
    capability: (u16, u16),
}

/// A driver context that belongs to the calling thread. A kernel fault makes the context of its
/// thread unusable. Launches of other threads use their own contexts and continue.
#[derive(Debug)]
struct Context {
    device: &'static Device,
    handle: Handle,
}

thread_local! {
    static CONTEXT: RefCell<Option<Context>> = const { RefCell::new(None) };
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context exists, and none of its resources is used afterwards.
        unsafe { (self.device.functions.destroy_context)(self.handle) };
    }
}

impl Device {
    /// Returns the device, and initialises it on first use.
    pub(super) fn get() -> Result<&'static Device, Unavailable> {
        static DEVICE: OnceLock<Result<Device, Unavailable>> = OnceLock::new();
        DEVICE.get_or_init(Device::open).as_ref().map_err(Clone::clone)
    }

    fn open() -> Result<Device, Unavailable> {
        let name = std::env::var_os(LIBRARY_VARIABLE).unwrap_or_else(|| LIBRARY.into());
        // SAFETY: the driver's library may be loaded at any time. A user who sets the variable is
        // responsible for that library.
        let library = unsafe { Library::new(&name) };
        let library = library.map_err(|error| {
            let said = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            Unavailable::Library(said)
        })?;
        let functions = Functions::load(&library)?;
        // The driver library does not support being unloaded.
        forget(library);
        Device::first(functions).map_err(Unavailable::Start)
    }

    fn first(functions: Functions) -> Result<Device, DriverError> {
        let f = &functions;
        let (mut count, mut device) = (0, 0);
        let (mut major, mut minor) = (0, 0);
        let mut name: [c_char; 256] = [0; 256];
        // SAFETY: each pointer refers to a variable of the type that the function writes, and the
        // size passed for `name` is correct.
        unsafe {
            f.check("cuInit", (f.init)(0))?;
            f.check("cuDeviceGetCount", (f.device_count)(&raw mut count))?;
            f.check("cuDeviceGetCount", if count > 0 { SUCCESS } else { NO_DEVICE })?;
            f.check("cuDeviceGet", (f.device)(&raw mut device, 0))?;
            f.check("cuDeviceGetName", (f.device_name)(name.as_mut_ptr(), name.len() as c_int, device))?;
            f.check("cuDeviceGetAttribute", (f.attribute)(&raw mut major, CAPABILITY_MAJOR, device))?;
            f.check("cuDeviceGetAttribute", (f.attribute)(&raw mut minor, CAPABILITY_MINOR, device))?;
        }
        let name = name.iter().map(|&byte| byte as u8).take_while(|&byte| byte != 0).collect();
        let name = String::from_utf8(name).unwrap_or_else(|_| "the device".into());
        Ok(Device { number: device, name, capability: (major as u16, minor as u16), functions })
    }

    /// Returns the name and the compute capability, such as `NVIDIA H100 (9.0)`.
    pub(super) fn description(&self) -> String {
        format!("{} ({}.{})", self.name, self.capability.0, self.capability.1)
    }

    /// Checks that the device runs code for a target. Plain targets run on every later device, family-specific targets
    /// only within their family, and architecture-specific targets only on that architecture.
    pub(super) fn check_runs(&self, target: TargetName) -> Result<(), Unavailable> {
        let (of_target, of_device) = ((target.sm / 10, target.sm % 10), self.capability);
        let runs = match target.suffix {
            None => of_device >= of_target,
            Some(Suffix::Family) => of_device >= of_target && of_device.0 == of_target.0,
            Some(Suffix::Architecture) => of_device == of_target,
        };
        match runs {
            true => Ok(()),
            false => Err(Unavailable::Capability { device: self.name.clone(), capability: of_device, target }),
        }
    }

    /// Makes the device's context current on the calling thread, and creates the context on first use.
    pub(super) fn enter(&'static self) -> Result<(), DriverError> {
        CONTEXT.with_borrow_mut(|context| {
            let f = &self.functions;
            let handle = match context {
                Some(context) => context.handle,
                None => {
                    let mut handle = Handle(0);
                    // SAFETY: the driver writes the new context to `handle`.
                    f.check("cuCtxCreate", unsafe { (f.create_context)(&raw mut handle, 0, self.number) })?;
                    *context = Some(Context { device: self, handle });
                    handle
                }
            };
            // SAFETY: the context exists until the thread calls `leave`.
            f.check("cuCtxSetCurrent", unsafe { (f.set_context)(handle) })
        })
    }

    /// Destroys the calling thread's context after a fault. No [`Memory`] and no [`Module`] of the
    /// context may exist any more.
    pub(super) fn leave() {
        CONTEXT.take();
    }

    /// Loads PTX text, which the driver assembles. On failure, the second component of the error is the driver's log.
    pub(super) fn assemble(&self, text: &CStr) -> Result<Module<'_>, (DriverError, String)> {
        let f = &self.functions;
        let mut log = vec![0u8; 8 << 10];
        let options = [JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_BYTES];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut(log.len())];
        let mut handle = Handle(0);
        // SAFETY: the text is NUL-terminated. There are two options: the log buffer, and its size,
        // which the driver replaces by the size of the log.
        let code = unsafe { (f.load_module)(&raw mut handle, text.as_ptr(), 2, options.as_ptr(), values.as_mut_ptr()) };
        match f.check("cuModuleLoadDataEx", code) {
            Ok(()) => Ok(Module { device: self, handle }),
            Err(failed) => {
                let said = log.split(|&byte| byte == 0).next().unwrap_or_default();
                Err((failed, String::from_utf8_lossy(said).trim().to_owned()))
            }
        }
    }

    /// Allocates `bytes` bytes of device memory.
    pub(super) fn allocate(&self, bytes: usize) -> Result<Memory<'_>, DriverError> {
        let mut pointer = 0;
        // SAFETY: the driver writes the address to `pointer`.
        let code = unsafe { (self.functions.allocate)(&raw mut pointer, bytes) };
        self.functions.check("cuMemAlloc", code)?;
        Ok(Memory { device: self, pointer, bytes })
    }
}

/// A module that the driver has loaded.
#[derive(Debug)]
pub(super) struct Module<'d> {
    device: &'d Device,
    handle: Handle,
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: the module is loaded, and none of its kernels runs. A failure after a device fault can be ignored.
        unsafe { (self.device.functions.unload_module)(self.handle) };
    }
}

/// The outcome of waiting for a kernel's end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Reached,
    /// The kernel still runs after the timeout. Only the end of the process can stop the kernel.
    Awaited,
}

impl Module<'_> {
    /// Launches a kernel on a grid, and waits at most `patience` for the kernel's end. If
    /// `is_cooperative` is `true`, all blocks are resident together.
    ///
    /// # Safety
    /// The parameters must match the kernel's parameters in number and size.
    pub(super) unsafe fn run(
        &self,
        name: &CStr,
        shape: &Shape,
        is_cooperative: bool,
        params: &[Vec<u8>],
        patience: Duration,
    ) -> Result<End, DriverError> {
        let f = &self.device.functions;
        let mut function = Handle(0);
        // SAFETY: the module is loaded, and the name is NUL-terminated.
        let code = unsafe { (f.function)(&raw mut function, self.handle, name.as_ptr()) };
        f.check("cuModuleGetFunction", code)?;
        let shared = shape.shared;
        if shared != 0 {
            // SAFETY: the function belongs to the loaded module.
            let code =
                unsafe { (f.set_attribute)(function, DYNAMIC_SHARED_BYTES, shared.try_into().unwrap_or(c_int::MAX)) };
            f.check("cuFuncSetAttribute", code)?;
        }
        let params: Vec<*const c_void> = params.iter().map(|param| param.as_ptr().cast()).collect();
        let (params, none, stream) = (params.as_ptr(), std::ptr::null(), DEFAULT_STREAM);
        let ([x, y, z], [u, v, w]) = (shape.grid, shape.block);
        // SAFETY: the caller guarantees that the parameters match. The driver has copied them when the call returns.
        let (call, code) = unsafe {
            if is_cooperative {
                let code = (f.launch_cooperative)(function, x, y, z, u, v, w, shared, stream, params);
                ("cuLaunchCooperativeKernel", code)
            } else {
                ("cuLaunchKernel", (f.launch)(function, x, y, z, u, v, w, shared, stream, params, none))
            }
        };
        f.check(call, code)?;
        let (start, mut pause) = (Instant::now(), Duration::from_micros(10));
        loop {
            // SAFETY: the default stream always exists.
            match unsafe { (f.query_stream)(DEFAULT_STREAM) } {
                NOT_READY if start.elapsed() > patience => return Ok(End::Awaited),
                NOT_READY => std::thread::sleep(pause),
                code => return f.check("cuStreamQuery", code).map(|()| End::Reached),
            }
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

/// An allocation in device memory.
#[derive(Debug)]
pub(super) struct Memory<'d> {
    device: &'d Device,
    pointer: DevicePointer,
    bytes: usize,
}

impl Memory<'_> {
    /// Returns the device address of the allocation.
    pub(super) fn address(&self) -> u64 {
        self.pointer
    }

    /// Copies `bytes` to the start of the allocation. Bytes beyond the allocation's size are ignored.
    pub(super) fn upload(&self, bytes: &[u8]) -> Result<(), DriverError> {
        let f = &self.device.functions;
        let count = bytes.len().min(self.bytes);
        // SAFETY: both sides have at least `count` bytes.
        f.check("cuMemcpyHtoD", unsafe { (f.upload)(self.pointer, bytes.as_ptr().cast(), count) })
    }

    /// Copies bytes from the start of the allocation to `bytes`. The count is the smaller of the
    /// two sizes.
    pub(super) fn download(&self, bytes: &mut [u8]) -> Result<(), DriverError> {
        let f = &self.device.functions;
        let count = bytes.len().min(self.bytes);
        // SAFETY: both sides have at least `count` bytes.
        f.check("cuMemcpyDtoH", unsafe { (f.download)(bytes.as_mut_ptr().cast(), self.pointer, count) })
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        // SAFETY: the memory is allocated and freed once. A failure after a device fault can be ignored.
        unsafe { (self.device.functions.free)(self.pointer) };
    }
}

/// Converts text to a NUL-terminated string, truncated at the first zero byte.
pub(super) fn c_string(text: impl Into<Vec<u8>>) -> CString {
    let mut bytes = text.into();
    bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()));
    CString::new(bytes).unwrap_or_default()
}
