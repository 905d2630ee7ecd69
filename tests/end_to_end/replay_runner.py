"""A runner that repeats what an engine once answered: a folder of golden/runners, named by PLUMB_TRANSCRIPT."""

import json
import math
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "core/sdk/python"))
import plumb_runner

FREE = ("path", "threads", "options")  # of the machine, not of the answer


def asked(request: dict, ids) -> tuple:
    kept = {key: value for key, value in request.items() if key not in (*FREE, "tensors")}
    return json.dumps(kept, sort_keys=True), tuple(ids)


folder = Path(os.environ["PLUMB_TRANSCRIPT"])
data = (folder / "tensors.bin").read_bytes()
answers, at = {}, 0
for line in (folder / "transcript.jsonl").read_text(encoding="utf-8").splitlines():
    said = json.loads(line)
    size = sum(4 * math.prod(tensor["shape"]) for tensor in said["answer"].get("tensors", []))
    answers[asked(said["request"], said["ids"])] = said["answer"], data[at : at + size]
    at += size

pipe = plumb_runner.Pipe()
while (got := pipe.request()) is not None and got[0]["do"] != "end":
    if asked(*got) not in answers:
        pipe.error("invalid_argument", "the transcript has no such request: golden/generate/generate.py runners")
        continue
    answer, tensors = answers[asked(*got)]
    pipe.line(answer)
    pipe.bytes(tensors)
    pipe.flush()
