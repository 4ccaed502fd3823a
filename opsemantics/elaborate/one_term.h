// Whether the conditions of a reduction leave one term: what `pick` needs.
#ifndef YUBA_OPSEMANTICS_ELABORATE_ONE_TERM_H_
#define YUBA_OPSEMANTICS_ELABORATE_ONE_TERM_H_

#include "opsemantics/elaborate/instance_builder.h"

namespace yuba {

// Whether more than one term may meet the conditions of the reduction, whose variables are of
// `builder`. A condition on indices fixes what it names where it is an equality, or where two
// inequalities bound it, as those of a window do. `r == at[i]` fixes r where i is fixed or not
// reduced; it does not fix i, as equal integers may be read at several values of i. Example: of
// pick(r: n where r == at[i]) no, of pick(i: m where r == at[i]) yes.
bool MayTakeSeveral(const Reduction& reduction, const InstanceBuilder& builder);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_ONE_TERM_H_
