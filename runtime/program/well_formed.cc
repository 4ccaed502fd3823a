#include "runtime/program/well_formed.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/collectives.h"
#include "opsemantics/base/dim_order.h"
#include "opsemantics/base/status.h"
#include "runtime/program/check_attention.h"
#include "runtime/program/check_definitions.h"
#include "runtime/program/check_joint_calls.h"
#include "runtime/program/entries.h"
#include "runtime/program/enums.h"
#include "runtime/program/tables.h"

namespace yuba::program {
namespace {

constexpr int kMostThreads = 1024, kWarp = 32;  // of a block of a GPU
// Of up to 4 sums of a kernel on a GPU, or of the best of some values with its position.
constexpr int kMostParts = 4096, kMostPartBytes = 32;
constexpr int64_t kLargestExtent = int64_t{1} << 40;  // products with strides below 2^20 still fit

class WellFormed {
 public:
  explicit WellFormed(const Program& message) : message_(message) {}

  absl::Status Check() {
    YUBA_RETURN_IF_ERROR(CheckMesh());
    for (const int64_t bytes : {message_.arena_size(), message_.substitute_size()}) {
      if (bytes < 0 || bytes > kMostBytes)
        return UserError("an arena of ", bytes, " bytes is impossible");
    }
    for (int b = 0; b < message_.buffers_size(); ++b) {
      YUBA_RETURN_IF_ERROR(Annotate(CheckBuffer(message_.buffers(b)), BufferName(b)));
    }
    YUBA_RETURN_IF_ERROR(CheckInstructions());
    YUBA_RETURN_IF_ERROR(CheckAttention(message_));
    YUBA_RETURN_IF_ERROR(CheckJointCalls(message_));
    const std::string fault = FaultOfEntries(message_);
    if (!fault.empty()) return UserError(fault);
    YUBA_RETURN_IF_ERROR(CheckPorts());
    for (const CodeNumber& number : message_.code_numbers()) {
      YUBA_RETURN_IF_ERROR(Annotate(CheckNumber(number), absl::StrCat("number ", number.name())));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckMesh() {
    int64_t devices = 1;
    for (const MeshAxis& axis : message_.mesh()) {
      if (axis.size() < 1) return UserError("mesh axis ", axis.name(), " has size ", axis.size());
      devices *= axis.size();
      if (devices > kMostDevices) {
        return UserError("the mesh has more than ", kMostDevices, " devices");
      }
    }
    mesh_ = MeshOf(message_);
    return absl::OkStatus();
  }

  absl::Status CheckBound(const Bound& bound) {
    const std::string fault = FaultOf(mesh_, bound);
    return fault.empty() ? absl::OkStatus() : UserError(fault);
  }

  absl::Status CheckRange(const Range& range) {
    YUBA_RETURN_IF_ERROR(CheckBound(range.begin()));
    return CheckBound(range.end());
  }

  absl::Status CheckBox(const Box& box, int rank) {
    if (box.dims_size() != rank) {
      return UserError("a box of rank ", box.dims_size(), " where the tensor has rank ", rank);
    }
    for (const Range& range : box.dims()) YUBA_RETURN_IF_ERROR(CheckRange(range));
    return absl::OkStatus();
  }

  absl::Status CheckBuffer(const Buffer& buffer) {
    YUBA_RETURN_IF_ERROR(CheckTensor(buffer));
    YUBA_RETURN_IF_ERROR(CheckBox(buffer.box(), buffer.dims_size()));
    if (!IsOrderOf({buffer.order().begin(), buffer.order().end()}, buffer.dims_size())) {
      return UserError("[", absl::StrJoin(buffer.order(), ", "), "] is no order of its ",
                       buffer.dims_size(), " dimensions");
    }
    const std::vector<int64_t> dims(buffer.dims().begin(), buffer.dims().end());
    if (!within_.emplace(buffer.box().SerializeAsString(), dims).second) return absl::OkStatus();
    const std::vector<yuba::Box> boxes = BoxesOn(mesh_, buffer.box());
    for (size_t device = 0; device < boxes.size(); ++device) {
      const yuba::Box& box = boxes[device];
      for (int d = 0; d < buffer.dims_size(); ++d) {
        if (box[d].begin >= 0 && box[d].end <= buffer.dims(d)) continue;
        return UserError("on device ", device, ": its box ", ToString(box),
                         " is not within the tensor");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckBufferIndex(int buffer) {
    if (buffer >= 0 && buffer < message_.buffers_size()) return absl::OkStatus();
    return UserError("no buffer ", buffer);
  }

  absl::Status CheckAccess(const Access& access) {
    YUBA_RETURN_IF_ERROR(CheckBufferIndex(access.buffer()));
    return CheckBox(access.box(), message_.buffers(access.buffer()).dims_size());
  }

  // A tensor whose elements may be anywhere: its size is sound.
  template <typename T>
  static absl::Status CheckTensor(const T& tensor) {
    if (!ElementType_IsValid(tensor.type())) return UserError("no element type ", tensor.type());
    const int64_t elements = CheckedProduct(tensor.dims());
    if (elements < 0 || elements > kMostBytes / 8) return UserError("impossible dimensions");
    for (int64_t dim : tensor.dims()) {
      if (dim > kLargestExtent) return UserError("impossible dimensions");
    }
    return absl::OkStatus();
  }

  absl::Status CheckInternal(const Internal& internal) {
    YUBA_RETURN_IF_ERROR(CheckTensor(internal));
    return CheckBox(internal.box(), internal.dims_size());
  }

  static absl::Status CheckLaunch(const ThreadLaunch& launch, int indices) {
    if (launch.threads() < kWarp || launch.threads() > kMostThreads ||
        launch.threads() % kWarp != 0) {
      return UserError("starts blocks of ", launch.threads(), " threads");
    }
    if (launch.points() < 1 || launch.points() > kMostBytes)
      return UserError("starts blocks of ", launch.points(), " points");
    if (launch.parts() < 0 || launch.parts() > kMostParts || launch.part_bytes() < 0 ||
        launch.part_bytes() > kMostPartBytes || (launch.parts() == 0 && launch.part_bytes() > 0)) {
      return UserError("starts blocks for ", launch.parts(), " parts of ", launch.part_bytes(),
                       " bytes");
    }
    const std::set<int> shared_out(launch.indices().begin(), launch.indices().end());
    if (static_cast<int>(shared_out.size()) != launch.indices_size() ||
        (!shared_out.empty() && (*shared_out.begin() < 0 || *shared_out.rbegin() >= indices))) {
      return UserError("starts blocks for indices that it does not have");
    }
    return CheckSides(launch);
  }

  static absl::Status CheckSides(const ThreadLaunch& launch) {
    if (launch.sides().empty()) return absl::OkStatus();
    const bool in_range =
        std::all_of(launch.sides().begin(), launch.sides().end(),
                    [](int64_t side) { return side >= 0 && side <= kLargestExtent; });
    if (in_range && launch.sides_size() == launch.indices_size() && *launch.sides().rbegin() > 0 &&
        launch.parts() == 0) {
      return absl::OkStatus();
    }
    return UserError("starts blocks of tiles with ", launch.sides_size(), " sides over ",
                     launch.indices_size(), " indices in ", launch.parts(),
                     " parts; each index needs a side, the last one above 0");
  }

  // Launch number `l` adds points to the code that the one before it starts.
  static absl::Status CheckBeside(const Function& function, int l) {
    if (l == 0) return UserError("starts blocks behind those of no launch");
    const ThreadLaunch &launch = function.launches(l), &before = function.launches(l - 1);
    if (launch.parts() == 0 && before.parts() == 0 && launch.symbol() == before.symbol() &&
        launch.threads() == before.threads()) {
      return absl::OkStatus();
    }
    return UserError("starts blocks of two launches together that differ: ", before.symbol(),
                     " of ", before.threads(), " threads, ", launch.symbol(), " of ",
                     launch.threads());
  }

  absl::Status CheckKernel(const Kernel& kernel) {
    if (kernel.function() < 0 || kernel.function() >= message_.functions_size()) {
      return UserError("no function ", kernel.function());
    }
    const Function& function = message_.functions(kernel.function());
    const int indices = function.indices_size();
    if (kernel.indices_size() != indices) {
      return UserError(kernel.indices_size(), " ranges for the ", indices,
                       " indices of its function");
    }
    for (const Range& range : kernel.indices()) YUBA_RETURN_IF_ERROR(CheckRange(range));
    for (const Access& operand : kernel.operands()) {
      YUBA_RETURN_IF_ERROR(CheckAccess(operand));
    }
    for (const Access& result : kernel.results()) YUBA_RETURN_IF_ERROR(CheckAccess(result));
    for (const Internal& internal : kernel.internals()) {
      YUBA_RETURN_IF_ERROR(
          Annotate(CheckInternal(internal), absl::StrCat("internal tensor ", internal.name())));
    }
    YUBA_RETURN_IF_ERROR(CheckDefinitions(function, kernel));
    for (const WorkRange& work : kernel.work_ranges()) {
      if (work.definition() < 0 || work.definition() >= function.definitions_size() ||
          work.index() < 0 || work.index() >= indices) {
        return UserError("counts index ", work.index(), " of definition ", work.definition());
      }
      YUBA_RETURN_IF_ERROR(CheckRange(work.range()));
    }
    for (int l = 0; l < function.launches_size(); ++l) {
      YUBA_RETURN_IF_ERROR(CheckLaunch(function.launches(l), indices));
      if (function.launches(l).beside()) YUBA_RETURN_IF_ERROR(CheckBeside(function, l));
    }
    const int rank = message_.buffers(kernel.results(0).buffer()).dims_size();
    for (const IndexSplit& split : function.splits()) {
      if (split.index() < 0 || split.index() >= indices || split.result_dim() < 0 ||
          split.result_dim() >= rank || split.step() < 1) {
        return UserError("shares out index ", split.index(), " along dimension ",
                         split.result_dim(), " in steps of ", split.step());
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckExchange(const Exchange& exchange) {
    YUBA_RETURN_IF_ERROR(CheckBufferIndex(exchange.source()));
    YUBA_RETURN_IF_ERROR(CheckBufferIndex(exchange.destination()));
    const Buffer& source = message_.buffers(exchange.source());
    const Buffer& destination = message_.buffers(exchange.destination());
    if (!std::equal(source.dims().begin(), source.dims().end(), destination.dims().begin(),
                    destination.dims().end())) {
      return UserError("source and destination are not of one tensor: their dimensions differ");
    }
    if (!std::equal(source.order().begin(), source.order().end(), destination.order().begin(),
                    destination.order().end())) {
      return UserError("source and destination lie in memory in different orders");
    }
    YUBA_RETURN_IF_ERROR(CheckBox(exchange.from(), source.dims_size()));
    YUBA_RETURN_IF_ERROR(CheckBox(exchange.to(), source.dims_size()));
    if (!Reducer_IsValid(exchange.reducer())) {
      return UserError("no reducer ", exchange.reducer());
    }
    if (exchange.collective() != 0 && CollectiveAt(exchange.collective()) == nullptr) {
      return UserError("no collective ", exchange.collective());
    }
    for (int axis : exchange.axes()) {
      if (axis < 0 || axis >= message_.mesh_size()) return UserError("no mesh axis ", axis);
    }
    YUBA_RETURN_IF_ERROR(CheckExchangeTypes(exchange, source, destination));
    if (exchange.has_group()) YUBA_RETURN_IF_ERROR(CheckGroups(exchange));
    if (exchange.reduce()) return CheckReduce(exchange);
    if (exchange.partials() <= 1) return absl::OkStatus();
    return UserError("a gather of ", exchange.partials(), " partials");
  }

  absl::Status CheckExchangeTypes(const Exchange& exchange, const Buffer& source,
                                  const Buffer& destination) {
    if (source.type() == destination.type()) return absl::OkStatus();
    const yuba::ElementType from = FromProto(source.type()), to = FromProto(destination.type());
    if (exchange.reduce() && from == AccumulatorType(to)) return absl::OkStatus();
    return UserError("moves ", Name(from), " into ", Name(to));
  }

  absl::Status CheckReduce(const Exchange& exchange) {
    if (exchange.partials() < 1 || exchange.partials() > kMostDevices) {
      return UserError("a reduction of ", exchange.partials(), " partials");
    }
    if (exchange.partials() == 1) return absl::OkStatus();  // it is partial 0
    YUBA_RETURN_IF_ERROR(CheckBound(exchange.partial()));
    for (int64_t part : exchange.partial().values()) {
      if (part < 0 || part >= exchange.partials()) {
        return UserError("partial ", part, " of ", exchange.partials());
      }
    }
    return CheckCombines(exchange.reducer());
  }

  absl::Status CheckGroups(const Exchange& exchange) {
    if (exchange.collective() != 0) {
      return UserError("groups are for exchanges that are no collectives");
    }
    YUBA_RETURN_IF_ERROR(CheckBound(exchange.group()));
    for (int64_t group : exchange.group().values()) {
      if (group < 0 || group >= kMostDevices) return UserError("no group ", group);
    }
    // What no device of a group made gets the identity.
    return exchange.reduce() ? CheckCombines(exchange.reducer()) : absl::OkStatus();
  }

  static absl::Status CheckCombines(Reducer reducer) {
    if (MayHavePartials(FromProto(reducer))) return absl::OkStatus();
    return UserError("partials of ", Name(FromProto(reducer)), " cannot be combined");
  }

  absl::Status CheckInstructions() {
    for (const Instruction& instruction : message_.instructions()) {
      const std::string at = absl::StrCat("instruction ", instruction_++);
      if (instruction.has_kernel()) {
        YUBA_RETURN_IF_ERROR(
            Annotate(CheckKernel(instruction.kernel()),
                     absl::StrCat(at, " (", NodeNames(instruction.kernel()), ")")));
      } else if (instruction.has_exchange()) {
        YUBA_RETURN_IF_ERROR(
            Annotate(CheckExchange(instruction.exchange()),
                     absl::StrCat(at, " (", instruction.exchange().tensor(), ")")));
      } else {
        return UserError(at, ": of no known kind; the program may be newer than this runtime");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckPort(const Port& port, std::set<std::string>& names) {
    if (port.name().empty() || !names.insert(port.name()).second) {
      return UserError("a name that is empty or taken");
    }
    YUBA_RETURN_IF_ERROR(CheckBufferIndex(port.buffer()));
    if (CheckedProduct(port.shape()) != CheckedProduct(message_.buffers(port.buffer()).dims())) {
      return UserError("its shape and its buffer's dimensions have different numbers of elements");
    }
    if (port.examples() < 0 || port.examples() > port.shape_size()) {
      return UserError("it has no dimension ", port.examples(), " that could count examples");
    }
    return absl::OkStatus();
  }

  absl::Status CheckPorts() {
    std::set<std::string> given, read;
    for (const Port& port : message_.inputs()) {
      YUBA_RETURN_IF_ERROR(Annotate(CheckPort(port, given), absl::StrCat("input ", port.name())));
    }
    for (const Initializer& parameter : message_.parameters()) {
      YUBA_RETURN_IF_ERROR(Annotate(CheckPort(parameter.port(), given),
                                    absl::StrCat("parameter ", parameter.port().name())));
    }
    for (const Port& port : message_.outputs()) {
      YUBA_RETURN_IF_ERROR(Annotate(CheckPort(port, read), absl::StrCat("output ", port.name())));
    }
    return absl::OkStatus();
  }

  static absl::Status CheckNumber(const CodeNumber& number) {
    if (!ElementType_IsValid(number.type())) return UserError("no element type ", number.type());
    const bool one = std::all_of(number.shape().begin(), number.shape().end(),
                                 [](int64_t dim) { return dim == 1; });
    if (one && static_cast<int64_t>(number.data().size()) == ByteSize(FromProto(number.type()))) {
      return absl::OkStatus();
    }
    return UserError("it is no single element");
  }

  std::string BufferName(int buffer) {
    return absl::StrCat("buffer ", buffer, " (", message_.buffers(buffer).name(), ")");
  }

  const Program& message_;
  Mesh mesh_;
  // Boxes of buffers, serialized, with the dimensions that they were found to be within.
  std::set<std::pair<std::string, std::vector<int64_t>>> within_;
  int instruction_ = 0;
};

}  // namespace

absl::Status CheckWellFormed(const Program& program) { return WellFormed(program).Check(); }

}  // namespace yuba::program
