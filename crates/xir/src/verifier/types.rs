//! Rules of types and lanes: what each operation takes and what it makes.

use super::{Rule, Violations};
use crate::keys::{Op, Region, Value};
use crate::ops::{
    Access, BinaryOp, CompareOp, Elem, MemElem, OpKind, Shape, Type, UnaryOp, Workspace,
};
use crate::program::Program;

pub(super) fn check(program: &Program, violations: &mut Violations) {
    for function in program.functions() {
        let body = program.function(function).body;
        Check {
            program,
            violations,
        }
        .region(body);
    }
}

/// A rule broken, and how.
type Broken = (Rule, String);

const I64: Type = Type::uniform(Elem::I64);

struct Check<'a> {
    program: &'a Program,
    violations: &'a mut Violations,
}

impl Check<'_> {
    fn region(&mut self, region: Region) {
        let program = self.program;
        for &op in &program.region(region).ops {
            self.op(op);
            program
                .op(op)
                .kind
                .visit_regions(|inner| self.region(inner));
        }
    }

    fn op(&mut self, op: Op) {
        let data = self.program.op(op);
        match self.results(&data.kind) {
            Ok(expected) => {
                if !data
                    .results
                    .iter()
                    .map(|&v| self.program.ty(v))
                    .eq(expected.iter().copied())
                {
                    let message = format!("this makes {}", names(&expected));
                    self.violations
                        .add_at(self.program, op, Rule::ResultTypes, message);
                }
            }
            Err((rule, message)) => self.violations.add_at(self.program, op, rule, message),
        }
    }

    /// The types of an operation's results, if its operands are right.
    fn results(&self, kind: &OpKind) -> Result<Vec<Type>, Broken> {
        let single = |ty: Type| Ok(vec![ty]);
        match kind {
            OpKind::Const(constant, shape) => single(Type {
                elem: constant.elem(),
                shape: *shape,
            }),
            OpKind::Record { elem, .. } => single(Type::uniform(*elem)),
            OpKind::WorkspaceAddress(Workspace::Worker | Workspace::Shared) => single(I64),
            OpKind::Unary(op, a) => {
                let ty = self.program.ty(*a);
                defined(unary_elements(*op), ty.elem)?;
                single(ty)
            }
            OpKind::Binary(op, a, b) => {
                let ty = self.same(&[*a, *b])?;
                defined(binary_elements(*op), ty.elem)?;
                single(ty)
            }
            OpKind::Compare(op, a, b) => {
                let ty = self.same(&[*a, *b])?;
                defined(compare_elements(*op), ty.elem)?;
                single(Type {
                    elem: Elem::Bool,
                    shape: ty.shape,
                })
            }
            OpKind::Select {
                condition,
                then,
                otherwise,
            } => {
                let ty = self.same(&[*then, *otherwise])?;
                let given = self.program.ty(*condition);
                defined(&[Elem::Bool], given.elem)?;
                if given.is_varying() && !ty.is_varying() {
                    let message = format!("{condition} is varying, what it selects is uniform");
                    return Err((Rule::OperandShape, message));
                }
                single(ty)
            }
            OpKind::Fma(a, b, c) => {
                let ty = self.same(&[*a, *b, *c])?;
                defined(FLOATS, ty.elem)?;
                single(ty)
            }
            OpKind::Convert(op, a) => {
                let ty = self.program.ty(*a);
                let (from, to) = op.types();
                defined(&[from], ty.elem)?;
                single(Type {
                    elem: to,
                    shape: ty.shape,
                })
            }
            OpKind::Splat(a) => {
                let ty = self.program.ty(*a);
                self.shape(*a, Shape::Uniform)?;
                single(Type::varying(ty.elem))
            }
            OpKind::LaneIndex => single(Type::varying(Elem::I32)),
            OpKind::Lane { of, lane } => {
                self.shape(*of, Shape::Varying)?;
                self.lanes(*lane < self.program.lanes.get(), || {
                    format!("there is no lane {lane}")
                })?;
                single(Type::uniform(self.program.ty(*of).elem))
            }
            OpKind::Any(a) => {
                self.is(*a, Type::varying(Elem::Bool))?;
                single(Type::uniform(Elem::Bool))
            }
            OpKind::Build(values) => {
                let count = values.len();
                self.lanes(count == self.width(), || format!("{count} lanes are given"))?;
                let ty = self.same(values)?;
                self.shape(values[0], Shape::Uniform)?;
                single(Type::varying(ty.elem))
            }
            OpKind::Shuffle { a, b, pattern } => {
                let ty = self.same(&[*a, *b])?;
                self.shape(*a, Shape::Varying)?;
                let fits = pattern
                    .iter()
                    .all(|&lane| usize::from(lane) < 2 * self.width());
                self.lanes(fits && pattern.len() == self.width(), || {
                    format!("the pattern {pattern:?} doesn't fit {} lanes", self.width())
                })?;
                single(ty)
            }
            OpKind::Load {
                mem,
                access,
                address,
                mask,
                ..
            } => single(self.access(*mem, *access, *address, *mask)?),
            OpKind::Store {
                mem,
                access,
                address,
                mask,
                value,
                ..
            } => {
                let ty = self.access(*mem, *access, *address, *mask)?;
                self.is(*value, ty)?;
                Ok(Vec::new())
            }
            OpKind::PrivateLoad { array, slot, .. } => {
                self.is(*slot, I64)?;
                let data = self.program.array(*array);
                single(Type {
                    elem: data.elem,
                    shape: data.shape,
                })
            }
            OpKind::PrivateStore {
                array, slot, value, ..
            } => {
                self.is(*slot, I64)?;
                let data = self.program.array(*array);
                self.is(
                    *value,
                    Type {
                        elem: data.elem,
                        shape: data.shape,
                    },
                )?;
                Ok(Vec::new())
            }
            OpKind::PrivateAddress(_) => single(I64),
            OpKind::Loop {
                lower,
                upper,
                step,
                inits,
                body,
            } => {
                self.is(*lower, I64)?;
                self.is(*upper, I64)?;
                if *step < 1 {
                    return Err((Rule::Step, format!("the step is {step}")));
                }
                let carries = self.types(inits);
                let mut expected = vec![I64];
                expected.extend(&carries);
                let data = self.program.region(*body);
                self.match_types(
                    Rule::RegionArguments,
                    "the body takes",
                    &data.args,
                    &expected,
                )?;
                self.match_types(Rule::Yields, "the body yields", &data.yields, &carries)?;
                Ok(carries)
            }
            OpKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.is(*condition, Type::uniform(Elem::Bool))?;
                let (then, otherwise) =
                    (self.program.region(*then), self.program.region(*otherwise));
                for arm in [then, otherwise] {
                    self.match_types(Rule::RegionArguments, "an arm takes", &arm.args, &[])?;
                }
                let results = self.types(&then.yields);
                let yields = &otherwise.yields;
                self.match_types(Rule::Yields, "the second arm yields", yields, &results)?;
                Ok(results)
            }
            OpKind::Call { function, args } => {
                let body = self.program.region(self.program.function(*function).body);
                let expected = self.types(&body.args);
                self.match_types(Rule::CallArguments, "the call gives", args, &expected)?;
                Ok(self.types(&body.yields))
            }
            OpKind::Opaque { first, count, .. } => {
                self.is(*first, I64)?;
                self.is(*count, I64)?;
                Ok(Vec::new())
            }
        }
    }

    /// The type that an access reads or writes.
    fn access(
        &self,
        mem: MemElem,
        access: Access,
        address: Value,
        mask: Option<Value>,
    ) -> Result<Type, Broken> {
        self.is(address, I64)?;
        match access {
            Access::Scalar => {}
            Access::Contiguous { live } => {
                if live == 0 || live > self.program.lanes.get() {
                    return Err((Rule::LiveLanes, format!("{live} lanes are live")));
                }
            }
            Access::Strided { stride } => self.is(stride, I64)?,
            Access::Gather { offsets } => self.is(offsets, Type::varying(Elem::I64))?,
        }
        let shape = access.shape();
        if let Some(mask) = mask {
            self.is(
                mask,
                Type {
                    elem: Elem::Bool,
                    shape,
                },
            )?;
        }
        Ok(Type {
            elem: mem.elem(),
            shape,
        })
    }

    fn width(&self) -> usize {
        self.program.lanes.get() as usize
    }

    fn types(&self, values: &[Value]) -> Vec<Type> {
        values.iter().map(|&value| self.program.ty(value)).collect()
    }

    /// The one type of all values, of which there is at least one.
    fn same(&self, values: &[Value]) -> Result<Type, Broken> {
        let types = self.types(values);
        if types.iter().any(|&ty| ty != types[0]) {
            return Err((
                Rule::OperandTypes,
                format!("the operands are {}", names(&types)),
            ));
        }
        Ok(types[0])
    }

    fn is(&self, value: Value, expected: Type) -> Result<(), Broken> {
        let ty = self.program.ty(value);
        if ty.elem != expected.elem {
            let message = format!("{value} is {ty}, not {expected}");
            return Err((Rule::OperandElement, message));
        }
        self.shape(value, expected.shape)
    }

    fn shape(&self, value: Value, expected: Shape) -> Result<(), Broken> {
        match (self.program.ty(value).shape, expected) {
            (Shape::Uniform, Shape::Uniform) | (Shape::Varying, Shape::Varying) => Ok(()),
            (Shape::Varying, Shape::Uniform) => Err((
                Rule::OperandShape,
                format!("{value} is varying, not uniform"),
            )),
            (Shape::Uniform, Shape::Varying) => Err((
                Rule::OperandShape,
                format!("{value} is uniform, not varying"),
            )),
        }
    }

    fn lanes(&self, fits: bool, message: impl FnOnce() -> String) -> Result<(), Broken> {
        if fits {
            Ok(())
        } else {
            Err((Rule::Lanes, message()))
        }
    }

    fn match_types(
        &self,
        rule: Rule,
        what: &str,
        values: &[Value],
        expected: &[Type],
    ) -> Result<(), Broken> {
        let types = self.types(values);
        if types == expected {
            return Ok(());
        }
        Err((
            rule,
            format!("{what} {}, not {}", names(&types), names(expected)),
        ))
    }
}

