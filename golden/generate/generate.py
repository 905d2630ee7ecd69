"""Makes golden data: `python golden/generate/generate.py all --models DIR`. Steps and inputs: README.md beside this file."""

import argparse
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent.parent


def step_tiny(arguments) -> None:
    import tiny_models

    tiny_models.generate(GOLDEN)


def step_real(arguments) -> None:
    import real_models

    real_models.generate(GOLDEN, arguments.models)


def step_check(arguments) -> None:
    import cross_check

    cross_check.check(GOLDEN)


STEPS = {
    "tiny": step_tiny,
    "real": step_real,
    "check": step_check,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=[*STEPS, "all"])
    parser.add_argument("--models", type=Path, help="folder with the real models as NAME.gguf")
    arguments = parser.parse_args()
    for name, step in STEPS.items():
        if arguments.step in (name, "all"):
            step(arguments)


if __name__ == "__main__":
    main()
