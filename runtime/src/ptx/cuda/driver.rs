//! The CUDA driver: its library, loaded when a GPU is first asked for, and its first device. Names, numbers and types are
//! those of `cuda.h`.

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

use crate::device::{Failed, Unavailable};

/// Names the library, where it is not found by the name that it usually has.
const LIBRARY_VARIABLE: &str = "HALFBYTE_CUDA_LIBRARY";

const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// What the driver knows a context, a module, a function or a stream by.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
struct Handle(usize);

/// The stream that everything here is done on.
const DEFAULT_STREAM: Handle = Handle(0);

type DevicePointer = u64;
type Status = c_int;

const SUCCESS: Status = 0;
const NO_DEVICE: Status = 100;
const NOT_READY: Status = 600;
const CAPABILITY_MAJOR: c_int = 75;
const CAPABILITY_MINOR: c_int = 76;
/// Of a function: how much shared memory launches may ask for.
const DYNAMIC_SHARED_BYTES: c_int = 8;
const JIT_ERROR_LOG_BUFFER: c_int = 5;
const JIT_ERROR_LOG_BUFFER_BYTES: c_int = 6;

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($ty:ty),*);)*) => {
        /// The functions of the library, which stays loaded.
        #[derive(Debug)]
        struct Functions { $($name: unsafe extern "system" fn($($ty),*) -> Status,)* }

        impl Functions {
            fn load(library: &Library) -> Result<Functions, Unavailable> {
                Ok(Functions { $(
                    // SAFETY: the type is the function's in `cuda.h`.
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
    query_stream = "cuStreamQuery" (Handle);
}

impl Functions {
    fn check(&self, call: &'static str, code: Status) -> Result<(), Failed> {
        if code == SUCCESS {
            return Ok(());
        }
        let mut text = std::ptr::null();
        // SAFETY: `text` is where the pointer goes.
        let known = unsafe { (self.error_string)(code, &raw mut text) } == SUCCESS && !text.is_null();
        // SAFETY: the driver gives a string that ends with a zero and stays.
        let text =
            if known { unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned() } else { "unknown".into() };
        Err(Failed { call, text, code })
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

/// A context of the calling thread's own. A fault of a kernel is the end of its context: other threads' launches go on in theirs.
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
        // SAFETY: the context was created, and nothing that is in it is used after this.
        unsafe { (self.device.functions.destroy_context)(self.handle) };
    }
}

impl Device {
    /// The device, got ready when it is first asked for.
    pub fn get() -> Result<&'static Device, Unavailable> {
        static DEVICE: OnceLock<Result<Device, Unavailable>> = OnceLock::new();
        DEVICE.get_or_init(Device::open).as_ref().map_err(Clone::clone)
    }

    fn open() -> Result<Device, Unavailable> {
        let name = std::env::var_os(LIBRARY_VARIABLE).unwrap_or_else(|| LIBRARY.into());
        // SAFETY: the driver's library may be loaded at any time; whoever names another answers for what it does.
        let library = unsafe { Library::new(&name) };
        let library = library.map_err(|error| {
            let said = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            Unavailable::Library(said)
        })?;
        let functions = Functions::load(&library)?;
        // Drivers do not expect to be unloaded.
        forget(library);
        Device::first(functions).map_err(Unavailable::Start)
    }

    fn first(functions: Functions) -> Result<Device, Failed> {
        let f = &functions;
        let (mut count, mut device) = (0, 0);
        let (mut major, mut minor) = (0, 0);
        let mut name: [c_char; 256] = [0; 256];
        // SAFETY: each pointer is to a variable of the type that the function writes; `name` has as many bytes as is said.
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

    /// Its name and compute capability: `NVIDIA H100 (9.0)`.
    pub fn description(&self) -> String {
        format!("{} ({}.{})", self.name, self.capability.0, self.capability.1)
    }

    /// Whether it runs what is for an SM: those of later ones do; what a family or an architecture alone has, only they do.
    pub fn check_runs(&self, target: TargetName) -> Result<(), Unavailable> {
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

    /// Makes it the device of the calling thread.
    pub fn enter(&'static self) -> Result<(), Failed> {
        CONTEXT.with_borrow_mut(|context| {
            let f = &self.functions;
            let handle = match context {
                Some(context) => context.handle,
                None => {
                    let mut handle = Handle(0);
                    // SAFETY: `handle` is where the context's goes.
                    f.check("cuCtxCreate", unsafe { (f.create_context)(&raw mut handle, 0, self.number) })?;
                    *context = Some(Context { device: self, handle });
                    handle
                }
            };
            // SAFETY: the context is there until the thread leaves it.
            f.check("cuCtxSetCurrent", unsafe { (f.set_context)(handle) })
        })
    }

    /// Gives up what the calling thread has there, after a fault; there must be no [`Memory`] and no [`Module`] of it any more.
    pub fn leave() {
        CONTEXT.take();
    }

    /// Assembles a text in PTX. The second of what is wrong is what the assembler says of the text.
    pub fn assemble(&self, text: &CStr) -> Result<Module<'_>, (Failed, String)> {
        let f = &self.functions;
        let mut log = vec![0u8; 8 << 10];
        let options = [JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_BYTES];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut(log.len())];
        let mut handle = Handle(0);
        // SAFETY: the text ends with a zero; there are two options, whose values are the log and its size, which becomes that
        // of what is written there.
        let code = unsafe { (f.load_module)(&raw mut handle, text.as_ptr(), 2, options.as_ptr(), values.as_mut_ptr()) };
        match f.check("cuModuleLoadDataEx", code) {
            Ok(()) => Ok(Module { device: self, handle }),
            Err(failed) => {
                let said = log.split(|&byte| byte == 0).next().unwrap_or_default();
                Err((failed, String::from_utf8_lossy(said).trim().to_owned()))
            }
        }
    }

    /// Takes so many bytes of its memory.
    pub fn allocate(&self, bytes: usize) -> Result<Memory<'_>, Failed> {
        let mut pointer = 0;
        // SAFETY: `pointer` is where the address goes.
        let code = unsafe { (self.functions.allocate)(&raw mut pointer, bytes) };
        self.functions.check("cuMemAlloc", code)?;
        Ok(Memory { device: self, pointer, bytes })
    }
}

/// What the driver has assembled.
#[derive(Debug)]
pub(super) struct Module<'d> {
    device: &'d Device,
    handle: Handle,
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: the module is loaded, and nothing of it runs. That it fails after a fault of the device is of no account.
        unsafe { (self.device.functions.unload_module)(self.handle) };
    }
}

/// Whether a kernel has come to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Reached,
    /// It still runs, and nothing can stop it but the end of the program.
    Awaited,
}

