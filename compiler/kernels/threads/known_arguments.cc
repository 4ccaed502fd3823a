#include "compiler/kernels/threads/known_arguments.h"

#include <algorithm>
#include <set>

#include "opsemantics/base/box.h"
#include "runtime/program/tables.h"

namespace yuba::kernels {
namespace {

// All arguments of one launch.
using Launch = std::vector<int64_t>;

class Launches {
 public:
  explicit Launches(const program::Program& program)
      : program_(program), mesh_(program::MeshOf(program)), boxes_(program.buffers_size()) {}

  int64_t devices() const { return mesh_.devices(); }

  // Adds the launches of `kernel` on all devices that compute something.
  void Add(const program::Kernel& kernel, std::set<Launch>& launches) {
    std::vector<Launch> each(mesh_.devices());
    std::vector<bool> computes(each.size());
    for (const program::Access& result : kernel.results()) {
      const std::vector<Box> boxes = program::BoxesOn(mesh_, result.box());
      for (size_t d = 0; d < each.size(); ++d) computes[d] = computes[d] || Volume(boxes[d]) > 0;
    }
    for (const program::Range& range : kernel.indices()) {
      const std::vector<Interval> parts = program::IntervalsOn(mesh_, range);
      for (size_t d = 0; d < each.size(); ++d) AddPair(parts[d].begin, parts[d].end, each[d]);
    }
    const auto add_buffer = [&](int buffer) {
      const std::vector<Box>& boxes = BoxesOf(buffer);
      for (size_t d = 0; d < each.size(); ++d) {
        for (const Interval& held : boxes[d]) AddPair(held.begin, held.size(), each[d]);
      }
    };
    for (const program::Access& operand : kernel.operands()) add_buffer(operand.buffer());
    for (const program::Access& result : kernel.results()) add_buffer(result.buffer());
    for (size_t d = 0; d < each.size(); ++d) {
      if (computes[d]) launches.insert(std::move(each[d]));
    }
  }

 private:
  static void AddPair(int64_t first, int64_t second, Launch& launch) {
    launch.push_back(first);
    launch.push_back(second);
  }

  const std::vector<Box>& BoxesOf(int buffer) {
    std::vector<Box>& boxes = boxes_[buffer];
    if (boxes.empty()) boxes = program::BoxesOn(mesh_, program_.buffers(buffer).box());
    return boxes;
  }

  const program::Program& program_;
  const Mesh mesh_;
  std::vector<std::vector<Box>> boxes_;  // [buffer][device], of those asked for
};

// The same in all launches: the distance of two slots, or one slot's value (`base` -1).
bool IsConstant(const std::set<Launch>& launches, int slot, int base, int64_t& offset) {
  const auto distance = [&](const Launch& launch) {
    return launch[slot] - (base < 0 ? 0 : launch[base]);
  };
  offset = distance(*launches.begin());
  return std::all_of(launches.begin(), launches.end(),
                     [&](const Launch& launch) { return distance(launch) == offset; });
}

KnownArguments KnownIn(const std::set<Launch>& launches) {
  KnownArguments known;
  if (launches.empty()) return known;
  std::vector<int> bases = {-1};
  for (int slot = 0; slot < static_cast<int>(launches.begin()->size()); ++slot) {
    int64_t offset = 0;
    const auto base = std::find_if(bases.begin(), bases.end(), [&](int candidate) {
      return IsConstant(launches, slot, candidate, offset);
    });
    known.push_back(base == bases.end() ? KnownArgument{slot, 0} : KnownArgument{*base, offset});
    if (base == bases.end()) bases.push_back(slot);
  }
  return known;
}

KnownArguments NothingOf(const program::Program& program, const program::Kernel& kernel) {
  int slots = 2 * kernel.indices_size();
  for (const auto* accesses : {&kernel.operands(), &kernel.results()}) {
    for (const program::Access& access : *accesses)
      slots += 2 * program.buffers(access.buffer()).box().dims_size();
  }
  KnownArguments known;
  for (int slot = 0; slot < slots; ++slot) known.push_back({slot, 0});
  return known;
}

}  // namespace

std::vector<KnownArguments> KnownArgumentsOf(const program::Program& program,
                                             int64_t most_devices) {
  Launches launches(program);
  const bool few = launches.devices() <= most_devices;
  std::vector<std::set<Launch>> of(program.functions_size());
  std::vector<KnownArguments> known(program.functions_size());
  for (const program::Instruction& instruction : program.instructions()) {
    if (!instruction.has_kernel()) continue;
    const program::Kernel& kernel = instruction.kernel();
    known[kernel.function()] = NothingOf(program, kernel);
    if (few) launches.Add(kernel, of[kernel.function()]);
  }
  for (size_t f = 0; f < of.size(); ++f) {
    if (!of[f].empty()) known[f] = KnownIn(of[f]);
  }
  return known;
}

}  // namespace yuba::kernels
