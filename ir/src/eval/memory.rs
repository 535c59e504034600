//! The buffers of a launch: addressing, bounds, and the watch over bytes that items share.

use std::ops::Range;

use halfbyte_abi::meet::{Place, Races};
use halfbyte_abi::{Direction, ParamKind, Type, buffer_base};
use smallvec::SmallVec;

use crate::array::Space;
use crate::eval::lanes;
use crate::eval::launch::{Arg, ArgError, TrapKind};
use crate::eval::own::{How, Own, touch};
use crate::eval::prepared::MAX_LANES;
use crate::kernel::{Inst, Kernel, Param};

/// An item at an instruction, in one word that is never zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Who(u64);

impl Who {
    const NOBODY: u64 = 0;

    /// A launch has fewer than 2^32 items, so the number after an item's always fits.
    pub(super) fn new(item: u32, inst: Inst) -> Who {
        Who((u64::from(item) + 1) << 32 | u64::from(inst.as_u32()))
    }

    pub(super) fn item(self) -> u32 {
        ((self.0 >> 32) - 1) as u32
    }

    pub(super) fn inst(self) -> Inst {
        Inst::from_u32(self.0 as u32)
    }
}

/// The items that wrote the bytes of a finished launch's buffers.
#[derive(Clone, Debug)]
pub struct Writers(Vec<Written>);

/// A buffer that a launch may write.
#[derive(Clone, Debug)]
struct Written {
    param: usize,
    writers: Vec<u64>,
    /// One past the last byte that is read or written.
    reached: usize,
}

impl Writers {
    fn buffer(&self, param: usize) -> Option<&Written> {
        self.0.iter().find(|buffer| buffer.param == param)
    }

    /// The item that wrote a byte of the buffer of parameter `param`; none where none did.
    pub fn item(&self, param: usize, byte: usize) -> Option<u32> {
        let who = *self.buffer(param)?.writers.get(byte)?;
        (who != Who::NOBODY).then(|| Who(who).item())
    }

    /// The bytes of the `out` or `inout` buffer of parameter `param` up to the last one that an item read or wrote.
    pub fn reached(&self, param: usize) -> usize {
        self.buffer(param).map_or(0, |buffer| buffer.reached)
    }
}

/// Why an access does not happen.
pub(super) enum Refusal {
    Trap(TrapKind),
    /// The byte was reached before by another item, which wrote it or did not.
    Race {
        param: usize,
        offset: u64,
        before: Who,
        wrote: bool,
    },
}

/// An access: who makes it, and where.
#[derive(Clone, Copy)]
pub(super) struct AccessSite {
    pub(super) who: Who,
    pub(super) address: u64,
    pub(super) align: u32,
    /// Of an access by an array, that array's space: it reaches no other.
    pub(super) space: Option<Space>,
    /// Whether it puts something in the place of what is there in one step.
    pub(super) changes: bool,
}

impl AccessSite {
    /// An access at that alignment, at an address that is yet to be said.
    pub(super) fn new(who: Who, align: u32) -> AccessSite {
        AccessSite { who, address: 0, align, space: None, changes: false }
    }
}

pub(super) struct Memory<'a> {
    buffers: Vec<Buffer<'a>>,
    pub(super) own: Own,
}

struct Buffer<'a> {
    param: usize,
    base: u64,
    bytes: Bytes<'a>,
    /// Nothing for one that no parameter writes, in which no race can be.
    watch: Option<Watch>,
}

