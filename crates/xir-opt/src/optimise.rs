//! `optimise`: the recipe.

use xir::Program;

use crate::{
    bound_integers, combine_masks, drop_dead_code, fold_constants, forward_private_loads,
    hoist_invariants, inline_calls, share_common_values, simplify, unroll_loops,
};

/// A pass with the name it has in traces.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// The name, in kebab case; the pass's cases lie in `tests/files/opt/<name>.xir`.
    pub name: &'static str,
    /// The pass.
    pub run: fn(&mut Program),
}

const INLINE_CALLS: Pass = Pass {
    name: "inline-calls",
    run: inline_calls,
};
const SIMPLIFY: Pass = Pass {
    name: "simplify",
    run: simplify,
};
const FOLD_CONSTANTS: Pass = Pass {
    name: "fold-constants",
    run: fold_constants,
};
const SHARE_COMMON_VALUES: Pass = Pass {
    name: "share-common-values",
    run: share_common_values,
};
const COMBINE_MASKS: Pass = Pass {
    name: "combine-masks",
    run: combine_masks,
};
const UNROLL_LOOPS: Pass = Pass {
    name: "unroll-loops",
    run: unroll_loops,
};
const FORWARD_PRIVATE_LOADS: Pass = Pass {
    name: "forward-private-loads",
    run: forward_private_loads,
};
const HOIST_INVARIANTS: Pass = Pass {
    name: "hoist-invariants",
    run: hoist_invariants,
};
const DROP_DEAD_CODE: Pass = Pass {
    name: "drop-dead-code",
    run: drop_dead_code,
};

const BOUND_INTEGERS: Pass = Pass {
    name: "bound-integers",
    run: bound_integers,
};

/// Every pass.
pub const PASSES: [Pass; 10] = [
    BOUND_INTEGERS,
    COMBINE_MASKS,
    DROP_DEAD_CODE,
    FOLD_CONSTANTS,
    FORWARD_PRIVATE_LOADS,
    HOIST_INVARIANTS,
    INLINE_CALLS,
    SHARE_COMMON_VALUES,
    SIMPLIFY,
    UNROLL_LOOPS,
];

/// The order in which `optimise` runs them.
///
/// Calls go first, since everything else looks at one function. Small programs are made before loops are unrolled, so that
/// what is copied is small, and copies are then simplified with the counters they got. Masks are combined once bounds
/// have decided what they can. Hoisting comes late, when what can
/// stay in place has been folded away; what it brings side by side is shared once more.
const RECIPE: [Pass; 16] = [
    INLINE_CALLS,
    FOLD_CONSTANTS,
    SIMPLIFY,
    SHARE_COMMON_VALUES,
    DROP_DEAD_CODE,
    UNROLL_LOOPS,
    FOLD_CONSTANTS,
    BOUND_INTEGERS,
    SIMPLIFY,
    SHARE_COMMON_VALUES,
    COMBINE_MASKS,
    FORWARD_PRIVATE_LOADS,
    FOLD_CONSTANTS,
    HOIST_INVARIANTS,
    SHARE_COMMON_VALUES,
    DROP_DEAD_CODE,
];

/// What is shown the program after each pass: the pass's name, and the program.
pub type Trace<'a> = dyn FnMut(&str, &Program) + 'a;

/// Runs the recipe. `trace` is shown the program after each pass, with the pass's name.
///
/// The program must be valid; it then stays valid. The result is compact.
pub fn optimise(program: &mut Program, mut trace: Option<&mut Trace<'_>>) {
    for pass in RECIPE {
        (pass.run)(program);
        if let Some(trace) = trace.as_mut() {
            trace(pass.name, program);
        }
    }
    *program = program.compact();
}
