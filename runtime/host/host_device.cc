#include "runtime/host/host_device.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/host/kept_operands.h"
#include "runtime/host/post_op_loops.h"
#include "runtime/host/widened_call.h"
#include "runtime/program/enums.h"

namespace yuba::runtime {

absl::Status HostDevice::Write(int64_t offset, const char* data, int64_t bytes) {
  if (bytes > 0) std::memcpy(arena_.data() + offset, data, bytes);
  ForgetKept({offset, offset + bytes});
  return absl::OkStatus();
}

absl::Status HostDevice::Read(int64_t offset, char* data, int64_t bytes) {
  if (bytes > 0) std::memcpy(data, arena_.data() + offset, bytes);
  return absl::OkStatus();
}

absl::Status HostDevice::Fill(int64_t offset, char value, int64_t bytes) {
  std::memset(arena_.data() + offset, value, bytes);
  ForgetKept({offset, offset + bytes});
  return absl::OkStatus();
}

void HostDevice::ForgetKept(const Interval& written) {
  for (Prepared& prepared : instructions_) {
    if (prepared.library == nullptr || prepared.kept.end <= written.begin) continue;
    if (prepared.kept.begin < written.end) prepared.library->ForgetKept();
  }
}

absl::Status HostDevice::Prepare(const LoadedProgram& program, const ArenaLayout& layout) {
  YUBA_RETURN_IF_ERROR(
      Annotate(arena_.Map(layout.size), absl::StrCat("device ", device_, ": its arena")));
  instructions_.resize(program.instructions().size());
  const std::vector<bool> kept = KeptBuffers(program, layout);
  for (size_t p = 0; p < instructions_.size(); ++p) {
    if (!program.instructions()[p].has_kernel()) continue;
    const program::Kernel& kernel = program.instructions()[p].kernel();
    Prepared& prepared = instructions_[p];
    prepared.skipped = false;
    prepared.remakes_kept = IsOfInit(program, static_cast<int>(p));
    Launch launch = LaunchOf(program, layout, static_cast<int>(p), device_);
    for (int64_t offset : launch.offsets) prepared.buffers.push_back(arena_.data() + offset);
    if (program.message().functions(launch.function).has_opaque()) {
      prepared.opaque = std::make_unique<OpaqueKernel>(program, kernel, device_, prepared.buffers);
      continue;
    }
    if (program.message().functions(launch.function).checks_indices()) {
      prepared.record = std::make_unique<IndexRecord>();
      prepared.buffers.push_back(prepared.record.get());
    }
    prepared.kernel = kernels_->function(launch.function);
    prepared.parts = LaunchParts(program, kernel, device_, team_.threads(), launch.arguments);
    if (program.message().functions(kernel.function()).has_library()) {
      YUBA_RETURN_IF_ERROR(Annotate(PrepareLibrary(program, static_cast<int>(p), kept),
                                    program.Describe(static_cast<int>(p))));
    }
  }
  YUBA_RETURN_IF_ERROR(PrepareConvolutions(program, kept));
  return workspace_.Map(workspace_bytes_);
}

absl::Status HostDevice::PrepareLibrary(const LoadedProgram& program, int instruction,
                                        const std::vector<bool>& kept) {
  const program::Kernel& kernel = program.instructions()[instruction].kernel();
  const program::LibraryCall& call = program.message().functions(kernel.function()).library();
  const LibraryShape shape = ShapeOf(program, kernel, device_);
  Prepared& prepared = instructions_[instruction];
  prepared.is_library = true;
  prepared.skipped = shape.no_result;
  prepared.zeros = shape.result;
  prepared.left = call.left();
  prepared.right = call.right();
  prepared.accumulator = FromProto(call.accumulator());
  prepared.type = shape.result_type;
  if (FromProto(call.type()) == ElementType::kF64) {
    return UserError("oneDNN has no products of f64; compile with --target host, which generates ",
                     "their code");
  }
  if (!call.post_ops().empty() && FromProto(call.type()) != ElementType::kF32) {
    return UserError("post-ops of small floats are for GPUs; compile with --target host, which ",
                     "generates code for them");
  }
  if (!shape.post_ops.empty()) prepared.post_ops = std::make_unique<LibraryShape>(shape);
  for (const PostOpShape& step : shape.post_ops) {
    if (step.operand >= 0) prepared.post.push_back(step.operand);
  }
  if (shape.no_result || shape.no_terms) return absl::OkStatus();
  if (onednn_ == nullptr) {
    YUBA_ASSIGN_OR_RETURN(onednn_, OneDnn::Open());
    // The library plans a primitive for the threads that it has when the primitive is made.
    YUBA_RETURN_IF_ERROR(EnterThread());
  }
  const bool contraction = call.kind() == program::LibraryCall::CONTRACTION;
  if (!contraction || shape.type == ElementType::kF32) {
    YUBA_ASSIGN_OR_RETURN(auto convolution, MakeConvolution(*onednn_, program, kernel, device_));
    if (convolution != nullptr) {
      convolutions_[instruction] = std::move(convolution);
      return absl::OkStatus();
    }
  }
  YUBA_ASSIGN_OR_RETURN(auto product,
                        MakeProduct(shape, kept[kernel.operands(call.right()).buffer()]));
  AddLibrary(program, instruction, std::move(product), call.right());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<LibraryKernel>> HostDevice::MakeProduct(const LibraryShape& shape,
                                                                       bool keep_right) {
  if (shape.type == ElementType::kBF16 || !shape.post_ops.empty()) {
    YUBA_ASSIGN_OR_RETURN(auto product, MakeMatrixProduct(*onednn_, shape, keep_right));
    if (product != nullptr) return product;
  }
  return MakeContraction(*onednn_, shape, team_);
}

// Of buffers that only convolutions touch the formats are chosen, in the order of the program.
absl::Status HostDevice::PrepareConvolutions(const LoadedProgram& program,
                                             const std::vector<bool>& kept) {
  if (convolutions_.empty()) return absl::OkStatus();
  std::map<int, const ConvolutionKernel*> kernels;
  for (const auto& [instruction, convolution] : convolutions_) {
    const program::Kernel& kernel = program.instructions()[instruction].kernel();
    if (ShapeOf(program, kernel, device_).type == ElementType::kF32)
      kernels[instruction] = convolution.get();
  }
  BufferFormats formats = FreeBuffers(program, *onednn_, kernels);
  for (auto& [instruction, convolution] : convolutions_) {
    const program::Kernel& kernel = program.instructions()[instruction].kernel();
    const program::LibraryCall& call = program.message().functions(kernel.function()).library();
    const LibraryShape shape = ShapeOf(program, kernel, device_);
    // A product of matrices that lie as it takes them is none for the sake of the format alone.
    if (call.kind() == program::LibraryCall::CONTRACTION && shape.post_ops.empty() &&
        !convolution->GainsBy(formats)) {
      YUBA_ASSIGN_OR_RETURN(auto product, MakeProduct(shape, false));
      AddLibrary(program, instruction, std::move(product), call.right());
      continue;
    }
    const int filter = convolution->FilterIsLeft() ? call.left() : call.right();
    YUBA_RETURN_IF_ERROR(
        Annotate(convolution->Prepare(kept[kernel.operands(filter).buffer()], formats),
                 program.Describe(instruction)));
    std::unique_ptr<LibraryKernel> library = std::move(convolution);
    if (shape.type != ElementType::kF32) {
      const auto extent = [&](const program::Access& access) {
        return Volume(program.BufferBox(access.buffer(), device_));
      };
      const CallExtents extents = {extent(kernel.operands(call.left())),
                                   extent(kernel.operands(call.right())),
                                   extent(kernel.results(0))};
      library = Widened(std::move(library), shape, extents, team_);
    }
    AddLibrary(program, instruction, std::move(library), filter);
  }
  convolutions_.clear();
  return absl::OkStatus();
}

void HostDevice::AddLibrary(const LoadedProgram& program, int instruction,
                            std::unique_ptr<LibraryKernel> library, int kept) {
  Prepared& prepared = instructions_[instruction];
  const int buffer = program.instructions()[instruction].kernel().operands(kept).buffer();
  const int64_t begin = static_cast<char*>(prepared.buffers[kept]) - arena_.data();
  prepared.kept = {begin, begin + program.message().buffers(buffer).size()};
  workspace_bytes_ = std::max(workspace_bytes_, library->workspace_bytes());
  kept_bytes_ += library->kept_bytes();
  prepared.library = std::move(library);
}

absl::Status HostDevice::Run(int instruction) {
  Prepared& prepared = instructions_[instruction];
  if (prepared.skipped) return absl::OkStatus();
  if (prepared.remakes_kept) ForgetKept({0, std::numeric_limits<int64_t>::max()});
  if (prepared.is_library) return RunLibrary(prepared);
  if (prepared.opaque != nullptr) {
    prepared.opaque->Run(team_);
    return absl::OkStatus();
  }
  team_.Run(static_cast<int>(prepared.parts.size()), [&prepared](int part) {
    prepared.kernel(prepared.buffers.data(), prepared.parts[part].data());
  });
  return absl::OkStatus();
}

absl::StatusOr<Device::BadIndex> HostDevice::TakeBadIndex() {
  BadIndex first;
  for (size_t i = 0; i < instructions_.size(); ++i) {
    IndexRecord* const record = instructions_[i].record.get();
    if (record == nullptr || record->found == 0) continue;
    if (first.instruction < 0) first = {static_cast<int>(i), *record};
    *record = IndexRecord();
  }
  return first;
}

absl::Status HostDevice::RunLibrary(Prepared& prepared) {
  LibraryBuffers buffers;
  buffers.left = prepared.buffers[prepared.left];
  buffers.right = prepared.buffers[prepared.right];
  buffers.result = prepared.buffers.back();
  for (const int operand : prepared.post) buffers.post.push_back(prepared.buffers[operand]);
  if (prepared.library == nullptr) {
    CombineWalk({Reducer::kSum, prepared.accumulator, prepared.type, false}, prepared.zeros, {},
                static_cast<char*>(buffers.result));
  } else {
    ++library_calls_;
    YUBA_RETURN_IF_ERROR(prepared.library->Run(buffers, workspace_.data()));
  }
  const bool done = prepared.library != nullptr && prepared.library->does_post_ops();
  if (prepared.post_ops != nullptr && !done) {
    RunPostOps(*prepared.post_ops, buffers.post, static_cast<float*>(buffers.result), team_);
  }
  return absl::OkStatus();
}

absl::Status HostDevice::EnterThread() {
  if (onednn_ != nullptr) onednn_->UseThreads(team_.threads());
  return absl::OkStatus();
}

}  // namespace yuba::runtime
