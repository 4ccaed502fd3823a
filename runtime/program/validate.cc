#include "runtime/program/validate.h"

#include <cmath>

#include "opsemantics/base/file_range.h"
#include "opsemantics/base/status.h"
#include "runtime/program/check_streams.h"
#include "runtime/program/known_boxes.h"
#include "runtime/program/program.h"
#include "runtime/program/references.h"

namespace yuba::runtime {
namespace {

constexpr int64_t kLargestBound = int64_t{1} << 40;  // products with strides below 2^20 still fit

// Checks on every device of a program whose tables are sound.
class ContentChecker {
 public:
  explicit ContentChecker(const LoadedProgram& program)
      : program_(program), known_(program.mesh()) {}

  absl::Status Run() {
    for (int f = 0; f < program_.message().functions_size(); ++f) {
      YUBA_RETURN_IF_ERROR(
          Annotate(Function(program_.message().functions(f)), absl::StrCat("function ", f)));
    }
    for (int b = 0; b < program_.message().buffers_size(); ++b) {
      YUBA_RETURN_IF_ERROR(
          Annotate(Buffer(program_.message().buffers(b)),
                   absl::StrCat("buffer ", b, " (", program_.message().buffers(b).name(), ")")));
    }
    for (int i = 0; i < program_.instructions().size(); ++i) {
      const program::Instruction& instruction = program_.instructions()[i];
      absl::Status status;
      if (instruction.has_kernel()) status = Kernel(instruction.kernel());
      if (instruction.has_exchange()) status = Exchange(instruction.exchange());
      YUBA_RETURN_IF_ERROR(Annotate(status, program_.Describe(i)));
    }
    YUBA_RETURN_IF_ERROR(Outputs());
    YUBA_RETURN_IF_ERROR(Initializers());
    return program::CheckStreams(program_.message());
  }

 private:
  absl::Status Function(const program::Function& function) {
    const bool code_or_library = !function.symbol().empty() || function.has_library();
    if (code_or_library == function.has_opaque()) {
      return UserError(
          "needs one of a symbol, a library call and calls of an opaque function, or a ",
          "symbol beside a library call");
    }
    if (function.checks_indices() && function.symbol().empty()) {
      return UserError("only generated code checks indices");
    }
    if (function.has_opaque()) return ValidateOpaqueIndices(function);
    if (!function.has_library()) return absl::OkStatus();
    if (program_.hash()) return UserError("a library call in hash arithmetic");
    return ValidateLibraryRoles(function.library());
  }

  absl::Status Buffer(const program::Buffer& buffer) {
    const int64_t element = program::ElementBytes(program_.message(), buffer);
    const int64_t bytes = known_.MostElements(buffer.box()) * element;
    const int64_t arena = program_.message().arena_size();
    const int64_t end = arena + (buffer.substitute() ? program_.message().substitute_size() : 0);
    if (buffer.offset() < (buffer.substitute() ? arena : 0) || buffer.size() < bytes ||
        buffer.size() > program::kMostBytes || buffer.offset() > end - buffer.size()) {
      return UserError(bytes, " bytes in a slot of ", buffer.size(), " at ", buffer.offset(),
                       " of an arena of ", arena);
    }
    if (buffer.offset() % element != 0) {
      return UserError("its offset ", buffer.offset(), " is not a multiple of its element size");
    }
    return absl::OkStatus();
  }

  // Equal blocks of a model have equal boxes, of which each is looked at once.
  absl::Status Within(const program::Box& box, int buffer) {
    const program::KnownBoxes::List inner = known_.Of(box);
    const program::KnownBoxes::List outer = known_.Of(program_.message().buffers(buffer).box());
    if (known_.AllContain(outer, inner)) return absl::OkStatus();
    int device = 0;
    while (Contains((*outer)[device], (*inner)[device])) ++device;
    return UserError("on device ", device, ": the box ", ToString((*inner)[device]),
                     " is not within the buffer's ", ToString((*outer)[device]));
  }

