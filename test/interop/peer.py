"""The transformers side of the interop check: makes models and says what it computes of them.

peer.py make DIR    writes small random models of every family, in every form a folder can have, with what transformers computes
peer.py check DIR   reads folders that skillgate saved (DIR/*/saved) and compares logprobs with skillgate's (DIR/*/saved.json)
"""
import json
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config, Qwen3Config

SHAPE = dict(vocab_size=97, hidden_size=48, intermediate_size=80, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=256)
LLAMA3 = dict(rope_type="llama3", rope_theta=10000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=32)
MODELS = {
    "llama": (LlamaConfig(**SHAPE), {}),
    "llama-tied-bf16": (LlamaConfig(**SHAPE, tie_word_embeddings=True), dict(dtype=torch.bfloat16)),
    "llama-biased": (LlamaConfig(**SHAPE, attention_bias=True, mlp_bias=True), {}),
    "llama3-sharded": (LlamaConfig(**SHAPE, rope_parameters=LLAMA3), dict(max_shard_size="40KB")),
    "qwen2": (Qwen2Config(**SHAPE), {}),
    "qwen2-f16-sharded": (Qwen2Config(**SHAPE, tie_word_embeddings=True), dict(dtype=torch.float16, max_shard_size="40KB")),
    "qwen3": (Qwen3Config(**SHAPE, head_dim=16), {}),
    "qwen3-old-config": (Qwen3Config(**SHAPE, head_dim=16, tie_word_embeddings=True), dict(old_config=True)),
}
LENGTHS = (50, 33, 64)


def sequences(seed):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randint(0, SHAPE["vocab_size"], (n,), generator=generator) for n in LENGTHS]


@torch.no_grad()
def logprobs(model, tokens):
    """Entry t: token t given those before it; 0 for the first."""
    model = model.double().eval()
    out = []
    for sequence in tokens:
        scores = model(sequence[None]).logits[0, :-1].log_softmax(-1)
        out += [0.0] + scores.gather(-1, sequence[1:, None])[:, 0].tolist()
    return out


def old_config(folder):
    """The form of transformers 4: rope_theta beside rope_scaling, torch_dtype."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope["rope_theta"]
    config["rope_scaling"] = None
    config["torch_dtype"] = config.pop("dtype")
    path.write_text(json.dumps(config))


def make(root):
    for seed, (name, (config, form)) in enumerate(MODELS.items()):
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config)
        for parameter in model.parameters():  # larger than the default, so that predictions are not all alike
            torch.nn.init.normal_(parameter, 1.0 if parameter.dim() == 1 else 0.0, 0.1)
        model = model.to(form.get("dtype", torch.float32))
        folder = root / name
        model.save_pretrained(folder / "model", max_shard_size=form.get("max_shard_size", "5GB"))
        if form.get("old_config"):
            old_config(folder / "model")
        model = AutoModelForCausalLM.from_pretrained(folder / "model", dtype=torch.float32)  # 16 bits are in the weights alone
        tokens = sequences(seed)
        expected = dict(tokens=torch.cat(tokens).tolist(), lengths=LENGTHS, logprob=logprobs(model, tokens))
        (folder / "expected.json").write_text(json.dumps(expected))


def check(root):
    worst = 0.0
    for folder in sorted(root.iterdir()):
        said = json.loads((folder / "saved.json").read_text())
        model = AutoModelForCausalLM.from_pretrained(folder / "saved", dtype=torch.float32)
        tokens = list(torch.tensor(said["tokens"]).split(list(LENGTHS)))
        got = torch.tensor(logprobs(model, tokens))
        worst = max(worst, (got - torch.tensor(said["logprob"])).abs().max().item())
        print(f"{folder.name}: largest difference of a logprob so far {worst:.2e}")
    if not worst < 5e-5:
        sys.exit(f"expected logprobs of saved models within 5e-5, got {worst:.2e}")


{"make": make, "check": check}[sys.argv[1]](Path(sys.argv[2]))
