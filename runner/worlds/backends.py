"""How a trial gets its world: a copy of the template, or the template with a layer over it. Both look the same."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from runner.blobs import BlobStore
from runner.errors import EnvironmentRefused
from runner.paths import StrPath
from runner.processes import output_of

from . import mounting
from .baseline import Baseline, take_baseline
from .copying import copy_world, read_umask
from .keeping import script
from .layers import LayeredBaseline, Lower
from .places import WORLD, Place, drop_place, make_place, remove_tree
from .rules import Rules
from .tree import Tree

COPY, OVERLAY, AUTO = "copy", "overlay", "auto"
WORLDS = (AUTO, COPY, OVERLAY)
VARIABLE = "BENCHSITE_WORLD"
PAYS_FROM = 500
"""Files of a template from which a layer pays: a smaller one is copied while a namespace is being made."""
INSIDE = frozenset({"local", "sandbox"})
"""Environments whose processes are the trial's own descendants. A container's service would not see the mount."""
QUIET = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}

_TRIES = itertools.count(1)
TakeBaseline = Callable[[BlobStore, Rules], Baseline]


@dataclass(frozen=True)
class Copying:
    source: StrPath | None
    template: Tree | None
    umask: int = field(default_factory=read_umask)
    name = COPY
    mounts_again = False

    def set_up(self, place: Place, *, alone: bool = False) -> TakeBaseline:
        """Make the world; what is given back takes its baseline once setup has run. `alone`: there is no setup."""
        world = place.at(WORLD)
        copied = copy_world(self.source, world, self.umask)
        copied.alone = alone
        return lambda blobs, rules: take_baseline(world, self.template, blobs, rules, copied)


@dataclass(frozen=True)
class Overlay:
    style: str
    lower: Lower
    name = OVERLAY

    @property
    def mounts_again(self) -> bool:
        """Whether a process that has mounted one may mount another: in a user namespace it gave its powers up."""
        return self.style != mounting.USER

    def set_up(self, place: Place, *, alone: bool = False) -> TakeBaseline:
        """Make the world in a mount namespace of this process: all that it starts from now on sees it, nobody else."""
        layers = place.layers(self.style)
        mounting.make_layers(os.fspath(layers))
        try:
            mounting.mount(self.style, os.fspath(self.lower.root), os.fspath(layers), os.fspath(place.world))
        except OSError:
            remove_tree(layers)  # whoever finds them takes the world for an overlay
            raise
        return lambda blobs, rules: LayeredBaseline.taken(place.world, self.lower, layers, self.style, blobs, rules)


@dataclass(frozen=True)
class Choice:
    """`style` is how an overlay is mounted, "" where worlds are copied; `warning` is for whoever runs the bench."""

    style: str = ""
    warning: str = ""

    @property
    def name(self) -> str:
        return OVERLAY if self.style else COPY


def choose_world(
    wanted: str | None, source: Path | None, template: Tree | None, environment: str, code: Iterable[str] = ()
) -> Choice:
    """Choose between copy and overlay by trying. An overlay that was asked for and cannot be had is refused.

    `code` is what the bench runs on this machine: where it speaks of docker, whose service sees no trial's mounts,
    worlds are copies unless overlays were asked for."""
    asked = "--world" if wanted else VARIABLE
    wanted = wanted or os.environ.get(VARIABLE) or AUTO
    if wanted not in WORLDS:
        raise EnvironmentRefused(f"{asked}: there are no worlds of the kind {wanted!r}; choose {', '.join(WORLDS)}.")
    if wanted == COPY or source is None or template is None:
        return Choice()  # an empty world has nothing to lie over
    if wanted == AUTO and (template.files < PAYS_FROM or environment not in INSIDE):
        return Choice()
    if wanted == AUTO and environment == "local" and any("docker" in text.lower() for text in code):
        return Choice()
    style, flaw = _found(source, template, environment)
    if wanted == AUTO:
        return Choice("" if flaw else style)
    if not style:
        raise EnvironmentRefused(f"Worlds cannot be overlays here: {flaw} Use --world copy.")
    return Choice(style, flaw)


def backend(kind: str, source: Path | None, template: Tree | None, environment: str, rules: Rules) -> Copying | Overlay:
    """Make ready what was chosen, for the trials of a server; copies where an overlay can be had no more."""
    if kind == OVERLAY and source is not None and template is not None:
        style, _ = _found(source, template, environment)
        if style:
            return Overlay(style, Lower(source, template, rules))
    return Copying(source and os.fspath(source), template)


def _found(source: Path, template: Tree, environment: str) -> tuple[str, str]:
    """Give the style that works, and what is wrong with it or why there is none."""
    if environment not in INSIDE:
        return "", f"the environment {environment!r} would not see what is mounted for a trial alone."
    if stranger := _of_others(source, template):
        return "", f"{stranger} belongs to another user or group, which an overlay would show to the agent."
    tried = try_styles(source)
    for style in mounting.STYLES:
        if tried.get(style) == "ok":
            return style, ""
    for style in mounting.STYLES:
        if tried.get(style) == "flat":
            return (
                style,
                "Overlay worlds without root: renaming a folder of the template fails with EXDEV, as in containers.",
            )
    return "", f"the kernel refuses to mount one ({'; '.join(f'{name}: {why}' for name, why in tried.items())})."


def _of_others(source: Path, template: Tree) -> str:
    ours = os.geteuid(), os.getegid()
    for path in ("", *(entry.path for entry in template.entries)):
        status = os.lstat(f"{source}/{path}")
        if (status.st_uid, status.st_gid) != ours:
            return f"{source}/{path}"
    return ""


def try_styles(source: Path) -> dict[str, str]:
    """Mount over this template, where worlds live, in every style; "ok", "flat" or the reason for each."""
    place = make_place("trying-overlays", os.getpid(), next(_TRIES))
    try:
        argv = [*script(), str(source), str(place.root / "layers"), str(place.world)]
        _, said = output_of(argv, cwd=place.root, env=QUIET, timeout=60)
    finally:
        drop_place(place)
    rows = (line.partition(" ") for line in said.splitlines())
    return {style: answer for style, _, answer in rows if style in mounting.STYLES}
