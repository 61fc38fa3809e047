"""accounts_github.py CASE RELAY: plays a case of people who sign in with GitHub, with a relay and a GitHub of its own."""
import asyncio
import contextlib
import json
import re
import sqlite3
import subprocess
import sys
import time

from accounts_support import Browser, Person, closed, first, play, redirected, welcomed
from files import png
from github import GitHub
from relay import wait


def by_github(service, more=""):
    return (f"auth:\n  mode: accounts\n  sign_in: [invite, github]\n  github: {{ client_id: app, "
            f"client_secret: app-secret, base_url: '{service.url}', api_url: '{service.url}'{more} }}\n")


async def github(start):
    """Signing in at GitHub, and what goes wrong there."""
    service = GitHub()
    relay = start(by_github(service))
    assert Person(relay).get("/v1/sign-in").json["methods"] == [
        {"method": "invite"}, {"method": "github", "title": "GitHub"}]
    mona = Browser(relay)
    assert mona.go("/sign-in/github?return=/join/x") == "/join/x"
    me = mona.get("/v1/me").json
    assert (me["user"], me["name"]) == ("mona", "Mona L"), me
    assert list(mona.jar) == [f"relay-{relay.port}"], mona.jar
    socket, message = await welcomed(relay, mona, Origin=relay.url)
    assert message["user"] == "mona"
    # Renamed, it is the same account; the login taken by another is another account.
    service.user.update(login="lisa")
    again = Browser(relay)
    again.go("/sign-in/github")
    assert again.get("/v1/me").json["user"] == "mona"
    service.user.update(login="mona", id=6)
    other = Browser(relay)
    other.go("/sign-in/github")
    assert other.get("/v1/me").json["user"] == "mona-2"
    # The browser of a victim is not signed in to the attacker's account.
    attacker = Browser(relay)
    address = redirected(attacker.get("/sign-in/github").headers["Location"]).headers["Location"]
    victim = Browser(relay)
    assert victim.back(address) == "/?sign_in_error=state_mismatch"
    assert not victim.jar
    # Nor does the state work again for the attacker, who has let it be used.
    assert attacker.back(address) == "/?sign_in_error=expired"
    # A code and a state are used once.
    twice = Browser(relay)
    address = redirected(twice.get("/sign-in/github").headers["Location"]).headers["Location"]
    assert twice.back(address) == "/"
    assert twice.back(address) == "/?sign_in_error=expired"
    # An open redirect.
    for path in ["//evil.example", "https://evil.example", "/%5Cevil.example", "%2F%2Fevil.example"]:
        assert Browser(relay).go(f"/sign-in/github?return={path}") == "/"
    # Refused by the person.
    denied = Browser(relay)
    location = denied.get("/sign-in/github").headers["Location"]
    state = re.search("state=([^&]+)", location)[1]
    assert denied.back(
        f"{relay.url}/sign-in/github/callback?error=access_denied&state={state}"
    ) == "/?sign_in_error=access_denied"
    token, user = "/login/oauth/access_token", "/user"
    for path, fault, expected in [
            (token, (200, {"error": "bad_verification_code"}, {}), "provider_refused"),
            (token, (503, b"", {}), "provider_unavailable"),
            (token, (302, b"", {"Location": "http://169.254.169.254/"}), "provider_refused"),
            (token, (200, b"x" * (2 << 20), {}), "provider_unavailable"),
            (user, (200, {"login": "mona"}, {}), "provider_refused"),
            (user, (302, b"", {"Location": "http://127.0.0.1:1/user"}), "provider_refused"),
            (user, (500, b"", {}), "provider_unavailable")]:
        service.faults = {path: fault}
        browser = Browser(relay)
        assert browser.go("/sign-in/github") == f"/?sign_in_error={expected}", (path, fault[:1])
        assert not browser.jar, "no cookie"
    service.faults = {}
    # While the provider stands still, the relay answers others.
    slow = Browser(relay)
    address = redirected(slow.get("/sign-in/github").headers["Location"]).headers["Location"]
    service.stall()
    waiting = asyncio.get_running_loop().run_in_executor(None, slow.back, address)
    began = time.monotonic()
    assert mona.get("/v1/me", headers={"Origin": relay.url}).status == 200
    assert time.monotonic() - began < 5
    assert await waiting == "/?sign_in_error=provider_unavailable"
    log = (relay.folder / "relay.log").read_text()
    assert "app-secret" not in log and not any(token in log for token in service.tokens), log


