//! Devices: their number, names and properties.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::ptr;

use crate::attributes::{self, Device, model_of};
use crate::entry::{enter, write_out};
use crate::init::initialised;
pub use crate::settings::{Settings, settings};
use crate::status::{Result, Status};

/// Returns the number of devices.
pub fn count() -> c_int {
    c_int::try_from(settings().devices).unwrap_or(c_int::MAX)
}

/// Checks that the driver is initialised and has a device of this number, and returns the number.
pub fn checked(device: c_int) -> Result<c_int> {
    initialised()?;
    if (0..count()).contains(&device) { Ok(device) } else { Err(Status::INVALID_DEVICE) }
}

/// Returns the properties of a device from which its attributes follow.
fn properties(device: c_int) -> Result<Device> {
    let device = checked(device)?;
    let Settings { sm, multiprocessors, .. } = *settings();
    let model = model_of(sm).ok_or(Status::INVALID_DEVICE)?;
    Ok(Device { model, multiprocessors, pci_bus: device.unsigned_abs() + 1 })
}

/// Returns an attribute of a device.
pub fn attribute(number: c_int, device: c_int) -> Result<c_int> {
    attributes::attribute(number, &properties(device)?)
}

/// Returns an identifier that differs between devices and compute capabilities, but not between processes.
fn uuid(device: c_int) -> Result<[u8; 16]> {
    let properties = properties(device)?;
    let name = u128::from_be_bytes(*b"halfbyte\0\0\0\0\0\0\0\0");
    let number = (u128::from(properties.model.sm) << 32) | u128::from(properties.pci_bus);
    Ok((name | number).to_be_bytes())
}

/// Position of a device on the PCI buses.
#[derive(PartialEq, Eq, Debug)]
struct PciPosition {
    domain: u32,
    bus: u32,
    device: u32,
    function: u32,
}

impl PciPosition {
    /// Parses a position of the form `domain:bus:device.function`. The domain and the function are optional, and all
    /// numbers are hexadecimal.
    fn parse(text: &str) -> Option<PciPosition> {
        let hexadecimal = |digits| u32::from_str_radix(digits, 16).ok();
        let (position, function) = text.split_once('.').unwrap_or((text, "0"));
        let mut parts = position.rsplitn(3, ':');
        let device = hexadecimal(parts.next()?)?;
        let bus = hexadecimal(parts.next()?)?;
        let domain = hexadecimal(parts.next().unwrap_or("0"))?;
        Some(PciPosition { domain, bus, device, function: hexadecimal(function)? })
    }
}

/// Writes a text and a NUL to a buffer of `length` bytes. A text that is too long is truncated.
///
/// # Safety
/// `to` is null, or valid for writes of `length` bytes.
unsafe fn write_out_text(to: *mut c_char, length: c_int, text: &str) -> Result<()> {
    let length = usize::try_from(length).unwrap_or(0);
    let room = length.checked_sub(1).filter(|_| !to.is_null()).ok_or(Status::INVALID_VALUE)?;
    let written = text.len().min(room);
    // SAFETY: the buffer has room for `written` bytes and the NUL, and does not overlap the text, which is ours.
    unsafe {
        ptr::copy_nonoverlapping(text.as_ptr(), to.cast::<u8>(), written);
        to.add(written).write(0);
    }
    Ok(())
}

/// Stores the handle of a device, which is its number.
///
/// # Safety
/// `device` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuDeviceGet", || unsafe { write_out(device, checked(ordinal)?) })
}

/// Stores the number of devices.
///
/// # Safety
/// `devices` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(devices: *mut c_int) -> Status {
    enter("cuDeviceGetCount", || {
        initialised()?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(devices, count()) }
    })
}

/// Writes the name of a device, such as "halfbyte sm_80", to a buffer.
///
/// # Safety
/// `name` is null, or valid for writes of `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int) -> Status {
    enter("cuDeviceGetName", || {
        let sm = properties(device)?.model.sm;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out_text(name, length, &format!("halfbyte sm_{sm}")) }
    })
}

/// Stores the identifier of a device.
///
/// # Safety
/// `identifier` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetUuid(identifier: *mut [u8; 16], device: c_int) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuDeviceGetUuid", || unsafe { write_out(identifier, uuid(device)?) })
}

/// Stores the identifier of a device.
///
/// # Safety
/// As [`cuDeviceGetUuid`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetUuid_v2(identifier: *mut [u8; 16], device: c_int) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuDeviceGetUuid_v2", || unsafe { write_out(identifier, uuid(device)?) })
}

/// Reports that a device has no locally unique identifier, which only Windows assigns.
#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetLuid(_luid: *mut c_char, _node_mask: *mut c_uint, device: c_int) -> Status {
    enter("cuDeviceGetLuid", || {
        checked(device)?;
        Err(Status::NOT_SUPPORTED)
    })
}

/// Stores the size of a device's memory in bytes.
///
/// # Safety
/// `bytes` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) -> Status {
    enter("cuDeviceTotalMem_v2", || {
        checked(device)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(bytes, usize::try_from(settings().memory).unwrap_or(usize::MAX)) }
    })
}

/// Stores an attribute of a device.
///
/// # Safety
/// `value` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, number: c_int, device: c_int) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuDeviceGetAttribute", || unsafe { write_out(value, attribute(number, device)?) })
}

