//! Literals and the types they get.

use diagnostics::Span;
use numerics::{ElementType, Scalar};

use super::super::mistake::Mistake;
use super::super::syntax::{Expr, ExprKind};
use super::Elaborator;
use crate::kernel::TileType;
use crate::keys::Value;
use crate::ops::OpKind;

impl<'t> Elaborator<'t> {
    /// Makes an unsuffixed float literal of another float type, as its surroundings ask.
    pub(super) fn adopt(&mut self, expr: &Expr<'t>, value: Value, element: ElementType) {
        let ExprKind::Literal { text, negative } = expr.kind else {
            return;
        };
        let Some(op) = self.kernel.defining_op(value) else {
            return;
        };
        if element != ElementType::F64 || !is_plain_float(text) || self.is_poisoned(value) {
            return;
        }
        if let Some(scalar @ Scalar::F64(_)) =
            self.literal(text, negative, expr.span, Some(element))
        {
            self.kernel.op_mut(op).kind = OpKind::Const(scalar);
            self.kernel.value_mut(value).ty = TileType::scalar(element);
        }
    }

    pub(super) fn literal(
        &mut self,
        text: &str,
        negative: bool,
        span: Span,
        hint: Option<ElementType>,
    ) -> Option<Scalar> {
        let sign = if negative { "-" } else { "" };
        let wanted_float = if hint == Some(ElementType::F64) {
            ElementType::F64
        } else {
            ElementType::F32
        };
        let suffix = [ElementType::F32, ElementType::F64, ElementType::I32]
            .into_iter()
            .find(|element| text.len() > 3 && text.ends_with(element.name()));
        let (digits, element) = match (text, suffix) {
            ("true", _) => return Some(Scalar::Bool(true)),
            ("false", _) => return Some(Scalar::Bool(false)),
            // The sign of a NaN means nothing.
            ("nan", _) if wanted_float == ElementType::F64 => return Some(Scalar::F64(f64::NAN)),
            ("nan", _) => return Some(Scalar::F32(f32::NAN)),
            ("nan64", _) => return Some(Scalar::F64(f64::NAN)),
            ("inf", _) => ("inf", wanted_float),
            ("inf64", _) => ("inf", ElementType::F64),
            (_, Some(element)) => (&text[..text.len() - 3], element),
            (_, None) if is_plain_float(text) => (text, wanted_float),
            (_, None) => (text, ElementType::I32),
        };
        match Scalar::parse(&format!("{sign}{digits}"), element) {
            Ok(scalar) => Some(scalar),
            Err(error) => {
                let mut diagnostic = Mistake::BadNumber.says(error.to_string()).at(span);
                diagnostic = diagnostic.with_note("numbers are written `3`, `3i32`, `1.5`, `1e-5`, `2.0f64`; also `inf`, `nan`, `inf64`, `nan64`");
                self.report(diagnostic);
                None
            }
        }
    }

    /// Lets the literals among operands of one type adopt f64 where another operand has it.
    pub(super) fn adopt_all(&mut self, exprs: &[&Expr<'t>], values: &[Value]) {
        let is_f64 = |e: &Self| {
            values
                .iter()
                .any(|&v| e.kernel.ty(v).element == ElementType::F64)
        };
        if is_f64(self) {
            for (expr, &value) in exprs.iter().zip(values) {
                self.adopt(expr, value, ElementType::F64);
            }
        }
    }
}

fn is_plain_float(text: &str) -> bool {
    matches!(text, "inf" | "nan") || {
        let suffixed = ["f32", "f64", "i32"]
            .iter()
            .any(|suffix| text.ends_with(suffix));
        text.starts_with(|c: char| c.is_ascii_digit())
            && !suffixed
            && text.contains(['.', 'e', 'E'])
    }
}
