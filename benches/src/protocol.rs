//! Visits, rounds and what is computed from them.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long a visit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// How long the arm runs before anything is timed.
    pub warm_up: Duration,
    /// How many samples a visit takes.
    pub samples: usize,
    /// How long one sample lasts, at least; the number of calls is doubled until it does.
    pub sample: Duration,
    /// How many rounds a comparison has; even, so that each arm comes first equally often.
    pub rounds: usize,
}

impl Default for Protocol {
    /// 100 ms of warm-up, seven samples of 30 ms, six rounds.
    fn default() -> Protocol {
        Protocol {
            warm_up: Duration::from_millis(100),
            samples: 7,
            sample: Duration::from_millis(30),
            rounds: 6,
        }
    }
}

/// The samples of one visit, in nanoseconds per call, in the order they were taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    /// Nanoseconds per call.
    pub samples: Vec<f64>,
}

impl Visit {
    /// The median of the samples; NaN when there are none.
    pub fn median(&self) -> f64 {
        median(&self.samples)
    }

    /// The least of the samples; infinite when there are none.
    pub fn least(&self) -> f64 {
        self.samples.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// What two arms did in the same rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The visits of both arms, a pair a round.
    pub rounds: Vec<(Visit, Visit)>,
}

impl Comparison {
    /// The first arm's time: the median over rounds of its medians, in nanoseconds per call.
    pub fn first(&self) -> f64 {
        median(&self.each(|(first, _)| first.median()))
    }

    /// The second arm's time, likewise.
    pub fn second(&self) -> f64 {
        median(&self.each(|(_, second)| second.median()))
    }

    /// The paired ratio first / second: the median over rounds of same-round ratios.
    pub fn ratio(&self) -> f64 {
        median(&self.ratios())
    }

    /// The smallest and the largest same-round ratio: what was seen, not a confidence interval.
    pub fn range(&self) -> (f64, f64) {
        let ratios = self.ratios();
        let smallest = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (smallest, largest)
    }

    fn ratios(&self) -> Vec<f64> {
        self.each(|(first, second)| first.median() / second.median())
    }

    fn each(&self, figure: impl Fn(&(Visit, Visit)) -> f64) -> Vec<f64> {
        self.rounds.iter().map(figure).collect()
    }
}

/// Times `work` in this process.
pub fn visit(protocol: &Protocol, mut work: impl FnMut()) -> Visit {
    let start = Instant::now();
    while start.elapsed() < protocol.warm_up {
        work();
    }
    let mut timed = |calls: u64| {
        let start = Instant::now();
        for _ in 0..calls {
            work();
            black_box(());
        }
        start.elapsed()
    };
    let mut calls = 1;
    while timed(calls) < protocol.sample && calls < 1 << 20 {
        calls *= 2;
    }
    let samples = (0..protocol.samples)
        .map(|_| timed(calls).as_nanos() as f64 / calls as f64)
        .collect();
    Visit { samples }
}

/// Visits both arms `protocol.rounds` times, the first arm first in even rounds and second in odd ones.
///
/// # Errors
///
/// The first error an arm returns.
pub fn compare<E>(
    protocol: &Protocol,
    mut first: impl FnMut() -> Result<Visit, E>,
    mut second: impl FnMut() -> Result<Visit, E>,
) -> Result<Comparison, E> {
    let mut rounds = Vec::with_capacity(protocol.rounds);
    for round in 0..protocol.rounds {
        rounds.push(if round % 2 == 0 {
            let one = first()?;
            (one, second()?)
        } else {
            let two = second()?;
            (first()?, two)
        });
    }
    Ok(Comparison { rounds })
}

/// Times `work` in this process, with calls counted off the warm-up: shorter than [`visit`], for arms that take turns often.
pub fn visit_briefly(protocol: &Protocol, work: &mut dyn FnMut()) -> Visit {
    let start = Instant::now();
    let mut warm = 0u32;
    while warm == 0 || start.elapsed() < protocol.warm_up {
        work();
        warm += 1;
    }
    // The second half of the warm-up would be a better estimate; a sample that is a little long does no harm.
    let once = start.elapsed() / warm;
    let calls = protocol.sample.as_nanos().div_ceil(once.as_nanos().max(1));
    let calls = calls.clamp(1, 1 << 24) as u32;
    let samples = (0..protocol.samples)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..calls {
                work();
            }
            start.elapsed().as_nanos() as f64 / f64::from(calls)
        })
        .collect();
    Visit { samples }
}

/// The middle value, or the mean of the two in the middle; NaN when there are none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[odd / 2],
        even => f64::midpoint(sorted[even / 2 - 1], sorted[even / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(samples: &[f64]) -> Visit {
        Visit {
            samples: samples.to_vec(),
        }
    }

    #[test]
    fn the_ratio_is_of_the_same_round_and_not_of_the_medians() {
        let comparison = Comparison {
            rounds: vec![
                (of(&[10.0]), of(&[5.0])),
                (of(&[20.0]), of(&[40.0])),
                (of(&[40.0]), of(&[20.0])),
            ],
        };
        assert_eq!((comparison.first(), comparison.second()), (20.0, 20.0));
        assert_eq!(comparison.ratio(), 2.0);
        assert_eq!(comparison.range(), (0.5, 2.0));
    }

    #[test]
    fn no_sample_is_dropped_and_both_orders_come_equally_often() {
        let protocol = Protocol {
            warm_up: Duration::ZERO,
            samples: 3,
            sample: Duration::from_micros(20),
            rounds: 4,
        };
        assert_eq!(visit(&protocol, || ()).samples.len(), 3);
        let order = std::cell::RefCell::new(String::new());
        let arm = |name: char| {
            order.borrow_mut().push(name);
            Ok::<Visit, ()>(of(&[1.0]))
        };
        compare(&protocol, || arm('a'), || arm('b')).expect("neither arm fails");
        assert_eq!(order.into_inner(), "abbaabba");
    }

    #[test]
    fn medians_of_few_values() {
        assert!(median(&[]).is_nan());
        assert_eq!(median(&[3.0]), 3.0);
        assert_eq!(median(&[4.0, 1.0]), 2.5);
    }
}
