// ONNX files may say, since version 11 of the format, how their nodes are cut over devices
// (NodeProto.device_configurations). Yuba decides that by its own search.
#ifndef YUBA_COMPILER_IMPORT_FILE_DEVICE_NOTES_H_
#define YUBA_COMPILER_IMPORT_FILE_DEVICE_NOTES_H_

#include <string>

#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// That the file says so and that it is not used, for people; "" where the file does not.
std::string NoteOfDevices(const ::onnx::ModelProto& model);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FILE_DEVICE_NOTES_H_
