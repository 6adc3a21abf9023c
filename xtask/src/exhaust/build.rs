//! A program of the vocabulary as a kernel.
//!
//! Both views are two elements wide, a row a program. What a reduction or an element read gives must be seen, but a store at
//! its place would be one more write between a load and its reader; so results are stored in a third buffer at the very end,
//! and loops carry the sum of theirs out.

use numerics::{ElementType, Scalar};
use tile_ir::{
    Axis, AxisData, BinaryOp, Dim, Kernel, OpKind, Param, ParamData, ParamKind, Policy, ReduceForm,
    ReduceOp, Region, Stride, Subscript, TileType, Value, Verified, ViewType,
};

use super::vocabulary::{Nest, Statement, Stored, View};

/// The width of a row of either view, and of every tile.
pub(crate) const WIDTH: u32 = 2;

/// Half a unit in the last place of 1: added to 1 it vanishes, added to itself first it doesn't.
pub(crate) const HALF_ULP: f32 = 1.0 / 16_777_216.0;

/// The kernel that a program says.
///
/// # Errors
/// The verifier's words, if it refuses the kernel: a mistake of this builder.
pub(crate) fn kernel(program: &[Statement]) -> Result<Verified, String> {
    tile_ir::verify(Builder::new(program).build()).map_err(|rejected| rejected.to_string())
}

/// How many results a program stores at its end.
pub(crate) fn count_results(program: &[Statement]) -> u32 {
    let mut in_loop = false;
    let mut count = 0;
    for statement in program {
        match statement {
            Statement::Loop => {
                in_loop = true;
                count += 1;
            }
            Statement::EndLoop => in_loop = false,
            Statement::Reduce(Nest::TwoCarries, _) if !in_loop => count += 2,
            Statement::Reduce(..) | Statement::Dot(..) | Statement::Element(_) if !in_loop => {
                count += 1
            }
            Statement::Reduce(..)
            | Statement::Dot(..)
            | Statement::Element(_)
            | Statement::Load(..)
            | Statement::Store(..)
            | Statement::Stage
            | Statement::Opaque
            | Statement::Square(_)
            | Statement::Add(..)
            | Statement::MapSquare(_) => {}
        }
    }
    count
}

struct Builder<'p> {
    program: &'p [Statement],
    kernel: Kernel,
    col: Axis,
    twice: Axis,
    /// A, B and the results.
    params: [Param; 3],
    nest: Region,
    /// Where statements are added.
    region: Region,
    tiles: Vec<Value>,
    results: Vec<Value>,
    constants: Constants,
}

struct Constants {
    zero: Value,
    one: Value,
    two: Value,
    init: Value,
    stored: Value,
}

/// What was there before a loop began.
struct Outside {
    tiles: usize,
    results: Vec<Value>,
    body: Region,
    carry: Value,
}

