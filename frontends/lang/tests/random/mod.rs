//! Differential tests of random programs: the lowered IR must give the same results as a small
//! independent interpreter. `HALFBYTE_PROGRAMS=300000 cargo test --release -p halfbyte-lang
//! random::` runs more programs; `HALFBYTE_SEED` selects other programs.

mod draw;
mod interpret;
mod tree;

use std::sync::atomic::{AtomicU64, Ordering};

use halfbyte_ir::eval::{Arg, Launch, Prepared};
use halfbyte_lang::{StdOnly, format, read};

use draw::Draw;
use interpret::{ITEMS, Machine, WORDS};

const BASE: u64 = 1 << 40;

/// Checks one random program. Returns `false` if the seed gives no valid program, and an error with
/// the text of the program if the check fails.
fn check(seed: u64) -> Result<bool, String> {
    let (program, mut random) = Draw::program(seed);
    let text = program.to_string();
    let wrong = |what: String| format!("seed {seed}: {what}\n{text}");
    let module = match read(&text, "random.hb", &StdOnly) {
        // The generator avoids unreachable statements only in simple cases.
        Err(errors) if errors.iter().all(|error| error.message == "this statement is unreachable") => return Ok(false),
        read => read,
    };
    let module = module.map_err(|errors| {
        let shown = halfbyte_ir::Diagnostics { file: "random.hb", source: &text, list: &errors }.to_string();
        wrong(shown)
    })?;
    // The printed IR must parse to the same IR.
    let printed = module.to_string();
    let again = halfbyte_ir::text::read(&printed).map_err(|errors| wrong(format!("{printed}\n{errors:?}")))?;
    if again.to_string() != printed {
        return Err(wrong(format!("printed differently:\n{printed}\n{again}")));
    }
    // Formatting preserves the program and is idempotent.
    let written = format(&text).map_err(|errors| wrong(format!("it reads, and is not formatted: {errors:?}")))?;
    let same = read(&written, "random.hb", &StdOnly).is_ok_and(|module| module.to_string() == printed);
    if !same || format(&written).as_ref() != Ok(&written) {
        return Err(wrong(format!("formatted it is another:\n{written}")));
    }
    let (a, b) = (random.next() as u32, random.next() as u8);
    let x: Vec<u8> = (0..WORDS * 4).map(|_| random.edge()).collect();
    let s: Vec<u8> = (0..4 * 16).map(|_| random.edge()).collect();
    let mut expected = vec![0u8; ITEMS as usize * 64];
    let mut found = expected.clone();
    for item in 0..ITEMS {
        let out = expected.get_mut(item as usize * 64..).unwrap().first_chunk_mut::<64>().unwrap();
        Machine::new(&program, item, a, b, &x, &s).run(out);
    }
    let (mut x, mut s) = (x, s);
    let mut args = [
        Arg::scalar(a.into()),
        Arg::scalar(b.into()),
        Arg::Buffer { base: BASE, bytes: &mut x },
        Arg::Buffer { base: 2 * BASE, bytes: &mut s },
        Arg::Buffer { base: 3 * BASE, bytes: &mut found },
    ];
    let kernel = module.kernels.first().unwrap();
    let ran = Prepared::new(kernel).run(&Launch::new(ITEMS), &mut args);
    ran.map_err(|fault| wrong(format!("{fault:?}\n{printed}")))?;
    if found != expected {
        let at = found.iter().zip(&expected).position(|(a, b)| a != b).unwrap_or(0);
        let (found, expected) = (&found[at / 64 * 64..][..64], &expected[at / 64 * 64..][..64]);
        return Err(wrong(format!(
            "item {}, byte {}:\n{found:?} in place of\n{expected:?}\n{printed}",
            at / 64,
            at % 64
        )));
    }
    Ok(true)
}

#[test]
fn programs_mean_what_an_interpreter_of_the_language_says() {
    let number = |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (count, seed) = (number("HALFBYTE_PROGRAMS", 1500u64), number("HALFBYTE_SEED", 1u64));
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let ran = AtomicU64::new(0);
    let failures: Vec<String> = std::thread::scope(|scope| {
        let run = |thread: u64| {
            let ran = &ran;
            move || {
                let mine = (0..count).filter(|number| number % threads == thread);
                let found = mine.filter_map(|number| match check(seed << 32 | number) {
                    Ok(was) => {
                        ran.fetch_add(was.into(), Ordering::Relaxed);
                        None
                    }
                    Err(wrong) => Some(wrong),
                });
                found.take(3).collect::<Vec<_>>()
            }
        };
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(run(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    let ran = ran.into_inner();
    println!("{ran} programs");
    assert!(ran >= count / 10 * 9, "only {ran} of {count} programs ran");
}
