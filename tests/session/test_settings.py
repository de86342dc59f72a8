"""Settings: files of the user and of the project, the environment above both, and errors that name the place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stillframe.errors import UsageError
from stillframe.settings import PerProject, Settings, directory, load, origins, project_root


def test_the_environment_wins_over_the_project_and_the_project_over_the_user(tmp_path: Path) -> None:
    (tmp_path / "stillframe").mkdir()
    (tmp_path / "stillframe" / "config.toml").write_text("wait = 1\nlease = 2\nbudget = 3\n")
    (tmp_path / "stillframe.toml").write_text("lease = 20\nbudget = 30\n")
    found = load({"XDG_CONFIG_HOME": str(tmp_path), "STILLFRAME_BUDGET": "300"}, tmp_path)
    assert (found.wait, found.lease, found.budget) == (1.0, 20.0, 300)


def test_a_projects_settings_are_read_again_when_its_file_changes(tmp_path: Path) -> None:
    projects = PerProject()
    assert projects.at(str(tmp_path)) == Settings()
    (tmp_path / "pyproject.toml").write_text("[tool.stillframe]\nwait = 5\nlog-events = true\n")
    assert (projects.at(str(tmp_path)).wait, projects.at(str(tmp_path)).log_events) == (5.0, True)


def test_the_users_own_settings_are_read_again_too(tmp_path: Path) -> None:
    projects = PerProject()
    assert projects.at(str(tmp_path)) == Settings()
    users = directory("config") / "config.toml"
    users.parent.mkdir(parents=True)
    users.write_text("wait = 5\n")
    assert projects.at(str(tmp_path)).wait == 5.0
    assert projects.origins(str(tmp_path)) == {"wait": str(users)}


def test_where_a_setting_comes_from_is_whoever_it_is_so_by(tmp_path: Path) -> None:
    (tmp_path / "stillframe").mkdir()
    user, project = tmp_path / "stillframe" / "config.toml", tmp_path / "stillframe.toml"
    user.write_text('wait = 1\nbudget = 3\nallow = "inspect"\nask = "exec"\n')
    project.write_text('record-days = 30\nallow = "control"\nask = "control"\n')
    assert origins({"XDG_CONFIG_HOME": str(tmp_path), "STILLFRAME_BUDGET": "300"}, tmp_path) == {
        "wait": str(user),
        "budget": "the environment",
        "allow": str(user),  # which the project's would only widen
        "ask": str(project),
        "record_days": str(project),
    }


@pytest.mark.parametrize("text", ["wait = 'long'", "wait = -1", "wait = inf", "log_events = 'perhaps'", "wait ="])
def test_a_value_that_does_not_fit_is_a_usage_error_that_names_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "stillframe.toml").write_text(text)
    with pytest.raises(UsageError, match=r"stillframe\.toml"):
        load({}, tmp_path)


def test_a_name_that_is_mistyped_is_a_usage_error_and_one_that_nobody_knows_is_let_be(tmp_path: Path) -> None:
    (tmp_path / "stillframe.toml").write_text('later_on = 1\n[adapters.zig]\ncommand = ["zig-dap"]\n')
    assert load({}, tmp_path).allow == "exec"
    (tmp_path / "stillframe.toml").write_text('alow = "inspect"\n')
    with pytest.raises(UsageError, match=r"no setting alow, as stillframe\.toml has it: did you mean allow\?"):
        load({}, tmp_path)


def test_a_project_begins_at_the_nearest_sign_of_one(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "a" / "pyproject.toml").touch()
    assert project_root(str(deep)) == str(tmp_path / "a")
    os.utime(deep, (1, 1))  # the clock of a file system is coarse: what comes next could seem to be of the same moment
    assert project_root(str(deep)) == str(tmp_path / "a")
    (deep / ".git").mkdir()
    assert project_root(str(deep)) == str(deep)
    os.utime(deep, (1, 1))
    assert project_root(str(deep)) == str(deep)
    (deep / ".git").rmdir()
    assert project_root(str(deep)) == str(tmp_path / "a")
