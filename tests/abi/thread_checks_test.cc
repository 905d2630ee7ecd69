// Oracle: the thread tags of ext/kernels.h. The backend below holds a thread inside a call until
// the test lets it go, so that calls overlap for certain.
#include "core/host/thread_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "core/host/services.h"
#include "plumb/sdk/abi.h"

namespace plumbline {
namespace {

using testing::HasSubstr;

/// A backend whose calls wait at a gate.
struct Backend {
  std::promise<void> entered;
  std::promise<void> may_leave;
  const plumb_host* host = nullptr;
  bool is_gated = false;

  plumb_status pass() {
    if (is_gated) {
      is_gated = false;
      entered.set_value();
      may_leave.get_future().wait();
    }
    return PLUMB_OK;
  }
};

Backend* made = nullptr;

plumb_status PLUMB_CALL create(const plumb_host* host, const plumb_kernels_config*, void** self,
                               plumb_error*) {
  made->host = host;
  *self = made;
  return PLUMB_OK;
}
void PLUMB_CALL destroy(void*) {}
plumb_status PLUMB_CALL worker_create(void*, uint32_t index, plumb_handle* worker, plumb_error*) {
  *worker = 10 + index;
  return PLUMB_OK;
}
void PLUMB_CALL worker_destroy(void*, plumb_handle) {}
plumb_status PLUMB_CALL kv_create(void*, const plumb_kv_shape*, plumb_handle* kv, plumb_error*) {
  *kv = 77;
  return PLUMB_OK;
}
void PLUMB_CALL kv_destroy(void*, plumb_handle) {}
plumb_status PLUMB_CALL kv_truncate(void* self, plumb_handle, uint32_t, plumb_error*) {
  return static_cast<Backend*>(self)->pass();
}
plumb_status PLUMB_CALL plan(void* self, const plumb_op*, uint32_t, plumb_error*) {
  return static_cast<Backend*>(self)->pass();
}
plumb_status PLUMB_CALL execute(void* self, const plumb_op*, uint32_t, plumb_handle, uint32_t,
                                uint32_t, plumb_error*) {
  return static_cast<Backend*>(self)->pass();
}
uint64_t PLUMB_CALL activation_bytes(void*, uint64_t n_rows, uint64_t width) {
  return n_rows * width;
}

class ThreadChecks : public testing::Test {
 protected:
  ThreadChecks() {
    table_ = make_abi<plumb_kernels>();
    table_.create = create;
    table_.destroy = destroy;
    table_.worker_create = worker_create;
    table_.worker_destroy = worker_destroy;
    table_.kv_create = kv_create;
    table_.kv_destroy = kv_destroy;
    table_.kv_truncate = kv_truncate;
    table_.plan = plan;
    table_.execute = execute;
    table_.activation_bytes = activation_bytes;
    made = &backend_;
    checked_ = checked_kernels(table_, host_services());
  }

  void SetUp() override {
    ASSERT_EQ(checked_.table->create(checked_.host, nullptr, &self_, error_), PLUMB_OK);
    ASSERT_EQ(checked_.table->worker_create(self_, 0, &worker_, error_), PLUMB_OK);
  }
  void TearDown() override { checked_.table->destroy(self_); }

  /// Runs call on another thread, and check while it is inside the backend.
  template <typename Call, typename Check>
  void while_inside(Call call, Check check) {
    backend_.is_gated = true;
    auto other = std::async(std::launch::async, call);
    backend_.entered.get_future().wait();
    check();
    backend_.may_leave.set_value();
    EXPECT_EQ(other.get(), PLUMB_OK);
  }

  Backend backend_;
  plumb_kernels table_;
  CheckedKernels checked_;
  void* self_ = nullptr;
  plumb_handle worker_ = 0;
  ErrorBuffer error_;
};

TEST_F(ThreadChecks, PassOnWhatIsRight) {
  EXPECT_EQ(backend_.host, host_services());
  EXPECT_EQ(checked_.table->activation_bytes(self_, 3, 32), 96u);
  EXPECT_EQ(checked_.table->submit, nullptr) << "optional and absent";
  EXPECT_EQ(checked_kernels(table_, host_services()).table, checked_.table);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(checked_.table->execute(self_, nullptr, 0, worker_, 0, 1, error_), PLUMB_OK);
    EXPECT_EQ(checked_.table->plan(self_, nullptr, 0, error_), PLUMB_OK);
  }
}

TEST_F(ThreadChecks, SeeTwoThreadsInOneWorker) {
  plumb_handle second = 0;
  ASSERT_EQ(checked_.table->worker_create(self_, 1, &second, error_), PLUMB_OK);
  const auto run = [&](plumb_handle worker) {
    return checked_.table->execute(self_, nullptr, 0, worker, 0, 1, error_);
  };
  while_inside([&] { return run(worker_); },
               [&] {
                 EXPECT_EQ(run(second), PLUMB_OK);
                 EXPECT_EQ(run(worker_), PLUMB_INTERNAL);
                 EXPECT_THAT(std::string(error_.message()),
                             HasSubstr("execute: worker: handle 10 is unknown or in use"));
               });
  EXPECT_EQ(run(worker_), PLUMB_OK);
}

TEST_F(ThreadChecks, SeeAWorkerThatIsGoneAndOneThatNeverWas) {
  EXPECT_EQ(checked_.table->execute(self_, nullptr, 0, 999, 0, 1, error_), PLUMB_INTERNAL);
  checked_.table->worker_destroy(self_, worker_);
  EXPECT_EQ(checked_.table->execute(self_, nullptr, 0, worker_, 0, 1, error_), PLUMB_INTERNAL);
}

TEST_F(ThreadChecks, SeeTwoThreadsInOneCache) {
  plumb_handle kv = 0;
  ASSERT_EQ(checked_.table->kv_create(self_, nullptr, &kv, error_), PLUMB_OK);
  const auto truncate = [&] { return checked_.table->kv_truncate(self_, kv, 0, error_); };
  while_inside(truncate, [&] { EXPECT_EQ(truncate(), PLUMB_INTERNAL); });
  EXPECT_EQ(truncate(), PLUMB_OK);
  checked_.table->kv_destroy(self_, kv);
  EXPECT_EQ(truncate(), PLUMB_INTERNAL);
}

TEST_F(ThreadChecks, SeeTwoThreadsInPlan) {
  const auto plan_once = [&] { return checked_.table->plan(self_, nullptr, 0, error_); };
  while_inside(plan_once, [&] { EXPECT_EQ(plan_once(), PLUMB_INTERNAL); });
  EXPECT_EQ(plan_once(), PLUMB_OK);
}

TEST_F(ThreadChecks, CreateWantsTheHostThatCameWithTheTable) {
  void* self = nullptr;
  EXPECT_EQ(checked_.table->create(host_services(), nullptr, &self, error_),
            PLUMB_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace plumbline