/// The memory of a buffer.
enum Bytes<'a> {
    Given(&'a mut [u8]),
    /// What the kernel says that it holds, which is never written.
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

/// For each byte its writer, and of its readers the first. Items run in order, so where the first reader is the item at
/// hand there is no other before it.
struct Watch {
    writers: Vec<u64>,
    readers: Vec<u64>,
}

impl<'a> Memory<'a> {
    /// Binds buffers to arguments that fit the parameters, and clears those that are `out`. Buffers with contents, which come after
    /// them, have those.
    pub(super) fn bind(kernel: &'a Kernel, args: &'a mut [Arg<'_>], own: Own) -> Result<Memory<'a>, ArgError> {
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
                    apart(&buffers, param, base, len)?;
                    if direction == Direction::Out {
                        bytes.fill(0);
                    }
                    buffers.push(Buffer {
                        param,
                        base,
                        bytes: Bytes::Given(bytes),
                        watch: is_written
                            .then(|| Watch { writers: vec![Who::NOBODY; len], readers: vec![Who::NOBODY; len] }),
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
            apart(&buffers, param, base, bytes.len())?;
            buffers.push(Buffer { param, base, bytes: Bytes::Contents(bytes), watch: None });
        }
        Ok(Memory { buffers, own })
    }

    /// Who wrote each byte so far.
    pub(super) fn into_writers(self) -> Writers {
        let watched = |buffer: Buffer<'_>| {
            let Watch { writers, readers } = buffer.watch?;
            let end = |who: &[u64]| who.iter().rposition(|&who| who != Who::NOBODY).map_or(0, |last| last + 1);
            Some(Written { param: buffer.param, reached: end(&writers).max(end(&readers)), writers })
        };
        Writers(self.buffers.into_iter().filter_map(watched).collect())
    }

    /// Reads a value in that way.
    pub(super) fn load(&mut self, at: AccessSite, ty: Type, how: How, out: &mut [u64]) -> Result<(), Refusal> {
        lanes::read(ty, self.read_how(at, ty.bytes(), how)?, out);
        Ok(())
    }

    /// Writes a value in that way.
    pub(super) fn store(&mut self, at: AccessSite, ty: Type, how: How, value: &[u64]) -> Result<(), Refusal> {
        self.change(at, ty, how, |_, bytes, _| lanes::write(ty, value, bytes))
    }

    /// Puts something in the place of what is there, and notes whether that is something else. `f` takes what was there as lanes, the
    /// bytes, and whether they are a buffer's.
    pub(super) fn change(
        &mut self,
        at: AccessSite,
        ty: Type,
        how: How,
        f: impl FnOnce(&[u64], &mut [u8], bool),
    ) -> Result<(), Refusal> {
        let meets = self.own.races.is_some();
        let (bytes, is_buffer) = self.write_how(at, ty.bytes(), how)?;
        if !meets {
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

    /// The bytes that an item reads.
    pub(super) fn read(&mut self, at: AccessSite, bytes: u32) -> Result<&[u8], Refusal> {
        self.read_how(at, bytes, How::READ)
    }

    /// The bytes that an item reads in that way.
    pub(super) fn read_how(&mut self, at: AccessSite, bytes: u32, how: How) -> Result<&[u8], Refusal> {
        if let Some(place) = self.in_own(at, bytes)? {
            return self.own.reach(place, at, bytes, how).map(|bytes| &*bytes);
        }
        let Reached { buffer, range, meets, races } = self.in_buffer(at, bytes)?;
        if let Some(watch) = &mut buffer.watch {
            for (byte, writer, reader) in watch.entries(range.clone()) {
                if !meets {
                    check(buffer.param, byte, at.who, *writer, true)?;
                }
                if *reader == Who::NOBODY {
                    *reader = at.who.0;
                }
            }
            if let Some(races) = races {
                races.access(Place::Buffer(buffer.param as u32), range.start as u64, range.len(), touch(at, how));
            }
        }
        Ok(buffer.bytes.get().get(range).unwrap_or(&[]))
    }

    /// The bytes that an item writes, to change.
    pub(super) fn write(&mut self, at: AccessSite, bytes: u32) -> Result<&mut [u8], Refusal> {
        self.write_how(at, bytes, How::WRITE).map(|(bytes, _)| bytes)
    }

    /// The bytes that an item writes in that way, to change, and whether they are a buffer's.
    pub(super) fn write_how(&mut self, at: AccessSite, bytes: u32, how: How) -> Result<(&mut [u8], bool), Refusal> {
        if let Some(place) = self.in_own(at, bytes)? {
            return self.own.reach(place, at, bytes, how).map(|bytes| (bytes, false));
        }
        let Reached { buffer, range, meets, races } = self.in_buffer(at, bytes)?;
        let Some(watch) = &mut buffer.watch else {
            return Err(Refusal::Trap(TrapKind::ReadOnly { address: at.address, param: buffer.param }));
        };
        for (byte, writer, reader) in watch.entries(range.clone()) {
            if !meets {
                check(buffer.param, byte, at.who, *writer, true)?;
                check(buffer.param, byte, at.who, *reader, false)?;
            }
            *writer = at.who.0;
        }
        if let Some(races) = races {
            races.access(Place::Buffer(buffer.param as u32), range.start as u64, range.len(), touch(at, how));
        }
        let bytes = match &mut buffer.bytes {
            Bytes::Given(bytes) => bytes.get_mut(range).unwrap_or(&mut []),
            Bytes::Contents(_) => &mut [],
        };
        Ok((bytes, true))
    }

    /// Where in memory that the kernel declares an access is; none where it is in no such.
    fn in_own(&self, at: AccessSite, bytes: u32) -> Result<Option<(Space, usize)>, Refusal> {
        aligned(at)?;
        self.own.find(at, bytes).transpose().map_err(Refusal::Trap)
    }

    /// Where in which buffer an access is that is aligned.
    fn in_buffer(&mut self, at: AccessSite, bytes: u32) -> Result<Reached<'_, 'a>, Refusal> {
        match find(&mut self.buffers, at, bytes) {
            Some((buffer, range)) => {
                Ok(Reached { buffer, range, meets: self.own.meets, races: self.own.races.as_mut() })
            }
            None => Err(Refusal::Trap(TrapKind::OutOfBounds { address: at.address, bytes })),
        }
    }

    /// The bytes there, where an item can read them. Nobody has read them then.
    pub(super) fn peek(&mut self, at: AccessSite, bytes: u32) -> Option<&[u8]> {
        let (buffer, range) = self.find(at, bytes).ok()?;
        buffer.bytes.get().get(range)
    }

    /// The parameter whose buffer the bytes lie in, and where in it.
    pub(super) fn place(&mut self, at: AccessSite, bytes: u32) -> Option<(usize, u64)> {
        self.find(at, bytes).ok().map(|(buffer, range)| (buffer.param, range.start as u64))
    }

    /// Why an access cannot be made, whoever makes others.
    pub(super) fn why_not(&mut self, at: AccessSite, bytes: u32, write: bool) -> Option<TrapKind> {
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
            Err(Refusal::Trap(kind)) => Some(kind),
            _ => None,
        }
    }

    /// The buffer that the whole access lies in, and where in it.
    fn find(&mut self, at: AccessSite, bytes: u32) -> Result<(&mut Buffer<'a>, Range<usize>), Refusal> {
        aligned(at)?;
        match find(&mut self.buffers, at, bytes) {
            Some(found) => Ok(found),
            None => Err(Refusal::Trap(TrapKind::OutOfBounds { address: at.address, bytes })),
        }
    }
}

fn aligned(AccessSite { address, align, .. }: AccessSite) -> Result<(), Refusal> {
    match align > 1 && address % u64::from(align) != 0 {
        true => Err(Refusal::Trap(TrapKind::Misaligned { address, align })),
        false => Ok(()),
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

/// The buffer that an access reaches.
struct Reached<'m, 'a> {
    buffer: &'m mut Buffer<'a>,
    range: Range<usize>,
    /// Where items meet, who looks for races.
    /// Whether items meet: then `races` says which accesses race, and else who else has made one.
    meets: bool,
    races: Option<&'m mut Races>,
}

/// For each parameter whether a parameter writes the buffer that it is given; the addresses are those that the parameters ask for.
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

/// Whether a buffer has its addresses alone.
fn apart(buffers: &[Buffer<'_>], param: usize, base: u64, len: usize) -> Result<(), ArgError> {
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
    /// Each byte's number, writer and first reader.
    fn entries(&mut self, range: Range<usize>) -> impl Iterator<Item = (usize, &mut u64, &mut u64)> {
        let writers = self.writers.get_mut(range.clone()).unwrap_or(&mut []);
        let readers = self.readers.get_mut(range.clone()).unwrap_or(&mut []);
        range.zip(writers.iter_mut().zip(readers)).map(|(byte, (writer, reader))| (byte, writer, reader))
    }
}

/// Refuses an access to a byte that another item reached before.
fn check(param: usize, byte: usize, who: Who, before: u64, wrote: bool) -> Result<(), Refusal> {
    if before == Who::NOBODY || Who(before).item() == who.item() {
        return Ok(());
    }
    Err(Refusal::Race { param, offset: byte as u64, before: Who(before), wrote })
}
