"""What the commands of relay do with files. Run with the name of a case and the program relay."""
import hashlib
import json
import os
import shutil
import subprocess
import sys

from files import Files, main, png, stored
from relay import WITHOUT_LIMITS, wait


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
    assert "1 content that no file has" in said and "1 content older than a day" in said, said
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


def export(relay):
    """The files of a person are copied with what else there is of them; an import says which bytes are missing."""
    files, others = Files(relay), Files(relay, "bo")
    sent, unsent, gone, foreign = (
        files.upload(b"sent"), files.upload(b"unsent"), files.upload(b"gone"), others.upload(b"bo's"))
    files.show(sent, "general", "a b\u00e9.txt")
    others.show(foreign, "general")
    files.show(foreign, "general", "forwarded.txt")
    seq = files.show(gone, "general", "gone.txt")
    relay.send("ada", "general", {"kind": "delete", "target": seq})
    wait(lambda: len(stored(relay)) == 3, "the bytes of the deleted file are still there")
    target = relay.folder / "ada-files"
    done = run(relay, "export", "--data", relay.data, "--user", "ada", "--files", target)
    assert done.stderr.endswith(" lines, 3 files\n"), done.stderr
    named = {line["file"]: line["name"] for line in map(json.loads, done.stdout.splitlines()) if "file" in line}
    found = {str(path.relative_to(target)): path.read_bytes() for path in target.rglob("*") if path.is_file()}
    ids = [path.rsplit("/", 1)[1] for path in (sent, foreign, unsent)]
    assert found == {
        f"{ids[0]}/a b\u00e9.txt": b"sent", f"{ids[1]}/forwarded.txt": b"bo's", f"{ids[2]}/not-sent": b"unsent"}, found
    assert named == {ids[0]: "a b\u00e9.txt", ids[1]: "forwarded.txt"}, named
    assert {path.stat().st_mode & 0o777 for path in target.rglob("*")} == {0o700, 0o600}
    run(relay, "export", "--data", relay.data, "--files", target, status=2)
    # A whole store: the bytes are copied beside it.
    copy = relay.folder / "copy"
    said = run(relay, "import", "--data", copy, input=run(relay, "export", "--data", relay.data).stdout).stderr
    assert "lacks 2 contents of files" in said, said
    run(relay, "verify", "--data", copy, status=3)
    shutil.copytree(relay.data / "files", copy / "files", dirs_exist_ok=True)
    assert "1 content that no file has" in run(relay, "verify", "--data", copy).stderr, "what was not sent is not exported"
    # What no client can send is not imported either.
    whole = run(relay, "export", "--data", relay.data).stdout
    for right, wrong in (
            ('"name":"', '"name":"../'), ('"file":"', '"file":"../'), (f'"target":{seq}', '"target":99')):
        assert right in whole, whole
        said = run(
            relay, "import", "--data", relay.folder / "hostile", status=1, input=whole.replace(right, wrong)).stderr
        assert "Nothing was imported" in said, said
    # Bytes that are missing keep nothing else back.
    hash = hashlib.sha256(b"bo's").hexdigest()
    (relay.data / "files" / hash[:2] / hash).unlink()
    shutil.rmtree(target)
    done = run(relay, "export", "--data", relay.data, "--user", "ada", "--files", target, status=3)
    assert "bytes of 1 file of ada are missing" in done.stderr and ids[1] in done.stdout
    assert len([path for path in target.rglob("*") if path.is_file()]) == 2


def erasure(relay):
    """An erasure removes a person's files and uploads as well, and nobody else's: with a relay, and without one."""
    files, others = Files(relay), Files(relay, "bo")
    files.show(files.upload(b"sent by ada"), "general")
    files.show(files.upload(png(90, 60)), "general")
    files.upload(b"not sent by ada")
    others.show(others.upload(b"sent by bo"), "general")
    kept = []
    for uploads in files, others:
        path = uploads.create(1000).headers["Location"]
        status = uploads.append(path, 0, b"a part of it").status
        assert status == 204, status
        kept.append(path.rsplit("/", 1)[1])
    relay.stop()
    assert len(stored(relay)) == 5
    run(relay, "erase", "--data", relay.data, "--user", "ada")
    assert stored(relay) == {hashlib.sha256(b"sent by bo").hexdigest()}
    uploads = {path.name for path in (relay.data / "files/uploads").iterdir()}
    assert uploads == {kept[1], f"{kept[1]}.json"}, uploads
    assert run(relay, "verify", "--data", relay.data).stderr == ""
    relay.start()
    run(relay, "erase", "--data", relay.data, "--user", "bo")
    wait(lambda: not stored(relay) and not any((relay.data / "files/uploads").iterdir()), "bo has files or uploads")
    relay.stop()
    # A folder without a store is not taken for one without the person.
    wrong = relay.folder / "wrong"
    assert "There is no store in" in run(relay, "erase", "--data", wrong, "--user", "ada", status=1).stderr
    assert not wrong.exists()
    relay.start()


if __name__ == "__main__":
    main(globals()[sys.argv[1]], WITHOUT_LIMITS)
