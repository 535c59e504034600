//! Comparison of buffer contents, bit for bit or within a tolerance.

use std::fmt;

use halfbyte_abi::Param;
use halfbyte_ir::eval::Evaluated;
use halfbyte_ir::{Elem, Type};

use crate::tolerance::Tolerance;
use halfbyte::args::print::{Sign, lane_value, lanes};

/// Source of a result for messages: a target with its engine, or the run line.
pub type Origin = String;

/// Maximum number of differing lanes that a message shows.
const SHOWN: usize = 8;

/// The difference between two contents of a buffer.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// The kernel's name, without `@`.
    pub kernel: String,
    /// The source of the expected bits.
    pub expected_of: Origin,
    /// The source of the bits that were found.
    pub found_of: Origin,
    /// `true` if the evaluator has run the launch, so that the item that writes each lane is known.
    pub is_evaluated: bool,
    /// The name of the buffer.
    pub buffer: String,
    /// The type of the buffer's elements.
    pub ty: Type,
    /// The signedness with which integers are printed.
    pub sign: Sign,
    /// The tolerance of the comparison; `None` for exact comparison.
    pub near: Option<Tolerance>,
    /// The first lane that differs.
    pub first: Lane,
    /// The differing lanes after the first, at most seven.
    pub next: Vec<Lane>,
    /// The number of differing lanes.
    pub lanes: usize,
    /// The number of differing elements.
    pub differing: usize,
    /// The number of elements in the buffer.
    pub elements: usize,
}

/// A lane of a buffer element whose bits differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lane {
    /// The index of the element in the buffer.
    pub element: usize,
    /// The index of the lane in the element; 0 for a scalar.
    pub lane: usize,
    /// The number of the item that last writes the lane on the evaluator, if any.
    pub item: Option<u32>,
    /// The expected bits.
    pub expected: u64,
    /// The bits that were found.
    pub found: u64,
}

/// Compares two contents of a parameter's buffer, which must have the same size. Returns `None` if
/// the contents are equal or within the tolerance. `writers` are the items that write the buffer, if known.
pub fn compare(
    kernel: &str,
    (number, param): (usize, &Param),
    (expected_of, expected): (&str, &[u8]),
    (found_of, found): (&str, &[u8]),
    near: Option<&Tolerance>,
    writers: Option<&Evaluated>,
) -> Option<Difference> {
    let (ty, size) = (param.ty(), param.ty().bytes() as usize);
    let elements = expected.chunks_exact(size).zip(found.chunks_exact(size)).enumerate();
    let (mut shown, mut differing, mut lanes_differing) = (Vec::new(), 0, 0);
    for (element, (expected, found)) in elements.filter(|(_, (expected, found))| expected != found) {
        let pairs = lanes(ty, expected).zip(lanes(ty, found)).enumerate();
        let differ =
            |(expected, found): (u64, u64)| expected != found && near.is_none_or(|near| !near.allows(expected, found));
        let mut pairs: Vec<_> = pairs.filter(|&(_, pair)| differ(pair)).collect();
        if pairs.is_empty() && near.is_some() {
            continue;
        }
        differing += 1;
        if pairs.is_empty() {
            // The elements are masks that differ only in the padding bits of their last byte.
            // Padding bits belong to no lane, so the whole byte is shown.
            let byte = |element: &[u8]| element.last().copied().unwrap_or(0).into();
            pairs.push((0, (byte(expected), byte(found))));
        }
        for (lane, (expected, found)) in pairs {
            lanes_differing += 1;
            if shown.len() < SHOWN {
                let byte = if ty.is_mask() { lane / 8 } else { lane * ty.elem().bits() as usize / 8 };
                let item = writers.and_then(|writers| writers.item(number, element * size + byte));
                shown.push(Lane { element, lane, item, expected, found });
            }
        }
    }
    let mut shown = shown.into_iter();
    let first = shown.next()?;
    Some(Difference {
        kernel: kernel.to_owned(),
        expected_of: expected_of.to_owned(),
        found_of: found_of.to_owned(),
        is_evaluated: writers.is_some(),
        buffer: param.name.clone(),
        ty,
        sign: Sign::Unsigned,
        near: near.cloned(),
        first,
        next: shown.collect(),
        lanes: lanes_differing,
        differing,
        elements: expected.len() / size,
    })
}

