// A model's message without the weights that lie in it, so that a model of any size is planned
// without reading them. ONNX's own form of values elsewhere says where they are:
//
//   initializer {name: "w", dims: 1024, raw_data: <4096 bytes, from byte 300 of m.onnx on>}
// becomes
//   initializer {name: "w", dims: 1024, data_location: EXTERNAL,
//                external_data: {location: "m.onnx", offset: "300", length: "4096"}}
#ifndef YUBA_COMPILER_IMPORT_FILE_OUTLINE_H_
#define YUBA_COMPILER_IMPORT_FILE_OUTLINE_H_

#include <cstdint>
#include <string>

#include "absl/types/optional.h"
#include "opsemantics/base/files.h"

namespace yuba::onnx {

// The bytes of the ModelProto in `file`, of `size` bytes, at most 2^31 - 1, with raw data of more
// than 1024 bytes replaced so; `name` is the file's in its own folder. Nothing where the bytes are
// no message, or give a tensor's value in more than one way: whoever reads them then as they are
// finds out what is wrong. Reads the file from its descriptor's place on, and skips the weights.
absl::optional<std::string> OutlineOf(const UniqueFd& file, int64_t size, const std::string& name);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FILE_OUTLINE_H_
