#include "compiler/verify/form.h"

#include "absl/strings/str_cat.h"
#include "compiler/spmd/tables.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {
namespace {

constexpr int64_t kMostDevices = int64_t{1} << 20;

class Form {
 public:
  explicit Form(const program::Program& program) : program_(program) {}

  absl::Status Check() {
    int64_t devices = 1;
    for (const program::MeshAxis& axis : program_.mesh()) {
      if (axis.size() < 1) return Malformed("mesh axis ", axis.name(), " has size ", axis.size());
      devices *= axis.size();
      if (devices > kMostDevices) return Malformed("the mesh has too many devices");
    }
    mesh_ = MeshOf(program_);
    if (program_.stages_size() != 1) {
      return Malformed("it has ", program_.stages_size(), " stages where one is expected");
    }
    stage_ = &program_.stages(0);
    for (const program::Buffer& buffer : stage_->buffers()) {
      YUBA_RETURN_IF_ERROR(CheckBuffer(buffer));
    }
    for (const program::Port& port : program_.inputs()) YUBA_RETURN_IF_ERROR(CheckPort(port));
    for (const program::Port& port : program_.outputs()) YUBA_RETURN_IF_ERROR(CheckPort(port));
    for (const program::Initializer& parameter : program_.parameters()) {
      YUBA_RETURN_IF_ERROR(CheckPort(parameter.port()));
    }
    for (int i = 0; i < stage_->instructions_size(); ++i) {
      YUBA_RETURN_IF_ERROR(
          Annotate(CheckInstruction(stage_->instructions(i)), absl::StrCat("instruction ", i)));
    }
    return absl::OkStatus();
  }

 private:
  template <typename... Args>
  static absl::Status Malformed(const Args&... args) {
    return absl::FailedPreconditionError(absl::StrCat("malformed program: ", args...));
  }

  absl::Status CheckBuffer(const program::Buffer& buffer) const {
    if (!program::ElementType_IsValid(buffer.type())) {
      return Malformed("buffer ", buffer.name(), " has no known element type");
    }
    if (buffer.box().dims_size() != buffer.dims_size()) {
      return Malformed("buffer ", buffer.name(), ": its box and its tensor differ in rank");
    }
    if (!IsWellFormed(mesh_, buffer.box())) {
      return Malformed("buffer ", buffer.name(), ": a bound is no table over the mesh");
    }
    for (int d = 0; d < buffer.dims_size(); ++d) {
      const Interval whole = {0, buffer.dims(d)};
      for (int device = 0; device < mesh_.devices(); ++device) {
        if (whole.Contains(IntervalOn(mesh_, buffer.box().dims(d), device))) continue;
        return Malformed("buffer ", buffer.name(), ": its box on device ", device,
                         " leaves the tensor");
      }
    }
    return absl::OkStatus();
  }

  bool IsBuffer(int id) const { return id >= 0 && id < stage_->buffers_size(); }

  absl::Status CheckPort(const program::Port& port) const {
    if (!IsBuffer(port.buffer())) return Malformed(port.name(), " names no buffer");
    return absl::OkStatus();
  }

  absl::Status CheckBox(int buffer, const program::Box& box) const {
    if (!IsBuffer(buffer)) return Malformed("there is no buffer ", buffer);
    const program::Buffer& held = stage_->buffers(buffer);
    if (box.dims_size() != held.dims_size()) {
      return Malformed("a box of buffer ", held.name(), " has another rank than its tensor");
    }
    if (!IsWellFormed(mesh_, box)) {
      return Malformed("a bound of a box of buffer ", held.name(), " is no table over the mesh");
    }
    return absl::OkStatus();
  }

  absl::Status CheckInstruction(const program::Instruction& instruction) const {
    if (instruction.has_kernel()) return CheckKernel(instruction.kernel());
    if (instruction.has_exchange()) return CheckExchange(instruction.exchange());
    if (!instruction.has_repeat()) return Malformed("it is empty");
    if (instruction.repeat().count() < 0) return Malformed("it repeats less than 0 times");
    for (const program::Instruction& inner : instruction.repeat().body()) {
      YUBA_RETURN_IF_ERROR(CheckInstruction(inner));
    }
    return absl::OkStatus();
  }

  absl::Status CheckKernel(const program::Kernel& kernel) const {
    if (kernel.function() < 0 || kernel.function() >= program_.functions_size()) {
      return Malformed(kernel.node(), " calls no function");
    }
    if (kernel.indices_size() != program_.functions(kernel.function()).indices_size()) {
      return Malformed(kernel.node(), " has not one part for each index of its function");
    }
    for (const program::Range& range : kernel.indices()) {
      if (!IsWellFormed(mesh_, range.begin()) || !IsWellFormed(mesh_, range.end())) {
        return Malformed("an index of ", kernel.node(), " is no table over the mesh");
      }
    }
    for (const program::Access& operand : kernel.operands()) {
      YUBA_RETURN_IF_ERROR(CheckBox(operand.buffer(), operand.box()));
    }
    return CheckBox(kernel.result().buffer(), kernel.result().box());
  }

  absl::Status CheckExchange(const program::Exchange& exchange) const {
    YUBA_RETURN_IF_ERROR(CheckBox(exchange.source(), exchange.from()));
    YUBA_RETURN_IF_ERROR(CheckBox(exchange.destination(), exchange.to()));
    if (exchange.from().dims_size() != exchange.to().dims_size()) {
      return Malformed("the two sides of an exchange differ in rank");
    }
    if (exchange.partials() < 1)
      return Malformed("an exchange combines ", exchange.partials(), " partials");
    if (exchange.partials() > 1 && !IsWellFormed(mesh_, exchange.partial())) {
      return Malformed("the partial numbers of an exchange are no table over the mesh");
    }
    if (exchange.has_group() && !IsWellFormed(mesh_, exchange.group())) {
      return Malformed("the groups of an exchange are no table over the mesh");
    }
    return absl::OkStatus();
  }

  const program::Program& program_;
  Mesh mesh_;
  const program::Stage* stage_ = nullptr;
};

}  // namespace

absl::Status CheckForm(const program::Program& program) { return Form(program).Check(); }

}  // namespace yuba::compiler
