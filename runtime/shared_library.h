// Shared libraries that a machine may or may not have. They are opened by name when first asked
// for, so that a command that only plans pays nothing for them, and never closed: copies of the
// object are views of one library.
#ifndef YUBA_RUNTIME_SHARED_LIBRARY_H_
#define YUBA_RUNTIME_SHARED_LIBRARY_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace yuba::runtime {

// Whether the loader's message (dlerror) is about memory that it does not get.
bool IsForLackOfMemory(const std::string& problem);

class SharedLibrary {
 public:
  // Opens the first of `names`, which may be paths, that the loader finds. Unavailable where it
  // finds none; the message is the loader's, for the first name.
  static absl::StatusOr<SharedLibrary> Open(const std::vector<std::string>& names);

  // Points `function` at the library's `symbol`; Unavailable where it has none.
  template <typename Function>
  absl::Status Find(const char* symbol, Function*& function) const {
    absl::StatusOr<void*> address = Address(symbol);
    function = address.ok() ? reinterpret_cast<Function*>(*address) : nullptr;
    return address.status();
  }

  const std::string& path() const { return path_; }  // the file, as far as the loader says

 private:
  SharedLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  absl::StatusOr<void*> Address(const char* symbol) const;

  void* handle_;
  std::string path_;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_SHARED_LIBRARY_H_
