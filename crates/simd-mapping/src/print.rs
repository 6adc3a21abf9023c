//! A realization as text: one line an operation, what it becomes and what it costs in accesses.

use std::fmt;

use tile_ir::{Kernel, OpKind, Value};

use crate::account::{AccessClass, Accesses, Target, account};
use crate::realization::{Home, Realization, Representation, Spread};

impl fmt::Display for AccessClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessClass::Broadcast => "broadcast",
            AccessClass::Contiguous => "contiguous",
            AccessClass::Gather => "gather",
        })
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Spread::Uniform => "uniform",
            Spread::PerLane => "interleaved",
            Spread::Distributed => "distributed",
        })
    }
}

/// The name people gave a value, or its key.
pub fn value_name(kernel: &Kernel, value: Value) -> String {
    kernel
        .value(value)
        .name
        .clone()
        .unwrap_or_else(|| value.to_string())
}

impl Realization {
    fn target(&self, target: Target) -> String {
        match target {
            Target::View(param) => self.kernel.param(param).name.clone(),
            Target::Private(value) => format!("private {}", value_name(&self.kernel, value)),
        }
    }

    fn accesses(
        &self,
        f: &mut fmt::Formatter<'_>,
        verb: &str,
        target: Target,
        a: Accesses,
    ) -> fmt::Result {
        write!(f, "; {verb} {} {}", self.target(target), a.class)?;
        if a.touches != 1 {
            write!(f, " x{}", a.touches)?;
        }
        Ok(())
    }

    fn array_text(&self, value: Value) -> Option<String> {
        let (key, verb) = match self.representation(value)? {
            Representation::Private(key) => (key, "kept in"),
            Representation::Fused {
                save: Some(key), ..
            } => (key, "saved in"),
            _ => return None,
        };
        let array = self.array(key);
        let home = match array.home {
            Home::Stack => "stack".to_string(),
            Home::Worker(offset) => format!("worker workspace + {offset}"),
            Home::Shared(offset) => format!("shared workspace + {offset}"),
        };
        Some(format!(
            "{verb} {} slots of {}, {}, {home}",
            array.slots, array.element, array.spread
        ))
    }
}

impl fmt::Display for Realization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernel: &Kernel = &self.kernel;
        writeln!(f, "plan {}", self.plan)?;
        match self.local_axis {
            Some(axis) => writeln!(f, "packets lie along {}", kernel.axis(axis).name)?,
            None => writeln!(f, "lanes run programs of their own")?,
        }
        let private = (
            self.stack_bytes,
            self.worker_bytes,
            self.shared_bytes_per_packet,
        );
        writeln!(
            f,
            "private bytes: {} stack, {} worker, {} shared a packet",
            private.0, private.1, private.2
        )?;
        for row in account(self) {
            let data = kernel.op(row.op);
            let what = match &data.kind {
                OpKind::Load { view, .. } => format!("load {}", kernel.param(*view).name),
                OpKind::Store { view, .. } => format!("store {}", kernel.param(*view).name),
                OpKind::Reduce { .. } => match self.trees.get(&row.op) {
                    Some(tree) => match tree.block() {
                        Some(block) => format!(
                            "reduce, tree of {} partials in blocks of {block}",
                            tree.width()
                        ),
                        None => format!("reduce, tree of {} partials", tree.width()),
                    },
                    None => "reduce, left to right".to_string(),
                },
                _ => "compute".to_string(),
            };
            let names: Vec<String> = data
                .results
                .iter()
                .map(|&value| value_name(kernel, value))
                .collect();
            let names = if names.is_empty() {
                String::new()
            } else {
                format!("{} = ", names.join(", "))
            };
            write!(f, "{}: {names}{what}; {} points", row.op, row.points)?;
            for (&target, &a) in &row.reads {
                self.accesses(f, "reads", target, a)?;
            }
            for (&target, &a) in &row.writes {
                self.accesses(f, "writes", target, a)?;
            }
            if row.arithmetic > 0 {
                write!(f, "; {} operations a point", row.arithmetic)?;
            }
            for &value in &data.results {
                if let Some(text) = self.array_text(value) {
                    write!(f, "; {text}")?;
                }
                if let Some(Representation::Fused { reduction, .. }) = self.representation(value) {
                    write!(f, "; read by {reduction} as it goes")?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
