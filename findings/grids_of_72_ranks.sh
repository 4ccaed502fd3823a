#!/usr/bin/env bash
# Open MPI 4.1.4 and MPICH 4.0.2 (Debian 12: openmpi-bin, libopenmpi-dev, mpich, libmpich-dev),
# MPI_Dims_create, which makes sizes of a grid of ranks "as close to each other as possible".
# One would guess: one answer, 9 x 8 for 72 ranks, as the standard leaves little to choose.
# Seen: Open MPI says 12 x 6, and 18 x 10 for 180, 20 x 12 for 240 and 24 x 12 for 288. For all other
# numbers up to 300, in two and three dimensions, both give the closest sizes.
# Why it matters: a program that takes its mesh from this call has other pieces, other messages and
# another order of sums on 72 or 288 ranks once it is linked with the other library.
set -euo pipefail
for program in mpicc.mpich mpiexec.hydra mpicc.openmpi mpirun.openmpi; do
  command -v "$program" > /dev/null || { echo "$program is missing" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/grids.c" <<'CODE'
#include <mpi.h>
#include <stdio.h>
#include <string.h>

// The distance between the largest and the smallest of the closest sizes.
static int closest(int ranks, int dimensions, int least) {
  if (dimensions == 1) return ranks;
  int best = 0;
  for (int size = least; size <= ranks; ++size) {
    if (ranks % size != 0) continue;
    int rest = closest(ranks / size, dimensions - 1, size);
    if (rest >= size && (best == 0 || rest < best)) best = rest;
  }
  return best;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int length;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Get_library_version(version, &length);
  version[strcspn(version, "\n,")] = 0;
  fprintf(stderr, "%s: sizes that are not the closest\n", version);
  for (int ranks = 1; ranks <= 300; ++ranks) {
    for (int dimensions = 2; dimensions <= 3; ++dimensions) {
      int sizes[3] = {0, 0, 0};
      MPI_Dims_create(ranks, dimensions, sizes);
      int best = ranks;  // the least distance, over all smallest sizes
      for (int least = 1; least <= ranks; ++least) {
        if (ranks % least != 0) continue;
        int most = closest(ranks / least, dimensions - 1, least);
        if (most >= least && most - least < best) best = most - least;
      }
      if (sizes[0] - sizes[dimensions - 1] == best) continue;
      printf("%d: %d x %d", ranks, sizes[0], sizes[1]);
      if (dimensions == 3) printf(" x %d", sizes[2]);
      printf("\n");
    }
  }
  MPI_Finalize();
}
CODE
mpicc.mpich -O2 "$work/grids.c" -o "$work/mpich"
mpicc.openmpi -O2 "$work/grids.c" -o "$work/openmpi"
mpich=$(mpiexec.hydra -iface lo -n 1 "$work/mpich" < /dev/null)
echo "${mpich:-none}"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
openmpi=$(mpirun.openmpi -n 1 "$work/openmpi" < /dev/null)
echo "$openmpi"
expected=$'72: 12 x 6\n180: 18 x 10\n240: 20 x 12\n288: 24 x 12'
[[ -z $mpich && $openmpi == "$expected" ]]
