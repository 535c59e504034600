//! Random VP1 instructions in intrinsics, with further instructions that make their effects visible.

use halfbyte::ir::witness::Random;
use halfbyte::isa::row::{OperandKind, RegFile};
use halfbyte::isa::vp1::footprint::Profile;
use halfbyte::isa::vp1::{Inst, Opcode, fields as f};
use halfbyte::isa::word::Field;

fn pick<T: Copy>(random: &mut Random, of: &[T]) -> T {
    of[random.bits() as usize % of.len()]
}

/// Returns the reason why an instruction cannot be an intrinsic, or `None` if it can.
pub fn reason(op: Opcode) -> Option<&'static str> {
    use Opcode::*;
    Some(match op {
        SNOP | VNOP => "has no effect",
        MOV_SR_R | MOV_MI_R | MOV_UC_R | MOV_L_R | MOV_A_R | MOV_M_R | MOV_D_R | MOV_F_R | MOV_X_R | MOV_R_SR
        | MOV_R_MI | MOV_R_UC | MOV_R_L | MOV_R_A | MOV_R_M | MOV_R_D | MOV_R_F | MOV_R_X => {
            "an intrinsic may use `$r`, `$v`, `$c`, `$vc` and `$va` only"
        }
        // Units other than the scalar unit write some of these flags.
        MOV_R_C => "that the scalar unit does not write",
        _ => return None,
    })
}

/// A sequence of bundles in assembly; `&` joins the instructions of a bundle. The result is in
/// `$r0` or `$v0`. The operands are in `$r4` to `$r11` and `$v4` to `$v12`, and registers from 16
/// on are temporaries. `mov $vx` occurs only in templates.
pub struct Sequence {
    pub bundles: Vec<String>,
    pub result: RegFile,
}

/// First bundles of each sequence, which initialise all flags, `$vx` and `$va`. The last one writes `$va`.
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

