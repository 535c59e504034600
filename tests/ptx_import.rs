//! Tests of imported PTX kernels: evaluated and compiled, they give the bits of direct execution.
//! The baseline kernels also give the bits of the same kernels written in the IR.

use halfbyte::Target;
use halfbyte::import_ptx::{Host, Shape, import};
use halfbyte::ir::ParamKind;
use halfbyte::ir::witness::Random;
use halfbyte::isa::ptx::module::{Body, Entry, Linkage, Module, Registers, TargetName};
use halfbyte::isa::ptx::text::inst_text;
use halfbyte::isa::ptx::types::Type as PtxType;
use halfbyte::isa::ptx::{Inst, Opcode, Operand};
use halfbyte::isa::row::InstClass;
use halfbyte::launch::{Engine, evaluate, execute, given};

use crate::ptx_support::{Baseline, arguments, baselines};

const GRID: u32 = 4;
const BLOCK: u32 = 64;

#[test]
fn the_baselines_are_the_kernels_written_in_ir() {
    for Baseline { name, source, ir } in baselines() {
        let module = import(&name, &source, Shape::default()).unwrap_or_else(|report| panic!("{report}"));
        let [kernel] = module.ir().kernels.as_slice() else { panic!("{name}: one kernel") };
        assert!(!kernel.to_string().contains("ptr_add"), "{name}: {kernel}");
        let host = Host::load(&name, &source, &kernel.name).unwrap();
        assert_eq!(host.params().to_vec(), given(kernel), "{name}");
        // For SM versions without minimum and maximum, the baseline files use comparisons, which
        // treat NaN and -0 differently.
        let ordinary = source.contains(" set.");
        for seed in 0..8 {
            let before = arguments(&ir, GRID * BLOCK, ordinary, seed);
            let mut expected = before.clone();
            evaluate(&ir, GRID * BLOCK, &mut expected).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            let mut found = before.clone();
            evaluate(kernel, GRID * BLOCK, &mut found).unwrap_or_else(|fault| panic!("{name}: {fault}\n{kernel}"));
            let mut text = before.clone();
            host.launch((GRID, BLOCK), &mut text).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            assert!(expected != before, "{name}: nothing is written");
            assert!(expected == found, "{name}, launch {seed}\n{kernel}");
            assert!(expected == text, "{name}, launch {seed}");
        }
    }
}

/// Compiles a kernel for each of the targets that supports it, and compares the results with direct execution.
fn compiled(name: &str, source: &str, targets: &[Target], seeds: u64) {
    let shape = Shape { grid: Some([GRID, 1, 1]), block: Some([BLOCK, 1, 1]) };
    let module = import(name, source, shape).unwrap_or_else(|report| panic!("{report}"));
    for kernel in &module.ir().kernels {
        for &target in targets {
            let binary = module.compile(target).unwrap_or_else(|report| panic!("{report}\n{kernel}"));
            let program = halfbyte::TARGETS.load(&binary.object).unwrap();
            let loaded = program.kernel(&kernel.name).unwrap();
            for seed in 0..seeds {
                let before = arguments(kernel, GRID * BLOCK, false, seed);
                let mut expected = before.clone();
                let host = Host::load(name, source, &kernel.name).unwrap();
                host.launch((GRID, BLOCK), &mut expected).unwrap_or_else(|fault| panic!("{name}: {fault}"));
                for engine in Engine::ALL {
                    let mut found = before.clone();
                    execute(loaded, engine, GRID * BLOCK, &mut found).unwrap_or_else(|fault| panic!("{name}: {fault}"));
                    assert!(expected == found, "{name} on {target} ({engine}), launch {seed}\n{kernel}");
                }
            }
        }
    }
}

