"""The three matrix products of an update at the compacted shape, and nothing else: what a BLAS needs for them.

logits [R, V] = hidden [R, D] . W^T; dHidden = dLogits . W; dW = dLogits^T . hidden. The logits' own values serve as their
gradients: a product costs the same whatever the numbers. Results overwrite memory that is there before the clock starts.
"""

import numpy as np

import arrays


class Products:
    def __init__(self, request):
        T, D, V = request["T"], request["D"], request["V"]
        folder = request["folder"]
        weight = arrays.read(folder, "weight", [T])
        self.hidden = np.ascontiguousarray(arrays.read(folder, "hidden", [T, D])[weight != 0])
        self.head = np.array(arrays.read(folder, "lm_head", [V, D]))
        R = len(self.hidden)
        self.logits = np.zeros([R, V], np.float32)
        self.d_hidden = np.zeros([R, D], np.float32)
        self.d_head = np.zeros([V, D], np.float32)

    def check(self):
        """Of a few rows and columns against float64."""
        self.run()
        logits = self.hidden[:4].astype(np.float64) @ self.head[:300].astype(np.float64).T
        d_hidden = self.logits[:2].astype(np.float64) @ self.head.astype(np.float64)
        d_head = self.logits[:, :8].astype(np.float64).T @ self.hidden.astype(np.float64)
        return {
            "logits": arrays.distance(self.logits[:4, :300], logits),
            "dHidden": arrays.distance(self.d_hidden[:2], d_hidden),
            "dLmHead": arrays.distance(self.d_head[:8], d_head),
        }


class OpenBlas(Products):
    """numpy's products; the wheels of numpy carry OpenBLAS. Threads: OPENBLAS_NUM_THREADS."""

    def __init__(self, request, threads):
        super().__init__(request)
        libraries = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        if "openblas" not in libraries["name"]:
            raise RuntimeError(f"expected a numpy that is linked with OpenBLAS, got {libraries['name']}")

    def run(self):
        np.matmul(self.hidden, self.head.T, out=self.logits)
        np.matmul(self.logits, self.head, out=self.d_hidden)
        np.matmul(self.logits.T, self.hidden, out=self.d_head)


class Mkl(Products):
    """PyTorch's products, which its builds for x86 hand to MKL."""

    def __init__(self, request, threads):
        super().__init__(request)
        import torch

        torch.set_num_threads(threads)
        if not torch.backends.mkl.is_available():
            raise RuntimeError("expected a PyTorch that is built with MKL")
        self.mm = torch.mm
        self.tensors = [
            torch.from_numpy(x) for x in (self.hidden, self.head, self.logits, self.d_hidden, self.d_head)
        ]

    def run(self):
        hidden, head, logits, d_hidden, d_head = self.tensors
        self.mm(hidden, head.T, out=logits)
        self.mm(logits, head, out=d_hidden)
        self.mm(logits.T, hidden, out=d_head)
