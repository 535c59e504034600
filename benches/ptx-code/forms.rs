//! Number of machine instructions that `ptxas` generates for each variant of a video instruction,
//! both for the instruction itself and for our sequence of simpler instructions.
//!
//! `cargo bench --bench video_forms` writes `docs/ptx/forms.md`. With names of variants after `--`,
//! the benchmark prints their machine instructions instead. It needs `ptxas` and `nvdisasm` of CUDA
//! 13.5, on the path or as Python packages.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub)]

mod sass;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use halfbyte::Sm;
use halfbyte::abi::Signature;
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::module::{Entry, Module, TargetName, Variables};
use halfbyte_isa::ptx::text::read;
use halfbyte_isa::ptx::types::Suffix;
use halfbyte_isa::ptx::types::Type;
use halfbyte_isel::ptx::expand::{VideoForm, expand};
use halfbyte_isel::vcode::{Terminator, VCode, VInst};
use halfbyte_isel::{Ptx, PtxExtra};
use sass::{Sass, Tools};

const SMS: [u16; 3] = [75, 90, 120];

const HEAD: &str = "# Forms of video instructions in machine instructions

This page compares the [sequences](sequences.md) of halfbyte for video instructions with the code of
ptxas 13.5. For each form and SM version, the first number of the table is for the sequence of
`isel/rules/ptx/video`. The second number is for the video instruction itself, compiled by ptxas.
Each measured kernel loads a, b and c and stores d. The numbers do not count instructions for
memory, control, addresses, parameters and constants. The command `cargo bench --bench video_forms`
writes this page.

";

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let forms: Vec<VideoForm> =
        VideoForm::all().filter(|form| asked.is_empty() || asked.contains(&form.to_string())).collect();
    let tools = Tools::find().unwrap_or_else(|missing| panic!("{missing}"));
    let kernels =
        |sm, ours| tools.kernels(&arch(sm), &module(sm, &forms, ours)).unwrap_or_else(|error| panic!("{error}"));
    let sides = SMS.map(|sm| [true, false].map(|ours| kernels(sm, ours)));
    if !asked.is_empty() {
        for (number, form) in forms.iter().enumerate() {
            let name = &name(number);
            for (sm, [ours, theirs]) in SMS.iter().zip(&sides) {
                println!("{form} sm_{sm}: {}, ptxas {}", ours[name].compute().count(), theirs[name].compute().count());
                ours[name].compute().for_each(|line| println!("    {line}"));
            }
        }
        return;
    }
    let text = table(&forms, &sides);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ptx/forms.md");
    std::fs::write(&path, text).unwrap();
    println!("{}", path.display());
}

/// The machine code for each variant, by the name of its kernel.
type Kernels = BTreeMap<String, Sass>;

fn name(number: usize) -> String {
    format!("k{number}")
}

/// Returns the target name of an SM, with the family suffix for sm_120.
fn arch(sm: u16) -> String {
    if sm == 120 { "sm_120f".to_owned() } else { format!("sm_{sm}") }
}

fn table(forms: &[VideoForm], sides: &[[Kernels; 2]; 3]) -> String {
    let mut rows = String::new();
    let mut logs = [0.0; SMS.len()];
    let mut worse = Vec::new();
    for (number, form) in forms.iter().enumerate() {
        write!(rows, "| {form} |").unwrap();
        for (n, kernels) in sides.iter().enumerate() {
            let [ours, theirs] = kernels.each_ref().map(|side| side[&name(number)].compute().count());
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
        writeln!(text, "* sm_{sm}: the geometric mean of the ratio of halfbyte to ptxas is {mean:.3}.").unwrap();
    }
    worse.iter().for_each(|line| println!("more than its own: {line}"));
    let worse = if worse.is_empty() { "none".into() } else { worse.join("; ") };
    writeln!(text, "* Forms with more instructions than ptxas: {worse}.").unwrap();
    text.push_str("\n| form |");
    SMS.iter().for_each(|sm| write!(text, " sm_{sm} | ptxas |").unwrap());
    text.push_str("\n|---|");
    SMS.iter().for_each(|_| text.push_str("---|---|"));
    text.push('\n');
    text.push_str(&rows);
    text
}

/// Returns a module with a kernel for each variant of video instructions. If `expanded` is set, our
/// sequences replace the video instructions.
fn module(sm: u16, forms: &[VideoForm], expanded: bool) -> String {
    let entries = forms.iter().enumerate().map(|(number, form)| {
        let entry = kernel(number, *form);
        if expanded { expand_entry(sm, entry) } else { entry }
    });
    let (version, suffix) = if sm == 120 { ((9, 2), Some(Suffix::Family)) } else { ((8, 8), None) };
    let (target, variables) = (TargetName { sm, suffix }, Variables::default());
    Module { version, target, variables, functions: Default::default(), entries: entries.collect() }.to_string()
}

fn kernel(number: usize, form: VideoForm) -> Entry {
    let text = format!(
        ".version 9.2\n.target sm_120f\n.address_size 64\n.visible .entry {}(.param .u64 x, .param .u64 y) {{
        .reg .b64 p, q; .reg .b32 d, a, b, c;
        ld.param.u64 p, [x];
        ld.param.u64 q, [y];
        ld.global.b32 a, [p];
        ld.global.b32 b, [p+4];
        ld.global.b32 c, [p+8];
        {form} d, a, b, c;
        st.global.b32 [q], d;
        ret;
        }}\n",
        name(number)
    );
    read(&text).unwrap().module.entries.remove(0)
}

fn expand_entry(sm: u16, mut entry: Entry) -> Entry {
    let registers =
        (0..entry.body.registers.count()).map(|n| entry.body.registers.ty(halfbyte_isa::ptx::Reg(n)).unwrap());
    let before = entry.body.registers.count();
    let insts = entry.body.insts.drain(..).map(|inst| VInst::alone(inst, Loc::default()));
    let signature = Signature::new(entry.name.clone(), Vec::new()).unwrap();
    let extra = PtxExtra {
        sm: Sm::new(sm).unwrap(),
        max_items: u64::MAX,
        along_x: false,
        block: None,
        types: Vec::new(),
        arrays: Vec::new(),
    };
    let mut code = VCode::<Ptx>::new(signature, extra);
    code.vregs = registers.collect();
    code.add_block([], insts, Terminator::Exit, Loc::default());
    expand(&mut code).unwrap();
    entry.body.insts = code.insts.into_iter().map(|inst| inst.inst).collect();
    entry.body.registers.declare("t", Type::B32, Some(code.vregs.len() as u32 - before)).unwrap();
    entry
}
