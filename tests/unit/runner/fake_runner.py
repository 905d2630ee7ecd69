"""A runner without an engine. What it is called is what it does wrong; `good.py` does nothing wrong.

Its model: 2 layers, 2 heads of 4 channels, one of them for keys, 11 ids. Row p of a tap has
1000 * layer + 100 * p + channel; of the logits, id v has (7 * sum of the ids so far + 3 * v) mod 13.
With FAKE_VOCABULARY=512 it has so many ids, and does not tell what they stand for.
"""

import array
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "core/sdk/python"))
import plumb_runner
from plumb_runner import Refusal, Tensor

FAULT = Path(sys.argv[0]).stem
V, LAYERS, HEADS, WIDTH = int(os.environ.get("FAKE_VOCABULARY", 11)), 2, 2, 4
TAPS = {"embed": 8} | {f"layers.{i}.{n}": w for i in range(LAYERS) for n, w in (("q", 8), ("k", 4), ("qkv", 16), ("heads", 8), ("late", 8))}

FACTS = {
    "architecture": "fake",
    "numerics": "f32",
    "n_vocab": V,
    "n_layers": LAYERS,
    "n_context": 16,
    "sizes": {"n_heads": HEADS, "n_heads_kv": 1, "head_width": WIDTH},
    "taps": [{"name": name, "width": width} for name, width in TAPS.items()],
}
if V == 11:
    FACTS["vocabulary_sha256"] = "a" * 64

# What one key of the loaded model's facts is instead.
WRONG_FACTS = {
    "negative_count": ("n_vocab", -1),
    "fractional_count": ("n_vocab", 11.5),
    "zero_count": ("n_layers", 0),
    "huge_count": ("n_vocab", 1 << 62),
    "text_count": ("n_vocab", "11"),
    "other_vocabulary": ("n_vocab", 12),
    "other_bytes": ("vocabulary_sha256", "b" * 64),
    "no_architecture": ("architecture", ""),
    "taps_no_list": ("taps", {"q": 8}),
    "taps_no_objects": ("taps", ["q", "k"]),
    "tap_without_width": ("taps", [{"name": "q"}]),
    "tap_named_logits": ("taps", [{"name": "logits", "width": V}]),
    "sizes_no_object": ("sizes", [1, 2]),
    "strange_architecture": ("architecture", "../../etc/passwd"),
}


def floats(values) -> bytes:
    return array.array("f", values).tobytes()


