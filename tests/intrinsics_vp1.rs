//! VP1's instructions from text: every one that computes gives in an intrinsic what it gives on the processor's own registers, and
//! of every other it is known why it cannot be one.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use halfbyte::check::check;
use halfbyte::intrinsics::Meanings;
use halfbyte::ir::eval::{Intrinsics, Operand};
use halfbyte::ir::{IntrinsicData, Type};
use halfbyte::isa::row::{Kind, RegFile};
use halfbyte::isa::vp1::footprint::Profile;
use halfbyte::isa::vp1::state::State;
use halfbyte::isa::vp1::{Bundle, Inst, Opcode, Unit, fields as f, read_word};
use halfbyte::launch::Engine;
use halfbyte::{Module, Target};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.next() as usize % of.len()]
    }
}

/// Why an instruction is none of an expression's, where it is not.
fn reason(op: Opcode) -> Option<&'static str> {
    use Opcode::*;
    Some(match op {
        SNOP | VNOP => "has no effect",
        MOV_SR_R | MOV_MI_R | MOV_UC_R | MOV_L_R | MOV_A_R | MOV_M_R | MOV_D_R | MOV_F_R | MOV_X_R | MOV_R_SR
        | MOV_R_MI | MOV_R_UC | MOV_R_L | MOV_R_A | MOV_R_M | MOV_R_D | MOV_R_F | MOV_R_X => "is a move from or to",
        // The other units write some of them.
        MOV_R_C => "are read that the scalar unit does not write",
        _ => return None,
    })
}

/// Bundles of assembly, the words of one joined by `&`. `$r0` and `$v0` are results, `$r4` to `$r11` and `$v4` to `$v12` operands,
/// those from 16 on temporaries. `mov $vx` is one of a template's own.
struct Sequence {
    bundles: Vec<String>,
    result: RegFile,
}

/// Gives all flags, `$vx` and `$va` something to hold. The last bundle writes `$va`.
const BEFORE: [&str; 12] = [
    "mov $vx $v13",
    "mov $r0 0x1234",
    "vmov $v0 0x9a",
    "add $r16 $c0 $r4 $r5",
    "sub $r16 $c1 $r5 $r6",
    "xor $r16 $c2 $r6 $r7",
    "max $r17 $c3 $r7 $r4",
    "vsub u $v16 $vc0 $v4 $v5",
    "vsub s $v16 $vc1 $v5 $v6",
    "vshr s $v16 $vc2 $v6 $v7",
    "vadd u $v17 $vc3 $v7 $v4",
    "vmul s rn fract 0x0 hi # s $v4 s $v5",
];

