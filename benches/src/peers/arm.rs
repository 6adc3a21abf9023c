//! Arms, visited in turn.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::{Protocol, Visit, median, visit_briefly};

/// One way to compute a case.
pub struct Arm<'a> {
    /// The column it stands in.
    pub name: String,
    /// Plan, flags or versions: what it takes to have the same arm again.
    pub detail: String,
    /// The largest error of what it computes.
    pub error: f64,
    /// Computes it once.
    pub work: Box<dyn FnMut() + 'a>,
}

/// An arm with its samples.
#[derive(Clone, Debug, Serialize)]
pub struct Timed {
    /// The column it stands in.
    pub name: String,
    /// Plan, flags or versions.
    pub detail: String,
    /// The largest error of what it computed.
    pub error: f64,
    /// Nanoseconds a call: a list for each round.
    pub rounds: Vec<Vec<f64>>,
}

impl Timed {
    /// The median over rounds of each round's median, in nanoseconds.
    pub fn median(&self) -> f64 {
        median(&self.medians())
    }

    /// The least of all samples, in nanoseconds.
    pub fn least(&self) -> f64 {
        self.rounds
            .iter()
            .flatten()
            .copied()
            .fold(f64::INFINITY, f64::min)
    }

    /// The median over rounds of same-round ratios to another arm.
    pub fn ratio(&self, other: &Timed) -> f64 {
        let (own, other) = (self.medians(), other.medians());
        let ratios: Vec<f64> = own
            .iter()
            .zip(other)
            .map(|(own, other)| own / other)
            .collect();
        median(&ratios)
    }

    fn medians(&self) -> Vec<f64> {
        self.rounds.iter().map(|round| median(round)).collect()
    }
}

/// Visits every arm once a round, beginning with another one each round and backwards in every second round, so that each
/// arm follows each of its neighbours equally often.
pub(super) fn in_turn(protocol: &Protocol, arms: &mut [Arm<'_>]) -> Vec<Timed> {
    let mut rounds = vec![Vec::new(); arms.len()];
    for round in 0..protocol.rounds {
        for index in order(round, arms.len()) {
            let start = Instant::now();
            let Visit { samples } = visit_briefly(protocol, &mut arms[index].work);
            rounds[index].push(samples);
            pause_after(start.elapsed());
        }
    }
    arms.iter()
        .zip(rounds)
        .map(|(arm, rounds)| Timed {
            name: arm.name.clone(),
            detail: arm.detail.clone(),
            error: arm.error,
            rounds,
        })
        .collect()
}

fn order(round: usize, arms: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..arms).map(|index| (index + round / 2) % arms).collect();
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

/// Linux stops a real-time thread for 50 ms after 950 ms of work, wherever that falls; a thread that rests now and then is
/// never stopped in the middle of a sample.
pub(super) fn pause_after(work: Duration) {
    std::thread::sleep(work / 12);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arm_comes_once_a_round_and_first_equally_often() {
        let mut first = [0; 3];
        for round in 0..6 {
            let order = order(round, 3);
            first[order[0]] += 1;
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
        }
        assert_eq!(first, [2, 2, 2]);
    }

    #[test]
    fn ratios_are_of_the_same_round() {
        let timed = |rounds: &[f64]| Timed {
            name: String::new(),
            detail: String::new(),
            error: 0.0,
            rounds: rounds.iter().map(|&one| vec![one]).collect(),
        };
        let (ours, theirs) = (timed(&[10.0, 20.0, 40.0]), timed(&[5.0, 40.0, 20.0]));
        assert_eq!(ours.ratio(&theirs), 2.0);
        assert_eq!((ours.median(), ours.least()), (20.0, 10.0));
    }
}
