//! The checker must notice: every field of every certificate of the corpus is changed in every way there is a name for, one
//! at a time, and `check` objects to each.
//!
//! The walk takes structures apart without `..`, so that a new field does not compile until it is walked too.

use crate::corpus_files::cases;
use fusion_legality::{
    AxisMatch, Certificate, Coordinate, ExtractMap, Interval, Later, OnceProof, Subject, Units,
    admit, check,
};
use tile_ir::{Axis, Op, Value};

/// Other values of a key or number: the neighbours, and one that is out of reach.
trait Others: Sized {
    fn others(&self) -> Vec<Self>;
}

fn neighbours(index: usize) -> Vec<usize> {
    let mut list = vec![index + 1, index + 1_000_000];
    list.extend(index.checked_sub(1));
    list
}

macro_rules! keys {
    ($($key:ty)*) => {$(
        impl Others for $key {
            fn others(&self) -> Vec<Self> {
                neighbours(self.index()).into_iter().map(<$key>::from_index).collect()
            }
        }
    )*};
}

keys!(Axis Op Value);

impl Others for usize {
    fn others(&self) -> Vec<usize> {
        neighbours(*self)
    }
}

impl Others for u32 {
    fn others(&self) -> Vec<u32> {
        vec![self + 1, self - 1, 0, u32::MAX]
    }
}

impl Others for u64 {
    fn others(&self) -> Vec<u64> {
        vec![self + 1, self - 1, 0, u64::MAX]
    }
}

impl Others for Subject {
    fn others(&self) -> Vec<Subject> {
        let (op, value) = match *self {
            Subject::Load(op) => (op, Value::from_index(op.index())),
            Subject::Expression(value) => (Op::from_index(value.index()), value),
        };
        let loads = op.others().into_iter().chain([op]).map(Subject::Load);
        let expressions = value
            .others()
            .into_iter()
            .chain([value])
            .map(Subject::Expression);
        loads
            .chain(expressions)
            .filter(|other| other != self)
            .collect()
    }
}

impl Others for Coordinate {
    fn others(&self) -> Vec<Coordinate> {
        match self {
            Coordinate::Zero => vec![Coordinate::Nest(0), Coordinate::Nest(1)],
            Coordinate::Nest(index) => index
                .others()
                .into_iter()
                .map(Coordinate::Nest)
                .chain([Coordinate::Zero])
                .collect(),
        }
    }
}

impl Others for AxisMatch {
    fn others(&self) -> Vec<AxisMatch> {
        let AxisMatch {
            tile_dim,
            reduction_dim,
            axis,
            extent,
        } = *self;
        let mut list = Vec::new();
        list.extend(
            tile_dim
                .others()
                .into_iter()
                .map(|tile_dim| AxisMatch { tile_dim, ..*self }),
        );
        list.extend(
            reduction_dim
                .others()
                .into_iter()
                .map(|reduction_dim| AxisMatch {
                    reduction_dim,
                    ..*self
                }),
        );
        list.extend(
            axis.others()
                .into_iter()
                .map(|axis| AxisMatch { axis, ..*self }),
        );
        list.extend(
            extent
                .others()
                .into_iter()
                .map(|extent| AxisMatch { extent, ..*self }),
        );
        list
    }
}

impl Others for ExtractMap {
    fn others(&self) -> Vec<ExtractMap> {
        let ExtractMap {
            extract,
            tile,
            coordinates,
        } = self.clone();
        let mut list = Vec::new();
        list.extend(extract.others().into_iter().map(|extract| ExtractMap {
            extract,
            ..self.clone()
        }));
        list.extend(tile.others().into_iter().map(|tile| ExtractMap {
            tile,
            ..self.clone()
        }));
        let lists = other_lists(&coordinates, Coordinate::Zero);
        list.extend(lists.into_iter().map(|coordinates| ExtractMap {
            coordinates,
            ..self.clone()
        }));
        list
    }
}

impl Others for Later {
    fn others(&self) -> Vec<Later> {
        match self {
            Later::Elide => vec![
                Later::SaveSnapshot(Vec::new()),
                Later::SaveSnapshot(vec![Op::from_index(0)]),
            ],
            Later::SaveSnapshot(consumers) => {
                let lists = other_lists(consumers, Op::from_index(0));
                lists
                    .into_iter()
                    .map(Later::SaveSnapshot)
                    .chain([Later::Elide])
                    .collect()
            }
        }
    }
}

/// A list with one element changed, dropped, doubled, exchanged with its neighbour, or added.
fn other_lists<T: Others + Clone + PartialEq>(list: &[T], extra: T) -> Vec<Vec<T>> {
    let mut lists = Vec::new();
    for place in 0..list.len() {
        for other in list[place].others() {
            let mut changed = list.to_vec();
            changed[place] = other;
            lists.push(changed);
        }
        let mut shorter = list.to_vec();
        shorter.remove(place);
        lists.push(shorter);
        let mut doubled = list.to_vec();
        doubled.insert(place, list[place].clone());
        lists.push(doubled);
        if place > 0 {
            let mut exchanged = list.to_vec();
            exchanged.swap(place - 1, place);
            lists.push(exchanged);
        }
    }
    let mut longer = list.to_vec();
    longer.push(extra);
    lists.push(longer);
    lists.retain(|changed| changed != list);
    lists
}

