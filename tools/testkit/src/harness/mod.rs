//! Whole launches for test harnesses: a text, how it is launched and its arguments in; the buffers after it, or one error, out.
//!
//! Arguments are bytes, in the order of the text's own parameters. Nothing is bound by name, and no type is looked at: what a
//! parameter is, the argument says.

mod failure;
mod ir;
mod ptx;
mod then;

use std::sync::atomic::{AtomicBool, Ordering};

use halfbyte_abi::Watchdog;
use halfbyte_abi::meet::Schedule;
use halfbyte_abi::{DEFAULT_BUDGET, buffer_base};
use halfbyte_isa::ptx::module::TargetName;

pub use failure::{Failure, Item, Kind};
pub use then::{Then, ThenArg, launch_all};

use halfbyte::launch::Engine;
use halfbyte_runtime::ptx::{Globals, Print};

/// Bytes that the buffers of a launch have at most, all of them together.
pub const MAX_BUFFER_BYTES: u64 = 1 << 30;

/// Bytes that the text of a launch has at most.
pub const MAX_TEXT_BYTES: u64 = 1 << 26;

/// Threads of a block along each axis at most; in all there are at most [`MAX_BLOCK`](halfbyte::import_ptx::MAX_BLOCK).
const BLOCK: [u32; 3] = [1024, 1024, 64];

/// Blocks along each axis at most.
const GRID: [u32; 3] = [i32::MAX as u32, 0xffff, 0xffff];

/// Bytes of shared memory that a launch may ask for at most: what any machine has for a block.
const MAX_SHARED_BYTES: u64 = 227 << 10;

/// What a text is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// PTX.
    Ptx,
    /// The IR.
    Ir,
}

/// What a text is run by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Via {
    /// PTX as it stands; of kernels of the IR, the PTX that they are compiled to.
    Ptx,
    /// The evaluator of the IR.
    Ir,
    /// HALU's words.
    Halu,
    /// The functions that native objects have of HALU's words, called in this process.
    #[cfg(feature = "aot")]
    Object,
    /// The PTX that PTX, imported, is compiled to; of kernels of the IR, the same as [`Via::Ptx`].
    Recompiled,
}

/// How many work items there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// So many, in groups as launches of the IR have them.
    Items(u32),
    /// Blocks of threads, each along x, y and z.
    Blocks {
        /// The number of blocks.
        grid: [u32; 3],
        /// The threads of a block.
        block: [u32; 3],
    },
}

/// An argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arg {
    /// The address of memory, by what it holds before the launch.
    Buffer {
        /// The bytes.
        bytes: Vec<u8>,
        /// What of them is to be addresses.
        pointers: Vec<Pointer>,
    },
    /// A value, by its bytes, low byte first.
    Value(Vec<u8>),
    /// An address so many bytes into the buffer of another argument.
    Alias {
        /// The argument, by number.
        arg: usize,
        /// Bytes from its start.
        offset: u64,
    },
}

impl Arg {
    /// The bytes of a buffer.
    fn into_bytes(self) -> Option<Vec<u8>> {
        match self {
            Arg::Buffer { bytes, .. } => Some(bytes),
            Arg::Value(_) | Arg::Alias { .. } => None,
        }
    }
}

/// Eight bytes of a buffer that are an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointer {
    /// Where they stand.
    pub at: u64,
    /// The argument whose buffer they point into, by number.
    pub arg: usize,
    /// Bytes from its start.
    pub offset: u64,
}

/// A launch.
#[derive(Clone, Debug)]
pub struct Request {
    /// What the text is in.
    pub language: Language,
    /// The text's name, for messages.
    pub file: String,
    /// The text.
    pub text: String,
    /// The kernel; else the only one, or the first.
    pub entry: Option<String>,
    /// How many work items.
    pub size: Size,
    /// Bytes of shared memory beside what the text declares.
    pub shared: u64,
    /// The arguments, in the order of the text's parameters.
    pub args: Vec<Arg>,
    /// Backward branches that an item may take.
    pub budget: u64,
    /// The machine that is to run it; what is for other machines is refused.
    pub machine: Option<TargetName>,
    /// What the variables of a text in PTX hold, from launch to launch.
    pub globals: Globals,
}

impl Request {
    /// A launch of the only or first kernel of a text without arguments, with the default budget.
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

/// How launches are made.
#[derive(Clone, Copy, Default, Debug)]
pub struct How<'a> {
    /// What executes words; else native code PTX as it stands, and the interpreter others.
    pub engine: Option<Engine>,
    /// What texts are run by; else PTX as it stands, and kernels of the IR by the evaluator, or where `engine` is native code
    /// by HALU's words, where it is a GPU by their PTX.
    pub via: Option<Via>,
    /// Whether races are looked for. The evaluator always does.
    pub races: bool,
    /// Pointers of a text in PTX may be into one memory, by whatever it is run.
    pub may_alias: bool,
    /// The limits of the launch, and what cancels it.
    pub watchdog: Option<&'a Watchdog>,
    /// Is set where a launch is of a kernel with an instruction that GPUs approximate: their results differ in the last places.
    pub approximate: Option<&'a AtomicBool>,
    /// Takes what a kernel in PTX that runs as it stands writes with `vprintf`.
    pub print: Option<Print<'a>>,
    /// The order in which the evaluator runs the items of a block.
    pub schedule: Schedule,
}

