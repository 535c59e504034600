//! Table of instruction sequences for video instructions: `rules/ptx/video`, one file per opcode.
//!
//! A line such as `vmin2.*.u32.s32, vmin2.*.s32.u32(b, a) @ sm_90:` lists the video instructions
//! that the following lines implement, and the minimum SM version. `*` is either type. `(b, a)`
//! means that the operands are swapped. The following lines are PTX: `a`, `b` and `c` are the
//! operands, `d` is the result, and other names are temporaries. A type `.A`, `.B` or `.D` is that
//! of `a`, `b` or `d`, with 32 bits or with the given suffix: `.A16x2` is `.u16x2` or `.s16x2`.

use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};

use halfbyte_isa::ptx::module::Entry;
use halfbyte_isa::ptx::text;
use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Reg};
use rustc_hash::FxHashMap;
use thiserror::Error;

use super::form::VideoForm;

const FILES: &[(&str, &str)] = &[
    ("vadd2", include_str!("../../../rules/ptx/video/vadd2.seq")),
    ("vsub2", include_str!("../../../rules/ptx/video/vsub2.seq")),
    ("vavrg2", include_str!("../../../rules/ptx/video/vavrg2.seq")),
    ("vabsdiff2", include_str!("../../../rules/ptx/video/vabsdiff2.seq")),
    ("vmin2", include_str!("../../../rules/ptx/video/vmin2.seq")),
    ("vmax2", include_str!("../../../rules/ptx/video/vmax2.seq")),
    ("vadd4", include_str!("../../../rules/ptx/video/vadd4.seq")),
    ("vsub4", include_str!("../../../rules/ptx/video/vsub4.seq")),
    ("vavrg4", include_str!("../../../rules/ptx/video/vavrg4.seq")),
    ("vabsdiff4", include_str!("../../../rules/ptx/video/vabsdiff4.seq")),
    ("vmin4", include_str!("../../../rules/ptx/video/vmin4.seq")),
    ("vmax4", include_str!("../../../rules/ptx/video/vmax4.seq")),
];

/// Declaration of the registers of every sequence, in this order. Temporaries come last.
const REGISTERS: &str = "d, a, b, c, zero, k0, k1, t<16>";

/// Result register of a sequence.
pub const D: Reg = Reg(0);
/// Operand registers of a sequence.
pub const OPERANDS: [Reg; 3] = [Reg(1), Reg(2), Reg(3)];

