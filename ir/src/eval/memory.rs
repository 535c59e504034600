//! Buffers of a launch: address resolution, bounds checks, and race detection per byte.

use std::collections::BTreeMap;
use std::ops::Range;

use halfbyte_abi::cooperative::{self, RaceCheck, RaceDetector, RacingAccess, SharedLocation};
use halfbyte_abi::{Direction, ParamKind, Type, buffer_base};
use smallvec::SmallVec;

use crate::array::Space;
use crate::eval::declared_memory::{AccessProperties, DeclaredMemory, touch};
use crate::eval::lanes;
use crate::eval::launch::{Arg, ArgError, Race, TrapKind};
use crate::eval::prepared::MAX_LANES;
use crate::kernel::{Inst, Kernel, Param};

/// An item and an instruction, packed in a 64-bit word that is never zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ItemInst(u64);

impl ItemInst {
    const NOBODY: u64 = 0;
    /// Flag of a store whose value or instruction differs from that of the last store. Instruction
    /// numbers are less than this flag.
    const DIFFERS: u64 = 1 << 31;

    /// Packs an item and an instruction. The item number plus one fits in 32 bits, because a launch
    /// has fewer than 2^32 items.
    pub(super) fn new(item: u32, inst: Inst) -> ItemInst {
        ItemInst((u64::from(item) + 1) << 32 | u64::from(inst.as_u32()))
    }

    pub(super) fn item(self) -> u32 {
        ((self.0 >> 32) - 1) as u32
    }

    pub(super) fn inst(self) -> Inst {
        Inst::from_u32((self.0 & !Self::DIFFERS) as u32)
    }

    fn access(self, writes: bool) -> RacingAccess {
        RacingAccess { item: self.item(), inst: self.inst().as_u32(), writes }
    }
}

/// Outcome of a finished launch: the last writer of each buffer byte, and the same-value races.
#[derive(Clone, Debug)]
pub struct Evaluated {
    written: Vec<Written>,
    same_value: Vec<Race>,
}

/// Writers of a buffer that a launch may write.
#[derive(Clone, Debug)]
struct Written {
    param: usize,
    writers: Vec<u64>,
    /// Number of bytes of the buffer up to the last byte that was read or written.
    reached: usize,
}

impl Evaluated {
    pub(super) fn new(memory: Memory<'_>, same_value: Vec<Race>) -> Evaluated {
        let watched = |buffer: Buffer<'_>| {
            let Watch { writers, readers, .. } = buffer.watch?;
            let end = |who: &[u64]| who.iter().rposition(|&who| who != ItemInst::NOBODY).map_or(0, |last| last + 1);
            Some(Written { param: buffer.param, reached: end(&writers).max(end(&readers)), writers })
        };
        Evaluated { written: memory.buffers.into_iter().filter_map(watched).collect(), same_value }
    }

    /// Returns the first same-value race of each instruction.
    pub fn same_value_races(&self) -> &[Race] {
        &self.same_value
    }

    fn buffer(&self, param: usize) -> Option<&Written> {
        self.written.iter().find(|buffer| buffer.param == param)
    }

    /// Returns the item that wrote a byte of the buffer of parameter `param`, if any.
    pub fn item(&self, param: usize, byte: usize) -> Option<u32> {
        let who = *self.buffer(param)?.writers.get(byte)?;
        (who != ItemInst::NOBODY).then(|| ItemInst(who).item())
    }

    /// Returns the number of bytes of the `out` or `inout` buffer of parameter `param` up to the
    /// last byte that an item read or wrote.
    pub fn reached(&self, param: usize) -> usize {
        self.buffer(param).map_or(0, |buffer| buffer.reached)
    }
}

/// Reason why an access is rejected.
pub(super) enum AccessError {
    Trap(TrapKind),
    /// Another item has accessed a byte before.
    Race(cooperative::Race),
}

