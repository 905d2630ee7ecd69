// opened.h: one GGUF file in memory, opened through the loader's table.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "plugins/loaders/gguf/loader_table.h"
#include "tests/support/memory_host.h"

namespace plumbline::test {

class Opened {
 public:
  explicit Opened(const std::vector<uint8_t>& bytes) {
    host_.put("m.gguf", bytes);
    status_ = table().open(&host_.host(), to_abi("m.gguf"), &model_, error_);
    EXPECT_EQ(status_ == PLUMB_OK, model_ != nullptr);
  }
  ~Opened() {
    if (model_ != nullptr) table().close(model_);
    EXPECT_EQ(host_.n_mapped(), 0) << "mappings left open";
  }

  static const plumb_loader& table() { return loaders::gguf::loader_table(); }
  plumb_status status() const { return status_; }
  std::string message() const { return std::string(error_.message()); }
  void* model() const { return model_; }
  MemoryHost& host() { return host_; }

  plumb_status get(std::string_view key, plumb_value& value) const {
    const plumb_metadata* metadata = table().metadata(model_);
    return metadata->get(metadata->context, to_abi(key), &value);
  }

  plumb_tensor tensor(uint64_t index) const {
    auto tensor = make_abi<plumb_tensor>();
    EXPECT_EQ(table().tensor_at(model_, index, &tensor, nullptr), PLUMB_OK);
    return tensor;
  }

  /// The JSON, or a string "STATUS: message".
  nlohmann::json hyper_parameters() const {
    ErrorBuffer error;
    plumb_str json{};
    const plumb_status status = table().hyper_parameters(model_, &json, error);
    if (status == PLUMB_OK) return nlohmann::json::parse(to_view(json));
    return std::string(status_name(status)) + ": " + std::string(error.message());
  }

 private:
  MemoryHost host_;
  ErrorBuffer error_;
  plumb_status status_ = PLUMB_INTERNAL;
  void* model_ = nullptr;
};

}  // namespace plumbline::test
