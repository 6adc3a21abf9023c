//! Why each load and expression may or may not join its first consumer, and what would change if it did.

use diagnostics::Location;
use fusion_legality::{Admission, Candidate, Later, Outcome, Subject, admit};
use planner::{Request, plan_for};
use simd_mapping::{Realization, Reload, Target, account, private_bytes, realize};
use tile_ir::{Kernel, Op, OpKind, Verified};

use crate::error::Error;

/// One reason of a refusal.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The stable code.
    pub code: &'static str,
    /// The reason in words.
    pub sentence: &'static str,
    /// Where it shows.
    pub location: Location,
    /// The operation at which it shows, in words.
    pub at: String,
}

/// What fusing a subject would change for one program, under the plan asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Reads of private arrays, in points of traversals, without and with fusion.
    pub private_reads: (u64, u64),
    /// Writes of private arrays, likewise.
    pub private_writes: (u64, u64),
    /// Reads of views, likewise.
    pub view_reads: (u64, u64),
    /// Bytes of private arrays a packet needs, likewise.
    pub snapshot_bytes: (u64, u64),
}

/// What was found about one subject.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It may join the reduction.
    Admitted {
        /// Where the reduction stands.
        reduction: Location,
        /// The reduction, in words.
        consumer: String,
        /// Whether later consumers make the traversal keep each element.
        saves: bool,
        /// What would change.
        change: Change,
    },
    /// It may not.
    Refused(Vec<Reason>),
}

/// One load or expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// `load` or `expression`.
    pub kind: &'static str,
    /// What people call it.
    pub name: String,
    /// Where it stands.
    pub location: Location,
    /// What was found.
    pub verdict: Verdict,
}

/// Explains every load and expression of a kernel, in program order. Extents must be known for counts; open axes are an error.
///
/// # Errors
/// An axis without extent, a pin that can't be kept, a plan that can't be realised.
pub fn explain(kernel: &Verified, request: &Request) -> Result<Vec<Explained>, Error> {
    if let Some(&axis) = kernel.open_axes().first() {
        return Err(Error::OpenAxis {
            axis: kernel.axis(axis).name.clone(),
        });
    }
    let admission = admit(kernel);
    let unfused = lay_out(kernel, request, None)?;
    let mut list = Vec::new();
    for candidate in admission.candidates() {
        list.push(explain_one(kernel, request, candidate, &unfused)?);
    }
    Ok(list)
}

/// The realization with nothing fused, or one subject.
fn lay_out(
    kernel: &Verified,
    request: &Request,
    subject: Option<Subject>,
) -> Result<Realization, Error> {
    let admission: Admission = admit(kernel);
    let mut plan = plan_for(&admission, request)?;
    // Fusion is held against what it replaces, the copy of a snapshot, not against a reload under a guard.
    plan.reload = Reload::Never;
    plan.fused.clear();
    plan.fused.extend(subject);
    Ok(realize(admission, &plan)?)
}

fn explain_one(
    kernel: &Verified,
    request: &Request,
    candidate: &Candidate,
    unfused: &Realization,
) -> Result<Explained, Error> {
    let (kind, op, value) = match candidate.subject {
        Subject::Load(op) => ("load", Some(op), kernel.op(op).results.first().copied()),
        Subject::Expression(value) => ("expression", kernel.defining_op(value), Some(value)),
    };
    let name = value.map_or_else(String::new, |value| simd_mapping::value_name(kernel, value));
    let location = op.map_or(Location::None, |op| kernel.op(op).location);
    let verdict = match &candidate.outcome {
        Outcome::Admitted(certificate) => {
            let fused = lay_out(kernel, request, Some(candidate.subject))?;
            let count = |pick: fn(&Realization) -> u64| (pick(unfused), pick(&fused));
            Verdict::Admitted {
                reduction: kernel.op(certificate.reduction).location,
                consumer: describe(kernel, certificate.reduction),
                saves: matches!(certificate.later, Later::SaveSnapshot(_)),
                change: Change {
                    private_reads: count(private_reads),
                    private_writes: count(private_writes),
                    view_reads: count(view_reads),
                    snapshot_bytes: count(snapshot_bytes),
                },
            }
        }
        Outcome::Refused(refusals) => Verdict::Refused(
            refusals
                .iter()
                .map(|refusal| Reason {
                    code: refusal.code.name(),
                    sentence: refusal.code.sentence(),
                    location: kernel.op(refusal.at).location,
                    at: describe(kernel, refusal.at),
                })
                .collect(),
        ),
    };
    Ok(Explained {
        kind,
        name,
        location,
        verdict,
    })
}

