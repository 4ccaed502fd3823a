// The versions of ONNX's operators, as the standard has them up to kNewestOpset (../options.h): how
// many operands and outputs each takes and which attributes it has. Data, written by
// write_versions.py; what an operator means is in no table.
//
// Example: Clip has its bounds as attributes up to opset 10 and as operands from 11 on, and version
// 12 takes more element types:
//   Clip 6 1>1 max:f=3.4028235e+38 min:f=-3.4028235e+38 | 11 1-3>1 | 12 types | 13 text
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_VERSIONS_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_VERSIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/optional.h"

namespace yuba::onnx {

// A line for each operator, a longer one goes on behind two spaces. A name, then versions between
// bars: the opset since which it holds, the least and most operands (* for any number), >, the same
// of outputs, and NAME:KIND=DEFAULT for each attribute. KIND is i an integer, f a float, s a
// string, t a tensor, g a graph, p a sparse tensor, o a type, and the capital letter for a list. In
// place of all that stands `types` where a version differs from the one before it in the element
// types that it takes alone, and `text` where it has the same attributes but not the same text.
extern const char kOnnxVersions[];

struct VersionAttribute {
  char kind = 'i';                       // the letter above
  absl::optional<std::string> fallback;  // its value where a node has none, as text
};

struct OperatorVersion {
  int64_t since = 0;        // the first opset in which it holds
  bool types_only = false;  // it differs from the version before it in element types alone
  int least_inputs = 0, most_inputs = 0;
  int least_outputs = 0, most_outputs = 0;
  std::map<std::string, VersionAttribute> attributes;  // by name
};

// The versions of the operator, oldest first; the first is the one that holds in the oldest opset
// that is read, or with which the operator came. Null where ONNX has no such operator.
const std::vector<OperatorVersion>* VersionsOf(const std::string& op_type);

// The version that holds in `opset`; the first where the operator came later.
const OperatorVersion& VersionAt(const std::vector<OperatorVersion>& versions, int64_t opset);

// The newest of `versions` up to `version` that is more than other element types.
int64_t MeaningOf(const std::vector<OperatorVersion>& versions, int64_t version);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_VERSIONS_H_
