//! PTX text: what is printed reads as what it was, an assembler takes it, and what is wrong is said where it is.

use std::collections::BTreeMap;
use std::path::Path;

use crate::random::Random;
use halfbyte_abi::Sm;
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::module::{Entry, Kernel, Linkage, Module, Suffix, TargetName, Variables};
use halfbyte_isa::ptx::row::{Row, Shape};
use halfbyte_isa::ptx::text::{Text, Verdict, Writer, inst_text, read, read_each};
use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode};

const SM_90: TargetName = TargetName { sm: 90, suffix: None };
const SM_120F: TargetName = TargetName { sm: 120, suffix: Some(Suffix::Family) };

/// Random instructions of an opcode.
fn instructions(opcode: Opcode, count: usize) -> Vec<Inst> {
    let entry = crate::ptx::empty_entry();
    let mut random = Random(opcode as u64);
    (0..count).map(|_| Inst::random(opcode, &entry, &mut || random.next()).unwrap()).collect()
}

#[test]
fn every_instruction_reads_as_it_prints() {
    for &opcode in Opcode::ALL {
        let mut entry = crate::ptx::empty_entry();
        entry.insts = instructions(opcode, 300);
        for inst in &entry.insts {
            assert!(inst.is_valid(|reg| entry.registers.ty(reg)), "{opcode:?}: {}", inst_text(inst, &entry));
        }
        let module = crate::ptx::module((9, 2), SM_120F, entry);
        let text = module.to_string();
        let again = read(&text).unwrap_or_else(|errors| panic!("{opcode:?}: {errors:?}\n{text}"));
        assert!(again.module == module, "{opcode:?}\n{text}\n{}", again.module);
    }
}

#[test]
fn an_assembler_takes_every_instruction() {
    let Some(ptxas) = crate::ptx::ptxas() else { return };
    for (version, target) in [
        ((9, 2), SM_120F),
        ((8, 8), SM_90),
        ((8, 8), TargetName { sm: 80, suffix: None }),
        ((6, 5), TargetName { sm: 75, suffix: None }),
    ] {
        let mut entry = crate::ptx::empty_entry();
        let probe = Module { version, target, variables: Variables::default(), entries: Vec::new() };
        for &opcode in Opcode::ALL {
            let mut insts = instructions(opcode, 12);
            insts.retain(|inst| probe.provides(inst.since()) && !crate::ptx::clamps_nothing(inst));
            insts.iter_mut().for_each(crate::ptx::tame);
            entry.insts.extend(insts);
        }
        let refused = refused(&ptxas, &crate::ptx::module(version, target, entry));
        assert!(refused.is_empty(), "{target}:\n{}", refused.join("\n"));
    }
}

/// What an assembler refuses of a module, an instruction of each mnemonic with what is said of it.
fn refused(ptxas: &Path, module: &Module) -> Vec<String> {
    let text = module.to_string();
    let Err(said) = crate::ptx::assemble(ptxas, module.target, &text) else { return Vec::new() };
    let lines: Vec<&str> = text.lines().collect();
    let mut shown = BTreeMap::new();
    for line in said.lines() {
        let number = line.split("line ").nth(1).and_then(|rest| rest.split(';').next()?.parse::<usize>().ok());
        let inst = number.and_then(|n| lines.get(n - 1)).copied().unwrap_or("");
        let mnemonic = inst.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or("");
        shown.entry(mnemonic).or_insert_with(|| format!("{inst}\n    {line}"));
    }
    shown.into_values().collect()
}

/// Every choice of words that fills the slots of a row.
fn all_words(row: &Row) -> Vec<Vec<Token>> {
    row.slots.iter().fold(vec![Vec::new()], |all, slot| {
        let with = |words: &Vec<Token>| {
            let left_out = slot.optional.then(|| words.clone());
            let chosen = slot.choices.iter().map(|choice| [words.as_slice(), &[choice.token]].concat());
            left_out.into_iter().chain(chosen).collect::<Vec<_>>()
        };
        all.iter().flat_map(with).collect()
    })
}

/// Every instruction with every choice of words, on every SM that has it, in a text of just the version that it needs there:
/// what a row says that it needs is enough.
#[test]
fn an_assembler_takes_every_form_at_the_version_of_its_row() {
    let Some(ptxas) = crate::ptx::ptxas() else { return };
    let empty = crate::ptx::empty_entry();
    let (mut random, mut count, mut wrong) = (Random(21), 0, Vec::new());
    for sm in Sm::ALL {
        let mut versions: BTreeMap<((u8, u8), bool, bool), Vec<Inst>> = BTreeMap::new();
        for &opcode in Opcode::ALL {
            for words in all_words(opcode.row()) {
                let mut inst = Inst::random_of(opcode, &words, &empty, &mut || random.next()).unwrap();
                if !inst.since().is_met_by(sm) || crate::ptx::clamps_nothing(&inst) {
                    continue;
                }
                crate::ptx::tame(&mut inst);
                let Kernel { version, target, .. } =
                    Kernel::for_sm(sm, Entry { insts: vec![inst.clone()], ..empty.clone() });
                // Random rounding is of an architecture, not of its family.
                let of_one = inst.has(Token::Rs);
                versions.entry((version, target.suffix.is_some(), of_one)).or_default().push(inst);
            }
        }
        for ((version, is_family, of_one), insts) in versions {
            count += insts.len();
            let suffix = if of_one { Suffix::Architecture } else { Suffix::Family };
            let target = TargetName { sm: sm.number(), suffix: is_family.then_some(suffix) };
            let said = refused(&ptxas, &crate::ptx::module(version, target, Entry { insts, ..empty.clone() }));
            wrong.extend(said.into_iter().map(|said| format!("{version:?} {target}: {said}")));
        }
    }
    println!("{count} forms");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 10_000, "{count}");
}

/// The registers that an example of a row is about, declared with the types of the places where they stand.
fn declarations(row: &Row, example: &str) -> String {
    let example = example.trim_end_matches(';');
    let mut declared = BTreeMap::new();
    let body = match example.strip_prefix('@') {
        Some(guarded) => {
            let (guard, body) = guarded.split_once(' ').unwrap();
            declared.insert(guard.trim_start_matches('!'), Type::Pred);
            body
        }
        None => example,
    };
    let (mnemonic, operands) = body.split_once(' ').unwrap_or((body, ""));
    let words: Vec<Token> = mnemonic.split('.').skip(1).map(|word| Token::from_text(word).unwrap()).collect();
    let mut rest = operands;
    for o in row.operands_with(&words) {
        let end = if rest.starts_with('{') { rest.find('}').unwrap() } else { rest.find(',').unwrap_or(rest.len()) };
        let (mut text, after) = rest.split_at(end);
        rest = after.trim_start_matches(['}', ',', ' ']);
        let of = |ty: halfbyte_isa::ptx::row::Ty| match ty.resolve(&words).0 {
            Type::Pred => Type::Pred,
            ty => [Type::B8, Type::B16, Type::B32, Type::B64][ty.bits().ilog2() as usize - 3],
        };
        let ty = match o.shape {
            Shape::Register(ty) | Shape::Value(ty) | Shape::Vector(ty, _) => of(ty),
            Shape::Parts(ty) => {
                if of(ty) == Type::B32 {
                    Type::B16
                } else {
                    Type::B32
                }
            }
            Shape::Predicates | Shape::Condition => Type::Pred,
            Shape::WithPredicate(ty) => {
                let (_, predicate) = text.split_once('|').unwrap();
                declared.insert(predicate, Type::Pred);
                text = text.split('|').next().unwrap();
                of(ty)
            }
            Shape::Memory | Shape::Readable => Type::B64,
            _ => Type::B32,
        };
        for name in text.split(['{', '|', ',', ' ', '[', ']', '+', '!', '-']).filter(|name| name.starts_with('%')) {
            let name = if o.shape == Shape::Special { continue } else { name.split('.').next().unwrap() };
            declared.insert(name, ty);
        }
    }
    declared.iter().map(|(name, ty)| format!(".reg {ty} {name};\n")).collect()
}

