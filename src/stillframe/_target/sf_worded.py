"""The text of an exception that pydevd is about to tell of, asked for once and with a deadline.

pydevd 1.8.22 asks for it several times before a word of the stop is said, of every cause as well, and by the exception's own
`__str__`: where that never returns, nobody would hear of the stop, and no order would reach the thread any more.
"""

from _pydevd_bundle import pydevd_comm, pydevd_net_command_factory_json, sf_values


def _bounded(build):
    def built(db, thread_id, *others, **options):
        every = list(_chained(db.suspended_frames_manager.get_frames_list(thread_id)))
        errors = [frames.exc_desc for frames in every]
        for frames in every:
            frames.exc_desc = sf_values.message_of(frames.exc_desc, sf_values.Bounds())
        try:
            return build(db, thread_id, *others, **options)
        finally:
            for frames, error in zip(every, errors):
                frames.exc_desc = error  # which we look into ourselves

    return built


def _chained(frames):
    """The calls of an exception, then those of its causes."""
    while frames is not None and frames.exc_desc is not None:
        yield frames
        frames = frames.chained_frames_list


def patch():
    """Change pydevd's modules."""
    for module in (pydevd_comm, pydevd_net_command_factory_json):
        module.build_exception_info_response = _bounded(module.build_exception_info_response)
