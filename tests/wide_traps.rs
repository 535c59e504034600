//! Tests of the traps of combined accesses. A combined access must report the trap of the original
//! access: the same item, address, size and source location. The tests compare the evaluator before
//! and after the passes, and every engine.

use halfbyte::Module;
use halfbyte::ir::diag::Lines;
use halfbyte::ir::eval;
use halfbyte::ir::eval::Fault;
use halfbyte::launch::{Engine, evaluate, execute};
use halfbyte::pipeline::Compiler;
use halfbyte::runtime::{LaunchError, Program, TrapKind};

use crate::support::{program, with_passes};

/// A reported trap: the item, the trap kind, the address, the line and the column.
type Reported = Option<(u32, &'static str, u64, usize, usize)>;

fn of_text(module: &Module, kernel: &halfbyte::ir::Kernel, items: u32, args: &[Vec<u8>], size: u32) -> Reported {
    let trap = match evaluate(kernel, items, &mut args.to_vec()) {
        Ok(_) => return None,
        Err(Fault::Trap(trap)) => trap,
        Err(fault) => panic!("{fault}"),
    };
    let place = Lines::new(module.text()).position(trap.span.start);
    let (kind, address) = match trap.kind {
        eval::TrapKind::OutOfBounds { address, bytes } if bytes == size => ("bounds", address),
        eval::TrapKind::Misaligned { address, align } if align == size => ("alignment", address),
        eval::TrapKind::ReadOnly { address, .. } => ("direction", address),
        kind => panic!("{kind}"),
    };
    Some((trap.item, kind, address, place.line, place.column))
}

fn of_words(program: &Program, engine: Engine, items: u32, args: &[Vec<u8>], size: u32) -> Reported {
    let trap = match execute(&program.kernels()[0], engine, items, &mut args.to_vec()) {
        Ok(_) => return None,
        Err(LaunchError::Trap(trap)) => *trap,
        Err(error) => panic!("{error}"),
    };
    let is_wide = ["128", "64"].iter().any(|bits| trap.instruction.contains(bits));
    assert!(is_wide || size < 4, "{trap}");
    let (kind, address) = match trap.kind {
        TrapKind::OutOfBounds { address, bytes, near, .. } if bytes == size => {
            if let Some(near) = near {
                assert!(near.offset < 0 || near.offset.unsigned_abs() + u64::from(size) > near.size, "{near:?}");
            }
            ("bounds", address)
        }
        TrapKind::Misaligned { address, bytes, .. } if bytes == size => ("alignment", address),
        TrapKind::ReadOnly { address, bytes, .. } if bytes == size => ("direction", address),
        kind => panic!("{kind}"),
    };
    Some((trap.item, kind, address, trap.loc.line as usize, trap.loc.column as usize))
}

/// Launches a kernel with accesses of four bytes. Returns the trap, on which all engines must agree.
fn reported(module: &Module, items: u32, args: &[Vec<u8>]) -> Reported {
    reported_of(4, module, items, args)
}

/// Launches a kernel with accesses of `size` bytes. Returns the trap, on which all engines must agree.
fn reported_of(size: u32, module: &Module, items: u32, args: &[Vec<u8>]) -> Reported {
    let kernel = &module.ir().kernels[0];
    let options = with_passes(halfbyte::HALU);
    let lowered = Compiler::new(module, &options).lower(kernel, &mut |_| {}).unwrap();
    let program = program(module, &options).unwrap();
    let expected = of_text(module, kernel, items, args, size);
    assert_eq!(of_text(module, &lowered, items, args, size), expected, "after the passes\n{lowered}");
    for engine in Engine::ALL {
        assert_eq!(of_words(&program, engine, items, args, size), expected, "{engine}");
    }
    expected
}

const COPY: &str = "kernel @copy(%x: in i32 align 16, %y: out i32 align 16) {
^entry:
  %i = item_id
  %two = const.i32 2
  %j = shl.i32 %i, %two
  %a = load %x[%j]
  %b = load %x[%j + 1]
  %c = load %x[%j + 2]
  %d = load %x[%j + 3]
  %e = add.i32 %a, %b
  store %e, %y[%j]
  store %b, %y[%j + 1]
  store %c, %y[%j + 2]
  store %d, %y[%j + 3]
  ret
}
";

#[test]
fn buffers_that_end_within_a_run() {
    let module = Module::parse(COPY).unwrap();
    let items = 3;
    for (buffer, first_line) in [(0, 6), (1, 11)] {
        for words in 0..=4 * items {
            let mut args = vec![vec![1; 48], vec![1; 48]];
            args[buffer].truncate(4 * words as usize);
            let expected = (words < 4 * items).then(|| {
                let address = halfbyte::abi::buffer_base(buffer) + 4 * u64::from(words);
                (words / 4, "bounds", address, first_line + words as usize % 4, 3)
            });
            assert_eq!(reported(&module, items, &args), expected, "{words} words of buffer {buffer}");
        }
    }
}