/// Returns sequences with a random instruction, each of which makes one of its effects visible.
/// `wanted` is a field that must have a given value.
pub fn sequences(op: Opcode, wanted: Option<(Field, u64)>, random: &mut Random) -> Vec<Sequence> {
    let mut inst = Inst::random(op, &mut || random.bits());
    let fields: Vec<_> = op.row().fields().collect();
    let flags = pick(random, &[0, 1, 2, 3, f::NO_FLAGS]);
    // The instruction selects a bit of `$c` that the scalar unit writes, or a constant bit.
    let bit = pick(random, &[0, 1, 2, 3, 4, 5, 6, 7, f::PLAIN, f::ALWAYS]);
    // The number of the third register also encodes other properties of the instruction, so several numbers are tested.
    let third = pick(random, &[4, 5, 7, 9, 11, 12, 14, 15]);
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
        inst.set(f::CDST, random.bits() % 4);
    }
    if op == Opcode::VECMS {
        inst.set(f::SRC1, 17);
    }
    if op == Opcode::MOV_VC {
        inst.set(f::DST, 18);
    }
    if let Some((field, value)) = wanted.filter(|(field, _)| fields.contains(field)) {
        inst.set(field, value);
    }
    let own = inst.to_string();
    // The effect of an instruction that accesses another memory is unknown, so it is treated like a nop.
    let profile = Profile::of(inst).unwrap_or(Profile::of(Inst::new(Opcode::SNOP)).unwrap());
    let (half, spread) = (pick(random, &["sf", "zf"]), random.bits() % 8);
    let bundle = if profile.uses_forwarded_factors() || profile.uses_forwarded_flags() {
        let (vc, c) = (random.bits() % 4, random.bits() % 4);
        let bit = pick(random, &["sf", "b20", "b19", "b21", "true"]);
        let first = random.bits() as i64 % 256;
        let constants =
            format!("vec {}0x{:x} 0x{:x}", if first < 0 { "-" } else { "" }, first.abs(), random.bits() % 256);
        let bytes = "bvec $r8".to_string();
        let positions = format!("bvecmad $r4 $r8q $c{c} {bit}");
        let chosen = format!("bvecmadsel $r5 $r8q $c{c} {bit}");
        let producer = [constants, bytes, positions, chosen, "vecms $r17".to_string()];
        let producer = &producer[random.bits() as usize % producer.len()];
        format!("{producer} $vc{vc} {half} 0x{spread:x} & {own}")
    } else if profile.forwards_values() {
        let sign = pick(random, &["s", "u"]);
        let mode = pick(random, &["factor", "mask"]);
        format!("{own} & vmac2 {sign} {mode} rn int 0x0 hi $v0 s $v4d")
    } else {
        own.clone()
    };
    let sequence = |result, after: &[String]| {
        let own = std::iter::once(bundle.clone());
        let bundles = BEFORE.iter().map(|s| s.to_string()).chain(own).chain(after.iter().cloned());
        // Only one of the two register files contains the result.
        let (not, instead) = if result == RegFile::R { ("$v0", "$v20") } else { ("$r0", "$r20") };
        let words = |bundle: String| {
            bundle.split(' ').map(|word| if word == not { instead } else { word }).collect::<Vec<_>>().join(" ")
        };
        Sequence { bundles: bundles.map(words).collect(), result }
    };
    let mut all = Vec::new();
    for operand in op.row().operands {
        match operand.kind {
            OperandKind::Reg { file, field, .. } if field == f::DST && op != Opcode::MOV_VC => {
                all.push(sequence(file, &[]))
            }
            OperandKind::FlagDef { file: RegFile::C, field } if inst.get(field) < 4 => {
                let bit = pick(random, &["sf", "zf", "b19", "b20d", "b20", "b21", "b19a", "b18"]);
                // Bit `b20` selects one register of a quad, any other bit one register of a pair.
                let many = if bit == "b20" { 'q' } else { 'd' };
                let observe = format!("add $r0 0x0 (slct $c{} {bit} $r4{many})", inst.get(field));
                all.push(sequence(RegFile::R, &[observe]));
            }
            OperandKind::FlagDef { file: RegFile::Vc, field } if inst.get(field) < 4 => {
                let observe = format!("mov $r0 $v18 0x{:x}", inst.get(field));
                all.push(sequence(RegFile::R, &["mov $v18 $vc".to_string(), observe]));
            }
            OperandKind::Whole(RegFile::Va) => {
                let half = pick(random, &["lo", "hi"]);
                all.push(sequence(RegFile::V, &[format!("vmac s rd fract 0x0 {half} $v0 s $v4 s 0x0")]));
            }
            _ => {}
        }
    }
    match op {
        Opcode::MOV_VC => all.push(sequence(RegFile::R, &[format!("mov $r0 $v18 0x{:x}", random.bits() % 4)])),
        Opcode::VECMS => all.push(sequence(RegFile::R, &["or $r0 $r17 0x0".to_string()])),
        _ => {}
    }
    if profile.forwards_values() {
        all.push(sequence(RegFile::V, &[]));
    }
    if all.is_empty() {
        all.push(sequence(RegFile::V, &[]));
    }
    // `vlrp2` may leave `$va` unchanged, in which case no later instruction can read `$va`.
    all.retain(|sequence| {
        let reads = sequence.bundles.last().is_some_and(|last| last.starts_with("vmac s rd"));
        !reads || op != Opcode::VLRP2 || inst.get(f::VAWRITE) != 0
    });
    all
}

/// Splits a register name into its file, its number and its suffix.
pub fn register(name: &str) -> Option<(char, usize, &str)> {
    let body = name.strip_prefix('$')?;
    let file = body.chars().next().filter(|file| matches!(file, 'r' | 'v'))?;
    let digits = body.get(1..)?.trim_end_matches(['d', 'q']);
    Some((file, digits.parse().ok()?, body.get(1 + digits.len()..)?))
}

/// Replaces the registers in assembly by placeholders. Returns the resulting template and the
/// registers of the operands.
pub fn template(text: &str) -> (String, Vec<(char, usize)>) {
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

/// Returns a kernel that loads operands, applies an intrinsic to them, and stores the result.
pub fn kernel(operands: &[&str], result: &str, intrinsic: &str) -> String {
    let (mut params, mut body, mut values, mut run) = (String::new(), String::new(), Vec::new(), String::new());
    for (n, &ty) in operands.iter().enumerate() {
        // Masks cannot be stored in memory.
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
