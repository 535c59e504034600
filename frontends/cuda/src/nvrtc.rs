//! Compilation by NVRTC, through its C interface.

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use libloading::Library;

use crate::compile::{Compiled, Job};
use crate::error::Error;
use crate::search::NvrtcLibrary;
use crate::standard;
use crate::tool::{has_architecture, include_options, rejected};

/// Result code of the functions.
type Status = c_int;

const SUCCESS: Status = 0;
/// Result code of a failed compilation, whose log states the reason.
const COMPILATION: Status = 6;
/// Result code of an invalid option. The log states the reason.
const INVALID_OPTION: Status = 5;

/// File name that NVRTC uses in messages about name expressions.
const NAME_FILE: &str = "__nv_name_map";

/// Handle of a program.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
struct Handle(usize);

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($ty:ty),*);)*) => {
        /// Functions of NVRTC. The library is never unloaded.
        #[derive(Debug)]
        pub(crate) struct Functions { $($name: unsafe extern "C" fn($($ty),*) -> Status,)* }

        impl Functions {
            /// Finds the functions in a library.
            fn of(library: &Library) -> Result<Functions, libloading::Error> {
                Ok(Functions { $(
                    // SAFETY: the type is that of the function in `nvrtc.h`.
                    $name: *unsafe { library.get($symbol) }?,
                )* })
            }
        }
    };
}

functions! {
    version = "nvrtcVersion" (*mut c_int, *mut c_int);
    architecture_count = "nvrtcGetNumSupportedArchs" (*mut c_int);
    architectures = "nvrtcGetSupportedArchs" (*mut c_int);
    create = "nvrtcCreateProgram" (*mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char);
    destroy = "nvrtcDestroyProgram" (*mut Handle);
    add_name = "nvrtcAddNameExpression" (Handle, *const c_char);
    compile = "nvrtcCompileProgram" (Handle, c_int, *const *const c_char);
    log_size = "nvrtcGetProgramLogSize" (Handle, *mut usize);
    log = "nvrtcGetProgramLog" (Handle, *mut c_char);
    ptx_size = "nvrtcGetPTXSize" (Handle, *mut usize);
    ptx = "nvrtcGetPTX" (Handle, *mut c_char);
    lowered_name = "nvrtcGetLoweredName" (Handle, *const c_char, *mut *const c_char);
}

/// Loads NVRTC, or returns its functions if the library is already loaded.
pub(crate) fn load(library: &NvrtcLibrary) -> Result<&'static Functions, Error> {
    static LOADED: Mutex<Vec<(PathBuf, &'static Functions)>> = Mutex::new(Vec::new());
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&(_, functions)) = loaded.iter().find(|(path, _)| *path == library.path) {
        return Ok(functions);
    }
    // NVRTC loads its built-ins library by name. The loader then returns the library that is
    // already loaded.
    for path in &library.before {
        std::mem::forget(open(path)?);
    }
    let opened = open(&library.path)?;
    let failed = |error: libloading::Error| Error::Load { path: library.path.clone(), reason: error.to_string() };
    let functions: &'static Functions = Box::leak(Box::new(Functions::of(&opened).map_err(failed)?));
    std::mem::forget(opened);
    loaded.push((library.path.clone(), functions));
    Ok(functions)
}

fn open(path: &Path) -> Result<Library, Error> {
    let failed = |error: libloading::Error| Error::Load { path: path.to_owned(), reason: error.to_string() };
    // SAFETY: the user has installed and trusts the library. NVRTC can be loaded at any time.
    unsafe { Library::new(path) }.map_err(failed)
}

/// Returns the version of NVRTC, such as `13.5`.
pub(crate) fn version(functions: &Functions) -> Result<String, Error> {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both pointers are valid for writes.
    check("nvrtcVersion", unsafe { (functions.version)(&raw mut major, &raw mut minor) })?;
    Ok(format!("{major}.{minor}"))
}

/// Compiles a source text.
pub(crate) fn compile(functions: &'static Functions, job: &Job<'_>) -> Result<Compiled, Error> {
    let mut options = Vec::new();
    if !has_architecture(job.options) {
        require_architecture(functions, job.sm)?;
        options.push(format!("--gpu-architecture=compute_{}", job.sm));
    }
    options.push("-lineinfo".to_owned());
    options.extend(include_options(&job.include));
    options.extend(include_options(&job.headers));
    options.extend_from_slice(job.options);
    let options = c_strings(&options, "an option")?;
    let names = c_strings(&job.names, "the name of a kernel")?;
    let program = Program::new(functions, job)?;
    for name in &names {
        // SAFETY: the handle is valid, and the name is a C string.
        check("nvrtcAddNameExpression", unsafe { (functions.add_name)(program.handle, name.as_ptr()) })?;
    }
    let pointers = pointers(&options);
    // SAFETY: the handle is valid, and there are as many options as the call says.
    let status = unsafe { (functions.compile)(program.handle, pointers.len() as c_int, pointers.as_ptr()) };
    let log = program.text(functions.log_size, functions.log)?;
    match status {
        SUCCESS => {}
        COMPILATION | INVALID_OPTION => return Err(rejected(job, log, NAME_FILE)),
        code => check("nvrtcCompileProgram", code)?,
    }
    let ptx = program.text(functions.ptx_size, functions.ptx)?;
    let lowered = names.iter().map(|name| program.lowered_name(name)).collect::<Result<_, _>>()?;
    Ok(Compiled { ptx, names: lowered, log, is_cached: false })
}

