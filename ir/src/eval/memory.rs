//! The buffers of a launch: addressing, bounds, and the watch over bytes that items share.

use std::ops::Range;

use halfbyte_abi::{Direction, ParamKind, Type, buffer_base};

use crate::eval::lanes;
use crate::eval::launch::{Arg, ArgError, TrapKind};
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
}

pub(super) struct Memory<'a> {
    buffers: Vec<Buffer<'a>>,
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
    pub(super) fn bind(kernel: &'a Kernel, args: &'a mut [Arg<'_>]) -> Result<Memory<'a>, ArgError> {
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
        Ok(Memory { buffers })
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

    /// Reads a value.
    pub(super) fn load(&mut self, at: AccessSite, ty: Type, out: &mut [u64]) -> Result<(), Refusal> {
        lanes::read(ty, self.read(at, ty.bytes())?, out);
        Ok(())
    }

    /// Writes a value.
    pub(super) fn store(&mut self, at: AccessSite, ty: Type, value: &[u64]) -> Result<(), Refusal> {
        lanes::write(ty, value, self.write(at, ty.bytes())?);
        Ok(())
    }

    /// The bytes that an item reads.
    pub(super) fn read(&mut self, at: AccessSite, bytes: u32) -> Result<&[u8], Refusal> {
        let (buffer, range) = self.find(at, bytes)?;
        if let Some(watch) = &mut buffer.watch {
            for (byte, writer, reader) in watch.entries(range.clone()) {
                check(buffer.param, byte, at.who, *writer, true)?;
                if *reader == Who::NOBODY {
                    *reader = at.who.0;
                }
            }
        }
        Ok(buffer.bytes.get().get(range).unwrap_or(&[]))
    }

    /// The bytes that an item writes, to change.
    pub(super) fn write(&mut self, at: AccessSite, bytes: u32) -> Result<&mut [u8], Refusal> {
        let (buffer, range) = self.find(at, bytes)?;
        let Some(watch) = &mut buffer.watch else {
            return Err(Refusal::Trap(TrapKind::ReadOnly { address: at.address, param: buffer.param }));
        };
        for (byte, writer, reader) in watch.entries(range.clone()) {
            check(buffer.param, byte, at.who, *writer, true)?;
            check(buffer.param, byte, at.who, *reader, false)?;
            *writer = at.who.0;
        }
        Ok(match &mut buffer.bytes {
            Bytes::Given(bytes) => bytes.get_mut(range).unwrap_or(&mut []),
            Bytes::Contents(_) => &mut [],
        })
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
        let AccessSite { address, align, .. } = at;
        if align > 1 && address % u64::from(align) != 0 {
            return Err(Refusal::Trap(TrapKind::Misaligned { address, align }));
        }
        for buffer in &mut self.buffers {
            let start = address.wrapping_sub(buffer.base);
            let len = buffer.bytes.get().len() as u64;
            if start <= len && len - start >= u64::from(bytes) {
                let start = start as usize;
                return Ok((buffer, start..start + bytes as usize));
            }
        }
        Err(Refusal::Trap(TrapKind::OutOfBounds { address, bytes }))
    }
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
