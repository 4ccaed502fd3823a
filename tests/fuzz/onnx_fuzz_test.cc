// Models that are valid protobuf but wrong as graphs: dimensions, attributes, edges, types,
// duplicate names and cycles are changed at random. The importer must refuse or accept, never crash
// or hang.
#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>

#include "onnx/onnx.pb.h"
#include "opsemantics/language/library.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/command.h"
#include "tests/support/mutate.h"

namespace yuba {
namespace {

::onnx::ModelProto Load(const std::string& name) {
  std::ifstream file(RepositoryFile("tests/models/" + name + "/model.onnx"), std::ios::binary);
  ::onnx::ModelProto model;
  REQUIRE(model.ParseFromIstream(&file));
  return model;
}

std::string RandomValueName(const ::onnx::GraphProto& graph, Random& random) {
  const auto& node = graph.node(static_cast<int>(Below(random, graph.node_size())));
  if (node.output_size() > 0 && Below(random, 2) == 0) return node.output(0);
  if (node.input_size() > 0) return node.input(static_cast<int>(Below(random, node.input_size())));
  return "nothing";
}

void MutateAttribute(::onnx::NodeProto& node, Random& random) {
  if (node.attribute_size() == 0) return;
  auto& attribute = *node.mutable_attribute(static_cast<int>(Below(random, node.attribute_size())));
  switch (Below(random, 6)) {
    case 0: attribute.set_i(OddNumber(random)); break;
    case 1:
      attribute.set_type(static_cast<::onnx::AttributeProto::AttributeType>(Below(random, 12)));
      break;
    case 2: attribute.add_ints(OddNumber(random)); break;
    case 3: attribute.clear_ints(); break;
    case 4:
      if (attribute.ints_size() > 0) attribute.set_ints(0, OddNumber(random));
      break;
    default: attribute.set_name(attribute.name() + "x"); break;
  }
}

void MutateTensor(::onnx::TensorProto& tensor, Random& random) {
  switch (Below(random, 6)) {
    case 0: tensor.add_dims(OddNumber(random)); break;
    case 1:
      if (tensor.dims_size() > 0) tensor.set_dims(0, OddNumber(random));
      break;
    case 2: tensor.set_data_type(static_cast<int>(Below(random, 24))); break;
    case 3: tensor.mutable_raw_data()->resize(tensor.raw_data().size() / 2); break;
    case 4: tensor.clear_raw_data(); break;
    default: tensor.set_name("x"); break;
  }
}

void MutateInput(::onnx::ValueInfoProto& input, Random& random) {
  auto& type = *input.mutable_type()->mutable_tensor_type();
  switch (Below(random, 4)) {
    case 0: type.set_elem_type(static_cast<int>(Below(random, 24))); break;
    case 1: type.mutable_shape()->add_dim()->set_dim_value(OddNumber(random)); break;
    case 2:
      if (type.shape().dim_size() > 0)
        type.mutable_shape()->mutable_dim(0)->set_dim_value(OddNumber(random));
      break;
    default: type.clear_shape(); break;
  }
}

void MutateNode(::onnx::GraphProto& graph, ::onnx::NodeProto& node, Random& random) {
  switch (Below(random, 6)) {
    case 0:
      if (node.input_size() > 0) {
        node.set_input(static_cast<int>(Below(random, node.input_size())),
                       RandomValueName(graph, random));
      }
      break;
    case 1: node.add_input(RandomValueName(graph, random)); break;
    case 2:
      if (node.output_size() > 0) node.set_output(0, RandomValueName(graph, random));
      break;
    case 3:
      node.set_op_type(graph.node(static_cast<int>(Below(random, graph.node_size()))).op_type());
      break;
    case 4: node.clear_input(); break;
    default: MutateAttribute(node, random); break;
  }
}

void Mutate(::onnx::ModelProto& model, Random& random) {
  auto& graph = *model.mutable_graph();
  if (graph.node_size() == 0) return;
  switch (Below(random, 8)) {
    case 0:
      if (graph.initializer_size() > 0) {
        MutateTensor(
            *graph.mutable_initializer(static_cast<int>(Below(random, graph.initializer_size()))),
            random);
      }
      break;
    case 1:
      if (graph.input_size() > 0) {
        MutateInput(*graph.mutable_input(static_cast<int>(Below(random, graph.input_size()))),
                    random);
      }
      break;
    case 2:
      if (model.opset_import_size() > 0)
        model.mutable_opset_import(0)->set_version(OddNumber(random));
      break;
    case 3:
      graph.mutable_node()->SwapElements(static_cast<int>(Below(random, graph.node_size())),
                                         static_cast<int>(Below(random, graph.node_size())));
      break;
    default:
      MutateNode(graph, *graph.mutable_node(static_cast<int>(Below(random, graph.node_size()))),
                 random);
      break;
  }
}

void Fuzz(const std::string& name, int rounds) {
  const ::onnx::ModelProto original = Load(name);
  const OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  const std::string path = ScratchFolder("fuzz_" + name) + "/model.onnx";
  const uint64_t seed = Catch::rngSeed() * uint64_t{1000003};
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    Random random(seed + round);
    ::onnx::ModelProto model = original;
    const size_t changes = 1 + Below(random, 3);
    for (size_t i = 0; i < changes; ++i) Mutate(model, random);
    std::ofstream(path, std::ios::binary) << model.SerializeAsString();
    // A crash ends the process: the seed must be on the screen before it.
    std::cerr << name << " seed " << seed + round << "\r" << std::flush;
    onnx::ImportOptions options;
    options.library = &library;
    const absl::StatusOr<compiler::Model> imported = compiler::ImportFile(path, options);
    if (imported.ok()) {
      ++accepted;
      CheckGraph(imported->graph);
    } else {
      INFO("seed " << seed + round << ": " << imported.status());
      CHECK(imported.status().code() != absl::StatusCode::kInternal);
      CHECK(imported.status().message().size() > 10);
    }
  }
  std::cerr << name << ": " << accepted << " of " << rounds << " mutants were accepted\n";
  CHECK(accepted < rounds);
}

TEST_CASE("mutants of mlp never crash the importer") { Fuzz("mlp", 300); }
TEST_CASE("mutants of conv never crash the importer") { Fuzz("conv", 300); }
TEST_CASE("mutants of gpt never crash the importer") { Fuzz("gpt", 60); }

TEST_CASE("damaged bytes never crash the importer") {
  const std::string whole = Load("conv").SerializeAsString();
  const OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  const std::string path = ScratchFolder("fuzz_bytes") + "/model.onnx";
  const uint64_t seed = Catch::rngSeed() * uint64_t{1000003};
  for (int round = 0; round < 300; ++round) {
    Random random(seed + round);
    std::cerr << "bytes seed " << seed + round << "\r" << std::flush;
    std::ofstream(path, std::ios::binary) << MutateBytes(whole, random);
    onnx::ImportOptions options;
    options.library = &library;
    const absl::StatusOr<compiler::Model> imported = compiler::ImportFile(path, options);
    if (imported.ok()) CheckGraph(imported->graph);
  }
}

}  // namespace
}  // namespace yuba