  // Each value of a bound is that of some device.
  static absl::Status Indices(const program::Kernel& kernel) {
    for (const program::Range& range : kernel.indices()) {
      for (const int64_t begin : range.begin().values()) {
        if (begin < 0 || begin > kLargestBound) return UserError("an index begins at ", begin);
      }
      for (const int64_t end : range.end().values()) {
        if (end > kLargestBound) return UserError("an index ends at ", end);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Kernel(const program::Kernel& kernel) {
    YUBA_RETURN_IF_ERROR(Indices(kernel));
    for (int o = 0; o < kernel.operands_size(); ++o) {
      YUBA_RETURN_IF_ERROR(Annotate(Within(kernel.operands(o).box(), kernel.operands(o).buffer()),
                                    absl::StrCat("operand ", o)));
    }
    for (int r = 0; r < kernel.results_size(); ++r) {
      YUBA_RETURN_IF_ERROR(
          Annotate(Within(kernel.results(r).box(), kernel.results(r).buffer()),
                   kernel.results_size() == 1 ? "result" : absl::StrCat("result ", r)));
    }
    const program::Function& function = program_.message().functions(kernel.function());
    if (!function.has_opaque() && !function.has_library()) return absl::OkStatus();
    for (int device = 0; device < program_.devices(); ++device) {
      YUBA_RETURN_IF_ERROR(Annotate(function.has_opaque()
                                        ? ValidateOpaqueBoxes(program_, kernel, device)
                                        : ValidateLibraryBoxes(program_, kernel, device),
                                    absl::StrCat("on device ", device)));
    }
    return absl::OkStatus();
  }

  absl::Status Exchange(const program::Exchange& exchange) {
    YUBA_RETURN_IF_ERROR(Annotate(Within(exchange.from(), exchange.source()), "source"));
    return Annotate(Within(exchange.to(), exchange.destination()), "destination");
  }

  // Reading an output makes the whole tensor: its size must be what devices hold, not what is
  // claimed.
  absl::Status Outputs() {
    for (const program::Port& port : program_.message().outputs()) {
      const int64_t whole = program_.WholeElements(port.buffer());
      int64_t held = 0;
      for (int device = 0; device < program_.devices() && held < whole; ++device) {
        held += Volume(program_.BufferBox(port.buffer(), device));
      }
      if (held < whole) {
        return UserError("output ", port.name(), " has ", whole, " elements, the devices hold ",
                         held);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Initializers() {
    for (const program::Initializer& initializer : program_.message().parameters()) {
      const int buffer = initializer.port().buffer();
      const std::string at = absl::StrCat("parameter ", initializer.port().name(), ": ");
      const int64_t size = ByteSize(program_.type(buffer));
      if (initializer.has_data() && static_cast<int64_t>(initializer.data().size()) !=
                                        program_.WholeElements(buffer) * size) {
        return UserError(at, initializer.data().size(), " bytes for ",
                         program_.WholeElements(buffer), " elements");
      }
      if (initializer.cache_rows() < 0 ||
          (initializer.cache_rows() > 0 &&
           (program_.type(buffer) != ElementType::kI64 || program_.WholeElements(buffer) != 1))) {
        return UserError(at, "a count of ", initializer.cache_rows(),
                         " rows of caches needs to be one i64");
      }
      if (initializer.has_fill() && static_cast<int64_t>(initializer.fill().size()) != size) {
        return UserError(at, "an element of ", initializer.fill().size(), " bytes");
      }
      if (initializer.has_draw()) {
        YUBA_RETURN_IF_ERROR(Annotate(Drawn(initializer.draw(), program_.type(buffer)),
                                      absl::StrCat("parameter ", initializer.port().name())));
      }
      if (initializer.has_reference()) {
        YUBA_RETURN_IF_ERROR(Annotate(
            Reference(RangeOf(initializer.reference()), program_.WholeElements(buffer) * size),
            absl::StrCat("parameter ", initializer.port().name())));
      }
    }
    return absl::OkStatus();
  }

  static absl::Status Drawn(const program::Draw& draw, ElementType type) {
    if (!IsFloat(type)) return UserError("elements of ", Name(type), " are not drawn");
    const bool known = draw.distribution() == program::Draw::UNIFORM ||
                       draw.distribution() == program::Draw::NORMAL;
    if (!known) return UserError("distribution ", draw.distribution(), ", which is none");
    if (!std::isfinite(draw.first()) || !std::isfinite(draw.second()))
      return UserError("it is drawn from ", draw.first(), " and ", draw.second());
    return absl::OkStatus();
  }

  // Whether the file still is as the program says is looked at when a session opens it.
  static absl::Status Reference(const FileRange& range, int64_t bytes) {
    if (range.file.empty()) return UserError("its value refers to no file");
    if (range.length != bytes)
      return UserError(range.length, " bytes of ", range.file, " for a value of ", bytes);
    if (!IsWithinFile(range)) {
      return UserError(range.length, " bytes from ", range.offset, " of ", range.file,
                       ", which has ", range.file_size);
    }
    return absl::OkStatus();
  }

  const LoadedProgram& program_;
  program::KnownBoxes known_;
};

}  // namespace

absl::Status ValidateContent(const LoadedProgram& program) { return ContentChecker(program).Run(); }

}  // namespace yuba::runtime