/// Every certificate that differs from this one in one place, with the name of the field.
fn mutations(original: &Certificate) -> Vec<(&'static str, Certificate)> {
    let Certificate {
        subject,
        value,
        reduction,
        chain,
        deferred,
        wrappers,
        axes,
        units: Units {
            tile,
            reduction: reduction_units,
        },
        extracts,
        interval: Interval { from, to, effects },
        once: OnceProof { points, elements },
        later,
    } = original.clone();
    let no_op = Op::from_index(0);
    let no_axis = AxisMatch {
        tile_dim: 0,
        reduction_dim: 0,
        axis: Axis::from_index(0),
        extent: 1,
    };
    let no_extract = ExtractMap {
        extract: no_op,
        tile: value,
        coordinates: Vec::new(),
    };
    let mut all = Vec::new();
    let mut change = |field, set: &mut dyn FnMut(&mut Certificate)| {
        let mut changed = original.clone();
        set(&mut changed);
        all.push((field, changed));
    };
    subject
        .others()
        .into_iter()
        .for_each(|new| change("subject", &mut |c| c.subject = new));
    value
        .others()
        .into_iter()
        .for_each(|new| change("value", &mut |c| c.value = new));
    reduction
        .others()
        .into_iter()
        .for_each(|new| change("reduction", &mut |c| c.reduction = new));
    for new in other_lists(&chain, no_op) {
        change("chain", &mut |c| c.chain.clone_from(&new));
    }
    for new in other_lists(&deferred, no_op) {
        change("deferred", &mut |c| c.deferred.clone_from(&new));
    }
    for new in other_lists(&wrappers, no_op) {
        change("wrappers", &mut |c| c.wrappers.clone_from(&new));
    }
    for new in other_lists(&axes, no_axis) {
        change("axes", &mut |c| c.axes.clone_from(&new));
    }
    for new in other_lists(&tile, 0) {
        change("units.tile", &mut |c| c.units.tile.clone_from(&new));
    }
    for new in other_lists(&reduction_units, 0) {
        change("units.reduction", &mut |c| {
            c.units.reduction.clone_from(&new)
        });
    }
    for new in other_lists(&extracts, no_extract.clone()) {
        change("extracts", &mut |c| c.extracts.clone_from(&new));
    }
    from.others()
        .into_iter()
        .for_each(|new| change("interval.from", &mut |c| c.interval.from = new));
    to.others()
        .into_iter()
        .for_each(|new| change("interval.to", &mut |c| c.interval.to = new));
    for new in other_lists(&effects, no_op) {
        change("interval.effects", &mut |c| {
            c.interval.effects.clone_from(&new)
        });
    }
    points
        .others()
        .into_iter()
        .for_each(|new| change("once.points", &mut |c| c.once.points = new));
    elements
        .others()
        .into_iter()
        .for_each(|new| change("once.elements", &mut |c| c.once.elements = new));
    for new in later.others() {
        change("later", &mut |c| c.later.clone_from(&new));
    }
    all
}

#[test]
fn check_objects_to_every_change_of_every_field() {
    let mut count = 0;
    for case in cases().iter().flat_map(|file| &file.cases) {
        let admission = admit(&case.kernel);
        for certificate in admission
            .candidates()
            .iter()
            .filter_map(|candidate| candidate.certificate())
        {
            assert_eq!(check(&case.kernel, certificate), Ok(()), "{}", case.name);
            for (field, changed) in mutations(certificate) {
                count += 1;
                assert_ne!(changed, *certificate, "{field} was not changed");
                let objection = check(&case.kernel, &changed);
                assert!(
                    objection.is_err(),
                    "{}: a change of {field} goes unnoticed: {changed:#?}",
                    case.name
                );
            }
        }
    }
    assert!(count > 2000, "only {count} changes were tried");
}

/// Certificates of one kernel held against every other: whatever they say, `check` answers, and mostly with an objection.
#[test]
fn check_answers_for_foreign_kernels() {
    let files = cases();
    let all: Vec<_> = files.iter().flat_map(|file| &file.cases).collect();
    let (mut accepted, mut refused) = (0, 0);
    for home in &all {
        let admission = admit(&home.kernel);
        for certificate in admission
            .candidates()
            .iter()
            .filter_map(|candidate| candidate.certificate())
        {
            for other in &all {
                match check(&other.kernel, certificate) {
                    Ok(()) => {
                        // Only a kernel that makes the very same certificate may accept it.
                        let own = admit(&other.kernel);
                        let made = own
                            .candidates()
                            .iter()
                            .any(|candidate| candidate.certificate() == Some(certificate));
                        assert!(
                            made,
                            "{} accepts a certificate of {}",
                            other.name, home.name
                        );
                        accepted += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(
        accepted > 0 && refused > accepted,
        "{accepted} accepted, {refused} refused"
    );
}
