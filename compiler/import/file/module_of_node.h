// The module of the user's program that a node came from.
#ifndef YUBA_COMPILER_IMPORT_FILE_MODULE_OF_NODE_H_
#define YUBA_COMPILER_IMPORT_FILE_MODULE_OF_NODE_H_

#include <string>

#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// "layer1.0.conv2" where PyTorch's exporter has written that the node's scopes are
// ['', 'layer1', 'layer1.0', 'layer1.0.conv2', 'conv2d'], of which the last is the node itself; ""
// where the file does not say.
std::string ModuleOfNode(const ::onnx::NodeProto& node);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FILE_MODULE_OF_NODE_H_
