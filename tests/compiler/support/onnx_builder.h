// Small ONNX files for tests, written node by node.
// Example: OnnxBuilder b; b.Input("x", {2, 3}); b.Node("Relu", {"x"}, {"y"}); b.Output("y");
// b.Save().
#ifndef YUBA_TESTS_COMPILER_SUPPORT_ONNX_BUILDER_H_
#define YUBA_TESTS_COMPILER_SUPPORT_ONNX_BUILDER_H_

#include <string>
#include <vector>

#include "onnx/onnx.pb.h"

namespace yuba::compiler {

class OnnxBuilder {
 public:
  explicit OnnxBuilder(int64_t opset = 17);

  void Input(const std::string& name, const std::vector<int64_t>& dims,
             int type = ::onnx::TensorProto::FLOAT);
  void Output(const std::string& name);
  // A parameter of floats, with the values 0.1, 0.2, ...
  void Weight(const std::string& name, const std::vector<int64_t>& dims);
  // A constant of one dimension.
  void Integers(const std::string& name, const std::vector<int64_t>& values);
  ::onnx::NodeProto& Node(const std::string& op, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs);
  // What an exporter says beside the graph, a value (whose shape it leaves open) or a node.
  void SayOfGraph(const std::string& key, const std::string& text);
  void SayOfValue(const std::string& name, const std::string& key, const std::string& text);
  static void SayOfNode(::onnx::NodeProto& node, const std::string& key, const std::string& text);
  ::onnx::ModelProto& proto() { return proto_; }

  // Writes the file and returns its path, which is the same each time.
  std::string Save() const;

 private:
  ::onnx::ModelProto proto_;
};

void SetInt(::onnx::NodeProto& node, const std::string& name, int64_t value);
void SetInts(::onnx::NodeProto& node, const std::string& name, const std::vector<int64_t>& values);
void SetFloat(::onnx::NodeProto& node, const std::string& name, float value);

// The path of a file of that name in the test's own folder.
std::string TemporaryFile(const std::string& name);
void WriteBytes(const std::string& path, const std::string& bytes);

}  // namespace yuba::compiler

#endif  // YUBA_TESTS_COMPILER_SUPPORT_ONNX_BUILDER_H_