impl<'p> Builder<'p> {
    fn new(program: &'p [Statement]) -> Builder<'p> {
        let mut kernel = Kernel::new("k");
        let mut axis = |name: &str, extent| {
            kernel.add_axis(AxisData {
                name: name.to_owned(),
                extent,
                location: diagnostics::Location::None,
            })
        };
        let row = axis("row", None);
        let col = axis("col", Some(WIDTH));
        let slot = axis("slot", Some(count_results(program).max(1)));
        let twice = axis("twice", Some(2));
        let view = |second| {
            ParamKind::View(ViewType {
                element: ElementType::F32,
                dims: vec![row, second],
                strides: vec![Stride::Any, Stride::Fixed(1)],
                fill: Scalar::F32(0.25),
                mutable: true,
            })
        };
        let mut param = |name: &str, kind| {
            kernel.add_param(ParamData {
                name: name.to_owned(),
                kind,
                location: diagnostics::Location::None,
            })
        };
        let params = [
            param("a", view(col)),
            param("b", view(col)),
            param("results", view(slot)),
        ];
        let nest = kernel.add_region();
        let body = kernel.body();
        let root = OpKind::Parallel {
            axes: vec![row],
            body: nest,
        };
        kernel.add_op(body, root, Vec::new(), diagnostics::Location::None);
        kernel.add_arg(nest, integer(), None);
        let mut constant = |scalar: Scalar| {
            let ty = TileType::scalar(scalar.element());
            let op = kernel.add_op(
                nest,
                OpKind::Const(scalar),
                vec![ty],
                diagnostics::Location::None,
            );
            kernel.op(op).results[0]
        };
        let constants = Constants {
            zero: constant(Scalar::I32(0)),
            one: constant(Scalar::I32(1)),
            two: constant(Scalar::I32(2)),
            init: constant(Scalar::F32(HALF_ULP)),
            stored: constant(Scalar::F32(5.0)),
        };
        Builder {
            program,
            kernel,
            col,
            twice,
            params,
            nest,
            region: nest,
            tiles: Vec::new(),
            results: Vec::new(),
            constants,
        }
    }

    fn build(mut self) -> Kernel {
        let mut outside = None;
        for &statement in self.program {
            match statement {
                Statement::Loop => outside = Some(self.open_loop()),
                Statement::EndLoop => {
                    if let Some(outside) = outside.take() {
                        self.close_loop(outside);
                    }
                }
                statement => self.statement(statement),
            }
        }
        if let Some(outside) = outside {
            self.close_loop(outside);
        }
        let row = self.kernel.region(self.nest).args[0];
        for (slot, value) in std::mem::take(&mut self.results).into_iter().enumerate() {
            let slot = self.op(OpKind::Const(Scalar::I32(slot as i32)), integer());
            let at = vec![Subscript::At(row), Subscript::At(slot)];
            self.effect(OpKind::Store {
                view: self.params[2],
                at,
                value,
            });
        }
        self.kernel
    }

    fn op(&mut self, kind: OpKind, ty: TileType) -> Value {
        self.op_in(self.region, kind, ty)
    }

    fn op_in(&mut self, region: Region, kind: OpKind, ty: TileType) -> Value {
        let op = self
            .kernel
            .add_op(region, kind, vec![ty], diagnostics::Location::None);
        self.kernel.op(op).results[0]
    }

    fn effect(&mut self, kind: OpKind) {
        self.kernel
            .add_op(self.region, kind, Vec::new(), diagnostics::Location::None);
    }

    fn tile(&self) -> TileType {
        TileType {
            element: ElementType::F32,
            dims: vec![Dim::Axis(self.col)],
        }
    }

    fn subscripts(&self, origin: Option<Value>) -> Vec<Subscript> {
        let row = self.kernel.region(self.nest).args[0];
        vec![
            Subscript::At(row),
            Subscript::Window {
                origin,
                axis: self.col,
                step: 1,
            },
        ]
    }

    fn statement(&mut self, statement: Statement) {
        match statement {
            Statement::Load(view, origin) => {
                let origin = (origin != 0).then_some(self.constants.one);
                let kind = OpKind::Load {
                    view: self.view(view),
                    at: self.subscripts(origin),
                };
                let tile = self.op(kind, self.tile());
                self.tiles.push(tile);
            }
            Statement::Store(view, stored) => {
                let value = match stored {
                    Stored::Constant => self.constants.stored,
                    Stored::Tile(tile) => self.tiles[tile],
                };
                self.effect(OpKind::Store {
                    view: self.view(view),
                    at: self.subscripts(None),
                    value,
                });
            }
            Statement::Stage => self.effect(OpKind::Stage),
            Statement::Opaque => self.effect(OpKind::Opaque { id: 0 }),
            Statement::Square(tile) => self.make(BinaryOp::Mul, tile, tile),
            Statement::Add(a, b) => self.make(BinaryOp::Add, a, b),
            Statement::MapSquare(tile) => {
                let body = self.kernel.add_region();
                let dims = vec![Dim::Axis(self.col)];
                let result = self.op(OpKind::Map { dims, body }, self.tile());
                let c = self.kernel.add_arg(body, integer(), None);
                let element = self.element(body, self.tiles[tile], c);
                let square = self.op_in(
                    body,
                    OpKind::Binary(BinaryOp::Mul, element, element),
                    float(),
                );
                self.kernel.set_yields(body, vec![square]);
                self.tiles.push(result);
            }
            Statement::Reduce(nest, tile) => self.reduce(nest, self.tiles[tile]),
            Statement::Dot(a, b) => {
                let (a, b) = (self.tiles[a], self.tiles[b]);
                let result = self.reduction(
                    self.region,
                    Policy::Unordered,
                    &[Dim::Axis(self.col)],
                    |builder, body, args| {
                        let a = builder.element(body, a, args[0]);
                        let b = builder.element(body, b, args[0]);
                        builder.op_in(body, OpKind::Binary(BinaryOp::Mul, a, b), float())
                    },
                );
                self.results.push(result);
            }
            Statement::Element(tile) => {
                let result = self.element(self.region, self.tiles[tile], self.constants.zero);
                self.results.push(result);
            }
            Statement::Loop | Statement::EndLoop => {}
        }
    }

    fn view(&self, view: View) -> Param {
        match view {
            View::A => self.params[0],
            View::B => self.params[1],
        }
    }

    fn make(&mut self, op: BinaryOp, a: usize, b: usize) {
        let kind = OpKind::Binary(op, self.tiles[a], self.tiles[b]);
        let tile = self.op(kind, self.tile());
        self.tiles.push(tile);
    }

    fn element(&mut self, region: Region, tile: Value, at: Value) -> Value {
        self.op_in(region, OpKind::Extract { tile, at: vec![at] }, float())
    }

    /// A closed reduction of one carry in `region`.
    fn reduction(
        &mut self,
        region: Region,
        policy: Policy,
        dims: &[Dim],
        contribution: impl FnOnce(&mut Self, Region, &[Value]) -> Value,
    ) -> Value {
        let body = self.kernel.add_region();
        let kind = OpKind::Reduce {
            dims: dims.to_vec(),
            policy,
            form: ReduceForm::Closed(vec![ReduceOp::Add]),
            inits: vec![self.constants.init],
            body,
        };
        let result = self.op_in(region, kind, float());
        let args: Vec<Value> = dims
            .iter()
            .map(|_| self.kernel.add_arg(body, integer(), None))
            .collect();
        let contribution = contribution(self, body, &args);
        self.kernel.set_yields(body, vec![contribution]);
        result
    }

    fn reduce(&mut self, nest: Nest, tile: Value) {
        let col = [Dim::Axis(self.col)];
        let region = self.region;
        let plain = |builder: &mut Self, region, policy| {
            builder.reduction(region, policy, &col, |builder, body, args| {
                builder.element(body, tile, args[0])
            })
        };
        let result = match nest {
            Nest::Sum => plain(self, region, Policy::Unordered),
            Nest::Fold => plain(self, region, Policy::Fold),
            Nest::TreeOfSquares => {
                self.reduction(region, Policy::Tree, &col, |builder, body, args| {
                    let a = builder.element(body, tile, args[0]);
                    let b = builder.element(body, tile, args[0]);
                    builder.op_in(body, OpKind::Binary(BinaryOp::Mul, a, b), float())
                })
            }
            Nest::TileInBody => {
                self.reduction(region, Policy::Unordered, &col, |builder, body, args| {
                    let square = builder.op_in(
                        body,
                        OpKind::Binary(BinaryOp::Mul, tile, tile),
                        builder.tile(),
                    );
                    let a = builder.element(body, square, args[0]);
                    let b = builder.element(body, square, args[0]);
                    builder.op_in(body, OpKind::Binary(BinaryOp::Add, a, b), float())
                })
            }
            Nest::FixedElement => {
                let zero = self.constants.zero;
                self.reduction(region, Policy::Unordered, &col, |builder, body, _| {
                    builder.element(body, tile, zero)
                })
            }
            Nest::ExtraAxis => {
                let dims = [Dim::Axis(self.twice), col[0]];
                self.reduction(region, Policy::Unordered, &dims, |builder, body, args| {
                    builder.element(body, tile, args[1])
                })
            }
            Nest::TwoCarries => {
                self.two_carries(tile);
                return;
            }
            Nest::InUnitMap => self.in_map(Dim::Unit, plain),
            Nest::InMap => self.in_map(Dim::Axis(self.twice), plain),
        };
        self.results.push(result);
    }

    fn in_map(
        &mut self,
        dim: Dim,
        plain: impl FnOnce(&mut Self, Region, Policy) -> Value,
    ) -> Value {
        let body = self.kernel.add_region();
        let ty = TileType {
            element: ElementType::F32,
            dims: vec![dim],
        };
        let tile = self.op(
            OpKind::Map {
                dims: vec![dim],
                body,
            },
            ty,
        );
        self.kernel.add_arg(body, integer(), None);
        let sum = plain(self, body, Policy::Unordered);
        self.kernel.set_yields(body, vec![sum]);
        self.element(self.region, tile, self.constants.zero)
    }

    fn two_carries(&mut self, tile: Value) {
        let body = self.kernel.add_region();
        let kind = OpKind::Reduce {
            dims: vec![Dim::Axis(self.col)],
            policy: Policy::Unordered,
            form: ReduceForm::Closed(vec![ReduceOp::Add, ReduceOp::Max]),
            inits: vec![self.constants.init, self.constants.init],
            body,
        };
        let op = self.kernel.add_op(
            self.region,
            kind,
            vec![float(), float()],
            diagnostics::Location::None,
        );
        let c = self.kernel.add_arg(body, integer(), None);
        let element = self.element(body, tile, c);
        self.kernel.set_yields(body, vec![element, element]);
        self.results.extend(&self.kernel.op(op).results);
    }

    fn open_loop(&mut self) -> Outside {
        let body = self.kernel.add_region();
        let kind = OpKind::For {
            lower: self.constants.zero,
            upper: self.constants.two,
            inits: vec![self.constants.init],
            body,
        };
        let result = self.op(kind, float());
        self.results.push(result);
        self.kernel.add_arg(body, integer(), None);
        let carry = self.kernel.add_arg(body, float(), None);
        self.region = body;
        Outside {
            tiles: self.tiles.len(),
            results: std::mem::take(&mut self.results),
            body,
            carry,
        }
    }

    fn close_loop(&mut self, outside: Outside) {
        let mut carry = outside.carry;
        for result in std::mem::replace(&mut self.results, outside.results) {
            carry = self.op(OpKind::Binary(BinaryOp::Add, carry, result), float());
        }
        self.kernel.set_yields(outside.body, vec![carry]);
        self.tiles.truncate(outside.tiles);
        self.region = self.nest;
    }
}

fn float() -> TileType {
    TileType::scalar(ElementType::F32)
}

fn integer() -> TileType {
    TileType::scalar(ElementType::I32)
}
