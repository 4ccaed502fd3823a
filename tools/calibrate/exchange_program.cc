#include "tools/calibrate/exchange_program.h"

#include <algorithm>
#include <vector>

#include "opsemantics/base/box.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/collectives.h"
#include "opsemantics/base/slot.h"

namespace yuba::tools {
namespace {

constexpr int64_t kElementBytes = 4;

// A range that each device has, from begins to ends.
program::Range RangeOf(const std::vector<Interval>& by_device) {
  program::Range range;
  for (program::Bound* bound : {range.mutable_begin(), range.mutable_end()}) bound->add_axes(0);
  for (const Interval& interval : by_device) {
    range.mutable_begin()->add_values(interval.begin);
    range.mutable_end()->add_values(interval.end);
  }
  return range;
}

// A matrix of `devices` rows, or a multiple of them, on all devices.
class Builder {
 public:
  Builder(int devices, int64_t columns) : devices_(devices), dims_{devices, columns} {
    program_ = OnDevices(program_, devices);
  }

  // Part `device + by` along dimension `cut`, in a ring; -1: the whole matrix.
  program::Box Boxes(int cut, int by = 0) const {
    program::Box box;
    for (int d = 0; d < 2; ++d) {
      std::vector<Interval> by_device;
      for (int device = 0; device < devices_; ++device) {
        by_device.push_back(d == cut ? PartOf(dims_[d], devices_, (device + by) % devices_)
                                     : Interval{0, dims_[d]});
      }
      *box.add_dims() = RangeOf(by_device);
    }
    return box;
  }

  // A buffer of a part along `cut`, or of all.
  int AddBuffer(const std::string& name, const program::Box& box, bool part) {
    program::Buffer& buffer = *program_.add_buffers();
    buffer.set_name(name);
    buffer.set_type(program::F32);
    for (const int64_t dim : dims_) buffer.add_dims(dim);
    *buffer.mutable_box() = box;
    buffer.set_offset(program_.arena_size());
    buffer.set_size(dims_[0] * dims_[1] * kElementBytes / (part ? devices_ : 1));
    program_.set_arena_size(program_.arena_size() + SlotBytes(buffer.size()));
    return program_.buffers_size() - 1;
  }

  // From all of one buffer to all of another.
  void AddExchange(const std::string& collective, int source, int destination) {
    AddExchange(collective, source, program_.buffers(source).box(), destination,
                program_.buffers(destination).box());
  }

  void AddExchange(const std::string& collective, int source, const program::Box& from,
                   int destination, const program::Box& to) {
    const int number = CollectiveNumber(collective);
    program::Exchange& exchange = *program_.add_instructions()->mutable_exchange();
    exchange.set_tensor(program_.buffers(source).name());
    exchange.set_node(program_.buffers(destination).name());
    exchange.set_source(source);
    exchange.set_destination(destination);
    *exchange.mutable_from() = from;
    *exchange.mutable_to() = to;
    exchange.set_partials(1);
    exchange.set_collective(number);
    exchange.add_axes(0);
    if (!CollectiveAt(number)->combines) return;
    exchange.set_reduce(true);
    exchange.set_reducer(program::SUM);
    exchange.set_partials(devices_);
    exchange.mutable_partial()->add_axes(0);
    for (int device = 0; device < devices_; ++device)
      exchange.mutable_partial()->add_values(device);
  }

  void AddPort(int buffer, bool input) {
    program::Port& port = input ? *program_.add_inputs() : *program_.add_outputs();
    port.set_name(program_.buffers(buffer).name());
    port.set_buffer(buffer);
    for (const int64_t dim : dims_) port.add_shape(dim);
    if (input) program_.mutable_buffers(buffer)->set_initialized(true);
  }

  program::Program& program() { return program_; }

 private:
  const int devices_;
  const std::vector<int64_t> dims_;
  program::Program program_;
};

}  // namespace

program::Program ExchangeProgram(const std::string& collective, int devices, int64_t bytes) {
  YUBA_CHECK(CollectiveNumber(collective) >= 1 && devices >= 2) << collective << " on " << devices;
  const int64_t columns = (bytes + devices * kElementBytes - 1) / (devices * kElementBytes);
  Builder builder(devices, (columns + devices - 1) / devices * devices);  // as all_to_all needs
  const program::Box whole = builder.Boxes(-1), rows = builder.Boxes(0);
  if (collective == "all_reduce") {
    const int x = builder.AddBuffer("x", whole, false), y = builder.AddBuffer("y", whole, false);
    // In place, as the compiler has it.
    builder.AddExchange("reduce_scatter", x, whole, y, rows);
    builder.AddExchange("all_gather", y, rows, y, whole);
  } else {
    const bool combines = CollectiveAt(CollectiveNumber(collective))->combines;
    const int x = builder.AddBuffer("x", combines ? whole : rows, !combines);
    const bool gathers = collective == "all_gather";
    const int cut = collective == "all_to_all" ? 1 : 0;
    const program::Box to = builder.Boxes(cut, collective == "permute" ? 1 : 0);
    const int y = builder.AddBuffer("y", gathers ? whole : to, !gathers);
    builder.AddExchange(collective, x, y);
  }
  builder.AddPort(0, true);
  builder.AddPort(1, false);
  return std::move(builder.program());
}

program::Program OnDevices(program::Program program, int devices) {
  program.clear_mesh();
  program::MeshAxis& axis = *program.add_mesh();
  axis.set_name("a");
  axis.set_size(devices);
  return program;
}

int64_t TensorBytes(const program::Program& program) {
  const program::Buffer& buffer = program.buffers(0);
  return buffer.dims(0) * buffer.dims(1) * kElementBytes;
}

}  // namespace yuba::tools
