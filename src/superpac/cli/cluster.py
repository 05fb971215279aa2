"""``superpac cluster``: from data to clusters without a question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from superpac.cli import common
from superpac.errors import InputError
from superpac.session.spec import AUTO, DEFAULT_AFFINITY, Spec

RUNS = 20  # of k-means

if TYPE_CHECKING:
    import numpy as np

    from superpac.data import Dataset


def cluster(
    data: common.DataArgument,
    k: common.EstimatedClustersOption = AUTO,
    affinity: common.AffinityOption = DEFAULT_AFFINITY,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            callback=common.check_file,
            help="Write item and cluster here, as CSV; - is standard output.",
        ),
    ] = None,
    plot: common.PlotOption = None,
    dim: Annotated[int | None, typer.Option(min=1, help="Subspace dimension, for --plot.")] = None,
    labels: common.LabelsOption = None,
    ids: common.IdsOption = None,
    size: common.SizeOption = None,
    features: common.FeaturesOption = None,
    text: common.TextOption = None,
    show: common.ShowOption = None,
    colour: common.ColourOption = False,
    standardise: common.StandardiseOption = False,
    seed: common.SeedOption = 0,
    dask: common.DaskOption = None,
    device: common.DeviceOption = "auto",
    as_json: common.JsonOption = False,
) -> None:
    """Cluster DATA from an affinity, without asking anybody."""
    import numpy as np

    from superpac.affinity.registry import make_affinity
    from superpac.cache import DiskCache
    from superpac.device.choice import choose_device
    from superpac.graph.cluster_count import counting_work
    from superpac.graph.spectral import cluster_rows, spectral_embedding, spectral_work
    from superpac.session.exports import write_labels
    from superpac.session.problem import build_affinity, estimate_count
    from superpac.system.progress import parts_of

    piped = common.is_standard_output(output)
    if piped and as_json:
        raise InputError("--json and -o - both want standard output; give -o a file.")
    common.use_device(device)
    common.check_dask(dask, affinity)
    with common.Stages(quiet=as_json) as stages:
        with stages.stage("load"):
            items = common.read_new(
                data,
                labels=labels,
                ids=ids,
                size=size,
                colour=colour,
                standardise=standardise,
                features=features,
                text=text,
                show=show,
            )
        spec = Spec(k, affinity).settled(items)
        affinity, given = spec.affinity, spec.clusters
        make_affinity(affinity, given, random_state=seed)  # says at once what is wrong with it
        with stages.stage("affinity") as progress, common.work_on(dask) as where:
            graph = build_affinity(
                items, affinity, given, seed, progress=progress, cache=DiskCache(), where=where
            )
        estimated = k == AUTO
        with stages.stage("spectral") as progress:
            there = choose_device(points=len(items))
            vectors, labels_work = spectral_work(graph, given, RUNS)
            guess = counting_work(graph) if estimated else 0.0
            counting, finding, placing = parts_of(progress, [guess, vectors, labels_work])
            k = estimate_count(graph, seed, there, counting) if estimated else given
            rng = np.random.RandomState(seed)
            found = spectral_embedding(graph, k, random_state=rng, device=there, progress=finding)
            clusters = cluster_rows(
                found.rows(), k, n_init=RUNS, rng=rng, device=there, progress=placing
            )
    result: dict[str, Any] = {
        "data": items.name,
        "points": len(items),
        "clusters": k,
        "clusters_estimated": estimated,
        "affinity": affinity,
        "neighbours": round(graph.nnz / max(len(items), 1), 2),
        "components": found.n_components,
        **measure(items, clusters),
        "seconds": stages.seconds,
    }
    if found.n_components > k:
        common.say(
            f"The affinity graph has {found.n_components} connected components for {k} clusters; "
            "small ones were placed arbitrarily. Use more neighbours (a larger q, k or gamma).",
            stderr=True,
        )
    if output is not None:
        write_labels(output, items, clusters)
        result["output"] = str(output)
    if plot is not None:
        drawn = _draw(plot, items, clusters, found.rows(), k, dim, title=_headline(result))
        result["plot"] = str(drawn)
    if as_json:
        common.print_json(result)
    else:
        _say(result, aside=piped)


def _draw(
    plot: Path,
    items: Dataset,
    clusters: np.ndarray,
    rows: np.ndarray,
    k: int,
    dim: int | None,
    title: str,
) -> Path:
    """Draw the clusters, the items first that lie closest to their cluster's subspace."""
    from superpac.affinity.base import unit_rows
    from superpac.plots import draw_clusters
    from superpac.subspaces.geometry import choose_dim, fit_bases, margins, residuals

    X = unit_rows(items.X)
    d = dim or items.default_dim or choose_dim(X, clusters, k, max_dim=min(20, X.shape[1]))
    sureness = margins(residuals(X, fit_bases(X, clusters, k, d)))
    return draw_clusters(plot, items, clusters, rows, sureness, title=title)


def measure(items: Dataset, clusters: np.ndarray) -> dict[str, float | None]:
    """Error, ARI and NMI; null without truth."""
    from superpac.metrics import adjusted_rand, clustering_error, normalized_mutual_info

    if items.y is None:
        return {"error": None, "ari": None, "nmi": None}
    return {
        "error": clustering_error(items.y, clusters),
        "ari": adjusted_rand(items.y, clusters),
        "nmi": normalized_mutual_info(items.y, clusters),
    }


def _headline(result: dict[str, Any]) -> str:
    words = f"{result['data']}: {result['points']} items in {result['clusters']} clusters"
    if result["clusters_estimated"]:
        words += " (estimated; -k says how many there are)"
    if result["error"] is not None:
        words += f", {100 * (1 - result['error']):.1f}% right without a question"
    return words


def _say(result: dict[str, Any], aside: bool) -> None:
    common.say(_headline(result), "bold", stderr=aside)
    took = ", ".join(f"{name} {s:.1f} s" for name, s in result["seconds"].items())
    common.say(f"{result['affinity']}, {result['components']} component(s); {took}", stderr=aside)
    if result["ari"] is not None:
        common.say(
            f"error {100 * result['error']:.1f}%  ARI {result['ari']:.3f}  NMI {result['nmi']:.3f}",
            stderr=aside,
        )
    for what in ("output", "plot"):
        if what in result:
            common.say(f"Written: {result[what]}", stderr=aside)
