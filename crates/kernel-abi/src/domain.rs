//! Which packets an entry point may be given.

/// An extent known to the compiler or read from the launch record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DomainExtent {
    /// Known.
    Fixed(u32),
    /// A word of the launch record.
    Word(u32),
}

/// The root domain of an entry point and how many of its programs share a packet.
///
/// There are `product(extents but the last) * ceil(last / programs_per_packet)` packets, numbered in row-major order; no
/// extents: one packet, one program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntryDomain {
    /// The extents, outermost first.
    pub extents: Vec<DomainExtent>,
    /// How many programs along the last extent share a packet, at least 1.
    pub programs_per_packet: u32,
}

impl EntryDomain {
    /// How many packets a launch with this record has; `None` if the count leaves 64 bits or a word is not in the record.
    pub fn packets(&self, record: &[u64]) -> Option<u64> {
        self.count(record, u64::from(self.programs_per_packet.max(1)))
    }

    /// How many programs a launch with this record has; `None` if the count leaves 64 bits or a word is not in the record.
    pub fn programs(&self, record: &[u64]) -> Option<u64> {
        self.count(record, 1)
    }

    fn count(&self, record: &[u64], per_packet: u64) -> Option<u64> {
        let mut product = Some(1u64);
        for (index, extent) in self.extents.iter().enumerate() {
            let extent = match *extent {
                DomainExtent::Fixed(extent) => u64::from(extent),
                DomainExtent::Word(word) => *record.get(word as usize)?,
            };
            if extent == 0 {
                return Some(0);
            }
            let is_last = index + 1 == self.extents.len();
            let count = if is_last {
                extent.div_ceil(per_packet)
            } else {
                extent
            };
            product = product.and_then(|product| product.checked_mul(count));
        }
        product
    }
}

#[cfg(test)]
mod tests {
    use super::{DomainExtent, EntryDomain};

    #[test]
    fn packets_are_counted_along_the_last_extent() {
        let domain = EntryDomain {
            extents: vec![DomainExtent::Word(1), DomainExtent::Fixed(17)],
            programs_per_packet: 8,
        };
        assert_eq!(domain.packets(&[0, 5]), Some(15));
        assert_eq!(domain.programs(&[0, 5]), Some(85));
        assert_eq!(domain.packets(&[0, 0]), Some(0));
        assert_eq!(domain.packets(&[0]), None);
        assert_eq!(domain.packets(&[0, u64::MAX]), None);
        let empty_then_huge = EntryDomain {
            extents: vec![
                DomainExtent::Fixed(u32::MAX),
                DomainExtent::Word(0),
                DomainExtent::Word(1),
            ],
            programs_per_packet: 1,
        };
        assert_eq!(empty_then_huge.packets(&[u64::MAX, 0]), Some(0));
        assert_eq!(empty_then_huge.packets(&[0, u64::MAX]), Some(0));
        let single = EntryDomain {
            extents: Vec::new(),
            programs_per_packet: 4,
        };
        assert_eq!(single.packets(&[]), Some(1));
    }
}
