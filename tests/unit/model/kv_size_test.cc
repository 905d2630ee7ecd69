// Bytes of KV caches. Oracle: 2 * layers * rows * kv heads * head width * bytes of an element.
#include "core/model/kv_size.h"

#include <gmock/gmock.h>

namespace plumbline::test {
namespace {

using model::HyperParameters;
using testing::HasSubstr;

HyperParameters tinylm() {
  HyperParameters hp;
  hp.n_layers = 4;
  hp.n_heads_kv = 8;
  hp.head_width = 64;
  return hp;
}

TEST(KvSize, IsKnownFromTheHyperParameters) {
  const HyperParameters hp = tinylm();
  EXPECT_EQ(*model::kv_bytes(hp, 512, PLUMB_F32, false), 8'388'608u);
  EXPECT_EQ(*model::kv_bytes(hp, 512, PLUMB_F16, false), 4'194'304u);
  EXPECT_EQ(*model::kv_bytes(hp, 512, PLUMB_F32, true), 12'582'912u);
  EXPECT_EQ(*model::kv_bytes(hp, 0, PLUMB_F32, false), 0u);
  const auto none = model::kv_bytes(hp, UINT64_MAX / 8, PLUMB_F32, false);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, PLUMB_INVALID_ARGUMENT);
  HyperParameters absurd = hp;
  absurd.n_layers = absurd.n_heads_kv = absurd.head_width = UINT32_MAX;
  EXPECT_FALSE(model::kv_bytes(absurd, 1, PLUMB_F32, false));
  EXPECT_FALSE(model::check_kv_budget(absurd, 1, PLUMB_F32, false, UINT64_MAX));
}

TEST(KvSize, IsHeldAgainstABudget) {
  const HyperParameters hp = tinylm();
  EXPECT_TRUE(model::check_kv_budget(hp, 512, PLUMB_F32, false, 8'388'608));
  const auto over = model::check_kv_budget(hp, 513, PLUMB_F32, false, 8'388'608);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, PLUMB_INVALID_ARGUMENT);
  EXPECT_THAT(over.error().message, HasSubstr("need 8404992 bytes, 16384 for each"));
  EXPECT_THAT(over.error().message, HasSubstr("expected at most 512 rows"));
  EXPECT_FALSE(model::check_kv_budget(hp, UINT64_MAX, PLUMB_F32, false, UINT64_MAX));
}

}  // namespace
}  // namespace plumbline::test
