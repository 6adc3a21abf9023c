//! A plan: the six choices that interact, and nothing else decides what the code looks like.
//!
//! A plan is made for one kernel; its text form (`width=8,local=8,partials=4,...`) names what a person may pin.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use fusion_legality::Subject;
use tile_ir::Value;
use xir::Lanes;

/// How logical programs are laid over lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Distribution {
    /// A lane runs a program (`local_lanes` is 1).
    WholeProgram,
    /// A packet runs a program (`local_lanes` is the packet's width).
    PacketLocal,
}

/// Where the elements of a tile value live until they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Materialization {
    /// In a private array, written where the value is defined.
    Snapshot,
    /// Nowhere: evaluated where it is read. Legal for pure values only.
    Recipe,
    /// In the view they were loaded from. Legal only while nothing can have written there.
    Reload,
}

/// What becomes of packets whose lanes are all live, in the whole-program distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FullPackets {
    /// They share one body with the last, partial packet.
    Shared,
    /// They have a body of their own, in line.
    Inlined,
    /// They have a body of their own, called.
    Outlined,
}

/// Whether loads the plan doesn't name may be read again from their views instead of being copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reload {
    /// Every load is a copy, unless the plan names it.
    Never,
    /// Where nothing can write in between if the written views are disjoint from all others. A check at launch decides, and a second body
    /// with copies stands by.
    Guarded,
}

/// How many accumulators an `unordered` reduction may run.
pub const PARTIALS: [u32; 5] = [1, 2, 4, 8, 16];

/// How many packets a main loop may handle in one iteration.
pub const UNROLLS: [u32; 5] = [1, 2, 4, 8, 16];

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// Packet width.
    pub lanes: Lanes,
    /// How programs are laid over lanes.
    pub distribution: Distribution,
    /// Loads and expressions that join their first consumer; each must be admitted.
    pub fused: BTreeSet<Subject>,
    /// Values that depart from the rule of [`realize`](crate::realize).
    pub materialization: BTreeMap<Value, Materialization>,
    /// Whether loads are read again from their views.
    pub reload: Reload,
    /// Packets accumulated side by side in an `unordered` reduction, one of [`PARTIALS`].
    pub partials: u32,
    /// Packets one iteration of a loop without carries handles, one of [`UNROLLS`].
    pub unroll: u32,
    /// Specialisation of full packets.
    pub full_packets: FullPackets,
    /// Programs a task runs; 0 keeps everything on the caller's thread.
    pub grain: u32,
}

impl Plan {
    /// A plan of the given width and distribution, nothing fused, one task.
    pub fn new(lanes: Lanes, distribution: Distribution) -> Plan {
        let (partials, unroll) = match distribution {
            Distribution::PacketLocal => (
                (32 / lanes.get()).clamp(1, 16),
                (32 / lanes.get()).clamp(1, 4),
            ),
            Distribution::WholeProgram => (4, 2),
        };
        Plan {
            lanes,
            distribution,
            fused: BTreeSet::new(),
            materialization: BTreeMap::new(),
            reload: Reload::Never,
            partials,
            unroll,
            full_packets: FullPackets::Inlined,
            grain: 0,
        }
    }

    /// Lanes that share a program: 1 or the packet's width.
    pub fn local_lanes(&self) -> u32 {
        match self.distribution {
            Distribution::WholeProgram => 1,
            Distribution::PacketLocal => self.lanes.get(),
        }
    }
}

impl fmt::Display for Materialization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Materialization::Snapshot => "snapshot",
            Materialization::Recipe => "recipe",
            Materialization::Reload => "reload",
        })
    }
}

impl fmt::Display for Reload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reload::Never => "never",
            Reload::Guarded => "guarded",
        })
    }
}

impl fmt::Display for FullPackets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FullPackets::Shared => "shared",
            FullPackets::Inlined => "inlined",
            FullPackets::Outlined => "outlined",
        })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan {
            lanes,
            partials,
            unroll,
            full_packets,
            grain,
            reload,
            ..
        } = self;
        write!(f, "width={},local={}", lanes.get(), self.local_lanes())?;
        write!(
            f,
            ",partials={partials},unroll={unroll},full={full_packets},reload={reload},grain={grain}"
        )?;
        for subject in &self.fused {
            write!(f, ",fuse={subject}")?;
        }
        for (value, how) in &self.materialization {
            write!(f, ",{value}={how}")?;
        }
        Ok(())
    }
}
