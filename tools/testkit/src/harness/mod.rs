//! Complete launches for test harnesses. The input is a text, a launch shape and arguments. The
//! output is the buffers after the launch, or one error.
//!
//! Arguments are bytes, in the order of the parameters in the text. Nothing is bound by name, and
//! parameter types are not checked: each argument says whether it is a buffer or a value.

mod failure;
mod ir;
mod ptx;
mod sequence;

use std::sync::atomic::{AtomicBool, Ordering};

use halfbyte_abi::Watchdog;
use halfbyte_abi::cooperative::Schedule;
use halfbyte_abi::{DEFAULT_BUDGET, buffer_base};
use halfbyte_isa::ptx::module::TargetName;

pub use failure::{Failure, FailureKind, Item};
pub use sequence::{NextArg, NextLaunch, launch_all};

use halfbyte::launch::Engine;
use halfbyte_runtime::ptx::{Globals, Print};

/// The largest total size of a launch's buffers, in bytes.
pub const MAX_BUFFER_BYTES: u64 = 1 << 30;

/// The largest size of a launch's text, in bytes.
pub const MAX_TEXT_BYTES: u64 = 1 << 26;

/// The largest block along each axis. The total number of threads is limited by
/// [`MAX_BLOCK`](halfbyte::import_ptx::MAX_BLOCK).
const BLOCK: [u32; 3] = [1024, 1024, 64];

/// The largest grid along each axis.
const GRID: [u32; 3] = [i32::MAX as u32, 0xffff, 0xffff];

/// The largest size of dynamic shared memory, in bytes: the largest that any GPU has for a block.
const MAX_SHARED_BYTES: u64 = 227 << 10;

/// The language of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// PTX.
    Ptx,
    /// The IR of halfbyte.
    Ir,
}

/// The form in which a text is executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Execution {
    /// Direct execution of PTX. A kernel in the IR is first compiled to PTX.
    Ptx,
    /// The evaluator of the IR.
    Ir,
    /// Machine code of HALU.
    Halu,
    /// Functions of native objects, which are compiled from HALU's machine code and called in this
    /// process.
    #[cfg(feature = "aot")]
    Object,
    /// PTX that is recompiled from imported PTX. For a kernel in the IR, the same as [`Via::Ptx`].
    Recompiled,
}

/// The number of work items in a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// A number of items along x, in the default groups of the IR.
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
    /// The address of a buffer, given by its contents before the launch.
    Buffer {
        /// The contents.
        bytes: Vec<u8>,
        /// The places in the contents that receive addresses.
        pointers: Vec<Pointer>,
    },
    /// A value, as little-endian bytes.
    Value(Vec<u8>),
    /// An address in the buffer of another argument.
    Alias {
        /// The number of the other argument.
        arg: usize,
        /// The offset in its buffer, in bytes.
        offset: u64,
    },
}

impl Arg {
    /// Returns the bytes of a buffer.
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
    /// The offset of these eight bytes.
    pub at: u64,
    /// The number of the argument whose buffer the address points into.
    pub arg: usize,
    /// The offset in that buffer, in bytes.
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
    /// The kernel's name; `None` for the first kernel.
    pub entry: Option<String>,
    /// The number of work items.
    pub size: Size,
    /// The size of dynamic shared memory in bytes, in addition to the shared memory that the text
    /// declares.
    pub shared: u64,
    /// The arguments, in the order of the parameters.
    pub args: Vec<Arg>,
    /// The number of backward branches that an item may take.
    pub budget: u64,
    /// The machine that executes the launch. A text for another machine is refused.
    pub machine: Option<TargetName>,
    /// The global variables of a PTX text, which keep their values between launches.
    pub globals: Globals,
}

impl Request {
    /// Creates a request for the first kernel of a text, without arguments and with the default
    /// budget.
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
            machine: None,
            globals: Globals::default(),
        }
    }
}

