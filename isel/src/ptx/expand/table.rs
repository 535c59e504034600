//! Table of sequences: `rules/ptx/video`, with one file per operation.
//!
//! A line such as `vmin2.*.u32.s32, vmin2.*.s32.u32(b, a) @ sm_90:` names the forms that the
//! following lines implement, and the minimum SM. `*` is either type, and `(b, a)` means that the
//! form's operands are swapped. The following lines are PTX: `a`, `b` and `c` are the operands, `d`
//! is the result, and other names are temporaries. A type `.A`, `.B` or `.D` is that of `a`, `b` or
//! `d`, with 32 bits or with the given suffix: `.A16x2` is `.u16x2` or `.s16x2`.

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

/// Registers of every sequence, in this order; temporaries come last.
const REGISTERS: &str = "d, a, b, c, zero, k0, k1, t<16>";

/// Result register of a sequence.
pub const D: Reg = Reg(0);
/// Operand registers of a sequence.
pub const OPERANDS: [Reg; 3] = [Reg(1), Reg(2), Reg(3)];

/// Error in the table of sequences.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// Malformed line of forms.
    #[error("{0}.seq:{1}: expected forms, `@ sm_NN` where not all machines have it, and `:`")]
    Forms(&'static str, usize),
    /// Instructions without a preceding line of forms.
    #[error("{0}.seq:{1}: instructions of no form")]
    Homeless(&'static str, usize),
    /// Instructions that are not valid PTX.
    #[error("{0}.seq:{1}: {2}")]
    Instructions(&'static str, usize, String),
    /// Form without a sequence.
    #[error("{0} has no sequence")]
    Missing(String),
}

/// Sequence of one form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sequence {
    /// Instructions on [`OPERANDS`], [`D`], and 32-bit temporaries.
    pub insts: Vec<Inst>,
    /// Minimum SM version.
    pub sm: u16,
    /// Position in the table, such as `vadd2.seq:12`.
    pub place: String,
}

/// Forms, and the instructions that implement them.
struct Block {
    file: &'static str,
    line: usize,
    patterns: Vec<Pattern>,
    sm: u16,
    body: String,
}

/// Pattern of forms, such as `vmin2.*.u32.s32(b, a)`.
struct Pattern {
    opcode: Opcode,
    types: [Option<Type>; 3],
    merge: Option<Token>,
    exchanged: bool,
}

/// Parsed files. Each file is parsed when a form of its operation is first requested.
static TABLE: [OnceLock<Result<Vec<Block>, TableError>>; FILES.len()] = [const { OnceLock::new() }; FILES.len()];

/// Sequences by form and SM.
type Sequences = FxHashMap<(VideoForm, u16), Arc<Sequence>>;

/// Cache of the requested sequences.
static CACHE: LazyLock<RwLock<Sequences>> = LazyLock::new(RwLock::default);

/// Returns the sequence of a form for an SM.
///
/// # Errors
/// Fails if the table is malformed, which tests rule out.
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

/// Returns the lines of a sequence as in the table.
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
    // Forms may span several lines.
    let mut forms = String::new();
    for (number, line) in text.lines().enumerate() {
        let line_number = number + 1;
        match line.trim() {
            "" => {}
            comment if comment.starts_with("//") => {}
            instruction if line.starts_with(' ') => {
                let block =
                    blocks.last_mut().filter(|_| forms.is_empty()).ok_or(TableError::Homeless(file, line_number))?;
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

/// Parses a line of forms and its minimum SM.
fn patterns(line: &str) -> Option<(Vec<Pattern>, u16)> {
    let (forms, sm) = match line.split_once(" @ sm_") {
        Some((forms, sm)) => (forms, sm.parse().ok()?),
        None => (line, 75),
    };
    // The comma of `(b, a)` does not separate forms.
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
    /// Returns the sequence for a form that matches a pattern of the block.
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

/// Replaces the type names of operands by their types.
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
