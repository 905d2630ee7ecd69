"""Conversations of the two chat models, turn by turn: prompt ids and the greedy answer, by transformers in f32.

The rules that Plumbline's own conversations follow are acted out here once more, in few lines: the template renders the
whole transcript, text of strangers makes no control token, the oldest whole groups go when the context is too small.
Where history_ids are stored, an answer that the template writes as it was said has the ids that were generated.
"""

import gc
import json
from pathlib import Path

import torch
from transformers.utils.chat_template_utils import render_jinja_template

import provenance
from checkpoint import Checkpoint
from reference_runs import greedy_rows
from tokenizer_kinds import reference_tokenizer

CHAT_MODELS = ("smollm2-135m", "qwen2.5-coder-0.5b")
CONTROLS = ("<|im_start|>", "<|im_end|>")
END_TOKENS = ("<|im_end|>", "<|endoftext|>")
STRANGERS = ("user", "tool")
SETS = {"scenarios": "", "stored": ".stored"}  # of scenarios, and how their records' files are called


class History:
    """Chunks that the model said, each with the message that it belongs to and the ids it was said with."""

    def __init__(self):
        self.said: list[tuple[dict, str, list[int]]] = []
        self.n_spoken = 0
        self.n_mismatches = 0

    def begin_prompt(self, messages: list[dict]) -> list[tuple[str, list[int]]]:
        self.n_spoken = self.n_mismatches = 0
        return [(chunk, ids) for message, chunk, ids in self.said if any(message is one for one in messages)]

    def ids(self, left: list[tuple[str, list[int]]], chunk: str, tokenized: list[int]) -> list[int]:
        """Of a chunk of a prompt: of equal ones the first is the first that was said."""
        for at, (said, ids) in enumerate(left):
            if said == chunk:
                del left[at]
                self.n_spoken += 1
                self.n_mismatches += ids != tokenized
                return ids
        return tokenized


class Speaker:
    def __init__(self, gguf: Path, tokenizers: Path):
        checkpoint = Checkpoint(gguf)
        self.tokenizer = reference_tokenizer(checkpoint, tokenizers)
        self.template = checkpoint.value("tokenizer.chat_template")
        self.ends = [self.tokenizer.token_to_id(token) for token in END_TOKENS]
        self.model = checkpoint.model()

    def prompt_ids(self, messages: list[dict], tools, continues: bool, history: History) -> list[int]:
        """Ids of the rendered transcript. Between two control tokens of the template all text is one chunk.

        A stranger's text is a private character while the template runs, so that it is known where it came out.
        """
        marks = {chr(0xE000 + at): m["content"] for at, m in enumerate(messages) if m["role"] in STRANGERS}
        masked = [m | {"content": chr(0xE000 + at)} if m["role"] in STRANGERS else m for at, m in enumerate(messages)]
        (text,), _ = render_jinja_template(
            [masked],
            tools=tools,
            chat_template=self.template,
            add_generation_prompt=not continues,
            continue_final_message=continues,
        )
        ids: list[int] = []
        left = history.begin_prompt(messages)
        while text:
            at, control = min((text.find(c), c) if c in text else (len(text), "") for c in CONTROLS)
            chunk = text[:at]
            for mark, content in marks.items():
                chunk = chunk.replace(mark, content)
            self.tokenizer.encode_special_tokens = True
            self.last = (chunk, history.ids(left, chunk, self.tokenizer.encode(chunk, add_special_tokens=False).ids))
            ids += self.last[1]
            if control:
                ids.append(self.tokenizer.token_to_id(control))
            text = text[at + len(control) :]
        return ids

    def answer(self, prompt: list[int], max_tokens: int) -> dict:
        """Greedy ids up to an end token, which is among them, and the lead of each over its runner-up."""
        ids, gaps = [], []
        for row in greedy_rows(self.model, prompt, max_tokens):
            best, second = torch.topk(row, 2).values.tolist()
            ids.append(int(row.argmax()))
            gaps.append(round(best - second, 5))
            if ids[-1] in self.ends:
                break
        return {
            "ids": ids,
            "gaps": gaps,
            "text": self.tokenizer.decode(self.without_end(ids), skip_special_tokens=True),
        }

    def without_end(self, ids: list[int]) -> list[int]:
        return [token for token in ids if token not in self.ends]


