//! Binding and launching: what fits runs, what doesn't is refused by name before a byte is written.
//!
//! The code is written by hand in Rust against the launch record, so these tests need no compiler.

#![allow(
    unsafe_code,
    reason = "entry points are written by hand, and raw views vouch for their memory"
)]

use std::sync::{Arc, Mutex};

use kernel_abi::{
    DomainExtent, EntryDomain, Executable, HOOK_CONTEXT_WORD, HOOK_WORD, Hook, ParamShape,
    RecordLayout, Workspaces,
};
use numerics::ElementType;
use runtime::{
    Argument, AxisSignature, BindError, Bound, ParamSignature, Signature, View, ViewError,
    ViewSignature, bind,
};

const LAYOUT: [ParamShape; 3] = [
    ParamShape::View { rank: 2 },
    ParamShape::View { rank: 2 },
    ParamShape::Scalar,
];

fn layout() -> RecordLayout {
    RecordLayout::new(&LAYOUT, 2)
}

/// `y[row, col] = x[row, col] * by`, one row a packet; calls the hook for each row.
unsafe extern "C" fn scale(
    record: *const u64,
    begin: u64,
    end: u64,
    worker: *mut u8,
    shared: *mut u8,
) {
    let layout = layout();
    // SAFETY: the record has this layout; `bind` checked every word.
    unsafe {
        let word = |index: u32| record.add(index as usize).read();
        let by = f32::from_bits(word(layout.param(2)) as u32);
        assert_eq!(worker as usize % 64, 0);
        assert_eq!(shared as usize % 64, 0);
        worker.write_bytes(0xff, 100);
        for row in begin..end {
            shared.add(row as usize * 8).write_bytes(0xff, 8);
            if word(HOOK_WORD) != 0 {
                let hook = std::mem::transmute::<usize, Hook>(word(HOOK_WORD) as usize);
                hook(word(HOOK_CONTEXT_WORD) as *mut _, 7, row, 1);
            }
            for col in 0..word(layout.axis(1)) {
                let at = |param: usize| {
                    let offset = (row * word(layout.stride(param, 0)))
                        .wrapping_add(col.wrapping_mul(word(layout.stride(param, 1))));
                    (word(layout.param(param)) as *mut u8).wrapping_add(offset as usize)
                };
                let x = at(0).cast::<f32>().read_unaligned();
                at(1).cast::<f32>().write_unaligned(x * by);
            }
        }
    }
}

fn executable() -> Executable {
    let domain = EntryDomain {
        extents: vec![DomainExtent::Word(layout().axis(0))],
        programs_per_packet: 1,
    };
    let workspaces = Workspaces {
        worker_bytes: 100,
        shared_bytes_per_packet: 8,
    };
    // SAFETY: `scale` reads and writes what its record describes, and is a function of this program.
    unsafe { Executable::new(vec![(scale, domain)], workspaces, Box::new(())) }
}

fn signature() -> Signature {
    let view = |mutable, strides| {
        ParamSignature::View(ViewSignature {
            element: ElementType::F32,
            axes: vec![0, 1],
            strides,
            mutable,
        })
    };
    Signature {
        kernel: "scale".into(),
        params: vec![
            ("x".into(), view(false, vec![None, None])),
            ("y".into(), view(true, vec![None, Some(1)])),
            ("by".into(), ParamSignature::Scalar(ElementType::F32)),
        ],
        axes: vec![
            AxisSignature {
                name: "row".into(),
                extent: None,
            },
            AxisSignature {
                name: "col".into(),
                extent: Some(3),
            },
        ],
        may_share: vec![(0, 1)],
        layout: layout(),
    }
}

fn bind_scale<'a>(arguments: Vec<(&str, Argument<'a>)>) -> Result<Bound<'a>, BindError> {
    let arguments = arguments
        .into_iter()
        .map(|(name, argument)| (name.to_owned(), argument))
        .collect();
    bind(&executable(), &signature(), arguments, &[])
}

