//! Tests of the library as a program uses it, and of the stand-ins for programs.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub)]

mod lto;
mod session;
mod stand_ins;
#[path = "../symbols.rs"]
mod symbols;

use std::ffi::{c_char, c_uint, c_void};
use std::ptr::{null, null_mut};

use halfbyte_isa::ptx::text::{ParsedFile, read};

use session::{Session, function, library};

const CUBIN: c_uint = 1;
const PTX: c_uint = 2;
const LTO_IR: c_uint = 3;
const FATBIN: c_uint = 4;
const OBJECT: c_uint = 5;
const LIBRARY: c_uint = 6;
const ANY: c_uint = 10;

/// PTX with a kernel that calls a function of another text.
const CALLS: &str = "\
.version 8.0
.target sm_80
.address_size 64
.extern .func scale();
.visible .entry run() { call scale, (); ret; }
";

/// PTX with the function that `CALLS` calls.
const DEFINES: &str = "\
.version 8.4
.target sm_75
.address_size 64
.visible .func scale() { ret; }
";

/// Reads linked PTX, which ends with its only NUL.
fn parsed(linked: &[u8]) -> ParsedFile {
    let (nul, text) = linked.split_last().unwrap();
    assert!(*nul == 0 && !text.contains(&0));
    let text = std::str::from_utf8(text).unwrap();
    read(text).unwrap_or_else(|errors| panic!("{errors:?}:\n{text}"))
}

#[test]
fn exports_all_symbols() {
    for symbol in symbols::FUNCTIONS {
        assert_ne!(function::<*const c_void>(symbol), null(), "{symbol}");
    }
    let mut count = 0;
    for (symbol, _) in symbols::versioned() {
        assert_ne!(function::<*const c_void>(&symbol), null(), "{symbol}");
        count += 1;
    }
    assert_eq!(count, 15 * 16);
    // SAFETY: the symbol is not used.
    let missing = unsafe { library().get::<*const c_void>("__nvJitLinkVersion_13_5") };
    assert!(missing.is_err());
}

#[test]
fn links_ptx_to_ptx() {
    let mut session = Session::new(&[c"-arch=sm_80"]).unwrap();
    // The size of a text may include its NUL.
    assert_eq!(session.add(PTX, CALLS.as_bytes(), c"calls.ptx"), 0);
    assert_eq!(session.add(ANY, format!("{DEFINES}\0").as_bytes(), c"defines.ptx"), 0);
    assert_eq!(session.linked("Cubin"), Err(6));
    assert_eq!(session.complete(), 0);
    let linked = session.linked("Cubin").unwrap();
    let file = parsed(&linked);
    assert_eq!(file.module.entries.len(), 1);
    assert!(String::from_utf8_lossy(&linked).contains(".version 8.4"));
    assert_eq!(session.linked("Ptx").unwrap(), linked);
    assert_eq!(session.linked("LTOIR"), Err(3));
    assert_eq!(session.log("Info"), "");
}

#[test]
fn versions_of_functions_do_the_same() {
    type Create = unsafe extern "C" fn(*mut *mut c_void, u32, *const *const c_char) -> u32;
    type Add = unsafe extern "C" fn(*mut c_void, c_uint, *const c_void, usize, *const c_char) -> u32;
    type Complete = unsafe extern "C" fn(*mut c_void) -> u32;
    type Size = unsafe extern "C" fn(*mut c_void, *mut usize) -> u32;
    type Destroy = unsafe extern "C" fn(*mut *mut c_void) -> u32;
    for version in ["12_0", "12_9", "13_0", "13_5"] {
        let symbol = |name: &str| format!("__nvJitLink{name}_{version}");
        let (mut handle, options, mut size) = (null_mut(), [c"-arch=sm_90a".as_ptr()], 0);
        // SAFETY: the types are those of the functions, and the pointers are valid.
        unsafe {
            assert_eq!(function::<Create>(&symbol("Create"))(&raw mut handle, 1, options.as_ptr()), 0);
            let bytes = CALLS.as_bytes();
            let add = function::<Add>(&symbol("AddData"));
            assert_eq!(add(handle, PTX, bytes.as_ptr().cast(), bytes.len(), null()), 0);
            assert_eq!(function::<Complete>(&symbol("Complete"))(handle), 0);
            assert_eq!(function::<Size>(&symbol("GetLinkedCubinSize"))(handle, &raw mut size), 0);
            assert_eq!(function::<Destroy>(&symbol("Destroy"))(&raw mut handle), 0);
        }
        assert!(size > CALLS.len() / 2 && handle.is_null());
    }
}

