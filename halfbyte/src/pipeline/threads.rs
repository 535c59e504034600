//! Kernels on several threads: they are handed out in order, and what becomes of them is taken in the same order.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::{Stage, Watch};

/// Work that comes in batches.
pub(super) trait Batches: Sync {
    /// Some of it.
    type Batch: Default;
    /// What a thread keeps from one batch to the next.
    type State;
    /// What becomes of a batch.
    type Done: Send;

    /// What a thread begins with.
    fn begin(&self) -> Self::State;

    /// Does a batch.
    fn work(&self, state: &mut Self::State, batch: &mut Self::Batch, watch: &mut Watch<'_>) -> Self::Done;
}

/// Does all batches, on so many threads at most, the calling one among them.
///
/// `fill` gets the next batch, and is false where there is none. `take` gets what became of them, in their order, and is false
/// where that is the end. Each is called by one thread at a time, as is `watch`.
pub(super) fn spread<W: Batches>(
    threads: NonZero<usize>,
    work: &W,
    fill: impl FnMut(&mut W::Batch) -> bool + Send,
    take: impl FnMut(W::Done) -> bool + Send,
    watch: &mut Watch<'_>,
) {
    let source = Mutex::new(Source { fill, next: 0, ended: false });
    let sink = Mutex::new(Sink { take, next: 0, early: BTreeMap::new() });
    let run = |watch: &mut Watch<'_>| {
        let (mut state, mut batch) = (work.begin(), W::Batch::default());
        loop {
            // As the condition of a `while let` the source would stay locked for the whole round.
            let next = lock(&source).next(&mut batch);
            let Some(number) = next else { break };
            let done = work.work(&mut state, &mut batch, watch);
            if !lock(&sink).add(number, done) {
                lock(&source).ended = true;
            }
        }
    };
    if threads.get() == 1 {
        return run(watch);
    }
    let watch = Mutex::new(watch);
    let run = || run(&mut |stage: &Stage<'_>| lock(&watch)(stage));
    thread::scope(|scope| {
        for _ in 1..threads.get() {
            // Where the system has no more threads, those that there are do it, and little work is done before all have begun.
            if lock(&source).ended || thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
}

/// Where batches come from.
struct Source<F> {
    fill: F,
    /// The number of the next one.
    next: usize,
    ended: bool,
}

impl<F> Source<F> {
    fn next<B>(&mut self, batch: &mut B) -> Option<usize>
    where
        F: FnMut(&mut B) -> bool,
    {
        self.ended = self.ended || !(self.fill)(batch);
        let number = self.next;
        self.next += 1;
        (!self.ended).then_some(number)
    }
}

/// Where they go.
struct Sink<T, D> {
    take: T,
    /// The number of the one that is taken next.
    next: usize,
    /// Those that were done before others that are to be taken before them.
    early: BTreeMap<usize, D>,
}

impl<D, T: FnMut(D) -> bool> Sink<T, D> {
    /// Whether to go on.
    fn add(&mut self, number: usize, done: D) -> bool {
        self.early.insert(number, done);
        while let Some(done) = self.early.remove(&self.next) {
            self.next += 1;
            if !(self.take)(done) {
                // Nothing behind the end is taken.
                self.next = usize::MAX;
                return false;
            }
        }
        true
    }
}

/// A thread that panicked ends all of them, so that it does not matter what it left.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Squares;

    impl Batches for Squares {
        type Batch = u64;
        type State = u64;
        type Done = u64;

        fn begin(&self) -> u64 {
            0
        }

        fn work(&self, _: &mut u64, batch: &mut u64, _: &mut Watch<'_>) -> u64 {
            // The first ones take longest, so that others overtake them.
            (0..(100 - *batch) * 1000).fold(0u64, |sum, n| std::hint::black_box(sum ^ n));
            *batch * *batch
        }
    }

    fn squares(threads: usize, until: usize) -> Vec<u64> {
        let (mut numbers, mut squares) = (0..100, Vec::new());
        let fill = |batch: &mut u64| {
            numbers.next().is_some_and(|number| {
                *batch = number;
                true
            })
        };
        let take = |square| {
            squares.push(square);
            squares.len() < until
        };
        let threads = NonZero::new(threads).unwrap_or(NonZero::<usize>::MIN);
        spread(threads, &Squares, fill, take, &mut |_| {});
        squares
    }

    #[test]
    fn what_is_done_is_taken_in_order_however_many_threads_do_it() {
        let expected: Vec<u64> = (0..100).map(|number| number * number).collect();
        for threads in [1, 2, 3, 16] {
            assert_eq!(squares(threads, usize::MAX), expected);
            assert_eq!(squares(threads, 7), expected[..7]);
        }
    }
}