/// Fails if NVRTC does not support an SM version.
fn require_architecture(functions: &Functions, sm: u16) -> Result<(), Error> {
    let mut count = 0;
    // SAFETY: the pointer is valid for a write.
    check("nvrtcGetNumSupportedArchs", unsafe { (functions.architecture_count)(&raw mut count) })?;
    let mut known: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
    // SAFETY: the buffer has the size that NVRTC requires.
    check("nvrtcGetSupportedArchs", unsafe { (functions.architectures)(known.as_mut_ptr()) })?;
    if known.contains(&c_int::from(sm)) {
        return Ok(());
    }
    let supported = known.iter().map(c_int::to_string).collect::<Vec<_>>().join(", ");
    Err(Error::Sm { compiler: format!("NVRTC {}", version(functions)?), sm, supported })
}

/// Program of NVRTC.
struct Program {
    functions: &'static Functions,
    handle: Handle,
}

impl Program {
    fn new(functions: &'static Functions, job: &Job<'_>) -> Result<Program, Error> {
        let (names, texts): (Vec<String>, Vec<String>) =
            standard::headers(&job.includes, &job.headers).into_iter().unzip();
        let (names, texts) = (c_strings(&names, "a header")?, c_strings(&texts, "a header")?);
        let (name_pointers, text_pointers) = (pointers(&names), pointers(&texts));
        let source = c_string(&job.text_with_line(), "the source text")?;
        let file = c_string(&job.file, "the file name")?;
        let mut handle = Handle(0);
        // SAFETY: all texts are C strings, and there are as many headers as the call says.
        check("nvrtcCreateProgram", unsafe {
            (functions.create)(
                &raw mut handle,
                source.as_ptr(),
                file.as_ptr(),
                names.len() as c_int,
                text_pointers.as_ptr(),
                name_pointers.as_ptr(),
            )
        })?;
        Ok(Program { functions, handle })
    }

    /// Returns a text of the program. `size` and `bytes` are the functions of NVRTC that return its
    /// size and its bytes.
    fn text(
        &self,
        size: unsafe extern "C" fn(Handle, *mut usize) -> Status,
        bytes: unsafe extern "C" fn(Handle, *mut c_char) -> Status,
    ) -> Result<String, Error> {
        let mut length = 0;
        // SAFETY: the handle is valid, and the size is valid for a write.
        check("the size of a text of NVRTC", unsafe { size(self.handle, &raw mut length) })?;
        let mut buffer = vec![0_u8; length];
        if length > 0 {
            // SAFETY: the handle is valid, and the buffer has the size that NVRTC requires.
            check("a text of NVRTC", unsafe { bytes(self.handle, buffer.as_mut_ptr().cast()) })?;
        }
        // The size includes the final NUL byte.
        let text = buffer.split(|&byte| byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// Returns the name in PTX of a name expression.
    fn lowered_name(&self, name: &CStr) -> Result<String, Error> {
        let mut lowered = std::ptr::null();
        // SAFETY: the handle is valid, the name is a C string, and the pointer is valid for a write.
        let status = unsafe { (self.functions.lowered_name)(self.handle, name.as_ptr(), &raw mut lowered) };
        check("nvrtcGetLoweredName", status)?;
        // SAFETY: after success, NVRTC has stored a C string that lives as long as the program.
        Ok(unsafe { CStr::from_ptr(lowered) }.to_string_lossy().into_owned())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the handle is valid, and is not used afterwards.
        unsafe { (self.functions.destroy)(&raw mut self.handle) };
    }
}

fn check(call: &'static str, code: Status) -> Result<(), Error> {
    if code == SUCCESS { Ok(()) } else { Err(Error::Call { call, code }) }
}

fn c_string(text: &str, what: &'static str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::Nul { what })
}

fn c_strings(texts: &[String], what: &'static str) -> Result<Vec<CString>, Error> {
    texts.iter().map(|text| c_string(text, what)).collect()
}

/// Returns pointers to C strings, which the strings outlive.
fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).collect()
}
