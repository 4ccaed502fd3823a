// Graphs of training steps, and others with long cycles, that plain elimination cannot solve.
#ifndef YUBA_TESTS_SUPPORT_TRAINING_H_
#define YUBA_TESTS_SUPPORT_TRAINING_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba {

// The convolutions, additions and last layer of a residual network (ResNet-50 with {3, 4, 6, 3}),
// forward and backward: the gradients of all weights are outputs. Images are size x size.
Graph ResNetTraining(int64_t batch, int64_t size, int64_t width, const std::vector<int>& blocks);

// Down and up again by `levels` halvings, joined at each level. The width doubles at each level.
Graph UNet(int64_t batch, int64_t size, int64_t width, int levels);

// Blocks of layers, each of which reads all layers of its block before it.
Graph DenseNet(int64_t batch, int64_t size, int64_t growth, const std::vector<int>& layers);

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_TRAINING_H_
