//! Timing of two sides of a comparison, which run alternately.

use std::time::{Duration, Instant};

/// The result of a comparison of our code with a peer.
pub struct Sample {
    /// Our value, in the unit of the comparison.
    pub ours: f64,
    /// The peer's value, in the unit of the comparison.
    pub peer: f64,
    /// Our speed divided by the peer's.
    pub ratio: f64,
}

impl Sample {
    /// Creates a result whose values are speeds. `work` is the amount of work; `ours` and `peer`
    /// are the seconds that each side takes.
    pub fn of_speeds(work: f64, [ours, peer]: [f64; 2]) -> Sample {
        Sample { ours: work / ours, peer: work / peer, ratio: peer / ours }
    }

    /// Creates a result whose values are times.
    pub fn of_times(ours: f64, peer: f64) -> Sample {
        Sample { ours, peer, ratio: peer / ours }
    }
}

/// The number and duration of the rounds of a measurement.
#[derive(Clone, Copy)]
pub struct Rounds {
    /// The number of rounds; odd, so that there is a median.
    count: usize,
    /// The minimum duration of each side in a round. A side that takes less time runs repeatedly.
    time: Duration,
}

/// Function that performs the measured work once, as one side of a comparison.
pub type Side<'a> = &'a mut dyn FnMut() -> Result<(), String>;

impl Rounds {
    /// The setting for the figures that are reported. The rounds are short, so that most of them
    /// are not interrupted by other processes.
    pub const FULL: Rounds = Rounds { count: 101, time: Duration::from_millis(2) };
    /// The setting for a quick check that the benchmark works.
    pub const QUICK: Rounds = Rounds { count: 15, time: Duration::from_millis(1) };

    /// Returns a copy of the setting with three rounds, for work that takes seconds.
    pub fn fewer(self) -> Rounds {
        Rounds { count: 3, ..self }
    }

    /// Returns the median seconds of one run of each side. The sides run alternately, and every
    /// second round swaps their order.
    pub fn compare<'a>(&self, ours: Side<'a>, peer: Side<'a>) -> Result<[f64; 2], String> {
        let mut sides = [ours, peer];
        let mut runs = [0; 2];
        for (side, runs) in sides.iter_mut().zip(&mut runs) {
            *runs = self.runs(side)?;
        }
        let mut seconds = [Vec::with_capacity(self.count), Vec::with_capacity(self.count)];
        for round in 0..self.count {
            for turn in 0..2 {
                let side = (round + turn) % 2;
                seconds[side].push(time(sides[side], runs[side])? / runs[side] as f64);
            }
        }
        Ok(seconds.map(median))
    }

    /// Returns the median seconds of `side`, which runs once per round.
    pub fn once(&self, mut side: impl FnMut() -> Result<(), String>) -> Result<f64, String> {
        let seconds = (0..self.count).map(|_| time(&mut side, 1)).collect::<Result<_, _>>()?;
        Ok(median(seconds))
    }

    /// Returns the median of the values that `side` returns in each round.
    pub fn each(&self, side: impl FnMut() -> Result<f64, String>) -> Result<f64, String> {
        let found = std::iter::repeat_with(side).take(self.count).collect::<Result<_, _>>()?;
        Ok(median(found))
    }

    /// Warms up a side and returns the number of runs that take at least the duration of a round.
    fn runs(&self, side: Side<'_>) -> Result<usize, String> {
        let mut runs = 1;
        while time(side, runs)? < self.time.as_secs_f64() {
            runs *= 2;
        }
        Ok(runs)
    }
}

fn time(side: Side<'_>, runs: usize) -> Result<f64, String> {
    let start = Instant::now();
    for _ in 0..runs {
        side()?;
    }
    Ok(start.elapsed().as_secs_f64())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
