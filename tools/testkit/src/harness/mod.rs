//! Complete launches for test harnesses. The input is a kernel's text, a launch shape and
//! arguments. The output is the contents of the buffers after the launch, or one error.
//!
//! Arguments are bytes, in the order of the parameters in the text. Arguments have no names, and
//! their types are not checked: each argument states whether it is a buffer or a value.

mod failure;
mod ir;
mod ptx;
mod sequence;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use halfbyte_abi::Watchdog;
use halfbyte_abi::cooperative::Schedule;
use halfbyte_abi::{DEFAULT_BUDGET, buffer_base};
use halfbyte_isa::ptx::module::TargetName;
use halfbyte_isa::ptx::text::ParsedFile;

pub use failure::{Failure, FailureKind, Item, OtherAccess};
pub use sequence::{NextArg, NextLaunch, launch_all};

use halfbyte::launch::{Engine, RaceCheck};
use halfbyte_runtime::ptx::{Globals, Print};

/// The largest total size of a launch's buffers, in bytes.
pub const MAX_BUFFER_BYTES: u64 = 1 << 30;

/// The largest size of a launch's text, in bytes.
pub const MAX_TEXT_BYTES: u64 = 1 << 26;

/// Maximum number of threads in a block along x, y and z.
/// [`MAX_BLOCK`](halfbyte::import_ptx::MAX_BLOCK) limits the total number.
const BLOCK: [u32; 3] = [1024, 1024, 64];

/// Maximum number of blocks in a grid along x, y and z.
const GRID: [u32; 3] = [i32::MAX as u32, 0xffff, 0xffff];

/// Maximum size of dynamic shared memory in bytes: 227 KiB, the largest that any GPU has for a block.
const MAX_SHARED_BYTES: u64 = 227 << 10;

/// The language of a kernel's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// PTX.
    Ptx,
    /// The IR of halfbyte.
    Ir,
}

/// The form in which a kernel is executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Execution {
    /// Direct execution of PTX. A kernel in the IR is first compiled to PTX.
    Ptx,
    /// The evaluator of the IR.
    Ir,
    /// Machine code of HALU.
    Halu,
    /// Functions of native objects. A kernel is compiled for HALU, from HALU's machine code to a
    /// native object, and its function is called in this process.
    #[cfg(feature = "aot")]
    Object,
    /// PTX that halfbyte emits for a kernel that it imported from PTX. For a kernel in the IR, the
    /// same as [`Execution::Ptx`].
    Recompiled,
}

/// The number of work items in a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// A number of items along x, in groups of the default size.
    Items(u32),
    /// A grid of blocks, with sizes along x, y and z.
    Blocks {
        /// The number of blocks along each axis.
        grid: [u32; 3],
        /// The number of threads in a block along each axis.
        block: [u32; 3],
    },
}

/// An argument of a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arg {
    /// The address of a buffer. The request gives the contents of the buffer before the launch.
    Buffer {
        /// The contents.
        bytes: Vec<u8>,
        /// The positions in the contents at which addresses are stored before the launch.
        pointers: Vec<Pointer>,
    },
    /// A value, as little-endian bytes.
    Value(Vec<u8>),
    /// An address in the buffer of another argument.
    Alias {
        /// The index of the other argument.
        arg: usize,
        /// The byte offset in the buffer of the other argument.
        offset: u64,
    },
}

impl Arg {
    /// Returns the contents of a buffer argument, or `None` for a value or an alias.
    fn into_bytes(self) -> Option<Vec<u8>> {
        match self {
            Arg::Buffer { bytes, .. } => Some(bytes),
            Arg::Value(_) | Arg::Alias { .. } => None,
        }
    }
}

/// An address that is stored in eight bytes of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointer {
    /// The byte offset at which the address is stored.
    pub at: u64,
    /// The index of the argument into whose buffer the address points.
    pub arg: usize,
    /// The byte offset in the buffer to which the address points.
    pub offset: u64,
}

/// A request for a launch.
#[derive(Clone, Debug)]
pub struct Request {
    /// The language of the text.
    pub language: Language,
    /// The text's file name, for messages.
    pub file: String,
    /// The text.
    pub text: String,
    /// The kernel's name; `None` for the first kernel of the text.
    pub entry: Option<String>,
    /// The number of work items.
    pub size: Size,
    /// The size of dynamic shared memory in bytes, in addition to the shared memory that the text declares.
    pub shared: u64,
    /// The arguments, in the order of the parameters.
    pub args: Vec<Arg>,
    /// The number of backward branches that an item may take.
    pub budget: u64,
    /// `true` for a cooperative launch, in which blocks can wait for each other.
    pub cooperative: bool,
    /// The machine that executes the launch; `None` for any. A PTX text for another machine is refused.
    pub machine: Option<TargetName>,
    /// The global variables of a PTX text, which keep their values between launches.
    pub globals: Globals,
}

