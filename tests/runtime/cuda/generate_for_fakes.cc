// In place of compiler/kernels/kernels.cc in the command yuba-on-fakes: a program for GPUs gets a
// shared object for processors where its PTX would be, as a text of hexadecimal digits behind "ELF
// ", which the fake driver runs. The loops are those of GPUs, of which each thread computes its
// share; only what LLVM makes of them differs. For the fake driver (fake_warps.h) the object has
//
//   int32_t yuba_thread[4]                 tid.x, ntid.x, ctaid.x, nctaid.x of the running thread
//   int32_t (*yuba_shuffle)(int32_t, int32_t)   of a value with the lane at a distance
//   void (*yuba_barrier)(int32_t)          for the threads of a warp (0) or of a block
//   char NAME_shuffles, NAME_waits         where kernel NAME calls the one, the other for blocks
//
// and NVIDIA's __nv_expf is the processor's expf.
#include <array>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/kernels/kernels.h"
#include "compiler/kernels/link.h"
#include "compiler/kernels/machine_code.h"
#include "compiler/kernels/to_llvm.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::kernels {
namespace {

constexpr std::array<const char*, 4> kThread = {"tid.x", "ntid.x", "ctaid.x", "nctaid.x"};

llvm::GlobalVariable* Global(llvm::Module& module, const std::string& name, llvm::Type* type) {
  if (llvm::GlobalVariable* known = module.getNamedGlobal(name)) return known;
  return new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::WeakAnyLinkage,
                                  llvm::Constant::getNullValue(type), name);
}

// What a processor does for a call of an NVVM intrinsic.
llvm::Value* InPlaceOf(llvm::CallInst& call, const std::string& intrinsic, llvm::Module& module) {
  llvm::IRBuilder<> builder(&call);
  llvm::Type* const word = builder.getInt32Ty();
  if (intrinsic == "llvm.nvvm.shfl.sync.bfly.i32") {
    llvm::Value* const exchange =
        builder.CreateLoad(builder.getPtrTy(), Global(module, "yuba_shuffle", builder.getPtrTy()));
    return builder.CreateCall(llvm::FunctionType::get(word, {word, word}, false), exchange,
                              {call.getArgOperand(1), call.getArgOperand(2)});
  }
  if (intrinsic == "llvm.nvvm.barrier0" || intrinsic == "llvm.nvvm.bar.warp.sync") {
    llvm::Value* const barrier =
        builder.CreateLoad(builder.getPtrTy(), Global(module, "yuba_barrier", builder.getPtrTy()));
    return builder.CreateCall(llvm::FunctionType::get(builder.getVoidTy(), {word}, false), barrier,
                              {builder.getInt32(intrinsic == "llvm.nvvm.barrier0" ? 1 : 0)});
  }
  for (unsigned i = 0; i < kThread.size(); ++i) {
    if (intrinsic != absl::StrCat("llvm.nvvm.read.ptx.sreg.", kThread[i])) continue;
    llvm::Type* const four = llvm::ArrayType::get(word, kThread.size());
    llvm::GlobalVariable* const thread = Global(module, "yuba_thread", four);
    return builder.CreateLoad(word, builder.CreateConstGEP2_32(four, thread, 0, i));
  }
  YUBA_CHECK(false) << "no processor does what " << intrinsic << " does";
  return nullptr;
}

// Notes which kernel calls an intrinsic for which threads need each other.
void NoteCall(const llvm::CallInst& call, const std::string& intrinsic, llvm::Module& module) {
  const std::string caller = call.getFunction()->getName().str();
  std::string kernel(absl::StripSuffix(caller, "_loops"));
  // Of a section, "k3_s1_loops", it is the kernel whose code calls it.
  if (module.getFunction(kernel) == nullptr) kernel.resize(kernel.rfind("_s"));
  llvm::Type* const byte = llvm::Type::getInt8Ty(module.getContext());
  if (absl::StrContains(intrinsic, "shfl") || absl::StrContains(intrinsic, "bar.warp"))
    Global(module, kernel + "_shuffles", byte);
  if (absl::StrContains(intrinsic, "barrier0")) Global(module, kernel + "_waits", byte);
}

void ForProcessors(llvm::Module& module) {
  std::vector<llvm::Function*> declared;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) declared.push_back(&function);
  }
  for (llvm::Function* function : declared) {
    const std::string name = function->getName().str();
    if (absl::StartsWith(name, "__nv_")) function->setName(name.substr(5));
    if (!absl::StartsWith(name, "llvm.nvvm.")) continue;
    while (!function->use_empty()) {
      auto* const call = llvm::cast<llvm::CallInst>(function->user_back());
      NoteCall(*call, name, module);
      call->replaceAllUsesWith(InPlaceOf(*call, name, module));
      call->eraseFromParent();
    }
    function->eraseFromParent();
  }
}

}  // namespace

absl::StatusOr<std::string> GenerateKernels(const std::vector<NamedKernel>& kernels,
                                            const KernelTarget& target) {
  const bool gpu = target.facts->parallel;
  KernelTarget processor = target;
  processor.facts = &HostTarget();
  if (gpu) processor.cpu = HostTarget().processor;
  std::vector<std::string> objects;
  for (const NamedKernel& kernel : kernels) {
    llvm::LLVMContext context;
    YUBA_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module,
                          ToLlvm({&kernel, 1}, target, kernel.symbol, context));
    if (gpu) ForProcessors(*module);
    YUBA_ASSIGN_OR_RETURN(std::string object, ToMachineCode(*module, processor, kernel.symbol));
    objects.push_back(std::move(object));
  }
  YUBA_ASSIGN_OR_RETURN(const std::string object, LinkShared(objects));
  return gpu ? absl::StrCat("ELF ", absl::BytesToHexString(object)) : object;
}

}  // namespace yuba::kernels
