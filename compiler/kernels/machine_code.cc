#include "compiler/kernels/machine_code.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/kernels/dump.h"
#include "compiler/kernels/link.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/functions.h"

namespace yuba::kernels {
namespace {

void InitializeTargets() {
  static const bool initialized = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialized;
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeMachine(const KernelTarget& target) {
  InitializeTargets();
  const TargetFacts& facts = *target.facts;
  const std::string triple = facts.triple;
  std::string problem;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (found == nullptr) return InternalError("LLVM cannot make code for ", triple, ": ", problem);
  const std::unique_ptr<llvm::MCSubtargetInfo> processors(
      found->createMCSubtargetInfo(triple, "", ""));
  if (target.cpu.empty() || !processors->isCPUStringValid(target.cpu)) {
    return UserError("unknown processor \"", target.cpu, "\" for ", triple,
                     "; a name that LLVM knows is needed, for example ", facts.processor);
  }
  llvm::TargetOptions options;
  std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(triple, target.cpu, facts.features, options, llvm::Reloc::PIC_,
                                 std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (machine == nullptr) return InternalError("LLVM cannot make code for ", target.cpu);
  return machine;
}

// An internal function is called once, by the kernel's entry. On processors it stays a function of
// its own, because only parameters can be marked as not aliasing.
void SetAttributes(llvm::Module& module, const KernelTarget& target) {
  for (llvm::Function& function : module) {
    if (function.isIntrinsic()) continue;
    function.setDoesNotThrow();
    if (function.isDeclaration()) {  // of the math library: errno does not matter
      function.setDoesNotAccessMemory();
      function.setWillReturn();
      continue;
    }
    const bool parallel = target.facts->parallel;
    if (function.hasLocalLinkage()) {
      function.addFnAttr(parallel ? llvm::Attribute::AlwaysInline : llvm::Attribute::NoInline);
    } else {
      function.setCallingConv(target.facts->convention);
    }
    if (parallel) continue;
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("prefer-vector-width", "256");
  }
}

struct VectorFunction {
  std::string name, vector, abi;
  int width;
};

// glibc's vector functions for registers of so many floats; `isa` is how the vector ABI spells
// these registers in names: eight calls of expf are one of _ZGVdN8v_expf.
std::vector<VectorFunction> VectorFunctions(char isa, int floats) {
  std::vector<VectorFunction> functions;
  for (const FunctionFacts& facts : Functions()) {
    if (!facts.library.vectors) continue;
    for (const bool is_double : {false, true}) {
      const int width = is_double ? floats / 2 : floats;
      const std::string name = absl::StrCat(facts.library.name, is_double ? "" : "f");
      const std::string shape = absl::StrCat("N", width, std::string(facts.arguments, 'v'));
      functions.push_back({name, absl::StrCat("_ZGV", absl::string_view(&isa, 1), shape, "_", name),
                           "_ZGV_LLVM_" + shape, width});
    }
  }
  return functions;
}

// The vector functions that the processor can call: those for AVX2 take arguments in registers that
// other processors do not have.
void AddVectorFunctions(llvm::TargetLibraryInfoImpl& library, const llvm::TargetMachine& machine) {
  static const bool available = !FindSystemLibrary("libmvec.so.1").empty();
  if (!available) return;
  static const std::vector<VectorFunction> of_sse = VectorFunctions('b', 4);
  static const std::vector<VectorFunction> of_avx2 = VectorFunctions('d', 8);
  std::vector<llvm::VecDesc> functions;
  auto add = [&](const VectorFunction& f) {
    functions.emplace_back(f.name, f.vector, llvm::ElementCount::getFixed(f.width),
                           /*Masked=*/false, f.abi);
  };
  for (const VectorFunction& function : of_sse) add(function);
  if (machine.getMCSubtargetInfo()->checkFeatures("+avx2"))
    for (const VectorFunction& function : of_avx2) add(function);
  library.addVectorizableFunctions(functions);
}

// Links in the functions of the target's device library that the module calls.
absl::Status LinkDeviceLibrary(llvm::Module& module, const DeviceLibrary& device) {
  std::string needed;
  for (const llvm::Function& function : module) {
    if (function.isDeclaration() && function.getName().starts_with(device.prefix)) {
      needed = function.getName().str();
    }
  }
  if (needed.empty()) return absl::OkStatus();
  const char* home = std::getenv(device.variable);
  const std::string path =
      absl::StrCat(home != nullptr && *home != 0 ? home : device.folder, "/", device.file);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return UserError("a kernel calls ", needed, " of ", device.name, ", but there is no ", path,
                     "; install ", device.package, " or set ", device.variable, " to its folder");
  }
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> library =
      llvm::getLazyIRFileModule(path, problem, module.getContext());
  if (library == nullptr) return UserError("cannot read ", path, ": ", problem.getMessage().str());
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  const bool failed = llvm::Linker::linkModules(
      module, std::move(library), llvm::Linker::LinkOnlyNeeded,
      [](llvm::Module& linked, const llvm::StringSet<>& names) {
        llvm::internalizeModule(linked, [&names](const llvm::GlobalValue& value) {
          return !value.hasName() || names.count(value.getName()) == 0;
        });
      });
  if (failed) return InternalError("cannot link ", path);
  module.addModuleFlag(llvm::Module::Override, device.flag, 0u);
  return absl::OkStatus();
}

// LLVM's own pipelines take several times as long and gain nothing on loops like ours, which have
// neither calls to inline nor memory to promote.
constexpr char kHostPipeline[] =
    "function("
    "early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm,simple-loop-unswitch),simplifycfg,loop(loop-idiom,loop-deletion),"
    "inject-tli-mappings,loop-vectorize,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm),loop-unroll,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

void Optimize(llvm::Module& module, llvm::TargetMachine& machine, const KernelTarget& target) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  const bool parallel = target.facts->parallel;
  tuning.LoopVectorization = !parallel;
  tuning.SLPVectorization = !parallel;
  tuning.LoopInterleaving = !parallel;
  llvm::PassBuilder builder(&machine, tuning);
  const llvm::Triple triple(module.getTargetTriple());
  llvm::TargetLibraryInfoImpl library(triple);
  if (!parallel) AddVectorFunctions(library, machine);
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (parallel) {
    passes = builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
  } else if (llvm::Error error = builder.parsePassPipeline(passes, kHostPipeline)) {
    YUBA_CHECK(false) << llvm::toString(std::move(error));
  }
  passes.run(module, modules);
}

absl::StatusOr<std::string> Emit(llvm::Module& module, llvm::TargetMachine& machine,
                                 llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return InternalError("LLVM cannot write this kind of file");
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace

absl::StatusOr<std::string> ToMachineCode(llvm::Module& module, const KernelTarget& target,
                                          const std::string& name) {
  YUBA_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine, MakeMachine(target));
  module.setTargetTriple(machine->getTargetTriple().str());
  module.setDataLayout(machine->createDataLayout());
  SetAttributes(module, target);
  const TargetFacts& facts = *target.facts;
  if (facts.functions.file != nullptr) {
    YUBA_RETURN_IF_ERROR(LinkDeviceLibrary(module, facts.functions));
  }
  Optimize(module, *machine, target);
  constexpr auto kAssembly = llvm::CodeGenFileType::AssemblyFile;
  if (!target.dump_dir.empty()) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, nullptr);
    stream.flush();
    YUBA_RETURN_IF_ERROR(Dump(target.dump_dir, name + ".ll", text));
    YUBA_ASSIGN_OR_RETURN(text, Emit(*llvm::CloneModule(module), *machine, kAssembly));
    YUBA_RETURN_IF_ERROR(Dump(target.dump_dir, absl::StrCat(name, ".", facts.assembly), text));
  }
  return Emit(module, *machine, facts.links ? llvm::CodeGenFileType::ObjectFile : kAssembly);
}

}  // namespace yuba::kernels