/// The kernel of a body, with what it needs declared.
fn kernel(body: &str) -> String {
    let head = ".version 9.2\n.target sm_120f\n.address_size 64\n.global .b32 g0[4]; .const .b32 c0[4];";
    format!("{head}.entry k(.param .u64 p0)\n{{\n{body}\n}}\n")
}

#[test]
fn every_example_is_of_its_row() {
    for &opcode in Opcode::ALL {
        assert!(!opcode.row().examples.is_empty(), "{opcode:?}");
        for example in opcode.row().examples {
            let text = kernel(&format!("{}done:\nloop:\n{example}", declarations(opcode.row(), example)));
            let read = read(&text).unwrap_or_else(|errors| panic!("{example}: {errors:?}"));
            assert_eq!(read.module.entries[0].insts[0].opcode, opcode, "{example}");
        }
    }
}

fn baselines() -> Vec<(String, String)> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ptx/baseline");
    let mut files = Vec::new();
    for folder in [root.clone(), root.join("sm75")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                files.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert_eq!(files.len(), 27);
    files
}

#[test]
fn the_baselines_read_as_they_print() {
    for (path, text) in baselines() {
        let Text { module, locs, .. } = read(&text).unwrap_or_else(|errors| panic!("{path}: {errors:?}"));
        assert_eq!(module.missing().collect::<Vec<_>>(), [], "{path}");
        let again = read(&module.to_string()).unwrap();
        assert!(again.module == module, "{path}");
        // An instruction stands where the text says.
        let lines: Vec<&str> = text.lines().collect();
        for (inst, loc) in module.entries[0].insts.iter().zip(&locs[0]) {
            let rest = &lines[loc.line as usize - 1][loc.column as usize - 1..];
            assert!(rest.starts_with(inst.row().mnemonic), "{path}:{}: {rest}", loc.line);
        }
    }
}

#[test]
fn what_compilers_write_is_read() {
    let text = "//
// Generated
//
.version 8.3
.target sm_75, debug
.address_size 64
\t.file\t1 \"k.cu\"
.weak .entry _Z1kPf(
\t.param .u64 .ptr .global .align 4 _Z1kPf_param_0,
\t.param .align 8 .b8 _Z1kPf_param_1[24]
)
.maxntid 128, 1, 1
.minnctapersm 2
{
\t.reg .pred \t%p<2>;
\t.reg .b32 \t%r<3>, %one;
\t.loc\t1 3 0
\t.pragma \"nounroll\";
$L__BB0_1: /* twice
*/ $L__again:
\tld.param.u32 %r1, [_Z1kPf_param_1+8];;
\tsetp.ne.s32 %p1, %r1, 0b101;
\t@%p1 bra $L__BB0_1;
\tmov.b32 %one, 017U;
\tmov.b32 %r2, -1.5e0;
\tbra.uni end;
end:
}
.visible .entry other() { ret; }
";
    let text = text.replace("-1.5e0", "0FBFC00000");
    let module = read(&text).unwrap_or_else(|errors| panic!("{errors:?}")).module;
    let expected = ".version 8.3
.target sm_75
.address_size 64

.weak .entry _Z1kPf(.param .u64 .ptr .global .align 4 _Z1kPf_param_0, .param .align 8 .b8 _Z1kPf_param_1[24])
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b32 %one;
$L__BB0_1:
$L__again:
    ld.param.u32 %r1, [_Z1kPf_param_1+8];
    setp.ne.s32 %p1, %r1, 5;
    @%p1 bra $L__BB0_1;
    mov.b32 %one, 0xf;
    mov.b32 %r2, 0xbfc00000;
    bra.uni end;
end:
}

.visible .entry other()
{
    ret;
}
";
    assert_eq!(module.to_string(), expected);
}

#[test]
fn blocks_have_names_of_their_own() {
    let body = ".reg .b32 %r<4>; .reg .b32 t; .reg .pred p;
{ .reg .b32 t, %r1; .reg .pred p<2>; L: mov.b32 t, %r1; @p1 bra L; { .reg .b32 t; @p0 bra out; mov.b32 t, %r2; bra L; } }
{ .reg .b32 t; L: mov.b32 t, 1; bra L; }
mov.b32 t, %r1; @p bra out;
out: ret;";
    let read_once = read(&kernel(body)).unwrap_or_else(|errors| panic!("{errors:?}")).module;
    let text = read_once.to_string();
    let expected = ".version 9.2
.target sm_120f
.address_size 64

.global .b32 g0[4];
.const .b32 c0[4];

.entry k(.param .u64 p0)
{
    .reg .b32 %r<4>;
    .reg .b32 t;
    .reg .pred p;
    .reg .b32 t_1_;
    .reg .b32 %r1_1_;
    .reg .pred p_1_<2>;
    .reg .b32 t_2_;
    .reg .b32 t_3_;
L:
    mov.b32 t_1_, %r1_1_;
    @p_1_1 bra L;
    @p_1_0 bra out;
    mov.b32 t_2_, %r2;
    bra L;
L_1_:
    mov.b32 t_3_, 1;
    bra L_1_;
    mov.b32 t, %r1;
    @p bra out;
out:
    ret;
}
";
    assert_eq!(text, expected);
    assert!(read(&text).unwrap().module == read_once);

    // What a block declares ends with it.
    let errors = |body: &str| read(&kernel(body)).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(errors("{ .reg .b32 t; } mov.b32 t, 0;"), ["6:26: unknown name `t`"]);
    assert_eq!(errors("{ bra L; } { L: ret; }"), ["6:7: label `L` is not defined"]);
    assert_eq!(errors("{ ret;"), ["8:1: expected `}`; found the end of the text"]);
    assert_eq!(errors("ret; } }"), ["6:8: expected a directive; found `}`"]);
}

