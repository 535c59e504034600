//! The memories that a work item reaches, and the checks on every access.

use halfbyte_abi::{Alias, buffer_of};
use halfbyte_isa::ptx::meaning::{CONST_SPACE, LOCAL_WINDOW, Location, PARAM_WINDOW, WINDOW_BYTES};
use halfbyte_isa::ptx::types::Space as VariableSpace;

use super::print::Print;
use super::stack::Stack;
use super::watch::Watch;
use crate::buffers::{Buffers, range};
use crate::trap::{Access, Space, TrapKind};

/// All memory of a launch.
pub(super) struct Memory<'a> {
    /// The bytes of each parameter.
    pub params: Vec<Vec<u8>>,
    /// Which of them are addresses in buffers of others.
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "a GPU has addresses of its own"))]
    pub aliases: Vec<Alias>,
    /// Where each parameter lies in the memory of parameters.
    pub param_places: Vec<u64>,
    /// Global memory.
    pub buffers: Buffers<'a>,
    /// Where the file's variables lie, by number.
    pub variables: Vec<Bound>,
    /// The local memory of the item that runs.
    pub stack: Stack,
    /// Looks for races, where the launch asks for that.
    pub watch: Option<Watch>,
    /// Takes what kernels write.
    pub print: Option<Print<'a>>,
}

/// A variable in a launch.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    /// Its address as `cvta` gives it; zero where the kernel does not name it.
    pub address: u64,
    /// The space that it is declared in.
    pub space: VariableSpace,
}

/// Where parameters of these sizes and alignments lie behind each other.
pub(super) fn param_places(params: impl Iterator<Item = (u64, u64)>) -> Vec<u64> {
    let mut end = 0u64;
    let place = |(bytes, align): (u64, u64)| {
        let start = end.next_multiple_of(align.max(1));
        end = start.saturating_add(bytes);
        start
    };
    params.map(place).collect()
}

/// Parameters lie in the first bank of constants.
const PARAM: Space = Space::Constant(0);

/// An address in a space.
#[derive(Clone, Copy)]
enum At {
    Global(u64),
    Local(u64),
    Param(u64),
    /// A parameter by its number, from its start.
    Parameter(u32, u64),
}

impl Memory<'_> {
    /// Whether an address without a space is that of a constant variable.
    pub fn is_constant(&self, address: u64) -> bool {
        let number = |address: u64| buffer_of(address).map(|(buffer, _)| buffer);
        let mut constants = self.variables.iter().filter(|bound| bound.space == VariableSpace::Const);
        let buffer = number(address);
        buffer.is_some() && constants.any(|bound| number(bound.address) == buffer)
    }

    /// The bytes at a place.
    pub fn load(&mut self, place: Location<u32>, count: usize) -> Result<&[u8], TrapKind> {
        let at = self.at(Access::Load, place, count)?;
        let out_of_bounds = |space, address| outside(Access::Load, space, address, count);
        match at {
            // Loading the kernel has seen that they are there.
            At::Parameter(number, offset) => {
                let held = self.params.get(number as usize).map_or(&[][..], Vec::as_slice);
                range(held, offset, count).ok_or(out_of_bounds(PARAM, offset))
            }
            At::Param(address) => self.at_param(address, count).ok_or(out_of_bounds(PARAM, address)),
            At::Local(address) => self.stack.get(address, count).ok_or(out_of_bounds(Space::Local, address)),
            At::Global(address) => {
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
        let out_of_bounds = |space, address| outside(Access::Store, space, address, count);
        match self.at(Access::Store, place, count)? {
            At::Parameter(_, address) | At::Param(address) => Err(out_of_bounds(PARAM, address)),
            At::Local(address) => self.stack.get_mut(address, count).ok_or(out_of_bounds(Space::Local, address)),
            At::Global(address) => {
                if !self.buffers.allow(Access::Store, address, count) {
                    return Err(self.buffers.refusal(Access::Store, address, count));
                }
                self.note(Access::Store, address, count)?;
                Ok(self.buffers.get_mut(address, count).unwrap_or_default())
            }
        }
    }

    /// The text up to a zero at an address without a space, as far as there is memory; what is no Unicode is replaced.
    pub fn string(&mut self, address: u64) -> String {
        /// Bytes of a text that anybody reads.
        const MOST: u64 = 1 << 12;
        let mut byte = |offset: u64| {
            let address = address.checked_add(offset)?;
            let base = [address as u32, (address >> 32) as u32];
            self.load(Location::Flat { base, offset: 0 }, 1).ok()?.first().copied().filter(|byte| *byte != 0)
        };
        let bytes: Vec<u8> = (0..MOST).map_while(&mut byte).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The bytes of parameters from an address in their space on.
    fn at_param(&self, address: u64, count: usize) -> Option<&[u8]> {
        let after = self.param_places.partition_point(|&place| place <= address);
        let number = after.checked_sub(1)?;
        range(self.params.get(number)?, address - self.param_places.get(number)?, count)
    }

    /// Takes note of an access that may be made, where races are looked for.
    fn note(&mut self, access: Access, address: u64, count: usize) -> Result<(), TrapKind> {
        let Some(watch) = &mut self.watch else { return Ok(()) };
        watch.access(access, address, count, self.buffers.size(address))
    }

    /// The address of a place, a multiple of what is accessed. Constant memory is what variables declare there.
    fn at(&self, access: Access, place: Location<u32>, count: usize) -> Result<At, TrapKind> {
        let plus = |[low, high]: [u32; 2], offset: i32| {
            (u64::from(high) << 32 | u64::from(low)).wrapping_add_signed(offset.into())
        };
        let bytes = count as u32;
        let (space, address, at) = match place {
            Location::Flat { base, offset } => {
                let address = plus(base, offset);
                let within = |window: u64| Some(address.wrapping_sub(window)).filter(|offset| *offset < WINDOW_BYTES);
                match (within(LOCAL_WINDOW), within(PARAM_WINDOW)) {
                    (Some(local), _) => (Space::Local, local, At::Local(local)),
                    (None, Some(param)) => (PARAM, param, At::Param(param)),
                    (None, None) => (Space::Global, address, At::Global(address)),
                }
            }
            Location::Global { base, offset } => {
                let address = plus(base, offset);
                (Space::Global, address, At::Global(address))
            }
            Location::Local { base, offset } => {
                let address = plus(base, offset);
                (Space::Local, address, At::Local(address))
            }
            Location::Param { base, offset } => {
                let address = plus(base, offset);
                (PARAM, address, At::Param(address))
            }
            Location::Constant { base, offset } => {
                let address = plus(base, offset);
                (Space::Constant(0), address, At::Global(address ^ CONST_SPACE))
            }
            Location::Parameter { number, offset } => (PARAM, offset as u64, At::Parameter(number, offset as u64)),
            // Whoever runs the instruction knows the frame.
            Location::Frame { offset, .. } => (Space::Local, offset as u64, At::Local(0)),
        };
        if !address.is_multiple_of(count as u64) {
            return Err(TrapKind::Misaligned { access, space, address, bytes });
        }
        match at {
            At::Global(of) if space == Space::Constant(0) && !self.is_constant(of) => {
                Err(outside(access, space, address, count))
            }
            at => Ok(at),
        }
    }
}

fn outside(access: Access, space: Space, address: u64, count: usize) -> TrapKind {
    TrapKind::OutOfBounds { access, space, address, bytes: count as u32, near: None }
}
