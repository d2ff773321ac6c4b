# SPDX-License-Identifier: Apache-2.0
r"""Accuracy of the last read against the number of stored pairs per key channel, from a results file:

    recollect run --variants linear,delta_net,rls,softmax --tasks recall --tune \
      --set d=16 --set dv=16 --set n=2:64:*2 -o load.h5
    PYTHONPATH=… python3 accuracy_by_load.py load.h5 load.svg"""
import sys

import matplotlib.pyplot as plt
import recollect

runs = recollect.load(sys.argv[1]).runs.query("metric == 'accuracy' and setting != 'trial'")
runs["load"] = runs["task.n"] / runs["task.d"]
figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
for layer, of_layer in runs.groupby("variant"):
    mean = of_layer.groupby("load")["value"].agg(["mean", "sem"])
    axes.errorbar(mean.index, mean["mean"], yerr=mean["sem"], marker="o", capsize=2, label=layer)
axes.set(xscale="log", xlabel="pairs stored / key width", ylabel="accuracy")
axes.legend(frameon=False)
figure.savefig(sys.argv[2])