impl Request {
    /// Creates a request for the first kernel of a text, without arguments and with the default budget.
    pub fn new(language: Language, file: impl Into<String>, text: impl Into<String>, size: Size) -> Request {
        let (file, text) = (file.into(), text.into());
        Request {
            language,
            file,
            text,
            entry: None,
            size,
            shared: 0,
            args: Vec::new(),
            budget: DEFAULT_BUDGET,
            cooperative: false,
            machine: None,
            globals: Globals::default(),
        }
    }
}

/// Callback that receives same-value races.
#[derive(Clone, Copy)]
pub struct Warn<'a>(pub &'a (dyn Fn(Failure) + Sync));

impl fmt::Debug for Warn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Warn(..)")
    }
}

/// Options of a launch.
#[derive(Clone, Copy, Default, Debug)]
pub struct LaunchOptions<'a> {
    /// The engine. By default, native code executes PTX directly, and the interpreter executes all other machine code.
    pub engine: Option<Engine>,
    /// The form in which the kernel is executed. By default, PTX is executed directly, and a kernel
    /// in the IR on the evaluator. For the IR, an engine of native code changes the default to
    /// HALU's machine code, and a GPU changes it to PTX.
    pub via: Option<Execution>,
    /// Detection of races in every form of execution. The evaluator always detects races.
    pub races: RaceCheck,
    /// `true` if pointers of a PTX kernel may alias, in every form of execution.
    pub may_alias: bool,
    /// The limits of the launch, and the token that cancels it.
    pub watchdog: Option<&'a Watchdog>,
    /// A flag that is set if the kernel has an instruction that GPUs approximate. The results of
    /// the kernel on a GPU may differ in the last bits.
    pub approximate: Option<&'a AtomicBool>,
    /// A callback that receives the `vprintf` output of directly executed PTX.
    pub print: Option<Print<'a>>,
    /// A callback that receives the same-value races, after the launch.
    pub warn: Option<Warn<'a>>,
    /// The order in which the evaluator runs the items of a group.
    pub schedule: Schedule,
}

impl LaunchOptions<'_> {
    /// Sets the flag `approximate` if `found` is `true`.
    fn note_approximate(&self, found: bool) {
        if let Some(approximate) = self.approximate {
            approximate.fetch_or(found, Ordering::Relaxed);
        }
    }
}

/// Executes a launch. Returns the contents of its buffers afterwards, in the order of the arguments. If the kernel did
/// not overwrite a stored address, the original bytes are restored in its place.
///
/// # Errors
/// Fails if the text or the launch is invalid, or if an item traps.
pub fn launch(mut request: Request, how: &LaunchOptions<'_>) -> Result<Vec<Vec<u8>>, Failure> {
    launch_on(&mut request, &mut None, how)?;
    Ok(request.args.into_iter().filter_map(Arg::into_bytes).collect())
}

impl Request {
    /// Returns `true` if the text is valid for the machine of the request.
    pub fn is_read(&self) -> bool {
        self.language == Language::Ptx && ptx::is_read(self)
    }

    /// Returns `true` if the imported kernel uses the bits of an address. A kernel that uses these
    /// bits gives other results in a native object, whose buffers have other addresses.
    pub fn takes_addresses(&self) -> bool {
        self.language == Language::Ptx && ptx::takes_addresses(self)
    }
}

/// Executes a launch on the buffers in the request. `parsed` holds the parsed PTX text of the
/// request after the first launch.
fn launch_on(request: &mut Request, parsed: &mut Option<ParsedFile>, how: &LaunchOptions<'_>) -> Result<(), Failure> {
    check_size(request)?;
    let is_direct = request.language == Language::Ptx && matches!(how.via, None | Some(Execution::Ptx));
    if request.cooperative && !is_direct {
        let message = "a cooperative launch needs a PTX text that is executed directly; use `--via ptx`";
        return Err(Failure::new(FailureKind::Unsupported, message));
    }
    for (number, arg) in request.args.iter().enumerate() {
        if let &Arg::Alias { arg, offset } = arg {
            address(&request.args, arg, offset, &format!("argument {number}"))?;
        }
    }
    let held = store_pointers(&mut request.args)?;
    match request.language {
        Language::Ptx => ptx::launch(request, parsed, how)?,
        Language::Ir => ir::launch(request, how)?,
    }
    restore_pointer_bytes(&mut request.args, &held);
    Ok(())
}

