//! Loads and stores: where an element lies, and what is read or written there.

use super::*;

impl<'k, M: Meaning> Walker<'k, M> {
    pub(super) fn access(
        &mut self,
        environment: &mut Environment<M::Item>,
        op: Op,
        param: Param,
        at: &'k [Subscript],
    ) -> Done<Access> {
        let mut shape = Vec::new();
        let mut dims = Vec::with_capacity(at.len());
        for subscript in at {
            dims.push(match *subscript {
                Subscript::At(coordinate) => {
                    (i64::from(self.integer(environment, coordinate)?), 0, None)
                }
                Subscript::Window { origin, axis, step } => {
                    let origin = match origin {
                        Some(origin) => i64::from(self.integer(environment, origin)?),
                        None => 0,
                    };
                    shape.push(self.bound.extents[axis.index()]);
                    (origin, i64::from(step), Some(shape.len() - 1))
                }
            });
        }
        Ok(Access {
            op,
            param,
            dims,
            shape,
        })
    }

    pub(super) fn view(&self, param: Param) -> &BoundView {
        match &self.bound.params[param.index()] {
            BoundParam::View(view) => view,
            BoundParam::Scalar(_) => {
                panic!("a verified kernel accesses {param} as a view, which is a scalar")
            }
        }
    }

    /// The element of the buffer that element `index` of the tile stands for; `None` outside the view's bounds.
    pub(super) fn locate(&self, access: &Access, index: usize) -> Option<i64> {
        let view = self.view(access.param);
        let mut place = view.offset;
        for (&(origin, step, dim), &(extent, stride)) in access.dims.iter().zip(&view.dims) {
            let coordinate = match dim {
                None => origin,
                Some(dim) => {
                    let below: usize = access.shape[dim + 1..].iter().product();
                    origin + step * (index / below % access.shape[dim]) as i64
                }
            };
            if !(0..extent).contains(&coordinate) {
                return None;
            }
            place = place.wrapping_add(coordinate.wrapping_mul(stride));
        }
        Some(place)
    }

    pub(super) fn read(&mut self, access: &Access, index: usize) -> Done<M::Item> {
        let view = self.view(access.param);
        match self.locate(access, index) {
            None => Ok(self.meaning.constant(view.fill)),
            Some(place) => {
                let read = self.meaning.read(view.buffer, place, view.element);
                read.ok_or_else(|| self.stray(access, place))
            }
        }
    }

    pub(super) fn write(&mut self, access: &Access, index: usize, item: M::Item) -> Done<()> {
        let Some(place) = self.locate(access, index) else {
            return Ok(());
        };
        let view = self.view(access.param);
        let (buffer, element) = (view.buffer, view.element);
        let written = self.meaning.write(buffer, place, element, item);
        written.ok_or_else(|| self.stray(access, place))
    }

    #[cold]
    pub(super) fn stray(&self, access: &Access, element: i64) -> Box<InterpretError> {
        let param = self.kernel.param(access.param).name.clone();
        Box::new(InterpretError::StrayAccess {
            op: access.op,
            param,
            element,
        })
    }

    // ---- fused mode ----
}