const FLOATS: &[Elem] = &[Elem::F32, Elem::F64];
const INTEGERS: &[Elem] = &[Elem::I32, Elem::I64];
const NUMBERS: &[Elem] = &[Elem::F32, Elem::F64, Elem::I32, Elem::I64];
const BITS: &[Elem] = &[Elem::I32, Elem::I64, Elem::Bool];
const ANY: &[Elem] = &[Elem::F32, Elem::F64, Elem::I32, Elem::I64, Elem::Bool];

/// The elements an operation of one operand is defined on.
fn unary_elements(op: UnaryOp) -> &'static [Elem] {
    match op {
        UnaryOp::Neg | UnaryOp::Abs => NUMBERS,
        UnaryOp::Sqrt | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::Nearest => {
            FLOATS
        }
        UnaryOp::Not => BITS,
    }
}

/// The elements an operation of two operands is defined on.
fn binary_elements(op: BinaryOp) -> &'static [Elem] {
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => NUMBERS,
        BinaryOp::Min | BinaryOp::Max => NUMBERS,
        BinaryOp::Rem | BinaryOp::Shl | BinaryOp::ShrS | BinaryOp::ShrU => INTEGERS,
        BinaryOp::CopySign => FLOATS,
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => BITS,
    }
}

/// The elements a comparison is defined on.
fn compare_elements(op: CompareOp) -> &'static [Elem] {
    match op {
        CompareOp::Eq | CompareOp::Ne => ANY,
        CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => NUMBERS,
    }
}

fn defined(on: &[Elem], elem: Elem) -> Result<(), Broken> {
    if on.contains(&elem) {
        return Ok(());
    }
    let list: Vec<&str> = on.iter().map(|elem| elem.name()).collect();
    Err((
        Rule::OperandElement,
        format!("this is defined on {}, not {elem}", list.join(", ")),
    ))
}

fn names(types: &[Type]) -> String {
    let list: Vec<String> = types.iter().map(Type::to_string).collect();
    format!("({})", list.join(", "))
}
