// Whether a node says only what the row of its operator was read for. A node that says more would
// be computed as something else than it means.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_KNOWN_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_KNOWN_H_

#include <cstdint>

#include "absl/status/status.h"
#include "compiler/import/translate/table.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// Errors (InvalidArgument), without the node's name: the version of the operator in `opset` means
// something else than the newest that the row was read for; an attribute that this version does not
// have, that is of another kind, is given twice, or is not read by the row and not at its default;
// more or fewer operands or outputs than the version has. Above kNewestOpset the newest version of
// the table holds.
absl::Status CheckKnown(const ::onnx::NodeProto& node, int64_t opset, const OperatorRow& row);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_KNOWN_H_
