#include "core/diff/impact.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "core/diff/comparable.h"
#include "core/diff/quantisation.h"
#include "core/trace/recording.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::diff {
namespace {

// Rows of a prompt that are scored: so many logits of A are kept.
constexpr size_t kScoredRows = 64;

/// Watches B: behind each op it keeps what B made of the recorded inputs, where that differs, and
/// puts what was recorded in its place, so that the next op reads recorded inputs too.
class OnRecorded : public model::OpObserver {
 public:
  OnRecorded(const trace::Recording& recorded, trace::Recording& kept)
      : recorded_(&recorded), kept_(&kept) {}

  bool wants(const model::OpInfo& op) override {
    return op.kind != PLUMB_OP_QUANTIZE && recorded_->find(op.name) != nullptr;
  }

  Result<void> after(model::OpSite& site) override {
    const std::string& name = site.info().name;
    const model::RowShape shape = site.output_shape();
    PLUMB_TRY(recorded_->check_width(name, shape.width));
    PLUMB_TRY(site.read_output(values_));
    const auto wanted = recorded_->rows(name, shape.first_position, shape.n_rows);
    const bool is_equal = wanted.size() == values_.size() &&
                          std::memcmp(wanted.data(), values_.data(), wanted.size_bytes()) == 0;
    if (is_equal && kept_->find(name) == nullptr) return {};
    // Of a KV cache only the rows at its end are new.
    const uint32_t n_new = std::min(site.op().n_rows, shape.n_rows);
    PLUMB_TRY(kept_->put(name, shape.first_position + shape.n_rows - n_new, shape.width,
                         std::span(values_).last(size_t{n_new} * shape.width)));
    return is_equal ? Result<void>() : trace::put_recorded(*recorded_, site, values_);
  }

 private:
  const trace::Recording* recorded_;
  trace::Recording* kept_;
  std::vector<float> values_;
};

/// Watches A: puts other rows in the place of some ops' outputs.
class Transplant : public model::OpObserver {
 public:
  /// rows: what takes their place; what it lacks stays. recording: null, or what gets all ops then.
  Transplant(const trace::Recording& rows, std::set<std::string> ops, trace::Recording* recording)
      : rows_(&rows), ops_(std::move(ops)), recording_(recording) {}

  bool wants(const model::OpInfo& op) override {
    return ops_.count(op.name) > 0 || (recording_ != nullptr && op.kind != PLUMB_OP_QUANTIZE);
  }

  Result<void> after(model::OpSite& site) override {
    const std::string& name = site.info().name;
    if (ops_.count(name) > 0 && rows_->find(name) != nullptr) {
      PLUMB_TRY(site.read_output(values_));
      PLUMB_TRY(trace::put_recorded(*rows_, site, values_));
    }
    if (recording_ == nullptr) return {};
    return trace::Recorder(*recording_).after(site);
  }

 private:
  const trace::Recording* rows_;
  std::set<std::string> ops_;
  trace::Recording* recording_;
  std::vector<float> values_;
};

/// Runs a prompt through a side from an empty cache, and counts.
class Forwards {
 public:
  explicit Forwards(const std::atomic<bool>* cancel) : cancel_(cancel) {}

  /// Logits of the scored rows, valid until the side's next run.
  Result<std::span<const float>> run(Side& side, std::span<const int32_t> ids,
                                     trace::Recording* recording, model::OpObserver* observer) {
    ++n_;
    PLUMB_TRY(side.restart());
    ForwardRequest wanted;
    wanted.recording = recording;
    wanted.observer = observer;
    wanted.cancel = cancel_;
    const size_t n_before = ids.size() - std::min(ids.size(), kScoredRows);
    if (n_before > 0) PLUMB_TRY(side.forward(ids.first(n_before), wanted));
    wanted.all_rows = true;
    return side.forward(ids.subspan(n_before), wanted);
  }

  /// A with some of B's ops. The first has A's inputs; each further one has those that the ops
  /// before it leave. on_a: what B makes of A's inputs; null: not known yet.
  Result<std::span<const float>> run_with(Side& a, Side& b, const std::vector<std::string>& ops,
                                          std::span<const int32_t> ids,
                                          const trace::Recording* on_a) {
    trace::Recording rows;
    std::set<std::string> done;
    for (const std::string& op : ops) {
      trace::Recording recorded, answered;
      const trace::Recording* source = on_a;
      if (source == nullptr || !done.empty()) {
        Transplant before(rows, done, &recorded);
        PLUMB_TRY(run(a, ids, nullptr, &before));
        OnRecorded on_recorded(recorded, answered);
        PLUMB_TRY(run(b, ids, nullptr, &on_recorded));
        source = &answered;
      }
      done.insert(op);
      if (const trace::Rows* const found = source->find(op))
        PLUMB_TRY(rows.put(op, found->first_position, found->width, found->values));
    }
    Transplant all(rows, done, nullptr);
    return run(a, ids, nullptr, &all);
  }

