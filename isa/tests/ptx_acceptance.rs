//! Comparison of the PTX parser with NVIDIA's `ptxas` on generated lines: random instructions of
//! every row, most of them with a small change. The parser must accept what `ptxas` accepts, and
//! nothing else.
//!
//! `HALFBYTE_ACCEPTANCE=100000` sets the number of lines, and `HALFBYTE_ACCEPTANCE_SEED=1` other lines.

use std::collections::HashMap;
use std::path::Path;

use halfbyte_isa::ptx::module::{Entry, TargetName};
use halfbyte_isa::ptx::text::{Verdict, inst_text, read_each};
use halfbyte_isa::ptx::types::{Suffix, Token};
use halfbyte_isa::ptx::{Inst, Opcode};

use crate::random::Random;

const VERSION: (u8, u8) = (9, 2);
const TARGET: TargetName = TargetName { sm: 120, suffix: Some(Suffix::Family) };

/// Number of lines in one run of `ptxas`.
const LINES: usize = 300;

/// The error that stands for a crash of `ptxas`.
const CRASH: &str = "ptxas crashes";

/// The answer of the parser to a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Accepted,
    /// The line is valid PTX, but halfbyte does not support it.
    Unsupported,
    Refused,
}

/// The reason for refusing `cp.async` from an address of 32 bits.
const ADDRESS_OF_32_BITS: &str = "ptxas takes a source address of 32 bits among other lines, and crashes on it alone";

/// Known differences between the parser and `ptxas`. Each entry holds substrings and the reason for
/// a difference. An entry applies to the lines that contain all of its substrings.
const KNOWN: &[(&[&str], &str)] = &[
    (&[".pred ", "f16x2"], "ptxas takes a register of type .f16x2 for a predicate"),
    (&["pred_"], "ptxas takes a register of type .f16x2 for a predicate"),
    (&["m8n8"], "ptxas takes some narrow address registers, and fails on others"),
    (&["cvt.rn.satfinite.", "e2m1x2.bf16x2"], "ptxas takes a value of any type of 32 bits"),
    (&["cvt.rna.", "tf32.f32", ", 1.5"], "ptxas takes no f64 number, but of all other conversions"),
    (&["cvt.rna.", "tf32.f32", ", 0d"], "ptxas takes no f64 number, but of all other conversions"),
    (&["mov.v", "}, depot"], "ptxas takes the address of a variable for a vector"),
    (&["mov.v", "}, held"], "ptxas takes the address of a variable for a vector"),
    (&["mov.", "}, %tid"], "ptxas takes a special register for a vector and for packed elements"),
    (&["mov.", "}, %laneid"], "ptxas takes a special register for a vector and for packed elements"),
    (&["mov.", "}, %clock64"], "ptxas takes a special register for a vector and for packed elements"),
    (&["mov.b", "}, depot"], "ptxas takes the address of a variable for packed elements"),
    (&["mov.b", "}, held"], "ptxas takes the address of a variable for packed elements"),
    (&["mov.", "16 ", ", depot"], "ptxas takes 16 bits of an address"),
    (&["mov.", "16 ", ", held"], "ptxas takes 16 bits of an address"),
    (&["mov.", "{the_pred, "], "ptxas takes a predicate beside untyped registers"),
    (&["ld.", "{the_pred, "], "ptxas takes a predicate beside untyped registers"),
    (&["atom.", "{the_pred, "], "ptxas takes a predicate beside untyped registers"),
    (&["atom.", ".exch."], "ptxas takes two values to store, and crashes on some of them"),
    (&["atom.", ".add.", " _, "], "ptxas takes `_` for the result of a vector"),
    (&["atom.", ", _}"], "ptxas infers the type of a vector from the other elements"),
    (&["atom.", ".or.b"], "ptxas takes two values"),
    (&["atom.", ".and.b"], "ptxas takes two values"),
    (&["atom.", ".xor.b"], "ptxas takes two values"),
    (&["red.", " _, "], "ptxas takes `_` for an address in shared memory"),
    (&["ld.", ".v8.", "8 "], "ptxas crashes on most of these vectors"),
    (&["ld.", ".v8.", "16 "], "ptxas crashes on most of these vectors"),
    (&["st.", ".v8.", "8 "], "ptxas crashes on most of these vectors"),
    (&["st.", ".v8.", "16 "], "ptxas crashes on most of these vectors"),
    (&["setp.", " _, "], "ptxas takes `_` for the only result"),
    (&["lop3.b32 _, "], "ptxas takes `_` for the only result"),
    (&["match.all.sync.", " _, "], "ptxas takes `_` for the only result"),
    (&["testp.f32 "], "ptxas takes a test without a property"),
    (&["testp.f64 "], "ptxas takes a test without a property"),
    (&["barrier.", ", 4294967296"], "ptxas takes a count of 2^32, which it truncates, for 0"),
    (&["bar.", ", 4294967296"], "ptxas takes a count of 2^32, which it truncates, for 0"),
    (&["cp.async.wait_group 4294967296"], "ptxas truncates the number of groups"),
    (&["cp.async.c", "[%b32"], ADDRESS_OF_32_BITS),
    (&["cp.async.c", "[%s32"], ADDRESS_OF_32_BITS),
    (&["cp.async.c", "[%u32"], ADDRESS_OF_32_BITS),
    (&["cp.async.c", ", [the_b32"], ADDRESS_OF_32_BITS),
    (&["cp.async.c", ", [the_s32"], ADDRESS_OF_32_BITS),
    (&["cp.async.c", ", [the_u32"], ADDRESS_OF_32_BITS),
    (&["cvt.pack.", "%tid."], "ptxas takes no special register"),
    (&["cvt.pack.", "%laneid"], "ptxas takes no special register"),
    (&["cvt.pack.", "64"], "ptxas takes a wider register for an operand"),
    (&["cvt.pack.", "b128"], "ptxas takes a wider register for an operand"),
    (&["pmevent.mask -1"], "ptxas reads an undefined limit"),
    (&["rcp.", ".ftz.", "f64 "], "ptxas takes `.ftz` for a rounded reciprocal of an f64"),
    (&["vset2.", " the_f16x2"], "ptxas takes no register of type .f16x2 for the result"),
    (&["vset4.", " the_f16x2"], "ptxas takes no register of type .f16x2 for the result"),
    (&["vset2.", " %f16x2"], "ptxas takes no register of type .f16x2 for the result"),
    (&["vset4.", " %f16x2"], "ptxas takes no register of type .f16x2 for the result"),
];

