#include "runtime/model/device_classes.h"

#include <map>
#include <utility>

namespace yuba::runtime {
namespace {

using Mark = uint64_t;  // devices of different marks are told apart

// Mixes the bits of a number (the finalizer of MurmurHash3).
Mark Mix(Mark x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}
Mark Joined(Mark a, Mark b) { return Mix(a * 31 + b); }

// What sums of marks of equal groups have in common: by group, [device].
void AddMates(const std::vector<int>& group, const std::vector<Mark>& marks, Mark salt,
              std::vector<Mark>& next) {
  std::map<int, Mark> sums;
  for (size_t d = 0; d < group.size(); ++d) sums[group[d]] += Joined(marks[d], salt);
  for (size_t d = 0; d < group.size(); ++d) next[d] += Joined(sums[group[d]], salt);
}

std::vector<int> Numbered(const std::vector<Mark>& marks) {
  std::map<Mark, int> number;
  std::vector<int> classes;
  for (const Mark mark : marks)
    classes.push_back(number.emplace(mark, static_cast<int>(number.size())).first->second);
  return classes;
}

}  // namespace

int PortOf(const Machine& machine, int kind, int device) {
  return device / machine.links[kind].shared_by;
}

std::vector<int> DeviceClasses(const Machine& machine, const std::vector<KernelTimes>& kernels,
                               const std::vector<ExchangeReads>& exchanges,
                               const std::vector<int>& process) {
  const int devices = static_cast<int>(process.size());
  std::vector<Mark> marks(devices, 0);
  for (const KernelTimes& times : kernels) {
    for (int d = 0; d < devices; ++d) marks[d] = Joined(marks[d], times.variant[d]);
  }
  for (const ExchangeReads& exchange : exchanges) {
    for (int d = 0; d < devices; ++d) marks[d] = Joined(marks[d], exchange.local_bytes[d]);
  }
  std::vector<std::vector<int>> ports(machine.links.size());
  for (int kind = 0; kind < static_cast<int>(ports.size()); ++kind) {
    for (int d = 0; d < devices; ++d) ports[kind].push_back(PortOf(machine, kind, d));
  }
  std::vector<int> classes = Numbered(marks);
  while (true) {
    std::vector<Mark> next(devices, 0);
    for (size_t e = 0; e < exchanges.size(); ++e) {
      for (int d = 0; d < devices; ++d) {
        for (const Read& read : exchanges[e].reads[d]) {
          const Mark what = Joined(Joined(e, read.bytes), KindBetween(machine, d, read.source));
          next[d] += Joined(marks[read.source], what);
          next[read.source] += Joined(marks[d], what ^ 1);
        }
      }
    }
    AddMates(process, marks, 2, next);
    for (size_t kind = 0; kind < ports.size(); ++kind) AddMates(ports[kind], marks, 3 + kind, next);
    for (int d = 0; d < devices; ++d) next[d] = Joined(marks[d], next[d]);
    std::vector<int> finer = Numbered(next);
    const bool stable = finer == classes;
    marks = std::move(next);
    classes = std::move(finer);
    if (stable) return classes;
  }
}

}  // namespace yuba::runtime