/// A memory access: the item, the instruction, and the address.
#[derive(Clone, Copy)]
pub(super) struct AccessSite {
    pub(super) who: ItemInst,
    pub(super) address: u64,
    pub(super) align: u32,
    /// Memory space of the array on which the address is based, if any. The access must stay in this memory space.
    pub(super) space: Option<Space>,
    /// `true` for an atomic read-modify-write.
    pub(super) changes: bool,
}

impl AccessSite {
    /// Creates an access with a required alignment. The caller sets the address.
    pub(super) fn new(who: ItemInst, align: u32) -> AccessSite {
        AccessSite { who, address: 0, align, space: None, changes: false }
    }
}

pub(super) struct Memory<'a> {
    buffers: Vec<Buffer<'a>>,
    pub(super) own: DeclaredMemory,
    races: RaceCheck,
    /// The first same-value race of each instruction of a kernel that is not cooperative.
    same_value: BTreeMap<u32, cooperative::Race>,
}

struct Buffer<'a> {
    param: usize,
    base: u64,
    bytes: Bytes<'a>,
    /// Last accesses of each byte, for race detection. `None` for a buffer that no parameter
    /// writes, which cannot have races.
    watch: Option<Watch>,
}

/// The memory of a buffer.
enum Bytes<'a> {
    Given(&'a mut [u8]),
    /// Constant contents that the kernel declares, which are never written.
    Contents(&'a [u8]),
}

impl Bytes<'_> {
    fn get(&self) -> &[u8] {
        match self {
            Bytes::Given(bytes) => bytes,
            Bytes::Contents(bytes) => bytes,
        }
    }
}

/// Last writer and first reader of each byte of a buffer. Items run in order. If the first reader
/// is the current item, no other item has read the byte before.
struct Watch {
    writers: Vec<u64>,
    readers: Vec<u64>,
    /// For each byte, a store that precedes the store in `writers`. The two stores differ in their
    /// item, their value or their instruction. Empty if no byte has such a store.
    earlier: Vec<u64>,
}

