//! Recompilation of PTX: the number of machine instructions of kernels before and after they are
//! imported and printed as PTX again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use halfbyte::emit::ptx_text;
use halfbyte::import_ptx::{self, OutputSelector, ir_name};
use halfbyte::pipeline::{Options, compile_kernels};
use halfbyte::{Module, Sm};

use crate::sass::Tools;

const SMS: [Sm; 2] = [Sm::SM_80, Sm::SM_90];

/// Number of machine instructions of a kernel before and after recompilation. `is_packed` is `true`
/// if the recompiled kernel has packed operations.
struct Count {
    name: String,
    sm: Sm,
    before: usize,
    after: usize,
    is_packed: bool,
}

/// Recompiles a PTX kernel for an SM. Returns its PTX, and `true` if it has packed operations.
/// Returns an error with the reason if the kernel cannot be recompiled.
pub fn recompile(text: &str, kernel: Option<&str>, sm: Sm) -> Result<(String, bool), String> {
    let options = import_ptx::Options { keep: true, ..import_ptx::Options::default() };
    let module = Module::open_each("k.ptx", text, options).map_err(|report| report.to_string())?;
    let is_it = |name: &str| kernel.is_none_or(|kernel| name == ir_name(kernel));
    if let Some(refused) = module.refused_kernels().iter().find(|refused| is_it(&refused.name)) {
        let why = refused.errors.first().map(ToString::to_string);
        return Err(why.unwrap_or_default());
    }
    let kernel = module.ir().kernels.iter().position(|found| is_it(&found.name)).ok_or("there is no such kernel")?;
    let kernels = module.ir().kernels.get(kernel..=kernel).unwrap_or_default();
    let compiled = compile_kernels(&module, kernels, &Options::new(halfbyte::ptx(sm)), &mut |_| {});
    let compiled = compiled.map_err(|error| error.to_string())?;
    let read = import_ptx::read_each("k.ptx", text).map_err(|report| report.to_string())?;
    let mut is_packed = false;
    let code = compiled.code.into_iter().zip(compiled.stats).map(|(code, stats)| {
        let back = OutputSelector::new(&read).select(code, stats.is_packed);
        is_packed |= back.is_packed;
        back.code
    });
    let code = code.collect();
    Ok((ptx_text(code, sm, None), is_packed))
}

/// Returns the PTX texts in a file, which is PTX or a list of launches for `halfbyte corpus`. Each
/// text is returned once for each kernel, with the kernel's name if the list gives one.
fn texts(file: &str) -> Result<Vec<(String, Option<String>)>, String> {
    let path = Path::new(file);
    let wrong = |error: std::io::Error| format!("{file}: {error}");
    let mut text = String::new();
    let mut opened = File::open(path).map_err(wrong)?;
    match path.extension().is_some_and(|extension| extension == "gz") {
        true => MultiGzDecoder::new(opened).read_to_string(&mut text).map_err(wrong)?,
        false => opened.read_to_string(&mut text).map_err(wrong)?,
    };
    if import_ptx::is_ptx(file) {
        return Ok(vec![(text, None)]);
    }
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let line: serde_json::Value = serde_json::from_str(line).map_err(|error| format!("{file}: {error}"))?;
        let of = |member: &str| line.get(member).and_then(|text| text.as_str()).map(str::to_owned);
        found.extend(of("ptx").map(|ptx| (ptx, of("entry"))));
    }
    Ok(found.into_iter().collect())
}

fn count(tools: &Tools, text: &str, kernel: Option<&str>, sm: Sm) -> Result<Count, String> {
    let (given, is_packed) = recompile(text, kernel, sm)?;
    let arch = sm.to_string();
    let (before, after) = (tools.kernels(&arch, text)?, tools.kernels(&arch, &given)?);
    let (name, after) = after.into_iter().next().ok_or("there is no kernel")?;
    let before = before.get(&name).ok_or("the kernel has another name")?;
    Ok(Count { sm, before: before.insts.len(), after: after.insts.len(), is_packed, name })
}

/// Prints every kernel with packed operations, every other kernel that became longer, the number of
/// kernels that cannot be recompiled, and the geometric means of the ratios.
pub fn compare(tools: &Tools, files: &[String]) -> Result<(), String> {
    let mut counts = Vec::new();
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        for (text, kernel) in texts(file)? {
            for sm in SMS {
                match count(tools, &text, kernel.as_deref(), sm) {
                    Ok(count) => counts.push(count),
                    Err(why) => *refused.entry(why.lines().next().unwrap_or_default().to_owned()).or_default() += 1,
                }
            }
        }
    }
    for Count { name, sm, before, after, .. } in
        counts.iter().filter(|count| count.is_packed || count.after > count.before)
    {
        let ratio = *after as f64 / *before as f64;
        println!("@{name} on {sm}: {before} instructions, {after} given back, {ratio:.3}");
    }
    println!("{} kernels by SM, {} more are not given back:", counts.len(), refused.values().sum::<usize>());
    for (why, count) in refused {
        println!("{count:>8}  {why}");
    }
    for (what, packed) in [("without packed work", false), ("with packed work", true)] {
        let of: Vec<&Count> = counts.iter().filter(|count| count.is_packed == packed).collect();
        let ratios = of.iter().map(|count| (count.after as f64 / count.before as f64).ln());
        let mean = (ratios.sum::<f64>() / of.len().max(1) as f64).exp();
        let longer = of.iter().filter(|count| count.after > (count.before + 1).max(count.before * 51 / 50)).count();
        println!(
            "{what}: {} kernels, geometric mean {mean:.4}, {longer} longer by more than one instruction and 2 %",
            of.len()
        );
    }
    Ok(())
}