#[test]
fn without_inputs_the_result_is_empty_ptx() {
    let mut session = Session::new(&[c"-arch=sm_90a", c"-O3", c"-lineinfo"]).unwrap();
    assert_eq!(session.complete(), 0);
    let linked = session.linked("Cubin").unwrap();
    assert!(parsed(&linked).module.entries.is_empty());
    assert!(String::from_utf8_lossy(&linked).contains(".target sm_90a\n"));
}

#[test]
fn files_are_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("defines.ptx");
    std::fs::write(&path, DEFINES).unwrap();
    let mut session = Session::new(&[c"-arch=sm_80"]).unwrap();
    assert_eq!(session.add_file(PTX, &path), 0);
    assert_eq!(session.add_file(PTX, &folder.path().join("missing.ptx")), 3);
    assert!(session.log("Error").contains("missing.ptx: No such file"), "{}", session.log("Error"));
    assert_eq!(session.complete(), 0);
    assert_eq!(parsed(&session.linked("Cubin").unwrap()).module.functions.len(), 1);
}

#[test]
fn options_are_checked() {
    for (options, code, expected) in [
        (&[c"-arch=sm_80", c"-fictitious_option"][..], 1, "error: unrecognised option `-fictitious_option`\nhelp: "),
        (&[c"-lto"], 2, "error: the architecture is missing\nhelp: "),
        (&[c"-arch=sm_8x"], 16, "error: unrecognised architecture `sm_8x`\nhelp: "),
        (&[c"-arch=sm_80", c"-ptx"], 11, "error: `-ptx` requires `-lto`\n"),
    ] {
        // The handle of a failed call gives the error log.
        let (session, found) = Session::new(options).unwrap_err();
        assert_eq!(found, code);
        assert!(session.log("Error").starts_with(expected), "{}", session.log("Error"));
    }
}

#[test]
fn machine_code_is_refused_with_advice() {
    let mut elf = *b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xbe\0";
    for (kind, bytes, what) in [
        (CUBIN, &elf[..], "is a cubin"),
        (ANY, &elf, "is a cubin"),
        (OBJECT, &elf, "is an object file"),
        (FATBIN, b"\x50\xed\x55\xba", "is a fatbin"),
        (ANY, b"\x50\xed\x55\xba", "is a fatbin"),
    ] {
        let mut session = Session::new(&[c"-arch=sm_80"]).unwrap();
        assert_eq!(session.add(kind, bytes, c"kernel"), 3, "{what}");
        let log = session.log("Error");
        assert!(log.starts_with(&format!("error: input `kernel` {what}")) && log.contains("\nhelp: "), "{log}");
    }
    elf[18] = 62;
    let mut session = Session::new(&[c"-arch=sm_80"]).unwrap();
    assert_eq!(session.add(ANY, &elf, c"kernel"), 3);
    assert!(session.log("Error").contains("is an object file"));
}

#[test]
fn invalid_inputs_are_refused() {
    for (kind, bytes, code, expected) in [
        (PTX, b"hello".as_slice(), 12, "input `x` is not PTX text"),
        (LTO_IR, b"hello", 12, "input `x` is not LTO-IR"),
        (ANY, b"hello", 3, "cannot recognise input `x`"),
        (PTX, b"", 3, "input `x` is empty"),
        (0, b"hello", 12, "input `x` has the unknown type 0"),
        (LTO_IR, b"\xed\x43\x4e\x7f", 18, "input `x` is LTO-IR, which requires the option `-lto`"),
    ] {
        let mut session = Session::new(&[c"-arch=sm_80"]).unwrap();
        assert_eq!(session.add(kind, bytes, c"x"), code, "{expected}");
        assert!(session.log("Error").starts_with(&format!("error: {expected}")), "{}", session.log("Error"));
    }
    // Both texts define the function.
    let mut session = Session::new(&[c"-arch=sm_80"]).unwrap();
    assert_eq!(session.add(PTX, DEFINES.as_bytes(), c"a"), 0);
    assert_eq!(session.add(PTX, DEFINES.as_bytes(), c"b"), 0);
    assert_eq!(session.complete(), 4);
    let expected =
        "error: cannot link the PTX of `a` (text 1), `b` (text 2): `scale` is defined in text 1 and in text 2";
    assert!(session.log("Error").starts_with(expected), "{}", session.log("Error"));
    assert_eq!(session.linked("Cubin"), Err(6));
}

