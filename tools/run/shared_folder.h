// Whether all ranks see one folder at the place of --save, so that what rank 0 saves there is what
// others go on from.
#ifndef YUBA_TOOLS_RUN_SHARED_FOLDER_H_
#define YUBA_TOOLS_RUN_SHARED_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "runtime/ranks/job.h"

namespace yuba::tools {

// Called by all ranks, before the first step. Rank 0 writes a file of a random name into the folder
// of `save`, and all look for it there for some seconds, as file systems of networks may be late;
// then it is removed. The same user's error on all names the ranks that do not see it, with their
// hosts. Nothing is looked at where rank 0 saves nothing, or into no file of a disk.
absl::Status CheckFolderIsShared(const std::string& save, runtime::Job& job);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_SHARED_FOLDER_H_
