"""What the trainings promise, tried with real PyTorch: `cargo xtask trainings` runs this in the trainer image, without a network.

Every training here is short (some dozens of steps): what is compared is the fingerprint of all parameters, not how good they are.
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent.parent
MODELS = ["chiffres", "poete", "cinema"]
SMALL = ["--pas", "24", "--lot", "16", "--journal", "4", "--tous-les", "8"]


def command(model, *options):
    return [sys.executable, str(HERE / f"{model}.py"), *SMALL, *map(str, options)]


def train(model, *options, **environment):
    done = subprocess.run(command(model, *options), capture_output=True, text=True, env={**os.environ, **environment})
    return done.returncode, done.stdout + done.stderr


def start(model, *options, **environment):
    return subprocess.Popen(command(model, *options), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment})


def read_until(process, word):
    """Reads lines until one holds `word`; the training is then known to be that far."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if word in line:
            return "".join(lines)
    raise AssertionError(f"{word!r} never came:\n{''.join(lines)}")


class Trainings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def result(self, model, name, *options, **environment):
        """Runs to the end and answers what was written about it."""
        file = self.folder / f"{name}.json"
        status, output = train(model, "--resultat", file, *options, **environment)
        self.assertEqual(status, 0, output)
        return json.loads(file.read_text()), output

    def points(self, name="points"):
        return sorted(path.name for path in (self.folder / name).glob("point-*.pt"))

    def test_a_training_that_was_interrupted_ends_with_the_same_parameters(self):
        for model in MODELS:
            with self.subTest(model):
                whole, _ = self.result(model, f"{model}-whole")
                points = self.folder / model
                # Stopped after its first checkpoint, at a step that is not a multiple of the interval.
                process = start(model, "--points", points, "--attente-donnees", "0.2")
                read_until(process, "checkpoint) pas=8")
                process.send_signal(signal.SIGTERM)
                rest = process.stdout.read()
                self.assertEqual(process.wait(), 143, rest)
                self.assertIn("SIGTERM", rest)
                resumed, output = self.result(model, f"{model}-resumed", "--points", points)
                self.assertGreaterEqual(resumed["depart"], 8, output)
                self.assertLess(resumed["depart"], 24, output)
                self.assertEqual(resumed["empreinte"], whole["empreinte"])

    def test_one_that_was_killed_loses_no_more_than_the_steps_since_its_last_checkpoint(self):
        points = self.folder / "points"
        process = start("cinema", "--points", points, "--attente-donnees", "0.2")
        read_until(process, "checkpoint) pas=8")
        process.kill()
        process.stdout.close()
        process.wait()
        whole, _ = self.result("cinema", "whole")
        resumed, output = self.result("cinema", "resumed", "--points", points)
        self.assertIn(resumed["depart"], (8, 16), output)
        self.assertEqual(resumed["empreinte"], whole["empreinte"])

    def test_without_checkpoints_it_starts_over(self):
        process = start("cinema", "--attente-donnees", "0.2")
        read_until(process, "pas=4/24")
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
        self.assertEqual(process.wait(), 143)
        again, output = self.result("cinema", "again")
        self.assertEqual(again["depart"], 0)
        self.assertIn("commence au pas 0", output)

    def test_sigterm_is_answered_within_the_step(self):
        process = start("chiffres", "--points", self.folder / "points", "--attente-donnees", "0.2")
        read_until(process, "pas=4/24")
        process.send_signal(signal.SIGTERM)
        asked = time.monotonic()
        process.stdout.read()
        process.wait()
        # Kubernetes waits thirty seconds; a step takes a fraction of one.
        self.assertLess(time.monotonic() - asked, 25)
        self.assertEqual(len(self.points()), 1)

    def test_a_truncated_checkpoint_is_refused_and_the_one_before_it_is_taken(self):
        points = self.folder / "points"
        self.result("cinema", "whole", "--points", points)
        self.assertEqual(self.points(), ["point-00000016.pt", "point-00000024.pt"])
        newest = points / "point-00000024.pt"
        newest.write_bytes(newest.read_bytes()[:-1000])
        resumed, output = self.result("cinema", "resumed", "--points", points)
        self.assertIn("point-00000024.pt : tronqué", output)
        self.assertEqual(resumed["depart"], 16)

    def test_without_a_sound_checkpoint_it_stops_and_says_what_to_do(self):
        points = self.folder / "points"
        self.result("cinema", "whole", "--points", points)
        for name in self.points():
            data = bytearray((points / name).read_bytes())
            data[len(data) // 2] ^= 0xFF
            (points / name).write_bytes(data)
        status, output = train("cinema", "--points", points)
        self.assertEqual(status, 3, output)
        self.assertIn("l'empreinte ne correspond pas", output)
        self.assertIn("aucun point de contrôle sain", output)
        self.assertNotIn("Traceback", output)

    def test_another_seed_is_another_training_and_does_not_take_over_its_checkpoint(self):
        points = self.folder / "points"
        one, _ = self.result("cinema", "one", "--points", points)
        status, output = train("cinema", "--points", points, "--graine", "8")
        self.assertEqual(status, 3, output)
        other, _ = self.result("cinema", "other", "--graine", "8")
        self.assertNotEqual(one["empreinte"], other["empreinte"])

    def test_one_that_waits_for_its_data_reports_an_idle_gpu(self):
        report = self.folder / "report.json"
        busy = {}
        for name, wait in [("computes", 0), ("waits", 0.5)]:
            self.result("cinema", name, "--attente-donnees", wait, "--lot", 512, ATELIER_GPU_REPORT=str(report))
            busy[name] = json.loads(report.read_text())["utilisation"]
        self.assertGreater(busy["computes"], 90)
        self.assertLess(busy["waits"], 60)

    def team(self, model, *options):
        """Two processes as the Training Operator starts them."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        return [
            start(model, *options, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE="2", RANK=str(rank))
            for rank in range(2)
        ]

    def test_two_processes_learn_what_one_would_and_resume_together(self):
        points, file = self.folder / "points", self.folder / "two.json"
        team = self.team("chiffres", "--points", points, "--attente-donnees", "0.2")
        read_until(team[0], "checkpoint) pas=8")
        # Only the worker is told to stop: its master must not wait for it for ever.
        team[1].send_signal(signal.SIGTERM)
        rest = [process.communicate()[0] for process in team]
        self.assertEqual([process.returncode for process in team], [143, 143], rest)
        team = self.team("chiffres", "--points", points, "--resultat", file)
        rest = [process.communicate()[0] for process in team]
        self.assertEqual([process.returncode for process in team], [0, 0], rest)
        self.assertIn("2 processus", rest[0])
        self.assertIn("all-reduce=", rest[0])
        resumed = json.loads(file.read_text())
        self.assertGreaterEqual(resumed["depart"], 8)

        whole = self.folder / "whole.json"
        for process in self.team("chiffres", "--resultat", whole):
            process.communicate()
        self.assertEqual(json.loads(whole.read_text())["empreinte"], resumed["empreinte"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
