#include "tests/runtime/cuda/for_processors.h"

#include <array>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "llvm/IR/IRBuilder.h"
#include "opsemantics/base/check.h"

namespace yuba::kernels {
namespace {

constexpr std::array<const char*, 4> kThread = {"tid.x", "ntid.x", "ctaid.x", "nctaid.x"};

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

}  // namespace

llvm::GlobalVariable* Global(llvm::Module& module, const std::string& name, llvm::Type* type) {
  if (llvm::GlobalVariable* known = module.getNamedGlobal(name)) return known;
  return new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::WeakAnyLinkage,
                                  llvm::Constant::getNullValue(type), name);
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

}  // namespace yuba::kernels
