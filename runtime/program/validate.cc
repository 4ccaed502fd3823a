#include "runtime/program/validate.h"

#include <functional>
#include <set>

#include "opsemantics/base/status.h"
#include "runtime/program/program.h"

namespace yuba::runtime {
namespace {

using program::ElementType_IsValid;

constexpr int kDeepestNesting = 16;
constexpr int64_t kLargestBound = int64_t{1} << 40;  // products with strides below 2^20 still fit

// Checks of the message alone.
class ShapeChecker {
 public:
  explicit ShapeChecker(const program::Program& message) : message_(message) {}

  absl::StatusOr<int> Run() {
    YUBA_RETURN_IF_ERROR(Mesh());
    if (message_.stages_size() != 1) {
      return UserError("the program has ", message_.stages_size(),
                       " stages; this runtime runs one");
    }
    const program::Stage& stage = message_.stages(0);
    if (stage.arena_size() < 0 || stage.arena_size() > kMostBytes) {
      return UserError("an arena of ", stage.arena_size(), " bytes is impossible");
    }
    for (int b = 0; b < stage.buffers_size(); ++b) {
      YUBA_RETURN_IF_ERROR(Annotate(Buffer(stage.buffers(b)), BufferName(b)));
    }
    for (int f = 0; f < message_.functions_size(); ++f) {
      YUBA_RETURN_IF_ERROR(Annotate(Function(message_.functions(f)), absl::StrCat("function ", f)));
    }
    YUBA_RETURN_IF_ERROR(Instructions(stage.instructions(), 1, 0));
    YUBA_RETURN_IF_ERROR(Ports());
    return devices_;
  }

 private:
  absl::Status Mesh() {
    int64_t devices = 1;
    for (const program::MeshAxis& axis : message_.mesh()) {
      if (axis.size() < 1) return UserError("mesh axis ", axis.name(), " has size ", axis.size());
      devices *= axis.size();
      if (devices > kMostDevices) {
        return UserError("the mesh has more than ", kMostDevices, " devices");
      }
    }
    devices_ = static_cast<int>(devices);
    return absl::OkStatus();
  }

  absl::Status Bound(const program::Bound& bound) {
    std::set<int> seen;
    int64_t values = 1;
    for (int axis : bound.axes()) {
      if (axis < 0 || axis >= message_.mesh_size() || !seen.insert(axis).second) {
        return UserError("a bound over mesh axis ", axis, ", which is not there or named twice");
      }
      values *= message_.mesh(axis).size();
    }
    if (bound.values_size() != values) {
      return UserError("a bound with ", bound.values_size(), " values where its axes make ",
                       values);
    }
    return absl::OkStatus();
  }

  absl::Status Range(const program::Range& range) {
    YUBA_RETURN_IF_ERROR(Bound(range.begin()));
    return Bound(range.end());
  }

  absl::Status Box(const program::Box& box, int rank) {
    if (box.dims_size() != rank) {
      return UserError("a box of rank ", box.dims_size(), " where the tensor has rank ", rank);
    }
    for (const program::Range& range : box.dims()) YUBA_RETURN_IF_ERROR(Range(range));
    return absl::OkStatus();
  }

  absl::Status Buffer(const program::Buffer& buffer) {
    if (!ElementType_IsValid(buffer.type())) return UserError("no element type ", buffer.type());
    const int64_t elements = CheckedProduct(buffer.dims());
    if (elements < 0 || elements > kMostBytes / 8) return UserError("impossible dimensions");
    for (int64_t dim : buffer.dims()) {
      if (dim > kLargestBound) return UserError("impossible dimensions");
    }
    return Box(buffer.box(), buffer.dims_size());
  }

  absl::Status Function(const program::Function& function) {
    if (function.symbol().empty() == !function.has_library()) {
      return UserError("needs either a symbol or a library call");
    }
    if (!function.has_library()) return absl::OkStatus();
    if (message_.hash_arithmetic()) return UserError("a library call in hash arithmetic");
    return ValidateLibraryRoles(function.library());
  }

