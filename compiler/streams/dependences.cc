#include "compiler/streams/dependences.h"

#include <algorithm>
#include <map>
#include <set>

namespace yuba::compiler {
namespace {

// What has used a buffer so far.
struct Users {
  int writer = -1;
  std::vector<int> readers;  // since the writer
};

}  // namespace

Dependences DependencesOf(const std::vector<WorkItem>& items) {
  const int count = static_cast<int>(items.size());
  Dependences found;
  found.before.resize(count);
  found.after.resize(count);
  found.first_kernel_after.assign(count, count);
  std::map<int, Users> users;  // by buffer
  for (int i = 0; i < count; ++i) {
    std::set<int> before;
    for (const int buffer : items[i].reads) before.insert(users[buffer].writer);
    for (const int buffer : items[i].writes) {
      before.insert(users[buffer].writer);
      before.insert(users[buffer].readers.begin(), users[buffer].readers.end());
    }
    before.erase(-1);
    for (const int buffer : items[i].reads) users[buffer].readers.push_back(i);
    for (const int buffer : items[i].writes) users[buffer] = {i, {}};
    found.before[i].assign(before.begin(), before.end());
    for (const int other : before) {
      found.after[other].push_back(i);
      int& first = found.first_kernel_after[other];
      if (!items[i].exchange) first = std::min(first, i);
    }
  }
  return found;
}

}  // namespace yuba::compiler
