//! Results are compared bit for bit.

use std::fmt;

use halfbyte_abi::Param;
use halfbyte_ir::Type;
use halfbyte_ir::eval::Writers;

use crate::values::element_bits;

/// Who computed a result, or where it is written down.
pub type Origin = String;

/// The first element in which two results differ, and how many there are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The kernel, without `@`.
    pub kernel: String,
    /// Whose bits are expected.
    pub expected_of: Origin,
    /// Whose bits were found.
    pub found_of: Origin,
    /// The buffer.
    pub buffer: String,
    /// The type of its elements.
    pub ty: Type,
    /// The element's number.
    pub element: usize,
    /// The item that writes the element on `ir`; none where no item does.
    pub item: Option<u32>,
    /// The element's bytes as expected.
    pub expected: Vec<u8>,
    /// The element's bytes as found.
    pub found: Vec<u8>,
    /// How many elements of the buffer differ.
    pub differing: usize,
    /// How many elements the buffer has.
    pub elements: usize,
}

/// Where two contents of a parameter's buffer of one size first differ.
pub fn compare(
    kernel: &str,
    (number, param): (usize, &Param),
    (expected_of, expected): (&str, &[u8]),
    (found_of, found): (&str, &[u8]),
    writers: &Writers,
) -> Option<Difference> {
    let size = param.ty().bytes() as usize;
    let elements = expected.chunks_exact(size).zip(found.chunks_exact(size)).enumerate();
    let mut differing = elements.filter(|(_, (expected, found))| expected != found);
    let (element, (expected_bytes, found_bytes)) = differing.next()?;
    let first = expected_bytes.iter().zip(found_bytes).position(|(expected, found)| expected != found)?;
    Some(Difference {
        kernel: kernel.to_owned(),
        expected_of: expected_of.to_owned(),
        found_of: found_of.to_owned(),
        buffer: param.name.clone(),
        ty: param.ty(),
        element,
        item: writers.item(number, element * size + first),
        expected: expected_bytes.to_vec(),
        found: found_bytes.to_vec(),
        differing: 1 + differing.count(),
        elements: expected.len() / size,
    })
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { kernel, expected_of, found_of, buffer, element, differing, elements, .. } = self;
        write!(f, "@{kernel} on {found_of}: {buffer}[{element}], written by ")?;
        match self.item {
            Some(item) => write!(f, "item {item}")?,
            None => write!(f, "no item")?,
        }
        let expected = element_bits(self.ty, &self.expected);
        let found = element_bits(self.ty, &self.found);
        write!(f, ", expected {expected} by {expected_of}, found {found}; ")?;
        write!(f, "{differing} of {elements} elements differ")
    }
}