#[test]
fn static_libraries_are_ignored() {
    let mut session = Session::new(&[c"-arch=sm_80"]).unwrap();
    assert_eq!(session.add(LIBRARY, b"!<arch>\n..", c"libcudadevrt.a"), 0);
    assert_eq!(session.add(PTX, DEFINES.as_bytes(), c"defines"), 0);
    assert_eq!(session.complete(), 0);
    assert_eq!(parsed(&session.linked("Cubin").unwrap()).module.functions.len(), 1);
    assert!(session.log("Info").starts_with("library `libcudadevrt.a` is ignored"), "{}", session.log("Info"));
}

#[test]
fn null_pointers_and_invalid_handles_are_errors() {
    type WithPointer = unsafe extern "C" fn(*mut c_void, *mut c_void) -> u32;
    type Create = unsafe extern "C" fn(*mut *mut c_void, u32, *const *const c_char) -> u32;
    type Add = unsafe extern "C" fn(*mut c_void, c_uint, *const c_void, usize, *const c_char) -> u32;
    type AddFile = unsafe extern "C" fn(*mut c_void, c_uint, *const c_char) -> u32;
    type Destroy = unsafe extern "C" fn(*mut *mut c_void) -> u32;
    type Version = unsafe extern "C" fn(*mut c_uint, *mut c_uint) -> u32;
    const NULL: u32 = 10;
    let mut session = Session::new(&[c"-arch=sm_80"]).unwrap();
    assert_eq!(session.add(ANY, b"x", c"x"), 3);
    assert_eq!(session.complete(), 0);
    let invalid: *mut c_void = std::ptr::without_provenance_mut(8);
    // SAFETY: the types are those of the functions. The pointers are null or valid, and no handle is dereferenced.
    unsafe {
        for name in ["Cubin", "CubinSize", "Ptx", "PtxSize"].map(|name| format!("nvJitLinkGetLinked{name}")) {
            assert_eq!(function::<WithPointer>(&name)(session.handle(), null_mut()), NULL, "{name}");
            assert_eq!(function::<WithPointer>(&name)(null_mut(), null_mut()), NULL, "{name}");
            assert_eq!(function::<WithPointer>(&name)(invalid, null_mut()), 3, "{name}");
        }
        for name in ["ErrorLog", "ErrorLogSize", "InfoLog", "InfoLogSize"] {
            let get = function::<WithPointer>(&format!("nvJitLinkGet{name}"));
            assert_eq!(get(session.handle(), null_mut()), NULL, "{name}");
            assert_eq!(get(null_mut(), null_mut()), NULL, "{name}");
        }
        let create = function::<Create>("nvJitLinkCreate");
        assert_eq!(create(null_mut(), 0, null()), NULL);
        let mut handle = null_mut();
        assert_eq!(create(&raw mut handle, 1, null()), NULL);
        assert_eq!(create(&raw mut handle, 1, [null()].as_ptr()), NULL);
        let destroy = function::<Destroy>("nvJitLinkDestroy");
        let mut twice = handle;
        assert_eq!(destroy(&raw mut handle), 0);
        assert_eq!((destroy(&raw mut handle), destroy(&raw mut twice), destroy(null_mut())), (NULL, 3, NULL));
        let add = function::<Add>("nvJitLinkAddData");
        assert_eq!(add(null_mut(), PTX, null(), 0, null()), NULL);
        assert_eq!(add(session.handle(), PTX, null(), 5, null()), 3);
        assert_eq!(function::<AddFile>("nvJitLinkAddFile")(session.handle(), PTX, null()), NULL);
        assert_eq!(function::<Version>("nvJitLinkVersion")(null_mut(), null_mut()), NULL);
    }
}
