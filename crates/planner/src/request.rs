//! A request for a plan, and the rule that answers it without measuring.

use std::str::FromStr;

use fusion_legality::{Admission, Outcome, Subject};
use simd_mapping::{Distribution, Plan, Reload, local_axis};
use tile_ir::{Kernel, OpKind, UnaryOp};
use xir::Lanes;

use crate::pins::{PinError, Pins};

/// A fusion rule that may be switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// A load joins its first reduction.
    LoadReduction,
    /// A materialised expression joins its first reduction.
    ExpressionReduction,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 2] = [Rule::LoadReduction, Rule::ExpressionReduction];

    /// The name switches use.
    pub fn name(self) -> &'static str {
        match self {
            Rule::LoadReduction => "load-reduction",
            Rule::ExpressionReduction => "expression-reduction",
        }
    }
}

/// No rule has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule `{name}`; there are load-reduction and expression-reduction")]
pub struct UnknownRule {
    /// What was asked.
    pub name: String,
}

impl FromStr for Rule {
    type Err = UnknownRule;

    fn from_str(name: &str) -> Result<Rule, UnknownRule> {
        Rule::ALL
            .into_iter()
            .find(|rule| rule.name() == name)
            .ok_or_else(|| UnknownRule {
                name: name.to_string(),
            })
    }
}

/// Which rules are on. None is by default: legal is not the same as faster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    load_reduction: bool,
    expression_reduction: bool,
}

impl Rules {
    /// Rules that are enabled and not disabled: disable wins.
    pub fn resolve(enable: &[Rule], disable: &[Rule]) -> Rules {
        let on = |rule| enable.contains(&rule) && !disable.contains(&rule);
        Rules {
            load_reduction: on(Rule::LoadReduction),
            expression_reduction: on(Rule::ExpressionReduction),
        }
    }

    /// Whether a rule is on.
    pub fn allows(self, rule: Rule) -> bool {
        match rule {
            Rule::LoadReduction => self.load_reduction,
            Rule::ExpressionReduction => self.expression_reduction,
        }
    }
}

/// What a caller asks of the planner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// What is fixed.
    pub pins: Pins,
    /// Which fusions may happen.
    pub rules: Rules,
}

/// The plan for a request. Pins are kept or refused; everything admitted that a rule allows is fused; the rest follows the shape of the
/// kernel: a packet shares a program if the program has an axis long enough to fill it, else each lane runs its own.
pub fn plan_for(admission: &Admission, request: &Request) -> Result<Plan, PinError> {
    let kernel = admission.kernel();
    let pins = &request.pins;
    let width = match (pins.width, pins.local) {
        (Some(width), _) => width,
        (None, Some(local)) => Lanes::new(local).unwrap_or(DEFAULT_WIDTH),
        (None, None) if calls_functions(kernel) => FUNCTION_WIDTH,
        (None, None) => DEFAULT_WIDTH,
    };
    let distribution = match pins.local {
        Some(1) => Distribution::WholeProgram,
        Some(local) if local == width.get() => Distribution::PacketLocal,
        Some(local) => {
            return Err(PinError::Local {
                local,
                width: width.get(),
            });
        }
        None => {
            let extent = local_axis(kernel).and_then(|axis| kernel.axis(axis).extent);
            // Half a packet of work a program beats a gather a lane; below that lanes take programs of their own.
            if extent.is_some_and(|extent| 2 * extent >= width.get()) {
                Distribution::PacketLocal
            } else {
                Distribution::WholeProgram
            }
        }
    };
    let mut plan = Plan::new(width, distribution);
    plan.partials = pins.partials.unwrap_or(plan.partials);
    plan.unroll = pins.unroll.unwrap_or(plan.unroll);
    plan.full_packets = pins.full.unwrap_or(plan.full_packets);
    // Evidence: docs/decisions/guarded-reload.md.
    plan.reload = pins.reload.unwrap_or(Reload::Guarded);
    plan.grain = pins.grain.unwrap_or(plan.grain);
    for candidate in admission.candidates() {
        let rule = match candidate.subject {
            Subject::Load(_) => Rule::LoadReduction,
            Subject::Expression(_) => Rule::ExpressionReduction,
        };
        if matches!(candidate.outcome, Outcome::Admitted(_)) && request.rules.allows(rule) {
            plan.fused.insert(candidate.subject);
        }
    }
    Ok(plan)
}

/// Whether elements go through an elementary function: a long chain of dependent operations.
fn calls_functions(kernel: &Kernel) -> bool {
    kernel
        .ops()
        .any(|op| matches!(kernel.op(op).kind, OpKind::Unary(UnaryOp::Math(_), _)))
}

/// Four registers of four f32 lanes: the chains of a function run side by side and hide each other's latency.
const FUNCTION_WIDTH: Lanes = match Lanes::new(16) {
    Some(lanes) => lanes,
    None => unreachable!(),
};

/// Two registers of four f32 lanes: enough independent work for one row, and short rows still fill half of it.
const DEFAULT_WIDTH: Lanes = match Lanes::new(8) {
    Some(lanes) => lanes,
    None => unreachable!(),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disable_wins() {
        let rules = Rules::resolve(
            &[Rule::LoadReduction, Rule::ExpressionReduction],
            &[Rule::LoadReduction],
        );
        assert!(!rules.allows(Rule::LoadReduction));
        assert!(rules.allows(Rule::ExpressionReduction));
        assert!(
            !Rules::default().allows(Rule::ExpressionReduction),
            "off by default"
        );
    }

    #[test]
    fn unknown_rules_are_named() {
        let message = "speed".parse::<Rule>().unwrap_err().to_string();
        assert_eq!(
            message,
            "there is no rule `speed`; there are load-reduction and expression-reduction"
        );
    }
}
