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

// A number of the thread that runs the code, as an i32: "tid.x", "ctaid.x".
mlir::Value ThreadNumber(mlir::OpBuilder& builder, const char* name);

// The pointers that a kernel of this many buffers gets: those of the table `buffers`, then that of
// the table `arguments`. The builder stands in a function whose parameters are the two tables, and
// `pointer` is the type of pointers to the target's memory.
llvm::SmallVector<mlir::Value> LoadPointers(mlir::OpBuilder& builder, mlir::Block& parameters,
                                            int buffers, mlir::LLVM::LLVMPointerType pointer);

class KernelFunction {
 public:
  // With `scratch` it has a buffer for parts of sums, behind all others.
  KernelFunction(mlir::ModuleOp module, const NamedKernel& kernel, const KernelTarget& target,
                 bool scratch);

  // Adds the function; from then on the builder stands in it. End adds the return.
  void Begin();
  void End();
  // The same of a section: without the function that others call, which BuildSections adds. It has
  // one more parameter for GPUs, the number of the block among those of the section, an i32.
  void BeginSection();
  // The function with the loops: its parameters are the pointers in the table `buffers`, then that
  // of the table `arguments`.
  mlir::LLVM::LLVMFuncOp loops() const { return loops_; }

  mlir::OpBuilder& builder() { return b_; }
  ScalarBuilder& scalars() { return s_; }
  mlir::LLVM::LLVMPointerType pointer_type() const { return pointer_; }
  const TargetFacts& target() const { return target_; }
  const NamedKernel& kernel() const { return kernel_; }
  const ArgumentLayout& layout() const { return layout_; }
  // On GPUs: the elements of a row that the thread has read or computed, by RowKey of the builder.
  std::map<std::string, Typed>& row() { return row_; }
  mlir::ModuleOp module() const { return module_; }

  // On GPUs: which block of the kernel's, or of the section's, the thread is in, an i32.
  mlir::Value Block();
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
  void DeclareLoops(bool section);
  void BuildEntry();
  void EnterLoops();
  mlir::Location loc() { return b_.getUnknownLoc(); }

  mlir::OpBuilder b_;
  ScalarBuilder s_;
  mlir::ModuleOp module_;
  const NamedKernel& kernel_;
  const TargetFacts& target_;
  mlir::LLVM::LLVMPointerType pointer_;
  const ArgumentLayout layout_;
  const bool scratch_;
  mlir::LLVM::LLVMFuncOp loops_;
  mlir::Value block_;                  // of a section; else null
  std::vector<mlir::Value> pointers_;  // of the operands, the results, the record, the arguments
  std::map<int, mlir::Value> loaded_;  // by slot
  std::map<std::string, Typed> row_;
  mlir::Operation* last_load_ = nullptr;  // behind which the next argument is loaded
};

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_KERNEL_FUNCTION_H_
