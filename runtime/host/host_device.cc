#include "runtime/host/host_device.h"

#include <algorithm>
#include <cstring>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/host/kept_operands.h"
#include "runtime/host/widened_call.h"
#include "runtime/program/enums.h"

namespace yuba::runtime {

absl::Status HostDevice::Write(int64_t offset, const char* data, int64_t bytes) {
  if (bytes > 0) std::memcpy(arena_.data() + offset, data, bytes);
  ForgetKept();
  return absl::OkStatus();
}

absl::Status HostDevice::Read(int64_t offset, char* data, int64_t bytes) {
  if (bytes > 0) std::memcpy(data, arena_.data() + offset, bytes);
  return absl::OkStatus();
}

absl::Status HostDevice::Fill(int64_t offset, char value, int64_t bytes) {
  std::memset(arena_.data() + offset, value, bytes);
  ForgetKept();
  return absl::OkStatus();
}

void HostDevice::ForgetKept() {
  for (Prepared& prepared : instructions_) {
    if (prepared.library != nullptr) prepared.library->ForgetKept();
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
      YUBA_RETURN_IF_ERROR(Annotate(PrepareLibrary(program, kernel, kept, prepared),
                                    program.Describe(static_cast<int>(p))));
    }
  }
  return workspace_.Map(workspace_bytes_);
}

absl::Status HostDevice::PrepareLibrary(const LoadedProgram& program, const program::Kernel& kernel,
                                        const std::vector<bool>& kept, Prepared& prepared) {
  const program::LibraryCall& call = program.message().functions(kernel.function()).library();
  const LibraryShape shape = ShapeOf(program, kernel, device_);
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
  if (shape.no_result || shape.no_terms) return absl::OkStatus();
  if (onednn_ == nullptr) {
    YUBA_ASSIGN_OR_RETURN(onednn_, OneDnn::Open());
    // The library plans a primitive for the threads that it has when the primitive is made.
    YUBA_RETURN_IF_ERROR(EnterThread());
  }
  if (call.kind() == program::LibraryCall::CONTRACTION) {
    if (shape.type == ElementType::kBF16) {
      YUBA_ASSIGN_OR_RETURN(prepared.library, MakeBF16Contraction(*onednn_, shape));
    }
    if (prepared.library == nullptr) prepared.library = MakeContraction(*onednn_, shape, team_);
  } else {
    YUBA_ASSIGN_OR_RETURN(prepared.library,
                          MakeConvolution(*onednn_, program, kernel, device_,
                                          kept[kernel.operands(call.right()).buffer()]));
    if (shape.type != ElementType::kF32) {
      const auto extent = [&](const program::Access& access) {
        return Volume(program.BufferBox(access.buffer(), device_));
      };
      const CallExtents extents = {extent(kernel.operands(call.left())),
                                   extent(kernel.operands(call.right())),
                                   extent(kernel.results(0))};
      prepared.library = Widened(std::move(prepared.library), shape, extents, team_);
    }
  }
  workspace_bytes_ = std::max(workspace_bytes_, prepared.library->workspace_bytes());
  kept_bytes_ += prepared.library->kept_bytes();
  return absl::OkStatus();
}

absl::Status HostDevice::Run(int instruction) {
  Prepared& prepared = instructions_[instruction];
  if (prepared.skipped) return absl::OkStatus();
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
  void* const result = prepared.buffers.back();
  if (prepared.library == nullptr) {
    CombineWalk({Reducer::kSum, prepared.accumulator, prepared.type, false}, prepared.zeros, {},
                static_cast<char*>(result));
    return absl::OkStatus();
  }
  ++library_calls_;
  return prepared.library->Run(prepared.buffers[prepared.left], prepared.buffers[prepared.right],
                               result, workspace_.data());
}

absl::Status HostDevice::EnterThread() {
  if (onednn_ != nullptr) onednn_->UseThreads(team_.threads());
  return absl::OkStatus();
}

}  // namespace yuba::runtime
