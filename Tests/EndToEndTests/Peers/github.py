"""A GitHub on loopback, for signing in, as https://docs.github.com/en/apps/oauth-apps describes it, and with the
members of an organization and pictures."""
import base64
import hashlib
import json
import secrets
import urllib.parse

from service import Service


class GitHub(Service):
    """What is signed in there is `user`."""
    client, secret = "app", "app-secret"

    def __init__(self):
        self.user = {"login": "mona", "id": 5, "name": "Mona L", "avatar_url": "", "type": "User"}
        self.members = {}
        # What /orgs/org/members lists, as (id, login), and the pictures, by path.
        self.listed, self.pictures = [], {}
        self.tokens = set()
        super().__init__()

    def answer(self, request, path, fields):
        fields = dict(fields)
        if path == "/orgs/org/members":
            return request.answer(200, [
                {"login": login, "id": number, "avatar_url": f"{self.url}/u/{number}", "type": "User"}
                for number, login in self.listed])
        if path in self.pictures:
            return request.answer(200, self.pictures[path], Content_Type="image/png")
        if path == "/login/oauth/authorize":
            assert fields["code_challenge_method"] == "S256" and fields["client_id"] == self.client, fields
            code = secrets.token_hex(10)
            self.codes[code] = (fields["code_challenge"], fields["redirect_uri"], dict(self.user))
            query = urllib.parse.urlencode({"code": code, "state": fields["state"]})
            return request.answer(302, b"", Location=f"{fields['redirect_uri']}?{query}")
        if path == "/login/oauth/access_token":
            # A code lives once.
            challenge, redirect, user = self.codes.pop(fields.get("code"), (None, None, None))
            digest = hashlib.sha256(fields.get("code_verifier", "").encode()).digest()
            given = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if fields.get("client_secret") != self.secret:
                return request.answer(200, {"error": "incorrect_client_credentials"})
            if challenge != given or redirect != fields.get("redirect_uri"):
                return request.answer(200, {"error": "bad_verification_code"})
            token = f"gho_{secrets.token_hex(16)}"
            self.tokens.add(token)
            return request.answer(
                200, {"access_token": token, "scope": "read:org", "token_type": "bearer"})
        if path == f"/applications/{self.client}/token":
            basic = base64.b64encode(f"{self.client}:{self.secret}".encode()).decode()
            if request.headers.get("Authorization") != f"Basic {basic}":
                return request.answer(401, {"message": "Bad credentials"})
            asked = json.loads(next(iter(fields)))["access_token"]
            if asked in self.tokens:
                return request.answer(200, {"token": asked})
            return request.answer(404, {"message": "Not Found"})
        if request.headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            return request.answer(401, {"message": "Bad credentials"})
        if path == "/user":
            return request.answer(200, self.user)
        if path.startswith("/user/memberships/orgs/"):
            state = self.members.get(self.user["id"])
            if state:
                return request.answer(200, {"state": state, "role": "member"})
        return request.answer(404, {"message": "Not Found"})
