//! Launches on a GPU: the CUDA driver assembles the PTX text and runs the kernel.
//!
//! Buffers lie at device addresses, so a kernel whose results depend on addresses gives other results than on the host.
//! Guard areas around each buffer detect stores just outside the buffer. Accesses far outside cause a device fault.
//! There is no branch budget; a kernel that exceeds the timeout is abandoned.

mod driver;

use std::mem::forget;

use halfbyte_abi::Shape;
use halfbyte_isa::ptx::module::{Kernel, TargetName};

use super::memory::Memory;
use crate::device::{CudaError, KERNEL_TIMEOUT, Unavailable};
use driver::{Device, End, c_string};
use halfbyte_isa::buffers::Buffer;

/// Size in bytes of the guard area on each side of a buffer.
const GUARD_BYTES: usize = 256;
/// Fill byte of the guard areas.
const GUARD_FILL: u8 = 0xA5;

/// Returns the name and compute capability of the GPU that runs kernels for a target.
///
/// # Errors
/// Returns an error if there is no GPU, or if the GPU does not support the target.
pub fn device(target: TargetName) -> Result<String, Unavailable> {
    let device = Device::get()?;
    device.check_runs(target).map(|()| device.description())
}

/// A buffer that was copied to device memory.
struct DeviceBuffer<'d> {
    memory: driver::Memory<'d>,
    /// Contents before the launch, including the guard areas.
    before: Vec<u8>,
    /// Byte offset of the buffer in the device allocation.
    start: usize,
}

impl<'d> DeviceBuffer<'d> {
    fn new(device: &'d Device, bytes: &[u8], align: u32) -> Result<DeviceBuffer<'d>, CudaError> {
        let align = align as usize;
        let memory = device.allocate(bytes.len() + 2 * GUARD_BYTES + align)?;
        let first = memory.address() + GUARD_BYTES as u64;
        let start = GUARD_BYTES + (first.next_multiple_of(align as u64) - first) as usize;
        let mut before = vec![GUARD_FILL; bytes.len() + 2 * GUARD_BYTES + align];
        before.iter_mut().skip(start).zip(bytes).for_each(|(to, from)| *to = *from);
        memory.upload(&before)?;
        Ok(DeviceBuffer { memory, before, start })
    }

    fn address(&self) -> u64 {
        self.memory.address() + self.start as u64
    }

    /// Copies the results from device memory to a buffer of the launch. Checks that read-only
    /// buffers and guard areas are unchanged.
    fn take(&self, buffer: &mut Buffer<'_>) -> Result<(), CudaError> {
        let mut after = vec![0; self.before.len()];
        self.memory.download(&mut after)?;
        let end = self.start + buffer.bytes().len();
        let around = |all: &[u8]| [all.get(..self.start), all.get(end..)].map(|part| part.map(<[u8]>::to_vec));
        if around(&after) != around(&self.before) {
            return Err(CudaError::Outside { param: buffer.name.to_owned() });
        }
        let found = after.get(self.start..end).unwrap_or_default();
        if let Some(bytes) = buffer.written() {
            bytes.copy_from_slice(found);
        } else if buffer.bytes() != found {
            return Err(CudaError::ReadOnly { param: buffer.name.to_owned() });
        }
        Ok(())
    }
}

/// Runs a launch on the GPU. If a driver call fails, the buffers are unchanged.
pub(super) fn run(kernel: &Kernel, shape: &Shape, memory: &mut Memory<'_>) -> Result<(), CudaError> {
    let device = Device::get()?;
    device.check_runs(kernel.target)?;
    if shape.grid.iter().chain(&shape.block).any(|&count| count == 0) {
        return Ok(());
    }
    device.enter()?;
    let ran = run_on(device, kernel, shape, memory);
    if let Err(CudaError::Call(_) | CudaError::Assembly { .. }) = ran {
        Device::leave();
    }
    ran
}

fn run_on(device: &Device, kernel: &Kernel, shape: &Shape, memory: &mut Memory<'_>) -> Result<(), CudaError> {
    let assembled = device.assemble(&c_string(kernel.to_string()));
    let module = assembled.map_err(|(failed, log)| CudaError::Assembly { failed, log })?;
    let is_cooperative = memory.is_cooperative();
    let Memory { params, aliases, buffers, .. } = memory;
    // The parameters after those of the PTX entry are module-scope tables, which the PTX text
    // already contains.
    params.truncate(kernel.entry.params.len());
    let mut placed = Vec::new();
    for (number, (buffer, param)) in buffers.0.iter_mut().zip(&kernel.entry.params).enumerate() {
        let Some(buffer) = buffer else { continue };
        // A buffer must have the alignment of its own parameter and of all alias parameters that
        // point into it.
        let inside =
            aliases.iter().filter(|alias| alias.of == number).filter_map(|alias| kernel.entry.params.get(alias.param));
        let align = inside.chain([param]).filter_map(|param| param.pointer?.align).max().unwrap_or(1);
        let on_device = DeviceBuffer::new(device, buffer.bytes(), align)?;
        let address = on_device.address();
        let inside = aliases.iter().filter(|alias| alias.of == number).map(|alias| (alias.param, alias.offset));
        for (param, offset) in inside.chain([(number, 0)]) {
            if let Some(value) = params.get_mut(param) {
                *value = (address + offset).to_le_bytes().to_vec();
            }
        }
        placed.push((on_device, buffer));
    }
    let name = c_string(kernel.entry.name.as_str());
    // SAFETY: the kernel was loaded with these parameters, and they were compared with those of its text.
    match unsafe { module.run(&name, shape, is_cooperative, params, KERNEL_TIMEOUT) }? {
        End::Reached => placed.into_iter().try_for_each(|(on_device, buffer)| on_device.take(buffer)),
        End::Awaited => {
            // The memory and the module leak on purpose: while the kernel runs, the driver calls
            // that free them would block.
            forget((placed, module));
            Err(CudaError::Time)
        }
    }
}