  uint32_t n() const { return n_; }

 private:
  const std::atomic<bool>* cancel_;
  uint32_t n_ = 0;
};

class Measurement {
 public:
  Measurement(Side& a, Side& b, const ImpactRequest& request)
      : a_(a),
        b_(b),
        request_(request),
        forwards_(request.cancel),
        scorer_(a.pipeline().threads()) {}

  Result<ImpactReport> run();

 private:
  Result<void> list_units();
  Result<void> measure_prompt(uint32_t prompt);
  Result<void> score(std::span<const float> logits, uint32_t prompt, std::vector<Scored>& scored);
  void drop_unfinished(uint32_t prompt);
  void finish();

  Side& a_;
  Side& b_;
  const ImpactRequest& request_;
  Forwards forwards_;
  RowsScorer scorer_;
  ImpactReport report_;
  std::vector<std::vector<Scored>> scored_;  // one list for each unit
  std::vector<Scored> scored_of_b_;
  std::vector<float> logits_a_;
  uint32_t n_done_ = 0;
};

Result<void> Measurement::list_units() {
  PLUMB_ASSIGN(const model::Decoder* const decoder, a_.pipeline().decoder());
  PLUMB_ASSIGN(const model::Decoder* const decoder_b, b_.pipeline().decoder());
  std::set<std::string> ops_of_b;
  for (const model::OpInfo* op : decoder_b->ops()) ops_of_b.insert(op->name);
  std::map<std::string, size_t> by_tensor;
  const auto describe = [](const model::ModelFile& file, const std::string& tensor,
                           std::string& format, uint64_t& bytes) {
    const auto* const entry = file.find(tensor);
    if (entry == nullptr) return;
    format = format_name(entry->tensor.format);
    bytes = entry->tensor.data.bytes;
  };
  for (const model::OpInfo* op : decoder->ops()) {
    if (op->kind == PLUMB_OP_QUANTIZE || ops_of_b.count(op->name) == 0) continue;
    const bool goes_by_tensor = !request_.by_op && !op->weight.empty();
    if (goes_by_tensor) {
      const auto [at, is_new] = by_tensor.try_emplace(op->weight, report_.impacts.size());
      if (!is_new) {
        report_.impacts[at->second].ops.push_back(op->name);
        continue;
      }
    }
    Impact unit;
    unit.name = goes_by_tensor ? op->weight : op->name;
    unit.ops = {op->name};
    unit.is_equal = true;
    describe(a_.pipeline().file(), op->weight, unit.format_a, unit.bytes_a);
    describe(b_.pipeline().file(), op->weight, unit.format_b, unit.bytes_b);
    report_.impacts.push_back(std::move(unit));
  }
  scored_.resize(report_.impacts.size());
  return {};
}

Result<void> Measurement::score(std::span<const float> logits, uint32_t prompt,
                                std::vector<Scored>& scored) {
  const size_t n_rows = logits.size() / a_.hyper_parameters().n_vocab;
  const std::vector<int32_t> no_ids(n_rows, 0);  // the divergence does not ask what came next
  return scorer_.score(logits_a_, logits, no_ids, prompt, scored);
}

Result<void> Measurement::measure_prompt(uint32_t prompt) {
  const std::vector<int32_t>& ids = request_.prompts[prompt];
  trace::Recording of_a, of_b;
  PLUMB_ASSIGN(const auto logits_a, forwards_.run(a_, ids, &of_a, nullptr));
  logits_a_.assign(logits_a.begin(), logits_a.end());
  std::vector<Scored> unchanged;
  PLUMB_TRY(score(logits_a_, prompt, unchanged));
  PLUMB_ASSIGN(const auto logits_b, forwards_.run(b_, ids, nullptr, nullptr));
  PLUMB_TRY(score(logits_b, prompt, scored_of_b_));
  OnRecorded on_recorded(of_a, of_b);
  PLUMB_TRY(forwards_.run(b_, ids, nullptr, &on_recorded));
  for (size_t at = 0; at < report_.impacts.size(); ++at) {
    Impact& unit = report_.impacts[at];
    const bool differs = std::any_of(unit.ops.begin(), unit.ops.end(), [&](const std::string& op) {
      return of_b.find(op) != nullptr;
    });
    if (differs) {
      unit.is_equal = false;
      PLUMB_ASSIGN(const auto logits, forwards_.run_with(a_, b_, unit.ops, ids, &of_b));
      PLUMB_TRY(score(logits, prompt, scored_[at]));
    } else {
      scored_[at].insert(scored_[at].end(), unchanged.begin(), unchanged.end());
    }
    ++n_done_;
    if (request_.on_progress) {
      request_.on_progress(n_done_,
                           static_cast<uint32_t>(report_.impacts.size() * request_.prompts.size()));
    }
  }
  return {};
}

// Rows of a prompt that was not finished go; of the first prompt they stay, and what has none goes.
void Measurement::drop_unfinished(uint32_t prompt) {
  const auto drop = [&](std::vector<Scored>& scored) {
    std::erase_if(scored, [&](const Scored& one) { return one.chunk == prompt; });
  };
  if (prompt > 0) {
    drop(scored_of_b_);
    std::for_each(scored_.begin(), scored_.end(), drop);
    return;
  }
  const auto first_empty =
      std::find_if(scored_.begin(), scored_.end(), [](const auto& one) { return one.empty(); });
  report_.impacts.resize(static_cast<size_t>(first_empty - scored_.begin()));
  report_.n_prompts = 1;
}

void Measurement::finish() {
  for (size_t at = 0; at < report_.impacts.size(); ++at) {
    const QuantisationCost cost = *summarise(scored_[at], true, 0, 0).cost;
    Impact& unit = report_.impacts[at];
    unit.kl = cost.kl.value;
    unit.kl_error = cost.kl.error;
    unit.same_top = cost.same_top.value;
  }
  const QuantisationCost whole = *summarise(scored_of_b_, true, 0, 0).cost;
  report_.kl_of_b = whole.kl.value;
  report_.same_top_of_b = whole.same_top.value;
  report_.n_rows = scored_of_b_.size();
  report_.n_forwards = forwards_.n();
  std::stable_sort(report_.impacts.begin(), report_.impacts.end(),
                   [](const Impact& one, const Impact& other) { return one.kl > other.kl; });
}

Result<ImpactReport> Measurement::run() {
  PLUMB_TRY(list_units());
  for (uint32_t prompt = 0; prompt < request_.prompts.size(); ++prompt) {
    const auto done = measure_prompt(prompt);
    if (!done && done.error().code == PLUMB_CANCELLED && !scored_of_b_.empty()) {
      report_.is_complete = false;
      drop_unfinished(prompt);
      break;
    }
    PLUMB_TRY(done);
    ++report_.n_prompts;
  }
  finish();
  return std::move(report_);
}

Result<void> check_pipelines(const Side& a, const Side& b) {
  if (!a.identity().is_runner && !b.identity().is_runner) return {};
  return Error{PLUMB_UNSUPPORTED,
               "a foreign engine's ops cannot be put into another model, expected two pipelines"};
}

}  // namespace