impl How<'_> {
    /// Says that a kernel has an instruction that GPUs approximate, if it has.
    fn note_approximate(&self, found: bool) {
        if let Some(approximate) = self.approximate {
            approximate.fetch_or(found, Ordering::Relaxed);
        }
    }
}

/// Makes a launch. What it gives is what its buffers hold afterwards, in the order of the arguments; an address that was put into
/// one and is still there is given back as the bytes that stood there before.
///
/// # Errors
/// What is wrong with the text, with the launch, or with what an item did.
pub fn launch(mut request: Request, how: &How<'_>) -> Result<Vec<Vec<u8>>, Failure> {
    launch_on(&mut request, how)?;
    Ok(request.args.into_iter().filter_map(Arg::into_bytes).collect())
}

impl Request {
    /// Returns `true` if the text is taken for the machine of the launch.
    pub fn is_read(&self) -> bool {
        self.language == Language::Ptx && ptx::is_read(self)
    }

    /// Returns `true` if the kernel, imported, takes the bits of an address: native objects run on memory of the process, which
    /// lies elsewhere than the buffers of other launches.
    pub fn takes_addresses(&self) -> bool {
        self.language == Language::Ptx && ptx::takes_addresses(self)
    }
}

/// Makes a launch on the buffers of its own arguments.
fn launch_on(request: &mut Request, how: &How<'_>) -> Result<(), Failure> {
    check_size(request)?;
    for (number, arg) in request.args.iter().enumerate() {
        if let &Arg::Alias { arg, offset } = arg {
            address(&request.args, arg, offset, &format!("argument {number}"))?;
        }
    }
    let held = put_addresses(&mut request.args)?;
    match request.language {
        Language::Ptx => ptx::launch(request, how)?,
        Language::Ir => ir::launch(request, how)?,
    }
    take_addresses(&mut request.args, &held);
    Ok(())
}

/// Whether a machine could be asked for such a launch.
fn check_size(request: &Request) -> Result<(), Failure> {
    let items = match request.size {
        Size::Items(_) => 1,
        Size::Blocks { grid, block } => {
            // No blocks are a launch of no items; a block has at least one item.
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

/// The bytes of the buffer of an argument; none where it is no buffer, or there is no such argument.
fn bytes_of(args: &[Arg], number: usize) -> Option<&[u8]> {
    match args.get(number) {
        Some(Arg::Buffer { bytes, .. }) => Some(bytes),
        _ => None,
    }
}

/// The address so many bytes into the buffer of an argument; its end has one too.
fn address(args: &[Arg], number: usize, offset: u64, what: &str) -> Result<u64, Failure> {
    let Some(bytes) = bytes_of(args, number) else {
        let message = format!("{what} is to point into argument {number}, which is neither `buffer` nor `zeros`");
        return Err(Failure::arguments(message));
    };
    if offset > bytes.len() as u64 {
        let size = bytes.len();
        let message = format!("{what} is to point to byte {offset} of argument {number}, which has {size} bytes");
        return Err(Failure::arguments(message));
    }
    Ok(buffer_base(number) + offset)
}

/// Bytes of a buffer where an address was put: the argument, the place, the bytes before, and the address.
type Held = (usize, usize, [u8; 8], [u8; 8]);

/// Puts addresses where buffers are to have them.
fn put_addresses(args: &mut [Arg]) -> Result<Vec<Held>, Failure> {
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
                let message = format!("{what} is to stand in the 8 bytes from {at} on; the buffer has {size} bytes");
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

/// Takes addresses out again that are as they were put there.
fn take_addresses(args: &mut [Arg], held: &[Held]) {
    for &(number, at, before, address) in held.iter().rev() {
        if let Some(place) = place_mut(args, number, at)
            && *place == address
        {
            *place = before;
        }
    }
}

/// Eight bytes of the buffer of an argument.
fn place_mut(args: &mut [Arg], number: usize, at: usize) -> Option<&mut [u8; 8]> {
    match args.get_mut(number) {
        Some(Arg::Buffer { bytes, .. }) => bytes.get_mut(at..)?.first_chunk_mut(),
        _ => None,
    }
}

/// The kernel of a name among those of a text; else the first.
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

/// Refuses arguments that are not as many as parameters.
fn check_count(params: usize, args: usize) -> Result<(), Failure> {
    if params == args {
        return Ok(());
    }
    Err(Failure::arguments(format!("the kernel has {params} parameters; `args` gives {args}")))
}
