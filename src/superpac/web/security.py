"""Who may talk to the page: token, Host, Fetch metadata, Origin, size of bodies, answer headers.

A page on this computer can be reached by any website the person has open, so nothing is trusted
for coming from this computer (OWASP, "Cross-Site Request Forgery Prevention"; W3C, "Fetch Metadata
Request Headers"; on DNS rebinding see Jackson et al., CCS 2007).
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import os
import re
import secrets
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from superpac.errors import InputError
from superpac.system.atomic_files import atomic_write

LOST = (
    "<p>If you no longer see it: press Ctrl+C in that terminal and run the same "
    "<code>superpac label</code> command again. It goes on where you stopped and prints the "
    "address anew; nothing that was answered is lost.</p><p>If somebody else runs it, ask them for "
    "the address.</p>"
)
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
MAX_BODY = 64 << 10
TOKEN_BYTES = 24
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?", re.ASCII)

# Whoever has no token gets no file either, so this page carries its few styles in itself.
DOOR_STYLE = (
    "body{margin:0;min-height:100vh;display:grid;place-items:center;background:#f7f7f5;"
    "color:#1b1d22;font:17px/1.5 system-ui,sans-serif}main{max-width:34rem;margin:1rem;"
    "padding:1.5rem 2rem;background:#fff;border:1px solid #dddfe3;border-radius:18px}"
    "h1{font-size:1.4rem;margin:0 0 .6rem}p{margin:.6rem 0}"
    "code{background:#eeeff1;padding:.1rem .35rem;border-radius:5px}"
    "@media(prefers-color-scheme:dark){body{background:#14161a;color:#eceef2}"
    "main{background:#1d2026;border-color:#343942}code{background:#2a2e35}}"
)
_STYLE_HASH = b64encode(sha256(DOOR_STYLE.encode()).digest()).decode()
CSP = (
    f"default-src 'none'; script-src 'self'; style-src 'self' 'sha256-{_STYLE_HASH}'; "
    "img-src 'self'; media-src 'self'; connect-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'self'"
)
HEADERS = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)


def new_token() -> str:
    """Draw a token of 192 bits."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def read_token(path: Path) -> str:
    """Token kept in a file of mode 0600; the file is made if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = read_token(Path(folder) / "token")
    ...     first == read_token(Path(folder) / "token"), len(first)
    (True, 32)
    """
    try:
        if not path.exists():
            with atomic_write(path) as file:
                file.write(new_token().encode() + b"\n")
        if path.stat().st_mode & 0o077:
            raise InputError(f"The token file {path} can be read by others; run: chmod 600 {path}.")
        token = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The token file {path} cannot be used ({error}).") from None
    return check_token(token)


def kept_token(path: Path, *, renew: bool = False) -> str:
    """Token that is kept by itself, so that an open page goes on after a restart.

    Parameters
    ----------
    path : Path
        Its file.
    renew : bool
        Whether to draw a new one, which ends all that the old one let in.

    Returns
    -------
    str
        Where nothing can be written, one that is not kept.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answers.sqlite3.token"
    ...     first = kept_token(path)
    ...     first == kept_token(path), first == kept_token(path, renew=True)
    (True, False)
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if renew:
            path.unlink(missing_ok=True)
        if not path.exists() and not os.access(path.parent, os.W_OK):
            return new_token()
    except OSError:
        return new_token()
    return read_token(path)


def check_token(token: str) -> str:
    """Give the token back, or refuse one that could be guessed."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{22,200}", token) or len(set(token)) < 8:
        raise InputError(
            "A token must be 22 to 200 letters, digits, - or _, drawn at random (128 bits or "
            "more); leave it out to have one drawn."
        )
    return token