impl<'a> Memory<'a> {
    /// Binds buffer parameters to their arguments, and fills `out` buffers with zeros. Buffers with
    /// constant contents come after the arguments.
    pub(super) fn bind(
        kernel: &'a Kernel,
        args: &'a mut [Arg<'_>],
        own: DeclaredMemory,
        races: RaceCheck,
    ) -> Result<Memory<'a>, ArgError> {
        let params = kernel.given_params();
        if args.len() != params.len() {
            return Err(ArgError::Count { expected: params.len(), found: args.len() });
        }
        let written = written(params, args)?;
        let mut buffers: Vec<Buffer<'a>> = Vec::new();
        for (param, ((declared, arg), is_written)) in params.iter().zip(args).zip(written).enumerate() {
            match (declared.kind, arg) {
                (ParamKind::Scalar(_), Arg::Scalar(_)) | (ParamKind::Buffer { .. }, Arg::Alias { .. }) => {}
                (ParamKind::Buffer { direction, elem, .. }, &mut Arg::Buffer { base, ref mut bytes }) => {
                    let len = bytes.len();
                    if len % elem.bytes() as usize != 0 {
                        return Err(ArgError::Size { param, len, elem: elem.bytes() });
                    }
                    check_disjoint(&buffers, param, base, len)?;
                    if direction == Direction::Out {
                        bytes.fill(0);
                    }
                    buffers.push(Buffer {
                        param,
                        base,
                        bytes: Bytes::Given(bytes),
                        watch: is_written.then(|| Watch {
                            writers: vec![ItemInst::NOBODY; len],
                            readers: vec![ItemInst::NOBODY; len],
                            earlier: Vec::new(),
                        }),
                    });
                }
                (kind, _) => {
                    let expected = match kind {
                        ParamKind::Scalar(_) => "scalar",
                        ParamKind::Buffer { .. } => "buffer",
                    };
                    return Err(ArgError::Kind { param, expected });
                }
            }
        }
        for (param, declared) in kernel.launch_params().iter().enumerate().skip(params.len()) {
            let (base, bytes) = (buffer_base(param), declared.contents.as_deref().unwrap_or_default());
            check_disjoint(&buffers, param, base, bytes.len())?;
            buffers.push(Buffer { param, base, bytes: Bytes::Contents(bytes), watch: None });
        }
        Ok(Memory { buffers, own, races, same_value: BTreeMap::new() })
    }

    /// Returns the first same-value race of each instruction.
    pub(super) fn same_value(&self) -> impl Iterator<Item = &cooperative::Race> {
        self.same_value.values().chain(self.own.races.iter().flat_map(RaceDetector::same_value))
    }

    /// Reads a value from memory. `how` describes the access for race detection.
    pub(super) fn load(
        &mut self,
        at: AccessSite,
        ty: Type,
        how: AccessProperties,
        out: &mut [u64],
    ) -> Result<(), AccessError> {
        lanes::read(ty, self.read_how(at, ty.bytes(), how)?, out);
        Ok(())
    }

    /// Writes a value to memory, as a weak store.
    pub(super) fn store(&mut self, at: AccessSite, ty: Type, value: &[u64]) -> Result<(), AccessError> {
        let mut bytes = [0; lanes::MAX_BYTES];
        let bytes = bytes.get_mut(..ty.bytes() as usize).unwrap_or_default();
        lanes::write(ty, value, bytes);
        self.write(at, bytes)
    }

    /// Replaces a value in memory, and records whether memory has changed. `f` receives the old
    /// lanes, the bytes to modify, and `true` if the bytes belong to a buffer.
    pub(super) fn change(
        &mut self,
        at: AccessSite,
        ty: Type,
        how: AccessProperties,
        f: impl FnOnce(&[u64], &mut [u8], bool),
    ) -> Result<(), AccessError> {
        let is_cooperative = self.own.races.is_some();
        let (bytes, is_buffer) = self.write_how(at, ty.bytes(), how, None)?;
        if !is_cooperative {
            f(&[], bytes, is_buffer);
            return Ok(());
        }
        let before: SmallVec<[u8; 64]> = SmallVec::from_slice(bytes);
        let mut old = [0; MAX_LANES];
        let old = old.get_mut(..ty.lanes()).unwrap_or_default();
        lanes::read(ty, bytes, old);
        f(old, bytes, is_buffer);
        let is_changed = *bytes != *before;
        self.own.is_changed |= is_changed;
        Ok(())
    }

    /// Returns the bytes of a non-atomic read.
    pub(super) fn read(&mut self, at: AccessSite, bytes: u32) -> Result<&[u8], AccessError> {
        self.read_how(at, bytes, AccessProperties::READ)
    }

    /// Returns the bytes of a read. `how` describes the access for race detection.
    pub(super) fn read_how(&mut self, at: AccessSite, bytes: u32, how: AccessProperties) -> Result<&[u8], AccessError> {
        if let Some(place) = self.in_own(at, bytes)? {
            return self.own.reach(place, at, bytes, how, None).map(|bytes| &*bytes);
        }
        let Reached { buffer, range, is_cooperative, races } = reached(&mut self.buffers, &mut self.own, at, bytes)?;
        if let Some(watch) = &mut buffer.watch {
            watch.read(buffer.param, range.clone(), at.who, is_cooperative)?;
            if let Some(races) = races {
                races.access(
                    SharedLocation::Buffer(buffer.param as u32),
                    range.start as u64,
                    range.len(),
                    touch(at, how, false),
                );
            }
        }
        Ok(buffer.bytes.get().get(range).unwrap_or(&[]))
    }

    /// Writes bytes to memory, as a weak store, and records whether memory has changed.
    pub(super) fn write(&mut self, at: AccessSite, new: &[u8]) -> Result<(), AccessError> {
        let (bytes, _) = self.write_how(at, new.len() as u32, AccessProperties::WRITE, Some(new))?;
        let is_changed = *bytes != *new;
        bytes.iter_mut().zip(new).for_each(|(byte, new)| *byte = *new);
        self.own.is_changed |= is_changed;
        Ok(())
    }

    /// Returns the bytes of a write, for modification, and `true` if they belong to a buffer. `how`
    /// describes the access for race detection, and `new` is the value of a weak store.
    fn write_how(
        &mut self,
        at: AccessSite,
        bytes: u32,
        how: AccessProperties,
        new: Option<&[u8]>,
    ) -> Result<(&mut [u8], bool), AccessError> {
        if let Some(place) = self.in_own(at, bytes)? {
            return self.own.reach(place, at, bytes, how, new).map(|bytes| (bytes, false));
        }
        let Reached { buffer, range, is_cooperative, races } = reached(&mut self.buffers, &mut self.own, at, bytes)?;
        let Some(watch) = &mut buffer.watch else {
            return Err(AccessError::Trap(TrapKind::ReadOnly { address: at.address, param: buffer.param }));
        };
        let keeps_value = new.is_some() && new == buffer.bytes.get().get(range.clone());
        if is_cooperative {
            watch.writers.get_mut(range.clone()).unwrap_or_default().fill(at.who.0);
        } else if let Some(race) = watch.write(buffer.param, range.clone(), at.who, keeps_value)? {
            if self.races == RaceCheck::Strict {
                return Err(AccessError::Race(race));
            }
            self.same_value.entry(race.second.inst).or_insert(race);
        }
        if let Some(races) = races {
            let place = SharedLocation::Buffer(buffer.param as u32);
            races.access(place, range.start as u64, range.len(), touch(at, how, keeps_value));
        }
        let bytes = match &mut buffer.bytes {
            Bytes::Given(bytes) => bytes.get_mut(range).unwrap_or(&mut []),
            Bytes::Contents(_) => &mut [],
        };
        Ok((bytes, true))
    }

    /// Returns the location of an access in an array that the kernel declares; `None` if the access is elsewhere.
    fn in_own(&self, at: AccessSite, bytes: u32) -> Result<Option<(Space, usize)>, AccessError> {
        aligned(at)?;
        self.own.find(at, bytes).transpose().map_err(AccessError::Trap)
    }

    /// Returns the bytes of an access if they are readable, without recording a read.
    pub(super) fn peek(&mut self, at: AccessSite, bytes: u32) -> Option<&[u8]> {
        let (buffer, range) = self.find(at, bytes).ok()?;
        buffer.bytes.get().get(range)
    }

    /// Returns the number of the parameter whose buffer contains the bytes, and their offset in the buffer.
    pub(super) fn place(&mut self, at: AccessSite, bytes: u32) -> Option<(usize, u64)> {
        self.find(at, bytes).ok().map(|(buffer, range)| (buffer.param, range.start as u64))
    }

    /// Returns the trap of an access that is invalid by its address alone, independently of other accesses.
    pub(super) fn static_trap(&mut self, at: AccessSite, bytes: u32, write: bool) -> Option<TrapKind> {
        match self.own.find(at, bytes) {
            Some(_) if aligned(at).is_err() => {
                return Some(TrapKind::Misaligned { address: at.address, align: at.align });
            }
            Some(found) => return found.err(),
            None => {}
        }
        match self.find(at, bytes) {
            Ok((buffer, _)) if write && buffer.watch.is_none() => {
                Some(TrapKind::ReadOnly { address: at.address, param: buffer.param })
            }
            Err(AccessError::Trap(kind)) => Some(kind),
            _ => None,
        }
    }

    /// Returns the buffer that contains the whole access, and the range of its bytes in the buffer.
    fn find(&mut self, at: AccessSite, bytes: u32) -> Result<(&mut Buffer<'a>, Range<usize>), AccessError> {
        aligned(at)?;
        match find(&mut self.buffers, at, bytes) {
            Some(found) => Ok(found),
            None => Err(AccessError::Trap(TrapKind::OutOfBounds { address: at.address, bytes })),
        }
    }
}

