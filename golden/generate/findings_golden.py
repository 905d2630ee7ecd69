"""Differences found in other people's engines (core/doc/findings.md), with the reference's own answer.

Writes golden/findings: templates.jsonl, a line {"name", "template", "found", "messages", "expected"} each, where
`messages` is what is left of the conversation `found`, and `expected` is jinja2's rendering of it.
"""

from pathlib import Path

from transformers.utils import chat_template_utils

import provenance
from template_golden import call, say
from template_language import Clock
from template_public import ASKS, CALLS, result

CALL_IN_TEXT = [say("assistant", "", tool_calls=[call("f", '{"a": 1}')]), say("user", "Thanks")]
MAP_AS_RESULT = [result({"sky": "clear", "t": 21.5}, 0)]
FOUND = (
    ("last_of_a_text", "public/llama3.2-pythonic.jinja", [say("user", "x"), *CALL_IN_TEXT], CALL_IN_TEXT),
    ("map_in_a_text", "qwen2.5-coder-0.5b.jinja", [ASKS, CALLS, *MAP_AS_RESULT], MAP_AS_RESULT),
)


def generate(golden: Path) -> None:
    folder = golden / "findings"
    folder.mkdir(exist_ok=True)
    chat_template_utils.datetime = Clock
    lines, inputs = [], {}
    for name, template, found, messages in FOUND:
        path = golden / "templates" / template
        inputs[f"templates/{template}"] = provenance.sha256(path)
        rendered, _ = chat_template_utils.render_jinja_template(
            [messages], chat_template=path.read_text(encoding="utf-8"), add_generation_prompt=True, bos_token=""
        )
        line = {"name": name, "template": template, "found": found, "messages": messages, "expected": rendered[0]}
        lines.append(line)
    provenance.write_jsonl(folder / "templates.jsonl", lines)
    provenance.write(folder, "findings", ["transformers", "jinja2"], inputs)
