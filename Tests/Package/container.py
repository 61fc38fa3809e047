"""Carries out the steps of the Containerfile on this machine, without a container engine: container.py DEB"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "EndToEndTests/Peers"))
from service_manager import ServiceManager

package = pathlib.Path(sys.argv[1])
steps = [line.split(" ", 1) for line in
         (pathlib.Path(__file__).parents[2] / "config/Containerfile").read_text().splitlines()
         if line and not line.startswith("#")]
user, command = None, []
for instruction, text in steps:
    match instruction:
        case "COPY":
            pattern, folder = text.split()
            assert package.match(pattern), (package, pattern)
            shutil.copy(package, folder)
        case "RUN":
            subprocess.run(["/bin/sh", "-c", text], check=True, stdout=subprocess.DEVNULL)
        case "USER":
            user = text
        case "ENTRYPOINT" | "CMD":
            command += json.loads(text)
        case "FROM" | "VOLUME" | "EXPOSE":
            pass
        case _:
            raise NotImplementedError(instruction)

assert command[-1] == "0.0.0.0:8080", command
assert ["EXPOSE", "8080"] in steps
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder).chmod(0o755)
    # An engine passes no socket. The port is one that is free here.
    engine = ServiceManager(folder, [], user=user)
    engine.start([*command[:-1], "0.0.0.0:0"], {"RELAY_AUTH_PUBLIC_URL": "https://chat.example.org"})
    engine.wait_for("READY=1")
    log = engine.log.read_text()
    port = re.search(r"listening on ws://0.0.0.0:(\d+)/ws\n", log)[1]
    assert "https://chat.example.org/join/" in log, log
    assert urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=60).status == 200
    engine.process.terminate()
    assert engine.wait_for_end() == 0
print("good")
