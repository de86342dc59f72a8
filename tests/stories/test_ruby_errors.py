"""Ruby's errors: those that a library handles, as a server does, and what looking at one must not do to the program."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stillframe.adapters.finding import find
from stillframe.adapters.ruby import RUBY

from .conftest import User

SERVER = """\
module Server
  def self.answer
    yield
  rescue StandardError => e
    puts "500 #{e.message}"
  end

  def self.number(text)
    Integer(text)
  rescue ArgumentError
    -1
  end
end
"""
SHOP = """\
require 'server'
def price(pieces)
  cents = pieces * 2
  raise KeyError, "no #{cents}" if cents > 2
  cents
ensure
  @seen = [1, 2].map { |each| each + 1 }
end

def careful(pieces)
  price(pieces)
rescue KeyError
  nil
end

def again(pieces)
  price(pieces)
rescue KeyError
  raise
end

def whole(text) = (Integer(text) rescue nil)

Server.answer { careful(4) }
Server.answer { whole('x') }
Server.answer { Server.number('x') }
Server.answer { price(1) }
Server.answer { price(3) }
Server.answer { again(4) }
puts 'over'
"""
SERVES = """\
require 'drb/unix'
class Shop
  def total(code)
    rates = { half: 0.5 }
    rate = rates[code]
    1000 * rate
  end
end
DRb.start_service('drbunix:shop.sock', Shop.new)
$stdout.sync = true
puts 'up'
DRb.thread.join
"""
TAKES = """\
class Line
  def initialize = @items = [1, 2, 3]

  def take
    puts 'taken'
    @items.pop
  end

  def go(times)
    take * times
  end
end
Line.new.go(nil)
"""


@pytest.fixture(autouse=True)
def ruby() -> None:
    found = find(RUBY.needs[0], os.environ, ".")
    if not found.path or found.problem:
        pytest.skip("rdbg is not installed")


@pytest.fixture
def gems(user: User, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Gems of the project's own, among which Ruby's debugger is not."""
    library = user.file("gems/gems/server-1.0/lib/server.rb", SERVER).parent
    monkeypatch.setenv("GEM_PATH", str(user.here / "gems"))
    monkeypatch.setenv("RUBYLIB", str(library))
    yield library


def test_errors_that_leave_the_users_code_are_told_where_they_were_raised_and_no_others(user: User, gems: Path) -> None:
    user.file("shop.rb", SHOP)
    stop = user.json("launch", "shop.rb", "--catch", "uncaught", "--catch", "user")
    assert (stop["exception"]["type"], stop["exception"]["mode"], stop["frame"]["line"]) == ("KeyError", "user", 4)
    assert [(each["name"], each["value"]) for each in stop["locals"] if each["name"] == "cents"] == [("cents", "6")]
    stop = user.json("continue")
    assert (stop["exception"]["message"], stop["frame"]["line"]) == ("no 8", 4), "not where it was raised again"
    assert user.json("next")["state"] in ("stopped", "exited"), "the program goes on, and can be stepped"
    user.says("stop")


def test_an_error_that_a_server_answers_with_is_told_with_its_values(user: User) -> None:
    user.file("shop.rb", SERVES)
    asks = """ruby -rdrb/unix -e 'DRbObject.new_with_uri("drbunix:shop.sock").total(:none)'"""
    report = user.json("crash", "--ready", "up", "--do", asks, "--timeout", "60", "--", "ruby", "shop.rb")
    failure = report["failure"]
    assert (report["verdict"], failure["exception"]["mode"]) == ("handled", "user")
    assert failure["what"].startswith("TypeError: nil can't be coerced")
    assert {"rate": "nil", "code": ":none"}.items() <= {
        each["name"]: each["value"] for each in failure["stack"]["frames"][0]["values"]
    }.items()


def test_to_look_at_a_failure_calls_no_method_that_its_line_names(user: User) -> None:
    user.file("takes.rb", TAKES)
    report = user.json("crash", "--", "ruby", "takes.rb")
    assert report["end"]["output"] == "taken\n"
    told = {each["name"]: each["value"] for each in report["failure"]["stack"]["frames"][0]["values"]}
    assert told == {"times": "nil", "self": "#<Line @items=[1, 2]>"}


RUNNER = """\
module Failure
  def self.===(error)
    [NoMemoryError, SignalException].none? { |each| each === error }
  end
end

module Runner
  @failed = 0
  def self.check(name)
    yield
  rescue Failure => e
    @failed += 1
    puts "#{name}: #{e.message}"
  end
  at_exit { exit 1 if @failed > 0 }
end
"""
CHECKS = """\
require 'runner'
def price(line) = line[:price] * line.fetch(:qty)

Runner.check('good') { price({ price: 2, qty: 2 }) }
Runner.check('bad') { price({ price: 7 }) }
Runner.check('worse') { raise 'no order' } if ARGV.any?
Runner.check('careful') { price({}) rescue 0 }
exit Integer(ENV['CODE']) if ENV['CODE']
"""


def test_a_run_of_tests_that_fails_tells_the_errors_that_its_runner_rescued(user: User, gems: Path) -> None:
    (gems / "runner.rb").write_text(RUNNER)
    user.file("checks.rb", CHECKS)
    report = user.json("crash", "--", "ruby", "checks.rb", "all")
    failure = report["failure"]
    assert (report["verdict"], report["end"]["exit_code"]) == ("handled", 1)
    assert (failure["what"], failure["stack"]["frames"][0]["line"]) == ("KeyError: key not found: :qty", 2)
    assert {each["name"]: each["value"] for each in failure["stack"]["frames"][0]["values"]}["line"] == "{:price=>7}"
    assert [each["what"] for each in report["also"]] == ["RuntimeError: no order"]
    rows = user.ok("crash", "--", "ruby", "checks.rb").splitlines()
    assert rows[0].startswith(
        "KeyError: key not found: :qty at checks.rb:2 in price, which library code caught; exit 1 "
    )
    assert "note: dbg launch --catch user -- ruby checks.rb is held where it leaves your code" in rows
    assert user.json("launch", "--catch", "user", "--", "ruby", "checks.rb")["frame"]["line"] == 2
    user.says("stop")


def test_an_error_that_a_library_handled_before_an_exit_is_told_beside_it_and_none_at_a_good_end(
    user: User, gems: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (gems / "runner.rb").write_text(RUNNER.replace("exit 1 if", "nil if"))
    user.file("checks.rb", CHECKS)
    monkeypatch.setenv("CODE", "3")
    report = user.json("crash", "--", "ruby", "checks.rb")
    assert (report["verdict"], report["failure"]["kind"], report["end"]["exit_code"]) == ("crashed", "exit", 3)
    assert (report["handled"]["what"], "also" in report) == ("KeyError: key not found: :qty", False)
    monkeypatch.setenv("CODE", "0")
    report = user.json("crash", "--", "ruby", "checks.rb")
    assert (report["verdict"], "failure" in report, "handled" in report) == ("ended well", False, False)
