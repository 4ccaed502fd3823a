#include "compiler/memory/memory_use.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <utility>

#include "opsemantics/base/slot.h"
#include "runtime/program/check_attention.h"
#include "runtime/program/check_joint_calls.h"
#include "runtime/program/known_boxes.h"
#include "runtime/program/tables.h"
#include "runtime/program/used_buffers.h"

namespace yuba::compiler {
namespace {

// [instruction]: the sum of the bytes of the buffers that live there. bytes: [buffer].
std::vector<int64_t> LiveBytes(const program::Program& program, const std::vector<int64_t>& bytes) {
  std::vector<int64_t> change(std::max(1, program.instructions_size()) + 1, 0);
  for (int id = 0; id < program.buffers_size(); ++id) {
    change[program.buffers(id).first()] += bytes[id];
    change[program.buffers(id).last() + 1] -= bytes[id];
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  change.pop_back();
  return change;
}

std::vector<int64_t> LiveSlots(const program::Program& program) {
  std::vector<int64_t> bytes;
  for (const program::Buffer& buffer : program.buffers())
    bytes.push_back(buffer.substitute() ? 0 : SlotBytes(buffer.size()));
  return LiveBytes(program, bytes);
}

// [buffer]
std::vector<BufferRole> RolesOf(const program::Program& program) {
  std::vector<BufferRole> roles(program.buffers_size(), BufferRole::kActivation);
  for (const program::Instruction& instruction : program.instructions()) {
    const program::Exchange& exchange = instruction.exchange();
    if (!instruction.has_exchange() || exchange.source() == exchange.destination()) continue;
    if (exchange.reduce()) {
      roles[exchange.source()] = BufferRole::kWritten;
    } else {
      roles[exchange.destination()] = BufferRole::kGathered;
    }
  }
  for (int id = 0; id < program.buffers_size(); ++id) {
    if (program.buffers(id).initialized()) roles[id] = BufferRole::kStored;
  }
  for (const program::Port& port : program.outputs()) roles[port.buffer()] = BufferRole::kStored;
  return roles;
}

// [buffer]: the bytes of the device's box.
std::vector<int64_t> BoxBytes(const program::Program& program, int device) {
  const Mesh mesh = MeshOf(program);
  std::vector<int64_t> bytes;
  for (const program::Buffer& buffer : program.buffers()) {
    bytes.push_back(buffer.substitute() ? 0
                                        : Volume(BoxOn(mesh, buffer.box(), device)) *
                                              ElementBytes(program, buffer));
  }
  return bytes;
}

// The sizes of all buffers on all devices, and which devices have equal ones.
class BoxSizes {
 public:
  explicit BoxSizes(const program::Program& program)
      : program_(program), classes_(MeshOf(program).devices(), 0) {
    program::KnownBoxes known(MeshOf(program));
    std::map<const void*, const std::vector<int64_t>*> by_list;
    for (const program::Buffer& buffer : program.buffers()) {
      const program::KnownBoxes::List& boxes = known.Of(buffer.box());
      const std::vector<int64_t>*& volumes = by_list[boxes.get()];
      if (volumes == nullptr) volumes = Add(*boxes);
      volumes_.push_back(volumes);
    }
  }
  BoxSizes(const BoxSizes&) = delete;  // volumes_ points into it

  const std::vector<int>& classes() const { return classes_; }  // [device]
  std::vector<int64_t> BytesOn(int device) const {              // [buffer]
    std::vector<int64_t> bytes;
    for (int id = 0; id < program_.buffers_size(); ++id) {
      const std::vector<int64_t>& volumes = *volumes_[id];
      const program::Buffer& buffer = program_.buffers(id);
      bytes.push_back(buffer.substitute() ? 0
                                          : volumes[volumes.size() == 1 ? 0 : device] *
                                                ElementBytes(program_, buffer));
    }
    return bytes;
  }

 private:
  // Classes become finer by the volumes of these boxes. Equal volumes are kept as one.
  const std::vector<int64_t>* Add(const std::vector<Box>& boxes) {
    std::vector<int64_t> volumes;
    for (const Box& box : boxes) volumes.push_back(Volume(box));
    if (std::count(volumes.begin(), volumes.end(), volumes[0]) ==
        static_cast<int64_t>(volumes.size())) {
      volumes.resize(1);
    } else {
      std::map<std::pair<int, int64_t>, int> finer;
      for (size_t device = 0; device < volumes.size(); ++device) {
        const auto next = static_cast<int>(finer.size());
        classes_[device] =
            finer.emplace(std::make_pair(classes_[device], volumes[device]), next).first->second;
      }
    }
    kept_.push_back(std::move(volumes));
    return &kept_.back();
  }

  const program::Program& program_;
  std::deque<std::vector<int64_t>> kept_;             // [device], or one for all
  std::vector<const std::vector<int64_t>*> volumes_;  // [buffer]
  std::vector<int> classes_;
};

// `bytes`: [buffer], of the device's boxes.
DeviceUse UseOf(const program::Program& program, const std::vector<int64_t>& bytes,
                const std::vector<BufferRole>& roles) {
  DeviceUse use;
  const std::vector<int64_t> live = LiveBytes(program, bytes);
  const int peak = std::max_element(live.begin(), live.end()) - live.begin();
  use.peak = live[peak];
  if (peak < program.instructions_size()) use.at = NodeOf(program.instructions(peak));
  for (int id = 0; id < program.buffers_size(); ++id) {
    if (program.buffers(id).first() > peak || program.buffers(id).last() < peak) continue;
    switch (roles[id]) {
      case BufferRole::kStored: use.stored += bytes[id]; break;
      case BufferRole::kActivation: use.activations += bytes[id]; break;
      case BufferRole::kGathered:
      case BufferRole::kWritten: use.buffers += bytes[id]; break;
    }
  }
  return use;
}

}  // namespace

std::vector<Users> UsersOf(const program::Program& program, const std::vector<int>& runs_until) {
  std::vector<Users> users(program.buffers_size());
  const auto use = [&](int id, int first, int last) {
    users[id].first = users[id].none() ? first : std::min(users[id].first, first);
    users[id].last = std::max(users[id].last, runs_until.empty() ? last : runs_until[last]);
  };
  const std::vector<program::UsedBuffers> used = program::UsedBuffersOf(program);
  const auto use_all = [&](int instruction, int first, int last) {
    for (const std::vector<int>* ids : {&used[instruction].reads, &used[instruction].writes}) {
      for (const int id : *ids) {
        // A call does without them.
        const bool of_kernels = first < last && program.buffers(id).substitute();
        if (!of_kernels) use(id, first, last);
      }
    }
  };
  for (int i = 0; i < program.instructions_size(); ++i) use_all(i, i, i);
  // A call that stands for several kernels reads and writes while any of them would.
  for (const program::Attention& attention : program.attention()) {
    for (const auto& [begin, end] : program::PartsOf(attention)) {
      for (int i = begin; i < end; ++i) use_all(i, begin, end - 1);
    }
  }
  for (const program::JointCall& call : program.joint_calls()) {
    const int first = program::FirstOf(call);
    for (const int i : {first, first + 1}) use_all(i, first, first + 1);
  }
  return users;
}

const std::string& NodeOf(const program::Instruction& instruction) {
  return instruction.has_kernel() ? instruction.kernel().node(0) : instruction.exchange().node();
}

ProgramMemory MeasureMemory(const program::Program& program) {
  const std::vector<int64_t> live = LiveSlots(program);
  return {program.arena_size(), *std::max_element(live.begin(), live.end())};
}

DeviceUse MeasureDevice(const program::Program& program, int device) {
  return UseOf(program, BoxBytes(program, device), RolesOf(program));
}

std::vector<DeviceUse> MeasureDevices(const program::Program& program) {
  const BoxSizes sizes(program);
  const std::vector<BufferRole> roles = RolesOf(program);
  std::map<int, DeviceUse> of_class;
  std::vector<DeviceUse> uses;
  for (size_t device = 0; device < sizes.classes().size(); ++device) {
    const auto [use, is_new] = of_class.emplace(sizes.classes()[device], DeviceUse());
    if (is_new) use->second = UseOf(program, sizes.BytesOn(static_cast<int>(device)), roles);
    uses.push_back(use->second);
  }
  return uses;
}

MemoryOverTime MeasureOverTime(const program::Program& program, int device) {
  MemoryOverTime memory;
  memory.boxes = BoxBytes(program, device);
  memory.own = LiveBytes(program, memory.boxes);
  memory.slots = LiveSlots(program);
  memory.roles = RolesOf(program);
  return memory;
}

}  // namespace yuba::compiler
