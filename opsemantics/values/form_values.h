// Values for tensors that are parameters of a user's program in another form (stored_form.h), from
// files that have them by any of their names.
#ifndef YUBA_OPSEMANTICS_VALUES_FORM_VALUES_H_
#define YUBA_OPSEMANTICS_VALUES_FORM_VALUES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/values/stored_form.h"
#include "opsemantics/values/tensor_data.h"

namespace yuba {

// What a file of values has by a name; nothing where it has none.
using FindValue = std::function<absl::StatusOr<absl::optional<StoredView>>(const std::string&)>;

// At most one of the two is there.
struct FormedValue {
  // It is in the file, perhaps transposed, and in the shape that the file says.
  absl::optional<StoredView> view;
  absl::optional<TensorData> made;  // it was put together of several, or has another shape
};

// The value of a tensor of shape `dims` in a file that may have it by its own name, by stored_as,
// or as the parameters that it is made of; nothing where it lacks it, or one of them. Fails as
// `find`, ReadView and InStoredForm do.
absl::StatusOr<FormedValue> FindInForm(const StoredForm& form, const std::vector<int64_t>& dims,
                                       const FindValue& find);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_VALUES_FORM_VALUES_H_
