//! A sample of everything that `halfbyte prove --full` runs: every rule, the half arithmetic, encodings. A test a subject.
#![allow(clippy::unwrap_used)]

use halfbyte::prove::{Effort, Subject, subjects};
use libtest_mimic::{Arguments, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let trial = |subject: Subject| {
        let (name, is_absent) = (subject.name.clone(), subject.is_absent);
        let run = move || match subject.prove(1) {
            Ok(0) => Err("it has no cases".into()),
            Ok(_) => Ok(()),
            Err(failure) => Err(failure.to_string().into()),
        };
        Trial::test(name, run).with_ignored_flag(is_absent)
    };
    libtest_mimic::run(&arguments, subjects(Effort::Sample).into_iter().map(trial).collect()).exit();
}
