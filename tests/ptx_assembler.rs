//! Tests that ptxas accepts the compiled kernels: for each SM version, every example that it
//! supports. The tests are skipped if ptxas is missing.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use halfbyte::emit::{KernelCode, ptx_text};
use halfbyte::ir::{Attr, AttrKind, FlagKind, FloatCC, FloatFlags, IntCC, Kernel, Op, Type, verify};
use halfbyte::isa::ptx;
use halfbyte::isa::ptx::module::TargetName;
use halfbyte::isa::ptx::types::Suffix;
use halfbyte::pipeline::{Compiler, Options};
use halfbyte::{Module, Sm};
use halfbyte_testkit::runlines;

use crate::common::root;

/// Appends the kernel files of a folder and its subfolders to `found`.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false if path.extension().is_some_and(|extension| extension == "hb") => found.push(path),
            false => {}
        }
    }
    found.sort();
}

/// Returns the kernel of compiled PTX code.
fn text_of(code: &KernelCode) -> &halfbyte::isa::ptx::module::Kernel {
    &code.words.downcast_ref::<ptx::PtxKernel>().unwrap().kernel
}

/// Returns the kernels of the examples that an SM version supports, with unique names, and the
/// kernels that are refused although they have a run line for `ptx`.
fn kernels(sm: Sm) -> (Vec<KernelCode>, Vec<String>) {
    let mut paths = Vec::new();
    files(&root().join("examples"), &mut paths);
    let (mut all, mut refused) = (Vec::new(), Vec::new());
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let named: HashSet<String> = runlines::read(&text)
            .unwrap()
            .runs
            .into_iter()
            .filter(|run| run.targets.iter().any(|target| target.name() == "ptx"))
            .flat_map(|run| run.launches().map(|launch| launch.kernel.0.clone()).collect::<Vec<_>>())
            .collect();
        let module = Module::named(path.file_name().unwrap().to_str().unwrap(), text).unwrap();
        let options = Options::new(halfbyte::ptx(sm));
        let mut compiler = Compiler::new(&module, &options);
        for kernel in &module.ir().kernels {
            match compiler.compile(kernel, &mut |_| {}) {
                Ok((code, _)) => {
                    let mut own: ptx::PtxKernel = code.words.clone().downcast().unwrap();
                    own.kernel.entry.name += &format!("_{}", all.len());
                    all.push(KernelCode { words: own.into(), ..code });
                }
                Err(_) if !named.contains(&kernel.name) => {}
                Err(errors) => {
                    refused.push(format!("{}: @{}: {}", path.display(), kernel.name, errors.diagnostics()[0]))
                }
            }
        }
    }
    (all, refused)
}

#[test]
fn an_assembler_takes_every_example() {
    let ptxas = crate::ptx::ptxas();
    for sm in Sm::ALL {
        let (all, refused) = kernels(sm);
        // An older SM version refuses the instructions that it lacks. The default SM version
        // supports every kernel with a run line for `ptx`.
        assert!(sm != Sm::DEFAULT || refused.is_empty(), "{refused:#?}");
        assert!(!all.is_empty(), "{sm}");
        let Some(ptxas) = &ptxas else { continue };
        let text = ptx_text(all.clone(), sm, Some("examples"));
        assert!(text.contains(".loc 1 "));
        let is_family = all.iter().any(|code| text_of(code).target.suffix.is_some());
        let target =
            halfbyte::isa::ptx::module::TargetName { sm: sm.number(), suffix: is_family.then_some(Suffix::Family) };
        crate::ptx::assemble(ptxas, target, &text).unwrap_or_else(|said| panic!("{sm}, {} kernels: {said}", all.len()));
    }
}

