from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from runner.definition import Python
from runner.errors import BenchError
from runner.load import load_bench

from .authoring import write_bench, write_files


def refused(folder: Path) -> str:
    with pytest.raises(BenchError) as caught:
        load_bench(folder)
    return str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("trials=0", "trials=0 is not a whole number of at least 1."),
        ("trials=True", "trials=True is not a whole number of at least 1."),
        ("retries=-1", "retries=-1 is not a whole number of at least 0."),
        ("version='one two'", "version='one two' is no version"),
        ("environment='moon'", "environment='moon' is not one of: auto, local, sandbox, container."),
        ("isolation='strict'", "isolation='strict' is not one of: none, sandbox, container."),
        ("evaluation='again'", "evaluation='again' is not one of: none, reuse, fresh."),
        ("evaluation='fresh', save_artifacts=False", "evaluation='fresh' needs save_artifacts=True"),
        ("network=Network(execution='closed')", "Network(execution)='closed' is not one of: open, none."),
        ("workspace='./workspace'", "workspace='./workspace' is neither Workspace(...) nor None"),
        ("workspace=Workspace(retain='all')", "retain='all' is not one of: never, failed, unsolved, always."),
        ("workspace=Workspace(capture=Capture(max_bytes='much'))", "'much' is not a size"),
        ("workspace=Workspace(capture=Capture(ignore='.git'))", "is a list of .gitignore rules"),
        ("workspace=None, suite='make test'", "workspace=None has no suite to run"),
        ("timeouts=Timeouts(request=0)", "Timeouts(request=0) is not a number of seconds above 0."),
        ("budget=Budget(trial='two dollars')", "budget 'two dollars' is no amount of dollars"),
        ("setup='./setup.sh'", "setup='./setup.sh' is not a function"),
        ("judge='gpt'", "judge='gpt' is neither Judge(...) nor None."),
        ("tests='../bench_*.py'", "must be a pattern below the folder tests/"),
        ("suite='{pyton} -m pytest'", "The command of suite has the placeholder {pyton}; known here are {python}."),
        ("suite='{python -m pytest'", "The command of suite cannot be read"),
        ("suite='pytest \"-q'", "The command of suite cannot be split into arguments (No closing quotation)."),
        (
            "agents={'a': Command('tool --model {model}')}",
            "agent 'a' has the placeholder {model}; known here are {prompt}",
        ),
        ("agents={'a': Command('tool {promt}')}", "has the placeholder {promt}"),
        ("agents={'a': Command('')}", "Agent 'a': Command() needs a command."),
        ("agents={'a': Command(['sh', '-c', 'x y'])}", "takes one text, not a list; write Command(\"sh -c 'x y'\")."),
        ("agents={'a': Command(5)}", "Agent 'a': Command(template=5) is not text."),
        ("agents={'a': Command('true', version=2)}", "Agent 'a': Command(version=2) is not text."),
        ("agents={'a': Command('true', env={'A': 1})}", "Command(env={'A': 1}) is not a dict of variables to texts."),
        (
            "agents={'a': Command('true', credentials='/etc/x')}",
            "is no file of your home; write it as '~/.tool/auth.json'.",
        ),
        ("agents={'a': Command('true', credentials=True)}", "Agent 'a': Command(credentials=True) is not text."),
        ("agents={'a': Cli('codex', credentials='~/../x')}", "Cli(credentials='~/../x') is no file of your home"),
        ("agents={'a': Cli('codex', options='-x')}", "Cli(options='-x') is not a list of texts."),
        ("agents={'a': Scripted(5)}", "Agent 'a': Scripted() takes a list of steps, not 5."),
        ("agents={'a': Scripted([], when=['Again'])}", "Scripted(when=['Again']) is not a list of (text, steps)."),
        ("agents={'a': Scripted([], seeded=[('often', [])])}", "the probabilities ['often'] must lie in 0..1"),
        ("budget='$2'", "budget='$2' is not Budget(trial=, total=)"),
        ("secrets=5", "secrets=5 is not a list of axis names."),
        ("workspace=Workspace(capture=None)", "capture=None is not Capture(ignore=, max_bytes=)."),
        ("workspace=Workspace(capture=Capture(max_bytes=None))", "None is not a size"),
        ("agents={'a': 'tool'}", "Agent 'a' is 'tool'; declare it with Command, Python, Scripted or Cli."),
        ("agents={'a': Python(lambda prompt: '')}", "must be a function at the top level of a module"),
        ("agents={'a': Python('solver')}", "'solver' is not of the form 'module:function'."),
        ("agents={'a': Scripted([{'do': 'fly'}])}", "the script has as step 1 {'do': 'fly'}, which is none of: write"),
        ("agents={'a': Scripted([{'do': 'write', 'path': 'x'}])}", "a step 1 (write) without a proper 'text'"),
        ("agents={'a': Scripted([], seeded=[(0.7, []), (0.7, [])])}", "add up to at most 1"),
        ("agents={'a b': Scripted([])}", "'a b' is no name for an agent"),
        ("secrets=['env.KEY']", "secrets= names 'env.KEY', which is no axis of the matrix."),
        ("matrix={'agent': 'nobody'}", "Axis 'agent' names 'nobody', which is not declared"),
        ("matrix=['codex']", "matrix=['codex'] is not a dict of axis names to values."),
    ],
)
def test_a_wrong_value_is_refused_with_the_line_of_the_call(tmp_path: Path, options: str, said: str) -> None:
    message = refused(write_bench(tmp_path, options))
    assert message.startswith(f"{tmp_path / 'bench.py'}:6: ")
    assert said in message


