// The reducers: how the terms of a reduction become one value, and how partials of it combine.
// Constant expressions alone, which code for GPUs includes too.
#ifndef YUBA_OPSEMANTICS_BASE_REDUCER_H_
#define YUBA_OPSEMANTICS_BASE_REDUCER_H_

#include <cstdint>

namespace yuba {

enum class Reducer : uint8_t {
  kNone,  // a map: there is no reduction index
  kSum,
  kProd,
  kMax,
  kMin,
  kAny,
  kAll,
  kArgMax,
  kArgMin,
  kPick,   // the single term whose condition holds; combines as the integer sum of bit patterns
  kOpaque  // a function of whole slices computes the result (opsemantics/definition/opaque.h)
};

inline constexpr Reducer kReducers[] = {Reducer::kNone, Reducer::kSum,    Reducer::kProd,
                                        Reducer::kMax,  Reducer::kMin,    Reducer::kAny,
                                        Reducer::kAll,  Reducer::kArgMax, Reducer::kArgMin,
                                        Reducer::kPick, Reducer::kOpaque};

// As the language writes it: "sum", "argmax"; "none" for kNone.
constexpr const char* Name(Reducer reducer) {
  switch (reducer) {
    case Reducer::kNone: return "none";
    case Reducer::kSum: return "sum";
    case Reducer::kProd: return "prod";
    case Reducer::kMax: return "max";
    case Reducer::kMin: return "min";
    case Reducer::kAny: return "any";
    case Reducer::kAll: return "all";
    case Reducer::kArgMax: return "argmax";
    case Reducer::kArgMin: return "argmin";
    case Reducer::kPick: return "pick";
    case Reducer::kOpaque: return "opaque";
  }
  return "";
}

// The index of an extreme value instead of the value.
constexpr bool IsArgReducer(Reducer reducer) {
  return reducer == Reducer::kArgMax || reducer == Reducer::kArgMin;
}

// Whether results of parts of a reduction can be combined into the result of all of it: not of what
// is no reduction, of argmax and argmin, whose results have forgotten the values, or of an opaque
// function.
constexpr bool MayHavePartials(Reducer reducer) {
  return reducer != Reducer::kNone && !IsArgReducer(reducer) && reducer != Reducer::kOpaque;
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_REDUCER_H_
