//! What `admit` hands over: the kernel, and for each candidate a certificate or refusals.

use std::fmt;

use tile_ir::{Op, Value, Verified};

use crate::certificate::Certificate;
use crate::code::Code;

/// What may join its first consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// A load.
    Load(Op),
    /// A pure tile made by elementwise math or a `map`, with several consumers, so that it would be made as an array.
    Expression(Value),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Load(op) => write!(f, "load {op}"),
            Subject::Expression(value) => write!(f, "expression {value}"),
        }
    }
}

/// One reason why a candidate is refused, and where it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Refusal {
    /// The reason.
    pub code: Code,
    /// The operation at which it shows: the consumer, the write in between, the nest in the way.
    pub at: Op,
}

/// What was found for a candidate.
#[expect(
    clippy::large_enum_variant,
    reason = "a kernel has a handful of candidates, and a certificate is read far more often than moved"
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It may join the reduction that the certificate names.
    Admitted(Certificate),
    /// It may not: every reason found, at least one, in the order of [`Code::ALL`].
    Refused(Vec<Refusal>),
}

/// A load or an expression with what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What may join its first consumer, or not.
    pub subject: Subject,
    /// Whether it may.
    pub outcome: Outcome,
}

impl Candidate {
    /// The certificate, if the candidate is admitted.
    pub fn certificate(&self) -> Option<&Certificate> {
        match &self.outcome {
            Outcome::Admitted(certificate) => Some(certificate),
            Outcome::Refused(_) => None,
        }
    }
}

/// The decision about every candidate of one kernel.
///
/// Law **one admission**: planner and lowerer read this very value, and a lowering consumes it. It can't be cloned, so
/// nothing of it survives into the next lowering.
#[derive(Debug)]
pub struct Admission {
    kernel: Verified,
    candidates: Vec<Candidate>,
}

impl Admission {
    pub(crate) fn new(kernel: Verified, candidates: Vec<Candidate>) -> Admission {
        Admission { kernel, candidates }
    }

    /// The kernel that was judged.
    pub fn kernel(&self) -> &Verified {
        &self.kernel
    }

    /// Every load and every expression with several consumers, in program order.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// Gives the kernel and the decisions to the one who carries them out.
    pub fn into_parts(self) -> (Verified, Vec<Candidate>) {
        (self.kernel, self.candidates)
    }
}
