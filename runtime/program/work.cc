#include "runtime/program/work.h"

#include <algorithm>
#include <vector>

#include "opsemantics/base/box.h"
#include "runtime/program/tables.h"

namespace yuba::program {
namespace {

double PointsOf(const FunctionDefinition& definition, const std::vector<Interval>& indices) {
  double points = 1;
  for (int index : definition.indices()) points *= static_cast<double>(indices[index].size());
  return points;
}

int64_t BytesOf(const Program& program, const Mesh& mesh, const Access& access, int device,
                double most_elements) {
  const int64_t elements = Volume(BoxOn(mesh, access.box(), device));
  const int64_t touched = static_cast<double>(elements) <= most_elements
                              ? elements
                              : static_cast<int64_t>(most_elements);
  return touched * ElementBytes(program, program.stages(0).buffers(access.buffer()));
}

}  // namespace

Work WorkOn(const Program& program, const Mesh& mesh, const Kernel& kernel, int device) {
  std::vector<Interval> indices;
  for (const Range& range : kernel.indices()) indices.push_back(IntervalOn(mesh, range, device));
  Work work;
  std::vector<double> reads(kernel.operands_size(), 0);  // [operand]: points that read it
  for (const FunctionDefinition& definition : program.functions(kernel.function()).definitions()) {
    const double points = PointsOf(definition, indices);
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
