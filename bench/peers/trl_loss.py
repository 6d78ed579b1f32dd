"""TRL's GRPO loss: GRPOTrainer._compute_loss on a model whose backbone hands out the given hidden states.

The trainer is made without its set-up (data, generation); it holds the options that the loss reads.
"""

import types
from collections import defaultdict

import torch
from accelerate import Accelerator
from transformers.modeling_outputs import BaseModelOutput
from trl.trainer.grpo_trainer import GRPOTrainer
from trl.trainer.utils import add_fused_lm_head

import torch_loss


class Backbone(torch.nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.hidden = torch.nn.Parameter(hidden)

    def forward(self, **_):
        return BaseModelOutput(last_hidden_state=self.hidden)


class Model(torch.nn.Module):
    def __init__(self, hidden, head):
        super().__init__()
        self.base_model = Backbone(hidden)
        self.lm_head = torch.nn.Linear(head.shape[1], head.shape[0], bias=False, device="meta")
        self.lm_head.weight = torch.nn.Parameter(head)
        text_config = types.SimpleNamespace()
        self.config = types.SimpleNamespace(get_text_config=lambda: text_config)

    def get_output_embeddings(self):
        return self.lm_head

    def forward(self, **inputs):
        return self.lm_head(self.base_model(**inputs).last_hidden_state)


class Trl(torch_loss.TorchLoss):
    def __init__(self, request, threads):
        super().__init__(request, threads)
        T, D, _ = self.shape
        rows = len(self.rows)
        # The last position predicts nothing.
        hidden = torch.cat([self.hidden.detach(), torch.zeros(1, D)])[None]
        self.model = Model(hidden, self.head.detach())
        add_fused_lm_head(self.model, outputs=("log_probs", "entropy"))
        trainer = self.trainer = GRPOTrainer.__new__(GRPOTrainer)
        trainer.accelerator = Accelerator(cpu=True)
        trainer.model = self.model
        trainer.args = types.SimpleNamespace(use_bias_correction_kl=False, delta=None)
        trainer.loss_type, trainer.importance_sampling_level = "bnpo", "token"
        trainer.beta = torch_loss.KL_COEFFICIENT
        trainer.epsilon_low, trainer.epsilon_high = torch_loss.CLIP_LOW, torch_loss.CLIP_HIGH
        trainer.aux_loss_enabled = trainer.use_vllm = trainer._entropy_bonus_enabled = False
        trainer.top_entropy_quantile, trainer.off_policy_mask_threshold = 1.0, None
        trainer.current_gradient_accumulation_steps = 1
        trainer._metrics = {"train": defaultdict(list)}
        mask = (self.weight != 0).long()[None]
        self.inputs = {
            "prompt_ids": torch.zeros(1, 1, dtype=torch.long),
            "prompt_mask": torch.ones(1, 1, dtype=torch.long),
            "completion_ids": self.target[None],
            "completion_mask": torch.ones(1, rows, dtype=torch.long),
            "tool_mask": mask,  # tool results carry no loss
            "advantages": self.advantage[None],
            "old_per_token_logps": self.behaviour[None],
            "ref_per_token_logps": self.reference[None],
        }

    def run(self):
        self.model.zero_grad()
        self.value = self.trainer._compute_loss(self.model, self.inputs)
        self.value.backward()
        self.hidden.grad = self.model.base_model.hidden.grad[0, :-1]
        self.head.grad = self.model.lm_head.weight.grad
