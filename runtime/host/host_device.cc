#include "runtime/host/host_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::runtime {

MappedMemory::~MappedMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

absl::Status MappedMemory::Map(int64_t bytes) {
  YUBA_CHECK(data_ == nullptr);
  bytes_ = std::max<int64_t>(bytes, 1);
  void* data = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat(bytes, " bytes cannot be had from this machine: ", std::strerror(errno)));
  }
  data_ = static_cast<char*>(data);
  return absl::OkStatus();
}

absl::Status HostDevice::Write(int64_t offset, const char* data, int64_t bytes) {
  if (bytes > 0) std::memcpy(arena_.data() + offset, data, bytes);
  return absl::OkStatus();
}

absl::Status HostDevice::Read(int64_t offset, char* data, int64_t bytes) {
  if (bytes > 0) std::memcpy(data, arena_.data() + offset, bytes);
  return absl::OkStatus();
}

absl::Status HostDevice::Fill(int64_t offset, char value, int64_t bytes) {
  std::memset(arena_.data() + offset, value, bytes);
  return absl::OkStatus();
}

absl::Status HostDevice::Prepare(const LoadedProgram& program, const ArenaLayout& layout) {
  YUBA_RETURN_IF_ERROR(
      Annotate(arena_.Map(layout.size), absl::StrCat("device ", device_, ": its arena")));
  instructions_.resize(program.instructions().size());
  for (size_t p = 0; p < instructions_.size(); ++p) {
    const program::Kernel* kernel = program.instructions()[p].kernel;
    if (kernel == nullptr) continue;
    Prepared& prepared = instructions_[p];
    prepared.skipped = false;
    prepared.launch = LaunchOf(program, layout, static_cast<int>(p), device_);
    for (int64_t offset : prepared.launch.offsets) {
      prepared.buffers.push_back(arena_.data() + offset);
    }
    if (program.message().functions(kernel->function()).has_library()) {
      YUBA_RETURN_IF_ERROR(Annotate(PrepareLibrary(program, *kernel, prepared),
                                    program.Describe(static_cast<int>(p))));
    }
  }
  return workspace_.Map(workspace_bytes_);
}

absl::Status HostDevice::PrepareLibrary(const LoadedProgram& program, const program::Kernel& kernel,
                                        Prepared& prepared) {
  const program::LibraryCall& call = program.message().functions(kernel.function()).library();
  const LibraryShape shape = ShapeOf(program, kernel, device_);
  prepared.is_library = true;
  prepared.skipped = shape.no_result;
  prepared.zeros = shape.result;
  prepared.left = call.left();
  prepared.right = call.right();
  if (shape.no_result || shape.no_terms) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(onednn_, OneDnn::Open());
  if (call.windows_size() == 0) {
    prepared.library = MakeContraction(*onednn_, shape);
  } else {
    YUBA_ASSIGN_OR_RETURN(prepared.library, MakeConvolution(*onednn_, program, kernel, device_));
  }
  workspace_bytes_ = std::max(workspace_bytes_, prepared.library->workspace_bytes());
  return absl::OkStatus();
}

absl::Status HostDevice::Run(int instruction) {
  Prepared& prepared = instructions_[instruction];
  if (prepared.skipped) return absl::OkStatus();
  if (prepared.is_library) return RunLibrary(prepared);
  kernels_->function(prepared.launch.function)(prepared.buffers.data(),
                                               prepared.launch.arguments.data());
  return absl::OkStatus();
}

absl::Status HostDevice::RunLibrary(Prepared& prepared) {
  float* const result = static_cast<float*>(prepared.buffers.back());
  if (prepared.library == nullptr) {
    CombineWalk({Reducer::kSum, ElementType::kF32, ElementType::kF32, false}, prepared.zeros, {},
                reinterpret_cast<char*>(result));
    return absl::OkStatus();
  }
  ++library_calls_;
  return prepared.library->Run(static_cast<const float*>(prepared.buffers[prepared.left]),
                               static_cast<const float*>(prepared.buffers[prepared.right]), result,
                               workspace_.data());
}

absl::Status HostDevice::EnterThread() {
  if (onednn_ != nullptr && onednn_->set_threads != nullptr) onednn_->set_threads(1);
  return absl::OkStatus();
}

}  // namespace yuba::runtime
