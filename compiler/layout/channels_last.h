// The phase `layouts`: which tensors lie with their channels innermost, and the nodes that reorder
// dimensions where that ends.
#ifndef YUBA_COMPILER_LAYOUT_CHANNELS_LAST_H_
#define YUBA_COMPILER_LAYOUT_CHANNELS_LAST_H_

#include <set>

#include "compiler/layout/layouts.h"
#include "compiler/model.h"
#include "opsemantics/base/element_type.h"
#include "search/plan/plan.h"

namespace yuba::compiler {

// Puts the tensors of model and plan, which is of the model's graph, into the orders of
// ChannelOrders, with reorders where they end (reorders.h); clusters whose loops do not fit any
// more are taken apart. Nothing happens where no convolution of these types asks. Depends on
// structure alone.
Layouts PutChannelsLast(const std::set<ElementType>& types, Model& model, search::Plan& plan);

// As OrderTensors of a graph (order_dims.h), and the model's clusters follow.
Layouts OrderTensors(const DimOrders& orders, Model& model, search::Plan& plan);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_LAYOUT_CHANNELS_LAST_H_
