// A program from a yuba.program: ReadProgram of module.h.
#include <set>

#include "compiler/dump/definition_attr.h"
#include "compiler/dump/library_attr.h"
#include "compiler/dump/module.h"
#include "compiler/dump/opaque_attr.h"
#include "compiler/dump/table_attr.h"
#include "opsemantics/base/status.h"
#include "runtime/program/enums.h"
#include "runtime/program/well_formed.h"

namespace yuba::compiler {
namespace {

class ProgramReader {
 public:
  explicit ProgramReader(ProgramOp op) : op_(op) {}

  absl::StatusOr<program::Program> Read() {
    if (op_.getBody().empty()) return UserError("it has no body");
    mesh_ = MeshFrom(op_.getMesh());
    for (const MeshAxis& axis : mesh_.axes) {
      program::MeshAxis* added = program_.add_mesh();
      added->set_name(axis.name);
      added->set_size(axis.size);
    }
    program_.set_version(op_.getVersion().str());
    program_.set_graph_hash(op_.getGraphHash().str());
    program_.set_target(op_.getTarget().str());
    program_.set_host_object(op_.getHostObject().str());
    program_.set_ptx(op_.getPtx().str());
    program_.set_hash_arithmetic(op_.getHashArithmetic());
    stage_ = program_.add_stages();
    stage_->set_arena_size(op_.getArenaSize());
    for (mlir::Operation& op : op_.getBody().front()) {
      if (auto function = llvm::dyn_cast<FunctionOp>(op)) {
        YUBA_RETURN_IF_ERROR(ReadFunction(function));
      } else if (auto cluster = llvm::dyn_cast<ClusterOp>(op)) {
        ReadCluster(cluster);
      } else if (auto buffer = llvm::dyn_cast<BufferOp>(op)) {
        YUBA_RETURN_IF_ERROR(ReadBuffer(buffer));
      } else if (auto port = llvm::dyn_cast<PortOp>(op)) {
        YUBA_RETURN_IF_ERROR(ReadPort(port));
      } else if (auto entry = llvm::dyn_cast<EntryOp>(op)) {
        program::Entry* added = program_.add_entries();
        added->set_name(entry.getName().str());
        added->set_times(static_cast<int64_t>(entry.getTimes()));
        added->set_begin(stage_->instructions_size());
      } else {
        YUBA_RETURN_IF_ERROR(ReadInstruction(op, stage_->add_instructions()));
      }
    }
    YUBA_RETURN_IF_ERROR(program::CheckWellFormed(program_));
    return std::move(program_);
  }

 private:
  absl::Status ReadFunction(FunctionOp op) {
    program::Function* function = program_.add_functions();
    ReadCommon(op, function);
    if (op.getLibraryAttr()) *function->mutable_library() = LibraryFrom(op.getLibraryAttr());
    program::FunctionDefinition* definition = function->add_definitions();
    definition->set_text(op.getText().str());
    definition->set_reducer(ToProto(op.getReducer().getValue()));
    for (int i = 0; i < function->indices_size(); ++i) definition->add_indices(i);
    definition->mutable_computes()->set_result(0);
    alone_.insert(program_.functions_size() - 1);
    if (!op.getOpaqueAttr()) return absl::OkStatus();
    YUBA_ASSIGN_OR_RETURN(*function->mutable_opaque(), OpaqueFrom(op.getOpaqueAttr()));
    return absl::OkStatus();
  }

  void ReadCluster(ClusterOp op) {
    program::Function* function = program_.add_functions();
    ReadCommon(op, function);
    for (mlir::Attribute attr : op.getDefinitions()) {
      const auto read = llvm::cast<FunctionDefinitionAttr>(attr);
      program::FunctionDefinition* definition = function->add_definitions();
      definition->set_text(read.getText().str());
      definition->set_reducer(ToProto(read.getReducer()));
      for (const int32_t index : read.getIndices()) definition->add_indices(index);
      for (const KernelTensorAttr operand : read.getOperands()) {
        *definition->add_operands() = TensorFrom(operand);
      }
      *definition->mutable_computes() = TensorFrom(read.getComputes());
    }
  }

  static program::KernelTensor TensorFrom(KernelTensorAttr attr) {
    program::KernelTensor tensor;
    switch (attr.getKind()) {
      case program::KernelTensor::kOperand: tensor.set_operand(attr.getNumber()); break;
      case program::KernelTensor::kResult: tensor.set_result(attr.getNumber()); break;
      default: tensor.set_internal(attr.getNumber());
    }
    return tensor;
  }

