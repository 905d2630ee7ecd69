#include "tests/unit/signatures/op_pair.h"

#include <gtest/gtest.h>

#include <span>

#include "core/trace/recording.h"

namespace plumbline::diff::test {
namespace {

void expect(const Result<void>& done) {
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
}

/// Operands that a side takes from A: all but its tables.
size_t n_taken(const model::OpInfo& info) {
  return info.kind == PLUMB_OP_ROPE ? 2 : info.operands.size();
}

OpInputs read_inputs(const model::OpSite& site) {
  OpInputs inputs(site.info().operands.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].shape = site.input_shape(i);
    expect(site.read_input(i, inputs[i].values));
  }
  return inputs;
}

void write_inputs(const model::OpSite& site, const OpInputs& inputs) {
  for (size_t i = 0; i < n_taken(site.info()); ++i) expect(site.write_input(i, inputs[i].values));
}

/// cache: what rows in front of those that kv_append writes are reset to; empty: there are none.
Result<std::vector<float>> run_on(const model::OpSite& site, const OpInputs& inputs,
                                  const std::vector<float>& cache) {
  const OpInputs held = read_inputs(site);
  write_inputs(site, inputs);
  std::vector<float> output;
  Result<void> done = site.run();
  if (done) done = site.read_output(output);
  write_inputs(site, held);
  if (done && site.info().kind == PLUMB_OP_KV_APPEND && !cache.empty())
    expect(site.write_output(cache));
  if (!done) return std::move(done).error();
  return output;
}

/// Calls visit before each op that is wanted.
class Before : public model::OpObserver {
 public:
  Before(std::function<bool(const model::OpInfo&)> wants_op,
         std::function<void(model::OpSite&)> visit)
      : wants_op_(std::move(wants_op)), visit_(std::move(visit)) {}
  bool wants(const model::OpInfo& op) override { return wants_op_(op); }
  Result<void> before(model::OpSite& site) override {
    visit_(site);
    return {};
  }

 private:
  std::function<bool(const model::OpInfo&)> wants_op_;
  std::function<void(model::OpSite&)> visit_;
};

}  // namespace

namespace {

void nobody(uint32_t, std::span<const float>) {}

/// The state in front of the last call; what is left of the ids.
std::span<const int32_t> begin(const PairSide& side, const std::vector<int32_t>& ids,
                               const std::vector<size_t>& calls) {
  expect(side.decoder->truncate(0));
  size_t at = 0;
  for (size_t i = 0; i + 1 < calls.size(); at += calls[i++])
    expect(side.decoder->forward_all(std::span(ids).subspan(at, calls[i]), nobody));
  return std::span(ids).subspan(at);
}

void observe(const PairSide& side, std::span<const int32_t> ids, model::OpObserver& observer) {
  side.decoder->set_observer(&observer);
  expect(side.decoder->forward_all(ids, nobody));
  side.decoder->set_observer(nullptr);
}

}  // namespace

void visit_ops(const PairSide& a, const PairSide* b, const std::vector<int32_t>& ids,
               const std::vector<size_t>& calls,
               const std::function<bool(const model::OpInfo&)>& wants,
               const std::function<void(const OpEvidence&)>& visit) {
  trace::Recording recording;
  trace::Recorder recorder(recording);
  expect(a.decoder->truncate(0));
  observe(a, ids, recorder);

  // In front of the op of A, B runs up to the same op, and both are held there.
  const std::span<const int32_t> last = begin(a, ids, calls);
  Before on_a(wants, [&](model::OpSite& site_a) {
    OpEvidence evidence;
    evidence.info = site_a.info();
    evidence.inputs = read_inputs(site_a);
    evidence.output_shape = site_a.output_shape();
    evidence.n_past = a.decoder->n_past();
    evidence.output_of_a = [&](const std::string& op, uint32_t first,
                               uint32_t n) -> std::optional<Rows> {
      const auto rows = recording.rows(op, first, n);
      if (rows.empty()) return std::nullopt;
      const auto width = static_cast<uint32_t>(rows.size() / n);
      return Rows{{first, n, width}, {rows.begin(), rows.end()}};
    };
    std::vector<float> cache;
    const auto side_of = [&](const PairSide& side, model::OpSite& site) {
      OpSide out{site.op(), &side.decoder->hyper_parameters(), side.file, {}, {}};
      out.run = [&](const OpInputs& inputs) { return run_on(site, inputs, cache); };
      // The first run makes the rows that A's cache is then written over.
      if (!cache.empty()) static_cast<void>(out.run(evidence.inputs));
      auto output = out.run(evidence.inputs);
      EXPECT_TRUE(output) << (output ? "" : output.error().message);
      if (output) out.output = *output;
      return out;
    };
    evidence.a = side_of(a, site_a);
    if (evidence.info.kind == PLUMB_OP_KV_APPEND) cache = evidence.a.output;
    if (b == nullptr) {
      evidence.b = evidence.a;
      visit(evidence);
      return;
    }
    const std::span<const int32_t> last_of_b = begin(*b, ids, calls);
    Before on_b([&](const model::OpInfo& op) { return op.name == evidence.info.name; },
                [&](model::OpSite& site_b) {
                  evidence.b = side_of(*b, site_b);
                  visit(evidence);
                });
    observe(*b, last_of_b, on_b);
  });
  observe(a, last, on_a);
}

}  // namespace plumbline::diff::test
