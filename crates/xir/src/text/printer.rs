//! A program as text: `Display` of `Program`, and single operations for messages.

use std::fmt::{self, Display, Formatter, Write};

use crate::keys::{Op, Region, Value};
use crate::ops::{Access, Constant, OpKind};
use crate::program::{Entry, Extent, Inlining, Program, Space};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "program {} lanes {} {{",
            Name(&self.name),
            self.lanes.get()
        )?;
        if self.worker_bytes != 0 {
            writeln!(f, "  worker {} bytes", self.worker_bytes)?;
        }
        if self.shared_bytes_per_packet != 0 {
            writeln!(
                f,
                "  shared {} bytes per packet",
                self.shared_bytes_per_packet
            )?;
        }
        for array in self.arrays() {
            let data = self.array(array);
            let ty = crate::ops::Type {
                elem: data.elem,
                shape: data.shape,
            };
            write!(f, "  {array} {}: {ty}[{}] ", Name(&data.name), data.slots)?;
            match data.space {
                Space::Stack => writeln!(f, "stack")?,
                Space::Worker { offset } => writeln!(f, "worker + {offset}")?,
            }
        }
        for entry in &self.entries {
            write_entry(f, self, entry)?;
        }
        let bare = self.worker_bytes == 0
            && self.shared_bytes_per_packet == 0
            && self.arrays().len() == 0
            && self.entries.is_empty();
        for function in self.functions() {
            let data = self.function(function);
            if !(bare && function.index() == 0) {
                writeln!(f)?;
            }
            write!(f, "  fn {}(", Name(&data.name))?;
            for (index, &param) in self.region(data.body).args.iter().enumerate() {
                let comma = if index == 0 { "" } else { ", " };
                write!(f, "{comma}{param}: {}", self.ty(param))?;
            }
            let inlining = match data.inlining {
                Inlining::Inline => "inline",
                Inlining::Outline => "outline",
            };
            writeln!(f, ") {inlining} {{")?;
            write_region(f, self, data.body, 2, "return")?;
            writeln!(f, "  }}")?;
        }
        writeln!(f, "}}")
    }
}

impl Program {
    /// One operation as its line of text, without the regions it owns.
    pub fn op_text(&self, op: Op) -> String {
        let mut text = String::new();
        let _ = write!(text, "{}", Head { program: self, op });
        text
    }
}

fn write_entry(f: &mut Formatter<'_>, program: &Program, entry: &Entry) -> fmt::Result {
    write!(
        f,
        "  entry {}(",
        Name(&program.function(entry.function).name)
    )?;
    for (index, extent) in entry.extents.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        match extent {
            Extent::Fixed(size) => write!(f, "{comma}{size}")?,
            Extent::Word(word) => write!(f, "{comma}word {word}")?,
        }
    }
    writeln!(f, ") by {}", entry.programs_per_packet)
}

fn write_region(
    f: &mut Formatter<'_>,
    program: &Program,
    region: Region,
    depth: usize,
    last_word: &str,
) -> fmt::Result {
    let indent = 2 * depth;
    let data = program.region(region);
    for &op in &data.ops {
        write!(f, "{:indent$}{}", "", Head { program, op })?;
        match &program.op(op).kind {
            OpKind::Loop { body, .. } => {
                writeln!(f, " {{")?;
                write_region(f, program, *body, depth + 1, "yield")?;
                writeln!(f, "{:indent$}}}", "")?;
            }
            OpKind::If {
                then, otherwise, ..
            } => {
                writeln!(f, " {{")?;
                write_region(f, program, *then, depth + 1, "yield")?;
                writeln!(f, "{:indent$}}} else {{", "")?;
                write_region(f, program, *otherwise, depth + 1, "yield")?;
                writeln!(f, "{:indent$}}}", "")?;
            }
            _ => writeln!(f)?,
        }
    }
    if !data.yields.is_empty() {
        writeln!(f, "{:indent$}{last_word} {}", "", List(&data.yields))?;
    }
    Ok(())
}

/// The line of an operation up to the brace of its first region.
struct Head<'a> {
    program: &'a Program,
    op: Op,
}