fn aligned(AccessSite { address, align, .. }: AccessSite) -> Result<(), AccessError> {
    match align > 1 && address % u64::from(align) != 0 {
        true => Err(AccessError::Trap(TrapKind::Misaligned { address, align })),
        false => Ok(()),
    }
}

/// Returns the buffer and the range of bytes of an access. Fails if the access is out of bounds.
fn reached<'m, 'a>(
    buffers: &'m mut [Buffer<'a>],
    own: &'m mut DeclaredMemory,
    at: AccessSite,
    bytes: u32,
) -> Result<Reached<'m, 'a>, AccessError> {
    match find(buffers, at, bytes) {
        Some((buffer, range)) => {
            Ok(Reached { buffer, range, is_cooperative: own.is_cooperative, races: own.races.as_mut() })
        }
        None => Err(AccessError::Trap(TrapKind::OutOfBounds { address: at.address, bytes })),
    }
}

fn find<'b, 'a>(
    buffers: &'b mut [Buffer<'a>],
    at: AccessSite,
    bytes: u32,
) -> Option<(&'b mut Buffer<'a>, Range<usize>)> {
    buffers.iter_mut().find_map(|buffer| {
        let start = at.address.wrapping_sub(buffer.base);
        let len = buffer.bytes.get().len() as u64;
        let fits = start <= len && len - start >= u64::from(bytes);
        fits.then(|| (buffer, start as usize..start as usize + bytes as usize))
    })
}

