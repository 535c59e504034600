//! Tests of intrinsics for VP1 instructions. An intrinsic of an instruction that computes gives the result of the
//! instruction on the processor's registers. For every other instruction, the refusal states the reason.

use std::path::Path;

use halfbyte::Module;
use halfbyte::ir::eval::{Intrinsics, Operand};
use halfbyte::ir::witness::Random;
use halfbyte::ir::{IntrinsicData, Type};
use halfbyte::isa::row::RegFile;
use halfbyte::isa::vp1::state::State;
use halfbyte::isa::vp1::{Bundle, Inst, Opcode, Unit, fields as f, read_word};
use halfbyte::launch::Engine;
use halfbyte::targets::Meanings;
use halfbyte_testkit::check::check;

use crate::sequences::{Sequence, kernel, reason, register, sequences, template};

/// Returns the lanes of `$r0` or `$v0`, whichever holds the result, after the execution of the sequence.
fn on_the_processor(sequence: &Sequence, state: &State) -> Vec<u64> {
    let mut state = state.clone();
    for bundle in &sequence.bundles {
        if let Some(('v', n, _)) = bundle.strip_prefix("mov $vx ").and_then(register) {
            state.vx = state.v[n];
            continue;
        }
        let words: Vec<u32> = bundle.split(" & ").map(|word| read_word(word, 0).unwrap()).collect();
        state.step(&Bundle::new(&words).unwrap(), |_| {});
    }
    match sequence.result {
        RegFile::R => vec![state.r[0].into()],
        _ => state.v[0].map(u64::from).to_vec(),
    }
}

fn meaning(text: &str, operands: &[(Type, Vec<u64>)], result: Type) -> Result<Vec<u64>, String> {
    let intrinsic = IntrinsicData { target: "vp1".into(), text: text.into() };
    let types: Vec<Type> = operands.iter().map(|operand| operand.0).collect();
    let values: Vec<Operand<'_>> = operands.iter().map(|(ty, lanes)| Operand { ty: *ty, lanes }).collect();
    let mut out = vec![0; result.lanes()];
    Meanings::default().resolve(&intrinsic, &types, result)?(&values, &mut out);
    Ok(out)
}

fn type_of(file: RegFile) -> Type {
    if file == RegFile::R { Type::I32 } else { Type::I8X16 }
}

#[test]
fn every_instruction_that_computes_is_reached() {
    let mut random = Random(1);
    let computes = |op: &&Opcode| op.is_named() && matches!(op.unit(), Unit::Scalar | Unit::Vector);
    for &op in Opcode::ALL.iter().filter(computes) {
        let mut tried = 0;
        for _ in 0..80 {
            for sequence in sequences(op, None, &mut random) {
                let mut state = State::default();
                state.r = state.r.map(|_| random.bits() as u32);
                state.v = state.v.map(|v| v.map(|_| random.bits() as u8));
                let (text, operands) = template(&sequence.bundles.join("; "));
                let operands: Vec<_> = operands
                    .iter()
                    .map(|&(file, n)| match file {
                        'r' => (Type::I32, vec![state.r[n].into()]),
                        _ => (Type::I8X16, state.v[n].map(u64::from).to_vec()),
                    })
                    .collect();
                match (meaning(&text, &operands, type_of(sequence.result)), reason(op)) {
                    (Ok(lanes), None) => {
                        assert_eq!(lanes, on_the_processor(&sequence, &state), "{}: {text}", op.name())
                    }
                    (Err(message), Some(reason)) => assert!(message.contains(reason), "{}: {message}", op.name()),
                    (outcome, _) => panic!("{}: {text}: {outcome:?}", op.name()),
                }
                tried += 1;
            }
        }
        assert!(tried >= 40, "{} is hardly tried", op.name());
    }
}

fn outcome(text: &str) -> Option<String> {
    check("k.hb", text, Path::new("."), &Engine::ALL).failures.map(|report| report.to_string())
}

