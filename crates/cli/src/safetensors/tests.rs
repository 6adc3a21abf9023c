//! Files as they come, and as they come broken.

use std::fs::File;
use std::io::{Seek as _, Write as _};

use super::{SafetensorsError, read};
use crate::host_tensor::{Elements, HostTensor};

fn file(header: &str, data: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&(header.len() as u64).to_le_bytes())
        .unwrap();
    file.write_all(header.as_bytes()).unwrap();
    file.write_all(data).unwrap();
    file.rewind().unwrap();
    file
}

fn tensor(header: &str, data: &[u8], name: &str) -> Result<HostTensor, SafetensorsError> {
    read(&mut file(header, data), name)
}

/// Asking for any tensor, even one the file doesn't have, tells what is wrong with the file.
fn mistake(header: &str, data: &[u8]) -> String {
    let message = |name| {
        tensor(header, data, name)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(message("t"), message("no such tensor"));
    message("t")
}

fn f32s(tensor: &HostTensor) -> &[f32] {
    match tensor.elements() {
        Elements::F32(values) => values,
        other => panic!("not f32: {other:?}"),
    }
}

#[test]
fn p62_a_shape_larger_than_its_byte_range() {
    let of = |shape: &str, offsets: &str| {
        mistake(
            &format!(r#"{{"t":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#),
            &[0; 4],
        )
    };
    assert_eq!(
        of("[1000,1000]", "[0,4]"),
        "tensor `t` of type F32 and shape [1000, 1000] has data offsets [0, 4]: 4 bytes, but it takes 4000000 bytes"
    );
    assert_eq!(
        of("[1]", "[4,0]"),
        "tensor `t` has data offsets [4, 0], which run backwards"
    );
    assert_eq!(
        of("[1000001]", "[0,4000004]"),
        "tensor `t` ends at byte 4000004 of the data; the file has 4 bytes of data"
    );
    let negative = of("[1]", "[-4,0]");
    assert!(
        negative.starts_with("its header is wrong: tensor `t`: invalid value: integer `-4`"),
        "{negative}"
    );
    let three = of("[1]", "[0,4,8]");
    assert!(
        three.starts_with("its header is wrong: tensor `t`: "),
        "{three}"
    );
    let huge = of("[18446744073709551615,18446744073709551615]", "[0,4]");
    assert!(
        huge.ends_with("4 bytes, but it takes more than memory has addresses"),
        "{huge}"
    );
}

#[test]
fn p63_data_at_odd_addresses() {
    let data: Vec<u8> = [1.0f32, -2.0]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    for (name, length) in [("t", 54), ("tt", 55)] {
        let header = format!(r#"{{"{name}":{{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}}}"#);
        assert_eq!(header.len(), length);
        assert_eq!(f32s(&tensor(&header, &data, name).unwrap()), [1.0, -2.0]);
    }
}

#[test]
fn p64_duplicates_overlaps_holes_and_leftovers() {
    let twice = r#"{"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    let message = mistake(twice, &[0; 8]);
    assert!(
        message.starts_with("its header is wrong: tensor `t` stands there twice"),
        "{message}"
    );

    let overlap = r#"{"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"u":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    assert_eq!(
        mistake(overlap, &[0; 8]),
        "tensor `u` begins at byte 0 of the data, inside tensor `t`, which ends at 8"
    );

    let hole = r#"{"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"u":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}"#;
    assert_eq!(
        mistake(hole, &[0; 12]),
        "4 bytes before tensor `u` belong to no tensor: it begins at byte 8 of the data instead of 4"
    );

    let whole = r#"{"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    assert_eq!(
        mistake(whole, &[0; 8]),
        "the last 4 bytes of the file belong to no tensor"
    );
    assert_eq!(
        mistake(&format!(" {whole}"), &[0; 4]),
        "its header does not begin with `{`; is it a .safetensors file?"
    );

    let empty = r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"t":{"dtype":"F32","shape":[0,3],"data_offsets":[8,8]}}"#;
    assert_eq!(tensor(empty, &[0; 8], "t").unwrap().shape(), [0, 3]);
    let scalar = tensor(
        r#"{"t":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"__metadata__":{"format":"pt"}}  "#,
        &2.5f32.to_le_bytes(),
        "t",
    )
    .unwrap();
    assert_eq!((scalar.shape(), f32s(&scalar)), (&[][..], &[2.5][..]));
}

#[test]
fn lengths_are_held_against_the_file() {
    let mut short = tempfile::tempfile().unwrap();
    short.write_all(&[1, 2, 3]).unwrap();
    assert_eq!(
        read(&mut short, "t").map(|_| ()).unwrap_err().to_string(),
        "it has 3 bytes; a .safetensors file begins with the length of its header in 8 bytes"
    );
    let mut lies = tempfile::tempfile().unwrap();
    lies.write_all(&u64::MAX.to_le_bytes()).unwrap();
    lies.write_all(b"{}").unwrap();
    assert_eq!(
        read(&mut lies, "t").map(|_| ()).unwrap_err().to_string(),
        "its header says it is 18446744073709551615 bytes long; the file has 2 bytes after that"
    );
}

#[test]
fn every_known_type_is_read_and_others_are_refused_by_name() {
    let one = |dtype: &str, size: usize| {
        let header =
            format!(r#"{{"t":{{"dtype":"{dtype}","shape":[1],"data_offsets":[0,{size}]}}}}"#);
        tensor(&header, &vec![1; size], "t")
    };
    for (dtype, size) in [
        ("F32", 4),
        ("F64", 8),
        ("I32", 4),
        ("BOOL", 1),
        ("F16", 2),
        ("BF16", 2),
    ] {
        assert_eq!(one(dtype, size).unwrap().element().size(), size, "{dtype}");
    }
    let refused = one("I64", 8).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "tensor `t` has elements of type I64; kernels have F32, F64, I32, BOOL, F16 and BF16"
    );
    assert!(refused.advice().is_some());
}

#[test]
fn a_missing_tensor_is_answered_with_names() {
    let header = r#"{"norm.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let near = tensor(header, &[0; 4], "norm.wieght").unwrap_err();
    assert_eq!(
        near.advice().as_deref(),
        Some("a similar name: `norm.weight`")
    );
    let far = tensor(header, &[0; 4], "x").unwrap_err();
    assert_eq!(far.advice().as_deref(), Some("its 1 tensors: norm.weight"));
}

#[test]
fn any_changed_byte_is_read_or_refused() {
    let header = r#"{"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    for at in 0..header.len() {
        for bit in 0..7 {
            let mut bytes = header.as_bytes().to_vec();
            bytes[at] ^= 1 << bit;
            let _ = tensor(&String::from_utf8(bytes).unwrap(), &[0; 4], "t");
        }
    }
}
