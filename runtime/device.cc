#include "runtime/device.h"

#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"

namespace yuba::runtime {
namespace {

// The name of the tensor of which a buffer holds a box: of what is gathered into it, its source.
std::string TensorIn(const LoadedProgram& program, int buffer) {
  for (const program::Instruction& instruction : program.instructions()) {
    if (instruction.has_exchange() && instruction.exchange().destination() == buffer)
      return instruction.exchange().tensor();
  }
  return program.message().buffers(buffer).name();
}

// The buffer of an operand or result; -1 of what has none.
int BufferAt(const program::Kernel& kernel, int64_t place) {
  if (place < 0) return -1;
  if (place < kernel.operands_size()) return kernel.operands(static_cast<int>(place)).buffer();
  place -= kernel.operands_size();
  return place < kernel.results_size() ? kernel.results(static_cast<int>(place)).buffer() : -1;
}

std::string TensorAt(const LoadedProgram& program, const program::Kernel& kernel, int64_t place) {
  if (place < 0) return "what it computes";
  const int buffer = BufferAt(kernel, place);
  if (buffer >= 0) return TensorIn(program, buffer);
  place -= kernel.operands_size() + kernel.results_size();
  return kernel.internals(static_cast<int>(place)).name();
}

// The element's number where the dimensions are in the users' order.
int64_t InShape(const LoadedProgram& program, int buffer, int64_t element) {
  const DimOrder order = program.OrderOf(buffer);
  const auto& dims = program.message().buffers(buffer).dims();
  std::vector<int64_t> place(dims.size());
  for (int d = dims.size() - 1; d >= 0; element /= dims[d--]) place[d] = element % dims[d];
  const std::vector<int64_t> shape = program.ShapeDims(buffer), at = OutOfOrder(place, order);
  element = 0;
  for (size_t d = 0; d < shape.size(); ++d) element = element * shape[d] + at[d];
  return element;
}

// " at [3, 5]": the place of an element, in the dimensions that the user knows where the tensor is
// an input, else in the buffer's.
std::string PlaceOf(const LoadedProgram& program, const std::string& tensor, int buffer,
                    int64_t element) {
  std::vector<int64_t> dims = program.ShapeDims(buffer);
  for (const program::Port& port : program.message().inputs()) {
    if (port.name() == tensor) dims.assign(port.shape().begin(), port.shape().end());
  }
  if (dims.empty() || element < 0) return "";
  element = InShape(program, buffer, element);
  std::vector<int64_t> place(dims.size());
  for (size_t d = dims.size(); d-- > 0; element /= dims[d]) place[d] = element % dims[d];
  return absl::StrCat(" at [", absl::StrJoin(place, ", "), "]");
}

}  // namespace

absl::Status BadIndexError(const LoadedProgram& program, int instruction,
                           const IndexRecord& record) {
  const program::Kernel& kernel = program.instructions()[instruction].kernel();
  const int buffer = BufferAt(kernel, record.tensor);
  const std::string tensor = TensorAt(program, kernel, record.tensor);
  const std::string holds =
      absl::StrCat(tensor, " holds ", record.index,
                   buffer < 0 ? "" : PlaceOf(program, tensor, buffer, record.element));
  if (record.label == 0) {
    return UserError(holds, ", which is no index into ", record.extent, " elements (",
                     -record.extent, " to ", record.extent - 1, ")");
  }
  if (record.ignored >= 0 && record.ignored < record.extent)
    return UserError(holds, ", which is not one of 0 to ", record.extent - 1);
  const bool ignores = record.ignored != std::numeric_limits<int64_t>::min();
  return UserError(holds, ", which is no label of ", record.extent, " classes (0 to ",
                   record.extent - 1,
                   ignores ? absl::StrCat("; ", record.ignored, " is ignored)") : ")");
}

Launch LaunchOf(const LoadedProgram& program, const ArenaLayout& layout, int instruction,
                int device) {
  const program::Kernel& kernel = program.instructions()[instruction].kernel();
  Launch launch;
  launch.function = kernel.function();
  auto add_interval = [&](const Interval& interval, int64_t second) {
    launch.arguments.push_back(interval.begin);
    launch.arguments.push_back(second);
  };
  for (const program::Range& range : kernel.indices()) {
    const Interval part = program.IntervalOf(range, device);
    add_interval(part, part.end);
  }
  auto add_buffer = [&](int buffer) {
    launch.offsets.push_back(layout.offsets[buffer]);
    for (const Interval& interval : program.BufferBox(buffer, device)) {
      add_interval(interval, interval.size());
    }
  };
  for (const program::Access& operand : kernel.operands()) add_buffer(operand.buffer());
  for (const program::Access& result : kernel.results()) add_buffer(result.buffer());
  return launch;
}

}  // namespace yuba::runtime
