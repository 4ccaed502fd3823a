// The flags of `yuba partition`.
#ifndef YUBA_TOOLS_FLAGS_PARTITION_FLAGS_H_
#define YUBA_TOOLS_FLAGS_PARTITION_FLAGS_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "tools/flags/mesh_flags.h"
#include "tools/flags/model_flags.h"

namespace CLI {
class App;
}

namespace yuba::tools {

struct PartitionFlags {
  ModelFlags model;
  MeshFlags mesh;
  std::vector<std::string> space;  // as ParseSpace has it
  std::vector<std::string> pins;
  std::string replicate;  // empty: auto for the least time, else none
  std::string objective;  // empty: time where a machine is named, else bytes
  // Bytes a device; 0: no limit; nothing: what the machine's devices have for programs.
  absl::optional<int64_t> memory;
  std::string search = "default";
  double time_limit = 0;  // seconds; 0: none
  int threads = 0;        // AddPartitionFlags: one a processor
  std::set<std::string> without;
  std::string output;
  std::string to, dump;
  bool verbose = false;
  bool quiet = false;
  bool no_check = false;
  bool json = false;
};
// `flags` must outlive `app`.
void AddPartitionFlags(CLI::App* app, PartitionFlags& flags);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_FLAGS_PARTITION_FLAGS_H_