#[test]
fn most_words_stand_in_any_order() {
    let regs = ".reg .b32 %r<4>; .reg .pred %p<3>; .reg .b16 %h<4>; .reg .b64 %d<4>; .reg .f32 %f<4>;";
    for (written, meant) in [
        ("add.s32.sat %r1, %r2, %r3;", "add.sat.s32 %r1, %r2, %r3;"),
        ("mul.ftz.rn.f16x2 %r1, %r2, %r3;", "mul.rn.ftz.f16x2 %r1, %r2, %r3;"),
        ("min.NaN.ftz.f16x2 %r1, %r2, %r3;", "min.ftz.NaN.f16x2 %r1, %r2, %r3;"),
        ("fma.rn.relu.ftz.f16x2 %r1, %r2, %r3, %r1;", "fma.rn.ftz.relu.f16x2 %r1, %r2, %r3, %r1;"),
        ("cvt.sat.ftz.rn.f16.f32 %h1, %f1;", "cvt.rn.ftz.sat.f16.f32 %h1, %f1;"),
        ("ld.v2.global.b32 {%r1, %r2}, [%d1];", "ld.global.v2.b32 {%r1, %r2}, [%d1];"),
        ("ld.v4.nc.global.b32 {%r1, %r2, %r3, %r0}, [%d1];", "ld.global.nc.v4.b32 {%r1, %r2, %r3, %r0}, [%d1];"),
        ("setp.and.lt.s32 %p1, %r2, %r3, %p2;", "setp.lt.and.s32 %p1, %r2, %r3, %p2;"),
        ("setp.ftz.xor.lt.f32 %p1, %f2, %f3, %p2;", "setp.lt.xor.ftz.f32 %p1, %f2, %f3, %p2;"),
        ("vadd4.sat.u32.s32.u32 %r1, %r2, %r3, %r1;", "vadd4.u32.s32.u32.sat %r1, %r2, %r3, %r1;"),
    ] {
        let of =
            |line: &str| read(&kernel(&format!("{regs} {line}"))).unwrap_or_else(|e| panic!("{line}: {e:?}")).module;
        assert!(of(written) == of(meant), "{written}");
        assert!(of(written).to_string().contains(meant), "{written}");
    }
}

#[test]
fn what_another_file_defines_matters_where_it_is_named() {
    let text = ".version 8.0 .target sm_90
.extern .func (.param .b32 r) f (.param .b64 a, .param .b64 b);
.extern .func g .noreturn;
.extern .shared .align 16 .b8 s[];
.extern .global .b32 x, y[4];
.common .global .align 8 .u64 env;
.entry k(.param .u64 x) { .reg .b64 %d; ld.param.u64 %d, [x]; ret; }
";
    let module = read(text).unwrap().module;
    let [variable] = &module.variables[..] else { panic!("{:?}", module.variables) };
    assert_eq!((variable.name.as_str(), variable.linkage, &variable.bytes[..]), ("env", Linkage::Common, &[0; 8][..]));
    assert!(module.to_string().contains(".common .global .align 8 .u64 env;"), "{module}");
}

#[test]
fn a_kernel_that_is_not_taken_spoils_no_other() {
    let text = ".version 8.0 .target sm_90 .address_size 64
.visible .func (.param .b32 r) double(.param .b32 a) { .reg .b32 %x; { ld.param.b32 %x, [a]; } ret; }
.func declared (.param .b32 a);
.shared .align 4 .b8 pool[64];
.global .align 8 .u64 table[2] = {pool, 0};
.global .v4 .f32 lanes;
.global .b32 fine = 7;
.entry meets(.param .u64 x) { .reg .b32 %r<2>; bar.sync 0; frob.b32 %r0; ret; }
.entry calls(.param .u64 x) {
  .reg .b32 %r<2>; .param .b32 a; .shared .b8 mine[8];
  st.param.b32 [a+0], %r0; call.uni double, (a); mov.u32 %r1, mine; ret;
}
.entry shares(.param .u64 x) { .reg .b64 %d; mov.u64 %d, pool; ret; }
.entry reads(.param .u64 x) { .reg .b64 %d; mov.u64 %d, table; ret; }
.entry packs(.param .b128 x) { ret; }
.entry good(.param .u64 x) { .reg .b32 %r; ld.global.b32 %r, [fine]; ret; }
";
    let found = read_each(text).unwrap();
    let names: Vec<&str> = found.module.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["good"]);
    let refused: Vec<(&str, String)> =
        found.refused.iter().map(|refused| (refused.name.as_str(), refused.errors[0].to_string())).collect();
    assert_eq!(
        refused,
        [
            ("meets", "8:48: a barrier (`bar`) is not supported".to_owned()),
            ("calls", "10:20: a parameter of a call (`.param`) is not supported".to_owned()),
            ("shares", "13:58: shared memory (`.shared`) is not supported".to_owned()),
            ("reads", "14:57: an address as a value (`pool`) is not supported".to_owned()),
            ("packs", "15:21: a type of newer machines (`.b128`) is not supported".to_owned()),
        ]
    );
    let outside: Vec<String> = found.outside.iter().map(ToString::to_string).collect();
    assert_eq!(outside.len(), 5, "{outside:?}");
    // What is taken whole has all of it.
    assert_eq!(read(text).unwrap_err().len(), found.not_taken().len());
}

#[test]
fn a_kernel_that_is_no_ptx_spoils_its_file() {
    for body in ["frob.b32 %r0; bar.sync 0;", "add.s32 %r0, %r1, %none; bar.sync 0;", "mov.u32 %r0, mine;"] {
        let text = format!(
            ".version 8.0 .target sm_90\n.entry good() {{ ret; }}\n.entry other() {{ .shared .b8 mine[8]; ret; }}\n\
             .entry bad() {{ .reg .b32 %r<2>; {body} ret; }}\n"
        );
        let errors = read_each(&text).unwrap_err();
        assert!(errors.iter().any(|error| error.at.line == 4 && error.kind.verdict() == Verdict::Wrong), "{errors:?}");
    }
    let again = ".version 8.0 .target sm_90\n.entry k() { bar.sync 0; }\n.entry k() { ret; }\n";
    assert!(read_each(again).is_err());
    let open = ".version 8.0 .target sm_90\n.entry k() { .shared .b8 s[8] }\n.entry g() { ret; }\n";
    assert_eq!(read_each(open).unwrap().module.entries.len(), 1);
}

#[test]
fn a_vector_of_one_register_is_the_register() {
    let regs = ".reg .b32 %r<4>; .reg .b64 %d<2>;";
    for (written, meant) in [
        ("ld.global.b32 {%r1}, [%d1];", "ld.global.b32 %r1, [%d1];"),
        ("st.global.b32 [ %d1 + 4 ], { %r1 };", "st.global.b32 [%d1+4], %r1;"),
        ("mov.b32 %r1, {%r2};", "mov.b32 %r1, %r2;"),
        ("add.u32 %r1, %r2, WARP_SZ;", "add.u32 %r1, %r2, 32;"),
        ("add.s32 %r1, %r2, -WARP_SZ;", "add.s32 %r1, %r2, -32;"),
    ] {
        let of =
            |line: &str| read(&kernel(&format!("{regs} {line}"))).unwrap_or_else(|e| panic!("{line}: {e:?}")).module;
        assert!(of(written) == of(meant), "{written}");
    }
}

