"""One contender process. Reads one JSON request a line and answers with one, like bench/native/serve.cc:

  {"do": "open", "threads": 2}                             -> {"versions": {...}}
  {"do": "prepare", "name": "a", "contender": "eager", ...} -> {}
  {"do": "check", "name": "a"}                             -> {quantity: distance to what skillgate computed}
  {"do": "run", "name": "a"}                               -> {"ns": ..., "cpu_ns": ...}
  {"do": "drop", "name": "a"}                              -> {}

A contender is an object with run() and check(). What fails is answered with {"error": "..."}.
"""

import gc
import importlib
import json
import os
import sys
import time

CONTENDERS = {
    "openblas": ("products", "OpenBlas"),
    "mkl": ("products", "Mkl"),
    "eager": ("torch_loss", "Eager"),
    "compiled": ("torch_loss", "Compiled"),
    "cross_entropy": ("torch_loss", "CrossEntropy"),
    "linear_cross_entropy": ("torch_loss", "LinearCrossEntropy"),
    "trl": ("trl_loss", "Trl"),
    "transformers_train": ("transformers_model", "Train"),
    "transformers_generate": ("transformers_model", "Generate"),
}


def versions():
    found = {"python": sys.version.split()[0]}
    for name in ("numpy", "torch", "transformers", "trl"):
        if name in sys.modules:
            found[name] = sys.modules[name].__version__
    return found


class Worker:
    def __init__(self):
        self.threads = 1
        self.prepared = {}

    def answer(self, request):
        what = request["do"]
        if what == "open":
            self.threads = request["threads"]
            return {}
        if what == "versions":
            return versions()
        name = request["name"]
        if what == "prepare":
            module, kind = CONTENDERS[request["contender"]]
            self.prepared[name] = getattr(importlib.import_module(module), kind)(request, self.threads)
            return {}
        if what == "drop":
            del self.prepared[name]
            gc.collect()
            return {}
        contender = self.prepared[name]
        if what == "check":
            return contender.check()
        if what == "run":
            gc.collect()
            gc.disable()
            cpu, wall = time.process_time_ns(), time.perf_counter_ns()
            figures = contender.run() or {}
            ns, cpu_ns = time.perf_counter_ns() - wall, time.process_time_ns() - cpu
            gc.enable()
            return {"ns": ns, "cpu_ns": cpu_ns, **figures}
        raise ValueError(f'cannot do "{what}"')


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print goes to standard error
    worker = Worker()
    for line in sys.stdin:
        try:
            out = worker.answer(json.loads(line))
        except Exception as error:  # the other side decides what a failure means
            out = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(out) + "\n")
        answers.flush()


main()
