//! Single steps of VP1: the execution of one bundle on a machine state from a JSON line.

use std::collections::BTreeSet;

use halfbyte_isa::text::AsmError;
use halfbyte_isa::vp1::data_store::DataStore;
use halfbyte_isa::vp1::domain::Next;
use halfbyte_isa::vp1::state::{Location, State};
use halfbyte_isa::vp1::{Bundle, assemble};
use halfbyte_runtime::step_bundle;
use serde_json::{Value, json};

use super::{NO_GPU, pre, words};
use crate::json::{self, LineError, Members};
use halfbyte::launch::Engine;

/// Executes the VP1 bundle of a JSON line. Returns all registers that the bundle writes, with their values.
///
/// # Errors
/// Fails if the line has no valid bundle or initial values, if the effect of an instruction is not documented, or if
/// the engine cannot execute single bundles.
pub fn step(members: &Members, engine: Engine) -> Result<Members, LineError> {
    let words = match members.contains_key("asm") {
        true => assemble(json::text(members, "asm")?).map_err(|errors| LineError::new(joined(&errors)))?.words,
        false => words(members)?,
    };
    let bundle = Bundle::new(&words).map_err(LineError::new)?;
    let mut state = state(members)?;
    let mut written = BTreeSet::new();
    let before = state.clone();
    let next = state.step(&bundle, |location| _ = written.insert(location));
    if let Next::Trap(unknown) = next {
        return Err(LineError::new(unknown));
    }
    if engine == Engine::Cuda {
        return Err(LineError::new(NO_GPU));
    }
    if let Engine::Jit { .. } = engine {
        // A register counts as written if its value has changed, or if the interpreter reports a write.
        state = before.clone();
        step_bundle(&bundle, &mut state).map_err(LineError::new)?;
        written.extend(changed(&before, &state));
    }
    let mut post = Members::new();
    for location in written {
        let (file, key) = json_name(location);
        let Some(value) = place(&mut state, file, key.as_deref()).map(|place| place.value()) else { continue };
        match key {
            None => _ = post.insert(file.into(), value),
            Some(key) => {
                let file = post.entry(file).or_insert_with(|| json!({}));
                file[key] = value;
            }
        }
    }
    Ok(post)
}

/// Joins assembler errors into one line of text.
fn joined(errors: &[AsmError]) -> String {
    errors.iter().map(AsmError::to_string).collect::<Vec<_>>().join("; ")
}

/// Returns the registers whose values differ between two machine states.
fn changed(before: &State, after: &State) -> impl Iterator<Item = Location> {
    fn file<T: PartialEq>(before: &[T], after: &[T], location: fn(u8) -> Location) -> Vec<Location> {
        let pairs = (0..).zip(before.iter().zip(after));
        pairs.filter(|(_, (before, after))| before != after).map(|(n, _)| location(n)).collect()
    }
    let single = |differs: bool, location| differs.then_some(location);
    let cells = (0..512).flat_map(|row| (0..16).map(move |bank| (row, bank)));
    let cell = |&(row, bank): &(u16, u8)| before.data.cell(row, bank) != after.data.cell(row, bank);
    let cells: Vec<Location> = cells.filter(cell).map(|(row, bank)| Location::Cell { row, bank }).collect();
    file(&before.r, &after.r, Location::R)
        .into_iter()
        .chain(file(&before.v, &after.v, Location::V))
        .chain(file(&before.vc, &after.vc, Location::Vc))
        .chain(file(&before.a, &after.a, Location::A))
        .chain(file(&before.c, &after.c, Location::C))
        .chain(file(&before.l, &after.l, Location::L))
        .chain(file(&before.m, &after.m, Location::M))
        .chain(file(&before.x, &after.x, Location::X))
        .chain(single(before.vx != after.vx, Location::Vx))
        .chain(single(before.va != after.va, Location::Va))
        .chain(single(before.uccfg != after.uccfg, Location::Uccfg))
        .chain(cells)
}

/// Returns the machine state after a reset, with the initial values of a JSON line.
fn state(members: &Members) -> Result<State, LineError> {
    let mut state = State::default();
    for (file, value) in pre(members)? {
        if let Some(place) = place(&mut state, file, None) {
            place.set(value).map_err(|expected| LineError::new(format_args!("`{file}` is not {expected}")))?;
            continue;
        }
        let Value::Object(values) = value else {
            return Err(LineError::new(format_args!("`{file}` is not an object of locations")));
        };
        for (key, value) in values {
            let place = place(&mut state, file, Some(key));
            let place =
                place.ok_or_else(|| LineError::new(format_args!("there is no location `{key}` in `{file}`")))?;
            place
                .set(value)
                .map_err(|expected| LineError::new(format_args!("`{key}` of `{file}` is not {expected}")))?;
        }
    }
    Ok(state)
}

