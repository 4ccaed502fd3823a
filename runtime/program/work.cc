#include "runtime/program/work.h"

#include <algorithm>
#include <vector>

#include "opsemantics/base/box.h"
#include "runtime/program/tables.h"

namespace yuba::program {
namespace {

// sizes: [index of the function]
double PointsOf(const FunctionDefinition& definition, const std::vector<double>& sizes) {
  double points = 1;
  for (const int index : definition.indices()) points *= sizes[index];
  return points;
}

int64_t BytesOf(const Program& program, const Mesh& mesh, const Access& access, int device,
                double most_elements) {
  const int64_t elements = Volume(BoxOn(mesh, access.box(), device));
  const int64_t touched = static_cast<double>(elements) <= most_elements
                              ? elements
                              : static_cast<int64_t>(most_elements);
  return touched * ElementBytes(program, program.buffers(access.buffer()));
}

}  // namespace

Work WorkOn(const Program& program, const Mesh& mesh, const Kernel& kernel, int device) {
  const Function& function = program.functions(kernel.function());
  std::vector<double> sizes;
  for (int i = 0; i < kernel.indices_size(); ++i) {
    const auto size = static_cast<double>(IntervalOn(mesh, kernel.indices(i), device).size());
    sizes.push_back(function.indices(i).determined() ? std::min(size, 1.0) : size);
  }
  Work work;
  std::vector<double> reads(kernel.operands_size(), 0);  // [operand]: points that read it
  for (const FunctionDefinition& definition : function.definitions()) {
    const double points = PointsOf(definition, sizes);
    work.points += points;
    for (const KernelTensor& tensor : definition.operands()) {
      if (tensor.kind_case() == KernelTensor::kOperand) reads[tensor.operand()] += points;
    }
  }
  for (int o = 0; o < kernel.operands_size(); ++o)
    work.bytes += BytesOf(program, mesh, kernel.operands(o), device, reads[o]);
  for (const Access& result : kernel.results())
    work.bytes += BytesOf(program, mesh, result, device, work.points);
  return work;
}

}  // namespace yuba::program
