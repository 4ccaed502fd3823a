// The second name table: operators that have no row in the first (table.h), or that are supported
// only where planning knows which nodes inside of them run, and what a user can do about them. An
// operator that neither table names can be described.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_UNSUPPORTED_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_UNSUPPORTED_H_

#include <cstdint>
#include <string>

namespace yuba::onnx {

enum class WhyUnsupported : uint8_t {
  kUndescribed,    // nobody has described it yet
  kOptimised,      // ONNX Runtime puts it in place of operators that are supported
  kQuantiser,      // computes with integers that stand for numbers; a quantiser puts it in
  kControlFlow,    // it runs nodes of its own, some number of times or not at all
  kShapeFromData,  // how large its result is depends on values
  kNoTensors,      // it works with sequences, maps, optional values or strings
  kTraining,       // it is a gradient or an update
};

// `domain` is empty for ONNX's own operators.
WhyUnsupported WhyUnsupportedIs(const std::string& domain, const std::string& op_type);

// A sentence for messages that begins with the operators, "NonZero and Unique": the cause and the
// next step.
std::string AdviceOf(WhyUnsupported why, const std::string& operators);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_UNSUPPORTED_H_