async def github_organization(start):
    """Only members of the organization enter."""
    service = GitHub()
    relay = start(by_github(service, ", organization: org"))
    for state, expected in [(None, "not_a_member"), ("pending", "not_a_member"), ("active", None)]:
        service.members = {5: state}
        end = Browser(relay).go("/sign-in/github")
        assert end == (f"/?sign_in_error={expected}" if expected else "/"), (state, end)
    service.fail(
        "/user/memberships/orgs/org", 403, {"message": "Resource protected by organization SAML"},
        X_GitHub_SSO="required; url=https://github.example/orgs/org/sso")
    assert Browser(relay).go("/sign-in/github") == "/?sign_in_error=organization_refused"


async def github_gone(start):
    """Who has left the organization, or revoked the application, is out; a GitHub that is down signs out no one."""
    service = GitHub()
    service.members = {5: "active"}
    relay = start(by_github(service, ", organization: org"))
    mona = Browser(relay)
    asked = f"/applications/{service.client}/token"

    def sign_in():
        assert mona.go("/sign-in/github") == "/"

    def ask_now():
        """Makes the next question due, instead of in eight hours, and waits until it has been asked."""
        count = sum(path == asked for path, *_ in service.requests)
        with relay.open_accounts() as database:
            database.execute("UPDATE account_provider_tokens SET ask_at = 0")
        wait(lambda: sum(path == asked for path, *_ in service.requests) > count, "the question", 60)

    def tokens():
        """The tokens, whether their questions fail, and whether they are asked again in about an hour."""
        soon = (time.time() + 2 * 3600) * 1000
        with contextlib.closing(sqlite3.connect(relay.data / "accounts.db")) as database:
            return database.execute(
                "SELECT token, failing_since IS NOT NULL, ask_at BETWEEN 1 AND ? "
                "FROM account_provider_tokens", [soon]).fetchall()

    def log():
        return (relay.folder / "relay.log").read_text()

    sign_in()
    ((token, *_),) = tokens()
    assert token in service.tokens
    assert (relay.data / "accounts.db").stat().st_mode & 0o077 == 0
    lines = subprocess.run(
        [relay.program, "export", "--data", str(relay.data)], stdout=subprocess.PIPE, text=True).stdout
    assert '"mona"' in lines and token not in lines, lines
    ask_now()
    # The secret of the relay itself is wrong, or GitHub is down.
    for status in [401, 503]:
        service.fail(asked, status)
        ask_now()
        wait(lambda: tokens() == [(token, 1, 1)], "the failure")
        assert mona.get("/v1/me").status == 200
    assert log().count("Asking a provider whether people may still sign in fails") == 1, log()
    service.faults = {}
    ask_now()
    wait(lambda: tokens() == [(token, 0, 0)], "the answer")
    wait(lambda: "Asking a provider whether people may still sign in works again" in log(), "the report")
    socket, _ = await welcomed(relay, mona, Origin=relay.url)
    service.members = {}
    ask_now()
    assert await closed(socket) == (4401, "unauthorized")
    assert mona.get("/v1/me").status == 401 and tokens() == []
    assert "mona is signed out (sessions: 1): GitHub says that they are no member of org" in log(), log()
    assert mona.go("/sign-in/github") == "/?sign_in_error=not_a_member"
    service.members = {5: "active"}
    sign_in()
    assert mona.get("/v1/me").status == 200
    service.tokens.clear()
    socket, _ = await welcomed(relay, mona, Origin=relay.url)
    ask_now()
    assert await closed(socket) == (4401, "unauthorized")
    assert "they have revoked what they had granted" in log(), log()
    assert not any(token in log() for token in [token, *service.tokens]) and "app-secret" not in log()