/// A random instruction, and sequences that each observe something of what it does.
fn sequences(op: Opcode, random: &mut Random) -> Vec<Sequence> {
    let mut inst = Inst::random(op, &mut || random.next());
    let fields: Vec<_> = op.row().fields().collect();
    let flags = random.pick(&[0, 1, 2, 3, f::NO_FLAGS]);
    // A bit of `$c` is one that the scalar unit writes, or is known.
    let bit = random.pick(&[0, 1, 2, 3, 4, 5, 6, 7, f::PLAIN, f::ALWAYS]);
    // What the number of a third register is elsewhere in the word is tried, too.
    let third = random.pick(&[4, 5, 7, 9, 11, 12, 14, 15]);
    let values = [(f::DST, 0), (f::SRC1, 4), (f::SRC2, 8), (f::SRC3, third), (f::CDST, flags), (f::SLCT, bit)];
    let registers = inst.registers();
    for (field, value) in values {
        let is_register = registers.iter().any(|slot| slot.field == field) || field == f::SLCT;
        let named = op.row().operands.iter().any(|o| !o.silent && o.fields().any(|of| of == field));
        if fields.contains(&field) && is_register {
            inst.set(field, if named { value } else { f::NO_FLAGS });
        }
    }
    if op == Opcode::VCMPAD {
        inst.set(f::CDST, random.next() % 4);
    }
    if op == Opcode::VECMS {
        inst.set(f::SRC1, 17);
    }
    if op == Opcode::MOV_VC {
        inst.set(f::DST, 18);
    }
    let own = inst.to_string();
    // What a move from or to the outside does is not known.
    let profile = Profile::of(inst).unwrap_or(Profile::of(Inst::new(Opcode::SNOP)).unwrap());
    let (half, spread) = (random.pick(&["sf", "zf"]), random.next() % 8);
    let bundle = if profile.hears_factors() || profile.hears_flags() {
        let (vc, c) = (random.next() % 4, random.next() % 4);
        let bit = random.pick(&["sf", "b20", "b19", "b21", "true"]);
        let first = random.next() as i64 % 256;
        let constants =
            format!("vec {}0x{:x} 0x{:x}", if first < 0 { "-" } else { "" }, first.abs(), random.next() % 256);
        let bytes = "bvec $r8".to_string();
        let positions = format!("bvecmad $r4 $r8q $c{c} {bit}");
        let chosen = format!("bvecmadsel $r5 $r8q $c{c} {bit}");
        let producer = [constants, bytes, positions, chosen, "vecms $r17".to_string()];
        let producer = &producer[random.next() as usize % producer.len()];
        format!("{producer} $vc{vc} {half} 0x{spread:x} & {own}")
    } else if profile.hands_over() {
        let sign = random.pick(&["s", "u"]);
        let mode = random.pick(&["factor", "mask"]);
        format!("{own} & vmac2 {sign} {mode} rn int 0x0 hi $v0 s $v4d")
    } else {
        own.clone()
    };
    let sequence = |result, after: &[String]| {
        let own = std::iter::once(bundle.clone());
        let bundles = BEFORE.iter().map(|s| s.to_string()).chain(own).chain(after.iter().cloned());
        // The result is in one file.
        let (not, instead) = if result == RegFile::R { ("$v0", "$v20") } else { ("$r0", "$r20") };
        let words = |bundle: String| {
            bundle.split(' ').map(|word| if word == not { instead } else { word }).collect::<Vec<_>>().join(" ")
        };
        Sequence { bundles: bundles.map(words).collect(), result }
    };
    let mut all = Vec::new();
    for operand in op.row().operands {
        match operand.kind {
            Kind::Reg { file, field, .. } if field == f::DST && op != Opcode::MOV_VC => all.push(sequence(file, &[])),
            Kind::FlagDef { file: RegFile::C, field } if inst.get(field) < 4 => {
                let bit = random.pick(&["sf", "zf", "b19", "b20d", "b20", "b21", "b19a", "b18"]);
                // Quads go with bit b20.
                let many = if bit == "b20" { 'q' } else { 'd' };
                let observe = format!("add $r0 0x0 (slct $c{} {bit} $r4{many})", inst.get(field));
                all.push(sequence(RegFile::R, &[observe]));
            }
            Kind::FlagDef { file: RegFile::Vc, field } if inst.get(field) < 4 => {
                let observe = format!("mov $r0 $v18 0x{:x}", inst.get(field));
                all.push(sequence(RegFile::R, &["mov $v18 $vc".to_string(), observe]));
            }
            Kind::Whole(RegFile::Va) => {
                let half = random.pick(&["lo", "hi"]);
                all.push(sequence(RegFile::V, &[format!("vmac s rd fract 0x0 {half} $v0 s $v4 s 0x0")]));
            }
            _ => {}
        }
    }
    match op {
        Opcode::MOV_VC => all.push(sequence(RegFile::R, &[format!("mov $r0 $v18 0x{:x}", random.next() % 4)])),
        Opcode::VECMS => all.push(sequence(RegFile::R, &["or $r0 $r17 0x0".to_string()])),
        _ => {}
    }
    if profile.hands_over() {
        all.push(sequence(RegFile::V, &[]));
    }
    if all.is_empty() {
        all.push(sequence(RegFile::V, &[]));
    }
    // `vlrp2` may leave `$va` alone, but then nothing can read it after.
    all.retain(|sequence| {
        let reads = sequence.bundles.last().is_some_and(|last| last.starts_with("vmac s rd"));
        !reads || op != Opcode::VLRP2 || inst.get(f::VAWRITE) != 0
    });
    all
}

/// The parts of a name: file, number, suffix.
fn register(name: &str) -> Option<(char, usize, &str)> {
    let body = name.strip_prefix('$')?;
    let file = body.chars().next().filter(|file| matches!(file, 'r' | 'v'))?;
    let digits = body.get(1..)?.trim_end_matches(['d', 'q']);
    Some((file, digits.parse().ok()?, body.get(1 + digits.len()..)?))
}

/// The text in which placeholders stand for registers, and the registers of the operands.
fn template(text: &str) -> (String, Vec<(char, usize)>) {
    let names: Vec<&str> = text.split([' ', ')', ';']).filter(|name| name.starts_with('$')).collect();
    let mut operands: Vec<(char, usize)> = Vec::new();
    for (file, number, suffix) in names.iter().filter_map(|name| register(name)) {
        let count = match suffix {
            "d" => 2,
            "q" => 4,
            _ => 1,
        };
        operands.extend((number..number + count).filter(|n| (4..16).contains(n)).map(|n| (file, n)));
    }
    operands.sort();
    operands.dedup();
    let replaced = |name: &str| {
        let (file, number, suffix) = register(name)?;
        let temporary = |n: usize| if file == 'r' { n - 16 } else { n - 16 + 8 };
        Some(match number {
            0 => "$d".to_string(),
            16.. => format!("$t{}{suffix}", temporary(number)),
            _ => format!("${}{suffix}", operands.iter().position(|&o| o == (file, number))?),
        })
    };
    let words: Vec<String> = text
        .split(' ')
        .map(|word| {
            let bare = word.trim_end_matches([')', ';']);
            replaced(bare).map_or(word.to_string(), |new| format!("{new}{}", &word[bare.len()..]))
        })
        .collect();
    (words.join(" "), operands)
}

