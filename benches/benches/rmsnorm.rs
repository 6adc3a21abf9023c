//! RMSNorm: how long a text takes to become callable code, and how long the code takes against the plain C loop.
//!
//! `cargo xtask bench` runs it; `cargo xtask bench -- 17x65` adds a size. Times are wall time of one thread.

use std::error::Error;
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use benches::{Protocol, Rival, compare, values, visit};
use tilewright::prelude::*;

const KERNEL: &str = "\
kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
  parallel r: row {
    let xs  = load x[r, :]
    let sum = reduce c: col unordered add from 0.0 { yield xs[c] * xs[c] }
    let rms = sqrt(sum / f32(extent(col)) + eps)
    let ws  = load w[:]
    store y[r, :] = xs / rms * ws
  }
}
";

const SIZES: [(usize, usize); 3] = [(1, 4096), (64, 256), (1024, 4096)];
const EPS: f32 = 1e-6;

/// What this program is told when it is to compile once and print how long that took.
const COLD: &str = "--cold";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|one| one == COLD) {
        let start = Instant::now();
        black_box(compiled(256)?);
        println!("{}", start.elapsed().as_nanos());
        return Ok(());
    }
    latency()?;
    let mut sizes = SIZES.to_vec();
    for argument in arguments.iter().filter(|one| !one.starts_with('-')) {
        let size = argument
            .split_once('x')
            .and_then(|(rows, columns)| Some((rows.parse().ok()?, columns.parse().ok()?)));
        sizes.push(size.ok_or_else(|| format!("`{argument}` is no size; say for example 64x256"))?);
    }
    against_c(&sizes)
}

fn compiled(columns: usize) -> Result<Executable, Box<dyn Error>> {
    let kernel = tilewright::parse(KERNEL)?;
    let kernel = tilewright::specialize(&kernel, &[("col", u32::try_from(columns)?)])?;
    Ok(tilewright::compile(&kernel, &CompileOptions::default())?)
}

/// From text to callable code: once in each of seven new processes, and again and again in this one.
fn latency() -> Result<(), Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let mut cold = Vec::new();
    for _ in 0..7 {
        let output = Command::new(&program).arg(COLD).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        cold.push(
            String::from_utf8_lossy(&output.stdout)
                .trim()
                .parse::<f64>()?
                / 1e6,
        );
    }
    cold.sort_by(f64::total_cmp);
    compiled(256)?;
    let warm = visit(&Protocol::default(), || {
        black_box(compiled(256).ok());
    });
    println!("from text to callable code, RMSNorm with 256 columns");
    println!(
        "  a new process: median {:.3} ms of 7, from {:.3} to {:.3}",
        cold[3], cold[0], cold[6]
    );
    println!("  a warm one:    median {:.3} ms", warm.median() / 1e6);
    println!("  code:          {} bytes", compiled(256)?.code_bytes());
    Ok(())
}

fn against_c(sizes: &[(usize, usize)]) -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let rival = Rival::build("rmsnorm", directory.path())?;
    let protocol = Protocol::default();
    println!("against {}", rival.description);
    println!(
        "  {:>10} {:>12} {:>12} {:>7}  {:>15}  errors (ours, C)",
        "size", "ours us", "C us", "ratio", "seen ratios"
    );
    for &(rows, columns) in sizes {
        let x = values(1, rows * columns);
        let w = values_after(rows * columns, columns);
        let mut y = vec![0.0f32; rows * columns];
        let executable = compiled(columns)?;
        let arguments: Vec<(String, Argument<'_>)> = vec![
            ("x".into(), View::new(&x, &[rows, columns])?.into()),
            ("w".into(), View::new(&w, &[columns])?.into()),
            ("y".into(), View::new_mut(&mut y, &[rows, columns])?.into()),
            ("eps".into(), f64::from(EPS).into()),
        ];
        let mut bound = executable.bind(arguments)?;
        let mut their_error = 0.0f64;
        let comparison = compare::<Box<dyn Error>>(
            &protocol,
            || Ok(visit(&protocol, || bound.launch())),
            || {
                let (visit, error) = rival.visit(&protocol, rows, columns)?;
                their_error = their_error.max(error);
                Ok(visit)
            },
        )?;
        drop(bound);
        let (smallest, largest) = comparison.range();
        println!(
            "  {:>10} {:>12.3} {:>12.3} {:>7.2}  {smallest:>7.2} {largest:>7.2}  {:.1e}, {their_error:.1e}",
            format!("{rows}x{columns}"),
            comparison.first() / 1e3,
            comparison.second() / 1e3,
            comparison.ratio(),
            largest_error(&x, &w, &y, columns),
        );
    }
    Ok(())
}

/// The numbers the C program draws for its weights: those after the input's.
fn values_after(skipped: usize, count: usize) -> Vec<f32> {
    values(1, skipped + count).split_off(skipped)
}

fn largest_error(x: &[f32], w: &[f32], y: &[f32], columns: usize) -> f64 {
    let rows = x.chunks_exact(columns).zip(y.chunks_exact(columns));
    let mut largest = 0.0f64;
    for (x, y) in rows {
        let square = |&x: &f32| f64::from(x) * f64::from(x);
        let rms = (x.iter().map(square).sum::<f64>() / columns as f64 + f64::from(EPS)).sqrt();
        for ((&x, &w), &y) in x.iter().zip(w).zip(y) {
            let exact = f64::from(x) / rms * f64::from(w);
            largest = largest.max((f64::from(y) - exact).abs());
        }
    }
    largest
}
