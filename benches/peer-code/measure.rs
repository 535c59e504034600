//! Times of two sides that take turns.

use std::time::{Duration, Instant};

/// A comparison's outcome.
pub struct Sample {
    /// Ours, in the figure's unit.
    pub ours: f64,
    /// The peer's.
    pub peer: f64,
    /// Our speed as a multiple of the peer's.
    pub ratio: f64,
}

impl Sample {
    /// Of the seconds that each side takes for so many units of work.
    pub fn of_speeds(work: f64, [ours, peer]: [f64; 2]) -> Sample {
        Sample { ours: work / ours, peer: work / peer, ratio: peer / ours }
    }

    /// Of times.
    pub fn of_times(ours: f64, peer: f64) -> Sample {
        Sample { ours, peer, ratio: peer / ours }
    }
}

/// How long to measure.
#[derive(Clone, Copy)]
pub struct Rounds {
    /// An odd number, which has a median.
    count: usize,
    /// What one side runs at least in a round, again and again.
    time: Duration,
}

/// What a side does, once.
pub type Side<'a> = &'a mut dyn FnMut() -> Result<(), String>;

impl Rounds {
    /// For figures to report. Rounds are short, so that most of them are not interrupted.
    pub const FULL: Rounds = Rounds { count: 101, time: Duration::from_millis(2) };
    /// To see that everything works.
    pub const QUICK: Rounds = Rounds { count: 15, time: Duration::from_millis(1) };

    /// Three, for what takes seconds.
    pub fn fewer(self) -> Rounds {
        Rounds { count: 3, ..self }
    }

    /// Median seconds of one run of each side. They take turns, and in which order does too.
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

    /// Median seconds of what is done once a round.
    pub fn once(&self, mut side: impl FnMut() -> Result<(), String>) -> Result<f64, String> {
        let seconds = (0..self.count).map(|_| time(&mut side, 1)).collect::<Result<_, _>>()?;
        Ok(median(seconds))
    }

    /// The median of what each round finds.
    pub fn each(&self, side: impl FnMut() -> Result<f64, String>) -> Result<f64, String> {
        let found = std::iter::repeat_with(side).take(self.count).collect::<Result<_, _>>()?;
        Ok(median(found))
    }

    /// Warms a side up, and finds how many runs fill a round.
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
