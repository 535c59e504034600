//! Sources from which the instructions of VP1's vector and scalar units are generated: witnesses of rules, text tests
//! and examples. For all other instructions, the source is a sequence of random instructions in intrinsics.

use std::path::Path;

use halfbyte::Target;
use halfbyte::ir::witness::Random;
use halfbyte::isa::isa::SharedCode;
use halfbyte::isa::row::{RegFile, Row};
use halfbyte::isa::vp1::{Inst, Opcode, Unit, read_word};
use halfbyte::launch::Engine;
use halfbyte_testkit::check::check;

use super::{Isa, Reach, SourceOption, Unreached, compiled, features};
use crate::sequences::{kernel, reason, sequences, template};
use crate::support::without_passes;

/// The instructions of VP1's units that compute, as an instruction set of this test.
struct Vp1;

impl Isa for Vp1 {
    type Opcode = Opcode;
    const TARGET: Target = halfbyte::VP1;
    const NAME: &str = "VP1's vector and scalar units";

    fn opcodes() -> impl Iterator<Item = Opcode> {
        let computes = |op: &Opcode| op.is_named() && matches!(op.unit(), Unit::Scalar | Unit::Vector);
        Opcode::ALL.iter().copied().filter(computes)
    }
    fn name(op: Opcode) -> &'static str {
        op.name()
    }
    fn row(op: Opcode) -> &'static Row {
        op.row()
    }
    fn opcode(word: u128) -> Option<Opcode> {
        Inst::decode(u32::try_from(word).ok()?).map(|inst| inst.opcode())
    }
    fn words(words: &SharedCode) -> Vec<u128> {
        words.iter().collect()
    }
}

/// Instructions and modifiers that no source generates, with the reasons.
const UNREACHED: &[Unreached] = &[
    ("MOV_D_R", "`$d` describe transfers between memories, which are made before and after a kernel"),
    ("MOV_F_R", "`$f` are queues to and from other processors, of which a kernel has none"),
    ("MOV_L_R", "`$l` count loops whose trips are known; others count in `$r`"),
    ("MOV_MI_R", "`$mi` are the state of the memory interface, which no result depends on"),
    ("MOV_M_R", "`$m` hold the arguments of the launch, which are only read"),
    ("MOV_R_C", "flags are values of their own, read by what chooses and branches by them"),
    ("MOV_R_D", "as of `MOV_D_R`"),
    ("MOV_R_F", "as of `MOV_F_R`"),
    ("MOV_R_L", "as of `MOV_L_R`"),
    ("MOV_R_MI", "as of `MOV_MI_R`"),
    ("MOV_R_SR", "`$sr` are the state of the processor, which no result depends on"),
    ("MOV_R_UC", "`$uc` are its settings, which are the same for every kernel"),
    ("MOV_R_X", "`$x` are storage; a kernel's own is the data store, whose addresses the compiler knows"),
    ("MOV_SR_R", "as of `MOV_R_SR`"),
    ("MOV_UC_R", "as of `MOV_R_UC`"),
    ("MOV_X_R", "as of `MOV_R_X`"),
    ("pred: aef", "the address unit writes this bit of `$c`, about the addresses of the compiler's own accesses"),
    ("pred: asf", "the same"),
    ("pred: azf", "the same"),
    ("pred: lzf", "the branch unit writes this bit of `$c`, about the loop counters of the compiler's own loops"),
    ("slct aef", "as of `pred: aef`"),
    ("slct asf", "the same"),
    ("slct azf", "the same"),
    ("slct lzf", "as of `pred: lzf`"),
    ("slct unk11", "this bit of `$c` is always 0, so the register itself is read: what it says without `slct`"),
    ("slct unk12", "the same"),
];

/// Returns `true` if two instruction words have the same opcode and the same modifiers.
fn says_the_same(a: u128, b: u128) -> bool {
    let said = |word| {
        let op = Vp1::opcode(word)?;
        let said = features(op.row()).into_iter().filter(|feature| feature.is_in(word)).map(|feature| feature.text);
        Some((op, said.collect::<Vec<_>>()))
    };
    said(a).is_some() && said(a) == said(b)
}

/// Records sequences for the instructions that no rule generates, and compares the results of each
/// sequence with the evaluator.
fn intrinsics(reach: &mut Reach<Vp1>) {
    let mut random = Random(1);
    for op in Vp1::opcodes().filter(|&op| reason(op).is_none()) {
        for _ in 0..60 {
            let (form, mut modifiers) = reach.missing_of(op);
            modifiers.retain(|modifier| UNREACHED.iter().all(|(name, _)| modifier.text != *name));
            if !form && modifiers.is_empty() {
                break;
            }
            let wanted = match modifiers.len() {
                0 => None,
                count => modifiers[random.below(count)].set(),
            };
            for sequence in sequences(op, wanted, &mut random) {
                let (text, operands) = template(&sequence.bundles.join("; "));
                let types: Vec<&str> =
                    operands.iter().map(|&(file, _)| if file == 'r' { "i32" } else { "i8x16" }).collect();
                let result = if sequence.result == RegFile::R { "i32" } else { "i8x16" };
                let text_of_kernel = kernel(&types, result, &text);
                let Some(binary) = compiled(&text_of_kernel, &without_passes(halfbyte::VP1)) else { continue };
                let outcome = check("k.hb", &text_of_kernel, Path::new("."), &Engine::ALL);
                assert!(outcome.failures.is_none(), "{}", outcome.failures.unwrap());
                let placed: Vec<&str> = text.split("; ").flat_map(|bundle| bundle.split(" & ")).collect();
                let own: Vec<&str> = sequence.bundles.iter().flat_map(|bundle| bundle.split(" & ")).collect();
                for word in Vp1::words(&binary.code[0].words).into_iter().filter(|&word| Vp1::opcode(word) == Some(op))
                {
                    // Finds the instruction of the sequence that has the same opcode and modifiers,
                    // but other registers.
                    let is_it = |text: &str| read_word(text, 0).is_ok_and(|own| says_the_same(own.into(), word));
                    let Some(at) = own.iter().position(|text| is_it(text)) else { continue };
                    reach.note(word, || SourceOption {
                        text: format!("intrinsic with `{}`", placed[at]),
                        test: "here".to_string(),
                    });
                }
            }
        }
    }
}

#[test]
fn every_instruction_of_vp1_is_reached() {
    let mut reach = Reach::<Vp1>::new();
    reach.idioms(|_| {});
    intrinsics(&mut reach);
    reach.is_complete(UNREACHED, "reach/vp1.md");
}
