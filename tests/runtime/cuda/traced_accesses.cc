#include "tests/runtime/cuda/traced_accesses.h"

#include <dlfcn.h>

#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "compiler/kernels/link.h"
#include "compiler/kernels/machine_code.h"
#include "compiler/kernels/to_llvm.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "tests/runtime/cuda/fake_launch.h"
#include "tests/runtime/cuda/for_processors.h"

namespace yuba::kernels {
namespace {

constexpr unsigned kGlobal = 1;  // the address space of a GPU's memory
constexpr int64_t kSectorBytes = 32;
constexpr int kWarp = 32;

// What LLVM does for GPUs before it chooses instructions, up to the pass that makes accesses of
// neighbours.
constexpr char kForAccesses[] =
    "function(separate-const-offset-from-gep,slsr,gvn,nary-reassociate,early-cse,"
    "load-store-vectorizer)";

void OptimizeForGpus(llvm::Module& module, const KernelTarget& target) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  std::string problem;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(target.facts->triple, problem);
  YUBA_CHECK(found != nullptr) << problem;
  const std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(target.facts->triple, target.cpu, target.facts->features,
                                 llvm::TargetOptions(), llvm::Reloc::PIC_));
  module.setTargetTriple(target.facts->triple);
  module.setDataLayout(machine->createDataLayout());
  for (llvm::Function& function : module) {
    if (function.hasLocalLinkage()) function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes =
      builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
  llvm::ModulePassManager accesses;
  if (llvm::Error error = builder.parsePassPipeline(accesses, kForAccesses)) {
    YUBA_CHECK(false) << llvm::toString(std::move(error));
  }
  passes.run(module, modules);
  accesses.run(module, modules);
}

// Calls yuba_trace(place, address, bytes, whether it writes) before each access.
void Trace(llvm::Module& module) {
  std::vector<llvm::Instruction*> accesses;
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& each : block) {
        if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(each)) accesses.push_back(&each);
      }
    }
  }
  int place = 0;
  for (llvm::Instruction* access : accesses) {
    llvm::Value* const pointer = llvm::getLoadStorePointerOperand(access);
    if (pointer->getType()->getPointerAddressSpace() != kGlobal) continue;
    llvm::IRBuilder<> builder(access);
    llvm::Type* const word = builder.getInt32Ty();
    llvm::Type* const wide = builder.getInt64Ty();
    const uint64_t bytes = module.getDataLayout().getTypeStoreSize(getLoadStoreType(access));
    llvm::Value* const trace =
        builder.CreateLoad(builder.getPtrTy(), Global(module, "yuba_trace", builder.getPtrTy()));
    builder.CreateCall(
        llvm::FunctionType::get(builder.getVoidTy(), {word, wide, word, word}, false), trace,
        {builder.getInt32(place++), builder.CreatePtrToInt(pointer, wide), builder.getInt32(bytes),
         builder.getInt32(llvm::isa<llvm::StoreInst>(access) ? 1 : 0)});
  }
}

// What is noted while a kernel runs.
class Notes {
 public:
  void Begin(const int32_t* thread, std::vector<std::pair<int64_t, int64_t>> buffers) {
    *this = Notes();
    thread_ = thread;
    buffers_ = std::move(buffers);
  }

  void Add(int32_t place, int64_t address, int32_t bytes, bool written) {
    const bool of_elements =
        std::any_of(buffers_.begin(), buffers_.end(), [&](const std::pair<int64_t, int64_t>& own) {
          return address >= own.first && address < own.second;
        });
    if (!of_elements) return;  // of a table of pointers
    const int thread = thread_[0], block = thread_[2];
    const int time = times_[{block, thread, place}]++;
    OneAccess& access = accesses_[{block, thread / kWarp, place, time}];
    access.written = written;
    access.width = bytes;
    access.addresses.insert(address);
    for (int64_t at = address / kSectorBytes; at * kSectorBytes < address + bytes; ++at)
      access.sectors.insert(at);
  }

  TouchedMemory Sum() const {
    TouchedMemory memory;
    for (const auto& [key, access] : accesses_) {
      Touched& touched = access.written ? memory.written : memory.read;
      ++touched.accesses;
      touched.sectors += static_cast<int64_t>(access.sectors.size());
      touched.bytes += access.width * static_cast<int64_t>(access.addresses.size());
    }
    return memory;
  }

 private:
  struct OneAccess {  // of a warp
    bool written = false;
    int64_t width = 0;  // bytes of a thread's
    std::set<int64_t> addresses, sectors;
  };
  const int32_t* thread_ = nullptr;  // yuba_thread
  std::vector<std::pair<int64_t, int64_t>> buffers_;
  std::map<std::tuple<int, int, int>, int> times_;                // (block, thread, place): so far
  std::map<std::tuple<int, int, int, int>, OneAccess> accesses_;  // (block, warp, place, time)
};

Notes& TheNotes() {
  static Notes* const notes = new Notes;
  return *notes;
}

void NoteAccess(int32_t place, int64_t address, int32_t bytes, int32_t written) {
  TheNotes().Add(place, address, bytes, written != 0);
}

}  // namespace

absl::StatusOr<std::string> GenerateTraced(const std::vector<NamedKernel>& kernels,
                                           const KernelTarget& target) {
  KernelTarget processor;
  processor.cpu = HostTarget().processor;
  std::vector<std::string> objects;
  for (const NamedKernel& kernel : kernels) {
    llvm::LLVMContext context;
    YUBA_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module,
                          ToLlvm({&kernel, 1}, target, kernel.symbol, context));
    OptimizeForGpus(*module, target);
    Trace(*module);
    ForProcessors(*module);
    YUBA_ASSIGN_OR_RETURN(std::string object, ToMachineCode(*module, processor, kernel.symbol));
    objects.push_back(std::move(object));
  }
  YUBA_ASSIGN_OR_RETURN(const std::string object, LinkShared(objects));
  return absl::StrCat("ELF ", absl::BytesToHexString(object));
}

TouchedMemory RunTraced(const NamedKernel& kernel, const KernelTarget& target,
                        const std::vector<int64_t>& buffer_bytes) {
  constexpr size_t kAligned = 64;  // as slots of an arena are
  const std::unique_ptr<Object> object = Prepare(kernel, target, GenerateTraced);
  REQUIRE(LaunchAtHand().code.size() == 1);
  std::vector<std::unique_ptr<char[]>> memory;
  std::vector<void*> pointers;
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const int64_t bytes : buffer_bytes) {
    memory.push_back(std::make_unique<char[]>(bytes + kAligned));
    const int64_t begin =
        (reinterpret_cast<int64_t>(memory.back().get()) + kAligned - 1) / kAligned * kAligned;
    pointers.push_back(reinterpret_cast<void*>(begin));
    ranges.push_back({begin, begin + bytes});
  }
  std::vector<int64_t> arguments;
  for (const KnownArgument& known : kernel.known) arguments.push_back(known.offset);
  TheNotes().Begin(LaunchAtHand().code[0]->thread, ranges);
  *static_cast<decltype(&NoteAccess)*>(dlsym(object->handle(), "yuba_trace")) = NoteAccess;
  LaunchAtHand().buffers = static_cast<int>(pointers.size());
  RunLaunch(pointers.data(), arguments.data());
  return TheNotes().Sum();
}

}  // namespace yuba::kernels
