#!/usr/bin/env bash
# One matrix over the nodes of a cluster, without MPI: a part a task of a Slurm array, then one task that joins them.
#
#   sbatch --array=1-8 examples/ci/slurm_array.sh results     # eight parts; a part that is requeued completes what it had
#   sbatch --dependency=afterok:JOB examples/ci/slurm_array.sh results --merge
#
# On a machine without Slurm, in two terminals:
#   SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=2 examples/ci/slurm_array.sh results       (and with ..._ID=2)
#   examples/ci/slurm_array.sh results --merge
#SBATCH --cpus-per-task=8
#SBATCH --requeue
set -euo pipefail
folder=$1
recollect=${RECOLLECT:-recollect}
options=(--variants "${VARIANTS:-all}" --tasks "${TASKS:-all}" --seeds "${SEEDS:-1}")
mkdir -p "$folder"
if [[ ${2:-} == --merge ]]; then
  "$recollect" merge "$folder"/part-*.h5 -o "$folder/results.h5"
  exit
fi
part=$SLURM_ARRAY_TASK_ID parts=$SLURM_ARRAY_TASK_COUNT
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1} # the same on every part: results are then equal bit for bit
"$recollect" run "${options[@]}" --shard "$part/$parts" -o "$folder/part-$part.h5" --resume
