"""What the runners of transformers and llama.cpp answered when `plumb diff` asked them: golden/runners/NAME.

A line of transcript.jsonl is a request, its ids, and the answer; tensors.bin has the answers' tensors one after the
other. Needs the built program (PLUMB, or build/release/bin/plumb): it starts this very file as its runner.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUNNERS = ROOT / "plugins/runners"
MODEL = ROOT / "golden/models/tiny-world/model.gguf"
ENGINES = {
    "transformers": ["transformers", "torch"],
    "llama_cpp": ["llama-cpp-python"],
}
IDS = "365,334,288,261,300,17,42"
RECORDED = "PLUMB_RECORDED_ENGINE"


def _record(engine: str, folder: Path) -> None:
    """Is the runner, and keeps what is said."""
    sys.path[:0] = [str(RUNNERS / engine), str(ROOT / "core/sdk/python")]
    import plumb_runner

    folder.mkdir(parents=True, exist_ok=True)
    transcript = (folder / "transcript.jsonl").open("w", encoding="utf-8")
    tensors = (folder / "tensors.bin").open("wb")

    class Recorder(plumb_runner.Pipe):
        def request(self):
            got = super().request()
            if got is not None:
                self._asked = {key: value for key, value in got[0].items() if key != "tensors"}
                if "path" in self._asked:
                    self._asked["path"] = MODEL.name
                self._ids = list(got[1])
            return got

        def line(self, answer):
            super().line(answer)
            transcript.write(json.dumps({"request": self._asked, "ids": self._ids, "answer": answer}) + "\n")
            transcript.flush()

        def tensors(self, given):
            super().tensors(given)
            for tensor in given:
                tensors.write(tensor.data)
            tensors.flush()

    plumb_runner.Pipe = Recorder
    spec = importlib.util.spec_from_file_location("engine_runner", RUNNERS / engine / "runner.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    plumb_runner.serve(module.Transformers() if engine == "transformers" else module.LlamaCpp())


def generate(golden: Path) -> None:
    import provenance

    plumb = os.environ.get("PLUMB", str(ROOT / "build/release/bin/plumb"))
    for engine, programs in ENGINES.items():
        folder = golden / "runners" / engine
        with tempfile.TemporaryDirectory() as work:
            ours = f"plumbline: 1\nmodel: {{source: {{path: {MODEL}}}}}\n"
            Path(work, "ours.yaml").write_text(ours)
            maps = RUNNERS / engine / "maps/llama.yaml"
            Path(work, "theirs.yaml").write_text(
                f"{ours}runner: {{name: {Path(__file__).resolve()}, python: {sys.executable}, map: {maps}}}\n"
            )
            made = subprocess.run(
                [plumb, "diff", "theirs.yaml", "ours.yaml", "--ids", IDS, "--tokens", "1"],
                cwd=work,
                env=os.environ | {RECORDED: f"{engine}:{folder}"},
            )
        if made.returncode > 1:
            raise SystemExit(f"plumb diff: exit {made.returncode}")
        provenance.write(folder, "runners", programs, {MODEL.name: provenance.sha256(MODEL)})


if __name__ == "__main__":
    # plumb starts this file as its runner.
    name, into = os.environ[RECORDED].split(":", 1)
    _record(name, Path(into))
