"""Teams of a shared task: their members and contacts, which only its organiser sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from closeread.counts.results import Result
from closeread.files import replacing
from closeread.leaderboard.store_files import StoreFile, StoreStruct, read_file
from closeread.tables import Grid, Style

FILE = "teams.json"


class Team(StoreStruct, frozen=True):
    """The members of a team, and how to reach it."""

    members: tuple[str, ...]
    contact: str


class TeamFile(StoreFile, frozen=True):
    """The content of `teams.json`: teams by name."""

    teams: Mapping[str, Team]


@dataclass(frozen=True)
class Teams(Result):
    """The teams of a leaderboard, by name: the author of their submissions."""

    teams: Mapping[str, Team]

    def _to_rows(self) -> tuple[list[str], list[list[str]]]:
        """Return a row for each team."""
        rows = [
            [name, ", ".join(team.members), team.contact]
            for name, team in sorted(self.teams.items())
        ]
        return ["team", "members", "contact"], rows

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table of teams."""
        header, rows = self._to_rows()
        return [Grid("Teams", header, rows, [], texts=frozenset(header), labels=1)]

    def to_dict(self) -> dict[str, Any]:
        """Return the teams as JSON."""
        teams = {}
        for name, team in self.teams.items():
            teams[name] = {"members": list(team.members), "contact": team.contact}
        return {"teams": teams}


def read_teams(folder: Path) -> Teams:
    """Read the teams of a leaderboard in a folder; none if there is no file."""
    path = folder / FILE
    if not path.exists():
        return Teams({})
    return Teams(read_file(TeamFile, path.read_bytes(), path).teams)


def write_teams(folder: Path, teams: Teams) -> None:
    """Write the teams of a leaderboard into its folder."""
    with replacing(folder / FILE) as partial:
        partial.write_bytes(TeamFile(teams.teams).to_bytes())
