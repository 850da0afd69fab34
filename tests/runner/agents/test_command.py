from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import runner
from runner.agents import check_template, command
from runner.agents.programs import places
from runner.definition import Command
from runner.errors import AgentMissing, BenchError

from .asking import Desk

Make = Callable[..., Desk]


def test_without_a_placeholder_the_prompt_comes_by_stdin(desk: Make) -> None:
    reading, done = desk(Command("cat")).request("- a prompt that looks like an option\n")
    assert (done.exit_code, reading.text) == (0, "- a prompt that looks like an option\n")


def test_a_value_is_one_argument_whatever_it_holds(desk: Make) -> None:
    show = "{python} -c 'import sys; print(len(sys.argv), sys.argv[1], sys.stdin.read() == \"\")' {prompt} {model}"
    reading, _ = desk(Command(show), {"model": "a b; rm -rf $HOME"}).request("two words `x`")
    assert reading.text == "3 two words `x` True\n"


def test_the_prompt_file_holds_the_prompt(desk: Make) -> None:
    assert desk(Command("cat {prompt_file}")).request("héllo\n")[0].text == "héllo\n"


def test_dotted_axes_fill_placeholders_and_env_axes_reach_the_environment(desk: Make) -> None:
    template = "sh -c 'echo $EFFORT $FIXED $1' x {config.effort.level}"
    one = desk(Command(template, env={"FIXED": "f"}), {"env.EFFORT": 3, "config.effort.level": True})
    assert one.request()[0].text == "3 f true\n"


def test_nothing_of_the_runners_own_environment_is_handed_on(desk: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    one = desk(Command("env"))
    assert "ANTHROPIC_API_KEY" not in one.module.invoke(one.ask("x")).env


def test_an_unknown_placeholder_is_refused_with_what_there_is() -> None:
    with pytest.raises(BenchError, match=r"unknown placeholder \{modle\}.*\{model\}"):
        check_template(Command("tool {modle}"), ["agent", "model"])


def test_the_model_can_only_be_named_where_it_varies() -> None:
    with pytest.raises(BenchError, match=r"unknown placeholder \{model\}"):
        check_template(Command("tool {model}"), ["agent"])


@pytest.mark.parametrize(
    ("template", "why"), [("tool 'x", "cannot be split"), ("tool {x", "cannot be split"), ("", "is empty")]
)
def test_a_template_that_is_no_command_is_refused(template: str, why: str) -> None:
    with pytest.raises(BenchError, match=why):
        check_template(Command(template), [])


def test_a_program_that_is_not_there_is_missing_before_a_run_and_a_boot_fault_within_one(desk: Make) -> None:
    spec = Command("no-such-agent-program --flag")
    with pytest.raises(AgentMissing, match="'no-such-agent-program'"):
        command.probe(spec, {})
    reading, _ = desk(Command("env no-such-agent-program")).request()
    assert reading.fault is not None
    assert reading.fault[0] == "boot"
    assert "no-such-agent-program" in reading.fault[1]


def test_a_program_that_worked_and_then_ends_with_127_did_start(desk: Make) -> None:
    reading, _ = desk(Command("sh -c 'echo worked; exit 127'")).request()
    assert (reading.fault, reading.flags) == (None, ("exit_code",))


def test_a_failing_program_is_the_subjects_and_its_spending_unknown(desk: Make) -> None:
    reading, done = desk(Command("sh -c 'echo half; exit 4'")).request()
    assert (done.exit_code, reading.fault, reading.flags, reading.text) == (4, None, ("exit_code",), "half\n")
    assert reading.usage.to_json() == {}


def test_a_huge_output_keeps_its_beginning_and_its_end(desk: Make) -> None:
    reading, _ = desk(Command('{python} -c \'print("first" + "x" * 5_000_000 + "last")\'')).request()
    assert len(reading.text) < 1_100_000
    assert reading.text.startswith("first")
    assert reading.text.endswith("last\n")
    assert "bytes left out" in reading.text


def test_the_version_is_what_the_version_command_says() -> None:
    spec = Command("{python} -c pass", version="{python} --version")
    assert command.probe(spec, {}).version == ".".join(map(str, sys.version_info[:3]))


def test_a_version_command_that_fails_says_so() -> None:
    spec = Command("{python} -c pass", version="{python} -c 'import sys; sys.exit(\"broken install\")'")
    with pytest.raises(AgentMissing, match="exit code 1: broken install"):
        command.probe(spec, {})


def test_a_pin_names_variables_but_never_their_values() -> None:
    spec = Command("tool", env={"TOKEN": "s3cret"})
    pin = command.pin(spec, {"env.KEY": "other-s3cret"}, command.Probe("1.0"))
    assert "s3cret" not in repr(pin)
    assert (pin["variables"], pin["env"]) == (["TOKEN"], ["KEY"])


def test_a_program_of_another_python_is_shown_with_it(tmp_path: Path) -> None:
    """uv, pipx and pyenv keep their Pythons in a home, which a sandbox does not show."""
    for name in ("pythons/3.12/bin", "tool/bin"):
        (tmp_path / name).mkdir(parents=True)
    python = tmp_path / "pythons/3.12/bin/python3.12"
    python.touch()
    (tmp_path / "tool/bin/python").symlink_to(python)
    for name in ("tool/bin/tool", "pythons/3.12/bin/tool"):
        (tmp_path / name).write_text(f"#!{python}\n")
    assert tmp_path / "pythons/3.12" in places(tmp_path / "pythons/3.12/bin/tool")
    (tmp_path / "tool/pyvenv.cfg").touch()
    (tmp_path / "link").symlink_to(tmp_path / "tool/bin/tool")
    for program in (tmp_path / "tool/bin/tool", tmp_path / "link"):
        assert {tmp_path / "tool", tmp_path / "pythons/3.12"} <= set(places(program))


def test_a_program_that_may_be_run_and_not_read_is_shown_as_it_is() -> None:
    """As somebody else, with the system's Python and a copy of the runner: root may read everything."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(Path(runner.__file__).parent, Path(folder) / "runner", ignore=lambda *_: ["__pycache__"])
        tool = Path(folder) / "tool"
        shutil.copyfile("/bin/true", tool)
        tool.chmod(0o711 if os.getuid() == 0 else 0o111)
        Path(folder).chmod(0o755)
        user = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
        code = "import sys; from pathlib import Path; from runner.agents.programs import places; "
        code += "print(*places(Path(sys.argv[1])))"
        argv = ["/usr/bin/python3", "-B", "-c", code, str(tool)]
        told = subprocess.run(argv, cwd=folder, env={}, capture_output=True, text=True, check=False, **user)
    assert (told.stdout, told.stderr) == (f"{tool}\n", "")
