"""A whole model in transformers, from the same Hugging Face folder and the same tokens."""

import os

import numpy as np
import torch
from transformers import AutoModelForCausalLM

import arrays


def load(request, threads):
    torch.set_num_threads(threads)
    return AutoModelForCausalLM.from_pretrained(request["model"], dtype=torch.float32)


def tokens_of(request, name):
    flat = np.fromfile(os.path.join(request["folder"], name + ".bin"), dtype=np.int32)
    return torch.from_numpy(flat.astype(np.int64))


class Train:
    """Forward, mean cross entropy of every next token, backward."""

    def __init__(self, request, threads):
        self.request = request
        self.model = load(request, threads)
        self.model.train()
        self.tokens = tokens_of(request, "tokens").view(request["sequences"], -1)

    def run(self):
        self.model.zero_grad(set_to_none=True)
        output = self.model(input_ids=self.tokens, labels=self.tokens, use_cache=False)
        output.loss.backward()
        self.value = output.loss

    def check(self):
        self.run()
        found = {"loss": float(self.value.detach())}
        parameters = dict(self.model.named_parameters())
        for name in self.request["gradients"]:
            got = parameters[name].grad.numpy()
            found[name] = arrays.distance(got, arrays.read(self.request["folder"], name, got.shape))
        return found


class Generate:
    """Greedy decoding of one sequence."""

    def __init__(self, request, threads):
        self.model = load(request, threads)
        self.model.eval()
        self.prompt = tokens_of(request, "prompt")[None]
        self.expected = tokens_of(request, "generated")[: request["count"]]
        self.count = request["count"]

    def generate(self, count):
        with torch.inference_mode():
            mask = torch.ones_like(self.prompt)
            out = self.model.generate(
                self.prompt,
                attention_mask=mask,
                do_sample=False,
                min_new_tokens=count,
                max_new_tokens=count,
                pad_token_id=0,
            )
        return out[0, self.prompt.shape[1] :]

    def run(self):
        self.generate(self.count)

    def check(self):
        return {"tokens that differ": int((self.generate(self.count) != self.expected).sum())}