/// Checks the shape of a launch against the limits of GPUs on grids and blocks.
fn check_size(request: &Request) -> Result<(), Failure> {
    let items = match request.size {
        Size::Items(_) => 1,
        Size::Blocks { grid, block } => {
            // Each entry ends with the smallest valid count. A grid without blocks is an empty
            // launch, but a block has at least one item.
            let axes = [("grid", grid, GRID, 0), ("block", block, BLOCK, 1)];
            for (name, counts, most, least) in axes {
                for ((count, most), axis) in counts.into_iter().zip(most).zip(["x", "y", "z"]) {
                    if !(least..=most).contains(&count) {
                        let message =
                            format!("`{name}` has {count} along {axis}; give a number from {least} to {most}");
                        return Err(Failure::arguments(message));
                    }
                }
            }
            let product = |counts: [u32; 3]| counts.into_iter().map(u128::from).product::<u128>();
            let threads = product(block);
            if threads > halfbyte::import_ptx::MAX_BLOCK.into() {
                let most = halfbyte::import_ptx::MAX_BLOCK;
                let message = format!("a block of {threads} threads; a block has at most {most}");
                return Err(Failure::arguments(message));
            }
            product(grid) * threads
        }
    };
    if items > u32::MAX.into() {
        let message = format!("{items} work items; there are at most {} in a launch", u32::MAX);
        return Err(Failure::arguments(message));
    }
    if request.shared > MAX_SHARED_BYTES {
        let message = format!("{} bytes of shared memory; a block has at most {MAX_SHARED_BYTES}", request.shared);
        return Err(Failure::arguments(message));
    }
    Ok(())
}

/// Returns the contents of the buffer of an argument, or `None` if the argument is not a buffer.
fn bytes_of(args: &[Arg], number: usize) -> Option<&[u8]> {
    match args.get(number) {
        Some(Arg::Buffer { bytes, .. }) => Some(bytes),
        _ => None,
    }
}

/// Returns the address at `offset` in the buffer of an argument; the end of the buffer is a valid offset.
fn address(args: &[Arg], number: usize, offset: u64, what: &str) -> Result<u64, Failure> {
    let Some(bytes) = bytes_of(args, number) else {
        let message = format!("{what} must point into a buffer; argument {number} is neither `buffer` nor `zeros`");
        return Err(Failure::arguments(message));
    };
    if offset > bytes.len() as u64 {
        let size = bytes.len();
        let message = format!("{what} points to byte {offset} of argument {number}, which has {size} bytes");
        return Err(Failure::arguments(message));
    }
    Ok(buffer_base(number) + offset)
}

/// Eight bytes of a buffer that an address replaces: the argument's index, the byte offset, the
/// original bytes, and the address.
type ReplacedBytes = (usize, usize, [u8; 8], [u8; 8]);

/// Stores the addresses of all pointers in the buffers. Returns the bytes that were replaced.
fn store_pointers(args: &mut [Arg]) -> Result<Vec<ReplacedBytes>, Failure> {
    let mut wanted = Vec::new();
    for (number, arg) in args.iter().enumerate() {
        let Arg::Buffer { bytes, pointers } = arg else { continue };
        for pointer in pointers {
            let what = format!("a pointer of argument {number}");
            let address = address(args, pointer.arg, pointer.offset, &what)?.to_le_bytes();
            let at = usize::try_from(pointer.at).ok();
            let before = at.and_then(|at| Some((at, bytes.get(at..)?.first_chunk::<8>()?)));
            let Some((at, before)) = before else {
                let (at, size) = (pointer.at, bytes.len());
                let message = format!("{what} needs the 8 bytes from {at} on; the buffer has {size} bytes");
                return Err(Failure::arguments(message));
            };
            wanted.push((number, at, *before, address));
        }
    }
    for &(number, at, _, address) in &wanted {
        if let Some(place) = place_mut(args, number, at) {
            *place = address;
        }
    }
    Ok(wanted)
}

/// Restores the original bytes of each stored address that the launch has not overwritten.
fn restore_pointer_bytes(args: &mut [Arg], held: &[ReplacedBytes]) {
    for &(number, at, before, address) in held.iter().rev() {
        if let Some(place) = place_mut(args, number, at)
            && *place == address
        {
            *place = before;
        }
    }
}

/// Returns the eight bytes at offset `at` in the buffer of an argument, or `None` if there are none.
fn place_mut(args: &mut [Arg], number: usize, at: usize) -> Option<&mut [u8; 8]> {
    match args.get_mut(number) {
        Some(Arg::Buffer { bytes, .. }) => bytes.get_mut(at..)?.first_chunk_mut(),
        _ => None,
    }
}

/// Returns the index and the name of the kernel named `entry`, or of the first kernel if `entry` is `None`.
fn choose<'n>(names: &[&'n str], entry: Option<&str>) -> Result<(usize, &'n str), Failure> {
    let found = match entry {
        None => names.first().map(|name| (0, *name)),
        Some(entry) => {
            let entry = entry.strip_prefix('@').unwrap_or(entry);
            names.iter().enumerate().find(|(_, name)| **name == entry).map(|(number, name)| (number, *name))
        }
    };
    found.ok_or_else(|| match (entry, names) {
        (_, []) => Failure::arguments("the text has no kernel"),
        (entry, names) => {
            let (entry, names) = (entry.unwrap_or_default(), names.join(", "));
            let entry: String = entry.chars().take(80).collect();
            Failure::arguments(format!("the text has no kernel `{entry}`; `entry` is one of: {names}"))
        }
    })
}

/// Fails if the number of arguments differs from the number of parameters.
fn check_count(params: usize, args: usize) -> Result<(), Failure> {
    if params == args {
        return Ok(());
    }
    Err(Failure::arguments(format!("the kernel has {params} parameters; `args` gives {args}")))
}