/// Buffer and byte range of an access.
struct Reached<'m, 'a> {
    buffer: &'m mut Buffer<'a>,
    range: Range<usize>,
    /// `true` if items cooperate. Races are then found by `races`; otherwise they are found by the
    /// access records of the buffer.
    is_cooperative: bool,
    races: Option<&'m mut RaceDetector>,
}

/// Returns, for each parameter, `true` if any parameter writes its buffer. Also checks the
/// addresses of aliases, alignments and overlaps.
fn written(params: &[Param], args: &[Arg<'_>]) -> Result<Vec<bool>, ArgError> {
    let owner = |(number, arg): (usize, &Arg<'_>)| match arg {
        Arg::Scalar(_) => None,
        Arg::Buffer { .. } => Some(number),
        Arg::Alias { of, .. } => Some(*of),
    };
    let owners: Vec<Option<usize>> = args.iter().enumerate().map(owner).collect();
    let mut written = vec![false; args.len()];
    for (param, (declared, arg)) in params.iter().zip(args).enumerate() {
        let ParamKind::Buffer { align, .. } = declared.kind else { continue };
        let Some(base) = Arg::address(args, param) else {
            let &Arg::Alias { of, offset } = arg else { continue };
            return Err(ArgError::Alias { param, of, offset });
        };
        if align > 1 && base % u64::from(align) != 0 {
            return Err(ArgError::Align { param, base, align });
        }
        let owner = owners.get(param).copied().flatten();
        let shares = |&(number, other): &(usize, &Param)| {
            number != param
                && owners.get(number).copied().flatten() == owner
                && (declared.kind.is_unique() || other.kind.is_unique())
        };
        if let Some((other, of)) = params.iter().enumerate().find(shares) {
            let unique = if of.kind.is_unique() { other } else { param };
            return Err(ArgError::MayNotAlias { first: param.min(other), second: param.max(other), unique });
        }
        if let Some(written) = owner.and_then(|owner| written.get_mut(owner)) {
            *written |= declared.kind.is_written();
        }
    }
    Ok(written)
}

/// Checks that a buffer does not overlap another buffer and ends within the address space.
fn check_disjoint(buffers: &[Buffer<'_>], param: usize, base: u64, len: usize) -> Result<(), ArgError> {
    let clash = |other: &&Buffer<'_>| {
        base.wrapping_sub(other.base) < other.bytes.get().len() as u64 || other.base.wrapping_sub(base) < len as u64
    };
    let wraps = base.checked_add(len as u64).is_none();
    match buffers.iter().find(clash).map(|other| other.param).or(wraps.then_some(param)) {
        Some(first) => Err(ArgError::Overlap { first, second: param }),
        None => Ok(()),
    }
}

impl Watch {
    /// Records that an item reads a range of bytes. Unless items cooperate (`is_cooperative`), fails if
    /// another item has written one of the bytes.
    fn read(
        &mut self,
        param: usize,
        range: Range<usize>,
        who: ItemInst,
        is_cooperative: bool,
    ) -> Result<(), AccessError> {
        let writers = self.writers.get(range.clone()).unwrap_or_default();
        let readers = self.readers.get_mut(range.clone()).unwrap_or_default();
        for (byte, (&writer, reader)) in range.zip(writers.iter().zip(readers)) {
            let earlier = self.earlier.get(byte).copied().unwrap_or(ItemInst::NOBODY);
            if !is_cooperative && let Some(first) = [writer, earlier].into_iter().find(|&first| is_of_other(first, who))
            {
                return Err(AccessError::Race(race(param, byte, ItemInst(first).access(true), who.access(false))));
            }
            if *reader == ItemInst::NOBODY {
                *reader = who.0;
            }
        }
        Ok(())
    }

    /// Records that an item writes a range of bytes. `keeps_value` is `true` if the item writes the
    /// value that memory has already. Returns a same-value race with another item. Fails if there is
    /// another race.
    fn write(
        &mut self,
        param: usize,
        range: Range<usize>,
        who: ItemInst,
        keeps_value: bool,
    ) -> Result<Option<cooperative::Race>, AccessError> {
        let mut same_value = None;
        let (bytes, readers) = (self.writers.len(), self.readers.get(range.clone()).unwrap_or_default());
        let writers = self.writers.get_mut(range.clone()).unwrap_or_default();
        for (byte, (writer, &reader)) in range.zip(writers.iter_mut().zip(readers)) {
            let last = std::mem::replace(writer, who.0);
            let earlier = self.earlier.get(byte).copied().unwrap_or(ItemInst::NOBODY);
            for first in [last, earlier].into_iter().filter(|&first| is_of_other(first, who)) {
                let found = race(param, byte, ItemInst(first).access(true), who.access(true));
                if !keeps_value || first as u32 != who.0 as u32 {
                    return Err(AccessError::Race(found));
                }
                same_value.get_or_insert(cooperative::Race { is_same_value: true, ..found });
            }
            if is_of_other(reader, who) {
                let first = ItemInst(reader).access(false);
                return Err(AccessError::Race(race(param, byte, first, who.access(true))));
            }
            if last != ItemInst::NOBODY && (last != who.0 || !keeps_value) {
                let differs = !keeps_value || last as u32 != who.0 as u32;
                self.earlier.resize(bytes, ItemInst::NOBODY);
                if let Some(earlier) = self.earlier.get_mut(byte) {
                    *earlier = last | if differs { ItemInst::DIFFERS } else { 0 };
                }
            }
        }
        Ok(same_value)
    }
}

/// Returns `true` if an access is by another item. `first` is that access, or zero.
fn is_of_other(first: u64, who: ItemInst) -> bool {
    first != ItemInst::NOBODY && ItemInst(first).item() != who.item()
}

fn race(param: usize, byte: usize, first: RacingAccess, second: RacingAccess) -> cooperative::Race {
    let place = SharedLocation::Buffer(param as u32);
    cooperative::Race { place, offset: byte as u64, first, second, is_async_copy: false, is_same_value: false }
}
