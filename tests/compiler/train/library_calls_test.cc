// A training step of a convolutional model calls the library for each convolution and for each of
// its gradients, whole and cut.
#include <catch2/catch.hpp>
#include <map>

#include "compiler/phases.h"
#include "opsemantics/language/library.h"
#include "runtime/program/program.pb.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

using program::LibraryCall;

// [kind]: how many kernels of a training step call the library for it.
std::map<LibraryCall::Kind, int> CallsOf(int devices) {
  const absl::StatusOr<OperatorLibrary> library = OperatorLibrary::BuiltIn();
  REQUIRE_THAT(library, IsOk());
  Compilation compilation;
  compilation.request.model_file = "tests/models/conv/model.onnx";
  compilation.request.import.library = &*library;
  compilation.request.import.train = onnx::TrainOptions{"sgd", "softmax-cross-entropy", "", {}};
  compilation.request.search.mesh = MeshOf(devices);
  const absl::Status status = RunPhases(PhaseOptions(), compilation);
  REQUIRE_THAT(status, IsOk());
  std::map<LibraryCall::Kind, int> calls;
  for (const program::Instruction& instruction : compilation.program.instructions()) {
    if (!instruction.has_kernel()) continue;
    const program::Function& function =
        compilation.program.functions(instruction.kernel().function());
    if (function.has_library()) ++calls[function.library().kind()];
  }
  return calls;
}

TEST_CASE("convolutions and their gradients are library calls") {
  for (const int devices : {1, 4}) {
    INFO(devices << " devices");
    std::map<LibraryCall::Kind, int> calls = CallsOf(devices);
    // Two convolutions, of which the first reads the images and needs no data gradient.
    CHECK(calls[LibraryCall::CONVOLUTION] == 2);
    CHECK(calls[LibraryCall::DATA_GRADIENT] == 1);
    CHECK(calls[LibraryCall::WEIGHT_GRADIENT] == 2);
    // A convolution with one tap and the last layer, each forward and with two gradients.
    CHECK(calls[LibraryCall::CONTRACTION] == 6);
  }
}

}  // namespace
}  // namespace yuba::compiler