#[test]
fn evaluated_and_compiled_agree() {
    let (v, r) = ("i8x16", "i32");
    let mut failed = Vec::new();
    for (operands, result, intrinsic) in [
        (&[v, v, v, v][..], v, "vmul s rn fract 0x0 hi # s $0 s $1; vmac s rn fract 0x0 hi $d s $2 s $3"),
        (&[r, v, v, v], v, "vsub u $t0 $vc0 $1 $2; bvec $0 $vc0 sf 0x0 & vmad2 u factor rd int -0x1 lo $d u $1d u $3"),
        // The second instruction takes a mask and does not use flags.
        (&[v, v], v, "vec -0x2 0x54 $vc0 sf 0x0 & vmad2 u mask rn int 0x0 hi $d u $0d u $1"),
        // An operand can be the second register of one register pair and the first register of another.
        (&[v, v, v], v, "vlrp rn 0x0 $t0 $0d $2; vlrp rd 0x0 $t1 $1d $0; vmin u $d $t0 $t1"),
        // The flags select the rotation of the registers of a quad.
        (
            &[v, v, v, v, r],
            v,
            "add $t0 $c1 $4 $4; vsub u $t1 $vc2 $0 $1; vec 0x40 -0x20 $vc2 sf 0x0 & vlrp2 u rn 0x0 $d u $0q $c1 $vc2 sf",
        ),
        (
            &[v, v, v, v, r],
            v,
            "xor $t0 $c3 $4 $4; vsub u $t1 $vc1 $3 $1; bvec $4 $vc1 zf 0x5 & vlrp4a rn 0x0 # $0q $c3 $vc1 zf; \
             vmac u rn fract 0x0 lo $d u $0 u 0x0",
        ),
        (
            &[v, v, v, v, r],
            v,
            "mul $t0 $c0 $4 0x155; vsub u $t1 $vc0 $0 $1; bvec $4 $vc0 sf 0x0 & vlrpf rn 0x0 # $0q $c0 $1 $vc0 sf; \
             vmac u rn fract 0x0 hi $d u $0 u 0x0",
        ),
        // The later steps of an interpolation, which read a loaded vector.
        (
            &[v, v, v, v, v, r],
            v,
            "mov $vx $4; add $t0 $c1 $5 $5; vsub u $t1 $vc2 $0 $1; vmul s rn fract 0x0 hi # u $2 u $3; \
             bvec $5 $vc2 sf 0x0 & vlrp4b u rn -0x1 $d $0q $c1 $c1 b20 $vc2 sf",
        ),
        (
            &[v, v, v, v, v, r],
            v,
            "add $t0 $c0 $5 $5; vsub u $t1 $vc0 $0 $1; vsub s $t2 $2 $3; mov $vx $t2; vmul s rn fract 0x0 hi # u $2 u $3; \
             bvec $5 $vc0 zf 0x0 & vlrp4b s rd 0x1 $t3 $1q $c0 $c0 sf $vc0 zf; mov $vx $t3; vsub u $t4 $vc1 $3 $t3; \
             vmul s rn fract 0x0 hi # u $0 u $4; vec 0x40 -0x20 $vc1 sf 0x0 & vlrp4b u rn 0x0 $d $0q $c0 $c0 false $vc1 sf",
        ),
        (
            &[v, v, v, v, r],
            v,
            "mov $vx $1; vsub u $t1 $vc3 $0 $1; vmul s rd fract 0x0 hi # u $2 u $3; \
             bvec $4 $vc3 sf 0x0 & vlrp4b s rn 0x2 $d $0q $c3 $c3 true $vc3 sf",
        ),
        // The register number encodes the rounding, the shift and the half-word, also if operands
        // are adjacent or form a register tuple.
        (
            &[v, v, v, r],
            v,
            "vmul s rn int 0x0 lo # s $0 s $1; vsub u $t1 $vc0 $0 $1; vmul s rn int 0x0 lo # s $0 s $1; \
             bvec $3 $vc0 sf 0x0 & vmac2 s factor rn fract -0x2 lo $d u $0 $2",
        ),
        (
            &[v, v, v, r],
            v,
            "vsub u $t1 $vc0 $0 $1; vmul s rn int 0x0 lo # s $0 s $1; \
             bvec $3 $vc0 sf 0x0 & vmac2 s mask rd int 0x0 hi # s $1 $2; vmac u rd int -0x3 lo $d u $0 u $1",
        ),
        (
            &[v, v, r],
            v,
            "vsub u $t0 $vc0 $0 $1; vmul s rn int 0x0 lo # s $0 s $1; bvec $2 $vc0 sf 0x0 & vmac2 u factor rn int 0x3 lo # u $1 $1; \
             vec 0x7 -0x9 $vc0 sf 0x0 & vmac2 s factor rd fract 0x1 lo $t1 s $t0 $1; vlrp rn 0x0 $d $0d $t1",
        ),
        // `bvec` takes its flags from two `$vc` registers.
        (&[v, v, r], v, "vsub u $t0 $vc1 $0 $1; bvec $2 $vc1 sf 0x7 & vmad2 s factor rn fract 0x0 hi $d s $0d s $1"),
        (
            &[v, v, r],
            v,
            "vsub u $t0 $vc0 $0 $1; vsub u $t0 $vc1 $1 $0; bvec $2 $vc0 sf 0x7 & vmad2 s factor rn fract 0x0 hi $d s $0d s $1",
        ),
        (
            &[v, v, r],
            v,
            "or $t0 $2 0x0; vmul s rn int 0x0 lo # s $0 s $1; vecms $t0 $vc0 sf 0x0 & vmac2 s mask rn int 0x0 hi $d s $0d",
        ),
        (
            &[r, r, r, r, r, v, v],
            v,
            "sub $t0 $c2 $0 $1; bvecmad $4 $0q $c2 sf $vc3 sf 0x0 & vmad2 s mask rn fract 0x0 hi $d s $5d s $6",
        ),
        (&[r, r, r, r, r], r, "mul $t0 $c2 $4 0x3; min $d $4 (slct $c2 b20 $0q)"),
        (&[r, r, r], r, "sub $t0 $c0 $0 $1; add $d $2 (slct $c0 sf $0d)"),
        (&[r, r, r], r, "sub 0x0 $c0 $0 $1; add $d $2 (slct $c0 true $0d)"),
        (
            &[v, v],
            r,
            "vcmpad 0xc $vc3 $0d $1; vsub u $t0 $vc1 $0 $1; mov $t1 $vc; mov $t2 $t1 0x3; mov $t3 $t1 0x1; sub $d $t2 $t3",
        ),
        (&[v, r], v, "vmov $d 0x7f; mov $d 0x2 $1; vadd s $d $d $0"),
        (&[r], r, "mov $d 0x155; sethi $d 0xabcd0000; xor $d $d $0"),
        (&["i8x4", "i8x4"], "i8x4", "bmul rn s $d s $0 u $1"),
        (&["i8", "i8"], "i8", "badd s $d $0 $1"),
        (&["i16", "i8"], r, "sub $d $0 $1"),
        (&["i32", "i32"], "i1", "sub $d $0 $1"),
        (&["i1", "i32"], r, "and $d $0 $1"),
        (&["i8x4", "i8x4"], "i1x4", "bsub s $d $0 $1"),
        (&[v, v], "i1x16", "vsub s $d $0 $1"),
        (&["i1x16", v], v, "vxor $d $0 $1"),
        (&["f16x2"], "i16x2", "shr $d $0 0x3"),
    ] {
        let outcome = outcome(&kernel(operands, result, intrinsic));
        failed.extend(outcome.map(|message| format!("{intrinsic}\n{message}")));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Tests all numbers of the third register of `vmac2`, by one intrinsic for each number. All operands are live at once.
#[test]
fn every_number_of_a_third_register() {
    let mut failed = Vec::new();
    for number in 0..32 {
        for opcode in [Opcode::VMAC2_S_RR, Opcode::VMAC2_S_RR_VA, Opcode::VMAC2_U_RR_VA] {
            let inst = Inst::new(opcode).with(f::SRC3, number).with(f::FRACTINT, number & 1);
            let text = inst.to_string();
            let (lead, third) = text.rsplit_once(' ').unwrap();
            let (lead, _) = lead.rsplit_once(' ').unwrap();
            assert_eq!(third, format!("$v{number}"));
            let read = if opcode == Opcode::VMAC2_S_RR { "" } else { "; vmac s rd fract 0x0 hi $d s $0 s 0x0" };
            let lead = lead.replace("$v0", "$d");
            let sequence = format!(
                "vsub u $t0 $vc0 $0 $1; vmul s rn int 0x0 lo # s $0 s $1; bvec $3 $vc0 sf 0x0 & {lead} $1 $2{read}"
            );
            let outcome = outcome(&kernel(&["i8x16", "i8x16", "i8x16", "i32"], "i8x16", &sequence));
            failed.extend(outcome.map(|message| format!("{sequence}\n{message}")));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn what_is_no_intrinsic_is_refused() {
    for (intrinsic, reason) in [
        ("add $d $0 $r1", "register `$r1` is not allowed"),
        ("add $d $0 $1", "`$1` is not a valid placeholder"),
        ("lds $d $a0 0x0", "an intrinsic may use only the scalar and vector units"),
        ("vmac s rn int 0x0 hi $d s $0 s $0", "must be"),
        ("add $d $0 (slct $c0 sf $0d)", "`$0d` is not a valid placeholder"),
        ("addd $d $0 $0", "unknown instruction"),
        ("mov $vx $0; add $d $0 $0", "`$0` is in a register file that this instruction does not accept"),
        ("mov $vx $0 & add $d $0 $0", "`mov $vx` takes one vector"),
        ("mov $d $vx; add $d $d $0", "`$vx`: imm must be an integer"),
    ] {
        let message = outcome(&kernel(&["i32"], "i32", intrinsic)).unwrap();
        assert!(message.contains(reason), "{intrinsic}: {message}");
    }
    let unused = "kernel @k() {\n^entry:\n  %i = item_id\n  %r = intrinsic.i32 vp1 \"addd $d $0\", %i\n  ret\n}\n";
    let errors = Module::parse(unused).unwrap().compile(halfbyte::VP1).unwrap_err().to_string();
    assert!(errors.contains("unknown instruction"), "{errors}");
    let other = unused.replace("vp1 \"addd", "halu \"IADD3");
    let errors = Module::parse(&other).unwrap().compile(halfbyte::VP1).unwrap_err().to_string();
    assert!(errors.contains("the instruction belongs to target `halu`"), "{errors}");
    let wide = unused.replace("intrinsic.i32 vp1 \"addd", "intrinsic.i64 vp1 \"add");
    let errors = Module::parse(&wide).unwrap().compile(halfbyte::VP1).unwrap_err().to_string();
    assert!(errors.contains("the scalar registers of VP1 hold 32 bits"), "{errors}");
}
