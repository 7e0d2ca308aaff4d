"""Editors: word lists are those of the program, every file of the project is coloured without an error, shells complete."""
import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import top

import pygments
from erx import _pygments as lexer  # noqa: E402
from pygments.token import Comment, Error, Keyword, Name, Number, String  # noqa: E402

GRAMMAR = json.loads((top / "docs" / "editors" / "erx.tmLanguage.json").read_text())
FILES = sorted({*top.glob("examples/**/*.erx"), *top.glob("ops/*.erx"), *top.glob("tests/golden/**/*.erx")})
# Golden files hold characters that are no part of the language; the lexers mark those.
RIGHT = [f for f in FILES if "golden" not in f.parts]


def erx(*words):
    return subprocess.run([top / "build" / "erx", *words], capture_output=True, text=True, check=True).stdout


def words():
    """The word lists of the program by kind."""
    rows = (line.split() for line in erx("words").splitlines()[1:])
    return {kind: set(rest) for kind, *rest in rows}


def test_the_lexer_has_the_words_of_the_program():
    for kind, known in words().items():
        assert set(getattr(lexer, kind.upper() + "S")) == known, kind


def test_the_grammar_has_the_words_of_the_program():
    for kind, known in words().items():
        rule = GRAMMAR["repository"]["operator_word" if kind == "operator" else kind]["match"]
        assert set(re.search(r"\\b\((.*?)\)", rule).group(1).split("|")) == known, kind


def test_the_words_of_the_program_are_its_tables():
    known = words()
    formats = {line.split()[0] for line in erx("formats").splitlines()[1:]}
    assert formats <= known["format"]
    operations, standard = erx("ops").split("\n\n")
    assert {line.split("(")[0] for line in standard.splitlines()[1:]} <= known["function"]
    internal = {"input", "literal", "within_sum", "index", "and", "or", "not", "fold", "state"}  # `fold` is a word of the syntax
    assert {line.split()[0] for line in operations.splitlines()[1:]} - internal <= known["function"] | known["head"]


@pytest.mark.parametrize("path", RIGHT, ids=lambda p: p.name)
def test_the_lexer_reads_every_file(path):
    text = path.read_text()
    tokens = list(lexer.ErxLexer(stripnl=False, ensurenl=False).get_tokens(text))
    assert "".join(value for _, value in tokens) == text
    assert [value for kind, value in tokens if kind in Error] == []
    assert any(kind in Keyword for kind, _ in tokens)


def test_the_lexer_tells_kinds_apart():
    text = 'spec f(x: bf16[N]) -> f32[N] {  # a "comment"\n  return round<f32, rtz>(exp(x) * 0x1p-3 + 1.5e-3) # exp\n}\nexample "round" { x = [0..1] }\n'
    found = [(value, kind) for kind, value in lexer.ErxLexer().get_tokens(text) if value.strip()]
    kinds = dict(found)
    assert kinds["spec"] in Keyword and kinds["f"] in Name.Function and kinds["bf16"] in Keyword.Type
    assert kinds["round"] in Keyword and kinds["rtz"] in Name.Attribute and kinds["exp"] in Name.Builtin
    assert kinds["0x1p-3"] in Number and kinds["1.5e-3"] in Number and kinds['"round"'] in String
    assert kinds['# a "comment"'] in Comment and kinds["# exp"] in Comment
    assert [v for v, k in found if k in Number] == ["0x1p-3", "1.5e-3", "0", "1"]  # a range holds two numbers


def test_pygments_finds_the_lexer_by_its_class():
    from pygments.lexers import load_lexer_from_file

    assert load_lexer_from_file(lexer.__file__, "ErxLexer").name == "erx"
    assert 'erx = "erx._pygments:ErxLexer"' in (top / "pyproject.toml").read_text()


def scopes(text):
    """What a TextMate engine does with this grammar: at each place the pattern that matches first, the earlier of two."""
    rules = []
    for include in GRAMMAR["patterns"]:
        rule = GRAMMAR["repository"][include["include"][1:]]
        pattern = rule.get("match") or rf'{rule["begin"]}(?:\\.|[^"\\])*(?:{rule["end"]})'
        rules.append((re.compile(pattern, re.MULTILINE), rule.get("name", "definition")))
    for line in text.splitlines():
        at = 0
        while at < len(line):
            matches = [(m.start(), i, m.end(), name) for i, (rule, name) in enumerate(rules) if (m := rule.search(line, at)) and m.end() > at]
            if not matches:
                break
            start, _, end, name = min(matches)
            yield line[at:start], None
            yield line[start:end], name
            at = end
        yield line[at:], None


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_the_grammar_reads_every_file(path):
    """What it leaves without a scope are names and blanks (golden files may hold other characters)."""
    text = path.read_text()
    left = [piece for piece, name in scopes(text) if name is None]
    allowed = r"[\w\s]*" if path in RIGHT else r"[^\"#]*"
    assert [piece for piece in left if not re.fullmatch(allowed, piece)] == []
    assert "".join(piece for piece, _ in scopes(text)) == text.replace("\n", "").replace("\r", "")


