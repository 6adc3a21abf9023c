//! Files as they come, and as they come broken.

use std::time::{Duration, Instant};

use numerics::ElementType;

use super::{NpyError, can_hold, read, write};
use crate::host_tensor::{Elements, HostTensor};

/// A file of version `major`.0 with this header and data.
fn file(major: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([major, 0]);
    match major {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn header(descr: &str, fortran_order: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}\n")
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// Reads bytes as a regular file and as a pipe; both must say the same.
fn read_both(bytes: &[u8]) -> Result<HostTensor, NpyError> {
    let as_file = read(&mut &bytes[..], Some(bytes.len() as u64));
    let as_pipe = read(&mut &bytes[..], None);
    assert_eq!(as_file.is_ok(), as_pipe.is_ok(), "{as_file:?} {as_pipe:?}");
    as_file
}

fn f32s(tensor: &HostTensor) -> &[f32] {
    match tensor.elements() {
        Elements::F32(values) => values,
        other => panic!("not f32: {other:?}"),
    }
}

#[test]
fn p58_every_version_and_rank_0_and_empty() {
    for major in [1, 2, 3] {
        let scalar =
            read_both(&file(major, &header("<f4", "False", "()"), &floats(&[2.5]))).unwrap();
        assert_eq!((scalar.shape(), f32s(&scalar)), (&[][..], &[2.5][..]));
        let empty = read_both(&file(major, &header("<f4", "False", "(0, 4)"), &[])).unwrap();
        assert_eq!((empty.shape(), f32s(&empty)), (&[0, 4][..], &[][..]));
        let three = read_both(&file(
            major,
            &header("<f4", "False", "(3,)"),
            &floats(&[1.0, 2.0, 3.0]),
        ))
        .unwrap();
        assert_eq!(
            (three.shape(), f32s(&three)),
            (&[3][..], &[1.0, 2.0, 3.0][..])
        );
    }
}

#[test]
fn p58_what_is_written_is_what_numpy_writes() {
    let scalar = HostTensor::from_c_order(vec![], Elements::F32(vec![2.5])).unwrap();
    let mut bytes = Vec::new();
    write(&scalar, &mut bytes).unwrap();
    assert_eq!(bytes.len(), 132);
    assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00\x76\x00");
    let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (), }";
    assert_eq!(&bytes[10..10 + text.len()], text.as_bytes());
    assert!(bytes[10 + text.len()..127].iter().all(|byte| *byte == b' '));
    assert_eq!(&bytes[127..], b"\n\x00\x00\x20\x40");

    let empty = HostTensor::from_c_order(vec![0, 4], Elements::F32(vec![])).unwrap();
    bytes.clear();
    write(&empty, &mut bytes).unwrap();
    assert_eq!(bytes.len(), 128);
}

#[test]
fn what_is_written_reads_back() {
    use half::f16;
    let tensors = [
        (
            vec![2, 3],
            Elements::F64(vec![
                1.0,
                -0.0,
                f64::NAN,
                f64::MIN_POSITIVE,
                4.0,
                f64::INFINITY,
            ]),
        ),
        (vec![3], Elements::I32(vec![i32::MIN, 0, i32::MAX])),
        (vec![1, 2], Elements::Bool(vec![true, false])),
        (
            vec![2, 1],
            Elements::F16(vec![f16::from_f32(0.5), f16::NEG_INFINITY]),
        ),
        // More than one chunk.
        (
            vec![40_000],
            Elements::F32((0..40_000).map(|n| n as f32).collect()),
        ),
    ];
    for (shape, elements) in tensors {
        let tensor = HostTensor::from_c_order(shape, elements).unwrap();
        let mut bytes = Vec::new();
        write(&tensor, &mut bytes).unwrap();
        let back = read_both(&bytes).unwrap();
        assert_eq!(back.shape(), tensor.shape());
        let all = |tensor: &HostTensor| {
            let mut bytes = Vec::new();
            tensor
                .elements()
                .little_endian_bytes(0..tensor.elements().len(), &mut bytes);
            bytes
        };
        assert_eq!(
            (back.element(), all(&back)),
            (tensor.element(), all(&tensor))
        );
    }
}

#[test]
fn bf16_has_no_npy_type() {
    assert!(can_hold(ElementType::BF16).is_err());
    let tensor = HostTensor::zeros(ElementType::BF16, &[2]).unwrap();
    let mut bytes = Vec::new();
    assert!(write(&tensor, &mut bytes).is_err());
    assert!(bytes.is_empty());
}

#[test]
fn p59_fortran_order() {
    let data = floats(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let tensor = read_both(&file(1, &header("<f4", "True", "(2, 3)"), &data)).unwrap();
    assert_eq!(
        (tensor.shape(), f32s(&tensor)),
        (&[2, 3][..], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0][..])
    );
}

#[test]
fn p60_big_endian() {
    let data = words(&[0x3fc0_0000, 0xc010_0000, 0x7f61_b1e6]);
    let tensor = read_both(&file(1, &header(">f4", "False", "(3,)"), &data)).unwrap();
    assert_eq!(f32s(&tensor), [1.5, -2.25, 3e38]);
}

#[test]
fn p61_a_header_is_not_believed() {
    let mut lies = b"\x93NUMPY\x02\x00".to_vec();
    lies.extend(0xffff_fff0_u32.to_le_bytes());
    let cases: [(&str, Vec<u8>, &str); 10] = [
        (
            "a",
            lies,
            "its header says it is 4294967280 bytes long; the file has 0 bytes after that",
        ),
        (
            "b",
            file(1, &header("<f4", "False", "(-1,)"), &[]),
            "the shape has a negative extent, -1",
        ),
        (
            "c",
            file(1, &header("<f4", "False", "(7,)"), &floats(&[0.0; 6])),
            "its shape [7] takes 28 bytes; the file has 24 bytes of data",
        ),
        (
            "d",
            file(9, "", &[]),
            "it is of .npy version 9.0; versions 1.0, 2.0 and 3.0 are known",
        ),
        (
            "e",
            vec![],
            "it is empty; an .npy file begins with the bytes \\x93NUMPY",
        ),
        (
            "f",
            b"\x93NUMP".to_vec(),
            "it ends after 5 bytes, within the header",
        ),
        (
            "too long",
            file(1, &header("<f4", "False", "(5,)"), &floats(&[0.0; 6])),
            "its shape [5] takes 20 bytes; the file has 24 bytes of data",
        ),
        (
            "terabytes",
            file(1, &header("<f4", "False", "(1000000, 1000000)"), &[0; 4]),
            "its shape [1000000, 1000000] takes 4000000000000 bytes; the file has 4 bytes of data",
        ),
        (
            "overflow",
            file(1, &header("<f4", "False", "(18446744073709551615, 2)"), &[]),
            "its shape [18446744073709551615, 2] has more elements than memory has addresses",
        ),
        (
            "text",
            b"row,col\n1,2\n".to_vec(),
            "it is not an .npy file: it does not begin with the bytes \\x93NUMPY",
        ),
    ];
    for (name, bytes, expected) in cases {
        let error = read_both(&bytes).map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), expected, "case {name}");
        let quickest = (0..5)
            .map(|_| {
                let start = Instant::now();
                let _ = read(&mut &bytes[..], Some(bytes.len() as u64));
                start.elapsed()
            })
            .min();
        assert!(
            quickest < Some(Duration::from_millis(10)),
            "case {name}: {quickest:?}"
        );
    }
}

