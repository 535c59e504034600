//! NVIDIA's assembler takes what kernels become: every example that a SM can do, on that SM. Skipped where there is no ptxas.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../isa/tests/ptx/mod.rs"]
#[allow(dead_code)]
mod ptx;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use halfbyte::emit::{Code, ptx_text};
use halfbyte::isa::object::Words;
use halfbyte::isa::ptx::module::Suffix;
use halfbyte::isa::target::SMS;
use halfbyte::pipeline::{Compiler, Options};
use halfbyte::{Module, Target, runlines};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The kernel files below a folder.
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

/// The kernels of the examples that an SM can do, each by a name that no other has; and those that should be, and are not.
fn kernels(sm: u16) -> (Vec<Code>, Vec<String>) {
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
            .map(|run| run.kernel.0)
            .collect();
        let module = Module::named(path.file_name().unwrap().to_str().unwrap(), text).unwrap();
        let options = Options::new(Target::Ptx { sm });
        let mut compiler = Compiler::new(&module, &options);
        for kernel in &module.ir().kernels {
            match compiler.compile(kernel, &mut |_| {}) {
                Ok((mut code, _)) => {
                    if let Words::Ptx(kernel) = &mut code.words {
                        kernel.entry.name += &format!("_{}", all.len());
                    }
                    all.push(code);
                }
                Err(_) if !named.contains(&kernel.name) => {}
                Err(errors) => refused.push(format!("{}: @{}: {}", path.display(), kernel.name, errors[0])),
            }
        }
    }
    (all, refused)
}

#[test]
fn an_assembler_takes_every_example() {
    let ptxas = ptx::ptxas();
    for sm in SMS {
        let (all, refused) = kernels(sm);
        // What an SM lacks is said by a refusal; the SM that is the default lacks nothing that a run line asks for.
        assert!(sm != 90 || refused.is_empty(), "{refused:#?}");
        assert!(!all.is_empty(), "sm_{sm}");
        let Some(ptxas) = &ptxas else {
            println!("skipped for sm_{sm}: there is no ptxas");
            continue;
        };
        let text = ptx_text(all.clone(), sm, Some("examples"));
        assert!(text.contains(".loc 1 "));
        let is_family =
            all.iter().any(|code| matches!(&code.words, Words::Ptx(kernel) if kernel.target.suffix.is_some()));
        let target = halfbyte::isa::ptx::module::TargetName { sm, suffix: is_family.then_some(Suffix::Family) };
        ptx::assemble(ptxas, target, &text).unwrap_or_else(|said| panic!("sm_{sm}, {} kernels: {said}", all.len()));
    }
}