  // What a definition alone and a cluster have in common.
  template <typename Op>
  static void ReadCommon(Op op, program::Function* function) {
    for (mlir::Attribute attr : op.getIndices()) {
      const auto read = llvm::cast<FunctionIndexAttr>(attr);
      program::FunctionIndex* index = function->add_indices();
      index->set_name(read.getName().str());
      index->set_extent(read.getExtent());
      index->set_reduction(read.getReduction());
      index->set_groups(read.getGroups());
      index->set_determined(read.getDetermined());
    }
    if (op.getSymbol()) function->set_symbol(op.getSymbol()->str());
    function->set_checks_indices(op.getChecksIndices());
    for (mlir::Attribute attr :
         op.getSplitsAttr() ? op.getSplitsAttr().getValue() : llvm::ArrayRef<mlir::Attribute>()) {
      const auto read = llvm::cast<IndexSplitAttr>(attr);
      program::IndexSplit* split = function->add_splits();
      split->set_index(read.getIndex());
      split->set_result_dim(read.getDim());
      split->set_step(read.getStep());
    }
  }

  absl::Status ReadBuffer(BufferOp op) {
    YUBA_ASSIGN_OR_RETURN(const TensorType type,
                          TypeFrom(llvm::cast<mlir::ShapedType>(op.getResult().getType())));
    program::Buffer* buffer = stage_->add_buffers();
    buffer->set_name(op.getName().str());
    buffer->set_type(ToProto(type.type));
    for (int64_t dim : type.dims) buffer->add_dims(dim);
    YUBA_RETURN_IF_ERROR(Fill(op.getBox(), buffer->mutable_box()));
    buffer->set_offset(op.getOffset());
    buffer->set_size(op.getSize());
    buffer->set_first(static_cast<int32_t>(op.getFirst()));
    buffer->set_last(static_cast<int32_t>(op.getLast()));
    buffer->set_initialized(op.getInitialized());
    buffers_[op.getResult()] = stage_->buffers_size() - 1;
    return absl::OkStatus();
  }

  absl::Status ReadPort(PortOp op) {
    program::Port* port = nullptr;
    switch (op.getKind().getValue()) {
      case PortKind::kInput: port = program_.add_inputs(); break;
      case PortKind::kOutput: port = program_.add_outputs(); break;
      case PortKind::kParameter: port = program_.add_parameters()->mutable_port(); break;
    }
    port->set_name(op.getName().str());
    YUBA_ASSIGN_OR_RETURN(const int buffer, IdOf(op.getBuffer()));
    port->set_buffer(buffer);
    for (int64_t extent : op.getShape()) port->add_shape(extent);
    if (op.getExamples().has_value()) port->set_examples(static_cast<int32_t>(*op.getExamples()));
    return absl::OkStatus();
  }

  absl::Status ReadInstruction(mlir::Operation& op, program::Instruction* instruction) {
    if (auto kernel = llvm::dyn_cast<KernelOp>(op)) {
      return ReadKernel(kernel, instruction->mutable_kernel());
    }
    if (auto exchange = llvm::dyn_cast<ExchangeOp>(op)) {
      return ReadExchange(exchange, instruction->mutable_exchange());
    }
    auto repeat = llvm::dyn_cast<RepeatOp>(op);
    if (!repeat) return UserError("it holds an operation that programs do not have");
    instruction->mutable_repeat()->set_count(static_cast<int32_t>(repeat.getCount()));
    for (mlir::Operation& inner : repeat.getBody().front()) {
      YUBA_RETURN_IF_ERROR(ReadInstruction(inner, instruction->mutable_repeat()->add_body()));
    }
    return absl::OkStatus();
  }

  absl::Status ReadKernel(KernelOp op, program::Kernel* kernel) {
    ReadNames(op.getNode(), kernel->mutable_node());
    ReadNames(op.getFrom(), kernel->mutable_from());
    kernel->set_function(static_cast<int32_t>(op.getFunction()));
    program::Box indices;
    YUBA_RETURN_IF_ERROR(Fill(op.getIndices(), &indices));
    *kernel->mutable_indices() = indices.dims();
    for (size_t i = 0; i < op.getBuffers().size(); ++i) {
      program::Access* operand = kernel->add_operands();
      YUBA_ASSIGN_OR_RETURN(const int buffer, IdOf(op.getBuffers()[i]));
      operand->set_buffer(buffer);
      const auto read = llvm::cast<AccessAttr>(op.getReads()[i]);
      operand->set_partial(read.getPartial());
      YUBA_RETURN_IF_ERROR(Fill(read.getBox(), operand->mutable_box()));
    }
    for (size_t i = 0; i < op.getWritten().size(); ++i) {
      program::Access* result = kernel->add_results();
      YUBA_ASSIGN_OR_RETURN(const int buffer, IdOf(op.getWritten()[i]));
      result->set_buffer(buffer);
      YUBA_RETURN_IF_ERROR(Fill(llvm::cast<BoxAttr>(op.getWrites()[i]), result->mutable_box()));
    }
    for (mlir::Attribute attr : op.getInternalsAttr() ? op.getInternalsAttr().getValue()
                                                      : llvm::ArrayRef<mlir::Attribute>()) {
      YUBA_RETURN_IF_ERROR(ReadInternal(llvm::cast<InternalAttr>(attr), kernel->add_internals()));
    }
    AddOperands(*kernel);
    return absl::OkStatus();
  }

