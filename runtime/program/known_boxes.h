// The boxes of tables on all devices, each table once. Blocks of a model that repeat have equal
// tables, so that a program of thousands of instructions has few different ones.
//
// Example: KnownBoxes known(mesh); const KnownBoxes::List a = known.Of(buffer.box());
//   const KnownBoxes::List b = known.Of(access.box());
// a == b where both say the same: what was found out of one holds of the other.
#ifndef YUBA_RUNTIME_PROGRAM_KNOWN_BOXES_H_
#define YUBA_RUNTIME_PROGRAM_KNOWN_BOXES_H_

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opsemantics/base/box.h"
#include "opsemantics/base/mesh.h"
#include "runtime/program/program.pb.h"

namespace yuba::program {

class KnownBoxes {
 public:
  using List = std::shared_ptr<const std::vector<yuba::Box>>;  // [device]

  explicit KnownBoxes(Mesh mesh) : mesh_(std::move(mesh)) {}

  // The boxes that the table says (BoxesOn of tables.h). Tables that say the same in the same way
  // have one list, which lives as long as this.
  const List& Of(const Box& table);
  // Elements of the largest device's box.
  int64_t MostElements(const Box& table);
  // Whether every device's box of `outer` contains that of `inner`. Both are lists of Of.
  bool AllContain(const List& outer, const List& inner);

 private:
  const Mesh mesh_;
  std::unordered_map<std::string, List> lists_;               // by the table, serialized
  std::unordered_map<const void*, int64_t> most_;             // by list
  std::set<std::pair<const void*, const void*>> containing_;  // lists: outer, inner
};

}  // namespace yuba::program

#endif  // YUBA_RUNTIME_PROGRAM_KNOWN_BOXES_H_