def complete(*line):
    """What bash offers for the last word."""
    script = erx("completion", "bash") + 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _erx; printf "%s\\n" "${COMPREPLY[@]}"'
    run = subprocess.run(["bash", "-u", "-c", script, "bash", *line], cwd=top / "examples", capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_bash_completes_commands_options_and_files():
    assert complete("erx", "ch") == ["check"]
    assert {"check", "eval", "test", "doc", "completion"} <= set(complete("erx", ""))
    assert complete("erx", "check", "gem") == ["gemm.erx"]
    assert complete("erx", "check", "main") == []  # main.py is no spec
    assert "--signed-zero" in complete("erx", "check", "gemm.erx", "--s")
    assert complete("erx", "check", "gemm.erx", "--in", "A=main.p") == ["main.py"]
    assert complete("erx", "completion", "f") == ["fish"]


def shell_path(shell):
    """tests/setup.sh installs both; a test that cannot run is no test."""
    path = shutil.which(shell)
    assert path, f"{shell} is missing: bash tests/run installs it"
    return path


def complete_in_fish(line, folder):
    script = folder / "erx.fish"
    script.write_text(erx("completion", "fish"))
    run = subprocess.run([shell_path("fish"), "--no-config", "-c", f"source {script}; complete -C '{line}'"], cwd=top / "examples", text=True,
                         capture_output=True, env={**os.environ, "HOME": str(folder)}, check=True)
    assert run.stderr == ""
    return {offered.split("\t")[0] for offered in run.stdout.splitlines()}


ZSH = r"""
zmodload zsh/zpty
zpty s zsh -f -i
send() { zpty -w s "$1" }
send "PROMPT=; RPROMPT=; unsetopt zle_bracketed_paste; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -d $1/dump"
# What is offered is written to a file in place of a menu.
send "compadd() { if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd \"\$@\"; return; fi"
send "  typeset -a __hits; builtin compadd -A __hits \"\$@\"; builtin compadd \"\$@\"; print -rl -- \$__hits >> $1/offered }"
send "done_() { : > $1/done }; cd $2"
send "tab_() { zle complete-word; : > $1/done; zle kill-buffer }; zle -N tab_; bindkey '^T' tab_; : > $1/ready"
for i in {1..300}; do [[ -e $1/ready ]] && break; sleep 0.1; done
zpty -n -w s "$3"$'\C-t'
for i in {1..300}; do [[ -e $1/done ]] && break; sleep 0.1; done
zpty -d s
"""


def complete_in_zsh(line, folder):
    (folder / "_erx").write_text(erx("completion", "zsh"))
    for name in ("offered", "done", "ready"):
        (folder / name).unlink(missing_ok=True)
    subprocess.run([shell_path("zsh"), "-f", "-c", ZSH, "zsh", str(folder), str(top / "examples"), line], check=True, capture_output=True, timeout=120,
                   env={**os.environ, "TERM": "dumb"})
    assert (folder / "done").exists(), "zsh did not answer"
    offered = folder / "offered"
    return {word for word in offered.read_text().splitlines() if word} if offered.exists() else set()


@pytest.mark.parametrize("complete_in", [complete_in_fish, complete_in_zsh])
def test_other_shells_complete(complete_in, tmp_path):
    """As a user has them: the first use of a script that lies where the shell looks for it."""
    assert complete_in("erx ch", tmp_path) == {"check"}
    assert {"check", "eval", "test", "doc", "completion"} <= complete_in("erx ", tmp_path)
    assert complete_in("erx check gem", tmp_path) == {"gemm.erx"}
    assert {option for option in complete_in("erx check gemm.erx --s", tmp_path)} == {"--show", "--signed-zero"}
    assert {word.removeprefix("A=") for word in complete_in("erx check gemm.erx --in A=main.p", tmp_path)} == {"main.py"}
    assert complete_in("erx completion f", tmp_path) == {"fish"}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_know_every_command(shell):
    script = erx("completion", shell)
    for line in re.findall(r"^  (\w+) ", subprocess.run([top / "build" / "erx", "--help"], capture_output=True, text=True).stdout, re.MULTILINE):
        assert re.search(rf"\b{line}\b", script), line
    subprocess.run([shell_path(shell), "-n", "/dev/stdin"], input=script, text=True, check=True)
