"""What the commands of relay do with files. Run with the name of a case and the program relay."""
import hashlib
import os
import subprocess
import sys

from files import Files, main, png
from relay import WITHOUT_LIMITS


def run(relay, *arguments, status=0, **more):
    done = subprocess.run([relay.program, *map(str, arguments)], capture_output=True, text=True, **more)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done


def verification(relay):
    """relay verify reads the bytes of all files, names what is missing or damaged, and counts what no file has."""
    def verify(expected):
        return run(relay, "verify", "--data", relay.data, status=expected)

    def blob(content):
        hash = hashlib.sha256(content).hexdigest()
        return relay.data / "files" / hash[:2] / hash

    files = Files(relay)
    contents = [os.urandom(300_000), b"small", b"unsent"]
    paths = [files.upload(content) for content in contents]
    for path in paths[:2]:
        files.show(path, "general")
    picture = files.upload(png(90, 60))
    files.show(picture, "dm:ada:bo")
    assert verify(0).stderr == ""
    # What no file has is counted, by its age: the relay, which removes it, is stopped.
    relay.stop()
    stray = [blob(b"young"), blob(b"old")]
    for path in stray:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    os.utime(stray[1], (1, 1))
    said = verify(0).stderr
    assert "1 contents that no file has" in said and "1 contents older than a day" in said, said
    relay.start()
    thumbnail = hashlib.sha256(files.ask("GET", picture + "/thumbnail").content).hexdigest()
    whole = blob(contents[0]).read_bytes()
    blob(contents[0]).write_bytes(whole[:150_000] + b"?" + whole[150_001:])
    blob(contents[1]).unlink()
    blob(contents[2]).unlink()
    (relay.data / "files" / thumbnail[:2] / thumbnail).unlink()
    for path in paths:
        assert path.rsplit("/", 1)[1] in verify(3).stdout
    lines = verify(3).stdout.splitlines()
    assert len(lines) == 5, lines
    said = "\n".join(lines)
    assert "room general, seq 1: the bytes of the file" in said and "are damaged" in said, said
    assert "room general, seq 2: the bytes of the file" in said and "are missing" in said, said
    assert "room dm:ada:bo, seq 1: the bytes of the thumbnail of" in said, said
    assert ", which no entry names yet, are missing" in said, said
    blob(contents[0]).write_bytes(whole)
    blob(contents[1]).write_bytes(contents[1])
    relay.stop()
    assert len(verify(3).stdout.splitlines()) == 3
    relay.start()


if __name__ == "__main__":
    main(globals()[sys.argv[1]], WITHOUT_LIMITS)
