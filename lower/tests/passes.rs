//! How passes are found, run and told of. What each one does is in `tests/files/lower`.

use std::path::Path;
use std::time::Duration;

use crate::common::kernel;
use halfbyte_ir::Kernel;
use halfbyte_lower::trial::target;
use halfbyte_lower::{Context, Observer, PASSES, Pass, documentation, find, run};

fn blessed() -> bool {
    std::env::var_os("HALFBYTE_BLESS").is_some()
}

#[test]
fn a_pass_is_found_by_name() {
    for pass in PASSES {
        assert_eq!(find(pass.name).map(|found| found.description), Ok(pass.description));
    }
    let names: Vec<&str> = PASSES.iter().map(|pass| pass.name).collect();
    let said = find("legalize").map(|_| ()).unwrap_err().to_string();
    let known = names.join(", ");
    assert_eq!(said, format!("there is no pass `legalize`, did you mean `legalise`?; the passes are {known}"));
}

/// Notes the passes it sees.
#[derive(Default)]
struct Notes(Vec<(&'static str, bool)>);

impl Observer for Notes {
    fn after(&mut self, pass: &Pass, _: &Kernel, changed: bool, _: Duration) {
        self.0.push((pass.name, changed));
    }
}

const SMALL: &str =
    "kernel @k(%y: out i32) {\n^entry:\n  %i = item_id\n  %a = add.i32 %i, %i\n  store %i, %y[%i]\n  ret\n}\n";

#[test]
fn an_observer_sees_every_pass() {
    let legality = target(|_, _| false);
    let passes: Vec<_> = ["fold", "dce", "dce"].map(|name| find(name).unwrap()).to_vec();
    let mut notes = Notes::default();
    run(&mut kernel(SMALL), &passes, &mut Context::new(&legality), &mut notes).unwrap();
    assert_eq!(notes.0, [("fold", false), ("dce", true), ("dce", false)]);
}

#[test]
fn a_context_serves_one_kernel_after_another() {
    let branch = "kernel @k(%y: out i32, %c: i1) {\n^entry:\n  %i = item_id\n  br_if %c, ^a, ^b\n^b:\n  ret\n\
                  ^a:\n  store %i, %y[%i]\n  ret\n}\n";
    let legality = target(|_, _| false);
    let passes = ["fold", "dce", "merge", "gvn"].map(|name| find(name).unwrap());
    let mut context = Context::new(&legality);
    context.verify = true;
    for text in [SMALL, branch, SMALL] {
        let [mut same, mut fresh] = [kernel(text), kernel(text)];
        run(&mut same, &passes, &mut context, &mut ()).unwrap();
        run(&mut fresh, &passes, &mut Context::new(&legality), &mut ()).unwrap();
        assert_eq!(same.to_string(), fresh.to_string());
    }
}

#[test]
fn time_is_told_where_it_is_asked() {
    struct Times(Duration);
    impl Observer for Times {
        fn after(&mut self, _: &Pass, _: &Kernel, _: bool, time: Duration) {
            self.0 += time;
        }
    }
    let legality = target(|_, _| false);
    let passes = PASSES.iter().collect::<Vec<_>>();
    for timed in [false, true] {
        let mut context = Context::new(&legality);
        context.timed = timed;
        let mut times = Times(Duration::ZERO);
        run(&mut kernel(SMALL), &passes, &mut context, &mut times).unwrap();
        assert_eq!(times.0 > Duration::ZERO, timed);
    }
}

#[test]
fn a_pass_that_breaks_a_kernel_is_told() {
    static BREAK: Pass = Pass {
        name: "break",
        order: &[],
        description: "takes the terminator away",
        run: |kernel, _| kernel.entry().and_then(|entry| kernel.blocks[entry].insts.pop()).is_some(),
    };
    let legality = target(|_, _| false);
    let mut context = Context::new(&legality);
    assert!(run(&mut kernel(SMALL), &[&BREAK], &mut context, &mut ()).is_ok());
    context.verify = true;
    let error = run(&mut kernel(SMALL), &[&BREAK], &mut context, &mut ()).unwrap_err();
    assert!(error.to_string().starts_with("pass `break` left @k broken: "), "{error}");
}

#[test]
fn documentation_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/passes.md");
    if blessed() {
        std::fs::write(&path, documentation()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), documentation(), "docs/passes.md is out of date");
}
