// The names of the two scalars that all random numbers of a program are made of, both i64 and
// states: the seed, which stays as it was set, and the number of steps that were before this one.
// They are how a caller finds them among a program's values.
//
// Example: session.Set(kSeedName, {ElementType::kI64, {}, <8 bytes>}) for another seed than 0.
#ifndef YUBA_OPSEMANTICS_BASE_RANDOM_STATE_H_
#define YUBA_OPSEMANTICS_BASE_RANDOM_STATE_H_

namespace yuba {

constexpr char kSeedName[] = "random/seed";
constexpr char kStepName[] = "random/step";

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_RANDOM_STATE_H_
