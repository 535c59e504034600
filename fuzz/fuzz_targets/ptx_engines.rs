//! Every PTX kernel that can be imported gives the same results when it is executed directly.
#![no_main]

use halfbyte::import_ptx::{Host, Shape, import};
use halfbyte::ir::eval::{Fault, TrapKind};
use halfbyte::ir::generate::arguments;
use halfbyte::ir::witness::Random;
use halfbyte::launch::{Engine, LaunchOptions, evaluate_within};
use libfuzzer_sys::fuzz_target;

const GRID: u32 = 2;
const BLOCK: u32 = 4;
const BUDGET: u32 = 64;

fuzz_target!(|text: &str| {
    let Ok(module) = import("k.ptx", text, Shape { grid: Some([GRID, 1, 1]), block: Some([BLOCK, 1, 1]) }) else {
        return;
    };
    for kernel in module.ir().kernels.iter().take(2) {
        let Ok(host) = Host::load("k.ptx", text, &kernel.name) else { continue };
        let before = arguments(kernel, GRID * BLOCK, &mut Random(text.len() as u64));
        let (mut expected, mut found) = (before.clone(), before);
        let how = LaunchOptions { budget: BUDGET.into(), ..Engine::Interp.into() };
        let text_ran = host.launch_on(how, (GRID, BLOCK), &mut expected);
        let ir_ran = evaluate_within(kernel, (GRID, BLOCK), BUDGET, &mut found);
        match (text_ran, ir_ran) {
            // Results may differ if the items have a race or the launch exceeds its budget.
            (_, Err(Fault::Race(_))) => {}
            // The kernel stores to a buffer at an address that it derives from another buffer's
            // address. The import does not see such a store, and declares the buffer read-only.
            (Ok(_), Err(Fault::Trap(trap))) if matches!(trap.kind, TrapKind::ReadOnly { .. }) => {}
            (Err(text), _) if text.to_string().contains("backward") => {}
            (_, Err(ir)) if ir.to_string().contains("backward") => {}
            (Ok(_), Ok(_)) => assert!(expected == found, "{kernel}"),
            (Err(_), Err(_)) => {}
            (text, ir) => panic!("{:?}, but {:?}\n{kernel}", text.err(), ir.err()),
        }
    }
});
