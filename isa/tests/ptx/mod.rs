//! Declarations for random PTX instructions, and access to `ptxas`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use halfbyte_isa::ptx::inst::Inst;
use halfbyte_isa::ptx::module::{
    BlockLimit, Body, Entry, Formal, FormalLocation, FrameVariable, Function, FunctionCode, Functions, LabelName,
    Linkage, Module, Param, Prototype, Registers, TargetList, TargetName, Targets, Variable, Variables,
};
use halfbyte_isa::ptx::operand::{Address, Base, FrameVar, Label, Operand};
use halfbyte_isa::ptx::row;
use halfbyte_isa::ptx::types::Space;
use halfbyte_isa::ptx::types::Type;

/// Returns the types with which PTX registers can be declared.
pub fn register_types() -> impl Iterator<Item = Type> {
    Type::ALL.iter().copied().filter(|ty| ty.is_of_registers())
}

/// Returns variables of every type in the state spaces `.global` and `.const`, and shared variables.
pub fn variables() -> Variables {
    let types = Type::ALL.iter().copied().filter(|&ty| Variable::admits(ty));
    let all = types.flat_map(|ty| [(ty, Space::Global), (ty, Space::Const)]).zip(0u8..).map(|((ty, space), number)| {
        let count = (number % 5 != 4).then_some(1 + u32::from(number) % 7);
        let bytes = count.unwrap_or(1) * ty.bits() / 8;
        Variable {
            name: format!("{}_{}", space.name(), ty.name()),
            space,
            linkage: match (number % 4, space) {
                (0, _) => Linkage::Plain,
                (1, _) => Linkage::Visible,
                (2, Space::Global) => Linkage::Common,
                _ => Linkage::Weak,
            },
            ty,
            count,
            align: Some(64),
            addresses: Vec::new(),
            bytes: (0..bytes).map(|byte| if number % 4 == 3 || byte > 20 { 0 } else { byte as u8 ^ 0x85 }).collect(),
        }
    });
    let shared = |name: &str, linkage, count: Option<u32>| Variable {
        name: name.to_owned(),
        space: Space::Shared,
        linkage,
        ty: Type::B32,
        count,
        align: Some(16),
        addresses: Vec::new(),
        bytes: vec![0; 4 * count.unwrap_or(0) as usize].into(),
    };
    all.chain([shared("held", Linkage::Plain, Some(9)), shared("rest", Linkage::Extern, None)]).collect()
}

/// Returns frame variables in the state spaces `.local` and `.param`.
fn frame() -> Vec<FrameVariable> {
    let of = |name: &str, space| FrameVariable {
        name: name.into(),
        space,
        ty: Type::B8,
        count: Some(1 << 10),
        align: Some(64),
    };
    vec![of("depot", Space::Local), of("passed", Space::Param)]
}

/// Declaration of a parameter that is passed in memory. Its size is that of the frame variables.
const IN_MEMORY: Formal = Formal { in_memory: true, ty: Type::B8, count: Some(1 << 10), align: Some(64) };

/// Returns functions with parameters and results in registers and in memory.
fn functions() -> Functions {
    let formal = |in_memory| {
        if in_memory { IN_MEMORY } else { Formal { in_memory, ty: Type::B32, count: None, align: None } }
    };
    let of = |name: &str, results: Vec<bool>, params: Vec<bool>| {
        let mut body = Body::default();
        let mut passed = |(number, in_memory): (usize, &bool), prefix: &str| {
            let name = format!("{prefix}{number}");
            if *in_memory {
                let Formal { ty, count, align, .. } = IN_MEMORY;
                body.frame.push(FrameVariable { name, space: Space::Param, ty, count, align });
                FormalLocation::Frame(body.frame.len() as u32 - 1)
            } else {
                FormalLocation::Register(body.registers.declare(format!("%{name}"), Type::B32, None).unwrap())
            }
        };
        let results_at = results.iter().enumerate().map(|of| passed(of, "r")).collect();
        let params_at = params.iter().enumerate().map(|of| passed(of, "a")).collect();
        let prototype = Prototype {
            results: results.into_iter().map(formal).collect(),
            params: params.into_iter().map(formal).collect(),
        };
        let code = Some(FunctionCode { body, results: results_at, params: params_at });
        Function { name: name.into(), linkage: Linkage::Visible, prototype, no_return: false, code }
    };
    [
        of("nothing", vec![], vec![]),
        of("in_memory", vec![true], vec![true, true]),
        of("in_registers", vec![false], vec![false, false]),
        of("of_both", vec![false], vec![true, false]),
    ]
    .into_iter()
    .collect()
}

/// Returns target lists and prototypes for indirect branches and calls.
fn tables() -> Vec<TargetList> {
    let prototype = Prototype { results: vec![IN_MEMORY], params: vec![IN_MEMORY; 2] };
    let of = |name: &str, of| TargetList { name: name.into(), of };
    vec![
        of("targets", Targets::Labels(vec![Label(0), Label(0)])),
        of("listed", Targets::Functions(vec![1])),
        of("like", Targets::Prototype(prototype)),
    ]
}

/// Returns a kernel without instructions, with registers of every type, a parameter of 1,024 bytes,
/// and a label at the end.
pub fn empty_entry() -> Entry {
    empty_entry_of((9, 2))
}

