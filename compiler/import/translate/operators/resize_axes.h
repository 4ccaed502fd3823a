// The dimensions that a Resize changes, and the places in its operand that the elements of its
// result come from. Places are fractions, as exact as the numbers of the file are meant: 0.6 as an
// f32 is read as 3/5.
//
// Example: 4 elements scaled by 2 with coordinates "half_pixel": element q of the 8 has the place
// 1/2*q - 1/4.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_RESIZE_AXES_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_RESIZE_AXES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/import/templates/resize.h"
#include "compiler/import/translate/node.h"
#include "compiler/import/translate/operators/fraction.h"

namespace yuba::onnx {

constexpr char kFloor[] = "floor";  // of nearest_mode

// One dimension that is resized.
struct ResizedAxis {
  int axis = 0;
  int64_t from = 1, to = 1;
  Fraction scale{1, 1};
  Fraction begin{0, 1}, end{1, 1};  // of the part that is taken, where one is: the roi
};

// The attributes that decide places, with those of versions before they could be chosen.
struct ResizeForms {
  explicit ResizeForms(NodeContext& node);

  bool cropped() const { return place == "tf_crop_and_resize"; }

  bool upsample, old;    // old: before coordinates could be chosen
  std::string filter;    // nearest, linear, cubic
  std::string place;     // coordinate_transformation_mode
  std::string rounding;  // nearest_mode
};

// The dimensions of `x` that the node resizes, from its scales or sizes. Mistakes are recorded in
// `node`.
std::vector<ResizedAxis> ReadResizedAxes(const ResizeForms& forms, int x, NodeContext& node);

// The place of element q of the result is step*q + start.
struct ResizePlaces {
  Fraction step, start;
};
ResizePlaces PlacesOf(const ResizedAxis& axis, const ResizeForms& forms);

// Fills in where the places are inside of the operand, where a part of it is taken, and checks that
// no place overflows or is farther outside than the filter can serve. Mistakes are recorded in
// `node`.
void CheckPlaces(const ResizedAxis& axis, const ResizeForms& forms, NodeContext& node,
                 ResizeText& text);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_RESIZE_AXES_H_
