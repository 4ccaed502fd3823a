// The order in which several norms move the same running statistics.
#ifndef YUBA_COMPILER_IMPORT_ORDER_OF_STATISTICS_H_
#define YUBA_COMPILER_IMPORT_ORDER_OF_STATISTICS_H_

#include "compiler/import/file/file_graph.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// Puts the needed nodes into the order of the file, where those that move the same statistics stand
// otherwise and the file has each node behind what it reads, as the format asks for. Example:
// z = y2 - y1, with y1 = norm(x1) before y2 = norm(x2) in the file: from the output y2 comes first.
void KeepOrderOfStatistics(const ::onnx::GraphProto& graph, FileGraph& order);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_ORDER_OF_STATISTICS_H_