async def github_directory(start):
    """People of the directory, which is the organization's, sign in: the number decides who is who."""
    service = GitHub()
    service.listed = [(5, "mona"), (7, "Lisa"), (9, "rex")]
    service.pictures = {f"/u/{name}": png(int(name, 16), 1) for name in ("5", "20", "20b", "7")}
    relay = start(
        by_github(service, ", organization: org")
        + "  operators: [rex]\ndirectory: { kind: github, refresh_s: 1 }\n")

    def sign_in(number, login, picture=None, **more):
        service.members[number] = "active"
        service.user = {"login": login, "id": number, "name": None,
                        "avatar_url": picture or f"{service.url}/u/{number}", **more}
        browser = Browser(relay)
        assert browser.go("/sign-in/github") == "/"
        return browser

    def user(browser):
        return browser.get("/v1/me").json["user"]

    def width(answer):
        assert answer.body.startswith(b"\x89PNG"), answer
        return int.from_bytes(answer.body[16:20], "big")

    def people():
        answer = ada.get("/v1/people")
        assert '"id"' not in answer.text and "subject" not in answer.text, answer
        return {row["user"]: row for row in answer.json["people"]}

    ada = first(relay)
    wait(lambda: {"mona", "lisa", "rex"} <= people().keys(), "the directory")
    # Mona is written to before she has an account.
    room = "/v1/rooms/dm:ada:mona/messages"
    assert ada.post(room, {"id": "1", "text": "welcome"}).status == 201
    # The login is recycled: another person has it by now.
    recycled = sign_in(6, "mona")
    assert user(recycled) == "mona-2"
    # Hers was renamed, which the directory does not know yet.
    mona = sign_in(5, "monalisa", name="Mona L")
    assert user(mona) == "mona"
    assert "welcome" in mona.get(room).text
    assert recycled.get(room).status == 403
    # A name of auth.operators is given by no provider.
    assert user(sign_in(9, "rex")) == "rex-2"
    # Not in the directory: name and picture are those of GitHub, through the relay.
    otto = sign_in(20, "otto", name="Otto O")
    row = wait(lambda: people().get("otto"), "otto")
    assert (row["name"], row["avatar"]) == ("Otto O", f"{service.url}/u/20"), row
    picture = ada.get("/v1/avatars/otto")
    assert (picture.status, width(picture)) == (200, 0x20), picture
    assert otto.ask("PATCH", "/v1/me", {"name": "Ot"}, headers={"Origin": relay.url}).status == 200
    sign_in(20, "otto", f"{service.url}/u/20b", name="Otto O")
    wait(lambda: people()["otto"]["avatar"].endswith("/u/20b"), "the new picture")
    assert people()["otto"]["name"] == "Ot", "the name that was chosen here"
    assert width(ada.get("/v1/avatars/otto")) == 128, "one of 523 pixels is scaled"
    # Pictures lead to no other host of the relay's network.
    other = GitHub()
    other.pictures = {"/u/30": png(3, 3)}
    for number, url in [(30, f"{other.url}/u/30"), (31, other.url.replace("http", "https") + "/u/30"),
                        (32, f"http://127.0.0.1:1@{other.url[7:]}/u/30")]:
        name = user(sign_in(number, f"user{number}", url))
        assert ada.get(f"/v1/avatars/{name}").status == 404, url
    assert not other.requests, other.requests
    # The directory learns of the new logins: each person is listed once, under the name of the account.
    service.listed = [(6, "mona"), (5, "monalisa"), (9, "rex"), (7, "Lisa")]
    rows = wait(lambda: (rows := people()).get("mona", {}).get("name") == "monalisa" and rows, people)
    assert rows["mona-2"]["name"] == "mona" and rows["rex-2"]["name"] == "rex", rows
    assert not {"monalisa", "rex"} & rows.keys(), rows
    # After a restart without the service, and with accounts of before there were pictures.
    relay.stop()
    with relay.open_accounts() as database:
        database.executescript(
            "ALTER TABLE accounts DROP COLUMN picture; DROP TABLE account_provider_tokens;"
            "PRAGMA user_version = 1")
    state = json.loads((relay.data / "directory.json").read_text())
    assert {person["id"] for person in state["pages"][0]["people"]} == {"5", "6", "7", "9"}, state
    service.fail("/orgs/org/members", 503)
    relay.start()
    assert wait(lambda: people().get("mona-2"), "the kept list")["name"] == "mona"
    assert "monalisa" not in people()
    assert user(sign_in(7, "elisabeth")) == "lisa"
    assert "avatar" not in people()["otto"]
    lines = subprocess.run(
        [relay.program, "export", "--data", str(relay.data)], stdout=subprocess.PIPE, text=True).stdout
    assert f'"picture":"{service.url}/u/7"' in lines.replace("\\/", "/"), lines


if __name__ == "__main__":
    play(globals()[sys.argv[1]], sys.argv[2])
    print("good")
