//! The dictionary in the header of an `.npy` file: `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
//!
//! It is the text of a Python literal. This reader takes the three entries in any order, with either kind of quotes and
//! any spacing, and nothing else.

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) descr: String,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<u64>,
}

/// Why a header can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HeaderError {
    #[error("the header is not a dictionary numpy writes: byte {at} should begin {expected}")]
    Malformed { at: usize, expected: &'static str },
    #[error("the header has no `{key}`")]
    Missing { key: &'static str },
    #[error("the header has `{key}` twice")]
    Twice { key: &'static str },
    #[error("the header has an entry `{key}`; numpy writes descr, fortran_order and shape")]
    UnknownKey { key: String },
    #[error("the shape has a negative extent, {extent}")]
    Negative { extent: String },
    #[error("the shape has an extent that leaves 64 bits, {extent}")]
    TooLarge { extent: String },
    #[error("the elements are records of several fields; save each field as an array of its own")]
    Record,
}

/// Reads the dictionary; `text` is the header without its prefix.
pub(super) fn parse(text: &[u8]) -> Result<Header, HeaderError> {
    let mut reader = Reader { text, at: 0 };
    let mut descr = None;
    let mut fortran_order = None;
    let mut shape = None;
    reader.expect(b'{', "`{`")?;
    while !reader.take(b'}') {
        let key = reader.string("a quoted key or `}`")?;
        reader.expect(b':', "`:`")?;
        match key.as_str() {
            "descr" => set(&mut descr, reader.descr()?, "descr")?,
            "fortran_order" => set(&mut fortran_order, reader.truth()?, "fortran_order")?,
            "shape" => set(&mut shape, reader.shape()?, "shape")?,
            _ => return Err(HeaderError::UnknownKey { key }),
        }
        if !reader.take(b',') {
            reader.expect(b'}', "`,` or `}`")?;
            break;
        }
    }
    reader.skip_spaces();
    if reader.at != text.len() {
        return Err(reader.malformed("nothing but spaces"));
    }
    Ok(Header {
        descr: descr.ok_or(HeaderError::Missing { key: "descr" })?,
        fortran_order: fortran_order.ok_or(HeaderError::Missing {
            key: "fortran_order",
        })?,
        shape: shape.ok_or(HeaderError::Missing { key: "shape" })?,
    })
}

fn set<T>(slot: &mut Option<T>, value: T, key: &'static str) -> Result<(), HeaderError> {
    match slot.replace(value) {
        Some(_) => Err(HeaderError::Twice { key }),
        None => Ok(()),
    }
}

struct Reader<'h> {
    text: &'h [u8],
    at: usize,
}

impl Reader<'_> {
    fn malformed(&self, expected: &'static str) -> HeaderError {
        HeaderError::Malformed {
            at: self.at,
            expected,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Steps over spaces, and over `byte` if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_spaces();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), HeaderError> {
        if self.take(byte) {
            Ok(())
        } else {
            Err(self.malformed(expected))
        }
    }

    /// A string without escapes, in single or double quotes.
    fn string(&mut self, expected: &'static str) -> Result<String, HeaderError> {
        self.skip_spaces();
        let start = self.at;
        let quote = self
            .peek()
            .filter(|byte| matches!(byte, b'\'' | b'"'))
            .ok_or_else(|| self.malformed(expected))?;
        let rest = &self.text[start + 1..];
        let length = rest
            .iter()
            .position(|byte| *byte == quote)
            .ok_or_else(|| self.malformed("a string that ends"))?;
        let content = &rest[..length];
        if content.contains(&b'\\') {
            return Err(self.malformed("a string without escapes"));
        }
        self.at = start + 1 + length + 1;
        Ok(String::from_utf8_lossy(content).into_owned())
    }

    fn descr(&mut self) -> Result<String, HeaderError> {
        self.skip_spaces();
        match self.peek() {
            Some(b'[' | b'(' | b'{') => Err(HeaderError::Record),
            Some(_) | None => self.string("a quoted element type"),
        }
    }

    fn truth(&mut self) -> Result<bool, HeaderError> {
        self.skip_spaces();
        for (word, truth) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(truth);
            }
        }
        Err(self.malformed("True or False"))
    }

    fn shape(&mut self) -> Result<Vec<u64>, HeaderError> {
        self.expect(b'(', "`(`")?;
        let mut shape = Vec::new();
        while !self.take(b')') {
            shape.push(self.extent()?);
            if !self.take(b',') {
                self.expect(b')', "`,` or `)`")?;
                if shape.len() == 1 {
                    // `(3)` is a number in Python, not a tuple.
                    self.at -= 1;
                    return Err(self.malformed("`,`"));
                }
                break;
            }
        }
        Ok(shape)
    }

    /// Digits, with the `L` that Python 2 put after long integers.
    fn extent(&mut self) -> Result<u64, HeaderError> {
        self.skip_spaces();
        let start = self.at;
        let negative = self.take(b'-');
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        let text = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
        if !text.ends_with(|last: char| last.is_ascii_digit()) {
            self.at = start;
            return Err(self.malformed("an extent or `)`"));
        }
        if negative {
            return Err(HeaderError::Negative { extent: text });
        }
        self.take(b'L');
        text.parse()
            .map_err(|_| HeaderError::TooLarge { extent: text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(shape: &[u64]) -> Header {
        Header {
            descr: "<f4".to_owned(),
            fortran_order: false,
            shape: shape.to_vec(),
        }
    }

    #[test]
    fn reads_what_numpy_writes() {
        for (text, shape) in [
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (), }     \n",
                &[][..],
            ),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n",
                &[3],
            ),
            (
                "{'shape': (0, 4), \"descr\": \"<f4\", 'fortran_order': False}",
                &[0, 4],
            ),
            (
                "{ 'descr' :'<f4','fortran_order':False,'shape':( 3L , 4L )}",
                &[3, 4],
            ),
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(header(shape)), "{text}");
        }
    }

    #[test]
    fn refuses_what_numpy_does_not_write() {
        let error = |text: &str| parse(text.as_bytes()).unwrap_err();
        assert_eq!(
            error(""),
            HeaderError::Malformed {
                at: 0,
                expected: "`{`"
            }
        );
        assert_eq!(
            error("{'descr': '<f4'}"),
            HeaderError::Missing {
                key: "fortran_order"
            }
        );
        assert_eq!(
            error("{'descr': '<f4', 'descr': '<f4'}"),
            HeaderError::Twice { key: "descr" }
        );
        assert_eq!(
            error("{'a': 1}"),
            HeaderError::UnknownKey {
                key: "a".to_owned()
            }
        );
        assert_eq!(error("{'descr': [('a', '<f4')]}"), HeaderError::Record);
        assert_eq!(
            error("{'shape': (-1,)}"),
            HeaderError::Negative {
                extent: "-1".to_owned()
            }
        );
        assert_eq!(
            error("{'shape': (3)}"),
            HeaderError::Malformed {
                at: 12,
                expected: "`,`"
            }
        );
        assert_eq!(
            error("{'shape': (99999999999999999999,)}"),
            HeaderError::TooLarge {
                extent: "99999999999999999999".to_owned()
            }
        );
        assert_eq!(
            error("{'fortran_order': Maybe}"),
            HeaderError::Malformed {
                at: 18,
                expected: "True or False"
            }
        );
    }

    #[test]
    fn mutated_headers_never_panic() {
        let good = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n";
        for cut in 0..good.len() {
            let _ = parse(&good[..cut]);
            for byte in [0, b'{', b'}', b'(', b')', b'\'', b'-', b'9', b',', 0xff] {
                let mut bytes = good.to_vec();
                bytes[cut] = byte;
                let _ = parse(&bytes);
            }
        }
    }
}
