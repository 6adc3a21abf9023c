//! Where everything stands in a launch record.

/// The word with the address of the hook; 0 for none.
pub const HOOK_WORD: u32 = 0;

/// The word with the hook's context.
pub const HOOK_CONTEXT_WORD: u32 = 1;

/// Shape of one parameter in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamShape {
    /// A view of this rank.
    View {
        /// Number of dimensions.
        rank: u32,
    },
    /// A scalar.
    Scalar,
}

/// Where everything stands in a launch record; positions are in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordLayout {
    params: Vec<(u32, ParamShape)>,
    axes_at: u32,
    axes: u32,
}

impl RecordLayout {
    /// The layout for parameters in order and a number of axes.
    pub fn new(params: &[ParamShape], axes: u32) -> RecordLayout {
        let mut at = HOOK_CONTEXT_WORD + 1;
        let params = params
            .iter()
            .map(|&shape| {
                let word = at;
                at += match shape {
                    ParamShape::View { rank } => 1 + 2 * rank,
                    ParamShape::Scalar => 1,
                };
                (word, shape)
            })
            .collect();
        RecordLayout {
            params,
            axes_at: at,
            axes,
        }
    }

    /// The parameters' shapes, in order.
    pub fn params(&self) -> impl ExactSizeIterator<Item = ParamShape> + '_ {
        self.params.iter().map(|&(_, shape)| shape)
    }

    /// The base address of view parameter `param`, or the bits of scalar parameter `param`.
    pub fn param(&self, param: usize) -> u32 {
        self.params[param].0
    }

    /// The extent of dimension `dim` of view parameter `param`.
    pub fn extent(&self, param: usize, dim: usize) -> u32 {
        self.params[param].0 + 1 + 2 * dim as u32
    }

    /// The stride, in bytes, of dimension `dim` of view parameter `param`.
    pub fn stride(&self, param: usize, dim: usize) -> u32 {
        self.params[param].0 + 2 + 2 * dim as u32
    }

    /// The extent of axis `axis`.
    pub fn axis(&self, axis: usize) -> u32 {
        self.axes_at + axis as u32
    }

    /// Length of the record, in words.
    pub fn words(&self) -> u32 {
        self.axes_at + self.axes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_do_not_overlap() {
        let layout = RecordLayout::new(
            &[
                ParamShape::View { rank: 2 },
                ParamShape::Scalar,
                ParamShape::View { rank: 0 },
            ],
            3,
        );
        let mut words = vec![
            HOOK_WORD,
            HOOK_CONTEXT_WORD,
            layout.param(0),
            layout.extent(0, 0),
            layout.stride(0, 0),
            layout.extent(0, 1),
            layout.stride(0, 1),
        ];
        words.extend([
            layout.param(1),
            layout.param(2),
            layout.axis(0),
            layout.axis(1),
            layout.axis(2),
        ]);
        assert_eq!(words, (0..layout.words()).collect::<Vec<_>>());
    }
}
