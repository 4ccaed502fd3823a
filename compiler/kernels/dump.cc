#include "compiler/kernels/dump.h"

#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"

namespace yuba::kernels {

absl::Status Dump(const std::string& folder, const std::string& name, const std::string& text) {
  if (folder.empty()) return absl::OkStatus();
  YUBA_RETURN_IF_ERROR(MakeFolder(folder));
  return WriteFile(folder + "/" + name, text);
}

}  // namespace yuba::kernels