/// Returns all attributes that an op can have on a type.
fn attributes(op: Op, ty: Type) -> Vec<Attr> {
    match op.row().attr {
        AttrKind::Float(_) => {
            let set = op.row().flags(ty);
            let kinds = FlagKind::ALL.into_iter().filter(|&kind| set.contains(kind));
            let with = |all: Vec<FloatFlags>, kind: FlagKind| {
                let chosen = |flags: FloatFlags| {
                    kind.words().iter().map(move |&word| {
                        let mut flags = flags;
                        flags.set(word);
                        flags
                    })
                };
                all.iter().flat_map(|&flags| std::iter::once(flags).chain(chosen(flags))).collect()
            };
            kinds.fold(vec![FloatFlags::default()], with).into_iter().map(Attr::Float).collect()
        }
        AttrKind::IntCC => IntCC::ALL.iter().map(|&cc| Attr::IntCC(cc)).collect(),
        AttrKind::FloatCC => {
            let all = FloatCC::ALL.iter();
            all.flat_map(|&cc| [false, true].map(|ftz| Attr::FloatCC { cc, ftz })).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the text of a kernel with one op, extended by stores of its results, or `None` if a result cannot be stored.
fn stored(kernel: &Kernel, name: &str) -> Option<String> {
    let text = kernel.to_string();
    let (head, body) = text.split_once(") {\n")?;
    let head = head.replacen("@k(", &format!("@{name}("), 1);
    let (mut params, mut stores) = (Vec::new(), String::new());
    for (number, &inst) in kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts).enumerate() {
        let Some(result) = kernel.result(inst) else { continue };
        // An unnamed value is printed as a number, in the order of the instructions.
        let line = body.lines().filter(|line| line.contains(" = ")).nth(number)?;
        let value = line.trim().split(' ').next()?;
        let ty = kernel.ty(result);
        let stored = match Type::ALL.iter().find(|other| other.mask_type() == Some(ty)) {
            _ if ty == Type::PTR => return None,
            Some(lanes) => {
                params.push(format!("%x{number}: {lanes}, %y{number}: {lanes}, %out{number}: out {lanes}"));
                stores += &format!("  %s{number} = select.{lanes} {value}, %x{number}, %y{number}\n");
                format!("%s{number}")
            }
            None => {
                params.push(format!("%out{number}: out {ty}"));
                value.to_owned()
            }
        };
        stores += &format!("  store {stored}, %out{number}\n");
    }
    let body = body.replacen("  ret\n", &format!("{stores}  ret\n"), 1);
    let separator = if head.ends_with('(') || params.is_empty() { "" } else { ", " };
    Some(format!("{head}{separator}{}) {{\n{body}", params.join(", ")))
}

/// Returns a module with one kernel for each combination of an op, a type, a source type and an attribute.
fn forms() -> Module {
    let mut text = String::new();
    let mut count = 0;
    for &op in Op::ALL.iter().filter(|&&op| op != Op::Intrinsic) {
        let types = Type::ALL.iter().copied();
        let types: Vec<Type> = match op.row().types {
            Some(set) => types.filter(|&ty| set.contains(ty)).collect(),
            None => vec![Type::I32],
        };
        for (ty, kernel) in
            types.into_iter().flat_map(|ty| crate::ops::op_kernels(op, ty).into_iter().map(move |k| (ty, k)))
        {
            let attributes = attributes(op, ty);
            let inst = kernel.insts.keys().next();
            let mut all = vec![kernel.clone()];
            if let Some(inst) = inst.filter(|_| !attributes.is_empty()) {
                all = vec![kernel; attributes.len()];
                all.iter_mut().zip(attributes).for_each(|(kernel, attr)| kernel.insts[inst].attr = attr);
            }
            for kernel in all.into_iter().filter(|kernel| verify(kernel).is_ok()) {
                if let Some(kernel) = stored(&kernel, &format!("k{count}")) {
                    text += &kernel;
                    count += 1;
                }
            }
        }
    }
    Module::named("forms", text).unwrap_or_else(|report| panic!("{report}"))
}

/// Compiles every `stride`-th combination of op, types and attribute for each SM version that supports it, with and
/// without passes, and assembles the result. Kernels that need the same PTX version are assembled together.
fn assemble_forms(stride: usize) {
    let Some(ptxas) = crate::ptx::ptxas() else { return };
    let module = forms();
    let (mut count, mut wrong) = (0, Vec::new());
    for (place, sm) in Sm::ALL.into_iter().enumerate() {
        let all = Options::new(halfbyte::ptx(sm));
        let mut least = all.clone();
        least.pipeline.retain(|pass| pass.name() == "pack");
        for (way, options) in [all, least].iter().enumerate() {
            let mut versions: BTreeMap<((u8, u8), bool), Vec<KernelCode>> = BTreeMap::new();
            let mut compiler = Compiler::new(&module, options);
            for kernel in module.ir().kernels.iter().skip((place + way) % stride).step_by(stride) {
                let Ok((code, _)) = compiler.compile(kernel, &mut |_| {}) else { continue };
                let halfbyte::isa::ptx::module::Kernel { version, target, .. } = text_of(&code);
                let key = (*version, target.suffix.is_some());
                versions.entry(key).or_default().push(code);
                count += 1;
            }
            for ((version, is_family), codes) in versions {
                let text = ptx_text(codes, sm, None);
                assert!(text.starts_with(&format!(".version {}.{}\n", version.0, version.1)));
                let target = TargetName { sm: sm.number(), suffix: is_family.then_some(Suffix::Family) };
                wrong.extend(
                    crate::ptx::assemble(&ptxas, target, &text)
                        .err()
                        .map(|said| format!("{version:?} {target}: {said}")),
                );
            }
        }
    }
    println!("{count} of {} kernels on {} SMs with passes and without", module.ir().kernels.len(), Sm::ALL.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count * stride > 5_000, "{count}");
}

#[test]
fn an_assembler_takes_a_sample_of_all_forms() {
    assemble_forms(4);
}

#[test]
#[ignore = "four times the sample above"]
fn an_assembler_takes_all_forms() {
    assemble_forms(1);
}
