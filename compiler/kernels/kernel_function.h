// The function of one kernel while it is built: its pointers and arguments (kernel_abi.h), which
// all definitions of the kernel use.
#ifndef YUBA_COMPILER_KERNELS_KERNEL_FUNCTION_H_
#define YUBA_COMPILER_KERNELS_KERNEL_FUNCTION_H_

#include <map>
#include <vector>

#include "compiler/kernels/named_kernel.h"
#include "compiler/kernels/scalars.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace yuba::kernels {

class KernelFunction {
 public:
  KernelFunction(mlir::ModuleOp module, const NamedKernel& kernel, const KernelTarget& target);

  // Adds the function; from then on the builder stands in it. End adds the return.
  void Begin();
  void End();

  mlir::OpBuilder& builder() { return b_; }
  ScalarBuilder& scalars() { return s_; }
  mlir::LLVM::LLVMPointerType pointer_type() const { return pointer_; }
  const TargetFacts& target() const { return target_; }
  const NamedKernel& kernel() const { return kernel_; }

  // A number of the kernel's table `arguments`, loaded once at the start.
  mlir::Value Argument(int slot);
  // Of an operand or result. Of an operand that a result overwrites it is the result's, so that no
  // two pointers lead to one buffer.
  mlir::Value Pointer(const KernelTensor& tensor) const;
  // Of the record of indices outside of their extents; null where the kernel checks none.
  mlir::Value IndexRecord() const;
  // The tensor's place among operands, results and internal tensors, as that record has it.
  int PlaceOf(const KernelTensor& tensor) const;
  // The slot of the first (origin, extent) pair of its buffer.
  int BoxArgument(const KernelTensor& tensor) const;

 private:
  int Tensors() const { return static_cast<int>(ranks_.size()); }
  // Pointers in the table `buffers`.
  int Buffers() const { return Tensors() + (kernel_.checks_indices ? 1 : 0); }
  int NumberOf(const KernelTensor& tensor) const;
  mlir::LLVM::LLVMFuncOp DeclareLoops();
  void BuildEntry(mlir::LLVM::LLVMFuncOp loops);
  mlir::Location loc() { return b_.getUnknownLoc(); }

  mlir::OpBuilder b_;
  ScalarBuilder s_;
  mlir::ModuleOp module_;
  const NamedKernel& kernel_;
  const TargetFacts& target_;
  mlir::LLVM::LLVMPointerType pointer_;
  int operands_ = 0, indices_ = 0;        // how many the kernel has
  std::vector<int> ranks_;                // of the operands, then of the results
  std::vector<mlir::Value> pointers_;     // of the operands, the results, the record, the arguments
  std::map<int, mlir::Value> loaded_;     // by slot
  mlir::Operation* last_load_ = nullptr;  // behind which the next argument is loaded
};

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_KERNEL_FUNCTION_H_
