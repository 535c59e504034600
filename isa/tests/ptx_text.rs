//! Tests of PTX text. A printed module must parse to itself, and `ptxas` must accept it. Errors
//! must have the right location.

use std::collections::BTreeMap;

use crate::random::Random;
use halfbyte_abi::Sm;
use halfbyte_isa::ptx::module::{Kernel, Linkage, TargetName};
use halfbyte_isa::ptx::row::{OperandKind, Row};
use halfbyte_isa::ptx::text::{KernelNumber, ParsedFile, Verdict, Writer, inst_text, inst_text_in, read, read_each};
use halfbyte_isa::ptx::types::{Suffix, Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode};

pub const SM_90: TargetName = TargetName { sm: 90, suffix: None };
pub const SM_120F: TargetName = TargetName { sm: 120, suffix: Some(Suffix::Family) };

/// Returns `count` random instructions of an opcode.
pub fn instructions(opcode: Opcode, count: usize) -> Vec<Inst> {
    let entry = crate::ptx::empty_entry();
    let mut random = Random(opcode as u64);
    (0..count).map(|_| Inst::random(opcode, &entry, &mut || random.next()).unwrap()).collect()
}

#[test]
fn printed_instructions_parse_to_themselves() {
    for &opcode in Opcode::ALL {
        let mut entry = crate::ptx::empty_entry();
        entry.body.insts = instructions(opcode, 300);
        for inst in &entry.body.insts {
            assert!(inst.is_valid(|reg| entry.body.registers.ty(reg)), "{opcode:?}: {}", inst_text(inst, &entry));
        }
        let module = crate::ptx::module((9, 2), SM_120F, entry);
        let text = module.to_string();
        let again = read(&text).unwrap_or_else(|errors| panic!("{opcode:?}: {errors:?}\n{text}"));
        assert!(again.module == module, "{opcode:?}\n{text}\n{}", again.module);
    }
}

/// `ptxas` must accept a file with functions, all kinds of calls, local memory and indirect
/// branches, and also the printed form of the file.
#[test]
fn ptxas_accepts_printed_functions() {
    let text = include_str!("ptx/functions.ptx");
    let read_text = read(text).unwrap();
    let printed = read_text.module.to_string();
    assert!(read(&printed).unwrap().module == read_text.module, "{printed}");
    let Some(ptxas) = crate::ptx::ptxas() else { return };
    for text in [text, &printed] {
        crate::ptx::assemble(&ptxas, read_text.module.target, text).unwrap_or_else(|said| panic!("{said}\n{text}"));
    }
}

/// Returns declarations of the registers in a row's example, with the types that the operands require.
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
    if mnemonic.starts_with("call") {
        return ".reg .b32 %d; .reg .b32 %a; .reg .b64 %f;\n".to_owned();
    }
    let words: Vec<Token> = mnemonic.split('.').skip(1).map(|word| Token::from_text(word).unwrap()).collect();
    let mut rest = operands;
    for o in row.operands_with(&words) {
        let end = if rest.starts_with('{') { rest.find('}').unwrap() } else { rest.find(',').unwrap_or(rest.len()) };
        let (mut text, after) = rest.split_at(end);
        rest = after.trim_start_matches(['}', ',', ' ']);
        let of = |ty: halfbyte_isa::ptx::row::Ty| match ty.resolve(&words).0 {
            Type::Pred => Type::Pred,
            ty => [Type::B8, Type::B16, Type::B32, Type::B64, Type::B128][ty.bits().ilog2() as usize - 3],
        };
        let ty = match o.shape {
            OperandKind::Register(ty)
            | OperandKind::Value(ty)
            | OperandKind::Vector(ty, _)
            | OperandKind::Elements(ty) => of(ty),
            OperandKind::Parts(ty) => match (of(ty), text.matches('%').count()) {
                (Type::B32, _) => Type::B16,
                (Type::B128, ..3) => Type::B64,
                _ => Type::B32,
            },
            OperandKind::Predicates | OperandKind::Condition => Type::Pred,
            OperandKind::WithPredicate { ty, .. } => {
                let (_, predicate) = text.split_once('|').unwrap();
                declared.insert(predicate, Type::Pred);
                text = text.split('|').next().unwrap();
                of(ty)
            }
            OperandKind::Memory | OperandKind::MemoryIn(_) | OperandKind::CallMemory | OperandKind::Call => Type::B64,
            _ => Type::B32,
        };
        for name in text.split(['{', '|', ',', ' ', '[', ']', '+', '!', '-']).filter(|name| name.starts_with('%')) {
            let name = if o.shape == OperandKind::Special { continue } else { name.split('.').next().unwrap() };
            declared.insert(name, ty);
        }
    }
    declared.iter().map(|(name, ty)| format!(".reg {ty} {name};\n")).collect()
}

