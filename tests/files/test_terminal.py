# SPDX-License-Identifier: Apache-2.0
"""What people read fits 80 columns, shows progress, and has colour only on a terminal. A pipe gets one line per row, and output
for programs is the same as before."""
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import tempfile
import termios
import unittest

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
# In this order, because later commands read what earlier ones wrote. (words, exit status)
COMMANDS = [
    ("list variants", 0), ("list tasks", 0), ("list claims", 0), ("list variants delta_net", 0), ("list tasks recall", 0),
    ("list claims snr_exp", 0), ("plan --variants all --tasks all", 0),
    ("run --variants linear,delta_net,ffn_swiglu,scalar_gated_delta --tasks all --seeds 2 -o r.h5", 0),
    ("run --variants softmax,mesa --tasks recall --tune --seeds 2 --set n=4,8 -o rt.h5", 0),
    ("plan --variants all --tasks recall --set n=8:64:*2 --tune", 0),
    ("run --state-bytes 1K --variants linear,delta_net,scalar_gated_delta --set n=8 --set memories=4", 0),
    ("run --compare linear,delta_net --tasks recall --set n=4,8 --metric all", 0),
    ("verify snr_linear snr_relu --point n=4:8:+4,d=16", 0), ("explain VLA Prop 2", 0), ("explain gradient", 0), ("explain 003", 0),
    ("list claims --paper 004 --verdict refuted --scope paper", 0), ("help run", 0),
    ("verify snr_exp vla-cor* deltanet_converges_gaussian -o v.h5", 0), ("verify snr_linear --points -o w.h5", 0),
    ("train --set mixer=softmax,vla --set width=8 --set steps=5 --set heads=2 --seeds 2 -o t.h5", 0),
    ("bench --variants delta_net --sweep T=64:256:*2 --shape 1,1,64,8,8 --min-time 0.001 --max-time 0.5 -o b.h5", 0),
    ("info", 0), ("info r.h5", 0), ("info v.h5", 0), ("info t.h5", 0), ("info b.h5", 0),
    ("explain delta_net", 0), ("explain snr_exp", 0), ("explain recall", 0), ("explain vla_nokhat_overflow", 0),
    ("sample delta_net --shape 1,2,24,8,8 -o in.h5", 0), ("forward delta_net -i in.h5 -o o.h5", 0),
    ("check delta_net -i in.h5 -c o.h5 --dtype f32", 0), ("check delta_net -i in.h5 -c wrong.h5 --dtype f32", 1),
    ("check --self linear --quick", 0), ("diff r.h5 rt.h5", 0), ("diff v.h5 w.h5", 0),
]  # fmt: skip