/// Options of a launch.
#[derive(Clone, Copy, Default, Debug)]
pub struct LaunchOptions<'a> {
    /// The engine. By default, PTX is executed directly by native code, and other machine code by
    /// the interpreter.
    pub engine: Option<Engine>,
    /// The form in which a text is executed. By default, PTX is executed directly and the IR by the
    /// evaluator. With an engine of native code, the default for the IR is HALU's machine code;
    /// with a GPU, it is PTX.
    pub via: Option<Execution>,
    /// `true` to detect races. The evaluator always detects races.
    pub races: bool,
    /// `true` if pointers of a PTX text may alias, in every form of execution.
    pub may_alias: bool,
    /// The limits of the launch, and its cancellation.
    pub watchdog: Option<&'a Watchdog>,
    /// A flag that is set if the kernel has an instruction that GPUs approximate, whose results
    /// differ in the last places.
    pub approximate: Option<&'a AtomicBool>,
    /// The receiver of `vprintf` output of directly executed PTX.
    pub print: Option<Print<'a>>,
    /// The order in which the evaluator runs the items of a block.
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

/// Executes a launch. Returns the contents of its buffers afterwards, in the order of the
/// arguments. Where a stored address is still in place after the launch, the original bytes are
/// restored.
///
/// # Errors
/// Fails if the text or the launch is invalid, or if an item traps.
pub fn launch(mut request: Request, how: &LaunchOptions<'_>) -> Result<Vec<Vec<u8>>, Failure> {
    launch_on(&mut request, how)?;
    Ok(request.args.into_iter().filter_map(Arg::into_bytes).collect())
}

impl Request {
    /// Returns `true` if the text is valid for the machine of the launch.
    pub fn is_read(&self) -> bool {
        self.language == Language::Ptx && ptx::is_read(self)
    }

    /// Returns `true` if the imported kernel uses the bits of an address. Native objects run on
    /// memory of this process, whose addresses differ from those of other launches.
    pub fn takes_addresses(&self) -> bool {
        self.language == Language::Ptx && ptx::takes_addresses(self)
    }
}

/// Executes a launch on the buffers in the request.
fn launch_on(request: &mut Request, how: &LaunchOptions<'_>) -> Result<(), Failure> {
    check_size(request)?;
    for (number, arg) in request.args.iter().enumerate() {
        if let &Arg::Alias { arg, offset } = arg {
            address(&request.args, arg, offset, &format!("argument {number}"))?;
        }
    }
    let held = store_pointers(&mut request.args)?;
    match request.language {
        Language::Ptx => ptx::launch(request, how)?,
        Language::Ir => ir::launch(request, how)?,
    }
    restore_pointer_bytes(&mut request.args, &held);
    Ok(())
}

/// Checks the shape of a launch against the limits of GPUs.
fn check_size(request: &Request) -> Result<(), Failure> {
    let items = match request.size {
        Size::Items(_) => 1,
        Size::Blocks { grid, block } => {
            // A grid without blocks is an empty launch; a block has at least one item.
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

/// Returns the buffer of an argument, or `None` if there is no such buffer.
fn bytes_of(args: &[Arg], number: usize) -> Option<&[u8]> {
    match args.get(number) {
        Some(Arg::Buffer { bytes, .. }) => Some(bytes),
        _ => None,
    }
}

/// Returns the address at `offset` in the buffer of an argument; the end of the buffer is a valid
/// offset.
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

/// Bytes of a buffer that an address replaces: the argument, the offset, the original bytes, and
/// the address.
type ReplacedBytes = (usize, usize, [u8; 8], [u8; 8]);

/// Stores the addresses of all pointers in their buffers.
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

/// Restores the original bytes wherever the stored address is still in place.
fn restore_pointer_bytes(args: &mut [Arg], held: &[ReplacedBytes]) {
    for &(number, at, before, address) in held.iter().rev() {
        if let Some(place) = place_mut(args, number, at)
            && *place == address
        {
            *place = before;
        }
    }
}

/// Returns eight bytes of the buffer of an argument.
fn place_mut(args: &mut [Arg], number: usize, at: usize) -> Option<&mut [u8; 8]> {
    match args.get_mut(number) {
        Some(Arg::Buffer { bytes, .. }) => bytes.get_mut(at..)?.first_chunk_mut(),
        _ => None,
    }
}

/// Returns the kernel with the given name, or the first kernel if no name is given.
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

/// Fails if the number of arguments is not the number of parameters.
fn check_count(params: usize, args: usize) -> Result<(), Failure> {
    if params == args {
        return Ok(());
    }
    Err(Failure::arguments(format!("the kernel has {params} parameters; `args` gives {args}")))
}
