//! The memories that a work item reaches, and the checks on every access.

use halfbyte_abi::buffer_of;
use halfbyte_isa::ptx::meaning::{CONST_SPACE, Location};
use halfbyte_isa::ptx::types::Space as VariableSpace;

use super::watch::Watch;
use crate::buffers::{Buffers, range};
use crate::trap::{Access, Space, TrapKind};

/// All memory of a launch.
pub(super) struct Memory<'a> {
    /// The bytes of each parameter.
    pub params: Vec<Vec<u8>>,
    /// Global memory.
    pub buffers: Buffers<'a>,
    /// Where the file's variables lie, by number: in buffers after those of the parameters.
    pub variables: Vec<Bound>,
    /// Looks for races, where the launch asks for that.
    pub watch: Option<Watch>,
}

/// A variable in a launch.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    /// Its address as `cvta` gives it; zero where the kernel does not name it.
    pub address: u64,
    /// The space that it is declared in.
    pub space: VariableSpace,
}

impl Memory<'_> {
    /// The bytes at a place.
    pub fn load(&mut self, place: Location<u32>, count: usize) -> Result<&[u8], TrapKind> {
        match place {
            Location::Parameter { number, offset } => {
                let held = self.params.get(number as usize).map_or(&[][..], Vec::as_slice);
                // Loading the kernel has seen that they are there.
                range(held, offset as u64, count).ok_or(TrapKind::OutOfBounds {
                    access: Access::Load,
                    space: Space::Constant(0),
                    address: offset as u64,
                    bytes: count as u32,
                    near: None,
                })
            }
            _ => {
                let address = self.aligned(Access::Load, place, count)?;
                if !self.buffers.allow(Access::Load, address, count) {
                    return Err(self.buffers.refusal(Access::Load, address, count));
                }
                self.note(Access::Load, address, count)?;
                Ok(self.buffers.get(address, count).unwrap_or_default())
            }
        }
    }

    /// The bytes at a place, to be written.
    pub fn store(&mut self, place: Location<u32>, count: usize) -> Result<&mut [u8], TrapKind> {
        let address = self.aligned(Access::Store, place, count)?;
        if !self.buffers.allow(Access::Store, address, count) {
            return Err(self.buffers.refusal(Access::Store, address, count));
        }
        self.note(Access::Store, address, count)?;
        Ok(self.buffers.get_mut(address, count).unwrap_or_default())
    }

    /// Takes note of an access that may be made, where races are looked for.
    fn note(&mut self, access: Access, address: u64, count: usize) -> Result<(), TrapKind> {
        let Some(watch) = &mut self.watch else { return Ok(()) };
        watch.access(access, address, count, self.buffers.size(address))
    }

    /// The address of a place in the buffers, a multiple of what is accessed. Constant memory is what variables declare there.
    fn aligned(&self, access: Access, place: Location<u32>, count: usize) -> Result<u64, TrapKind> {
        let (space, [low, high], offset) = match place {
            Location::Global { base, offset } => (Space::Global, base, offset),
            Location::Constant { base, offset } => (Space::Constant(0), base, offset),
            Location::Parameter { offset, .. } => (Space::Constant(0), [0, 0], offset),
        };
        let address = (u64::from(high) << 32 | u64::from(low)).wrapping_add_signed(offset.into());
        let bytes = count as u32;
        if !address.is_multiple_of(count as u64) {
            return Err(TrapKind::Misaligned { access, space, address, bytes });
        }
        let is_constant = |address: u64| {
            let of = |bound: &Bound| buffer_of(bound.address).map(|(buffer, _)| buffer);
            let mut constants = self.variables.iter().filter(|bound| bound.space == VariableSpace::Const);
            let buffer = buffer_of(address).map(|(buffer, _)| buffer);
            buffer.is_some() && constants.any(|bound| of(bound) == buffer)
        };
        match space {
            Space::Global => Ok(address),
            Space::Constant(_) if is_constant(address ^ CONST_SPACE) => Ok(address ^ CONST_SPACE),
            _ => Err(TrapKind::OutOfBounds { access, space, address, bytes, near: None }),
        }
    }
}
