// A program as a yuba.program: WriteProgram of module.h.
#include "compiler/dump/definition_attr.h"
#include "compiler/dump/library_attr.h"
#include "compiler/dump/module.h"
#include "compiler/dump/opaque_attr.h"
#include "compiler/dump/table_attr.h"
#include "runtime/program/enums.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {
namespace {

class ProgramWriter {
 public:
  ProgramWriter(mlir::OpBuilder& builder, const program::Program& program)
      : builder_(builder), program_(program), stage_(program.stages(0)), mesh_(MeshOf(program)) {}

  void Write() {
    auto op = builder_.create<ProgramOp>(
        builder_.getUnknownLoc(), AttrOf(builder_.getContext(), mesh_), Number(stage_.arena_size()),
        Text(program_.version()), Text(program_.graph_hash()), Text(program_.target()),
        Text(program_.host_object()), Text(program_.ptx()), If(program_.hash_arithmetic()));
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(&op.getBody().emplaceBlock());
    for (const program::Function& function : program_.functions()) WriteFunction(function);
    for (const program::Buffer& buffer : stage_.buffers()) WriteBuffer(buffer);
    for (const program::Port& port : program_.inputs()) WritePort(PortKind::kInput, port);
    for (const program::Port& port : program_.outputs()) WritePort(PortKind::kOutput, port);
    for (const program::Initializer& parameter : program_.parameters()) {
      WritePort(PortKind::kParameter, parameter.port());
    }
    int entry = 0;
    for (int i = 0; i <= stage_.instructions_size(); ++i) {
      for (; entry < program_.entries_size() && program_.entries(entry).begin() == i; ++entry) {
        builder_.create<EntryOp>(builder_.getUnknownLoc(), Text(program_.entries(entry).name()),
                                 Number(1));
      }
      if (i < stage_.instructions_size()) WriteInstruction(stage_.instructions(i));
    }
  }

 private:
  mlir::StringAttr Text(const std::string& text) { return builder_.getStringAttr(text); }
  mlir::IntegerAttr Number(int64_t number) { return builder_.getI64IntegerAttr(number); }
  mlir::UnitAttr If(bool value) { return value ? builder_.getUnitAttr() : mlir::UnitAttr(); }
  mlir::StringAttr TextIf(bool value, const std::string& text) {
    return value ? Text(text) : mlir::StringAttr();
  }
  mlir::Location At(const std::string& name) {
    return mlir::NameLoc::get(builder_.getStringAttr(name));
  }
  BoxAttr Boxed(const program::Box& box) { return AttrOf(builder_.getContext(), mesh_, box); }

  void WriteFunction(const program::Function& function) {
    mlir::MLIRContext* context = builder_.getContext();
    llvm::SmallVector<mlir::Attribute> indices;
    for (const program::FunctionIndex& index : function.indices()) {
      indices.push_back(FunctionIndexAttr::get(context, Text(index.name()), index.extent(),
                                               index.reduction(), index.groups()));
    }
    llvm::SmallVector<mlir::Attribute> splits;
    for (const program::IndexSplit& split : function.splits()) {
      splits.push_back(
          IndexSplitAttr::get(context, split.index(), split.result_dim(), split.step()));
    }
    builder_.create<FunctionOp>(
        builder_.getUnknownLoc(), Text(function.text()), builder_.getArrayAttr(indices),
        ReducerAttr::get(context, FromProto(function.reducer())),
        TextIf(!function.symbol().empty(), function.symbol()),
        function.has_library() ? AttrOf(context, function.library()) : LibraryAttr(),
        function.has_opaque() ? AttrOf(context, function.opaque()) : mlir::DictionaryAttr(),
        splits.empty() ? mlir::ArrayAttr() : builder_.getArrayAttr(splits));
  }

  void WriteBuffer(const program::Buffer& buffer) {
    const mlir::Type type =
        mlir::MemRefType::get(std::vector<int64_t>(buffer.dims().begin(), buffer.dims().end()),
                              ElementTypeOf(builder_.getContext(), FromProto(buffer.type())));
    buffers_.push_back(builder_.create<BufferOp>(At(buffer.name()), type, Text(buffer.name()),
                                                 Boxed(buffer.box()), Number(buffer.offset()),
                                                 Number(buffer.size()), Number(buffer.first()),
                                                 Number(buffer.last()), If(buffer.initialized())));
  }

  void WritePort(PortKind kind, const program::Port& port) {
    builder_.create<PortOp>(At(port.name()), PortKindAttr::get(builder_.getContext(), kind),
                            Text(port.name()), buffers_[port.buffer()],
                            builder_.getDenseI64ArrayAttr(
                                std::vector<int64_t>(port.shape().begin(), port.shape().end())));
  }

  void WriteInstruction(const program::Instruction& instruction) {
    if (instruction.has_kernel()) return WriteKernel(instruction.kernel());
    if (instruction.has_exchange()) return WriteExchange(instruction.exchange());
    auto op =
        builder_.create<RepeatOp>(builder_.getUnknownLoc(), Number(instruction.repeat().count()));
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(&op.getBody().emplaceBlock());
    for (const program::Instruction& inner : instruction.repeat().body()) WriteInstruction(inner);
  }

  void WriteKernel(const program::Kernel& kernel) {
    llvm::SmallVector<mlir::Value> operands;
    llvm::SmallVector<mlir::Attribute> reads;
    for (const program::Access& operand : kernel.operands()) {
      operands.push_back(buffers_[operand.buffer()]);
      reads.push_back(
          AccessAttr::get(builder_.getContext(), Boxed(operand.box()), operand.partial()));
    }
    program::Box indices;
    *indices.mutable_dims() = kernel.indices();
    builder_.create<KernelOp>(At(kernel.from()), Text(kernel.node()), Number(kernel.function()),
                              Boxed(indices), operands, builder_.getArrayAttr(reads),
                              buffers_[kernel.result().buffer()], Boxed(kernel.result().box()),
                              Text(kernel.from()));
  }

  void WriteExchange(const program::Exchange& exchange) {
    mlir::MLIRContext* context = builder_.getContext();
    const AxisList axes(exchange.axes().begin(), exchange.axes().end());
    const auto table = [&](bool value, const program::Bound& bound) {
      return value ? AttrOf(context, mesh_, bound) : BoundAttr();
    };
    ReducerAttr reducer;
    if (exchange.reducer() != program::NONE) {
      reducer = ReducerAttr::get(context, FromProto(exchange.reducer()));
    }
    builder_.create<ExchangeOp>(
        At(exchange.node()), Text(exchange.tensor()), Text(exchange.node()),
        buffers_[exchange.source()], Boxed(exchange.from()), buffers_[exchange.destination()],
        Boxed(exchange.to()), If(exchange.reduce()), If(exchange.from_first_only()), reducer,
        Number(exchange.partials()), table(exchange.has_partial(), exchange.partial()),
        table(exchange.has_group(), exchange.group()),
        CollectiveAttr::get(context, exchange.collective()),
        axes.empty() ? AxesAttr() : AttrOf(context, mesh_, axes));
  }

  mlir::OpBuilder& builder_;
  const program::Program& program_;
  const program::Stage& stage_;
  const Mesh mesh_;
  std::vector<mlir::Value> buffers_;
};

}  // namespace

void WriteProgram(mlir::OpBuilder& builder, const program::Program& program) {
  ProgramWriter(builder, program).Write();
}

}  // namespace yuba::compiler
