# SPDX-License-Identifier: Apache-2.0
"""Several processes on one plan: ranks of mpirun, one of which may die, and shards without MPI."""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import at_call
import h5py

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAM = os.environ["RECOLLECT_PROGRAM"]
TABLES = ("plan", "parameters", "records", "metrics", "series/mse_by_step")
PLAN = ("--variants", "linear,delta_net,softmax", "--tasks", "recall,copy,mqar,overwrite", "--seeds", "6", "-v")
facts = subprocess.run([PROGRAM, "info"], capture_output=True, text=True).stdout
has_mpi = re.search(r"^mpi +(?!none$)", facts, re.M) and shutil.which("mpirun")


def rows(path, table):
    with h5py.File(path, locking=False) as f:  # a rank may hold a lock on it
        return [tuple(x.tobytes() if hasattr(x, "tobytes") else x for x in row) for row in f[table][:]]


class Processes(unittest.TestCase):
    """One thread each; one process has three and gives the same bits."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = dict(os.environ, OMP_NUM_THREADS="1", RECOLLECT=PROGRAM)

    def path(self, name):
        return str(self.folder / name)

    def call(self, *words, status=0, **options):
        """Asserts the exit status and returns the output."""
        done = subprocess.run(words, capture_output=True, text=True, env=dict(self.environment, **options))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def same(self, one, other, tables=TABLES):
        for table in tables:
            self.assertEqual(rows(one, table), rows(other, table), table)


@unittest.skipUnless(has_mpi, "no mpirun, or a program without MPI")
class Ranks(Processes):
    def mpirun(self, ranks):
        return ("mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), PROGRAM)

    def said(self, *words):
        """The output of all ranks, joined, because mpirun breaks lines anywhere."""
        *start, program = words[: words.index(PROGRAM) + 1]
        script = ["sh", "-c", 'exec "$0" "$@" >"$SAID.$$"', program] if start else [program]
        with tempfile.TemporaryDirectory() as folder:
            done = self.call(*start, *script, *words[len(start) + 1 :], SAID=os.path.join(folder, "said"))
            return done.stdout + "".join(path.read_text() for path in pathlib.Path(folder).iterdir())

    def of_rank(self, rank, ranks, words, **told):
        """Runs the ranks, one of which has the faults (tests/fixtures/faults.c) that `told` asks for."""
        script = f'[ "$OMPI_COMM_WORLD_RANK" != {rank} ] || export LD_PRELOAD="$SHIM"; exec "$0" "$@"'
        *start, program = self.mpirun(ranks)
        return subprocess.run([*start, "sh", "-c", script, program, *words], capture_output=True, text=True, timeout=300,
                              env=dict(self.environment, SHIM=at_call.SHIM, **told))  # fmt: skip

    def killed(self, *words, at, kind="fsync", rank=1, ranks=3):
        """Kills one rank right before its call number `at` of a kind."""
        done = self.of_rank(rank, ranks, words, FAULT_KIND=kind, FAULT_AT=str(at), FAULT_SIGNAL=str(int(signal.SIGKILL)))
        self.assertIn("signal 9", done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def whole(self):
        self.call(PROGRAM, "run", *PLAN, "-o", self.path("whole.h5"), OMP_NUM_THREADS="3")
        return self.path("whole.h5")

    def test_three_ranks_give_what_one_process_gives(self):
        out = self.path("r.h5")
        said = self.said(*self.mpirun(3), "run", *PLAN, "-o", out)
        self.assertIn("72 ok, 0 meaningless, 0 failed\n", said)
        self.assertEqual(len(re.findall(r" s\)$", said, re.M)), 72)
        self.same(out, self.whole())
        self.assertEqual(sorted(os.listdir(self.folder)), ["r.h5", "whole.h5"])

    def test_a_killed_rank_costs_its_case(self):
        whole = self.whole()
        for resumed_by, at, least in ((self.mpirun(2), 4, 1), ((PROGRAM,), 4, 1), (self.mpirun(4), 2, 0)):
            out = self.path("r.h5")
            # writing its empty file takes two calls, the next file two more
            self.killed("run", *PLAN, "-o", out, at=at)
            self.assertFalse(os.path.exists(out))
            kept = sum(len(rows(p, "records")) for p in self.folder.glob("r.h5*partial"))
            # 72 if the other ranks saved their results while it was about to
            self.assertTrue(least <= kept <= 72, kept)
            self.call(PROGRAM, "run", *PLAN, "-o", out, status=3)  # requires --resume
            said = self.said(*resumed_by, "run", *PLAN, "-o", out, "--resume")
            self.assertEqual(len(re.findall(r" s\)$", said, re.M)), 72 - kept)
            self.same(out, whole)
            self.assertEqual(sorted(os.listdir(self.folder)), ["r.h5", "whole.h5"])
            os.remove(out)

    def test_a_rank_killed_at_a_call_of_mpi(self):
        """Kills one of five ranks: rank 0, which holds the counter and joins the files, or rank 3. RECOLLECT_MPI_KILLS=1000 does so
        at every call. The other ranks end, nothing recorded is lost, and the resumed run equals that of one process."""
        whole, most = self.whole(), int(os.environ.get("RECOLLECT_MPI_KILLS", "2"))
        by_kill = {"FAULT_SIGNAL": str(int(signal.SIGKILL))}
        for rank in 0, 3:
            out, counted = self.path("r.h5"), self.path("count")
            done = self.of_rank(rank, 5, ("run", *PLAN, "-o", out), FAULT_KIND="mpi", FAULT_AT="0", FAULT_COUNT=counted)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(counted) as f:
                calls = int(f.read())
            os.remove(counted), os.remove(out)
            killed = 0
            for at in sorted(random.Random(rank).sample(range(1, calls + 1), min(most, calls))):
                with self.subTest(rank=rank, at=at):
                    done = self.of_rank(rank, 5, ("run", *PLAN, "-o", out), FAULT_KIND="mpi", FAULT_AT=str(at), **by_kill)
                    if done.returncode != 0:
                        killed += 1
                        self.assertIn("signal 9", done.stderr)
                        self.call(PROGRAM, "run", *PLAN, "-o", out, "--resume")
                    self.same(out, whole)  # not killed: this time it drew fewer cases, hence made fewer calls
                    self.assertEqual(sorted(os.listdir(self.folder)), ["r.h5", "whole.h5"])
                    os.remove(out)
            self.assertGreater(killed, 0)

    def test_who_is_done_keeps_its_cases_while_others_go_on(self):
        words = ("run", "--variants", "softmax", "--tasks", "recall", "--form", "recurrent", "--seeds", "1", "--set",
                 "n=1500,8,16", "-o", self.path("r.h5"))  # fmt: skip
        with subprocess.Popen([*self.mpirun(3), *words], env=self.environment, stdout=subprocess.DEVNULL) as run:
            kept = 0
            while kept == 0 and run.poll() is None:  # the first case takes seconds: its rank has no other result yet
                time.sleep(0.05)
                for path in self.folder.glob("r.h5.rank-*.partial"):
                    try:
                        kept += len(rows(path, "records"))
                    except OSError:  # the file is being replaced
                        pass
            run.terminate()
        self.assertGreater(kept, 0)
        self.assertFalse(os.path.exists(self.path("r.h5")))

    def test_ranks_share_trainings(self):
        """A killed rank only loses the steps of its model since its state was last saved."""
        train = ("train", "--set", "mixer=linear,none", "--set", "width=8", "--set", "heads=2", "--set", "ffn=8", "--set",
                 "vocabulary=8", "--set", "pairs=1,2", "--set", "steps=20", "--seeds", "3")  # fmt: skip
        whole, out = self.path("whole.h5"), self.path("t.h5")
        alone = self.call(PROGRAM, *train, "-o", whole).stdout.splitlines()
        for killed, ranks in ((False, 3), (True, 2)):
            if killed:
                self.killed(*train, "-o", out, at=4)
            said = self.said(*self.mpirun(ranks), *train, "-o", out, *["--resume"][:killed]).splitlines()
            self.assertEqual([line for line in said if "over" in line], alone[-4:])
            self.same(out, whole, ("training_plan", "training_parameters", "training_curves"))
            with h5py.File(out) as one, h5py.File(whole) as other:
                for column in ("run", "status", "loss", "accuracy"):
                    self.assertEqual(one["trained"][column].tolist(), other["trained"][column].tolist())
            self.assertEqual(sorted(os.listdir(self.folder)), ["t.h5", "whole.h5"])
            os.remove(out)

    def test_ranks_share_a_suite(self):
        """The longest claims first; the findings are in the plan's order."""
        claims = ("verify", "eq97-matrix-form", "chunk-equals-recurrent", "theorem*", "mqar-p128-linear-fails")
        one = self.call(PROGRAM, *claims, "-o", self.path("one.h5"), "--json", self.path("one.json"))
        two = self.call(*self.mpirun(2), *claims, "-o", self.path("two.h5"), "--json", self.path("two.json"))
        self.assertEqual(one.stdout.splitlines()[-1], two.stdout.splitlines()[-1])
        self.same(self.path("one.h5"), self.path("two.h5"), ("claim_plan", "claims", "claim_parameters"))

    def test_ranks_share_a_bench(self):
        cases = ("bench", "--variants", "linear,softmax,delta_net", "--shape", "1,1,64,8,8", "--min-time", "0",
                 "--max-time", "0")  # fmt: skip
        self.call(*self.mpirun(2), *cases, "-o", self.path("b.h5"))
        names = [row["name"] for row in h5py.File(self.path("b.h5"))["bench"][:]]
        plain = self.call(PROGRAM, *cases, "-o", self.path("c.h5"))
        self.assertEqual(names, [row["name"] for row in h5py.File(self.path("c.h5"))["bench"][:]], plain.stdout)

    def test_one_sequence_is_cut_along_its_steps(self):
        """Compared with the definition up to rounding; bitwise the same if the state is only passed on."""
        scanned, chained = ("linear", "gated_delta_net", "lru"), ("mamba", "titans", "mlstm", "mesa")
        source, out, whole = self.path("in.h5"), self.path("out.h5"), self.path("whole.h5")
        for name, ranks in zip(scanned + chained, (2, 3, 3, 2, 3, 2, 3)):
            self.call(PROGRAM, "sample", name, "--shape", "2,3,150,6,5", "-o", source)
            form = ("--form", "recurrent" if name == "titans" else "chunked", "--chunk", "16")
            for carry in ("scan", "chain") if name in scanned else ("auto",):
                self.call(*self.mpirun(ranks), "forward", name, "-i", source, "-o", out, *form, "--ranks-along", "T",
                          "--carry", carry)  # fmt: skip
                self.call(PROGRAM, "check", name, "-i", source, "-c", out)
            self.call(PROGRAM, "forward", name, "-i", source, "-o", whole, "--form", "recurrent")
            self.call(*self.mpirun(ranks), "forward", name, "-i", source, "-o", out, "--form", "recurrent",
                      "--ranks-along", "T", "--carry", "chain")  # fmt: skip
            with h5py.File(out) as f, h5py.File(whole) as g:
                self.assertEqual(f["o"][:].tobytes(), g["o"][:].tobytes(), name)
                self.assertEqual(f["state"][:].tobytes(), g["state"][:].tobytes(), name)

    def test_every_layer_with_a_state_can_be_cut(self):
        """Over three ranks with different shares: the fast form, or the definition if that form is another layer."""
        source, out, cut = self.path("in.h5"), self.path("out.h5"), 0
        for layer in json.loads(self.call(PROGRAM, "list", "variants", "--json").stdout):
            if not layer["state"]["rows"]:
                continue
            fast = layer["forms"][:2][-1]
            form = fast["name"] if fast["exact"] else "recurrent"
            self.call(PROGRAM, "sample", layer["name"], "--shape", "1,3,17,4,3", "-o", source)
            self.call(*self.mpirun(3), "forward", layer["name"], "-i", source, "-o", out, "--form", form, "--chunk", "4",
                      "--ranks-along", "T")  # fmt: skip
            self.call(PROGRAM, "check", layer["name"], "-i", source, "-c", out)
            cut += 1
        self.assertGreater(cut, 30)

    def test_what_cannot_be_cut_is_refused(self):
        source, out = self.path("in.h5"), self.path("out.h5")
        for name, length, status, message in (("softmax", 20, 2, "keeps no state"), ("linear", 2, 3, "needs at least one step per rank")):
            self.call(PROGRAM, "sample", name, "--shape", f"1,1,{length},4,4", "-o", source)
            done = self.call(*self.mpirun(3), "forward", name, "-i", source, "-o", out, "--ranks-along", "T", status=status)
            self.assertIn(message, done.stderr)
            self.assertFalse(os.path.exists(out))

    def test_a_bench_of_one_sequence_over_ranks(self):
        self.call(*self.mpirun(3), "bench", "--variants", "delta_net,mamba,softmax", "--shape", "1,2,500,8,8", "--min-time",
                  "0", "--max-time", "0", "--ranks-along", "T", "-o", self.path("b.h5"))  # fmt: skip
        with h5py.File(self.path("b.h5")) as f:
            found = {row["name"].decode(): (row["status"].decode(), row["reason"].decode()) for row in f["bench"][:]}
        self.assertEqual(sorted(status for status, _ in found.values()), ["ok", "ok", "skipped"], found)
        self.assertTrue(all(name.endswith("/ranks_along_T:3") for name in found), found)
        for name, (_, reason) in found.items():  # delta_net is scanned, mamba goes from rank to rank
            self.assertEqual("the exchange of maps alone takes" in reason, name.startswith("delta_net"), (name, reason))

    def test_an_error_ends_all_ranks(self):
        done = subprocess.run([*self.mpirun(3), "run", *PLAN, "-o", self.path("no/such/r.h5")], capture_output=True, text=True,
                              env=self.environment)  # fmt: skip
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is missing or not writable", done.stderr)
        done = subprocess.run([*self.mpirun(2), "run", "--variants", "nobody"], capture_output=True, text=True,
                              env=self.environment)  # fmt: skip
        self.assertEqual((done.returncode, done.stderr.count("no variant matches")), (2, 1))


