//! The header of a `.safetensors` file, and whether it describes the file.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use crate::host_tensor::element_count;

/// The longest header that is read, in bytes: what the format's own tools allow.
const HEADER_LIMIT: u64 = 100_000_000;

/// The key of the entry that is no tensor.
const METADATA: &str = "__metadata__";

/// A header that describes its file.
///
/// Invariant **seated**: names are unique; the data of the tensors, in order of place, covers the rest of the file without
/// gap or overlap; each has the size its shape and type say, where the type is a known one.
#[derive(Debug)]
pub(super) struct Header {
    entries: BTreeMap<String, Entry>,
    /// Where the data begins, in bytes from the start of the file.
    pub(super) data_start: u64,
}

/// One tensor.
#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Entry {
    pub(super) dtype: String,
    pub(super) shape: Vec<usize>,
    #[serde(rename = "data_offsets")]
    offsets: (u64, u64),
    #[serde(skip)]
    pub(super) begin: u64,
    #[serde(skip)]
    pub(super) end: u64,
}

/// Why a header does not describe its file. Offsets are in bytes from the start of the data.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HeaderError {
    #[error(
        "it has {found} bytes; a .safetensors file begins with the length of its header in 8 bytes"
    )]
    Short { found: u64 },
    #[error("its header says it is {length} bytes long; the file has {rest} bytes after that")]
    BeyondFile { length: u64, rest: u64 },
    #[error(
        "its header says it is {length} bytes long; headers of up to {HEADER_LIMIT} bytes are read"
    )]
    TooLong { length: u64 },
    #[error("its header does not begin with `{{`; is it a .safetensors file?")]
    Start,
    #[error("its header is not UTF-8 from byte {at} on")]
    Encoding { at: usize },
    #[error("its header is wrong: {0}")]
    Json(#[from] serde_json::Error),
    #[error("tensor `{name}` has data offsets [{begin}, {end}], which run backwards")]
    Backwards { name: String, begin: u64, end: u64 },
    #[error(
        "tensor `{name}` of type {dtype} and shape {shape:?} has data offsets [{begin}, {end}]: {found} bytes, but it takes {expected}"
    )]
    Size {
        name: String,
        dtype: String,
        shape: Vec<usize>,
        begin: u64,
        end: u64,
        found: u64,
        expected: String,
    },
    #[error("tensor `{name}` ends at byte {end} of the data; the file has {length} bytes of data")]
    BeyondData { name: String, end: u64, length: u64 },
    #[error(
        "tensor `{name}` begins at byte {begin} of the data, inside tensor `{other}`, which ends at {end}"
    )]
    Overlap {
        name: String,
        begin: u64,
        other: String,
        end: u64,
    },
    #[error("{} bytes before tensor `{name}` belong to no tensor: it begins at byte {begin} of the data instead of {end}", begin - end)]
    Hole { name: String, begin: u64, end: u64 },
    #[error("the last {} bytes of the file belong to no tensor", length - end)]
    Trailing { end: u64, length: u64 },
    #[error("reading failed: {0}")]
    Read(#[from] io::Error),
}

impl Header {
    /// Reads the header of a regular file and checks it against the file's size.
    pub(super) fn read(file: &mut File) -> Result<Header, HeaderError> {
        let size = file.metadata()?.len();
        let mut prefix = [0; 8];
        if size < prefix.len() as u64 {
            return Err(HeaderError::Short { found: size });
        }
        file.seek(SeekFrom::Start(0))?;
        file.read_exact(&mut prefix)?;
        let length = u64::from_le_bytes(prefix);
        let rest = size - prefix.len() as u64;
        if length > rest {
            return Err(HeaderError::BeyondFile { length, rest });
        }
        if length > HEADER_LIMIT {
            return Err(HeaderError::TooLong { length });
        }
        let mut text =
            vec![0; usize::try_from(length).map_err(|_| HeaderError::TooLong { length })?];
        file.read_exact(&mut text)?;
        if text.first() != Some(&b'{') {
            return Err(HeaderError::Start);
        }
        let text = str::from_utf8(&text).map_err(|error| HeaderError::Encoding {
            at: error.valid_up_to(),
        })?;
        let Entries(mut entries) = serde_json::from_str(text)?;
        check(&mut entries, rest - length)?;
        Ok(Header {
            entries,
            data_start: prefix.len() as u64 + length,
        })
    }