#[test]
fn what_is_outside_the_subset_is_named_each_time() {
    let text = ".version 8.0 .target sm_90 .address_size 64
.extern .func (.param .b32 r) f (.param .b32 a);
.func g(.reg .b32 x) { .reg .b32 y; { ret; } }
.global .align 4 .u32 counter[2] = {1, k};
.entry k() {
.shared .align 4 .b8 s[64];
.reg .b32 %r<4>; .reg .b64 %d<2>;
bar.sync 0;
shfl.sync.idx.b32 %r1|%p, %r2, 0, 31, -1;
{ call.uni (r), f, (a); }
add.s32 %r1, %r2, %r3;
vmad.u32.u32.u32 %r1, %r2, %r3, %r4;
vote.sync.any.pred %p1, %p2, -1;
st.shared.b32 [%d1], %r1;
ret;
}
.entry h() { tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f1, %f2}]; }
";
    let found: Vec<String> = read(text).unwrap_err().iter().map(ToString::to_string).collect();
    let expected = [
        "3:1: a function (`.func`) is not supported",
        "4:40: an address as a value (`k`) is not supported",
        "6:1: shared memory (`.shared`) is not supported",
        "8:1: a barrier (`bar`) is not supported",
        "9:1: an exchange between threads (`shfl`) is not supported",
        "10:3: a call (`call`) is not supported",
        "12:1: a video instruction of this name (`vmad`) is not supported",
        "13:1: an exchange between threads (`vote`) is not supported",
        "14:3: shared memory (`st.shared`) is not supported",
        "17:14: a texture (`tex`) is not supported",
    ];
    assert_eq!(found, expected);
}

