"""Trains the demo model on the valley of world.py and writes it as Q8_0: some minutes on one core, fixed seeds."""

import math
import random
import time
from pathlib import Path

import torch
from gguf import GGMLQuantizationType as Q
from transformers import LlamaConfig, LlamaForCausalLM

import vocabularies
import world
from gguf_export import Exporter
from tokenizer_kinds import assemble

CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

VOCABULARY = 512
CONFIG = dict(
    vocab_size=VOCABULARY,
    hidden_size=96,
    intermediate_size=256,
    num_hidden_layers=4,
    num_attention_heads=3,
    num_key_value_heads=1,
    head_dim=32,
    max_position_embeddings=512,
    rms_norm_eps=1e-5,
    tie_word_embeddings=True,
    rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
    bos_token_id=None,
    eos_token_id=None,
    pad_token_id=None,
)
STEPS, BATCH, WINDOW, PEAK_RATE, WARM_UP = 1500, 24, 160, 4e-3, 60


def chat(rng: random.Random) -> str:
    turns = [world.question(rng) for _ in range(rng.choice((1, 1, 2)))]
    return "".join(
        f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n{answer}<|im_end|>\n"
        for question, answer in turns
    )


def document(rng: random.Random) -> str:
    """A text or a conversation; each ends as a generation should end, with <|im_end|>."""
    if rng.random() < 0.45:
        return chat(rng).removesuffix("\n")
    return rng.choice((world.story, world.story, world.description, world.sentence))(rng) + "<|im_end|>"


def window(rng: random.Random, tokenizer) -> list[int]:
    """WINDOW + 1 ids that begin at the beginning of a document, as a prompt does."""
    ids: list[int] = []
    while len(ids) <= WINDOW:
        ids += tokenizer.encode(document(rng)).ids + [0]
    return ids[: WINDOW + 1]


def rate(step: int) -> float:
    if step < WARM_UP:
        return PEAK_RATE * (step + 1) / WARM_UP
    return PEAK_RATE * 0.5 * (1 + math.cos(math.pi * (step - WARM_UP) / (STEPS - WARM_UP)))


def train(tokenizer) -> LlamaForCausalLM:
    torch.manual_seed(1)
    rng = random.Random(2)
    model = LlamaForCausalLM(LlamaConfig(**CONFIG))
    matrices = [p for p in model.parameters() if p.ndim == 2]
    vectors = [p for p in model.parameters() if p.ndim != 2]
    optimiser = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.05}, {"params": vectors, "weight_decay": 0.0}],
        lr=PEAK_RATE,
        betas=(0.9, 0.98),
    )
    began = time.monotonic()
    for step in range(STEPS):
        for group in optimiser.param_groups:
            group["lr"] = rate(step)
        ids = torch.tensor([window(rng, tokenizer) for _ in range(BATCH)])
        logits = model(ids[:, :-1]).logits
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY), ids[:, 1:].reshape(-1))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if step % 100 == 0 or step == STEPS - 1:
            print(f"step {step}: loss {loss.item():.3f}, {time.monotonic() - began:.0f} s", flush=True)
    return model.eval()


def generate(golden: Path) -> None:
    torch.set_num_threads(1)
    rng = random.Random(3)
    vocabulary = vocabularies.byte_level("smollm", VOCABULARY, [document(rng) for _ in range(3000)])
    model = train(assemble(vocabulary.pre, vocabulary.tokens, vocabulary.types, vocabulary.merges))
    exporter = Exporter(
        golden / "models" / "tiny-world" / "model.gguf", "llama", "tiny-world", model.config, vocabulary
    )
    exporter.add_chat_template(CHAT_TEMPLATE)
    exporter.add_model(model, Q.Q8_0)
    exporter.close()