class Engine:
    name = "fake"

    def __init__(self):
        self.ids = []

    def version(self) -> str:
        return "1.2.3"

    def load(self, path, threads, options):
        if FAULT == "refuses_to_load":
            raise Refusal("unsupported", f"no model of this kind: {path}")
        if FAULT == "defect":
            raise ValueError("an exception of its own")
        if FAULT in WRONG_FACTS:
            key, value = WRONG_FACTS[FAULT]
            return FACTS | {key: value}
        known = plumb_runner.option(options, "echo", "")
        plumb_runner.no_more(options, ["echo"])
        return FACTS | {"numerics": known or "f32"}

    def forward(self, keep, ids, taps, all_rows):
        if FAULT == "refuses_to_run" and keep == 0 and len(ids) == 2:
            raise Refusal("unsupported", "not two ids")
        self.ids = self.ids[:keep] + list(ids)
        positions = range(keep, len(self.ids))
        rows = []
        for p in positions if all_rows else positions[-1:]:
            rows += [float((7 * sum(self.ids[: p + 1]) + 3 * v) % 13) for v in range(V)]
        if FAULT == "observed" and taps:
            rows[0] += 1
        if FAULT == "nan_logits":
            rows[-2] = float("nan")
        tensors = [Tensor("logits", [len(rows) // V, V], floats(rows))]
        return tensors + [self._tap(name, positions) for name in taps]

    def _tap(self, name, positions):
        width = TAPS[name]
        layer = int(name.split(".")[1]) if "." in name else 0
        value = lambda p, c: 1000.0 * layer + 100.0 * p + c
        if name.endswith("late"):
            positions = positions[-1:]
        if name.endswith("heads"):
            shape = [HEADS, len(positions), WIDTH]
            values = [value(p, h * WIDTH + c) for h in range(HEADS) for p in positions for c in range(WIDTH)]
        else:
            shape = [len(positions), width]
            values = [value(p, c) for p in positions for c in range(width)]
        return Tensor(name, shape, floats(values))


class FaultyPipe(plumb_runner.Pipe):
    """Breaks the protocol itself, at the request that the fault is named for."""

    def request(self):
        if FAULT == "does_not_read":
            time.sleep(1000)
        got = super().request()
        do = got[0].get("do") if got else None
        if FAULT == "ignores_the_end" and do in ("end", None):
            time.sleep(1000)
        if FAULT == f"dies_at_{do}":
            print("last words", file=sys.stderr, flush=True)
            os._exit(9)
        if FAULT == f"killed_at_{do}":
            os.kill(os.getpid(), signal.SIGKILL)
        if FAULT == f"hangs_at_{do}":
            print("thinking", file=sys.stderr, flush=True)
            time.sleep(1000)
        if FAULT == "leaves_a_child" and do == "forward":
            subprocess.Popen(["sleep", "1000"])
            os._exit(3)
        if FAULT == "floods_its_errors" and do == "forward":
            os.write(2, b"x" * (1 << 22))
        if FAULT == f"rubbish_at_{do}":
            self.raw(b"hello, world\n")
        if FAULT == f"empty_line_at_{do}":
            self.raw(b"\n")
        if FAULT == f"not_utf8_at_{do}":
            self.raw(b'{"engine": "\xff\xfe"}\n')
        if FAULT == f"list_at_{do}":
            self.raw(b"[1, 2]\n")
        if FAULT == f"nan_at_{do}":
            self.raw(b'{"n_vocab": NaN}\n')
        if FAULT == f"deep_at_{do}":
            self.raw(b'{"a":' * 100000 + b"1" + b"}" * 100000 + b"\n")
        if FAULT == f"long_line_at_{do}":
            self.raw(b" " * (1 << 22))
        if FAULT == f"error_that_is_text_at_{do}":
            self.raw(b'{"error": "no"}\n')
        if FAULT == f"unknown_code_at_{do}":
            self.raw(b'{"error": {"code": "meltdown", "message": "?"}}\n')
        return got

    def raw(self, data):
        try:
            self.bytes(data)
            self.flush()
            time.sleep(1000)
        except BrokenPipeError:
            os._exit(1)

    def line(self, answer):
        if FAULT == "another_protocol" and "engine" in answer:
            answer["protocol"] = "plumb.runner/9"
        super().line(answer)

    def tensors(self, tensors):
        if FAULT == "wrong_shape":
            tensors[0].shape = [1, V + 1]
        elif FAULT == "overflowing_shape":
            tensors[-1].shape = [1 << 24, 1 << 24, 1 << 24]
        elif FAULT == "shape_of_rank_4":
            tensors[-1].shape = [1, 1, 1, 8]
        elif FAULT == "negative_shape":
            tensors[-1].shape = [-1, -8]
        elif FAULT == "too_many_rows":
            tensors[-1].shape[0] += 1
        elif FAULT == "another_width":
            tensors[-1].shape[1] *= 2
        elif FAULT == "another_name":
            tensors[-1].name = "layers.0.o"
        elif FAULT == "one_tensor_less":
            tensors.pop()
        elif FAULT == "one_tensor_more":
            tensors.append(tensors[-1])
        heads = [{"name": t.name, "dtype": "f32", "shape": t.shape} for t in tensors]
        if FAULT == "another_dtype":
            heads[0]["dtype"] = "f64"
        if FAULT == "no_shape":
            del heads[0]["shape"]
        self.line({"tensors": heads})
        data = b"".join(bytes(t.data) for t in tensors)
        if FAULT.startswith("half_a_tensor"):
            self.bytes(data[: len(data) // 2])
            self.flush()
            if FAULT.endswith("then_dies"):
                os._exit(4)
            time.sleep(1000)
        self.bytes(data + (b"more" if FAULT == "too_many_bytes" else b""))
        self.flush()


plumb_runner.Pipe = FaultyPipe
plumb_runner.serve(Engine())
