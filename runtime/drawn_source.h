// The elements of a tensor that a program draws (opsemantics/base/draw.h), in pieces like those of
// a file. An element depends on its place in the whole tensor, so the numbers are the same however
// the tensor is cut.
#ifndef YUBA_RUNTIME_DRAWN_SOURCE_H_
#define YUBA_RUNTIME_DRAWN_SOURCE_H_

#include <cstdint>
#include <string>

#include "opsemantics/base/draw.h"
#include "opsemantics/base/element_type.h"
#include "runtime/value_source.h"

namespace yuba::runtime {

// Holds as many bytes as one piece has. Several threads, as many as the machine has, draw a large
// piece; they have ended when Next returns.
class DrawnSource : public ValueSource {
 public:
  // Elements of the type, one of floats, rounded to it.
  DrawnSource(const Draw& draw, ElementType type) : draw_(draw), type_(type) {}
  absl::StatusOr<absl::string_view> Next(int64_t count) override;

 private:
  const Draw draw_;
  const ElementType type_;
  int64_t at_ = 0;  // elements that were given
  std::string piece_;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_DRAWN_SOURCE_H_
