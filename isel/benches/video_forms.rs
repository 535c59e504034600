//! What NVIDIA's assembler makes of each form of video instruction, as it is and expanded, in machine instructions.
//!
//! `cargo bench -p halfbyte-isel --bench video_forms` writes `docs/ptx/forms.md`; with names of forms behind `--` it prints
//! their instructions instead. It needs `ptxas` and `nvdisasm` of CUDA 13.5: on the path, or as Python packages.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use halfbyte_isa::abi::Signature;
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::module::{Entry, Module, Suffix, TargetName};
use halfbyte_isa::ptx::text::read;
use halfbyte_isa::ptx::types::Type;
use halfbyte_isel::ptx::expand::{Form, expand};
use halfbyte_isel::ptx::{Block, Code, Placed, Terminator};

const SMS: [u16; 3] = [75, 90, 120];

const HEAD: &str = "# Video instructions in machine instructions

What ptxas 13.5 makes of each form with the sequence of `isel/rules/ptx/video`, and without it: instructions of a kernel that loads a, b and
c and stores d, without memory, control, addresses, parameters and constants. `cargo bench -p halfbyte-isel --bench video_forms` writes this.

";

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let forms: Vec<Form> = Form::all().filter(|form| asked.is_empty() || asked.contains(&form.to_string())).collect();
    let tools = Tools::find().unwrap_or_else(|| panic!("there is no ptxas, or no nvdisasm"));
    let sides = SMS.map(|sm| [true, false].map(|ours| tools.kernels(sm, &module(sm, &forms, ours))));
    if !asked.is_empty() {
        for (name, form) in forms.iter().enumerate() {
            for (sm, [ours, theirs]) in SMS.iter().zip(&sides) {
                println!(
                    "{form} sm_{sm}: {}, ptxas {}",
                    compute(&ours[&name]).count(),
                    compute(&theirs[&name]).count()
                );
                compute(&ours[&name]).for_each(|line| println!("    {line}"));
            }
        }
        return;
    }
    let text = table(&forms, &sides);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ptx/forms.md");
    std::fs::write(&path, text).unwrap();
    println!("{}", path.display());
}

/// The instructions of a kernel for each form, by its number.
type Kernels = BTreeMap<usize, Vec<String>>;

fn table(forms: &[Form], sides: &[[Kernels; 2]; 3]) -> String {
    let mut rows = String::new();
    let mut logs = [0.0; SMS.len()];
    let mut worse = Vec::new();
    for (number, form) in forms.iter().enumerate() {
        write!(rows, "| {form} |").unwrap();
        for (n, kernels) in sides.iter().enumerate() {
            let [ours, theirs] = kernels.each_ref().map(|side| compute(&side[&number]).count());
            write!(rows, " {ours} | {theirs} |").unwrap();
            logs[n] += (ours as f64 / theirs as f64).ln();
            if ours > theirs {
                worse.push(format!("{form} on sm_{}: {ours}, ptxas {theirs}", SMS[n]));
            }
        }
        rows.push('\n');
    }
    let mut text = HEAD.to_owned();
    for (sm, log) in SMS.iter().zip(logs) {
        let mean = (log / forms.len() as f64).exp();
        println!("sm_{sm} geometric mean of {} forms, ours to ptxas: {mean:.3}", forms.len());
        writeln!(text, "* sm_{sm}: the geometric mean of ours to its own is {mean:.3}.").unwrap();
    }
    worse.iter().for_each(|line| println!("more than its own: {line}"));
    writeln!(text, "* More than its own: {}.", if worse.is_empty() { "none".into() } else { worse.join("; ") })
        .unwrap();
    text.push_str("\n| form |");
    SMS.iter().for_each(|sm| write!(text, " sm_{sm} | ptxas |").unwrap());
    text.push_str("\n|---|");
    SMS.iter().for_each(|_| text.push_str("---|---|"));
    text.push('\n');
    text.push_str(&rows);
    text
}

/// A kernel a form, expanded or not.
fn module(sm: u16, forms: &[Form], expanded: bool) -> String {
    let entries = forms.iter().enumerate().map(|(number, form)| {
        let entry = kernel(number, *form);
        if expanded { expand_entry(sm, entry) } else { entry }
    });
    let (version, suffix) = if sm == 120 { ((9, 2), Some(Suffix::Family)) } else { ((8, 8), None) };
    Module { version, target: TargetName { sm, suffix }, entries: entries.collect() }.to_string()
}

fn kernel(number: usize, form: Form) -> Entry {
    let text = format!(
        ".version 9.2\n.target sm_120f\n.address_size 64\n.visible .entry k{number}(.param .u64 x, .param .u64 y) {{
        .reg .b64 p, q; .reg .b32 d, a, b, c;
        ld.param.u64 p, [x];
        ld.param.u64 q, [y];
        ld.global.b32 a, [p];
        ld.global.b32 b, [p+4];
        ld.global.b32 c, [p+8];
        {form} d, a, b, c;
        st.global.b32 [q], d;
        ret;
        }}\n"
    );
    read(&text).unwrap().module.entries.remove(0)
}