fn dense<'a>(data: &'a [f32], rows: usize) -> Argument<'a> {
    View::new(data, &[rows, data.len() / rows.max(1)])
        .expect("a dense array")
        .into()
}

fn dense_mut<'a>(data: &'a mut [f32], rows: usize) -> Argument<'a> {
    let cols = data.len() / rows.max(1);
    View::new_mut(data, &[rows, cols])
        .expect("a dense array")
        .into()
}

#[test]
fn what_fits_runs_again_and_again() {
    let x = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let mut y = [0.0f32; 6];
    let mut bound = bind_scale(vec![
        ("by", 10.0.into()),
        ("x", dense(&x, 2)),
        ("y", dense_mut(&mut y, 2)),
    ])
    .expect("arguments that fit");
    bound.launch();
    bound.launch();
    assert_eq!(bound.packets(), [2]);
    drop(bound);
    assert_eq!(y, [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
}

#[test]
fn inputs_may_be_strided_in_any_way_and_unaligned() {
    // Transposed, reversed, and broadcast (P42, P43).
    let x = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let transposed = View::strided(&x, 0, &[2, 3], &[1, 2]).expect("inside");
    let reversed = View::strided(&x, 5, &[2, 3], &[-3, -1]).expect("inside");
    let broadcast = View::strided(&x[..1], 0, &[4, 3], &[0, 0]).expect("inside");
    // P63: data at odd addresses.
    let mut bytes = vec![0u8; 1];
    bytes.extend(x.iter().flat_map(|v| v.to_le_bytes()));
    let unaligned = View::from_bytes(&bytes[1..], ElementType::F32, &[2, 3]).expect("inside");
    for (view, expected) in [
        (transposed, vec![1.0, 3.0, 5.0, 2.0, 4.0, 6.0]),
        (reversed, vec![6.0, 5.0, 4.0, 3.0, 2.0, 1.0]),
        (broadcast, vec![1.0; 12]),
        (unaligned, x.to_vec()),
    ] {
        let mut y = vec![0.0f32; expected.len()];
        let rows = expected.len() / 3;
        bind_scale(vec![
            ("x", view.into()),
            ("y", dense_mut(&mut y, rows)),
            ("by", 1.0f32.into()),
        ])
        .expect("arguments that fit")
        .launch();
        assert_eq!(y, expected);
    }
}

#[test]
fn zero_extents_do_nothing() {
    let mut calls = 0;
    // SAFETY: there is no element behind the null pointers.
    let (x, y) = unsafe {
        (
            View::from_raw(std::ptr::null(), ElementType::F32, &[0, 3], &[3, 1]),
            View::from_raw_mut(std::ptr::null_mut(), ElementType::F32, &[0, 3], &[3, 1]),
        )
    };
    bind_scale(vec![
        ("x", x.expect("empty").into()),
        ("y", y.expect("empty").into()),
        ("by", 1.0.into()),
    ])
    .expect("an empty launch")
    .with_hook(|_, _, _| calls += 1)
    .launch();
    assert_eq!(calls, 0);
}

#[test]
fn an_output_may_be_the_input_where_programs_keep_to_their_own() {
    let mut data = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let start = data.as_mut_ptr().cast::<u8>();
    let views = |rows: usize| {
        // SAFETY: both views are bound to one call, which checks how they overlap.
        unsafe {
            (
                View::from_raw(start, ElementType::F32, &[rows, 3], &[3, 1]).expect("a view"),
                View::from_raw_mut(start, ElementType::F32, &[rows, 3], &[3, 1]).expect("a view"),
            )
        }
    };
    let (x, y) = views(2);
    let arguments = |x, y| {
        vec![
            ("x".to_owned(), Argument::View(x)),
            ("y".to_owned(), Argument::View(y)),
            ("by".to_owned(), 2.0.into()),
        ]
    };
    bind(&executable(), &signature(), arguments(x, y), &[])
        .expect("programs keep to their own")
        .launch();

    let mut crossing = signature();
    crossing.may_share.clear();
    let (x, y) = views(2);
    let refused = bind(&executable(), &crossing, arguments(x, y), &[]);
    let error = refused.expect_err("programs read what others write");
    assert!(
        matches!(error, BindError::SharedByPrograms { .. }),
        "{error}"
    );
    // One program alone sees only itself.
    let (x, y) = views(1);
    bind(&executable(), &crossing, arguments(x, y), &[])
        .expect("one program")
        .launch();
    assert_eq!(data, [4.0, 8.0, 12.0, 8.0, 10.0, 12.0]);
}

#[test]
fn p08_p10_p12_overlap_is_refused_before_anything_is_written() {
    let mut data = vec![1.0f32; 64];
    let before = data.clone();
    let start = data.as_mut_ptr().cast::<u8>();
    // SAFETY: the views lie in `data`; overlap is checked when they are bound.
    let raw = |at: usize, rows: usize, strides: [i64; 2]| unsafe {
        View::from_raw_mut(start.add(4 * at), ElementType::F32, &[rows, 3], &strides)
            .expect("a view")
    };
    // Shifted by a row; by an element; an output with stride 0; one whose rows overlap.
    for (x, y, itself) in [
        (raw(0, 4, [3, 1]), raw(3, 4, [3, 1]), false),
        (raw(0, 4, [3, 1]), raw(1, 4, [3, 1]), false),
        (raw(40, 4, [3, 1]), raw(0, 4, [0, 1]), true),
        (raw(40, 4, [3, 1]), raw(0, 4, [2, 1]), true),
    ] {
        let error = bind_scale(vec![("x", x.into()), ("y", y.into()), ("by", 2.0.into())])
            .expect_err("an overlap");
        match &error {
            BindError::Overlap { .. } => assert!(!itself),
            BindError::OverlapsItself { .. } => assert!(itself),
            _ => panic!("{error}"),
        }
        assert!(error.to_string().contains("`y`: f32[4, 3]"), "{error}");
    }
    // Columns of one matrix don't overlap.
    bind_scale(vec![
        ("x", raw(0, 4, [8, 1]).into()),
        ("y", raw(3, 4, [8, 1]).into()),
        ("by", 2.0.into()),
    ])
    .expect("different columns");
    assert_eq!(data, before);
}

#[test]
fn p44_sizes_are_counted_in_64_bits() {
    // Metadata only: nothing is touched.
    let large = 46_342usize * 46_341;
    // SAFETY: the views are only bound, never launched.
    let (x, y) = unsafe {
        let data = std::ptr::without_provenance_mut::<u8>(4096);
        (
            View::from_raw(data, ElementType::F32, &[46_342, 3], &[46_341, 1]).expect("it fits"),
            View::from_raw_mut(
                data.wrapping_add(4 * large),
                ElementType::F32,
                &[46_342, 3],
                &[46_341, 1],
            )
            .expect("it fits"),
        )
    };
    let bound =
        bind_scale(vec![("x", x.into()), ("y", y.into()), ("by", 2.0.into())]).expect("apart");
    let record = bound.record();
    assert_eq!(record[layout().stride(0, 0) as usize], 4 * 46_341);

    // SAFETY: as above.
    unsafe {
        let data = std::ptr::without_provenance::<u8>(4096);
        let too_far = View::from_raw(data, ElementType::F64, &[3, 3], &[1 << 60, 1]);
        assert!(matches!(too_far, Err(ViewError::TooLarge { .. })));
        let too_many = View::from_raw(data, ElementType::F32, &[1 << 31, 1], &[0, 1]);
        assert!(matches!(too_many, Err(ViewError::Extent { dim: 0, .. })));
        let null = View::from_raw(std::ptr::null(), ElementType::F32, &[1], &[1]);
        assert!(matches!(null, Err(ViewError::Null { .. })));
    }
    let data = [0.0f32; 6];
    assert!(matches!(
        View::new(&data, &[usize::MAX, usize::MAX]),
        Err(ViewError::Length { .. })
    ));
    let outside = View::strided(&data, 1, &[2, 3], &[3, 1]).expect_err("one too many");
    assert_eq!(
        outside.to_string(),
        "shape [2, 3] with strides [3, 1] covers bytes 4..28, and the data has 24; use a smaller shape or strides, or \
         another origin"
    );
    assert!(View::strided(&data, usize::MAX, &[1], &[1]).is_err());
    assert!(View::strided(&data, 0, &[2], &[-1]).is_err());
    assert!(View::from_bytes(&[0; 7], ElementType::F32, &[1]).is_err());
}

#[test]
fn mistakes_are_named() {
    let x = [1.0f32; 6];
    let doubles = [1.0f64; 6];
    let mut y = [9.0f32; 6];
    let mut longer = [9.0f32; 9];
    let mut wide = [9.0f32; 8];
    let mut cases: Vec<(Vec<(&str, Argument<'_>)>, &str)> = Vec::new();
    let y_pointer = y.as_mut_ptr().cast::<u8>();
    let good_y = || {
        // SAFETY: nothing is launched.
        Argument::View(unsafe {
            View::from_raw_mut(y_pointer, ElementType::F32, &[2, 3], &[3, 1]).expect("a view")
        })
    };
    cases.push((
        vec![("x", dense(&x, 2)), ("y", good_y())],
        "kernel `scale` needs `by`: f32, which is not given",
    ));
    cases.push((
        vec![("X", dense(&x, 2))],
        "kernel `scale` has no parameter `X`; its parameters are `x`, `y`, `by`",
    ));
    cases.push((
        vec![("x", dense(&x, 2)), ("x", dense(&x, 2))],
        "argument `x` is given twice; give it once",
    ));
    cases.push((
        vec![("x", 1.0.into()), ("y", good_y()), ("by", 1.0.into())],
        "parameter `x`: f32[row, col] is wanted, and it is given a number",
    ));
    cases.push((
        vec![("x", dense(&x, 2)), ("y", good_y()), ("by", dense(&x, 2))],
        "parameter `by`: f32 is wanted, and it is given an array",
    ));
    cases.push((
        vec![("x", dense(&x, 2)), ("y", good_y()), ("by", true.into())],
        "parameter `by` has type f32, which can't hold true; give a value of type f32",
    ));
    cases.push((
        vec![("x", dense(&x, 2)), ("y", good_y()), ("by", 1e300.into())],
        "parameter `by` has type f32, which can't hold 1e300; give a value of type f32",
    ));
    cases.push((
        vec![
            ("x", View::new(&doubles, &[2, 3]).expect("a view").into()),
            ("y", good_y()),
            ("by", 1.0.into()),
        ],
        "`x`: f64[2, 3] with strides [3, 1] is given where the kernel wants f32 elements; convert the data, or change \
         the parameter's type",
    ));
    cases.push((
        vec![("x", dense(&x, 2)), ("y", dense(&x, 2)), ("by", 1.0.into())],
        "`y`: f32[2, 3] with strides [3, 1] is read-only, and the kernel writes to it; give a mutable view",
    ));
    cases.push((
        vec![
            ("x", View::new(&x, &[6]).expect("a view").into()),
            ("y", good_y()),
            ("by", 1.0.into()),
        ],
        "`x`: f32[6] with strides [1] has 1 dimension where the kernel wants [row, col]; reshape it to 2 dimensions",
    ));
    cases.push((
        vec![("x", dense(&x, 3)), ("y", good_y()), ("by", 1.0.into())],
        "dimension 1 of `x`: f32[3, 2] with strides [2, 1] runs along axis `col`, which has extent 3; give 3 elements \
         there, or compile the kernel for 2",
    ));
    cases.push((
        vec![
            ("x", dense(&x, 2)),
            ("y", dense_mut(&mut longer, 3)),
            ("by", 1.0.into()),
        ],
        "axis `row` has extent 3 in dimension 0 of `y`: f32[3, 3] with strides [3, 1], but 2 in dimension 0 of `x`: \
         f32[2, 3] with strides [3, 1]; give both the same extent",
    ));
    cases.push((
        vec![
            ("x", dense(&x, 2)),
            (
                "y",
                View::strided_mut(&mut wide, 0, &[2, 3], &[1, 2])
                    .expect("a view")
                    .into(),
            ),
            ("by", 1.0.into()),
        ],
        "`y`: f32[2, 3] with strides [1, 2] has stride 2 in dimension 1 where the kernel wants 1; copy the data so that \
         neighbours there are 1 apart, or declare the parameter's strides as `*`",
    ));
    for (arguments, expected) in cases {
        let error = bind_scale(arguments).expect_err(expected);
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!((y, longer, wide), ([9.0; 6], [9.0; 9], [9.0; 8]));
}

#[test]
fn extents_by_name_must_agree() {
    let x = [1.0f32; 6];
    let mut y = [9.0f32; 6];
    let mut try_with = |given: &[(usize, u32)]| {
        let arguments = vec![
            ("x".to_owned(), dense(&x, 2)),
            ("y".to_owned(), dense_mut(&mut y, 2)),
            ("by".to_owned(), Argument::from(1.0)),
        ];
        bind(&executable(), &signature(), arguments, given).map(|_| ())
    };
    assert_eq!(try_with(&[(0, 2), (1, 3)]), Ok(()));
    assert!(matches!(
        try_with(&[(0, 3)]),
        Err(BindError::GivenExtentAndView {
            given: 3,
            dim: 0,
            ..
        })
    ));
    assert!(matches!(
        try_with(&[(1, 4)]),
        Err(BindError::GivenExtent {
            fixed: 3,
            given: 4,
            ..
        })
    ));
    assert!(matches!(
        try_with(&[(0, u32::MAX)]),
        Err(BindError::ExtentTooLarge { .. })
    ));
    assert!(matches!(
        try_with(&[(5, 1)]),
        Err(BindError::NoSuchAxis { axis: 5, .. })
    ));
    let mut open = signature();
    for (_, param) in &mut open.params {
        if let ParamSignature::View(view) = param {
            view.axes = vec![1, 1];
        }
    }
    let square = [1.0f32; 9];
    let mut out = [0.0f32; 9];
    let arguments = vec![
        ("x".to_owned(), dense(&square, 3)),
        ("y".to_owned(), dense_mut(&mut out, 3)),
        ("by".to_owned(), Argument::from(1.0)),
    ];
    let error = bind(&executable(), &open, arguments, &[]).expect_err("no view tells `row`");
    assert_eq!(
        error.to_string(),
        "nothing tells the extent of axis `row`; give it by name"
    );
}

#[test]
fn hooks_run_and_their_panics_come_out_after_the_launch() {
    let x = [1.0f32; 9];
    let mut y = [0.0f32; 9];
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = calls.clone();
    let mut bound = bind_scale(vec![
        ("x", dense(&x, 3)),
        ("y", dense_mut(&mut y, 3)),
        ("by", 2.0.into()),
    ])
    .expect("arguments that fit")
    .with_hook(move |id, first, count| {
        seen.lock().expect("a lock").push((id, first, count));
        assert!(first != 1, "the hook gives up");
    });
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| bound.launch()));
    assert!(result.is_err());
    drop(bound);
    assert_eq!(*calls.lock().expect("a lock"), [(7, 0, 1), (7, 1, 1)]);
    assert_eq!(y, [2.0; 9], "the outputs are written all the same");
}

#[test]
fn calls_move_between_threads() {
    let x = vec![1.0f32; 3000];
    let mut y = vec![0.0f32; 3000];
    let mut bound = bind_scale(vec![
        ("x", dense(&x, 1000)),
        ("y", dense_mut(&mut y, 1000)),
        ("by", 3.0.into()),
    ])
    .expect("arguments that fit");
    std::thread::scope(|scope| {
        scope.spawn(move || bound.launch());
    });
    assert_eq!(y, vec![3.0; 3000]);
}