/// An operation in words.
fn describe(kernel: &Kernel, op: Op) -> String {
    let data = kernel.op(op);
    let named = data
        .results
        .first()
        .map(|&value| format!(" `{}`", simd_mapping::value_name(kernel, value)));
    let what = match &data.kind {
        OpKind::Load { view, .. } => return format!("the load of `{}`", kernel.param(*view).name),
        OpKind::Store { view, .. } => {
            return format!("the store to `{}`", kernel.param(*view).name);
        }
        OpKind::Stage => return "the stage".to_string(),
        OpKind::Opaque { id } => return format!("opaque {id}"),
        OpKind::Parallel { .. } => return "the end of the program".to_string(),
        OpKind::Reduce { .. } => "the reduction",
        OpKind::Map { .. } => "the map",
        OpKind::For { .. } => "the loop",
        OpKind::Extract { .. } => "the element read",
        _ => "the expression",
    };
    format!("{what}{}", named.unwrap_or_default())
}

fn total(realization: &Realization, of_views: bool, writes: bool) -> u64 {
    account(realization)
        .iter()
        .flat_map(|row| {
            let side = if writes { &row.writes } else { &row.reads };
            side.iter()
                .map(move |(target, accesses)| (row.points, target, accesses.touches))
        })
        .filter(|(_, target, _)| matches!(target, Target::View(_)) == of_views)
        .map(|(points, _, touches)| points * u64::from(touches))
        .sum()
}

fn private_reads(realization: &Realization) -> u64 {
    total(realization, false, false)
}

fn private_writes(realization: &Realization) -> u64 {
    total(realization, false, true)
}

fn view_reads(realization: &Realization) -> u64 {
    total(realization, true, false)
}

fn snapshot_bytes(realization: &Realization) -> u64 {
    let lanes = u64::from(realization.plan.lanes.get());
    realization
        .arrays
        .iter()
        .map(|array| {
            let width = if array.spread == simd_mapping::Spread::Uniform {
                1
            } else {
                lanes
            };
            u64::from(array.slots) * private_bytes(array.element) * width
        })
        .sum()
}

/// The explanation as sentences. `place` turns a location into words, such as `line 4`.
pub fn in_sentences(list: &[Explained], place: &dyn Fn(&Location) -> String) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for item in list {
        let _ = write!(
            text,
            "{} `{}` ({})",
            item.kind,
            item.name,
            place(&item.location)
        );
        match &item.verdict {
            Verdict::Admitted {
                reduction,
                consumer,
                saves,
                change,
            } => {
                let _ = writeln!(text, ": admitted.");
                let _ = writeln!(
                    text,
                    "  Its first consumer is {consumer} ({}).",
                    place(reduction)
                );
                let keep = if *saves {
                    "Later consumers read it too, so the same traversal saves each element."
                } else {
                    "Nothing reads it later, so no snapshot is kept."
                };
                let _ = writeln!(text, "  {keep}");
                let Change {
                    private_reads,
                    private_writes,
                    view_reads,
                    snapshot_bytes,
                } = change;
                let _ = writeln!(
                    text,
                    "  Fused, private reads go from {} to {}, private writes from {} to {}, reads of views from {} to {}, snapshot \
                     bytes from {} to {}, a packet of programs each.",
                    private_reads.0,
                    private_reads.1,
                    private_writes.0,
                    private_writes.1,
                    view_reads.0,
                    view_reads.1,
                    snapshot_bytes.0,
                    snapshot_bytes.1
                );
                let _ = writeln!(
                    text,
                    "  Legal is not the same as faster: it stays off unless enabled."
                );
            }
            Verdict::Refused(reasons) => {
                let _ = writeln!(text, ": refused.");
                for reason in reasons {
                    let at = place(&reason.location);
                    let _ = writeln!(
                        text,
                        "  {}: {} It shows at {} ({at}).",
                        reason.code, reason.sentence, reason.at
                    );
                }
            }
        }
    }
    text
}
