//! Single steps: the execution of one HALU instruction or one VP1 bundle, on register values from a JSON line.
//!
//! The line has `asm` or `words`, and `pre`, an object with the initial values of registers. The result is an object
//! with the values of all registers that were written. `halfbyte step --help` describes the names of the registers.

mod vp1;

use std::collections::HashMap;

use halfbyte_isa::halu::Inst;
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{Reader, SpecialReg, Write};
use halfbyte_isa::halu::meaning::{guard, meaning};
use halfbyte_runtime::native_effects;
use serde_json::{Value, json};

use crate::json::{self, LineError, Members};
use halfbyte::launch::Engine;

pub use vp1::step as vp1;

/// Returns the instruction words of a JSON line that has no `asm`.
fn words<W: TryFrom<u128>>(members: &Members) -> Result<Vec<W>, LineError> {
    let Some(Value::Array(words)) = members.get("words") else {
        return Err(LineError::new("there is neither `asm` nor a list `words`"));
    };
    let no_text = || LineError::new("`words` is not a list of strings");
    words.iter().map(|word| json::word(word.as_str().ok_or_else(no_text)?)).collect()
}

/// Returns the names and the initial values in the member `pre` of a JSON line.
fn pre(members: &Members) -> Result<impl Iterator<Item = (&String, &Value)>, LineError> {
    match members.get("pre") {
        None => Ok(None.into_iter().flatten()),
        Some(Value::Object(members)) => Ok(Some(members).into_iter().flatten()),
        Some(_) => Err(LineError::new("`pre` is not an object")),
    }
}

const NO_GPU: &str = "engine `cuda` does not support steps";

/// Executes the HALU instruction of a JSON line. Returns all registers that the instruction writes, with their values.
///
/// # Errors
/// Fails if the line has no valid instruction or initial values, if the instruction accesses memory, or if the engine
/// cannot execute single instructions.
pub fn halu(members: &Members, engine: Engine) -> Result<Members, LineError> {
    let inst = instruction(members)?;
    let mut state = State::read(members)?;
    let effects = match engine {
        Engine::Interp if guard(&inst, &mut Concrete, &mut state) == Some(false) => None,
        Engine::Interp => Some(meaning(&inst, &mut Concrete, &mut state)),
        Engine::Jit { .. } => native_effects(&inst, &mut state).map_err(LineError::new)?,
        Engine::Cuda => return Err(LineError::new(NO_GPU)),
    };
    let mut post = Members::new();
    let Some(effects) = effects else { return Ok(post) };
    if effects.access.is_some() {
        return Err(LineError::new("the instruction accesses memory, which a step does not have"));
    }
    for write in effects.writes {
        let (name, value) = match write {
            Write::Gpr(n, word) => (format!("R{n}"), json!(format!("{word:#010x}"))),
            Write::Ur(n, word) => (format!("UR{n}"), json!(format!("{word:#010x}"))),
            Write::Pred(n, truth) => (format!("P{n}"), json!(truth)),
        };
        post.insert(name, value);
    }
    Ok(post)
}

/// Returns the single HALU instruction of a JSON line.
fn instruction(members: &Members) -> Result<Inst, LineError> {
    if members.contains_key("asm") {
        return json::text(members, "asm")?.parse::<Inst>().map_err(LineError::new);
    }
    let [word] = words(members)?.try_into().map_err(|_| LineError::new("`words` is not a list of one word"))?;
    Inst::decode(word)
        .ok_or_else(|| LineError::new(format_args!("{} is not a valid instruction", json::word_text(word))))
}

/// The initial values from a JSON line. All other registers and constants are 0.
#[derive(Default)]
struct State {
    words: HashMap<Location, u32>,
    preds: [bool; 8],
}

#[derive(PartialEq, Eq, Hash)]
enum Location {
    Gpr(u8),
    Ur(u8),
    Constant(u8, u16),
}

impl State {
    fn read(members: &Members) -> Result<State, LineError> {
        let mut state = State::default();
        for (name, value) in pre(members)? {
            let number = |prefix: &str, below: u8| {
                let digits = name.strip_prefix(prefix)?;
                digits.parse::<u8>().ok().filter(|&n| n < below && n.to_string() == digits)
            };
            if let Some(pred) = number("P", 7) {
                let truth = value.as_bool().ok_or_else(|| LineError::new(format_args!("`{name}` is not a boolean")))?;
                state.preds[usize::from(pred % 8)] = truth;
                continue;
            }
            let location = number("R", 255).map(Location::Gpr).or(number("UR", 63).map(Location::Ur));
            let location = location
                .or_else(|| constant(name))
                .ok_or_else(|| LineError::new(format_args!("there is no location `{name}`")))?;
            let word = value.as_str().and_then(json::hexadecimal);
            let word = word.ok_or_else(|| {
                LineError::new(format_args!("`{name}` is not a string of 0x and 8 hexadecimal digits"))
            })?;
            state.words.insert(location, word);
        }
        Ok(state)
    }

    fn word(&self, location: &Location) -> u32 {
        self.words.get(location).copied().unwrap_or(0)
    }
}

/// Parses the name of a constant, such as `c[0x3][0x1a4]`.
fn constant(name: &str) -> Option<Location> {
    let (bank, offset) = name.strip_prefix("c[")?.strip_suffix(']')?.split_once("][")?;
    Some(Location::Constant(json::hexadecimal(bank)?, json::hexadecimal(offset)?))
}

impl Reader<Concrete> for State {
    fn gpr(&mut self, _: &mut Concrete, n: u8) -> u32 {
        self.word(&Location::Gpr(n))
    }
    fn ur(&mut self, _: &mut Concrete, n: u8) -> u32 {
        self.word(&Location::Ur(n))
    }
    fn pred(&mut self, _: &mut Concrete, n: u8) -> bool {
        self.preds[usize::from(n % 8)]
    }
    fn constant(&mut self, _: &mut Concrete, bank: u8, offset: u16) -> u32 {
        self.word(&Location::Constant(bank, offset))
    }
    fn special(&mut self, _: &mut Concrete, _: SpecialReg) -> u32 {
        // The number of the item: a single step always executes item 0.
        0
    }
}