class Terminal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.plain = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def said(self, words, status=0, **environment):
        command = [PROGRAM, *words.split()]
        done = subprocess.run(command, cwd=self.folder.name, env={**self.plain, **environment}, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, words + "\n" + done.stdout[-1000:] + done.stderr)
        return done.stdout

    def on_a_terminal(self, words, status=0, columns=80, program=PROGRAM, **environment):
        """What remains on a terminal after the command, including progress."""
        controller, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([program, *words.split()], cwd=self.folder.name, env={**self.plain, **environment},
                                   stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal)  # fmt: skip
        os.close(terminal)
        text = b""
        try:
            while some := os.read(controller, 65536):
                text += some
        except OSError:  # the other end was closed
            pass
        os.close(controller)
        self.assertEqual(process.wait(), status, words + text.decode())
        return text.decode().replace("\r\n", "\n")

    def fits(self, text, words, columns=80):
        for line in text.splitlines():
            if not line.startswith("recollect check "):  # a command to be copied stays on one line
                self.assertLessEqual(len(line), columns, f"{words}: {line}")

    def test_80_columns(self):
        self.said("sample delta_net --shape 1,2,24,8,8 --seed 2 -o other.h5")
        self.said("forward delta_net -i other.h5 -o wrong.h5")
        for words, status in COMMANDS:
            text = self.said(words, status, COLUMNS="80")
            self.fits(text, words)
            self.assertTrue(text or words.split()[0] in ("sample", "forward"), words)

    def test_help(self):
        text = self.said("--help", COLUMNS="80")
        self.fits(text, "--help")
        names = [line.split()[0] for line in text.split("Subcommands:\n")[1].splitlines() if line[:2] == "  " != line[2:4] and line[2] != " "]
        self.assertGreater(len(names), 12)
        for name in names:
            text = self.said(name + " --help", COLUMNS="80")
            self.fits(text, name)
            self.assertRegex(" ".join(text.split()), rf"Example: recollect {name}( |$)")

    def test_a_terminal_is_asked_for_its_width(self):
        text = self.on_a_terminal("list tasks", columns=66)
        self.fits(text, "on a terminal", 66)
        self.assertGreater(len(text), 2000)

    def test_a_terminal_without_a_width_gets_one_line_per_row(self):
        """mpirun gives a program such a terminal, also where its own output goes to a file."""
        self.assertEqual(self.on_a_terminal("list tasks", columns=0), self.said("list tasks"))

    def test_progress(self):
        """[i/N] name, remaining time: rewritten in place on a terminal, one line every ten seconds in a pipe, nothing with
        --quiet."""
        for words, name in (
            ("run --variants linear,softmax,scalar_gated_delta --tasks long_mqar --seeds 3 -o p.h5", "long_mqar"),
            ("verify snr_linear snr_exp -o q.h5", "snr_exp"),
            ("bench --variants linear,softmax --shape 1,1,64,8,8 --min-time 0 --max-time 0.5", "softmax/"),
            ("report p.h5 q.h5 -o page", "figures"),
            ("train --set mixer=linear --set width=8 --set heads=2 --set batch=4 --set steps=60 --set every=10 -o m.h5", " seed 1, loss "),
        ):
            text = self.on_a_terminal(words, columns=60)
            told = re.findall(r"\r\033\[K(\[\d+/\d+\] [^\r\n]+)", text)
            self.assertTrue(any(re.search(r"\d+:\d\d remaining$", line) for line in told), (words, text[-2000:]))
            self.assertTrue(all(len(line) < 60 for line in told), told)
            self.assertTrue(any(name in line for line in told), (name, told))
            piped = subprocess.run([PROGRAM, *words.split()], cwd=self.folder.name, env=self.plain, capture_output=True, text=True)
            self.assertEqual(piped.returncode, 0, words)
            # warnings of load, and the measurement of the machine's ceilings
            other = r"|warning: .*\n|measuring .*\n" if words.startswith("bench") else ""
            self.assertRegex(piped.stderr, rf"\A(\[\d+/\d+\] .*\d:\d\d (remaining|so far)\n|recollect \w+, \d+:\d\d so far\n{other})*\Z")
            if not words.startswith("bench"):  # it prints nothing but its lines
                quiet = self.on_a_terminal(words + " --quiet")
                self.assertNotIn("remaining", quiet)
                self.assertLessEqual(len(quiet.splitlines()), 1, quiet)

    def test_failures_are_red_on_a_terminal_alone(self):
        wrong = os.path.join(os.path.dirname(PROGRAM), "recollect_wrong")  # a build in which one layer has a wrong sign
        words = "verify chunk-equals-recurrent"
        self.assertIn("\033[1;31mFAILED\033[0m", self.on_a_terminal(words, 1, program=wrong))
        for text in (self.on_a_terminal(words, 1, program=wrong, NO_COLOR="1"),
                     subprocess.run([wrong, *words.split()], capture_output=True, text=True, env=self.plain).stdout):  # fmt: skip
            self.assertIn("FAILED", text)
            self.assertNotRegex(text, r"\033\[[\d;]*m")
        self.assertNotRegex(self.on_a_terminal("verify snr_linear"), r"\033\[[\d;]*m")

    def test_a_pipe_has_one_line_a_row(self):
        rows = json.loads(self.said("list variants --json"))
        self.assertEqual(len(self.said("list variants").splitlines()), len(rows) + 1)
        self.assertGreater(max(map(len, self.said("info").splitlines())), 80)

    def test_a_parent_that_ignores_sigchld_hides_no_failure(self):
        self.said("run --variants linear --tasks recall -o h.h5")
        done = subprocess.run([PROGRAM, "report", "h.h5", "-o", "/dev/null/page"], cwd=self.folder.name, env=self.plain,
                              capture_output=True, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))  # fmt: skip
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_what_programs_read_is_not_folded(self):
        self.said("verify snr_linear -o a.h5")
        clock = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")  # the two commands may start in different seconds
        for words in ("list claims --json", "plan --variants linear --tasks all --json", "info --json", "diff a.h5 a.h5 --format md"):
            self.assertEqual(clock.sub("now", self.said(words, COLUMNS="40")), clock.sub("now", self.said(words)), words)


if __name__ == "__main__":
    unittest.main()
