//! A launch on a GPU: the CUDA driver assembles the text and runs it.
//!
//! Buffers lie in the device's memory, at addresses of its own, so that what a kernel makes of an address itself differs from
//! a run on the host. On both sides of each are bytes that must stay as they are: an access that goes astray by little is
//! noticed where it stores, one that goes far is a fault of the device. There is no budget: a kernel that does not end in
//! time is given up.

mod driver;

use std::mem::forget;

use halfbyte_abi::Shape;
use halfbyte_isa::ptx::module::{Kernel, TargetName};

use super::memory::Memory;
use crate::device::{CudaError, PATIENCE, Unavailable};
use driver::{Device, End, c_string};
use halfbyte_isa::buffers::Buffer;

/// Bytes that are watched, on each side of a buffer.
const MARGIN: usize = 256;
/// What they hold.
const UNTOUCHED: u8 = 0xA5;

/// What GPU there is for kernels that are for an SM, by its name and compute capability.
///
/// # Errors
/// There is none, or it does not run them.
pub fn device(target: TargetName) -> Result<String, Unavailable> {
    let device = Device::get()?;
    device.check_runs(target).map(|()| device.description())
}

/// A buffer in the device's memory.
struct Placed<'d> {
    memory: driver::Memory<'d>,
    /// What it held before the launch, the margins included.
    before: Vec<u8>,
    /// Where in it the buffer begins.
    start: usize,
}

impl<'d> Placed<'d> {
    fn new(device: &'d Device, bytes: &[u8], align: u32) -> Result<Placed<'d>, CudaError> {
        let align = align as usize;
        let memory = device.allocate(bytes.len() + 2 * MARGIN + align)?;
        let first = memory.address() + MARGIN as u64;
        let start = MARGIN + (first.next_multiple_of(align as u64) - first) as usize;
        let mut before = vec![UNTOUCHED; bytes.len() + 2 * MARGIN + align];
        before.iter_mut().skip(start).zip(bytes).for_each(|(to, from)| *to = *from);
        memory.upload(&before)?;
        Ok(Placed { memory, before, start })
    }

    fn address(&self) -> u64 {
        self.memory.address() + self.start as u64
    }

    /// Takes what the launch has left.
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

/// Runs the items of a launch. Of a launch that fails the memory is as it was.
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
    let Memory { params, aliases, buffers, .. } = memory;
    // What stands after them are tables, which are in the text.
    params.truncate(kernel.entry.params.len());
    let mut placed = Vec::new();
    for (number, (buffer, param)) in buffers.0.iter_mut().zip(&kernel.entry.params).enumerate() {
        let Some(buffer) = buffer else { continue };
        // What points into it may promise more of its start.
        let inside =
            aliases.iter().filter(|alias| alias.of == number).filter_map(|alias| kernel.entry.params.get(alias.param));
        let align = inside.chain([param]).filter_map(|param| param.pointer.flatten()).max().unwrap_or(1);
        let on_device = Placed::new(device, buffer.bytes(), align)?;
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
    // SAFETY: the kernel was loaded with these parameters, and they have been compared with its text's.
    match unsafe { module.run(&name, shape, params, PATIENCE) }? {
        End::Reached => placed.into_iter().try_for_each(|(on_device, buffer)| on_device.take(buffer)),
        End::Awaited => {
            // To free what it uses would be to wait for it.
            forget((placed, module));
            Err(CudaError::Time)
        }
    }
}
