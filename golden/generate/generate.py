"""Makes golden data: `python golden/generate/generate.py all --models DIR`. Steps: README.md beside this file."""

import argparse
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent.parent


def step_tiny(arguments) -> None:
    import tiny_models

    tiny_models.generate(GOLDEN)


def step_train(arguments) -> None:
    import train_tiny_world

    train_tiny_world.generate(GOLDEN)


def step_world(arguments) -> None:
    import world_golden

    world_golden.generate(GOLDEN)


def step_real(arguments) -> None:
    import real_models

    real_models.generate(GOLDEN, arguments.models)


def step_bundles(arguments) -> None:
    import bundle_golden

    bundle_golden.generate(GOLDEN, arguments.models)


def step_conversations(arguments) -> None:
    import conversation_golden

    conversation_golden.generate(GOLDEN, arguments.models)


def step_tokenizers(arguments) -> None:
    import tokenizer_golden

    tokenizer_golden.generate(GOLDEN, arguments.models)


def step_fuzz(arguments) -> None:
    import tokenizer_fuzz

    tokenizer_fuzz.generate(GOLDEN, arguments.models)


def step_components(arguments) -> None:
    import tokenizer_components

    tokenizer_components.generate(GOLDEN)


def step_text_suite(arguments) -> None:
    import text_suite

    text_suite.generate(GOLDEN, arguments.models)


def step_dequant(arguments) -> None:
    import dequant_golden

    dequant_golden.generate(GOLDEN)


def step_quantise(arguments) -> None:
    import quantise_golden

    quantise_golden.generate(GOLDEN)


def step_numerics(arguments) -> None:
    import numerics_golden

    numerics_golden.generate(GOLDEN)


def step_templates(arguments) -> None:
    import template_golden

    template_golden.generate(GOLDEN, arguments.models)


def step_public_templates(arguments) -> None:
    import template_public

    template_public.generate(GOLDEN, arguments.models / "packages")


def step_findings(arguments) -> None:
    import findings_golden

    findings_golden.generate(GOLDEN)


def step_math(arguments) -> None:
    import math_tables

    math_tables.generate(GOLDEN)


def step_perplexity(arguments) -> None:
    import perplexity_golden

    perplexity_golden.generate(GOLDEN)


def step_rope(arguments) -> None:
    import rope_golden

    rope_golden.generate(GOLDEN)


def step_samplers(arguments) -> None:
    import sampler_golden

    sampler_golden.generate(GOLDEN)


def step_attacks(arguments) -> None:
    import attack_strings

    attack_strings.generate(GOLDEN)


def step_made_tokenizers(arguments) -> None:
    import tempfile

    import made_tokenizers

    with tempfile.TemporaryDirectory() as work:
        made_tokenizers.generate(GOLDEN, Path(work))


def step_sentencepiece(arguments) -> None:
    import sentencepiece_golden

    sentencepiece_golden.generate(GOLDEN)


def step_runners(arguments) -> None:
    import runner_transcripts

    runner_transcripts.generate(GOLDEN)


def step_check(arguments) -> None:
    import cross_check

    cross_check.check(GOLDEN)


STEPS = {
    "tiny": step_tiny,
    "train": step_train,
    "world": step_world,
    "real": step_real,
    "bundles": step_bundles,
    "conversations": step_conversations,
    "tokenizers": step_tokenizers,
    "fuzz": step_fuzz,
    "templates": step_templates,
    "public_templates": step_public_templates,
    "findings": step_findings,
    "components": step_components,
    "text_suite": step_text_suite,
    "dequant": step_dequant,
    "quantise": step_quantise,
    "numerics": step_numerics,
    "math": step_math,
    "rope": step_rope,
    "perplexity": step_perplexity,
    "samplers": step_samplers,
    "attacks": step_attacks,
    "made_tokenizers": step_made_tokenizers,
    "sentencepiece": step_sentencepiece,
    "runners": step_runners,
    "check": step_check,
}
NEED_MODELS = (
    "real",
    "bundles",
    "conversations",
    "templates",
    "public_templates",
    "tokenizers",
    "fuzz",
    "text_suite",
    "all",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=[*STEPS, "all"])
    parser.add_argument("--models", type=Path, help="folder with the real models as NAME.gguf, tokenizers/NAME/")
    arguments = parser.parse_args()
    if arguments.step in NEED_MODELS and arguments.models is None:
        parser.error(f"step {arguments.step} needs --models FOLDER, see README.md")
    for name, step in STEPS.items():
        if arguments.step in (name, "all"):
            step(arguments)


if __name__ == "__main__":
    main()
