// The links of a machine file are read.
#ifndef YUBA_OPSEMANTICS_MACHINE_READ_LINKS_H_
#define YUBA_OPSEMANTICS_MACHINE_READ_LINKS_H_

#include <vector>

#include "opsemantics/base/json_reader.h"
#include "opsemantics/machine/machine.h"

namespace yuba {

// The kinds of links of `nodes` nodes, from the field `links`: those inside of a node, which say
// how many devices a group has, and of those that join nodes, which say how many at most, as many
// as are needed.
std::vector<LinkModel> ReadLinks(const JsonReader& links, int nodes);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_MACHINE_READ_LINKS_H_
