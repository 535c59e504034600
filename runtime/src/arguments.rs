//! Launch arguments and their checks against the kernel's parameters.

use std::any::Any;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

use halfbyte_abi::{Alias, Direction, Param, ParamKind, Signature, Type, buffer_base};
use smallvec::SmallVec;

use crate::error::LaunchError;
pub use halfbyte_abi::Arg;
use halfbyte_isa::buffers::{Buffer, Buffers, Bytes};

/// The bits of each scalar and the address of each buffer, indexed by parameter. Up to four entries need no allocation.
pub type Scalars = SmallVec<[u128; 4]>;

/// The checked arguments of a launch, indexed by parameter. Parameters with constant contents are included.
#[derive(Debug, Default)]
pub struct Arguments<'a> {
    /// The bits of each scalar and the address of each buffer.
    pub scalars: Scalars,
    /// The buffers, indexed by parameter. The entry is `None` for a scalar, and for an alias, which
    /// has no buffer of its own.
    pub buffers: Buffers<'a>,
    /// State that the kernel caches for its next launch with the same arguments.
    pub scratch: Scratch,
}

impl<'a> Arguments<'a> {
    /// Checks the arguments of a launch against the parameters of a signature.
    ///
    /// # Errors
    /// Returns an error if an argument does not fit its parameter, or if the numbers of arguments and parameters
    /// differ. Also returns an error if a written buffer overlaps another buffer.
    pub fn new(
        signature: &'a Signature,
        args: impl IntoIterator<Item = Arg<'a>>,
    ) -> Result<Arguments<'a>, LaunchError> {
        let (params, mut args) = (signature.given(), args.into_iter());
        let all = signature.params().len();
        let mut made = Arguments {
            scalars: Scalars::with_capacity(all),
            buffers: Buffers(Vec::with_capacity(all)),
            scratch: Scratch::default(),
        };
        let (mut found, mut unfit, mut aliases) = (0, None, Vec::new());
        for (param, arg) in params.iter().zip(&mut args) {
            if let Arg::Alias { of, offset } = arg {
                aliases.push(Alias { param: found, of, offset });
            }
            found += 1;
            if unfit.is_none() {
                unfit = made.add(signature, param, arg).err();
            }
        }
        found += args.count();
        if params.len() != found {
            let kernel = signature.name().to_owned();
            return Err(LaunchError::Count { kernel, expected: params.len(), found });
        }
        if let Some(error) = unfit {
            return Err(error);
        }
        made.alias(signature, &aliases)?;
        if let Some([first, second]) = overlapping(&made.buffers) {
            let [kernel, first, second] = [signature.name(), first, second].map(str::to_owned);
            return Err(LaunchError::Overlap { kernel, first, second });
        }
        for (param, bytes) in signature.params().iter().skip(found).zip(signature.contents()) {
            made.add(signature, param, Arg::In(bytes))?;
        }
        Ok(made)
    }

    /// Prepares the buffers for a launch: fills `out` buffers with zeros. The executable calls this
    /// method after its last check that can fail.
    pub fn start(&mut self) {
        self.buffers.zero_out_buffers();
    }

    /// Sets the address of each alias argument. All other arguments must have been added before.
    fn alias(&mut self, signature: &Signature, aliases: &[Alias]) -> Result<(), LaunchError> {
        for &Alias { param, of, offset } in aliases {
            let wrong = |reason: String| {
                let name = signature.given().get(param).map_or(String::new(), |param| param.name.clone());
                Err(LaunchError::Alias { kernel: signature.name().to_owned(), param: name, reason })
            };
            let Some(ParamKind::Buffer { align, .. }) = signature.given().get(param).map(|param| param.kind) else {
                continue;
            };
            let Some(Some(buffer)) = self.buffers.0.get_mut(of) else {
                return wrong(format!("argument {of}, which is not a buffer"));
            };
            let (name, bytes) = (buffer.name, buffer.bytes().len());
            if offset > bytes as u64 {
                return wrong(format!("byte {offset} of `{name}`, which has {bytes} bytes"));
            }
            if !offset.is_multiple_of(align.into()) {
                return wrong(format!("byte {offset} of `{name}`; expected a multiple of {align}"));
            }
            if signature.given().get(param).is_some_and(Param::is_result) {
                if matches!(buffer.bytes, Bytes::Shared(_)) {
                    return wrong(format!("`{name}`, which was passed as read-only"));
                }
                buffer.direction = Direction::InOut;
            }
            if let Some(address) = self.scalars.get_mut(param) {
                *address = u128::from(buffer_base(of) + offset);
            }
        }
        check_unique(signature, aliases)
    }

    fn add(&mut self, signature: &Signature, param: &'a Param, arg: Arg<'a>) -> Result<(), LaunchError> {
        check(signature, param, &arg)?;
        let (bits, bytes) = match arg {
            Arg::Scalar(bits) => (bits, None),
            Arg::In(bytes) => (0, Some(Bytes::Shared(bytes))),
            Arg::Buffer(bytes) => (0, Some(Bytes::Mutable(bytes))),
            Arg::Alias { .. } => (0, None),
        };
        let (direction, bits) = match param.kind {
            ParamKind::Buffer { direction, .. } => (direction, buffer_base(self.scalars.len()).into()),
            ParamKind::Scalar(_) => (Direction::In, bits),
        };
        self.scalars.push(bits);
        self.buffers.0.push(bytes.map(|bytes| Buffer { name: &param.name, direction, bytes }));
        Ok(())
    }
}

