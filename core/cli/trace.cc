// trace: what a run left at every door and every op, in a folder; and when, as a Chrome trace.
#include <cmath>
#include <filesystem>
#include <memory>

#include "core/base/os/durable.h"
#include "core/base/os/fresh_folder.h"
#include "core/cli/prompt_options.h"
#include "core/cli/session.h"
#include "core/cli/verbs.h"
#include "core/config/scalars.h"
#include "core/hash/sha256.h"
#include "core/trace/chrome_trace.h"
#include "core/trace/op_selection.h"
#include "core/trace/op_tracer.h"
#include "core/trace/trace_index.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;
using pipeline::OrderedJson;

struct TraceOptions {
  PipelineOptions pipeline;
  PromptOptions prompt;
  std::string ids;
  uint32_t n_tokens = 1;
  std::vector<std::string> patterns;
  std::vector<std::string> layers;
  std::string level = "statistics";
  uint64_t bytes_max = uint64_t{2} << 30;
  std::string out;
  std::string chrome_file;
  bool verify = false;
  bool json = false;
};

/// One run from an empty cache.
struct Run {
  pipeline::Generation generation;
  std::vector<trace::PickTrace> picks;
};

std::string_view bytes_of(std::span<const float> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

std::optional<double> if_told(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

class Tracer {
 public:
  explicit Tracer(const TraceOptions& options)
      : options_(options),
        session_(options.pipeline),
        interrupted_(catch_interrupt()),
        level_(*trace::level_of(options.level)) {}

  int run();

 private:
  void make_prompt();
  void select_ops();
  void check_room() const;
  uint64_t folder_bytes_max() const;
  uint64_t chrome_bytes_max() const;
  Run generate(model::OpObserver* observer, pipeline::GenerationRequest request);
  Run generate_traced(trace::TraceIndex& index);
  void generate_untraced(trace::TraceIndex& index);
  std::string generate_timed();
  void write_bytes_doors(const Run& run, trace::TraceIndex& index);
  trace::BytesTrace write_bytes(const std::string& file, std::string_view bytes) const;
  OrderedJson identity();
  pipeline::Pipeline& pipeline() { return session_.pipeline(); }

  TraceOptions options_;
  Session session_;
  const std::atomic<bool>& interrupted_;
  trace::Level level_;
  pipeline::Prompt prompt_;
  pipeline::Encoding encoding_;
  model::Decoder* decoder_ = nullptr;
  std::vector<const model::OpInfo*> ops_;
  std::optional<os::FreshFolder> folder_;
  trace::Clock::time_point prompt_begin_, prompt_end_, encode_end_;
};

void Tracer::make_prompt() {
  part_or_stop(pipeline().tokenizer());  // loaded before the clock starts
  prompt_begin_ = trace::Clock::now();
  if (!options_.ids.empty()) {
    encoding_.ids = parse_ids(options_.ids);
    encoding_.spans.resize(encoding_.ids.size());
    prompt_end_ = encode_end_ = trace::Clock::now();
    return;
  }
  prompt_ = options_.prompt.make(pipeline());
  prompt_end_ = trace::Clock::now();
  encoding_ = value_or_stop(pipeline().encode_prompt(prompt_), kModelFile);
  encode_end_ = trace::Clock::now();
}

void Tracer::select_ops() {
  trace::OpSelection selection{.patterns = options_.patterns, .layers = {}};
  for (const std::string& text : options_.layers) {
    const auto range = config::as_layers(text);
    if (!range) {
      stop(kUsage, {PLUMB_INVALID_ARGUMENT,
                    "--layers: expected a layer (3) or a range (3-5), found \"" + text + "\""});
    }
    if (!range->is_all()) selection.layers.push_back({range->first, range->last});
  }
  ops_ = value_or_stop(trace::select_ops(decoder_->ops(), selection), kModelFile);
}

// Of a run that no end token cuts short.
uint64_t Tracer::folder_bytes_max() const {
  const uint64_t n_positions = encoding_.ids.size() + options_.n_tokens - 1;
  const uint64_t n_chunks = ops_.size() * (n_positions / trace::kChunkPositions + 2);
  uint64_t bytes = 2 * prompt_.bytes.size() +
                   trace::index_bytes_max(ops_.size(), n_chunks, n_positions + options_.n_tokens);
  if (level_ != trace::Level::kFull) return bytes;
  for (const model::OpInfo* op : ops_) {
    bytes += trace::npy_file_bytes(decoder_->is_in_head(*op) ? options_.n_tokens : n_positions,
                                   decoder_->output_width(*op));
  }
  return bytes + trace::npy_file_bytes(options_.n_tokens, decoder_->hyper_parameters().n_vocab);
}

uint64_t Tracer::chrome_bytes_max() const {
  const uint64_t n_forwards = options_.n_tokens + encoding_.ids.size() / 512;
  return trace::chrome_bytes_max(n_forwards * (decoder_->ops().size() + 4));
}

void Tracer::check_room() const {
  const uint64_t needed = (options_.out.empty() ? 0 : folder_bytes_max()) +
                          (options_.chrome_file.empty() ? 0 : chrome_bytes_max());
  const std::string size = std::to_string(ops_.size()) + " ops of " +
                           std::to_string(encoding_.ids.size()) + " prompt ids and " +
                           std::to_string(options_.n_tokens) + " tokens take up to " +
                           std::to_string(needed) + " bytes";
  const std::string remedy =
      "choose fewer ops (--ops, --layers), fewer --tokens, or another --level";
  if (needed > options_.bytes_max) {
    stop(kUsage,
         {PLUMB_INVALID_ARGUMENT, size + ", more than the " + std::to_string(options_.bytes_max) +
                                      " of --max-bytes: " + remedy + ", or raise --max-bytes"});
  }
  if (folder_ && needed > folder_->free_bytes()) {
    stop(kModelFile, {PLUMB_NOT_FOUND, options_.out + ": " + size + ", and " +
                                           std::to_string(folder_->free_bytes()) +
                                           " are free on its disk: " + remedy});
  }
}

Run Tracer::generate(model::OpObserver* observer, pipeline::GenerationRequest request) {
  Run run;
  const pipeline::Tokenizer& tokenizer = *part_or_stop(pipeline().tokenizer());
  pipeline::SamplerChain sampler = part_or_stop(pipeline().sampler());
  request.max_tokens = options_.n_tokens;
  request.cancel = &interrupted_;
  request.on_pick = [&, next = std::move(request.on_pick)](const pipeline::Pick& pick) {
    const auto piece = tokenizer.piece(pick.id, run.picks.empty());
    run.picks.push_back({.step = static_cast<uint32_t>(run.picks.size()),
                         .id = pick.id,
                         .piece = piece ? std::string(*piece) : std::string(),
                         .n_kept = pick.n_kept,
                         .coin = if_told(pick.coin),
                         .probability = if_told(pick.probability)});
    if (next) next(pick);
  };
  value_or_stop(decoder_->truncate(0), kModelFile);
  decoder_->set_observer(observer);
  auto generation = pipeline::generate(*decoder_, sampler, tokenizer, request);
  decoder_->set_observer(nullptr);
  run.generation = value_or_stop(std::move(generation), kModelFile);
  if (run.generation.stop_reason == pipeline::StopReason::kCancelled)
    stop(kInterrupted, {PLUMB_CANCELLED, "cancelled: no trace was written"});
  return run;
}

Run Tracer::generate_traced(trace::TraceIndex& index) {
  std::error_code error;
  if (level_ == trace::Level::kFull && !fs::create_directory(folder_->path() + "/ops", error))
    stop(kModelFile, {PLUMB_NOT_FOUND, folder_->path() + "/ops: " + error.message()});
  std::vector<std::string> backends;
  for (const auto& backend : pipeline().backends()) backends.push_back(backend->id());
  trace::OpTracer ops(ops_, backends, level_, folder_->path());
  trace::MatrixTracer rows(level_, folder_->path(), "30-logits.npy");
  Result<void> rows_added;
  pipeline::GenerationRequest request = pipeline().generation_request(encoding_.ids);
  request.on_logits = [&](std::span<const float> logits) {
    const uint32_t position = decoder_->n_past() - 1;
    index.logits_steps.push_back({.step = static_cast<uint32_t>(index.logits_steps.size()),
                                  .position = position,
                                  .sha256 = sha256_of(bytes_of(logits))});
    if (rows_added) rows_added = rows.add(position, static_cast<uint32_t>(logits.size()), logits);
  };
  Run run = generate(&ops, std::move(request));
  value_or_stop(std::move(rows_added), kModelFile);
  index.ops = value_or_stop(std::move(ops).finish(), kModelFile);
  index.logits = value_or_stop(std::move(rows).finish(), kModelFile);
  index.picks = run.picks;
  return run;
}

void Tracer::generate_untraced(trace::TraceIndex& index) {
  // Behind a difference the runs may pick other ids, and one may end before the other.
  size_t step = 0;
  pipeline::GenerationRequest request = pipeline().generation_request(encoding_.ids);
  request.on_logits = [&](std::span<const float> logits) {
    if (step < index.logits_steps.size())
      index.logits_steps[step++].sha256_without_taps = sha256_of(bytes_of(logits));
  };
  generate(nullptr, std::move(request));
}

std::string Tracer::generate_timed() {
  using trace::Clock;
  trace::OpTimer timer;
  std::vector<Clock::time_point> logits_at, picked_at;
  pipeline::GenerationRequest request = pipeline().generation_request(encoding_.ids);
  request.on_logits = [&](std::span<const float>) { logits_at.push_back(Clock::now()); };
  request.on_pick = [&](const pipeline::Pick&) { picked_at.push_back(Clock::now()); };
  std::vector<trace::DoorSpan> doors;
  if (options_.ids.empty()) {
    doors.push_back(
        {"00 prompt", prompt_begin_, prompt_end_, std::to_string(prompt_.bytes.size()) + " bytes"});
    doors.push_back(
        {"10 tokens", prompt_end_, encode_end_, std::to_string(encoding_.ids.size()) + " ids"});
  }
  const Run run = generate(&timer, std::move(request));
  const Clock::time_point end = Clock::now();
  const std::vector<trace::OpSpan>& spans = timer.spans();
  size_t at_op = 0;
  for (size_t step = 0; step < logits_at.size(); ++step) {
    doors.push_back(
        {"20-30 forward", spans[at_op].begin, logits_at[step], "step " + std::to_string(step)});
    while (at_op < spans.size() && spans[at_op].begin < logits_at[step]) ++at_op;
    if (step == picked_at.size()) break;  // the sampler ended the run
    doors.push_back(
        {"40 pick", logits_at[step], picked_at[step], "id " + std::to_string(run.picks[step].id)});
    doors.push_back({"50-60 bytes, text", picked_at[step],
                     at_op < spans.size() ? spans[at_op].begin : end, run.picks[step].piece});
  }
  // The prompt was made before the model was loaded, which is not the run's time.
  const Clock::duration wait = spans.front().begin - encode_end_;
  for (trace::DoorSpan& door : doors) {
    if (door.end > encode_end_) continue;
    door.begin += wait;
    door.end += wait;
  }
  const auto weight_bytes = [&](const model::OpInfo& op, uint32_t n_rows) -> uint64_t {
    const auto* entry = pipeline().file().find(op.weight);
    if (entry == nullptr) return 0;
    const plumb_tensor& tensor = entry->tensor;
    if (op.kind != PLUMB_OP_EMBED) return tensor.data.bytes;
    return tensor.data.bytes / std::max<uint64_t>(tensor.dims[0], 1) * n_rows;
  };
  return trace::chrome_trace({.title = "plumb trace: " + decoder_->hyper_parameters().name,
                              .n_threads = pipeline().threads().n_threads(),
                              .doors = std::move(doors),
                              .ops = spans,
                              .weight_bytes = weight_bytes});
}

trace::BytesTrace Tracer::write_bytes(const std::string& file, std::string_view bytes) const {
  value_or_stop(os::write_file(folder_->path() + "/" + file, bytes), kModelFile);
  return {.file = file, .n_bytes = bytes.size(), .sha256 = sha256_of(bytes)};
}

void Tracer::write_bytes_doors(const Run& run, trace::TraceIndex& index) {
  const auto pairs = [](const std::vector<plumb_span>& spans) {
    std::vector<trace::Span> found;
    for (const plumb_span& span : spans) found.push_back({span.begin, span.end});
    return found;
  };
  std::string bytes;
  for (size_t i = 0; i < run.picks.size(); ++i) {
    const plumb_span& span = run.generation.spans[i];
    if (span.end > span.begin) bytes += run.picks[i].piece;
  }
  index.prompt = write_bytes("00-prompt.txt", prompt_.bytes);
  index.ids = encoding_.ids;
  index.spans = pairs(encoding_.spans);
  index.bytes = write_bytes("50-bytes.bin", bytes);
  index.bytes_spans = pairs(run.generation.spans);
  index.text = write_bytes("60-text.txt", run.generation.text);
  index.stop_reason = pipeline::stop_reason_name(run.generation.stop_reason);
}

OrderedJson Tracer::identity() {
  const config::PipelineConfig& config = pipeline().config();
  const std::string& path = pipeline().file().path();
  const auto hash = sha256_of_path(path, [&](uint64_t) { return !interrupted_.load(); });
  OrderedJson backends = OrderedJson::array();
  for (const auto& backend : pipeline().backends()) {
    backends.push_back(
        {{"id", backend->id()}, {"numerics", std::string(to_view(backend->table().numerics))}});
  }
  return {{"config", options_.pipeline.config},
          {"model", decoder_->hyper_parameters().name},
          {"architecture", decoder_->hyper_parameters().architecture},
          {"model_file", fs::path(path).filename().string()},
          {"model_sha256", hash ? OrderedJson(*hash) : OrderedJson()},
          {"loader", pipeline().loader_id()},
          {"tokenizer", part_or_stop(pipeline().tokenizer())->id()},
          {"backends", std::move(backends)},
          {"activations", config.kernels.activations == config::Activations::kQ8 ? "q8" : "f32"},
          {"kv", config.kernels.kv == config::KvFormat::kF32 ? "f32" : "f16"},
          {"threads", pipeline().threads().n_threads()},
          {"seed", config.sampling.seed},
          {"tokens", options_.n_tokens}};
}

int Tracer::run() {
  if (options_.out.empty() && options_.chrome_file.empty()) {
    stop(kUsage, {PLUMB_INVALID_ARGUMENT,
                  "nowhere to write: expected -o FOLDER, or --chrome FILE for times alone"});
  }
  make_prompt();
  part_or_stop(pipeline().sampler());  // a wrong parameter is told before weights are loaded
  decoder_ = part_or_stop(pipeline().decoder());
  select_ops();
  if (!options_.out.empty())
    folder_.emplace(value_or_stop(os::FreshFolder::create(options_.out), kModelFile));
  check_room();

  trace::TraceIndex index;
  if (folder_) {
    const Run run = generate_traced(index);
    if (options_.verify) generate_untraced(index);
    index.made_by = "plumb " PLUMB_VERSION;
    index.run = identity();
    index.level = level_;
    write_bytes_doors(run, index);
    const std::string text =
        trace::to_json(index).dump(1, ' ', false, OrderedJson::error_handler_t::replace);
    write_bytes("trace.json", text + "\n");
  }
  if (!options_.chrome_file.empty())
    value_or_stop(os::write_file(options_.chrome_file, generate_timed()), kModelFile);
  if (!folder_) return kDone;
  value_or_stop(std::move(*folder_).publish(), kModelFile);
  const bool is_changed = index.taps_change_logits().value_or(false);
  if (options_.json) {
    print_json(trace::to_json(index));
  } else {
    print(options_.out + ": " + std::to_string(index.ops.size()) + " ops, " +
          std::to_string(index.ids.size()) + " prompt ids, " + std::to_string(index.picks.size()) +
          " picks, level " + options_.level + "; plumb trace show " + options_.out + "\n");
    if (options_.verify) {
      print(is_changed ? "the taps change bits of the logits: see taps_change_logits\n"
                       : "the taps change no bit of the logits\n");
    }
  }
  return is_changed ? kDifference : kDone;
}

}  // namespace

void add_trace(CLI::App& app, int& exit) {
  auto options = std::make_shared<TraceOptions>();
  CLI::App* verb =
      app.add_subcommand("trace", "What a run leaves at every door and op, in a folder");
  options->pipeline.add_to(*verb);
  options->prompt.add_to(*verb);
  verb->add_option("--ids", options->ids, "Token ids instead of text: 1,2,3")
      ->excludes("--prompt")
      ->excludes("--messages");
  verb->add_option("--tokens", options->n_tokens, "Most tokens to generate; the first pick is one")
      ->check(CLI::Range(1u, 1u << 20))
      ->capture_default_str();
  verb->add_option("--ops", options->patterns,
                   "Only ops that match one of these: '*.attn_*', '3.ffn_up', output");
  verb->add_option("--layers", options->layers, "Only these layers: 3, or 3-5; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--level", options->level,
                   "Of each op: hashes; also statistics; also every value as .npy")
      ->check(CLI::IsMember({"hash", "statistics", "full"}))
      ->capture_default_str();
  verb->add_option("--max-bytes", options->bytes_max, "Refuse what could write more than this")
      ->capture_default_str();
  verb->add_option("-o,--out", options->out, "The folder to make; it appears whole or not at all");
  verb->add_option("--chrome", options->chrome_file,
                   "Also run once more and write when each op ran, for chrome://tracing or "
                   "Perfetto; ops then run one by one");
  verb->add_flag("--verify", options->verify,
                 "Also run without taps and compare the logits' bits; exit code 1 if they differ");
  verb->add_flag("--json", options->json, "Print trace.json");
  verb->footer(
      "Examples:\n"
      "  plumb trace -p \"The capital of France is\" --tokens 8 -o seen\n"
      "  plumb trace gemma3 --raw -p Hello --ops '*.attn_*' --layers 3-5 --level full -o seen\n"
      "  plumb trace -p Hello --chrome times.json\n"
      "  plumb trace show seen --op 3.attn_q");
  add_trace_show(*verb, exit);
  verb->callback([options, verb, &exit] {
    if (verb->get_subcommands().empty()) exit = Tracer(*options).run();
  });
}

}  // namespace plumbline::cli
