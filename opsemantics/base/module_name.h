// Names of values that say little alone ("getitem_6") stand behind the module of the user's program
// that computes them: "layer1.0.conv2::getitem_6". People may call such a value by either name.
#ifndef YUBA_OPSEMANTICS_BASE_MODULE_NAME_H_
#define YUBA_OPSEMANTICS_BASE_MODULE_NAME_H_

#include <string>

#include "absl/strings/string_view.h"

namespace yuba {

inline constexpr absl::string_view kOfModule = "::";

// "layer1.0.conv2::getitem_6"; `name` alone where there is no module, or the name has it already.
std::string NameInModule(absl::string_view module, absl::string_view name);

// "getitem_6" of "layer1.0.conv2::getitem_6"; `name` itself where no module stands in it.
absl::string_view NameAlone(absl::string_view name);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_MODULE_NAME_H_
