"""``superpac label``: the labelling page."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from superpac.cli import common
from superpac.cli.sessions import data_folder, opened, store_address, take_in
from superpac.errors import InputError, SuperpacError
from superpac.session.spec import (
    AFFINITY_OF_VALUES,
    AFFINITY_OF_VECTORS,
    AUTO,
    DEFAULT_AFFINITY,
    DEFAULT_STRATEGY,
    Spec,
)

if TYPE_CHECKING:
    from superpac.answers.events import SessionInfo
    from superpac.answers.log import Log
    from superpac.data import Dataset
    from superpac.store import Store
    from superpac.web.entry_test import EntryTest


QUESTION = 80  # letters of --question at most: it is read at a glance


def label(
    data: common.DataArgument,
    k: common.ClustersOption = None,
    affinity: common.AffinityOption = DEFAULT_AFFINITY,
    strategy: common.StrategyOption = DEFAULT_STRATEGY,
    dim: common.DimOption = None,
    option: common.StrategyOptionsOption = None,
    name: common.NameOption = None,
    labels: common.LabelsOption = None,
    ids: common.IdsOption = None,
    size: common.SizeOption = None,
    features: common.FeaturesOption = None,
    text: common.TextOption = None,
    show: common.ShowOption = None,
    colour: common.ColourOption = False,
    standardise: common.StandardiseOption = False,
    seed: common.SeedOption = 0,
    store: common.StoreOption = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin a new session, even where one is there.")
    ] = False,
    known: Annotated[
        str | None,
        typer.Option(
            "--known",
            help="What is sorted already: a table of names and labels, or of two names and same or "
            "different; or folders.",
        ),
    ] = None,
    instructions: Annotated[
        Path | None,
        typer.Option(
            "--instructions", help="A text that everybody reads before their first question."
        ),
    ] = None,
    editors: Annotated[
        str | None,
        typer.Option(
            "--editors",
            help="Who may name, move, merge and split groups, with commas between; else everybody.",
        ),
    ] = None,
    test_pairs: Annotated[
        Path | None,
        typer.Option(
            "--test-pairs",
            help="A table of two names and same or different: everybody answers these first.",
        ),
    ] = None,
    test_share: Annotated[
        str,
        typer.Option("--test-share", help="Share of the test pairs that must be right."),
    ] = "80%",
    overlap: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of pairs that two people are asked.")
    ] = 0.0,
    until: Annotated[
        str,
        typer.Option(
            "--until", help="Finished when at most so many items are wrong, such as 1% (upper end)."
        ),
    ] = "1%",
    question: Annotated[
        str | None,
        typer.Option("--question", help="What is asked of two items, such as 'Same person?'."),
    ] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port to listen on.")] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    share: Annotated[
        bool, typer.Option("--share", help="Let others on the network in; needs --token-file.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="Another name under which the page is called."),
    ] = None,
    behind_https: Annotated[
        bool,
        typer.Option(
            "--behind-https", help="A proxy with HTTPS is before the page; needs --allow-host."
        ),
    ] = False,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", help="Token to keep over restarts, mode 0600.")
    ] = None,
    fresh_token: Annotated[
        bool,
        typer.Option("--new-token", help="Draw a new token; whoever had the old one is let out."),
    ] = False,
    dask: common.DaskOption = None,
    device: common.DeviceOption = "auto",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
) -> None:
    """Answer questions about DATA in the browser; run it again to go on."""
    import ipaddress

    from superpac.answers.events import check_text
    from superpac.answers.growth import grown
    from superpac.session.answer_book import AnswerBook
    from superpac.session.item_names import remember
    from superpac.session.known_labels import known_file
    from superpac.session.stopping import parse_share
    from superpac.strategies import WEIGH_ANSWERS
    from superpac.web import security
    from superpac.web.log_lines import make_plain
    from superpac.web.server import bind, serve
    from superpac.web.workspace import Workspace, check_spec, find_or_create

    make_plain()
    if behind_https and not allow_host:
        raise InputError(
            "--behind-https needs the name that people call the page by; give it with --allow-host."
        )
    goal = parse_share(until)
    if question is not None:
        check_text("--question", question, QUESTION)
    address = security.check_bind(host, share=share, token_given=token_file is not None)
    if share and ipaddress.ip_address(address).is_loopback:
        raise InputError(
            f"--share lets nobody in while the page listens on {address}; give the address of this "
            "computer on the network with --host, or leave --share out."
        )
    if fresh_token and token_file is not None:
        raise InputError(
            "--new-token is for the token that is kept by itself; to renew the one in "
            "--token-file, remove that file."
        )
    own_token = None if token_file is None else security.read_token(token_file)
    how: dict[str, Any] = {
        **{"labels": labels, "ids": ids, "size": size, "colour": colour},
        **{"standardise": standardise, "features": features, "text": text, "show": show},
    }
    if known is not None:
        known_file(known)  # before vectors are made and a session is begun
    clusters: Any = AUTO if k is None else k
    words = "" if instructions is None else _text_of(instructions)
    named = [check_text("--editors", one.strip(), 200) for one in (editors or "").split(",") if one]
    if editors is not None and not named:
        raise InputError("--editors names nobody; give names with commas between.")
    spec = Spec(clusters, affinity, strategy, common.parse_options(option), dim, seed)
    common.use_device(device)
    common.check_dask(dask, affinity)
    begun = None if fresh else _begun(data, how, spec, name, store, any_count=k is None)
    if begun is None:
        items, source = common.read_source(data, **how)
        spec = spec.settled(items)
        check_spec(spec, items)
    with opened(store, create=True) as kept:
        going = None if begun is None else _gone_on(kept, begun, k, how, data)
        if going is not None:
            (log, items), resumed = going, True
        else:
            if begun is not None:
                items, source = common.read_source(data, begun=begun, **how)
                spec = Spec.from_dict(begun.spec)
            log, resumed = find_or_create(kept, items, spec, name, source, fresh=fresh)
        now = grown(log.info, log.additions())
        items = remember(items, now)
        common.prepare_affinity(dask, items, Spec.from_dict(now.spec))
        if known is not None:
            weighs = spec.strategy in WEIGH_ANSWERS
            names = [str(name) for name in items.ids]
            take_in(AnswerBook(log, names, weighs_answers=weighs), known)
        test = None
        if test_pairs is not None:
            needed = 1.0 if test_share in ("100%", "1") else parse_share(test_share)
            test = _test_of(test_pairs, [str(name) for name in items.ids], needed)
        sock = bind(address, port)
        shared = "://" in store_address(store) and not store_address(store).startswith("sqlite")
        workspace = Workspace(
            items,
            kept,
            log,
            shared=shared,
            overlap=overlap,
            until=goal,
            question=question or "",
            instructions=words,
            editors=named,
            test=test,
        )
        verb = "goes on" if resumed else "is ready"
        hosts = tuple(allow_host or ())
        if share:
            hosts = (*hosts, f"[{address}]" if ":" in address else address)
        serve(
            workspace,
            sock,
            own_token or security.kept_token(_token_place(store), renew=fresh_token),
            hosts=hosts,
            behind_https=behind_https,
            announce=lambda url: common.say(f"{log.info.name} {verb} at {url}"),
            browser=browser,
        )


def _text_of(path: Path) -> str:
    """Instructions as they are written, shown as text."""
    longest = 20_000
    try:
        with path.expanduser().open("rb") as file:
            text = file.read(4 * longest + 1).decode("utf-8").strip()
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text, or has no usable name"
        shown = ascii(str(path))[1:-1][:80]
        raise InputError(f"{shown} cannot be read ({reason}); name a text file.") from error
    if not 0 < len(text) <= longest or "\0" in text:
        raise InputError(f"{path} must be a text of 1 to {longest} characters; shorten it.")
    return text


def _test_of(path: Path, names: list[str], share: float) -> EntryTest:
    """The test that everybody takes first, by the names of the items."""
    from superpac.session.known_labels import read_known
    from superpac.web.entry_test import EntryTest

    found = read_known(path, names)
    if found.unknown:
        raise InputError(f"{path}: there is no item {found.unknown[0]!r}; name two that are here.")
    if found.groups:
        raise InputError(f"{path}: write two names and same or different in each row.")
    return EntryTest(found.links, share)


def _token_place(store: str | None) -> Path:
    """File of the token that is kept for a store: beside it, or for a database among one's own."""
    address = store_address(store)
    if "://" not in address:
        return Path(f"{address}.token")
    # the address may hold a password, so only a hash of it is written
    return data_folder() / "tokens" / f"{sha256(address.encode()).hexdigest()[:32]}.token"