  absl::Status BufferIndex(int buffer) {
    if (buffer >= 0 && buffer < message_.stages(0).buffers_size()) return absl::OkStatus();
    return UserError("no buffer ", buffer);
  }

  absl::Status Access(const program::Access& access) {
    YUBA_RETURN_IF_ERROR(BufferIndex(access.buffer()));
    return Box(access.box(), message_.stages(0).buffers(access.buffer()).dims_size());
  }

  absl::Status Kernel(const program::Kernel& kernel) {
    if (kernel.function() < 0 || kernel.function() >= message_.functions_size()) {
      return UserError("no function ", kernel.function());
    }
    for (const program::Range& range : kernel.indices()) YUBA_RETURN_IF_ERROR(Range(range));
    for (const program::Access& operand : kernel.operands()) {
      YUBA_RETURN_IF_ERROR(Access(operand));
    }
    return Access(kernel.result());
  }

  absl::Status Exchange(const program::Exchange& exchange) {
    YUBA_RETURN_IF_ERROR(BufferIndex(exchange.source()));
    YUBA_RETURN_IF_ERROR(BufferIndex(exchange.destination()));
    const program::Buffer& source = message_.stages(0).buffers(exchange.source());
    const program::Buffer& destination = message_.stages(0).buffers(exchange.destination());
    if (!std::equal(source.dims().begin(), source.dims().end(), destination.dims().begin(),
                    destination.dims().end())) {
      return UserError("source and destination are not of one tensor: their dimensions differ");
    }
    YUBA_RETURN_IF_ERROR(Box(exchange.from(), source.dims_size()));
    YUBA_RETURN_IF_ERROR(Box(exchange.to(), source.dims_size()));
    if (!program::Reducer_IsValid(exchange.reducer())) {
      return UserError("no reducer ", exchange.reducer());
    }
    if (!program::Collective_IsValid(exchange.collective())) {
      return UserError("no collective ", exchange.collective());
    }
    for (int axis : exchange.axes()) {
      if (axis < 0 || axis >= message_.mesh_size()) return UserError("no mesh axis ", axis);
    }
    YUBA_RETURN_IF_ERROR(ExchangeTypes(exchange, source, destination));
    if (exchange.has_group()) YUBA_RETURN_IF_ERROR(Groups(exchange));
    return exchange.reduce() ? ReduceTransfer(exchange) : absl::OkStatus();
  }

  absl::Status ExchangeTypes(const program::Exchange& exchange, const program::Buffer& source,
                             const program::Buffer& destination) {
    if (source.type() == destination.type()) return absl::OkStatus();
    const auto result = static_cast<ElementType>(destination.type());
    if (exchange.reduce() && source.type() == static_cast<int>(AccumulatorType(result))) {
      return absl::OkStatus();
    }
    return UserError("moves ", Name(static_cast<ElementType>(source.type())), " into ",
                     Name(result));
  }

  absl::Status ReduceTransfer(const program::Exchange& exchange) {
    if (exchange.partials() < 1 || exchange.partials() > kMostDevices) {
      return UserError("a reduction of ", exchange.partials(), " partials");
    }
    if (exchange.partials() == 1) return absl::OkStatus();  // `partial` is not used
    YUBA_RETURN_IF_ERROR(Bound(exchange.partial()));
    for (int64_t part : exchange.partial().values()) {
      if (part < 0 || part >= exchange.partials()) {
        return UserError("partial ", part, " of ", exchange.partials());
      }
    }
    return Combines(exchange.reducer());
  }

