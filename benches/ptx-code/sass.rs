//! Machine instructions that NVIDIA's `ptxas` generates, as the disassembler prints them. Both tools run without a GPU.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The paths of `ptxas` and `nvdisasm`.
pub struct Tools {
    ptxas: PathBuf,
    nvdisasm: PathBuf,
}

/// The machine instructions of a kernel and of the functions that it calls. Instructions after the
/// last return or exit are left out.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Sass {
    /// The instructions, as the disassembler prints them.
    pub insts: Vec<String>,
}

/// Opcodes that do not count as computation, such as memory accesses and control flow.
const OTHERS: [&str; 16] = [
    "LDC", "ULDC", "LDCU", "LDG", "STG", "LDS", "STS", "S2R", "S2UR", "R2UR", "UMOV", "EXIT", "BRA", "NOP", "BSSY",
    "BSYNC",
];

impl Tools {
    /// Finds the tools on the path or in a Python package. Returns an error if a tool is missing.
    pub fn find() -> Result<Tools, String> {
        let find = |name| tool(name).ok_or_else(|| format!("{name} is missing; pip install nvidia-cuda-nvcc"));
        Ok(Tools { ptxas: find("ptxas")?, nvdisasm: find("nvdisasm")? })
    }

    /// Assembles a file and returns the duration of the assembly.
    pub fn assemble(&self, arch: &str, source: &Path, cubin: &Path) -> Result<Duration, String> {
        let start = Instant::now();
        output(Command::new(&self.ptxas).args(["-O3", "-arch", arch]).arg(source).arg("-o").arg(cubin))?;
        Ok(start.elapsed())
    }

    /// Assembles a PTX text and returns the machine code of each kernel, by the kernel's name.
    pub fn kernels(&self, arch: &str, text: &str) -> Result<BTreeMap<String, Sass>, String> {
        let folder = std::env::temp_dir().join(format!("halfbyte-sass-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let [source, cubin] = ["k.ptx", "k.cubin"].map(|name| folder.join(name));
        let listing = fs::write(&source, text).map_err(|error| error.to_string()).and_then(|()| {
            self.assemble(arch, &source, &cubin)?;
            output(Command::new(&self.nvdisasm).args(["-ndf", "-c"]).arg(&cubin))
        });
        let removed = fs::remove_dir_all(&folder);
        let listing = listing?;
        removed.map_err(|error| error.to_string())?;
        Ok(kernels(&listing))
    }
}

impl Sass {
    /// Returns the instructions that compute: all except memory accesses, control flow, address
    /// computations and parameter moves.
    pub fn compute(&self) -> impl Iterator<Item = &String> {
        self.insts.iter().filter(|inst| {
            let opcode = opcode(inst);
            let is_address = opcode == "IMAD" || opcode.starts_with("IMAD.WIDE");
            let is_parameter = opcode.contains("MOV") && (inst.contains("c[0x0]") || inst.contains("UR"));
            !OTHERS.contains(&opcode.split('.').next().unwrap_or("")) && !is_address && !is_parameter
        })
    }
}

/// Parses a listing of the disassembler. Returns the machine code of each kernel, by the kernel's name.
fn kernels(listing: &str) -> BTreeMap<String, Sass> {
    let mut kernels: BTreeMap<String, Sass> = BTreeMap::new();
    let mut current = None;
    for line in listing.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix(".section").map(str::trim_start) {
            let name = section.strip_prefix(".text.").and_then(|rest| rest.split([',', '\t', ' ']).next());
            current = name.map(str::to_owned).or(current);
        }
        let inst = line.strip_prefix("/*").and_then(|rest| rest.split_once("*/")?.1.trim().split(';').next());
        if let (Some(kernel), Some(inst)) = (&current, inst.map(str::trim).filter(|inst| !inst.is_empty())) {
            kernels.entry(kernel.clone()).or_default().insts.push(inst.to_owned());
        }
    }
    for Sass { insts } in kernels.values_mut() {
        let ends = |inst: &String| matches!(opcode(inst).split('.').next(), Some("EXIT" | "RET"));
        let end = insts.iter().rposition(ends).map_or(0, |at| at + 1);
        insts.truncate(end);
    }
    kernels
}

/// Returns the opcode of an instruction, without its guard.
fn opcode(inst: &str) -> &str {
    inst.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or("")
}

pub fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        let said = [output.stderr, output.stdout].concat();
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&said)));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

fn tool(name: &str) -> Option<PathBuf> {
    let on_path = std::env::var_os("PATH")?;
    if let Some(found) = std::env::split_paths(&on_path).map(|folder| folder.join(name)).find(|path| path.is_file()) {
        return Some(found);
    }
    let script = "import site\nfor p in site.getsitepackages() + [site.getusersitepackages()]: print(p)";
    let printed = output(Command::new("python3").args(["-c", script])).ok()?;
    let packages = printed.lines().filter_map(|root| fs::read_dir(Path::new(root).join("nvidia")).ok());
    packages.flatten().flatten().map(|package| package.path().join("bin").join(name)).find(|path| path.is_file())
}