def _begun(
    data: str,
    how: dict[str, Any],
    spec: Spec,
    name: str | None,
    store: str | None,
    any_count: bool = False,
) -> SessionInfo | None:
    """Newest session on this data with these options, whatever was chosen where nothing was named.

    What would be chosen today may differ, since an encoder was installed or a default has changed:
    who runs the command again means the session that is there. One with another number of clusters
    does where there is none with this.
    """
    from superpac.cli import things
    from superpac.features.registry import encoder_names

    wanted = {"what": common.place_of(data), **{option: v for option, v in how.items() if v}}
    if how["features"]:
        wanted["features"] = things.noted(str(how["features"]))
    chosen = not any(how[option] for option in common.SAYS_HOW)
    asked = spec.to_dict()
    try:
        with opened(store, read_only=True) as kept:
            infos = [found.now for found in kept.sessions()]
    except SuperpacError:  # nothing there yet; else the store says so when it is opened to write
        return None
    other: SessionInfo | None = None  # the newest with another number of clusters
    for info in reversed(infos):
        known = info.source if isinstance(info.source, dict) else {}
        noted = {part: known[part] for part in ("what", *common.DATA_OPTIONS) if part in known}
        if chosen and noted.pop("features", "pixels") not in encoder_names():
            continue
        for part in ("size", "ids"):  # chosen where nobody named one
            if not how[part]:
                noted.pop(part, None)
        settled = asked if spec.affinity != AUTO else asked | {"affinity": _affinity_of(info)}
        if noted == wanted and name in (None, info.name):
            alike = info.spec == settled | {"n_clusters": info.spec["n_clusters"]}
            if info.spec == settled or (alike and any_count):
                return info
            if alike and other is None:
                other = info
    return other


