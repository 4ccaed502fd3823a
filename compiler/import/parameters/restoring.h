// The steps of RestoreParameters (restored_parameters.h); those that return names return PyTorch's
// of the parameters that they have put back.
#ifndef YUBA_COMPILER_IMPORT_PARAMETERS_RESTORING_H_
#define YUBA_COMPILER_IMPORT_PARAMETERS_RESTORING_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/parameters/export_record.h"
#include "compiler/import/parameters/restored_parameters.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

std::vector<std::string> RestoreZeroBiases(const std::string& folder, ::onnx::GraphProto& graph,
                                           ExportRecord& record);

absl::StatusOr<std::vector<std::string>> RestoreRepeated(const std::string& folder,
                                                         ::onnx::GraphProto& graph,
                                                         ExportRecord& record);

// Puts back calls of detach, which let no gradient through, as Identity nodes that say so. Returns
// the names in the exported program of those of which the file does not tell the operand.
std::vector<std::string> RestoreDetached(::onnx::GraphProto& graph, const ExportRecord& record);

// Makes initializers of the graph of those that graphs inside of nodes have, as the body of a Loop:
// of floats alone, which may be parameters. Each keeps its name where nothing else has it; else it
// is called by where it stands too, "y/body/w".
void LiftStored(::onnx::GraphProto& graph);

// Parameters, and what is known of them, of which the exporter has computed something that it
// stores once with an equal tensor: to be called behind all others.
std::map<std::string, std::string> FindLost(const std::string& folder,
                                            const ::onnx::GraphProto& graph,
                                            const ExportRecord& record);

// Of a file without any word of what its values are.
std::vector<std::string> SplitCopies(::onnx::GraphProto& graph);

// Adds to `merged` and `shared`.
void SplitMerged(::onnx::GraphProto& graph, ExportRecord& record, RestoredParameters& restored);

// The names of the graph's inputs, stored values and results.
std::set<std::string> NamesOfValues(const ::onnx::GraphProto& graph);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_PARAMETERS_RESTORING_H_
