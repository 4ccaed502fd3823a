// Values into the arenas of devices: each device of the process gets its shard of a whole tensor.
// The tensor is walked once, in pieces of a few MB, so that a value of any size needs no more
// memory than that; where its buffer lies in memory in another order (Buffer.order), as much as its
// shards.
#ifndef YUBA_RUNTIME_SET_VALUES_H_
#define YUBA_RUNTIME_SET_VALUES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "opsemantics/base/box.h"
#include "opsemantics/base/element_type.h"
#include "runtime/device.h"
#include "runtime/executor.h"
#include "runtime/value_source.h"

namespace yuba::runtime {

// Walks a tensor of these extents in boxes of at most `most` elements, in row-major order. The
// elements of each are consecutive, and so are those that any box of the tensor shares with it, in
// a buffer that is dense over that box: in [4, 6] with `most` 12 they are rows [0, 2) and [2, 4).
// Ends where `visit` fails.
absl::Status ForEachPiece(const std::vector<int64_t>& dims, int64_t most,
                          const std::function<absl::Status(const Box&)>& visit);

// Writes the elements of the whole tensor, which `source` gives as elements of `given`, into the
// buffer's shards, as the program's elements: in hash arithmetic floats are made elements of it,
// integers are converted where they fit, f16 and bf16 are widened to f32, bytes of bools become 0
// or 1. A user's error where the types do not go together, where a value does not fit, and where
// the source fails.
absl::Status SetElements(const LoadedProgram& program, const ArenaLayout& layout, Fleet& fleet,
                         int buffer, ElementType given, ValueSource& source);

// Writes the element, one of the program's type, into every place of the buffer's shards.
absl::Status SetFill(const LoadedProgram& program, const ArenaLayout& layout, Fleet& fleet,
                     int buffer, const std::string& element);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_SET_VALUES_H_