#[test]
fn accepts_the_lines_that_ptxas_accepts() {
    let Some(ptxas) = crate::ptx::ptxas() else { return };
    let number = |variable| std::env::var(variable).ok()?.parse().ok();
    let count = number("HALFBYTE_ACCEPTANCE").unwrap_or(1500);
    let empty = crate::ptx::empty_entry_of(VERSION);
    let mut random = Random(number("HALFBYTE_ACCEPTANCE_SEED").unwrap_or(65));
    let mut lines: Vec<String> = (0..count).filter_map(|_| line(&empty, &mut random)).collect();
    lines.sort();
    lines.dedup();
    let (mut accepted, mut known, mut differ) = (0, 0, Vec::new());
    for lines in lines.chunks(LINES) {
        let of_ptxas = answers_of_ptxas(&ptxas, &empty, lines);
        for (line, of_ptxas) in lines.iter().zip(of_ptxas) {
            let ours = answer(&empty, line);
            // If a text has several lines, `ptxas` does not check instructions without effect.
            // Therefore, `ptxas` also assembles each line separately that only the parser rejects.
            let of_ptxas = match of_ptxas {
                None if ours == Answer::Refused => {
                    answers_of_ptxas(&ptxas, &empty, std::slice::from_ref(line)).remove(0)
                }
                judged => judged,
            };
            accepted += usize::from(of_ptxas.is_none());
            let agrees = match &of_ptxas {
                None => ours != Answer::Refused,
                Some(error) => ours != Answer::Accepted || error == CRASH,
            };
            if agrees {
                continue;
            }
            if KNOWN.iter().any(|(parts, _)| parts.iter().all(|part| line.contains(part))) {
                known += 1;
            } else {
                differ.push(format!("{line}    {}", of_ptxas.unwrap_or_else(|| "accepted by ptxas".to_owned())));
            }
        }
    }
    println!("{} lines, {accepted} accepted, {known} known differences, {} others", lines.len(), differ.len());
    assert!(accepted * 5 > lines.len(), "too few lines are valid: {accepted} of {}", lines.len());
    assert!(known * 500 <= lines.len(), "{known} known differences in {} lines", lines.len());
    assert!(differ.is_empty(), "{} of {} lines differ\n{}", differ.len(), lines.len(), differ.join("\n"));
}