/// Returns the distance of two numbers in units in the last place. Returns `None` for a NaN, or for
/// a type that is not floating-point.
pub fn ulps(elem: Elem, a: u64, b: u64) -> Option<u64> {
    let infinity = match elem {
        Elem::F16 => 0x7c00,
        Elem::BF16 => 0x7f80,
        Elem::F32 => 0x7f80_0000,
        Elem::F64 => 0x7ff0_0000_0000_0000,
        Elem::E4M3 => 0x7e,
        Elem::E5M2 => 0x7c,
        _ => return None,
    };
    let magnitude = elem.mask() >> 1;
    let place = |bits: u64| {
        let distance = (bits & magnitude) as i64;
        (bits & magnitude <= infinity).then_some(if bits > magnitude { -distance } else { distance })
    };
    Some(place(a)?.abs_diff(place(b)?))
}

impl Difference {
    /// Returns the difference with its integers printed as signed or unsigned.
    #[must_use]
    pub fn with(self, sign: Sign) -> Difference {
        Difference { sign, ..self }
    }

    /// Returns the position of a lane as text: the buffer with the element's index, and the lane's
    /// index if the element has several lanes.
    pub fn place(&self, lane: &Lane) -> String {
        let Difference { buffer, ty, .. } = self;
        let Lane { element, lane, .. } = lane;
        if ty.is_scalar() { format!("{buffer}[{element}]") } else { format!("{buffer}[{element}] lane {lane}") }
    }

    /// Returns the value of a lane with its bits, such as `1.5 (0x3e00)`.
    pub fn number(&self, bits: u64) -> String {
        let elem = self.ty.elem();
        let (value, digits) = (lane_value(elem, bits, self.sign), elem.bits().div_ceil(4) as usize);
        // For an address and for a NaN with a payload, `lane_value` returns only the bits.
        let value = if elem == Elem::Ptr || !value.starts_with("0x") { value } else { "nan".into() };
        format!("{value} ({bits:#0width$x})", width = digits + 2)
    }

    fn apart(&self, lane: &Lane) -> String {
        let mut apart = match ulps(self.ty.elem(), lane.expected, lane.found) {
            Some(1) => ", 1 ulp apart".into(),
            Some(ulps) => format!(", {ulps} ulps apart"),
            None => String::new(),
        };
        if let Some(distance) = self.distance(lane) {
            apart += &format!(", off by {distance:.3e}");
        }
        apart
    }

    /// Returns the distance between the expected and the found value of a lane. Returns `None` for an exact comparison.
    pub fn distance(&self, lane: &Lane) -> Option<f64> {
        self.near.as_ref()?.distance(lane.expected, lane.found)
    }

    /// Returns one line of text for each shown lane after the first, and a line with the number of
    /// lanes that are not shown.
    pub fn notes(&self) -> Vec<String> {
        let line = |lane: &Lane| {
            let (expected, found) = (self.number(lane.expected), self.number(lane.found));
            format!("{}: expected {expected}, found {found}{}", self.place(lane), self.apart(lane))
        };
        let mut notes: Vec<String> = self.next.iter().map(line).collect();
        let more = self.lanes - 1 - self.next.len();
        if more > 0 {
            notes.push(format!("and {more} more"));
        }
        notes
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { kernel, expected_of, found_of, first, differing, elements, .. } = self;
        write!(f, "@{kernel} on {found_of}: {}", self.place(first))?;
        match first.item {
            Some(item) => write!(f, ", written by item {item}")?,
            None if self.is_evaluated => write!(f, ", written by no item")?,
            None => {}
        }
        let (expected, found) = (self.number(first.expected), self.number(first.found));
        write!(f, ", expected {expected} by {expected_of}, found {found}{}; ", self.apart(first))?;
        if let Some(near) = &self.near {
            write!(f, "outside {}; ", near.description)?;
        }
        write!(f, "{differing} of {elements} elements differ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ulps_count_numbers() {
        for (elem, a, b, apart) in [
            (Elem::F16, 0x3c00, 0x3c01, Some(1)),
            (Elem::F16, 0x0000, 0x8000, Some(0)),
            (Elem::F16, 0x0001, 0x8001, Some(2)),
            (Elem::F16, 0x7bff, 0x7c00, Some(1)),
            (Elem::F16, 0x7c01, 0x3c00, None),
            (Elem::BF16, 0x7f80, 0xff80, Some(0xff00)),
            (Elem::F32, 0x3f80_0000, 0x3f7f_ffff, Some(1)),
            (Elem::F64, 1, 1 << 63, Some(1)),
            (Elem::F64, 0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000, Some(0xffe0_0000_0000_0000)),
            (Elem::I8, 1, 2, None),
        ] {
            assert_eq!(ulps(elem, a, b), apart, "{elem:?} {a:#x} {b:#x}");
            assert_eq!(ulps(elem, b, a), apart);
        }
    }
}
