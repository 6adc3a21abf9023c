//! The trait of a policy, and what it answers.

use simd_mapping::Realization;

/// How much there is to do at a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Extents of the root axes of each nest, outermost first.
    pub roots: Vec<Vec<u64>>,
    /// Workers that share a launch.
    pub workers: u32,
}

impl Workload {
    /// Packets of a nest when `programs_per_packet` programs along its last root axis share one.
    pub fn packets(&self, nest: usize, programs_per_packet: u64) -> u64 {
        let Some(extents) = self.roots.get(nest) else {
            return 1;
        };
        match extents.split_last() {
            Some((last, outer)) => {
                outer.iter().product::<u64>() * last.div_ceil(programs_per_packet)
            }
            None => 1,
        }
    }
}

/// One addend of a price.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What it stands for.
    pub name: &'static str,
    /// How much, in the policy's unit.
    pub amount: f64,
}

/// A price.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// The addends, in a fixed order.
    pub terms: Vec<Term>,
    /// What one unit is.
    pub unit: &'static str,
}

impl Price {
    /// The sum of the addends, in order.
    pub fn total(&self) -> f64 {
        self.terms.iter().map(|term| term.amount).sum()
    }

    /// One addend.
    pub fn term(&self, name: &str) -> Option<f64> {
        self.terms
            .iter()
            .find(|term| term.name == name)
            .map(|term| term.amount)
    }
}

/// An opinion about realizations. The cheaper of two is the one it would build.
pub trait Policy {
    /// The policy's name, part of every identity its choices enter.
    fn name(&self) -> &'static str;

    /// Prices a realization for a workload. The same input gives the same price, bit by bit.
    fn price(&self, realization: &Realization, workload: &Workload) -> Price;
}