  absl::Status Groups(const program::Exchange& exchange) {
    if (exchange.collective() != program::PLAIN) {
      return UserError("groups are for exchanges that are no collectives");
    }
    YUBA_RETURN_IF_ERROR(Bound(exchange.group()));
    for (int64_t group : exchange.group().values()) {
      if (group < 0 || group >= kMostDevices) return UserError("no group ", group);
    }
    // What no device of a group wrote gets the identity.
    return exchange.reduce() ? Combines(exchange.reducer()) : absl::OkStatus();
  }

  static absl::Status Combines(program::Reducer reducer) {
    if (reducer == program::NONE || reducer == program::ARGMAX || reducer == program::ARGMIN) {
      return UserError("partials of ", program::Reducer_Name(reducer), " cannot be combined");
    }
    return absl::OkStatus();
  }

  absl::Status Instructions(
      const google::protobuf::RepeatedPtrField<program::Instruction>& instructions,
      int64_t repeated, int depth) {
    for (const program::Instruction& instruction : instructions) {
      const std::string at = absl::StrCat("instruction ", instruction_++);
      steps_ += repeated;
      if (steps_ > kMostSteps) return UserError("the program repeats more than it can ever run");
      if (instruction.has_kernel()) {
        YUBA_RETURN_IF_ERROR(Annotate(Kernel(instruction.kernel()),
                                      absl::StrCat(at, " (", instruction.kernel().node(), ")")));
      } else if (instruction.has_exchange()) {
        YUBA_RETURN_IF_ERROR(
            Annotate(Exchange(instruction.exchange()),
                     absl::StrCat(at, " (", instruction.exchange().tensor(), ")")));
      } else if (instruction.has_repeat()) {
        const int64_t count = instruction.repeat().count();
        if (count < 0 || count > kMostSteps / repeated || depth == kDeepestNesting) {
          return UserError(at, ": repeats ", count, " times, ", depth, " deep");
        }
        if (count == 0) return UserError(at, ": repeats 0 times");
        YUBA_RETURN_IF_ERROR(
            Instructions(instruction.repeat().body(), repeated * count, depth + 1));
      } else {
        return UserError(at, ": of no known kind; the program may be newer than this runtime");
      }
    }
    return absl::OkStatus();
  }

  absl::Status Port(const program::Port& port, std::set<std::string>& names) {
    if (port.name().empty() || !names.insert(port.name()).second) {
      return UserError("a name that is empty or taken");
    }
    YUBA_RETURN_IF_ERROR(BufferIndex(port.buffer()));
    if (CheckedProduct(port.shape()) !=
        CheckedProduct(message_.stages(0).buffers(port.buffer()).dims())) {
      return UserError("its shape and its buffer's dimensions have different numbers of elements");
    }
    return absl::OkStatus();
  }

  absl::Status Ports() {
    std::set<std::string> given, read;
    for (const program::Port& port : message_.inputs()) {
      YUBA_RETURN_IF_ERROR(Annotate(Port(port, given), absl::StrCat("input ", port.name())));
    }
    for (const program::Initializer& parameter : message_.parameters()) {
      YUBA_RETURN_IF_ERROR(Annotate(Port(parameter.port(), given),
                                    absl::StrCat("parameter ", parameter.port().name())));
    }
    for (const program::Port& port : message_.outputs()) {
      YUBA_RETURN_IF_ERROR(Annotate(Port(port, read), absl::StrCat("output ", port.name())));
    }
    return absl::OkStatus();
  }

  std::string BufferName(int buffer) {
    return absl::StrCat("buffer ", buffer, " (", message_.stages(0).buffers(buffer).name(), ")");
  }

  const program::Program& message_;
  int devices_ = 1;
  int instruction_ = 0;
  int64_t steps_ = 0;
};

// Checks on every device of a program whose tables are sound.
class ContentChecker {
 public:
  explicit ContentChecker(const LoadedProgram& program) : program_(program) {}

