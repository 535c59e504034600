//! `halfbyte step`

mod vp1;

use std::collections::HashMap;
use std::path::PathBuf;

use halfbyte::isa::halu::Inst;
use halfbyte::isa::halu::concrete::Concrete;
use halfbyte::isa::halu::domain::{Reader, SpecialReg, Write};
use halfbyte::isa::halu::meaning::{guard, meaning};
use halfbyte::launch::Engine;
use halfbyte::runtime::native_effects;
use serde_json::{Value, json};

use super::json::{self, Members};
use super::{Done, EngineName, Machine};

/// Executes single instructions, on VP1 bundles, on given registers
///
/// Lines {"asm" or "words", "pre"} become {"post"} or {"error"}. "pre" and "post" name locations; "post" holds
/// those that are written.
///
/// HALU: R0, UR5 and c[0x3][0x1a4] are 32 bits in hexadecimal, P0 is a boolean. What "pre" does not name is 0.
///
/// VP1: objects "r", "a", "m", "x", "vc" (8 digits), "c", "l" (4) and "v" (32, component 0 first) by register
/// numbers, "ds" (2) by three digits of the row and one of the bank, "vx" (32), "va", a list of 16 integers, and
/// "uc", a number, which is $uccfg. Digits are hexadecimal. What "pre" does not name is as after reset: 0, each
/// "c" 8000.
#[derive(clap::Args)]
pub(super) struct Step {
    /// The machine
    #[arg(long, value_enum)]
    target: Machine,
    /// What executes
    #[arg(long, value_enum, default_value = "interp")]
    engine: EngineName,
    /// Answer JSON lines, the only form there is
    #[arg(long, required = true)]
    json: bool,
    /// The lines; - is standard input
    #[arg(default_value = "-")]
    file: PathBuf,
}

impl Step {
    pub(super) fn run(self) -> Done {
        let engine = self.engine.engine();
        json::answer(&self.file, |members| {
            let post = match self.target {
                Machine::Halu => step(members, engine)?,
                Machine::Vp1 => vp1::step(members, engine)?,
            };
            Ok(json!({ "post": post }))
        })
    }
}

/// The words of a line that has them instead of `asm`.
fn words<W: TryFrom<u128>>(members: &Members) -> Result<Vec<W>, String> {
    let Some(Value::Array(words)) = members.get("words") else {
        return Err("there is neither `asm` nor a list `words`".into());
    };
    words.iter().map(|word| json::word(word.as_str().ok_or("`words` is not a list of strings")?)).collect()
}

/// The locations that a line gives.
fn pre(members: &Members) -> Result<impl Iterator<Item = (&String, &Value)>, String> {
    match members.get("pre") {
        None => Ok(None.into_iter().flatten()),
        Some(Value::Object(members)) => Ok(Some(members).into_iter().flatten()),
        Some(_) => Err("`pre` is not an object".into()),
    }
}

const NO_GPU: &str = "engine `cuda` has no steps";

/// Executes the HALU instruction of a line: all places that it writes.
fn step(members: &Members, engine: Engine) -> Result<Members, String> {
    let inst = instruction(members)?;
    let mut state = State::read(members)?;
    let effects = match engine {
        Engine::Interp if guard(&inst, &mut Concrete, &mut state) == Some(false) => None,
        Engine::Interp => Some(meaning(&inst, &mut Concrete, &mut state)),
        Engine::Jit { .. } => native_effects(&inst, &mut state).map_err(|error| error.to_string())?,
        Engine::Cuda => return Err(NO_GPU.into()),
    };
    let mut post = Members::new();
    let Some(effects) = effects else { return Ok(post) };
    if effects.access.is_some() {
        return Err("the instruction reaches memory, of which a step has none".into());
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

/// The one instruction of a line.
fn instruction(members: &Members) -> Result<Inst, String> {
    if members.contains_key("asm") {
        return json::text(members, "asm")?.parse::<Inst>().map_err(|error| error.to_string());
    }
    let [word] = words(members)?.try_into().map_err(|_| "`words` is not a list of one word")?;
    Inst::decode(word).ok_or_else(|| format!("{} is no instruction", json::word_text(word)))
}

/// The locations that a line names; all others are 0.
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
    fn read(members: &Members) -> Result<State, String> {
        let mut state = State::default();
        for (name, value) in pre(members)? {
            let number = |prefix: &str, below: u8| {
                let digits = name.strip_prefix(prefix)?;
                digits.parse::<u8>().ok().filter(|&n| n < below && n.to_string() == digits)
            };
            if let Some(pred) = number("P", 7) {
                let truth = value.as_bool().ok_or_else(|| format!("`{name}` is not a boolean"))?;
                state.preds[usize::from(pred % 8)] = truth;
                continue;
            }
            let location = number("R", 255).map(Location::Gpr).or(number("UR", 63).map(Location::Ur));
            let location =
                location.or_else(|| constant(name)).ok_or_else(|| format!("there is no location `{name}`"))?;
            let word = value.as_str().and_then(json::hexadecimal);
            let word = word.ok_or_else(|| format!("`{name}` is not a string of 0x and 8 hexadecimal digits"))?;
            state.words.insert(location, word);
        }
        Ok(state)
    }

    fn word(&self, location: &Location) -> u32 {
        self.words.get(location).copied().unwrap_or(0)
    }
}

/// `c[0x3][0x1a4]`
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
        // A step is of item 0.
        0
    }
}
