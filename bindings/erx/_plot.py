"""A report as a picture: where the violations lie, coloured by their distance. matplotlib is needed here only."""

from __future__ import annotations

import numpy as np

from . import _erx

_MOST_PANELS = 12


def _matplotlib():
    try:
        import matplotlib.pyplot as plt
        from matplotlib import colormaps, colors, ticker
    except ImportError as error:
        raise ImportError("report.plot() draws with matplotlib, which is not installed (pip install matplotlib); "
                          "`erx check --plot FILE.svg` needs nothing") from error
    return plt, colormaps, colors, ticker


def _chosen(report: _erx.Report, result: int | str | None) -> _erx.ResultReport:
    results = report.results
    if not results:
        raise ValueError("there is nothing to draw: the spec does not apply to these inputs")
    if result is None:
        return max(results, key=lambda r: r.violations)
    if isinstance(result, str):
        for r in results:
            if r.name == result:
                return r
        raise KeyError(f"there is no result `{result}`; there are: {', '.join(r.name for r in results)}")
    return results[result]


def _axis_name(axis: int, rank: int) -> str:
    name = {2: "row", 1: "column"}.get(rank - axis, "index") if rank > 1 else "index"
    return name + (f" (axis {axis})" if rank > 2 else "")


def draw(report: _erx.Report, result: int | str | None, axes: object) -> np.ndarray:
    plt, colormaps, colors, ticker = _matplotlib()
    r = _chosen(report, result)
    picture = r.picture(_MOST_PANELS, 512, 1024)
    panels, rank = picture["panels"], len(r.shape)
    wanted = len(panels) + 1
    if axes is None:
        across = 1 if len(panels) <= 1 else 2
        down = -(-len(panels) // across)
        figure = plt.figure(figsize=(6 * across + 1, (2.4 if down > 1 else 3.6) * down + 2.6), layout="constrained")
        grid = figure.add_gridspec(down + 1, across, height_ratios=[1] * down + [0.8])
        places = [figure.add_subplot(grid[k // across, k % across]) for k in range(len(panels))] + [figure.add_subplot(grid[down, :])]
    else:
        places = list(np.ravel(axes))
        if len(places) != wanted:
            raise ValueError(f"this picture has {wanted} axes ({len(panels)} panels and the distance by column); {len(places)} were given")
        figure = places[0].figure

    # One colour a decade, dark for far; black for NaN and infinities, grey where nothing is outside.
    low = int(np.floor(np.log10(max(picture["smallest"], 1))))
    high = max(int(np.floor(np.log10(max(picture["largest"], 1)))) + 1, low + 1)
    colours = colormaps["viridis_r"].with_extremes(bad="#ebebeb", over="black")
    scale = colors.BoundaryNorm(10.0 ** np.arange(low, high + 1), colours.N) if high > low + 1 else colors.LogNorm(10.0**low, 10.0**high)
    rows, columns = picture["rows"], picture["columns"]
    # Bins at the end may be cut off: their edges are those of elements.
    x_edges = np.minimum(np.arange(-(-columns // picture["column_bin"]) + 1) * picture["column_bin"], columns) - 0.5
    y_edges = np.minimum(np.arange(-(-rows // picture["row_bin"]) + 1) * picture["row_bin"], rows) - 0.5
    mesh = None
    for place, (title, cells) in zip(places, panels):
        shown = np.ma.masked_equal(np.where(np.isinf(cells), 10.0 ** (high + 1), cells), 0)
        mesh = place.pcolormesh(x_edges, y_edges, shown, cmap=colours, norm=scale, rasterized=True)
        place.set_facecolor("#ebebeb")
        place.invert_yaxis()
        place.set_title(title, fontsize="small", loc="left")
        place.set_xlabel(_axis_name(rank - 1, rank) if rank else "")
        if rank >= 2:
            place.set_ylabel(_axis_name(rank - 2, rank))
        else:
            place.set_yticks([])
    if mesh is not None and r.violations:
        bar = figure.colorbar(mesh, ax=places[:-1], extend="max" if picture["special"] else "neither", label="largest distance (ulps); grey: none outside",
                              format=ticker.LogFormatterSciNotation())
        if picture["special"]:
            bar.ax.set_title("NaN, inf", fontsize="small")
    last = places[-1]
    centres = (x_edges[:-1] + x_edges[1:]) / 2
    last.plot(centres, np.maximum(np.exp2(picture["by_column"]) - 1, 1), color="#365c8d", marker="." if np.isnan(picture["by_column"]).mean() > 0.5 else None)
    if r.violations and picture["largest"] > 0:
        last.set_yscale("log")
    last.set_xlim(-0.5, columns - 0.5)
    last.set_xlabel(_axis_name(rank - 1, rank) if rank else "")
    last.set_ylabel("mean distance\nof those outside (ulps)")
    last.grid(True, color="#dddddd")
    lines = [f"{r.name or 'output'}: {r.violations:,} of {r.checked:,} elements are outside"] + [text for _, text in r.findings]
    if axes is None:
        figure.suptitle("\n".join(line if len(line) < 150 else line[:147] + "..." for line in lines), fontsize="small", ha="left", x=0.02)
    return np.array(places, dtype=object)
