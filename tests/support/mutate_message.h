// Mutations of protobuf messages, for the fuzz tests of readers that must stand any content that
// parses: models and programs.
#ifndef YUBA_TESTS_SUPPORT_MUTATE_MESSAGE_H_
#define YUBA_TESTS_SUPPORT_MUTATE_MESSAGE_H_

#include <google/protobuf/message.h>

#include "tests/support/mutate.h"

namespace yuba {

// Changes one field somewhere in the message: a number becomes an odd or a neighbouring one or
// another field's, an element of a list is added, doubled, removed or swapped, a message or string
// is cleared or added. Every field of the schema that occurs is equally likely.
void MutateMessage(google::protobuf::Message& message, Random& random);

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_MUTATE_MESSAGE_H_