def groups(messages: list[dict]) -> list[list[dict]]:
    """What is evicted as one: a user's message with all that follows up to the next one's. Without the system."""
    found: list[list[dict]] = []
    for message in messages:
        if message["role"] == "system":
            continue
        if message["role"] == "user" or not found:
            found.append([])
        found[-1].append(message)
    return found


def fit(
    speaker: Speaker,
    messages: list[dict],
    tools,
    continues: bool,
    context: dict | None,
    max_tokens: int,
    history: History,
):
    """The prompt's ids and how many groups went so that they fit."""
    ids = speaker.prompt_ids(messages, tools, continues, history)
    if context is None:
        return ids, 0
    room = context["length"] - min(context["reserve_output"], max_tokens)
    if len(ids) <= room:
        return ids, 0
    system = [message for message in messages if message["role"] == "system"]
    left = groups(messages)
    n_evicted = 0
    target = min(room, context.get("evict_to", room // 4 * 3))
    while len(ids) > target and len(left) > 1:
        left = left[1:]
        n_evicted += 1
        ids = speaker.prompt_ids(system + [m for group in left for m in group], tools, continues, history)
    if len(ids) > room:
        raise ValueError(f"{len(ids)} ids do not fit into {room}")
    messages[:] = system + [m for group in left for m in group]
    return ids, n_evicted


def act(speaker: Speaker, scenario: dict, is_stored: bool) -> list[dict]:
    """One record for each answer."""
    messages: list[dict] = []
    records = []
    history = History()
    context = scenario.get("context")
    tools = scenario.get("tools")
    for step in scenario["steps"]:
        if "given" in step:
            messages += step["given"]
            continue
        if "edit" in step:
            at = step["edit"]
            messages = [*messages[:at], messages[at] | {"content": step["content"]}]
        messages += step.get("say", [])
        begun = step.get("continue", "")
        if begun:
            messages.append({"role": "assistant", "content": begun})
        max_tokens = step["max_tokens"]
        sized = context
        if context and isinstance(context["length"], str):  # measured at the last step, where it matters
            is_last = step is scenario["steps"][-1]
            exact = len(speaker.prompt_ids(messages, tools, bool(begun), history)) + context["reserve_output"]
            sized = context | {"length": exact - (context["length"] == "one_less")} if is_last else None
        ids, n_evicted = fit(speaker, messages, tools, bool(begun), sized, max_tokens, history)
        answer = speaker.answer(ids, max_tokens)
        if "cancel_after" in step:
            n = step["cancel_after"]
            cut = answer["ids"][:n]
            answer = {"ids": cut, "gaps": answer["gaps"][:n], "text": speaker.tokenizer.decode(cut)}
        if begun:
            messages[-1] = {"role": "assistant", "content": begun + answer["text"]}
        else:
            messages.append({"role": "assistant", "content": answer["text"]})
        if is_stored:
            chunk, chunk_ids = speaker.last
            history.said.append((messages[-1], chunk + answer["text"], chunk_ids + speaker.without_end(answer["ids"])))
        record = {"scenario": scenario["name"], "prompt_ids": ids, "evicted_groups": n_evicted} | answer
        record |= {"context_length": sized["length"]} if sized else {}
        records.append(
            record | ({"n_spoken": history.n_spoken, "n_mismatches": history.n_mismatches} if is_stored else {})
        )
    return records


def generate(golden: Path, models: Path, sets=tuple(SETS)) -> None:
    folder = golden / "conversations"
    inputs = {f"{name}.json": provenance.sha256(folder / f"{name}.json") for name in SETS}
    for model in CHAT_MODELS:
        gguf = models / f"{model}.gguf"
        inputs[gguf.name] = provenance.sha256(gguf)
        speaker = Speaker(gguf, models)
        for name in sets:
            listed = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
            records = []
            for scenario in listed["scenarios"]:
                records += act(speaker, scenario, listed.get("history_ids") == "stored")
                print(f"{model} {scenario['name']}: last: {records[-1]['text'][:70]!r}", flush=True)
            provenance.write_jsonl(folder / f"{model}{SETS[name]}.jsonl", records)
        del speaker
        gc.collect()
    provenance.write(folder, "conversations", ["transformers", "torch", "gguf", "tokenizers", "jinja2"], inputs)