#[test]
fn errors_are_where_they_are() {
    // A body, whose first line is line 6, and the errors.
    let regs = ".reg .b32 %r<4>; .reg .pred %p<2>; .reg .b16 %h<4>; .reg .b64 %d<4>; .reg .f32 %f<4>; .reg .s32 %s;\n";
    let cases: &[(&str, &str)] = &[
        ("frob.b32 %r1, %r2;", "7:1: unknown instruction `frob`"),
        ("  atom.global.add.u32 %r1, [%d1], %r2;", "7:3: an atomic operation (`atom`) is not supported"),
        ("bar.sync 0;", "7:1: a barrier (`bar`) is not supported"),
        ("ld.shared.b32 %r1, [%d1];", "7:3: shared memory (`ld.shared`) is not supported"),
        ("add.rn.s32 %r1, %r2, %r3;", "7:7: `.s32` cannot stand here in `add`"),
        ("add %r1, %r2, %r3;", "7:4: `add` needs a modifier for type here"),
        ("mul.s32 %r1, %r2, %r3;", "7:4: `.s32` cannot stand here in `mul`"),
        ("mul.lo %r1, %r2, %r3;", "7:7: `mul` needs a modifier for type here"),
        ("mul.s32.lo %r1, %r2, %r3;", "7:4: `.s32` cannot stand here in `mul`"),
        ("shf.wrap.l.b32 %r1, %r2, %r3, %r0;", "7:4: `.wrap` cannot stand here in `shf`"),
        ("cvta.global.to.u64 %d1, %d2;", "7:12: `.to` cannot stand here in `cvta`"),
        ("add.sat.sat.s32 %r1, %r2, %r3;", "7:8: `.sat` cannot stand here in `add`"),
        ("add.s32.sat %r1, %d2, %r3;", "7:18: operand `a` of `add` must be a register or a number of type .s32"),
        ("fma.f16x2 %r1, %r2, %r3, %r0;", "7:4: `.f16x2` cannot stand here in `fma`"),
        ("add.s32 %r1, %r2;", "7:17: `add` takes 3 operands; found 2"),
        ("add.s32 %r1, %r2, %r3, %r0;", "7:24: `add` takes 3 operands; found 4"),
        ("ret %r1;", "7:5: `ret` takes 0 operands; found 1"),
        ("setp.lt.s32 %p1, %r1, %r2, %p0;", "7:28: `setp` takes 3 operands; found 4"),
        ("setp.lt.and.s32 %p1, %r1, %r2;", "7:30: `setp` takes 4 operands; found 3"),
        ("add.s32 %r1, %d2, %r3;", "7:14: operand `a` of `add` must be a register or a number of type .s32"),
        ("add.s32 %f1, %r2, %r3;", "7:9: operand `d` of `add` must be a register of type .s32"),
        ("add.s32 5, %r2, %r3;", "7:9: operand `d` of `add` must be a register of type .s32"),
        ("add.rn.f16x2 %r1, %r2, 0x3c003c00;", "7:24: operand `b` of `add` must be a register of type .f16x2"),
        ("add.s32 %r1, %r2, %r9;", "7:19: unknown name `%r9`"),
        ("add.s32 %r1, %r2, %r03;", "7:19: unknown name `%r03`"),
        ("add.s32 %r1, %r2, foo;", "7:19: unknown name `foo`"),
        ("add.s32 %r1, %r2, _;", "7:19: operand `b` of `add` must be a register or a number of type .s32"),
        ("add.s32 %r1, %r2, %tid.x;", "7:19: `%tid.x` as an operand of `add` is not supported"),
        ("add.s32 %tid.x, %r2, %r3;", "7:9: operand `d` of `add` must be a register of type .s32"),
        ("mov.u32 %r1, %tid.w;", "7:18: unknown name `%tid.w`"),
        ("mov.u32 %r1, %clock;", "7:14: `%clock` is not supported"),
        ("mov.u32 WARP_SZ, %r1;", "7:9: operand `d` of `mov` must be a register of type .u32"),
        (
            "mov.b32 %r1, {%r2, %r3, %r0};",
            "7:14: operand `a` of `mov` must be 2 or 4 registers in braces that make 32 bits",
        ),
        ("add.s32 %r1, {%r2}, %r3;", "7:14: operand `a` of `add` must be a register or a number of type .s32"),
        ("ld.global.b32 {_}, [%d1];", "7:15: operand `d` of `ld` must be a register of type .b32 or wider"),
        ("mov.u32 %r1, %clusterid.y;", "7:24: `%clusterid` is not supported"),
        ("mov.u32 %r1, %clock32;", "7:14: unknown name `%clock32`"),
        ("bfind.u64 %d1, %d2;", "7:11: operand `d` of `bfind` must be a register of type .u32"),
        ("bfind.b32 %r1, %r2;", "7:6: `.b32` cannot stand here in `bfind`"),
        ("div.b32 %r1, %r2, %r3;", "7:4: `.b32` cannot stand here in `div`"),
        ("rem.f32 %f1, %f2, %f3;", "7:4: `.f32` cannot stand here in `rem`"),
        ("add.cc.u16 %h1, %h2, %h3;", "7:7: `.u16` cannot stand here in `add`"),
        ("addc.sat.s32 %r1, %r2, %r3;", "7:5: `.sat` cannot stand here in `addc`"),
        ("mul24.u32 %r1, %r2, %r3;", "7:6: `.u32` cannot stand here in `mul24`"),
        ("mad24.lo.sat.s32 %r1, %r2, %r3, %r0;", "7:9: `.sat` cannot stand here in `mad24`"),
        ("szext.clamp.b32 %r1, %r2, %r3;", "7:12: `.b32` cannot stand here in `szext`"),
        ("bmsk.b32 %r1, %r2, %r3;", "7:5: `.b32` cannot stand here in `bmsk`"),
        ("lop3.xor.b32 %r1|%p1, %r2, %r3, %r0, 7, %p0;", "7:5: `.xor` cannot stand here in `lop3`"),
        ("lop3.b32 %r1|%p1, %r2, %r3, %r0, 7;", "7:10: operand `d` of `lop3` must be a register of type .b32"),
        (
            "lop3.and.b32 %r1, %r2, %r3, %r0, 7, %p0;",
            "7:14: operand `d` of `lop3` must be a register of type .b32 and a predicate, as in `d|p`",
        ),
        ("lop3.and.b32 %r1|%p1, %r2, %r3, %r0, 7;", "7:39: `lop3` takes 6 operands; found 5"),
        ("prmt.f4e.b32 %r1, %r2, %r3, %r0;", "7:5: `.f4e` cannot stand here in `prmt`"),
        ("add.rn.rz.f32 %f1, %f2, %f3;", "7:7: `.rz` cannot stand here in `add`"),
        ("add.rz.f16 %h1, %h2, %h3;", "7:7: `.f16` cannot stand here in `add`"),
        ("ld.global.cg.b32 %r1, [%d1];", "7:10: an operation of the caches (`ld.cg`) is not supported"),
        ("ld.release.gpu.b32 %r1, [%d1];", "7:3: unknown modifier `.release` of `ld`"),
        (
            "st.global.b32 [%d1], {%p1};",
            "7:22: operand `b` of `st` must be a register or a number of type .b32 or wider",
        ),
        ("mov.b32 %r1, {0, %h1};", "7:15: a number in braces is not supported"),
        ("selp.b32 %r1, %r2, %r3, 1;", "7:25: a number as a predicate is not supported"),
        ("add.s32 %r1, %r2, (3+4)*5;", "7:19: an expression is not supported"),
        ("add.s32 %r1, %r2, (3+4.5);", "7:22: `4.5` is not a number"),
        (".reg .b128 %x;", "7:6: a type of newer machines (`.b128`) is not supported"),
        ("mov.b32 %r1, 0x100000000;", "7:14: `0x100000000` does not fit .b32"),
        ("mov.b16 %h1, -32769;", "7:14: `-32769` does not fit .b16"),
        ("mov.b32 %r1, 0xfg;", "7:14: `0xfg` is not a number"),
        ("mov.b32 %r1, 99999999999999999999;", "7:14: `99999999999999999999` is not a number"),
        ("mov.f32 %f1, 1;", "7:14: `1` does not fit .f32"),
        ("mov.s32 %r1, 0f3f800000;", "7:14: `0f3f800000` does not fit .s32"),
        ("lop3.b32 %r1, %r2, %r3, %r0, 256;", "7:30: `256` does not fit .u8"),
        ("lop3.b32 %r1, %r2, %r3, %r0, %r1;", "7:30: operand `lut` of `lop3` must be a number of 8 bits"),
        ("bfe.u32 %r1, %r2, 300, 1;", "7:19: `300` does not fit .u8"),
        (
            "vadd4.u32.u32.u32 %r1.b01, %r2, %r3, %r0;",
            "7:19: operand `d` of `vadd4` must be a register of type .b32, which may have a suffix such as `.b320`",
        ),
        (
            "vadd4.u32.u32.u32 %r1, %r2.b8000, %r3, %r0;",
            "7:24: operand `a` of `vadd4` must be a register of type .b32, which may have a suffix such as `.b7650`",
        ),
        (
            "vadd4.u32.u32.u32 %r1, %r2.h10, %r3, %r0;",
            "7:24: operand `a` of `vadd4` must be a register of type .b32, which may have a suffix such as `.b7650`",
        ),
        (
            "vadd2.u32.u32.u32 %r1, %r2, %r3.h014, %r0;",
            "7:29: operand `b` of `vadd2` must be a register of type .b32, which may have a suffix such as `.h32`",
        ),
        ("vadd4.u32.u32.u32 %r1, %r2, %r3, 0;", "7:34: operand `c` of `vadd4` must be a register of type .u32"),
        ("vadd4.u32.u32 %r1, %r2, %r3, %r0;", "7:14: `vadd4` needs a modifier for type of b here"),
        ("vadd4.u32.u32.u32.sat.add %r1, %r2, %r3, %r0;", "7:22: `.add` cannot stand here in `vadd4`"),
        (
            "ld.global.v2.b32 {%r1, %r2, %r3}, [%d1];",
            "7:18: operand `d` of `ld` must be 2 registers in braces, of type .b32 or wider",
        ),
        ("ld.global.v4.b64 {%d1, %d2, %d3, %d0}, [%d1];", "7:13: an access of 32 bytes (`ld`) is not supported"),
        ("ld.global.b32 %h1, [%d1];", "7:15: operand `d` of `ld` must be a register of type .b32 or wider"),
        (
            "ld.global.b32 %r1, [%r2];",
            "7:20: operand `a` of `ld` must be an address `[register+number]`, the register of 64 bits, or `[variable+number]` of a `.global` variable",
        ),
        ("ld.global.b32 %r1, [%d1+0x80000000];", "7:25: `2147483648` does not fit an offset of 32 bits"),
        ("ld.global.b32 %r1, [%d1;", "7:24: expected `]`; found `;`"),
        ("ld.param.b32 %r1, [p1];", "7:20: unknown name `p1`"),
        ("ld.param.b32 %r1, [%d1];", "7:19: a parameter by its address is not supported"),
        (
            "ld.global.b32 %r1, %d1;",
            "7:20: operand `a` of `ld` must be an address `[register+number]`, the register of 64 bits, or `[variable+number]` of a `.global` variable",
        ),
        (
            "mov.b32 %r1, {%h1, %h2, %h3, %h0};",
            "7:14: operand `a` of `mov` must be 2 or 4 registers in braces that make 32 bits",
        ),
        ("mov.b32 {%h1, %r2}, %r1;", "7:9: operand `d` of `mov` must be 2 or 4 registers in braces that make 32 bits"),
        ("mov.b64 %d1, {%h1, %h2, %h3, %h0, %h1};", "7:35: expected `}`; found `%h1`"),
        ("setp.lt.b32 %p1, %r1, %r2;", "7:8: `.b32` cannot stand here in `setp`"),
        ("setp.gt.f16 %p1|%p0, %h1, %h2;", "7:13: operand `p` of `setp` must be a register of type .pred"),
        ("setp.lt.s32 _|_, %r1, %r2;", "7:13: operand `p` of `setp` must be a predicate, or two as in `p|q`"),
        ("@%r1 ret;", "7:2: expected a predicate; found `%r1`"),
        ("@%q ret;", "7:2: unknown name `%q`"),
        ("@%p1;", "7:5: expected an instruction; found `;`"),
        ("bra nowhere;", "7:5: label `nowhere` is not defined"),
        ("bra %r1;", "7:5: operand `target` of `bra` must be a label"),
        ("a: ret; a:", "7:9: `a` is already defined"),
        ("ret", "8:1: expected an operand; found `}`"),
        ("ld.const.b32 %r1, [c0;", "7:22: expected `]`; found `;`"),
        ("ld.const.b32 %r1, [c1];", "7:20: unknown name `c1`"),
        (
            "ld.const.b32 %r1, [g0];",
            "7:19: operand `a` of `ld` must be an address `[register+number]`, the register of 64 bits, or `[variable+number]` of a `.const` variable",
        ),
        (
            "ld.b32 %r1, [c0];",
            "7:13: operand `a` of `ld` must be an address `[register+number]`, the register of 64 bits, or `[variable+number]` of a `.global` variable",
        ),
        ("ld.const.nc.b32 %r1, [c0];", "7:9: `.nc` cannot stand here in `ld`"),
        ("ld.const.b32 %r1, [c0+0x80000000];", "7:23: `2147483648` does not fit an offset of 32 bits"),
        ("ld.param.b32 %r1, [c0];", "7:19: operand `a` of `ld` must be an address `[parameter+number]`"),
        ("st.global.b32 [g0+4], %r1;", "7:15: written data of a module (`g0`) is not supported"),
        ("st.const.b32 [c0], %r1;", "7:3: `.const` cannot stand here in `st`"),
        ("st.v2.b32 [c0], {%r1, %r2};", "7:11: written data of a module (`c0`) is not supported"),
        ("st.global.b64 [%d1], c0;", "7:22: operand `b` of `st` must be a register or a number of type .b64 or wider"),
        ("atom.global.add.u32 %r1, [g0], 1;", "7:1: an atomic operation (`atom`) is not supported"),
        ("mov.u32 %r1, c0;", "7:14: operand `a` of `mov` must be a register or a number of type .u32"),
        ("mov.u64 %d1, c1;", "7:14: unknown name `c1`"),
        ("mov.u64 %d1, p0;", "7:14: the address of a parameter (`p0`) is not supported"),
        ("mov.u64 %d1, c0+;", "7:17: expected a number; found `;`"),
        ("mov.u64 %d1, c0+%d2;", "7:17: expected a number; found `%d2`"),
        (
            "cvta.const.u64 %d1, g0;",
            "7:21: operand `a` of `cvta` must be the address `variable+number` of a `.const` variable",
        ),
        ("cvta.to.const.u64 %d1, c0;", "7:24: operand `a` of `cvta` must be a register of type .u64"),
        ("cvta.u64 %d1, c0;", "7:5: `.u64` cannot stand here in `cvta`"),
        ("add.u64 %d1, c0, 4;", "7:14: operand `a` of `add` must be a register or a number of type .u64"),
        ("bra c0+4;", "7:5: operand `target` of `bra` must be a label"),
        (".const .b32 x = 1;", "7:1: a variable in a kernel (`.const`) is not supported"),
        (".shared .b32 x[4];", "7:1: shared memory (`.shared`) is not supported"),
        (".reg .bf16 %x;", "7:6: a register of type .bf16 is not supported"),
        (".reg .v2 .b32 %x;", "7:6: a vector register is not supported"),
        (".reg .b32 %s;", "7:11: `%s` is already defined"),
        (".reg .b32 %r<2>;", "7:11: `%r` is already defined"),
        (".reg .b32 %r3;", "7:11: `%r3` is already defined"),
        (".reg .b32 %x<2000000>;", "7:11: more than 1048576 registers"),
        (".reg .b32 %x<-1>;", "7:14: expected a number; found `-`"),
        (".reg .b99 %x;", "7:6: expected a type; found `.b99`"),
        ("add.s32 %r1, %r2, #;", "7:19: expected an operand; found `#`"),
        ("add.s32 %r1, %r2, \u{e9};", "7:19: unexpected character '\u{e9}'"),
        ("/* ret;", "7:1: a comment is not closed"),
        (
            "frob; add.s32 %r1; ret; mov %r1, 0;",
            "7:1: unknown instruction `frob`, 7:18: `add` takes 3 operands; found 1, 7:28: `mov` needs a modifier for type here",
        ),
    ];
    let mut wrong = Vec::new();
    for (body, expected) in cases {
        let errors = read(&kernel(&format!("{regs}{body}"))).map(|read| read.module.to_string()).unwrap_err();
        let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
        // What follows from an error that ends the text is not the point.
        let found: Vec<&str> = found.iter().map(String::as_str).filter(|e| !e.contains("end of the text")).collect();
        if found.join(", ") != *expected {
            wrong.push(format!("{body}\n    {}\n    {expected}", found.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "found, expected:\n{}", wrong.join("\n"));
}

#[test]
fn errors_outside_kernels() {
    let head = ".version 8.8\n.target sm_90\n.address_size 64\n";
    let cases: &[(&str, &str)] = &[
        ("", "1:1: expected `.version`; found the end of the text"),
        (".version 8", "1:10: expected a version such as `8.8`; found `8`"),
        (".version 8.8 .target compute_90", "1:22: expected a target such as `sm_90`; found `compute_90`"),
        (".version 8.8 .target sm_90b", "1:22: expected a target such as `sm_90`; found `sm_90b`"),
        (".version 8.8 .target sm_90 .address_size 32", "1:42: expected `64`; found `32`"),
        ("{head}.global .b32 x", "4:15: expected `,` or `;`; found the end of the text"),
        ("{head}.visible x;", "4:10: expected `.entry`, `.global` or `.const`; found `x`"),
        ("{head}.extern .const .b32 x = 3;", "4:23: expected `,` or `;`; found `=`"),
        ("{head}.extern .local .b32 x;", "4:9: expected `.func`, `.global`, `.const` or `.shared`; found `.local`"),
        ("{head}.extern .func f (.param .b32 a;", "4:31: expected `)`; found `;`"),
        ("{head}.common .const .b32 x;", "4:9: expected `.global`; found `.const`"),
        (
            "{head}.extern .global .b32 x; .entry k() { .reg .b64 %d; mov.u64 %d, x; }",
            "4:64: what another file defines (`x`) is not supported",
        ),
        (
            "{head}.extern .const .b32 x[4]; .entry k() { .reg .b32 %r; ld.const.b32 %r, [x]; }",
            "4:72: what another file defines (`x`) is not supported",
        ),
        ("{head}.visible .shared .b32 x;", "4:10: shared memory (`.shared`) is not supported"),
        ("{head}.const x;", "4:8: expected a type; found `x`"),
        ("{head}.const .b32 .b32 x;", "4:13: expected the name of a variable; found `.b32`"),
        ("{head}.const .f16 x;", "4:8: a variable of type .f16 is not supported"),
        ("{head}.const .pred x;", "4:8: there are no variables of type .pred"),
        ("{head}.entry k() .maxntid 0 { ret; }", "4:21: `0` does not fit a number of at least 1"),
        ("{head}.const .v4 .f32 x;", "4:8: a variable of vectors is not supported"),
        ("{head}.global .texref x;", "4:9: a texture (`.texref`) is not supported"),
        ("{head}.global .attribute(.managed) .b32 x;", "4:9: expected a type; found `.attribute`"),
        ("{head}.const .align 3 .b32 x;", "4:15: `3` does not fit a power of two up to 4096"),
        ("{head}.const .align 8192 .b32 x;", "4:15: `8192` does not fit a power of two up to 4096"),
        ("{head}.const .b32 x[0];", "4:15: `0` does not fit a number of elements"),
        ("{head}.const .b32 x[-1];", "4:15: expected a number; found `-`"),
        ("{head}.const .b32 x[];", "4:15: expected the number of elements; found `]`"),
        ("{head}.const .b32 x[] = {};", "4:15: expected the number of elements; found `]`"),
        ("{head}.const .b32 x[2][2];", "4:17: an array of arrays is not supported"),
        ("{head}.const .b32 x[16385];", "4:13: the `.const` variables take more than 65536 bytes"),
        ("{head}.const .b8 x[65535]; .const .b16 y;", "4:34: the `.const` variables take more than 65536 bytes"),
        ("{head}.global .b8 x[1048577];", "4:13: the `.global` variables take more than 1048576 bytes"),
        ("{head}.global .b64 x[4294967295];", "4:14: the `.global` variables take more than 1048576 bytes"),
        ("{head}.const .b32 x[2] = {1, 2, 3};", "4:27: more than 2 values"),
        ("{head}.const .b32 x[2] = {1,};", "4:23: expected a number; found `}`"),
        ("{head}.const .b32 x[2] = {1 2};", "4:23: expected `,` or `}`; found `2`"),
        ("{head}.const .b32 x[2] = {1+2};", "4:22: expected `,` or `}`; found `+`"),
        ("{head}.const .b32 x[2] = 1;", "4:20: expected `{`; found `1`"),
        ("{head}.const .b32 x = {1};", "4:17: expected a number; found `{`"),
        ("{head}.const .b8 x[2] = {1, 256};", "4:23: `256` does not fit .b8"),
        ("{head}.const .s8 x = -129;", "4:16: `-129` does not fit .s8"),
        ("{head}.const .f32 x[2] = {1};", "4:21: `1` does not fit .f32"),
        ("{head}.const .u32 x = 0f3f800000;", "4:17: `0f3f800000` does not fit .u32"),
        ("{head}.const .u32 x = 0f3;", "4:17: `0f3` is not a number"),
        ("{head}.const .b32 x; .global .b64 y = x;", "4:33: an address as a value (`x`) is not supported"),
        (
            "{head}.const .b32 x; .global .b64 y = generic(x);",
            "4:33: an address as a value (`generic`) is not supported",
        ),
        ("{head}.const .b8 x[4] = \"abc\";", "4:19: expected `{`; found a string"),
        ("{head}.const .b32 x; .global .b8 x;", "4:28: `x` is already defined"),
        ("{head}.const .b32 x; .entry x() { ret; }", "4:23: `x` is already defined"),
        ("{head}.entry x() { ret; } .const .b32 x;", "4:33: `x` is already defined"),
        ("{head}.entry k() { .reg .b32 %r; ld.const.b32 %r, [x]; } .const .b32 x;", "4:46: unknown name `x`"),
        ("{head}.visible .func f() { ret; }", "4:10: a function (`.func`) is not supported"),
        ("{head}.extern .shared .b8 s[0x];", "4:23: `0x` is not a number"),
        ("{head}.entry k(.param .pred p) { ret; }", "4:23: expected a type; found `p`"),
        ("{head}.entry k(.param .u64 p, .param .u64 p) { ret; }", "4:37: `p` is already defined"),
        ("{head}.entry k(.param .align 3 .u64 p) { ret; }", "4:24: `3` does not fit a power of two up to 128"),
        (
            "{head}.entry k(.param .u64 .ptr .global .align 8192 p) { ret; }",
            "4:42: `8192` does not fit a power of two up to 4096",
        ),
        ("{head}.entry k(.reg .u64 p) { ret; }", "4:10: expected `.param`; found `.reg`"),
        ("{head}.entry k() { ret; } .entry k() { ret; }", "4:28: `k` is already defined"),
        ("{head}.entry k() ret;", "4:12: expected `{`; found `ret`"),
        ("{head}.entry k() { ret;", "4:18: expected `}`; found the end of the text"),
        ("{head}ret;", "4:1: expected a directive; found `ret`"),
        ("{head}.pragma \"x", "4:9: a string is not closed"),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let errors = read(&text.replace("{head}", head)).map(|read| read.module.to_string()).unwrap_err();
        let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
        if found[0] != *expected {
            wrong.push(format!("{text}\n    {found:?}\n    {expected}"));
        }
    }
    assert!(wrong.is_empty(), "found, expected:\n{}", wrong.join("\n"));
}

#[test]
fn variables_read_as_they_print() {
    // As written, and as printed.
    let cases = [
        (".const .align 4 .b8 t[8] = {1, 2, 0xff, -1, 0};", ".const .align 4 .b8 t[8] = {1, 2, 255, 255};"),
        (".global .u32 t[] = {1,\n2, /* and */ 3};", ".global .u32 t[3] = {1, 2, 3};"),
        (
            ".visible .const .f32 c[3] = {0f3F800000, 0.5, -2.0};",
            ".visible .const .f32 c[3] = {0f3f800000, 0f3f000000, 0fc0000000};",
        ),
        (
            ".weak .global .s16 a = -3, b, c[2] = {};",
            ".weak .global .s16 a = -3;\n.weak .global .s16 b;\n.weak .global .s16 c[2];",
        ),
        (
            ".const .f64 d[2] = {0d3ff0000000000000, 1e-3};",
            ".const .f64 d[2] = {0d3ff0000000000000, 0d3f50624dd2f1a9fc};",
        ),
        (".const .u64 d = 0xffffffffffffffff;", ".const .u64 d = 18446744073709551615;"),
        (".global .align 4096 .b64 z[2] = {0, 0};", ".global .align 4096 .b64 z[2];"),
        (".const .s8 m[2] = {0, -128};", ".const .s8 m[2] = {0, -128};"),
    ];
    let head = ".version 8.8\n.target sm_90\n.address_size 64\n";
    for (written, printed) in cases {
        let module = read(&format!("{head}{written}")).unwrap_or_else(|errors| panic!("{written}: {errors:?}")).module;
        assert_eq!(module.to_string(), format!("{head}\n{printed}\n"));
        assert_eq!(read(&module.to_string()).unwrap().module, module);
    }
    let module = read(&format!("{head}.const .b16 x[3] = {{258, -2}};")).unwrap().module;
    assert_eq!((&*module.variables[0].bytes, module.variables[0].alignment()), (&[2, 1, 254, 255, 0, 0][..], 2));
}

#[test]
fn after_an_error_in_a_variable_reading_goes_on_behind_it() {
    let text = ".version 8.8 .target sm_90 .address_size 64
.const .b32 x[2] = {1, 2, 3};
.const .b32 y = {4}
.visible .entry k() { ret; }
.global .b8 z = 300, w;
.entry k() { ret; }
";
    let found: Vec<String> = read(text).unwrap_err().iter().map(ToString::to_string).collect();
    let expected = [
        "2:27: more than 2 values",
        "3:17: expected a number; found `{`",
        "5:17: `300` does not fit .b8",
        "6:8: `k` is already defined",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_name_stands_for_the_nearest_thing() {
    let body = ".const .b32 x = 1;\n.entry k(.param .b32 x) {\n.reg .b32 %r, y; .reg .b64 %d;\n\
        ld.param.b32 %r, [x]; bra z; z: mov.u64 %d, z+4; ld.global.b32 y, [y]; }";
    let with = |body: &str| read(&format!(".version 8.8 .target sm_90 .address_size 64\n{body}"));
    let read = with(
        &body.replace(".const", ".global .b32 y[4], z;\n.const").replace(", y;", ";").replace(" y, [y]", " %r, [y]"),
    );
    let entry = &read.unwrap().module.entries[0];
    let lines: Vec<String> = entry.insts.iter().map(|inst| inst_text(inst, entry)).collect();
    assert_eq!(lines, ["ld.param.b32 %r, [x];", "bra z;", "mov.u64 %d, z+4;", "ld.global.b32 %r, [y];"]);
    assert_eq!(entry.used_variables(), [0, 1]);
}

#[test]
fn kernels_that_share_a_variable_have_it_once() {
    let of = |variables: &str, body: &str| {
        let head = ".version 8.8 .target sm_90 .address_size 64";
        let text = format!("{head} {variables} .entry k() {{ .reg .b64 %d<2>; .reg .b32 %r; {body} }}");
        read(&text).unwrap().module.entries.remove(0)
    };
    let first = of(".global .b8 t[2] = {1, 2}; .global .b8 u;", "mov.u64 %d0, u; ld.b8 %r, [t];");
    let mut second = of(".global .b8 u; .global .b8 t[2] = {1, 2};", "mov.u64 %d0, u+1; ld.b8 %r, [t];");
    let mut third = of(".global .b8 u = 7; .global .b8 l;", "mov.u64 %d0, l; ld.b8 %r, [u];");
    (second.name, third.name) = ("l".into(), "m".into());
    let mut plain = of("", "ret;");
    plain.name = "u_1".into();
    let mut writer = Writer::new(Sm::SM_90, None, 0);
    for entry in [first.clone(), plain, second, third] {
        writer.add(Kernel::for_sm(Sm::SM_90, entry), &[]);
    }
    let text = writer.finish();
    let variables: Vec<&str> = text.lines().filter(|line| line.starts_with(".global")).collect();
    assert_eq!(variables, [".global .b8 t[2] = {1, 2};", ".global .b8 u;", ".global .b8 u_2 = 7;", ".global .b8 l_1;"]);
    let lines: Vec<&str> =
        text.lines().map(str::trim).filter(|line| line.contains("%d0") || line.contains('[')).collect();
    let uses = [
        "mov.u64 %d0, u;",
        "ld.b8 %r, [t];",
        "mov.u64 %d0, u+1;",
        "ld.b8 %r, [t];",
        "mov.u64 %d0, l_1;",
        "ld.b8 %r, [u_2];",
    ];
    assert_eq!(lines[1..], uses);
    let module = read(&text).unwrap().module;
    assert_eq!(module.entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["k", "u_1", "l", "m"]);
    assert_eq!(module.to_string(), text);
    // A kernel alone has its own.
    let kernel = Kernel::for_sm(Sm::SM_90, first);
    assert_eq!(read(&kernel.to_string()).unwrap().module, kernel.into());
}

#[test]
fn no_text_makes_the_reader_panic() {
    let mut random = Random(7);
    let seeds: Vec<String> = baselines().into_iter().map(|(_, text)| text).collect();
    const MARKS: &[u8] = b"{}[](),;:@!%.|+-_\"/*09axf<> \n\xc3\xa9";
    for _ in 0..4000 {
        let mut bytes = seeds[random.next() as usize % seeds.len()].clone().into_bytes();
        for _ in 0..=random.next() % 6 {
            let at = random.next() as usize % bytes.len().max(1);
            let mark = MARKS[random.next() as usize % MARKS.len()];
            match random.next() % 4 {
                _ if bytes.is_empty() => bytes.push(mark),
                0 => bytes[at] = mark,
                1 => bytes.insert(at, mark),
                2 => drop(bytes.remove(at)),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(read_once) = read(&text) {
            assert!(read(&read_once.module.to_string()).unwrap().module == read_once.module, "{text}");
        }
    }
}

#[test]
fn features_are_checked() {
    let body = ".reg .b32 %r<4>; .reg .b16 %h<4>; max.f16x2 %r1, %r2, %r3; add.rn.bf16 %h1, %h2, %h3; add.u8x4 %r1, %r2, %r3; ret;";
    let needs = |target: &str| {
        let text = kernel(body).replace(".target sm_120f", &format!(".target {target}"));
        let missing: Vec<String> =
            read(&text).unwrap().module.missing().map(|m| format!("{} {}", m.inst, m.since)).collect();
        missing.join(", ")
    };
    assert_eq!(needs("sm_120f"), "");
    assert_eq!(needs("sm_120"), "2 PTX 9.2 and sm_120f");
    assert_eq!(needs("sm_75"), "0 PTX 7.0 and sm_80, 1 PTX 7.8 and sm_90, 2 PTX 9.2 and sm_120f");
}

#[test]
fn an_instruction_knows_what_it_was_made_from() {
    let text = ".version 8.8\n.target sm_90\n.address_size 64\n.file 1 \"a.hb\"\n.file 2 \"b c.cu\", 1700000000, 12\n\
                .visible .entry k()\n{\n    .reg .b32 %r<2>;\n    mov.b32 %r0, 1;\n    .loc 1 5 3\n    mov.b32 %r1, 2;\n\
                L: // within the same line\n    add.u32 %r0, %r0, %r1;\n    .loc 2 9 11, function_name L, inlined_at 1 2 3\n    \
                ret;\n}\n.visible .entry l()\n{\n    ret;\n}\n";
    let read_back = read(text).unwrap();
    assert_eq!((read_back.file(1), read_back.file(2), read_back.file(3)), (Some("a.hb"), Some("b c.cu"), None));
    let places = |entry: usize| {
        let sources = read_back.sources[entry].iter();
        sources.map(|source| (source.file, source.loc.line, source.loc.column)).collect::<Vec<_>>()
    };
    assert_eq!(places(0), [(0, 0, 0), (1, 5, 3), (1, 5, 3), (2, 9, 11)]);
    assert_eq!(places(1), [(0, 0, 0)]);

    let loc = |line| Loc { line, column: 2 };
    let locs = [loc(4), loc(4), loc(6), loc(4)];
    let mut writer = Writer::new(Sm::SM_90, Some("x\"\n.hb"), 0);
    let Module { version, target, entries, .. } = read_back.module.clone();
    for (entry, locs) in entries.into_iter().zip([&locs[..], &[]]) {
        writer.add(Kernel { version, target, entry }, locs);
    }
    let printed = writer.finish();
    assert_eq!(printed.matches(".loc").count(), 3);
    let again = read(&printed).unwrap();
    assert_eq!((&again.module, again.file(1)), (&read_back.module, Some("x__.hb")));
    assert_eq!(again.sources[0].iter().map(|source| source.loc).collect::<Vec<_>>(), locs);
}

#[test]
fn what_debuggers_are_told_must_be_whole() {
    let head = ".version 8.8\n.target sm_90\n.address_size 64\n";
    for (line, message) in [
        (".file a", "4:7: expected a number; found `a`"),
        (".file 1 a", "4:9: expected the name of a file; found `a`"),
        (".loc 1 2", "5:1: expected a number; found the end of the text"),
        (".loc 1 b", "4:8: expected a number; found `b`"),
    ] {
        let errors = read(&format!("{head}{line}\n")).unwrap_err();
        assert_eq!(errors[0].to_string(), message, "{line}");
    }
}
