//! Lookup, execution and observation of passes. `tests/files/lower` tests the effects of each pass.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::kernel;
use halfbyte_ir::{Kernel, Refusal};
use halfbyte_lower::trial::target;
use halfbyte_lower::{Context, LowerError, Observer, PASSES, Pass, PassError, Pipeline, documentation, find};

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
    assert_eq!(said, format!("unknown pass `legalize`, did you mean `legalise`?; the passes are {known}"));
}

/// Observer that records the name of each pass, and `true` if the pass changed the kernel.
#[derive(Default)]
struct Notes(Vec<(String, bool)>);

impl Observer for Notes {
    fn after(&mut self, pass: &dyn Pass, _: &Kernel, changed: bool, _: Duration) {
        self.0.push((pass.name().to_owned(), changed));
    }
}

const SMALL: &str =
    "kernel @k(%y: out i32) {\n^entry:\n  %i = item_id\n  %a = add.i32 %i, %i\n  store %i, %y[%i]\n  ret\n}\n";

/// Returns the number of instructions of a kernel.
fn count(kernel: &Kernel) -> usize {
    kernel.layout.iter().map(|&block| kernel.blocks[block].insts.len()).sum()
}

#[test]
fn an_observer_sees_every_pass() {
    let legality = target(|_, _| false);
    let mut pipeline = Pipeline::named(["fold", "dce", "dce"]).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let (before, after) = (told.clone(), told.clone());
    pipeline.before(move |pass, kernel| before.lock().unwrap().push(format!("{pass}: {}", count(kernel))));
    pipeline.after(move |_, kernel| after.lock().unwrap().push(count(kernel).to_string()));
    let mut notes = Notes::default();
    pipeline.run(&mut kernel(SMALL), &mut Context::new(&legality), &mut notes).unwrap();
    assert_eq!(notes.0, [("fold", false), ("dce", true), ("dce", false)].map(|(pass, is)| (pass.to_owned(), is)));
    assert_eq!(*told.lock().unwrap(), ["fold: 4", "4", "dce: 4", "3", "dce: 3", "3"]);
}

#[test]
fn a_context_serves_one_kernel_after_another() {
    let branch = "kernel @k(%y: out i32, %c: i1) {\n^entry:\n  %i = item_id\n  br_if %c, ^a, ^b\n^b:\n  ret\n\
                  ^a:\n  store %i, %y[%i]\n  ret\n}\n";
    let legality = target(|_, _| false);
    let pipeline = Pipeline::named(["fold", "dce", "merge", "gvn"]).unwrap();
    let mut context = Context::new(&legality);
    context.verify = true;
    for text in [SMALL, branch, SMALL] {
        let [mut same, mut fresh] = [kernel(text), kernel(text)];
        pipeline.run(&mut same, &mut context, &mut ()).unwrap();
        pipeline.run(&mut fresh, &mut Context::new(&legality), &mut ()).unwrap();
        assert_eq!(same.to_string(), fresh.to_string());
    }
}

#[test]
fn measures_time_only_on_request() {
    struct Times(Duration);
    impl Observer for Times {
        fn after(&mut self, _: &dyn Pass, _: &Kernel, _: bool, time: Duration) {
            self.0 += time;
        }
    }
    let legality = target(|_, _| false);
    let pipeline = Pipeline::named(PASSES.iter().map(|pass| pass.name)).unwrap();
    for timed in [false, true] {
        let mut context = Context::new(&legality);
        context.timed = timed;
        let mut times = Times(Duration::ZERO);
        pipeline.run(&mut kernel(SMALL), &mut context, &mut times).unwrap();
        assert_eq!(times.0 > Duration::ZERO, timed);
    }
}

/// A user-defined pass that calls a closure.
struct Own<F>(F);

impl<F> Pass for Own<F>
where
    F: Fn(&mut Kernel, &mut Context<'_>) -> Result<bool, PassError> + Send + Sync,
{
    fn name(&self) -> &str {
        "own"
    }

    fn run(&self, kernel: &mut Kernel, context: &mut Context<'_>) -> Result<bool, PassError> {
        self.0(kernel, context)
    }
}

/// Runs a pipeline of one user-defined pass.
fn by_own<F>(verify: bool, pass: F) -> Result<(), LowerError>
where
    F: Fn(&mut Kernel, &mut Context<'_>) -> Result<bool, PassError> + Send + Sync + 'static,
{
    let legality = target(|_, _| false);
    let mut context = Context::new(&legality);
    context.verify = verify;
    let mut pipeline = Pipeline::named(["dce"]).unwrap();
    pipeline.replace("dce", Own(pass)).unwrap();
    pipeline.run(&mut kernel(SMALL), &mut context, &mut ())
}

#[test]
fn reports_a_pass_that_breaks_a_kernel() {
    let takes_terminator = |kernel: &mut Kernel, _: &mut Context<'_>| {
        Ok(kernel.entry().and_then(|entry| kernel.blocks[entry].insts.pop()).is_some())
    };
    assert!(by_own(false, takes_terminator).is_ok());
    let error = by_own(true, takes_terminator).unwrap_err();
    assert!(error.to_string().starts_with("internal error: pass `own` produced an invalid kernel @k: "), "{error}");
}

#[test]
fn a_pass_refuses_and_fails_for_reasons_of_its_own() {
    let refusal = |kernel: &Kernel, context: &Context<'_>| {
        let reason = Some("it is Monday".into());
        Refusal { op: None, span: kernel.span, target: context.legality.target(), reason }
    };
    let by_error = by_own(true, move |kernel, context| Err(refusal(kernel, context).into()));
    let by_note = by_own(true, move |kernel, context| {
        context.refuse([refusal(kernel, context)]);
        Ok(false)
    });
    for refused in [by_error, by_note] {
        let Err(LowerError::Refused(refused)) = refused else { panic!("{refused:?}") };
        assert_eq!(refused[0].to_string(), "test cannot do this: it is Monday");
    }
    let failed = by_own(true, |_, _| Err(PassError::new("no licence"))).unwrap_err();
    assert_eq!(failed.to_string(), "pass `own` on @k: no licence");
}

#[test]
fn a_pass_keeps_what_it_counts() {
    let (seen, legality) = (Arc::new(AtomicUsize::new(0)), target(|_, _| false));
    let counted = seen.clone();
    let mut pipeline = Pipeline::default();
    let pass = Own(move |kernel: &mut Kernel, _: &mut Context<'_>| {
        counted.fetch_add(count(kernel), Ordering::Relaxed);
        Ok(false)
    });
    pipeline.insert_before("contract", pass).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| pipeline.run(&mut kernel(SMALL), &mut Context::new(&legality), &mut ()).unwrap());
        }
    });
    assert_eq!(seen.load(Ordering::Relaxed), 16);
}

#[test]
fn documentation_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/passes.md");
    if blessed() {
        std::fs::write(&path, documentation()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), documentation(), "docs/passes.md is out of date");
}
