// What each phase costs on a model, and how good its memory plan is.
//   bazel run //tests/compiler:phases_bench -- MODEL DEVICES [DUMP_DIR]
#include <cstdlib>
#include <iostream>

#include "compiler/memory/memory_use.h"
#include "compiler/phases.h"
#include "opsemantics/base/collectives.h"
#include "opsemantics/language/library.h"

int main(int argc, char** argv) {
  using namespace yuba;
  using namespace yuba::compiler;
  if (argc < 3) return 2;
  const auto library = OperatorLibrary::BuiltIn();
  if (!library.ok()) return 3;
  Compilation compilation;
  compilation.request.model_file = argv[1];
  compilation.request.import.library = &*library;
  compilation.request.search.mesh = MeshOf(std::atoi(argv[2]));
  PhaseOptions options;
  options.log = &std::cout;
  if (argc > 3) options.dump_dir = argv[3];
  const absl::Status status = RunPhases(options, compilation);
  if (!status.ok()) {
    std::cout << status.message() << "\n";
    return 1;
  }
  const program::Program& made = compilation.program;
  const ProgramMemory use = MeasureMemory(made);
  const DeviceUse device = MeasureDevice(made, 0);
  std::cout << "moved " << compilation.plan.cost.bytes() << " bytes, bound "
            << compilation.plan.lower_bound << "\narena " << use.arena << ", live bound "
            << use.live_bound << ", device 0: " << device.peak << " at " << device.at << "\n"
            << made.instructions_size() << " instructions, " << made.functions_size()
            << " functions, " << made.buffers_size() << " buffers, object " << made.code().size()
            << " bytes\n";
  std::map<std::string, int> collectives;
  for (const program::Instruction& instruction : made.instructions()) {
    if (!instruction.has_exchange()) continue;
    ++collectives[std::string(CollectiveName(instruction.exchange().collective()))];
  }
  for (const auto& [name, count] : collectives) std::cout << name << " " << count << "  ";
  std::cout << "\n";
}
