#!/usr/bin/env python3
"""A runner under 60 lines: its engine is `plumb logits`, asked anew for every answer. Put yours in its place.

$PLUMB: the program, if it is not on the PATH.
"""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.environ.get("PLUMB_PYTHON_SDK", "@PYTHON_SDK@"))
import plumb_runner
from plumb_runner import Refusal, Tensor


def plumb(*arguments: str) -> bytes:
    done = subprocess.run([os.environ.get("PLUMB", "plumb"), *arguments], capture_output=True, check=False)
    if done.returncode != 0:
        raise Refusal("internal", done.stderr.decode(errors="replace").strip())
    return done.stdout


class Engine:
    name = "@ID@"

    def version(self) -> str:
        return plumb("--version").decode().split()[-1]

    def load(self, path: str, threads: int, options: dict) -> dict:
        plumb_runner.no_more(options, [])
        facts = json.loads(plumb("model", "inspect", path, "--json"))["hyper_parameters"]
        self._path, self._n_vocab, self._ids = path, facts["n_vocab"], []
        return {
            "architecture": facts["architecture"],
            "numerics": "as plumb",
            "n_vocab": self._n_vocab,
            "n_layers": facts["n_layers"],
            "n_context": facts["n_context_train"],
            "sizes": {},
            "taps": [],
        }

    def forward(self, keep: int, ids, taps: list[str], all_rows: bool) -> list[Tensor]:
        self._ids = self._ids[:keep] + list(ids)
        told = ",".join(map(str, self._ids))
        npy = plumb("logits", "tiny-world", "--set", f"model.source.path={self._path}", "--ids", told, "--all")
        n_rows = len(ids) if all_rows else 1
        return [Tensor("logits", [n_rows, self._n_vocab], npy[-4 * n_rows * self._n_vocab :])]


plumb_runner.serve(Engine())
