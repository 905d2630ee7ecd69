#include "core/diff/signatures/probes.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace plumbline::diff {
namespace {

/// Operands that are neither ids nor positions, tables or caches.
std::vector<size_t> value_operands(const Suspect& suspect) {
  switch (suspect.kind()) {
    case PLUMB_OP_EMBED:
      return {};
    case PLUMB_OP_KV_APPEND:
      return {0, 1};
    case PLUMB_OP_ADD:
    case PLUMB_OP_ACTIVATE:
      return suspect.inputs().size() > 1 ? std::vector<size_t>{0, 1} : std::vector<size_t>{0};
    default:
      return {0};
  }
}

/// f(row, column, value) for each value of the operand.
template <typename F>
void change(Rows& rows, F&& f) {
  const size_t width = rows.shape.width;
  for (size_t i = 0; i < rows.values.size(); ++i)
    rows.values[i] = f(i / width, i % width, rows.values[i]);
}

void change_integers(Rows& rows, const std::function<int64_t(int64_t row, int64_t value)>& f) {
  change(rows, [&](size_t row, size_t, float bits) {
    const int64_t value = f(static_cast<int64_t>(row), std::bit_cast<int32_t>(bits));
    return std::bit_cast<float>(static_cast<int32_t>(value));
  });
}

void reverse_rows(Rows& rows) {
  const size_t width = rows.shape.width;
  std::reverse(rows.values.begin(), rows.values.end());
  for (size_t at = 0; at < rows.values.size(); at += width)
    std::reverse(rows.values.begin() + static_cast<std::ptrdiff_t>(at),
                 rows.values.begin() + static_cast<std::ptrdiff_t>(at + width));
}

/// In (-1, 1), all different up to 2^16 of them.
float distinct(size_t row, size_t column) {
  const uint32_t mixed = static_cast<uint32_t>(row * 7919 + column) * 40503u;
  return static_cast<float>(mixed & 0xffffu) / 0x1p15f - 1 + 0x1p-17f;
}

class Maker {
 public:
  explicit Maker(const Suspect& suspect) : suspect_(suspect), operands_(value_operands(suspect)) {}

  /// One probe in which each value operand is changed by f(row, column, value).
  template <typename F>
  void values(F&& f) {
    if (operands_.empty()) return;
    OpInputs inputs = suspect_.inputs();
    for (const size_t operand : operands_) {
      // The two of a sum or a gate are not to be the same.
      change(inputs[operand], [&](size_t row, size_t column, float value) {
        return f(row + 3 * operand, column, value);
      });
    }
    made_.push_back(std::move(inputs));
  }
  template <typename F>
  void operand(size_t at, F&& f) {
    OpInputs inputs = suspect_.inputs();
    f(inputs[at]);
    made_.push_back(std::move(inputs));
  }
  void reversed() {
    if (operands_.empty()) return;
    OpInputs inputs = suspect_.inputs();
    for (const size_t operand : operands_) reverse_rows(inputs[operand]);
    made_.push_back(std::move(inputs));
  }
  void scaled(float factor) {
    values([factor](size_t, size_t, float value) { return value * factor; });
  }
  std::vector<OpInputs> take() { return std::move(made_); }

 private:
  const Suspect& suspect_;
  std::vector<size_t> operands_;
  std::vector<OpInputs> made_;
};

void add_values(const Suspect& suspect, Maker& make) {
  make.reversed();
  make.values([](size_t row, size_t column, float) { return distinct(row, column); });
  make.values([](size_t, size_t, float) { return 1.0f; });
  const size_t width = suspect.inputs()[0].shape.width;
  make.values([width](size_t row, size_t column, float) {
    return column == (5 * row + 1) % width ? 1.0f : 0.0f;
  });
  if (suspect.kind() == PLUMB_OP_ATTEND) return;  // sizes of scores are probed by add_attention
  make.scaled(0x1p-12f);
  float largest = 1;
  for (const float value : suspect.other().output)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  make.scaled(std::ldexp(1.0f, 20 - std::ilogb(largest)));  // outputs up to 2^20: no f16 holds them
}

void add_positions(const Suspect& suspect, Maker& make) {
  // Tables are filled as far as positions have come.
  const int64_t n = int64_t{suspect.last_position()} + 1;
  const auto with = [&](const std::function<int64_t(int64_t row, int64_t position)>& f) {
    make.operand(1, [&](Rows& rows) {
      change_integers(rows, [&](int64_t row, int64_t position) {
        return std::clamp<int64_t>(f(row, position), 0, n - 1);
      });
    });
  };
  with([](int64_t row, int64_t) { return row; });
  with([n](int64_t row, int64_t) { return (5 * row + 1) % n; });
  with([](int64_t row, int64_t position) { return position + 3 - 2 * (row % 2); });
}

void add_attention(const Suspect& suspect, Maker& make) {
  make.scaled(0.0f);
  make.scaled(0.25f);
  make.scaled(2.0f);
  const int64_t n_keys = suspect.inputs()[2].shape.n_rows;
  const auto with_positions = [&](const std::function<int64_t(int64_t)>& f) {
    make.operand(1, [&](Rows& rows) {
      change_integers(rows, [&](int64_t, int64_t position) { return f(position); });
    });
  };
  with_positions([](int64_t position) { return position / 2; });
  with_positions([](int64_t position) { return position + 1; });
  with_positions([n_keys](int64_t position) { return std::min(position + 3, n_keys + 1); });
  make.operand(2, [](Rows& rows) { reverse_rows(rows); });
  make.operand(2, [](Rows& rows) {
    change(rows, [](size_t row, size_t column, float) { return distinct(row, column); });
  });
  // The values of one row in the midst, and of no other.
  make.operand(2, [n_keys](Rows& rows) {
    const size_t half = rows.shape.width / 2;
    change(rows, [&](size_t row, size_t column, float value) {
      if (column < half) return value;
      return row == static_cast<size_t>(n_keys) / 2 ? distinct(row, column) : 0.0f;
    });
  });
}

void add_ids(const Suspect& suspect, Maker& make) {
  const auto n = static_cast<int64_t>(suspect.weight()->dims[0]);
  const auto with = [&](const std::function<int64_t(int64_t row, int64_t id)>& f) {
    make.operand(0, [&](Rows& rows) {
      change_integers(rows, [&](int64_t row, int64_t id) { return f(row, id) % n; });
    });
  };
  with([](int64_t row, int64_t id) { return id + 7 * row + 1; });
  with([](int64_t row, int64_t) { return row; });
  with([n](int64_t row, int64_t) { return n - 1 - row % n; });
}

}  // namespace

std::vector<OpInputs> probes(const Suspect& suspect) {
  Maker make(suspect);
  add_values(suspect, make);
  if (suspect.kind() == PLUMB_OP_ROPE) add_positions(suspect, make);
  if (suspect.kind() == PLUMB_OP_ATTEND) add_attention(suspect, make);
  if (suspect.kind() == PLUMB_OP_EMBED) add_ids(suspect, make);
  return make.take();
}

}  // namespace plumbline::diff
