//! Example: a service that executes untrusted kernels. No input causes a panic, and none exceeds
//! the limits on time and memory.

use std::error::Error;
use std::thread;
use std::time::Duration;

use halfbyte::abi::{CancelToken, Limits, Watchdog};
use halfbyte::pipeline::Options;
use halfbyte::runtime::LaunchError;
use halfbyte::{Cache, CompileError, Engine, HALU, Module};

/// Limits of one request: time, work and memory.
const LIMITS: Limits = Limits { time: Some(Duration::from_secs(2)), work: 1 << 30, ..Limits::strict() };

/// Answer to a request.
#[derive(Debug, PartialEq)]
enum Answer {
    /// Results of the kernel.
    Done(Vec<u32>),
    /// An error in the request, with a message for the client.
    Bad(String),
    /// The request exceeded a limit of the service.
    Limit(String),
    /// A bug of the service, with a message for its log.
    Ours(String),
}

fn serve(cache: &Cache, text: &str, x: &[u32], cancel: &CancelToken) -> Answer {
    if text.len() as u64 > LIMITS.text_bytes {
        return Answer::Limit(format!("a text has at most {} bytes", LIMITS.text_bytes));
    }
    let module = match Module::named("request.hb", text) {
        Ok(module) => module,
        Err(report) => return Answer::Bad(report.to_string()),
    };
    // The cache compiles a text only once, even if several requests contain it.
    let program = match cache.program(&module) {
        Ok(program) => program,
        Err(error @ (CompileError::Invalid(_) | CompileError::Refused(_))) => {
            return Answer::Bad(module.report(error).to_string());
        }
        Err(error @ (CompileError::TooLarge(_) | CompileError::Cancelled { .. })) => {
            return Answer::Limit(error.to_string());
        }
        Err(error) => return Answer::Ours(error.to_string()),
    };
    let watchdog = Watchdog::with_token(LIMITS, cancel.clone());
    let mut y = vec![0_u32; x.len()];
    let launched = program.kernel("main").and_then(|kernel| {
        let mut launch = kernel.bind((x, &mut y))?;
        launch.engine(Engine::JIT).watchdog(&watchdog).budget(1 << 40);
        Ok(launch.run(x.len() as u32))
    });
    match launched {
        Ok(Ok(_)) => Answer::Done(y),
        Ok(Err(error @ LaunchError::Exceeded { .. })) => Answer::Limit(error.to_string()),
        Ok(Err(error)) => Answer::Bad(error.to_string()),
        Err(error) => Answer::Bad(error.to_string()),
    }
}

fn kernel(body: &str) -> String {
    format!("kernel @main(%x: in i32, %y: out i32) {{\n^entry:\n  %i = item_id\n{body}}}\n")
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut options = Options::new(HALU);
    options.watchdog = Some(Watchdog::new(Limits { time: None, ..LIMITS }));
    let cache = Cache::new(options, 64 << 20);
    let none = CancelToken::default();
    let x = [1, 2, 3];

    let double = kernel("  %v = load %x[%i]\n  %r = add.i32 %v, %v\n  store %r, %y[%i]\n  ret\n");
    let answers: Vec<Answer> = thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(|| serve(&cache, &double, &x, &none)));
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    assert_eq!(answers, [(); 4].map(|()| Answer::Done(vec![2, 4, 6])));
    assert_eq!(cache.len(), 1);

    let typo = serve(&cache, &kernel("  %v = lode %x[%i]\n  ret\n"), &x, &none);
    println!("{typo:?}");
    assert!(matches!(&typo, Answer::Bad(shown) if shown.contains("request.hb:4:8")));

    let far = serve(&cache, &kernel("  %v = load %x[%i + 1000]\n  store %v, %y[%i]\n  ret\n"), &x, &none);
    println!("{far:?}");
    assert!(matches!(&far, Answer::Bad(shown) if shown.contains("out of bounds")));

    let endless = kernel("  br ^loop\n^loop:\n  br ^loop\n");
    let met = serve(&cache, &endless, &x, &none);
    println!("{met:?}");
    assert!(matches!(met, Answer::Limit(_)));

    // A client that disconnects cancels its request.
    let hung_up = CancelToken::default();
    let answer = thread::scope(|scope| {
        let answer = scope.spawn(|| serve(&cache, &endless, &x, &hung_up));
        thread::sleep(Duration::from_millis(20));
        hung_up.cancel();
        answer.join()
    });
    assert!(matches!(answer, Ok(Answer::Limit(shown)) if shown.contains("cancelled")));
    Ok(())
}
