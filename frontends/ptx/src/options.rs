//! Options and limits of an import, and the conversion of positions in a PTX text to spans.

use std::cell::OnceCell;

use halfbyte_ir::Span;
use halfbyte_isa::object::Loc;
pub use halfbyte_isa::ptx::names::ir_name;

/// Maximum number of work items in a launch of an imported kernel. The import proves that indices
/// do not wrap in launches of up to this size.
pub const MAX_ITEMS: u32 = 1 << 26;

/// Maximum number of threads per block.
pub const MAX_BLOCK: u32 = 1024;

/// Shape of the launches of a kernel, as far as it is known. A thread is a work item, and a block
/// is a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// Number of blocks along x, y and z.
    pub grid: Option<[u32; 3]>,
    /// Number of threads per block along x, y and z.
    pub block: Option<[u32; 3]>,
}

/// Options of an import.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Shape of the kernels' launches.
    pub shape: Shape,
    /// Marks every buffer as `may_alias`, for pointers that may overlap.
    pub may_alias: bool,
    /// Imports an arithmetic instruction without a corresponding op as a PTX intrinsic, which only
    /// PTX targets accept. Otherwise the instruction is expanded to several ops.
    pub keep: bool,
    /// Fuses the products and sums that PTX permits the assembler to fuse. Otherwise the product
    /// and the sum are both rounded, as in direct execution of the PTX. If the kernel is compiled
    /// back to PTX, the assembler decides whether to fuse them.
    pub contract: bool,
}

impl From<Shape> for Options {
    fn from(shape: Shape) -> Options {
        Options { shape, ..Options::default() }
    }
}

impl Shape {
    /// Returns `true` if all work items are known to lie along the x axis.
    pub(crate) fn is_along_x(self) -> bool {
        [self.grid, self.block].iter().all(|counts| matches!(counts, Some([_, 1, 1])))
    }
}

/// Map from lines and columns of a text to byte positions.
pub(crate) struct LineMap<'t> {
    text: &'t str,
    /// Byte offset of the start of each line, computed on first use.
    lines: OnceCell<Vec<usize>>,
}

impl<'t> LineMap<'t> {
    pub(crate) fn new(text: &'t str) -> LineMap<'t> {
        LineMap { text, lines: OnceCell::new() }
    }

    fn lines(&self) -> &[usize] {
        self.lines.get_or_init(|| {
            let breaks = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(breaks).collect()
        })
    }

    /// Returns the byte position of `at`, and the text from there to the end of the instruction or of the line.
    fn rest_of_line(&self, at: Loc) -> (usize, &'t str) {
        let line = self.lines().get((at.line as usize).saturating_sub(1)).copied().unwrap_or(self.text.len());
        let start = (line + (at.column as usize).saturating_sub(1)).min(self.text.len());
        let rest = self.text.get(start..).unwrap_or_default();
        let end = rest.find([';', '\n']).unwrap_or(rest.len());
        (start, rest.get(..end).map_or("", str::trim_end))
    }

    /// Returns the span from `at` to the end of the instruction or of the line.
    pub(crate) fn span(&self, at: Loc) -> Span {
        let (start, rest) = self.rest_of_line(at);
        Span { start: start as u32, end: (start + rest.len()) as u32 }
    }

    /// Returns the span of the name, modifier, number or other token at `at`. An operand in brackets or braces is one
    /// token.
    pub(crate) fn token(&self, at: Loc) -> Span {
        let (start, rest) = self.rest_of_line(at);
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | ':');
        let until = |close: char| rest.find(close).map_or(rest.len(), |end| end + 1);
        let mut chars = rest.chars();
        let length = match chars.next() {
            None => 0,
            Some('{') => until('}'),
            Some('[') => until(']'),
            Some('.') => rest.len() - chars.as_str().trim_start_matches(is_name).len(),
            Some(digit) if digit.is_ascii_digit() => rest.find(|c| !is_name(c) && c != '.').unwrap_or(rest.len()),
            Some(first) if is_name(first) => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
            Some(first) => first.len_utf8(),
        };
        Span { start: start as u32, end: (start + length) as u32 }
    }
}