#[test]
fn many_items_trap_at_the_lowest() {
    let module = Module::parse(COPY).unwrap();
    for items in [100, 1000] {
        let args = [vec![1; 16 * items as usize - 4], vec![1; 16 * items as usize - 24]];
        let expected = halfbyte::abi::buffer_base(1) + 16 * u64::from(items) - 24;
        assert_eq!(reported(&module, items, &args), Some((items - 2, "bounds", expected, 13, 3)));
    }
}

#[test]
fn before_a_buffer_and_far_behind_it() {
    let module = Module::parse(
        "kernel @k(%x: in i32 align 16, %y: out i32, %n: i32) {
^entry:
  %i = item_id
  %two = const.i32 2
  %j = shl.i32 %n, %two
  %a = load %x[%j - 2]
  %b = load %x[%j - 1]
  %e = add.i32 %a, %b
  store %e, %y[%i]
  ret
}
",
    )
    .unwrap();
    let base = halfbyte::abi::buffer_base(0);
    let launch = |n: u32| reported(&module, 1, &[vec![0; 64], vec![0; 4], n.to_le_bytes().to_vec()]);
    assert_eq!(launch(0), Some((0, "bounds", base - 8, 6, 3)));
    assert_eq!(launch(4), None);
    assert_eq!(launch(5), Some((0, "bounds", base + 72, 6, 3)));
    assert_eq!(launch(0x0fff_ffff), Some((0, "bounds", base + 0xffff_ffe8, 6, 3)));
}

#[test]
fn a_buffer_that_is_only_read() {
    let module = Module::parse(
        "kernel @k(%x: in i32 align 16, %v: i32) {
^entry:
  %n = const.i64 16
  %p = ptr_add %x, %n
  store.i32 %v, %p
  store.i32 %v, %p[1]
  store.i32 %v, %p[2]
  store.i32 %v, %p[3]
  ret
}
",
    )
    .unwrap();
    let base = halfbyte::abi::buffer_base(0);
    let launch = |words: usize| reported(&module, 1, &[vec![0; 4 * words], vec![7, 0, 0, 0]]);
    // The combined access is out of bounds, but its first word is not.
    for words in 5..=8 {
        assert_eq!(launch(words), Some((0, "direction", base + 16, 5, 3)), "{words}");
    }
    assert_eq!(launch(4), Some((0, "bounds", base + 16, 5, 3)));
}

/// Returns a kernel in which each item doubles `count` adjacent elements. The load of element e is
/// on line 5 + e. The store of element e follows after all loads and ops, on line 5 + 2 * count +
/// e.
fn doubles(ty: &str, count: u32) -> Module {
    let each = |line: &dyn Fn(u32) -> String| (0..count).map(line).collect::<String>();
    let op = if ty.starts_with('i') { "add" } else { "fadd" };
    let text = format!(
        "kernel @k(%x: in {ty} align 16, %y: out {ty} align 16) {{\n^entry:\n  %i = item_id\n  %n = const.i32 {count}\n  %j = mul.i32 %i, %n\n\
         {}{}{}  ret\n}}\n",
        each(&|e| format!("  %v{e} = load %x[%j + {e}]\n")),
        each(&|e| format!("  %r{e} = {op}.{ty} %v{e}, %v{e}\n")),
        each(&|e| format!("  store %r{e}, %y[%j + {e}]\n")),
    );
    Module::parse(&text).unwrap()
}

#[test]
fn lanes_of_a_word() {
    let items = 2;
    for (ty, size, count) in [("f16", 2, 2), ("f16", 2, 8), ("i16", 2, 4), ("i8", 1, 4), ("i8", 1, 16)] {
        let module = doubles(ty, count);
        let all = items * count;
        for (buffer, first_line) in [(0, 6), (1, 6 + 2 * count)] {
            for elements in 0..=all {
                let mut args = vec![vec![1; (size * all) as usize]; 2];
                args[buffer].truncate((size * elements) as usize);
                let expected = (elements < all).then(|| {
                    let address = halfbyte::abi::buffer_base(buffer) + u64::from(size * elements);
                    (elements / count, "bounds", address, (first_line + elements % count) as usize, 3)
                });
                let found = reported_of(size, &module, items, &args);
                assert_eq!(found, expected, "{elements} of {all} {ty} of buffer {buffer}");
            }
        }
    }
}
