// The function of one kernel while it is built: its pointers and arguments (kernel_abi.h), which
// all definitions of the kernel use.
#ifndef YUBA_COMPILER_KERNELS_KERNEL_FUNCTION_H_
#define YUBA_COMPILER_KERNELS_KERNEL_FUNCTION_H_

#include <map>
#include <string>
#include <vector>

#include "compiler/kernels/argument_layout.h"
#include "compiler/kernels/named_kernel.h"
#include "compiler/kernels/scalars.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace yuba::kernels {

class KernelFunction {
 public:
  // With `scratch` it has a buffer for parts of sums, behind all others.
  KernelFunction(mlir::ModuleOp module, const NamedKernel& kernel, const KernelTarget& target,
                 bool scratch);

  // Adds the function; from then on the builder stands in it. End adds the return.
  void Begin();
  void End();

  mlir::OpBuilder& builder() { return b_; }
  ScalarBuilder& scalars() { return s_; }
  mlir::LLVM::LLVMPointerType pointer_type() const { return pointer_; }
  const TargetFacts& target() const { return target_; }
  const NamedKernel& kernel() const { return kernel_; }
  const ArgumentLayout& layout() const { return layout_; }
  // On GPUs: the elements of a row that the thread has read or computed, by RowKey of the builder.
  std::map<std::string, Typed>& row() { return row_; }
  mlir::ModuleOp module() const { return module_; }

  // A number of the kernel's table `arguments`: loaded once at the start, or, for GPUs, known.
  mlir::Value Argument(int slot);
  // Of an operand or result. Of an operand that a result overwrites it is the result's, so that no
  // two pointers lead to one buffer.
  mlir::Value Pointer(const KernelTensor& tensor) const;
  // Of the record of indices outside of their extents; null where the kernel checks none.
  mlir::Value IndexRecord() const;
  mlir::Value Scratch() const { return pointers_[Buffers() - 1]; }
  // The tensor's place among operands, results and internal tensors, as that record has it.
  int PlaceOf(const KernelTensor& tensor) const;
  // The slot of the first (origin, extent) pair of its buffer.
  int BoxArgument(const KernelTensor& tensor) const { return layout_.BoxArgument(tensor); }

 private:
  int Tensors() const { return layout_.tensors(); }
  // Pointers in the table `buffers`.
  int Buffers() const { return Tensors() + (kernel_.checks_indices ? 1 : 0) + (scratch_ ? 1 : 0); }
  mlir::LLVM::LLVMFuncOp DeclareLoops();
  void BuildEntry(mlir::LLVM::LLVMFuncOp loops);
  mlir::Location loc() { return b_.getUnknownLoc(); }

  mlir::OpBuilder b_;
  ScalarBuilder s_;
  mlir::ModuleOp module_;
  const NamedKernel& kernel_;
  const TargetFacts& target_;
  mlir::LLVM::LLVMPointerType pointer_;
  const ArgumentLayout layout_;
  const bool scratch_;
  std::vector<mlir::Value> pointers_;  // of the operands, the results, the record, the arguments
  std::map<int, mlir::Value> loaded_;  // by slot
  std::map<std::string, Typed> row_;
  mlir::Operation* last_load_ = nullptr;  // behind which the next argument is loaded
};

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_KERNEL_FUNCTION_H_
