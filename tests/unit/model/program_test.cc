// How a program divides its ops: each part once, each thread with the worker of its own, and the
// lowest failing part's error. Oracle: what a table of kernels that only takes notes was called
// with.
#include "core/model/program.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace plumbline::test {
namespace {

using model::Backend;
using model::Program;
using model::ProgramCounters;
using model::Values;

struct Notes {
  std::mutex mutex;
  std::multiset<uint32_t> parts;
  std::set<uint32_t> n_parts;
  std::map<plumb_handle, std::set<std::thread::id>> threads_of_worker;
  uint32_t fails_from = UINT32_MAX;  // parts
};
Notes notes;

plumb_status create(const plumb_host*, const plumb_kernels_config*, void** self, plumb_error*) {
  *self = &notes;
  return PLUMB_OK;
}

plumb_status alloc(void*, uint64_t, uint32_t, plumb_handle* buffer, plumb_error*) {
  *buffer = 1;
  return PLUMB_OK;
}

plumb_status worker_create(void*, uint32_t index, plumb_handle* worker, plumb_error*) {
  *worker = 100 + index;
  return PLUMB_OK;
}

plumb_status execute(void*, const plumb_op* ops, uint32_t, plumb_handle worker, uint32_t part,
                     uint32_t n_parts, plumb_error* error) {
  const std::lock_guard lock(notes.mutex);
  notes.parts.insert(part);
  notes.n_parts.insert(n_parts);
  notes.threads_of_worker[worker].insert(std::this_thread::get_id());
  if (part < notes.fails_from) return PLUMB_OK;
  error->op_id = ops->id;
  return failf(error, PLUMB_NUMERIC, "part %u", part);
}

void ignore(void*, plumb_handle) {}
void destroy(void*) {}

/// A table without what these programs do not use.
plumb_kernels table() {
  auto kernels = make_abi<plumb_kernels>();
  kernels.create = create;
  kernels.destroy = destroy;
  kernels.alloc = alloc;
  kernels.free = ignore;
  kernels.worker_create = worker_create;
  kernels.worker_destroy = ignore;
  kernels.execute = execute;
  return kernels;
}

class ProgramParts : public testing::TestWithParam<uint32_t> {
 protected:
  // One matrix product of 7 rows, on as many threads as the parameter says.
  Result<void> run() {
    notes.parts.clear();
    notes.n_parts.clear();
    const plumb_kernels kernels = table();
    auto backend = Backend::create("notes", kernels, nullptr, GetParam(), "{}", "");
    if (!backend) return std::move(backend).error();
    Values values(std::vector<Backend*>{backend->get()});
    Program program(values);
    auto op = make_abi<plumb_op>();
    op.kind = PLUMB_OP_MATMUL;
    program.add(op, {.name = "product", .layer = 3, .output = values.add(64, 7)});
    program.set_rows(7);
    ThreadPool pool(GetParam());
    ProgramCounters counters;
    return program.run(pool, 0, nullptr, nullptr, counters);
  }
};

TEST_P(ProgramParts, EachPartRunsOnceWithTheWorkerOfItsThread) {
  notes.fails_from = UINT32_MAX;
  notes.threads_of_worker.clear();
  const auto done = run();
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_EQ(notes.n_parts.size(), 1u);
  const uint32_t n_parts = *notes.n_parts.begin();
  std::multiset<uint32_t> expected;
  for (uint32_t part = 0; part < n_parts; ++part) expected.insert(part);
  EXPECT_EQ(notes.parts, expected);
  for (const auto& [worker, threads] : notes.threads_of_worker) EXPECT_EQ(threads.size(), 1u);
}

TEST_P(ProgramParts, TheLowestFailingPartIsReported) {
  for (const uint32_t fails_from : {0u, 1u, 3u}) {
    notes.fails_from = fails_from;
    const auto done = run();
    if (fails_from >= *notes.n_parts.begin()) {
      EXPECT_TRUE(done);
      continue;
    }
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, PLUMB_NUMERIC);
    EXPECT_EQ(done.error().message, "notes: op product: part " + std::to_string(fails_from));
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, ProgramParts, testing::Values(1u, 2u, 5u));

}  // namespace
}  // namespace plumbline::test
