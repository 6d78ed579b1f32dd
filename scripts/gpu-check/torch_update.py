"""The same update in PyTorch, in bf16 with fp32 logits, eager and compiled: torch_update.py T D V prints one line of JSON."""

import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F

ROUNDS = 5


def policy_loss(hidden, head, target, advantage, behaviour, reference):
    log_probabilities = F.log_softmax((hidden @ head.T).float(), dim=-1)
    logprob = log_probabilities.gather(-1, target[:, None])[:, 0]
    ratio = torch.exp(logprob - behaviour)
    surrogate = torch.maximum(-ratio * advantage, -torch.clamp(ratio, 0.8, 1.28) * advantage)
    difference = reference - logprob
    kl = torch.exp(difference) - difference - 1
    entropy = -(log_probabilities.detach().exp() * log_probabilities.detach()).sum(-1)
    return (surrogate + 0.01 * kl).mean(), entropy


def seconds(loss, hidden, head, rest):
    took = []
    for _ in range(ROUNDS + 2):
        hidden.grad = head.grad = None
        torch.cuda.synchronize()
        begin = time.perf_counter()
        loss(hidden, head, *rest)[0].backward()
        torch.cuda.synchronize()
        took.append(time.perf_counter() - begin)
    return statistics.median(took[2:])


def main():
    T, D, V = (int(text) for text in sys.argv[1:4])
    torch.manual_seed(1)
    options = {"device": "cuda", "dtype": torch.bfloat16}
    hidden = torch.randn(T, D, **options).requires_grad_()
    head = (torch.randn(V, D, **options) * 3 / D**0.5).requires_grad_()
    target = torch.randint(V, (T,), device="cuda")
    advantage = torch.randn(T, device="cuda")
    behaviour = reference = torch.full((T,), -8.0, device="cuda")
    rest = (target, advantage, behaviour, reference)
    result = {"version": torch.__version__, "T": T, "D": D, "V": V}
    for name, loss in (("eager", policy_loss), ("compiled", torch.compile(policy_loss))):
        try:
            result[name + "Seconds"] = seconds(loss, hidden, head, rest)
        except (RuntimeError, torch.cuda.OutOfMemoryError) as error:
            result[name + "Error"] = str(error).splitlines()[0][:200]
            torch.cuda.empty_cache()
    print(json.dumps(result))


main()
