"""golden/rope: inverse frequencies and attention factors of position angles as transformers computes them in f32."""

from pathlib import Path

from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

import provenance

LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}

# name, width of a head, parameters as a config.json states them
CASES = [
    ("plain", 64, {"rope_type": "default", "rope_theta": 10000.0}),
    ("plain-qwen2", 128, {"rope_type": "default", "rope_theta": 1e6}),
    ("linear", 64, {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}),
    ("llama3", 128, {"rope_type": "llama3", "rope_theta": 500000.0} | LLAMA3),
    ("llama3-narrow", 64, {"rope_type": "llama3", "rope_theta": 500000.0} | LLAMA3 | {"factor": 32.0}),
    ("yarn", 64, {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 64}),
    ("yarn-qwen", 128, {"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 32768}),
    (
        "yarn-betas",
        128,
        {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 16.0, "original_max_position_embeddings": 4096}
        | {"beta_fast": 48.0, "beta_slow": 2.0},
    ),
]


def record(name: str, head_width: int, parameters: dict) -> dict:
    config = LlamaConfig(
        hidden_size=2 * head_width,
        num_attention_heads=2,
        head_dim=head_width,
        max_position_embeddings=int(
            parameters.get("original_max_position_embeddings", 4096) * parameters.get("factor", 1)
        ),
        rope_parameters=dict(parameters),
    )
    rope = LlamaRotaryEmbedding(config)
    return {
        "name": name,
        "n_rotated": head_width,
        "parameters": parameters,
        "attention_factor": float(rope.attention_scaling),
        "inverse_frequencies": [float(x) for x in rope.inv_freq],
    }


def generate(golden: Path) -> None:
    folder = golden / "rope"
    folder.mkdir(exist_ok=True)
    provenance.write_jsonl(folder / "inverse_frequencies.jsonl", (record(*case) for case in CASES))
    provenance.write(folder, "rope", ["transformers", "torch"], {})