def test_a_name_needs_an_owner(tmp_path: Path) -> None:
    write_bench(tmp_path)
    text = (tmp_path / "bench.py").read_text().replace("acme/demo", "demo")
    (tmp_path / "bench.py").write_text(text)
    assert "name='demo' is no bench name; write 'owner/name'" in refused(tmp_path)


def test_a_misspelt_option_is_told_with_its_line(tmp_path: Path) -> None:
    message = refused(write_bench(tmp_path, "trails=3"))
    assert message.startswith(f"{tmp_path / 'bench.py'}:6: It raised TypeError")
    assert "'trails'" in message


def test_no_bench_is_said_with_the_way_out(tmp_path: Path) -> None:
    assert (
        refused(tmp_path) == f"There is no bench.py in {tmp_path}; `benchsite init {tmp_path}` makes a bench that runs."
    )


def test_a_syntax_error_is_told_with_its_line(tmp_path: Path) -> None:
    write_files(tmp_path, {"bench.py": "import runner\nbench = define_bench(\n"})
    message = refused(tmp_path)
    assert message.startswith(f"{tmp_path / 'bench.py'}:2: It is not valid Python: ")
    write_files(tmp_path, {"bench.py": "import runner\nbench = [1 2]\n"})
    assert refused(tmp_path).endswith("Perhaps you forgot a comma?")


def test_an_exception_is_told_where_the_bench_raised_it(tmp_path: Path) -> None:
    write_files(tmp_path, {"bench.py": "import helpers\n", "helpers.py": "\n\nint('x')\n"})
    message = refused(tmp_path)
    assert message.startswith(f"{tmp_path / 'helpers.py'}:3: It raised ValueError: invalid literal")


def test_a_step_that_was_taken_for_a_whole_run_is_told_apart(tmp_path: Path) -> None:
    write_files(tmp_path, {"bench.py": "from runner import *\nScripted([run('ls')])\n"})
    message = refused(tmp_path)
    assert message.endswith(
        "bench.py:2: It raised RuntimeError: a bench cannot run one while it is read; a step of a script is "
        "`steps.run(...)`."
    )


def test_an_exit_in_bench_py_does_not_end_the_runner(tmp_path: Path) -> None:
    write_files(tmp_path, {"bench.py": "import sys\nsys.exit(0)\n"})
    assert ":2: It raised SystemExit: 0." in refused(tmp_path)


@pytest.mark.parametrize(("text", "said"), [("x = 1\n", "no bench"), ("", "no bench")])
def test_a_file_that_declares_nothing_is_refused(tmp_path: Path, text: str, said: str) -> None:
    write_files(tmp_path, {"bench.py": text})
    assert f"It declares {said}; write exactly one `bench = define_bench(...)`." in refused(tmp_path)


def test_two_benches_in_one_file_are_refused(tmp_path: Path) -> None:
    write_bench(tmp_path)
    text = (tmp_path / "bench.py").read_text()
    (tmp_path / "bench.py").write_text(text + text.splitlines()[-1].replace("bench =", "other ="))
    assert "It declares 2 benches" in refused(tmp_path)


def test_two_benches_may_have_neighbours_of_the_same_name(tmp_path: Path) -> None:
    for number in (1, 2):
        files = {"helpers.py": f"TRIALS = {number}\n"}
        write_bench(tmp_path / str(number), "trials=__import__('helpers').TRIALS", files=files)
    assert [load_bench(tmp_path / str(number)).trials for number in (1, 2)] == [1, 2]
    assert not list(tmp_path.rglob("__pycache__"))


def test_a_callable_agent_is_named_so_that_its_process_finds_it(tmp_path: Path) -> None:
    files = {"solver.py": "def there(prompt, workspace, axes):\n    return ''\n"}
    schema = (
        "from solver import there\ndef here(prompt, workspace, axes):\n    return ''\nclass Schema:\n    ok: bool\n"
    )
    options = 'agents={"here": Python(here), "there": Python(there)}, matrix={"agent": ["here", "there"]}'
    bench = load_bench(write_bench(tmp_path, options, schema, files))
    assert bench.agents == {"here": Python("bench:here"), "there": Python("solver:there")}


def test_importing_the_runner_loads_nothing_heavy() -> None:
    code = "import sys, runner; print([m for m in ('numpy', 'scipy', 'pytest', 'rich', 'django') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
