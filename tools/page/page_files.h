// The files of a page, as they were when the program was built (embed.sh).
#ifndef YUBA_TOOLS_PAGE_PAGE_FILES_H_
#define YUBA_TOOLS_PAGE_PAGE_FILES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace yuba::tools {

struct PageFile {
  absl::string_view name;  // "graph.js", without folders
  absl::string_view text;
};

absl::Span<const PageFile> PageFiles();

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_PAGE_PAGE_FILES_H_
