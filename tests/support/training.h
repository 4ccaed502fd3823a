// Graphs of training steps, and others with long cycles, that plain elimination cannot solve: what
// bounds, pruning and neighbourhood search are tested on. Built with graphs.h.
#ifndef YUBA_TESTS_SUPPORT_TRAINING_H_
#define YUBA_TESTS_SUPPORT_TRAINING_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba {

// The convolutions, additions and last layer of a residual network (ResNet-50 with {3, 4, 6, 3}),
// forward and backward: the gradients of all weights are outputs. Images are size x size.
Graph ResNetTraining(int64_t batch, int64_t size, int64_t width, const std::vector<int>& blocks);

// A U-Net: down by `levels` halvings and up again, joined at each level. The width doubles at each
// level down.
Graph UNet(int64_t batch, int64_t size, int64_t width, int levels);

// A DenseNet: blocks of layers, in which each layer reads all layers before it in its block.
Graph DenseNet(int64_t batch, int64_t size, int64_t growth, const std::vector<int>& layers);

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_TRAINING_H_
