//! Tests of the memory that the compiler stages allocate. For a kernel of twice the size, a stage may allocate about
//! twice as much. `cargo bench --bench growth` measures instructions and memory for much larger kernels.

use std::path::Path;

use halfbyte::emit::ptx_text;
use halfbyte::import_ptx::{Options as ImportOptions, OutputSelector, import_read, read_each};
use halfbyte::launch::Engine;
use halfbyte::pipeline::{Options, compile_kernels, compile_object};
use halfbyte::{Module, Sm, Target};
use halfbyte_inspect::explain::{Question, explain};
use halfbyte_inspect::view;
use halfbyte_testkit::check::check;

use crate::allocator::allocated;
use crate::growing::{self, KERNELS, ptx};

/// Returns the number of bytes that a compiler stage allocates for a kernel of the given size.
fn cost(kernel: &growing::Kernel, work: &str, target: Target, size: usize) -> u64 {
    let text = (kernel.write)(size);
    let options = Options { verify: false, ..Options::new(target) };
    // If a target refuses the kernel, the memory for the refusal is measured.
    match work {
        "explain" => {
            let module = Module::parse(&text).unwrap();
            let question = Question { at: "%r", kernel: None, options: &options };
            allocated(|| drop(explain(&module, question)))
        }
        "view" => {
            let module = Module::parse(&text).unwrap();
            let kernels = &module.ir().kernels;
            allocated(|| drop(view::page(&module, kernels, &[target])))
        }
        _ => allocated(|| drop(compile_object("k.hb", &text, &options, &mut |_| {}))),
    }
}

const SIZES: [usize; 2] = [500, 1000];
/// Maximum growth of the allocated memory for a kernel of twice the size. The growth is a factor of
/// two, with a margin for logarithmic terms and for vectors that double their capacity.
const MOST: f64 = 2.6;

#[test]
fn twice_the_kernel_takes_twice_the_bytes() {
    let targets = [halfbyte::HALU, halfbyte::VP1, halfbyte::ptx(Sm::SM_90)];
    let mut wrong = Vec::new();
    for kernel in KERNELS {
        for &work in kernel.works {
            for target in targets.into_iter().filter(|target| ["explain", "view", target.name()].contains(&work)) {
                let [small, large] = SIZES.map(|size| cost(kernel, work, target, size) as f64);
                let growth = large / small;
                if growth > MOST {
                    wrong.push(format!("{} {work} {target}: {growth:.2} times the {small:.0} bytes", kernel.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the number of bytes that the workload `work` allocates on a PTX file of the given size.
fn ptx_cost(file: &growing::Kernel, work: &str, size: usize) -> u64 {
    let text = (file.write)(size);
    allocated(|| match work {
        "check" => drop(check("k.ptx", &text, Path::new(""), &[Engine::Interp])),
        _ => {
            let (Ok(read), options) = (read_each("k.ptx", &text), Options::new(halfbyte::ptx(Sm::SM_90))) else {
                return;
            };
            let Ok(module) = import_read("k.ptx", &text, &read, ImportOptions::default()) else { return };
            let Ok(compiled) = compile_kernels(&module, &module.ir().kernels, &options, &mut |_| {}) else { return };
            let selector = OutputSelector::new(&read);
            let code = compiled.code.into_iter().zip(compiled.stats);
            let code = code.map(|(code, stats)| selector.select(code, stats.is_packed).code).collect();
            drop(ptx_text(code, Sm::SM_90, None));
        }
    })
}

#[test]
fn twice_the_ptx_takes_twice_the_bytes() {
    let mut wrong = Vec::new();
    for file in ptx::FILES {
        for &work in file.works.iter().filter(|work| ["check", "ptx"].contains(work)) {
            let [small, large] = [200, 400].map(|size| ptx_cost(file, work, size) as f64);
            let growth = large / small;
            if growth > MOST {
                wrong.push(format!("{} {work}: {growth:.2} times the {small:.0} bytes", file.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