impl Display for Head<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let data = self.program.op(self.op);
        if !data.results.is_empty() {
            write!(f, "{} = ", List(&data.results))?;
        }
        self.write_deed(f)?;
        let mut separator = " : ";
        if !matches!(data.kind, OpKind::Loop { .. }) {
            for &result in &data.results {
                write!(f, "{separator}{}", self.program.ty(result))?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

impl Head<'_> {
    fn write_deed(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.program.op(self.op).kind {
            OpKind::Const(constant, _) => write!(f, "const {constant}"),
            OpKind::Record { word, .. } => write!(f, "record {word}"),
            OpKind::WorkspaceAddress(workspace) => write!(f, "workspace {workspace}"),
            OpKind::Unary(op, a) => write!(f, "{op} {a}"),
            OpKind::Binary(op, a, b) => write!(f, "{op} {a}, {b}"),
            OpKind::Compare(op, a, b) => write!(f, "{op} {a}, {b}"),
            OpKind::Select {
                condition,
                then,
                otherwise,
            } => {
                write!(f, "select {condition}, {then}, {otherwise}")
            }
            OpKind::Fma(a, b, c) => write!(f, "fma {a}, {b}, {c}"),
            OpKind::Convert(op, a) => write!(f, "{op} {a}"),
            OpKind::Splat(a) => write!(f, "splat {a}"),
            OpKind::LaneIndex => write!(f, "lane_index"),
            OpKind::Lane { of, lane } => write!(f, "lane {of}[{lane}]"),
            OpKind::Any(a) => write!(f, "any {a}"),
            OpKind::Build(values) => write!(f, "build {}", List(values)),
            OpKind::Shuffle { a, b, pattern } => write!(f, "shuffle {a}, {b} {pattern:?}"),
            OpKind::Load {
                mem,
                access,
                address,
                displacement,
                mask,
                invariant,
            } => {
                write!(
                    f,
                    "load {mem} {access} at {address}{}{}",
                    Plus(*displacement),
                    If(*mask)
                )?;
                f.write_str(if *invariant { " invariant" } else { "" })
            }
            OpKind::Store {
                mem,
                access,
                address,
                displacement,
                mask,
                value,
            } => {
                let (plus, condition) = (Plus(*displacement), If(*mask));
                write!(
                    f,
                    "store {mem} {access} at {address}{plus}{condition} = {value}"
                )
            }
            OpKind::PrivateLoad {
                array,
                slot,
                offset,
            } => {
                write!(f, "get {array}[{slot} + {offset}]")
            }
            OpKind::PrivateStore {
                array,
                slot,
                offset,
                value,
            } => {
                write!(f, "set {array}[{slot} + {offset}] = {value}")
            }
            OpKind::PrivateAddress(array) => write!(f, "address {array}"),
            OpKind::Loop {
                lower,
                upper,
                step,
                inits,
                body,
            } => {
                let args = &self.program.region(*body).args;
                let (counter, carries) = match args.split_first() {
                    Some((counter, carries)) => (counter.to_string(), carries),
                    None => ("_".to_owned(), &[][..]),
                };
                write!(f, "loop {counter} = {lower} .. {upper} step {step}")?;
                for (index, (&carry, init)) in carries.iter().zip(inits).enumerate() {
                    let opening = if index == 0 { " carry (" } else { ", " };
                    write!(f, "{opening}{carry}: {} = {init}", self.program.ty(carry))?;
                }
                f.write_str(if carries.is_empty() { "" } else { ")" })
            }
            OpKind::If { condition, .. } => write!(f, "if {condition}"),
            OpKind::Call { function, args } => {
                write!(
                    f,
                    "call {}({})",
                    Name(&self.program.function(*function).name),
                    List(args)
                )
            }
            OpKind::Opaque { id, first, count } => {
                write!(f, "opaque {id} at {first} count {count}")
            }
        }
    }
}

impl Display for Access {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Access::Scalar => write!(f, "scalar"),
            Access::Contiguous { live } => write!(f, "contiguous {live}"),
            Access::Strided { stride } => write!(f, "strided {stride}"),
            Access::Gather { offsets } => write!(f, "gather {offsets}"),
        }
    }
}

impl Display for Constant {
    /// The shortest decimal that reads back to the same bits; a NaN other than the usual one shows its bits.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Constant::F32(bits) => match f32::from_bits(bits) {
                value if !value.is_nan() => write!(f, "{value:?}"),
                _ if bits == f32::NAN.to_bits() => f.write_str("nan"),
                _ => write!(f, "nan({bits:#x})"),
            },
            Constant::F64(bits) => match f64::from_bits(bits) {
                value if !value.is_nan() => write!(f, "{value:?}"),
                _ if bits == f64::NAN.to_bits() => f.write_str("nan"),
                _ => write!(f, "nan({bits:#x})"),
            },
            Constant::I32(value) => write!(f, "{value}"),
            Constant::I64(value) => write!(f, "{value}"),
            Constant::Bool(value) => write!(f, "{value}"),
        }
    }
}

struct List<'a>(&'a [Value]);

impl Display for List<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, value) in self.0.iter().enumerate() {
            write!(f, "{}{value}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

struct Plus(i32);

impl Display for Plus {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            1.. => write!(f, " + {}", self.0),
            ..0 => write!(f, " - {}", self.0.unsigned_abs()),
        }
    }
}

struct If(Option<Value>);

impl Display for If {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(mask) => write!(f, " if {mask}"),
            None => Ok(()),
        }
    }
}

/// A name as it is, or in quotes if it is no identifier.
struct Name<'a>(&'a str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if super::lexer::is_identifier(self.0) {
            f.write_str(self.0)
        } else {
            f.write_char('"')?;
            for c in self.0.chars() {
                match c {
                    '"' | '\\' => write!(f, "\\{c}")?,
                    '\n' => f.write_str("\\n")?,
                    _ => f.write_char(c)?,
                }
            }
            f.write_char('"')
        }
    }
}
