//! `halfbyte run --trace` on PTX that is executed directly: prints the instructions that one thread executes.

use std::fmt::Write as _;
use std::io::{BufWriter, Stdout, Write, stdout};
use std::sync::{Mutex, PoisonError};

use halfbyte::args::print::{Sign, lane_value};
use halfbyte::ir::Elem;
use halfbyte::isa::ptx::types::{Type, TypeKind};
use halfbyte::runtime::Space;
use halfbyte::runtime::ptx::{Accessed, Outcome, RegisterValue, Step};

/// Width of the column with the instructions.
const INSTRUCTION: usize = 40;

/// Printer of the steps of a thread.
pub(super) struct StepPrinter {
    /// Signedness with which untyped integers are printed.
    sign: Sign,
    out: Mutex<BufWriter<Stdout>>,
}

impl StepPrinter {
    pub(super) fn new(sign: Sign) -> StepPrinter {
        StepPrinter { sign, out: Mutex::new(BufWriter::new(stdout())) }
    }

    /// Prints a step. The reader may have closed the pipe, so errors of writing are ignored.
    pub(super) fn print(&self, step: &Step) {
        let place = format!("{}:{}", step.loc.line, step.loc.column);
        let instruction = format!("{}{}", "  ".repeat(step.depth), step.instruction);
        let line = format!("{place:<7} {instruction:<INSTRUCTION$}  {}", self.effects(step));
        let _ = writeln!(self.out.lock().unwrap_or_else(PoisonError::into_inner), "{}", line.trim_end());
    }

    /// Ends the trace with an empty line.
    pub(super) fn end(&self) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(out).and_then(|()| out.flush());
    }

    /// Describes what an instruction has done.
    fn effects(&self, Step { guard, outcome, writes, accesses, .. }: &Step) -> String {
        let because =
            guard.as_ref().map_or_else(String::new, |(name, value)| format!(": {name} = {}", u8::from(*value)));
        match outcome {
            Outcome::Next => self.values(writes, accesses),
            Outcome::Skipped => format!("skipped{because}"),
            Outcome::Branch(to) if to.is_known() => format!("goes to line {}{because}", to.line),
            Outcome::Branch(_) => format!("goes to the end{because}"),
            Outcome::Call(name) => format!("calls {name}{because}"),
            Outcome::Return(to) => format!("returns to line {}{because}", to.line),
            Outcome::Wait => "waits for other threads".to_owned(),
            Outcome::End => "ends".to_owned(),
            Outcome::Trap => "traps".to_owned(),
        }
    }

    /// Formats the registers that an instruction has written, and its accesses.
    fn values(&self, writes: &[RegisterValue], accesses: &[Accessed]) -> String {
        let mut text = String::new();
        let mut rest = writes;
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            let comma = if text.is_empty() { "" } else { ", " };
            // The two halves of a 128-bit register have one name.
            let high = after.first().filter(|high| high.name == first.name);
            let value = match (high, &first.target) {
                (Some(high), _) => {
                    rest = after.get(1..).unwrap_or_default();
                    format!("{:#034x}", u128::from(high.bits) << 64 | u128::from(first.bits))
                }
                (None, Some((buffer, offset))) => format!("&{buffer}+{offset} ({:#018x})", first.bits),
                (None, None) => value(first.ty, first.bits, self.sign),
            };
            let _ = write!(text, "{comma}{} = {value}", first.name);
        }
        for access in accesses.iter().filter(|access| access.reads && !access.writes) {
            let _ = write!(text, "  from {}", location(access));
        }
        for access in accesses.iter().filter(|access| access.writes) {
            let comma = if text.is_empty() { "" } else { ", " };
            let elements: Vec<String> = access.elements.iter().map(|&(ty, bits)| value(ty, bits, self.sign)).collect();
            let stored = match elements.as_slice() {
                [one] => one.clone(),
                all => format!("[{}]", all.join(", ")),
            };
            let _ = write!(text, "{comma}{} = {stored}", location(access));
        }
        text
    }
}

/// Formats the location of an access: a byte of a buffer or parameter, or an address in a memory space.
fn location(Accessed { space, address, place, .. }: &Accessed) -> String {
    let plus = |name: &str, offset: u64| if offset == 0 { name.to_owned() } else { format!("{name}+{offset}") };
    match (space, place) {
        (Space::Constant(_), Some((param, offset))) => format!("parameter {}", plus(param, *offset)),
        (_, Some((buffer, offset))) => format!("{buffer}+{offset} at {address:#x}"),
        (space, None) => format!("{space} {address:#x}"),
    }
}

/// Formats a value as the numbers of its lanes, and its bits.
fn value(ty: Type, bits: u64, sign: Sign) -> String {
    let integer = |bits: u32| match bits {
        8 => Elem::I8,
        16 => Elem::I16,
        32 => Elem::I32,
        _ => Elem::I64,
    };
    let (elem, lanes) = match ty {
        Type::Pred => return bits.to_string(),
        Type::F16 => (Elem::F16, 1),
        Type::F16x2 => (Elem::F16, 2),
        Type::Bf16 => (Elem::BF16, 1),
        Type::Bf16x2 => (Elem::BF16, 2),
        Type::F32 | Type::Tf32 => (Elem::F32, 1),
        Type::F32x2 => (Elem::F32, 2),
        Type::F64 => (Elem::F64, 1),
        Type::E4m3 => (Elem::E4M3, 1),
        Type::E4m3x2 => (Elem::E4M3, 2),
        Type::E4m3x4 => (Elem::E4M3, 4),
        Type::E5m2 => (Elem::E5M2, 1),
        Type::E5m2x2 => (Elem::E5M2, 2),
        Type::E5m2x4 => (Elem::E5M2, 4),
        Type::U16x2 | Type::S16x2 => (Elem::I16, 2),
        Type::U8x4 | Type::S8x4 => (Elem::I8, 4),
        ty => (integer(ty.bits()), 1),
    };
    let sign = if ty.kind() == TypeKind::Bits { sign } else { Sign::signed(ty.is_signed()) };
    let width = elem.bits();
    let mask = u64::MAX >> (64 - width.clamp(1, 64));
    let numbers = (0..lanes).map(|lane| lane_value(elem, bits >> (lane * width) & mask, sign));
    let numbers: Vec<String> = numbers.collect();
    let shown = match numbers.as_slice() {
        [one] => one.clone(),
        all => format!("[{}]", all.join(", ")),
    };
    let digits = 2 + ty.bits().div_ceil(4) as usize;
    format!("{shown} ({bits:#0digits$x})")
}
