"""provenance.json: which program made a folder's golden data, from which inputs, by which command."""

import datetime
import hashlib
import json
from importlib.metadata import version
from pathlib import Path


def sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def write(folder: Path, step: str, programs: list[str], inputs: dict[str, str]) -> None:
    """`inputs` maps a name to its sha256. A run with the same programs and inputs keeps the date of the first."""
    path = folder / "provenance.json"
    record = {
        "programs": {name: version(name) for name in programs},
        "command": f"python golden/generate/generate.py {step}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "inputs_sha256": inputs,
    }
    if path.exists():
        earlier = json.loads(path.read_text(encoding="utf-8"))
        if earlier | {"date": record["date"]} == record:
            return
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_jsonl(path: Path, records) -> None:
    path.write_text("".join(_line(record) + "\n" for record in records), encoding="utf-8")


def _line(record) -> str:
    """JSON in UTF-8; the separators at which some readers would also split lines are escaped."""
    text = json.dumps(record, ensure_ascii=False)
    for separator in "\u0085\u2028\u2029":
        text = text.replace(separator, f"\\u{ord(separator):04x}")
    return text