/// Rejects parameters that share a buffer if one of them is unique, that is, written without `may_alias`.
fn check_unique(signature: &Signature, aliases: &[Alias]) -> Result<(), LaunchError> {
    let kind = |number: usize| signature.given().get(number).map(|param| param.kind);
    let name = |number: usize| signature.given().get(number).map_or(String::new(), |param| param.name.clone());
    for (at, alias) in aliases.iter().enumerate() {
        let before = aliases.iter().take(at).filter(|other| other.of == alias.of).map(|other| other.param);
        for other in [alias.of].into_iter().chain(before) {
            let unique =
                [alias.param, other].into_iter().find(|&number| kind(number).is_some_and(ParamKind::is_unique));
            if let Some(unique) = unique {
                let (kernel, unique) = (signature.name().to_owned(), name(unique));
                let [first, second] = [alias.param.min(other), alias.param.max(other)].map(name);
                return Err(LaunchError::Unique { kernel, first, second, unique });
            }
        }
    }
    Ok(())
}

fn check(signature: &Signature, param: &Param, arg: &Arg<'_>) -> Result<(), LaunchError> {
    let names = || (signature.name().to_owned(), param.name.clone());
    let size = |elem: Type, found: usize| {
        if found.is_multiple_of(elem.bytes() as usize) {
            return Ok(());
        }
        let (kernel, param) = names();
        Err(LaunchError::Size { kernel, param, elem, found })
    };
    match (param.kind, arg) {
        (ParamKind::Scalar(ty), &Arg::Scalar(bits)) if ty.bits() < 128 && bits >> ty.bits() != 0 => {
            let (kernel, param) = names();
            Err(LaunchError::Scalar { kernel, param, ty, bits })
        }
        (ParamKind::Scalar(_), Arg::Scalar(_)) => Ok(()),
        (ParamKind::Buffer { elem, .. }, Arg::Buffer(bytes)) => size(elem, bytes.len()),
        (ParamKind::Buffer { elem, direction: Direction::In, .. }, Arg::In(bytes)) => size(elem, bytes.len()),
        (ParamKind::Buffer { .. }, Arg::Alias { .. }) => Ok(()),
        (kind, arg) => {
            let (kernel, param) = names();
            let expected = match kind {
                ParamKind::Scalar(ty) => format!("a scalar {ty}"),
                ParamKind::Buffer { elem, direction, .. } => format!("an `{}` buffer of {elem}", direction.name()),
            };
            Err(LaunchError::Kind { kernel, param, expected, found: arg.name() })
        }
    }
}

/// Returns the parameter names of two buffers that overlap, if at least one of the two is written.
/// Safe Rust code cannot pass overlapping buffers; callers in other languages can.
pub(crate) fn overlapping<'a>(buffers: &Buffers<'a>) -> Option<[&'a str; 2]> {
    let held = buffers.0.iter().enumerate().filter_map(|(number, buffer)| Some((number, buffer.as_ref()?)));
    let places = held.map(|(number, buffer)| {
        let range = buffer.bytes().as_ptr_range();
        AddressRange { start: range.start.addr(), end: range.end.addr(), number, is_written: buffer.is_written() }
    });
    let name = |number: usize| buffers.0.get(number).and_then(Option::as_ref).map_or("", |buffer| buffer.name);
    overlap(places).map(|numbers| numbers.map(name))
}

/// Address range of a buffer in the address space of the process.
#[derive(Clone, Copy, Debug)]
struct AddressRange {
    start: usize,
    end: usize,
    number: usize,
    is_written: bool,
}

/// Maximum number of buffers that are compared pair by pair. Up to this number, comparing all pairs
/// is faster than sorting.
const MAX_PAIRWISE_BUFFERS: usize = 4;

