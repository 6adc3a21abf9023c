"""Compiles the compared kernels with torch.compile, keeps what came out, and says how to call it without Python.

    python inductor.py CASES.json OUT [--simdlen 256]

For each case OUT/NAME/ gets the generated C++, the shared libraries and `manifest.json`: the calls in order, each with
its library, its symbol and, for every pointer it takes, whose memory that is: an input's, the output's, or scratch.
One thread, otherwise Inductor's defaults.
"""

import argparse
import json
import math
import os
import re
import shutil
import sysconfig
import time
from pathlib import Path

EPS = 1e-6


def functions():
    """The kernels as a user of torch writes them, by the name of the library's kernel."""
    import torch
    import torch.nn.functional as F

    def rope_half(x, cosine, sine):
        half = x.shape[-1] // 2
        return x * cosine + torch.cat([-x[:, half:], x[:, :half]], -1) * sine

    def rms_norm(x, w):
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + EPS) * w

    def rms_norm_rsqrt(x, w):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS) * w

    return {
        "rms_norm": rms_norm,
        "rms_norm_rsqrt": rms_norm_rsqrt,
        "layer_norm": lambda x, w, b: F.layer_norm(x, (x.shape[-1],), w, b, EPS),
        "softmax_additive_mask": lambda x, mask: torch.softmax(x + mask, -1),
        "softmax_masked": lambda x, live: torch.softmax(torch.where(live, x, -math.inf), -1),
        "swiglu": lambda g, u: F.silu(g) * u,
        "gelu_tanh_residual": lambda x, r: F.gelu(x, approximate="tanh") + r,
        "gelu_erf_residual": lambda x, r: F.gelu(x) + r,
        "rope_half": rope_half,
        "dot": lambda x, y: (x * y).sum(),
        "sum_of_squares": lambda x: (x * x).sum(),
        "mean_squared_error": lambda x, y: F.mse_loss(x, y),
        "cross_entropy": lambda x, target: F.cross_entropy(x, target),
    }


def inputs(kernel, rows, cols):
    """Tensors of the right shapes; what is in them does not matter here."""
    import torch

    table = torch.randn(rows, cols)
    row = torch.randn(cols)
    return {
        "rms_norm": [table, row],
        "rms_norm_rsqrt": [table, row],
        "layer_norm": [table, row, torch.randn(cols)],
        "softmax_additive_mask": [table, torch.randn(rows, cols)],
        "softmax_masked": [table, torch.rand(rows, cols) > 0.25],
        "rope_half": [table, torch.randn(rows, cols), torch.randn(rows, cols)],
        "dot": [row, torch.randn(cols)],
        "sum_of_squares": [row],
        "cross_entropy": [table, torch.randint(0, cols, (rows,))],
    }.get(kernel, [table, torch.randn(rows, cols)])


class Recorder:
    """Sees every call of a native kernel: its module, its source and the tensors it was given."""

    def __init__(self):
        from torch._inductor.codecache import CppPythonBindingsCodeCache as cache

        self.calls = []
        original = cache.load_pybinding_async.__func__

        def load(cls, types, code, *rest, **named):
            pending = original(cls, types, code, *rest, **named)

            def resolve():
                function = pending()

                def call(*arguments):
                    result = function(*arguments)
                    self.calls.append((function.__self__.__file__, code, list(types), arguments))
                    return result

                return call

            return resolve

        cache.load_pybinding_async = classmethod(load)


def place(tensor, given, result, scratch):
    """Whose memory a tensor lies in, and how many bytes into it."""
    storage = tensor.untyped_storage()
    start = storage.data_ptr()
    offset = tensor.data_ptr() - start
    for index, one in enumerate(given):
        if one.untyped_storage().data_ptr() == start:
            return {"input": index, "offset": offset}
    if result.untyped_storage().data_ptr() == start:
        return {"output": True, "offset": offset}
    if start not in scratch:
        scratch[start] = (len(scratch), storage.nbytes())
    return {"scratch": scratch[start][0], "offset": offset}


def compile_case(case, out, recorder, torch):
    from torch._inductor.utils import run_and_get_code

    kernel, rows, cols = case["kernel"], case["rows"], case["cols"]
    given = inputs(kernel, rows, cols)
    torch._dynamo.reset()
    recorder.calls.clear()
    start = time.perf_counter()
    with torch.no_grad():
        result, _ = run_and_get_code(torch.compile(functions()[kernel], dynamic=False), *given)
    seconds = time.perf_counter() - start
    directory = out / case["name"]
    directory.mkdir(parents=True, exist_ok=True)
    calls, scratch = [], {}
    for number, (library, code, types, arguments) in enumerate(recorder.calls):
        if not all(isinstance(one, torch.Tensor) for one in arguments):
            raise SystemExit(f"{case['name']}: a native kernel takes a number; only pointers can be passed on")
        symbol = re.search(r'extern "C"\s+void\s+(\w+)\s*\(', code).group(1)
        (directory / f"{number}.cpp").write_text(code)
        shutil.copy(library, directory / f"{number}.so")
        calls.append({
            "library": f"{number}.so",
            "symbol": symbol,
            "types": types,
            "arguments": [place(one, given, result, scratch) for one in arguments],
        })
    if not calls:
        raise SystemExit(f"{case['name']}: no native kernel was called")
    manifest = {
        "case": case["name"],
        "torch": torch.__version__,
        "seconds": seconds,
        "scratch": [size for _, size in sorted(scratch.values())],
        "calls": calls,
    }
    # Written last and under its own name in one step, so that a manifest means a complete case.
    partial = directory / "manifest.json.partial"
    partial.write_text(json.dumps(manifest, indent=1))
    partial.rename(directory / "manifest.json")
    print(f"  {case['name']}: {seconds:.1f} s, {len(calls)} native calls", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--simdlen", type=int, default=None, help="bits of a vector; Inductor's choice if not given")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(options.out.resolve() / "cache")

    import torch
    import torch._inductor.config

    torch.set_num_threads(1)
    if options.simdlen is not None:
        torch._inductor.config.cpp.simdlen = options.simdlen
    # What has to be loaded before a library with Python's bindings in it, without Python running.
    libraries = [
        str(Path(sysconfig.get_config_var("LIBDIR")) / sysconfig.get_config_var("INSTSONAME")),
        str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"),
    ]
    (options.out / "preload.json").write_text(json.dumps({"torch": torch.__version__, "libraries": libraries}))
    recorder = Recorder()
    for case in json.loads(options.cases.read_text()):
        compile_case(case, options.out, recorder, torch)


if __name__ == "__main__":
    main()