  // A definition alone has the operands of its kernels, which come after it.
  void AddOperands(const program::Kernel& kernel) {
    if (kernel.function() < 0 || kernel.function() >= program_.functions_size()) return;
    program::Function& function = *program_.mutable_functions(kernel.function());
    if (!alone_.count(kernel.function()) || function.definitions(0).operands_size() > 0) return;
    for (int o = 0; o < kernel.operands_size(); ++o) {
      function.mutable_definitions(0)->add_operands()->set_operand(o);
    }
  }

  static void ReadNames(mlir::Attribute attr,
                        google::protobuf::RepeatedPtrField<std::string>* names) {
    if (const auto name = llvm::dyn_cast<mlir::StringAttr>(attr)) {
      *names->Add() = name.str();
      return;
    }
    for (mlir::Attribute name : llvm::cast<mlir::ArrayAttr>(attr)) {
      *names->Add() = llvm::cast<mlir::StringAttr>(name).str();
    }
  }

  absl::Status ReadInternal(InternalAttr attr, program::Internal* internal) {
    const auto shaped = llvm::dyn_cast<mlir::ShapedType>(attr.getType());
    if (!shaped) return UserError("an internal tensor needs a type like memref<8xf32>");
    YUBA_ASSIGN_OR_RETURN(const TensorType type, TypeFrom(shaped));
    internal->set_name(attr.getName().str());
    internal->set_type(ToProto(type.type));
    for (int64_t dim : type.dims) internal->add_dims(dim);
    return Fill(attr.getBox(), internal->mutable_box());
  }

  absl::Status ReadExchange(ExchangeOp op, program::Exchange* exchange) {
    exchange->set_tensor(op.getTensor().str());
    exchange->set_node(op.getNode().str());
    exchange->set_reduce(op.getReduce());
    YUBA_ASSIGN_OR_RETURN(const int source, IdOf(op.getSource()));
    YUBA_ASSIGN_OR_RETURN(const int destination, IdOf(op.getDestination()));
    exchange->set_source(source);
    exchange->set_destination(destination);
    YUBA_RETURN_IF_ERROR(Fill(op.getFrom(), exchange->mutable_from()));
    YUBA_RETURN_IF_ERROR(Fill(op.getTo(), exchange->mutable_to()));
    exchange->set_from_first_only(op.getFromFirstOnly());
    exchange->set_partials(static_cast<int32_t>(op.getPartials()));
    if (const ReducerAttr reducer = op.getReducerAttr()) {
      exchange->set_reducer(ToProto(reducer.getValue()));
    }
    if (const BoundAttr partial = op.getPartialAttr()) {
      YUBA_ASSIGN_OR_RETURN(*exchange->mutable_partial(), BoundFrom(mesh_, partial));
    }
    if (const BoundAttr group = op.getGroupAttr()) {
      YUBA_ASSIGN_OR_RETURN(*exchange->mutable_group(), BoundFrom(mesh_, group));
    }
    exchange->set_collective(op.getCollective().getNumber());
    if (!op.getAxesAttr()) return absl::OkStatus();
    YUBA_ASSIGN_OR_RETURN(const AxisList axes, AxesFrom(mesh_, op.getAxesAttr()));
    for (uint8_t axis : axes) exchange->add_axes(axis);
    return absl::OkStatus();
  }

  absl::Status Fill(BoxAttr attr, program::Box* box) {
    YUBA_ASSIGN_OR_RETURN(*box, BoxFrom(mesh_, attr));
    return absl::OkStatus();
  }

  absl::StatusOr<int> IdOf(mlir::Value value) const {
    const auto known = buffers_.find(value);
    if (known == buffers_.end())
      return UserError("it uses a value that no yuba.buffer of it defines");
    return known->second;
  }

  ProgramOp op_;
  program::Program program_;
  program::Stage* stage_ = nullptr;
  Mesh mesh_;
  llvm::DenseMap<mlir::Value, int> buffers_;
  std::set<int> alone_;  // functions of one definition
};

}  // namespace

absl::StatusOr<program::Program> ReadProgram(ProgramOp op) { return ProgramReader(op).Read(); }

}  // namespace yuba::compiler