impl Module<'_> {
    /// Runs a kernel over blocks of threads, and waits for its end, so long at most.
    ///
    /// # Safety
    /// The parameters are those of the kernel: as many, each with as many bytes.
    pub unsafe fn run(
        &self,
        name: &CStr,
        shape: &Shape,
        params: &[Vec<u8>],
        patience: Duration,
    ) -> Result<End, Failed> {
        let f = &self.device.functions;
        let mut function = Handle(0);
        // SAFETY: the module is loaded, and the name ends with a zero.
        let code = unsafe { (f.function)(&raw mut function, self.handle, name.as_ptr()) };
        f.check("cuModuleGetFunction", code)?;
        let shared = shape.shared;
        if shared != 0 {
            // SAFETY: the function is the module's.
            let code =
                unsafe { (f.set_attribute)(function, DYNAMIC_SHARED_BYTES, shared.try_into().unwrap_or(c_int::MAX)) };
            f.check("cuFuncSetAttribute", code)?;
        }
        let params: Vec<*const c_void> = params.iter().map(|param| param.as_ptr().cast()).collect();
        let none = std::ptr::null();
        // SAFETY: the parameters are the kernel's, as the caller has seen; the driver has copied them when it returns.
        let code = unsafe {
            let ([x, y, z], [u, v, w]) = (shape.grid, shape.block);
            (f.launch)(function, x, y, z, u, v, w, shared, DEFAULT_STREAM, params.as_ptr(), none)
        };
        f.check("cuLaunchKernel", code)?;
        let (start, mut pause) = (Instant::now(), Duration::from_micros(10));
        loop {
            // SAFETY: the stream is always there.
            match unsafe { (f.query_stream)(DEFAULT_STREAM) } {
                NOT_READY if start.elapsed() > patience => return Ok(End::Awaited),
                NOT_READY => std::thread::sleep(pause),
                code => return f.check("cuStreamQuery", code).map(|()| End::Reached),
            }
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

/// Memory of the device.
#[derive(Debug)]
pub(super) struct Memory<'d> {
    device: &'d Device,
    pointer: DevicePointer,
    bytes: usize,
}

impl Memory<'_> {
    /// Its address.
    pub fn address(&self) -> u64 {
        self.pointer
    }

    /// Copies bytes to its start, as many as it has at most.
    pub fn upload(&self, bytes: &[u8]) -> Result<(), Failed> {
        let f = &self.device.functions;
        let count = bytes.len().min(self.bytes);
        // SAFETY: both sides have so many bytes.
        f.check("cuMemcpyHtoD", unsafe { (f.upload)(self.pointer, bytes.as_ptr().cast(), count) })
    }

    /// Copies what it holds, as far as there is room.
    pub fn download(&self, bytes: &mut [u8]) -> Result<(), Failed> {
        let f = &self.device.functions;
        let count = bytes.len().min(self.bytes);
        // SAFETY: both sides have so many bytes.
        f.check("cuMemcpyDtoH", unsafe { (f.download)(bytes.as_mut_ptr().cast(), self.pointer, count) })
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        // SAFETY: it is allocated, and freed once. That it fails after a fault of the device is of no account.
        unsafe { (self.device.functions.free)(self.pointer) };
    }
}

/// A string as the driver takes it; what follows a zero in it is not taken.
pub(super) fn c_string(text: impl Into<Vec<u8>>) -> CString {
    let mut bytes = text.into();
    bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()));
    CString::new(bytes).unwrap_or_default()
}
