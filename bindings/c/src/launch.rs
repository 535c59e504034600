//! Launch arguments and launch statistics of the C interface.

use std::ffi::c_void;

use halfbyte::runtime::{self, ptx};

use crate::error::{Error, Status};
use crate::ffi;

/// Kind of an argument: a value. `data` points to as many bytes as the parameter has, low byte first.
pub const HALFBYTE_ARG_VALUE: u32 = 0;
/// Kind of an argument: read-only memory.
pub const HALFBYTE_ARG_IN: u32 = 1;
/// Kind of an argument: memory that the kernel may write, and that does not overlap another
/// argument. The launch fills an `out` buffer with zeros.
pub const HALFBYTE_ARG_BUFFER: u32 = 2;
/// Kind of an argument: an address in the memory of another argument, byte `offset` of argument `of`.
pub const HALFBYTE_ARG_ALIAS: u32 = 3;

/// Maximum number of arguments of a launch. No kernel has more parameters.
const MOST_ARGS: usize = 4096;

/// Argument of a launch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Arg {
    /// Kind of the argument: HALFBYTE_ARG_VALUE, HALFBYTE_ARG_IN, HALFBYTE_ARG_BUFFER or HALFBYTE_ARG_ALIAS.
    pub kind: u32,
    /// Index of the argument that owns the memory, if this argument is an alias.
    pub of: u32,
    /// Address of the value or memory; may be null if `bytes` is 0.
    pub data: *mut c_void,
    /// Number of bytes at `data`.
    pub bytes: usize,
    /// Byte offset in the memory of argument `of`, if this argument is an alias.
    pub offset: u64,
}

/// Shape of a launch: the number of blocks and the block size, each along x, y and z.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Shape {
    /// Number of blocks along x, y and z.
    pub grid: [u32; 3],
    /// Number of threads per block along x, y and z.
    pub block: [u32; 3],
    /// Size of the dynamic shared memory of a block, in bytes.
    pub shared: u32,
}

/// Statistics of a launch, over all work items.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Stats {
    /// Number of executed instructions. On VP1, number of executed bundles.
    pub issued: u64,
    /// Number of taken backward branches.
    pub backward_branches: u64,
    /// Number of executed tiles. 0 except on VP1.
    pub tiles: u64,
    /// Number of bytes copied from buffers to the data store. 0 except on VP1.
    pub bytes_in: u64,
    /// Number of bytes copied from the data store to buffers. 0 except on VP1.
    pub bytes_out: u64,
}

/// Returns the launch shape of `count` work items along x, for kernels whose work items do not synchronise.
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
    /// Stores the statistics of a launch in `to`, unless `to` is null.
    ///
    /// # Safety
    /// `to` is null or valid for a write.
    pub unsafe fn give(of: runtime::Stats, to: *mut Stats) {
        let runtime::Stats { issued, backward_branches, tiles, bytes_in, bytes_out } = of;
        if !to.is_null() {
            // SAFETY: the caller upholds this function's contract.
            unsafe { to.write(Stats { issued, backward_branches, tiles, bytes_in, bytes_out }) };
        }
    }
}

/// Argument of a launch, with its bytes as Rust slices.
pub enum LaunchArg<'a> {
    Value(&'a [u8]),
    In(&'a [u8]),
    Buffer(&'a mut [u8]),
    Alias { of: usize, offset: u64 },
}

/// Converts the arguments of a launch from C.
///
/// # Safety
/// `count` arguments are at `args`, and the bytes of each argument are valid. Until the launch ends, no other code
/// writes the bytes of an argument, or accesses the bytes of an argument that the kernel may write.
pub unsafe fn given<'a>(args: *const Arg, count: usize) -> Result<Vec<LaunchArg<'a>>, Error> {
    if count > MOST_ARGS {
        return Err(Error::new(
            Status::Arguments,
            format!("{count} arguments exceed the maximum number of parameters"),
        ));
    }
    // SAFETY: the caller upholds this function's contract.
    let args = unsafe { ffi::slice(args, count, "args") }?;
    // Overlaps must be excluded before any mutable slice is created.
    check_apart(args)?;
    // SAFETY: the caller upholds this function's contract, and `check_apart` has excluded overlaps with written memory.
    args.iter().enumerate().map(|(number, arg)| unsafe { one(number, arg) }).collect()
}

/// Converts one argument of a launch from C.
///
/// # Safety
/// As [`given`].
unsafe fn one<'a>(number: usize, arg: &Arg) -> Result<LaunchArg<'a>, Error> {
    let &Arg { kind, of, data, bytes, offset } = arg;
    let (data, name) = (data.cast::<u8>(), format!("args[{number}].data"));
    // SAFETY: the caller upholds this function's contract.
    Ok(unsafe {
        match kind {
            HALFBYTE_ARG_VALUE => LaunchArg::Value(ffi::slice(data, bytes, &name)?),
            HALFBYTE_ARG_IN => LaunchArg::In(ffi::slice(data, bytes, &name)?),
            HALFBYTE_ARG_BUFFER => LaunchArg::Buffer(ffi::slice_mut(data, bytes, &name)?),
            HALFBYTE_ARG_ALIAS => LaunchArg::Alias { of: of as usize, offset },
            _ => {
                let message = format!("args[{number}].kind is {kind}, which is not a valid kind");
                return Err(Error::new(Status::InvalidArgument, message));
            }
        }
    })
}

/// Checks that no written argument overlaps another argument.
fn check_apart(args: &[Arg]) -> Result<(), Error> {
    let mut places: Vec<(usize, usize, usize, bool)> = (args.iter().enumerate())
        .filter(|(_, arg)| arg.kind != HALFBYTE_ARG_ALIAS && arg.bytes != 0)
        .map(|(number, arg)| {
            let start = arg.data.addr();
            (start, start.saturating_add(arg.bytes), number, arg.kind == HALFBYTE_ARG_BUFFER)
        })
        .collect();
    places.sort_unstable();
    // Each pair holds the greatest end address so far, and the number of its argument. `all` covers
    // all arguments, and `written` covers only the written arguments.
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

impl<'a> LaunchArg<'a> {
    /// Converts the argument to an argument of a compiled kernel.
    pub fn into_arg(self, number: usize) -> Result<runtime::Arg<'a>, Error> {
        Ok(match self {
            LaunchArg::Value(bytes) if bytes.len() <= 16 => {
                runtime::Arg::Scalar(bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte)))
            }
            LaunchArg::Value(bytes) => {
                let message = format!("args[{number}] is a value of {} bytes; the maximum is 16", bytes.len());
                return Err(Error::new(Status::Arguments, message));
            }
            LaunchArg::In(bytes) => runtime::Arg::In(bytes),
            LaunchArg::Buffer(bytes) => runtime::Arg::Buffer(bytes),
            LaunchArg::Alias { of, offset } => runtime::Arg::Alias { of, offset },
        })
    }

    /// Converts the argument to an argument of a PTX kernel that is executed directly.
    pub fn into_ptx(self) -> ptx::Arg<'a> {
        match self {
            LaunchArg::Value(bytes) => ptx::Arg::Value(bytes),
            LaunchArg::In(bytes) => ptx::Arg::In(bytes),
            LaunchArg::Buffer(bytes) => ptx::Arg::Buffer(bytes),
            LaunchArg::Alias { of, offset } => ptx::Arg::Alias { of, offset },
        }
    }
}
