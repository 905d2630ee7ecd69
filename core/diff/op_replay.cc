#include "core/diff/op_replay.h"

#include <algorithm>
#include <optional>

namespace plumbline::diff {
namespace {

// RoPE's tables belong to the side; everything else that an op reads can be A's.
size_t n_given(const model::OpInfo& info) {
  return info.kind == PLUMB_OP_ROPE ? std::min<size_t>(2, info.operands.size())
                                    : info.operands.size();
}

Result<OpInputs> read_inputs(const model::OpSite& site) {
  OpInputs inputs(site.info().operands.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].shape = site.input_shape(i);
    PLUMB_TRY(site.read_input(i, inputs[i].values));
  }
  return inputs;
}

Result<void> write_inputs(const model::OpSite& site, const OpInputs& inputs) {
  for (size_t i = 0; i < std::min(n_given(site.info()), inputs.size()); ++i)
    PLUMB_TRY(site.write_input(i, inputs[i].values));
  return {};
}

// cache: what a KV cache holds once kv_append has run on A's inputs.
Result<std::vector<float>> run_on(const model::OpSite& site, const OpInputs& inputs,
                                  const std::vector<float>& cache) {
  PLUMB_ASSIGN(const OpInputs held, read_inputs(site));
  std::vector<float> output;
  const auto attempt = [&]() -> Result<void> {
    PLUMB_TRY(write_inputs(site, inputs));
    PLUMB_TRY(site.run());
    return site.read_output(output);
  };
  const Result<void> done = attempt();
  PLUMB_TRY(write_inputs(site, held));
  if (site.info().kind == PLUMB_OP_KV_APPEND && !cache.empty()) PLUMB_TRY(site.write_output(cache));
  if (!done) return done.error();
  return output;
}

// Ends a forward in front of the op; until then it may give A's rows to every reader.
class Stop : public model::OpObserver {
 public:
  Stop(const std::string& op, uint32_t position, const trace::Recording* of_a,
       std::function<Result<void>(model::OpSite&)> on_site)
      : op_(&op), position_(position), of_a_(of_a), on_site_(std::move(on_site)) {}

  bool has_stopped() const { return has_stopped_; }

  bool wants(const model::OpInfo& op) override {
    return op.name == *op_ ||
           (of_a_ != nullptr && op.kind != PLUMB_OP_QUANTIZE && of_a_->find(op.name) != nullptr);
  }

  Result<void> before(model::OpSite& site) override {
    const uint32_t first = site.first_position();
    if (site.info().name != *op_ || position_ < first || position_ - first >= site.op().n_rows)
      return {};
    PLUMB_TRY(on_site_(site));
    has_stopped_ = true;
    return Error{PLUMB_CANCELLED, "stopped in front of op " + *op_};
  }

  Result<void> after(model::OpSite& site) override {
    if (of_a_ == nullptr) return {};
    PLUMB_TRY(site.read_output(written_));
    return trace::put_recorded(*of_a_, site, written_);
  }

 private:
  const std::string* op_;
  uint32_t position_;
  const trace::Recording* of_a_;
  std::function<Result<void>(model::OpSite&)> on_site_;
  bool has_stopped_ = false;
  std::vector<float> written_;
};

Result<void> run_until(Side& side, const Replay& replay, Stop& stop) {
  PLUMB_TRY(side.restart());
  const ForwardRequest wanted{nullptr, replay.all_rows, replay.cancel, &stop};
  auto done = side.forward(replay.prompt, wanted);
  for (size_t i = 0; done && i < replay.generated.size(); ++i)
    done = side.forward(replay.generated.subspan(i, 1), wanted);
  if (done || stop.has_stopped()) return {};
  return std::move(done).error();
}

// An error that ended A's run before ends it here too: what is in front of it was recorded.
Result<void> record(Side& a, const Replay& replay) {
  PLUMB_TRY(a.restart());
  const ForwardRequest wanted{replay.of_a, replay.all_rows, replay.cancel};
  auto done = a.forward(replay.prompt, wanted);
  for (size_t i = 0; done && i < replay.generated.size(); ++i)
    done = a.forward(replay.generated.subspan(i, 1), wanted);
  if (!done && done.error().code != PLUMB_NUMERIC) return std::move(done).error();
  return {};
}

OpSide side_of(Side& side, model::OpSite& site, const std::vector<float>& cache) {
  OpSide found;
  found.record = site.op();
  found.hyper_parameters = &side.hyper_parameters();
  found.file = &side.pipeline().file();
  found.run = [&site, &cache](const OpInputs& inputs) { return run_on(site, inputs, cache); };
  return found;
}

}  // namespace

Result<void> visit_op(Side& a, Side& b, const Replay& replay, const std::string& op,
                      uint32_t position, const std::function<void(OpEvidence&)>& visit) {
  if (replay.of_a->ops().empty()) PLUMB_TRY(record(a, replay));
  const auto recorded = [&](const std::string& name, uint32_t first,
                            uint32_t n) -> std::optional<Rows> {
    const auto rows = replay.of_a->rows(name, first, n);
    if (rows.empty()) return std::nullopt;
    return Rows{{first, n, static_cast<uint32_t>(rows.size() / n)}, {rows.begin(), rows.end()}};
  };
  OpEvidence evidence;
  const auto on_b = [&](model::OpSite& site_b) -> Result<void> {
    evidence.info = site_b.info();
    PLUMB_ASSIGN(evidence.inputs, read_inputs(site_b));
    evidence.output_shape = site_b.output_shape();
    const model::RowShape shape = evidence.output_shape;
    evidence.n_past = site_b.first_position();
    evidence.output_of_a = recorded;
    evidence.cancel = replay.cancel;
    const auto of_a = replay.of_a->rows(op, shape.first_position, shape.n_rows);
    const std::vector<float> output_a(of_a.begin(), of_a.end());
    const bool is_kv = site_b.info().kind == PLUMB_OP_KV_APPEND;
    const std::vector<float> cache = is_kv ? output_a : std::vector<float>();
    evidence.b = side_of(b, site_b, cache);
    PLUMB_ASSIGN(evidence.b.output, evidence.b.run(evidence.inputs));
    if (a.identity().is_runner) {
      evidence.a.record = evidence.b.record;
      evidence.a.output = output_a;
      visit(evidence);
      return {};
    }
    const auto on_a = [&](model::OpSite& site_a) -> Result<void> {
      if (site_a.first_position() != site_b.first_position() ||
          site_a.op().n_rows != site_b.op().n_rows)
        return {};
      evidence.info = site_a.info();
      PLUMB_ASSIGN(evidence.inputs, read_inputs(site_a));
      evidence.a = side_of(a, site_a, cache);
      evidence.a.output = output_a;
      visit(evidence);
      return {};
    };
    Stop stop(op, position, nullptr, on_a);
    return run_until(a, replay, stop);
  };
  Stop stop(op, position, replay.of_a, on_b);
  return run_until(b, replay, stop);
}

}  // namespace plumbline::diff
