// written.h: an opened file's layout in other formats, through the writer's table.
#pragma once

#include "opened.h"
#include "plugins/loaders/gguf/writer_table.h"

namespace plumbline::test {

struct Written {
  plumb_status status = PLUMB_INTERNAL;
  std::string message;
  std::vector<uint8_t> head;
  std::vector<uint64_t> offsets;
  uint64_t file_bytes = 0;
};

inline Written layout(const Opened& opened, plumb_format main_format,
                      std::vector<plumb_format> formats, uint64_t head_capacity_bytes = 1 << 20) {
  Written out;
  out.head.resize(head_capacity_bytes);
  out.offsets.resize(formats.size());
  auto request = make_abi<plumb_file_layout>();
  request.main_format = main_format;
  request.n_tensors = formats.size();
  request.formats = formats.data();
  request.offsets = out.offsets.data();
  request.head = out.head.data();
  request.head_capacity_bytes = head_capacity_bytes;
  ErrorBuffer error;
  out.status = loaders::gguf::writer_table().layout(opened.model(), &request, error);
  out.message = std::string(error.message());
  out.head.resize(out.status == PLUMB_OK ? request.head_bytes : 0);
  out.file_bytes = request.file_bytes;
  if (out.status == PLUMB_MORE_SPACE) {
    EXPECT_GT(request.head_bytes, head_capacity_bytes);
  }
  return out;
}

inline std::vector<plumb_format> formats_of(const Opened& opened) {
  std::vector<plumb_format> formats;
  for (uint64_t i = 0; i < Opened::table().n_tensors(opened.model()); ++i)
    formats.push_back(opened.tensor(i).format);
  return formats;
}

}  // namespace plumbline::test
