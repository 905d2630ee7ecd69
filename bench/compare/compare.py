"""Times llama.cpp and Plumbline in turn on the same file, threads and token ids.

    python compare.py MODEL.gguf... [--threads 1,2] [--pairs 9] [--json]

README.md tells what is measured. Data goes to stdout, progress to stderr.
"""

import argparse
import importlib.metadata
import json
import platform
import sys
from pathlib import Path

import numpy as np

from engines import LlamaCpp, Plumbline

PHASES = ("prefill", "decode")
N_FIRST = 5  # ids of the prompt that stands behind the time to the first token, as in plumb bench


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def first_token_pairs(model: Path, threads: int, options: argparse.Namespace) -> list[dict]:
    """Load to first logits, in turn: seconds of each."""
    pairs = []
    for _ in range(options.loads):
        with Plumbline(options.plumb, model, threads, N_FIRST, 1, options.set) as ours:
            first_ids, ours_s = ours.prefill_ids, ours.first_token_s
        with LlamaCpp(model, threads, options.prefill + options.decode, first_ids) as theirs:
            pairs.append({"llama_cpp": theirs.first_token_s, "plumbline": ours_s})
    return pairs


def measure(model: Path, threads: int, options: argparse.Namespace) -> dict:
    """All pairs of one model at one number of threads."""
    with (
        Plumbline(options.plumb, model, threads, options.prefill, options.decode, options.set) as ours,
        LlamaCpp(model, threads, options.prefill + options.decode, ours.prefill_ids[:N_FIRST]) as theirs,
    ):
        theirs.run(ours.prefill_ids, ours.decode_ids)  # warms up, as Plumbline has
        pairs = []
        for pair in range(options.pairs):
            a = theirs.run(ours.prefill_ids, ours.decode_ids)
            b = ours.run()
            pairs.append({"llama_cpp": a, "plumbline": b, "read_bytes_per_s": b.pop("read_bytes_per_s")})
            progress(
                f"{model.name}, {threads} threads, pair {pair + 1} of {options.pairs}: "
                + ", ".join(f"{phase} {a[phase]:.1f} and {b[phase]:.1f}" for phase in PHASES)
            )
        return {
            "model": model.name,
            "threads": threads,
            "kernels": ours.kernels,
            "bytes_per_token": {
                "llama_cpp": ours.weight_bytes + theirs.kv_bytes_per_row * options.decode / 2,
                "plumbline": ours.weight_bytes + ours.kv_bytes_per_row * options.decode / 2,
            },
            "pairs": pairs,
        }


def spread(values: list[float]) -> dict[str, float]:
    return {"median": float(np.median(values)), "min": min(values), "max": max(values)}


def summarise(result: dict) -> dict:
    """Medians and spreads; a ratio is taken inside each pair, above 1 where Plumbline is faster."""
    pairs, bytes_per_token = result["pairs"], result["bytes_per_token"]
    summary = {}
    for phase in PHASES:
        summary[phase] = {
            side: spread([pair[side][phase] for pair in pairs]) for side in ("llama_cpp", "plumbline")
        } | {"ratio": spread([pair["plumbline"][phase] / pair["llama_cpp"][phase] for pair in pairs])}
    summary["read_bytes_per_s"] = spread([pair["read_bytes_per_s"] for pair in pairs])
    summary["decode_share_of_read"] = {
        side: spread([pair[side]["decode"] * bytes_per_token[side] / pair["read_bytes_per_s"] for pair in pairs])
        for side in ("llama_cpp", "plumbline")
    }
    loads = result["loads"]
    if loads:
        summary["first_token_s"] = {
            side: spread([pair[side] for pair in loads]) for side in ("llama_cpp", "plumbline")
        } | {"ratio": spread([pair["llama_cpp"] / pair["plumbline"] for pair in loads])}
    return summary


def table_rows(result: dict) -> list[list[str]]:
    def cell(values: dict[str, float], scale: float = 1, digits: int = 1) -> str:
        median, low, high = (f"{values[key] * scale:.{digits}f}" for key in ("median", "min", "max"))
        return f"{median} ({low}..{high})"

    summary = result["summary"]
    head = [result["model"], str(result["threads"])]
    rows = []
    for phase in PHASES:
        one = summary[phase]
        row = [*head, f"{phase} tok/s", cell(one["llama_cpp"]), cell(one["plumbline"]), cell(one["ratio"], 1, 2)]
        rows.append(row + ["", "", ""])
    shares = summary["decode_share_of_read"]
    rows[-1][-3:] = [
        cell(summary["read_bytes_per_s"], 1e-9),
        cell(shares["llama_cpp"], 100, 0),
        cell(shares["plumbline"], 100, 0),
    ]
    if "first_token_s" in summary:
        one = summary["first_token_s"]
        millis = [cell(one["llama_cpp"], 1e3, 0), cell(one["plumbline"], 1e3, 0), cell(one["ratio"], 1, 2)]
        rows.append([*head, "load to first token ms", *millis, "", "", ""])
    return rows


def print_table(report: dict) -> None:
    print(f"{report['processor']}; llama-cpp-python {report['llama_cpp_python']}: {report['llama_cpp']}")
    print(f"Plumbline's kernels: {report['results'][0]['kernels']}")
    print("median (min..max); ratio above 1: Plumbline is faster")
    titles = ["model", "threads", "what", "llama.cpp", "Plumbline", "ratio", "read GB/s", "llama.cpp %", "Plumbline %"]
    rows = [titles, *(row for result in report["results"] for row in table_rows(result))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(titles))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def parse_arguments() -> argparse.Namespace:
    build = Path(__file__).resolve().parents[2] / "build/release/bin/plumb"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL.gguf")
    parser.add_argument("--plumb", type=Path, default=build, help="the plumb to measure (%(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override for Plumbline")
    parser.add_argument("--threads", default="1,2", help="counts between commas (%(default)s)")
    parser.add_argument("--pairs", type=int, default=9, help="runs of each (%(default)s)")
    parser.add_argument("--loads", type=int, default=5, help="loads of each; 0: none (%(default)s)")
    parser.add_argument("--prefill", type=int, default=512, help="tokens of the prompt (%(default)s)")
    parser.add_argument("--decode", type=int, default=64, help="tokens decoded one by one (%(default)s)")
    parser.add_argument("--json", action="store_true", help="every pair and the summaries as JSON")
    options = parser.parse_args()
    if min(options.pairs, options.prefill, options.decode) < 1 or options.loads < 0:
        parser.error("--pairs, --prefill and --decode: at least 1; --loads: at least 0")
    return options


def main() -> None:
    options = parse_arguments()
    results = []
    for model in options.models:
        for threads in map(int, options.threads.split(",")):
            result = measure(model, threads, options) | {"loads": first_token_pairs(model, threads, options)}
            results.append(result | {"summary": summarise(result)})
    report = {
        "processor": processor(),
        "llama_cpp_python": importlib.metadata.version("llama-cpp-python"),
        "llama_cpp": LlamaCpp.build(),
        "prefill": options.prefill,
        "decode": options.decode,
        "results": results,
    }
    if options.json:
        json.dump(report, sys.stdout, indent=2)
        print()
    else:
        print_table(report)


if __name__ == "__main__":
    main()