/// Returns the parameter indices of two address ranges that overlap, if at least one of the two is written.
fn overlap(places: impl Iterator<Item = AddressRange>) -> Option<[usize; 2]> {
    let mut sorted: SmallVec<[AddressRange; 8]> = SmallVec::new();
    sorted.extend(places.filter(|place| place.start < place.end));
    let is_apart = |a: &AddressRange, b: &AddressRange| a.end <= b.start || b.end <= a.start;
    let is_apart_from_later = |(k, a): (usize, &AddressRange)| sorted.iter().skip(k + 1).all(|b| is_apart(a, b));
    if sorted.len() <= MAX_PAIRWISE_BUFFERS && sorted.iter().enumerate().all(is_apart_from_later) {
        return None;
    }
    sorted.sort_unstable_by_key(|place| place.start);
    // `last` is the visited range with the highest end. `last_written` is the visited written range
    // with the highest end.
    let (mut last, mut last_written): (Option<AddressRange>, Option<AddressRange>) = (None, None);
    for &place in &sorted {
        let other = if place.is_written { last } else { last_written };
        if let Some(other) = other.filter(|other| place.start < other.end) {
            return Some([other.number.min(place.number), other.number.max(place.number)]);
        }
        let ends_later = |other: &Option<AddressRange>| other.is_none_or(|other| other.end < place.end);
        if ends_later(&last) {
            last = Some(place);
        }
        if place.is_written && ends_later(&last_written) {
            last_written = Some(place);
        }
    }
    None
}

/// State that a kernel caches from one launch for its next launch with the same arguments. Each
/// kernel sees only its own state.
#[derive(Default)]
pub struct Scratch {
    kept: Option<Box<dyn Kept>>,
    /// `true` if the next launch is the last launch with the same arguments.
    is_last: bool,
}

/// Requirements on cached state: threads may share it, and a launch that unwinds drops it.
trait Kept: Any + Send + Sync + UnwindSafe + RefUnwindSafe {}

impl<T: Any + Send + Sync + UnwindSafe + RefUnwindSafe> Kept for T {}

impl Scratch {
    /// Removes the cached state. Returns the state if its type is `T`.
    pub fn take<T: Any>(&mut self) -> Option<Box<T>> {
        let kept: Box<dyn Any> = self.kept.take()?;
        kept.downcast().ok()
    }

    /// Marks the next launch as the last launch with the same arguments.
    pub(crate) fn set_last(&mut self) {
        self.is_last = true;
    }

    /// Returns `true` if the next launch is marked as the last launch with the same arguments.
    pub(crate) fn is_last(&self) -> bool {
        self.is_last
    }

    /// Caches `kept`, and drops the previously cached state.
    pub fn keep<T: Any + Send + Sync + UnwindSafe + RefUnwindSafe>(&mut self, kept: Box<T>) {
        self.kept = Some(kept);
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scratch").field("is_empty", &self.kept.is_none()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the result of `overlap` for ranges. The flag of a range is `true` if the range is
    /// written.
    fn found(places: &[(usize, usize, bool)]) -> Option<[usize; 2]> {
        overlap(places.iter().enumerate().map(|(number, &(start, len, is_written))| AddressRange {
            start,
            end: start + len,
            number,
            is_written,
        }))
    }

    #[test]
    fn written_buffers_share_no_bytes() {
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[(8, 8, true), (16, 8, true), (0, 8, false)]), None);
        assert_eq!(found(&[(0, 8, false), (4, 8, false), (0, 12, false)]), None);
        assert_eq!(found(&[(0, 8, false), (7, 1, true)]), Some([0, 1]));
        assert_eq!(found(&[(8, 8, true), (0, 9, false)]), Some([0, 1]));
        // The first range of each list overlaps a later range, which need not be its neighbour.
        assert_eq!(found(&[(0, 100, true), (4, 4, true)]), Some([0, 1]));
        assert_eq!(found(&[(0, 100, false), (4, 4, false), (50, 4, true)]), Some([0, 2]));
        assert_eq!(found(&[(0, 100, true), (200, 4, false), (99, 2, false)]), Some([0, 2]));
        // An empty range overlaps no other range.
        assert_eq!(found(&[(0, 8, true), (4, 0, true)]), None);
    }

    #[test]
    fn finds_an_overlap_among_many_buffers() {
        let mut places: Vec<_> = (0..101).map(|number| (number * 37 % 101 * 8, 8, true)).collect();
        assert_eq!(found(&places), None);
        let last = places.iter().position(|&(start, ..)| start == 800).unwrap_or(0);
        places.push((807, 1, false));
        assert_eq!(found(&places), Some([last, 101]));
    }

    #[test]
    fn takes_cached_state_of_the_same_type() {
        let mut scratch = Scratch::default();
        scratch.keep(Box::new(7_u32));
        assert_eq!(scratch.take::<u32>().as_deref(), Some(&7));
        assert!(scratch.take::<u32>().is_none());
        scratch.keep(Box::new(7_u32));
        assert!(scratch.take::<u64>().is_none());
    }
}
