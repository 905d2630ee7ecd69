// plumb_command.h: runs shell lines with the built plumb in them, as a user would type them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::test {

struct Outcome {
  int exit = 0;  // as a shell tells it: 128 + N after signal N
  std::string out;
  std::string err;
};

/// A folder of its own for one test, and a shell in it. The shell knows $PLUMB (the program),
/// $SOURCE (the repository) and $BUILD; it sees no plugins, configs or models of the user.
class PlumbCommand : public testing::Test {
 protected:
  PlumbCommand();
  ~PlumbCommand() override;

  /// on_stdout: gets each piece of output as it comes; `out` is then empty.
  Outcome shell(const std::string& script,
                const std::function<void(std::string_view)>& on_stdout = {}) const;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, std::string_view bytes) const;
  /// Names of what lies in the folder, in order.
  std::vector<std::string> files() const;

 private:
  std::string folder_;
};

std::string read_file(const std::string& path);
/// golden/models/tiny-world/model.gguf.
const std::string& tiny_world();
/// The lines of a .jsonl file below golden/.
std::vector<nlohmann::json> golden_lines(const std::string& name);
/// The line with this "name".
nlohmann::json golden_line(const std::string& file, const std::string& name);

}  // namespace plumbline::test