#[test]
fn the_baselines_compile() {
    for Baseline { name, source, ir } in baselines() {
        let bytes = |param: &halfbyte::ir::Param| match param.kind {
            ParamKind::Scalar(ty) | ParamKind::Buffer { elem: ty, .. } => ty.elem() == halfbyte::ir::Elem::I8,
        };
        // VP1 only supports kernels whose parameters are bytes.
        let targets = [halfbyte::HALU, halfbyte::VP1];
        let targets = if ir.params.iter().all(bytes) { &targets[..] } else { &targets[..1] };
        compiled(&name, &source, targets, 2);
    }
}

/// Kernel with arithmetic on `f64`, and on `f32` with rounding modes other than to nearest even.
const DOUBLES: &str = "
    .version 7.8
    .target sm_90
    .address_size 64
    .visible .entry d(.param .u64 x, .param .u64 y, .param .f64 s)
    {
      .reg .u64 %q<8>;
      .reg .f64 %d<16>;
      .reg .f32 %f<8>;
      .reg .b32 %r<8>;
      .reg .pred %p;
      ld.param.u64 %q0, [x];
      ld.param.u64 %q1, [y];
      ld.param.f64 %d0, [s];
      mov.u32 %r0, %tid.x;
      mul.wide.u32 %q2, %r0, 8;
      add.u64 %q3, %q0, %q2;
      add.u64 %q4, %q1, %q2;
      ld.global.f64 %d1, [%q3];
      add.rz.f64 %d2, %d0, %d1;
      mul.rp.f64 %d3, %d2, %d1;
      fma.rm.f64 %d4, %d3, %d1, %d0;
      div.rn.f64 %d5, %d4, %d1;
      sqrt.rn.f64 %d6, %d5;
      rcp.rn.f64 %d7, %d6;
      min.f64 %d8, %d7, %d1;
      neg.f64 %d9, %d8;
      setp.lt.f64 %p, %d9, %d1;
      selp.f64 %d10, %d9, %d1, %p;
      cvt.rn.f32.f64 %f0, %d10;
      add.rz.f32 %f1, %f0, 0f3f800000;
      sqrt.rp.f32 %f2, %f1;
      cvt.f64.f32 %d11, %f2;
      cvt.rzi.s64.f64 %q5, %d11;
      cvt.rn.f64.s64 %d12, %q5;
      st.global.f64 [%q4], %d12;
      ret;
    }
";

#[test]
fn doubles_and_roundings_become_ops() {
    compiled("d.ptx", DOUBLES, &[halfbyte::HALU], 4);
    let module = import("d.ptx", DOUBLES, Shape::default()).unwrap_or_else(|report| panic!("{report}"));
    let text = module.ir().kernels[0].to_string();
    for op in [
        "fadd.rz.f64",
        "fmul.rp.f64",
        "ffma.rm.f64",
        "fdiv.f64",
        "fsqrt.f64",
        "fmin.f64",
        "fneg.f64",
        "fcmp.lt.f64",
        "fcvt.f32",
        "fadd.rz.f32",
        "fsqrt.rp.f32",
        "fcvt.f64",
        "fcvt_to_s.i64",
        "fcvt_from_s.f64",
    ] {
        assert!(text.contains(op), "{op}\n{text}");
    }
    // The import replaces no op on `f64` by ops on integers.
    for op in ["concat", "split", "clz", "shr_u", "mul_hi"] {
        assert!(!text.contains(op), "{op}\n{text}");
    }
}

/// Registers of random kernels: the prefix of their names, their type and their number.
const REGISTERS: &[(&str, PtxType, u32)] = &[
    ("%p", PtxType::Pred, 3),
    ("%h", PtxType::B16, 4),
    ("%x", PtxType::F16, 2),
    ("%r", PtxType::B32, 4),
    ("%s", PtxType::S32, 2),
    ("%f", PtxType::F32, 3),
    ("%d", PtxType::B64, 3),
];
/// Number of buffer bytes for each item.
const ITEM: u32 = 128;