def allowed_host(value: bytes, names: Iterable[str]) -> bool:
    """Whether a Host header names this server.

    Examples
    --------
    >>> allowed_host(b"localhost:8000", LOOPBACK), allowed_host(b"localhost.", LOOPBACK)
    (True, False)
    """
    try:
        found = _HOST.fullmatch(value.decode("ascii").lower())
    except UnicodeDecodeError:
        return False
    if found is None or (found["port"] is not None and not 0 < int(found["port"]) < 65536):
        return False
    return found["name"] in names


def check_bind(host: str, *, share: bool, token_given: bool) -> str:
    """Give the address to listen on, or refuse one that others can reach and nobody asked for.

    Parameters
    ----------
    host : str
        Address or ``localhost``.
    share : bool
        Whether the user said that others may come in.
    token_given : bool
        Whether there is a token of the user's own.

    Returns
    -------
    str
    """
    name = host.strip("[]")
    if name == "localhost":
        return "127.0.0.1"
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        raise InputError(
            f"--host must be an IP address or localhost. Got {host!r} instead."
        ) from None
    if not address.is_loopback and not (share and token_given):
        raise InputError(
            f"{host} can be reached by others on the network; say that you mean it with --share "
            "and give a token with --token-file, or leave --host out."
        )
    return str(address)


