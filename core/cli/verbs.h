// verbs.h: the verbs of `plumb`. Each adds its sub-command; the callback sets the exit code.
#pragma once

#include <CLI/CLI.hpp>

namespace plumbline::cli {

void add_run(CLI::App& app, int& exit);
void add_chat(CLI::App& app, int& exit);
void add_tokenize(CLI::App& app, int& exit);
void add_render(CLI::App& app, int& exit);
void add_doctor(CLI::App& app, int& exit);
void add_logits(CLI::App& app, int& exit);
void add_sample(CLI::App& app, int& exit);
void add_trace(CLI::App& app, int& exit);
void add_trace_show(CLI::App& trace, int& exit);
void add_diff(CLI::App& app, int& exit);
void add_bisect(CLI::App& app, int& exit);
void add_reduce(CLI::App& app, int& exit);
void add_reproduce(CLI::App& app, int& exit);
void add_perplexity(CLI::App& app, int& exit);
void add_bench(CLI::App& app, int& exit);
void add_plugins(CLI::App& app, int& exit);
void add_plugin_kit(CLI::App& plugins, int& exit);
void add_model(CLI::App& app, int& exit);
void add_model_quantize(CLI::App& model, int& exit);
void add_golden(CLI::App& app, int& exit);
void add_protocol(CLI::App& app, int& exit);
void add_noise(CLI::App& app, int& exit);
void add_config(CLI::App& app, int& exit);
void add_lint(CLI::App& app, int& exit);

}  // namespace plumbline::cli
