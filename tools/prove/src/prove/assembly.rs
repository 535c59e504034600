//! Checks of instruction encoding and assembly text. The assembly text of a valid instruction word
//! must parse to the same word. Any other word must print as `.word`.

use halfbyte_ir::witness::Random;
use halfbyte_isa::halu::{Inst, Opcode, read_word, word_text};
use halfbyte_isa::row::{Modifier, OperandKind, Suffix};
use halfbyte_isa::word::Field;

use super::{Counterexample, Effort, Outcome, Reproduction, Subject};

const PART: &str = "assembly";

/// Returns the subjects that check encodings.
pub(super) fn subjects(effort: Effort) -> Vec<Subject> {
    let opcodes = Opcode::ALL.len();
    let of = |piece: usize| Opcode::ALL.get(piece).copied().unwrap_or(Opcode::NOP);
    let legal = effort.choose(2_500, 10_000);
    let per_piece = effort.choose(50_000, 500_000);
    vec![
        Subject::new(PART, format!("{PART}::legal words"), (opcodes, opcodes), move |piece, random| {
            for _ in 0..legal {
                let word = Inst::random(of(piece), &mut || random.bits()).word();
                check_round_trip(word)?;
                if Inst::decode(word).map(|inst| inst.opcode()) != Some(of(piece)) {
                    return fail(word, &format!("the instruction word does not decode as {}", of(piece).name()));
                }
            }
            Ok(legal)
        }),
        Subject::new(PART, format!("{PART}::undefined bits and values"), (opcodes, opcodes), move |piece, random| {
            undefined(of(piece), random)
        }),
        Subject::new(PART, format!("{PART}::random words"), (1, effort.choose(4, 20)), move |_, random| {
            for number in 0..per_piece {
                let bits = u128::from(random.bits()) << 64 | u128::from(random.bits());
                // Few random words are valid instructions. Words that differ in a few bits from an
                // instruction test whether near misses are rejected.
                let word = match number % 4 {
                    0 => Inst::random(of(random.below(opcodes)), &mut || random.bits()).word() ^ 1 << (bits % 128),
                    1 => bits & !0xFFF | Inst::new(of(random.below(opcodes))).word() & 0xFFF,
                    _ => bits,
                };
                check_round_trip(word)?;
            }
            Ok(per_piece)
        }),
    ]
}

fn fail(word: u128, reason: &str) -> Outcome {
    Err(Box::new(Counterexample {
        subject: format!("word {word:#034x}"),
        reason: reason.to_owned(),
        reproduction: Reproduction::Line(format!("{{\"word\":\"{word:#034x}\"}}")),
    }))
}

/// Checks that the assembly text of an instruction word parses to the same word. For an invalid
/// instruction word, the text must be `.word`.
fn check_round_trip(word: u128) -> Outcome {
    let text = word_text(word);
    let decoded = Inst::decode(word);
    if decoded.is_some_and(|inst| inst.word() != word) {
        return fail(word, "it decodes to another word");
    }
    if decoded.is_none() != text.starts_with(".word 0x") {
        return fail(word, &format!("it prints as `{text}`"));
    }
    match read_word(&text) {
        Ok(again) if again == word => Ok(1),
        Ok(again) => fail(word, &format!("it prints as `{text}`, which is {again:#034x}")),
        Err(error) => fail(word, &format!("it prints as `{text}`, which does not read: {error}")),
    }
}

/// Checks that an instruction word is invalid if a bit outside of the opcode's fields is set, or if
/// an enumerated field has an undefined value.
fn undefined(opcode: Opcode, random: &mut Random) -> Outcome {
    let row = opcode.row();
    let named = row.fields().fold(0, |named, field| named | field.mask());
    let mut cases = 0;
    let mut refused = |word: u128, what: &str| {
        cases += check_round_trip(word)?;
        if Inst::decode(word).is_some() { fail(word, &format!("{what}, but it decodes")) } else { Ok(1) }
    };
    for bit in (0..128).filter(|bit| named >> bit & 1 == 0) {
        let word = Inst::random(opcode, &mut || random.bits()).word();
        refused(word | 1 << bit, &format!("bit {bit} is undefined"))?;
    }
    let operands = row.operands.iter().flat_map(|operand| {
        let name = if let OperandKind::Name(names) = operand.kind { Some(names) } else { None };
        let suffix = if let Suffix::Choice(choices) = operand.suffix { Some(choices) } else { None };
        name.into_iter().chain(suffix)
    });
    let unspelled = |choices: Modifier| {
        let values = (0..=choices.field.max()).filter(move |&value| !choices.admits(value));
        values.map(move |value| (choices.field, value))
    };
    let masks = row.operands.iter().filter_map(|operand| match operand.suffix {
        Suffix::Mask { field, .. } => Some((field, 0)),
        _ => None,
    });
    let values: Vec<(Field, u64)> =
        row.modifiers.iter().copied().chain(operands).flat_map(unspelled).chain(masks).collect();
    for (field, value) in values {
        let word = Inst::random(opcode, &mut || random.bits()).word();
        refused(field.set(word, value), &format!("field `{}` has the undefined value {value}", field.name))?;
    }
    Ok(cases)
}