/// Error in the table of sequences.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// Malformed line of video instructions: file and line number.
    #[error("{0}.seq:{1}: expected video instructions, an optional minimum SM version `@ sm_NN`, and `:`")]
    Forms(&'static str, usize),
    /// Instructions without a preceding line of video instructions: file and line number.
    #[error("{0}.seq:{1}: instructions without a preceding line of video instructions")]
    WithoutVideoInstructions(&'static str, usize),
    /// Instructions that are not valid PTX: file, line number and message.
    #[error("{0}.seq:{1}: {2}")]
    Instructions(&'static str, usize, String),
    /// Video instruction for which the table has no sequence.
    #[error("{0} has no sequence")]
    Missing(String),
}

/// Instructions that implement one video instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sequence {
    /// Instructions on the registers [`OPERANDS`] and [`D`], and on 32-bit temporaries.
    pub insts: Vec<Inst>,
    /// Minimum SM version that supports the instructions.
    pub sm: u16,
    /// File and line of the sequence, such as `vadd2.seq:12`.
    pub place: String,
}

/// Entry of the table: several video instructions, and the PTX lines that implement them.
struct Block {
    file: &'static str,
    line: usize,
    patterns: Vec<Pattern>,
    sm: u16,
    body: String,
}

/// Pattern of video instructions, such as `vmin2.*.u32.s32(b, a)`.
struct Pattern {
    opcode: Opcode,
    types: [Option<Type>; 3],
    merge: Option<Token>,
    exchanged: bool,
}

/// Parsed files of the table. Each file is parsed when a sequence of its opcode is first requested.
static TABLE: [OnceLock<Result<Vec<Block>, TableError>>; FILES.len()] = [const { OnceLock::new() }; FILES.len()];

/// Sequences by video instruction and SM version.
type Sequences = FxHashMap<(VideoForm, u16), Arc<Sequence>>;

/// Cache of the sequences that were requested.
static CACHE: LazyLock<RwLock<Sequences>> = LazyLock::new(RwLock::default);

/// Returns the sequence that implements a video instruction on an SM version.
///
/// # Errors
/// Fails if the table is malformed. Tests check that the table is valid.
pub fn sequence(form: VideoForm, sm: u16) -> Result<Arc<Sequence>, TableError> {
    let asked = CACHE.read().unwrap_or_else(PoisonError::into_inner).get(&(form, sm)).cloned();
    if let Some(sequence) = asked {
        return Ok(sequence);
    }
    let sequence = Arc::new(find(form, sm)?);
    CACHE.write().unwrap_or_else(PoisonError::into_inner).insert((form, sm), sequence.clone());
    Ok(sequence)
}

fn find(form: VideoForm, sm: u16) -> Result<Sequence, TableError> {
    let missing = || TableError::Missing(form.to_string());
    let mut files = FILES.iter().zip(&TABLE);
    let held = files.find(|((file, _), _)| *file == form.opcode.row().mnemonic);
    let (&(file, text), held) = held.ok_or_else(missing)?;
    let blocks = held.get_or_init(|| read(file, text)).as_ref().map_err(Clone::clone)?;
    let chosen = blocks
        .iter()
        .filter(|block| block.sm <= sm)
        .filter_map(|block| Some((block, block.patterns.iter().find(|pattern| pattern.admits(form))?)))
        .max_by_key(|(block, _)| block.sm);
    let (block, pattern) = chosen.ok_or_else(missing)?;
    block.sequence(pattern, form)
}

/// Assembles the instructions of a sequence, whose types are written in full.
///
/// # Errors
/// Returns a message if the instructions are invalid.
pub fn assemble(body: &str) -> Result<Vec<Inst>, String> {
    Ok(entry(body)?.body.insts)
}

/// Returns the instructions of a sequence as PTX lines with the register names of the table.
///
/// # Errors
/// Never fails in practice, because the table's register names are valid PTX.
pub fn lines(insts: &[Inst]) -> Result<Vec<String>, String> {
    let names = entry("")?;
    Ok(insts.iter().map(|inst| text::inst_text(inst, &names)).collect())
}

fn entry(body: &str) -> Result<Entry, String> {
    let module =
        format!(".version 9.2\n.target sm_120f\n.address_size 64\n.entry s() {{\n.reg .b32 {REGISTERS};\n{body}\n}}\n");
    let read = text::read(&module)
        .map_err(|errors| errors.iter().map(|error| error.kind.to_string()).collect::<Vec<_>>().join("; "))?;
    read.module.entries.into_iter().next().ok_or_else(String::new)
}

fn read(file: &'static str, text: &str) -> Result<Vec<Block>, TableError> {
    let mut blocks: Vec<Block> = Vec::new();
    // A list of video instructions may span several lines.
    let mut forms = String::new();
    for (number, line) in text.lines().enumerate() {
        let line_number = number + 1;
        match line.trim() {
            "" => {}
            comment if comment.starts_with("//") => {}
            instruction if line.starts_with(' ') => {
                let block = blocks
                    .last_mut()
                    .filter(|_| forms.is_empty())
                    .ok_or(TableError::WithoutVideoInstructions(file, line_number))?;
                block.body.push_str(instruction);
                block.body.push('\n');
            }
            part => {
                if !forms.is_empty() {
                    forms.push(' ');
                }
                forms.push_str(part);
                if let Some(all) = forms.strip_suffix(':') {
                    let (patterns, sm) = patterns(all).ok_or(TableError::Forms(file, line_number))?;
                    blocks.push(Block { file, line: line_number, patterns, sm, body: String::new() });
                    forms.clear();
                }
            }
        }
    }
    if forms.is_empty() { Ok(blocks) } else { Err(TableError::Forms(file, text.lines().count())) }
}

/// Parses a line of video instructions, and returns their patterns and the minimum SM version.
fn patterns(line: &str) -> Option<(Vec<Pattern>, u16)> {
    let (forms, sm) = match line.split_once(" @ sm_") {
        Some((forms, sm)) => (forms, sm.parse().ok()?),
        None => (line, 75),
    };
    // The comma of `(b, a)` does not separate patterns.
    let forms = forms.split(',').filter(|part| part.trim() != "a)");
    Some((forms.map(|form| Pattern::read(form.trim())).collect::<Option<_>>()?, sm))
}

impl Pattern {
    fn read(text: &str) -> Option<Pattern> {
        let (name, exchanged) = text.strip_suffix("(b").map_or((text, false), |name| (name, true));
        let mut words = name.split('.');
        let mnemonic = words.next()?;
        let opcode = Opcode::ALL.iter().copied().find(|opcode| opcode.row().mnemonic == mnemonic)?;
        let mut ty = || match words.next()? {
            "*" => Some(None),
            name => Type::from_name(name).map(Some),
        };
        let types = [ty()?, ty()?, ty()?];
        let merge = match words.next() {
            None => None,
            Some(word) => Some(Token::from_text(word).filter(|t| matches!(t, Token::Sat | Token::Add))?),
        };
        Some(Pattern { opcode, types, merge, exchanged })
    }

    fn admits(&self, form: VideoForm) -> bool {
        let types = self.types.iter().zip(form.types);
        self.opcode == form.opcode
            && self.merge == form.merge
            && types.into_iter().all(|(&wanted, ty)| wanted.is_none_or(|wanted| wanted == ty))
    }
}

impl Block {
    /// Returns the sequence of this entry for a video instruction that matches `pattern`.
    fn sequence(&self, pattern: &Pattern, form: VideoForm) -> Result<Sequence, TableError> {
        let [d, mut a, mut b] = form.types;
        if pattern.exchanged {
            (a, b) = (b, a);
        }
        let body = typed(&self.body, |name| match name {
            'D' => Some(d),
            'A' => Some(a),
            'B' => Some(b),
            _ => None,
        });
        let mut insts = assemble(&body).map_err(|what| TableError::Instructions(self.file, self.line, what))?;
        if pattern.exchanged {
            let [a, b, _] = OPERANDS;
            let exchange = |reg| {
                if reg == a {
                    b
                } else if reg == b {
                    a
                } else {
                    reg
                }
            };
            insts.iter_mut().for_each(|inst| inst.rename(|_, reg| exchange(reg)));
        }
        Ok(Sequence { insts, sm: self.sm, place: format!("{}.seq:{}", self.file, self.line) })
    }
}

/// Replaces the types `.A`, `.B` and `.D` in PTX lines by the types of the operands.
fn typed(body: &str, ty: impl Fn(char) -> Option<Type>) -> String {
    let mut text = String::with_capacity(body.len() + 32);
    let mut rest = body;
    while let Some((before, after)) = rest.split_once('.') {
        text.push_str(before);
        text.push('.');
        rest = after;
        let mut letters = after.chars();
        if let Some(ty) = letters.next().and_then(&ty) {
            text.push(if ty.is_signed() { 's' } else { 'u' });
            rest = letters.as_str();
            if !rest.starts_with(|c: char| c.is_ascii_digit()) {
                text.push_str("32");
            }
        }
    }
    text.push_str(rest);
    text
}
