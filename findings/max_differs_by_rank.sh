#!/usr/bin/env bash
# MPICH 4.0.2 and Open MPI 4.1.4 (Debian 12: mpich, libmpich-dev, openmpi-bin, libopenmpi-dev),
# MPI_Allreduce with MPI_MAX of one float of each of four ranks, one of them a NaN.
# One would guess: the NaN or the greatest number, as the library likes, and the same on all ranks.
# Seen: MPICH's ranks get up to four results, NaN, 3, 2 and 3, and by MPI_MAXLOC up to three places.
# Open MPI's agree, but may have neither: of 1, 2, NaN and 4 it says 2.
# Why it matters: ranks that clip, skip a step or stop by such a maximum part ways, and then wait for
# one another.
set -euo pipefail
for program in mpicc.mpich mpiexec.hydra mpicc.openmpi mpirun.openmpi; do
  command -v "$program" > /dev/null || { echo "$program is missing" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/max.c" <<'CODE'
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, length;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Get_library_version(version, &length);
  version[strcspn(version, "\n,")] = 0;
  if (rank == 0) fprintf(stderr, "%s, rank of the NaN: maximum at each rank | place at each\n", version);
  for (int bad = 0; bad < ranks; ++bad) {
    struct { float value; int place; } mine = {bad == rank ? NAN : rank + 1, rank}, best;
    float most, all[8];
    int places[8];
    MPI_Allreduce(&mine.value, &most, 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &best, 1, MPI_FLOAT_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    MPI_Gather(&most, 1, MPI_FLOAT, all, 1, MPI_FLOAT, 0, MPI_COMM_WORLD);
    MPI_Gather(&best.place, 1, MPI_INT, places, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank != 0) continue;
    printf("%d:", bad);
    for (int i = 0; i < ranks; ++i) isnan(all[i]) ? printf(" NaN") : printf(" %.0f", all[i]);
    printf(" |");
    for (int i = 0; i < ranks; ++i) printf(" %d", places[i]);
    printf("\n");
  }
  MPI_Finalize();
}
CODE
mpicc.mpich "$work/max.c" -o "$work/mpich" -lm
mpicc.openmpi "$work/max.c" -o "$work/openmpi" -lm
mpich=$(mpiexec.hydra -iface lo -n 4 "$work/mpich" < /dev/null)
echo "$mpich"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
openmpi=$(mpirun.openmpi -n 4 "$work/openmpi" < /dev/null)
echo "$openmpi"
[[ $mpich == "0: 4 4 4 NaN | 0 3 3 3
1: 4 4 NaN 4 | 3 1 3 3
2: 4 NaN 4 2 | 1 3 2 3
3: NaN 3 2 3 | 2 1 2 3" && $openmpi == "0: NaN NaN NaN NaN | 3 3 3 3
1: 4 4 4 4 | 3 3 3 3
2: 2 2 2 2 | 3 3 3 3
3: 3 3 3 3 | 3 3 3 3" ]]