class Gate:
    """ASGI middleware that lets in only the person who was given the address.

    Parameters
    ----------
    app : ASGI application
        What is behind it.
    token : str
        The secret of the printed address.
    hosts : iterable of str
        Names beside the loopback ones under which the server may be called.
    port : int
        Port of the server. It is part of the cookie's name, since browsers keep one set of cookies
        for all the servers of a host.
    behind_https : bool
        Whether people who call the server by such a name come through a proxy with HTTPS. Their
        cookie is then never sent over plain HTTP.
    """

    def __init__(
        self,
        app: ASGIApp,
        token: str,
        hosts: Iterable[str] = (),
        *,
        port: int,
        behind_https: bool = False,
    ) -> None:
        self._app = app
        self.cookie = f"superpac-{port}"
        self._token = token.encode()
        self._cookie = hmac.new(self._token, b"superpac cookie", sha256).hexdigest().encode()
        self._hosts = frozenset((*LOOPBACK, *(h.lower() for h in hosts)))
        self._behind_https = behind_https

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then hand it on with a capped body and safe answer headers."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no WebSockets here; the server closes the connection

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in HEADERS}
                kept = [(k, v) for k, v in message.get("headers", ()) if k.lower() not in own]
                if not any(k.lower() == b"cache-control" for k, _ in kept):
                    kept.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*kept, *HEADERS]}
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await _answer(guarded, scope, *refusal)
            return
        if scope["path"] == "/" and scope["query_string"]:
            entry = self._exchange(scope)
            if entry is not None:
                await guarded({"type": "http.response.start", "status": 303, "headers": entry})
                await guarded({"type": "http.response.body", "body": b""})
                return
        if not self._knows(scope):
            words = "Open the address that the terminal printed; it carries the key to this page."
            await _answer(guarded, scope, 401, words, LOST)
            return
        if scope["method"] not in ("GET", "HEAD"):
            body = await _body(receive)
            if body is None:
                await _answer(guarded, scope, 413, f"A request may hold {MAX_BODY} bytes at most.")
                return
            receive = _replay(body, receive)
        await self._app(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        hosts = _values(scope, b"host")
        if len(hosts) != 1 or not allowed_host(hosts[0], self._hosts):
            return 403, "This server answers under the name localhost only."
        site, mode = _one(scope, b"sec-fetch-site"), _one(scope, b"sec-fetch-mode")
        origins = _values(scope, b"origin")
        if scope["method"] in ("GET", "HEAD"):
            opened = mode == b"navigate" and scope["path"] == "/"
            if site not in (None, b"same-origin", b"none") and not opened:
                return 403, "Another website asked for this, so it is refused."
            return None
        if site not in (None, b"same-origin"):
            return 403, "Another website asked for this, so it is refused."
        if len(origins) > 1 or (origins and not self._own(origins[0], hosts[0])):
            return 403, "Another website asked for this, so it is refused."
        bearer = _one(scope, b"authorization") is not None
        if site is None and not origins and not bearer:
            return 403, "A change needs an Origin of this page, or the token in Authorization."
        kinds = _values(scope, b"content-type")
        plain = [k.split(b";")[0].strip().lower() for k in kinds]
        if plain != [b"application/json"]:
            return 415, "A change must be sent as application/json."
        lengths = _values(scope, b"content-length")
        if lengths and not (len(lengths) == 1 and lengths[0].isdigit()):
            return 400, "The length of the request cannot be read."
        if lengths and int(lengths[0]) > MAX_BODY:
            return 413, f"A request may hold {MAX_BODY} bytes at most."
        return None

    def _own(self, origin: bytes, host: bytes) -> bool:
        try:
            parts = urlsplit(origin.decode("ascii"))
        except (UnicodeDecodeError, ValueError):
            return False
        return (
            parts.scheme in ("http", "https")
            and parts.netloc.lower() == host.decode("ascii").lower()
            and not parts.path
        )

    def _exchange(self, scope: Scope) -> list[tuple[bytes, bytes]] | None:
        """Headers that swap the token in the address for a cookie, if it is the right one."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if len(given) != 1 or not hmac.compare_digest(given[0].encode(), self._token):
            return None
        # A proxy hands the name on that people used (others fail the test of the Origin), so a
        # loopback name means somebody at this computer, who comes without HTTPS.
        secure = self._behind_https and not allowed_host(_values(scope, b"host")[0], LOOPBACK)
        flags = "; Path=/; HttpOnly; SameSite=Strict" + ("; Secure" if secure else "")
        cookie = f"{self.cookie}={self._cookie.decode()}{flags}"
        return [(b"location", b"/"), (b"set-cookie", cookie.encode())]

    def _knows(self, scope: Scope) -> bool:
        """Whether the request carries the cookie or the token."""
        found = False
        for line in _values(scope, b"cookie"):
            for part in line.split(b";"):
                name, _, value = part.strip().partition(b"=")
                if name == self.cookie.encode():
                    found |= hmac.compare_digest(value, self._cookie)
        bearer = _one(scope, b"authorization") or b""
        scheme, _, value = bearer.partition(b" ")
        if scheme.lower() == b"bearer":
            found |= hmac.compare_digest(value.strip(), self._token)
        return found


def _values(scope: Scope, name: bytes) -> list[bytes]:
    return [v for k, v in scope["headers"] if k.lower() == name]


def _one(scope: Scope, name: bytes) -> bytes | None:
    found = _values(scope, name)
    if not found:
        return None
    return found[0] if len(found) == 1 else b"several"


async def _body(receive: Receive) -> bytes | None:
    """Whole body; None if it is longer than allowed."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b""
        part = message.get("body", b"")
        size += len(part)
        if size > MAX_BODY:
            return None
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _answer(send: Send, scope: Scope, status: int, words: str, more: str = "") -> None:
    accept = (_one(scope, b"accept") or b"").lower()
    if b"text/html" in accept:
        # A link in another page does not carry the cookie; a second step from here does.
        again = scope["path"] == "/" and _one(scope, b"sec-fetch-site") == b"cross-site"
        step = '<meta http-equiv="refresh" content="0;url=/">' if again else ""
        title = "This page needs its key" if status == 401 else "This cannot be shown"
        content = (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8">{step}'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="color-scheme" content="light dark">'
            f"<title>{title} · superpac</title><style>{DOOR_STYLE}</style></head>"
            f"<body><main><h1>{title}</h1><p>{escape(words)}</p>{more}</main></body></html>"
        ).encode()
        kind = b"text/html; charset=utf-8"
    else:
        content = json.dumps({"detail": words}).encode()
        kind = b"application/json"
    headers = [(b"content-type", kind), (b"content-length", str(len(content)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    body = b"" if scope["method"] == "HEAD" else content
    await send({"type": "http.response.body", "body": body})