  absl::Status Run() {
    for (int device = 0; device < program_.devices(); ++device) {
      for (int b = 0; b < program_.stage().buffers_size(); ++b) {
        YUBA_RETURN_IF_ERROR(Annotate(
            Buffer(b, device), absl::StrCat("buffer ", b, " (", program_.stage().buffers(b).name(),
                                            ") on device ", device)));
      }
      for (size_t i = 0; i < program_.instructions().size(); ++i) {
        const Instruction& instruction = program_.instructions()[i];
        absl::Status status;
        if (instruction.kernel != nullptr) status = Kernel(*instruction.kernel, device);
        if (instruction.exchange != nullptr) status = Exchange(*instruction.exchange, device);
        YUBA_RETURN_IF_ERROR(Annotate(
            status, absl::StrCat(program_.Describe(static_cast<int>(i)), " on device ", device)));
      }
    }
    YUBA_RETURN_IF_ERROR(Outputs());
    return Initializers();
  }

 private:
  absl::Status Buffer(int b, int device) {
    const program::Buffer& buffer = program_.stage().buffers(b);
    const Box box = program_.BufferBox(b, device);
    for (int d = 0; d < buffer.dims_size(); ++d) {
      if (box[d].begin < 0 || box[d].end > buffer.dims(d)) {
        return UserError("its box ", ToString(box), " is not within the tensor");
      }
    }
    const int64_t bytes = Volume(box) * program_.ElementBytes(b);
    if (buffer.offset() < 0 || buffer.size() < bytes || buffer.size() > kMostBytes ||
        buffer.offset() > program_.stage().arena_size() - buffer.size()) {
      return UserError(bytes, " bytes in a slot of ", buffer.size(), " at ", buffer.offset(),
                       " of an arena of ", program_.stage().arena_size());
    }
    if (buffer.offset() % program_.ElementBytes(b) != 0) {
      return UserError("its offset ", buffer.offset(), " is not a multiple of its element size");
    }
    return absl::OkStatus();
  }

  absl::Status Within(const program::Box& box, int buffer, int device) {
    const Box inner = program_.BoxOf(box, device);
    const Box outer = program_.BufferBox(buffer, device);
    if (Contains(outer, inner)) return absl::OkStatus();
    return UserError("the box ", ToString(inner), " is not within the buffer's ", ToString(outer));
  }

  absl::Status Kernel(const program::Kernel& kernel, int device) {
    for (const program::Range& range : kernel.indices()) {
      const Interval part = program_.IntervalOf(range, device);
      if (part.begin < 0 || part.end > kLargestBound) {
        return UserError("an index runs over ", ToString(part));
      }
    }
    for (int o = 0; o < kernel.operands_size(); ++o) {
      YUBA_RETURN_IF_ERROR(
          Annotate(Within(kernel.operands(o).box(), kernel.operands(o).buffer(), device),
                   absl::StrCat("operand ", o)));
    }
    YUBA_RETURN_IF_ERROR(
        Annotate(Within(kernel.result().box(), kernel.result().buffer(), device), "result"));
    if (!program_.message().functions(kernel.function()).has_library()) return absl::OkStatus();
    return ValidateLibraryBoxes(program_, kernel, device);
  }

  absl::Status Exchange(const program::Exchange& exchange, int device) {
    YUBA_RETURN_IF_ERROR(Annotate(Within(exchange.from(), exchange.source(), device), "source"));
    return Annotate(Within(exchange.to(), exchange.destination(), device), "destination");
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
      if (initializer.has_fill() && static_cast<int64_t>(initializer.fill().size()) != size) {
        return UserError(at, "an element of ", initializer.fill().size(), " bytes");
      }
    }
    return absl::OkStatus();
  }

  const LoadedProgram& program_;
};

}  // namespace

absl::StatusOr<int> ValidateShape(const program::Program& message) {
  return ShapeChecker(message).Run();
}

absl::Status ValidateContent(const LoadedProgram& program) { return ContentChecker(program).Run(); }

}  // namespace yuba::runtime
