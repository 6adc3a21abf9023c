//! The walk over a program's operations.

use std::collections::HashSet;

use xir::{
    Access, Array, Elem, Function, MemElem, Op, OpKind, Program, Region, Shape, Space, Value,
    Verified, Workspace, evaluate,
};

use super::private::{Arrays, Poisoned, SHARED, WORKER};
use super::{Fault, Hook, Lanes, Memory, Problem, packets};

/// Operations a run may take unless it is told otherwise.
const FUEL: u64 = 1_000_000_000;

pub(super) struct Run<'a> {
    pub(super) program: &'a Verified,
    pub(super) record: &'a [u64],
    pub(super) memory: &'a mut dyn Memory,
    pub(super) hook: Option<&'a mut Hook<'a>>,
    pub(super) fuel: u64,
    values: Vec<Lanes>,
    arrays: Arrays,
    /// Stack arrays of each function, poisoned at each call.
    frames: Vec<Vec<Array>>,
    worker: Poisoned,
    shared: Poisoned,
    /// The entry at hand, and the bytes it read as invariant and wrote.
    entry: Option<usize>,
    invariant: HashSet<u64>,
    written: HashSet<u64>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        program: &'a Verified,
        record: &'a [u64],
        memory: &'a mut dyn Memory,
    ) -> Run<'a> {
        let most = program
            .entries
            .iter()
            .map(|entry| packets(entry, record))
            .max();
        let shared = program.shared_bytes_per_packet * most.unwrap_or(1);
        let mut frames = vec![Vec::new(); program.functions().len()];
        for function in program.functions() {
            let frame = &mut frames[function.index()];
            collect_arrays(program, program.function(function).body, frame);
            frame.sort_unstable();
            frame.dedup();
            frame.retain(|&array| program.array(array).space == Space::Stack);
        }
        Run {
            program,
            record,
            memory,
            hook: None,
            fuel: FUEL,
            values: vec![[0; 16]; program.value_count()],
            arrays: Arrays::new(program),
            frames,
            worker: Poisoned::new(program.worker_bytes as usize),
            shared: Poisoned::new(shared as usize),
            entry: None,
            invariant: HashSet::new(),
            written: HashSet::new(),
        }
    }

    /// What the worker's workspace holds means nothing when an entry begins.
    pub(super) fn begin_entry(&mut self, entry: usize) {
        if self.entry != Some(entry) {
            self.entry = Some(entry);
            self.invariant.clear();
            self.written.clear();
        }
        self.worker.poison();
        for array in self.program.arrays() {
            self.arrays.poison(array);
        }
    }

    pub(super) fn call(&mut self, function: Function, args: &[Lanes]) -> Result<Vec<Lanes>, Fault> {
        let program = self.program;
        let body = program.function(function).body;
        for index in 0..self.frames[function.index()].len() {
            self.arrays.poison(self.frames[function.index()][index]);
        }
        for (&param, &lanes) in program.region(body).args.iter().zip(args) {
            self.values[param.index()] = lanes;
        }
        self.region(body)?;
        Ok(self.yields(body))
    }

    fn yields(&self, region: Region) -> Vec<Lanes> {
        let yields = &self.program.region(region).yields;
        yields
            .iter()
            .map(|value| self.values[value.index()])
            .collect()
    }

    fn region(&mut self, region: Region) -> Result<(), Fault> {
        let program = self.program;
        for &op in &program.region(region).ops {
            if let Err(stop) = self.op(op) {
                return Err(match stop {
                    Stop::Here(problem) => Fault {
                        problem,
                        operation: program.op_text(op),
                    },
                    Stop::Inside(fault) => fault,
                });
            }
        }
        Ok(())
    }

    fn set(&mut self, op: Op, lanes: Lanes) {
        let result = self.program.op(op).results[0];
        self.values[result.index()] = lanes;
    }

    fn set_all(&mut self, op: Op, all: Vec<Lanes>) {
        let program = self.program;
        for (result, lanes) in program.op(op).results.iter().zip(all) {
            self.values[result.index()] = lanes;
        }
    }

    fn get(&self, value: Value) -> &Lanes {
        &self.values[value.index()]
    }

    fn scalar(&self, value: Value) -> u64 {
        self.values[value.index()][0]
    }

    fn lanes_of(&self, value: Value) -> usize {
        match self.program.ty(value).shape {
            Shape::Uniform => 1,
            Shape::Varying => self.program.lanes.get() as usize,
        }
    }

    /// A value made lane by lane, as many lanes as `like` has.
    fn each(&self, like: Value, f: impl Fn(usize) -> u64) -> Lanes {
        let count = self.lanes_of(like);
        std::array::from_fn(|lane| if lane < count { f(lane) } else { 0 })
    }

    fn op(&mut self, op: Op) -> Result<(), Stop> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Problem::OutOfFuel)?;
        let program = self.program;
        let width = program.lanes.get() as usize;
        let every = |bits: u64| -> Lanes {
            std::array::from_fn(|lane| if lane < width { bits } else { 0 })
        };
        let only =
            |bits: u64| -> Lanes { std::array::from_fn(|lane| if lane == 0 { bits } else { 0 }) };
        let elem = |value: Value| -> Elem { program.ty(value).elem };
        let lanes = match &program.op(op).kind {
            OpKind::Const(constant, shape) => match shape {
                Shape::Uniform => only(constant.bits()),
                Shape::Varying => every(constant.bits()),
            },
            OpKind::Record { word, elem } => {
                let Some(&bits) = self.record.get(*word as usize) else {
                    return Err(Problem::NoSuchWord { word: *word }.into());
                };
                only(xir::Constant::from_bits(*elem, bits).bits())
            }
            OpKind::WorkspaceAddress(Workspace::Worker) => only(WORKER),
            OpKind::WorkspaceAddress(Workspace::Shared) => only(SHARED),
            OpKind::Unary(deed, a) => {
                self.each(*a, |l| evaluate::unary(*deed, elem(*a), self.get(*a)[l]))
            }
            OpKind::Binary(deed, a, b) => self.each(*a, |l| {
                evaluate::binary(*deed, elem(*a), self.get(*a)[l], self.get(*b)[l])
            }),
            OpKind::Compare(deed, a, b) => self.each(*a, |l| {
                evaluate::compare(*deed, elem(*a), self.get(*a)[l], self.get(*b)[l]).into()
            }),
            OpKind::Select {
                condition,
                then,
                otherwise,
            } => {
                let chosen = *self.get(*condition);
                let one = self.lanes_of(*condition) == 1;
                self.each(*then, |l| {
                    let holds = chosen[if one { 0 } else { l }] != 0;
                    self.get(if holds { *then } else { *otherwise })[l]
                })
            }
            OpKind::Fma(a, b, c) => self.each(*a, |l| {
                evaluate::fma(elem(*a), self.get(*a)[l], self.get(*b)[l], self.get(*c)[l])
            }),
            OpKind::Convert(deed, a) => {
                self.each(*a, |l| evaluate::convert(*deed, self.get(*a)[l]))
            }
            OpKind::Splat(a) => every(self.scalar(*a)),
            OpKind::LaneIndex => {
                std::array::from_fn(|lane| if lane < width { lane as u64 } else { 0 })
            }
            OpKind::Lane { of, lane } => only(self.get(*of)[*lane as usize]),
            OpKind::Any(a) => only(self.get(*a)[..width].iter().any(|&bits| bits != 0).into()),
            OpKind::Build(values) => {
                let mut lanes = [0; 16];
                for (lane, value) in lanes.iter_mut().zip(values) {
                    *lane = self.scalar(*value);
                }
                lanes
            }
            OpKind::Shuffle { a, b, pattern } => self.each(*a, |l| {
                let source = usize::from(pattern[l]);
                if source < width {
                    self.get(*a)[source]
                } else {
                    self.get(*b)[source - width]
                }
            }),
            OpKind::Load {
                mem,
                access,
                address,
                displacement,
                mask,
                invariant,
            } => {
                let mut lanes = [0; 16];
                let list = self.addresses(*access, *address, *displacement, *mask);
                for (lane, place) in list.into_iter().enumerate() {
                    if let Some(place) = place {
                        lanes[lane] = self.read(*mem, place, *invariant)?;
                    }
                }
                lanes
            }
            OpKind::Store {
                mem,
                access,
                address,
                displacement,
                mask,
                value,
            } => {
                let list = self.addresses(*access, *address, *displacement, *mask);
                let lanes = *self.get(*value);
                self.agree(*mem, &list, &lanes)?;
                for (lane, place) in list.into_iter().enumerate() {
                    if let Some(place) = place {
                        self.write(*mem, place, lanes[lane])?;
                    }
                }
                return Ok(());
            }
            OpKind::PrivateLoad {
                array,
                slot,
                offset,
            } => {
                let slot = self
                    .scalar(*slot)
                    .cast_signed()
                    .wrapping_add(i64::from(*offset));
                self.arrays.load(*array, slot)?
            }
            OpKind::PrivateStore {
                array,
                slot,
                offset,
                value,
            } => {
                let slot = self
                    .scalar(*slot)
                    .cast_signed()
                    .wrapping_add(i64::from(*offset));
                let lanes = *self.get(*value);
                return Ok(self.arrays.store(*array, slot, &lanes)?);
            }
            OpKind::PrivateAddress(array) => only(Arrays::address(*array)),
            OpKind::Loop {
                lower,
                upper,
                step,
                inits,
                body,
            } => {
                let args = &program.region(*body).args;
                let upper = self.scalar(*upper).cast_signed();
                let mut counter = self.scalar(*lower).cast_signed();
                let mut carries: Vec<Lanes> = inits.iter().map(|&value| *self.get(value)).collect();
                while counter < upper {
                    self.fuel = self.fuel.checked_sub(1).ok_or(Problem::OutOfFuel)?;
                    self.values[args[0].index()] = only(counter.cast_unsigned());
                    for (arg, lanes) in args[1..].iter().zip(&carries) {
                        self.values[arg.index()] = *lanes;
                    }
                    self.region(*body).map_err(Stop::Inside)?;
                    carries = self.yields(*body);
                    counter = match counter.checked_add(*step) {
                        Some(next) => next,
                        None => break,
                    };
                }
                self.set_all(op, carries);
                return Ok(());
            }
            OpKind::If {
                condition,
                then,
                otherwise,
            } => {
                let arm = if self.scalar(*condition) != 0 {
                    *then
                } else {
                    *otherwise
                };
                self.region(arm).map_err(Stop::Inside)?;
                let yields = self.yields(arm);
                self.set_all(op, yields);
                return Ok(());
            }
            OpKind::Call { function, args } => {
                let args: Vec<Lanes> = args.iter().map(|&value| *self.get(value)).collect();
                let results = self.call(*function, &args).map_err(Stop::Inside)?;
                self.set_all(op, results);
                return Ok(());
            }
            OpKind::Opaque { id, first, count } => {
                let (first, count) = (self.scalar(*first), self.scalar(*count));
                if let Some(hook) = &mut self.hook {
                    hook(*id, first, count, self.memory);
                }
                return Ok(());
            }
        };
        self.set(op, lanes);
        Ok(())
    }

    /// The address of each lane that takes part.
    fn addresses(
        &self,
        access: Access,
        address: Value,
        displacement: i32,
        mask: Option<Value>,
    ) -> [Option<(u64, u64)>; 16] {
        let start = self
            .scalar(address)
            .wrapping_add_signed(displacement.into());
        let width = self.program.lanes.get() as usize;
        std::array::from_fn(|lane| {
            let live = match access {
                Access::Scalar => lane == 0,
                Access::Contiguous { live } => lane < live as usize,
                Access::Strided { .. } | Access::Gather { .. } => lane < width,
            };
            let asked = mask.is_none_or(|mask| self.get(mask)[lane] != 0);
            (live && asked).then(|| match access {
                Access::Scalar => (start, 0),
                Access::Contiguous { .. } => (start, lane as u64),
                Access::Strided { stride } => {
                    let stride = self.scalar(stride);
                    (start.wrapping_add(stride.wrapping_mul(lane as u64)), 0)
                }
                Access::Gather { offsets } => (start.wrapping_add(self.get(offsets)[lane]), 0),
            })
        })
    }

    /// Lanes that share a byte must write one value.
    fn agree(
        &self,
        mem: MemElem,
        list: &[Option<(u64, u64)>; 16],
        lanes: &Lanes,
    ) -> Result<(), Problem> {
        let size = u64::from(mem.bytes());
        let place = |&(start, element): &(u64, u64)| start.wrapping_add(element * size);
        for (lane, one) in list.iter().enumerate() {
            for (other_lane, other) in list.iter().enumerate().take(lane) {
                if let (Some(one), Some(other)) = (one, other) {
                    let (one, other) = (place(one), place(other));
                    let same_value = lanes[lane] == lanes[other_lane];
                    if one.abs_diff(other) < size && !(one == other && same_value) {
                        return Err(Problem::LanesDisagree {
                            address: one.max(other),
                        });
                    }
                }
            }
        }
        Ok(())
    }

    fn read(&mut self, mem: MemElem, place: (u64, u64), invariant: bool) -> Result<u64, Problem> {
        let size = mem.bytes() as usize;
        let address = place.0.wrapping_add(place.1 * size as u64);
        let mut bytes = [0; 8];
        let slice = &mut bytes[..size];
        if let Some(read) = self.arrays.read(address, slice) {
            read?;
        } else if address >= SHARED {
            self.shared.read(address - SHARED, address, slice)?;
        } else if address >= WORKER {
            self.worker.read(address - WORKER, address, slice)?;
        } else {
            self.memory
                .read(address, slice)
                .map_err(Problem::StrayRead)?;
        }
        if invariant {
            for byte in address..address.wrapping_add(size as u64) {
                if self.written.contains(&byte) {
                    return Err(Problem::NotInvariant { address: byte });
                }
                self.invariant.insert(byte);
            }
        }
        Ok(u64::from_le_bytes(bytes))
    }

    fn write(&mut self, mem: MemElem, place: (u64, u64), bits: u64) -> Result<(), Problem> {
        let size = mem.bytes() as usize;
        let address = place.0.wrapping_add(place.1 * size as u64);
        let bytes = &bits.to_le_bytes()[..size];
        if let Some(written) = self.arrays.write(address, bytes) {
            written?;
        } else if address >= SHARED {
            self.shared.write(address - SHARED, address, bytes)?;
        } else if address >= WORKER {
            self.worker.write(address - WORKER, address, bytes)?;
        } else {
            self.memory
                .write(address, bytes)
                .map_err(Problem::StrayWrite)?;
        }
        for byte in address..address.wrapping_add(size as u64) {
            if self.invariant.contains(&byte) {
                return Err(Problem::NotInvariant { address: byte });
            }
            self.written.insert(byte);
        }
        Ok(())
    }
}

/// Why an operation stopped: by its own doing, or inside a region it owns.
enum Stop {
    Here(Problem),
    Inside(Fault),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Stop {
        Stop::Here(problem)
    }
}

fn collect_arrays(program: &Program, region: Region, list: &mut Vec<Array>) {
    for &op in &program.region(region).ops {
        let kind = &program.op(op).kind;
        if let OpKind::PrivateLoad { array, .. }
        | OpKind::PrivateStore { array, .. }
        | OpKind::PrivateAddress(array) = kind
        {
            list.push(*array);
        }
        kind.visit_regions(|inner| collect_arrays(program, inner, list));
    }
}
