#include "opsemantics/machine/machine_fields.h"

namespace yuba {

void ReadSource(const JsonReader& constant) {
  const JsonReader source = constant.Field("source");
  if (source.String().empty()) source.Fail("where the number is from, and of when");
}

JsonReader ValueOf(const JsonReader& constant) {
  constant.OnlyFields({"value", "source"});
  ReadSource(constant);
  return constant.Field("value");
}

}  // namespace yuba
