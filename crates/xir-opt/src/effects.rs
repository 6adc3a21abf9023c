//! What each region may do, its inner regions and the functions it calls included.

use xir::{Array, Function, Op, OpKind, Program, Region};

/// What a region or an operation may do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    /// Writes memory of the caller or a workspace, or a private array whose address is taken, or does something unknown.
    pub(crate) writes: bool,
    /// Private arrays it reads, sorted; one whose address is taken counts as read there.
    pub(crate) private_reads: Vec<Array>,
    /// Private arrays it writes, sorted; a store by address may write each whose address is taken.
    pub(crate) private_writes: Vec<Array>,
}

impl Effects {
    /// Whether nothing outside sees that it ran, given that its results aren't used.
    pub(crate) fn is_silent(&self) -> bool {
        !self.writes && self.private_writes.is_empty()
    }

    /// Whether it may write an array.
    pub(crate) fn writes_array(&self, array: Array) -> bool {
        self.private_writes.binary_search(&array).is_ok()
    }

    /// Whether it may read an array.
    pub(crate) fn reads_array(&self, array: Array) -> bool {
        self.private_reads.binary_search(&array).is_ok()
    }

    fn add(&mut self, other: &Effects) {
        self.writes |= other.writes;
        self.private_reads.extend(&other.private_reads);
        self.private_writes.extend(&other.private_writes);
    }

    fn sort(&mut self) {
        self.private_reads.sort_unstable();
        self.private_reads.dedup();
        self.private_writes.sort_unstable();
        self.private_writes.dedup();
    }
}

/// The effects of every region of a program.
pub(crate) struct Summary {
    regions: Vec<Option<Effects>>,
    /// Arrays whose address is taken somewhere, so that loads and stores may reach them.
    addressed: Vec<Array>,
}

impl Summary {
    /// Looks at every operation once.
    pub(crate) fn of(program: &Program) -> Summary {
        let mut addressed = Vec::new();
        for function in program.functions() {
            program.visit_ops(program.function(function).body, &mut |kind| {
                if let OpKind::PrivateAddress(array) = kind {
                    addressed.push(*array);
                }
            });
        }
        addressed.sort_unstable();
        addressed.dedup();
        let mut summary = Summary {
            regions: vec![None; program.region_count()],
            addressed,
        };
        for function in program.functions() {
            summary.visit(program, program.function(function).body);
        }
        summary
    }

    /// What a region may do.
    ///
    /// # Panics
    /// If the region was made since; a pass asks only about the program it began with.
    pub(crate) fn region(&self, region: Region) -> &Effects {
        self.regions[region.index()]
            .as_ref()
            .expect("effects: the region was there when the pass began")
    }

    /// Arrays that loads and stores may reach, sorted.
    pub(crate) fn addressed(&self) -> &[Array] {
        &self.addressed
    }

    /// What a function may do.
    pub(crate) fn function(&self, program: &Program, function: Function) -> &Effects {
        self.region(program.function(function).body)
    }

    fn visit(&mut self, program: &Program, region: Region) {
        if self.regions[region.index()].is_some() {
            return;
        }
        let mut effects = Effects::default();
        for &op in &program.region(region).ops {
            self.add_op(program, op, &mut effects);
        }
        effects.sort();
        self.regions[region.index()] = Some(effects);
    }

    fn add_op(&mut self, program: &Program, op: Op, effects: &mut Effects) {
        let kind = &program.op(op).kind;
        match kind {
            OpKind::Store { .. } => {
                effects.writes = true;
                effects.private_writes.extend(&self.addressed);
            }
            OpKind::Opaque { .. } => effects.writes = true,
            OpKind::PrivateLoad { array, .. } | OpKind::PrivateAddress(array) => {
                effects.private_reads.push(*array);
            }
            OpKind::PrivateStore { array, .. } => {
                effects.writes |= self.addressed.binary_search(array).is_ok();
                effects.private_writes.push(*array);
            }
            OpKind::Loop { .. } | OpKind::If { .. } => kind.visit_regions(|inner| {
                self.visit(program, inner);
                effects.add(self.region(inner));
            }),
            OpKind::Call { function, .. } => {
                self.visit(program, program.function(*function).body);
                effects.add(self.function(program, *function));
            }
            OpKind::Const(..)
            | OpKind::Record { .. }
            | OpKind::WorkspaceAddress(_)
            | OpKind::Unary(..)
            | OpKind::Binary(..)
            | OpKind::Compare(..)
            | OpKind::Select { .. }
            | OpKind::Fma(..)
            | OpKind::Convert(..)
            | OpKind::Splat(_)
            | OpKind::LaneIndex
            | OpKind::Lane { .. }
            | OpKind::Any(_)
            | OpKind::Build(_)
            | OpKind::Shuffle { .. }
            | OpKind::Load { .. } => {}
        }
    }
}