fn expand_entry(sm: u16, mut entry: Entry) -> Entry {
    let registers = (0..entry.registers.count()).map(|n| entry.registers.ty(halfbyte_isa::ptx::Reg(n)).unwrap());
    let before = entry.registers.count();
    let insts = entry.insts.drain(..).map(|inst| Placed::new(inst, Loc::default())).collect();
    let block = Block { params: Vec::new(), insts, terminator: Terminator::Exit, loc: Loc::default() };
    let mut code = Code {
        signature: Signature::new(entry.name.clone(), Vec::new()).unwrap(),
        sm,
        registers: registers.collect(),
        blocks: vec![block],
        max_items: u64::MAX,
    };
    expand(&mut code).unwrap();
    entry.insts = code.blocks.remove(0).insts.into_iter().map(|placed| placed.inst).collect();
    entry.registers.declare("t", Type::B32, Some(code.registers.len() as u32 - before)).unwrap();
    entry
}

/// The instructions that compute.
fn compute(insts: &[String]) -> impl Iterator<Item = &String> {
    const OTHERS: [&str; 16] = [
        "LDC", "ULDC", "LDCU", "LDG", "STG", "LDS", "STS", "S2R", "S2UR", "R2UR", "UMOV", "EXIT", "BRA", "NOP", "BSSY",
        "BSYNC",
    ];
    insts.iter().filter(|text| {
        let opcode = text.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or("");
        let is_address = opcode == "IMAD" || opcode.starts_with("IMAD.WIDE");
        let is_parameter = opcode.contains("MOV") && (text.contains("c[0x0]") || text.contains("UR"));
        !OTHERS.contains(&opcode.split('.').next().unwrap_or("")) && !is_address && !is_parameter
    })
}

/// NVIDIA's assembler and disassembler.
struct Tools {
    ptxas: PathBuf,
    nvdisasm: PathBuf,
}

impl Tools {
    fn find() -> Option<Tools> {
        Some(Tools { ptxas: tool("ptxas")?, nvdisasm: tool("nvdisasm")? })
    }

    /// The instructions of each kernel of a module, up to the last that ends it.
    fn kernels(&self, sm: u16, text: &str) -> Kernels {
        let folder = std::env::temp_dir().join(format!("halfbyte-forms-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [source, cubin] = ["k.ptx", "k.cubin"].map(|name| folder.join(name));
        std::fs::write(&source, text).unwrap();
        let arch = if sm == 120 { "sm_120f".to_owned() } else { format!("sm_{sm}") };
        output(Command::new(&self.ptxas).args(["-O3", "-arch", &arch]).arg(&source).arg("-o").arg(&cubin));
        let listing = output(Command::new(&self.nvdisasm).args(["-ndf", "-c"]).arg(&cubin));
        std::fs::remove_dir_all(&folder).unwrap();
        let mut kernels = Kernels::new();
        let mut current = None;
        for line in listing.lines().map(str::trim) {
            if let Some(section) =
                line.strip_prefix(".section\t.text.k").or_else(|| line.strip_prefix(".section .text.k"))
            {
                current = section.split([',', '\t', ' ']).next().and_then(|number| number.parse().ok());
            }
            let inst = line.strip_prefix("/*").and_then(|rest| rest.split_once("*/")?.1.trim().split(';').next());
            if let (Some(kernel), Some(inst)) = (current, inst.map(str::trim).filter(|inst| !inst.is_empty())) {
                kernels.entry(kernel).or_default().push(inst.to_owned());
            }
        }
        for insts in kernels.values_mut() {
            let end = insts.iter().rposition(|inst| inst.split_whitespace().any(|word| word == "EXIT")).unwrap();
            insts.truncate(end + 1);
        }
        kernels
    }
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = [output.stderr, output.stdout.clone()].concat();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&said));
    String::from_utf8(output.stdout).unwrap()
}

/// A program on the path, or where Python packages put it.
fn tool(name: &str) -> Option<PathBuf> {
    let on_path = std::env::var_os("PATH")?;
    if let Some(found) = std::env::split_paths(&on_path).map(|p| p.join(name)).find(|p| p.is_file()) {
        return Some(found);
    }
    let script = "import site\nfor p in site.getsitepackages() + [site.getusersitepackages()]: print(p)";
    let printed = output(Command::new("python3").args(["-c", script]));
    let packages = printed.lines().filter_map(|root| std::fs::read_dir(Path::new(root).join("nvidia")).ok());
    packages.flatten().flatten().map(|package| package.path().join("bin").join(name)).find(|path| path.is_file())
}