/// Stores the two numbers of a device's compute capability.
///
/// # Safety
/// `major` and `minor` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: c_int) -> Status {
    enter("cuDeviceComputeCapability", || {
        let numbers = (attribute(75, device)?, attribute(76, device)?);
        // SAFETY: the caller upholds this function's contract.
        unsafe {
            write_out(major, numbers.0)?;
            write_out(minor, numbers.1)
        }
    })
}

/// Properties of a device, a `CUdevprop`.
#[repr(C)]
pub struct DeviceProperties {
    max_threads: c_int,
    max_block: [c_int; 3],
    max_grid: [c_int; 3],
    shared: c_int,
    constant: c_int,
    warp: c_int,
    max_pitch: c_int,
    registers: c_int,
    clock_rate: c_int,
    texture_alignment: c_int,
}

/// Stores a few attributes of a device.
///
/// # Safety
/// `properties` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetProperties(properties: *mut DeviceProperties, device: c_int) -> Status {
    enter("cuDeviceGetProperties", || {
        let value = |number| attribute(number, device);
        let values = DeviceProperties {
            max_threads: value(1)?,
            max_block: [value(2)?, value(3)?, value(4)?],
            max_grid: [value(5)?, value(6)?, value(7)?],
            shared: value(8)?,
            constant: value(9)?,
            warp: value(10)?,
            max_pitch: value(11)?,
            registers: value(12)?,
            clock_rate: value(13)?,
            texture_alignment: value(14)?,
        };
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(properties, values) }
    })
}

/// Writes the position of a device on the PCI buses, such as "0000:01:00.0", to a buffer.
///
/// # Safety
/// `text` is null, or valid for writes of `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetPCIBusId(text: *mut c_char, length: c_int, device: c_int) -> Status {
    enter("cuDeviceGetPCIBusId", || {
        let position = format!("0000:{:02x}:00.0", properties(device)?.pci_bus);
        if usize::try_from(length).unwrap_or(0) <= position.len() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out_text(text, length, &position) }
    })
}

/// Stores the device at a position on the PCI buses.
///
/// # Safety
/// `text` is null or ends with a NUL. `device` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetByPCIBusId(device: *mut c_int, text: *const c_char) -> Status {
    enter("cuDeviceGetByPCIBusId", || {
        if text.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller upholds this function's contract.
        let text = unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| Status::INVALID_VALUE)?;
        let position = PciPosition::parse(text).ok_or(Status::INVALID_VALUE)?;
        let PciPosition { domain: 0, bus, device: 0, function: 0 } = position else {
            return Err(Status::INVALID_DEVICE);
        };
        let number = bus.checked_sub(1).and_then(|number| c_int::try_from(number).ok());
        let number = checked(number.ok_or(Status::INVALID_DEVICE)?)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(device, number) }
    })
}

/// Stores 1 if a device can access the memory of another device, which is the case for any two devices.
///
/// # Safety
/// `can_access` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceCanAccessPeer(can_access: *mut c_int, device: c_int, peer: c_int) -> Status {
    enter("cuDeviceCanAccessPeer", || {
        let differ = checked(device)? != checked(peer)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(can_access, c_int::from(differ)) }
    })
}

/// Stores an attribute of the link between two devices.
///
/// # Safety
/// `value` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetP2PAttribute(
    value: *mut c_int,
    number: c_int,
    source: c_int,
    destination: c_int,
) -> Status {
    enter("cuDeviceGetP2PAttribute", || {
        if checked(source)? == checked(destination)? {
            return Err(Status::INVALID_DEVICE);
        }
        let attribute = match number {
            // ACCESS_SUPPORTED and NATIVE_ATOMIC_SUPPORTED, because all devices share the host's memory.
            2 | 3 => 1,
            // PERFORMANCE_RANK, CUDA_ARRAY_ACCESS_SUPPORTED and ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED.
            1 | 4 | 5 => 0,
            _ => return Err(Status::INVALID_VALUE),
        };
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(value, attribute) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_have_an_optional_domain_and_function() {
        let position = |domain, bus, device, function| Some(PciPosition { domain, bus, device, function });
        assert_eq!(PciPosition::parse("0000:01:00.0"), position(0, 1, 0, 0));
        assert_eq!(PciPosition::parse("0001:1f:02"), position(1, 0x1f, 2, 0));
        assert_eq!(PciPosition::parse("0A:00.1"), position(0, 10, 0, 1));
        for text in ["", "01", "01:", "0:0:01:00.0", "xx:00.0", "01:00.", "01:00.0.0"] {
            assert_eq!(PciPosition::parse(text), None, "{text}");
        }
    }

    #[test]
    fn texts_are_truncated_to_the_buffer() {
        let mut buffer = [0x7f; 6];
        // SAFETY: the lengths are at most that of the buffer.
        unsafe {
            assert_eq!(write_out_text(buffer.as_mut_ptr(), 4, "halfbyte"), Ok(()));
            assert_eq!(buffer.map(|byte| byte as u8), *b"hal\0\x7f\x7f");
            assert_eq!(write_out_text(buffer.as_mut_ptr(), 6, "a"), Ok(()));
            assert_eq!(buffer.map(|byte| byte as u8), *b"a\0l\0\x7f\x7f");
            assert_eq!(write_out_text(buffer.as_mut_ptr(), 0, "a"), Err(Status::INVALID_VALUE));
            assert_eq!(write_out_text(buffer.as_mut_ptr(), -1, "a"), Err(Status::INVALID_VALUE));
            assert_eq!(write_out_text(ptr::null_mut(), 4, "a"), Err(Status::INVALID_VALUE));
        }
    }
}
