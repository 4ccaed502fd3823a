// Parameters of the user's program that a file has not, though its nodes were made of them:
// PyTorch's exporter folds batch norms into convolutions, stores equal tensors once, and computes
// what depends on parameters alone. Training such a file trains another model.
#ifndef YUBA_COMPILER_IMPORT_PARAMETERS_MISSING_PARAMETERS_H_
#define YUBA_COMPILER_IMPORT_PARAMETERS_MISSING_PARAMETERS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/import/file/file_graph.h"
#include "compiler/import/options.h"
#include "compiler/import/parameters/export_record.h"
#include "compiler/import/parameters/stored_roles.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

using NodeRecords = std::map<int, NodeRecord>;  // by the node's position in the file

// Adds to roles.missing, merged and unused, when all words and forms are known.
void FindMissing(const ::onnx::GraphProto& graph, const ExportRecord& record,
                 const FileGraph& order, const NodeRecords& nodes, StoredRoles& roles);

// Of what is missing, the parameters and buffers of the user's program that cannot be set to a new
// value, by PyTorch's names. Each with an initializer: the one that it is stored once with; or its
// own, where that was computed of several parameters, or others were computed of it, which would
// stay as they are; or "".
std::map<std::string, std::string> WithoutTensor(const StoredRoles& roles,
                                                 const ExportRecord& record);

// The user's error where something is missing that no tie gives; it names all of it, and the export
// that keeps it.
absl::Status CheckMissing(const StoredRoles& roles, const TrainOptions& options);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_PARAMETERS_MISSING_PARAMETERS_H_
