"""Logits and greedy text of the demo model that train_tiny_world.py made."""

from pathlib import Path

from checkpoint import Checkpoint
from reference_runs import write_runs
from tokenizer_kinds import byte_level_tokenizer

TEXTS = {
    "story": "Once upon a time",
    "fact": "Mara lives in",
    "chat": "<|im_start|>user\nWho is Captain?<|im_end|>\n<|im_start|>assistant\n",
    "long": "Tobin the fisherman lives in the blue hut on the shore. In the morning Tobin puts on his green coat and "
    "takes a long net. All day he catches trout in the lake, and Button the white goose watches.",
}


def generate(golden: Path) -> None:
    folder = golden / "models" / "tiny-world"
    checkpoint = Checkpoint(folder / "model.gguf")
    tokenizer = byte_level_tokenizer(checkpoint)
    cases = [{"name": name, "text": text, "ids": tokenizer.encode(text).ids} for name, text in TEXTS.items()]
    write_runs(folder, "world", checkpoint, cases, cases, lambda ids: tokenizer.decode(ids, skip_special_tokens=False))
