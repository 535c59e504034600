//! Distribution of work over several threads. Batches of kernels are handed out in order, and their
//! results are received in the same order.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::{Stage, Watch};

/// A kind of work that is divided into batches.
pub(super) trait Batches: Sync {
    /// A batch of work.
    type Batch: Default;
    /// State that a thread keeps between its batches.
    type State;
    /// The result of a batch.
    type Done: Send;

    /// Returns the initial state of a thread.
    fn begin(&self) -> Self::State;

    /// Processes a batch.
    fn work(&self, state: &mut Self::State, batch: &mut Self::Batch, watch: &mut Watch<'_>) -> Self::Done;
}

/// Processes all batches on at most `threads` threads, including the calling thread.
///
/// `fill` provides the next batch, and returns `false` if there are no more batches. `take`
/// receives the results in the order of the batches, and returns `false` to end the work. Only one
/// thread at a time calls `fill`, `take` or `watch`.
pub(super) fn spread<W: Batches>(
    threads: NonZero<usize>,
    work: &W,
    fill: impl FnMut(&mut W::Batch) -> bool + Send,
    take: impl FnMut(W::Done) -> bool + Send,
    watch: &mut Watch<'_>,
) {
    let source = Mutex::new(BatchSource { fill, next: 0, ended: false });
    let sink = Mutex::new(Sink { take, next: 0, early: BTreeMap::new() });
    let run = |watch: &mut Watch<'_>| {
        let (mut state, mut batch) = (work.begin(), W::Batch::default());
        loop {
            // With `while let`, the source would stay locked during the whole iteration.
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
            // If the system cannot start another thread, the running threads do the work. If there
            // is little work, it may be finished before all threads have started.
            if lock(&source).ended || thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
}

/// The source from which threads take batches.
struct BatchSource<F> {
    fill: F,
    /// Number of the next batch.
    next: usize,
    ended: bool,
}

impl<F> BatchSource<F> {
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

/// The receiver of results, which passes them on in the order of the batches.
struct Sink<T, D> {
    take: T,
    /// Number of the batch whose result is passed on next.
    next: usize,
    /// Results that wait for the results of earlier batches, keyed by batch number.
    early: BTreeMap<usize, D>,
}

impl<D, T: FnMut(D) -> bool> Sink<T, D> {
    /// Adds the result of batch `number`. Returns `false` if the work must end.
    fn add(&mut self, number: usize, done: D) -> bool {
        self.early.insert(number, done);
        while let Some(done) = self.early.remove(&self.next) {
            self.next += 1;
            if !(self.take)(done) {
                // No result has this number, so all later results are dropped.
                self.next = usize::MAX;
                return false;
            }
        }
        true
    }
}

/// Locks a mutex and ignores poisoning. A panic in one thread ends all threads, so an inconsistent state is never used.
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
            // The first batches take longest, so that later batches finish before them.
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