    /// The tensor of this name.
    pub(super) fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// Every tensor's name, sorted.
    pub(super) fn names(&self) -> Vec<&str> {
        self.entries.keys().map(String::as_str).collect()
    }
}

/// Seats every tensor in the `length` bytes of data.
fn check(entries: &mut BTreeMap<String, Entry>, length: u64) -> Result<(), HeaderError> {
    for (name, entry) in entries.iter_mut() {
        let (begin, end) = entry.offsets;
        if end < begin {
            return Err(HeaderError::Backwards {
                name: name.clone(),
                begin,
                end,
            });
        }
        if let Some(bits) = bits_of(&entry.dtype) {
            let bits =
                element_count(&entry.shape).and_then(|count| (count as u128).checked_mul(bits));
            let found = end - begin;
            if bits != Some(u128::from(found) * 8) {
                let expected = match bits {
                    Some(bits) => format!("{} bytes", bits.div_ceil(8)),
                    None => "more than memory has addresses".to_owned(),
                };
                let (dtype, shape) = (entry.dtype.clone(), entry.shape.clone());
                return Err(HeaderError::Size {
                    name: name.clone(),
                    dtype,
                    shape,
                    begin,
                    end,
                    found,
                    expected,
                });
            }
        }
        if end > length {
            return Err(HeaderError::BeyondData {
                name: name.clone(),
                end,
                length,
            });
        }
        (entry.begin, entry.end) = (begin, end);
    }

    let mut in_place: Vec<(&String, &Entry)> = entries.iter().collect();
    in_place.sort_by_key(|(name, entry)| (entry.begin, entry.end, *name));
    let mut covered = 0;
    let mut last = "";
    for (name, entry) in in_place {
        let begin = entry.begin;
        if begin < covered {
            return Err(HeaderError::Overlap {
                name: name.clone(),
                begin,
                other: last.to_owned(),
                end: covered,
            });
        }
        if begin > covered {
            return Err(HeaderError::Hole {
                name: name.clone(),
                begin,
                end: covered,
            });
        }
        covered = entry.end;
        last = name;
    }
    if covered < length {
        return Err(HeaderError::Trailing {
            end: covered,
            length,
        });
    }
    Ok(())
}

/// Bits of one element of a type the format knows.
fn bits_of(dtype: &str) -> Option<u128> {
    match dtype {
        "F4" => Some(4),
        "F6_E2M3" | "F6_E3M2" => Some(6),
        "BOOL" | "U8" | "I8" | "F8_E5M2" | "F8_E4M3" | "F8_E8M0" => Some(8),
        "I16" | "U16" | "F16" | "BF16" => Some(16),
        "I32" | "U32" | "F32" => Some(32),
        "I64" | "U64" | "F64" | "C64" => Some(64),
        _ => None,
    }
}

/// The tensors of the JSON object. A second entry of one name is an error, where a map would keep the last.
struct Entries(BTreeMap<String, Entry>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        struct EntriesVisitor;

        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Entries;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = BTreeMap::new();
                let mut has_metadata = false;
                while let Some(name) = map.next_key::<String>()? {
                    let twice = if name == METADATA {
                        let found = map.next_value::<BTreeMap<String, String>>();
                        found.map_err(|error| {
                            A::Error::custom(format_args!("{METADATA}: {error}"))
                        })?;
                        std::mem::replace(&mut has_metadata, true)
                    } else {
                        let entry = map.next_value::<Entry>();
                        let entry = entry.map_err(|error| {
                            A::Error::custom(format_args!("tensor `{name}`: {error}"))
                        })?;
                        entries.insert(name.clone(), entry).is_some()
                    };
                    if twice {
                        return Err(A::Error::custom(format_args!(
                            "tensor `{name}` stands there twice"
                        )));
                    }
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(EntriesVisitor)
    }
}
