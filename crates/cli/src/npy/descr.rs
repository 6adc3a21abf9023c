//! The `descr` entry of a header: which elements the array has.

use numerics::ElementType;

use crate::host_tensor::ByteOrder;

/// The element type and byte order of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descr {
    pub(super) element: ElementType,
    pub(super) order: ByteOrder,
}

/// The element type for `descr`; otherwise what the array has instead and what to do, in words.
pub(super) fn element_of(descr: &str) -> Result<Descr, Unsupported> {
    let (order, code) = match descr.as_bytes().first() {
        Some(b'<') => (ByteOrder::Little, &descr[1..]),
        Some(b'>') => (ByteOrder::Big, &descr[1..]),
        Some(b'|' | b'=') => (ByteOrder::NATIVE, &descr[1..]),
        Some(_) | None => (ByteOrder::NATIVE, descr),
    };
    let element = match code {
        "f2" => ElementType::F16,
        "f4" => ElementType::F32,
        "f8" => ElementType::F64,
        "i4" => ElementType::I32,
        "b1" | "?" => ElementType::Bool,
        other => return Err(unsupported(descr, other)),
    };
    Ok(Descr { element, order })
}

/// An element type that kernels don't have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unsupported {
    /// What stands in the file.
    pub(crate) descr: String,
    /// What numpy calls it.
    pub(crate) name: String,
    /// What to do about it.
    pub(crate) advice: String,
}

fn unsupported(descr: &str, code: &str) -> Unsupported {
    let kind = code.chars().next();
    let size = code.get(kind.map_or(0, char::len_utf8)..).unwrap_or("");
    let bits = size
        .parse::<u32>()
        .ok()
        .and_then(|bytes| bytes.checked_mul(8))
        .unwrap_or(0);
    let cast = |to: &str| format!("save it as `a.astype('{to}')`");
    let (name, advice) = match kind {
        Some('i') => (format!("int{bits}"), cast("int32")),
        Some('u') => (format!("uint{bits}"), cast("int32")),
        Some('f') => (format!("float{bits}"), cast("float64")),
        Some('c') => (
            format!("complex{bits}"),
            "save `a.real` and `a.imag` as two arrays".to_owned(),
        ),
        Some('S' | 'a' | 'U') => (
            "text".to_owned(),
            "kernels compute with numbers only".to_owned(),
        ),
        Some('O') => (
            "pickled Python objects".to_owned(),
            "save it as numbers, for example `a.astype('float32')`; pickles are never opened"
                .to_owned(),
        ),
        Some('M' | 'm') => ("dates or durations".to_owned(), cast("float64")),
        Some('V') => (
            "raw bytes".to_owned(),
            "numpy has no bf16: save bf16 tensors as .safetensors, or as `a.astype('float32')`"
                .to_owned(),
        ),
        Some(_) | None => ("no type numpy knows".to_owned(), cast("float32")),
    };
    Unsupported {
        descr: descr.to_owned(),
        name,
        advice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_codes_have_types_and_orders() {
        let of = |descr| element_of(descr).map(|found| (found.element, found.order));
        assert_eq!(of("<f4"), Ok((ElementType::F32, ByteOrder::Little)));
        assert_eq!(of(">f8"), Ok((ElementType::F64, ByteOrder::Big)));
        assert_eq!(of("<f2"), Ok((ElementType::F16, ByteOrder::Little)));
        assert_eq!(of(">i4"), Ok((ElementType::I32, ByteOrder::Big)));
        assert_eq!(of("|b1"), Ok((ElementType::Bool, ByteOrder::NATIVE)));
        assert_eq!(of("=f4"), Ok((ElementType::F32, ByteOrder::NATIVE)));
    }

    #[test]
    fn other_codes_are_refused_by_name() {
        let name = |descr| element_of(descr).unwrap_err().name;
        assert_eq!(name("<i8"), "int64");
        assert_eq!(name("|u1"), "uint8");
        assert_eq!(name("<f16"), "float128");
        assert_eq!(name("<c8"), "complex64");
        assert_eq!(name("|O"), "pickled Python objects");
        assert_eq!(name("<U7"), "text");
        assert_eq!(name("<V2"), "raw bytes");
        assert_eq!(name("<M8[ns]"), "dates or durations");
        for odd in ["", "<", "é4", "<é", "<i", "<i99999999999"] {
            assert!(element_of(odd).is_err(), "{odd}");
        }
    }
}
