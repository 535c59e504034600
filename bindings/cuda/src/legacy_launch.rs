//! The legacy launch interface: a program sets the block size, the shared memory and the packed parameters of a
//! function, and then launches the function.

use std::ffi::{c_int, c_uint, c_void};

use halfbyte::Shape;

use crate::context;
use crate::entry::enter;
use crate::function;
use crate::launch::{Launch, unpacked};
use crate::status::{Result, Status};
use crate::stream;

/// Maximum size of packed parameters in bytes.
const MAX_PACKED: usize = 1 << 15;

/// Converts a dimension, which must be positive.
fn dimension(value: c_int) -> Result<u32> {
    u32::try_from(value).ok().filter(|&value| value != 0).ok_or(Status::INVALID_VALUE)
}

/// Sets the block size of a function.
#[unsafe(no_mangle)]
pub extern "C" fn cuFuncSetBlockShape(function: *mut c_void, x: c_int, y: c_int, z: c_int) -> Status {
    enter("cuFuncSetBlockShape", || {
        let block = [dimension(x)?, dimension(y)?, dimension(z)?];
        function::checked(function)?.state().block = block;
        Ok(())
    })
}

/// Sets the dynamic shared memory of a function in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn cuFuncSetSharedSize(function: *mut c_void, bytes: c_uint) -> Status {
    enter("cuFuncSetSharedSize", || {
        function::checked(function)?.state().shared = bytes;
        Ok(())
    })
}

/// Sets the total size of the packed parameters of a function in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn cuParamSetSize(function: *mut c_void, bytes: c_uint) -> Status {
    enter("cuParamSetSize", || {
        if bytes as usize > MAX_PACKED {
            return Err(Status::INVALID_VALUE);
        }
        function::checked(function)?.state().packed.resize(bytes as usize, 0);
        Ok(())
    })
}

/// Writes bytes of the packed parameters of a function.
fn set(function: *mut c_void, offset: c_int, bytes: &[u8]) -> Result<()> {
    let start = usize::try_from(offset).map_err(|_| Status::INVALID_VALUE)?;
    let end = start.checked_add(bytes.len()).filter(|&end| end <= MAX_PACKED).ok_or(Status::INVALID_VALUE)?;
    let function = function::checked(function)?;
    let packed = &mut function.state().packed;
    if packed.len() < end {
        packed.resize(end, 0);
    }
    packed.get_mut(start..end).ok_or(Status::INVALID_VALUE)?.copy_from_slice(bytes);
    Ok(())
}

/// Sets bytes of the packed parameters.
///
/// # Safety
/// `data` is null or has `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuParamSetv(
    function: *mut c_void,
    offset: c_int,
    data: *const c_void,
    count: c_uint,
) -> Status {
    enter("cuParamSetv", || {
        if data.is_null() && count != 0 || count as usize > MAX_PACKED {
            return Err(Status::INVALID_VALUE);
        }
        if count == 0 {
            return Ok(());
        }
        // SAFETY: the caller upholds this function's contract.
        set(function, offset, unsafe { std::slice::from_raw_parts(data.cast(), count as usize) })
    })
}

/// Sets a 32-bit integer of the packed parameters.
#[unsafe(no_mangle)]
pub extern "C" fn cuParamSeti(function: *mut c_void, offset: c_int, value: c_uint) -> Status {
    enter("cuParamSeti", || set(function, offset, &value.to_ne_bytes()))
}

/// Sets a 32-bit float of the packed parameters.
#[unsafe(no_mangle)]
pub extern "C" fn cuParamSetf(function: *mut c_void, offset: c_int, value: f32) -> Status {
    enter("cuParamSetf", || set(function, offset, &value.to_ne_bytes()))
}

/// Launches a function with the values that were set.
fn launch(function: *mut c_void, x: c_int, y: c_int) -> Result<()> {
    let context = context::usable()?;
    let function = function::checked(function)?;
    let (shape, args) = {
        let state = function.state();
        let grid = [dimension(x)?, dimension(y)?, 1];
        (Shape { grid, block: state.block, shared: state.shared }, unpacked(&function, &state.packed)?)
    };
    Launch { function, shape, args, cooperative: false }.run(&context)
}

/// Launches one block of a function.
#[unsafe(no_mangle)]
pub extern "C" fn cuLaunch(function: *mut c_void) -> Status {
    enter("cuLaunch", || launch(function, 1, 1))
}

/// Launches a grid of a function.
#[unsafe(no_mangle)]
pub extern "C" fn cuLaunchGrid(function: *mut c_void, width: c_int, height: c_int) -> Status {
    enter("cuLaunchGrid", || launch(function, width, height))
}

/// Launches a grid of a function on a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cuLaunchGridAsync(function: *mut c_void, width: c_int, height: c_int, stream: *mut c_void) -> Status {
    enter("cuLaunchGridAsync", || {
        stream::checked(stream)?;
        launch(function, width, height)
    })
}
