//! Parameters and axes.

use diagnostics::Span;
use hashbrown::HashMap;
use numerics::{ElementType, Scalar};

use super::super::mistake::Mistake;
use super::super::syntax::{Expr, ExprKind, KernelSyntax, Name, ViewSyntax};
use super::{Elaborator, Meaning};
use crate::kernel::{AxisData, ParamData, ParamKind, Stride, ViewType, default_strides};
use crate::keys::Axis;

impl<'t> Elaborator<'t> {
    pub(super) fn head(&mut self, syntax: &KernelSyntax<'t>) {
        for param in &syntax.params {
            let kind = match &param.view {
                None => ParamKind::Scalar(param.element),
                Some(view) => ParamKind::View(self.view(param.element, view)),
            };
            let data = ParamData {
                name: param.name.text.to_owned(),
                kind,
                location: param.name.span.into(),
            };
            let key = self.kernel.add_param(data);
            // Two parameters of one name are the verifier's business.
            if !self.names.contains_key(param.name.text) {
                self.define(param.name, Meaning::Param(key));
            }
        }
        let mut listed: HashMap<&str, Span> = HashMap::new();
        for axis in &syntax.axes {
            let key = self.declare(axis.name);
            if let Some(first) = listed.insert(axis.name.text, axis.name.span) {
                let diagnostic = Mistake::AxisGivenTwice
                    .says(format!("`where` names axis `{}` twice", axis.name.text))
                    .at(axis.name.span)
                    .with_secondary(first, "first here");
                self.report(diagnostic);
            } else if let Some(extent) = axis.extent {
                self.kernel.set_extent(key, extent);
                self.kernel.axis_mut(key).location = axis.name.span.into();
            }
        }
    }

    fn declare(&mut self, name: Name<'t>) -> Axis {
        if let Some(&axis) = self.axes.get(name.text) {
            return axis;
        }
        let data = AxisData {
            name: name.text.to_owned(),
            extent: None,
            location: name.span.into(),
        };
        let axis = self.kernel.add_axis(data);
        self.axes.insert(name.text, axis);
        axis
    }

    fn view(&mut self, element: ElementType, view: &ViewSyntax<'t>) -> ViewType {
        let dims: Vec<Axis> = view.dims.iter().map(|&name| self.declare(name)).collect();
        let strides = match &view.strides {
            Some(list) => {
                let stride = |s: &Option<i64>| s.map_or(Stride::Any, Stride::Fixed);
                list.iter().map(stride).collect()
            }
            None => default_strides(dims.len()),
        };
        let wanted = element.compute_type();
        let fill = match &view.fill {
            None => Scalar::zero(element),
            Some(Expr {
                kind: ExprKind::Literal { text, negative },
                span,
            }) => {
                let hint = Some(wanted);
                self.literal(text, *negative, *span, hint)
                    .unwrap_or(Scalar::zero(element))
            }
            Some(other) => {
                if !matches!(other.kind, ExprKind::Wrong) {
                    let diagnostic = Mistake::Syntax
                        .says("the fill value is a literal")
                        .at(other.span);
                    self.report(diagnostic);
                }
                Scalar::zero(element)
            }
        };
        ViewType {
            element,
            dims,
            strides,
            fill,
            mutable: view.mutable,
        }
    }
}