/// Returns the text of a kernel with this body, and with declarations that the bodies of tests use.
pub(crate) fn kernel(body: &str) -> String {
    let head = ".version 9.2\n.target sm_120f\n.address_size 64\n.global .b32 g0[4]; .const .b32 c0[4];";
    format!("{head}.entry k(.param .u64 p0)\n{{\n{body}\n}}\n")
}

#[test]
fn row_examples_parse_to_their_opcode() {
    for &opcode in Opcode::ALL {
        assert!(!opcode.row().examples.is_empty(), "{opcode:?}");
        for example in opcode.row().examples {
            let frame = ".local .b32 l0[4]; .param .b32 v0[4]; t0: .branchtargets done; t1: .callprototype (.reg .b32 _) _ (.reg .b32 _);";
            let text = kernel(&format!("{frame}{}done:\nloop:\n{example}", declarations(opcode.row(), example)));
            let function = ".address_size 64\n.func (.reg .b32 r) f0(.reg .b32 a) { ret; }";
            let read = read(&text.replace(".address_size 64", function))
                .unwrap_or_else(|errors| panic!("{example}: {errors:?}"));
            assert_eq!(read.module.entries[0].body.insts[0].opcode, opcode, "{example}");
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
fn printed_baselines_parse_to_themselves() {
    for (path, text) in baselines() {
        let ParsedFile { module, locs, .. } = read(&text).unwrap_or_else(|errors| panic!("{path}: {errors:?}"));
        assert_eq!(module.missing().collect::<Vec<_>>(), [], "{path}");
        let again = read(&module.to_string()).unwrap();
        assert!(again.module == module, "{path}");
        // The parser must report the right location of each instruction.
        let lines: Vec<&str> = text.lines().collect();
        for (inst, loc) in module.entries[0].body.insts.iter().zip(&locs[0]) {
            let rest = &lines[loc.line as usize - 1][loc.column as usize - 1..];
            assert!(rest.starts_with(inst.row().mnemonic), "{path}:{}: {rest}", loc.line);
        }
    }
}

#[test]
fn parses_compiler_output() {
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
\tld.param.u32 %r1, [_Z1kPf_param_1+8];
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
.maxntid 128, 1, 1
.minnctapersm 2
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b32 %one;
$L__BB0_1:
$L__again:
    .pragma \"nounroll\";
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
fn scopes_have_their_own_names() {
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

    // The printed name of a register must differ from the names of all symbols of another kind, and
    // from the names of the variables of the module.
    let body = ".reg .b32 a; .shared .b8 s[4]; { .reg .b32 s, g0; .shared .b8 t[4]; .local .b8 u[4]; mov.b32 s, t; mov.b32 g0, u; }
{ .shared .b8 s[8], t[8]; .reg .b32 u; mov.b32 u, s; mov.b32 u, t; a: ret; } mov.b32 a, s; ld.b32 a, [g0];";
    let read_once = read(&kernel(body)).unwrap_or_else(|errors| panic!("{errors:?}")).module;
    let text = read_once.to_string();
    let lines: Vec<&str> = text.lines().skip(3).map(str::trim).filter(|line| !line.is_empty()).collect();
    #[rustfmt::skip]
    let expected = [
        ".global .b32 g0[4];", ".const .b32 c0[4];", ".shared .b8 s[4];", ".shared .b8 t[4];", ".shared .b8 s_1[8];", ".shared .b8 t_1[8];",
        ".entry k(.param .u64 p0)", "{", ".reg .b32 a;", ".reg .b32 s_1_;", ".reg .b32 g0_1_;", ".reg .b32 u;", ".local .b8 u_1_[4];",
        "mov.b32 s_1_, t;", "mov.b32 g0_1_, u_1_;", "mov.b32 u, s_1;", "mov.b32 u, t_1;", "a_1_:", "ret;", "mov.b32 a, s;", "ld.b32 a, [g0];",
        "}",
    ];
    assert_eq!(lines, expected);
    assert!(read(&text).unwrap().module == read_once);

    // The registers that the parser adds must get other names than the declared symbols.
    let body =
        ".reg .b32 %number, %special, %r; .reg .b16 %h; .reg .b64 %d; mov.b32 %r, {1, %h}; cvt.u64.u32 %d, %tid.x;";
    let read_once = read(&kernel(body)).unwrap().module;
    assert!(read(&read_once.to_string()).unwrap().module == read_once);

    // If several scopes use a label but none of them defines the label, it belongs to the scope
    // that encloses them.
    let body = "{ bra z; { bra z; { bra z; } { z: bra z; } } bra y; } z: { { bra y; } } y: ret;";
    let text = read(&kernel(body)).unwrap().module.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).skip_while(|line| !line.starts_with("bra")).collect();
    #[rustfmt::skip]
    assert_eq!(lines[..9], ["bra z_1_;", "bra z_1_;", "bra z_1_;", "z:", "bra z;", "bra y;", "z_1_:", "bra y;", "y:"]);

    // A name that is declared in a scope is unknown after the scope.
    let errors = |body: &str| read(&kernel(body)).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(errors("{ .reg .b32 t; } mov.b32 t, 0;"), ["6:26: unknown name `t`"]);
    assert_eq!(errors("{ bra L; } { L: ret; }"), ["6:7: label `L` is not defined"]);
    assert_eq!(errors("{ ret;"), ["8:1: expected `}`; found the end of the text"]);
    assert_eq!(errors("ret; } }"), ["6:8: expected a directive; found `}`"]);
}

#[test]
fn reads_all_environment_registers() {
    let lines: Vec<String> = (0..32).map(|number| format!("mov.u32 %r, %envreg{number};")).collect();
    let module = read(&kernel(&format!(".reg .b32 %r; {}", lines.concat()))).unwrap().module;
    let text = module.to_string();
    assert!(lines.iter().all(|line| text.contains(line)), "{text}");
    assert!(read(&text).unwrap().module == module);
}

/// A function of the device runtime is only declared in the printed text, but a call executes its code.
#[test]
fn calls_of_the_device_runtime_have_code() {
    let text = |name: &str, result: &str| {
        format!(
            ".version 8.0 .target sm_90 .address_size 64
.extern .func (.param .{result} r) {name} (.param .b64 a, .param .b32 b);
.entry k() {{ .reg .b64 %d; .reg .b32 %r; .param .b64 a; .param .b32 b; .param .{result} r;
st.param.b64 [a], %d; st.param.b32 [b], 0; call (r), {name}, (a, b); ret; }}\n"
        )
    };
    for name in ["cudaCGSynchronize", "cudaCGSynchronizeGrid"] {
        let module = read(&text(name, "b32")).unwrap_or_else(|errors| panic!("{errors:?}")).module;
        let reads = module.entries[0]
            .reached_bodies()
            .flat_map(|body| &body.insts)
            .map(|inst| inst_text(inst, &module.entries[0]))
            .collect::<Vec<_>>();
        assert!(reads.iter().any(|inst| inst.starts_with("atom.release.gpu.add")), "{reads:?}");
        assert!(module.to_string().contains(&format!(".extern .func (.param .b32 r0) {name} ")), "{module}");
        assert!(read(&module.to_string()).unwrap().module == module);
    }
    for text in [text("cudaCGSynchronize", "b64"), text("cudaCGSynchronizeAll", "b32"), text("cudaMalloc", "b32")] {
        let errors = read(&text).unwrap_err();
        assert!(errors[0].to_string().contains("the external function `cuda"), "{errors:?}");
    }
}

#[test]
fn accepts_modifiers_in_any_order() {
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
fn rejects_uses_of_external_symbols() {
    let text = ".version 8.0 .target sm_90
.extern .func (.param .b32 r) f (.param .b64 a, .param .b64 b);
.extern .func g .noreturn;
.extern .shared .align 16 .b8 s[];
.extern .global .b32 x, y[4];
.common .global .align 8 .u64 env;
.entry k(.param .u64 x) { .reg .b64 %d; ld.param.u64 %d, [x]; ret; }
";
    let module = read(text).unwrap().module;
    let [shared, variable] = &module.variables[..] else { panic!("{:?}", module.variables) };
    assert_eq!((shared.name.as_str(), shared.linkage, shared.count), ("s", Linkage::Extern, None));
    assert_eq!((variable.name.as_str(), variable.linkage, &variable.bytes[..]), ("env", Linkage::Common, &[0; 8][..]));
    assert!(module.to_string().contains(".common .global .align 8 .u64 env;"), "{module}");
}

#[test]
fn rejects_only_kernels_with_unsupported_features() {
    let text = ".version 8.3 .target sm_90 .address_size 64
.visible .func (.param .b32 r) double(.param .b32 a) { .reg .b32 %x; { ld.param.b32 %x, [a]; } ret; }
.func declared (.param .b32 a);
.tex .u64 pool;
.global .align 8 .u64 table[2] = {pool, 0};
.global .texref lanes;
.global .b32 fine = 7;
.entry meets(.param .u64 x) { .reg .b32 %r<2>; setmaxnreg.inc.sync.aligned.u32 40; frob.b32 %r0; ret; }
.entry calls(.param .u64 x) {
  .reg .b32 %r<2>; .param .b32 a; .global .texref mine;
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
            ("meets", "8:48: a hardware control operation (`setmaxnreg`) is not supported".to_owned()),
            ("calls", "10:43: a texture (`.texref`) is not supported".to_owned()),
            ("shares", "13:58: a texture (`.tex`) is not supported".to_owned()),
            ("reads", "14:57: a texture (`.tex`) is not supported".to_owned()),
            ("packs", "15:21: a variable or a parameter of type .b128 is not supported".to_owned()),
        ]
    );
    let outside: Vec<String> = found.unsupported.iter().map(ToString::to_string).collect();
    assert_eq!(outside.len(), 3, "{outside:?}");
    // `read` must report as many errors as `read_each` reports for unsupported features.
    assert_eq!(read(text).unwrap_err().len(), found.unsupported_errors().len());
}

#[test]
fn a_name_belongs_to_one_symbol() {
    let second = |declarations: &str| {
        let errors = read_each(&format!(".version 8.0 .target sm_90\n{declarations}\n")).unwrap_err();
        errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let refused = ".entry k() { .global .b8 mine[8]; ret; }\n";
    for again in [".global .b32 k;", ".shared .b32 k;", ".func k() { ret; }", ".func k();", ".entry k() { ret; }"] {
        let column = again.find('k').unwrap() + 1;
        for kernel in [".entry k() { ret; }\n", refused] {
            let errors = second(&format!("{kernel}{again}"));
            assert!(errors.contains(&format!("3:{column}: `k` is already defined")), "{errors:?}");
        }
        let errors = second(&format!(".global .b8 k;\n{again}"));
        assert!(errors.contains(&format!("3:{column}: `k` is already defined")), "{errors:?}");
    }
    // A body may give the name of a kernel to its own variables.
    let text = ".version 8.0 .target sm_90\n.entry k() { .shared .b32 k; .local .b32 t; ret; }\n.entry t() { ret; }\n";
    assert_eq!(read(text).unwrap().module.variables[0].name, "k_1");
}

#[test]
fn finds_kernels_by_name() {
    let text = ".version 8.0 .target sm_90\n.entry a$b(.param .u32 n) { ret; }\n.entry a_b() { ret; }\n\
        .entry c%d() { tex; ret; }\n";
    let read = read_each(&text.replace("c%d", "c$d")).unwrap();
    assert_eq!((read.kernel("a$b"), read.kernel("a_b")), (Some(KernelNumber::Entry(0)), Some(KernelNumber::Entry(1))));
    assert_eq!((read.kernel("c_d"), read.kernel("c$d")), (None, Some(KernelNumber::Refused(0))));
    assert_eq!(read.kernel_by_ir_name("a_b"), Some(KernelNumber::Entry(1)));
    assert_eq!(read.kernel_by_ir_name("a%b"), Some(KernelNumber::Entry(0)));
    assert_eq!(read.kernel_by_ir_name("c_d"), Some(KernelNumber::Refused(0)));
    assert_eq!((read.kernel_by_ir_name("d"), read.most_params()), (None, 1));
}

/// Tests that a kernel is rejected if it can call an unsupported function, directly or through
/// other functions. The error names the first unsupported function in the order of the module.
#[test]
fn rejects_kernels_that_reach_an_unsupported_function() {
    let text = ".version 8.0 .target sm_90 .address_size 64
.extern .func first();
.extern .func second();
.func calls_second() { call second; }
.func calls_both() { call calls_second; call first; }
.func by_address(.reg .b64 %f) { p: .callprototype _ (); call %f, p; }
.func plain() { call plain; }
.global .u64 table[2] = {plain, calls_second};
.entry none() { call plain; }
.entry direct() { call second; }
.entry both() { call calls_both; call plain; }
.entry deep() { call calls_second; }
.entry indirect() { .reg .b64 %f; ld.global.u64 %f, [table]; call by_address, (%f); }
";
    let found = read_each(text).unwrap();
    let names: Vec<&str> = found.module.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["none"]);
    assert_eq!(found.module.entries[0].reached_functions(), [5]);
    let refused: Vec<(&str, String)> =
        found.refused.iter().map(|refused| (refused.name.as_str(), refused.errors[0].to_string())).collect();
    let external = |name: &str| format!("the external function `{name}` is not supported");
    let expected = [
        ("direct", "10:19: ".to_owned() + &external("second")),
        ("both", "11:17: ".to_owned() + &external("first")),
        ("deep", "12:17: ".to_owned() + &external("second")),
        ("indirect", "13:62: ".to_owned() + &external("second")),
    ];
    assert_eq!(refused, expected);
    // Without the address in the variable, the indirect call reaches only supported functions.
    let found = read_each(&text.replace("{plain, calls_second}", "{plain, by_address}")).unwrap();
    assert_eq!(found.module.entries[1].name, "indirect");
    assert_eq!(found.module.entries[1].reached_functions(), [4, 5]);
    let carries = found.module.kernels_with(|body| body.insts.iter().any(|inst| inst.row().mnemonic == "ld"));
    assert_eq!(carries, [false, true]);
    let tables = found.module.kernels_with(|body| !body.tables.is_empty());
    assert_eq!(tables, [false, true]);
}

#[test]
fn rejects_files_with_invalid_kernels() {
    for body in ["frob.b32 %r0; ldmatrix;", "add.s32 %r0, %r1, %none; ldmatrix;", "mov.u32 %r0, mine;"] {
        let text = format!(
            ".version 8.0 .target sm_90\n.entry good() {{ ret; }}\n.entry other() {{ .global .texref mine; ret; }}\n\
             .entry bad() {{ .reg .b32 %r<2>; {body} ret; }}\n"
        );
        let errors = read_each(&text).unwrap_err();
        assert!(errors.iter().any(|error| error.at.line == 4 && error.kind.verdict() == Verdict::Wrong), "{errors:?}");
    }
    let again = ".version 8.0 .target sm_90\n.entry k() { ldmatrix; }\n.entry k() { ret; }\n";
    assert!(read_each(again).is_err());
    let open = ".version 8.0 .target sm_90\n.entry k() { .global .texref s }\n.entry g() { ret; }\n";
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
fn printed_variables_parse_to_themselves() {
    // Each case is the text of a declaration, and its printed form.
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
fn continues_after_an_error_in_a_variable() {
    let text = ".version 8.8 .target sm_90 .address_size 64
.const .b32 x[2] = {1, 2, 3};
.const .b32 y = {4}
.visible .entry k() { ret; }
.global .b8 z = 0f3f800000, w;
.entry k() { ret; }
";
    let found: Vec<String> = read(text).unwrap_err().iter().map(ToString::to_string).collect();
    let expected = [
        "2:27: more than 2 initial values",
        "3:17: expected a number; found `{`",
        "5:17: `0f3f800000` is not a value of type .b8",
        "6:8: `k` is already defined",
    ];
    assert_eq!(found, expected);
}

#[test]
fn truncates_integer_constants() {
    let body = ".const .b8 x[2] = {256, -129};\n.entry k() { .reg .b16 %h; .reg .b32 %r; .reg .b64 %d;\n\
        mov.b16 %h, 0x12345; mov.b32 %r, -4294967297; mov.b32 %r, {70000, %h}; add.u16 %h, %h, 65537; st.b8 [%d], 300; }";
    let module = read(&format!(".version 8.8 .target sm_90 .address_size 64\n{body}")).unwrap().module;
    assert_eq!(*module.entries[0].variables[0].bytes, [0, 0x7f]);
    let entry = &module.entries[0];
    let lines: Vec<String> = entry.body.insts.iter().map(|inst| inst_text(inst, entry)).collect();
    #[rustfmt::skip]
    let expected = [
        "mov.b16 %number, 0x1170;", "mov.b16 %h, 0x2345;", "mov.b32 %r, 0xffffffff;", "mov.b32 %r, {%number, %h};", "add.u16 %h, %h, 1;",
        "st.b8 [%d], 0x2c;",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn resolves_names_to_the_innermost_declaration() {
    let body = ".const .b32 x = 1;\n.entry k(.param .b32 x) {\n.reg .b32 %r, y; .reg .b64 %d;\n\
        ld.param.b32 %r, [x]; bra z; z: mov.u64 %d, z+4; ld.global.b32 y, [y]; }";
    let with = |body: &str| read(&format!(".version 8.8 .target sm_90 .address_size 64\n{body}"));
    let read = with(
        &body.replace(".const", ".global .b32 y[4], z;\n.const").replace(", y;", ";").replace(" y, [y]", " %r, [y]"),
    );
    let entry = &read.unwrap().module.entries[0];
    let lines: Vec<String> = entry.body.insts.iter().map(|inst| inst_text(inst, entry)).collect();
    assert_eq!(lines, ["ld.param.b32 %r, [x];", "bra z;", "mov.u64 %d, z+4;", "ld.global.b32 %r, [y];"]);
    assert_eq!(entry.used_variables(), [0, 1]);
}

#[test]
fn merges_shared_variables_of_kernels() {
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
    // A module with a single kernel has its own copy of the variables.
    let kernel = Kernel::for_sm(Sm::SM_90, first);
    assert_eq!(read(&kernel.to_string()).unwrap().module, kernel.into());
}

#[test]
fn random_text_does_not_panic() {
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

/// Unsupported instructions of a function must be reported even if no kernel calls the function, as in `ptxas`.
#[test]
fn features_of_functions_are_checked() {
    let text = |head: &str, call: &str| {
        format!(
            "{head} .address_size 64\n.func (.param .b32 r) f(.param .b32 a) {{ .reg .b32 %x<3>; add.s16x2 %x0, %x1, %x2; ret; }}\n\
             .func g() {{ .reg .b64 %q; alloca.u64 %q, 8; ret; }}\n.entry k() {{ {call} ret; }}\n"
        )
    };
    let missing = |text: &str| {
        let module = read(text).unwrap().module;
        let one = |missing: halfbyte_isa::ptx::module::UnsupportedInst| {
            let (inst, scope) = module.inst(missing.of, missing.inst).unwrap();
            format!("{:?} {} {}", missing.of, inst_text_in(inst, scope), missing.since)
        };
        module.missing().map(one).collect::<Vec<_>>()
    };
    let cases = [
        (".version 8.0 .target sm_90", vec![]),
        (".version 8.0 .target sm_80", vec!["Function(0) add.s16x2 %x0, %x1, %x2; PTX 8.0 and sm_90"]),
        (
            ".version 7.0 .target sm_80",
            vec![
                "Function(0) add.s16x2 %x0, %x1, %x2; PTX 8.0 and sm_90",
                "Function(1) alloca.u64 %q, 8; PTX 7.3 and sm_75",
            ],
        ),
    ];
    for (head, expected) in cases {
        for call in ["", "call g;"] {
            let text = text(head, call);
            assert_eq!(missing(&text), expected, "{text}");
            if let Some(ptxas) = crate::ptx::ptxas() {
                let target = read(&text).unwrap().module.target;
                assert_eq!(crate::ptx::assemble(&ptxas, target, &text).is_ok(), expected.is_empty(), "{text}");
            }
        }
    }
}

/// The parser and `ptxas` must accept and reject the same uses of 128-bit registers.
#[test]
fn registers_of_128_bits() {
    let text = |version: &str, body: &str| {
        format!(
            ".version {version} .target sm_80 .address_size 64\n.entry k(.param .u64 a, .param .align 16 .b8 s[16]) {{\n\
             .reg .b128 %w<4>, %v; .reg .b64 %q<4>; .reg .b32 %r<5>; .reg .b16 %h<3>; .reg .pred %p;\n{body}\nret; }}\n"
        )
    };
    let ptxas = crate::ptx::ptxas();
    let is_taken = |text: &str| {
        let target = TargetName { sm: 80, suffix: None };
        ptxas.as_deref().map(|ptxas| crate::ptx::assemble(ptxas, target, text).is_ok())
    };
    for body in [
        "mov.b128 %w0, %v;",
        "mov.b128 %w3, {%q1, %q2};",
        "@%p mov.b128 {%q1, _}, %w3;",
        "mov.b128 %v, {%r1, %r2, %r3, %r4};",
        "mov.b128 {%r1, %r2, _, %r4}, %w1;",
        "ld.global.b128 %w2, [%q1+16];",
        "ld.b128 %w2, [%q1];",
        "ld.param.b128 %v, [s];",
        "ld.volatile.global.b128 %w1, [%q1];",
        "ld.acquire.gpu.global.b128 %w1, [%q1];",
        "ld.global.nc.b128 %w1, [%q1];",
        "st.global.b128 [%q1], %v;",
        "st.release.cta.b128 [%q1], %w3;",
    ] {
        let text = text("8.3", body);
        let module = read(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).module;
        assert_eq!(module.missing().next(), None, "{body}");
        let printed = module.to_string();
        assert!(printed.contains(body) && printed.contains(".reg .b128 %w<4>;"), "{printed}");
        assert!(read(&printed).unwrap().module == module, "{printed}");
        assert_ne!(is_taken(&text), Some(false), "{body}");
        // `.reg .b128` needs PTX 8.3.
        assert!(read(&text.replace("8.3", "8.2")).is_err());
    }
    for body in ["ld.acquire.sys.global.b128 %v, [%q1];", "st.mmio.relaxed.sys.global.b128 [%q1], %v;"] {
        let missing = |version| read(&text(version, body)).unwrap().module.missing().count();
        assert_eq!((missing("8.3"), missing("8.4")), (1, 0), "{body}");
        assert_ne!(is_taken(&text("8.3", body)), Some(true), "{body}");
        assert_ne!(is_taken(&text("8.4", body)), Some(false), "{body}");
    }
    for (body, verdict) in [
        ("mov.b128 %w0, %q1;", Verdict::Wrong),
        ("mov.b64 %q1, %w0;", Verdict::Wrong),
        ("mov.b128 {%h1, %h2}, %w0;", Verdict::Wrong),
        ("mov.b128 %w0, {%w1, %w2};", Verdict::Wrong),
        ("mov.b128 %w0, {%q1, %r2};", Verdict::Wrong),
        ("mov.b128 %w0, {%q1, _};", Verdict::Wrong),
        ("add.u64 %q1, %q2, %w0;", Verdict::Wrong),
        ("xor.b128 %w0, %w1, %w2;", Verdict::Wrong),
        ("selp.b128 %w0, %w1, %w2, %p;", Verdict::Wrong),
        ("ld.global.v2.b128 {%w0, %w1}, [%q1];", Verdict::Wrong),
        ("ld.global.b128 %q1, [%q1];", Verdict::Wrong),
        ("ld.global.b128 {%q1, %q2}, [%q1];", Verdict::Wrong),
        ("ld.global.b32 %r1, [%w1];", Verdict::Wrong),
        ("st.global.b128 [%q1], {%q1, %q2};", Verdict::Wrong),
        // The following instructions are valid PTX, but halfbyte does not support them.
        ("mov.b128 %w0, 1;", Verdict::Unsupported),
        ("st.global.b128 [%q1], 0;", Verdict::Unsupported),
        ("ld.global.b64 %w0, [%q1];", Verdict::Unsupported),
        ("st.global.b32 [%q1], %w0;", Verdict::Unsupported),
        (".param .b128 z;", Verdict::Unsupported),
        (".local .b128 z[2];", Verdict::Unsupported),
    ] {
        let text = text("8.3", body);
        let errors = read(&text).unwrap_err();
        assert_eq!(errors[0].kind.verdict(), verdict, "{body}: {}", errors[0]);
        assert_ne!(is_taken(&text), Some(verdict == Verdict::Wrong), "{body}");
    }
}

#[test]
fn checks_target_suffixes() {
    let body = ".reg .b32 %r<4>; .reg .f32 %f<4>; cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2; ret;";
    let missing = |target: &str| {
        let text = kernel(body).replace(".target sm_120f", &format!(".target {target}"));
        read(&text).unwrap().module.missing().map(|missing| missing.since.to_string()).collect::<Vec<_>>()
    };
    assert!(missing("sm_100a").is_empty());
    for target in ["sm_100f", "sm_100", "sm_120a"] {
        assert_eq!(missing(target), ["PTX 8.7 and sm_100a"], "{target}");
    }
}