/// Returns a kernel that loads all registers, executes a sequence of `count` random instructions
/// three times, and stores all registers. Some instructions are skipped by branches. If `opcode` is
/// given, the instructions have this opcode.
fn random_kernel(random: &mut Random, opcode: Option<Opcode>, count: u32) -> String {
    let mut registers = Registers::default();
    for &(name, ty, count) in REGISTERS {
        registers.declare(name, ty, Some(count)).unwrap();
    }
    let entry = Entry {
        name: "k".into(),
        linkage: Linkage::Visible,
        params: Vec::new(),
        blocks: Default::default(),
        hints: Vec::new(),
        body: Body { registers, ..Body::default() },
        variables: Default::default(),
        functions: Default::default(),
    };
    // No SM version has all instructions, because some of them belong to one GPU family.
    let target = if random.bits().is_multiple_of(2) { "100a" } else { "120f" };
    let target = TargetName::from_number(target).unwrap();
    let (variables, functions) = Default::default();
    let machine = Module { version: (9, 2), target, variables, functions, entries: Vec::new() };
    let mut text = format!(
        ".version 9.2\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 trips)\n{{\n"
    );
    for (name, ty, count) in REGISTERS {
        text += &format!(".reg {ty} {name}<{count}>;\n");
    }
    text += ".reg .b64 %at<3>; .reg .b32 %i<8>; .reg .pred %more;
mov.u32 %i4, %ctaid.z;
mov.u32 %i1, %nctaid.y; mov.u32 %i2, %ctaid.y; mad.lo.s32 %i4, %i4, %i1, %i2;
mov.u32 %i1, %nctaid.x; mov.u32 %i2, %ctaid.x; mad.lo.s32 %i4, %i4, %i1, %i2;
mov.u32 %i1, %ntid.z; mov.u32 %i2, %tid.z; mad.lo.s32 %i4, %i4, %i1, %i2;
mov.u32 %i1, %ntid.y; mov.u32 %i2, %tid.y; mad.lo.s32 %i4, %i4, %i1, %i2;
mov.u32 %i1, %ntid.x; mov.u32 %i2, %tid.x; mad.lo.s32 %i4, %i4, %i1, %i2;
ld.param.u64 %at0, [p]; ld.param.u32 %i5, [trips];
mul.wide.u32 %at1, %i4, 128;
add.s64 %at2, %at0, %at1;
";
    let each = |text: &mut String, store: bool| {
        let mut at = 0u32;
        for &(name, ty, count) in REGISTERS {
            for n in 0..count {
                let bytes = (ty.bits() / 8).max(4);
                at = at.next_multiple_of(bytes);
                *text += &match (ty, store) {
                    (PtxType::Pred, false) => {
                        format!("ld.global.u32 %i6, [%at2+{at}]; setp.gt.s32 {name}{n}, %i6, 0;\n")
                    }
                    (PtxType::Pred, true) => {
                        format!("selp.b32 %i6, 1, 0, {name}{n}; st.global.b32 [%at2+{at}], %i6;\n")
                    }
                    (PtxType::F32, false) => format!("ld.global.f32 {name}{n}, [%at2+{at}];\n"),
                    (PtxType::F32, true) => format!("st.global.f32 [%at2+{at}], {name}{n};\n"),
                    (ty, false) => format!("ld.global.b{} {name}{n}, [%at2+{at}];\n", ty.bits()),
                    (ty, true) => format!("st.global.b{} [%at2+{at}], {name}{n};\n", ty.bits()),
                };
                at += bytes;
            }
        }
        assert!(at <= ITEM, "{at}");
    };
    each(&mut text, false);
    text += "loop:\n";
    let mut open = Vec::new();
    for n in 0..count {
        let opcode = opcode.unwrap_or_else(|| {
            loop {
                let opcode = Opcode::ALL[random.bits() as usize % Opcode::ALL.len()];
                if is_drawn(opcode) {
                    break opcode;
                }
            }
        });
        // An instruction is skipped if it needs registers that the kernel lacks, such as 8-bit registers.
        let Some(inst) = Inst::random(opcode, &entry, &mut || random.bits()) else { continue };
        // Special registers that describe the GPU cannot be imported.
        let is_of_machine =
            |operand: &Operand| matches!(operand, Operand::Special(special) if !special.depends_on_position());
        if inst.operands.iter().any(is_of_machine) || !machine.provides(inst.since()) {
            continue;
        }
        text += &inst_text(&inst, &entry);
        text += "\n";
        if random.bits().is_multiple_of(8) {
            let count = 2 + random.bits() as usize % 5;
            for link in Inst::random_carry_chain(count, &entry, &mut || random.bits()).unwrap() {
                text += &inst_text(&link, &entry);
                text += "\n";
            }
        }
        match random.bits() % 5 {
            0 => {
                text += &format!("@{}%p{} bra skip{n};\n", if n % 2 == 0 { "" } else { "!" }, random.bits() % 3);
                open.push(n);
            }
            1 => {
                if let Some(n) = open.pop() {
                    text += &format!("skip{n}:\n");
                }
            }
            _ => {}
        }
    }
    for n in open {
        text += &format!("skip{n}:\n");
    }
    text += "sub.s32 %i5, %i5, 1; setp.gt.s32 %more, %i5, 0; @%more bra loop;\n";
    each(&mut text, true);
    text + "ret;\n}\n"
}

