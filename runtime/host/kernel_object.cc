#include "runtime/host/kernel_object.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "runtime/shared_library.h"

namespace yuba::runtime {
namespace {

bool InFile(uint64_t offset, uint64_t size, uint64_t file) {
  return offset <= file && size <= file - offset;
}

}  // namespace

absl::Status CheckSharedObject(const std::string& bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header) return UserError("the program's object is truncated");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_type != ET_DYN || header.e_machine != EM_X86_64) {
    return UserError("the program's object is no shared object for x86-64");
  }
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      !InFile(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), bytes.size()) ||
      !InFile(header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize, bytes.size())) {
    return UserError("the program's object is truncated: its headers lie outside it");
  }
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_GNU_STACK &&
        !InFile(segment.p_offset, segment.p_filesz, bytes.size())) {
      return UserError("the program's object is truncated: segment ", i, " lies outside it");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckProcessor(const program::Program& program) {
  if (program.target() != "host" && !program.target().empty()) {
    return UserError("the program was compiled for a GPU (", program.processor(),
                     "); run it with --backend ", program.target(),
                     " or compile it with --target host");
  }
  const std::string& processor = program.processor();
  const bool level3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool level4 = level3 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if ((processor == "x86-64-v3" && !level3) || (processor == "x86-64-v4" && !level4)) {
    return UserError("the program was compiled for ", processor,
                     ", which this processor is not; compile it with another --target-cpu");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const KernelObject>> KernelObject::Load(
    const LoadedProgram& program) {
  std::shared_ptr<KernelObject> object(new KernelObject);
  object->functions_.resize(program.message().functions_size());
  YUBA_RETURN_IF_ERROR(CheckProcessor(program.message()));
  bool needed = false;
  for (const program::Function& function : program.message().functions()) {
    needed |= !function.symbol().empty();
  }
  if (!needed) return std::shared_ptr<const KernelObject>(object);
  YUBA_RETURN_IF_ERROR(CheckSharedObject(program.message().code()));
  YUBA_RETURN_IF_ERROR(object->Open(program.message().code()));
  for (int f = 0; f < program.message().functions_size(); ++f) {
    const std::string& symbol = program.message().functions(f).symbol();
    if (symbol.empty()) continue;
    object->functions_[f] = reinterpret_cast<HostKernel>(dlsym(object->handle_, symbol.c_str()));
    if (object->functions_[f] == nullptr) {
      return UserError("the program's object has no function ", symbol);
    }
  }
  return std::shared_ptr<const KernelObject>(object);
}

absl::Status KernelObject::Open(const std::string& bytes) {
  UniqueFd file(memfd_create("yuba-kernels", MFD_CLOEXEC));
  if (file.get() < 0)
    return InternalError("no memory file for the kernels: ", std::strerror(errno));
  size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = write(file.get(), bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return InternalError("the kernels cannot be put into memory: ", std::strerror(errno));
    }
    written += count;
  }
  handle_ = dlopen(absl::StrCat("/proc/self/fd/", file.get()).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    const std::string problem = absl::StrCat("the program's kernels cannot be loaded: ", dlerror());
    return IsForLackOfMemory(problem) ? absl::ResourceExhaustedError(problem) : UserError(problem);
  }
  file_ = file.Release();
  return absl::OkStatus();
}

KernelObject::~KernelObject() {
  if (handle_ != nullptr) dlclose(handle_);
  if (file_ >= 0) close(file_);
}

}  // namespace yuba::runtime