/// Returns a kernel without instructions for a PTX version, like [`empty_entry`]. Register types
/// that older versions lack are declared last.
pub fn empty_entry_of(version: (u8, u8)) -> Entry {
    let mut registers = Registers::default();
    let types = register_types().filter(|ty| *ty != Type::B128);
    for ty in types.chain((version >= (8, 3)).then_some(Type::B128)) {
        registers.declare(format!("%{}_", ty.name()), ty, Some(20)).unwrap();
        registers.declare(format!("the_{}", ty.name()), ty, None).unwrap();
    }
    Entry {
        name: "k".into(),
        linkage: Linkage::Visible,
        params: vec![Param { name: "p".into(), ty: Type::B8, count: Some(1 << 10), align: Some(8), pointer: None }],
        blocks: BlockLimit::Any,
        hints: Vec::new(),
        body: Body {
            registers,
            frame: frame(),
            labels: vec![LabelName { name: "end".into(), at: 0 }],
            tables: tables(),
            ..Body::default()
        },
        variables: variables(),
        functions: functions(),
    }
}

/// Returns a module for a target, with one kernel.
pub fn module(version: (u8, u8), target: TargetName, mut entry: Entry) -> Module {
    for label in &mut entry.body.labels {
        label.at = entry.body.insts.len() as u32;
    }
    let (variables, functions) = (entry.variables.clone(), entry.functions.clone());
    Module { version, target, variables, functions, entries: vec![entry] }
}

/// Changes the operands of a valid instruction so that `ptxas` accepts their values, too. Addresses
/// become aligned and stay within the parameter. Barrier numbers exist, and barriers have whole
/// warps of threads. A guarded instruction has no omitted result.
pub fn make_assemblable(inst: &mut Inst) {
    let row = inst.row();
    let elements = row::elements(&inst.modifiers) as i32;
    // A matrix instruction accesses memory in rows of 16 bytes.
    let size = if inst.is_warp_level() { 16 } else { (inst.ty(0).bits() / 8) as i32 * elements };
    let is_product = matches!(row.mnemonic, "mma" | "wmma");
    for operand in &mut inst.operands {
        if let Operand::Memory(address) = operand {
            let offset = if address.register().is_none() { address.offset.rem_euclid(512) } else { address.offset };
            address.offset = offset / size * size;
        }
        // ptxas 13.5 rejects `_` in the result of a product that it emulates with other instructions.
        if let (true, Operand::Vector(regs)) = (is_product, &mut *operand) {
            let first = regs.iter().flatten().next();
            *regs = regs.iter().map(|reg| reg.or(first)).collect();
        }
        // ptxas 13.5 crashes on an omitted result under a guard.
        if let Operand::Pair([None, _] | [_, None]) = operand {
            inst.guard = None;
        }
    }
}

/// Returns `true` if the instruction is part of a call sequence. `ptxas` accepts only complete call sequences.
pub fn is_of_a_call(inst: &Inst) -> bool {
    let passes = |operand: &Operand| {
        matches!(operand, Operand::Call { .. })
            || matches!(
                operand,
                Operand::Memory(Address { base: Base::Frame(FrameVar { space: Space::Param, .. }), .. })
            )
    };
    inst.operands.iter().any(passes)
}

/// Returns the path of `ptxas`, which is on `PATH` or in a Python package. If there is no `ptxas`,
/// prints a message and returns `None`; on CI, the test fails instead.
pub fn ptxas() -> Option<PathBuf> {
    let found = find_ptxas();
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "there is no ptxas, which CI installs");
        println!("skipped: there is no ptxas; `pip install nvidia-cuda-nvcc` brings it");
    }
    found
}

fn find_ptxas() -> Option<PathBuf> {
    let on_path = std::env::var_os("PATH")?;
    if let Some(found) = std::env::split_paths(&on_path).map(|p| p.join("ptxas")).find(|p| p.is_file()) {
        return Some(found);
    }
    let script = "import site\nfor p in site.getsitepackages() + [site.getusersitepackages()]: print(p)";
    let output = Command::new("python3").args(["-c", script]).output().ok()?;
    let roots = String::from_utf8(output.stdout).ok()?;
    roots
        .lines()
        .flat_map(|root| std::fs::read_dir(Path::new(root).join("nvidia")).into_iter().flatten().flatten())
        .map(|package| package.path().join("bin/ptxas"))
        .find(|path| path.is_file())
}

/// Assembles a PTX text with `ptxas`.
///
/// # Errors
/// Returns the output of `ptxas` if it rejects the text.
pub fn assemble(ptxas: &Path, target: TargetName, text: &str) -> Result<(), String> {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let (process, run) = (std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(format!("halfbyte-ptx-{process}-{run}"));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("k.ptx");
    std::fs::write(&path, text).unwrap();
    let output = Command::new(ptxas)
        .args(["-O0", "-arch", &target.to_string()])
        .arg(&path)
        .arg("-o")
        .arg(folder.join("k.cubin"))
        .output()
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}\n", output.status)
        + &String::from_utf8_lossy(&output.stderr)
        + &String::from_utf8_lossy(&output.stdout))
}
