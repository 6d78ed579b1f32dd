"""The policy loss and plain cross entropy in PyTorch, from hidden states to both gradients.

rows "all": every token goes through the LM head, as trainers do it that mask the loss; "active": those with weight only.
"""

import numpy as np
import torch
import torch.nn.functional as F

import arrays

CLIP_LOW, CLIP_HIGH, KL_COEFFICIENT = 0.2, 0.28, 0.01  # as bench/native/policy_loss_bench.cc


def entropy_of(log_probabilities):
    with torch.no_grad():
        return -(log_probabilities.exp() * log_probabilities).sum(-1)


def policy_loss(hidden, head, target, advantage, weight, behaviour, reference):
    """loss = sum weight * (clipped surrogate + coefficient * k3)."""
    log_probabilities = F.log_softmax(hidden @ head.T, dim=-1)
    logprob = log_probabilities.gather(-1, target[:, None])[:, 0]
    ratio = torch.exp(logprob - behaviour)
    clipped = torch.clamp(ratio, 1 - CLIP_LOW, 1 + CLIP_HIGH)
    surrogate = torch.maximum(-ratio * advantage, -clipped * advantage)
    difference = reference - logprob
    kl = torch.exp(difference) - difference - 1
    return (weight * (surrogate + KL_COEFFICIENT * kl)).sum(), entropy_of(log_probabilities)


class TorchLoss:
    terms = "all"

    def __init__(self, request, threads):
        torch.set_num_threads(threads)
        T, D, V = request["T"], request["D"], request["V"]
        self.folder, self.shape = request["folder"], (T, D, V)
        weight = np.array(arrays.read(self.folder, "weight", [T]))
        self.rows = np.flatnonzero(weight) if request["rows"] == "active" else np.arange(T)

        def rows_of(name, shape, dtype=np.float32):
            return torch.from_numpy(np.array(arrays.read(self.folder, name, shape, dtype))[self.rows])

        self.hidden = rows_of("hidden", [T, D]).requires_grad_()
        self.head = torch.from_numpy(np.array(arrays.read(self.folder, "lm_head", [V, D]))).requires_grad_()
        self.target = rows_of("target", [T], np.int32).long()
        fields = [rows_of(name, [T]) for name in ("advantage", "weight", "behaviour", "reference")]
        self.advantage, self.weight, self.behaviour, self.reference = fields

    def loss(self):
        fields = (self.target, self.advantage, self.weight, self.behaviour, self.reference)
        return policy_loss(self.hidden, self.head, *fields)[0]

    def run(self):
        self.hidden.grad = self.head.grad = None
        self.value = self.loss()
        self.value.backward()

    def check(self):
        self.run()
        T, D, V = self.shape
        want_hidden = arrays.read(self.folder, "d_hidden", [T, D])[self.rows]
        return {
            "loss": float(self.value.detach()),
            "dHidden": arrays.distance(self.hidden.grad.numpy(), want_hidden),
            "dLmHead": arrays.distance(self.head.grad.numpy(), arrays.read(self.folder, "d_lm_head", [V, D])),
        }


class Eager(TorchLoss):
    pass


class Compiled(TorchLoss):
    def __init__(self, request, threads):
        super().__init__(request, threads)
        self.compiled = torch.compile(policy_loss, dynamic=False)

    def loss(self):
        fields = (self.target, self.advantage, self.weight, self.behaviour, self.reference)
        return self.compiled(self.hidden, self.head, *fields)[0]


class CrossEntropy(TorchLoss):
    """Mean cross entropy over the rows with weight; the others are marked as ignored."""

    terms = "plain"

    def __init__(self, request, threads):
        super().__init__(request, threads)
        self.target[self.weight == 0] = -100

    def loss(self):
        return F.cross_entropy(self.hidden @ self.head.T, self.target)


class LinearCrossEntropy(CrossEntropy):
    """PyTorch's own fused form in chunks of 256 rows, as many as ours has; the chunks it would choose itself are slower."""

    def loss(self):
        options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=256, chunking_method=None)
        return F.linear_cross_entropy(self.hidden, self.head, self.target, options=options)
