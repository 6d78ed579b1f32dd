"""The raw arrays that skillgate wrote for a shape: inputs, and its own outputs to compare with."""

import os

import numpy as np


def read(folder, name, shape, dtype=np.float32):
    """A read-only view of the file; its pages are shared between the processes."""
    return np.memmap(os.path.join(folder, name + ".bin"), dtype=dtype, mode="r", shape=tuple(shape))


def distance(got, want):
    """Relative Frobenius distance, in float64, in pieces of rows."""
    difference = total = 0.0
    step = max(1, (1 << 22) // max(1, int(np.prod(want.shape[1:]))))
    for start in range(0, len(want), step):
        a = np.asarray(got[start : start + step], dtype=np.float64)
        b = np.asarray(want[start : start + step], dtype=np.float64)
        difference += float(np.sum((a - b) ** 2))
        total += float(np.sum(b**2))
    return (difference / total) ** 0.5 if total > 0 else difference**0.5
