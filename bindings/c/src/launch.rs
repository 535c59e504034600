//! What a launch is given and what it gives, as C says it.

use std::ffi::c_void;

use halfbyte::runtime::{self, ptx};

use crate::border;
use crate::error::{Error, Status};

/// A value: `data` points to its bytes, as many as the parameter has, low byte first.
pub const HALFBYTE_ARG_VALUE: u32 = 0;
/// Memory that the kernel only reads.
pub const HALFBYTE_ARG_IN: u32 = 1;
/// Memory that the kernel may write; no other argument has bytes of it. An `out` buffer begins as zeros.
pub const HALFBYTE_ARG_BUFFER: u32 = 2;
/// An address in the memory of another argument: byte `offset` of argument `of`.
pub const HALFBYTE_ARG_ALIAS: u32 = 3;

/// Arguments that are looked at. No kernel has as many parameters.
const MOST_ARGS: usize = 4096;

/// An argument of a launch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Arg {
    /// What it is: HALFBYTE_ARG_VALUE and so on.
    pub kind: u32,
    /// Of an alias: the number of the argument whose memory it is in.
    pub of: u32,
    /// Its bytes; may be null where there are none.
    pub data: *mut c_void,
    /// How many they are.
    pub bytes: usize,
    /// Of an alias: its offset in that memory, in bytes.
    pub offset: u64,
}

/// The work items of a launch: blocks of threads, each along x, y and z.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Shape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of shared memory of a block, besides what the kernel declares.
    pub shared: u32,
}

/// What a launch did, over all work items.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Stats {
    /// Instructions executed; on VP1 bundles.
    pub issued: u64,
    /// Backward branches taken.
    pub backward_branches: u64,
    /// Tiles run, on VP1.
    pub tiles: u64,
    /// Bytes copied to the data store, on VP1.
    pub bytes_in: u64,
    /// Bytes copied from there, on VP1.
    pub bytes_out: u64,
}

/// So many work items along x, in blocks as large as can be: the shape of kernels whose items do not meet.
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_items(count: u32) -> Shape {
    let halfbyte::Shape { grid, block, shared } = count.into();
    Shape { grid, block, shared }
}

impl From<Shape> for halfbyte::Shape {
    fn from(Shape { grid, block, shared }: Shape) -> halfbyte::Shape {
        halfbyte::Shape { grid, block, shared }
    }
}

impl Stats {
    /// Gives out what a launch did, where that is wanted.
    ///
    /// # Safety
    /// `to` is null or may be written.
    pub unsafe fn give(of: runtime::Stats, to: *mut Stats) {
        let runtime::Stats { issued, backward_branches, tiles, bytes_in, bytes_out } = of;
        if !to.is_null() {
            // SAFETY: the caller's contract.
            unsafe { to.write(Stats { issued, backward_branches, tiles, bytes_in, bytes_out }) };
        }
    }
}

/// An argument whose bytes may be accessed.
pub enum Given<'a> {
    Value(&'a [u8]),
    In(&'a [u8]),
    Buffer(&'a mut [u8]),
    Alias { of: usize, offset: u64 },
}

/// The arguments of a launch.
///
/// # Safety
/// So many arguments are at `args`, and the bytes that each names are there; until the launch ends nobody writes those that it reads nor
/// touches those that it may write.
pub unsafe fn given<'a>(args: *const Arg, count: usize) -> Result<Vec<Given<'a>>, Error> {
    if count > MOST_ARGS {
        return Err(Error::new(Status::Arguments, format!("{count} arguments; no kernel has so many parameters")));
    }
    // SAFETY: the caller's contract.
    let args = unsafe { border::slice(args, count, "args") }?;
    // Before any slice is made, of which none that is written may have bytes of another.
    check_apart(args)?;
    // SAFETY: the caller's contract, and that no bytes that are written are those of another argument.
    args.iter().enumerate().map(|(number, arg)| unsafe { one(number, arg) }).collect()
}

/// # Safety
/// As [`given`].
unsafe fn one<'a>(number: usize, arg: &Arg) -> Result<Given<'a>, Error> {
    let &Arg { kind, of, data, bytes, offset } = arg;
    let (data, name) = (data.cast::<u8>(), format!("args[{number}].data"));
    // SAFETY: the caller's contract.
    Ok(unsafe {
        match kind {
            HALFBYTE_ARG_VALUE => Given::Value(border::slice(data, bytes, &name)?),
            HALFBYTE_ARG_IN => Given::In(border::slice(data, bytes, &name)?),
            HALFBYTE_ARG_BUFFER => Given::Buffer(border::slice_mut(data, bytes, &name)?),
            HALFBYTE_ARG_ALIAS => Given::Alias { of: of as usize, offset },
            _ => {
                let message = format!("args[{number}].kind is {kind}; there is no such argument");
                return Err(Error::new(Status::InvalidArgument, message));
            }
        }
    })
}

/// Whether no argument that is written has bytes of another one.
fn check_apart(args: &[Arg]) -> Result<(), Error> {
    let mut places: Vec<(usize, usize, usize, bool)> = (args.iter().enumerate())
        .filter(|(_, arg)| arg.kind != HALFBYTE_ARG_ALIAS && arg.bytes != 0)
        .map(|(number, arg)| {
            let start = arg.data.addr();
            (start, start.saturating_add(arg.bytes), number, arg.kind == HALFBYTE_ARG_BUFFER)
        })
        .collect();
    places.sort_unstable();
    // Of those so far: how far they reach, and who does; likewise of those that are written.
    let (mut all, mut written) = ((0, 0), (0, 0));
    for (start, end, number, is_written) in places {
        let (reached, other) = if is_written { all } else { written };
        if start < reached {
            let message = format!("args[{other}] and args[{number}] overlap, and one of them is written");
            return Err(Error::new(Status::Arguments, message));
        }
        all = all.max((end, number));
        if is_written {
            written = written.max((end, number));
        }
    }
    Ok(())
}

impl<'a> Given<'a> {
    /// As a program's kernel takes it.
    pub fn into_arg(self, number: usize) -> Result<runtime::Arg<'a>, Error> {
        Ok(match self {
            Given::Value(bytes) if bytes.len() <= 16 => {
                runtime::Arg::Scalar(bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte)))
            }
            Given::Value(bytes) => {
                let message =
                    format!("args[{number}] is a value of {} bytes; no parameter has more than 16", bytes.len());
                return Err(Error::new(Status::Arguments, message));
            }
            Given::In(bytes) => runtime::Arg::In(bytes),
            Given::Buffer(bytes) => runtime::Arg::Buffer(bytes),
            Given::Alias { of, offset } => runtime::Arg::Alias { of, offset },
        })
    }

    /// As a kernel in PTX takes it that runs as it stands.
    pub fn into_ptx(self) -> ptx::Arg<'a> {
        match self {
            Given::Value(bytes) => ptx::Arg::Value(bytes),
            Given::In(bytes) => ptx::Arg::In(bytes),
            Given::Buffer(bytes) => ptx::Arg::Buffer(bytes),
            Given::Alias { of, offset } => ptx::Arg::Alias { of, offset },
        }
    }
}
