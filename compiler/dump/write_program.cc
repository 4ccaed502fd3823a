// A program as a yuba.program: WriteProgram of module.h.
#include <algorithm>

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
                                 Number(std::max<int64_t>(program_.entries(entry).times(), 1)));
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

  // Whether a kernel's indices, operands and result are those of the one definition, in order.
  static bool IsAlone(const program::Function& function) {
    const program::FunctionDefinition& first = function.definitions(0);
    if (function.definitions_size() > 1 || first.indices_size() != function.indices_size())
      return false;
    for (int i = 0; i < first.indices_size(); ++i) {
      if (first.indices(i) != i) return false;
    }
    for (int o = 0; o < first.operands_size(); ++o) {
      if (first.operands(o).operand() != o) return false;
    }
    return true;
  }

  void WriteFunction(const program::Function& function) {
    mlir::MLIRContext* context = builder_.getContext();
    llvm::SmallVector<mlir::Attribute> indices;
    for (const program::FunctionIndex& index : function.indices()) {
      indices.push_back(FunctionIndexAttr::get(context, Text(index.name()), index.extent(),
                                               index.reduction(), index.groups(),
                                               index.determined()));
    }
    llvm::SmallVector<mlir::Attribute> splits;
    for (const program::IndexSplit& split : function.splits()) {
      splits.push_back(
          IndexSplitAttr::get(context, split.index(), split.result_dim(), split.step()));
    }
    const auto symbol = TextIf(!function.symbol().empty(), function.symbol());
    const auto shared_out = splits.empty() ? mlir::ArrayAttr() : builder_.getArrayAttr(splits);
    if (!IsAlone(function)) {
      llvm::SmallVector<mlir::Attribute> definitions;
      for (const auto& definition : function.definitions()) {
        definitions.push_back(DefinitionAttr(definition));
      }
      builder_.create<ClusterOp>(builder_.getUnknownLoc(), builder_.getArrayAttr(indices),
                                 builder_.getArrayAttr(definitions), symbol, shared_out,
                                 function.checks_indices());
      return;
    }
    const program::FunctionDefinition& definition = function.definitions(0);
    builder_.create<FunctionOp>(
        builder_.getUnknownLoc(), Text(definition.text()), builder_.getArrayAttr(indices),
        ReducerAttr::get(context, FromProto(definition.reducer())), symbol,
        function.has_library() ? AttrOf(context, function.library()) : LibraryAttr(),
        function.has_opaque() ? AttrOf(context, function.opaque()) : mlir::DictionaryAttr(),
        shared_out, function.checks_indices());
  }

  KernelTensorAttr TensorAttr(const program::KernelTensor& tensor) {
    const int number = tensor.has_operand()  ? tensor.operand()
                       : tensor.has_result() ? tensor.result()
                                             : tensor.internal();
    return KernelTensorAttr::get(builder_.getContext(), tensor.kind_case(), number);
  }

  FunctionDefinitionAttr DefinitionAttr(const program::FunctionDefinition& definition) {
    const llvm::SmallVector<int32_t> indices(definition.indices().begin(),
                                             definition.indices().end());
    llvm::SmallVector<KernelTensorAttr> operands;
    for (const auto& operand : definition.operands()) operands.push_back(TensorAttr(operand));
    return FunctionDefinitionAttr::get(builder_.getContext(), Text(definition.text()),
                                       FromProto(definition.reducer()), indices, operands,
                                       TensorAttr(definition.computes()));
  }

  // One name alone, several as a list.
  mlir::Attribute Names(const google::protobuf::RepeatedPtrField<std::string>& names) {
    if (names.size() == 1) return Text(names[0]);
    llvm::SmallVector<mlir::Attribute> list;
    for (const std::string& name : names) list.push_back(Text(name));
    return builder_.getArrayAttr(list);
  }

  // Of a buffer or an internal tensor.
  template <typename T>
  mlir::Type TensorTypeOf(const T& tensor) {
    return mlir::MemRefType::get(std::vector<int64_t>(tensor.dims().begin(), tensor.dims().end()),
                                 ElementTypeOf(builder_.getContext(), FromProto(tensor.type())));
  }

  void WriteBuffer(const program::Buffer& buffer) {
    const mlir::Type type = TensorTypeOf(buffer);
    buffers_.push_back(builder_.create<BufferOp>(At(buffer.name()), type, Text(buffer.name()),
                                                 Boxed(buffer.box()), Number(buffer.offset()),
                                                 Number(buffer.size()), Number(buffer.first()),
                                                 Number(buffer.last()), If(buffer.initialized())));
  }

  void WritePort(PortKind kind, const program::Port& port) {
    builder_.create<PortOp>(At(port.name()), PortKindAttr::get(builder_.getContext(), kind),
                            Text(port.name()), buffers_[port.buffer()],
                            builder_.getDenseI64ArrayAttr(
                                std::vector<int64_t>(port.shape().begin(), port.shape().end())),
                            port.examples() > 0 ? Number(port.examples()) : mlir::IntegerAttr());
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
    llvm::SmallVector<mlir::Value> results;
    llvm::SmallVector<mlir::Attribute> writes, internals;
    for (const program::Access& result : kernel.results()) {
      results.push_back(buffers_[result.buffer()]);
      writes.push_back(Boxed(result.box()));
    }
    for (const program::Internal& internal : kernel.internals()) {
      internals.push_back(InternalAttr::get(builder_.getContext(), Text(internal.name()),
                                            Boxed(internal.box()), TensorTypeOf(internal)));
    }
    program::Box indices;
    *indices.mutable_dims() = kernel.indices();
    builder_.create<KernelOp>(
        At(program::Origins(kernel)), Names(kernel.node()), Number(kernel.function()),
        Boxed(indices), operands, builder_.getArrayAttr(reads), results,
        builder_.getArrayAttr(writes),
        internals.empty() ? mlir::ArrayAttr() : builder_.getArrayAttr(internals),
        Names(kernel.from()));
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
