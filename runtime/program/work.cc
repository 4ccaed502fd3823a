#include "runtime/program/work.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "opsemantics/base/box.h"
#include "opsemantics/machine/points.h"
#include "runtime/program/enums.h"
#include "runtime/program/tables.h"

namespace yuba::program {
namespace {

double Size(const Mesh& mesh, const Range& range, int device) {
  return static_cast<double>(IntervalOn(mesh, range, device).size());
}

// sizes: [index of the function]
double PointsOf(const FunctionDefinition& definition, const std::vector<double>& sizes) {
  std::vector<double> own;
  std::vector<int> place(sizes.size(), -1);  // [index of the function]: position in `own`
  for (const int index : definition.indices()) {
    place[index] = static_cast<int>(own.size());
    own.push_back(sizes[index]);
  }
  std::vector<TiedIndices> ties;
  for (const IndexTie& tie : definition.ties()) {
    ties.emplace_back();
    for (const int index : tie.indices()) ties.back().push_back(place[index]);
  }
  return CountPoints(own, ties);
}

// Of one definition with so many points. In place loops take elements one by one, since results may
// be operands of what comes behind: as short runs, and where it is not said for these already,
// roots and functions as of one element alone (OfOneElement, opsemantics/sharding/operations.cc).
void AddExtras(const Function& function, const FunctionDefinition& definition, double points,
               const std::vector<double>& sizes, bool in_place, KernelWork& work) {
  const int row = definition.row() > 0 ? definition.indices(definition.row() - 1) : -1;
  const bool alone =
      in_place && row >= 0 && static_cast<double>(function.indices(row).extent()) >= kPointsAtATime;
  const double functions = definition.functions();
  work.extras[static_cast<int>(Extra::kRoot)] += points * (alone ? 0 : definition.roots());
  work.extras[static_cast<int>(Extra::kFunction)] +=
      points * (alone ? definition.roots() : functions);
  work.extras[static_cast<int>(Extra::kPower)] +=
      points * (definition.powers() + (alone ? functions : 0));
  work.extras[static_cast<int>(Extra::kRun)] +=
      RunsOf(points, in_place || row < 0 ? 1 : sizes[row],
             definition.kernel_class() == PRODUCT || definition.kernel_class() == CONVOLUTION);
}

// Whether a map writes a result where an operand lies.
bool IsInPlace(const Program& program, const Kernel& kernel) {
  for (const Access& result : kernel.results()) {
    for (const Access& operand : kernel.operands()) {
      if (program.buffers(result.buffer()).offset() == program.buffers(operand.buffer()).offset())
        return true;
    }
  }
  return false;
}

// Calls of a library that a kernel makes.
double CallsOf(const LibraryCall& call, double points, const std::vector<double>& sizes) {
  double calls = points > 0 ? 1 : 0;
  if (call.kind() != LibraryCall::CONTRACTION) return calls;
  for (const LibraryIndex& index : call.batch()) calls *= sizes[index.index()];
  return calls;
}

double BytesOf(const Program& program, const Mesh& mesh, const Access& access, int device,
               double most_elements) {
  const auto elements = static_cast<double>(Volume(BoxOn(mesh, access.box(), device)));
  return std::min(elements, most_elements) *
         static_cast<double>(ElementBytes(program, program.buffers(access.buffer())));
}

// By how much a class decides what a kernel is.
int Rank(KernelClass kernel_class) {
  switch (kernel_class) {
    case CONVOLUTION: return 3;
    case PRODUCT: return 2;
    case REDUCTION: return 1;
    default: return 0;
  }
}

void SetKind(const Function& function, KernelWork& work) {
  const FunctionDefinition* decides = &function.definitions(0);
  for (const FunctionDefinition& definition : function.definitions()) {
    if (Rank(definition.kernel_class()) > Rank(decides->kernel_class())) decides = &definition;
  }
  work.kernel_class = FromProto(decides->kernel_class());
  work.type = FromProto(decides->type());
  if (!function.has_library()) return;
  work.library = true;
  work.type = FromProto(function.library().type());
  work.kernel_class = function.library().kind() == LibraryCall::CONTRACTION
                          ? yuba::KernelClass::kProduct
                          : yuba::KernelClass::kConvolution;
}

}  // namespace

Work WorkOn(const Program& program, const Mesh& mesh, const Kernel& kernel, int device,
            const std::vector<bool>& on_chip) {
  const Function& function = program.functions(kernel.function());
  std::vector<double> sizes;
  for (const Range& range : kernel.indices()) sizes.push_back(Size(mesh, range, device));
  Work work;
  SetKind(function, work.kernel);
  const bool in_place =
      work.kernel.kernel_class == yuba::KernelClass::kMap && IsInPlace(program, kernel);
  std::vector<double> reads(kernel.operands_size(), 0);  // [operand]: points that read it
  for (int d = 0; d < function.definitions_size(); ++d) {
    const FunctionDefinition& definition = function.definitions(d);
    std::vector<double> within = sizes;
    for (const WorkRange& narrowed : kernel.work_ranges()) {
      if (narrowed.definition() == d)
        within[narrowed.index()] = Size(mesh, narrowed.range(), device);
    }
    const double points = PointsOf(definition, within);
    work.points += points;
    work.kernel.operations += points * definition.operations();
    AddExtras(function, definition, points, within, in_place, work.kernel);
    for (const KernelTensor& tensor : definition.operands()) {
      if (tensor.kind_case() == KernelTensor::kOperand) reads[tensor.operand()] += points;
    }
  }
  if (function.has_library()) {
    work.kernel.extras[static_cast<int>(Extra::kRun)] =
        CallsOf(function.library(), work.points, sizes);
    const int turned = function.definitions(0).turned() - 1;
    if (turned >= 0) {
      const int operand = function.definitions(0).operands(turned).operand();
      const auto box = BoxOn(mesh, kernel.operands(operand).box(), device);
      work.kernel.extras[static_cast<int>(Extra::kTurned)] =
          std::min(static_cast<double>(Volume(box)), reads[operand]);
    }
  }
  // A call of an opaque function takes whole slices.
  const bool whole = function.has_opaque();
  constexpr double kAll = std::numeric_limits<double>::infinity();
  const auto add_bytes = [&](const Access& access, double most_elements) {
    if (!on_chip.empty() && on_chip[access.buffer()]) return;
    work.kernel.bytes += BytesOf(program, mesh, access, device, whole ? kAll : most_elements);
  };
  for (int o = 0; o < kernel.operands_size(); ++o) add_bytes(kernel.operands(o), reads[o]);
  for (const Access& result : kernel.results()) {
    add_bytes(result, work.points);
    work.kernel.results += static_cast<double>(Volume(BoxOn(mesh, result.box(), device)));
  }
  return work;
}

yuba::KernelClass KernelClassOf(const Program& program, const Kernel& kernel) {
  KernelWork work;
  SetKind(program.functions(kernel.function()), work);
  return work.kernel_class;
}

bool SaysItsWork(const Program& program) {
  for (const Function& function : program.functions()) {
    for (const FunctionDefinition& definition : function.definitions()) {
      if (definition.kernel_class() == PRODUCT && definition.operations() == 0) return false;
    }
  }
  return true;
}

}  // namespace yuba::program
