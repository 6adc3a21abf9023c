"""Holds a normalisation's output against numpy in float64.

    python examples/compare.py rmsnorm   X W   EPS Y
    python examples/compare.py layernorm X W B EPS Y

X, W, B and Y are .npy files of float32. The same formula is evaluated in float64 from the same float32 inputs, and every
element of Y must lie within the bound below of it. Exits with 1 if one does not.

The bound follows from the kernel's own steps, each of which rounds once, with u = 2**-24, short of overflow and underflow.
A sum of n terms in the fixed tree of `tree` reductions is off by at most gamma(m) times the sum of magnitudes, with
gamma(k) = k u / (1 - k u) and the depth m of docs/numerics.md; the rest is one rounding a step, written out below.
"""

import sys

import numpy

U = 2.0**-24
TREE_WIDTH, TREE_BLOCK = 32, 4096


def gamma(steps):
    return steps * U / (1 - steps * U)


def depth(n):
    """Additions a term of a sum of n terms goes through, at most: along its partial, through the merges, through the blocks,
    and the initial value at last."""

    def of_sequence(n):
        if n <= TREE_BLOCK:
            return -(-n // TREE_WIDTH) - 1 + (min(n, TREE_WIDTH) - 1).bit_length()
        return of_sequence(TREE_BLOCK) + of_sequence(-(-n // TREE_BLOCK))

    return of_sequence(n) + 1


def root_error(n):
    """Relative error of sqrt(sum of n squares / n + eps), whose terms are all positive: square, sum, division and sum come
    under the root, which halves them, and the root rounds once."""
    under = gamma(depth(n) + 3)
    return (2 - numpy.sqrt(1 - under)) * (1 + U) - 1


def rmsnorm(x, w, eps):
    rms = numpy.sqrt((x * x).mean(axis=1, keepdims=True) + eps)
    y = x / rms * w
    # By the root, which is off by this much, and then a division and a product.
    relative = (1 + U) ** 2 / (1 - root_error(x.shape[1])) - 1
    return y, relative * numpy.abs(y)


def layernorm(x, w, b, eps):
    n = x.shape[1]
    mean = x.mean(axis=1, keepdims=True)
    d = x - mean
    deviation = numpy.sqrt((d * d).mean(axis=1, keepdims=True) + eps)
    scaled = d / deviation * w
    y = scaled + b
    # The mean is off by what its sum and its division lose, which goes by the size of the terms; each distance is off by
    # that and by its own rounding.
    mean_error = gamma(depth(n) + 1) * numpy.abs(x).mean(axis=1, keepdims=True)
    d_error = mean_error + U * (numpy.abs(d) + mean_error)
    # Distances off by so much move the root of their mean square by at most the root of the mean square of that.
    moved = numpy.sqrt((d_error * d_error).mean(axis=1, keepdims=True)) / deviation
    deviation_error = (1 + moved) * (1 + root_error(n)) - 1
    relative = (1 + U) ** 2 / (1 - deviation_error) - 1
    scaled_error = numpy.abs(w) / deviation * d_error * (1 + relative) + numpy.abs(scaled) * relative
    return y, scaled_error + U * (numpy.abs(y) + scaled_error)


KERNELS = {"rmsnorm": (rmsnorm, 2), "layernorm": (layernorm, 3)}


def main():
    arguments = sys.argv[2:]
    if len(sys.argv) < 2 or sys.argv[1] not in KERNELS:
        sys.exit(__doc__)
    reference, count = KERNELS[sys.argv[1]]
    if len(arguments) != count + 2:
        sys.exit(__doc__)
    inputs = [numpy.load(path).astype("float64") for path in arguments[:count]]
    # The kernel gets eps as the nearest float32.
    eps = float(numpy.float32(arguments[count]))
    actual = numpy.load(arguments[-1])
    expected, bound = reference(*inputs, eps)
    if actual.dtype != numpy.float32 or actual.shape != expected.shape:
        sys.exit(f"{arguments[-1]} is {actual.dtype} {actual.shape}, expected float32 {expected.shape}")

    # The reference's own roundings, in float64.
    bound = bound * (1 + 2.0**-20) + 2.0**-149
    error = numpy.abs(actual.astype("float64") - expected)
    share = error / bound
    worst = numpy.unravel_index(numpy.argmax(share), share.shape)
    print(f"{sys.argv[1]} of {actual.shape[0]} x {actual.shape[1]} against float64")
    print(f"  largest error      {error.max():.3e}")
    print(f"  bound there        {bound[numpy.unravel_index(numpy.argmax(error), error.shape)]:.3e}")
    print(f"  nearest to bound   {share[worst]:.3f} of it, at {tuple(int(i) for i in worst)}")
    if not (share <= 1).all():
        print("  OUTSIDE THE BOUND")
        sys.exit(1)
    print("  every element is within the bound")


if __name__ == "__main__":
    main()
