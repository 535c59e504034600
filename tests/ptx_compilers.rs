//! Tests of PTX from clang and nvcc, which is parsed, imported, compiled and executed. The results
//! of clang's PTX must be those of the same C code on the host.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use halfbyte::Module;
use halfbyte::import_ptx::{Host, Shape, import};
use halfbyte::launch::{Engine, evaluate, execute};

use crate::common::{halfbyte, root};
use crate::ptx_support::arguments;

const GRID: u32 = 2;
const BLOCK: u32 = 96;
const SEEDS: u64 = 6;

/// Folder of each compiler's PTX, with the number of kernels in it.
const FILES: [(&str, usize); 3] = [("clang", 13), ("nvcc", 10), (SIMD, 82)];
const CLANG: &str = "clang";
/// Functions of CUDA's SIMD header, which are sequences of ops on words.
const SIMD: &str = "simd";

fn source(compiler: &str) -> String {
    std::fs::read_to_string(root().join(format!("tests/ptx/{compiler}/kernels.ptx"))).unwrap()
}

fn imported(compiler: &str, shape: Shape) -> Module {
    let module = import(compiler, &source(compiler), shape).unwrap_or_else(|report| panic!("{report}"));
    let count = FILES.iter().find(|(file, _)| *file == compiler).map(|(_, count)| *count);
    assert_eq!(Some(module.ir().kernels.len()), count);
    module
}

#[test]
fn the_import_gives_the_bits_of_the_text() {
    for (compiler, _) in FILES {
        let module = imported(compiler, Shape { grid: Some([GRID, 1, 1]), block: Some([BLOCK, 1, 1]) });
        let binary = module.compile(halfbyte::HALU).unwrap_or_else(|report| panic!("{report}"));
        let program = halfbyte::TARGETS.load(&binary.object).unwrap();
        for kernel in &module.ir().kernels {
            let host = Host::load(compiler, &source(compiler), &kernel.name);
            let loaded = program.kernel(&kernel.name).unwrap();
            let mut written = false;
            for seed in 0..SEEDS {
                let before = arguments(kernel, GRID * BLOCK, false, seed);
                let mut expected = before.clone();
                evaluate(kernel, GRID * BLOCK, &mut expected).unwrap_or_else(|fault| panic!("{fault}\n{kernel}"));
                // The arguments of a launch cannot contain an address inside a structure.
                if let Ok(host) = &host {
                    let mut found = before.clone();
                    host.launch((GRID, BLOCK), &mut found).unwrap_or_else(|fault| panic!("{}: {fault}", kernel.name));
                    assert!(expected == found, "launch {seed}\n{kernel}");
                } else {
                    assert_eq!(kernel.name, "rows");
                }
                for engine in Engine::ALL {
                    let mut found = before.clone();
                    execute(loaded, engine, GRID * BLOCK, &mut found)
                        .unwrap_or_else(|fault| panic!("{fault}\n{kernel}"));
                    assert!(expected == found, "launch {seed} on {engine}\n{kernel}");
                }
                written |= expected != before;
            }
            assert!(written, "{kernel}");
        }
    }
}

#[test]
fn functions_of_the_simd_header_are_packed() {
    let file = root().join("tests/ptx/simd/kernels.ptx").display().to_string();
    let called = halfbyte(&["compile", &file, "--target", "halu", "--stats", "--quiet", "-o", "/dev/null"]);
    let counts = called.err.lines().filter(|line| line.starts_with('@')).map(|line| {
        let (_, rest) = line.split_once(" words, ").unwrap();
        rest.split_once(' ').unwrap().0.parse::<u32>().unwrap()
    });
    let counts: Vec<u32> = counts.collect();
    assert_eq!(counts.len(), 82, "{}", called.err);
    // Comparisons for equality and the average that rounds down take four instructions.
    assert!(counts.iter().all(|&count| count <= 4), "{}", called.err);
    assert!(counts.iter().filter(|&&count| count == 1).count() >= 38, "{}", called.err);
}

/// Flags for clang 16 or later, by which the host rounds a half after each operation, as a GPU does.
const HOST_FLAGS: [&str; 5] = ["-DHOST", "-O1", "-ffp-contract=off", "-Xclang", "-ffloat16-excess-precision=none"];

/// Compiles the C file to a program for the host. Returns its path, or `None` if no clang supports the flags.
fn host_program(folder: &Path) -> Option<PathBuf> {
    let clang = ["clang-19", "clang"].into_iter().find(|name| {
        let output = Command::new(name).args(HOST_FLAGS).args(["-fsyntax-only", "-x", "c", "/dev/null"]).output();
        output.is_ok_and(|output| output.status.success())
    })?;
    let program = folder.join("kernels");
    let built = Command::new(clang)
        .args(HOST_FLAGS)
        .arg("-o")
        .arg(&program)
        .arg(root().join("tests/ptx/clang/kernels.c"))
        .status()
        .unwrap();
    assert!(built.success());
    Some(program)
}

#[test]
fn the_text_gives_the_bits_of_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = host_program(folder.path()) else {
        println!("skipped: there is no clang of version 16 or later");
        return;
    };
    for kernel in &imported(CLANG, Shape::default()).ir().kernels {
        let host = Host::load(CLANG, &source(CLANG), &kernel.name).unwrap();
        for seed in 0..SEEDS {
            // The halves are neither very large nor very small, so that no result is a NaN, whose
            // payload depends on the host.
            let mut found = arguments(kernel, GRID * BLOCK, true, seed);
            let input: Vec<u8> = found
                .iter()
                .flat_map(|bytes| (bytes.len() as u32).to_le_bytes().into_iter().chain(bytes.iter().copied()))
                .collect();
            let mut child = Command::new(&program)
                .args([&kernel.name, &(GRID * BLOCK).to_string()])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut stdin = child.stdin.take().unwrap();
            let writer = std::thread::spawn(move || stdin.write_all(&input));
            let expected = child.wait_with_output().unwrap().stdout;
            writer.join().unwrap().unwrap();
            host.launch((GRID, BLOCK), &mut found).unwrap_or_else(|fault| panic!("{}: {fault}", kernel.name));
            assert!(expected == found.concat(), "launch {seed}\n{kernel}");
        }
    }
}
