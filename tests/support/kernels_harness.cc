#include "kernels_harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "plumb/sdk/kernels/variants.h"
#include "tests/support/build_plugins.h"

namespace plumbline::test {

namespace {

constexpr uint64_t kGuardBytes = 128;
constexpr uint8_t kGuardByte = 0xa5;

void must(plumb_status status, const ErrorBuffer& error, const std::string& what) {
  if (status != PLUMB_OK) throw std::runtime_error(what + ": " + error.take(status).message);
}

}  // namespace

std::string KernelsPlugin::name() const {
  return variant.empty() ? id : id + "/" + variant;
}

FoundKernels find_kernels(const std::string& folder) {
  FoundKernels found;
  for (const plumb_plugin* plugin : open_plugins(folder, PLUMB_EXT_KERNELS)) {
    const auto* table =
        static_cast<const plumb_kernels*>(plugin->extension(to_abi(PLUMB_EXT_KERNELS)));
    if (table == nullptr || plugin->rank() == PLUMB_RANK_NAMED_ONLY) continue;
    KernelsPlugin one{to_string(plugin->id), "", to_string(table->numerics), table, nullptr, "{}"};
    const auto sort_in = [&](const std::string& missing) {
      if (missing.empty()) {
        found.runnable.push_back(one);
      } else {
        found.untested.push_back(one.name() + ": " + missing);
      }
    };
    const std::vector<KernelsVariant> variants = variants_of(*table);
    for (const KernelsVariant& variant : variants) {
      one.variant = variant.name;
      sort_in(variant.missing);
    }
    if (variants.empty()) {
      ErrorBuffer error;
      const plumb_status status = plugin->probe(error);
      sort_in(status == PLUMB_OK ? std::string() : error.take(status).message);
    }
  }
  return found;
}

plumb_tensor HostTensor::view() const {
  plumb_tensor tensor = make_abi<plumb_tensor>();
  tensor.format = format;
  tensor.name = to_abi("t");
  tensor.rank = static_cast<uint32_t>(dims.size());
  std::fill(std::begin(tensor.dims), std::end(tensor.dims), 1);
  std::copy(dims.begin(), dims.end(), tensor.dims);
  tensor.data = {data.data(), data.size()};
  return tensor;
}

HostTensor f32_tensor(std::vector<uint64_t> dims, const std::vector<float>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return {PLUMB_F32, std::move(dims), {bytes, bytes + values.size() * sizeof(float)}};
}

Rig::Rig(const KernelsPlugin& plugin) : plugin_(plugin) {
  plumb_kernels_config config = make_abi<plumb_kernels_config>();
  config.n_workers_max = kWorkers;
  config.options_json = to_abi(plugin_.options_json);
  config.variant = to_abi(plugin_.variant);
  ErrorBuffer error;
  const plumb_host* host = plugin_.host == nullptr ? &small_host() : plugin_.host;
  must(table().create(host, &config, &self_, error), error, plugin_.name() + ": create");
  for (uint32_t i = 0; i < kWorkers; ++i) {
    workers_.push_back(0);
    must(table().worker_create(self_, i, &workers_.back(), error), error,
         plugin_.name() + ": worker_create");
  }
}

Rig::~Rig() {
  clear();
  for (const plumb_handle worker : workers_) table().worker_destroy(self_, worker);
  table().destroy(self_);
}

void Rig::clear() {
  for (const plumb_handle weight : weights_) table().release(self_, weight);
  for (const plumb_handle cache : caches_) table().kv_destroy(self_, cache);
  for (const Room& room : rooms_) table().free(self_, room.buffer);
  weights_.clear();
  caches_.clear();
  rooms_.clear();
}

plumb_slice Rig::room(uint64_t bytes) {
  Room room{0, bytes, {}};
  ErrorBuffer error;
  const uint64_t all_bytes = bytes + 2 * kGuardBytes;
  must(table().alloc(self_, all_bytes, 0, &room.buffer, error), error, plugin_.name() + ": alloc");
  const plumb_handle buffer = room.buffer;
  rooms_.push_back(std::move(room));
  write({buffer, 0}, std::vector<uint8_t>(all_bytes, kGuardByte).data(), all_bytes);
  return {buffer, kGuardBytes};
}

void Rig::write(plumb_slice slice, const void* from, uint64_t bytes) {
  ErrorBuffer error;
  must(table().write(self_, slice, from, bytes, error), error, plugin_.name() + ": write");
}

void Rig::read(plumb_slice slice, void* to, uint64_t bytes) const {
  ErrorBuffer error;
  must(table().read(self_, slice, to, bytes, error), error, plugin_.name() + ": read");
}

plumb_slice Rig::quantised(plumb_slice in, uint32_t n_rows, uint32_t width) {
  const plumb_slice out = room(table().activation_bytes(self_, n_rows, width));
  plumb_op op = make_op(PLUMB_OP_QUANTIZE, n_rows);
  op.as.quantize = {.in = in, .out = out, .width = width, .reserved = 0};
  const Outcome outcome = execute(op);
  if (outcome.status != PLUMB_OK)
    throw std::runtime_error(plugin_.name() + ": quantize: " + outcome.message);
  return out;
}

Outcome Rig::try_weight(const HostTensor& tensor, uint32_t uses, plumb_handle* weight) {
  const plumb_tensor view = tensor.view();
  ErrorBuffer error;
  uint64_t bytes = 0;
  plumb_status status = table().prepare_bytes(self_, &view, uses, &bytes, error);
  if (status == PLUMB_OK) {
    const plumb_slice destination = bytes == 0 ? plumb_slice{} : room(bytes);
    status = table().prepare(self_, &view, uses, destination, weight, error);
    check_rooms();
  }
  if (status == PLUMB_OK) weights_.push_back(*weight);
  return {status, error.op_id(), std::string(error.message())};
}

plumb_handle Rig::weight(const HostTensor& tensor, uint32_t uses) {
  plumb_handle weight = 0;
  const Outcome outcome = try_weight(tensor, uses, &weight);
  if (outcome.status != PLUMB_OK)
    throw std::runtime_error(plugin_.name() + ": prepare: " + outcome.message);
  return weight;
}

plumb_handle Rig::kv(uint32_t capacity_rows, uint32_t n_heads, uint32_t head_width,
                     plumb_format format) {
  plumb_kv_shape shape = make_abi<plumb_kv_shape>();
  shape.format = format;
  shape.capacity_rows = capacity_rows;
  shape.n_heads_kv = n_heads;
  shape.head_width = head_width;
  plumb_handle cache = 0;
  ErrorBuffer error;
  must(table().kv_create(self_, &shape, &cache, error), error, plugin_.name() + ": kv_create");
  caches_.push_back(cache);
  return cache;
}

bool Rig::supports(const plumb_op_query& query, std::string* reason) const {
  ErrorBuffer error;
  const plumb_status status = table().supports(self_, &query, error);
  if (reason != nullptr) *reason = error.message();
  return status == PLUMB_OK;
}

Outcome Rig::execute(const plumb_op& op, uint32_t n_parts) {
  std::vector<Outcome> outcomes(n_parts);
  const auto run_part = [&](uint32_t part) {
    ErrorBuffer error;
    const plumb_status status =
        table().execute(self_, &op, 1, workers_.at(part), part, n_parts, error);
    outcomes[part] = {status, error.op_id(), std::string(error.message())};
  };
  ErrorBuffer error;
  const plumb_status planned = table().plan(self_, &op, 1, error);
  if (planned != PLUMB_OK) {
    outcomes[0] = {planned, error.op_id(), std::string(error.message())};
  } else {
    std::vector<std::thread> others;
    for (uint32_t part = n_parts - 1; part > 0; --part) {
      if (parts_ == Parts::kTogether) {
        others.emplace_back(run_part, part);
      } else {
        run_part(part);
      }
    }
    run_part(0);
    for (std::thread& other : others) other.join();
  }
  check_rooms();
  const auto failed = std::find_if(outcomes.begin(), outcomes.end(), [](const Outcome& outcome) {
    return outcome.status != PLUMB_OK;
  });
  return failed == outcomes.end() ? outcomes[0] : *failed;
}

void Rig::check_rooms() const {
  for (const Room& room : rooms_) {
    if (!room.contents.empty() &&
        values<uint8_t>({room.buffer, kGuardBytes}, room.bytes) != room.contents) {
      ADD_FAILURE() << plugin_.name() << ": changed an input of " << room.bytes << " bytes";
    }
    for (const uint64_t at : {uint64_t{0}, kGuardBytes + room.bytes}) {
      const auto zone = values<uint8_t>({room.buffer, at}, kGuardBytes);
      const auto broken =
          std::find_if(zone.begin(), zone.end(), [](uint8_t byte) { return byte != kGuardByte; });
      if (broken == zone.end()) continue;
      ADD_FAILURE() << plugin_.name() << ": wrote at byte "
                    << static_cast<int64_t>(at) + (broken - zone.begin()) -
                           static_cast<int64_t>(kGuardBytes)
                    << " of a slice of " << room.bytes;
    }
  }
}

}  // namespace plumbline::test
