//! Tests of evaluator observers: reported values, blocks and accesses, in execution order.

use halfbyte_ir::eval::{Accessed, Arg, Fault, Launch, Observer, Prepared};
use halfbyte_ir::{Block, Kernel, Value, text};

struct Told<'k> {
    kernel: &'k Kernel,
    lines: Vec<String>,
}

impl Observer for Told<'_> {
    fn block(&mut self, item: u32, block: Block) {
        self.lines.push(format!("{item} ^{}", self.kernel.block_name(block).unwrap()));
    }

    fn value(&mut self, item: u32, value: Value, lanes: &[u64]) {
        self.lines.push(format!("{item} {} {lanes:?}", self.kernel.value_name(value).unwrap()));
    }

    fn access(&mut self, item: u32, access: &Accessed<'_>) {
        let Accessed { write, address, place, ty, lanes, .. } = *access;
        let (param, byte) = place.unwrap();
        let kind = if write { "store" } else { "load" };
        self.lines.push(format!("{item} {kind} {ty} {param}+{byte} at {address:#x} {lanes:?}"));
    }
}

const SUMS: &str = "kernel @sums(%x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %one = const.i32 1
  %v = load %x[%i]
  br ^loop(%i, %v)
^loop(%n: i32, %s: i8x4):
  %t = add.i8x4 %s, %v
  %m = sub.i32 %n, %one
  %c = icmp.ge_s.i32 %m, %one
  br_if %c, ^loop(%m, %t), ^done
^done:
  store %t, %y[%i]
  ret
}
";

fn run(source: &str, items: u32, bytes: usize, observed: bool) -> (Result<(), Fault>, Vec<String>, Vec<u8>) {
    let module = text::read(source).unwrap();
    let kernel = &module.kernels[0];
    let mut x: Vec<u8> = (1..=bytes as u8).collect();
    let mut y = vec![0; bytes];
    let mut args = [Arg::Buffer { base: 0x1000, bytes: &mut x }, Arg::Buffer { base: 0x2000, bytes: &mut y }];
    let mut told = Told { kernel, lines: Vec::new() };
    let prepared = Prepared::new(kernel);
    let ran = match observed {
        true => prepared.run_observed(&Launch::new(items), &mut args, &mut told).map(drop),
        false => prepared.run(&Launch::new(items), &mut args),
    };
    (ran, told.lines, y)
}

#[test]
fn reports_every_iteration_to_the_observer() {
    let (ran, lines, y) = run(SUMS, 3, 12, true);
    ran.unwrap();
    let of_last: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("2 ")).collect();
    assert_eq!(
        of_last,
        [
            "^entry",
            "i [2]",
            "load i8x4 0+8 at 0x1008 [9, 10, 11, 12]",
            "v [9, 10, 11, 12]",
            "^loop",
            "n [2]",
            "s [9, 10, 11, 12]",
            "t [18, 20, 22, 24]",
            "m [1]",
            "c [1]",
            "^loop",
            "n [1]",
            "s [18, 20, 22, 24]",
            "t [27, 30, 33, 36]",
            "m [0]",
            "c [0]",
            "^done",
            "store i8x4 1+8 at 0x2008 [27, 30, 33, 36]",
        ]
    );
    assert_eq!(y, run(SUMS, 3, 12, false).2);
}

/// A trapping access is not reported.
#[test]
fn reports_the_steps_before_a_trap() {
    let (ran, lines, _) = run(SUMS, 3, 8, true);
    assert!(matches!(ran, Err(Fault::Trap(_))));
    assert_eq!(lines.last().unwrap(), "2 i [2]");
}