/// What the sequence leaves in `$r0` or `$v0` of the processor, as lanes.
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
    Meanings.resolve(&intrinsic, &types, result)?(&values, &mut out);
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
            for sequence in sequences(op, &mut random) {
                let mut state = State::default();
                state.r = state.r.map(|_| random.next() as u32);
                state.v = state.v.map(|v| v.map(|_| random.next() as u8));
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

/// A kernel that stores what an intrinsic makes of loaded operands.
fn kernel(operands: &[&str], result: &str, intrinsic: &str) -> String {
    let (mut params, mut body, mut values, mut run) = (String::new(), String::new(), Vec::new(), String::new());
    for (n, &ty) in operands.iter().enumerate() {
        // Masks have no place in memory.
        let loaded = match ty {
            "i1" => "i32",
            "i1x4" => "i8x4",
            "i1x16" => "i8x16",
            _ => ty,
        };
        params += &format!("%a{n}s: in {loaded}, ");
        body += &format!("  %a{n} = load %a{n}s[%i]\n");
        run += &format!(" a{n}s=random(37, {})", n + 1);
        if loaded == ty {
            values.push(format!("%a{n}"));
        } else {
            body += &format!("  %z{n} = const.{loaded} 3\n  %m{n} = icmp.lt_s.{loaded} %a{n}, %z{n}\n");
            values.push(format!("%m{n}"));
        }
    }
    body += &format!("  %r = intrinsic.{result} vp1 \"{intrinsic}\", {}\n", values.join(", "));
    let (stored, out) = match result {
        "i1" => ("i32", "w"),
        "i1x4" => ("i8x4", "w"),
        "i1x16" => ("i8x16", "w"),
        _ => (result, "r"),
    };
    if out == "w" {
        body += &format!("  %w = mask_expand.{stored} %r\n");
    }
    format!(
        "kernel @k({params}%y: out {stored}) {{\n^entry:\n  %i = item_id\n{body}  store %{out}, %y[%i]\n  ret\n}}\n\
         ; run: vp1: @k items=37{run} y=zeros(37)\n"
    )
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
        // Masks have no use for flags.
        (&[v, v], v, "vec -0x2 0x54 $vc0 sf 0x0 & vmad2 u mask rn int 0x0 hi $d u $0d u $1"),
        // One operand at both ends of pairs.
        (&[v, v, v], v, "vlrp rn 0x0 $t0 $0d $2; vlrp rd 0x0 $t1 $1d $0; vmin u $d $t0 $t1"),
        // A quad that flags rotate.
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
        // The rest of such an interpolation, which takes a vector that was loaded.
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
        // Registers whose numbers are the rounding, the shift and the half, also beside each other and beside a tuple.
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
        // Flags of two registers, spread.
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

/// One intrinsic for each number that the third register of `vmac2` can have, all operands live at once.
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
        ("add $d $0 $r1", "register `$r1` cannot be named"),
        ("add $d $0 $1", "`$1` is no placeholder"),
        ("lds $d $a0 0x0", "an intrinsic only computes"),
        ("vmac s rn int 0x0 hi $d s $0 s $0", "must be"),
        ("add $d $0 (slct $c0 sf $0d)", "`$0d` is no placeholder"),
        ("addd $d $0 $0", "unknown instruction"),
        ("mov $vx $0; add $d $0 $0", "`$0` is in another register file"),
        ("mov $vx $0 & add $d $0 $0", "`mov $vx` stands for a store and a load"),
        ("mov $d $vx; add $d $d $0", "`$vx`: imm must be an integer"),
    ] {
        let message = outcome(&kernel(&["i32"], "i32", intrinsic)).unwrap();
        assert!(message.contains(reason), "{intrinsic}: {message}");
    }
    let unused = "kernel @k() {\n^entry:\n  %i = item_id\n  %r = intrinsic.i32 vp1 \"addd $d $0\", %i\n  ret\n}\n";
    let errors = Module::parse(unused).unwrap().compile(Target::Vp1).unwrap_err().to_string();
    assert!(errors.contains("unknown instruction"), "{errors}");
    let other = unused.replace("vp1 \"addd", "halu \"IADD3");
    let errors = Module::parse(&other).unwrap().compile(Target::Vp1).unwrap_err().to_string();
    assert!(errors.contains("it is an instruction of `halu`"), "{errors}");
    let wide = unused.replace("intrinsic.i32 vp1 \"addd", "intrinsic.i64 vp1 \"add");
    let errors = Module::parse(&wide).unwrap().compile(Target::Vp1).unwrap_err().to_string();
    assert!(errors.contains("its scalar registers hold 32 bits"), "{errors}");
}
