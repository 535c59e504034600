//! Tests with LTO-IR. If HALFBYTE_NVJITLINK names NVIDIA's library, this library compiles the LTO-IR. The NVRTC in the
//! same folder generates the LTO-IR.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::read_dir;
use std::path::PathBuf;
use std::ptr::{null, null_mut};

use libloading::Library;

use crate::session::{Session, function};
use crate::{LTO_IR, PTX, parsed};

/// Returns the path of NVIDIA's library, if there is one.
fn nvidia() -> Option<PathBuf> {
    std::env::var_os("HALFBYTE_NVJITLINK").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Returns the version of the interface.
fn version() -> (c_uint, c_uint) {
    type Version = unsafe extern "C" fn(*mut c_uint, *mut c_uint) -> u32;
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the pointers are valid for writes.
    let code = unsafe { function::<Version>("nvJitLinkVersion")(&raw mut major, &raw mut minor) };
    assert_eq!(code, 0);
    (major, minor)
}

#[test]
fn without_the_library_lto_ir_is_an_error_with_advice() {
    if nvidia().is_some() {
        return;
    }
    // From version 12.3 on, clients use LTO-IR.
    assert_eq!(version(), (12, 2));
    let mut session = Session::new(&[c"-arch=sm_80", c"-lto"]).unwrap();
    assert_eq!(session.add(LTO_IR, b"\xed\x43\x4e\x7f", c"x"), 5);
    let log = session.log("Error");
    assert!(log.contains("help: install the library with `pip install nvidia-nvjitlink`"), "{log}");
}

/// Returns the code that NVRTC generates for a source text. Returns `None` if the folder of NVIDIA's nvJitLink has no
/// NVRTC.
fn compiled(source: &CStr, options: &[&CStr], result: &str) -> Option<Vec<u8>> {
    type Create = unsafe extern "C" fn(
        *mut *mut c_void,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> c_int;
    type Compile = unsafe extern "C" fn(*mut c_void, c_int, *const *const c_char) -> c_int;
    type Size = unsafe extern "C" fn(*mut c_void, *mut usize) -> c_int;
    type Copy = unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_int;
    let files = read_dir(nvidia()?.parent()?).ok()?.flatten();
    let is_nvrtc = |name: &str| name.starts_with("libnvrtc.so");
    let path = files.map(|file| file.path()).find(|path| path.file_name().unwrap().to_str().is_some_and(is_nvrtc))?;
    let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    let (mut program, mut size) = (null_mut(), 0);
    // SAFETY: the types are those of NVRTC's functions, and the pointers are valid. The library is not unloaded.
    unsafe {
        let nvrtc: &Library = Box::leak(Box::new(Library::new(path).ok()?));
        let create = nvrtc.get::<Create>("nvrtcCreateProgram").ok()?;
        assert_eq!(create(&raw mut program, source.as_ptr(), c"source.cu".as_ptr(), 0, null(), null()), 0);
        let compile = nvrtc.get::<Compile>("nvrtcCompileProgram").ok()?;
        assert_eq!(compile(program, options.len().try_into().ok()?, options.as_ptr()), 0);
        let get_size = nvrtc.get::<Size>(format!("nvrtcGet{result}Size")).ok()?;
        assert_eq!(get_size(program, &raw mut size), 0);
        let mut code = vec![0_u8; size];
        let copy = nvrtc.get::<Copy>(format!("nvrtcGet{result}")).ok()?;
        assert_eq!(copy(program, code.as_mut_ptr().cast()), 0);
        Some(code)
    }
}

const CALLS: &CStr = c"\
    extern \"C\" __device__ int scale(int x);\n\
    extern \"C\" __global__ void run(int* p) { p[0] = scale(p[1]); }\n";
const DEFINES: &CStr = c"extern \"C\" __device__ int scale(int x) { return x * 3; }\n";

const TO_LTO_IR: [&CStr; 3] = [c"-arch=compute_80", c"-rdc=true", c"-dlto"];
const TO_PTX: [&CStr; 2] = [c"-arch=compute_80", c"-rdc=true"];

/// Links two inputs with `-lto`. Returns the link step and the linked PTX.
fn linked(inputs: [(c_uint, &[u8]); 2], options: &[&CStr]) -> (Session, String) {
    let mut session = Session::new(options).unwrap();
    for (kind, bytes) in inputs {
        assert_eq!(session.add(kind, bytes, c"input"), 0, "{}", session.log("Error"));
    }
    assert_eq!(session.complete(), 0, "{}", session.log("Error"));
    let linked = session.linked("Cubin").unwrap();
    let file = parsed(&linked);
    assert_eq!((file.module.entries.len(), file.refused.len()), (1, 0));
    (session, String::from_utf8(linked).unwrap())
}

#[test]
fn lto_ir_is_linked_to_ptx() {
    let Some(calls) = compiled(CALLS, &TO_LTO_IR, "LTOIR") else {
        eprintln!("skipped: HALFBYTE_NVJITLINK names no nvJitLink with NVRTC beside it");
        return;
    };
    let defines = compiled(DEFINES, &TO_LTO_IR, "LTOIR").unwrap();
    assert!(version() >= (12, 3));
    // The function is inlined.
    let options = [c"-arch=sm_80", c"-lto", c"-r", c"-Xptxas=-v", c"-split-compile-extended=2"];
    let (_, text) = linked([(LTO_IR, &calls), (LTO_IR, &defines)], &options);
    assert!(text.contains(".entry run") && !text.contains("scale"), "{text}");
    // A function in PTX is called.
    let defines = compiled(DEFINES, &TO_PTX, "PTX").unwrap();
    let (session, text) = linked([(PTX, &defines), (LTO_IR, &calls)], &[c"-arch=sm_80", c"-lto", c"-ptx"]);
    assert!(text.contains("scale") && !text.contains(".extern"), "{text}");
    assert!(session.log("Info").contains("only the PTX inputs call"), "{}", session.log("Info"));
}

#[test]
fn errors_of_the_library_are_in_the_log() {
    if nvidia().is_none() {
        return;
    }
    let mut session = Session::new(&[c"-arch=sm_80", c"-lto"]).unwrap();
    assert_ne!(session.add(LTO_IR, b"\xed\x43\x4e\x7f.....", c"broken"), 0);
    let log = session.log("Error");
    assert!(log.starts_with("error: NVIDIA's nvJitLink reports error "), "{log}");
}
