// A folder of this user's own, in TMPDIR or /tmp, for processes that belong together.
#ifndef YUBA_RUNTIME_RANKS_OWN_FOLDER_H_
#define YUBA_RUNTIME_RANKS_OWN_FOLDER_H_

#include <string>

namespace yuba::runtime {

// The folder, which nobody else may look into, while this object lives.
class OwnFolder {
 public:
  // Called NAME-XXXXXX.
  explicit OwnFolder(const std::string& name);
  ~OwnFolder();  // removes it with all that is in it
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  const std::string& path() const { return path_; }  // empty: none could be made
  // Then the name that was tried and why: "/none/a-XXXXXX: No such file or directory".
  const std::string& problem() const { return problem_; }

 private:
  std::string path_, problem_;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_OWN_FOLDER_H_
