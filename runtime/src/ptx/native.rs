//! Launches of PTX kernels in native code.

use std::num::NonZero;

use halfbyte_abi::Stats;
use halfbyte_abi::cooperative::Schedule;
use halfbyte_isa::buffers::Buffers;
use halfbyte_isa::ptx::meaning::{Location, SHARED_WINDOW};
use halfbyte_isa::ptx::module;
use halfbyte_isa::trap::{Access, Halt, Space, TrapKind};
use halfbyte_native::host::HostMemory;
use halfbyte_native::jit::{CONSTANTS, Parts, Reached, Stop};
use halfbyte_native::launch::LaunchOptions;
use halfbyte_native::ptx::{Given, Jit};

use super::HostLaunchError;
use super::memory::{AccessOrigin, Memory};

/// Runs a launch in native code. Returns `None` if the interpreter must run the launch.
pub(super) fn launch(
    jit: &Jit,
    code: &module::Kernel,
    order: &LaunchOptions<'_>,
    memory: &mut Memory<'_>,
    threads: NonZero<u16>,
) -> Option<Result<Stats, HostLaunchError>> {
    let is_checked = memory.races.is_some() || memory.initialisation.is_some();
    let is_watched = is_checked || memory.tracer.is_some() || memory.schedule != Schedule::default();
    // If arguments overlap, items must run in order, which native code does not ensure. In a
    // cooperative launch, blocks may wait for each other, but native code runs each block to its
    // end.
    if !memory.aliases.is_empty() || is_watched || memory.is_cooperative() || memory.heap.is_interpreted() {
        return None;
    }
    let (params, offsets, variables) = (memory.params.clone(), memory.param_places.clone(), memory.variables.clone());
    let given = Given { params: &params, offsets: &offsets, variables: &variables };
    let ran = jit.launch(code, order, given, &mut Banks { memory, constants: Vec::new() }, threads)?;
    Some(ran.map_err(|stop| match stop {
        Stop::Fault(item, fault) => HostLaunchError::Halt(item, Halt::Fault(fault)),
        Stop::Native(error) => HostLaunchError::Native(error),
    }))
}

/// The memory of a launch, and its constant bank 0.
struct Banks<'m, 'a> {
    memory: &'m mut Memory<'a>,
    constants: Vec<u8>,
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
        self.memory.is_constant_buffer(buffer)
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
            Access::Load => self.memory.load(place, count, AccessOrigin::default()).map(|_| ()),
            Access::Store => self.memory.check_store(place, count).map(drop),
        };
        let bytes = count as u32;
        tried.err().unwrap_or(TrapKind::OutOfBounds { access, space, address, bytes, near: None })
    }
}