class Shards(Processes):
    def test_the_slurm_example(self):
        out, script = self.path("results"), str(ROOT / "examples/ci/slurm_array.sh")
        plan = dict(VARIANTS="linear,delta_net,softmax", TASKS="recall,copy,mqar,overwrite", SEEDS="6")
        parts = [subprocess.Popen([script, out], stdout=subprocess.DEVNULL, env=dict(
            self.environment, SLURM_ARRAY_TASK_ID=str(i), SLURM_ARRAY_TASK_COUNT="2", SLURM_CPUS_PER_TASK="1", **plan))
            for i in (1, 2)]  # fmt: skip
        self.assertEqual([part.wait() for part in parts], [0, 0])
        self.call(script, out, "--merge", **plan)
        self.call(PROGRAM, "run", *PLAN, "-o", self.path("whole.h5"))
        self.same(out + "/results.h5", self.path("whole.h5"))

    def test_the_github_example(self):
        text = (ROOT / "examples/ci/github_matrix.yml").read_text()
        commands = [c.replace("build/recollect", f"'{PROGRAM}'") for c in re.findall(r"run: (build/recollect .*)", text)]
        self.assertEqual(len(commands), 3)
        for part in re.search(r"part: \[(.*)\]", text)[1].split(", "):
            small = commands[0].replace("--variants all --tasks all", "--variants linear --tasks all")
            self.call("sh", "-c", f"cd '{self.folder}' && " + small.replace("${{ matrix.part }}", part))
        for command in commands[1:]:
            self.call("sh", "-c", f"cd '{self.folder}' && {command}")
        self.assertTrue((self.folder / "page/index.html").exists())
        self.call(PROGRAM, "info", self.path("results.h5"))


if __name__ == "__main__":
    unittest.main()