/// Returns `true` if random kernels may contain the opcode. Memory and control instructions are
/// excluded, because other tests cover them.
fn is_drawn(opcode: Opcode) -> bool {
    let is_address = matches!(
        opcode,
        Opcode::CVTA | Opcode::CVTA_ADDRESS | Opcode::MOV_ADDRESS | Opcode::ISSPACEP | Opcode::ISSPACEP_WORD
    );
    !matches!(opcode.row().class, InstClass::Memory | InstClass::Control) && !is_address
}

fn same_as_the_text(text: &str, seed: u64) {
    const ITEMS: u32 = 24;
    let shapes = [([3, 1, 1], [8, 1, 1]), ([1, 3, 1], [8, 1, 1]), ([1, 1, 1], [6, 2, 2]), ([2, 1, 3], [2, 2, 1])];
    let (grid, block) = shapes[seed as usize % shapes.len()];
    // If the grid or the block size is not given, the kernel reads it from special registers at run time.
    let known =
        Shape { grid: (!seed.is_multiple_of(3)).then_some(grid), block: (!seed.is_multiple_of(5)).then_some(block) };
    let module = import("k.ptx", text, known).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let kernel = &module.ir().kernels[0];
    let host = Host::load("k.ptx", text, "k").unwrap();
    let mut before = arguments(kernel, ITEMS * ITEM / 16, false, seed);
    before[1] = vec![3, 0, 0, 0];
    let mut expected = before.clone();
    host.launch((grid, block), &mut expected).unwrap();
    let mut found = before.clone();
    evaluate(kernel, (grid, block), &mut found).unwrap_or_else(|fault| panic!("{fault}\n{text}\n{kernel}"));
    if expected != found {
        let at = expected[0].iter().zip(&found[0]).position(|(a, b)| a != b).unwrap();
        panic!("byte {at}, item {} at {}\n{text}\n{kernel}", at as u32 / ITEM, at as u32 % ITEM);
    }
}

#[test]
fn every_instruction_keeps_its_meaning() {
    for &opcode in Opcode::ALL.iter().filter(|&&opcode| is_drawn(opcode)) {
        let mut random = Random(opcode as u64);
        for seed in 0..6 {
            same_as_the_text(&random_kernel(&mut random, Some(opcode), 12), seed);
        }
    }
}

#[test]
fn random_kernels_keep_their_meaning() {
    for seed in 0..150 {
        same_as_the_text(&random_kernel(&mut Random(1000 + seed), None, 40), seed);
    }
}
