//! The memory of a launch, as native code reaches it.

use halfbyte_abi::buffer_slot;
use halfbyte_isa::ptx::meaning::{Location, SHARED_WINDOW};
use halfbyte_isa::ptx::types::Space as VariableSpace;

use crate::buffers::Buffers;
use crate::halu::jit::{CONSTANTS, Parts, Reached};
use crate::host::HostMemory;
use crate::ptx::memory::{By, Memory};
use crate::trap::{Access, Space, TrapKind};

/// The memory of a launch, and its constant bank 0.
pub(super) struct Banks<'m, 'a> {
    pub memory: &'m mut Memory<'a>,
    pub constants: Vec<u8>,
}

impl<'a> Reached<'a> for Banks<'_, 'a> {
    fn buffers(&mut self) -> &mut Buffers<'a> {
        &mut self.memory.buffers
    }

    fn host(&self) -> Option<&HostMemory<'a>> {
        self.memory.host
    }

    fn constants(&mut self) -> &mut Vec<u8> {
        &mut self.constants
    }

    fn parts(&self) -> Parts {
        let all = self.memory.params.iter().zip(&self.memory.param_places);
        all.map(|(param, &place)| [place, place + param.len() as u64]).collect()
    }

    fn is_constant(&self, buffer: usize) -> bool {
        let mut constants = self.memory.variables.iter().filter(|bound| bound.space == VariableSpace::Const);
        constants.any(|bound| buffer_slot(bound.address) == Some(buffer))
    }

    fn why_not(&mut self, access: Access, space: Space, address: u64, count: usize) -> TrapKind {
        let words = |address: u64| [address as u32, (address >> 32) as u32];
        let (base, offset) = (words(address), 0);
        let place = match space {
            Space::Global => Location::Global { base, offset },
            Space::Local => Location::Local { base, offset },
            Space::Shared => Location::Flat { base: words(SHARED_WINDOW.wrapping_add(address)), offset },
            CONSTANTS => Location::Constant { base, offset },
            Space::Constant(_) => Location::Param { base, offset },
        };
        let tried = match access {
            Access::Load => self.memory.load(place, count, By::default()).map(|_| ()),
            Access::Store => self.memory.store(place, count, By::default()).map(|_| ()),
        };
        let bytes = count as u32;
        tried.err().unwrap_or(TrapKind::OutOfBounds { access, space, address, bytes, near: None })
    }
}
