//! The threads of a launch: rayon's where feature `parallel` is on, else the caller's alone.

/// How many threads a launch may use.
pub(crate) fn available() -> usize {
    #[cfg(feature = "parallel")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    return 1;
}

/// Runs each share of the work, side by side where there are threads for it, and waits for all.
///
/// The caller's thread takes the first share: it would only sleep, and waking it takes as long as some tiles or many rows.
pub(crate) fn run_each<T: Send>(shares: impl Iterator<Item = T>, run: impl Fn(T) + Sync) {
    #[cfg(feature = "parallel")]
    rayon::in_place_scope(|scope| {
        let (mut shares, run) = (shares, &run);
        let own = shares.next();
        shares.for_each(|share| scope.spawn(move |_| run(share)));
        own.map(run);
    });
    #[cfg(not(feature = "parallel"))]
    shares.for_each(run);
}
