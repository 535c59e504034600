//! Tests of the classification of errors. A text that `ptxas` accepts and halfbyte does not
//! implement is unsupported. A text that no assembler accepts is wrong.

use halfbyte_isa::ptx::module::TargetName;
use halfbyte_isa::ptx::text::{Error, Verdict, read};

/// Statements that `ptxas` 13.5 accepts for the target. The last string is the word at which
/// halfbyte reports the error.
const UNSUPPORTED: &[(&str, &str, &str)] = &[
    ("sm_80", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%f0, %f1}, {%f2}, {%f3}, {%f0, %f1};", ".f64"),
    ("sm_80", "mma.sync.aligned.m8n8k4.row.col.rn.f64.f64.f64.f64 {%f0, %f1}, {%f2}, {%f3}, {%f0, %f1};", ".rn"),
    (
        "sm_120a",
        "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32 {%s0, %s1, %s2, %s3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, \
         {%s0, %s1, %s2, %s3};",
        ".kind::f8f6f4",
    ),
    (
        "sm_80",
        "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6, %r7}, {%r0, %r1, %r2, %r3};",
        "mma",
    ),
    ("sm_90", "prefetch.tensormap [%d0];", ".tensormap"),
    ("sm_90", "fence.proxy.tensormap::generic.release.cta;", ".tensormap::generic"),
    ("sm_90", "fence.acquire.sync_restrict::shared::cluster.cluster;", ".sync_restrict::shared"),
    ("sm_100a", "st.bulk.weak.shared::cta [%d0], 16, 0;", ".bulk"),
    ("sm_100a", "red.async.mmio.release.sys.global.add.u32 [%d0], %r1;", ".async"),
    ("sm_100a", "cvt.rn.bf16x2.e4m3x2 %r0, %h0;", ".e4m3x2"),
    ("sm_120a", "add.sat.u32 %r0, %r1, %r2;", ".u32"),
    ("sm_120a", "neg.s8x4 %r0, %r1;", ".s8x4"),
    ("sm_80", "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d0, [%d1], %r0, %r1;", ".range"),
    ("sm_80", "ld.global.b32 %r0, [%d0].unified;", ".unified"),
    ("sm_90", "mapa.u64 %d0, %d1, %r2;", "mapa"),
    ("sm_90", "barrier.cluster.arrive;", ".cluster"),
    ("sm_80", "mbarrier.init.shared.b64 [%d0], 1;", "mbarrier"),
    ("sm_80", "mov.u64 %d0, %clock64+4;", "%clock64"),
    ("sm_80", "add.u64 %d0, %laneid+4, 1;", "%laneid"),
];

/// Statements that no assembler accepts. The last string is the word at which halfbyte reports the
/// error.
const WRONG: &[(&str, &str, &str)] = &[
    ("sm_80", "mma.sync.aligned.m8n8k4.row.col.f65.f64.f64.f64 {%f0, %f1}, {%f2}, {%f3}, {%f0, %f1};", ".f65"),
    ("sm_90", "prefetch.tensorman [%d0];", ".tensorman"),
    ("sm_90", "fence.proxy.alias.cta;", ".cta"),
    ("sm_90", "tcgen06.wait::ld.sync.aligned;", "tcgen06"),
    ("sm_100a", "st.sulk.weak.shared::cta [%d0], 16, 0;", ".sulk"),
    ("sm_120a", "sub.sat.u32 %r0, %r1, %r2;", ".u32"),
    ("sm_120a", "neg.u8x4 %r0, %r1;", ".u8x4"),
    ("sm_80", "createpolicy.rang.global.L2::evict_last.L2::evict_first.b64 %d0, [%d1], %r0, %r1;", ".rang"),
    ("sm_80", "ld.global.b32 %r0, [%d0].unifie;", ".unifie"),
    ("sm_80", "mov.u32 %r0, %tid.x+4;", "+"),
    ("sm_80", "vadd.u32.u32.u32 %r0, %laneid+4, %r1;", "%laneid"),
    ("sm_80", "shfl.sync.up.b32 %r0, %r1, 1, 0, %s0;", "%s0"),
];

fn module(target: &str, statement: &str) -> String {
    format!(
        ".version 9.5\n.target {target}\n.address_size 64\n.entry k()\n{{\n.reg .b16 %h<2>;\n.reg .b32 %r<9>;\n\
         .reg .b64 %d<3>;\n.reg .f32 %s<4>;\n.reg .f64 %f<4>;\n{statement}\nret;\n}}\n"
    )
}

/// Returns the only error of a statement. The error must be at `word`.
fn error_at(target: &str, statement: &str, word: &str) -> Error {
    let text = module(target, statement);
    let errors = match read(&text) {
        Ok(read) => read.missing(),
        Err(errors) => errors,
    };
    let [error] = errors.as_slice() else { panic!("{statement}: {errors:?}") };
    let line = text.lines().nth(error.at.line as usize - 1).unwrap();
    assert!(line[error.at.column as usize - 1..].starts_with(word), "{statement}: {error}");
    error.clone()
}

#[test]
fn what_ptxas_accepts_is_unsupported() {
    for &(target, statement, word) in UNSUPPORTED {
        let error = error_at(target, statement, word);
        assert_eq!(error.kind.verdict(), Verdict::Unsupported, "{statement}: {error}");
    }
}

#[test]
fn what_no_assembler_accepts_is_wrong() {
    for &(target, statement, word) in WRONG {
        let error = error_at(target, statement, word);
        assert_eq!(error.kind.verdict(), Verdict::Wrong, "{statement}: {error}");
    }
}

/// A function with an error is no external function for its callers.
#[test]
fn an_error_of_a_function_is_the_only_error() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.func f()\n{\n.reg .b32 %r<2>;\nadd.s32 %r0, %r1;\nret;\n}\n\
                .entry k()\n{\ncall.uni f;\nret;\n}\n";
    let errors = match read(text) {
        Ok(read) => read.missing(),
        Err(errors) => errors,
    };
    let [error] = errors.as_slice() else { panic!("{errors:?}") };
    assert_eq!((error.at.line, error.kind.verdict()), (7, Verdict::Wrong), "{error}");
}

#[test]
fn ptxas_agrees() {
    let Some(ptxas) = crate::ptx::ptxas() else { return };
    let accepted = UNSUPPORTED.iter().map(|&of| (of, true)).chain(WRONG.iter().map(|&of| (of, false)));
    for ((target, statement, _), is_accepted) in accepted {
        let name = TargetName::from_number(target.trim_start_matches("sm_")).unwrap();
        let found = crate::ptx::assemble(&ptxas, name, &module(target, statement));
        assert_eq!(found.is_ok(), is_accepted, "{statement}: {found:?}");
    }
}

#[test]
fn errors_name_a_way_out() {
    let tensor_map = error_at("sm_90", "prefetch.tensormap [%d0];", ".tensormap");
    assert_eq!(
        tensor_map.kind.remedy().as_deref(),
        Some("compile the kernel for sm_80, whose code does not need this feature")
    );
    let early = read(".version 8.6\n.target sm_100f\n").unwrap_err();
    assert_eq!(early[0].kind.remedy().as_deref(), Some("change `.version` to 8.8"));
    let late = read(".version 9.6\n.target sm_100f\n").unwrap_err();
    assert_eq!(late[0].kind.remedy().as_deref(), Some("compile the kernel for PTX 9.5"));
    assert_eq!(error_at("sm_80", "mbarrier.init.shared.b64 [%d0], 1;", "mbarrier").kind.remedy(), None);
}
