// Templates that resize one dimension. Which elements an element of the result is made of follows
// from inequalities between its index q and theirs, p: so a part of the result needs a few elements
// more than its own part of the operand, a halo, and loops visit no others.
//
// Example: a linear resize of 4 elements to 8, whose places are c = q/2 - 1/4 = (2*q - 1)/4, is
//   y[q] = sum(p: 4 where 2*q - 1 < 4*p + 4, 4*p < 2*q - 1 + 4) x[p] * (1 - |c - p|)
// with c moved to the nearest place inside, so that x[0] counts wholly for q = 0.
#ifndef YUBA_COMPILER_IMPORT_TEMPLATES_RESIZE_H_
#define YUBA_COMPILER_IMPORT_TEMPLATES_RESIZE_H_

#include "compiler/import/templates/templates.h"
#include "opsemantics/base/element_type.h"

namespace yuba::onnx {

struct ResizeText {
  enum Filter {
    kFloor,     // the element at the place rounded down
    kCeil,      // rounded up
    kHalfDown,  // to the nearest, of two the first
    kHalfUp,    // to the nearest, of two the second
    kLinear,    // of weight 1 - |distance|
    kCubic      // of Keys's kernel, which reaches two elements far
  };
  Filter filter = kLinear;
  double cubic = -0.75;  // the kernel's parameter
  ElementType type = ElementType::kF32;
  Dims dims;           // of the operand
  int axis = 0;        // the dimension that is resized
  int64_t length = 1;  // to so many elements
  // Element q of the result stands at (step*q + start) / unit in the operand. Of linear and cubic
  // ones the place is less than 1 outside. Below 2^40 in size, unit is positive.
  int64_t step = 1, start = 0, unit = 1;
  // Linear and cubic: by stretch / unstretched, at least 1, the kernel is stretched, and then
  // scaled to a sum of 1.
  int64_t stretch = 1, unstretched = 1;
  // What the kernel takes from outside: the elements at the edge, or nothing, with the rest scaled
  // to a sum of 1.
  bool edges_repeated = true;
  // Elements of the result before `first` and from `last` on are `outside`.
  int64_t first = 0, last = 1;
  double outside = 0;
};

OpTemplate ResizeTemplate(const ResizeText& resize);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TEMPLATES_RESIZE_H_
