"""``superpac label``: the labelling page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from superpac.cli import common
from superpac.cli.sessions import opened, store_address
from superpac.errors import InputError
from superpac.session.spec import DEFAULT_AFFINITY, DEFAULT_STRATEGY, Spec

if TYPE_CHECKING:
    from superpac.data import Dataset
    from superpac.store import Store


def label(
    data: common.DataArgument,
    k: common.OpenClustersOption,
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
    colour: common.ColourOption = False,
    standardise: common.StandardiseOption = False,
    seed: common.SeedOption = 0,
    store: common.StoreOption = None,
    overlap: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of pairs that two people are asked.")
    ] = 0.0,
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
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
) -> None:
    """Answer questions about DATA in the browser; run it again to go on."""
    from superpac.answers.growth import grown
    from superpac.session.item_names import remember
    from superpac.web import security
    from superpac.web.log_lines import make_plain
    from superpac.web.server import bind, serve
    from superpac.web.workspace import Workspace, check_spec, find_or_create

    make_plain()
    if behind_https and not allow_host:
        raise InputError(
            "--behind-https needs the name that people call the page by; give it with --allow-host."
        )
    address = security.check_bind(host, share=share, token_given=token_file is not None)
    token = security.new_token() if token_file is None else security.read_token(token_file)
    items, source = common.read_source(
        data,
        labels=labels,
        ids=ids,
        size=size,
        colour=colour,
        standardise=standardise,
        features=features,
        text=text,
    )
    spec = Spec(k, affinity, strategy, common.parse_options(option), dim, seed)
    check_spec(spec, items)
    with opened(store, create=True) as kept:
        items = _with_additions(kept, items, source, spec, name)
        log, resumed = find_or_create(kept, items, spec, name, source)
        items = remember(items, grown(log.info, log.additions()))
        sock = bind(address, port)
        shared = "://" in store_address(store) and not store_address(store).startswith("sqlite")
        workspace = Workspace(items, kept, log, shared=shared, overlap=overlap)
        verb = "goes on" if resumed else "is ready"
        hosts = tuple(allow_host or ())
        if share:
            hosts = (*hosts, f"[{address}]" if ":" in address else address)
        serve(
            workspace,
            sock,
            token,
            hosts=hosts,
            behind_https=behind_https,
            announce=lambda url: common.say(f"{log.info.name} {verb} at {url}"),
            browser=browser,
        )


def _with_additions(
    store: Store, items: Dataset, source: dict[str, str | bool], spec: Spec, name: str | None
) -> Dataset:
    """The items and all that was added since to the session that began with them, if there is one.

    Others would be a new session: somebody who names the first folder means the one that has grown.
    """
    for found in reversed(store.sessions()):
        info = found.now
        known = info.source if isinstance(info.source, dict) else {}
        same = info.spec == spec.to_dict() and (name is None or info.name == name)
        if same and info is not found.info and source.items() <= known.items():
            return common.read_items(info)
    return items
