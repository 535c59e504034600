//! The peers: C functions in shared objects, one object per compiler.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

/// A compiler that builds peers.
#[derive(Clone, Copy)]
pub enum Compiler {
    /// `gcc -O3 -march=x86-64-v3`
    Gcc,
    /// `clang -O3 -march=x86-64-v3`
    Clang,
    /// `clang -O3 -march=x86-64-v3 -mprefer-vector-width=128`
    Clang128,
}

/// Type of the C functions in half.c, bytes.c, vp1.c and groups.c. The arguments are a scalar (or a
/// number of passes), n bytes to read, the bytes to write, and n.
type Function = unsafe extern "C" fn(u32, *const u8, *mut u8, usize);
/// Type of the C functions in ptx.c. The arguments are the scalars, the buffers to read, and the bytes to write.
type PtxFunction = unsafe extern "C" fn(*const u32, *const *const u8, *mut u8);
/// Type of the naive interpreter. The arguments are the instruction words, their number, constant
/// bank 0, and the number of items. Returns false if an instruction word is not supported.
type NaiveFunction = unsafe extern "C" fn(*const u128, usize, *const u8, u32) -> bool;

/// A C function of half.c, bytes.c, vp1.c or groups.c. It writes at most as many bytes as it reads.
#[derive(Clone, Copy)]
pub struct Peer(Function);

/// A C function of ptx.c, the peer of a PTX kernel.
#[derive(Clone, Copy)]
pub struct PtxPeer(PtxFunction);

/// The shared objects with the C functions, one object for each compiler.
#[derive(Clone, Copy)]
pub struct Peers {
    /// The shared objects, indexed by [`Compiler`].
    libraries: [Library; 3],
}

#[derive(Clone, Copy)]
struct Library(*mut c_void);

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

const RTLD_NOW: c_int = 2;

impl Peers {
    /// Opens the shared objects in the folder of this executable.
    pub fn beside_this_program() -> Result<Peers, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let folder = program.parent().unwrap_or(Path::new("."));
        let open = |name: &str| {
            let path = folder.join(name);
            let c_path = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|error| error.to_string())?;
            // SAFETY: the path is a valid C string. As the C sources show, loading the object runs
            // no code of the object.
            let library = unsafe { dlopen(c_path.as_ptr(), RTLD_NOW) };
            if library.is_null() {
                return Err(format!("{} cannot be opened; run `benches/peers` to build it", path.display()));
            }
            Ok(Library(library))
        };
        Ok(Peers { libraries: [open("peers-gcc.so")?, open("peers-clang.so")?, open("peers-clang128.so")?] })
    }

    fn symbol(&self, compiler: Compiler, name: &CStr) -> Result<*mut c_void, String> {
        let Library(library) = self.libraries[compiler as usize];
        // SAFETY: the library stays open as long as the program runs, and the name is a valid C string.
        let symbol = unsafe { dlsym(library, name.as_ptr()) };
        if symbol.is_null() {
            Err(format!("the C function {name:?} is missing; run `benches/peers` to build it"))
        } else {
            Ok(symbol)
        }
    }

    /// Returns the function with this name of half.c, bytes.c, vp1.c or groups.c.
    pub fn get(&self, compiler: Compiler, name: &CStr) -> Result<Peer, String> {
        let symbol = self.symbol(compiler, name)?;
        // SAFETY: all functions of these files have the type `Function`.
        Ok(Peer(unsafe { std::mem::transmute::<*mut c_void, Function>(symbol) }))
    }

    /// Returns the function with this name of ptx.c.
    pub fn get_ptx(&self, compiler: Compiler, name: &CStr) -> Result<PtxPeer, String> {
        let symbol = self.symbol(compiler, name)?;
        // SAFETY: all functions of ptx.c have the type `PtxFunction`.
        Ok(PtxPeer(unsafe { std::mem::transmute::<*mut c_void, PtxFunction>(symbol) }))
    }

    /// Executes HALU instruction words on the naive interpreter.
    ///
    /// # Safety
    /// The words and constants must be those of a kernel whose items access only valid memory.
    pub unsafe fn run_naive(&self, words: &[u128], constants: &[u8], items: u32) -> Result<(), String> {
        let symbol = self.symbol(Compiler::Gcc, c"naive_run")?;
        // SAFETY: `naive_run` has the type `NaiveFunction`.
        let run = unsafe { std::mem::transmute::<*mut c_void, NaiveFunction>(symbol) };
        // SAFETY: `words.len()` is the number of words. The caller guarantees that the items access only valid memory.
        match unsafe { run(words.as_ptr(), words.len(), constants.as_ptr(), items) } {
            true => Ok(()),
            false => Err("the naive interpreter does not support an instruction".into()),
        }
    }
}

impl Peer {
    /// Calls the function. `y` may be shorter than `x` if the function writes less than it reads.
    ///
    /// # Safety
    /// The function must not write more than `y.len()` bytes when it reads `x.len()` bytes, which
    /// must be a multiple of 32.
    pub unsafe fn run(self, scalar: u32, x: &[u8], y: &mut [u8]) {
        // SAFETY: the caller guarantees that the function accesses only the bytes of x and y.
        unsafe { (self.0)(scalar, x.as_ptr(), y.as_mut_ptr(), x.len()) }
    }
}

impl PtxPeer {
    /// Calls the function.
    ///
    /// # Safety
    /// The function must take this number of scalars and buffers, and must access the buffers only within their bounds.
    pub unsafe fn run(self, scalars: &[u32], read: &[&[u8]], y: &mut [u8]) {
        let read: Vec<*const u8> = read.iter().map(|bytes| bytes.as_ptr()).collect();
        // SAFETY: the caller guarantees that the function accesses the scalars and buffers only within their bounds.
        unsafe { (self.0)(scalars.as_ptr(), read.as_ptr(), y.as_mut_ptr()) }
    }
}
