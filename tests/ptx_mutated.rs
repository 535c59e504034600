//! Texts in PTX that are changed at random: none makes the reader or the import panic, and what is imported does what the
//! text does, to the same traps. `HALFBYTE_MUTATIONS=1000000 cargo test ptx_mutated::` tries more than a few.

use halfbyte::import_ptx::{Host, Shape, import, read};
use halfbyte::ir::ParamKind;
use halfbyte::ir::eval::{Fault, TrapKind};
use halfbyte::ir::witness::Random;
use halfbyte::launch::{Engine, How, evaluate_within};

use crate::common::root;
use crate::ptx_support::{arguments, baselines};

const GRID: u32 = 2;
const BLOCK: u32 = 3;
const BUDGET: u32 = 40;

/// The lines of texts that are right, a kernel each.
fn seeds() -> Vec<Vec<String>> {
    let clang = std::fs::read_to_string(root().join("tests/ptx/clang/kernels.ptx")).unwrap();
    let (head, kernels) = clang.split_once("\t// .globl").unwrap();
    let kernels = kernels.split("\t// .globl").map(|kernel| format!("{head}//{kernel}"));
    let tables = std::fs::read_to_string(root().join("tests/ptx/data/tables.ptx")).unwrap();
    let texts = baselines().into_iter().map(|baseline| baseline.source).chain(kernels).chain([tables]);
    texts.map(|text| text.lines().map(str::to_owned).collect()).collect()
}

/// Words of a line: what stands between blanks and marks, and these.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in line.chars() {
        let is_part = c.is_ascii_alphanumeric() || matches!(c, '%' | '_' | '$');
        match words.last_mut() {
            Some(last)
                if is_part && !last.is_empty() && !last.starts_with(|c: char| " .,;[]{}@!|:+-()".contains(c)) =>
            {
                last.push(c)
            }
            _ => words.push(c.to_string()),
        }
    }
    words
}

fn changed(seeds: &[Vec<String>], random: &mut Random) -> String {
    let mut draw = |n: usize| random.bits() as usize % n.max(1);
    let mut lines = seeds[draw(seeds.len())].clone();
    for _ in 0..=draw(5) {
        let at = draw(lines.len());
        let other = &seeds[draw(seeds.len())];
        match draw(8) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, other[draw(other.len())].clone()),
            2 => {
                let to = draw(lines.len());
                lines.swap(at, to);
            }
            3 => {
                let line = lines[at].clone();
                lines.insert(draw(lines.len()), line);
            }
            4 => {
                let mut bytes = lines[at].clone().into_bytes();
                let byte = draw(bytes.len());
                if let Some(of) = bytes.get_mut(byte) {
                    *of ^= 1 << draw(7);
                }
                lines[at] = String::from_utf8_lossy(&bytes).into_owned();
            }
            // A word of this line becomes one of another.
            _ => {
                let from = lines[draw(lines.len())].clone();
                let (mut own, others) = (words(&lines[at]), words(&from));
                let place = draw(own.len());
                own[place] = others[draw(others.len())].clone();
                lines[at] = own.concat();
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}

#[test]
fn what_is_changed_at_random_is_refused_or_does_what_it_says() {
    let count = std::env::var("HALFBYTE_MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(3000);
    let seeds = seeds();
    let (mut was_read, mut was_imported, mut was_compared) = (0, 0, 0);
    for number in 0..count {
        let text = changed(&seeds, &mut Random(number));
        if read("k.ptx", &text).is_err() {
            continue;
        }
        was_read += 1;
        let shape = Shape { grid: Some([GRID, 1, 1]), block: Some([BLOCK, 1, 1]), may_alias: false };
        let module = match import("k.ptx", &text, shape) {
            Ok(module) => module,
            Err(report) => {
                let said = report.to_string();
                assert!(!said.contains("a defect of the import"), "{number}: {said}\n{text}");
                continue;
            }
        };
        was_imported += 1;
        for kernel in &module.ir().kernels {
            let Ok(host) = Host::load("k.ptx", &text, &kernel.name) else { continue };
            let mut before = arguments(kernel, GRID * BLOCK, false, number);
            // Short ones now and then, so that some accesses lie beyond.
            for (param, bytes) in kernel.params.iter().zip(&mut before) {
                if matches!(param.kind, ParamKind::Buffer { .. }) && number % 4 == 0 {
                    bytes.truncate(bytes.len() / 32 * 4);
                }
            }
            let (mut expected, mut found) = (before.clone(), before);
            let text_ran =
                host.launch_on(How { budget: BUDGET.into(), ..Engine::Interp.into() }, (GRID, BLOCK), &mut expected);
            let ir_ran = evaluate_within(kernel, GRID * BLOCK, BUDGET, &mut found);
            match (text_ran, ir_ran) {
                // Items that are not independent, or take too long, may differ.
                (_, Err(Fault::Race(_))) => continue,
                // An address of a buffer that is only read, made of another's: the import sees that nothing is stored there.
                (Ok(_), Err(Fault::Trap(trap))) if matches!(trap.kind, TrapKind::ReadOnly { .. }) => continue,
                (Err(text), _) if text.to_string().contains("backward") => continue,
                (_, Err(ir)) if ir.to_string().contains("backward") => continue,
                (Ok(_), Ok(_)) => assert!(expected == found, "{number}\n{text}\n{kernel}"),
                (Err(_), Err(_)) => {}
                (text_ran, ir_ran) => {
                    panic!("{number}: {:?}, but {:?}\n{text}\n{kernel}", text_ran.is_ok(), ir_ran.map(|_| ()));
                }
            }
            was_compared += 1;
        }
    }
    println!("{count} texts, {was_read} read, {was_imported} imported, {was_compared} launches compared");
    assert!(was_compared > count / 20, "{was_compared} of {count}");
}
