// What of a program's parameters a later run needs: states, which steps change, and what no step
// changes but a checkpoint holds all the same.
#ifndef YUBA_TOOLS_RUN_CHECKPOINT_PROGRAM_STATES_H_
#define YUBA_TOOLS_RUN_CHECKPOINT_PROGRAM_STATES_H_

#include <map>
#include <set>
#include <string>

#include "runtime/program/program.h"
#include "tools/run/checkpoint/run_facts.h"
#include "tools/run/run_ports.h"

namespace yuba::tools {

// Parameters by name, of a program that outlives them.
using Parameters = std::map<std::string, const program::Initializer*>;

// Whether steps of the program change anything that it keeps.
bool HasStates(const runtime::LoadedProgram& program);

// The parameters that instructions write and a later step reads, and the seed of what steps draw.
Parameters States(const runtime::LoadedProgram& program);

// What no step changes and a later run needs all the same: frozen weights, and what this run was
// given in the place of the program's values (`replaced`), such as statistics that were trained
// elsewhere. The learning rate is none of it.
Parameters Unchanged(const runtime::LoadedProgram& program, const std::set<std::string>& replaced);

// Type and shape as the user knows them.
PortType TypeOf(const runtime::LoadedProgram& program, const program::Port& port);

// Which weights are frozen and tied.
void AddFacts(const runtime::LoadedProgram& program, RunFacts& facts);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_CHECKPOINT_PROGRAM_STATES_H_