/// Returns the name of a register in a JSON line: its register file, and its number if the file has several registers.
fn json_name(location: Location) -> (&'static str, Option<String>) {
    let (file, number) = match location {
        Location::Vx => return ("vx", None),
        Location::Va => return ("va", None),
        Location::Uccfg => return ("uc", None),
        Location::Cell { row, bank } => return ("ds", Some(format!("{row:03x}{bank:x}"))),
        Location::R(n) => ("r", n),
        Location::V(n) => ("v", n),
        Location::Vc(n) => ("vc", n),
        Location::A(n) => ("a", n),
        Location::C(n) => ("c", n),
        Location::L(n) => ("l", n),
        Location::M(n) => ("m", n),
        Location::X(n) => ("x", n),
    };
    (file, Some(number.to_string()))
}

/// Returns the register for a name in a JSON line, or `None` if there is no such register.
fn place<'a>(state: &'a mut State, file: &str, key: Option<&str>) -> Option<LocationRef<'a>> {
    let Some(key) = key else {
        return match file {
            "vx" => Some(LocationRef::Bytes(&mut state.vx)),
            "va" => Some(LocationRef::Lanes(&mut state.va)),
            "uc" => Some(LocationRef::Number(&mut state.uccfg)),
            _ => None,
        };
    };
    if file == "ds" {
        let cell: u16 = json::digits(key).filter(|&cell| key.len() == 4 && cell < 0x2000)?;
        return Some(LocationRef::Cell(&mut state.data, cell >> 4, (cell & 15) as u8));
    }
    let n: usize = key.parse().ok().filter(|n: &usize| n.to_string() == key)?;
    match file {
        "r" => state.r.get_mut(n).map(LocationRef::Word),
        "v" => state.v.get_mut(n).map(LocationRef::Bytes),
        "vc" => state.vc.get_mut(n).map(LocationRef::Word),
        "a" => state.a.get_mut(n).map(LocationRef::Word),
        "c" => state.c.get_mut(n).map(LocationRef::Half),
        "l" => state.l.get_mut(n).map(LocationRef::Half),
        "m" => state.m.get_mut(n).map(LocationRef::Word),
        "x" => state.x.get_mut(n).map(LocationRef::Word),
        _ => None,
    }
}

/// A mutable reference to a register of the machine state, by its type.
enum LocationRef<'a> {
    Word(&'a mut u32),
    Half(&'a mut u16),
    /// A vector register of 16 bytes. In JSON, the text of the register begins with component 0.
    Bytes(&'a mut [u8; 16]),
    Lanes(&'a mut [i32; 16]),
    Number(&'a mut u32),
    Cell(&'a mut DataStore, u16, u8),
}

impl LocationRef<'_> {
    fn value(&self) -> Value {
        match self {
            LocationRef::Word(word) => json!(format!("{word:08x}")),
            LocationRef::Half(half) => json!(format!("{half:04x}")),
            LocationRef::Bytes(bytes) => json!(format!("{:032x}", u128::from_be_bytes(**bytes))),
            LocationRef::Lanes(lanes) => json!(lanes),
            LocationRef::Number(number) => json!(number),
            LocationRef::Cell(data, row, bank) => json!(format!("{:02x}", data.cell(*row, *bank))),
        }
    }

    /// Sets the register to a JSON value. The error message describes the expected value.
    fn set(self, value: &Value) -> Result<(), &'static str> {
        match self {
            LocationRef::Word(word) => *word = digits(value).ok_or("a string of 8 hexadecimal digits")?,
            LocationRef::Half(half) => *half = digits(value).ok_or("a string of 4 hexadecimal digits")?,
            LocationRef::Bytes(bytes) => {
                *bytes = digits(value).map(u128::to_be_bytes).ok_or("a string of 32 hexadecimal digits")?;
            }
            LocationRef::Lanes(lanes) => *lanes = sums(value).ok_or("a list of 16 integers of 28 bits")?,
            LocationRef::Number(number) => {
                *number = value.as_u64().and_then(|n| n.try_into().ok()).ok_or("a number of 32 bits")?;
            }
            LocationRef::Cell(data, row, bank) => {
                data.set_cell(row, bank, digits(value).ok_or("a string of 2 hexadecimal digits")?);
            }
        }
        Ok(())
    }
}

/// Parses a JSON string of hexadecimal digits, which must have exactly as many digits as the type needs.
fn digits<T: TryFrom<u128>>(value: &Value) -> Option<T> {
    value.as_str().filter(|text| text.len() == 2 * size_of::<T>()).and_then(json::digits)
}

/// Parses a JSON value of `$va`, which is a list of 16 signed 28-bit sums.
fn sums(value: &Value) -> Option<[i32; 16]> {
    let sum = |value: &Value| value.as_i64().filter(|sum| (-1 << 27..1 << 27).contains(sum)).map(|sum| sum as i32);
    let sums: Option<Vec<i32>> = value.as_array()?.iter().map(sum).collect();
    sums?.try_into().ok()
}
