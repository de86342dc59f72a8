"""Settings of a service: its defaults, with what a site changes."""

DEFAULTS = {"database": {"host": "localhost", "port": 5432, "timeout": 5}, "workers": 4}
SITE = {"database": {"host": "db.internal"}, "workers": 8}


def merge(defaults, site):
    merged = dict(defaults)
    for key, value in site.items():
        merged[key] = value
    return merged


def connect(settings):
    database = settings["database"]
    return f"{database['host']}:{database['port']} within {database['timeout']} s"


print(connect(merge(DEFAULTS, SITE)))
