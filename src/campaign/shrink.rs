//! The least of a kernel that fails.

use std::cell::Cell;

use halfbyte_ir::{Kernel, ParamKind};

use super::trial::{Failure, Launch, Trial};
use crate::Module;
use crate::values::{element_bits, list};

/// Trials after which a kernel is left as large as it is.
const MOST_TRIALS: u32 = 1000;

/// A text from which no line can be left out without another outcome than failure.
pub fn shrink(text: &str, fails: impl Fn(&str) -> bool) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut size = lines.len() / 2;
    loop {
        let before = lines.len();
        let mut start = before;
        // From the end, where what is left out is not used any more.
        while start > 0 {
            start = start.saturating_sub(size.max(1));
            let mut fewer = lines.clone();
            fewer.drain(start..(start + size.max(1)).min(lines.len()));
            if fails(&fewer.join("\n")) {
                lines = fewer;
            }
        }
        if size > 1 {
            size /= 2;
        } else if lines.len() == before {
            return lines.join("\n");
        }
    }
}

/// The least of a kernel that fails in the same way, as a kernel file, and what is wrong with that.
pub(super) fn least(trial: &Trial<'_>, text: &str, failure: Failure) -> (String, String) {
    let launches: Vec<Launch> = match &failure {
        Failure::Differs { launch, .. } => vec![launch.as_ref().clone()],
        _ => Vec::new(),
    };
    let trials = Cell::new(0);
    let fails = |text: &str, launches: &[Launch]| {
        trials.set(trials.get() + 1);
        let found = if trials.get() < MOST_TRIALS { trial.run(text, launches).err() } else { None };
        found.filter(|found| found.is_like(&failure))
    };
    let mut text = shrink(text, |text| fails(text, &launches).is_some());
    let mut launches = launches;
    for items in 1..launches.first().map_or(0, |launch| launch.items) {
        let fewer: Vec<Launch> = launches.iter().map(|launch| Launch { items, ..launch.clone() }).collect();
        if fails(&text, &fewer).is_some() {
            launches = fewer;
            break;
        }
    }
    if let Some((shorter, fewer)) = without_unused(&text, &launches)
        && fails(&shorter, &fewer).is_some()
    {
        (text, launches) = (shorter, fewer);
    }
    let reason = trial.run(&text, &launches).err().unwrap_or(failure).to_string();
    let targets: Vec<&str> = trial.ways.iter().map(|options| options.target.name()).collect();
    let line = launches.first().and_then(|launch| run_line(&text, launch, &targets.join(", ")));
    (reason, format!("{text}\n{}", line.unwrap_or_default()))
}

/// The kernel without parameters that nothing uses.
fn without_unused(text: &str, launches: &[Launch]) -> Option<(String, Vec<Launch>)> {
    let (open, body) = text.split_once('(')?;
    let (params, body) = body.split_once(')')?;
    let params: Vec<&str> = params.split(", ").collect();
    let is_used = |param: &&str| {
        let name = param.split(':').next().unwrap_or(param);
        body.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '%').any(|word| word == name)
    };
    let used: Vec<bool> = params.iter().map(is_used).collect();
    let kept: Vec<&str> = params.iter().zip(&used).filter(|(_, used)| **used).map(|(param, _)| *param).collect();
    let keep = |launch: &Launch| {
        let args = launch.args.iter().zip(&used).filter(|(_, used)| **used).map(|(arg, _)| arg.clone());
        Launch { items: launch.items, args: args.collect() }
    };
    Some((format!("{open}({}){body}", kept.join(", ")), launches.iter().map(keep).collect()))
}

/// A launch as kernel files write it.
fn run_line(text: &str, launch: &Launch, targets: &str) -> Option<String> {
    let module = Module::parse(text).ok()?;
    let kernel: &Kernel = module.ir().kernels.first()?;
    let mut line = format!("; run: {targets}: @{} items={}", kernel.name, launch.items);
    for (param, bytes) in kernel.params.iter().zip(&launch.args) {
        line += &match param.kind {
            ParamKind::Scalar(ty) => format!(" {}={}", param.name, element_bits(ty, bytes)),
            ParamKind::Buffer { elem, .. } if bytes.iter().all(|&byte| byte == 0) => {
                format!(" {}=zeros({})", param.name, bytes.len() / elem.bytes() as usize)
            }
            ParamKind::Buffer { elem, .. } => format!(" {}={}", param.name, list(elem, bytes)),
        };
    }
    line.push('\n');
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_left_out() {
        let text = (0..40).map(|n| n.to_string()).collect::<Vec<_>>().join("\n");
        let fails = |text: &str| ["3", "17", "38"].iter().all(|line| text.lines().any(|of| of == *line));
        assert_eq!(shrink(&text, fails), "3\n17\n38");
    }

    #[test]
    fn parameters_that_nothing_uses_are_left_out() {
        let text = "kernel @k(%a: i32, %aa: in i8 align 16, %b: out i32) {\n^entry:\n  store %a, %b\n  ret\n}";
        let launch = Launch { items: 1, args: vec![vec![1; 4], vec![2], vec![0; 4]] };
        let (shorter, fewer) = without_unused(text, &[launch]).unwrap_or_default();
        assert_eq!(shorter, text.replace("%aa: in i8 align 16, ", ""));
        assert_eq!(fewer, [Launch { items: 1, args: vec![vec![1; 4], vec![0; 4]] }]);
        let line = fewer.first().and_then(|launch| run_line(&shorter, launch, "halu"));
        assert_eq!(line.as_deref(), Some("; run: halu: @k items=1 a=0x01010101 b=zeros(1)\n"));
    }
}