/// Returns the text of a random instruction. Most texts contain a random change.
fn line(empty: &Entry, random: &mut Random) -> Option<String> {
    let opcode = Opcode::ALL[random.next() as usize % Opcode::ALL.len()];
    let mut inst = Inst::random(opcode, empty, &mut || random.next())?;
    // `ptxas` accepts calls only in complete sequences, and does not check unreachable
    // instructions. For matrix products that the target lacks, `ptxas` takes minutes.
    let is_left_out =
        matches!(opcode.row().mnemonic, "wgmma" | "wmma" | "mma" | "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt");
    if crate::ptx::is_of_a_call(&inst) || is_left_out {
        return None;
    }
    crate::ptx::make_assemblable(&mut inst);
    inst.guard = None;
    let text = inst_text(&inst, empty);
    let text = text.trim().trim_end_matches(';');
    let (name, operands) = text.split_once(' ').unwrap_or((text, ""));
    let mut words: Vec<String> = name.split('.').map(str::to_owned).collect();
    let mut operands: Vec<String> = split(operands);
    match random.next() % 8 {
        0 => {}
        1 => change_word(&mut words, random),
        _ => change_operand(&mut operands, empty, random),
    }
    Some(format!("{} {};", words.join("."), operands.join(", ")))
}

/// Splits operands at the commas outside braces and brackets.
fn split(operands: &str) -> Vec<String> {
    let (mut all, mut depth) = (vec![String::new()], 0);
    for c in operands.chars() {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            _ => {}
        }
        match all.last_mut() {
            Some(_) if c == ',' && depth == 0 => all.push(String::new()),
            Some(last) => last.push(c),
            None => {}
        }
    }
    all.into_iter().map(|operand| operand.trim().to_owned()).filter(|operand| !operand.is_empty()).collect()
}

/// Removes, doubles, moves or replaces a modifier.
fn change_word(words: &mut Vec<String>, random: &mut Random) {
    if words.len() < 2 {
        return;
    }
    let place = 1 + random.next() as usize % (words.len() - 1);
    match random.next() % 3 {
        0 => drop(words.remove(place)),
        1 => {
            let all = [
                "u32", "s32", "b32", "u16", "b16", "f32", "f16", "f16x2", "u64", "b64", "f64", "u8", "rn", "ftz", "sat",
            ];
            words[place] = all[random.next() as usize % all.len()].to_owned();
        }
        _ => {
            let all = [Token::Rn, Token::Rz, Token::Ftz, Token::Sat, Token::Relu, Token::Nan, Token::Lo, Token::Hi];
            words.insert(place, all[random.next() as usize % all.len()].text().to_owned());
        }
    }
}

/// Replaces an operand or a part of it, removes it or doubles it.
fn change_operand(operands: &mut Vec<String>, empty: &Entry, random: &mut Random) {
    if operands.is_empty() {
        return;
    }
    let place = random.next() as usize % operands.len();
    let families = empty.body.registers.families();
    let family = &families[random.next() as usize % families.len()];
    let register = if family.count.is_some() { format!("{}3", family.name) } else { family.name.clone() };
    let numbers = [
        "0",
        "1",
        "-1",
        "3",
        "16",
        "255",
        "256",
        "65536",
        "4294967296",
        "18446744073709551616",
        "1.5",
        "0f3f800000",
        "0d3ff0000000000000",
    ];
    let number = numbers[random.next() as usize % numbers.len()];
    let operand = &mut operands[place];
    let is_register = operand.starts_with('%') || operand.starts_with("the_");
    match random.next() % 10 {
        0..5 => match operand.find(['%', 't']) {
            // Replaces the first register in the operand.
            Some(start) if operand[start..].starts_with('%') || operand[start..].starts_with("the_") => {
                let end =
                    operand[start..].find([',', '+', ']', '}', '|', '.', ' ']).map_or(operand.len(), |end| start + end);
                operand.replace_range(start..end, &register);
            }
            _ => *operand = register,
        },
        5 | 6 => *operand = number.to_owned(),
        7 if is_register && !operand.contains(['|', '.']) && !operand.contains("pred") => operand.push_str("+4"),
        7 | 8 if operand.starts_with("%pred") => operand.insert(0, '!'),
        8 => {
            let all = [
                "%tid.x", "%laneid", "%clock64", "WARP_SZ", "_", "depot", "held", "held[2]", "[held]", "end", "absent",
            ];
            *operand = all[random.next() as usize % all.len()].to_owned();
        }
        _ if random.next().is_multiple_of(2) => drop(operands.remove(place)),
        _ => {
            let twice = operands[place].clone();
            operands.insert(place, twice);
        }
    }
}

