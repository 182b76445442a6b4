"""Our side, the program in this folder: a process of its own that is asked over its standard input."""
import json
import os
import pathlib
import subprocess
import time

REST = 0.25  # seconds before every turn: the threads of other libraries spin for up to 0.2 after their work


class Ours:
    def __init__(self, model, threads, folder):
        here = pathlib.Path(__file__).resolve().parent
        binary = pathlib.Path(folder) / "ours"
        subprocess.run(["go", "build", "-o", binary, "."], cwd=here, check=True)
        model = os.path.abspath(model) if model else ""
        self.process = subprocess.Popen([binary, "-model", model, "-threads", str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def vectors(self, dtype, **texts):
        return self.ask(dtype=dtype, **texts)["vectors"]

    def rate(self, dtype, seconds, **work):
        """Texts or steps a second, and those that the peak of the processor allows."""
        time.sleep(REST)
        answer = self.ask(dtype=dtype, seconds=seconds, **work)
        return answer["rate"], answer["bound"]