def _affinity_of(info: SessionInfo) -> str | None:
    """Affinity of a session, where it may have been chosen; none where somebody named it."""
    found = info.spec.get("affinity")
    return found if found in (AFFINITY_OF_VALUES, AFFINITY_OF_VECTORS) else None


def _gone_on(
    store: Store,
    info: SessionInfo,
    k: int | str | None,
    how: dict[str, Any],
    place: str,
) -> tuple[Log, Dataset] | None:
    """Log and items of a session whose folder may have changed since; None where it is another.

    What is new is added, what is gone is noted, and so is another number of clusters: the answers
    stand.
    """
    from superpac.answers.events import NOTE, Draft
    from superpac.answers.growth import CLUSTERS, grown, presence
    from superpac.cache import DiskCache
    from superpac.session.known_items import change_of, without_new
    from superpac.session.session import Session
    from superpac.web.workspace import check_spec

    recipe = info.source if isinstance(info.source, dict) else {}
    noted: dict[str, Any] = {
        part: recipe[part] for part in ("features", "size", "ids") if part in recipe
    }
    pool, places = common.read_places(info, **(how | noted))
    change = change_of(pool, info)
    if change is None:
        common.say(
            f"{place} holds other items than the session {info.name!r} or its rows have changed, "
            "and rows are known by their order: this is a new session, the old one is kept.",
            stderr=True,
        )
        return None
    log = store.open(info.id)
    drafts = presence(change.gone, change.back)
    before = info.spec["n_clusters"]
    clusters = before if k is None else k
    if clusters != before:
        check_spec(Spec.from_dict({**info.spec, "n_clusters": clusters}), pool)
        drafts.append(Draft(NOTE, {CLUSTERS: clusters}))
    if drafts:
        log.append_many(drafts, expected_seq=log.head()[0])
    info = grown(log.info, log.additions())
    items = without_new(pool, info)
    with common.OpeningBars() as progress:
        current = Session.open(items, log, progress=progress, cache=DiskCache())
        added = 0
        if change.new or not pool.by_content:
            added = sum(current.add(found, place=at).count for at, found in places.items())
        items = current.data
    told = [
        f"{count} {word}"
        for count, word in ((added, "new"), (len(change.gone), "gone"), (len(change.back), "back"))
        if count
    ]
    if clusters != before:
        told.append(f"the number of clusters is {clusters} instead of {before}")
    if told:
        answers = current.state.n_answers
        common.say(f"{', '.join(told)}; going on with {answers} answers.", stderr=True)
    return log, items