/// Returns the text of the module before and after the instructions.
fn around(empty: &Entry) -> (String, String) {
    let module = crate::ptx::module(VERSION, TARGET, empty.clone()).to_string();
    let (before, after) = module.rsplit_once("\n}").unwrap();
    // The last line of the body is a label, which must follow the inserted instructions.
    let (before, label) = before.rsplit_once('\n').unwrap();
    (before.to_owned(), format!("{label}\n}}{after}"))
}

fn answer(empty: &Entry, line: &str) -> Answer {
    let (before, after) = around(empty);
    match read_each(&format!("{before}\n{line}\n{after}")) {
        Ok(read) if read.refused.is_empty() && read.missing().is_empty() => Answer::Accepted,
        Ok(read) if read.refused.is_empty() => Answer::Refused,
        Ok(_) => Answer::Unsupported,
        Err(errors) if errors.iter().all(|error| error.kind.verdict() == Verdict::Unsupported) => Answer::Unsupported,
        Err(_) => Answer::Refused,
    }
}

/// Returns the error of `ptxas` for each line, or `None` if `ptxas` accepts the line.
///
/// `ptxas` reports the errors of a stage only if the earlier stages find no error. Therefore, the
/// lines with errors are removed and the other lines are assembled again, until no line has an
/// error. The first runs contain an invalid instruction at the end: `ptxas` then stops after its
/// first stage, which is faster.
fn answers_of_ptxas(ptxas: &Path, empty: &Entry, lines: &[String]) -> Vec<Option<String>> {
    let (before, after) = around(empty);
    let first = before.lines().count() + 1;
    let mut errors: HashMap<usize, String> = HashMap::new();
    for last in ["nothing;\n", ""] {
        loop {
            let left: Vec<usize> = (0..lines.len()).filter(|number| !errors.contains_key(number)).collect();
            let body: String = left.iter().map(|&number| format!("{}\n", lines[number])).collect();
            let Err(said) = crate::ptx::assemble(ptxas, TARGET, &format!("{before}\n{body}{last}{after}")) else {
                break;
            };
            if ["signal", "Internal compiler error", "<builtin>"].iter().any(|crash| said.contains(crash)) {
                // `ptxas` crashes on some valid lines. The two halves of the text are assembled
                // separately, until each crash is attributed to a single line.
                return match lines {
                    [_] => vec![Some(CRASH.to_owned())],
                    _ => {
                        let (first, rest) = lines.split_at(lines.len() / 2);
                        [first, rest].map(|lines| answers_of_ptxas(ptxas, empty, lines)).concat()
                    }
                };
            }
            let found = errors.len();
            for said in said.lines() {
                let place = said.split("line ").nth(1).map(|rest| rest.trim_start_matches('\''));
                let place = place.and_then(|rest| rest.split([';', '\'']).next()?.parse::<usize>().ok());
                let number = place.and_then(|place| left.get(place.checked_sub(first)?));
                if let Some(&number) = number
                    && (said.contains("error") || said.contains("fatal") || said.contains("32-bit address"))
                {
                    let message = said.rsplit_once("  :").or(said.split_once(':')).map_or(said, |(_, message)| message);
                    errors.entry(number).or_insert_with(|| message.trim().to_owned());
                }
            }
            if errors.len() == found {
                assert!(!last.is_empty(), "ptxas fails without an error in a line: {said}");
                break;
            }
        }
    }
    (0..lines.len()).map(|number| errors.remove(&number)).collect()
}
