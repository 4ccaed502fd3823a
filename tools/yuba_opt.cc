// yuba-opt: mlir-opt with the dialect yuba (compiler/dump), and the compiler's phases as passes on
// its text.
#include "compiler/dump/module.h"
#include "compiler/phases.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "opsemantics/base/check.h"

namespace yuba::tools {
namespace {

// Phase number `kNumber`: reads the module, runs the phase, verifies, writes the module again.
template <size_t kNumber>
class PhasePass
    : public mlir::PassWrapper<PhasePass<kNumber>, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PhasePass)

  PhasePass() = default;
  PhasePass(const PhasePass& other)
      : mlir::PassWrapper<PhasePass, mlir::OperationPass<mlir::ModuleOp>>(other) {}

  static const compiler::Phase& ThisPhase() { return compiler::Phases()[kNumber]; }
  llvm::StringRef getArgument() const override {
    static const std::string* const name = new std::string(std::string("yuba-") + ThisPhase().name);
    return *name;
  }
  llvm::StringRef getDescription() const override { return ThisPhase().what; }

  void runOnOperation() override {
    mlir::ModuleOp module = this->getOperation();
    compiler::Compilation state;
    state.request.search.mesh = MeshOf(std::max(1, static_cast<int>(devices_)));
    absl::Status status = compiler::ReadModule(module, state);
    if (status.ok()) {
      status = compiler::CheckReadState(compiler::Phases()[kNumber - 1],
                                        compiler::PlacesOf(module, "the module"), true, state);
      if (!status.ok()) {
        llvm::errs() << std::string(status.message()) << "\n";
        return this->signalPassFailure();
      }
    }
    if (status.ok()) status = ThisPhase().run(state);
    if (status.ok()) status = ThisPhase().verify(state);
    if (!status.ok()) {
      module.emitError() << ThisPhase().name << ": " << std::string(status.message());
      return this->signalPassFailure();
    }
    mlir::OwningOpRef<mlir::ModuleOp> result = compiler::WriteModule(module.getContext(), state);
    module.getBodyRegion().takeBody(result->getBodyRegion());
  }

 private:
  mlir::Pass::Option<int> devices_{*this, "devices", llvm::cl::desc("to search a plan for"),
                                   llvm::cl::init(8)};
};

// All phases but the first and the last, which work on files.
template <size_t... kOffsets>
void RegisterPhases(std::index_sequence<kOffsets...>) {
  (mlir::PassRegistration<PhasePass<kOffsets + 1>>(), ...);
}

constexpr size_t kInnerPhases = 8;

}  // namespace
}  // namespace yuba::tools

int main(int argc, char** argv) {
  YUBA_CHECK(yuba::compiler::Phases().size() == yuba::tools::kInnerPhases + 2);
  yuba::tools::RegisterPhases(std::make_index_sequence<yuba::tools::kInnerPhases>());
  mlir::DialectRegistry registry;
  registry.insert<yuba::compiler::YubaDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "The yuba dialect and its phases\n", registry));
}