Result<std::vector<float>> logits_with(Side& a, Side& b, const std::vector<std::string>& ops,
                                       std::span<const int32_t> ids) {
  PLUMB_TRY(check_pipelines(a, b));
  PLUMB_ASSIGN(const auto logits, Forwards(nullptr).run_with(a, b, ops, ids, nullptr));
  return std::vector<float>(logits.begin(), logits.end());
}

Result<ImpactReport> measure_impact(Side& a, Side& b, const ImpactRequest& request) {
  PLUMB_TRY(check_pipelines(a, b));
  PLUMB_TRY(check_comparable(a, b));
  return Measurement(a, b, request).run();
}

nlohmann::ordered_json to_json(const ImpactReport& report) {
  using Json = nlohmann::ordered_json;
  Json impacts = Json::array();
  for (const Impact& one : report.impacts) {
    impacts.push_back({{"name", one.name},
                       {"ops", one.ops},
                       {"format_a", one.format_a},
                       {"format_b", one.format_b},
                       {"bytes_a", one.bytes_a},
                       {"bytes_b", one.bytes_b},
                       {"is_equal", one.is_equal},
                       {"kl", one.kl},
                       {"kl_error", one.kl_error},
                       {"same_top", one.same_top}});
  }
  return {{"n_prompts", report.n_prompts},   {"n_rows", report.n_rows},
          {"n_forwards", report.n_forwards}, {"is_complete", report.is_complete},
          {"kl_of_b", report.kl_of_b},       {"same_top_of_b", report.same_top_of_b},
          {"impacts", std::move(impacts)}};
}

}  // namespace plumbline::diff
