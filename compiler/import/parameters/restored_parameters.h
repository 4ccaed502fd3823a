// Parameters of the user's program that PyTorch's exporter has not stored each by itself, put back
// where the file tells them for sure: biases of zeros that it leaves out, those that it stores
// repeated along the batch, and those that it stores once with an equal tensor. The calls that
// nodes are part of name the parameters that they were made of.
//
// Examples:
//   Gemm(x, w), part of aten.linear(%x, %p_w, %p_b): reads an initializer b of zeros too
//   expand [8, 1, 32], folded from cls: Expand of an initializer cls [1, 1, 32]
//   Sub(w, mul), part of aten.sub(%ones, %mul), which does not name w: reads a constant w/constant
//   Tanh(h), part of aten.tanh(%detach): reads an Identity of h, part of aten.detach
//   two nodes LayerNormalization(x, n1.weight, n1.bias), of which the second is part of
//   aten.layer_norm(%x, [8], %p_n2_weight, %p_n2_bias): it reads n2.weight and n2.bias, new
//   initializers with the same values
#ifndef YUBA_COMPILER_IMPORT_PARAMETERS_RESTORED_PARAMETERS_H_
#define YUBA_COMPILER_IMPORT_PARAMETERS_RESTORED_PARAMETERS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/import/parameters/export_record.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// PyTorch's names of the parameters that new initializers are of.
struct RestoredParameters {
  std::vector<std::string> left_out;  // biases of zeros
  std::vector<std::string> repeated;
  std::vector<std::string> merged;  // stored once with equal ones
  std::vector<std::string> shared;  // those that are there, stored once with an equal constant
  // Parameters that are not put back, because what was computed of them is stored once with an
  // equal tensor, and what is known of that: "g", "no node names it, and view_1 is stored as ones".
  std::map<std::string, std::string> lost;
  // Values through which no gradient goes, though the file does not tell what reads them; by their
  // names in the exported program.
  std::vector<std::string> detached;
};

// Lines for people: what was put back.
std::vector<std::string> NotesOf(const RestoredParameters& restored);

// Changes the model, which is in `folder`, and what is known of its values. What cannot be told for
// sure stays as it is. In a file of PyTorch's older exporter, which says nothing of its values, an
// Identity of a stored value stands for a parameter that is only equal: of tied ones it writes one
// initializer and no node (findings/copies_are_not_ties.sh). Fails where external data is missing.
absl::StatusOr<RestoredParameters> RestoreParameters(const std::string& folder,
                                                     ::onnx::ModelProto& model,
                                                     ExportRecord& record);

// The user's error where `detached` has names: training would send gradients through.
absl::Status CheckDetached(const RestoredParameters& restored);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_PARAMETERS_RESTORED_PARAMETERS_H_