#[test]
fn a_pipe_gets_memory_for_what_it_sends_only() {
    let bytes = file(
        1,
        &header("<f4", "False", "(1000000, 1000000)"),
        &floats(&[1.0; 3]),
    );
    let error = read(&mut &bytes[..], None).unwrap_err().to_string();
    assert_eq!(
        error,
        "its shape [1000000, 1000000] takes 4000000000000 bytes; the file has 12 bytes of data"
    );
    let mut lies = b"\x93NUMPY\x02\x00".to_vec();
    lies.extend(0xffff_fff0_u32.to_le_bytes());
    let error = read(&mut &lies[..], None).unwrap_err().to_string();
    assert_eq!(
        error,
        "its header says it is 4294967280 bytes long; headers of up to 65536 bytes are read"
    );
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let whole = file(
        2,
        &header("<f4", "False", "(2, 2)"),
        &floats(&[1.0, 2.0, 3.0, 4.0]),
    );
    assert!(read_both(&whole).is_ok());
    for length in 0..whole.len() {
        assert!(read_both(&whole[..length]).is_err(), "{length}");
    }
    let mut longer = whole;
    longer.push(0);
    assert!(read_both(&longer).is_err());
}

#[test]
fn any_changed_byte_is_read_or_refused() {
    let whole = file(
        1,
        &header("<f4", "True", "(2, 2)"),
        &floats(&[1.0, 2.0, 3.0, 4.0]),
    );
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            let _ = read_both(&bytes);
        }
    }
}
