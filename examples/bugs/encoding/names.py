"""Greet the guests of a list that an old machine exported."""

import pathlib


def guests(path):
    for raw in path.read_bytes().splitlines():
        yield raw.decode("utf-8").strip().title()


def greet(path):
    for number, name in enumerate(guests(path), 1):
        print(f"{number}. {name}")


greet(pathlib.Path(__file__).with_name("guests.txt"))
